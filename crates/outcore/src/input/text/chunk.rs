//! Chunk of the input and the edges in it.

use crate::input::NameRef;
use crate::input::fault::{LineFault, Origin};

/// Piece of a file as text, and the edges in it, or the names of a node list.
#[derive(Debug, Default)]
pub struct ParsedChunk {
    /// Text that names refer to; bytes outside of names have no meaning.
    pub text: Vec<u8>,
    /// Names of the edges (source, target, source, target, ...), or one name per node of a node list.
    pub names: Vec<NameRef>,
    /// Weight codes, one per edge; 0 is an edge of weight 0, which adds its nodes but no edge. Empty if the input has
    /// no weights.
    pub weights: Vec<u32>,
    /// Whether the text is of the node list, and so has no edges.
    pub is_node_list: bool,
    pub(in crate::input) used: usize,
    pub(in crate::input) origin: Origin,
    /// Start of the next chunk, if it is known.
    pub(in crate::input) next: Option<Origin>,
    pub(in crate::input) lines: u64,
    /// Number of edges that only make a node: its loops of weight 0, which no file has.
    pub(in crate::input) alone: u64,
    pub(in crate::input) done_bytes: u64,
    /// Line of each row, where lines have several rows or none.
    pub(in crate::input) row_lines: Vec<u64>,
    pub(in crate::input) faults: Vec<LineFault>,
    /// Lines that are comments.
    pub(in crate::input) comments: u64,
    /// Places of the faults, in a table.
    pub(in crate::input) cells: Vec<TableCell>,
    /// Whether nothing is left to parse, as with rows of a table or adjacency lists.
    pub(in crate::input) is_parsed: bool,
}

impl ParsedChunk {
    /// Returns the bytes of a name.
    #[inline]
    pub fn name(&self, name: &NameRef) -> &[u8] {
        &self.text[name.offset as usize..name.offset as usize + name.bytes as usize]
    }

    /// Returns the line of every edge in its file, from 1.
    pub(crate) fn edge_lines(&self) -> impl Iterator<Item = u64> {
        let (mut line, mut counted) = (self.origin.line, 0);
        self.names.chunks_exact(2).enumerate().map(move |(row, names)| {
            if let Some(&line) = self.row_lines.get(row) {
                return line;
            }
            if self.is_parsed {
                // Exact unless a row was left out.
                return self.origin.line + row as u64;
            }
            let at = names[0].offset.min(names[1].offset) as usize;
            line += memchr::memchr_iter(b'\n', &self.text[counted..at]).count() as u64;
            counted = at;
            line
        })
    }

    /// Returns the number of edges, including those of weight 0.
    pub fn edge_count(&self) -> usize {
        if self.is_node_list { 0 } else { self.names.len() / 2 }
    }
}

/// Place in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::input) struct TableCell {
    /// Row, from 1.
    pub(in crate::input) row: u64,
    /// 0 for the source, 1 for the target, 2 for the weight.
    pub(in crate::input) part: usize,
}
