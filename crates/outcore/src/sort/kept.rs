//! Runs that stay for another process: synced, with an index of their blocks in a file of its own.
//!
//! ```text
//!  runs:  magic | version u32 | 0 u32 | block records u64 | next number u64 | records u64 | runs u64
//!         for each run:  number u64 | segments u64 | blocks u64
//!                        for each segment:  the block behind its last u64
//!                        for each block:    its length u32 | its first key u128
//!         checksum u64 (xxh3-64) of all before
//! ```
//! All numbers are little-endian. Memory: a buffer. Blocks have checksums of their own. A sort may be kept again and
//! again, with an index each time; whoever goes on from an earlier one writes over the runs that came after it.

use super::directory::segment_path;
use super::run::Run;
use super::{Record, Shape, SortSummary, Sorter};
use crate::error::{Error, ErrorKind, Result};
use crate::io::{CheckedReader, CheckedWriter, Files, Sealed};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

const MAGIC: [u8; 8] = *b"OUTRUNS\0";
const VERSION: u64 = 1;

impl<R: Record> Sorter<R> {
    /// Writes all that was collected as runs that last: they are synced, and stay when the sort is
    /// dropped or merged; their index gets the name `index`. More may be collected then. `None`, and
    /// nothing done, if no run has been written so far.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub(crate) fn keep(&mut self, index: &str) -> Result<Option<Sealed>> {
        if self.next_name == 0 {
            return Ok(None);
        }
        self.write_collected()?;
        let new = self.runs.iter().filter(|run| !run.is_kept());
        let segments: Vec<&PathBuf> = new.flat_map(Run::segment_paths).collect();
        // The disk takes many at a time.
        segments.par_iter().try_for_each(|path| self.files.sync(path))?;
        // Its rename makes the names of all files here last.
        let sealed = self.write_index(index)?;
        self.runs.iter().for_each(Run::keep);
        Ok(Some(sealed))
    }

    /// Lets the merge delete runs as it uses them up, after [`Sorter::keep`].
    pub(crate) fn release(&self) {
        self.runs.iter().for_each(Run::release);
    }

    /// Bytes of all runs.
    pub(crate) fn run_bytes(&self) -> u64 {
        self.runs.iter().map(Run::bytes).sum()
    }

    /// Most room that the merge takes on the disk beside runs that are kept and what it is merged into.
    pub(crate) fn pass_bytes(&self) -> u64 {
        let runs = self.runs.len();
        if runs > self.shape.fan_in(runs) { self.run_bytes() } else { 0 }
    }

    fn write_index(&mut self, name: &str) -> Result<Sealed> {
        let path = self.directory()?.path().join(name);
        let mut index = CheckedWriter::create(&self.files, &path)?;
        index.put(&MAGIC)?;
        let block_records = self.shape.block_records.max(self.kept_block_records) as u64;
        let (records, runs) = (self.summary.record_count, self.runs.len() as u64);
        for number in [VERSION, block_records, self.next_name, records, runs] {
            index.put(&number.to_le_bytes())?;
        }
        for run in &self.runs {
            let (segments, blocks) = (run.segment_ends(), run.lengths_and_keys());
            for number in [run.number, segments.len() as u64, blocks.len() as u64] {
                index.put(&number.to_le_bytes())?;
            }
            for end in segments {
                index.put(&(end as u64).to_le_bytes())?;
            }
            for (bytes, first) in blocks {
                let key: u128 = first.into();
                index.put(&bytes.to_le_bytes())?;
                index.put(&key.to_le_bytes())?;
            }
        }
        index.finish()
    }

    /// Resumes from the runs that [`Sorter::keep`] has left in `directory`.
    ///
    /// # Errors
    /// `CorruptFile` if they are not what was kept; `MemoryTooSmall` if their blocks are too large to be
    /// merged within `budget_bytes`; `Io`.
    pub(crate) fn reopen(
        files: &Files,
        directory: &Path,
        (index, sealed): (&str, Sealed),
        budget_bytes: u64,
        threads: usize,
    ) -> Result<Self> {
        let mut sorter = Self::with_directory(files, directory, budget_bytes, threads)?;
        let runs = sorter.directory()?.clone();
        let path = directory.join(index);
        let damaged = || Error::corrupt(&path, "its numbers contradict each other");
        let head = read_index(files, &path, sealed, |run| {
            let mut read = Run::<R>::kept(&runs, run.number);
            let mut ends = run.segment_ends.iter().peekable();
            for (number, &(bytes, key)) in (1u64..).zip(&run.blocks) {
                read.add_block(bytes, key.try_into().map_err(|_| damaged())?);
                if ends.next_if(|&&end| end == number).is_some() {
                    read.end_segment();
                }
            }
            if ends.next().is_some() {
                return Err(damaged());
            }
            sorter.runs.push(read);
            Ok(())
        })?;
        sorter.next_name = head.next_name;
        sorter.kept_block_records = head.block_records as usize;
        let run_count = sorter.runs.len() as u64;
        sorter.summary =
            SortSummary { record_count: head.records, run_count, ..SortSummary::default() };
        sorter.set_budget(budget_bytes)?;
        let own = Shape::new::<R>(budget_bytes, sorter.workers, files, 0);
        if sorter.shape.block_records > own.block_records && !sorter.shape.has_room_for_two {
            return Err(Error::new(ErrorKind::MemoryTooSmall, "too little memory to merge runs"));
        }
        Ok(sorter)
    }
}

/// Checks that the runs in `directory` are those of `index`, as far as names and lengths of files tell.
///
/// # Errors
/// `CorruptFile` if they are not; `Io`.
pub(crate) fn check_kept(
    files: &Files,
    directory: &Path,
    (index, sealed): (&str, Sealed),
) -> Result<()> {
    read_index(files, &directory.join(index), sealed, |run| {
        let mut begin = 0;
        for (segment, &end) in run.segment_ends.iter().enumerate() {
            let path = segment_path(directory, run.number, segment);
            let blocks = run.blocks.get(begin..end as usize).unwrap_or_default();
            let bytes: u64 = blocks.iter().map(|block| u64::from(block.0)).sum();
            begin = end as usize;
            if files.entry(&path).map_or(0, |entry| entry.bytes) < bytes {
                return Err(Error::corrupt(&path, "it is not there, or cut short"));
            }
        }
        Ok(())
    })
    .map(drop)
}

/// What the index says of all runs.
struct Head {
    block_records: u64,
    next_name: u64,
    records: u64,
}

/// What it says of one.
struct KeptRun {
    number: u64,
    segment_ends: Vec<u64>,
    /// Length and first key.
    blocks: Vec<(u32, u128)>,
}

/// Reads the index and hands over each run; what it gives is good only if it ends well.
fn read_index(
    files: &Files,
    path: &Path,
    sealed: Sealed,
    mut each: impl FnMut(&KeptRun) -> Result<()>,
) -> Result<Head> {
    let mut index = CheckedReader::open(files, path)?;
    if index.bytes() != sealed.bytes {
        return Err(index.damaged("it has another length"));
    }
    let (magic, version) = (index.array::<8>()?, index.number()?);
    if magic != MAGIC || version != VERSION {
        return Err(index.damaged("it is another kind of file"));
    }
    let (block_records, next_name) = (index.number()?, index.number()?);
    let (records, run_count) = (index.number()?, index.number()?);
    for _ in 0..run_count {
        let (number, segments, blocks) = (index.number()?, index.number()?, index.number()?);
        // No more than the file can hold, whatever the numbers say.
        let most = (sealed.bytes / 8) as usize;
        let mut run = KeptRun {
            number,
            segment_ends: Vec::with_capacity((segments as usize).min(most)),
            blocks: Vec::with_capacity((blocks as usize).min(most)),
        };
        for _ in 0..segments {
            run.segment_ends.push(index.number()?);
        }
        for _ in 0..blocks {
            let bytes = u32::from_le_bytes(index.array()?);
            run.blocks.push((bytes, u128::from_le_bytes(index.array()?)));
        }
        each(&run)?;
    }
    if index.finish()? != sealed {
        return Err(Error::corrupt(path, "its checksum is wrong"));
    }
    Ok(Head { block_records, next_name, records })
}
