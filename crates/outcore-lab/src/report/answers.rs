//! What to use for each task of a program, from the rows of an experiment: its way, how many times as fast it is as the
//! naive one, and whether that is sure.
//!
//! The naive way is the first row of a table, to which all rows are compared anyway. An answer is sure if the interval
//! of its ratio, which holds simultaneously with all others of the experiment, shows a difference, and rows that do the
//! same do not differ. Of ways that are sure, the one with the best lower bound is named, not the one with the luckiest
//! mean.

use super::column::Column;
use super::experiment::Experiment;
use crate::number::three;
use crate::row::Row;
use crate::statistics::{Interval, NEGLIGIBLE, Verdict};
use serde::{Deserialize, Serialize};

/// Task of a program.
struct Task {
    name: &'static str,
    experiment: &'static str,
    /// Figure that is shown of the way to use.
    figure: Column,
    cases: &'static [Case],
}

/// Circumstance in which the task is done.
struct Case {
    when: &'static str,
    /// Group of the rows that do it.
    group: &'static str,
    /// Whether a row does the task in this case, by its name.
    does: fn(&str) -> bool,
}

const fn case(when: &'static str, group: &'static str, does: fn(&str) -> bool) -> Case {
    Case { when, group, does }
}

/// All tasks. Rows of the engine do not count, since they are no interface, except its sort, which is a library.
const TASKS: &[Task] = &[
    Task {
        name: "read a file front to back",
        experiment: "sequential-read",
        figure: Column::Rate,
        cases: &[
            case("from the disk", "cold", |way| !way.contains("engine")),
            case("in memory", "warm", |way| {
                !way.contains("engine") && !way.contains("second pass")
            }),
        ],
    },
    Task {
        name: "read records at random",
        experiment: "random-read",
        figure: Column::PerOperation,
        cases: &[
            case("from the disk", "cold", |way| !way.starts_with("scan")),
            case("in memory", "warm", |way| !way.starts_with("scan")),
        ],
    },
    Task {
        name: "update records",
        experiment: "random-update",
        figure: Column::PerOperation,
        cases: &[
            case("from the disk", "cold", |way| !way.starts_with("fread alone")),
            case("in memory", "warm", |way| !way.starts_with("fread alone")),
        ],
    },
    Task {
        name: "format text",
        experiment: "write-buffer",
        figure: Column::PerOperation,
        cases: &[
            case("strings", "lines of one string", |way| !way.starts_with("outcore")),
            case("numbers", "lines of two indexes and a weight", |way| !way.starts_with("outcore")),
        ],
    },
    Task {
        name: "append durable records",
        experiment: "durable-append",
        figure: Column::PerOperation,
        cases: &[
            case("each at once", "", |way| !way.contains("after") && !way.contains("at the end")),
            case("some at a time", "", |way| way.contains("after")),
        ],
    },
    Task {
        name: "sort records",
        experiment: "sort",
        figure: Column::PerOperation,
        cases: &[
            case("larger than memory", "", |way| {
                way.contains("-way merge") || way.starts_with("outcore")
            }),
            case("in memory", "", |way| !way.contains("nothing sorted")),
        ],
    },
    Task {
        name: "compute while reading",
        experiment: "overlap",
        figure: Column::Rate,
        cases: &[
            case("through the page cache", "cold", |_| true),
            case("past it", "direct", |_| true),
        ],
    },
];

/// What to use for a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Task of a program.
    pub task: String,
    /// Experiment that measures it.
    pub experiment: String,
    /// Ways to use, by circumstance; empty if the task was not measured.
    pub advice: Vec<Advice>,
}

/// Way to use in a circumstance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Circumstance.
    pub when: String,
    /// Method to use, with its size.
    pub way: String,
    /// Its rate, or the time of one operation, with the unit.
    pub figure: String,
    /// Method that the source of the experiment calls naive.
    pub naive: String,
    /// How many times as fast it is as the naive one; `None` if it is the naive one, and no other was shown to be faster.
    pub times: Option<Interval>,
    /// Whether the intervals leave no doubt.
    pub is_sure: bool,
}

impl Answer {
    /// Returns the naive way that all advice is compared with; `None` if the task was not measured.
    pub fn naive(&self) -> Option<&str> {
        self.advice.first().map(|advice| advice.naive.as_str())
    }

    /// Returns the command that measures the task, without further options.
    pub fn command(&self) -> String {
        format!("outcore lab {}", self.experiment)
    }
}

impl Advice {
    /// Returns how many times as fast the way is, with the interval.
    pub fn times_text(&self) -> String {
        match self.times {
            Some(Interval { middle, low, high }) => {
                format!("{}x ({}-{})", three(middle), three(low), three(high))
            }
            None => "nothing faster was found".into(),
        }
    }

    /// Returns the displayed certainty.
    pub fn certainty(&self) -> &'static str {
        if self.is_sure { "sure" } else { "unsure" }
    }
}

/// Returns what to use for each task, as far as some experiments tell.
pub fn answers(experiments: &[Experiment]) -> Vec<Answer> {
    let answer = |task: &Task| {
        let measured = experiments.iter().find(|each| each.name == task.experiment);
        let advise = |case| advise(task, case, measured?);
        Answer {
            task: task.name.into(),
            experiment: task.experiment.into(),
            advice: task.cases.iter().filter_map(advise).collect(),
        }
    };
    TASKS.iter().map(answer).collect()
}

/// Chooses the way to use: the fastest that is surely faster than the naive way, or else the fastest that may be, or
/// else the naive way itself. That last choice is sure if every other way is shown not to be faster.
fn advise(task: &Task, case: &Case, experiment: &Experiment) -> Option<Advice> {
    let mut rows = experiment
        .rows
        .iter()
        .filter(|row| row.group == case.group && !row.is_again() && !row.samples.is_empty());
    let naive = rows.next()?;
    let others = rows.filter(|row| (case.does)(&row.name));
    let others: Vec<(&Row, Interval)> = others.filter_map(|row| Some((row, row.ratio?))).collect();
    let is_faster = |ratio: &Interval| ratio.verdict() == Some(Verdict::Lower);
    let sure = others.iter().filter(|(_, ratio)| is_faster(ratio));
    let sure = sure.min_by(|a, b| a.1.high.total_cmp(&b.1.high));
    let perhaps = others.iter().filter(|(_, ratio)| ratio.middle < 1.0 / NEGLIGIBLE);
    let perhaps = perhaps.min_by(|a, b| a.1.middle.total_cmp(&b.1.middle));
    let best = sure.or(perhaps);
    let row = best.map_or(naive, |(row, _)| row);
    let none_is_open =
        !others.is_empty() && others.iter().all(|(_, ratio)| ratio.verdict().is_some());
    Some(Advice {
        when: case.when.into(),
        way: row.name.clone(),
        figure: figure(task.figure, row),
        naive: naive.name.clone(),
        times: best.map(|(_, ratio)| ratio.inverse()),
        is_sure: experiment.unequal().is_empty()
            && (sure.is_some() || best.is_none() && none_is_open),
    })
}

/// Returns a figure of a row with its unit.
fn figure(column: Column, row: &Row) -> String {
    let Some(value) = column.value(row) else { return String::new() };
    match column {
        Column::PerOperation => {
            let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
            let unit = units.into_iter().find(|(nanoseconds, _)| value >= *nanoseconds);
            let (nanoseconds, unit) = unit.unwrap_or((1.0, "ns"));
            format!("{} {unit} each", three(value / nanoseconds))
        }
        _ => format!("{} {}", three(value), column.heading()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::Sample;
    use crate::random::Random;
    use crate::rounds::Measured;
    use crate::row::AGAIN;
    use crate::state::State;

    /// Returns the answer to durable appends from rows with these names, seconds of an operation and share of noise.
    fn answered(rows: &[(&str, f64, f64)]) -> Answer {
        let mut random = Random(5);
        let row = |&(name, seconds, noise): &(&str, f64, f64)| {
            let sample = |round| {
                let share = random.below(1_001) as f64 / 500.0 - 1.0;
                let wall_seconds = 100.0 * seconds * (1.0 + noise * share);
                Sample { round, wall_seconds, operations: 100, ..Sample::default() }
            };
            let samples = (0..12).map(sample).collect();
            Row::new(name.into(), String::new(), State::New, samples)
        };
        let rows = rows.iter().map(row).collect();
        let measured = Measured { rows, ..Measured::default() };
        let experiment = Experiment::new("durable-append", "?", Vec::new(), measured);
        let mut all = answers(&[experiment]);
        all.swap_remove(all.iter().position(|each| !each.advice.is_empty()).unwrap())
    }

    #[test]
    fn the_way_to_use_is_the_one_that_is_faster_for_sure() {
        let answer = answered(&[
            ("append, fsync", 1e-4, 0.001),
            ("append, fdatasync", 5e-5, 0.001),
            ("append, O_DSYNC", 4.9e-5, 0.9),
            ("append, fdatasync after 4", 2.5e-5, 0.001),
            ("append, one fsync at the end", 1e-6, 0.001),
            (AGAIN, 1e-4, 0.001),
        ]);
        let [once, some] = &answer.advice[..] else { panic!("{answer:?}") };
        assert_eq!((once.way.as_str(), once.certainty()), ("append, fdatasync", "sure"));
        assert_eq!((once.figure.as_str(), once.naive.as_str()), ("50.0 µs each", "append, fsync"));
        let times = once.times.unwrap();
        assert!(times.low <= 2.0 && 2.0 <= times.high && times.high < 2.1, "{times:?}");
        assert!(once.times_text().starts_with("2.00x ("), "{}", once.times_text());
        assert_eq!((some.way.as_str(), some.is_sure), ("append, fdatasync after 4", true));
        assert_eq!(answer.naive(), Some("append, fsync"));
    }

    #[test]
    fn what_is_not_shown_is_unsure() {
        let open = answered(&[
            ("append, fsync", 1e-4, 0.5),
            ("append, fdatasync", 9e-5, 0.5),
            (AGAIN, 1e-4, 0.5),
        ]);
        assert!(!open.advice[0].is_sure, "{open:?}");
        // A row that does the same as the first differs from it.
        let disturbed = answered(&[
            ("append, fsync", 1e-4, 0.001),
            ("append, fdatasync", 5e-5, 0.001),
            (AGAIN, 1.3e-4, 0.001),
        ]);
        assert_eq!(disturbed.advice[0].certainty(), "unsure");
        assert!(disturbed.advice[0].times.is_some());
    }

    #[test]
    fn the_naive_way_is_the_answer_where_none_is_faster() {
        let slow = answered(&[
            ("append, fsync", 1e-4, 0.001),
            ("append, fdatasync", 2e-4, 0.001),
            (AGAIN, 1e-4, 0.001),
        ]);
        let [once, some] = &slow.advice[..] else { panic!("{slow:?}") };
        assert_eq!((once.way.as_str(), once.times, once.is_sure), ("append, fsync", None, true));
        assert!(!some.is_sure, "no way of this kind was measured");
        let none = answers(&[]);
        assert!(none.len() == 7 && none.iter().all(|each| each.advice.is_empty()));
        assert_eq!(none[0].command(), "outcore lab sequential-read");
    }
}
