//! Detects the delimiter and whether fields are quoted, from the lines of a sample.

use super::meant::is_number_with_comma;
use super::{Layout, fields, split};
use crate::input::Delimiter;

/// Returns the delimiter of `lines`; `body` are those that cannot be a header.
pub(crate) fn find(lines: &[&[u8]], body: &[&[u8]]) -> Delimiter {
    // A header may have a different number of columns. Of two lines, either may be the bad one.
    let consistent = consistent_delimiter(lines);
    let without_first = || (body.len() > 1).then(|| consistent_delimiter(body)).flatten();
    let found = consistent.or_else(without_first).unwrap_or_else(|| usual_delimiter(lines));
    let other = around_decimals(found, lines).or_else(|| standing_bars(found, lines));
    other.unwrap_or(found)
}

const CANDIDATES: [Delimiter; 5] = [
    Delimiter::Byte(b'\t'),
    Delimiter::Byte(b','),
    Delimiter::Byte(b';'),
    Delimiter::Spaces,
    Delimiter::Byte(b'|'),
];

/// Returns the number of columns of every line when split by `delimiter`.
fn column_counts(delimiter: Delimiter, lines: &[&[u8]]) -> Vec<usize> {
    let layout = Layout { quotes: quotes(delimiter, lines), ..Layout::of(delimiter) };
    lines.iter().map(|line| fields(&layout, line).count()).collect()
}

/// Returns whether fields may be quoted. Between tabs and spaces, quotes are parts of names unless every line has
/// quoted fields with nothing after the closing quotes, as in tables written by R.
pub(crate) fn quotes(delimiter: Delimiter, lines: &[&[u8]]) -> bool {
    let layout = Layout { quotes: true, ..Layout::of(delimiter) };
    let is_quoted = |line: &&[u8]| {
        let found: Option<Vec<bool>> =
            fields(&layout, line).map(|field| field.ok().map(|field| field.is_quoted())).collect();
        found.is_some_and(|found| found.contains(&true))
    };
    let may_be = matches!(delimiter, Delimiter::Spaces | Delimiter::Byte(b'\t'));
    delimiter.allows_quotes() || may_be && lines.iter().all(is_quoted)
}

/// Returns the first delimiter that splits all lines into the same number of columns.
fn consistent_delimiter(lines: &[&[u8]]) -> Option<Delimiter> {
    CANDIDATES.into_iter().find(|&delimiter| {
        let counts = column_counts(delimiter, lines);
        counts[0] >= 2 && counts.iter().all(|&count| count == counts[0])
    })
}

/// Returns the delimiter that splits most lines, or a tab if none splits any.
fn usual_delimiter(lines: &[&[u8]]) -> Delimiter {
    let splitting = |&delimiter: &Delimiter| {
        column_counts(delimiter, lines).into_iter().filter(|&count| count >= 2).count()
    };
    // Of equal elements, `max_by_key` returns the last.
    CANDIDATES.into_iter().rev().max_by_key(splitting).unwrap_or(CANDIDATES[0])
}

/// Returns a bar if it separates columns between spaces: `a | b`.
fn standing_bars(found: Delimiter, lines: &[&[u8]]) -> Option<Delimiter> {
    let layout = Layout::of(found);
    let has_bar = |line: &&[u8]| split(&layout, line).contains(&&b"|"[..]);
    let is_bar = found == Delimiter::Spaces && lines.iter().all(has_bar);
    is_bar.then_some(Delimiter::Byte(b'|'))
}

/// Returns the delimiter of lines whose commas are all decimal commas, although commas would split the lines too:
/// `a;b;1,5`. Numbers may come before the names only between semicolons.
fn around_decimals(found: Delimiter, lines: &[&[u8]]) -> Option<Delimiter> {
    if found != Delimiter::Byte(b',') {
        return None;
    }
    CANDIDATES.into_iter().filter(|&other| other != found).find(|&other| {
        let layout = Layout::of(other);
        let names = if other == Delimiter::Byte(b';') { 0 } else { 2 };
        let is_decimal = |(at, field): (usize, &&[u8])| {
            !field.contains(&b',') || at >= names && is_number_with_comma(field)
        };
        let rows = || lines.iter().map(|line| split(&layout, line));
        let splits = rows().filter(|row| row.len() >= 3).count() * 2 >= lines.len();
        splits && rows().all(|row| row.iter().enumerate().all(is_decimal))
    })
}
