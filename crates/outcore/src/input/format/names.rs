//! Column names: a single table for text, tables and Python.
//!
//! Columns named as the two ends of an edge are used wherever they are. Positions matter only if the header names
//! neither. Columns with the row numbers of a data frame are not counted.

use super::bad_input;
use crate::error::opt::{COLUMNS, COMMUNITY_COLUMNS};
use crate::error::{Error, Result};
use crate::input::Rows;
use std::path::Path;

/// Columns of edges or memberships, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
    /// Whether source and target were recognized by their names.
    pub(crate) by_name: bool,
}

/// Names of source and target, without capitals and punctuation. If a header has several pairs, the first one here is
/// used: in `from,to,source`, the column `source` is the origin of the data.
const PAIRS: [[&str; 2]; 31] = [
    ["source", "target"],
    ["source", "destination"],
    ["source", "dest"],
    ["source", "dst"],
    ["source", "tgt"],
    ["src", "dst"],
    ["src", "dest"],
    ["src", "destination"],
    ["src", "target"],
    ["src", "tgt"],
    ["from", "to"],
    ["sourceid", "targetid"],
    ["sourceid", "destinationid"],
    ["srcid", "dstid"],
    ["srcid", "destid"],
    ["fromid", "toid"],
    ["startid", "endid"],
    ["sourcename", "targetname"],
    ["sourcenode", "targetnode"],
    ["fromnode", "tonode"],
    ["fromnodeid", "tonodeid"],
    ["query", "target"],
    ["query", "subject"],
    ["query", "reference"],
    ["qseqid", "sseqid"],
    ["queryid", "subjectid"],
    ["queryid", "targetid"],
    ["qid", "sid"],
    ["citing", "cited"],
    ["follower", "followee"],
    // Either end may be called the head of an arrow, so the first column is the source, as with numbered names.
    ["head", "tail"],
];

/// Stems of names that come in pairs, with a number or a letter at the end: `protein1`, `node_b`.
const STEMS: &str = "node nodeid protein proteinid gene geneid id name vertex item user userid person \
    author sequence seq seqid contig word page entity interactor";
const ENDS: [[&str; 2]; 3] = [["1", "2"], ["a", "b"], ["i", "j"]];

/// Names of columns of single nodes, the likeliest first.
const NODE_WORDS: &str = "node nodeid name id vertex protein gene sequence user item label";
/// Names of columns of communities, the likeliest first.
const COMMUNITY_WORDS: &str = "community communityid cluster clusterid module moduleid group groupid \
    membership family class truth label";

/// Names of columns of weights.
const WEIGHT_WORDS: [&str; 2] = ["weight", "weights"];
/// Names of numeric columns that are not weights, even after source and target.
const OTHER_NUMBERS: &str = "id edgeid index key type label time timestamp date year";

/// Returns whether a name is that of a data frame's index: empty, as pandas writes and reads it, or its name in
/// Parquet.
fn is_index(name: &[u8]) -> bool {
    let name = name.trim_ascii();
    name.is_empty() || name == b"Unnamed: 0" || name == b"__index_level_0__"
}

/// Returns whether the first column is the index of a data frame.
pub(crate) fn begins_with_index(names: &[&[u8]]) -> bool {
    names.len() > 2 && is_index(names[0]) && !names[1..].iter().any(|name| is_index(name))
}

/// Chooses the columns of a table with these names, if it has at least two. `is_number` indicates which ones contain
/// numbers.
pub(crate) fn choose(
    names: &[&[u8]],
    rows: Rows,
    is_number: impl Fn(usize) -> bool,
) -> Option<Chosen> {
    let words: Vec<String> = names.iter().map(|name| plain_word(name)).collect();
    let mut places: Vec<usize> = (0..names.len()).filter(|&at| !is_index(names[at])).collect();
    if places.len() < 2 {
        places = (0..names.len()).collect();
    }
    let ends = match rows {
        Rows::Edges => ends_of_edges(&words),
        Rows::Memberships | Rows::NumberedMemberships => node_and_community(&words),
        Rows::Nodes => node_column(names).map(|at| (at, at)),
    };
    let (source, target) = ends.or(Some((*places.first()?, *places.get(1)?)))?;
    let by_name = ends.is_some();
    let is_free = |at: &usize| *at != source && *at != target;
    let named = (0..words.len()).find(|at| is_free(at) && WEIGHT_WORDS.contains(&&*words[*at]));
    // In a table of search results, all columns except the names are numbers, and the score is the last one.
    let is_search = !by_name || words[source].starts_with('q');
    let is_blast = is_search && names.len() == 12 && (2..12).all(&is_number);
    let place = match by_name {
        _ if is_blast => Some(11),
        false => places.get(2).copied(),
        true => places
            .iter()
            .copied()
            .find(|&at| at > source.max(target))
            .filter(|&at| !OTHER_NUMBERS.split_whitespace().any(|other| other == words[at])),
    };
    let weight = named.or(place.filter(|at| is_free(at) && is_number(*at)));
    Some(Chosen { source, target, weight, by_name })
}

/// Chooses the columns of a table with these names, for interfaces that read tables themselves: source, target and
/// weight, from 0, and whether they were chosen by name. `numbers` indicates which columns contain numbers.
pub fn choose_columns(
    names: &[&[u8]],
    numbers: &[bool],
) -> Option<(usize, usize, Option<usize>, bool)> {
    let is_number = |at: usize| numbers.get(at).copied().unwrap_or(false);
    let Chosen { source, target, weight, by_name } = choose(names, Rows::Edges, is_number)?;
    Some((source, target, weight, by_name))
}

/// Returns whether columns are those of a table of nodes: an identifier, and a label or a group.
pub(crate) fn are_of_nodes(names: &[&[u8]]) -> bool {
    let words: Vec<String> =
        names.iter().filter(|name| !is_index(name)).map(|name| plain_word(name)).collect();
    let is_of = |known: &str, at: usize| {
        words.get(at).is_some_and(|word| known.split_whitespace().any(|known| known == word))
    };
    let is_called = is_of("label name", 1) || is_of(COMMUNITY_WORDS, 1);
    is_of("id node nodeid vertex", 0) && is_called && ends_of_edges(&words).is_none()
}

/// Names of the column of nodes in a list of nodes, the likeliest first.
const LIST_WORDS: &str = "node nodeid id vertex vertexid name label";

/// Returns whether columns are those of edges, and not of communities.
pub(crate) fn are_of_edges(names: &[&[u8]]) -> bool {
    let words: Vec<String> = names.iter().map(|name| plain_word(name)).collect();
    ends_of_edges(&words).is_some() && node_and_community(&words).is_none()
}

/// Returns the error for a table of edges that is given as communities.
pub(crate) fn edges_as_communities(path: &Path) -> Error {
    bad_input(path, "is a table of edges according to its columns, not of communities").hint(
        format_args!(
            "pass nodes and their communities; {COMMUNITY_COLUMNS} uses these columns anyway"
        ),
    )
}

/// Returns the column of nodes in a table of nodes: the only one that is not an index of a data frame, otherwise the one
/// with the likeliest name. `:ID` marks it in files for Neo4j.
pub(crate) fn node_column(names: &[&[u8]]) -> Option<usize> {
    let words: Vec<String> = names.iter().map(|name| plain_word(name)).collect();
    let places: Vec<usize> = (0..names.len()).filter(|&at| !is_index(names[at])).collect();
    let of_neo4j = || names.iter().position(|name| is_neo4j_id(name));
    let named = || {
        LIST_WORDS.split_whitespace().find_map(|known| words.iter().position(|word| word == known))
    };
    match places[..] {
        [only] if names.len() == 1 || is_node_name(names[only]) => Some(only),
        _ => of_neo4j().or_else(named),
    }
}

/// Returns whether a header calls its column that of nodes.
pub(crate) fn is_node_name(name: &[u8]) -> bool {
    let word = plain_word(name);
    is_neo4j_id(name) || LIST_WORDS.split_whitespace().any(|known| known == word)
}

/// Returns whether a column has the identifiers of a file for Neo4j: `:ID`, `person:ID`, `:ID(Person)`.
fn is_neo4j_id(name: &[u8]) -> bool {
    let name = name.trim_ascii();
    name.ends_with(b":ID") || memchr::memmem::find(name, b":ID(").is_some()
}

/// Returns the error for a name that two columns have.
pub(crate) fn twice(path: &Path, name: &str) -> Error {
    bad_input(path, &format!("has two columns named `{name}`"))
        .hint(format_args!("use column numbers, such as {}", COLUMNS.of("1,2,3")))
}

/// Returns the columns of source, target and weight given by `--columns`, if they are distinct.
pub(crate) fn check_distinct(columns: &[usize], path: &Path) -> Result<Vec<usize>> {
    let is_same = |(at, column): (usize, &usize)| columns[..at].contains(column);
    if !columns.iter().enumerate().any(is_same) {
        return Ok(columns.to_vec());
    }
    let path = path.display();
    let message = format_args!("{COLUMNS} names a column of `{path}` twice, by name and by number");
    Err(Error::usage(message).hint("use different columns for source, target and weight"))
}

fn ends_of_edges(words: &[String]) -> Option<(usize, usize)> {
    let at = |word: &str| words.iter().position(|found| found == word);
    let pair = PAIRS.iter().find_map(|[source, target]| Some((at(source)?, at(target)?)));
    if let Some((head, tail)) = pair.filter(|&(head, _)| words[head] == "head") {
        return Some((head.min(tail), head.max(tail)));
    }
    let numbered = (0..words.len()).find_map(|first| {
        let partner = partner_of(&words[first])?;
        let second = words.iter().skip(first).position(|word| *word == partner)?;
        Some((first, first + second))
    });
    let any_of =
        |end: usize| words.iter().position(|word| PAIRS.iter().any(|pair| pair[end] == word));
    pair.or(numbered).or_else(|| Some((any_of(0)?, any_of(1)?)))
}

/// Returns the other name of a pair: `node2` for `node1`.
fn partner_of(word: &str) -> Option<String> {
    STEMS.split_whitespace().find_map(|stem| {
        let end = word.strip_prefix(stem)?;
        let [one, two] = ENDS.into_iter().find(|ends| ends.contains(&end))?;
        Some(format!("{stem}{}", if end == one { two } else { one }))
    })
}

fn node_and_community(words: &[String]) -> Option<(usize, usize)> {
    let find = |known: &str, taken: Option<usize>| {
        let at = |word: &str| {
            words.iter().enumerate().position(|(at, found)| found == word && Some(at) != taken)
        };
        known.split_whitespace().find_map(at)
    };
    let community = find(COMMUNITY_WORDS, None)?;
    Some((find(NODE_WORDS, Some(community))?, community))
}

/// Returns the letters and digits of a name in lower case, or nothing if the name is not ASCII.
fn plain_word(name: &[u8]) -> String {
    if !name.is_ascii() {
        return String::new();
    }
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters.map(|byte| byte.to_ascii_lowercase() as char).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(header: &str, rows: Rows) -> (usize, usize, Option<usize>, bool) {
        let names: Vec<&[u8]> = header.split(',').map(str::as_bytes).collect();
        let chosen = choose(&names, rows, |at| at >= 2).unwrap();
        (chosen.source, chosen.target, chosen.weight, chosen.by_name)
    }

    #[test]
    fn columns_are_recognized_by_name() {
        for (header, expected) in [
            ("source,target,weight", (0, 1, Some(2), true)),
            ("weight,To,FROM", (2, 1, Some(0), true)),
            (",source,target,score", (1, 2, Some(3), true)),
            ("Unnamed: 0,node_a,node_b,score", (1, 2, Some(3), true)),
            (",x,y,z", (1, 2, Some(3), false)),
            ("x,y,__index_level_0__", (0, 1, None, false)),
            ("Source,Target,Type,Id,Label,Weight", (0, 1, Some(5), true)),
            ("source,target,id,score", (0, 1, None, true)),
            ("from,to,source", (0, 1, Some(2), true)),
            ("id,protein2,protein1,combined_score", (1, 2, Some(3), true)),
            ("tail,head", (0, 1, None, true)),
            ("to,citing", (1, 0, None, true)),
            ("to,from", (1, 0, None, true)),
            (":START_ID,:TYPE,:END_ID", (0, 2, None, true)),
            ("a,b,c,weight", (0, 1, Some(3), false)),
            ("a,b,c", (0, 1, Some(2), false)),
            ("query,target,c,d,e,f,g,h,i,j,k,bits", (0, 1, Some(11), true)),
        ] {
            assert_eq!(chosen(header, Rows::Edges), expected, "{header}");
        }
        for (header, expected) in [
            (",node,community", (1, 2, true)),
            ("id,label,community", (0, 2, true)),
            ("label,cluster", (0, 1, true)),
            ("x,y", (0, 1, false)),
        ] {
            let (source, target, _, by_name) = chosen(header, Rows::Memberships);
            assert_eq!((source, target, by_name), expected, "{header}");
        }
        for (header, expected) in [
            ("Id,Label,Modularity", true),
            (",node,community", true),
            ("id,source,target", false),
            ("name,group", false),
            ("id,score", false),
        ] {
            let names: Vec<&[u8]> = header.split(',').map(str::as_bytes).collect();
            assert_eq!(are_of_nodes(&names), expected, "{header}");
        }
        assert!(choose(&[b"source"], Rows::Edges, |_| true).is_none());
        let names: [&[u8]; 3] = [b"weight", b"to", b"from"];
        assert_eq!(choose_columns(&names, &[true]), Some((2, 1, Some(0), true)));
    }
}
