//! Self-contained pages: no network, readable on a phone and on paper, complete without a script.
//!
//! ```text
//!  figures --chart--> Drawing --.
//!  cells   --------> Table ------+--html!--> Markup --document--> one file, the data as JSON inside
//!  words   ---------------------'
//! ```
//! `maud` escapes whatever is not [`Markup`], so names can contain anything; neither this crate nor those that make
//! pages write HTML as text, except for the style sheet, the script and the JSON. Nothing else runs: the page names the hash
//! of its one script, and browsers refuse others.

pub mod chart;
mod records;
mod table;
mod words;

pub use records::Records;
pub use table::{Table, facts};
pub use words::shorten;

use maud::{Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// Script that sorts tables and keeps drawings in place; the file says more.
const SCRIPT: &str = include_str!("script.js");
/// Hash of the script; a test of the Python package compares the two.
const SCRIPT_HASH: &str = "sha256-Gk2MYgSQtev3rSgA8r5TYIHZadGa/BQBMasqj+vvD/M=";

/// Returns a page around `body` that contains `json`, which [`data`] finds by its `name`.
pub fn document(title: &str, body: Markup, name: &str, json: &str) -> String {
    page(title, body, (name, json), None)
}

/// Returns the same page with a script for [`Records`] that are sortable and for [networks](chart::network).
pub fn interactive(title: &str, body: Markup, name: &str, json: &str) -> String {
    page(title, body, (name, json), Some(SCRIPT))
}

fn page(title: &str, body: Markup, (name, json): (&str, &str), script: Option<&str>) -> String {
    // Control characters are not allowed in HTML. Those of JSON are escaped.
    let printable = |text: &str| text.replace(char::is_control, " ");
    let body = PreEscaped(printable(&body.0));
    // `<` would end the element or begin a comment; in JSON it occurs only in strings.
    let json = PreEscaped(json.replace('<', "\\u003c"));
    let scripts = script.map_or(String::new(), |_| format!(" script-src '{SCRIPT_HASH}';"));
    let policy = format!("default-src 'none';{scripts} style-src 'unsafe-inline'; img-src data:");
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            "\n"
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy);
                title { (printable(title)) }
                link rel="icon" href="data:,";
                style { "\n" (PreEscaped(STYLE)) }
            }
            "\n"
            body {
                "\n" (body) "\n"
                script type="application/json" id=(name) { (json) }
                "\n"
                @if let Some(script) = script { script { (PreEscaped(script)) } "\n" }
            }
            "\n"
        }
        "\n"
    };
    page.0
}

/// Finds the JSON with this `name` in a page.
pub fn data<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let opening = format!("<script type=\"application/json\" id=\"{name}\">");
    let (_, after) = page.split_once(&opening)?;
    Some(after.split_once("</script>")?.0)
}
