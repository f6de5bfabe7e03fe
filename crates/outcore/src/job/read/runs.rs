//! Result of the read stage, saved so that another process can resume from it; and the merge.

use super::append::Old;
use super::weights::SelfScores;
use crate::checkpoint::{Checkpoint, StateReader};
use crate::error::opt::{MEMORY, RESTART};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{self, ArcRecord, GraphOptions, GraphSummary, GraphWriter, NodeNames, extend};
use crate::io::{Scratch, Sealed};
use crate::job::resume::{RUNS, Saved};
use crate::job::{InputReport, JobOptions, Stages};
use crate::plan;
use crate::progress::{Event, Stage, notify};
use crate::sort::{Record, SortState, Sorted, Sorter};
use crate::units::size_to_type;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Saved state of a finished read stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunsState {
    pub(crate) node_count: u64,
    /// File of names, in the graph's directory.
    pub(crate) names: Sealed,
    pub(crate) runs: SortState,
    /// Number of nodes with self scores, if weights are divided by them.
    scores: Option<u64>,
    /// Memory limit of the job that read it.
    memory_bytes: u64,
    input: InputReport,
    warnings: Vec<String>,
}

/// Result of the read stage.
pub(crate) struct ReadResult<R: Record> {
    pub(crate) sorter: Sorter<R>,
    pub(crate) node_count: u64,
    /// Self scores, if weights are divided by them.
    pub(crate) scores: Option<SelfScores>,
    /// Seal of the file of names.
    pub(crate) names: Sealed,
    /// Warnings so far.
    pub(crate) warnings: Vec<String>,
}

impl<R: Record> ReadResult<R> {
    pub(crate) fn score_bytes(&self) -> u64 {
        self.scores.as_ref().map_or(0, SelfScores::memory_bytes)
    }
}

/// Adds a hint to the error if the saved state of an earlier job needs more memory than the limit.
pub(crate) fn made_with(error: Error, memory_bytes: u64) -> Error {
    match error.kind() {
        ErrorKind::MemoryTooSmall => error.hint(format_args!(
            "use {}, the limit they were made with, or {RESTART}",
            MEMORY.of(size_to_type(memory_bytes))
        )),
        _ => error,
    }
}

/// Resumes after the read stage.
pub(crate) fn resume_runs<R>(
    job: &mut Stages<'_>,
    state: RunsState,
    mut from: StateReader,
    scratch: &Scratch,
) -> Result<ReadResult<R>>
where
    R: Record,
    R::Key: Into<u128> + TryFrom<u128>,
{
    plan::check_limits(&job.limits)?;
    job.stage(Stage::Read, |job| {
        notify(job.observer, Event::Begin { stage: Stage::Read, total: None, unit: "bytes" })?;
        let directory = scratch.path().join(RUNS);
        let (files, limits) = (job.files, job.limits);
        let RunsState { node_count, names, input, warnings, .. } = state;
        let scores = Option::<SelfScores>::resume(&state.scores, &mut from, 8 * node_count)?;
        let score_bytes = scores.as_ref().map_or(0, SelfScores::memory_bytes);
        let too_small = || plan::too_small(&limits, node_count, "the input has");
        let budget = graph::merge_bytes_beside(&limits, score_bytes, &files.tuning())
            .ok_or_else(too_small)?;
        let place = (files, directory.as_path(), budget, limits.threads);
        let sorter = Sorter::resume(&state.runs, &mut from, place);
        let sorter = sorter.map_err(|error| made_with(error, state.memory_bytes))?;
        from.finish()?;
        job.report_again(input, &warnings)?;
        let numbered = ReadResult { sorter, node_count, scores, names, warnings };
        Ok((numbered, "reused the runs of an earlier job".into()))
    })
}

/// Maximum bytes of runs and graph together, per edge of the input. A job may take 16 in addition to the names; the
/// rest is for data in transit.
const RUNS_AND_GRAPH_BYTES: u64 = 15;

impl Stages<'_> {
    /// Reports again the formats and warnings of the input, which an earlier job has read.
    pub(crate) fn report_again(&mut self, input: InputReport, warnings: &[String]) -> Result<()> {
        self.report_formats(&input.formats)?;
        for text in warnings {
            notify(self.observer, Event::Warning { text })?;
        }
        self.report.input = Some(input);
        Ok(())
    }

    /// Returns the memory for the sort during the merge, and whether there is room to read the old graph ahead.
    pub(crate) fn merge_room<R: Record>(&self, numbered: &ReadResult<R>) -> Result<(u64, bool)> {
        let (limits, tuning) = (self.limits, self.files.tuning());
        if let Some(old) = &self.old {
            return old.merge_room(limits, &tuning);
        }
        let bytes = graph::merge_bytes_beside(&limits, numbered.score_bytes(), &tuning);
        let too_small = || plan::too_small(&limits, numbered.node_count, "the input has");
        bytes.map(|bytes| (bytes, false)).ok_or_else(too_small)
    }

    /// Saves the result of reading, replacing earlier saved state, if the sort has runs on disk.
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

    /// Keeps saved runs until the graph is complete, if the disk has room for both, and both together stay below
    /// [`RUNS_AND_GRAPH_BYTES`]. Otherwise the merge consumes them, and a job that is killed then starts from scratch.
    /// Returns the size up to which the graph may grow while all runs are kept.
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
        let old_bytes = self.old.as_ref().map_or(0, |old| old.graph.bytes_on_disk());
        // An arc takes no more in a graph than in a run; a graph has up to three further bytes per node.
        let graph_bytes = run_bytes + 3 * numbered.node_count + old_bytes;
        let edges = self.report.input.as_ref().map_or(0, |input| input.edge_count);
        let most = RUNS_AND_GRAPH_BYTES * edges + old_bytes + 3 * numbered.node_count;
        // The runs of several merge passes cannot be removed in part.
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

/// Starts the graph in `directory`.
pub(crate) fn graph_writer(
    job: &Stages<'_>,
    options: &JobOptions,
    node_count: u64,
    directory: &Path,
) -> Result<GraphWriter> {
    let graph_options = GraphOptions {
        node_count,
        directed: options.input.directed,
        duplicates: options.duplicates,
        keep_loops: options.keep_loops,
    };
    let writer = GraphWriter::create(job.files, directory, &graph_options)?;
    let names = match &job.old {
        Some(old) => NodeNames::together(old.graph.summary().names, options.names),
        None => options.names,
    };
    Ok(writer.recording(options.rules(), names))
}

/// Progress of a merge. Once the graph has grown beyond `room`, the saved runs are withdrawn and removed as they are
/// consumed.
struct Merging<'a, 'b> {
    job: &'a mut Stages<'b>,
    room: Option<u64>,
    /// Bytes written before the merge.
    before: u64,
}

impl<'a, 'b> Merging<'a, 'b> {
    fn begin(job: &'a mut Stages<'b>, room: Option<u64>, total: u64) -> Result<Self> {
        let (stage, total) = (Stage::Merge, Some(total));
        notify(job.observer, Event::Begin { stage, total, unit: "arcs" })?;
        let before = job.files.counters().write_bytes();
        Ok(Self { job, room, before })
    }

    fn advance(&mut self, done: u64) -> Result<()> {
        notify(self.job.observer, Event::Advance { done })?;
        let written = self.job.files.counters().write_bytes() - self.before;
        if self.room.take_if(|room| written > *room).is_some() {
            self.job.withdraw()?;
        }
        Ok(())
    }
}

/// Fills `arcs` with the next sorted arcs; returns `false` if there are none left.
fn fetch<R: Record + Into<ArcRecord>>(
    sorted: &mut Sorted<R>,
    arcs: &mut Vec<ArcRecord>,
) -> Result<bool> {
    let Some(block) = sorted.next_block()? else { return Ok(false) };
    arcs.clear();
    arcs.extend(block.iter().map(|&record| -> ArcRecord { record.into() }));
    Ok(true)
}

/// Merges the runs into the graph.
pub(crate) fn merge<R: Record + Into<ArcRecord>>(
    job: &mut Stages<'_>,
    mut sorted: Sorted<R>,
    room: Option<u64>,
    scores: Option<SelfScores>,
    mut writer: GraphWriter,
) -> Result<GraphSummary> {
    let mut merging = Merging::begin(job, room, sorted.summary().record_count)?;
    let mut arcs: Vec<ArcRecord> = Vec::new();
    let mut done = 0;
    while fetch(&mut sorted, &mut arcs)? {
        if let Some(scores) = &scores {
            scores.divide(&mut arcs);
        }
        writer.push(&arcs)?;
        done += arcs.len() as u64;
        merging.advance(done)?;
    }
    writer.finish()
}

/// Merges the runs and the old graph into the graph.
pub(crate) fn merge_with<R: Record + Into<ArcRecord>>(
    job: &mut Stages<'_>,
    old: &Old,
    reads_ahead: bool,
    mut sorted: Sorted<R>,
    room: Option<u64>,
    mut writer: GraphWriter,
) -> Result<GraphSummary> {
    let total = sorted.summary().record_count + old.graph.arc_count();
    let mut merging = Merging::begin(job, room, total)?;
    let mut next = |arcs: &mut Vec<ArcRecord>| fetch(&mut sorted, arcs);
    let advance = |done| merging.advance(done);
    extend(&mut writer, &old.graph, reads_ahead, &mut next, advance)?;
    job.check_old()?;
    let graph = writer.finish()?;
    job.report.append = Some(old.report(&graph));
    Ok(graph)
}
