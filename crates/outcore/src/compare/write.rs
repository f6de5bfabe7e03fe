//! Tables of overlaps and of nodes that moved.
//!
//! Names of communities that are text are looked up by sorting: the labels that rows need are sorted, read beside the
//! names, and the names, in pieces, sorted back into the order of the rows. So rows may be in any order, and names of any length.

use super::community_names::{NameReader, Names};
use super::comparison_rows::{Named, Overlap};
use super::overlaps::{Kept, array};
use super::side::{Source, pairs};
use super::{CompareOptions, SORTS};
use crate::error::{Error, ErrorKind, Result};
use crate::input::Batch;
use crate::io::{Array, ArrayWriter};
use crate::output::{OutputColumn, RowFile, RowWriter, Value, ValueKind};
use crate::present::Workbench;
use crate::present::presentation_rows::{NamePiece, SortedNames};
use crate::progress::{Event, REPORT_NODES, notify};
use crate::sort::RowSorter;
use std::cmp::Reverse;

/// Names of communities in the order of the rows of a table.
enum Cells {
    /// The labels.
    Numbers,
    /// Rows have ascending labels.
    Ascending(NameReader),
    /// Names were sorted into the order of rows.
    Placed(SortedNames),
}

impl Cells {
    fn column(name: &str, names: &Names) -> OutputColumn {
        let kind = match names {
            Names::Numbers => ValueKind::Number,
            Names::Text { .. } => ValueKind::Text,
        };
        OutputColumn::new(name, kind)
    }

    /// Returns the cell of the next row.
    fn next(&mut self, label: u64) -> Result<Value<'_>> {
        match self {
            Self::Numbers => Ok(Value::Number(label)),
            Self::Ascending(names) => names.name(label).map(Value::Name),
            Self::Placed(names) => Ok(Value::Name(names.next()?.map_or(&[], |(_, name)| name))),
        }
    }
}

/// Labels of rows whose names are looked up.
struct Wanted {
    sorter: RowSorter<Named>,
    count: u64,
}

impl Wanted {
    /// Starts with no rows; `None` if labels are the names themselves.
    fn new(bench: &Workbench<'_>, names: &Names) -> Result<Option<Self>> {
        match names {
            Names::Numbers => Ok(None),
            Names::Text { .. } => Ok(Some(Self { sorter: bench.rows(SORTS)?, count: 0 })),
        }
    }

    /// Adds the label of the next row.
    fn push(&mut self, label: u64) -> Result<()> {
        self.sorter.add(Named { label, row: self.count })?;
        self.count += 1;
        Ok(())
    }

    fn resolve(self, bench: &Workbench<'_>, names: &Names) -> Result<Cells> {
        let mut names = names.read(bench.files)?;
        let mut sorter = bench.rows(SORTS)?;
        bench.for_each(self.sorter.finish()?, |named| {
            NamePiece::at(named.row, 0, 0.0).add(names.name(named.label)?, &mut sorter)
        })?;
        SortedNames::new(sorter).map(Cells::Placed)
    }
}

/// Writer of all overlaps.
pub(super) struct OverlapWriter {
    table: RowWriter,
    a: Cells,
    /// Rows whose names of communities of B are not known yet, if these are text.
    waiting: Option<(ArrayWriter<u64>, Wanted)>,
}

impl OverlapWriter {
    /// Starts the table, if it is requested.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(super) fn create(
        bench: &Workbench<'_>,
        options: &CompareOptions,
        [a, b]: &[Names; 2],
    ) -> Result<Option<Self>> {
        let Some(output) = &options.output else { return Ok(None) };
        let columns = [
            Cells::column("a", a),
            Cells::column("b", b),
            OutputColumn::new("shared", ValueKind::Number),
            OutputColumn::new("size_a", ValueKind::Number),
            OutputColumn::new("size_b", ValueKind::Number),
            OutputColumn::new("jaccard", ValueKind::Real),
        ];
        let file = RowFile::new(output, options.output_header);
        let table = RowWriter::create(bench.files, file, &columns)?;
        let waiting = match Wanted::new(bench, b)? {
            None => None,
            Some(wanted) => Some((array(bench, "overlaps")?, wanted)),
        };
        let a = match a {
            Names::Numbers => Cells::Numbers,
            names => Cells::Ascending(names.read(bench.files)?),
        };
        Ok(Some(Self { table, a, waiting }))
    }

    /// Adds an overlap; those of a community of A come together, in their order.
    pub(super) fn push(&mut self, pair: &Overlap) -> Result<()> {
        let Some((waiting, wanted)) = &mut self.waiting else {
            return put(&mut self.table, self.a.next(pair.a)?, Value::Number(pair.b), pair);
        };
        let &Overlap { a, b, shared, size_a, size_b, .. } = pair;
        waiting.push_row([a, b, shared.0, size_a, size_b])?;
        wanted.push(b)
    }

    pub(super) fn finish(mut self, bench: &Workbench<'_>, names: &[Names; 2]) -> Result<u64> {
        if let Some((waiting, wanted)) = self.waiting {
            let mut names = wanted.resolve(bench, &names[1])?;
            let mut pairs = waiting.finish()?.read(bench.files, u64::MAX)?;
            while let Some([a, b, shared, size_a, size_b]) = pairs.next_row()? {
                let shared = Reverse(shared);
                let pair = Overlap { a, shared, b, size_a, size_b, is_best_of_b: false };
                put(&mut self.table, self.a.next(a)?, names.next(b)?, &pair)?;
            }
        }
        self.table.finish()
    }
}

fn put(table: &mut RowWriter, a: Value<'_>, b: Value<'_>, pair: &Overlap) -> Result<()> {
    let numbers = [pair.shared.0, pair.size_a, pair.size_b].map(Value::Number);
    let jaccard = Value::Weight(pair.jaccard());
    table.push([a, b].into_iter().chain(numbers).chain([jaccard]))
}

/// Writes the nodes that moved, with their communities in A and in B, in the order of the file `named_by`, which is read
/// again for their names. Returns the length of the output in bytes.
///
/// # Errors
/// `InputChanged` if that file is shorter than it was; `Io`, `DiskFull`, `Interrupted`.
pub(super) fn write_moved(
    bench: &Workbench<'_>,
    kept: &Kept,
    named_by: Source<'_>,
    names: &[Names; 2],
    file: RowFile<'_>,
) -> Result<u64> {
    let (nodes, [mut of_a, mut of_b]) = place(bench, kept, names)?;
    let mut reader = named_by.open(bench.files)?;
    let columns = [
        OutputColumn::of_nodes("node", reader.name_type(), ValueKind::Text),
        Cells::column("a", &names[0]),
        Cells::column("b", &names[1]),
    ];
    let mut table = RowWriter::create(bench.files, file, &columns)?;
    let mut moved = nodes.read(bench.files, u64::MAX)?;
    let mut next = moved.next_row()?;
    let (mut batch, mut row, mut done) = (Batch::default(), 0u64, 0u64);
    while next.is_some() && reader.next_batch(&mut batch)? {
        for chunk in &batch.chunks {
            for [name, _] in pairs(chunk) {
                if let Some([_, a, b]) = next.filter(|node| node[0] == row) {
                    table.push([Value::Name(chunk.name(name)), of_a.next(a)?, of_b.next(b)?])?;
                    next = moved.next_row()?;
                    done += 1;
                    if done.is_multiple_of(REPORT_NODES) {
                        notify(bench.observer, Event::Advance { done })?;
                    }
                }
                row += 1;
            }
        }
    }
    if next.is_some() {
        let message = format!("`{}` has changed while it was read", named_by.path.display());
        return Err(Error::new(ErrorKind::InputChanged, message)
            .hint("run the command again when nothing writes to it"));
    }
    table.finish()
}

/// Sorts moved nodes by their rows into a temporary file, and looks up the names of their communities.
fn place(
    bench: &Workbench<'_>,
    kept: &Kept,
    names: &[Names; 2],
) -> Result<(Array<u64>, [Cells; 2])> {
    let mut nodes = array(bench, "moved")?;
    let [mut a, mut b] = [Wanted::new(bench, &names[0])?, Wanted::new(bench, &names[1])?];
    bench.for_each(kept.moved(bench)?, |node| {
        nodes.push_row([node.row, node.a, node.b])?;
        a.as_mut().map_or(Ok(()), |wanted| wanted.push(node.a))?;
        b.as_mut().map_or(Ok(()), |wanted| wanted.push(node.b))
    })?;
    let resolve = |wanted: Option<Wanted>, names| match wanted {
        None => Ok(Cells::Numbers),
        Some(wanted) => wanted.resolve(bench, names),
    };
    let cells = [resolve(a, &names[0])?, resolve(b, &names[1])?];
    Ok((nodes.finish()?, cells))
}
