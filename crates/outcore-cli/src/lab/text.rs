//! Reports as text: first what to use and which claims hold, on a screen; then, on request, the tables of each experiment.

use anstyle::Style;
use outcore::error::opt::{FULL, HTML, OUTPUT};
use outcore::{Error, Result};
use outcore_lab::Effort;
use outcore_lab::claims::{Judged, Judgement, counts, summary};
use outcore_lab::report::busy::busy;
use outcore_lab::report::compare::{Compared, ComparedRow, Comparison};
use outcore_lab::report::{Answer, Experiment, LabReport, Table, percent, tables, three};
use outcore_lab::tune::{Tuned, rows};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

const HEADING: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// Width of prose, in columns.
const WIDTH: usize = 88;

/// Prints text, with colors if the user wants them.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", text.trim_end())
        .and_then(|()| out.flush())
        .map_err(|e| Error::io("write", Path::new("-"), e))
}

/// Returns the text of a report: at most 60 lines, or with all tables if `is_verbose`.
pub(crate) fn report(report: &LabReport, is_verbose: bool) -> String {
    let effort = match report.effort {
        Effort::Quick => ", quick",
        Effort::Default => "",
        Effort::Full => ", full",
    };
    let [files, directory, system] =
        ["file system", "directory", "system"].map(|name| report.fact(name));
    let (version, seed) = (&report.version, report.seed);
    let mut text = format!(
        "outcore {version} laboratory{effort}, seed {seed}: {files} in `{directory}` ({system})\n"
    );
    if let Some(warning) = busy(report) {
        text += &wrap(&warning, "");
    }
    text += &answers(&report.answers);
    if report.answers.iter().all(|answer| answer.advice.is_empty()) {
        for each in report.experiments.iter().filter(|each| !each.finding.is_empty()) {
            text += &wrap(&format!("{}: {}", each.name, each.finding), "");
        }
    }
    text += &claims(&report.claims);
    if is_verbose {
        return report.experiments.iter().fold(text, |text, each| text + &experiment(each));
    }
    text + &format!("\n`--verbose` prints every row; {OUTPUT} and {HTML} keep them, with charts\n")
}

/// Returns what to use for each task.
fn answers(answers: &[Answer]) -> String {
    let mut text = format!("\n{HEADING}what to use{HEADING:#}\n");
    for answer in answers {
        let Some(naive) = answer.naive() else {
            let _ = writeln!(text, "{}: not measured, use `{}`", answer.task, answer.command());
            continue;
        };
        let _ = writeln!(text, "{}, times as fast as `{naive}`", answer.task);
        for each in &answer.advice {
            let (times, certainty) = (each.times_text(), each.certainty());
            text += &wrap(&format!("{}: `{}`, {times}, {certainty}", each.when, each.way), "  ");
        }
    }
    text
}

/// Returns the claims of the summary, each on a line below its source, and why some of them were not measured.
fn claims(claims: &[Judged]) -> String {
    let summary = summary(claims);
    if summary.is_empty() {
        return String::new();
    }
    let cells = |claim: &&Judged| {
        vec![claim.judgement.name().into(), claim.compared(), claim.here(), claim.original.clone()]
    };
    let headings = ["verdict", "claim", "here", "there"].map(String::from).to_vec();
    let rows = summary.iter().map(cells).collect();
    let table = lines(&Table { group: String::new(), headings, rows });
    let mut lines = table.lines();
    let mut text = format!("\n{HEADING}known claims{HEADING:#}\n");
    text.extend(lines.next().map(|headings| format!("{headings}\n")));
    let mut title = None;
    for (claim, line) in summary.iter().zip(lines) {
        if title.replace(&claim.title) != Some(&claim.title) {
            let _ = writeln!(text, "{}: {}", claim.source, claim.title);
        }
        let _ = writeln!(text, "{line}");
    }
    let missing = summary.iter().filter(|claim| claim.judgement == Judgement::NotMeasured);
    let reasons: BTreeSet<&str> = missing.map(|claim| claim.because.as_str()).collect();
    for reason in reasons {
        text += &wrap(&format!("not measured: {reason}"), "");
    }
    text + &wrap(&counts(claims), "")
}

fn experiment(experiment: &Experiment) -> String {
    let mut text = format!("\n{HEADING}{}{HEADING:#}\n", experiment.name);
    text += &wrap(&experiment.question, "");
    let parameters: Vec<String> =
        experiment.parameters.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    if !parameters.is_empty() {
        text += &wrap(&parameters.join(" · "), "");
    }
    for table in tables(experiment) {
        text.push('\n');
        if !table.group.is_empty() {
            let _ = writeln!(text, "{}", table.group);
        }
        text += &lines(&table);
    }
    text.push('\n');
    if !experiment.finding.is_empty() {
        text += &wrap(&format!("=> {}", experiment.finding), "");
    }
    for missing in &experiment.missing {
        text += &wrap(&format!("no row `{}`: {}", missing.name, missing.reason), "  ");
    }
    for note in &experiment.notes {
        text += &wrap(&format!("note: {note}"), "  ");
    }
    text + &noise(experiment)
}

fn noise(experiment: &Experiment) -> String {
    let Some(noise) = experiment.noise() else { return String::new() };
    let repeated = match experiment.repeated {
        0 => String::new(),
        runs => format!("; {runs} disturbed runs were repeated"),
    };
    let text = format!("noise: rows that do the same differ by up to {}{repeated}", percent(noise));
    let mut text = wrap(&text, "  ");
    let unequal = experiment.unequal();
    if !unequal.is_empty() {
        let advice = format!(
            "no difference means anything here, because rows that do the same differ: {}; stop \
             other work, or let {FULL} run more rounds",
            unequal.join(", ")
        );
        text += &wrap(&advice, "  ");
    }
    text
}

/// Returns the differences between two reports, as text.
pub(crate) fn comparison(comparison: &Comparison) -> String {
    let mut text = String::new();
    if !comparison.differences.is_empty() {
        let _ = writeln!(text, "{HEADING}differences{HEADING:#}");
    }
    for each in &comparison.differences {
        let of = |side: &Option<String>| side.clone().unwrap_or_else(|| "unknown".into());
        text += &wrap(&format!("{}: {} -> {}", each.name, of(&each.first), of(&each.second)), "  ");
    }
    for each in &comparison.experiments {
        text += &compared(each);
    }
    for (which, names) in [("first", &comparison.only_first), ("second", &comparison.only_second)] {
        if !names.is_empty() {
            text += &wrap(&format!("in the {which} report only: {}", names.join(", ")), "");
        }
    }
    if comparison.experiments.is_empty() {
        text += "the reports have no experiment in common\n";
    }
    text
}

fn compared(compared: &Compared) -> String {
    let mut text = format!("\n{HEADING}{}{HEADING:#}\n", compared.name);
    for unlike in &compared.unlike {
        text += &wrap(&format!("not the same work: {unlike}"), "  ");
    }
    let cells = |row: &ComparedRow| {
        let ratio = match row.ratio {
            Some(ratio) => ratio.ratio_text(),
            None => "-".into(),
        };
        let name = match row.group.as_str() {
            "" => row.name.clone(),
            group => format!("{group}: {}", row.name),
        };
        let state = row.state.name().to_owned();
        vec![name, state, three(row.first), three(row.second), ratio]
    };
    let of = |which: &str| format!("{which} {}", compared.figure);
    text += &lines(&Table {
        group: String::new(),
        headings: vec![
            "method".into(),
            "state".into(),
            of("first"),
            of("second"),
            "second / first".into(),
        ],
        rows: compared.rows.iter().map(cells).collect(),
    });
    for (which, names) in [("first", &compared.only_first), ("second", &compared.only_second)] {
        if !names.is_empty() {
            text += &wrap(&format!("in the {which} report only: {}", names.join(", ")), "  ");
        }
    }
    text
}

/// Returns the results of tuning, as text.
pub(crate) fn tuned(tuned: &Tuned) -> String {
    let mut rows = rows(&tuned.profile).into_iter();
    let headings = rows.next().unwrap_or_default();
    let mut text = lines(&Table { group: String::new(), headings, rows: rows.collect() });
    for note in &tuned.notes {
        text += &wrap(&format!("note: {note}"), "  ");
    }
    text
}

/// Formats a table with right-aligned figures and left-aligned names.
fn lines(table: &Table) -> String {
    let all: Vec<&Vec<String>> = std::iter::once(&table.headings).chain(&table.rows).collect();
    let widths: Vec<usize> = (0..table.headings.len())
        .map(|column| all.iter().map(|cells| width(&cells[column])).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for (number, cells) in all.iter().enumerate() {
        let mut line = String::new();
        for (column, (cell, &columns)) in cells.iter().zip(&widths).enumerate() {
            let gap = " ".repeat(columns - width(cell));
            match column {
                0 => line += &format!("  {cell}{gap}"),
                1 => line += &format!("  {cell}{gap}"),
                _ => line += &format!("  {gap}{cell}"),
            }
        }
        let line = line.trim_end();
        match number {
            0 => text += &format!("{FAINT}{line}{FAINT:#}\n"),
            _ => text += &format!("{line}\n"),
        }
    }
    text
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Wraps text into lines that begin with `indent`; lines after the first are indented a little further.
fn wrap(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = indent.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && width(&line) + 1 + width(word) > WIDTH {
            lines += &line;
            lines.push('\n');
            line = format!("{indent}   ");
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_lab::claims::CLAIMS;
    use outcore_lab::report::{Advice, SCHEMA, answers};
    use outcore_lab::statistics::Interval;

    #[test]
    fn figures_are_right_aligned() {
        let table = Table {
            group: String::new(),
            headings: ["method", "state", "wall ms"].map(String::from).to_vec(),
            rows: vec![
                ["read", "warm", "1.25"].map(String::from).to_vec(),
                ["mmap, µ", "cold", "1,204"].map(String::from).to_vec(),
            ],
        };
        let expected =
            "  method   state  wall ms\n  read     warm      1.25\n  mmap, µ  cold     1,204\n";
        assert_eq!(anstream::adapter::strip_str(&lines(&table)).to_string(), expected);
    }

    #[test]
    fn prose_is_wrapped() {
        let text = wrap(&"word ".repeat(40), "  ");
        assert!(
            text.lines().count() == 3 && text.lines().all(|line| line.len() <= WIDTH),
            "{text}"
        );
        assert_eq!(wrap("", ""), "\n");
    }

    /// The longest names of methods, and no claim measured.
    #[test]
    fn all_answers_and_claims_fit_on_a_screen() {
        let advice = |when: &str, way: &str| Advice {
            when: when.into(),
            way: way.into(),
            figure: "123 ns each".into(),
            naive: "seek and write, in the order of the input".into(),
            times: Some(Interval { middle: 12.3, low: 11.1, high: 13.9 }),
            is_sure: false,
        };
        let mut answers = answers(&[]);
        for answer in &mut answers {
            answer.advice = vec![
                advice("larger than memory", "64-way merge in place of 40,000-edge runs, 2 passes"),
                advice("in memory", "io_uring direct, unsorted, depth 64"),
            ];
        }
        let facts = [("pressure before", "cpu 96.00 %, io 88.00 %, memory 77.00 %")];
        let all = LabReport {
            schema: SCHEMA,
            version: "0.1.0".into(),
            effort: Effort::Quick,
            seed: 4_000_000_000,
            environment: facts.map(|(name, value)| (name.into(), value.into())).into(),
            answers,
            experiments: Vec::new(),
            claims: CLAIMS.iter().map(|claim| claim.unmeasured("why".into())).collect(),
        };
        let text = report(&all, false);
        assert!(text.lines().count() <= 60, "{} lines: {text}", text.lines().count());
        let is_long = |line: &&str| width(line) > WIDTH + 4;
        assert_eq!(text.lines().skip(1).find(is_long), None, "{text}");
        assert!(text.contains("not measured: why") && text.contains("machine was busy"), "{text}");
    }
}
