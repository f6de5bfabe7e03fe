//! Lines read by Spark, split and parsed by the engine.

use crate::errors::{self, detached};
use crate::tables::Batches;
use arrow_array::builder::StringBuilder;
use arrow_array::{
    ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, UInt64Array,
};
use outcore::input::lines::{LineFormat, ParsedLines};
use outcore::weight::Weight;
use outcore::{Error, ErrorKind, Result};
use outcore_cli::surface;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// Format of the lines of one file.
#[pyclass(module = "outcore._outcore", frozen)]
pub(crate) struct Lines(LineFormat);

#[pymethods]
impl Lines {
    /// Reads a format from JSON.
    #[new]
    fn new(json: &str) -> PyResult<Self> {
        let wrong =
            |error: serde_json::Error| pyo3::exceptions::PyValueError::new_err(error.to_string());
        serde_json::from_str(json).map(Self).map_err(wrong)
    }

    /// Detects the format of a file that begins with these lines; `is_whole` if they are the whole file. Returns None
    /// if they are empty. `options` are those of the command.
    #[staticmethod]
    fn find(
        py: Python<'_>,
        path: PathBuf,
        block: &[u8],
        is_whole: bool,
        options: Vec<OsString>,
    ) -> PyResult<Option<Self>> {
        detached(py, || {
            let options = surface::input_options(options)?;
            Ok(LineFormat::find(&path, block, is_whole, &options)?.map(Self))
        })
    }

    /// Returns the format as JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0)
            .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
    }

    #[getter]
    fn is_weighted(&self) -> bool {
        self.0.is_weighted()
    }

    /// Returns the edges of complete lines (source, target, weight if there is one, line) and the error of the first
    /// bad line. The first line has number `line` in the file and begins at its byte `byte`.
    fn parse<'py>(
        &self,
        py: Python<'py>,
        text: &[u8],
        line: u64,
        byte: u64,
    ) -> PyResult<(Batches, Option<Bound<'py, PyDict>>)> {
        let (batches, error) = detached(py, || {
            let parsed = self.0.parse(text, line, byte);
            Ok((batch(&parsed, self.0.is_weighted())?, parsed.error))
        })?;
        let facts = error.map(|error| errors::facts(py, &error)).transpose()?;
        Ok((Batches::new(batches), facts))
    }
}

fn batch(parsed: &ParsedLines, is_weighted: bool) -> Result<impl RecordBatchReader + use<>> {
    let (chunk, count) = (&parsed.chunk, parsed.lines.len());
    let mut ends = [StringBuilder::new(), StringBuilder::new()];
    for pair in chunk.names.chunks_exact(2) {
        for (names, name) in ends.iter_mut().zip(pair) {
            names.append_value(std::str::from_utf8(chunk.name(name)).map_err(wrong)?);
        }
    }
    let [mut sources, mut targets] = ends;
    let mut columns: Vec<(&str, ArrayRef)> =
        vec![("source", Arc::new(sources.finish())), ("target", Arc::new(targets.finish()))];
    if is_weighted {
        let value = |&code: &u32| if code == 0 { 0.0 } else { Weight::from_code(code).value() };
        let weights = chunk.weights[..count].iter().map(value);
        columns.push(("weight", Arc::new(Float64Array::from_iter_values(weights))));
    }
    columns.push(("line", Arc::new(UInt64Array::from(parsed.lines.clone()))));
    let batch = RecordBatch::try_from_iter(columns).map_err(wrong)?;
    let schema = batch.schema();
    Ok(RecordBatchIterator::new([Ok(batch)], schema))
}

fn wrong(error: impl ToString) -> Error {
    Error::new(ErrorKind::BadInput, error.to_string())
}
