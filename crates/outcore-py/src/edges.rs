//! Edges that Python produces batch by batch on demand: matrices, graphs of other libraries, generators.

use crate::tables::{Batches, stream_of};
use arrow_array::{
    ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchReader, StringArray,
};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyIterator, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};

/// Returns the batches of an iterator over tuples (sources, targets, weights or None), where names are lists of text or
/// the bytes of 64-bit integers, and weights the bytes of 64-bit floats; or over objects with `__arrow_c_stream__`.
#[pyfunction]
pub(crate) fn edge_batches(batches: &Bound<'_, PyAny>) -> PyResult<(Batches, Failure)> {
    let failure = Failure::default();
    let mut reader = EdgeBatches {
        iterator: batches.try_iter()?.unbind(),
        schema: Arc::new(Schema::empty()),
        first: None,
        stream: None,
        failure: failure.clone(),
    };
    reader.first = reader.pull(batches.py())?;
    if let Some(first) = &reader.first {
        reader.schema = first.schema();
    }
    Ok((Batches::new(reader), failure))
}

/// Exception raised by the iterator, because the engine only sees its text.
#[pyclass(module = "outcore._outcore", frozen)]
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

#[pymethods]
impl Failure {
    /// Returns and removes the exception, if there is one.
    fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

struct EdgeBatches {
    iterator: Py<PyIterator>,
    schema: SchemaRef,
    /// First batch, pulled to get the schema.
    first: Option<RecordBatch>,
    /// Stream that the iterator returned last, until it ends.
    stream: Option<Box<dyn RecordBatchReader + Send>>,
    failure: Failure,
}

impl EdgeBatches {
    fn pull(&mut self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        loop {
            if let Some(stream) = &mut self.stream {
                match stream.next() {
                    Some(Ok(batch)) => return Ok(Some(batch)),
                    Some(Err(error)) => return Err(PyValueError::new_err(error.to_string())),
                    None => self.stream = None,
                }
            }
            let Some(item) = self.iterator.bind(py).clone().next() else { return Ok(None) };
            let item = item?;
            match item.cast::<PyTuple>() {
                Ok(tuple) => return batch_of(tuple).map(Some),
                Err(_) => self.stream = Some(stream_of(&item)?),
            }
        }
    }
}

fn batch_of(tuple: &Bound<'_, PyTuple>) -> PyResult<RecordBatch> {
    let (sources, targets, weights): (
        Bound<'_, PyAny>,
        Bound<'_, PyAny>,
        Option<Bound<'_, PyAny>>,
    ) = tuple.extract()?;
    let mut columns = vec![("source", names(&sources)?), ("target", names(&targets)?)];
    if let Some(weights) = weights {
        let weights = weights.cast::<PyBytes>().map_err(|_| wrong())?;
        let numbers = chunks(weights.as_bytes())?.map(f64::from_ne_bytes);
        columns.push(("weight", Arc::new(Float64Array::from_iter_values(numbers))));
    }
    RecordBatch::try_from_iter(columns).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn names(names: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if let Ok(bytes) = names.cast::<PyBytes>() {
        let numbers = chunks(bytes.as_bytes())?.map(i64::from_ne_bytes);
        return Ok(Arc::new(Int64Array::from_iter_values(numbers)));
    }
    let names: Vec<String> = names.extract().map_err(|_| wrong())?;
    Ok(Arc::new(StringArray::from_iter_values(names)))
}

fn chunks(bytes: &[u8]) -> PyResult<impl Iterator<Item = [u8; 8]>> {
    let (chunks, rest) = bytes.as_chunks::<8>();
    if rest.is_empty() { Ok(chunks.iter().copied()) } else { Err(wrong()) }
}

fn wrong() -> PyErr {
    PyTypeError::new_err(
        "a batch must be (sources, targets, weights or None), or have `__arrow_c_stream__`",
    )
}

impl Iterator for EdgeBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        match Python::attach(|py| self.pull(py)) {
            Ok(batch) => batch.map(Ok),
            Err(error) => {
                let text = error.to_string();
                self.failure.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                Some(Err(ArrowError::ExternalError(text.into())))
            }
        }
    }
}

impl RecordBatchReader for EdgeBatches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
