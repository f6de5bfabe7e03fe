//! Lists as networkx writes them. Adjacency lists: a node and its neighbors per line. Multiline adjacency lists: a node
//! and the number of its neighbors, then a line for each. Edge lists: two nodes per line. The last two have data in
//! Python's notation, whose `'weight'` is the weight, otherwise 1, as in networkx. Every edge is there once. Comments
//! begin with `#`. Source: the reference of networkx 3, "Reading and writing graphs".

use super::edges::{ListEdges, Progress, WeightText};
use super::words::{Words, fields, lines, whole_number};
use std::ops::Range;

const COMMENT: Option<u8> = Some(b'#');

pub(super) fn read_adjacency(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    while words.next_line(COMMENT)? {
        edges.begin(words.word());
        let has_comma = words.word().contains(&b',');
        while words.next_in_line()? {
            if words.word().starts_with(b"#") {
                words.skip_line()?;
                continue;
            }
            edges.push(words, words.word(), None)?;
        }
        if edges.first.is_alone && has_comma {
            let message = "neighbors may be separated by commas";
            return words.fail(message, "expected spaces: write the list with spaces");
        }
        edges.push_if_alone(words)?;
    }
    Ok(())
}

/// Returns whether the text begins with the comments that networkx writes before adjacency lists.
pub(super) fn has_banner(head: &[u8]) -> bool {
    let comments = head.split(|&byte| byte == b'\n').take_while(|line| line.starts_with(b"#"));
    comments.take(100).any(|line| line.starts_with(b"# GMT "))
}

/// Returns whether the text begins with lines of a node and a number, followed by as many lines with data.
pub(super) fn is_multiline(head: &[u8]) -> bool {
    let mut lines = lines(head, b"#");
    let (mut left, mut has_data) = (0, false);
    for line in &mut lines {
        let count = fields(line).nth(1).and_then(whole_number);
        match (left, count) {
            (0, Some(count)) if fields(line).count() == 2 => left = count,
            (0, _) => return false,
            _ if has_dictionary(line, 1) => (left, has_data) = (left - 1, true),
            // The last line may be cut off.
            _ => break,
        }
    }
    has_data && lines.next().is_none()
}

pub(super) fn read_multiline(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let mut target = Vec::new();
    while words.next_line(COMMENT)? {
        edges.begin(words.word());
        let expected = "expected the number of neighbors";
        words.require("number of neighbors is missing", expected)?;
        let Some(count) = words.number() else {
            return words.fail("number of neighbors cannot be read", expected);
        };
        if count == 0 {
            edges.push_alone(words)?;
        }
        words.end_line()?;
        for found in 0..count {
            if !words.next_line(COMMENT)? {
                let message = format!("file ends after {found} of {count} neighbors");
                return words.fail(&message, "expected the next neighbor");
            }
            words.copy_to(&mut target);
            push_with_data(words, edges, &target)?;
        }
    }
    Ok(())
}

/// Returns whether the first line is an edge with data.
pub(super) fn is_edge_list(head: &[u8]) -> bool {
    lines(head, b"#").next().is_some_and(|line| has_dictionary(line, 2))
}

pub(super) fn read_edge_list(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let mut target = Vec::new();
    words.tabs_win = true;
    while words.next_line(COMMENT)? {
        edges.begin(words.word());
        words.require("edge has one node", "expected another one")?;
        words.copy_to(&mut target);
        push_with_data(words, edges, &target)?;
    }
    Ok(())
}

/// Adds an edge whose data are the rest of the line.
fn push_with_data(words: &mut Words, edges: &mut ListEdges<'_>, target: &[u8]) -> Progress {
    words.rest()?;
    let found = if words.word().is_empty() { Some(None) } else { weight_in(words.word()) };
    let Some(found) = found else {
        return words.fail("data of the edge cannot be read", "expected `{...}`");
    };
    let weight = found.map(|range| WeightText { from: range.start, text: &words.word()[range] });
    edges.push(words, target, weight)
}

/// Returns whether a line is this many names and a dictionary.
fn has_dictionary(line: &[u8], names: usize) -> bool {
    let Some(at) = memchr::memchr(b'{', line) else { return false };
    let (before, data) = line.split_at(at);
    let count = match before.contains(&b'\t') {
        true => {
            before.split(|&byte| byte == b'\t').filter(|name| !name.trim_ascii().is_empty()).count()
        }
        false => fields(before).count(),
    };
    count == names && before.ends_with(b" ") | before.ends_with(b"\t") && weight_in(data).is_some()
}

/// Finds the value of `'weight'` in a dictionary in Python's notation. Returns `None` if the text is not a dictionary.
fn weight_in(data: &[u8]) -> Option<Option<Range<usize>>> {
    let data = data.trim_ascii_end();
    let last = data
        .len()
        .checked_sub(1)
        .filter(|&last| last > 0 && data[0] == b'{' && data[last] == b'}')?;
    let (mut quote, mut depth, mut start, mut colon, mut found) = (None, 0u32, 1, None, None);
    let mut at = 1;
    while at <= last {
        match (quote, data[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, byte @ (b'\'' | b'"')) => quote = Some(byte),
            (None, b'{' | b'[' | b'(') => depth += 1,
            (None, b':') if depth == 0 && colon.is_none() => colon = Some(at),
            (None, b',' | b'}') if depth == 0 => {
                let is_last = at == last;
                if let Some(colon) = colon.take() {
                    if matches!(data[start..colon].trim_ascii(), b"'weight'" | b"\"weight\"") {
                        found = Some(trimmed(data, colon + 1..at));
                    }
                } else if !is_last || !data[start..at].trim_ascii().is_empty() {
                    return None;
                }
                if is_last {
                    return Some(found);
                } else if data[at] == b'}' {
                    return None;
                }
                start = at + 1;
            }
            (None, b'}' | b']' | b')') => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let value = &text[range.clone()];
    let before = value.len() - value.trim_ascii_start().len();
    range.start + before..range.start + before + value.trim_ascii().len()
}
