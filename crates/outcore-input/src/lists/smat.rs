//! SMAT, sparse matrices of Gleich's tools: `rows columns entries`, then lines `row column value`, numbered from 0. Every
//! row is a node. Source: the documentation of `bvgraph` and `gaimc`.

use super::edges::{ListEdges, Progress, WeightText};
use super::words::{Words, fields, lines, whole_number};

const HEADER: &str = "expected `ROWS COLUMNS ENTRIES`";

/// Returns whether the first line has three whole numbers.
pub(super) fn is_matrix(head: &[u8]) -> bool {
    let is_header =
        |line| fields(line).count() == 3 && fields(line).all(|word| whole_number(word).is_some());
    lines(head, b"").next().is_some_and(is_header)
}

pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let has_header = words.next_line(None)?;
    let Some(rows) = words.number().filter(|_| has_header) else {
        return words.fail("number of rows cannot be read", HEADER);
    };
    if words.next_number(HEADER)? != rows {
        let message = format!(
            "matrix is rectangular: its {rows} rows and its columns are nodes of two kinds"
        );
        return words.fail(&message, "expected as many rows as columns");
    }
    let nodes = 0..rows;
    edges.push_declared(words, nodes.clone())?;
    edges.tally.declared_edges = Some(words.next_number(HEADER)?);
    words.end_line()?;
    while words.next_line(None)? {
        edges.begin(words.node(&nodes)?);
        words.require("entry has no column", "expected `ROW COLUMN VALUE`")?;
        let target = words.node(&nodes)?;
        words.require("entry has no value", "expected `ROW COLUMN VALUE`")?;
        edges.push(words, target, Some(WeightText::of(words)))?;
        words.end_line()?;
    }
    edges.check_declared(words, false)?;
    Ok(())
}
