//! Specification of what follows where a level cannot be contracted to groups inside its communities. The merges
//! themselves have oracles of their own, beside them.

use super::{OracleLevel, OracleLevels, OracleSize, mix, renumber};
use crate::Method;
use crate::merges::{Node, Objective, dissolved, may_merge, merged};

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
        // Communities of limited size are not merged.
        if self.max_size.is_some() {
            return false;
        }
        let nodes = nodes_of(level);
        match may_merge(self.objective(), &nodes, labels, self.mean) {
            Some(true) => {}
            Some(false) => return false,
            None => self.closest.set(0.0),
        }
        let mut groups = labels.to_vec();
        let count = renumber(&mut groups);
        // Where nothing is merged, a large level must shrink.
        let is_merged = self.method == Method::MapEquation;
        let most = if self.size == OracleSize::Large && !is_merged { 0.99 } else { 1.0 };
        if count < labels.len() {
            if count as f64 >= most * labels.len() as f64 {
                return false;
            }
            self.climb(level, number, labels, (groups, (0..count as u32).collect()));
            return false;
        }
        let Some(found) = merged(&nodes) else {
            // Other weights within rounding may decide ties among merges in another way.
            let merges = |turn| merged(&perturbed(&nodes, turn)).is_some();
            if self.perturbs && (1..=TIES).any(merges) {
                self.closest.set(0.0);
            }
            return false;
        };
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

/// Perturbations that are tried, and the largest relative change of a weight: the bound of its rounding.
const TIES: u64 = 16;
const PERTURBED: f64 = 4.0 / (1 << 24) as f64;

/// Changes each weight a little, the same in both directions.
fn perturbed(nodes: &[Node], turn: u64) -> Vec<Node> {
    let changed = |v: usize, &(u, weight): &(u32, f64)| {
        let (low, high) = ((v as u64).min(u.into()), (v as u64).max(u.into()));
        let share = mix(mix(turn ^ low << 32 ^ high)) as f64 / u64::MAX as f64;
        (u, weight * (1.0 + PERTURBED * (2.0 * share - 1.0)))
    };
    let each = nodes.iter().enumerate();
    each.map(|(v, (count, strength, arcs))| {
        let arcs: Vec<_> = arcs.iter().map(|arc| changed(v, arc)).collect();
        let more: f64 = arcs.iter().map(|arc| arc.1).sum::<f64>() - degree(&nodes[v].2);
        (*count, strength + more, arcs)
    })
    .collect()
}

fn degree(arcs: &[(u32, f64)]) -> f64 {
    arcs.iter().map(|arc| arc.1).sum()
}

fn nodes_of(level: &OracleLevel) -> Vec<Node> {
    let node = |v: usize| (level.counts[v], level.strength(v), level.arcs[v].clone());
    (0..level.arcs.len()).map(node).collect()
}
