//! Merging of sorted runs with loser trees that store their keys (Knuth, volume 3, 5.4.1).
//!
//! ```text
//!            winner             An inner node holds the loser of the match played there, key and
//!               |               run in one number, so replaying one path from leaf to root touches
//!            loser 1            ceil(log2(runs)) neighboring numbers and no record.
//!           /       \
//!      loser 2     loser 3      Equal keys leave in the order of their runs: the sort is stable.
//!      /    \      /    \
//!    run 0 run 1 run 2 run 3
//! ```
//! The key space is divided into ranges at first keys of blocks. Worker threads merge ranges in parallel,
//! each with its own tree, and the ranges are returned in order; so a merge uses all cores, and the result is
//! that of a single tree. A range is started only when it is among the next few, which bounds the memory: per
//! worker one block per run, and the records of the waiting ranges.
//!
//! A worker holds the only sender of its range, so its panic closes the range instead of leaving the caller
//! waiting forever; the panic is then resumed in the caller.

use super::run::{Run, RunReader};
use super::shape::ranges_ahead;
use super::{RadixKey, Record};
use crate::error::Result;
use crate::io::{ALIGNMENT, AlignedBuffer};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::any::Any;
use std::hint::select_unpredictable;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Number of records that a worker returns at a time.
const CHUNK_RECORDS: usize = 16 << 10;

/// Run number in the tree of an exhausted run: it loses every match.
const USED_UP: u32 = u32::MAX;

/// Loser tree over the heads of runs. A head is a key and its run in one number ([`RadixKey::rank`]), so a
/// match is one comparison without a branch, which would be unpredictable.
struct LoserTree<K> {
    /// `losers[0]` is the winner; inner nodes are `1..leaves`.
    losers: Vec<K>,
    leaves: usize,
}

impl<K: Ord + Copy> LoserTree<K> {
    fn new(heads: &[K], last: K) -> Self {
        let leaves = heads.len().next_power_of_two().max(1);
        let mut winners = vec![last; 2 * leaves];
        winners[leaves..leaves + heads.len()].copy_from_slice(heads);
        let mut losers = vec![last; leaves];
        for node in (1..leaves).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            winners[node] = left.min(right);
            losers[node] = left.max(right);
        }
        losers[0] = winners[1];
        Self { losers, leaves }
    }

    #[inline]
    fn winner(&self) -> K {
        self.losers[0]
    }

    /// Replays the matches of `leaf`, whose head is now `head`.
    #[inline]
    fn replace(&mut self, leaf: usize, head: K) {
        let mut winner = head;
        let mut node = (self.leaves + leaf) / 2;
        let losers = &mut self.losers[..];
        while node > 0 {
            let other = losers[node];
            let other_wins = other < winner;
            losers[node] = select_unpredictable(other_wins, winner, other);
            winner = select_unpredictable(other_wins, other, winner);
            node /= 2;
        }
        losers[0] = winner;
    }
}

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

    #[inline]
    fn head(&self, run: u32) -> <R::Key as RadixKey>::Rank {
        if self.at < self.end { self.block[self.at].key().rank(run) } else { R::Key::LAST_RANK }
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

    /// Reads the next block of a lane that has reached the end of one.
    fn next_block(&mut self, run: usize) -> Result<bool> {
        let part = run * self.share..(run + 1) * self.share;
        self.lanes[run].next_block(&mut self.buffer.bytes_mut()[part])
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
        let heads: Vec<_> = (0u32..).zip(&lanes.lanes).map(|(run, lane)| lane.head(run)).collect();
        let mut tree = LoserTree::new(&heads, R::Key::LAST_RANK);
        loop {
            let mut out = spares.try_recv().unwrap_or_default();
            out.clear();
            out.reserve(CHUNK_RECORDS);
            while out.len() < CHUNK_RECORDS {
                let run = R::Key::run_of(tree.winner());
                if run == USED_UP {
                    break;
                }
                let lane = &mut lanes.lanes[run as usize];
                out.push(lane.block[lane.at]);
                lane.at += 1;
                if lane.at == lane.end {
                    lanes.next_block(run as usize)?;
                }
                tree.replace(run as usize, lanes.lanes[run as usize].head(run));
            }
            let is_last = out.len() < CHUNK_RECORDS;
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
            let is_last = chunk.len() < CHUNK_RECORDS;
            if is_last {
                self.end_range();
            }
            if !chunk.is_empty() {
                return Ok(chunk);
            }
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
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_tree_returns_the_smallest_head_and_preserves_run_order(
            mut runs in prop::collection::vec(prop::collection::vec(0u8..9, 0..20), 0..20),
        ) {
            for run in &mut runs {
                run.sort_unstable();
            }
            let mut expected: Vec<(u8, u32)> = Vec::new();
            for (number, run) in runs.iter().enumerate() {
                expected.extend(run.iter().map(|&key| (key, number as u32)));
            }
            expected.sort_unstable();
            let mut at = vec![0; runs.len()];
            let head = |at: &[usize], run: u32| match runs[run as usize].get(at[run as usize]) {
                Some(&key) => (key, run),
                None => (u8::MAX, USED_UP),
            };
            let heads: Vec<_> = (0..runs.len() as u32).map(|run| head(&at, run)).collect();
            let mut tree = LoserTree::new(&heads, (u8::MAX, USED_UP));
            let mut found = Vec::new();
            while tree.winner().1 != USED_UP {
                let (key, run) = tree.winner();
                found.push((key, run));
                at[run as usize] += 1;
                tree.replace(run as usize, head(&at, run));
            }
            prop_assert_eq!(found, expected);
        }
    }
}
