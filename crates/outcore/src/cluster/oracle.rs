//! The specification, written for reading: one thread, maps, no blocks of arcs, no groups of work.

use super::hash::{Hash, LEAD, SUB, TIE};
use crate::weight::RELATIVE_TOLERANCE;
use std::collections::BTreeMap;

/// A graph in memory: for each node its neighbors, ascending, with weights.
pub(super) struct Oracle {
    pub(super) arcs: Vec<Vec<(u32, f64)>>,
    pub(super) blocks: Vec<std::ops::Range<usize>>,
    pub(super) directed: bool,
    pub(super) seed: u64,
    pub(super) max_sweeps: u32,
    pub(super) tolerance: f64,
}

const NEARLY: f64 = 1.0 - RELATIVE_TOLERANCE;

impl Oracle {
    /// Final labels, sweeps, arcs visited.
    pub(super) fn cluster(&self) -> (Vec<u32>, u32, u64) {
        let n = self.arcs.len();
        let mut labels: Vec<u32> = (0..n as u32).map(|v| self.first_label(v)).collect();
        let mut active = vec![true; n];
        let mut changes = vec![0u32; n];
        let (mut sweeps, mut visited) = (0, 0);
        while sweeps < self.max_sweeps {
            sweeps += 1;
            let mut moved = 0;
            for block in &self.blocks {
                let frozen = |v: usize| self.directed && sweeps >= 20 && changes[v] >= 8;
                let snapshot: Vec<usize> = block
                    .clone()
                    .filter(|&v| if self.directed { !frozen(v) } else { active[v] })
                    .collect();
                for group in 0..4 {
                    let sub =
                        |v: usize| Hash::new(self.seed ^ SUB).of(v as u64, u64::from(sweeps)) % 4;
                    let mut proposals = Vec::new();
                    for &v in snapshot.iter().filter(|&&v| sub(v) == group) {
                        active[v] = false;
                        visited += self.arcs[v].len() as u64;
                        if let Some(label) = self.best_label(v, &labels, sweeps) {
                            proposals.push((v, label));
                        }
                    }
                    let mut movers = Vec::new();
                    for (v, label) in proposals {
                        let sums = self.sums(v, &labels);
                        let own = sums.get(&labels[v]).copied().unwrap_or(0.0);
                        let other = sums.get(&label).copied().unwrap_or(0.0);
                        if own < other * NEARLY {
                            labels[v] = label;
                            changes[v] += 1;
                            movers.push(v);
                        } else {
                            active[v] = true;
                        }
                    }
                    moved += movers.len();
                    for v in movers {
                        for &(u, _) in &self.arcs[v] {
                            active[u as usize] |= labels[u as usize] != labels[v];
                        }
                    }
                }
            }
            if moved as f64 <= self.tolerance * n as f64 {
                break;
            }
        }
        (self.finish(&labels), sweeps, visited)
    }

    fn first_label(&self, v: u32) -> u32 {
        let leads = |u: u32| Hash::new(self.seed ^ LEAD).of(u64::from(u), 0).is_multiple_of(4);
        let near: Vec<(u32, f64)> =
            self.arcs[v as usize].iter().copied().filter(|&(u, _)| leads(u)).collect();
        let most = near.iter().map(|&(_, w)| w).fold(0.0, f64::max);
        let key = |u: u32| (Hash::new(self.seed ^ LEAD ^ u64::from(v)).of(u64::from(u), 1), !u);
        let ties = near.iter().filter(|&&(_, w)| w >= most * NEARLY).map(|&(u, _)| u);
        if leads(v) { v } else { ties.max_by_key(|&u| key(u)).unwrap_or(v) }
    }

    fn sums(&self, v: usize, labels: &[u32]) -> BTreeMap<u32, f64> {
        let mut sums = BTreeMap::new();
        for &(u, w) in &self.arcs[v] {
            *sums.entry(labels[u as usize]).or_insert(0.0) += w;
        }
        sums
    }

    fn best_label(&self, v: usize, labels: &[u32], sweep: u32) -> Option<u32> {
        let sums = self.sums(v, labels);
        let most = sums.values().copied().fold(0.0, f64::max);
        let own = sums.get(&labels[v]).copied().unwrap_or(0.0);
        if own >= most * NEARLY * NEARLY {
            return None;
        }
        let hash = Hash::new(self.seed ^ TIE ^ v as u64);
        let ties = sums.iter().filter(|&(_, &w)| w >= most * NEARLY).map(|(&label, _)| label);
        ties.max_by_key(|&label| (hash.of(u64::from(label), u64::from(sweep)), !label))
    }

    /// Connected pieces, largest first, then by smallest node.
    pub(super) fn finish(&self, labels: &[u32]) -> Vec<u32> {
        let n = labels.len();
        let mut near = vec![Vec::new(); n];
        for (v, arcs) in self.arcs.iter().enumerate() {
            for &(u, _) in arcs.iter().filter(|&&(u, _)| labels[u as usize] == labels[v]) {
                near[v].push(u as usize);
                near[u as usize].push(v);
            }
        }
        let mut piece = vec![usize::MAX; n];
        let mut pieces: Vec<Vec<usize>> = Vec::new();
        for v in 0..n {
            let mut open = if piece[v] == usize::MAX { vec![v] } else { continue };
            pieces.push(Vec::new());
            while let Some(u) = open.pop() {
                if piece[u] == usize::MAX {
                    piece[u] = pieces.len() - 1;
                    pieces[piece[u]].push(u);
                    open.extend(&near[u]);
                }
            }
        }
        pieces.sort_by_key(|nodes| (usize::MAX - nodes.len(), nodes.iter().min().copied()));
        let mut numbers = vec![0; n];
        for (number, nodes) in pieces.iter().enumerate() {
            nodes.iter().for_each(|&v| numbers[v] = number as u32);
        }
        numbers
    }
}
