//! Flow of the nodes: the share of the steps of a random walk that end at each node.
//!
//! In an undirected graph it is the node's share of all strengths, where a loop counts once, as in the map equation and
//! in Infomap. Cost: one scan. Memory: that of a scan. The sum is in the order of nodes, so that it does not depend on
//! threads. In a directed graph, visit rates are found first (`flow`): that takes their scans, and [`visits_bytes`] more.

use crate::BlockSource;
use crate::base::parallel::{PerThread, for_chunks, piece_nodes};
use crate::base::table::Sum;
use crate::flow::rates::{Teleportation, VisitRates};
use outcore_graph::{ArcScratch, Block, Graph, LoopWeight, View};
use outcore_io::error::Result;
use outcore_io::progress::{Event, Observer, notify};

/// Returns the memory of [`visits`] for a directed graph, beside that of a scan.
pub fn visits_bytes(nodes: u64) -> u64 {
    VisitRates::NODE_BYTES * nodes
}

/// Passes the visits of consecutive nodes, a block at a time, to `each`, in an arbitrary unit; returns their sum. In a
/// directed graph, teleportation may count as flow.
///
/// # Errors
/// `BadInput` if the sum of all weights is too large for `f64`; those of reading and of `each`; `Interrupted`.
pub fn visits(
    graph: &Graph,
    recorded_teleportation: bool,
    observer: &dyn Observer,
    each: impl FnMut(&[f64]) -> Result<()>,
) -> Result<f64> {
    if graph.is_directed() {
        let teleportation = Teleportation::of(recorded_teleportation);
        return directed_visits(graph, teleportation, observer, each);
    }
    let shift = graph.shift_within(View::SUM_EXPONENT_MAX)?;
    let graph = &graph.seen_as(&View::default().shifted(shift).with_loops(LoopWeight::Once));
    match graph.is_weighted() {
        true => visits_as::<f64>(graph, observer, each),
        false => visits_as::<u32>(graph, observer, each),
    }
}

fn visits_as<S: Sum>(
    graph: &Graph,
    observer: &dyn Observer,
    mut each: impl FnMut(&[f64]) -> Result<()>,
) -> Result<f64> {
    let scratch = PerThread::new(ArcScratch::default);
    let (mut of_nodes, mut total, mut done) = (Vec::new(), 0.0, 0);
    BlockSource::new(graph, 0).for_all(|block| {
        of_block::<S>(block, &scratch, &mut of_nodes)?;
        of_nodes.iter().for_each(|visits| total += visits);
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
    mut each: impl FnMut(&[f64]) -> Result<()>,
) -> Result<f64> {
    let shift = graph.shift_within(View::PRODUCT_EXPONENT_MAX)?;
    let graph = &graph.seen_as(&View::default().shifted(shift));
    let source = &mut BlockSource::new(graph, 0);
    let tick = || notify(observer, Event::Advance { done: graph.arc_count() });
    let rates = VisitRates::find(source, teleportation, tick)?;
    let scratch = PerThread::new(ArcScratch::default);
    let (mut of_nodes, mut total) = (Vec::new(), 0.0);
    source.for_all(|block| {
        tick()?;
        of_nodes.clear();
        of_nodes.resize(block.node_count(), 0.0);
        let piece = piece_nodes(block.node_count(), block.arc_count());
        for_chunks(&mut of_nodes, piece, |first, visits| {
            scratch.with(|arcs| {
                for (local, visits) in (first..).zip(visits) {
                    *visits = rates.at(block, local, arcs)?.visits;
                }
                Ok(())
            })
        })?;
        of_nodes.iter().for_each(|visits| total += visits);
        each(&of_nodes)
    })?;
    Ok(total)
}

fn of_block<S: Sum>(
    block: &Block,
    scratch: &PerThread<ArcScratch>,
    visits: &mut Vec<f64>,
) -> Result<()> {
    visits.clear();
    visits.resize(block.node_count(), 0.0);
    for_chunks(visits, piece_nodes(block.node_count(), block.arc_count()), |first, visits| {
        scratch.with(|arcs| {
            for (local, visits) in (first..).zip(visits) {
                let mut sum = S::default();
                block.for_each_segment(local, arcs, |targets, codes| {
                    S::for_each(targets, codes, |_, weight| sum += weight);
                })?;
                *visits = sum.value() + 2.0 * block.self_loop(local);
            }
            Ok(())
        })
    })
}
