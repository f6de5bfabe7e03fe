//! Oracles of merging and cutting.

use super::agglomeration::Network;
use super::cut::{Cut, Merge, Tree};
use super::survey::gains_with_alike;
use super::*;
use crate::base::logarithm::plogp;
use crate::objectives::map_equation::{CodeLength, NoRule};
use crate::tests::shapes::shapes;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Network as edges between nodes with loops.
#[derive(Debug, Clone)]
struct Net {
    nodes: Vec<(Holding, f64, f64)>,
    arcs: Vec<Arcs>,
}

impl Net {
    fn new(loops: &[u32], edges: &[(usize, usize, u32)]) -> Self {
        let mut arcs = vec![Arcs::default(); loops.len()];
        for &(a, b, weight) in edges {
            let (a, b) = (a % loops.len(), b % loops.len());
            if a != b {
                *arcs[a].entry(b as u32).or_insert(0.0) += f64::from(weight);
                *arcs[b].entry(a as u32).or_insert(0.0) += f64::from(weight);
            }
        }
        let node = |(at, &inside): (usize, &u32)| {
            let cut: f64 = arcs[at].values().sum();
            (Holding::of_count(1 + at as u32 % 3), cut + 2.0 * f64::from(inside), cut)
        };
        let nodes = loops.iter().enumerate().map(node).collect();
        Self { nodes, arcs }
    }

    fn cuts(&self, labels: &[u32]) -> BTreeMap<u32, f64> {
        let mut cuts = BTreeMap::new();
        for (at, arcs) in self.arcs.iter().enumerate() {
            let outside = arcs.iter().filter(|(to, _)| labels[**to as usize] != labels[at]);
            *cuts.entry(labels[at]).or_insert(0.0) += outside.map(|(_, w)| w).sum::<f64>();
        }
        cuts
    }
}

/// Objective by its definition, in the unit of the rates.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Objective {
    CodeLength,
    Density(Null),
}

impl Objective {
    fn of(self, net: &Net, labels: &[u32]) -> f64 {
        let total: f64 = net.nodes.iter().map(|node| node.1).sum();
        let mut masses: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (node, &label) in net.nodes.iter().zip(labels) {
            let mass = masses.entry(label).or_insert((0.0, 0.0));
            *mass = (mass.0 + node.1, mass.1 + f64::from(node.0.count));
        }
        let cuts = net.cuts(labels);
        let all: f64 = cuts.values().sum();
        match self {
            Self::CodeLength => {
                let part = |(label, mass): (&u32, &(f64, f64))| {
                    let (p, q) = (mass.0 / total, cuts[label] / total);
                    2.0 * plogp(q) - plogp(p + q)
                };
                masses.iter().map(part).sum::<f64>() - plogp(all / total)
            }
            Self::Density(Null::Strength(resolution)) => {
                let squares: f64 = masses.values().map(|mass| mass.0 * mass.0).sum();
                0.5 * (total - all - resolution / total * squares)
            }
            Self::Density(Null::Count(factor)) => {
                let squares: f64 = masses.values().map(|mass| mass.1 * mass.1).sum();
                0.5 * (total - all - factor * squares)
            }
        }
    }

    fn tree(self, net: &Net, most: Option<u32>) -> (f64, Vec<Merge>) {
        fn grown<O: Sums>(rule: O::Rule, most: Option<u32>, net: &Net) -> (f64, Vec<Merge>) {
            let network = Network::<O>::new(rule, most, &net.nodes, net.arcs.clone());
            (network.exits(), network.merged().0)
        }
        match self {
            Self::CodeLength => grown::<CodeLength>(NoRule, most, net),
            Self::Density(null) => grown::<Density>(null, most, net),
        }
    }
}

/// Merges the pair with the best objective, computed from scratch; returns the objective after each merge, and
/// the smallest difference between the best pair and the next one.
fn naive(of: Objective, net: &Net, most: Option<u32>) -> (Vec<f64>, f64) {
    let mut labels: Vec<u32> = (0..net.nodes.len() as u32).collect();
    let (mut heights, mut closest) = (Vec::new(), f64::INFINITY);
    loop {
        let size = |labels: &[u32], label: u32| -> u32 {
            let members = net.nodes.iter().zip(labels).filter(|(_, of)| **of == label);
            members.map(|(node, _)| node.0.count).sum()
        };
        let mut found: Vec<(f64, u32, u32)> = Vec::new();
        for (at, arcs) in net.arcs.iter().enumerate() {
            for &to in arcs.keys() {
                let (a, b) = (labels[at], labels[to as usize]);
                let fits = most.is_none_or(|most| size(&labels, a) + size(&labels, b) <= most);
                if a < b && fits && !found.iter().any(|pair| (pair.1, pair.2) == (a, b)) {
                    let merged: Vec<u32> =
                        labels.iter().map(|&l| if l == b { a } else { l }).collect();
                    found.push((of.of(net, &merged), a, b));
                }
            }
        }
        found.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        let Some(&(height, a, b)) = found.first() else { return (heights, closest) };
        if let Some(next) = found.get(1) {
            closest = closest.min(height - next.0);
        }
        heights.push(height);
        labels.iter_mut().filter(|label| **label == b).for_each(|label| *label = a);
    }
}

fn nets() -> impl Strategy<Value = Net> {
    let edge = (0..9usize, 0..9usize, 1..40u32);
    (prop::collection::vec(0..60u32, 2..9), prop::collection::vec(edge, 1..24))
        .prop_map(|(loops, edges)| Net::new(&loops, &edges))
}

fn objectives() -> impl Strategy<Value = Objective> {
    prop_oneof![
        Just(Objective::CodeLength),
        Just(Objective::Density(Null::Strength(1.0))),
        Just(Objective::Density(Null::Strength(3.0))),
        Just(Objective::Density(Null::Count(2.0))),
    ]
}

/// Returns the labels of every cut of the tree.
fn all_cuts(tree: &Tree<'_>) -> Vec<Vec<bool>> {
    let mut cuts = vec![vec![false; tree.merges.len()]];
    for at in 0..tree.merges.len() {
        let Merge { left, right, .. } = tree.merges[at];
        let mut more = Vec::new();
        for cut in &cuts {
            let is_whole = |node: u32| tree.merge_of(node).is_none_or(|below| cut[below]);
            if is_whole(left) && is_whole(right) {
                let mut merged = cut.clone();
                merged[at] = true;
                more.push(merged);
            }
        }
        cuts.extend(more);
    }
    cuts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The best pair is merged each time, at the objective of its definition.
    #[test]
    fn merges_are_those_of_a_search_of_all_pairs(
        net in nets(),
        of in objectives(),
        most in prop_oneof![Just(None), Just(Some(5))],
    ) {
        let (heights, closest) = naive(of, &net, most);
        let (exits, merges) = of.tree(&net, most);
        let tree = Tree { leaves: net.nodes.len(), exits, merges: &merges };
        // The tie between two pairs may be broken by rounding.
        if closest > 1e-9 {
            prop_assert_eq!(merges.len(), heights.len());
            let alone: Vec<u32> = (0..net.nodes.len() as u32).collect();
            let (mut gains, mut fewer) = (0.0, 0.0);
            for (merge, height) in merges.iter().zip(heights) {
                gains += merge.gain;
                fewer += merge.exits;
                let found = of.of(&net, &alone) + tree.gain(gains, fewer);
                prop_assert!((found - height).abs() < 1e-9, "{found} {height}");
            }
        }
    }

    /// No cut of the tree is better, and none of its prefixes; the gain is that of the definition.
    #[test]
    fn the_cut_is_the_best_of_all(net in nets(), of in objectives()) {
        let (exits, merges) = of.tree(&net, None);
        let tree = Tree { leaves: net.nodes.len(), exits, merges: &merges };
        let cut = tree.best_cut();
        let alone: Vec<u32> = (0..net.nodes.len() as u32).collect();
        let labels = tree.labels(&cut);
        let gain = of.of(&net, &labels) - of.of(&net, &alone);
        prop_assert!((gain - cut.gain).abs() < 1e-9, "{gain} {}", cut.gain);
        for is_merged in all_cuts(&tree) {
            let labels = tree.labels(&Cut { gain: 0.0, is_merged });
            let other = of.of(&net, &labels) - of.of(&net, &alone);
            prop_assert!(other <= cut.gain + 1e-9, "{other} {}", cut.gain);
        }
        prop_assert!(cut.gain >= tree.best_prefix().gain);
    }

    /// Of sums over pairs of nodes, no cut is better where no two communities gain by a merge: they are not merged.
    #[test]
    fn sums_over_pairs_gain_by_no_merge_where_none_of_two_gains(net in nets()) {
        let total: f64 = net.nodes.iter().map(|node| node.1).sum();
        // The resolutions at which the best pair gains nothing.
        let (mut by_strength, mut by_count) = (0.0f64, 0.0f64);
        for (arcs, a) in net.arcs.iter().zip(&net.nodes) {
            for (&to, &weight) in arcs {
                let b = &net.nodes[to as usize];
                by_strength = by_strength.max(weight * total / (a.1 * b.1));
                by_count = by_count.max(weight / (f64::from(a.0.count) * f64::from(b.0.count)));
            }
        }
        let nulls = [Null::Strength(by_strength), Null::Count(by_count)];
        for null in nulls {
            let (exits, merges) = Objective::Density(null).tree(&net, None);
            let tree = Tree { leaves: net.nodes.len(), exits, merges: &merges };
            prop_assert!(tree.best_cut().gain < 1e-9);
        }
    }

    /// A node joins others like it if these have groups that are better together.
    #[test]
    fn alike_nodes_in_cliques_may_merge(inside in 1..30u32) {
        // Cliques of eight communities, which are tied to each other by little.
        let (weight, outside) = (f64::from(inside), 0.1);
        let mut sums = CodeLength::empty(NoRule, 64);
        let cut = 7.0 * weight + 56.0 * outside;
        let strength = cut + 2.0;
        (0..64).for_each(|at| sums.add(at, Holding::of_count(1), strength, cut));
        sums.complete();
        let mut weights = vec![weight; 7];
        weights.extend(vec![outside; 56]);
        let gains = |weights: &[f64]| {
            gains_with_alike::<CodeLength>(NoRule, None, &sums, 1, strength, cut, weights)
        };
        prop_assert!(gains(&weights));
    }
}

#[test]
fn alike_nodes_with_equal_arcs_do_not_merge() {
    let mut sums = CodeLength::empty(NoRule, 64);
    (0..64).for_each(|at| sums.add(at, Holding::of_count(1), 100.0, 6.3));
    sums.complete();
    assert!(!gains_with_alike::<CodeLength>(NoRule, None, &sums, 1, 100.0, 6.3, &[0.1; 63]));
}

/// No shape makes merges look at each arc more often than this: thousands of times where a hub was asked for all of its
/// arcs at each merge.
#[test]
fn merges_look_at_arcs_a_bounded_number_of_times() {
    fn looked<O: Sums>(rule: O::Rule, most: Option<u32>, net: &Net) -> f64 {
        let (_, looked) = Network::<O>::new(rule, most, &net.nodes, net.arcs.clone()).merged();
        let arcs: usize = net.arcs.iter().map(Arcs::len).sum();
        looked as f64 / arcs as f64
    }
    for (name, edges) in shapes(16_000) {
        let ends = |&(a, b, _): &(u32, u32, f64)| (a as usize, b as usize, 1);
        let ends: Vec<_> = edges.edges.iter().map(ends).collect();
        let net = Net::new(&vec![0; edges.node_count as usize], &ends);
        for (of, times) in [
            ("map equation", looked::<CodeLength>(NoRule, None, &net)),
            ("modularity", looked::<Density>(Null::Strength(1.0), None, &net)),
            ("limited CPM", looked::<Density>(Null::Count(0.01), Some(50), &net)),
        ] {
            assert!(times < 64.0, "{name}, {of}: {times} for each arc");
        }
    }
}

/// A hub whose pairs are not all rated each time still gathers its leaves, in little time.
#[test]
fn a_hub_gathers_its_leaves() {
    let leaves = 20_000;
    let mut arcs = vec![Arcs::from_iter([(leaves, 1.0)]); leaves as usize];
    arcs.push((0..leaves).map(|leaf| (leaf, 1.0)).collect());
    let one = Holding::of_count(1);
    let mut nodes = vec![(one, 1.0, 1.0); leaves as usize];
    nodes.push((one, f64::from(leaves), f64::from(leaves)));
    let labels = coarser::<CodeLength>(NoRule, None, &nodes, arcs).0.unwrap();
    assert!(labels.iter().all(|&label| label == 0));
}
