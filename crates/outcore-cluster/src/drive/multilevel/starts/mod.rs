//! Several starts; the best by the objective is continued.
//!
//! Local moving ends in a local optimum, and which one depends on where it starts. How many starts are tried, and where,
//! depends on the size of the graph alone, so memory and threads change nothing:
//!
//! | Nodes and arcs | Starts | on the graph itself | on a contracted level |
//! | --- | ---: | ---: | ---: |
//! | small | 10 | 10 | |
//! | medium: up to a quarter of a million edges | 8 | 5 | the first of these, and 3 more |
//! | medium: up to a million edges | 5 | 2 | the first of these, and 3 more |
//! | medium, by the constant Potts model | 8 or 5 | all | |
//! | large | 5 | | 5 |
//!
//! The level is the first one that has at most a quarter of the arcs of the graph, or a 64th if the graph is large. If
//! there is none, it is the last one if that has at most a 16th of the arcs, or if a number of starts is asked for.
//! Each start goes through one cycle from there, or through all cycles if the graph is small. Starts close to the best
//! are combined (`combine`); on a graph of up to a quarter of a million edges, the best is perturbed (`perturb`). From
//! the result, nodes move again, also on the levels below, and in further cycles.
//!
//! Cost: on the graph, about half a clustering per start; on a level, about the arcs of that level and of those above
//! it. Memory: that of a clustering, and the same for each further start that runs in parallel (`searches`); the labels
//! of all starts wait on disk.

mod combine;
mod perturb;
mod searches;

use super::{Level, LevelState, Multilevel, Progress};
use crate::base::bits::Bits;
use crate::drive::groups::add_all;
use crate::drive::job::{ClusterJob, ScratchLimits, SizeClass};
use crate::finish::stability::agreement;
use crate::kernel::objective::Sums;
use crate::methods::options::{ClusterOptions, Seeding};
use crate::methods::table::LevelSpec;
use crate::objectives::modularity::{Density, Null};
use crate::store::hierarchy::Hierarchy;
use combine::best_of;
pub(super) use combine::{Scored, keep};
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};
use searches::{SearchTask, Solved};
use std::sync::atomic::AtomicU32;

/// Default number of starts.
const SMALL_TRIALS: u32 = 10;
const MEDIUM_TRIALS: u32 = 8;
const LARGER_MEDIUM_TRIALS: u32 = 5;
const LARGE_TRIALS: u32 = 5;
/// Maximum number of nodes and arcs of a medium graph that gets the larger number of starts and a perturbation of the
/// best; on larger graphs, these cost more than they gain.
const SMALLER_MEDIUM_SIZE: u64 = 1 << 19;
/// Number of starts on a medium graph if stability is requested.
const STABLE_TRIALS: u32 = 13;
/// Additional starts on a level of a medium graph.
const LEVEL_STARTS: u32 = 3;
/// Resolutions of the first starts of modularity and the constant Potts model on a medium graph, relative to the given
/// one: they divide large communities that perhaps should be divided.
const FINER: [f64; 3] = [1.25, 1.6, 2.0];
/// Resolutions of modularity at whose optima the map equation starts on a medium graph: its own communities are mostly
/// smaller, and merging them is a matter of chance where the code lengths of several scales are alike.
const COARSER: [f64; 3] = [3.0, 2.0, 4.0];
/// Steps of a rising resolution, relative to the last. Around a dense core, the nodes with the fewest neighbors leave
/// it first; from single nodes, each node of the core would gather its own neighbors instead.
const RISING: [f64; 3] = [1.0 / 64.0, 1.0 / 16.0, 1.0 / 4.0];
/// Starts are tried on a level with at most one in this number of the arcs of a medium or of a large graph.
const MEDIUM_SHARE: u64 = 4;
const LARGE_SHARE: u64 = 64;
/// On the last level, starts are tried by default if it has at most one in this number of the arcs of the graph.
const LAST_SHARE: u64 = 16;
/// Starts are compared with the best if their objective is lower by at most this share of its scale. Worse ones have
/// missed the communities, and say nothing about them.
const NEAR: f64 = 0.02;
/// In a small graph, starts are also compared if they are lower by at most this over the root of its number of nodes,
/// the size of differences by chance.
const NEAR_BY_CHANCE: f64 = 1.0;
/// Starts are equally good if their objectives are within this share of the scale from the best, in a graph of any
/// size. If they then have different numbers of communities, the graph has several answers.
const EQUAL: f64 = 0.001;
/// A start replaces the best one if its quality is better by more than this; smaller differences are rounding.
pub(super) const MARGIN: f64 = 1e-9;

/// Communities to start from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TrialStart {
    /// Communities of the usual seeding, by another seed.
    Seeding(Seeding),
    /// Communities that maximize modularity or the constant Potts model.
    Density(Null),
    /// A single community of all nodes.
    Undivided,
    /// Communities found from a single one while the resolution rises to this one.
    Rising(Null),
}

/// Numbers of additional starts, on the graph and on a level.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StartCounts {
    /// Starts on the graph.
    pub on_graph: u32,
    /// Starts on a level of groups.
    pub on_level: u32,
}

impl StartCounts {
    /// Returns whether the best start on such a graph is perturbed.
    fn are_perturbed(nodes: u64, arcs: u64) -> bool {
        nodes.saturating_add(arcs) <= SMALLER_MEDIUM_SIZE
    }

    /// Returns the requested numbers, or the default ones for the size of the graph.
    pub(crate) fn of(
        options: &ClusterOptions,
        limits: &ScratchLimits,
        nodes: u64,
        arcs: u64,
    ) -> Self {
        let others = |usually: u32| options.trials.unwrap_or(usually) - 1;
        match limits.size_class(nodes, arcs) {
            SizeClass::Small => Self { on_graph: others(SMALL_TRIALS), on_level: 0 },
            SizeClass::Medium => {
                let are_small = options.method.levels().is_some_and(LevelSpec::by_mean_weight);
                let is_smaller = nodes.saturating_add(arcs) <= SMALLER_MEDIUM_SIZE;
                let all = others(match is_smaller {
                    _ if options.stability => STABLE_TRIALS,
                    true => MEDIUM_TRIALS,
                    false => LARGER_MEDIUM_TRIALS,
                });
                // Communities of the constant Potts model are often so small that no level is small enough.
                let on_level = if are_small { 0 } else { all.min(LEVEL_STARTS) };
                Self { on_graph: all - on_level, on_level }
            }
            SizeClass::Large => Self { on_graph: 0, on_level: others(LARGE_TRIALS) },
        }
    }
}

/// Starts of a clustering.
#[derive(Clone)]
pub(crate) struct Starts {
    /// Usual start.
    pub(super) usual: Seeding,
    /// Other starts on the graph.
    on_graph: Vec<TrialStart>,
    /// Other starts on a level.
    on_level: Vec<TrialStart>,
    /// Whether the level is one of groups common to two starts.
    are_of_groups: bool,
}

impl Starts {
    /// Returns the usual start alone.
    pub(super) fn one(usual: Seeding) -> Self {
        Self { usual, on_graph: Vec::new(), on_level: Vec::new(), are_of_groups: false }
    }

    /// Returns the starts on a level of groups common to two starts: the communities of one of them, and single groups.
    pub(super) fn of_groups(usual: Seeding) -> Self {
        let on_level = vec![TrialStart::Seeding(Seeding::Own)];
        Self { usual, on_graph: Vec::new(), on_level, are_of_groups: true }
    }

    /// Returns the starts of a job: the requested number, or the default one for the size of the graph. `null` is the
    /// null model of the objective, if it has one.
    pub(crate) fn new(job: &ClusterJob<'_>, usual: Seeding, null: Option<Null>) -> Self {
        let (size, is_limited) = (job.size_class(), job.most().is_some());
        let (nodes, arcs) = (job.graph.node_count(), job.graph.arc_count());
        let StartCounts { on_graph, on_level } =
            StartCounts::of(job.options, &job.limits, nodes, arcs);
        let densities = match is_limited {
            // Communities of another objective may be larger than the limit.
            true => Vec::new(),
            false => densities(null.unwrap_or(Null::Strength(1.0))),
        };
        let on_graph = match size {
            SizeClass::Small => listed(on_graph, &densities, usual),
            SizeClass::Medium | SizeClass::Large => {
                let optima = match null {
                    _ if is_limited => Vec::new(),
                    Some(null) => {
                        rising(null).chain(FINER.map(|times| scaled(null, times))).collect()
                    }
                    None => COARSER.map(|times| scaled(Null::Strength(1.0), times)).to_vec(),
                };
                let seedings = [usual, Seeding::Own].map(TrialStart::Seeding).into_iter().cycle();
                optima.into_iter().chain(seedings).take(on_graph as usize).collect()
            }
        };
        let on_level = listed(on_level, &densities, usual);
        Self { usual, on_graph, on_level, are_of_groups: false }
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
        } else if self.are_of_groups {
            &mut self.on_level
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

impl Starts {
    /// Takes the starts for the last level, if no level before it was small enough.
    fn take_on_last(
        &mut self,
        level: &Level<'_, '_>,
        job: &ClusterJob<'_>,
    ) -> Option<Vec<TrialStart>> {
        let arcs = level.graph().arc_count();
        let pays = job.options.trials.is_some() || arcs <= job.graph.arc_count() / LAST_SHARE;
        if self.are_of_groups || !pays {
            return None;
        }
        Some(std::mem::take(&mut self.on_level)).filter(|starts| !starts.is_empty())
    }
}

/// Returns the number of communities, the largest first, that hold all but a hundredth of the nodes. The rest are often
/// fragments, which say nothing about the scale of the communities.
fn count_of_most(labels: &[u32], counts: &[u32]) -> u64 {
    let mut sizes = vec![0u64; labels.len()];
    let mut all = 0;
    for (node, &label) in labels.iter().enumerate() {
        let count = counts.get(node).map_or(1, |&count| u64::from(count));
        sizes[label as usize] += count;
        all += count;
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let (mut left, mut communities) = (all - all / 100, 0);
    for size in sizes.into_iter().take_while(|&size| size > 0) {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(size);
        communities += 1;
    }
    communities
}

/// Returns the null model with a multiple of the resolution.
fn multiple(null: Null, factor: f64) -> Null {
    match null {
        Null::Strength(resolution) => Null::Strength(factor * resolution),
        Null::Count(resolution) => Null::Count(factor * resolution),
    }
}

/// Returns the start at the optimum of a multiple of the resolution.
fn scaled(null: Null, factor: f64) -> TrialStart {
    TrialStart::Density(multiple(null, factor))
}

/// Returns the start with a rising resolution, if any: only in the constant Potts model do nodes leave communities.
fn rising(null: Null) -> impl Iterator<Item = TrialStart> {
    matches!(null, Null::Count(_)).then_some(TrialStart::Rising(null)).into_iter()
}

/// Returns labels of one community.
fn undivided(level: &Level<'_, '_>) -> Vec<AtomicU32> {
    (0..level.node_count()).map(|_| AtomicU32::new(0)).collect()
}

/// Returns the starts at optima of other resolutions, the most useful ones first.
fn densities(null: Null) -> Vec<TrialStart> {
    let scaled = |factor: f64| scaled(null, factor);
    let undivided = TrialStart::Undivided;
    let others = [scaled(2.0), undivided, scaled(4.0), scaled(0.5), scaled(8.0), scaled(1.0)];
    rising(null).chain(others).collect()
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
    /// Takes the other starts to try on this level. There are none if communities are given, which are a start of their
    /// own.
    pub(super) fn starts_on(&mut self, level: &Level<'_, '_>) -> Option<Vec<TrialStart>> {
        if self.warm.step.is_some() { None } else { self.starts.take_on(level, self.job) }
    }

    /// Like [`starts_on`](Self::starts_on), for a level that cannot be contracted further.
    pub(super) fn starts_on_last(&mut self, level: &Level<'_, '_>) -> Option<Vec<TrialStart>> {
        if self.warm.step.is_some() || level.number == self.place.base {
            return None;
        }
        self.starts.take_on_last(level, self.job)
    }

    /// Returns the best communities of a level: those found from `state`, from one of the other starts, or from a
    /// combination of them.
    pub(super) fn best_start(
        &mut self,
        level: &mut Level<'_, '_>,
        state: LevelState<O>,
        progress: Progress,
        others: &[TrialStart],
    ) -> Result<LevelState<O>> {
        let one = Starts::one(self.starts.usual);
        let on_level = std::mem::replace(&mut self.starts, one);
        let are_of_groups = on_level.are_of_groups;
        let files = self.files_of_starts(level);
        let name = if are_of_groups { "groups-of" } else { "start" };
        let prefix = self.scratch(format_args!("{name}-{}", level.number));
        let mut kept = Hierarchy::new(&files, prefix, Vec::new());
        let mut starts = Vec::new();
        // The usual start has its first communities already; it also tries the starts on a level.
        let usual: SearchTask<'_, Self> = Box::new(move |search, level| {
            search.starts = on_level;
            let state = search.cycles(level, state, progress)?;
            search.solved(level, state).map(Some)
        });
        let task = |&start: &TrialStart| -> SearchTask<'_, Self> {
            Box::new(move |search, level| search.begin_at(level, start).map(Some))
        };
        let tasks: Vec<_> = std::iter::once(usual).chain(others.iter().map(task)).collect();
        let count = tasks.len() as u32;
        self.search_each(level, tasks, &mut |at, Solved { quality, labels }| {
            starts.push((at, Scored { place: starts.len(), quality }));
            keep(&mut kept, &labels)
        })?;
        starts.sort_unstable_by_key(|&(at, _)| at);
        let starts: Vec<Scored> = starts.into_iter().map(|(_, start)| start).collect();
        let labels = if are_of_groups {
            kept.read(starts[best_of(&starts)].place)?
        } else {
            self.history.starts.count = self.history.starts.count.max(1) + count - 1;
            let labels = self.compared(level, &starts, &mut kept)?;
            self.end_trials(level.number == 0);
            labels
        };
        kept.discard();
        Ok(self.measured(level, labels.into_iter().map(AtomicU32::new).collect())?.1)
    }

    /// Returns the labels of the best start, or of a better combination; records how far the starts are from it.
    fn compared(
        &mut self,
        level: &mut Level<'_, '_>,
        starts: &[Scored],
        kept: &mut Hierarchy,
    ) -> Result<Vec<u32>> {
        let first = best_of(starts);
        let most = starts[first].quality;
        let nodes = self.job.graph.node_count();
        let by_chance = NEAR_BY_CHANCE / (nodes.max(1) as f64).sqrt();
        let near = NEAR.max(by_chance) * O::scale(most, nodes);
        let is_near =
            |start: &Scored| start.place == starts[first].place || most - start.quality <= near;
        let near: Vec<Scored> = starts.iter().copied().filter(is_near).collect();
        let of_starts = &mut self.history.starts;
        of_starts.community_counts.clear();
        of_starts.equal_counts.clear();
        let equal = EQUAL * O::scale(most, nodes);
        for start in &near {
            let count = count_of_most(&kept.read(start.place)?, &level.holdings.counts);
            of_starts.community_counts.push(count);
            if most - start.quality <= equal {
                of_starts.equal_counts.push(count);
            }
        }
        if let Some(mut divisions) = self.divisions.take() {
            for start in &near {
                let mut labels = kept.read(start.place)?;
                for below in (0..level.number).rev() {
                    labels = self.hierarchy.project(below, &labels)?;
                }
                keep(&mut divisions, &labels)?;
            }
            self.divisions = Some(divisions);
        }
        let best = self.combined(level, &near, kept)?;
        let is_perturbed =
            level.number == 0 && StartCounts::are_perturbed(nodes, self.job.graph.arc_count());
        let best = if is_perturbed {
            self.perturbed(level, best, kept)?
        } else {
            self.met_by_all(level, best, &near, kept)?
        };
        let labels = kept.read(best.place)?;
        let rivals = near.iter().filter(|start| start.place != best.place);
        let rivals: Vec<_> = rivals.map(|start| kept.groupings()[start.place].clone()).collect();
        let count = |node: u32| level.holdings.count(node as usize);
        let of_starts = &mut self.history.starts;
        of_starts.agreement = agreement(kept.files(), &labels, &rivals, count)?;
        of_starts.losses = starts.iter().map(|start| best.quality - start.quality).collect();
        Ok(labels)
    }

    /// Ends the comparison of starts; cycles that each start has gone through on the graph count toward the maximum.
    pub(super) fn end_trials(&mut self, on_graph: bool) {
        self.starts = Starts::one(self.starts.usual);
        if on_graph {
            let done =
                if self.job.size_class() == SizeClass::Small { self.limits.cycles } else { 1 };
            self.limits.cycles = self.limits.cycles.saturating_sub(done).max(1);
        }
    }

    /// Solves the level from one start.
    fn begin_at(&mut self, level: &mut Level<'_, '_>, start: TrialStart) -> Result<Solved> {
        let state = match start {
            TrialStart::Seeding(seeding) => {
                self.starts = Starts::one(seeding);
                self.begin(level)?
            }
            TrialStart::Undivided => self.continued(level, undivided(level))?,
            TrialStart::Rising(null) => {
                let mut labels = undivided(level);
                for factor in RISING {
                    let (rule, one) = (multiple(null, factor), Starts::one(Seeding::Own));
                    let solve = |other: &mut Multilevel<'_, '_, Density>,
                                 level: &mut Level<'_, '_>| {
                        Ok(other.continued(level, labels)?.labels)
                    };
                    labels = self.solve_apart(level, rule, one, solve)?;
                }
                self.continued(level, labels)?
            }
            TrialStart::Density(null) => {
                let seeding = match null {
                    Null::Strength(_) => Seeding::Star,
                    Null::Count(_) => Seeding::Own,
                };
                let solve = |other: &mut Multilevel<'_, '_, Density>, level: &mut Level<'_, '_>| {
                    Ok(other.begin(level)?.labels)
                };
                let one = Starts::one(seeding);
                let labels = self.solve_apart(level, null, one, solve)?;
                self.continued(level, labels)?
            }
        };
        self.solved(level, state)
    }

    /// Returns communities with their quality, measured from scratch.
    fn solved(&self, level: &mut Level<'_, '_>, state: LevelState<O>) -> Result<Solved> {
        let (quality, state) = self.measured(level, state.labels)?;
        Ok(Solved { quality, labels: state.into_labels() })
    }

    /// Runs the cycles from these labels.
    fn continued(
        &mut self,
        level: &mut Level<'_, '_>,
        labels: Vec<AtomicU32>,
    ) -> Result<LevelState<O>> {
        let (_, state) = self.measured(level, labels)?;
        self.cycles(level, state, Progress::new(level.node_count()))
    }

    /// Returns the quality of the communities of these labels, and the communities with sums computed from scratch.
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
        let tick = || notify(self.job.observer, Event::Advance { done });
        let (source, holdings) = (&mut *level.source, &level.holdings);
        let mut sums = O::empty(self.rule, labels.len());
        let inside = add_all(source, holdings, &labels, doubted, &mut sums, &tick)?;
        sums.free_below(level.node_count());
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
            self.hierarchy.lent(self.scratch(format_args!("groups-apart-{}", level.number)));
        let mut other = Multilevel::<P>::new(self.job, rule, starts, hierarchy);
        other.place.prefix.clone_from(&self.place.prefix);
        other.place.base = level.number;
        if self.job.size_class() != SizeClass::Small {
            // Only the best start goes through further cycles.
            other.limits.cycles = 1;
        }
        let cycles = self.history.sweeps.cycles;
        other.history = std::mem::take(&mut self.history);
        other.history.sweeps.cycles = 0;
        let found = solve(&mut other, level);
        other.forget_from(0);
        self.history = std::mem::take(&mut other.history);
        self.history.sweeps.cycles = cycles;
        found
    }
}
