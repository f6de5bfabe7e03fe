//! External sort of fixed-size records: run formation, then merging (Knuth, volume 3, 5.4), where runs are only in order
//! as far as the merge needs.
//!
//! Records are collected in memory; every 32 MiB of them are divided by key into cells of a few thousand on all cores
//! (`radix`) and written as a run of compressed blocks (`run`), while the next ones are collected (`form`). Run sizes
//! grow with the number of runs, up to what the budget allows (`shape`). One merge (`merge`) then gathers the blocks of
//! a range of keys from all runs and sorts them in the cache, after additional passes if there are more runs than the
//! budget can merge at a time. Data that fits in the first run never touches the disk. The sort is stable. The order
//! depends only on the records and on the order in which they were added, never on budget, threads or runs.
//!
//! Memory: the budget. Disk: every record once, encoded by [`Record::encode`]; merged parts of the runs are
//! deleted on the way. I/O: one sequential write and one read per pass.
//!
//! Rows are declared by their fields ([`records!`]) and sorted by a [`RowSorter`]; records for inner loops define their
//! own key and encoding ([`Record`]). `examples/sort_file.rs` sorts a file of records that is larger than memory.
//!
//! ```
//! use outcore_sort::{RowSorter, io::Files, records};
//!
//! records! {
//!     struct Visit {
//!         time: u64,
//!         page: u32,
//!     }
//! }
//! // Runs, if there are any, go to a directory of their own in this one.
//! let parent = std::env::temp_dir();
//! let mut sorter = RowSorter::new(&Files::default(), &parent, 64 << 20, 2)?;
//! sorter.add(Visit { time: 9, page: 1 })?;
//! sorter.add(Visit { time: 4, page: 2 })?;
//! let mut sorted = sorter.finish()?;
//! assert_eq!(sorted.next_row()?.expect("two visits").page, 2);
//! # Ok::<(), outcore_sort::io::Error>(())
//! ```

mod cost;
mod directory;
mod form;
mod key;
mod merge;
mod queue;
mod radix;
mod record;
mod resume;
mod rows;
mod run;
mod shape;
mod sorted;
#[cfg(test)]
mod tests;
mod varint;

pub use cost::{Records, Sorting, merge_disk_bytes};
use directory::RunDirectory;
use form::Former;
pub use key::{RadixKey, U96};
use merge::{Merge, Width};
pub use outcore_io as io;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::parallel;
use outcore_io::units::size_to_type;
use outcore_io::{Files, reserve_large_pages};
pub use queue::{MonotoneQueue, Placed};
use radix::Piece;
pub use radix::move_sorted;
pub use record::{Pair, Record};
pub use resume::SortState;
pub use rows::{Field, Row, RowSorter, SortedRows, Words};
use run::{Run, RunWriter, cut, encode_block};
use shape::{FIXED_BYTES, RUN_BUFFERS, SEGMENTS, Shape, merges_of_pass, run_size};
pub use shape::{FIXED_BYTES as SORT_FIXED_BYTES, SORT_BYTES_MIN};
pub use sorted::Sorted;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
pub use varint::{get_varint, put_varint};

/// Number of records for which [`Sorter::add`] makes room at a time.
const ADDED_RECORDS: usize = 4096;
/// Number of records returned at a time.
const OUT_RECORDS: usize = 16 << 10;
/// Minimum number of records in an ordered piece, if they are not added by several threads.
const PIECE_RECORDS: usize = 16 << 10;
/// Number of records up to which memory is reserved in small steps; beyond it, that of a whole run is reserved.
const FEW_RECORDS: usize = 32 << 10;

/// Summary of a sort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct SortSummary {
    /// Number of records.
    pub record_count: u64,
    /// Number of runs written by run formation.
    pub run_count: u64,
    /// Number of times that each record was written and read again.
    pub pass_count: u64,
    /// Maximum number of runs merged at a time.
    pub fan_in: u64,
}

/// Sorter that collects records, writes runs and merges them.
pub struct Sorter<R: Record> {
    files: Files,
    /// Parent of the directory of the runs.
    parent: PathBuf,
    /// Set when the first run is written.
    directory: Option<Arc<RunDirectory>>,
    budget_bytes: u64,
    shape: Shape,
    /// Maximum number of records in a block of runs that another process has left.
    saved_block_records: usize,
    threads: usize,
    collected: Collected<R>,
    /// Set when the first run is formed.
    former: Option<Former<R>>,
    runs: Vec<Run<R>>,
    next_name: u64,
    summary: SortSummary,
}

impl<R: Record> Sorter<R> {
    /// Minimum budget: [`SORT_BYTES_MIN`].
    pub const BUDGET_MIN: u64 = SORT_BYTES_MIN;

    /// Creates a sort with at most `budget_bytes` of memory, with `threads` threads in addition to the
    /// caller's rayon pool to read and decode runs. The sort creates a directory for its runs in `parent`
    /// when it writes the first one, and removes it when the runs are merged or dropped.
    ///
    /// # Errors
    /// `MemoryTooSmall` below [`Sorter::BUDGET_MIN`].
    pub fn new(files: &Files, parent: &Path, budget_bytes: u64, threads: usize) -> Result<Self> {
        if budget_bytes < Self::BUDGET_MIN {
            let message = format!("{} is too little to sort", size_to_type(budget_bytes));
            let hint = format!("give the sort {} or more", size_to_type(Self::BUDGET_MIN));
            return Err(Error::new(ErrorKind::MemoryTooSmall, message).hint(hint));
        }
        Ok(Self {
            files: files.clone(),
            parent: parent.to_path_buf(),
            directory: None,
            budget_bytes,
            shape: Shape::new::<R>(budget_bytes, threads, files, 0),
            saved_block_records: 0,
            threads,
            collected: Collected::default(),
            former: None,
            runs: Vec::new(),
            next_name: 0,
            summary: SortSummary::default(),
        })
    }

    /// Like [`Sorter::new`], but keeps the runs in `directory` itself. The directory exists, belongs to this sort
    /// alone, and is not removed, so that another process can find the runs of a checkpoint.
    pub fn with_directory(
        files: &Files,
        directory: &Path,
        budget_bytes: u64,
        threads: usize,
    ) -> Result<Self> {
        let given = Some(Arc::new(RunDirectory::given(files, directory)));
        Ok(Self { directory: given, ..Self::new(files, directory, budget_bytes, threads)? })
    }

    /// Changes the budget; records that no longer fit are written as a run.
    ///
    /// # Errors
    /// `MemoryTooSmall`; errors of writing.
    pub fn set_budget(&mut self, budget_bytes: u64) -> Result<()> {
        if budget_bytes < Self::BUDGET_MIN {
            return Err(Error::new(ErrorKind::MemoryTooSmall, "too little memory to sort"));
        }
        let saved = self.saved_block_records;
        self.budget_bytes = budget_bytes;
        self.shape = Shape::new::<R>(budget_bytes, self.threads, &self.files, saved);
        let capacity = self.shape.capacity;
        self.collected.room = 0;
        if self.collected.filled > capacity {
            self.write_run()?;
        }
        self.end_formation()?;
        let records = &mut self.collected.records;
        if records.capacity() > capacity {
            records.truncate(capacity);
            records.shrink_to_fit();
        }
        Ok(())
    }

    /// Writes the collected records as a run, and frees the memory until more are collected.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn set_aside(&mut self) -> Result<()> {
        self.write_run()?;
        self.end_formation()?;
        self.collected.records = Vec::new();
        Ok(())
    }

    /// Writes the collected records as a run; the memory is kept for further records.
    pub fn write_collected(&mut self) -> Result<()> {
        self.write_run()?;
        self.take_formed(true)
    }

    /// Returns an upper bound of the memory currently held.
    pub fn memory_bytes(&self) -> u64 {
        let mut records = self.collected.records.len();
        if self.former.is_some() {
            records = RUN_BUFFERS as usize * records.max(self.run_capacity());
        }
        (records * size_of::<R>()) as u64 + FIXED_BYTES
    }

    /// Returns space for `count` more records, to be filled by the caller and added by [`Sorter::commit`].
    /// Writes a run first if they do not fit.
    ///
    /// # Errors
    /// `MemoryTooSmall` if `count` records never fit; errors of writing the run.
    pub fn space(&mut self, count: usize) -> Result<&mut [R]> {
        if self.collected.filled + count > self.run_capacity() {
            self.write_run()?;
        }
        if self.collected.filled + count > self.shape.capacity {
            return Err(Error::new(ErrorKind::MemoryTooSmall, "too little memory to sort"));
        }
        let run_capacity = self.run_capacity();
        Ok(self.collected.space(count, run_capacity))
    }

    /// Adds the first `count` records of the space last returned by [`Sorter::space`].
    pub fn commit(&mut self, count: usize) {
        let collected = &mut self.collected;
        let filled = collected.filled + count;
        assert!(filled <= collected.records.len(), "no more than there was space for");
        collected.filled = filled;
        self.summary.record_count += count as u64;
        if filled - collected.in_pieces >= PIECE_RECORDS {
            collected.end_piece();
        }
    }

    /// Returns the number of records that fit in the run being formed.
    fn run_capacity(&self) -> usize {
        let Shape { first_run, capacity, .. } = self.shape;
        run_size(self.next_name, first_run as u64, capacity as u64) as usize
    }

    /// Returns the number of records that can always be added at a time.
    pub fn max_at_once(&self) -> usize {
        self.shape.capacity
    }

    /// Adds a record.
    ///
    /// # Errors
    /// Errors of writing a run.
    #[inline]
    pub fn add(&mut self, record: R) -> Result<()> {
        if self.collected.filled >= self.collected.room {
            self.make_room()?;
        }
        let collected = &mut self.collected;
        collected.records[collected.filled] = record;
        collected.filled += 1;
        self.summary.record_count += 1;
        Ok(())
    }

    /// Makes room for some records that are added one by one.
    #[cold]
    fn make_room(&mut self) -> Result<()> {
        self.commit(0);
        let count = self.space(ADDED_RECORDS.min(self.shape.capacity))?.len();
        self.collected.room = self.collected.filled + count;
        Ok(())
    }

    /// Adds records.
    ///
    /// # Errors
    /// Errors of writing a run.
    pub fn push(&mut self, records: &[R]) -> Result<()> {
        for part in records.chunks(OUT_RECORDS.min(self.shape.capacity)) {
            self.space(part.len())?.copy_from_slice(part);
            self.commit(part.len());
        }
        Ok(())
    }

    /// Adds records that several threads write in parallel, in the order of their parts: `fill` writes at
    /// most `lens[i]` records of part `i`, and returns their number and another result of its own.
    ///
    /// # Errors
    /// `MemoryTooSmall` if the parts together never fit; errors of `fill` and of writing a run.
    pub fn push_parts<T: Send>(
        &mut self,
        lens: &[usize],
        fill: impl Fn(usize, &mut [R]) -> Result<(usize, T)> + Sync,
    ) -> Result<Vec<T>> {
        let total = lens.iter().sum();
        self.space(total)?;
        let collected = &mut self.collected;
        collected.end_piece();
        let mut parts = Vec::with_capacity(lens.len());
        let mut rest = &mut collected.records[collected.filled..collected.filled + total];
        for &len in lens {
            let (part, tail) = rest.split_at_mut(len);
            parts.push(part);
            rest = tail;
        }
        let spaces = &collected.spaces;
        let fill = |(part, out): (usize, &mut [R])| {
            // These records stay in the cache until they are in order.
            let mut space = spaces.take(out.len());
            let (count, found) = fill(part, &mut space)?;
            let piece = Piece::order(&space[..count], &mut out[..count]);
            spaces.give_back(space);
            Ok((piece, found))
        };
        let filled = parallel::map(None, parts.into_iter().enumerate().collect(), fill);
        let filled = filled.into_iter().collect::<Result<Vec<_>>>()?;
        let (pieces, found): (Vec<Option<Piece>>, Vec<T>) = filled.into_iter().unzip();
        let count = |piece: &Option<Piece>| piece.as_ref().map_or(0, Piece::count);
        let counts: Vec<usize> = pieces.iter().map(count).collect();
        let filled = close_gaps(&mut collected.records[collected.filled..], lens, &counts);
        collected.pieces.extend(pieces.into_iter().flatten());
        collected.filled += filled;
        collected.in_pieces = collected.filled;
        self.summary.record_count += filled as u64;
        Ok(found)
    }

    /// Starts forming the collected records into a run, once there is room for it.
    fn write_run(&mut self) -> Result<()> {
        self.collected.room = 0;
        if self.collected.filled == 0 {
            return Ok(());
        }
        let (records, pieces) = self.collected.take();
        let writer = self.run_writer()?;
        let mut former = match self.former.take() {
            Some(former) => former,
            None => Former::new(self.threads, self.shape.block_records)?,
        };
        self.collected.records = former.start(records, pieces, writer);
        self.former = Some(former);
        self.take_formed(false)
    }

    /// Takes the runs formed so far, or waits for all that are still being formed.
    fn take_formed(&mut self, wait: bool) -> Result<()> {
        while let Some(run) = self.former.as_mut().and_then(|former| former.next_run(wait)) {
            self.runs.push(run?);
            self.summary.run_count += 1;
        }
        Ok(())
    }

    /// Waits for all runs, and frees their buffers.
    fn end_formation(&mut self) -> Result<()> {
        self.take_formed(true)?;
        self.former = None;
        Ok(())
    }

    /// Returns the directory of the runs, creating it if necessary.
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
    /// Errors of reading and writing runs.
    pub fn finish(mut self) -> Result<Sorted<R>> {
        if self.next_name == 0 {
            let Collected { mut records, filled, .. } = self.collected;
            records.truncate(filled);
            let mut scratch = reserve_large_pages(records.len());
            scratch.resize(records.len(), R::default());
            radix::sort(&mut records, &mut scratch);
            return Ok(Sorted::new(records, None, self.summary));
        }
        self.write_run()?;
        self.end_formation()?;
        self.collected.records = Vec::new();
        self.summary.pass_count = 1;
        let fan_in = self.shape.fan_in(self.runs.len());
        while self.runs.len() > fan_in {
            self.merge_pass(fan_in)?;
        }
        self.summary.fan_in = self.summary.fan_in.max(self.runs.len() as u64);
        let runs = std::mem::take(&mut self.runs);
        Ok(Sorted::new(Vec::new(), Some(self.merge(runs)?), self.summary))
    }

    fn merge(&self, runs: Vec<Run<R>>) -> Result<Merge<R>> {
        let (shape, count) = (&self.shape, runs.len() as u64);
        let window_records = shape.window_records(count) as usize;
        let run_bytes = runs.iter().map(Run::bytes).sum();
        let width = Width {
            workers: self.threads,
            load_bytes: shape.load_bytes(count).min(run_bytes) as usize,
            block_records: shape.block_records,
            window_records,
            blocks_at_once: (window_records / shape.block_records).max(1),
        };
        // Two threads per core, as half of them wait for the disk.
        Ok(Merge::new(runs, width, form::pool(2 * self.threads)?))
    }

    /// Runs one pass: merges neighboring runs, only as many as needed for one last merge with the full fan-in.
    fn merge_pass(&mut self, fan_in: usize) -> Result<()> {
        self.summary.pass_count += 1;
        self.summary.fan_in = fan_in as u64;
        let mut merged = Vec::new();
        let mut runs = std::mem::take(&mut self.runs).into_iter();
        for take in merges_of_pass(runs.len(), fan_in) {
            let mut group: Vec<Run<R>> = runs.by_ref().take(take).collect();
            merged.push(if take == 1 { group.remove(0) } else { self.merge_runs(group)? });
        }
        self.runs = merged;
        Ok(())
    }

    fn merge_runs(&mut self, group: Vec<Run<R>>) -> Result<Run<R>> {
        let mut writer = self.run_writer()?;
        let mut merge = self.merge(group)?;
        let (mut records, mut block) = (Vec::new(), Vec::new());
        loop {
            records = merge.next_chunk(records)?;
            if records.is_empty() {
                return writer.finish();
            }
            for part in cut(&records, self.shape.block_records) {
                block.clear();
                encode_block(part, &mut block);
                writer.push(&block, part[0].key(), part.len())?;
            }
        }
    }
}

/// Records in memory, which no run has yet.
#[derive(Default)]
struct Collected<R> {
    records: Vec<R>,
    filled: usize,
    /// Index up to which single records can be added without making room.
    room: usize,
    /// Ordered pieces of the records. The last records may not be in a piece yet.
    pieces: Vec<Piece>,
    in_pieces: usize,
    /// Space where pieces are filled.
    spaces: Spaces<R>,
}

impl<R: Record> Collected<R> {
    /// Returns space for `count` more records of a run of `run_capacity`, which they fit in.
    fn space(&mut self, count: usize, run_capacity: usize) -> &mut [R] {
        let needed = self.filled + count;
        if needed > self.records.capacity() {
            let old = std::mem::take(&mut self.records);
            let room = if 2 * needed <= FEW_RECORDS { FEW_RECORDS } else { run_capacity };
            self.records = reserve_large_pages(room.max(needed));
            self.records.extend_from_slice(&old[..self.filled]);
        }
        if needed > self.records.len() {
            // Memory is touched only when needed: a small job stays small.
            self.records.resize(needed, R::default());
        }
        &mut self.records[self.filled..needed]
    }

    /// Orders the records after the last piece, which become a new piece.
    fn end_piece(&mut self) {
        let records = &mut self.records[self.in_pieces..self.filled];
        if !records.is_empty() {
            let mut space = self.spaces.take(0);
            space.extend_from_slice(records);
            self.pieces.extend(Piece::order(&space, records));
            self.spaces.give_back(space);
        }
        self.in_pieces = self.filled;
    }

    /// Takes all records, and the pieces that they are ordered in.
    fn take(&mut self) -> (Vec<R>, Vec<Piece>) {
        self.end_piece();
        self.records.truncate(self.filled);
        (self.filled, self.in_pieces) = (0, 0);
        (std::mem::take(&mut self.records), std::mem::take(&mut self.pieces))
    }
}

/// Buffers of threads.
#[derive(Default)]
struct Spaces<R>(Mutex<Vec<Vec<R>>>);

impl<R: Record> Spaces<R> {
    /// Returns a buffer of `count` records without meaning.
    fn take(&self, count: usize) -> Vec<R> {
        let mut space = self.0.lock().expect("nothing panics inside").pop().unwrap_or_default();
        space.resize(count, R::default());
        space
    }

    fn give_back(&self, space: Vec<R>) {
        self.0.lock().expect("nothing panics inside").push(space);
    }
}

/// Moves the filled records of each part to the end of those of the previous part; returns their total number.
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
