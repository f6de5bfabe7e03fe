//! Recognizes the intended meaning of a field: numbers in any notation, and words for missing values.
//!
//! A column is taken for numbers if its fields are intended as numbers. A weight that cannot be parsed is then a bad
//! line with a place; if it were not taken for a number, it would go unnoticed.

use super::field::with_point;
use std::str::FromStr;

/// Texts for a missing value, in lower case.
const MISSING: [&str; 16] = [
    "", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", ".", "?", "missing",
    "unknown", "inf", "-inf",
];

/// Parses a field, without the spaces around it.
pub(crate) fn parsed<T: FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field.trim_ascii()).ok()?.parse().ok()
}

/// Returns whether a text is digits only, at least one.
pub(crate) fn is_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Returns whether a field parses as a number, even one that is not a weight, or is intended as one: `1,5`, `1 000`,
/// `1.000,5`, `5 %`, `$3`, digits of other alphabets.
pub(crate) fn is_number(field: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(field.trim_ascii()) else { return false };
    let is_read = |text: &[u8]| parsed::<f64>(text).is_some();
    let is_pointed = |text: Vec<u8>| is_read(&text);
    is_read(field) || with_point(field).is_some_and(is_pointed) || is_written_number(text)
}

/// Returns whether a field may name a column: it has a letter and is not a text for a missing value.
pub(crate) fn is_word(field: &[u8]) -> bool {
    let text = String::from_utf8_lossy(field.trim_ascii());
    text.chars().any(char::is_alphabetic) && !is_missing(field) && !is_number(field)
}

/// Returns whether a field is a date or a time in digits: `2020-01-31`, `1/31/20`, `12:30:00`.
pub(crate) fn is_moment(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"-/:. TZ+,".contains(byte);
    let has_separator = field.iter().filter(|byte| b"-/:.".contains(byte)).count() > 1;
    has_separator && field[0].is_ascii_digit() && field.iter().all(is_part)
}

/// Returns whether a field is a text for a missing value.
pub(crate) fn is_missing(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    field.len() <= 7 && MISSING.iter().any(|text| field.eq_ignore_ascii_case(text.as_bytes()))
}

/// Returns whether a field is a whole number, of digits only.
pub(crate) fn is_whole_number(field: &[u8]) -> bool {
    is_digits(field.trim_ascii())
}

/// Returns whether a field is a number with a point or an exponent.
pub(crate) fn is_fraction(field: &[u8]) -> bool {
    let has_mark = || field.iter().any(|byte| b".eE".contains(byte));
    // `9606.E1` is a name.
    let has_digits = || field.windows(2).all(|two| two[0] != b'.' || two[1].is_ascii_digit());
    has_mark()
        && has_digits()
        && field.iter().any(u8::is_ascii_digit)
        && parsed::<f64>(field).is_some()
}

/// Returns whether a name is what programs write for a missing value, in their spelling. `NA` is one below a header, as R
/// and pandas write it; without, it may be Namibia.
pub(crate) fn is_missing_name(name: &[u8], has_header: bool) -> bool {
    let texts: [&[u8]; 8] = [b"nan", b"NaN", b"NAN", b"N/A", b"<NA>", b"None", b"null", b"NULL"];
    texts.contains(&name) || has_header && name == b"NA"
}

/// Returns whether a field is a number with one comma, before its decimals or its thousands.
pub(crate) fn has_comma(field: &[u8]) -> bool {
    let text = String::from_utf8_lossy(field.trim_ascii());
    let has_one = text.matches(',').count() == 1;
    with_point(field).is_some() || has_one && text.contains('.') && is_written_number(&text)
}

/// Returns whether a text is digits in groups: of three after a thousands separator, of any length after the last point
/// or comma. A sign, a currency or a percent sign may surround them.
fn is_written_number(text: &str) -> bool {
    let text = text.trim_start_matches(['+', '-', '\u{2212}', '$', '€', '£', '¥']).trim_start();
    let text = text.trim_end_matches(['%', '‰', '€', '$']).trim_end();
    let is_separator = |letter: char| " \u{a0}\u{2009}\u{202f}_'’.,".contains(letter);
    let mut groups = text.split(is_separator).peekable();
    let (mut is_first, mut at) = (true, 0);
    while let Some(group) = groups.next() {
        let digits = group.chars().count();
        let is_last = groups.peek().is_none();
        let is_behind_point = text[..at].ends_with(['.', ',']);
        let is_fitting = match (is_first, is_last) {
            (true, true) => true,
            (true, false) => digits <= 3 || text[group.len()..].starts_with(['.', ',']),
            (false, true) if is_behind_point => true,
            (false, _) => digits == 3,
        };
        if digits == 0 || !is_fitting || !group.chars().all(char::is_numeric) {
            return false;
        }
        at += group.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
        is_first = false;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_recognized_in_any_notation() {
        for number in [
            "1",
            "1.5",
            "-1",
            "1e5",
            "nan",
            "inf",
            "1,5",
            "1,000",
            "1 000",
            "1\u{a0}000",
            "1.000,5",
            "1,000,000.5",
            "1'000",
            "5%",
            "5 %",
            "$5",
            "€ 5",
            "5 €",
            "１",
            "٣",
            "½",
            "\u{2212}1",
            "1234,5",
        ] {
            assert!(is_number(number.as_bytes()), "{number}");
        }
        for other in [
            "",
            "x",
            "1x",
            "2024-01-01",
            "12:00",
            "1.2.3",
            "10.0.0.1",
            "01.02.2024",
            "pp",
            "1 2",
            "P1",
            "1,2,3",
            "-",
            "%",
            ".",
            "1 000 x",
        ] {
            assert!(!is_number(other.as_bytes()), "{other}");
        }
        for (field, is_decimal) in
            [("1.000,5", true), ("1,5", true), ("1,000.5", true), ("b,1", false)]
        {
            assert_eq!(has_comma(field.as_bytes()), is_decimal, "{field}");
        }
    }

    #[test]
    fn words_for_missing_values_name_no_column() {
        for word in ["weight", "w", "Gewicht", "-log10(p)", "вес"] {
            assert!(is_word(word.as_bytes()), "{word}");
        }
        for other in ["", "NA", "NaN", "null", "-", "?", "n/a", "5", "..."] {
            assert!(!is_word(other.as_bytes()), "{other}");
        }
    }
}
