//! Lists of nodes: a name per line, a table with a column of names, or FASTA.
//!
//! The delimiter is that of the list itself, as far as its lines say so: a header names the column of nodes, and lines
//! without one are names as they are, with their spaces and commas. Lines that split into columns without a header are
//! refused, since nothing says which column holds the names.

use super::recognize::sampled_lines::Sample;
use super::recognize::{HeaderAt, recognize};
use super::{InputFormat, column_names, foreign, resolve};
use crate::layout::Layout;
use crate::text::number::{is_whole_number, is_word};
use crate::text::split;
use crate::{Column, Delimiter, EdgeFormat, Header, InputOptions, Rows};
use outcore_io::error::{Error, Result};
use std::path::Path;

/// Delimiters that split a table of nodes. Names may have spaces, so these split only below a header.
const CANDIDATES: [Delimiter; 5] = [
    Delimiter::Byte(b'\t'),
    Delimiter::Byte(b','),
    Delimiter::Byte(b';'),
    Delimiter::Byte(b'|'),
    Delimiter::Spaces,
];
/// Delimiter that leaves lines whole, since no line contains it.
const WHOLE_LINE: Delimiter = Delimiter::Byte(b'\n');
/// Name of the column of nodes in a list that `outcore export` writes.
const EXPORTED: &[u8] = b"node";

/// Detects the format of a list of nodes. `options.delimiter` is that of the edges, which names do not contain.
///
/// # Errors
/// `Usage` for several columns without a header that names that of the nodes.
pub(super) fn detect(
    block: &[u8],
    is_whole: bool,
    path: &Path,
    options: &InputOptions,
) -> Result<Option<InputFormat>> {
    let sample = Sample::of(block, is_whole, path, options);
    if sample.lines.is_empty() {
        return Ok(None);
    }
    let is_fasta = options.format != EdgeFormat::Lines
        && foreign::begins_as_fasta(&block[sample.first_start..]);
    if let Some(columns) = &options.columns {
        return of_columns(&sample, columns).map(Some);
    }
    let named = if is_fasta { None } else { named_column(&sample.lines, path, options.header)? };
    if named.is_none() && !is_fasta {
        refuse_columns(&sample.lines, path, options)?;
    }
    let (delimiter, column) = named.unwrap_or((WHOLE_LINE, 0));
    let layout = Layout {
        source: column,
        target: column,
        comment: sample.comment.clone(),
        rows: Rows::Nodes,
        is_fasta,
        ..Layout::of(delimiter)
    };
    let has_header = named.is_some();
    let roles = roles(&layout, &sample, has_header);
    let format = InputFormat::of(&sample, layout, roles, has_header);
    Ok(Some(InputFormat { is_node_list: true, ..format }))
}

/// Returns the format of a list whose column of nodes is given.
fn of_columns(sample: &Sample<'_>, columns: &[Column]) -> Result<InputFormat> {
    let reading = recognize(sample, None)?;
    let column = resolve(columns, reading.header_or_first(), sample)?[0];
    let layout = Layout {
        source: column,
        target: column,
        comment: sample.comment.clone(),
        rows: Rows::Nodes,
        // Names of a list without columns may have spaces.
        ..Layout::of(if reading.column_count() < 2 { WHOLE_LINE } else { reading.split.delimiter })
    };
    let has_header = reading.header == HeaderAt::First;
    let roles = match has_header {
        true => roles(&layout, sample, true),
        false => format!("{}, no header, column {}", layout.delimiter.plain_name(), column + 1),
    };
    let format = InputFormat::of(sample, layout, roles, has_header);
    Ok(InputFormat { is_node_list: true, ..format })
}

/// Returns the delimiter of a table and its column of nodes, if the first line names that column and most other lines
/// have as many columns. Without headers, only the word that an export writes above its nodes counts: a text of edges
/// has no header there, so it is read with `--header no`.
///
/// # Errors
/// `Usage` for several columns of that name.
fn named_column(
    lines: &[&[u8]],
    path: &Path,
    header: Header,
) -> Result<Option<(Delimiter, usize)>> {
    let Some((first, body)) = lines.split_first() else { return Ok(None) };
    let may_name = |name: &[u8]| header != Header::No || name == EXPORTED;
    for delimiter in CANDIDATES {
        let header = split_by(delimiter, first);
        let is_row = |line: &&&[u8]| split_by(delimiter, line).len() == header.len();
        let fits = 2 * body.iter().filter(is_row).count() >= body.len();
        if header.len() < 2 || !fits {
            continue;
        }
        match column_names::node_columns(&header)[..] {
            [] => {}
            [column, ..] if !may_name(header[column]) => {}
            [column] => return Ok(Some((delimiter, column))),
            ref several => return Err(column_names::several_nodes(path, &header, several)),
        }
    }
    let only = unquoted(first.trim_ascii());
    let is_number = |line: &&[u8]| is_whole_number(unquoted(line.trim_ascii()));
    let is_above_numbers = is_word(only) && !body.is_empty() && body.iter().all(is_number);
    let recurs = || body.iter().any(|line| column_names::is_identifier_name(line));
    let is_named = column_names::is_node_name(only)
        || column_names::is_identifier_name(only) && (is_above_numbers || !recurs());
    if is_named || !is_above_numbers || body.len() < 2 || !may_name(only) {
        let has_header = is_named && !body.is_empty() && may_name(only);
        return Ok(has_header.then_some((WHOLE_LINE, 0)));
    }
    let message = format!(
        "`{}` begins with a word above numbers, which may be a header or a node: `{}`",
        path.display(),
        shown(&String::from_utf8_lossy(only))
    );
    Err(Error::usage(message).hint(format_args!(
        "use {} if it is a header, or write a line `node` above it if it is a node",
        Rows::Nodes.columns_of(path, String::from_utf8_lossy(only))
    )))
}

fn split_by(delimiter: Delimiter, line: &[u8]) -> Vec<&[u8]> {
    split(&Layout::of(delimiter), line)
}

fn unquoted(text: &[u8]) -> &[u8] {
    let inner = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
    inner.unwrap_or(text)
}

/// Refuses lines that all split into the same number of columns, or that split like the edges.
fn refuse_columns(lines: &[&[u8]], path: &Path, options: &InputOptions) -> Result<()> {
    if options.format == EdgeFormat::Lines {
        return Ok(());
    }
    let count = |delimiter, line: &&[u8]| split_by(delimiter, line).len();
    let of_edges = options
        .delimiter
        .into_iter()
        .find(|&delimiter| lines.iter().any(|line| count(delimiter, line) >= 2));
    let of_table = || {
        CANDIDATES.into_iter().filter(|&delimiter| delimiter != Delimiter::Spaces).find(
            |&delimiter| {
                let columns = count(delimiter, &lines[0]);
                columns >= 2 && lines.iter().all(|line| count(delimiter, line) == columns)
            },
        )
    };
    let Some(delimiter) = of_edges.or_else(of_table) else { return Ok(()) };
    let columns = lines.iter().map(|line| count(delimiter, line)).max().unwrap_or(0);
    let first = String::from_utf8_lossy(lines[0]).into_owned();
    let message = format!(
        "`{}` has {columns} columns, and no header that says which holds the nodes",
        path.display()
    );
    Err(Error::usage(message)
        .note(format!(
            "columns are separated by {}; line 1 is `{}`",
            delimiter.with_article(),
            shown(&first)
        ))
        .hint(format_args!("use {} with that column", Rows::Nodes.columns_to_type(path))))
}

/// Returns the beginning of a line, for a message.
fn shown(line: &str) -> String {
    line.chars().take(60).map(|letter| if letter == '\t' { ' ' } else { letter }).collect()
}

/// Describes which column holds the names.
fn roles(layout: &Layout, sample: &Sample<'_>, has_header: bool) -> String {
    if layout.delimiter == WHOLE_LINE {
        let header = if has_header { "header" } else { "no header" };
        return format!("a name per line, {header}");
    }
    let header = split_by(layout.delimiter, sample.lines[0]);
    let name = header.get(layout.source).map(|name| String::from_utf8_lossy(name).into_owned());
    let name =
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| (layout.source + 1).to_string());
    format!("{}, header, column {name}", layout.delimiter.plain_name())
}
