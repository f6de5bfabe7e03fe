//! Report of a job as data, for `--report` and other interfaces.

use super::JobKind;
use crate::budget::Limits;
use crate::cluster::{
    Baselines, ClusterOptions, Communities, Measures, Method, PropagationOptions, Separated,
    Starts, Sweeps, TreeLength, WellConnected,
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
    /// Sets what the plan predicts for the stage, which the job runs this number of times: once for each result.
    pub(super) fn predict(&mut self, plan: &Plan, times: u64) {
        let row = plan.stages.iter().find(|row| row.stage == self.stage);
        self.predicted_seconds = row.map(|row| row.seconds / times as f64);
        self.predicted_read_bytes = row.map(|row| row.read_bytes / times);
        self.predicted_write_bytes = row.map(|row| row.write_bytes / times);
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
    /// Edges that are not in the graph.
    #[serde(flatten)]
    pub dropped: DroppedReport,
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

/// Edges of the input that are not in the graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DroppedReport {
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
}

impl DroppedReport {
    /// Returns how many edges are not in the graph.
    pub(super) fn count(&self) -> u64 {
        let by_weight = self.below_min_count + self.above_max_count;
        self.zero_weight_count + by_weight + self.self_hit_count
    }
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
    /// Options that the result was found with.
    #[serde(flatten)]
    pub options: ResultOptions,
    /// Number and sizes of the communities.
    #[serde(flatten)]
    pub sizes: SizesReport,
    /// Description of the communities.
    #[serde(flatten)]
    pub described: DescriptionReport,
    /// Communities that were split because they were not connected; 0 if `well_connected` counts them.
    pub split_count: u64,
    /// Measures of the communities.
    #[serde(flatten)]
    pub measures: Measures,
    /// Sweeps and scans.
    #[serde(flatten)]
    pub sweeps: Sweeps,
    /// Comparison of the starts, of which the best was refined.
    #[serde(flatten)]
    pub starts: Starts,
    /// What the measures are compared with.
    #[serde(flatten)]
    pub baselines: Baselines,
    /// Levels.
    #[serde(flatten)]
    pub levels: LevelsReport,
    /// Whether the sweeps converged: few enough nodes still changed.
    pub converged: bool,
    /// Number of arcs visited by all sweeps.
    pub visited_arc_count: u64,
    /// Presentation of the communities, if it changes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presented: Option<PresentReport>,
}

/// Options that a result was found with.
#[derive(Debug, Clone, serde::Serialize)]
pub struct ResultOptions {
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
}

/// Number and sizes of communities.
#[derive(Debug, Clone, serde::Serialize)]
pub struct SizesReport {
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
    #[serde(rename = "sizes")]
    pub bins: Vec<Bin<u64>>,
}

/// Description of communities.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct DescriptionReport {
    /// File of the table of communities, if it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The largest communities and the network of them, if they were wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<LargestReport>,
    /// Comparison with the earlier result, if there is one and the largest communities are described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<CompareReport>,
}

/// Levels of a result.
#[derive(Debug, Clone, serde::Serialize)]
pub struct LevelsReport {
    /// Number of levels above the graph.
    pub level_count: u64,
    /// Code length of the tree of modules whose levels are written, if it was sought, and of each level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeLength>,
    /// Number of groups inside communities for each written level, coarsest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_counts: Option<Vec<u64>>,
}

impl CommunitiesReport {
    /// Creates the report of a result with these options.
    pub(super) fn new(graph: &Graph, options: &ClusterOptions, found: &Communities) -> Self {
        let history = found.history.clone();
        Self {
            options: ResultOptions::new(options, found.separated),
            sizes: SizesReport::new(found, graph.node_count()),
            described: DescriptionReport::default(),
            split_count: found.split_count,
            measures: found.measures,
            sweeps: history.sweeps,
            starts: history.starts,
            baselines: found.baselines,
            levels: LevelsReport {
                level_count: history.levels,
                tree: found.tree.clone(),
                group_counts: None,
            },
            converged: history.converged,
            visited_arc_count: history.arcs,
            presented: None,
        }
    }
}

impl ResultOptions {
    fn new(options: &ClusterOptions, separated: Option<Separated>) -> Self {
        let propagation = options.propagation.clone();
        let is_plain = propagation == PropagationOptions::default();
        let separation = options.well_connected.zip(separated);
        Self {
            method: options.method,
            seed: options.seed,
            resolution: options.has_resolution().then(|| options.resolution[0]),
            min_weight: options.thresholds.first().copied().unwrap_or(options.min_weight),
            max_size: options.max_size,
            well_connected: separation.map(|(bound, counts)| WellConnectedReport { bound, counts }),
            initial: options.initial.clone(),
            propagation: (!is_plain).then_some(propagation),
        }
    }
}

impl SizesReport {
    fn new(found: &Communities, node_count: u64) -> Self {
        let largest = found.sizes.iter().flat_map(|s| {
            let count = usize::try_from(s.count).unwrap_or(usize::MAX).min(LARGEST_REPORTED);
            std::iter::repeat_n(u64::from(s.size), count)
        });
        Self {
            community_count: found.community_count(),
            singleton_count: found.singleton_count(),
            largest_size: found.largest(),
            largest_share: found.largest() as f64 / node_count.max(1) as f64,
            largest_sizes: largest.take(LARGEST_REPORTED).collect(),
            bins: bins(found.sizes.iter().rev().map(|s| (u64::from(s.size), s.count))),
        }
    }
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
                texts.push(text.to_string());
            }
        }
        self.observer.event(event)
    }
}
