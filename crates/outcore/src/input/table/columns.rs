//! Converts columns of names and weights to parsed chunks, column by column.
//!
//! Whole numbers become their digits, so that a graph has the same names regardless of its input format. A row that is
//! not an edge is written after the names, for the message about it. A name equal to the previous one, as in tables
//! grouped by source, is stored only once.

use crate::input::NameRef;
use crate::input::fault::{LineFault, Problem};
use crate::input::options::Rows;
use crate::input::text::chunk::ParsedChunk;
use crate::input::text::chunk::TableCell;
use crate::input::text::field::{
    Fingerprint, NAME_LIMIT, SHORT_NAME_BYTES, first_equal, short_fingerprint, splat, words,
};
use crate::input::text::transform::WeightTransform;
use crate::input::text::{PADDING, is_short_number};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, BinaryArray, BinaryViewArray, DictionaryArray, LargeBinaryArray, LargeStringArray,
    PrimitiveArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use std::ops::Range;

/// Returns whether names may have this type.
pub(super) fn is_name(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_name(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        other => other.is_integer(),
    }
}

/// Returns whether weights may have this type.
pub(super) fn is_weight(kind: &DataType) -> bool {
    kind.is_integer() || kind.is_floating()
}

/// Maximum length of a whole number, including its sign.
const DIGITS: usize = 20;

/// Columns of a batch.
pub(super) struct Columns<'a> {
    names: [&'a dyn Array; 2],
    weights: Option<&'a dyn Array>,
    transform: WeightTransform,
    rows: Rows,
}

impl<'a> Columns<'a> {
    /// Takes the columns of source, target and, if there is a third, weight.
    pub(super) fn of(batch: &'a RecordBatch, transform: WeightTransform, rows: Rows) -> Self {
        let columns = batch.columns();
        let weights = columns.get(2).map(AsRef::as_ref);
        // Nodes have one column.
        let second = columns.get(1).unwrap_or(&columns[0]);
        Self { names: [columns[0].as_ref(), second.as_ref()], weights, transform, rows }
    }

    /// Returns the columns of names.
    fn names(&self) -> impl Iterator<Item = &'a dyn Array> {
        let count = if self.rows == Rows::Nodes { 1 } else { 2 };
        self.names.into_iter().take(count)
    }

    /// Returns how many rows from `from` on, at most `most` and at least one, have names of at most `bytes` in total.
    pub(super) fn rows_within(&self, from: usize, most: usize, bytes: usize) -> usize {
        let mut count = most;
        while count > 1 {
            let rows = from..from + count;
            let sum: usize = self.names().map(|names| bytes_of(names, rows.clone())).sum();
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
        chunk.names.resize(2 * rows.len(), NameRef::default());
        chunk.weights.clear();
        let mut bad: Vec<(usize, usize, Problem)> = Vec::new();
        let mut end = 0;
        for (part, names) in self.names().enumerate() {
            let is_number = part == 1 && self.rows == Rows::NumberedMemberships;
            let (text, last) = (&mut chunk.text, NameRef::default());
            let into = &mut chunk.names;
            let mut into = NameColumn { part, is_number, text, end, into, bad: &mut bad, last };
            NameColumn::take(&mut into, names, rows.clone());
            end = into.end;
        }
        if let Some(weights) = self.weights {
            self.parse_weights(weights, rows.clone(), &mut chunk.weights, &mut bad);
        }
        chunk.used = end;
        if !bad.is_empty() {
            chunk.text.truncate(end);
            self.leave_out(bad, rows.start, stop, chunk);
            chunk.used = chunk.text.len();
        }
        if self.rows == Rows::Nodes {
            let mut at = 0;
            chunk.names.retain(|_| {
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
        let mut take = |at: usize, value: f64| {
            let is_null = nulls.is_some_and(|nulls| nulls.is_null(first + at));
            let code =
                if is_null { Err(Problem::EmptyWeight) } else { code(self.transform, value) };
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
        let end = if stop { bad[0].0 } else { chunk.names.len() / 2 };
        if stop {
            bad.truncate(1);
        }
        let mut left_out = bad.iter().map(|&(row, _, _)| row).peekable();
        let mut kept = 0;
        for row in 0..end {
            if left_out.next_if_eq(&row).is_some() {
                continue;
            }
            chunk.names.copy_within(2 * row..2 * row + 2, 2 * kept);
            if let Some(&weight) = chunk.weights.get(row) {
                chunk.weights[kept] = weight;
            }
            kept += 1;
        }
        chunk.names.truncate(2 * kept);
        chunk.weights.truncate(kept);
        for (row, part, problem) in bad {
            let cell = TableCell { row: chunk.origin.line + row as u64, part };
            let fault = self.write_out(first + row, part, problem, &mut chunk.text);
            chunk.faults.push(fault);
            chunk.cells.push(cell);
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
        let line_start = text.len() as u32;
        let (mut start, mut end) = (line_start, line_start);
        for (at, column) in self.names().chain(self.weights).enumerate() {
            if at > 0 {
                text.push(b'\t');
            }
            let from = text.len() as u32;
            write_value(column, row, text);
            text.truncate(from as usize + NAME_LIMIT);
            if at == part {
                (start, end) = (from, text.len() as u32);
            }
        }
        LineFault { problem, line_start, line_end: text.len() as u32, start, end }
    }
}

/// Returns the weight's code.
fn code(transform: WeightTransform, value: f64) -> Result<u32, Problem> {
    match value {
        value if value.is_nan() => Err(Problem::WeightNan),
        value if value < 0.0 => Err(Problem::WeightNegative),
        value if value.is_infinite() => Err(Problem::WeightInfinite),
        // Turns -0 into 0.
        value => transform.code(value.abs()),
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
            DataType::Utf8 => {
                let names = column.as_string::<i32>();
                self.take_all(names.value_data(), &names.value_offsets()[rows.start..=rows.end]);
            }
            DataType::LargeUtf8 => {
                let names = column.as_string::<i64>();
                self.take_all(names.value_data(), &names.value_offsets()[rows.start..=rows.end]);
            }
            _ => for_each_name(column, rows, 0, self),
        }
    }

    /// Takes names that are contiguous in memory.
    fn take_all<O: ArrowNativeType>(&mut self, values: &[u8], offsets: &[O]) {
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
                short_fingerprint(low, high, bytes)
            }
            _ => Fingerprint::of_long(&self.text[self.end..self.end + bytes]),
        };
        if !self.repeats(at, fingerprint) {
            let name = &self.text[self.end..self.end + bytes];
            match self.problem(fingerprint, name) {
                Some(problem) => self.refuse(at, problem),
                None => self.found(at, fingerprint, bytes),
            }
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

/// Receiver of names.
trait Take {
    /// Takes the name of a row.
    fn take(&mut self, at: usize, name: &[u8]);

    /// Takes a number's digits, if this is faster than [`take`](Self::take); returns whether it did.
    #[inline]
    fn take_number(&mut self, _at: usize, _number: u64) -> bool {
        false
    }
}

impl<F: FnMut(usize, &[u8])> Take for F {
    #[inline]
    fn take(&mut self, at: usize, name: &[u8]) {
        self(at, name);
    }
}

/// Returns the total bytes of the names in `rows`.
fn bytes_of(column: &dyn Array, rows: Range<usize>) -> usize {
    match column.data_type() {
        DataType::Utf8 | DataType::Binary => {
            let offsets = match column.data_type() {
                DataType::Utf8 => column.as_string::<i32>().value_offsets(),
                _ => column.as_binary::<i32>().value_offsets(),
            };
            (offsets[rows.end] - offsets[rows.start]) as usize
        }
        DataType::LargeUtf8 | DataType::LargeBinary => {
            let offsets = match column.data_type() {
                DataType::LargeUtf8 => column.as_string::<i64>().value_offsets(),
                _ => column.as_binary::<i64>().value_offsets(),
            };
            (offsets[rows.end] - offsets[rows.start]) as usize
        }
        kind if kind.is_integer() => DIGITS * rows.len(),
        _ => {
            let mut sum = 0;
            for_each_name(column, rows, 0, &mut |_, name: &[u8]| sum += name.len());
            sum
        }
    }
}

/// Calls `take` with the bytes of each name of `rows`, counted from `at`; nulls give arbitrary bytes.
fn for_each_name(column: &dyn Array, rows: Range<usize>, at: usize, take: &mut impl Take) {
    fn each<'a>(
        rows: Range<usize>,
        at: usize,
        take: &mut impl Take,
        value: impl Fn(usize) -> &'a [u8],
    ) {
        for (at, row) in (at..).zip(rows) {
            take.take(at, value(row));
        }
    }
    match column.data_type() {
        DataType::Utf8 => {
            let names: &StringArray = column.as_string();
            each(rows, at, take, |row| names.value(row).as_bytes());
        }
        DataType::LargeUtf8 => {
            let names: &LargeStringArray = column.as_string();
            each(rows, at, take, |row| names.value(row).as_bytes());
        }
        DataType::Utf8View => {
            let names: &StringViewArray = column.as_string_view();
            each(rows, at, take, |row| names.value(row).as_bytes());
        }
        DataType::Binary => {
            let names: &BinaryArray = column.as_binary();
            each(rows, at, take, |row| names.value(row));
        }
        DataType::LargeBinary => {
            let names: &LargeBinaryArray = column.as_binary();
            each(rows, at, take, |row| names.value(row));
        }
        DataType::BinaryView => {
            let names: &BinaryViewArray = column.as_binary_view();
            each(rows, at, take, |row| names.value(row));
        }
        DataType::Dictionary(key, _) => for_each_of_dictionary(column, key, rows, at, take),
        DataType::Int8 => each_integer(column.as_primitive::<Int8Type>(), rows, at, take),
        DataType::Int16 => each_integer(column.as_primitive::<Int16Type>(), rows, at, take),
        DataType::Int32 => each_integer(column.as_primitive::<Int32Type>(), rows, at, take),
        DataType::Int64 => each_integer(column.as_primitive::<Int64Type>(), rows, at, take),
        DataType::UInt8 => each_integer(column.as_primitive::<UInt8Type>(), rows, at, take),
        DataType::UInt16 => each_integer(column.as_primitive::<UInt16Type>(), rows, at, take),
        DataType::UInt32 => each_integer(column.as_primitive::<UInt32Type>(), rows, at, take),
        DataType::UInt64 => each_integer(column.as_primitive::<UInt64Type>(), rows, at, take),
        other => unreachable!("no names are of type {other}"),
    }
}

fn each_integer<T>(numbers: &PrimitiveArray<T>, rows: Range<usize>, at: usize, take: &mut impl Take)
where
    T: ArrowPrimitiveType<Native: itoa::Integer + TryInto<u64>>,
{
    let mut digits = itoa::Buffer::new();
    for (at, &number) in (at..).zip(&numbers.values()[rows]) {
        if !number.try_into().is_ok_and(|number| take.take_number(at, number)) {
            take.take(at, digits.format(number).as_bytes());
        }
    }
}

fn for_each_of_dictionary(
    column: &dyn Array,
    key: &DataType,
    rows: Range<usize>,
    at: usize,
    take: &mut impl Take,
) {
    fn each<K: ArrowDictionaryKeyType>(
        names: &DictionaryArray<K>,
        rows: Range<usize>,
        at: usize,
        take: &mut dyn FnMut(usize, &[u8]),
    ) {
        let values = names.values();
        for (at, row) in (at..).zip(rows) {
            match names.key(row) {
                Some(value) if !values.is_null(value) => {
                    // Without this, dictionaries of dictionaries would be infinite types.
                    let mut take: &mut dyn FnMut(usize, &[u8]) = take;
                    one_name(values, value, at, &mut take);
                }
                _ => take(at, &[]),
            }
        }
    }
    let take: &mut dyn FnMut(usize, &[u8]) = &mut |at, name: &[u8]| take.take(at, name);
    match key {
        DataType::Int8 => each(column.as_dictionary::<Int8Type>(), rows, at, take),
        DataType::Int16 => each(column.as_dictionary::<Int16Type>(), rows, at, take),
        DataType::Int32 => each(column.as_dictionary::<Int32Type>(), rows, at, take),
        DataType::Int64 => each(column.as_dictionary::<Int64Type>(), rows, at, take),
        DataType::UInt8 => each(column.as_dictionary::<UInt8Type>(), rows, at, take),
        DataType::UInt16 => each(column.as_dictionary::<UInt16Type>(), rows, at, take),
        DataType::UInt32 => each(column.as_dictionary::<UInt32Type>(), rows, at, take),
        _ => each(column.as_dictionary::<UInt64Type>(), rows, at, take),
    }
}

/// Takes one name of a dictionary.
fn one_name(values: &dyn Array, row: usize, at: usize, take: &mut &mut dyn FnMut(usize, &[u8])) {
    match values.data_type() {
        DataType::Utf8 => take(at, values.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => take(at, values.as_string::<i64>().value(row).as_bytes()),
        _ => for_each_name(values, row..row + 1, at, take),
    }
}

/// Calls `take` with each number of `rows`, counted from 0; nulls give arbitrary numbers.
fn for_each_number(column: &dyn Array, rows: Range<usize>, take: &mut impl FnMut(usize, f64)) {
    fn each<T: ArrowPrimitiveType>(
        numbers: &PrimitiveArray<T>,
        rows: Range<usize>,
        take: &mut impl FnMut(usize, f64),
        value: impl Fn(T::Native) -> f64,
    ) {
        for (at, &number) in numbers.values()[rows].iter().enumerate() {
            take(at, value(number));
        }
    }
    match column.data_type() {
        DataType::Float16 => each(column.as_primitive::<Float16Type>(), rows, take, f64::from),
        DataType::Float32 => each(column.as_primitive::<Float32Type>(), rows, take, f64::from),
        DataType::Float64 => each(column.as_primitive::<Float64Type>(), rows, take, |n| n),
        DataType::Int8 => each(column.as_primitive::<Int8Type>(), rows, take, f64::from),
        DataType::Int16 => each(column.as_primitive::<Int16Type>(), rows, take, f64::from),
        DataType::Int32 => each(column.as_primitive::<Int32Type>(), rows, take, f64::from),
        DataType::Int64 => each(column.as_primitive::<Int64Type>(), rows, take, |n| n as f64),
        DataType::UInt8 => each(column.as_primitive::<UInt8Type>(), rows, take, f64::from),
        DataType::UInt16 => each(column.as_primitive::<UInt16Type>(), rows, take, f64::from),
        DataType::UInt32 => each(column.as_primitive::<UInt32Type>(), rows, take, f64::from),
        DataType::UInt64 => each(column.as_primitive::<UInt64Type>(), rows, take, |n| n as f64),
        other => unreachable!("no weights are of type {other}"),
    }
}

/// Appends a value as text.
fn write_value(column: &dyn Array, row: usize, text: &mut Vec<u8>) {
    if column.is_null(row) {
        text.extend_from_slice(b"null");
    } else if column.data_type().is_floating() {
        for_each_number(column, row..row + 1, &mut |_, number| {
            text.extend_from_slice(number.to_string().as_bytes());
        });
    } else {
        for_each_name(column, row..row + 1, 0, &mut |_, name: &[u8]| {
            text.extend_from_slice(name);
        });
    }
}
