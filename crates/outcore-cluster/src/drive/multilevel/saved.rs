//! Checkpoints of multilevel methods between sweeps.
//!
//! A checkpoint holds the current level: labels, active nodes, what the nodes hold beside their arcs, and the exact
//! sums of the communities (recomputed sums would round differently). Of the levels below, only the groups are still
//! needed. Small levels are in memory and take little time, so they are not saved. Everything that the next sweep reads
//! must be saved, or the resumed result would differ.

use super::warm::{Warm, WarmStep};
use super::{Bits, Level, LevelState, Multilevel, Progress, Sums, Upper};
use crate::drive::swept::{SavedHierarchy, name_of};
use crate::kernel::history::History;
use crate::kernel::holdings::{Carries, Holdings};
use crate::store::given::GivenLabels;
use crate::store::hierarchy::Hierarchy;
use outcore_graph::Graph;
use outcore_io::checkpoint::StateReader;
use outcore_io::error::Result;
use outcore_io::reserve_large_pages;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// State of a checkpoint, without its arrays.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedCounters {
    history: History,
    /// Scans of the graph.
    scans: u64,
    /// Number of the current level.
    number: u64,
    /// Name of the directory of the level, unless it is the graph.
    directory: Option<String>,
    class_count: usize,
    done: u32,
    moved: u64,
    first_moved: u64,
    step: Option<WarmStep>,
    hierarchy: SavedHierarchy,
    /// Labels of each start, if requested.
    divisions: Option<SavedHierarchy>,
}

impl<O: Sums> Multilevel<'_, '_, O> {
    /// Saves a checkpoint if one is due.
    pub(super) fn save_if_due(
        &mut self,
        level: &Level<'_, '_>,
        state: &LevelState<O>,
        progress: &Progress,
    ) -> Result<()> {
        let Some(saves) = self.saves.as_deref_mut().filter(|saves| saves.is_due()) else {
            return Ok(());
        };
        if !level.is_on_disk {
            return Ok(());
        }
        let is_base = level.number == self.place.base;
        let scans = if is_base { level.source.scans() } else { self.scans };
        let directory = (!is_base).then(|| level.graph().directory());
        let groupings = self.hierarchy.groupings();
        let divisions = self.divisions.as_ref().map_or(&[][..], Hierarchy::groupings);
        let counters = SavedCounters {
            history: self.history.clone(),
            scans,
            number: level.number,
            directory: directory.map(name_of),
            class_count: level.class_count,
            done: progress.done,
            moved: progress.moved,
            first_moved: progress.first_moved,
            step: self.warm.step,
            hierarchy: SavedHierarchy::new(&self.hierarchy),
            divisions: self.divisions.as_ref().map(SavedHierarchy::new),
        };
        saves.save(&counters, self.job.observer, |to| {
            let files = groupings.iter().chain(divisions).map(|kept| &kept.groups);
            files.for_each(|groups| to.need(&groups.path, groups.bytes()));
            directory.into_iter().for_each(|level| to.need(level, 0));
            to.labels(&state.labels)?;
            progress.active.save(to)?;
            to.array(level.holdings.counts.iter().copied())?;
            if O::Flow::HAS_DRIFT && !is_base {
                to.array(level.holdings.drifts.iter().copied())?;
                to.array(level.holdings.teleports.iter().copied())?;
            }
            state.sums.save(to)
        })
    }

    /// Resumes from the checkpoint of an earlier job.
    pub(crate) fn resume(
        &mut self,
        level: &mut Level<'_, '_>,
        given: GivenLabels,
        mut counters: SavedCounters,
        mut from: StateReader,
    ) -> Result<LevelState<O>> {
        self.warm.step = counters.step;
        let warm = match self.warm.step {
            Some(WarmStep::Moving) => {
                let warm = Warm::new(given, level.node_count(), self.limits.size)?;
                // Marks the doubted nodes again.
                drop(self.measured_given(level, &warm)?);
                self.keep_given(&warm)?;
                Some(warm)
            }
            _ if !given.initial.is_empty() => {
                let warm = Warm::new(given, level.node_count(), self.limits.size)?;
                self.keep_given(&warm)?;
                None
            }
            _ => None,
        };
        self.job.report_resumed(counters.history.sweeps.count)?;
        let (directory, files) = (self.job.scratch, self.job.graph.files());
        self.history = std::mem::take(&mut counters.history);
        self.history.resume();
        if self.history.starts.count > 0 {
            self.end_trials(self.starts.are_on_graph());
        }
        level.source.count_from(counters.scans);
        std::mem::take(&mut counters.hierarchy).restore(&mut self.hierarchy, directory)?;
        if let Some((kept, saved)) = self.divisions.as_mut().zip(counters.divisions.take()) {
            saved.restore(kept, directory)?;
        }
        let graph = counters.directory.as_ref();
        let graph = graph.map(|name| Graph::open(files, &directory.join(name)));
        let graph = graph.transpose()?;
        let nodes = graph.as_ref().map_or(level.graph().node_count(), Graph::node_count) as usize;
        let is_base = graph.is_none();
        let (state, progress, holdings) = self.load_sweeps(&counters, nodes, is_base, &mut from)?;
        from.finish()?;
        let Some(graph) = graph else {
            return self.continue_from(level, state, progress, warm);
        };
        let (number, class_count) = (counters.number, counters.class_count);
        let holdings = Arc::new(holdings);
        let upper =
            Upper { graph, is_on_disk: true, holdings, number, state, class_count, progress };
        let state = self.ascend(level, upper)?;
        self.end_cycle(level, state)
    }

    /// Loads the current level, which has `nodes` nodes: its communities, their progress, and what the nodes hold. The
    /// flow of the nodes of the base is known.
    fn load_sweeps(
        &self,
        counters: &SavedCounters,
        nodes: usize,
        is_base: bool,
        from: &mut StateReader,
    ) -> Result<(LevelState<O>, Progress, Holdings)> {
        let mut labels: Vec<AtomicU32> = reserve_large_pages(nodes);
        labels.resize_with(nodes, AtomicU32::default);
        from.labels(&mut labels)?;
        let &SavedCounters { done, moved, first_moved, .. } = counters;
        let active = Bits::new(nodes, false);
        let mut progress = Progress { done, moved, first_moved, active };
        progress.active.load(from)?;
        let mut holdings = Holdings { counts: from.numbers()?, ..Holdings::default() };
        if O::Flow::HAS_DRIFT && !is_base {
            holdings.drifts = from.numbers()?;
            holdings.teleports = from.numbers()?;
        }
        let mut state = LevelState { labels, sums: O::load(self.rule, from)? };
        let bound = state.sums.label_bound();
        let is_below = |label: &mut AtomicU32| (*label.get_mut() as usize) < bound;
        if !holdings.fit(nodes) || !state.labels.iter_mut().all(is_below) {
            return Err(from.damaged());
        }
        Ok((state, progress, holdings))
    }
}
