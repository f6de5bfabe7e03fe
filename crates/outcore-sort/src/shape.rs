//! Use of a sort's budget: sizes of runs and blocks, fan-in, and read sizes. The sorter applies it to its
//! actual runs, [`cost`](super::cost) to predicted ones.

use super::record::Record;
use outcore_io::units::{KIB, MIB};
use outcore_io::{ALIGNMENT, Cramped, Files};
use std::ops::Range;

/// Memory of a sort in addition to its records while it takes them: write buffers, and blocks being encoded.
pub const FIXED_BYTES: u64 = 12 * MIB;
/// Minimum useful budget: runs of a few blocks, merged two at a time.
pub const SORT_BYTES_MIN: u64 = FIXED_BYTES + 8 * MIB;
/// Memory of the first runs. Larger ones make the merge slightly faster, but touching new pages of memory costs more
/// than that.
pub(super) const RUN_BYTES: u64 = 32 * MIB;
/// Number of runs of one size, after which the size doubles, up to what the budget allows.
pub(super) const RUNS_OF_A_SIZE: u64 = 64;
/// Number of buffers per run during run formation: one to collect and one to form; twice as many if all keys are in one
/// bucket.
pub(super) const RUN_BUFFERS: u64 = 4;
/// Number of files of a run. They are deleted one by one while it is merged.
pub(super) const SEGMENTS: u64 = 16;
/// Minimum size of each of these files, since file systems take long to create thousands of them.
pub(super) const SEGMENT_BYTES: u64 = 4 * MIB;
/// Number of records in a block of a run: fewer if the budget is small.
const BLOCK_RECORDS: Range<u64> = 2 << 10..32 << 10;
/// Bytes of records that a merge worker sorts at a time: they and their copy stay in the cache of a core.
const WINDOW_BYTES: u64 = 768 * KIB;
/// Minimum bytes per read request of a run, when there are many runs or little memory.
const READ_BYTES: u64 = 512 * KIB;
/// The same minimum where a larger size would need another pass.
const READ_BYTES_MIN: u64 = 64 * KIB;
/// Additional bytes that reading a block may take, because reads begin and end at aligned offsets.
const UNALIGNED_BYTES: u64 = 3 * ALIGNMENT as u64;

/// Allocation of a budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Maximum number of records in a run. It takes only part of the budget, since one run is collected while another
    /// is formed.
    pub(super) capacity: usize,
    /// Number of records in each of the first runs.
    pub(super) first_run: usize,
    /// Number of records in a block of a run.
    pub(super) block_records: usize,
    /// Number of records that a merge worker sorts at a time.
    pub(super) window_records: usize,
    /// Maximum number of runs in one merge.
    pub(super) fan_in: usize,
    /// Maximum number of runs in one merge with smaller reads, which may save a pass.
    pub(super) widest_fan_in: usize,
    /// Minimum size of the files that a run is divided into.
    pub(super) segment_bytes: u64,
    /// Memory of each of the two buffers for blocks that a merge reads.
    pub(super) load_bytes: u64,
    /// Preferred read size of the disk.
    pub(super) merge_read_bytes: u64,
    /// Whether two runs can be merged within that memory.
    pub(super) has_room_for_two: bool,
}

impl Shape {
    /// Computes the shape for runs whose blocks have up to `saved_block_records` records, if there are runs already.
    pub(super) fn new<R: Record>(
        budget_bytes: u64,
        workers: usize,
        files: &Files,
        saved_block_records: usize,
    ) -> Self {
        let tuning = files.tuning();
        // Large buffers of the writer are taken from the records' share.
        let rest = budget_bytes - FIXED_BYTES;
        let rest = rest - tuning.write.excess_bytes().min(rest / 2);
        let record = size_of::<R>() as u64;
        let (liked, cramped) = (tuning.merge_read_bytes as u64, files.cramped());
        Self::within(rest, record, workers, liked, &cramped, saved_block_records)
    }

    /// Computes the shape for records of `record_bytes` each, with `rest` bytes of memory.
    pub(super) fn within(
        rest: u64,
        record_bytes: u64,
        workers: usize,
        merge_read_bytes: u64,
        cramped: &Cramped,
        saved_block_records: usize,
    ) -> Self {
        let capacity = (rest / (RUN_BUFFERS * record_bytes)).min(cramped.sort_records as u64);
        let capacity = capacity.min(u32::MAX.into());
        let block_records = (capacity / 4096).clamp(BLOCK_RECORDS.start, BLOCK_RECORDS.end);
        let block_records = block_records.max(saved_block_records as u64);
        // Half of the budget is for the blocks that the merge reads, half for windows: those ahead, and one that each
        // worker gathers.
        let block = block_records * record_bytes;
        let load_bytes = rest / 4;
        let window_bytes = rest / 2 / (workers + windows_ahead(workers)) as u64;
        let room = |read_bytes: u64| {
            let read = merge_read_bytes.min(read_bytes).max(block + UNALIGNED_BYTES);
            (load_bytes / read).min(window_bytes / block)
        };
        let fan_in = |read_bytes| room(read_bytes).clamp(2, 4096) as usize;
        Self {
            capacity: capacity as usize,
            first_run: cramped.run_records.min((RUN_BYTES / record_bytes) as usize),
            block_records: block_records as usize,
            window_records: (WINDOW_BYTES.min(window_bytes) / record_bytes) as usize,
            fan_in: cramped.fan_in.min(fan_in(READ_BYTES)),
            widest_fan_in: cramped.fan_in.min(fan_in(READ_BYTES_MIN)),
            segment_bytes: SEGMENT_BYTES,
            load_bytes,
            merge_read_bytes,
            has_room_for_two: room(READ_BYTES_MIN) >= 2,
        }
    }

    /// Returns the fan-in for `runs` runs: the fewest passes, with the largest reads that these allow.
    pub(super) fn fan_in(&self, runs: usize) -> usize {
        let reach = |fan_in: usize, passes: u32| fan_in.saturating_pow(passes) >= runs;
        let passes = (1..).find(|&passes| reach(self.widest_fan_in, passes)).unwrap_or(1);
        let fan_ins = self.fan_in..self.widest_fan_in;
        fan_ins.into_iter().find(|&fan_in| reach(fan_in, passes)).unwrap_or(self.widest_fan_in)
    }

    /// Returns the bytes that a merge of `runs` runs reads at a time: the preferred size of the disk from each of them, if
    /// the memory suffices.
    pub(super) fn load_bytes(&self, runs: u64) -> u64 {
        self.load_bytes.min(runs.saturating_mul(self.merge_read_bytes))
    }

    /// Returns the maximum number of records in a window of a merge of `runs` runs.
    pub(super) fn window_records(&self, runs: u64) -> u64 {
        (self.window_records as u64).max(runs * self.block_records as u64)
    }
}

/// Returns the size of a run: `first` at the beginning, doubled after every [`RUNS_OF_A_SIZE`] runs, up to `most`.
pub(super) fn run_size(number: u64, first: u64, most: u64) -> u64 {
    let doublings = (number / RUNS_OF_A_SIZE).min(40);
    first.saturating_mul(1 << doublings).min(most)
}

/// Returns the number of neighboring runs in each merge of a pass: only as many as needed for one last merge with the
/// full fan-in.
pub(super) fn merges_of_pass(run_count: usize, fan_in: usize) -> impl Iterator<Item = usize> {
    let (mut left, mut excess) = (run_count, run_count - fan_in);
    std::iter::from_fn(move || {
        let take = (excess + 1).min(fan_in).min(left);
        excess -= take.saturating_sub(1);
        left -= take;
        (take > 0).then_some(take)
    })
}

/// Returns the number of windows of a merge that may be in order: being sorted, or waiting for the caller.
pub(super) const fn windows_ahead(workers: usize) -> usize {
    workers + 2
}
