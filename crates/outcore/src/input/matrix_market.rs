//! The head of a Matrix Market file: a banner, comments, and a line with the numbers of rows, columns and entries.
//! What follows are lines of edges, so this only says whether they are those of a graph, and how many.
//!
//! <https://math.nist.gov/MatrixMarket/formats.html>

use super::format::bad_input;
use super::{EdgeFormat, InputOptions};
use crate::error::{Error, ErrorKind, Result};
use std::path::Path;

const BANNER: &[u8] = b"%%matrixmarket";

/// Whether a file that begins with these bytes has a banner, and is to be read as it says.
///
/// # Errors
/// `BadInput` for a matrix that is no list of edges; `Usage` if half of its edges would be lost.
pub(super) fn is_matrix(start: &[u8], path: &Path, options: &InputOptions) -> Result<bool> {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let banner = line.to_ascii_lowercase();
    let is_asked = options.format != EdgeFormat::Lines && options.comment == b"#";
    if !is_asked || !banner.starts_with(BANNER) {
        return Ok(false);
    }
    let banner = String::from_utf8_lossy(&banner);
    let words: Vec<&str> = banner.split_ascii_whitespace().skip(1).collect();
    let [object, form, field, symmetry] = words[..] else {
        return Err(bad_input(path, "begins with half of a Matrix Market banner")
            .note("it should go on with `matrix coordinate real general`, or the like")
            .hint("write the file again, or use `--format lines --header yes`"));
    };
    if (object, form) != ("matrix", "coordinate") || field == "complex" {
        let message = format!("holds `{object} {form} {field}`, which is no list of edges");
        return Err(bad_input(path, &message)
            .hint("write it as `matrix coordinate` with `real`, `integer` or `pattern` entries"));
    }
    if symmetry != "general" && options.directed {
        let message = format!(
            "`{}` is {symmetry}: it has one of two entries, and `--directed` would lose the other",
            path.display()
        );
        return Err(Error::new(ErrorKind::Usage, message).hint("leave `--directed` out"));
    }
    Ok(true)
}

/// The number of entries, from the first line that is no comment.
///
/// # Errors
/// `BadInput` if it tells no square matrix.
pub(super) fn entries(line: &[u8], path: &Path) -> Result<u64> {
    let line = String::from_utf8_lossy(line);
    let numbers = line.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
    let numbers: Option<Vec<u64>> = numbers.collect();
    match numbers.as_deref() {
        Some(&[rows, columns, entries]) if rows == columns => Ok(entries),
        Some(&[rows, columns, _]) => {
            let message = format!("has {rows} rows and {columns} columns");
            Err(bad_input(path, &message)
                .note("a graph has as many: rows and columns are its nodes")
                .hint(
                    "use `--format lines --header yes` to read its entries as edges all the same",
                ))
        }
        _ => {
            let shown: String = line.chars().take(60).collect();
            let message = format!("tells no size: `{}`", shown.escape_default());
            Err(bad_input(path, &message)
                .note("after the banner of a Matrix Market file come rows, columns and entries")
                .hint("write the file again, or use `--format lines --header yes`"))
        }
    }
}

/// The error for a file that has another number of entries than it says.
pub(super) fn other_count(path: &Path, told: u64, found: u64) -> Error {
    let [told, found] = [told, found].map(crate::units::format_count);
    bad_input(path, &format!("tells {told} entries, but has {found}"))
        .hint("fetch or write the file again; it may have been cut off")
}
