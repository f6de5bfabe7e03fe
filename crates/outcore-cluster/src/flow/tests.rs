//! Flow of small directed graphs, compared with dense solutions of its definition.

use super::flow_graph::{NetworkPlace, Purpose, write};
use super::length::code_lengths;
use super::rates::{FlowAt, Teleportation, VisitRates};
use crate::base::parallel::PerThread;
use crate::base::rows::RowsAhead;
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::Holdings;
use crate::score::{Visited, visits};
use crate::tests::walk::Walk;
use crate::tests::{Edges, POOLS, some_edges};
use outcore_graph::weight::Weight;
use outcore_graph::{ArcScratch, Graph, View};
use outcore_io::progress::Silent;
use outcore_sort::SORT_BYTES_MIN;
use proptest::prelude::*;
use std::path::Path;

/// Flow from its definition: a dense system of equations, solved by elimination.
pub(crate) struct DenseFlow {
    /// Flow of the arc to each node (row) from each other one.
    arcs: Vec<Vec<f64>>,
    at: Vec<FlowAt>,
    /// Share of the teleported flow that lands at each node.
    landing: Vec<f64>,
}

impl DenseFlow {
    pub(crate) fn new(edges: &Edges, teleportation: Teleportation) -> Self {
        let count = edges.node_count as usize;
        let mut weights = vec![vec![0.0; count]; count];
        // The first node of an edge is that of the row, to which its arc leads.
        for ((target, source), code) in edges.arcs() {
            weights[target as usize][source as usize] = Weight::from_code(code).value();
        }
        let nodes = || 0..count;
        let leaving: Vec<f64> = nodes().map(|s| weights.iter().map(|row| row[s]).sum()).collect();
        let entering: Vec<f64> = weights.iter().map(|row| row.iter().sum()).collect();
        let total: f64 = entering.iter().sum();
        let is_recorded = teleportation.is_recorded();
        let landing = if is_recorded { &entering } else { &leaving };
        let landing: Vec<f64> = landing.iter().map(|weight| weight / total).collect();
        let step = |target: usize, source: usize| match leaving[source] {
            0.0 => 0.0,
            leaving => weights[target][source] / leaving,
        };
        // Visits p = 0.85 (steps + dead ends) p + 0.15 landing, with the sum of p = 1.
        let mut system: Vec<Vec<f64>> = nodes()
            .map(|t| {
                let ends = |s: usize| if leaving[s] == 0.0 { landing[t] } else { 0.0 };
                let mut row: Vec<f64> = nodes()
                    .map(|s| f64::from(u8::from(s == t)) - 0.85 * (step(t, s) + ends(s)))
                    .collect();
                row.push(0.15 * landing[t]);
                row
            })
            .collect();
        let visits = solve(&mut system);
        let dead: f64 = nodes().filter(|&s| leaving[s] == 0.0).map(|s| visits[s]).sum();
        let share = if is_recorded { 0.85 } else { 1.0 / (1.0 - dead) };
        let arcs: Vec<Vec<f64>> =
            nodes().map(|t| nodes().map(|s| share * step(t, s) * visits[s]).collect()).collect();
        let at = nodes()
            .map(|node| {
                let enters = arcs[node].iter().sum();
                let leaves = arcs.iter().map(|row| row[node]).sum();
                let (visits, teleports) = match (is_recorded, leaving[node] == 0.0) {
                    (false, _) => (enters, 0.0),
                    (true, true) => (visits[node], visits[node]),
                    (true, false) => (visits[node], 0.15 * visits[node]),
                };
                FlowAt { enters, leaves, teleports, visits }
            })
            .collect();
        Self { arcs, at, landing }
    }

    /// Returns the steps that count as flow, those that teleport included.
    pub(crate) fn walk(&self) -> Walk {
        let nodes = 0..self.at.len();
        let pairs = nodes.clone().flat_map(|a| nodes.clone().map(move |b| (a, b)));
        let share = |a: usize, b: usize| self.arcs[b][a] + self.at[a].teleports * self.landing[b];
        let steps = pairs.map(|(a, b)| (a, b, share(a, b))).collect();
        Walk { steps, node_count: self.at.len() }
    }

    /// Returns the code length of the two-level map equation.
    fn length(&self, labels: &[u32]) -> f64 {
        self.walk().length(&[labels.to_vec()])
    }
}

/// Solves a system of equations, each with its constant last.
fn solve(system: &mut [Vec<f64>]) -> Vec<f64> {
    let count = system.len();
    for column in 0..count {
        let pivot = (column..count)
            .max_by(|&a, &b| system[a][column].abs().total_cmp(&system[b][column].abs()));
        system.swap(column, pivot.unwrap());
        for row in 0..count {
            if row == column {
                continue;
            }
            let factor = system[row][column] / system[column][column];
            let pivot = system[column].clone();
            for (value, of_pivot) in system[row].iter_mut().zip(&pivot).skip(column) {
                *value -= factor * of_pivot;
            }
        }
    }
    (0..count).map(|row| system[row][count] / system[row][row]).collect()
}

/// Generates directed graphs with at least one arc: sparse ones have sources and sinks.
pub(crate) fn directed_edges() -> impl Strategy<Value = Edges> {
    (some_edges(), prop_oneof![Just(1.0), Just(1e-200), Just(1e150)], any::<bool>())
        .prop_filter_map("some arcs of few nodes", |(edges, factor, is_loop)| {
            let mut edges = Edges { directed: true, ..edges.scaled(factor) };
            if is_loop {
                edges.edges.iter_mut().for_each(|(a, b, _)| *b = *a);
            }
            (edges.node_count <= 40 && !edges.edges.is_empty()).then_some(edges)
        })
}

fn rates(graph: &Graph, teleportation: Teleportation) -> VisitRates {
    VisitRates::find(&mut BlockSource::new(graph, 0), teleportation, || Ok(())).unwrap()
}

fn flow_at(graph: &Graph, rates: &VisitRates) -> Vec<FlowAt> {
    let (mut all, mut found) = (Vec::new(), Vec::new());
    let rows = PerThread::new(RowsAhead::default);
    BlockSource::new(graph, 0)
        .for_all(|block| {
            rates.at_nodes(block, &rows, &mut found, |_, at| at)?;
            all.append(&mut found);
            Ok(())
        })
        .unwrap();
    all
}

fn network(graph: &Graph, rates: &VisitRates, purpose: Purpose) -> (Graph, Holdings) {
    let files = graph.files();
    let place = NetworkPlace {
        files,
        directory: Path::new("network"),
        scratch: Path::new("."),
        sort_bytes: SORT_BYTES_MIN,
    };
    write(&mut BlockSource::new(graph, 0), rates, purpose, &place, || Ok(())).unwrap()
}

/// Returns the weight of each edge at each of its ends, and loops once.
fn weights(graph: &Graph) -> Vec<Vec<f64>> {
    let count = graph.node_count() as usize;
    let (mut all, mut scratch) = (vec![vec![0.0; count]; count], ArcScratch::default());
    BlockSource::new(graph, 0)
        .for_all(|block| {
            for local in 0..block.node_count() {
                let node = block.first_node() as usize + local;
                all[node][node] = block.self_loop(local);
                block.for_each_segment(local, &mut scratch, |targets, codes| {
                    for (at, &target) in targets.iter().enumerate() {
                        let code = codes.get(at).copied().unwrap_or(Weight::ONE.code());
                        all[node][target as usize] = Weight::from_code(code).value();
                    }
                })?;
            }
            Ok(())
        })
        .unwrap();
    all
}

fn both() -> impl Iterator<Item = Teleportation> {
    [Teleportation::Unrecorded, Teleportation::Recorded].into_iter()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rates_are_those_of_a_dense_solution(edges in directed_edges()) {
        let graph = edges.graph();
        for teleportation in both() {
            let dense = DenseFlow::new(&edges, teleportation);
            let rates = POOLS[1].install(|| rates(&graph, teleportation));
            for (node, (found, expected)) in flow_at(&graph, &rates).iter().zip(&dense.at).enumerate() {
                let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
                let all = [
                    near(found.enters, expected.enters),
                    near(found.leaves, expected.leaves),
                    near(found.teleports, expected.teleports),
                    near(found.visits, expected.visits),
                ];
                prop_assert!(all == [true; 4], "{teleportation:?} {node}: {found:?} for {expected:?}");
            }
        }
    }

    #[test]
    fn code_lengths_follow_the_definition(edges in directed_edges(), salt in any::<u32>(), most in 1..12u32) {
        let graph = edges.graph();
        let label = |node: u32| (node ^ salt).wrapping_mul(0x9E37_79B1) % most;
        let labels: Vec<u32> = (0..edges.node_count).map(label).collect();
        for teleportation in both() {
            let dense = DenseFlow::new(&edges, teleportation);
            let rates = rates(&graph, teleportation);
            let source = &mut BlockSource::new(&graph, 0);
            let (length, undivided) = code_lengths(source, &labels, &rates, |_| Ok(())).unwrap();
            let (expected, whole) = (dense.length(&labels), dense.length(&vec![0; labels.len()]));
            prop_assert!((length - expected.max(0.0)).abs() < 1e-9, "{length} for {expected}");
            prop_assert!((undivided - whole).abs() < 1e-9, "{undivided} for {whole}");
        }
    }

    /// Edges of the network have the flow of both directions, and drifts are what that does not tell.
    #[test]
    fn a_network_has_all_flow(edges in directed_edges()) {
        let graph = edges.graph();
        for teleportation in both() {
            let dense = DenseFlow::new(&edges, teleportation);
            let rates = rates(&graph, teleportation);
            let (network, holdings) = network(&graph, &rates, Purpose::Flow);
            prop_assert!(!network.is_directed());
            let unit = libm::scalbn(1.0, 280);
            let near = |found: f64, expected: f64| (found / unit - expected).abs() < 1e-6;
            for (a, row) in weights(&network).iter().enumerate() {
                for (b, &found) in row.iter().enumerate() {
                    let back = if a == b { 0.0 } else { dense.arcs[b][a] };
                    prop_assert!(near(found, dense.arcs[a][b] + back), "{a} {b}: {found}");
                }
                let (at, held) = (dense.at[a], holdings.flow(a));
                prop_assert!(near(held.drift, at.leaves - at.enters));
                prop_assert!(near(held.teleport, at.teleports));
            }
        }
    }

    /// The flow that is written is that of the definition.
    #[test]
    fn visits_are_those_of_the_walk(edges in directed_edges()) {
        for teleportation in both() {
            let (dense, mut found) = (DenseFlow::new(&edges, teleportation), Vec::new());
            let each = |of_nodes: &[Visited]| {
                found.extend_from_slice(of_nodes);
                Ok(())
            };
            let graph = edges.graph();
            let total = visits(&graph, teleportation.is_recorded(), &Silent, each).unwrap();
            prop_assert_eq!(found.len(), dense.at.len());
            for (node, at) in found.iter().zip(&dense.at) {
                let near = |found: f64, expected: f64| (found / total - expected).abs() < 1e-9;
                prop_assert!(near(node.visits, at.visits), "{node:?} {at:?}");
                prop_assert!(near(node.teleports, at.teleports), "{node:?} {at:?}");
                prop_assert!(near(node.lands, at.visits - at.enters), "{node:?} {at:?}");
            }
            let shift = graph.shift_within(View::PRODUCT_EXPONENT_MAX).unwrap();
            for (&(target, source), &code) in &edges.arcs() {
                let weight = libm::scalbn(Weight::from_code(code).value(), shift);
                let flow = weight * found[source as usize].per_weight / total;
                let expected = dense.arcs[target as usize][source as usize];
                prop_assert!((flow - expected).abs() < 1e-9, "{flow} {expected}");
            }
        }
    }

    /// For modularity, flow is weight.
    #[test]
    fn a_network_of_weights_has_both_directions(edges in directed_edges()) {
        let graph = edges.graph();
        let source = &mut BlockSource::new(&graph, 0);
        let rates = VisitRates::of_weights(source, || Ok(())).unwrap();
        let (network, holdings) = network(&graph, &rates, Purpose::Drifts);
        let arcs = edges.arcs();
        let weight = |a: usize, b: usize| {
            arcs.get(&(a as u32, b as u32)).map_or(0.0, |&code| Weight::from_code(code).value())
        };
        let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-6 * expected.abs();
        for (a, row) in weights(&network).iter().enumerate() {
            for (b, &found) in row.iter().enumerate() {
                let back = if a == b { 0.0 } else { weight(b, a) };
                prop_assert!(near(found, weight(a, b) + back));
            }
            let nodes = || 0..edges.node_count as usize;
            let (leaves, enters) = (nodes().map(|t| weight(t, a)).sum::<f64>(), nodes().map(|s| weight(a, s)).sum::<f64>());
            let drift = holdings.flow(a).drift;
            prop_assert!((drift - (leaves - enters)).abs() <= 1e-9 * (leaves + enters), "{drift}");
        }
    }
}

/// The rates of a graph of several blocks, over many threads.
#[test]
fn rates_do_not_depend_on_threads_or_memory() {
    let pairs = (0..40_000u32).map(|edge| {
        let mix = edge.wrapping_mul(0x9E37_79B1) >> 7;
        (edge % 5000, (edge % 5000 / 50 * 50 + mix % 70) % 5000)
    });
    let edges = Edges { directed: true, ..Edges::new(5000, pairs) };
    let graph = edges.graph();
    assert!(graph.blocks().len() > 10);
    for teleportation in both() {
        let find = |pool: usize, kept: u64| {
            POOLS[pool].install(|| {
                let source = &mut BlockSource::new(&graph, kept);
                let found = VisitRates::find(source, teleportation, || Ok(())).unwrap();
                println!("{} scans", source.scans());
                assert!(source.scans() < 100, "{} scans", source.scans());
                flow_at(&graph, &found)
            })
        };
        let expected = find(0, 0);
        assert_eq!(find(1, 1 << 30), expected);
        assert_eq!(find(2, 1 << 15), expected);
    }
}
