//! Converts columns of names and weights to parsed chunks, column by column.
//!
//! Whole numbers become their digits, so that a graph has the same names regardless of its input format. A row that is
//! not an edge is written after the names, for the message about it. A name equal to the previous one, as in tables
//! grouped by source, is stored only once.

use super::values::{
    Take, UUID_BYTES, bytes_of, for_each_name, for_each_number, uuid_texts, write_value,
};
use crate::chunk::{LineFault, PADDING, ParsedChunk, Problem};
use crate::options::Rows;
use crate::text::field::{first_equal, splat, words};
use crate::text::is_short_number;
use arrow_array::cast::AsArray;
use arrow_array::{Array, GenericStringArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::DataType;
use outcore_graph::ids::{Fingerprint, NAME_LIMIT, NameRef, SHORT_NAME_BYTES};
use outcore_graph::weight::WeightTransform;
use std::ops::Range;

/// Columns of a batch.
pub(super) struct Columns<'a> {
    names: [&'a dyn Array; 2],
    /// Whether names are UUIDs.
    uuids: [bool; 2],
    weights: Option<&'a dyn Array>,
    transform: WeightTransform,
    rows: Rows,
}

impl<'a> Columns<'a> {
    /// Takes the columns of source, target and, if there is a third, weight.
    pub(super) fn of(
        batch: &'a RecordBatch,
        uuids: [bool; 2],
        transform: WeightTransform,
        rows: Rows,
    ) -> Self {
        let columns = batch.columns();
        let weights = columns.get(2).map(AsRef::as_ref);
        // Nodes have one column.
        let second = columns.get(1).unwrap_or(&columns[0]);
        let names = [columns[0].as_ref(), second.as_ref()];
        Self { names, uuids, weights, transform, rows }
    }

    fn names(&self) -> impl Iterator<Item = &'a dyn Array> {
        let count = if self.rows == Rows::Nodes { 1 } else { 2 };
        self.names.into_iter().take(count)
    }

    /// Returns how many rows from `from` on, at most `most` and at least one, have names of at most `bytes` in total.
    pub(super) fn rows_within(&self, from: usize, most: usize, bytes: usize) -> usize {
        let mut count = most;
        while count > 1 {
            let rows = from..from + count;
            let names = self.names().zip(self.uuids);
            let sum: usize = names
                .map(|(names, is_uuid)| match is_uuid {
                    true => UUID_BYTES * count,
                    false => bytes_of(names, rows.clone()),
                })
                .sum();
            if sum <= bytes {
                break;
            }
            count /= 2;
        }
        count
    }

    /// Parses `rows` into `chunk`, whose place is set. With `stop`, parsing ends at the first bad row.
    pub(super) fn parse(&self, rows: Range<usize>, stop: bool, chunk: &mut ParsedChunk) {
        // Existing contents are overwritten.
        chunk.edges.names.resize(2 * rows.len(), NameRef::default());
        chunk.edges.weights.clear();
        let mut bad: Vec<(usize, usize, Problem)> = Vec::new();
        let mut end = 0;
        for (part, names) in self.names().enumerate() {
            let is_number = part == 1 && self.rows == Rows::NumberedMemberships;
            let (text, last) = (&mut chunk.edges.text, NameRef::default());
            let into = &mut chunk.edges.names;
            let mut into = NameColumn { part, is_number, text, end, into, bad: &mut bad, last };
            if self.uuids[part] {
                NameColumn::take(&mut into, &uuid_texts(names, rows.clone()), 0..rows.len());
            } else {
                NameColumn::take(&mut into, names, rows.clone());
            }
            end = into.end;
        }
        if let Some(weights) = self.weights {
            self.parse_weights(weights, rows.clone(), &mut chunk.edges.weights, &mut bad);
        }
        chunk.used = end;
        if !bad.is_empty() {
            chunk.edges.text.truncate(end);
            self.leave_out(bad, rows.start, stop, chunk);
            chunk.used = chunk.edges.text.len();
        }
        if self.rows == Rows::Nodes {
            let mut at = 0;
            chunk.edges.names.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
    }

    fn parse_weights(
        &self,
        weights: &dyn Array,
        rows: Range<usize>,
        into: &mut Vec<u32>,
        bad: &mut Vec<(usize, usize, Problem)>,
    ) {
        let (first, nulls) = (rows.start, weights.nulls());
        let mut take = |at: usize, value: Result<f64, Problem>| {
            let is_null = nulls.is_some_and(|nulls| nulls.is_null(first + at));
            let value = if is_null { Err(Problem::EmptyWeight) } else { value };
            let code = value.and_then(|value| code(self.transform, value));
            into.push(code.unwrap_or_default());
            if let Err(problem) = code {
                bad.push((at, 2, problem));
            }
        };
        for_each_number(weights, rows, &mut take);
    }

    /// Removes the rows that are not edges, and writes out each of them with its first fault.
    fn leave_out(
        &self,
        mut bad: Vec<(usize, usize, Problem)>,
        first: usize,
        stop: bool,
        chunk: &mut ParsedChunk,
    ) {
        bad.sort_by_key(|&(row, part, _)| (row, part));
        bad.dedup_by_key(|&mut (row, _, _)| row);
        let end = if stop { bad[0].0 } else { chunk.edges.names.len() / 2 };
        if stop {
            bad.truncate(1);
        }
        let mut left_out = bad.iter().map(|&(row, _, _)| row).peekable();
        let mut kept = 0;
        for row in 0..end {
            if left_out.next_if_eq(&row).is_some() {
                continue;
            }
            chunk.edges.names.copy_within(2 * row..2 * row + 2, 2 * kept);
            if let Some(&weight) = chunk.edges.weights.get(row) {
                chunk.edges.weights[kept] = weight;
            }
            kept += 1;
        }
        chunk.edges.names.truncate(2 * kept);
        chunk.edges.weights.truncate(kept);
        for (row, part, problem) in bad {
            let fault = self.write_out(first + row, part, problem, &mut chunk.edges.text);
            chunk.faults.push(LineFault { cell: (row as u32, part as u32), ..fault });
        }
    }

    /// Appends a row as a line, with the fault in `part`.
    fn write_out(
        &self,
        row: usize,
        part: usize,
        problem: Problem,
        text: &mut Vec<u8>,
    ) -> LineFault {
        let line_start = text.len();
        let mut field = line_start..line_start;
        for (at, column) in self.names().chain(self.weights).enumerate() {
            if at > 0 {
                text.push(b'\t');
            }
            let from = text.len();
            match self.uuids.get(at) {
                Some(true) => write_value(&uuid_texts(column, row..row + 1), 0, text),
                _ => write_value(column, row, text),
            }
            text.truncate(from + NAME_LIMIT);
            if at == part {
                field = from..text.len();
            }
        }
        LineFault::new(problem, line_start..text.len(), field)
    }
}

fn code(transform: WeightTransform, value: f64) -> Result<u32, Problem> {
    match value {
        value if value.is_nan() => Err(Problem::WeightNan),
        value if value < 0.0 => Err(Problem::WeightNegative),
        value if value.is_infinite() => Err(Problem::WeightInfinite),
        // Turns -0 into 0.
        value => transform.code(value.abs()).ok_or(Problem::DistanceZero),
    }
}

/// Destination of the names of a column.
struct NameColumn<'a> {
    part: usize,
    /// Whether the names must be short whole numbers.
    is_number: bool,
    /// Names, up to `end`; the vector is longer, so that words can be loaded.
    text: &'a mut Vec<u8>,
    end: usize,
    into: &'a mut [NameRef],
    bad: &'a mut Vec<(usize, usize, Problem)>,
    /// Previous name.
    last: NameRef,
}

impl NameColumn<'_> {
    fn take(&mut self, column: &dyn Array, rows: Range<usize>) {
        if let Some(nulls) = column.nulls().filter(|nulls| nulls.null_count() > 0) {
            for (at, row) in rows.enumerate() {
                match nulls.is_null(row) {
                    true => self.refuse(at, Problem::EmptySource),
                    false => for_each_name(column, row..row + 1, at, self),
                }
            }
            return;
        }
        match column.data_type() {
            // A single name may have any length, so it is not copied before its length is known.
            _ if rows.len() == 1 => for_each_name(column, rows, 0, self),
            DataType::Utf8 => self.take_all(column.as_string::<i32>(), rows),
            DataType::LargeUtf8 => self.take_all(column.as_string::<i64>(), rows),
            _ => for_each_name(column, rows, 0, self),
        }
    }

    /// Takes names that are contiguous in memory.
    fn take_all<O: OffsetSizeTrait>(&mut self, names: &GenericStringArray<O>, rows: Range<usize>) {
        let (values, offsets) = (names.value_data(), &names.value_offsets()[rows.start..=rows.end]);
        let place = |at: usize| offsets[at].as_usize();
        let (first, last) = (place(0), place(offsets.len() - 1));
        let from = self.end;
        self.make_room(last - first);
        self.text[from..from + last - first].copy_from_slice(&values[first..last]);
        for at in 0..offsets.len() - 1 {
            self.end = from + place(at) - first;
            self.place(at, place(at + 1) - place(at));
        }
        self.end = from + last - first;
    }

    fn make_room(&mut self, bytes: usize) {
        let wanted = self.end + bytes + PADDING;
        if self.text.len() < wanted {
            self.text.resize(wanted + wanted / 2, 0);
        }
    }

    /// Takes the name of `bytes` bytes that is already at the end of the text.
    #[inline]
    fn place(&mut self, at: usize, bytes: usize) {
        let fingerprint = match bytes {
            0 => return self.refuse(at, Problem::EmptySource),
            1..=SHORT_NAME_BYTES => {
                let (low, high) = words(self.text, self.end);
                Fingerprint::of_words(low, high, bytes)
            }
            _ => Fingerprint::of_long(&self.text[self.end..self.end + bytes]),
        };
        if self.repeats(at, fingerprint) {
            return;
        }
        match self.problem(fingerprint, &self.text[self.end..self.end + bytes]) {
            Some(problem) => self.refuse(at, problem),
            None => self.found(at, fingerprint, bytes),
        }
    }

    /// Returns whether the name equals the previous one; if so, takes it.
    #[inline]
    fn repeats(&mut self, at: usize, fingerprint: Fingerprint) -> bool {
        let is_same = fingerprint == self.last.fingerprint;
        if is_same {
            self.into[2 * at + self.part] = self.last;
        }
        is_same
    }

    /// Returns what is wrong with a name that is not empty.
    #[inline]
    fn problem(&self, fingerprint: Fingerprint, name: &[u8]) -> Option<Problem> {
        if name.len() > NAME_LIMIT {
            return Some(Problem::NameTooLong);
        }
        if has_line_end(fingerprint, name) {
            return Some(Problem::LineEndInName);
        }
        (self.is_number && !is_short_number(name)).then_some(Problem::CommunityNotNumber)
    }

    /// Takes a name that is at the end of the text.
    #[inline]
    fn found(&mut self, at: usize, fingerprint: Fingerprint, bytes: usize) {
        self.last = NameRef { fingerprint, offset: self.end as u32, bytes: bytes as u32 };
        self.into[2 * at + self.part] = self.last;
    }

    fn refuse(&mut self, at: usize, problem: Problem) {
        let problem = match problem {
            Problem::EmptySource if self.part == 1 => Problem::EmptyTarget,
            other => other,
        };
        self.bad.push((at, self.part, problem));
    }
}

impl Take for NameColumn<'_> {
    #[inline]
    fn take(&mut self, at: usize, name: &[u8]) {
        if name.is_empty() {
            return self.refuse(at, Problem::EmptySource);
        }
        let fingerprint = Fingerprint::of(name);
        if self.repeats(at, fingerprint) {
            return;
        }
        if let Some(problem) = self.problem(fingerprint, name) {
            return self.refuse(at, problem);
        }
        self.make_room(name.len());
        self.text[self.end..self.end + name.len()].copy_from_slice(name);
        self.found(at, fingerprint, name.len());
        self.end += name.len();
    }

    #[inline]
    fn take_number(&mut self, at: usize, number: u64) -> bool {
        let Some((fingerprint, digits, bytes)) = Fingerprint::of_number(number) else {
            return false;
        };
        if !self.repeats(at, fingerprint) {
            self.make_room(digits.len());
            self.text[self.end..self.end + digits.len()].copy_from_slice(&digits);
            self.found(at, fingerprint, bytes);
            self.end += bytes;
        }
        true
    }
}

/// Returns whether a name contains a line end; the fingerprint answers for short names.
#[inline]
fn has_line_end(fingerprint: Fingerprint, name: &[u8]) -> bool {
    const LINE_ENDS: u64 = splat(b'\n');
    match fingerprint.is_exact() {
        // The highest byte is the length.
        true => {
            let high = fingerprint.high << 8;
            first_equal(fingerprint.low, LINE_ENDS) | first_equal(high, LINE_ENDS) != 0
        }
        false => memchr::memchr(b'\n', name).is_some(),
    }
}
