//! Numbers as text.

use outcore::units::format_count;

/// Formats a number with about three significant digits: `0.123`, `1.23`, `12.3`, `123`, `1,234`.
pub fn three(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "-".into(),
        size if size >= 999.5 => format_count(value.round() as u64),
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Formats how far a ratio above 1 is from 1: `1.5 %`.
pub fn percent(ratio: f64) -> String {
    format!("{:.1} %", (ratio - 1.0) * 100.0)
}
