//! Specification of what follows where a level cannot be contracted to groups inside its communities. The merges
//! themselves have oracles of their own, beside them.

use super::{OracleLevel, OracleLevels, OracleSize, renumber};
use crate::Method;
use crate::drive::multilevel::coarsen::coarser;
use crate::drive::multilevel::dissolve::{Member, dissolve, small_communities};
use crate::kernel::objective::Sums;
use crate::objectives::cap::Capped;
use crate::objectives::map_equation::CodeLength;
use crate::objectives::modularity::{Density, Null};
use std::collections::BTreeMap;

/// Returns the sums of communities.
fn summed<O: Sums>(rule: O::Rule, level: &OracleLevel, labels: &[u32]) -> O {
    let mut sums = O::empty(rule, labels.len());
    for (v, &label) in labels.iter().enumerate() {
        let earlier =
            level.arcs[v].iter().filter(|&&(u, _)| (u as usize) < v && labels[u as usize] == label);
        let earlier: f64 = earlier.map(|&(_, w)| w).sum();
        sums.add(label, level.counts[v], level.strength(v), level.degree(v) - 2.0 * earlier);
    }
    sums.complete();
    sums
}

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
        let Some(found) = self.merged(level) else { return false };
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
        let arcs = level.arcs.iter().map(Vec::len).sum::<usize>() as u64;
        let degree = |v: usize| level.arcs[v].len() as u64;
        let Some(is_small) = small_communities(labels, degree, arcs) else { return };
        let mut communities: BTreeMap<u32, Vec<Member>> = BTreeMap::new();
        for v in (0..labels.len()).filter(|&v| is_small[labels[v] as usize]) {
            communities.entry(labels[v]).or_default().push(Member {
                node: v as u32,
                count: level.counts[v],
                strength: level.strength(v),
                arcs: level.arcs[v].clone(),
            });
        }
        let most = self.max_size;
        let dissolved = match self.method {
            Method::MapEquation => dissolve(
                &mut summed::<Capped<CodeLength>>(((), most), level, labels),
                labels,
                &communities,
            ),
            Method::Cpm => {
                let rule = (Null::Count(self.resolution), most);
                dissolve(&mut summed::<Capped<Density>>(rule, level, labels), labels, &communities)
            }
            _ => {
                let rule = (Null::Strength(self.resolution), most);
                dissolve(&mut summed::<Capped<Density>>(rule, level, labels), labels, &communities)
            }
        };
        if dissolved > 0 {
            self.closest.set(0.0);
            self.fill_free(labels);
            let mut active = vec![true; labels.len()];
            let _ = (0..50).any(|_| self.sweep(level, self.seed, labels, None, &mut active) == 0);
        }
    }

    /// Returns the best cut of the tree of merges of all nodes, if it is better than the nodes.
    fn merged(&self, level: &OracleLevel) -> Option<Vec<u32>> {
        let count = level.arcs.len();
        let node = |v: usize| (level.counts[v], level.strength(v), level.degree(v));
        let nodes: Vec<_> = (0..count).map(node).collect();
        let arcs = level.arcs.iter().map(|arcs| arcs.iter().copied().collect()).collect();
        let most = self.max_size;
        match self.method {
            Method::MapEquation => coarser::<Capped<CodeLength>>(((), most), &nodes, arcs),
            Method::Cpm => {
                coarser::<Capped<Density>>((Null::Count(self.resolution), most), &nodes, arcs)
            }
            _ => coarser::<Capped<Density>>((Null::Strength(self.resolution), most), &nodes, arcs),
        }
    }
}
