//! What a clustering finds.

use super::number::SizeCount;
use crate::cluster::kernel::history::Sweep;
use crate::cluster::store::hierarchy::Grouping;
use crate::cluster::store::labels::Labels;
use crate::units::{format_count, format_counted};

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
    /// The first of the sweeps, as many as reports list, those of an earlier process among them.
    pub sweeps_reported: Vec<Sweep>,
    /// Whether the sweeps ended because few enough nodes changed.
    pub converged: bool,
    /// Nodes that changed in the last sweep.
    pub last_moved: u64,
    /// Arcs looked at in the sweeps, once for each time that a node's label was chosen.
    pub arcs_visited: u64,
}

/// What was found, in one phrase.
pub(crate) fn summary(all: &[Communities]) -> String {
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
