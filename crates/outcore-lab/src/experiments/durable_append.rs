//! Durable append: what does a record that must survive a loss of power cost, and how many records may share a sync?
//!
//! Databases and journals append small records and sync after each, or after several (group commit). A sync waits for the
//! disk to empty its cache; one that returns within microseconds was answered by a cache that may or may not have power of
//! its own, such as that of a virtual machine's host.

use super::compare::row;
use super::positions::OperationClock;
use super::written::{failed, remove, sum_of};
use crate::meter::Outcome;
use crate::random::Random;
use crate::report::{Chart, Column, Experiment, Limit, three};
use crate::rounds::{self, Method};
use crate::state::State;
use crate::workplace::{Effort, Workplace};
use outcore::Result;
use outcore::units::{format_bytes, format_count};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of a record.
const RECORD: usize = 4096;

/// Microseconds of a sync below which a cache answers: no disk empties its cache that fast, and a hard disk does not
/// even turn.
const CACHE_MICROSECONDS: f64 = 200.0;

/// Amount of measurement.
#[derive(Debug, Clone, Copy)]
pub struct DurableAppendParameters {
    /// Number of records in a run.
    pub records: u32,
    /// Number of runs of each way.
    pub rounds: u32,
}

impl DurableAppendParameters {
    /// Returns the parameters of an effort.
    pub fn of(effort: Effort) -> Self {
        let records = match effort {
            Effort::Quick => 64,
            Effort::Default => 512,
            Effort::Full => 2_048,
        };
        Self { records, rounds: effort.rounds() }
    }
}

/// When and how records become durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durable {
    /// `fsync` after this number of records.
    Sync(u32),
    /// `fdatasync` after this number of records.
    Data(u32),
    /// Each write waits (`O_DSYNC`).
    Open,
    /// `fdatasync` after each record, written over those of an existing file.
    Over,
    /// One `fsync` after the last record.
    End,
}

/// Name of the baseline.
const EACH: &str = "append, fsync";

const WAYS: [(&str, Durable); 7] = [
    (EACH, Durable::Sync(1)),
    ("append, fdatasync", Durable::Data(1)),
    ("append, O_DSYNC", Durable::Open),
    ("overwrite, fdatasync", Durable::Over),
    ("append, fdatasync after 4", Durable::Data(4)),
    ("append, fdatasync after 16", Durable::Data(16)),
    ("append, one fsync at the end", Durable::End),
];

impl Durable {
    fn open(self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        if self == Self::Open {
            std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_DSYNC);
        }
        options.open(path)
    }

    /// Returns whether a sync follows record `number`, counted from 1.
    fn syncs(self, number: u32, records: u32) -> bool {
        match self {
            Self::Sync(every) | Self::Data(every) => {
                number.is_multiple_of(every) || number == records
            }
            Self::Over => true,
            Self::Open => false,
            Self::End => number == records,
        }
    }

    fn sync(self, file: &File) -> io::Result<()> {
        match self {
            Self::Sync(_) | Self::End | Self::Open => file.sync_all(),
            Self::Data(_) | Self::Over => file.sync_data(),
        }
    }

    /// Writes the records, and times each with the sync after it.
    fn run(self, path: &Path, records: u32, data: &[u8]) -> Result<Outcome> {
        let mut clock = OperationClock::start(records as usize);
        let file = self.open(path).map_err(failed("open", path))?;
        let mut calls = 2;
        clock.begin();
        for (number, record) in (1..=records).zip(data.chunks_exact(RECORD).cycle()) {
            let offset = u64::from(number - 1) * RECORD as u64;
            file.write_all_at(record, offset).map_err(failed("write", path))?;
            calls += 1;
            if self.syncs(number, records) {
                self.sync(&file).map_err(failed("sync", path))?;
                calls += 1;
            }
            clock.lap();
        }
        drop(file);
        let bytes = u64::from(records) * RECORD as u64;
        Ok(Outcome { bytes, system_calls: Some(calls), ..clock.outcome(0, records as usize) })
    }

    /// Makes the file that is written over, or removes it.
    fn prepare(self, path: &Path, records: u32) -> Result<()> {
        remove(path)?;
        if self == Self::Over {
            let file = self.open(path).map_err(failed("open", path))?;
            let zeros = vec![0; records as usize * RECORD];
            file.write_all_at(&zeros, 0).map_err(failed("write", path))?;
            file.sync_all().map_err(failed("sync", path))?;
        }
        Ok(())
    }
}

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>, parameters: DurableAppendParameters) -> Result<Experiment> {
    let records = parameters.records;
    let bytes = u64::from(records) * RECORD as u64;
    workplace.require(bytes)?;
    let path = workplace.path("durable-append");
    let path = path.as_path();
    let mut random = Random(workplace.seed ^ 7);
    let data: Vec<u8> = (0..16 * RECORD / 8).flat_map(|_| random.word().to_le_bytes()).collect();
    let data = data.as_slice();
    let method = |(name, way): (&'static str, Durable)| {
        Method::new(name, State::New, None, move || way.run(path, records, data))
            .prepare(move || way.prepare(path, records))
            .check(move || sum_of(path))
    };
    let measured =
        rounds::run(workplace, WAYS.into_iter().map(method).collect(), parameters.rounds)?;
    remove(path)?;
    let columns = vec![
        Column::PerOperation,
        Column::OperationMin,
        Column::OperationMedian,
        Column::OperationP99,
        Column::OperationP999,
        Column::OperationMax,
        Column::SystemCalls,
        Column::Switches,
        Column::WriteBytes,
        Column::Ratio,
    ];
    let question = "What does a durable record cost, and how many may share a sync?";
    let mut experiment = Experiment::new("durable-append", question, columns, measured)
        .parameter("record", format_bytes(RECORD as u64))
        .parameter("records", format_count(u64::from(records)))
        .parameter("rounds", parameters.rounds)
        .limit(Limit::system_call());
    experiment.charts = vec![Chart::Bars { column: Column::PerOperation, logarithmic: true }];
    experiment.notes.extend(doubt(&experiment));
    Ok(experiment)
}

/// Returns a note if a sync is faster than a disk can empty its cache.
fn doubt(experiment: &Experiment) -> Option<String> {
    let median = Column::OperationMedian.value(row(experiment, "", EACH)?)?;
    (median < CACHE_MICROSECONDS).then(|| {
        format!(
            "A sync returns after {} µs: a cache of the disk or of a virtual machine's host answers, and only one with \
             power of its own keeps the data if the power fails. This machine cannot see which it is.",
            three(median)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_become_durable_in_time() {
        let synced = |way: Durable| (1..=10).filter(|&at| way.syncs(at, 10)).collect::<Vec<_>>();
        assert_eq!(synced(Durable::Data(4)), [4, 8, 10]);
        assert_eq!(synced(Durable::Sync(1)).len(), 10);
        assert_eq!(synced(Durable::End), [10]);
        assert!(synced(Durable::Open).is_empty(), "each write waits");
    }
}
