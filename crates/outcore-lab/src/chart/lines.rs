//! Lines over sizes: one a series, with the intervals as a ribbon; rows without a size are level.

use super::{Layout, Scale, cut, escape, extent, line, open, scale, text};
use crate::report::Row;
use crate::rounds::AGAIN;
use crate::statistics::Interval;
use crate::table::{Column, three};
use std::fmt::Write as _;

/// Lines have as many colors; further ones take turns.
const COLORS: usize = 8;

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What stands at its end.
    pub name: String,
    /// From left to right.
    pub points: Vec<Point>,
}

/// A place on a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// How far to the right, above 0.
    pub x: f64,
    /// How high, as what is known of it.
    pub at: Interval,
    /// What is told of it where the pointer rests.
    pub told: String,
}

/// What the axes of lines are.
#[derive(Debug, Clone, Copy)]
pub struct Axes<'a> {
    /// Below the chart.
    pub x: &'a str,
    /// Above it.
    pub y: &'a str,
    /// Whether the upright axis is logarithmic in any case; else only if it takes that to see the low points.
    pub logarithmic: bool,
}

struct Plot {
    layout: Layout,
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// The chart of `rows`; `None` if no row has a place on the axis.
pub(super) fn lines(
    title: &str,
    rows: &[&Row],
    x: &str,
    column: Column,
    layout: Layout,
) -> Option<String> {
    let (series, level) = split(rows, column);
    draw(title, &series, &level, Axes { x, y: column.heading(), logarithmic: false }, layout)
}

/// The chart of `series`, and of levels with their names; `None` if there is no point.
pub(super) fn draw(
    title: &str,
    series: &[Series],
    level: &[(String, Interval)],
    axes: Axes<'_>,
    layout: Layout,
) -> Option<String> {
    let plot = Plot::new(layout, series, level, axes.logarithmic)?;
    let legend = if layout == Layout::Narrow { series.len() as f64 * 18.0 } else { 0.0 };
    let mut svg = open(title, layout, plot.bottom + 42.0 + legend);
    plot.grid(&mut svg, series, axes.x.contains("byte") || axes.x.contains("transfer"));
    for (name, at) in level {
        let y = plot.y.at(at.median);
        line(&mut svg, "level", (plot.left, y), (plot.right, y));
        let below = if y < plot.top + 16.0 { 14.0 } else { -4.0 };
        text(&mut svg, plot.left + 22.0, y + below, "label", &cut(name, 36));
    }
    for (number, each) in series.iter().enumerate() {
        plot.series(&mut svg, number % COLORS, each);
    }
    plot.names(&mut svg, series);
    text(&mut svg, plot.left, plot.top - 10.0, "axis", axes.y);
    text(&mut svg, plot.right, plot.bottom + 34.0, "axis end", axes.x);
    Some(svg + "</svg>")
}

/// Rows with a point by series, in order of appearance; the others by name.
fn split(rows: &[&Row], column: Column) -> (Vec<Series>, Vec<(String, Interval)>) {
    let (mut series, mut level): (Vec<Series>, _) = (Vec::new(), Vec::new());
    for row in rows.iter().filter(|row| row.name != AGAIN) {
        let Some(at) = column.interval(row) else { continue };
        if !at.median.is_finite() {
            continue;
        }
        match &row.point {
            None => level.push((row.name.clone(), at)),
            Some((name, x)) if *x > 0.0 => {
                let told = format!("{name}, {}: {}", size_text(*x), three(at.median));
                let point = Point { x: *x, at, told };
                match series.iter_mut().find(|each| each.name == *name) {
                    Some(each) => each.points.push(point),
                    None => series.push(Series { name: name.clone(), points: vec![point] }),
                }
            }
            Some(_) => {}
        }
    }
    for each in &mut series {
        each.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    (series, level)
}

impl Plot {
    fn new(
        layout: Layout,
        series: &[Series],
        level: &[(String, Interval)],
        logarithmic: bool,
    ) -> Option<Self> {
        let points = || series.iter().flat_map(|each| &each.points);
        let (x_low, x_high) = extent(&points().map(|point| point.x).collect::<Vec<_>>());
        if x_low > x_high {
            return None;
        }
        let all = || points().map(|point| &point.at).chain(level.iter().map(|(_, at)| at));
        let (y_low, _) = extent(&all().map(|at| at.low).collect::<Vec<_>>());
        let (_, y_high) = extent(&all().map(|at| at.high).collect::<Vec<_>>());
        let (left, top) = (52.0, 28.0);
        let (right, bottom) = match layout {
            Layout::Wide => (layout.width() - 170.0, 330.0),
            Layout::Narrow => (layout.width() - 12.0, 250.0),
        };
        let y = match y_low > 0.0 && (logarithmic || y_high > 30.0 * y_low) {
            true => Scale::logarithmic(y_low, y_high, bottom, top),
            false => Scale::linear(y_high, bottom, top),
        };
        let x = Scale::logarithmic(x_low, x_high, left, right);
        Some(Self { layout, x, y, left, right, top, bottom })
    }

    fn grid(&self, svg: &mut String, series: &[Series], is_bytes: bool) {
        for tick in self.y.ticks() {
            let y = self.y.at(tick);
            line(svg, "grid", (self.left, y), (self.right, y));
            text(svg, self.left - 6.0, y + 4.0, "tick end", &scale::short(tick));
        }
        let mut sizes: Vec<f64> =
            series.iter().flat_map(|each| each.points.iter().map(|point| point.x)).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let room = if self.layout == Layout::Wide { 46.0 } else { 40.0 };
        let mut free = f64::NEG_INFINITY;
        for size in sizes {
            let x = self.x.at(size);
            if x < free {
                continue;
            }
            free = x + room;
            line(svg, "grid", (x, self.top), (x, self.bottom));
            let words = if is_bytes { size_text(size) } else { scale::short(size) };
            text(svg, x, self.bottom + 15.0, "tick middle", &words);
        }
    }

    fn series(&self, svg: &mut String, color: usize, series: &Series) {
        let place = |x: f64, y: f64| format!("{:.1},{:.1}", self.x.at(x), self.y.at(y));
        let upper = series.points.iter().map(|point| place(point.x, point.at.high));
        let lower = series.points.iter().rev().map(|point| place(point.x, point.at.low));
        let ribbon = upper.chain(lower).collect::<Vec<_>>().join(" ");
        let middle: Vec<String> =
            series.points.iter().map(|point| place(point.x, point.at.median)).collect();
        let _ = write!(
            svg,
            "<polygon class=\"ribbon f{color}\" points=\"{ribbon}\"/>\
             <polyline class=\"line c{color}\" points=\"{}\"/>",
            middle.join(" ")
        );
        for point in &series.points {
            let _ = write!(
                svg,
                "<circle class=\"f{color}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}</title></circle>",
                self.x.at(point.x),
                self.y.at(point.at.median),
                escape(&point.told)
            );
        }
    }

    /// Names at the ends of the lines, moved apart; below each other on a narrow page.
    fn names(&self, svg: &mut String, series: &[Series]) {
        if self.layout == Layout::Narrow {
            for (number, each) in series.iter().enumerate() {
                let y = self.bottom + 54.0 + 18.0 * number as f64;
                let class = format!("line c{}", number % COLORS);
                line(svg, &class, (self.left, y - 4.0), (self.left + 18.0, y - 4.0));
                text(svg, self.left + 24.0, y, "label", &cut(&each.name, 40));
            }
            return;
        }
        let end =
            |each: &Series| each.points.last().map_or(0.0, |point| self.y.at(point.at.median));
        let mut order: Vec<usize> = (0..series.len()).collect();
        order.sort_by(|a, b| end(&series[*a]).total_cmp(&end(&series[*b])));
        // From the top down each name keeps its distance; what that pushes out is pushed back up.
        let mut places: Vec<f64> = Vec::new();
        for &number in &order {
            let above = places.last().map_or(self.top, |last| last + 14.0);
            places.push(end(&series[number]).max(above));
        }
        let mut below = self.bottom;
        for place in places.iter_mut().rev() {
            *place = place.min(below);
            below = *place - 14.0;
        }
        for (&number, place) in order.iter().zip(&places) {
            let each = &series[number];
            let from = each.points.last().map_or(self.right, |point| self.x.at(point.x));
            let class = format!("leader c{}", number % COLORS);
            line(svg, &class, (from + 4.0, end(each)), (self.right + 10.0, *place));
            let class = format!("label t{}", number % COLORS);
            text(svg, self.right + 13.0, place + 4.0, &class, &cut(&each.name, 24));
        }
    }
}

/// `512`, `64K`, `1M`.
fn size_text(size: f64) -> String {
    let marks = [(1u64 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    for (unit, mark) in marks {
        let units = size / unit as f64;
        if units >= 1.0 {
            return format!("{}{mark}", scale::short(units));
        }
    }
    scale::short(size)
}
