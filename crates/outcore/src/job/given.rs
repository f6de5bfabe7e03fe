//! Initial and fixed labels: files of communities, read for a graph before it is clustered.

use super::Stages;
use crate::cluster::{ClusterOptions, GivenLabels};
use crate::error::Result;
use crate::graph::Graph;
use crate::input::CommunityInput;
use crate::io::Files;
use crate::membership::{self, Membership, MembershipOptions};
use crate::progress::{Event, Stage, notify};
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

impl Stages<'_> {
    /// Reads the files named by the options; `scratch` is an existing directory.
    pub(super) fn read_given(
        &mut self,
        graph: &Graph,
        options: &ClusterOptions,
        input: &CommunityInput,
        scratch: &Path,
    ) -> Result<GivenLabels> {
        let mut given = GivenLabels::default();
        if let Some(path) = &options.initial {
            let place = (scratch.join("initial"), 0);
            given.initial = self.read_labels(graph, path, input, place)?;
        }
        if let Some(path) = &options.propagation.fixed {
            let place = (scratch.join("fixed"), 4 * given.initial.len() as u64);
            given.fixed = self.read_labels(graph, path, input, place)?;
        }
        Ok(given)
    }

    /// Reads a file of labels, with a directory of its own; the caller holds `held_bytes` meanwhile.
    fn read_labels(
        &mut self,
        graph: &Graph,
        path: &Path,
        input: &CommunityInput,
        (scratch, held_bytes): (PathBuf, u64),
    ) -> Result<Vec<u32>> {
        self.files.create_directory(&scratch)?;
        self.stage(Stage::Match, |job| {
            let options = MembershipOptions {
                input: input.clone(),
                numbered: false,
                limits: job.limits,
                held_bytes,
                scratch,
            };
            let read = membership::read(job.files, path, graph, &options, job.observer)?;
            let Membership { labels, community_count, named, unknown, .. } = read;
            if unknown > 0 {
                let names = format_counted(unknown, "name", "names");
                let text = format!("{names} in `{}` are not in the graph", path.display());
                notify(job.observer, Event::Warning { text: &text })?;
            }
            let nodes = format_counted(named, "node", "nodes");
            let communities = format_counted(community_count, "community", "communities");
            Ok((labels, format!("{nodes} in {communities}")))
        })
    }
}
