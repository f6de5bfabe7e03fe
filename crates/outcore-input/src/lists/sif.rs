//! SIF (Simple Interaction Format): `source relation target...`, or a node alone. A line with a tab is split at tabs
//! only, others at spaces. Relations are read together. Source: the manual of Cytoscape 3, section 5.1.1.

use super::edges::{ListEdges, Progress};
use super::words::{Words, fields, lines};
use crate::text::number::{is_fraction, parsed};
use outcore_io::error::opt::{COLUMNS, FORMAT};
use outcore_io::error::{Error, Result, Text};
use std::collections::HashSet;
use std::path::Path;

/// Returns whether the first line has one name, or at least three.
pub(super) fn is_network(head: &[u8]) -> bool {
    let count = |line: &[u8]| match line.contains(&b'\t') {
        true => line.split(|&byte| byte == b'\t').count(),
        false => fields(line).count(),
    };
    lines(head, b"").next().is_some_and(|line| count(line) != 2)
}

/// Asks about what may be weights, which SIF does not have: `A 0.5 B`, or `A -> B:0.5` where `B` is a node or the
/// number is a fraction.
///
/// # Errors
/// `Usage`.
pub(super) fn ask(path: &Path, head: &[u8]) -> Result<()> {
    let rows: Vec<Vec<&[u8]>> = lines(head, b"")
        .map(|line| match line.contains(&b'\t') {
            true => line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii).collect(),
            false => fields(line).collect(),
        })
        .filter(|row: &Vec<&[u8]>| row.len() > 2)
        .collect();
    let weight = |name: &'_ [u8]| -> Option<(Vec<u8>, bool)> {
        let at = memchr::memrchr(b':', name).filter(|&at| at > 0)?;
        let is_number = parsed::<f64>(&name[at + 1..]).is_some();
        is_number.then(|| (name[..at].to_vec(), is_fraction(&name[at + 1..])))
    };
    let sources: HashSet<&[u8]> = rows.iter().map(|row| row[0]).collect();
    let found: Option<Vec<_>> =
        rows.iter().flat_map(|row| &row[2..]).map(|target| weight(target)).collect();
    let are_weights = found.is_some_and(|found| {
        let is_one =
            |(name, is_fraction): &(Vec<u8>, bool)| *is_fraction || sources.contains(&name[..]);
        found.iter().any(is_one)
    }) && !sources.iter().any(|source| weight(source).is_some());
    let (message, hint) = match () {
        () if rows.is_empty() => return Ok(()),
        () if are_weights => (
            "has targets with numbers after a colon, which may be weights",
            Text::from(
                "write `SOURCE<TAB>TARGET<TAB>WEIGHT`: `awk '{for(i=3;i<=NF;i++){n=split($i,t,\":\");print $1\"\\t\"t[1]\"\\t\"t[n]}}' FILE | outcore ... -`",
            ),
        ),
        () if rows.iter().all(|row| parsed::<f64>(row[1]).is_some()) => {
            let columns = FORMAT.of("lines").with(COLUMNS.of("1,3,2"));
            (
                "has numbers as relations, which may be weights",
                format_args!("use {columns} if they are").into(),
            )
        }
        () => return Ok(()),
    };
    Err(Error::usage(format!("`{}` {message}", path.display()))
        .note(format_args!("{} reads targets and relations as they are", FORMAT.of("sif")))
        .hint(hint))
}

pub(super) fn read(words: &mut Words, edges: &mut ListEdges<'_>) -> Progress {
    words.tabs_win = true;
    while words.next_line(None)? {
        edges.begin(words.word());
        if !words.next_in_line()? {
            edges.push_alone(words)?;
            continue;
        }
        words.require("relation has no target", "expected `SOURCE RELATION TARGET`")?;
        loop {
            edges.push(words, words.word(), None)?;
            if !words.next_in_line()? {
                break;
            }
        }
    }
    Ok(())
}
