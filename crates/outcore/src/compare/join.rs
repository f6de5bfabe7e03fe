//! Join of two files by the names of nodes.

use super::comparison_rows::{Row, Shared};
use super::{NONE, SORTS};
use crate::error::Result;
use crate::present::{Rows, Workbench};
use crate::sort::SortedRows;

/// Nodes of both files, by pair of communities.
pub(super) struct Joined {
    pub(super) shared: SortedRows<Shared>,
    pub(super) counts: NodeCounts,
    /// Rows of the earliest contradiction in each file: two with the same name, but different communities.
    pub(super) conflicts: [Option<Conflict>; 2],
}

/// Numbers of nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NodeCounts {
    pub(super) both: u64,
    pub(super) only_a: u64,
    pub(super) only_b: u64,
}

/// Two rows with the same name and different communities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Conflict {
    pub(super) first: Row,
    pub(super) second: Row,
}

impl NodeCounts {
    /// Counts a node by its communities, of which one may be [`NONE`].
    pub(super) fn add(&mut self, a: u64, b: u64) {
        *match (a, b) {
            (_, NONE) => &mut self.only_a,
            (NONE, _) => &mut self.only_b,
            _ => &mut self.both,
        } += 1;
    }
}

/// Reader of nodes, each once.
struct Nodes<'a> {
    rows: Rows<'a, Row>,
    conflict: Option<Conflict>,
}

impl Nodes<'_> {
    /// Returns the next node, with the first row that names it.
    fn next(&mut self) -> Result<Option<Row>> {
        let Some(mut first) = self.rows.next()? else { return Ok(None) };
        let (name, mut second) = (first.name, None::<Row>);
        while let Some(row) = self.rows.next_if(|row| row.name == name)? {
            if row.label == first.label {
                first.row = first.row.min(row.row);
            } else if row.row < first.row {
                second = Some(std::mem::replace(&mut first, row));
            } else if second.is_none_or(|known| row.row < known.row) {
                second = Some(row);
            }
        }
        if let Some(second) = second
            && self.conflict.is_none_or(|known| second.row < known.second.row)
        {
            self.conflict = Some(Conflict { first, second });
        }
        Ok(Some(first))
    }
}

/// Joins two files. The rows of nodes are those in the second file if `names_by_b`.
///
/// # Errors
/// `Io`, `DiskFull`, `CorruptFile`, `Interrupted`.
pub(super) fn join(
    bench: &Workbench<'_>,
    a: SortedRows<Row>,
    b: SortedRows<Row>,
    names_by_b: bool,
) -> Result<Joined> {
    let mut sorter = bench.rows(SORTS)?;
    let mut counts = NodeCounts::default();
    let [mut all_a, mut all_b] =
        [a, b].map(|rows| Nodes { rows: bench.read(rows), conflict: None });
    let (mut next_a, mut next_b) = (all_a.next()?, all_b.next()?);
    loop {
        let (from_a, from_b) = match (next_a, next_b) {
            (None, None) => break,
            (Some(a), Some(b)) => {
                let (name_a, name_b) = (u128::from(a.name), u128::from(b.name));
                (next_a.filter(|_| name_a <= name_b), next_b.filter(|_| name_b <= name_a))
            }
            one => one,
        };
        let [a, b] = [from_a, from_b].map(|node| node.map_or(NONE, |node| node.label));
        let named_by = if names_by_b { from_b } else { from_a };
        counts.add(a, b);
        sorter.add(Shared { a, b, row: named_by.map_or(0, |node| node.row) })?;
        if from_a.is_some() {
            next_a = all_a.next()?;
        }
        if from_b.is_some() {
            next_b = all_b.next()?;
        }
    }
    let conflicts = [all_a.conflict, all_b.conflict];
    drop((all_a, all_b));
    Ok(Joined { shared: sorter.finish()?, counts, conflicts })
}
