//! Writer of the table of communities.

use super::plain::PlainWriter;
use super::table::{OutputColumn, Value, ValueKind};
use crate::error::Result;
use crate::io::Files;
use std::path::Path;

/// Row of the table of communities.
pub(crate) struct SummaryRow<'a> {
    pub(crate) community: u64,
    pub(crate) size: u64,
    /// Name of the representative.
    pub(crate) representative: &'a [u8],
    /// Number of edges inside, without loops, and their weight, loops included.
    pub(crate) inner_edges: u64,
    pub(crate) inner_weight: f64,
    /// Weight of the edges that lead out.
    pub(crate) outer_weight: f64,
    /// Share of the pairs of nodes that have an edge; `None` for one node.
    pub(crate) density: Option<f64>,
    /// Outer weight relative to the strength of the nodes inside or of all others, whichever is smaller; `None` if one of
    /// them has none.
    pub(crate) conductance: Option<f64>,
    /// Mean stability of the nodes, if it is known.
    pub(crate) stability: Option<f64>,
    /// Community to which most of the outer weight leads, and that weight.
    pub(crate) neighbor: Option<(u64, f64)>,
}

/// Writer of the table of communities: text has tabs and begins with the names of the columns.
pub(crate) struct SummaryWriter {
    rows: PlainWriter,
    has_stability: bool,
}

impl SummaryWriter {
    /// Starts writing `path`; `-` is standard output.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn create(files: &Files, path: &Path, has_stability: bool) -> Result<Self> {
        use ValueKind::{Number, Real, Text};
        let columns = [
            ("community", Number, false),
            ("size", Number, false),
            ("representative", Text, false),
            ("inner_edges", Number, false),
            ("inner_weight", Real, false),
            ("outer_weight", Real, false),
            ("density", Real, true),
            ("conductance", Real, true),
            ("stability", Real, false),
            ("neighbor", Number, true),
            ("neighbor_weight", Real, true),
        ];
        let columns: Vec<OutputColumn> = columns
            .into_iter()
            .filter(|(name, ..)| has_stability || *name != "stability")
            .map(|(name, kind, is_optional)| OutputColumn { name: name.into(), kind, is_optional })
            .collect();
        Ok(Self { rows: PlainWriter::create(files, path, &columns, true)?, has_stability })
    }

    /// Adds a community.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path; `BadInput` for a name that a table cannot hold.
    pub(crate) fn push(&mut self, row: &SummaryRow<'_>) -> Result<()> {
        let weight = |value: Option<f64>| value.map_or(Value::None, Value::Weight);
        let stability = self.has_stability.then(|| row.stability.map_or(Value::None, Value::Share));
        let first = [
            Value::Number(row.community),
            Value::Number(row.size),
            Value::Name(row.representative),
            Value::Number(row.inner_edges),
            Value::Weight(row.inner_weight),
            Value::Weight(row.outer_weight),
            weight(row.density),
            weight(row.conductance),
        ];
        let last = [
            row.neighbor.map_or(Value::None, |(community, _)| Value::Number(community)),
            weight(row.neighbor.map(|(_, weight)| weight)),
        ];
        self.rows.push(first.into_iter().chain(stability).chain(last))
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub(crate) fn finish(self) -> Result<u64> {
        self.rows.finish()
    }
}
