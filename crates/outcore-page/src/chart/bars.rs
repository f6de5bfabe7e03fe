//! Bar charts, with several bars per row. On a logarithmic axis, which has no zero for a bar to begin at, values are points.

use super::frame::{Frame, MORE};
use super::scale::{Scale, extent};
use super::svg::{At, Drawing, LINE, Layout, Level, line, svg, text, upright_grid, upright_levels};
use maud::{Markup, html};

/// Thickness of a single bar in a row.
const THICK: f64 = 15.0;
/// Thickness of each of several bars in a row.
const THIN: f64 = 10.0;

/// Row of bars below each other.
#[derive(Debug, Clone, PartialEq)]
pub struct BarRow {
    /// Name in front of the bars.
    pub name: String,
    /// Bars from the top down.
    pub bars: Vec<Bar>,
}

/// Bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Class in the style sheet.
    pub class: &'static str,
    /// Value at which it ends.
    pub value: f64,
    /// Interval, if it has one.
    pub whisker: Option<(f64, f64)>,
    /// Text behind the bar.
    pub text: String,
    /// Tooltip.
    pub reported: String,
}

impl Bar {
    /// Returns the smallest and the largest value that is drawn.
    fn ends(&self) -> (f64, f64) {
        self.whisker.unwrap_or((self.value, self.value))
    }
}

/// Axis of a bar chart.
#[derive(Debug, Clone, Copy)]
pub struct BarAxis<'a> {
    /// Words below it on a wide and on a narrow page.
    pub words: [&'a str; 2],
    /// Whether it is logarithmic.
    pub logarithmic: bool,
    /// Lines across all bars.
    pub levels: &'a [Level],
}

impl<'a> BarAxis<'a> {
    /// Creates an axis that begins at 0, with the same words on every page.
    pub fn plain(words: &'a str) -> Self {
        Self { words: [words; 2], logarithmic: false, levels: &[] }
    }
}

/// Draws `rows` of bars; `None` if there are none.
pub fn bars(title: &str, rows: &[BarRow], axis: BarAxis<'_>) -> Option<Drawing> {
    Drawing::new(title, |layout| draw(title, rows, axis, layout))
}

fn draw(title: &str, rows: &[BarRow], axis: BarAxis<'_>, layout: Layout) -> Option<Markup> {
    let BarAxis { words, logarithmic, levels } = axis;
    let all = || rows.iter().flat_map(|row| &row.bars);
    let most = rows.iter().map(|row| row.bars.len()).max()?;
    let frame = Frame::new(layout, rows.iter().map(|row| row.name.as_str()))
        .of_bars(most, all().map(|bar| bar.text.as_str()))
        .below_levels(levels.len());
    let values = || levels.iter().map(|(_, value)| *value);
    let (low, _) = extent(all().map(|bar| bar.ends().0).chain(values()));
    let (_, high) = extent(all().map(|bar| bar.ends().1).chain(values()));
    let scale = match logarithmic && low > 0.0 {
        true => Scale::logarithmic(low / 1.5, high, frame.left, frame.right),
        false => Scale::linear(high, frame.left, frame.right),
    };
    let bottom = frame.bottom(rows.len());
    let thickness = if most > 1 { THIN } else { THICK };
    let below = |number, bars: usize| frame.middle(number) + MORE * bars as f64;
    let inside = html! {
        (upright_grid(&scale, frame.top, bottom))
        (upright_levels(layout, &scale, levels, frame.top - LINE * levels.len() as f64, bottom))
        @for (number, row) in rows.iter().enumerate() {
            (frame.name(number, &row.name))
            @for (above, each) in row.bars.iter().enumerate() {
                (bar(&scale, below(number, above), thickness, each))
            }
        }
        (text(frame.left, bottom + 32.0, "axis", layout.pick(words)))
    };
    Some(svg(title, layout, bottom + 38.0, &inside))
}

fn bar(scale: &Scale, y: f64, thickness: f64, bar: &Bar) -> Markup {
    let (begin, end) = (scale.zero(), scale.at(bar.value));
    let whisker = bar.whisker.map(|(low, high)| (scale.at(low), scale.at(high)));
    let right = whisker.map_or(end, |(_, high)| end.max(high));
    html! {
        g {
            title { (bar.reported) }
            @if let Some(begin) = begin {
                rect class=(bar.class) x=(At(begin)) y=(At(y - thickness / 2.0))
                    width=(At((end - begin).max(1.0))) height=(thickness) rx="2" {}
            }
            @if let Some((low, high)) = whisker {
                (line("whisker", (low, y), (high, y)))
                @for x in [low, high] { (line("whisker", (x, y - 4.0), (x, y + 4.0))) }
            }
            @if begin.is_none() {
                circle class=(bar.class) cx=(At(end)) cy=(At(y)) r="4.5" {}
            }
            (text(right + 6.0, y + 4.0, "value", &bar.text))
        }
    }
}
