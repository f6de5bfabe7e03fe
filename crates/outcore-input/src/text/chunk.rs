//! Chunk of the input: its edges, and what the reader counts and reports.

use crate::fault::{LineFault, Origin};
use outcore_graph::ids::EdgeChunk;

/// Piece of a file as text or rows, and the edges in it, or the names of a node list.
#[derive(Debug, Default)]
pub(crate) struct ParsedChunk {
    /// Its edges or names, once it is parsed.
    pub(crate) edges: EdgeChunk,
    pub(crate) used: usize,
    pub(crate) origin: Origin,
    /// Start of the next chunk, if it is known.
    pub(crate) next: Option<Origin>,
    pub(crate) lines: u64,
    /// Number of edges that only make a node: its loops of weight 0, which no file has.
    pub(crate) alone: u64,
    pub(crate) done_bytes: u64,
    pub(crate) faults: Vec<LineFault>,
    /// Lines that are comments.
    pub(crate) comments: u64,
    /// Places of the faults, in a table.
    pub(crate) cells: Vec<TableCell>,
    /// Whether nothing is left to parse, as with rows of a table or adjacency lists.
    pub(crate) is_parsed: bool,
}

/// Place in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableCell {
    /// Row, from 1.
    pub(crate) row: u64,
    /// 0 for the source, 1 for the target, 2 for the weight.
    pub(crate) part: usize,
}
