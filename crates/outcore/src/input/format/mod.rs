//! Format of a file's lines: detected from its first block, or given by the options.
//!
//! The delimiter is the first of tab, comma, semicolon, run of spaces and `|` that splits all sampled lines into the
//! same number of columns, at least two; otherwise the one that splits most lines. Without `--columns`, columns that a
//! header names as source, target and weight are used wherever they are ([`names`]). Otherwise the names are in columns
//! 1 and 2, and the weight is
//! - in column 12 if the file is clearly a BLAST table: tabs, exactly 12 columns in every sampled line, and numbers in
//!   columns 3 to 12 of all of them;
//! - otherwise in column 3 if that is a number in at least half of the sampled lines. The other lines are then bad,
//!   which is an error, while undetected weights would go unnoticed;
//! - otherwise missing.
//!
//! The first line is a header if a column was given by name, if its weight is not a number while most of the following
//! ones are, if it has names such as `source` and `target`, or if it begins with the empty name of a data frame's
//! index. The size line of a Matrix Market file is skipped like a header. Leading lines that start with `%` are
//! comments (KONECT, Matrix Market) as long as the comment prefix is the default `#`.

mod delimiters;
mod doubts;
pub(crate) mod foreign;
pub(crate) mod matrix_market;
mod meant;
pub(crate) mod names;
mod nodes;
pub(crate) mod understood;

use super::fault::escape;
use super::text::Fields;
use super::text::field::Fingerprint;
use super::{Column, Delimiter, EdgeFormat, Header, InputOptions, Rows, WeightTransform};
use crate::error::opt::{COLUMNS, DELIMITER, FORMAT};
use crate::error::{Error, ErrorKind, Result, Text};
use matrix_market::Banner;
use meant::{is_number, is_whole_number, is_word};
use names::Chosen;
use std::path::Path;
use understood::Roles;

/// Maximum number of lines that are sampled.
const SAMPLED_LINES: usize = 1000;

/// Rules for splitting lines.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Layout {
    pub(crate) delimiter: Delimiter,
    /// Columns, from 0.
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
    pub(crate) transform: WeightTransform,
    pub(crate) quotes: bool,
    /// Whether spaces around names are ignored: some names of the sample have them.
    pub(crate) trims: bool,
    /// Whether lines may have no columns after the last required one, because the header has none.
    pub(crate) is_exact: bool,
    pub(crate) comment: Vec<u8>,
    pub(crate) rows: Rows,
    /// Whether lines are FASTA, with a name after `>`.
    pub(crate) is_fasta: bool,
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
            quotes: delimiter.allows_quotes(),
            trims: false,
            is_exact: false,
            comment: Vec::new(),
            rows: Rows::Edges,
            is_fasta: false,
        }
    }

    /// Adapts the layout to lines of memberships, which are checked further.
    fn for_rows(self, rows: Rows) -> Self {
        let quotes = self.quotes || rows != Rows::Edges && self.delimiter != Delimiter::Spaces;
        Self { rows, quotes, ..self }
    }

    /// Returns whether the names come first, and the columns between them and the weight can be counted by their
    /// delimiters.
    pub(crate) fn is_plain(&self) -> bool {
        let is_plain_weight = |weight| match self.delimiter {
            Delimiter::Byte(_) => weight >= 2,
            Delimiter::Spaces => weight == 2,
        };
        let is_checked = self.rows == Rows::NumberedMemberships;
        let names_come_first = self.source == 0 && self.target == 1;
        names_come_first && !is_checked && !self.trims && self.weight.is_none_or(is_plain_weight)
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

    /// Returns whether a line is blank or a comment.
    pub(crate) fn is_nothing(&self, line: &[u8]) -> bool {
        let is_comment = !self.comment.is_empty() && line.starts_with(&self.comment);
        is_comment || line.iter().all(|&byte| self.is_blank(byte))
    }

    pub(crate) fn is_blank(&self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && self.delimiter != Delimiter::Byte(byte)
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
    /// Lines before the first edge.
    pub(crate) preamble_lines: u64,
    delimiter_line: Option<u64>,
    is_blast: bool,
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
        let kind = if self.is_blast { "BLAST table, " } else { "" };
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

/// Sampled lines of a block.
struct LineSample<'a> {
    lines: Vec<&'a [u8]>,
    /// Start and end of the first sampled line, and the number of lines before it.
    first_start: usize,
    first_end: usize,
    lines_before: u64,
}

impl<'a> LineSample<'a> {
    /// Returns the lines that cannot be a header, if there are any.
    fn body(&self, options: &InputOptions) -> &[&'a [u8]] {
        let may_have_header = self.lines.len() > 1 && options.header != Header::No;
        &self.lines[usize::from(may_have_header)..]
    }
}

/// Detects the format of edges, communities or nodes from a file's first bytes; returns `None` if they contain only comments and blank lines.
/// `is_whole` indicates whether the file ends with them.
pub(crate) fn detect(
    block: &[u8],
    is_whole: bool,
    path: &Path,
    options: &InputOptions,
) -> Result<Option<InputFormat>> {
    if options.rows == Rows::Nodes {
        return nodes::detect(block, is_whole, path, options);
    }
    let sample = sample(block, is_whole, options);
    let Some(&first) = sample.lines.first() else { return Ok(None) };
    let banner = matrix_market::banner(block, path, options)?;
    let has_size = banner.is_some() && options.header != Header::No;
    let matrix = has_size.then(|| matrix_market::size(first, path)).transpose()?;
    let body = sample.body(options);
    let of_banner = banner.map(|_| Delimiter::Spaces);
    let found = || delimiters::find(&sample.lines, body);
    let delimiter = options.delimiter.or(of_banner).unwrap_or_else(found);
    let (comment, transform) = (options.comment.clone(), options.weight_transform);
    let quotes = delimiters::quotes(delimiter, &sample.lines);
    let layout = Layout { comment, transform, quotes, ..Layout::of(delimiter) };
    let mut layout = layout.for_rows(options.rows);
    let found = find_columns(&layout, &sample, banner, path, options)?;
    let (has_header, is_blast) = (found.has_header, found.is_blast);
    let Chosen { source, target, weight, .. } = found.columns;
    (layout.source, layout.target, layout.weight) = (source, target, weight);
    if options.ignore_weights {
        layout.weight = None;
    }
    if options.rows == Rows::Edges && banner.is_none() {
        refuse_doubtful(&layout, &sample, &found, (path, is_whole), options)?;
        layout.trims = has_spaces_around_names(&layout, sample.body(options));
        let is_last = found.header_columns == layout.last_column() + 1;
        let may_be_exact = options.columns.is_none() && delimiter != Delimiter::Spaces;
        layout.is_exact = has_header && is_last && may_be_exact;
    }
    Ok(Some(InputFormat {
        roles: roles(&layout, &sample, has_header, matrix.is_some()),
        header: header_names(&layout, first, &found),
        layout,
        has_header,
        preamble_bytes: if has_header { sample.first_end } else { sample.first_start } as u64,
        preamble_lines: sample.lines_before + u64::from(has_header),
        delimiter_line: options.delimiter.is_none().then_some(sample.lines_before + 1),
        is_blast,
        matrix,
        is_node_list: false,
    }))
}

pub(crate) fn bad_input(path: &Path, message: &str) -> Error {
    Error::new(ErrorKind::BadInput, format!("`{}` {message}", path.display()))
}

/// Collects data lines. If the block is not the end of the file, its last line is left out, since it may be incomplete.
fn sample<'a>(block: &'a [u8], is_whole: bool, options: &InputOptions) -> LineSample<'a> {
    let mut at = if block.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut sample = LineSample {
        lines: Vec::new(),
        first_start: block.len(),
        first_end: block.len(),
        lines_before: 0,
    };
    while at < block.len() && sample.lines.len() < SAMPLED_LINES {
        let stop = memchr::memchr(b'\n', &block[at..]).map(|len| at + len);
        if stop.is_none() && !is_whole {
            if sample.lines.is_empty() {
                sample.first_start = at;
            }
            break;
        }
        let stop = stop.unwrap_or(block.len());
        let line = block[at..stop].strip_suffix(b"\r").unwrap_or(&block[at..stop]);
        let comment = &options.comment;
        let is_leading = sample.lines.is_empty() && comment == b"#";
        let is_comment = !comment.is_empty() && line.starts_with(comment)
            || is_leading && (line.starts_with(b"%") || names_delimiter(line));
        let is_blank = line.iter().all(|&byte| {
            (byte == b' ' || byte == b'\t') && options.delimiter != Some(Delimiter::Byte(byte))
        });
        let next = (stop + 1).min(block.len());
        if !is_comment && !is_blank {
            if sample.lines.is_empty() {
                (sample.first_start, sample.first_end) = (at, next);
            }
            sample.lines.push(line);
        } else if sample.lines.is_empty() {
            sample.lines_before += 1;
        }
        at = next;
    }
    sample
}

/// Returns whether a line gives the delimiter for Excel: `sep=;`.
fn names_delimiter(line: &[u8]) -> bool {
    line.len() == 5 && line[..4].eq_ignore_ascii_case(b"sep=") && b",;|\t".contains(&line[4])
}

pub(crate) fn fields<'a>(layout: &'a Layout, line: &'a [u8]) -> Fields<'a> {
    let quoted = layout.quotes;
    Fields { layout, quoted, text: line, at: 0, end: line.len(), ended: false }
}

/// Splits a line into columns, up to a broken quote.
pub(crate) fn split<'a>(layout: &Layout, line: &'a [u8]) -> Vec<&'a [u8]> {
    fields(layout, line)
        .map_while(|field| field.ok())
        .map(|field| &line[field.start..field.end])
        .collect()
}

/// Columns detected in a file.
struct FoundColumns {
    columns: Chosen,
    /// Number of columns of the first line, counting the unnamed one of R.
    header_columns: usize,
    has_header: bool,
    is_blast: bool,
}

/// Chooses the columns: from `--columns`, otherwise from the header, otherwise by position.
fn find_columns(
    layout: &Layout,
    sample: &LineSample<'_>,
    banner: Option<Banner>,
    path: &Path,
    options: &InputOptions,
) -> Result<FoundColumns> {
    let rows: Vec<Vec<&[u8]>> = sample.lines[1..].iter().map(|line| split(layout, line)).collect();
    let header = split_header(layout, sample.lines[0], &rows);
    let is_free = options.columns.is_none() && options.header != Header::No;
    if is_free && layout.rows.are_memberships() && names::are_of_edges(&header) {
        return Err(names::edges_as_communities(path));
    }
    let by_header = names::choose(&header, layout.rows, |at| has_numbers(&rows, at));
    let header_columns = header.len();
    let is_header = |columns: &Chosen| match options.header {
        Header::Yes => true,
        Header::No => false,
        Header::Auto => banner.is_some() || is_header(layout.rows, columns, &header, &rows),
    };
    if let Some(columns) = &options.columns {
        let names_columns = columns.iter().any(|column| matches!(column, Column::Name(_)));
        let at = resolve(columns, &header, path, sample.lines_before + 1)?;
        let by_name = by_header.is_some_and(|found| found.by_name);
        let weight = at.get(2).copied();
        let columns = Chosen { source: at[0], target: at[1], weight, by_name };
        let has_header = names_columns || is_header(&columns);
        return Ok(FoundColumns { columns, header_columns, has_header, is_blast: false });
    }
    if let Some(Banner { has_values }) = banner {
        let weight = has_values.then_some(2);
        let columns = Chosen { source: 0, target: 1, weight, by_name: false };
        return Ok(FoundColumns {
            columns,
            header_columns,
            has_header: options.header != Header::No,
            is_blast: false,
        });
    }
    if let Some(columns) = by_header.filter(|columns| is_header(columns)) {
        let is_blast = columns.weight == Some(11) && is_blast(layout, &rows);
        return Ok(FoundColumns { columns, header_columns, has_header: true, is_blast });
    }
    let (mut weight, mut is_blast) = default_weight(layout, sample.body(options));
    if weight.is_none() {
        // Bad lines must not hide the weights of a short file.
        (weight, is_blast) = default_weight(layout, &sample.lines);
    }
    let columns = Chosen { source: 0, target: 1, weight, by_name: false };
    Ok(FoundColumns {
        columns,
        header_columns,
        has_header: options.header == Header::Yes,
        is_blast,
    })
}

/// Returns whether rows begin with a column that the header does not name, as R writes row numbers.
fn has_row_names(header: &[&[u8]], rows: &[Vec<&[u8]>]) -> bool {
    let number = |row: &Vec<&[u8]>| {
        let is_longer = row.len() == header.len() + 1;
        let digits = is_longer.then(|| row[0]).filter(|field| is_whole_number(field))?;
        std::str::from_utf8(digits.trim_ascii()).ok()?.parse::<u64>().ok()
    };
    let numbers: Option<Vec<u64>> = rows.iter().map(number).collect();
    numbers.is_some_and(|numbers| !numbers.is_empty() && numbers.is_sorted_by(|a, b| a < b))
}

/// Refuses lines that are not edges, unless the user or the header determines which columns are.
fn refuse_doubtful(
    layout: &Layout,
    sample: &LineSample<'_>,
    found: &FoundColumns,
    (path, is_whole): (&Path, bool),
    options: &InputOptions,
) -> Result<()> {
    let is_reported = options.columns.is_some() || options.format == EdgeFormat::Lines;
    if is_reported || found.has_header && found.columns.by_name || found.is_blast {
        return Ok(());
    }
    let rows: Vec<Vec<&[u8]>> = sample.lines.iter().map(|line| split(layout, line)).collect();
    let lines = doubts::SampledLines {
        path,
        delimiter: layout.delimiter,
        lines: &sample.lines,
        rows: &rows,
        has_header: found.has_header,
        is_whole: is_whole && sample.lines.len() < SAMPLED_LINES,
        has_usual_comments: options.comment == b"#",
    };
    lines.doubt().map_or(Ok(()), |(message, hint)| {
        Err(bad_input(path, message)
            .note(format_args!("{} reads it as lines anyway", FORMAT.of("lines")))
            .hint(hint))
    })
}

/// Returns whether names have spaces around them, which are not part of names between commas, semicolons and `|`.
fn has_spaces_around_names(layout: &Layout, lines: &[&[u8]]) -> bool {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let has_spaces = |line: &&[u8]| {
        let row = split(layout, line);
        [layout.source, layout.target]
            .iter()
            .filter_map(|&at| row.get(at))
            .any(|field| is_blank(field.first()) || is_blank(field.last()))
    };
    layout.delimiter.allows_quotes() && lines.iter().any(has_spaces)
}

/// Returns the names of source and target in the header, if it was recognized by them.
fn header_names(layout: &Layout, first: &[u8], found: &FoundColumns) -> Option<[Fingerprint; 2]> {
    let FoundColumns { columns, has_header, header_columns, .. } = found;
    let row = split(layout, first);
    // R's header has no name for the first column.
    let shift = header_columns - row.len().min(*header_columns);
    let name = |at: usize| {
        let name = *row.get(at.checked_sub(shift)?)?;
        Some(Fingerprint::of(if layout.trims { name.trim_ascii() } else { name }))
    };
    let is_known = *has_header && columns.by_name;
    is_known.then(|| Some([name(columns.source)?, name(columns.target)?]))?
}

/// Splits the first line, which may be the header, into columns. Adds the missing name of R's column of row names.
fn split_header<'a>(layout: &Layout, first: &'a [u8], rows: &[Vec<&[u8]>]) -> Vec<&'a [u8]> {
    let mut header = split(layout, first);
    let found = names::choose(&header, layout.rows, |at| has_numbers(rows, at));
    if found.is_some_and(|found| found.by_name) && has_row_names(&header, rows) {
        header.insert(0, b"");
    }
    header
}

/// Describes how the columns of `layout` are used.
fn roles(layout: &Layout, sample: &LineSample<'_>, has_header: bool, is_matrix: bool) -> String {
    let rows: Vec<Vec<&[u8]>> = sample.lines[1..].iter().map(|line| split(layout, line)).collect();
    let first = split_header(layout, sample.lines[0], &rows);
    let names = match (is_matrix, has_header) {
        (true, _) => vec![&b"row"[..], b"column", b"value"],
        (false, true) => first.clone(),
        (false, false) => Vec::new(),
    };
    let first = if is_matrix { 0 } else { first.len() };
    let count = rows.iter().map(Vec::len).max().unwrap_or(0).max(first);
    let Layout { source, target, weight, transform, .. } = *layout;
    Roles { names: &names, count, source, target, weight, transform }.text()
}

/// Returns the default column of the weight, and whether the file is a BLAST table.
fn default_weight(layout: &Layout, lines: &[&[u8]]) -> (Option<usize>, bool) {
    let rows: Vec<Vec<&[u8]>> = lines.iter().map(|line| split(layout, line)).collect();
    match is_blast(layout, &rows) {
        true => (Some(11), true),
        false => (has_numbers(&rows, 2).then_some(2), false),
    }
}

fn is_blast(layout: &Layout, rows: &[Vec<&[u8]>]) -> bool {
    let is_row_of_blast =
        |row: &Vec<&[u8]>| row.len() == 12 && row[2..].iter().all(|field| is_number(field));
    layout.delimiter == Delimiter::Byte(b'\t') && rows.iter().all(is_row_of_blast)
}

/// Returns whether at least half of the rows have a number in `column`.
fn has_numbers(rows: &[Vec<&[u8]>], column: usize) -> bool {
    let numbers = rows.iter().filter(|row| row.get(column).is_some_and(|field| is_number(field)));
    let count = numbers.count();
    count > 0 && count * 2 >= rows.len()
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
                    return Err(names::twice(path, name));
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
    names::check_distinct(&at?, path)
}

/// Returns whether the first line names the columns of `rows`; `columns` are those of an edge.
fn is_header(kind: Rows, columns: &Chosen, first: &[&[u8]], rows: &[Vec<&[u8]>]) -> bool {
    let is_numbered = |row: &[&[u8]]| row.get(columns.target).is_some_and(|field| is_number(field));
    let becomes_numbered = kind == Rows::NumberedMemberships
        && !is_numbered(first)
        && rows.first().is_some_and(|row| is_numbered(row));
    // A line whose first name is missing is not a header.
    let has_number = |row: &Vec<&[u8]>| row.first().is_some_and(|field| is_number(field));
    let has_index = names::begins_with_index(first)
        && !first.iter().any(|field| is_number(field))
        && !rows.is_empty()
        && rows.iter().all(has_number);
    let before = &first[..columns.source.max(columns.target).min(first.len())];
    let by_name = columns.by_name && !before.iter().any(|field| is_number(field));
    let are_whole = |row: &[&[u8]]| {
        [columns.source, columns.target]
            .map(|at| row.get(at).is_some_and(|field| is_whole_number(field)))
    };
    let is_over_numbers = kind == Rows::Edges
        && rows.len() >= 2
        && [columns.source, columns.target]
            .iter()
            .all(|&at| first.get(at).is_some_and(|f| is_word(f)))
        && rows.iter().all(|row| are_whole(row) == [true, true]);
    let is_reported = becomes_numbered || has_index || by_name || is_over_numbers;
    match columns.weight.and_then(|weight| Some((weight, first.get(weight)?))) {
        None => is_reported,
        Some((_, field)) if is_number(field) => false,
        Some((weight, field)) => is_reported || is_word(field) && has_numbers(rows, weight),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, options: &InputOptions) -> InputFormat {
        detect(text.as_bytes(), true, Path::new("f"), options).unwrap().unwrap()
    }

    fn columns(text: &str) -> (Delimiter, Option<usize>, bool) {
        let format = found(text, &InputOptions::default());
        (format.layout.delimiter, format.layout.weight, format.has_header)
    }

    #[test]
    fn delimiters_weights_and_headers_are_detected() {
        let (tab, comma) = (Delimiter::Byte(b'\t'), Delimiter::Byte(b','));
        let spaces = Delimiter::Spaces;
        for (text, expected) in [
            ("a\tb\n", (tab, None, false)),
            ("a\tb\t1\nc\td\t2\n", (tab, Some(2), false)),
            ("a,b,1\n\"c,d\",e,2\n", (comma, Some(2), false)),
            ("a;b\nc;d", (Delimiter::Byte(b';'), None, false)),
            ("  1   2  3.5\n 10  20  1\n", (spaces, Some(2), false)),
            ("gi|1|x gi|2|y 0.5\ngi|1|x gi|3|y 1\n", (spaces, Some(2), false)),
            ("a|b|1\n", (Delimiter::Byte(b'|'), Some(2), false)),
            ("x,y\tu,v\t3\n", (tab, Some(2), false)),
            ("protein1 protein2 combined_score\nA B 900\n", (spaces, Some(2), true)),
            ("Source\tTarget\nx\ty\n", (tab, None, true)),
            ("foo\tbar\nx\ty\n", (tab, None, false)),
            ("foo\tbar\tbaz\nx\ty\t1\n", (tab, Some(2), true)),
            ("from\tto\t1\nx\ty\t1\n", (tab, Some(2), false)),
            ("# c\n%d\n\n1 2 3\n", (spaces, Some(2), false)),
            (
                "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n",
                (spaces, None, true),
            ),
            ("a\tknows\tb\nc\tknows\td\n", (tab, None, false)),
            ("a,b,NA\nb,c,2\n", (comma, Some(2), false)),
            ("a\tb\t1 000\nb\tc\t2\n", (tab, Some(2), false)),
            ("a;b;1.000,5\nb;c;2.500,5\n", (Delimiter::Byte(b';'), Some(2), false)),
            ("x,y\n1,2\n2,3\n", (comma, None, true)),
            ("sep=;\na;b\nb;c\n", (Delimiter::Byte(b';'), None, false)),
            ("\"a x\" \"b\" 1\n\"b\" \"c\" 2\n", (spaces, Some(2), false)),
            ("one", (tab, None, false)),
        ] {
            assert_eq!(columns(text), expected, "{text}");
        }
        let blast = "q\ts\t98.5\t100\t1\t0\t1\t100\t1\t100\t1e-50\t210\n";
        assert_eq!(columns(blast), (tab, Some(11), false));
        assert_eq!(columns(&blast.replace("98.5", "x")), (tab, None, false));
    }

    #[test]
    fn columns_are_found_by_name() {
        let name = |name: &str| Column::Name(name.into());
        let columns = Some(vec![name("to"), name("from"), name("score")]);
        let options = InputOptions { columns, ..InputOptions::default() };
        let format = found("\u{feff}# hi\nfrom,x,to,score\na,1,b,0.5\n", &options);
        let layout = &format.layout;
        assert_eq!((layout.source, layout.target, layout.weight), (2, 0, Some(3)));
        assert_eq!((format.preamble_bytes, format.preamble_lines), (24, 2));
        let error = detect(b"a,b,c\n", true, Path::new("f"), &options).unwrap_err();
        assert_eq!(error.message(), "`f` has no column named `to`");
    }

    #[test]
    fn a_file_without_lines_has_no_format() {
        for text in ["", "\n\n", "# a\n", "\u{feff}", "%x\n\r\n"] {
            let options = InputOptions::default();
            assert!(detect(text.as_bytes(), true, Path::new("f"), &options).unwrap().is_none());
        }
    }
}
