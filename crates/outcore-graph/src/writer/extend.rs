//! A graph written again with further arcs: the rows of the old graph, front to back, merged with sorted new arcs.
//!
//! ```text
//!  old graph --blocks--> rows ---.
//!                                +--> GraphWriter
//!  sorted new arcs --------------'
//! ```
//!
//! A row is copied as a whole up to the next new arc in it, so an old arc costs only its decoding and encoding: about
//! 11 ns, without a comparison. Blocks are the same as if all arcs had been sorted together, because the writer alone
//! determines them. Memory: [`Graph::extension_bytes`].
//!
//! Blocks cannot be copied as they are: with 1 % of new edges each has some, and their bounds depend on the number of
//! nodes.

use super::GraphWriter;
use crate::arc::ArcRecord;
use crate::arcs_path;
use crate::block::{ArcScratch, Block};
use crate::manifest::Duplicates;
use crate::reader::{BlockScan, Graph};
use crate::size::GRAPH_WRITER_BYTES;
use crate::weight::Weight;
use outcore_io::error::{Error, Result};
use std::sync::Arc;

/// Memory reserved for the writer that it never uses. One block at a time may take it, so that most graphs can be extended
/// in the smallest limit of a job.
const UNUSED_BYTES: u64 = GRAPH_WRITER_BYTES - GraphWriter::MEMORY_BYTES as u64;
/// Number of blocks of the old graph that are read ahead, if there is memory for them.
const AHEAD: u64 = 1;
/// Bytes per node of a block: its position and its degree.
const NODE_BYTES: u64 = 8;
/// Memory for decoded arcs, and for segments of a hub.
const SCRATCH_BYTES: u64 = 2 << 20;

/// Fills a vector with the next sorted arcs; returns `false` if there are none left.
pub(crate) type NextArcs<'a> = dyn FnMut(&mut Vec<ArcRecord>) -> Result<bool> + 'a;

impl Graph {
    /// Returns the memory to read the graph while it is extended, in addition to the writer's: with blocks read ahead,
    /// and the minimum.
    pub fn extension_bytes(&self) -> (u64, u64) {
        let blocks = 0..self.blocks().len();
        let range_bytes = |block| self.shared().range(block).map_or(0, |(_, bytes)| bytes as u64);
        let largest = blocks.map(range_bytes).max().unwrap_or(0);
        let nodes = self.blocks().iter().map(|entry| u64::from(entry.node_count)).max();
        bytes_for(largest, nodes.unwrap_or(0))
    }
}

/// Like [`Graph::extension_bytes`], for blocks of up to `range_bytes` encoded bytes and `node_count` nodes.
fn bytes_for(range_bytes: u64, node_count: u64) -> (u64, u64) {
    let block = range_bytes + NODE_BYTES * node_count;
    // Read ahead: the caller's block, the waiting ones, and the one being checked, each with its encoded bytes.
    let ahead = (AHEAD + 2) * (block + range_bytes);
    let least = block + range_bytes + SCRATCH_BYTES;
    (ahead + SCRATCH_BYTES, least.saturating_sub(UNUSED_BYTES))
}

/// Blocks of the old graph in order.
enum OldBlocks<'a> {
    Ahead(BlockScan),
    OneByOne { graph: &'a Graph, next: usize },
}

impl OldBlocks<'_> {
    fn next(&mut self) -> Result<Option<Arc<Block>>> {
        match self {
            Self::Ahead(scan) => scan.next(),
            Self::OneByOne { graph, next } if *next < graph.blocks().len() => {
                *next += 1;
                graph.read_block(*next - 1).map(|block| Some(Arc::new(block)))
            }
            Self::OneByOne { .. } => Ok(None),
        }
    }
}

/// New arcs in order, of which the next one can be peeked at.
struct NewArcs<'a> {
    next: &'a mut NextArcs<'a>,
    arcs: Vec<ArcRecord>,
    at: usize,
    /// Whether all arcs have been fetched.
    is_over: bool,
    taken: u64,
}

impl NewArcs<'_> {
    #[inline]
    fn peek(&mut self) -> Result<Option<ArcRecord>> {
        match self.arcs.get(self.at) {
            Some(&arc) => Ok(Some(arc)),
            None => self.fetch(),
        }
    }

    #[cold]
    fn fetch(&mut self) -> Result<Option<ArcRecord>> {
        while !self.is_over && self.at == self.arcs.len() {
            self.arcs.clear();
            self.at = 0;
            self.is_over = !(self.next)(&mut self.arcs)?;
        }
        Ok(self.arcs.get(self.at).copied())
    }

    fn take(&mut self) {
        self.at += 1;
        self.taken += 1;
    }
}

/// Extension of a graph by new arcs.
struct Extension<'a> {
    writer: &'a mut GraphWriter,
    old: &'a Graph,
    new: NewArcs<'a>,
    /// Whether the arcs of a pair are in the order of their weights, and not in that of the input.
    by_weight: bool,
    /// Loop of the current node in the old graph that is not written yet.
    old_loop: Option<ArcRecord>,
    old_arcs: u64,
}

/// Writes the arcs of `old` and of `new` to `writer`, whose nodes begin with those of `old`. Blocks are read ahead if
/// `reads_ahead`. `tick` is called regularly with the number of arcs so far.
///
/// # Errors
/// `CorruptFile` if `old` is damaged, `Io`, `DiskFull`; those of `new` and of `tick`.
pub fn extend<'a>(
    writer: &'a mut GraphWriter,
    old: &'a Graph,
    reads_ahead: bool,
    new: &'a mut NextArcs<'a>,
    mut tick: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    let summary = old.summary();
    writer.count_combined(summary.combined_count);
    writer.recorded.dropped_loop_count += summary.dropped_loop_count;
    let by_weight = writer.options.duplicates != Duplicates::First;
    let mut blocks = match reads_ahead {
        true => OldBlocks::Ahead(old.scan(0..old.blocks().len(), AHEAD as usize)),
        false => OldBlocks::OneByOne { graph: old, next: 0 },
    };
    let new = NewArcs { next: new, arcs: Vec::new(), at: 0, is_over: false, taken: 0 };
    let mut extension = Extension { writer, old, new, by_weight, old_loop: None, old_arcs: 0 };
    let mut scratch = ArcScratch::default();
    while let Some(block) = blocks.next()? {
        extension.block(&block, &mut scratch, &mut tick)?;
    }
    extension.rest(&mut tick)
}

impl Extension<'_> {
    /// Writes the rows of a block, with the new arcs in them.
    fn block(
        &mut self,
        block: &Block,
        scratch: &mut ArcScratch,
        tick: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut loops = block.loops().iter().copied().peekable();
        for local in 0..block.node_count() {
            let node = block.first_node() + local as u32;
            let of_node = loops.next_if(|(owner, _)| *owner as usize == local);
            self.old_loop =
                of_node.map(|(_, weight)| ArcRecord { source: node, target: node, weight });
            let is_touched = self.extra(node)?.is_some();
            // The callback cannot fail: it remembers the first error.
            let (mut written, mut last) = (Ok(()), None);
            block.for_each_segment(local, scratch, |targets, codes| {
                if written.is_err() {
                    return;
                }
                if targets.first().copied() <= last {
                    written = Err(self.unordered(node));
                    return;
                }
                last = targets.last().copied();
                written = match is_touched {
                    true => self.segment(node, targets, codes),
                    false => self.writer.push_row(node, targets, codes),
                };
                self.old_arcs += targets.len() as u64;
            })?;
            written?;
            while is_touched && let Some(extra) = self.extra(node)? {
                self.take(extra)?;
            }
        }
        tick(self.old_arcs + self.new.taken)
    }

    fn unordered(&self, node: u32) -> Error {
        let path = arcs_path(self.old.directory());
        Error::corrupt(&path, format!("the arcs of node {node} are wrong"))
    }

    /// Writes arcs of the old row of `node`, and those new ones that come before its last arc.
    fn segment(&mut self, node: u32, targets: &[u32], codes: &[u32]) -> Result<()> {
        let mut at = 0;
        while let Some(extra) = self.extra(node)? {
            let end = at + targets[at..].partition_point(|&target| target < extra.target);
            self.copy(node, targets, codes, at..end)?;
            at = end;
            let Some(&target) = targets.get(at) else { return Ok(()) };
            let code = codes.get(at).copied().unwrap_or(Weight::ONE.code());
            if target == extra.target && (!self.by_weight || code <= extra.weight) {
                // The next arc of this pair is to be combined with it.
                self.writer.push(&[ArcRecord { source: node, target, weight: code }])?;
                at += 1;
            }
            self.take(extra)?;
        }
        self.copy(node, targets, codes, at..targets.len())
    }

    /// Returns the next arc of `node` that is not in its old row: a new one, or the old loop.
    #[inline]
    fn extra(&mut self, node: u32) -> Result<Option<ArcRecord>> {
        let new = self.new.peek()?.filter(|arc| arc.source == node);
        let Some(old_loop) = self.old_loop else { return Ok(new) };
        let is_first = |new: ArcRecord| {
            let is_same = new.target == node;
            new.target < node || is_same && self.by_weight && new.weight < old_loop.weight
        };
        Ok(Some(new.filter(|&new| is_first(new)).unwrap_or(old_loop)))
    }

    /// Writes the arc that [`Extension::extra`] has returned.
    fn take(&mut self, extra: ArcRecord) -> Result<()> {
        // The old loop differs from the next new arc, or comes before it.
        match self.old_loop {
            Some(old_loop) if old_loop == extra => self.old_loop = None,
            _ => self.new.take(),
        }
        self.writer.push(&[extra])
    }

    #[inline]
    fn copy(
        &mut self,
        node: u32,
        targets: &[u32],
        codes: &[u32],
        range: std::ops::Range<usize>,
    ) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        self.writer.push_row(node, &targets[range.clone()], codes.get(range).unwrap_or_default())
    }

    /// Writes the rows of new nodes.
    fn rest(&mut self, tick: &mut impl FnMut(u64) -> Result<()>) -> Result<()> {
        while self.new.peek()?.is_some() {
            self.writer.push(&self.new.arcs[self.new.at..])?;
            self.new.taken += (self.new.arcs.len() - self.new.at) as u64;
            self.new.at = self.new.arcs.len();
            tick(self.old_arcs + self.new.taken)?;
        }
        Ok(())
    }
}

impl GraphWriter {
    /// Appends arcs of one node to different targets, as [`GraphWriter::push`] would: `targets` ascend, and are not the
    /// node itself. Without `codes`, all weights are 1. No later arc has one of these targets.
    fn push_row(&mut self, source: u32, targets: &[u32], codes: &[u32]) -> Result<()> {
        let (mut targets, mut codes) = (targets, codes);
        let one = Weight::ONE.code();
        let first =
            ArcRecord { source, target: targets[0], weight: codes.first().copied().unwrap_or(one) };
        if self.combiner.pending().is_some_and(|pending| pending.pair() == first.pair()) {
            self.push(&[first])?;
            (targets, codes) = (&targets[1..], codes.get(1..).unwrap_or_default());
        }
        let Some(&last) = targets.last() else { return Ok(()) };
        assert!(u64::from(last) < self.options.node_count, "a target is a node of the graph");
        if let Some(before) = self.combiner.take() {
            self.emit(before)?;
        }
        while self.current.number < u64::from(source) {
            self.end_node()?;
        }
        while !targets.is_empty() {
            let room = self.limits.block_arcs - self.raw.targets.len();
            if room == 0 {
                self.make_room()?;
                continue;
            }
            let (now, later) = targets.split_at(room.min(targets.len()));
            self.raw.targets.extend_from_slice(now);
            match codes.split_at_checked(now.len()) {
                Some((now, later)) => {
                    self.raw.weights.extend_from_slice(now);
                    codes = later;
                }
                None => self.raw.weights.resize(self.raw.targets.len(), one),
            }
            targets = later;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockLimits, GraphOptions, InputOrder};
    use outcore_io::Files;
    use outcore_sort::Record;
    use outcore_testkit::sim::Sim;
    use proptest::prelude::*;
    use std::path::Path;

    type Arcs = Vec<(u32, u32, u32)>;

    fn arcs(arcs: &Arcs, nodes: u32, rule: Duplicates) -> Vec<ArcRecord> {
        let record = |&(source, target, weight): &(u32, u32, u32)| {
            let weight = Weight::new(f64::from(weight + 1)).code();
            ArcRecord { source: source % nodes, target: target % nodes, weight }
        };
        let mut arcs: Vec<_> = arcs.iter().map(record).collect();
        match rule {
            Duplicates::First => arcs.sort_by_key(|&arc| InputOrder(arc).key()),
            _ => arcs.sort_by_key(Record::key),
        }
        arcs
    }

    fn contents(sim: &Sim, graph: &str) -> [Vec<u8>; 2] {
        ["arcs", "graph.json"].map(|name| sim.get(Path::new(graph).join(name)).unwrap())
    }

    proptest! {
        /// Blocks of a few nodes and arcs, hubs among them, are those of a graph written at once.
        #[test]
        fn an_extended_graph_is_that_of_all_arcs(
            old in prop::collection::vec((0u32..40, 0u32..40, 0u32..4), 0..300),
            new in prop::collection::vec((0u32..40, 0u32..40, 0u32..4), 0..120),
            (old_nodes, more) in (1u32..40, 0u32..8),
            rule in prop::sample::select(vec![
                Duplicates::Sum, Duplicates::Max, Duplicates::Min, Duplicates::First,
            ]),
            (keep_loops, ahead, part, ones) in any::<(bool, bool, prop::sample::Index, bool)>(),
        ) {
            let sim = Sim::new();
            let files = Files::new(Arc::new(sim.clone()));
            let nodes = old_nodes + more;
            let ones = |arcs: &Arcs| arcs.iter().map(|arc| (arc.0, arc.1, if ones { 0 } else { arc.2 })).collect::<Arcs>();
            let (old, mut new) = (ones(&old), ones(&new));
            if !keep_loops {
                // Counts of dropped loops are those of both graphs.
                new.retain(|(source, target, _)| source % nodes != target % nodes);
            }
            let writer = |path: &str, node_count: u32| {
                let options = GraphOptions {
                    node_count: node_count.into(),
                    directed: true,
                    duplicates: rule,
                    keep_loops,
                };
                let path = Path::new(path);
                GraphWriter::create_with(&files, path, &options, BlockLimits::TINY).unwrap()
            };
            let mut first = writer("/old", old_nodes);
            first.push(&arcs(&old, old_nodes, rule)).unwrap();
            first.finish().unwrap();
            let modulo = |arcs: &Arcs| arcs.iter().map(|a| (a.0 % old_nodes, a.1 % old_nodes, a.2)).collect::<Arcs>();
            let mut all = modulo(&old);
            all.extend(&new);
            let mut at_once = writer("/all", nodes);
            at_once.push(&arcs(&all, nodes, rule)).unwrap();
            at_once.finish().unwrap();

            let graph = Graph::open(&files, Path::new("/old")).unwrap();
            let mut extended = writer("/extended", nodes);
            let new = arcs(&new, nodes, rule);
            let parts = new.split_at(part.index(new.len() + 1));
            let mut parts = [parts.0, &[], parts.1].into_iter();
            let mut next = |arcs: &mut Vec<ArcRecord>| {
                let part = parts.next();
                arcs.extend_from_slice(part.unwrap_or_default());
                Ok(part.is_some())
            };
            extend(&mut extended, &graph, ahead, &mut next, |_| Ok(())).unwrap();
            extended.finish().unwrap();
            prop_assert!(contents(&sim, "/extended") == contents(&sim, "/all"));
        }
    }
}
