//! The report of a job as one HTML page.
//!
//! ```text
//!  Report --sections--> tables, charts, words --outcore_page--> HTML without script, the JSON inside
//! ```

pub(crate) mod compare;
mod facts;
mod found;
mod graph;
mod section;
mod sweeps;
mod work;

use crate::screen::print::json;
use maud::{Markup, html};
use outcore::Result;
use outcore::job::Report;
use outcore_page::document;
use section::Section;

/// Name of the JSON inside the page.
const DATA: &str = "outcore-report";

/// Returns the page of a job.
///
/// # Errors
/// `Io` if the report cannot be written as JSON.
pub(crate) fn html(report: &Report) -> Result<String> {
    let all = found::results(report);
    let mut sections = vec![work::stages(report)];
    sections.extend(work::input(report));
    if all.len() > 1 {
        sections.push(found::comparison(&all));
    }
    if !all.is_empty() {
        sections.push(sweeps::section(report, &all));
        sections.push(found::sizes(report, &all));
        sections.push(found::quality(&all));
    }
    if let Some(graph) = &report.graph {
        sections.extend([graph::degrees(graph), graph::weights(graph)]);
    }
    sections.push(work::job(report));
    let body = html! {
        section.report {
            (head(report, &sections))
            @for Section { id, heading, body, .. } in &sections {
                section.experiment id=(id) { h2 { (heading) } (body) }
            }
        }
    };
    Ok(document(&facts::title(report), body, DATA, &json(report)?))
}

/// Returns the head of the page: title, summary, warnings, and links to all sections.
fn head(report: &Report, sections: &[Section]) -> Markup {
    html! {
        h1 { (facts::title(report)) }
        p.faint { "outcore " (report.version) " · report of " code { "outcore " (report.job.name()) } }
        p.finding { (facts::summary(report)) }
        @if report.resumed {
            p.warning {
                "This job resumed from one that was stopped. Times, bytes and memory are for this process only; \
                 counts are for the whole job."
            }
        }
        @for warning in &report.warnings { p.warning { (warning) } }
        nav.short {
            strong { "In short" }
            ul {
                @for Section { id, heading, short, .. } in sections {
                    li { a href={ "#" (id) } { (heading) } ": " (short) }
                }
            }
        }
    }
}
