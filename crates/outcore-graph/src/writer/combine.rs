//! Repeated arcs combined to one, by a rule.

use crate::arc::ArcRecord;
use crate::manifest::Duplicates;
use crate::weight::Weight;

/// Combines arcs of one pair, which are adjacent: ascending by weight for [`Duplicates::Sum`], in order of appearance for
/// [`Duplicates::First`].
#[derive(Debug, Clone)]
pub struct Combiner {
    rule: Duplicates,
    /// Arc whose repetitions may follow, and the sum of their weights so far.
    pending: Option<ArcRecord>,
    sum: f64,
    combined_count: u64,
    combined_loop_count: u64,
}

impl Combiner {
    /// Creates a combiner.
    pub fn new(rule: Duplicates) -> Self {
        Self { rule, pending: None, sum: 0.0, combined_count: 0, combined_loop_count: 0 }
    }

    /// Adds an arc; returns the one before, unless both are combined.
    #[inline]
    pub fn add(&mut self, arc: ArcRecord) -> Option<ArcRecord> {
        match self.pending {
            Some(pending) if pending.pair() == arc.pair() => {
                self.combine(pending, arc);
                None
            }
            before => {
                self.pending = Some(arc);
                self.sum = Weight::from_code(arc.weight).value();
                before
            }
        }
    }

    fn combine(&mut self, pending: ArcRecord, arc: ArcRecord) {
        self.combined_count += 1;
        self.combined_loop_count += u64::from(arc.source == arc.target);
        let weight = self.rule.combine(pending.weight, &mut self.sum, arc.weight);
        self.pending = Some(ArcRecord { weight, ..pending });
    }

    /// Returns the arc whose repetitions may follow.
    #[inline]
    pub(crate) fn pending(&self) -> Option<ArcRecord> {
        self.pending
    }

    /// Returns the last arc.
    pub fn take(&mut self) -> Option<ArcRecord> {
        self.pending.take()
    }

    /// Returns the number of arcs that were combined with one before, and how many of them are loops.
    pub fn combined_counts(&self) -> (u64, u64) {
        (self.combined_count, self.combined_loop_count)
    }
}
