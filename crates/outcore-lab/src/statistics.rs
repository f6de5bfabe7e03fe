//! Statistics of samples: medians, bootstrap intervals, and whether two rows differ.
//!
//! Ratios are formed round by round (both runs saw the same machine), and their median has a 95 % interval by
//! percentile bootstrap (Efron, Tibshirani, 1993). Cost: 1,000 resamples per row.

use crate::random::Random;
use serde::{Deserialize, Serialize};

/// Estimate with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Median.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies outside the interval.
    pub fn excludes(&self, value: f64) -> bool {
        self.low > value || self.high < value
    }
}

/// Returns the median; NaN if `values` is empty.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Returns the quantile below which `share` of the values lie, interpolated; NaN if `values` is empty.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = share * last as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

/// Returns the mean of the middle 90 %; NaN if `values` is empty.
pub fn trimmed_mean(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let cut = sorted.len() / 20;
    let middle = &sorted[cut..sorted.len() - cut];
    middle.iter().sum::<f64>() / middle.len() as f64
}

/// Returns the median with its interval; deterministic for given values.
pub fn interval(values: &[f64]) -> Interval {
    const RESAMPLES: usize = 1000;
    let mut random = Random(values.len() as u64);
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let pick = |_| values[random.below(values.len() as u64) as usize];
            median(&(0..values.len()).map(pick).collect::<Vec<_>>())
        })
        .collect();
    medians.sort_unstable_by(f64::total_cmp);
    Interval {
        median: median(values),
        low: quantile(&medians, 0.025),
        high: quantile(&medians, 0.975),
    }
}

/// Returns the median of `values[i] / baseline[i]` with its interval; `None` if either side has no rounds.
pub fn ratio(values: &[f64], baseline: &[f64]) -> Option<Interval> {
    let ratios: Vec<f64> = values.iter().zip(baseline).map(|(value, base)| value / base).collect();
    (!ratios.is_empty()).then(|| interval(&ratios))
}

/// Returns the ratio of the median of `values` to that of `baseline` with its interval, for runs that do not form
/// pairs; `None` if one side is empty.
pub fn ratio_of_medians(values: &[f64], baseline: &[f64]) -> Option<Interval> {
    const RESAMPLES: usize = 2000;
    if values.is_empty() || baseline.is_empty() {
        return None;
    }
    let mut random = Random((values.len() + baseline.len()) as u64);
    let mut resampled = |from: &[f64]| {
        let pick = |_| from[random.below(from.len() as u64) as usize];
        median(&(0..from.len()).map(pick).collect::<Vec<_>>())
    };
    let ratios: Vec<f64> =
        (0..RESAMPLES).map(|_| resampled(values) / resampled(baseline)).collect();
    Some(Interval {
        median: median(values) / median(baseline),
        low: quantile(&ratios, 0.025),
        high: quantile(&ratios, 0.975),
    })
}

/// Counts the values that lie outside the quartiles by more than one and a half times the distance of the quartiles
/// (Tukey, 1977).
pub fn outliers(values: &[f64]) -> usize {
    let (low, high) = (quantile(values, 0.25), quantile(values, 0.75));
    let reach = 1.5 * (high - low);
    values.iter().filter(|&&value| value < low - reach || value > high + reach).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let values = [4.0, 1.0, 3.0, 2.0, 100.0];
        assert_eq!(median(&values), 3.0);
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 0.625), 3.5);
        assert_eq!(outliers(&values), 1);
        let hundred: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(trimmed_mean(&hundred), 49.5);
    }

    #[test]
    fn intervals_contain_the_true_ratio_about_as_often_as_promised() {
        let mut random = Random(7);
        let mut noisy = |level: f64| -> Vec<f64> {
            (0..15).map(|_| level * (1.0 + random.below(100) as f64 * 1e-3)).collect()
        };
        let (mut equal, mut different) = (0, 0);
        for _ in 0..200 {
            let (a, b, c) = (noisy(1.0), noisy(1.0), noisy(1.3));
            equal += u32::from(!ratio(&a, &b).unwrap().excludes(1.0));
            let unpaired = ratio_of_medians(&c, &b).unwrap();
            assert!(unpaired.excludes(1.0) && unpaired.low <= unpaired.median);
            let interval = ratio(&c, &b).unwrap();
            assert!(interval.excludes(1.0));
            different += u32::from(!interval.excludes(1.3));
        }
        assert!(equal >= 180 && different >= 180, "{equal} and {different} of 200");
    }
}
