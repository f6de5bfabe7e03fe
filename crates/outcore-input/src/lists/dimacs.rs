//! Graphs of the DIMACS challenges: `p KIND nodes edges`, then one edge per line. `p edge` and `p col` (coloring) have
//! `e u v`, `p sp` (shortest paths) and `p max` (flows) arcs `a u v weight`, the problems of PACE plain `u v`. The
//! numbers from 1 to that of the nodes are nodes. Comments begin with `c`; lines about single nodes (`n`, `d`, `v`, `x`)
//! are not read. Sources: "Clique and coloring problems graph format" (DIMACS, 1993), the ninth DIMACS challenge (2006),
//! PACE (2016 to 2022).

use super::edges::{ListEdges, Progress, WeightText};
use super::words::{Words, fields, lines, whole_number};
use std::ops::Range;

/// Problems, and how their edges are written.
const PROBLEMS: [(&[u8], Edges); 14] = [
    (b"edge", Edges::Plain(b"e")),
    (b"edges", Edges::Plain(b"e")),
    (b"col", Edges::Plain(b"e")),
    (b"clq", Edges::Plain(b"e")),
    (b"sp", Edges::Arcs),
    (b"max", Edges::Arcs),
    (b"tw", Edges::Plain(b"")),
    (b"cep", Edges::Plain(b"")),
    (b"vc", Edges::Plain(b"")),
    (b"ds", Edges::Plain(b"")),
    (b"td", Edges::Plain(b"")),
    (b"cnf", Edges::Refused("file is a formula, not a graph")),
    (b"min", Edges::Refused("arcs have a capacity and a cost, neither of which is a weight")),
    (b"asn", Edges::Refused("file is an assignment problem between two kinds of nodes")),
];
const EXPECTED: &str =
    "expected `p edge`, `p col`, `p sp` or `p max`, and the numbers of nodes and edges";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edges {
    /// One of these letters, if there are any, and two nodes.
    Plain(&'static [u8]),
    /// `a`, two nodes and a weight.
    Arcs,
    /// Cannot be read: why.
    Refused(&'static str),
}

fn problem(word: &[u8]) -> Option<Edges> {
    PROBLEMS.iter().find(|(name, _)| *name == word).map(|(_, edges)| *edges)
}

/// Returns whether these are the first bytes of a graph: a problem line, then a line of its data or nothing.
pub(super) fn is_graph(head: &[u8]) -> bool {
    let is_data =
        |line: &&[u8]| !(line.starts_with(b"c ") || line.starts_with(b"c\t") || *line == b"c");
    let mut lines = lines(head, b"").filter(is_data);
    let words: Vec<&[u8]> =
        lines.next().map(|line| fields(line).take(5).collect()).unwrap_or_default();
    let [b"p", kind, nodes, edges] = words[..] else { return false };
    let is_line = |line| {
        let word: &[u8] = fields(line).next().unwrap_or_default();
        matches!(word, b"e" | b"a" | b"n" | b"d" | b"v" | b"x")
            || word.first().is_some_and(u8::is_ascii_digit)
    };
    let are_numbers = [nodes, edges].iter().all(|word| whole_number(word).is_some());
    problem(kind).is_some() && are_numbers && lines.next().is_none_or(is_line)
}

pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    if !words.next_line(Some(b'c'))? || words.word() != b"p" {
        return words.fail("file has no line `p`", EXPECTED);
    }
    words.require("problem is missing", EXPECTED)?;
    let form = match problem(words.word()) {
        None => return words.fail("problem is not known", EXPECTED),
        Some(Edges::Refused(message)) => return words.fail(message, EXPECTED),
        Some(form) => form,
    };
    let nodes = 1..words.next_number(EXPECTED)?.saturating_add(1);
    edges.push_declared(words, nodes.clone())?;
    edges.tally.declared_edges = Some(words.next_number(EXPECTED)?);
    words.end_line()?;
    edges.undirected = form != Edges::Arcs;
    let letter = if let Edges::Plain(letter) = form { letter } else { b"a" };
    while words.next_line(Some(b'c'))? {
        if matches!(words.word(), b"n" | b"d" | b"v" | b"x") {
            words.skip_line()?;
            continue;
        }
        if !letter.is_empty() {
            if words.word() != letter {
                let expected = format!("expected `{}`", letter.escape_ascii());
                return words.fail("line is not an edge", &expected);
            }
            words.require("edge is missing", "expected two nodes")?;
        }
        read_edge(words, edges, &nodes, form)?;
    }
    // Some files of coloring problems have each edge twice, or count it twice.
    edges.check_declared(words, form != Edges::Arcs)?;
    Ok(())
}

/// Reads the rest of a line, whose first node was read.
fn read_edge(
    words: &mut Words,
    edges: &mut ListEdges<'_>,
    nodes: &Range<u64>,
    form: Edges,
) -> Progress {
    edges.begin(words.node(nodes)?);
    words.require("edge has one node", "expected another one")?;
    let target = words.node(nodes)?;
    let has_weight = words.next_in_line()?;
    if has_weight && form == Edges::Arcs {
        edges.push(words, target, Some(WeightText::of(words)))?;
        return Ok(words.end_line()?);
    }
    match form {
        Edges::Arcs => words.fail("weight is missing", "expected a number"),
        _ if has_weight => {
            words.fail("edge has more than two nodes", "expected the end of the line")
        }
        _ => edges.push(words, target, None),
    }
}
