//! Merging of sorted runs by windows of their keys.
//!
//! ```text
//!  run 0  ===========*========|======      `*`: the record `step` ahead, or the first of the next block.
//!  run 1  =======*====|==============      The least of these keys bounds the window: in every run, all
//!  run 2  ==========|*===|===========      records below it are in memory.
//!         ^      ^
//!         at     bound
//! ```
//! The records of a window are copied in the order of their runs, and sorted there: a few thousand records, which
//! stay in the cache, by the stable radix sort. So equal keys leave in the order of their runs. If the next key
//! fills the step of a run, no record is below the bound: then the records with that key are copied run by run.
//! Cost: a binary search per run and window, and about three passes over the records in the cache; that takes
//! about two thirds of the time of a loser tree.
//!
//! The key space is divided into ranges at first keys of blocks. Worker threads merge ranges in parallel, and the
//! ranges are returned in order, so a merge uses all cores, with the same result as a single merge. A range is started
//! only when it is among the next few, which bounds the memory: per worker one block per run, and the records of the
//! waiting ranges.
//!
//! A worker holds the only sender of its range, so its panic closes the range instead of leaving the caller
//! waiting forever; the panic is then resumed in the caller.

use super::Record;
use super::radix::sort_few;
use super::run::{Run, RunReader};
use super::shape::ranges_ahead;
use crossbeam_channel::{Receiver, Sender, bounded};
use outcore_io::error::Result;
use outcore_io::{ALIGNMENT, AlignedBuffer};
use std::any::Any;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Maximum number of records that a worker returns at a time; none at the end of its range.
const CHUNK_RECORDS: usize = 16 << 10;

/// One run within one key range.
struct Lane<R: Record> {
    reader: RunReader<R>,
    block: Vec<R>,
    at: usize,
    /// Index in `block` of the first record after the range.
    end: usize,
    below: Option<R::Key>,
}

impl<R: Record> Lane<R> {
    fn new(run: &Arc<Run<R>>, read_bytes: u64) -> Self {
        let reader = RunReader::new(run.clone(), read_bytes);
        Self { reader, block: Vec::new(), at: 0, end: 0, below: None }
    }

    /// Moves to the part of the run from `from` on and below `below`.
    fn go_to(
        &mut self,
        from: Option<R::Key>,
        below: Option<R::Key>,
        buffer: &mut [u8],
    ) -> Result<()> {
        self.reader.go_to(from, below);
        self.below = below;
        (self.at, self.end) = (0, 0);
        while self.at == self.end && self.next_block(buffer)? {
            self.at =
                from.map_or(0, |from| self.block.partition_point(|record| record.key() < from));
            self.at = self.at.min(self.end);
        }
        Ok(())
    }

    fn next_block(&mut self, buffer: &mut [u8]) -> Result<bool> {
        let more = self.reader.next_block(buffer, &mut self.block)?;
        self.at = 0;
        self.end = match self.below {
            _ if !more => 0,
            Some(below) if self.reader.is_at_end() => {
                self.block.partition_point(|record| record.key() < below)
            }
            _ => self.block.len(),
        };
        Ok(more)
    }

    /// Returns the records in memory that have not been merged.
    #[inline]
    fn rest(&self) -> &[R] {
        &self.block[self.at..self.end]
    }

    /// Returns a bound: all records of the run below this key are among the next `step` ones in memory. `None` if all
    /// remaining records are.
    #[inline]
    fn bound(&self, step: usize) -> Option<R::Key> {
        self.rest().get(step).map(Record::key).or_else(|| self.reader.next_first_key())
    }
}

/// Channel for the records of one range, or the error that stopped them.
type Output<R> = Sender<Result<Vec<R>>>;

/// Lanes of a worker, one per run, and their read buffer: one buffer for all, so that it lies in large pages,
/// which makes direct reads faster.
struct Lanes<R: Record> {
    lanes: Vec<Lane<R>>,
    buffer: AlignedBuffer,
    /// Bytes of the buffer per lane.
    share: usize,
}

impl<R: Record> Lanes<R> {
    fn new(runs: &[Arc<Run<R>>], read_bytes: u64) -> Self {
        let lanes: Vec<_> = runs.iter().map(|run| Lane::new(run, read_bytes)).collect();
        let share = lanes.iter().map(|lane| lane.reader.buffer_bytes()).max().unwrap_or(ALIGNMENT);
        Self { buffer: AlignedBuffer::new(share * lanes.len()), lanes, share }
    }

    fn go_to(&mut self, from: Option<R::Key>, below: Option<R::Key>) -> Result<()> {
        let buffers = self.buffer.bytes_mut().chunks_exact_mut(self.share);
        self.lanes
            .iter_mut()
            .zip(buffers)
            .try_for_each(|(lane, part)| lane.go_to(from, below, part))
    }

    /// Appends the next `count` records of a lane to `out`; reads the next block at the end of one.
    #[inline]
    fn take(&mut self, run: usize, count: usize, out: &mut Vec<R>) -> Result<()> {
        let lane = &mut self.lanes[run];
        out.extend_from_slice(&lane.rest()[..count]);
        lane.at += count;
        if lane.at == lane.end {
            let part = run * self.share..(run + 1) * self.share;
            lane.next_block(&mut self.buffer.bytes_mut()[part])?;
        }
        Ok(())
    }

    /// Appends the records with `key`, up to `most` in `out`, in the order of their runs.
    fn take_equal(&mut self, key: R::Key, most: usize, out: &mut Vec<R>) -> Result<()> {
        for run in 0..self.lanes.len() {
            loop {
                let rest = self.lanes[run].rest();
                let rest = &rest[..rest.len().min(most - out.len())];
                let count = rest.partition_point(|record| record.key() <= key);
                if count == 0 {
                    break;
                }
                self.take(run, count, out)?;
            }
        }
        Ok(())
    }
}

/// Window of a merge: the records below the least bound of all lanes.
struct Window<R: Record> {
    /// Number of records that it should have: the step adapts until it has half to twice as many.
    records: usize,
    /// Maximum number of records of a lane.
    step: usize,
    /// Number of records of each lane.
    counts: Vec<usize>,
    scratch: Vec<R>,
}

impl<R: Record> Window<R> {
    fn new(records: usize, lanes: usize) -> Self {
        let step = (records / lanes).max(1);
        Self { records, step, counts: vec![0; lanes], scratch: Vec::new() }
    }

    /// Appends merged records to `out`, up to `most` in it; at the end of the range, none.
    fn fill(&mut self, lanes: &mut Lanes<R>, most: usize, out: &mut Vec<R>) -> Result<()> {
        while out.len() < most {
            let bound = lanes.lanes.iter().filter_map(|lane| lane.bound(self.step)).min();
            let count = self.count(lanes, bound);
            let room = most - out.len();
            match bound {
                Some(key) if count == 0 => lanes.take_equal(key, most, out)?,
                None if count == 0 => return Ok(()),
                _ if count <= room => self.take(lanes, out)?,
                // A smaller step leads to a smaller window.
                _ if out.is_empty() => {}
                _ => return Ok(()),
            }
            if count > 2 * self.records || count > room {
                self.step = (self.step / 2).max(1);
            } else if count < self.records / 2 && self.step < most {
                self.step *= 2;
            }
        }
        Ok(())
    }

    /// Counts the records of every lane below `bound`; returns their sum.
    fn count(&mut self, lanes: &Lanes<R>, bound: Option<R::Key>) -> usize {
        let mut sum = 0;
        for (count, lane) in self.counts.iter_mut().zip(&lanes.lanes) {
            let rest = lane.rest();
            *count = match bound {
                Some(bound) => {
                    rest[..rest.len().min(self.step)].partition_point(|record| record.key() < bound)
                }
                None => rest.len(),
            };
            sum += *count;
        }
        sum
    }

    /// Appends the counted records, sorted.
    fn take(&mut self, lanes: &mut Lanes<R>, out: &mut Vec<R>) -> Result<()> {
        let (begin, mut sources) = (out.len(), 0);
        for (run, &count) in self.counts.iter().enumerate() {
            if count > 0 {
                lanes.take(run, count, out)?;
                sources += 1;
            }
        }
        if sources > 1 {
            let window = &mut out[begin..];
            if self.scratch.len() < window.len() {
                self.scratch.resize(window.len(), R::default());
            }
            sort_few(window, &mut self.scratch[..window.len()]);
        }
        Ok(())
    }
}

/// State shared by all workers.
struct MergeShared<R: Record> {
    runs: Vec<Arc<Run<R>>>,
    /// Range `i` lies between splitters `i - 1` and `i`.
    splitters: Vec<R::Key>,
    /// Outputs of the ranges that no worker has taken yet.
    outputs: Vec<Mutex<Option<Output<R>>>>,
    next: AtomicUsize,
    window_records: usize,
    read_bytes: u64,
}

impl<R: Record> MergeShared<R> {
    fn range(&self, number: usize) -> (Option<R::Key>, Option<R::Key>) {
        let from = number.checked_sub(1).map(|before| self.splitters[before]);
        (from, self.splitters.get(number).copied())
    }

    /// Returns the only sender of a range.
    fn take_output(&self, number: usize) -> Option<Output<R>> {
        self.outputs.get(number)?.lock().expect("nothing panics while it is held").take()
    }

    /// Merges one range from `lanes`, one per run; ends early if the receiver is gone.
    fn merge_range(
        &self,
        number: usize,
        lanes: &mut Lanes<R>,
        output: &Output<R>,
        spares: &Receiver<Vec<R>>,
    ) -> Result<()> {
        let (from, below) = self.range(number);
        lanes.go_to(from, below)?;
        let mut window = Window::new(self.window_records, lanes.lanes.len());
        loop {
            let mut out = spares.try_recv().unwrap_or_default();
            out.clear();
            out.reserve(CHUNK_RECORDS);
            window.fill(lanes, CHUNK_RECORDS, &mut out)?;
            let is_last = out.is_empty();
            if output.send(Ok(out)).is_err() || is_last {
                return Ok(());
            }
        }
    }
}

/// Memory use of a merge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Width {
    /// Number of threads.
    pub(crate) workers: usize,
    /// Blocks of records per range.
    pub(crate) range_blocks: usize,
    /// Records per block.
    pub(crate) block_records: usize,
    /// Records that a worker sorts in the cache at a time.
    pub(crate) window_records: usize,
    /// Bytes per read request of a run.
    pub(crate) read_bytes: u64,
}

/// Merge of runs; records come in chunks, in order.
pub(crate) struct Merge<R: Record> {
    shared: Arc<MergeShared<R>>,
    /// Outputs of the ranges; those of finished ranges are closed.
    ranges: Vec<Option<Receiver<Result<Vec<R>>>>>,
    current: usize,
    /// Each token lets a worker start a range.
    tokens: Option<Sender<()>>,
    spares: Sender<Vec<R>>,
    workers: Vec<JoinHandle<()>>,
}

impl<R: Record> Merge<R> {
    /// Starts merging `runs`, which are deleted as they are merged.
    pub(crate) fn new(runs: Vec<Run<R>>, width: Width) -> Self {
        let splitters = splitters(&runs, width.range_blocks);
        let chunks = (width.range_blocks * width.block_records).div_ceil(CHUNK_RECORDS) + 1;
        let (outputs, ranges): (Vec<_>, Vec<_>) =
            (0..=splitters.len()).map(|_| bounded(chunks)).unzip();
        let outputs = outputs.into_iter().map(|output| Mutex::new(Some(output))).collect();
        let ahead = ranges_ahead(width.workers);
        let (tokens, taken) = bounded(ahead);
        for _ in 0..ahead {
            tokens.send(()).expect("the channel has room");
        }
        let (spares, spare) = bounded(ahead * chunks);
        let shared = Arc::new(MergeShared {
            runs: runs.into_iter().map(Arc::new).collect(),
            splitters,
            outputs,
            next: AtomicUsize::new(0),
            window_records: width.window_records,
            read_bytes: width.read_bytes,
        });
        let count = width.workers.clamp(1, ranges.len());
        let workers = (0..count)
            .map(|_| spawn_worker(shared.clone(), taken.clone(), spare.clone()))
            .collect();
        let ranges = ranges.into_iter().map(Some).collect();
        Self { shared, ranges, current: 0, tokens: Some(tokens), spares, workers }
    }

    /// Returns the next records; empty at the end. `used` is the previous chunk, to be refilled.
    pub(crate) fn next_chunk(&mut self, used: Vec<R>) -> Result<Vec<R>> {
        // A full channel means that enough chunks are being returned.
        let _ = self.spares.try_send(used);
        while let Some(Some(range)) = self.ranges.get(self.current) {
            // A worker that leaves a range open has panicked.
            let Ok(answer) = range.recv() else { self.resume_panic() };
            // Nothing follows an error.
            let chunk = answer.inspect_err(|_| self.current = self.ranges.len())?;
            if !chunk.is_empty() {
                return Ok(chunk);
            }
            self.end_range();
        }
        Ok(Vec::new())
    }

    /// Ends all workers and resumes the panic of one of them.
    fn resume_panic(&mut self) -> ! {
        let panic = self.join().expect("a worker ends every range that it takes");
        resume_unwind(panic)
    }

    /// Ends all workers; returns the first panic among them.
    fn join(&mut self) -> Option<Box<dyn Any + Send>> {
        self.tokens = None;
        self.ranges.clear();
        let ends: Vec<_> = self.workers.drain(..).map(JoinHandle::join).collect();
        ends.into_iter().find_map(std::result::Result::err)
    }

    /// Ends the current range: its blocks are no longer needed, and another may be started.
    fn end_range(&mut self) {
        self.ranges[self.current] = None;
        self.current += 1;
        let (from, _) = self.shared.range(self.current.min(self.shared.splitters.len()));
        if self.current < self.ranges.len() {
            for run in &self.shared.runs {
                run.delete_before(from);
            }
        }
        if let Some(tokens) = &self.tokens {
            // Once all ranges are started, no worker is left to take a token.
            let _ = tokens.try_send(());
        }
    }
}

impl<R: Record> Drop for Merge<R> {
    fn drop(&mut self) {
        // The caller needs neither the remaining records nor a worker's panic.
        let _ = self.join();
    }
}

fn spawn_worker<R: Record>(
    shared: Arc<MergeShared<R>>,
    tokens: Receiver<()>,
    spares: Receiver<Vec<R>>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut lanes = Lanes::new(&shared.runs, shared.read_bytes);
        while tokens.recv().is_ok() {
            let number = shared.next.fetch_add(1, Ordering::Relaxed);
            let Some(output) = shared.take_output(number) else { return };
            if let Err(error) = shared.merge_range(number, &mut lanes, &output, &spares) {
                // The merge may have been dropped: then nobody waits for the error.
                let _ = output.send(Err(error));
            }
        }
    })
}

/// Returns first keys of blocks that divide the runs into ranges of about `range_blocks` blocks.
fn splitters<R: Record>(runs: &[Run<R>], range_blocks: usize) -> Vec<R::Key> {
    let mut firsts: Vec<R::Key> = runs.iter().flat_map(Run::first_keys).collect();
    firsts.sort_unstable();
    let mut splitters: Vec<R::Key> =
        firsts.iter().copied().step_by(range_blocks.max(1)).skip(1).collect();
    splitters.dedup();
    splitters
}
