//! Values of columns of every type: names as bytes, weights as numbers.
//!
//! A value is what the same table has as text. Whole numbers, and decimals without decimals, are their digits; bytes are
//! names as they are, but a UUID is its usual form of 36 characters; numbers in text, and decimals, are read by the parser
//! of lines. Types whose text depends on the program that writes it, such as dates, times, and floating-point numbers as
//! names, have no values.

use crate::chunk::Problem;
use crate::text::field::weight_value;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, Float16Type, Float32Type, Float64Type,
};
use arrow_array::{
    Array, ArrayAccessor, ArrayRef, FixedSizeBinaryArray, OffsetSizeTrait, PrimitiveArray,
    RecordBatch, StringArray, downcast_integer,
};
use arrow_schema::{DataType, Field};
use outcore_graph::NameType;
use std::ops::Range;
use std::sync::Arc;

/// Name of the extension type of UUIDs.
pub(super) const UUID: &str = "arrow.uuid";
/// Maximum length of a whole number, including its sign.
const DIGITS: usize = 20;

/// Returns whether names may be of the type of a column.
pub(super) fn is_name(field: &Field) -> bool {
    match field.data_type() {
        DataType::FixedSizeBinary(_) => true,
        DataType::Dictionary(_, values) => is_named(values),
        kind => is_named(kind),
    }
}

/// Returns the type of names that a column holds.
pub(super) fn name_type(field: &Field) -> NameType {
    let kind = match field.data_type() {
        DataType::Dictionary(_, values) => values,
        kind => kind,
    };
    match kind {
        DataType::UInt64 => NameType::UInt64,
        kind if kind.is_integer() => NameType::Int64,
        _ => NameType::Text,
    }
}

/// Returns whether a column holds UUIDs, according to its mark.
pub(super) fn is_uuid(field: &Field) -> bool {
    let is_marked = field.extension_type_name() == Some(UUID);
    is_marked && field.data_type() == &DataType::FixedSizeBinary(16)
}

fn is_named(kind: &DataType) -> bool {
    kind.is_integer() || is_text(kind) || kind.is_decimal() && scale_of(kind) == 0
}

fn is_text(kind: &DataType) -> bool {
    let is_utf8 = matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    is_utf8 || matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// Returns whether a type holds numbers.
pub(super) fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_number(values),
        kind => kind.is_integer() || kind.is_floating() || kind.is_decimal(),
    }
}

/// Returns whether weights may have this type: numbers, or text, which may hold numbers.
pub(super) fn is_weight(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_weight(values),
        kind => is_number(kind) || is_text(kind),
    }
}

/// Returns a batch of nodes and fractions with the fractions as text, if its second column holds any.
pub(super) fn fractions_as_text(batch: &RecordBatch) -> Option<RecordBatch> {
    let [nodes, numbers] = batch.columns() else { return None };
    let is_text = match numbers.data_type() {
        DataType::Dictionary(_, values) => is_named(values),
        kind => is_named(kind),
    };
    if is_text {
        return None;
    }
    let mut texts: Vec<Option<String>> = Vec::with_capacity(numbers.len());
    for_each_number(numbers, 0..numbers.len(), &mut |at, number| {
        let number = number.ok().filter(|_| numbers.is_valid(at));
        texts.push(number.map(|number| number.to_string()));
    });
    let texts: ArrayRef = Arc::new(StringArray::from(texts));
    RecordBatch::try_from_iter([("node", nodes.clone()), ("number", texts)]).ok()
}

/// Receiver of names.
pub(super) trait Take {
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
pub(super) fn bytes_of(column: &dyn Array, rows: Range<usize>) -> usize {
    fn within<O: OffsetSizeTrait>(offsets: &[O], rows: Range<usize>) -> usize {
        (offsets[rows.end] - offsets[rows.start]).as_usize()
    }
    match column.data_type() {
        DataType::Utf8 => within(column.as_string::<i32>().value_offsets(), rows),
        DataType::LargeUtf8 => within(column.as_string::<i64>().value_offsets(), rows),
        DataType::Binary => within(column.as_binary::<i32>().value_offsets(), rows),
        DataType::LargeBinary => within(column.as_binary::<i64>().value_offsets(), rows),
        DataType::FixedSizeBinary(size) => *size as usize * rows.len(),
        kind if kind.is_integer() => DIGITS * rows.len(),
        _ => {
            let mut sum = 0;
            for_each_name(column, rows, 0, &mut |_, name: &[u8]| sum += name.len());
            sum
        }
    }
}

/// Calls `take` with the bytes of each name of `rows`, counted from `at`; nulls give arbitrary bytes. Of decimals, the
/// digits are passed.
pub(super) fn for_each_name(
    column: &dyn Array,
    rows: Range<usize>,
    at: usize,
    take: &mut impl Take,
) {
    fn each<'a, V: AsRef<[u8]> + ?Sized + 'a>(
        names: impl ArrayAccessor<Item = &'a V>,
        rows: Range<usize>,
        at: usize,
        take: &mut impl Take,
    ) {
        for (at, row) in (at..).zip(rows) {
            take.take(at, names.value(row).as_ref());
        }
    }
    macro_rules! integers {
        ($kind:ty) => {
            each_integer(column.as_primitive::<$kind>(), rows, at, take)
        };
    }
    downcast_integer! {
        column.data_type() => (integers),
        DataType::Utf8 => each(column.as_string::<i32>(), rows, at, take),
        DataType::LargeUtf8 => each(column.as_string::<i64>(), rows, at, take),
        DataType::Utf8View => each(column.as_string_view(), rows, at, take),
        DataType::Binary => each(column.as_binary::<i32>(), rows, at, take),
        DataType::LargeBinary => each(column.as_binary::<i64>(), rows, at, take),
        DataType::BinaryView => each(column.as_binary_view(), rows, at, take),
        DataType::FixedSizeBinary(_) => each(column.as_fixed_size_binary(), rows, at, take),
        DataType::Dictionary(key, _) => for_each_of_dictionary(column, key, rows, at, take),
        DataType::Decimal32(..) => integers!(Decimal32Type),
        DataType::Decimal64(..) => integers!(Decimal64Type),
        DataType::Decimal128(..) => integers!(Decimal128Type),
        DataType::Decimal256(..) => {
            let numbers = column.as_primitive::<Decimal256Type>();
            for (at, row) in (at..).zip(rows) {
                take.take(at, numbers.value(row).to_string().as_bytes());
            }
        }
        other => unreachable!("no names are of type {other}"),
    }
}

/// Length of a UUID as text.
pub(super) const UUID_BYTES: usize = 36;

/// Returns the UUIDs of some rows as text.
pub(super) fn uuid_texts(column: &dyn Array, rows: Range<usize>) -> FixedSizeBinaryArray {
    let ids: &FixedSizeBinaryArray = column.as_fixed_size_binary();
    let texts: Vec<u8> = rows.clone().flat_map(|row| uuid_text(ids.value(row))).collect();
    let nulls = column.nulls().map(|nulls| nulls.slice(rows.start, rows.len()));
    FixedSizeBinaryArray::new(UUID_BYTES as i32, texts.into(), nulls)
}

/// Returns the usual form of a UUID: 32 lower-case digits in five groups.
fn uuid_text(bytes: &[u8]) -> [u8; UUID_BYTES] {
    let mut text = [b'-'; UUID_BYTES];
    let places = (0..text.len()).filter(|place| ![8, 13, 18, 23].contains(place));
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    for (place, digit) in places.zip(digits) {
        text[place] = b"0123456789abcdef"[usize::from(digit)];
    }
    text
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

/// Calls `each` with the rows of a dictionary column, counted from `at`, and the places of their values; `None` for null.
fn for_each_key(
    column: &dyn Array,
    key: &DataType,
    rows: Range<usize>,
    at: usize,
    each: &mut impl FnMut(usize, Option<usize>),
) {
    fn of<K: ArrowDictionaryKeyType>(
        column: &dyn Array,
        rows: Range<usize>,
        at: usize,
        each: &mut impl FnMut(usize, Option<usize>),
    ) {
        let names = column.as_dictionary::<K>();
        for (at, row) in (at..).zip(rows) {
            each(at, names.key(row).filter(|&value| !names.values().is_null(value)));
        }
    }
    macro_rules! keys {
        ($key:ty) => {
            of::<$key>(column, rows, at, each)
        };
    }
    downcast_integer! {
        key => (keys),
        other => unreachable!("no keys are of type {other}"),
    }
}

fn for_each_of_dictionary(
    column: &dyn Array,
    key: &DataType,
    rows: Range<usize>,
    at: usize,
    take: &mut impl Take,
) {
    let values = column.as_any_dictionary().values();
    // Without this, dictionaries of dictionaries would be infinite types.
    let mut take: &mut dyn FnMut(usize, &[u8]) = &mut |at, name: &[u8]| take.take(at, name);
    for_each_key(column, key, rows, at, &mut |at, value| match value {
        Some(value) => one_name(values, value, at, &mut take),
        None => take(at, &[]),
    });
}

/// Takes one name of a dictionary.
fn one_name(values: &dyn Array, row: usize, at: usize, take: &mut &mut dyn FnMut(usize, &[u8])) {
    match values.data_type() {
        DataType::Utf8 => take(at, values.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => take(at, values.as_string::<i64>().value(row).as_bytes()),
        _ => for_each_name(values, row..row + 1, at, take),
    }
}

/// Calls `take` with each number of `rows`, counted from 0, or with what is wrong with it; nulls give arbitrary ones.
/// Text and decimals are read as in lines of text.
pub(super) fn for_each_number(
    column: &dyn Array,
    rows: Range<usize>,
    take: &mut impl FnMut(usize, Result<f64, Problem>),
) {
    fn each<T: ArrowPrimitiveType>(
        numbers: &PrimitiveArray<T>,
        rows: Range<usize>,
        take: &mut impl FnMut(usize, Result<f64, Problem>),
        value: impl Fn(T::Native) -> f64,
    ) {
        for (at, &number) in numbers.values()[rows].iter().enumerate() {
            take(at, Ok(value(number)));
        }
    }
    macro_rules! integers {
        ($kind:ty) => {
            each(column.as_primitive::<$kind>(), rows, take, |number| number as f64)
        };
    }
    downcast_integer! {
        column.data_type() => (integers),
        DataType::Float16 => each(column.as_primitive::<Float16Type>(), rows, take, f64::from),
        DataType::Float32 => each(column.as_primitive::<Float32Type>(), rows, take, f64::from),
        DataType::Float64 => each(column.as_primitive::<Float64Type>(), rows, take, |n| n),
        DataType::Dictionary(key, _) => {
            let values = column.as_any_dictionary().values();
            for_each_key(column, key, rows, 0, &mut |at, value| {
                take(at, value.map_or(Err(Problem::EmptyWeight), |value| number_at(values, value)));
            });
        }
        kind => {
            let mut number = Vec::new();
            let scale = scale_of(kind);
            for_each_name(column, rows, 0, &mut |at, digits: &[u8]| match scale {
                0 => take(at, weight_value(digits)),
                _ => {
                    number.clear();
                    number.extend_from_slice(digits);
                    number.push(b'e');
                    number.extend_from_slice(
                        itoa::Buffer::new().format(-i32::from(scale)).as_bytes(),
                    );
                    take(at, weight_value(&number));
                }
            });
        }
    }
}

/// Returns one number of a dictionary.
fn number_at(values: &dyn Array, row: usize) -> Result<f64, Problem> {
    let mut found = Err(Problem::EmptyWeight);
    // Without this, dictionaries of dictionaries would be infinite types.
    let mut take: &mut dyn FnMut(usize, Result<f64, Problem>) = &mut |_, number| found = number;
    for_each_number(values, row..row + 1, &mut take);
    found
}

/// Returns the number of decimals of a type; 0 for text.
fn scale_of(kind: &DataType) -> i8 {
    match kind {
        DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) => *scale,
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => *scale,
        _ => 0,
    }
}

/// Appends a value as text.
pub(super) fn write_value(column: &dyn Array, row: usize, text: &mut Vec<u8>) {
    if column.is_null(row) {
        return text.extend_from_slice(b"null");
    }
    match column.data_type() {
        DataType::Dictionary(key, _) => {
            let values = column.as_any_dictionary().values();
            for_each_key(column, key, row..row + 1, 0, &mut |_, value| match value {
                // Without this, dictionaries of dictionaries would be infinite types.
                Some(value) => write_value(values, value, text),
                None => text.extend_from_slice(b"null"),
            });
        }
        kind if kind.is_floating() || scale_of(kind) != 0 => {
            for_each_number(column, row..row + 1, &mut |_, number| {
                if let Ok(number) = number {
                    text.extend_from_slice(number.to_string().as_bytes());
                }
            });
        }
        _ => for_each_name(column, row..row + 1, 0, &mut |_, name: &[u8]| {
            text.extend_from_slice(name);
        }),
    }
}
