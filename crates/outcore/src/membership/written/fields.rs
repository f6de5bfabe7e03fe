//! Reader of the fields of a text file, one by one, through one buffer, so that a line may be longer than memory: a
//! community of all nodes is one line.
//!
//! A field that begins with a double quote ends at the next single one; double quotes inside it are doubled. This is how
//! `output` writes names that contain a delimiter or a line end.

use crate::error::{Error, ErrorKind, Place, Result};

use crate::io::{Files, Mode, StoredFile};
use std::path::Path;

/// Bytes read at a time: more than any name, even if each of its bytes is escaped.
const READ_BYTES: usize = 1 << 20;
/// Bytes of a field that an error shows.
const SHOWN_BYTES: usize = 60;

/// Reader of fields.
pub(super) struct FieldReader {
    file: StoredFile,
    /// Separator of fields; lines end with a line feed.
    delimiter: u8,
    buffer: Vec<u8>,
    /// Beginning of the next field in the buffer.
    at: usize,
    /// Bytes of the file before the buffer.
    before: u64,
    /// Whether the buffer ends where the file ends.
    is_end: bool,
    /// Whether the next field is the first of its line.
    begins: bool,
    /// Line of the next field, from 1.
    line: u64,
    /// Place of the last field: its line, its number in the line, and its first byte in the file.
    last: (u64, u64, u64),
}

/// Where a field ends in the buffer.
struct Found {
    /// End of its text; if it is quoted, its first and last bytes are quotes.
    end: usize,
    /// Beginning of the next field.
    next: usize,
    is_last: bool,
}

impl FieldReader {
    pub(super) fn open(files: &Files, path: &Path, delimiter: u8) -> Result<Self> {
        let file = files.open(path, Mode::Read)?;
        let buffer = Vec::with_capacity(READ_BYTES);
        let (line, last) = (1, (1, 0, 0));
        let (at, before, is_end, begins) = (0, 0, false, true);
        Ok(Self { file, delimiter, buffer, at, before, is_end, begins, line, last })
    }

    /// Returns to the beginning of the file.
    pub(super) fn rewind(&mut self) {
        self.buffer.clear();
        (self.at, self.before, self.is_end, self.begins) = (0, 0, false, true);
        (self.line, self.last) = (1, (1, 0, 0));
    }

    /// Skips these bytes at the beginning of the file, if present.
    pub(super) fn skip(&mut self, bytes: &[u8]) -> Result<()> {
        while !self.is_end && self.buffer.len() < bytes.len() {
            self.fill()?;
        }
        if self.buffer.starts_with(bytes) {
            self.at = bytes.len();
        }
        Ok(())
    }

    /// Appends the next field to `out`; returns whether it is the last of its line, or `None` at the end of the file.
    /// Skips empty lines.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> Result<Option<bool>> {
        loop {
            let found = loop {
                if let Some(found) = self.find()? {
                    break found;
                }
                if self.is_end {
                    if self.begins && self.at == self.buffer.len() {
                        return Ok(None);
                    }
                    let end = self.buffer.len();
                    break Found { end, next: end, is_last: true };
                }
                self.fill()?;
            };
            let (start, begins) = (self.at, self.begins);
            let field = if begins { 1 } else { self.last.1 + 1 };
            self.last = (self.line, field, self.before + start as u64);
            let text = &self.buffer[start..found.end];
            let is_quoted = text.first() == Some(&b'"');
            if is_quoted {
                unquote(&text[1..text.len() - 1], out);
                self.line += memchr::memchr_iter(b'\n', text).count() as u64;
            } else {
                let text =
                    if found.is_last { text.strip_suffix(b"\r").unwrap_or(text) } else { text };
                out.extend_from_slice(text);
            }
            let is_blank = begins && found.is_last && found.end == start;
            (self.at, self.begins) = (found.next, found.is_last);
            self.line += u64::from(found.is_last);
            if !is_blank {
                return Ok(Some(found.is_last));
            }
        }
    }

    /// Skips the rest of the line.
    pub(super) fn skip_line(&mut self, scratch: &mut Vec<u8>) -> Result<()> {
        while !self.begins {
            scratch.clear();
            if self.next(scratch)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Finds the end of the next field, if it is in the buffer.
    fn find(&self) -> Result<Option<Found>> {
        let rest = &self.buffer[self.at..];
        if rest.first() == Some(&b'"') {
            return self.find_quoted(rest);
        }
        Ok(memchr::memchr2(self.delimiter, b'\n', rest).map(|at| {
            let end = self.at + at;
            Found { end, next: end + 1, is_last: rest[at] == b'\n' }
        }))
    }

    fn find_quoted(&self, rest: &[u8]) -> Result<Option<Found>> {
        let mut at = 1;
        let close = loop {
            let Some(quote) = rest.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) else {
                return if self.is_end {
                    Err(self.bad_quote("a quoted field is never closed"))
                } else {
                    Ok(None)
                };
            };
            at += quote;
            match rest.get(at + 1) {
                Some(b'"') => at += 2,
                None if !self.is_end => return Ok(None),
                _ => break at,
            }
        };
        let end = self.at + close + 1;
        let after = &rest[close + 1..];
        match after {
            [] => Ok(Some(Found { end, next: end, is_last: true })),
            [byte, ..] if *byte == self.delimiter => {
                Ok(Some(Found { end, next: end + 1, is_last: false }))
            }
            [b'\n', ..] => Ok(Some(Found { end, next: end + 1, is_last: true })),
            [b'\r', b'\n', ..] => Ok(Some(Found { end, next: end + 2, is_last: true })),
            [b'\r'] if !self.is_end => Ok(None),
            _ => Err(self.bad_quote("text follows the closing quote of a field")),
        }
    }

    fn bad_quote(&self, message: &str) -> Error {
        let field = if self.begins { 1 } else { self.last.1 + 1 };
        let place = (self.line, field, self.before + self.at as u64);
        let rest = &self.buffer[self.at..];
        let shown = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        Error::new(ErrorKind::BadQuote, message.to_owned()).at(self.place_of(
            place,
            shown,
            "a field in double quotes",
        ))
    }

    /// Reads more of the file after what is left in the buffer.
    fn fill(&mut self) -> Result<()> {
        if self.buffer.len() - self.at > READ_BYTES {
            let field = if self.begins { 1 } else { self.last.1 + 1 };
            let place = (self.line, field, self.before + self.at as u64);
            let error =
                Error::new(ErrorKind::NameTooLong, "a field is longer than any name".to_owned());
            return Err(error.at(self.place_of(
                place,
                &self.buffer[self.at..],
                "a name, or a number",
            )));
        }
        self.buffer.drain(..self.at);
        self.before += self.at as u64;
        self.at = 0;
        let kept = self.buffer.len();
        self.buffer.resize(kept + READ_BYTES, 0);
        let read = self.file.read_at(self.before + kept as u64, &mut self.buffer[kept..])?;
        self.buffer.truncate(kept + read);
        self.is_end = read < READ_BYTES;
        Ok(())
    }

    /// Returns the error of the last field, whose text is `text`.
    pub(super) fn wrong(
        &self,
        kind: ErrorKind,
        message: String,
        text: &[u8],
        expected: &str,
    ) -> Error {
        Error::new(kind, message).at(self.place_of(self.last, text, expected))
    }

    fn place_of(
        &self,
        (line, column, byte): (u64, u64, u64),
        text: &[u8],
        expected: &str,
    ) -> Place {
        let text = String::from_utf8_lossy(&text[..text.len().min(SHOWN_BYTES)]);
        let text: String = text.escape_debug().collect();
        let (path, span) = (self.file.path().to_path_buf(), (0, text.len()));
        Place { path, line, column, byte, text, span, expected: expected.to_owned() }
    }

    /// Returns the number of bytes consumed.
    pub(super) fn done_bytes(&self) -> u64 {
        self.before + self.at as u64
    }
}

/// Appends the contents of a quoted field; doubled quotes become single ones.
fn unquote(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=at]);
        rest = &rest[(at + 2).min(rest.len())..];
    }
    out.extend_from_slice(rest);
}
