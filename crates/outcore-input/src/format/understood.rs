//! Describes how files were understood, in one line for people:
//! `edges.csv: comma, header, source -> target, weight = strength; Label unused`.
//!
//! The same text is shown on the screen and in the report.

use super::column_names::{self, Chosen, ColumnKind};
use super::recognize::question::{self, ColumnView, shown_name};
use crate::options::Rows;
use crate::source::ColumnUse;
use outcore_graph::weight::WeightTransform;
use outcore_io::error::opt::COLUMNS;
use outcore_io::units::format_count;

/// Maximum number of unused columns that are named individually.
const UNUSED_NAMED: usize = 3;

/// What is said of a file of arcs if these become edges.
pub(crate) const AS_UNDIRECTED: &str = "; directed edges read as undirected";

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
    pub(crate) rows: Rows,
}

impl Roles<'_> {
    /// Describes the columns as `source -> target, weight = strength; Label unused`.
    pub(crate) fn text(&self) -> String {
        if self.rows != Rows::Edges {
            let (roles, unused) = (self.rows.roles(), self.unused());
            let text = format!(
                "{} = {}, {} = {}",
                roles[0],
                self.column(self.source),
                roles[1],
                self.column(self.target)
            );
            return if unused.is_empty() { text } else { format!("{text}; {unused} unused") };
        }
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
                format!("{}; {with} uses it", column_names::why_unused(name, kind))
            }
            ("", _) => column_names::why_unused(name, kind).into(),
            _ if given => format!("given by {COLUMNS}"),
            (_, Some(format)) => format.name.into(),
            ("weight", None) if name.is_some_and(column_names::is_weight) => "by its name".into(),
            ("weight", None) => "the only number that may be one".into(),
            _ if chosen.by_name => "by its name".into(),
            _ => "no other choice".into(),
        };
        let name = name.map(shown_name).unwrap_or_default();
        ColumnUse { number: at as u64 + 1, name, values: question::values(view, at), role, why }
    };
    (0..view.kinds.len()).map(of).collect()
}
