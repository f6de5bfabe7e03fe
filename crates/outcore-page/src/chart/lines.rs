//! Line charts over sizes: one line per series, with intervals as a ribbon; values without a size are horizontal lines.

use super::scale::{Scale, extent, short, size_text};
use super::svg::{
    At, Drawing, LINE, Layout, Level, fold, level_grid, line, svg, text, texts, upright_levels,
    width,
};
use maud::{Markup, html};

/// Number of colors of lines; further lines reuse them.
const COLORS: usize = 8;
/// Width of the lines of a name at the end of a line, and below the chart.
const ROOM: [f64; 2] = [204.0, 258.0];
/// Distance between names.
const APART: f64 = 14.0;

/// Line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name at the end of the line.
    pub name: String,
    /// Points from left to right.
    pub points: Vec<Point>,
}

/// Point on a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Horizontal position, above 0.
    pub x: f64,
    /// Vertical position, with its interval.
    pub at: Range,
    /// Tooltip.
    pub reported: String,
}

/// Value with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Lower end of the ribbon.
    pub low: f64,
    /// Position of the line.
    pub middle: f64,
    /// Upper end of the ribbon.
    pub high: f64,
}

impl From<f64> for Range {
    /// Creates a value that is known exactly.
    fn from(value: f64) -> Self {
        Self { low: value, middle: value, high: value }
    }
}

/// Axes of a line chart.
#[derive(Debug, Clone, Copy)]
pub struct Axes<'a> {
    /// Label below the chart.
    pub x: &'a str,
    /// Marks of the horizontal axis.
    pub marks: Marks,
    /// Label above the chart.
    pub y: &'a str,
    /// Whether the vertical axis is always logarithmic; otherwise only if low points would be invisible without it.
    pub logarithmic: bool,
    /// Vertical lines.
    pub uprights: &'a [Level],
}

/// Marks of a horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// The positions of points, which are bytes.
    Bytes,
    /// The positions of points.
    Points,
    /// Round values: points are many, and their positions are measured.
    Round,
    /// Round values on an axis that is not logarithmic but begins at 0, as for the numbers of rounds.
    Even,
}

/// Draws `series`, and horizontal lines with their names; `None` if there is no point.
pub fn lines(
    title: &str,
    series: &[Series],
    levels: &[(String, Range)],
    axes: Axes<'_>,
) -> Option<Drawing> {
    Drawing::new(title, |layout| {
        let plot = Plot::new(layout, series, levels, axes)?;
        Some(plot.draw(title, series, levels, axes))
    })
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

impl Plot {
    fn new(
        layout: Layout,
        series: &[Series],
        levels: &[(String, Range)],
        Axes { logarithmic, uprights, marks, .. }: Axes<'_>,
    ) -> Option<Self> {
        let points = || series.iter().flat_map(|each| &each.points);
        points().next()?;
        let uprights_at = uprights.iter().map(|(_, x)| *x);
        let (x_low, x_high) = extent(points().map(|point| point.x).chain(uprights_at));
        let all = || points().map(|point| &point.at).chain(levels.iter().map(|(_, at)| at));
        let (y_low, _) = extent(all().map(|at| at.low));
        let (_, y_high) = extent(all().map(|at| at.high));
        let names = series.iter().flat_map(|each| fold(&each.name, ROOM[0]));
        let widest = names.map(|line| width(&line)).fold(0.0, f64::max);
        let (left, top) = (52.0, 28.0 + LINE * uprights.len() as f64);
        let (right, high) = layout.pick([((24.0 + widest).max(120.0), 302.0), (18.0, 222.0)]);
        let (right, bottom) = (layout.width() - right, top + high);
        let y = match y_low > 0.0 && (logarithmic || y_high > 30.0 * y_low) {
            true => Scale::logarithmic(y_low, y_high, bottom, top),
            false => Scale::linear(y_high, bottom, top),
        };
        let x = match marks {
            Marks::Even => Scale::linear(x_high, left, right),
            _ => Scale::logarithmic(x_low, x_high, left, right),
        };
        Some(Self { layout, x, y, left, right, top, bottom })
    }

    fn draw(
        &self,
        title: &str,
        series: &[Series],
        levels: &[(String, Range)],
        axes: Axes<'_>,
    ) -> Markup {
        let legend = self.layout.pick([0.0, self.places_below(series).1]);
        let above = self.top - LINE * axes.uprights.len() as f64;
        let inside = html! {
            (level_grid(&self.y, self.left, self.right))
            (self.sizes(series, axes.marks))
            (upright_levels(self.layout, &self.x, axes.uprights, above - 8.0, self.bottom))
            (self.levels(levels))
            @for (number, each) in series.iter().enumerate() {
                (self.series(number % COLORS, each, axes.marks != Marks::Round))
            }
            @match self.layout {
                Layout::Wide => { (self.names_at_ends(series)) }
                Layout::Narrow => { (self.names_below(series)) }
            }
            (text(self.left, above - 14.0, "axis", axes.y))
            (text(self.right, self.bottom + 34.0, "axis end", axes.x))
        };
        svg(title, self.layout, self.bottom + 42.0 + legend, &inside)
    }

    /// Draws vertical lines at the marks for which there is room.
    fn sizes(&self, series: &[Series], marks: Marks) -> Markup {
        let points = series.iter().flat_map(|each| each.points.iter().map(|point| point.x));
        let mut sizes: Vec<f64> = match marks {
            Marks::Round | Marks::Even => self.x.ticks(),
            Marks::Bytes | Marks::Points => points.collect(),
        };
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let room = self.layout.pick([46.0, 40.0]);
        let mut free = f64::NEG_INFINITY;
        sizes.retain(|&size| {
            let x = self.x.at(size);
            let has_room = x >= free;
            if has_room {
                free = x + room;
            }
            has_room
        });
        let words = |size| if marks == Marks::Bytes { size_text(size) } else { short(size) };
        html! {
            @for (x, size) in sizes.into_iter().map(|size| (self.x.at(size), size)) {
                (line("grid", (x, self.top), (x, self.bottom)))
                (text(x, self.bottom + 15.0, "tick middle", &words(size)))
            }
        }
    }

    /// Draws horizontal lines with their names above them, or below where there is no room, moved apart.
    fn levels(&self, levels: &[(String, Range)]) -> Markup {
        let y = |number: usize| self.y.at(levels[number].1.middle);
        let mut order: Vec<usize> = (0..levels.len()).collect();
        order.sort_by(|a, b| y(*a).total_cmp(&y(*b)));
        let above = |y: f64| if y < self.top + 15.0 { y + 13.0 } else { y - 4.0 };
        let wanted: Vec<f64> = order.iter().map(|&number| above(y(number))).collect();
        let places = apart(&wanted, &vec![APART; wanted.len()], self.top + 11.0, self.bottom - 4.0);
        html! {
            @for (number, place) in order.into_iter().zip(places) {
                (line("level", (self.left, y(number)), (self.right, y(number))))
                (text(self.left + 22.0, place, "label", &levels[number].0))
            }
        }
    }

    fn series(&self, color: usize, series: &Series, shows_points: bool) -> Markup {
        let place = |x: f64, y: f64| format!("{},{}", At(self.x.at(x)), At(self.y.at(y)));
        let points = &series.points;
        let upper = points.iter().map(|point| place(point.x, point.at.high));
        let lower = points.iter().rev().map(|point| place(point.x, point.at.low));
        let ribbon = upper.chain(lower).collect::<Vec<_>>().join(" ");
        let middle: Vec<_> = points.iter().map(|point| place(point.x, point.at.middle)).collect();
        html! {
            polygon class={ "ribbon f" (color) } points=(ribbon) {}
            polyline class={ "line c" (color) } points=(middle.join(" ")) {
                title { (series.name) }
            }
            @for point in points.iter().filter(|_| shows_points) {
                circle class={ "f" (color) } cx=(At(self.x.at(point.x)))
                    cy=(At(self.y.at(point.at.middle))) r="3"
                {
                    title { (point.reported) }
                }
            }
        }
    }

    /// Returns where the names below a narrow chart begin, and their height.
    fn places_below(&self, series: &[Series]) -> (Vec<f64>, f64) {
        let height = |each: &Series| 5.0 + LINE * fold(&each.name, ROOM[1]).len() as f64;
        let mut below = 0.0;
        let places = series.iter().map(|each| {
            let place = self.bottom + 54.0 + below;
            below += height(each);
            place
        });
        (places.collect(), below)
    }

    /// Draws names below each other, for a narrow page.
    fn names_below(&self, series: &[Series]) -> Markup {
        let places = self.places_below(series).0;
        html! {
            @for (number, (each, y)) in series.iter().zip(places).enumerate() {
                (line(
                    &format!("line c{}", number % COLORS),
                    (self.left, y - 4.0),
                    (self.left + 18.0, y - 4.0),
                ))
                (texts(self.left + 24.0, y, "label", &fold(&each.name, ROOM[1])))
            }
        }
    }

    /// Draws names at the ends of the lines, moved apart.
    fn names_at_ends(&self, series: &[Series]) -> Markup {
        let end =
            |each: &Series| each.points.last().map_or(0.0, |point| self.y.at(point.at.middle));
        let mut order: Vec<usize> = (0..series.len()).collect();
        order.sort_by(|a, b| end(&series[*a]).total_cmp(&end(&series[*b])));
        let lines = |number: usize| fold(&series[number].name, ROOM[0]);
        let wanted: Vec<f64> = order.iter().map(|&number| end(&series[number])).collect();
        let heights: Vec<f64> =
            order.iter().map(|&number| APART + LINE * (lines(number).len() - 1) as f64).collect();
        let places = apart(&wanted, &heights, self.top, self.bottom);
        let name = |number: usize, place: f64| {
            let (each, color) = (&series[number], number % COLORS);
            let from = each.points.last().map_or(self.right, |point| self.x.at(point.x));
            let (from, to) = ((from + 4.0, end(each)), (self.right + 10.0, place));
            html! {
                (line(&format!("leader c{color}"), from, to))
                (texts(self.right + 13.0, place + 4.0, &format!("label t{color}"), &lines(number)))
            }
        };
        html! { @for (number, place) in order.into_iter().zip(places) { (name(number, place)) } }
    }
}

/// Moves ascending places apart, from `top` on, so that their heights do not overlap; none ends below `bottom` if there
/// is room for all.
fn apart(wanted: &[f64], heights: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut free = top;
    let mut places: Vec<f64> = Vec::with_capacity(wanted.len());
    for (&wanted, height) in wanted.iter().zip(heights) {
        let place = wanted.max(free);
        places.push(place);
        free = place + height;
    }
    // Those pushed below the bottom are pushed back up.
    let mut below = bottom + APART;
    for (place, height) in places.iter_mut().zip(heights).rev() {
        *place = place.min(below - height);
        below = *place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_moved_apart_and_stay_inside() {
        assert_eq!(apart(&[10.0, 50.0], &[14.0; 2], 0.0, 100.0), [10.0, 50.0]);
        assert_eq!(apart(&[10.0, 12.0], &[14.0; 2], 0.0, 100.0), [10.0, 24.0]);
        assert_eq!(apart(&[95.0, 99.0], &[14.0; 2], 0.0, 100.0), [86.0, 100.0]);
        assert_eq!(apart(&[90.0, 99.0], &[14.0, 27.0], 0.0, 100.0), [73.0, 87.0]);
    }
}
