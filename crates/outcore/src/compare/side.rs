//! One of the two files, as rows sorted by name, each with the label of its community.
//!
//! If all communities are numbers, these are the labels. Otherwise the label of a community is the first row in which it
//! occurs: that takes one more sort, by community. Labels thus order the communities as a reader would.

use super::names::{NameWriter, Names};
use super::record::{Line, Row};
use crate::error::Result;
use crate::ids::number;
use crate::input::{Batch, CommunityInput, EdgeChunk, EdgeReader, NameRef};
use crate::io::Files;
use crate::membership;
use crate::present::Workbench;
use crate::progress::{Event, notify};
use crate::sort::{Sorted, Sorter};
use std::path::Path;

/// File that was read.
pub(super) struct Side {
    pub(super) rows: Sorted<Row>,
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
    let reading = Reading { bench };
    let kept = bench.scratch.join(kept);
    if source.is_stream() {
        return reading.text(reader, &kept);
    }
    match reading.numbers(reader)? {
        Some(side) => Ok(side),
        None => reading.text(source.open(bench.files)?, &kept),
    }
}

struct Reading<'a> {
    bench: &'a Workbench<'a>,
}

impl Reading<'_> {
    /// Reads a file whose communities are all numbers; returns `None` if one is not.
    fn numbers(&self, reader: EdgeReader) -> Result<Option<Side>> {
        let mut sorter = self.bench.sorter::<Row>(super::SORTS)?;
        let (mut rows, mut is_text) = (Vec::new(), false);
        let row_count = self.for_each_chunk(reader, |chunk, mut row| {
            for [name, community] in pairs(chunk) {
                let Some(label) = number(community.fingerprint) else {
                    is_text = true;
                    return Ok(false);
                };
                rows.push(Row { name: name.fingerprint, label, row });
                row += 1;
            }
            sorter.push(&rows)?;
            rows.clear();
            Ok(true)
        })?;
        if is_text {
            return Ok(None);
        }
        Ok(Some(Side { rows: sorter.finish()?, names: Names::Numbers, row_count }))
    }

    fn text(&self, reader: EdgeReader, kept: &Path) -> Result<Side> {
        let mut sorter = self.bench.sorter::<Line>(super::SORTS)?;
        let mut names = NameWriter::create(self.bench.files, kept)?;
        let (mut lines, mut are_numbers) = (Vec::new(), true);
        let row_count = self.for_each_chunk(reader, |chunk, mut row| {
            for [name, community] in pairs(chunk) {
                are_numbers = are_numbers && number(community.fingerprint).is_some();
                names.add(row, community.fingerprint, chunk.name(community))?;
                lines.push(Line { community: community.fingerprint, name: name.fingerprint, row });
                row += 1;
            }
            sorter.push(&lines)?;
            lines.clear();
            Ok(true)
        })?;
        let written = names.finish()?;
        let names = if are_numbers { Names::Numbers } else { written };
        let rows = self.label(sorter.finish()?, are_numbers)?;
        Ok(Side { rows: rows.finish()?, names, row_count })
    }

    /// Gives each community its label. The sort is stable, so the first line of a community is that with the first row.
    fn label(&self, mut sorted: Sorted<Line>, are_numbers: bool) -> Result<Sorter<Row>> {
        let mut sorter = self.bench.sorter::<Row>(super::SORTS)?;
        let mut current = None;
        let mut rows = Vec::new();
        while let Some(block) = sorted.next_block()? {
            for line in block {
                let label = match current {
                    Some((community, label)) if community == line.community => label,
                    _ if are_numbers => number(line.community).unwrap_or_default(),
                    _ => line.row,
                };
                current = Some((line.community, label));
                rows.push(Row { name: line.name, label, row: line.row });
            }
            sorter.push(&rows)?;
            rows.clear();
            notify(self.bench.observer, Event::Advance { done: u64::from(u32::MAX) })?;
        }
        Ok(sorter)
    }

    /// Calls `take` with each chunk and the index of its first row, while it returns true; returns the number of rows.
    fn for_each_chunk(
        &self,
        mut reader: EdgeReader,
        mut take: impl FnMut(&EdgeChunk, u64) -> Result<bool>,
    ) -> Result<u64> {
        let (mut batch, mut done) = (Batch::default(), 0);
        while reader.next_batch(&mut batch)? {
            for chunk in &batch.chunks {
                if !take(chunk, done)? {
                    return Ok(done);
                }
                done += chunk.edge_count() as u64;
            }
            notify(self.bench.observer, Event::Advance { done })?;
        }
        Ok(done)
    }
}

/// Returns the names of nodes and of their communities.
pub(super) fn pairs(chunk: &EdgeChunk) -> impl Iterator<Item = &[NameRef; 2]> {
    chunk.names.as_chunks::<2>().0.iter()
}
