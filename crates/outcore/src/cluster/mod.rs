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
mod connect;
mod contract;
mod groups;
mod hash;
mod label_propagation;
mod logarithm;
mod map_equation;
mod memory;
mod modularity;
mod multilevel;
mod number;
mod objective;
#[cfg(test)]
mod oracle;
mod parallel;
mod propose;
mod seeding;
mod sweep;
mod table;
mod tally;
#[cfg(test)]
mod tests;

pub(crate) use cache::BlockSource;
pub(crate) use connect::{Closing, Pieces, scan_communities, split_count};
pub use memory::ClusterMemory;
pub use number::SizeCount;
pub(crate) use parallel::PerThread;
pub(crate) use tally::Tally;

use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArcScratch, Graph};
use crate::io::reserve_large_pages;
use crate::progress::{Event, Observer, Stage, tell};
use crate::units::{format_bytes, format_count, format_counted, size_to_type};
use groups::Start;
use label_propagation::InsideWeight;
use map_equation::CodeLength;
use modularity::{Density, Null};
use std::path::Path;
use std::sync::atomic::AtomicU32;
use sweep::{Nodes, Workshop, sweep};
use table::Sum;

/// Most sweeps of label propagation.
const SWEEPS: u32 = 30;

/// How to find communities.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// The communities by which a random walk is described in the fewest bits (Infomap's objective).
    MapEquation,
    /// The communities with the most weight inside beyond what their strengths make likely.
    Modularity,
    /// The constant Potts model: communities denser inside than the resolution.
    Cpm,
    /// A node takes the label with the most weight among its neighbors, until few change.
    #[default]
    LabelPropagation,
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
    /// Larger values give smaller communities. Modularity: 1 is the usual one. The constant Potts
    /// model: the least density inside communities, in units of the mean weight of an arc.
    pub resolution: f64,
    /// The most cycles of the methods that work on several levels.
    pub cycles: u32,
    /// Stands in for chance: another seed gives another, equally good result.
    pub seed: u64,
    /// The most sweeps, of the graph or, with several levels, of a level above it; if `None`, 30 and 50.
    pub max_sweeps: Option<u32>,
    /// Label propagation: the sweeps end when at most this share of the nodes changes; 0 ends them when none does.
    pub tolerance: f64,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            method: Method::default(),
            resolution: 1.0,
            cycles: 3,
            seed: 1,
            max_sweeps: None,
            tolerance: 0.001,
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
    /// How often the graph has been read, to the numbers given here.
    pub scans: u64,
    /// Cycles over several levels.
    pub cycles: u32,
    /// Levels above the graph.
    pub levels: u64,
    /// Whether the sweeps ended because few enough nodes changed.
    pub converged: bool,
    /// Nodes that changed in the last sweep.
    pub last_moved: u64,
    /// Arcs looked at in the sweeps, once for each time that a node's label was chosen.
    pub arcs_visited: u64,
}

/// Finds the communities of a graph within `memory` bytes, on the current thread pool.
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
    cluster_within(graph, options, memory, scratch, Limits::default(), observer)
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
    memory: u64,
    scratch: &Path,
    limits: Limits,
    observer: &dyn Observer,
) -> Result<Communities> {
    if graph.node_count() > u64::from(u32::MAX) {
        let message = format!("{} nodes are too many", format_count(graph.node_count()));
        return Err(Error::new(ErrorKind::TooManyNodes, message)
            .note("communities can be found among at most 4,294,967,295 nodes"));
    }
    if graph.is_directed() && options.method.is_multilevel() {
        let path = graph.directory().display();
        let message = format!("`{path}` has directed edges, which this method cannot use");
        return Err(Error::new(ErrorKind::Usage, message)
            .hint("use `--method label-propagation`, or build the graph without `--directed`"));
    }
    let mut job = Job { graph, options, limits, memory, needed: 0, scratch, observer };
    job.needed = job.needed_for(graph);
    if memory < job.needed {
        return Err(job.too_little_memory(job.needed));
    }
    tell(observer, Event::Begin { stage: Stage::Cluster, total: None, unit: "arcs" })?;
    let communities = if graph.is_weighted() { job.run::<f64>() } else { job.run::<u32>() }?;
    let summary = format!(
        "{} in {}",
        format_counted(communities.community_count, "community", "communities"),
        format_counted(communities.sweeps.into(), "sweep", "sweeps")
    );
    tell(observer, Event::End { summary: &summary })?;
    Ok(communities)
}

/// How the sweeps went.
#[derive(Default)]
struct History {
    sweeps: u32,
    cycles: u32,
    levels: u64,
    converged: bool,
    last_moved: u64,
    arcs: u64,
}

struct Job<'a> {
    graph: &'a Graph,
    options: &'a ClusterOptions,
    limits: Limits,
    memory: u64,
    /// What is needed of it; the rest keeps blocks.
    needed: u64,
    /// A directory for temporary files.
    scratch: &'a Path,
    observer: &'a dyn Observer,
}

impl Job<'_> {
    fn needed_for(&self, graph: &Graph) -> u64 {
        ClusterMemory::of(graph, self.options.method, rayon::current_num_threads()).total_bytes()
    }

    fn too_little_memory(&self, needed: u64) -> Error {
        let message = format!(
            "clustering needs {} of memory, and {} are given",
            format_bytes(needed),
            format_bytes(self.memory)
        );
        Error::new(ErrorKind::MemoryTooSmall, message)
            .hint(format!("use `--memory {}`, or fewer `--threads`", size_to_type(needed)))
    }

    /// Strengths are known when pieces are connected, the communities to which they belong only
    /// afterwards: they are remembered if there is memory, else added up in another scan. It is set
    /// aside from the start, since memory given back is not always to be had again.
    fn strength_bytes(&self) -> u64 {
        let rest = self.memory - self.needed;
        let bytes = self.graph.node_count() * size_of::<f64>() as u64;
        if self.graph.is_directed() || rest < bytes { 0 } else { bytes }
    }

    fn run<S: Sum>(&self) -> Result<Communities> {
        let rest = self.memory - self.needed;
        let budget = match self.options.method {
            Method::LabelPropagation => rest - self.strength_bytes(),
            // The other half is for contractions and the levels above.
            _ => rest / 2,
        };
        let source = &mut BlockSource::new(self.graph, budget);
        let (labels, history) = match self.options.method {
            Method::LabelPropagation => self.propagate::<S>(source)?,
            Method::MapEquation => multilevel::find::<CodeLength>(self, (), Start::Stars, source)?,
            Method::Modularity => {
                let null = Null::Strength(self.options.resolution);
                multilevel::find::<Density>(self, null, Start::Stars, source)?
            }
            Method::Cpm => {
                let mean = self.graph.weight_total() / self.graph.arc_count().max(1) as f64;
                let null = Null::Count(self.options.resolution * mean);
                multilevel::find::<Density>(self, null, Start::Singletons, source)?
            }
        };
        self.finish::<S>(source, labels, &history)
    }

    fn propagate<S: Sum>(&self, source: &mut BlockSource<'_>) -> Result<(Vec<u32>, History)> {
        // Labels are what is accessed at random.
        let mut labels: Vec<AtomicU32> = reserve_large_pages(self.graph.node_count() as usize);
        labels.resize_with(self.graph.node_count() as usize, AtomicU32::default);
        let history = self.move_labels::<S>(source, &labels)?;
        // In place: the two types have the same layout.
        Ok((labels.into_iter().map(AtomicU32::into_inner).collect(), history))
    }

    fn move_labels<S: Sum>(
        &self,
        source: &mut BlockSource<'_>,
        labels: &[AtomicU32],
    ) -> Result<History> {
        let active = bits::Bits::new(labels.len(), false);
        let mut history = History::default();
        {
            tell(self.observer, Event::Detail { text: "choosing first labels" })?;
            let scratch = PerThread::new(ArcScratch::default);
            let tick = |_: &_| tell(self.observer, Event::Advance { done: 0 });
            seeding::seed_labels::<S>(source, self.options.seed, labels, &active, &scratch, tick)?;
        }
        active.fill(true);
        let directed = self.graph.is_directed();
        let mut nodes = Nodes {
            labels,
            active: &active,
            changes: vec![0; if directed { labels.len() } else { 0 }],
            counts: &[],
            seed: self.options.seed,
            objective: InsideWeight,
            shuffled: false,
        };
        let mut workshop = Workshop::<S>::new(
            self.graph.max_degree(),
            self.limits.large_degree,
            self.limits.most_labels,
        );
        let most_sweeps = self.options.max_sweeps.unwrap_or(SWEEPS);
        let enough = self.options.tolerance * labels.len() as f64;
        while history.sweeps < most_sweeps && !history.converged {
            history.sweeps += 1;
            let before = history.arcs;
            let swept =
                sweep(self.graph, source, &mut nodes, &mut workshop, history.sweeps, |arcs| {
                    tell(self.observer, Event::Advance { done: before + arcs })
                })?;
            history.arcs += swept.arcs;
            history.last_moved = swept.moved;
            history.converged = swept.moved == 0 || swept.moved as f64 <= enough;
            let moved = format_counted(swept.moved, "node", "nodes");
            let text = format!("sweep {}: {moved} changed", history.sweeps);
            tell(self.observer, Event::Detail { text: &text })?;
        }
        Ok(history)
    }

    /// Splits, numbers and rates the communities. `labels` are nodes.
    fn finish<S: Sum>(
        &self,
        source: &mut BlockSource<'_>,
        mut labels: Vec<u32>,
        history: &History,
    ) -> Result<Communities> {
        tell(self.observer, Event::Detail { text: "splitting and counting communities" })?;
        let directed = self.graph.is_directed();
        let scratch = PerThread::new(Closing::default);
        let tick = |_: &_| tell(self.observer, Event::Advance { done: history.arcs });
        // Several levels have taken more than that before.
        let is_remembered = self.options.method.is_multilevel() || self.strength_bytes() > 0;
        let mut strengths = is_remembered.then(|| Vec::with_capacity(labels.len()));
        let pieces = Pieces::new(labels.len(), directed);
        let mut inside = 0.0;
        scan_communities::<S>(source, &labels, Some(&pieces), &scratch, tick, |_, sums| {
            inside += sums.inside;
            if let Some(strengths) = &mut strengths {
                strengths.push(sums.strength);
            }
        })?;
        let mut roots = pieces.into_roots();
        let split_count = split_count(&labels, &roots, labels.len());
        let sizes = number::number(&mut roots, &mut labels);
        drop(labels);
        let labels = roots;
        let community_count: u64 = sizes.iter().map(|s| s.count).sum();
        let singleton_count = sizes.last().filter(|s| s.size == 1).map_or(0, |s| s.count);
        let tallied = if directed { community_count } else { community_count - singleton_count };
        let mut tally = Tally::new(tallied as usize, directed);
        if let Some(strengths) = strengths {
            tally.add_inside(inside);
            labels.iter().zip(strengths).for_each(|(&label, strength)| tally.add(label, strength));
        } else {
            tally = tally.scan::<S>(source, &labels, None, &scratch, tick)?;
        }
        Ok(Communities {
            community_count,
            singleton_count,
            largest: sizes.first().map_or(0, |s| u64::from(s.size)),
            split_count,
            modularity: tally.modularity(),
            coverage: tally.coverage(),
            sweeps: history.sweeps,
            scans: source.scans(),
            cycles: history.cycles,
            levels: history.levels,
            converged: history.converged,
            last_moved: history.last_moved,
            arcs_visited: history.arcs,
            sizes,
            labels,
        })
    }
}
