//! Faults of the simulated storage: a plan, and the counters that trigger it.

use super::crash::Random;
use super::locked;
use outcore_io::ALIGNMENT;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Plan of failing operations.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// Number of the first operation to fail, from 0.
    pub at: u64,
    /// Whether all later operations fail too.
    pub forever: bool,
    /// Kind of error.
    pub kind: io::ErrorKind,
}

/// What the storage is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Opens or creates a file or stream.
    Open,
    /// Reads from a file.
    Read,
    /// Writes to a file.
    Write,
    /// Changes the length of a file.
    Resize,
    /// Makes the data of a file durable.
    Sync,
    /// Puts a finished file in its place.
    Rename,
    /// Makes names in a directory durable.
    SyncDirectory,
    /// Creates a directory.
    CreateDirectory,
    /// Locks a file.
    Lock,
    /// Removes a file or a directory: a step, but no operation.
    Remove,
}

/// Step of a recorded job: see [`Sim::record`](super::Sim::record).
#[derive(Debug, Clone)]
pub struct Step {
    /// Its number among operations, as in [`Fault::at`]; `None` for a removal.
    pub operation: Option<u64>,
    /// Its number among steps, as in [`Sim::set_power_loss`](super::Sim::set_power_loss).
    pub step: u64,
    /// What the job did: see [`Sim::begin_stage`](super::Sim::begin_stage).
    pub stage: String,
    /// What the storage is asked for.
    pub verb: Verb,
    /// File or directory.
    pub path: PathBuf,
}

#[derive(Default)]
struct Record {
    is_on: bool,
    stage: String,
    steps: Vec<Step>,
}

/// Maximum length of a transfer when transfers are cut short.
const SHORT_BYTES: usize = ALIGNMENT;

#[derive(Default)]
pub(super) struct Faults {
    operations: AtomicU64,
    failed: AtomicBool,
    fault: Mutex<Option<Fault>>,
    short: AtomicBool,
    /// Seed of interruptions.
    interrupts: Mutex<Option<u64>>,
    transfers: AtomicU64,
    /// Number of operations and removals before the power goes off.
    power_loss: Mutex<Option<u64>>,
    steps: AtomicU64,
    off: AtomicBool,
    record: Mutex<Record>,
}

impl Faults {
    pub(super) fn set_fault(&self, fault: Option<Fault>) {
        self.operations.store(0, Ordering::SeqCst);
        self.failed.store(false, Ordering::SeqCst);
        *locked(&self.fault) = fault;
    }

    pub(super) fn operation_count(&self) -> u64 {
        self.operations.load(Ordering::SeqCst)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    pub(super) fn set_short_transfers(&self, short: bool) {
        self.short.store(short, Ordering::SeqCst);
    }

    pub(super) fn set_interrupts(&self, seed: Option<u64>) {
        *locked(&self.interrupts) = seed;
    }

    pub(super) fn set_power_loss(&self, after: Option<u64>) {
        self.steps.store(0, Ordering::SeqCst);
        self.off.store(false, Ordering::SeqCst);
        *locked(&self.power_loss) = after;
    }

    pub(super) fn step_count(&self) -> u64 {
        self.steps.load(Ordering::SeqCst)
    }

    pub(super) fn is_off(&self) -> bool {
        self.off.load(Ordering::SeqCst)
    }

    pub(super) fn record(&self) {
        *locked(&self.record) = Record { is_on: true, ..Record::default() };
    }

    pub(super) fn begin_stage(&self, name: &str) {
        name.clone_into(&mut locked(&self.record).stage);
    }

    pub(super) fn steps(&self) -> Vec<Step> {
        locked(&self.record).steps.clone()
    }

    /// Counts a change of the storage that is no operation; fails if the power is off by now.
    pub(super) fn step(&self, verb: Verb, path: &Path) -> io::Result<()> {
        self.count(None, verb, path)
    }

    fn count(&self, operation: Option<u64>, verb: Verb, path: &Path) -> io::Result<()> {
        let step = self.steps.fetch_add(1, Ordering::SeqCst);
        let mut record = locked(&self.record);
        if record.is_on {
            let stage = record.stage.clone();
            record.steps.push(Step { operation, step, stage, verb, path: path.into() });
        }
        drop(record);
        if locked(&self.power_loss).is_some_and(|after| step >= after) {
            self.off.store(true, Ordering::SeqCst);
        }
        self.powered()
    }

    /// Fails if the power is off.
    pub(super) fn powered(&self) -> io::Result<()> {
        if self.is_off() { Err(io::Error::other("the power is off")) } else { Ok(()) }
    }

    /// Counts an operation; fails if a fault is planned for it.
    pub(super) fn operation(&self, verb: Verb, path: &Path) -> io::Result<()> {
        let number = self.operations.fetch_add(1, Ordering::SeqCst);
        self.count(Some(number), verb, path)?;
        if let Some(fault) = *locked(&self.fault)
            && (number == fault.at || fault.forever && number > fault.at)
        {
            self.failed.store(true, Ordering::SeqCst);
            return Err(fault.kind.into());
        }
        Ok(())
    }

    /// Counts an operation that moves `bytes`; returns how many of them are moved.
    pub(super) fn transfer(
        &self,
        verb: Verb,
        path: &Path,
        bytes: usize,
        is_direct: bool,
    ) -> io::Result<usize> {
        let number = self.transfers.fetch_add(1, Ordering::SeqCst);
        if let Some(seed) = *locked(&self.interrupts)
            && Random::new(seed ^ number).below(3) == 0
        {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.operation(verb, path)?;
        if !self.short.load(Ordering::SeqCst) {
            return Ok(bytes);
        }
        // Most transfers stop at unaligned positions; direct transfers cannot.
        let odd = 1 + Random::new(number).below(SHORT_BYTES as u64) as usize;
        Ok(bytes.min(if is_direct { SHORT_BYTES } else { odd }))
    }
}
