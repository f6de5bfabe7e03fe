//! What sections of the page are made of.

use maud::{Markup, html};
use outcore_page::Table;
use outcore_page::chart::Drawing;

/// A part of the page.
pub(super) struct Section {
    /// What links lead to.
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    /// What it tells, in a phrase.
    pub(super) short: String,
    pub(super) body: Markup,
}

/// A table of numbers, but for the columns of `words` beside the first; nothing without rows.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>], words: &[usize]) -> Markup {
    let table = Table { headings, rows, words, ..Table::default() };
    html! { @if !rows.is_empty() { (table) } }
}

/// Charts below each other.
pub(super) fn charts(drawings: impl IntoIterator<Item = Drawing>) -> Markup {
    html! { @for drawing in drawings { (drawing) } }
}

/// Small charts side by side.
pub(super) fn small(drawings: impl IntoIterator<Item = Drawing>) -> Markup {
    html! { div.small { (charts(drawings)) } }
}

/// A share in percent, with the digits that tell it from 0 and 1.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".into();
    }
    let share = 100.0 * part as f64 / whole as f64;
    match share {
        share if share > 0.0 && share < 0.1 => format!("{share:.3} %"),
        share if share > 99.9 && part < whole => {
            format!("{:.3} %", (1000.0 * share).floor() / 1000.0)
        }
        share => format!("{share:.1} %"),
    }
}
