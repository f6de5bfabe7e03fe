//! Errors of the engine as plain values, from which a language makes its own exceptions.

use outcore::Error;
use outcore::error::{Opt, Part, Text};
use serde::Serialize;

/// Contents of an error.
#[derive(Debug, Serialize)]
pub struct Facts<'a> {
    /// Stable name, as printed by the command: `bad-weight`.
    kind: &'static str,
    message: Vec<TextPart>,
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
    hint: Option<Vec<TextPart>>,
    kept: Option<Vec<TextPart>>,
    notes: Vec<Vec<TextPart>>,
    /// Number of the operating system's error.
    errno: Option<i32>,
}

/// Part of a text: words, or options as pairs of name and value, which each language spells in its own syntax.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum TextPart {
    Words(String),
    Options(Vec<(String, Option<String>)>),
}

impl<'a> Facts<'a> {
    /// Describes an error. A path that is not UTF-8 is there as it is shown; the error has it exactly.
    pub fn of(error: &'a Error) -> Self {
        let texts = error.texts();
        let place = error.place();
        let system = std::error::Error::source(error)
            .and_then(|source| source.downcast_ref::<std::io::Error>())
            .and_then(std::io::Error::raw_os_error);
        Self {
            kind: error.kind().name(),
            message: parts(texts.message),
            path: place.map(|place| place.path.display().to_string()),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            byte: place.map(|place| place.byte),
            text: place.map(|place| place.text.as_str()),
            expected: place.map(|place| place.expected.as_str()),
            hint: texts.hint.map(parts),
            kept: texts.kept.map(parts),
            notes: texts.notes.iter().map(parts).collect(),
            errno: system,
        }
    }

    /// Returns the facts as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }
}

fn parts(text: &Text) -> Vec<TextPart> {
    let pair = |option: &Opt| (option.name.clone().into_owned(), option.value.clone());
    let part = |part: &Part| match part {
        Part::Words(words) => TextPart::Words(words.clone()),
        Part::Option(option) => TextPart::Options(option.all().map(pair).collect()),
    };
    text.parts().iter().map(part).collect()
}
