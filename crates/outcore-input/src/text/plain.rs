//! Tight loop for plain lines: names in columns 1 and 2, nothing quoted. One pass over 8-byte words finds the end of a field
//! and builds its fingerprint at the same time: about 15 ns per line.

use super::field::{self, first_equal, splat};
use super::{EdgeSink, LineKind, general_line};
use crate::layout::Layout;
use crate::options::LINE_LIMIT;
use crate::{Delimiter, WeightTransform};
use memchr::{memchr, memchr2, memchr3};
use outcore_graph::ids::{Fingerprint, NAME_LIMIT, NameRef};

/// Kinds of the tight loop: fields between single bytes; the same, with spaces around fields; fields between spaces.
pub(super) const BYTES: u8 = 0;
pub(super) const BYTES_AND_SPACES: u8 = 1;
pub(super) const SPACES: u8 = 2;

/// Words and bytes that the tight loop compares with.
pub(super) struct PlainMasks {
    delimiter: u8,
    delimiters: u64,
    /// Columns between the target and the weight.
    skipped: u32,
    /// First byte of comments, or 256.
    comment: u16,
    /// Whether a delimiter after the last required column makes a line unusual.
    is_exact: bool,
    transform: WeightTransform,
}

impl PlainMasks {
    pub(super) fn new(layout: &Layout) -> Self {
        let delimiter = match layout.delimiter {
            Delimiter::Byte(byte) => byte,
            Delimiter::Spaces => b' ',
        };
        Self {
            delimiter,
            delimiters: splat(delimiter),
            skipped: layout.weight.map_or(0, |column| column as u32 - 2),
            comment: layout.comment.first().map_or(256, |&byte| u16::from(byte)),
            is_exact: layout.is_exact,
            transform: layout.transform,
        }
    }
}

/// Tight loop, for lines whose first columns are the names, without quotes. If columns are separated by runs of spaces
/// ([`SPACES`]), only lines with single spaces are plain.
pub(super) fn parse_plain<const WEIGHTED: bool, const KIND: u8>(
    plain: &PlainMasks,
    layout: &Layout,
    text: &[u8],
    range: std::ops::Range<usize>,
    edges: &mut EdgeSink<'_>,
    stop: bool,
) {
    let mut at = range.start;
    while at < range.end {
        let before = edges.names.len();
        if let Some((weight, next)) = plain_line::<WEIGHTED, KIND>(plain, text, at, edges.names)
            && next - at <= LINE_LIMIT
        {
            if WEIGHTED {
                edges.weights.push(weight);
            }
            at = next;
            continue;
        }
        edges.names.truncate(before);
        let (line, next) = general_line(layout, false, text, at, range.end);
        match line {
            LineKind::Nothing => {}
            LineKind::Comment => *edges.comments += 1,
            LineKind::Edge(found) => found.push(text, WEIGHTED, edges),
            LineKind::Bad(fault) => {
                edges.faults.push(fault);
                if stop {
                    return;
                }
            }
        }
        at = next;
    }
}

/// Appends the names of the plain edge at `at`; returns its weight's code and the start of the next line. Returns
/// `None` for any other line, possibly after appending a name.
///
/// Names are written directly to their place: passing a pair of them in a tuple takes twice the time.
#[inline(always)]
fn plain_line<const WEIGHTED: bool, const KIND: u8>(
    plain: &PlainMasks,
    text: &[u8],
    at: usize,
    names: &mut Vec<NameRef>,
) -> Option<(u32, usize)> {
    if u16::from(text[at]) == plain.comment {
        return None;
    }
    let source_end = plain_name::<KIND>(plain, text, at, names)?;
    if text[source_end] != plain.delimiter {
        return None;
    }
    let target_end = plain_name::<KIND>(plain, text, source_end + 1, names)?;
    let ends_line = text[target_end] != plain.delimiter;
    if KIND == SPACES && text[target_end] == b'\t' {
        return None;
    }
    if !WEIGHTED {
        if !ends_line {
            if plain.is_exact {
                return (text[target_end + 1] == b'\n').then_some((0, target_end + 2));
            }
            let rest = memchr(b'\n', &text[target_end..])?;
            return Some((0, target_end + rest + 1));
        }
        return (text[target_end - 1] != b'\r').then_some((0, target_end + 1));
    }
    if ends_line {
        return None;
    }
    let mut weight_start = target_end + 1;
    if plain.skipped > 0 {
        weight_start = skip_columns(plain, text, weight_start)?;
    }
    let (low, _) = field::words(text, weight_start);
    let (value, weight_end) = match field::short_weight(low) {
        Some((value, len)) => (value, weight_start + len),
        None => long_weight(plain, text, weight_start)?,
    };
    let weight = plain.transform.code(value)?;
    let end = text[weight_end];
    let next = if end == b'\n' {
        weight_end + 1
    } else if end == plain.delimiter && !plain.is_exact {
        weight_end + memchr(b'\n', &text[weight_end..])? + 1
    } else if (end == b'\r' || end == plain.delimiter) && text[weight_end + 1] == b'\n' {
        weight_end + 2
    } else {
        return None;
    };
    Some((weight, next))
}

/// Reads a weight that is too long for one word; returns it and its end.
#[inline(never)]
fn long_weight(plain: &PlainMasks, text: &[u8], at: usize) -> Option<(f64, usize)> {
    let end = at + memchr2(plain.delimiter, b'\n', &text[at..])?;
    Some((field::weight_value(&text[at..end]).ok()?, end))
}

/// Appends the name at `at`; returns its end, at a delimiter or a line end. Returns `None` if the name is empty or too
/// long.
#[inline(always)]
fn plain_name<const KIND: u8>(
    plain: &PlainMasks,
    text: &[u8],
    at: usize,
    names: &mut Vec<NameRef>,
) -> Option<usize> {
    const LINE_ENDS: u64 = splat(b'\n');
    let (low, high) = field::words(text, at);
    let mut low_marks = first_equal(low, plain.delimiters) | first_equal(low, LINE_ENDS);
    let mut high_marks = first_equal(high, plain.delimiters) | first_equal(high, LINE_ENDS);
    if KIND == SPACES {
        low_marks |= first_equal(low, splat(b'\t'));
        high_marks |= first_equal(high, splat(b'\t'));
    }
    let len = if low_marks != 0 {
        low_marks.trailing_zeros() as usize / 8
    } else if high_marks != 0 {
        8 + high_marks.trailing_zeros() as usize / 8
    } else {
        return long_name::<KIND>(plain, text, at, names);
    };
    if len == 0 || KIND == BYTES_AND_SPACES && has_spaces_around(&text[at..at + len]) {
        return None;
    }
    let fingerprint = Fingerprint::of_words(low, high, len);
    names.push(NameRef { fingerprint, offset: at as u32, bytes: len as u32 });
    Some(at + len)
}

#[inline(never)]
fn long_name<const KIND: u8>(
    plain: &PlainMasks,
    text: &[u8],
    at: usize,
    names: &mut Vec<NameRef>,
) -> Option<usize> {
    let rest = &text[at + 16..];
    let len = 16
        + if KIND == SPACES {
            memchr3(b' ', b'\t', b'\n', rest)?
        } else {
            memchr2(plain.delimiter, b'\n', rest)?
        };
    if len > NAME_LIMIT || KIND == BYTES_AND_SPACES && has_spaces_around(&text[at..at + len]) {
        return None;
    }
    let fingerprint = Fingerprint::of_long(&text[at..at + len]);
    names.push(NameRef { fingerprint, offset: at as u32, bytes: len as u32 });
    Some(at + len)
}

fn has_spaces_around(name: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    is_space(name.first()) || is_space(name.last())
}

/// Returns the start of the column that is `plain.skipped` columns after the one at `at`.
#[inline(always)]
fn skip_columns(plain: &PlainMasks, text: &[u8], mut at: usize) -> Option<usize> {
    let mut wanted = plain.skipped;
    loop {
        let (word, _) = field::words(text, at);
        let mut delimiters = field::all_equal(word, plain.delimiters);
        let ends = field::all_equal(word, splat(b'\n'));
        // Delimiters after a line end belong to another line.
        delimiters &= ends.wrapping_sub(1) & !ends;
        let found = delimiters.count_ones();
        if found < wanted {
            if ends != 0 {
                return None;
            }
            wanted -= found;
            at += 8;
            continue;
        }
        for _ in 1..wanted {
            delimiters &= delimiters - 1;
        }
        return Some(at + delimiters.trailing_zeros() as usize / 8 + 1);
    }
}
