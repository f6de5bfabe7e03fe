//! `outcore compare`.

use crate::args::Compare;
use crate::jobs::{check_paths, limits, memory_taken, profile, work_dir, write_report};
use crate::page;
use crate::screen::Terminal;
use crate::screen::print::{json, print_text};
use outcore::compare::{Change, CompareOptions, CompareReport, FateCounts, SideReport};
use outcore::error::opt::JSON;
use outcore::input::CommunityInput;
use outcore::io::Files;
use outcore::job;
use outcore::progress::Observer;
use outcore::units::{format_count, format_counted};
use outcore::{Error, Result};
use std::path::Path;

/// Rows of the table of changes.
const CHANGES_SHOWN: usize = 10;
/// Parts of a community in a row.
const PARTS_SHOWN: usize = 3;
/// Characters of a name in a row.
const NAME_SHOWN: usize = 24;

pub(crate) fn compare(
    files: &Files,
    arguments: &Compare,
    observer: &dyn Observer,
) -> Result<CompareReport> {
    let Compare { a, b, output, moved, resources, report, .. } = arguments;
    for path in [a, b] {
        if path != Path::new("-") {
            files.entry(path)?;
        }
    }
    let result = output.as_ref().or(moved.as_ref()).unwrap_or(a);
    let options = CompareOptions {
        a: a.clone(),
        b: b.clone(),
        input: CommunityInput {
            level: arguments.level.level,
            ..arguments.read.shared(arguments.comment.as_deref(), files, None, [a, b])
        },
        output: output.clone(),
        moved: moved.clone(),
        output_header: arguments.output_header,
        limits: limits(resources),
        work_dir: work_dir(files, resources, result),
    };
    check_paths(files, job::compare_paths(&options), report.as_deref(), resources)?;
    if arguments.json && takes_stdout(arguments) {
        let message = format_args!("{JSON} prints to standard output, where `-` is written, too");
        return Err(Error::usage(message).hint("write one of the two to a file"));
    }
    let files = &profile::tuned(files, resources.profile.as_deref(), &options.work_dir, observer)?;
    let found = job::compare(files, &options, observer)?;
    write_report(files, &found, page::compare::html, report.as_deref())?;
    Ok(found)
}

/// Prints the comparison, then the last line of the job. Where a file goes to standard output, nothing else does.
pub(crate) fn show(report: &CompareReport, arguments: &Compare, terminal: &Terminal) -> Result<()> {
    if !takes_stdout(arguments) {
        let text = if arguments.json { json(report)? } else { table(report) };
        print_text(text, arguments.json)?;
    }
    let memory = memory_taken(report.peak_memory_bytes, &limits(&arguments.resources));
    terminal.done(memory.as_slice());
    Ok(())
}

/// Returns whether a file goes to standard output.
pub(crate) fn takes_stdout(arguments: &Compare) -> bool {
    let Compare { output, moved, report, .. } = arguments;
    [output, moved, report].into_iter().flatten().any(|path| path == Path::new("-"))
}

fn table(report: &CompareReport) -> String {
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
    text + &fates(a, b) + &changes(report)
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

fn changes(report: &CompareReport) -> String {
    if report.left.is_empty() {
        return String::new();
    }
    let head = ["community of A", "nodes", "left", "fate", "nodes in communities of B"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(report.left.iter().take(CHANGES_SHOWN).map(|change| {
        [
            short(&change.community.to_string()),
            format_count(change.size),
            format_count(change.moved_count),
            change.fate.of_a().to_owned(),
            parts(change),
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
fn parts(change: &Change) -> String {
    let shown = change.parts.iter().take(PARTS_SHOWN);
    let mut all: Vec<String> = shown
        .map(|part| {
            let name = short(&part.community.to_string());
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
