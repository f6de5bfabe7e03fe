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

pub(crate) mod foreign;
pub(crate) mod formats;
pub(crate) mod matrix_market;
pub(crate) mod names;
mod nodes;
pub(crate) mod recognize;
pub(crate) mod understood;

use super::fault::escape;
use super::text::Fields;
use super::{Column, Delimiter, EdgeFormat, Header, InputOptions, Rows, WeightTransform};
use names::{Chosen, ColumnChoice};
use outcore_graph::ids::Fingerprint;
use outcore_io::error::opt::{COLUMNS, DELIMITER};
use outcore_io::error::{Error, ErrorKind, Result, Text};
pub(crate) use recognize::lines::BYTE_ORDER_MARK;
use recognize::lines::Sample;
use recognize::{HeaderAt, LineReading, doubts, question, recognize};
use std::path::Path;
use understood::{ColumnUse, Roles};

/// Rules for splitting lines.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Layout {
    pub(crate) delimiter: Delimiter,
    /// Columns, from 0.
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
    pub(crate) transform: WeightTransform,
    /// Whether lines may have no columns after the last required one, because other lines have none.
    pub(crate) is_exact: bool,
    pub(crate) comment: Vec<u8>,
    /// Whether a comment that has the columns of an edge is a bad line, because nobody said that it is none.
    pub(crate) doubts_comments: bool,
    pub(crate) rows: Rows,
    /// Whether lines are FASTA, with a name after `>`.
    pub(crate) is_fasta: bool,
    /// Text in place of a name where there is none; empty if every text is a name.
    pub(crate) absent: Vec<u8>,
}

impl Layout {
    /// Creates a layout with names in the first two columns, separated by `delimiter`; no weights, no comments.
    pub(crate) fn of(delimiter: Delimiter) -> Self {
        Self {
            delimiter,
            source: 0,
            target: 1,
            weight: None,
            transform: WeightTransform::None,
            is_exact: false,
            comment: Vec::new(),
            doubts_comments: false,
            rows: Rows::Edges,
            is_fasta: false,
            absent: Vec::new(),
        }
    }

    /// Returns whether the names come first, and the columns between them and the weight can be counted by their
    /// delimiters.
    pub(crate) fn is_plain(&self) -> bool {
        let is_plain_weight = |weight| match self.delimiter {
            Delimiter::Byte(_) => weight >= 2,
            Delimiter::Spaces => weight == 2,
        };
        let is_checked = self.rows == Rows::NumberedMemberships || !self.absent.is_empty();
        let names_come_first = self.source == 0 && self.target == 1;
        names_come_first && !is_checked && self.weight.is_none_or(is_plain_weight)
    }

    pub(crate) fn last_column(&self) -> usize {
        self.source.max(self.target).max(self.weight.unwrap_or(0))
    }

    /// Returns the first role that a line of `columns` columns lacks, and its column from 1.
    pub(crate) fn first_role_after(&self, columns: usize) -> (&'static str, usize) {
        let [source, target] = self.rows.roles();
        let roles =
            [(source, Some(self.source)), (target, Some(self.target)), ("weight", self.weight)];
        roles
            .into_iter()
            .filter_map(|(role, column)| column.map(|column| (role, column + 1)))
            .filter(|&(_, column)| column > columns)
            .min_by_key(|&(_, column)| column)
            .unwrap_or(("edge", columns + 1))
    }

    /// Returns whether a line is a comment.
    pub(crate) fn is_comment(&self, line: &[u8]) -> bool {
        !self.comment.is_empty() && line.starts_with(&self.comment)
    }

    /// Returns whether a comment may be meant as an edge: its first name follows the prefix immediately.
    pub(crate) fn is_doubtful_comment(&self, line: &[u8]) -> bool {
        let next = line.get(self.comment.len());
        self.doubts_comments
            && next.is_some_and(|&byte| {
                !self.is_blank(byte) && byte != self.comment[0] && byte != b'!'
            })
    }

    /// Returns whether a line has nothing but spaces.
    pub(crate) fn is_empty(&self, line: &[u8]) -> bool {
        line.iter().all(|&byte| self.is_blank(byte))
    }

    /// Returns whether a byte is a space around fields.
    pub(crate) fn is_blank(&self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && self.delimiter != Delimiter::Byte(byte)
    }

    /// Removes the spaces around a field.
    pub(crate) fn trimmed<'a>(&self, mut field: &'a [u8]) -> &'a [u8] {
        while let Some((_, rest)) = field.split_first().filter(|(byte, _)| self.is_blank(**byte)) {
            field = rest;
        }
        while let Some((_, rest)) = field.split_last().filter(|(byte, _)| self.is_blank(**byte)) {
            field = rest;
        }
        field
    }
}

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
}

impl InputFormat {
    /// Describes how the file was understood.
    pub(crate) fn describe(&self) -> String {
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
    let sample = Sample::of(block, is_whole, options);
    if sample.lines.is_empty() {
        return Ok(None);
    }
    let banner = matrix_market::banner(block, path, options)?;
    if banner.is_some() && options.header != Header::No {
        return matrix_market::format(&sample, banner, path, options).map(Some);
    }
    let (reading, chosen) = read(&sample, path, options)?;
    Ok(Some(format_of(&sample, &reading, &chosen, path, options)?))
}

/// Returns the uses of the columns of lines of edges, in the same way.
///
/// # Errors
/// Like [`detect`].
pub(crate) fn columns(
    block: &[u8],
    is_whole: bool,
    path: &Path,
    options: &InputOptions,
) -> Result<Option<Vec<ColumnUse>>> {
    let sample = Sample::of(block, is_whole, options);
    if sample.lines.is_empty() {
        return Ok(None);
    }
    let (reading, chosen) = read(&sample, path, options)?;
    Ok(Some(understood::uses(&reading.view(), &chosen, options.columns.is_some())))
}

/// Returns what the sampled lines are, and the columns to use.
fn read<'a>(
    sample: &Sample<'a>,
    path: &Path,
    options: &InputOptions,
) -> Result<(LineReading<'a>, Chosen)> {
    let konect = matrix_market::konect(sample, path, options)?;
    let known = options.delimiter.or(sample.stated).or(konect.map(|_| Delimiter::Spaces));
    let mut reading = recognize(sample, known, path, options)?;
    if let Some(konect) = konect {
        konect.apply(&mut reading);
    }
    let is_asked = options.columns.is_none() && options.format != EdgeFormat::Lines;
    if is_asked && options.rows.are_memberships() && names::are_of_edges(&reading.names) {
        return Err(names::edges_as_communities(path));
    }
    let chosen = choose(sample, &reading, path, options)?;
    Ok((reading, chosen))
}

/// Returns the columns: those of `--columns`, otherwise those of the reading, unless they are doubtful.
fn choose(
    sample: &Sample<'_>,
    reading: &LineReading<'_>,
    path: &Path,
    options: &InputOptions,
) -> Result<Chosen> {
    if let Some(columns) = &options.columns {
        let at = resolve(columns, reading.header_or_first(), path, sample.lines_before + 1)?;
        let by_name = reading.choice.is_by_name();
        let weight = at.get(2).copied().filter(|_| !options.ignore_weights);
        return Ok(Chosen {
            source: at[0],
            target: at[1],
            weight,
            by_name,
            format: None,
            two_mode: options.two_mode,
        });
    }
    let has_numbers =
        reading.kinds.get(2) == Some(&names::ColumnKind::Number) && !options.ignore_weights;
    let weight = has_numbers.then_some(2);
    let first = Chosen {
        source: 0,
        target: 1,
        weight,
        by_name: false,
        format: None,
        two_mode: options.two_mode,
    };
    if options.format == EdgeFormat::Lines || reading.column_count() < 2 {
        // A single column is an error about its first line.
        return Ok(reading.choice.chosen().cloned().unwrap_or(first));
    }
    if let Some(error) = question::columns(path, &reading.view(), options) {
        return Err(error);
    }
    let ColumnChoice::Use(mut chosen) = reading.choice.clone() else {
        unreachable!("all others are questions")
    };
    let is_certain = chosen.by_name || chosen.format.is_some() || options.rows != Rows::Edges;
    if let Some((message, hint)) = (!is_certain).then(|| doubts::doubt(sample, reading)).flatten() {
        return Err(question::doubt(path, message, hint));
    }
    if let Some((message, hint)) = doubts::times(reading, reading.body()) {
        return Err(question::doubt(path, message, hint));
    }
    chosen.two_mode |= options.two_mode;
    Ok(chosen)
}

fn format_of(
    sample: &Sample<'_>,
    reading: &LineReading<'_>,
    chosen: &Chosen,
    path: &Path,
    options: &InputOptions,
) -> Result<InputFormat> {
    let has_header = reading.header != HeaderAt::None;
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
    let mut preamble = match is_first {
        true => (sample.first_end, sample.lines_before + 1),
        false => (sample.first_start, sample.lines_before),
    };
    let is_doubtful = |(at, comment): &(usize, &recognize::lines::Comment<'_>)| {
        Some(*at) != header_comment && is_edge(&layout, comment.line)
    };
    if let Some((_, comment)) = sample.comments.iter().enumerate().find(is_doubtful) {
        if options.rows == Rows::Edges {
            return Err(question::comment(path, comment.line, &sample.comment));
        }
        preamble = (comment.start, comment.lines_before);
    }
    let Layout { source, target, weight, transform, .. } = layout;
    let roles = Roles {
        names: &reading.names,
        count: reading.column_count(),
        source,
        target,
        weight,
        transform,
    };
    let name_at = |at: usize| reading.names.get(at).copied().unwrap_or_default();
    Ok(InputFormat {
        roles: roles.text(),
        header: header_names(reading, chosen),
        has_header,
        preamble_bytes: preamble.0 as u64,
        preamble_lines: preamble.1,
        preamble_comments: (sample.comments.len() - usize::from(header_comment.is_some())) as u64,
        delimiter_line: options.delimiter.is_none().then_some(sample.lines_before + 1),
        kind: chosen.format.map(|format| format.name.to_owned()),
        kinds: chosen.two_mode.then(|| kinds_of([source, target].map(name_at))),
        matrix: None,
        is_node_list: false,
        layout,
    })
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

/// Returns the prefixes of names of two kinds: the names of their columns, if these are short.
pub(crate) fn kinds_of(names: [&[u8]; 2]) -> [String; 2] {
    let prefix = |name: &[u8]| {
        let name = std::str::from_utf8(name.trim_ascii()).ok()?;
        (1..=KIND_LIMIT).contains(&name.len()).then(|| format!("{name}:"))
    };
    match names.map(prefix) {
        [Some(source), Some(target)] if source != target => [source, target],
        _ => ["source:".into(), "target:".into()],
    }
}

/// Maximum length of the name of a kind of nodes, with which their names begin.
pub(crate) const KIND_LIMIT: usize = 31;

pub(crate) fn bad_input(path: &Path, message: &str) -> Error {
    Error::new(ErrorKind::BadInput, format!("`{}` {message}", path.display()))
}

pub(crate) fn fields<'a>(layout: &'a Layout, line: &'a [u8]) -> Fields<'a> {
    Fields { layout, quoted: true, text: line, at: 0, end: line.len(), ended: false }
}

/// Splits a line into columns without the spaces around them, up to a broken quote.
pub(crate) fn split<'a>(layout: &Layout, line: &'a [u8]) -> Vec<&'a [u8]> {
    fields(layout, line)
        .map_while(|field| field.ok())
        .map(|field| match field.is_quoted() {
            true => &line[field.start..field.end],
            false => layout.trimmed(&line[field.start..field.end]),
        })
        .collect()
}

/// Returns whether the name of a file has the extension `end`, compressed or not.
pub(crate) fn ends_with(path: &Path, end: &str) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = [".gz", ".bgz", ".zst", ".bz2", ".xz"]
        .iter()
        .find_map(|packed| name.strip_suffix(packed))
        .unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, found)| found == end)
}

/// Returns the names of source and target in the header, if it was recognized by them.
fn header_names(reading: &LineReading<'_>, chosen: &Chosen) -> Option<[Fingerprint; 2]> {
    let is_known = reading.header == HeaderAt::First && chosen.by_name;
    let name = |at: usize| reading.names.get(at).map(|name| Fingerprint::of(name));
    is_known.then(|| Some([name(chosen.source)?, name(chosen.target)?]))?
}

/// Finds columns by number or by name in the header, from 0.
fn resolve(columns: &[Column], header: &[&[u8]], path: &Path, line: u64) -> Result<Vec<usize>> {
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
                    let mut names = String::new();
                    escape(&header.join(&b", "[..]), &mut names);
                    bad_input(path, &format!("has no column named `{name}`"))
                        .note(format!("line {line} has the columns: {names}"))
                        .hint(format_args!(
                            "use one of these, or numbers, such as {}",
                            COLUMNS.of("1,2,3")
                        ))
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
