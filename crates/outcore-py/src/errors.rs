//! Errors of the engine as exceptions of `outcore.errors`, which maps kinds to classes.

use outcore::Error;
use outcore::error::{Opt, Part, Text};
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
    let fields = PyDict::new(py);
    fields.set_item("kind", error.kind().name())?;
    let texts = error.texts();
    fields.set_item("message", parts(texts.message))?;
    if let Some(place) = error.place() {
        fields.set_item("path", place.path.as_os_str())?;
        fields.set_item("line", place.line)?;
        fields.set_item("column", place.column)?;
        fields.set_item("byte", place.byte)?;
        fields.set_item("text", &place.text)?;
        fields.set_item("expected", &place.expected)?;
    }
    fields.set_item("hint", texts.hint.map(parts))?;
    fields.set_item("kept", texts.kept.map(parts))?;
    fields.set_item("notes", texts.notes.iter().map(parts).collect::<Vec<_>>())?;
    let system = std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .and_then(std::io::Error::raw_os_error);
    fields.set_item("errno", system)?;
    Ok(fields)
}

/// Part of a text: words, or options as pairs of name and value, which Python formats in its own syntax.
#[derive(IntoPyObject)]
enum TextPart {
    Words(String),
    Options(Vec<(String, Option<String>)>),
}

fn parts(text: &Text) -> Vec<TextPart> {
    let pair = |option: &Opt| (option.name.clone().into_owned(), option.value.clone());
    let part = |part: &Part| match part {
        Part::Words(words) => TextPart::Words(words.clone()),
        Part::Option(option) => TextPart::Options(option.all().map(pair).collect()),
    };
    text.parts().iter().map(part).collect()
}

/// Runs `work` without the interpreter's lock; an error becomes an exception.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> outcore::Result<T> + Send,
) -> PyResult<T> {
    py.detach(work).map_err(|error| raised(py, &error))
}
