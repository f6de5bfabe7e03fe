//! Graphs for tests: edges in memory, generators of many kinds, and the graph of them on a simulated disk ([`sim`]).
#![expect(clippy::unwrap_used, reason = "a test that cannot write its graph has failed")]

pub mod sim;

use outcore_graph::weight::Weight;
use outcore_graph::{ArcRecord, Duplicates, Graph, GraphOptions, GraphWriter};
use outcore_io::Files;
use proptest::prelude::*;
use sim::Sim;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Edges in memory, from which a graph is written.
#[derive(Debug, Clone, Default)]
pub struct Edges {
    /// Number of nodes.
    pub node_count: u32,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Source, target and weight of each edge.
    pub edges: Vec<(u32, u32, f64)>,
}

impl Edges {
    /// Creates undirected edges of weight 1.
    pub fn new(node_count: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let edges = edges.into_iter().map(|(a, b)| (a, b, 1.0)).collect();
        Self { node_count, directed: false, edges }
    }

    /// Returns the edges without those whose stored weight is below `weight`.
    pub fn heavier_than(&self, weight: f64) -> Self {
        let keeps =
            |&&(_, _, w): &&(u32, u32, f64)| weight == 0.0 || Weight::new(w) >= Weight::new(weight);
        Self { edges: self.edges.iter().filter(keeps).copied().collect(), ..self.clone() }
    }

    /// Returns the edges with their weights multiplied.
    pub fn scaled(&self, factor: f64) -> Self {
        let edges = self.edges.iter().map(|&(a, b, w)| (a, b, w * factor)).collect();
        Self { edges, ..self.clone() }
    }

    /// Returns sorted, distinct arcs, each with the largest weight of its duplicates.
    pub fn arcs(&self) -> BTreeMap<(u32, u32), u32> {
        let mut arcs = BTreeMap::new();
        for &(a, b, weight) in &self.edges {
            let code = Weight::new(weight).code();
            let both = if self.directed { [(a, b); 2] } else { [(a, b), (b, a)] };
            for pair in both {
                let stored = arcs.entry(pair).or_insert(code);
                *stored = code.max(*stored);
            }
        }
        arcs
    }

    /// Writes the graph of the edges to a simulated disk.
    pub fn graph(&self) -> Graph {
        let files = Files::new(Arc::new(Sim::new()));
        let directory = Path::new("graph");
        let options = GraphOptions {
            node_count: u64::from(self.node_count),
            directed: self.directed,
            duplicates: Duplicates::Max,
            keep_loops: true,
        };
        let mut writer = GraphWriter::create(&files, directory, &options).unwrap();
        let records: Vec<ArcRecord> = self
            .arcs()
            .into_iter()
            .map(|((source, target), weight)| ArcRecord { source, target, weight })
            .collect();
        writer.push(&records).unwrap();
        writer.finish().unwrap();
        Graph::open(&files, directory).unwrap()
    }
}

/// Stream of pseudorandom numbers: SplitMix64.
struct NumberStream(u64);

impl NumberStream {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 += 1;
        let z = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % u64::from(bound)) as u32
    }
}

/// Generates graphs of many kinds: sparse to dense, near and far neighbors, hubs, groups, ties, loops.
pub fn some_edges() -> impl Strategy<Value = Edges> {
    let size = prop_oneof![1..40u32, 200..900u32];
    (size, 0..6u32, 0..4u32, any::<u64>(), any::<bool>(), 0..5u32).prop_map(
        |(node_count, density, kind, seed, directed, weights)| {
            let mut numbers = NumberStream(seed);
            let mut edges = Vec::new();
            for _ in 0..node_count * density {
                let a = numbers.below(node_count);
                let b = match kind {
                    0 => numbers.below(node_count),
                    1 => (a + numbers.below(6)) % node_count,
                    2 => numbers.below(3) % node_count,
                    _ => (a / 12 * 12 + numbers.below(12)) % node_count,
                };
                let weight = match weights {
                    0 | 1 => 1.0,
                    2 => f64::from(1 + numbers.below(3)),
                    3 => 0.1 * f64::from(1 + numbers.below(3)),
                    _ => f64::from(1 + numbers.below(1 << 20)) / 3.0,
                };
                edges.push((a, b, weight));
            }
            Edges { node_count, directed: directed && weights != 1, edges }
        },
    )
}

/// Returns `count` cliques of `size` nodes each, without edges between them.
pub fn cliques(count: u32, size: u32) -> Edges {
    let mut edges = Vec::new();
    for first in (0..count).map(|clique| clique * size) {
        for a in 0..size {
            edges.extend((0..a).map(|b| (first + a, first + b)));
        }
    }
    Edges::new(count * size, edges)
}

/// Returns cliques with one edge from each to the next.
pub fn ring_of_cliques(count: u32, size: u32) -> Edges {
    let mut edges = cliques(count, size);
    for clique in 0..count {
        edges.edges.push((clique * size, (clique + 1) % count * size + 1, 1.0));
    }
    edges
}

/// Returns a configuration of tests on generated cases: `count` of them in `make test-long`, which sets `OUTCORE_TEST`
/// to `long`, and a sixth elsewhere. Each run draws other cases.
pub fn cases(count: u32) -> ProptestConfig {
    ProptestConfig::with_cases(count.div_ceil(one_of(6)))
}

/// Returns the step by which a test walks through its cases: `step`, or 1 in `make test-long`.
pub fn one_of<T: From<u8>>(step: u8) -> T {
    let is_long = std::env::var_os("OUTCORE_TEST").is_some_and(|which| which == "long");
    if is_long { 1.into() } else { step.into() }
}
