//! `outcore lab`: converts arguments to options of the laboratory, and its reports to text, JSON and pages.

mod text;

use crate::args::lab::{Lab, LabCommand, LabCompare, LabReports, LabRun, LabShow, LabTune};
use crate::jobs::profile;
use crate::screen::Terminal;
use crate::screen::print::{json, print};
use outcore::error::opt::{HTML, OUTPUT, PROFILE};
use outcore::io::Files;
use outcore::output::{self, Paths, Written};
use outcore::{Error, ErrorKind, Result};
use outcore_lab::experiments::{LIST, Listed};
use outcore_lab::report::{LabReport, compare, export, page, stored};
use outcore_lab::tune::{self, WallClock};
use outcore_lab::{Effort, LabOptions};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

pub(crate) fn lab(files: &Files, arguments: &Lab, terminal: &Terminal) -> Result<()> {
    match &arguments.command {
        LabCommand::One(one) => measure(files, &[one.experiment], &one.run, terminal),
        LabCommand::All(run) => measure(files, LIST, run, terminal),
        LabCommand::Tune(arguments) => tune(files, arguments, terminal),
        LabCommand::Compare(arguments) => compare(files, arguments),
        LabCommand::Report(reports) => show_again(files, reports, terminal.is_verbose()),
    }
}

fn measure(files: &Files, list: &[Listed], run: &LabRun, terminal: &Terminal) -> Result<()> {
    Paths::default().write(OUTPUT, &run.output).write(HTML, &run.show.html).check(files)?;
    check_endings(run.output.as_deref(), run.show.html.as_deref())?;
    for path in run.output.iter().chain(&run.show.html) {
        output::check(files, path)?;
    }
    let options = LabOptions {
        directory: run.dir.clone(),
        effort: effort(run.quick, run.full),
        seed: run.seed.unwrap_or_else(fresh_seed),
        compile: run.compile,
    };
    let mut last = None;
    let mut finished = |report: &LabReport| {
        last = Some(report.clone());
        match run.output.as_deref().filter(|path| *path != Path::new("-")) {
            Some(path) => write(files, path, &stored::json(report)?),
            None => Ok(()),
        }
    };
    let ended = outcore_lab::run(&options, list, terminal, &mut finished);
    if let Some(report) = last {
        if run.output.as_deref() == Some(Path::new("-")) {
            print(stored::json(&report)?.as_bytes())?;
        }
        let kept = kept(&report, list.len());
        show(files, &[report], &run.show, terminal.is_verbose())?;
        ended.map_err(|error| note_interrupted(error).note(kept))?;
    } else {
        ended.map_err(note_interrupted)?;
    }
    let written = run.output.iter().chain(&run.show.html).filter(|path| *path != Path::new("-"));
    let written = written.map(|path| format!("every row is in `{}`", path.display()));
    terminal.done(&written.collect::<Vec<_>>());
    Ok(())
}

/// Refuses names of the report and of the page that have endings of other formats.
fn check_endings(report: Option<&Path>, page: Option<&Path>) -> Result<()> {
    report.map_or(Ok(()), |path| Written::JSON.check(&OUTPUT, path))?;
    page.map_or(Ok(()), |path| Written::HTML.check(&HTML, path))
}

/// Describes what a report of fewer than all experiments contains.
fn kept(report: &LabReport, of: usize) -> String {
    let finished = report.experiments.iter().filter(|each| each.ended.is_none()).count();
    let text = format!("{finished} of {of} experiments are finished and reported");
    match report.experiments.last().and_then(|last| Some((&last.name, last.ended?))) {
        Some((name, ended)) => {
            format!("{text}, and {} of {} rounds of {name}", ended.rounds, ended.of)
        }
        None => text,
    }
}

/// Returns a seed that differs from call to call, small enough to be typed.
fn fresh_seed() -> u64 {
    u64::from(RandomState::new().hash_one(()) as u32)
}

fn effort(quick: bool, full: bool) -> Effort {
    match (quick, full) {
        (true, _) => Effort::Quick,
        (_, true) => Effort::Full,
        _ => Effort::Default,
    }
}

fn tune(files: &Files, arguments: &LabTune, terminal: &Terminal) -> Result<()> {
    check_endings(arguments.output.as_deref(), None)?;
    let stored = || {
        profile::stored_path(files, &arguments.dir).ok_or_else(|| {
            Error::new(ErrorKind::Usage, "this system does not report which disk this is")
                .hint(format_args!("use `-o FILE.json`, and {} in jobs", PROFILE.of("FILE.json")))
        })
    };
    let path = arguments.output.clone().map_or_else(stored, Ok)?;
    let effort = effort(arguments.quick, arguments.full);
    let clock = WallClock::default();
    let dir = &arguments.dir;
    let mut tuned = tune::tune(files, dir, effort, &clock, terminal).map_err(note_interrupted)?;
    let slowness = tune::slowness(files, dir, effort, terminal).map_err(note_interrupted)?;
    tuned.profile.slowness = Some(slowness);
    tuned.profile.store(files, &path)?;
    terminal.done(&[format!("the profile is in `{}`", path.display())]);
    if arguments.json {
        return print(json(&tuned.profile)?.as_bytes());
    }
    text::print(&text::tuned(&tuned))
}

/// Adds a note to the error of an interrupted call that its files are removed.
fn note_interrupted(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Interrupted => error.note("all files made for measuring are removed"),
        _ => error,
    }
}

fn compare(files: &Files, arguments: &LabCompare) -> Result<()> {
    let one = |path: &Path| {
        let mut reports = stored::parse(path, &files.read(path)?)?;
        match (reports.pop(), reports.is_empty()) {
            (Some(report), true) => Ok(report),
            _ => {
                let message = format!("`{}` does not contain exactly one report", path.display());
                Err(Error::new(ErrorKind::Usage, message)
                    .hint("compare the JSON files that `-o FILE.json` writes"))
            }
        }
    };
    let (first, second) = (one(&arguments.first)?, one(&arguments.second)?);
    let comparison = compare::compare(&first, &second, arguments.column);
    if arguments.json {
        return print(json(&comparison)?.as_bytes());
    }
    text::print(&text::comparison(&comparison))
}

fn show_again(files: &Files, arguments: &LabReports, is_verbose: bool) -> Result<()> {
    let paths = Paths::default().read(None, &arguments.reports);
    paths.write(HTML, &arguments.show.html).check(files)?;
    check_endings(None, arguments.show.html.as_deref())?;
    let mut reports = Vec::new();
    for path in &arguments.reports {
        reports.extend(stored::parse(path, &files.read(path)?)?);
    }
    show(files, &reports, &arguments.show, is_verbose)
}

fn show(files: &Files, reports: &[LabReport], show: &LabShow, is_verbose: bool) -> Result<()> {
    if let Some(path) = &show.html {
        write(files, path, &page::html(reports))?;
    }
    if show.json {
        let texts: Result<Vec<String>> = reports.iter().map(stored::json).collect();
        return print(texts?.concat().as_bytes());
    }
    if show.csv {
        return print(export::csv(reports).as_bytes());
    }
    if show.markdown {
        return print(export::markdown(reports).as_bytes());
    }
    let texts: Vec<String> = reports.iter().map(|each| text::report(each, is_verbose)).collect();
    text::print(&texts.join("\n\n"))
}

fn write(files: &Files, path: &Path, text: &str) -> Result<()> {
    if path == Path::new("-") { print(text.as_bytes()) } else { files.write(path, text.as_bytes()) }
}
