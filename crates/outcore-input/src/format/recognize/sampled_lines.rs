//! Sampled lines of a file, and their columns by each delimiter.

use crate::format::column_names::ColumnKind;
use crate::layout::{BYTE_ORDER_MARK, Layout};
use crate::text::number::{is_missing, is_number};
use crate::text::{fields, split};
use crate::{Delimiter, InputOptions};
use std::path::Path;

/// Maximum number of lines that are sampled.
pub(in crate::format) const SAMPLED_LINES: usize = 1000;

/// Sampled lines of a block.
pub(in crate::format) struct Sample<'a> {
    pub(in crate::format) path: &'a Path,
    pub(in crate::format) options: &'a InputOptions,
    /// Lines that are neither blank nor comments.
    pub(in crate::format) lines: Vec<&'a [u8]>,
    /// Comments before them.
    pub(in crate::format) comments: Vec<Comment<'a>>,
    /// Prefix of comments.
    pub(in crate::format) comment: Vec<u8>,
    /// Delimiter that the first line states for Excel, as in `sep=;`.
    pub(in crate::format) stated: Option<Delimiter>,
    /// Start and end of the first line, and the number of lines before it.
    pub(in crate::format) first_start: usize,
    pub(in crate::format) first_end: usize,
    pub(in crate::format) lines_before: u64,
    /// Indexes of lines after blank ones and comments between lines.
    pub(in crate::format) breaks: Vec<usize>,
    /// Whether these are all lines of the file.
    pub(in crate::format) is_whole: bool,
}

/// Comment before the lines, its start, and the number of lines before it.
pub(in crate::format) struct Comment<'a> {
    pub(in crate::format) line: &'a [u8],
    pub(in crate::format) start: usize,
    pub(in crate::format) lines_before: u64,
}

impl<'a> Sample<'a> {
    /// Collects lines. If the block is not the end of the file, its last line is left out, since it may be incomplete.
    pub(in crate::format) fn of(
        block: &'a [u8],
        is_whole: bool,
        path: &'a Path,
        options: &'a InputOptions,
    ) -> Self {
        let mut at = if block.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let comment = options.comment.clone().unwrap_or_else(|| usual_comment(&block[at..]));
        let mut sample = Self {
            path,
            options,
            lines: Vec::new(),
            comments: Vec::new(),
            comment,
            stated: None,
            first_start: block.len(),
            first_end: block.len(),
            lines_before: 0,
            breaks: Vec::new(),
            is_whole,
        };
        while at < block.len() {
            let stop = memchr::memchr(b'\n', &block[at..]).map(|len| at + len);
            if stop.is_none() && !is_whole || sample.lines.len() == SAMPLED_LINES {
                if sample.lines.is_empty() {
                    sample.first_start = at;
                }
                sample.is_whole = false;
                break;
            }
            let stop = stop.unwrap_or(block.len());
            let line = block[at..stop].strip_suffix(b"\r").unwrap_or(&block[at..stop]);
            let next = (stop + 1).min(block.len());
            sample.take(line, at, next);
            at = next;
        }
        sample
    }

    fn take(&mut self, line: &'a [u8], start: usize, next: usize) {
        let is_first = self.lines.is_empty();
        let is_blank = |&byte: &u8| is_blank(byte, self.options.delimiter);
        let is_comment = !self.comment.is_empty() && line.starts_with(&self.comment);
        let stated = stated_delimiter(line).filter(|_| is_first && self.comments.is_empty());
        if is_comment && is_first {
            self.comments.push(Comment { line, start, lines_before: self.lines_before });
        }
        if is_comment || stated.is_some() || line.iter().all(is_blank) {
            self.stated = stated.or(self.stated);
            self.lines_before += u64::from(is_first);
            if !is_first && self.breaks.last() != Some(&self.lines.len()) {
                self.breaks.push(self.lines.len());
            }
            return;
        }
        if is_first {
            (self.first_start, self.first_end) = (start, next);
        }
        self.lines.push(line);
    }
}

/// Returns the prefix of comments if none is given: `%` if the first line begins with it, as in KONECT; otherwise `#`.
fn usual_comment(text: &[u8]) -> Vec<u8> {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'%') { b"%".to_vec() } else { b"#".to_vec() }
}

fn is_blank(byte: u8, delimiter: Option<Delimiter>) -> bool {
    (byte == b' ' || byte == b'\t') && delimiter != Some(Delimiter::Byte(byte))
}

/// Returns the delimiter that a line states for Excel: `sep=;`.
fn stated_delimiter(line: &[u8]) -> Option<Delimiter> {
    let is_statement = line.len() == 5 && line[..4].eq_ignore_ascii_case(b"sep=");
    let delimiter = line.last().filter(|&byte| is_statement && b",;|\t".contains(byte))?;
    Some(Delimiter::Byte(*delimiter))
}

/// Lines split by one delimiter.
#[derive(Clone)]
pub(in crate::format) struct SplitLines<'a> {
    pub(in crate::format) delimiter: Delimiter,
    pub(in crate::format) rows: Vec<Vec<&'a [u8]>>,
    /// Number of columns of most lines, and the share of the lines that have it.
    pub(in crate::format) width: usize,
    pub(in crate::format) share: f64,
}

impl<'a> SplitLines<'a> {
    pub(in crate::format) fn of(sample: &Sample<'a>, delimiter: Delimiter) -> Self {
        let layout = Layout::of(delimiter);
        // A line with a broken quote, other than the first one, is a bad line, which says nothing about the others.
        let lines = sample.lines.iter().enumerate();
        let lines =
            lines.filter(|(at, line)| *at == 0 || fields(&layout, line).all(|field| field.is_ok()));
        let rows: Vec<Vec<&[u8]>> = lines.map(|(_, line)| split(&layout, line)).collect();
        let (mut width, share) = usual_width(&rows, sample.lines.len());
        // A delimiter at the end of all lines separates nothing.
        let is_empty =
            |at: usize| rows.iter().all(|row| row.get(at).is_none_or(|field| field.is_empty()));
        while width > 1 && is_empty(width - 1) {
            width -= 1;
        }
        Self { delimiter, rows, width, share }
    }

    /// Returns the kind of each column of `rows`, by most of its values.
    pub(in crate::format) fn kinds(rows: &[Vec<&[u8]>], width: usize) -> Vec<ColumnKind> {
        (0..width).map(|at| kind_of(rows.iter().filter_map(|row| row.get(at).copied()))).collect()
    }
}

/// Returns the kind of most values that are not missing.
fn kind_of<'a>(values: impl Iterator<Item = &'a [u8]>) -> ColumnKind {
    let (mut numbers, mut others) = (0u64, 0u64);
    for value in values.filter(|value| !is_missing(value)) {
        *if is_number(value) { &mut numbers } else { &mut others } += 1;
    }
    match (numbers, others) {
        (0, 0) => ColumnKind::Empty,
        _ if numbers > others => ColumnKind::Number,
        _ => ColumnKind::Text,
    }
}

/// Returns the number of columns of most rows, and their share of all lines; of equally frequent numbers the largest.
pub(in crate::format) fn usual_width(rows: &[Vec<&[u8]>], line_count: usize) -> (usize, f64) {
    let mut widths: Vec<usize> = rows.iter().map(Vec::len).collect();
    widths.sort_unstable();
    let groups = widths.chunk_by(|a, b| a == b);
    let usual = groups.max_by_key(|group| group.len()).unwrap_or(&[0]);
    (usual[0], usual.len() as f64 / line_count.max(1) as f64)
}
