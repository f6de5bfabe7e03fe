//! Replacement of `table` for an engine without the features `tables` and `streams`.

#[path = "absent.rs"]
mod files;

use super::options::InputOptions;
use super::source::EdgeSource;
use super::stream::TableStream;
pub(crate) use files::detect;
use outcore_io::error::Result;
use std::sync::Arc;

pub(crate) fn of_stream(stream: &TableStream, _: &InputOptions) -> Result<Arc<dyn EdgeSource>> {
    match *stream {}
}

/// Does nothing, as there are no decoders of tables.
pub fn silence_decoders() {}
