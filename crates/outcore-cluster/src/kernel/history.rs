//! Statistics of the sweeps, reported with the result and saved in checkpoints, so that a stopped job
//! loses none of them.
//!
//! At most 4,096 sweeps are recorded.

use super::sweep::Swept;
use serde::{Deserialize, Serialize};

/// Maximum number of sweeps reported one by one: 40 bytes each.
const SWEEPS_REPORTED: usize = 4096;

/// Statistics of one sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sweep {
    /// Number of cycles over several levels begun so far.
    pub cycle: u32,
    /// Level: 0 is the graph.
    pub level: u64,
    /// Whether it moved nodes among groups inside communities, for the next level, rather than among communities.
    pub refines: bool,
    /// Number of nodes of the level.
    pub node_count: u64,
    /// Number of nodes that moved.
    pub moved_count: u64,
}

/// Comparison of the starts, and of another objective; serialized as in reports.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Starts {
    /// Number of starts that were tried: 1 if the method has one, and 0 before it ends.
    #[serde(rename = "trial_count")]
    pub count: u32,
    /// Amount by which the objective of each start was below the best, up to the level on which they were compared: in
    /// bits per step for the map equation, otherwise as a share of the total weight. Empty with one start.
    #[serde(rename = "trial_losses", default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<f64>,
    /// Number of communities that hold 99 % of the nodes, in each start that was compared with the best: its objective
    /// is within 2 %, or 1/sqrt(nodes) in a small graph. Empty with one start.
    #[serde(rename = "trial_community_counts", default, skip_serializing_if = "Vec::is_empty")]
    pub community_counts: Vec<u64>,
    /// Number of communities that hold 99 % of the nodes, in each start within a thousandth of the best.
    #[serde(rename = "equal_community_counts", default, skip_serializing_if = "Vec::is_empty")]
    pub equal_counts: Vec<u64>,
    /// Modularity and number of the communities that maximize it, if the map equation keeps all nodes together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divided: Option<(f64, u64)>,
    /// Mean share of nodes that stay with the communities of the best start in another one; `None` with one start.
    #[serde(rename = "trial_agreement")]
    pub agreement: Option<f64>,
}

/// Number of sweeps and scans; serialized as in reports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sweeps {
    /// Number of sweeps.
    #[serde(rename = "sweep_count")]
    pub count: u32,
    /// Moves of the first sweeps, at most 4,096, including those of an earlier process.
    #[serde(rename = "sweeps")]
    pub first: Vec<Sweep>,
    /// Number of scans of the edges until the result is complete, sweeps included; before, in addition to those of the last
    /// block source.
    #[serde(rename = "scan_count")]
    pub scans: u64,
    /// Number of cycles over several levels; 0 if the method has none.
    #[serde(rename = "cycle_count")]
    pub cycles: u32,
}

/// Statistics of all sweeps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct History {
    /// Number of sweeps and scans, and the first of the sweeps.
    pub sweeps: Sweeps,
    /// Number of sweeps made by an earlier process that was stopped.
    pub resumed_sweeps: u32,
    /// Number of levels above the graph.
    pub levels: u64,
    /// Comparison of the starts.
    pub starts: Starts,
    /// Whether the sweeps ended because few enough nodes changed.
    pub converged: bool,
    /// Number of nodes that changed in the last sweep.
    pub last_moved: u64,
    /// Number of arcs visited in the sweeps: a node's arcs count each time its label is chosen.
    pub arcs: u64,
}

impl History {
    /// Marks all sweeps so far as those of an earlier process.
    pub(crate) fn resume(&mut self) {
        self.resumed_sweeps = self.sweeps.count;
    }

    /// Adds a sweep over nodes of a level; `sweep` holds the remaining statistics.
    pub(crate) fn count(&mut self, swept: &Swept, sweep: Sweep) {
        self.sweeps.count += 1;
        self.arcs += swept.arcs;
        self.last_moved = swept.moved;
        let (cycle, moved_count) = (self.sweeps.cycles, swept.moved);
        self.notify(Sweep { cycle, moved_count, ..sweep });
    }

    /// Adds a sweep over the graph, and marks the sweeps as converged if at most `enough` nodes have moved.
    pub(crate) fn learn(&mut self, swept: &Swept, node_count: u64, enough: f64) {
        self.count(swept, Sweep { node_count, ..Sweep::default() });
        self.converged = swept.moved == 0 || swept.moved as f64 <= enough;
    }

    fn notify(&mut self, sweep: Sweep) {
        if self.sweeps.first.len() < SWEEPS_REPORTED {
            self.sweeps.first.push(sweep);
        }
    }

    /// Adds a search that ran in parallel with others on the same level.
    pub(crate) fn include(&mut self, other: Self) {
        self.sweeps.count += other.sweeps.count;
        self.arcs += other.arcs;
        self.sweeps.scans += other.sweeps.scans;
        self.levels = self.levels.max(other.levels);
        self.last_moved = other.last_moved;
        if other.starts.count > 0 {
            let count = self.starts.count.max(1) + other.starts.count - 1;
            self.starts = Starts { count, divided: self.starts.divided, ..other.starts };
        }
        other.sweeps.first.into_iter().for_each(|sweep| self.notify(sweep));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sweeps_are_counted_and_the_first_are_reported() {
        let mut history = History::default();
        let most = SWEEPS_REPORTED as u64;
        for moved in 0..most + 5 {
            history.learn(&Swept { moved, arcs: 2 }, 9, 0.0);
        }
        assert_eq!((u64::from(history.sweeps.count), history.arcs), (most + 5, 2 * (most + 5)));
        assert_eq!((history.sweeps.first.len() as u64, history.last_moved), (most, most + 4));
        assert_eq!(history.sweeps.first.last().map(|sweep| sweep.moved_count), Some(most - 1));
    }
}
