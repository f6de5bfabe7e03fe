//! The objective of label propagation: the weight of the edges inside communities.
//!
//! A node takes the label with the most weight among its neighbors (Raghavan, Albert and Kumara,
//! "Near linear time algorithm to detect community structures in large-scale networks", 2007).

use super::objective::{Objective, Visit};
use crate::weight::RELATIVE_TOLERANCE;

/// What is below the largest sum by less than rounding counts as the largest.
pub(super) const NEARLY: f64 = 1.0 - RELATIVE_TOLERANCE;

/// The weight inside communities; it needs to know nothing of the communities.
pub(super) struct InsideWeight;

impl Objective for InsideWeight {
    const WEIGHS_NODES: bool = false;
    type Leaving = ();

    #[inline]
    fn mass(&self, _node: u32, _strength: f64) -> f64 {
        0.0
    }
    #[inline]
    fn leaving(&self, _visit: &Visit) {}
    #[inline]
    fn prefetch(&self, _label: u32) {}
    #[inline]
    fn rate(&self, _visit: &Visit, (): &(), _label: u32, weight: f64) -> f64 {
        weight
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
}
