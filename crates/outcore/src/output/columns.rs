//! Writer of communities as Arrow or Parquet. Rows are buffered and written several thousand at a time, or fewer if
//! names are long, so memory is about 10 MiB, independent of the graph and its names. Encoding is by the Apache Arrow
//! libraries.

use super::table::path_of;
use super::{OutputShape, Row, Sink};
use crate::error::{Error, ErrorKind, Result};
use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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

enum ColumnEncoder {
    Parquet(Box<ArrowWriter<SharedSink>>),
    Arrow(Box<FileWriter<SharedSink>>),
}

impl ColumnEncoder {
    fn new(
        is_parquet: bool,
        shared: &SharedSink,
        schema: &SchemaRef,
    ) -> std::result::Result<Self, String> {
        if !is_parquet {
            let writer = FileWriter::try_new(shared.clone(), schema);
            return Ok(Self::Arrow(Box::new(writer.map_err(|error| error.to_string())?)));
        }
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = ArrowWriter::try_new(shared.clone(), schema.clone(), Some(properties));
        Ok(Self::Parquet(Box::new(writer.map_err(|error| error.to_string())?)))
    }

    fn write(&mut self, batch: &RecordBatch) -> std::result::Result<(), String> {
        match self {
            Self::Parquet(writer) => {
                writer.write(batch).map_err(|error| error.to_string())?;
                if writer.in_progress_size() < GROUP_BYTES {
                    return Ok(());
                }
                writer.flush().map_err(|error| error.to_string())
            }
            Self::Arrow(writer) => writer.write(batch).map_err(|error| error.to_string()),
        }
    }

    fn finish(self) -> std::result::Result<(), String> {
        match self {
            Self::Parquet(writer) => writer.close().map(drop).map_err(|error| error.to_string()),
            Self::Arrow(mut writer) => writer.finish().map_err(|error| error.to_string()),
        }
    }
}

/// Writer that collects rows into columns.
pub(super) struct ColumnsWriter {
    path: PathBuf,
    shared: SharedSink,
    encoder: ColumnEncoder,
    schema: SchemaRef,
    nodes: StringBuilder,
    communities: Int64Builder,
    weights: Option<Float64Builder>,
    stability: Option<Float64Builder>,
    groups: Vec<Int64Builder>,
    /// Paths of community and groups, instead of columns.
    paths: Option<StringBuilder>,
    rows: usize,
}

impl ColumnsWriter {
    /// Starts writing `path`, whose bytes go to `sink`.
    pub(super) fn create(
        sink: Sink,
        path: &Path,
        is_parquet: bool,
        shape: OutputShape,
    ) -> Result<Self> {
        let OutputShape { has_weights, has_stability, groups, is_path } = shape;
        let shared = SharedSink::new(sink);
        let mut fields = vec![
            Field::new("node", DataType::Utf8, false),
            Field::new("community", DataType::Int64, false),
        ];
        if has_weights {
            fields.push(Field::new("weight", DataType::Float64, false));
        }
        if has_stability {
            fields.push(Field::new("stability", DataType::Float64, false));
        }
        let columns = if is_path { 0 } else { groups };
        fields.extend((1..=columns).map(|at| {
            // A group may contain no groups.
            Field::new(format!("group{at}"), DataType::Int64, true)
        }));
        if is_path {
            fields.push(Field::new("path", DataType::Utf8, false));
        }
        let schema = Arc::new(Schema::new(fields));
        let encoder = ColumnEncoder::new(is_parquet, &shared, &schema);
        Ok(Self {
            path: path.to_path_buf(),
            encoder: encoder.map_err(|error| shared.error(path, error))?,
            shared,
            schema,
            nodes: StringBuilder::new(),
            communities: Int64Builder::new(),
            weights: has_weights.then(Float64Builder::new),
            stability: has_stability.then(Float64Builder::new),
            groups: (0..columns).map(|_| Int64Builder::new()).collect(),
            paths: is_path.then(StringBuilder::new),
            rows: 0,
        })
    }

    /// Adds a node.
    pub(super) fn push(&mut self, name: &str, row: &Row<'_>) -> Result<()> {
        let Row { community, weight, stability, groups, .. } = *row;
        self.nodes.append_value(name);
        self.communities.append_value(community as i64);
        if let Some(weights) = &mut self.weights {
            weights.append_value(weight.unwrap_or(0.0));
        }
        if let Some(all) = &mut self.stability {
            all.append_value(stability.unwrap_or(0.0));
        }
        for (at, column) in self.groups.iter_mut().enumerate() {
            column.append_option(groups.get(at).map(|&group| i64::from(group)));
        }
        if let Some(paths) = &mut self.paths {
            paths.append_value(path_of(community, groups));
        }
        self.rows += 1;
        let paths = self.paths.as_ref().map_or(0, |paths| paths.values_slice().len());
        let is_full = self.nodes.values_slice().len() + paths >= BATCH_BYTES;
        if self.rows == BATCH_ROWS || is_full { self.write_batch() } else { Ok(()) }
    }

    fn write_batch(&mut self) -> Result<()> {
        self.rows = 0;
        let mut columns: Vec<ArrayRef> =
            vec![Arc::new(self.nodes.finish()), Arc::new(self.communities.finish())];
        columns.extend(self.weights.iter_mut().map(|all| Arc::new(all.finish()) as _));
        columns.extend(self.stability.iter_mut().map(|all| Arc::new(all.finish()) as _));
        columns.extend(self.groups.iter_mut().map(|groups| Arc::new(groups.finish()) as _));
        columns.extend(self.paths.iter_mut().map(|paths| Arc::new(paths.finish()) as _));
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|error| self.shared.error(&self.path, error))?;
        self.encoder.write(&batch).map_err(|error| self.shared.error(&self.path, error))
    }

    /// Writes the rest and renames the file into place. Returns its length in bytes.
    pub(super) fn finish(mut self) -> Result<u64> {
        self.write_batch()?;
        self.encoder.finish().map_err(|error| self.shared.error(&self.path, error))?;
        self.shared.finish(&self.path)
    }
}
