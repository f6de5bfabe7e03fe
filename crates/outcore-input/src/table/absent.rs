//! Replacement of `files` for an engine without the feature `tables`: recognizes tables, and refuses them.

use crate::decompress::Input;
use crate::fault::bad_input;
use crate::options::InputOptions;
use crate::sink::{ARROW_MAGIC, DecodeRoom, PARQUET_MAGIC};
use crate::source::EdgeSource;
use outcore_io::Files;
use outcore_io::error::Result;
use std::path::Path;
use std::sync::Arc;

/// Refuses `path`, whose first bytes are those of a table.
///
/// # Errors
/// `BadInput`.
pub(crate) fn detect(
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
