//! Charts with a span of quantiles per row, on a logarithmic axis.

use super::frame::Frame;
use super::scale::{Scale, extent};
use super::svg::{At, Drawing, LINE, Layout, Level, line, svg, text, upright_grid, upright_levels};
use maud::{Markup, html};

/// Row of quantiles.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Name in front of the row.
    pub name: String,
    /// Smallest value, median, a high quantile and largest value.
    pub at: [f64; 4],
    /// Text above the median.
    pub text: String,
    /// Tooltip.
    pub reported: String,
}

/// Draws `rows` of quantiles and lines at `levels`, with `words` below the axis of a wide and of a narrow page; `None` if
/// there are no rows.
pub fn spans(title: &str, rows: &[Span], words: [&str; 2], levels: &[Level]) -> Option<Drawing> {
    if rows.is_empty() {
        return None;
    }
    Drawing::new(title, |layout| Some(draw(title, rows, words, levels, layout)))
}

fn draw(title: &str, rows: &[Span], words: [&str; 2], levels: &[Level], layout: Layout) -> Markup {
    let frame = Frame::new(layout, rows.iter().map(|row| row.name.as_str()))
        .roomy()
        .below_levels(levels.len());
    let values = rows.iter().flat_map(|row| row.at).chain(levels.iter().map(|(_, at)| *at));
    let (low, high) = extent(values.map(|value| value.max(1e-3)));
    let scale = Scale::logarithmic(low, high, frame.left + 4.0, frame.right);
    let bottom = frame.bottom(rows.len());
    let inside = html! {
        (upright_grid(&scale, frame.top, bottom))
        (upright_levels(layout, &scale, levels, frame.top - LINE * levels.len() as f64, bottom))
        @for (number, row) in rows.iter().enumerate() {
            (frame.name(number, &row.name))
            (span(&scale, frame.middle(number), row))
        }
        (text(frame.left, bottom + 32.0, "axis", layout.pick(words)))
    };
    svg(title, layout, bottom + 38.0, &inside)
}

fn span(scale: &Scale, y: f64, row: &Span) -> Markup {
    let [smallest, median, high, largest] = row.at.map(|value| scale.at(value));
    html! {
        g {
            title { (row.reported) }
            (line("span", (smallest, y), (largest, y)))
            rect.bar x=(At(median)) y=(At(y - 4.5)) width=(At((high - median).max(1.0))) height="9" {}
            @for (x, class, radius) in
                [(smallest, "dot-end", 3), (median, "dot", 5), (largest, "dot-end", 3)]
            {
                circle class=(class) cx=(At(x)) cy=(At(y)) r=(radius) {}
            }
            (text(median, y - 8.0, "value middle", &row.text))
        }
    }
}
