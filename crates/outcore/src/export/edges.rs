//! Writing of edges: all threads format pieces of the graph, with the names of all nodes, or portion by portion.
//!
//! ```text
//!  graph --scan--> blocks --cut--> pieces --threads--> text --in order--> output
//!                            names of the nodes of a portion --^
//! ```

use super::TakeEdge;
use super::edge_text::{LineText, Tools};
use super::name_table::{NameForm, NameTable};
use super::ordered::{EndsOnPanic, Ordered, PIECE_BYTES};
use super::piece::{Piece, Position, Segment, Side, cut, for_each_segment, lone_count};
use super::weight::shortest_weight;
use crate::error::Result;
use crate::graph::{ArcScratch, Block, Graph};
use crate::io::Files;
use crate::output::{ExportFormat, OutputColumn, RowFile, RowFormat, RowWriter, Value, ValueKind};
use crate::progress::{Event, Observer, notify};
use crate::weight::Weight;
use crossbeam_channel::bounded;
use rayon::prelude::*;
use std::cell::Cell;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Number of blocks read ahead.
const READ_AHEAD: usize = 2;
/// Memory of a node that is collected for a portion: its index, and in the worst case a name of 15 bytes that no other
/// edge of the portion shares.
const NODE_BYTES: u64 = 24;
/// Minimum number of nodes of a portion: those of one edge.
const NODES_LEAST: u64 = 2;

/// Graph to write, and with what.
pub(super) struct Edges<'a> {
    pub(super) graph: &'a Graph,
    pub(super) format: ExportFormat,
    pub(super) output: &'a Path,
    /// Memory for names.
    pub(super) name_bytes: u64,
    pub(super) threads: usize,
    pub(super) observer: &'a dyn Observer,
    /// Number of nodes read so far that have neither an arc in their row nor a loop.
    pub(super) lone_count: Cell<u64>,
}

/// Edges that are written.
#[derive(Debug, Clone, Copy)]
struct Chosen {
    /// Which arcs of a row are edges of the output.
    side: Side,
    /// Whether a node without an arc in its row is passed on as an edge, too.
    keeps_lone: bool,
}

/// Edges between two positions, and the names of their nodes.
struct Portion {
    within: Range<Position>,
    names: NameTable,
}

impl Edges<'_> {
    /// Appends the edges to an output.
    ///
    /// # Errors
    /// `BadInput` for a name or weight that the format cannot hold; `CorruptFile`, `Io`, `DiskFull`, `Interrupted`.
    pub(super) fn write(&self, ordered: &Ordered) -> Result<()> {
        let text = LineText::of(self.format, self.graph);
        let mut number = 0;
        let chosen = Chosen { side: text.side, keeps_lone: false };
        self.for_each_portion(chosen, |portion| {
            self.write_portion(&text, portion, &mut number, ordered)
        })
    }

    /// Writes the edges as rows of a table. Returns its length in bytes.
    ///
    /// # Errors
    /// Like [`Edges::write`].
    pub(super) fn write_rows(&self, files: &Files, format: RowFormat) -> Result<u64> {
        let has_weights = self.graph.is_weighted();
        let mut columns = vec![
            OutputColumn::of_nodes("source", self.graph.name_type(), ValueKind::Text),
            OutputColumn::of_nodes("target", self.graph.name_type(), ValueKind::Name),
        ];
        columns.extend(has_weights.then(|| OutputColumn::new("weight", ValueKind::Real)));
        let file = RowFile { path: self.output, format, has_header: true };
        let mut rows = RowWriter::create(files, file, &columns)?;
        self.for_each_edge(false, &mut |[source, target], weight| {
            let ends = [Value::Name(source), Value::Name(target)];
            rows.push(ends.into_iter().chain(has_weights.then_some(Value::Exact(weight))))
        })?;
        rows.finish()
    }

    /// Calls `take` with the names and the weight of each edge, on this thread. If `keeps_lone`, a node without an arc
    /// in its row is a loop of weight 0.
    ///
    /// # Errors
    /// Those of `take`; like [`Edges::write`].
    pub(super) fn for_each_edge(&self, keeps_lone: bool, take: &mut TakeEdge<'_>) -> Result<()> {
        let is_directed = self.graph.is_directed();
        let side = if is_directed { Side::All } else { Side::Above };
        let (mut scratch, mut texts) = (ArcScratch::default(), [Vec::new(), Vec::new()]);
        self.for_each_portion(Chosen { side, keeps_lone }, |portion| {
            self.for_each_segment(&portion.within, side, &mut scratch, |segment| {
                let lone = keeps_lone && segment.is_lone();
                let own = segment.own.map(shortest_weight).or(lone.then_some(0.0));
                if own.is_none() && segment.others.is_empty() {
                    return Ok(());
                }
                put_node(segment.node, &portion.names, &mut texts[0]);
                if let Some(weight) = own {
                    take([&texts[0], &texts[0]], weight)?;
                }
                let one = Weight::ONE.code();
                for (at, &other) in segment.others.iter().enumerate() {
                    portion.names.load(segment.others, at);
                    put_node(other, &portion.names, &mut texts[1]);
                    let weight = shortest_weight(segment.codes.get(at).copied().unwrap_or(one));
                    let [row, other] = [&texts[0][..], &texts[1][..]];
                    take(if is_directed { [other, row] } else { [row, other] }, weight)?;
                }
                Ok(())
            })
        })
    }

    /// Calls `write` with the edges in portions whose names are in memory: one portion, if all are.
    fn for_each_portion(
        &self,
        chosen: Chosen,
        mut write: impl FnMut(&Portion) -> Result<()>,
    ) -> Result<()> {
        let text = self.format.text();
        let all = Position::START..Position::after(self.graph.node_count());
        let read = |some| {
            let form = NameForm { encoding: text.encoding, output: self.output };
            NameTable::read(self.graph, some, form, self.name_bytes)
        };
        let without_names = (!self.graph.has_names()).then_some(0);
        let all_names = match text.first_number.or(without_names) {
            Some(first) => Some(NameTable::numbers(first)),
            None => read(None)?,
        };
        if let Some(names) = all_names {
            return write(&Portion { within: all, names });
        }
        let names = self.graph.files().cramped().names;
        let most = (self.name_bytes / NODE_BYTES).min(names).max(NODES_LEAST) as usize;
        let (mut begin, mut count) = (Position::START, most);
        loop {
            let (nodes, end) = self.gather(begin..all.end, chosen, count)?;
            if nodes.is_empty() {
                return Ok(());
            }
            let Some(names) = read(Some(nodes))? else {
                // The names are longer than expected.
                count = (count / 2).max(NODES_LEAST as usize);
                continue;
            };
            write(&Portion { within: begin..end, names })?;
            begin = end;
            count = (2 * count).min(most);
        }
    }

    /// Returns the nodes of the first edges between two positions, in ascending order and once each, and where those
    /// edges end. At most `most` nodes are collected: one for each row, and one for each arc.
    fn gather(
        &self,
        within: Range<Position>,
        chosen: Chosen,
        most: usize,
    ) -> Result<(Vec<u32>, Position)> {
        let Chosen { side, keeps_lone } = chosen;
        let (mut nodes, mut end) = (Vec::with_capacity(most), within.end);
        let mut scratch = ArcScratch::default();
        let (mut left, mut is_full) = (most, false);
        let mut scan = self.graph.scan(self.blocks(&within), READ_AHEAD);
        while let Some(block) = scan.next()?.filter(|_| !is_full) {
            let rows = 0..block.node_count();
            for_each_segment(&block, rows, &within, side, &mut scratch, |segment| {
                let (others, first) = (segment.others, segment.first_arc);
                let is_alone = others.is_empty() && segment.own.is_none();
                if is_full || is_alone && !(keeps_lone && segment.is_lone()) {
                    return;
                }
                let node = u64::from(segment.node);
                let taken = others.len().min(left.saturating_sub(1));
                if left == 0 || taken == 0 && !others.is_empty() {
                    let arc = if others.is_empty() || segment.own.is_some() { 0 } else { first };
                    (is_full, end) = (true, Position { node, arc });
                    return;
                }
                nodes.push(segment.node);
                nodes.extend_from_slice(&others[..taken]);
                left -= 1 + taken;
                if taken < others.len() {
                    (is_full, end) = (true, Position { node, arc: first + taken as u64 });
                }
            })?;
        }
        nodes.par_sort_unstable();
        nodes.dedup();
        nodes.shrink_to_fit();
        Ok((nodes, end))
    }

    /// Returns the blocks with the nodes between two positions.
    fn blocks(&self, within: &Range<Position>) -> Range<usize> {
        let blocks = self.graph.blocks();
        let first = blocks.partition_point(|block| {
            u64::from(block.first_node) + u64::from(block.node_count) <= within.start.node
        });
        let end = blocks.partition_point(|block| u64::from(block.first_node) <= within.end.node);
        first..end.max(first)
    }

    /// Calls `take` with the blocks that have arcs between two positions, until it returns `false`.
    fn for_each_block(
        &self,
        within: &Range<Position>,
        mut take: impl FnMut(&Arc<Block>) -> Result<bool>,
    ) -> Result<()> {
        let blocks = self.blocks(within);
        let before = &self.graph.blocks()[..blocks.start];
        let mut done = before.iter().map(|entry| entry.arc_count).sum();
        let mut scan = self.graph.scan(blocks, READ_AHEAD);
        while let Some(block) = scan.next()? {
            if !take(&block)? {
                return Ok(());
            }
            self.lone_count.set(self.lone_count.get() + lone_count(&block, within));
            done += block.arc_count();
            notify(self.observer, Event::Advance { done })?;
        }
        Ok(())
    }

    /// Calls `take` with the arcs between two positions, on this thread.
    fn for_each_segment(
        &self,
        within: &Range<Position>,
        side: Side,
        scratch: &mut ArcScratch,
        mut take: impl FnMut(&Segment<'_>) -> Result<()>,
    ) -> Result<()> {
        self.for_each_block(within, |block| {
            let mut result = Ok(());
            for_each_segment(block, 0..block.node_count(), within, side, scratch, |segment| {
                if result.is_ok() {
                    result = take(segment);
                }
            })?;
            result.map(|()| true)
        })
    }

    /// Formats a portion on all threads; `number` counts the pieces of all portions.
    fn write_portion(
        &self,
        text: &LineText,
        portion: &Portion,
        number: &mut u64,
        ordered: &Ordered,
    ) -> Result<()> {
        let (to_threads, pieces) = bounded::<Piece>(2 * self.threads);
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                let pieces = pieces.clone();
                scope.spawn(move || {
                    let _guard = EndsOnPanic(ordered);
                    let (mut tools, mut scratch) = (Tools::default(), ArcScratch::default());
                    for piece in pieces {
                        if !format(text, &piece, &portion.names, &mut tools, &mut scratch, ordered)
                        {
                            return;
                        }
                    }
                });
            }
            drop(pieces);
            let sent = self.for_each_block(&portion.within, |block| {
                let mut is_read = true;
                cut(block, |rows| {
                    let (block, within) = (block.clone(), portion.within.clone());
                    let piece = Piece { number: *number, block, rows, within };
                    *number += 1;
                    // The threads have ended after an error.
                    is_read &= to_threads.send(piece).is_ok();
                    Ok(())
                })?;
                Ok(is_read)
            });
            if let Err(error) = sent {
                ordered.fail(Some(error));
            }
            drop(to_threads);
        });
        ordered.take_failure()
    }
}

fn put_node(node: u32, names: &NameTable, text: &mut Vec<u8>) {
    text.clear();
    match names.first_number() {
        Some(first) => {
            let mut digits = itoa::Buffer::new();
            text.extend_from_slice(digits.format(first + u64::from(node)).as_bytes());
        }
        None => text.extend_from_slice(names.name(node)),
    }
}

/// Formats and writes a piece; returns whether to go on.
fn format(
    text: &LineText,
    piece: &Piece,
    names: &NameTable,
    tools: &mut Tools,
    scratch: &mut ArcScratch,
    ordered: &Ordered,
) -> bool {
    let mut goes_on = true;
    let mut result = Ok(());
    let mut flush =
        |out: &mut Vec<u8>| out.len() < PIECE_BYTES || ordered.write(piece.number, out, false);
    let Piece { block, rows, within, .. } = piece;
    let read = for_each_segment(block, rows.clone(), within, text.side, scratch, |segment| {
        if goes_on && result.is_ok() {
            result = tools.put(text, segment, names, &mut flush);
            goes_on = flush(&mut tools.out);
        }
    });
    match read.and(result) {
        Ok(()) => goes_on && ordered.write(piece.number, &mut tools.out, true),
        Err(error) => {
            ordered.fail_at(piece.number, error);
            false
        }
    }
}
