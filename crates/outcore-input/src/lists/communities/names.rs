//! Names in a line of any length, which may be quoted.

use super::super::words::Words;
use crate::{Delimiter, NAME_LIMIT};
use outcore_io::error::Result;

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

/// Moves to the next name of the line, without the spaces around it; fields without a name are passed over. Between
/// bytes, a name may be in double quotes, as in CSV.
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
                return take_quoted(words, quoted, is_delimiter).map(|()| Item::Quoted);
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

/// Copies the quoted name that is next, with single quotes for doubled ones.
fn take_quoted(
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
