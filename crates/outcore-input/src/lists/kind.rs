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
    /// Texts, in lower case, of which the first bytes have one if edges have directions.
    pub(super) arcs: &'static [&'static str],
    /// Whether the file names its values, as a header names columns.
    pub(super) has_names: bool,
    /// Whether lines may be comments with a prefix of the user's.
    pub(super) has_comments: bool,
    /// Whether nodes may have labels, which are their names if each has one of its own.
    pub(super) has_labels: bool,
    /// Whether nodes have paths from the module at the top down.
    pub(super) has_paths: bool,
    /// Returns whether these are the first bytes of such a file; the flag says whether its name has one of the endings.
    pub(super) is: fn(&[u8], bool) -> bool,
    /// Reads a file to its end, or until no more edges are wanted.
    pub(super) read: ReadList,
}

/// What a row has if it does not say otherwise.
pub(super) const PLAIN: ListKind = ListKind {
    format: None,
    name: "",
    doc: "",
    endings: &[],
    nodes: "",
    weights: "",
    arcs: &[],
    has_names: false,
    has_comments: false,
    has_labels: false,
    has_paths: false,
    is: |_, _| false,
    read: |_, _| Ok(()),
};

impl ListKind {
    /// Describes what is read.
    pub(crate) fn entries(&self) -> String {
        let nodes = match self.has_labels {
            true => self.nodes.replace("by ", "by label or "),
            false => self.nodes.into(),
        };
        if self.weights.is_empty() { nodes } else { format!("{nodes}, {}", self.weights) }
    }
}

pub(super) type ReadList = fn(&mut Words, &mut ListEdges<'_>) -> Progress;
