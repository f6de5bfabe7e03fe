//! Parsing and formatting of sizes and durations. Bytes are in binary units: `4GiB`.
//!
//! ```
//! use outcore_io::units::{GIB, format_bytes, parse_bytes};
//!
//! assert_eq!(parse_bytes("1.5GiB")?, 3 * GIB / 2);
//! assert_eq!(format_bytes(3 * GIB / 2), "1.50 GiB");
//! # Ok::<(), outcore_io::Error>(())
//! ```

use crate::error::{Error, ErrorKind, Result};

/// One kibibyte.
pub const KIB: u64 = 1 << 10;
/// One mebibyte.
pub const MIB: u64 = 1 << 20;
/// One gibibyte.
pub const GIB: u64 = 1 << 30;

/// Parses a size: `512MiB`, `4GiB`, `4G`, `1000000`. Units are binary with or without the `i` (`4GB` is
/// `4GiB`): a memory limit is never meant to be smaller than it reads.
///
/// # Errors
/// [`ErrorKind::Usage`], quoting the text.
pub fn parse_bytes(text: &str) -> Result<u64> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let scale = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => KIB,
        "m" | "mb" | "mib" => MIB,
        "g" | "gb" | "gib" => GIB,
        "t" | "tb" | "tib" => GIB << 10,
        _ => return Err(bad_size(text)),
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(scale).ok_or_else(|| bad_size(text));
    }
    let value: f64 = number.parse().map_err(|_| bad_size(text))?;
    let bytes = value * scale as f64;
    if bytes.is_finite() && bytes < 2f64.powi(63) { Ok(bytes as u64) } else { Err(bad_size(text)) }
}

fn bad_size(text: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("`{text}` is not a size"))
        .hint("use a number with a unit, such as `512MiB` or `4GiB`")
}

/// Formats a size with three digits: `1.81 GiB`.
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// Formats a size as an option value: rounded up to whole MiB, without a space.
pub fn size_to_type(bytes: u64) -> String {
    format!("{}MiB", bytes.div_ceil(MIB))
}

/// Formats a count with separators: `1,806,067,135`.
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a count with three digits: `950`, `12.3 k`, `4.56 M`, `7.89 G`.
pub fn format_short(count: f64) -> String {
    const UNITS: [&str; 5] = ["", " k", " M", " G", " T"];
    let (mut value, mut unit) = (count, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 || value >= 99.95 => 0,
        _ if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$}{}", UNITS[unit])
}

/// Formats a count with a noun: `1 edge`, `2,000 edges`.
pub fn format_counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", format_count(count), if count == 1 { one } else { many })
}

/// Formats a duration: `0.42s`, `6.4s`, `1m 12s`, `2h 05m`.
pub fn format_seconds(seconds: f64) -> String {
    if seconds < 1.0 {
        return format!("{seconds:.2}s");
    }
    if seconds < 60.0 {
        return format!("{seconds:.1}s");
    }
    let whole = seconds.round() as u64;
    if whole < 3600 {
        format!("{}m {:02}s", whole / 60, whole % 60)
    } else {
        format!("{}h {:02}m", whole / 3600, whole % 3600 / 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_in_every_common_form() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("512MiB", 512 * MIB),
            ("4GB", 4 * GIB),
            ("4g", 4 * GIB),
            ("1.5 GiB", 3 * GIB / 2),
            ("2tib", 2048 * GIB),
        ] {
            assert_eq!(parse_bytes(text).unwrap(), bytes, "{text}");
        }
        for text in ["", "MiB", "-1", "1.2.3", "4QB", "1e9", "99999999999TiB", "½GiB"] {
            assert_eq!(parse_bytes(text).unwrap_err().kind(), ErrorKind::Usage, "{text}");
        }
    }

    #[test]
    fn numbers_are_formatted_for_people() {
        assert_eq!(format_bytes(1023), "1023 B");
        assert_eq!(format_bytes(31 * GIB + GIB / 2), "31.5 GiB");
        assert_eq!(format_bytes(u64::MAX), "16384 PiB");
        assert_eq!(format_count(1_806_067_135), "1,806,067,135");
        assert_eq!(format_count(12), "12");
        for (count, text) in
            [(999.4, "999"), (12_345.0, "12.3 k"), (99_960.0, "100 k"), (4.561e6, "4.56 M")]
        {
            assert_eq!(format_short(count), text);
        }
        assert_eq!(format_counted(1, "edge", "edges"), "1 edge");
        assert_eq!(format_counted(2000, "edge", "edges"), "2,000 edges");
        assert_eq!(format_seconds(0.4242), "0.42s");
        assert_eq!(format_seconds(72.0), "1m 12s");
        assert_eq!(format_seconds(7500.0), "2h 05m");
    }
}
