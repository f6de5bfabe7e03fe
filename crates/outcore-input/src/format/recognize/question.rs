//! Questions: errors of a file whose columns could mean several things. They show the columns, and what to type.

use super::LineReading;
use crate::fault::escaped;
use crate::format::column_names::{self, Chosen, ColumnChoice, ColumnKind, NamedColumns};
use crate::format::members::{self, MemberColumns};
use crate::{InputOptions, Rows};
use outcore_io::error::opt::{
    COLUMNS, COMMENT, DELIMITER, FORMAT, HEADER, IGNORE_WEIGHTS, WEIGHT_TRANSFORM,
};
use outcore_io::error::{Error, Opt, Result, Text};
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

/// Maximum number of columns that are shown.
const COLUMNS_SHOWN: usize = 12;
/// Values of a column that are shown.
const VALUES_SHOWN: usize = 2;
/// Maximum number of characters shown of a column name.
const NAME_SHOWN: usize = 40;
/// Maximum number of commands that are proposed.
const COMMANDS_SHOWN: usize = 3;

/// Columns of a file and what they were recognized as, in text or in a table.
pub(crate) struct ColumnView<'a> {
    pub(crate) names: &'a [&'a [u8]],
    pub(crate) kinds: &'a [ColumnKind],
    /// Some rows after the header.
    pub(crate) rows: &'a [Vec<&'a [u8]>],
    /// Share of the rows that have the most common number of columns.
    pub(crate) share: f64,
    pub(crate) choice: &'a ColumnChoice,
    /// Whether the first line may be a header or an edge.
    pub(crate) is_header_unclear: bool,
}

impl<'a> ColumnView<'a> {
    /// Returns the distinct values of a column.
    fn values(&self, at: usize) -> HashSet<&'a [u8]> {
        self.rows.iter().filter_map(|row| row.get(at).copied()).collect()
    }
}

/// Returns the question about the columns of a file, unless they are certain.
pub(crate) fn columns(path: &Path, view: &ColumnView<'_>, options: &InputOptions) -> Option<Error> {
    let file = path.display();
    if view.is_header_unclear && view.choice.chosen().is_some() {
        let message = format!("`{file}` may begin with a header, or with an edge");
        let (yes, no) = (HEADER.of("yes"), HEADER.of("no"));
        let error = Error::usage(message).hint(format_args!(
            "use {yes} if its first line names the columns, {no} if it is an edge"
        ));
        return Some(with_columns(error, view));
    }
    let is_known = |chosen: &Chosen| chosen.by_name || chosen.format.is_some();
    let is_certain = view.choice.chosen().is_some_and(is_known);
    if view.share <= 0.5 && view.rows.len() > 2 && !is_certain && options.rows == Rows::Edges {
        return Some(with_columns(ends(path, view, options), view));
    }
    if let Some(error) = view.choice.chosen().and_then(|chosen| of_sources(&file, view, chosen)) {
        return Some(with_columns(error, view));
    }
    let error = match &view.choice {
        ColumnChoice::Use(_) => return None,
        ColumnChoice::AskWeight(chosen, numbers) => {
            let ends = [chosen.source, chosen.target];
            let count = numbers.len();
            let columns = if count == 1 { "a column" } else { &format!("{count} columns") };
            let message = format!("`{file}` has {columns} that may be the weight");
            let commands = numbers.iter().map(|&at| columns_of(view, &[ends[0], ends[1], at]));
            let error = Error::usage(message);
            hint(error, commands.take(COMMANDS_SHOWN).chain([IGNORE_WEIGHTS]))
        }
        ColumnChoice::AskTransform(chosen) => {
            let at = chosen.weight.unwrap_or_default();
            let name = view
                .names
                .get(at)
                .map_or_else(|| format!("column {}", at + 1), |name| shown_name(name));
            let message =
                format!("`{file}`: `{name}` is smaller for closer nodes, but a weight is larger");
            let (inverse, log) =
                (WEIGHT_TRANSFORM.of("reciprocal"), WEIGHT_TRANSFORM.of("neglog10"));
            let as_is = columns_of(view, &[chosen.source, chosen.target, at]);
            Error::usage(message).hint(format_args!(
                "use {inverse} for distances, {log} for E-values and P-values, {IGNORE_WEIGHTS}, or {as_is} to take it as it is"
            ))
        }
        ColumnChoice::Nodes => {
            let message =
                format!("`{file}` is a table of nodes according to its header, not of edges");
            let error = Error::usage(message);
            return Some(with_columns(error, view).hint(format_args!(
                "pass the table of edges; {} takes these columns for edges anyway",
                columns_of(view, &[0, 1])
            )));
        }
        ColumnChoice::AskMembers(found) => members(path, view, found, options.rows),
        ColumnChoice::AskEnds => ends(path, view, options),
    };
    Some(with_columns(error, view))
}

/// Returns the question about identifiers that are unique only in a source, which other columns name: record 2 of one
/// source is not record 2 of another.
fn of_sources(
    file: &impl std::fmt::Display,
    view: &ColumnView<'_>,
    chosen: &Chosen,
) -> Option<Error> {
    let [one, two] =
        column_names::sources_of_ends(view.names, chosen)?.map(|at| shown_name(view.names[at]));
    let ends = [Some(chosen.source), Some(chosen.target), chosen.weight];
    let columns = columns_of(view, &ends.into_iter().flatten().collect::<Vec<_>>());
    let message =
        format!("`{file}` has identifiers that may be unique only with `{one}` and `{two}`");
    Some(Error::usage(message).hint(format_args!(
        "use {columns} if they are unique without, otherwise join source and identifier in one column"
    )))
}

fn ends(path: &Path, view: &ColumnView<'_>, options: &InputOptions) -> Error {
    if options.rows != Rows::Edges {
        let none = MemberColumns { nodes: Vec::new(), values: Vec::new(), is_named: false };
        return members(path, view, &none, options.rows);
    }
    let file = path.display();
    if view.share <= 0.5 {
        let message = format!("lines of `{file}` have different numbers of columns");
        let lists = FORMAT.of("adjlist");
        return Error::usage(message).hint(format_args!(
            "use {lists} if each line is a node and its neighbors, {} if the first two columns are the edge", COLUMNS.of("1,2")
        ));
    }
    let message =
        format!("`{file}` does not say which of its {} columns are the edge", view.kinds.len());
    let error = match is_relation(view) {
        true => {
            Error::usage(message).note("the second column looks like a relation between two names")
        }
        false => Error::usage(message),
    };
    hint(error, commands(view).into_iter())
}

/// Returns the node and its community among the values that objects name.
///
/// # Errors
/// `Usage` if several could be either.
pub(crate) fn of_objects(
    path: &Path,
    names: &[&[u8]],
    kinds: &[ColumnKind],
    row: Vec<&[u8]>,
    options: &InputOptions,
) -> Result<[usize; 2]> {
    let (rows, transform) = (options.rows, options.weight_transform);
    let choice = NamedColumns { names, kinds, rows, transform, weighted: false }.choose();
    let is_known = |at: usize| members::is_named(names[at]);
    if let Some(chosen) = choice.chosen()
        && (is_known(chosen.source) || is_known(chosen.target))
    {
        return Ok([chosen.source, chosen.target]);
    }
    let (rows, choice) = (&[row][..], &choice);
    let view = ColumnView { names, kinds, rows, share: 1.0, choice, is_header_unclear: false };
    Err(columns(path, &view, options)
        .unwrap_or_else(|| with_columns(ends(path, &view, options), &view)))
}

/// Returns the question which columns are the node and its community, or its priority.
fn members(path: &Path, view: &ColumnView<'_>, found: &MemberColumns, rows: Rows) -> Error {
    let file = path.display();
    let value = if rows == Rows::Numbers { "priority" } else { "community" };
    let several = |columns: &[usize], what: &str| {
        let count = columns.len();
        (count > 1).then(|| format!("`{file}` has {count} columns that may be the {what}"))
    };
    let message = several(&found.values, value).or_else(|| several(&found.nodes, "node"));
    let message = message.unwrap_or_else(|| {
        format!("`{file}` does not say which columns are the node and its {value}")
    });
    let all: Vec<usize> = (0..view.kinds.len()).collect();
    let or_all =
        |columns: &'_ [usize]| if columns.is_empty() { all.clone() } else { columns.to_vec() };
    let (nodes, values) = (or_all(&found.nodes), or_all(&found.values));
    let values = &values;
    let pairs = nodes.iter().flat_map(|&node| values.iter().map(move |&value| [node, value]));
    let is_pair = |pair: &[usize; 2]| pair[0] != pair[1];
    let option = |pair: [usize; 2]| rows.columns_of(path, named_columns(view, &pair));
    let options = pairs.filter(is_pair).map(option);
    hint(Error::usage(message), options.take(COMMANDS_SHOWN))
}

/// Returns whether the second of three columns is a sign, or words that name no node while the others share names.
fn is_relation(view: &ColumnView<'_>) -> bool {
    let rows = view.rows;
    let is_sign = |field: &&[u8]| !field.is_empty() && field.iter().all(u8::is_ascii_punctuation);
    let [sources, relations, targets] = [0, 1, 2].map(|at| view.values(at));
    view.kinds.len() == 3
        && (relations.iter().all(is_sign)
            || relations.len() * 2 <= rows.len()
                && relations.is_disjoint(&sources)
                && relations.is_disjoint(&targets))
}

/// Returns likely columns: those that share names, otherwise the first ones of text; without and with a weight.
fn commands(view: &ColumnView<'_>) -> Vec<Opt> {
    let count = view.kinds.len().min(COLUMNS_SHOWN);
    let of_text: Vec<usize> =
        (0..count).filter(|&at| view.kinds.get(at) == Some(&ColumnKind::Text)).collect();
    let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |two| (one, two)));
    let shares = |&(one, two): &(usize, usize)| {
        view.kinds.get(one) == view.kinds.get(two)
            && view.values(one).intersection(&view.values(two)).count() * 4 > view.rows.len()
    };
    let by_place = match of_text[..] {
        [one, two, ..] if is_relation(view) => (one, if two == 1 { 2 } else { two }),
        [one, two, ..] => (one, two),
        _ => (0, 1),
    };
    let mut ends: Vec<(usize, usize)> = pairs.filter(shares).take(1).collect();
    ends.extend((!ends.contains(&by_place)).then_some(by_place));
    let mut found = Vec::new();
    for (one, two) in ends {
        let is_weight =
            |&at: &usize| at != one && at != two && view.kinds.get(at) == Some(&ColumnKind::Number);
        found.push(columns_of(view, &[one, two]));
        found.extend((0..count).rev().find(is_weight).map(|at| columns_of(view, &[one, two, at])));
    }
    found.truncate(COMMANDS_SHOWN);
    found
}

/// Returns `--columns` for these columns, by name where the header has one.
pub(in crate::format) fn columns_of(view: &ColumnView<'_>, columns: &[usize]) -> Opt {
    COLUMNS.of(named_columns(view, columns))
}

/// Returns columns as they are typed: by name where the header has one.
fn named_columns(view: &ColumnView<'_>, columns: &[usize]) -> String {
    let is_plain = |name: &&[u8]| {
        !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let names: Option<Vec<&[u8]>> =
        columns.iter().map(|&at| view.names.get(at).copied().filter(is_plain)).collect();
    let is_unique = |names: &Vec<&[u8]>| {
        names.iter().all(|name| {
            view.names.iter().filter(|other| other == &name).count() == 1
                && !name[0].is_ascii_digit()
        })
    };
    let texts: Vec<String> = match names.filter(is_unique) {
        Some(names) => {
            names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
        }
        None => columns.iter().map(|at| (at + 1).to_string()).collect(),
    };
    texts.join(",")
}

fn hint(error: Error, options: impl Iterator<Item = Opt>) -> Error {
    let mut options = options.peekable();
    let Some(first) = options.next() else { return error };
    let mut text = Text::from(format_args!("use {first}"));
    while let Some(option) = options.next() {
        let joint = if options.peek().is_some() { "," } else { " or" };
        text = format_args!("{text}{joint} {option}").into();
    }
    error.hint(text)
}

/// Adds a note for each column, with some of its values.
pub(in crate::format) fn with_columns(mut error: Error, view: &ColumnView<'_>) -> Error {
    let count = view.kinds.len();
    for at in 0..count.min(COLUMNS_SHOWN) {
        error = error.note(describe_column(view, at));
    }
    match count.saturating_sub(COLUMNS_SHOWN) {
        0 => error,
        more => error.note(format!("and {more} more columns")),
    }
}

/// Returns a column's number, name and first values.
pub(in crate::format) fn describe_column(view: &ColumnView<'_>, at: usize) -> String {
    let mut text = format!("column {}", at + 1);
    if let Some(name) = view.names.get(at).filter(|name| !name.is_empty()) {
        // Writing to a string cannot fail.
        let _ = write!(text, " `{}`", shown_name(name).trim_matches('`'));
    }
    text + ": " + &values(view, at)
}

/// Returns the first values of a column.
pub(in crate::format) fn values(view: &ColumnView<'_>, at: usize) -> String {
    let values = view.rows.iter().filter_map(|row| row.get(at));
    values.take(VALUES_SHOWN).map(|value| escaped(value, 40)).collect::<Vec<_>>().join(", ")
}

/// Returns a column name, in backticks if it could be taken for other words of the line.
pub(in crate::format) fn shown_name(name: &[u8]) -> String {
    // A character takes at most four bytes.
    let all = escaped(name, 4 * NAME_SHOWN);
    let mut shown: String = all.chars().take(NAME_SHOWN).collect();
    if shown.len() < all.len() || name.len() > 4 * NAME_SHOWN {
        shown += "...";
    }
    let is_odd = |letter: char| letter.is_whitespace() || ",;`=()".contains(letter);
    if shown.contains(is_odd) || shown.contains("->") { format!("`{shown}`") } else { shown }
}

/// Returns the question which of two delimiters separates the columns.
pub(in crate::format) fn delimiter(
    path: &Path,
    one: &LineReading<'_>,
    other: &LineReading<'_>,
) -> Error {
    let names = [one, other].map(|reading| reading.split.delimiter.name());
    let message = format!(
        "columns of `{}` may be separated by a {} or a {}",
        path.display(),
        names[0],
        names[1]
    );
    let show = |reading: &LineReading<'_>| {
        let row = reading.split.rows.first().map(|row| row.join(&b" | "[..])).unwrap_or_default();
        format!("by {}: {}", reading.split.delimiter.plain_name(), escaped(&row, 80))
    };
    let [first, second] = [one, other].map(|reading| DELIMITER.of(reading.split.delimiter.typed()));
    Error::usage(message)
        .note(show(one))
        .note(show(other))
        .hint(format_args!("use {first} or {second}"))
}

/// Returns the question whether a line that begins like a comment is an edge.
pub(in crate::format) fn comment(path: &Path, line: &[u8], comment: &[u8]) -> Error {
    let text = escaped(line, 80);
    let mark = String::from_utf8_lossy(comment).into_owned();
    let message =
        format!("`{}` has a line that may be a comment or an edge: `{text}`", path.display());
    let (none, all) = (COMMENT.of("''"), COMMENT.of(format_args!("'{mark}'")));
    Error::usage(message).hint(format_args!(
        "use {none} if names begin with `{mark}`, {all} if such lines are comments"
    ))
}

/// Returns the question about a format that a doubt names.
pub(in crate::format) fn doubt(path: &Path, message: &str, hint: Text) -> Error {
    Error::usage(format!("`{}` {message}", path.display()))
        .note(format_args!("{} reads it as lines anyway", FORMAT.of("lines")))
        .hint(hint)
}
