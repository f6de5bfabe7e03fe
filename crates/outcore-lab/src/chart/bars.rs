//! Bars for each row, and a span of quantiles for each row.

use super::{Layout, Scale, cut, escape, extent, line, open, text, upright_grid};
use crate::report::Row;
use crate::rounds::AGAIN;
use crate::statistics::Interval;
use crate::table::{Column, three};
use std::fmt::Write as _;

/// Rows are so much higher for each bar beyond the first, and the bars of such rows as thick.
const MORE: f64 = 12.0;
const THIN: f64 = 10.0;

/// A row of bars below each other.
#[derive(Debug, Clone, PartialEq)]
pub struct BarRow {
    /// What stands before them.
    pub name: String,
    /// From the top down.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its class in the style sheet.
    pub class: &'static str,
    /// Where it ends.
    pub value: f64,
    /// Its interval, if it has one.
    pub whisker: Option<(f64, f64)>,
    /// What stands behind it.
    pub text: String,
    /// What is told of it where the pointer rests.
    pub told: String,
}

impl Bar {
    /// The least and the largest value that is drawn.
    fn ends(&self) -> (f64, f64) {
        self.whisker.unwrap_or((self.value, self.value))
    }
}

/// Where rows and axis are.
struct Frame {
    layout: Layout,
    left: f64,
    right: f64,
    step: f64,
    above: f64,
    top: f64,
}

impl Frame {
    fn new<'n>(layout: Layout, names: impl Iterator<Item = &'n str>) -> Self {
        let longest = longest(names);
        match layout {
            Layout::Wide => {
                let left = (longest * 6.9 + 14.0).clamp(90.0, 300.0);
                Self {
                    layout,
                    left,
                    right: layout.width() - 76.0,
                    step: 26.0,
                    above: 13.0,
                    top: 6.0,
                }
            }
            Layout::Narrow => Self {
                layout,
                left: 6.0,
                right: layout.width() - 58.0,
                step: 40.0,
                above: 27.0,
                top: 4.0,
            },
        }
    }

    /// The same for rows of so many bars, with room for what stands behind them.
    fn of_bars<'t>(self, count: usize, texts: impl Iterator<Item = &'t str>) -> Self {
        let right = self.right.min(self.layout.width() - 8.0 - 6.4 * longest(texts));
        let step = self.step + MORE * count.saturating_sub(1) as f64;
        Self { right, step, ..self }
    }

    /// The same with room for a figure above each bar.
    fn roomy(self) -> Self {
        match self.layout {
            Layout::Wide => Self { step: 32.0, above: 20.0, ..self },
            Layout::Narrow => Self { step: 52.0, above: 39.0, ..self },
        }
    }

    /// The middle of a row's bar.
    fn middle(&self, number: usize) -> f64 {
        let above = self.above;
        self.top + self.step * number as f64 + above
    }

    fn bottom(&self, rows: usize) -> f64 {
        self.top + self.step * rows as f64 + 2.0
    }

    fn name(&self, svg: &mut String, number: usize, name: &str) {
        let y = self.middle(number);
        match self.layout {
            Layout::Wide => text(svg, self.left - 8.0, y + 4.0, "label end", &cut(name, 42)),
            Layout::Narrow => {
                let above = self.above - 15.0;
                text(svg, self.left, y - above, "label", &cut(name, 48));
            }
        }
    }
}

/// Names with their state, where the states of a chart are not all the same.
fn names(rows: &[&Row]) -> Vec<String> {
    let all_same = rows.windows(2).all(|pair| pair[0].state == pair[1].state);
    rows.iter()
        .map(|row| match all_same {
            true => row.name.clone(),
            false => format!("{}, {}", row.name, row.state.name()),
        })
        .collect()
}

/// Bars of `column` with their 95 % intervals.
pub(super) fn intervals(
    title: &str,
    rows: &[&Row],
    column: Column,
    logarithmic: bool,
    layout: Layout,
) -> Option<String> {
    let drawn: Vec<(&Row, Interval)> =
        rows.iter().filter_map(|row| Some((*row, finite(column.interval(row)?)?))).collect();
    let rows: Vec<&Row> = drawn.iter().map(|(row, _)| *row).collect();
    let rows = drawn.iter().zip(names(&rows)).enumerate().map(|(number, ((row, at), name))| {
        let class = match (number, row.name.as_str()) {
            (_, AGAIN) => "bar again",
            (0, _) => "bar first",
            _ => "bar",
        };
        let told =
            format!("{name}: {} ({} to {})", three(at.median), three(at.low), three(at.high));
        let (value, whisker, text) = (at.median, Some((at.low, at.high)), three(at.median));
        BarRow { name, bars: vec![Bar { class, value, whisker, text, told }] }
    });
    let rows: Vec<BarRow> = rows.collect();
    let whiskers = match layout {
        Layout::Wide => "; whiskers: 95 % intervals of the median",
        Layout::Narrow => "; whiskers: 95 %",
    };
    let axis = if logarithmic { ", logarithmic" } else { "" };
    bars(title, &rows, &format!("{}{axis}{whiskers}", column.heading()), logarithmic, layout)
}

/// The chart of `rows`, with `words` below its axis; `None` if there are none.
pub(super) fn bars(
    title: &str,
    rows: &[BarRow],
    words: &str,
    logarithmic: bool,
    layout: Layout,
) -> Option<String> {
    let all = || rows.iter().flat_map(|row| &row.bars);
    let most = rows.iter().map(|row| row.bars.len()).max()?;
    let frame = Frame::new(layout, rows.iter().map(|row| row.name.as_str()))
        .of_bars(most, all().map(|bar| bar.text.as_str()));
    let (low, _) = extent(&all().map(|bar| bar.ends().0).collect::<Vec<_>>());
    let (_, high) = extent(&all().map(|bar| bar.ends().1).collect::<Vec<_>>());
    let scale = match logarithmic && low > 0.0 {
        true => Scale::logarithmic(low / 1.5, high, frame.left, frame.right),
        false => Scale::linear(high, frame.left, frame.right),
    };
    let bottom = frame.bottom(rows.len());
    let mut svg = open(title, layout, bottom + 38.0);
    upright_grid(&mut svg, &scale, frame.top, bottom);
    let thickness = if most > 1 { THIN } else { 15.0 };
    for (number, row) in rows.iter().enumerate() {
        frame.name(&mut svg, number, &row.name);
        for (below, each) in row.bars.iter().enumerate() {
            bar(&mut svg, &scale, frame.middle(number) + MORE * below as f64, thickness, each);
        }
    }
    text(&mut svg, frame.left, bottom + 32.0, "axis", words);
    Some(svg + "</svg>")
}

fn bar(svg: &mut String, scale: &Scale, y: f64, thickness: f64, bar: &Bar) {
    let (begin, end) = (scale.at(0.0), scale.at(bar.value));
    let _ = write!(
        svg,
        "<g><title>{}</title><rect class=\"{}\" x=\"{begin:.1}\" y=\"{:.1}\" \
         width=\"{:.1}\" height=\"{thickness}\" rx=\"2\"/>",
        escape(&bar.told),
        bar.class,
        y - thickness / 2.0,
        (end - begin).max(1.0),
    );
    let mut right = end;
    if let Some((low, high)) = bar.whisker {
        let (low, high) = (scale.at(low), scale.at(high));
        right = end.max(high);
        line(svg, "whisker", (low, y), (high, y));
        for x in [low, high] {
            line(svg, "whisker", (x, y - 4.0), (x, y + 4.0));
        }
    }
    text(svg, right + 6.0, y + 4.0, "value", &bar.text);
    svg.push_str("</g>");
}

fn longest<'t>(texts: impl Iterator<Item = &'t str>) -> f64 {
    texts.map(|text| text.chars().count()).max().unwrap_or(0) as f64
}

fn finite(interval: Interval) -> Option<Interval> {
    let ends = [interval.low, interval.median, interval.high];
    ends.iter().all(|end| end.is_finite()).then_some(interval)
}

/// Fastest, median, 99th percentile and slowest operation of each row, on an axis of factors.
pub(super) fn quantiles(title: &str, rows: &[&Row], layout: Layout) -> Option<String> {
    const SHOWN: [Column; 4] =
        [Column::OperationMin, Column::OperationMedian, Column::OperationP99, Column::OperationMax];
    let drawn: Vec<(&Row, Vec<f64>)> = rows
        .iter()
        .map(|row| (*row, SHOWN.iter().filter_map(|column| column.value(row)).collect::<Vec<_>>()))
        .filter(|(_, at)| at.len() == SHOWN.len() && at.iter().all(|value| value.is_finite()))
        .collect();
    if drawn.is_empty() {
        return None;
    }
    let rows: Vec<&Row> = drawn.iter().map(|(row, _)| *row).collect();
    let names = names(&rows);
    let frame = Frame::new(layout, names.iter().map(String::as_str)).roomy();
    let all: Vec<f64> =
        drawn.iter().flat_map(|(_, at)| at.clone()).map(|value| value.max(1e-3)).collect();
    let (low, high) = extent(&all);
    let scale = Scale::logarithmic(low, high, frame.left + 4.0, frame.right);
    let bottom = frame.bottom(drawn.len());
    let mut svg = open(title, layout, bottom + 38.0);
    upright_grid(&mut svg, &scale, frame.top, bottom);
    for (number, ((_, at), name)) in drawn.iter().zip(&names).enumerate() {
        frame.name(&mut svg, number, name);
        span(&mut svg, &scale, frame.middle(number), at, name);
    }
    let words = match layout {
        Layout::Wide => {
            "µs, logarithmic; circle: median; bar: to the 99th percentile; line: fastest to slowest"
        }
        Layout::Narrow => "µs, logarithmic; circle: median; bar: to 99 %",
    };
    text(&mut svg, frame.left, bottom + 32.0, "axis", words);
    Some(svg + "</svg>")
}

fn span(svg: &mut String, scale: &Scale, y: f64, at: &[f64], name: &str) {
    let x: Vec<f64> = at.iter().map(|value| scale.at(*value)).collect();
    let told = format!(
        "{name}: fastest {}, median {}, 99th percentile {}, slowest {} µs",
        three(at[0]),
        three(at[1]),
        three(at[2]),
        three(at[3])
    );
    let _ = write!(svg, "<g><title>{}</title>", escape(&told));
    line(svg, "span", (x[0], y), (x[3], y));
    let _ = write!(
        svg,
        "<rect class=\"bar\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"9\"/>",
        x[1],
        y - 4.5,
        (x[2] - x[1]).max(1.0)
    );
    for (end, class) in [(x[0], "dot-end"), (x[1], "dot"), (x[3], "dot-end")] {
        let radius = if class == "dot" { 5 } else { 3 };
        let _ =
            write!(svg, "<circle class=\"{class}\" cx=\"{end:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>");
    }
    text(svg, x[1], y - 8.0, "value middle", &three(at[1]));
    svg.push_str("</g>");
}
