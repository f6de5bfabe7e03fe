//! Cost of one run as reported by the operating system: time, page faults, context switches, disk traffic.
//!
//! Cost: two calls of `getrusage`, two readings of `/proc/self/io` and the [counters](crate::counters) per run, outside the
//! timed part; inside it only the clock.

use crate::counters::Counters;
use crate::times::Times;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::time::Instant;

/// Measurements of one run of one method.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Number of the round, from 0.
    pub round: u32,
    /// Elapsed time of the work, without [`Sample::sync_seconds`].
    pub wall_seconds: f64,
    /// Processor time in user mode.
    pub user_seconds: f64,
    /// Processor time in the kernel.
    pub system_seconds: f64,
    /// Time to make written data durable, if any was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sync_seconds: Option<f64>,
    /// Faults on pages that were in memory but not mapped.
    pub minor_faults: u64,
    /// Faults on pages that had to be read.
    pub major_faults: u64,
    /// Number of times the program waited.
    pub voluntary_switches: u64,
    /// Number of times the program was interrupted.
    pub involuntary_switches: u64,
    /// Bytes read from the disk; `None` where the system does not report them.
    pub read_bytes: Option<u64>,
    /// Bytes written to the disk; `None` where the system does not report them.
    pub write_bytes: Option<u64>,
    /// System calls of the method, counted by the method; if it cannot count them, the reads and writes that the kernel
    /// counted, or `None` if it counted none.
    pub system_calls: Option<u64>,
    /// Cycles of the processor, in the kernel as well; `None` where it does not count them, and for other processes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cycles: Option<u64>,
    /// Instructions executed; `None` as for [`Sample::cycles`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instructions: Option<u64>,
    /// Number of operations, such as reads of four bytes.
    pub operations: u64,
    /// Bytes that the program read or wrote.
    pub bytes: u64,
    /// Sum over the data read or written: equal for all methods of an experiment.
    pub checksum: u64,
    /// Times of single operations, where each was timed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latencies: Option<Latencies>,
    /// Histogram of the same times, until [`crate::row::Row::new`] adds up those of all runs.
    #[serde(skip)]
    pub times: Option<Times>,
}

/// Figure by which the ways of an experiment are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// Elapsed time of an operation, without sync.
    #[default]
    Operation,
    /// Elapsed time of a byte, without sync.
    Byte,
    /// Elapsed time of a byte until it is durable.
    DurableByte,
}

impl Cost {
    /// Returns the seconds of an operation or a byte in a run.
    pub fn of(self, sample: &Sample) -> f64 {
        match self {
            Self::Operation => sample.wall_seconds / sample.operations as f64,
            Self::Byte => sample.wall_seconds / sample.bytes as f64,
            Self::DurableByte => {
                (sample.wall_seconds + sample.sync_seconds.unwrap_or(0.0)) / sample.bytes as f64
            }
        }
    }

    /// Returns the unit of the cost, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operation => "time per operation",
            Self::Byte => "time per byte",
            Self::DurableByte => "time per byte until it is durable",
        }
    }
}

/// Summary of the times of single operations, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// Fastest.
    pub min: f64,
    /// Mean of the middle 90 %.
    pub trimmed_mean: f64,
    /// Median.
    pub median: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Slowest.
    pub max: f64,
}

impl Latencies {
    /// Sorts and summarizes single times in nanoseconds; `None` if there are none.
    pub fn of(nanoseconds: &mut [u32]) -> Option<Self> {
        nanoseconds.sort_unstable();
        let (&min, &max) = (nanoseconds.first()?, nanoseconds.last()?);
        let at = |share: f64| {
            f64::from(nanoseconds[((nanoseconds.len() - 1) as f64 * share).round() as usize])
        };
        let cut = nanoseconds.len() / 20;
        let middle = &nanoseconds[cut..nanoseconds.len() - cut];
        let sum: u64 = middle.iter().map(|&time| u64::from(time)).sum();
        Some(Self {
            min: f64::from(min),
            trimmed_mean: sum as f64 / middle.len() as f64,
            median: at(0.5),
            p99: at(0.99),
            max: f64::from(max),
        })
    }
}

/// Outcome of a run, as reported by the method itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// See [`Sample::checksum`].
    pub checksum: u64,
    /// See [`Sample::operations`].
    pub operations: u64,
    /// See [`Sample::bytes`].
    pub bytes: u64,
    /// System calls; `None` if the method cannot count them.
    pub system_calls: Option<u64>,
    /// See [`Sample::sync_seconds`]; subtracted from the elapsed time.
    pub sync_seconds: Option<f64>,
    /// User and system seconds of a child process that did the work: they are not part of this process's times.
    pub child_seconds: Option<(f64, f64)>,
    /// Elapsed time, sync included, as reported by a child process (without its start) or by the method (without the
    /// work that serves the measurement alone).
    pub child_wall_seconds: Option<f64>,
    /// Minor and major faults of a child process, counted instead of those of this process.
    pub child_faults: Option<(u64, u64)>,
    /// See [`Sample::latencies`].
    pub latencies: Option<Latencies>,
    /// See [`Sample::times`].
    pub times: Option<Times>,
}

/// Counters of the process at one moment.
#[derive(Debug, Clone, Copy)]
struct Usage {
    user: f64,
    system: f64,
    minor: u64,
    major: u64,
    voluntary: u64,
    involuntary: u64,
    transfers: Option<Transfers>,
}

/// Transfers of the process so far, as the kernel counts them.
#[derive(Debug, Clone, Copy)]
struct Transfers {
    /// Bytes read from and written to the disk.
    disk: (u64, u64),
    /// Calls that read or write.
    calls: u64,
}

/// Measures one run of `work`.
///
/// # Errors
/// Those of `work`.
pub fn measure<E>(round: u32, work: impl FnOnce() -> Result<Outcome, E>) -> Result<Sample, E> {
    let mut counters = Counters::open();
    let before = Usage::now();
    counters.iter_mut().for_each(Counters::begin);
    let start = Instant::now();
    let outcome = work()?;
    let elapsed = start.elapsed().as_secs_f64();
    counters.iter_mut().for_each(Counters::end);
    let after = Usage::now();
    let sync = outcome.sync_seconds.unwrap_or(0.0);
    let transfers = after.transfers.zip(before.transfers);
    let disk = transfers.map(|(after, before)| (after.disk, before.disk));
    let is_child = outcome.child_seconds.is_some();
    let counts = counters.filter(|_| !is_child).and_then(Counters::counts);
    let calls = |(after, before): (Transfers, Transfers)| {
        (after.calls - before.calls).saturating_sub(own_calls())
    };
    // Rings and mappings make system calls of other kinds, so a count of 0 means nothing.
    let counted = transfers.filter(|_| !is_child).map(calls).filter(|&calls| calls > 0);
    let (child_user, child_system) = outcome.child_seconds.unwrap_or_default();
    let own_faults = (after.minor - before.minor, after.major - before.major);
    let (minor_faults, major_faults) = outcome.child_faults.unwrap_or(own_faults);
    Ok(Sample {
        round,
        wall_seconds: outcome.child_wall_seconds.unwrap_or(elapsed) - sync,
        user_seconds: after.user - before.user + child_user,
        system_seconds: after.system - before.system + child_system,
        sync_seconds: outcome.sync_seconds,
        minor_faults,
        major_faults,
        voluntary_switches: after.voluntary - before.voluntary,
        involuntary_switches: after.involuntary - before.involuntary,
        read_bytes: disk.map(|(after, before)| after.0.saturating_sub(before.0)),
        write_bytes: disk.map(|(after, before)| after.1.saturating_sub(before.1)),
        system_calls: outcome.system_calls.or(counted),
        cycles: counts.map(|counts| counts.cycles),
        instructions: counts.map(|counts| counts.instructions),
        operations: outcome.operations,
        bytes: outcome.bytes,
        checksum: outcome.checksum,
        latencies: outcome.latencies,
        times: outcome.times,
    })
}

impl Usage {
    fn now() -> Self {
        let usage = crate::api::process::usage();
        Self {
            user: usage.user_seconds,
            system: usage.system_seconds,
            minor: usage.minor_faults,
            major: usage.major_faults,
            voluntary: usage.voluntary_switches,
            involuntary: usage.involuntary_switches,
            transfers: transfers(),
        }
    }
}

/// Returns the transfers of this process so far; `None` where the kernel does not count them.
fn transfers() -> Option<Transfers> {
    let table = std::fs::read_to_string("/proc/self/io").ok()?;
    let value = |label: &str| -> Option<u64> {
        table.lines().find_map(|line| line.strip_prefix(label)?.trim().parse().ok())
    };
    let disk = (value("read_bytes:")?, value("write_bytes:")?);
    Some(Transfers { disk, calls: value("syscr:")? + value("syscw:")? })
}

/// Returns the number of reads that [`transfers`] itself makes after the kernel has filled its table.
fn own_calls() -> u64 {
    static CALLS: OnceLock<u64> = OnceLock::new();
    *CALLS.get_or_init(|| {
        // Another thread may read meanwhile, so the smallest difference counts.
        let each = (0..8).filter_map(|_| transfers().zip(transfers()));
        each.map(|(before, after)| after.calls - before.calls).min().unwrap_or(0)
    })
}

/// Returns the bytes that this process has read from and written to the disk so far.
pub fn disk_bytes() -> Option<(u64, u64)> {
    Some(transfers()?.disk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    /// If the method does not count its calls, the kernel's count is used; calls of other processes, and of a run
    /// without any, are unknown.
    #[test]
    fn the_kernel_counts_reads_and_writes() {
        let mut file = tempfile::tempfile().unwrap();
        let mut run = |child: bool| {
            measure(0, || {
                for _ in 0..1000 {
                    file.write_all(b"x")?;
                    file.read_exact(&mut [])?;
                }
                (0..500).try_for_each(|_| file.read(&mut [0]).map(drop))?;
                let child_seconds = child.then_some((0.0, 0.0));
                std::io::Result::Ok(Outcome { child_seconds, ..Outcome::default() })
            })
        };
        // Other tests of this process may read and write meanwhile.
        let calls = (0..20).filter_map(|_| run(false).unwrap().system_calls).min();
        if transfers().is_some() {
            assert_eq!(calls, Some(1500));
        }
        assert_eq!(run(true).unwrap().system_calls, None);
        let idle = || measure(0, || std::io::Result::Ok(Outcome::default()));
        assert!((0..20).any(|_| idle().unwrap().system_calls.is_none()));
    }
}
