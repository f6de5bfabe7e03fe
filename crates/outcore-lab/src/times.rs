//! Histogram of the times of single operations: counts by nanoseconds, to two significant digits.
//!
//! It keeps what a summary loses, the shape of the tail, in a few hundred counts per row whatever the number of
//! operations (G. Tene, "HdrHistogram").

use hdrhistogram::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Significant digits of a time.
const DIGITS: u8 = 2;

/// Minimum number of operations beyond a quantile; with fewer, the quantile would depend on the luck of a few of them.
pub const BEYOND: u64 = 10;

/// Histogram of times in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Times(Histogram<u64>);

impl Times {
    /// Counts times; `None` if there are none.
    pub fn of(nanoseconds: &[u32]) -> Option<Self> {
        let mut times = Self::empty()?;
        nanoseconds.iter().for_each(|&time| times.count(u64::from(time), 1));
        (!times.0.is_empty()).then_some(times)
    }

    fn empty() -> Option<Self> {
        let mut histogram = Histogram::new(DIGITS).ok()?;
        histogram.auto(true);
        Some(Self(histogram))
    }

    fn count(&mut self, nanoseconds: u64, operations: u64) {
        // A histogram that grows refuses nothing; times below a nanosecond count as one.
        let _ = self.0.record_n(nanoseconds.max(1), operations);
    }

    /// Adds the counts of other times.
    pub fn add(&mut self, other: &Self) {
        other.counts().for_each(|(time, operations)| self.count(time, operations));
    }

    /// Returns the number of operations.
    pub fn operations(&self) -> u64 {
        self.0.len()
    }

    /// Returns the time that this share of the operations does not exceed; `None` if too few operations lie beyond it.
    pub fn quantile_nanoseconds(&self, share: f64) -> Option<u64> {
        let beyond = ((1.0 - share) * self.operations() as f64).round();
        (beyond >= BEYOND as f64).then(|| self.0.value_at_quantile(share))
    }

    /// Returns each time with the number of operations that took it.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter_recorded().map(|at| (at.value_iterated_to(), at.count_at_value()))
    }
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.counts())
    }
}

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let counts: Vec<(u64, u64)> = Vec::deserialize(deserializer)?;
        let mut times = Self::empty().ok_or_else(|| serde::de::Error::custom("no histogram"))?;
        counts.into_iter().for_each(|(time, operations)| times.count(time, operations));
        Ok(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_to_two_digits_and_need_enough_operations() {
        assert_eq!(Times::of(&[]), None);
        let times: Vec<u32> = (1..=100_000).collect();
        let times = Times::of(&times).unwrap();
        for (share, exact) in [(0.5, 50_000.0), (0.99, 99_000.0), (0.9999, 99_990.0)] {
            let found = times.quantile_nanoseconds(share).unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 0.01, "{share}: {found}");
        }
        assert_eq!(Times::of(&[7; 9_000]).unwrap().quantile_nanoseconds(0.999), None);
        assert!(Times::of(&[7; 10_000]).unwrap().quantile_nanoseconds(0.999).is_some());
    }

    #[test]
    fn stored_and_joined_histograms_are_the_same() {
        let of = |times: &[u32]| Times::of(times).unwrap();
        let mut joined = of(&[0, 5, 1_234_567]);
        joined.add(&of(&[u32::MAX, 5, 99]));
        assert_eq!(joined, of(&[0, 5, 5, 99, 1_234_567, u32::MAX]));
        let text = serde_json::to_string(&joined).unwrap();
        assert_eq!(serde_json::from_str::<Times>(&text).unwrap(), joined);
        assert_eq!(joined.operations(), 6);
    }
}
