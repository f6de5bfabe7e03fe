//! Reports as one self-contained page, which embeds the JSON of its reports so that it can be read back.

use super::charts::charts;
use super::experiment::{Experiment, LabReport};
use super::table::{Table, tables};
use crate::claims::{Judged, counts, summary};
use crate::number::{percent, three};
use crate::row::AGAIN;
use crate::workplace::Effort;
use maud::{Markup, html};
use outcore_page::{document, facts};

/// Name of the embedded JSON.
const DATA: &str = "outcore-lab";

const METHOD: [&str; 3] = [
    "Every row was measured in several rounds; in each round all methods of an experiment ran once, in a new random \
     order, each from a file state that was verified before it (warm: all of the file in the page cache; cold: none \
     of it). Figures are medians over the rounds, with exact 95 % intervals. Ratios are geometric means over the \
     rounds; their intervals come from flipping the signs of whole rounds and hold together: at most one run in twenty \
     contains a false difference. ",
    " means that the costs differ by 2 % at most, ",
    " that the interval leaves open whether they do. All methods of a table returned the same checksum. The \
     first row ran twice per round: its ratio to itself shows the effect of noise alone.",
];

/// Returns the JSON in a page.
pub(super) fn data(page: &str) -> Option<&str> {
    outcore_page::data(page, DATA)
}

/// Renders all reports as one page.
pub fn html(reports: &[LabReport]) -> String {
    let body = html! {
        @if reports.len() > 1 { (side_by_side(reports)) }
        @for (number, each) in reports.iter().enumerate() { (report(number, each)) }
    };
    let json = serde_json::to_string(reports).unwrap_or_else(|_| "[]".into());
    document("outcore laboratory: file I/O", body, DATA, &json)
}

/// Renders the judgements of all claims, with a column for each report, and links to the reports.
fn side_by_side(reports: &[LabReport]) -> Markup {
    let fact = |report: &LabReport, name: &str| {
        report.environment.get(name).cloned().unwrap_or_else(|| "?".into())
    };
    let title = |(number, report): (usize, &LabReport)| {
        format!("{}: {}", number + 1, fact(report, "directory"))
    };
    let titles: Vec<String> = reports.iter().enumerate().map(title).collect();
    let mut claims: Vec<&Judged> = Vec::new();
    for claim in reports.iter().flat_map(|report| &report.claims) {
        if claims.iter().all(|known| known.name != claim.name) {
            claims.push(claim);
        }
    }
    let here = |report: &LabReport, name: &str| {
        let claim = report.claims.iter().find(|claim| claim.name == name);
        claim.map_or_else(String::new, |claim| match claim.ratio {
            Some(ratio) => format!("{}: {}x", claim.judgement.name(), three(ratio.middle)),
            None => claim.judgement.name().into(),
        })
    };
    let cells = |claim: &&Judged| {
        let (subject, object) = &claim.words;
        let mut cells = vec![format!("{subject} against {object}"), claim.source.clone()];
        cells.push(claim.original.clone());
        cells.extend(reports.iter().map(|report| here(report, &claim.name)));
        cells
    };
    let rows: Vec<Vec<String>> = claims.iter().map(cells).collect();
    let mut headings = vec!["claim", "source", "there"];
    headings.extend(titles.iter().map(String::as_str));
    let words: Vec<usize> = (1..headings.len()).collect();
    let (rows, headings, words) = (rows.as_slice(), headings.as_slice(), words.as_slice());
    let table = outcore_page::Table { caption: "", headings, rows, words, muted: None };
    html! {
        section.report {
            h1 { "File I/O of " (reports.len()) " reports" }
            ul {
                @for (number, (report, title)) in reports.iter().zip(&titles).enumerate() {
                    li {
                        a href={ "#r" (number) } { (title) }
                        " · " (fact(report, "file system")) " · " (fact(report, "system"))
                        " · " (fact(report, "processor"))
                    }
                }
            }
            @if !claims.is_empty() { (table) }
        }
    }
}

fn report(number: usize, report: &LabReport) -> Markup {
    let effort = match report.effort {
        Effort::Quick => "quick: few rounds and small files",
        Effort::Default => "default",
        Effort::Full => "full",
    };
    let fact = |name: &str| report.environment.get(name).map_or("?", String::as_str);
    let [before, same, open] = METHOD;
    html! {
        section.report id={ "r" (number) } {
            h1 { "File I/O of " code { (fact("directory")) } }
            p.faint {
                (fact("file system")) " · " (fact("system")) " · " (fact("processor"))
                br;
                "outcore " (report.version) " laboratory · effort: " (effort) " · seed " (report.seed)
            }
            (short(number, report))
            @for each in &report.experiments { (experiment(number, each)) }
            @if !report.claims.is_empty() { (claims(number, &report.claims)) }
            section.experiment {
                h2 { "The machine" }
                (facts(report.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()))))
            }
            section.experiment {
                h2 { "How it was measured" }
                p { (before) code { "=" } (same) code { "?" } (open) }
            }
        }
    }
}

/// Renders the claims of the summary, and links to the experiments.
fn short(number: usize, report: &LabReport) -> Markup {
    html! {
        nav.short {
            strong { "In short" }
            ul {
                @for claim in summary(&report.claims) {
                    li { strong { (claim.judgement.name()) } ": " (claim.sentence()) "." }
                }
            }
            p {
                @for each in &report.experiments {
                    a href={ "#" (id(number, each)) } { (each.name) }
                    " · "
                }
                @if report.claims.is_empty() {
                    "no known claim is about this"
                } @else {
                    a href={ "#r" (number) "-claims" } { (counts(&report.claims)) }
                }
            }
        }
    }
}

/// Renders all claims, judged.
fn claims(number: usize, claims: &[Judged]) -> Markup {
    let headings = ["claim", "source", "machine", "there", "here", "rule", "judgement", "because"];
    let cells = |claim: &Judged| {
        let here = claim.ratio.map_or_else(String::new, |ratio| {
            let [middle, low, high] = [ratio.middle, ratio.low, ratio.high].map(three);
            format!("{middle}x ({low}-{high})")
        });
        let (subject, object) = &claim.words;
        let texts = [
            format!("{}: {subject} against {object}", claim.says),
            claim.source.clone(),
            claim.machine.clone(),
            claim.original.clone(),
            here,
            claim.rule.clone(),
            claim.judgement.name().into(),
            claim.because.clone(),
        ];
        texts.to_vec()
    };
    let rows: Vec<Vec<String>> = claims.iter().map(cells).collect();
    let words = &[1, 2, 6, 7];
    let (rows, headings) = (rows.as_slice(), headings.as_slice());
    let table = outcore_page::Table { caption: "", headings, rows, words, muted: None };
    html! {
        section.experiment id={ "r" (number) "-claims" } {
            h2 { "Claims" }
            p { "What is known of file I/O, and what this disk says of it: ratios of times." }
            (table)
        }
    }
}

/// Returns the anchor of an experiment.
fn id(number: usize, experiment: &Experiment) -> String {
    format!("r{number}-{}", experiment.name)
}

fn experiment(number: usize, experiment: &Experiment) -> Markup {
    html! {
        section.experiment id=(id(number, experiment)) {
            h2 { (experiment.name) }
            p { (experiment.question) }
            ul.facts {
                @for (name, value) in &experiment.parameters { li { (name) ": " (value) } }
            }
            @if !experiment.finding.is_empty() { p.finding { (prose(&experiment.finding)) } }
            @for drawing in charts(experiment) { (drawing) }
            @for each in tables(experiment) { (table(&each)) }
            (remarks(experiment))
        }
    }
}

/// Renders text in which code stands between backticks.
fn prose(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn table(Table { group, headings, rows }: &Table) -> Markup {
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    // Besides the name, the state is text.
    let (headings, words) = (headings.as_slice(), [1].as_slice());
    let table = outcore_page::Table { caption: group, headings, rows, words, muted: Some(AGAIN) };
    html! { (table) }
}

fn remarks(experiment: &Experiment) -> Markup {
    html! {
        @if let Some(noise) = experiment.noise() {
            p.faint { "Noise: rows that do the same differ by up to " (percent(noise)) "." }
        }
        @let unequal = experiment.unequal();
        @if !unequal.is_empty() {
            p.warning {
                "Rows that do the same differ here: no difference means anything. " (unequal.join(", "))
            }
        }
        @if !(experiment.missing.is_empty() && experiment.notes.is_empty()) {
            ul {
                @for missing in &experiment.missing {
                    li { "No row for " em { (missing.name) } ": " (prose(&missing.reason)) }
                }
                @for note in &experiment.notes { li { (prose(note)) } }
            }
        }
    }
}
