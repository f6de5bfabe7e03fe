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
mod closing;
#[cfg(test)]
mod component_tests;
mod components;
mod connect;
mod hash;
mod label_propagation;
mod logarithm;
mod map_equation;
mod memory;
mod modularity;
mod number;
mod objective;
mod options;
#[cfg(test)]
mod oracle;
mod parallel;
mod propagate;
#[cfg(test)]
mod propagation_tests;
mod propose;
mod seeding;
mod start;
mod sweep;
mod table;
mod tally;
#[cfg(test)]
mod tests;
mod votes;

pub(crate) use cache::BlockSource;
pub(crate) use connect::{Closing, Pieces, split_count};
pub use memory::ClusterMemory;
pub use number::SizeCount;
pub use options::{AttenuationRule, Consensus, PropagationOptions, Seeding, Visits};
pub(crate) use parallel::PerThread;
pub use start::Given;
pub(crate) use tally::Tally;

use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::progress::{Event, Observer, Stage, tell};
use crate::units::{format_bytes, format_count, format_counted, size_to_type};
use table::Sum;

/// How to find communities.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// A node takes the label with the most weight among its neighbors, until few change.
    #[default]
    LabelPropagation,
    /// Nodes that a path joins are together, whatever its direction.
    Components,
}

/// What to find.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClusterOptions {
    /// How.
    pub method: Method,
    /// Stands in for chance: another seed gives another, equally good result.
    pub seed: u64,
    /// The most sweeps.
    pub max_sweeps: u32,
    /// The sweeps end when at most this share of the nodes changes; 0 ends them when none does.
    pub tolerance: f64,
    /// Arcs lighter than this are as if they were not there.
    pub min_weight: f64,
    /// More options of label propagation.
    pub propagation: PropagationOptions,
}

impl ClusterOptions {
    /// The memory that a clustering needs that is given so many arrays of labels.
    pub fn memory(&self, graph: &Graph, given_count: u64, threads: usize) -> ClusterMemory {
        match self.method {
            Method::LabelPropagation => propagate::memory(self, graph, given_count, threads),
            Method::Components => components::memory(graph, threads),
        }
    }
}

impl ClusterOptions {
    /// What grows with the number of nodes of the memory for clustering, for a graph that is not there
    /// yet.
    pub fn node_bytes(&self, node_count: u64, directed: bool) -> u64 {
        let given = [&self.propagation.initial, &self.propagation.fixed];
        let given_count = given.into_iter().flatten().count() as u64;
        let bits = match self.method {
            Method::LabelPropagation => propagate::node_bits(self, directed, false, given_count),
            Method::Components => 33,
        };
        (bits * node_count).div_ceil(8)
    }
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            method: Method::default(),
            seed: 1,
            max_sweeps: 30,
            tolerance: 0.001,
            min_weight: 0.0,
            propagation: PropagationOptions::default(),
        }
    }
}

/// What was found, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Communities {
    /// Every node's community; the largest is 0.
    pub labels: Vec<u32>,
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
    /// Sweeps.
    pub sweeps: u32,
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
    match sweeps {
        0 => count,
        _ => format!("{count} in {}", format_counted(sweeps.into(), "sweep", "sweeps")),
    }
}

/// Finds the communities of a graph within `memory` bytes, on the current thread pool.
///
/// # Errors
/// `MemoryTooSmall` before any work; `CorruptFile`, `Io`; `Interrupted` if the observer says so.
pub fn cluster(
    graph: &Graph,
    options: &ClusterOptions,
    memory: u64,
    observer: &dyn Observer,
) -> Result<Communities> {
    let mut all = cluster_from(graph, options, Given::default(), memory, observer)?;
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
    observer: &dyn Observer,
) -> Result<Vec<Communities>> {
    cluster_within(graph, options, given, memory, Limits::default(), observer)
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
    limits: Limits,
    observer: &dyn Observer,
) -> Result<Vec<Communities>> {
    options.check()?;
    if graph.node_count() > u64::from(u32::MAX) {
        let message = format!("{} nodes are too many", format_count(graph.node_count()));
        return Err(Error::new(ErrorKind::TooManyNodes, message)
            .note("communities can be found among at most 4,294,967,295 nodes"));
    }
    let threads = rayon::current_num_threads();
    let needed = options.memory(graph, given.count(), threads).total_bytes();
    let Some(rest) = memory.checked_sub(needed) else {
        let message = format!(
            "clustering needs {} of memory, and {} are given",
            format_bytes(needed),
            format_bytes(memory)
        );
        return Err(Error::new(ErrorKind::MemoryTooSmall, message)
            .hint(format!("use `--memory {}`, or fewer `--threads`", size_to_type(needed))));
    };
    tell(observer, Event::Begin { stage: Stage::Cluster, total: None, unit: "arcs" })?;
    let graph = &graph.seen_as(&options.view());
    let job = Job { graph, options, limits, rest, observer };
    // Votes are parts of a weight, also where all weights are 1.
    let in_parts = graph.is_weighted() || options.propagation.attenuates();
    let all = if in_parts { job.run::<f64>(given) } else { job.run::<u32>(given) }?;
    tell(observer, Event::End { summary: &summary(&all) })?;
    Ok(all)
}

/// How the sweeps went.
#[derive(Debug, Clone, Copy, Default)]
struct History {
    sweeps: u32,
    converged: bool,
    last_moved: u64,
    arcs: u64,
}

#[derive(Clone, Copy)]
struct Job<'a> {
    graph: &'a Graph,
    options: &'a ClusterOptions,
    limits: Limits,
    /// Memory beyond what is needed.
    rest: u64,
    observer: &'a dyn Observer,
}

impl Job<'_> {
    /// Strengths are known when pieces are connected, the communities to which they belong only
    /// afterwards: they are remembered if there is memory, else added up in another scan. It is set
    /// aside from the start, since memory given back is not always to be had again.
    fn strength_bytes(&self) -> u64 {
        let bytes = self.graph.node_count() * size_of::<f64>() as u64;
        if self.graph.is_directed() || self.rest < bytes { 0 } else { bytes }
    }

    fn run<S: Sum>(&self, given: Given) -> Result<Vec<Communities>> {
        match self.options.method {
            Method::LabelPropagation => self.propagate::<S>(given),
            Method::Components => Ok(vec![self.find_components::<S>()?]),
        }
    }
}
