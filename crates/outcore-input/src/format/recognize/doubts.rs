//! Lines that split into two or three columns like edges, but are something else: matrices, lists of neighbors, times.
//!
//! What `--columns`, a header or `--format lines` determines is never doubted.

use super::question::{ColumnView, columns_of};
use super::sampled_lines::{Sample, usual_width};
use super::{HeaderAt, LineReading};
use crate::Delimiter;
use crate::format::column_names::{self, Chosen, ColumnKind, are_two_identifiers};
use crate::layout::{Layout, is_commented};
use crate::text::number::{has_comma, is_fraction, is_missing, is_number, is_whole_number, parsed};
use crate::text::split;
use outcore_io::error::Text;
use outcore_io::error::opt::{COLUMNS, COMMENT, DELIMITER, FORMAT, TWO_MODE};
use std::collections::HashSet;

const AS_ARRAY: &str =
    "write each pair of nodes as a line, or pass the matrix in Python: `outcore.cluster(array)`";
/// Minimum number of rows in which rising numbers are taken for times.
const RISING_ROWS: usize = 20;
/// Minimum number of rows in which consecutive numbers are taken for those of the rows.
const NUMBERED_ROWS: usize = 4;

/// Returns what the lines are instead of edges, and what to type.
pub(in crate::format) fn doubt(
    sample: &Sample<'_>,
    reading: &LineReading<'_>,
) -> Option<(&'static str, Text)> {
    let rows: Vec<Vec<&[u8]>> =
        reading.body().iter().filter(|row| !row.is_empty()).cloned().collect();
    let rows = &rows[..];
    let has_delimiter = reading.split.delimiter != Delimiter::Spaces;
    let lists = || {
        format_args!("use {} if each line is a node and its neighbors", FORMAT.of("adjlist")).into()
    };
    match () {
        // Between spaces, such words are names.
        () if has_delimiter && sample.comment == b"#" && sample.lines.iter().any(|line| is_commented(line)) => Some((
            "has lines that look like comments: they begin with `//` or `--`",
            format_args!("use {} or {} if they are", COMMENT.of("//"), COMMENT.of("--")).into(),
        )),
        () if sample.is_whole && is_sized(rows) => Some((
            "begins with the size of a matrix, but without the banner of Matrix Market",
            "put `%%MatrixMarket matrix coordinate real general` first, or delete its first line".into(),
        )),
        () if is_matrix_of_names(&reading.names, rows) => {
            Some(("is a matrix with the same names for rows and columns", AS_ARRAY.into()))
        }
        () if is_matrix_of_numbers(rows, sample.is_whole) => {
            Some(("is a matrix of numbers, not lines of edges", AS_ARRAY.into()))
        }
        () if reading.split.delimiter != Delimiter::Byte(b';') && sample.lines.iter().all(|line| line.trim_ascii_end().ends_with(b";")) => Some((
            "ends its lines with `;`, which may be no part of a name",
            format_args!("remove it: `sed 's/; *$//' FILE | outcore ... -`, or use {} if it is", COLUMNS.of("1,2")).into(),
        )),
        () if sample.lines.iter().all(|line| is_tuple(line)) => Some((
            "holds Python tuples, not lines of edges",
            "strip them: `tr -d \"()' \" < FILE | outcore ... -`".into(),
        )),
        () if rows.iter().any(|row| row.get(2).is_some_and(|field| field.starts_with(b"{"))) => Some((
            "has networkx attributes, which are not columns",
            format_args!("use {} to leave them out", COLUMNS.of("1,2")).into(),
        )),
        () if are_neighbors(rows) => Some((
            "is a list of neighbors: a node and all its neighbors on each line",
            lists(),
        )),
        () if are_numbered(reading, rows) => Some((
            "may have row numbers in its first column",
            format_args!("use {} if it has, {} if they are nodes", COLUMNS.of("2,3"), COLUMNS.of("1,2,3")).into(),
        )),
        () if reading.names.is_empty() && are_labels(rows) => Some((
            "has rising numbers and a word for each, as a table of nodes and their labels",
            format_args!("use {} if each line is an edge", COLUMNS.of("1,2")).into(),
        )),
        () if is_labelled(rows) => Some((
            "has the same word in the first column of all lines, before two numbers",
            format_args!("use {} if the numbers are the nodes, {} if the word is one", COLUMNS.of("2,3"), COLUMNS.of("1,2,3")).into(),
        )),
        () if rows.len() > 1 && rows.iter().all(|row| row.get(1).is_some_and(|field| row.len() == 2 && has_comma(field))) => Some((
            "has numbers with a comma in its second column",
            format_args!("use {} with {} if the comma separates columns too", DELIMITER.of("','"), COLUMNS.of("1,2")).into(),
        )),
        () if sample.comments.first().is_some_and(|first| is_single(first.line, &sample.comment)) && rows.iter().all(|row| row.len() <= 2) && reading.kinds.get(1) == Some(&ColumnKind::Number) => Some((
            "looks like LGL: a node after `#`, and its neighbors on the next lines",
            format_args!("use {} if it is", FORMAT.of("lgl")).into(),
        )),
        () if reading.names.len() == 2 && are_two_identifiers([reading.names[0], reading.names[1]]) => Some((
            "has identifiers of two things by its header, which may be nodes of two kinds",
            format_args!("use {TWO_MODE} if equal identifiers in both columns are different nodes, {} otherwise", COLUMNS.of("1,2")).into(),
        )),
        () => times(reading, rows),
    }
}

/// Returns whether each line is another number, in order, and a text: edges name most of their nodes more than once.
fn are_labels(rows: &[Vec<&[u8]>]) -> bool {
    let number = |row: &Vec<&[u8]>| {
        let is_label = row.len() == 2 && !is_number(row[1]) && !is_missing(row[1]);
        is_label.then(|| parsed::<u64>(row[0])).flatten()
    };
    let numbers: Option<Vec<u64>> = rows.iter().map(number).collect();
    numbers.is_some_and(|all| all.len() > 2 && all.is_sorted_by(|a, b| a < b))
}

/// Returns what a file is instead of one table of edges, whatever its header says: two tables, lines below their
/// number, or points with their coordinates.
pub(in crate::format) fn parts(
    sample: &Sample<'_>,
    reading: &LineReading<'_>,
) -> Option<(&'static str, Text)> {
    let rows = &reading.split.rows;
    let is_count = |row: &Vec<&[u8]>| row.len() == 1 && is_whole_number(row[0]);
    if rows.len() > 1 && is_count(&rows[0]) && (2..=3).contains(&reading.split.width) {
        return Some((
            "begins with a number alone, as lists of triples do: head, tail, relation",
            format_args!("pass the other lines, and name the columns of the edge: `tail -n +2 FILE | outcore ... -` with {}", COLUMNS.of("1,2")).into(),
        ));
    }
    (reading.split.width > 1 && has_two_tables(sample, reading)).then(|| (
        "has a blank line or a comment after which its columns are of another kind: two tables",
        "pass the table of edges alone, such as the lines after the first blank one: `sed '1,/^ *$/d' FILE | outcore ... -`".into(),
    ))
}

/// Returns whether the number of columns, or the kind of one, changes at a blank line or a comment. A header may stand
/// above numbers.
fn has_two_tables(sample: &Sample<'_>, reading: &LineReading<'_>) -> bool {
    let from = usize::from(reading.header == HeaderAt::First);
    let layout = Layout::of(reading.split.delimiter);
    let mut starts = vec![from];
    starts.extend(sample.breaks.iter().copied().filter(|&at| at > from && at < sample.lines.len()));
    starts.push(sample.lines.len());
    let kind = |rows: &[Vec<&[u8]>], at: usize| {
        let values = rows.iter().filter_map(|row| row.get(at)).filter(|value| !is_missing(value));
        let are_numbers: Vec<bool> = values.map(|value| is_number(value)).collect();
        let rest = &are_numbers[usize::from(are_numbers.len() > 1)..];
        match () {
            () if rest.is_empty() => None,
            () if rest.iter().all(|&is| is) => Some(ColumnKind::Number),
            () => (!are_numbers.contains(&true)).then_some(ColumnKind::Text),
        }
    };
    let sections: Vec<Vec<Vec<&[u8]>>> = starts
        .windows(2)
        .map(|ends| {
            sample.lines[ends[0]..ends[1]].iter().map(|line| split(&layout, line)).collect()
        })
        .collect();
    // One line, without a header, is a bad line rather than a table.
    let is_table = |at: usize| sections[at].len() + if at == 0 { from } else { 0 } > 1;
    sections.windows(2).enumerate().any(|(at, two)| {
        if !is_table(at) || !is_table(at + 1) {
            return false;
        }
        let widths = [&two[0], &two[1]].map(|rows| usual_width(rows, rows.len()).0);
        let differs = |at: usize| match (kind(&two[0], at), kind(&two[1], at)) {
            (Some(one), Some(other)) => one != other,
            _ => false,
        };
        widths[0] != widths[1] || (0..widths[0]).any(differs)
    })
}

/// Returns the question about numbers in a column of names some of which are fractions: coordinates of points, or whole
/// numbers that a program wrote as `2.0`.
pub(in crate::format) fn fractions(
    view: &ColumnView<'_>,
    chosen: &Chosen,
) -> Option<(&'static str, Text)> {
    let has_some = |&at: &usize| {
        view.kinds.get(at) == Some(&ColumnKind::Number)
            && view.rows.iter().filter_map(|row| row.get(at)).any(|name| is_fraction(name))
    };
    let ends = [chosen.source, chosen.target];
    ends.iter().any(has_some).then(|| (
        "has fractions where names are expected, and `2.0` is not the name `2`",
        format_args!("write whole numbers without point and exponent, or use {} if the fractions are names", columns_of(view, &ends)).into(),
    ))
}

/// Returns the question about a weight that may be a time, unless its name says that it is a weight.
pub(in crate::format) fn times(
    reading: &LineReading<'_>,
    rows: &[Vec<&[u8]>],
) -> Option<(&'static str, Text)> {
    let chosen = reading.choice.chosen()?;
    let weight = chosen.weight.filter(|_| chosen.format.is_none())?;
    let is_named = reading.names.get(weight).is_some_and(|name| column_names::is_weight(name));
    let (source, target) = (chosen.source + 1, chosen.target + 1);
    let hint = || {
        let without = COLUMNS.of(format_args!("{source},{target}"));
        let with = COLUMNS.of(format_args!("{source},{target},{}", weight + 1));
        format_args!("use {without} to leave them out, {with} if they are weights").into()
    };
    (!is_named && are_times(rows, weight))
        .then(|| ("has numbers that may be times or weights", hint()))
}

/// Returns whether lines of three whole numbers, without a header, begin with their own line number, from 0 or 1, and
/// the third number is more like a node than like a weight: it has many values, or those of the second.
fn are_numbered(reading: &LineReading<'_>, rows: &[Vec<&[u8]>]) -> bool {
    let number = |row: &Vec<&[u8]>| match row[..] {
        [first, second, third] if is_whole_number(second) && is_whole_number(third) => {
            whole_number(first)
        }
        _ => None,
    };
    let numbers: Option<Vec<u64>> = rows.iter().map(number).collect();
    let counts =
        |numbers: Vec<u64>| numbers[0] <= 1 && numbers.windows(2).all(|two| two[1] == two[0] + 1);
    let values = |at: usize| rows.iter().map(|row| row[at]).collect::<HashSet<&[u8]>>();
    let are_nodes = || {
        let (second, third) = (values(1), values(2));
        let common = second.intersection(&third).count();
        third.len() * 2 > rows.len() || common * 4 > second.len().max(third.len())
    };
    let is_open = reading.names.is_empty() && rows.len() >= NUMBERED_ROWS;
    is_open && numbers.is_some_and(counts) && are_nodes()
}

/// Returns whether all lines begin with one word, before two whole numbers.
fn is_labelled(rows: &[Vec<&[u8]>]) -> bool {
    let is_number = |field: &[u8]| is_whole_number(field);
    rows.len() > 1
        && rows.iter().all(|row| {
            row.len() == 3
                && row[0] == rows[0][0]
                && !is_number(row[0])
                && is_number(row[1])
                && is_number(row[2])
        })
}

/// Returns whether a comment is a single word.
fn is_single(line: &[u8], comment: &[u8]) -> bool {
    let text = line.strip_prefix(comment).unwrap_or(line);
    let words = text.split(|&byte| byte == b' ' || byte == b'\t').filter(|word| !word.is_empty());
    text.starts_with(b" ") && words.count() == 1
}

fn whole_number(field: &[u8]) -> Option<u64> {
    Some(field).filter(|field| is_whole_number(field)).and_then(parsed)
}

/// Returns whether the first line is the size of a matrix: equal numbers of rows and columns, which no index exceeds,
/// and the number of lines that follow.
fn is_sized(rows: &[Vec<&[u8]>]) -> bool {
    if is_sized_pair(rows) {
        return true;
    }
    let Some([nodes, columns, entries]) = rows.first().map(Vec::as_slice) else { return false };
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

/// Returns whether the first line holds the numbers of nodes and edges: as many lines follow as there are edges, and no
/// node has a larger number.
fn is_sized_pair(rows: &[Vec<&[u8]>]) -> bool {
    let numbers =
        |row: &Vec<&[u8]>| Some([whole_number(row.first()?)?, whole_number(row.get(1)?)?]);
    let Some((nodes, edges)) =
        rows.first().filter(|row| row.len() == 2).and_then(numbers).map(|[n, m]| (n, m))
    else {
        return false;
    };
    rows.len() > 2
        && edges == rows.len() as u64 - 1
        && rows[1..]
            .iter()
            .all(|row| numbers(row).is_some_and(|ends| ends.iter().all(|&end| end <= nodes)))
}

/// Returns whether the columns have the same names as the rows.
fn is_matrix_of_names(names: &[&[u8]], rows: &[Vec<&[u8]>]) -> bool {
    let is_row = |(row, name): (&Vec<&[u8]>, &&[u8])| row[0] == *name;
    let names = names.get(1..).unwrap_or_default();
    names.len() >= 2
        && rows.len() <= names.len()
        && !rows.is_empty()
        && rows.iter().zip(names).all(is_row)
}

/// Returns whether the lines are the rows of a symmetric matrix, or of one of zeros and ones.
fn is_matrix_of_numbers(rows: &[Vec<&[u8]>], is_whole: bool) -> bool {
    let (width, height) = (rows.first().map_or(0, Vec::len), rows.len());
    let is_square = if is_whole { width == height } else { width > height };
    if !is_square || height < 3 || rows.iter().any(|row| row.len() != width) {
        return false;
    }
    let has_fractions = rows.iter().flatten().any(|field| field.contains(&b'.'));
    let is_symmetric =
        || (0..height).all(|row| (0..row).all(|column| rows[row][column] == rows[column][row]));
    let is_constant = || (1..height).all(|row| rows[row][row] == rows[0][0]);
    has_fractions
        && rows.iter().flatten().all(|field| is_number(field))
        && is_constant()
        && is_symmetric()
}

fn is_tuple(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"(")
        && (line.ends_with(b")") || line.ends_with(b"),"))
        && line.contains(&b',')
}

/// Returns whether a line is a node and its neighbors: `1: 2`, a second column of several names that the first has, or
/// all columns of names that the first has, each once.
fn are_neighbors(rows: &[Vec<&[u8]>]) -> bool {
    if rows.len() > 1 && rows.iter().all(|row| row[0].len() > 1 && row[0].ends_with(b":")) {
        return true;
    }
    let nodes: HashSet<&[u8]> = rows.iter().filter_map(|row| row.first().copied()).collect();
    let parts = |field: &'_ [u8]| -> Vec<Vec<u8>> {
        let parts = field.split(|byte| b",; |".contains(byte)).filter(|part| !part.is_empty());
        parts.map(<[u8]>::to_vec).collect()
    };
    let lists = rows
        .iter()
        .filter_map(|row| row.get(1))
        .map(|field| parts(field))
        .filter(|parts| parts.len() > 1);
    let (mut count, mut known) = (0, 0);
    for part in lists.flatten() {
        count += 1;
        known += usize::from(nodes.contains(&part[..]));
    }
    let is_of_lists = count > 1 && known * 2 > count;
    let is_node = |field: &&[u8]| nodes.contains(field);
    let row_of = |node: &[u8]| rows.iter().find(|row| row[0] == node);
    let is_mutual = |row: &Vec<&[u8]>| {
        row[1..].iter().all(|node| row_of(node).is_some_and(|other| other.contains(&row[0])))
    };
    let is_whole_list = rows.len() > 2
        && nodes.len() == rows.len()
        && rows.iter().all(|row| row.len() > 2 && row.iter().all(is_node))
        && rows.iter().all(is_mutual);
    is_of_lists || is_whole_list
}

/// Returns whether a column may be times: seconds or milliseconds since 1970, years, or numbers that rise from
/// line to line.
fn are_times(rows: &[Vec<&[u8]>], column: usize) -> bool {
    let numbers: Option<Vec<f64>> = rows
        .iter()
        .filter_map(|row| row.get(column))
        .filter(|field| !is_missing(field))
        .map(|field| parsed(field))
        .collect();
    let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else { return false };
    let are_within = |from: f64, to: f64| numbers.iter().all(|number| (from..to).contains(number));
    let are_whole = numbers.iter().all(|number| number.fract() == 0.0);
    let is_since_1970 = are_within(3e8, 5e9) || are_within(3e11, 5e12) || are_within(3e14, 5e15);
    let are_years = numbers.len() > 1 && are_whole && are_within(1900.0, 2101.0);
    let steps = numbers.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let is_rising =
        numbers.len() >= RISING_ROWS && numbers.is_sorted() && steps * 2 >= numbers.len();
    let is_day = |number: &f64| {
        let (month, day) = ((number / 100.0) as u64 % 100, *number as u64 % 100);
        (1.9e7..2.2e7).contains(number) && (1..=12).contains(&month) && (1..=31).contains(&day)
    };
    is_since_1970 || are_whole && numbers.iter().all(is_day) || are_years || are_whole && is_rising
}
