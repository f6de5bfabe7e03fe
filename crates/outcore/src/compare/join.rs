//! Join of two files by the names of nodes.

use super::record::{Row, Shared};
use super::{NONE, SORTS};
use crate::error::Result;
use crate::membership::whole;
use crate::present::Workbench;
use crate::progress::{Event, notify};
use crate::sort::{PUSHED, Sorted};

/// Nodes of both files, by pair of communities.
pub(super) struct Joined {
    pub(super) shared: Sorted<Shared>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Conflict {
    pub(super) first: Row,
    pub(super) second: Row,
}

/// Reader of nodes, each once.
struct Nodes {
    sorted: Sorted<Row>,
    block: Vec<Row>,
    at: usize,
    conflict: Option<Conflict>,
}

impl Nodes {
    fn new(sorted: Sorted<Row>) -> Self {
        Self { sorted, block: Vec::new(), at: 0, conflict: None }
    }

    fn peek(&mut self) -> Result<Option<Row>> {
        if self.at == self.block.len() {
            self.block.clear();
            self.at = 0;
            if let Some(block) = self.sorted.next_block()? {
                self.block.extend_from_slice(block);
            }
        }
        Ok(self.block.get(self.at).copied())
    }

    /// Returns the next node, with the first row that names it.
    fn next(&mut self) -> Result<Option<Row>> {
        let Some(mut first) = self.peek()? else { return Ok(None) };
        self.at += 1;
        let mut second: Option<Row> = None;
        while let Some(row) = self.peek()?.filter(|row| row.name == first.name) {
            self.at += 1;
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
    a: Sorted<Row>,
    b: Sorted<Row>,
    names_by_b: bool,
) -> Result<Joined> {
    let mut sorter = bench.sorter::<Shared>(SORTS)?;
    let mut counts = NodeCounts::default();
    let (mut all_a, mut all_b) = (Nodes::new(a), Nodes::new(b));
    let (mut next_a, mut next_b) = (all_a.next()?, all_b.next()?);
    let mut nodes = Vec::with_capacity(PUSHED);
    let mut done = 0;
    loop {
        let (from_a, from_b) = match (next_a, next_b) {
            (None, None) => break,
            (Some(a), Some(b)) => {
                let (name_a, name_b) = (whole(a.name), whole(b.name));
                (next_a.filter(|_| name_a <= name_b), next_b.filter(|_| name_b <= name_a))
            }
            one => one,
        };
        match (from_a, from_b) {
            (Some(a), Some(b)) => {
                counts.both += 1;
                let row = if names_by_b { b.row } else { a.row };
                nodes.push(Shared { a: a.label, b: b.label, row });
            }
            (Some(a), None) => {
                counts.only_a += 1;
                nodes.push(Shared { a: a.label, b: NONE, row: 0 });
            }
            (None, b) => {
                counts.only_b += 1;
                nodes.extend(b.map(|b| Shared { a: NONE, b: b.label, row: 0 }));
            }
        }
        if from_a.is_some() {
            next_a = all_a.next()?;
        }
        if from_b.is_some() {
            next_b = all_b.next()?;
        }
        if nodes.len() == PUSHED {
            sorter.push(&nodes)?;
            done += nodes.len() as u64;
            nodes.clear();
            notify(bench.observer, Event::Advance { done })?;
        }
    }
    sorter.push(&nodes)?;
    let conflicts = [all_a.conflict, all_b.conflict];
    drop((all_a, all_b));
    Ok(Joined { shared: sorter.finish()?, counts, conflicts })
}
