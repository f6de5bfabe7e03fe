//! Which options were given, where the default is another one: with `--append`, options that are not given are those
//! of the graph.

use super::{Cli, Command, Input};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, Error, FromArgMatches};
use outcore::error::Opt;
use outcore::error::opt::{
    DIRECTED, DUPLICATES, IGNORE_WEIGHTS, MAX_WEIGHT, MIN_WEIGHT, NORMALIZE, SELF_LOOPS,
    WEIGHT_TRANSFORM,
};
use std::ffi::OsString;

/// Options that a graph records.
const RECORDED: [Opt; 8] = [
    DIRECTED,
    DUPLICATES,
    SELF_LOOPS,
    IGNORE_WEIGHTS,
    WEIGHT_TRANSFORM,
    MIN_WEIGHT,
    MAX_WEIGHT,
    NORMALIZE,
];

impl Cli {
    /// Parses arguments, of which the first is the program's name.
    pub(crate) fn parsed(args: &[OsString]) -> Result<(Self, ArgMatches), Error> {
        let matches = Self::command().try_get_matches_from(args)?;
        let mut cli =
            Self::from_arg_matches(&matches).map_err(|e| e.format(&mut Self::command()))?;
        if let (Some(input), Some((_, matches))) = (cli.command.input(), matches.subcommand()) {
            let is_given = |option: &Opt| {
                let id = option.name.replace('-', "_");
                matches.value_source(&id) == Some(ValueSource::CommandLine)
            };
            input.given = RECORDED.into_iter().filter(is_given).collect();
        }
        Ok((cli, matches))
    }
}

impl Command {
    /// Returns the options of the input, if the command can append.
    fn input(&mut self) -> Option<&mut Input> {
        match self {
            Self::Build(build) => Some(&mut build.input),
            Self::Plan(plan) => Some(&mut plan.input),
            _ => None,
        }
    }
}
