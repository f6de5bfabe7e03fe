//! Paths of each kind of job, to be checked before anything is written.

use super::{beside, scratch_name};
use crate::cluster::ClusterOptions;
use crate::compare::CompareOptions;
use crate::error::Result;
use crate::error::opt::{
    AGAINST, APPEND, COMMUNITIES, DROP, FIXED, HEIGHTS, INITIAL, KEEP, MATCH, MOVED, NODES, OUTPUT,
    PREFER, REJECTS, REPRESENTATIVES, SUMMARY,
};
use crate::io::Files;
use crate::job::present::Targets;
use crate::job::{ExportOptions, JobOptions, PresentOptions, ScoreOptions, Source};
use crate::output::{Paths, Written};
use std::path::Path;

/// Returns the paths of [`build`](crate::job::build).
pub fn build_paths(options: &JobOptions, graph: &Path) -> Paths {
    let paths = options.paths(Paths::default().write_directory(OUTPUT, graph));
    let name = &scratch_name(graph);
    paths.work_in(&options.work_dir, name).own(OUTPUT, &beside(graph).join(name))
}

/// Returns the paths of [`cluster_and_present`](crate::job::cluster_and_present).
///
/// # Errors
/// `Usage` if several results would go to one stream.
pub fn cluster_paths(
    files: &Files,
    source: &Source,
    options: &ClusterOptions,
    present: &PresentOptions,
    output: &Path,
) -> Result<Paths> {
    let targets = Targets::new(files, options, present, output)?;
    let paths = Paths::default()
        .write(OUTPUT, &targets.outputs)
        .write(REPRESENTATIVES, &targets.sides.representatives)
        .write(KEEP, &targets.sides.keep)
        .write(DROP, &targets.sides.drop)
        .write(HEIGHTS, &targets.sides.heights)
        .write(SUMMARY, &targets.sides.summary)
        .read(INITIAL, &options.initial)
        .read(FIXED, &options.propagation.fixed)
        .read(MATCH, &present.earlier)
        .read(PREFER, present.priorities());
    let (paths, work_dir) = match source {
        Source::Edges(edges) => (edges.paths(paths), &edges.work_dir),
        Source::Graph { path, work_dir, .. } => (paths.read_graph(None, [path]), work_dir),
    };
    Ok(paths.work_in(work_dir, &scratch_name(output)))
}

/// Returns the paths of [`score`](crate::job::score()).
pub fn score_paths(options: &ScoreOptions) -> Paths {
    Paths::default()
        .read_graph(None, [&options.graph])
        .read(None, [&options.communities])
        .read(AGAINST, &options.against)
        .work_in(&options.work_dir, &scratch_name(Path::new("-")))
}

/// Returns the paths of [`export`](crate::job::export()).
pub fn export_paths(options: &ExportOptions) -> Paths {
    Paths::default()
        .read_graph(None, [&options.graph])
        .read(COMMUNITIES, &options.communities)
        .write(OUTPUT, [&options.output])
        .write(NODES, &options.nodes)
        .work_in(&options.work_dir, &scratch_name(&options.output))
}

/// Returns the paths of [`compare`](crate::job::compare()).
pub fn compare_paths(options: &CompareOptions) -> Paths {
    Paths::default()
        .read(None, [&options.a, &options.b])
        .write(OUTPUT, &options.output)
        .write(MOVED, &options.moved)
        .work_in(&options.work_dir, &scratch_name(options.result()))
}

impl JobOptions {
    /// Refuses a name of the rejects that has the ending of another format.
    pub(in crate::job) fn check_rejects(&self) -> Result<()> {
        let rejects = self.input.rejects.as_deref();
        rejects.map_or(Ok(()), |path| Written::TEXT.check(&REJECTS, path))
    }

    /// Adds the paths of the input and of the rejects.
    fn paths(&self, paths: Paths) -> Paths {
        let is_table = |path: &Path| self.input.stream.is_some() && path == Path::new("-");
        let edges = self.input.paths.iter().filter(|path| !is_table(path));
        paths
            .read(None, edges)
            .read(NODES, &self.input.nodes)
            .read_graph(APPEND, &self.append)
            .write(REJECTS, &self.input.rejects)
    }
}
