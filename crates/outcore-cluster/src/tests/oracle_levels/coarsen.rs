//! Specification of what follows where a level cannot be contracted to groups inside its communities. The merges
//! themselves have oracles of their own, beside them.

use super::{OracleLevel, OracleLevels, OracleSize, renumber};
use crate::merges::{Node, Objective, dissolved, merged};

impl OracleLevels {
    /// Contracts the level to whole communities and solves what is above; or, if each node is one, merges them. Returns
    /// whether that changed the labels, so that nodes may move again.
    pub(super) fn coarsen(
        &mut self,
        level: &OracleLevel,
        number: u64,
        seed: u64,
        labels: &mut [u32],
    ) -> bool {
        // Tests always give the number of starts.
        if number > 0 && !self.starts[1].is_empty() {
            let found = self.best_start(level, number, seed, labels.to_vec(), 1);
            labels.copy_from_slice(&found);
            return true;
        }
        let mut groups = labels.to_vec();
        let count = renumber(&mut groups);
        if count < labels.len() {
            let most = if self.size == OracleSize::Large { 0.99 } else { 1.0 };
            if (count as f64) < most * labels.len() as f64 {
                self.climb(level, number, labels, (groups, (0..count as u32).collect()));
            }
            return false;
        }
        let Some(found) = merged(self.objective(), &nodes_of(level)) else { return false };
        // Ties between merges are not decided by a tolerance.
        self.closest.set(0.0);
        let is_better = self.quality(level, &found) > self.quality(level, labels) + 1e-9;
        if is_better {
            labels.copy_from_slice(&found);
            self.fill_free(labels);
        }
        is_better
    }

    /// Dissolves small communities beside large ones, and lets nodes move from there.
    pub(super) fn dissolve(&mut self, level: &OracleLevel, labels: &mut [u32]) {
        if self.size == OracleSize::Large {
            return;
        }
        if dissolved(self.objective(), &nodes_of(level), labels) {
            self.closest.set(0.0);
            self.fill_free(labels);
            let mut active = vec![true; labels.len()];
            let _ = (0..50).any(|_| self.sweep(level, self.seed, labels, None, &mut active) == 0);
        }
    }

    fn objective(&self) -> Objective {
        Objective { method: self.method, resolution: self.resolution, most: self.max_size }
    }
}

fn nodes_of(level: &OracleLevel) -> Vec<Node> {
    let node = |v: usize| (level.counts[v], level.strength(v), level.arcs[v].clone());
    (0..level.arcs.len()).map(node).collect()
}
