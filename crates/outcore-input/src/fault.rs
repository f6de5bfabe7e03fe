//! Bad lines: the parsers record them as a few numbers, which become an error or a line of the rejects file.
//!
//! Columns of the rejects file: `path line column byte kind reason text`, separated by tabs. Control characters,
//! backslashes and bytes that are not UTF-8 are escaped. The file appears under its name when it is complete; a pipe or
//! a device is written as lines come.

use super::format::InputFormat;
use super::text::field::with_point;
use super::{Delimiter, Rows, WeightTransform};
use outcore_io::checkpoint::StateWriter;
use outcore_io::error::opt::{
    COLUMNS, COMMENT, COMMUNITY_FORMAT, DELIMITER, HEADER, NODES, ON_BAD_LINE, WEIGHT_TRANSFORM,
};
use outcore_io::error::{Error, ErrorKind, Place, Result, Text};
use outcore_io::{Files, Grows, SMALL_BUFFER_BYTES, Sealed, Writer};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Maximum number of bytes of a line that an error shows.
const SHOWN_BYTES: usize = 120;

/// Problem with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The line has only this many columns.
    MissingColumn(u32),
    EmptySource,
    EmptyTarget,
    /// In a list of nodes.
    EmptyNode,
    NameTooLong,
    /// In a table; no line of text can hold such a name.
    LineEndInName,
    EmptyWeight,
    WeightNotNumber,
    WeightNegative,
    WeightInfinite,
    WeightNan,
    /// If names are text.
    NotUtf8,
    /// Distance whose reciprocal is not a number.
    DistanceZero,
    /// Community that is not a number, where numbers are required.
    CommunityNotNumber,
    /// Index that is not a row of the Matrix Market file.
    NoRow,
    /// More columns than the header names.
    ExtraColumn,
    /// Repeated header.
    HeaderAgain,
    /// Line that begins like a comment, and has the columns of an edge.
    CommentOrEdge,
    /// Quote that is not closed before the line ends.
    OpenQuote,
    /// Text after the closing quote.
    TextAfterQuote,
    LineTooLong,
}

/// Bad line; positions are in the chunk's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineFault {
    pub(crate) problem: Problem,
    pub(crate) line_start: u32,
    /// End of the line, without its line end.
    pub(crate) line_end: u32,
    /// Start of the field at fault.
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Position of a chunk's text in the input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Origin {
    /// Index of the file.
    pub(crate) file: usize,
    /// Byte offset of the text in the decompressed file.
    pub(crate) byte: u64,
    /// Number of the text's first line, from 1.
    pub(crate) line: u64,
}

impl Problem {
    pub(crate) fn kind(self) -> ErrorKind {
        match self {
            Self::MissingColumn(_) => ErrorKind::MissingColumn,
            Self::EmptySource | Self::EmptyTarget | Self::EmptyNode => ErrorKind::EmptyName,
            Self::NameTooLong => ErrorKind::NameTooLong,
            Self::EmptyWeight
            | Self::WeightNotNumber
            | Self::WeightNegative
            | Self::WeightInfinite
            | Self::WeightNan
            | Self::DistanceZero => ErrorKind::BadWeight,
            Self::OpenQuote | Self::TextAfterQuote => ErrorKind::BadQuote,
            Self::LineTooLong
            | Self::LineEndInName
            | Self::CommunityNotNumber
            | Self::NoRow
            | Self::NotUtf8
            | Self::ExtraColumn
            | Self::CommentOrEdge
            | Self::HeaderAgain => ErrorKind::BadInput,
        }
    }

    /// Returns what is wrong, in one clause.
    pub(crate) fn reason(self, format: &InputFormat) -> String {
        match self {
            Self::MissingColumn(found) => {
                let (role, column) = format.layout.first_role_after(found as usize);
                let plural = if found == 1 { "" } else { "s" };
                format!("line has {found} column{plural}, but the {role} is column {column}")
            }
            Self::ExtraColumn if !format.has_header => {
                "line has more columns than most lines".into()
            }
            other => other.reason_of_value(format.layout.rows),
        }
    }

    /// Like [`Problem::reason`], for a value in any format.
    pub(super) fn reason_of_value(self, rows: Rows) -> String {
        let [source, target] = rows.roles();
        let reason = match self {
            Self::EmptySource => return format!("{source} has no name"),
            Self::EmptyTarget => return format!("{target} has no name"),
            Self::MissingColumn(_) => "a column is missing",
            Self::CommunityNotNumber => "community is not a number",
            Self::EmptyNode => "node has no name",
            Self::NoRow => "index is not a row of the matrix",
            Self::ExtraColumn => "line has more columns than the header names",
            Self::HeaderAgain => "line repeats the header",
            Self::CommentOrEdge => "line may be a comment or an edge",
            Self::NameTooLong => "name is longer than 64 KiB",
            Self::LineEndInName => "name contains a line end",
            Self::NotUtf8 => "name is not UTF-8",
            Self::EmptyWeight => "weight is empty",
            Self::WeightNotNumber => "weight is not a number",
            Self::WeightNegative => "weight is negative",
            Self::WeightInfinite => "weight is infinite",
            Self::WeightNan => "weight is NaN",
            Self::DistanceZero => "distance is zero, which has no reciprocal",
            Self::OpenQuote => "quote is not closed on its line",
            Self::TextAfterQuote => "text follows the closing quote",
            Self::LineTooLong => "line is longer than 1 MiB",
        };
        reason.into()
    }

    /// Returns what was expected, for the mark under the line.
    fn expected(self, format: &InputFormat) -> String {
        match self {
            Self::MissingColumn(1) => format!("no {} here", format.layout.delimiter.name()),
            Self::MissingColumn(_) => {
                format!("expected {} columns", format.layout.last_column() + 1)
            }
            Self::TextAfterQuote => {
                format!("expected a {} or the line end", format.layout.delimiter.name())
            }
            other => other.expected_value().into_owned(),
        }
    }

    /// Like [`Problem::expected`], for a value in any format.
    pub(super) fn expected_value(self) -> Cow<'static, str> {
        let expected = match self {
            Self::EmptySource | Self::EmptyTarget | Self::EmptyNode => "expected a name",
            Self::NameTooLong => "names have at most 65,536 bytes",
            Self::LineEndInName => "names must be on one line",
            Self::NotUtf8 => "expected UTF-8 text",
            Self::NoRow => "expected a number from 1 to the number of rows",
            Self::EmptyWeight | Self::WeightNotNumber => "expected a number",
            Self::CommunityNotNumber => "expected a whole number, as written by `outcore cluster`",
            Self::WeightNegative | Self::WeightInfinite | Self::WeightNan => {
                "weights are finite and at least 0"
            }
            Self::DistanceZero => {
                let reciprocal = WEIGHT_TRANSFORM.of("reciprocal");
                return format!("{reciprocal} needs numbers above 0").into();
            }
            Self::ExtraColumn => "expected the line to end before this",
            Self::HeaderAgain => "expected an edge",
            Self::CommentOrEdge => "expected a space after the mark of a comment",
            Self::OpenQuote => "a quoted field cannot hold a line break",
            Self::LineTooLong => "expected a line end within 1 MiB",
            Self::MissingColumn(_) | Self::TextAfterQuote => "expected the next column",
        };
        expected.into()
    }
}

/// Returns the error for a bad line at `place`. `can_skip` indicates whether the error may suggest skipping bad lines.
pub(crate) fn error(
    fault: &LineFault,
    text: &[u8],
    place: Place,
    format: &InputFormat,
    can_skip: bool,
) -> Error {
    let (byte, line) = (place.byte, place.line);
    let found = &text[fault.start as usize..fault.end as usize];
    let mut error = Error::new(fault.problem.kind(), fault.problem.reason(format))
        .at(place)
        .note(format!("byte {byte} of the file"));
    if fault.problem.kind() == ErrorKind::MissingColumn {
        error = error.note(format!("columns are separated by {}", format.delimiter_text()));
    }
    if format.layout.rows.are_memberships() {
        let hint = "lines are `node<TAB>community`: correct this one, or remove it";
        return match fault.problem.kind() {
            ErrorKind::MissingColumn => error.hint(format_args!(
                "{hint}; {} reads a community per line",
                COMMUNITY_FORMAT.of("clusters")
            )),
            _ => error.hint(hint),
        };
    }
    let first = line == format.preamble_lines + 1 && !format.has_header;
    let advice = advice(fault.problem, found, format, first);
    let skip = Text::from(format_args!("{} to skip this line", ON_BAD_LINE.of("skip")));
    error.hint(match (advice, can_skip) {
        (Some((advice, or)), true) => Text::from(format_args!("{advice}{or}{skip}")),
        (Some((advice, _)), false) => advice,
        (None, true) => format_args!("use {skip}").into(),
        (None, false) => "correct it, or leave it out".into(),
    })
}

/// Returns what to type, and the words that connect it with an alternative.
fn advice(
    problem: Problem,
    found: &[u8],
    format: &InputFormat,
    is_first_line: bool,
) -> Option<(Text, &'static str)> {
    if format.layout.rows == Rows::Nodes {
        return None;
    }
    let advice = match problem.kind() {
        ErrorKind::MissingColumn => match other_delimiter(found, format.layout.delimiter) {
            _ if is_commented(found) => {
                let mark = if found.starts_with(b"//") { "//" } else { "--" };
                format_args!("use {} if this is a comment", COMMENT.of(mark)).into()
            }
            Some(other) if problem == Problem::MissingColumn(1) => {
                format_args!("use {}", DELIMITER.of(other)).into()
            }
            None if problem == Problem::MissingColumn(1) => {
                format_args!("use {DELIMITER} to set the column separator").into()
            }
            _ => format_args!("use {COLUMNS} to select the columns of the edge").into(),
        },
        ErrorKind::BadWeight if with_point(found).is_some() => {
            let way = match format.layout.delimiter {
                Delimiter::Byte(b',') => {
                    "replace decimal commas with points, or separate columns with semicolons"
                }
                _ => "replace commas with points: `tr , . < FILE | outcore ... -`",
            };
            return Some((way.into(), ", or use "));
        }
        ErrorKind::BadWeight if is_first_line && problem == Problem::WeightNotNumber => {
            format_args!("use {} if this line names the columns", HEADER.of("yes")).into()
        }
        ErrorKind::BadWeight if problem == Problem::DistanceZero => of_distance_zero(),
        // A transform of the weights is meaningless without them.
        ErrorKind::BadWeight if format.layout.transform != WeightTransform::None => return None,
        ErrorKind::BadWeight => {
            let (source, target) = (format.layout.source + 1, format.layout.target + 1);
            let columns = COLUMNS.of(format_args!("{source},{target}"));
            format_args!("use {columns} to ignore the weights").into()
        }
        _ if problem == Problem::CommentOrEdge => {
            let mark = String::from_utf8_lossy(&format.layout.comment);
            let (none, all) = (COMMENT.of("''"), COMMENT.of(format_args!("'{mark}'")));
            format_args!(
                "use {none} if names begin with `{mark}`, {all} if such lines are comments"
            )
            .into()
        }
        _ if problem == Problem::EmptyTarget => {
            format_args!("list nodes without edges in a file for {NODES}").into()
        }
        _ if problem == Problem::NotUtf8 => "convert the file: `iconv -t UTF-8`".into(),
        _ if problem == Problem::ExtraColumn => {
            let delimiter = format.layout.delimiter.name();
            let (source, target) = (format.layout.source + 1, format.layout.target + 1);
            let columns = COLUMNS.of(format_args!("{source},{target}"));
            format_args!(
                "quote names that contain a {delimiter}, use {columns} to ignore other columns"
            )
            .into()
        }
        _ => return None,
    };
    Some((advice, ", or "))
}

/// Returns what to type for distances of which some are 0.
pub(super) fn of_distance_zero() -> Text {
    let other = WEIGHT_TRANSFORM.of(WeightTransform::Similarity.name());
    format_args!("use {other}, which is 1 / (1 + distance)").into()
}

/// Returns whether a line begins like a comment of other programs.
pub(super) fn is_commented(line: &[u8]) -> bool {
    line == b"//" || line == b"--" || line.starts_with(b"// ") || line.starts_with(b"-- ")
}

/// Returns a delimiter that the line contains, as typed on the command line.
fn other_delimiter(line: &[u8], current: Delimiter) -> Option<&'static str> {
    let is_current = |byte| match current {
        Delimiter::Byte(current) => byte == current,
        Delimiter::Spaces => byte == b' ' || byte == b'\t',
    };
    [(b'\t', "tab"), (b',', "','"), (b';', "';'"), (b'|', "'|'"), (b' ', "space")]
        .into_iter()
        .find(|&(byte, _)| !is_current(byte) && line.contains(&byte))
        .map(|(_, text)| text)
}

/// Returns the place of a bad line in its file; `line` is its number there.
pub(crate) fn place(
    fault: &LineFault,
    text: &[u8],
    (origin, line): (&Origin, u64),
    path: &Path,
    format: &InputFormat,
) -> Place {
    let (line_start, line_end) = (fault.line_start as usize, fault.line_end as usize);
    let (start, end) = (fault.start as usize, fault.end as usize);
    let column = String::from_utf8_lossy(&text[line_start..start]).chars().count() as u64 + 1;
    let (shown, span) = shorten(&text[line_start..line_end], start - line_start, end - line_start);
    Place {
        path: path.to_path_buf(),
        line,
        column,
        byte: origin.byte + start as u64,
        text: shown,
        span,
        expected: fault.problem.expected(format),
    }
}

/// Returns at most [`SHOWN_BYTES`] of a line around `start..end`, escaped, and the position of the fault in them.
fn shorten(line: &[u8], start: usize, end: usize) -> (String, (usize, usize)) {
    let mut from = 0;
    let mut to = line.len();
    if line.len() > SHOWN_BYTES {
        let shown_end = end.min(start + SHOWN_BYTES / 2);
        from = boundary(line, start.saturating_sub(SHOWN_BYTES / 3).min(shown_end));
        to = boundary(line, (from + SHOWN_BYTES).min(line.len()));
    }
    let (start, end) = (start.clamp(from, to), end.clamp(from, to));
    let mut shown = String::new();
    if from > 0 {
        shown.push_str("...");
    }
    escape(&line[from..start], &mut shown);
    let span_start = shown.len();
    escape(&line[start..end], &mut shown);
    let span_end = shown.len();
    escape(&line[end..to], &mut shown);
    if to < line.len() {
        shown.push_str("...");
    }
    (shown, (span_start, span_end))
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
        let buffers = (SMALL_BUFFER_BYTES, 1);
        let writer = Writer::resume(files, path, Grows::Beside, saved.bytes, buffers)?;
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
