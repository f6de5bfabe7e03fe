//! Writing of edges: all threads format pieces of the graph, with the names of all nodes, or portion by portion.
//!
//! ```text
//!  graph --scan--> blocks --cut--> pieces --threads--> text --in order--> output
//!                            names of the nodes of a portion --^
//! ```

use super::TakeEdge;
use super::encode::Encoding;
use super::format::ExportFormat;
use super::lines::{LineText, Tools};
use super::names::NameTable;
use super::ordered::{EndsOnPanic, Ordered, PIECE_BYTES};
use super::piece::{Piece, Position, Segment, Side, cut, for_each_segment, lone_count};
use super::weight::shortest_weight;
use crate::error::Result;
use crate::graph::{ArcScratch, Graph};
use crate::progress::{Event, Observer, notify};
use crate::weight::Weight;
#[cfg(feature = "tables")]
use crate::{
    io::Files,
    output::{OutputColumn, TableWriter, Value, ValueKind},
};
use crossbeam_channel::bounded;
use rayon::prelude::*;
use std::cell::Cell;
use std::ops::Range;
use std::path::Path;

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
    /// Number of nodes without an arc in their row and without a loop, of those that have been read.
    pub(super) lone_count: Cell<u64>,
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
        self.for_each_portion(text.side(), false, |portion| {
            self.write_portion(&text, portion, &mut number, ordered)
        })
    }

    /// Writes the edges as rows of a table. Returns its length in bytes.
    ///
    /// # Errors
    /// Like [`Edges::write`].
    #[cfg(feature = "tables")]
    pub(super) fn write_table(&self, files: &Files) -> Result<u64> {
        let has_weights = self.graph.is_weighted();
        let column = |(name, kind)| OutputColumn::new(name, kind);
        let mut columns =
            vec![column(("source", ValueKind::Text)), column(("target", ValueKind::Name))];
        columns.extend(has_weights.then(|| column(("weight", ValueKind::Real))));
        let is_parquet = self.format == ExportFormat::Parquet;
        let mut writer = TableWriter::create_columns(files, self.output, is_parquet, &columns)?;
        self.for_each_edge(false, &mut |[source, target], weight| {
            let ends = [Value::Name(source), Value::Name(target)];
            writer.push(ends.into_iter().chain(has_weights.then_some(Value::Exact(weight))))
        })?;
        writer.finish()
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
        self.for_each_portion(side, keeps_lone, |portion| {
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
        side: Side,
        keeps_lone: bool,
        mut write: impl FnMut(&Portion) -> Result<()>,
    ) -> Result<()> {
        let all = Position::START..Position::after(self.graph.node_count());
        let read = |some| {
            let encoding = (encoding(self.format), self.output);
            NameTable::read(self.graph, some, encoding, self.name_bytes)
        };
        let all_names = match self.first_number() {
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
            let (nodes, end) = self.gather(begin..all.end, (side, keeps_lone), count)?;
            if nodes.is_empty() {
                return Ok(());
            }
            let Some(names) = read(Some(nodes))? else {
                // Its names are longer than expected.
                count = (count / 2).max(NODES_LEAST as usize);
                continue;
            };
            write(&Portion { within: begin..end, names })?;
            begin = end;
            count = (2 * count).min(most);
        }
    }

    /// Returns the number of the first node, if nodes are written as numbers.
    fn first_number(&self) -> Option<u64> {
        match self.format {
            ExportFormat::MatrixMarket | ExportFormat::Metis | ExportFormat::Pajek => Some(1),
            ExportFormat::Mcl => Some(0),
            _ => (!self.graph.has_names()).then_some(0),
        }
    }

    /// Returns the nodes of the first edges between two positions, in ascending order and once each, and where those
    /// edges end. At most `most` nodes are collected: one for each row, and one for each arc.
    fn gather(
        &self,
        within: Range<Position>,
        (side, keeps_lone): (Side, bool),
        most: usize,
    ) -> Result<(Vec<u32>, Position)> {
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

    /// Calls `take` with the arcs between two positions, on this thread.
    fn for_each_segment(
        &self,
        within: &Range<Position>,
        side: Side,
        scratch: &mut ArcScratch,
        mut take: impl FnMut(&Segment<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut scan = self.graph.scan(self.blocks(within), READ_AHEAD);
        let mut done = self.arcs_before(self.blocks(within).start);
        while let Some(block) = scan.next()? {
            let mut result = Ok(());
            for_each_segment(&block, 0..block.node_count(), within, side, scratch, |segment| {
                if result.is_ok() {
                    result = take(segment);
                }
            })?;
            result?;
            self.lone_count.set(self.lone_count.get() + lone_count(&block, within));
            done += block.arc_count();
            notify(self.observer, Event::Advance { done })?;
        }
        Ok(())
    }

    fn arcs_before(&self, block: usize) -> u64 {
        self.graph.blocks()[..block].iter().map(|entry| entry.arc_count).sum()
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
            let sent = self.send_pieces(portion, number, &to_threads);
            if let Err(error) = sent {
                ordered.fail(Some(error));
            }
            drop(to_threads);
        });
        ordered.take_failure()
    }

    fn send_pieces(
        &self,
        portion: &Portion,
        number: &mut u64,
        to_threads: &crossbeam_channel::Sender<Piece>,
    ) -> Result<()> {
        let blocks = self.blocks(&portion.within);
        let mut done = self.arcs_before(blocks.start);
        let mut scan = self.graph.scan(blocks, READ_AHEAD);
        while let Some(block) = scan.next()? {
            let mut is_read = true;
            cut(&block, |rows| {
                let within = portion.within.clone();
                let piece = Piece { number: *number, block: block.clone(), rows, within };
                *number += 1;
                // The threads have ended after an error.
                is_read &= to_threads.send(piece).is_ok();
                Ok(())
            })?;
            if !is_read {
                return Ok(());
            }
            self.lone_count.set(self.lone_count.get() + lone_count(&block, &portion.within));
            done += block.arc_count();
            notify(self.observer, Event::Advance { done })?;
        }
        Ok(())
    }
}

/// Returns how names are written between the other parts of an edge.
pub(super) fn encoding(format: ExportFormat) -> Encoding {
    match format {
        ExportFormat::Csv => Encoding::Csv,
        ExportFormat::JsonLines => Encoding::Json,
        ExportFormat::Pajek => Encoding::Pajek,
        ExportFormat::Graphml | ExportFormat::Gexf => Encoding::Xml,
        ExportFormat::Parquet | ExportFormat::Arrow => Encoding::Utf8,
        ExportFormat::Text
        | ExportFormat::MatrixMarket
        | ExportFormat::Metis
        | ExportFormat::Mcl => Encoding::Text,
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
    let read = for_each_segment(block, rows.clone(), within, text.side(), scratch, |segment| {
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
