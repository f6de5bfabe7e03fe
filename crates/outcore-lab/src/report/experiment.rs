//! What the laboratory found, as data.

use super::column::Column;
use crate::meter::Sample;
use crate::rounds::Measured;
use crate::row::{AGAIN, Missing, Row};
use crate::statistics::{Interval, quantile, ratio};
use crate::workplace::Effort;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the JSON file.
pub const SCHEMA: u32 = 1;

/// All experiments of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabReport {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of outcore.
    pub version: String,
    /// How much was measured.
    pub effort: Effort,
    /// The seed of orders and data.
    pub seed: u64,
    /// The machine: what was found, by name, in the order of the page.
    pub environment: BTreeMap<String, String>,
    /// The experiments in the order in which they ran.
    pub experiments: Vec<Experiment>,
}

/// One experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// As on the command line.
    pub name: String,
    /// What is asked, as a sentence.
    pub question: String,
    /// Sizes and counts, by name.
    pub parameters: BTreeMap<String, String>,
    /// The columns of its table, in order, behind name and state.
    pub columns: Vec<Column>,
    /// The rows; the first one is the baseline of all ratios within its group.
    pub rows: Vec<Row>,
    /// Methods without a row, and why.
    pub missing: Vec<Missing>,
    /// What to do, in a plain sentence or two.
    pub finding: String,
    /// What else a reader must know.
    pub notes: Vec<String>,
    /// Time of a fixed piece of work before each round.
    pub canary_seconds: Vec<f64>,
    /// How its chart is drawn, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chart: Option<Chart>,
}

/// A chart of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Chart {
    /// A bar a row, of this column, with its interval.
    Bars {
        /// What is drawn.
        column: Column,
        /// Whether the axis is logarithmic.
        logarithmic: bool,
    },
    /// A line for each `series` of rows over a number in the rows, both given by [`Row::point`].
    Lines {
        /// What the number is, such as `transfer size in bytes`.
        x: String,
        /// What is drawn.
        column: Column,
    },
}

impl Experiment {
    /// An experiment of what was measured. Rows whose checksum is not that of the first row of their
    /// group have no place in a table: they are taken out and named.
    pub fn new(name: &str, question: &str, columns: Vec<Column>, measured: Measured) -> Self {
        let Measured { rows, mut missing, canary_seconds } = measured;
        let mut kept: Vec<Row> = Vec::with_capacity(rows.len());
        for mut row in rows {
            let baseline = kept.iter().find(|first| first.group == row.group);
            if let Some(baseline) = baseline {
                let sums = |row: &Row| row.samples.iter().map(|s| s.checksum).collect::<Vec<_>>();
                if sums(baseline).first() != sums(&row).first()
                    || sums(&row).windows(2).any(|pair| pair[0] != pair[1])
                {
                    let reason = "it gave another checksum than the first row".into();
                    missing.push(Missing { name: row.name, reason });
                    continue;
                }
                let walls = |row: &Row| row.values(|sample| sample.wall_seconds);
                row.ratio = ratio(&walls(&row), &walls(baseline));
            }
            kept.push(row);
        }
        Self {
            name: name.into(),
            question: question.into(),
            parameters: BTreeMap::new(),
            columns,
            rows: kept,
            missing,
            finding: String::new(),
            notes: Vec::new(),
            canary_seconds,
            chart: None,
        }
    }

    /// Forms the ratios of `cost` instead of elapsed time, for rows that do more work than others or
    /// whose sync counts.
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

    /// Adds a size or count.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: impl ToString) -> Self {
        self.parameters.insert(name.into(), value.to_string());
        self
    }

    /// The row of a method.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// The ratio of the baseline to itself: what noise alone does.
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
