//! Arguments of `outcore lab`. Its experiments are those of `outcore_lab::experiments::LIST`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use outcore_lab::experiments::{LIST, Listed};
use outcore_lab::report::Column;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  outcore lab all --dir /mnt/data --html disk.html
  outcore lab random-read --quick
  outcore lab compare before.json after.json
  outcore lab report disk.html --verbose
  outcore lab report here.json there.json --html both.html
  outcore lab report disk.json --csv > disk.csv";

#[derive(Debug, Args)]
#[command(subcommand_value_name = "EXPERIMENT", after_help = EXAMPLES)]
pub(crate) struct Lab {
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    #[command(flatten)]
    One(One),
    /// Run all experiments in turn: what to use for each task, and which known claims hold
    All(LabRun),
    /// Measure the engine's reads and writes, and its speed on this machine, and store them as the
    /// profile that jobs plan with
    Tune(LabTune),
    /// Compare two reports: of two disks, or from before and after a change
    Compare(LabCompare),
    /// Show reports again, or combine them into one page
    Report(LabReports),
}

/// One experiment of the list; each is a subcommand.
#[derive(Debug)]
pub(crate) struct One {
    pub(crate) experiment: Listed,
    pub(crate) run: LabRun,
}

impl Subcommand for One {
    fn augment_subcommands(command: Command) -> Command {
        LIST.iter().fold(command, |command, listed| {
            let run = LabRun::augment_args(Command::new(listed.name));
            command.subcommand(run.about(listed.about).long_about(None))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        LIST.iter().any(|listed| listed.name == name)
    }
}

impl FromArgMatches for One {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let unknown = || clap::Error::new(clap::error::ErrorKind::InvalidSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(unknown)?;
        let listed = LIST.iter().find(|listed| listed.name == name).ok_or_else(unknown)?;
        Ok(Self { experiment: *listed, run: LabRun::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct LabRun {
    /// Directory to measure in; all files go to one subdirectory, which is removed afterwards
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Use small files and fewer rows: all experiments take less than two minutes
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Use large files and many rounds: takes tens of minutes
    #[arg(long)]
    pub(crate) full: bool,
    /// Seed for the data and the order of the runs [default: a new one each time, which is reported]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Also build and measure the rows in C++ and Fortran, with the compilers found
    #[arg(long)]
    pub(crate) compile: bool,
    /// Also write a JSON report with every sample, after each experiment
    #[arg(short, long, value_name = "FILE.json")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) show: LabShow,
}

#[derive(Debug, Args)]
pub(crate) struct LabShow {
    /// Also write answers, tables and charts as one self-contained page
    #[arg(long, value_name = "FILE.html")]
    pub(crate) html: Option<PathBuf>,
    /// Print JSON, with every sample
    #[arg(long, group = "format")]
    pub(crate) json: bool,
    /// Print every figure of every row as CSV
    #[arg(long, group = "format")]
    pub(crate) csv: bool,
    /// Print answers and tables as Markdown
    #[arg(long, group = "format")]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabTune {
    /// Directory to measure in; all files go to one subdirectory, which is removed afterwards
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Use small files and few rounds
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Use large files and many rounds
    #[arg(long)]
    pub(crate) full: bool,
    /// Where to write the profile [default: where jobs on this disk look for it]
    #[arg(short, long, value_name = "FILE.json")]
    pub(crate) output: Option<PathBuf>,
    /// Print the profile as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabCompare {
    /// Baseline report: ratios are relative to it
    #[arg(value_name = "FIRST")]
    pub(crate) first: PathBuf,
    /// Report to compare with the baseline
    #[arg(value_name = "SECOND")]
    pub(crate) second: PathBuf,
    /// Figure to compare by [default: the time of an operation or a byte]
    #[arg(long, value_name = "FIGURE", value_parser = figures())]
    pub(crate) column: Option<Column>,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}

fn figures() -> impl TypedValueParser<Value = Column> {
    PossibleValuesParser::new(Column::NAMED.iter().map(|(name, _)| name)).map(|wanted| {
        let named = Column::NAMED.iter().find(|(name, _)| *name == wanted);
        named.expect("one of the possible values").1
    })
}

#[derive(Debug, Args)]
pub(crate) struct LabReports {
    /// Reports to show: JSON files or pages
    #[arg(required = true, value_name = "FILE")]
    pub(crate) reports: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) show: LabShow,
}
