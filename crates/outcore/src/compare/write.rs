//! Tables of overlaps and of nodes that moved.
//!
//! Names of communities that are text are looked up by sorting: the labels that rows need are sorted, read beside the
//! names, and the names, in pieces, sorted back into the order of the rows. So rows may be in any order, and names of any length.

use super::names::{NameReader, Names};
use super::overlaps::Kept;
use super::record::{Overlap, Shared};
use super::side::{Source, pairs};
use super::{CompareOptions, SORTS};
use crate::error::{Error, ErrorKind, Result};
use crate::input::Batch;
use crate::io::{Array, ArrayReader, ArrayWriter};
use crate::output::{OutputColumn, PlainWriter, Value, ValueKind};
use crate::present::record::NamePiece;
use crate::present::{Workbench, put_name};
use crate::progress::{Event, REPORT_NODES, notify};
use crate::sort::{PUSHED, Pair, Sorted, Sorter};
use std::path::Path;

/// Names of communities in the order of the rows of a table.
enum Cells {
    /// The labels.
    Numbers,
    /// Rows have ascending labels.
    Ascending(NameReader),
    Placed(PlacedNames),
}

/// Names that were sorted into the order of rows.
struct PlacedNames {
    sorted: Sorted<NamePiece>,
    block: Vec<NamePiece>,
    at: usize,
    name: Vec<u8>,
}

impl Cells {
    fn kind(names: &Names) -> ValueKind {
        match names {
            Names::Numbers => ValueKind::Number,
            Names::Text { .. } => ValueKind::Text,
        }
    }

    /// Returns the cell of the next row.
    fn next(&mut self, label: u64) -> Result<Value<'_>> {
        match self {
            Self::Numbers => Ok(Value::Number(label)),
            Self::Ascending(names) => names.name(label).map(Value::Name),
            Self::Placed(names) => names.next().map(Value::Name),
        }
    }
}

impl PlacedNames {
    fn next(&mut self) -> Result<&[u8]> {
        self.name.clear();
        loop {
            if self.at == self.block.len() {
                self.block.clear();
                self.at = 0;
                match self.sorted.next_block()? {
                    Some(block) => self.block.extend_from_slice(block),
                    None => return Ok(&self.name),
                }
            }
            let piece = &self.block[self.at];
            self.at += 1;
            self.name.extend_from_slice(&piece.bytes[..usize::from(piece.len)]);
            if piece.is_last {
                return Ok(&self.name);
            }
        }
    }
}

/// Labels of rows whose names are looked up.
struct Wanted {
    sorter: Sorter<Pair>,
    labels: Vec<Pair>,
    count: u64,
}

impl Wanted {
    fn new(bench: &Workbench<'_>) -> Result<Self> {
        Ok(Self { sorter: bench.sorter(SORTS)?, labels: Vec::with_capacity(PUSHED), count: 0 })
    }

    /// Adds the label of the next row.
    fn push(&mut self, label: u64) -> Result<()> {
        self.labels.push(Pair { key: label, value: self.count });
        self.count += 1;
        if self.labels.len() == PUSHED {
            self.sorter.push(&self.labels)?;
            self.labels.clear();
        }
        Ok(())
    }

    fn resolve(mut self, bench: &Workbench<'_>, names: &Names) -> Result<Cells> {
        self.sorter.push(&self.labels)?;
        let mut sorted = self.sorter.finish()?;
        let mut names = names.read(bench.files)?;
        let mut sorter = bench.sorter::<NamePiece>(SORTS)?;
        let mut pieces = Vec::new();
        while let Some(block) = sorted.next_block()? {
            for pair in block {
                let of = NamePiece { number: pair.value, ..NamePiece::default() };
                put_name(of, names.name(pair.key)?, &mut pieces);
                sorter.push(&pieces)?;
                pieces.clear();
            }
            notify(bench.observer, Event::Advance { done: u64::from(u32::MAX) })?;
        }
        drop(sorted);
        let (sorted, block, at, name) = (sorter.finish()?, Vec::new(), 0, Vec::new());
        Ok(Cells::Placed(PlacedNames { sorted, block, at, name }))
    }
}

/// Writer of all overlaps.
pub(super) struct OverlapWriter {
    table: PlainWriter,
    a: Cells,
    /// Rows that wait for the names of communities of B, if these are text.
    waiting: Option<(ArrayWriter<u64>, Wanted)>,
}

/// Numbers of an overlap in a temporary file.
const WORDS: u64 = 5;

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
            ("a", Cells::kind(a)),
            ("b", Cells::kind(b)),
            ("shared", ValueKind::Number),
            ("size_a", ValueKind::Number),
            ("size_b", ValueKind::Number),
            ("jaccard", ValueKind::Real),
        ]
        .map(|(name, kind)| OutputColumn::new(name, kind));
        let table = PlainWriter::create(bench.files, output, &columns, options.output_header)?;
        let waiting = match b {
            Names::Numbers => None,
            Names::Text { .. } => {
                let path = bench.scratch.join("overlaps");
                Some((ArrayWriter::create(bench.files, &path, u64::MAX)?, Wanted::new(bench)?))
            }
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
        for number in [pair.a, pair.b, pair.shared, pair.size_a, pair.size_b] {
            waiting.push(number)?;
        }
        wanted.push(pair.b)
    }

    pub(super) fn finish(mut self, bench: &Workbench<'_>, names: &[Names; 2]) -> Result<u64> {
        if let Some((waiting, wanted)) = self.waiting {
            let pairs = waiting.finish()?;
            let mut b = wanted.resolve(bench, &names[1])?;
            let mut reader = pairs.read(bench.files, u64::MAX)?;
            for _ in 0..pairs.count / WORDS {
                let pair = overlap(&mut reader)?;
                put(&mut self.table, self.a.next(pair.a)?, b.next(pair.b)?, &pair)?;
            }
        }
        self.table.finish()
    }
}

fn overlap(reader: &mut ArrayReader<u64>) -> Result<Overlap> {
    Ok(Overlap {
        a: reader.number()?,
        b: reader.number()?,
        shared: reader.number()?,
        size_a: reader.number()?,
        size_b: reader.number()?,
        is_best_of_b: false,
    })
}

fn put(table: &mut PlainWriter, a: Value<'_>, b: Value<'_>, pair: &Overlap) -> Result<()> {
    let numbers = [pair.shared, pair.size_a, pair.size_b].map(Value::Number);
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
    (output, has_header): (&Path, bool),
) -> Result<u64> {
    let (nodes, mut cells) = place(bench, kept, names)?;
    let columns =
        [("node", ValueKind::Text), ("a", Cells::kind(&names[0])), ("b", Cells::kind(&names[1]))];
    let columns = columns.map(|(name, kind)| OutputColumn::new(name, kind));
    let mut table = PlainWriter::create(bench.files, output, &columns, has_header)?;
    let mut moved = nodes.read(bench.files, u64::MAX)?;
    let mut next = moved.next_number()?;
    let mut reader = named_by.open(bench.files)?;
    let (mut batch, mut row, mut done) = (Batch::default(), 0u64, 0u64);
    while next.is_some() && reader.next_batch(&mut batch)? {
        for chunk in &batch.chunks {
            for [name, _] in pairs(chunk) {
                if next == Some(row) {
                    let (a, b) = (moved.number()?, moved.number()?);
                    let [of_a, of_b] = &mut cells;
                    table.push([Value::Name(chunk.name(name)), of_a.next(a)?, of_b.next(b)?])?;
                    next = moved.next_number()?;
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
    let mut sorted = kept.moved(bench)?;
    let mut nodes = ArrayWriter::create(bench.files, &bench.scratch.join("moved"), u64::MAX)?;
    let wanted = |names: &Names| match names {
        Names::Numbers => Ok(None),
        Names::Text { .. } => Wanted::new(bench).map(Some),
    };
    let [mut a, mut b] = [wanted(&names[0])?, wanted(&names[1])?];
    while let Some(block) = sorted.next_block()? {
        for node in block {
            let Shared { a: label_a, b: label_b, row } = node.0;
            for number in [row, label_a, label_b] {
                nodes.push(number)?;
            }
            a.as_mut().map_or(Ok(()), |wanted| wanted.push(label_a))?;
            b.as_mut().map_or(Ok(()), |wanted| wanted.push(label_b))?;
        }
        notify(bench.observer, Event::Advance { done: 0 })?;
    }
    drop(sorted);
    let resolve = |wanted: Option<Wanted>, names| match wanted {
        None => Ok(Cells::Numbers),
        Some(wanted) => wanted.resolve(bench, names),
    };
    let cells = [resolve(a, &names[0])?, resolve(b, &names[1])?];
    Ok((nodes.finish()?, cells))
}
