//! Table of the methods, one row each.
//!
//! Engine, command, Python and Spark look a method up here: its name and help, its options, the meaning of its
//! resolution, its procedure and its cost. `CONTRIBUTING.md` explains how to add a method.

use crate::kernel::objective::Sums;
use crate::objectives::map_equation::CodeLength;
use crate::objectives::modularity::{Density, Null};
use MethodOption::{
    Converge, Cycles, Directed, Initial, Levels, MaxSize, MaxSweeps, Propagation, Resolution,
    Seeding, Teleportation, Thresholds, Tolerance, Trials,
};
use outcore_graph::LoopWeight;
use outcore_io::error::opt::{MAX_SIZE, METHOD, MIN_WEIGHT, RESOLUTION, WELL_CONNECTED};
use outcore_io::error::{Error, Opt, Result, Text};

/// Method of finding communities.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Communities that describe a random walk in the fewest bits (Infomap's objective).
    #[default]
    MapEquation,
    /// Communities with the most weight inside beyond what the strengths of their nodes predict.
    Modularity,
    /// Constant Potts model: communities denser inside than the resolution.
    Cpm,
    /// Label propagation: nodes take the label with the most weight among their neighbors, until few change.
    LabelPropagation,
    /// Connected components, independent of edge direction.
    Components,
}

impl Method {
    /// Returns the row of the method.
    pub fn spec(self) -> &'static MethodSpec {
        &METHODS[self as usize]
    }

    /// Returns the name of the method, as it is typed.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns whether an option applies to the method.
    pub fn takes(self, option: MethodOption) -> bool {
        self.spec().takes.contains(&option)
    }

    /// Returns the default resolution, 1 for methods without a resolution, or `None` if one must be given.
    pub fn default_resolution(self) -> Option<f64> {
        self.spec().resolution.as_ref().map_or(Some(1.0), |resolution| resolution.default)
    }

    /// Returns the method that finds communities of maximum modularity.
    pub fn of_modularity() -> Self {
        Self::Modularity
    }

    /// Returns whether the method works on several levels.
    pub fn is_multilevel(self) -> bool {
        self.levels().is_some()
    }

    /// Returns whether communities are the connected components.
    pub fn finds_components(self) -> bool {
        matches!(self.spec().run, Procedure::Components)
    }

    /// Returns the settings of a method with levels.
    pub fn levels(self) -> Option<&'static LevelSpec> {
        match &self.spec().run {
            Procedure::Levels(levels) => Some(levels),
            Procedure::Propagation | Procedure::Components => None,
        }
    }
}

/// Option that does not apply to every method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MethodOption {
    /// Directed edges.
    Directed,
    /// Initial labels from a file, such as an earlier result.
    Initial,
    /// Groups of each level.
    Levels,
    /// Maximum number of nodes in a community.
    MaxSize,
    /// Resolution, which determines the size of communities.
    Resolution,
    /// Initial communities.
    Seeding,
    /// Maximum number of cycles, each up the levels and back.
    Cycles,
    /// The number of starts.
    Trials,
    /// Maximum number of sweeps.
    MaxSweeps,
    /// Share of nodes that may still change when the sweeps end.
    Tolerance,
    /// Sweeps until no node changes.
    Converge,
    /// Teleportation that counts as flow, in a directed graph.
    Teleportation,
    /// Options in [`PropagationOptions`](super::options::PropagationOptions).
    Propagation,
    /// Several thresholds at once, and the weights at which nodes join.
    Thresholds,
}

impl MethodOption {
    /// Returns the methods to which the option applies: `a, b and c`, or `all methods but d`.
    pub fn methods(self) -> String {
        let (take, others): (Vec<_>, Vec<_>) =
            METHODS.iter().partition(|spec| spec.method.takes(self));
        match &others[..] {
            [other] => format!("all methods but {}", other.name),
            _ => joined(&take),
        }
    }

    /// Returns the methods to which the option does not apply: `a, b and c`.
    pub fn others(self) -> String {
        let others: Vec<_> = METHODS.iter().filter(|spec| !spec.method.takes(self)).collect();
        joined(&others)
    }

    /// Returns the first method to which the option applies.
    pub fn example(self) -> &'static str {
        METHODS.iter().find(|spec| spec.method.takes(self)).map_or("", |spec| spec.name)
    }

    /// Refuses the option, requested as `option`, if it does not apply to the method.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check(self, option: Opt, method: Method) -> Result<()> {
        if method.takes(self) {
            return Ok(());
        }
        let method = METHOD.of(method.name());
        Err(Error::usage(format_args!("{option} has no effect with {method}"))
            .hint(format_args!("it applies to {METHOD} {}", self.methods())))
    }
}

fn joined(specs: &[&MethodSpec]) -> String {
    let names: Vec<_> = specs.iter().map(|spec| spec.name).collect();
    match &names[..] {
        [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        names => names.concat(),
    }
}

/// Properties of a method.
pub struct MethodSpec {
    /// Method.
    pub method: Method,
    /// Name, as it is typed.
    pub name: &'static str,
    /// Description of the result, in a phrase.
    pub help: &'static str,
    /// Options that apply to it, among those that do not apply to every method.
    pub takes: &'static [MethodOption],
    /// Meaning of its resolution, if it has one.
    pub resolution: Option<ResolutionSpec>,
    /// Advice about a community that holds most nodes, as the end of a warning.
    pub giant: fn() -> Text,
    /// Size up to which such a community is no surprise.
    pub giant_above: u64,
    /// Maximum number of bytes per node in memory, and additional bytes in a directed graph.
    pub(crate) node_bytes: u64,
    pub(crate) directed_bytes: u64,
    pub(crate) run: Procedure,
}

/// Meaning of a method's resolution.
pub struct ResolutionSpec {
    /// Default value; `None` if a value must be given.
    pub default: Option<f64>,
    /// Meaning, in a phrase.
    pub help: &'static str,
    /// Advice on the value, if one must be given.
    pub hint: &'static str,
}

/// Procedure that finds communities.
pub(crate) enum Procedure {
    /// Local moving on several levels.
    Levels(LevelSpec),
    /// Label propagation.
    Propagation,
    /// Connected components.
    Components,
}

/// Objective of a multilevel method, and its usual course.
pub struct LevelSpec {
    pub(crate) objective: LevelObjective,
    /// Usual number of cycles up the levels and back.
    pub(crate) likely_cycles: u64,
}

impl LevelSpec {
    /// Returns whether the resolution is in units of the mean weight of an arc.
    pub fn by_mean_weight(&self) -> bool {
        matches!(self.objective, LevelObjective::Density { by_mean_weight: true, .. })
    }

    /// Returns whether the result has a code length.
    pub(crate) fn has_code_length(&self) -> bool {
        matches!(self.objective, LevelObjective::CodeLength)
    }

    /// Returns how often loops of the input count: once for a random walk, as in Infomap.
    pub fn loops(&self) -> LoopWeight {
        match self.objective {
            LevelObjective::CodeLength => LoopWeight::Once,
            LevelObjective::Density { .. } => LoopWeight::Twice,
        }
    }

    /// Returns whether the null model is that of modularity, which depends on the kinds of nodes.
    pub(crate) fn is_modularity(&self) -> bool {
        match self.objective {
            LevelObjective::Density { null, .. } => matches!(null(1.0), Null::Strength(_)),
            LevelObjective::CodeLength => false,
        }
    }
}

/// Objective of a multilevel method.
#[derive(Clone, Copy)]
pub(crate) enum LevelObjective {
    CodeLength,
    /// Weight inside communities beyond a null model, scaled by the resolution, or by the resolution times the mean
    /// weight of an arc.
    Density {
        null: fn(f64) -> Null,
        by_mean_weight: bool,
    },
}

/// Bytes per node of multilevel methods, apart from the sums of a group: a label, a group, and a group's class.
const LEVEL_BYTES: u64 = 12;

/// All methods, in the order of [`Method`].
pub static METHODS: [MethodSpec; 5] = [
    MethodSpec {
        method: Method::MapEquation,
        name: "map-equation",
        help: "Fewest bits to describe a random walk (what Infomap minimizes)",
        takes: &[
            Directed,
            Initial,
            Levels,
            MaxSize,
            Seeding,
            Cycles,
            Trials,
            MaxSweeps,
            Teleportation,
        ],
        resolution: None,
        giant: Text::default,
        giant_above: 1,
        node_bytes: LEVEL_BYTES + CodeLength::COMMUNITY_BYTES,
        directed_bytes: 0,
        run: Procedure::Levels(LevelSpec {
            objective: LevelObjective::CodeLength,
            likely_cycles: 1,
        }),
    },
    MethodSpec {
        method: Method::Modularity,
        name: "modularity",
        help: "Maximize modularity: more internal weight than expected by chance, as Louvain and Leiden do",
        takes: &[
            Directed, Initial, Levels, MaxSize, Resolution, Seeding, Cycles, Trials, MaxSweeps,
        ],
        resolution: Some(ResolutionSpec {
            default: Some(1.0),
            help: "1 is usual, and the default",
            hint: "",
        }),
        giant: larger_resolution,
        giant_above: 1,
        node_bytes: LEVEL_BYTES + Density::COMMUNITY_BYTES,
        directed_bytes: 0,
        run: Procedure::Levels(LevelSpec {
            objective: LevelObjective::Density { null: Null::Strength, by_mean_weight: false },
            likely_cycles: 1,
        }),
    },
    MethodSpec {
        method: Method::Cpm,
        name: "cpm",
        help: "Communities denser than the resolution (the constant Potts model)",
        takes: &[Directed, Initial, Levels, MaxSize, Resolution, Cycles, Trials, MaxSweeps],
        resolution: Some(ResolutionSpec {
            default: None,
            help: "the minimum density of a community, in units of the mean weight of an edge",
            hint: "it is the minimum density of a community, in units of the mean weight of an \
                   edge: try 0.01 for tight communities, 0.001 for loose ones",
        }),
        giant: larger_resolution,
        giant_above: 1,
        // The last term: number of nodes in a group.
        node_bytes: LEVEL_BYTES + Density::COMMUNITY_BYTES + size_of::<u32>() as u64,
        directed_bytes: 0,
        run: Procedure::Levels(LevelSpec {
            objective: LevelObjective::Density { null: Null::Count, by_mean_weight: true },
            likely_cycles: 2,
        }),
    },
    MethodSpec {
        method: Method::LabelPropagation,
        name: "label-propagation",
        help: "Heaviest label among the neighbors of each node (least memory)",
        takes: &[Directed, Initial, MaxSize, Seeding, MaxSweeps, Tolerance, Converge, Propagation],
        resolution: None,
        giant: other_method,
        giant_above: 1,
        node_bytes: 8,
        directed_bytes: 12,
        run: Procedure::Propagation,
    },
    MethodSpec {
        method: Method::Components,
        name: "components",
        help: "Nodes joined by any path, regardless of edge direction",
        takes: &[Directed, Thresholds],
        resolution: None,
        giant: fewer_edges,
        // In so small a network, a few edges connect everyone.
        giant_above: 12,
        node_bytes: 5,
        directed_bytes: 0,
        run: Procedure::Components,
    },
];

fn larger_resolution() -> Text {
    format_args!("; a larger {RESOLUTION} gives smaller ones").into()
}

fn fewer_edges() -> Text {
    format_args!(
        "; a larger {MIN_WEIGHT} drops weak edges, {WELL_CONNECTED} divides what few edges hold together, and {} weighs them all",
        METHOD.of(METHODS[0].name)
    )
    .into()
}

fn other_method() -> Text {
    let other = METHOD.of(METHODS[0].name);
    format_args!("; {other} does not let one label flood the graph, and {MAX_SIZE} sets a limit")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_match_the_order_of_methods_and_their_names_in_files() {
        for (at, spec) in METHODS.iter().enumerate() {
            assert_eq!(spec.method as usize, at);
            assert_eq!(serde_json::to_value(spec.method).unwrap(), spec.name);
            assert_eq!(spec.resolution.is_some(), spec.method.takes(Resolution), "{}", spec.name);
            assert_eq!(spec.method.is_multilevel(), spec.method.takes(Levels), "{}", spec.name);
        }
    }

    #[test]
    fn methods_of_an_option_are_listed_briefly() {
        assert_eq!(Resolution.methods(), "modularity and cpm");
        assert_eq!(MaxSweeps.methods(), "all methods but components");
        assert_eq!(Seeding.others(), "cpm and components");
        assert_eq!(Tolerance.methods(), "label-propagation");
    }
}
