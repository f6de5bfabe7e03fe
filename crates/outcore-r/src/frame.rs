//! Data frames of R as batches for the engine, a part at a time: R copies some rows of its vectors on its own thread
//! whenever the engine has taken others, so that only a few parts are in memory twice.

use crate::results::EXACT;
use arrow_array::builder::StringBuilder;
use arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, NullArray, RecordBatch, RecordBatchReader,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use outcore::{Error, ErrorKind};
use outcore_bind::facts::Facts;
use outcore_bind::relay::Wants;
use savvy::{
    ListSexp, LogicalSexp, NotAvailableValue, OwnedIntegerSexp, Sexp, StringSexp, TypedSexp, savvy,
    savvy_err,
};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Parts that are asked for before the first is used.
const AHEAD: usize = 4;
/// NA of `integer64`.
const INTEGER64_NA: i64 = i64::MIN;

/// Kind of the vectors of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// `character`, as a list of the bytes and of the ends of its texts.
    Text,
    /// `integer`.
    Int32,
    /// `numeric`, all of whose values are integers.
    Int64,
    /// `integer64` of the package bit64: 64 bits in the place of a double.
    Integer64,
    /// `numeric`.
    Float64,
    /// Another type, which the engine refuses if it needs the column.
    None,
}

/// Columns of a data frame.
#[derive(Debug)]
pub(crate) struct Columns {
    kinds: Vec<Kind>,
    schema: SchemaRef,
}

impl Columns {
    pub(crate) fn new<'a>(
        names: impl Iterator<Item = &'a str>,
        types: impl Iterator<Item = &'a str>,
    ) -> savvy::Result<Self> {
        let kind = |text: &str| match text {
            "text" => Ok(Kind::Text),
            "int32" => Ok(Kind::Int32),
            "int64" => Ok(Kind::Int64),
            "integer64" => Ok(Kind::Integer64),
            "float64" => Ok(Kind::Float64),
            "none" => Ok(Kind::None),
            _ => Err(savvy_err!("`{text}` is not the type of a column")),
        };
        let kinds = types.map(kind).collect::<savvy::Result<Vec<Kind>>>()?;
        let field = |(name, kind): (&str, &Kind)| {
            let kind = match kind {
                Kind::Text => DataType::Utf8,
                Kind::Int32 => DataType::Int32,
                Kind::Int64 | Kind::Integer64 => DataType::Int64,
                Kind::Float64 => DataType::Float64,
                Kind::None => DataType::Null,
            };
            Field::new(name, kind, true)
        };
        let fields: Vec<Field> = names.zip(&kinds).map(field).collect();
        Ok(Self { kinds, schema: Arc::new(Schema::new(fields)) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Copies `count` rows, of which the first has number `first`: numbers after the first `from`, and the first texts;
    /// `None` if a text is not UTF-8.
    pub(crate) fn batch(
        &self,
        columns: &ListSexp,
        first: u64,
        from: usize,
        count: usize,
    ) -> savvy::Result<Option<RecordBatch>> {
        let mut arrays = Vec::with_capacity(self.kinds.len());
        for (column, &kind) in columns.values_iter().zip(&self.kinds) {
            match array(column.into_typed(), kind, first, from..from + count)? {
                Some(array) => arrays.push(array),
                None => return Ok(None),
            }
        }
        let batch = RecordBatch::try_new(self.schema.clone(), arrays);
        batch.map(Some).map_err(|error| savvy_err!("{error}"))
    }
}

/// Converts rows of a column; `None` if a text is not UTF-8.
fn array(
    column: TypedSexp,
    kind: Kind,
    first: u64,
    rows: Range<usize>,
) -> savvy::Result<Option<ArrayRef>> {
    let short = || savvy_err!("a column is shorter than the first one");
    Ok(Some(match (column, kind) {
        (TypedSexp::List(texts), Kind::Text) => match texts_of(&texts, rows.len())? {
            Some(array) => array,
            None => return Ok(None),
        },
        (TypedSexp::Integer(numbers), Kind::Int32) => {
            let numbers = numbers.as_slice().get(rows).ok_or_else(short)?.iter();
            Arc::new(
                numbers.map(|number| (!number.is_na()).then_some(*number)).collect::<Int32Array>(),
            )
        }
        (TypedSexp::Real(numbers), Kind::Float64) => {
            let numbers = numbers.as_slice().get(rows).ok_or_else(short)?.iter();
            Arc::new(
                numbers
                    .map(|number| (!number.is_na()).then_some(*number))
                    .collect::<Float64Array>(),
            )
        }
        (TypedSexp::Real(numbers), Kind::Integer64) => {
            let numbers = numbers.as_slice().get(rows).ok_or_else(short)?.iter();
            let numbers = numbers.map(|number| number.to_bits() as i64);
            let number = |number| (number != INTEGER64_NA).then_some(number);
            Arc::new(numbers.map(number).collect::<Int64Array>())
        }
        (TypedSexp::Real(numbers), Kind::Int64) => {
            let numbers = numbers.as_slice().get(rows).ok_or_else(short)?;
            Arc::new(integers(numbers, first)?)
        }
        (_, Kind::None) => Arc::new(NullArray::new(rows.len())),
        _ => return Err(savvy_err!("a column has another type than its first rows")),
    }))
}

/// Converts `count` texts that are their bytes one after the other, and their ends; both may be longer.
fn texts_of(parts: &ListSexp, count: usize) -> savvy::Result<Option<ArrayRef>> {
    let part = |at| parts.get_by_index(at).map(Sexp::into_typed);
    let (Some(TypedSexp::Raw(bytes)), Some(TypedSexp::Integer(ends))) = (part(0), part(1)) else {
        return Err(savvy_err!("texts are bytes and ends"));
    };
    let ends = ends.as_slice().get(..count).ok_or_else(|| savvy_err!("there are fewer texts"))?;
    let used = ends.iter().rfind(|end| !end.is_na()).map_or(0, |&end| end as usize);
    let Ok(texts) = std::str::from_utf8(&bytes.as_slice()[..used]) else { return Ok(None) };
    let mut array = StringBuilder::with_capacity(count, used);
    let mut begin = 0;
    for end in ends {
        if end.is_na() {
            array.append_null();
            continue;
        }
        let end = *end as usize;
        match texts.get(begin..end) {
            Some(text) => array.append_value(text),
            // Only together they are UTF-8.
            None => return Ok(None),
        }
        begin = end;
    }
    Ok(Some(Arc::new(array.finish())))
}

/// Converts names that are doubles.
fn integers(numbers: &[f64], first: u64) -> savvy::Result<Int64Array> {
    let whole = |(at, &number): (usize, &f64)| match number {
        number if number.is_nan() => Ok(None),
        number if number.trunc() == number && number.abs() <= EXACT as f64 => {
            Ok(Some(number as i64))
        }
        number => {
            let row = first + at as u64;
            let error = Error::new(
                ErrorKind::BadInput,
                format!("row {row}: the node {number} is not a whole number"),
            )
            .hint("nodes are text, or whole numbers up to 2^53: use `as.character()`");
            Err(savvy_err!("{}", Facts::of(&error).json()))
        }
    };
    numbers.iter().enumerate().map(whole).collect()
}

/// Returns the columns of source, target and weight that the engine chooses among columns with these names, from 1; nothing
/// if it cannot choose. `numbers` tells which columns hold numbers.
#[savvy]
fn choose_columns(names: StringSexp, numbers: LogicalSexp) -> savvy::Result<Sexp> {
    let names: Vec<&[u8]> = names.iter().map(str::as_bytes).collect();
    let numbers: Vec<bool> = numbers.iter().collect();
    let chosen = outcore::input::choose_columns(&names, &numbers);
    let chosen = chosen.map(|(source, target, weight, _)| [Some(source), Some(target), weight]);
    let chosen = chosen.into_iter().flatten().flatten().map(|at| at as i32 + 1);
    OwnedIntegerSexp::try_from_slice(chosen.collect::<Vec<i32>>())?.into()
}

/// Rows of a data frame, in parts that R's thread sends when they are asked for.
#[derive(Debug)]
pub(crate) struct Parts {
    schema: SchemaRef,
    wants: Wants,
    receiver: Receiver<RecordBatch>,
    is_first: bool,
}

impl Parts {
    pub(crate) fn new(columns: &Columns, wants: Wants) -> (Self, Sender<RecordBatch>) {
        let (sender, receiver) = channel();
        (Self { schema: columns.schema.clone(), wants, receiver, is_first: true }, sender)
    }
}

impl Iterator for Parts {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let count = if std::mem::take(&mut self.is_first) { AHEAD } else { 1 };
        (0..count).for_each(|_| self.wants.ask());
        self.receiver.recv().ok().map(Ok)
    }
}

impl RecordBatchReader for Parts {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
