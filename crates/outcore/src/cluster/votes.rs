//! Votes for labels: what label propagation asks of a neighbor beyond its label and its weight.
//!
//! An attenuated label loses strength on its way: a node that begins with a label is 0 hops away from
//! where it began; one that takes it is one hop more than the nearest neighbor from which it comes. The
//! neighbor's vote is its weight times a factor of the hops, rounded as weights are. Hops are counted up to 255 in
//! one byte a node; the factors of all 256 are a table, so a vote costs one more random access.
//!
//! Votes of some hops make no potential that rises with every move, so nothing but a limit ends the
//! sweeps: from a late one on, a node that has moved often enough stays. [`Rules`] holds these limits.

use super::bits::Bits;
use super::label_propagation::NEARLY;
use super::objective::{Choice, Objective, Visit};
use super::propose::BATCH_ARCS;
use super::sweep::{FREEZE_CHANGES, FREEZE_SWEEP, Nodes};
use crate::weight::Weight;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// How many different numbers of hops there are.
const HOPS: usize = 256;

/// Who may move, and how far labels have come.
#[derive(Default)]
pub(super) struct Rules<'a> {
    /// Nodes that never move.
    pub(super) held: Option<&'a Bits>,
    /// How often each node has been looked at; empty if that does not matter.
    pub(super) visits: Vec<u16>,
    pub(super) most_visits: u16,
    /// How often each node has moved, in undirected graphs; empty if that does not matter.
    pub(super) moves: Vec<u8>,
    /// How far each node is from where its label began; empty if that does not matter.
    pub(super) hops: &'a [AtomicU8],
}

impl Rules<'_> {
    /// Whether every active node may move.
    pub(super) fn is_free(&self) -> bool {
        self.held.is_none() && self.visits.is_empty() && self.moves.is_empty()
    }

    /// Whether an active node may be looked at in this sweep, which counts as a visit.
    pub(super) fn admits(&mut self, node: usize, sweep: u32) -> bool {
        if self.held.is_some_and(|held| held.get(node)) {
            return false;
        }
        if sweep >= FREEZE_SWEEP && self.moves.get(node).is_some_and(|&n| n >= FREEZE_CHANGES) {
            return false;
        }
        match self.visits.get_mut(node) {
            Some(visits) if *visits >= self.most_visits => false,
            Some(visits) => {
                *visits += 1;
                true
            }
            None => true,
        }
    }

    /// Learns that a node has moved.
    pub(super) fn moved(&mut self, node: usize, choice: &Choice) {
        if let Some(moves) = self.moves.get_mut(node) {
            *moves = moves.saturating_add(1);
        }
        if let Some(hops) = self.hops.get(node) {
            hops.store(choice.hops, Relaxed);
        }
    }
}

/// The objective of label propagation with more conditions than the plain one.
pub(super) struct Votes<const ATTENUATES: bool> {
    /// A label is good only with votes of at least this sum.
    pub(super) cutoff: f64,
    /// What a vote counts by its hops; empty if they do not matter.
    pub(super) factors: Vec<f64>,
}

impl<const ATTENUATES: bool> Votes<ATTENUATES> {
    pub(super) fn new(cutoff: f64) -> Self {
        let factors = if ATTENUATES { vec![1.0; HOPS] } else { Vec::new() };
        // Sums are compared up to rounding.
        Self { cutoff: cutoff * NEARLY, factors }
    }
}

impl Votes<true> {
    /// Sets the factor of every number of hops.
    pub(super) fn set_factors(&mut self, factor: impl Fn(f64) -> f64) {
        for (hops, value) in self.factors.iter_mut().enumerate() {
            *value = factor(hops as f64).clamp(0.0, 1.0);
        }
    }
}

impl<const ATTENUATES: bool> Objective for Votes<ATTENUATES> {
    const WEIGHS_NODES: bool = false;
    const ATTENUATES: bool = ATTENUATES;
    type Leaving = ();

    #[inline]
    fn mass(&self, _count: u32, _strength: f64) -> f64 {
        0.0
    }
    #[inline]
    fn leaving(&self, _visit: &Visit) {}
    #[inline]
    fn rate(&self, _visit: &Visit, (): &(), _label: u32, weight: f64) -> f64 {
        if weight >= self.cutoff { weight } else { f64::NEG_INFINITY }
    }
    #[inline]
    fn least_equal(&self, _visit: &Visit, rate: f64) -> f64 {
        rate * NEARLY
    }
    #[inline]
    fn improves(&self, visit: &Visit, rate: f64) -> bool {
        visit.own < rate * NEARLY
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

/// Arcs as votes: neighbors whose vote counts, with the weight code of the vote.
#[derive(Default)]
pub(super) struct Ballot {
    targets: Vec<u32>,
    codes: Vec<u32>,
}

impl Ballot {
    /// Memory for a segment of arcs, and for the hops of a worker's neighbors.
    pub(super) const fn bytes(segment_arcs: u64) -> u64 {
        2 * 8 * segment_arcs + 2 * (segment_arcs + 2 * BATCH_ARCS as u64)
    }
}

impl<O: Objective, L: ?Sized> Nodes<'_, O, L> {
    /// The arcs of a segment as votes; the arcs themselves if nothing is attenuated.
    #[inline]
    pub(super) fn votes<'v>(
        &self,
        targets: &'v [u32],
        codes: &'v [u32],
        ballot: &'v mut Ballot,
    ) -> (&'v [u32], &'v [u32]) {
        if !O::ATTENUATES {
            return (targets, codes);
        }
        ballot.targets.clear();
        ballot.codes.clear();
        for (at, &target) in targets.iter().enumerate() {
            let factor = self.objective.factor(self.hops(target));
            if factor > 0.0 {
                let weight = codes.get(at).map_or(1.0, |&code| Weight::from_code(code).value());
                ballot.targets.push(target);
                ballot.codes.push(Weight::new((weight * factor).max(f64::from_bits(1))).code());
            }
        }
        (&ballot.targets, &ballot.codes)
    }

    /// How far a node is from where its label began.
    #[inline]
    pub(super) fn hops(&self, node: u32) -> u8 {
        self.rules.hops[node as usize].load(Relaxed)
    }
}
