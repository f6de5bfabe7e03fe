//! Stages from text to graph: parse, number, sort, merge; or from text to components: parse, number, join.

mod append;
mod halfway;
mod joined;
mod mirror;
mod reading;
mod rules;
mod runs;
mod saved;
mod sink;
mod summaries;
mod weights;

pub(crate) use append::Old;
pub(crate) use reading::no_edges;
pub(crate) use saved::Saved;
pub use weights::Normalize;

use super::JobOptions;
use super::context::{Built, Context};
use super::place::{RUNS, SPILLED};
use super::predict;
use super::resume::{JobJournal, SavedStage, bytes_in};
use crate::checkpoint::StateReader;
use crate::cluster::{Forest, Ladder};
use crate::error::Result;
use crate::graph::{self, ArcRecord, Duplicates, Graph, InputOrder};
use crate::input::Batch;
use crate::plan::{self, Clustering, Plan};
use crate::progress::{Event, Stage, notify};
use crate::sort::{MonotoneQueue, Placed, Record};
use crate::units::format_bytes;
use halfway::ReadState;
use joined::Joined;
use mirror::{Arcs, Mirrored};
use reading::{Read, Reading};
use runs::{ReadResult, SortedArcs, graph_writer, hold_runs, merge, resume_runs};
use saved::GraphState;
use sink::Sink;
use std::path::Path;
use summaries::report_again;

/// Edges, and where their graph is built.
#[derive(Clone, Copy)]
pub(crate) struct Edges<'a> {
    pub(crate) options: &'a JobOptions,
    /// Graph that the edges are added to.
    pub(crate) old: Option<&'a Old>,
    /// Directory of the graph.
    pub(crate) directory: &'a Path,
    /// Thresholds, if only components are wanted, and no graph.
    pub(crate) ladder: Option<&'a Ladder>,
}

/// Builds the graph of the edges, or their forest and a graph without arcs if only components are wanted, or resumes
/// from the saved state `found` of an earlier job. It is built for `clustering`, if that is given.
pub(crate) fn build(
    context: &mut Context<'_>,
    journal: &mut JobJournal,
    edges: Edges<'_>,
    clustering: Option<Clustering<'_>>,
    found: SavedStage<Saved>,
) -> Result<(Built, Option<Forest>)> {
    let resumed = found.is_some();
    let (built, forest) = match (found, edges.options.duplicates) {
        (Some((Saved::Graph(state), _)), _) => (resume_graph(context, *state)?, None),
        (Some((Saved::Forest(state), from)), _) => {
            let (built, forest) = Joined::resume(context, edges, *state, from)?.into_built(None);
            (built, Some(forest))
        }
        (found, Duplicates::First) if edges.ladder.is_none() => {
            read_and_merge::<InputOrder>(context, journal, edges, clustering, found)?
        }
        (found, _) => read_and_merge::<ArcRecord>(context, journal, edges, clustering, found)?,
    };
    Ok((Built { resumed, ..built }, forest))
}

/// Resumes from the graph of an earlier job.
fn resume_graph(context: &mut Context<'_>, state: GraphState) -> Result<Built> {
    plan::check_limits(&context.limits)?;
    context.stage(Stage::Merge, |context| {
        context.begin(Stage::Merge, None, "arcs")?;
        report_again(context.observer, &state.input, &state.warnings)?;
        Ok(((), "reused the graph of an earlier job".into()))
    })?;
    Ok(Built { input: Some(state.input), ..Built::default() })
}

/// Reads the input, or resumes from `found`, and merges it into the graph.
fn read_and_merge<R: Placed + From<ArcRecord> + Into<ArcRecord>>(
    context: &mut Context<'_>,
    journal: &mut JobJournal,
    edges: Edges<'_>,
    clustering: Option<Clustering<'_>>,
    found: SavedStage<Saved>,
) -> Result<(Built, Option<Forest>)> {
    let found = match found {
        Some((Saved::Runs(state), from)) => {
            let read = resume_runs::<R>(context, *state, from)?;
            return Ok((merge_all(context, journal, edges, None, read)?, None));
        }
        Some((Saved::Reading(state), from)) => Some((*state, from)),
        _ => None,
    };
    let plan = preflight(context, edges, clustering)?;
    match read_all::<R>(context, journal, edges, plan.as_ref(), found)? {
        ReadAll::Runs(read) => Ok((merge_all(context, journal, edges, plan, *read)?, None)),
        ReadAll::Joined(joined) => {
            let (built, forest) = joined.into_built(plan);
            Ok((built, Some(forest)))
        }
    }
}

/// Merges what was read into the graph.
fn merge_all<R: Placed + From<ArcRecord> + Into<ArcRecord>>(
    context: &mut Context<'_>,
    journal: &mut JobJournal,
    edges: Edges<'_>,
    plan: Option<Plan>,
    mut read: ReadResult<R>,
) -> Result<Built> {
    let files = context.files;
    remove_spilled(context);
    let built = context.stage(Stage::Merge, |context| {
        let (merge_bytes, reads_ahead) = read.merge_room(context, edges.old)?;
        let is_mirrored = !edges.options.input.directed;
        let (queue_bytes, sort_bytes) = graph::queue_and_sort_bytes(merge_bytes);
        read.sorter.set_budget(if is_mirrored { sort_bytes } else { merge_bytes })?;
        let room = hold_runs(context, journal, edges, &read)?;
        let sorted = read.sorter.finish()?;
        let sort = sorted.summary();
        let Read { node_count, scores, name_type, kinds, input, warnings, .. } = read.read;
        let writer = graph_writer(context, edges, node_count, kinds, name_type)?;
        let arcs = if is_mirrored {
            let rule = edges.old.is_none().then_some(edges.options.duplicates);
            let queue = MonotoneQueue::new(
                files,
                context.work.path(),
                node_count,
                sort.record_count,
                queue_bytes,
            );
            Arcs::Mirrored(Mirrored::new(sorted, scores, node_count, rule, queue))
        } else {
            Arcs::Sorted(sorted, scores)
        };
        let record_count = sort.record_count;
        let arcs = SortedArcs { arcs, record_count, reads_ahead, room };
        let graph = merge(context, journal, edges, writer, arcs)?;
        let checksum = Graph::open(files, edges.directory)?.checksum().to_owned();
        let state = GraphState { checksum, input: input.clone(), warnings };
        journal.save(|to| {
            to.need(edges.directory, 0);
            Ok(Saved::Graph(Box::new(state)))
        })?;
        let old = edges.old.map(|old| old.graph.summary());
        let summary = summaries::of_merge(sort, &input, &graph, old.as_ref());
        let append = edges.old.map(|old| old.report(&graph));
        let (input, sort, graph) = (Some(input), Some(sort), Some(graph));
        Ok((Built { plan, input, sort, append, graph, resumed: false }, summary))
    })?;
    // The saved graph no longer needs the runs.
    files.remove_all(&context.work.path().join(RUNS));
    Ok(built)
}

/// Removes the names spilled to disk, which are not needed once all nodes have numbers and that state is saved.
fn remove_spilled(context: &Context<'_>) {
    let spilled = context.work.path().join(SPILLED);
    if context.files.entry(&spilled).is_ok() {
        context.files.remove_all(&spilled);
    }
}

/// Plans the job from a sample of its input, if that can be sampled, and refuses a job that cannot succeed.
fn preflight(
    context: &Context<'_>,
    edges: Edges<'_>,
    clustering: Option<Clustering<'_>>,
) -> Result<Option<Plan>> {
    let (files, options, directory) = (context.files, edges.options, context.work.path());
    if options.input.all_paths().any(|path| !files.is_regular(path)) {
        return plan::check_limits(&context.limits).map(|()| None);
    }
    let plan = predict::planned(files, options, edges.old, clustering, &files.tuning())?;
    if let Some(free) = files.free_bytes(directory) {
        // The plan includes what this directory already holds.
        plan.check_disk(free + bytes_in(files, directory), directory)?;
    }
    Ok(Some(plan))
}

/// What reading leads to.
enum ReadAll<R: Record> {
    Runs(Box<ReadResult<R>>),
    Joined(Box<Joined>),
}

/// Runs the stage that reads the input, or the rest of it.
fn read_all<R: Record + From<ArcRecord>>(
    context: &mut Context<'_>,
    journal: &mut JobJournal,
    edges: Edges<'_>,
    plan: Option<&Plan>,
    found: Option<(ReadState, StateReader)>,
) -> Result<ReadAll<R>> {
    context.stage(Stage::Read, |context| {
        let resumed = found.as_ref().map(|(state, _)| format_bytes(state.input.done_bytes));
        let read = read::<R>(context, journal, edges, plan, found);
        let (read, sink) = match (read, journal.check_inputs(context.files, edges.options)) {
            (read, Ok(())) => read?,
            (Ok(_), Err(changed)) => return Err(changed),
            // The error may come from a mixture of the old and the new content.
            (Err(error), Err(changed)) => return Err(error.note(changed.message())),
        };
        let mut summary = summaries::of_read(&read.input, read.node_count, edges.old);
        if let Some(done) = resumed {
            summary += &format!(", the first {done} reused from an earlier job");
        }
        let read = match sink {
            Sink::Sort(sorter) => {
                let mut read = Box::new(ReadResult { sorter: *sorter, read });
                if read.sorter.has_runs() {
                    let (memory_bytes, directory) = (context.limits.memory_bytes, edges.directory);
                    journal.save(|to| {
                        Ok(Saved::Runs(Box::new(read.save(to, directory, memory_bytes)?)))
                    })?;
                } else {
                    journal.withdraw()?;
                }
                ReadAll::Runs(read)
            }
            Sink::Join(forest) => {
                let joined = Joined::new(context, journal, edges, read, forest)?;
                remove_spilled(context);
                ReadAll::Joined(Box::new(joined))
            }
        };
        Ok((read, summary))
    })
}

/// Parses and numbers the input; sorts its arcs into runs, or joins nodes; writes names and kinds to the graph's
/// directory.
fn read<R: Record + From<ArcRecord>>(
    context: &Context<'_>,
    journal: &mut JobJournal,
    edges: Edges<'_>,
    plan: Option<&Plan>,
    found: Option<(ReadState, StateReader)>,
) -> Result<(Read, Sink<R>)> {
    let mut reading = Reading::new(context, edges, plan, found)?;
    let mut batch = Batch::default();
    while reading.reader.next_batch(&mut batch)? {
        let (edges, listed) = batch.edges_and_nodes();
        reading.take_edges(edges)?;
        reading.take_nodes(listed)?;
        notify(context.observer, Event::Advance { done: reading.reader.done_bytes() })?;
        if reading.reader.can_be_saved() && journal.is_due() {
            journal.save(|to| Ok(Saved::Reading(Box::new(reading.save(to)?))))?;
        }
    }
    reading.number_spilled(journal)?;
    reading.finish()
}
