//! Sorts any fixed-size records that are larger than memory: run formation, then merging
//! (Knuth, volume 3, 5.4).
//!
//! Records are collected in memory; each time [`RUN_BYTES`] of them are there, they are sorted by
//! radix with all cores (`radix`) and written as a compressed run (`run`), while the next ones are
//! collected (`form`). Runs grow with their number, up to what the budget allows. One k-way merge (`merge`) then gives them back in order, after more
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

mod directory;
mod form;
mod kept;
mod key;
mod merge;
mod radix;
mod run;
#[cfg(test)]
mod tests;

use crate::error::{Error, ErrorKind, Result};
use crate::io::{Files, reserve_large_pages};
use crate::plan::{
    RUN_BUFFERS, RUN_BYTES, RUNS_OF_A_SIZE, SEGMENT_BYTES, SEGMENTS,
    SORT_BLOCK_RECORDS as BLOCK_RECORDS, SORT_FIXED_BYTES as FIXED_BYTES,
    SORT_RANGE_READS as RANGE_READS, SORT_READ_BYTES as READ_BYTES,
    SORT_READ_BYTES_MIN as READ_BYTES_MIN, writer_excess_bytes,
};
use crate::units::{MIB, size_to_type};
use directory::RunDirectory;
use form::Former;
pub(crate) use kept::check_kept;
pub use key::{RadixKey, U96};
use merge::{Merge, Width};
use rayon::prelude::*;
use run::{Run, RunWriter, encode_block};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A record that can be sorted: a few bytes with an order.
pub trait Record: Copy + Default + Send + Sync + 'static {
    /// What records are sorted by.
    type Key: RadixKey;

    /// The key.
    fn key(&self) -> Self::Key;
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

    #[inline]
    fn key(&self) -> u64 {
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
    /// Most records of a run: a part of the budget, since one run is collected while another is
    /// sorted, not in place, and a third written.
    capacity: usize,
    /// Records in each of the first runs.
    first_run: usize,
    /// Records in a block of a run.
    block_records: usize,
    /// Most runs that one merge takes...
    fan_in: usize,
    /// ...and if it reads less at once, to save a pass.
    widest_fan_in: usize,
    /// Most blocks in a range of the merge.
    range_blocks: usize,
    /// Least size of the files that a run is cut into.
    segment_bytes: u64,
    /// Memory of one worker of a merge for what it reads.
    lanes_bytes: u64,
    /// Whether two runs can be merged without taking more than that.
    has_room_for_two: bool,
}

impl Shape {
    /// For runs whose blocks have up to `kept_block_records` records, if there are such already.
    fn new<R: Record>(
        budget_bytes: u64,
        workers: usize,
        files: &Files,
        kept_block_records: usize,
    ) -> Self {
        let (tuning, cramped) = (files.tuning(), files.cramped());
        let record = size_of::<R>() as u64;
        // Large buffers of the writer come out of the records' share.
        let rest = budget_bytes - FIXED_BYTES;
        let rest = rest - writer_excess_bytes(&tuning.write).min(rest / 2);
        let capacity = (rest / (RUN_BUFFERS * record)).min(cramped.sort_records as u64);
        let block_records = (capacity / 4096).clamp(BLOCK_RECORDS.start, BLOCK_RECORDS.end);
        let block_records = block_records.max(kept_block_records as u64);
        // Half of the budget for the blocks that workers merge from, half for what they merged.
        let block = block_records * record;
        let lanes_bytes = rest / 2 / workers.max(1) as u64;
        let room = |read_bytes: u64| {
            let lane = block + (tuning.merge_read_bytes as u64).min(read_bytes).max(block);
            lanes_bytes / lane
        };
        let fan_in = |read_bytes| room(read_bytes).clamp(2, 4096) as usize;
        let range_blocks = rest / 2 / (Merge::<R>::ranges_ahead(workers) as u64 * block);
        Self {
            capacity: capacity as usize,
            first_run: cramped.run_records.min((RUN_BYTES / record) as usize),
            block_records: block_records as usize,
            fan_in: cramped.fan_in.min(fan_in(READ_BYTES)),
            widest_fan_in: cramped.fan_in.min(fan_in(READ_BYTES_MIN)),
            range_blocks: range_blocks.max(1) as usize,
            segment_bytes: SEGMENT_BYTES,
            lanes_bytes,
            has_room_for_two: room(READ_BYTES_MIN) >= 2,
        }
    }

    /// The fan-in for so many runs: as few passes as there can be, and reads as large as these allow.
    fn fan_in(&self, runs: usize) -> usize {
        let reach = |fan_in: usize, passes: u32| fan_in.saturating_pow(passes) >= runs;
        let passes = (1..).find(|&passes| reach(self.widest_fan_in, passes)).unwrap_or(1);
        let fan_ins = self.fan_in..self.widest_fan_in;
        fan_ins.into_iter().find(|&fan_in| reach(fan_in, passes)).unwrap_or(self.widest_fan_in)
    }
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
    kept_block_records: usize,
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
    /// The smallest budget that makes sense: runs of a few blocks, merged two at a time.
    pub const BUDGET_MIN: u64 = FIXED_BYTES + 8 * MIB;

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
            kept_block_records: 0,
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
        let kept = self.kept_block_records;
        self.shape = Shape::new::<R>(budget_bytes, self.workers, &self.files, kept);
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
        let doublings = (self.next_name / RUNS_OF_A_SIZE).min(40);
        self.shape.first_run.saturating_mul(1 << doublings).min(self.shape.capacity)
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
            return Ok(Sorted { source: Source::Memory { records, at: 0 }, summary: self.summary });
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
        Ok(Sorted { source: Source::Merge { merge, out: Vec::new() }, summary: self.summary })
    }

    fn width(&self, runs: usize) -> Width {
        let Shape { range_blocks, block_records, .. } = self.shape;
        let read_bytes = self.read_bytes(runs);
        let reads = runs as u64 * RANGE_READS * read_bytes;
        let blocks = reads.div_ceil((block_records * size_of::<R>()) as u64);
        let range_blocks = range_blocks.min(blocks as usize);
        Width { workers: self.workers, range_blocks, block_records, read_bytes }
    }

    /// What is read of a run at once: what the disk likes, if the memory allows it for so many runs.
    fn read_bytes(&self, runs: usize) -> u64 {
        let liked = self.files.tuning().merge_read_bytes as u64;
        let block = (self.shape.block_records * size_of::<R>()) as u64;
        let most = (self.shape.lanes_bytes / runs.max(1) as u64).saturating_sub(block);
        liked.min(most.max(READ_BYTES_MIN))
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

    /// Lets runs that were kept be deleted as far as they are used up, and the others with the last record.
    pub(crate) fn release(&self) {
        if let Source::Merge { merge, .. } = &self.source {
            merge.release();
        }
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
}
