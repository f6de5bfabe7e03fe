//! Several starts, of which the best by the objective is continued.
//!
//! Local moving ends in a local optimum, and which one depends on where it starts. How many starts are tried, and where,
//! depends on the size of the graph alone, so memory and threads change nothing:
//!
//! | Nodes and arcs | Starts | on the graph itself | on a contracted level |
//! | --- | ---: | ---: | ---: |
//! | small | 10 | 10 | |
//! | medium: up to a million edges | 8 | 3 | the first of these, and 5 more |
//! | large | 6 | | 6 |
//!
//! The level is the first one that has at most a quarter of the arcs of the graph, or a 64th if that is large. Each
//! start goes through one cycle from there, or through all if the graph is small; the best is then moved there again,
//! and on the levels below, and goes through further cycles.
//!
//! Cost: on the graph, about half a clustering for each start; on a level, about as many arcs as it and those above it take.
//! Memory: none beyond that of a clustering, as the labels of all starts wait on disk.

use super::{Level, LevelState, Multilevel, Progress};
use crate::cluster::base::bits::Bits;
use crate::cluster::base::hash::mix;
use crate::cluster::drive::groups::sums_of;
use crate::cluster::drive::job::{ClusterJob, SizeClass};
use crate::cluster::finish::stability::agreement;
use crate::cluster::kernel::objective::Sums;
use crate::cluster::methods::options::{ClusterOptions, Seeding};
use crate::cluster::objectives::modularity::{Density, Null};
use crate::cluster::store::hierarchy::Hierarchy;
use crate::error::Result;
use crate::progress::{Event, notify};
use std::sync::atomic::AtomicU32;

/// Number of starts, if the options give none.
const SMALL_TRIALS: u32 = 10;
const MEDIUM_TRIALS: u32 = 8;
const LARGE_TRIALS: u32 = 6;
/// Number of starts on a medium graph if they are to tell how stable communities are.
const STABLE_TRIALS: u32 = 15;
/// Starts on a level of a medium graph, besides the usual one.
const LEVEL_STARTS: u32 = 5;
/// Shares of the arcs of a medium and of a large graph that a level has on which starts are tried.
const MEDIUM_SHARE: u64 = 4;
const LARGE_SHARE: u64 = 64;
/// Starts are compared with the best if their objective is lower by at most this share of its scale: others have
/// missed the communities, and say nothing about them...
const NEAR: f64 = 0.02;
/// ...or, in a small graph, by this over the root of its number of edges, as chance is.
const NEAR_BY_CHANCE: f64 = 2.0;
/// A start replaces the best one if its quality is better by more than this; smaller differences are rounding.
pub(super) const MARGIN: f64 = 1e-9;

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

/// Numbers of starts besides the usual one, on the graph and on a level.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StartCounts {
    pub(crate) on_graph: u32,
    pub(crate) on_level: u32,
}

impl StartCounts {
    /// Returns as many as requested, or as suit the size of the graph.
    pub(crate) fn of(options: &ClusterOptions, size: SizeClass) -> Self {
        let others = |usually: u32| options.trials.unwrap_or(usually) - 1;
        match size {
            SizeClass::Small => Self { on_graph: others(SMALL_TRIALS), on_level: 0 },
            SizeClass::Medium => {
                let all = others(if options.stability { STABLE_TRIALS } else { MEDIUM_TRIALS });
                Self { on_graph: all.saturating_sub(LEVEL_STARTS), on_level: all.min(LEVEL_STARTS) }
            }
            SizeClass::Large => Self { on_graph: 0, on_level: others(LARGE_TRIALS) },
        }
    }
}

/// Starts of a clustering.
pub(crate) struct Starts {
    /// Usual start.
    pub(super) usual: Seeding,
    /// Others, on the graph and on a level.
    on_graph: Vec<TrialStart>,
    on_level: Vec<TrialStart>,
}

impl Starts {
    /// Returns the usual start alone.
    pub(super) fn one(usual: Seeding) -> Self {
        Self { usual, on_graph: Vec::new(), on_level: Vec::new() }
    }

    /// Returns the starts of a job: as many as requested, or as suit the size of the graph. `null` is that of the
    /// objective, or of modularity.
    pub(crate) fn new(job: &ClusterJob<'_>, usual: Seeding, null: Null) -> Self {
        let (size, is_limited) = (job.size_class(), job.most().is_some());
        let StartCounts { on_graph, on_level } = StartCounts::of(job.options, size);
        let densities = match is_limited {
            // Communities of another objective may be larger than the limit.
            true => Vec::new(),
            false => densities(null),
        };
        let (few, none) = (densities.as_slice(), [].as_slice());
        let on_graph = match size {
            SizeClass::Small => listed(on_graph, few, usual),
            SizeClass::Medium | SizeClass::Large => listed(on_graph, none, usual),
        };
        Self { usual, on_graph, on_level: listed(on_level, few, usual) }
    }

    /// Returns whether some are tried on the graph.
    pub(super) fn are_on_graph(&self) -> bool {
        !self.on_graph.is_empty()
    }

    /// Takes the other starts to try on this level, if any.
    fn take_on(&mut self, level: &Level<'_, '_>, job: &ClusterJob<'_>) -> Option<Vec<TrialStart>> {
        let (base, graph) = (job.graph, level.graph());
        let starts = if level.number == 0 {
            &mut self.on_graph
        } else {
            let share = match job.size_class() {
                SizeClass::Small | SizeClass::Medium => MEDIUM_SHARE,
                SizeClass::Large => LARGE_SHARE,
            };
            let is_small = graph.arc_count() <= base.arc_count() / share
                && graph.node_count() <= base.node_count() / MEDIUM_SHARE;
            if !is_small {
                return None;
            }
            &mut self.on_level
        };
        Some(std::mem::take(starts)).filter(|starts| !starts.is_empty())
    }
}

/// Returns optima of other resolutions, the most useful ones first.
fn densities(null: Null) -> Vec<TrialStart> {
    let scaled = |factor: f64| match null {
        Null::Strength(resolution) => TrialStart::Density(Null::Strength(factor * resolution)),
        Null::Count(resolution) => TrialStart::Density(Null::Count(factor * resolution)),
    };
    let undivided = TrialStart::Undivided;
    vec![scaled(2.0), undivided, scaled(4.0), scaled(0.5), scaled(8.0), scaled(1.0)]
}

/// Returns `count` starts: in turn a seeding, own labels or the usual ones, and two of the others.
fn listed(count: u32, others: &[TrialStart], usual: Seeding) -> Vec<TrialStart> {
    let mut seedings = [Seeding::Own, usual].map(TrialStart::Seeding).into_iter().cycle();
    let mut others = others.iter();
    let mut all = Vec::new();
    while all.len() < count as usize {
        all.extend(seedings.next());
        all.extend(others.by_ref().take(2));
    }
    all.truncate(count as usize);
    all
}

impl<'a, 'j, O: Sums> Multilevel<'a, 'j, O> {
    /// Takes the other starts to try on this level, if any: given communities are a start of their own.
    pub(super) fn starts_on(&mut self, level: &Level<'_, '_>) -> Option<Vec<TrialStart>> {
        if self.step.is_some() { None } else { self.starts.take_on(level, self.job) }
    }

    /// Returns the best communities of a level: those found from `state`, or from one of the other starts.
    pub(super) fn best_start(
        &mut self,
        level: &mut Level<'_, '_>,
        state: LevelState<O>,
        progress: Progress,
        others: &[TrialStart],
    ) -> Result<LevelState<O>> {
        self.history.trials += u32::from(self.history.trials == 0);
        // The first start also tries those on a level.
        let one = Starts::one(self.starts.usual);
        let starts = std::mem::replace(&mut self.starts, one);
        let found = self.solve_apart(level, self.rule, starts, |other, level| {
            let state = other.cycles(level, state, progress)?;
            other.measured(level, state.labels)
        })?;
        let files = self.job.graph.files();
        let prefix = self.job.scratch.join(format!("start-{}", level.number));
        let mut kept = Hierarchy::new(files, prefix, Vec::new());
        let mut keep = |(quality, state): (f64, LevelState<O>)| {
            let bound = state.sums.label_bound();
            kept.keep(&state.into_labels(), bound)?;
            Result::Ok(quality)
        };
        let mut qualities = vec![keep(found)?];
        let seed = level.seed;
        for (number, &start) in (1..).zip(others) {
            self.detail(&format!("level {}: start {}", level.number, number + 1))?;
            level.seed = mix(seed ^ number);
            let found = self.begin_at(level, start);
            level.seed = seed;
            qualities.push(keep(found?)?);
            self.history.trials += 1;
        }
        let labels = self.compared(level, &qualities, kept)?;
        self.end_trials(level.number == 0);
        Ok(self.measured(level, labels)?.1)
    }

    /// Returns the best labels among those of all starts; records how far the others are from them.
    fn compared(
        &mut self,
        level: &Level<'_, '_>,
        qualities: &[f64],
        kept: Hierarchy,
    ) -> Result<Vec<AtomicU32>> {
        let mut best = 0;
        for (start, quality) in qualities.iter().enumerate() {
            if *quality > qualities[best] + MARGIN {
                best = start;
            }
        }
        let loss = |start: usize| qualities[best] - qualities[start];
        let edges = self.job.graph.arc_count() as f64 / 2.0;
        let near = NEAR.max(NEAR_BY_CHANCE / edges.sqrt())
            * O::scale(qualities[best], self.job.graph.node_count());
        let is_near = |start: &usize| loss(*start) <= near;
        if let Some(mut divisions) = self.divisions.take() {
            for start in (0..qualities.len()).filter(is_near) {
                let mut labels = kept.read(start)?;
                for below in (0..level.number).rev() {
                    labels = self.hierarchy.project(below, &labels)?;
                }
                let bound = labels.iter().max().map_or(0, |&most| most as usize + 1);
                divisions.keep(&labels, bound)?;
            }
            self.divisions = Some(divisions);
        }
        let labels = kept.read(best)?;
        let (files, all) = (self.job.graph.files(), kept.into_groupings());
        let is_rival = |start: &usize| is_near(start) && *start != best;
        let rivals: Vec<_> =
            (0..all.len()).filter(is_rival).map(|start| all[start].clone()).collect();
        let count = |node: u32| level.counts.get(node as usize).copied().unwrap_or(1);
        self.history.agreement = agreement(files, &labels, &rivals, count)?;
        self.history.losses = (0..qualities.len()).map(loss).collect();
        all.iter().for_each(|start| files.discard(&start.path));
        Ok(labels.into_iter().map(AtomicU32::new).collect())
    }

    /// Records that the starts have been compared, perhaps on the graph, where each has gone through some cycles.
    pub(super) fn end_trials(&mut self, on_graph: bool) {
        self.starts = Starts::one(self.starts.usual);
        if on_graph {
            let done = if self.job.size_class() == SizeClass::Small { self.most_cycles } else { 1 };
            self.most_cycles = self.most_cycles.saturating_sub(done).max(1);
        }
    }

    /// Solves the level from one start; returns the quality of its communities, and them.
    fn begin_at(
        &mut self,
        level: &mut Level<'_, '_>,
        start: TrialStart,
    ) -> Result<(f64, LevelState<O>)> {
        let labels = match start {
            TrialStart::Seeding(seeding) => {
                let starts = Starts::one(seeding);
                return self.solve_apart(level, self.rule, starts, |other, level| {
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
                self.solve_apart(level, null, Starts::one(seeding), solve)?
            }
        };
        self.solve_apart(level, self.rule, Starts::one(self.starts.usual), |other, level| {
            let (_, state) = other.measured(level, labels)?;
            let progress = Progress::new(level.node_count());
            let state = other.cycles(level, state, progress)?;
            other.measured(level, state.labels)
        })
    }

    /// Returns the quality of the communities of these labels, and them with sums that are computed from scratch.
    pub(super) fn measured(
        &self,
        level: &mut Level<'_, '_>,
        labels: Vec<AtomicU32>,
    ) -> Result<(f64, LevelState<O>)> {
        self.measured_with(level, labels, None)
    }

    /// Like [`measured`](Self::measured); marks nodes with more weight to other communities than to their own.
    pub(super) fn measured_with(
        &self,
        level: &mut Level<'_, '_>,
        labels: Vec<AtomicU32>,
        doubted: Option<&Bits>,
    ) -> Result<(f64, LevelState<O>)> {
        let done = self.history.arcs;
        let tick = |_: &_| notify(self.job.observer, Event::Advance { done });
        let (counts, rule) = (&level.counts, self.rule);
        let (sums, inside) = if level.graph().is_weighted() {
            sums_of::<f64, O>(level.source, counts, &labels, doubted, rule, tick)?
        } else {
            sums_of::<u32, O>(level.source, counts, &labels, doubted, rule, tick)?
        };
        Ok((sums.quality(inside), LevelState { labels, sums }))
    }

    /// Runs another search on the level, with files of its own and no checkpoints.
    pub(super) fn solve_apart<P: Sums, T>(
        &mut self,
        level: &mut Level<'_, '_>,
        rule: P::Rule,
        starts: Starts,
        solve: impl FnOnce(&mut Multilevel<'a, 'j, P>, &mut Level<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let hierarchy =
            self.hierarchy.lent(self.job.scratch.join(format!("groups-start-{}", level.number)));
        let mut other = Multilevel::<P>::new(self.job, rule, starts, hierarchy);
        other.base = level.number;
        if self.job.size_class() != SizeClass::Small {
            // Only the best start goes through further cycles.
            other.most_cycles = 1;
        }
        let cycles = self.history.cycles;
        other.history = std::mem::take(&mut self.history);
        other.history.cycles = 0;
        let found = solve(&mut other, level);
        other.forget_from(0);
        self.history = std::mem::take(&mut other.history);
        self.history.cycles = cycles;
        found
    }
}
