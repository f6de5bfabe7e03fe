//! Shared parts of the experiments with random positions: the positions, and the clock for single operations.

use crate::api::memory;
use crate::meter::{Latencies, Outcome};
use crate::random::Random;
use crate::report::three;
use crate::state::{self, State};
use crate::times::Times;
use crate::workplace::{Effort, Workplace};
use outcore::units::format_count;
use outcore::{Error, Result};
use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

/// Bytes of a value at a position.
pub(crate) const VALUE: usize = 4;

/// Bytes of a page of memory and of direct I/O, in the type of positions.
pub(crate) const PAGE: u64 = memory::PAGE as u64;

/// Amount of measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionParameters {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Number of positions of the cold rows.
    pub count: usize,
    /// Number of positions of the warm rows, which take less time each.
    pub warm_count: usize,
    /// Number of runs of each method.
    pub rounds: u32,
    /// Maximum seconds of all cold rows together; if a probe shows that the disk is too slow for that, all rows get
    /// fewer positions.
    pub seconds: f64,
}

impl PositionParameters {
    /// Returns the parameters of an effort.
    pub fn of(effort: Effort) -> Self {
        let (bytes, count, warm_count, seconds) = match effort {
            Effort::Quick => (32 << 20, 150, 2_000, 12.0),
            Effort::Default => (256 << 20, 1_500, 20_000, 100.0),
            Effort::Full => (2 << 30, 6_000, 50_000, 400.0),
        };
        let rounds = effort.rounds();
        Self { bytes, count, warm_count, rounds, seconds }
    }
}

/// Distinct positions of values in a file.
pub(crate) struct Positions {
    pub(crate) unsorted: Vec<u64>,
    pub(crate) sorted: Vec<u64>,
    /// Seconds that sorting them takes.
    pub(crate) sort_seconds: f64,
    /// Whether there are fewer than requested.
    pub(crate) reduced: bool,
}

impl Positions {
    /// Chooses disjoint positions for the warm rows and for the cold rows in the file at `path`, which has the size
    /// given by the parameters; their number is limited by the time of `cold_rows` rows.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn choose(
        workplace: &Workplace<'_>,
        path: &Path,
        parameters: &PositionParameters,
        cold_rows: usize,
    ) -> Result<(Self, Self)> {
        let mut random = Random(workplace.seed ^ 1);
        let runs = f64::from(parameters.rounds) * cold_rows as f64;
        let affordable = parameters.seconds / runs / probe(path, parameters.bytes, &mut random)?;
        let affordable = two_digits(affordable).max(32);
        let values = parameters.bytes / VALUE as u64;
        let most = values as usize / 4;
        let cold = parameters.count.min(affordable).min(most);
        let warm = parameters.warm_count.min(10 * affordable).min(most);
        let mut chosen = BTreeSet::new();
        while chosen.len() < warm + cold {
            chosen.insert(random.below(values) * VALUE as u64);
        }
        let mut chosen: Vec<u64> = chosen.into_iter().collect();
        random.shuffle(&mut chosen);
        let unsorted = chosen.split_off(warm);
        Ok((Self::of(chosen, parameters.warm_count), Self::of(unsorted, parameters.count)))
    }

    /// Sorts positions that are in random order; `wanted` is the requested number.
    pub(crate) fn of(unsorted: Vec<u64>, wanted: usize) -> Self {
        let mut sorted = unsorted.clone();
        let start = Instant::now();
        sorted.sort_unstable();
        let sort_seconds = start.elapsed().as_secs_f64();
        Self { reduced: unsorted.len() < wanted, unsorted, sorted, sort_seconds }
    }

    /// Returns both orders with their names.
    pub(crate) fn orders(&self) -> [(&'static str, &[u64]); 2] {
        [("unsorted", &self.unsorted), ("sorted", &self.sorted)]
    }

    /// Returns notes for the reader of the tables.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "Sorting the {} positions takes {} ms, which the rows named `sorted` do not include.",
            format_count(self.sorted.len() as u64),
            three(self.sort_seconds * 1e3)
        )];
        if self.reduced {
            notes.push("The disk is slow: fewer positions than usual were measured.".into());
        }
        notes
    }
}

/// Measures the mean seconds of one cold read.
fn probe(path: &Path, bytes: u64, random: &mut Random) -> Result<f64> {
    // Where the state cannot be reached, the cold rows will be missing, and the probe does no harm.
    let _ = state::bring(path, State::Cold)?;
    let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
    let start = Instant::now();
    let mut reads = 0;
    while reads < 64 && start.elapsed().as_secs_f64() < 2.0 {
        let position = random.below(bytes / VALUE as u64) * VALUE as u64;
        let mut value = [0; VALUE];
        file.read_exact_at(&mut value, position).map_err(|e| Error::io("read", path, e))?;
        reads += 1;
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(reads.max(1)))
}

/// Rounds down to two significant digits.
fn two_digits(value: f64) -> usize {
    let value = value.clamp(0.0, 1e15) as usize;
    let mut unit = 1;
    while value / unit >= 100 {
        unit *= 10;
    }
    value / unit * unit
}

/// Clock of one run: one reading per operation.
pub(crate) struct OperationClock {
    start: Instant,
    last: Instant,
    nanoseconds: Vec<u32>,
    sync_seconds: Option<f64>,
}

impl OperationClock {
    /// Starts the clock, with room for `operations` operations.
    pub(crate) fn start(operations: usize) -> Self {
        let mut nanoseconds = vec![0; operations];
        nanoseconds.clear();
        let now = Instant::now();
        Self { start: now, last: now, nanoseconds, sync_seconds: None }
    }

    /// Marks the beginning of the first operation.
    pub(crate) fn begin(&mut self) {
        self.last = Instant::now();
    }

    /// Records the end of an operation and the beginning of the next one.
    #[inline]
    pub(crate) fn lap(&mut self) {
        let now = Instant::now();
        self.push(self.last, now);
        self.last = now;
    }

    /// Records an operation from `begin` to `end`.
    #[inline]
    pub(crate) fn push(&mut self, begin: Instant, end: Instant) {
        self.nanoseconds.push((end - begin).as_nanos().min(u128::from(u32::MAX)) as u32);
    }

    /// Records operations that other threads have timed.
    pub(crate) fn extend(&mut self, nanoseconds: Vec<u32>) {
        self.nanoseconds.extend(nanoseconds);
    }

    /// Returns the times so far.
    pub(crate) fn into_nanoseconds(self) -> Vec<u32> {
        self.nanoseconds
    }

    /// Times `work`, which makes the written data durable.
    ///
    /// # Errors
    /// Those of `work`.
    pub(crate) fn sync(&mut self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let start = Instant::now();
        work()?;
        self.sync_seconds = Some(start.elapsed().as_secs_f64());
        Ok(())
    }

    /// Stops the clock and returns the outcome; summarizing is not part of the measured time.
    pub(crate) fn outcome(mut self, checksum: u64, operations: usize) -> Outcome {
        let elapsed = self.start.elapsed().as_secs_f64();
        Outcome {
            checksum,
            operations: operations as u64,
            bytes: (VALUE * operations) as u64,
            child_wall_seconds: Some(elapsed),
            sync_seconds: self.sync_seconds,
            latencies: Latencies::of(&mut self.nanoseconds),
            times: Times::of(&self.nanoseconds),
            ..Outcome::default()
        }
    }
}

/// Returns the value at the start of `bytes`.
#[inline]
pub(crate) fn value(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_rounded_down() {
        assert_eq!([0.0, 7.9, 99.0, 123.0, 98_765.0].map(two_digits), [0, 7, 99, 120, 98_000]);
    }
}
