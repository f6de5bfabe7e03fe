//! Reports as one self-contained page, which embeds the JSON of its reports so that it can be read back.
//!
//! The first screen answers: whether the machine was busy, what to use for each task, and which claims hold. Rows, charts,
//! facts and method are folded below.

mod first;

use super::busy::busy;
use super::charts::charts;
use super::experiment::{Experiment, LabReport};
use super::table::{Table, tables};
use crate::claims::{Judged, counts, summary};
use crate::number::percent;
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
    let title = match reports {
        [one] => format!("File I/O in {}", one.fact("directory")),
        _ => format!("File I/O of {} reports", reports.len()),
    };
    document(&title, body, DATA, &json)
}

/// Renders the judgements of all claims, with a column for each report, and links to the reports.
fn side_by_side(reports: &[LabReport]) -> Markup {
    let title = |(number, report): (usize, &LabReport)| {
        format!("{}: {}", number + 1, report.fact("directory"))
    };
    let titles: Vec<String> = reports.iter().enumerate().map(title).collect();
    let mut claims: Vec<&Judged> = Vec::new();
    for claim in reports.iter().flat_map(|report| &report.claims) {
        if claims.iter().all(|known| known.name != claim.name) {
            claims.push(claim);
        }
    }
    let cells = |claim: &&Judged| {
        let here = reports.iter().map(|report| {
            let claim = report.claims.iter().find(|each| each.name == claim.name);
            claim.map_or_else(|| html! {}, first::judged)
        });
        let says = html! { (claim.compared()) small { (claim.source) } };
        here.chain([says, html! { (claim.original) }]).collect()
    };
    let rows: Vec<Vec<Markup>> = claims.iter().map(cells).collect();
    let headings: Vec<&str> = titles.iter().map(String::as_str).chain(["claim", "there"]).collect();
    html! {
        section.report {
            h1 { "File I/O of " (reports.len()) " reports" }
            ul {
                @for (number, (report, title)) in reports.iter().zip(&titles).enumerate() {
                    li { a href={ "#r" (number) } { (title) } " · " (machine(report)) }
                }
            }
            @if !claims.is_empty() { (first::folding(&headings, &rows)) }
        }
    }
}

/// Returns what was measured, in a line.
fn machine(report: &LabReport) -> String {
    ["file system", "system", "processor"].map(|name| report.fact(name)).join(" · ")
}

fn report(number: usize, report: &LabReport) -> Markup {
    let effort = match report.effort {
        Effort::Quick => "quick: few rounds and small files",
        Effort::Default => "default",
        Effort::Full => "full",
    };
    let [before, same, open] = METHOD;
    let rows = |name: &str| format!("#r{number}-{name}");
    html! {
        section.report id={ "r" (number) } {
            h1 { "File I/O in " code { (report.fact("directory")) } }
            p.faint {
                (machine(report)) " · outcore " (report.version) " laboratory · effort: " (effort)
                " · seed " (report.seed)
            }
            @if let Some(warning) = busy(report) { p.warning { (warning) } }
            (first::cards(&report.answers, rows))
            @if !report.claims.is_empty() { (claims(&report.claims)) }
            h2 { "Rows and charts" }
            @for each in &report.experiments { (experiment(&id(number, each), each)) }
            (folded("The machine", "", html! {
                (facts(report.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()))))
            }))
            (folded("How it was measured", "", html! {
                p { (before) code { "=" } (same) code { "?" } (open) }
            }))
        }
    }
}

/// Renders the claims of the summary, and all of them folded.
fn claims(claims: &[Judged]) -> Markup {
    html! {
        h2 { "Known claims" }
        p.faint { "What is known of file I/O, and what this disk says of it: ratios of times." }
        (first::claims(summary(claims)))
        (folded("All claims", &counts(claims), first::all_claims(claims)))
    }
}

/// Renders a part that is folded away until a reader wants it, or follows a link to what is inside.
fn folded(title: &str, about: &str, body: Markup) -> Markup {
    html! {
        details.fold {
            summary { strong { (title) } @if !about.is_empty() { ": " (about) } }
            (body)
        }
    }
}

/// Returns the anchor of an experiment.
fn id(number: usize, experiment: &Experiment) -> String {
    format!("r{number}-{}", experiment.name)
}

fn experiment(id: &str, experiment: &Experiment) -> Markup {
    let body = html! {
        div id=(id) {
            ul.facts {
                @for (name, value) in &experiment.parameters { li { (name) ": " (value) } }
            }
            @if !experiment.finding.is_empty() { p.finding { (prose(&experiment.finding)) } }
            @for drawing in charts(experiment) { (drawing) }
            @for each in tables(experiment) { (table(&each)) }
            (remarks(experiment))
        }
    };
    folded(&experiment.name, &experiment.question, body)
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
