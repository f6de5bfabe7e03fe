//! Options of a clustering, and the values that are refused.

use super::connected::WellConnected;
use super::table::{LevelSpec, Method, MethodOption};
use super::thresholds::Ladder;
use outcore_graph::weight::Weight;
use outcore_graph::{Graph, LoopWeight, View};
use outcore_io::error::opt::{
    ATTENUATION, CYCLES, FIXED, HEIGHTS, INITIAL, LABEL_CUTOFF, LEVELS, MAX_SIZE, MAX_SWEEPS,
    MAX_VISITS, METHOD, MIN_WEIGHT, RECORDED_TELEPORTATION, RESOLUTION, STABILITY, TOLERANCE,
    TRIALS, WELL_CONNECTED,
};
use outcore_io::error::{Error, Opt, Result, Text};
use std::path::PathBuf;
use std::str::FromStr;

/// Options of a clustering.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClusterOptions {
    /// Method.
    pub method: Method,
    /// Resolutions: larger values give smaller communities, and each value gives a result. Modularity: 1 is usual.
    /// Constant Potts model: the minimum density inside communities, in units of the mean weight of an arc.
    pub resolution: Vec<f64>,
    /// Maximum number of cycles of multilevel methods.
    pub cycles: u32,
    /// Number of restarts of the methods with several levels; the best one is refined. `None` chooses 10 to 5, by the
    /// size of the graph.
    #[serde(default)]
    pub trials: Option<u32>,
    /// Whether to return how often each node stays with its community in other starts; for multilevel methods.
    #[serde(default)]
    pub stability: bool,
    /// Random seed: another seed gives another, equally good result.
    pub seed: u64,
    /// Maximum number of sweeps, of the graph or, with several levels, of a level above it; if `None`, 30 and 50.
    pub max_sweeps: Option<u32>,
    /// Label propagation: the sweeps end when at most this share of the nodes changes; with 0, when none changes.
    pub tolerance: f64,
    /// Minimum weight: lighter arcs are ignored.
    pub min_weight: f64,
    /// Components: minimum weights, each of which gives a result, instead of `min_weight`; fewer than two give one result.
    #[serde(default)]
    pub thresholds: Vec<f64>,
    /// Components: whether to return the weights at which nodes join.
    #[serde(default)]
    pub heights: bool,
    /// Whether to return the groups of each level; for multilevel methods.
    #[serde(default)]
    pub levels: bool,
    /// Maximum number of nodes in a community; for all methods but components.
    pub max_size: Option<u32>,
    /// Bound that the smallest edge cut of each community must exceed: others are replaced by their parts.
    #[serde(default)]
    pub well_connected: Option<WellConnected>,
    /// Initial labels; the constant Potts model always starts with each node's own.
    pub seeding: Seeding,
    /// Initial labels of some nodes: a file of communities, such as an earlier result; for all methods but components.
    #[serde(default)]
    pub initial: Option<PathBuf>,
    /// Map equation of directed edges: whether teleportation, without which a walk would stay in dead ends, counts as flow.
    #[serde(default)]
    pub recorded_teleportation: bool,
    /// Further options of label propagation.
    pub propagation: PropagationOptions,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            method: Method::default(),
            resolution: vec![1.0],
            cycles: 3,
            trials: None,
            stability: false,
            seed: 0,
            max_sweeps: None,
            tolerance: 0.001,
            min_weight: 0.0,
            thresholds: Vec::new(),
            heights: false,
            levels: false,
            max_size: None,
            well_connected: None,
            seeding: Seeding::default(),
            initial: None,
            recorded_teleportation: false,
            propagation: PropagationOptions::default(),
        }
    }
}

/// Options that apply only to label propagation.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PropagationOptions {
    /// Loss of votes with the distance from the origin of their label; each value gives a result. 0 loses nothing.
    pub attenuation: Vec<f64>,
    /// Meaning of the attenuation.
    pub attenuation_rule: AttenuationRule,
    /// Minimum sum of votes for a label to be taken.
    pub label_cutoff: f64,
    /// Maximum number of visits of a node.
    pub max_visits: Visits,
    /// Labels of nodes that never change: a file of communities.
    pub fixed: Option<PathBuf>,
}

/// Factor of a vote, by the hops from the origin of its label.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum AttenuationRule {
    /// `1 - D x hops` (Leung, Hui, Liò and Crowcroft, "Towards real-time community detection in large networks", 2009).
    #[default]
    Hops,
    /// `1 - (p x hops)^D`, with `p` the share of nodes that changed in the previous sweep, 0 in the first: the
    /// rule of ExoLabel.
    Change,
}

/// Maximum number of visits of a node.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Visits {
    /// Unlimited: a node is visited whenever a neighbor has changed.
    #[default]
    Any,
    /// At most this number.
    Most(u32),
    /// At most the square root of the largest degree, or five if that is larger: the rule of ExoLabel.
    RootOfDegree,
}

impl FromStr for Visits {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, &'static str> {
        match text {
            "root-degree" => Ok(Self::RootOfDegree),
            _ => match text.parse() {
                Ok(0) | Err(_) => Err("use a number from 1, or `root-degree`"),
                Ok(most) => Ok(Self::Most(most)),
            },
        }
    }
}

impl Visits {
    /// Returns the maximum number of visits, if bounded.
    pub(crate) fn most(self, max_degree: u64) -> Option<u32> {
        match self {
            Self::Any => None,
            Self::Most(most) => Some(most),
            Self::RootOfDegree => Some(max_degree.isqrt().clamp(5, u64::from(u32::MAX)) as u32),
        }
    }
}

/// Initial labels of nodes that are not given one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Seeding {
    /// A quarter of the nodes start with their own label, the others with that of a neighbor among these.
    #[default]
    Star,
    /// Each node starts with its own label.
    Own,
}

impl Default for PropagationOptions {
    fn default() -> Self {
        Self {
            attenuation: vec![0.0],
            attenuation_rule: AttenuationRule::default(),
            label_cutoff: 0.0,
            max_visits: Visits::default(),
            fixed: None,
        }
    }
}

/// Option with several values, each of which gives a result: that of a job with this value alone.
pub struct SeveralValues<'a> {
    /// The option.
    pub option: Opt,
    /// Its values, in the order of the results.
    pub values: &'a [f64],
    /// Sets the option to one value.
    set: fn(&mut ClusterOptions, f64),
}

/// Returns the code of the smallest weight that counts at a threshold.
fn code_of(threshold: f64) -> u32 {
    if threshold > 0.0 { Weight::new(threshold).code() } else { 0 }
}

impl ClusterOptions {
    /// Refuses invalid values and meaningless combinations.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check(&self) -> Result<()> {
        let options = &self.propagation;
        let propagates = MethodOption::Propagation;
        if !self.method.takes(propagates) && *options != PropagationOptions::default() {
            let methods = propagates.methods();
            return Err(Error::usage(format!("these options apply only to the method {methods}")));
        }
        if !(self.min_weight >= 0.0 && self.min_weight.is_finite()) {
            return Err(Error::usage(format_args!("{MIN_WEIGHT} is a number from 0")));
        }
        // With levels, several thresholds of components become columns.
        if self.levels && !(self.thresholds.len() > 1 && self.forest_ladder().is_some()) {
            MethodOption::Levels.check(LEVELS, self.method)?;
        }
        self.check_thresholds()?;
        if self.recorded_teleportation {
            MethodOption::Teleportation.check(RECORDED_TELEPORTATION, self.method)?;
        }
        self.check_limits()?;
        self.check_initial()?;
        self.check_max_size()?;
        self.check_well_connected()?;
        self.check_resolution()?;
        self.propagation.check()
    }

    /// Returns whether the levels are those of the best tree of modules, not groups on the way to the communities.
    pub(crate) fn finds_tree(&self) -> bool {
        self.levels && self.method.levels().is_some_and(LevelSpec::has_code_length)
    }

    fn check_thresholds(&self) -> Result<()> {
        let values = &self.thresholds;
        if values.iter().any(|value| !(*value >= 0.0 && value.is_finite())) {
            return Err(Error::usage(format_args!("{MIN_WEIGHT} is a number from 0, or several")));
        }
        if values.iter().enumerate().any(|(at, value)| values[..at].contains(value)) {
            return Err(Error::usage(format_args!("{MIN_WEIGHT} has the same value twice")));
        }
        if values.len() > Ladder::STEPS_MAX {
            let most = Ladder::STEPS_MAX;
            return Err(Error::usage(format_args!("{MIN_WEIGHT} takes at most {most} values")));
        }
        let several = format_args!("{MIN_WEIGHT} with several values");
        if self.heights {
            MethodOption::Thresholds.check(HEIGHTS, self.method)?;
        }
        if values.len() > 1 {
            let lists = [
                (self.resolution.len() > 1, RESOLUTION),
                (self.propagation.attenuation.len() > 1, ATTENUATION),
            ];
            if let Some((_, other)) = lists.into_iter().find(|(is_list, _)| *is_list) {
                let message = format_args!("{MIN_WEIGHT} and {other} both have several values");
                return Err(Error::usage(message).hint("give one value of one of them"));
            }
            let others =
                [(self.initial.is_some(), INITIAL), (self.propagation.fixed.is_some(), FIXED)];
            if let Some((_, option)) = others.into_iter().find(|(is_given, _)| *is_given) {
                let message = format_args!("{several} cannot be combined with {option}");
                return Err(Error::usage(message).hint("leave one of them out"));
            }
        }
        let several: Text = if self.heights { HEIGHTS.into() } else { several.into() };
        if self.forest_ladder().is_some() && self.well_connected.is_some() {
            let message = format_args!("{several} cannot be combined with {WELL_CONNECTED}");
            return Err(Error::usage(message).hint("leave one of them out"));
        }
        Ok(())
    }

    /// Returns the thresholds of components if there are several, or heights are wanted.
    pub fn forest_ladder(&self) -> Option<Ladder> {
        if self.heights {
            return Some(Ladder::Heights);
        }
        let mut steps: Vec<u32> = self.thresholds.iter().map(|&value| code_of(value)).collect();
        steps.sort_unstable_by(|a, b| b.cmp(a));
        let are_steps = steps.len() > 1 && self.method.takes(MethodOption::Thresholds);
        are_steps.then_some(Ladder::Steps(steps))
    }

    /// Returns the option that has several values, if one has.
    pub fn several(&self) -> Option<SeveralValues<'_>> {
        let lists = [
            SeveralValues {
                option: MIN_WEIGHT,
                values: &self.thresholds,
                set: |of, value| (of.min_weight, of.thresholds) = (value, Vec::new()),
            },
            SeveralValues {
                option: RESOLUTION,
                values: if self.has_resolution() { &self.resolution } else { &[] },
                set: |of, value| of.resolution = vec![value],
            },
            SeveralValues {
                option: ATTENUATION,
                values: &self.propagation.attenuation,
                set: |of, value| of.propagation.attenuation = vec![value],
            },
        ];
        lists.into_iter().find(|list| list.values.len() > 1)
    }

    /// Returns the number of results.
    pub fn result_count(&self) -> u64 {
        self.several().map_or(1, |list| list.values.len() as u64)
    }

    /// Returns the options of each result, which have one value of every option.
    pub fn of_each_result(&self) -> Vec<Self> {
        let Some(SeveralValues { values, set, .. }) = self.several() else {
            return vec![self.clone()];
        };
        let at = |&value: &f64| {
            let mut own = self.clone();
            set(&mut own, value);
            own
        };
        values.iter().map(at).collect()
    }

    /// Returns the resolution of a clustering with one result.
    pub(crate) fn resolution(&self) -> f64 {
        self.resolution[0]
    }

    /// Returns the code of each threshold, in the order of the results: at least one.
    pub fn threshold_codes(&self) -> Vec<u32> {
        match &self.thresholds[..] {
            [] => vec![0],
            values => values.iter().map(|&value| code_of(value)).collect(),
        }
    }

    fn check_limits(&self) -> Result<()> {
        let refuse = |option, what| Err(Error::usage(format_args!("{option} {what}")));
        if self.cycles == 0 {
            return refuse(CYCLES, "must be at least 1");
        }
        if self.trials == Some(0) {
            return refuse(TRIALS, "must be at least 1");
        }
        if self.trials.is_some() {
            MethodOption::Trials.check(TRIALS, self.method)?;
        }
        if self.stability {
            self.check_stability()?;
        }
        if self.max_sweeps == Some(0) {
            return refuse(MAX_SWEEPS, "must be at least 1");
        }
        if !(0.0..=1.0).contains(&self.tolerance) {
            return refuse(TOLERANCE, "is a share from 0 to 1");
        }
        Ok(())
    }

    fn check_stability(&self) -> Result<()> {
        MethodOption::Trials.check(STABILITY, self.method)?;
        if self.trials == Some(1) {
            return Err(Error::usage(format_args!(
                "{STABILITY} compares starts, and there is only one"
            ))
            .hint(format_args!("use {} or more, or leave {TRIALS} out", TRIALS.of(2))));
        }
        if let Some(SeveralValues { option: several, .. }) = self.several() {
            return Err(Error::usage(format_args!(
                "{STABILITY} is computed for one result, but {several} has several values"
            ))
            .hint(format_args!("give one value of {several}")));
        }
        Ok(())
    }

    fn check_initial(&self) -> Result<()> {
        if self.initial.is_none() {
            return Ok(());
        }
        MethodOption::Initial.check(INITIAL, self.method)?;
        if self.levels {
            let message = format_args!("{INITIAL} cannot be combined with {LEVELS}");
            return Err(Error::usage(message)
                .hint("leave one of them out: communities that stay as they are have no groups"));
        }
        if self.stability {
            let message = format_args!("{INITIAL} cannot be combined with {STABILITY}");
            return Err(Error::usage(message)
                .hint("leave one of them out: communities that are given have one start"));
        }
        if self.resolution.len() > 1 {
            let message = format_args!("{INITIAL} takes one value of {RESOLUTION}");
            return Err(Error::usage(message).hint(format_args!("give one value to {RESOLUTION}")));
        }
        Ok(())
    }

    fn check_max_size(&self) -> Result<()> {
        if self.max_size == Some(0) {
            return Err(Error::usage(format_args!("{MAX_SIZE} must be at least 1"))
                .hint("leave it out for no limit"));
        }
        if self.max_size.is_some() && !self.method.takes(MethodOption::MaxSize) {
            return Err(Error::usage(format_args!(
                "{MAX_SIZE} has no effect with {}",
                METHOD.of(self.method.name())
            ))
            .hint(format_args!("use another method, or leave {MAX_SIZE} out")));
        }
        Ok(())
    }

    fn check_well_connected(&self) -> Result<()> {
        if self.well_connected.is_some() && self.propagation.fixed.is_some() {
            let message =
                format_args!("{WELL_CONNECTED} may separate nodes that {FIXED} keeps together");
            return Err(Error::usage(message).hint(format_args!(
                "leave one of them out, or give the labels to {INITIAL}, which lets them change"
            )));
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
            return refuse("takes one value for this method");
        }
        Ok(())
    }

    /// Returns the files to read before the clustering.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.initial, &self.propagation.fixed].into_iter().flatten()
    }

    /// Returns whether the method has a resolution.
    pub fn has_resolution(&self) -> bool {
        self.method.takes(MethodOption::Resolution)
    }

    /// Returns the view through which every graph is clustered.
    pub(crate) fn view(&self) -> View {
        View::default().with_least_weight(self.min_weight)
    }

    /// Returns the view through which a graph is clustered. Its weights are multiplied by a power of two if sums, or
    /// products of two sums on levels, could leave the range of `f64`.
    ///
    /// # Errors
    /// `BadInput` if the sum of all weights is too large.
    pub(crate) fn view_of(&self, graph: &Graph) -> Result<View> {
        let most = match self.method.is_multilevel() {
            true => View::PRODUCT_EXPONENT_MAX,
            false => View::SUM_EXPONENT_MAX,
        };
        // The flow of a directed graph has loops of its own.
        let has_loops = graph.loop_count() > 0 && !graph.is_directed();
        let levels = self.method.levels().filter(|_| has_loops);
        let loops = levels.map_or(LoopWeight::Twice, LevelSpec::loops);
        Ok(self.view().shifted(graph.shift_within(most)?).with_loops(loops))
    }

    /// Returns the options with sums of weights in the unit of a view.
    pub(crate) fn in_unit_of(&self, view: &View) -> Self {
        let mut options = self.clone();
        let cutoff = &mut options.propagation.label_cutoff;
        *cutoff = view.sum_of(*cutoff);
        options
    }
}

impl PropagationOptions {
    /// Returns whether the attenuation, or one of several, weakens votes.
    pub(crate) fn attenuates(&self) -> bool {
        self.attenuation.iter().any(|&value| value > 0.0)
    }

    /// Returns the attenuation of a clustering with one result.
    pub(crate) fn attenuation(&self) -> f64 {
        self.attenuation[0]
    }

    fn check(&self) -> Result<()> {
        let most = if self.attenuation_rule == AttenuationRule::Hops { 1.0 } else { 100.0 };
        if self.attenuation.is_empty()
            || self.attenuation.iter().any(|value| !(0.0..=most).contains(value))
        {
            let message = format_args!("{ATTENUATION} is a number from 0 to {most}, or several");
            let [one, two] = ["0.1", "0,0.1"].map(|value| ATTENUATION.of(value));
            return Err(
                Error::usage(message).hint(format_args!("use {one}, or {two} for two results"))
            );
        }
        if self.attenuation.iter().enumerate().any(|(i, v)| self.attenuation[..i].contains(v)) {
            return Err(Error::usage(format_args!("{ATTENUATION} has the same value twice"))
                .hint("give each value once"));
        }
        if !(self.label_cutoff >= 0.0 && self.label_cutoff.is_finite()) {
            return Err(Error::usage(format_args!("{LABEL_CUTOFF} is a number from 0"))
                .hint(format_args!("use {} for none", LABEL_CUTOFF.of(0))));
        }
        if self.max_visits == Visits::Most(0) {
            return Err(Error::usage(format_args!("{MAX_VISITS} must be at least 1"))
                .hint("leave it out for no limit"));
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
