//! Compact integers: bit packing, and weights as short integers.
//!
//! Packing and unpacking cost about a nanosecond per value. Readers of packed values may access up to
//! [`PADDING`] bytes after them, so a buffer of packed bytes must end with that many additional bytes.
//!
//! Weights in text are mostly decimal numbers with few digits. As in "ALP: Adaptive Lossless floating-Point
//! Compression" (Afroozeh, Kuffó, Boncz 2023), a block whose weights are all `integer / 10^e` stores the
//! integers; 0.541 takes 10 bits. Other blocks store the codes.

use crate::weight::Weight;
pub(crate) use outcore_sort::{get_varint, put_varint};

/// Bytes that must follow packed values in memory.
pub(crate) const PADDING: usize = 8;

/// Returns the number of bits needed for `value`.
#[inline]
pub fn bits_for(value: u32) -> u8 {
    (32 - value.leading_zeros()) as u8
}

/// Returns the number of bytes of `count` values of `width` bits.
#[inline]
pub(crate) fn packed_bytes(count: usize, width: u8) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Appends `values` in `width` bits each; bits above `width` must be 0.
#[inline]
pub(crate) fn pack(values: &[u32], width: u8, out: &mut Vec<u8>) {
    let (mut bits, mut filled) = (0u64, 0u32);
    for &value in values {
        debug_assert!(bits_for(value) <= width);
        bits |= u64::from(value) << filled;
        filled += u32::from(width);
        if filled >= 32 {
            out.extend_from_slice(&(bits as u32).to_le_bytes());
            bits >>= 32;
            filled -= 32;
        }
    }
    let rest = bits.to_le_bytes();
    out.extend_from_slice(&rest[..filled.div_ceil(8) as usize]);
}

/// Fills `values` from `bytes`, `width` bits each. `bytes` holds [`PADDING`] more bytes than needed.
#[inline]
pub(crate) fn unpack(bytes: &[u8], width: u8, values: &mut [u32]) {
    let mask = ((1u64 << width) - 1) as u32;
    let mut bit = 0usize;
    for value in values {
        let at = bit >> 3;
        let word: [u8; 8] = bytes[at..at + 8].try_into().expect("eight bytes");
        *value = (u64::from_le_bytes(word) >> (bit & 7)) as u32 & mask;
        bit += width as usize;
    }
}

/// Encoding of the weights of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightScheme {
    /// All weights are 1: nothing is stored.
    One,
    /// `integer / 10^e`.
    Decimal(u8),
    /// Code of the weight.
    Code,
}

const POWERS: [f64; 10] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// Exclusive upper bound of decimal integers; larger ones save nothing over codes.
const DECIMAL_LIMIT: f64 = 1_073_741_824.0;

impl WeightScheme {
    /// Chooses the scheme with the fewest bits that restores every code exactly.
    pub fn choose(codes: impl Iterator<Item = u32> + Clone) -> Self {
        if codes.clone().all(|code| code == Weight::ONE.code()) {
            return Self::One;
        }
        // A wrong exponent fails within a few values; the right one is checked on all.
        (0..POWERS.len() as u8)
            .map(Self::Decimal)
            .find(|scheme| codes.clone().all(|code| scheme.exact_integer(code).is_some()))
            .unwrap_or(Self::Code)
    }

    #[inline]
    fn exact_integer(self, code: u32) -> Option<u32> {
        let Self::Decimal(exponent) = self else { return Some(code) };
        let scaled =
            (Weight::from_code(code).value() * POWERS[exponent as usize]).round_ties_even();
        if !(0.0..DECIMAL_LIMIT).contains(&scaled) {
            return None;
        }
        let integer = scaled as u32;
        (integer > 0 && self.code(integer) == code).then_some(integer)
    }

    /// Returns the integer for `code`, which must be among the codes that the scheme was chosen for.
    #[inline]
    pub fn integer(self, code: u32) -> u32 {
        match self {
            Self::One => 0,
            Self::Code => code,
            Self::Decimal(exponent) => {
                (Weight::from_code(code).value() * POWERS[exponent as usize]).round_ties_even()
                    as u32
            }
        }
    }

    /// Returns the code for `integer`.
    #[inline]
    pub(crate) fn code(self, integer: u32) -> u32 {
        match self {
            Self::One => Weight::ONE.code(),
            Self::Code => integer,
            Self::Decimal(exponent) => {
                let value = f64::from(integer) / POWERS[exponent as usize];
                ((value.to_bits() + (1 << 30)) >> 31) as u32
            }
        }
    }

    /// Returns the stored form of the scheme.
    pub(crate) fn to_byte(self) -> u8 {
        match self {
            Self::One => 254,
            Self::Code => 255,
            Self::Decimal(exponent) => exponent,
        }
    }

    /// Returns the scheme stored as `byte`, if it is valid.
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            254 => Some(Self::One),
            255 => Some(Self::Code),
            exponent if (exponent as usize) < POWERS.len() => Some(Self::Decimal(exponent)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_values_round_trip(values in prop::collection::vec(any::<u32>(), 0..300), width in 0u8..=32) {
            let mask = ((1u64 << width) - 1) as u32;
            let values: Vec<u32> = values.iter().map(|value| value & mask).collect();
            let mut bytes = Vec::new();
            pack(&values, width, &mut bytes);
            prop_assert_eq!(bytes.len(), packed_bytes(values.len(), width));
            bytes.extend([0xff; PADDING]);
            let mut back = vec![0; values.len()];
            unpack(&bytes, width, &mut back);
            prop_assert_eq!(back, values);
        }

        #[test]
        fn every_scheme_restores_the_codes(
            values in prop::collection::vec(1u32..2_000_000, 1..50),
            exponent in 0i32..14,
        ) {
            let codes: Vec<u32> = values
                .iter()
                .map(|&value| Weight::new(f64::from(value) * 10f64.powi(-exponent)).code())
                .collect();
            let scheme = WeightScheme::choose(codes.iter().copied());
            prop_assert_eq!(WeightScheme::from_byte(scheme.to_byte()), Some(scheme));
            for &code in &codes {
                prop_assert_eq!(scheme.code(scheme.integer(code)), code);
            }
        }
    }

    #[test]
    fn decimal_weights_are_recognized() {
        let codes =
            |texts: &[f64]| texts.iter().map(|&v| Weight::new(v).code()).collect::<Vec<_>>();
        let scheme = |texts: &[f64]| WeightScheme::choose(codes(texts).into_iter());
        assert_eq!(scheme(&[1.0, 1.0]), WeightScheme::One);
        assert_eq!(scheme(&[1.0, 723.0]), WeightScheme::Decimal(0));
        assert_eq!(scheme(&[0.541, 0.9, 1.0]), WeightScheme::Decimal(3));
        assert_eq!(scheme(&[187.2, 52.0]), WeightScheme::Decimal(1));
        assert_eq!(scheme(&[1.0, 3.0e-100]), WeightScheme::Code);
    }
}
