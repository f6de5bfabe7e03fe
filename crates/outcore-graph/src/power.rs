//! Powers of weights, identical on every machine, for many weights and one exponent.
//!
//! A weight is `2^e * m`. Powers of all `2^e` and of 2,048 values of `m` are in tables, computed with the
//! crate `libm`, which uses only exactly rounded operations; between two table entries for `m`, four terms of
//! the binomial series are exact to 2^-30. Memory 48 KiB; 3 to 4 ns per weight.

use crate::weight::Weight;

const TABLE_BITS: u32 = 11;
/// Bits of a weight's mantissa, and those that the table leaves to the series.
const MANTISSA_BITS: u32 = 21;
const REST_BITS: u32 = MANTISSA_BITS - TABLE_BITS;

/// Tables for raising weights to one power.
#[derive(Debug)]
pub(super) struct Power {
    exponent: f64,
    /// Powers by the exponent of the weight.
    scales: Vec<f64>,
    /// Powers and inverses by the top bits of the mantissa.
    mantissas: Vec<(f64, f64)>,
    /// Coefficients of the binomial series, from the second term.
    terms: [f64; 3],
}

impl Power {
    /// Creates the tables for an exponent above 0 and at most 16.
    pub(super) fn new(exponent: f64) -> Self {
        let p = exponent;
        let scale = |e: u32| libm::pow(2.0, p * (f64::from(e) - 1023.0));
        let mantissa = |top: u32| {
            let m = 1.0 + f64::from(top) / f64::from(1 << TABLE_BITS);
            (libm::pow(m, p), 1.0 / m)
        };
        Self {
            exponent,
            scales: (0..2048).map(scale).collect(),
            mantissas: (0..1 << TABLE_BITS).map(mantissa).collect(),
            terms: [p, p * (p - 1.0) / 2.0, p * (p - 1.0) * (p - 2.0) / 6.0],
        }
    }

    /// Returns the exponent of the power of 2^`shift`.
    pub(super) fn of_shift(&self, shift: i32) -> f64 {
        self.exponent * f64::from(shift)
    }

    /// Returns the code of the power of the weight with this code: the nearest weight if it is out of range.
    #[inline]
    pub(super) fn code(&self, code: u32) -> u32 {
        let exponent = code >> MANTISSA_BITS;
        let value = if exponent == 0 {
            libm::pow(Weight::from_code(code).value(), self.exponent)
        } else {
            let top = (code >> REST_BITS) & ((1 << TABLE_BITS) - 1);
            let rest = code & ((1 << REST_BITS) - 1);
            let (power, inverse) = self.mantissas[top as usize];
            let d = f64::from(rest) * (1.0 / f64::from(1 << MANTISSA_BITS)) * inverse;
            let [first, second, third] = self.terms;
            let series = 1.0 + d * (first + d * (second + d * third));
            self.scales[exponent as usize] * (power * series)
        };
        Weight::new(value.clamp(f64::from_bits(1), f64::MAX)).code()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_exact_to_the_precision_of_weights() {
        for exponent in [0.1, 0.5, 1.4, 2.0, 3.7, 10.0, 16.0] {
            let power = Power::new(exponent);
            for i in 0..100_000u32 {
                let code = Weight::new(1e-12).code() + i * 1_237;
                let expected = libm::pow(Weight::from_code(code).value(), exponent);
                let found = Weight::from_code(power.code(code)).value();
                let error = (found / expected - 1.0).abs();
                assert!(error <= 1.001 * 2f64.powi(-22), "{code} to {exponent}: {error}");
            }
        }
        let square = Power::new(2.0);
        for value in [1.0, 2.0, 3.0, 0.25, 1000.0] {
            let code = square.code(Weight::new(value).code());
            assert_eq!(Weight::from_code(code).value(), value * value);
        }
    }

    #[test]
    fn powers_out_of_range_are_the_nearest_weight() {
        let power = Power::new(16.0);
        assert_eq!(power.code(Weight::new(1e-300).code()), 1);
        assert_eq!(power.code(Weight::new(1e300).code()), Weight::new(f64::MAX).code());
        let root = Power::new(0.5);
        assert!(Weight::from_code(root.code(1)).value() > 0.0);
    }
}
