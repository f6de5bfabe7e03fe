//! Merging of runs by windows of their keys.
//!
//! ```text
//!  run 0  [---][-----][--][----][---]      A window holds a few blocks of every run: it is gathered in memory, and sorted
//!  run 1  [---][--][-----][-------]        there once. Its bounds are first keys of blocks, those that most runs have:
//!  run 2  [----][----][---][------]        a block in two windows is decoded twice.
//!              |      |    window
//!
//!  loader --windows and the bytes of their blocks--> workers --sorted windows--> caller
//!     `------------------------ order of the windows ------------------------------^
//! ```
//! One thread loads the blocks of several windows at a time, a long piece of every run. Workers decode and sort windows,
//! and the caller receives these in order: the merge uses all cores, with the same result as on one. Blocks are gathered
//! in the order of their runs, and sorted by the stable [`Record::sort`], so equal keys leave in the order of their runs.
//! A key that fills more blocks than a window may hold is passed on run by run, and then the rest of its window.
//!
//! Memory: two buffers of loaded blocks, and a few windows; the same ones again and again, because new pages of memory cost
//! more than sorting what is in them. Cost: decoding and one sort in the cache.
//!
//! A worker holds the only sender of its window, so its panic closes that channel instead of leaving the caller waiting
//! forever; the panic is then resumed in the caller.

use super::Record;
use super::run::{Keys, Loaded, Part, Run};
use super::shape::windows_ahead;
use outcore_io::AlignedBuffer;
use outcore_io::error::Result;
use outcore_io::parallel::{self, Receiver, Sender, channel};
use rayon::ThreadPool;
use std::any::Any;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Records with keys from `from` on, up to the next window.
struct Window<K> {
    from: K,
    /// Whether more records have this key than a window may hold.
    is_heavy: bool,
}

/// Loaded blocks of some runs. The buffer is reused when nothing refers to them any longer.
struct Load {
    buffer: AlignedBuffer,
    /// Number of a run, where its blocks begin in the buffer, and the blocks.
    parts: Vec<(usize, usize, Loaded)>,
    give_back: Sender<AlignedBuffer>,
}

impl Drop for Load {
    fn drop(&mut self) {
        let buffer = std::mem::replace(&mut self.buffer, AlignedBuffer::new(0));
        // The loader may have ended.
        let _ = self.give_back.send(buffer);
    }
}

/// Sorted records of a window, or an error.
type Sent<R> = Result<Vec<R>>;

struct Job<R: Record> {
    keys: Keys<R::Key>,
    load: Arc<Load>,
    output: Sender<Sent<R>>,
}

/// Reason to stop loading: an error, or no receiver any more.
enum Stop {
    Failed(outcore_io::error::Error),
    Unwanted,
}

impl From<outcore_io::error::Error> for Stop {
    fn from(error: outcore_io::error::Error) -> Self {
        Self::Failed(error)
    }
}

/// Thread that loads blocks, and hands out windows.
struct Loader<R: Record> {
    runs: Arc<Vec<Run<R>>>,
    windows: Vec<Window<R::Key>>,
    width: Width,
    pool: ThreadPool,
    give_back: Sender<AlignedBuffer>,
    free: Receiver<AlignedBuffer>,
    jobs: Sender<Job<R>>,
    order: Sender<Receiver<Sent<R>>>,
}

impl<R: Record> Loader<R> {
    fn run(self) {
        if let Err(Stop::Failed(error)) = self.load_all() {
            let (output, receiver) = channel(Some(1));
            // The caller may be gone.
            let _ = output.send(Err(error));
            let _ = self.order.send(receiver);
        }
    }

    fn load_all(&self) -> std::result::Result<(), Stop> {
        let mut begin = 0;
        while begin < self.windows.len() {
            let end = if self.windows[begin].is_heavy {
                self.load_heavy(begin)?;
                begin + 1
            } else {
                self.load_windows(begin)?
            };
            // What is in memory is no longer needed on disk.
            if let Some(next) = self.windows.get(end) {
                self.runs.iter().for_each(|run| run.delete_before(next.from));
            }
            begin = end;
        }
        Ok(())
    }

    /// Returns the keys of consecutive windows.
    fn keys(&self, windows: Range<usize>) -> Keys<R::Key> {
        let below = self.windows.get(windows.end).map(|next| next.from);
        Keys { from: self.windows[windows.start].from, below, part: Part::All }
    }

    /// Returns the blocks of every run that may hold any of the keys.
    fn blocks(&self, keys: Keys<R::Key>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let blocks = self.runs.iter().map(move |run| run.blocks_between(keys.from, keys.below));
        blocks.enumerate().filter(|(_, blocks)| !blocks.is_empty())
    }

    /// Loads windows from `begin` on, as many as the buffer has room for, and hands them out; returns the next one.
    fn load_windows(&self, begin: usize) -> std::result::Result<usize, Stop> {
        let room = |end| {
            let blocks = self.blocks(self.keys(begin..end));
            blocks.map(|(run, blocks)| self.runs[run].room_for(blocks)).sum::<usize>()
        };
        let mut end = begin + 1;
        while end < self.windows.len()
            && !self.windows[end].is_heavy
            && room(end + 1) <= self.width.load_bytes
        {
            end += 1;
        }
        let load = self.load(self.blocks(self.keys(begin..end)).collect())?;
        for at in begin..end {
            self.hand_out(self.keys(at..at + 1), &load)?;
        }
        Ok(end)
    }

    /// Loads the blocks of a window in which most records have the same key, the first. Hands out the records with this
    /// key run by run, then all others.
    fn load_heavy(&self, window: usize) -> std::result::Result<(), Stop> {
        let keys = self.keys(window..window + 1);
        for (run, blocks) in self.blocks(keys) {
            for begin in blocks.clone().step_by(self.width.blocks_at_once) {
                let part = begin..blocks.end.min(begin + self.width.blocks_at_once);
                let load = self.load(vec![(run, part)])?;
                self.hand_out(Keys { part: Part::First, ..keys }, &load)?;
            }
        }
        // Only the last block of a run can hold other keys.
        let last = self.blocks(keys).map(|(run, blocks)| (run, blocks.end - 1..blocks.end));
        let load = self.load(last.collect())?;
        self.hand_out(Keys { part: Part::Others, ..keys }, &load)
    }

    fn load(&self, blocks: Vec<(usize, Range<usize>)>) -> std::result::Result<Arc<Load>, Stop> {
        let rooms: Vec<_> =
            blocks.iter().map(|(run, blocks)| self.runs[*run].room_for(blocks.clone())).collect();
        let needed = rooms.iter().sum();
        let mut buffer = self.free.recv().map_err(|_| Stop::Unwanted)?;
        if buffer.bytes_mut().len() < needed {
            drop(buffer);
            buffer = AlignedBuffer::new(needed.max(self.width.load_bytes));
        }
        let (mut rest, mut at, mut parts) = (buffer.bytes_mut(), 0, Vec::new());
        for ((run, blocks), room) in blocks.into_iter().zip(rooms) {
            let (part, others) = rest.split_at_mut(room);
            rest = others;
            parts.push((run, at, blocks, part));
            at += room;
        }
        let load = |(run, at, blocks, part): (usize, _, _, &mut [u8])| {
            Ok((run, at, self.runs[run].load(blocks, part)?))
        };
        let parts: Result<_> = parallel::map(Some(&self.pool), parts, load).into_iter().collect();
        Ok(Arc::new(Load { parts: parts?, buffer, give_back: self.give_back.clone() }))
    }

    fn hand_out(&self, keys: Keys<R::Key>, load: &Arc<Load>) -> std::result::Result<(), Stop> {
        let (output, receiver) = channel(Some(1));
        let job = Job { keys, load: load.clone(), output };
        self.order.send(receiver).map_err(|_| Stop::Unwanted)?;
        self.jobs.send(job).map_err(|_| Stop::Unwanted)
    }
}

/// Memory use of a merge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Width {
    /// Number of threads.
    pub(crate) workers: usize,
    /// Bytes of the buffer for the blocks of several windows.
    pub(crate) load_bytes: usize,
    /// Maximum number of records in a block.
    pub(crate) block_records: usize,
    /// Maximum number of records that a worker sorts at a time.
    pub(crate) window_records: usize,
    /// Number of blocks that such a window has room for.
    pub(crate) blocks_at_once: usize,
}

/// Merge of runs; records come in windows, in order.
pub(crate) struct Merge<R: Record> {
    order: Option<Receiver<Receiver<Sent<R>>>>,
    spares: Sender<Vec<R>>,
    threads: Vec<JoinHandle<()>>,
}

impl<R: Record> Merge<R> {
    /// Starts merging `runs`, which are deleted as they are merged.
    pub(crate) fn new(runs: Vec<Run<R>>, width: Width, pool: ThreadPool) -> Self {
        let windows = windows(&runs, width.window_records, width.block_records);
        let runs = Arc::new(runs);
        let ahead = windows_ahead(width.workers);
        let (order, ordered) = channel(Some(ahead));
        // Unlimited, since `order` limits the number of windows under way.
        let (jobs, taken) = channel(None);
        let (spares, spare) = channel(Some(ahead));
        let (give_back, free) = channel(None);
        for _ in 0..2 {
            give_back.send(AlignedBuffer::new(0)).expect("the receiver is here");
        }
        let mut threads: Vec<_> = (0..width.workers)
            .map(|_| spawn_worker(runs.clone(), taken.clone(), spare.clone()))
            .collect();
        let loader = Loader { runs, windows, width, pool, give_back, free, jobs, order };
        threads.push(parallel::spawn(|| loader.run()));
        Self { order: Some(ordered), spares, threads }
    }

    /// Returns the next records; empty at the end. `used` is the previous window, to be refilled.
    pub(crate) fn next_chunk(&mut self, used: Vec<R>) -> Result<Vec<R>> {
        // A full channel means that enough windows are being returned.
        self.spares.send_if_room(used);
        while let Some(Ok(window)) = self.order.as_ref().map(Receiver::recv) {
            // A worker that sends nothing has panicked.
            let Ok(sorted) = window.recv() else { break };
            // Nothing follows an error.
            let records = sorted.inspect_err(|_| self.order = None)?;
            if !records.is_empty() {
                return Ok(records);
            }
        }
        match self.join() {
            Some(panic) => resume_unwind(panic),
            None => Ok(Vec::new()),
        }
    }

    /// Ends all threads; returns the first panic among them.
    fn join(&mut self) -> Option<Box<dyn Any + Send>> {
        self.order = None;
        let ends: Vec<_> = self.threads.drain(..).map(JoinHandle::join).collect();
        ends.into_iter().find_map(std::result::Result::err)
    }
}

impl<R: Record> Drop for Merge<R> {
    fn drop(&mut self) {
        // The caller needs neither the remaining records nor a thread's panic.
        let _ = self.join();
    }
}

fn spawn_worker<R: Record>(
    runs: Arc<Vec<Run<R>>>,
    jobs: Receiver<Job<R>>,
    spares: Receiver<Vec<R>>,
) -> JoinHandle<()> {
    parallel::spawn(move || {
        let mut gathered = Vec::new();
        for Job { keys, load, output } in jobs {
            gathered.clear();
            let found = gather(&runs, &keys, &load, &mut gathered);
            // The loader needs the buffer.
            drop(load);
            let sorted = found.map(|()| {
                let mut out = spares.try_recv().unwrap_or_default();
                out.resize(gathered.len(), R::default());
                R::sort(&mut gathered, &mut out);
                out
            });
            // The merge may have been dropped: then nobody waits for the window.
            let _ = output.send(sorted);
        }
    })
}

/// Appends the records of a window to `out`, in the order of their runs.
fn gather<R: Record>(
    runs: &[Run<R>],
    keys: &Keys<R::Key>,
    load: &Load,
    out: &mut Vec<R>,
) -> Result<()> {
    for (run, at, loaded) in &load.parts {
        let (run, buffer) = (&runs[*run], &load.buffer.bytes()[*at..]);
        let wanted = run.blocks_between(keys.from, keys.below);
        let blocks = wanted.start.max(loaded.blocks.start)..wanted.end.min(loaded.blocks.end);
        for number in blocks {
            run.read(number, loaded, buffer, keys, out)?;
        }
    }
    Ok(())
}

/// Divides the keys of `runs` into windows with at most `most` records, so that few blocks are in several windows.
fn windows<R: Record>(runs: &[Run<R>], most: usize, block_records: usize) -> Vec<Window<R::Key>> {
    let mut blocks: Vec<(R::Key, u32)> =
        runs.iter().flat_map(Run::blocks).map(|block| (block.first, block.count)).collect();
    blocks.sort_unstable();
    // For each first key of blocks: the key, the number of records in these blocks, and how many records of earlier
    // blocks a window that begins here may contain.
    let groups: Vec<_> = blocks
        .chunk_by(|a, b| a.0 == b.0)
        .map(|group| {
            let records: usize = group.iter().map(|&(_, count)| count as usize).sum();
            (group[0].0, records, runs.len().saturating_sub(group.len()) * block_records)
        })
        .collect();
    let (mut windows, mut begin) = (Vec::new(), 0);
    while begin < groups.len() {
        let (from, records, before) = groups[begin];
        let mut held = records + before;
        let is_heavy = held > most;
        windows.push(Window { from, is_heavy });
        let mut end = begin + 1;
        while !is_heavy && end < groups.len() && held + groups[end].1 <= most {
            held += groups[end].1;
            end += 1;
        }
        // Of the possible ends in the second half of the window, chooses the one that splits the fewest blocks, and of
        // these the last.
        let bounds = begin + 1 + (end - begin) / 2..=end;
        let in_fewest = |&at: &usize| (std::cmp::Reverse(groups.get(at).map(|group| group.2)), at);
        begin = if end == groups.len() { end } else { bounds.max_by_key(in_fewest).unwrap_or(end) };
    }
    windows
}
