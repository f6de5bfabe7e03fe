//! Checkpoints of a sort: the checkpoint needs the files of the runs, and stores the outlines of their blocks as arrays.
//!
//! A sort may be saved any number of times; a job that resumes from an earlier checkpoint overwrites the runs
//! written after it. Blocks have checksums of their own.

use super::run::Run;
use super::{Record, SortSummary, Sorter};
use outcore_io::checkpoint::{Checkpoint, StateReader, StateWriter};
use outcore_io::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// State of a sort: its runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SortState {
    block_records: usize,
    next_name: u64,
    record_count: u64,
    runs: Vec<RunState>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RunState {
    number: u64,
    /// For each segment, the index after its last block.
    segments: Vec<usize>,
}

impl<R: Record> Sorter<R> {
    /// Returns whether a run has been written, so that there is something to save.
    pub fn has_runs(&self) -> bool {
        self.next_name > 0
    }

    /// Returns the bytes of all runs.
    pub fn run_bytes(&self) -> u64 {
        self.runs.iter().map(Run::bytes).sum()
    }

    /// Returns the maximum disk space that the merge takes in addition to the existing runs and its output.
    pub fn pass_bytes(&self) -> u64 {
        let runs = self.runs.len();
        if runs > self.shape.fan_in(runs) { self.run_bytes() } else { 0 }
    }
}

/// Saving first writes the collected records as another run, if there is a run already. Resuming takes a sort without
/// records as its place, made by [`Sorter::with_directory`]; it fails with `MemoryTooSmall` if the blocks of the saved runs
/// are too large to be merged within its budget.
impl<R: Record> Checkpoint for Sorter<R> {
    type State = SortState;
    type Place<'a> = Self;

    fn save(&mut self, to: &mut StateWriter) -> Result<SortState> {
        if self.has_runs() {
            self.write_collected()?;
        }
        let mut runs = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            to.array(run.blocks().iter().map(|block| block.bytes))?;
            to.array(run.blocks().iter().map(|block| block.count))?;
            to.array(run.blocks().iter().map(|block| -> u128 { block.first.into() }))?;
            run.segments().for_each(|(path, _, bytes)| to.need(path, bytes));
            let segments = run.segments().map(|(_, end, _)| end).collect();
            runs.push(RunState { number: run.number, segments });
        }
        Ok(SortState {
            block_records: self.shape.block_records.max(self.saved_block_records),
            next_name: self.next_name,
            record_count: self.summary.record_count,
            runs,
        })
    }

    fn resume(state: &SortState, from: &mut StateReader, mut sorter: Self) -> Result<Self> {
        if state.runs.is_empty() {
            return Ok(sorter);
        }
        let runs = sorter.directory()?.clone();
        for RunState { number, segments } in &state.runs {
            let (lengths, counts) = (from.numbers::<u32>()?, from.numbers::<u32>()?);
            let outlines = lengths.into_iter().zip(counts).zip(from.numbers::<u128>()?);
            let mut run = Run::<R>::new(runs.clone(), *number);
            let mut ends = segments.iter().copied().peekable();
            for (at, ((bytes, count), key)) in (1..).zip(outlines) {
                let first = key.try_into().map_err(|_| from.damaged())?;
                run.add_block(bytes, count, first);
                if ends.next_if_eq(&at).is_some() {
                    run.end_segment();
                }
            }
            if ends.next().is_some() {
                return Err(from.damaged());
            }
            sorter.runs.push(run);
        }
        sorter.next_name = state.next_name;
        sorter.saved_block_records = state.block_records;
        let (record_count, run_count) = (state.record_count, state.runs.len() as u64);
        sorter.summary = SortSummary { record_count, run_count, ..SortSummary::default() };
        let own = sorter.shape;
        sorter.set_budget(sorter.budget_bytes)?;
        if sorter.shape.block_records > own.block_records && !sorter.shape.has_room_for_two {
            return Err(Error::new(ErrorKind::MemoryTooSmall, "too little memory to merge runs"));
        }
        Ok(sorter)
    }
}
