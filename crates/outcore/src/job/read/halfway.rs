//! What reading saves before it is finished, and how another process resumes it there.
//!
//! The checkpoint has the place in the input, counts, self scores, and the blocks of runs: what was collected is written
//! as a run of its own. Its files are runs, names, those of names that have no room in memory (`ids::spill`), and rejects:
//! each as long as it was, whatever is behind that was written later. The table of names is made again from their
//! file. At most once a minute, and a 20th of the time.

use super::Fate;
use super::runs::made_with;
use super::weights::SelfScores;
use crate::budget::Limits;
use crate::checkpoint::{Checkpoint, StateReader};
use crate::error::opt::{MEMORY, RESTART};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::NamesWriter;
use crate::ids::{NodeIndex, SpillState};
use crate::input::{CHUNK_BYTES, EdgeReader, Fingerprint, InputState, NameRef, ParsedChunk};
use crate::io::{SCRATCH_HINT, Sealed};
use crate::job::Job;
use crate::job::resume::bytes_in;
use crate::progress::{Event, notify};
use crate::sort::{SORT_BYTES_MIN, SortState};
use crate::units::format_bytes;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What has been read so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadState {
    pub(crate) input: InputState,
    pub(crate) node_count: u64,
    pub(crate) listed_only: u64,
    pub(super) fate: Fate,
    pub(crate) names: Sealed,
    pub(crate) runs: SortState,
    /// The nodes that have self scores.
    pub(crate) scores: Option<u64>,
    /// There once names go to disk.
    pub(crate) spill: Option<SpillState>,
    /// The memory limit with which it was read, and what of it the table of names had.
    pub(crate) memory_bytes: u64,
    pub(crate) index_bytes: u64,
}

impl ReadState {
    /// Refuses less memory than it had, if that is too little for the names.
    pub(crate) fn check_memory(&self, limits: Limits, window_bytes: u64) -> Result<()> {
        let held = window_bytes + self.index_bytes + self.scores.map_or(0, SelfScores::bytes_of);
        if limits.memory_bytes >= self.memory_bytes || limits.sort_bytes(held).is_some() {
            return Ok(());
        }
        let message = "too little memory for the names that were read";
        Err(made_with(Error::new(ErrorKind::MemoryTooSmall, message), self.memory_bytes))
    }

    /// Fills the table of names, and resumes their file.
    pub(crate) fn resume_names(
        &self,
        job: &Job<'_>,
        from: &mut StateReader,
        graph: &Path,
        index: &mut NodeIndex,
    ) -> Result<NamesWriter> {
        let done = self.input.done_bytes;
        let tick = || notify(job.observer, Event::Advance { done });
        let room = job.limits.read_bytes().saturating_sub(SORT_BYTES_MIN).max(self.index_bytes);
        let mut again = Again::new(index, (job.limits.threads, room), &tick);
        let each = &mut |name: &[u8]| again.push(name);
        let names = NamesWriter::resume(&self.names, from, (job.files, graph, each))?;
        again.finish(self.node_count, &NamesWriter::path_now(job.files, graph))?;
        Ok(names)
    }
}

impl Job<'_> {
    /// Tells from where it resumes.
    pub(crate) fn report_on(&self, state: &ReadState, reader: &EdgeReader) -> Result<()> {
        let done = format_bytes(state.input.done_bytes);
        let mut text = format!("goes on from {done}, read by a run that was stopped");
        if reader.repeats() {
            text += "; up to there the file is decompressed again";
        }
        notify(self.observer, Event::Detail { text: &text })
    }

    /// Whether names on disk can stay until they and their edges are numbered and sorted.
    pub(crate) fn has_room_for_spilled(&self, directory: &Path, edge_count: u64) -> bool {
        // Numbers and new names take no more than the names; a record of an arc takes 12 bytes at most.
        let needed = bytes_in(self.files, directory) + 2 * 12 * edge_count;
        self.files.free_bytes(directory).is_some_and(|free| free >= needed)
    }
}

/// Names on their way back to the index.
struct Again<'a> {
    index: &'a mut NodeIndex,
    chunks: Vec<ParsedChunk>,
    /// The one that is being filled.
    at: usize,
    indexes: Vec<Vec<u32>>,
    /// What the index may take.
    room: u64,
    tick: &'a dyn Fn() -> Result<()>,
}

impl<'a> Again<'a> {
    /// For an empty index; `tick` is called now and then.
    fn new(
        index: &'a mut NodeIndex,
        (threads, room): (usize, u64),
        tick: &'a dyn Fn() -> Result<()>,
    ) -> Self {
        let mut chunks = Vec::new();
        chunks.resize_with(threads.max(1), ParsedChunk::default);
        Self { index, chunks, at: 0, indexes: Vec::new(), room, tick }
    }

    /// Numbers the next name.
    fn push(&mut self, name: &[u8]) -> Result<()> {
        let chunk = &mut self.chunks[self.at];
        let (offset, bytes) = (chunk.text.len() as u32, name.len() as u32);
        chunk.names.push(NameRef { fingerprint: Fingerprint::of(name), offset, bytes });
        chunk.text.extend_from_slice(name);
        if chunk.text.len() as u64 >= CHUNK_BYTES / 4 {
            self.at += 1;
        }
        if self.at == self.chunks.len() { self.number() } else { Ok(()) }
    }

    fn number(&mut self) -> Result<()> {
        let (chunks, indexes) = (&self.chunks, &mut self.indexes);
        if self.index.resolve_within(chunks, indexes, self.room, |_| Ok(()))?.is_some() {
            let message = "too little memory for the names that were read";
            return Err(Error::new(ErrorKind::MemoryTooSmall, message)
                .hint(format_args!("use more {MEMORY}, or {RESTART}")));
        }
        for chunk in &mut self.chunks {
            chunk.text.clear();
            chunk.names.clear();
        }
        self.at = 0;
        (self.tick)()
    }

    /// Numbers the rest; an error unless there were `node_count` names, no two of them the same.
    fn finish(mut self, node_count: u64, path: &Path) -> Result<()> {
        self.number()?;
        if self.index.node_count() == node_count {
            return Ok(());
        }
        Err(Error::corrupt_of(path, "it holds other names than were written", SCRATCH_HINT))
    }
}
