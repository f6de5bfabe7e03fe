//! Modularity and the constant Potts model: the weight inside communities, minus the weight that a null
//! model expects there.
//!
//! The rate of a label is the weight of the node's arcs to it, minus `factor` x the node's mass x the mass of the
//! community without the node. In modularity (Reichardt and Bornholdt, "Statistical mechanics of community detection",
//! 2006) the mass is the strength and the factor is resolution / total strength. In the constant Potts model (Traag,
//! Van Dooren and Nesterov, "Narrow scope for resolution-limit-free community detection", 2011) the mass is the number
//! of nodes and the factor is the resolution x the mean weight of an arc. Memory: 8 bytes per community, and 4 per
//! empty one.
//!
//! In the constant Potts model, a node may leave its community wherever a label is free, which node counts show, also
//! after a contraction and from given communities; small levels are contracted as long as any node moves. Graphs with a
//! dense core need this: without it, wiki-vote reached 0.946 to 0.97 of leidenalg's objective, and a core of 400 nodes
//! among 3,600 others could end as 400 stars (0.13 of it). There, a start from one community at a resolution that rises
//! in four steps finds the core, since the nodes with the fewest neighbors leave first. Modularity did not need it.

use crate::kernel::objective::{Objective, Revert, Sums, Visit};
use outcore_graph::weight::RELATIVE_TOLERANCE;
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::{prefetch, reserve_large_pages};

/// Null model: mass of a node, and its parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Null {
    /// Modularity: the mass is the strength; holds the resolution.
    Strength(f64),
    /// Constant Potts model: the mass is the number of nodes; holds resolution x mean weight of an arc.
    Count(f64),
}

/// Masses of all communities.
pub struct Density {
    null: Null,
    masses: Vec<f64>,
    total_strength: f64,
    factor: f64,
    /// Labels that have lost their last node. Only for counts, which are exact; strengths are not.
    free: Vec<u32>,
}

impl Objective for Density {
    const WEIGHS_NODES: bool = true;
    /// Worth of the present label.
    type Leaving = f64;

    #[inline]
    fn mass(&self, count: u32, strength: f64) -> f64 {
        match self.null {
            Null::Strength(_) => strength,
            Null::Count(_) => f64::from(count),
        }
    }

    #[inline]
    fn leaving(&self, visit: &Visit) -> f64 {
        let rest = self.masses[visit.present as usize] - visit.mass;
        visit.own - self.factor * visit.mass * rest
    }

    #[inline]
    fn prefetch(&self, label: u32) {
        prefetch(&self.masses, label as usize);
    }

    #[inline]
    fn rate(&self, visit: &Visit, stay: &f64, label: u32, weight: f64) -> f64 {
        let mass = self.masses.get(label as usize).copied().unwrap_or(0.0);
        weight - self.factor * visit.mass * mass - stay
    }

    /// Rates a community without mass.
    #[inline]
    fn best_rate(&self, _visit: &Visit, stay: &f64, _ceiling: f64, weight: f64) -> f64 {
        weight - stay
    }

    /// An option only in the constant Potts model, where a node can be worse off in a community than alone;
    /// modularity leaves few such nodes.
    #[inline]
    fn alone(&self, _visit: &Visit, stay: &f64) -> f64 {
        if matches!(self.null, Null::Count(_)) { -stay } else { f64::NEG_INFINITY }
    }

    fn free_label(&mut self) -> Option<u32> {
        while let Some(label) = self.free.pop() {
            // Another node may have taken the label since.
            if self.masses[label as usize] == 0.0 {
                return Some(label);
            }
        }
        None
    }

    #[inline]
    fn least_equal(&self, visit: &Visit, rate: f64) -> f64 {
        rate - visit.arcs * RELATIVE_TOLERANCE
    }

    #[inline]
    fn improves(&self, visit: &Visit, rate: f64) -> bool {
        rate > visit.arcs * RELATIVE_TOLERANCE
    }

    #[inline]
    fn moved(&mut self, visit: &Visit, label: u32, _weight: f64) {
        let left = &mut self.masses[visit.present as usize];
        *left -= visit.mass;
        if *left == 0.0 && matches!(self.null, Null::Count(_)) {
            self.free.push(visit.present);
        }
        self.masses[label as usize] += visit.mass;
    }
}

impl Sums for Density {
    type Rule = Null;
    const COMMUNITY_BYTES: u64 = 8;
    const COUNTS_CUTS: bool = false;

    fn asks_for_counts(null: Null) -> bool {
        matches!(null, Null::Count(_))
    }

    fn empty(null: Null, capacity: usize) -> Self {
        Self {
            null,
            masses: reserve_large_pages(capacity),
            total_strength: 0.0,
            factor: 0.0,
            free: Vec::new(),
        }
    }

    fn add(&mut self, label: u32, count: u32, strength: f64, _cut: f64) {
        let label = label as usize;
        if label >= self.masses.len() {
            self.masses.resize(label + 1, 0.0);
        }
        self.masses[label] += self.mass(count, strength);
        self.total_strength += strength;
    }

    fn complete(&mut self) {
        self.masses.shrink_to_fit();
        self.factor = match self.null {
            Null::Strength(resolution) if self.total_strength > 0.0 => {
                resolution / self.total_strength
            }
            Null::Strength(_) => 0.0,
            Null::Count(factor) => factor,
        };
    }

    fn free_below(&mut self, count: usize) {
        if matches!(self.null, Null::Count(_)) {
            self.masses.resize(count.max(self.masses.len()), 0.0);
            let unused = (0..count as u32).rev().filter(|&l| self.masses[l as usize] == 0.0);
            self.free = unused.collect();
        }
    }

    fn strength(&self) -> f64 {
        self.total_strength
    }

    fn label_bound(&self) -> usize {
        self.masses.len()
    }

    fn mass_of(&self, label: u32) -> f64 {
        self.masses[label as usize]
    }

    fn quality(&self, inside: f64) -> f64 {
        let squares: f64 = self.masses.iter().map(|mass| mass * mass).sum();
        (inside - self.factor * squares) / self.total_strength.max(f64::MIN_POSITIVE)
    }

    fn save(&self, to: &mut StateWriter) -> Result<()> {
        to.array([self.total_strength, self.factor].into_iter())?;
        to.array(self.masses.iter().copied())?;
        to.array(self.free.iter().copied())
    }

    fn load(null: Null, from: &mut StateReader) -> Result<Self> {
        let [total_strength, factor] = from.few::<f64, 2>()?;
        let (masses, free) = (from.numbers::<f64>()?, from.numbers::<u32>()?);
        if free.iter().any(|&label| label as usize >= masses.len()) {
            return Err(from.damaged());
        }
        Ok(Self { null, masses, total_strength, factor, free })
    }
}

impl Revert for Density {
    fn revert(&mut self, before: &Self, label: u32) {
        self.masses[label as usize] = before.masses[label as usize];
    }
}
