//! Errors of the engine as exceptions of `outcore.errors`, which maps kinds to classes.

use outcore::Error;
use outcore_bind::facts::Facts;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the exception for an error.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    exception(py, error).unwrap_or_else(|error| error)
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let made = py.import("outcore.errors")?.call_method1("_made", (facts(py, error)?,))?;
    Ok(PyErr::from_value(made))
}

/// Returns the contents of an error as plain values.
pub(crate) fn facts<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyDict>> {
    let facts = py.import("json")?.call_method1("loads", (Facts::of(error).json(),))?;
    let facts = facts.cast_into::<PyDict>()?;
    if let Some(place) = error.place() {
        // Exactly, even if it is not UTF-8.
        facts.set_item("path", place.path.as_os_str())?;
    }
    Ok(facts)
}

/// Runs `work` without the interpreter's lock; an error becomes an exception.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> outcore::Result<T> + Send,
) -> PyResult<T> {
    py.detach(work).map_err(|error| raised(py, &error))
}
