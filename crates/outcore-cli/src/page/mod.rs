//! The report of a job as one page to look at, in the laboratory's look and with its charts.
//!
//! ```text
//!  Report --sections--> headings, tables, charts --outcore_lab::page--> HTML without script, the JSON inside
//! ```

mod found;
mod graph;
mod sweeps;
mod told;
mod work;

use crate::screen::print::json;
use outcore::Result;
use outcore::job::{CommunitiesReport, Report, ResultReport};
use outcore_lab::chart::{Drawing, escape};
use outcore_lab::page::{document, figure, table};
use outcore_lab::table::Table;
use std::fmt::Write as _;

/// The name of the JSON inside.
const DATA: &str = "outcore-report";

/// A part of the page.
struct Section {
    /// What links lead to.
    id: &'static str,
    heading: &'static str,
    /// What it tells, in a phrase.
    short: String,
    /// HTML.
    body: String,
}

impl Section {
    fn new(id: &'static str, heading: &'static str, short: impl Into<String>) -> Self {
        Self { id, heading, short: short.into(), body: String::new() }
    }

    /// A paragraph.
    fn say(mut self, class: &str, words: &str) -> Self {
        let _ = writeln!(self.body, "<p class=\"{class}\">{}</p>", escape(words));
        self
    }

    /// A table of numbers, but for the columns of `words` beside the first.
    fn table(mut self, headings: &[&str], rows: Vec<Vec<String>>, words: &[usize]) -> Self {
        if !rows.is_empty() {
            let headings = headings.iter().map(|&heading| heading.to_owned()).collect();
            table(&mut self.body, &Table { group: String::new(), headings, rows }, words);
        }
        self
    }

    /// A table of names with what each is.
    fn facts(mut self, facts: &[(&str, String)]) -> Self {
        self.body.push_str("<div class=\"scroll\"><table class=\"environment\">\n");
        for (name, value) in facts {
            let (name, value) = (escape(name), escape(value));
            let _ = writeln!(self.body, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
        }
        self.body.push_str("</table></div>\n");
        self
    }

    /// Charts below each other.
    fn charts(mut self, drawings: impl IntoIterator<Item = Drawing>) -> Self {
        drawings.into_iter().for_each(|drawing| figure(&mut self.body, &drawing));
        self
    }

    /// Small charts side by side.
    fn small(mut self, drawings: impl IntoIterator<Item = Drawing>) -> Self {
        self.body.push_str("<div class=\"small\">\n");
        self = self.charts(drawings);
        self.body.push_str("</div>\n");
        self
    }
}

/// The page of a job.
///
/// # Errors
/// `Io` if the report cannot be written as JSON.
pub(crate) fn html(report: &Report) -> Result<String> {
    let all = results(report);
    let mut sections = vec![work::stages(report)];
    sections.extend(work::input(report));
    if all.len() > 1 {
        sections.push(found::results(&all));
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
    let mut body = String::from("<section class=\"report\">\n");
    head(&mut body, report, &sections);
    for Section { id, heading, body: inside, .. } in &sections {
        let heading = escape(heading);
        let _ = write!(
            body,
            "<section class=\"experiment\" id=\"{id}\">\n<h2>{heading}</h2>\n{inside}</section>\n"
        );
    }
    body.push_str("</section>\n");
    Ok(document(&told::title(report), &body, DATA, &json(report)?))
}

/// What the job came to, and where on the page that is told.
fn head(body: &mut String, report: &Report, sections: &[Section]) {
    let _ = write!(
        body,
        "<h1>{}</h1>\n<p class=\"faint\">outcore {} · report of <code>outcore {}</code></p>\n\
         <p class=\"finding\">{}</p>\n",
        escape(&told::title(report)),
        escape(report.version),
        escape(report.job.name()),
        escape(&told::summary(report)),
    );
    if report.resumed {
        body.push_str(
            "<p class=\"warning\">This job went on from one that was stopped. Times, bytes and memory are \
             those of this process alone; counts are of the whole.</p>\n",
        );
    }
    for warning in &report.warnings {
        let _ = writeln!(body, "<p class=\"warning\">{}</p>", escape(warning));
    }
    body.push_str("<nav class=\"short\"><strong>In short</strong><ul>\n");
    for Section { id, heading, short, .. } in sections {
        let (heading, short) = (escape(heading), escape(short));
        let _ = writeln!(body, "<li><a href=\"#{id}\">{heading}</a>: {short}</li>");
    }
    body.push_str("</ul></nav>\n");
}

/// A result with what sets it apart from the others; that is nothing if there is only one.
struct Found<'a> {
    name: String,
    output: &'a str,
    communities: &'a CommunitiesReport,
}

fn results(report: &Report) -> Vec<Found<'_>> {
    if report.results.is_empty() {
        let one = |communities| Found { name: String::new(), output: &report.output, communities };
        return report.communities.iter().map(one).collect();
    }
    let all = report.results.iter();
    all.map(|ResultReport { output, communities }| Found {
        name: told::parameter(communities),
        output,
        communities,
    })
    .collect()
}

/// A share in percent, with the digits that tell it from 0 and 1.
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".into();
    }
    let share = 100.0 * part as f64 / whole as f64;
    match share {
        share if share > 0.0 && share < 0.1 => format!("{share:.3} %"),
        share if share > 99.9 && part < whole => {
            format!("{:.3} %", (1000.0 * share).floor() / 1000.0)
        }
        share => format!("{share:.1} %"),
    }
}

/// A number in few digits, of any size.
fn magnitude(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.0e}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
