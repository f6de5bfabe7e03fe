//! Stability: how often nodes stay with their communities in other divisions of the same graph.
//!
//! In another division, a community corresponds to the label that most of its nodes have there; a node stays if it has
//! that label. Bootstrap studies of clusters use the same matching (Hennig, "Cluster-wise assessment of cluster
//! stability", 2007). Cost: a sort of the members of each community for each division. Memory: 18 bytes per node at
//! most; divisions are read from disk one at a time.

use crate::store::hierarchy::Grouping;
use outcore_io::Files;
use outcore_io::error::Result;

/// Nodes grouped by community.
struct MemberLists {
    nodes: Vec<u32>,
    /// First member of each community, and the number of nodes.
    starts: Vec<u32>,
}

impl MemberLists {
    fn new(communities: &[u32]) -> Self {
        let count = communities.iter().max().map_or(0, |&most| most as usize + 1);
        let mut starts = vec![0; count + 1];
        communities.iter().for_each(|&community| starts[community as usize + 1] += 1);
        (0..count).for_each(|community| starts[community + 1] += starts[community]);
        let mut nodes = vec![0; communities.len()];
        for (node, &community) in (0..).zip(communities) {
            let place = &mut starts[community as usize];
            nodes[*place as usize] = node;
            *place += 1;
        }
        // Each start has advanced to where the next community starts, so all move up by one.
        starts.rotate_right(1);
        starts[0] = 0;
        Self { nodes, starts }
    }

    fn each(&mut self) -> impl Iterator<Item = &mut [u32]> {
        let Self { nodes, starts } = self;
        let mut rest = &mut nodes[..];
        starts.windows(2).map(move |bounds| {
            let size = (bounds[1] - bounds[0]) as usize;
            let (members, others) = std::mem::take(&mut rest).split_at_mut(size);
            rest = others;
            members
        })
    }
}

/// Calls `stays` with each node that stays with its community in a division, for each division. `count` is the number of
/// nodes that a node stands for.
///
/// # Errors
/// `Io`, `CorruptFile` with the path of a division.
fn for_each_that_stays(
    files: &Files,
    communities: &[u32],
    divisions: &[Grouping],
    count: impl Fn(u32) -> u32,
    mut stays: impl FnMut(u32),
) -> Result<()> {
    let mut members = MemberLists::new(communities);
    for division in divisions {
        let labels = division.groups.read_all(files)?;
        let label = |node: u32| labels[node as usize];
        for members in members.each() {
            members.sort_unstable_by_key(|&node| (label(node), node));
            let alike = || members.chunk_by(|&a, &b| label(a) == label(b));
            let size =
                |nodes: &[u32]| nodes.iter().map(|&node| u64::from(count(node))).sum::<u64>();
            // Of equally large parts, takes the one with the smallest label.
            let most = alike().map(size).max();
            let largest = alike().find(|nodes| Some(size(nodes)) == most);
            largest.into_iter().flatten().for_each(|&node| stays(node));
        }
    }
    Ok(())
}

/// Returns the number of divisions in which each node stays with its community.
///
/// # Errors
/// `Io`, `CorruptFile` with the path of a division.
pub(crate) fn stays(
    files: &Files,
    communities: &[u32],
    divisions: &[Grouping],
) -> Result<Vec<u16>> {
    let mut counts = vec![0; communities.len()];
    for_each_that_stays(files, communities, divisions, |_| 1, |node| counts[node as usize] += 1)?;
    Ok(counts)
}

/// Returns the mean share of nodes that stay with their communities in a division, or `None` without divisions. `count`
/// is the number of nodes that a node stands for.
///
/// # Errors
/// `Io`, `CorruptFile` with the path of a division.
pub(crate) fn agreement(
    files: &Files,
    communities: &[u32],
    divisions: &[Grouping],
    count: impl Fn(u32) -> u32,
) -> Result<Option<f64>> {
    let mut stay = 0u64;
    for_each_that_stays(files, communities, divisions, &count, |node| {
        stay += u64::from(count(node));
    })?;
    let all: u64 = (0..communities.len() as u32).map(|node| u64::from(count(node))).sum();
    let all = all * divisions.len() as u64;
    Ok((all > 0).then(|| stay as f64 / all as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::hierarchy::Hierarchy;
    use outcore_testkit::sim::Sim;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    fn divided(files: &Files, divisions: &[Vec<u32>]) -> Vec<Grouping> {
        let mut kept = Hierarchy::new(files, "division".into(), Vec::new());
        let bound = |labels: &[u32]| labels.iter().max().map_or(0, |&most| most as usize + 1);
        divisions.iter().for_each(|labels| kept.keep(labels, bound(labels)).unwrap());
        kept.into_groupings()
    }

    #[test]
    fn a_node_stays_with_most_of_its_community() {
        let files = Files::new(Arc::new(Sim::new()));
        let divisions = divided(&files, &[vec![5, 5, 1, 0, 0], vec![0; 5], vec![0, 1, 2, 3, 4]]);
        let communities = [0, 0, 0, 1, 1];
        // In the last division, the first node stands for its community.
        assert_eq!(stays(&files, &communities, &divisions).unwrap(), [3, 2, 1, 3, 2]);
        let share = agreement(&files, &communities, &divisions, |_| 1).unwrap();
        assert_eq!(share, Some(11.0 / 15.0));
        let share = agreement(&files, &communities, &divisions, |node| 1 + node).unwrap();
        assert_eq!(share, Some((12.0 + 15.0 + 8.0) / 45.0));
        assert_eq!(agreement(&files, &communities, &[], |_| 1).unwrap(), None);
    }

    proptest! {
        #[test]
        fn matches_the_definition(
            nodes in prop::collection::vec((0..4u32, 0..5u32, 0..3u32), 1..40),
        ) {
            let files = Files::new(Arc::new(Sim::new()));
            let all = |part: fn(&(u32, u32, u32)) -> u32| nodes.iter().map(part).collect::<Vec<u32>>();
            let (communities, others) = (all(|node| node.0), [all(|node| node.1), all(|node| node.2)]);
            let mut expected = vec![0; nodes.len()];
            for other in &others {
                let mut shared: BTreeMap<(u32, u32), u32> = BTreeMap::new();
                let pairs = || communities.iter().copied().zip(other.iter().copied());
                pairs().for_each(|pair| *shared.entry(pair).or_default() += 1);
                for (node, (own, label)) in pairs().enumerate() {
                    let best = shared.iter().filter(|((community, _), _)| *community == own);
                    let best = best.max_by_key(|&(&(_, label), &count)| (count, u32::MAX - label));
                    expected[node] += u16::from(best.is_some_and(|((_, best), _)| *best == label));
                }
            }
            let divisions = divided(&files, &others);
            prop_assert_eq!(stays(&files, &communities, &divisions).unwrap(), expected);
        }
    }
}
