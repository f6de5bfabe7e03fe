//! Writer of rows as Arrow or Parquet. Rows are buffered and written several thousand at a time, or fewer if
//! names are long, so memory is about 12 MiB, independent of the graph and its names. The Apache Arrow libraries encode
//! them, on a thread of their own.

use super::encode::text_of;
use super::rows::{OutputColumn, Value, ValueKind};
use super::{RowFormat, Sink, six_digits};
use crate::error::{Error, ErrorKind, Result};
use crate::io::Files;
use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Maximum rows of a batch.
const BATCH_ROWS: usize = 1 << 13;
/// Bytes of text from which a batch is written.
const BATCH_BYTES: usize = 1 << 20;
/// Maximum rows of a Parquet row group, which is held in memory until it is complete.
const GROUP_ROWS: usize = 1 << 17;
/// Maximum encoded bytes of a row group.
const GROUP_BYTES: usize = 4 << 20;

/// Sink shared with the writers of the libraries, so that it can be finished here and the original errors are
/// preserved.
#[derive(Clone)]
struct SharedSink(Arc<Mutex<(Option<Sink>, Option<Error>)>>);

impl SharedSink {
    fn new(sink: Sink) -> Self {
        Self(Arc::new(Mutex::new((Some(sink), None))))
    }

    fn finish(&self, path: &Path) -> Result<u64> {
        let sink = self.0.lock().unwrap_or_else(PoisonError::into_inner).0.take();
        sink.ok_or_else(|| failed(path, "it is already finished"))?.finish()
    }

    /// Returns the original error behind an error of a library.
    fn error(&self, path: &Path, error: impl std::fmt::Display) -> Error {
        let ours = self.0.lock().unwrap_or_else(PoisonError::into_inner).1.take();
        ours.unwrap_or_else(|| failed(path, &error.to_string()))
    }
}

fn failed(path: &Path, what: &str) -> Error {
    Error::new(ErrorKind::Io, format!("cannot write `{}`: {what}", path.display()))
}

impl Write for SharedSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(sink), failure) = &mut *shared else { return Err(io::ErrorKind::Other.into()) };
        match sink.write(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                failure.get_or_insert(error);
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Error of a library, or of the sink behind it.
type Failure = Box<dyn std::error::Error + Send + Sync>;

enum ColumnEncoder {
    Parquet(Box<ArrowWriter<SharedSink>>),
    Arrow(Box<FileWriter<SharedSink>>),
}

impl ColumnEncoder {
    /// Starts encoding. Columns of names have no dictionary, which would hold each value once more.
    fn new(
        format: RowFormat,
        shared: &SharedSink,
        schema: &SchemaRef,
        columns: &[OutputColumn],
    ) -> std::result::Result<Self, Failure> {
        if format == RowFormat::Arrow {
            return Ok(Self::Arrow(Box::new(FileWriter::try_new(shared.clone(), schema)?)));
        }
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_compression(Compression::ZSTD(ZstdLevel::default()));
        let are_names =
            |kind| matches!(kind, ValueKind::Name | ValueKind::Int64 | ValueKind::UInt64);
        let names = columns.iter().filter(|column| are_names(column.kind));
        let properties = names.fold(properties, |properties, column| {
            let name = ColumnPath::from(column.name.as_str());
            properties.set_column_dictionary_enabled(name, false)
        });
        let writer = ArrowWriter::try_new(shared.clone(), schema.clone(), Some(properties.build()));
        Ok(Self::Parquet(Box::new(writer?)))
    }

    fn write(&mut self, batch: &RecordBatch) -> std::result::Result<(), Failure> {
        match self {
            Self::Parquet(writer) => {
                writer.write(batch)?;
                if writer.in_progress_size() >= GROUP_BYTES {
                    writer.flush()?;
                }
            }
            Self::Arrow(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    fn finish(self) -> std::result::Result<(), Failure> {
        match self {
            Self::Parquet(writer) => drop(writer.close()?),
            Self::Arrow(mut writer) => writer.finish()?,
        }
        Ok(())
    }
}

/// Thread that returns the encoder after the last batch.
type EncodingThread = JoinHandle<std::result::Result<ColumnEncoder, Failure>>;

/// Encoder on a thread of its own, which starts with the first full batch: a small table needs none. A batch waits while
/// the one before is encoded, as some take longer than others.
struct Encoding {
    idle: Option<ColumnEncoder>,
    busy: Option<(SyncSender<RecordBatch>, EncodingThread)>,
}

impl Encoding {
    /// Encodes a batch after those before.
    fn send(&mut self, batch: RecordBatch) -> std::result::Result<(), Failure> {
        if let Some(mut encoder) = self.idle.take() {
            let (sender, batches) = sync_channel::<RecordBatch>(1);
            let thread = std::thread::spawn(move || {
                batches.into_iter().try_for_each(|batch| encoder.write(&batch))?;
                Ok(encoder)
            });
            self.busy = Some((sender, thread));
        }
        if self.busy.as_ref().is_some_and(|(sender, _)| sender.send(batch).is_ok()) {
            return Ok(());
        }
        // The thread has ended after an error.
        self.wait().and_then(|_| Err("a batch was not written".into()))
    }

    fn wait(&mut self) -> std::result::Result<ColumnEncoder, Failure> {
        let Some((sender, thread)) = self.busy.take() else {
            return self.idle.take().ok_or_else(|| "it is already finished".into());
        };
        drop(sender);
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Encodes the last batch, and ends the table.
    fn finish(mut self, batch: &RecordBatch) -> std::result::Result<(), Failure> {
        let mut encoder = self.wait()?;
        encoder.write(batch)?;
        encoder.finish()
    }
}

impl Drop for Encoding {
    fn drop(&mut self) {
        // A writer that is given up must not write while its file is removed.
        if let Some((sender, thread)) = self.busy.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// Values of a column that are not written yet.
enum Values {
    Text(StringBuilder),
    Int64(Int64Builder),
    UInt64(UInt64Builder),
    Numbers(Int64Builder),
    Reals(Float64Builder),
}

impl Values {
    fn of(kind: ValueKind) -> Self {
        match kind {
            ValueKind::Text | ValueKind::Name => Self::Text(StringBuilder::new()),
            ValueKind::Int64 => Self::Int64(Int64Builder::new()),
            ValueKind::UInt64 => Self::UInt64(UInt64Builder::new()),
            ValueKind::Number => Self::Numbers(Int64Builder::new()),
            ValueKind::Real => Self::Reals(Float64Builder::new()),
        }
    }

    /// Adds a value; returns the bytes of its text.
    fn push(&mut self, path: &Path, value: Value<'_>) -> Result<usize> {
        match (self, value) {
            (Self::Text(all), Value::Name(name)) => {
                all.append_value(text_of(name, path)?);
                return Ok(name.len());
            }
            (Self::Text(all), _) => all.append_null(),
            (Self::Int64(all), Value::Name(name)) => all.append_value(whole(name, path)?),
            (Self::Int64(all), _) => all.append_null(),
            (Self::UInt64(all), Value::Name(name)) => all.append_value(whole(name, path)?),
            (Self::UInt64(all), _) => all.append_null(),
            (Self::Numbers(all), Value::Number(number)) => all.append_value(number as i64),
            (Self::Numbers(all), _) => all.append_null(),
            (Self::Reals(all), Value::Weight(weight)) => all.append_value(six_digits(weight)),
            (Self::Reals(all), Value::Share(number) | Value::Exact(number)) => {
                all.append_value(number);
            }
            (Self::Reals(all), _) => all.append_null(),
        }
        Ok(0)
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(all) => Arc::new(all.finish()),
            Self::Int64(all) => Arc::new(all.finish()),
            Self::UInt64(all) => Arc::new(all.finish()),
            Self::Numbers(all) => Arc::new(all.finish()),
            Self::Reals(all) => Arc::new(all.finish()),
        }
    }
}

/// Returns a name that is a whole number.
fn whole<T: FromStr>(name: &[u8], path: &Path) -> Result<T> {
    let text = text_of(name, path)?;
    text.parse().map_err(|_| failed(path, &format!("`{text}` is no whole number of 64 bits")))
}

/// Writer that collects rows into columns.
pub(super) struct ColumnsWriter {
    path: PathBuf,
    shared: SharedSink,
    encoding: Encoding,
    schema: SchemaRef,
    columns: Vec<Values>,
    /// Rows that are not written yet, and the bytes of their text.
    rows: usize,
    text_bytes: usize,
}

impl ColumnsWriter {
    /// Starts writing `path`.
    pub(super) fn create(
        files: &Files,
        path: &Path,
        format: RowFormat,
        columns: &[OutputColumn],
    ) -> Result<Self> {
        let shared = SharedSink::new(Sink::create(files, path)?);
        let field = |OutputColumn { name, kind, is_optional }: &OutputColumn| {
            let kind = match kind {
                ValueKind::Text | ValueKind::Name => DataType::Utf8,
                ValueKind::Number | ValueKind::Int64 => DataType::Int64,
                ValueKind::UInt64 => DataType::UInt64,
                ValueKind::Real => DataType::Float64,
            };
            Field::new(name, kind, *is_optional)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let encoder = ColumnEncoder::new(format, &shared, &schema, columns)
            .map_err(|error| shared.error(path, error))?;
        Ok(Self {
            path: path.to_path_buf(),
            encoding: Encoding { idle: Some(encoder), busy: None },
            shared,
            schema,
            columns: columns.iter().map(|column| Values::of(column.kind)).collect(),
            rows: 0,
            text_bytes: 0,
        })
    }

    /// Adds the value of a column to the row.
    pub(super) fn put(&mut self, column: usize, value: Value<'_>) -> Result<()> {
        self.text_bytes += self.columns[column].push(&self.path, value)?;
        Ok(())
    }

    /// Ends the row.
    pub(super) fn end(&mut self) -> Result<()> {
        self.rows += 1;
        if self.rows < BATCH_ROWS && self.text_bytes < BATCH_BYTES {
            return Ok(());
        }
        let batch = self.batch()?;
        self.encoding.send(batch).map_err(|error| self.shared.error(&self.path, error))
    }

    /// Returns the rows that are not written yet.
    fn batch(&mut self) -> Result<RecordBatch> {
        (self.rows, self.text_bytes) = (0, 0);
        let columns = self.columns.iter_mut().map(Values::finish).collect();
        RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|error| self.shared.error(&self.path, error))
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    pub(super) fn finish(mut self) -> Result<u64> {
        let batch = self.batch()?;
        let Self { path, shared, encoding, .. } = self;
        encoding.finish(&batch).map_err(|error| shared.error(&path, error))?;
        shared.finish(&path)
    }
}
