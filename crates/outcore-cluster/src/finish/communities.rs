//! Result of a clustering.

use super::cuts::separate::Separated;
use super::number::SizeCount;
use super::tree::TreeLength;
use crate::kernel::history::Sweep;
use crate::store::hierarchy::Grouping;
use crate::store::labels::{LabelScan, Labels};
use outcore_io::Files;
use outcore_io::error::Result;
use outcore_io::units::{format_count, format_counted};

/// Communities of a graph, with measures and the work that they took.
#[derive(Debug, Clone, PartialEq)]
pub struct Communities {
    /// Community of each node; the largest is 0.
    pub labels: Labels,
    /// Groups of each level, from the graph up, if requested. They need not subdivide the communities, since
    /// some nodes have moved afterwards, or communities have been split.
    pub groupings: Vec<Grouping>,
    /// Number of communities of each size, largest size first.
    pub sizes: Vec<SizeCount>,
    /// Number of communities.
    pub community_count: u64,
    /// Number of communities with one node.
    pub singleton_count: u64,
    /// Number of nodes in the largest community.
    pub largest: u64,
    /// Number of communities that were not connected and have been split.
    pub split_count: u64,
    /// Number of communities that were not well-connected and have been split, and of their parts, if requested.
    pub separated: Option<Separated>,
    /// Modularity of the result; not a number for components whose edges were not kept.
    pub modularity: f64,
    /// Modularity of a graph of two kinds of nodes (Barber 2007), if that was the objective.
    pub two_mode_modularity: Option<f64>,
    /// Share of the weight inside communities.
    pub coverage: f64,
    /// Bits per step of a random walk by the map equation, if that was the objective.
    pub code_length: Option<f64>,
    /// Code length of the tree of modules whose levels the groupings are, if it was sought.
    pub tree: Option<TreeLength>,
    /// Number of sweeps.
    pub sweeps: u32,
    /// Number of sweeps made by an earlier process that was stopped.
    pub resumed_sweeps: u32,
    /// Number of scans of the graph until this result was complete.
    pub scans: u64,
    /// Number of cycles over several levels.
    pub cycles: u32,
    /// Number of starts that were tried.
    pub trials: u32,
    /// Amount by which the objective of each start was below the best, up to the level on which they were compared: in
    /// bits per step for the map equation, otherwise as a share of the total weight. Empty with one start.
    pub trial_losses: Vec<f64>,
    /// Number of communities that hold 99 % of the nodes, in each start that was compared with the best: its objective
    /// is within 2 %, or 1/sqrt(nodes) in a small graph. Empty with one start.
    pub trial_community_counts: Vec<u64>,
    /// The same, in each start within a thousandth of the best.
    pub equal_community_counts: Vec<u64>,
    /// Modularity and number of the communities that maximize it, if the map equation keeps all nodes together.
    pub divided: Option<(f64, u64)>,
    /// Mean share of nodes that stay with the communities of the best start in another one; `None` with one start.
    pub trial_agreement: Option<f64>,
    /// Modularity that can be found in a random graph with these degrees; only for large, unweighted graphs that are
    /// not sparse.
    pub chance_modularity: Option<f64>,
    /// Bits per step of a random walk with all nodes in one community, if the map equation was the objective.
    pub undivided_length: Option<f64>,
    /// For each node the starts in which it stays with its community, if requested.
    pub stability: Option<Stability>,
    /// Number of levels above the graph.
    pub levels: u64,
    /// First sweeps, up to the number that reports list, including those of an earlier process.
    pub sweeps_reported: Vec<Sweep>,
    /// Whether the sweeps ended because few enough nodes changed.
    pub converged: bool,
    /// Number of nodes that changed in the last sweep.
    pub last_moved: u64,
    /// Number of arcs visited in the sweeps: a node's arcs count each time its label is chosen.
    pub arcs_visited: u64,
}

impl Communities {
    /// Creates the components that have these labels, and this number of components of each size.
    pub fn of_components(labels: Vec<u32>, sizes: Vec<SizeCount>) -> Self {
        let singles = sizes.last().filter(|sizes| sizes.size == 1);
        Self {
            community_count: sizes.iter().map(|sizes| sizes.count).sum(),
            singleton_count: singles.map_or(0, |sizes| sizes.count),
            largest: sizes.first().map_or(0, |largest| u64::from(largest.size)),
            split_count: 0,
            separated: None,
            modularity: f64::NAN,
            two_mode_modularity: None,
            coverage: 1.0,
            groupings: Vec::new(),
            code_length: None,
            tree: None,
            sweeps: 0,
            resumed_sweeps: 0,
            scans: 0,
            cycles: 0,
            trials: 1,
            trial_losses: Vec::new(),
            trial_community_counts: Vec::new(),
            equal_community_counts: Vec::new(),
            divided: None,
            trial_agreement: None,
            chance_modularity: None,
            undivided_length: None,
            stability: None,
            levels: 0,
            sweeps_reported: Vec::new(),
            converged: true,
            last_moved: 0,
            arcs_visited: 0,
            sizes,
            labels: Labels::Memory(labels),
        }
    }
}

/// Stability of the community of each node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stability {
    /// Number of starts in which the node stays with its community: with the label that most of it has there.
    pub counts: Labels,
    /// Number of starts.
    pub starts: u32,
}

impl Stability {
    /// Scans the shares of the starts in node order.
    ///
    /// # Errors
    /// `Io` with the path of the file.
    pub fn scan(&self, files: &Files) -> Result<StabilityScan<'_>> {
        Ok(StabilityScan { counts: self.counts.scan(files)?, starts: self.starts })
    }
}

/// Scan of the stability of nodes in node order.
pub struct StabilityScan<'a> {
    counts: LabelScan<'a>,
    starts: u32,
}

impl StabilityScan<'_> {
    /// Returns the share of the starts in which the next node stays with its community, or `None` at the end.
    ///
    /// # Errors
    /// `Io`, `CorruptFile` with the path of the file.
    #[expect(clippy::should_implement_trait, reason = "it may fail")]
    pub fn next(&mut self) -> Result<Option<f64>> {
        let count = self.counts.next()?;
        Ok(count.map(|count| f64::from(count) / f64::from(self.starts)))
    }
}

/// Summarizes the results in one phrase.
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
    let how = if is_on_disk { ", labels on disk" } else { "" };
    let separated = match all {
        [Communities { separated: Some(Separated { split_count: split, part_count }), .. }]
            if *split > 0 =>
        {
            let split = format_counted(*split, "community", "communities");
            format!(", {split} split into {} well-connected", format_count(*part_count))
        }
        _ => String::new(),
    };
    let starts = match all.iter().map(|found| found.trials).max() {
        None | Some(0 | 1) => String::new(),
        Some(trials) => format!(", best of {trials} starts"),
    };
    let earlier = match all.iter().map(|found| found.resumed_sweeps).max() {
        None | Some(0) => String::new(),
        Some(sweeps) => format!(" ({} from a stopped run)", format_count(sweeps.into())),
    };
    match sweeps {
        0 => format!("{count}{separated}"),
        _ => {
            let sweeps = format_counted(sweeps.into(), "sweep", "sweeps");
            format!("{count} in {sweeps}{earlier}{starts}{how}{separated}")
        }
    }
}
