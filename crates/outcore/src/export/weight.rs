//! Text of weights: the shortest decimal number that is read back as the same weight.
//!
//! A weight has 22 significant bits, so seven or eight digits determine it, and the input had three or four of them
//! most of the time. The digits are found as a whole number of tenths, hundredths and so on: a whole number below 2^53
//! divided by a power of ten up to 10^22 is rounded once, so the quotient is the number that a reader of the text gets
//! (Clinger, "How to read floating point numbers accurately", 1990). About 20 ns per decimal; weights repeat, so texts
//! are kept in a small table.

use crate::weight::Weight;
use std::io::Write;

/// Powers of ten that are exact.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
/// Numbers that are written without an exponent.
const PLAIN: std::ops::Range<f64> = 1e-6..1e15;
/// Number of texts that are kept; a power of two.
const KEPT: usize = 1 << 12;
/// Maximum length of a text that is kept.
const TEXT_BYTES: usize = 23;

/// Returns a whole number and the number of decimals that it has, if the weight is written without an exponent.
fn decimal(code: u32) -> Option<(u64, usize)> {
    let value = Weight::from_code(code).value();
    if !PLAIN.contains(&value) {
        return None;
    }
    POWERS.iter().enumerate().find_map(|(decimals, power)| {
        let whole = (value * power).round();
        let is_it = (1.0..9e15).contains(&whole) && Weight::new(whole / power).code() == code;
        is_it.then_some((whole as u64, decimals))
    })
}

/// Returns the number whose text is the shortest of those that are read as the weight with this [code](Weight::code).
pub fn shortest_weight(code: u32) -> f64 {
    match decimal(code) {
        Some((whole, decimals)) => whole as f64 / POWERS[decimals],
        None => scientific(code).0,
    }
}

/// Returns the shortest number with an exponent, and its text.
fn scientific(code: u32) -> (f64, String) {
    let value = Weight::from_code(code).value();
    for digits in 0..17 {
        let text = format!("{value:.digits$e}");
        let read = text.parse::<f64>().unwrap_or(0.0);
        if read > 0.0 && read.is_finite() && Weight::new(read).code() == code {
            return (read, text);
        }
    }
    (value, format!("{value:e}"))
}

pub(super) fn put_weight(code: u32, out: &mut Vec<u8>) {
    let Some((whole, decimals)) = decimal(code) else {
        out.extend_from_slice(scientific(code).1.as_bytes());
        return;
    };
    let start = out.len();
    // Writing to a vector cannot fail.
    let _ = match decimals {
        0 => write!(out, "{whole}"),
        _ => write!(out, "{whole:0width$}", width = decimals + 1),
    };
    if decimals > 0 {
        let point = out.len() - decimals;
        debug_assert!(point > start, "a digit is before the point");
        out.insert(point, b'.');
    }
}

/// Texts of recent weights.
pub(super) struct WeightTexts {
    /// Code, length and text of each place.
    kept: Vec<(u32, u8, [u8; TEXT_BYTES])>,
}

impl Default for WeightTexts {
    fn default() -> Self {
        // No weight has the code 0.
        Self { kept: vec![(0, 0, [0; TEXT_BYTES]); KEPT] }
    }
}

impl WeightTexts {
    #[inline]
    pub(super) fn put(&mut self, code: u32, out: &mut Vec<u8>) {
        let place = (code.wrapping_mul(0x9E37_79B1) >> 20) as usize;
        let (kept, len, text) = &mut self.kept[place];
        if *kept == code {
            out.extend_from_slice(&text[..usize::from(*len)]);
            return;
        }
        let start = out.len();
        put_weight(code, out);
        let new = &out[start..];
        if new.len() <= TEXT_BYTES {
            text[..new.len()].copy_from_slice(new);
            (*kept, *len) = (code, new.len() as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(weight: f64) -> String {
        let mut out = Vec::new();
        put_weight(Weight::new(weight).code(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn short_weights_stay_short() {
        for (weight, expected) in [
            (1.0, "1"),
            (0.3, "0.3"),
            (0.123, "0.123"),
            (723.0, "723"),
            (1e-5, "0.00001"),
            (0.05, "0.05"),
            (12.5, "12.5"),
            (4_194_304.0, "4194304"),
            (3e15, "3e15"),
            (1e-300, "1e-300"),
            (2.5e300, "2.5e300"),
        ] {
            assert_eq!(text(weight), expected);
        }
        for extreme in [f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1)] {
            let code = Weight::new(extreme).code();
            assert_eq!(Weight::new(text(extreme).parse().unwrap()).code(), code);
        }
    }

    proptest! {
        #[test]
        fn weights_are_read_back(codes in prop::collection::vec(prop_oneof![1u32..0xFFDF_FFFF, 0x3E00_0000u32..0x42F0_0000], 1..50)) {
            let mut texts = WeightTexts::default();
            for code in codes.iter().chain(&codes) {
                let (mut out, mut again) = (Vec::new(), Vec::new());
                put_weight(*code, &mut out);
                texts.put(*code, &mut again);
                prop_assert_eq!(&out, &again);
                let read: f64 = std::str::from_utf8(&out).unwrap().parse().unwrap();
                prop_assert_eq!(Weight::new(read).code(), *code);
                prop_assert_eq!(read.to_bits(), shortest_weight(*code).to_bits());
                prop_assert!(out.len() <= 24, "{}", String::from_utf8_lossy(&out));
            }
        }
    }
}
