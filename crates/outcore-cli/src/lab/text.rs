//! Reports as text: a heading for each experiment, its tables, and its findings.

use anstyle::Style;
use outcore::error::opt::FULL;
use outcore::{Error, Result};
use outcore_lab::Effort;
use outcore_lab::claims::{Judged, counts, summary};
use outcore_lab::report::compare::{Compared, ComparedRow, Comparison};
use outcore_lab::report::{Experiment, LabReport, Table, percent, tables, three};
use outcore_lab::tune::{Tuned, rows};
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

/// Returns the text of a report.
pub(crate) fn report(report: &LabReport) -> String {
    let effort = match report.effort {
        Effort::Quick => ", quick",
        Effort::Default => "",
        Effort::Full => ", full",
    };
    let fact = |name: &str| report.environment.get(name).map_or("?", String::as_str);
    let mut text = format!(
        "outcore {} laboratory{effort}, seed {}: {} in `{}` ({})\n",
        report.version,
        report.seed,
        fact("file system"),
        fact("directory"),
        fact("system"),
    );
    for each in &report.experiments {
        text += &experiment(each);
    }
    text + &short(&report.claims)
}

/// Returns the claims of the summary, each on at most two lines.
fn short(claims: &[Judged]) -> String {
    let mut text = String::new();
    let summary = summary(claims);
    if summary.is_empty() {
        return text;
    }
    let _ = write!(text, "\n{HEADING}in short{HEADING:#}\n");
    for claim in summary {
        text += &wrap(&format!("{}: {}", claim.judgement.name(), claim.sentence()), "  ");
    }
    text + &wrap(&counts(claims), "  ")
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
}
