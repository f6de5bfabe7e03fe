//! Comparison of rows: which one is fastest, by how much, and whether the difference is significant.

use crate::report::{Experiment, three};
use crate::row::{AGAIN, Row};
use crate::statistics::{Interval, ratio};

/// Returns the row of a method in a group.
pub(crate) fn row<'a>(experiment: &'a Experiment, group: &str, name: &str) -> Option<&'a Row> {
    experiment.rows.iter().find(|row| row.group == group && row.name == name)
}

/// Returns the row with the shortest elapsed time among those that `keep` selects; never the repetition.
pub(crate) fn fastest<'a>(
    experiment: &'a Experiment,
    group: &str,
    keep: impl Fn(&Row) -> bool,
) -> Option<&'a Row> {
    let rows = experiment.rows.iter().filter(|row| row.group == group && row.name != AGAIN);
    let timed = rows.filter(|row| row.wall_seconds.is_some() && keep(row));
    timed.min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
}

/// Returns the median elapsed time.
pub(crate) fn seconds(row: &Row) -> f64 {
    row.wall_seconds.map_or(f64::INFINITY, |wall| wall.median)
}

/// Returns the ratio of the elapsed time of `row` to that of `other`, computed round by round.
pub(crate) fn times(row: &Row, other: &Row) -> Option<Interval> {
    let walls = |row: &Row| row.values(|sample| sample.wall_seconds);
    ratio(&walls(row), &walls(other))
}

/// Formats the rate of a row with its interval: `3.12 GB/s (2.9-3.3)`.
pub(crate) fn rate(row: &Row) -> String {
    let bytes = row.samples.first().map_or(0, |sample| sample.bytes) as f64 / 1e9;
    let Some(wall) = row.wall_seconds else { return String::new() };
    let (low, high) = (bytes / wall.high, bytes / wall.low);
    format!("{} GB/s ({}-{})", three(bytes / wall.median), three(low), three(high))
}

/// Describes `row` relative to `other`: `takes 2.1 times as long as`, `is 1.3 times as fast as` or
/// `does not differ significantly from`.
pub(crate) fn relation(row: &Row, other: &Row) -> String {
    match times(row, other) {
        Some(times) if times.low > 1.0 => {
            format!("takes {} times as long as", three(times.median))
        }
        Some(times) if times.high < 1.0 => {
            format!("is {} times as fast as", three(1.0 / times.median))
        }
        _ => "does not differ significantly from".into(),
    }
}
