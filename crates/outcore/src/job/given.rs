//! Files of communities that jobs read for a graph: initial and fixed labels, and those that are scored or exported.

use super::context::Context;
use crate::cluster::{ClusterOptions, GivenLabels};
use crate::error::Result;
use crate::graph::Graph;
use crate::input::CommunityInput;
use crate::io::Files;
use crate::membership::{self, Membership, MembershipOptions};
use crate::progress::Stage;
use crate::units::{format_count, format_counted};
use std::path::Path;

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

/// Reads a file of communities as a stage; `sum_up` returns a suffix of its summary.
pub(super) fn read_stage(
    context: &mut Context<'_>,
    graph: &Graph,
    path: &Path,
    options: &MembershipOptions,
    sum_up: impl FnOnce(&Membership) -> String,
) -> Result<Membership> {
    context.stage(Stage::Match, |context| {
        let found = membership::read(context.files, path, graph, options, context.observer)?;
        let nodes = format_counted(graph.node_count(), "node", "nodes");
        let summary = format!("{} of {nodes}{}", format_count(found.named), sum_up(&found));
        Ok((found, summary))
    })
}

/// Warns of names in `path` that are not those of nodes.
pub(super) fn warn_unknown(context: &Context<'_>, path: &Path, unknown: u64) -> Result<()> {
    if unknown == 0 {
        return Ok(());
    }
    let (names, path) = (format_counted(unknown, "name", "names"), path.display());
    context.warn(format!("ignored {names} in `{path}` that the graph does not have"))
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
        let options = MembershipOptions { scratch, ..context.reading(input) };
        given.initial = read_labels(context, graph, path, &options)?;
    }
    if let Some(path) = &options.propagation.fixed {
        let scratch = context.work.path().join("fixed");
        let held_bytes = 4 * given.initial.len() as u64;
        let options = MembershipOptions { scratch, held_bytes, ..context.reading(input) };
        given.fixed = read_labels(context, graph, path, &options)?;
    }
    Ok(given)
}

/// Reads a file of labels, with a directory of its own.
fn read_labels(
    context: &mut Context<'_>,
    graph: &Graph,
    path: &Path,
    options: &MembershipOptions,
) -> Result<Vec<u32>> {
    context.files.create_directory(&options.scratch)?;
    context.stage(Stage::Match, |context| {
        let read = membership::read(context.files, path, graph, options, context.observer)?;
        let Membership { labels, community_count, named, unknown, .. } = read;
        if unknown > 0 {
            let names = format_counted(unknown, "name", "names");
            context.warn(format!("{names} in `{}` are not in the graph", path.display()))?;
        }
        let nodes = format_counted(named, "node", "nodes");
        let communities = format_counted(community_count, "community", "communities");
        Ok((labels, format!("{nodes} in {communities}")))
    })
}
