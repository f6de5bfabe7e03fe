//! Labels of communities, which stand before their nodes in a line: `circle0<TAB>71<TAB>215` of SNAP, `group_1: a b` of
//! OrthoMCL and OrthoFinder, and the tables of OrthoFinder, with a column per species.

use super::shape::is_path;
use crate::text::number::is_whole_number;

/// Words that are labels of communities, before a number.
const WORDS: [&str; 10] = [
    "circle",
    "group",
    "family",
    "cluster",
    "community",
    "module",
    "orthogroup",
    "og",
    "hog",
    "n0.hog",
];
/// Names of the columns before those of species in the tables of OrthoFinder.
const GROUP_COLUMNS: [&str; 4] = ["hog", "og", "gene tree parent clade", "orthogroup"];

/// Returns whether a text is the label of a community, if it stands first in a line: a word such as `group` and a
/// number, or whatever ends with a colon. In a result, such a name is in quotes.
pub fn is_label(text: &[u8]) -> bool {
    is_certain(text) || is_numbered(text)
}

fn is_certain(text: &[u8]) -> bool {
    text.len() > 1 && text.ends_with(b":")
}

fn is_numbered(text: &[u8]) -> bool {
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let word = text[..text.len() - digits].trim_ascii_end();
    let word = word.strip_suffix(b"_").or(word.strip_suffix(b"-")).unwrap_or(word);
    digits > 0 && WORDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Returns whether all lines, split into `rows`, begin with a label. Words such as `group1` count only if no other name
/// of the lines is a label, and if lines have more than two columns: of two, the second may as well be a community.
pub(super) fn is_labelled(lines: &[&[u8]], rows: &[Vec<&[u8]>]) -> bool {
    let is_quoted = lines.iter().any(|line| line.starts_with(b"\""));
    let all =
        |is: fn(&[u8]) -> bool| rows.iter().all(|row| row.first().is_some_and(|name| is(name)));
    let are_pairs = rows.iter().all(|row| row.len() == 2);
    // A result has a number or a path after such a name. Or it has pairs, and the first is a node with itself.
    let are_values = || rows.iter().all(|row| is_path(row[1]));
    let has_values = || rows[0][0] == rows[0][1] || are_values();
    let is_result = || are_pairs && lines[0].contains(&b'\t') && has_values();
    let of_words = || {
        let mut others = rows.iter().flat_map(|row| &row[1..]);
        all(is_numbered)
            && !are_pairs
            && others.clone().next().is_some()
            && !others.any(|name| is_label(name))
    };
    !is_quoted && (all(is_certain) && !is_result() || of_words())
}

/// Returns whether rows are a table of OrthoFinder, with genes and not only their numbers in the columns of species.
pub(super) fn is_table_of_groups(rows: &[Vec<&[u8]>]) -> bool {
    let Some((first, body)) = rows.split_first() else { return false };
    let columns = columns_of_group(first);
    let has_genes = |row: &Vec<&[u8]>| row[columns..].iter().any(|cell| !is_whole_number(cell));
    (1..first.len()).contains(&columns)
        && body.iter().all(|row| row.len() == first.len())
        && (body.is_empty() || body.iter().any(has_genes))
}

/// Returns the number of columns before those of species.
pub(super) fn columns_of_group(first: &[&[u8]]) -> usize {
    let is_known = |name: &&&[u8]| {
        GROUP_COLUMNS.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
    };
    first.iter().take_while(is_known).count()
}
