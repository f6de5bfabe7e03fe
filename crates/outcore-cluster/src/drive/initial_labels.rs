//! Initial labels of label propagation: given labels, and stars around the remaining nodes.
//!
//! A label is a node: a given community is identified by its first member. A node with a given label is a
//! leader and passes the label on like other leaders, so nodes that are new since an earlier result join its
//! communities immediately. If the size of communities is limited, places go to fixed nodes first, then to
//! nodes with a given label, then to leaders, then to followers, each in node order; a node without a place
//! starts alone. Memory: 4 bytes per node for given labels, until the sweeps begin.
//!
//! Fixed nodes of one label stay one community even where no path inside it joins them.

use crate::base::bits::Bits;
use crate::base::hash::LEAD;
use crate::base::parallel::{PerThread, for_ranges};
use crate::kernel::admission::CommunitySizes;
use crate::kernel::cache::BlockSource;
use crate::kernel::seeding::{Stars, seed_block};
use crate::store::given::{GivenLabels, NONE};
use outcore_graph::weight::RELATIVE_TOLERANCE;
use outcore_graph::{ArcScratch, Block};
use outcore_io::error::opt::{FIXED, MAX_SIZE};
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::units::format_counted;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

impl GivenLabels {
    /// Returns the initial label of each node, as a node or none, and the nodes that never change their label. At
    /// most `most` nodes have the same label.
    pub(crate) fn into_labels(self, node_count: usize, most: Option<u32>) -> Result<Start> {
        let Self { mut initial, mut fixed } = self;
        let has_initial = !initial.is_empty();
        for labels in [&initial, &fixed] {
            let fits = labels.iter().all(|&label| label == NONE || (label as usize) < node_count);
            if !labels.is_empty() && (labels.len() != node_count || !fits) {
                let message = format!("the given labels do not fit a graph of {node_count} nodes");
                return Err(Error::new(ErrorKind::Usage, message));
            }
        }
        let held = (!fixed.is_empty()).then(|| {
            let held = Bits::new(node_count, false);
            let nodes = fixed.iter().enumerate().filter(|&(_, &label)| label != NONE);
            nodes.for_each(|(node, _)| _ = held.set(node));
            held
        });
        name_by_first(&mut fixed, None);
        name_by_first(&mut initial, held.as_ref().map(|held| (held, &fixed[..])));
        if initial.is_empty() {
            initial = fixed;
        } else {
            let fixed = fixed.iter().enumerate().filter(|&(_, &label)| label != NONE);
            fixed.for_each(|(node, &label)| initial[node] = label);
        }
        if let Some(most) = most {
            limit(&mut initial, held.as_ref(), most)?;
        }
        Ok(Start { given: initial, held, most, has_initial })
    }
}

/// Limits the number of nodes with the same label: places go to held nodes first, then to the others in node order.
/// The rest start alone, each with its own label. No other node has that label: the node that a label is named
/// after has it itself, and is the first to get a place.
fn limit(labels: &mut [u32], held: Option<&Bits>, most: u32) -> Result<()> {
    let mut sizes = CommunitySizes::new(Some(most), labels.len());
    let is_held = |node: usize| held.is_some_and(|held| held.get(node));
    if let Some(held) = held {
        held.for_each(0..labels.len(), |node| sizes.add(labels[node], 1));
    }
    let largest = sizes.largest();
    if largest > most {
        let nodes = format_counted(largest.into(), "node", "nodes");
        return Err(Error::usage(format_args!(
            "{nodes} of {FIXED} have the same label, more than {}",
            MAX_SIZE.of(most)
        ))
        .hint(format_args!("use {} or more", MAX_SIZE.of(largest))));
    }
    for (node, label) in labels.iter_mut().enumerate().filter(|(_, label)| **label != NONE) {
        if !is_held(node) && !sizes.take(*label, 1) {
            *label = node as u32;
        }
    }
    Ok(())
}

/// Replaces the numbers of communities by their first members, or by the label of their first held member, if any.
fn name_by_first(labels: &mut [u32], held: Option<(&Bits, &[u32])>) {
    let count = labels.iter().filter(|&&l| l != NONE).max().map_or(0, |&label| label as usize + 1);
    let mut names = vec![NONE; count];
    if let Some((held, fixed)) = held {
        held.for_each(0..labels.len(), |node| {
            if let Some(name) = names.get_mut(labels[node] as usize).filter(|n| **n == NONE) {
                *name = fixed[node];
            }
        });
    }
    for (node, label) in labels.iter_mut().enumerate().filter(|(_, label)| **label != NONE) {
        let name = &mut names[*label as usize];
        if *name == NONE {
            *name = node as u32;
        }
        *label = *name;
    }
}

/// Given initial labels.
pub(crate) struct Start {
    /// Given label of each node; empty if there are none.
    given: Vec<u32>,
    /// Nodes that never change their label.
    pub(crate) held: Option<Bits>,
    /// Maximum size of a community, if limited.
    most: Option<u32>,
    /// Whether there are labels of an earlier result.
    pub(crate) has_initial: bool,
}

/// Initial state of the nodes.
pub(crate) struct FirstLabels<'a> {
    pub(crate) seed: u64,
    /// Set to the label of each node.
    pub(crate) labels: &'a [AtomicU32],
    /// Set to the nodes whose labels others take at first.
    pub(crate) leads: &'a Bits,
    /// Hops between nodes and the origins of their labels; empty without attenuation.
    pub(crate) hops: &'a [AtomicU8],
}

impl Start {
    /// Returns the given label of each node.
    pub(crate) fn into_given(self) -> Vec<u32> {
        self.given
    }

    /// Discards the given labels and returns the held nodes.
    pub(crate) fn into_held(self) -> Option<Bits> {
        self.held
    }

    /// Sets the label of each node to its own or the given one, without a scan.
    pub(crate) fn own(&self, first: &FirstLabels<'_>) -> Result<()> {
        for_ranges(first.labels.len(), 1 << 16, |nodes| {
            nodes.into_iter().for_each(|node| first.labels[node].store(node as u32, Relaxed));
            Ok(())
        })?;
        self.rename(first)
    }

    /// Sets labels by stars, in one scan of the blocks that have nodes without a label.
    pub(crate) fn stars(
        &self,
        source: &mut BlockSource<'_>,
        least: f64,
        first: &FirstLabels<'_>,
        mut tick: impl FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        let count = first.labels.len();
        let chosen = Stars::choose(first.leads, count, first.seed ^ LEAD);
        let stars = Stars { least: least * (1.0 - RELATIVE_TOLERANCE), ..chosen };
        for (node, _) in self.given.iter().enumerate().filter(|(_, label)| **label != NONE) {
            first.leads.set(node);
        }
        for_ranges(count, 1 << 16, |nodes| {
            nodes.into_iter().for_each(|node| first.labels[node].store(node as u32, Relaxed));
            Ok(())
        })?;
        let scratch = PerThread::new(ArcScratch::default);
        source.for_each(
            0..source.graph().blocks().len(),
            |entry| {
                let mut nodes =
                    entry.first_node as usize..(entry.first_node + entry.node_count) as usize;
                nodes.any(|node| !stars.leads.get(node))
            },
            |block| {
                tick(block)?;
                seed_block(block, stars, first.labels, &scratch)
            },
        )?;
        self.rename(first)
    }

    /// Replaces the leaders that nodes have found by the labels of the leaders.
    fn rename(&self, first: &FirstLabels<'_>) -> Result<()> {
        if self.most.is_some() {
            self.rename_within_limit(first);
            return Ok(());
        }
        if self.given.is_empty() && first.hops.is_empty() {
            return Ok(());
        }
        for_ranges(first.labels.len(), 1 << 16, |nodes| {
            for node in nodes {
                let leader = first.labels[node].load(Relaxed);
                if let Some(hops) = first.hops.get(node) {
                    hops.store(u8::from(leader as usize != node), Relaxed);
                }
                if let Some(label) = self.given(leader) {
                    first.labels[node].store(label, Relaxed);
                }
            }
            Ok(())
        })
    }

    /// Like [`rename`](Self::rename), one node after the other: a node whose leader's community is full stays alone.
    fn rename_within_limit(&self, first: &FirstLabels<'_>) {
        let mut sizes = CommunitySizes::new(self.most, first.labels.len());
        let label_of = |leader: u32| self.given(leader).unwrap_or(leader);
        let leads = |(node, leader): &(u32, &AtomicU32)| leader.load(Relaxed) == *node;
        let nodes = || (0..).zip(first.labels);
        nodes().filter(leads).for_each(|(node, _)| sizes.add(label_of(node), 1));
        for (node, label) in nodes() {
            let leader = label.load(Relaxed);
            let follows = leader != node && sizes.take(label_of(leader), 1);
            let taken = if leader == node || follows { label_of(leader) } else { node };
            label.store(taken, Relaxed);
            if let Some(hops) = first.hops.get(node as usize) {
                hops.store(u8::from(follows), Relaxed);
            }
        }
    }

    /// Returns the given label of a node.
    fn given(&self, node: u32) -> Option<u32> {
        self.given.get(node as usize).copied().filter(|label| *label != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn communities_are_named_after_their_first_member() {
        let initial = vec![2, NONE, 0, 2, 0, NONE];
        let given = GivenLabels { initial, fixed: Vec::new() };
        let start = given.into_labels(6, None).unwrap();
        assert_eq!(start.given, [0, NONE, 2, 0, 2, NONE]);
        assert!(start.held.is_none());
    }

    /// Held nodes get their places first.
    #[test]
    fn nodes_without_a_place_start_alone() {
        let initial = vec![0, 0, NONE, 1, 0, 1];
        let fixed = vec![NONE, NONE, 0, NONE, NONE, NONE];
        let fixed = |node: usize, label| {
            let mut fixed = fixed.clone();
            fixed[node] = label;
            fixed
        };
        let start = |fixed: Vec<u32>, most| {
            GivenLabels { initial: initial.clone(), fixed }.into_labels(6, Some(most))
        };
        assert_eq!(start(Vec::new(), 2).unwrap().given, [0, 0, NONE, 3, 4, 3]);
        assert_eq!(start(fixed(4, 5), 2).unwrap().given, [4, 1, 2, 3, 4, 3]);
        assert!(start(fixed(4, 0), 1).is_err_and(|error| error.kind() == ErrorKind::Usage));
    }

    /// Community 0 of the initial labels contains a node that is fixed in community 5 together with node 1.
    #[test]
    fn fixed_nodes_name_their_communities() {
        let initial = vec![0, NONE, 0, 1, 1, 0];
        let fixed = vec![NONE, 5, 5, NONE, NONE, 0];
        let start = GivenLabels { initial, fixed }.into_labels(6, None).unwrap();
        assert_eq!(start.given, [1, 1, 1, 3, 3, 5]);
        let held = start.held.unwrap();
        assert_eq!((0..6).filter(|&node| held.get(node)).collect::<Vec<_>>(), [1, 2, 5]);
    }

    #[test]
    fn labels_of_another_graph_are_refused() {
        for labels in [vec![0; 5], vec![0, 1, 2, 6, 3, 3]] {
            let given = GivenLabels { initial: labels, fixed: Vec::new() };
            assert!(given.into_labels(6, None).is_err());
        }
    }
}
