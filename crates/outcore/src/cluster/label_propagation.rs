//! The objective of label propagation: the weight of the edges inside communities.
//!
//! A node takes the label with the most weight among its neighbors (Raghavan, Albert and Kumara,
//! "Near linear time algorithm to detect community structures in large-scale networks", 2007). What
//! decides the quality is what happens between equally good labels: the node keeps its own if that
//! is one of them, else takes the one with the largest hash *of this node*. An order of labels that
//! is the same for all nodes would flood the graph with one label.
//!
//! Weights are rounded, so sums that differ by less than [`RELATIVE_TOLERANCE`] are equal. A node
//! leaves its label only for a sum that is larger by more than that; so every move raises the
//! objective, and the sweeps end.
//!
//! [`RELATIVE_TOLERANCE`]: crate::weight::RELATIVE_TOLERANCE

use super::hash::{Hash, TIE};
use super::table::{LabelTable, Sum};
use crate::weight::RELATIVE_TOLERANCE;

/// What is below the largest sum by less than rounding counts as the largest.
const NEARLY: f64 = 1.0 - RELATIVE_TOLERANCE;

/// A label that a node would take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    pub(super) label: u32,
    /// Weight of the arcs to the node's present label.
    pub(super) own: f64,
    /// Weight of the arcs to the new one.
    pub(super) other: f64,
}

/// Whether a move from a label with the sum `own` to one with `other` raises the objective.
#[inline]
pub(super) fn improves(own: f64, other: f64) -> bool {
    own < other * NEARLY
}

/// The order of equally good labels for one node in one sweep.
#[derive(Debug, Clone, Copy)]
pub(super) struct TieOrder {
    hash: Hash,
    sweep: u64,
}

impl TieOrder {
    #[inline]
    pub(super) fn new(seed: u64, node: u32, sweep: u32) -> Self {
        Self { hash: Hash::new(seed ^ TIE ^ u64::from(node)), sweep: u64::from(sweep) }
    }

    /// The label with the larger key is taken: the larger hash, then the smaller label.
    #[inline]
    fn key(self, label: u32) -> (u64, u32) {
        (self.hash.of(u64::from(label), self.sweep), !label)
    }
}

/// The best label, found from all sums at once or from one share of the labels after the other:
/// first [`survey`](Self::survey) every share, then, if [`leaves`](Self::leaves), let it
/// [`pick`](Self::pick) from every share.
pub(super) struct Election {
    present: u32,
    own: f64,
    largest: f64,
    best: Option<(u32, f64)>,
}

impl Election {
    /// For a node whose label is `present`.
    #[inline]
    pub(super) fn new(present: u32) -> Self {
        Self { present, own: 0.0, largest: 0.0, best: None }
    }

    /// Learns the largest sum and the sum of the present label.
    #[inline]
    pub(super) fn survey<S: Sum>(&mut self, table: &LabelTable<S>) {
        self.own += table.get(self.present).value();
        for (_, sum) in table.iter() {
            self.largest = self.largest.max(sum.value());
        }
    }

    /// Whether the node leaves its label: even the least of the equally good labels is better.
    #[inline]
    pub(super) fn leaves(&self) -> bool {
        improves(self.own, self.largest * NEARLY)
    }

    /// Takes the best of the equally good labels.
    #[inline]
    pub(super) fn pick<S: Sum>(&mut self, table: &LabelTable<S>, order: TieOrder) {
        let least = self.largest * NEARLY;
        for (label, sum) in table.iter() {
            let sum = sum.value();
            if sum < least {
                continue;
            }
            match self.best {
                Some((best, _)) if order.key(best) >= order.key(label) => {}
                _ => self.best = Some((label, sum)),
            }
        }
    }

    /// The outcome.
    #[inline]
    pub(super) fn choice(&self) -> Option<Choice> {
        self.best.map(|(label, other)| Choice { label, own: self.own, other })
    }
}
