//! Components of edges without their graph: after reading, the forest of all edges, and the names of the nodes.
//!
//! The names are in a graph without arcs, so that results are written as those of any graph. Both are saved together:
//! a job that is stopped while it writes, or whose results were lost, resumes after reading.

use super::Edges;
use super::reading::Read;
use super::runs::graph_writer;
use super::saved::{GraphState, Saved};
use super::sink::SinkPlace;
use super::summaries::report_again;
use crate::checkpoint::{Checkpoint, StateReader};
use crate::cluster::{self, Forest};
use crate::error::Result;
use crate::graph::{Graph, GraphSummary};
use crate::input;
use crate::job::InputReport;
use crate::job::context::{Built, Context};
use crate::job::place::RUNS;
use crate::job::resume::JobJournal;
use crate::plan::{self, Plan};
use crate::progress::Stage;
use crate::sort::SORT_BYTES_MIN;
use serde::{Deserialize, Serialize};

/// Saved forest of a whole input.
#[derive(Serialize, Deserialize)]
pub(crate) struct ForestState {
    forest: cluster::ForestState,
    /// Graph with the names.
    pub(super) graph: GraphState,
}

/// Edges that are read, without their graph.
pub(crate) struct Joined {
    pub(super) forest: Forest,
    graph: GraphSummary,
    input: InputReport,
}

impl Joined {
    /// Writes the graph of names, and saves it with the forest.
    pub(super) fn new(
        context: &Context<'_>,
        journal: &mut JobJournal,
        edges: Edges<'_>,
        read: Read,
        mut forest: Forest,
    ) -> Result<Self> {
        let Read { node_count, name_type, kinds, input, warnings, .. } = read;
        let graph = graph_writer(context, edges, node_count, kinds, name_type)?.finish()?;
        let checksum = Graph::open(context.files, edges.directory)?.checksum().to_owned();
        let state = GraphState { checksum, input: input.clone(), warnings };
        // No further edges are collected, and what follows needs the memory.
        forest.beyond().map_or(Ok(()), |sorter| sorter.set_aside())?;
        journal.save(|to| {
            to.need(edges.directory, 0);
            let forest = forest.save(to)?;
            Ok(Saved::Forest(Box::new(ForestState { forest, graph: state })))
        })?;
        Ok(Self { forest, graph, input })
    }

    /// Resumes from the forest of an earlier job.
    pub(super) fn resume(
        context: &mut Context<'_>,
        edges: Edges<'_>,
        state: ForestState,
        mut from: StateReader,
    ) -> Result<Self> {
        plan::check_limits(&context.limits)?;
        context.stage(Stage::Read, |context| {
            context.begin(Stage::Read, None, "bytes")?;
            let GraphState { input, warnings, .. } = state.graph;
            report_again(context.observer, &input, &warnings)?;
            let room_bytes = input::read_bytes(&context.limits);
            let left = room_bytes.saturating_sub(state.forest.memory_bytes());
            let place = SinkPlace {
                files: context.files,
                runs: &context.work.path().join(RUNS),
                sort_bytes: left.max(SORT_BYTES_MIN),
                room_bytes,
                threads: context.limits.threads,
            };
            let place = place.of_forest(state.forest.ladder());
            let forest = Forest::resume(&state.forest, &mut from, place)?;
            from.finish()?;
            let graph = Graph::open(context.files, edges.directory)?.summary();
            let joined = Self { forest, graph, input };
            Ok((joined, "reused the components of an earlier job".into()))
        })
    }

    /// Returns what the report says of the input and its graph, which has all edges of the input: repeated ones are not
    /// merged.
    pub(super) fn into_built(self, plan: Option<Plan>) -> (Built, Forest) {
        let Self { forest, graph, input } = self;
        let others = input.dropped.count() + input.loop_count;
        let edge_count = input.edge_count.saturating_sub(others);
        let arc_count = if graph.is_directed { edge_count } else { 2 * edge_count };
        let (is_weighted, degrees, weights) = (input.weighted_count > 0, Vec::new(), Vec::new());
        let graph = GraphSummary { edge_count, arc_count, is_weighted, degrees, weights, ..graph };
        (Built { plan, input: Some(input), graph: Some(graph), ..Built::default() }, forest)
    }
}
