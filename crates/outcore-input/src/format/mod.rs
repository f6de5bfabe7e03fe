//! Format of a file's lines: recognized from its first block, or given by the options.
//!
//! ```text
//!  first bytes --foreign--> refused by name
//!              --lines----> sampled lines, split by each delimiter
//!              --recognize> the best reading: header, columns (names, formats), or a question
//!              --doubts---> refused if they look like something else
//! ```
//! The delimiter determines how fields are read: quoted fields may be quoted anywhere, spaces around fields do not
//! count. Nothing else depends on which lines were sampled.

pub(crate) mod checks;
pub(crate) mod column_names;
mod faults;
pub(crate) mod foreign;
pub(crate) mod formats;
pub(crate) mod matrix_market;
pub(crate) mod members;
mod nodes;
pub(crate) mod recognize;
pub(crate) mod source;
pub(crate) mod understood;

use super::fault::{bad_input, escaped};
use super::layout::Layout;
use super::{Column, Delimiter, EdgeFormat, Header, InputOptions, Rows};
use crate::source::ColumnUse;
use column_names::{Chosen, ColumnChoice};
use outcore_graph::ids::Fingerprint;
use outcore_io::error::opt::{COLUMNS, DELIMITER};
use outcore_io::error::{Error, Result, Text};
use recognize::sampled_lines::Sample;
use recognize::{HeaderAt, LineReading, doubts, question, recognize};
use std::path::Path;
use understood::Roles;

/// Format of one file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct InputFormat {
    pub(crate) layout: Layout,
    pub(crate) has_header: bool,
    /// Names of source and target in the header, if it was recognized by them.
    pub(crate) header: Option<[Fingerprint; 2]>,
    /// Bytes before the first edge: a byte-order mark, comments, the header.
    pub(crate) preamble_bytes: u64,
    /// Lines before the first edge, and comments among them.
    pub(crate) preamble_lines: u64,
    pub(crate) preamble_comments: u64,
    delimiter_line: Option<u64>,
    /// Name of the format, if it is in the table of formats.
    pub(crate) kind: Option<String>,
    /// Prefixes of the names of sources and targets, if they are nodes of two kinds.
    pub(crate) kinds: Option<[String; 2]>,
    /// Description of the use of the columns.
    roles: String,
    /// Size that a Matrix Market file declares.
    pub(crate) matrix: Option<matrix_market::MatrixSize>,
    /// Whether the lines are nodes rather than edges.
    pub(crate) is_node_list: bool,
    /// Whether the lines are hits of a search, with scores as weights.
    #[serde(default)]
    is_search: bool,
    /// Whether the sources, and whether the targets, are whole numbers, so that a fraction is not a name there; `None`
    /// if the user chose the columns.
    #[serde(default)]
    whole: Option<[bool; 2]>,
}

impl InputFormat {
    /// Creates a format of edges whose nodes have no kinds. The first of the sampled lines is the header or an edge.
    fn of(sample: &Sample<'_>, layout: Layout, roles: String, has_header: bool) -> Self {
        Self {
            layout,
            has_header,
            header: None,
            preamble_bytes: if has_header { sample.first_end } else { sample.first_start } as u64,
            preamble_lines: sample.lines_before + u64::from(has_header),
            preamble_comments: sample.comments.len() as u64,
            delimiter_line: Some(sample.lines_before + 1),
            kind: None,
            kinds: None,
            roles,
            matrix: None,
            is_node_list: false,
            is_search: false,
            whole: None,
        }
    }

    /// Describes how the file was understood.
    fn text(&self) -> String {
        let delimiter = self.layout.delimiter;
        if self.layout.is_fasta {
            return "list of nodes, FASTA".into();
        }
        if self.is_node_list {
            return format!("list of nodes, {}", self.roles);
        }
        if self.matrix.is_some() {
            return format!("Matrix Market, {}", self.roles);
        }
        let kind = self.kind.as_ref().map_or_else(String::new, |kind| format!("{kind}, "));
        let header = if self.has_header { "header" } else { "no header" };
        format!("{kind}{}, {header}, {}", delimiter.plain_name(), self.roles)
    }

    /// Returns the delimiter and its origin.
    pub(crate) fn delimiter_text(&self) -> Text {
        let delimiter = self.layout.delimiter.with_article();
        match self.delimiter_line {
            Some(line) => format!("{delimiter}, detected from line {line}").into(),
            None => format_args!("{delimiter}, as given by {DELIMITER}").into(),
        }
    }
}

/// Detects the format of edges, communities or nodes from a file's first bytes; returns `None` if they contain only
/// comments and blank lines. `is_whole` indicates whether the file ends with them.
///
/// # Errors
/// `Usage` if the columns could mean several things; `BadInput` for a file that is not lines of edges.
pub(crate) fn detect(
    block: &[u8],
    is_whole: bool,
    path: &Path,
    options: &InputOptions,
) -> Result<Option<InputFormat>> {
    if options.rows == Rows::Nodes {
        return nodes::detect(block, is_whole, path, options);
    }
    let sample = Sample::of(block, is_whole, path, options);
    if sample.lines.is_empty() {
        return Ok(None);
    }
    let banner = matrix_market::banner(block, path, options)?;
    if banner.is_some() && options.header != Header::No {
        return matrix_market::format(&sample, banner).map(Some);
    }
    let (reading, chosen) = read(&sample)?;
    format_of(&sample, &reading, &chosen).map(Some)
}

/// Returns how the columns of lines of edges are used, detected as in [`detect`].
///
/// # Errors
/// Like [`detect`].
pub(crate) fn columns(
    block: &[u8],
    is_whole: bool,
    path: &Path,
    options: &InputOptions,
) -> Result<Option<Vec<ColumnUse>>> {
    let sample = Sample::of(block, is_whole, path, options);
    if sample.lines.is_empty() {
        return Ok(None);
    }
    let (reading, chosen) = read(&sample)?;
    Ok(Some(understood::uses(&reading.view(), &chosen, options.columns.is_some())))
}

/// Returns what the sampled lines are, and the columns to use.
fn read<'a>(sample: &Sample<'a>) -> Result<(LineReading<'a>, Chosen)> {
    let options = sample.options;
    let konect = matrix_market::konect(sample)?;
    let known = options.delimiter.or(sample.stated).or(konect.map(|_| Delimiter::Spaces));
    let mut reading = recognize(sample, known)?;
    if let Some(konect) = konect {
        konect.apply(&mut reading);
    }
    let is_asked = options.columns.is_none() && options.format != EdgeFormat::Lines;
    if is_asked && options.rows.are_memberships() && column_names::are_of_edges(&reading.names) {
        return Err(column_names::edges_as_communities(sample.path));
    }
    let chosen = choose(sample, &reading)?;
    // A single line that is too long is a bad line.
    let may_be_asked = match &options.columns {
        Some(columns) => columns.iter().any(|column| matches!(column, Column::Name(_))),
        None => reading.body().len() > 1,
    };
    if may_be_asked && options.format != EdgeFormat::Lines && reading.has_unnamed() {
        return Err(unnamed(sample.path, &chosen));
    }
    Ok((reading, chosen))
}

/// Question: which of the columns is the one that the header does not name.
fn unnamed(path: &Path, chosen: &Chosen) -> Error {
    let columns = |first: usize| {
        let ends = [Some(chosen.source), Some(chosen.target), chosen.weight];
        let numbers = ends.into_iter().flatten().map(|at| (at + first).to_string());
        COLUMNS.of(numbers.collect::<Vec<_>>().join(","))
    };
    let (rows, last) = (columns(2), columns(1));
    let hint = format_args!(
        "use {rows} if the first column has the names of rows, {last} if the last has no name"
    );
    question::doubt(path, "has lines with one column more than its header names", hint.into())
}

/// Returns the columns: those of `--columns`, otherwise those of the reading, unless they are doubtful.
fn choose(sample: &Sample<'_>, reading: &LineReading<'_>) -> Result<Chosen> {
    let Sample { path, options, .. } = *sample;
    let two_mode = options.two_mode;
    if let Some(columns) = &options.columns {
        let at = resolve(columns, reading.header_or_first(), sample)?;
        let by_name = reading.choice.is_by_name();
        let weight = at.get(2).copied().filter(|_| !options.ignore_weights);
        return Ok(Chosen { by_name, two_mode, ..Chosen::by_place(at[0], at[1], weight) });
    }
    let has_numbers =
        reading.kinds.get(2) == Some(&column_names::ColumnKind::Number) && !options.ignore_weights;
    let first = Chosen { two_mode, ..Chosen::by_place(0, 1, has_numbers.then_some(2)) };
    if options.format == EdgeFormat::Lines || reading.column_count() < 2 {
        // A single column is an error about its first line.
        return Ok(reading.choice.chosen().cloned().unwrap_or(first));
    }
    let view = reading.view();
    if options.rows == Rows::Edges
        && let Some((message, hint)) = doubts::parts(sample, reading)
    {
        return Err(question::doubt(path, message, hint));
    }
    if let Some(error) = question::columns(path, &view, options) {
        return Err(error);
    }
    let ColumnChoice::Use(mut chosen) = reading.choice.clone() else {
        unreachable!("all others are questions")
    };
    let is_certain = chosen.by_name || chosen.format.is_some() || options.rows != Rows::Edges;
    if let Some((message, hint)) = (!is_certain).then(|| doubts::doubt(sample, reading)).flatten() {
        return Err(question::doubt(path, message, hint));
    }
    if options.rows == Rows::Edges
        && chosen.format.is_none()
        && let Some((message, hint)) = doubts::fractions(&view, &chosen)
    {
        return Err(question::with_columns(question::doubt(path, message, hint), &view));
    }
    if let Some((message, hint)) = doubts::times(reading, reading.body()) {
        return Err(question::doubt(path, message, hint));
    }
    chosen.two_mode |= two_mode;
    Ok(chosen)
}

fn format_of(
    sample: &Sample<'_>,
    reading: &LineReading<'_>,
    chosen: &Chosen,
) -> Result<InputFormat> {
    let options = sample.options;
    let mut layout = Layout {
        source: chosen.source,
        target: chosen.target,
        weight: chosen.weight,
        transform: options.weight_transform,
        comment: sample.comment.clone(),
        doubts_comments: options.comment.is_none(),
        rows: options.rows,
        absent: chosen.format.map_or(Vec::new(), |format| format.absent.into()),
        ..Layout::of(reading.split.delimiter)
    };
    let is_last = layout.last_column() + 1 == reading.column_count();
    layout.is_exact = options.rows == Rows::Edges && options.columns.is_none() && is_last;
    let header_comment = match reading.header {
        HeaderAt::Comment(at) => Some(at),
        _ => None,
    };
    let is_first = reading.header == HeaderAt::First;
    let mut first_comment = None;
    let is_doubtful = |(at, comment): &(usize, &recognize::sampled_lines::Comment<'_>)| {
        Some(*at) != header_comment && is_edge(&layout, comment.line)
    };
    if let Some((_, comment)) = sample.comments.iter().enumerate().find(is_doubtful) {
        if options.rows == Rows::Edges {
            return Err(question::comment(sample.path, comment.line, &sample.comment));
        }
        first_comment = Some((comment.start, comment.lines_before));
    }
    let Layout { source, target, weight, transform, .. } = layout;
    let roles = Roles {
        names: &reading.names,
        count: reading.column_count(),
        source,
        target,
        weight,
        transform,
        rows: options.rows,
    };
    let name_at = |at: usize| reading.names.get(at).copied().unwrap_or_default();
    let is_undirected = is_directed(sample, reading)? && !options.directed;
    let unused = if is_undirected { understood::AS_UNDIRECTED } else { "" };
    let mut format = InputFormat::of(sample, layout, roles.text() + unused, is_first);
    if let Some((start, lines_before)) = first_comment {
        (format.preamble_bytes, format.preamble_lines) = (start as u64, lines_before);
    }
    format.preamble_comments -= u64::from(header_comment.is_some());
    format.delimiter_line = format.delimiter_line.filter(|_| options.delimiter.is_none());
    Ok(InputFormat {
        header: header_names(reading, chosen),
        has_header: reading.header != HeaderAt::None,
        kind: chosen.format.map(|format| format.name.to_owned()),
        kinds: chosen.two_mode.then(|| kinds_of([source, target].map(name_at))),
        is_search: has_scores(reading, chosen),
        whole: is_asked(options).then(|| {
            let is_number = |at| reading.kinds.get(at) == Some(&column_names::ColumnKind::Number);
            [source, target].map(|at| chosen.format.is_none() && is_number(at))
        }),
        ..format
    })
}

/// Returns whether a file says that edges have a direction: the first line of KONECT, the column `Type` of Gephi.
///
/// # Errors
/// `Usage` if it says that some have none, and arcs are wanted.
fn is_directed(sample: &Sample<'_>, reading: &LineReading<'_>) -> Result<bool> {
    if let Some(konect) = matrix_market::konect(sample)? {
        return Ok(konect.is_directed);
    }
    let is_type = |name: &&[u8]| name.trim_ascii().eq_ignore_ascii_case(b"type");
    let at = reading.names.iter().position(is_type).filter(|_| is_asked(sample.options));
    let values = reading.body().iter().filter_map(|row| row.get(at?));
    let [mut directed, mut undirected] = [false; 2];
    for value in values {
        directed |= value.eq_ignore_ascii_case(b"directed");
        undirected |= value.eq_ignore_ascii_case(b"undirected");
    }
    if undirected && sample.options.directed {
        let what = "has edges of `Type` undirected: a line stands for two arcs";
        return Err(matrix_market::of_both_directions(sample.path, what));
    }
    Ok(directed)
}

/// Returns whether it is the file that shows the columns of its edges, not the user.
fn is_asked(options: &InputOptions) -> bool {
    options.rows == Rows::Edges && options.columns.is_none() && options.format != EdgeFormat::Lines
}

/// Returns whether the lines are hits of a search with the scores as weights, even if the user chose the columns.
fn has_scores(reading: &LineReading<'_>, chosen: &Chosen) -> bool {
    let Some(known) = reading.choice.chosen() else { return false };
    let format = known.format.filter(|format| format.is_search);
    format.is_some() && known.weight.is_some() && known.weight == chosen.weight
}

/// Returns whether a comment has the columns of an edge.
fn is_edge(layout: &Layout, line: &[u8]) -> bool {
    if !layout.is_doubtful_comment(line) {
        return false;
    }
    let plain = Layout { comment: Vec::new(), ..layout.clone() };
    let found = super::text::general_line(&plain, true, line, 0, line.len()).0;
    matches!(found, super::text::LineKind::Edge(_))
}

/// Returns the prefixes of the names of two kinds: the names of the columns, if these are short and neither begins with
/// the other, so that no name can be of both kinds.
pub(crate) fn kinds_of(names: [&[u8]; 2]) -> [String; 2] {
    let prefix = |name: &[u8]| {
        let name = std::str::from_utf8(name.trim_ascii()).ok()?;
        (1..=KIND_LIMIT).contains(&name.len()).then(|| format!("{name}:"))
    };
    let begins = |one: &str, other: &str| one.starts_with(other) || other.starts_with(one);
    match names.map(prefix) {
        [Some(source), Some(target)] if !begins(&source, &target) => [source, target],
        _ => ["source:".into(), "target:".into()],
    }
}

/// Maximum length of the name of a kind of nodes, with which their names begin.
pub(crate) const KIND_LIMIT: usize = 31;

/// Returns the names of source and target in the header, if it was recognized by them.
fn header_names(reading: &LineReading<'_>, chosen: &Chosen) -> Option<[Fingerprint; 2]> {
    let is_known = reading.header == HeaderAt::First && chosen.by_name;
    let name = |at: usize| reading.names.get(at).map(|name| Fingerprint::of(name));
    is_known.then(|| Some([name(chosen.source)?, name(chosen.target)?]))?
}

/// Finds columns by number or by name in the header, from 0.
fn resolve(columns: &[Column], header: &[&[u8]], sample: &Sample<'_>) -> Result<Vec<usize>> {
    let (path, line, rows) = (sample.path, sample.lines_before + 1, sample.options.rows);
    let at: Result<Vec<usize>> = columns
        .iter()
        .map(|column| match column {
            Column::Number(number) => Ok(*number as usize - 1),
            Column::Name(name) => {
                let mut named =
                    (0..header.len()).filter(|&at| header[at].trim_ascii() == name.as_bytes());
                let position = named.next();
                if named.next().is_some() {
                    return Err(twice(path, name));
                }
                position.ok_or_else(|| {
                    let names = escaped(&header.join(&b", "[..]), usize::MAX);
                    bad_input(path, &format!("has no column named `{name}`"))
                        .note(format!("line {line} has the columns: {names}"))
                        .hint(match rows {
                            Rows::Edges => format_args!(
                                "use one of these, or numbers, such as {}",
                                COLUMNS.of("1,2,3")
                            )
                            .into(),
                            _ => Text::from(format_args!(
                                "use {} with one of these, or with numbers from 1",
                                rows.columns_to_type(path)
                            )),
                        })
                })
            }
        })
        .collect();
    check_distinct(&at?, path)
}

/// Error: duplicate column name.
pub(crate) fn twice(path: &Path, name: &str) -> Error {
    bad_input(path, &format!("has two columns named `{name}`"))
        .hint(format_args!("use column numbers, such as {}", COLUMNS.of("1,2,3")))
}

/// Returns the columns of source, target and weight given by `--columns`, if they are distinct.
pub(crate) fn check_distinct(columns: &[usize], path: &Path) -> Result<Vec<usize>> {
    let is_same = |(at, column): (usize, &usize)| columns[..at].contains(column);
    if !columns.iter().enumerate().any(is_same) {
        return Ok(columns.to_vec());
    }
    let path = path.display();
    let message = format_args!("{COLUMNS} names a column of `{path}` twice, by name and by number");
    Err(Error::usage(message).hint("use different columns for source, target and weight"))
}
