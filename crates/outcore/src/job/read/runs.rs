//! Result of the read stage, saved so that another process can resume from it; and the merge. What a saved state refers
//! to must be durable, and stay until a later state replaces it.

use super::Edges;
use super::append::Old;
use super::mirror::{Arcs, Portion};
use super::reading::Read;
use super::summaries::report_again;
use super::weights::SelfScores;
use crate::checkpoint::{Checkpoint, StateReader, StateWriter};
use crate::error::opt::{MEMORY, RESTART};
use crate::error::{Error, ErrorKind, Result, Text};
use crate::graph::{
    self, ArcRecord, GraphOptions, GraphSummary, GraphWriter, KindsSummary, NameType, NamesWriter,
    NodeNames, extend,
};
use crate::io::Sealed;
use crate::job::InputReport;
use crate::job::context::Context;
use crate::job::place::RUNS;
use crate::job::resume::JobJournal;
use crate::plan;
use crate::progress::{Event, Stage, notify};
use crate::sort::{Placed, Record, SortState, Sorter};
use crate::units::size_to_type;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Saved state of a finished read stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunsState {
    pub(crate) node_count: u64,
    /// Files of names and of kinds, in the graph's directory.
    pub(crate) names: Sealed,
    name_type: NameType,
    pub(crate) kinds: Option<KindsSummary>,
    pub(crate) runs: SortState,
    /// Number of nodes with self scores, if weights are divided by them.
    scores: Option<u64>,
    /// Memory limit of the job that read it.
    memory_bytes: u64,
    input: InputReport,
    warnings: Vec<Text>,
}

/// Result of the read stage, with sorted arcs.
pub(crate) struct ReadResult<R: Record> {
    pub(crate) sorter: Sorter<R>,
    pub(crate) read: Read,
}

impl<R: Record> ReadResult<R> {
    /// Saves the result of a job with this memory limit, whose names are in `directory`.
    pub(crate) fn save(
        &mut self,
        to: &mut StateWriter,
        directory: &Path,
        memory_bytes: u64,
    ) -> Result<RunsState> {
        let read = &mut self.read;
        NamesWriter::need(to, directory, read.names, read.kinds.as_ref());
        Ok(RunsState {
            node_count: read.node_count,
            names: read.names,
            name_type: read.name_type,
            kinds: read.kinds.clone(),
            scores: read.scores.save(to)?,
            runs: self.sorter.save(to)?,
            memory_bytes,
            input: read.input.clone(),
            warnings: read.warnings.clone(),
        })
    }

    /// Returns the memory for the sort during the merge, and whether there is room to read the old graph ahead.
    pub(crate) fn merge_room(
        &self,
        context: &Context<'_>,
        old: Option<&Old>,
    ) -> Result<(u64, bool)> {
        match old {
            Some(old) => old.merge_room(context.limits, &context.files.tuning()),
            None => {
                let bytes = merge_bytes(context, self.read.scores.as_ref(), self.read.node_count)?;
                Ok((bytes, false))
            }
        }
    }
}

/// Returns the memory for the sort during a merge without an old graph.
fn merge_bytes(context: &Context<'_>, scores: Option<&SelfScores>, node_count: u64) -> Result<u64> {
    let (limits, score_bytes) = (&context.limits, scores.map_or(0, SelfScores::memory_bytes));
    let bytes = graph::merge_bytes_beside(limits, score_bytes, &context.files.tuning());
    bytes.ok_or_else(|| plan::too_small(limits, node_count, "the input has"))
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
pub(crate) fn resume_runs<R: Record>(
    context: &mut Context<'_>,
    state: RunsState,
    mut from: StateReader,
) -> Result<ReadResult<R>> {
    plan::check_limits(&context.limits)?;
    context.stage(Stage::Read, |context| {
        context.begin(Stage::Read, None, "bytes")?;
        let directory = context.work.path().join(RUNS);
        let RunsState { node_count, names, name_type, kinds, input, warnings, .. } = state;
        let scores = Option::<SelfScores>::resume(&state.scores, &mut from, 8 * node_count)?;
        let budget = merge_bytes(context, scores.as_ref(), node_count)?;
        let empty =
            Sorter::with_directory(context.files, &directory, budget, context.limits.threads);
        let sorter = empty.and_then(|empty| Sorter::resume(&state.runs, &mut from, empty));
        let sorter = sorter.map_err(|error| made_with(error, state.memory_bytes))?;
        from.finish()?;
        report_again(context.observer, &input, &warnings)?;
        let read = Read { node_count, scores, names, name_type, kinds, input, warnings };
        Ok((ReadResult { sorter, read }, "reused the runs of an earlier job".into()))
    })
}

/// Maximum bytes of runs and graph together, relative to those of the runs: both arcs of an edge take 1.7 times as much in
/// the graph of a list in random order as one does in the runs, and the disk need not hold all of both.
const RUNS_AND_GRAPH: f64 = 1.9;

/// Keeps saved runs until the graph is complete, if the disk has room for both, and both together stay below
/// [`RUNS_AND_GRAPH`]. Otherwise the merge consumes them, and a job that is killed then starts from scratch.
/// Returns the size up to which the graph may grow while all runs are kept.
pub(crate) fn hold_runs<R: Record>(
    context: &Context<'_>,
    journal: &mut JobJournal,
    edges: Edges<'_>,
    read: &ReadResult<R>,
) -> Result<Option<u64>> {
    if !journal.has_saved() {
        return Ok(None);
    }
    let (run_bytes, pass_bytes) = (read.sorter.run_bytes(), read.sorter.pass_bytes());
    let old_bytes = edges.old.map_or(0, |old| old.graph.bytes_on_disk());
    // An arc takes no more in a graph than in a run, where an undirected edge is one; a graph has up to three further bytes
    // per node. Half of the edges wait for their second row at a time.
    let node_bytes = 3 * read.read.node_count;
    let (arc_bytes, waiting_bytes) = match edges.options.input.directed {
        true => (run_bytes, 0),
        false => (2 * run_bytes, run_bytes / 2),
    };
    let graph_bytes = arc_bytes + node_bytes + old_bytes;
    let most = (RUNS_AND_GRAPH * run_bytes as f64) as u64 + old_bytes + node_bytes;
    // The runs of several merge passes cannot be removed in part.
    let is_too_much = pass_bytes > 0 && run_bytes + pass_bytes + graph_bytes > most;
    let has_room =
        |path: &Path, bytes| context.files.free_bytes(path).is_some_and(|free| free >= bytes);
    if is_too_much
        || !has_room(context.work.path(), pass_bytes + waiting_bytes + graph_bytes)
        || !has_room(edges.directory, graph_bytes)
    {
        journal.withdraw()?;
        return Ok(None);
    }
    Ok((pass_bytes == 0).then(|| most.saturating_sub(run_bytes)))
}

/// Starts the graph.
pub(super) fn graph_writer(
    context: &Context<'_>,
    edges: Edges<'_>,
    node_count: u64,
    kinds: Option<KindsSummary>,
    name_type: NameType,
) -> Result<GraphWriter> {
    let options = edges.options;
    let graph_options = GraphOptions {
        node_count,
        directed: options.input.directed,
        duplicates: options.duplicates,
        keep_loops: options.keep_loops,
    };
    let writer = GraphWriter::create(context.files, edges.directory, &graph_options)?;
    let (names, name_type) = match edges.old.map(|old| old.graph.summary()) {
        Some(old) => {
            (NodeNames::together(old.names, options.names), old.name_type.together(name_type))
        }
        None => (options.names, name_type),
    };
    Ok(writer.recording(options.rules(), names, name_type).of_kinds(kinds))
}

/// Arcs of all edges, in order.
pub(super) struct SortedArcs<R: Placed> {
    pub(super) arcs: Arcs<R>,
    /// Number of records that were sorted.
    pub(super) record_count: u64,
    /// Whether the old graph is read ahead.
    pub(super) reads_ahead: bool,
    /// Bytes written to the graph after which the saved runs are withdrawn; `None` for never.
    pub(super) room: Option<u64>,
}

/// Merges the arcs, and those of the old graph if there is one, into the graph. Once it has outgrown its room, the saved
/// runs are withdrawn.
pub(crate) fn merge<R: Placed + From<ArcRecord> + Into<ArcRecord>>(
    context: &Context<'_>,
    journal: &mut JobJournal,
    edges: Edges<'_>,
    mut writer: GraphWriter,
    sorted: SortedArcs<R>,
) -> Result<GraphSummary> {
    let Context { files, observer, .. } = *context;
    let SortedArcs { mut arcs, record_count, reads_ahead, mut room } = sorted;
    let (each, mut portion) = (arcs.arcs_a_record(), Portion::default());
    let old_count = edges.old.map_or(0, |old| old.graph.arc_count());
    context.begin(Stage::Merge, Some(each * record_count + old_count), "arcs")?;
    let before = files.counters().write_bytes();
    let mut advance = |done| {
        notify(observer, Event::Advance { done })?;
        let written = files.counters().write_bytes() - before;
        room.take_if(|room| written > *room).map_or(Ok(()), |_| journal.withdraw())
    };
    if let Some(old) = edges.old {
        let mut next = |arcs_after: &mut Vec<ArcRecord>| {
            std::mem::swap(arcs_after, &mut portion.arcs);
            let is_more = arcs.fetch(&mut portion)?;
            std::mem::swap(arcs_after, &mut portion.arcs);
            Ok(is_more)
        };
        extend(&mut writer, &old.graph, reads_ahead, &mut next, advance)?;
        old.files.check_unchanged(files)?;
        return writer.finish();
    }
    while arcs.fetch(&mut portion)? {
        writer.push(&portion.arcs)?;
        advance(each * portion.taken)?;
    }
    writer.count_combined(portion.combined);
    writer.finish()
}
