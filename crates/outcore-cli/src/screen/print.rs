//! Results on standard output.

use super::render::printable_lines;
use outcore::{Error, ErrorKind, Result};
use std::io::Write;
use std::path::Path;

/// Prints bytes.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(|e| Error::io("write", Path::new("-"), e))
}

/// Prints a text, with control characters escaped; JSON has escaped them already.
pub(crate) fn print_text(text: String, is_json: bool) -> Result<()> {
    let text = if is_json { text } else { printable_lines(&text) };
    print(text.as_bytes())
}

/// Formats a report as JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Error::new(ErrorKind::Io, format!("cannot write JSON: {e}")))?;
    Ok(text + "\n")
}
