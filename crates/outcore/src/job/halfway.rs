//! What reading leaves before it is finished, for a process that goes on from there.
//!
//! ```text
//!  manifest.json         `ReadSoFar`: the place in the input, counts, and what the files here are known by
//!  runs/run-*            the runs so far; what was collected is one of them
//!  runs/index-0, -1      their index, and
//!  runs/scores-0, -1     the self scores so far: in turns, so that those promised stay until others are
//!  graph/names.part      the names so far (`resume` says where); what is behind them was written later. .REJECTS.outcore-part/: likewise
//!  names/                likewise what is on disk of names that have no room in memory (`ids::spill`)
//! ```
//! The table of names is made again from their file. Cost: what was collected is a run of its own, and all self
//! scores are written; at most once a minute, and a 20th of the time.

use super::read::Fate;
use super::resume::{RUNS, SPILLED, bytes_in, checksum_of};
use super::runs::made_with;
use super::weights::SelfScores;
use super::{Job, JobOptions};
use crate::error::opt::{MEMORY, RESTART};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::NamesWriter;
use crate::ids::{NodeIndex, SpillSoFar};
use crate::input::{EdgeReader, Fingerprint, InputSoFar, NameRef, ParsedChunk};
use crate::io::{Files, SCRATCH_HINT, Sealed};
use crate::plan::{CHUNK_BYTES, Limits, SORT_BYTES_MIN};
use crate::progress::{Event, tell};
use crate::sort::{Record, Sorter, check_kept};
use crate::units::format_bytes;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What has been read so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSoFar {
    /// Which of the files that take turns are its own.
    pub(super) turn: u32,
    pub(super) input: InputSoFar,
    pub(super) node_count: u64,
    pub(super) listed_only: u64,
    pub(super) fate: Fate,
    pub(super) names: Sealed,
    /// The index of the runs; there is none before anything was to be sorted.
    pub(super) runs: Option<Sealed>,
    pub(super) scores: Option<Sealed>,
    /// There once names go to disk.
    pub(super) spill: Option<SpillSoFar>,
    /// The memory limit with which it was read, and what of it the table of names had.
    pub(super) memory_bytes: u64,
    pub(super) index_bytes: u64,
    /// Whether what is on disk of names is used up, so that nobody can go on from here.
    pub(super) is_used_up: bool,
    /// Of all these, in compact JSON with 0 in this place.
    pub(super) checksum: u64,
}

impl ReadSoFar {
    fn own_checksum(&self) -> u64 {
        checksum_of(&Self { checksum: 0, ..self.clone() })
    }

    /// The name of the index of its runs.
    pub(super) fn index(turn: u32) -> String {
        format!("index-{}", turn % 2)
    }

    /// The name of its self scores.
    pub(super) fn scores(turn: u32) -> String {
        format!("scores-{}", turn % 2)
    }

    /// Why nobody can go on from it, if so; for all but what is inside of files.
    pub(super) fn fault(
        &self,
        files: &Files,
        edges: &JobOptions,
        directory: &Path,
        graph: &Path,
    ) -> Option<String> {
        let gone = |what: &str| Some(format!("the {what} that were there are gone"));
        if self.checksum != self.own_checksum() {
            return Some("the manifest of what is there is damaged".into());
        }
        let bytes = |path: &Path| files.entry(path).map_or(0, |entry| entry.bytes);
        if bytes(&NamesWriter::kept_path(files, graph)) < self.names.bytes {
            return gone("names");
        }
        if !self.input.has_rejects(files, edges.input.rejects.as_deref()) {
            return gone("rejects");
        }
        let is_there = |spill: &SpillSoFar| spill.is_there(files, &directory.join(SPILLED));
        if !self.spill.as_ref().is_none_or(is_there) {
            return gone("names on disk");
        }
        let runs = directory.join(RUNS);
        let scores = runs.join(Self::scores(self.turn));
        if self.scores.is_some_and(|kept| bytes(&scores) != kept.bytes) {
            return gone("self scores");
        }
        let kept = check_kept(files, &runs, (&Self::index(self.turn), self.runs?));
        kept.err().map(|error| error.message().to_owned())
    }
}

/// What the next job takes over.
impl ReadSoFar {
    /// Refuses less memory than it had, if that is too little for the names.
    pub(super) fn check_memory(&self, limits: Limits, window_bytes: u64) -> Result<()> {
        let held = window_bytes + self.index_bytes + self.scores.map_or(0, |kept| kept.bytes);
        if limits.memory_bytes >= self.memory_bytes || limits.sort_bytes(held).is_some() {
            return Ok(());
        }
        let message = "too little memory for the names that were read";
        Err(made_with(Error::new(ErrorKind::MemoryTooSmall, message), self.memory_bytes))
    }

    pub(super) fn take_scores(
        &self,
        files: &Files,
        runs: &Path,
        scores: Option<&mut SelfScores>,
    ) -> Result<()> {
        let (Some(scores), Some(kept)) = (scores, self.scores) else { return Ok(()) };
        scores.reopen(files, &runs.join(Self::scores(self.turn)), kept, self.node_count)
    }

    pub(super) fn take_runs<R>(
        &self,
        files: &Files,
        runs: &Path,
        sort_bytes: u64,
        threads: usize,
    ) -> Result<Sorter<R>>
    where
        R: Record,
        R::Key: Into<u128> + TryFrom<u128>,
    {
        let Some(kept) = self.runs else { return Sorter::new(files, runs, sort_bytes, threads) };
        let index = Self::index(self.turn);
        Sorter::reopen(files, runs, (&index, kept), sort_bytes, threads)
            .map_err(|error| made_with(error, self.memory_bytes))
    }

    /// Fills the table of names, and goes on with their file.
    pub(super) fn take_names(
        &self,
        job: &Job<'_>,
        graph: &Path,
        index: &mut NodeIndex,
    ) -> Result<NamesWriter> {
        let done = self.input.done_bytes;
        let tick = || tell(job.observer, Event::Advance { done });
        let room = job.limits.read_bytes().saturating_sub(SORT_BYTES_MIN).max(self.index_bytes);
        let mut again = Again::new(index, (job.limits.threads, room), &tick);
        let names = NamesWriter::reopen(job.files, graph, self.names, |name| again.push(name))?;
        again.finish(self.node_count, &NamesWriter::kept_path(job.files, graph))?;
        Ok(names)
    }
}

impl Job<'_> {
    /// Tells from where it goes on.
    pub(super) fn tell_of(&self, so_far: &ReadSoFar, reader: &EdgeReader) -> Result<()> {
        let done = format_bytes(so_far.input.done_bytes);
        let mut text = format!("goes on from {done}, read by a run that was stopped");
        if reader.repeats() {
            text += "; up to there the file is decompressed again";
        }
        tell(self.observer, Event::Detail { text: &text })
    }

    /// Whether anybody could go on from what is kept.
    pub(super) fn can_keep(&self) -> bool {
        self.manifest.as_ref().is_some_and(|(manifest, _)| manifest.made_of.is_some())
    }

    /// Lets the manifest promise what was read so far, all of which has reached the disk.
    pub(super) fn promise(&mut self, mut so_far: ReadSoFar) -> Result<()> {
        let Some((manifest, directory)) = &mut self.manifest else { return Ok(()) };
        so_far.checksum = so_far.own_checksum();
        manifest.so_far = Some(Box::new(so_far));
        manifest.write(self.files, directory)
    }

    /// Whether names on disk can stay until they and their edges are numbered and sorted.
    pub(super) fn has_room_for_spilled(&self, directory: &Path, edge_count: u64) -> bool {
        // Numbers and new names take no more than the names; a record of an arc takes 12 bytes at most.
        let needed = bytes_in(self.files, directory) + 2 * 12 * edge_count;
        self.files.free_bytes(directory).is_some_and(|free| free >= needed)
    }

    /// Promises nothing more of what was read so far, for names on disk are about to be used up.
    pub(super) fn take_back(&mut self) -> Result<()> {
        let so_far = self.manifest.as_mut().and_then(|(manifest, _)| manifest.so_far.take());
        so_far.map_or(Ok(()), |so_far| self.promise(ReadSoFar { is_used_up: true, ..*so_far }))
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
