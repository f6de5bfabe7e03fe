//! Which columns of a table are the node and what the table gives it: a community, or a number.
//!
//! ```text
//!  names --> columns that may be the node  --one each--> used
//!        `-> columns that may be the other `--several--> a question that lists them
//! ```
//!
//! The columns of an own result are certain. Otherwise a column may be the community if its name holds one of the words
//! here: tables of cells have `leiden_0.5` beside `leiden_1.0` and `louvain`. The index of a data frame is the node.

use super::column_names::{
    Chosen, ColumnChoice, ColumnKind, NamedColumns, has_part, is_index, is_one_of,
};
use super::formats::plain_word;
use crate::Rows;

/// Names of columns of nodes.
const NODE_WORDS: &str = "node nodeid name id vertex vertexid protein gene sequence user item cell barcode key \
    accession member index rowname rownames";
/// Names of the column of nodes that leave no doubt, whatever other identifiers there are.
const SURE_NODE_WORDS: &str = "node nodeid vertex vertexid member";
/// Names of columns of communities.
const COMMUNITY_WORDS: &str = "community communityid cluster clusterid module moduleid modularityclass group groupid \
    membership leiden louvain infomap family class truth representative";
/// Parts of names of such columns: `leiden_0.5`, `seurat_clusters`, `RNA_snn_res.0.8`.
const COMMUNITY_PARTS: &str = "community communities cluster group module leiden louvain infomap membership partition orthogroup snnres";
/// Parts of names of columns about a community, such as its size.
const MEASURE_PARTS: &str = "size score count prob conf color colour weight degree distance numclusters nclusters stability";
/// Name of the node, or of the community, if no other column has a name for it.
const EITHER_WORD: &str = "label";
/// Names of columns with lists of nodes instead of a single node.
const LIST_WORDS: &str = "members nodes genes proteins sequences vertices ids names";
/// Names of a number by which nodes are preferred.
const PRIORITY_WORDS: &str = "priority";

/// Columns that may hold the node, and columns that may hold what the file says about it. Either may be all columns, if
/// no name helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemberColumns {
    pub(crate) nodes: Vec<usize>,
    pub(crate) values: Vec<usize>,
    /// Whether both are known by their names.
    pub(crate) is_named: bool,
}

/// Chooses the columns of a table of communities, of numbers of nodes, or of nodes.
pub(super) fn choose(table: &NamedColumns<'_>, words: &[String]) -> ColumnChoice {
    let use_pair = |(node, value): (usize, usize), by_name: bool| {
        ColumnChoice::Use(Chosen { by_name, ..Chosen::by_place(node, value, None) })
    };
    if let Some(own) = of_result(words).filter(|_| table.rows != Rows::Numbers) {
        return use_pair(own, true);
    }
    let found = find(table, words);
    let count = table.kinds.len().max(words.len());
    match (&found.nodes[..], &found.values[..]) {
        (&[node], &[value]) => use_pair((node, value), found.is_named),
        // Of two columns, the one that is not the node holds the value, and the reverse.
        (&[node], []) if count == 2 => use_pair((node, 1 - node), false),
        ([], &[value]) if count == 2 && !is_one_of(LIST_WORDS, &words[1 - value]) => {
            use_pair((1 - value, value), false)
        }
        ([], []) => match table.places()[..] {
            [node, value] => use_pair((node, value), false),
            _ => ColumnChoice::AskEnds,
        },
        _ => ColumnChoice::AskMembers(found),
    }
}

/// Returns whether a header names both the nodes and the communities, perhaps in several columns.
pub(crate) fn are_named(names: &[&[u8]]) -> bool {
    let (rows, transform) = (Rows::Memberships, crate::WeightTransform::None);
    NamedColumns { names, kinds: &[], rows, transform, weighted: false }.choose().is_by_name()
}

/// Returns whether a name is that of nodes or communities.
pub(crate) fn is_named(name: &[u8]) -> bool {
    let word = plain_word(name);
    is_node(name, &word) || is_community(&word) || word == EITHER_WORD
}

/// Returns whether a word names nodes or communities.
pub(super) fn is_known(word: &str) -> bool {
    [NODE_WORDS, COMMUNITY_WORDS, EITHER_WORD].iter().any(|known| is_one_of(known, word))
}

/// Returns the columns of a result of this program: nothing else has both names.
fn of_result(words: &[String]) -> Option<(usize, usize)> {
    let at = |word: &str| {
        let mut all = (0..words.len()).filter(|&at| words[at] == word);
        all.next().filter(|_| all.next().is_none())
    };
    let pair = |node: &str, community: &str| Some((at(node)?, at(community)?));
    pair("node", "community").or_else(|| pair("member", "representative"))
}

fn find(table: &NamedColumns<'_>, words: &[String]) -> MemberColumns {
    let all = |is: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..words.len()).filter(|&at| is(at)).collect()
    };
    let or = |found: Vec<usize>, others: &dyn Fn() -> Vec<usize>| {
        if found.is_empty() { others() } else { found }
    };
    let of_label = |taken: &[usize]| all(&|at| words[at] == EITHER_WORD && !taken.contains(&at));
    let values = match table.rows {
        Rows::Numbers => or(all(&|at| is_one_of(PRIORITY_WORDS, &words[at])), &|| {
            // A column of nodes' numbers has only numbers.
            all(&|at| {
                table.is_number(at)
                    && !is_index(table.names[at])
                    && !is_node(table.names[at], &words[at])
            })
        }),
        _ => or(all(&|at| is_community(&words[at])), &|| of_label(&[])),
    };
    let index = all(&|at| is_index(table.names[at]) && (at == 0 || !table.names[at].is_empty()));
    let is_text = |at: usize| table.kinds.get(at) == Some(&ColumnKind::Text);
    let named = all(&|at| is_node(table.names[at], &words[at]) && !values.contains(&at));
    let sure = all(&|at| is_one_of(SURE_NODE_WORDS, &words[at]) && !values.contains(&at));
    let nodes = match index[..] {
        // Numbers are row numbers, if another column names the nodes.
        [_] if words.len() > 1 && (named.is_empty() || index.iter().all(|&at| is_text(at))) => {
            index
        }
        _ => or(sure, &|| or(named.clone(), &|| of_label(&values))),
    };
    let is_exact = |at: &usize| is_known(&words[*at]) || is_index(table.names[*at]);
    let are_all = values.len() > 1 && values.len() == words.len();
    let is_named = !values.is_empty() && !nodes.is_empty() && nodes.iter().all(is_exact) || are_all;
    MemberColumns { nodes, values, is_named }
}

/// Returns whether a column is named like that of nodes: by a word, or as an identifier, `doc_id` or `docId`.
fn is_node(name: &[u8], word: &str) -> bool {
    let is_identifier = match name {
        [.., before, b'i' | b'I', b'd' | b'D'] if !before.is_ascii_alphabetic() => true,
        [.., before, b'I', b'd' | b'D'] => before.is_ascii_lowercase(),
        _ => false,
    };
    is_identifier && word.len() > 2 && !is_community(word) || is_one_of(NODE_WORDS, word)
}

fn is_community(word: &str) -> bool {
    let is_part = has_part(COMMUNITY_PARTS, word) && !has_part(MEASURE_PARTS, word);
    is_part || is_one_of(COMMUNITY_WORDS, word)
}
