//! Comparison of two reports: which rows became significantly faster or slower.
//!
//! The runs of two reports have no rounds in common, so the ratio is that of the medians, with an interval from
//! resampling each side independently.

use super::experiment::{Experiment, LabReport};
use crate::row::{AGAIN, Row};
use crate::state::State;
use crate::statistics::{Interval, median, ratio_of_medians};
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
    /// Reason why its times cannot be compared, if there is one.
    pub refused: Option<String>,
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
    /// Median elapsed seconds in the first report.
    pub first_seconds: f64,
    /// Median elapsed seconds in the second report.
    pub second_seconds: f64,
    /// Ratio of the second to the first.
    pub ratio: Interval,
    /// Whether they differ significantly.
    pub differs: bool,
}

/// Compares `second` with `first`.
pub fn compare(first: &LabReport, second: &LabReport) -> Comparison {
    let names = |from: &LabReport, other: &LabReport| {
        let is_alone = |name: &&str| other.experiments.iter().all(|each| each.name != *name);
        let all = from.experiments.iter().map(|each| each.name.as_str());
        all.filter(is_alone).map(str::to_owned).collect()
    };
    let both = first.experiments.iter().filter_map(|one| {
        let other = second.experiments.iter().find(|other| other.name == one.name)?;
        Some(experiment(one, other))
    });
    Comparison {
        schema: 1,
        differences: differences(first, second),
        experiments: both.collect(),
        only_first: names(first, second),
        only_second: names(second, first),
    }
}

/// Whether a fact changes from call to call on the same machine; such facts are no difference.
fn is_passing(name: &str) -> bool {
    ["load average", "pressure", "disk space free", "memory available"]
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

fn experiment(first: &Experiment, second: &Experiment) -> Compared {
    let mut compared = Compared {
        name: first.name.clone(),
        refused: refusal(first, second),
        rows: Vec::new(),
        only_first: alone(first, second),
        only_second: alone(second, first),
    };
    if compared.refused.is_none() {
        compared.rows = first.rows.iter().filter_map(|one| row(one, twin(one, second)?)).collect();
    }
    compared
}

/// Returns why two experiments cannot be compared: with different sizes or counts they do different work.
fn refusal(first: &Experiment, second: &Experiment) -> Option<String> {
    let names: BTreeSet<&String> =
        first.parameters.keys().chain(second.parameters.keys()).collect();
    let unlike: Vec<String> = names
        .into_iter()
        .filter(|name| first.parameters.get(*name) != second.parameters.get(*name))
        .map(|name| {
            let of = |experiment: &Experiment| {
                experiment.parameters.get(name).map_or("none", String::as_str).to_owned()
            };
            format!("{name} is {} and {}", of(first), of(second))
        })
        .collect();
    (!unlike.is_empty()).then(|| format!("not the same work: {}", unlike.join(", ")))
}

fn twin<'a>(row: &Row, experiment: &'a Experiment) -> Option<&'a Row> {
    let is_twin = |other: &&Row| {
        (&other.name, &other.group, other.state) == (&row.name, &row.group, row.state)
    };
    experiment.rows.iter().find(is_twin)
}

fn alone(from: &Experiment, other: &Experiment) -> Vec<String> {
    let rows = from.rows.iter().filter(|row| row.name != AGAIN && twin(row, other).is_none());
    rows.map(|row| format!("{} ({})", row.name, row.state.name())).collect()
}

fn row(first: &Row, second: &Row) -> Option<ComparedRow> {
    if first.name == AGAIN {
        return None;
    }
    let walls = |row: &Row| row.values(|sample| sample.wall_seconds);
    let ratio = ratio_of_medians(&walls(second), &walls(first))?;
    Some(ComparedRow {
        name: first.name.clone(),
        group: first.group.clone(),
        state: first.state,
        first_seconds: median(&walls(first)),
        second_seconds: median(&walls(second)),
        ratio,
        differs: ratio.excludes(1.0),
    })
}
