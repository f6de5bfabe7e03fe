//! What the first lines of a file of communities are: a banner, records, or the shape of their columns.

use super::labels::{is_labelled, is_table_of_groups};
use crate::fault::escaped;
use crate::format::members;
use crate::layout::Layout;
use crate::text::number::{is_digits, is_whole_number, parsed};
use crate::text::{fields, is_short_number, split};
use crate::{CommunityFormat, Delimiter};
use outcore_io::error::opt::{COMMUNITY_COLUMNS, COMMUNITY_FORMAT};
use outcore_io::error::{Error, Result};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;
use std::path::Path;

/// Maximum number of lines, and of fields of all lines, that are compared.
const LINES: usize = 1000;
const FIELDS: usize = 20_000;
/// Bytes of a line that are compared.
const LINE_BYTES: usize = 256 << 10;
/// Number of columns from which lines can only be clusters.
const COLUMNS_OF_CLUSTER: usize = 1000;

/// First lines of a file, without comments at its beginning and blank lines.
pub(super) struct Lines<'a> {
    comments: Vec<&'a [u8]>,
    lines: Vec<&'a [u8]>,
}

impl<'a> Lines<'a> {
    /// Splits the first bytes of a file; `is_whole` says whether they are the whole file.
    pub(super) fn of(head: &'a [u8], is_whole: bool, comment: &[u8]) -> Self {
        let mut found = Self { comments: Vec::new(), lines: Vec::new() };
        let mut rest = head;
        while !rest.is_empty() && found.lines.len() < LINES {
            let end = memchr::memchr(b'\n', rest);
            let (line, next) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            rest = next;
            // An empty field at the end counts.
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let blanks = text.iter().rev().take_while(|&&byte| byte == b' ').count();
            let text = &text[..text.len() - blanks];
            let is_cut = end.is_none() && !is_whole;
            if found.lines.is_empty() && is_comment(text, comment) {
                found.comments.push(text);
            } else if !text.trim_ascii().is_empty() && (!is_cut || found.lines.is_empty()) {
                found.lines.push(text);
            }
        }
        found
    }

    /// Returns the format that a banner or the records of the file reveal.
    pub(super) fn banner(&self, head: &[u8]) -> Option<CommunityFormat> {
        let first = *self.lines.first()?;
        let second = self.lines.get(1).copied();
        let mut all = self.lines.iter();
        match () {
            () if self.comments.first() == Some(&CLUSTERS_MARK.as_bytes()) => {
                Some(CommunityFormat::Clusters)
            }
            () if matches!(first, b"(mclheader" | b"(mclmatrix") => Some(CommunityFormat::Mcl),
            () if is_vector(first, second) => Some(CommunityFormat::Clu),
            () if self.comments.iter().any(|line| modules_of(line).is_some()) => {
                Some(CommunityFormat::Clu)
            }
            () if is_in_tree(first) => Some(CommunityFormat::Tree),
            () if is_cluster(first) && second.is_none_or(is_member) => Some(CommunityFormat::Clstr),
            () if all.all(|line| is_record(line)) => Some(CommunityFormat::Uc),
            () if is_object(first, head) => Some(CommunityFormat::Jsonl),
            () => None,
        }
    }

    /// Returns whether lines are as a result has them: a name, a tab, and the number or the path of a community; or pairs,
    /// of which the first is a node with itself.
    pub(super) fn are_of_result(&self) -> bool {
        let is_twice = |line: &&[u8]| {
            let middle = line.len() / 2;
            line.get(middle) == Some(&b'\t') && line[..middle] == line[middle + 1..]
        };
        let are_pairs = self.lines.first().is_some_and(is_twice);
        let are_own = !self.lines.is_empty() && self.lines.iter().all(|line| is_own(line));
        self.comments.is_empty() && (are_own || are_pairs)
    }

    /// Returns whether lines are certainly nodes and communities, whatever else they look like: lines of a result, or
    /// below a header.
    pub(super) fn are_certain(&self) -> bool {
        let has_header = |delimiter: u8| {
            let rows = self.rows_by(Delimiter::Byte(delimiter));
            rows.split_first().is_some_and(|(first, body)| is_header(first, body))
        };
        self.are_of_result() || has_header(b'\t') || has_header(b',')
    }

    /// Returns whether the first line has no tab, and no comment says what it is.
    pub(super) fn are_of_words(&self) -> bool {
        self.comments.is_empty() && self.lines.first().is_some_and(|line| !line.contains(&b'\t'))
    }

    /// Returns the format that the columns of the lines reveal.
    ///
    /// # Errors
    /// `Usage` if they could be read in several ways.
    pub(super) fn shape(&self, path: &Path) -> Result<CommunityFormat> {
        let rows = self.rows();
        let Some((first, body)) = rows.split_first() else { return Ok(CommunityFormat::Lines) };
        let counts = || rows.iter().map(Vec::len);
        let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        // A quote that is not closed is a bad line.
        let layout = Layout::of(delimiter_of(self.lines.iter().copied()));
        let is_broken = |line: &&[u8]| fields(&layout, line).any(|field| field.is_err());
        if self.lines.iter().any(is_broken) {
            return Ok(CommunityFormat::Lines);
        }
        let are_ragged = least < most || most >= COLUMNS_OF_CLUSTER;
        let has_path = |row: &Vec<&[u8]>| row.get(1).is_some_and(|path| is_path(path));
        if first.starts_with(&[b"node", b"path"]) && body.iter().all(has_path) {
            return Ok(CommunityFormat::Levels);
        }
        if is_header(first, body) {
            return Ok(CommunityFormat::Lines);
        }
        if is_table_of_groups(&rows) || is_labelled(&self.lines, &rows) {
            return Ok(CommunityFormat::Clusters);
        }
        let has_gaps = rows.iter().flatten().any(|field| field.is_empty());
        // A name and a number in most lines, but not in all: the others are bad lines.
        let is_pair = |row: &&Vec<&[u8]>| row.len() == 2;
        let are_values = rows.iter().filter(is_pair).all(|row| is_path(row[1]));
        let are_numbers = rows.iter().flatten().all(|field| is_whole_number(field));
        if most == 2 && are_ragged && are_values && !are_numbers {
            return Ok(CommunityFormat::Lines);
        }
        match are_ragged || most == 1 {
            false if most == 2 => {
                Ok(of_two(rows.iter().filter_map(|row| row.as_slice().try_into().ok())))
            }
            true if !has_gaps && are_distinct(rows.iter().flatten().copied()) => {
                Ok(CommunityFormat::Clusters)
            }
            true if most > 1 => Err(ask(path, self.lines[0], least..=most, has_gaps)),
            _ => Ok(CommunityFormat::Lines),
        }
    }

    /// Returns the fields of the lines.
    pub(super) fn rows(&self) -> Vec<Vec<&'a [u8]>> {
        self.rows_by(delimiter_of(self.lines.iter().copied()))
    }

    fn rows_by(&self, delimiter: Delimiter) -> Vec<Vec<&'a [u8]>> {
        let layout = Layout::of(delimiter);
        let begin = |line: &&'a [u8]| split(&layout, &line[..line.len().min(LINE_BYTES)]);
        self.lines.iter().map(begin).collect()
    }

    /// Returns which reader of communities per line fits: without labels, with them, or for a table of groups.
    pub(super) fn readers_before(&self) -> usize {
        let rows = self.rows();
        match is_table_of_groups(&rows) {
            true => 2,
            false => usize::from(is_labelled(&self.lines, &rows)),
        }
    }
}

/// First line of a file of communities per line. It is needed where lines could be taken for a node and its community,
/// because most have as many nodes as the first one.
pub const CLUSTERS_MARK: &str = "# a community per line";

/// Returns whether a first line names the columns of the lines below, most of which have as many.
fn is_header(first: &[&[u8]], body: &[Vec<&[u8]>]) -> bool {
    let fits = body.iter().filter(|row| (first.len()..=first.len() + 1).contains(&row.len()));
    let has_twins = (1..first.len()).any(|at| first[..at].contains(&first[at]));
    !has_twins && members::are_named(first) && 2 * fits.count() >= body.len()
}

/// Returns whether a line is a comment. A line as in a result is none, since names may begin like a comment.
pub(super) fn is_comment(line: &[u8], comment: &[u8]) -> bool {
    let is_usual = line.starts_with(b"#") || line.starts_with(b"%");
    let is_given = !comment.is_empty() && line.starts_with(comment);
    is_given && comment != b"#" || (is_given || is_usual) && !is_own(line)
}

/// Returns whether a line is a name, a tab, and a number or a path.
fn is_own(line: &[u8]) -> bool {
    memchr::memrchr(b'\t', line).is_some_and(|at| {
        let name = &line[..at];
        let is_one = name.starts_with(b"\"") || !name.contains(&b'\t');
        at > 0 && is_one && is_path(&line[at + 1..])
    })
}

/// Returns what separates the names in lines: the first of tab, comma and space that they have.
pub(super) fn delimiter_of<'a>(lines: impl Iterator<Item = &'a [u8]> + Clone) -> Delimiter {
    let has = |byte: u8| lines.clone().any(|line| memchr::memchr(byte, line).is_some());
    match () {
        () if has(b'\t') => Delimiter::Byte(b'\t'),
        () if has(b',') => Delimiter::Byte(b','),
        () if has(b';') => Delimiter::Byte(b';'),
        () => Delimiter::Spaces,
    }
}

/// Returns the format of lines of two columns.
fn of_two<'a>(rows: impl Iterator<Item = [&'a [u8]; 2]>) -> CommunityFormat {
    let rows: Vec<[&[u8]; 2]> = rows.collect();
    let are_paths = rows.iter().all(|[_, community]| is_path(community));
    if are_paths && rows.iter().any(|[_, community]| community.contains(&b':')) {
        return CommunityFormat::Levels;
    }
    let begins_with_itself = rows.first().is_some_and(|[first, second]| first == second);
    let repeats = |part: usize| !are_distinct(rows.iter().map(|row| row[part]));
    // If nothing repeats in the sample, every reading gives the same communities, and a later line that contradicts the
    // chosen one is an error. Nodes that are alone are each paired with themselves.
    let are_alone = || {
        rows.iter().all(|[first, second]| first == second)
            && !rows.iter().all(|[first, _]| is_whole_number(first))
    };
    if begins_with_itself && !repeats(1) && (repeats(0) || are_alone()) {
        return CommunityFormat::Pairs;
    }
    CommunityFormat::Lines
}

/// Returns whether no text occurs twice.
fn are_distinct<'a>(texts: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut known = HashSet::new();
    texts.take(FIELDS).all(|text| known.insert(text))
}

fn ask(path: &Path, line: &[u8], columns: RangeInclusive<usize>, has_gaps: bool) -> Error {
    let (least, most) = columns.into_inner();
    let why = if has_gaps { "some fields are empty" } else { "some names occur more than once" };
    let shown = escaped(line, 60);
    let path = path.display();
    let message =
        format!("`{path}` has lines of {least} to {most} columns: which are communities?");
    Error::usage(message).note(format!("{why}; its first line is `{shown}`")).hint(format_args!(
        "use {} if each line is a community, or {} for the columns of a node and its community",
        COMMUNITY_FORMAT.of("clusters"),
        COMMUNITY_COLUMNS.of("1,2")
    ))
}

/// Returns whether a text is numbers joined by colons, as `--levels tree` writes them.
pub(super) fn is_path(text: &[u8]) -> bool {
    text.split(|&byte| byte == b':').all(is_short_number)
}

/// Returns whether lines are those of a vector of Pajek: `*Vertices 34`, then a number per line.
fn is_vector(first: &[u8], second: Option<&[u8]>) -> bool {
    let is_partition = starts_with(first, b"*partition");
    is_partition || starts_with(first, b"*vertices") && second.is_some_and(is_whole_number)
}

pub(super) fn starts_with(line: &[u8], start: &[u8]) -> bool {
    line.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

/// Returns the columns of node and module that a comment of Infomap names: `# node_id module flow`.
pub(super) fn modules_of(comment: &[u8]) -> Option<[usize; 2]> {
    let words = comment.strip_prefix(b"#")?.split(|byte| b" \t:".contains(byte));
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    let at = |known: &[&[u8]]| words.iter().position(|word| known.contains(word));
    let node = at(&[b"node_id"]).or_else(|| at(&[b"node"]))?;
    let module = at(&[b"module", b"cluster", b"module_id"])?;
    (words.len() >= 3 && at(&[b"flow"]).is_some()).then_some([node, module])
}

/// Returns whether a line is a node in a tree of Infomap: `1:2:3 0.05 "name" 7`.
fn is_in_tree(line: &[u8]) -> bool {
    let mut words = line.split(|byte| b" \t".contains(byte)).filter(|word| !word.is_empty());
    let path = words.next().unwrap_or_default();
    let has_flow = words.next().and_then(parsed::<f64>);
    let is_named = words.next().is_some_and(|word| word.starts_with(b"\""));
    path.contains(&b':') && is_path(path) && has_flow.is_some() && is_named
}

/// Returns whether a line begins a cluster of CD-HIT: `>Cluster 0`.
pub(super) fn is_cluster(line: &[u8]) -> bool {
    line.strip_prefix(b">Cluster ").is_some_and(is_digits)
}

/// Returns whether a line is a sequence of a cluster of CD-HIT: `0\t297aa, >name... *`.
fn is_member(line: &[u8]) -> bool {
    line.first().is_some_and(u8::is_ascii_digit) && memchr::memmem::find(line, b", >").is_some()
}

/// Returns whether a line is a record of UCLUST: ten columns, of which the first is a letter and the second a number.
fn is_record(line: &[u8]) -> bool {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    fields.len() == 10
        && matches!(fields[0], b"S" | b"H" | b"C" | b"N" | b"L" | b"R" | b"D")
        && (is_digits(fields[1]) || fields[1] == b"*")
}

/// Returns whether a file begins with an object on a line of its own, whose members are no lists or objects.
fn is_object(first: &[u8], head: &[u8]) -> bool {
    let inner = first.strip_prefix(b"{").unwrap_or_default().trim_ascii_start();
    let ends = first.ends_with(b"}") || memchr::memchr(b'\n', head).is_none();
    let is_flat = serde_json::from_slice(first).is_ok_and(|all: BTreeMap<String, Value>| {
        !all.values().any(|value| value.is_array() || value.is_object())
    });
    inner.starts_with(b"\"") && ends && is_flat
}
