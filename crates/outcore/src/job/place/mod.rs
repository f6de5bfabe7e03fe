//! Places of a job's temporary files, and of a graph until it is complete.

mod manifest;
mod paths;

pub use manifest::{InputFile, JobKind, JobManifest};
pub use paths::{build_paths, cluster_paths, compare_paths, export_paths, score_paths};

use crate::error::Result;
use crate::io::{Files, Owner, Scratch};
use crate::progress::Stage;
use std::path::{Path, PathBuf};

/// Name of the directory in which the graph is built.
pub(crate) const GRAPH: &str = "graph";
/// Name of the directory of runs.
pub(crate) const RUNS: &str = "runs";
/// Name of the directory of names that do not fit in memory.
pub(crate) const SPILLED: &str = "names";

/// Returns the name of a job's temporary directory, derived from the name of its result.
pub(super) fn scratch_name(result: &Path) -> String {
    let name = result.file_name().map(|name| name.to_string_lossy().into_owned());
    let stdout = || format!("stdout-{}", std::process::id());
    format!(".{}.outcore", name.filter(|name| name != "-").unwrap_or_else(stdout))
}

/// Removes the temporary files of a job that was killed just after its graph was renamed into place.
pub(super) fn discard_left(files: &Files, work_dir: &Path, graph: &Path) -> Result<()> {
    let directory = work_dir.join(scratch_name(graph));
    let mut left = match JobManifest::read(files, &directory) {
        Ok(Some(left)) => left,
        // Its removal was interrupted: the manifest is removed first.
        Ok(None) if files.entry(&directory).is_ok() => {
            return Scratch::take(files, work_dir, &scratch_name(graph)).map(drop);
        }
        // A manifest that cannot be read is left for the user to inspect.
        _ => return Ok(()),
    };
    let is_of_it = left.job == JobKind::Build && left.result == graph.display().to_string();
    let is_gone = files.entry(&grows_at(files, work_dir, graph)).is_err();
    let is_named = left.stages_done.contains(&Stage::Merge) && is_gone;
    if is_of_it && is_named {
        let mut scratch = Scratch::take(files, work_dir, &scratch_name(graph))?;
        // Removed on drop; until then, the manifest names the owner.
        left.owner = Owner::current();
        scratch.begin(&left.to_bytes(), &[])?;
    }
    Ok(())
}

/// Returns the directory in which a graph is renamed into place.
pub(super) fn beside(graph: &Path) -> &Path {
    graph.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the parent of the temporary directory in which a graph is built: next to the graph, wherever the work
/// directory is, so that the graph can be renamed into place.
pub(super) fn grows_in<'a>(files: &Files, work_dir: &'a Path, graph: &'a Path) -> &'a Path {
    if files.is_same(work_dir, beside(graph)) { work_dir } else { beside(graph) }
}

/// Returns the path at which a graph is built before it is renamed into place, in a directory that belongs to the job.
pub(super) fn grows_at(files: &Files, work_dir: &Path, graph: &Path) -> PathBuf {
    grows_in(files, work_dir, graph).join(scratch_name(graph)).join(GRAPH)
}

/// Locks the temporary directory in which the graph is built, if it is not in the work directory, so that jobs with
/// different work directories exclude each other. Its contents stay unchanged until it is known what can be reused.
pub(super) fn hold_place(files: &Files, work_dir: &Path, graph: &Path) -> Result<Option<Scratch>> {
    let parent = grows_in(files, work_dir, graph);
    if parent == work_dir {
        return Ok(None);
    }
    Scratch::take(files, parent, &scratch_name(graph)).map(Some)
}
