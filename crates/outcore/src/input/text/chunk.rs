//! A chunk of the input and the edges in it.

use crate::input::NameRef;
use crate::input::fault::{LineFault, Origin};

/// A piece of a file as text, and the edges in it, or the names of a node list.
#[derive(Debug, Default)]
pub struct ParsedChunk {
    /// The text that names point into; bytes outside of names mean nothing.
    pub text: Vec<u8>,
    /// The names of the edges: source, target, source, target, ...; of a node list, one a node.
    pub names: Vec<NameRef>,
    /// Weight codes, one for each edge; 0 means weight 0: the nodes count, the edge does not.
    /// Empty if the input has no weights.
    pub weights: Vec<u32>,
    /// Whether the text is of the node list, so that there is no edge in it.
    pub is_node_list: bool,
    pub(in crate::input) used: usize,
    pub(in crate::input) origin: Origin,
    /// Where what comes behind it begins, if that is known yet.
    pub(in crate::input) next: Option<Origin>,
    pub(in crate::input) lines: u64,
    pub(in crate::input) done_bytes: u64,
    pub(in crate::input) faults: Vec<LineFault>,
    /// Where the faults are, in a table.
    pub(in crate::input) cells: Vec<TableCell>,
    /// Whether there is nothing left to parse: rows of a table, or adjacency lists.
    pub(in crate::input) is_parsed: bool,
}

impl ParsedChunk {
    /// The bytes of a name.
    #[inline]
    pub fn name(&self, name: &NameRef) -> &[u8] {
        &self.text[name.offset as usize..name.offset as usize + name.bytes as usize]
    }

    /// The line of every edge in its file, from 1.
    pub(crate) fn edge_lines(&self) -> impl Iterator<Item = u64> {
        let (mut line, mut counted) = (self.origin.line, 0);
        self.names.chunks_exact(2).enumerate().map(move |(row, names)| {
            if self.is_parsed {
                // Exact as long as no row was left out.
                return self.origin.line + row as u64;
            }
            let at = names[0].offset.min(names[1].offset) as usize;
            line += memchr::memchr_iter(b'\n', &self.text[counted..at]).count() as u64;
            counted = at;
            line
        })
    }

    /// Number of edges, those of weight 0 included.
    pub fn edge_count(&self) -> usize {
        if self.is_node_list { 0 } else { self.names.len() / 2 }
    }
}

/// A place in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::input) struct TableCell {
    /// From 1.
    pub(in crate::input) row: u64,
    /// 0 for the source, 1 for the target, 2 for the weight.
    pub(in crate::input) part: usize,
}
