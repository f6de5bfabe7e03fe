//! Reports for other programs: CSV with every figure of every row; answers, claims and tables as Markdown.

use super::answers::Answer;
use super::busy::busy;
use super::column::Column;
use super::experiment::{Experiment, LabReport};
use super::table::{Table, tables};
use crate::claims::{Judged, counts};
use crate::row::Row;
use std::fmt::Write as _;

/// Columns of the CSV before the figures, which have the names of [`Column::NAMED`], and after them.
const BEFORE: [&str; 7] =
    ["report", "directory", "experiment", "group", "method", "state", "rounds"];
const AFTER: [&str; 3] = ["ratio", "ratio_low", "ratio_high"];

/// Returns all rows of all reports as one table (RFC 4180): medians over the rounds, not rounded; empty where a row has no
/// such figure. Reports are numbered from 1.
pub fn csv(reports: &[LabReport]) -> String {
    let figures = Column::NAMED.iter().map(|(name, _)| *name);
    let mut text = line(BEFORE.into_iter().chain(figures).chain(AFTER));
    for (number, report) in (1..).zip(reports) {
        let directory = report.environment.get("directory").map_or("", String::as_str);
        for experiment in &report.experiments {
            for row in &experiment.rows {
                text += &csv_row(number, directory, &experiment.name, row);
            }
        }
    }
    text
}

fn csv_row(number: usize, directory: &str, experiment: &str, row: &Row) -> String {
    let (number, rounds) = (number.to_string(), row.samples.len().to_string());
    let before = [&number, directory, experiment, &row.group, &row.name, row.state.name(), &rounds];
    let figure = |value: Option<f64>| value.filter(|value| value.is_finite());
    let figures = Column::NAMED.iter().map(|(_, column)| figure(column.value(row)));
    let ratio = row.ratio.map(|ratio| [ratio.middle, ratio.low, ratio.high]);
    let after = (0..AFTER.len()).map(|at| figure(ratio.map(|ratio| ratio[at])));
    let numbers: Vec<String> = figures
        .chain(after)
        .map(|value| value.map_or_else(String::new, |value| value.to_string()))
        .collect();
    line(before.into_iter().chain(numbers.iter().map(String::as_str)))
}

/// Returns a line of CSV.
fn line<'t>(cells: impl Iterator<Item = &'t str>) -> String {
    let quoted = cells.map(|cell| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    });
    quoted.collect::<Vec<_>>().join(",") + "\r\n"
}

/// Returns the answers, claims, tables and findings of all reports as Markdown.
pub fn markdown(reports: &[LabReport]) -> String {
    let mut text = String::new();
    for report in reports {
        let [directory, files, system, processor] =
            ["directory", "file system", "system", "processor"]
                .map(|name| prose(report.fact(name)));
        let _ = write!(
            text,
            "# File I/O in {directory}\n\n{files}, {system}, {processor}; outcore {}, seed {}\n\n",
            report.version, report.seed
        );
        text.extend(busy(report).map(|warning| prose(&warning) + "\n\n"));
        text += &answers(&report.answers);
        text += &claims(&report.claims);
        report.experiments.iter().for_each(|each| text += &experiment(each));
    }
    text.trim_end().to_owned() + "\n"
}

fn experiment(experiment: &Experiment) -> String {
    let mut text = format!("## {}\n\n{}\n\n", prose(&experiment.name), prose(&experiment.question));
    let parameters: Vec<String> = experiment
        .parameters
        .iter()
        .map(|(name, value)| format!("{}: {}", prose(name), prose(value)))
        .collect();
    if !parameters.is_empty() {
        let _ = write!(text, "{}\n\n", parameters.join(" · "));
    }
    for Table { group, headings, rows } in tables(experiment) {
        if !group.is_empty() {
            let _ = write!(text, "**{}**\n\n", prose(&group));
        }
        // Besides the name, the state is text; figures are right-aligned.
        text += &table(&headings, &rows, 2);
    }
    if !experiment.finding.is_empty() {
        let _ = write!(text, "{}\n\n", prose(&experiment.finding));
    }
    for note in &experiment.notes {
        let _ = writeln!(text, "- {}", prose(note));
    }
    if experiment.notes.is_empty() { text } else { text + "\n" }
}

fn answers(answers: &[Answer]) -> String {
    let headings = ["task", "case", "use", "times", "as fast as", "sure"].map(String::from);
    let rows = answers.iter().flat_map(|answer| {
        let advice = answer.advice.iter().map(move |each| {
            let [way, naive] = [&each.way, &each.naive].map(|way| format!("`{way}`"));
            let (times, sure) = (each.times_text(), each.certainty().to_owned());
            vec![answer.task.clone(), each.when.clone(), way, times, naive, sure]
        });
        let measures = || format!("not measured: `{}`", answer.command());
        let open = answer.advice.is_empty().then(|| {
            let [case, times, naive, sure] = [const { String::new() }; 4];
            vec![answer.task.clone(), case, measures(), times, naive, sure]
        });
        advice.chain(open)
    });
    let rows: Vec<Vec<String>> = rows.collect();
    format!("## What to use\n\n{}", table(&headings, &rows, usize::MAX))
}

fn claims(claims: &[Judged]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let headings = ["verdict", "claim", "here", "there", "source", "because"].map(String::from);
    let cells = |claim: &Judged| {
        let (verdict, compared) = (claim.judgement.name().to_owned(), claim.compared());
        let Judged { original, source, because, .. } = claim.clone();
        vec![verdict, compared, claim.here(), original, source, because]
    };
    let rows: Vec<Vec<String>> = claims.iter().map(cells).collect();
    format!("## Known claims\n\n{}.\n\n{}", counts(claims), table(&headings, &rows, usize::MAX))
}

/// Returns a table whose first columns are text and whose others are figures.
fn table(headings: &[String], rows: &[Vec<String>], words: usize) -> String {
    let row = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| prose(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = |at: usize| if at < words { "---" } else { "---:" };
    let rules: Vec<&str> = (0..headings.len()).map(rule).collect();
    let mut text = row(headings) + &format!("| {} |\n", rules.join(" | "));
    rows.iter().for_each(|cells| text += &row(cells));
    text + "\n"
}

/// Returns text that Markdown shows as it is: on one line, in a cell of a table. Code stays between backticks.
fn prose(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (number, part) in text.split('`').enumerate() {
        if number > 0 {
            shown.push('`');
        }
        for letter in part.chars() {
            let is_code = number % 2 == 1;
            match letter {
                '\n' | '\r' => shown.push(' '),
                '|' => shown += "\\|",
                '\\' | '*' | '_' | '<' | '>' | '[' | ']' | '#' if !is_code => {
                    shown.push('\\');
                    shown.push(letter);
                }
                _ => shown.push(letter),
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_have_to_be() {
        let cells = ["a b", "x, y", "say \"so\"", "two\nlines", ""];
        assert_eq!(line(cells.into_iter()), "a b,\"x, y\",\"say \"\"so\"\"\",\"two\nlines\",\r\n");
    }

    #[test]
    fn nothing_leaves_its_cell_of_a_table() {
        assert_eq!(prose("a|b\n*c* `d_e|<f>` <g>"), "a\\|b \\*c\\* `d_e\\|<f>` \\<g\\>");
    }
}
