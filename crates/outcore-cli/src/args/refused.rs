//! Refused arguments, in the form of all other errors: what is wrong with them, and what to type instead.
//!
//! clap decides what is wrong, and its context holds the argument and the value. Similar words are suggested only if
//! they are really similar: a far-fetched suggestion misleads more than none. Words of other programs are in
//! [`elsewhere`].

use super::{Cli, elsewhere};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use outcore::Error;
use outcore::error::Opt;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

/// Least similarity of a word that is suggested, from 0 to 1: about one letter of three may differ.
const SIMILAR: f64 = 0.65;

/// Converts the error of clap about the arguments `typed`, of which the first is the program's name.
pub(crate) fn refused(error: &clap::Error, typed: &[OsString]) -> Error {
    let mut root = Cli::command();
    root.build();
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let unknown = text(ContextKind::InvalidSubcommand);
    let (arg, value) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue));
    let command = command_of(&root, typed, unknown.or(arg));
    let refused = match (error.kind(), arg, value) {
        (ErrorKind::UnknownArgument, Some(arg), _) => unknown_argument(&root, command, arg),
        (ErrorKind::InvalidSubcommand, ..) => unknown_command(command, unknown.unwrap_or_default()),
        (ErrorKind::MissingRequiredArgument, ..) => missing(error, command, typed),
        (ErrorKind::InvalidValue, Some(arg), Some("")) => no_value(error, arg),
        (ErrorKind::InvalidValue, Some(arg), Some(value)) => not_one_of(error, arg, value),
        (ErrorKind::ValueValidation, Some(arg), Some(value)) => invalid(error, arg, value),
        (ErrorKind::ArgumentConflict, Some(arg), _) => conflict(error, arg, typed),
        _ => {
            let shown = error.to_string();
            let first = shown.lines().next().unwrap_or_default();
            Error::usage(first.trim_start_matches("error: "))
        }
    };
    match refused.hint_text() {
        Some(_) => refused,
        None => refused.hint(help_of(command)),
    }
}

/// Returns the hint where to look.
fn help_of(command: &Command) -> String {
    format!("`{} --help` lists its arguments", words(command))
}

/// Returns the command that the arguments name, without what follows the word `unknown`.
fn command_of<'a>(root: &'a Command, typed: &[OsString], unknown: Option<&str>) -> &'a Command {
    let typed = typed.iter().skip(1).map(|word| word.to_string_lossy());
    let typed = typed.take_while(|word| Some(&**word) != unknown && word != "--");
    typed.fold(root, |command, word| command.find_subcommand(&*word).unwrap_or(command))
}

/// Returns a command as it is typed, such as `outcore lab tune`.
pub(crate) fn words(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

/// Returns the error for a command that does not exist.
pub(crate) fn unknown_command(of: &Command, name: &str) -> Error {
    let known: Vec<&str> = of.get_subcommands().map(Command::get_name).collect();
    let parent = words(of);
    let error = Error::usage(format!("`{parent}` has no command `{name}`"));
    if known.is_empty() {
        return error.hint(help_of(of));
    }
    if parent == "outcore" && (name == "-" || name.contains(['.', '/', '\\', '*'])) {
        let find = format!("outcore cluster {name} -o communities.tsv");
        return error.hint(format!("to find communities in this file, type `{find}`"));
    }
    error.hint(match similar(name, &known) {
        Some(name) => format!("did you mean `{parent} {name}`?"),
        None => format!("its commands are {}", known.join(", ")),
    })
}

/// Returns the error for an argument that the command does not take.
fn unknown_argument(root: &Command, command: &Command, arg: &str) -> Error {
    let shown = words(command);
    if !arg.starts_with('-') {
        return Error::usage(format!("`{arg}` is one argument too many for `{shown}`"));
    }
    let error = Error::usage(format!("`{arg}` is not an option of `{shown}`"));
    if arg.parse::<f64>().is_ok() {
        return error.hint(format!("a negative value follows `=`, as in `--OPTION={arg}`"));
    }
    let name = arg.split('=').next().unwrap_or(arg).trim_start_matches('-');
    let known = options(command);
    let spelled = known.iter().find(|known| elsewhere::plain(known) == elsewhere::plain(name));
    if let Some(name) = spelled {
        return error.hint(format!("it is spelled `--{name}`"));
    }
    match elsewhere::option(name) {
        Some((ours, hint)) if ours.all().all(|ours| known.contains(&&*ours.name)) => {
            return error.hint(hint);
        }
        _ => {}
    }
    if let Some(name) = similar(name, &known) {
        return error.hint(format!("did you mean `--{name}`?"));
    }
    let others = root.get_subcommands().filter(|other| words(other) != shown);
    let others: Vec<&str> =
        others.filter(|other| options(other).contains(&name)).map(words).collect();
    match &others[..] {
        [] => error,
        [first, ..] if shown == "outcore" => {
            error.hint(format!("options follow the command: `{first} --{name}`"))
        }
        others => error.hint(format!("it is an option of `{}`", others.join("`, `"))),
    }
}

/// Returns the long names of the options of a command.
fn options(command: &Command) -> Vec<&str> {
    command.get_arguments().filter_map(|arg| arg.get_long()).collect()
}

/// Returns the error for arguments that are required, with an example of the command from its help.
fn missing(error: &clap::Error, command: &Command, typed: &[OsString]) -> Error {
    let names = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) => names.as_slice(),
        _ => &[],
    };
    let shown = words(command);
    let error = Error::usage(format!("`{shown}` needs `{}`", names.join("`, `")));
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let example = help.lines().map(str::trim).find(|line| line.starts_with(shown));
    match (example, names) {
        (Some(example), [only]) if only.starts_with("--output ") => {
            if let Some(file) = last_name(typed) {
                return error.hint(format!("to write `{file}`, type `-o {file}`"));
            }
            match example.rsplit_once(" -o ") {
                Some((_, file)) => error.hint(format!("add `-o {file}`")),
                None => error,
            }
        }
        (_, [only]) if only.starts_with("--") => error.hint(format!("add `{only}`")),
        (Some(example), _) => error.hint(format!("for example `{example}`")),
        (None, _) => error.hint(format!("type `{shown} {}`", names.join(" "))),
    }
}

/// Returns the last of several names, if it may be that of the output: no such file exists.
fn last_name(typed: &[OsString]) -> Option<Cow<'_, str>> {
    let [.., before, last] = typed else { return None };
    let is_option = |word: &OsString| word.to_string_lossy().starts_with('-');
    let is_new = !is_option(before) && !is_option(last) && !Path::new(last).exists();
    // After the program, its command and an input.
    (typed.len() > 3 && is_new).then(|| last.to_string_lossy())
}

/// Returns the values that are possible, if they are few.
fn values(error: &clap::Error) -> Vec<&str> {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(known)) => known.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns the error for an option without its value.
fn no_value(error: &clap::Error, arg: &str) -> Error {
    if arg.starts_with('<') {
        return Error::usage(format!("`{arg}` is empty"))
            .hint("name a file, or use `-` for standard input");
    }
    let refused = Error::usage(format_args!("{} needs a value", Named::of(arg)));
    match &values(error)[..] {
        [] => refused.hint(format!("type `{arg}`")),
        known => refused.hint(format!("the values are {}", known.join(", "))),
    }
}

/// Returns the error for a value that is not one of those possible.
fn not_one_of(error: &clap::Error, arg: &str, value: &str) -> Error {
    let (named, known) = (Named::of(arg), values(error));
    let error = Error::usage(format_args!("{} is unknown", named.with(value)));
    let elsewhere = if named.is("method") { elsewhere::method(value) } else { None };
    if let Some(hint) = elsewhere {
        return error.hint(hint);
    }
    match (similar(value, &known), &known[..]) {
        (_, []) => error,
        (Some(name), _) => error.hint(format_args!("did you mean {}?", named.with(name))),
        (None, known) => error.hint(format!("the values are {}", known.join(", "))),
    }
}

/// Returns the error for a value that cannot be converted.
fn invalid(error: &clap::Error, arg: &str, value: &str) -> Error {
    let named = Named::of(arg).with(value);
    let Some(source) = std::error::Error::source(error) else {
        return Error::usage(format_args!("{named} is not possible"));
    };
    if let Some(source) = source.downcast_ref::<Error>() {
        let error = Error::usage(format_args!("{named}: {}", source.texts().message));
        return match source.texts().hint {
            Some(hint) => error.hint(hint),
            None => error,
        };
    }
    let is_digit_wrong = |reason: &str| reason.starts_with("invalid digit");
    let reason = match source.to_string() {
        reason if is_digit_wrong(&reason) => "not a whole number".into(),
        reason if reason.starts_with("invalid float") => "not a number".into(),
        reason => reason,
    };
    Error::usage(format_args!("{named}: {reason}"))
}

/// Returns the error for arguments that exclude each other. Of a group, clap names all options.
fn conflict(error: &clap::Error, arg: &str, typed: &[OsString]) -> Error {
    let mut prior = match error.get(ContextKind::PriorArg) {
        Some(ContextValue::String(prior)) => vec![prior.as_str()],
        Some(ContextValue::Strings(prior)) => prior.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    let name = |arg: &str| arg.split([' ', '=', '[']).next().unwrap_or_default().to_owned();
    let is_typed = |arg: &str| typed.iter().any(|word| starts(word, &name(arg)));
    prior.sort_by_key(|arg| !is_typed(arg));
    let named = Named::of(arg);
    match prior[..] {
        [prior, ..] if prior != arg => {
            let prior = Named::of(prior);
            Error::usage(format_args!("{named} cannot be used with {prior}"))
                .hint("leave one of them out")
        }
        _ => Error::usage(format_args!("{named} is given more than once")).hint("give it once"),
    }
}

/// Returns whether an argument that was typed is this option, with or without a value.
fn starts(typed: &OsString, option: &str) -> bool {
    typed.to_string_lossy().split('=').next() == Some(option)
}

/// Returns the most similar of the known words; otherwise the only one that begins with what was typed.
fn similar<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    let likeness = |word: &str| strsim::normalized_damerau_levenshtein(typed, word);
    let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    if likeness(nearest) >= SIMILAR {
        return Some(nearest);
    }
    let mut longer = known.iter().filter(|word| typed.len() > 2 && word.starts_with(typed));
    longer.next().filter(|_| longer.next().is_none()).copied()
}

/// Argument as clap names it: `--memory <SIZE|PERCENT>`, `<EDGES>...`.
#[derive(Clone)]
enum Named {
    Option(Opt),
    Place(String),
}

impl Named {
    fn of(shown: &str) -> Self {
        let Some(name) = shown.strip_prefix("--") else { return Self::Place(shown.into()) };
        let name = name.split([' ', '=', '[']).next().unwrap_or(name).to_owned();
        Self::Option(Opt { name: Cow::Owned(name), ..Opt::new("") })
    }

    fn is(&self, name: &str) -> bool {
        matches!(self, Self::Option(option) if option.name == name)
    }

    /// Returns the argument with a value.
    fn with(&self, value: &str) -> Self {
        match self {
            Self::Option(option) => Self::Option(option.clone().of(value)),
            Self::Place(place) => Self::Place(format!("{value}` for `{place}")),
        }
    }
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Option(option) => option.fmt(f),
            Self::Place(place) => write!(f, "`{place}`"),
        }
    }
}
