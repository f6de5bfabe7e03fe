//! What reading leaves for the merge: saved, so that another process can resume from it; and the merge.

use super::weights::SelfScores;
use crate::checkpoint::{Checkpoint, StateReader};
use crate::error::opt::{MEMORY, RESTART};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArcRecord, GraphOptions, GraphSummary, GraphWriter};
use crate::io::{Scratch, Sealed};
use crate::job::resume::{RUNS, Saved};
use crate::job::{InputReport, Job, JobOptions};
use crate::progress::{Event, Stage, notify};
use crate::sort::{Record, SortState, Sorted, Sorter};
use crate::units::size_to_type;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// All that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunsState {
    pub(crate) node_count: u64,
    /// Names, in the directory of the graph.
    pub(crate) names: Sealed,
    pub(crate) runs: SortState,
    /// The nodes that have self scores, if weights are divided by them.
    scores: Option<u64>,
    /// The memory limit with which it was read.
    memory_bytes: u64,
    input: InputReport,
    warnings: Vec<String>,
}

/// What the read stage leaves.
pub(crate) struct ReadResult<R: Record> {
    pub(crate) sorter: Sorter<R>,
    pub(crate) node_count: u64,
    /// There if weights are to be divided by them.
    pub(crate) scores: Option<SelfScores>,
    /// Of the file of names.
    pub(crate) names: Sealed,
    /// What was warned of.
    pub(crate) warnings: Vec<String>,
}

impl<R: Record> ReadResult<R> {
    pub(crate) fn score_bytes(&self) -> u64 {
        self.scores.as_ref().map_or(0, SelfScores::memory_bytes)
    }
}

/// The error for what an earlier job has left if there is too little memory for it now.
pub(crate) fn made_with(error: Error, memory_bytes: u64) -> Error {
    match error.kind() {
        ErrorKind::MemoryTooSmall => error.hint(format_args!(
            "use {}, with which they were made, or {RESTART}",
            MEMORY.of(size_to_type(memory_bytes))
        )),
        _ => error,
    }
}

/// Resumes after the input was read.
pub(crate) fn resume_runs<R>(
    job: &mut Job<'_>,
    state: RunsState,
    mut from: StateReader,
    scratch: &Scratch,
) -> Result<ReadResult<R>>
where
    R: Record,
    R::Key: Into<u128> + TryFrom<u128>,
{
    job.limits.check()?;
    job.stage(Stage::Read, |job| {
        notify(job.observer, Event::Begin { stage: Stage::Read, total: None, unit: "bytes" })?;
        let directory = scratch.path().join(RUNS);
        let (files, limits) = (job.files, job.limits);
        let RunsState { node_count, names, input, warnings, .. } = state;
        let scores = Option::<SelfScores>::resume(&state.scores, &mut from, 8 * node_count)?;
        let score_bytes = scores.as_ref().map_or(0, SelfScores::memory_bytes);
        let too_small = || limits.too_small(node_count, "the input has");
        let budget =
            limits.merge_bytes_beside(score_bytes, &files.tuning()).ok_or_else(too_small)?;
        let place = (files, directory.as_path(), budget, limits.threads);
        let sorter = Sorter::resume(&state.runs, &mut from, place);
        let sorter = sorter.map_err(|error| made_with(error, state.memory_bytes))?;
        from.finish()?;
        job.report_again(input, &warnings)?;
        let numbered = ReadResult { sorter, node_count, scores, names, warnings };
        Ok((numbered, "the runs of a run that was stopped are taken over".into()))
    })
}

/// The most that runs and graph take together for an edge of the input. Of the 16 that a job may take beside the
/// names, what is on its way takes a part.
const RUNS_AND_GRAPH_BYTES: u64 = 15;

impl Job<'_> {
    /// Reports what an earlier job has read: as it was understood, and with its warnings.
    pub(crate) fn report_again(&mut self, input: InputReport, warnings: &[String]) -> Result<()> {
        self.report_formats(&input.formats)?;
        for text in warnings {
            notify(self.observer, Event::Warning { text })?;
        }
        self.report.input = Some(input);
        Ok(())
    }

    /// Saves what was read, in place of what was saved of it before, if the sort went to disk.
    pub(crate) fn save_runs<R>(&mut self, numbered: &mut ReadResult<R>) -> Result<()>
    where
        R: Record,
        R::Key: Into<u128> + TryFrom<u128>,
    {
        let Some(records) = &mut self.records else { return Ok(()) };
        if !numbered.sorter.has_runs() {
            return records.withdraw();
        }
        let (memory_bytes, input) = (self.limits.memory_bytes, &self.report.input);
        records.save(|to| {
            Ok(Saved::Runs(Box::new(RunsState {
                node_count: numbered.node_count,
                names: numbered.names,
                scores: numbered.scores.save(to)?,
                runs: numbered.sorter.save(to)?,
                memory_bytes,
                input: input.clone().unwrap_or_default(),
                warnings: numbered.warnings.clone(),
            })))
        })
    }

    /// Lets saved runs stay until the graph is whole, if the disk has room for both, and the two keep to
    /// [`RUNS_AND_GRAPH_BYTES`]; else they are used up by the merge, and a job that is killed then starts from scratch.
    /// Gives how far the graph may grow beside all of them.
    pub(crate) fn hold_runs<R>(
        &mut self,
        numbered: &ReadResult<R>,
        scratch: &Scratch,
        graph: &Path,
    ) -> Result<Option<u64>>
    where
        R: Record,
    {
        let Some(records) = self.records.as_mut().filter(|records| records.has_saved()) else {
            return Ok(None);
        };
        let sorter = &numbered.sorter;
        let (run_bytes, pass_bytes) = (sorter.run_bytes(), sorter.pass_bytes());
        // An arc takes no more in a graph than in a run; beside arcs there are up to three bytes a node.
        let graph_bytes = run_bytes + 3 * numbered.node_count;
        let edges = self.report.input.as_ref().map_or(0, |input| input.edge_count);
        let most = RUNS_AND_GRAPH_BYTES * edges;
        // What several passes have merged cannot be given up by halves.
        let is_too_much = pass_bytes > 0 && run_bytes + pass_bytes + graph_bytes > most;
        let has_room =
            |path: &Path, bytes| self.files.free_bytes(path).is_some_and(|free| free >= bytes);
        if is_too_much
            || !has_room(scratch.path(), pass_bytes + graph_bytes)
            || !has_room(graph, graph_bytes)
        {
            records.withdraw()?;
            return Ok(None);
        }
        let has_passes = pass_bytes > 0;
        Ok((!has_passes).then(|| most.saturating_sub(run_bytes)))
    }
}

/// Merges the runs into the graph; when that has grown beyond `room`, they are withdrawn, and go as they are used up.
pub(crate) fn merge<R: Record + Into<ArcRecord>>(
    job: &mut Job<'_>,
    options: &JobOptions,
    mut sorted: Sorted<R>,
    mut room: Option<u64>,
    node_count: u64,
    scores: Option<SelfScores>,
    directory: &Path,
) -> Result<GraphSummary> {
    let total = sorted.summary().record_count;
    notify(job.observer, Event::Begin { stage: Stage::Merge, total: Some(total), unit: "arcs" })?;
    let graph_options = GraphOptions {
        node_count,
        directed: options.input.directed,
        duplicates: options.duplicates,
        keep_loops: options.keep_loops,
    };
    let mut writer = GraphWriter::create(job.files, directory, &graph_options)?;
    let mut arcs: Vec<ArcRecord> = Vec::new();
    let mut done = 0;
    let before = job.files.counters().write_bytes();
    while let Some(block) = sorted.next_block()? {
        arcs.clear();
        arcs.extend(block.iter().map(|&record| -> ArcRecord { record.into() }));
        if let Some(scores) = &scores {
            scores.divide(&mut arcs);
        }
        writer.push(&arcs)?;
        done += arcs.len() as u64;
        notify(job.observer, Event::Advance { done })?;
        let written = job.files.counters().write_bytes() - before;
        if room.take_if(|room| written > *room).is_some() {
            job.withdraw()?;
        }
    }
    writer.finish()
}
