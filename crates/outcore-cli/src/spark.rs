//! `cluster --engine spark`: the same job on Apache Spark.
//!
//! The Python package `outcore.spark` reads, clusters and writes there. This process hands over to it: the package
//! prints the messages, receives the signals and sets the exit status.

use crate::args::{Cli, Engine, EngineName};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, CommandFactory};
use outcore::error::opt::{ENGINE, MASTER, PARTS, SPARK_CONF, TASK_ROWS};
use outcore::{Error, ErrorKind, Result};
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

/// Options that `python -m outcore.spark` accepts as well.
const KNOWN: [&str; 28] = [
    "output",
    "report",
    "restart",
    "columns",
    "delimiter",
    "comment",
    "header",
    "duplicates",
    "self-loops",
    "directed",
    "ignore-weights",
    "min-weight",
    "method",
    "seed",
    "resolution",
    "max-sweeps",
    "tolerance",
    "memory",
    "work-dir",
    "master",
    "task-rows",
    "parts",
    "spark-conf",
    "quiet",
    "verbose",
    "progress",
    "color",
    "help",
];

/// Environment variable with the path of Python; the package sets it to the Python in which it is installed.
const PYTHON_VARIABLE: &str = "OUTCORE_PYTHON";

/// Refuses options of Spark if another engine is selected; none is ignored silently.
pub(crate) fn refuse_without(engine: &Engine) -> Result<()> {
    let given = [
        (engine.master.is_some(), MASTER),
        (engine.task_rows.is_some(), TASK_ROWS),
        (engine.parts.is_some(), PARTS),
        (!engine.spark_conf.is_empty(), SPARK_CONF),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, option)) => {
            let hint = format_args!("add {}", ENGINE.of("spark"));
            Err(Error::usage(format_args!("{option} is for Spark")).hint(hint))
        }
    }
}

/// Refuses Spark in calls from Python, which has its own function for it.
pub(crate) fn refuse_elsewhere(engine: &Engine) -> Result<()> {
    match engine.engine {
        EngineName::Local => refuse_without(engine),
        EngineName::Spark => {
            let message = format_args!("{} is for the command line", ENGINE.of("spark"));
            Err(Error::usage(message).hint("call `outcore.spark.cluster`"))
        }
    }
}

/// Hands over to Python; returns its exit status on systems where a process cannot replace itself.
///
/// # Errors
/// `Usage` for options that Spark does not support, and if Python or the package is missing.
pub(crate) fn run(matches: &ArgMatches) -> Result<u8> {
    let arguments = arguments(matches)?;
    let python = std::env::var_os(PYTHON_VARIABLE).unwrap_or_else(|| "python3".into());
    find_package(&python)?;
    let mut command = Command::new(&python);
    command.args(["-m", "outcore.spark"]).args(arguments);
    replace_process(command).map_err(|error| no_python(&python, &error))
}

#[cfg(unix)]
fn replace_process(mut command: Command) -> std::io::Result<u8> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn replace_process(mut command: Command) -> std::io::Result<u8> {
    Ok(command.status()?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Returns the options given, as Python accepts them. An option that Python does not accept is left out if it has its
/// default value.
fn arguments(matches: &ArgMatches) -> Result<Vec<OsString>> {
    let mut cli = Cli::command();
    cli.build();
    let Some(cluster) = cli.find_subcommand("cluster") else { return Ok(Vec::new()) };
    let is_typed = |arg: &&Arg| {
        let id = arg.get_id().as_str();
        id != "engine" && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let (mut options, mut unknown) = (Vec::new(), Vec::new());
    for arg in cluster.get_arguments().filter(is_typed) {
        let Some(name) = arg.get_long() else { continue };
        let values = typed(matches, arg);
        if !KNOWN.contains(&name) {
            if arg.get_default_values() != values {
                unknown.push(format!("`--{name}`"));
            }
        } else if arg.get_action().takes_values() {
            options.extend(values.into_iter().map(|value| option(name, &value)));
        } else {
            options.push(format!("--{name}").into());
        }
    }
    if !unknown.is_empty() {
        let are = if unknown.len() == 1 { "is" } else { "are" };
        let (unknown, spark) = (unknown.join(", "), ENGINE.of("spark"));
        return Err(Error::usage(format_args!("{unknown} {are} not available with {spark}"))
            .hint(format_args!("leave it out, or run on one machine: {}", ENGINE.of("local"))));
    }
    options.push("--".into());
    options.extend(matches.get_raw("inputs").into_iter().flatten().map(OsStr::to_os_string));
    Ok(options)
}

/// Returns the values of an option: one for each time it was given, lists joined by commas.
fn typed(matches: &ArgMatches, arg: &Arg) -> Vec<OsString> {
    let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
    match arg.get_value_delimiter() {
        None => values.map(OsStr::to_os_string).collect(),
        Some(delimiter) => {
            let values: Vec<&OsStr> = values.collect();
            vec![values.join(OsStr::new(&delimiter.to_string()))]
        }
    }
}

fn option(name: &str, value: &OsStr) -> OsString {
    let mut option = OsString::from(format!("--{name}="));
    option.push(value);
    option
}

/// Checks that the package is installed, before Spark is started.
fn find_package(python: &OsStr) -> Result<()> {
    let found = Command::new(python)
        .args(["-c", "import outcore.spark"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| no_python(python, &error))?;
    if found.status.success() {
        return Ok(());
    }
    let python = python.display();
    let message = format!("`{python}` has no package `outcore.spark`");
    let error = Error::new(ErrorKind::Usage, message).hint(format!(
        "install it: `{python} -m pip install 'outcore[spark]'`; or name another Python in {PYTHON_VARIABLE}"
    ));
    let output = String::from_utf8_lossy(&found.stderr);
    Err(match output.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => error.note(line.trim()),
        None => error,
    })
}

fn no_python(python: &OsStr, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Usage, format!("cannot start `{}`: {error}", python.display()))
        .hint(format!("install Python 3.10 or newer, or name one in {PYTHON_VARIABLE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(words: &str) -> std::result::Result<Vec<String>, String> {
        let words = ["outcore", "cluster"].into_iter().chain(words.split(' '));
        let matches = Cli::command().try_get_matches_from(words).unwrap();
        let found = arguments(matches.subcommand_matches("cluster").unwrap());
        found
            .map(|options| options.iter().map(|text| text.to_string_lossy().into()).collect())
            .map_err(|error| error.message().to_owned())
    }

    #[test]
    fn options_given_are_passed_on() {
        let typed = "a.tsv -o out --engine spark --columns 1,2,12 --restart --spark-conf a=1 -q \
            --spark-conf b=2 --normalize none s3a://x/*.gz";
        let expected = [
            "--output=out",
            "--restart",
            "--columns=1,2,12",
            "--spark-conf=a=1",
            "--spark-conf=b=2",
            "--quiet",
            "--",
            "a.tsv",
            "s3a://x/*.gz",
        ];
        let mut found = passed(typed).unwrap();
        assert_eq!(found.split_off(found.len() - 3), expected[6..]);
        found.sort();
        let mut options = expected[..6].to_vec();
        options.sort_unstable();
        assert_eq!(found, options);
    }

    #[test]
    fn options_that_spark_lacks_are_all_named() {
        let message = passed("a.tsv -o out --engine spark --threads 2 --levels tree --seed 3");
        let expected = "`--levels`, `--threads` are not available with `--engine spark`";
        assert_eq!(message, Err(expected.into()));
    }

    #[test]
    fn every_known_option_exists_in_the_command() {
        let mut cli = Cli::command();
        cli.build();
        let cluster = cli.find_subcommand("cluster").unwrap();
        for name in KNOWN {
            assert!(cluster.get_arguments().any(|arg| arg.get_long() == Some(name)), "{name}");
        }
    }
}
