//! How good communities are: by the graph they come from, and by other communities.
//!
//! By the graph: [`quality`], one scan. By other communities of the same nodes: [`compare`], which
//! sorts the pairs of labels (8 bytes a node beside the labels) and needs no graph.

use crate::cluster::{
    BlockSource, Closing, ClusterMemory, Method, PerThread, Pieces, Tally, split_count,
};
use crate::error::Result;
use crate::graph::{Block, Graph};
use crate::progress::{Event, Observer, tell};
use rayon::prelude::*;

/// How well communities fit a graph.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Quality {
    /// Modularity (directed: of Leicht and Newman).
    pub modularity: f64,
    /// Share of the weight that is inside communities.
    pub coverage: f64,
    /// Communities.
    pub community_count: u64,
    /// Communities that are not connected.
    pub disconnected_count: u64,
}

/// Rates communities, of which `labels` gives every node's, by one scan. Labels are best dense:
/// memory is 4 bytes a node and 8 (directed: 16) a label up to the largest.
///
/// # Errors
/// Those of reading; `Interrupted`.
///
/// # Panics
/// If there is not a label for each node.
pub fn quality(graph: &Graph, labels: &[u32], observer: &dyn Observer) -> Result<Quality> {
    assert_eq!(labels.len() as u64, graph.node_count(), "a label for each node");
    let label_count = labels.iter().max().map_or(0, |&label| label as usize + 1);
    let mut source = BlockSource::new(graph, 0);
    let scratch = PerThread::new(Closing::default);
    let pieces = Pieces::new(labels.len(), graph.is_directed());
    let tally = Tally::new(label_count, graph.is_directed());
    let mut arcs = 0;
    let tick = |block: &Block| {
        arcs += block.arc_count();
        tell(observer, Event::Advance { done: arcs })
    };
    let tally = if graph.is_weighted() {
        tally.scan::<f64>(&mut source, labels, Some(&pieces), &scratch, tick)
    } else {
        tally.scan::<u32>(&mut source, labels, Some(&pieces), &scratch, tick)
    }?;
    Ok(Quality {
        modularity: tally.modularity(),
        coverage: tally.coverage(),
        community_count: sizes(labels).len() as u64,
        disconnected_count: split_count(labels, &pieces.into_roots(), label_count),
    })
}

/// The memory of [`quality`] beside the labels.
pub fn quality_bytes(graph: &Graph, label_count: u64, threads: usize) -> u64 {
    let cluster = ClusterMemory::of(graph, Method::LabelPropagation, threads);
    let label = if graph.is_directed() { 16 } else { 8 };
    4 * graph.node_count() + (label + 1) * label_count + cluster.scratch_bytes + cluster.block_bytes
}

/// How much two divisions of the same nodes agree; 1 is complete agreement.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Agreement {
    /// Normalized mutual information, with the arithmetic mean (Danon et al., "Comparing community
    /// structure identification", 2005).
    pub nmi: f64,
    /// Adjusted mutual information: 0 for chance (Vinh, Epps and Bailey, "Information theoretic
    /// measures for clusterings comparison", 2010).
    pub ami: f64,
    /// Adjusted Rand index: 0 for chance (Hubert and Arabie, "Comparing partitions", 1985).
    pub ari: f64,
}

/// Compares two divisions of the same nodes.
///
/// # Panics
/// If their lengths differ.
pub fn compare(a: &[u32], b: &[u32]) -> Agreement {
    assert_eq!(a.len(), b.len(), "two divisions of the same nodes");
    let count = a.len() as f64;
    let mut pairs: Vec<u64> =
        a.par_iter().zip(b).map(|(&a, &b)| u64::from(a) << 32 | u64::from(b)).collect();
    pairs.par_sort_unstable();
    let joint: Vec<u64> = pairs.chunk_by(|x, y| x == y).map(|run| run.len() as u64).collect();
    drop(pairs);
    let (sizes_a, sizes_b) = (sizes(a), sizes(b));
    let (entropy_a, entropy_b) = (entropy(&sizes_a, count), entropy(&sizes_b, count));
    let mutual = (entropy_a + entropy_b - entropy(&joint, count)).max(0.0);
    let mean = (entropy_a + entropy_b) / 2.0;
    let same = joint.len() == sizes_a.len() && joint.len() == sizes_b.len();
    if same {
        return Agreement { nmi: 1.0, ami: 1.0, ari: 1.0 };
    }
    let expected = expected_mutual(&sizes_a, &sizes_b, a.len() as u64);
    let pairs_in = |sizes: &[u64]| -> f64 {
        sizes.iter().map(|&size| size as f64 * (size as f64 - 1.0) / 2.0).sum()
    };
    let (in_a, in_b, in_both) = (pairs_in(&sizes_a), pairs_in(&sizes_b), pairs_in(&joint));
    let in_both_by_chance = in_a * in_b / (count * (count - 1.0) / 2.0);
    Agreement {
        nmi: mutual / mean,
        ami: (mutual - expected) / (mean - expected),
        ari: (in_both - in_both_by_chance) / ((in_a + in_b) / 2.0 - in_both_by_chance),
    }
}

/// Normalized mutual information; see [`compare`].
pub fn nmi(a: &[u32], b: &[u32]) -> f64 {
    compare(a, b).nmi
}

/// Adjusted mutual information; see [`compare`].
pub fn ami(a: &[u32], b: &[u32]) -> f64 {
    compare(a, b).ami
}

/// Adjusted Rand index; see [`compare`].
pub fn ari(a: &[u32], b: &[u32]) -> f64 {
    compare(a, b).ari
}

/// Sizes of the communities that have a node, in label order.
fn sizes(labels: &[u32]) -> Vec<u64> {
    let mut sorted = labels.to_vec();
    sorted.par_sort_unstable();
    sorted.chunk_by(|x, y| x == y).map(|run| run.len() as u64).collect()
}

fn entropy(sizes: &[u64], count: f64) -> f64 {
    sizes.iter().map(|&size| size as f64 / count).map(|share| -share * share.ln()).sum()
}

/// How many communities there are of each size.
fn by_size(sizes: &[u64]) -> Vec<(u64, f64)> {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|x, y| x == y).map(|run| (run[0], run.len() as f64)).collect()
}

/// The mutual information that divisions into communities of these sizes have by chance. Work grows
/// with the number of *different* sizes, and for each pair of them with the spread of the overlap.
fn expected_mutual(a: &[u64], b: &[u64], count: u64) -> f64 {
    let (a, b) = (by_size(a), by_size(b));
    a.par_iter()
        .map(|&(size_a, count_a)| {
            let of_pair = |&(size_b, count_b): &(u64, f64)| {
                count_a * count_b * expected_overlap_information(size_a, size_b, count)
            };
            b.iter().map(of_pair).sum::<f64>()
        })
        .collect::<Vec<f64>>()
        .iter()
        .sum()
}

/// Expectation of x/n ln(nx/ab) where x, the overlap of two sets of `a` and `b` among `n`, is
/// hypergeometric: summed from its mode outward, until the terms no longer count.
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

/// The logarithm of n!: exact for small n, then Stirling's series.
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
    fn measures_are_those_of_the_definitions() {
        let a = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2];
        let b = [0, 0, 1, 1, 1, 2, 2, 2, 2, 0];
        let found = compare(&a, &b);
        close(found.nmi, 0.442_701_283_346_050_13);
        close(found.ami, 0.237_288_777_701_335_77);
        close(found.ari, 0.204_545_454_545_454_5);
        let same = compare(&a, &a.map(|x| 7 - x));
        assert_eq!((same.nmi, same.ami, same.ari), (1.0, 1.0, 1.0));
    }

    /// Against the definition: the mean over all ways to place the second division.
    #[test]
    fn expected_information_is_the_mean_over_all_arrangements() {
        let n = 8u32;
        let a = [0u32, 0, 0, 0, 1, 1, 1, 2];
        let (mut sum, mut arrangements) = (0.0, 0.0);
        for set in 0..1u32 << n {
            if set.count_ones() == 3 {
                let b: Vec<u32> = (0..n).map(|i| set >> i & 1).collect();
                let joint: Vec<u32> = a.iter().zip(&b).map(|(x, y)| x * 2 + y).collect();
                let h = |labels: &[u32]| entropy(&sizes(labels), 8.0);
                sum += h(&a) + h(&b) - h(&joint);
                arrangements += 1.0;
            }
        }
        close(expected_mutual(&[4, 3, 1], &[3, 5], 8), sum / arrangements);
    }

    #[test]
    fn chance_scores_zero_and_one_group_says_nothing() {
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
