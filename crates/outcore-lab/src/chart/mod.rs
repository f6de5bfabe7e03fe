//! Charts as SVG: bars with intervals, lines over sizes, columns, quantiles of single operations.
//!
//! Each is drawn twice, for a wide and for a narrow page, so that text keeps its size. Colors are
//! classes of the page's style sheet.

mod bars;
mod columns;
mod lines;
mod scale;

use crate::report::{Chart, Experiment, Row};
use crate::rounds::AGAIN;
use crate::table::Column;
pub use bars::{Bar, BarRow};
pub use columns::{Around, Upright};
pub use lines::{Axes, Point, Series};
use scale::Scale;
use std::fmt::Write as _;

/// A chart for both kinds of pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    /// What it shows.
    pub title: String,
    /// SVG for a page of a desk.
    pub wide: String,
    /// SVG for a page of a telephone.
    pub narrow: String,
}

/// Width and layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Wide,
    Narrow,
}

impl Layout {
    fn width(self) -> f64 {
        match self {
            Self::Wide => 760.0,
            Self::Narrow => 340.0,
        }
    }
}

/// More quantiles than these would make a page of their own.
const SPANS_MAX: usize = 40;

/// The charts of an experiment, one a group of rows; without a chart of its own it gets bars of the
/// elapsed time. Rows whose single operations were timed get one more, of their quantiles.
pub fn charts(experiment: &Experiment) -> Vec<Drawing> {
    let mut drawings = Vec::new();
    for (group, rows) in groups(experiment) {
        let of = if group.is_empty() { String::new() } else { format!(", {group}") };
        let chart = experiment.chart.clone().unwrap_or_else(|| own_bars(&rows));
        let is_lines = matches!(chart, Chart::Lines { .. });
        drawings.extend(match chart {
            Chart::Bars { column, logarithmic } => {
                let title = format!("{}{of}", column.heading());
                drawing(&title, |layout| {
                    bars::intervals(&title, &rows, column, logarithmic, layout)
                })
            }
            Chart::Lines { x, column } => {
                let title = format!("{} by {x}{of}", column.heading());
                drawing(&title, |layout| lines::lines(&title, &rows, &x, column, layout))
            }
        });
        if is_lines || rows.len() > SPANS_MAX {
            continue;
        }
        let timed: Vec<&Row> = rows
            .iter()
            .copied()
            .filter(|row| row.name != AGAIN && Column::OperationMax.value(row).is_some())
            .collect();
        let title = format!("single operations in µs, from the fastest to the slowest{of}");
        drawings.extend(drawing(&title, |layout| bars::quantiles(&title, &timed, layout)));
    }
    drawings
}

/// Rows of bars, with `words` below the axis; `None` if there are none.
pub fn bars(title: &str, rows: &[BarRow], words: &str, logarithmic: bool) -> Option<Drawing> {
    drawing(title, |layout| bars::bars(title, rows, words, logarithmic, layout))
}

/// Columns; `None` if none has a height.
pub fn columns(title: &str, columns: &[Upright], around: Around<'_>) -> Option<Drawing> {
    drawing(title, |layout| columns::columns(title, columns, around, layout))
}

/// Lines; `None` if there is no point.
pub fn lines(title: &str, series: &[Series], axes: Axes<'_>) -> Option<Drawing> {
    drawing(title, |layout| lines::draw(title, series, &[], axes, layout))
}

fn drawing(title: &str, draw: impl Fn(Layout) -> Option<String>) -> Option<Drawing> {
    let (wide, narrow) = (draw(Layout::Wide)?, draw(Layout::Narrow)?);
    Some(Drawing { title: title.to_owned(), wide, narrow })
}

fn groups(experiment: &Experiment) -> Vec<(&str, Vec<&Row>)> {
    let mut groups: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in &experiment.rows {
        match groups.iter_mut().find(|(group, _)| *group == row.group) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((&row.group, vec![row])),
        }
    }
    groups
}

/// Elapsed time, on a logarithmic axis if it takes one to see the short ones.
fn own_bars(rows: &[&Row]) -> Chart {
    let times: Vec<f64> = rows.iter().filter_map(|row| Column::Wall.value(row)).collect();
    let (low, high) = extent(&times);
    Chart::Bars { column: Column::Wall, logarithmic: high > 30.0 * low }
}

fn extent(values: &[f64]) -> (f64, f64) {
    let fold = |start, pick: fn(f64, f64) -> f64| values.iter().copied().fold(start, pick);
    (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max))
}

/// The beginning of a drawing: its size, and what it is called.
fn open(title: &str, layout: Layout, height: f64) -> String {
    let (width, title) = (layout.width(), escape(title));
    let class = if layout == Layout::Wide { "wide" } else { "narrow" };
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height:.0}\" role=\"img\" \
         aria-label=\"{title}\"><title>{title}</title>"
    )
}

fn text(svg: &mut String, x: f64, y: f64, class: &str, words: &str) {
    let _ =
        write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{}</text>", escape(words));
}

fn line(svg: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = write!(
        svg,
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

/// Upright lines with their values below, from `top` to `bottom`.
fn upright_grid(svg: &mut String, scale: &Scale, top: f64, bottom: f64) {
    for tick in scale.ticks() {
        let x = scale.at(tick);
        line(svg, "grid", (x, top), (x, bottom));
        text(svg, x, bottom + 14.0, "tick middle", &scale::short(tick));
    }
}

/// At most `most` characters.
fn cut(words: &str, most: usize) -> String {
    if words.chars().count() <= most {
        return words.to_owned();
    }
    words.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Text for HTML and SVG, in elements and in quoted attributes. Control characters have no place in
/// either.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for mark in text.chars() {
        match mark {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            mark if mark.is_control() => safe.push(' '),
            mark => safe.push(mark),
        }
    }
    safe
}
