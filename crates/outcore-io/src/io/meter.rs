//! Memory meter: current memory of the process, peak memory of a stage, and the end of a job that exceeds its limit.
//!
//! Every stage divides its share of the limit before it begins. The meter checks that the limit holds,
//! including allocations by decoders of other libraries: a [`Watch`] takes a sample every [`SAMPLE_EVERY`],
//! which costs a few microseconds, and [`check`] ends the job at its next event.
//!
//! There are two counts. A program that has the process to itself ([`own_process`]) is measured by the
//! kernel's anonymous pages: memory touched by any library in any language, excluding file pages and ranges
//! that are only reserved. In a shared process, such as an interpreter, other threads allocate, too: there
//! [`Meter`], the allocator, counts the memory that Rust code holds.

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

/// Excess at which a job is asked to end. At [`SLACK_BYTES`] the process ends immediately.
const ASK_BYTES: u64 = 24 << 20;
/// Time between two samples. New pages arrive at about 1 GiB per second: 5 MiB between two samples.
const SAMPLE_EVERY: Duration = Duration::from_millis(5);

/// Running jobs of the process and their joint limit.
static JOBS: Mutex<Jobs> = Mutex::new(Jobs { count: 0, limit_bytes: 0, before_bytes: 0 });
/// Memory held when the jobs exceeded their limit; 0 if they did not.
static EXCESS: AtomicU64 = AtomicU64::new(0);
/// Maximum resident memory in samples of the running stage.
static STAGE_PEAK: AtomicU64 = AtomicU64::new(0);
/// The kernel's peak value at the beginning of the stage.
static PEAK_BEFORE: AtomicU64 = AtomicU64::new(0);
/// Function that ends the process when a job cannot wait for its next event.
static AT_EXCESS: OnceLock<fn(&Error)> = OnceLock::new();

struct Jobs {
    count: u32,
    /// Sum of their limits.
    limit_bytes: u64,
    /// Allocator count before the first of them began.
    before_bytes: u64,
}

/// Declares that jobs have this process to themselves: all memory counts, and `at_excess` ends the process
/// when a job exceeds its limit by [`SLACK_BYTES`].
pub fn own_process(at_excess: fn(&Error)) {
    // A second call has no effect.
    let _ = AT_EXCESS.set(at_excess);
}

/// Sampling of memory while a job runs.
pub struct Watch {
    limit_bytes: u64,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts sampling for a job with this limit.
    ///
    /// # Errors
    /// `Io` if no thread can be started.
    pub fn begin(limit_bytes: u64) -> Result<Self> {
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
        // A panic of the thread has been reported already, and only ended the sampling.
        let _ = self.thread.take().map(JoinHandle::join);
        let mut jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.count -= 1;
        jobs.limit_bytes = jobs.limit_bytes.saturating_sub(self.limit_bytes);
    }
}

/// Compares the memory held now with the limit.
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

/// Ends the job if it has exceeded its limit.
///
/// # Errors
/// `MemoryTooSmall`.
pub fn check() -> Result<()> {
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

/// Starts tracking the peak of a stage.
pub fn begin_stage() {
    PEAK_BEFORE.store(peak_memory_bytes().unwrap_or(0), Relaxed);
    STAGE_PEAK.store(0, Relaxed);
}

/// Returns the peak resident memory since the stage began, if the system reports it: exact if it is also the
/// peak of the process, otherwise the largest sample.
pub fn stage_peak_bytes() -> Option<u64> {
    let peak = peak_memory_bytes()?;
    if peak > PEAK_BEFORE.load(Relaxed) {
        return Some(peak);
    }
    let (resident, _) = MemoryPages::open()?.read()?;
    Some(STAGE_PEAK.load(Relaxed).max(resident))
}

/// The system's allocator with a count of the allocated bytes. A program installs it as its global allocator
/// when jobs share the process with other code.
#[derive(Debug, Default)]
pub struct Meter;

static HELD: AtomicUsize = AtomicUsize::new(0);
static HELD_PEAK: AtomicUsize = AtomicUsize::new(0);
/// Addresses of ranges that are reserved for growth and mostly untouched: they do not count.
static RESERVED: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

thread_local! {
    /// Whether the allocations of this thread are reserved for growth.
    static IS_RESERVING: Cell<bool> = const { Cell::new(false) };
}

/// Smaller ranges are never reserved for growth.
pub(crate) const RESERVED_BYTES_MIN: usize = 64 << 20;

impl Meter {
    /// Returns the bytes currently allocated; 0 if this allocator is not installed.
    pub fn held_bytes() -> u64 {
        HELD.load(Relaxed) as u64
    }

    /// Returns the peak of allocated bytes since [`Meter::reset_peak`].
    pub fn peak_bytes() -> u64 {
        HELD_PEAK.load(Relaxed) as u64
    }

    /// Resets the peak to the bytes currently allocated.
    pub fn reset_peak() {
        HELD_PEAK.store(HELD.load(Relaxed), Relaxed);
    }

    /// Excludes the ranges that are reserved while `reserve` runs, without counting them even briefly: a
    /// sample may be taken at any moment.
    pub(crate) fn exempting<T>(reserve: impl FnOnce() -> T) -> T {
        IS_RESERVING.set(true);
        let reserved = reserve();
        IS_RESERVING.set(false);
        reserved
    }

    /// Counts an allocated range, unless it is only reserved.
    fn add(memory: *mut u8, bytes: usize) {
        if bytes >= RESERVED_BYTES_MIN && IS_RESERVING.get() && replace(0, memory.addr()) {
            return;
        }
        let held = HELD.fetch_add(bytes, Relaxed) + bytes;
        if held > HELD_PEAK.load(Relaxed) {
            HELD_PEAK.fetch_max(held, Relaxed);
        }
    }

    /// Returns the bytes of this range that count, and clears its reservation.
    fn counted(address: usize, bytes: usize) -> usize {
        let is_reserved = bytes >= RESERVED_BYTES_MIN && replace(address, 0);
        if is_reserved { 0 } else { bytes }
    }
}

/// Replaces one address among the reserved ones; returns false if it is not present.
fn replace(old: usize, new: usize) -> bool {
    RESERVED.iter().any(|place| place.compare_exchange(old, new, Relaxed, Relaxed).is_ok())
}

#[expect(unsafe_code, reason = "an allocator has an unsafe interface")]
mod allocator {
    use super::{GlobalAlloc, HELD, Layout, Meter, Relaxed, System, replace};

    // SAFETY: every call is passed on unchanged to the system's allocator, whose results are returned
    // unchanged; counting touches only atomics, and neither allocates nor panics.
    unsafe impl GlobalAlloc for Meter {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller upholds the same conditions.
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
            // Cleared before the address can be reused for another range.
            let counted = Self::counted(memory.addr(), layout.size());
            // SAFETY: as above.
            let moved = unsafe { System.realloc(memory, layout, size) };
            // If it failed, the range is unchanged.
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
