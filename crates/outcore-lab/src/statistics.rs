//! Statistics of samples: medians with exact intervals, and which ratios differ from 1.
//!
//! The unit is the round, not the operation and not the pair of rows: all runs of a round saw the same machine, so a
//! comparison is one number per round, the logarithm of a ratio. Ways that cost the same run in random order within
//! the round, so this number is as likely positive as negative, whatever the noise looks like (Fisher, "The Design of
//! Experiments", 1935). Flipping the signs of whole rounds, for all comparisons of an experiment at once, shows how
//! extreme the most extreme of them gets by chance, and keeps what they have in common, such as a baseline (Westfall,
//! Young, "Resampling-Based Multiple Testing", 1993). The critical value found this way holds for all of them
//! together. Reports of two machines have no rounds in common; there the rounds change sides instead of signs.
//!
//! A verdict needs an interval that lies on one side of what is negligible, or inside it. An interval across the bound
//! gives none: failing to show a difference does not show that there is none (Schuirmann, "A comparison of the two
//! one-sided tests procedure", 1987). So another run may leave a question open, but it hardly ever contradicts a
//! verdict.
//!
//! Cost: 2,048 flips of each comparison.

use crate::number::three;
use crate::random::Random;
use serde::{Deserialize, Serialize};

/// Share of whole runs that report at least one difference that does not exist: the family-wise error rate.
pub const FALSE_RUNS: f64 = 0.05;

/// Number of families of comparisons in a whole run: one per experiment. They share [`FALSE_RUNS`] equally, so that
/// each can be judged when it ends, and is judged the same alone and with the others.
pub const FAMILIES: usize = 12;

/// Minimum number of rounds of a comparison.
pub const ROUNDS_MIN: usize = 8;

/// Ratio below which a difference means nothing to a program: two builds of one program differ as much by where their
/// code and data lie in memory (Mytkowicz et al., "Producing wrong data without doing anything obviously wrong!",
/// 2009).
pub const NEGLIGIBLE: f64 = 1.02;

/// Number of rounds whose signs are flipped independently; later rounds flip together with one of these, which keeps
/// the test exact and its cost bounded.
const FLIPPED: usize = 12;

/// Number of ways to divide the rounds of two reports that are tried.
const DIVISIONS: usize = 4_000;

/// Estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Estimate: a median, or the geometric mean of ratios.
    pub middle: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Verdict on a ratio of costs, given its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The cost is higher, by more than what is negligible.
    Higher,
    /// The cost is lower, by more than what is negligible.
    Lower,
    /// The costs differ by no more than what is negligible.
    Same,
}

impl Interval {
    /// Returns the verdict on a ratio; `None` if the interval crosses the bound of what is negligible.
    pub fn verdict(&self) -> Option<Verdict> {
        let bounds = [1.0 / NEGLIGIBLE, NEGLIGIBLE];
        match (self.low, self.high) {
            (low, _) if low > bounds[1] => Some(Verdict::Higher),
            (_, high) if high < bounds[0] => Some(Verdict::Lower),
            (low, high) if low >= bounds[0] && high <= bounds[1] => Some(Verdict::Same),
            _ => None,
        }
    }

    /// Returns whether a ratio differs from 1 by more than what is negligible.
    pub fn differs(&self) -> bool {
        matches!(self.verdict(), Some(Verdict::Higher | Verdict::Lower))
    }

    /// Returns a ratio as text with its interval: the estimate if it differs from 1, `=` if it does not, `?` if the interval
    /// leaves that open.
    pub fn ratio_text(&self) -> String {
        let shown = match self.verdict() {
            Some(Verdict::Higher | Verdict::Lower) => three(self.middle),
            Some(Verdict::Same) => "=".into(),
            None => "?".into(),
        };
        format!("{shown} ({}-{})", three(self.low), three(self.high))
    }

    /// Returns the interval of the inverse ratio.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self { middle: 1.0 / self.middle, low: 1.0 / self.high, high: 1.0 / self.low }
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

/// Returns the median with its exact interval from order statistics (Thompson, 1936): at least 95 % from six values
/// on, whatever their distribution; of fewer, the interval is their range. `values` must not be empty.
pub fn interval(values: &[f64]) -> Interval {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len() - 1;
    let outside = outside(sorted.len());
    Interval { middle: median(&sorted), low: sorted[outside], high: sorted[last - outside] }
}

/// Returns how many of `count` values may be left out at each end of an interval of their median.
fn outside(count: usize) -> usize {
    let mut term = 0.5f64.powi(count as i32);
    let (mut tail, mut outside) = (term, 0);
    while outside < count / 2 {
        term *= (count - outside) as f64 / (outside + 1) as f64;
        tail += term;
        if tail > 0.025 {
            break;
        }
        outside += 1;
    }
    outside
}

/// Counts the values that lie outside the quartiles by more than one and a half times the distance of the quartiles
/// (Tukey, 1977).
pub fn outliers(values: &[f64]) -> usize {
    let (low, high) = (quantile(values, 0.25), quantile(values, 0.75));
    let reach = 1.5 * (high - low);
    values.iter().filter(|&&value| value < low - reach || value > high + reach).count()
}

/// Comparison of two ways: the logarithm of their ratio in each round; `None` for rounds in which one did not run.
pub type LogRatios = Vec<Option<f64>>;

/// Returns the ratio of each comparison with an interval. All intervals of the family hold simultaneously, at the level
/// that keeps a whole run within [`FALSE_RUNS`]; `None` for comparisons of too few rounds.
pub fn together(family: &[LogRatios]) -> Vec<Option<Interval>> {
    let moments: Vec<Moments> =
        family.iter().map(|each| Moments::of(each.iter().flatten())).collect();
    let judged: Vec<(&LogRatios, f64)> = family
        .iter()
        .zip(&moments)
        .filter(|(_, moments)| moments.count >= ROUNDS_MIN as f64 && moments.squares > 0.0)
        .map(|(each, moments)| (each, moments.squares.sqrt()))
        .collect();
    let critical = critical(extremes(&judged));
    moments.iter().map(|moments| moments.interval(critical?)).collect()
}

/// Count, sum and sum of squares of the rounds of a comparison.
struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn of<'a>(values: impl Iterator<Item = &'a f64>) -> Self {
        values.fold(Self { count: 0.0, sum: 0.0, squares: 0.0 }, |so_far, value| Self {
            count: so_far.count + 1.0,
            sum: so_far.sum + value,
            squares: so_far.squares + value * value,
        })
    }

    /// Returns the interval of the ratio, given the critical value of the sum over the root of the sum of squares,
    /// which does not change with signs; it is converted to one of Student's statistic, whose scale is the spread
    /// around the mean.
    fn interval(&self, critical: f64) -> Option<Interval> {
        let room = self.count - critical * critical;
        if self.count < ROUNDS_MIN as f64 || room <= 0.0 {
            return None;
        }
        let mean = self.sum / self.count;
        let spread = (self.squares - self.count * mean * mean).max(0.0) / (self.count - 1.0);
        let student = critical * ((self.count - 1.0) / room).sqrt();
        Some(around(mean, student * (spread / self.count).sqrt()))
    }
}

/// Returns the interval of a ratio from its logarithm; the limits keep its ends numbers that JSON can hold.
fn around(mean: f64, reach: f64) -> Interval {
    let ratio = |log: f64| log.clamp(-100.0, 100.0).exp();
    Interval { middle: ratio(mean), low: ratio(mean - reach), high: ratio(mean + reach) }
}

/// Returns the most extreme statistic of the family under each flip of signs. The first round keeps its sign, because
/// flipping all changes nothing. Flips come in the order of Gray's code, so that each differs from the one before in
/// one sign.
fn extremes(family: &[(&LogRatios, f64)]) -> Vec<f64> {
    let rounds = family.iter().map(|(each, _)| each.len()).max().unwrap_or(0);
    let signs = rounds.min(FLIPPED);
    let by_sign = |each: &LogRatios| {
        let mut sums = vec![0.0; signs];
        each.iter()
            .enumerate()
            .for_each(|(round, value)| sums[round % FLIPPED] += value.unwrap_or(0.0));
        sums
    };
    let parts: Vec<Vec<f64>> = family.iter().map(|(each, _)| by_sign(each)).collect();
    let mut sums: Vec<f64> = parts.iter().map(|parts| parts.iter().sum()).collect();
    let mut flipped = vec![false; signs];
    let mut extremes = Vec::with_capacity(1 << signs.saturating_sub(1));
    for number in 1..=1usize << signs.saturating_sub(1) {
        let largest = sums.iter().zip(family).map(|(sum, (_, scale))| sum.abs() / scale);
        extremes.push(largest.fold(0.0, f64::max));
        let at = number.trailing_zeros() as usize + 1;
        if at < signs {
            let step = if flipped[at] { 2.0 } else { -2.0 };
            flipped[at] = !flipped[at];
            sums.iter_mut().zip(&parts).for_each(|(sum, parts)| *sum += step * parts[at]);
        }
    }
    extremes
}

/// Returns the value that the allowed share of `extremes` exceeds; `None` if there are too few of them to allow any.
fn critical(mut extremes: Vec<f64>) -> Option<f64> {
    let allowed = (extremes.len() as f64 * FALSE_RUNS / FAMILIES as f64).floor() as usize;
    extremes.sort_unstable_by(|a, b| b.total_cmp(a));
    if allowed == 0 { None } else { extremes.get(allowed).copied() }
}

/// Returns the ratio of each figure in a second report to that in the first, with simultaneous intervals.
/// `family` lists the logarithms of the figures, round by round, of both reports; they must not be empty.
pub fn between(family: &[(Vec<f64>, Vec<f64>)]) -> Vec<Option<Interval>> {
    let enough = |sides: &&(Vec<f64>, Vec<f64>)| sides.0.len().min(sides.1.len()) >= ROUNDS_MIN;
    let judged: Vec<&(Vec<f64>, Vec<f64>)> = family.iter().filter(enough).collect();
    let rounds =
        |side: fn(&(Vec<f64>, Vec<f64>)) -> usize| judged.iter().map(|each| side(each)).max();
    let (first, second) = (rounds(|each| each.0.len()), rounds(|each| each.1.len()));
    let (first, second) = (first.unwrap_or(0), second.unwrap_or(0));
    let mut places: Vec<usize> = (0..first + second).collect();
    let mut random = Random(1);
    let extremes = (0..DIVISIONS).map(|number| {
        if number > 0 {
            random.shuffle(&mut places);
        }
        judged.iter().map(|each| contrast(each, first, &places)).fold(0.0, f64::max)
    });
    let critical = critical(extremes.collect());
    family.iter().map(|each| difference(each, critical?)).collect()
}

/// Returns Student's statistic after moving the rounds to `places`; the first `first` places belong to the first
/// report.
fn contrast((one, two): &(Vec<f64>, Vec<f64>), first: usize, places: &[usize]) -> f64 {
    let (mut left, mut right) = (Vec::with_capacity(one.len()), Vec::with_capacity(two.len()));
    for (number, &place) in places.iter().enumerate() {
        let value = if place < first { one.get(place) } else { two.get(place - first) };
        if number < first { left.extend(value) } else { right.extend(value) }
    }
    let (mean, error) = student(&left, &right);
    if error > 0.0 { mean.abs() / error } else { 0.0 }
}

/// Returns the difference of the means, and its standard error from the spread within both sides.
fn student(one: &[f64], two: &[f64]) -> (f64, f64) {
    let [one, two] = [one, two].map(|side| Moments::of(side.iter()));
    let within = |side: &Moments| (side.squares - side.sum * side.sum / side.count).max(0.0);
    let pooled = (within(&one) + within(&two)) / (one.count + two.count - 2.0);
    let error = (pooled * (1.0 / one.count + 1.0 / two.count)).sqrt();
    (two.sum / two.count - one.sum / one.count, error)
}

fn difference((one, two): &(Vec<f64>, Vec<f64>), critical: f64) -> Option<Interval> {
    if one.len().min(two.len()) < ROUNDS_MIN {
        return None;
    }
    let (mean, error) = student(one, two);
    Some(around(mean, critical * error))
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

    /// The ranks of a table of exact intervals of the median: those at which the binomial tails stay below 2.5 %.
    #[test]
    fn intervals_of_the_median_are_exact() {
        assert_eq!([5, 6, 8, 9, 12, 15, 20].map(outside), [0, 0, 0, 1, 2, 3, 5]);
        let values: Vec<f64> = (1..=9).rev().map(f64::from).collect();
        let found = interval(&values);
        assert_eq!((found.low, found.middle, found.high), (2.0, 5.0, 8.0));
        assert_eq!(interval(&[3.0]), Interval { middle: 3.0, low: 3.0, high: 3.0 });
    }

    /// Three rounds by hand: the sums under all flips are 6, 4, 2 and 0.
    #[test]
    fn extremes_are_those_of_all_flips() {
        let rounds: LogRatios = vec![Some(3.0), Some(1.0), Some(2.0), None];
        let mut found = extremes(&[(&rounds, 1.0)]);
        found.sort_unstable_by(f64::total_cmp);
        assert_eq!(found, [0.0, 0.0, 2.0, 2.0, 4.0, 4.0, 6.0, 6.0]);
        let many: LogRatios = (0..30).map(|round| Some(f64::from(round))).collect();
        assert_eq!(extremes(&[(&many, 1.0)]).len(), 1 << (FLIPPED - 1));
    }

    #[test]
    fn a_difference_is_found_and_too_few_rounds_are_none() {
        let mut random = Random(7);
        let mut rounds = |count: usize, log: f64| -> LogRatios {
            (0..count).map(|_| Some(log + random.below(1000) as f64 * 2e-5 - 0.01)).collect()
        };
        let family: Vec<LogRatios> = vec![
            rounds(12, 0.0),
            rounds(12, 0.2),
            rounds(12, -0.2),
            rounds(ROUNDS_MIN - 1, 0.2),
            LogRatios::new(),
        ];
        let found = together(&family);
        let differs: Vec<Option<bool>> =
            found.iter().map(|each| each.map(|ratio| ratio.differs())).collect();
        assert_eq!(differs, [Some(false), Some(true), Some(true), None, None]);
        let slower = found[1].unwrap();
        assert!(slower.low < 1.2214 && 1.2214 < slower.high, "{slower:?}");
        assert_eq!(slower.inverse().inverse().middle, slower.middle);
        let few: Vec<LogRatios> = vec![rounds(8, 0.2)];
        assert_eq!(
            together(&few),
            [None],
            "with eight rounds, no share of the flips is small enough"
        );
    }

    #[test]
    fn an_interval_across_the_bound_is_no_verdict() {
        let of = |low, high| Interval { middle: 1.0, low, high };
        for (interval, verdict, text) in [
            (of(1.03, 1.2), Some(Verdict::Higher), "1.00 (1.03-1.20)"),
            (of(0.8, 0.97), Some(Verdict::Lower), "1.00 (0.800-0.970)"),
            (of(0.99, 1.01), Some(Verdict::Same), "= (0.990-1.01)"),
            (of(0.97, 1.01), None, "? (0.970-1.01)"),
            (of(1.01, 1.5), None, "? (1.01-1.50)"),
            (of(0.5, 2.0), None, "? (0.500-2.00)"),
        ] {
            assert_eq!((interval.verdict(), interval.ratio_text().as_str()), (verdict, text));
            assert_eq!(interval.differs(), verdict.is_some_and(|verdict| verdict != Verdict::Same));
        }
    }

    #[test]
    fn two_reports_differ_by_more_than_their_rounds() {
        let mut random = Random(3);
        let mut side = |log: f64| -> Vec<f64> {
            (0..10).map(|_| log + random.below(1000) as f64 * 4e-5).collect()
        };
        let family = [(side(1.0), side(1.0)), (side(1.0), side(1.2)), (side(1.0), vec![1.2; 4])];
        let found = between(&family);
        let differs: Vec<Option<bool>> =
            found.iter().map(|each| each.map(|ratio| ratio.differs())).collect();
        assert_eq!(differs, [Some(false), Some(true), None]);
    }
}
