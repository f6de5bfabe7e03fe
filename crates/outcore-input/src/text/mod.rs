//! Text to edges: a tight loop for plain lines, and a general one for all others.
//!
//! [`parse`] selects the loop once per chunk. Names in columns 1 and 2 go through [`plain`]. Unusual lines, and all lines
//! of other layouts, go through [`general_line`], which alone determines what is wrong with a line.

pub(super) mod field;
mod kinds;
pub(crate) mod number;
mod plain;

use crate::chunk::{LineFault, ParsedChunk, Problem};
use crate::layout::{BYTE_ORDER_MARK, Layout};
use crate::options::{Delimiter, LINE_LIMIT, Rows};
pub(crate) use kinds::set_kinds;
use memchr::{memchr, memchr2, memchr3, memmem};
use outcore_graph::ids::{EdgeChunk, Fingerprint, NAME_LIMIT, NameRef, SHORT_NAME_BYTES};
use plain::{BYTES, BYTES_AND_SPACES, PlainMasks, SPACES, parse_plain};

/// Destination of the edges of a text.
pub(super) struct EdgeSink<'a> {
    pub(super) names: &'a mut Vec<NameRef>,
    pub(super) weights: &'a mut Vec<u32>,
    pub(super) faults: &'a mut Vec<LineFault>,
    pub(super) comments: &'a mut u64,
}

/// Parses a chunk from byte `from`; its text ends with a line end and [`PADDING`](crate::chunk::PADDING). With `stop`, parsing ends at the
/// first bad line.
pub(super) fn parse(chunk: &mut ParsedChunk, layout: &Layout, from: usize, stop: bool) {
    let ParsedChunk { edges, used, faults, comments, .. } = chunk;
    let EdgeChunk { text, names, weights, .. } = edges;
    let used = *used;
    let mut edges = EdgeSink { names, weights, faults, comments };
    let range = from..used;
    // Fields with quotes, or with spaces around them, are rare.
    let odd = Odd::of(layout, &text[range.clone()]);
    if odd == Odd::Quotes || !layout.is_plain() {
        return parse_general(layout, odd == Odd::Quotes, text, range, &mut edges, stop);
    }
    let is_weighted = layout.weight.is_some();
    let parse = match (layout.delimiter, odd == Odd::Spaces) {
        (Delimiter::Byte(_), true) if is_weighted => parse_plain::<true, BYTES_AND_SPACES>,
        (Delimiter::Byte(_), true) => parse_plain::<false, BYTES_AND_SPACES>,
        (Delimiter::Byte(_), false) if is_weighted => parse_plain::<true, BYTES>,
        (Delimiter::Byte(_), false) => parse_plain::<false, BYTES>,
        (Delimiter::Spaces, _) if is_weighted => parse_plain::<true, SPACES>,
        (Delimiter::Spaces, _) => parse_plain::<false, SPACES>,
    };
    parse(&PlainMasks::new(layout), layout, text, range, &mut edges, stop);
}

/// What a text has that the tight loop does not expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Odd {
    Nothing,
    /// Spaces that are not the delimiter, and may be around fields.
    Spaces,
    /// Quotes or byte-order marks, which the general loop handles.
    Quotes,
}

impl Odd {
    fn of(layout: &Layout, text: &[u8]) -> Self {
        let mark = BYTE_ORDER_MARK[0];
        let first = match layout.delimiter {
            Delimiter::Spaces => memchr2(b'"', mark, text),
            Delimiter::Byte(_) => memchr3(b'"', mark, b' ', text),
        };
        let rest = first.map_or(&[][..], |at| &text[at..]);
        let has = |byte: u8| memchr(byte, rest).is_some();
        match layout.delimiter {
            _ if has(b'"') || has(mark) && memmem::find(rest, BYTE_ORDER_MARK).is_some() => {
                Self::Quotes
            }
            Delimiter::Spaces => Self::Nothing,
            Delimiter::Byte(b'\t') if !has(b' ') => Self::Nothing,
            Delimiter::Byte(_) if !has(b' ') && memchr(b'\t', text).is_none() => Self::Nothing,
            Delimiter::Byte(_) => Self::Spaces,
        }
    }
}

/// Parses a complete chunk with the loop that the caller chooses, skipping bad lines.
#[cfg(test)]
pub(super) fn parse_by(chunk: &mut ParsedChunk, layout: &Layout, tight: bool) {
    if tight {
        return parse(chunk, layout, 0, false);
    }
    let ParsedChunk { edges, used, faults, comments, .. } = chunk;
    let EdgeChunk { text, names, weights, .. } = edges;
    let mut edges = EdgeSink { names, weights, faults, comments };
    parse_general(layout, false, text, 0..*used, &mut edges, false);
}

/// Loop for all other layouts, and for nodes; unescapes doubled quotes in place.
fn parse_general(
    layout: &Layout,
    quoted: bool,
    text: &mut [u8],
    range: std::ops::Range<usize>,
    edges: &mut EdgeSink<'_>,
    stop: bool,
) {
    let mut at = range.start;
    while at < range.end {
        let (line, next) = match layout.is_fasta {
            true => fasta_line(layout, text, at, range.end),
            false => general_line(layout, quoted, text, at, range.end),
        };
        match line {
            LineKind::Nothing => {}
            LineKind::Comment => *edges.comments += 1,
            LineKind::Edge(EdgeFields { mut source, .. }) if layout.rows == Rows::Nodes => {
                source.unescape(text);
                edges.names.push(source.name(text));
            }
            LineKind::Edge(mut found) => {
                found.source.unescape(text);
                found.target.unescape(text);
                found.push(text, layout.weight.is_some(), edges);
            }
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

/// Parses a chunk of a node list: one column of each line, regardless of the others. Comments are not counted.
pub(super) fn parse_nodes(chunk: &mut ParsedChunk, layout: &Layout, from: usize, stop: bool) {
    let ParsedChunk { edges: EdgeChunk { text, names, weights, .. }, used, faults, .. } = chunk;
    let mut nodes = EdgeSink { names, weights, faults, comments: &mut 0 };
    parse_general(layout, true, text, from..*used, &mut nodes, stop);
}

/// Parses a line of FASTA: a node is the first word after `>`.
fn fasta_line(layout: &Layout, text: &[u8], at: usize, used: usize) -> (LineKind, usize) {
    let bounds = Bounds::of(text, at, used);
    let line = &text[at..bounds.shown];
    let bad =
        |problem, start, stop| (LineKind::Bad(bounds.fault(problem, start, stop)), bounds.next);
    if text[at] != b'>' || layout.is_comment(line) {
        return (LineKind::Nothing, bounds.next);
    }
    if bounds.is_too_long() {
        return bad(Problem::LineTooLong, at, bounds.shown);
    }
    let start = at + 1;
    let rest = &text[start..bounds.end];
    let end = memchr2(b' ', b'\t', rest).map_or(bounds.end, |len| start + len);
    let name = Field { start, end, doubled: 0, outer: (start, end) };
    match name.bytes() {
        0 => bad(Problem::EmptyNode, at, bounds.end),
        1..=NAME_LIMIT => {
            (LineKind::Edge(EdgeFields { source: name, target: name, weight: 0 }), bounds.next)
        }
        _ => bad(Problem::NameTooLong, start, end),
    }
}

/// Position of a line in the text.
struct Bounds {
    start: usize,
    /// End, without the line end.
    end: usize,
    /// End of the part of the line that may be shown.
    shown: usize,
    /// Start of the next line.
    next: usize,
}

impl Bounds {
    fn of(text: &[u8], at: usize, used: usize) -> Self {
        let stop = memchr(b'\n', &text[at..used]).map_or(used, |len| at + len);
        let end = if stop > at && text[stop - 1] == b'\r' { stop - 1 } else { stop };
        Self { start: at, end, shown: end.min(at + LINE_LIMIT), next: stop + 1 }
    }

    fn is_too_long(&self) -> bool {
        self.next - self.start > LINE_LIMIT
    }

    fn fault(&self, problem: Problem, start: usize, stop: usize) -> LineFault {
        LineFault::new(problem, self.start..self.shown, start..stop)
    }
}

/// Kind of a line.
pub(super) enum LineKind {
    /// A blank line.
    Nothing,
    Comment,
    Edge(EdgeFields),
    Bad(LineFault),
}

/// Fields of an edge.
pub(super) struct EdgeFields {
    source: Field,
    target: Field,
    weight: u32,
}

impl EdgeFields {
    fn push(&self, text: &[u8], weighted: bool, edges: &mut EdgeSink<'_>) {
        edges.names.extend_from_slice(&[self.source.name(text), self.target.name(text)]);
        if weighted {
            edges.weights.push(self.weight);
        }
    }
}

/// Field: its bytes without quotes, the number of doubled quotes in them, and its bounds with quotes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) doubled: usize,
    /// Bounds of the complete field, including quotes.
    outer: (usize, usize),
}

impl Field {
    fn name(&self, text: &[u8]) -> NameRef {
        let fingerprint = Fingerprint::of(&text[self.start..self.end]);
        NameRef { fingerprint, offset: self.start as u32, bytes: (self.end - self.start) as u32 }
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.outer.0 < self.start
    }

    fn bytes(&self) -> usize {
        self.end - self.start - self.doubled
    }

    /// Removes spaces around a name that is not quoted.
    fn trim(&mut self, layout: &Layout, text: &[u8]) {
        if self.is_quoted() {
            return;
        }
        while self.start < self.end && layout.is_blank(text[self.end - 1]) {
            self.end -= 1;
        }
        while self.start < self.end && layout.is_blank(text[self.start]) {
            self.start += 1;
        }
    }

    /// Replaces doubled quotes by single ones, in place.
    fn unescape(&mut self, text: &mut [u8]) {
        if self.doubled == 0 {
            return;
        }
        let mut to = self.start;
        let mut from = self.start;
        while from < self.end {
            text[to] = text[from];
            from += if text[from] == b'"' { 2 } else { 1 };
            to += 1;
        }
        self.end = to;
        self.doubled = 0;
    }
}

/// Parses any line at `at`; also returns the start of the next one.
///
/// Faults are checked in this order: a quote, a missing column, an extra column, the source, the target, the weight.
pub(super) fn general_line(
    layout: &Layout,
    quoted: bool,
    text: &[u8],
    at: usize,
    used: usize,
) -> (LineKind, usize) {
    let bounds = Bounds::of(text, at, used);
    let Bounds { end, shown, next, .. } = bounds;
    let line = &text[at..shown];
    if layout.is_comment(line) {
        return comment_line(layout, quoted, text, &bounds, used);
    }
    if layout.is_empty(line) {
        return (LineKind::Nothing, next);
    }
    // Where files were joined, a line may begin with the mark of the second one.
    let is_marked = layout.rows != Rows::Nodes && line.starts_with(BYTE_ORDER_MARK);
    let at = if is_marked { at + BYTE_ORDER_MARK.len() } else { at };
    let bad = |problem, start, stop| (LineKind::Bad(bounds.fault(problem, start, stop)), next);
    if bounds.is_too_long() {
        return bad(Problem::LineTooLong, at, shown);
    }
    let mut fields = Fields { layout, quoted, text, at, end, ended: false };
    let mut found = [Field::default(); 3];
    let wanted = [layout.source, layout.target, layout.weight.unwrap_or(layout.source)];
    for column in 0..=layout.last_column() {
        match fields.next() {
            None => return bad(Problem::MissingColumn(column as u32), at, end),
            Some(Err((problem, start, stop))) => return bad(problem, start, stop),
            Some(Ok(field)) => {
                for (role, &wanted) in found.iter_mut().zip(&wanted) {
                    if wanted == column {
                        *role = field;
                    }
                }
            }
        }
    }
    if let Some((problem, start, stop)) = layout.is_exact.then(|| fields.find_map(extra)).flatten()
    {
        return bad(problem, start, stop);
    }
    match edge_of(layout, text, found) {
        Ok(edge) => (LineKind::Edge(edge), next),
        Err((problem, start, stop)) => bad(problem, start, stop),
    }
}

/// Returns what a line is that begins like a comment.
fn comment_line(
    layout: &Layout,
    quoted: bool,
    text: &[u8],
    bounds: &Bounds,
    used: usize,
) -> (LineKind, usize) {
    let (at, shown, next) = (bounds.start, bounds.shown, bounds.next);
    if !layout.is_doubtful_comment(&text[at..shown]) {
        return (LineKind::Comment, next);
    }
    let plain = Layout { comment: Vec::new(), ..layout.clone() };
    if layout.rows != Rows::Edges {
        // In files of communities, names are written as they are, even if they begin like a comment.
        return general_line(&plain, quoted, text, at, used);
    }
    match general_line(&plain, true, text, at, used).0 {
        LineKind::Edge(_) => (LineKind::Bad(bounds.fault(Problem::CommentOrEdge, at, shown)), next),
        _ => (LineKind::Comment, next),
    }
}

/// Returns the edge of these fields, or what is wrong with the first bad one, and where it is.
fn edge_of(
    layout: &Layout,
    text: &[u8],
    [mut source, mut target, weight]: [Field; 3],
) -> Result<EdgeFields, (Problem, usize, usize)> {
    source.trim(layout, text);
    target.trim(layout, text);
    let at = |field: Field, problem| (problem, field.outer.0, field.outer.1);
    let no_source =
        if layout.rows == Rows::Nodes { Problem::EmptyNode } else { Problem::EmptySource };
    for (name, problem) in [(source, no_source), (target, Problem::EmptyTarget)] {
        let is_absent = !layout.absent.is_empty() && text[name.start..name.end] == *layout.absent;
        if name.bytes() == 0 || is_absent {
            return Err(at(name, problem));
        }
        if name.bytes() > NAME_LIMIT {
            return Err(at(name, Problem::NameTooLong));
        }
    }
    let is_number = || is_short_number(&text[target.start..target.end]);
    if layout.rows == Rows::NumberedMemberships && !is_number() {
        return Err(at(target, Problem::CommunityNotNumber));
    }
    if layout.weight.is_none() {
        return Ok(EdgeFields { source, target, weight: 0 });
    }
    let value = weight_value(layout, &text[weight.start..weight.end]);
    let code = value.and_then(|value| layout.transform.code(value).ok_or(Problem::DistanceZero));
    let weight = code.map_err(|problem| at(weight, problem))?;
    Ok(EdgeFields { source, target, weight })
}

/// Returns the problem with a field after the last one of the header; empty fields are allowed.
fn extra(field: Result<Field, (Problem, usize, usize)>) -> Option<(Problem, usize, usize)> {
    match field {
        Ok(field) if field.bytes() == 0 => None,
        Ok(field) => Some((Problem::ExtraColumn, field.outer.0, field.outer.1)),
        Err(problem) => Some(problem),
    }
}

/// Reads the weight in a field. Between semicolons a comma is a decimal comma, because spreadsheets separate columns by
/// semicolons when they write decimal commas.
fn weight_value(layout: &Layout, text: &[u8]) -> Result<f64, Problem> {
    field::weight_value(text).or_else(|problem| match field::with_point(text) {
        Some(text) if layout.delimiter == Delimiter::Byte(b';') => field::weight_value(&text),
        _ => Err(problem),
    })
}

/// Returns whether a field is a whole number of at most 15 digits without leading zeros.
pub(super) fn is_short_number(field: &[u8]) -> bool {
    let digits = field.len() <= SHORT_NAME_BYTES && field.iter().all(u8::is_ascii_digit);
    digits && (field.len() == 1 || field.first().is_some_and(|&digit| digit != b'0'))
}

pub(crate) fn fields<'a>(layout: &'a Layout, line: &'a [u8]) -> Fields<'a> {
    Fields { layout, quoted: true, text: line, at: 0, end: line.len(), ended: false }
}

/// Splits a line into columns without the spaces around them, up to a broken quote.
pub(crate) fn split<'a>(layout: &Layout, line: &'a [u8]) -> Vec<&'a [u8]> {
    fields(layout, line)
        .map_while(|field| field.ok())
        .map(|mut field| {
            field.trim(layout, line);
            &line[field.start..field.end]
        })
        .collect()
}

/// Iterator over the fields of one line.
pub(super) struct Fields<'a> {
    pub(super) layout: &'a Layout,
    pub(super) quoted: bool,
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) ended: bool,
}

impl Iterator for Fields<'_> {
    type Item = Result<Field, (Problem, usize, usize)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let Delimiter::Byte(delimiter) = self.layout.delimiter else { return self.next_word() };
        let rest = self.text.get(self.at..self.end).unwrap_or_default();
        let blanks = rest.iter().take_while(|&&byte| self.layout.is_blank(byte)).count();
        // Spaces before a quote are not part of the field.
        let is_quoted = self.quoted && rest.get(blanks) == Some(&b'"');
        self.at += if is_quoted { blanks } else { 0 };
        let start = self.at;
        if is_quoted {
            return Some(self.quoted_field(|byte| byte == delimiter));
        }
        let rest = &self.text[start..self.end];
        let end = memchr(delimiter, rest).map_or(self.end, |len| start + len);
        self.ended = end == self.end;
        self.at = end + 1;
        Some(Ok(Field { start, end, doubled: 0, outer: (start, end) }))
    }
}

impl Fields<'_> {
    fn next_word(&mut self) -> Option<Result<Field, (Problem, usize, usize)>> {
        let is_space = |&byte: &u8| byte == b' ' || byte == b'\t';
        let rest = &self.text[self.at..self.end];
        let start = self.at + rest.iter().position(|byte| !is_space(byte))?;
        if self.quoted && self.text[start] == b'"' {
            self.at = start;
            return Some(self.quoted_field(|byte| is_space(&byte)));
        }
        let rest = &self.text[start..self.end];
        let end = memchr2(b' ', b'\t', rest).map_or(self.end, |len| start + len);
        self.at = end;
        Some(Ok(Field { start, end, doubled: 0, outer: (start, end) }))
    }

    fn quoted_field(
        &mut self,
        is_delimiter: impl Fn(u8) -> bool,
    ) -> Result<Field, (Problem, usize, usize)> {
        let open = self.at;
        let start = open + 1;
        let mut doubled = 0;
        let mut at = start;
        loop {
            let Some(len) = memchr(b'"', &self.text[at..self.end]) else {
                self.ended = true;
                return Err((Problem::OpenQuote, open, self.end));
            };
            let close = at + len;
            let blanks = self.text[close + 1..self.end].iter();
            let blanks = blanks
                .take_while(|&&byte| self.layout.is_blank(byte) && !is_delimiter(byte))
                .count();
            let after = close + 1 + blanks;
            if after == self.end {
                self.ended = true;
            } else if blanks == 0 && self.text[after] == b'"' {
                doubled += 1;
                at = after + 1;
                continue;
            } else if !is_delimiter(self.text[after]) {
                self.ended = true;
                let mut rest = self.text[after..self.end].iter();
                let stop =
                    rest.position(|&byte| is_delimiter(byte)).map_or(self.end, |len| after + len);
                return Err((Problem::TextAfterQuote, after, stop));
            }
            self.at = after + 1;
            return Ok(Field { start, end: close, doubled, outer: (open, after) });
        }
    }
}
