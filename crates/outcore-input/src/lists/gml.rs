//! GML: nested lists of keys and values, `graph [ node [ id 1 ] edge [ source 1 target 2 weight 3 ] ]`. Source:
//! Himsolt, "GML: A portable graph file format" (1997). Nodes are named by their `label` or `name`
//! as [`labels`](super::labels) says, otherwise by their ids. The weight is `weight` or the number `value`, otherwise 1. Other keys, at any depth, are
//! not read.

use super::edges::{Declared, ListEdges, Progress, WeightText};
use super::words::{Words, fields, lines};
use outcore_io::error::Result;
use std::borrow::Cow;

const CUT: &str = "expected the list to end with `]`";
/// Keys of nodes and edges that are read.
const KEYS: [&[u8]; 7] = [b"id", b"source", b"target", b"weight", b"value", b"label", b"name"];
/// Number of keys of edges; those after them are of nodes.
const OF_EDGES: usize = 5;
/// Keys that a file may begin with.
const FIRST_KEYS: [&[u8]; 6] =
    [b"graph", b"graph[", b"creator", b"version", b"comment", b"directed"];

/// Returns whether the text begins with a key of GML, and has a line that begins a graph.
pub(super) fn is_graph(head: &[u8]) -> bool {
    let first = lines(head, b"#").next().and_then(|line| fields(line).next()).unwrap_or_default();
    let is_key = FIRST_KEYS.iter().any(|key| key.eq_ignore_ascii_case(first));
    let begins = |at: &usize| {
        let is_first = head[..*at].trim_ascii_end().is_empty() || head[at - 1] == b'\n';
        let list = head[at + b"graph".len()..].trim_ascii_start().strip_prefix(b"[");
        is_first
            && list.is_some_and(|list| list.first().is_none_or(|next| b" \t\r\n]".contains(next)))
    };
    is_key && memchr::memmem::find_iter(head, b"graph").any(|at| begins(&at))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GmlItem {
    Open,
    Close,
    /// Key or number.
    Word,
    /// Text in quotes.
    Text,
    End,
}

fn next(words: &mut Words) -> Result<GmlItem> {
    loop {
        let byte = words.peek()?;
        words.begin_word();
        match byte {
            None => return Ok(GmlItem::End),
            Some(byte) if byte.is_ascii_whitespace() => words.advance(1),
            Some(b'#') => words.skip_line()?,
            Some(byte @ (b'[' | b']')) => {
                words.advance(1);
                return Ok(if byte == b'[' { GmlItem::Open } else { GmlItem::Close });
            }
            Some(b'"') => {
                words.advance(1);
                words.peek()?;
                words.begin_word();
                if words.take_lines_until(|byte| byte == b'"')? != Some(b'"') {
                    return words.fail("quote is not closed", "expected `\"` within 64 KiB");
                }
                words.advance(1);
                return Ok(GmlItem::Text);
            }
            Some(_) => {
                words.take_until(|byte| byte.is_ascii_whitespace() || b"[]\"".contains(&byte))?;
                return Ok(GmlItem::Word);
            }
        }
    }
}

/// Moves to the next key of a list; returns `false` at its end.
fn next_key(words: &mut Words) -> Result<bool> {
    match next(words)? {
        GmlItem::Word => Ok(true),
        GmlItem::Close => Ok(false),
        GmlItem::End => words.fail("file ends too early", CUT),
        GmlItem::Open | GmlItem::Text => words.fail("key is missing", "expected a word"),
    }
}

fn open(words: &mut Words) -> Result<()> {
    match next(words)? {
        GmlItem::Open => Ok(()),
        _ => words.fail("list does not begin", "expected `[`"),
    }
}

/// Moves over a value. Graphs inside nodes are refused.
fn skip_value(words: &mut Words) -> Result<()> {
    let is_graph = words.word() == b"graph";
    let mut depth = 0u64;
    loop {
        match next(words)? {
            GmlItem::Open if is_graph => {
                return words.fail("graphs are nested", "expected one graph");
            }
            GmlItem::Open => depth += 1,
            GmlItem::Close if depth == 0 => {
                return words.fail("value is missing", "expected one");
            }
            GmlItem::Close => depth -= 1,
            GmlItem::End => return words.fail("file ends too early", CUT),
            GmlItem::Word | GmlItem::Text => {}
        }
        if depth == 0 {
            return Ok(());
        }
    }
}

/// Values of [`KEYS`] of a node or an edge.
#[derive(Default)]
struct GmlRecord {
    values: [Vec<u8>; KEYS.len()],
    given: [bool; KEYS.len()],
}

impl GmlRecord {
    fn read(&mut self, words: &mut Words, edges: &mut ListEdges<'_>, is_edge: bool) -> Result<()> {
        self.given = Default::default();
        open(words)?;
        while next_key(words)? {
            let known = KEYS.iter().position(|key| *key == words.word());
            let Some(key) = known.filter(|&key| key < OF_EDGES || !is_edge) else {
                skip_value(words)?;
                continue;
            };
            let item = next(words)?;
            if !matches!(item, GmlItem::Word | GmlItem::Text) {
                return words.fail("value is missing", "expected a number or a text in quotes");
            }
            // A `value` that is text in quotes is not a weight.
            self.given[key] = key != 4 || item == GmlItem::Word;
            if is_edge && key >= 3 && self.given[key] {
                edges.check_weight(words, WeightText::of(words))?;
            }
            words.copy_to(&mut self.values[key]);
        }
        Ok(())
    }

    fn get(&self, words: &Words, key: usize) -> Result<&[u8]> {
        if self.given[key] {
            return Ok(&self.values[key]);
        }
        let key = KEYS[key].escape_ascii();
        words.fail(&format!("`{key}` is missing"), &format!("expected `{key}` before this"))
    }
}

pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let mut has_graph = false;
    loop {
        match next(words)? {
            GmlItem::End if has_graph => return Ok(()),
            GmlItem::End => return words.fail("file has no graph", "expected `graph [`"),
            GmlItem::Word if words.word().eq_ignore_ascii_case(b"graph") => {
                if has_graph {
                    return words.fail("file has several graphs", "expected one");
                }
                open(words)?;
                has_graph = true;
                read_graph(words, edges)?;
            }
            GmlItem::Word => skip_value(words)?,
            _ => return words.fail("key is missing", "expected `graph [`"),
        }
    }
}

/// Returns a text without entities such as `&amp;`.
fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    let plain = str::from_utf8(text).ok().and_then(|text| quick_xml::escape::unescape(text).ok());
    match plain {
        Some(Cow::Owned(plain)) => Cow::Owned(plain.into_bytes()),
        _ => Cow::Borrowed(text),
    }
}

fn read_graph(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    edges.undirected = true;
    edges.declared = Some(Declared::default());
    let mut record = GmlRecord::default();
    while next_key(words)? {
        match words.word() {
            b"node" => {
                record.read(words, edges, false)?;
                let label = (OF_EDGES..KEYS.len()).find(|&key| record.given[key]);
                let label = label.map(|key| unescaped(&record.values[key]));
                edges.declare(words, record.get(words, 0)?, label.as_deref())?;
            }
            b"edge" => {
                record.read(words, edges, true)?;
                edges.begin(record.get(words, 1)?);
                let weight = (3..5).find(|&key| record.given[key]);
                let weight = weight.map(|key| WeightText { text: &record.values[key], from: 0 });
                edges.push(words, record.get(words, 2)?, weight)?;
            }
            b"directed" => {
                next(words)?;
                edges.undirected = words.word() != b"1";
                if edges.tally.entries > 0 {
                    return words.fail("`directed` follows an edge", "expected it before edges");
                }
            }
            _ => skip_value(words)?,
        }
    }
    Ok(())
}
