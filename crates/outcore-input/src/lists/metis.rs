//! METIS graphs: a header `nodes edges [format [weights per node]]`, then one line per node with its neighbors,
//! numbered from 1. Lines that begin with `%` are comments; a blank line is a node without neighbors. Source: the
//! manual of METIS 5.1, section 4.1.1. The tenth DIMACS challenge, KaHIP and METIS tools use the same format.

use super::edges::{ListEdges, MetisHeader, Progress, WeightText};
use super::words::{Token, Words, whole_number, without_mark};
use crate::decompress::Input;
use crate::fault::bad_input;
use outcore_io::error::opt::FORMAT;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::units::format_count;
use std::path::Path;

/// Bytes within which the header must be.
const HEADER_LIMIT: usize = 1 << 20;

/// Returns the header, without consuming anything.
pub(super) fn peek_header(input: &mut Input, path: &Path) -> Result<MetisHeader> {
    let mut wanted = 4096;
    loop {
        let (head, is_whole) = input.peek(wanted)?;
        let mut lines = without_mark(head).split_inclusive(|&byte| byte == b'\n');
        let line = lines.find(|line| !is_comment(line) && !line.trim_ascii().is_empty());
        match line {
            Some(line) if is_whole || line.ends_with(b"\n") => {
                return parse_header(line).ok_or_else(|| {
                    let line = String::from_utf8_lossy(&line[..line.len().min(60)]);
                    let message = format!(
                        "is read as a METIS graph, but `{}` is not its header",
                        line.trim().escape_default()
                    );
                    bad_input(path, &message)
                        .note("the header is the numbers of nodes and edges, and 001 if edges have weights")
                        .hint(format_args!("use {} if every line is an edge", FORMAT.of("lines")))
                });
            }
            None if is_whole => {
                return Err(bad_input(path, "is read as a METIS graph, but has no line")
                    .hint("check the file"));
            }
            _ if wanted >= HEADER_LIMIT => {
                let message = "is read as a METIS graph, but has no header in its first MiB";
                return Err(bad_input(path, message)
                    .hint(format_args!("use {} if every line is an edge", FORMAT.of("lines"))));
            }
            _ => wanted *= 4,
        }
    }
}

fn is_comment(line: &[u8]) -> bool {
    line.first() == Some(&b'%')
}

fn parse_header(line: &[u8]) -> Option<MetisHeader> {
    let words: Vec<&[u8]> =
        line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).collect();
    if !(2..=4).contains(&words.len()) {
        return None;
    }
    let format = words.get(2).copied().unwrap_or(b"0");
    let is_flags = format.len() <= 3 && format.iter().all(|flag| matches!(flag, b'0' | b'1'));
    let flag = |at: usize| format.iter().rev().nth(at) == Some(&b'1');
    let weights = match words.get(3) {
        None => u64::from(flag(1)),
        Some(word) => whole_number(word).filter(|_| flag(1))?,
    };
    is_flags.then_some(MetisHeader {
        nodes: whole_number(words[0])?,
        edges: whole_number(words[1])?,
        has_weights: flag(0),
        skipped: weights + u64::from(flag(2)),
    })
}

/// Reads the lines after the header.
pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let Some(header) = edges.metis else { unreachable!("METIS graphs have a header") };
    let arcs = if edges.options.directed { 2 } else { 1 };
    edges.tally.declared_edges = Some(header.edges.saturating_mul(arcs));
    skip_header(words)?;
    for node in 1..=header.nodes {
        edges.begin(node);
        if !read_line(words, edges, header)? {
            let [found, wanted] = [node - 1, header.nodes].map(format_count);
            let message = format!("file ends after {found} of {wanted} nodes");
            return words.fail(&message, "expected the neighbors of the next node");
        }
    }
    // Only blank lines and comments may follow.
    loop {
        match words.next()? {
            Token::End => break,
            Token::LineEnd => {}
            Token::Word if words.word().starts_with(b"%") => words.skip_line()?,
            Token::Word => {
                let message =
                    format!("line follows the last of {} nodes", format_count(header.nodes));
                return words.fail(&message, "expected the end of the file");
            }
        }
    }
    check_count(words, edges, header)?;
    Ok(())
}

/// Skips the header, which was parsed before.
fn skip_header(words: &mut Words) -> Result<()> {
    loop {
        match words.next()? {
            Token::LineEnd => {}
            Token::End => return Ok(()),
            Token::Word if words.word().starts_with(b"%") => words.skip_line()?,
            Token::Word => {
                words.skip_line()?;
                words.next()?;
                return Ok(());
            }
        }
    }
}

/// Reads the line of a node; returns `false` if there is none.
fn read_line(words: &mut Words, edges: &mut ListEdges<'_>, header: MetisHeader) -> Progress<bool> {
    let mut next = words.next()?;
    while next == Token::Word && words.word().starts_with(b"%") {
        words.skip_line()?;
        words.next()?;
        next = words.next()?;
    }
    if next == Token::End {
        return Ok(false);
    }
    for _ in 0..header.skipped {
        if next != Token::Word || words.number().is_none() {
            return words.fail("node has no weight", "expected a whole number");
        }
        next = words.next()?;
    }
    while next == Token::Word {
        let neighbor = words.number().filter(|number| (1..=header.nodes).contains(number));
        let Some(neighbor) = neighbor else {
            let message = "neighbor is not the number of a node";
            return words.fail(message, &format!("expected 1 to {}", header.nodes));
        };
        if header.has_weights && words.next()? != Token::Word {
            return words.fail("weight is missing", "expected a number");
        }
        let weight = header.has_weights.then(|| WeightText { text: words.word(), from: 0 });
        edges.push_listed(words, neighbor, weight)?;
        next = words.next()?;
    }
    edges.push_if_alone(words)?;
    Ok(true)
}

/// Checks the number of edges against the header, which may or may not count loops. With directions, it may be the
/// number of edges or of arcs.
fn check_count(words: &Words, edges: &ListEdges<'_>, header: MetisHeader) -> Result<()> {
    let both = &edges.both;
    let most = both.first + both.loops;
    let is_right = (both.first..=most).contains(&header.edges);
    if edges.options.directed || both.first != both.second || is_right {
        return Ok(());
    }
    let [found, reported] = [most, header.edges].map(format_count);
    let path = words.path().display();
    let message =
        format!("`{path}`: its header declares {reported} edges, but its lists have {found}");
    Err(Error::new(ErrorKind::BadInput, message)
        .hint("correct the second number of its header, or write the file again"))
}
