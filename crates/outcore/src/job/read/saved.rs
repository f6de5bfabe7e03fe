//! States from which reading and merging resume, as the journal of the job stores them. Only the version that wrote a
//! state reads it.

use super::halfway::ReadState;
use super::joined::ForestState;
use super::runs::RunsState;
use crate::checkpoint::CHECKPOINT;
use crate::cluster::SAVED;
use crate::error::{ErrorKind, Result, Text};
use crate::graph::{Graph, Names};
use crate::io::Files;
use crate::job::InputReport;
use crate::job::place::{GRAPH, InputFile, RUNS, SPILLED};
use crate::job::resume::{Kept, SavedState};
use crate::progress::Stage;
use crate::units::{format_bytes, format_counted};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// State saved while a graph is built from edges.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Saved {
    /// A part of the input has been read: a position in it, and the state of reading up to there.
    Reading(Box<ReadState>),
    /// The whole input has been read, and all runs are written.
    Runs(Box<RunsState>),
    /// The graph is complete.
    Graph(Box<GraphState>),
    /// The whole input has been read for its components.
    Forest(Box<ForestState>),
}

/// A complete graph, and the parts of the report about building it.
#[derive(Serialize, Deserialize)]
pub(crate) struct GraphState {
    /// Checksum of the graph, to detect that another job has replaced it.
    pub(crate) checksum: String,
    pub(crate) input: InputReport,
    /// Warnings so far.
    pub(crate) warnings: Vec<Text>,
}

impl SavedState for Saved {
    fn kept(&self, inputs: &[InputFile]) -> Kept {
        let files = format_counted(inputs.len() as u64, "file", "files");
        let (stages_done, names, what): (&[Stage], &[&str], _) = match self {
            Self::Reading(state) => {
                let all = inputs.iter().filter_map(|input| input.bytes).sum();
                let (done, all) = (format_bytes(state.input.done_bytes), format_bytes(all));
                let what = format!("the input read so far ({done} of {all} in {files})");
                match state.spill {
                    Some(_) => (&[], &[CHECKPOINT, RUNS, GRAPH, SPILLED], what),
                    None => (&[], &[CHECKPOINT, RUNS, GRAPH], what),
                }
            }
            Self::Runs(_) => {
                (&[Stage::Read], &[CHECKPOINT, RUNS, GRAPH], format!("the runs of {files}"))
            }
            Self::Graph(_) => (
                &[Stage::Read, Stage::Merge],
                &[CHECKPOINT, GRAPH, SAVED],
                format!("the graph of {files}"),
            ),
            Self::Forest(_) => {
                (&[Stage::Read], &[CHECKPOINT, RUNS, GRAPH], format!("the components of {files}"))
            }
        };
        Kept { stages_done, names, what }
    }

    fn replaced(&self, files: &Files, directory: &Path) -> Option<String> {
        match self {
            Self::Reading(_) => None,
            Self::Runs(state) => {
                // Nothing else reads the names before the graph is complete, so damage would get into it.
                let read = || -> Result<_> {
                    let names = Names::open(files, directory)?;
                    let mut scan = names.scan();
                    while scan.next_name()?.is_some() {}
                    Ok(names.sealed())
                };
                let check = || {
                    let kinds = state.kinds.as_ref();
                    kinds.map_or(Ok(()), |kinds| kinds.check(files, directory))
                };
                match read().and_then(|names| check().map(|()| names)) {
                    Ok(names) if names == state.names => None,
                    Err(error) if error.kind() == ErrorKind::CorruptFile => {
                        Some(error.message().to_owned())
                    }
                    _ => Some("the saved names are missing or were replaced".into()),
                }
            }
            Self::Graph(state) => state.replaced(files, directory),
            Self::Forest(state) => state.graph.replaced(files, directory),
        }
    }
}

impl GraphState {
    fn replaced(&self, files: &Files, directory: &Path) -> Option<String> {
        match Graph::open(files, directory) {
            Err(error) => Some(error.message().to_owned()),
            Ok(found) => (found.checksum() != self.checksum)
                .then(|| format!("`{}` is now a different graph", directory.display())),
        }
    }
}
