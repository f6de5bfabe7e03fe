//! Communities of a graph on disk, with O(nodes) bytes in memory and the arcs streamed.
//!
//! ```text
//!  graph --seeding--> labels --sweep, sweep, ...--> labels --connect--> pieces --number--> communities
//!            1 scan          5 to 20 scans of what is active     1 scan, shared with the modularity
//! ```
//!
//! The result is a function of the graph, the options and the seed: never of threads, of memory or
//! of what is cached. Memory is [`ClusterMemory`]; time is about 10 ns an arc and core for each time
//! that an arc is looked at, 3 to 8 times in all.

mod bits;
mod cache;
mod cap;
mod closing;
#[cfg(test)]
mod component_tests;
mod components;
mod connect;
mod contract;
mod cost;
mod groups;
mod hash;
mod hierarchy;
mod history;
mod intervals;
mod label_propagation;
mod labels;
mod logarithm;
mod map_equation;
mod memory;
mod modularity;
mod multilevel;
mod number;
mod objective;
mod options;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod oracle_levels;
mod pace;
mod parallel;
pub mod parts;
mod propagate;
#[cfg(test)]
mod propagation_tests;
mod propose;
mod saves;
#[cfg(test)]
mod saves_tests;
mod seeding;
mod start;
mod sweep;
mod table;
mod tally;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_levels;
mod votes;

pub(crate) use cache::BlockSource;
pub(crate) use connect::{Pieces, split_count};
pub use hierarchy::Grouping;
pub use history::{SWEEPS_TOLD, Sweep};
pub use labels::{LabelScan, Labels};
pub use memory::ClusterMemory;
use memory::Fit;
pub use number::SizeCount;
pub use options::{AttenuationRule, Consensus, PropagationOptions, Seeding, Visits};
pub(crate) use saves::{SAVED, STATE};
pub use start::Given;
pub(crate) use tally::Tally;

use crate::error::opt::{DIRECTED, MEMORY, METHOD, THREADS};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArcScratch, Graph};
use crate::progress::{Event, Observer, Stage, tell};
use crate::units::{format_bytes, format_count, format_counted, size_to_type};
use cap::Capped;
use closing::Outcome;
use map_equation::CodeLength;
use modularity::{Density, Null};
use pace::Pace;
use parallel::{PerThread, for_chunks, piece_nodes};
use saves::Saves;
use std::path::Path;
use table::Sum;

/// Most sweeps of label propagation.
const SWEEPS: u32 = 30;

/// How to find communities.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Method {
    /// Fewest bits to describe a random walk (what Infomap minimizes)
    #[default]
    MapEquation,
    /// Most weight inside beyond chance (what Louvain and Leiden maximize)
    Modularity,
    /// Communities denser than the resolution (the constant Potts model)
    Cpm,
    /// The label with the most weight among the neighbors: least memory
    LabelPropagation,
    /// What any path joins, whatever the direction of edges
    Components,
}

impl Method {
    /// Whether it works on several levels, of edges without direction.
    pub fn is_multilevel(self) -> bool {
        matches!(self, Self::MapEquation | Self::Modularity | Self::Cpm)
    }
}

/// What to find.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClusterOptions {
    /// How.
    pub method: Method,
    /// Larger values give smaller communities; several give a result each. Modularity: 1 is the usual one.
    /// The constant Potts model: the least density inside communities, in units of the mean weight of
    /// an arc.
    pub resolution: Vec<f64>,
    /// The most cycles of the methods that work on several levels.
    pub cycles: u32,
    /// Stands in for chance: another seed gives another, equally good result.
    pub seed: u64,
    /// The most sweeps, of the graph or, with several levels, of a level above it; if `None`, 30 and 50.
    pub max_sweeps: Option<u32>,
    /// Label propagation: the sweeps end when at most this share of the nodes changes; 0 ends them when none does.
    pub tolerance: f64,
    /// Arcs lighter than this are as if they were not there.
    pub min_weight: f64,
    /// Keeps the groups of every level, of the methods that have levels.
    #[serde(default)]
    pub levels: bool,
    /// No community has more nodes; all methods but components can be limited so.
    pub max_size: Option<u32>,
    /// First labels; those of the constant Potts model are always the nodes' own.
    pub seeding: Seeding,
    /// More options of label propagation.
    pub propagation: PropagationOptions,
}

impl ClusterOptions {
    /// The memory that a clustering needs that is given so many arrays of labels.
    pub fn memory(&self, graph: &Graph, given_count: u64, threads: usize) -> ClusterMemory {
        self.memory_in(graph, given_count, threads, Fit::ROOMY)
    }

    /// The same for a graph that is worked on in this way.
    fn memory_in(
        &self,
        graph: &Graph,
        given_count: u64,
        threads: usize,
        fit: Fit,
    ) -> ClusterMemory {
        match self.method {
            Method::LabelPropagation => propagate::memory(self, graph, given_count, threads, fit),
            Method::Components => components::memory(graph, threads, fit),
            method => {
                let mut memory = ClusterMemory::fitted(graph, method, threads, fit);
                if self.levels {
                    let least = Grouping::BYTES_A_NODE * graph.node_count();
                    memory.node_bytes = memory.node_bytes.max(least);
                }
                memory.node_bytes += (self.held_bytes() + self.size_bytes()) * graph.node_count();
                memory
            }
        }
    }

    /// The least memory that it can do with: labels go to disk where that is possible.
    pub fn least_memory(&self, graph: &Graph, given_count: u64, threads: usize) -> ClusterMemory {
        let memory = self.memory_in(graph, given_count, threads, Fit::LEAST);
        if !intervals::serves(self, graph, given_count) {
            return memory;
        }
        let on_disk = intervals::memory(graph, threads, Fit::LEAST);
        let most = on_disk.total_bytes().min(graph.files().cramped().label_bytes);
        if most < memory.total_bytes() { on_disk } else { memory }
    }

    /// Bytes a node that several resolutions take beside those of one.
    fn held_bytes(&self) -> u64 {
        multilevel::held_bytes::<Density>(self.resolution.len().saturating_sub(1) as u64)
    }

    /// What grows with the number of nodes of the memory for clustering, for a graph that is not there
    /// yet.
    pub fn node_bytes(&self, node_count: u64, directed: bool) -> u64 {
        let given_count = self.propagation.files().count() as u64;
        let bits = match self.method {
            Method::LabelPropagation => propagate::node_bits(self, directed, false, given_count),
            Method::Components => 33,
            method => {
                let least = if self.levels { Grouping::BYTES_A_NODE } else { 0 };
                let bytes = ClusterMemory::bytes_a_node(method, directed).max(least);
                8 * (bytes + self.held_bytes() + self.size_bytes())
            }
        };
        (bits * node_count).div_ceil(8)
    }

    /// As [`node_bytes`](Self::node_bytes), if what can be on disk is there, and no node has more arcs than a
    /// block or `hub_arcs`.
    pub fn least_node_bytes(&self, node_count: u64, hub_arcs: u64, directed: bool) -> u64 {
        let in_memory = self.node_bytes(node_count, directed);
        let given_count = self.propagation.files().count() as u64;
        match !directed && intervals::serves_undirected(self, given_count) {
            true => in_memory.min(intervals::node_bytes(node_count, hub_arcs)),
            false => in_memory,
        }
    }

    /// Bytes a node that limited sizes take on several levels, at most: the size of its group, and how many
    /// nodes that stands for on the next level; with several resolutions, a community's of the first.
    fn size_bytes(&self) -> u64 {
        let arrays = if self.resolution.len() > 1 { 3 } else { 2 };
        if self.max_size.is_some() { arrays * size_of::<u32>() as u64 } else { 0 }
    }
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            method: Method::default(),
            resolution: vec![1.0],
            cycles: 3,
            seed: 1,
            max_sweeps: None,
            tolerance: 0.001,
            min_weight: 0.0,
            levels: false,
            max_size: None,
            seeding: Seeding::default(),
            propagation: PropagationOptions::default(),
        }
    }
}

/// What was found, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Communities {
    /// Every node's community; the largest is 0.
    pub labels: Labels,
    /// The groups of every level, from the graph up, if they are kept. They need not divide the
    /// communities: some nodes have moved since.
    pub groupings: Vec<Grouping>,
    /// How many communities there are of each size, largest first.
    pub sizes: Vec<SizeCount>,
    /// Communities.
    pub community_count: u64,
    /// Communities of one node.
    pub singleton_count: u64,
    /// Nodes in the largest community.
    pub largest: u64,
    /// Communities that were not connected and have been split.
    pub split_count: u64,
    /// Modularity of the result.
    pub modularity: f64,
    /// Share of the weight that is inside communities.
    pub coverage: f64,
    /// Bits to describe a step of a random walk, by the map equation, where that was the objective.
    pub code_length: Option<f64>,
    /// Sweeps.
    pub sweeps: u32,
    /// How many of them an earlier process has made, which was stopped.
    pub resumed_sweeps: u32,
    /// How often the graph has been read, to the numbers given here.
    pub scans: u64,
    /// Cycles over several levels.
    pub cycles: u32,
    /// Levels above the graph.
    pub levels: u64,
    /// The first of the sweeps, [`SWEEPS_TOLD`] at most, those of an earlier process among them.
    pub sweeps_told: Vec<Sweep>,
    /// Whether the sweeps ended because few enough nodes changed.
    pub converged: bool,
    /// Nodes that changed in the last sweep.
    pub last_moved: u64,
    /// Arcs looked at in the sweeps, once for each time that a node's label was chosen.
    pub arcs_visited: u64,
}

/// What was found, in one phrase.
pub fn summary(all: &[Communities]) -> String {
    let sweeps = all.iter().map(|found| found.sweeps).max().unwrap_or(0);
    let count = match all {
        [found] => format_counted(found.community_count, "community", "communities"),
        _ => {
            let counts = all.iter().map(|found| format_count(found.community_count));
            format!("{} communities", counts.collect::<Vec<_>>().join(", "))
        }
    };
    let is_on_disk = all.iter().any(|found| found.labels.in_memory().is_none());
    let how = if is_on_disk { ", labels by way of the disk" } else { "" };
    let earlier = match all.iter().map(|found| found.resumed_sweeps).max() {
        None | Some(0) => String::new(),
        Some(sweeps) => format!(" ({} of a run that was stopped)", format_count(sweeps.into())),
    };
    match sweeps {
        0 => count,
        _ => {
            format!("{count} in {}{earlier}{how}", format_counted(sweeps.into(), "sweep", "sweeps"))
        }
    }
}

/// Finds the communities of a graph within `memory` bytes, on the current thread pool. In `scratch` the directory
/// `sweeps` is its own: what an earlier call has left there is gone on from, or removed.
///
/// # Errors
/// `MemoryTooSmall` before any work; `CorruptFile`, `Io`; `Interrupted` if the observer says so.
pub fn cluster(
    graph: &Graph,
    options: &ClusterOptions,
    memory: u64,
    scratch: &Path,
    observer: &dyn Observer,
) -> Result<Communities> {
    let mut all = cluster_from(graph, options, Given::default(), memory, scratch, observer)?;
    assert_eq!(all.len(), 1, "one set of options");
    Ok(all.remove(0))
}

/// As [`cluster`], from labels that are given, and for every value of a list among the options.
///
/// # Errors
/// As [`cluster`]; `Usage` for options that cannot be used.
pub fn cluster_from(
    graph: &Graph,
    options: &ClusterOptions,
    given: Given,
    memory: u64,
    scratch: &Path,
    observer: &dyn Observer,
) -> Result<Vec<Communities>> {
    cluster_within(graph, options, given, memory, scratch, Limits::default(), observer)
}

/// Bounds of scratch memory; tests lower them.
#[derive(Debug, Clone, Copy)]
struct Limits {
    large_degree: u64,
    most_labels: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { large_degree: sweep::LARGE_DEGREE, most_labels: sweep::MOST_LABELS }
    }
}

fn cluster_within(
    graph: &Graph,
    options: &ClusterOptions,
    given: Given,
    memory: u64,
    scratch: &Path,
    limits: Limits,
    observer: &dyn Observer,
) -> Result<Vec<Communities>> {
    options.check()?;
    if graph.node_count() > u64::from(u32::MAX) {
        let message = format!("{} nodes are too many", format_count(graph.node_count()));
        return Err(Error::new(ErrorKind::TooManyNodes, message)
            .note("communities can be found among at most 4,294,967,295 nodes"));
    }
    if graph.is_directed() && options.method.is_multilevel() {
        let path = graph.directory().display();
        let message = format!("`{path}` has directed edges, which this method cannot use");
        return Err(Error::new(ErrorKind::Usage, message).hint(format_args!(
            "use {}, or build the graph without {DIRECTED}",
            METHOD.of("label-propagation")
        )));
    }
    let scratch = &scratch.join(SAVED);
    let total = options.expected_arcs(graph.arc_count());
    let pace = &Pace::new(observer, total);
    let threads = rayon::current_num_threads();
    let in_memory = memory.min(graph.files().cramped().label_bytes);
    let (mut fit, mut needed) = Fit::within(in_memory, |fit| {
        options.memory_in(graph, given.count(), threads, fit).total_bytes()
    });
    let is_on_disk = in_memory < needed && intervals::serves(options, graph, given.count());
    if is_on_disk {
        (fit, needed) =
            Fit::within(memory, |fit| intervals::memory(graph, threads, fit).total_bytes());
    }
    let limits = Limits { most_labels: limits.most_labels.min(fit.most_labels), ..limits };
    let mut job = Job { graph, options, limits, memory, fit, needed, scratch, observer: pace };
    if memory < job.needed {
        let least = options.least_memory(graph, given.count(), threads);
        return Err(job.too_little_memory(least.total_bytes()));
    }
    graph.files().create_directory(scratch)?;
    tell(observer, Event::Begin { stage: Stage::Cluster, total, unit: "arcs" })?;
    let graph = &graph.seen_as(&options.view());
    job.graph = graph;
    let saves = &mut Saves::new(&job, &given);
    // Votes are parts of a weight, also where all weights are 1.
    let in_parts = graph.is_weighted() || options.propagation.attenuates();
    let all = match (is_on_disk, in_parts) {
        (true, true) => vec![job.propagate_on_disk::<f64>(saves)?],
        (true, false) => vec![job.propagate_on_disk::<u32>(saves)?],
        (false, true) => job.run::<f64>(given, saves)?,
        (false, false) => job.run::<u32>(given, saves)?,
    };
    tell(pace, Event::Advance { done: 0 })?;
    tell(observer, Event::End { summary: &summary(&all) })?;
    Ok(all)
}

#[derive(Clone, Copy)]
struct Job<'a> {
    graph: &'a Graph,
    options: &'a ClusterOptions,
    limits: Limits,
    memory: u64,
    fit: Fit,
    /// What is needed of it; the rest keeps blocks.
    needed: u64,
    /// A directory for temporary files.
    scratch: &'a Path,
    observer: &'a Pace<'a>,
}

impl Job<'_> {
    /// The blocks of the graph, of which so many bytes are kept.
    fn blocks(&self, kept_bytes: u64) -> BlockSource<'_> {
        let source = BlockSource::new(self.graph, kept_bytes).reading_ahead(self.fit.ahead);
        source.paced(self.observer)
    }

    /// Memory beyond what is needed.
    fn rest(&self) -> u64 {
        self.memory - self.needed
    }

    /// The most nodes of a community, if there can be more.
    fn most(&self) -> Option<u32> {
        self.options.max_size.filter(|&most| u64::from(most) < self.graph.node_count())
    }

    fn too_little_memory(&self, needed: u64) -> Error {
        let message = format!(
            "clustering needs {} of memory, and {} are given",
            format_bytes(needed),
            format_bytes(self.memory)
        );
        Error::new(ErrorKind::MemoryTooSmall, message)
            .hint(format_args!("use {}, or fewer {THREADS}", MEMORY.of(size_to_type(needed))))
    }

    /// Strengths are known when pieces are connected, the communities to which they belong only
    /// afterwards: they are remembered if there is memory, else added up in another scan. It is set
    /// aside from the start, since memory given back is not always to be had again.
    fn strength_bytes(&self) -> u64 {
        let rest = self.rest();
        let bytes = self.graph.node_count() * size_of::<f64>() as u64;
        if self.graph.is_directed() || rest < bytes { 0 } else { bytes }
    }

    /// Corrects what is expected of label propagation after so many sweeps; see [`ClusterOptions::expected_sweeps`].
    fn expect_sweeps(&self, sweeps: u32, moved: (u64, u64), enough: f64) -> Result<()> {
        let arcs = self.graph.arc_count() as f64;
        let (left, after) = self.options.expected_sweeps(sweeps, moved, enough);
        self.observer.expect(left.map(|left| left * arcs), after * arcs)
    }

    fn tell_going_on(&self, sweeps: u32) -> Result<()> {
        let sweeps = format_counted(sweeps.into(), "sweep", "sweeps");
        let text = format!("going on after {sweeps} of a run that was stopped");
        tell(self.observer, Event::Detail { text: &text })
    }

    fn run<S: Sum>(&self, given: Given, saves: &mut Saves) -> Result<Vec<Communities>> {
        match self.options.method {
            Method::LabelPropagation => return self.propagate::<S>(given, saves),
            Method::Components => {
                // Its one scan keeps nothing; what is there is of something else.
                saves.open::<()>(self.observer)?;
                return Ok(vec![self.find_components::<S>()?]);
            }
            _ => {}
        }
        self.find_on_levels::<S>(saves)
    }

    /// The mean weight of an arc: known of the graph, and found by a scan where light arcs are not seen.
    fn mean_weight<S: Sum>(&self, source: &mut BlockSource<'_>) -> Result<f64> {
        if self.options.min_weight == 0.0 {
            return Ok(self.graph.weight_total() / self.graph.arc_count().max(1) as f64);
        }
        let scratch = PerThread::new(ArcScratch::default);
        let (mut total, mut arcs) = (0.0, 0);
        let mut nodes = Vec::new();
        source.for_all(|block| {
            tell(self.observer, Event::Advance { done: 0 })?;
            nodes.clear();
            nodes.resize(block.node_count(), (0.0, 0));
            let piece = piece_nodes(block.node_count(), block.arc_count());
            for_chunks(&mut nodes, piece, |begin, nodes| {
                scratch.with(|scratch| {
                    for (local, node) in (begin..).zip(nodes) {
                        let (mut sum, mut count) = (S::default(), 0);
                        block.for_each_segment(local, scratch, |targets, codes| {
                            count += targets.len() as u64;
                            S::for_each(targets, codes, |_, weight| sum += weight);
                        })?;
                        *node = (sum.value(), count);
                    }
                    Ok(())
                })
            })?;
            for (sum, count) in &nodes {
                total += sum;
                arcs += count;
            }
            Ok(())
        })?;
        Ok(total / arcs.max(1) as f64)
    }

    /// The communities of a method with several levels, at each resolution.
    fn find_on_levels<S: Sum>(&self, saves: &mut Saves) -> Result<Vec<Communities>> {
        // The other half is for contractions and the levels above.
        let source = &mut self.blocks(self.rest() / 2);
        // The largest first: its groups are the smallest, and the others are made of them.
        let mut order: Vec<usize> = (0..self.options.resolution.len()).collect();
        order.sort_by(|&a, &b| self.options.resolution[b].total_cmp(&self.options.resolution[a]));
        let resolutions = order.iter().map(|&at| self.options.resolution[at]);
        let most = self.most();
        let start = self.options.seeding;
        let outcomes = match self.options.method {
            Method::MapEquation => {
                let rules = [((), most)];
                multilevel::find::<Capped<CodeLength>>(self, &rules, start, source, saves)?
            }
            Method::Cpm => {
                let mean = self.mean_weight::<S>(source)?;
                let rules: Vec<_> = resolutions.map(|r| (Null::Count(r * mean), most)).collect();
                multilevel::find::<Capped<Density>>(self, &rules, Seeding::Own, source, saves)?
            }
            _ => {
                let rules: Vec<_> = resolutions.map(|r| (Null::Strength(r), most)).collect();
                multilevel::find::<Capped<Density>>(self, &rules, start, source, saves)?
            }
        };
        let mut outcomes: Vec<(usize, Outcome)> = order.into_iter().zip(outcomes).collect();
        outcomes.sort_by_key(|&(at, _)| at);
        let outcomes = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
        self.finish_all::<S>(source, outcomes, None)
    }
}
