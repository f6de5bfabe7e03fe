//! Replacement of `table` for an engine without the feature `tables`: recognizes tables, and refuses them.
//!
//! The types have no values, so nothing after [`TableFormat::detect`] can be reached.

use super::chunk::{LineFault, Origin, Problem, TableCell};
use super::decompress::Input;
use super::fault::bad_input;
use super::format::understood::ColumnUse;
use super::options::InputOptions;
use super::sink::{ARROW_MAGIC, ChunkSink, DecodeRoom, PARQUET_MAGIC, SampleSink, is_arrow};
use outcore_io::Files;
use outcore_io::error::{Error, Place, Result};
use std::path::Path;

/// Table that the caller has in memory; impossible without the feature `tables`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableStream {}

/// Table and the roles of its columns.
#[derive(Debug, Clone)]
pub(crate) enum TableFormat {}

impl TableFormat {
    /// Refuses `path` if its first bytes are those of a table.
    ///
    /// # Errors
    /// `BadInput` for a table.
    pub(super) fn detect(
        _files: &Files,
        path: &Path,
        input: &mut Input,
        _options: &InputOptions,
        _room: DecodeRoom,
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

    pub(super) fn is_of_nodes(&self) -> bool {
        match *self {}
    }

    pub(super) fn is_weighted(&self) -> bool {
        match *self {}
    }

    pub(super) fn kinds(&self) -> Option<&[String; 2]> {
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

    pub(super) fn uses(
        &self,
        _files: &Files,
        _path: &Path,
        _input: &mut Input,
        _options: &InputOptions,
    ) -> Result<Vec<ColumnUse>> {
        match *self {}
    }

    pub(super) fn first_rows(
        &self,
        _files: &Files,
        _path: &Path,
        _bytes: u64,
        _start: u64,
        _sample: SampleSink<'_>,
    ) -> Result<()> {
        match *self {}
    }

    pub(super) fn reason(&self, _problem: Problem) -> String {
        match *self {}
    }

    pub(super) fn place(
        &self,
        _fault: &LineFault,
        _text: &[u8],
        _at: TableCell,
        _path: &Path,
    ) -> Place {
        match *self {}
    }

    pub(super) fn error(&self, _fault: &LineFault, _at: TableCell, _place: Place) -> Error {
        match *self {}
    }
}

/// Task of reading a table.
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
        _taker: &mut (dyn ChunkSink + Send),
    ) -> Result<bool> {
        match self.format {}
    }
}

/// Does nothing, as there are no decoders of tables.
pub fn silence_decoders() {}
