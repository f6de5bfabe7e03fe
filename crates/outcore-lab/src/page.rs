//! Reports as one page that needs nothing else: no script, no network, readable on a telephone and
//! on paper. It carries the JSON of its reports, so that it can be read again.

use crate::Effort;
use crate::chart::{Drawing, charts, escape};
use crate::report::{Experiment, LabReport};
use crate::rounds::AGAIN;
use crate::table::{Table, tables, three};
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");

/// The name of the JSON.
const DATA: &str = "outcore-lab";

const METHOD: &str = "Every row was measured in several rounds; in each round all methods of an \
experiment ran once, in random order, each from a file state that was proved before it (warm: all of \
the file in the page cache; cold: none of it). Figures are medians over the rounds, with 95 % \
intervals by bootstrap; ratios are formed round by round. `=` says that the interval of a ratio holds \
1: no difference was shown. All methods of a table gave the same checksum. The first row ran twice a \
round: its ratio to itself is what noise alone does.";

/// The JSON in a page.
pub(crate) fn data(page: &str) -> Option<&str> {
    let (_, after) = page.split_once(&opening(DATA))?;
    Some(after.split_once("</script>")?.0)
}

/// What comes before JSON.
fn opening(name: &str) -> String {
    format!("<script type=\"application/json\" id=\"{name}\">")
}

/// A page of this look around `body`, which is HTML, with JSON inside that has a `name`.
pub fn document(title: &str, body: &str, name: &str, json: &str) -> String {
    let (title, opening) = (escape(title), opening(name));
    // `<` would end the element or begin a comment; in JSON it stands in strings only.
    let json = json.replace('<', "\\u003c");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n{body}{opening}{json}</script>\n</body>\n</html>\n"
    )
}

/// A chart with its title.
pub fn figure(page: &mut String, drawing: &Drawing) {
    let _ = writeln!(
        page,
        "<figure><figcaption>{}</figcaption>{}{}</figure>",
        escape(&drawing.title),
        drawing.wide,
        drawing.narrow
    );
}

/// All reports as one page.
pub fn html(reports: &[LabReport]) -> String {
    let mut body = String::new();
    for (number, each) in reports.iter().enumerate() {
        report(&mut body, number, each);
    }
    let json = serde_json::to_string(reports).unwrap_or_else(|_| "[]".into());
    document("outcore laboratory: file I/O", &body, DATA, &json)
}

fn report(page: &mut String, number: usize, report: &LabReport) {
    let effort = match report.effort {
        Effort::Quick => "quick: few rounds and small files",
        Effort::Default => "default",
        Effort::Full => "full",
    };
    let fact = |name: &str| report.environment.get(name).map_or("?", String::as_str);
    let _ = write!(
        page,
        "<section class=\"report\">\n<h1>File I/O of <code>{}</code></h1>\n\
         <p class=\"faint\">{} · {} · {}<br>outcore {} laboratory · effort: {effort} · seed {}</p>\n",
        escape(fact("directory")),
        escape(fact("file system")),
        escape(fact("system")),
        escape(fact("processor")),
        escape(&report.version),
        report.seed,
    );
    contents(page, number, &report.experiments);
    for each in &report.experiments {
        experiment(page, number, each);
    }
    page.push_str("<section class=\"experiment\">\n<h2>The machine</h2>\n<div class=\"scroll\">");
    page.push_str("<table class=\"environment\">\n");
    for (name, value) in &report.environment {
        let (name, value) = (escape(name), escape(value));
        let _ = writeln!(page, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
    }
    let method = escape(METHOD).replace("`=`", "<code>=</code>");
    let _ = write!(
        page,
        "</table></div>\n</section>\n<section class=\"experiment\">\n<h2>How it was measured</h2>\n\
         <p>{method}</p>\n</section>\n</section>\n"
    );
}

/// What was found, with links to how.
fn contents(page: &mut String, number: usize, experiments: &[Experiment]) {
    page.push_str("<nav class=\"short\"><strong>In short</strong><ul>\n");
    for each in experiments {
        let name = escape(&each.name);
        let said = if each.finding.is_empty() { &each.question } else { &each.finding };
        let _ =
            writeln!(page, "<li><a href=\"#r{number}-{name}\">{name}</a>: {}</li>", escape(said));
    }
    page.push_str("</ul></nav>\n");
}

fn experiment(page: &mut String, number: usize, experiment: &Experiment) {
    let name = escape(&experiment.name);
    let _ = write!(
        page,
        "<section class=\"experiment\" id=\"r{number}-{name}\">\n<h2>{name}</h2>\n<p>{}</p>\n",
        escape(&experiment.question)
    );
    page.push_str("<ul class=\"facts\">");
    for (name, value) in &experiment.parameters {
        let _ = write!(page, "<li>{}: {}</li>", escape(name), escape(value));
    }
    page.push_str("</ul>\n");
    if !experiment.finding.is_empty() {
        let _ = writeln!(page, "<p class=\"finding\">{}</p>", escape(&experiment.finding));
    }
    charts(experiment).iter().for_each(|drawing| figure(page, drawing));
    // Beside the name, the state is in words.
    tables(experiment).iter().for_each(|each| table(page, each, &[1]));
    remarks(page, experiment);
    page.push_str("</section>\n");
}

/// A table whose first column is in words, and those of `words` too; the others are numbers.
pub fn table(page: &mut String, table: &Table, words: &[usize]) {
    page.push_str("<div class=\"scroll\" tabindex=\"0\"><table>\n");
    if !table.group.is_empty() {
        let _ = writeln!(page, "<caption>{}</caption>", escape(&table.group));
    }
    page.push_str("<thead><tr>");
    for (column, heading) in table.headings.iter().enumerate() {
        let class = class_of(column, words);
        let _ = write!(page, "<th scope=\"col\"{class}>{}</th>", escape(heading));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for cells in &table.rows {
        let is_again = cells.first().is_some_and(|name| name == AGAIN);
        page.push_str(if is_again { "<tr class=\"muted\">" } else { "<tr>" });
        for (column, cell) in cells.iter().enumerate() {
            let class = class_of(column, words);
            let _ = write!(page, "<td{class}>{}</td>", escape(cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
}

fn class_of(column: usize, words: &[usize]) -> &'static str {
    if words.contains(&column) { " class=\"words\"" } else { "" }
}

fn remarks(page: &mut String, experiment: &Experiment) {
    if let Some(noise) = experiment.noise() {
        let (low, high) = (three(noise.low), three(noise.high));
        let _ = writeln!(
            page,
            "<p class=\"faint\">Noise: the first row against itself: {low}-{high}.</p>"
        );
    }
    if experiment.is_noisy() {
        page.push_str(
            "<p class=\"warning\">The machine was unsteady while this was measured: small \
             differences mean nothing.</p>\n",
        );
    }
    if experiment.missing.is_empty() && experiment.notes.is_empty() {
        return;
    }
    page.push_str("<ul>\n");
    for missing in &experiment.missing {
        let (name, reason) = (escape(&missing.name), escape(&missing.reason));
        let _ = writeln!(page, "<li>No row <em>{name}</em>: {reason}</li>");
    }
    for note in &experiment.notes {
        let _ = writeln!(page, "<li>{}</li>", escape(note));
    }
    page.push_str("</ul>\n");
}
