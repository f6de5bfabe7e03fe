//! Lines that split into columns but are not edges: matrices, lists of neighbors, relations, tables of nodes.
//!
//! `foreign` recognizes files by their first bytes; this module examines the sampled lines together. What `--columns`,
//! the names of a header or `--format lines` determine is never doubted.

use super::meant::{is_number, is_whole_number};
use super::names;
use crate::error::Text;
use crate::error::opt::{COLUMNS, COMMENT};
use crate::input::Delimiter;
use crate::input::fault::is_commented;
use std::collections::HashSet;
use std::path::Path;

/// Sampled lines to examine.
pub(crate) struct SampledLines<'a> {
    pub(crate) path: &'a Path,
    pub(crate) delimiter: Delimiter,
    /// Lines of the sample, and their columns.
    pub(crate) lines: &'a [&'a [u8]],
    pub(crate) rows: &'a [Vec<&'a [u8]>],
    pub(crate) has_header: bool,
    /// Whether the sample is the complete file.
    pub(crate) is_whole: bool,
    /// Whether the default comment prefix is in use.
    pub(crate) has_usual_comments: bool,
}

const AS_ARRAY: &str =
    "write each pair of nodes as a line, or pass the matrix in Python: `outcore.cluster(array)`";

impl SampledLines<'_> {
    /// Returns what the lines are instead of edges, and what to type.
    pub(crate) fn doubt(&self) -> Option<(&'static str, Text)> {
        let body = &self.rows[usize::from(self.has_header)..];
        let without_relation =
            || format_args!("use {} to leave the second column out", COLUMNS.of("1,3")).into();
        match () {
            () if self.is_commented() => Some((
                "has lines that look like comments: they begin with `//` or `--`",
                format_args!("use {} or {} if they are", COMMENT.of("//"), COMMENT.of("--")).into(),
            )),
            () if names::are_of_nodes(&self.rows[0]) && self.rows.len() > 1 => Some((
                "is a table of nodes according to its header, not of edges",
                format_args!(
                    "pass the table of edges; {} uses these columns anyway",
                    COLUMNS.of("1,2")
                )
                .into(),
            )),
            () if ends_with(self.path, "sif") => {
                Some(("is Cytoscape SIF, with a relation between two names", without_relation()))
            }
            () if ends_with(self.path, "mtx") => Some((
                "is named like a Matrix Market file, but does not begin with its banner",
                "fetch or write it again, or put `%%MatrixMarket matrix coordinate real general` first".into(),
            )),
            () if self.is_whole && is_sized(self.rows) => Some((
                "begins with the size of a matrix, but without the banner of Matrix Market",
                "put `%%MatrixMarket matrix coordinate real general` first, or delete its first line".into(),
            )),
            () if is_matrix_of_names(self.rows) => {
                Some(("is a matrix with the same names for rows and columns", AS_ARRAY.into()))
            }
            () if is_matrix_of_numbers(self.rows, self.is_whole) => {
                Some(("is a matrix of numbers, not lines of edges", AS_ARRAY.into()))
            }
            () if self.lines.iter().all(|line| is_tuple(line)) => Some((
                "holds Python tuples, not lines of edges",
                "strip them: `tr -d \"()' \" < FILE | outcore ... -`".into(),
            )),
            () if body
                .iter()
                .any(|row| row.get(2).is_some_and(|field| field.starts_with(b"{'"))) =>
            {
                Some((
                    "has networkx attributes, which are not columns",
                    format_args!(
                        "write its edges with `data=[\"weight\"]`, or use {} to leave them out",
                        COLUMNS.of("1,2")
                    )
                    .into(),
                ))
            }
            () if is_relation(body) => Some((
                "has a relation in its second column, between the two names",
                without_relation(),
            )),
            () if is_adjacency(body, self.is_whole) => Some((
                "is a list of neighbors: a node and all its neighbors on each line",
                "write each neighbor as a line: `awk '{for (i = 2; i <= NF; i++) print $1, $i}' FILE | outcore ... -`".into(),
            )),
            () => None,
        }
    }

    fn is_commented(&self) -> bool {
        // Between spaces, such words are names.
        let may_be = self.has_usual_comments && self.delimiter != Delimiter::Spaces;
        may_be && self.lines.iter().any(|line| is_commented(line))
    }
}

/// Returns whether the name of a file has the extension `end`, compressed or not.
fn ends_with(path: &Path, end: &str) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = [".gz", ".bgz", ".zst", ".bz2", ".xz"]
        .iter()
        .find_map(|packed| name.strip_suffix(packed))
        .unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, found)| found == end)
}

fn whole_number(field: &[u8]) -> Option<u64> {
    is_whole_number(field).then(|| std::str::from_utf8(field.trim_ascii()).ok()?.parse().ok())?
}

/// Returns whether the first line is the size of a matrix: equal numbers of rows and columns, which no index exceeds,
/// and as many entries as there are lines.
fn is_sized(rows: &[Vec<&[u8]>]) -> bool {
    let [nodes, columns, entries] = rows[0][..] else { return false };
    let (Some(nodes), Some(entries)) = (whole_number(nodes), whole_number(entries)) else {
        return false;
    };
    let is_index =
        |field: &&[u8]| whole_number(field).is_some_and(|index| (1..=nodes).contains(&index));
    whole_number(columns) == Some(nodes)
        && entries > 0
        && entries == rows.len() as u64 - 1
        && rows[1..].iter().all(|row| row.len() >= 2 && row[..2].iter().all(is_index))
}

/// Returns whether the columns have the same names as the rows, and everything else is numbers.
fn is_matrix_of_names(rows: &[Vec<&[u8]>]) -> bool {
    let (first, body) = (&rows[0], &rows[1..]);
    let Some(width) = body.first().map(Vec::len).filter(|&width| width > 2) else { return false };
    let Some(names) = (first.len() + 1).checked_sub(width).and_then(|at| first.get(at..)) else {
        return false;
    };
    let is_row = |(row, name): (&Vec<&[u8]>, &&[u8])| {
        row.len() == width && row[0] == *name && row[1..].iter().all(|field| is_number(field))
    };
    // An edge list of numbers may look like this by chance.
    let are_named =
        names.iter().any(|name| !is_number(name)) || first.len() == width && !is_number(first[0]);
    are_named && names.len() >= 2 && body.len() <= names.len() && body.iter().zip(names).all(is_row)
}

/// Returns whether the lines are the rows of a symmetric matrix, or of one of zeros and ones.
fn is_matrix_of_numbers(rows: &[Vec<&[u8]>], is_whole: bool) -> bool {
    let (width, height) = (rows[0].len(), rows.len());
    let is_square = if is_whole { width == height } else { width > height };
    let has_fractions = rows.iter().any(|row| row.iter().any(|field| field.contains(&b'.')));
    let is_large = height >= if has_fractions && is_whole { 3 } else { 4 };
    if !is_square || !is_large || rows.iter().any(|row| row.len() != width) {
        return false;
    }
    let is_bit = |field: &&[u8]| matches!(field.trim_ascii(), b"0" | b"1");
    if rows.iter().flatten().all(is_bit) {
        return true;
    }
    let is_symmetric =
        || (0..height).all(|row| (0..row).all(|column| rows[row][column] == rows[column][row]));
    let is_constant = || (1..height).all(|row| rows[row][row] == rows[0][0]);
    let is_constant_row = rows[0][1..].iter().all(|field| field == &rows[0][1]);
    rows.iter().flatten().all(|field| is_number(field))
        && !is_constant_row
        && is_constant()
        && is_symmetric()
}

fn is_tuple(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"(")
        && (line.ends_with(b")") || line.ends_with(b"),"))
        && line.contains(&b',')
}

/// Returns whether the second column is a relation between the first and the third: a sign, or words that name no node
/// while the other two columns share names.
fn is_relation(rows: &[Vec<&[u8]>]) -> bool {
    if rows.is_empty() || rows.iter().any(|row| row.len() < 3) {
        return false;
    }
    let is_sign = |field: &[u8]| {
        !field.is_empty() && field.len() <= 4 && field.iter().all(u8::is_ascii_punctuation)
    };
    if rows.iter().all(|row| is_sign(row[1]) && !is_sign(row[0]) && !is_sign(row[2])) {
        return true;
    }
    let column = |at: usize| rows.iter().map(move |row| row[at]).collect::<HashSet<&[u8]>>();
    let [sources, relations, targets] = [column(0), column(1), column(2)];
    let has_numbers = rows.iter().any(|row| is_number(row[2]));
    rows.len() >= 2
        && !has_numbers
        && !sources.is_disjoint(&targets)
        && relations.is_disjoint(&sources)
        && relations.is_disjoint(&targets)
}

/// Returns whether lines of different lengths contain names of nodes (of first columns) from the third column on.
fn is_adjacency(rows: &[Vec<&[u8]>], is_whole: bool) -> bool {
    let nodes: HashSet<&[u8]> = rows.iter().filter_map(|row| row.first().copied()).collect();
    let further = || rows.iter().flat_map(|row| row.iter().skip(2)).filter(|name| !name.is_empty());
    let (count, known) =
        (further().count(), further().filter(|name| nodes.contains(*name)).count());
    let is_ragged = rows.iter().any(|row| row.len() != rows[0].len());
    let are_names = !further().any(|field| is_number(field));
    let most = if is_whole { known == count } else { known * 2 >= count };
    let has_lists = rows.iter().any(|row| row.len() > 3);
    count >= 2 && most && (are_names || is_ragged && has_lists)
}
