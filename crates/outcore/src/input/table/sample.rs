//! Values in the first rows of a table, as text: to show them, and to tell text that holds numbers from other text.
//!
//! Memory: that of reading the file, and the text of the rows. Columns of Parquet are read one after the other, because
//! the pages of all columns may be larger than those of the columns that are read later.

use super::values::{is_name, is_weight, write_value};
use super::{Batches, caught, ipc, parquet};
use crate::error::Result;
use crate::input::decompress::Input;
use crate::input::taker::PARQUET_MAGIC;
use crate::io::Files;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Field};
use std::path::Path;

/// Maximum number of bytes of a value.
const VALUE_BYTES: usize = 256;

/// Returns the values of `columns`, from 0, in the first `count` rows of a Parquet or Arrow IPC file, row by row. The text
/// is empty for null, and for types that can be neither names nor weights.
///
/// # Errors
/// `BadInput` for a damaged file; `Io`.
pub(super) fn sample_rows(
    files: &Files,
    path: &Path,
    columns: &[usize],
    count: usize,
) -> Result<Vec<Vec<String>>> {
    let mut input = Input::open(files, path, 1)?;
    let mut found: Vec<Vec<String>> = vec![Vec::new(); columns.len()];
    if input.peek(PARQUET_MAGIC.len())?.0.starts_with(PARQUET_MAGIC) {
        for (values, &column) in found.iter_mut().zip(columns) {
            let (field, mut batches) = parquet::first_batches(files, path, column)?;
            while values.len() < count
                && let Some(batch) = batches()?
            {
                add(batch.column(0), &field, count, values, path)?;
            }
        }
    } else {
        let beginning = ipc::Beginning::peek(&mut input, path)?;
        let schema = beginning.schema(&mut input, path)?;
        let limit = ipc::held_bytes(files, path, &input, &beginning)?;
        let mut batches = ipc::IpcReader::new(files, input, path, columns.to_vec(), limit)?;
        while found.first().is_some_and(|values| values.len() < count)
            && let Some(batch) = batches.next()?
        {
            for ((values, &at), column) in found.iter_mut().zip(columns).zip(batch.columns()) {
                add(column, schema.field(at), count, values, path)?;
            }
        }
    }
    let rows = found.iter().map(Vec::len).min().unwrap_or(0);
    let value = |row: usize| found.iter().map(|values| values[row].clone()).collect();
    Ok((0..rows).map(value).collect())
}

/// Appends the values of `column` until there are `count`.
fn add(
    column: &dyn Array,
    field: &Field,
    count: usize,
    values: &mut Vec<String>,
    path: &Path,
) -> Result<()> {
    caught(path, || {
        let rows = column.len().min(count - values.len());
        values.extend((0..rows).map(|row| text_of(column, field, row)));
        Ok(())
    })
}

fn text_of(column: &dyn Array, field: &Field, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    if field.data_type() == &DataType::Boolean {
        return column.as_boolean().value(row).to_string();
    }
    let mut text = Vec::new();
    if is_name(field) || is_weight(field.data_type()) {
        write_value(column, row, &mut text);
    }
    text.truncate(VALUE_BYTES);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::sim::Sim;
    use ::parquet::arrow::ArrowWriter;
    use ::parquet::file::properties::WriterProperties;
    use arrow_array::types::Int32Type;
    use arrow_array::{
        ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, RecordBatch,
        StringArray,
    };
    use arrow_ipc::writer::FileWriter;
    use std::sync::Arc;

    #[test]
    fn the_first_rows_of_any_columns_are_text() {
        let columns: [(&str, ArrayRef); 5] = [
            ("text", Arc::new(StringArray::from(vec![Some("1.5"), None, Some("NA"), Some("x")]))),
            ("flag", Arc::new(BooleanArray::from(vec![true, false, true, true]))),
            ("day", Arc::new(Date32Array::from(vec![1, 2, 3, 4]))),
            ("word", Arc::new(DictionaryArray::<Int32Type>::from_iter(["a", "b", "a", "c"]))),
            ("number", Arc::new(Float64Array::from(vec![0.5, 2.0, 3.0, 1e-9]))),
        ];
        let columns = columns.map(|(name, column)| (name, column, true));
        let table = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let mut arrow = FileWriter::try_new(Vec::new(), &table.schema()).unwrap();
        arrow.write(&table.slice(0, 1)).unwrap();
        arrow.write(&table.slice(1, 3)).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(2)).build();
        let mut rows = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties)).unwrap();
        rows.write(&table).unwrap();
        for bytes in [arrow.into_inner().unwrap(), rows.into_inner().unwrap()] {
            let (sim, path) = (Sim::new(), Path::new("/in/table"));
            sim.put(path, &bytes);
            let files = Files::new(Arc::new(sim));
            let found = sample_rows(&files, path, &[4, 0, 1, 2, 3], 3).unwrap();
            assert_eq!(
                found,
                [
                    ["0.5", "1.5", "true", "", "a"],
                    ["2", "", "false", "", "b"],
                    ["3", "NA", "true", "", "a"]
                ]
            );
            assert_eq!(sample_rows(&files, path, &[3], 10).unwrap().len(), 4);
        }
    }
}
