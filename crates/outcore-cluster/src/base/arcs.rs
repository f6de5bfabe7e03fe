//! Sums of the weights of arcs, outside of sweeps.
//!
//! Where all weights are 1, arcs are counted, which takes fewer cycles than adding. Counts are exact, so the sums are the
//! same, and a scan is compiled once for graphs with and without weights.

use crate::base::table::Sum;

/// Adds the weights of the arcs of a segment to a sum, in their order; without codes every weight is 1.
pub fn add_weights(sum: &mut f64, targets: &[u32], codes: &[u32]) {
    if codes.is_empty() {
        *sum += targets.len() as f64;
    } else {
        f64::for_each(targets, codes, |_, weight| *sum += weight);
    }
}

/// Adds the weight of each arc of a segment to the sums that `counts` selects for its target, without a branch.
#[inline]
pub fn add_weights_where<const N: usize>(
    sums: &mut [f64; N],
    targets: &[u32],
    codes: &[u32],
    mut counts: impl FnMut(u32) -> [bool; N],
) {
    // Not zipped: calls to iterators of arrays remained, which took half of the time.
    if codes.is_empty() {
        let mut arcs = [0u32; N];
        for &target in targets {
            let of_arc = counts(target);
            for at in 0..N {
                arcs[at] += u32::from(of_arc[at]);
            }
        }
        for at in 0..N {
            sums[at] += f64::from(arcs[at]);
        }
    } else {
        f64::for_each(targets, codes, |target, weight| {
            let of_arc = counts(target);
            for at in 0..N {
                sums[at] += weight.only_if(of_arc[at]);
            }
        });
    }
}
