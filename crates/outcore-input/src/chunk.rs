//! Chunk of the input: its edges, its bad lines as a few numbers each, and what the reader counts and reports.

use outcore_graph::ids::EdgeChunk;
use std::ops::Range;
use std::path::Path;

/// Bytes after the text that may be loaded but have no meaning.
pub(crate) const PADDING: usize = 32;

/// Problem with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The line has only this many columns.
    MissingColumn(u32),
    EmptySource,
    EmptyTarget,
    /// In a list of nodes.
    EmptyNode,
    NameTooLong,
    /// In a table; no line of text can hold such a name.
    LineEndInName,
    EmptyWeight,
    WeightNotNumber,
    WeightNegative,
    WeightInfinite,
    WeightNan,
    /// If names are text.
    NotUtf8,
    /// Distance whose reciprocal is not a number.
    DistanceZero,
    /// Community that is not a number, where numbers are required.
    CommunityNotNumber,
    /// Index that is not a row of the Matrix Market file.
    NoRow,
    /// More columns than the header names.
    ExtraColumn,
    HeaderAgain,
    /// Name that stands for a missing value.
    MissingName,
    /// Fraction as a name, in a column of whole numbers.
    FractionName,
    /// Line that begins like a comment, and has the columns of an edge.
    CommentOrEdge,
    /// Quote that is not closed before the line ends.
    OpenQuote,
    TextAfterQuote,
    LineTooLong,
}

/// Bad line; positions are in the chunk's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineFault {
    pub(crate) problem: Problem,
    pub(crate) line_start: u32,
    /// End of the line, without its line end.
    pub(crate) line_end: u32,
    /// Start of the field at fault.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Row of a table, from the first one of the chunk, and what is at fault: 0 for the source, 1 for the target, 2 for
    /// the weight.
    pub(crate) cell: (u32, u32),
}

impl LineFault {
    /// Creates a fault of a line with the position of the field at fault.
    pub(crate) fn new(problem: Problem, line: Range<usize>, field: Range<usize>) -> Self {
        Self {
            problem,
            line_start: line.start as u32,
            line_end: line.end as u32,
            start: field.start as u32,
            end: field.end as u32,
            cell: (0, 0),
        }
    }
}

/// Bad line or row, in its chunk and in its file.
#[derive(Clone, Copy)]
pub(crate) struct BadLine<'a> {
    pub(crate) fault: &'a LineFault,
    /// Text and origin of the chunk.
    pub(crate) text: &'a [u8],
    pub(crate) origin: &'a Origin,
    /// Number of the line in the file.
    pub(crate) line: u64,
    pub(crate) path: &'a Path,
    /// Whether the error may suggest skipping bad lines.
    pub(crate) can_skip: bool,
}

/// Position of a chunk's text in the input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Origin {
    /// Index of the file.
    pub(crate) file: usize,
    /// Byte offset of the text in the decompressed file.
    pub(crate) byte: u64,
    /// Number of the text's first line, from 1.
    pub(crate) line: u64,
}

/// Piece of a file as text or rows, and the edges in it, or the names of a node list.
#[derive(Debug, Default)]
pub(crate) struct ParsedChunk {
    /// Edges or names, once the chunk is parsed. Rows of tables and adjacency lists arrive parsed, lines do not.
    pub(crate) edges: EdgeChunk,
    pub(crate) used: usize,
    pub(crate) origin: Origin,
    /// Start of the next chunk, if it is known.
    pub(crate) next: Option<Origin>,
    pub(crate) lines: u64,
    /// Number of edges that only add a node: loops of weight 0 that the reader made, which no file has.
    pub(crate) alone: u64,
    pub(crate) done_bytes: u64,
    pub(crate) faults: Vec<LineFault>,
    /// Lines that are comments.
    pub(crate) comments: u64,
}
