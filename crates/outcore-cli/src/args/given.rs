//! Which options of the input were given, even with the value of their default: an option for edge lists is refused for a
//! graph, and with `--append`, options that are not given are those of the graph.

use super::{Cli, Command, Reading};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, Error, FromArgMatches};
use outcore::error::Opt;
use outcore::error::opt::{
    COLUMNS, COMMENT, DELIMITER, DIRECTED, DUPLICATES, FORMAT, HEADER, IGNORE_WEIGHTS, MAX_WEIGHT,
    MIN_WEIGHT, NAMES, NODES, NORMALIZE, ON_BAD_LINE, REJECTS, SELF_LOOPS, TWO_MODE,
    WEIGHT_TRANSFORM,
};
use std::ffi::OsString;

/// Options of the input; those of reading a file come first.
const OF_INPUT: [Opt; 18] = [
    FORMAT,
    COLUMNS,
    TWO_MODE,
    NAMES,
    DELIMITER,
    COMMENT,
    HEADER,
    IGNORE_WEIGHTS,
    WEIGHT_TRANSFORM,
    ON_BAD_LINE,
    REJECTS,
    DUPLICATES,
    SELF_LOOPS,
    MIN_WEIGHT,
    MAX_WEIGHT,
    DIRECTED,
    NORMALIZE,
    NODES,
];

impl Cli {
    /// Parses arguments, of which the first is the program's name.
    pub(crate) fn parsed(args: &[OsString]) -> Result<(Self, ArgMatches), Error> {
        let matches = Self::command().try_get_matches_from(args)?;
        let mut cli =
            Self::from_arg_matches(&matches).map_err(|e| e.format(&mut Self::command()))?;
        if let (Some(reading), Some((_, matches))) = (cli.command.reading(), matches.subcommand()) {
            let known = matches.ids().map(|id| id.as_str()).collect::<Vec<_>>();
            let is_given = |option: &Opt| {
                let id = option.name.replace('-', "_");
                known.contains(&id.as_str())
                    && matches.value_source(&id) == Some(ValueSource::CommandLine)
            };
            reading.given = OF_INPUT.into_iter().filter(is_given).collect();
        }
        Ok((cli, matches))
    }
}

impl Command {
    /// Returns the options of reading edges, if the command has them.
    fn reading(&mut self) -> Option<&mut Reading> {
        match self {
            Self::Cluster(cluster) => Some(&mut cluster.input.reading),
            Self::Build(build) => Some(&mut build.input.reading),
            Self::Plan(plan) => Some(&mut plan.input.reading),
            Self::Inspect(inspect) => Some(&mut inspect.reading),
            _ => None,
        }
    }
}
