//! Files of communities that `output` has written, in which nothing is guessed from samples: a line that differs from the
//! first one is an error.
//!
//! | form | recognized by | a node's community |
//! | --- | --- | --- |
//! | JSON lines | the ending of its name | the member `community`, or the first number of `path` |
//! | text between tabs | anything else | the second column, or the one that a header names; of a path its first number |
//! | the same between commas | the ending `.csv`, and no tab after the first name | likewise |
//! | lines of nodes, pairs | the caller, or lines of different lengths, or a first pair with itself | the number of the line, or of the representative |
//!
//! Fields are taken as they are, with the spaces around them; quoted ones may have line ends. Memory and cost are those of
//! [`lists`](super::super).

use super::super::edges::{ListEdges, Progress};
use super::super::kind::{ListKind, ReadList};
use super::super::words::{Words, whole_number};
use super::fields::next_field;
use super::shape::CLUSTERS_MARK;
use super::{KINDS, kind, recognized};
use crate::NAME_LIMIT;
use crate::decompress::Input;
use crate::options::{Column, CommunityFormat, Delimiter, Header, InputOptions, Rows};
use outcore_io::Files;
use outcore_io::error::opt::ROWS;
use outcore_io::error::{Error, ErrorKind, Result};
use std::path::Path;

/// Maximum number of columns read from the first line: more than any graph has levels.
const COLUMNS_MAX: usize = 256;
/// Exclusive upper bound of numbers. Numbers of 18 digits also fit in signed integers, for languages without unsigned
/// ones.
const NUMBERS_END: u64 = 1_000_000_000_000_000_000;
/// Name of the column of shares of starts.
pub(super) const STABILITY: &str = "stability";

static NODES: ListKind = lines("a node and its community per line", nodes);
static SHARES: ListKind = lines("a node and its share per line", shares);
static COMMUNITIES: ListKind = lines("a community per line", communities);
static PAIRS: ListKind = lines("a representative and a node per line", pairs);

const fn lines(nodes: &'static str, read: ReadList) -> ListKind {
    ListKind { has_names: true, ..kind("written lines", nodes, read) }
}

/// Returns the reader of a file, and the options with its columns and delimiter. `options` may name one column that is
/// read instead of the communities.
///
/// # Errors
/// `MissingColumn` unless the first line has it; `Io`.
pub(in super::super) fn find_written(
    files: &Files,
    path: &Path,
    input: &mut Input,
    options: &InputOptions,
) -> Result<(&'static ListKind, InputOptions)> {
    let is_named =
        |ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
    if is_named("jsonl") || is_named("ndjson") {
        let mut kinds = KINDS.iter().filter(|(format, _)| *format == CommunityFormat::Jsonl);
        return Ok((&kinds.next().expect("there is one").1, options.clone()));
    }
    let first_line = |delimiter| {
        let mut words = Words::new(Input::open(files, path, 1)?, path, Rows::Written);
        first_fields(&mut words, delimiter).map(|fields| (words, fields))
    };
    // With a tab in the first line, the file is tab-separated text despite its name.
    let has_tab = || first_line(b'\t').is_ok_and(|(_, fields)| fields.len() > 1);
    let delimiter = if is_named("csv") && !has_tab() { b',' } else { b'\t' };
    let (words, fields) = first_line(delimiter)?;
    let format = match options.community_format {
        CommunityFormat::Auto if delimiter == b'\t' => shown(path, input, &fields),
        format => format,
    };
    let mut options =
        InputOptions { delimiter: Some(Delimiter::Byte(delimiter)), ..options.clone() };
    let name = wanted(&options).map(str::to_owned);
    let columns = match (format, &name) {
        (CommunityFormat::Clusters, None) => return Ok((&COMMUNITIES, options)),
        (CommunityFormat::Pairs, None) => return Ok((&PAIRS, options)),
        (CommunityFormat::Clusters | CommunityFormat::Pairs, _) => None,
        _ => columns(&fields, name.as_deref()),
    };
    let Some((columns, header)) = columns else {
        let message = format!("this line has no {}", name.as_deref().unwrap_or("community"));
        let error = words.wrong(ErrorKind::MissingColumn, &message, "node<TAB>community");
        return Err(other_forms(error));
    };
    let number = |at: usize| Column::Number(at as u32 + 1);
    (options.columns, options.header) = (Some(columns.map(number).to_vec()), header);
    Ok((if name.as_deref() == Some(STABILITY) { &SHARES } else { &NODES }, options))
}

/// Returns the name of the column that is read instead of the communities.
pub(super) fn wanted(options: &InputOptions) -> Option<&str> {
    match options.columns.as_deref()? {
        [Column::Name(name)] => Some(name),
        _ => None,
    }
}

/// Returns the content of lines, if the caller does not know it. A first line of more than a node and its number lists
/// all nodes of the largest community. Pairs with a header are recognized as lines.
fn shown(path: &Path, input: &mut Input, fields: &[Vec<u8>]) -> CommunityFormat {
    let is_node = fields.len() == 2 && fields[1].iter().all(u8::is_ascii_digit);
    let is_pair = matches!(fields, [one, two, ..] if one == b"representative" && two == b"member");
    match recognized(path, input, &InputOptions::default()) {
        Ok(CommunityFormat::Clusters) if !is_node => CommunityFormat::Clusters,
        Ok(CommunityFormat::Pairs) => CommunityFormat::Pairs,
        Ok(CommunityFormat::Lines) if is_pair => CommunityFormat::Pairs,
        _ => CommunityFormat::Lines,
    }
}

/// Returns the columns of the nodes and of the wanted value, from the fields of the first line, and whether that line
/// is a header. Without a header, groups follow the community, and shares are in the last column. Weights may look like
/// shares in the first line, but hardly in all lines.
fn columns(fields: &[Vec<u8>], wanted: Option<&str>) -> Option<([usize; 2], Header)> {
    let place = |names: &[&str]| {
        fields.iter().position(|field| names.iter().any(|name| name.as_bytes() == field))
    };
    if let (Some(node), Some(community)) = (place(&["node"]), place(&["community", "path"])) {
        let value = wanted.map_or(Some(community), |name| place(&[name]))?;
        return Some(([node, value], Header::Yes));
    }
    let last = fields.len().saturating_sub(1);
    let has_shares = fields.is_empty() || last > 1 && is_share(&fields[last]);
    let value = match wanted {
        None => (fields.len() != 1).then_some(1),
        Some(STABILITY) => has_shares.then_some(last),
        Some(group) => {
            let level = group.trim_start_matches(|letter: char| !letter.is_ascii_digit());
            let end = fields.len() - usize::from(has_shares);
            level.parse().ok().map(|level: usize| 1 + level).filter(|&at| at < end)
        }
    };
    value.map(|value| ([0, value], Header::No))
}

/// Returns the fields of the first line.
fn first_fields(words: &mut Words, delimiter: u8) -> Result<Vec<Vec<u8>>> {
    let (mut fields, mut field) = (Vec::new(), Vec::new());
    while fields.len() < COLUMNS_MAX
        && let Some(is_last) = next_field(words, delimiter, fields.is_empty(), &mut field)?
    {
        fields.push(field.clone());
        if is_last {
            break;
        }
    }
    Ok(fields)
}

/// Reads a node and its community per line: a number, or a path that begins with it.
fn nodes(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let is_number = |field: &[u8]| community_number(field).is_some();
    of_columns(words, edges, is_number, |field, words| {
        let message = format!("`{field}` is not the number of a community");
        let expected = "a number, or a path such as 3:0:5";
        other_forms(words.wrong(ErrorKind::BadInput, &message, expected))
    })
}

/// Reads a node and its share of starts per line.
fn shares(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let is_number =
        |field: &[u8]| str::from_utf8(field).is_ok_and(|text| text.parse::<f64>().is_ok());
    of_columns(words, edges, is_number, |field, words| {
        let message = format!("`{field}` is not a share, as in the lines before");
        words.wrong(ErrorKind::BadInput, &message, "a number from 0 to 1")
    })
}

fn delimiter(edges: &ListEdges<'_>) -> u8 {
    match edges.options.delimiter {
        Some(Delimiter::Byte(byte)) => byte,
        _ => b'\t',
    }
}

/// Columns of the nodes and of what is read of them, and the number of columns of the first line.
struct WrittenColumns {
    node: usize,
    value: usize,
    count: usize,
    delimiter: u8,
}

/// Reads the columns in the options. Each line must have as many columns as the first, and its value must satisfy
/// `is_value`; otherwise the error is `wrong`.
fn of_columns(
    words: &mut Words,
    edges: &mut ListEdges<'_>,
    is_value: impl Fn(&[u8]) -> bool,
    wrong: impl Fn(&str, &Words) -> Error,
) -> Progress {
    let mut is_header = edges.options.header == Header::Yes;
    let places = edges.options.columns.iter().flatten().map(|column| match column {
        Column::Number(number) => *number as usize - 1,
        Column::Name(_) => unreachable!("columns were found by their names"),
    });
    let [node, value] = *places.collect::<Vec<_>>() else { unreachable!("there are two") };
    let mut columns = WrittenColumns { node, value, count: 0, delimiter: delimiter(edges) };
    let (mut name, mut found, mut other) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        while columns.count > 0 && columns.push_plain(words, edges, &is_value)? {}
        let mut at = 0;
        loop {
            let field = match at {
                _ if at == node => &mut name,
                _ if at == value => &mut found,
                _ => &mut other,
            };
            let Some(is_last) = next_field(words, columns.delimiter, at == 0, field)? else {
                return Ok(());
            };
            if !is_header && at == node {
                require_name(words, field)?;
            } else if !is_header && at == value && !is_value(field) {
                return Err(wrong(&String::from_utf8_lossy(field), words).into());
            }
            at += 1;
            let count = columns.count;
            if count > 0 && (at > count || is_last && at < count) {
                return Err(other_columns(words, at > count, count).into());
            }
            if is_last {
                break;
            }
        }
        columns.count = at;
        if !std::mem::take(&mut is_header) {
            edges.push_row(words, &name, &found)?;
        }
    }
}

impl WrittenColumns {
    /// Adds the next line if it is in the window, has no quotes and is valid, as nearly all lines are. Returns whether
    /// it did; other lines are then checked field by field.
    fn push_plain(
        &self,
        words: &mut Words,
        edges: &mut ListEdges<'_>,
        is_value: impl Fn(&[u8]) -> bool,
    ) -> Progress<bool> {
        words.peek()?;
        let window = words.window();
        let end = memchr::memchr2(b'\n', b'"', &window[..window.len().min(NAME_LIMIT)]);
        let Some(end) = end.filter(|&end| window[end] == b'\n') else { return Ok(false) };
        let line = window[..end].strip_suffix(b"\r").unwrap_or(&window[..end]);
        let (mut name, mut value, mut count) = (&[][..], &[][..], 0);
        for field in line.split(|&byte| byte == self.delimiter) {
            if count == self.node {
                name = field;
            } else if count == self.value {
                value = field;
            }
            count += 1;
        }
        if count != self.count || name.is_empty() || !is_value(value) {
            return Ok(false);
        }
        edges.push_row(words, name, value)?;
        words.advance_line(end + 1);
        Ok(true)
    }
}

/// Reads a community per line: all its nodes.
fn communities(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    if words.next_window()?.starts_with(CLUSTERS_MARK.as_bytes()) {
        words.skip_line()?;
    }
    let delimiter = delimiter(edges);
    let (mut community, mut is_first, mut name) = (0u64, true, Vec::new());
    let mut digits = itoa::Buffer::new();
    while let Some(is_last) = next_field(words, delimiter, is_first, &mut name)? {
        require_name(words, &name)?;
        edges.push_row(words, &name, digits.format(community).as_bytes())?;
        community += u64::from(is_last);
        is_first = is_last;
    }
    Ok(())
}

/// Reads pairs: the first node of a community and any of its nodes, perhaps with a weight. The first pair of a
/// community is its first node twice.
fn pairs(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let delimiter = delimiter(edges);
    let (mut count, mut last, mut digits) = (0u64, Vec::new(), itoa::Buffer::new());
    let (mut next, mut member, mut other) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(mut is_last) = next_field(words, delimiter, true, &mut next)? {
        if is_last {
            let message = "a pair has a representative and a node";
            return Err(words.wrong(ErrorKind::MissingColumn, message, "two names").into());
        }
        is_last = next_field(words, delimiter, false, &mut member)?.unwrap_or(true);
        require_name(words, &member)?;
        let is_header = count == 0 && next == b"representative" && member == b"member";
        if !is_header && (count == 0 || next != last) {
            if member != next {
                return Err(no_representative(words, &next).into());
            }
            std::mem::swap(&mut last, &mut next);
            count += 1;
        }
        if !is_header {
            edges.push_row(words, &member, digits.format(count - 1).as_bytes())?;
        }
        while !is_last {
            is_last = next_field(words, delimiter, false, &mut other)?.unwrap_or(true);
        }
    }
    Ok(())
}

/// Returns the number of a community, or the first one of a path.
pub fn community_number(text: &[u8]) -> Option<u64> {
    let number = |part| whole_number(part).filter(|&number| number < NUMBERS_END);
    if let Some(number) = number(text) {
        return Some(number);
    }
    let mut parts = text.split(|&byte| byte == b':').map(number);
    let community = parts.next().flatten()?;
    parts.all(|part| part.is_some()).then_some(community)
}

/// Returns whether this is a share as written by `output`: with three decimals, from 0 to 1.
fn is_share(text: &[u8]) -> bool {
    matches!(text, [b'0', b'.', digits @ ..] if digits.len() == 3 && digits.iter().all(u8::is_ascii_digit))
        || text == b"1.000"
}

fn require_name(words: &Words, name: &[u8]) -> Result<()> {
    match name {
        [] => Err(words.wrong(ErrorKind::EmptyName, "a name is missing", "the name of a node")),
        _ => Ok(()),
    }
}

fn other_columns(words: &Words, is_more: bool, count: usize) -> Error {
    let (more, kind) = match is_more {
        true => ("more", ErrorKind::BadInput),
        false => ("fewer", ErrorKind::MissingColumn),
    };
    let message = format!("this line has {more} columns than the first one, which has {count}");
    other_forms(words.wrong(kind, &message, "node<TAB>community, in all lines"))
}

/// Adds the hint how to read the other forms of text.
fn other_forms(error: Error) -> Error {
    error.hint(format_args!(
        "use {} if each line has all nodes of a community, {} if it has a representative and a node",
        ROWS.of("community"),
        ROWS.of("pair"),
    ))
}

fn no_representative(words: &Words, representative: &[u8]) -> Error {
    let text = String::from_utf8_lossy(representative);
    let message =
        format!("the first pair of `{text}` is not with itself, so it represents no community");
    let error = words.wrong(ErrorKind::BadInput, &message, "the representative again");
    error.hint(format_args!("keep the order in which {} wrote the lines", ROWS.of("pair")))
}
