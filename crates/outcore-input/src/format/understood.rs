//! Describes how files were understood, in one line for people:
//! `edges.csv: comma, header, source -> target, weight = strength; Label unused`.
//!
//! The same text is shown on the screen and in the report. Files that were understood alike share a line.

use super::names::{self, Chosen, ColumnKind};
use super::recognize::question::{self, ColumnView};
use crate::fault::escape;
use crate::open::{FileFormat, Form};
use outcore_graph::weight::WeightTransform;
use outcore_io::error::opt::COLUMNS;
use outcore_io::units::format_count;
use std::path::Path;

/// Maximum number of unused columns that are named individually.
const UNUSED_NAMED: usize = 3;
/// Maximum number of characters shown of a column name.
const NAME_SHOWN: usize = 40;

/// Uses of the columns of a file.
pub(crate) struct Roles<'a> {
    /// Column names, if a header or a schema has them.
    pub(crate) names: &'a [&'a [u8]],
    /// Number of columns in the file.
    pub(crate) count: usize,
    /// Columns, from 0.
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
    pub(crate) transform: WeightTransform,
}

impl Roles<'_> {
    /// Describes the columns as `source -> target, weight = strength; Label unused`.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{} -> {}, ", self.column(self.source), self.column(self.target));
        text += &match (self.weight.map(|weight| self.column(weight)), self.transform) {
            (None, _) => "no weights".into(),
            (Some(weight), WeightTransform::None) => format!("weight = {weight}"),
            (Some(weight), transform) => format!("weight = {}({weight})", transform.name()),
        };
        let unused = self.unused();
        if unused.is_empty() { text } else { format!("{text}; {unused} unused") }
    }

    /// Returns the name of a column, or its number from 1.
    fn column(&self, at: usize) -> String {
        let name = self.names.get(at).map(|name| name.trim_ascii()).unwrap_or_default();
        if name.is_empty() { format!("column {}", at + 1) } else { shown_name(name) }
    }

    fn has_name(&self, at: usize) -> bool {
        self.names.get(at).is_some_and(|name| !name.trim_ascii().is_empty())
    }

    /// Lists the unused columns; adjacent columns without names share a range.
    fn unused(&self) -> String {
        let is_used =
            |at: usize| [Some(self.source), Some(self.target), self.weight].contains(&Some(at));
        let all: Vec<usize> = (0..self.count).filter(|&at| !is_used(at)).collect();
        let mut parts: Vec<String> = Vec::new();
        let mut rest = &all[..];
        while let &[first, ..] = rest
            && parts.len() < UNUSED_NAMED
        {
            let is_next =
                |&(step, at): &(usize, &usize)| *at == first + step && !self.has_name(*at);
            let length = if self.has_name(first) {
                1
            } else {
                rest.iter().enumerate().take_while(is_next).count()
            };
            parts.push(match length {
                1 => self.column(first),
                _ => format!("columns {}-{}", first + 1, first + length),
            });
            rest = &rest[length..];
        }
        let mut text = parts.join(", ");
        if !rest.is_empty() {
            text += &format!(" and {} more", format_count(rest.len() as u64));
        }
        text
    }
}

/// Returns a column name, in backticks if it could be taken for other words of the line.
pub(super) fn shown_name(name: &[u8]) -> String {
    let mut all = String::new();
    // A character takes at most four bytes.
    escape(&name[..name.len().min(4 * NAME_SHOWN)], &mut all);
    let mut shown: String = all.chars().take(NAME_SHOWN).collect();
    if shown.len() < all.len() || name.len() > 4 * NAME_SHOWN {
        shown += "...";
    }
    let is_odd = |letter: char| letter.is_whitespace() || ",;`=()".contains(letter);
    if shown.contains(is_odd) || shown.contains("->") { format!("`{shown}`") } else { shown }
}

/// Column of a file of edges, and what it is used for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ColumnUse {
    /// Number, from 1.
    pub number: u64,
    /// Name in the header; empty without one.
    pub name: String,
    /// First values, or the type in a table.
    pub values: String,
    /// `source`, `target`, `weight`, or empty if it is not used.
    pub role: &'static str,
    /// Why it is used so.
    pub why: String,
}

/// Returns the uses of all columns. `given` indicates that the caller chose them.
pub(crate) fn uses(view: &ColumnView<'_>, chosen: &Chosen, given: bool) -> Vec<ColumnUse> {
    let ends = [chosen.source, chosen.target];
    let of = |at: usize| {
        let name = view.names.get(at).copied();
        let kind = view.kinds.get(at).copied().unwrap_or(ColumnKind::Empty);
        let role = match () {
            () if at == chosen.source => "source",
            () if at == chosen.target => "target",
            () if Some(at) == chosen.weight => "weight",
            () => "",
        };
        let why = match (role, chosen.format) {
            ("", _) if kind == ColumnKind::Number && !given => {
                let with = question::columns_of(view, &[ends[0], ends[1], at]);
                format!("{}; {with} uses it", names::why_unused(name, kind))
            }
            ("", _) => names::why_unused(name, kind).into(),
            _ if given => format!("given by {COLUMNS}"),
            (_, Some(format)) => format.name.into(),
            ("weight", None) if name.is_some_and(names::is_weight) => "by its name".into(),
            ("weight", None) => "the only number that may be one".into(),
            _ if chosen.by_name => "by its name".into(),
            _ => "no other choice".into(),
        };
        let name = name.map(shown_name).unwrap_or_default();
        ColumnUse { number: at as u64 + 1, name, values: question::values(view, at), role, why }
    };
    (0..view.kinds.len()).map(of).collect()
}

impl FileFormat {
    /// Returns the name of the format, or `text` for lines of columns.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.form {
            Form::Nothing | Form::Text(_) | Form::Numbered(_) => "text",
            Form::Table(format) => format.kind(),
            Form::Lists(format) => format.kind(),
        }
    }

    /// Describes how the file was understood, without its path.
    fn understood(&self) -> String {
        let text = match &self.form {
            Form::Nothing | Form::Numbered(_) => "no lines of data".into(),
            Form::Text(format) => format.describe(),
            Form::Table(format) => format.describe(),
            Form::Lists(format) => format.describe(),
        };
        match self.unpacker {
            Some(unpacker) => format!("{unpacker}, {text}"),
            None => text,
        }
    }
}

/// Writes one line for each kind of file, with its first path.
pub(crate) fn describe(formats: &[FileFormat]) -> Vec<String> {
    let mut kinds: Vec<(String, &Path, usize)> = Vec::new();
    for file in formats.iter().filter(|file| !matches!(file.form, Form::Numbered(_))) {
        let text = file.understood();
        match kinds.iter_mut().find(|kind| kind.0 == text) {
            Some(kind) => kind.2 += 1,
            None => kinds.push((text, &file.path, 1)),
        }
    }
    let line = |(text, path, count): (String, &Path, usize)| {
        let path = match path.as_os_str() == "-" {
            true => "standard input".into(),
            false => path.display().to_string(),
        };
        match count {
            1 => format!("{path}: {text}"),
            2 => format!("{path} and 1 more file: {text}"),
            _ => format!("{path} and {} more files: {text}", format_count(count as u64 - 1)),
        }
    };
    kinds.into_iter().map(line).collect()
}
