//! Errors of the engine as exceptions of `outcore.errors`, which knows what class a kind is.

use outcore::Error;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception for an error.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    exception(py, error).unwrap_or_else(|error| error)
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let fields = PyDict::new(py);
    fields.set_item("kind", error.kind().name())?;
    fields.set_item("message", error.message())?;
    if let Some(place) = error.place() {
        fields.set_item("path", place.path.as_os_str())?;
        fields.set_item("line", place.line)?;
        fields.set_item("column", place.column)?;
        fields.set_item("byte", place.byte)?;
        fields.set_item("text", &place.text)?;
        fields.set_item("expected", &place.expected)?;
    }
    fields.set_item("hint", error.hint_text())?;
    fields.set_item("kept", error.kept_text())?;
    fields.set_item("notes", error.notes())?;
    let system = std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .and_then(std::io::Error::raw_os_error);
    fields.set_item("errno", system)?;
    let made = py.import("outcore.errors")?.call_method1("_made", (fields,))?;
    Ok(PyErr::from_value(made))
}
