//! Bad lines: the parsers record them as a few numbers, which become an error or a line of the rejects file.
//!
//! Columns of the rejects file: `path line column byte kind reason text`, separated by tabs. Control characters,
//! backslashes and bytes that are not UTF-8 are escaped. The file appears under its name when it is complete; a pipe or
//! a device is written as lines come.

use super::chunk::{BadLine, Problem};
use super::options::Rows;
use outcore_graph::weight::WeightTransform;
use outcore_io::checkpoint::StateWriter;
use outcore_io::error::opt::WEIGHT_TRANSFORM;
use outcore_io::error::{Error, ErrorKind, Place, Result, Text};
use outcore_io::{Files, Grows, SMALL_BUFFER_BYTES, Sealed, Writer};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Maximum number of bytes of a line that an error shows.
const SHOWN_BYTES: usize = 120;

impl Problem {
    /// Returns the kind of the error, what is wrong, in one clause, and what was expected.
    #[rustfmt::skip]
    fn texts(self) -> (ErrorKind, &'static str, &'static str) {
        use ErrorKind::{BadInput, BadQuote, BadWeight, EmptyName, MissingColumn, NameTooLong};
        const NAME: &str = "expected a name";
        const NUMBER: &str = "expected a number";
        const WEIGHT: &str = "weights are finite and at least 0";
        match self {
            Self::MissingColumn(_) => (MissingColumn, "a column is missing", "expected the next column"),
            Self::EmptySource | Self::EmptyTarget => (EmptyName, "has no name", NAME),
            Self::EmptyNode => (EmptyName, "node has no name", NAME),
            Self::NameTooLong => (NameTooLong, "name is longer than 64 KiB", "names have at most 65,536 bytes"),
            Self::LineEndInName => (BadInput, "name contains a line end", "names must be on one line"),
            Self::NotUtf8 => (BadInput, "name is not UTF-8", "expected UTF-8 text"),
            Self::EmptyWeight => (BadWeight, "weight is empty", NUMBER),
            Self::WeightNotNumber => (BadWeight, "weight is not a number", NUMBER),
            Self::WeightNegative => (BadWeight, "weight is negative", WEIGHT),
            Self::WeightInfinite => (BadWeight, "weight is infinite", WEIGHT),
            Self::WeightNan => (BadWeight, "weight is NaN", WEIGHT),
            Self::DistanceZero => (BadWeight, "distance is zero, which has no reciprocal", "needs numbers above 0"),
            Self::CommunityNotNumber => (BadInput, "community is not a number", "expected a whole number, as written by `outcore cluster`"),
            Self::NoRow => (BadInput, "index is not a row of the matrix", "expected a number from 1 to the number of rows"),
            Self::ExtraColumn => (BadInput, "line has more columns than the header names", "expected the line to end before this"),
            Self::HeaderAgain => (BadInput, "line repeats the header", "expected an edge"),
            Self::MissingName => (EmptyName, "name stands for a missing value", NAME),
            Self::FractionName => (BadInput, "name is a fraction, but others are whole numbers", "expected a whole number"),
            Self::CommentOrEdge => (BadInput, "line may be a comment or an edge", "expected a space after the mark of a comment"),
            Self::OpenQuote => (BadQuote, "quote is not closed on its line", "a quoted field cannot hold a line break"),
            Self::TextAfterQuote => (BadQuote, "text follows the closing quote", "expected the next column"),
            Self::LineTooLong => (BadInput, "line is longer than 1 MiB", "expected a line end within 1 MiB"),
        }
    }

    pub(super) fn kind(self) -> ErrorKind {
        self.texts().0
    }

    /// Returns what is wrong with a value in any format, in one clause.
    pub(super) fn reason(self, rows: Rows) -> String {
        let ([source, target], reason) = (rows.roles(), self.texts().1);
        match self {
            Self::EmptySource => format!("{source} {reason}"),
            Self::EmptyTarget => format!("{target} {reason}"),
            _ => reason.into(),
        }
    }

    /// Returns what was expected, for the mark under a value in any format.
    pub(super) fn expected(self) -> String {
        let expected = self.texts().2;
        match self {
            Self::DistanceZero => format!("{} {expected}", WEIGHT_TRANSFORM.of("reciprocal")),
            _ => expected.into(),
        }
    }
}

/// Returns the error for a file.
pub(super) fn bad_input(path: &Path, message: &str) -> Error {
    Error::new(ErrorKind::BadInput, format!("`{}` {message}", path.display()))
}

/// Returns what to type for distances of which some are 0.
pub(super) fn of_distance_zero() -> Text {
    let other = WEIGHT_TRANSFORM.of(WeightTransform::Similarity.name());
    format_args!("use {other}, which is 1 / (1 + distance)").into()
}

/// Returns the first `most` bytes of a text, escaped.
pub(super) fn escaped(bytes: &[u8], most: usize) -> String {
    escaped_parts([&bytes[..bytes.len().min(most)], b"", b""]).0
}

/// Returns three parts of a text one after the other, escaped, and the position of the second one.
pub(super) fn escaped_parts([before, marked, after]: [&[u8]; 3]) -> (String, (usize, usize)) {
    let mut text = String::new();
    escape(before, &mut text);
    let start = text.len();
    escape(marked, &mut text);
    let span = (start, text.len());
    escape(after, &mut text);
    (text, span)
}

/// Returns the place of a bad row, by its number and its column. All of the row is shown.
pub(super) fn row_place(bad: &BadLine<'_>, line: u64, column: u64) -> Place {
    let BadLine { fault, text, .. } = *bad;
    let [from, start, end, to] =
        [fault.line_start, fault.start, fault.end, fault.line_end].map(|byte| byte as usize);
    let (text, span) = escaped_parts([&text[from..start], &text[start..end], &text[end..to]]);
    let expected = fault.problem.expected();
    Place { path: bad.path.into(), line, column, byte: 0, text, span, expected }
}

/// Returns at most [`SHOWN_BYTES`] of a line around `start..end`, escaped, and the position of the fault in them.
pub(super) fn shorten(line: &[u8], start: usize, end: usize) -> (String, (usize, usize)) {
    let mut from = 0;
    let mut to = line.len();
    if line.len() > SHOWN_BYTES {
        let shown_end = end.min(start + SHOWN_BYTES / 2);
        from = boundary(line, start.saturating_sub(SHOWN_BYTES / 3).min(shown_end));
        to = boundary(line, (from + SHOWN_BYTES).min(line.len()));
    }
    let (start, end) = (start.clamp(from, to), end.clamp(from, to));
    let (shown, span) = escaped_parts([&line[from..start], &line[start..end], &line[end..to]]);
    let [before, after] = [from > 0, to < line.len()].map(|is_cut| if is_cut { "..." } else { "" });
    (format!("{before}{shown}{after}"), (before.len() + span.0, before.len() + span.1))
}

/// Returns the nearest start of a UTF-8 character at or before `at`.
fn boundary(line: &[u8], at: usize) -> usize {
    let is_inside = |&at: &usize| line.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    (at.saturating_sub(3)..=at).rev().find(|at| !is_inside(at)).unwrap_or(at)
}

/// Appends `bytes` with control characters, backslashes and bytes that are not UTF-8 escaped, so that the text is one
/// line without tabs and can be decoded again.
pub(crate) fn escape(bytes: &[u8], out: &mut String) {
    for part in bytes.utf8_chunks() {
        for letter in part.valid().chars() {
            match letter {
                '\t' => out.push_str("\\t"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\\' => out.push_str("\\\\"),
                letter if letter.is_control() && letter.is_ascii() => {
                    push_byte(letter as u8, out);
                }
                letter if letter.is_control() => {
                    let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
                }
                letter => out.push(letter),
            }
        }
        for &byte in part.invalid() {
            push_byte(byte, out);
        }
    }
}

fn push_byte(byte: u8, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\\x{byte:02x}");
}

enum RejectSink {
    File(Box<Writer>),
    Stream(Box<dyn std::io::Write + Send>),
}

/// A rejects file being written.
pub(super) struct Rejects {
    sink: RejectSink,
    path: PathBuf,
    row: String,
}

impl Rejects {
    pub(super) fn create(files: &Files, path: &Path) -> Result<Self> {
        let is_special = path == Path::new("-")
            || files.entry(path).is_ok_and(|entry| !entry.is_directory) && !files.is_regular(path);
        let sink = if is_special {
            RejectSink::Stream(files.create_stream(path)?)
        } else {
            RejectSink::File(Box::new(Writer::create(files, path, SMALL_BUFFER_BYTES, 1)?.hashed()))
        };
        let row = "path\tline\tcolumn\tbyte\tkind\treason\ttext\n".to_string();
        let mut rejects = Self { sink, path: path.to_path_buf(), row };
        rejects.write()?;
        Ok(rejects)
    }

    /// Like [`Writer::resume`].
    pub(crate) fn resume(files: &Files, path: &Path, saved: Sealed) -> Result<Self> {
        let (bytes, grows) = (saved.bytes, Grows::Beside);
        let writer = Writer::resume(files, path, grows, bytes, SMALL_BUFFER_BYTES, 1)?;
        let writer = writer.checked(saved)?;
        let (sink, path) = (RejectSink::File(Box::new(writer)), path.to_path_buf());
        Ok(Self { sink, path, row: String::new() })
    }

    /// Like [`Writer::checkpoint`]; returns `None` if rejects go to a pipe or a device.
    pub(crate) fn save(&mut self, to: &mut StateWriter) -> Result<Option<Sealed>> {
        let RejectSink::File(writer) = &mut self.sink else { return Ok(None) };
        let saved = writer.checkpoint()?;
        to.need_growing(&self.path, Grows::Beside, saved.bytes);
        Ok(Some(saved))
    }

    /// Returns whether the rejects can be resumed.
    pub(super) fn is_file(&self) -> bool {
        matches!(self.sink, RejectSink::File(_))
    }

    /// Appends one line.
    pub(super) fn push(
        &mut self,
        place: &Place,
        kind: &str,
        reason: &str,
        line: &[u8],
    ) -> Result<()> {
        self.row.clear();
        escape(place.path.as_os_str().as_encoded_bytes(), &mut self.row);
        // Writing to a string cannot fail.
        let _ = write!(
            self.row,
            "\t{}\t{}\t{}\t{kind}\t{reason}\t",
            place.line, place.column, place.byte
        );
        escape(line, &mut self.row);
        self.row.push('\n');
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        match &mut self.sink {
            RejectSink::File(writer) => writer.write(self.row.as_bytes()),
            RejectSink::Stream(stream) => stream
                .write_all(self.row.as_bytes())
                .map_err(|error| Error::io("write", &self.path, error)),
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self.sink {
            RejectSink::File(writer) => writer.finish().map(drop),
            RejectSink::Stream(mut stream) => {
                stream.flush().map_err(|error| Error::io("write", &self.path, error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_around_the_fault_on_character_boundaries() {
        let line = "é".repeat(300);
        for start in 0..600 {
            let (text, (from, to)) = shorten(line.as_bytes(), start, start + 1);
            assert!(text.len() <= 4 * SHOWN_BYTES && from < to && to <= text.len(), "{start}");
        }
        let (text, span) = shorten(b"a\tb\t-1", 4, 6);
        assert_eq!((text.as_str(), span), ("a\\tb\\t-1", (6, 8)));
        let mut out = String::new();
        escape(b"\\\0\xff\x1b\xc2\x85", &mut out);
        assert_eq!(out, "\\\\\\x00\\xff\\x1b\\u{85}");
    }
}
