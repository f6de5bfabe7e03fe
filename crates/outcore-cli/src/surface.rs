//! The commands for callers other than the terminal: takes arguments of the command line, returns data.
//!
//! The names, defaults and checks of options are thus defined only in `args`; another language only adds its own
//! syntax for them.

pub use crate::screen::Gauge;

use crate::args::{Cli, Command, Memory, refused};
use crate::screen::print::json;
use crate::screen::{Signals, Terminal};
use crate::{compare, export, generate, inspect, jobs, remote, score, spark};
use clap::{ArgAction, ArgMatches, CommandFactory, ValueHint};
use outcore::error::opt::MEMORY;
use outcore::graph::NodeNames;
use outcore::input::{InputOptions, TableStream};
use outcore::progress::{Event, Observer};
use outcore::{Error, ErrorKind, Result};
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Edges in memory, as the input `-`.
pub struct Table {
    /// Batches of edges.
    pub stream: TableStream,
    /// Meaning of the names of nodes, if they have an order there; a graph that is built records it.
    pub names: Option<NodeNames>,
}

/// Runs `outcore ARGS` and returns its report, plan, score or description as JSON. The input `-` is `table`, if
/// there is one. `--quiet` and `--progress` control what the terminal shows; `listener` receives all events, and may
/// stop the job; `stop` stops it while it waits for a server or a pipe, when there are no events.
///
/// # Errors
/// Those of the command; `Usage` for arguments that the command does not accept.
pub fn call(
    args: impl IntoIterator<Item = OsString>,
    table: Option<Table>,
    listener: &dyn Observer,
    stop: Arc<AtomicBool>,
) -> Result<String> {
    let (mut cli, _) = parsed([OsString::from("outcore")].into_iter().chain(args))?;
    if let Command::Cluster(arguments) = &cli.command {
        spark::refuse_elsewhere(&arguments.engine)?;
    }
    cli.messages.color.write_global();
    let terminal = Terminal::new(&cli.messages, Signals::default());
    let files = remote::files(&mut cli.command, Arc::new(move || stop.load(Ordering::Relaxed)))?;
    let (stream, names) = table.map_or((None, None), |table| (Some(table.stream), table.names));
    let both = Both { terminal: &terminal, listener };
    match &cli.command {
        Command::Cluster(arguments) => {
            let report = jobs::cluster(&files, arguments, stream, &both)?;
            jobs::done(&report, &terminal);
            json(&report)
        }
        Command::Build(arguments) => {
            let report = jobs::build(&files, arguments, stream, names, &both)?;
            jobs::done(&report, &terminal);
            json(&report)
        }
        Command::Plan(arguments) => json(&jobs::plan(&files, arguments, &both)?),
        Command::Score(arguments) => json(&score::score(&files, arguments, &both)?),
        Command::Export(arguments) => {
            let report = export::export(&files, arguments, &both)?;
            export::done(&report, arguments, &terminal);
            json(&report)
        }
        Command::Compare(arguments) => json(&compare::compare(&files, arguments, &both)?),
        Command::Inspect(arguments) => inspect::inspect(&files, arguments, &both),
        Command::Generate(arguments) => {
            generate::generate(&files, arguments, &both).map(|bytes| bytes.to_string())
        }
        _ => Err(Error::new(ErrorKind::Usage, "this command is for the command line")),
    }
}

/// Returns the format of edge lists as given by options of `outcore build`.
///
/// # Errors
/// `Usage` for options that the command does not accept.
pub fn input_options(args: impl IntoIterator<Item = OsString>) -> Result<InputOptions> {
    let program = ["outcore", "build", "-", "--output=-"].map(OsString::from);
    let (cli, _) = parsed(program.into_iter().chain(args))?;
    let Command::Build(build) = cli.command else { unreachable!("the command is `build`") };
    jobs::input::options(build.edges, &build.input)
}

/// Returns the bytes of a limit as given to `--memory`.
///
/// # Errors
/// `Usage` for a text that is not a limit.
pub fn memory_bytes(text: &str) -> Result<u64> {
    let memory: Memory = text.parse().map_err(|error: Error| {
        let message = format_args!("{}: {}", MEMORY.of(text), error.message());
        Error::usage(message).hint(error.hint_text().unwrap_or_default().to_owned())
    })?;
    Ok(memory.bytes())
}

/// Refuses the name of a method that the command does not have; says what to use instead.
///
/// # Errors
/// `Usage`.
pub fn check_method(name: &str) -> Result<()> {
    let method = OsString::from(format!("--method={name}"));
    let program = ["outcore", "cluster", "-", "--output=-"].map(OsString::from);
    parsed(program.into_iter().chain([method])).map(|_| ())
}

/// Parses arguments, of which the first is the program's name.
fn parsed(args: impl IntoIterator<Item = OsString>) -> Result<(Cli, ArgMatches)> {
    let args: Vec<OsString> = args.into_iter().collect();
    Cli::parsed(&args).map_err(|error| refused(&error, &args))
}

/// Observer that passes events to the terminal and to the caller.
struct Both<'a> {
    terminal: &'a Terminal,
    listener: &'a dyn Observer,
}

impl Observer for Both<'_> {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        // The terminal never stops the job here: the caller handles signals.
        let _ = self.terminal.event(event.clone());
        self.listener.event(event)
    }
}

/// Option of a command, as in `--help`.
#[derive(Debug, Clone, serde::Serialize)]
pub struct OptionHelp {
    /// Name without the dashes; for a positional argument its identifier.
    pub name: String,
    /// As it is typed, with its value: `-m, --memory <SIZE|PERCENT>`, or `<EDGES>...`.
    pub typed: String,
    /// Heading of its group.
    pub heading: Option<String>,
    /// Default value, if there is one.
    pub default: Option<String>,
    /// Possible values; empty if any value is accepted.
    pub values: Vec<String>,
    /// Whether it takes a value.
    pub takes_value: bool,
    /// Whether the value is a path.
    pub takes_path: bool,
    /// Whether it takes several values, separated by commas.
    pub takes_list: bool,
    /// Help text.
    pub help: String,
}

/// Returns the options of a command, such as `cluster` or `generate planted`, including the global ones, in the order of
/// `--help`. An empty name is that of `outcore` itself.
pub fn options(command: &str) -> Vec<OptionHelp> {
    let mut cli = Cli::command();
    cli.build();
    let mut names = command.split_whitespace();
    let found = names.try_fold(&cli, |outer, name| outer.find_subcommand(name));
    let Some(command) = found else { return Vec::new() };
    let described =
        command.get_arguments().filter(|arg| arg.get_id() != "help").map(|arg| OptionHelp {
            name: arg.get_long().map_or_else(|| arg.get_id().to_string(), str::to_owned),
            typed: match arg.get_short() {
                Some(short) => format!("-{short}, {arg}"),
                None => arg.to_string(),
            },
            heading: arg.get_help_heading().map(str::to_owned),
            default: arg.get_default_values().first().map(|value| value.to_string_lossy().into()),
            values: match arg.get_action() {
                ArgAction::Set | ArgAction::Append => arg
                    .get_possible_values()
                    .iter()
                    .map(|value| value.get_name().to_owned())
                    .collect(),
                _ => Vec::new(),
            },
            takes_value: matches!(arg.get_action(), ArgAction::Set | ArgAction::Append),
            takes_path: arg.get_value_hint() == ValueHint::AnyPath,
            takes_list: arg.get_value_delimiter().is_some(),
            help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
        });
    described.collect()
}
