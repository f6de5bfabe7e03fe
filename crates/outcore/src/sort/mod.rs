//! Sorts any fixed-size records that are larger than memory: run formation, then merging
//! (Knuth, volume 3, 5.4).
//!
//! Records are collected in memory, sorted by radix with all cores (`radix`) and written as a
//! compressed run (`run`) each time [`RUN_BYTES`] of them are there; runs grow with their number, up
//! to what the budget allows. One k-way merge (`merge`) then gives them back in order, after more
//! passes where there are more runs than the budget can merge at once. What fits in the first run
//! never touches the disk. The sort is stable.
//!
//! Memory: the budget. Disk: every record once, encoded by [`Record::encode`]; merged parts of the
//! runs are deleted on the way. I/O: one sequential write and one read a pass.
//!
//! ```
//! use outcore::io::Files;
//! use outcore::sort::{Pair, Sorter};
//!
//! let directory = std::env::temp_dir();
//! let mut sorter = Sorter::new(&Files::default(), &directory, 64 << 20, 2)?;
//! for key in [3, 1, 2] {
//!     sorter.push(&[Pair { key, value: 0 }])?;
//! }
//! let mut sorted = sorter.finish()?;
//! let block = sorted.next_block()?.expect("three records");
//! assert_eq!(block.iter().map(|pair| pair.key).collect::<Vec<_>>(), [1, 2, 3]);
//! # Ok::<(), outcore::Error>(())
//! ```

mod merge;
mod radix;
mod run;
#[cfg(test)]
mod tests;

use crate::error::{Error, ErrorKind, Result};
use crate::io::{Files, reserve_large_pages};
use crate::plan::{RUN_BYTES, RUNS_OF_A_SIZE};
use crate::units::{MIB, size_to_type};
use merge::{Merge, Width};
use rayon::prelude::*;
use run::{Run, RunWriter, encode_block};
use std::path::{Path, PathBuf};

/// A record that can be sorted: a few bytes with an order.
pub trait Record: Copy + Default + Send + Sync + 'static {
    /// The key in one piece, for comparisons.
    type Key: Ord + Copy + Send + Sync;
    /// A key and the number of a run behind it, in one piece: `(Key, u32)`, or a number if both fit.
    type Rank: Ord + Copy + Send;
    /// The last key there can be with the run `u32::MAX`.
    const LAST_RANK: Self::Rank;
    /// Number of 64-bit words in the key.
    const WORDS: usize;

    /// The key.
    fn key(&self) -> Self::Key;
    /// The key with a run's number; ordered by key, then run.
    fn rank(&self, run: u32) -> Self::Rank;
    /// The run's number in a rank.
    fn run_of(rank: Self::Rank) -> u32;
    /// Word `word` of the key, the most significant first; their order is the order of keys.
    fn radix(&self, word: usize) -> u64;
    /// Appends sorted records to `out` in a form that takes little room.
    fn encode(records: &[Self], out: &mut Vec<u8>);
    /// Appends `count` records of [`Record::encode`] to `out`; `None` if `bytes` are not such.
    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()>;
}

/// The simplest record: a key and a value, stored as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pair {
    /// What is sorted by.
    pub key: u64,
    /// What goes with it.
    pub value: u64,
}

impl Record for Pair {
    type Key = u64;
    type Rank = u128;
    const LAST_RANK: u128 = u128::MAX;
    const WORDS: usize = 1;

    #[inline]
    fn key(&self) -> u64 {
        self.key
    }

    #[inline]
    fn rank(&self, run: u32) -> u128 {
        u128::from(self.key) << 64 | u128::from(run)
    }

    #[inline]
    fn run_of(rank: u128) -> u32 {
        rank as u32
    }

    #[inline]
    fn radix(&self, _word: usize) -> u64 {
        self.key
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        for record in records {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&record.key.to_le_bytes());
            bytes[8..].copy_from_slice(&record.value.to_le_bytes());
            out.extend_from_slice(&bytes);
        }
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let (records, rest) = bytes.as_chunks::<16>();
        if records.len() != count || !rest.is_empty() {
            return None;
        }
        out.extend(records.iter().map(|record| {
            let (key, value) = record.split_at(8);
            let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            Self { key: word(key), value: word(value) }
        }));
        Some(())
    }
}

/// Fixed memory beside the records: write buffers, blocks being encoded.
const FIXED_BYTES: u64 = 12 * MIB;
/// Segments of runs are at least this large.
const SEGMENT_BYTES: u64 = MIB;
/// Records in a block: fewer where the budget is small.
const BLOCK_RECORDS: std::ops::Range<u64> = 2 << 10..32 << 10;
/// What is read of a run at once, at least.
const READ_BYTES: u64 = 512 << 10;
/// Ranges larger than this gain nothing.
const RANGE_BLOCKS_MAX: u64 = 256;
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

/// How a budget is used.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// Most records held in memory: half of the budget, since the radix sort is not in place.
    capacity: usize,
    /// Records in each of the first runs.
    first_run: usize,
    /// Records in a block of a run.
    block_records: usize,
    /// Most runs that one merge takes.
    fan_in: usize,
    /// Blocks in a range of the merge.
    range_blocks: usize,
    /// A run is cut into files of this size, to be deleted one by one.
    segment_bytes: u64,
}

impl Shape {
    fn new<R: Record>(budget_bytes: u64, workers: usize) -> Self {
        let record = size_of::<R>() as u64;
        let rest = budget_bytes - FIXED_BYTES;
        let capacity = rest / (2 * record);
        let block_records = (capacity / 1024).clamp(BLOCK_RECORDS.start, BLOCK_RECORDS.end);
        // Half of the budget for the blocks that workers merge from, half for what they merged.
        let block = block_records * record;
        let lane = block + READ_BYTES.max(block);
        let fan_in = (rest / 2 / (workers.max(1) as u64 * lane)).clamp(2, 4096);
        let range_blocks = rest / 2 / (Merge::<R>::ranges_ahead(workers) as u64 * block);
        Self {
            capacity: capacity as usize,
            first_run: (RUN_BYTES / record) as usize,
            block_records: block_records as usize,
            fan_in: fan_in as usize,
            range_blocks: range_blocks.clamp(1, RANGE_BLOCKS_MAX) as usize,
            // A run is at least this often cut, so that little of it stays behind when it is merged.
            segment_bytes: SEGMENT_BYTES.max(capacity.min(RUN_BYTES / record) * record / 64),
        }
    }
}

/// Collects records and writes sorted runs.
pub struct Sorter<R: Record> {
    files: Files,
    directory: PathBuf,
    shape: Shape,
    /// Threads of a merge: twice as many as cores, since half of them wait for the disk.
    workers: usize,
    records: Vec<R>,
    scratch: Vec<R>,
    filled: usize,
    runs: Vec<Run<R>>,
    next_name: u64,
    summary: SortSummary,
}

impl<R: Record> Sorter<R> {
    /// The smallest budget that makes sense: runs of a few blocks, merged two at a time.
    pub const BUDGET_MIN: u64 = FIXED_BYTES + 8 * MIB;

    /// A sort with its runs in `directory` and at most `budget_bytes` of memory, with `threads`
    /// threads beside the caller's rayon pool to read and decode runs.
    ///
    /// # Errors
    /// `MemoryTooSmall` below [`Sorter::BUDGET_MIN`].
    pub fn new(files: &Files, directory: &Path, budget_bytes: u64, threads: usize) -> Result<Self> {
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
            directory: directory.to_path_buf(),
            shape: Shape::new::<R>(budget_bytes, 2 * threads),
            workers: 2 * threads,
            records: Vec::new(),
            scratch: Vec::new(),
            filled: 0,
            runs: Vec::new(),
            next_name: 0,
            summary: SortSummary::default(),
        })
    }

    /// Changes the budget; what no longer fits is written as a run.
    ///
    /// # Errors
    /// `MemoryTooSmall`, or what writing meets.
    pub fn set_budget(&mut self, budget_bytes: u64) -> Result<()> {
        if budget_bytes < Self::BUDGET_MIN {
            return Err(Error::new(ErrorKind::MemoryTooSmall, "too little memory to sort"));
        }
        self.shape = Shape::new::<R>(budget_bytes, self.workers);
        let capacity = self.shape.capacity;
        if self.filled > capacity {
            self.write_run()?;
        }
        for buffer in [&mut self.records, &mut self.scratch] {
            if buffer.len() > capacity {
                buffer.truncate(capacity);
                buffer.shrink_to_fit();
            }
        }
        Ok(())
    }

    /// Memory held now.
    pub fn memory_bytes(&self) -> u64 {
        ((self.records.len() + self.scratch.len()) * size_of::<R>()) as u64 + FIXED_BYTES
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
        let doublings = (self.runs.len() / RUNS_OF_A_SIZE as usize).min(40);
        self.shape.first_run.saturating_mul(1 << doublings).min(self.shape.capacity)
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

    fn sort_in_memory(&mut self) {
        if self.scratch.len() < self.filled {
            if self.scratch.capacity() < self.filled {
                self.scratch = Vec::new();
                self.scratch = reserve_large_pages(self.records.capacity());
            }
            self.scratch.resize(self.filled, R::default());
        }
        radix::sort(&mut self.records[..self.filled], &mut self.scratch[..self.filled]);
    }

    fn write_run(&mut self) -> Result<()> {
        if self.filled == 0 {
            return Ok(());
        }
        self.sort_in_memory();
        let block_records = self.shape.block_records;
        let mut writer = self.run_writer();
        let parts = rayon::current_num_threads() * 2;
        let mut encoded = vec![Vec::new(); parts];
        for group in self.records[..self.filled].chunks(block_records * parts) {
            let blocks = group.par_chunks(block_records).zip(&mut encoded);
            blocks.for_each(|(records, out)| encode_block(records, out));
            for (block, records) in encoded.iter().zip(group.chunks(block_records)) {
                writer.push(block, records[0].key())?;
            }
        }
        self.runs.push(writer.finish()?);
        self.summary.run_count += 1;
        self.filled = 0;
        Ok(())
    }

    fn run_writer(&mut self) -> RunWriter<R> {
        let base = self.directory.join(format!("run-{}.0", self.next_name));
        self.next_name += 1;
        RunWriter::new(&self.files, &base, self.shape.segment_bytes)
    }

    /// Ends run formation and starts the last merge.
    ///
    /// # Errors
    /// What reading and writing runs meets.
    pub fn finish(mut self) -> Result<Sorted<R>> {
        if self.runs.is_empty() {
            self.sort_in_memory();
            self.scratch = Vec::new();
            self.records.truncate(self.filled);
            let records = std::mem::take(&mut self.records);
            return Ok(Sorted { source: Source::Memory { records, at: 0 }, summary: self.summary });
        }
        self.write_run()?;
        self.records = Vec::new();
        self.scratch = Vec::new();
        self.summary.pass_count = 1;
        let fan_in = self.shape.fan_in;
        while self.runs.len() > fan_in {
            self.merge_pass(fan_in)?;
        }
        self.summary.fan_in = self.summary.fan_in.max(self.runs.len() as u64);
        let merge = Merge::new(std::mem::take(&mut self.runs), self.width());
        Ok(Sorted { source: Source::Merge { merge, out: Vec::new() }, summary: self.summary })
    }

    fn width(&self) -> Width {
        let Shape { range_blocks, block_records, .. } = self.shape;
        Width { workers: self.workers, range_blocks, block_records }
    }

    /// One pass: merges neighboring runs, as few as lead to one last merge with the full fan-in.
    fn merge_pass(&mut self, fan_in: usize) -> Result<()> {
        self.summary.pass_count += 1;
        self.summary.fan_in = fan_in as u64;
        let mut excess = self.runs.len() - fan_in;
        let mut merged = Vec::new();
        let mut runs = std::mem::take(&mut self.runs).into_iter();
        while runs.len() > 0 {
            let take = (excess + 1).min(fan_in).min(runs.len());
            let group: Vec<Run<R>> = runs.by_ref().take(take).collect();
            excess -= take - 1;
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
        let mut writer = self.run_writer();
        let mut merge = Merge::<R>::new(group, self.width());
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

enum Source<R: Record> {
    Memory { records: Vec<R>, at: usize },
    Merge { merge: Merge<R>, out: Vec<R> },
}

/// The sorted records.
pub struct Sorted<R: Record> {
    source: Source<R>,
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
            Source::Memory { records, at } => {
                let begin = *at;
                *at = (begin + OUT_RECORDS).min(records.len());
                Ok((begin < *at).then(|| &records[begin..*at]))
            }
            Source::Merge { merge, out } => {
                *out = merge.next_chunk(std::mem::take(out))?;
                Ok((!out.is_empty()).then_some(out.as_slice()))
            }
        }
    }

    /// Hands every group of equal records, as told by `same`, folded into one: `fold` adds the
    /// second record to the first, in sorted order. The result does not depend on where runs end,
    /// since nothing is folded before the last merge.
    ///
    /// # Errors
    /// As [`Sorted::next_block`], and whatever `each` gives.
    pub fn for_each_combined(
        &mut self,
        same: impl Fn(&R, &R) -> bool,
        mut fold: impl FnMut(&mut R, &R),
        mut each: impl FnMut(&R) -> Result<()>,
    ) -> Result<()> {
        let mut current: Option<R> = None;
        while let Some(block) = self.next_block()? {
            for record in block {
                match &mut current {
                    Some(kept) if same(kept, record) => fold(kept, record),
                    Some(kept) => {
                        each(kept)?;
                        *kept = *record;
                    }
                    None => current = Some(*record),
                }
            }
        }
        current.as_ref().map_or(Ok(()), each)
    }
}
