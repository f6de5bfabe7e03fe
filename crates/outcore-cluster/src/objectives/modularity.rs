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
//! Where nodes have two strengths a and b, and a_i b_j + b_i a_j is expected between two nodes, the mass s is the sum of
//! both, and their difference is the drift d: 2 (a_i b_j + b_i a_j) = s_i s_j - d_i d_j. With the weights of arcs that
//! leave and enter a node, that is the modularity of directed networks (Leicht and Newman, "Community structure in
//! directed networks", 2008) on the graph with the weight of both directions in each edge; with d = s for nodes of one
//! kind and -s for those of the other, that of networks of two modes (Barber, "Modularity and community detection in
//! bipartite networks", 2007). Memory: 16 bytes per community.
//!
//! By the constant Potts model, a node may leave its community wherever a label is free, which node counts show, also
//! after a contraction and from given communities; small levels are contracted as long as any node moves. Graphs with a
//! dense core need this: without it, wiki-vote reached 0.946 to 0.97 of leidenalg's objective, and a core of 400 nodes
//! among 3,600 others could end as 400 stars (0.13 of it). There, a start from one community at a resolution that rises
//! in four steps finds the core, since the nodes with the fewest neighbors leave first. Modularity did not need it.

use crate::kernel::holdings::{Carries, Drift, Holding, NoFlow, NodeFlow};
use crate::kernel::objective::{Objective, Revert, Sums, Visit};
use outcore_graph::weight::RELATIVE_TOLERANCE;
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::{prefetch, reserve_large_pages};
use std::cmp::max;

/// Null model: mass of a node, and its parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Null {
    /// Modularity: the mass is the strength; holds the resolution.
    Strength(f64),
    /// Constant Potts model: the mass is the number of nodes; holds resolution x mean weight of an arc.
    Count(f64),
}

/// Weight inside communities beyond a null model of one mass a node.
pub type Density = DensityOf<NoFlow>;
/// Modularity with a null model of two strengths a node, whose difference is its drift.
pub type DriftDensity = DensityOf<Drift>;

/// Masses of all communities.
pub struct DensityOf<F> {
    null: Null,
    masses: Vec<f64>,
    /// Drifts of all communities, if the null model has them.
    flows: Vec<F>,
    total_strength: f64,
    factor: f64,
    /// Labels for nodes that will be alone, if that is an option. Those that lose their last node join them only by
    /// counts, which are exact; strengths are not.
    free: Option<Vec<u32>>,
}

impl<F: Carries> DensityOf<F> {
    /// Returns the drift of a community; zero if the null model has none.
    #[inline]
    fn drift(&self, label: u32) -> f64 {
        match F::HAS_DRIFT {
            true => self.flows.get(label as usize).map_or(0.0, |flow| flow.flow().drift),
            false => 0.0,
        }
    }

    /// Returns the weight expected between a node and a community of other nodes.
    #[inline]
    fn expected(&self, visit: &Visit<F>, mass: f64, drift: f64) -> f64 {
        match F::HAS_DRIFT {
            true => self.factor * (visit.mass * mass - visit.flow.flow().drift * drift),
            false => self.factor * visit.mass * mass,
        }
    }
}

impl<F: Carries> Objective for DensityOf<F> {
    const WEIGHS_NODES: bool = true;
    /// Worth of the present label.
    type Leaving = f64;
    type Flow = F;

    #[inline]
    fn mass(&self, held: Holding, strength: f64) -> f64 {
        match self.null {
            Null::Strength(_) => strength,
            Null::Count(_) => f64::from(held.count),
        }
    }

    #[inline]
    fn leaving(&self, visit: &Visit<F>) -> f64 {
        let rest = self.masses[visit.present as usize] - visit.mass;
        let drift = visit.flow.flow().drift;
        visit.own - self.expected(visit, rest, self.drift(visit.present) - drift)
    }

    #[inline]
    fn prefetch(&self, label: u32) {
        prefetch(&self.masses, label as usize);
        if F::HAS_DRIFT {
            prefetch(&self.flows, label as usize);
        }
    }

    #[inline]
    fn rate(&self, visit: &Visit<F>, stay: &f64, label: u32, weight: f64) -> f64 {
        let mass = self.masses.get(label as usize).copied().unwrap_or(0.0);
        weight - self.expected(visit, mass, self.drift(label)) - stay
    }

    /// Rates a community without mass. Drifts are at most masses, so nothing less can be expected.
    #[inline]
    fn best_rate(&self, _visit: &Visit<F>, stay: &f64, _ceiling: f64, weight: f64) -> f64 {
        weight - stay
    }

    /// Always an option in the constant Potts model, where a node can be worse off in a community than alone;
    /// modularity leaves few such nodes, which leave at the end.
    #[inline]
    fn alone(&self, _visit: &Visit<F>, stay: &f64) -> f64 {
        if self.free.is_some() { -stay } else { f64::NEG_INFINITY }
    }

    fn free_label(&mut self) -> Option<u32> {
        while let Some(label) = self.free.as_mut()?.pop() {
            // Another node may have taken the label since.
            if self.masses[label as usize] == 0.0 {
                return Some(label);
            }
        }
        None
    }

    #[inline]
    fn least_equal(&self, visit: &Visit<F>, rate: f64) -> f64 {
        rate - visit.arcs * RELATIVE_TOLERANCE
    }

    #[inline]
    fn improves(&self, visit: &Visit<F>, rate: f64) -> bool {
        rate > visit.arcs * RELATIVE_TOLERANCE
    }

    #[inline]
    fn moved(&mut self, visit: &Visit<F>, label: u32, _weight: f64) {
        let left = &mut self.masses[visit.present as usize];
        *left -= visit.mass;
        if let (Null::Count(_), Some(free)) = (self.null, &mut self.free)
            && *left == 0.0
        {
            free.push(visit.present);
        }
        self.masses[label as usize] += visit.mass;
        if F::HAS_DRIFT {
            self.flows[visit.present as usize] -= visit.flow;
            self.flows[label as usize] += visit.flow;
        }
    }
}

impl<F: Carries> Sums for DensityOf<F> {
    type Rule = Null;
    const COMMUNITY_BYTES: u64 = 8 + size_of::<F>() as u64;
    const COUNTS_CUTS: bool = false;

    fn asks_for_counts(null: Null) -> bool {
        matches!(null, Null::Count(_))
    }

    fn empty(null: Null, capacity: usize) -> Self {
        Self {
            null,
            masses: reserve_large_pages(capacity),
            flows: reserve_large_pages(if F::HAS_DRIFT { capacity } else { 0 }),
            total_strength: 0.0,
            factor: 0.0,
            free: matches!(null, Null::Count(_)).then(Vec::new),
        }
    }

    fn add(&mut self, label: u32, held: Holding, strength: f64, _cut: f64) {
        let label = label as usize;
        if label >= self.masses.len() {
            self.masses.resize(label + 1, 0.0);
        }
        self.masses[label] += self.mass(held, strength);
        if F::HAS_DRIFT {
            self.flows.resize(self.masses.len(), F::default());
            self.flows[label] += F::of(held.flow);
        }
        self.total_strength += strength;
    }

    fn complete(&mut self) {
        self.masses.shrink_to_fit();
        self.flows.shrink_to_fit();
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
            let mass = |label: u32| self.masses.get(label as usize).copied().unwrap_or(0.0);
            let unused = (0..count as u32).rev().filter(|&label| mass(label) == 0.0);
            self.offer(unused.collect());
        }
    }

    fn offer(&mut self, unused: Vec<u32>) {
        let bound = unused.iter().map(|&label| label as usize + 1).fold(self.masses.len(), max);
        self.masses.resize(bound, 0.0);
        // Rounding may have left something of the nodes before.
        unused.iter().for_each(|&label| self.masses[label as usize] = 0.0);
        if F::HAS_DRIFT {
            self.flows.resize(bound, F::default());
            unused.iter().for_each(|&label| self.flows[label as usize] = F::default());
        }
        self.free = Some(unused);
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
        let drifts = self.flows.iter().map(|flow| flow.flow().drift.powi(2)).sum::<f64>();
        let squares = if F::HAS_DRIFT { squares - drifts } else { squares };
        (inside - self.factor * squares) / self.total_strength.max(f64::MIN_POSITIVE)
    }

    fn save(&self, to: &mut StateWriter) -> Result<()> {
        to.array([self.total_strength, self.factor].into_iter())?;
        to.array(self.masses.iter().copied())?;
        if F::HAS_DRIFT {
            to.array(self.flows.iter().map(|flow| flow.flow().drift))?;
        }
        to.array(self.free.as_deref().unwrap_or_default().iter().copied())
    }

    fn load(null: Null, from: &mut StateReader) -> Result<Self> {
        let [total_strength, factor] = from.few::<f64, 2>()?;
        let masses = from.numbers::<f64>()?;
        let mut flows = vec![F::default(); if F::HAS_DRIFT { masses.len() } else { 0 }];
        if F::HAS_DRIFT {
            let set = |to: &mut F, drift| *to = F::of(NodeFlow { drift, teleport: 0.0 });
            from.fill(&mut flows, set)?;
        }
        let free = from.numbers::<u32>()?;
        if free.iter().any(|&label| label as usize >= masses.len()) {
            return Err(from.damaged());
        }
        let free = matches!(null, Null::Count(_)).then_some(free);
        Ok(Self { null, masses, flows, total_strength, factor, free })
    }
}

impl Revert for Density {
    fn revert(&mut self, before: &Self, label: u32) {
        self.masses[label as usize] = before.masses[label as usize];
    }
}
