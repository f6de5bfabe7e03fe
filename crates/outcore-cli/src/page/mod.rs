//! The report of a job as one HTML page: the communities first, and how they were made folded below.
//!
//! ```text
//!  Report --answer, network, largest, sizes--> what was found --.
//!         --quality, sweeps, stages, ...-----> folded -----------+--outcore_page--> HTML, the JSON inside
//! ```

mod answer;
pub(crate) mod compare;
mod facts;
mod found;
mod graph;
mod largest;
mod network;
mod section;
mod sweeps;
#[cfg(test)]
mod tests;
mod work;

use crate::screen::print::json;
use maud::{Markup, html};
use outcore::Result;
use outcore::job::Report;
use outcore_page::interactive;

/// Name of the JSON inside the page.
const DATA: &str = "outcore-report";
/// Maximum length of the JSON inside the page with the largest communities, whose names can be of any length.
const DATA_BYTES_MAX: usize = 1 << 20;

/// Returns the page of a job.
///
/// # Errors
/// `Io` if the report cannot be written as JSON.
pub(crate) fn html(report: &Report) -> Result<String> {
    let all = found::results(report);
    let mut open = Vec::new();
    let mut folded = Vec::new();
    if all.len() > 1 {
        open.push(found::comparison(&all));
    }
    if !all.is_empty() {
        open.extend(network::section(report, &all));
        open.extend(largest::section(report, &all));
        open.extend(compare::section(&all));
        open.push(found::sizes(report, &all));
        folded.extend([found::quality(&all), sweeps::section(report, &all)]);
    }
    folded.push(work::stages(report));
    folded.extend(work::input(report));
    if let Some(graph) = &report.graph {
        let about = [graph::degrees(graph), graph::weights(graph)];
        // Without communities, the graph is the result.
        if all.is_empty() { open.extend(about) } else { folded.extend(about) }
    }
    folded.push(work::job(report));
    let body = html! {
        section.report {
            (head(report, &all))
            @for section in &open { (section.open()) }
            section.experiment id="how" {
                h2 { "How it was made" }
                @if !all.is_empty() { p { (facts::summary(report)) } }
                @for section in &folded { (section.folded()) }
            }
        }
    };
    Ok(interactive(&facts::title(report), body, DATA, &data(report)?))
}

/// Returns the head of the page: title, answer, warnings.
fn head(report: &Report, all: &[found::Found<'_>]) -> Markup {
    html! {
        h1 { (facts::title(report)) }
        (answer::answer(report, all))
        @for warning in &report.warnings { p.warning { (warning) } }
        @if report.resumed {
            p.warning {
                "This job resumed from one that was stopped. Times, bytes and memory are for this process only; \
                 counts are for the whole job."
            }
        }
    }
}

/// Returns the JSON of the report. Leaves out the largest communities if their names make it long: the page shows them.
fn data(report: &Report) -> Result<String> {
    let whole = json(report)?;
    if whole.len() <= DATA_BYTES_MAX {
        return Ok(whole);
    }
    let mut report = report.clone();
    let results = report.results.iter_mut().map(|result| &mut result.communities);
    for found in results.chain(&mut report.communities) {
        found.described.largest = None;
    }
    json(&report)
}
