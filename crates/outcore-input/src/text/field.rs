//! Single fields: words of their text, and a weight from its digits.
//!
//! Weights have a path over 8-byte words (SIMD within a register: Mycroft's zero-byte test, 1987; Lemire's eight digits at
//! a time, 2018) and a plain path that gives the same result.

use crate::chunk::Problem;

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
const LOW_SEVEN: u64 = 0x7F7F_7F7F_7F7F_7F7F;
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Returns eight copies of a byte.
#[inline(always)]
pub(crate) const fn splat(byte: u8) -> u64 {
    byte as u64 * LOW_BITS
}

/// Marks bytes of `word` that equal the pattern's; only the lowest mark is certain.
#[inline(always)]
pub(crate) const fn first_equal(word: u64, pattern: u64) -> u64 {
    let difference = word ^ pattern;
    difference.wrapping_sub(LOW_BITS) & !difference & HIGH_BITS
}

/// Marks exactly the bytes of `word` that equal the pattern's.
#[inline(always)]
pub(crate) const fn all_equal(word: u64, pattern: u64) -> u64 {
    let difference = word ^ pattern;
    !(((difference & LOW_SEVEN) + LOW_SEVEN) | difference) & HIGH_BITS
}

/// Returns the two words at `at`; the text is padded, so they always exist.
#[inline(always)]
pub(crate) fn words(text: &[u8], at: usize) -> (u64, u64) {
    let bytes: [u8; 16] = *text[at..].first_chunk().expect("the text is padded");
    let whole = u128::from_le_bytes(bytes);
    (whole as u64, (whole >> 64) as u64)
}

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Reads a plain decimal of at most seven characters at the start of `word`; returns its value and length. `None` for
/// anything else. The caller must check the byte after it.
#[inline(always)]
pub(crate) fn short_weight(word: u64) -> Option<(f64, usize)> {
    let digits = word ^ ZEROS;
    // A byte is no digit if its distance from '0' is above 9: adding 0x76 carries into its top bit.
    let others = (((digits & LOW_SEVEN) + splat(0x76)) | digits) & HIGH_BITS;
    let points = all_equal(word, splat(b'.'));
    let ends = others & !points;
    if ends == 0 {
        return None;
    }
    let len = ends.trailing_zeros() / 8;
    let inside = points & ((1 << (len * 8)) - 1);
    let (packed, count, decimals) = if inside == 0 {
        (digits, len, 0)
    } else {
        let point = inside.trailing_zeros() / 8;
        let before = (1u64 << (point * 8)) - 1;
        (digits & before | (digits >> 8) & !before, len - 1, len - 1 - point)
    };
    if count == 0 || inside & inside.wrapping_sub(1) != 0 {
        return None;
    }
    let mantissa = eight_digits(packed << (64 - count * 8));
    Some((mantissa as f64 / POWERS[decimals as usize], len as usize))
}

/// Returns the number of eight digits (0 to 9, not characters), the first one lowest.
#[inline(always)]
const fn eight_digits(digits: u64) -> u64 {
    const MASK: u64 = 0x0000_00FF_0000_00FF;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let outer = (pairs & MASK).wrapping_mul(0x000F_4240_0000_0064);
    let inner = ((pairs >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001);
    outer.wrapping_add(inner) >> 32
}

/// Reads a weight as written: a finite number that is at least 0.
///
/// Decimals of at most 15 digits with a small exponent take one division or multiplication, which rounds correctly
/// (Clinger, 1990); others use the standard library. Spaces around the number are ignored. A positive number too small
/// for `f64` becomes the smallest positive one.
pub(crate) fn weight_value(field: &[u8]) -> Result<f64, Problem> {
    let field = field.trim_ascii();
    if let Some(value) = plain_decimal(field) {
        return Ok(value);
    }
    if field.is_empty() {
        return Err(Problem::EmptyWeight);
    }
    let text = std::str::from_utf8(field).map_err(|_| Problem::WeightNotNumber)?;
    let value: f64 = text.parse().map_err(|_| Problem::WeightNotNumber)?;
    if value.is_nan() {
        Err(Problem::WeightNan)
    } else if value < 0.0 {
        Err(Problem::WeightNegative)
    } else if value.is_infinite() {
        Err(Problem::WeightInfinite)
    } else if value == 0.0 && has_digit_above_zero(field) {
        if field[0] == b'-' { Err(Problem::WeightNegative) } else { Ok(f64::from_bits(1)) }
    } else {
        Ok(value)
    }
}

/// Returns whether the mantissa of a number contains a digit other than 0.
fn has_digit_above_zero(number: &[u8]) -> bool {
    let mantissa = number.split(|&byte| byte | 0x20 == b'e').next().unwrap_or_default();
    mantissa.iter().any(|byte| (b'1'..=b'9').contains(byte))
}

/// Returns the value of `digits[.digits][e[+-]digits]` with at most 15 digits and an exact power of ten.
fn plain_decimal(field: &[u8]) -> Option<f64> {
    let mut mantissa = 0u64;
    let mut digits = 0;
    let mut decimals = 0;
    let mut point = false;
    let mut exponent = 0;
    for (at, &byte) in field.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            mantissa = mantissa * 10 + u64::from(digit);
            digits += 1;
            decimals += i32::from(point);
            if digits > 15 {
                return None;
            }
        } else if byte == b'.' && !point {
            point = true;
        } else if byte | 0x20 == b'e' {
            exponent = small_exponent(&field[at + 1..])?;
            break;
        } else {
            return None;
        }
    }
    if digits == 0 {
        return None;
    }
    match exponent - decimals {
        power @ 0..=22 => Some(mantissa as f64 * POWERS[power as usize]),
        power @ -22..0 => Some(mantissa as f64 / POWERS[-power as usize]),
        _ => None,
    }
}

/// Reads one or two digits with an optional sign.
fn small_exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let value = match *digits {
        [a @ b'0'..=b'9'] => i32::from(a - b'0'),
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => i32::from(a - b'0') * 10 + i32::from(b - b'0'),
        _ => return None,
    };
    Some(if negative { -value } else { value })
}

/// Replaces the decimal comma of a number by a point; `None` if it has none.
pub(crate) fn with_point(field: &[u8]) -> Option<Vec<u8>> {
    let field = field.trim_ascii();
    let comma = memchr::memchr(b',', field).filter(|&at| at > 0 && field.len() <= 64)?;
    let is_digits = |digits: &[u8]| digits.first().is_some_and(u8::is_ascii_digit);
    let is_number = is_digits(&field[comma - 1..]) && is_digits(&field[comma + 1..]);
    if !is_number || field.contains(&b'.') {
        return None;
    }
    let mut field = field.to_vec();
    field[comma] = b'.';
    Some(field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WeightTransform;
    use outcore_graph::weight::Weight;
    use proptest::prelude::*;

    fn weight_code(field: &[u8]) -> Result<u32, Problem> {
        let value = weight_value(field)?;
        WeightTransform::None.code(value).ok_or(Problem::DistanceZero)
    }

    /// Reference implementation with the standard library alone.
    fn naive(text: &str) -> Result<u32, Problem> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Problem::EmptyWeight);
        }
        match text.parse::<f64>() {
            Err(_) => Err(Problem::WeightNotNumber),
            Ok(value) if value.is_nan() => Err(Problem::WeightNan),
            Ok(value) if value < 0.0 => Err(Problem::WeightNegative),
            Ok(value) if value.is_infinite() => Err(Problem::WeightInfinite),
            Ok(0.0) if has_digit_above_zero(text.as_bytes()) && text.starts_with('-') => {
                Err(Problem::WeightNegative)
            }
            Ok(0.0) if has_digit_above_zero(text.as_bytes()) => Ok(1),
            Ok(0.0) => Ok(0),
            Ok(value) => Ok(Weight::new(value).code()),
        }
    }

    fn short(text: &str) -> Option<(u32, usize)> {
        let mut bytes = [b'\n'; 8];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        let (value, len) = short_weight(u64::from_le_bytes(bytes))?;
        Some((WeightTransform::None.code(value).unwrap(), len))
    }

    #[test]
    fn weights_of_every_form_are_read() {
        for text in [
            "1",
            "0",
            "0.0",
            "-0",
            "-0.0",
            "+3",
            ".5",
            "5.",
            "1e3",
            "1E-3",
            "1e+22",
            "1e-22",
            "1e23",
            "123456789012345",
            "1234567890123456",
            "0.1234567890123456789",
            "1e-400",
            "-1e-400",
            "1e400",
            "-1",
            "inf",
            "-inf",
            "nan",
            "NaN",
            "infinity",
            "",
            " 2 ",
            ".",
            "1e",
            "e1",
            "1.2.3",
            "1,5",
            "0x10",
            "--1",
            "1e-320",
            "4.9e-324",
            "1_000",
            "1e-180",
        ] {
            assert_eq!(weight_code(text.as_bytes()), naive(text), "`{text}`");
            if text.len() < 8
                && let Some((code, len)) = short(text)
                && len == text.len()
            {
                assert_eq!(Ok(code), naive(text), "`{text}` in one word");
            }
        }
        assert_eq!(weight_code(b"\xff"), Err(Problem::WeightNotNumber));
        assert!(short("0.541").is_some() && short("1000000").is_some() && short(".").is_none());
    }

    proptest! {
        #[test]
        fn one_word_and_digit_by_digit_agree(text in "[0-9.e+-]{0,24}", plain in "[0-9]{0,5}[.]?[0-9]{0,3}") {
            prop_assert_eq!(weight_code(text.as_bytes()), naive(&text));
            if plain.len() < 8 && let Some((code, len)) = short(&plain) && len == plain.len() {
                prop_assert_eq!(Ok(code), naive(&plain));
            }
        }
    }
}
