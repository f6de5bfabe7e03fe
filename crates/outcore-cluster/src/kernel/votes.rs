//! Attenuated votes for labels in label propagation.
//!
//! An attenuated label weakens as it spreads. The node that starts with a label is 0 hops from its origin; a node that
//! takes the label is one hop further than the nearest neighbor that has it. A neighbor's vote is the weight of the arc
//! times a factor that depends on its hops, rounded as weights are. Hops are counted up to 255, in one byte per node;
//! the 256 factors are in a table, so a vote costs one more random access.
//!
//! After h hops a strength that starts at 1 and loses D each time is 1 - D x h, so a table holds the factors, and no
//! fraction is ever accumulated. ExoLabel's rule is another table. Nothing else in the sweep depends on attenuation.

use super::nodes::Nodes;
use super::objective::Objective;
use outcore_graph::weight::Weight;

/// Number of arcs whose labels are fetched before they are summed.
pub(crate) const BATCH_ARCS: usize = 2048;

/// Votes of a segment: neighbors whose vote counts, with the weight codes of the votes.
#[derive(Default)]
pub(crate) struct Ballot {
    targets: Vec<u32>,
    codes: Vec<u32>,
}

impl Ballot {
    /// Returns the bytes for a segment of arcs, and for the hops of a worker's neighbors.
    pub(crate) const fn bytes(segment_arcs: u64) -> u64 {
        2 * 8 * segment_arcs + 2 * (segment_arcs + 2 * BATCH_ARCS as u64)
    }
}

impl<O: Objective, L: ?Sized> Nodes<'_, O, L> {
    /// Converts the arcs of a segment to votes; returns the arcs themselves without attenuation.
    #[inline]
    pub(crate) fn votes<'v>(
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
}
