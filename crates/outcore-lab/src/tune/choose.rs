//! Choice of a setting from the measured ones, with its confidence.

use crate::statistics::{Interval, interval, median};
use outcore::io::{Confidence, Figure};

/// A setting is as good as the best if it reaches at least this share of the best lower bound.
const AS_GOOD: f64 = 0.95;
/// Maximum relative difference between two measurements of one setting; beyond it there is too much noise.
const NOISE: f64 = 0.1;

/// Maximum width of the interval of a trusted fitted figure, relative to its middle.
const WIDTH: f64 = 0.2;

/// Setting of a run: block size, depth and whether it is direct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) block: usize,
    pub(super) depth: usize,
    pub(super) direct: bool,
}

/// Settings and their rates, one per round; the first setting is the default.
pub(super) struct Options {
    pub(super) settings: Vec<Setting>,
    pub(super) samples: Vec<Vec<f64>>,
    /// Rates of the first setting, measured again.
    pub(super) again: Vec<f64>,
    /// Factor by which a setting must be better than the default to replace it.
    pub(super) gain: f64,
}

/// Chosen setting, and whether it can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) at: usize,
    pub(super) confidence: Confidence,
}

impl Options {
    /// Chooses a setting: the best one if both halves of the rounds agree and the default is as fast in both of its
    /// measurements; otherwise the default.
    pub(super) fn choose(&self) -> Choice {
        let rounds = self.again.len();
        let choice = self.best(|_| true);
        let agree = (0..2).all(|half| self.best(|round| round % 2 == half) == choice);
        let noise = ratio(&self.again, &self.samples[0]);
        let quiet = noise.is_some_and(|noise| (noise.middle - 1.0).abs() <= NOISE);
        if rounds > 0 && agree && quiet {
            Choice { at: choice, confidence: Confidence::Measured }
        } else {
            Choice { at: 0, confidence: Confidence::Low }
        }
    }

    /// Returns the setting with the fewest bytes in flight that is as good as the best in the wanted rounds; the
    /// default if that is not clearly worse.
    fn best(&self, wanted: impl Fn(usize) -> bool) -> usize {
        let chosen = |samples: &Vec<f64>| -> Vec<f64> {
            let rounds = samples.iter().enumerate();
            rounds.filter(|(round, _)| wanted(*round)).map(|(_, &rate)| rate).collect()
        };
        let samples: Vec<Vec<f64>> = self.samples.iter().map(chosen).collect();
        let bound = samples.iter().map(|rates| interval(rates).low).fold(0.0, f64::max);
        let at = (0..samples.len())
            .filter(|&at| median(&samples[at]) >= AS_GOOD * bound)
            .min_by_key(|&at| {
                let Setting { block, depth, .. } = self.settings[at];
                (block * depth, depth)
            })
            .unwrap_or(0);
        let gain = ratio(&samples[at], &samples[0]);
        if gain.is_some_and(|gain| gain.low > self.gain) { at } else { 0 }
    }
}

/// Returns the median of `rates[i] / others[i]` with its interval; `None` if either side has no rounds.
fn ratio(rates: &[f64], others: &[f64]) -> Option<Interval> {
    let ratios: Vec<f64> = rates.iter().zip(others).map(|(rate, other)| rate / other).collect();
    (!ratios.is_empty()).then(|| interval(&ratios))
}

/// Fits a line to the times of single requests by size: returns the time before the first byte and the rate after
/// it.
pub(super) fn fit(options: &Options) -> (Option<Figure>, Option<Figure>) {
    let single: Vec<usize> =
        (0..options.settings.len()).filter(|&at| options.settings[at].depth == 1).collect();
    let lines: Vec<(f64, f64)> = (0..options.again.len())
        .filter_map(|round| {
            let points = single.iter().map(|&at| {
                let bytes = options.settings[at].block as f64;
                (bytes, bytes / options.samples[at][round])
            });
            line(points.collect::<Vec<_>>().as_slice())
        })
        .collect();
    if lines.is_empty() {
        return (None, None);
    }
    let (latencies, rates) = lines.into_iter().unzip();
    let figure = |values: Vec<f64>| Some(figure_within(&values, WIDTH));
    (figure(latencies), figure(rates))
}

/// Returns the median, of low confidence if its interval is wider than `width`, relative to the median.
pub(super) fn figure_within(values: &[f64], width: f64) -> Figure {
    let Interval { middle, low, high } = interval(values);
    let is_wide = high - low > width * middle;
    let confidence = if is_wide { Confidence::Low } else { Confidence::Measured };
    Figure { value: middle, low, high, confidence }
}

/// Fits a line by least squares of relative errors, so that small and large requests count alike. `None` if larger
/// requests take less time.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    // seconds = latency + bytes * slope; divided by seconds: 1 = latency * u + slope * v.
    let (mut uu, mut uv, mut vv, mut u1, mut v1) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for &(bytes, seconds) in points {
        let (u, v) = (1.0 / seconds, bytes / seconds);
        uu += u * u;
        uv += u * v;
        vv += v * v;
        u1 += u;
        v1 += v;
    }
    let determinant = uu * vv - uv * uv;
    let latency = (u1 * vv - v1 * uv) / determinant;
    let slope = (uu * v1 - uv * u1) / determinant;
    (slope > 0.0 && slope.is_finite()).then(|| (latency.max(0.0), 1.0 / slope))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(rates: &[(usize, usize, f64)], noise: f64) -> Options {
        let mut random = crate::random::Random(5);
        let setting = |&(block, depth, _): &_| Setting { block, depth, direct: true };
        let mut noisy = |rate: f64| -> Vec<f64> {
            let factor = |word: u64| 1.0 + noise * (word as f64 / 500.0 - 1.0);
            (0..10).map(|_| rate * factor(random.below(1001))).collect()
        };
        Options {
            settings: rates.iter().map(setting).collect(),
            samples: rates.iter().map(|&(_, _, rate)| noisy(rate)).collect(),
            again: noisy(rates[0].2),
            gain: 1.05,
        }
    }

    #[test]
    fn the_smallest_setting_as_good_as_the_best_is_chosen() {
        let rates =
            [(512, 1, 1.0), (1024, 1, 1.5), (2048, 2, 1.96), (8192, 1, 1.98), (8192, 8, 2.0)];
        let choice = options(&rates, 0.01).choose();
        assert_eq!(choice, Choice { at: 2, confidence: Confidence::Measured });
    }

    #[test]
    fn the_default_is_retained_where_nothing_is_gained() {
        let rates = [(512, 1, 1.0), (64, 1, 0.99), (1024, 4, 1.04)];
        let choice = options(&rates, 0.01).choose();
        assert_eq!(choice, Choice { at: 0, confidence: Confidence::Measured });
    }

    #[test]
    fn noise_is_reported_or_the_choice_is_reproduced() {
        let rates =
            [(512, 1, 1.0), (1024, 1, 1.5), (2048, 1, 1.7), (4096, 1, 1.78), (8192, 1, 1.8)];
        for noise in [0.02, 0.1, 0.4, 0.8] {
            let choice = options(&rates, noise).choose();
            match choice.confidence {
                Confidence::Low => assert_eq!(choice.at, 0),
                _ => assert!((2..=3).contains(&choice.at), "{noise}: {choice:?}"),
            }
        }
    }

    #[test]
    fn a_line_is_recovered() {
        let points: Vec<_> = [65_536.0, 1e6, 8e6].map(|bytes| (bytes, 8e-3 + bytes / 1.5e8)).into();
        let (latency, rate) = line(&points).unwrap();
        assert!((latency / 8e-3 - 1.0).abs() < 1e-9 && (rate / 1.5e8 - 1.0).abs() < 1e-9);
    }
}
