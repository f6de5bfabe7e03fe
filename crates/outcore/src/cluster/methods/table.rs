//! The methods, one row each.
//!
//! Engine, command, Python and Spark look a method up here: its name and help, the options that it takes, what its
//! resolution means, how it is run and what that costs. `CONTRIBUTING.md` has the recipe for another one.

use crate::cluster::kernel::objective::Sums;
use crate::cluster::objectives::map_equation::CodeLength;
use crate::cluster::objectives::modularity::{Density, Null};
use crate::error::opt::{MAX_SIZE, METHOD, RESOLUTION};
use crate::error::{Error, Opt, Result};
use MethodOption::{
    Converge, Cycles, Directed, Levels, MaxSize, MaxSweeps, Propagation, Resolution, Seeding,
    Tolerance,
};

/// How to find communities.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// The communities by which a random walk is described in the fewest bits (Infomap's objective).
    #[default]
    MapEquation,
    /// The communities with the most weight inside beyond what their strengths make likely.
    Modularity,
    /// The constant Potts model: communities denser inside than the resolution.
    Cpm,
    /// A node takes the label with the most weight among its neighbors, until few change.
    LabelPropagation,
    /// Nodes that a path joins are together, whatever its direction.
    Components,
}

impl Method {
    /// Returns its row.
    pub fn spec(self) -> &'static MethodSpec {
        &METHODS[self as usize]
    }

    /// Returns its name, as it is typed.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Whether it has a use for an option.
    pub fn takes(self, option: MethodOption) -> bool {
        self.spec().takes.contains(&option)
    }

    /// Returns its usual resolution, or that of methods that have none; none if one has to be given.
    pub fn default_resolution(self) -> Option<f64> {
        self.spec().resolution.as_ref().map_or(Some(1.0), |resolution| resolution.default)
    }

    /// Whether it works on several levels, of edges without direction.
    pub fn is_multilevel(self) -> bool {
        self.levels().is_some()
    }

    pub(crate) fn levels(self) -> Option<&'static LevelSpec> {
        match &self.spec().run {
            Procedure::Levels(levels) => Some(levels),
            Procedure::Propagation | Procedure::Components => None,
        }
    }
}

/// An option for which not every method has a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MethodOption {
    /// Edges with a direction.
    Directed,
    /// The groups of every level.
    Levels,
    /// The most nodes of a community.
    MaxSize,
    /// How large communities are.
    Resolution,
    /// First communities.
    Seeding,
    /// The most ways up the levels and back.
    Cycles,
    /// The most sweeps.
    MaxSweeps,
    /// The share of nodes that may still change when sweeps end.
    Tolerance,
    /// Sweeps until no node changes.
    Converge,
    /// What [`PropagationOptions`](super::options::PropagationOptions) holds.
    Propagation,
}

impl MethodOption {
    /// Returns the methods that take it: `a, b and c`, or `all methods but d`.
    pub fn methods(self) -> String {
        let (take, others): (Vec<_>, Vec<_>) =
            METHODS.iter().partition(|spec| spec.method.takes(self));
        match &others[..] {
            [other] => format!("all methods but {}", other.name),
            _ => joined(&take),
        }
    }

    /// Returns the methods that do not take it: `a, b and c`.
    pub fn others(self) -> String {
        let others: Vec<_> = METHODS.iter().filter(|spec| !spec.method.takes(self)).collect();
        joined(&others)
    }

    /// Returns the first method that takes it.
    pub fn example(self) -> &'static str {
        METHODS.iter().find(|spec| spec.method.takes(self)).map_or("", |spec| spec.name)
    }

    /// Refuses `option`, by which this is asked for, for a method that has no use for it.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check(self, option: Opt, method: Method) -> Result<()> {
        if method.takes(self) {
            return Ok(());
        }
        Err(Error::usage(format_args!("{option} is of no use to this method"))
            .hint(format_args!("it is for {METHOD} {}", self.methods())))
    }
}

fn joined(specs: &[&MethodSpec]) -> String {
    let names: Vec<_> = specs.iter().map(|spec| spec.name).collect();
    match &names[..] {
        [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        names => names.concat(),
    }
}

/// What is known of a method.
pub struct MethodSpec {
    /// Which it is.
    pub method: Method,
    /// As it is typed.
    pub name: &'static str,
    /// What it finds, in a phrase.
    pub help: &'static str,
    /// Options that it takes, of those that not every method takes.
    pub takes: &'static [MethodOption],
    /// What its resolution means, if it has one.
    pub resolution: Option<ResolutionSpec>,
    /// What to do about a community that holds most nodes; none where that is no surprise.
    pub(crate) giant: Option<fn() -> String>,
    /// Whole bytes that a node takes in memory, at most; and how many more in a directed graph.
    pub(crate) node_bytes: u64,
    pub(crate) directed_bytes: u64,
    pub(crate) run: Procedure,
}

/// What a resolution means to a method.
pub struct ResolutionSpec {
    /// The usual value; if there is none, it has to be given.
    pub default: Option<f64>,
    /// What it means, in a phrase.
    pub help: &'static str,
    /// What to give, where it has to be given.
    pub hint: &'static str,
}

/// How communities are found.
pub(crate) enum Procedure {
    /// Nodes move on several levels.
    Levels(LevelSpec),
    /// Labels propagate.
    Propagation,
    /// Nodes are connected.
    Components,
}

/// What a method on several levels improves, and what its levels cost.
pub(crate) struct LevelSpec {
    pub(crate) objective: LevelObjective,
    /// Bytes of a community in a checkpoint.
    pub(crate) saved_bytes: f64,
    /// Ways up the levels and back, as a rule.
    pub(crate) likely_cycles: u64,
    /// The levels above the graph, from below.
    pub(crate) shrinks: &'static [Shrinks],
}

impl LevelSpec {
    /// Whether its resolution is in units of the mean weight of an arc.
    pub(crate) fn by_mean_weight(&self) -> bool {
        matches!(self.objective, LevelObjective::Density { by_mean_weight: true, .. })
    }

    /// Whether its result has a code length.
    pub(crate) fn has_code_length(&self) -> bool {
        matches!(self.objective, LevelObjective::CodeLength)
    }
}

/// What nodes move for.
#[derive(Clone, Copy)]
pub(crate) enum LevelObjective {
    CodeLength,
    /// Weight inside beyond a null model, which the resolution scales; or that times the mean weight of an arc.
    Density {
        null: fn(f64) -> Null,
        by_mean_weight: bool,
    },
}

/// A level above the graph, by the level below it.
pub(crate) struct Shrinks {
    /// Share of the nodes.
    pub(crate) nodes: f64,
    /// Share of the arcs that lead from a group to another.
    pub(crate) between: f64,
    /// Share of the arcs once those between two groups are one.
    pub(crate) arcs: f64,
    /// Times that the level is gone through.
    pub(crate) scans: u64,
}

/// Bytes of a node on several levels beside the sums of a group: a label, a group, and a group's class.
const LEVEL_BYTES: u64 = 12;

/// Every method, in the order of [`Method`].
pub static METHODS: [MethodSpec; 5] = [
    MethodSpec {
        method: Method::MapEquation,
        name: "map-equation",
        help: "Fewest bits to describe a random walk (what Infomap minimizes)",
        takes: &[Levels, MaxSize, Seeding, Cycles, MaxSweeps],
        resolution: None,
        giant: Some(String::new),
        node_bytes: LEVEL_BYTES + CodeLength::COMMUNITY_BYTES,
        directed_bytes: 0,
        run: Procedure::Levels(LevelSpec {
            objective: LevelObjective::CodeLength,
            saved_bytes: 16.0,
            likely_cycles: 1,
            shrinks: &[
                // Small groups and few levels.
                Shrinks { nodes: 0.2, between: 0.8, arcs: 0.66, scans: 8 },
                Shrinks { nodes: 0.15, between: 0.4, arcs: 0.32, scans: 5 },
                Shrinks { nodes: 0.4, between: 0.9, arcs: 0.8, scans: 3 },
            ],
        }),
    },
    MethodSpec {
        method: Method::Modularity,
        name: "modularity",
        help: "Most weight inside beyond chance (what Louvain and Leiden maximize)",
        takes: &[Levels, MaxSize, Resolution, Seeding, Cycles, MaxSweeps],
        resolution: Some(ResolutionSpec {
            default: Some(1.0),
            help: "1 is usual, and the default",
            hint: "",
        }),
        giant: Some(larger_resolution),
        node_bytes: LEVEL_BYTES + Density::COMMUNITY_BYTES,
        directed_bytes: 0,
        run: Procedure::Levels(LevelSpec {
            objective: LevelObjective::Density { null: Null::Strength, by_mean_weight: false },
            saved_bytes: 8.0,
            likely_cycles: 1,
            shrinks: &[
                // As long as communities can grow.
                Shrinks { nodes: 0.16, between: 0.8, arcs: 0.6, scans: 7 },
                Shrinks { nodes: 0.12, between: 0.38, arcs: 0.34, scans: 9 },
                Shrinks { nodes: 0.4, between: 0.95, arcs: 0.9, scans: 6 },
                Shrinks { nodes: 0.7, between: 0.95, arcs: 0.9, scans: 4 },
                Shrinks { nodes: 0.9, between: 0.95, arcs: 0.9, scans: 3 },
            ],
        }),
    },
    MethodSpec {
        method: Method::Cpm,
        name: "cpm",
        help: "Communities denser than the resolution (the constant Potts model)",
        takes: &[Levels, MaxSize, Resolution, Cycles, MaxSweeps],
        resolution: Some(ResolutionSpec {
            default: None,
            help: "the least density of a community, in units of the mean weight of an edge",
            hint: "it is the least density of a community, in units of the mean weight of an edge: \
                   try 0.01 for tight communities, 0.001 for loose ones",
        }),
        giant: Some(larger_resolution),
        // The last: how many nodes a group stands for.
        node_bytes: LEVEL_BYTES + Density::COMMUNITY_BYTES + size_of::<u32>() as u64,
        directed_bytes: 0,
        run: Procedure::Levels(LevelSpec {
            objective: LevelObjective::Density { null: Null::Count, by_mean_weight: true },
            saved_bytes: 8.0,
            likely_cycles: 2,
            shrinks: &[
                // From single nodes, whose groups are smaller.
                Shrinks { nodes: 0.31, between: 0.9, arcs: 0.8, scans: 6 },
                Shrinks { nodes: 0.26, between: 0.6, arcs: 0.5, scans: 7 },
                Shrinks { nodes: 0.52, between: 0.9, arcs: 0.85, scans: 5 },
                Shrinks { nodes: 0.9, between: 0.95, arcs: 0.9, scans: 3 },
            ],
        }),
    },
    MethodSpec {
        method: Method::LabelPropagation,
        name: "label-propagation",
        help: "The label with the most weight among the neighbors: least memory",
        takes: &[Directed, MaxSize, Seeding, MaxSweeps, Tolerance, Converge, Propagation],
        resolution: None,
        giant: Some(other_method),
        node_bytes: 8,
        directed_bytes: 12,
        run: Procedure::Propagation,
    },
    MethodSpec {
        method: Method::Components,
        name: "components",
        help: "What any path joins, whatever the direction of edges",
        takes: &[Directed],
        resolution: None,
        giant: None,
        node_bytes: 5,
        directed_bytes: 0,
        run: Procedure::Components,
    },
];

fn larger_resolution() -> String {
    format!("; a larger {RESOLUTION} gives smaller ones")
}

fn other_method() -> String {
    let other = METHOD.of(METHODS[0].name);
    format!("; {other} does not let one label flood the graph, and {MAX_SIZE} sets a limit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_where_their_methods_do_and_have_the_names_that_files_know() {
        for (at, spec) in METHODS.iter().enumerate() {
            assert_eq!(spec.method as usize, at);
            assert_eq!(serde_json::to_value(spec.method).unwrap(), spec.name);
            assert_eq!(spec.resolution.is_some(), spec.method.takes(Resolution), "{}", spec.name);
            assert_eq!(spec.method.is_multilevel(), spec.method.takes(Levels), "{}", spec.name);
        }
    }

    #[test]
    fn methods_of_an_option_are_told_in_few_words() {
        assert_eq!(Resolution.methods(), "modularity and cpm");
        assert_eq!(MaxSweeps.methods(), "all methods but components");
        assert_eq!(Seeding.others(), "cpm and components");
        assert_eq!(Tolerance.methods(), "label-propagation");
    }
}
