//! Reasons to doubt communities: starts disagree, a single community would score just as well, or chance would.

use crate::cluster::{ClusterOptions, Communities, LevelSpec};

/// Starts disagree if a smaller mean share of nodes stays with their communities.
const AGREE: f64 = 0.7;
/// Maximum ratio of a modularity to the expected one of a random graph at which it is no better: a search finds
/// somewhat more than expected.
const CHANCE: f64 = 1.05;
/// Maximum relative difference of code lengths that is due to rounding.
const ROUNDING: f64 = 1e-9;

/// Returns the reasons to doubt a result, as phrases for the user.
pub(crate) fn doubts(options: &ClusterOptions, found: &Communities) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(share) = found.trial_agreement.filter(|&share| share < AGREE) {
        let percent = 100.0 * share;
        all.push(format!(
            "starts disagree: {percent:.1} % of the nodes stay with their communities from one start to another on average"
        ));
    }
    if found.community_count < 2 {
        return all;
    }
    if let (Some(length), Some(undivided)) = (found.code_length, found.undivided_length)
        && length >= undivided * (1.0 - ROUNDING)
        && options.max_size.is_none()
    {
        all.push(format!(
            "a single community would score just as well: {length:.4} bits per step, {undivided:.4} with one"
        ));
    }
    // A density gives communities of another modularity.
    let is_density = options.method.levels().is_none_or(LevelSpec::by_mean_weight);
    let is_comparable = !is_density && options.resolution == [1.0];
    if let Some(chance) = found.chance_modularity.filter(|_| is_comparable)
        && found.modularity <= CHANCE * chance
    {
        all.push(format!(
            "modularity is about that of a random graph with the same degrees: {chance:.3} is expected there, {:.3} was found",
            found.modularity
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Method, cluster};
    use crate::progress::Silent;
    use outcore_testkit::{Edges, ring_of_cliques};
    use std::path::Path;

    /// Returns the first word of each doubt.
    fn doubted(edges: &Edges, options: &ClusterOptions) -> Vec<String> {
        let found =
            cluster(&edges.graph(), options, 1 << 30, Path::new("scratch"), &Silent).unwrap();
        let first = |text: String| text.split(' ').take(2).collect::<Vec<_>>().join(" ");
        doubts(options, &found).into_iter().map(first).collect()
    }

    /// Returns a graph without communities: each node has `degree` edges to others.
    fn random(nodes: u32, degree: u32) -> Edges {
        let mut next = 1u64;
        let mut below = |bound: u32| {
            next = next
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((next >> 33) % u64::from(bound)) as u32
        };
        let ends = (0..nodes * degree / 2).map(|_| (below(nodes), below(nodes)));
        let mut ends: Vec<_> =
            ends.filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
        ends.sort_unstable();
        ends.dedup();
        Edges::new(nodes, ends)
    }

    #[test]
    fn communities_of_a_random_graph_are_doubted() {
        for method in [Method::MapEquation, Method::Modularity] {
            let options = ClusterOptions { method, ..ClusterOptions::default() };
            for degree in [6, 10] {
                let doubts = doubted(&random(2000, degree), &options);
                assert_eq!(doubts, ["starts disagree:", "modularity is"], "{method:?}, {degree}");
            }
        }
    }

    #[test]
    fn clear_communities_are_not_doubted() {
        for method in [Method::MapEquation, Method::Modularity] {
            let options = ClusterOptions { method, ..ClusterOptions::default() };
            for edges in
                [ring_of_cliques(300, 8), Edges::new(5001, (0..5000).map(|leaf| (leaf, 5000)))]
            {
                assert_eq!(doubted(&edges, &options), Vec::<String>::new());
            }
        }
    }

    #[test]
    fn communities_no_better_than_one_are_doubted() {
        let options = ClusterOptions { trials: Some(1), ..ClusterOptions::default() };
        let edges = ring_of_cliques(30, 5);
        let found =
            cluster(&edges.graph(), &options, 1 << 30, Path::new("scratch"), &Silent).unwrap();
        assert!(found.code_length < found.undivided_length && doubts(&options, &found).is_empty());
        let worse = Communities { code_length: found.undivided_length, ..found };
        assert!(doubts(&options, &worse)[0].starts_with("a single community would score"));
    }
}
