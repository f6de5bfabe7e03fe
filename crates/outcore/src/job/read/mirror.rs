//! Arcs of a graph, row by row, from sorted records.
//!
//! A run holds an undirected edge once: as the arc of that end which was numbered first. The other arc is made here, and
//! waits in a queue for the row of its source, which comes later.
//!
//! ```text
//!  sorted edges --combine--> arc of this row ---------.
//!                               |                     +--> row: waiting arcs (smaller targets), then its own
//!                               `--> opposite --> queue
//! ```
//! So an edge is sorted once, repeated edges are combined once, and no row is merged: its waiting arcs arrived in the order
//! of their targets, and precede its own. Memory: that of the queue, which spills the opposites of edges between distant
//! nodes. In a list that is grouped, nodes that are numbered together are neighbors, and few edges are that long. Source:
//! time-forward processing (Chiang et al., "External-memory graph algorithms", 1995).

use super::weights::SelfScores;
use crate::error::Result;
use crate::graph::{ArcRecord, Combiner, Duplicates};
use crate::io::Files;
use crate::sort::{MonotoneQueue, Placed, SORT_BYTES_MIN, Sorted};
use crate::units::MIB;
use std::path::Path;

/// Number of arcs after which they are passed on.
const FULL: usize = 16 << 10;
/// Memory of the queue: what the merge leaves of the buffers in which runs were formed, and this share of what it has beyond
/// its minimum.
const QUEUE_BYTES_MIN: u64 = 4 * MIB;
const QUEUE_SHARE: u64 = 3;

/// Returns the memory of the queue and of the sort, of those that the merge may take.
pub(crate) fn divided_bytes(merge_bytes: u64) -> (u64, u64) {
    let share = merge_bytes.saturating_sub(SORT_BYTES_MIN) / QUEUE_SHARE;
    (QUEUE_BYTES_MIN + share, merge_bytes - share)
}

/// Sorted arcs of a graph, with the opposites of those that were read as one arc.
pub(super) struct Arcs<R: Placed> {
    sorted: Sorted<R>,
    scores: Option<SelfScores>,
    /// Number of records taken from the sort.
    taken: u64,
    mirror: Option<Mirror<R>>,
}

/// Opposites of edges that wait for their rows.
struct Mirror<R: Placed> {
    queue: MonotoneQueue<R>,
    node_count: u64,
    /// Combines repeated edges, unless arcs of another graph are merged between them.
    combiner: Option<Combiner>,
    /// Edges from `at` on come next.
    edges: Vec<ArcRecord>,
    at: usize,
    waited: Vec<R>,
}

impl<R: Placed + From<ArcRecord> + Into<ArcRecord>> Arcs<R> {
    /// Wraps arcs that are complete.
    pub(super) fn directed(sorted: Sorted<R>, scores: Option<SelfScores>) -> Self {
        Self { sorted, scores, taken: 0, mirror: None }
    }

    /// Wraps edges of a graph of `node_count` nodes, each sorted as one arc. Repeated ones are combined by a rule, if it is
    /// given. The queue takes `memory_bytes`, and a directory in `parent` if that is too little.
    pub(super) fn undirected(
        sorted: Sorted<R>,
        scores: Option<SelfScores>,
        node_count: u64,
        rule: Option<Duplicates>,
        queue: (&Files, &Path, u64),
    ) -> Self {
        let (files, parent, memory_bytes) = queue;
        let queue = MonotoneQueue::new(files, parent, node_count, memory_bytes);
        let (edges, waited) = (Vec::new(), Vec::new());
        let combiner = rule.map(Combiner::new);
        let mirror = Mirror { queue, node_count, combiner, edges, at: 0, waited };
        Self { sorted, scores, taken: 0, mirror: Some(mirror) }
    }

    /// Returns the number of arcs that the records taken so far have become, counting repeated ones.
    pub(super) fn taken(&self) -> u64 {
        self.taken * if self.mirror.is_some() { 2 } else { 1 }
    }

    /// Returns the number of arcs of all records, counting repeated ones.
    pub(super) fn total(&self) -> u64 {
        self.sorted.summary().record_count * if self.mirror.is_some() { 2 } else { 1 }
    }

    /// Returns the number of arcs that were combined with others.
    pub(super) fn combined_count(&self) -> u64 {
        let combiner = self.mirror.as_ref().and_then(|mirror| mirror.combiner.as_ref());
        combiner.map_or(0, |combiner| {
            let (all, loops) = combiner.combined_counts();
            2 * all - loops
        })
    }

    /// Fills `arcs` with the next ones in order; returns `false` if there are none left.
    pub(super) fn fetch(&mut self, arcs: &mut Vec<ArcRecord>) -> Result<bool> {
        arcs.clear();
        let Some(mirror) = &mut self.mirror else {
            let is_more = take(&mut self.sorted, self.scores.as_ref(), arcs)?;
            self.taken += arcs.len() as u64;
            return Ok(is_more);
        };
        loop {
            if !mirror.fill(arcs)? {
                return Ok(true);
            }
            mirror.at = 0;
            if !take(&mut self.sorted, self.scores.as_ref(), &mut mirror.edges)? {
                mirror.edges.extend(mirror.combiner.as_mut().and_then(Combiner::take));
                if mirror.edges.is_empty() {
                    mirror.rows_below(mirror.node_count, arcs)?;
                    return Ok(!arcs.is_empty());
                }
                continue;
            }
            self.taken += mirror.edges.len() as u64;
            if let Some(combiner) = &mut mirror.combiner {
                let mut kept = 0;
                for at in 0..mirror.edges.len() {
                    if let Some(edge) = combiner.add(mirror.edges[at]) {
                        mirror.edges[kept] = edge;
                        kept += 1;
                    }
                }
                mirror.edges.truncate(kept);
            }
        }
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

impl<R: Placed + From<ArcRecord> + Into<ArcRecord>> Mirror<R> {
    /// Appends the rows that the edges belong to; returns `false` if `arcs` is full before all edges are in it.
    fn fill(&mut self, arcs: &mut Vec<ArcRecord>) -> Result<bool> {
        while let Some(&edge) = self.edges.get(self.at) {
            let ArcRecord { source, target, weight } = edge;
            if arcs.len() >= FULL
                || (self.queue.next_place() <= u64::from(source)
                    && !self.rows_below(u64::from(source) + 1, arcs)?)
            {
                return Ok(false);
            }
            self.at += 1;
            arcs.push(edge);
            if source != target {
                self.queue.push(R::from(ArcRecord { source: target, target: source, weight }))?;
            }
        }
        Ok(true)
    }

    /// Appends the waiting arcs of all rows before `node`; returns `false` if `arcs` is full before.
    fn rows_below(&mut self, node: u64, arcs: &mut Vec<ArcRecord>) -> Result<bool> {
        while self.queue.next_place() < node {
            if arcs.len() >= FULL {
                return Ok(false);
            }
            self.waited.clear();
            self.queue.take_below(node, &mut self.waited)?;
            arcs.extend(self.waited.iter().map(|&arc| -> ArcRecord { arc.into() }));
        }
        Ok(true)
    }
}
