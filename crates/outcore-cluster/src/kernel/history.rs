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
    /// Whether it moved nodes among groups inside communities, for the next level, rather than among
    /// communities.
    pub refines: bool,
    /// Number of nodes of the level.
    pub node_count: u64,
    /// Number of nodes that moved.
    pub moved_count: u64,
}

/// Statistics of all sweeps.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct History {
    pub(crate) sweeps: u32,
    /// Sweeps of an earlier process.
    pub(crate) resumed_sweeps: u32,
    pub(crate) cycles: u32,
    pub(crate) levels: u64,
    /// Starts that were tried, the first one included; 0 before.
    pub(crate) trials: u32,
    /// Amount by which the objective of each start was below the best.
    pub(crate) losses: Vec<f64>,
    /// Number of communities that hold 99 % of the nodes, in each start that was compared with the best.
    #[serde(default)]
    pub(crate) counts: Vec<u64>,
    /// Those of the starts within a thousandth of the best.
    #[serde(default)]
    pub(crate) equal_counts: Vec<u64>,
    /// Modularity and number of the communities that maximize it, if all nodes are in one.
    #[serde(default)]
    pub(crate) divided: Option<(f64, u64)>,
    /// Mean share of nodes that stay with the communities of the best start in another one.
    pub(crate) agreement: Option<f64>,
    pub(crate) converged: bool,
    pub(crate) last_moved: u64,
    pub(crate) arcs: u64,
    /// Scans in addition to those of the last block source.
    pub(crate) scans: u64,
    /// The first sweeps, at most [`SWEEPS_REPORTED`].
    pub(crate) reported: Vec<Sweep>,
}

impl History {
    /// Marks all sweeps so far as those of an earlier process.
    pub(crate) fn resume(&mut self) {
        self.resumed_sweeps = self.sweeps;
    }

    /// Adds a sweep over nodes of a level; `sweep` holds the remaining statistics.
    pub(crate) fn count(&mut self, swept: &Swept, sweep: Sweep) {
        self.sweeps += 1;
        self.arcs += swept.arcs;
        self.last_moved = swept.moved;
        let (cycle, moved_count) = (self.cycles, swept.moved);
        self.notify(Sweep { cycle, moved_count, ..sweep });
    }

    /// Adds a sweep over the graph, and marks the sweeps as converged if at most `enough` nodes have moved.
    pub(crate) fn learn(&mut self, swept: &Swept, node_count: u64, enough: f64) {
        self.count(swept, Sweep { node_count, ..Sweep::default() });
        self.converged = swept.moved == 0 || swept.moved as f64 <= enough;
    }

    fn notify(&mut self, sweep: Sweep) {
        if self.reported.len() < SWEEPS_REPORTED {
            self.reported.push(sweep);
        }
    }

    /// Adds a search that ran in parallel with others on the same level.
    pub(crate) fn include(&mut self, other: Self) {
        self.sweeps += other.sweeps;
        self.arcs += other.arcs;
        self.scans += other.scans;
        self.levels = self.levels.max(other.levels);
        self.last_moved = other.last_moved;
        if other.trials > 0 {
            self.trials = self.trials.max(1) + other.trials - 1;
            (self.losses, self.agreement) = (other.losses, other.agreement);
            (self.counts, self.equal_counts) = (other.counts, other.equal_counts);
        }
        other.reported.into_iter().for_each(|sweep| self.notify(sweep));
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
        assert_eq!((u64::from(history.sweeps), history.arcs), (most + 5, 2 * (most + 5)));
        assert_eq!((history.reported.len() as u64, history.last_moved), (most, most + 4));
        assert_eq!(history.reported.last().map(|sweep| sweep.moved_count), Some(most - 1));
    }
}
