//! Modularity of graphs of two kinds of nodes, against its definition.

use super::prelude::*;
use crate::tests::{PLENTY, POOLS, scratch};
use outcore_graph::weight::Weight;
use outcore_graph::{ArcRecord, Duplicates, GraphOptions, GraphWriter, KindNames, KindsWriter};
use outcore_io::Files;
use outcore_io::progress::Silent;
use outcore_testkit::cases;
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

type WeightedEdges = [(u32, u32, f64)];

/// Returns Barber's modularity from its definition: the sum over all pairs of a node of each kind in one community.
pub(crate) fn barber(
    edges: &WeightedEdges,
    kinds: &[bool],
    labels: &[u32],
    resolution: f64,
) -> f64 {
    let count = kinds.len();
    let mut matrix = vec![vec![0.0; count]; count];
    for &(a, b, weight) in edges {
        (matrix[a as usize][b as usize], matrix[b as usize][a as usize]) = (weight, weight);
    }
    let strengths: Vec<f64> = matrix.iter().map(|row| row.iter().sum()).collect();
    let total = strengths.iter().sum::<f64>() / 2.0;
    let mut sum = 0.0;
    for first in (0..count).filter(|&node| !kinds[node]) {
        for second in (0..count).filter(|&node| kinds[node] && labels[node] == labels[first]) {
            let expected = strengths[first] * strengths[second] / total;
            sum += matrix[first][second] - resolution * expected;
        }
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Graph of two kinds of nodes; edges lead from the first to the second.
#[derive(Debug, Clone)]
struct TwoKinds {
    kinds: Vec<bool>,
    edges: Vec<(u32, u32, f64)>,
}

impl TwoKinds {
    fn graph(&self, directed: bool) -> Graph {
        let (files, directory) = (Files::new(Arc::new(Sim::new())), Path::new("graph"));
        let options = GraphOptions {
            node_count: self.kinds.len() as u64,
            directed,
            duplicates: Duplicates::Sum,
            keep_loops: true,
        };
        let mut writer =
            KindsWriter::create(&files, directory, &KindNames(["a".into(), "b".into()])).unwrap();
        self.kinds.iter().for_each(|&is_second| writer.push(is_second).unwrap());
        let kinds = writer.finish().unwrap();
        let mut arcs = BTreeMap::new();
        for &(a, b, weight) in &self.edges {
            // A directed arc is stored at the node that it points to.
            arcs.insert((b, a), weight);
            if !directed {
                arcs.insert((a, b), weight);
            }
        }
        let record = |((source, target), weight)| {
            let weight = Weight::new(weight).code();
            ArcRecord { source, target, weight }
        };
        let records: Vec<_> = arcs.into_iter().map(record).collect();
        let writer = GraphWriter::create_tiny(&files, directory, &options).unwrap();
        let mut writer = writer.of_kinds(Some(kinds));
        writer.push(&records).unwrap();
        writer.finish().unwrap();
        Graph::open(&files, directory).unwrap()
    }

    fn barber(&self, labels: &[u32]) -> f64 {
        barber(&self.edges, &self.kinds, labels, 1.0)
    }

    /// Returns the largest modularity of all partitions.
    fn best(&self) -> f64 {
        fn extend(graph: &TwoKinds, labels: &mut Vec<u32>, used: u32) -> f64 {
            if labels.len() == graph.kinds.len() {
                return graph.barber(labels);
            }
            let mut best = f64::NEG_INFINITY;
            for label in 0..=used {
                labels.push(label);
                best = best.max(extend(graph, labels, used.max(label + 1)));
                labels.pop();
            }
            best
        }
        extend(self, &mut Vec::new(), 0)
    }
}

fn two_kinds(nodes: std::ops::Range<usize>, edges: usize) -> impl Strategy<Value = TwoKinds> {
    let kinds = prop::collection::vec(any::<bool>(), nodes);
    let pairs = prop::collection::btree_map((0u32..1000, 0u32..1000), 1u32..5, 1..edges);
    (kinds, pairs).prop_map(|(kinds, pairs)| {
        let count = kinds.len() as u32;
        let between = pairs.into_iter().filter_map(|((a, b), weight)| {
            // Most edges are near.
            let (a, near) = (a % count, if b % 4 == 0 { b } else { a + b % 7 });
            let b = near % count;
            (!kinds[a as usize] && kinds[b as usize]).then_some(((a, b), f64::from(weight)))
        });
        let edges: BTreeMap<_, _> = between.collect();
        let edges = edges.into_iter().map(|((a, b), weight)| (a, b, weight)).collect();
        TwoKinds { kinds, edges }
    })
}

fn options(method: Method) -> ClusterOptions {
    ClusterOptions { method, ..ClusterOptions::default() }
}

fn found(graph: &Graph, options: &ClusterOptions, pool: usize, spare: Option<u64>) -> Communities {
    POOLS[pool].install(|| {
        let needed = options.memory(graph, 0, rayon::current_num_threads()).total_bytes();
        let memory = spare.map_or(PLENTY, |spare| needed + spare);
        cluster(graph, options, memory, scratch(), &Silent).unwrap()
    })
}

proptest! {
    #![proptest_config(cases(80))]

    /// The reported modularity is that of the definition, for edges with and without directions, and results are the
    /// same for every number of threads and amount of memory.
    #[test]
    fn the_modularity_found_is_that_of_the_definition(graph in two_kinds(2..200, 500), directed: bool) {
        let (options, on_disk) = (options(Method::Modularity), graph.graph(directed));
        let first = found(&on_disk, &options, 1, None);
        let expected = graph.barber(first.labels());
        let reported = first.measures.two_mode_modularity.unwrap();
        prop_assert!((reported - expected).abs() < 1e-9, "{} is not {}", reported, expected);
        prop_assert!(expected > -1e-9, "single nodes are better than {}", expected);
        for (pool, spare) in [(0, Some(0)), (2, Some(3000))] {
            prop_assert_eq!(&first, &found(&on_disk, &options, pool, spare));
        }
        let other = found(&on_disk, &self::options(Method::Components), 1, None);
        prop_assert_eq!(other.measures.two_mode_modularity, None);
    }
}

#[test]
fn small_graphs_reach_the_optimum() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = two_kinds(4..9, 40);
    let (mut sum, mut best) = (0.0, 0.0);
    for _ in 0..150 {
        let graph = strategy.new_tree(&mut runner).unwrap().current();
        let communities = found(&graph.graph(false), &options(Method::Modularity), 1, None);
        let (reached, most) = (graph.barber(communities.labels()), graph.best());
        assert!(reached <= most + 1e-9);
        (sum, best) = (sum + reached, best + most.max(0.0));
    }
    assert!(sum >= 0.999 * best, "{sum} of {best}");
}

/// Rings of complete blocks of 4 and 6 nodes: by the modularity of one kind, neighboring blocks would be as good.
#[test]
fn blocks_are_found() {
    let (mut kinds, mut edges, blocks) = (Vec::new(), Vec::new(), 30u32);
    for block in 0..blocks {
        let first = block * 10;
        kinds.extend((0..10).map(|at| at >= 4));
        for (a, b) in (0..4).flat_map(|a| (4..10).map(move |b| (a, b))) {
            edges.push((first + a, first + b, 1.0));
        }
        edges.push((first, (first + 19) % (10 * blocks), 1.0));
    }
    let graph = TwoKinds { kinds, edges };
    let communities = found(&graph.graph(false), &options(Method::Modularity), 2, None);
    let planted: Vec<u32> = (0..10 * blocks).map(|node| node / 10).collect();
    assert!(communities.measures.two_mode_modularity.unwrap() >= graph.barber(&planted) - 1e-12);
}
