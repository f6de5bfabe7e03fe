//! The meter of memory: what the process holds, the most that it held in a stage, and the end of a job
//! that passes its limit.
//!
//! Every stage divides its share of the limit before it begins. The meter checks that this holds, also for
//! what decoders of other libraries allocate: a [`Watch`] takes a sample every [`SAMPLE_EVERY`], which costs
//! a few microseconds, and [`check`] ends the job at its next event.
//!
//! Two counts. A program that has the process to itself ([`own_process`]) is measured by the kernel's
//! anonymous pages: what was touched, by any library in any language, without pages of files and ranges that
//! are only reserved. In the process of somebody else, such as an interpreter, other threads allocate, too:
//! there [`Meter`], the allocator, counts what Rust code holds.

use super::disk::{MemoryPages, peak_memory_bytes};
use crate::budget::SLACK_BYTES;
use crate::error::opt::MEMORY;
use crate::error::{Error, ErrorKind, Result};
use crate::units::format_bytes;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A job that passes its limit by so much is asked to end. At [`SLACK_BYTES`] the process ends at once.
const ASK_BYTES: u64 = 24 << 20;
/// Time between two samples. New pages come at about 1 GiB a second: 5 MiB between two samples.
const SAMPLE_EVERY: Duration = Duration::from_millis(5);

/// What all jobs of the process may hold together.
static JOBS: Mutex<Jobs> = Mutex::new(Jobs { count: 0, limit_bytes: 0, before_bytes: 0 });
/// What was held when the jobs passed their limit; 0 if they did not.
static EXCESS: AtomicU64 = AtomicU64::new(0);
/// The most resident memory in samples of the running stage.
static STAGE_PEAK: AtomicU64 = AtomicU64::new(0);
/// The kernel's peak when the stage began.
static PEAK_BEFORE: AtomicU64 = AtomicU64::new(0);
/// How this process ends a job that cannot wait for its next event.
static AT_EXCESS: OnceLock<fn(&Error)> = OnceLock::new();

struct Jobs {
    count: u32,
    /// The sum of their limits.
    limit_bytes: u64,
    /// Held by the allocator's count before the first of them began.
    before_bytes: u64,
}

/// Declares that jobs have this process to themselves: all memory counts, and `at_excess` ends the process
/// when a job passes its limit by [`SLACK_BYTES`].
pub fn own_process(at_excess: fn(&Error)) {
    // A second call finds it declared.
    let _ = AT_EXCESS.set(at_excess);
}

/// Samples memory while a job runs.
pub(crate) struct Watch {
    limit_bytes: u64,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to sample for a job with this limit.
    ///
    /// # Errors
    /// `Io` if no thread can be started.
    pub(crate) fn begin(limit_bytes: u64) -> Result<Self> {
        let (end, ended) = bounded(0);
        let thread = std::thread::Builder::new().name("outcore-memory".into());
        let thread = thread.spawn(move || {
            let Some(pages) = MemoryPages::open() else { return };
            while ended.recv_timeout(SAMPLE_EVERY) == Err(RecvTimeoutError::Timeout) {
                sample(&pages);
            }
        });
        let thread = thread.map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot start a thread: {error}"))
                .hint("raise `ulimit -u`, or the limit of the container")
        })?;
        let mut jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.count == 0 {
            EXCESS.store(0, Relaxed);
            jobs.before_bytes = Meter::held_bytes();
        }
        jobs.count += 1;
        jobs.limit_bytes = jobs.limit_bytes.saturating_add(limit_bytes);
        Ok(Self { limit_bytes, end: Some(end), thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.end.take());
        // A panic of the thread has been reported, and only ended the sampling.
        let _ = self.thread.take().map(JoinHandle::join);
        let mut jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.count -= 1;
        jobs.limit_bytes = jobs.limit_bytes.saturating_sub(self.limit_bytes);
    }
}

/// Compares what is held now with what may be held.
fn sample(pages: &MemoryPages) {
    let Some((resident, anonymous)) = pages.read() else { return };
    STAGE_PEAK.fetch_max(resident, Relaxed);
    let at_excess = AT_EXCESS.get();
    let (held, limit) = {
        let jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = || Meter::held_bytes().saturating_sub(jobs.before_bytes);
        (at_excess.map_or_else(counted, |_| anonymous), jobs.limit_bytes)
    };
    if held > limit.saturating_add(ASK_BYTES) {
        EXCESS.fetch_max(held, Relaxed);
    }
    if let Some(end) = at_excess
        && held > limit.saturating_add(SLACK_BYTES)
    {
        end(&excess(held, limit).kept("what is finished; the same command resumes from it"));
    }
}

/// Ends the job if it passed its limit.
///
/// # Errors
/// `MemoryTooSmall`.
pub(crate) fn check() -> Result<()> {
    match EXCESS.load(Relaxed) {
        0 => Ok(()),
        held => {
            let limit = JOBS.lock().unwrap_or_else(PoisonError::into_inner).limit_bytes;
            Err(excess(held, limit))
        }
    }
}

fn excess(held: u64, limit: u64) -> Error {
    let (held, limit) = (format_bytes(held), format_bytes(limit));
    let message = format!("the job holds {held} of memory, beyond its limit of {limit}");
    Error::new(ErrorKind::MemoryTooSmall, message).hint(format_args!(
        "give it more with {MEMORY}; no input should lead here, so please report it with the command \
         and the shape of the input"
    ))
}

/// Begins to look for the peak of a stage.
pub(crate) fn begin_stage() {
    PEAK_BEFORE.store(peak_memory_bytes().unwrap_or(0), Relaxed);
    STAGE_PEAK.store(0, Relaxed);
}

/// Returns the most resident memory since the stage began, if the system tells: exactly where that is the most
/// that the process ever had, as the largest sample otherwise.
pub(crate) fn stage_peak_bytes() -> Option<u64> {
    let peak = peak_memory_bytes()?;
    if peak > PEAK_BEFORE.load(Relaxed) {
        return Some(peak);
    }
    let (resident, _) = MemoryPages::open()?.read()?;
    Some(STAGE_PEAK.load(Relaxed).max(resident))
}

/// The system's allocator, which counts the bytes that it has given out. For a program to install as its
/// global allocator where a job shares the process with others.
#[derive(Debug, Default)]
pub struct Meter;

static HELD: AtomicUsize = AtomicUsize::new(0);
static HELD_PEAK: AtomicUsize = AtomicUsize::new(0);
/// Where ranges begin that are reserved to grow in and mostly not touched: they do not count.
static RESERVED: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

thread_local! {
    /// Whether the allocations of this thread are reserved to grow in.
    static IS_RESERVING: Cell<bool> = const { Cell::new(false) };
}

/// Ranges of fewer bytes are never reserved to grow in.
pub(crate) const RESERVED_BYTES_MIN: usize = 64 << 20;

impl Meter {
    /// Returns the bytes that are allocated now; 0 where it is not installed.
    pub fn held_bytes() -> u64 {
        HELD.load(Relaxed) as u64
    }

    /// Returns the most bytes that were allocated at once since [`Meter::reset_peak`].
    pub fn peak_bytes() -> u64 {
        HELD_PEAK.load(Relaxed) as u64
    }

    /// Sets the peak to what is allocated now.
    pub fn reset_peak() {
        HELD_PEAK.store(HELD.load(Relaxed), Relaxed);
    }

    /// Does not count the ranges that are reserved while `reserve` runs, not even for a moment: a sample may be
    /// taken at any.
    pub(crate) fn exempting<T>(reserve: impl FnOnce() -> T) -> T {
        IS_RESERVING.set(true);
        let reserved = reserve();
        IS_RESERVING.set(false);
        reserved
    }

    /// Counts a range that was allocated, unless it is only reserved.
    fn add(memory: *mut u8, bytes: usize) {
        if bytes >= RESERVED_BYTES_MIN && IS_RESERVING.get() && replace(0, memory.addr()) {
            return;
        }
        let held = HELD.fetch_add(bytes, Relaxed) + bytes;
        if held > HELD_PEAK.load(Relaxed) {
            HELD_PEAK.fetch_max(held, Relaxed);
        }
    }

    /// Returns the bytes of this range that count, and forgets that it was reserved.
    fn counted(address: usize, bytes: usize) -> usize {
        let is_reserved = bytes >= RESERVED_BYTES_MIN && replace(address, 0);
        if is_reserved { 0 } else { bytes }
    }
}

/// Replaces one address among the reserved ones; returns false if it is not there.
fn replace(old: usize, new: usize) -> bool {
    RESERVED.iter().any(|place| place.compare_exchange(old, new, Relaxed, Relaxed).is_ok())
}

#[expect(unsafe_code, reason = "an allocator has an unsafe interface")]
mod allocator {
    use super::{GlobalAlloc, HELD, Layout, Meter, Relaxed, System, replace};

    // SAFETY: every call is passed on to the system's allocator as it came, whose results are returned as they
    // are; counting touches atomics alone, neither allocates nor panics.
    unsafe impl GlobalAlloc for Meter {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller keeps the conditions, which are the same.
            let memory = unsafe { System.alloc(layout) };
            if !memory.is_null() {
                Self::add(memory, layout.size());
            }
            memory
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as above.
            let memory = unsafe { System.alloc_zeroed(layout) };
            if !memory.is_null() {
                Self::add(memory, layout.size());
            }
            memory
        }

        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            HELD.fetch_sub(Self::counted(memory.addr(), layout.size()), Relaxed);
            // SAFETY: as above.
            unsafe { System.dealloc(memory, layout) };
        }

        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // Before the address can be that of another range.
            let counted = Self::counted(memory.addr(), layout.size());
            // SAFETY: as above.
            let moved = unsafe { System.realloc(memory, layout, size) };
            // Where it failed, the range is as it was.
            if !moved.is_null() {
                HELD.fetch_sub(counted, Relaxed);
                Self::add(moved, size);
            } else if counted == 0 {
                replace(0, memory.addr());
            }
            moved
        }
    }
}
