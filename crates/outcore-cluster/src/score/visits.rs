//! Flow of the nodes: the share of the steps of a random walk that end at each node, and what follows each of its arcs.
//!
//! In an undirected graph it is the node's share of all strengths, where a loop counts once, as in the map equation and
//! in Infomap. Cost: one scan. Memory: that of a scan. The sum is in the order of nodes, so that it does not depend on
//! threads. In a directed graph, visit rates are found first (`flow`): that takes their scans, and [`visits_bytes`] more.

use crate::BlockSource;
use crate::base::arcs::add_weights;
use crate::base::parallel::{PerThread, for_chunks, piece_nodes};
use crate::base::rows::RowsAhead;
use crate::flow::rates::{FlowAt, Teleportation, VisitRates};
use outcore_graph::{ArcScratch, Block, Graph, LoopWeight, View};
use outcore_io::error::Result;
use outcore_io::progress::{Event, Observer, notify};

/// Returns the memory of [`visits`] for a directed graph, beside that of a scan.
pub fn visits_bytes(nodes: u64) -> u64 {
    VisitRates::NODE_BYTES * nodes
}

/// What a random walk does at a node, in the unit of visits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Visited {
    /// How often the walk visits the node.
    pub visits: f64,
    /// Flow of an arc that leaves the node, for each unit of its weight in the graph as [`walked`].
    pub per_weight: f64,
    /// Flow that teleports from the node, if teleportation counts as flow.
    pub teleports: f64,
    /// Flow that teleports to the node, likewise.
    pub lands: f64,
}

/// Returns the graph with the weights that a walk follows. The flow of an edge is that of both of its arcs.
///
/// # Errors
/// `BadInput` if the sum of all weights is too large for `f64`.
pub fn walked(graph: &Graph) -> Result<Graph> {
    let (most, loops) = match graph.is_directed() {
        true => (View::PRODUCT_EXPONENT_MAX, LoopWeight::Twice),
        false => (View::SUM_EXPONENT_MAX, LoopWeight::Once),
    };
    let shift = graph.shift_within(most)?;
    Ok(graph.seen_as(&View::default().shifted(shift).with_loops(loops)))
}

/// Passes what a walk does at consecutive nodes, a block at a time, to `each`, in an arbitrary unit; returns the sum of
/// all visits. In a directed graph, teleportation may count as flow.
///
/// # Errors
/// `BadInput` if the sum of all weights is too large for `f64`; those of reading and of `each`; `Interrupted`.
pub fn visits(
    graph: &Graph,
    recorded_teleportation: bool,
    observer: &dyn Observer,
    each: impl FnMut(&[Visited]) -> Result<()>,
) -> Result<f64> {
    let graph = &walked(graph)?;
    if graph.is_directed() {
        let teleportation = Teleportation::of(recorded_teleportation);
        return directed_visits(graph, teleportation, observer, each);
    }
    undirected_visits(graph, observer, each)
}

impl Visited {
    fn of(at: FlowAt, per_weight: f64) -> Self {
        let FlowAt { enters, teleports, visits, .. } = at;
        Self { visits, per_weight, teleports, lands: (visits - enters).max(0.0) }
    }
}

fn undirected_visits(
    graph: &Graph,
    observer: &dyn Observer,
    mut each: impl FnMut(&[Visited]) -> Result<()>,
) -> Result<f64> {
    let scratch = PerThread::new(ArcScratch::default);
    let (mut of_nodes, mut total, mut done) = (Vec::new(), 0.0, 0);
    BlockSource::new(graph, 0).for_all(|block| {
        of_block(block, &scratch, &mut of_nodes)?;
        of_nodes.iter().for_each(|node: &Visited| total += node.visits);
        done += block.arc_count();
        notify(observer, Event::Advance { done })?;
        each(&of_nodes)
    })?;
    Ok(total)
}

fn directed_visits(
    graph: &Graph,
    teleportation: Teleportation,
    observer: &dyn Observer,
    mut each: impl FnMut(&[Visited]) -> Result<()>,
) -> Result<f64> {
    let source = &mut BlockSource::new(graph, 0);
    let tick = || notify(observer, Event::Advance { done: graph.arc_count() });
    let rates = VisitRates::find(source, teleportation, tick)?;
    let rows = PerThread::new(RowsAhead::default);
    let (mut of_nodes, mut total) = (Vec::new(), 0.0);
    source.for_all(|block| {
        tick()?;
        rates.at_nodes(block, &rows, &mut of_nodes, |local, at| {
            Visited::of(at, rates.per_weight(block.first_node() + local as u32))
        })?;
        of_nodes.iter().for_each(|node: &Visited| total += node.visits);
        each(&of_nodes)
    })?;
    Ok(total)
}

fn of_block(
    block: &Block,
    scratch: &PerThread<ArcScratch>,
    of_nodes: &mut Vec<Visited>,
) -> Result<()> {
    of_nodes.clear();
    of_nodes.resize(block.node_count(), Visited::default());
    for_chunks(of_nodes, piece_nodes(block.node_count(), block.arc_count()), |first, of_nodes| {
        scratch.with(|arcs| {
            for (local, of_node) in (first..).zip(of_nodes) {
                let mut sum = 0.0;
                block.for_each_segment(local, arcs, |targets, codes| {
                    add_weights(&mut sum, targets, codes);
                })?;
                let visits = sum + 2.0 * block.self_loop(local);
                *of_node = Visited { visits, per_weight: 1.0, ..Visited::default() };
            }
            Ok(())
        })
    })
}
