//! SMAT, sparse matrices of Gleich's tools: `rows columns entries`, then lines `row column value`, numbered from 0. Every
//! row is a node. Source: the documentation of `bvgraph` and `gaimc`.

use super::edges::{ListEdges, WeightText};
use super::words::{Words, whole_number};
use super::{fields, lines};
use crate::error::{Error, ErrorKind, Result};
use crate::units::format_count;

const HEADER: &str = "expected `ROWS COLUMNS ENTRIES`";

/// Returns whether the first line has three whole numbers.
pub(super) fn is_matrix(head: &[u8]) -> bool {
    let is_header =
        |line| fields(line).count() == 3 && fields(line).all(|word| whole_number(word).is_some());
    lines(head, b"").next().is_some_and(is_header)
}

pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Result<bool> {
    words.next_line(None)?;
    let rows = number(words, HEADER)?;
    words.require("matrix has no number of columns", HEADER)?;
    if number(words, HEADER)? != rows {
        let message = format!(
            "matrix is rectangular: {rows} rows are nodes of another kind than its columns"
        );
        return Err(words.error(&message, "expected as many rows as columns"));
    }
    if !edges.push_declared(words, 0..rows)? {
        return Ok(false);
    }
    words.require("matrix has no number of entries", HEADER)?;
    let declared = number(words, HEADER)?;
    edges.declared_edges = Some(declared);
    words.end_line()?;
    while words.next_line(None)? {
        edges.begin(row(words, rows)?);
        words.require("entry has no column", "expected `ROW COLUMN VALUE`")?;
        let target = row(words, rows)?;
        words.require("entry has no value", "expected `ROW COLUMN VALUE`")?;
        if !edges.push(words, target, Some(WeightText::of(words)))? {
            return Ok(false);
        }
        words.end_line()?;
    }
    if edges.entries == declared {
        return Ok(true);
    }
    let [found, declared] = [edges.entries, declared].map(format_count);
    let path = words.path().display();
    let message = format!("`{path}` declares {declared} entries, but has {found}");
    Err(Error::new(ErrorKind::BadInput, message)
        .hint("fetch the file again if it is cut off, or correct its first line"))
}

fn number(words: &Words, expected: &str) -> Result<u64> {
    words.number().ok_or_else(|| words.error("number cannot be read", expected))
}

fn row(words: &Words, rows: u64) -> Result<u64> {
    let number = words.number().filter(|number| *number < rows);
    number.ok_or_else(|| {
        words.error("row does not exist", &format!("expected 0 to {}", rows.saturating_sub(1)))
    })
}
