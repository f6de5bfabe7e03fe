//! Weights in 32 bits: the exponent range of `f64` with 21 bits of mantissa.
//!
//! A [`Weight`] consists of the leading bits of a positive `f64` after its sign: 11 bits of exponent and 21 of
//! mantissa, rounded to nearest. So every positive weight has a relative precision of 2^-22 at any magnitude (1e-300 as
//! well as 1e300), integers up to 2^22 are exact, and the order of codes is the order of weights. Graphs store codes,
//! so their meaning must not change.

mod transform;

pub use transform::WeightTransform;

/// Positive, finite weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u32);

/// Relative difference below which two sums of weights count as equal: larger than the effect that rounding
/// of the weights can have on two sums.
pub const RELATIVE_TOLERANCE: f64 = 1.0 / (1u64 << 20) as f64;

impl Weight {
    /// Weight 1, which every edge has if the input gives no weights.
    pub const ONE: Self = Self((1023u32) << 21);

    /// Rounds a positive, finite number to a weight; numbers out of range become the nearest weight.
    #[inline]
    pub fn new(value: f64) -> Self {
        debug_assert!(value > 0.0 && value.is_finite(), "a weight is positive and finite: {value}");
        let code = (value.to_bits() + (1 << 30)) >> 31;
        // Zero would not be a weight, and 0xFFE00000 is the code of infinity.
        Self((code as u32).clamp(1, 0xFFDF_FFFF))
    }

    /// Returns the code, whose order is the order of weights.
    pub const fn code(self) -> u32 {
        self.0
    }

    /// Returns the weight with a code made by [`Weight::code`].
    pub const fn from_code(code: u32) -> Self {
        Self(code)
    }

    /// Returns the number.
    #[inline]
    pub const fn value(self) -> f64 {
        f64::from_bits((self.0 as u64) << 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_precision_is_independent_of_magnitude() {
        for exponent in -300..300 {
            for digit in [1.0, 1.234_567, 7.77, 9.999_999] {
                let value = digit * 10f64.powi(exponent);
                let error = (Weight::new(value).value() / value - 1.0).abs();
                assert!(error <= 2f64.powi(-22), "{value}: {error}");
            }
        }
        for integer in [1u32, 2, 3, 1000, 999_999, 2_097_151, 4_194_304] {
            assert_eq!(Weight::new(f64::from(integer)).value(), f64::from(integer));
        }
        assert_eq!(Weight::new(1.0), Weight::ONE);
        assert!(Weight::new(f64::MAX).value().is_finite());
        assert!(Weight::new(f64::from_bits(1)).value() > 0.0);
        assert!(Weight::new(1.0) < Weight::new(1.001));
    }
}
