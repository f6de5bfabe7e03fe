//! Report of a job as data, for `--report` and other interfaces.

use super::JobKind;
use crate::budget::Limits;
use crate::cluster::{
    ClusterOptions, Communities, Method, PropagationOptions, Separated, Sweep, TreeLength,
    WellConnected,
};
use crate::compare::CompareReport;
use crate::graph::{Bin, Graph, GraphSummary, bins};
use crate::plan::Plan;
use crate::present::{LargestReport, Small};
use crate::progress::{Event, Observer, Stage};
use crate::sort::SortSummary;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Number of largest communities whose sizes are listed.
const LARGEST_REPORTED: usize = 10;
/// Maximum number of warnings in a report.
const WARNINGS_REPORTED: usize = 100;

/// Measurements of one stage.
#[derive(Debug, Clone, serde::Serialize)]
pub struct StageReport {
    /// The stage.
    pub stage: Stage,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Time predicted by the plan; `None` if the input could not be sampled.
    pub predicted_seconds: Option<f64>,
    /// Bytes read from files.
    pub read_bytes: u64,
    /// Bytes read, as predicted by the plan.
    pub predicted_read_bytes: Option<u64>,
    /// Bytes written to files.
    pub write_bytes: u64,
    /// Bytes written, as predicted by the plan.
    pub predicted_write_bytes: Option<u64>,
    /// Peak resident memory during the stage: exact if the process never had more before, otherwise the maximum of
    /// samples a few milliseconds apart; `None` if the system does not report it.
    pub peak_memory_bytes: Option<u64>,
    /// Memory predicted by the plan for the stage, including the program itself.
    pub predicted_memory_bytes: Option<u64>,
    /// Summary of the stage in one phrase.
    pub summary: String,
}

impl StageReport {
    /// Sets what the plan predicts for the stage.
    pub(super) fn predict(&mut self, plan: &Plan) {
        let row = plan.stages.iter().find(|row| row.stage == self.stage);
        self.predicted_seconds = row.map(|row| row.seconds);
        self.predicted_read_bytes = row.map(|row| row.read_bytes);
        self.predicted_write_bytes = row.map(|row| row.write_bytes);
        self.predicted_memory_bytes = row.map(|row| row.memory_bytes + plan.program_bytes);
    }
}

/// Counts of the input.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InputReport {
    /// Number of lines.
    pub line_count: u64,
    /// Comments, other than a header.
    #[serde(default)]
    pub comment_count: u64,
    /// Lines with an edge.
    pub edge_count: u64,
    /// Edges dropped because their weight is 0.
    pub zero_weight_count: u64,
    /// Edges of weight 0 from a node to itself, as adjacency lists have for nodes without neighbors.
    pub zero_weight_loop_count: u64,
    /// Edges dropped because their weight is below the minimum.
    pub below_min_count: u64,
    /// Edges dropped because their weight is above the maximum.
    pub above_max_count: u64,
    /// Self hits: edges from a node to itself that are used for self scores.
    pub self_hit_count: u64,
    /// Edges from a node to itself that were neither dropped by weight nor used for self scores.
    pub loop_count: u64,
    /// Edges that are used and whose weight is not 1.
    #[serde(default)]
    pub weighted_count: u64,
    /// Nodes without a self hit, whose self score is the largest weight of their other edges.
    pub no_self_hit_count: u64,
    /// Names in the list of nodes.
    pub listed_count: u64,
    /// Nodes that are only in the list of nodes.
    pub listed_only_count: u64,
    /// Names that were spilled to disk before they were numbered, because they did not fit in memory.
    pub names_on_disk_count: u64,
    /// Bad lines that were skipped.
    pub skipped_count: u64,
    /// Detected formats of the files, one line for each.
    pub formats: Vec<String>,
}

/// Graph that edges were added to, and what they added.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct AppendReport {
    /// Path of the graph.
    pub graph: String,
    /// Number of its nodes.
    pub node_count: u64,
    /// Number of its edges between different nodes.
    pub edge_count: u64,
    /// Number of nodes that it did not have.
    pub new_node_count: u64,
    /// Number of edges between different nodes that it did not have.
    pub new_edge_count: u64,
}

/// Report of one result.
#[derive(Debug, Clone, serde::Serialize)]
pub struct CommunitiesReport {
    /// Method.
    pub method: Method,
    /// Seed.
    pub seed: u64,
    /// Resolution, if the method has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
    /// Minimum weight; lighter arcs were ignored.
    #[serde(skip_serializing_if = "is_zero")]
    pub min_weight: f64,
    /// Maximum community size, if there was a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_size: Option<u32>,
    /// Separation of communities that were not well-connected, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub well_connected: Option<WellConnectedReport>,
    /// File of initial labels, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<PathBuf>,
    /// Further options of label propagation, if any were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation: Option<PropagationOptions>,
    /// Number of communities.
    pub community_count: u64,
    /// Communities of one node.
    pub singleton_count: u64,
    /// Number of nodes in the largest community.
    pub largest_size: u64,
    /// Fraction of all nodes in the largest community.
    pub largest_share: f64,
    /// Sizes of the ten largest communities, largest first.
    pub largest_sizes: Vec<u64>,
    /// Histogram of community sizes.
    pub sizes: Vec<Bin<u64>>,
    /// File of the table of communities, if it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The largest communities and the network of them, if they were wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<LargestReport>,
    /// Comparison with the earlier result, if there is one and the largest communities are described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<CompareReport>,
    /// Communities that were split because they were not connected; 0 if `well_connected` counts them.
    pub split_count: u64,
    /// Modularity (Newman 2004) at resolution 1; `None` for components of edges of which no graph was built.
    pub modularity: Option<f64>,
    /// Modularity of a graph of two kinds of nodes (Barber 2007) at resolution 1, if that was the objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_mode_modularity: Option<f64>,
    /// Fraction of the total weight that is inside communities.
    pub coverage: f64,
    /// Code length of the map equation in bits per step of a random walk, if that was the objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_length: Option<f64>,
    /// Number of sweeps.
    pub sweep_count: u64,
    /// Moves of each sweep; the first 4,096 sweeps if there are more.
    pub sweeps: Vec<Sweep>,
    /// Number of scans of the edges, including all sweeps.
    pub scan_count: u64,
    /// Number of cycles over levels; 0 if the method has none.
    pub cycle_count: u64,
    /// Number of restarts, of which the best was refined; 1 if the method has one.
    pub trial_count: u64,
    /// Amount by which the objective of each start was below the best: bits per step for the map equation, otherwise a
    /// share of the total weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trial_losses: Vec<f64>,
    /// Number of communities that hold 99 % of the nodes, in each start that was compared with the best.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trial_community_counts: Vec<u64>,
    /// The same, in each start within a thousandth of the best.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equal_community_counts: Vec<u64>,
    /// Modularity of the communities that maximize it, and their number, if the map equation keeps all nodes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divided: Option<(f64, u64)>,
    /// Mean share of nodes that stay with the communities of the best start in another one.
    pub trial_agreement: Option<f64>,
    /// Modularity expected in a random graph with these degrees; only for large, unweighted graphs that are not sparse.
    pub chance_modularity: Option<f64>,
    /// Code length with all nodes in one community, if the code length is reported.
    pub undivided_length: Option<f64>,
    /// Number of levels above the graph.
    pub level_count: u64,
    /// Code length of the tree of modules whose levels are written, if it was sought, and of each level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeLength>,
    /// Number of groups inside communities for each written level, coarsest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_counts: Option<Vec<u64>>,
    /// Whether the sweeps converged: few enough nodes still changed.
    pub converged: bool,
    /// Number of arcs visited by all sweeps.
    pub visited_arc_count: u64,
    /// Presentation of the communities, if it changes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presented: Option<PresentReport>,
}

impl CommunitiesReport {
    /// Creates the report of result number `at`.
    pub(super) fn new(
        graph: &Graph,
        options: &ClusterOptions,
        at: usize,
        found: &Communities,
    ) -> Self {
        let mut propagation = options.propagation.clone();
        let all = &options.propagation.attenuation;
        // All resolutions share one attenuation.
        propagation.attenuation = all.get(at).or(all.first()).copied().into_iter().collect();
        let is_plain = propagation == PropagationOptions::default();
        Self {
            method: options.method,
            seed: options.seed,
            resolution: options.has_resolution().then(|| options.resolution[at]),
            min_weight: options.thresholds.get(at).copied().unwrap_or(options.min_weight),
            max_size: options.max_size,
            well_connected: options
                .well_connected
                .zip(found.separated)
                .map(|(bound, counts)| WellConnectedReport { bound, counts }),
            initial: options.initial.clone(),
            propagation: (!is_plain).then_some(propagation),
            community_count: found.community_count,
            singleton_count: found.singleton_count,
            largest_size: found.largest,
            largest_share: found.largest as f64 / graph.node_count().max(1) as f64,
            largest_sizes: largest(found),
            summary: None,
            largest: None,
            compared: None,
            sizes: bins(found.sizes.iter().rev().map(|s| (u64::from(s.size), s.count))),
            split_count: found.split_count,
            modularity: Some(found.modularity).filter(|found| found.is_finite()),
            two_mode_modularity: found.two_mode_modularity,
            coverage: found.coverage,
            code_length: found.code_length,
            converged: found.converged,
            scan_count: found.scans,
            cycle_count: u64::from(found.cycles),
            trial_count: u64::from(found.trials),
            trial_losses: found.trial_losses.clone(),
            trial_community_counts: found.trial_community_counts.clone(),
            equal_community_counts: found.equal_community_counts.clone(),
            divided: found.divided,
            trial_agreement: found.trial_agreement,
            chance_modularity: found.chance_modularity,
            undivided_length: found.undivided_length,
            level_count: found.levels,
            tree: found.tree.clone(),
            group_counts: None,
            sweep_count: u64::from(found.sweeps),
            sweeps: found.sweeps_reported.clone(),
            visited_arc_count: found.arcs_visited,
            presented: None,
        }
    }
}

/// Returns the sizes of the largest communities.
fn largest(found: &Communities) -> Vec<u64> {
    let each = found.sizes.iter().flat_map(|s| {
        let count = usize::try_from(s.count).unwrap_or(usize::MAX).min(LARGEST_REPORTED);
        std::iter::repeat_n(u64::from(s.size), count)
    });
    each.take(LARGEST_REPORTED).collect()
}

/// Separation of communities that were not well-connected.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct WellConnectedReport {
    /// Bound that the smallest cut of each community exceeds.
    pub bound: WellConnected,
    /// Number of communities that were split, and of their parts.
    #[serde(flatten)]
    pub counts: Separated,
}

/// Presentation of a result.
#[derive(Debug, Clone, serde::Serialize)]
pub struct PresentReport {
    /// Minimum size of a community that is not small.
    pub min_size: u32,
    /// Treatment of the nodes of small communities.
    pub small: Small,
    /// Number of communities that were too small.
    pub small_community_count: u64,
    /// Number of nodes in small communities.
    pub small_node_count: u64,
    /// Number of communities in the output.
    pub written_community_count: u64,
    /// Number of communities that keep a number of an earlier result, if there was one.
    pub kept_number_count: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// One of several results.
#[derive(Debug, Clone, serde::Serialize)]
pub struct ResultReport {
    /// Output file.
    pub output: String,
    /// Report of the result.
    #[serde(flatten)]
    pub communities: CommunitiesReport,
}

/// Report of a whole job.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Report {
    /// Version of this schema.
    pub schema: u32,
    /// Version of the engine.
    pub version: &'static str,
    /// Kind of job.
    pub job: JobKind,
    /// Input files as they were named, including those of initial labels.
    pub inputs: Vec<String>,
    /// Path of the result: the graph, or the file of communities.
    pub output: String,
    /// File of skipped lines, if they are written.
    pub rejects: Option<String>,
    /// Warnings; at most the first hundred.
    pub warnings: Vec<String>,
    /// Limits of memory and threads.
    pub limits: Limits,
    /// Whether the job resumed from saved state of an earlier one.
    pub resumed: bool,
    /// Stages in order.
    pub stages: Vec<StageReport>,
    /// Report of the input, if the job read one.
    pub input: Option<InputReport>,
    /// Graph that edges were added to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<AppendReport>,
    /// Summary of the sort, if there was one.
    pub sort: Option<SortSummary>,
    /// Summary of the graph that the job wrote or read.
    pub graph: Option<GraphSummary>,
    /// Report of the communities, if the job found any.
    pub communities: Option<CommunitiesReport>,
    /// Reports of all results, if there are several; `communities` is the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultReport>,
    /// Wall time of the job in seconds.
    pub seconds: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Peak resident memory of the process, if the system reports it.
    pub peak_memory_bytes: Option<u64>,
}

/// Observer that forwards all events and collects warnings.
pub(super) struct Warned<'a> {
    observer: &'a dyn Observer,
    texts: Mutex<Vec<String>>,
}

impl<'a> Warned<'a> {
    pub(super) fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, texts: Mutex::default() }
    }

    pub(super) fn forget(&self) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) fn texts(&self) -> Vec<String> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Observer for Warned<'_> {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        if let Event::Warning { text } = event {
            let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
            if texts.len() < WARNINGS_REPORTED {
                texts.push(text.to_owned());
            }
        }
        self.observer.event(event)
    }
}
