//! Self-contained pages: no script, no network, readable on a phone and on paper.
//!
//! ```text
//!  figures --chart--> Drawing --.
//!  cells   --------> Table ------+--html!--> Markup --document--> one file, the data as JSON inside
//!  words   ---------------------'
//! ```
//! `maud` escapes whatever is not [`Markup`], so names can contain anything; neither this crate nor those that make
//! pages write HTML as text, except for the style sheet and the JSON.

pub mod chart;
mod table;

pub use table::{Table, facts};

use maud::{Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// Returns a page around `body` that contains `json`, which [`data`] finds by its `name`.
pub fn document(title: &str, body: Markup, name: &str, json: &str) -> String {
    // Control characters are not allowed in HTML. Those of JSON are escaped.
    let printable = |text: &str| text.replace(char::is_control, " ");
    let body = PreEscaped(printable(&body.0));
    // `<` would end the element or begin a comment; in JSON it occurs only in strings.
    let json = PreEscaped(json.replace('<', "\\u003c"));
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            "\n"
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                title { (printable(title)) }
                link rel="icon" href="data:,";
                style { "\n" (PreEscaped(STYLE)) }
            }
            "\n"
            body {
                "\n" (body) "\n"
                script type="application/json" id=(name) { (json) }
                "\n"
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
