//! Rows of an experiment: what the runs of a method say.

use crate::meter::Sample;
use crate::state::State;
use crate::statistics::{Interval, interval, outliers};
use serde::{Deserialize, Serialize};

/// The name of the baseline's repetition.
pub const AGAIN: &str = "(the first row again)";

/// A method's samples and what they say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The method.
    pub name: String,
    /// The table it belongs to, where there are several.
    pub group: String,
    /// The state its runs began in.
    pub state: State,
    /// Where it stands in a line chart: the series and the number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub point: Option<(String, f64)>,
    /// Every run, none left out.
    pub samples: Vec<Sample>,
    /// Elapsed seconds: median and interval.
    pub wall_seconds: Option<Interval>,
    /// Runs far from the others, by elapsed time; they count like all others.
    pub outliers: u32,
    /// Elapsed time over that of the baseline, round by round.
    pub ratio: Option<Interval>,
}

/// A method that has no row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The method.
    pub name: String,
    /// Why, such as `no Fortran compiler (gfortran) found`.
    pub reason: String,
}

impl Row {
    /// A row of samples.
    pub fn new(name: String, group: String, state: State, samples: Vec<Sample>) -> Self {
        let walls: Vec<f64> = samples.iter().map(|sample| sample.wall_seconds).collect();
        let wall_seconds = (!walls.is_empty()).then(|| interval(&walls));
        let outliers = if walls.is_empty() { 0 } else { outliers(&walls) as u32 };
        Self { name, group, state, point: None, samples, wall_seconds, outliers, ratio: None }
    }

    /// A figure of every run.
    pub fn values(&self, figure: impl Fn(&Sample) -> f64) -> Vec<f64> {
        self.samples.iter().map(figure).collect()
    }

    /// Whether it differs from the baseline beyond doubt.
    pub fn differs(&self) -> bool {
        self.ratio.is_some_and(|ratio| ratio.excludes(1.0))
    }
}
