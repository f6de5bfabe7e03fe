//! Transforms of weights as they are read: from counts, E-values and distances to weights that can be summed.
//!
//! Logarithms come from the crate `libm`, which uses additions and multiplications only: those of the system differ in
//! the last digit between machines, and the result could differ too. Cost: one branch per weight without a transform,
//! otherwise a logarithm or a division.

use super::Weight;

/// Transform of a number of the input into a weight, applied first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum WeightTransform {
    /// Uses the number as the weight.
    #[default]
    None,
    /// `ln(1 + w)`, for counts and scores over many orders of magnitude.
    Log,
    /// `-log10(w)`, for E-values. Those below 1e-200 become 200, as does 0, which search tools print for values below
    /// their smallest one; 1 and more become 0, which is no edge.
    #[cfg_attr(feature = "clap", value(name = Self::NegLog10.name()))]
    NegLog10,
    /// `1 / w`, for distances; a distance of 0 is an error.
    Reciprocal,
    /// `1 / (1 + w)`, for distances of which some are 0, which become 1, the largest weight.
    Similarity,
}

/// Smallest E-value that is distinguished from smaller ones.
const E_VALUE_MIN: f64 = 1e-200;
/// Weight of the smallest E-value.
const NEG_LOG10_MAX: f64 = 200.0;

impl WeightTransform {
    /// Returns the name, as the command takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Log => "log",
            Self::NegLog10 => "neglog10",
            Self::Reciprocal => "reciprocal",
            Self::Similarity => "similarity",
        }
    }

    /// Returns the code of the weight for `value`; 0 for no edge, `None` for a distance of 0 that has no weight. `value`
    /// is finite and at least 0.
    #[inline(always)]
    pub fn code(self, value: f64) -> Option<u32> {
        match self {
            Self::None if value == 0.0 => Some(0),
            Self::None => Some(Weight::new(value).code()),
            _ => self.transformed(value),
        }
    }

    /// A function of its own, to keep the loop over plain lines small.
    #[inline(never)]
    fn transformed(self, value: f64) -> Option<u32> {
        let weight = match self {
            Self::None => value,
            Self::Log => libm::log1p(value),
            Self::NegLog10 => (-libm::log10(value.max(E_VALUE_MIN))).min(NEG_LOG10_MAX),
            Self::Reciprocal if value == 0.0 => return None,
            // Reciprocals of the smallest numbers exceed the largest one.
            Self::Reciprocal => (1.0 / value).min(f64::MAX),
            Self::Similarity => 1.0 / (1.0 + value),
        };
        Some(if weight > 0.0 { Weight::new(weight).code() } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(transform: WeightTransform, value: f64) -> f64 {
        match transform.code(value).unwrap() {
            0 => 0.0,
            code => Weight::from_code(code).value(),
        }
    }

    fn near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 1e-6
    }

    #[test]
    fn every_transform_computes_what_its_name_says() {
        use WeightTransform::{Log, NegLog10, None, Reciprocal, Similarity};
        for value in [1e-300, 1e-9, 0.25, 0.999, 1.0, 3.0, 723.0, 1e18, 1e300] {
            assert!(near(weight(None, value), value), "{value}");
            assert!(near(weight(Log, value), value.ln_1p()), "{value}");
            assert!(near(weight(Reciprocal, value), value.recip()), "{value}");
            assert!(near(weight(Similarity, value), (1.0 + value).recip()), "{value}");
            let expected = (-value.log10()).clamp(0.0, 200.0);
            let found = weight(NegLog10, value);
            assert!(found == expected || near(found, expected), "{value}: {found}");
        }
        assert_eq!(weight(NegLog10, 1e-50), 50.0);
    }

    #[test]
    fn the_ends_of_the_range_are_weights_too() {
        use WeightTransform::{Log, NegLog10, None, Reciprocal, Similarity};
        let least = f64::from_bits(1);
        for value in [0.0, -0.0] {
            assert_eq!(weight(None, value), 0.0);
            assert_eq!(weight(Log, value), 0.0);
            assert_eq!(weight(NegLog10, value), 200.0);
            assert!(Reciprocal.code(value).is_none());
            assert_eq!(weight(Similarity, value), 1.0);
        }
        assert_eq!(weight(NegLog10, least), 200.0);
        assert_eq!((weight(NegLog10, 1.0), weight(NegLog10, f64::MAX)), (0.0, 0.0));
        assert!(weight(Log, least) > 0.0 && near(weight(Log, f64::MAX), 709.782_712_9));
        assert!(weight(Reciprocal, least).is_finite() && weight(Reciprocal, f64::MAX) > 0.0);
        assert!(weight(Similarity, f64::MAX) > 0.0);
    }

    /// Recorded on one machine; every other machine must give the same.
    #[test]
    fn codes_are_the_same_on_every_machine() {
        let values = [1e-199, 3.68e-105, 1.19e-98, 0.1, 0.7, 2.0, 308.0, 723.5, 1e6];
        let codes = |transform: WeightTransform| values.map(|value| transform.code(value).unwrap());
        let logs = [
            758_987_885,
            1_417_790_115,
            1_463_029_371,
            2_138_098_815,
            2_143_417_808,
            2_145_593_301,
            2_150_489_570,
            2_150_936_337,
            2_153_202_453,
        ];
        let e_values =
            [2_161_229_824, 2_159_294_354, 2_159_081_044, 2_145_386_496, 2_139_596_712, 0, 0, 0, 0];
        assert_eq!(codes(WeightTransform::Log), logs);
        assert_eq!(codes(WeightTransform::NegLog10), e_values);
    }
}
