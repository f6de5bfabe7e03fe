//! Hints are run: every option and every command that a message of the catalogue suggests is tried on the input that was
//! refused. It must work, or stop at another question about the same input; nothing may be typed as it is shown and fail
//! in the same way.

use super::{Case, Expected, GROUPS, run};
use std::collections::BTreeMap;

/// Words that stand for a value of the user's own, so that the option cannot be tried as it is shown.
const PLACES: [&str; 12] = [
    "SOURCE",
    "TARGET",
    "NODE",
    "FILE",
    "GRAPH",
    "EDGES",
    "DIR",
    "OPTION",
    "COMMUNITIES",
    "WEIGHT",
    "...",
    "METHOD",
];

/// Arguments that are not for the refused input, or whose answer needs what is not here, and why.
const ELSEWHERE: [(&str, &str); 5] = [
    ("--help", "explains, but answers nothing"),
    ("--engine spark", "Spark is not here"),
    ("--memory", "is a limit for the input as it is; the memory tests try it"),
    (
        "--on-bad-line skip",
        "leaves out the bad line: an input of which all lines are bad is still refused",
    ),
    ("--trials", "how long to search"),
];

/// Divides words as a shell does; quotes are single.
fn words(text: &str) -> Vec<String> {
    let (mut all, mut word, mut is_quoted, mut is_begun) =
        (Vec::new(), String::new(), false, false);
    for letter in text.chars() {
        match letter {
            '\'' => (is_quoted, is_begun) = (!is_quoted, true),
            ' ' if !is_quoted => {
                if is_begun || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                is_begun = false;
            }
            letter => word.push(letter),
        }
    }
    if is_begun || !word.is_empty() {
        all.push(word);
    }
    all
}

/// Returns what a line shows in backquotes.
fn shown(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn name_of(word: &str) -> Option<&str> {
    word.strip_prefix("--").map(|name| name.split('=').next().unwrap())
}

/// Returns the arguments without an option and its value.
fn without(args: &[String], name: &str) -> Vec<String> {
    let options = outcore_cli::surface::options(args.first().map_or("", String::as_str));
    let takes_value = options.iter().any(|option| option.name == name && option.takes_value);
    let mut left = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match name_of(word) {
            Some(known) if known == name => {
                if takes_value && !word.contains('=') && name != "well-connected" {
                    words.next();
                }
            }
            _ => left.push(word.clone()),
        }
    }
    left
}

/// Returns the arguments that follow a hint: with an option added or replaced, without one, or another command.
fn followed(args: &[String], message: &str, hint: &str) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    // What is left out: the option of the message, or the one that the hint names.
    let first = message.lines().next().unwrap_or_default();
    let is_left_out = hint.starts_with("leave it out") || hint.contains("or leave it out");
    let of_message = shown(first).find_map(name_of).filter(|_| is_left_out);
    let beside = |before: &str| hint.split_once(before).and_then(|(_, rest)| shown(rest).next());
    let of_hint = beside("leave ").filter(|_| hint.contains("` out")).and_then(name_of);
    if let Some(name) = of_message.or(of_hint) {
        let name = name.split(' ').next().unwrap();
        all.push((format!("leave out --{name}"), without(args, name)));
    }
    let excluded = beside("without ").and_then(name_of);
    let args = excluded.map_or(args.to_vec(), |name| without(args, name));
    for text in shown(hint).filter(|text| text.starts_with("--")) {
        let added = words(text);
        let names: Vec<_> = added.iter().filter_map(|word| name_of(word)).collect();
        let is_place = PLACES.iter().any(|place| text.contains(place))
            || added.iter().any(|word| word == "N" || word == "X");
        if is_place || names.iter().any(|&name| Some(name) == excluded || Some(name) == of_hint) {
            continue;
        }
        let kept = names.iter().fold(args.clone(), |args, name| without(&args, name));
        all.push((text.to_owned(), kept.into_iter().chain(added.clone()).collect()));
    }
    for text in shown(hint).filter(|text| text.starts_with("outcore ")) {
        if !PLACES.iter().any(|place| text.contains(place)) {
            all.push((text.to_owned(), words(text).split_off(1)));
        }
    }
    all
}

/// Follows those hints of a case that fewer than `most` cases had before; returns what fails as before.
fn try_hints(case: &Case, tried: &mut BTreeMap<String, u32>, most: u32) -> Vec<String> {
    let home = tempfile::tempdir().unwrap();
    let ran = |args: &[String]| {
        let directory = home.path().join("job");
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir(&directory).unwrap();
        (case.make)(&directory);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let found = run(&directory, &args);
        (found.status, super::message(&found.reported))
    };
    let (_, message) = ran(&case.args);
    let Some((_, hint)) = message.split_once("= help: ") else { return Vec::new() };
    let mut faults = Vec::new();
    for (text, args) in followed(&case.args, &message, hint) {
        if ELSEWHERE.iter().any(|(known, _)| text.starts_with(known)) {
            continue;
        }
        let times = tried.entry(text.clone()).or_default();
        *times += 1;
        if *times > most {
            continue;
        }
        let (status, next) = ran(&args);
        let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        // One answer may lead to the next question, never to the same one, nor to one about the answer.
        let is_same = status != Some(0) && first(&next) == first(&message);
        let is_refused = next
            .contains(&format!("`{}` is not an option", text.split(' ').next().unwrap()))
            || next.contains("cannot be used with")
            || next.contains("is unknown");
        if is_same || is_refused || status.is_none() {
            faults.push(format!("{}: `{text}` gives {status:?}: {}", case.name, first(&next)));
        }
    }
    faults
}

fn check_hints(most: u32) {
    let (mut faults, mut tried) = (Vec::new(), BTreeMap::new());
    for (group, cases) in GROUPS {
        for case in cases() {
            if matches!(case.expected, Expected::Refuses(..)) {
                let found = try_hints(&case, &mut tried, most);
                faults.extend(found.into_iter().map(|fault| format!("{group}, {fault}")));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tried.len() > 30, "{tried:?}");
}

#[test]
fn hints_of_the_catalogue_work() {
    check_hints(2);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn hints_of_the_catalogue_work_in_every_case() {
    check_hints(u32::MAX);
}
