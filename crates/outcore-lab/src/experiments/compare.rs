//! Comparison of rows in words, for the finding of an experiment. It describes what was measured; what can be concluded
//! from it is decided in the ratios of rows and in the claims.

use crate::report::{Experiment, three};
use crate::row::Row;
use crate::statistics::median;

/// Returns the rows of a group, without the repetition of the first one.
pub(crate) fn rows<'a>(
    experiment: &'a Experiment,
    group: &'a str,
) -> impl Iterator<Item = &'a Row> + Clone {
    experiment.rows.iter().filter(move |row| row.group == group && !row.is_again())
}

/// Returns the row of a method in a group.
pub(crate) fn row<'a>(experiment: &'a Experiment, group: &str, name: &str) -> Option<&'a Row> {
    experiment.rows.iter().find(|row| row.group == group && row.name == name)
}

/// Returns the row with the lowest cost among those of a group that `keep` selects; never the repetition.
pub(crate) fn fastest<'a>(
    experiment: &'a Experiment,
    group: &str,
    keep: impl Fn(&Row) -> bool,
) -> Option<&'a Row> {
    let rows = experiment.rows.iter().filter(|row| row.group == group && !row.is_again());
    let kept = rows.filter(|row| !row.samples.is_empty() && keep(row));
    kept.min_by(|a, b| cost(experiment, a).total_cmp(&cost(experiment, b)))
}

/// Returns the median cost of a row, in seconds per operation or byte.
pub(crate) fn cost(experiment: &Experiment, row: &Row) -> f64 {
    median(&row.values(|sample| experiment.cost.of(sample)))
}

/// Returns the median elapsed time of a row.
pub(crate) fn seconds(row: &Row) -> f64 {
    row.wall_seconds.map_or(f64::INFINITY, |wall| wall.middle)
}

/// Returns the cost of `row` over that of `other`.
pub(crate) fn times(experiment: &Experiment, row: &Row, other: &Row) -> f64 {
    cost(experiment, row) / cost(experiment, other)
}

/// Formats the rate of a row with the interval of its time: `3.12 GB/s (2.9-3.3)`.
pub(crate) fn rate(row: &Row) -> String {
    let bytes = row.samples.first().map_or(0, |sample| sample.bytes) as f64 / 1e9;
    let Some(wall) = row.wall_seconds else { return String::new() };
    let (low, high) = (bytes / wall.high, bytes / wall.low);
    format!("{} GB/s ({}-{})", three(bytes / wall.middle), three(low), three(high))
}

/// Describes `row` relative to `other`: `takes 2.1 times as long as` or `is 1.3 times as fast as`.
pub(crate) fn relation(experiment: &Experiment, row: &Row, other: &Row) -> String {
    match times(experiment, row, other) {
        more if more > 1.05 => format!("takes {} times as long as", three(more)),
        less if less < 0.95 => format!("is {} times as fast as", three(1.0 / less)),
        _ => "is about as fast as".into(),
    }
}
