//! Chunk of the input: its edges, and what the reader counts and reports.

use crate::ids::EdgeChunk;
use crate::input::fault::{LineFault, Origin};

/// Piece of a file as text or rows, and the edges in it, or the names of a node list.
#[derive(Debug, Default)]
pub(in crate::input) struct ParsedChunk {
    /// Its edges or names, once it is parsed.
    pub(in crate::input) edges: EdgeChunk,
    pub(in crate::input) used: usize,
    pub(in crate::input) origin: Origin,
    /// Start of the next chunk, if it is known.
    pub(in crate::input) next: Option<Origin>,
    pub(in crate::input) lines: u64,
    /// Number of edges that only make a node: its loops of weight 0, which no file has.
    pub(in crate::input) alone: u64,
    pub(in crate::input) done_bytes: u64,
    pub(in crate::input) faults: Vec<LineFault>,
    /// Lines that are comments.
    pub(in crate::input) comments: u64,
    /// Places of the faults, in a table.
    pub(in crate::input) cells: Vec<TableCell>,
    /// Whether nothing is left to parse, as with rows of a table or adjacency lists.
    pub(in crate::input) is_parsed: bool,
}

/// Place in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::input) struct TableCell {
    /// Row, from 1.
    pub(in crate::input) row: u64,
    /// 0 for the source, 1 for the target, 2 for the weight.
    pub(in crate::input) part: usize,
}
