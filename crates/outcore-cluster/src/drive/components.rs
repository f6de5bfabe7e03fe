//! Connected components: one scan for the union-find, another for the modularity. At several thresholds they come from a
//! forest instead (`forest`).
//!
//! Components of a directed graph are the weakly connected ones. Memory: 4 bytes per node for the union-find, whose
//! array becomes the result, and 8 bytes per component of several nodes while their strengths are computed, in several
//! scans if memory is short.

use super::job::ClusterJob;
use super::memory::Shape;
use crate::base::arcs::add_weights;
use crate::base::parallel::{PerThread, for_chunks, for_ranges, piece_nodes};
use crate::finish::closing::SweptLabels;
use crate::finish::communities::Communities;
use crate::finish::connect::{Closing, Pieces};
use crate::finish::number::number_in_place;
use crate::forest::Forest;
use crate::kernel::cache::BlockSource;
use crate::kernel::history::History;
use crate::methods::options::ClusterOptions;
use crate::store::saves::Saves;
use outcore_graph::Block;
use outcore_io::Column;
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};

/// Minimum memory for the strengths of components.
const WINDOW_BYTES: u64 = 1 << 20;

/// Returns the memory that grows with the number of nodes.
pub(crate) fn node_bytes(options: &ClusterOptions, shape: &Shape) -> u64 {
    let links = options.forest_ladder().map_or(4, |ladder| ladder.bytes_a_node());
    let dendrogram = if options.heights { Forest::DENDROGRAM_BYTES } else { 0 };
    let window = if shape.is_known { WINDOW_BYTES } else { 0 };
    links.max(dendrogram) * shape.nodes + shape.nodes.div_ceil(8) + window
}

impl ClusterJob<'_> {
    /// Finds the well-connected parts of the components.
    pub(crate) fn find_well_connected(&self, saves: &mut Saves) -> Result<Communities> {
        let mut source = self.blocks(self.cache_bytes());
        let scratch = PerThread::new(Closing::default);
        let labels = self.connect_all(&mut source, &scratch)?.into_roots();
        let history = History { converged: true, ..History::default() };
        self.finish(&mut source, SweptLabels::new(labels, history), None, saves)
    }

    /// Finds the components of the graph.
    pub(crate) fn find_components(&self) -> Result<Communities> {
        let window_bytes = self.rest().min(4 * self.graph.node_count());
        let mut source = self.blocks(self.rest() - window_bytes);
        let scratch = PerThread::new(Closing::default);
        let roots = self.connect_all(&mut source, &scratch)?.into_roots();
        let (labels, sizes) = number_in_place(roots);
        let mut found = Communities::of_components(Column::Memory(labels), sizes);
        let window = (WINDOW_BYTES + window_bytes) / size_of::<f64>() as u64;
        found.measures.modularity = self.expected_inside(
            &mut source,
            &scratch,
            found.labels.in_memory().unwrap_or_default(),
            found.shared_count() as usize,
            window as usize,
        )?;
        found.history.sweeps.scans = source.scans();
        Ok(found)
    }

    fn connect_all(
        &self,
        source: &mut BlockSource<'_>,
        scratch: &PerThread<Closing>,
    ) -> Result<Pieces> {
        notify(self.observer, Event::Detail { text: "connecting nodes" })?;
        let pieces = Pieces::new(self.graph.node_count() as usize, self.graph.is_directed());
        let mut arcs = 0;
        source.for_all(|block| {
            notify(self.observer, Event::Advance { done: arcs })?;
            arcs += block.arc_count();
            let nodes = block.node_count();
            for_ranges(nodes, piece_nodes(nodes, block.arc_count()), |locals| {
                scratch.with(|closing| {
                    locals.into_iter().try_for_each(|at| closing.link(block, at, &pieces))?;
                    closing.connect_waiting(&pieces);
                    Ok(())
                })
            })
        })?;
        Ok(pieces)
    }

    /// Computes the modularity of components: all weight is inside, so it is 1 minus the sum of the squared shares of
    /// the strengths. The first `shared` components have several nodes; each scan computes the strengths of `window` of
    /// them.
    fn expected_inside(
        &self,
        source: &mut BlockSource<'_>,
        scratch: &PerThread<Closing>,
        labels: &[u32],
        shared: usize,
        window: usize,
    ) -> Result<f64> {
        notify(self.observer, Event::Detail { text: "computing strengths" })?;
        let loop_ends = if self.graph.is_directed() { 1.0 } else { 2.0 };
        let mut node_sums = Vec::new();
        // Strengths are divided by the first one before they are squared, so that squares stay in range.
        let (mut total, mut unit, mut squares) = (0.0, 0.0, 0.0);
        let scans = shared.div_ceil(window.max(1)).max(1) as u64;
        self.observer.expect(Some((scans * self.graph.arc_count()) as f64), 0.0)?;
        let mut first = 0;
        loop {
            let mut strengths = vec![0.0; window.min(shared - first)];
            source.for_all(|block| {
                notify(self.observer, Event::Advance { done: 0 })?;
                strengths_of(block, loop_ends, scratch, &mut node_sums)?;
                for (node, &strength) in (block.first_node() as usize..).zip(&node_sums) {
                    let label = labels[node] as usize;
                    if unit == 0.0 {
                        unit = strength;
                    }
                    if let Some(sum) = strengths.get_mut(label.wrapping_sub(first)) {
                        *sum += strength;
                    } else if first == 0 && label >= shared && strength > 0.0 {
                        squares += (strength / unit) * (strength / unit);
                    }
                    if first == 0 {
                        total += strength;
                    }
                }
                Ok(())
            })?;
            squares += strengths.iter().map(|&s| share_squared(s, unit)).sum::<f64>();
            first += strengths.len();
            if first == shared {
                break;
            }
        }
        Ok(if total > 0.0 { 1.0 - squares * share_squared(unit, total) } else { 0.0 })
    }
}

fn share_squared(part: f64, whole: f64) -> f64 {
    if part > 0.0 { (part / whole) * (part / whole) } else { 0.0 }
}

/// Computes the strength of each node of a block.
fn strengths_of(
    block: &Block,
    loop_ends: f64,
    scratch: &PerThread<Closing>,
    strengths: &mut Vec<f64>,
) -> Result<()> {
    let count = block.node_count();
    strengths.clear();
    strengths.resize(count, 0.0);
    for_chunks(strengths, piece_nodes(count, block.arc_count()), |first, strengths| {
        scratch.with(|closing| {
            for (local, strength) in (first..).zip(strengths) {
                let arcs = &mut closing.rows.arcs;
                block.for_each_segment(local, arcs, |targets, codes| {
                    add_weights(strength, targets, codes);
                })?;
                *strength += loop_ends * block.self_loop(local);
            }
            Ok(())
        })
    })
}
