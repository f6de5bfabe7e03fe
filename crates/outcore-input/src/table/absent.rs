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

#[cfg(feature = "streams")]
pub(super) use no_file::FileTable;

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

#[cfg(feature = "streams")]
mod no_file {
    use super::super::TableReader;
    use crate::decompress::Input;
    use crate::sink::{Progress, Sink};
    use arrow_schema::Schema;
    use outcore_io::Files;
    use outcore_io::error::Result;
    use std::path::Path;
    use std::sync::Arc;

    /// Rows of a file; there are none.
    #[derive(Clone)]
    pub(in crate::table) enum FileTable {}

    impl FileTable {
        pub(in crate::table) fn name(&self) -> &'static str {
            match *self {}
        }

        pub(in crate::table) fn held_bytes(&self) -> u64 {
            match *self {}
        }

        pub(in crate::table) fn row_count(&self) -> Option<u64> {
            match *self {}
        }

        pub(in crate::table) fn schema(
            &self,
            _: &Files,
            _: &Path,
            _: &mut Input,
        ) -> Result<Arc<Schema>> {
            match *self {}
        }

        pub(in crate::table) fn read(
            &self,
            _: &TableReader<'_>,
            _: Option<Input>,
            _: Sink<'_>,
        ) -> Progress {
            match *self {}
        }
    }
}
