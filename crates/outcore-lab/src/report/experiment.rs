//! Results of the laboratory as data.

use super::column::Column;
use crate::meter::Sample;
use crate::rounds::Measured;
use crate::row::{AGAIN, Missing, Row};
use crate::statistics::{Interval, quantile, ratio};
use crate::workplace::Effort;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON file.
pub const SCHEMA: u32 = 1;

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
    /// Experiments in the order in which they ran.
    pub experiments: Vec<Experiment>,
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
    /// Rows; the first one is the baseline of all ratios within its group.
    pub rows: Vec<Row>,
    /// Methods without a row, with the reasons.
    pub missing: Vec<Missing>,
    /// Answer in a few plain sentences.
    pub finding: String,
    /// Further notes for the reader.
    pub notes: Vec<String>,
    /// Time of a fixed piece of work before each round.
    pub canary_seconds: Vec<f64>,
    /// Specification of its chart, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chart: Option<Chart>,
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
        let Measured { rows, mut missing, canary_seconds } = measured;
        let mut accepted: Vec<Row> = Vec::with_capacity(rows.len());
        for mut row in rows {
            let baseline = accepted.iter().find(|first| first.group == row.group);
            if let Some(baseline) = baseline {
                let sums = |row: &Row| row.samples.iter().map(|s| s.checksum).collect::<Vec<_>>();
                if sums(baseline).first() != sums(&row).first()
                    || sums(&row).windows(2).any(|pair| pair[0] != pair[1])
                {
                    let reason = "its checksum differs from that of the first row".into();
                    missing.push(Missing { name: row.name, reason });
                    continue;
                }
                let walls = |row: &Row| row.values(|sample| sample.wall_seconds);
                row.ratio = ratio(&walls(&row), &walls(baseline));
            }
            accepted.push(row);
        }
        Self {
            name: name.into(),
            question: question.into(),
            parameters: BTreeMap::new(),
            columns,
            rows: accepted,
            missing,
            finding: String::new(),
            notes: Vec::new(),
            canary_seconds,
            chart: None,
        }
    }

    /// Computes the ratios from `cost` instead of elapsed time, for rows that do different amounts of work or whose
    /// sync counts.
    #[must_use]
    pub fn compared_by(mut self, cost: impl Fn(&Sample) -> f64) -> Self {
        let costs: Vec<(String, Vec<f64>)> =
            self.rows.iter().map(|row| (row.group.clone(), row.values(&cost))).collect();
        for (row, (group, values)) in self.rows.iter_mut().zip(&costs) {
            let first = costs.iter().find(|(other, _)| other == group);
            let (_, baseline) = first.expect("the row itself at least");
            row.ratio = row.ratio.and_then(|_| ratio(values, baseline));
        }
        self
    }

    /// Adds a parameter, such as a size or a count.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: impl ToString) -> Self {
        self.parameters.insert(name.into(), value.to_string());
        self
    }

    /// Returns the row of a method.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Returns the ratio of the baseline to itself: the effect of noise alone.
    pub fn noise(&self) -> Option<Interval> {
        self.row(AGAIN)?.ratio
    }

    /// Whether the machine was too unsteady for small differences to mean anything.
    pub fn is_noisy(&self) -> bool {
        let unequal = self
            .noise()
            .is_some_and(|noise| noise.excludes(1.0) && !(0.9..1.1).contains(&noise.median));
        let (low, high) =
            (quantile(&self.canary_seconds, 0.1), quantile(&self.canary_seconds, 0.9));
        unequal || high > 1.25 * low
    }
}
