//! Results of the laboratory as data.

use super::answers::{Answer, answers};
use super::column::Column;
use super::judge::{Control, judge};
use super::limits::Limit;
use crate::claims::Judged;
use crate::meter::Cost;
use crate::rounds::{Ended, Measured};
use crate::row::{Missing, Row};
use crate::workplace::Effort;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON file.
pub const SCHEMA: u32 = 4;

/// Report of one call: all its experiments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabReport {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of outcore.
    pub version: String,
    /// Amount of measurement.
    pub effort: Effort,
    /// Seed of the order of runs and of the data.
    pub seed: u64,
    /// Facts about the machine, by name, in the order of the page.
    pub environment: BTreeMap<String, String>,
    /// What to use for each task, as far as it was measured.
    pub answers: Vec<Answer>,
    /// Experiments in the order in which they ran.
    pub experiments: Vec<Experiment>,
    /// Known claims that they decide, judged.
    pub claims: Vec<Judged>,
}

impl LabReport {
    /// Adds an experiment, and its judgement of claims.
    pub fn add(&mut self, mut experiment: Experiment) {
        for judged in std::mem::take(&mut experiment.claims) {
            match self.claims.iter_mut().find(|claim| claim.name == judged.name) {
                Some(claim) => *claim = judged,
                None => self.claims.push(judged),
            }
        }
        self.experiments.push(experiment);
        self.answers = answers(&self.experiments);
    }

    /// Returns a fact about the machine; `?` if the system did not report it.
    pub fn fact(&self, name: &str) -> &str {
        self.environment.get(name).map_or("?", String::as_str)
    }
}

/// Result of one experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Name on the command line.
    pub name: String,
    /// Question that it answers, as a sentence.
    pub question: String,
    /// Sizes and counts, by name.
    pub parameters: BTreeMap<String, String>,
    /// Columns of its table, in order, after name and state.
    pub columns: Vec<Column>,
    /// Figure by which its rows are compared.
    pub cost: Cost,
    /// Rows; the first one is the baseline of all ratios within its group.
    pub rows: Vec<Row>,
    /// Comparisons of rows that do the same.
    pub controls: Vec<Control>,
    /// Known claims that it decides, until [`LabReport::add`] takes them.
    #[serde(skip)]
    pub claims: Vec<Judged>,
    /// Methods without a row, with the reasons.
    pub missing: Vec<Missing>,
    /// What else it shows, in a few plain sentences; the answers to tasks are in [`LabReport::answers`].
    pub finding: String,
    /// Further notes for the reader.
    pub notes: Vec<String>,
    /// Time of a fixed piece of work in each round.
    pub canary_seconds: Vec<f64>,
    /// Number of runs that were repeated because the machine was disturbed.
    pub repeated: u64,
    /// Rounds that were finished, if an error or an interruption ended the others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<Ended>,
    /// Specifications of its charts, if it has any.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub charts: Vec<Chart>,
    /// Limits of the machine that charts show.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub limits: Vec<Limit>,
}

/// Chart of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Chart {
    /// One bar of a column per row, with its interval.
    Bars {
        /// Column that is drawn.
        column: Column,
        /// Whether the axis is logarithmic.
        logarithmic: bool,
    },
    /// One line per series of rows over a number in the rows, both given by [`Row::point`].
    Lines {
        /// Meaning of the number, such as `transfer size in bytes`.
        x: String,
        /// Column that is drawn.
        column: Column,
    },
}

impl Experiment {
    /// Creates the result of an experiment from its measurements. Rows whose checksum differs from that of the first
    /// row of their group are removed from the table and listed as missing.
    pub fn new(name: &str, question: &str, columns: Vec<Column>, measured: Measured) -> Self {
        let Measured { rows, mut missing, canary_seconds, repeated, ended } = measured;
        let mut accepted: Vec<Row> = Vec::with_capacity(rows.len());
        for row in rows {
            let first = accepted.iter().find(|first| first.group == row.group).unwrap_or(&row);
            if agree(first, &row) {
                accepted.push(row);
            } else {
                let reason = "its checksum differs from that of the first row".into();
                missing.push(Missing { name: row.name, reason });
            }
        }
        let note = |Ended { rounds, of }| format!("It ended after {rounds} of {of} rounds.");
        let mut experiment = Self {
            name: name.into(),
            question: question.into(),
            parameters: BTreeMap::new(),
            columns,
            cost: Cost::default(),
            rows: accepted,
            controls: Vec::new(),
            claims: Vec::new(),
            missing,
            finding: String::new(),
            notes: ended.map(note).into_iter().collect(),
            canary_seconds,
            repeated,
            ended,
            charts: Vec::new(),
            limits: Vec::new(),
        };
        experiment.judge();
        experiment
    }

    fn judge(&mut self) {
        (self.controls, self.claims) = judge(&self.name, &mut self.rows, &self.missing, self.cost);
    }

    /// Compares the rows by another cost than the time of an operation.
    #[must_use]
    pub fn compared_by(mut self, cost: Cost) -> Self {
        self.cost = cost;
        self.judge();
        self
    }

    /// Adds a parameter, such as a size or a count.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: impl ToString) -> Self {
        self.parameters.insert(name.into(), value.to_string());
        self
    }

    /// Adds a limit of the machine.
    #[must_use]
    pub(crate) fn limit(mut self, limit: Limit) -> Self {
        self.notes.push(limit.note());
        self.limits.push(limit);
        self
    }

    /// Returns the row of a method.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Returns the largest difference between rows that do the same, as a ratio above 1; `None` with too few rounds.
    pub fn noise(&self) -> Option<f64> {
        let ratios = self.controls.iter().filter_map(|control| control.ratio);
        ratios.map(|ratio| ratio.middle.max(1.0 / ratio.middle)).max_by(f64::total_cmp)
    }

    /// Returns the names of rows that differ from rows that do the same; if there are any, other differences mean
    /// nothing.
    pub fn unequal(&self) -> Vec<&str> {
        let differs = |control: &&Control| control.ratio.is_some_and(|ratio| ratio.differs());
        self.controls.iter().filter(differs).map(|control| control.name.as_str()).collect()
    }
}

/// Returns whether the runs of both rows returned one checksum.
fn agree(first: &Row, row: &Row) -> bool {
    let mut sums = first.samples.iter().take(1).chain(&row.samples).map(|sample| sample.checksum);
    let sum = sums.next();
    sums.all(|other| Some(other) == sum)
}
