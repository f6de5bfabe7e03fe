//! Graphs for tests of the clustering, also used by other crates, which include this file.

use super::oracle_levels::OracleLevel;
use crate::cluster::base::hash::mix;
use crate::graph::{ArcRecord, Duplicates, Graph, GraphOptions, GraphWriter};
use crate::io::Files;
use crate::io::sim::Sim;
use crate::weight::Weight;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Edges in memory, from which a graph is written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Edges {
    pub(crate) node_count: u32,
    pub(crate) directed: bool,
    pub(crate) edges: Vec<(u32, u32, f64)>,
}

impl Edges {
    pub(crate) fn new(node_count: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let edges = edges.into_iter().map(|(a, b)| (a, b, 1.0)).collect();
        Self { node_count, directed: false, edges }
    }

    /// Returns the edges without those whose stored weight is lighter.
    pub(crate) fn heavier_than(&self, weight: f64) -> Self {
        let keeps =
            |&&(_, _, w): &&(u32, u32, f64)| weight == 0.0 || Weight::new(w) >= Weight::new(weight);
        Self { edges: self.edges.iter().filter(keeps).copied().collect(), ..self.clone() }
    }

    pub(crate) fn scaled(&self, factor: f64) -> Self {
        let edges = self.edges.iter().map(|&(a, b, w)| (a, b, w * factor)).collect();
        Self { edges, ..self.clone() }
    }

    /// Returns sorted, distinct arcs, each with the largest weight of its duplicates.
    pub(crate) fn arcs(&self) -> BTreeMap<(u32, u32), u32> {
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

    pub(crate) fn graph(&self) -> Graph {
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

/// Stream of pseudorandom numbers.
struct NumberStream(u64);

impl NumberStream {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 += 1;
        (mix(self.0) % u64::from(bound)) as u32
    }
}

/// Generates graphs of many kinds: sparse to dense, near and far neighbors, hubs, groups, ties, loops.
pub(crate) fn some_edges() -> impl Strategy<Value = Edges> {
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

/// Converts edges to the form of the multilevel specification.
pub(crate) fn level(edges: &Edges) -> OracleLevel {
    let count = edges.node_count as usize;
    let (mut arcs, mut loops) = (vec![Vec::new(); count], vec![0.0; count]);
    for ((a, b), weight) in edges.arcs() {
        let weight = Weight::from_code(weight).value();
        if a == b { loops[a as usize] = weight } else { arcs[a as usize].push((b, weight)) }
    }
    OracleLevel { arcs, loops, counts: vec![1; count] }
}
