//! `outcore compare`.

use crate::args::Compare;
use crate::jobs::{check_paths, limits, memory_taken, profile, work_dir, write_report};
use crate::page;
use crate::representatives::representatives;
use crate::screen::Terminal;
use crate::screen::print::{json, print_text};
use outcore::compare::{
    Change, CommunityName, CompareOptions, CompareReport, DrawnSide, FateCounts, SideReport,
};
use outcore::error::opt::{JSON, MOVED, OUTPUT, OUTPUT_HEADER, REPRESENTATIVES};
use outcore::input::CommunityInput;
use outcore::io::Files;
use outcore::job;
use outcore::progress::Observer;
use outcore::units::{format_count, format_counted};
use outcore::{Error, Result};
use outcore_page::shorten;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Rows of the table of changes.
const CHANGES_SHOWN: usize = 10;
/// Parts of a community in a row.
const PARTS_SHOWN: usize = 3;
/// Characters of a name in a row.
const NAME_SHOWN: usize = 24;

/// Comparison of two results, or of each of several with the one before it.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Compared {
    Two(Box<Step>),
    Several { schema: u32, kind: &'static str, comparisons: Vec<Step> },
}

/// Comparison of a result with the one before it.
#[derive(serde::Serialize)]
pub(crate) struct Step {
    #[serde(flatten)]
    pub(crate) report: CompareReport,
    /// Representatives of the communities that the report names, in both results, if they were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) representatives: Option<Representatives>,
}

/// Representatives of the communities of two results.
#[derive(Default, serde::Serialize)]
pub(crate) struct Representatives {
    pub(crate) a: BTreeMap<String, String>,
    pub(crate) b: BTreeMap<String, String>,
}

impl Compared {
    fn new(mut steps: Vec<Step>) -> Self {
        match steps.pop() {
            Some(step) if steps.is_empty() => Self::Two(Box::new(step)),
            last => {
                steps.extend(last);
                Self::Several { schema: 1, kind: "compare-several", comparisons: steps }
            }
        }
    }

    pub(crate) fn steps(&self) -> &[Step] {
        match self {
            Self::Two(step) => std::slice::from_ref(step),
            Self::Several { comparisons, .. } => comparisons,
        }
    }
}

pub(crate) fn compare(
    files: &Files,
    arguments: &Compare,
    observer: &dyn Observer,
) -> Result<Compared> {
    let Compare { output, moved, resources, report, .. } = arguments;
    let paths = arguments.results();
    for path in &paths {
        if path.as_path() != Path::new("-") {
            files.entry(path)?;
        }
    }
    check_several(arguments)?;
    let result = output.as_ref().or(moved.as_ref()).unwrap_or(&arguments.a);
    let input = CommunityInput {
        level: arguments.level.level,
        ..arguments.read.shared(arguments.comment.as_deref(), files, None, paths.clone())
    };
    let options = |pair: &[&PathBuf]| CompareOptions {
        a: pair[0].clone(),
        b: pair[1].clone(),
        input: input.clone(),
        output: output.clone(),
        moved: moved.clone(),
        output_header: arguments.output_header,
        limits: limits(resources),
        work_dir: work_dir(files, resources, result),
    };
    let pairs: Vec<CompareOptions> = paths.windows(2).map(options).collect();
    for options in &pairs {
        let paths = job::compare_paths(options).read(REPRESENTATIVES, &arguments.representatives);
        check_paths(files, paths, report.as_deref(), resources)?;
    }
    if arguments.json && takes_stdout(arguments) {
        let message = format_args!("{JSON} prints to standard output, where `-` is written, too");
        return Err(Error::usage(message).hint("write one of the two to a file"));
    }
    let work_dir = work_dir(files, resources, result);
    let files = &profile::tuned(files, resources.profile.as_deref(), &work_dir, observer)?;
    let mut steps = Vec::with_capacity(pairs.len());
    for (at, options) in pairs.iter().enumerate() {
        let report = job::compare(files, options, observer)?;
        let given = arguments.representatives.get(at..at + 2);
        let read = |given: &[PathBuf]| Representatives::read(files, given, &report, observer);
        let representatives = given.map(read).transpose()?;
        steps.push(Step { report, representatives });
    }
    let found = Compared::new(steps);
    write_report(files, &found, page::compare::html, report.as_deref())?;
    Ok(found)
}

/// Refuses what more than two results cannot have, and representatives of other results.
fn check_several(arguments: &Compare) -> Result<()> {
    let Compare { output, moved, output_header, representatives, .. } = arguments;
    let paths = arguments.results();
    let is_stream = |path: &&PathBuf| path.as_path() == Path::new("-");
    let streams = paths.iter().copied().filter(|path| is_stream(path)).count();
    if paths.len() > 2 {
        let given =
            [(output.is_some(), OUTPUT), (moved.is_some(), MOVED), (*output_header, OUTPUT_HEADER)];
        if let Some((_, option)) = given.into_iter().find(|(is_given, _)| *is_given) {
            let message =
                format_args!("{option} is for two results, but {} are given", paths.len());
            return Err(Error::usage(message)
                .hint("compare two of them to write what differs; leave it out to compare all"));
        }
        if streams > 1 || paths[1..paths.len() - 1].iter().any(is_stream) {
            return Err(Error::usage(
                "standard input (`-`) can be read only once: it can be the first result, or the last",
            )
            .hint("write it to a file first"));
        }
    }
    if !representatives.is_empty() && representatives.len() != paths.len() {
        let (found, count) = (representatives.len(), paths.len());
        let files = format_counted(found as u64, "file", "files");
        let message = format_args!("{REPRESENTATIVES} has {files} for {count} results");
        return Err(Error::usage(message).hint("name one for each result, in their order"));
    }
    Ok(())
}

impl Representatives {
    /// Reads those of the communities that a report names, from the files of both results.
    fn read(
        files: &Files,
        given: &[PathBuf],
        report: &CompareReport,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let wanted = |drawn: &[DrawnSide], own: &[Change], other: &[Change]| -> BTreeSet<String> {
            let drawn = drawn.iter().filter_map(|of| of.community.as_ref());
            let own = own.iter().map(|change| &change.community);
            let parts = other.iter().flat_map(|change| &change.parts).map(|part| &part.community);
            drawn.chain(own).chain(parts).map(CommunityName::to_string).collect()
        };
        let CompareReport { left, joined, drawn, .. } = report;
        let [a, b] = [wanted(&drawn.a, left, joined), wanted(&drawn.b, joined, left)];
        Ok(Self {
            a: representatives(files, &given[0], &a, observer)?,
            b: representatives(files, &given[1], &b, observer)?,
        })
    }
}

/// Returns the name of a community, with its representative if it is known.
pub(crate) fn named(name: &CommunityName, representatives: &BTreeMap<String, String>) -> String {
    let name = name.to_string();
    match representatives.get(&name) {
        Some(node) => format!("{name}: {}", shorten(node, NAME_SHOWN)),
        None => name,
    }
}

/// Prints the comparison, then the last line of the job. Where a file goes to standard output, nothing else does.
pub(crate) fn show(found: &Compared, arguments: &Compare, terminal: &Terminal) -> Result<()> {
    let steps = found.steps();
    if !takes_stdout(arguments) {
        let text = if arguments.json { json(found)? } else { tables(steps) };
        print_text(text, arguments.json)?;
    }
    let peak = steps.iter().filter_map(|step| step.report.peak_memory_bytes).max();
    let memory = memory_taken(peak, &limits(&arguments.resources));
    terminal.done(memory.as_slice());
    Ok(())
}

/// Returns whether a file goes to standard output.
pub(crate) fn takes_stdout(arguments: &Compare) -> bool {
    let Compare { output, moved, report, .. } = arguments;
    [output, moved, report].into_iter().flatten().any(|path| path == Path::new("-"))
}

/// Returns a table for each comparison, below the names of its results if there are several.
fn tables(steps: &[Step]) -> String {
    let all = steps.iter().map(|step| match steps {
        [_] => table(step),
        _ => format!("{} -> {}\n{}", step.report.a.path, step.report.b.path, table(step)),
    });
    all.collect::<Vec<_>>().join("\n")
}

fn table(step: &Step) -> String {
    let report = &step.report;
    let CompareReport { a, b, agreement, .. } = report;
    let mut text = String::new();
    let mut row = |name: &str, value: &str| text += &format!("{name:<15} {value}\n");
    let nodes = |count| format_counted(count, "node", "nodes");
    row("in both", &nodes(report.node_count));
    row("only in A", &format!("{}, {}", nodes(a.only_count), a.path));
    row("only in B", &format!("{}, {}", nodes(b.only_count), b.path));
    let share = 100.0 * report.moved_count as f64 / report.node_count as f64;
    row("moved", &format!("{}, {share:.1} % of those in both", nodes(report.moved_count)));
    row("NMI", &format!("{:.6}", agreement.nmi));
    row("AMI", &format!("{:.6}", agreement.ami));
    row("ARI", &format!("{:.6}", agreement.ari));
    text + &fates(a, b) + &changes(step)
}

/// Returns a row for each fate, with the number of communities of A and of B.
fn fates(a: &SideReport, b: &SideReport) -> String {
    let rows = FATES.map(|(name, of_a, of_b)| {
        [name.to_owned(), format_count(of_a(&a.fates)), format_count(of_b(&b.fates))]
    });
    let head = ["communities", "A", "B"].map(str::to_owned);
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].len());
        cells.max().unwrap_or(0).max(head[column].len())
    };
    let widths = [width(1), width(2)];
    let mut text = "\n".to_owned();
    for [name, of_a, of_b] in std::iter::once(&head).chain(&rows) {
        text += &format!("{name:<15} {of_a:>0$}  {of_b:>1$}\n", widths[0], widths[1]);
    }
    text
}

/// Number of communities with a fate.
type FateCount = fn(&FateCounts) -> u64;

/// Rows of the table of fates: a name, the count in A, the count in B.
pub(crate) const FATES: [(&str, FateCount, FateCount); 7] = [
    ("all", FateCounts::all, FateCounts::all),
    ("unchanged", |of| of.unchanged, |of| of.unchanged),
    ("continued", |of| of.continued, |of| of.continued),
    ("split", |of| of.into_several, |of| of.into_one),
    ("merged", |of| of.into_one, |of| of.into_several),
    ("mixed", |of| of.mixed, |of| of.mixed),
    ("gone, new", |of| of.alone, |of| of.alone),
];

fn changes(step: &Step) -> String {
    let Step { report, representatives } = step;
    if report.left.is_empty() {
        return String::new();
    }
    let none = Representatives::default();
    let Representatives { a, b } = representatives.as_ref().unwrap_or(&none);
    let head = ["community of A", "nodes", "left", "fate", "nodes in communities of B"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(report.left.iter().take(CHANGES_SHOWN).map(|change| {
        [
            short(&named(&change.community, a)),
            format_count(change.size),
            format_count(change.moved_count),
            change.fate.of_a().to_owned(),
            parts(change, b),
        ]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..4).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = "\n".to_owned();
    for [name, size, moved, fate, parts] in &rows {
        text += &format!(
            "{name:<0$}  {size:>1$}  {moved:>2$}  {fate:<3$}  {parts}\n",
            widths[0].max(15),
            widths[1],
            widths[2],
            widths[3]
        );
    }
    text
}

/// Lists the communities that have most nodes of a community.
fn parts(change: &Change, representatives: &BTreeMap<String, String>) -> String {
    let shown = change.parts.iter().take(PARTS_SHOWN);
    let mut all: Vec<String> = shown
        .map(|part| {
            let name = short(&named(&part.community, representatives));
            format!("{} in {name}", format_count(part.shared_count))
        })
        .collect();
    let more = change.part_count - all.len() as u64;
    if more > 0 {
        all.push(format!("{} more", format_count(more)));
    }
    all.join(", ")
}

/// Shortens a name for a table.
fn short(name: &str) -> String {
    if name.chars().count() <= NAME_SHOWN {
        return name.to_owned();
    }
    let kept: String = name.chars().take(NAME_SHOWN - 3).collect();
    kept + "..."
}
