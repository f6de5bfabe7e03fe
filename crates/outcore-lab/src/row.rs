//! Rows of an experiment: the samples of a method and their summary.

use crate::meter::{Cost, Sample};
use crate::state::State;
use crate::statistics::{Interval, LogRatios, interval, outliers};
use crate::times::Times;
use serde::{Deserialize, Serialize};

/// Name of the repetition of the first row of a group.
pub const AGAIN: &str = "(the first row again)";

/// Samples of a method and their summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the method.
    pub name: String,
    /// Table that it belongs to, if the experiment has several.
    pub group: String,
    /// State that its runs began in.
    pub state: State,
    /// Position in a line chart: the series and the number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub point: Option<(String, f64)>,
    /// All runs, none left out.
    pub samples: Vec<Sample>,
    /// Times of the single operations of all runs, where each was timed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub times: Option<Times>,
    /// Elapsed seconds: median and interval.
    pub wall_seconds: Option<Interval>,
    /// Number of outliers by elapsed time; they count like all other runs.
    pub outliers: u32,
    /// Cost over that of the first row of its group, round by round; its interval holds simultaneously with those of
    /// all other comparisons of the experiment. `None` for the first row itself, and with too few rounds.
    pub ratio: Option<Interval>,
}

/// Method that has no row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Name of the method.
    pub name: String,
    /// Reason, such as `no Fortran compiler (gfortran) found`.
    pub reason: String,
}

impl Row {
    /// Creates a row and summarizes its samples.
    pub fn new(name: String, group: String, state: State, mut samples: Vec<Sample>) -> Self {
        let times = samples.iter_mut().filter_map(|sample| sample.times.take());
        let times = times.reduce(|mut all, times| {
            all.add(&times);
            all
        });
        let walls: Vec<f64> = samples.iter().map(|sample| sample.wall_seconds).collect();
        let wall_seconds = (!walls.is_empty()).then(|| interval(&walls));
        let outliers = if walls.is_empty() { 0 } else { outliers(&walls) as u32 };
        Self {
            name,
            group,
            state,
            point: None,
            samples,
            times,
            wall_seconds,
            outliers,
            ratio: None,
        }
    }

    /// Returns the name, followed by the group if it is in one.
    pub fn full_name(&self) -> String {
        match self.group.as_str() {
            "" => self.name.clone(),
            group => format!("{} ({group})", self.name),
        }
    }

    /// Returns a figure of every run.
    pub fn values(&self, figure: impl Fn(&Sample) -> f64) -> Vec<f64> {
        self.samples.iter().map(figure).collect()
    }

    /// Returns the logarithm of the ratio of this row's cost to that of `other`, for each round.
    pub fn against(&self, other: &Self, cost: Cost) -> LogRatios {
        let last = self.samples.iter().map(|sample| sample.round).max();
        let at = |row: &Self, round: u32| {
            let sample = row.samples.iter().find(|sample| sample.round == round)?;
            Some(cost.of(sample).ln()).filter(|log| log.is_finite())
        };
        let rounds = 0..last.map_or(0, |last| last + 1);
        rounds.map(|round| Some(at(self, round)? - at(other, round)?)).collect()
    }

    /// Returns whether the row differs from the first row of its group.
    pub fn differs(&self) -> bool {
        self.ratio.is_some_and(|ratio| ratio.differs())
    }

    /// Returns whether the row is the repetition of the first row of its group.
    pub fn is_again(&self) -> bool {
        self.name == AGAIN
    }
}
