//! Objective of label propagation: the weight of the edges inside communities.
//!
//! A node takes the label with the largest weight among its neighbors (Raghavan, Albert and Kumara,
//! "Near linear time algorithm to detect community structures in large-scale networks", 2007).
//!
//! In the first sweeps, a node draws among all its labels of that weight, the present one too, as in the paper. Without
//! weights many labels are equal, and nodes that keep theirs end in thousands of small communities: on 166 groups of 20 to
//! 1000 nodes of degree 10, with three tenths of the edges to any node, the normalized mutual information with the groups
//! is 0.73 without draws, and 0.99 with them. In a simulation with half of the edges to any node, 16 such sweeps ended in
//! one community, 8 did not. Nodes that start from given labels keep what is equal.

use crate::kernel::holdings::{Holding, NoFlow};
use crate::kernel::objective::{Objective, Visit};
use outcore_graph::weight::RELATIVE_TOLERANCE;

/// Factor for comparisons: a sum that is below the largest only by rounding counts as the largest.
pub(crate) const NEARLY: f64 = 1.0 - RELATIVE_TOLERANCE;

/// Number of different hop counts.
const HOPS: usize = 256;

/// Number of the last sweep in which nodes draw among equal labels.
pub const DRAWN_SWEEPS: u32 = 8;

/// Weight inside communities, by votes of neighbors; needs no data about communities.
pub struct Votes<const ATTENUATES: bool> {
    /// Whether nodes draw among equal labels.
    draws: bool,
    /// Minimum sum of votes for a label.
    cutoff: f64,
    /// Factor of a vote by its hops; empty without attenuation.
    factors: Vec<f64>,
}

impl<const ATTENUATES: bool> Votes<ATTENUATES> {
    /// Creates the objective; labels with fewer votes than `cutoff` do not count.
    pub fn new(cutoff: f64) -> Self {
        let factors = if ATTENUATES { vec![1.0; HOPS] } else { Vec::new() };
        // Sums are compared up to rounding.
        Self { draws: false, cutoff: cutoff * NEARLY, factors }
    }

    /// Lets nodes draw among equal labels or, from now on, keep theirs.
    pub fn set_draws(&mut self, draws: bool) {
        self.draws = draws;
    }
}

impl Votes<true> {
    /// Sets the factor of each hop count.
    pub fn set_factors(&mut self, factor: impl Fn(f64) -> f64) {
        for (hops, value) in self.factors.iter_mut().enumerate() {
            *value = factor(hops as f64).clamp(0.0, 1.0);
        }
    }
}

impl<const ATTENUATES: bool> Objective for Votes<ATTENUATES> {
    const WEIGHS_NODES: bool = false;
    const ATTENUATES: bool = ATTENUATES;
    /// Attenuated votes are fractions of a weight, even if all weights are 1.
    const COUNTS_ARCS: bool = !ATTENUATES;
    type Leaving = ();
    type Flow = NoFlow;

    #[inline]
    fn mass(&self, _held: Holding, _strength: f64) -> f64 {
        0.0
    }
    #[inline]
    fn leaving(&self, _visit: &Visit) {}
    #[inline]
    fn rate(&self, _visit: &Visit, _leaving: &(), _label: u32, weight: f64) -> f64 {
        if weight >= self.cutoff { weight } else { f64::NEG_INFINITY }
    }
    #[inline]
    fn least_equal(&self, _visit: &Visit, rate: f64) -> f64 {
        rate * NEARLY
    }
    #[inline]
    fn improves(&self, visit: &Visit, rate: f64) -> bool {
        match self.draws {
            true => rate > 0.0 && visit.own * NEARLY * NEARLY <= rate,
            false => visit.own < rate * NEARLY,
        }
    }
    #[inline]
    fn draws(&self) -> bool {
        self.draws
    }
    #[inline]
    fn moved(&mut self, _visit: &Visit, _label: u32, _weight: f64) {}
    #[inline]
    fn prefetch(&self, _label: u32) {}
    #[inline]
    fn factor(&self, hops: u8) -> f64 {
        self.factors[usize::from(hops)]
    }
}
