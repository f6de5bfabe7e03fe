//! Cached share: what does it cost if a part of the file is not in memory?
//!
//! A file that grows beyond the page cache is only partly in memory. Growing a file that far takes more time and disk
//! than an experiment may use; instead, chosen parts of a small file are in memory and the rest is not, which is
//! verified. A read that waits for the disk takes a hundred times as long as one that does not, so even a small missing
//! part takes most of the time: the cliff.

use super::MIB;
use super::compare::{cost, row, rows};
use super::positions::{OperationClock, PAGE, value};
use crate::api::memory::recycle;
use crate::meter::{Cost, Outcome};
use crate::random::Random;
use crate::report::{Chart, Column, Experiment, Limit, three};
use crate::rounds::{self, Method};
use crate::row::Row;
use crate::state::{State, bring_parts};
use crate::workplace::{Effort, Workplace};
use outcore::units::{format_bytes, format_count};
use outcore::{Error, Result};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of a part of the file that is in memory or not.
const PART: u64 = 64 << 10;

const AT_RANDOM: &str = "pages in random order";
const IN_ORDER: &str = "1 MiB at a time, in order";

/// Amount of measurement.
#[derive(Debug, Clone)]
pub struct CachedShareParameters {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Number of reads in random order.
    pub reads: usize,
    /// Percentages of the file that are not in memory, ascending.
    pub missing: Vec<f64>,
    /// Number of runs of each way.
    pub rounds: u32,
}

impl CachedShareParameters {
    /// Returns the parameters of an effort.
    pub fn of(effort: Effort) -> Self {
        let (bytes, reads, missing) = match effort {
            Effort::Quick => (16 << 20, 1_000, vec![0.0, 1.0, 10.0, 100.0]),
            Effort::Default => {
                (64 << 20, 5_000, vec![0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0])
            }
            Effort::Full => (
                256 << 20,
                20_000,
                vec![0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0],
            ),
        };
        Self { bytes, reads, missing, rounds: effort.rounds() }
    }
}

/// Reads a page at each position.
fn at_random(path: &Path, positions: &[u64]) -> Result<Outcome> {
    let mut clock = OperationClock::start(positions.len());
    let file = open(path)?;
    // Without this advice, the system also reads what follows a page that is not in memory.
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random)
        .map_err(|e| fail(path)(e.into()))?;
    let mut page = [0; PAGE as usize];
    let mut sum = 0;
    clock.begin();
    for &position in positions {
        file.read_exact_at(&mut page, position).map_err(fail(path))?;
        sum += u64::from(value(&page));
        clock.lap();
    }
    Ok(Outcome { bytes: positions.len() as u64 * PAGE, ..clock.outcome(sum, positions.len()) })
}

/// Reads the file from front to back.
fn in_order(path: &Path, bytes: u64) -> Result<Outcome> {
    let file = open(path)?;
    let mut block = vec![0; MIB];
    let mut sum = 0;
    for offset in (0..bytes).step_by(MIB) {
        file.read_exact_at(&mut block, offset).map_err(fail(path))?;
        sum += u64::from(value(&block));
    }
    let operations = bytes / MIB as u64;
    Ok(Outcome { checksum: sum, operations, bytes, ..Outcome::default() })
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| Error::io("open", path, e))
}

fn fail(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |e| Error::io("read", path, e)
}

/// Returns the ranges of the file to keep in memory, chosen at random, if `percent` of it is missing.
fn kept(bytes: u64, percent: f64, seed: u64) -> Vec<Range<u64>> {
    let parts = bytes / PART;
    let mut order: Vec<u64> = (0..parts).collect();
    Random(seed ^ 5).shuffle(&mut order);
    let missing = (parts as f64 * percent / 100.0).round() as usize;
    let mut kept = order.split_off(missing.min(order.len()));
    kept.sort_unstable();
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for part in kept {
        let begin = part * PART;
        match ranges.last_mut().filter(|last| last.end == begin) {
            Some(last) => last.end += PART,
            None => ranges.push(begin..begin + PART),
        }
    }
    ranges
}

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>, parameters: &CachedShareParameters) -> Result<Experiment> {
    let bytes = parameters.bytes.next_multiple_of(MIB as u64);
    let path = workplace.make_file("cached-share", bytes)?;
    let mut random = Random(workplace.seed ^ 6);
    let mut positions: Vec<u64> = (0..bytes / PAGE).map(|page| page * PAGE).collect();
    random.shuffle(&mut positions);
    positions.truncate(parameters.reads);
    let (mut methods, mut points) = (Vec::new(), Vec::new());
    for (group, is_random) in [(AT_RANDOM, true), (IN_ORDER, false)] {
        for &percent in &parameters.missing {
            let name = name(percent);
            points.push((group, name.clone(), percent));
            let (file, positions) = (path.as_path(), &positions);
            let run = move || match is_random {
                true => at_random(file, positions),
                false => in_order(file, bytes),
            };
            methods
                .push(method(&path, name, kept(bytes, percent, workplace.seed), run).group(group));
        }
    }
    let disk = Limit::disk_pages(&path)?.of(&[AT_RANDOM]);
    let large = Limit::disk(&path)?.of(&[IN_ORDER]);
    let measured = rounds::run(workplace, methods, parameters.rounds)?;
    workplace.files().remove(&path)?;
    let columns = vec![
        Column::PerOperation,
        Column::OperationMedian,
        Column::OperationP99,
        Column::OperationP999,
        Column::Rate,
        Column::ReadBytes,
        Column::Ratio,
    ];
    let question = "What does it cost if a part of the file is not in memory?";
    let mut experiment = Experiment::new("cached-share", question, columns, measured)
        .compared_by(Cost::Byte)
        .parameter("file", format_bytes(bytes))
        .parameter("reads in random order", format_count(positions.len() as u64))
        .parameter("parts", format_bytes(PART))
        .parameter("rounds", parameters.rounds)
        .limit(disk)
        .limit(large);
    for row in &mut experiment.rows {
        let of = points.iter().find(|(group, name, _)| *group == row.group && *name == row.name);
        // Rows with nothing or everything missing are lines across the chart.
        let percent = of.map(|(.., percent)| *percent).filter(|at| *at > 0.0 && *at < 100.0);
        row.point = percent.map(|percent| ("part of it missing".to_owned(), percent));
    }
    let x = "percentage of the file that is not in memory".into();
    experiment.charts = vec![Chart::Lines { x, column: Column::Rate }];
    experiment.finding = finding(&experiment);
    Ok(experiment)
}

fn method<'a>(
    path: &Path,
    name: String,
    kept: Vec<Range<u64>>,
    run: impl FnMut() -> Result<Outcome> + 'a,
) -> Method<'a> {
    let file = path.to_path_buf();
    let bytes: u64 = kept.iter().map(|range| range.end - range.start).sum();
    let method = Method::new(name, State::Parts, Some(file.clone()), run);
    let method = method.prepare(move || {
        recycle(bytes as usize);
        Ok(())
    });
    method.prove(move || bring_parts(&file, &kept))
}

fn name(percent: f64) -> String {
    match percent {
        0.0 => "all in memory".into(),
        100.0 => "nothing in memory".into(),
        _ => format!("{percent} % not in memory"),
    }
}

/// Describes the cost of the smallest missing part, and the missing part beyond which most of the time is spent
/// waiting.
fn finding(experiment: &Experiment) -> String {
    let sentences = [AT_RANDOM, IN_ORDER].into_iter().filter_map(|group| {
        let all = row(experiment, group, &name(0.0))?;
        let nothing = row(experiment, group, &name(100.0))?;
        let times = |row: &Row| cost(experiment, row) / cost(experiment, all);
        let mut parts = rows(experiment, group).filter(|row| row.point.is_some());
        let twice = parts.find(|row| row.differs() && times(row) >= 2.0).map_or_else(
            || "no part that was tried doubles it".to_owned(),
            |row| format!("with {} it is {}x", row.name, three(times(row))),
        );
        let whole = three(times(nothing));
        Some(format!(
            "For {group}, the time without the page cache is {whole}x that with it; {twice}."
        ))
    });
    sentences.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_ranges_are_the_wanted_share_in_order() {
        let bytes = 100 * PART;
        for percent in [0.0, 1.0, 37.0, 100.0] {
            let ranges = kept(bytes, percent, 9);
            let total: u64 = ranges.iter().map(|range| range.end - range.start).sum();
            assert_eq!(total as f64, bytes as f64 * (1.0 - percent / 100.0), "{percent}");
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
            assert!(ranges.iter().all(|range| range.end <= bytes));
        }
        assert_eq!(kept(bytes, 0.0, 9).len(), 1);
    }
}
