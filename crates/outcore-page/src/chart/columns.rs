//! Column charts, such as of a distribution or of consecutive sweeps.

use super::scale::{Scale, extent};
use super::svg::{At, Drawing, Layout, level_grid, line, svg, text, width};
use maud::{Markup, html};

/// Column.
#[derive(Debug, Clone, PartialEq)]
pub struct Upright {
    /// Class in the style sheet.
    pub class: String,
    /// Height; nothing is drawn for 0.
    pub value: f64,
    /// Label below its left edge, if there is room.
    pub label: String,
    /// Tooltip.
    pub reported: String,
}

/// Axes and legend of a column chart.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// Label below the chart.
    pub x: &'a str,
    /// Label above the chart.
    pub y: &'a str,
    /// Whether the vertical axis is always logarithmic; otherwise only if low columns would be invisible without it.
    pub logarithmic: bool,
    /// Classes and their meanings.
    pub legend: &'a [(String, String)],
}

/// Pixels between two labels.
const GAP: f64 = 9.0;
/// Maximum width of a column.
const WIDEST: f64 = 64.0;

/// Draws `columns`; `None` if none has a height.
pub fn columns(title: &str, columns: &[Upright], around: Around<'_>) -> Option<Drawing> {
    Drawing::new(title, |layout| draw(title, columns, around, layout))
}

fn draw(title: &str, columns: &[Upright], around: Around<'_>, layout: Layout) -> Option<Markup> {
    let (low, high) = extent(columns.iter().map(|each| each.value).filter(|value| *value > 0.0));
    if low > high {
        return None;
    }
    let (left, top) = (52.0, 28.0);
    let (right, bottom) = layout.pick([(12.0, 250.0), (10.0, 165.0)]);
    let right = layout.width() - right;
    let is_logarithmic = around.logarithmic || high > 30.0 * low;
    let y = match is_logarithmic {
        true => Scale::logarithmic(low / 2.0, high, bottom, top),
        false => Scale::linear(high, bottom, top),
    };
    let how = if is_logarithmic { ", logarithmic" } else { "" };
    let step = ((right - left) / columns.len() as f64).min(WIDEST);
    let gap = if step > 5.0 { 1.0 } else { 0.0 };
    let places = || (0..).map(|number| left + step * f64::from(number)).zip(columns);
    let (entries, rows) = legend(around.legend, layout.pick([left, 2.0]), right);
    let inside = html! {
        (level_grid(&y, left, right))
        @for (x, each) in places().filter(|(_, each)| each.value > 0.0) {
            (column(each, (x + gap, y.at(each.value)), (step - 2.0 * gap, bottom)))
        }
        (labels(places(), right, bottom))
        (line("grid", (left, bottom), (right, bottom)))
        (text(left, top - 10.0, "axis", &format!("{}{how}", around.y)))
        (text(right, bottom + 34.0, "axis end", around.x))
        @for entry in entries { (entry.draw(bottom + 54.0)) }
    };
    Some(svg(title, layout, bottom + 42.0 + 18.0 * f64::from(rows), &inside))
}

fn column(each: &Upright, (x, y): (f64, f64), (width, bottom): (f64, f64)) -> Markup {
    html! {
        rect class=(each.class) x=(At(x)) y=(At(y))
            width=(format_args!("{:.2}", width.max(0.2))) height=(At((bottom - y).max(1.0)))
        {
            title { (each.reported) }
        }
    }
}

/// Draws the labels below the columns for which there is room.
fn labels<'c>(places: impl Iterator<Item = (f64, &'c Upright)>, right: f64, bottom: f64) -> Markup {
    let mut free = f64::NEG_INFINITY;
    let has_room = |(x, each): &(f64, &Upright)| {
        let room = width(&each.label);
        let fits = !each.label.is_empty() && *x >= free && x + room <= right + GAP;
        if fits {
            free = x + room + GAP;
        }
        fits
    };
    html! {
        @for (x, each) in places.filter(has_room) {
            (line("grid", (x, bottom), (x, bottom + 4.0)))
            (text(x, bottom + 16.0, "tick", &each.label))
        }
    }
}

/// Entry of a legend, with its horizontal position and its row.
struct Entry<'a> {
    class: &'a str,
    name: &'a str,
    x: f64,
    row: u32,
}

impl Entry<'_> {
    fn draw(&self, top: f64) -> Markup {
        let y = top + 18.0 * f64::from(self.row);
        html! {
            rect class=(self.class) x=(At(self.x)) y=(At(y - 9.0)) width="12" height="10" {}
            (text(self.x + 17.0, y, "label", self.name))
        }
    }
}

/// Returns the entries of a legend with their positions, and the number of rows.
fn legend(entries: &[(String, String)], left: f64, right: f64) -> (Vec<Entry<'_>>, u32) {
    let (mut places, mut x, mut row) = (Vec::new(), left, 0);
    for (class, name) in entries {
        let end = x + 17.0 + width(name);
        if x > left && end > right {
            (x, row) = (left, row + 1);
        }
        places.push(Entry { class, name, x, row });
        x += 17.0 + width(name) + 12.0;
    }
    let rows = if entries.is_empty() { 0 } else { row + 1 };
    (places, rows)
}
