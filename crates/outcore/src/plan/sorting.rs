//! What an external sort does with its records: the runs that it forms, and the passes that merge them.
//!
//! The same arithmetic as that of `sort`, without the records; a test there holds both together.

use super::{RUN_BUFFERS, RUN_BYTES, RUNS_OF_A_SIZE};
use crate::io::Tuning;
use crate::units::{KIB, MIB};
use std::ops::Range;

/// Memory of a sort beside its records: write buffers, blocks being encoded.
pub const SORT_FIXED_BYTES: u64 = 12 * MIB;
/// Records in a block of a run: fewer where the budget is small.
pub const SORT_BLOCK_RECORDS: Range<u64> = 2 << 10..32 << 10;
/// What is read of a run at once, at least, where many runs or little memory leave no choice...
pub const SORT_READ_BYTES: u64 = 512 * KIB;
/// ...but another pass.
pub const SORT_READ_BYTES_MIN: u64 = 64 * KIB;
/// Reads of each run in a range of the merge: fewer read more blocks twice, more take memory.
pub const SORT_RANGE_READS: u64 = 2;

/// More runs than this are merged in full passes, as far as anybody can foretell.
const RUNS_COUNTED: u64 = 1 << 12;

/// What goes into a sort.
#[derive(Debug, Clone, Copy)]
pub struct Records {
    /// How many.
    pub count: u64,
    /// Memory of one.
    pub bytes: u64,
    /// Most that come at once, for which there must be room.
    pub at_once: u64,
    /// How many of these are kept.
    pub kept: u64,
}

/// How a sort goes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sorting {
    /// Runs formed; 0 if all stays in memory.
    pub run_count: u64,
    /// Times that records are written and read again.
    pub pass_count: u64,
    /// How often each record is written, in the mean.
    pub written: f64,
    /// How often each record is read; blocks at the ends of ranges are read twice.
    pub read: f64,
    /// Most memory of the records while runs are formed.
    pub forming_bytes: u64,
    /// Most memory of the last merge, or of the records sorted in memory.
    pub merging_bytes: u64,
}

impl Sorting {
    /// Runs are formed in the first budget and merged in the second, with so many threads.
    pub fn of(records: Records, budgets: [u64; 2], threads: usize, tuning: &Tuning) -> Self {
        let [forming, merging] = budgets.map(|budget| budget.saturating_sub(SORT_FIXED_BYTES));
        let bytes = records.count.saturating_mul(records.bytes);
        let first = RUN_BYTES.min(forming / RUN_BUFFERS);
        if bytes <= first && bytes <= merging / RUN_BUFFERS {
            // Sorting takes as much again.
            let merging_bytes = 2 * bytes;
            return Self { forming_bytes: bytes, merging_bytes, ..Self::default() };
        }
        let run_count = run_count(records, forming / RUN_BUFFERS).max(1);
        let workers = 2 * threads.max(1) as u64;
        let capacity = merging / (RUN_BUFFERS * records.bytes);
        let block = (capacity / 4096).clamp(SORT_BLOCK_RECORDS.start, SORT_BLOCK_RECORDS.end)
            * records.bytes;
        let liked = tuning.merge_read_bytes as u64;
        let fan_in = |read_bytes: u64| {
            let lane = block + liked.min(read_bytes).max(block);
            (merging / 2 / workers / lane).clamp(2, 4096)
        };
        let fan_in = least_passes(run_count, fan_in(SORT_READ_BYTES), fan_in(SORT_READ_BYTES_MIN));
        let (passes, moved, runs) = passes(run_count, fan_in);
        // A worker reads from all runs; ranges are what one of them merges.
        let read_bytes = liked
            .min((merging / 2 / workers / runs).saturating_sub(block).max(SORT_READ_BYTES_MIN));
        let most = (merging / 2 / (workers + 2)).max(block);
        let range = most.min(runs * SORT_RANGE_READS * read_bytes).min(bytes).max(1);
        let twice = (block * runs) as f64 / range as f64;
        let ranges = bytes.div_ceil(range).clamp(1, workers + 2);
        let size = largest_run(bytes, forming / RUN_BUFFERS);
        Self {
            run_count,
            pass_count: passes,
            written: 1.0 + moved,
            read: (1.0 + moved) * (1.0 + twice.min(1.0)),
            forming_bytes: (RUN_BUFFERS * size).min(bytes + 2 * size),
            merging_bytes: (workers * runs * (block + read_bytes) + ranges * range).min(merging),
        }
    }
}

/// The fan-in for so many runs: as few passes as the widest leads to, and no wider than that.
fn least_passes(runs: u64, usual: u64, widest: u64) -> u64 {
    let reach = |fan_in: u64, passes: u32| fan_in.saturating_pow(passes) >= runs;
    let passes = (1..).find(|&passes| reach(widest, passes)).unwrap_or(1);
    (usual..widest).find(|&fan_in| reach(fan_in, passes)).unwrap_or(widest)
}

/// Runs of so many records, of which one may take `most_bytes`.
fn run_count(records: Records, most_bytes: u64) -> u64 {
    let full = |size: u64| {
        // The last records that come for a run may not fit any more.
        let room = (size / records.bytes).max(1);
        let (at_once, kept) = (records.at_once.max(1), records.kept.max(1));
        (1 + room.saturating_sub(at_once) / kept) * kept.min(room) * records.bytes
    };
    let most = most_bytes.max(MIB);
    let mut size = RUN_BYTES.min(most);
    let (mut left, mut runs) = (records.count.saturating_mul(records.bytes), 0);
    while size < most && left > RUNS_OF_A_SIZE * full(size) {
        left -= RUNS_OF_A_SIZE * full(size);
        runs += RUNS_OF_A_SIZE;
        size = (2 * size).min(most);
    }
    runs + left.div_ceil(full(size))
}

/// The size of the last runs of so many bytes.
fn largest_run(bytes: u64, most_bytes: u64) -> u64 {
    let most = most_bytes.max(MIB);
    let (mut size, mut left) = (RUN_BYTES.min(most), bytes);
    while size < most && left > RUNS_OF_A_SIZE * size {
        left -= RUNS_OF_A_SIZE * size;
        size = (2 * size).min(most);
    }
    size
}

/// Passes over runs of about one size with so many merged at once; how often a record is written by
/// those before the last, and how many runs the last one has.
fn passes(run_count: u64, fan_in: u64) -> (u64, f64, u64) {
    let (mut count, mut passes, mut moved) = (run_count, 1, 0.0);
    while count > RUNS_COUNTED.max(fan_in) {
        count = count.div_ceil(fan_in);
        passes += 1;
        moved += 1.0;
    }
    // Each run by its share of the records, as the sort goes through them.
    let mut runs = vec![1.0 / count as f64; count as usize];
    while runs.len() as u64 > fan_in {
        let mut excess = runs.len() - fan_in as usize;
        let mut merged = Vec::with_capacity(runs.len());
        let mut at = 0;
        while at < runs.len() {
            let take = (excess + 1).min(fan_in as usize).min(runs.len() - at);
            let share: f64 = runs[at..at + take].iter().sum();
            moved += if take > 1 { share } else { 0.0 };
            merged.push(share);
            excess -= take - 1;
            at += take;
        }
        runs = merged;
        passes += 1;
    }
    (passes, moved, runs.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    fn records(bytes: u64) -> Records {
        Records { count: bytes / 16, bytes: 16, at_once: 1, kept: 1 }
    }

    #[test]
    fn runs_double_after_every_so_many() {
        let count = |bytes, most| run_count(records(bytes), most);
        assert_eq!(count(RUN_BYTES, GIB), 1);
        assert_eq!(count(10 * RUN_BYTES, GIB), 10);
        assert_eq!(count(80 * RUN_BYTES, GIB), 72);
        assert_eq!(count(100 * RUN_BYTES, RUN_BYTES / 2), 200);
    }

    #[test]
    fn records_that_do_not_fit_any_more_begin_the_next_run() {
        let portions = Records { count: 1_000_000, bytes: 12, at_once: 100_000, kept: 80_000 };
        assert_eq!(run_count(portions, 12 * 170_000), 1_000_000_u64.div_ceil(80_000));
        assert_eq!(run_count(portions, 12 * 180_000), 1_000_000_u64.div_ceil(160_000));
    }

    #[test]
    fn passes_are_those_of_the_fan_in() {
        assert_eq!(passes(1, 2), (1, 0.0, 1));
        assert_eq!(passes(64, 64), (1, 0.0, 64));
        assert_eq!(passes(65, 64), (2, 2.0 / 65.0, 64));
        assert_eq!(passes(8, 2), (3, 2.0, 2));
        let (count, moved, runs) = passes(1 << 40, 16);
        assert_eq!((count, moved, runs), (10, 9.0, 16));
    }

    #[test]
    fn what_fits_never_touches_the_disk() {
        let of = |bytes, budget| Sorting::of(records(bytes), [budget; 2], 2, &Tuning::default());
        assert_eq!(of(RUN_BYTES, GIB).written, 0.0);
        assert_eq!(of(RUN_BYTES, 20 * MIB).pass_count, 2);
        let wide = of(4 * RUN_BYTES, GIB);
        assert_eq!((wide.run_count, wide.pass_count, wide.written), (4, 1, 1.0));
        assert!(wide.read < 1.1 && wide.merging_bytes < GIB);
    }
}
