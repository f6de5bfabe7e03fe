//! Checks standard output against the files of a command: if it leads to an input, the answer would change that input.
//! Files that are named `-` are checked by the jobs that write them.

use crate::args::Command;
use crate::compare::takes_stdout;
use crate::jobs::{input, profile};
use outcore::Result;
use outcore::error::opt::{
    AGAINST, APPEND, FIXED, INITIAL, MATCH, MOVED, NODES, OUTPUT, PREFER, PROFILE, REPORT,
    REPRESENTATIVES,
};
use outcore::io::Files;
use outcore::output::Paths;

/// Refuses standard output that is closed, an input or another output, if the command prints its answer there.
///
/// # Errors
/// `Usage`.
pub(crate) fn check(files: &Files, command: &Command) -> Result<()> {
    let paths = Paths::default();
    let paths = match command {
        Command::Compare(of) if takes_stdout(of) => return Ok(()),
        Command::Compare(of) => paths
            .read(None, of.results())
            .read(REPRESENTATIVES, &of.representatives)
            .read(PROFILE, profile::given(&of.resources))
            .write(OUTPUT, &of.output)
            .write(MOVED, &of.moved)
            .write(REPORT, &of.report),
        Command::Score(of) => paths
            .read_graph(None, [&of.graph])
            .read(None, [&of.communities])
            .read(AGAINST, &of.against)
            .read(PROFILE, profile::given(&of.resources)),
        Command::Inspect(of) => match files.entry(&of.path).is_ok_and(|entry| entry.is_directory) {
            true => paths.read_graph(None, [&of.path]),
            false => paths.read(None, [&of.path]).read(REPRESENTATIVES, &of.representatives),
        },
        Command::Plan(of) => paths
            .read(None, input::expand(files, &of.inputs)?)
            .read(NODES, &of.input.nodes)
            .read(INITIAL, &of.method.initial)
            .read(FIXED, &of.labels.fixed)
            .read(MATCH, &of.present.earlier)
            .read(PREFER, &of.present.prefer)
            .read_graph(APPEND, &of.append)
            .read(PROFILE, profile::given(&of.resources)),
        Command::Formats(_) | Command::Completions { .. } => paths,
        Command::Man(of) if of.dir.is_none() => paths,
        // The other commands write to named files, which their jobs check.
        _ => return Ok(()),
    };
    paths.print().check(files)
}
