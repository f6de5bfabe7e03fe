//! `outcore formats`.

use crate::args::Formats;
use crate::screen::print::json;
use outcore::Result;
use outcore::input::{FormatRow, formats};

/// Returns the table of formats, as text or as JSON.
pub(crate) fn list(arguments: &Formats) -> Result<String> {
    let rows = formats();
    if arguments.json {
        return json(&rows);
    }
    let text = |FormatRow { format, recognized_by, edges, .. }: &FormatRow| {
        format!("{format}\n  {recognized_by}\n  {edges}\n")
    };
    Ok(rows.iter().map(text).collect())
}
