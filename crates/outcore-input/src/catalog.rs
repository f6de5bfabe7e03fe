//! The table of formats in words, as the documentation and `outcore formats` show it: formats of columns, then those
//! with a reader of their own.

use crate::format::formats::{FORMATS, Format};
use crate::lists::{KINDS, ListKind};

/// Row of the table of formats, in words.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct FormatRow {
    /// Name of the format.
    pub format: &'static str,
    /// How it is recognized.
    pub recognized_by: String,
    /// Columns of source, target and weight: names, or numbers from 1; or what is read instead of columns.
    pub edges: String,
}

/// Returns the table of formats.
pub fn formats() -> Vec<FormatRow> {
    let row = |format: &Format| {
        let [source, target, weight] = format.columns;
        let ends =
            if target.is_empty() { source.to_owned() } else { format!("{source} -> {target}") };
        let edges = match weight {
            "" => ends,
            "*" => format!("{ends}, weight by its name"),
            weight => format!("{ends}, weight = {}", weight.replace('|', " or ")),
        };
        FormatRow { format: format.name, recognized_by: format.sign.text(), edges }
    };
    let of_list = |kind: &ListKind| FormatRow {
        format: kind.name,
        recognized_by: kind.doc.into(),
        edges: kind.entries(),
    };
    FORMATS.iter().map(row).chain(KINDS.iter().map(of_list)).collect()
}
