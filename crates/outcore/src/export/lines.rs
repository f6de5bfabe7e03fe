//! Text of edges: a template for each format with an edge per line, and the lines of METIS and mcl, which have the
//! neighbors of a node.

use super::format::ExportFormat;
use super::names::NameTable;
use super::piece::{Segment, Side};
use super::weight::WeightTexts;
use crate::error::opt::IGNORE_WEIGHTS;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::weight::Weight;

/// Maximum weight of an edge that readers of METIS take: their integers may have 32 bits.
const METIS_WEIGHT_MAX: f64 = i32::MAX as f64;

/// How rows become text.
#[derive(Debug, Clone, Copy)]
pub(super) enum LineText {
    Edge(EdgeText),
    Metis { has_weights: bool },
    Mcl { has_weights: bool },
}

/// Text of an edge, around its nodes and its weight.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeText {
    before: &'static str,
    /// Whether an identifier of the edge and this text come before the source.
    identified: Option<&'static str>,
    between: &'static str,
    /// Text before the weight, if edges have one.
    weight: Option<&'static str>,
    after: &'static str,
    pub(super) side: Side,
    /// Whether the node of the row is the target: arcs of directed graphs are stored there.
    pub(super) is_reversed: bool,
}

/// What a thread formats with.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) out: Vec<u8>,
    weights: WeightTexts,
    digits: itoa::Buffer,
    /// Loop of the row of mcl that is not written yet.
    pending: Option<u32>,
}

impl LineText {
    /// Returns how the edges of a graph are written in a format.
    pub(super) fn of(format: ExportFormat, graph: &Graph) -> Self {
        let has_weights = graph.is_weighted();
        let text = |[before, between, weight, after, alone]: [&'static str; 5]| {
            let is_directed = graph.is_directed();
            Self::Edge(EdgeText {
                before,
                identified: None,
                between,
                weight: has_weights.then_some(weight),
                after: if has_weights { after } else { alone },
                side: if is_directed { Side::All } else { Side::Above },
                is_reversed: is_directed,
            })
        };
        match format {
            ExportFormat::Csv => text(["", ",", ",", "\n", "\n"]),
            ExportFormat::JsonLines => {
                text(["{\"source\":", ",\"target\":", ",\"weight\":", "}\n", "}\n"])
            }
            ExportFormat::Pajek => text(["", " ", " ", "\n", "\n"]),
            ExportFormat::MatrixMarket => match text(["", " ", " ", "\n", "\n"]) {
                // The entries of a symmetric matrix are on and below its diagonal.
                Self::Edge(text) if text.side == Side::Above => {
                    Self::Edge(EdgeText { side: Side::Below, ..text })
                }
                other => other,
            },
            ExportFormat::Graphml => text([
                "<edge source=\"",
                "\" target=\"",
                "\"><data key=\"weight\">",
                "</data></edge>\n",
                "\"/>\n",
            ]),
            ExportFormat::Gexf => {
                match text(["<edge id=\"", "\" target=\"", "\" weight=\"", "\"/>\n", "\"/>\n"]) {
                    Self::Edge(text) => {
                        Self::Edge(EdgeText { identified: Some("\" source=\""), ..text })
                    }
                    other => other,
                }
            }
            ExportFormat::Metis => Self::Metis { has_weights },
            ExportFormat::Mcl => Self::Mcl { has_weights },
            ExportFormat::Text | ExportFormat::Parquet | ExportFormat::Arrow => {
                text(["", "\t", "\t", "\n", "\n"])
            }
        }
    }

    /// Returns which arcs of a row are written.
    pub(super) fn side(&self) -> Side {
        match self {
            Self::Edge(text) => text.side,
            Self::Metis { .. } | Self::Mcl { .. } => Side::All,
        }
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
        match text {
            LineText::Edge(text) => self.put_edges(text, segment, names, flush),
            LineText::Metis { has_weights } => {
                return self.put_metis(segment, *has_weights, flush);
            }
            LineText::Mcl { has_weights } => self.put_mcl(segment, *has_weights, flush),
        }
        Ok(())
    }

    fn put_edges(
        &mut self,
        text: &EdgeText,
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
    fn put_edge(&mut self, text: &EdgeText, ends: [u32; 2], code: u32, names: &NameTable) {
        let [source, target] = ends;
        self.out.extend_from_slice(text.before.as_bytes());
        if let Some(behind) = text.identified {
            self.put_number(u64::from(source));
            self.out.push(b'-');
            self.put_number(u64::from(target));
            self.out.extend_from_slice(behind.as_bytes());
        }
        self.put_node(source, names);
        self.out.extend_from_slice(text.between.as_bytes());
        self.put_node(target, names);
        if let Some(before) = text.weight {
            self.out.extend_from_slice(before.as_bytes());
            self.weights.put(code, &mut self.out);
        }
        self.out.extend_from_slice(text.after.as_bytes());
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

    /// Appends neighbors of a node, numbered from 1, to its line.
    fn put_metis(
        &mut self,
        segment: &Segment<'_>,
        has_weights: bool,
        mut flush: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<()> {
        for (at, &other) in segment.others.iter().enumerate() {
            if at > 0 || !segment.is_first {
                self.out.push(b' ');
            }
            self.put_number(u64::from(other) + 1);
            if has_weights {
                let code = segment.codes.get(at).copied().unwrap_or(Weight::ONE.code());
                let weight = Weight::from_code(code).value();
                if weight.fract() != 0.0 || weight > METIS_WEIGHT_MAX {
                    return Err(not_whole(weight, [segment.node, other]));
                }
                self.out.push(b' ');
                self.put_number(weight as u64);
            }
            if !flush(&mut self.out) {
                return Ok(());
            }
        }
        if segment.is_last {
            self.out.push(b'\n');
        }
        Ok(())
    }

    /// Appends entries of a node, numbered from 0, to its line; they are in ascending order.
    fn put_mcl(
        &mut self,
        segment: &Segment<'_>,
        has_weights: bool,
        mut flush: impl FnMut(&mut Vec<u8>) -> bool,
    ) {
        let node = segment.node;
        if segment.is_first {
            self.put_number(u64::from(node));
            self.pending = segment.own;
        }
        for (at, &other) in segment.others.iter().enumerate() {
            if other > node {
                self.put_own_entry(node, has_weights);
            }
            let code = segment.codes.get(at).copied().unwrap_or(Weight::ONE.code());
            self.put_entry(other, code, has_weights);
            if !flush(&mut self.out) {
                return;
            }
        }
        if segment.is_last {
            self.put_own_entry(node, has_weights);
            self.out.extend_from_slice(b" $\n");
        }
    }

    fn put_own_entry(&mut self, node: u32, has_weights: bool) {
        if let Some(own) = self.pending.take() {
            self.put_entry(node, own, has_weights);
        }
    }

    fn put_entry(&mut self, node: u32, code: u32, has_weights: bool) {
        self.out.push(b' ');
        self.put_number(u64::from(node));
        if has_weights {
            self.out.push(b':');
            self.weights.put(code, &mut self.out);
        }
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
