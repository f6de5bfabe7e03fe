//! Errors of the engine as plain values, from which a language makes its own exceptions.

use outcore::Error;
use outcore::error::Text;
use serde::Serialize;

/// Contents of an error. Its texts are lists of words and options; each language spells an option in its own syntax.
#[derive(Debug, Serialize)]
pub struct Facts<'a> {
    /// Stable name, as printed by the command: `bad-weight`.
    kind: &'static str,
    message: &'a Text,
    /// Path of the file of the error; bytes that are not UTF-8 are replaced: see [`Facts::of`].
    path: Option<String>,
    /// Line or row, from 1.
    line: Option<u64>,
    /// Character or column, from 1.
    column: Option<u64>,
    /// Byte, from 0.
    byte: Option<u64>,
    /// Line or row of the error, shortened around the fault.
    text: Option<&'a str>,
    expected: Option<&'a str>,
    hint: Option<&'a Text>,
    kept: Option<&'a Text>,
    notes: &'a [Text],
    /// Number of the operating system's error.
    errno: Option<i32>,
}

impl<'a> Facts<'a> {
    /// Describes an error. A path that is not UTF-8 appears as it is displayed; only the error has it exactly.
    pub fn of(error: &'a Error) -> Self {
        let texts = error.texts();
        let place = error.place();
        let system = std::error::Error::source(error)
            .and_then(|source| source.downcast_ref::<std::io::Error>())
            .and_then(std::io::Error::raw_os_error);
        Self {
            kind: error.kind().name(),
            message: texts.message,
            path: place.map(|place| place.path.display().to_string()),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            byte: place.map(|place| place.byte),
            text: place.map(|place| place.text.as_str()),
            expected: place.map(|place| place.expected.as_str()),
            hint: texts.hint,
            kept: texts.kept,
            notes: texts.notes,
            errno: system,
        }
    }

    /// Returns the facts as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }
}
