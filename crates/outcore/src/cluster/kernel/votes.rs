//! Votes for labels: what label propagation asks of a neighbor beyond its label and its weight.
//!
//! An attenuated label loses strength on its way: a node that begins with a label is 0 hops away from
//! where it began; one that takes it is one hop more than the nearest neighbor from which it comes. The
//! neighbor's vote is its weight times a factor of the hops, rounded as weights are. Hops are counted up to 255 in
//! one byte a node; the factors of all 256 are a table, so a vote costs one more random access.

use super::nodes::Nodes;
use super::objective::Objective;
use crate::weight::Weight;

/// Arcs whose labels are fetched before they are summed.
pub(crate) const BATCH_ARCS: usize = 2048;

/// Arcs as votes: neighbors whose vote counts, with the weight code of the vote.
#[derive(Default)]
pub(crate) struct Ballot {
    targets: Vec<u32>,
    codes: Vec<u32>,
}

impl Ballot {
    /// Memory for a segment of arcs, and for the hops of a worker's neighbors.
    pub(crate) const fn bytes(segment_arcs: u64) -> u64 {
        2 * 8 * segment_arcs + 2 * (segment_arcs + 2 * BATCH_ARCS as u64)
    }
}

impl<O: Objective, L: ?Sized> Nodes<'_, O, L> {
    /// The arcs of a segment as votes; the arcs themselves if nothing is attenuated.
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
