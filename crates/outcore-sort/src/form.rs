//! Run formation: the collected records are divided into buckets that fit the cache, and each of these is arranged,
//! encoded and written, while the next records are collected.
//!
//! ```text
//!  pieces, ordered by leading bits --> thread: gather a bucket, arrange, encode --> run
//!      ^                                          |
//!      `------------- buffers come back ----------'
//! ```
//! Records are collected in pieces, which are ordered by a few leading bits of their keys while they are in the cache. So a
//! bucket is a few long parts of each piece, and a record goes to memory and comes back once. Memory: two buffers of a run,
//! and two more if all keys are in one bucket. They are reused, since new pages of memory are expensive.

use super::radix::{Division, LARGE_BYTES, Piece};
use super::record::Record;
use super::run::{Run, RunWriter, cut, encode_block};
use outcore_io::error::opt::THREADS;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::parallel::{self, Receiver, Sender, channel};
use rayon::ThreadPool;
use std::thread::JoinHandle;

/// Records of a run in pieces, and the writer of the run.
type Collected<R> = (Vec<R>, Vec<Piece>, RunWriter<R>);

/// Former of runs on a thread of its own, in the order of submission.
pub(crate) struct Former<R: Record> {
    collected: Option<Sender<Collected<R>>>,
    free: Receiver<Vec<R>>,
    formed: Receiver<Result<Run<R>>>,
    at_work: usize,
    thread: Option<JoinHandle<()>>,
}

impl<R: Record> Former<R> {
    /// Starts the thread, which shares its work with `threads` more.
    pub(crate) fn new(threads: usize, block_records: usize) -> Result<Self> {
        let pool = pool(threads)?;
        let (collected, to_form) = channel::<Collected<R>>(None);
        let (runs, formed) = channel(None);
        let (give_back, free) = channel(None);
        give_back.send(Vec::new()).expect("the receiver is here");
        let thread = parallel::spawn(move || {
            let mut buckets = Vec::new();
            buckets.resize_with(2 * threads, Bucket::default);
            for (records, pieces, writer) in to_form {
                let division = Division::new::<R>(&pieces, block_records);
                let run = write(&records, &pieces, &division, writer, &pool, &mut buckets);
                // The caller may be gone: then neither is needed.
                let _ = runs.send(run);
                let _ = give_back.send(records);
            }
        });
        Ok(Self { collected: Some(collected), free, formed, at_work: 0, thread: Some(thread) })
    }

    /// Starts forming a run of `records`; returns a buffer for further records, once there is one.
    pub(crate) fn start(
        &mut self,
        records: Vec<R>,
        pieces: Vec<Piece>,
        writer: RunWriter<R>,
    ) -> Vec<R> {
        let collected = self.collected.as_ref().expect("present until dropped");
        if collected.send((records, pieces, writer)).is_err() {
            self.fail();
        }
        self.at_work += 1;
        self.free.recv().unwrap_or_else(|_| self.fail())
    }

    /// Returns the next formed run; waits for it if `wait`. `None` if there is none.
    pub(crate) fn next_run(&mut self, wait: bool) -> Option<Result<Run<R>>> {
        if self.at_work == 0 || (!wait && self.formed.is_empty()) {
            return None;
        }
        let run = self.formed.recv().unwrap_or_else(|_| self.fail());
        self.at_work -= 1;
        Some(run)
    }

    /// Propagates the panic of the thread to the caller.
    fn fail(&mut self) -> ! {
        self.collected = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => unreachable!("the thread ends when the former is dropped, or by a panic"),
        }
    }
}

impl<R: Record> Drop for Former<R> {
    fn drop(&mut self) {
        self.collected = None;
        if let Some(thread) = self.thread.take() {
            // The thread drops the runs that were not taken. It ends first, since files may be removed only when
            // nothing writes them.
            let _ = thread.join();
        }
    }
}

pub(crate) fn pool(threads: usize) -> Result<ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot start {threads} threads: {error}"))
            .hint(format_args!("use {THREADS} with a smaller number"))
    })
}

/// Bucket of a run on its way to blocks.
struct Bucket<R: Record> {
    records: Vec<R>,
    scratch: Vec<R>,
    bytes: Vec<u8>,
    /// Bytes, first key and record count of each block.
    blocks: Vec<(usize, R::Key, usize)>,
}

impl<R: Record> Default for Bucket<R> {
    fn default() -> Self {
        Self { records: Vec::new(), scratch: Vec::new(), bytes: Vec::new(), blocks: Vec::new() }
    }
}

impl<R: Record> Bucket<R> {
    /// Gathers and encodes the bucket `number`.
    fn fill(&mut self, number: usize, from: &[R], pieces: &[Piece], division: &Division) {
        let Self { records, scratch, bytes, blocks } = self;
        division.gather(number, from, pieces, records);
        bytes.clear();
        blocks.clear();
        let cells = division.arrange(records, scratch);
        if scratch.capacity() > most_kept::<R>() {
            // Frees this memory for the encoded blocks.
            *scratch = Vec::new();
        }
        for cell in cells {
            let is_whole = cell.records.len() <= division.most();
            for block in cut(cell.records, division.most()) {
                let begin = bytes.len();
                let first = if is_whole { cell.least } else { block[0].key() };
                encode_block(block, bytes);
                blocks.push((bytes.len() - begin, first, block.len()));
            }
        }
    }
}

/// Returns how many records a bucket may keep memory for between uses. There are many buckets, and any one can be as
/// large as a run.
const fn most_kept<R>() -> usize {
    LARGE_BYTES / size_of::<R>()
}

/// Writes a run, one group of buckets after the other.
fn write<R: Record>(
    records: &[R],
    pieces: &[Piece],
    division: &Division,
    mut writer: RunWriter<R>,
    pool: &ThreadPool,
    buckets: &mut [Bucket<R>],
) -> Result<Run<R>> {
    for begin in (0..division.bucket_count()).step_by(buckets.len()) {
        let numbers = begin..division.bucket_count().min(begin + buckets.len());
        let group = &mut buckets[..numbers.len()];
        let fill = |(bucket, number): (&mut Bucket<R>, _)| {
            bucket.fill(number, records, pieces, division);
        };
        parallel::for_each(Some(pool), group.iter_mut().zip(numbers).collect(), fill);
        for bucket in group {
            let mut at = 0;
            for &(len, first, count) in &bucket.blocks {
                writer.push(&bucket.bytes[at..at + len], first, count)?;
                at += len;
            }
            if bucket.records.capacity() > most_kept::<R>() {
                *bucket = Bucket::default();
            }
        }
    }
    writer.finish()
}
