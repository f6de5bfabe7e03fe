//! Fields of a line of any length: [`next_name`] for files of any program, [`next_field`] for results of this one.
//!
//! | | [`next_name`] | [`next_field`] |
//! | --- | --- | --- |
//! | spaces around them | are no part of them | are part of them |
//! | empty ones | are passed over | are fields |
//! | line ends in quotes | are an error | are part of them |

use super::super::words::Words;
use crate::{Delimiter, NAME_LIMIT};
use outcore_io::error::{Error, ErrorKind, Result};

/// Next item of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// A name, available as [`Words::word`].
    Word,
    /// A quoted name, copied without its quotes.
    Quoted,
    LineEnd,
    End,
}

/// Moves to the next name of the line, without the spaces around it; skips empty fields. Where single bytes separate
/// names, a name may be in double quotes, as in CSV.
pub(super) fn next_name(
    words: &mut Words,
    delimiters: &[Delimiter],
    quoted: &mut Vec<u8>,
) -> Result<Item> {
    let is_delimiter = |byte: u8| {
        delimiters.iter().any(|delimiter| match delimiter {
            Delimiter::Byte(delimiter) => byte == *delimiter,
            Delimiter::Spaces => byte == b' ' || byte == b'\t',
        })
    };
    loop {
        match words.peek()? {
            None => {
                words.begin_word();
                return Ok(Item::End);
            }
            Some(b'\n') => {
                words.advance(1);
                return Ok(Item::LineEnd);
            }
            Some(byte) if is_delimiter(byte) || b" \t\r".contains(&byte) => words.advance(1),
            Some(b'"') if !delimiters.contains(&Delimiter::Spaces) => {
                words.begin_word();
                return take_quoted_name(words, quoted, is_delimiter).map(|()| Item::Quoted);
            }
            Some(_) => {
                words.begin_word();
                words.take_until(|byte| is_delimiter(byte) || byte == b'\n')?;
                words.trim();
                return Ok(Item::Word);
            }
        }
    }
}

/// Copies the next name, which is quoted, and halves doubled quotes.
fn take_quoted_name(
    words: &mut Words,
    into: &mut Vec<u8>,
    is_delimiter: impl Fn(u8) -> bool,
) -> Result<()> {
    into.clear();
    words.advance(1);
    loop {
        match words.peek()? {
            Some(b'"') => {
                words.advance(1);
                if words.peek()? != Some(b'"') {
                    break;
                }
            }
            None | Some(b'\n') => {
                let expected = "a quoted field cannot hold a line break";
                return words.fail("quote is not closed on its line", expected);
            }
            Some(_) if into.len() > NAME_LIMIT => {
                return words.fail("name is longer than 64 KiB", "expected a shorter one");
            }
            Some(_) => {}
        }
        into.extend(words.peek()?);
        words.advance(1);
    }
    match words.peek()? {
        Some(byte) if !is_delimiter(byte) && !b"\r\n".contains(&byte) => {
            words.begin_word();
            words.take_until(|byte| is_delimiter(byte) || byte == b'\n')?;
            words.fail("text follows the closing quote", "expected the next name")
        }
        _ => Ok(()),
    }
}

/// Copies the next field; returns whether it is the last of its line, or `None` at the end of the text. Empty lines are
/// passed over.
pub(super) fn next_field(
    words: &mut Words,
    delimiter: u8,
    is_first: bool,
    into: &mut Vec<u8>,
) -> Result<Option<bool>> {
    loop {
        words.begin_word();
        let first = words.peek()?;
        if first.is_none() && is_first {
            return Ok(None);
        }
        let is_quoted = first == Some(b'"');
        let end = match is_quoted {
            true => take_quoted_field(words, delimiter, into)?,
            false => words.take_field(delimiter).map_err(|_| too_long(words))?,
        };
        if !is_quoted {
            words.copy_to(into);
        }
        let is_last = end != Some(delimiter);
        if is_last && !is_quoted && into.last() == Some(&b'\r') {
            into.pop();
        }
        if !is_first || first != Some(b'\n') {
            return Ok(Some(is_last));
        }
    }
}

/// Copies the next field, which is quoted, and halves doubled quotes. Moves over the byte after it, and returns that
/// byte.
fn take_quoted_field(words: &mut Words, delimiter: u8, into: &mut Vec<u8>) -> Result<Option<u8>> {
    let wrong = |words: &Words, message| {
        Err(words.wrong(ErrorKind::BadQuote, message, "a field in double quotes"))
    };
    into.clear();
    words.advance(1);
    loop {
        words.peek()?;
        let end = words.take_lines_until(|byte| byte == b'"').map_err(|_| too_long(words))?;
        into.extend_from_slice(words.word());
        if end.is_none() {
            return wrong(words, "a quoted field is never closed");
        }
        words.advance(1);
        if words.peek()? != Some(b'"') {
            break;
        }
        if into.len() > NAME_LIMIT {
            return Err(too_long(words));
        }
        into.push(b'"');
        words.advance(1);
    }
    if words.peek()? == Some(b'\r') {
        words.advance(1);
    }
    match words.peek()? {
        Some(byte) if byte != delimiter && byte != b'\n' => {
            wrong(words, "text follows the closing quote of a field")
        }
        end => {
            words.advance(usize::from(end.is_some()));
            Ok(end)
        }
    }
}

fn too_long(words: &Words) -> Error {
    let message = "a field is longer than any name";
    words.wrong(ErrorKind::NameTooLong, message, "a name, or a number")
}
