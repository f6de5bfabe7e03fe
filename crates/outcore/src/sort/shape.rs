//! How a sort uses its budget: the sizes of runs and of blocks, how many runs are merged at once, and what is read
//! of each at once. The sorter asks this of the runs that it has, [`cost`](super::cost) of those that it will have.

use super::record::Record;
use crate::io::{Cramped, Files};
use crate::units::{KIB, MIB};
use std::ops::Range;

/// Memory of a sort beside its records: write buffers, blocks being encoded.
pub(super) const FIXED_BYTES: u64 = 12 * MIB;
/// The smallest budget that makes sense: runs of a few blocks, merged two at a time.
pub const SORT_BYTES_MIN: u64 = FIXED_BYTES + 8 * MIB;
/// Runs begin with records of this size in memory: larger ones make the merge a little faster, but
/// every new page of memory that they touch costs more than that.
pub(super) const RUN_BYTES: u64 = 32 * MIB;
/// After so many runs of a size, runs become twice as large, up to what the budget allows.
pub(super) const RUNS_OF_A_SIZE: u64 = 64;
/// Buffers of a run while runs are formed: to collect, to sort, its scratch, and to write.
pub(super) const RUN_BUFFERS: u64 = 4;
/// A run is cut into so many files, to be deleted one by one...
pub(super) const SEGMENTS: u64 = 16;
/// ...of this size at least: file systems take long to create thousands of them.
pub(super) const SEGMENT_BYTES: u64 = 4 * MIB;
/// Records in a block of a run: fewer where the budget is small.
const BLOCK_RECORDS: Range<u64> = 2 << 10..32 << 10;
/// What is read of a run at once, at least, where many runs or little memory leave no choice...
const READ_BYTES: u64 = 512 * KIB;
/// ...but another pass.
const READ_BYTES_MIN: u64 = 64 * KIB;
/// Reads of each run in a range of the merge: fewer read more blocks twice, more take memory.
pub(super) const RANGE_READS: u64 = 2;

/// How a budget is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Memory of a record.
    pub(super) record_bytes: u64,
    /// Most records of a run: a part of the budget, since one run is collected while another is
    /// sorted, not in place, and a third written.
    pub(super) capacity: usize,
    /// Records in each of the first runs.
    pub(super) first_run: usize,
    /// Records in a block of a run.
    pub(super) block_records: usize,
    /// Most runs that one merge takes...
    pub(super) fan_in: usize,
    /// ...and if it reads less at once, to save a pass.
    pub(super) widest_fan_in: usize,
    /// Most blocks in a range of the merge.
    pub(super) range_blocks: usize,
    /// Least size of the files that a run is cut into.
    pub(super) segment_bytes: u64,
    /// Memory of one worker of a merge for what it reads.
    pub(super) lanes_bytes: u64,
    /// What the disk likes to have read of a run at once.
    pub(super) merge_read_bytes: u64,
    /// Whether two runs can be merged without taking more than that.
    pub(super) has_room_for_two: bool,
}

impl Shape {
    /// For runs whose blocks have up to `saved_block_records` records, if there are such already.
    pub(super) fn new<R: Record>(
        budget_bytes: u64,
        workers: usize,
        files: &Files,
        saved_block_records: usize,
    ) -> Self {
        let tuning = files.tuning();
        // Large buffers of the writer come out of the records' share.
        let rest = budget_bytes - FIXED_BYTES;
        let rest = rest - tuning.write.excess_bytes().min(rest / 2);
        let record = size_of::<R>() as u64;
        let (liked, cramped) = (tuning.merge_read_bytes as u64, files.cramped());
        Self::within(rest, record, workers, liked, &cramped, saved_block_records)
    }

    /// For records of so many bytes that have `rest` bytes of memory.
    pub(super) fn within(
        rest: u64,
        record_bytes: u64,
        workers: usize,
        merge_read_bytes: u64,
        cramped: &Cramped,
        saved_block_records: usize,
    ) -> Self {
        let capacity = (rest / (RUN_BUFFERS * record_bytes)).min(cramped.sort_records as u64);
        let block_records = (capacity / 4096).clamp(BLOCK_RECORDS.start, BLOCK_RECORDS.end);
        let block_records = block_records.max(saved_block_records as u64);
        // Half of the budget for the blocks that workers merge from, half for what they merged.
        let block = block_records * record_bytes;
        let lanes_bytes = rest / 2 / workers.max(1) as u64;
        let room = |read_bytes: u64| {
            let lane = block + merge_read_bytes.min(read_bytes).max(block);
            lanes_bytes / lane
        };
        let fan_in = |read_bytes| room(read_bytes).clamp(2, 4096) as usize;
        let range_blocks = rest / 2 / (ranges_ahead(workers) as u64 * block);
        Self {
            record_bytes,
            capacity: capacity as usize,
            first_run: cramped.run_records.min((RUN_BYTES / record_bytes) as usize),
            block_records: block_records as usize,
            fan_in: cramped.fan_in.min(fan_in(READ_BYTES)),
            widest_fan_in: cramped.fan_in.min(fan_in(READ_BYTES_MIN)),
            range_blocks: range_blocks.max(1) as usize,
            segment_bytes: SEGMENT_BYTES,
            lanes_bytes,
            merge_read_bytes,
            has_room_for_two: room(READ_BYTES_MIN) >= 2,
        }
    }

    /// Memory of a block of records.
    pub(super) fn block_bytes(&self) -> u64 {
        self.block_records as u64 * self.record_bytes
    }

    /// The fan-in for so many runs: as few passes as there can be, and reads as large as these allow.
    pub(super) fn fan_in(&self, runs: usize) -> usize {
        let reach = |fan_in: usize, passes: u32| fan_in.saturating_pow(passes) >= runs;
        let passes = (1..).find(|&passes| reach(self.widest_fan_in, passes)).unwrap_or(1);
        let fan_ins = self.fan_in..self.widest_fan_in;
        fan_ins.into_iter().find(|&fan_in| reach(fan_in, passes)).unwrap_or(self.widest_fan_in)
    }

    /// What is read of a run at once: what the disk likes, if the memory allows it for so many runs.
    pub(super) fn read_bytes(&self, runs: usize) -> u64 {
        let most = (self.lanes_bytes / runs.max(1) as u64).saturating_sub(self.block_bytes());
        self.merge_read_bytes.min(most.max(READ_BYTES_MIN))
    }
}

/// The size of a run: that of the first ones doubles after every [`RUNS_OF_A_SIZE`], up to the most.
pub(super) fn run_size(number: u64, first: u64, most: u64) -> u64 {
    let doublings = (number / RUNS_OF_A_SIZE).min(40);
    first.saturating_mul(1 << doublings).min(most)
}

/// How many neighboring runs each merge of a pass takes: as few as lead to one last merge with the full fan-in.
pub(super) fn merges_of_pass(run_count: usize, fan_in: usize) -> impl Iterator<Item = usize> {
    let (mut left, mut excess) = (run_count, run_count - fan_in);
    std::iter::from_fn(move || {
        let take = (excess + 1).min(fan_in).min(left);
        excess -= take.saturating_sub(1);
        left -= take;
        (take > 0).then_some(take)
    })
}

/// Ranges of a merge that may be in memory at once.
pub(super) const fn ranges_ahead(workers: usize) -> usize {
    workers + 2
}
