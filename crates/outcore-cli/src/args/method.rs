//! Options of methods: choices, help and refusals, all from the engine's table of methods.

use super::values::names;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use outcore::cluster::{METHODS, Method as EngineMethod, MethodOption, Seeding, WellConnected};
use outcore::error::opt::{
    CONVERGE, CYCLES, DIRECTED, INITIAL, MAX_SWEEPS, METHOD, RECORDED_TELEPORTATION, RESOLUTION,
    SEEDING, STABILITY, TOLERANCE, TRIALS,
};
use outcore::{Error, Result};
use std::path::PathBuf;
use std::sync::LazyLock;

/// Method as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MethodName(pub(crate) EngineMethod);

impl ValueEnum for MethodName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<MethodName>> =
            LazyLock::new(|| METHODS.iter().map(|spec| MethodName(spec.method)).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let spec = self.0.spec();
        Some(PossibleValue::new(spec.name).help(spec.help))
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Method options")]
pub(crate) struct Method {
    /// Method of clustering
    #[arg(long, value_enum, value_name = "METHOD", default_value_t)]
    pub(crate) method: MethodName,
    /// Seed for all random choices; the same seed gives the same communities regardless of memory and
    /// threads
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[arg(long, help = resolution_help(), value_name = "X,..", value_delimiter = ',')]
    pub(crate) resolution: Option<Vec<f64>>,
    #[arg(long, help = max_size_help(), value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_size: Option<u32>,
    /// Split every community whose minimum cut is at most BOUND edges: log10, log2, sqrt or n of its number of nodes,
    /// optionally scaled, such as =0.5log10 or =0.01n, or a number, such as =2
    #[arg(
        long,
        value_name = "BOUND",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "log10"
    )]
    pub(crate) well_connected: Option<WellConnected>,
    #[arg(long, help = initial_help(), value_name = "FILE[:NODE,COMMUNITY]")]
    pub(crate) initial: Option<PathBuf>,
    #[arg(long, help = seeding_help(), value_parser = names::<Seeding>(), value_name = "HOW")]
    pub(crate) seeding: Option<Seeding>,
    /// Maximum number of cycles up the levels and back, for all methods but label-propagation [default:
    /// 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub(crate) cycles: Option<u8>,
    /// Number of restarts; the best one by the objective is refined. Not for label-propagation and components
    /// [default: 10 for a small graph, 8 up to a quarter of a million edges, 5 beyond]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) trials: Option<u32>,
    /// Write a further column: the share of the starts in which the node stays with its community. Not for
    /// label-propagation and components
    #[arg(long)]
    pub(crate) stability: bool,
    /// Directed edges by the map equation: count teleportation, which keeps the walk out of dead ends, as flow. By
    /// default, it only decides how often nodes are visited
    #[arg(long)]
    pub(crate) recorded_teleportation: bool,
    /// Maximum number of sweeps: over the graph for label-propagation, per level for the others
    /// [default: 30 and 50]
    #[arg(long, value_name = "N")]
    pub(crate) max_sweeps: Option<u32>,
    /// label-propagation: stop when at most this share of the nodes changes in a sweep [default:
    /// 0.001]
    #[arg(long, value_name = "SHARE")]
    pub(crate) tolerance: Option<f64>,
    /// label-propagation: sweep until no node changes, however long it takes
    #[arg(long, conflicts_with_all = ["max_sweeps", "tolerance"])]
    pub(crate) converge: bool,
}

/// Returns the help of `--resolution`.
pub(crate) fn resolution_help() -> String {
    let meanings: String = METHODS
        .iter()
        .filter_map(|spec| Some(format!("{}: {}. ", spec.name, spec.resolution.as_ref()?.help)))
        .collect();
    format!(
        "Larger values give smaller communities. {meanings}Several values, such as 0.5,1,2, give one result \
         each: `-o c.tsv` writes c.0.5.tsv and so on"
    )
}

/// Returns the help of `--max-size`.
pub(crate) fn max_size_help() -> String {
    let methods = MethodOption::MaxSize.methods();
    format!("Maximum number of nodes in a community, for {methods}")
}

/// Returns the help of `--initial`.
pub(crate) fn initial_help() -> String {
    let methods = MethodOption::Initial.methods();
    format!(
        "Initial communities from a file of `node<TAB>community`, such as an earlier result: nodes move only where that \
         is better, so communities untouched by a change of the graph stay as they are. For {methods}"
    )
}

/// Returns the help of `--seeding`.
pub(crate) fn seeding_help() -> String {
    let others = MethodOption::Seeding.others();
    format!(
        "Initial communities: with `star`, a quarter of the nodes lead, and each other node follows the one \
         of them that it has the heaviest edge to; with `own`, every node begins alone, which is slower, but \
         better where nodes are groups already. Not for {others} [default: star]"
    )
}

/// Returns the values of `--resolution`.
///
/// # Errors
/// `Usage` if the method needs some and none is given.
pub(crate) fn resolution(method: &Method) -> Result<Vec<f64>> {
    let MethodName(name) = method.method;
    let usual = || name.default_resolution().map(|usual| vec![usual]);
    method.resolution.clone().or_else(usual).ok_or_else(|| {
        let hint = name.spec().resolution.as_ref().map_or("", |resolution| resolution.hint);
        Error::usage(format_args!("{} needs {RESOLUTION}", METHOD.of(name.name()))).hint(hint)
    })
}

/// Refuses options that have no effect with the method.
///
/// # Errors
/// `Usage`.
pub(crate) fn refuse_options(method: &Method) -> Result<()> {
    let given = [
        (method.tolerance.is_some(), MethodOption::Tolerance, TOLERANCE),
        (method.converge, MethodOption::Converge, CONVERGE),
        (method.max_sweeps.is_some(), MethodOption::MaxSweeps, MAX_SWEEPS),
        (method.resolution.is_some(), MethodOption::Resolution, RESOLUTION),
        (method.initial.is_some(), MethodOption::Initial, INITIAL),
        (method.seeding.is_some(), MethodOption::Seeding, SEEDING),
        (method.cycles.is_some(), MethodOption::Cycles, CYCLES),
        (method.trials.is_some(), MethodOption::Trials, TRIALS),
        (method.stability, MethodOption::Trials, STABILITY),
        (method.recorded_teleportation, MethodOption::Teleportation, RECORDED_TELEPORTATION),
    ];
    let mut given = given.into_iter().filter(|(is_given, ..)| *is_given);
    given.try_for_each(|(_, wanted, option)| wanted.check(option, method.method.0))
}

/// Refuses options of directed edges with undirected ones.
///
/// # Errors
/// `Usage`.
pub(crate) fn refuse_undirected(method: &Method) -> Result<()> {
    if !method.recorded_teleportation {
        return Ok(());
    }
    let message = format_args!("{RECORDED_TELEPORTATION} has no effect with undirected edges");
    Err(Error::usage(message).hint(format_args!("add {DIRECTED}, or leave it out")))
}

/// Refuses directions that the method cannot use.
///
/// # Errors
/// `Usage`.
pub(crate) fn refuse_directed(method: EngineMethod) -> Result<()> {
    if method.takes(MethodOption::Directed) {
        return Ok(());
    }
    let other = METHOD.of(MethodOption::Directed.example());
    Err(Error::usage(format_args!(
        "{DIRECTED} has no effect with {}, which needs undirected edges",
        METHOD.of(method.name())
    ))
    .hint(format_args!("use {other}, or leave {DIRECTED} out")))
}
