//! Tables in files.

use super::{Input, TableFormat, ipc, parquet};
use crate::fault::bad_input;
use crate::options::InputOptions;
use crate::sink::{ARROW_MAGIC, DecodeRoom, PARQUET_MAGIC};
use crate::source::EdgeSource;
use outcore_io::Files;
use outcore_io::error::Result;
use std::path::Path;
use std::sync::Arc;

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
    if !input.peek(ARROW_MAGIC.len())?.0.starts_with(PARQUET_MAGIC) {
        let beginning = ipc::Beginning::peek(input, path)?;
        let schema = beginning.schema(input, path)?;
        return TableFormat::of(&schema, path, options, |_| {
            Ok(Box::new(ipc::IpcTable::of(files, path, input, &beginning)?))
        });
    }
    if input.is_compressed() || !files.is_regular(path) {
        let message =
            "is Parquet, which is read from its end: it must be a file, not compressed as a whole";
        return Err(bad_input(path, message).hint("write it to a file, or unpack it, first"));
    }
    let opened = parquet::ParquetFile::open(files, path)?;
    TableFormat::of(&opened.schema(), path, options, |projection| {
        Ok(Box::new(opened.plan(projection, room.workers, room.bytes)?))
    })
}
