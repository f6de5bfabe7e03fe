//! Charts of an experiment.

use super::column::Column;
use super::experiment::{Chart, Experiment};
use super::limits::Limit;
use crate::meter::Sample;
use crate::number::three;
use crate::row::{AGAIN, Row};
use crate::statistics::{Interval, median};
use crate::times::BEYOND;
use outcore_page::chart::{
    Axes, Bar, BarAxis, BarRow, Drawing, Level, Marks, Point, Range, Series, Span, bars, extent,
    lines, size_text, spans,
};

/// Maximum number of rows in a chart of quantiles: more would fill a page of their own.
const SPANS_MAX: usize = 40;

/// Maximum number of lines in a chart of a distribution: as many as there are colors.
const DISTRIBUTIONS_MAX: usize = 8;

/// Returns the charts of an experiment, each for every group of rows, or for all rows if groups are the sizes on its
/// axis; bars of the elapsed time if the experiment specifies no chart. Rows whose single operations were timed get two
/// more charts, of their quantiles and of their distribution. All charts show the limits of the machine that concern
/// them. The last chart shows how steady the machine was.
pub fn charts(experiment: &Experiment) -> Vec<Drawing> {
    let mut drawings = Vec::new();
    for (group, rows) in panels(experiment) {
        let of = if group.is_empty() { String::new() } else { format!(": {group}") };
        let own = [own_bars(&rows)];
        let specified = experiment.charts.as_slice();
        let specified = if specified.is_empty() { own.as_slice() } else { specified };
        drawings.extend(specified.iter().filter_map(|chart| match chart {
            Chart::Bars { column, logarithmic } => {
                let title = format!("{}, by method{of}", column.title());
                let levels = limits(experiment, *column, &rows);
                intervals(&title, &rows, *column, *logarithmic, &levels)
            }
            Chart::Lines { x, column } => {
                let title = format!("{}, by {x} and method{of}", column.title());
                let levels = limits(experiment, *column, &rows).into_iter();
                let levels = levels.map(|(name, value)| (name, value.into())).collect();
                over_sizes(&title, &rows, (x, *column), levels)
            }
        }));
        let levels = limits(experiment, Column::OperationMedian, &rows);
        let has_lines = specified.iter().any(|chart| matches!(chart, Chart::Lines { .. }));
        if !has_lines && rows.len() <= SPANS_MAX {
            let title = format!("Single operations in µs, from the fastest to the slowest{of}");
            drawings.extend(quantiles(&title, &rows, &levels));
        }
        drawings.extend(distribution(&of, &rows, &levels));
    }
    drawings.extend(by_round(experiment));
    drawings
}

/// Returns the limits of these rows, in the unit of a column.
fn limits(experiment: &Experiment, column: Column, rows: &[&Row]) -> Vec<Level> {
    let of = |limit: &Limit| Some((limit.name.clone(), limit.value_in(column, rows)?));
    experiment.limits.iter().filter_map(of).collect()
}

/// Returns the rows of each chart, with the name of their group.
fn panels(experiment: &Experiment) -> Vec<(&str, Vec<&Row>)> {
    let groups = groups(experiment);
    let size = |row: &&Row| row.point.as_ref().map(|(_, size)| *size);
    let is_size = |rows: &Vec<&Row>| {
        let mut sizes = rows.iter().filter_map(size);
        let first = sizes.next();
        first.is_some() && sizes.all(|size| Some(size) == first)
    };
    let is_one = groups.len() > 1 && groups.iter().all(|(_, rows)| is_size(rows));
    if is_one { vec![("", experiment.rows.iter().collect())] } else { groups }
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

/// Returns bars of the elapsed time, on a logarithmic axis if short times would otherwise be invisible.
fn own_bars(rows: &[&Row]) -> Chart {
    let (low, high) = extent(rows.iter().filter_map(|row| Column::Wall.value(row)));
    Chart::Bars { column: Column::Wall, logarithmic: high > 30.0 * low }
}

/// Returns the names of the rows, with their states if these differ within the chart and no other word gives them.
fn names<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> Vec<String> {
    let mut states = rows.clone().map(|row| row.state);
    let first = states.next();
    let all_same = states.all(|state| Some(state) == first);
    let name = |row: &Row| {
        let state = row.state.name();
        match all_same || row.group == state || row.name.contains(state) {
            true => row.name.clone(),
            false => format!("{}, {state}", row.name),
        }
    };
    rows.map(name).collect()
}

/// Draws bars of `column` with their 95 % intervals.
fn intervals(
    title: &str,
    rows: &[&Row],
    column: Column,
    logarithmic: bool,
    levels: &[Level],
) -> Option<Drawing> {
    let drawn: Vec<(&Row, Interval)> =
        rows.iter().filter_map(|row| Some((*row, finite(column.interval(row)?)?))).collect();
    let names = names(drawn.iter().map(|(row, _)| *row));
    let rows = drawn.iter().zip(names).enumerate().map(|(number, ((row, at), name))| {
        let class = match (number, row.name.as_str()) {
            (_, AGAIN) => "bar again",
            (0, _) => "bar first",
            _ => "bar",
        };
        let text = three(at.middle);
        let reported = format!("{name}: {text} ({} to {})", three(at.low), three(at.high));
        let (value, whisker) = (at.middle, Some((at.low, at.high)));
        BarRow { name, bars: vec![Bar { class, value, whisker, text, reported }] }
    });
    let axis = if logarithmic { ", logarithmic" } else { "" };
    let words = ["95 % intervals of the median", "95 %"]
        .map(|whiskers| format!("{}{axis}; whiskers: {whiskers}", column.heading()));
    let words = words.each_ref().map(String::as_str);
    bars(title, &rows.collect::<Vec<_>>(), BarAxis { words, logarithmic, levels })
}

fn finite(interval: Interval) -> Option<Interval> {
    let ends = [interval.low, interval.middle, interval.high];
    ends.iter().all(|end| end.is_finite()).then_some(interval)
}

/// Draws the fastest, median, 99th percentile and slowest operation of each row.
fn quantiles(title: &str, rows: &[&Row], levels: &[Level]) -> Option<Drawing> {
    const SHOWN: [Column; 4] =
        [Column::OperationMin, Column::OperationMedian, Column::OperationP99, Column::OperationMax];
    let at = |row: &Row| {
        let at = SHOWN.map(|column| column.value(row).unwrap_or(f64::NAN));
        at.iter().all(|value| value.is_finite()).then_some(at)
    };
    let drawn: Vec<(&Row, [f64; 4])> = rows
        .iter()
        .filter(|row| !row.is_again())
        .filter_map(|row| Some((*row, at(row)?)))
        .collect();
    let names = names(drawn.iter().map(|(row, _)| *row));
    let rows = drawn.iter().zip(names).map(|((_, at), name)| {
        let [fastest, median, high, slowest] = at.map(three);
        let reported = format!(
            "{name}: fastest {fastest}, median {median}, 99th percentile {high}, slowest {slowest} µs"
        );
        Span { name, at: *at, text: median, reported }
    });
    let words = [
        "µs, logarithmic; circle: median; bar: to the 99th percentile; line: fastest to slowest",
        "µs, logarithmic; circle: median; bar: to 99 %",
    ];
    spans(title, &rows.collect::<Vec<_>>(), words, levels)
}

/// Draws the share of the operations that take longer than a time, for the first row and others from the fastest to the
/// slowest; shares of too few operations are left out.
fn distribution(of: &str, rows: &[&Row], uprights: &[Level]) -> Option<Drawing> {
    let mut timed: Vec<&Row> =
        rows.iter().copied().filter(|row| row.times.is_some() && !row.is_again()).collect();
    let all = timed.len();
    let median = |row: &Row| Column::OperationMedian.value(row).unwrap_or(f64::NAN);
    if let [_, others @ ..] = timed.as_mut_slice() {
        others.sort_by(|a, b| median(a).total_cmp(&median(b)));
    }
    if all > DISTRIBUTIONS_MAX {
        // The first, then evenly from the fastest to the slowest.
        let last = (DISTRIBUTIONS_MAX - 2) as f64;
        let at = |number: usize| 1 + (number as f64 * (all - 2) as f64 / last).round() as usize;
        let chosen = (0..DISTRIBUTIONS_MAX - 1).map(|number| timed[at(number)]);
        timed = timed[..1].iter().copied().chain(chosen).collect();
    }
    let names = names(timed.iter().copied());
    let series: Vec<Series> =
        timed.iter().zip(names).filter_map(|(row, name)| shares(row, name)).collect();
    let some = if all > series.len() {
        format!(" ({} of {all} methods)", series.len())
    } else {
        String::new()
    };
    let title = format!("Share of the operations that take longer than a time{of}{some}");
    let y = "share that takes longer, logarithmic";
    let axes = Axes { x: "µs, logarithmic", marks: Marks::Round, y, logarithmic: true, uprights };
    lines(&title, &series, &[], axes)
}

/// Returns the points of a distribution.
fn shares(row: &Row, name: String) -> Option<Series> {
    let times = row.times.as_ref()?;
    let all = times.operations();
    let mut beyond = all;
    let mut points = Vec::new();
    for (nanoseconds, operations) in times.counts() {
        beyond -= operations;
        if beyond < BEYOND {
            break;
        }
        let (x, share) = (nanoseconds as f64 / 1e3, beyond as f64 / all as f64);
        points.push(Point { x, at: share.into(), reported: String::new() });
    }
    (!points.is_empty()).then_some(Series { name, points })
}

/// Draws the times of a fixed piece of work and of the first row of each group by round: if all of them rise, something
/// else was using the machine; if one drifts, its runs are not alike.
fn by_round(experiment: &Experiment) -> Option<Drawing> {
    let canary = (1..).map(f64::from).zip(experiment.canary_seconds.iter().copied());
    let mut series = vec![relative("a fixed piece of work".into(), canary.collect())];
    let groups = groups(experiment);
    let shown = groups.iter().filter(|(_, rows)| rows.len() > 1).take(DISTRIBUTIONS_MAX - 1);
    for (_, rows) in shown {
        let row = rows[0];
        let time = |sample: &Sample| (f64::from(sample.round + 1), experiment.cost.of(sample));
        series.push(relative(row.full_name(), row.samples.iter().map(time).collect()));
    }
    series.retain(|each| each.points.len() > 1);
    let title = "Time in each round, relative to its median: how steady the machine was";
    let axes = Axes {
        x: "round",
        marks: Marks::Even,
        y: "time / median",
        logarithmic: false,
        uprights: &[],
    };
    lines(title, &series, &[("median".into(), 1.0.into())], axes)
}

/// Returns times by round, relative to their median.
fn relative(name: String, times: Vec<(f64, f64)>) -> Series {
    let middle = median(&times.iter().map(|&(_, time)| time).collect::<Vec<_>>());
    let points = times.into_iter().map(|(x, time)| {
        let at = time / middle;
        Point { x, at: at.into(), reported: format!("{name}, round {x}: {}x", three(at)) }
    });
    Series { points: points.filter(|point| point.at.middle.is_finite()).collect(), name }
}

/// Draws lines of a column over the numbers in the rows; rows without a number become horizontal lines, as `levels` are.
fn over_sizes(
    title: &str,
    rows: &[&Row],
    (x, column): (&str, Column),
    mut levels: Vec<(String, Range)>,
) -> Option<Drawing> {
    let mut series: Vec<Series> = Vec::new();
    for row in rows.iter().filter(|row| !row.is_again()) {
        let Some(Interval { middle, low, high }) = column.interval(row) else { continue };
        if !middle.is_finite() {
            continue;
        }
        let at = Range { low, middle, high };
        match &row.point {
            None => levels.push((row.name.clone(), at)),
            Some((name, x)) if *x > 0.0 => {
                let reported = format!("{name}, {}: {}", size_text(*x), three(middle));
                let point = Point { x: *x, at, reported };
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
    let are_bytes = x.contains("byte") || x.contains("transfer");
    let marks = if are_bytes { Marks::Bytes } else { Marks::Points };
    let axes = Axes { x, marks, y: column.heading(), logarithmic: false, uprights: &[] };
    lines(title, &series, &levels, axes)
}
