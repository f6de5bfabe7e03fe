//! Stands in for `table` in an engine without the feature `tables`: files are known for tables, and refused.
//!
//! The types have no values, so nothing below [`TableFormat::detect`] can be reached.

use super::decompress::Input;
use super::fault::{Fault, Origin, Problem};
use super::format::bad_input;
use super::options::InputOptions;
use super::taker::{ARROW_MAGIC, PARQUET_MAGIC, Room, Sample, Taker, is_arrow};
use super::text::chunk::TableCell;
use crate::error::{Error, Place, Result};
use crate::io::Files;
use std::path::Path;

/// A table that the caller has in memory; there is none without the feature `tables`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableStream {}

/// A table, and what its columns are for.
#[derive(Debug, Clone)]
pub(crate) enum TableFormat {}

impl TableFormat {
    /// Refuses `path` if it is a table by its first bytes.
    ///
    /// # Errors
    /// `BadInput` for a table.
    pub(super) fn detect(
        _files: &Files,
        path: &Path,
        input: &mut Input,
        _options: &InputOptions,
        _room: Room,
    ) -> Result<Option<Self>> {
        let (head, _) = input.peek(ARROW_MAGIC.len())?;
        let kind = match () {
            () if head.starts_with(PARQUET_MAGIC) => "Parquet",
            () if is_arrow(head) => "Arrow IPC",
            () => return Ok(None),
        };
        Err(bad_input(path, &format!("is {kind}, and this outcore was built without tables"))
            .hint("build it with `--features tables`, or write the table as text first"))
    }

    pub(super) fn of_stream(stream: &TableStream, _options: &InputOptions) -> Result<Self> {
        match *stream {}
    }

    pub(super) fn is_weighted(&self) -> bool {
        match *self {}
    }

    pub(super) fn held_bytes(&self) -> u64 {
        match *self {}
    }

    pub(super) fn row_count(&self) -> Option<u64> {
        match *self {}
    }

    pub(super) fn kind(&self) -> &'static str {
        match *self {}
    }

    pub(super) fn describe(&self) -> String {
        match *self {}
    }

    pub(super) fn first_rows(
        &self,
        _files: &Files,
        _path: &Path,
        _bytes: u64,
        _start: u64,
        _sample: Sample<'_>,
    ) -> Result<()> {
        match *self {}
    }

    pub(super) fn reason(&self, _problem: Problem) -> String {
        match *self {}
    }

    pub(super) fn place(&self, _fault: &Fault, _text: &[u8], _at: Cell, _path: &Path) -> Place {
        match *self {}
    }

    pub(super) fn error(&self, _fault: &Fault, _at: Cell, _place: Place) -> Error {
        match *self {}
    }
}

/// How a table is read.
#[expect(dead_code, reason = "no task is ever made without a format")]
pub(super) struct TableTask {
    pub(super) format: TableFormat,
    pub(super) stop: bool,
    pub(super) chunk_bytes: usize,
    pub(super) workers: usize,
    pub(super) bytes: (u64, u64),
}

impl TableTask {
    pub(super) fn read(
        self,
        _files: &Files,
        _path: &Path,
        _input: Option<Input>,
        _begin: Origin,
        _stream: Option<&TableStream>,
        _taker: &mut (dyn Taker + Send),
    ) -> Result<bool> {
        match self.format {}
    }
}

/// Does nothing: there are no decoders of tables.
pub fn silence_decoders() {}
