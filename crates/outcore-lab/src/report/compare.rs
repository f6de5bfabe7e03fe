//! Comparison of two reports: which rows became significantly faster or slower.
//!
//! Rows are compared by the cost of an operation or a byte, or by any other figure, since experiments adapt the number
//! of operations to the speed of the machine. The runs of two reports have no rounds in common: the test is whether the
//! division of all rounds into these two reports is an extreme one.

use super::column::Column;
use super::experiment::{Experiment, LabReport};
use crate::environment::STOLEN;
use crate::meter::Cost;
use crate::row::Row;
use crate::state::State;
use crate::statistics::{Interval, between, median};
use serde::Serialize;
use std::collections::BTreeSet;

/// Differences between two reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of this structure as JSON.
    pub schema: u32,
    /// Facts about machine and call that differ.
    pub differences: Vec<Difference>,
    /// Experiments in both reports.
    pub experiments: Vec<Compared>,
    /// Experiments in the first report only.
    pub only_first: Vec<String>,
    /// Experiments in the second report only.
    pub only_second: Vec<String>,
}

/// Fact that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Name of the fact.
    pub name: String,
    /// Value in the first report, if it has one.
    pub first: Option<String>,
    /// Value in the second report, if it has one.
    pub second: Option<String>,
}

/// Experiment in both reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Name of the experiment.
    pub name: String,
    /// Figure that is compared, with its unit.
    pub figure: String,
    /// Sizes and counts that differ: then a ratio is not that of the machines alone.
    pub unlike: Vec<String>,
    /// Rows in both reports.
    pub rows: Vec<ComparedRow>,
    /// Rows in the first report only, as `name (state)`.
    pub only_first: Vec<String>,
    /// Rows in the second report only.
    pub only_second: Vec<String>,
}

/// Row in both reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedRow {
    /// Name of the method.
    pub name: String,
    /// Table of the row.
    pub group: String,
    /// State that its runs began in.
    pub state: State,
    /// Median figure in the first report.
    pub first: f64,
    /// Median figure in the second report.
    pub second: f64,
    /// Ratio of the second to the first; its interval holds simultaneously with those of the other rows.
    /// `None` with too few rounds, or if a figure is 0.
    pub ratio: Option<Interval>,
    /// Whether a difference was shown.
    pub differs: bool,
}

/// Compares `second` with `first` by a figure of all rows, or else by the cost of each experiment.
pub fn compare(first: &LabReport, second: &LabReport, by: Option<Column>) -> Comparison {
    let names = |from: &LabReport, other: &LabReport| {
        let is_alone = |name: &&str| other.experiments.iter().all(|each| each.name != *name);
        let all = from.experiments.iter().map(|each| each.name.as_str());
        all.filter(is_alone).map(str::to_owned).collect()
    };
    let both = first.experiments.iter().filter_map(|one| {
        let other = second.experiments.iter().find(|other| other.name == one.name)?;
        Some(experiment(one, other, by))
    });
    Comparison {
        schema: 2,
        differences: differences(first, second),
        experiments: both.collect(),
        only_first: names(first, second),
        only_second: names(second, first),
    }
}

/// Returns whether a fact changes from call to call on the same machine; such facts are no difference.
fn is_passing(name: &str) -> bool {
    ["load average", "pressure", STOLEN, "disk space free", "memory available"]
        .iter()
        .any(|passing| name.starts_with(passing))
}

fn differences(first: &LabReport, second: &LabReport) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = |name: &str, first: Option<String>, second: Option<String>| {
        if first != second {
            found.push(Difference { name: name.into(), first, second });
        }
    };
    add("version of outcore", Some(first.version.clone()), Some(second.version.clone()));
    let effort = |report: &LabReport| Some(format!("{:?}", report.effort).to_lowercase());
    add("effort", effort(first), effort(second));
    let names: BTreeSet<&String> =
        first.environment.keys().chain(second.environment.keys()).collect();
    for name in names.into_iter().filter(|name| !is_passing(name)) {
        add(name, first.environment.get(name).cloned(), second.environment.get(name).cloned());
    }
    found
}

fn experiment(first: &Experiment, second: &Experiment, by: Option<Column>) -> Compared {
    let pairs: Vec<(&Row, &Row)> = first
        .rows
        .iter()
        .filter(|row| !row.is_again())
        .filter_map(|row| Some((row, twin(row, second)?)))
        .filter(|(one, two)| {
            !values(one, first.cost, by).is_empty() && !values(two, first.cost, by).is_empty()
        })
        .collect();
    let values = |row: &Row| values(row, first.cost, by);
    let logs = |row: &Row| values(row).iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let is_ratio = |(one, two): &&(&Row, &Row)| {
        [one, two].iter().all(|row| logs(row).iter().all(|log| log.is_finite()))
    };
    let family: Vec<(Vec<f64>, Vec<f64>)> =
        pairs.iter().filter(is_ratio).map(|(one, two)| (logs(one), logs(two))).collect();
    let mut ratios = between(&family).into_iter();
    let row = |pair: &(&Row, &Row)| {
        let ratio = is_ratio(&pair).then(|| ratios.next()).flatten().flatten();
        ComparedRow {
            name: pair.0.name.clone(),
            group: pair.0.group.clone(),
            state: pair.0.state,
            first: median(&values(pair.0)),
            second: median(&values(pair.1)),
            ratio,
            differs: ratio.is_some_and(|ratio| ratio.differs()),
        }
    };
    Compared {
        name: first.name.clone(),
        figure: by.map_or(figure(first.cost).0, Column::heading).into(),
        unlike: unlike(first, second),
        rows: pairs.iter().map(row).collect(),
        only_first: alone(first, second),
        only_second: alone(second, first),
    }
}

/// Returns the heading of a cost, and the factor from seconds to its unit.
fn figure(cost: Cost) -> (&'static str, f64) {
    match cost {
        Cost::Operation => ("ns/op", 1e9),
        Cost::Byte => ("ns/KiB", 1024e9),
        Cost::DurableByte => ("ns/KiB, durable", 1024e9),
    }
}

/// Returns the compared figure of every run; empty if the row has none.
fn values(row: &Row, cost: Cost, by: Option<Column>) -> Vec<f64> {
    match by {
        Some(column) => column.values(row).unwrap_or_default(),
        None => row.values(|sample| cost.of(sample) * figure(cost).1),
    }
}

/// Returns the sizes and counts that differ, except the number of rounds.
fn unlike(first: &Experiment, second: &Experiment) -> Vec<String> {
    let names: BTreeSet<&String> =
        first.parameters.keys().chain(second.parameters.keys()).collect();
    let of = |experiment: &Experiment, name: &String| {
        experiment.parameters.get(name).map_or("none", String::as_str).to_owned()
    };
    let differ = names.into_iter().filter(|name| {
        name.as_str() != "rounds" && first.parameters.get(*name) != second.parameters.get(*name)
    });
    differ.map(|name| format!("{name} is {} and {}", of(first, name), of(second, name))).collect()
}

fn twin<'a>(row: &Row, experiment: &'a Experiment) -> Option<&'a Row> {
    let is_twin = |other: &&Row| {
        (&other.name, &other.group, other.state) == (&row.name, &row.group, row.state)
    };
    experiment.rows.iter().find(is_twin)
}

fn alone(from: &Experiment, other: &Experiment) -> Vec<String> {
    let rows = from.rows.iter().filter(|row| !row.is_again() && twin(row, other).is_none());
    rows.map(|row| format!("{} ({})", row.name, row.state.name())).collect()
}
