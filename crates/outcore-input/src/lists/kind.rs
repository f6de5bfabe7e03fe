//! Description of a format and its reader.

use super::edges::ListEdges;
use super::words::Words;
use crate::options::EdgeFormat;
use crate::sink::Progress;

/// Format of a graph, or of communities, that is not one edge per line: a row of [`KINDS`](super::KINDS).
#[derive(Debug)]
pub(crate) struct ListKind {
    /// Value of `--format` that selects it, if it holds edges; otherwise, it holds communities.
    pub(crate) format: Option<EdgeFormat>,
    pub(crate) name: &'static str,
    /// One line of documentation: what is read, and how it is recognized.
    pub(crate) doc: &'static str,
    /// Endings of names, in lower case.
    pub(crate) endings: &'static [&'static str],
    /// How nodes are named and what is left out.
    pub(super) nodes: &'static str,
    /// What weights are; empty if there are none.
    pub(super) weights: &'static str,
    /// Returns whether these are the first bytes of such a file, whose name ends as it should or not.
    pub(super) is: fn(&[u8], bool) -> bool,
    /// Reads a file to its end, or until no more edges are wanted.
    pub(super) read: ReadList,
}

impl ListKind {
    /// Describes what is read.
    pub(crate) fn entries(&self) -> String {
        if self.weights.is_empty() {
            self.nodes.into()
        } else {
            format!("{}, {}", self.nodes, self.weights)
        }
    }
}

pub(super) type ReadList = fn(&mut Words, &mut ListEdges<'_>) -> Progress;
