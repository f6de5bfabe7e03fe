//! Column names: one vocabulary for text, tables and Python.
//!
//! A header is compared by its letters and digits, in lower case. First come the headers of the [table of
//! formats](super::formats), then the words here.

use super::formats::{self, Format, plain_word};
use super::members::{self, MemberColumns};
use crate::fault::bad_input;
use crate::{Rows, WeightTransform};
use outcore_io::error::Error;
use outcore_io::error::opt::COMMUNITY_COLUMNS;
use std::path::Path;

/// Names of source and target, each pair separated by a space. If a header has several pairs, the first one here is
/// used: in `from,to,source`, the column `source` is the origin of the data.
const PAIRS: &str = "source target,source destination,source dest,source dst,source tgt,src dst,src dest,\
    src destination,src target,src tgt,from to,query target,query subject,query reference,qseqid sseqid,\
    queryaccver subjectaccver,queryacc subjectacc,queryseqid subjectseqid,qid sid,citing cited,\
    follower followee,parent child,child parent,left right,head tail,startid endid,employee manager,buyer seller,\
    sender receiver,sender recipient,caller callee,payer payee,author coauthor";

/// Pairs of words for the two ends that stand before or after another word: `fromnode`, `address_from`.
const AFFIXES: &str = "source target,source destination,src dst,src dest,from to,start end,left right,\
    ltable rtable,query target,query subject,idl idr";

/// Words for an end of an edge, with a number or a letter after it: `protein1`, `node_b`.
const STEMS: &str = "id iid uniqueid recordid rec record node nodeid protein proteinid uniprot gene geneid \
    entrez snp name vertex item user userid person author sequence seq seqid contig word page entity interactor";
const ENDS: [[&str; 2]; 5] = [["1", "2"], ["a", "b"], ["i", "j"], ["l", "r"], ["x", "y"]];

/// Pairs of ends of two different kinds, whose identifiers are independent. With or without `id` after each.
const TWO_KINDS: &str = "user item,user movie,user product,user artist,user song,user track,user book,user business,\
    user group,user page,user tag,reader book,customer product,customer item,author paper,author publication,\
    actor movie,actor film,member group,drug target,gene disease,drug disease,reviewer product";

/// Words for what an identifier is unique in. The number, letter or side of the end stands after or before it. Records
/// with the same identifier differ if these do.
const SOURCES: &str = "sourcedataset dataset datasetid datasource datasourceid source sourceid sourcename sourcetable \
    sourcesystem origin origintable table tablename system database db dbname namespace registry catalog";

/// Names of a weight that leave no doubt.
const WEIGHT_WORDS: &str = "weight weights edgeweight wt w";
/// Names of numbers that are larger for closer nodes.
const SIMILARITY_WORDS: &str = "score similarity strength bitscore bits combinedscore confidence probability \
    matchprobability jaccard cosine tanimoto count counts frequency freq cooccurrence occurrences correlation cor \
    rho kinship rating stars votes";
/// Names of a weight only if there is no other number: a rule, a layer, a block or a year is a number, too.
const ALONE_WORDS: &str = "value values val v sim pearson spearman kendall mi nmi tom r2 pihat identity pident fident ani \
    affinity proximity importance lift lod amount volume quantity qty total sum trips flow flows traffic passengers \
    messages emails mails calls contacts meetings visits interactions citations collaborations papers publications \
    transactions reads hits plays clicks likes retweets gewicht poids peso anzahl nombre";
/// Parts of names of similarities.
const SIMILARITY_PARTS: &str = "weight score similar strength count freq prob confiden overlap shared jaccard cosine \
    corr intensity cooccur occurrence";
/// Beginning of names of similarities.
const SIMILARITY_START: &str = "num";
/// Names of numbers that are smaller for closer nodes.
const DISTANCE_WORDS: &str = "distance dist evalue eval pvalue pval p padj adjp qvalue fdr cost rank ranking hamming \
    levenshtein editdistance dissimilarity divergence mismatches mismatch gapopen gaps";
/// Parts of names of distances.
const DISTANCE_PARTS: &str =
    "distance evalue pvalue qvalue hamming levenshtein dissimilar length meters miles latency";
/// Names of numbers that are not weights: identifiers, places.
const OTHER_WORDS: &str = "index key chr chrom pos bp start end edge row";
/// Endings of names of numbers that are not weights.
const OTHER_ENDS: &str = "id";
/// Parts of names of points in time.
const TIME_PARTS: &str = "time date year epoch";

/// Words that name columns of any table, by which a line above text is recognized as a header.
const HEADER_WORDS: &str = "id name label value key first last title city country state type category description \
    email url date time year count score weight";

/// Names that programs and people give to two columns when they have nothing better.
const GENERIC_PAIRS: &str = "x y,u v,i j,v1 v2,c1 c2,col1 col2,column1 column2";

/// Kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Number,
    Text,
    Empty,
}

/// Source, target and weight of edges, from 0, and how they were chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
    /// Whether source and target were recognized by their names.
    pub(crate) by_name: bool,
    pub(crate) format: Option<&'static Format>,
    /// Whether source and target are nodes of different kinds.
    pub(crate) two_mode: bool,
}

impl Chosen {
    /// Uses these columns only because of their position.
    pub(crate) fn by_place(source: usize, target: usize, weight: Option<usize>) -> Self {
        Self { source, target, weight, by_name: false, format: None, two_mode: false }
    }
}

/// What the columns of a file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ColumnChoice {
    Use(Chosen),
    /// The ends are certain, but each of these columns may be the weight.
    AskWeight(Chosen, Vec<usize>),
    /// The only possible weight is a distance, and no transform is given.
    AskTransform(Chosen),
    Nodes,
    /// Several columns may hold the node, or what the file says about it.
    AskMembers(MemberColumns),
    /// Nothing says which columns are the ends.
    AskEnds,
}

impl ColumnChoice {
    /// Returns the chosen columns, if the ends are certain.
    pub(crate) fn chosen(&self) -> Option<&Chosen> {
        match self {
            Self::Use(chosen) | Self::AskWeight(chosen, _) | Self::AskTransform(chosen) => {
                Some(chosen)
            }
            Self::Nodes | Self::AskMembers(_) | Self::AskEnds => None,
        }
    }

    pub(crate) fn is_by_name(&self) -> bool {
        match self {
            Self::AskMembers(found) => found.is_named,
            _ => self.chosen().is_some_and(|chosen| chosen.by_name),
        }
    }
}

/// Columns of a file to choose from.
pub(crate) struct NamedColumns<'a> {
    /// Names, empty without a header.
    pub(crate) names: &'a [&'a [u8]],
    /// Kinds of the values.
    pub(crate) kinds: &'a [ColumnKind],
    pub(crate) rows: Rows,
    pub(crate) transform: WeightTransform,
    /// Whether weights are wanted.
    pub(crate) weighted: bool,
}

impl NamedColumns<'_> {
    /// Chooses the columns by their names. Otherwise, chooses the only two, or the only two before a number.
    pub(crate) fn choose(&self) -> ColumnChoice {
        let words: Vec<String> = self.names.iter().map(|name| plain_word(name)).collect();
        if self.rows != Rows::Edges {
            return members::choose(self, &words);
        }
        if let Some(format) = formats::by_header(&words) {
            let [source, target, weight] = format.columns_in(&words);
            if let (Some(source), Some(target)) = (source, target) {
                let weight = weight.filter(|&at| self.weighted && self.is_number(at));
                let two_mode = is_of_two_kinds(self.names, &words, source, target);
                let format = Some(format);
                let chosen = Chosen { source, target, weight, by_name: true, format, two_mode };
                let is_open = format.is_some_and(|format| format.columns[2] == "*");
                return if is_open {
                    self.with_weight(chosen, &words)
                } else {
                    ColumnChoice::Use(chosen)
                };
            }
        }
        let is_twice = |at: usize| words.iter().filter(|word| **word == words[at]).count() > 1;
        if let Some((source, target)) = ends_of_edges(&words) {
            if is_twice(source) || is_twice(target) {
                return ColumnChoice::AskEnds;
            }
            let two_mode = is_of_two_kinds(self.names, &words, source, target);
            let chosen = Chosen::by_place(source, target, None);
            let chosen = Chosen { by_name: true, two_mode, ..chosen };
            return self.with_weight(chosen, &words);
        }
        if are_of_nodes(self.names) {
            return ColumnChoice::Nodes;
        }
        self.choose_by_place(&words)
    }

    /// Returns the columns without row numbers.
    pub(super) fn places(&self) -> Vec<usize> {
        let is_index = |at: usize| self.names.get(at).is_some_and(|name| is_index(name));
        let all = 0..self.kinds.len();
        let places: Vec<usize> = all.clone().filter(|&at| !is_index(at)).collect();
        if places.len() < 2 { all.collect() } else { places }
    }

    fn choose_by_place(&self, words: &[String]) -> ColumnChoice {
        let places = self.places();
        let (source, target) = match places[..] {
            [source, target] => (source, target),
            [source, target, third]
                if self.is_number(third) || self.kinds[third] == ColumnKind::Empty =>
            {
                (source, target)
            }
            _ => return ColumnChoice::AskEnds,
        };
        if [source, target].iter().any(|&at| self.kinds[at] == ColumnKind::Empty) {
            return ColumnChoice::AskEnds;
        }
        let is_missing = |at: &usize| self.kinds[*at] == ColumnKind::Empty;
        let missing = places.get(2).copied().filter(is_missing).filter(|_| self.weighted);
        match missing {
            // A weight that is missing everywhere is an error.
            Some(_) => ColumnChoice::Use(Chosen::by_place(source, target, missing)),
            None => self.with_weight(Chosen::by_place(source, target, None), words),
        }
    }

    pub(super) fn is_number(&self, at: usize) -> bool {
        self.kinds.get(at) == Some(&ColumnKind::Number)
    }

    /// Adds the weight: the column with that name; otherwise the only similarity; otherwise the only number.
    fn with_weight(&self, chosen: Chosen, words: &[String]) -> ColumnChoice {
        if !self.weighted {
            return ColumnChoice::Use(chosen);
        }
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        let is_free = |at: &usize| *at != chosen.source && *at != chosen.target;
        let all: Vec<usize> = self.places().into_iter().filter(is_free).collect();
        let with = |at: usize| ColumnChoice::Use(Chosen { weight: Some(at), ..chosen.clone() });
        let is_sure = |&at: &usize| is_one_of(WEIGHT_WORDS, word(at));
        match all.iter().copied().filter(is_sure).collect::<Vec<_>>()[..] {
            [] => {}
            [sure] => return with(sure),
            ref several => return ColumnChoice::AskWeight(chosen, several.to_vec()),
        }
        let numbers: Vec<usize> =
            all.iter().copied().filter(|&at| self.is_number(at) && !is_other(word(at))).collect();
        let (far, near): (Vec<usize>, Vec<usize>) =
            numbers.iter().partition(|&&at| is_distance(word(at)));
        let turns =
            matches!(self.transform, WeightTransform::NegLog10 | WeightTransform::Reciprocal);
        let similar: Vec<usize> =
            near.iter().copied().filter(|&at| is_one_of(SIMILARITY_WORDS, word(at))).collect();
        // `a,b,c` and `x,y,z` say as little as no header.
        let says_nothing = |at: usize| !chosen.by_name && word(at).len() <= 2;
        let is_clear =
            |at: usize| self.names.is_empty() || says_nothing(at) || is_similarity(word(at));
        match (&near[..], &similar[..], &far[..]) {
            (_, _, &[only]) if turns => with(only),
            ([], _, []) => ColumnChoice::Use(chosen),
            ([], _, &[only]) if self.transform == WeightTransform::None => {
                ColumnChoice::AskTransform(Chosen { weight: Some(only), ..chosen })
            }
            (_, &[only], _) => with(only),
            (&[only], _, _) if is_clear(only) => with(only),
            ([], _, &[only]) => with(only),
            _ => ColumnChoice::AskWeight(chosen, numbers),
        }
    }
}

/// Chooses the columns of a table with these names, for interfaces that read tables themselves: source, target and
/// weight, from 0, and whether they were chosen by name. `numbers` indicates which columns contain numbers.
pub fn choose_columns(
    names: &[&[u8]],
    numbers: &[bool],
) -> Option<(usize, usize, Option<usize>, bool)> {
    let is_number = |at: usize| numbers.get(at).copied().unwrap_or(false);
    let kind = |at: usize| if is_number(at) { ColumnKind::Number } else { ColumnKind::Text };
    let kinds: Vec<ColumnKind> = (0..names.len()).map(kind).collect();
    let (rows, transform) = (Rows::Edges, WeightTransform::None);
    let choice = NamedColumns { names, kinds: &kinds, rows, transform, weighted: true }.choose();
    choice.chosen().map(|found| (found.source, found.target, found.weight, found.by_name))
}

pub(super) fn is_one_of(known: &str, word: &str) -> bool {
    !word.is_empty() && known.split_whitespace().any(|known| known == word)
}

pub(super) fn has_part(parts: &str, word: &str) -> bool {
    parts.split_whitespace().any(|part| word.contains(part))
}

/// Returns whether a word names numbers that are larger for closer nodes.
fn is_similarity(word: &str) -> bool {
    [SIMILARITY_WORDS, ALONE_WORDS].iter().any(|words| is_one_of(words, word))
        || has_part(SIMILARITY_PARTS, word)
        || word.starts_with(SIMILARITY_START)
}

/// Returns whether a word names numbers that are not weights: identifiers, places, points in time.
fn is_other(word: &str) -> bool {
    let ends = OTHER_ENDS.split_whitespace().any(|end| word.ends_with(end));
    ends || is_one_of(OTHER_WORDS, word) || has_part(TIME_PARTS, word)
}

/// Returns why an unused column is not part of an edge.
pub(crate) fn why_unused(name: Option<&[u8]>, kind: ColumnKind) -> &'static str {
    let (has_name, name) = (name.is_some(), name.unwrap_or_default());
    let word = plain_word(name);
    match kind {
        ColumnKind::Empty => "empty",
        ColumnKind::Text => "text",
        ColumnKind::Number if has_name && is_index(name) => "row numbers",
        ColumnKind::Number if is_other(&word) => "no weight by its name",
        ColumnKind::Number if is_distance(&word) => "smaller for closer nodes by its name",
        ColumnKind::Number => "number",
    }
}

fn is_distance(word: &str) -> bool {
    is_one_of(DISTANCE_WORDS, word) || has_part(DISTANCE_PARTS, word)
}

/// Returns whether a field is a word that names a column of tables.
pub(crate) fn is_header_word(field: &[u8]) -> bool {
    let word = plain_word(field);
    members::is_known(&word) || [HEADER_WORDS, STEMS].iter().any(|words| is_one_of(words, &word))
}

/// Returns whether the first line of text begins with generic names of columns, as in tables without better ones.
pub(crate) fn begins_generic(first: &[&[u8]]) -> bool {
    let [one, two, ..] = first else { return false };
    let words = [plain_word(one), plain_word(two)];
    pairs_of(GENERIC_PAIRS).any(|pair| pair == [words[0].as_str(), words[1].as_str()])
}

/// Returns whether a name is that of a weight.
pub(crate) fn is_weight(name: &[u8]) -> bool {
    let word = plain_word(name);
    [WEIGHT_WORDS, SIMILARITY_WORDS].iter().any(|words| is_one_of(words, &word))
}

/// Returns whether two names are those of identifiers of different things: `student_id` and `course_id`.
pub(crate) fn are_two_identifiers(names: [&[u8]; 2]) -> bool {
    let words = names.map(plain_word);
    words.iter().all(|word| word.len() > 2 && word.ends_with("id")) && words[0] != words[1]
}

/// Returns whether a name is that of a data frame's index: empty, as pandas writes and reads it, or its name in
/// Parquet.
pub(super) fn is_index(name: &[u8]) -> bool {
    let name = name.trim_ascii();
    name.is_empty() || name == b"Unnamed: 0" || name == b"__index_level_0__"
}

/// Returns whether the first column is the index of a data frame.
pub(crate) fn begins_with_index(names: &[&[u8]]) -> bool {
    names.len() > 2 && is_index(names[0]) && !names[1..].iter().any(|name| is_index(name))
}

/// Returns whether columns are those of a table of nodes: an identifier, and something about it.
pub(crate) fn are_of_nodes(names: &[&[u8]]) -> bool {
    let words: Vec<String> =
        names.iter().filter(|name| !is_index(name)).map(|name| plain_word(name)).collect();
    let begins =
        words.first().is_some_and(|word| is_one_of("id node nodeid vertex vertexid", word));
    let has_groups = words
        .iter()
        .any(|word| is_one_of("community communityid leiden louvain modularityclass", word));
    words.len() > 1 && (begins || has_groups) && ends_of_edges(&words).is_none()
}

/// Names of the column of nodes in a list of nodes, the likeliest first.
const LIST_WORDS: &str = "node nodeid id vertex vertexid name label";

/// Names of columns of identifiers, besides those that end in `id`.
const IDENTIFIER_WORDS: &str =
    "accession accessionno accessionnumber barcode uniprot isolate doi orcid";

/// Returns whether columns are those of edges, and not of communities.
pub(crate) fn are_of_edges(names: &[&[u8]]) -> bool {
    let words: Vec<String> = names.iter().map(|name| plain_word(name)).collect();
    ends_of_edges(&words).is_some() && !members::are_named(names)
}

/// Returns the error for a table of edges that is given as communities.
pub(crate) fn edges_as_communities(path: &Path) -> Error {
    bad_input(path, "is a table of edges according to its columns, not of communities").hint(
        format_args!(
            "pass nodes and their communities; {COMMUNITY_COLUMNS} uses these columns anyway"
        ),
    )
}

/// Lists names, at most 20 of them, for a message.
pub(crate) fn listed(names: &[&str]) -> String {
    names.iter().take(20).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the columns that may hold the nodes in a table of nodes: those with the likeliest name, or with `:ID`, the
/// mark in files for Neo4j. If there are none, returns the columns that are named as identifiers of anything. Several
/// columns mean doubt.
pub(crate) fn node_columns(names: &[&[u8]]) -> Vec<usize> {
    let words: Vec<String> = names.iter().map(|name| plain_word(name)).collect();
    let all = |is: &dyn Fn(usize) -> bool| (0..names.len()).filter(|&at| is(at)).collect();
    let of_neo4j: Vec<usize> = all(&|at| is_neo4j_id(names[at]));
    let named = LIST_WORDS.split_whitespace().map(|known| all(&|at| words[at] == known));
    let identifiers: Vec<usize> = all(&|at| is_identifier(&words[at]));
    let likely = std::iter::once(of_neo4j).chain(named).chain([identifiers]);
    likely.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// Returns whether a word names an identifier of anything: `doc_id`, `accession`.
fn is_identifier(word: &str) -> bool {
    word.len() > 3 && word.ends_with("id") || is_one_of(IDENTIFIER_WORDS, word)
}

/// Returns the error for a table with `several` columns that may be that of the nodes.
pub(crate) fn several_nodes(path: &Path, names: &[&[u8]], several: &[usize]) -> Error {
    let names: Vec<_> = several.iter().map(|&at| String::from_utf8_lossy(names[at])).collect();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let (shown, count) = (path.display(), names.len());
    Error::usage(format!("`{shown}` has {count} columns that may be that of the nodes"))
        .note(format!("they are named {}", listed(&names)))
        .hint(format_args!("use {} with one of them", Rows::Nodes.columns_to_type(path)))
}

/// Returns whether a header calls its column that of nodes.
pub(crate) fn is_node_name(name: &[u8]) -> bool {
    let word = plain_word(name);
    is_neo4j_id(name) || is_one_of(LIST_WORDS, &word)
}

/// Returns whether a text names identifiers, and so is hardly an identifier itself: `doc_id`, `accession`.
pub(crate) fn is_identifier_name(name: &[u8]) -> bool {
    let word = plain_word(name);
    is_one_of(IDENTIFIER_WORDS, &word) || is_identifier(&word) && word.len() < name.len()
}

/// Returns whether a column has the identifiers of a file for Neo4j: `:ID`, `person:ID`, `:ID(Person)`.
fn is_neo4j_id(name: &[u8]) -> bool {
    let name = name.trim_ascii();
    name.ends_with(b":ID") || memchr::memmem::find(name, b":ID(").is_some()
}

/// Returns the columns of the two ends, by their names.
fn ends_of_edges(words: &[String]) -> Option<(usize, usize)> {
    let at = |word: &str| words.iter().position(|found| found == word);
    let both = |source: &str, target: &str| Some((at(source)?, at(target)?));
    let pairs = || pairs_of(PAIRS);
    let with_id = |[source, target]: [&str; 2]| {
        both(source, target).or_else(|| both(&format!("{source}id"), &format!("{target}id")))
    };
    let pair = pairs().find_map(with_id);
    if let Some((head, tail)) = pair.filter(|&(head, _)| words[head] == "head") {
        // Either end may be called the head of an arrow, so the first column is the source.
        return Some((head.min(tail), head.max(tail)));
    }
    let numbered = || {
        STEMS.split_whitespace().find_map(|stem| {
            ENDS.iter()
                .find_map(|[one, two]| both(&format!("{stem}{one}"), &format!("{stem}{two}")))
        })
    };
    // Of columns such as `left_source` and `left_id`, the identifier names the end of the edge.
    let affixed = |is_end: &dyn Fn(&str) -> bool| {
        pairs_of(AFFIXES).find_map(|[source, target]| {
            let of = |word: &String| {
                word.strip_prefix(source).or_else(|| word.strip_suffix(source)).map(str::to_owned)
            };
            words.iter().enumerate().find_map(|(first, word)| {
                let stem = of(word).filter(|stem| stem.is_empty() || is_end(stem))?;
                let second =
                    at(&format!("{target}{stem}")).or_else(|| at(&format!("{stem}{target}")))?;
                Some((first, second))
            })
        })
    };
    let is_stem = |stem: &str| is_one_of(STEMS, stem);
    let may_be_stem = |stem: &str| {
        stem.bytes().any(|byte| byte.is_ascii_alphabetic())
            && !has_part("time date pos score", stem)
    };
    let kinds = || pairs_of(TWO_KINDS).find_map(with_id);
    let any_of = |end: usize| words.iter().position(|word| pairs().any(|pair| pair[end] == word));
    pair.or_else(numbered)
        .or_else(|| affixed(&is_stem))
        .or_else(|| affixed(&may_be_stem))
        .or_else(kinds)
        .or_else(|| Some((any_of(0)?, any_of(1)?)))
}

/// Returns the columns that name the namespaces of the two ends' identifiers, such as `source1` and `source2`, if there
/// are any besides the chosen columns.
pub(crate) fn sources_of_ends(names: &[&[u8]], chosen: &Chosen) -> Option<[usize; 2]> {
    let words: Vec<String> = names.iter().map(|name| plain_word(name)).collect();
    let is_free = |at: &usize| *at != chosen.source && *at != chosen.target;
    let at = |word: String| words.iter().position(|found| *found == word).filter(is_free);
    let sides = || ENDS.into_iter().chain([["left", "right"], ["ltable", "rtable"]]);
    SOURCES.split_whitespace().find_map(|name| {
        sides().find_map(|[one, two]| {
            let after = || Some([at(format!("{name}{one}"))?, at(format!("{name}{two}"))?]);
            after().or_else(|| Some([at(format!("{one}{name}"))?, at(format!("{two}{name}"))?]))
        })
    })
}

fn pairs_of(pairs: &'static str) -> impl Iterator<Item = [&'static str; 2]> {
    pairs.split(',').filter_map(|pair| pair.split_once(' ')).map(|(one, two)| [one, two])
}

/// Returns whether the two ends are nodes of different kinds: `user_id` and `item_id`, or identifiers of two spaces of
/// Neo4j, `:START_ID(Person)` and `:END_ID(Film)`.
fn is_of_two_kinds(names: &[&[u8]], words: &[String], source: usize, target: usize) -> bool {
    let plain = |at: usize| {
        words[at].strip_suffix("id").filter(|word| !word.is_empty()).unwrap_or(&words[at])
    };
    let is_known = pairs_of(TWO_KINDS).any(|pair| {
        pair == [plain(source), plain(target)] || pair == [plain(target), plain(source)]
    });
    let space = |at: usize| {
        names[at]
            .starts_with(b":")
            .then(|| memchr::memchr(b'(', names[at]).map(|from| &names[at][from..]))
    };
    let spaces = space(source).flatten().zip(space(target).flatten());
    is_known || spaces.is_some_and(|(one, other)| one != other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a header names two ends, the first two columns, and whether these are of two kinds.
    fn meaning(source: &str, target: &str) -> Option<bool> {
        let names = [source.as_bytes(), target.as_bytes(), b"score"];
        let kinds = [ColumnKind::Text, ColumnKind::Text, ColumnKind::Number];
        let (rows, transform) = (Rows::Edges, WeightTransform::None);
        let columns =
            NamedColumns { names: &names, kinds: &kinds, rows, transform, weighted: true };
        let ColumnChoice::Use(chosen) = columns.choose() else { return None };
        // A child follows its parent, in any position.
        let has_weight = chosen.weight == Some(2) || chosen.format.is_some();
        let is_right = chosen.source + chosen.target == 1 && has_weight;
        (is_right && chosen.by_name).then_some(chosen.two_mode)
    }

    #[test]
    fn every_pair_of_names_is_of_one_kind_or_of_two() {
        for [source, target] in pairs_of(PAIRS) {
            assert_eq!(meaning(source, target), Some(false), "{source},{target}");
        }
        for [source, target] in pairs_of(TWO_KINDS) {
            for (source, target) in
                [(source.into(), target.into()), (format!("{source}_id"), format!("{target}_id"))]
            {
                assert_eq!(meaning(&source, &target), Some(true), "{source},{target}");
            }
        }
        for stem in STEMS.split_whitespace() {
            for [one, two] in ENDS {
                let (source, target) = (format!("{stem}_{one}"), format!("{stem}_{two}"));
                assert_eq!(meaning(&source, &target), Some(false), "{source},{target}");
            }
            for [one, two] in pairs_of(AFFIXES).filter(|[one, _]| *one != "idl") {
                let (source, target) = (format!("{one}_{stem}"), format!("{two}_{stem}"));
                assert_eq!(meaning(&source, &target), Some(false), "{source},{target}");
            }
        }
    }

    #[test]
    fn pairs_in_the_documentation_mean_what_it_says() {
        let text = include_str!("../../../../docs/concepts/formats.md");
        let rows = [
            ("source and target, in any position", false),
            ("source and target of two kinds", true),
        ];
        for (meaning_there, two_kinds) in rows {
            let row =
                text.lines().find(|line| line.starts_with("| `") && line.contains(meaning_there));
            let names = row.expect("the table has this row").split(" | ").next().expect("a column");
            let pairs = names.split('`').filter_map(|pair| pair.split_once(','));
            let pairs: Vec<_> = pairs.filter(|(one, _)| !one.is_empty()).collect();
            assert!(pairs.len() > 1, "{names}");
            for (source, target) in pairs {
                assert_eq!(meaning(source, target), Some(two_kinds), "{source},{target}");
            }
        }
    }
}
