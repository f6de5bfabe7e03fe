//! Building blocks of sections of the page.

use maud::{Markup, html};
use outcore_page::Table;
use outcore_page::chart::Drawing;

/// Section of the page.
pub(super) struct Section {
    /// Anchor for links.
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    /// Summary in a phrase.
    pub(super) short: String,
    pub(super) body: Markup,
}

/// Renders a table of numbers, in which the first column and those in `words` are text; nothing if there are no rows.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>], words: &[usize]) -> Markup {
    let table = Table { headings, rows, words, ..Table::default() };
    html! { @if !rows.is_empty() { (table) } }
}

/// Renders charts below each other.
pub(super) fn charts(drawings: impl IntoIterator<Item = Drawing>) -> Markup {
    html! { @for drawing in drawings { (drawing) } }
}

/// Renders small charts next to each other.
pub(super) fn small(drawings: impl IntoIterator<Item = Drawing>) -> Markup {
    html! { div.small { (charts(drawings)) } }
}

/// Formats a share in percent, with enough digits to distinguish it from 0 and 1.
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
