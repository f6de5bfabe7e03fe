//! Building blocks of sections of the page.

use super::found::Found;
use maud::{Markup, html};
use outcore::units::format_count;
use outcore_page::Records;
use outcore_page::chart::Drawing;

/// Maximum number of results that are drawn and listed.
pub(super) const RESULTS_MAX: usize = 3;

/// Section of the page.
pub(super) struct Section {
    /// Anchor for links.
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    /// Summary in a phrase.
    pub(super) short: String,
    pub(super) body: Markup,
}

impl Section {
    /// Renders a section that is seen at once.
    pub(super) fn open(&self) -> Markup {
        html! {
            section.experiment id=(self.id) {
                h2 { (self.heading) } p.faint { (self.short) } (self.body)
            }
        }
    }

    /// Renders a section of which only heading and summary are seen at first.
    pub(super) fn folded(&self) -> Markup {
        html! {
            details.part id=(self.id) {
                summary { h2 { (self.heading) } " " span.faint { (self.short) } }
                (self.body)
            }
        }
    }
}

/// Renders something for each of the first results for which there is something: unfolded for the first of them.
pub(super) fn for_each(
    all: &[Found<'_>],
    render: impl Fn(usize, &Found<'_>) -> Option<Markup>,
) -> Markup {
    let rendered = all.iter().enumerate().take(RESULTS_MAX);
    let rendered = rendered.filter_map(|(at, found)| Some((at, found, render(at, found)?)));
    let left_out = format_count(all.len().saturating_sub(RESULTS_MAX) as u64);
    html! {
        @for (at, found, body) in rendered {
            @if all.len() == 1 { (body) } @else {
                details.result open[at == 0] { summary { h3 { (found.name) } } (body) }
            }
        }
        @if all.len() > RESULTS_MAX { p.faint { "The other " (left_out) " are compared above." } }
    }
}

/// Renders a table of numbers, in which the first column and those in `words` are text; nothing if there are no rows.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>], words: &[usize]) -> Markup {
    let cells = |row: &Vec<String>| row.iter().map(|cell| html! { (cell) }).collect();
    let rows: Vec<Vec<Markup>> = rows.iter().map(cells).collect();
    html! { @if !rows.is_empty() { (Records { headings, rows: &rows, words, sortable: false }) } }
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

/// Formats a value of any magnitude with about six digits.
pub(super) fn real(value: f64) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".into(),
        _ if !(1e-4..1e15).contains(&size) => format!("{value:.3e}"),
        _ if size >= 1e5 => whole(value),
        _ => {
            // Digits before the point take from those behind it.
            let before = (1..5).take_while(|&power| size >= 10f64.powi(power)).count();
            let text = format!("{value:.*}", 5 - before);
            let text = text.trim_end_matches('0').trim_end_matches('.');
            match text.split_once('.') {
                _ if size < 1000.0 => text.into(),
                Some((_, behind)) => format!("{}.{behind}", whole(value.trunc())),
                None => whole(value),
            }
        }
    }
}

fn whole(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", format_count(value.abs().round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_six_digits_at_any_magnitude() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.25, "0.25"),
            (-12.5, "-12.5"),
            (3.216_592_653, "3.21659"),
            (999.99, "999.99"),
            (1234.5, "1,234.5"),
            (1_234_567.8, "1,234,568"),
            (1e-7, "1.000e-7"),
            (2.5e20, "2.500e20"),
            (99_999.96, "100,000"),
        ] {
            assert_eq!(real(value), text);
        }
    }
}
