//! Import and export of tables through the C stream interface of Arrow, without copying
//! (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).
//!
//! `unsafe` occurs only in `stream_of`, where a stream leaves its capsule.

use crate::errors::detached;
use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_schema::SchemaRef;
use outcore::Result;
use outcore::input::TableStream;
use outcore_bind::results::{self, Communities};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCapsule, PyDict};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Imports the stream of an object with `__arrow_c_stream__`, for the engine.
pub(crate) fn import(table: &Bound<'_, PyAny>) -> PyResult<TableStream> {
    stream_of(table).map(TableStream::new)
}

/// Returns the stream of an object with `__arrow_c_stream__`.
pub(crate) fn stream_of(table: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let capsule = table.call_method0("__arrow_c_stream__")?;
    let capsule = capsule
        .cast_into::<PyCapsule>()
        .map_err(|_| PyTypeError::new_err("`__arrow_c_stream__` returned no capsule"))?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    let stream = pointer.cast::<FFI_ArrowArrayStream>().as_ptr();
    // SAFETY: a capsule of this name holds a stream of the C interface, by its specification; the reader
    // moves the stream out and leaves one that is released, so the capsule's destructor frees nothing twice.
    #[expect(unsafe_code, reason = "the C interface has no safe one")]
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream) };
    let reader = reader.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Box::new(reader))
}

/// Batches that are produced on demand, and can be read only once.
#[pyclass(module = "outcore._outcore", frozen)]
pub(crate) struct Batches {
    schema: SchemaRef,
    reader: Mutex<Option<Box<dyn RecordBatchReader + Send>>>,
}

impl Batches {
    pub(crate) fn new(reader: impl RecordBatchReader + Send + 'static) -> Self {
        Self { schema: reader.schema(), reader: Mutex::new(Some(Box::new(reader))) }
    }
}

/// Returns the batches of an object with `__arrow_c_stream__`.
#[pyfunction]
pub(crate) fn table_batches(table: &Bound<'_, PyAny>) -> PyResult<Batches> {
    stream_of(table).map(Batches::new)
}

#[pymethods]
impl Batches {
    /// Returns the names and types of the columns.
    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        let fields = self.schema.fields().iter();
        fields.map(|field| (field.name().clone(), field.data_type().to_string())).collect()
    }

    /// Exports the stream through Arrow's C interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the requested schema.
        let _ = requested_schema;
        let reader = self
            .reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .ok_or_else(|| PyValueError::new_err("these batches have been read already"))?;
        let stream = FFI_ArrowArrayStream::new(reader);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// Returns the communities in a file as batches with the columns `node` and `community`. `rows` is the content of its
/// lines: `node`, `community` or `pair`. `names` is the type of names: `text`, `int64` or `uint64`.
#[pyfunction]
pub(crate) fn read_communities(
    py: Python<'_>,
    path: PathBuf,
    rows: &str,
    names: &str,
) -> PyResult<Batches> {
    let reader = detached(py, || Communities::open(path, rows, names))?;
    Ok(Batches::new(reader))
}

/// Returns the communities in a file, in its order, as one array for numpy: 8 bytes per node.
#[pyfunction]
pub(crate) fn read_labels(py: Python<'_>, path: PathBuf, rows: &str) -> PyResult<Numbers> {
    detached(py, || results::labels(path, rows)).map(Numbers::whole)
}

/// Returns the communities of nodes 0 to `count`, exclusive, in a file as one array for numpy; -1 for nodes that are
/// not in the file.
#[pyfunction]
pub(crate) fn read_rows(
    py: Python<'_>,
    path: PathBuf,
    rows: &str,
    count: usize,
) -> PyResult<Numbers> {
    detached(py, || results::labels_of_rows(path, rows, count)).map(Numbers::whole)
}

/// Returns whether all names in a file are numbers from 0 to `count`, exclusive.
#[pyfunction]
pub(crate) fn are_rows(py: Python<'_>, path: PathBuf, rows: &str, count: usize) -> PyResult<bool> {
    detached(py, || results::are_rows(path, rows, count))
}

/// Returns, for each node of a file in order, the share of the starts in which it stays with its community, as one
/// array for numpy; None if the file has no such column.
#[pyfunction]
pub(crate) fn read_stability(py: Python<'_>, path: PathBuf) -> PyResult<Option<Numbers>> {
    let shares = detached(py, || results::stability(&path))?;
    Ok(shares.map(|shares| Numbers { numbers: Array::Real(shares) }))
}

/// Returns the groups of a file's nodes, on `count` levels below the communities: one array for numpy, level by level,
/// each in file order. None if the file has no such columns.
#[pyfunction]
pub(crate) fn read_groups(
    py: Python<'_>,
    path: PathBuf,
    count: usize,
) -> PyResult<Option<Numbers>> {
    Ok(detached(py, || results::groups(&path, count))?.map(Numbers::whole))
}

/// Returns the communities in a file, in its order, as an iterator over lists of (name, community); only those of
/// `community`, if given. Names are bytes if `names` is `text`, otherwise numbers.
#[pyfunction]
#[pyo3(signature = (path, rows, names, community=None))]
pub(crate) fn read_pairs(
    py: Python<'_>,
    path: PathBuf,
    rows: &str,
    names: &str,
    community: Option<i64>,
) -> PyResult<Pairs> {
    let reader = detached(py, || Communities::open(path, rows, names))?;
    Ok(Pairs { reader: Mutex::new(reader), community })
}

/// Name, as a Python object.
#[derive(IntoPyObject)]
enum Name {
    Text(Vec<u8>),
    Number(i128),
}

/// Iterator over lists of (name, community), one per chunk.
#[pyclass(module = "outcore._outcore", frozen)]
pub(crate) struct Pairs {
    reader: Mutex<Communities>,
    /// Community to select; `None` for all.
    community: Option<i64>,
}

impl Pairs {
    fn next_pairs(&self) -> Result<Option<Vec<(Name, i64)>>> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if !reader.advance()? {
            return Ok(None);
        }
        let pairs = reader.pairs().map(|(name, community)| (name, community as i64));
        let wanted = pairs.filter(|(_, number)| self.community.is_none_or(|only| only == *number));
        let named = wanted.map(|(name, number)| {
            let name = match reader.has_text() {
                true => Name::Text(name.to_vec()),
                false => Name::Number(reader.integer(name)?),
            };
            Ok((name, number))
        });
        named.collect::<Result<_>>().map(Some)
    }
}

#[pymethods]
impl Pairs {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Vec<(Name, i64)>>> {
        detached(py, || self.next_pairs())
    }
}

/// Numbers that numpy uses in place.
#[pyclass(module = "outcore._outcore", frozen)]
pub(crate) struct Numbers {
    numbers: Array,
}

/// Numbers of 8 bytes.
enum Array {
    Whole(Vec<i64>),
    Real(Vec<f64>),
}

impl Numbers {
    fn whole(numbers: Vec<i64>) -> Self {
        Self { numbers: Array::Whole(numbers) }
    }
}

#[pymethods]
impl Numbers {
    /// Returns the array interface of numpy; the memory that it describes lives as long as this object.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (kind, count, place) = match &self.numbers {
            Array::Whole(numbers) => ('i', numbers.len(), numbers.as_ptr() as usize),
            Array::Real(numbers) => ('f', numbers.len(), numbers.as_ptr() as usize),
        };
        let order = if cfg!(target_endian = "little") { '<' } else { '>' };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (count,))?;
        interface.set_item("typestr", format!("{order}{kind}8"))?;
        interface.set_item("data", (place, true))?;
        Ok(interface)
    }

    fn __len__(&self) -> usize {
        match &self.numbers {
            Array::Whole(numbers) => numbers.len(),
            Array::Real(numbers) => numbers.len(),
        }
    }
}
