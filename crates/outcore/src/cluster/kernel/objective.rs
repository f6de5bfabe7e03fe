//! What the sweeps improve, and how a node elects the best label.
//!
//! An [`Objective`] rates the labels around a node; the [`Election`] among them is the same for all.
//! What decides the quality is what happens between equally good labels: the node keeps its own if
//! that is one of them, else takes the one with the largest hash *of this node*. An order of labels
//! that is the same for all nodes would flood the graph with one label.
//!
//! Weights are rounded, so rates that differ by less than [`RELATIVE_TOLERANCE`] are equal. A node
//! leaves its label only for a better one by more than that; so every move raises the objective, and
//! the sweeps end.
//!
//! [`RELATIVE_TOLERANCE`]: crate::weight::RELATIVE_TOLERANCE

use crate::checkpoint::{StateReader, StateWriter};
use crate::cluster::base::hash::{Hash, TIE};
use crate::cluster::base::table::{LabelTable, Sum};
use crate::error::Result;
use crate::io::prefetch;

/// Stands for a label that no node has yet. No label of a node, and not what marks empty slots.
pub const ALONE: u32 = u32::MAX - 1;

/// A node about to choose.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Visit {
    /// Its label.
    pub present: u32,
    /// How many nodes of the input it stands for.
    pub count: u32,
    /// Weight of its arcs to others of this label.
    pub own: f64,
    /// Weight of all its arcs, loops not counted. Zero where the objective does not ask for it.
    pub arcs: f64,
    /// What it adds to the mass of its community.
    pub mass: f64,
}

/// What the sweeps improve.
pub trait Objective: Sync {
    /// Whether it asks for [`Visit::arcs`] and [`Visit::mass`].
    const WEIGHS_NODES: bool;
    /// Whether votes lose by the hops of their label.
    const ATTENUATES: bool = false;
    /// Whether it looks up something for each label, which [`prefetch`](Self::prefetch) asks for.
    const LOOKS_UP_LABELS: bool = Self::WEIGHS_NODES;
    /// What leaving its label means for a node, whatever the new one.
    type Leaving: Copy;

    /// What a node adds to the mass of a community: one of this strength that stands for `count` nodes.
    fn mass(&self, count: u32, strength: f64) -> f64;
    /// Prepares [`rate`](Self::rate).
    fn leaving(&self, visit: &Visit) -> Self::Leaving;
    /// Asks the memory for what `rate` needs to know of a label.
    fn prefetch(&self, label: u32);
    /// How good `label` would be, to which arcs of the sum `weight` lead.
    fn rate(&self, visit: &Visit, leaving: &Self::Leaving, label: u32, weight: f64) -> f64;
    /// How good it would be to be alone, if that is a choice.
    #[inline]
    fn alone(&self, _visit: &Visit, _leaving: &Self::Leaving) -> f64 {
        f64::NEG_INFINITY
    }
    /// A label that no node has, for one that will be alone.
    fn free_label(&mut self) -> Option<u32> {
        None
    }
    /// The least rate that differs from `rate` by no more than rounding.
    fn least_equal(&self, visit: &Visit, rate: f64) -> f64;
    /// Whether a label of this rate is better than the present one, by more than rounding.
    fn improves(&self, visit: &Visit, rate: f64) -> bool;
    /// Learns that a node has moved; `weight` of its arcs lead to `label`.
    fn moved(&mut self, visit: &Visit, label: u32, weight: f64);
    /// What a vote counts whose label has come so many hops.
    fn factor(&self, _hops: u8) -> f64 {
        1.0
    }
}

/// An objective with sums over the communities that the moves go on from.
pub trait Sums: Objective + Sized {
    /// What it is made by.
    type Rule: Copy;
    /// Memory of a community.
    const COMMUNITY_BYTES: u64;
    /// Whether cuts are asked for.
    const COUNTS_CUTS: bool;

    /// Whether it is asked how many nodes a node stands for.
    fn asks_for_counts(rule: Self::Rule) -> bool;
    /// The most nodes of the input that a community may have, if there is a limit.
    fn most(_rule: Self::Rule) -> Option<u32> {
        None
    }
    /// Without communities, with room for some.
    fn empty(rule: Self::Rule, capacity: usize) -> Self;
    /// Adds a node to a community: one that stands for `count` nodes, and changes the weight of the arcs
    /// that leave communities by `cut`.
    fn add(&mut self, label: u32, count: u32, strength: f64, cut: f64);
    /// Ends adding.
    fn complete(&mut self);
    /// Labels are below this.
    fn label_bound(&self) -> usize;
    /// Saves all, bit by bit.
    fn save(&self, to: &mut StateWriter) -> Result<()>;
    /// What was saved.
    fn load(rule: Self::Rule, from: &mut StateReader) -> Result<Self>;
}

/// Sums whose changes can be taken back.
pub trait Revert: Sums {
    /// Takes the sums of a community, and of all together, from `before`.
    fn revert(&mut self, before: &Self, label: u32);
}

/// Another objective, in which a label is good only for nodes of its class.
pub struct Within<'a, O> {
    pub objective: O,
    /// The class of each label.
    pub classes: &'a [u32],
}

impl<O: Objective> Objective for Within<'_, O> {
    const WEIGHS_NODES: bool = O::WEIGHS_NODES;
    type Leaving = O::Leaving;

    #[inline]
    fn mass(&self, count: u32, strength: f64) -> f64 {
        self.objective.mass(count, strength)
    }
    #[inline]
    fn leaving(&self, visit: &Visit) -> Self::Leaving {
        self.objective.leaving(visit)
    }
    #[inline]
    fn prefetch(&self, label: u32) {
        prefetch(self.classes, label as usize);
        self.objective.prefetch(label);
    }
    #[inline]
    fn rate(&self, visit: &Visit, leaving: &Self::Leaving, label: u32, weight: f64) -> f64 {
        if self.classes[label as usize] == self.classes[visit.present as usize] {
            self.objective.rate(visit, leaving, label, weight)
        } else {
            f64::NEG_INFINITY
        }
    }
    #[inline]
    fn least_equal(&self, visit: &Visit, rate: f64) -> f64 {
        self.objective.least_equal(visit, rate)
    }
    #[inline]
    fn improves(&self, visit: &Visit, rate: f64) -> bool {
        self.objective.improves(visit, rate)
    }
    #[inline]
    fn moved(&mut self, visit: &Visit, label: u32, weight: f64) {
        self.objective.moved(visit, label, weight);
    }
}

/// A label that a node would take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The node.
    pub visit: Visit,
    /// The new label.
    pub label: u32,
    /// Weight of the arcs to it.
    pub other: f64,
    /// How far the node will be from where the label began; 0 if that does not matter.
    pub hops: u8,
}

impl Choice {
    /// Whether the move raises the objective, as things are now.
    #[inline]
    pub fn improves<O: Objective>(&self, objective: &O) -> bool {
        let leaving = objective.leaving(&self.visit);
        let rate = objective.rate(&self.visit, &leaving, self.label, self.other);
        objective.improves(&self.visit, rate)
    }
}

/// The order of equally good labels for one node in one sweep.
#[derive(Debug, Clone, Copy)]
pub struct TieOrder {
    hash: Hash,
    sweep: u64,
}

impl TieOrder {
    #[inline]
    pub fn new(seed: u64, node: u32, sweep: u32) -> Self {
        Self { hash: Hash::new(seed ^ TIE ^ u64::from(node)), sweep: u64::from(sweep) }
    }

    /// The label with the larger key is taken: the larger hash, then the smaller label.
    #[inline]
    pub fn key(self, label: u32) -> (u64, u32) {
        (self.hash.of(u64::from(label), self.sweep), !label)
    }
}

/// The best label, found from all sums at once or from one share of the labels after the other:
/// first [`survey`](Self::survey) every share, then, if [`leaves`](Self::leaves), let it
/// [`pick`](Self::pick) from every share, surveyed again if it is not the last.
pub struct Election<'a, O: Objective> {
    objective: &'a O,
    visit: Visit,
    leaving: O::Leaving,
    largest: f64,
    best: Option<(u32, f64)>,
}

impl<'a, O: Objective> Election<'a, O> {
    #[inline]
    pub fn new(objective: &'a O, visit: Visit) -> Self {
        let leaving = objective.leaving(&visit);
        let largest = objective.alone(&visit, &leaving);
        Self { objective, visit, leaving, largest, best: None }
    }

    /// Rates all labels but the present one; `rates` are overwritten.
    #[inline]
    pub fn survey<S: Sum>(&mut self, table: &LabelTable<S>, rates: &mut Vec<f64>) {
        rates.clear();
        for (label, sum) in table.iter() {
            let rate = if label == self.visit.present {
                f64::NEG_INFINITY
            } else {
                self.objective.rate(&self.visit, &self.leaving, label, sum.value())
            };
            self.largest = self.largest.max(rate);
            rates.push(rate);
        }
    }

    /// Whether the node leaves its label: even the least of the equally good labels is better.
    #[inline]
    pub fn leaves(&self) -> bool {
        let least = self.objective.least_equal(&self.visit, self.largest);
        self.objective.improves(&self.visit, least)
    }

    /// Takes the best of the equally good labels: the one with the largest key.
    #[inline]
    pub fn pick<S: Sum>(
        &mut self,
        table: &LabelTable<S>,
        rates: &[f64],
        key: impl Fn(u32) -> (u64, u32),
    ) {
        let least = self.objective.least_equal(&self.visit, self.largest);
        for ((label, sum), &rate) in table.iter().zip(rates) {
            if rate < least {
                continue;
            }
            match self.best {
                Some((best, _)) if key(best) >= key(label) => {}
                _ => self.best = Some((label, sum.value())),
            }
        }
    }

    /// The outcome.
    #[inline]
    pub fn choice(&self) -> Option<Choice> {
        let is_alone =
            || self.leaves() && self.objective.alone(&self.visit, &self.leaving).is_finite();
        let (label, other) = self.best.or_else(|| is_alone().then_some((ALONE, 0.0)))?;
        Some(Choice { visit: self.visit, label, other, hops: 0 })
    }
}
