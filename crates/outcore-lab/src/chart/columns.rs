//! Upright columns side by side, as of a distribution or of one sweep after the other.

use super::{Layout, Scale, escape, extent, line, open, scale, text};
use std::fmt::Write as _;

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Upright {
    /// Its class in the style sheet.
    pub class: String,
    /// How high it is; nothing is drawn for 0.
    pub value: f64,
    /// What stands below its left edge, where there is room.
    pub label: String,
    /// What is told of it where the pointer rests.
    pub told: String,
}

/// What stands around columns.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// Below the chart.
    pub x: &'a str,
    /// Above it.
    pub y: &'a str,
    /// Whether the upright axis is logarithmic in any case; else only if it takes that to see the low ones.
    pub logarithmic: bool,
    /// Classes and what they mean.
    pub legend: &'a [(String, String)],
}

/// Pixels of a letter below the axis, and between two labels.
const LETTER: f64 = 6.4;
const GAP: f64 = 9.0;
/// Columns are not wider.
const WIDEST: f64 = 64.0;

/// The chart of `columns`; `None` if none has a height.
pub(super) fn columns(
    title: &str,
    columns: &[Upright],
    around: Around<'_>,
    layout: Layout,
) -> Option<String> {
    let drawn: Vec<f64> = columns.iter().map(|each| each.value).filter(|v| *v > 0.0).collect();
    let (low, high) = extent(&drawn);
    if low > high {
        return None;
    }
    let (left, top) = (52.0, 28.0);
    let (right, bottom) = match layout {
        Layout::Wide => (layout.width() - 12.0, 250.0),
        Layout::Narrow => (layout.width() - 10.0, 210.0),
    };
    let is_logarithmic = around.logarithmic || high > 30.0 * low;
    let y = match is_logarithmic {
        true => Scale::logarithmic(low / 2.0, high, bottom, top),
        false => Scale::linear(high, bottom, top),
    };
    let (entries, rows) = legend(around.legend, left, right);
    let mut svg = open(title, layout, bottom + 42.0 + 18.0 * rows as f64);
    for tick in y.ticks() {
        let y = y.at(tick);
        line(&mut svg, "grid", (left, y), (right, y));
        text(&mut svg, left - 6.0, y + 4.0, "tick end", &scale::short(tick));
    }
    let step = ((right - left) / columns.len() as f64).min(WIDEST);
    let gap = if step > 5.0 { 1.0 } else { 0.0 };
    let mut free = f64::NEG_INFINITY;
    for (number, each) in columns.iter().enumerate() {
        let x = left + step * number as f64;
        if each.value > 0.0 {
            column(&mut svg, each, (x + gap, y.at(each.value)), (step - 2.0 * gap, bottom));
        }
        let room = LETTER * each.label.chars().count() as f64;
        if !each.label.is_empty() && x >= free && x + room <= right + GAP {
            free = x + room + GAP;
            line(&mut svg, "grid", (x, bottom), (x, bottom + 4.0));
            text(&mut svg, x, bottom + 16.0, "tick", &each.label);
        }
    }
    line(&mut svg, "grid", (left, bottom), (right, bottom));
    let how = if is_logarithmic { ", logarithmic" } else { "" };
    text(&mut svg, left, top - 10.0, "axis", &format!("{}{how}", around.y));
    text(&mut svg, right, bottom + 34.0, "axis end", around.x);
    for (class, name, x, row) in entries {
        let y = bottom + 54.0 + 18.0 * row as f64;
        let _ = write!(
            svg,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"10\"/>",
            y - 9.0
        );
        text(&mut svg, x + 17.0, y, "label", name);
    }
    Some(svg + "</svg>")
}

fn column(svg: &mut String, each: &Upright, (x, y): (f64, f64), (width, bottom): (f64, f64)) {
    let _ = write!(
        svg,
        "<rect class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.2}\" height=\"{:.1}\">\
         <title>{}</title></rect>",
        each.class,
        width.max(0.2),
        (bottom - y).max(1.0),
        escape(&each.told)
    );
}

/// Where the entries of a legend stand, each with its row; and how many rows there are.
fn legend(entries: &[(String, String)], left: f64, right: f64) -> (Vec<Entry<'_>>, usize) {
    let (mut places, mut x, mut row) = (Vec::new(), left, 0);
    for (class, name) in entries {
        let width = 17.0 + 7.0 * name.chars().count() as f64 + 16.0;
        if x > left && x + width > right {
            (x, row) = (left, row + 1);
        }
        places.push((class.as_str(), name.as_str(), x, row));
        x += width;
    }
    let rows = if entries.is_empty() { 0 } else { row + 1 };
    (places, rows)
}

/// Class, name, place from the left, row.
type Entry<'a> = (&'a str, &'a str, f64, usize);
