//! Networks of Pajek: prose, then sections that begin with `*`. `*Vertices n` makes the numbers 1 to n nodes, whether
//! or not they have edges; `*Arcs` and `*Edges` have one edge per line, `*Arcslist` and `*Edgeslist` a node and its
//! neighbors. Source: the manual of Pajek 5, section 5.3, and Infomap's `*Links` and `*Bipartite`. Two kinds of nodes
//! (`*Vertices n m`: the first m are one) have names with their kind. Labels are
//! names as [`labels`](super::labels) says. Relations (`*Arcs :2 "likes"`) are read together. A missing
//! weight is 1; partitions, vectors and the like after the network are not read.

use super::edges::{ListEdges, Progress, WeightText};
use super::words::{Words, fields, lines, whole_number};
use crate::text::number::parsed;
use outcore_io::error::Result;
use std::ops::Range;

const BIPARTITE: &[u8] = b"*bipartite";
/// Sections, in lower case, and what their lines are.
const SECTIONS: [(&[u8], Section); 15] = [
    (b"*network", Section::Network),
    (b"*vertices", Section::Vertices),
    (b"*arcs", Section::Pairs { undirected: false }),
    (b"*links", Section::Pairs { undirected: false }),
    (b"*edges", Section::Pairs { undirected: true }),
    (BIPARTITE, Section::Pairs { undirected: true }),
    (b"*arcslist", Section::Lists { undirected: false }),
    (b"*edgeslist", Section::Lists { undirected: true }),
    (b"*matrix", Section::Refused),
    (b"*states", Section::Refused),
    (b"*partition", Section::Other),
    (b"*vector", Section::Other),
    (b"*permutation", Section::Other),
    (b"*cluster", Section::Other),
    (b"*hierarchy", Section::Other),
];
const EXPECTED: &str = "expected `*Arcs`, `*Edges`, `*Arcslist` or `*Edgeslist`: save matrices, layers and states as edges";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Network,
    Vertices,
    Pairs {
        undirected: bool,
    },
    Lists {
        undirected: bool,
    },
    /// Does not belong to the network.
    Other,
    Refused,
}

fn section(word: &[u8]) -> Option<Section> {
    SECTIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, section)| *section)
}

/// Returns whether these are the first bytes of a network, after prose.
pub(super) fn is_network(head: &[u8]) -> bool {
    let lines = lines(head, b"%");
    let first = lines.clone().next().and_then(|line| section(fields(line).next()?));
    let is_vertices = |line: &[u8]| {
        let mut words = fields(line);
        let is_vertices = words.next().and_then(section) == Some(Section::Vertices);
        is_vertices && words.next().is_some_and(|count| whole_number(count).is_some())
    };
    let is_prose = |line: &&[u8]| line.starts_with(b"*") || !line.contains(&b'\t');
    first.is_some_and(|section| section != Section::Other)
        || lines.clone().next().is_some_and(is_unknown_section)
        || lines.take_while(is_prose).any(is_vertices)
}

/// Returns whether a line begins a section that is not known: `*` and letters, alone or before numbers. An edge has a
/// second name.
fn is_unknown_section(line: &[u8]) -> bool {
    let mut words = fields(line);
    let word = words.next().and_then(|word| word.strip_prefix(b"*")).unwrap_or_default();
    let is_word = !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic);
    is_word
        && section(&[b"*", word].concat()).is_none()
        && words.all(|word| whole_number(word).is_some())
        && !line.contains(&b'\t')
}

/// Returns the largest number of a node of the first kind, if there are two: `*Vertices 5 2`, or `*Bipartite 3`, where
/// the second kind begins.
pub(super) fn first_kind(head: &[u8]) -> Option<u64> {
    let mut all = 0;
    for line in lines(head, b"%").filter(|line| line.starts_with(b"*")) {
        let mut words = fields(line);
        let word = words.next().unwrap_or_default();
        let numbers = [words.next(), words.next()].map(|word| word.and_then(whole_number));
        let first = match numbers {
            [Some(count), first] if section(word) == Some(Section::Vertices) => {
                all = count;
                first
            }
            [Some(second), _] if word.eq_ignore_ascii_case(BIPARTITE) => second.checked_sub(1),
            _ => None,
        };
        if let Some(first) = first.filter(|first| (1..all).contains(first)) {
            return Some(first);
        }
    }
    None
}

pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    // Without a number of vertices, all numbers are nodes.
    let (mut now, mut nodes, mut has_edges) = (Section::Other, 1..u64::MAX, false);
    let mut has_vertices = false;
    while words.next_line(Some(b'%'))? {
        match now {
            _ if words.word().starts_with(b"*") => {
                match section(words.word()) {
                    Some(Section::Network) if has_vertices => {
                        return words.fail("file has several networks", "expected one");
                    }
                    // The number of values of a partition.
                    Some(Section::Vertices) if now == Section::Other && has_edges => {}
                    Some(Section::Vertices) => now = Section::Vertices,
                    // Prose.
                    None if !has_vertices
                        && !words.word().get(1).is_some_and(u8::is_ascii_alphabetic) => {}
                    None | Some(Section::Refused) => {
                        let found = words.word().escape_ascii();
                        return words.fail(&format!("section `{found}` cannot be read"), EXPECTED);
                    }
                    Some(found) => now = found,
                }
                if edges.first_kind.is_none() && words.word().eq_ignore_ascii_case(BIPARTITE) {
                    let expected = "expected `*Vertices n m`, where the first m nodes are one kind";
                    return words.fail("kinds of nodes are not known before the edges", expected);
                }
                if let Section::Pairs { undirected } | Section::Lists { undirected } = now {
                    (edges.undirected, has_edges) = (undirected, true);
                }
                if now == Section::Vertices {
                    nodes = 1..read_count(words, has_vertices)?.saturating_add(1);
                    has_vertices = true;
                    match &mut edges.labels {
                        Some(labels) => labels.declared_count = Some(nodes.end - 1),
                        None => edges.push_declared(words, nodes.clone())?,
                    }
                }
                words.skip_line()?;
            }
            Section::Pairs { .. } => read_pair(words, edges, &nodes)?,
            Section::Lists { .. } => {
                let source = words.node(&nodes)?;
                edges.begin(source);
                while words.next_in_line()? {
                    edges.push(words, target(words, edges, &nodes, source)?, None)?;
                }
            }
            Section::Vertices if edges.labels.is_some() => read_vertex(words, edges, &nodes)?,
            _ => words.skip_line()?,
        }
    }
    if !has_edges {
        return words.fail("network has no edges", "expected `*Arcs` or `*Edges`");
    }
    Ok(())
}

/// Reads the number of a vertex and its label, which may be in quotes.
fn read_vertex(words: &mut Words, edges: &mut ListEdges<'_>, nodes: &Range<u64>) -> Progress {
    // As without labels, a line of something else is left out.
    let Some(node) = words.number().filter(|node| nodes.contains(node)) else {
        return Ok(words.skip_line()?);
    };
    words.rest()?;
    let rest = words.word();
    let label = match rest.strip_prefix(b"\"") {
        Some(quoted) => memchr::memchr(b'"', quoted).map(|end| &quoted[..end]),
        None => fields(rest).next(),
    };
    // igraph escapes quotes and line ends, and others do not, so what a backslash means is not known.
    let label = label.filter(|label| !label.contains(&b'\\')).map(<[u8]>::to_vec);
    edges.declare(words, node, label.as_deref())
}

fn read_count(words: &mut Words, has_vertices: bool) -> Result<u64> {
    if has_vertices {
        return words.fail("file has several lists of vertices", "expected one network");
    }
    words.next_number("expected the number of vertices")
}

fn read_pair(words: &mut Words, edges: &mut ListEdges<'_>, nodes: &Range<u64>) -> Progress {
    let is_relation =
        words.word().strip_suffix(b":").is_some_and(|word| whole_number(word).is_some());
    if is_relation {
        words.require("edge is missing", "expected two nodes")?;
    }
    let source = words.node(nodes)?;
    edges.begin(source);
    words.require("edge has one node", "expected another one")?;
    let target = target(words, edges, nodes, source)?;
    if !words.next_in_line()? {
        return edges.push(words, target, None);
    }
    let weight = (!is_attribute(words.word())).then(|| WeightText::of(words));
    edges.push(words, target, weight)?;
    Ok(words.skip_line()?)
}

/// Returns the second node of an edge. If there are two kinds, it must be of the other kind.
fn target(words: &Words, edges: &ListEdges<'_>, nodes: &Range<u64>, source: u64) -> Result<u64> {
    let target = words.node(nodes)?;
    match edges.first_kind {
        Some(first) if (source <= first) == (target <= first) => {
            let expected = format!("expected one up to {first} and one above");
            words.fail("edge joins two nodes of one kind", &expected)
        }
        _ => Ok(target),
    }
}

/// Returns whether a word begins attributes of an edge (`c Red`, `[1-3]`), rather than being its weight.
fn is_attribute(word: &[u8]) -> bool {
    parsed::<f64>(word).is_none()
        && word.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"[\"".contains(byte))
}
