//! Readers of files of communities, each from words to nodes and their communities.

use super::super::edges::{ListEdges, Progress};
use super::super::mcl;
use super::super::words::{Token, Words, whole_number};
use super::fields::{Item, next_name};
use super::labels::columns_of_group;
use super::shape::{
    CLUSTERS_MARK, delimiter_of, is_cluster, is_comment, is_path, modules_of, starts_with,
};
use crate::Delimiter;
use crate::options::Rows;
use outcore_io::error::Result;

/// Reads a community per line. Names separated by single bytes may be quoted, as `--rows community` writes them.
pub(super) fn clusters(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let is_marked = words.next_window()?.starts_with(CLUSTERS_MARK.as_bytes());
    let found = delimiter_of(std::iter::once(words.next_window()?));
    let delimiter = if is_marked { Delimiter::Byte(b'\t') } else { found };
    of_lines(words, edges, &[delimiter], 0)
}

/// Reads a community per line, after its label.
pub(super) fn labelled(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let delimiter = delimiter_of(std::iter::once(words.next_window()?));
    // A colon ends the label, whatever separates the nodes.
    of_lines(words, edges, &[delimiter], 1)
}

/// Reads a table of OrthoFinder: in each column of a species, its genes between commas.
pub(super) fn groups(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    words.rest()?;
    let names: Vec<&[u8]> =
        words.word().split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii).collect();
    let columns = columns_of_group(&names);
    of_lines(words, edges, &[Delimiter::Byte(b'\t'), Delimiter::Byte(b',')], columns)
}

/// Reads a community per line, after this many columns.
fn of_lines(
    words: &mut Words,
    edges: &mut ListEdges<'_>,
    delimiters: &[Delimiter],
    labels: usize,
) -> Progress {
    let mut quoted = Vec::new();
    let (mut community, mut fields) = (0u64, 0);
    loop {
        if community == 0 && fields == 0 {
            skip_comments(words, edges)?;
        }
        match next_name(words, delimiters, &mut quoted)? {
            Item::End => return Ok(()),
            Item::LineEnd => {
                community += u64::from(fields > 0);
                fields = 0;
                continue;
            }
            Item::Word => edges.begin(words.word()),
            Item::Quoted => edges.begin(quoted.as_slice()),
        }
        fields += 1;
        if fields > labels {
            edges.push(words, community, None)?;
        }
    }
}

/// Reads a node and its path per line; its first modules are the community.
pub(super) fn levels(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let delimiter = &[delimiter_of(std::iter::once(words.next_window()?))][..];
    let mut quoted = Vec::new();
    let (mut is_first, mut has_header, mut flow) = (true, false, None);
    loop {
        if is_first {
            skip_comments(words, edges)?;
        }
        match next_name(words, delimiter, &mut quoted)? {
            Item::End => return Ok(()),
            Item::LineEnd => continue,
            Item::Word => {
                has_header |= is_first && words.word() == b"node";
                edges.begin(words.word());
            }
            Item::Quoted => edges.begin(quoted.as_slice()),
        }
        let item = next_name(words, delimiter, &mut quoted)?;
        if is_first {
            has_header &= item == Item::Word && words.word() == b"path";
        }
        if std::mem::take(&mut is_first) && has_header {
            flow = columns_to_flow(words, delimiter)?;
            continue;
        }
        if !matches!(item, Item::Word) || !is_path(words.word()) {
            return words
                .fail("line has no path", "expected numbers joined by colons, such as 3:0:5");
        }
        let path = words.word().to_vec();
        let columns = flow.filter(|_| takes_flow(edges)).unwrap_or(0);
        for _ in 0..columns {
            if next_name(words, delimiter, &mut quoted)? != Item::Word {
                return words.fail("line has no flow", "expected a number");
            }
        }
        push_of_path(words, edges, &path, columns > 0)?;
        // A header names what else there is.
        if has_header { words.skip_line()? } else { words.end_line()? }
    }
}

/// Reads the rest of a header; returns how many columns after the path the flow is.
fn columns_to_flow(words: &mut Words, delimiter: &[Delimiter]) -> Result<Option<usize>> {
    let (mut quoted, mut found) = (Vec::new(), None);
    for at in 1.. {
        match next_name(words, delimiter, &mut quoted)? {
            Item::End | Item::LineEnd => break,
            Item::Word if words.word() == b"flow" => found = Some(at),
            _ => {}
        }
    }
    Ok(found)
}

/// Returns whether the flow of nodes is read, rather than their path.
fn takes_flow(edges: &ListEdges<'_>) -> bool {
    edges.options.rows == Rows::Numbers && edges.options.community_level.is_none()
}

/// Adds the node with what is wanted of it: the word, if that is its flow; the number at a place of its path, if it has
/// one; otherwise the module of the wanted level.
fn push_of_path(words: &Words, edges: &mut ListEdges<'_>, path: &[u8], is_flow: bool) -> Progress {
    let level = edges.options.community_level;
    let value = match (edges.options.rows, level) {
        (Rows::Numbers, None) => is_flow.then(|| words.word().to_vec()),
        (Rows::Numbers, Some(place)) => {
            path.split(|&byte| byte == b':').nth(place as usize - 1).map(<[u8]>::to_vec)
        }
        _ => Some(path[..end_of(path, level.unwrap_or(1))].to_vec()),
    };
    value.map_or(Ok(()), |value| edges.push(words, value.as_slice(), None))
}

/// Moves to the end of the line if it is a comment.
fn skip_comments(words: &mut Words, edges: &ListEdges<'_>) -> Result<()> {
    let comment = edges.options.comment.as_deref().unwrap_or(b"#");
    let window = words.next_window()?;
    let line = &window[..memchr::memchr(b'\n', window).unwrap_or(window.len())];
    if is_comment(line.trim_ascii_end(), comment) { words.skip_line() } else { Ok(()) }
}

/// Reads the clusters of an mcl matrix: each cluster, the numbers of its nodes, and `$`.
pub(super) fn matrix(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    loop {
        if !mcl::next_word(words)? {
            return words.fail("file has no matrix", "expected `(mclmatrix`");
        }
        match words.word() {
            b"(mclmatrix" => break,
            word if word.starts_with(b"(mcl") => while !mcl::is_end(words, b")")? {},
            _ => return words.fail("no matrix section begins here", "expected `(mcl...`"),
        }
    }
    if !mcl::next_word(words)? || words.word() != b"begin" {
        return words.fail("matrix does not begin", "expected `begin`");
    }
    while !mcl::is_end(words, b")")? {
        let Some(cluster) = words.number() else {
            return words.fail("cluster is not a number", "expected a whole number, or `)`");
        };
        while !mcl::is_end(words, b"$")? {
            let Some(node) = words.number() else {
                let expected =
                    "expected the number of a node, or `$`: a matrix of weights is a graph";
                return words.fail("entry is not a node of a cluster", expected);
            };
            edges.begin(node);
            edges.push(words, cluster, None)?;
        }
    }
    Ok(())
}

/// Reads modules: after `*Vertices`, that of each node, which are numbered from 1; otherwise in the columns that a
/// comment names, as Infomap writes them.
pub(super) fn clu(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let mut columns = None;
    let mut declared = None;
    let mut node = 0u64;
    loop {
        match words.next()? {
            Token::End => break,
            Token::LineEnd => continue,
            Token::Word => {}
        }
        match words.word()[0] {
            b'%' => words.skip_line()?,
            b'#' => {
                let mut comment = words.word().to_vec();
                words.rest()?;
                comment.push(b' ');
                comment.extend_from_slice(words.word());
                columns = modules_of(&comment).or(columns);
            }
            b'*' if starts_with(words.word(), b"*partition") && declared.is_none() => {
                words.skip_line()?;
            }
            b'*' if starts_with(words.word(), b"*vertices") && declared.is_none() => {
                words.require("number of vertices is missing", "expected a whole number")?;
                declared = Some(number(words, "expected the number of vertices")?);
                words.end_line()?;
            }
            b'*' => {
                return words.fail("section is not of modules", "expected the end of the file");
            }
            _ => {
                if let Some(columns) = columns {
                    module_in(words, edges, columns)?;
                    continue;
                }
                node += 1;
                let module = number(words, "expected the number of a module")?;
                edges.begin(node);
                edges.push(words, module, None)?;
                words.end_line()?;
            }
        }
    }
    match declared {
        Some(count) if count != node => {
            let expected = format!("expected as many modules as vertices, {count}");
            words.fail(&format!("file ends after {node} modules"), &expected)
        }
        _ => Ok(()),
    }
}

/// Reads a line with the node and its module in these columns; its first word has been read.
fn module_in(words: &mut Words, edges: &mut ListEdges<'_>, [node, module]: [usize; 2]) -> Progress {
    let mut name = Vec::new();
    let mut found = None;
    for at in 0..=node.max(module) {
        if at > 0 {
            words.require("line has too few columns", "expected a node and its module")?;
        }
        if at == node {
            words.copy_to(&mut name);
        }
        if at == module {
            found = Some(number(words, "expected the number of a module")?);
        }
    }
    edges.begin(name.as_slice());
    edges.push(words, found.unwrap_or_default(), None)?;
    Ok(words.skip_line()?)
}

/// Reads the nodes of a tree of Infomap, up to its links.
pub(super) fn tree(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    while words.next_line(Some(b'#'))? {
        if words.word().starts_with(b"*") {
            // Links between modules follow.
            return Ok(());
        }
        let module = match memchr::memrchr(b':', words.word()) {
            Some(end) if is_path(words.word()) => words.word()[..end].to_vec(),
            _ => {
                let expected = "expected numbers joined by colons, such as 1:2:3";
                return words.fail("path of the node cannot be read", expected);
            }
        };
        words.require("line has no flow", "expected a number")?;
        let flow = takes_flow(edges).then(|| words.word().to_vec());
        words.rest()?;
        let rest = words.word();
        let name =
            rest.strip_prefix(b"\"").and_then(|rest| Some(&rest[..memchr::memrchr(b'"', rest)?]));
        let Some(name) = name else {
            return words.fail("node has no name", "expected a name in double quotes");
        };
        edges.begin(name);
        match flow {
            Some(flow) => edges.push(words, flow.as_slice(), None)?,
            None => push_of_path(words, edges, &module, false)?,
        }
    }
    Ok(())
}

/// Returns the length of the first `level` numbers of a path, or of all of it.
fn end_of(path: &[u8], level: u32) -> usize {
    let mut ends = memchr::memchr_iter(b':', path);
    ends.nth((level as usize).saturating_sub(1)).unwrap_or(path.len())
}

/// Reads clusters of CD-HIT: `>Cluster 0`, then `0\t297aa, >name... *` for each sequence.
pub(super) fn clstr(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    let mut cluster = None;
    while next_text(words)? {
        let line = words.word();
        if is_cluster(line) {
            cluster = whole_number(&line[b">Cluster ".len()..]);
            continue;
        }
        let Some(cluster) = cluster else {
            return words.fail("line is before the first cluster", "expected `>Cluster 0`");
        };
        let name = memchr::memmem::find(line, b", >").map(|at| &line[at + 3..]);
        let name = name.and_then(|name| Some(&name[..memchr::memmem::rfind(name, b"...")?]));
        let Some(name) = name else {
            return words.fail("sequence of a cluster cannot be read", "expected `, >NAME...`");
        };
        edges.begin(name);
        edges.push(words, cluster, None)?;
    }
    Ok(())
}

/// Reads records of UCLUST: `S` and `H` have the number of a cluster in column 2 and the label of a sequence of it in
/// column 9. Others repeat these, or are sequences without a cluster.
pub(super) fn uc(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    while next_text(words)? {
        let fields: Vec<&[u8]> = words.word().split(|&byte| byte == b'\t').collect();
        match fields[..] {
            [b"S" | b"H", cluster, _, _, _, _, _, _, label, _] => {
                let Some(cluster) = whole_number(cluster) else {
                    return words
                        .fail("cluster is not a number", "expected a whole number in column 2");
                };
                edges.begin(label.trim_ascii());
                edges.push(words, cluster, None)?;
            }
            [b"C" | b"N" | b"L" | b"R" | b"D", ..] if fields.len() == 10 => {}
            [first, ..] if first.starts_with(b"#") => {}
            _ => {
                let expected = "expected S, H, C or N, and nine more columns";
                return words.fail("record cannot be read", expected);
            }
        }
    }
    Ok(())
}

/// Moves to the next line that is not blank, all of it; returns `false` at the end of the text.
pub(super) fn next_text(words: &mut Words) -> Result<bool> {
    loop {
        words.rest()?;
        if !words.word().is_empty() {
            return Ok(true);
        }
        if words.peek()?.is_none() {
            return Ok(false);
        }
        words.advance(1);
    }
}

fn number(words: &Words, expected: &str) -> Result<u64> {
    words.number().ok_or_else(|| words.error("number cannot be read", expected))
}
