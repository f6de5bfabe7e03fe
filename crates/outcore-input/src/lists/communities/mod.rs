//! Files of communities that are not a node and its community per line: recognized by what they contain.
//!
//! ```text
//!  first lines --a banner, records--> a reader of KINDS
//!             `--shape of the lines--> clusters, pairs, levels, or columns for `format`
//! ```
//!
//! Lines without a banner are a node and its community unless their shape excludes that. Names that occur once, in lines
//! of different lengths, are clusters. A first column that repeats what the second has only once, and begins with
//! itself, holds representatives. Numbers joined by colons are paths. Whatever else has more than two columns is left to
//! the header, or asked.
//!
//! Each reader passes a node and its community on at a time, so memory is that of [`lists`](super).

mod fields;
mod json;
mod labels;
mod read;
mod shape;
#[cfg(test)]
mod tests;
mod written;

pub use labels::is_label;
pub use shape::CLUSTERS_MARK;
pub use written::community_number;
pub(super) use written::find_written;

use super::kind::{ListKind, PLAIN, ReadList};
use super::words::without_mark;
use crate::CommunityFormat;
use crate::decompress::Input;
use crate::format::foreign;
use crate::options::{Column, InputOptions, LAST_LEVEL, Rows};
use outcore_io::error::opt::COMMUNITY_FORMAT;
use outcore_io::error::{Error, Result};
use std::path::Path;

/// Bytes of a file that are examined first, and at most, until it has two lines.
const HEAD_BYTES: [usize; 2] = [64 << 10, 4 << 20];

/// Readers of communities, and the values of `--community-format` that select them.
#[rustfmt::skip]
static KINDS: [(CommunityFormat, ListKind); 10] = [
    (CommunityFormat::Mcl, kind("mcl clusters", "a cluster per column", read::matrix)),
    (CommunityFormat::Clu, kind("clu", "a module per node", read::clu)),
    (CommunityFormat::Tree, ListKind { has_paths: true, ..kind("tree of Infomap", "", read::tree) }),
    (CommunityFormat::Clstr, kind("clusters of CD-HIT", "names up to `...`", read::clstr)),
    (CommunityFormat::Uc, kind("uc", "records S and H, label and cluster", read::uc)),
    (CommunityFormat::Jsonl, ListKind { has_names: true, ..kind("JSON lines", "an object per node", json::json_lines) }),
    (CommunityFormat::Clusters, commented("clusters", "a community per line, numbered from 0", read::clusters)),
    (CommunityFormat::Clusters, commented("clusters with labels", "a community per line after its label, numbered from 0", read::labelled)),
    (CommunityFormat::Clusters, commented("table of groups of OrthoFinder", "a community per line, a column per species", read::groups)),
    (CommunityFormat::Levels, ListKind { has_paths: true, ..commented("levels", "", read::levels) }),
];

const fn kind(name: &'static str, nodes: &'static str, read: ReadList) -> ListKind {
    ListKind { name, nodes, read, ..PLAIN }
}

const fn commented(name: &'static str, nodes: &'static str, read: ReadList) -> ListKind {
    ListKind { has_comments: true, ..kind(name, nodes, read) }
}

/// Returns the reader of a file of communities: as `options` say, otherwise as its first lines do. Without one, the file
/// is lines or a table.
///
/// # Errors
/// `Usage` for lines that could be read in several ways.
pub(super) fn find(
    path: &Path,
    input: &mut Input,
    options: &InputOptions,
) -> Result<Option<&'static ListKind>> {
    let format = match options.community_format {
        CommunityFormat::Auto => recognized(path, input, options)?,
        format => format,
    };
    let mut kinds = KINDS.iter().filter(|(known, _)| *known == format).map(|(_, kind)| kind);
    match format {
        // Nodes of lines begin after a label, or in the columns of species.
        CommunityFormat::Clusters => {
            let (lines, _) = lines(input, options)?;
            Ok(kinds.nth(lines.readers_before()))
        }
        _ => Ok(kinds.next()),
    }
}

/// Describes what is read of paths.
pub(super) fn of_level(options: &InputOptions) -> String {
    match (options.rows, options.community_level) {
        (Rows::Numbers, None) => "numbers are the flow".into(),
        (Rows::Numbers, Some(place)) => format!("numbers are at place {place} of paths"),
        (_, None | Some(1)) => "communities are the top modules (level 1)".into(),
        (_, Some(LAST_LEVEL)) => "communities are the modules that hold nodes (level last)".into(),
        (_, Some(level)) => format!("communities are the modules of level {level}"),
    }
}

/// Returns the options with the columns of pairs, if the file has a representative and one of its nodes per line.
///
/// # Errors
/// `Usage` for lines that could be read in several ways.
pub(crate) fn of_pairs(
    path: &Path,
    input: &mut Input,
    options: &InputOptions,
) -> Result<Option<InputOptions>> {
    if !options.rows.are_memberships() || options.columns.is_some() {
        return Ok(None);
    }
    let are_pairs = match options.community_format {
        CommunityFormat::Auto => recognized(path, input, options)? == CommunityFormat::Pairs,
        format => format == CommunityFormat::Pairs,
    };
    let columns = || Some(vec![Column::Number(2), Column::Number(1)]);
    Ok(are_pairs.then(|| InputOptions { columns: columns(), ..options.clone() }))
}

/// Refuses a format of text where the file is a table.
///
/// # Errors
/// `Usage`.
pub(crate) fn refuse_table(path: &Path, kind: &str, options: &InputOptions) -> Result<()> {
    let is_table =
        matches!(options.community_format, CommunityFormat::Auto | CommunityFormat::Lines);
    if is_table || !options.rows.are_memberships() {
        return Ok(());
    }
    let path = path.display();
    let message =
        format_args!("{COMMUNITY_FORMAT} has no effect on {kind}, the format of `{path}`");
    Err(Error::usage(message).hint("leave it out"))
}

fn recognized(path: &Path, input: &mut Input, options: &InputOptions) -> Result<CommunityFormat> {
    let (lines, head) = lines(input, options)?;
    let banner = lines.banner(head).filter(|_| !lines.are_of_result());
    // Columns that are given are obeyed.
    match banner {
        Some(format) => Ok(format),
        None if options.columns.is_some() => Ok(CommunityFormat::Lines),
        None => {
            let format = lines.shape(path);
            // Lines of one name may be anything, such as sequences; so may lines of any shape that are no text, or a
            // graph.
            let may_be_any =
                matches!(format, Ok(CommunityFormat::Clusters)) && lines.are_of_words();
            if format.is_err() || may_be_any {
                foreign::refuse(head, path, options, None, false)?;
            }
            if format.is_err() {
                super::refuse(path, input)?;
            }
            format
        }
    }
}

/// Returns the first lines of a file, and their text.
fn lines<'i>(input: &'i mut Input, options: &InputOptions) -> Result<(shape::Lines<'i>, &'i [u8])> {
    let (head, is_whole) = input.peek(HEAD_BYTES[0])?;
    let is_enough = is_whole || memchr::memchr_iter(b'\n', head).count() >= 2;
    let wanted = if is_enough { HEAD_BYTES[0] } else { HEAD_BYTES[1] };
    let (head, is_whole) = input.peek(wanted)?;
    let head = without_mark(head);
    Ok((shape::Lines::of(head, is_whole, options.comment.as_deref().unwrap_or(b"#")), head))
}

/// Returns whether the first lines are certainly nodes and their communities, although their names may look like
/// another format.
pub(crate) fn are_certain(head: &[u8]) -> bool {
    shape::Lines::of(without_mark(head), false, b"#").are_certain()
}

/// Returns the name of a file of communities of another program, which is not a list of edges.
pub(crate) fn known(head: &[u8]) -> Option<&'static str> {
    let head = without_mark(head);
    match shape::Lines::of(head, false, b"#").banner(head)? {
        CommunityFormat::Clu => Some("a file of modules (clu)"),
        CommunityFormat::Tree => Some("a tree of Infomap"),
        CommunityFormat::Clstr => Some("clusters of CD-HIT"),
        _ => None,
    }
}
