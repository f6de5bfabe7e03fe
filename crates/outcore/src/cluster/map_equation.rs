//! The map equation: bits that it takes to describe one step of a random walk, when communities have
//! names of their own (Rosvall and Bergstrom, "Maps of random walks on complex networks reveal
//! community structure", 2008).
//!
//! With p the share of the strength in a community, q the share of its arcs that leave it, and Q the sum
//! of all q, the code length is plogp(Q) - 2 sum plogp(q) + sum plogp(q + p) - sum over nodes plogp(p).
//! A label is worth to a node by how much it shortens the code. Memory: 16 bytes a community.

use super::logarithm::plogp;
use super::objective::{Objective, Sums, Visit};
use crate::weight::RELATIVE_TOLERANCE;

/// What a community adds to the code.
#[derive(Debug, Clone, Copy, Default)]
struct Module {
    /// Strength of its nodes.
    mass: f64,
    /// Weight of the arcs that leave it.
    cut: f64,
}

/// Strengths and cuts of all communities.
pub(super) struct CodeLength {
    modules: Vec<Module>,
    /// Sum of all cuts.
    cut: f64,
    total_strength: f64,
    /// 1 / total strength.
    unit: f64,
}

/// How much shorter the code gets without the node, the change of the number of exits aside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaving {
    gain: f64,
    /// plogp(Q) now.
    index: f64,
}

impl CodeLength {
    /// The part of the code length that a community makes: plogp(q + p) - 2 plogp(q).
    #[inline]
    fn length(&self, mass: f64, cut: f64) -> f64 {
        let (p, q) = (mass * self.unit, cut * self.unit);
        plogp(q + p) - 2.0 * plogp(q)
    }
}

impl Objective for CodeLength {
    const WEIGHS_NODES: bool = true;
    type Leaving = Leaving;

    #[inline]
    fn mass(&self, _count: u32, strength: f64) -> f64 {
        strength
    }

    #[inline]
    fn leaving(&self, visit: &Visit) -> Leaving {
        let Module { mass, cut } = self.modules[visit.present as usize];
        let before = self.length(mass, cut);
        let after = self.length(mass - visit.mass, cut - visit.arcs + 2.0 * visit.own);
        Leaving { gain: before - after, index: plogp(self.cut * self.unit) }
    }

    #[inline]
    fn rate(&self, visit: &Visit, leaving: &Leaving, label: u32, weight: f64) -> f64 {
        let Module { mass, cut } = self.modules[label as usize];
        let before = self.length(mass, cut);
        let after = self.length(mass + visit.mass, cut + visit.arcs - 2.0 * weight);
        let index = plogp((self.cut + 2.0 * (visit.own - weight)) * self.unit);
        leaving.gain + (before - after) + (leaving.index - index)
    }

    #[inline]
    fn least_equal(&self, visit: &Visit, rate: f64) -> f64 {
        rate - visit.mass * self.unit * RELATIVE_TOLERANCE
    }

    #[inline]
    fn improves(&self, visit: &Visit, rate: f64) -> bool {
        rate > visit.mass * self.unit * RELATIVE_TOLERANCE
    }

    #[inline]
    fn moved(&mut self, visit: &Visit, label: u32, weight: f64) {
        let from = &mut self.modules[visit.present as usize];
        from.mass -= visit.mass;
        from.cut += 2.0 * visit.own - visit.arcs;
        let to = &mut self.modules[label as usize];
        to.mass += visit.mass;
        to.cut += visit.arcs - 2.0 * weight;
        self.cut += 2.0 * (visit.own - weight);
    }
}

impl Sums for CodeLength {
    type Rule = ();
    const COMMUNITY_BYTES: u64 = 16;
    const COUNTS_CUTS: bool = true;

    fn asks_for_counts((): ()) -> bool {
        false
    }

    fn empty((): (), capacity: usize) -> Self {
        let modules = Vec::with_capacity(capacity);
        Self { modules, cut: 0.0, total_strength: 0.0, unit: 0.0 }
    }

    fn add(&mut self, label: u32, _count: u32, strength: f64, cut: f64) {
        let label = label as usize;
        if label >= self.modules.len() {
            self.modules.resize(label + 1, Module::default());
        }
        self.modules[label].mass += strength;
        self.modules[label].cut += cut;
        self.total_strength += strength;
        self.cut += cut;
    }

    fn complete(&mut self) {
        self.modules.shrink_to_fit();
        self.unit = if self.total_strength > 0.0 { 1.0 / self.total_strength } else { 0.0 };
    }
}
