//! Replacement of `table` for an engine without the feature `tables`: recognizes tables, and refuses them.

use super::decompress::Input;
use super::fault::bad_input;
use super::options::InputOptions;
use super::sink::{ARROW_MAGIC, DecodeRoom, PARQUET_MAGIC};
use super::source::EdgeSource;
use super::stream::TableStream;
use outcore_io::Files;
use outcore_io::error::Result;
use std::path::Path;
use std::sync::Arc;

/// Refuses `path`, whose first bytes are those of a table.
///
/// # Errors
/// `BadInput`.
pub(super) fn detect(
    _: &Files,
    path: &Path,
    input: &mut Input,
    _: &InputOptions,
    _: DecodeRoom,
) -> Result<Arc<dyn EdgeSource>> {
    let is_parquet = input.peek(ARROW_MAGIC.len())?.0.starts_with(PARQUET_MAGIC);
    let kind = if is_parquet { "Parquet" } else { "Arrow IPC" };
    Err(bad_input(path, &format!("is {kind}, and this outcore was built without tables"))
        .hint("build it with `--features tables`, or write the table as text first"))
}

pub(super) fn of_stream(stream: &TableStream, _: &InputOptions) -> Result<Arc<dyn EdgeSource>> {
    match *stream {}
}

/// Does nothing, as there are no decoders of tables.
pub fn silence_decoders() {}
