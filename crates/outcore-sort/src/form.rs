//! Run formation in the background: while records are collected in one buffer, those in a second are sorted,
//! and those in a third encoded and written.
//!
//! ```text
//!  collected --> sorting thread (radix, scratch) --> writing thread (encode, write) --> runs
//!      ^                                                     |
//!      `------------------- buffers come back ---------------'
//! ```
//! Memory: [`RUN_BUFFERS`] buffers of a run, including scratch space. They are reused from run to run, since
//! new pages of memory are expensive.
//!
//! Each of the two threads has its own thread pool. With one pool, or with two runs formed concurrently, the stages
//! fell into step and waited for the disk together.

use super::radix;
use super::record::Record;
use super::run::{Run, RunWriter, encode_block};
use super::shape::RUN_BUFFERS;
use crossbeam_channel::{Receiver, Sender, unbounded};
use outcore_io::error::opt::THREADS;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::reserve_large_pages;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::thread::JoinHandle;

/// Number of records encoded at a time: enough to share between threads, and more than a writer holds.
const ENCODED_RECORDS: usize = 256 << 10;

/// Sorts `records`; `scratch` grows to their number.
pub(crate) fn sort<R: Record>(records: &mut [R], scratch: &mut Vec<R>) {
    if scratch.capacity() < records.len() {
        *scratch = Vec::new();
        *scratch = reserve_large_pages(records.len());
    }
    if scratch.len() < records.len() {
        scratch.resize(records.len(), R::default());
    }
    radix::sort(records, &mut scratch[..records.len()]);
}

/// Collected records and the writer of their run.
type Collected<R> = (Vec<R>, RunWriter<R>);

/// Former of runs on threads of its own, in the order of submission.
pub(crate) struct Former<R: Record> {
    collected: Option<Sender<Collected<R>>>,
    free: Receiver<Vec<R>>,
    formed: Receiver<Result<Run<R>>>,
    at_work: usize,
    threads: Vec<JoinHandle<()>>,
}

impl<R: Record> Former<R> {
    /// Starts the threads; each shares its work with `threads` more.
    pub(crate) fn new(threads: usize, block_records: usize) -> Result<Self> {
        // A pool each: in a shared one, a few blocks to encode would wait until an entire run is sorted.
        let (sort_pool, encode_pool) = (pool(threads)?, pool(threads)?);
        let (collected, to_sort) = unbounded::<Collected<R>>();
        let (sorted, to_write) = unbounded::<Collected<R>>();
        let (runs, formed) = unbounded();
        let (give_back, free) = unbounded();
        for _ in 0..RUN_BUFFERS - 2 {
            give_back.send(Vec::new()).expect("the receiver is here");
        }
        let sorting = std::thread::spawn(move || {
            let mut scratch = Vec::new();
            for (mut records, writer) in to_sort {
                sort_pool.install(|| sort(&mut records, &mut scratch));
                if sorted.send((records, writer)).is_err() {
                    return;
                }
            }
        });
        let writing = std::thread::spawn(move || {
            for (records, writer) in to_write {
                let run = write(&records, writer, block_records, &encode_pool);
                // The caller may be gone: then neither is needed.
                let _ = runs.send(run);
                let _ = give_back.send(records);
            }
        });
        let threads = vec![sorting, writing];
        Ok(Self { collected: Some(collected), free, formed, at_work: 0, threads })
    }

    /// Starts forming a run of `records`; returns a buffer for further records, once there is one.
    pub(crate) fn start(&mut self, records: Vec<R>, writer: RunWriter<R>) -> Vec<R> {
        let collected = self.collected.as_ref().expect("present until dropped");
        if collected.send((records, writer)).is_err() {
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

    /// Propagates the panic of a thread to the caller.
    fn fail(&mut self) -> ! {
        self.collected = None;
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        unreachable!("the threads end when the former is dropped, or by a panic")
    }
}

impl<R: Record> Drop for Former<R> {
    fn drop(&mut self) {
        self.collected = None;
        for thread in self.threads.drain(..) {
            // Runs that were not taken are dropped with it; files may be removed only when nothing writes
            // them.
            let _ = thread.join();
        }
    }
}

fn pool(threads: usize) -> Result<ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot start {threads} threads: {error}"))
            .hint(format_args!("use {THREADS} with a smaller number"))
    })
}

/// Writes sorted records as a run: blocks are encoded while the previous ones are written.
fn write<R: Record>(
    records: &[R],
    mut writer: RunWriter<R>,
    block_records: usize,
    pool: &ThreadPool,
) -> Result<Run<R>> {
    let parts = ENCODED_RECORDS.div_ceil(block_records);
    let mut encoded = vec![Vec::new(); parts];
    for group in records.chunks(block_records * parts) {
        let blocks = group.par_chunks(block_records).zip(&mut encoded);
        pool.install(|| blocks.for_each(|(records, out)| encode_block(records, out)));
        for (block, records) in encoded.iter().zip(group.chunks(block_records)) {
            writer.push(block, records[0].key())?;
        }
    }
    writer.finish()
}
