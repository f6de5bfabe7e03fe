//! Weights in 32 bits: the exponent range of `f64` with 21 bits of mantissa.
//!
//! A [`Weight`] is the top of a positive `f64`: 11 bits of exponent and 21 of mantissa, rounded to
//! nearest. So every positive weight keeps a relative precision of 2^-22 whatever its size (1e-300
//! as well as 1e300), integers up to 2^22 are exact, and the order of codes is the order of weights.

/// A positive, finite weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u32);

/// Two sums of weights that differ by less than this share are equal: more than the rounding of the
/// weights themselves can make between two sums.
pub const RELATIVE_TOLERANCE: f64 = 1.0 / (1u64 << 20) as f64;

impl Weight {
    /// Weight 1, which every edge has when the input gives none.
    pub const ONE: Self = Self((1023u32) << 21);

    /// Rounds a positive, finite number; numbers out of range become the nearest weight.
    pub fn new(value: f64) -> Self {
        debug_assert!(value > 0.0 && value.is_finite(), "a weight is positive and finite: {value}");
        let code = (value.to_bits() + (1 << 30)) >> 31;
        // Zero would not be a weight, and 0xFFE00000 is the code of infinity.
        Self((code as u32).clamp(1, 0xFFDF_FFFF))
    }

    /// The code, whose order is the order of weights.
    pub const fn code(self) -> u32 {
        self.0
    }

    /// The weight with a code made by [`Weight::code`].
    pub const fn from_code(code: u32) -> Self {
        Self(code)
    }

    /// The number.
    #[inline]
    pub const fn value(self) -> f64 {
        f64::from_bits((self.0 as u64) << 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_keep_their_relative_precision_at_every_size() {
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
