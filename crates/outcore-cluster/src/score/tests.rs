//! Compares measures with other programs on known graphs, and with their definitions on small ones.

use super::*;
use crate::WellConnected;
use crate::tests::kinds::barber;
use crate::tests::{PLENTY, POOLS, scratch};
use outcore_graph::weight::Weight;
use outcore_graph::{
    ArcRecord, Duplicates, Graph, GraphOptions, GraphWriter, KindNames, KindsWriter,
};
use outcore_io::error::ErrorKind;
use outcore_io::progress::Silent;
use outcore_io::units::parse_bytes;
use outcore_io::{Cramped, Files};
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

const NONE: u32 = u32::MAX;

/// Edges in memory; a directed arc is stored at the node that it points to.
#[derive(Debug, Clone)]
struct ScoredEdges {
    node_count: u32,
    directed: bool,
    edges: Vec<(u32, u32, f64)>,
}

impl ScoredEdges {
    fn graph(&self) -> Graph {
        self.graph_of_kinds(None)
    }

    /// Returns the graph, with the kind of each node if there are two.
    fn graph_of_kinds(&self, kinds: Option<&[bool]>) -> Graph {
        let files = Files::new(Arc::new(Sim::new()));
        let directory = Path::new("graph");
        let options = GraphOptions {
            node_count: u64::from(self.node_count),
            directed: self.directed,
            duplicates: Duplicates::Sum,
            keep_loops: true,
        };
        let mut arcs = BTreeMap::new();
        for &(a, b, weight) in &self.edges {
            arcs.insert((b, a), weight);
            if !self.directed {
                arcs.insert((a, b), weight);
            }
        }
        let record = |((source, target), weight)| ArcRecord {
            source,
            target,
            weight: Weight::new(weight).code(),
        };
        let records: Vec<ArcRecord> = arcs.into_iter().map(record).collect();
        let writer = GraphWriter::create(&files, directory, &options).unwrap();
        let kinds = kinds.map(|kinds| {
            let names = KindNames(["user".into(), "item".into()]);
            let mut writer = KindsWriter::create(&files, directory, &names).unwrap();
            kinds.iter().for_each(|&is_second| writer.push(is_second).unwrap());
            writer.finish().unwrap()
        });
        let mut writer = writer.of_kinds(kinds);
        writer.push(&records).unwrap();
        writer.finish().unwrap();
        Graph::open(&files, directory).unwrap()
    }

    fn quality(&self, labels: &[u32], resolution: f64) -> Quality {
        quality_at(&self.graph(), labels, resolution, &Silent).unwrap()
    }
}

/// Reads a graph of `tests/graphs`, numbered by first appearance, and the true community of each node.
fn known(edges: &str, truth: &str) -> (ScoredEdges, Vec<u32>) {
    fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
        text.lines().map(|line| line.split_once('\t').unwrap())
    }
    let mut names = HashMap::new();
    let mut order = Vec::new();
    let mut index = |name| {
        *names.entry(name).or_insert_with(|| {
            order.push(name);
            order.len() as u32 - 1
        })
    };
    let edges: Vec<_> = pairs(edges).map(|(a, b)| (index(a), index(b), 1.0)).collect();
    let truth: HashMap<&str, u32> =
        pairs(truth).map(|(node, community)| (node, community.parse().unwrap())).collect();
    let labels = order.iter().map(|name| truth[name]).collect();
    (ScoredEdges { node_count: order.len() as u32, directed: false, edges }, labels)
}

fn karate() -> (ScoredEdges, Vec<u32>) {
    known(
        include_str!("../../../../tests/graphs/karate.tsv"),
        include_str!("../../../../tests/graphs/karate.truth.tsv"),
    )
}

fn football() -> (ScoredEdges, Vec<u32>) {
    known(
        include_str!("../../../../tests/graphs/football.tsv"),
        include_str!("../../../../tests/graphs/football.truth.tsv"),
    )
}

/// Returns a graph with heavy loops.
fn loops() -> (ScoredEdges, Vec<u32>) {
    let nodes = [(0, 0), (0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5), (5, 5), (6, 6)];
    let weights = [2.0, 1.5, 0.5, 1.0, 0.25, 2.0, 1.0, 3.0, 0.5, 1.0];
    let edges = nodes.into_iter().zip(weights).map(|((a, b), weight)| (a, b, weight)).collect();
    (ScoredEdges { node_count: 7, directed: false, edges }, vec![0, 0, 0, 1, 1, 1, 2])
}

fn directed() -> (ScoredEdges, Vec<u32>) {
    let nodes = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (3, 0)];
    let weights = [1.0, 2.0, 1.0, 0.5, 1.0, 1.0, 3.0, 0.25];
    let edges = nodes.into_iter().zip(weights).map(|((a, b), weight)| (a, b, weight)).collect();
    (ScoredEdges { node_count: 6, directed: true, edges }, vec![0, 0, 0, 1, 1, 1])
}

fn modulo(count: u32) -> Vec<u32> {
    (0..count).map(|node| node % 4).collect()
}

fn close(found: f64, expected: f64) {
    let tolerance = 1e-9 * expected.abs().max(1.0);
    assert!((found - expected).abs() < tolerance, "{found} is not {expected}");
}

/// Scores of communities by other programs.
struct ExpectedScores {
    /// At resolutions 1 and 0.5.
    modularity: [f64; 2],
    cpm: [f64; 2],
    /// With these communities, and with one community.
    code_lengths: [f64; 2],
    /// Mean and maximum.
    conductance: Option<[f64; 2]>,
}

fn check(edges: &ScoredEdges, labels: &[u32], expected: &ExpectedScores) {
    for (at, resolution) in [1.0, 0.5].into_iter().enumerate() {
        let found = edges.quality(labels, resolution);
        close(found.modularity, expected.modularity[at]);
        close(found.cpm, expected.cpm[at]);
        close(found.code_length.unwrap(), expected.code_lengths[0]);
        close(found.code_length_undivided.unwrap(), expected.code_lengths[1]);
        let conductance = found.conductance_mean.zip(found.conductance_max);
        assert_eq!(conductance.is_some(), expected.conductance.is_some());
        if let (Some((mean, max)), Some(expected)) = (conductance, expected.conductance) {
            close(mean, expected[0]);
            close(max, expected[1]);
        }
    }
}

/// Values from `python tests/graphs/measures.py`: igraph 1.0.0, leidenalg 0.12.0, Infomap 2.16.0, networkx 3.6.1.
#[test]
fn measures_of_known_graphs_match_other_programs() {
    let (edges, truth) = karate();
    let expected = ExpectedScores {
        modularity: [0.371_466_140_696_91, 0.621_630_506_245_890_9],
        cpm: [-205.0, -68.5],
        code_lengths: [4.409_321_570_253_812, 4.704_422_598_883_344],
        conductance: Some([0.131_578_947_368_421_05; 2]),
    };
    check(&edges, &truth, &expected);
    let expected = ExpectedScores {
        modularity: [-0.026_134_122_287_968_423, 0.102_317_554_240_631_19],
        cpm: [-110.0, -46.0],
        code_lengths: [6.001_882_204_643_739, 4.704_422_598_883_344],
        conductance: Some([0.776_609_280_286_606, 0.862_068_965_517_241_3]),
    };
    check(&edges, &modulo(34), &expected);
    let (edges, truth) = football();
    let expected = ExpectedScores {
        modularity: [0.553_973_318_714_423, 0.598_356_969_308_271_9],
        cpm: [-129.0, 132.5],
        code_lengths: [5.677_161_601_696_293, 6.840_314_282_188_099],
        conductance: Some([0.402_332_394_959_905_36, 0.956_521_739_130_434_8]),
    };
    check(&edges, &truth, &expected);
    let (edges, labels) = loops();
    let expected = ExpectedScores {
        modularity: [0.542_675_893_886_966_5, 0.761_534_025_374_855_7],
        cpm: [4.571_428_571_428_571, 8.535_714_285_714_285],
        code_lengths: [1.617_836_381_278_568, 2.629_579_341_440_316],
        conductance: Some([0.014_932_802_389_248_384, 0.024_390_243_902_439_025]),
    };
    check(&edges, &labels, &expected);
    let (edges, labels) = directed();
    let expected = ExpectedScores {
        modularity: [0.418_145_956_607_495_1, 0.670_611_439_842_209_2],
        cpm: [-5.625, 1.6875],
        code_lengths: [2.123_342_767_584_130_5, 2.557_919_232_132_715_8],
        conductance: None,
    };
    check(&edges, &labels, &expected);
    let rules = QualityRules { recorded_teleportation: true, ..QualityRules::default() };
    let found = quality_by(&edges.graph(), &labels, rules, &Silent).unwrap();
    close(found.code_length.unwrap(), 2.384_233_675_862_94);
    close(found.code_length_undivided.unwrap(), 2.557_919_232_132_715_8);
}

/// Values from the same command: scikit-learn 1.9.1.
#[test]
fn agreement_on_known_graphs_matches_scikit_learn() {
    let ((_, karate), (_, football)) = (karate(), football());
    for (truth, all, some) in [
        (
            karate,
            [0.021_511_649_724_273, -0.025_966_462_102_632, -0.023_795_244_820_181, 0.4609375],
            [0.106_610_253_654_676, 0.032_310_029_422_842, 0.034_954_582_039_783, 0.52],
        ),
        (
            football,
            [
                0.128_672_310_286_301,
                0.045_811_922_043_604,
                0.016_800_608_217_465,
                0.089_598_997_493_734,
            ],
            [
                0.154_369_898_024_556,
                0.017_176_783_936_074,
                0.004_958_447_426_961,
                0.084_671_532_846_715,
            ],
        ),
    ] {
        let count = truth.len() as u32;
        let values = |of: Agreement| [of.nmi, of.ami, of.ari, of.pair_precision];
        let found = compare(&modulo(count), &truth);
        values(found).into_iter().zip(all).for_each(|(found, expected)| close(found, expected));
        let (precision, recall) = (found.pair_precision, found.pair_recall);
        close(found.pair_f1, 2.0 * precision * recall / (precision + recall));
        let gaps: Vec<u32> = truth
            .iter()
            .zip(0..)
            .map(|(&label, i)| if i % 3 == 0 { NONE } else { label })
            .collect();
        let found = compare(&modulo(count), &gaps);
        assert_eq!(found.node_count, u64::from(count - count.div_ceil(3)));
        values(found).into_iter().zip(some).for_each(|(found, expected)| close(found, expected));
    }
}

#[test]
fn sizes_are_counted() {
    let found = karate().0.quality(&[[0; 20].as_slice(), &[5; 13], &[3]].concat(), 1.0);
    assert_eq!(
        (found.sizes.community_count, found.sizes.singleton_count, found.sizes.largest),
        (3, 1, 20)
    );
    assert_eq!((found.sizes.median, found.sizes.largest_share), (13.0, 20.0 / 34.0));
    let found = karate().0.quality(&[[0; 20].as_slice(), &[5; 14]].concat(), 1.0);
    assert_eq!(found.sizes.median, 17.0);
}

#[test]
fn undefined_measures_are_none_and_no_measure_is_nan() {
    let (edges, _) = karate();
    let found = edges.quality(&[0; 34], 1.0);
    assert_eq!((found.conductance_mean, found.coverage), (None, 1.0));
    close(found.modularity, 0.0);
    assert_eq!(found.code_length, found.code_length_undivided);
    let empty = ScoredEdges { node_count: 3, directed: false, edges: Vec::new() };
    let found = empty.quality(&[0, 1, 1], 1.0);
    assert_eq!((found.code_length, found.conductance_mean, found.cpm), (Some(0.0), None, 0.0));
    assert_eq!((found.modularity, found.disconnected_count), (0.0, 1));
    let nobody = compare(&[0, 1], &[NONE, NONE]);
    assert_eq!((nobody.node_count, nobody.nmi, nobody.pair_f1), (0, 1.0, 1.0));
    let apart = compare(&[0, 1, 2], &[0, 0, 0]);
    assert_eq!((apart.pair_precision, apart.pair_recall, apart.pair_f1), (1.0, 0.0, 0.0));
}

/// All measures by definition, from a list of edges.
struct Naive<'a> {
    edges: &'a ScoredEdges,
    labels: &'a [u32],
}

impl Naive<'_> {
    /// Returns the weight of the arcs from nodes that satisfy `from` to nodes that satisfy `to`.
    fn weight(&self, from: impl Fn(u32) -> bool, to: impl Fn(u32) -> bool) -> f64 {
        let both = |&(a, b, w): &(u32, u32, f64)| {
            let there = if from(a) && to(b) { w } else { 0.0 };
            let back = if !self.edges.directed && from(b) && to(a) { w } else { 0.0 };
            there + back
        };
        self.edges.edges.iter().map(both).sum()
    }

    /// Like [`Naive::weight`] of an undirected graph, for a walk: a loop is one way to go on.
    fn steps(&self, from: impl Fn(u32) -> bool, to: impl Fn(u32) -> bool) -> f64 {
        let loops = self.edges.edges.iter().filter(|&&(a, b, _)| a == b && from(a) && to(a));
        let loops: f64 = loops.map(|&(_, _, w)| w).sum();
        self.weight(from, to) - loops
    }

    fn has(&self, label: u32) -> impl Fn(u32) -> bool {
        move |node| self.labels[node as usize] == label
    }

    fn communities(&self) -> Vec<u32> {
        let mut labels = self.labels.to_vec();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    fn modularity(&self, resolution: f64) -> f64 {
        let total = self.weight(|_| true, |_| true);
        let of = |label| {
            let out = self.weight(self.has(label), |_| true) / total;
            let into = self.weight(|_| true, self.has(label)) / total;
            self.weight(self.has(label), self.has(label)) / total - resolution * out * into
        };
        self.communities().into_iter().map(of).sum()
    }

    /// Returns the code length as published: one code book for entering communities, and one per community.
    fn code_length(&self) -> f64 {
        let total = self.steps(|_| true, |_| true);
        let book = |rates: &[f64]| -> (f64, f64) {
            let sum: f64 = rates.iter().sum();
            let bits =
                |&rate: &f64| if rate > 0.0 { -rate / sum * (rate / sum).log2() } else { 0.0 };
            (sum, rates.iter().map(bits).sum())
        };
        let (mut exits, mut length) = (Vec::new(), 0.0);
        for label in self.communities() {
            let exit = self.steps(self.has(label), |node| !self.has(label)(node)) / total;
            let mut rates = vec![exit];
            let members = (0..self.edges.node_count).filter(|&node| self.has(label)(node));
            rates.extend(members.map(|node| self.steps(|v| v == node, |_| true) / total));
            let (sum, bits) = book(&rates);
            length += sum * bits;
            exits.push(exit);
        }
        let (sum, bits) = book(&exits);
        length + sum * bits
    }

    fn cpm(&self, resolution: f64) -> f64 {
        let between = self.edges.edges.iter().filter(|(a, b, _)| a != b);
        let mean = between.clone().map(|&(_, _, w)| w).sum::<f64>() / between.count().max(1) as f64;
        let mut value = 0.0;
        for &(a, b, weight) in &self.edges.edges {
            value += if self.labels[a as usize] == self.labels[b as usize] { weight } else { 0.0 };
        }
        for a in 0..self.edges.node_count as usize {
            for b in 0..self.edges.node_count as usize {
                let is_pair = a < b || self.edges.directed && a > b;
                if is_pair && self.labels[a] == self.labels[b] {
                    value -= resolution * mean;
                }
            }
        }
        value
    }

    /// Returns the conductances of all communities for which it is defined.
    fn conductances(&self) -> Vec<f64> {
        let of = |label| {
            let rest = |node| !self.has(label)(node);
            let smaller = self.weight(self.has(label), |_| true).min(self.weight(rest, |_| true));
            (smaller > 0.0).then(|| self.weight(self.has(label), rest) / smaller)
        };
        self.communities().into_iter().filter_map(of).collect()
    }

    /// Returns the number of communities of which not all nodes can be reached from the first.
    fn disconnected(&self) -> u64 {
        let is_split = |&&label: &&u32| self.parts(label, None).len() > 1;
        self.communities().iter().filter(is_split).count() as u64
    }

    /// Returns the number of communities that removing one pair leaves in two parts of at least two nodes each.
    fn bridged(&self) -> u64 {
        let is_bridged = |&&label: &&u32| {
            self.parts(label, None).len() == 1
                && self.edges.edges.iter().any(|&(a, b, _)| {
                    let parts = self.parts(label, Some((a, b)));
                    parts.len() == 2 && parts.iter().all(|&size| size > 1)
                })
        };
        self.communities().iter().filter(is_bridged).count() as u64
    }

    /// Returns the sizes of the connected parts of a community, without the edges between two nodes.
    fn parts(&self, label: u32, without: Option<(u32, u32)>) -> Vec<usize> {
        let mut left: Vec<u32> =
            (0..self.edges.node_count).filter(|&v| self.has(label)(v)).collect();
        let mut sizes = Vec::new();
        while let Some(first) = left.pop() {
            let mut reached = vec![first];
            let mut at = 0;
            while at < reached.len() {
                for &(a, b, _) in &self.edges.edges {
                    if without == Some((a, b)) || without == Some((b, a)) {
                        continue;
                    }
                    for (a, b) in [(a, b), (b, a)] {
                        if a == reached[at] && left.contains(&b) {
                            left.retain(|&node| node != b);
                            reached.push(b);
                        }
                    }
                }
                at += 1;
            }
            sizes.push(reached.len());
        }
        sizes
    }
}

/// Graphs of few edges, so that one of them often holds a community together.
fn sparse_edges() -> impl Strategy<Value = (ScoredEdges, Vec<u32>)> {
    (2u32..16, any::<bool>(), 1u32..4).prop_flat_map(|(node_count, directed, most)| {
        let labels = prop::collection::vec(0..most, node_count as usize);
        let pairs = prop::collection::btree_set((0..node_count, 0..node_count), 1..28);
        (pairs, labels).prop_map(move |(pairs, labels)| {
            let pairs: BTreeSet<_> = match directed {
                true => pairs,
                false => pairs.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect(),
            };
            let edges = pairs.into_iter().map(|(a, b)| (a, b, 1.0)).collect();
            (ScoredEdges { node_count, directed, edges }, labels)
        })
    })
}

fn some_edges() -> impl Strategy<Value = (ScoredEdges, Vec<u32>)> {
    (2u32..14, any::<bool>(), any::<bool>()).prop_flat_map(|(node_count, directed, weighted)| {
        let weight = if weighted { 0.25..8.0f64 } else { 1.0..1.000_000_1 };
        let edge = (0..node_count, 0..node_count, weight);
        let labels = prop::collection::vec(0u32..5, node_count as usize);
        (prop::collection::vec(edge, 1..40), labels).prop_map(move |(list, labels)| {
            let mut seen = HashMap::new();
            for (a, b, weight) in list {
                let pair = if directed { (a, b) } else { (a.min(b), a.max(b)) };
                // With the precision of weights in the graph.
                let weight = if weighted {
                    Weight::from_code(Weight::new(weight).code()).value()
                } else {
                    1.0
                };
                seen.insert(pair, weight);
            }
            let mut edges: Vec<_> = seen.into_iter().map(|((a, b), w)| (a, b, w)).collect();
            edges.sort_by_key(|&(a, b, _)| (a, b));
            (ScoredEdges { node_count, directed, edges }, labels)
        })
    })
}

proptest! {
    #[test]
    fn measures_match_their_definitions((edges, labels) in some_edges(), resolution in 0.1..3.0f64) {
        let found = edges.quality(&labels, resolution);
        let naive = Naive { edges: &edges, labels: &labels };
        close(found.modularity, naive.modularity(resolution));
        close(found.cpm, naive.cpm(resolution));
        prop_assert_eq!(found.disconnected_count, naive.disconnected());
        prop_assert_eq!(found.sizes.community_count, naive.communities().len() as u64);
        if edges.directed {
            // Its code length is compared in the tests of `flow`.
            prop_assert!(found.code_length.is_some() && found.conductance_mean.is_none());
            return Ok(());
        }
        close(found.code_length.unwrap(), naive.code_length());
        let undivided = vec![0; labels.len()];
        let whole = Naive { edges: &edges, labels: &undivided };
        close(found.code_length_undivided.unwrap(), whole.code_length());
        let conductances = naive.conductances();
        prop_assert_eq!(found.conductance_mean.is_some(), !conductances.is_empty());
        if let Some(mean) = found.conductance_mean {
            close(mean, conductances.iter().sum::<f64>() / conductances.len() as f64);
            close(found.conductance_max.unwrap(), conductances.iter().copied().fold(0.0, f64::max));
        }
    }

    #[test]
    fn any_unit_of_weight_gives_the_same_measures((edges, labels) in some_edges(), power in -900i32..900) {
        let mut scaled = edges.clone();
        scaled.edges.iter_mut().for_each(|edge| edge.2 *= 2f64.powi(power));
        let (found, expected) = (scaled.quality(&labels, 1.0), edges.quality(&labels, 1.0));
        prop_assert_eq!(found.cpm, expected.cpm * 2f64.powi(power));
        prop_assert_eq!(Quality { cpm: 0.0, ..found }, Quality { cpm: 0.0, ..expected });
    }

    #[test]
    fn pair_measures_match_a_count_of_all_pairs(
        labels in prop::collection::vec((0u32..4, 0u32..4, 0u32..8), 2..30),
    ) {
        let gap = |label, chance| if chance == 0 { NONE } else { label };
        let found: Vec<u32> = labels.iter().map(|&(a, _, chance)| gap(a, chance)).collect();
        let truth: Vec<u32> = labels.iter().map(|&(_, b, chance)| gap(b, chance / 2)).collect();
        let (mut in_found, mut in_truth, mut in_both) = (0u32, 0u32, 0u32);
        for a in 0..labels.len() {
            for b in (0..a).filter(|&b| ![found[a], truth[a], found[b], truth[b]].contains(&NONE)) {
                let (one, two) = (found[a] == found[b], truth[a] == truth[b]);
                in_found += u32::from(one);
                in_truth += u32::from(two);
                in_both += u32::from(one && two);
            }
        }
        let share = |of: u32| if of > 0 { f64::from(in_both) / f64::from(of) } else { 1.0 };
        let compared = compare(&found, &truth);
        close(compared.pair_precision, share(in_found));
        close(compared.pair_recall, share(in_truth));
        let f1 = if in_found + in_truth > 0 { 2.0 * f64::from(in_both) / f64::from(in_found + in_truth) } else { 1.0 };
        close(compared.pair_f1, f1);
        for value in [compared.nmi, compared.ami, compared.ari] {
            prop_assert!(value.is_finite() && value < 1.0 + 1e-9, "{value}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn modularity_of_two_kinds_is_that_of_barber(
        kinds in prop::collection::vec(any::<bool>(), 1..24),
        pairs in prop::collection::btree_map((0u32..24, 0u32..24), 1u32..9, 0..60),
        labels in prop::collection::vec(0u32..5, 24),
        resolution in 0.25f64..2.0,
        directed: bool,
    ) {
        let count = kinds.len() as u32;
        let between = pairs.into_iter().filter_map(|((a, b), weight)| {
            let (a, b) = (a % count, b % count);
            // Directed edges lead from the first kind to the second.
            (!kinds[a as usize] && kinds[b as usize]).then_some(((a, b), f64::from(weight) / 2.0))
        });
        let edges = between.collect::<BTreeMap<_, _>>();
        let edges = edges.into_iter().map(|((a, b), weight)| (a, b, weight)).collect();
        let edges = ScoredEdges { node_count: count, directed, edges };
        let labels = &labels[..count as usize];
        let found = quality_at(&edges.graph_of_kinds(Some(&kinds)), labels, resolution, &Silent);
        let found = found.unwrap().two_mode_modularity.unwrap();
        let expected = barber(&edges.edges, &kinds, labels, resolution);
        prop_assert!((found - expected).abs() < 1e-12, "{} is not {}", found, expected);
        prop_assert_eq!(edges.quality(labels, resolution).two_mode_modularity, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]
    /// Whatever the bound and the threads, with communities in memory or larger than it.
    #[test]
    fn bridged_communities_are_those_that_one_pair_divides(
        (edges, labels) in sparse_edges(),
        text in prop::sample::select(vec!["0", "1", "3", "log10", "0.5n"]),
        community_edges in 0..20usize,
    ) {
        let graph = edges.graph();
        let expected = Naive { edges: &edges, labels: &labels }.bridged();
        let bound: WellConnected = text.parse().unwrap();
        let room = ScoreRoom { memory_bytes: PLENTY, scratch: scratch() };
        for (pool, most) in [(0, usize::MAX), (2, usize::MAX), (0, community_edges), (1, 0)] {
            let cramped = Cramped { community_edges: most, ..graph.files().cramped() };
            let files = graph.files().with_cramped(cramped);
            let graph = Graph::open(&files, graph.directory()).unwrap();
            let rated = POOLS[pool].install(|| connectedness(&graph, &labels, bound, room, &Silent));
            prop_assert_eq!(rated.unwrap().bridged_count, expected, "{} {}", pool, most);
        }
    }
}

#[test]
fn a_pair_of_two_arcs_is_one_bridge() {
    let triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)];
    let of = |more: &[(u32, u32)], directed, labels: &[u32]| {
        let pairs = triangles.iter().chain(more);
        let edges = pairs.map(|&(a, b)| (a, b, f64::from(a + b))).collect();
        let graph = ScoredEdges { node_count: 6, directed, edges }.graph();
        let room = ScoreRoom { memory_bytes: PLENTY, scratch: scratch() };
        let bound = "1".parse().unwrap();
        connectedness(&graph, labels, bound, room, &Silent).unwrap().bridged_count
    };
    let one = &[0; 6];
    assert_eq!([of(&[], false, one), of(&[], true, one), of(&[(3, 2), (4, 4)], true, one)], [1; 3]);
    // Two pairs; two communities; a node on one edge; a community in two parts.
    assert_eq!([of(&[(1, 4)], false, one), of(&[(4, 1)], true, one)], [0; 2]);
    assert_eq!(of(&[], false, &[0, 0, 0, 1, 1, 1]), 0);
    assert_eq!([of(&[], false, &[0, 0, 0, 0, 1, 1]), of(&[], false, &[0, 0, 1, 1, 0, 0])], [0; 2]);
}

/// One edge per node tells whether a community is connected, but not whether one edge holds it together. The community,
/// two rings of close neighbors, has too many nodes for two per node in the least memory.
#[test]
fn a_bridge_of_a_large_community_is_found_or_refused_with_the_memory_that_suffices() {
    let count = 20_000;
    let ring = |node: u32| (1..5).map(move |step| (node, (node + step) % count, 1.0));
    let two = |(a, b, weight)| [(a, b, weight), (a + count, b + count, weight)];
    let mut edges: Vec<_> = (0..count).flat_map(ring).flat_map(two).collect();
    edges.push((7, count, 1.0));
    for expected in [1, 0] {
        let node_count = 2 * count;
        let graph = ScoredEdges { node_count, directed: false, edges: edges.clone() }.graph();
        let rate = |memory_bytes: u64| {
            let (labels, room) =
                (vec![0; 2 * count as usize], ScoreRoom { memory_bytes, scratch: scratch() });
            connectedness(&graph, &labels, "0".parse().unwrap(), room, &Silent)
        };
        let error = rate(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
        let hint = error.hint_text().unwrap();
        let words = hint.split(|c: char| !c.is_ascii_alphanumeric());
        let typed = words.filter_map(|word| parse_bytes(word).ok()).max().unwrap();
        for memory_bytes in [typed, PLENTY] {
            let found = rate(memory_bytes).unwrap();
            assert_eq!((found.bridged_count, found.well_connected_count), (expected, 1), "{hint}");
        }
        edges.push((8, count + 1, 1.0));
    }
}
