//! Label propagation with labels on disk, for memory limits below 8 bytes per node.
//!
//! ```text
//!  graph --stars, survey--> labels on disk; intervals: consecutive blocks, and their neighbors outside
//!  for each sweep, for each interval with an active node:
//!      labels on disk --gather--> labels of the nodes inside and outside --sweep--> labels of those inside, on disk
//!  closing: pieces of communities on disk, joined interval by interval; numbers and modularity by windows
//! ```
//!
//! Labels outside an interval do not change while its blocks are swept, and blocks are swept in order, so the
//! result is that of `propagate`, byte for byte. Intervals are those of GraphChi (Kyrola, Blelloch and Guestrin,
//! 2012), but values are stored per node, not per arc: reading the labels of all nodes once per interval costs
//! less than storing one per arc, as long as there are fewer intervals than the degree.
//!
//! Memory: 3 bits per node, and 4 bytes for each node of an interval and each of its neighbors outside (12 in the
//! closing, which has more intervals, but considers only neighbors before them); one block with the neighbors of
//! its nodes must fit. Cost: a sweep reads at most `4 x nodes x intervals` bytes sequentially, and skips parts of
//! the labels that are not needed. The intervals of sweeps and closing are found in the scan of the stars, so no
//! scan is added compared with labels in memory.

mod closing;
#[cfg(test)]
mod tests;

use super::job::ClusterJob;
use super::memory::{ClusterMemory, Fit, Shape};
use super::propagate::Sweeping;
use crate::base::bits::Bits;
use crate::base::hash::LEAD;
use crate::base::parallel::PerThread;
use crate::finish::communities::Communities;
use crate::kernel::admission::Admission;
use crate::kernel::cache::BlockSource;
use crate::kernel::history::History;
use crate::kernel::holdings::NO_HOLDINGS;
use crate::kernel::nodes::{Nodes, Rules};
use crate::kernel::seeding::{Stars, seed_block};
use crate::kernel::sweep::{SweepBuffers, Swept, sweep_block};
use crate::methods::options::{ClusterOptions, Seeding, Visits};
use crate::methods::table::MethodOption;
use crate::objectives::label_propagation::{DRAWN_SWEEPS, Votes};
use crate::store::by_node::NodeLabels;
use crate::store::pages::{CHUNK_NODES, Pages, chunks};
use crate::store::ranked::Ranked;
use crate::store::saves::Saves;
use crate::store::scope::{Interval, Neighbors, Scope, ScopedLabels, Survey};
use outcore_graph::weight::RELATIVE_TOLERANCE;
use outcore_graph::{ArcScratch, Block};
use outcore_io::checkpoint::StateReader;
use outcore_io::error::{Error, Result};
use outcore_io::progress::{Event, notify};
use outcore_io::units::format_counted;
use outcore_io::{Files, reserve_large_pages};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;

/// Bytes per place during sweeps (a label), and in the closing: a label, a piece's number, and the piece.
const SWEEP_BYTES: u64 = 4;
const CLOSING_BYTES: u64 = 12;
/// Bytes of the pieces of columns that each thread reads at a time.
const CHUNK_BYTES: u64 = 3 * 4 * CHUNK_NODES;

/// Returns whether a clustering can run with labels on disk: a single plain run over undirected edges, without
/// given labels, without a limit that needs a counter per node, and for communities of any connectedness.
pub(crate) fn serves(options: &ClusterOptions, shape: &Shape, given_count: u64) -> bool {
    let propagation = &options.propagation;
    let limits_visits = shape.is_known && propagation.max_visits != Visits::Any;
    !shape.is_directed
        && !limits_visits
        && options.method.takes(MethodOption::Propagation)
        && given_count == 0
        && options.max_size.is_none()
        && options.well_connected.is_none()
        && !propagation.attenuates()
}

/// Returns the minimum memory with labels on disk.
pub(crate) fn memory(shape: &Shape, threads: usize, fit: Fit) -> ClusterMemory {
    let base = ClusterMemory::new(shape, None, threads, fit);
    ClusterMemory {
        node_bytes: node_bytes(shape),
        scratch_bytes: base.scratch_bytes + (threads as u64 + 2) * CHUNK_BYTES,
        block_bytes: base.block_bytes,
    }
}

/// Returns the memory that grows with the number of nodes or with the number of places in one block.
pub(crate) fn node_bytes(shape: &Shape) -> u64 {
    set_bytes(shape.nodes) + shape.block_places * CLOSING_BYTES
}

/// Returns the bytes of two sets with ranks: the nodes outside an interval, and the pieces met.
fn set_bytes(node_count: u64) -> u64 {
    2 * Ranked::bytes(node_count)
}

/// State shared by all phases.
struct IntervalRun<'j, 'a, 's> {
    job: &'j ClusterJob<'a>,
    files: &'a Files,
    directory: PathBuf,
    source: BlockSource<'s>,
    /// Budget for data per place.
    room: u64,
    scans: u64,
}

impl ClusterJob<'_> {
    /// Propagates labels on disk.
    pub(crate) fn propagate_on_disk(&self, saves: &mut Saves) -> Result<Communities> {
        let nodes = self.graph.node_count();
        let least = memory(&Shape::of(self.graph), rayon::current_num_threads(), self.fit);
        let room = self.memory - least.total_bytes() + least.node_bytes - set_bytes(nodes);
        // If even a place for every node leaves memory over, the rest caches blocks.
        let kept = room.saturating_sub(nodes * CLOSING_BYTES);
        let source = self.blocks(kept);
        let cutoff = self.options.propagation.label_cutoff;
        let saved = saves.open(self.observer)?;
        let (files, directory) = (self.graph.files(), self.scratch.join("labels"));
        files.create_directory(&directory)?;
        let mut run = IntervalRun { job: self, files, directory, source, room, scans: 0 };
        // Also needed when sweeps are resumed, since the intervals depend on the memory of this process.
        let Begun { labels, sweeping, closing } = run.begin()?;
        let (history, active) = match saved {
            Some((sweeping, from)) => run.resume(&labels, sweeping, from)?,
            None => (History::default(), Bits::new(nodes as usize, true)),
        };
        let votes = |number| {
            let mut votes = Votes::<false>::new(cutoff);
            votes.set_draws(number <= DRAWN_SWEEPS);
            votes
        };
        let history = run.sweeps(&labels, &sweeping, history, active, saves, votes)?;
        drop(sweeping);
        run.close(labels, &closing, history)
    }
}

/// Initial labels, and the intervals of both phases.
struct Begun {
    labels: Pages<u32>,
    sweeping: Vec<Interval>,
    closing: Vec<Interval>,
}

/// Sweep that has begun.
#[derive(Clone, Copy)]
struct BegunSweep {
    number: u32,
    /// Number of arcs visited so far, by all sweeps.
    done: u64,
}

/// Labels of consecutive nodes.
struct IntervalPart<'a> {
    first: u32,
    labels: &'a [AtomicU32],
}

impl NodeLabels for IntervalPart<'_> {
    #[inline]
    fn at(&self, node: u32) -> &AtomicU32 {
        &self.labels[(node - self.first) as usize]
    }
}

impl<'a> IntervalRun<'_, 'a, '_> {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Sets initial labels and finds intervals, in one scan.
    fn begin(&mut self) -> Result<Begun> {
        let ClusterJob { graph, options, observer, .. } = *self.job;
        notify(observer, Event::Detail { text: "choosing initial labels" })?;
        let nodes = graph.node_count();
        let leads = Bits::new(nodes as usize, false);
        let cutoff = options.propagation.label_cutoff;
        let chosen = Stars::choose(&leads, nodes as usize, options.seed ^ LEAD);
        let stars = Stars { least: cutoff * (1.0 - RELATIVE_TOLERANCE), ..chosen };
        let pages = Pages::create(self.files, self.path("labels"))?;
        let mut sweeping = self.survey("sweeping", Neighbors::All, SWEEP_BYTES)?;
        let mut closing = self.survey("closing", Neighbors::Before, CLOSING_BYTES)?;
        let scratch = PerThread::new(ArcScratch::default);
        let (mut labels, mut bytes) = (Vec::new(), Vec::new());
        self.source.for_all(|block| {
            notify(observer, Event::Advance { done: 0 })?;
            let first = block.first_node();
            labels.clear();
            labels.extend((first..).take(block.node_count()).map(AtomicU32::new));
            if options.seeding == Seeding::Star {
                seed_block(block, stars, &IntervalPart { first, labels: &labels }, &scratch)?;
            }
            let values = labels.iter_mut().map(|label| *label.get_mut());
            pages.write(first.into(), values, &mut bytes)?;
            // The two mark separate bits and do not interfere.
            let (one, other) = rayon::join(|| sweeping.add(block), || closing.add(block));
            one.and(other)
        })?;
        self.scans += 1;
        Ok(Begun { labels: pages, sweeping: sweeping.finish()?, closing: closing.finish()? })
    }

    /// Prepares the division of the graph into intervals with `place_bytes` bytes per place.
    fn survey(&self, name: &str, neighbors: Neighbors, place_bytes: u64) -> Result<Survey<'a>> {
        let (nodes, places) = (self.job.graph.node_count(), self.places(place_bytes));
        Survey::new(self.files, self.path(name), nodes, neighbors, places)
    }

    /// Returns the maximum number of places of an interval, of `bytes` bytes each.
    fn places(&self, bytes: u64) -> u64 {
        (self.room / bytes).min(self.job.graph.node_count())
    }

    /// Reserves memory for one number per place; pages are touched only as they are used.
    fn place_values(&self, bytes: u64) -> Vec<AtomicU32> {
        reserve_large_pages(self.places(bytes) as usize)
    }

    /// Replaces the initial labels by those of an earlier job; returns its progress and its active nodes.
    fn resume(
        &mut self,
        labels: &Pages<u32>,
        sweeping: Sweeping,
        mut from: StateReader,
    ) -> Result<(History, Bits)> {
        let Sweeping { mut history, scans } = sweeping;
        self.job.report_resumed(history.sweeps.count)?;
        let nodes = self.job.graph.node_count();
        let mut bytes = Vec::new();
        let count = from.parts(|first, values: &[u32]| {
            if values.iter().any(|&label| u64::from(label) >= nodes) {
                return Err(Error::corrupt(&self.directory, "a saved label is not a node"));
            }
            labels.write(first, values.iter().copied(), &mut bytes)
        })?;
        let mut active = Bits::new(nodes as usize, false);
        active.load(&mut from)?;
        // Counters per node that exist only with labels in memory.
        let mut others = 0;
        for _ in 0..4 {
            others += from.parts(|_, _: &[u8]| Ok(()))?;
        }
        history.resume();
        if count != nodes || others > 0 {
            return Err(from.damaged());
        }
        from.finish()?;
        self.scans = scans;
        Ok((history, active))
    }

    /// Saves the state of the sweeps in the same format as with labels in memory.
    fn save(
        &self,
        labels: &Pages<u32>,
        history: &History,
        active: &Bits,
        saves: &mut Saves,
    ) -> Result<()> {
        let sweeping = Sweeping { history: history.clone(), scans: self.scans };
        let nodes = self.job.graph.node_count();
        saves.save(&sweeping, self.job.observer, |to| {
            to.begin_array(nodes)?;
            let mut bytes = Vec::new();
            chunks(0..nodes).try_for_each(|chunk| to.add(labels.read(chunk, &mut bytes)?))?;
            active.save(to)?;
            (0..4).try_for_each(|_| to.begin_array(0))
        })
    }

    /// Sweeps until few enough nodes change.
    fn sweeps(
        &mut self,
        labels: &Pages<u32>,
        intervals: &[Interval],
        mut history: History,
        active: Bits,
        saves: &mut Saves,
        votes: impl Fn(u32) -> Votes<false>,
    ) -> Result<History> {
        let ClusterJob { graph, options, limits, observer, .. } = *self.job;
        let count = graph.node_count();
        let enough = options.tolerance * count as f64;
        let mut workshop =
            SweepBuffers::new::<Votes<false>>(graph, limits.large_degree, limits.max_labels);
        let mut scope = Scope::new(count);
        let mut values = self.place_values(SWEEP_BYTES);
        let mut bytes = Vec::new();
        for number in history.sweeps.count + 1..=options.most_sweeps() {
            if history.converged {
                break;
            }
            let mut swept = Swept::default();
            for interval in intervals {
                let nodes = interval.nodes.start as usize..interval.nodes.end as usize;
                if !active.any(nodes) {
                    continue;
                }
                scope.enter(self.files, interval)?;
                scope.gather(labels, &mut values)?;
                let begun = BegunSweep { number, done: history.arcs + swept.arcs };
                let (objective, workshop) = (votes(number), &mut workshop);
                let of_interval = if intervals.len() == 1 {
                    // Here places are node indexes, so no rank is looked up.
                    self.sweep(interval, begun, &values[..], &active, objective, workshop)?
                } else {
                    let placed = ScopedLabels { scope: &scope, labels: &values };
                    self.sweep(interval, begun, &placed, &active, objective, workshop)?
                };
                swept.moved += of_interval.moved;
                swept.arcs += of_interval.arcs;
                if of_interval.moved > 0 {
                    let own = scope.own(&values);
                    labels.write_all(interval.nodes.start.into(), own, &mut bytes)?;
                }
            }
            self.scans += 1;
            self.job.expect_sweeps(number, history.last_moved, swept.moved, enough)?;
            history.learn(&swept, count, enough);
            let moved = format_counted(swept.moved, "node", "nodes");
            let text = format!("sweep {number}: {moved} changed");
            notify(observer, Event::Detail { text: &text })?;
            if saves.is_due() {
                self.save(labels, &history, &active, saves)?;
            }
        }
        Ok(history)
    }

    /// Sweeps an interval.
    fn sweep<L: NodeLabels + ?Sized>(
        &mut self,
        interval: &Interval,
        BegunSweep { number, done }: BegunSweep,
        labels: &L,
        active: &Bits,
        objective: Votes<false>,
        workshop: &mut SweepBuffers,
    ) -> Result<Swept> {
        let mut nodes = Nodes {
            labels,
            active,
            changes: Vec::new(),
            holdings: &NO_HOLDINGS,
            seed: self.job.options.seed,
            objective,
            admission: Admission::Any,
            shuffled: false,
            activates: true,
            rules: Rules::default(),
        };
        let observer = self.job.observer;
        let mut swept = Swept::default();
        self.source.for_each(
            interval.blocks.clone(),
            |entry| {
                let first = entry.first_node as usize;
                active.any(first..first + entry.node_count as usize)
            },
            |block| {
                notify(observer, Event::Advance { done: done + swept.arcs })?;
                let of_block = sweep_block(block, false, &mut nodes, workshop, number)?;
                swept.moved += of_block.moved;
                swept.arcs += of_block.arcs;
                Ok(())
            },
        )?;
        Ok(swept)
    }
}

/// Returns the path of the result.
fn result_path(directory: &Path) -> PathBuf {
    directory.join("communities")
}

/// Returns the nodes of a block.
fn nodes_of(block: &Block) -> std::ops::Range<u64> {
    let first = u64::from(block.first_node());
    first..first + block.node_count() as u64
}
