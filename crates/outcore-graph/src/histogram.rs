//! Histograms of degrees and weights: counted by powers of two, while a graph is written.
//!
//! Memory: 17 KiB, independent of the graph. Cost: one addition per node, and one per arc if weights differ.
//!
//! They are stored in `graph.json`, so a job on a graph knows them without a scan; verifying a graph counts them again.

use crate::weight::Weight;
use std::collections::BTreeMap;

/// Number of values from `at_least` up to, but not including, twice that; values below all other bins, such
/// as zeros, are in a bin at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Bin<T> {
    /// Lower bound of the values: 0 or a power of two.
    pub at_least: T,
    /// Number of values.
    pub count: u64,
}

/// Returns the bins of `(value, count)` pairs in ascending order of values.
pub fn bins(values: impl Iterator<Item = (u64, u64)>) -> Vec<Bin<u64>> {
    let mut bins: Vec<Bin<u64>> = Vec::new();
    for (value, count) in values {
        let at_least = least_of(value);
        match bins.last_mut().filter(|last| last.at_least == at_least) {
            Some(last) => last.count += count,
            None => bins.push(Bin { at_least, count }),
        }
    }
    bins
}

/// Returns the largest power of two that is not above `value`; 0 for 0.
fn least_of(value: u64) -> u64 {
    value.checked_ilog2().map_or(0, |power| 1 << power)
}

/// Counts of degrees and weights.
#[derive(Clone)]
pub(super) struct Histograms {
    /// Counts by the bit length of the degree.
    degrees: [u64; u64::BITS as usize + 1],
    /// Counts by the exponent, as encoded in the weight code.
    weights: Box<[u64; 1 << EXPONENT_BITS]>,
}

const EXPONENT_BITS: u32 = 11;
/// Encoded exponent of 1.
const EXPONENT_ONE: i32 = exponent(Weight::ONE.code()) as i32;

/// Returns the encoded exponent of a weight code.
const fn exponent(code: u32) -> usize {
    (code >> (u32::BITS - EXPONENT_BITS)) as usize
}

impl Default for Histograms {
    fn default() -> Self {
        Self { degrees: [0; _], weights: Box::new([0; _]) }
    }
}

impl Histograms {
    pub(super) fn add_degree(&mut self, degree: u64) {
        self.degrees[(u64::BITS - degree.leading_zeros()) as usize] += 1;
    }

    #[inline]
    pub(super) fn add_weight(&mut self, code: u32) {
        self.weights[exponent(code)] += 1;
    }

    /// Adds `count` arcs of weight 1.
    pub(super) fn add_ones(&mut self, count: u64) {
        self.weights[exponent(Weight::ONE.code())] += count;
    }

    /// Returns the node counts by the lower bound of their degree bin.
    pub(super) fn degrees(&self) -> BTreeMap<u64, u64> {
        let least = |bits: usize| if bits == 0 { 0 } else { 1 << (bits - 1) };
        let counted = (0..).zip(&self.degrees).filter(|(_, count)| **count > 0);
        counted.map(|(bits, &count)| (least(bits), count)).collect()
    }

    /// Returns the arc counts by the largest power of two that is not above their weight.
    pub(super) fn weights(&self) -> BTreeMap<i32, u64> {
        let counted = (0..).zip(&*self.weights).filter(|(_, count)| **count > 0);
        counted.map(|(exponent, &count)| (exponent - EXPONENT_ONE, count)).collect()
    }
}

/// Returns the degrees in the form in which they are reported.
pub(super) fn degree_bins(degrees: &BTreeMap<u64, u64>) -> Vec<Bin<u64>> {
    degrees.iter().map(|(&at_least, &count)| Bin { at_least, count }).collect()
}

/// Returns the weights in the form in which they are reported. Weights below the smallest normal `f64` are in
/// the bin at 0.
pub(super) fn weight_bins(weights: &BTreeMap<i32, u64>) -> Vec<Bin<f64>> {
    let least = |power: i32| if power > -EXPONENT_ONE { 2f64.powi(power) } else { 0.0 };
    weights.iter().map(|(&power, &count)| Bin { at_least: least(power), count }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_values_from_their_bound_to_twice_that() {
        let sizes = [(0, 2), (1, 5), (2, 1), (3, 1), (4, 9), (1023, 1), (1024, 3), (u64::MAX, 1)];
        let found: Vec<_> = bins(sizes.into_iter()).iter().map(|b| (b.at_least, b.count)).collect();
        let expected = [(0, 2), (1, 5), (2, 2), (4, 9), (512, 1), (1024, 3), (1 << 63, 1)];
        assert_eq!(found, expected);
        let mut counted = Histograms::default();
        for (degree, count) in sizes {
            (0..count).for_each(|_| counted.add_degree(degree));
        }
        assert_eq!(degree_bins(&counted.degrees()), bins(sizes.into_iter()));
    }

    #[test]
    fn weights_of_any_size_have_a_bin() {
        let mut counted = Histograms::default();
        counted.add_ones(4);
        for weight in [1.5, 0.5, 0.75, f64::MAX, f64::MIN_POSITIVE, f64::MIN_POSITIVE / 8.0] {
            counted.add_weight(Weight::new(weight).code());
        }
        let found = weight_bins(&counted.weights());
        let found: Vec<_> = found.iter().map(|bin| (bin.at_least, bin.count)).collect();
        let largest = 2f64.powi(1023);
        let expected = [(0.0, 1), (f64::MIN_POSITIVE, 1), (0.5, 2), (1.0, 5), (largest, 1)];
        assert_eq!(found, expected);
    }
}
