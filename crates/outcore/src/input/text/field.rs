//! Single fields: the fingerprint of a name, and a weight from its digits.
//!
//! Both have a path over 8-byte words (SIMD within a register: Mycroft's zero-byte test, 1987; Lemire's eight digits at
//! a time, 2018) and a plain path that gives the same result.

use crate::input::fault::Problem;
use std::hash::BuildHasher;
use std::sync::LazyLock;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Maximum length of a name that is its own fingerprint.
pub(crate) const SHORT_NAME_BYTES: usize = 15;
/// Maximum length of a name.
pub const NAME_LIMIT: usize = 64 << 10;

/// Seed of the hash of longer names. It is secret to the process, so that nobody can construct two names with one
/// fingerprint. No result depends on it, and it is never stored.
static LONG_NAME_SEED: LazyLock<u64> =
    LazyLock::new(|| std::hash::RandomState::new().hash_one(LONG_NAME_MARK));
const LONG_NAME_MARK: u64 = 0xFF << 56;

/// Sixteen bytes that identify a name.
///
/// A name of at most 15 bytes is stored as itself, so that equal fingerprints mean equal names: `low` holds the first
/// eight bytes, the first one lowest; `high` the next seven and, on top, the length. The fingerprint of a longer name
/// is 120 bits of XXH3, with 0xFF on top.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Fingerprint {
    /// First eight bytes of the name, or the low half of its hash.
    pub low: u64,
    /// Next seven bytes and the length, or the high half of the hash below the mark 0xFF.
    pub high: u64,
}

impl Fingerprint {
    /// Returns the fingerprint of `name`.
    pub fn of(name: &[u8]) -> Self {
        if name.len() > SHORT_NAME_BYTES {
            return Self::of_long(name);
        }
        let bits = 8 * name.len() as u32;
        // Two loads, which overlap unless the length is a power of two.
        let (low, high) = match (name.first_chunk(), name.last_chunk()) {
            (Some(first), Some(last)) => {
                let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
                (first, if bits > 64 { last >> (128 - bits) } else { 0 })
            }
            _ => match (name.first_chunk(), name.last_chunk()) {
                (Some(first), Some(last)) => {
                    let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
                    (u64::from(first) | u64::from(last) << (bits - 32), 0)
                }
                _ => (name.iter().rev().fold(0, |low, &byte| low << 8 | u64::from(byte)), 0),
            },
        };
        Self { low, high: high | (name.len() as u64) << 56 }
    }

    /// Returns the fingerprint of a number's digits, the digits and how many there are; `None` for more than 15 digits.
    #[inline]
    pub(crate) fn of_number(number: u64) -> Option<(Self, [u8; 16], usize)> {
        const HALF: u64 = 100_000_000;
        if number >= 1_000_000_000_000_000 {
            return None;
        }
        let (whole, len) = match number < HALF {
            true => {
                let (digits, len) = without_zeros(digits(number));
                (u128::from(digits), len)
            }
            false => {
                let (first, len) = without_zeros(digits(number / HALF));
                let rest = digits(number % HALF) | ZEROS;
                (u128::from(first) | u128::from(rest) << (8 * len), len + 8)
            }
        };
        let high = (whole >> 64) as u64 | (len as u64) << 56;
        Some((Self { low: whole as u64, high }, whole.to_le_bytes(), len))
    }

    pub(crate) fn of_long(name: &[u8]) -> Self {
        let hash = xxh3_128_with_seed(name, *LONG_NAME_SEED);
        Self { low: hash as u64, high: (hash >> 64) as u64 | LONG_NAME_MARK }
    }

    /// Returns whether equal fingerprints mean equal names.
    pub(crate) fn is_exact(self) -> bool {
        self.high < LONG_NAME_MARK
    }

    /// Returns the length of the name, if the fingerprint is the name.
    pub(crate) fn short_len(self) -> Option<usize> {
        self.is_exact().then_some((self.high >> 56) as usize)
    }
}

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
const LOW_SEVEN: u64 = 0x7F7F_7F7F_7F7F_7F7F;
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Returns eight copies of a byte.
#[inline(always)]
pub(crate) const fn splat(byte: u8) -> u64 {
    byte as u64 * LOW_BITS
}

/// Returns the eight digits of a number below 10^8, one per byte, the first one lowest. Computes halves, quarters and
/// eighths in parallel in one word.
#[inline(always)]
const fn digits(number: u64) -> u64 {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007F_0000_007F;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | ((twos - 10 * tens) << 8)
}

/// Converts digits to text without leading zeros; returns it and its length.
#[inline(always)]
const fn without_zeros(digits: u64) -> (u64, usize) {
    // The last digit stays, even if it is 0.
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    ((digits | ZEROS) >> (8 * zeros), 8 - zeros as usize)
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

/// Returns the fingerprint of the first `len` bytes of two words; `len` is 1 to 15.
#[inline(always)]
pub(crate) fn short_fingerprint(low: u64, high: u64, len: usize) -> Fingerprint {
    debug_assert!(len > 0 && len <= SHORT_NAME_BYTES);
    let in_low = len.min(8) as u32 * 8;
    let in_high = len.saturating_sub(8) as u32 * 8;
    Fingerprint {
        low: low & (u64::MAX >> (64 - in_low)),
        high: high & ((1 << in_high) - 1) | (len as u64) << 56,
    }
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
    use crate::input::WeightTransform;
    use crate::weight::Weight;
    use proptest::prelude::*;

    fn weight_code(field: &[u8]) -> Result<u32, Problem> {
        WeightTransform::None.code(weight_value(field)?)
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

    #[test]
    fn numbers_have_the_fingerprints_of_their_digits() {
        let mut numbers: Vec<u64> = (0..2000).chain(999_000..1_001_000).collect();
        for power in 0..16 {
            let power = 10u64.pow(power);
            numbers.extend([power - 1, power, power + 1, power * 7 / 3, power / 9 * 8]);
        }
        let mut state = 1u64;
        numbers.extend((0..100_000).map(|at| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> (at % 50 + 14)
        }));
        for number in numbers {
            let text = number.to_string();
            match Fingerprint::of_number(number) {
                None => assert!(text.len() > SHORT_NAME_BYTES, "{number}"),
                Some((fingerprint, digits, len)) => {
                    assert_eq!(&digits[..len], text.as_bytes());
                    assert_eq!(fingerprint, Fingerprint::of(text.as_bytes()), "{number}");
                }
            }
        }
    }

    #[test]
    fn short_names_are_their_own_fingerprints() {
        assert_ne!(Fingerprint::of(b"a"), Fingerprint::of(b"a\0"));
        assert_eq!(Fingerprint::of(b"abc"), Fingerprint { low: 0x63_6261, high: 3 << 56 });
        assert_eq!(Fingerprint::of(&[b'x'; 15]).short_len(), Some(15));
        assert!(!Fingerprint::of(&[b'x'; 16]).is_exact());
    }

    proptest! {
        #[test]
        fn one_word_and_digit_by_digit_agree(text in "[0-9.e+-]{0,24}", plain in "[0-9]{0,5}[.]?[0-9]{0,3}") {
            prop_assert_eq!(weight_code(text.as_bytes()), naive(&text));
            if plain.len() < 8 && let Some((code, len)) = short(&plain) && len == plain.len() {
                prop_assert_eq!(Ok(code), naive(&plain));
            }
        }

        #[test]
        fn fingerprints_by_words_and_by_bytes_agree(name in proptest::collection::vec(any::<u8>(), 1..=15), junk: [u8; 16]) {
            let mut bytes = junk;
            bytes[..name.len()].copy_from_slice(&name);
            let (low, high) = words(&bytes, 0);
            prop_assert_eq!(short_fingerprint(low, high, name.len()), Fingerprint::of(&name));
        }
    }
}
