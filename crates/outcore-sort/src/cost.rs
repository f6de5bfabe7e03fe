//! Prediction of a sort: the runs that it forms, and the passes that merge them.

use super::shape::{
    FIXED_BYTES, RUN_BUFFERS, RUN_BYTES, RUNS_OF_A_SIZE, SEGMENT_BYTES, SEGMENTS, Shape,
    merges_of_pass, run_size, windows_ahead,
};
use outcore_io::units::MIB;
use outcore_io::{Cramped, Tuning};

/// Number of runs up to which passes are counted exactly; with more, predictions assume full passes.
const RUNS_COUNTED: u64 = 1 << 12;

/// Input of a sort.
#[derive(Debug, Clone, Copy)]
pub struct Records {
    /// Number of records.
    pub count: u64,
    /// Memory per record.
    pub bytes: u64,
    /// Maximum number of records added at a time, for which there must be room.
    pub at_once: u64,
    /// Number of records that are really added then, since some of the room may stay empty.
    pub kept: u64,
}

impl Records {
    /// Returns the bytes of a full run, at most `max_bytes`.
    fn full_run(&self, max_bytes: u64) -> u64 {
        // The last records added to a run may no longer fit.
        let room = (max_bytes / self.bytes).max(1);
        let (at_once, kept) = (self.at_once.max(1), self.kept.max(1));
        (1 + room.saturating_sub(at_once) / kept) * kept.min(room) * self.bytes
    }
}

/// Predicted course of a sort.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sorting {
    /// Number of runs formed; 0 if everything stays in memory.
    pub run_count: u64,
    /// Number of times that each record is written and read again.
    pub pass_count: u64,
    /// Average number of times that a record is written.
    pub written: f64,
    /// Average number of times that a record is read.
    pub read: f64,
    /// Peak memory of the records during run formation.
    pub forming_bytes: u64,
    /// Peak memory of the last merge, or of the records sorted in memory.
    pub merging_bytes: u64,
}

impl Sorting {
    /// Predicts a sort that forms runs with the first budget and merges them with the second, on `threads` threads.
    pub fn of(records: Records, budgets: [u64; 2], threads: usize, tuning: &Tuning) -> Self {
        let [forming, merging] = budgets.map(|budget| budget.saturating_sub(FIXED_BYTES));
        let bytes = records.count.saturating_mul(records.bytes);
        let most = forming / RUN_BUFFERS;
        if bytes <= RUN_BYTES.min(most) && bytes <= merging / RUN_BUFFERS {
            // Sorting needs a second buffer of the same size.
            let merging_bytes = 2 * bytes;
            return Self { forming_bytes: bytes, merging_bytes, ..Self::default() };
        }
        let workers = threads.max(1);
        let liked = tuning.merge_read_bytes as u64;
        let shape = Shape::within(merging, records.bytes, workers, liked, &Cramped::NOT, 0);
        let (run_count, size) = runs(bytes, most, |size| records.full_run(size));
        let run_count = run_count.max(1);
        let (passes, moved, runs) = passes(run_count, shape.fan_in(run_count as usize) as u64);
        let windows = (workers + windows_ahead(workers)) as u64;
        let window = shape.window_records(runs) * records.bytes;
        Self {
            run_count,
            pass_count: passes,
            written: 1.0 + moved,
            read: 1.0 + moved,
            forming_bytes: (2 * size).min(bytes),
            merging_bytes: (2 * shape.load_bytes(runs).min(bytes) + windows * window).min(merging),
        }
    }
}

/// Returns the peak disk space while runs are merged, of the runs and the merged records together. A segment of a run
/// is deleted only when all of it has been merged.
pub fn merge_disk_bytes(run_bytes: u64, run_count: u64, merged_bytes: u64) -> u64 {
    let behind = (run_count * SEGMENT_BYTES).max(run_bytes / SEGMENTS).min(run_bytes);
    let share = behind as f64 / run_bytes.max(1) as f64;
    (run_bytes + (share * merged_bytes as f64) as u64).max(merged_bytes + behind)
}

/// Returns the number of runs for `bytes` of records, and the maximum size of the last runs. No run exceeds `most`
/// bytes; `full` returns the bytes that fill a run of a given maximum.
fn runs(bytes: u64, most: u64, full: impl Fn(u64) -> u64) -> (u64, u64) {
    let most = most.max(MIB);
    let (mut count, mut left) = (0, bytes);
    loop {
        let size = run_size(count, RUN_BYTES, most);
        let of_size = left / full(size);
        let alike = if size == most { u64::MAX } else { RUNS_OF_A_SIZE - count % RUNS_OF_A_SIZE };
        count += of_size.min(alike);
        left -= of_size.min(alike) * full(size);
        if of_size <= alike && left < full(size) {
            return (count + u64::from(left > 0), size);
        }
    }
}

/// Returns the number of passes over runs of about equal size with the given fan-in, the number of times that
/// a record is written in all passes but the last, and the number of runs in the last one.
fn passes(run_count: u64, fan_in: u64) -> (u64, f64, u64) {
    let (mut count, mut passes, mut moved) = (run_count, 1, 0.0);
    while count > RUNS_COUNTED.max(fan_in) {
        count = count.div_ceil(fan_in);
        passes += 1;
        moved += 1.0;
    }
    // Each run is represented by its share of the records; runs are merged as in the sort.
    let mut runs = vec![1.0 / count as f64; count as usize];
    while runs.len() as u64 > fan_in {
        let mut rest = &runs[..];
        let merged = merges_of_pass(runs.len(), fan_in as usize).map(|take| {
            let (group, behind) = rest.split_at(take);
            rest = behind;
            let share: f64 = group.iter().sum();
            moved += if take > 1 { share } else { 0.0 };
            share
        });
        runs = merged.collect();
        passes += 1;
    }
    (passes, moved, runs.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::units::GIB;

    fn records(bytes: u64) -> Records {
        Records { count: bytes / 16, bytes: 16, at_once: 1, kept: 1 }
    }

    #[test]
    fn run_sizes_double_after_a_fixed_number_of_runs() {
        let count = |bytes, most| runs(bytes, most, |size| records(bytes).full_run(size)).0;
        assert_eq!(count(RUN_BYTES, GIB), 1);
        assert_eq!(count(10 * RUN_BYTES, GIB), 10);
        assert_eq!(count(80 * RUN_BYTES, GIB), 72);
        assert_eq!(count(100 * RUN_BYTES, RUN_BYTES / 2), 200);
    }

    #[test]
    fn records_that_no_longer_fit_begin_the_next_run() {
        let portions = Records { count: 1_000_000, bytes: 12, at_once: 100_000, kept: 80_000 };
        let count = |most| runs(12_000_000, most, |size| portions.full_run(size)).0;
        assert_eq!(count(12 * 170_000), 1_000_000_u64.div_ceil(80_000));
        assert_eq!(count(12 * 180_000), 1_000_000_u64.div_ceil(160_000));
    }

    #[test]
    fn the_fan_in_determines_the_passes() {
        assert_eq!(passes(1, 2), (1, 0.0, 1));
        assert_eq!(passes(64, 64), (1, 0.0, 64));
        assert_eq!(passes(65, 64), (2, 2.0 / 65.0, 64));
        assert_eq!(passes(8, 2), (3, 2.0, 2));
        let (count, moved, runs) = passes(1 << 40, 16);
        assert_eq!((count, moved, runs), (10, 9.0, 16));
    }

    #[test]
    fn records_that_fit_never_touch_the_disk() {
        let of = |bytes, budget| Sorting::of(records(bytes), [budget; 2], 2, &Tuning::default());
        assert_eq!(of(RUN_BYTES, GIB).written, 0.0);
        assert_eq!(of(RUN_BYTES, 20 * MIB).pass_count, 1);
        assert_eq!(of(8 * RUN_BYTES, 20 * MIB).pass_count, 2);
        let wide = of(4 * RUN_BYTES, GIB);
        assert_eq!((wide.run_count, wide.pass_count, wide.written), (4, 1, 1.0));
        assert!(wide.read < 1.1 && wide.merging_bytes < GIB);
    }
}
