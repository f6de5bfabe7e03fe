//! Sorts any fixed-size records that are larger than memory: run formation, then merging
//! (Knuth, volume 3, 5.4).
//!
//! Records are collected in memory; each time 32 MiB of them are there, they are sorted by
//! radix with all cores (`radix`) and written as a compressed run (`run`), while the next ones are
//! collected (`form`). Runs grow with their number, up to what the budget allows (`shape`). One k-way merge (`merge`)
//! then gives them back in order, after more passes where there are more runs than the budget can merge at once. What fits in the first run
//! never touches the disk. The sort is stable.
//!
//! Memory: the budget. Disk: every record once, encoded by [`Record::encode`]; merged parts of the
//! runs are deleted on the way. I/O: one sequential write and one read a pass.
//!
//! ```
//! use outcore::io::Files;
//! use outcore::sort::{Pair, Sorter};
//!
//! // Runs, if there are any, go to a directory of their own in this one.
//! let parent = std::env::temp_dir();
//! let mut sorter = Sorter::new(&Files::default(), &parent, 64 << 20, 2)?;
//! for key in [3, 1, 2] {
//!     sorter.push(&[Pair { key, value: 0 }])?;
//! }
//! let mut sorted = sorter.finish()?;
//! let block = sorted.next_block()?.expect("three records");
//! assert_eq!(block.iter().map(|pair| pair.key).collect::<Vec<_>>(), [1, 2, 3]);
//! # Ok::<(), outcore::Error>(())
//! ```
//! A record of your own says what it is sorted by and how it is written: [`Record`]. `examples/sort_file.rs`
//! sorts a file of them that is larger than the memory.

mod cost;
mod directory;
mod form;
mod key;
mod merge;
mod radix;
mod record;
mod resume;
mod run;
mod shape;
#[cfg(test)]
mod tests;

use crate::error::{Error, ErrorKind, Result};
use crate::io::{Files, reserve_large_pages};
use crate::units::size_to_type;
pub(crate) use cost::merge_disk_bytes;
pub use cost::{Records, Sorting};
use directory::RunDirectory;
use form::Former;
pub use key::{RadixKey, U96};
use merge::{Merge, Width};
use rayon::prelude::*;
pub use record::{Pair, Record};
pub(crate) use resume::SortState;
use run::{Run, RunWriter, encode_block};
pub use shape::SORT_BYTES_MIN;
use shape::{FIXED_BYTES, RANGE_READS, RUN_BUFFERS, SEGMENTS, Shape, merges_of_pass, run_size};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Records that callers collect before they hand them to a sort.
pub(crate) const PUSHED: usize = 4096;
/// Records handed out at once.
const OUT_RECORDS: usize = 16 << 10;

/// What a sort did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct SortSummary {
    /// Records.
    pub record_count: u64,
    /// Runs written by run formation.
    pub run_count: u64,
    /// Times a record was written and read again.
    pub pass_count: u64,
    /// Most runs merged at once.
    pub fan_in: u64,
}

/// Collects records and writes sorted runs.
pub struct Sorter<R: Record> {
    files: Files,
    /// Where the directory of the runs is made.
    parent: PathBuf,
    /// There once the first run is written.
    directory: Option<Arc<RunDirectory>>,
    shape: Shape,
    /// Most records in a block of runs that another process has left.
    saved_block_records: usize,
    /// Threads of a merge: twice as many as cores, since half of them wait for the disk.
    workers: usize,
    threads: usize,
    records: Vec<R>,
    filled: usize,
    /// There once the first run has been formed.
    former: Option<Former<R>>,
    runs: Vec<Run<R>>,
    next_name: u64,
    summary: SortSummary,
}

impl<R: Record> Sorter<R> {
    /// The smallest budget: [`SORT_BYTES_MIN`].
    pub const BUDGET_MIN: u64 = SORT_BYTES_MIN;

    /// A sort with at most `budget_bytes` of memory, with `threads` threads beside the caller's rayon pool to
    /// read and decode runs. Runs lie in a directory that the sort makes for itself in `parent` when it
    /// writes the first one, and removes when they are used up or dropped.
    ///
    /// # Errors
    /// `MemoryTooSmall` below [`Sorter::BUDGET_MIN`].
    pub fn new(files: &Files, parent: &Path, budget_bytes: u64, threads: usize) -> Result<Self> {
        if budget_bytes < Self::BUDGET_MIN {
            let least = size_to_type(Self::BUDGET_MIN);
            return Err(Error::new(
                ErrorKind::MemoryTooSmall,
                format!("{} is too little to sort", size_to_type(budget_bytes)),
            )
            .hint(format!("give the sort {least} or more")));
        }
        Ok(Self {
            files: files.clone(),
            parent: parent.to_path_buf(),
            directory: None,
            shape: Shape::new::<R>(budget_bytes, 2 * threads, files, 0),
            saved_block_records: 0,
            workers: 2 * threads,
            threads,
            records: Vec::new(),
            filled: 0,
            former: None,
            runs: Vec::new(),
            next_name: 0,
            summary: SortSummary::default(),
        })
    }

    /// As [`Sorter::new`], with the runs in `directory` itself: it is there, belongs to this sort alone, and
    /// stays, so that another process finds what [`Sorter::keep`] leaves in it.
    pub(crate) fn with_directory(
        files: &Files,
        directory: &Path,
        budget_bytes: u64,
        threads: usize,
    ) -> Result<Self> {
        let given = Some(Arc::new(RunDirectory::given(files, directory)));
        Ok(Self { directory: given, ..Self::new(files, directory, budget_bytes, threads)? })
    }

    /// Changes the budget; what no longer fits is written as a run.
    ///
    /// # Errors
    /// `MemoryTooSmall`, or what writing meets.
    pub(crate) fn set_budget(&mut self, budget_bytes: u64) -> Result<()> {
        if budget_bytes < Self::BUDGET_MIN {
            return Err(Error::new(ErrorKind::MemoryTooSmall, "too little memory to sort"));
        }
        let saved = self.saved_block_records;
        self.shape = Shape::new::<R>(budget_bytes, self.workers, &self.files, saved);
        let capacity = self.shape.capacity;
        if self.filled > capacity {
            self.write_run()?;
        }
        self.end_formation()?;
        if self.records.capacity() > capacity {
            self.records.truncate(capacity);
            self.records.shrink_to_fit();
        }
        Ok(())
    }

    /// Writes what was collected as a run, and gives back the memory until more is collected.
    ///
    /// # Errors
    /// What writing meets.
    pub(crate) fn set_aside(&mut self) -> Result<()> {
        self.write_run()?;
        self.end_formation()?;
        self.records = Vec::new();
        Ok(())
    }

    /// Writes what was collected as a run; the memory stays for what comes.
    pub(crate) fn write_collected(&mut self) -> Result<()> {
        self.write_run()?;
        self.take_formed(true)
    }

    /// Most memory held now.
    pub fn memory_bytes(&self) -> u64 {
        let records = match self.former {
            Some(_) => RUN_BUFFERS as usize * self.records.len().max(self.run_capacity()),
            None => self.records.len(),
        };
        (records * size_of::<R>()) as u64 + FIXED_BYTES
    }

    /// Room for `count` more records, to be filled by the caller and kept by [`Sorter::commit`].
    /// Writes a run first if they do not fit.
    ///
    /// # Errors
    /// `MemoryTooSmall` if `count` records never fit; what writing the run meets.
    pub fn space(&mut self, count: usize) -> Result<&mut [R]> {
        if self.filled + count > self.run_capacity() {
            self.write_run()?;
        }
        let needed = self.filled + count;
        if needed > self.shape.capacity {
            return Err(Error::new(ErrorKind::MemoryTooSmall, "too little memory to sort"));
        }
        if needed > self.records.capacity() {
            let old = std::mem::take(&mut self.records);
            self.records = reserve_large_pages(self.run_capacity().max(needed));
            self.records.extend_from_slice(&old[..self.filled]);
        }
        if needed > self.records.len() {
            // Memory is touched as it is needed: a small job stays small.
            self.records.resize(needed, R::default());
        }
        Ok(&mut self.records[self.filled..needed])
    }

    /// Keeps the first `count` records of the [`Sorter::space`] given last.
    pub fn commit(&mut self, count: usize) {
        assert!(self.filled + count <= self.records.len(), "no more than there was space for");
        self.filled += count;
        self.summary.record_count += count as u64;
    }

    /// Records in the run being formed.
    fn run_capacity(&self) -> usize {
        let Shape { first_run, capacity, .. } = self.shape;
        run_size(self.next_name, first_run as u64, capacity as u64) as usize
    }

    /// Records that there is room for at once in any case.
    pub(crate) fn most_at_once(&self) -> usize {
        self.shape.capacity
    }

    /// Adds records.
    ///
    /// # Errors
    /// What writing a run meets.
    pub fn push(&mut self, records: &[R]) -> Result<()> {
        for part in records.chunks(OUT_RECORDS.min(self.shape.capacity)) {
            self.space(part.len())?.copy_from_slice(part);
            self.commit(part.len());
        }
        Ok(())
    }

    /// Adds records that many threads write side by side, in the order of their parts: `fill` writes at
    /// most `lens[i]` records of part `i`, and gives their number and what else it found.
    ///
    /// # Errors
    /// `MemoryTooSmall` if the parts together never fit; what `fill` and writing a run meet.
    pub fn push_parts<T: Send>(
        &mut self,
        lens: &[usize],
        fill: impl Fn(usize, &mut [R]) -> Result<(usize, T)> + Sync,
    ) -> Result<Vec<T>> {
        let total = lens.iter().sum();
        let mut parts = Vec::with_capacity(lens.len());
        let mut rest = self.space(total)?;
        for &len in lens {
            let (part, tail) = rest.split_at_mut(len);
            parts.push(part);
            rest = tail;
        }
        let filled = parts
            .into_par_iter()
            .enumerate()
            .map(|(part, out)| fill(part, out))
            .collect::<Result<Vec<_>>>()?;
        let (counts, found): (Vec<usize>, Vec<T>) = filled.into_iter().unzip();
        let filled = close_gaps(self.space(total)?, lens, &counts);
        self.commit(filled);
        Ok(found)
    }

    /// Has what was collected formed into a run, once there is room for it.
    fn write_run(&mut self) -> Result<()> {
        if self.filled == 0 {
            return Ok(());
        }
        self.records.truncate(self.filled);
        self.filled = 0;
        let writer = self.run_writer()?;
        let records = std::mem::take(&mut self.records);
        let mut former = match self.former.take() {
            Some(former) => former,
            None => Former::new(self.threads, self.shape.block_records)?,
        };
        self.records = former.start(records, writer);
        self.former = Some(former);
        self.take_formed(false)
    }

    /// Takes the runs formed so far, or all that are still to be formed.
    fn take_formed(&mut self, wait: bool) -> Result<()> {
        while let Some(run) = self.former.as_mut().and_then(|former| former.next_run(wait)) {
            self.runs.push(run?);
            self.summary.run_count += 1;
        }
        Ok(())
    }

    /// Waits for all runs; their buffers are given back.
    fn end_formation(&mut self) -> Result<()> {
        self.take_formed(true)?;
        self.former = None;
        Ok(())
    }

    /// The directory of the runs, which is made if it is not there yet.
    fn directory(&mut self) -> Result<&Arc<RunDirectory>> {
        if self.directory.is_none() {
            let made = RunDirectory::create(&self.files, &self.parent)?;
            self.directory = Some(Arc::new(made));
        }
        Ok(self.directory.as_ref().expect("made above"))
    }

    fn run_writer(&mut self) -> Result<RunWriter<R>> {
        let directory = self.directory()?.clone();
        let number = self.next_name;
        self.next_name += 1;
        let run_bytes = (self.run_capacity() * size_of::<R>()) as u64;
        let segment_bytes = self.shape.segment_bytes.max(run_bytes / SEGMENTS);
        Ok(RunWriter::new(directory, number, segment_bytes))
    }

    /// Ends run formation and starts the last merge.
    ///
    /// # Errors
    /// What reading and writing runs meets.
    pub fn finish(mut self) -> Result<Sorted<R>> {
        if self.next_name == 0 {
            let mut records = std::mem::take(&mut self.records);
            records.truncate(self.filled);
            form::sort(&mut records, &mut Vec::new());
            return Ok(Sorted {
                source: SortedSource::Memory { records, at: 0 },
                summary: self.summary,
            });
        }
        self.write_run()?;
        self.end_formation()?;
        self.records = Vec::new();
        self.summary.pass_count = 1;
        let fan_in = self.shape.fan_in(self.runs.len());
        while self.runs.len() > fan_in {
            self.merge_pass(fan_in)?;
        }
        self.summary.fan_in = self.summary.fan_in.max(self.runs.len() as u64);
        let width = self.width(self.runs.len());
        let merge = Merge::new(std::mem::take(&mut self.runs), width);
        Ok(Sorted { source: SortedSource::Merge { merge, out: Vec::new() }, summary: self.summary })
    }

    fn width(&self, runs: usize) -> Width {
        let Shape { range_blocks, block_records, .. } = self.shape;
        let read_bytes = self.shape.read_bytes(runs);
        let reads = runs as u64 * RANGE_READS * read_bytes;
        let blocks = reads.div_ceil(self.shape.block_bytes());
        let range_blocks = range_blocks.min(blocks as usize);
        Width { workers: self.workers, range_blocks, block_records, read_bytes }
    }

    /// One pass: merges neighboring runs, as few as lead to one last merge with the full fan-in.
    fn merge_pass(&mut self, fan_in: usize) -> Result<()> {
        self.summary.pass_count += 1;
        self.summary.fan_in = fan_in as u64;
        let mut merged = Vec::new();
        let mut runs = std::mem::take(&mut self.runs).into_iter();
        for take in merges_of_pass(runs.len(), fan_in) {
            let group: Vec<Run<R>> = runs.by_ref().take(take).collect();
            merged.push(if take == 1 {
                group.into_iter().next().expect("one run")
            } else {
                self.merge_runs(group)?
            });
        }
        self.runs = merged;
        Ok(())
    }

    fn merge_runs(&mut self, group: Vec<Run<R>>) -> Result<Run<R>> {
        let mut writer = self.run_writer()?;
        let width = self.width(group.len());
        let mut merge = Merge::<R>::new(group, width);
        let (mut records, mut block) = (Vec::new(), Vec::new());
        loop {
            records = merge.next_chunk(records)?;
            if records.is_empty() {
                return writer.finish();
            }
            for part in records.chunks(self.shape.block_records) {
                encode_block(part, &mut block);
                writer.push(&block, part[0].key())?;
            }
        }
    }
}

/// Moves the filled front of every part up to the one before; gives the number of all.
fn close_gaps<R: Copy>(records: &mut [R], lens: &[usize], counts: &[usize]) -> usize {
    let (mut filled, mut begin) = (0, 0);
    for (&len, &count) in lens.iter().zip(counts) {
        if filled != begin {
            records.copy_within(begin..begin + count, filled);
        }
        filled += count;
        begin += len;
    }
    filled
}

enum SortedSource<R: Record> {
    Memory { records: Vec<R>, at: usize },
    Merge { merge: Merge<R>, out: Vec<R> },
}

/// The sorted records.
pub struct Sorted<R: Record> {
    source: SortedSource<R>,
    summary: SortSummary,
}

impl<R: Record> Sorted<R> {
    /// What the sort did so far.
    pub fn summary(&self) -> SortSummary {
        self.summary
    }

    /// The next records in order; `None` after the last.
    ///
    /// # Errors
    /// `CorruptFile` if a run was damaged; `Io`.
    pub fn next_block(&mut self) -> Result<Option<&[R]>> {
        match &mut self.source {
            SortedSource::Memory { records, at } => {
                let begin = *at;
                *at = (begin + OUT_RECORDS).min(records.len());
                Ok((begin < *at).then(|| &records[begin..*at]))
            }
            SortedSource::Merge { merge, out } => {
                *out = merge.next_chunk(std::mem::take(out))?;
                Ok((!out.is_empty()).then_some(out.as_slice()))
            }
        }
    }
}
