//! Names as the formats write them: quoted, escaped, or refused by name.
//!
//! A name in text that would break the format, or be read as something else (it contains a tab or a line end, starts with
//! a double quote or like a comment, or has spaces around it), is written as a quoted field: in double quotes, with double
//! quotes inside it doubled. It is read back in the same way.

use super::RowFormat;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use std::path::{Path, PathBuf};

/// Hint for names that a format cannot hold.
const ANY_BYTES: &str = "write text, which takes any bytes: use a name that ends in";

/// How a format writes a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As it is, or quoted where it would break a line of columns between tabs.
    Text,
    /// As it is, or quoted where it would break a line of CSV.
    Csv,
    /// String of JSON.
    Json,
    /// Label of Pajek, in double quotes.
    Pajek,
    /// Value of an attribute of XML.
    Xml,
    /// Bytes of UTF-8.
    Utf8,
}

impl Encoding {
    /// Appends a name.
    ///
    /// # Errors
    /// `BadInput` for a name that the format of `output` cannot hold.
    pub(crate) fn put(self, name: &[u8], output: &Path, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Text => put_text_name(name, out),
            Self::Csv if memchr::memchr2(b',', b'"', name).is_some() => put_quoted(name, out),
            Self::Csv => put_text_name(name, out),
            Self::Json => {
                // Writing to a vector cannot fail.
                let _ = serde_json::to_writer(out, text_of(name, output)?);
            }
            Self::Utf8 => out.extend_from_slice(text_of(name, output)?.as_bytes()),
            Self::Pajek => put_pajek(name, output, out)?,
            Self::Xml => put_xml(text_of(name, output)?, output, out)?,
        }
        Ok(())
    }

    /// Refuses a graph with a name that is not UTF-8 if `output` cannot hold it, before the work.
    ///
    /// # Errors
    /// `BadInput` with the name; `CorruptFile`, `Io`.
    pub(crate) fn check_names(self, graph: &Graph, output: &Path) -> Result<()> {
        if !self.is_unicode() || !graph.has_names() {
            return Ok(());
        }
        let other = graph.open_names()?.first_other()?;
        other.map_or(Ok(()), |name| self.put(&name, output, &mut Vec::new()))
    }

    fn is_unicode(self) -> bool {
        matches!(self, Self::Json | Self::Utf8 | Self::Xml)
    }
}

/// Refuses a graph with a name that is not UTF-8 if a result is written as a table that needs it, before the work.
///
/// # Errors
/// `BadInput` with the name; `CorruptFile`, `Io`.
pub(crate) fn check_names<'p>(
    graph: &Graph,
    outputs: impl IntoIterator<Item = &'p PathBuf>,
) -> Result<()> {
    let encoding = |output: &PathBuf| RowFormat::of(output).encoding();
    let found = outputs.into_iter().find(|output| encoding(output).is_unicode());
    let refused = found.map_or(Ok(()), |output| encoding(output).check_names(graph, output));
    refused.map_err(|error| match error.kind() {
        ErrorKind::BadInput => error.hint(format!("{ANY_BYTES} .tsv")),
        _ => error,
    })
}

/// Returns a name as text.
///
/// # Errors
/// `BadInput` for a name that is not UTF-8.
pub(crate) fn text_of<'a>(name: &'a [u8], output: &Path) -> Result<&'a str> {
    std::str::from_utf8(name).map_err(|_| refused(name, output, "which is not UTF-8"))
}

/// Appends a name, quoted if it would break a line of columns between tabs, or be read as something else: as a comment,
/// or without the spaces around it.
#[inline]
pub(super) fn put_text_name(name: &[u8], out: &mut Vec<u8>) {
    let is_odd_start = match name {
        [b'"' | b'#' | b'%', ..] | [b'/', b'/', ..] | [b'-', b'-', ..] => true,
        [first, .., last] => first.is_ascii_whitespace() || last.is_ascii_whitespace(),
        [only] => only.is_ascii_whitespace(),
        [] => false,
    };
    match is_odd_start || memchr::memchr3(b'\t', b'\n', b'\r', name).is_some() {
        true => put_quoted(name, out),
        false => out.extend_from_slice(name),
    }
}

/// Appends bytes in double quotes, with those inside doubled.
pub(super) fn put_quoted(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in bytes {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Appends a label of Pajek, which has no way to write a quote; readers differ in what a backslash before one means.
fn put_pajek(name: &[u8], output: &Path, out: &mut Vec<u8>) -> Result<()> {
    if memchr::memchr3(b'"', b'\n', b'\r', name).is_some() || name.ends_with(b"\\") {
        return Err(refused(name, output, "with a quote, a line end or a backslash at its end"));
    }
    out.push(b'"');
    out.extend_from_slice(name);
    out.push(b'"');
    Ok(())
}

/// Appends the value of an attribute. Line ends and tabs are written by number, or readers would take them for spaces.
fn put_xml(name: &str, output: &Path, out: &mut Vec<u8>) -> Result<()> {
    let is_plain = |byte: u8| (b' '..0x7F).contains(&byte) && !b"&<>\"".contains(&byte);
    if name.bytes().all(is_plain) {
        out.extend_from_slice(name.as_bytes());
        return Ok(());
    }
    let mut bytes = [0; 4];
    for letter in name.chars() {
        let escaped = match letter {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\t' => "&#9;",
            '\n' => "&#10;",
            '\r' => "&#13;",
            '\0'..=' ' if letter != ' ' => {
                return Err(refused(name.as_bytes(), output, "with a control character"));
            }
            '\u{FFFE}' | '\u{FFFF}' => {
                return Err(refused(name.as_bytes(), output, "with a character that XML lacks"));
            }
            _ => letter.encode_utf8(&mut bytes),
        };
        out.extend_from_slice(escaped.as_bytes());
    }
    Ok(())
}

fn refused(name: &[u8], output: &Path, why: &str) -> Error {
    let (path, name) = (output.display(), name.escape_ascii());
    let message = format!("`{path}` cannot hold the name `{name}`, {why}");
    Error::new(ErrorKind::BadInput, message).hint(format!("{ANY_BYTES} .tsv or .csv"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(encoding: Encoding, name: &[u8]) -> std::result::Result<String, String> {
        let mut out = Vec::new();
        match encoding.put(name, Path::new("out"), &mut out) {
            Ok(()) => Ok(String::from_utf8_lossy(&out).into_owned()),
            Err(error) => Err(error.message().to_string()),
        }
    }

    #[test]
    fn names_are_quoted_and_escaped() {
        for (encoding, name, expected) in [
            (Encoding::Text, &b"a b"[..], "a b"),
            (Encoding::Text, b"a\tb", "\"a\tb\""),
            (Encoding::Text, b"#a", "\"#a\""),
            (Encoding::Text, b"%a", "\"%a\""),
            (Encoding::Csv, b"// a", "\"// a\""),
            (Encoding::Text, b"\"a", "\"\"\"a\""),
            (Encoding::Csv, b"a,b", "\"a,b\""),
            (Encoding::Json, b"a\"\n", "\"a\\\"\\n\""),
            (Encoding::Pajek, b"a \\b", "\"a \\b\""),
            (Encoding::Xml, b"a & b", "a &amp; b"),
            (Encoding::Xml, "<\u{e9}>\t\"\n".as_bytes(), "&lt;\u{e9}&gt;&#9;&quot;&#10;"),
        ] {
            assert_eq!(put(encoding, name).as_deref(), Ok(expected), "{encoding:?}");
        }
        for (encoding, name) in [
            (Encoding::Xml, &b"a\x01"[..]),
            (Encoding::Xml, b"\xFF"),
            (Encoding::Xml, "\u{FFFE}".as_bytes()),
            (Encoding::Json, b"\xFF"),
            (Encoding::Pajek, b"a\nb"),
            (Encoding::Pajek, b"a\"b"),
            (Encoding::Pajek, b"ab\\"),
        ] {
            let message = put(encoding, name).unwrap_err();
            let shown = name.escape_ascii().to_string();
            assert!(message.contains("`out`") && message.contains(&shown), "{message}");
        }
    }
}
