//! What a job did, as data for `--report` and other surfaces.

use super::JobKind;
use crate::budget::Limits;
use crate::cluster::{ClusterOptions, Communities, Method, PropagationOptions, Sweep};
use crate::graph::{Bin, Graph, GraphSummary, bins};
use crate::present::Small;
use crate::progress::{Event, Observer, Stage};
use crate::sort::SortSummary;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// The largest communities whose sizes are told one by one.
const LARGEST_REPORTED: usize = 10;
/// The most warnings that are told again.
const WARNINGS_REPORTED: usize = 100;

/// One stage as it went.
#[derive(Debug, Clone, serde::Serialize)]
pub struct StageReport {
    /// Which stage.
    pub stage: Stage,
    /// Time.
    pub seconds: f64,
    /// Time that the plan foretold; `None` where the input could not be sampled.
    pub predicted_seconds: Option<f64>,
    /// Bytes read through files.
    pub read_bytes: u64,
    /// Bytes read, as the plan foretold.
    pub predicted_read_bytes: Option<u64>,
    /// Bytes written through files.
    pub write_bytes: u64,
    /// Bytes written, as the plan foretold.
    pub predicted_write_bytes: Option<u64>,
    /// The most resident memory during the stage: exact where the process never had more before, otherwise the
    /// largest of samples, a few milliseconds apart; `None` where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
    /// Memory that the plan foretold for the stage, with what the program itself takes.
    pub predicted_memory_bytes: Option<u64>,
    /// The stage in one phrase.
    pub summary: String,
}

/// What the input held.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InputReport {
    /// Lines.
    pub line_count: u64,
    /// Lines with an edge.
    pub edge_count: u64,
    /// Edges of weight 0, kept out.
    pub zero_weight_count: u64,
    /// Those of them from a node to itself, as a node without neighbors has in adjacency lists.
    pub zero_weight_loop_count: u64,
    /// Edges kept out because their weight is below the least one wanted.
    pub below_min_count: u64,
    /// Edges kept out because their weight is above the largest one wanted.
    pub above_max_count: u64,
    /// Edges from a node to itself that gave its self score.
    pub self_hit_count: u64,
    /// Edges from a node to itself, of those that are left by weight and are no self score.
    pub loop_count: u64,
    /// Nodes without a self score, whose score is the largest weight of their other edges.
    pub no_self_hit_count: u64,
    /// Names in the list of nodes.
    pub listed_count: u64,
    /// Nodes that only the list has.
    pub listed_only_count: u64,
    /// Names that went to disk before they were numbered, because memory was full of others.
    pub names_on_disk_count: u64,
    /// Lines skipped because they were bad.
    pub skipped_count: u64,
    /// How each kind of file was understood, a line for each.
    pub formats: Vec<String>,
}

/// The result in numbers.
#[derive(Debug, Clone, serde::Serialize)]
pub struct CommunitiesReport {
    /// Method.
    pub method: Method,
    /// Seed.
    pub seed: u64,
    /// Resolution, where the method has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
    /// Arcs lighter than this did not count.
    #[serde(skip_serializing_if = "is_zero")]
    pub min_weight: f64,
    /// The most nodes that a community might have, if there was a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_size: Option<u32>,
    /// More options of label propagation, if any was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation: Option<PropagationOptions>,
    /// Communities.
    pub community_count: u64,
    /// Communities of one node.
    pub singleton_count: u64,
    /// Nodes in the largest community.
    pub largest_size: u64,
    /// Their share of all nodes.
    pub largest_share: f64,
    /// The sizes of the ten largest, largest first.
    pub largest_sizes: Vec<u64>,
    /// Communities by their size.
    pub sizes: Vec<Bin<u64>>,
    /// Communities that were cut because they were not connected.
    pub split_count: u64,
    /// Modularity (Newman 2004), with resolution 1.
    pub modularity: f64,
    /// Share of the weight that is inside communities.
    pub coverage: f64,
    /// Bits to describe a step of a random walk, by the map equation, where that was the objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_length: Option<f64>,
    /// Sweeps over the graph.
    pub sweep_count: u64,
    /// What each of them moved: the first 4,096 if there are more.
    pub sweeps: Vec<Sweep>,
    /// Times that the edges were read, all sweeps among them.
    pub scan_count: u64,
    /// Cycles over several levels; 0 where the method has none.
    pub cycle_count: u64,
    /// Levels above the graph.
    pub level_count: u64,
    /// Groups inside communities, for each level that was written, coarsest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_counts: Option<Vec<u64>>,
    /// Whether the sweeps ended because few enough nodes changed.
    pub converged: bool,
    /// Arcs visited by all sweeps.
    pub visited_arc_count: u64,
    /// How they were presented, if not as they were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presented: Option<PresentReport>,
}

impl CommunitiesReport {
    /// Of the result number `at`.
    pub(super) fn new(
        graph: &Graph,
        options: &ClusterOptions,
        at: usize,
        found: &Communities,
    ) -> Self {
        let mut propagation = options.propagation.clone();
        let all = &options.propagation.attenuation;
        // Several resolutions share one.
        propagation.attenuation = all.get(at).or(all.first()).copied().into_iter().collect();
        let is_plain = propagation == PropagationOptions::default();
        Self {
            method: options.method,
            seed: options.seed,
            resolution: options.has_resolution().then(|| options.resolution[at]),
            min_weight: options.min_weight,
            max_size: options.max_size,
            propagation: (!is_plain).then_some(propagation),
            community_count: found.community_count,
            singleton_count: found.singleton_count,
            largest_size: found.largest,
            largest_share: found.largest as f64 / graph.node_count().max(1) as f64,
            largest_sizes: largest(found),
            sizes: bins(found.sizes.iter().rev().map(|s| (u64::from(s.size), s.count))),
            split_count: found.split_count,
            modularity: found.modularity,
            coverage: found.coverage,
            code_length: found.code_length,
            converged: found.converged,
            scan_count: found.scans,
            cycle_count: u64::from(found.cycles),
            level_count: found.levels,
            group_counts: None,
            sweep_count: u64::from(found.sweeps),
            sweeps: found.sweeps_reported.clone(),
            visited_arc_count: found.arcs_visited,
            presented: None,
        }
    }
}

/// The sizes of the largest communities, one by one.
fn largest(found: &Communities) -> Vec<u64> {
    let each = found.sizes.iter().flat_map(|s| {
        let count = usize::try_from(s.count).unwrap_or(usize::MAX).min(LARGEST_REPORTED);
        std::iter::repeat_n(u64::from(s.size), count)
    });
    each.take(LARGEST_REPORTED).collect()
}

/// How the result was presented.
#[derive(Debug, Clone, serde::Serialize)]
pub struct PresentReport {
    /// Communities of fewer nodes were too small.
    pub min_size: u32,
    /// What became of their nodes.
    pub small: Small,
    /// Communities that were too small.
    pub small_community_count: u64,
    /// Nodes in them.
    pub small_node_count: u64,
    /// Communities in the output.
    pub written_community_count: u64,
    /// Communities with the number of an earlier one, if there was an earlier result.
    pub kept_number_count: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// One of several results.
#[derive(Debug, Clone, serde::Serialize)]
pub struct ResultReport {
    /// Its file.
    pub output: String,
    /// The result in numbers.
    #[serde(flatten)]
    pub communities: CommunitiesReport,
}

/// A whole job.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Report {
    /// Version of this form.
    pub schema: u32,
    /// Version of the engine.
    pub version: &'static str,
    /// What the job made.
    pub job: JobKind,
    /// What it was made of: files as they were named, those of the labels it began with too.
    pub inputs: Vec<String>,
    /// Where the result is: the graph, or the file of communities.
    pub output: String,
    /// Where lines that were skipped are kept, if they are.
    pub rejects: Option<String>,
    /// What the user was warned of; the first hundred of it.
    pub warnings: Vec<String>,
    /// The limits.
    pub limits: Limits,
    /// Whether the job has gone on from what an earlier one had left.
    pub resumed: bool,
    /// The stages in order.
    pub stages: Vec<StageReport>,
    /// The input, when the job read one.
    pub input: Option<InputReport>,
    /// The sort, when there was one.
    pub sort: Option<SortSummary>,
    /// The graph that the job wrote or read.
    pub graph: Option<GraphSummary>,
    /// The communities, when the job found any.
    pub communities: Option<CommunitiesReport>,
    /// All results, if there are several; `communities` is the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultReport>,
    /// Time of the job.
    pub seconds: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// The most resident memory the process has had, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl Report {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            schema: 1,
            version: env!("CARGO_PKG_VERSION"),
            job: JobKind::Other,
            inputs: Vec::new(),
            output: String::new(),
            rejects: None,
            warnings: Vec::new(),
            limits,
            resumed: false,
            stages: Vec::new(),
            input: None,
            sort: None,
            graph: None,
            communities: None,
            results: Vec::new(),
            seconds: 0.0,
            read_bytes: 0,
            write_bytes: 0,
            peak_memory_bytes: None,
        }
    }
}

/// Passes everything on, and keeps what the user is warned of.
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
