//! Head of a Matrix Market file: a banner, comments, and a line with the numbers of rows, columns and entries. The
//! lines that follow are read as edges, so this module only checks whether they are those of a graph, and how many
//! there are.
//!
//! <https://math.nist.gov/MatrixMarket/formats.html>

use super::bad_input;
use crate::error::opt::{DIRECTED, FORMAT, HEADER};
use crate::error::{Error, Result};
use crate::input::{EdgeFormat, InputOptions};
use std::path::Path;

const BANNER: &[u8] = b"%%matrixmarket";

/// Contents of a banner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Banner {
    /// Whether entries have a value.
    pub(crate) has_values: bool,
}

/// Size of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct MatrixSize {
    pub(crate) nodes: u64,
    pub(crate) entries: u64,
}

impl MatrixSize {
    /// Returns whether a name is an index: a number from 1 to the number of rows, without leading zeros.
    pub(crate) fn is_row(self, name: &[u8]) -> bool {
        let is_number = name[0] != b'0' && name.iter().all(u8::is_ascii_digit);
        let number = std::str::from_utf8(name).ok().and_then(|digits| digits.parse().ok());
        is_number && number.is_some_and(|number: u64| number <= self.nodes)
    }
}

/// Returns the banner of a file that begins with these bytes, if it has one and should be read accordingly.
///
/// # Errors
/// `BadInput` for a matrix that is not a list of edges; `Usage` if half of its edges would be lost.
pub(crate) fn banner(start: &[u8], path: &Path, options: &InputOptions) -> Result<Option<Banner>> {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let banner = line.to_ascii_lowercase();
    let is_asked = options.format != EdgeFormat::Lines && options.comment == b"#";
    if !is_asked || !banner.starts_with(BANNER) {
        return Ok(None);
    }
    let banner = String::from_utf8_lossy(&banner);
    let words: Vec<&str> = banner.split_ascii_whitespace().skip(1).collect();
    let [object, form, field, symmetry] = words[..] else {
        return Err(bad_input(path, "begins with an incomplete Matrix Market banner")
            .note("it should continue with `matrix coordinate real general`, or similar")
            .hint(format_args!(
                "write the file again, or use {}",
                FORMAT.of("lines").with(HEADER.of("yes"))
            )));
    };
    let is_known = ["real", "double", "integer", "pattern"].contains(&field);
    if (object, form) != ("matrix", "coordinate") || !is_known {
        let message = format!("holds `{object} {form} {field}`, which is not a list of edges");
        return Err(bad_input(path, &message)
            .hint("write it as `matrix coordinate` with `real`, `integer` or `pattern` entries"));
    }
    if !["general", "symmetric", "skew-symmetric", "hermitian"].contains(&symmetry) {
        let message =
            format!("has the unknown symmetry `{}` in its banner", symmetry.escape_default());
        return Err(bad_input(path, &message)
            .note("a matrix is `general`, `symmetric`, `skew-symmetric` or `hermitian`")
            .hint(format_args!(
                "write the file again, or use {}",
                FORMAT.of("lines").with(HEADER.of("yes"))
            )));
    }
    if symmetry != "general" && options.directed {
        return Err(Error::usage(format_args!(
            "`{}` is {symmetry}: it stores one of two entries, and {DIRECTED} would lose the other",
            path.display()
        ))
        .hint(format_args!("leave {DIRECTED} out")));
    }
    Ok(Some(Banner { has_values: field != "pattern" }))
}

/// Reads the numbers of nodes and entries from the first line that is not a comment.
///
/// # Errors
/// `BadInput` if it does not declare a square matrix.
pub(crate) fn size(line: &[u8], path: &Path) -> Result<MatrixSize> {
    let line = String::from_utf8_lossy(line);
    let numbers = line.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
    let numbers: Option<Vec<u64>> = numbers.collect();
    match numbers.as_deref() {
        Some(&[rows, columns, entries]) if rows == columns => {
            Ok(MatrixSize { nodes: rows, entries })
        }
        Some(&[rows, columns, _]) => {
            let message = format!("has {rows} rows and {columns} columns");
            Err(bad_input(path, &message)
                .note("the matrix of a graph is square: rows and columns are its nodes")
                .hint(format_args!(
                    "use {} to read its entries as edges anyway",
                    FORMAT.of("lines").with(HEADER.of("yes"))
                )))
        }
        _ => {
            let shown: String = line.chars().take(60).collect();
            let message = format!("has no valid size line: `{}`", shown.escape_default());
            Err(bad_input(path, &message)
                .note("the size line holds the numbers of rows, columns and entries")
                .hint(format_args!(
                    "write the file again, or use {}",
                    FORMAT.of("lines").with(HEADER.of("yes"))
                )))
        }
    }
}

/// Checks the number of entries that were found against the number that the file declares.
pub(crate) fn check_entries(size: MatrixSize, found: u64, path: &Path) -> Result<()> {
    if size.entries == found {
        return Ok(());
    }
    let [reported, found] = [size.entries, found].map(crate::units::format_count);
    Err(bad_input(path, &format!("declares {reported} entries, but has {found}"))
        .hint("fetch or write the file again; it may have been cut off"))
}
