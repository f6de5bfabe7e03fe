//! SIF (Simple Interaction Format): `source relation target...`, or a node alone. A line with a tab is split at tabs
//! only, others at spaces. Relations are read together. Source: the manual of Cytoscape 3, section 5.1.1.

use super::edges::{ListEdges, Progress};
use super::words::{Words, fields, lines};

/// Returns whether the first line has one name, or at least three.
pub(super) fn is_network(head: &[u8]) -> bool {
    let count = |line: &[u8]| match line.contains(&b'\t') {
        true => line.split(|&byte| byte == b'\t').count(),
        false => fields(line).count(),
    };
    lines(head, b"").next().is_some_and(|line| count(line) != 2)
}

pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    words.tabs_win = true;
    while words.next_line(None)? {
        edges.begin(words.word());
        if !words.next_in_line()? {
            edges.push_alone(words)?;
            continue;
        }
        words.require("relation has no target", "expected `SOURCE RELATION TARGET`")?;
        loop {
            edges.push(words, words.word(), None)?;
            if !words.next_in_line()? {
                break;
            }
        }
    }
    Ok(())
}
