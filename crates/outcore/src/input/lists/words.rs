//! Words of a text of any size, and their places.

use crate::error::opt::{FORMAT, IGNORE_WEIGHTS};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::input::decompress::Input;
use crate::input::fault::{Problem, escape};
use crate::input::options::Rows;
use std::ops::Range;
use std::path::{Path, PathBuf};

const BUFFER_BYTES: usize = 64 << 10;
/// Maximum length of a word.
const WORD_LIMIT: usize = 128;

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
}

impl Words {
    pub(crate) fn new(input: Input, path: &Path) -> Self {
        Self {
            input,
            path: path.to_path_buf(),
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            at: 0,
            filled: 0,
            ended: false,
            word: 0..0,
            line: 1,
            line_start: 0,
            begins: [1, 0, 0],
        }
    }

    /// Returns the word that was read last.
    pub(crate) fn word(&self) -> &[u8] {
        &self.buffer[self.word.clone()]
    }

    /// Returns the bytes of the file, as stored, that were used so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.input.consumed()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves to the next word, or to the end of its line.
    pub(crate) fn next(&mut self) -> Result<Token> {
        loop {
            if self.filled - self.at <= WORD_LIMIT && !self.ended {
                self.fill()?;
            }
            let byte = self.buffer[..self.filled].get(self.at).copied();
            if byte.is_some_and(is_blank) {
                self.at += 1;
                continue;
            }
            self.word = self.at..self.at;
            self.begins = [self.line, self.line_start, self.start + self.at as u64];
            match byte {
                None => return Ok(Token::End),
                Some(b'\n') => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.start + self.at as u64;
                    return Ok(Token::LineEnd);
                }
                Some(_) => break,
            }
        }
        let rest = &self.buffer[self.at..self.filled];
        let end = rest.iter().position(|&byte| is_blank(byte) || byte == b'\n');
        let bytes = end.unwrap_or(rest.len());
        self.word = self.at..self.at + bytes.min(WORD_LIMIT);
        if bytes > WORD_LIMIT {
            return Err(self.error("word is too long", "expected a number"));
        }
        self.at += bytes;
        Ok(Token::Word)
    }

    /// Moves to the end of the line.
    pub(crate) fn skip_line(&mut self) -> Result<()> {
        loop {
            if self.at == self.filled {
                self.fill()?;
                if self.at == self.filled {
                    return Ok(());
                }
            }
            match memchr::memchr(b'\n', &self.buffer[self.at..self.filled]) {
                None => self.at = self.filled,
                Some(len) => {
                    self.at += len;
                    return Ok(());
                }
            }
        }
    }

    fn fill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.at..self.filled, 0);
        self.start += self.at as u64;
        self.filled -= self.at;
        self.at = 0;
        while self.filled < self.buffer.len() {
            match self.input.read(&mut self.buffer[self.filled..])? {
                0 => {
                    self.ended = true;
                    break;
                }
                count => self.filled += count,
            }
        }
        Ok(())
    }

    /// Returns the word as a whole number.
    pub(crate) fn number(&self) -> Option<u64> {
        whole_number(self.word())
    }

    /// Returns the error about the word that was read last.
    pub(crate) fn error(&self, message: &str, expected: &str) -> Error {
        Error::new(ErrorKind::BadInput, message).at(self.place(0, expected)).hint(format_args!(
            "write the file again, or use {} if every line is an edge",
            FORMAT.of("lines")
        ))
    }

    /// Returns the error about a weight that begins at byte `from` of the word that was read last.
    pub(crate) fn error_of(&self, problem: Problem, from: usize) -> Error {
        let place = self.place(from, &problem.expected_value());
        Error::new(problem.kind(), problem.reason_of_value(Rows::Edges))
            .at(place)
            .hint(format_args!("use {IGNORE_WEIGHTS}, or correct it"))
    }

    /// Returns the place of the last word, from its byte `from` on; only the word itself is shown.
    fn place(&self, from: usize, expected: &str) -> Place {
        let [line, line_start, byte] = self.begins;
        let byte = byte + from as u64;
        let mut text = String::new();
        escape(&self.word()[..from], &mut text);
        let start = text.len();
        escape(&self.word()[from..], &mut text);
        Place {
            path: self.path.clone(),
            line,
            column: byte - line_start + 1,
            byte,
            span: (start, text.len()),
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
    if word.is_empty() || word.len() > 19 || !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(word.iter().fold(0, |value, &digit| value * 10 + u64::from(digit - b'0')))
}
