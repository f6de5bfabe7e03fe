//! Tables in files.

use super::{Input, TableFormat, TableKind, TableReader, ipc, parquet};
use crate::fault::bad_input;
use crate::options::InputOptions;
use crate::sink::{ARROW_MAGIC, DecodeRoom, PARQUET_MAGIC, Progress, Sink};
use crate::source::EdgeSource;
use arrow_schema::Schema;
use outcore_io::Files;
use outcore_io::error::Result;
use std::path::Path;
use std::sync::Arc;

/// Rows of a file.
#[derive(Clone)]
pub(super) enum FileTable {
    Parquet { plan: parquet::DecodePlan, row_count: u64 },
    ArrowIpc { held_bytes: u64 },
}

impl FileTable {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Parquet { .. } => "Parquet",
            Self::ArrowIpc { .. } => "Arrow IPC",
        }
    }

    pub(super) fn held_bytes(&self) -> u64 {
        match self {
            Self::Parquet { plan, .. } => plan.held_bytes,
            Self::ArrowIpc { held_bytes } => *held_bytes,
        }
    }

    /// Returns the number of rows, if the file declares it.
    pub(super) fn row_count(&self) -> Option<u64> {
        match self {
            Self::Parquet { row_count, .. } => Some(*row_count),
            Self::ArrowIpc { .. } => None,
        }
    }

    pub(super) fn schema(
        &self,
        files: &Files,
        path: &Path,
        input: &mut Input,
    ) -> Result<Arc<Schema>> {
        match self {
            Self::Parquet { .. } => Ok(parquet::ParquetFile::open(files, path)?.schema()),
            Self::ArrowIpc { .. } => {
                Ok(Arc::new(ipc::Beginning::peek(input, path)?.schema(input, path)?))
            }
        }
    }

    pub(super) fn read(
        &self,
        reader: &TableReader<'_>,
        input: Option<Input>,
        sink: Sink<'_>,
    ) -> Progress {
        match *self {
            Self::Parquet { plan, .. } => parquet::read(reader, plan, sink),
            Self::ArrowIpc { held_bytes } => {
                let task = reader.task;
                let (input, projection) = (task.opened(input)?, reader.projection.clone());
                let batches =
                    ipc::IpcReader::new(task.files, input, task.path, projection, held_bytes)?;
                reader.read_batches(batches, sink)
            }
        }
    }
}

/// Detects the format of `path`, whose first bytes are those of a table.
///
/// # Errors
/// `BadInput` for a damaged file, or if its columns cannot be used.
pub(crate) fn detect(
    files: &Files,
    path: &Path,
    input: &mut Input,
    options: &InputOptions,
    room: DecodeRoom,
) -> Result<Arc<dyn EdgeSource>> {
    let is_compressed = input.is_compressed();
    if !input.peek(ARROW_MAGIC.len())?.0.starts_with(PARQUET_MAGIC) {
        let beginning = ipc::Beginning::peek(input, path)?;
        let schema = beginning.schema(input, path)?;
        let kind = || {
            let held_bytes = ipc::held_bytes(files, path, input, &beginning)?;
            Ok(TableKind::File(FileTable::ArrowIpc { held_bytes }))
        };
        return TableFormat::of(&schema, path, options, |_| kind());
    }
    if is_compressed || !files.is_regular(path) {
        let message =
            "is Parquet, which is read from its end: it must be a file, not compressed as a whole";
        return Err(bad_input(path, message).hint("write it to a file, or unpack it, first"));
    }
    let opened = parquet::ParquetFile::open(files, path)?;
    TableFormat::of(&opened.schema(), path, options, |projection| {
        let plan = opened.plan(projection, room.workers, room.bytes)?;
        Ok(TableKind::File(FileTable::Parquet { plan, row_count: opened.row_count() }))
    })
}
