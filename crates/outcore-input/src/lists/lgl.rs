//! LGL (Large Graph Layout): `# node`, then one line per neighbor, with a weight if all have one. Each edge is at one
//! of its nodes. Source: the README of LGL; igraph writes it. A node without neighbors is a node.

use super::edges::{ListEdges, Progress, WeightText};
use super::words::{Words, fields, lines};

/// Returns whether the first line is that of a node.
pub(super) fn is_graph(head: &[u8]) -> bool {
    lines(head, b"")
        .next()
        .is_some_and(|line| fields(line).next() == Some(b"#") && fields(line).count() == 2)
}

pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    edges.undirected = true;
    let (mut target, mut has_node) = (Vec::new(), false);
    while words.next_line(None)? {
        if words.word() == b"#" {
            words.require("node is missing", "expected its name")?;
            edges.begin(words.word());
            has_node = true;
            edges.push_alone(words)?;
            words.end_line()?;
            continue;
        }
        if !has_node {
            return words.fail("neighbor comes before the first node", "expected `# NODE`");
        }
        words.copy_to(&mut target);
        let has_weight = words.next_in_line()?;
        edges.require_alike(words, has_weight)?;
        let weight = has_weight.then(|| WeightText::of(words));
        edges.push(words, &target[..], weight)?;
        if has_weight {
            words.end_line()?;
        }
    }
    Ok(())
}
