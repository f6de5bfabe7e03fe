//! Arcs of a graph, row by row, from sorted records.
//!
//! A run holds an undirected edge once, as the arc of the node that was numbered first. The opposite arc is made here, and
//! waits in a queue for the row of its source, which comes later.
//!
//! ```text
//!  sorted edges --combine--> arc of this row ---------.
//!                               |                     +--> row: waiting arcs (smaller targets), then its own
//!                               `--> opposite --> queue
//! ```
//! So an edge is sorted once, repeated edges are combined once, and no row is merged: its waiting arcs arrive in the order of
//! their targets, and precede its own. A thread does this ahead of the writer. Memory: that of the queue, which spills the
//! opposites of edges between distant nodes. In a grouped list, neighbors have near numbers, so few opposites wait long. Source: time-forward processing (Chiang et al., "External-memory graph algorithms", 1995).

use super::weights::SelfScores;
use crate::error::Result;
use crate::graph::{ArcRecord, Combiner, Duplicates};
use crate::io::parallel::{self, Receiver, Sender, channel};
use crate::sort::{MonotoneQueue, Placed, Sorted};
use std::thread::JoinHandle;

/// Number of arcs that are passed on at a time, and how many of these portions may wait.
const PORTION_ARCS: usize = 32 << 10;
const WAITING_PORTIONS: usize = 3;

/// Next arcs in order, and counts so far.
#[derive(Default)]
pub(super) struct Portion {
    pub(super) arcs: Vec<ArcRecord>,
    /// Number of records that were taken from the sort.
    pub(super) taken: u64,
    /// Number of arcs that were combined with others.
    pub(super) combined: u64,
}

/// Arcs of a graph in order.
pub(super) enum Arcs<R: Placed> {
    /// Those of a directed graph, as they are sorted.
    Sorted(Sorted<R>, Option<SelfScores>),
    /// Those of an undirected graph, with their opposites.
    Mirrored(Mirrored),
}

impl<R: Placed + From<ArcRecord> + Into<ArcRecord>> Arcs<R> {
    /// Replaces a portion by the next one; returns `false` if there is none.
    pub(super) fn fetch(&mut self, portion: &mut Portion) -> Result<bool> {
        match self {
            Self::Sorted(sorted, scores) => {
                let is_more = take(sorted, scores.as_ref(), &mut portion.arcs)?;
                portion.taken += portion.arcs.len() as u64;
                Ok(is_more)
            }
            Self::Mirrored(mirrored) => mirrored.fetch(portion),
        }
    }

    /// Returns the number of arcs, counting repeated ones, that a record becomes.
    pub(super) fn arcs_a_record(&self) -> u64 {
        if matches!(self, Self::Mirrored(_)) { 2 } else { 1 }
    }
}

/// Fills `arcs` with the next sorted records, their weights divided by the scores; returns `false` if there are none left.
fn take<R: Placed + Into<ArcRecord>>(
    sorted: &mut Sorted<R>,
    scores: Option<&SelfScores>,
    arcs: &mut Vec<ArcRecord>,
) -> Result<bool> {
    arcs.clear();
    let Some(block) = sorted.next_block()? else { return Ok(false) };
    arcs.extend(block.iter().map(|&record| -> ArcRecord { record.into() }));
    if let Some(scores) = scores {
        scores.divide(arcs);
    }
    Ok(true)
}

/// Thread that mirrors edges ahead of the caller.
pub(super) struct Mirrored {
    portions: Option<Receiver<Result<Portion>>>,
    spares: Sender<Vec<ArcRecord>>,
    thread: Option<JoinHandle<()>>,
}

impl Mirrored {
    /// Mirrors the edges of a graph of `node_count` nodes, each sorted as one arc. Repeated ones are combined by a rule,
    /// unless it is left to the writer, because arcs of another graph are merged between them.
    pub(super) fn new<R: Placed + From<ArcRecord> + Into<ArcRecord>>(
        sorted: Sorted<R>,
        scores: Option<SelfScores>,
        node_count: u64,
        rule: Option<Duplicates>,
        queue: MonotoneQueue<R>,
    ) -> Self {
        let (to, portions) = channel(Some(WAITING_PORTIONS));
        let (spares, spare) = channel(None);
        let combiner = rule.map(Combiner::new);
        let edges = SortedEdges { sorted, scores, combiner, edges: Vec::new(), at: 0, taken: 0 };
        let mut mirror = Mirror { edges, node_count, queue, waited: Vec::new() };
        let thread = parallel::spawn(move || {
            loop {
                let arcs = spare.try_recv().unwrap_or_default();
                let found = mirror.portion(arcs);
                let is_last = found.as_ref().map_or(true, |portion| portion.arcs.is_empty());
                // The caller may have an error of its own.
                if to.send(found).is_err() || is_last {
                    return;
                }
            }
        });
        Self { portions: Some(portions), spares, thread: Some(thread) }
    }

    fn fetch(&mut self, portion: &mut Portion) -> Result<bool> {
        // Without a receiver, the thread has ended.
        let _ = self.spares.send(std::mem::take(&mut portion.arcs));
        match self.portions.as_ref().map(Receiver::recv) {
            Some(Ok(found)) => *portion = found?,
            _ => self.fail(),
        }
        Ok(!portion.arcs.is_empty())
    }

    /// Propagates the panic of the thread.
    fn fail(&mut self) -> ! {
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => unreachable!("the thread ends after its last portion, or by a panic"),
        }
    }
}

impl Drop for Mirrored {
    fn drop(&mut self) {
        self.portions = None;
        if let Some(thread) = self.thread.take() {
            // Its files are removed when it has ended.
            let _ = thread.join();
        }
    }
}

/// Edges in order, repeated ones combined if there is a combiner.
struct SortedEdges<R: Placed> {
    sorted: Sorted<R>,
    scores: Option<SelfScores>,
    combiner: Option<Combiner>,
    /// Edges from `at` on come next.
    edges: Vec<ArcRecord>,
    at: usize,
    taken: u64,
}

impl<R: Placed + Into<ArcRecord>> SortedEdges<R> {
    /// Reads further edges, if none are left; returns `false` at the end.
    fn fill(&mut self) -> Result<bool> {
        while self.at == self.edges.len() {
            self.at = 0;
            let is_more = take(&mut self.sorted, self.scores.as_ref(), &mut self.edges)?;
            self.taken += self.edges.len() as u64;
            let Some(combiner) = &mut self.combiner else { return Ok(is_more) };
            if !is_more {
                self.edges.extend(combiner.take());
                return Ok(!self.edges.is_empty());
            }
            let mut kept = 0;
            for at in 0..self.edges.len() {
                if let Some(edge) = combiner.add(self.edges[at]) {
                    self.edges[kept] = edge;
                    kept += 1;
                }
            }
            self.edges.truncate(kept);
        }
        Ok(true)
    }

    /// Returns the number of arcs that were combined with others: both of an edge, and one of a loop.
    fn combined_count(&self) -> u64 {
        let counts = self.combiner.as_ref().map_or((0, 0), Combiner::combined_counts);
        2 * counts.0 - counts.1
    }
}

/// Rows of a graph from its edges.
struct Mirror<R: Placed> {
    edges: SortedEdges<R>,
    node_count: u64,
    queue: MonotoneQueue<R>,
    waited: Vec<R>,
}

impl<R: Placed + From<ArcRecord> + Into<ArcRecord>> Mirror<R> {
    /// Returns the next arcs; none at the end.
    fn portion(&mut self, mut arcs: Vec<ArcRecord>) -> Result<Portion> {
        arcs.clear();
        while arcs.len() < PORTION_ARCS {
            let is_over = !self.edges.fill()?;
            if is_over {
                self.rows_below(self.node_count, &mut arcs)?;
                break;
            }
            self.take_edges(&mut arcs)?;
        }
        Ok(Portion { arcs, taken: self.edges.taken, combined: self.edges.combined_count() })
    }

    /// Appends the rows that the edges belong to, until `arcs` is full or none are left.
    fn take_edges(&mut self, arcs: &mut Vec<ArcRecord>) -> Result<()> {
        while let Some(&edge) = self.edges.edges.get(self.edges.at) {
            let ArcRecord { source, target, weight } = edge;
            if arcs.len() >= PORTION_ARCS
                || (self.queue.next_place() <= u64::from(source)
                    && !self.rows_below(u64::from(source) + 1, arcs)?)
            {
                return Ok(());
            }
            self.edges.at += 1;
            arcs.push(edge);
            if source != target {
                self.queue.push(R::from(ArcRecord { source: target, target: source, weight }))?;
            }
        }
        Ok(())
    }

    /// Appends the waiting arcs of all rows before `node`; returns `false` if `arcs` is full before.
    fn rows_below(&mut self, node: u64, arcs: &mut Vec<ArcRecord>) -> Result<bool> {
        while self.queue.next_place() < node {
            if arcs.len() >= PORTION_ARCS {
                return Ok(false);
            }
            self.waited.clear();
            self.queue.take_below(node, &mut self.waited)?;
            arcs.extend(self.waited.iter().map(|&arc| -> ArcRecord { arc.into() }));
        }
        Ok(true)
    }
}
