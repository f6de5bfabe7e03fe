//! The `outcore` command as a function: arguments in, exit status out.
//!
//! Results go to a file or to standard output, everything else to standard error. This crate owns
//! the terminal: it draws errors and progress, and translates signals into a request to stop. The
//! engine does the work.
//!
//! `args` defines every option with its help; `jobs` and `generate` turn arguments into the engine's options and
//! reports into text. `screen` is the terminal: progress, errors, signals. `page` turns the report of a job into
//! HTML. Each imports from those before it: `args`, `screen`, `page`, `jobs`, `representatives`, then a file or folder for
//! each other command. Messages of the engine contain options as data, which the command writes as flags and Python as keywords.

#[cfg(all(test, not(feature = "tables"), not(feature = "lab"), not(feature = "remote")))]
mod absent_tests;
mod args;
mod compare;
mod export;
mod formats;
mod generate;
mod inspect;
mod jobs;
#[cfg(feature = "lab")]
mod lab;
#[cfg(not(feature = "lab"))]
#[path = "no_lab.rs"]
mod lab;
mod man;
mod page;
mod remote;
mod representatives;
mod score;
mod screen;
mod spark;
mod stdout;
pub mod surface;

use args::{Cli, Command, EngineName, refused};
use clap::{ArgMatches, CommandFactory};
use outcore::units::format_bytes;
use outcore::{Error, ErrorKind, Result};
use screen::print::{print, print_text};
use screen::{Signals, Terminal, render, say};
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command with `args`; the first is the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    status(args).into()
}

/// Like [`run`], but returns the exit status as a number; `outcore --help` lists what each one means.
pub fn status(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let (mut cli, matches) = match Cli::parsed(&args) {
        Ok(parsed) => parsed,
        Err(page) if is_page(&page) => {
            // There is nowhere to report it if standard error is closed.
            let _ = page.print();
            return page.exit_code() as u8;
        }
        Err(error) => {
            let refused = refused(&error, &args);
            say(&render::error(&refused));
            return exit_status(refused.kind());
        }
    };
    cli.messages.color.write_global();
    let signals = Signals::default();
    let terminal = Terminal::new(&cli.messages, signals.clone());
    match execute(&mut cli, &matches, &terminal, &signals) {
        Ok(status) => status,
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) if error.kind() == ErrorKind::Interrupted => {
            terminal.interrupted(&error);
            signals.exit_status()
        }
        Err(error) => {
            terminal.error(&error);
            exit_status(error.kind())
        }
    }
}

/// Returns whether an error of clap is a page of help or the version.
fn is_page(error: &clap::Error) -> bool {
    use clap::error::ErrorKind::{
        DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion,
    };
    let pages = [DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion];
    pages.contains(&error.kind())
}

/// Ends the process with this error, for a job that cannot be asked to stop in time.
#[expect(clippy::exit, reason = "the job exceeds its memory limit, and its threads continue")]
pub fn end(error: &Error) {
    screen::say_apart(&render::error(error));
    std::process::exit(exit_status(error.kind()).into());
}

/// Runs the command here, or hands it over to Spark; returns the exit status.
fn execute(
    cli: &mut Cli,
    matches: &ArgMatches,
    terminal: &Terminal,
    signals: &Signals,
) -> Result<u8> {
    if let (Command::Cluster(arguments), Some((_, matches))) = (&cli.command, matches.subcommand())
    {
        if arguments.engine.engine == EngineName::Spark {
            return spark::run(matches);
        }
        spark::refuse_without(&arguments.engine)?;
    }
    execute_here(cli, terminal, signals).map(|()| 0)
}

fn execute_here(cli: &mut Cli, terminal: &Terminal, signals: &Signals) -> Result<()> {
    let stop = signals.clone();
    let files = remote::files(&mut cli.command, std::sync::Arc::new(move || stop.came()))?;
    stdout::check(&files, &cli.command)?;
    match &cli.command {
        Command::Cluster(arguments) => {
            signals.catch()?;
            let report = jobs::cluster(&files, arguments, None, terminal)?;
            jobs::done(&report, terminal);
            Ok(())
        }
        Command::Build(arguments) => {
            signals.catch()?;
            let report = jobs::build(&files, arguments, None, None, terminal)?;
            jobs::done(&report, terminal);
            Ok(())
        }
        Command::Plan(arguments) => {
            let plan = jobs::plan(&files, arguments, terminal)?;
            print_text(jobs::plan_text(&files, arguments, &plan)?, arguments.json)
        }
        Command::Score(arguments) => {
            signals.catch()?;
            let report = score::score(&files, arguments, terminal)?;
            score::show(&report, arguments, terminal)
        }
        Command::Export(arguments) => {
            signals.catch()?;
            let report = export::export(&files, arguments, terminal)?;
            export::done(&report, arguments, terminal);
            Ok(())
        }
        Command::Compare(arguments) => {
            signals.catch()?;
            let report = compare::compare(&files, arguments, terminal)?;
            compare::show(&report, arguments, terminal)
        }
        Command::Inspect(arguments) => {
            signals.catch()?;
            print_text(inspect::inspect(&files, arguments, terminal)?, arguments.json)
        }
        Command::Formats(arguments) => print_text(formats::list(arguments)?, arguments.json),
        Command::Generate(arguments) => {
            signals.catch()?;
            let bytes = generate::generate(&files, arguments, terminal)?;
            terminal.done(&[format!("{} written", format_bytes(bytes))]);
            Ok(())
        }
        Command::Lab(arguments) => {
            signals.catch()?;
            lab::lab(&files, arguments, terminal)
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "outcore", &mut script);
            print(&script)
        }
        Command::Man(arguments) => {
            man::pages(&files, arguments)?.map_or(Ok(()), |page| print(&page))
        }
    }
}

/// Returns whether the reader of the output closed it because it has read enough (`outcore ... -o - | head`).
fn is_broken_pipe(error: &Error) -> bool {
    std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .is_some_and(|source| source.kind() == std::io::ErrorKind::BrokenPipe)
}

fn exit_status(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Usage => 2,
        ErrorKind::MissingColumn
        | ErrorKind::EmptyName
        | ErrorKind::NameTooLong
        | ErrorKind::BadWeight
        | ErrorKind::BadQuote
        | ErrorKind::BadCompression
        | ErrorKind::BadInput
        | ErrorKind::InputChanged
        | ErrorKind::TooManyNodes
        | ErrorKind::CorruptFile => 3,
        ErrorKind::MemoryTooSmall | ErrorKind::DiskTooSmall | ErrorKind::DiskFull => 4,
        _ => 1,
    }
}
