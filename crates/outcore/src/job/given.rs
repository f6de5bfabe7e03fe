//! Initial and fixed labels: files of communities, read for a graph before it is clustered.

use super::context::Context;
use crate::cluster::{ClusterOptions, GivenLabels};
use crate::error::Result;
use crate::graph::Graph;
use crate::input::CommunityInput;
use crate::io::Files;
use crate::membership::{self, Membership, MembershipOptions};
use crate::progress::Stage;
use crate::units::format_counted;
use std::path::{Path, PathBuf};

/// Checks that the files named by the options exist, before any work.
pub(super) fn check_files(options: &ClusterOptions, files: &Files) -> Result<()> {
    let paths = options.files().filter(|path| *path != Path::new("-"));
    paths.into_iter().try_for_each(|path| files.entry(path).map(drop))
}

/// Checks the first lines of these files, before any work.
pub(super) fn check_lines(
    options: &ClusterOptions,
    input: &CommunityInput,
    files: &Files,
) -> Result<()> {
    let mut paths = options.files().filter(|path| files.is_regular(path));
    paths.try_for_each(|path| membership::check(files, path, input, false))
}

/// Reads the files named by the options.
pub(super) fn read(
    context: &mut Context<'_>,
    graph: &Graph,
    options: &ClusterOptions,
    input: &CommunityInput,
) -> Result<GivenLabels> {
    let mut given = GivenLabels::default();
    if let Some(path) = &options.initial {
        let scratch = context.work.path().join("initial");
        given.initial = read_labels(context, graph, path, input, scratch, 0)?;
    }
    if let Some(path) = &options.propagation.fixed {
        let scratch = context.work.path().join("fixed");
        let held_bytes = 4 * given.initial.len() as u64;
        given.fixed = read_labels(context, graph, path, input, scratch, held_bytes)?;
    }
    Ok(given)
}

/// Reads a file of labels, with a directory of its own; the caller holds `held_bytes` meanwhile.
fn read_labels(
    context: &mut Context<'_>,
    graph: &Graph,
    path: &Path,
    input: &CommunityInput,
    scratch: PathBuf,
    held_bytes: u64,
) -> Result<Vec<u32>> {
    context.files.create_directory(&scratch)?;
    context.stage(Stage::Match, |context| {
        let options = MembershipOptions { held_bytes, scratch, ..context.reading(input) };
        let read = membership::read(context.files, path, graph, &options, context.observer)?;
        let Membership { labels, community_count, named, unknown, .. } = read;
        if unknown > 0 {
            let names = format_counted(unknown, "name", "names");
            let text = format!("{names} in `{}` are not in the graph", path.display());
            context.warn(&text)?;
        }
        let nodes = format_counted(named, "node", "nodes");
        let communities = format_counted(community_count, "community", "communities");
        Ok((labels, format!("{nodes} in {communities}")))
    })
}
