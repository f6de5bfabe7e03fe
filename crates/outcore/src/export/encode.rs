//! Names as the formats write them: quoted, escaped, or refused by name.

use crate::error::{Error, ErrorKind, Result};
use crate::output::{put_csv_name, put_text_name, text_of};
use std::path::Path;

/// How a format writes a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
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
    pub(super) fn put(self, name: &[u8], output: &Path, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Text => put_text_name(name, out),
            Self::Csv => put_csv_name(name, out),
            Self::Json => {
                // Writing to a vector cannot fail.
                let _ = serde_json::to_writer(out, text_of(output, name)?);
            }
            Self::Utf8 => out.extend_from_slice(text_of(output, name)?.as_bytes()),
            Self::Pajek => put_pajek(name, output, out)?,
            Self::Xml => put_xml(text_of(output, name)?, output, out)?,
        }
        Ok(())
    }
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
    Error::new(ErrorKind::BadInput, message)
        .hint("write text, which takes any bytes: use a name that ends in .tsv or .csv")
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
