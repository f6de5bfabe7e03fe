//! What reading leaves for the merge, kept for the next process as well, and taken over from an earlier one.
//!
//! Runs, their index and self scores lie in one directory; names are in that of the graph. All are synced
//! before the manifest promises them.

use super::resume::{INDEX, RUNS, SCORES};
use super::weights::SelfScores;
use super::{Job, ReadDone};
use crate::error::opt::{MEMORY, RESTART};
use crate::error::{Error, ErrorKind, Result};
use crate::io::{Scratch, Sealed};
use crate::progress::{Event, Stage, tell};
use crate::sort::{Record, Sorter};
use crate::units::size_to_type;
use std::path::Path;

/// What the read stage leaves.
pub(super) struct Numbered<R: Record> {
    pub(super) sorter: Sorter<R>,
    pub(super) node_count: u64,
    /// There if weights are to be divided by them.
    pub(super) scores: Option<SelfScores>,
    /// Of the file of names.
    pub(super) names: Sealed,
    /// What was warned of.
    pub(super) warnings: Vec<String>,
}

impl<R: Record> Numbered<R> {
    pub(super) fn score_bytes(&self) -> u64 {
        self.scores.as_ref().map_or(0, SelfScores::memory_bytes)
    }
}

/// The error for what an earlier job has left if there is too little memory for it now.
pub(super) fn made_with(error: Error, memory_bytes: u64) -> Error {
    match error.kind() {
        ErrorKind::MemoryTooSmall => error.hint(format_args!(
            "use {}, with which they were made, or {RESTART}",
            MEMORY.of(size_to_type(memory_bytes))
        )),
        _ => error,
    }
}

/// Takes over what an earlier job has read.
pub(super) fn take_runs<R>(
    job: &mut Job<'_>,
    read: ReadDone,
    scratch: &Scratch,
) -> Result<Numbered<R>>
where
    R: Record,
    R::Key: Into<u128> + TryFrom<u128>,
{
    job.limits.check()?;
    job.stage(Stage::Read, |job| {
        tell(job.observer, Event::Begin { stage: Stage::Read, total: None, unit: "bytes" })?;
        let directory = scratch.path().join(RUNS);
        let (names, runs) = (read.names, read.runs.expect("taken over for its runs"));
        let (files, limits, node_count) = (job.files, job.limits, read.node_count);
        let mut scores = read.scores.map(|_| SelfScores::new(8 * node_count));
        if let (Some(scores), Some(sealed)) = (&mut scores, read.scores) {
            scores.reopen(files, &directory.join(SCORES), sealed, node_count)?;
        }
        let score_bytes = scores.as_ref().map_or(0, SelfScores::memory_bytes);
        let too_small = || limits.too_small(node_count, "the input has");
        let budget =
            limits.merge_bytes_beside(score_bytes, &files.tuning()).ok_or_else(too_small)?;
        let sorter = Sorter::reopen(files, &directory, (INDEX, runs), budget, limits.threads);
        let sorter = sorter.map_err(|error| made_with(error, read.memory_bytes))?;
        job.tell_again(read)?;
        let numbered = Numbered { sorter, node_count, scores, names, warnings: Vec::new() };
        Ok((numbered, "the runs of a run that was stopped are taken over".into()))
    })
}

/// The most that runs and graph take together for an edge of the input. Of the 16 that a job may take beside the
/// names, what is on its way takes a part.
const RUNS_AND_GRAPH_BYTES: u64 = 15;

impl Job<'_> {
    /// Reports what an earlier job has read: as it was understood, and with its warnings.
    pub(super) fn tell_again(&mut self, read: ReadDone) -> Result<()> {
        self.tell_formats(&read.input.formats)?;
        for text in &read.warnings {
            tell(self.observer, Event::Warning { text })?;
        }
        self.report.input = Some(read.input);
        Ok(())
    }

    /// Makes what was read last for another process, if it may go on from it; the manifest is written when the stage ends.
    pub(super) fn keep_runs<R>(
        &mut self,
        numbered: &mut Numbered<R>,
        scratch: &Scratch,
    ) -> Result<()>
    where
        R: Record,
        R::Key: Into<u128> + TryFrom<u128>,
    {
        let Some((manifest, _)) = &mut self.manifest else { return Ok(()) };
        if manifest.made_of.is_none() {
            return Ok(());
        }
        let runs = numbered.sorter.keep(INDEX)?;
        let path = scratch.path().join(RUNS).join(SCORES);
        let scores = numbered.scores.as_ref().filter(|_| runs.is_some());
        let scores = scores.map(|scores| scores.keep(self.files, &path));
        let read = ReadDone {
            node_count: numbered.node_count,
            names: numbered.names,
            runs,
            scores: scores.transpose()?,
            memory_bytes: self.limits.memory_bytes,
            input: self.report.input.clone().unwrap_or_default(),
            warnings: std::mem::take(&mut numbered.warnings),
            checksum: 0,
        };
        manifest.read = Some(read.sealed());
        manifest.so_far = None;
        Ok(())
    }

    /// Runs that are kept stay until the graph is whole, if the disk has room for both, and the two keep to
    /// [`RUNS_AND_GRAPH_BYTES`]; else they are used up by the merge, and a job that is killed then begins anew.
    /// Gives how far the graph may grow beside all of them.
    pub(super) fn keep_or_use_up<R>(
        &mut self,
        numbered: &mut Numbered<R>,
        scratch: &Scratch,
        graph: &Path,
    ) -> Result<Option<u64>>
    where
        R: Record,
        R::Key: Into<u128> + TryFrom<u128>,
    {
        let kept = self.manifest.as_ref().and_then(|(manifest, _)| manifest.read.as_ref());
        if kept.is_none_or(|read| read.runs.is_none()) {
            return Ok(None);
        }
        let sorter = &mut numbered.sorter;
        let (run_bytes, pass_bytes) = (sorter.run_bytes(), sorter.pass_bytes());
        // An arc takes no more in a graph than in a run; beside arcs there are up to three bytes a node.
        let graph_bytes = run_bytes + 3 * numbered.node_count;
        let edges = self.report.input.as_ref().map_or(0, |input| input.edge_count);
        let most = RUNS_AND_GRAPH_BYTES * edges;
        // What several passes have merged cannot be given up by halves.
        let is_too_much = pass_bytes > 0 && run_bytes + pass_bytes + graph_bytes > most;
        let has_room =
            |path: &Path, bytes| self.files.free_bytes(path).is_some_and(|free| free >= bytes);
        if is_too_much
            || !has_room(scratch.path(), pass_bytes + graph_bytes)
            || !has_room(graph, graph_bytes)
        {
            self.take_back_runs()?;
            sorter.release();
            return Ok(None);
        }
        let has_passes = pass_bytes > 0;
        Ok((!has_passes).then(|| most.saturating_sub(run_bytes)))
    }

    /// Runs are not promised any more, before the first is gone.
    pub(super) fn take_back_runs(&mut self) -> Result<()> {
        let Some((manifest, directory)) = &mut self.manifest else { return Ok(()) };
        manifest.read = manifest.read.take().map(ReadDone::without_runs);
        manifest.write(self.files, directory)
    }
}
