//! Edges as tables: columns in memory and in file formats.

use arrow_array::types::{Int16Type, Int32Type};
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Float64Array, Int64Array, LargeStringArray,
    RecordBatch, StringArray, StringViewArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::sync::Arc;

/// Storage type of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Text,
    LargeText,
    Views,
    Binary,
    Dictionary,
    /// Integers.
    Numbers,
}

pub(crate) const KINDS: [Names; 6] =
    [Names::Text, Names::LargeText, Names::Views, Names::Binary, Names::Dictionary, Names::Numbers];

/// An edge; missing values are null.
pub(crate) type Row = (Option<String>, Option<String>, Option<f64>);

/// Returns a column of names.
pub(crate) fn column(names: &[Option<&str>], kind: Names) -> ArrayRef {
    let names = names.iter().copied();
    match kind {
        Names::Text => Arc::new(names.collect::<StringArray>()),
        Names::LargeText => Arc::new(names.collect::<LargeStringArray>()),
        Names::Views => Arc::new(names.collect::<StringViewArray>()),
        Names::Binary => {
            let bytes: Vec<Option<&[u8]>> = names.map(|name| name.map(str::as_bytes)).collect();
            Arc::new(BinaryArray::from(bytes))
        }
        Names::Dictionary if names.len() < 1000 => {
            Arc::new(names.collect::<DictionaryArray<Int16Type>>())
        }
        Names::Dictionary => Arc::new(names.collect::<DictionaryArray<Int32Type>>()),
        Names::Numbers => {
            let number = |name: &str| name.parse::<i64>().expect("it is a number");
            Arc::new(names.map(|name| name.map(number)).collect::<Int64Array>())
        }
    }
}

/// Returns the table of `rows`: columns `source`, `target`, and, if `weighted`, `weight`.
pub(crate) fn table(rows: &[Row], kind: Names, weighted: bool) -> RecordBatch {
    let sources: Vec<_> = rows.iter().map(|row| row.0.as_deref()).collect();
    let targets: Vec<_> = rows.iter().map(|row| row.1.as_deref()).collect();
    let mut columns = vec![("source", column(&sources, kind)), ("target", column(&targets, kind))];
    if weighted {
        let weights: Float64Array = rows.iter().map(|row| row.2).collect();
        columns.push(("weight", Arc::new(weights)));
    }
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns are of one length")
}

/// Returns a Parquet file with row groups of `group_rows` rows, and small pages.
pub(crate) fn parquet(table: &RecordBatch, group_rows: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group_rows))
        .set_data_page_row_count_limit(500)
        .set_write_batch_size(100)
        .set_compression(Compression::SNAPPY)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties))
        .expect("such columns can be stored");
    writer.write(table).expect("memory can be written");
    writer.into_inner().expect("memory can be written")
}

/// Returns an Arrow IPC file or stream, with batches of `rows` rows.
pub(crate) fn arrow(table: &RecordBatch, rows: usize, stream: bool, packed: bool) -> Vec<u8> {
    let compression = packed.then_some(CompressionType::ZSTD);
    let options = IpcWriteOptions::default()
        .try_with_compression(compression)
        .expect("this version can be compressed");
    let batches = (0..table.num_rows())
        .step_by(rows)
        .map(|from| table.slice(from, rows.min(table.num_rows() - from)));
    let schema = table.schema();
    if stream {
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options)
            .expect("such columns can be stored");
        batches.for_each(|batch| writer.write(&batch).expect("memory can be written"));
        return writer.into_inner().expect("memory can be written");
    }
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options)
        .expect("such columns can be stored");
    batches.for_each(|batch| writer.write(&batch).expect("memory can be written"));
    writer.into_inner().expect("memory can be written")
}

/// Returns the rows as text.
pub(crate) fn text(rows: &[Row], weighted: bool) -> String {
    let mut text = String::new();
    for (source, target, weight) in rows {
        let (source, target) = (source.as_deref().unwrap_or(""), target.as_deref().unwrap_or(""));
        text += &format!("{source}\t{target}");
        match weight {
            _ if !weighted => {}
            Some(weight) => text += &format!("\t{weight}"),
            None => text += "\t",
        }
        text.push('\n');
    }
    text
}
