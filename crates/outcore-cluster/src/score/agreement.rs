//! Agreement of two divisions of the same nodes: measures of information, and of pairs of nodes.
//!
//! All measures follow from the number of nodes that each pair of communities shares. Memory in addition to the labels:
//! 8 bytes per node, sorted in place. The remaining work is the expected information of `ami`, which grows with the
//! number of *different* sizes.

use rayon::prelude::*;
use std::collections::BTreeMap;

/// No label: such nodes are ignored.
const NONE: u32 = u32::MAX;

/// Agreement of two divisions of the same nodes; 1 is complete agreement.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Agreement {
    /// Number of nodes that have a label in both divisions.
    pub node_count: u64,
    /// Normalized mutual information, with the arithmetic mean (Danon et al., "Comparing community
    /// structure identification", 2005).
    pub nmi: f64,
    /// Adjusted mutual information, 0 on average for chance (Vinh, Epps and Bailey, "Information theoretic measures for
    /// clusterings comparison", 2010).
    pub ami: f64,
    /// Adjusted Rand index, 0 on average for chance (Hubert and Arabie, "Comparing partitions", 1985).
    pub ari: f64,
    /// Harmonic mean of `pair_precision` and `pair_recall`.
    pub pair_f1: f64,
    /// Fraction of the pairs of nodes together in the first division that are together in the second too; 1 if there
    /// are no such pairs.
    pub pair_precision: f64,
    /// Fraction of the pairs of nodes together in the second division that are together in the first too; 1 if there
    /// are no such pairs.
    pub pair_recall: f64,
}

impl Agreement {
    fn complete(node_count: u64) -> Self {
        let [nmi, ami, ari, pair_f1, pair_precision, pair_recall] = [1.0; 6];
        Self { node_count, nmi, ami, ari, pair_f1, pair_precision, pair_recall }
    }
}

/// Compares a division with another, such as the ground truth, over the nodes that have a label in both; `u32::MAX`
/// means no label.
///
/// # Panics
/// Panics if their lengths differ.
pub fn compare(found: &[u32], truth: &[u32]) -> Agreement {
    assert_eq!(found.len(), truth.len(), "two divisions of the same nodes");
    let [joint, sizes_a, sizes_b] = shared_sizes(found, truth);
    agreement_of(&joint, &sizes_a, &sizes_b)
}

/// Returns the agreement of two divisions of the same nodes, given the sizes of the overlaps of communities, of the first
/// communities, and of the second ones: these sums of nodes are equal.
pub fn agreement_of(joint: &SizeCounts, sizes_a: &SizeCounts, sizes_b: &SizeCounts) -> Agreement {
    let nodes = joint.iter().map(|(size, count)| size * count).sum();
    let communities = |sizes: &SizeCounts| sizes.values().sum::<u64>();
    if communities(joint) == communities(sizes_a) && communities(joint) == communities(sizes_b) {
        return Agreement::complete(nodes);
    }
    let count = nodes as f64;
    let (entropy_a, entropy_b) = (entropy(sizes_a, count), entropy(sizes_b, count));
    let mutual = (entropy_a + entropy_b - entropy(joint, count)).max(0.0);
    let mean = (entropy_a + entropy_b) / 2.0;
    let expected = expected_mutual(sizes_a, sizes_b, nodes);
    let (in_a, in_b, in_both) = (pairs_in(sizes_a), pairs_in(sizes_b), pairs_in(joint));
    let in_both_by_chance = in_a * in_b / (count * (count - 1.0) / 2.0);
    let share = |of: f64| if of > 0.0 { in_both / of } else { 1.0 };
    Agreement {
        node_count: nodes,
        nmi: mutual / mean,
        ami: (mutual - expected) / (mean - expected),
        ari: (in_both - in_both_by_chance) / ((in_a + in_b) / 2.0 - in_both_by_chance),
        pair_f1: 2.0 * in_both / (in_a + in_b),
        pair_precision: share(in_a),
        pair_recall: share(in_b),
    }
}

/// Returns the memory of [`compare`] in addition to the labels.
pub fn compare_bytes(node_count: u64) -> u64 {
    8 * node_count
}

/// Number of communities of each size. There are few different sizes: fewer than sqrt(2n).
pub type SizeCounts = BTreeMap<u64, u64>;

/// Returns the sizes of the overlaps of communities, of the first communities, and of the second ones.
fn shared_sizes(a: &[u32], b: &[u32]) -> [SizeCounts; 3] {
    let both = a.iter().zip(b).filter(|&(&a, &b)| a != NONE && b != NONE);
    let mut pairs: Vec<u64> = Vec::with_capacity(both.clone().count());
    pairs.extend(both.map(|(&a, &b)| u64::from(a) << 32 | u64::from(b)));
    pairs.par_sort_unstable();
    let joint = run_sizes(&pairs, |pair| pair);
    let sizes_a = run_sizes(&pairs, |pair| pair >> 32);
    pairs.par_iter_mut().for_each(|pair| *pair &= u64::from(u32::MAX));
    pairs.par_sort_unstable();
    [joint, sizes_a, run_sizes(&pairs, |pair| pair)]
}

/// Counts the lengths of runs of values with the same key.
fn run_sizes(sorted: &[u64], key: impl Fn(u64) -> u64) -> SizeCounts {
    let mut sizes = SizeCounts::new();
    for run in sorted.chunk_by(|&x, &y| key(x) == key(y)) {
        *sizes.entry(run.len() as u64).or_default() += 1;
    }
    sizes
}

/// Returns the number of pairs of nodes in communities of these sizes.
fn pairs_in(sizes: &SizeCounts) -> f64 {
    let of_size = |(&size, &count): (&u64, &u64)| {
        let size = size as f64;
        count as f64 * size * (size - 1.0) / 2.0
    };
    sizes.iter().map(of_size).sum()
}

/// Returns the normalized mutual information; see [`compare`].
pub fn nmi(a: &[u32], b: &[u32]) -> f64 {
    compare(a, b).nmi
}

/// Returns the adjusted mutual information; see [`compare`].
pub fn ami(a: &[u32], b: &[u32]) -> f64 {
    compare(a, b).ami
}

/// Returns the adjusted Rand index; see [`compare`].
pub fn ari(a: &[u32], b: &[u32]) -> f64 {
    compare(a, b).ari
}

fn entropy(sizes: &SizeCounts, nodes: f64) -> f64 {
    let of_size = |(&size, &count): (&u64, &u64)| {
        let share = size as f64 / nodes;
        -(count as f64) * share * share.ln()
    };
    sizes.iter().map(of_size).sum()
}

/// Returns the mutual information that divisions into communities of these sizes have by chance. Work grows with the
/// number of *different* sizes, and for each pair of sizes with the spread of the overlap.
fn expected_mutual(a: &SizeCounts, b: &SizeCounts, nodes: u64) -> f64 {
    let a: Vec<(u64, u64)> = a.iter().map(|(&size, &count)| (size, count)).collect();
    a.par_iter()
        .map(|&(size_a, count_a)| {
            let of_pair = |(&size_b, &count_b): (&u64, &u64)| {
                let pairs = count_a as f64 * count_b as f64;
                pairs * expected_overlap_information(size_a, size_b, nodes)
            };
            b.iter().map(of_pair).sum::<f64>()
        })
        .collect::<Vec<f64>>()
        .iter()
        .sum()
}

/// Returns the expectation of x/n ln(nx/ab), where x, the overlap of two sets of `a` and `b` among `n`, is
/// hypergeometric. Sums from the mode outward until terms are negligible.
fn expected_overlap_information(a: u64, b: u64, n: u64) -> f64 {
    let (least, most) = ((a + b).saturating_sub(n).max(1), a.min(b));
    if least > most {
        return 0.0;
    }
    let [af, bf, nf] = [a, b, n].map(|x| x as f64);
    let mode = ((af + 1.0) * (bf + 1.0) / (nf + 2.0)) as u64;
    let mode = mode.clamp(least, most);
    let log_choose = |n: u64, k: u64| ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    let peak = (log_choose(a, mode) + log_choose(n - a, b - mode) - log_choose(n, b)).exp();
    let information = |x: f64| x / nf * (nf * x / (af * bf)).ln();
    let negligible = peak * 1e-18;
    let mut sum = peak * information(mode as f64);
    let mut probability = peak;
    for x in mode..most {
        let x = x as f64;
        probability *= (af - x) * (bf - x) / ((x + 1.0) * (nf - af - bf + x + 1.0));
        if probability < negligible {
            break;
        }
        sum += probability * information(x + 1.0);
    }
    probability = peak;
    for x in (least + 1..=mode).rev() {
        let x = x as f64;
        probability *= x * (nf - af - bf + x) / ((af - x + 1.0) * (bf - x + 1.0));
        if probability < negligible {
            break;
        }
        sum += probability * information(x - 1.0);
    }
    sum
}

/// Returns the logarithm of n!: exact for small n, otherwise by Stirling's series.
fn ln_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|i| (i as f64).ln()).sum();
    }
    let x = n as f64;
    let inverse = 1.0 / x;
    x * x.ln() - x
        + 0.5 * (std::f64::consts::TAU * x).ln()
        + inverse * (1.0 / 12.0 - inverse * inverse * (1.0 / 360.0 - inverse * inverse / 1260.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    /// Values computed from the definitions, with exact binomial coefficients.
    #[test]
    fn measures_match_their_definitions() {
        let a = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2];
        let b = [0, 0, 1, 1, 1, 2, 2, 2, 2, 0];
        let found = compare(&a, &b);
        close(found.nmi, 0.442_701_283_346_050_13);
        close(found.ami, 0.237_288_777_701_335_77);
        close(found.ari, 0.204_545_454_545_454_5);
        let same = compare(&a, &a.map(|x| 7 - x));
        assert_eq!((same.nmi, same.ami, same.ari), (1.0, 1.0, 1.0));
    }

    /// Compares with the definition: the mean over all arrangements of the second division.
    #[test]
    fn expected_information_is_the_mean_over_all_arrangements() {
        let n = 8u32;
        let a = [0u32, 0, 0, 0, 1, 1, 1, 2];
        let (mut sum, mut arrangements) = (0.0, 0.0);
        for set in 0..1u32 << n {
            if set.count_ones() == 3 {
                let b: Vec<u32> = (0..n).map(|i| set >> i & 1).collect();
                let joint: Vec<u32> = a.iter().zip(&b).map(|(x, y)| x * 2 + y).collect();
                let h = |labels: &[u32]| entropy(&shared_sizes(labels, labels)[0], 8.0);
                sum += h(&a) + h(&b) - h(&joint);
                arrangements += 1.0;
            }
        }
        let once = |sizes: &[u64]| sizes.iter().map(|&size| (size, 1)).collect();
        close(expected_mutual(&once(&[4, 3, 1]), &once(&[3, 5]), 8), sum / arrangements);
    }

    #[test]
    fn chance_and_a_single_group_score_zero() {
        let a: Vec<u32> = (0..20_000u32).map(|i| i % 50).collect();
        let b: Vec<u32> =
            (0..20_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 16) % 40).collect();
        let found = compare(&a, &b);
        assert!(found.ami.abs() < 0.01 && found.ari.abs() < 0.01 && found.nmi > 0.01, "{found:?}");
        let one = compare(&a, &vec![0; a.len()]);
        close(one.nmi, 0.0);
        close(one.ami, 0.0);
        close(one.ari, 0.0);
    }
}
