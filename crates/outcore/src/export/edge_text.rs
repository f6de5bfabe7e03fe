//! Text of edges by the templates of their [format](super::format): an edge per line, or the neighbors of a node.

use super::format::{GraphText, RowText};
use super::name_table::NameTable;
use super::piece::{Segment, Side};
use super::weight::WeightTexts;
use crate::error::opt::IGNORE_WEIGHTS;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::output::ExportFormat;
use crate::weight::Weight;

/// How the edges of a graph become text.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineText {
    text: GraphText,
    has_weights: bool,
    /// Which arcs of a row are written.
    pub(super) side: Side,
    /// Whether the node of the row is the target: arcs of directed graphs are stored there.
    is_reversed: bool,
}

/// What a thread formats with.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) out: Vec<u8>,
    weights: WeightTexts,
    digits: itoa::Buffer,
    /// Loop of the row that is not written yet.
    own: Option<u32>,
    /// Whether something of the row is written.
    is_begun: bool,
}

impl LineText {
    /// Returns how the edges of a graph are written in a format.
    pub(super) fn of(format: ExportFormat, graph: &Graph) -> Self {
        let (text, is_reversed) = (format.text(), graph.is_directed());
        let side = if is_reversed { Side::All } else { text.side };
        Self { text, has_weights: graph.is_weighted(), side, is_reversed }
    }
}

impl Tools {
    /// Appends the edges of a segment; `flush` is called after each, and returns whether to go on.
    ///
    /// # Errors
    /// `BadInput` for a weight that the format cannot hold.
    pub(super) fn put(
        &mut self,
        text: &LineText,
        segment: &Segment<'_>,
        names: &NameTable,
        flush: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<()> {
        match text.text.row {
            Some(row) => self.put_row(text, row, segment, flush),
            None => {
                self.put_edges(text, segment, names, flush);
                Ok(())
            }
        }
    }

    fn put_edges(
        &mut self,
        text: &LineText,
        segment: &Segment<'_>,
        names: &NameTable,
        mut flush: impl FnMut(&mut Vec<u8>) -> bool,
    ) {
        let node = segment.node;
        if let Some(own) = segment.own {
            self.put_edge(text, [node, node], own, names);
        }
        for (at, &other) in segment.others.iter().enumerate() {
            names.load(segment.others, at);
            let code = segment.codes.get(at).copied().unwrap_or(Weight::ONE.code());
            let ends = if text.is_reversed { [other, node] } else { [node, other] };
            self.put_edge(text, ends, code, names);
            if !flush(&mut self.out) {
                return;
            }
        }
    }

    #[inline]
    fn put_edge(&mut self, text: &LineText, ends: [u32; 2], code: u32, names: &NameTable) {
        let ([source, target], GraphText { edge, identified, .. }) = (ends, &text.text);
        let [before, between, before_weight, after_weight, alone] = edge;
        self.out.extend_from_slice(before.as_bytes());
        if let Some(behind) = identified {
            self.put_number(u64::from(source));
            self.out.push(b'-');
            self.put_number(u64::from(target));
            self.out.extend_from_slice(behind.as_bytes());
        }
        self.put_node(source, names);
        self.out.extend_from_slice(between.as_bytes());
        self.put_node(target, names);
        if !text.has_weights {
            return self.out.extend_from_slice(alone.as_bytes());
        }
        self.out.extend_from_slice(before_weight.as_bytes());
        self.weights.put(code, &mut self.out);
        self.out.extend_from_slice(after_weight.as_bytes());
    }

    #[inline]
    fn put_node(&mut self, node: u32, names: &NameTable) {
        match names.first_number() {
            Some(first) => self.put_number(first + u64::from(node)),
            None => self.out.extend_from_slice(names.name(node)),
        }
    }

    #[inline]
    fn put_number(&mut self, number: u64) {
        self.out.extend_from_slice(self.digits.format(number).as_bytes());
    }

    /// Appends neighbors of a node to its line, in ascending order with the node itself if it has a loop.
    fn put_row(
        &mut self,
        text: &LineText,
        row: RowText,
        segment: &Segment<'_>,
        mut flush: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<()> {
        let (node, first) = (segment.node, text.text.first_number.unwrap_or(0));
        if segment.is_first {
            (self.own, self.is_begun) = (segment.own, row.begins_with_node);
            if row.begins_with_node {
                self.put_number(first + u64::from(node));
            }
        }
        for (at, &other) in segment.others.iter().enumerate() {
            if other > node {
                self.put_own(text, row, node)?;
            }
            let code = segment.codes.get(at).copied().unwrap_or(Weight::ONE.code());
            self.put_entry(text, row, [node, other], code)?;
            if !flush(&mut self.out) {
                return Ok(());
            }
        }
        if segment.is_last {
            self.put_own(text, row, node)?;
            self.out.extend_from_slice(row.end.as_bytes());
        }
        Ok(())
    }

    fn put_own(&mut self, text: &LineText, row: RowText, node: u32) -> Result<()> {
        match self.own.take() {
            Some(code) => self.put_entry(text, row, [node, node], code),
            None => Ok(()),
        }
    }

    #[inline]
    fn put_entry(
        &mut self,
        text: &LineText,
        row: RowText,
        ends: [u32; 2],
        code: u32,
    ) -> Result<()> {
        if std::mem::replace(&mut self.is_begun, true) {
            self.out.push(b' ');
        }
        self.put_number(text.text.first_number.unwrap_or(0) + u64::from(ends[1]));
        if !text.has_weights {
            return Ok(());
        }
        self.out.extend_from_slice(row.weight.as_bytes());
        let Some(most) = row.whole_up_to else {
            self.weights.put(code, &mut self.out);
            return Ok(());
        };
        let weight = Weight::from_code(code).value();
        if weight.fract() != 0.0 || weight > most {
            return Err(not_whole(weight, ends));
        }
        self.put_number(weight as u64);
        Ok(())
    }
}

/// Returns the error for a weight of an edge, between nodes counted from 0, that METIS does not allow.
fn not_whole(weight: f64, nodes: [u32; 2]) -> Error {
    let [source, target] = nodes.map(|node| u64::from(node) + 1);
    // Weights have the precision of 32 bits.
    let weight = weight as f32;
    let message = format!(
        "METIS takes weights that are whole numbers, but the edge of nodes {source} and {target} has {weight}"
    );
    Error::new(ErrorKind::BadInput, message).hint(format_args!(
        "use a name that ends in .mtx, or leave the weights out: build the graph again with {IGNORE_WEIGHTS}"
    ))
}
