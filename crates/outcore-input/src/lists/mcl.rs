//! Matrices of mcl, as `mcxload` writes them: after `(mclmatrix` and `begin`, each node followed by its entries
//! `node:weight` and `$`. Prose may come before it. Source: the manual page `mcxio` of mcl 22-282. A missing weight is 1; a node that the matrix
//! does not mention is not in the graph. Matrices in mcl's binary form are not supported.

use super::edges::{ListEdges, Progress, WeightText};
use super::words::{Token, Words, whole_number};
use outcore_io::error::Result;

const SECTION_ENDS: &str = "expected the section to end with `)`";

/// Returns whether these are the first bytes of a matrix.
pub(super) fn begins_matrix(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_start);
    lines.any(|line| line.starts_with(b"(mclheader") || line.starts_with(b"(mclmatrix"))
}

/// Reads a matrix.
pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let mut nodes = None;
    let mut is_prose = true;
    loop {
        if !next_word(words)? {
            return words
                .fail("file has no matrix", "expected a line that begins with `(mclmatrix`");
        }
        is_prose &= !words.word().starts_with(b"(mcl");
        match words.word() {
            b"(mclheader" => nodes = read_header(words)?,
            b"(mclmatrix" => break,
            word if word.starts_with(b"(mcl") => {
                // Domains: node numbers may have gaps and may be larger.
                while !is_end(words, b")")? {}
                nodes = None;
            }
            _ if is_prose => words.skip_line()?,
            _ => {
                return words.fail("no matrix section begins here", "expected `(mcl...`");
            }
        }
    }
    if !next_word(words)? || words.word() != b"begin" {
        return words.fail("matrix does not begin", "expected `begin`");
    }
    while !is_end(words, b")")? {
        let Some((node, _)) = entry(words.word()) else {
            return words.fail("node is not a number", "expected a whole number, or `)`");
        };
        check(words, node, nodes)?;
        edges.begin(node);
        while !is_end(words, b"$")? {
            let Some((target, weight)) = entry(words.word()) else {
                let expected = "expected `NUMBER` or `NUMBER:WEIGHT`, or `$`";
                return words.fail("entry of the matrix cannot be read", expected);
            };
            check(words, target, nodes)?;
            edges.push_listed(words, target, weight)?;
        }
        edges.push_if_alone(words)?;
    }
    if next_word(words)? {
        return words.fail("text follows the matrix", "expected the end of the file");
    }
    Ok(())
}

/// Reads the header; returns the number of nodes, if it gives it.
fn read_header(words: &mut Words) -> Result<Option<u64>> {
    let mut nodes = None;
    while !is_end(words, b")")? {
        let is_type = words.word() == b"mcltype";
        if !is_type && words.word() != b"dimensions" || is_end(words, b")")? {
            continue;
        }
        if is_type && words.word() != b"matrix" {
            return words.fail("file is not the matrix of a graph", "expected `matrix`");
        } else if !is_type {
            let mut sides = words.word().split(|&byte| byte == b'x').map(whole_number);
            let (rows, columns) = (sides.next().flatten(), sides.next().flatten());
            if rows.is_none() || rows != columns {
                let message =
                    "matrix is rectangular: a clustering, or edges between two kinds of nodes";
                return words.fail(message, "expected as many rows as columns");
            }
            nodes = rows;
        }
    }
    Ok(nodes)
}

fn check(words: &Words, node: u64, nodes: Option<u64>) -> Result<()> {
    match nodes {
        Some(nodes) if node >= nodes => {
            let expected = format!("node numbers are below {nodes}");
            words.fail("node does not exist", &expected)
        }
        _ => Ok(()),
    }
}

/// Parses `NUMBER` or `NUMBER:WEIGHT`; returns the number, and the weight if there is one.
fn entry(word: &[u8]) -> Option<(u64, Option<WeightText<'_>>)> {
    match memchr::memchr(b':', word) {
        None => whole_number(word).map(|number| (number, None)),
        Some(at) => {
            let weight = WeightText { text: &word[at + 1..], from: at + 1 };
            whole_number(&word[..at]).map(|number| (number, Some(weight)))
        }
    }
}

/// Moves to the next word and returns whether it is `end`. It is an error if the file ends.
pub(super) fn is_end(words: &mut Words, end: &[u8]) -> Result<bool> {
    if !next_word(words)? {
        return words.fail("file ends too early", SECTION_ENDS);
    }
    Ok(words.word() == end)
}

/// Moves to the next word that is not part of a comment; returns `false` at the end of the file.
pub(super) fn next_word(words: &mut Words) -> Result<bool> {
    loop {
        match words.next()? {
            Token::End => return Ok(false),
            Token::LineEnd => {}
            Token::Word if words.word().starts_with(b"#") => words.skip_line()?,
            Token::Word => return Ok(true),
        }
    }
}
