//! Result of a clustering.

use super::cuts::separate::Separated;
use super::number::SizeCount;
use super::tree::TreeLength;
use crate::kernel::history::History;
use crate::store::hierarchy::Grouping;
use outcore_io::units::{format_count, format_counted};
use outcore_io::{Column, Shares};

/// Communities of a graph, with measures and the work that they took.
#[derive(Debug, Clone, PartialEq)]
pub struct Communities {
    /// Community of each node; the largest is 0.
    pub labels: Column<u32>,
    /// Groups of each level, from the graph up, if requested. They need not subdivide the communities, since
    /// some nodes have moved afterwards, or communities have been split.
    pub groupings: Vec<Grouping>,
    /// Number of communities of each size, largest size first.
    pub sizes: Vec<SizeCount>,
    /// Number of communities that were not connected and have been split.
    pub split_count: u64,
    /// Number of communities that were not well-connected and have been split, and of their parts, if requested.
    pub separated: Option<Separated>,
    /// Measures of the communities.
    pub measures: Measures,
    /// What the measures are compared with.
    pub baselines: Baselines,
    /// Code length of the tree of modules whose levels the groupings are, if it was sought.
    pub tree: Option<TreeLength>,
    /// For each node, the share of the starts in which it has the label that most of its community has there, if
    /// requested.
    pub stability: Option<Shares<u32>>,
    /// Statistics of the sweeps.
    pub history: History,
}

/// Measures of communities; serialized as in reports.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Measures {
    /// Modularity (Newman 2004) at resolution 1; NaN, in reports null, for components whose edges were not kept.
    pub modularity: f64,
    /// Modularity of a graph of two kinds of nodes (Barber 2007) at resolution 1, if that was the objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_mode_modularity: Option<f64>,
    /// Share of the weight inside communities.
    pub coverage: f64,
    /// Bits per step of a random walk by the map equation, if that was the objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_length: Option<f64>,
}

impl Measures {
    /// Returns the modularity, if it is known.
    pub fn known_modularity(&self) -> Option<f64> {
        Some(self.modularity).filter(|modularity| modularity.is_finite())
    }
}

/// What measures are compared with; serialized as in reports.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Baselines {
    /// Modularity that can be found in a random graph with these degrees; only for large, unweighted graphs that are
    /// not sparse.
    pub chance_modularity: Option<f64>,
    /// Bits per step of a random walk with all nodes in one community, if the map equation was the objective.
    pub undivided_length: Option<f64>,
}

impl Communities {
    /// Creates communities without measures, with these labels and numbers of communities of each size.
    pub(crate) fn new(labels: Column<u32>, sizes: Vec<SizeCount>, mut history: History) -> Self {
        history.starts.count = history.starts.count.max(1);
        let (modularity, coverage) = (f64::NAN, 1.0);
        Self {
            labels,
            groupings: Vec::new(),
            sizes,
            split_count: 0,
            separated: None,
            measures: Measures {
                modularity,
                two_mode_modularity: None,
                coverage,
                code_length: None,
            },
            baselines: Baselines::default(),
            tree: None,
            stability: None,
            history,
        }
    }

    /// Creates the components that have these labels, and this number of components of each size.
    pub fn of_components(labels: Column<u32>, sizes: Vec<SizeCount>) -> Self {
        Self::new(labels, sizes, History { converged: true, ..History::default() })
    }

    /// Returns the number of communities.
    pub fn community_count(&self) -> u64 {
        self.sizes.iter().map(|sizes| sizes.count).sum()
    }

    /// Returns the number of communities of one node.
    pub fn singleton_count(&self) -> u64 {
        self.sizes.last().filter(|sizes| sizes.size == 1).map_or(0, |sizes| sizes.count)
    }

    /// Returns the number of communities of several nodes, which come first.
    pub(crate) fn shared_count(&self) -> u64 {
        self.community_count() - self.singleton_count()
    }

    /// Returns the number of nodes in the largest community.
    pub fn largest(&self) -> u64 {
        self.sizes.first().map_or(0, |largest| largest.size.into())
    }
}

/// Summarizes the results in one phrase.
pub fn summary(all: &[Communities]) -> String {
    let sweeps = all.iter().map(|found| found.history.sweeps.count).max().unwrap_or(0);
    let count = match all {
        [found] => format_counted(found.community_count(), "community", "communities"),
        _ => {
            let counts = all.iter().map(|found| format_count(found.community_count()));
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
    let starts = match all.iter().map(|found| found.history.starts.count).max() {
        None | Some(0 | 1) => String::new(),
        Some(trials) => format!(", best of {trials} starts"),
    };
    let earlier = match all.iter().map(|found| found.history.resumed_sweeps).max() {
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
