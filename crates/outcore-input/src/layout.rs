//! Rules for splitting the lines of a file into fields.

use crate::options::{Delimiter, Rows};
use outcore_graph::weight::WeightTransform;

/// Mark that programs of Microsoft write at the beginning of UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Rules for splitting lines.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Layout {
    pub(crate) delimiter: Delimiter,
    /// Columns, from 0.
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
    pub(crate) transform: WeightTransform,
    /// Whether a column after the last required one is a fault, since the sampled lines have none.
    pub(crate) is_exact: bool,
    pub(crate) comment: Vec<u8>,
    /// Whether a comment that has the columns of an edge is a bad line, since the user did not say that it is a
    /// comment.
    pub(crate) doubts_comments: bool,
    pub(crate) rows: Rows,
    /// Whether lines are FASTA, with a name after `>`.
    pub(crate) is_fasta: bool,
    /// Text that stands for a missing name; empty if every text is a name.
    pub(crate) absent: Vec<u8>,
}

impl Layout {
    /// Creates a layout with names in the first two columns, separated by `delimiter`; no weights, no comments.
    pub(crate) fn of(delimiter: Delimiter) -> Self {
        Self {
            delimiter,
            source: 0,
            target: 1,
            weight: None,
            transform: WeightTransform::None,
            is_exact: false,
            comment: Vec::new(),
            doubts_comments: false,
            rows: Rows::Edges,
            is_fasta: false,
            absent: Vec::new(),
        }
    }

    /// Returns whether the names come first, and the columns between them and the weight can be counted by their
    /// delimiters.
    pub(crate) fn is_plain(&self) -> bool {
        let is_plain_weight = |weight| match self.delimiter {
            Delimiter::Byte(_) => weight >= 2,
            Delimiter::Spaces => weight == 2,
        };
        let is_checked = self.rows == Rows::NumberedMemberships || !self.absent.is_empty();
        let names_come_first = self.source == 0 && self.target == 1;
        names_come_first && !is_checked && self.weight.is_none_or(is_plain_weight)
    }

    pub(crate) fn last_column(&self) -> usize {
        self.source.max(self.target).max(self.weight.unwrap_or(0))
    }

    /// Returns the first role that a line of `columns` columns lacks, and its column from 1.
    pub(crate) fn first_role_after(&self, columns: usize) -> (&'static str, usize) {
        let [source, target] = self.rows.roles();
        let roles =
            [(source, Some(self.source)), (target, Some(self.target)), ("weight", self.weight)];
        roles
            .into_iter()
            .filter_map(|(role, column)| column.map(|column| (role, column + 1)))
            .filter(|&(_, column)| column > columns)
            .min_by_key(|&(_, column)| column)
            .unwrap_or(("edge", columns + 1))
    }

    /// Returns whether a line is a comment.
    pub(crate) fn is_comment(&self, line: &[u8]) -> bool {
        !self.comment.is_empty() && line.starts_with(&self.comment)
    }

    /// Returns whether a comment may be meant as an edge: its first name follows the prefix immediately.
    pub(crate) fn is_doubtful_comment(&self, line: &[u8]) -> bool {
        let next = line.get(self.comment.len());
        self.doubts_comments
            && next.is_some_and(|&byte| {
                !self.is_blank(byte) && byte != self.comment[0] && byte != b'!'
            })
    }

    /// Returns whether a line has nothing but spaces.
    pub(crate) fn is_empty(&self, line: &[u8]) -> bool {
        line.iter().all(|&byte| self.is_blank(byte))
    }

    /// Returns whether a byte is a space around fields.
    pub(crate) fn is_blank(&self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && self.delimiter != Delimiter::Byte(byte)
    }
}

/// Returns whether a line begins like a comment of other programs.
pub(crate) fn is_commented(line: &[u8]) -> bool {
    line == b"//" || line == b"--" || line.starts_with(b"// ") || line.starts_with(b"-- ")
}
