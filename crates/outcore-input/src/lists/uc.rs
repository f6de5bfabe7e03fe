//! Clusters of vsearch and usearch (`--uc`): ten columns between tabs. A hit (`H`) is an edge from its query to its
//! target, whose weight is the identity in percent; a centroid (`S`) is a node; other records repeat these. Source: the
//! manual of vsearch 2.

use super::edges::{ListEdges, Progress, WeightText};
use super::words::{Words, lines, whole_number};

const COLUMNS: usize = 10;
const IDENTITY: usize = 3;
const QUERY: usize = 8;

/// Returns whether the first line is a record, or begins like one in a file that is named so.
pub(super) fn is_table(head: &[u8], is_named: bool) -> bool {
    let Some(line) = lines(head, b"#").next() else { return false };
    let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').take(COLUMNS + 1).collect();
    if !matches!(columns[0], b"S" | b"H" | b"C" | b"N" | b"L" | b"D" | b"R") {
        return false;
    }
    is_named
        || columns.len() == COLUMNS
            && columns[1..3].iter().all(|word| *word == b"*" || whole_number(word).is_some())
            && matches!(columns[4], b"+" | b"-" | b"." | b"*")
}

pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    words.tabs_win = true;
    let mut identity = Vec::new();
    while words.next_line(Some(b'#'))? {
        let is_hit = match words.word() {
            b"H" => true,
            b"S" => false,
            b"C" | b"N" | b"L" | b"D" | b"R" => {
                words.skip_line()?;
                continue;
            }
            _ => {
                return words.fail("type of record is not known", "expected `H`, `S`, `C` or `N`");
            }
        };
        for column in 1..COLUMNS {
            words.require("record is cut off", "expected 10 columns between tabs")?;
            if column == IDENTITY && is_hit {
                let is_whole = words.word() == b"*";
                words.copy_to(&mut identity);
                if is_whole {
                    identity = b"100".to_vec();
                }
                edges.check_weight(words, WeightText { text: &identity, from: 0 })?;
            } else if column == QUERY {
                edges.begin(words.word());
            }
        }
        let weight = Some(WeightText { text: &identity, from: 0 });
        match is_hit {
            true => edges.push(words, words.word(), weight)?,
            false => edges.push_alone(words)?,
        }
        words.end_line()?;
    }
    Ok(())
}
