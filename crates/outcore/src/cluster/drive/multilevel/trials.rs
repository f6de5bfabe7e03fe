//! Several starts on one level, of which the best by the objective is continued.
//!
//! Local moving ends in a local optimum, and which one depends on where it starts. Starts are compared on the first
//! level that is small: the graph itself if it has at most `START_SIZE` nodes and arcs, otherwise a contracted level. Each start
//! is solved on that level and those above it; the best is then moved on the level again, and on those below.
//! The choice of the level depends on the graph alone, so memory and threads change nothing.
//!
//! Cost: each start about as many arcs as the level and those above it take. Memory: labels and sums of the best so
//! far, 28 bytes per node of the level at most; a contracted level has at most a quarter of the nodes of the graph.

use super::{LABEL_BYTES, Level, LevelState, Multilevel, Progress};
use crate::cluster::base::bits::Bits;
use crate::cluster::base::hash::mix;
use crate::cluster::drive::groups::sums_of;
use crate::cluster::kernel::objective::Sums;
use crate::cluster::methods::options::Seeding;
use crate::cluster::objectives::modularity::{Density, Null};
use crate::error::Result;
use crate::progress::{Event, notify};
use std::sync::atomic::AtomicU32;

/// Arcs of a graph of medium size: its starts are tried on a level of a quarter of its size...
const MEDIUM_ARCS: u64 = 1 << 21;
const MEDIUM_SHARE: u64 = 4;
/// ...and those of a larger one on a level of this share.
const LARGE_SHARE: u64 = 64;
/// A start replaces the best one if its quality is better by more than this; smaller differences are rounding.
const MARGIN: f64 = 1e-9;

/// Returns so many starts, the usual one not counted; sizes of communities may be limited. `null` is that of the
/// objective, or of modularity.
pub(crate) fn starts(
    count: usize,
    seeding: Seeding,
    null: Null,
    is_limited: bool,
) -> Vec<TrialStart> {
    let scaled = |factor: f64| match null {
        Null::Strength(resolution) => TrialStart::Density(Null::Strength(factor * resolution)),
        Null::Count(resolution) => TrialStart::Density(Null::Count(factor * resolution)),
    };
    let seeded = [TrialStart::Seeding(Seeding::Own), TrialStart::Seeding(seeding)];
    // Communities of another objective may be larger than the limit.
    let others = match is_limited {
        true => Vec::new(),
        false => {
            vec![
                scaled(2.0),
                TrialStart::Undivided,
                scaled(4.0),
                scaled(0.5),
                scaled(8.0),
                scaled(1.0),
            ]
        }
    };
    let mut others = others.into_iter();
    let mut seeded = seeded.into_iter().cycle();
    let mut all = Vec::new();
    while all.len() < count {
        all.extend(seeded.next());
        all.extend(others.by_ref().take(2));
    }
    all.truncate(count);
    all
}

/// Communities to start from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TrialStart {
    /// Those of the seeding, by another seed.
    Seeding(Seeding),
    /// Those that maximize modularity or the constant Potts model.
    Density(Null),
    /// One of all nodes.
    Undivided,
}

impl<'a, 'j, O: Sums> Multilevel<'a, 'j, O> {
    /// Returns whether other starts are to be tried on this level.
    pub(super) fn tries_starts(&self, level: &Level<'_, '_>) -> bool {
        if self.starts.is_empty() || self.history.trials > 0 || self.step.is_some() {
            return false;
        }
        let (base, graph) = (self.job.graph, level.graph());
        if self.job.is_small() {
            return level.number == 0;
        }
        let share = if base.arc_count() <= MEDIUM_ARCS { MEDIUM_SHARE } else { LARGE_SHARE };
        level.number > 0
            && graph.arc_count() <= base.arc_count() / share
            && graph.node_count() <= base.node_count() / MEDIUM_SHARE
    }

    /// Returns the best communities of a level: those found from `state`, or from one of the other starts.
    pub(super) fn best_start(
        &mut self,
        level: &mut Level<'_, '_>,
        state: LevelState<O>,
        progress: Progress,
    ) -> Result<LevelState<O>> {
        self.history.trials = 1;
        let mut best = self.solve_apart(level, self.rule, self.start, |other, level| {
            let state = other.cycles(level, state, progress)?;
            other.measured(level, state.labels)
        })?;
        let seed = level.seed;
        for (number, start) in (1..).zip(self.starts.clone()) {
            self.detail(&format!("level {}: start {}", level.number, number + 1))?;
            level.seed = mix(seed ^ number);
            let found = self.begin_at(level, start);
            level.seed = seed;
            let found = found?;
            self.history.trials += 1;
            if found.1 > best.1 + MARGIN {
                best = found;
            }
        }
        Ok(best.0)
    }

    /// Solves the level from one start; returns its communities and their quality.
    fn begin_at(
        &mut self,
        level: &mut Level<'_, '_>,
        start: TrialStart,
    ) -> Result<(LevelState<O>, f64)> {
        let labels = match start {
            TrialStart::Seeding(seeding) => {
                return self.solve_apart(level, self.rule, seeding, |other, level| {
                    let state = other.begin(level)?;
                    other.measured(level, state.labels)
                });
            }
            TrialStart::Undivided => (0..level.node_count()).map(|_| AtomicU32::new(0)).collect(),
            TrialStart::Density(null) => {
                let seeding = match null {
                    Null::Strength(_) => Seeding::Star,
                    Null::Count(_) => Seeding::Own,
                };
                let solve = |other: &mut Multilevel<'_, '_, Density>, level: &mut Level<'_, '_>| {
                    Ok(other.begin(level)?.labels)
                };
                self.solve_apart(level, null, seeding, solve)?
            }
        };
        self.solve_apart(level, self.rule, self.start, |other, level| {
            let (state, _) = other.measured(level, labels)?;
            let progress = Progress::new(level.node_count());
            let state = other.cycles(level, state, progress)?;
            other.measured(level, state.labels)
        })
    }

    /// Returns the communities of these labels, with sums that are computed from scratch, and their quality.
    pub(super) fn measured(
        &self,
        level: &mut Level<'_, '_>,
        labels: Vec<AtomicU32>,
    ) -> Result<(LevelState<O>, f64)> {
        self.measured_with(level, labels, None)
    }

    /// Like [`measured`](Self::measured); marks nodes with more weight to other communities than to their own.
    pub(super) fn measured_with(
        &self,
        level: &mut Level<'_, '_>,
        labels: Vec<AtomicU32>,
        doubted: Option<&Bits>,
    ) -> Result<(LevelState<O>, f64)> {
        let done = self.history.arcs;
        let tick = |_: &_| notify(self.job.observer, Event::Advance { done });
        let (counts, rule) = (&level.counts, self.rule);
        let (sums, inside) = if level.graph().is_weighted() {
            sums_of::<f64, O>(level.source, counts, &labels, doubted, rule, tick)?
        } else {
            sums_of::<u32, O>(level.source, counts, &labels, doubted, rule, tick)?
        };
        let quality = sums.quality(inside);
        Ok((LevelState { labels, sums }, quality))
    }

    /// Runs another search on the level, with files and checkpoints of its own: none of the latter.
    pub(super) fn solve_apart<P: Sums, T>(
        &mut self,
        level: &mut Level<'_, '_>,
        rule: P::Rule,
        start: Seeding,
        solve: impl FnOnce(&mut Multilevel<'a, 'j, P>, &mut Level<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        // Room for the best communities so far.
        let held = (O::COMMUNITY_BYTES + LABEL_BYTES) * level.node_count() as u64;
        // The other half is for blocks.
        let held = held.min((level.memory - level.needed) / 2);
        level.memory -= held;
        let hierarchy = self.hierarchy.lent(self.job.scratch.join("groups-start"));
        let mut other = Multilevel::<P>::new(self.job, rule, start, hierarchy);
        other.base = level.number;
        let cycles = self.history.cycles;
        other.history = std::mem::take(&mut self.history);
        other.history.cycles = 0;
        let found = solve(&mut other, level);
        level.memory += held;
        other.forget_from(0);
        self.history = std::mem::take(&mut other.history);
        self.history.cycles = cycles;
        found
    }
}
