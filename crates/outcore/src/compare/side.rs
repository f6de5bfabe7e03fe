//! One of the two files, as rows sorted by name, each with the label of its community.
//!
//! If all communities are numbers, these are the labels. Otherwise the label of a community is the first row in which it
//! occurs: that takes one more sort, by community. Labels thus order the communities as a reader would.

use super::SORTS;
use super::community_names::{NameWriter, Names};
use super::comparison_rows::{Line, Row};
use crate::error::Result;
use crate::ids::number;
use crate::input::{Batch, CommunityInput, EdgeChunk, EdgeReader, NameRef};
use crate::io::Files;
use crate::membership;
use crate::present::Workbench;
use crate::progress::{Event, notify};
use crate::sort::{RowSorter, SortedRows};
use std::path::Path;

/// File that was read.
pub(super) struct Side {
    pub(super) rows: SortedRows<Row>,
    pub(super) names: Names,
    /// Number of rows.
    pub(super) row_count: u64,
}

/// One of the files, and how it is read.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) path: &'a Path,
    pub(super) input: &'a CommunityInput,
    /// Number of chunks of text that are parsed in parallel.
    pub(super) chunks: usize,
}

impl Source<'_> {
    /// Opens the file.
    ///
    /// # Errors
    /// `Usage`, `BadInput`, `Io`.
    pub(super) fn open(&self, files: &Files) -> Result<EdgeReader> {
        membership::open(files, self.path, self.input, false, self.chunks)
    }

    /// Returns whether the file can be read only once.
    pub(super) fn is_stream(&self) -> bool {
        self.path == Path::new("-")
    }
}

/// Reads a file that is open; names of communities go to a file `kept` in the scratch directory, if they are text.
///
/// # Errors
/// The earliest bad line; `Io`, `DiskFull`, `Interrupted`.
pub(super) fn read(
    bench: &Workbench<'_>,
    source: Source<'_>,
    reader: EdgeReader,
    kept: &str,
) -> Result<Side> {
    let kept = bench.scratch.join(kept);
    if source.is_stream() {
        return read_text(bench, reader, &kept);
    }
    match read_numbers(bench, reader)? {
        Some(side) => Ok(side),
        None => read_text(bench, source.open(bench.files)?, &kept),
    }
}

/// Reads a file whose communities are all numbers; returns `None` if one is not.
fn read_numbers(bench: &Workbench<'_>, reader: EdgeReader) -> Result<Option<Side>> {
    let mut sorter = bench.rows(SORTS)?;
    let mut is_text = false;
    let row_count = for_each_row(bench, reader, |_, [name, community], row, _| {
        let Some(label) = number(community.fingerprint) else {
            is_text = true;
            return Ok(false);
        };
        sorter.add(Row { name: name.fingerprint, label, row })?;
        Ok(true)
    })?;
    if is_text {
        return Ok(None);
    }
    Ok(Some(Side { rows: sorter.finish()?, names: Names::Numbers, row_count }))
}

fn read_text(bench: &Workbench<'_>, reader: EdgeReader, kept: &Path) -> Result<Side> {
    let mut sorter = bench.rows(SORTS)?;
    let mut names = NameWriter::create(bench.files, kept)?;
    let mut are_numbers = true;
    let row_count = for_each_row(bench, reader, |chunk, [name, community], row, _| {
        are_numbers = are_numbers && number(community.fingerprint).is_some();
        names.add(row, community.fingerprint, chunk.name(community))?;
        let (community, name) = (community.fingerprint, name.fingerprint);
        sorter.add(Line { community, name, row })?;
        Ok(true)
    })?;
    let written = names.finish()?;
    let names = if are_numbers { Names::Numbers } else { written };
    let rows = label(bench, sorter.finish()?, are_numbers)?;
    Ok(Side { rows: rows.finish()?, names, row_count })
}

/// Gives each community its label: its number, or its first row, which comes first as the sort is stable.
fn label(
    bench: &Workbench<'_>,
    sorted: SortedRows<Line>,
    are_numbers: bool,
) -> Result<RowSorter<Row>> {
    let mut sorter = bench.rows(SORTS)?;
    let mut current = None;
    bench.for_each(sorted, |line| {
        let label = match current {
            Some((community, label)) if community == line.community => label,
            _ if are_numbers => number(line.community).unwrap_or_default(),
            _ => line.row,
        };
        current = Some((line.community, label));
        sorter.add(Row { name: line.name, label, row: line.row })
    })?;
    Ok(sorter)
}

/// Passes the rows of a file to `take` while it returns true: their names and communities in a chunk, their indexes and
/// their lines. Returns the number of those passed before.
pub(super) fn for_each_row(
    bench: &Workbench<'_>,
    mut reader: EdgeReader,
    mut take: impl FnMut(&EdgeChunk, &[NameRef; 2], u64, u64) -> Result<bool>,
) -> Result<u64> {
    let (mut batch, mut row) = (Batch::default(), 0);
    while reader.next_batch(&mut batch)? {
        for chunk in &batch.chunks {
            for (pair, line) in pairs(chunk).zip(chunk.edge_lines()) {
                if !take(chunk, pair, row, line)? {
                    return Ok(row);
                }
                row += 1;
            }
        }
        notify(bench.observer, Event::Advance { done: row })?;
    }
    Ok(row)
}

/// Returns the names of nodes and of their communities.
pub(super) fn pairs(chunk: &EdgeChunk) -> impl Iterator<Item = &[NameRef; 2]> {
    chunk.names.as_chunks::<2>().0.iter()
}
