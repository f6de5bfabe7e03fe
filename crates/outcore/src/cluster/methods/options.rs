//! What a clustering is asked for, and what is refused.

use super::table::{Method, MethodOption};
use crate::error::opt::{
    ATTENUATION, CONSENSUS, CONSENSUS_SHARE, CYCLES, INFLATION, LABEL_CUTOFF, LEVELS, MAX_SIZE,
    MAX_SWEEPS, MAX_VISITS, MIN_WEIGHT, RESOLUTION, TOLERANCE,
};
use crate::error::{Error, Result, Text};
use crate::graph::View;
use std::path::PathBuf;
use std::str::FromStr;

/// What to find.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClusterOptions {
    /// How.
    pub method: Method,
    /// Larger values give smaller communities; several give a result each. Modularity: 1 is the usual one.
    /// The constant Potts model: the least density inside communities, in units of the mean weight of
    /// an arc.
    pub resolution: Vec<f64>,
    /// The most cycles of the methods that work on several levels.
    pub cycles: u32,
    /// Stands in for chance: another seed gives another, equally good result.
    pub seed: u64,
    /// The most sweeps, of the graph or, with several levels, of a level above it; if `None`, 30 and 50.
    pub max_sweeps: Option<u32>,
    /// Label propagation: the sweeps end when at most this share of the nodes changes; 0 ends them when none does.
    pub tolerance: f64,
    /// Arcs lighter than this are as if they were not there.
    pub min_weight: f64,
    /// Keeps the groups of every level, of the methods that have levels.
    #[serde(default)]
    pub levels: bool,
    /// No community has more nodes; all methods but components can be limited so.
    pub max_size: Option<u32>,
    /// First labels; those of the constant Potts model are always the nodes' own.
    pub seeding: Seeding,
    /// More options of label propagation.
    pub propagation: PropagationOptions,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            method: Method::default(),
            resolution: vec![1.0],
            cycles: 3,
            seed: 0,
            max_sweeps: None,
            tolerance: 0.001,
            min_weight: 0.0,
            levels: false,
            max_size: None,
            seeding: Seeding::default(),
            propagation: PropagationOptions::default(),
        }
    }
}

/// Options of label propagation alone.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PropagationOptions {
    /// How much a label's votes lose on the way from where it began; several values give a result
    /// each. 0 loses nothing.
    pub attenuation: Vec<f64>,
    /// What the attenuation means.
    pub attenuation_rule: AttenuationRule,
    /// A label is taken only if its votes sum to this or more.
    pub label_cutoff: f64,
    /// How often a node is looked at.
    pub max_visits: Visits,
    /// Weights count as their power of this exponent.
    pub inflation: f64,
    /// First labels of some nodes: a file of communities.
    pub initial: Option<PathBuf>,
    /// Labels of some nodes that never change: a file of communities.
    pub fixed: Option<PathBuf>,
    /// Communities that several runs agree on.
    pub consensus: Option<Consensus>,
}

/// How much a label's vote counts, some hops from where it began.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum AttenuationRule {
    /// `1 - D x hops` (Leung, Hui, Liò and Crowcroft, "Towards real-time community detection in large
    /// networks", 2009).
    #[default]
    Hops,
    /// `1 - (p x hops)^D`, with `p` the share of the nodes that changed in the sweep before, 0 in the
    /// first: that of ExoLabel.
    Change,
}

/// How often a node is looked at.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Visits {
    /// As often as a neighbor changes.
    #[default]
    Any,
    /// So often at most.
    Most(u32),
    /// At most as often as the square root of the largest degree, but five times if that is more: the
    /// rule of ExoLabel.
    RootOfDegree,
}

impl FromStr for Visits {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, &'static str> {
        match text {
            "root-degree" => Ok(Self::RootOfDegree),
            _ => match text.parse() {
                Ok(0) | Err(_) => Err("it is a number from 1, or `root-degree`"),
                Ok(most) => Ok(Self::Most(most)),
            },
        }
    }
}

impl Visits {
    /// The most visits, if they are bounded.
    pub(crate) fn most(self, max_degree: u64) -> Option<u32> {
        match self {
            Self::Any => None,
            Self::Most(most) => Some(most),
            Self::RootOfDegree => Some(max_degree.isqrt().clamp(5, u64::from(u32::MAX)) as u32),
        }
    }
}

/// What labels nodes begin with, unless they are given one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Seeding {
    /// A quarter of them with their own, the others with that of one of these.
    #[default]
    Star,
    /// All with their own.
    Own,
}

/// Several runs with one seed each; the first goes on with what they agree on: an arc keeps the share of its
/// weight in which its ends have the same label (Lancichinetti and Fortunato, "Consensus clustering
/// in complex networks", 2012, for the edges that there are).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Consensus {
    /// Runs: seeds from the one given upward.
    pub runs: u32,
    /// Arcs on which a smaller share of the runs agrees do not count.
    pub share: f64,
}

impl Consensus {
    /// The share below which arcs do not count, unless another is given.
    pub const SHARE: f64 = 0.5;

    /// So many runs.
    pub fn new(runs: u32, share: f64) -> Self {
        Self { runs, share }
    }
}

impl Default for PropagationOptions {
    fn default() -> Self {
        Self {
            attenuation: vec![0.0],
            attenuation_rule: AttenuationRule::default(),
            label_cutoff: 0.0,
            max_visits: Visits::default(),
            inflation: 1.0,
            initial: None,
            fixed: None,
            consensus: None,
        }
    }
}

/// The most runs of a consensus.
const RUNS_MAX: u32 = 1000;

impl ClusterOptions {
    /// Refuses values and combinations that mean nothing.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check(&self) -> Result<()> {
        let refuse = |message: Text| Err(Error::usage(message));
        let options = &self.propagation;
        let propagates = MethodOption::Propagation;
        if !self.method.takes(propagates) && *options != PropagationOptions::default() {
            let methods = propagates.methods();
            return refuse(format!("these options are of the method {methods} alone").into());
        }
        if !(self.min_weight >= 0.0 && self.min_weight.is_finite()) {
            return refuse(format_args!("{MIN_WEIGHT} is a number from 0").into());
        }
        if self.levels {
            MethodOption::Levels.check(LEVELS, self.method)?;
        }
        self.check_limits()?;
        self.check_max_size()?;
        self.check_resolution()?;
        self.propagation.check()
    }

    fn check_limits(&self) -> Result<()> {
        let refuse = |option, what| Err(Error::usage(format_args!("{option} {what}")));
        if self.cycles == 0 {
            return refuse(CYCLES, "must be at least 1");
        }
        if self.max_sweeps == Some(0) {
            return refuse(MAX_SWEEPS, "must be at least 1");
        }
        if !(0.0..=1.0).contains(&self.tolerance) {
            return refuse(TOLERANCE, "is a share from 0 to 1");
        }
        Ok(())
    }

    fn check_max_size(&self) -> Result<()> {
        if self.max_size == Some(0) {
            return Err(Error::usage(format_args!("{MAX_SIZE} must be at least 1"))
                .hint("leave it out for no limit"));
        }
        if self.max_size.is_some() && !self.method.takes(MethodOption::MaxSize) {
            let name = self.method.name();
            return Err(Error::usage(format_args!("{MAX_SIZE} is of no use to this method")).hint(
                format_args!(
                    "{name} cannot be limited: use another method, or leave {MAX_SIZE} out"
                ),
            ));
        }
        Ok(())
    }

    fn check_resolution(&self) -> Result<()> {
        let values = &self.resolution;
        let refuse = |what: &str| Err(Error::usage(format_args!("{RESOLUTION} {what}")));
        if values.iter().any(|value| !(*value > 0.0 && value.is_finite())) {
            return refuse("is a number above 0, or several");
        }
        if values.iter().enumerate().any(|(i, value)| values[..i].contains(value)) {
            return refuse("has the same value twice");
        }
        if values.is_empty() || !self.has_resolution() && values.len() > 1 {
            return refuse("has one value for this method");
        }
        Ok(())
    }

    /// Whether the method has a resolution.
    pub(crate) fn has_resolution(&self) -> bool {
        self.method.takes(MethodOption::Resolution)
    }

    /// The graph as it counts for the result.
    pub(crate) fn view(&self) -> View {
        View::default().with_least_weight(self.min_weight).with_power(self.propagation.inflation)
    }
}

impl PropagationOptions {
    /// The files to read before.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.initial, &self.fixed].into_iter().flatten()
    }

    /// Whether votes lose anything in any set.
    pub(crate) fn attenuates(&self) -> bool {
        self.attenuation.iter().any(|&value| value > 0.0)
    }

    fn check(&self) -> Result<()> {
        let refuse = |message: Text, hint: Text| Err(Error::usage(message).hint(hint));
        let most = if self.attenuation_rule == AttenuationRule::Hops { 1.0 } else { 100.0 };
        if self.attenuation.is_empty()
            || self.attenuation.iter().any(|value| !(0.0..=most).contains(value))
        {
            return refuse(
                format_args!("{ATTENUATION} is a number from 0 to {most}, or several").into(),
                format_args!(
                    "use {}, or {} for two results",
                    ATTENUATION.of(0.1),
                    ATTENUATION.of("0,0.1")
                )
                .into(),
            );
        }
        if self.attenuation.iter().enumerate().any(|(i, v)| self.attenuation[..i].contains(v)) {
            return refuse(
                format_args!("{ATTENUATION} has the same value twice").into(),
                "give each value once".into(),
            );
        }
        if !(self.label_cutoff >= 0.0 && self.label_cutoff.is_finite()) {
            return refuse(
                format_args!("{LABEL_CUTOFF} is a number from 0").into(),
                format_args!("use {} for none", LABEL_CUTOFF.of(0)).into(),
            );
        }
        if !(self.inflation > 0.0 && self.inflation <= View::POWER_MAX) {
            return refuse(
                format_args!("{INFLATION} is above 0 and at most {}", View::POWER_MAX).into(),
                format_args!("use {} for weights as they are", INFLATION.of(1)).into(),
            );
        }
        if self.max_visits == Visits::Most(0) {
            return refuse(
                format_args!("{MAX_VISITS} must be at least 1").into(),
                "leave it out for no limit".into(),
            );
        }
        let Some(Consensus { runs, share }) = self.consensus else { return Ok(()) };
        if !(2..=RUNS_MAX).contains(&runs) {
            return refuse(
                format_args!("{CONSENSUS} takes 2 to {RUNS_MAX} runs").into(),
                format_args!("use {}", CONSENSUS.of(10)).into(),
            );
        }
        if !(share > 0.0 && share <= 1.0) {
            return refuse(
                format_args!("{CONSENSUS_SHARE} is above 0 and at most 1").into(),
                format_args!("use {}", CONSENSUS_SHARE.of(Consensus::SHARE)).into(),
            );
        }
        if self.attenuation.len() > 1 {
            return refuse(
                format_args!("{CONSENSUS} gives one result, and several {ATTENUATION} one each")
                    .into(),
                format_args!("give one value to {ATTENUATION}").into(),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_are_a_number_or_a_rule() {
        assert_eq!("7".parse(), Ok(Visits::Most(7)));
        assert_eq!("root-degree".parse(), Ok(Visits::RootOfDegree));
        for text in ["0", "-1", "many", ""] {
            assert!(text.parse::<Visits>().is_err(), "{text}");
        }
    }
}
