//! Words and lines of a text of any size, and their places.
//!
//! The text passes through a window of 128 KiB, so that a word of up to 64 KiB, the limit of a name, is always in one
//! piece; the window can be [widened](Words::widen) for longer ones. Nothing else is kept: a line may be as long as a file.

use crate::NAME_LIMIT;
use crate::chunk::Problem;
use crate::decompress::Input;
use crate::fault::escaped_parts;
use crate::layout::BYTE_ORDER_MARK;
use crate::options::Rows;
use crate::text::number::is_digits;
use outcore_io::error::opt::{COMMUNITY_FORMAT, FORMAT, IGNORE_WEIGHTS};
use outcore_io::error::{Error, ErrorKind, Place, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Maximum length of a word.
const WORD_LIMIT: usize = NAME_LIMIT;
/// Maximum number of bytes of a word that an error shows.
const WORD_SHOWN_BYTES: usize = 120;

/// Kind of the next item in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// A word, available as [`Words::word`].
    Word,
    LineEnd,
    End,
}

/// Reader of a text, word by word.
pub(crate) struct Words {
    input: Input,
    path: PathBuf,
    buffer: Vec<u8>,
    /// Maximum length of a word; the buffer is twice as long.
    limit: usize,
    /// Position of the buffer's start in the text.
    start: u64,
    at: usize,
    filled: usize,
    ended: bool,
    word: Range<usize>,
    line: u64,
    line_start: u64,
    /// Line of the last word, the byte where the line begins, and the byte where the word begins.
    begins: [u64; 3],
    /// Whether lines that have a tab are split at tabs only.
    pub(crate) tabs_win: bool,
    /// Whether only tabs separate the words of this line.
    tabs_only: bool,
    /// What the text is about, for messages.
    rows: Rows,
}

impl Words {
    pub(crate) fn new(input: Input, path: &Path, rows: Rows) -> Self {
        Self {
            input,
            path: path.to_path_buf(),
            buffer: vec![0; 2 * WORD_LIMIT],
            limit: WORD_LIMIT,
            start: 0,
            at: 0,
            filled: 0,
            ended: false,
            word: 0..0,
            line: 1,
            line_start: 0,
            begins: [1, 0, 0],
            tabs_win: false,
            tabs_only: false,
            rows,
        }
    }

    /// Takes words of up to `limit` bytes, if that is more than before.
    pub(crate) fn widen(&mut self, limit: usize) {
        self.limit = limit.max(self.limit);
        self.buffer.resize(2 * self.limit, 0);
    }

    /// Returns the word that was read last.
    pub(crate) fn word(&self) -> &[u8] {
        &self.buffer[self.word.clone()]
    }

    /// Copies the word that was read last.
    pub(crate) fn copy_to(&self, into: &mut Vec<u8>) {
        into.clear();
        into.extend_from_slice(self.word());
    }

    /// Returns the bytes of the file, as stored, that were used so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.input.consumed()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn rows(&self) -> Rows {
        self.rows
    }

    /// Returns the line of the last word, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.begins[0]
    }

    /// Moves to the next word, or to the end of its line.
    pub(crate) fn next(&mut self) -> Result<Token> {
        loop {
            match self.peek()? {
                Some(byte) if is_blank(byte) => self.at += 1,
                Some(b'\n') => {
                    self.begin_word();
                    self.advance(1);
                    return Ok(Token::LineEnd);
                }
                byte => {
                    self.begin_word();
                    if byte.is_none() {
                        return Ok(Token::End);
                    }
                    break;
                }
            }
        }
        if self.tabs_only {
            self.take_until(|byte| byte == b'\t' || byte == b'\n')?;
            self.trim();
        } else {
            self.take_until(|byte| is_blank(byte) || byte == b'\n')?;
        }
        Ok(Token::Word)
    }

    /// Moves to the first word of the next line that is neither blank nor begins with `comment`. The last line must
    /// have been read to its end. Returns `false` at the end of the text.
    pub(crate) fn next_line(&mut self, comment: Option<u8>) -> Result<bool> {
        loop {
            if self.tabs_win {
                self.find_tab()?;
            }
            match self.next()? {
                Token::End => return Ok(false),
                Token::LineEnd => {}
                Token::Word if comment.is_some_and(|mark| self.word().first() == Some(&mark)) => {
                    self.skip_line()?;
                }
                Token::Word => return Ok(true),
            }
        }
    }

    /// Moves to the next word of the line; returns `false`, and is after the line, if it has no more.
    pub(crate) fn next_in_line(&mut self) -> Result<bool> {
        Ok(self.next()? == Token::Word)
    }

    /// Moves to the next word of the line. It is an error if the line has no more.
    pub(crate) fn require(&mut self, message: &str, expected: &str) -> Result<()> {
        if self.next_in_line()? { Ok(()) } else { self.fail(message, expected) }
    }

    /// Moves to the next line. It is an error if there are more words in this one.
    pub(crate) fn end_line(&mut self) -> Result<()> {
        if !self.next_in_line()? {
            return Ok(());
        }
        self.fail("line has too many words", "expected the end of the line")
    }

    /// Moves to the rest of the line, without the blanks around it; it may be empty.
    pub(crate) fn rest(&mut self) -> Result<()> {
        while self.peek()?.is_some_and(is_blank) {
            self.at += 1;
        }
        self.begin_word();
        let rest = &self.buffer[self.at..self.filled];
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.take(end)?;
        self.trim();
        Ok(())
    }

    /// Moves to the end of the line.
    pub(crate) fn skip_line(&mut self) -> Result<()> {
        while self.peek()?.is_some_and(|byte| byte != b'\n') {
            let rest = self.window();
            self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        }
        Ok(())
    }

    /// Finds whether the line whose first byte is next has a tab. The first one is within the length of a name.
    fn find_tab(&mut self) -> Result<()> {
        self.peek()?;
        let window = &self.buffer[self.at..self.filled];
        let end = memchr::memchr2(b'\t', b'\n', window);
        self.tabs_only = end.is_some_and(|end| window[end] == b'\t');
        Ok(())
    }

    /// Returns the next byte of the text. Afterwards the window has as many bytes as a word may have.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<u8>> {
        if self.filled - self.at <= self.limit && !self.ended {
            self.fill()?;
        }
        Ok(self.buffer[..self.filled].get(self.at).copied())
    }

    /// Returns the next bytes of the text: as many as a word may have, unless the text ends before.
    pub(crate) fn next_window(&mut self) -> Result<&[u8]> {
        self.peek()?;
        Ok(&self.buffer[self.at..self.filled])
    }

    /// Begins an empty word at the next byte.
    #[inline]
    pub(crate) fn begin_word(&mut self) {
        self.word = self.at..self.at;
        self.begins = [self.line, self.line_start, self.start + self.at as u64];
    }

    /// Takes the bytes up to the first that ends the word, without that one.
    pub(crate) fn take_until(&mut self, is_end: impl Fn(u8) -> bool) -> Result<()> {
        let rest = &self.buffer[self.at..self.filled];
        let bytes = rest.iter().position(|&byte| is_end(byte)).unwrap_or(rest.len());
        self.take(bytes)
    }

    /// Takes this many bytes of the window as a word.
    fn take(&mut self, bytes: usize) -> Result<()> {
        self.word = self.at..self.at + bytes.min(self.limit);
        if bytes > self.limit {
            let message = format!("word is longer than {} KiB", self.limit.div_ceil(1024));
            return self.fail(&message, "expected a shorter one");
        }
        self.at += bytes;
        Ok(())
    }

    /// Takes the bytes up to `delimiter` or the end of the line, and this one; returns it, or `None` at the end of the text.
    #[inline]
    pub(crate) fn take_field(&mut self, delimiter: u8) -> Result<Option<u8>> {
        self.take_until(|byte| byte == delimiter || byte == b'\n')?;
        let end = self.buffer[..self.filled].get(self.at).copied();
        self.at += usize::from(end.is_some());
        if end == Some(b'\n') {
            (self.line, self.line_start) = (self.line + 1, self.start + self.at as u64);
        }
        Ok(end)
    }

    /// Like [`Words::take_until`], for words that may have line ends. Returns the byte after the word.
    pub(crate) fn take_lines_until(&mut self, is_end: impl Fn(u8) -> bool) -> Result<Option<u8>> {
        self.take_until(is_end)?;
        self.at = self.word.start;
        self.advance(self.word.len());
        Ok(self.buffer[..self.filled].get(self.at).copied())
    }

    /// Returns the bytes of the text since the last word began.
    pub(crate) fn bytes_of_word(&self) -> u64 {
        self.start + self.at as u64 - self.begins[2]
    }

    /// Returns the next bytes of the text.
    pub(crate) fn window(&self) -> &[u8] {
        &self.buffer[self.at..self.filled]
    }

    /// Moves over bytes of the window, which may have line ends.
    pub(crate) fn advance(&mut self, bytes: usize) {
        let passed = &self.buffer[self.at..self.at + bytes];
        if let Some(last) = memchr::memrchr(b'\n', passed) {
            self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
            self.line_start = self.start + (self.at + last) as u64 + 1;
        }
        self.at += bytes;
    }

    /// Moves over the next bytes of the window, which are one line with its line end.
    #[inline]
    pub(crate) fn advance_line(&mut self, bytes: usize) {
        self.at += bytes;
        (self.line, self.line_start) = (self.line + 1, self.start + self.at as u64);
    }

    /// Removes the blanks at the end of the word.
    pub(crate) fn trim(&mut self) {
        let kept = self.word().iter().rposition(|&byte| !is_blank(byte)).map_or(0, |at| at + 1);
        self.word.end = self.word.start + kept;
    }

    fn fill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.at..self.filled, 0);
        self.start += self.at as u64;
        self.filled -= self.at;
        (self.at, self.word) = (0, 0..0);
        self.filled += self.input.fill(&mut self.buffer[self.filled..])?;
        self.ended = self.filled < self.buffer.len();
        if self.start == 0 && self.buffer[..self.filled].starts_with(BYTE_ORDER_MARK) {
            self.at = BYTE_ORDER_MARK.len();
        }
        Ok(())
    }

    /// Returns the word as a whole number.
    pub(crate) fn number(&self) -> Option<u64> {
        whole_number(self.word())
    }

    /// Returns the word as the number of a node within `range`.
    pub(crate) fn node(&self, range: &Range<u64>) -> Result<u64> {
        self.number().filter(|number| range.contains(number)).ok_or_else(|| {
            let expected = format!("expected {} to {}", range.start, range.end.saturating_sub(1));
            self.error("node does not exist", &expected)
        })
    }

    /// Moves to the next word of the line, which must be a whole number.
    pub(crate) fn next_number(&mut self, expected: &str) -> Result<u64> {
        self.require("number is missing", expected)?;
        self.number().ok_or_else(|| self.error("number cannot be read", expected))
    }

    /// Fails with [`Words::error`].
    pub(crate) fn fail<T, E: From<Error>>(
        &self,
        message: &str,
        expected: &str,
    ) -> std::result::Result<T, E> {
        Err(self.error(message, expected).into())
    }

    /// Returns the error of this kind about the word that was read last.
    pub(crate) fn wrong(&self, kind: ErrorKind, message: &str, expected: &str) -> Error {
        Error::new(kind, message.to_owned()).at(self.place(0, expected))
    }

    /// Returns the error about the word that was read last.
    pub(crate) fn error(&self, message: &str, expected: &str) -> Error {
        let error = self.wrong(ErrorKind::BadInput, message, expected);
        if self.rows != Rows::Edges {
            return error.hint(format_args!(
                "write the file again, or use {COMMUNITY_FORMAT} if its format is another one"
            ));
        }
        let lines = FORMAT.of("lines");
        error.hint(format_args!("write the file again, or use {lines} if every line is an edge"))
    }

    /// Returns the error about a weight that begins at byte `from` of the word that was read last.
    pub(crate) fn error_of(&self, problem: Problem, from: usize) -> Error {
        let place = self.place(from, &problem.expected());
        let error = Error::new(problem.kind(), problem.reason(self.rows)).at(place);
        match self.rows {
            Rows::Edges => error.hint(format_args!("use {IGNORE_WEIGHTS}, or correct it")),
            _ => error.hint("correct it, or leave it out"),
        }
    }

    /// Returns the place of the last word, from its byte `from` on; only the word itself is shown.
    fn place(&self, from: usize, expected: &str) -> Place {
        let [line, line_start, byte] = self.begins;
        let byte = byte + from as u64;
        let (before, rest) = self.word().split_at(from);
        let rest = &rest[..rest.len().min(WORD_SHOWN_BYTES)];
        let (text, span) = escaped_parts([before, rest, b""]);
        Place {
            path: self.path.clone(),
            line,
            column: byte - line_start + 1,
            byte,
            span,
            text,
            expected: expected.into(),
        }
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t' || byte == b'\r'
}

/// Parses a whole number of at most 19 digits.
pub(crate) fn whole_number(word: &[u8]) -> Option<u64> {
    let is_number = word.len() <= 19 && is_digits(word);
    is_number.then(|| word.iter().fold(0, |value, &digit| value * 10 + u64::from(digit - b'0')))
}

/// Returns the text after a byte-order mark.
pub(super) fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head)
}

/// Returns the lines that are neither blank nor begin with `comment`, if there is one.
pub(super) fn lines<'h>(
    head: &'h [u8],
    comment: &'h [u8],
) -> impl Iterator<Item = &'h [u8]> + Clone {
    let lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let is_comment = |line: &[u8]| !comment.is_empty() && line.starts_with(comment);
    lines.filter(move |line| !line.is_empty() && !is_comment(line))
}

/// Returns the words of a line.
pub(super) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}
