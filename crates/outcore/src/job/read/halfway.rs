//! State of a read stage that is not finished, saved so that another process can resume it.
//!
//! The checkpoint holds the position in the input, counts, self scores, and the blocks of runs, or the links of a
//! forest; records collected in memory are written as a run of their own. Its files are runs, names, spilled names (`ids::spill`) and rejects, each
//! up to its length at that time, since anything after that was written later. The table of names is rebuilt from their
//! file. State is saved at most once a minute, in at most a 20th of the time.

use super::append::NameBatch;
use super::runs::made_with;
use super::sink::SinkState;
use super::weights::SelfScores;
use crate::budget::Limits;
use crate::checkpoint::{Checkpoint, StateReader};
use crate::error::opt::{MEMORY, RESTART};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{KindNames, NamesWriter};
use crate::ids::{NodeIndex, SpillState};
use crate::input::{self, EdgeReader, InputState};
use crate::io::{SCRATCH_HINT, Sealed};
use crate::job::context::Context;
use crate::progress::{Event, Observer, notify};
use crate::sort::SORT_BYTES_MIN;
use crate::units::format_bytes;
use serde::{Deserialize, Serialize};
use std::path::Path;

const TOO_LITTLE: &str = "too little memory for the names read so far";

/// Counts of dropped edges, self hits, loops, and edges of a weight other than 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EdgeCounts {
    pub(super) below: u64,
    pub(super) above: u64,
    pub(super) self_hits: u64,
    pub(super) loops: u64,
    pub(super) zero_loops: u64,
    pub(super) weighted: u64,
}

impl EdgeCounts {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            below: self.below + other.below,
            above: self.above + other.above,
            self_hits: self.self_hits + other.self_hits,
            loops: self.loops + other.loops,
            zero_loops: self.zero_loops + other.zero_loops,
            weighted: self.weighted + other.weighted,
        }
    }
}

/// Saved state of reading a part of the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadState {
    pub(crate) input: InputState,
    pub(crate) node_count: u64,
    pub(crate) listed_only: u64,
    pub(super) counts: EdgeCounts,
    pub(crate) names: Sealed,
    pub(crate) sink: SinkState,
    /// Number of nodes with self scores, if there are any.
    pub(crate) scores: Option<u64>,
    /// Set once names are spilled to disk.
    pub(crate) spill: Option<SpillState>,
    /// Memory limit of the job that read it, and the part of it used by the table of names.
    pub(crate) memory_bytes: u64,
    pub(crate) index_bytes: u64,
}

impl ReadState {
    /// Refuses a smaller memory limit than before if it is too small for the names.
    pub(crate) fn check_memory(&self, limits: Limits, window_bytes: u64) -> Result<()> {
        let of_nodes = self.scores.map_or(0, SelfScores::bytes_of) + self.sink.node_bytes();
        let held = window_bytes + self.index_bytes + of_nodes;
        if limits.memory_bytes >= self.memory_bytes || input::sort_bytes(&limits, held).is_some() {
            return Ok(());
        }
        Err(made_with(Error::new(ErrorKind::MemoryTooSmall, TOO_LITTLE), self.memory_bytes))
    }

    /// Rebuilds the table of names, and resumes writing their file.
    pub(crate) fn resume_names(
        &self,
        context: &Context<'_>,
        from: &mut StateReader,
        graph: &Path,
        kinds: Option<&KindNames>,
        index: &mut NodeIndex,
    ) -> Result<NamesWriter> {
        let Context { files, observer, limits, .. } = *context;
        let done = self.input.done_bytes;
        let room = input::read_bytes(&limits).saturating_sub(SORT_BYTES_MIN).max(self.index_bytes);
        let (mut names, mut indexes) = (NameBatch::new(limits.threads), Vec::new());
        let mut number = |names: &mut NameBatch| {
            if index.resolve_within(names.chunks(), &mut indexes, room, |_| Ok(()))?.is_some() {
                let error = Error::new(ErrorKind::MemoryTooSmall, TOO_LITTLE);
                return Err(error.hint(format_args!("use a larger {MEMORY}, or {RESTART}")));
            }
            names.clear();
            notify(observer, Event::Advance { done })
        };
        let mut each = |name: &[u8]| if names.push(name) { number(&mut names) } else { Ok(()) };
        let written = NamesWriter::resume(&self.names, from, (files, graph, kinds, &mut each))?;
        number(&mut names)?;
        if index.node_count() == self.node_count {
            return Ok(written);
        }
        let path = NamesWriter::path_now(files, graph);
        Err(Error::corrupt_of(&path, "its names are not those that were written", SCRATCH_HINT))
    }

    /// Reports where reading resumes.
    pub(crate) fn report(&self, observer: &dyn Observer, reader: &EdgeReader) -> Result<()> {
        let done = format_bytes(self.input.done_bytes);
        let mut text = format!("resumes after {done} read by an earlier job");
        if reader.repeats() {
            text += "; the file up to that point is decompressed again";
        }
        notify(observer, Event::Detail { text: &text })
    }
}
