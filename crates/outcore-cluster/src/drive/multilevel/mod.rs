//! Local moving on several levels: modularity, the constant Potts model, the map equation.
//!
//! ```text
//!  first groups -> sweeps --refine--> groups inside communities --contract--> next level, likewise
//!                    ^                          |                                  |
//!                    `---- polish <---- each node takes the community of its group, from the last level down
//! ```
//!
//! The scheme is that of Traag, Waltman and van Eck, "From Louvain to Leiden: guaranteeing well-connected
//! communities" (2019), with star seeding instead of single nodes, so that few scans reduce a level to a
//! fraction of the one below. A cycle leads from the input to the last level and back; another one follows
//! if the first sweep after it still changes many labels.
//!
//! Memory: a label and a group per node, a class per group, and the objective's sums per group or community: at most 36
//! bytes per node for the map equation (modularity and the constant Potts model: 20), if every node is alone; usually
//! 15 to 20 (11 to 14). Limited sizes take 8 more: the size of each group, and its number of input nodes.

pub(crate) mod coarsen;
pub(crate) mod dissolve;
mod divide;
mod lift;
mod saved;
mod starts;
mod warm;

pub use starts::StartCounts;
pub(crate) use starts::Starts;

use super::groups::{FirstGroups, Groups, first_groups};
use super::job::{ClusterJob, SizeClass};
use super::memory::{ClusterMemory, Fit, Shape, roomy};
use crate::base::bits::Bits;
use crate::base::hash::{LEAD, LEVEL, mix};
use crate::finish::closing::SweptLabels;
use crate::finish::cuts::separate::Separation;
use crate::kernel::admission::Admission;
use crate::kernel::cache::BlockSource;
use crate::kernel::history::{History, Sweep};
use crate::kernel::holdings::Holdings;
use crate::kernel::nodes::{Nodes, Rules};
use crate::kernel::objective::Sums;
use crate::kernel::sweep::{SweepBuffers, sweep};
use crate::methods::options::Seeding;
use crate::store::given::GivenLabels;
use crate::store::hierarchy::Hierarchy;
use crate::store::saves::Saves;
use coarsen::Coarsened;
use lift::{Aside, Groupings, renumber};
use outcore_graph::Graph;
use outcore_io::error::Result;
use outcore_io::give_back_freed;
use outcore_io::progress::{Event, notify};
use outcore_io::units::format_counted;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use warm::WarmStep;

/// Sweeps over a large graph before the first contraction end when at most this share of the nodes moves.
const FIRST_TOLERANCE: f64 = 0.01;
/// Maximum number of these sweeps.
const FIRST_SWEEPS: u32 = 5;
/// Maximum number of sweeps that polish the result of a cycle.
const POLISH_SWEEPS: u32 = 2;
/// Maximum number of sweeps on a higher level, or of a smaller graph; they usually end because no node moves.
const LEVEL_SWEEPS: u32 = 50;
/// A large level is the last one if at most this share of its nodes moves in its first sweep although most of its
/// communities are single nodes, which were free to merge. On other levels, a few large nodes among many single ones
/// may still merge.
const SETTLED: f64 = 0.005;
/// Maximum number of nodes of a level relative to a large one below; with more, it would be almost the same.
const LEVEL_SHRINKS: f64 = 0.99;
/// Another cycle follows if polishing the result on a large graph moves more than this share of the nodes.
const CYCLE_TOLERANCE: f64 = 0.02;

/// Maximum number of nodes that become alone in a round of the last sweeps; others do in the next.
const OFFERED: usize = 1 << 16;

const LABEL_BYTES: u64 = size_of::<u32>() as u64;

/// Graph of a level, with data about its nodes.
struct Level<'s, 'g> {
    source: &'s mut BlockSource<'g>,
    /// What its nodes hold beside their arcs.
    holdings: Arc<Holdings>,
    number: u64,
    seed: u64,
    /// Memory for this level and those above.
    memory: u64,
    /// Part of the memory that this level itself needs.
    needed: u64,
    /// Maximum number of labels in a table for large degrees.
    max_labels: u64,
    /// Whether another process could read it.
    is_on_disk: bool,
    /// Initial number of its communities.
    class_count: usize,
}

impl<'g> Level<'_, 'g> {
    fn graph(&self) -> &'g Graph {
        self.source.graph()
    }

    fn node_count(&self) -> usize {
        self.graph().node_count() as usize
    }

    /// Returns whether further sweeps cost too much time for few moves.
    fn is_large(&self, job: &ClusterJob<'_>) -> bool {
        let (nodes, arcs) = (self.graph().node_count(), self.graph().arc_count());
        job.limits.size_class(nodes, arcs) == SizeClass::Large
    }
}

/// Communities of a level with their sums.
struct LevelState<O> {
    labels: Vec<AtomicU32>,
    sums: O,
}

impl<O> LevelState<O> {
    fn into_labels(self) -> Vec<u32> {
        self.labels.into_iter().map(AtomicU32::into_inner).collect()
    }
}

impl<O: Sums> LevelState<O> {
    /// Lets nodes be alone, with the first labels that no node has.
    fn offer_unused(&mut self) {
        let used = Bits::new(self.labels.len(), false);
        self.labels.iter().for_each(|label| _ = used.set(label.load(Relaxed) as usize));
        let unused = (0..self.labels.len()).filter(|&label| !used.get(label));
        let mut unused: Vec<u32> = unused.take(OFFERED).map(|label| label as u32).collect();
        unused.reverse();
        self.sums.offer(unused);
    }
}

/// Progress of the sweeps of a level.
struct Progress {
    done: u32,
    moved: u64,
    first_moved: u64,
    active: Bits,
}

impl Progress {
    fn new(node_count: usize) -> Self {
        let active = Bits::new(node_count, true);
        Self { done: 0, moved: 0, first_moved: 0, active }
    }
}

/// Level above the base, with the state of its sweeps.
struct Upper<O> {
    graph: Graph,
    /// Whether it is on disk.
    is_on_disk: bool,
    holdings: Arc<Holdings>,
    number: u64,
    state: LevelState<O>,
    /// Initial number of communities.
    class_count: usize,
    progress: Progress,
}

/// Step that follows the sweeps of a level.
enum NextStep<O> {
    /// The level is the last one.
    Top(LevelState<O>),
    /// The next level is to be solved.
    Up(Box<Upper<O>>),
}

struct Multilevel<'a, 'j, O: Sums> {
    job: &'a ClusterJob<'j>,
    rule: O::Rule,
    history: History,
    hierarchy: Hierarchy,
    place: SearchPlace,
    /// Number of scans of the base before the levels above were solved.
    scans: u64,
    /// Other starts to try.
    starts: Starts,
    /// Labels on the graph from each start, if requested.
    divisions: Option<Hierarchy>,
    limits: SearchLimits,
    warm: FromGiven,
    /// Checkpoints of the sweeps; those of searches among them are not saved.
    saves: Option<&'a mut Saves>,
}

/// Place of a search among others.
#[derive(Default)]
struct SearchPlace {
    /// Level whose communities are sought: its sweeps continue after the levels above are solved.
    base: u64,
    /// Number of parallel searches begun, each with its own seed.
    searches: u64,
    /// Prefix of file names.
    prefix: String,
}

/// Limits of a search.
#[derive(Clone, Copy)]
struct SearchLimits {
    /// Maximum number of cycles.
    cycles: u32,
    /// Maximum number of input nodes in a community, if limited.
    size: Option<u32>,
}

/// State of a clustering from given communities.
#[derive(Default)]
struct FromGiven {
    /// Step that is under way; `None` once the clustering goes on as one from scratch would.
    step: Option<WarmStep>,
    /// The given communities: a run from scratch may score worse, and good ones stay as they are.
    given: Option<Hierarchy>,
}

/// Finds the communities of the job's graph, whose nodes hold `holdings`, by the objective of a rule; returns them with
/// the groupings of the last cycle, if requested.
pub(crate) fn find<O: Sums>(
    job: &ClusterJob<'_>,
    rule: O::Rule,
    starts: Starts,
    given: GivenLabels,
    holdings: Arc<Holdings>,
    source: &mut BlockSource<'_>,
    saves: &mut Saves,
) -> Result<SweptLabels> {
    let mut level = Level {
        source,
        holdings,
        number: 0,
        seed: job.options.seed,
        memory: job.memory,
        needed: job.needed,
        max_labels: job.limits.max_labels,
        is_on_disk: true,
        class_count: 0,
    };
    let saved = saves.open(job.observer)?;
    let hierarchy = Hierarchy::new(job.graph.files(), job.scratch.join("groups-0"), Vec::new());
    let mut first = Multilevel::<O>::new(job, rule, starts, hierarchy);
    first.saves = Some(saves);
    let divisions = Hierarchy::new(job.graph.files(), job.scratch.join("division"), Vec::new());
    first.divisions = job.options.stability.then_some(divisions);
    let has_given = !given.initial.is_empty();
    let again = has_given.then(|| first.starts.clone());
    let mut state = match saved {
        Some((counters, state)) => first.resume(&mut level, given, counters, state)?,
        None if has_given => first.begin_from(&mut level, given)?,
        None => first.begin(&mut level)?,
    };
    // Given communities are kept, small ones too; in its later steps a resumed job no longer holds them.
    if !has_given {
        state = first.without_fragments(&mut level, state)?;
    }
    let labels = first.at_least_given(&mut level, state.labels)?;
    let mut labels = first.settled(&mut level, labels)?;
    if let Some(starts) = again {
        labels = first.ripened(&mut level, labels, &starts)?;
    }
    let labels = first.divided_otherwise(&mut level, labels)?;
    level.source.release();
    Ok(first.outcome(labels))
}

impl<'a, 'j, O: Sums> Multilevel<'a, 'j, O> {
    fn new(job: &'a ClusterJob<'j>, rule: O::Rule, starts: Starts, hierarchy: Hierarchy) -> Self {
        Self {
            job,
            rule,
            history: History::default(),
            hierarchy,
            place: SearchPlace::default(),
            scans: 0,
            starts,
            divisions: None,
            limits: SearchLimits { cycles: job.options.cycles, size: job.most() },
            warm: FromGiven::default(),
            saves: None,
        }
    }

    fn outcome(mut self, labels: Vec<u32>) -> SweptLabels {
        let groupings = match self.job.options.levels && !self.job.options.finds_tree() {
            true => self.hierarchy.into_groupings(),
            false => {
                self.forget_from(0);
                Vec::new()
            }
        };
        let divisions = self.divisions.map_or_else(Vec::new, Hierarchy::into_groupings);
        let separation = Separation::default();
        SweptLabels { labels, history: self.history, groupings, tree: None, divisions, separation }
    }

    /// Discards the groups of this level and of those above it.
    fn forget_from(&mut self, level: u64) {
        for groups in self.hierarchy.forget_from(level) {
            self.hierarchy.files().discard(&groups.path);
        }
    }

    /// Returns the path of a temporary file.
    fn scratch(&self, name: impl Display) -> PathBuf {
        self.job.scratch.join(format!("{}{name}", self.place.prefix))
    }

    fn detail(&self, text: &str) -> Result<()> {
        notify(self.job.observer, Event::Detail { text })
    }

    /// Corrects the estimate of the work at the beginning of a level.
    fn expect(&self, level: &Level<'_, '_>) -> Result<()> {
        let ClusterJob { graph, options, observer, .. } = *self.job;
        let [arcs, base] = [level.graph(), graph].map(|graph| graph.arc_count() as f64);
        match options.expected_on_level(level.number, arcs, base, self.history.sweeps.cycles) {
            Some((part, after)) => observer.expect(Some(part), after),
            None => observer.expect(None, 0.0),
        }
    }

    /// Runs all cycles on the base.
    fn begin(&mut self, level: &mut Level<'_, '_>) -> Result<LevelState<O>> {
        self.detail("choosing initial communities")?;
        let seed = level.seed ^ LEAD;
        let (mut state, _) = self.first_groups(level, self.starts.usual, seed, None)?;
        if let Some(starts) = self.starts_on(level) {
            state = self.best_start(level, state, Progress::new(level.node_count()), &starts)?;
        }
        let progress = Progress::new(level.node_count());
        self.cycles(level, state, progress)
    }

    /// Runs cycles, starting with sweeps of the base: those before the first cycle, or those that end one.
    fn cycles(
        &mut self,
        level: &mut Level<'_, '_>,
        mut state: LevelState<O>,
        mut progress: Progress,
    ) -> Result<LevelState<O>> {
        // A few more moves cost a scan of a large graph; communities of an updated graph should stay as they were.
        let is_costly = self.job.size_class() == SizeClass::Large || self.warm.step.is_some();
        let is_large = level.number == 0 && is_costly;
        let share = |share: f64| (share * state.labels.len() as f64) as u64;
        let (enough, few) = match is_large {
            true => (share(FIRST_TOLERANCE), share(CYCLE_TOLERANCE)),
            false => (0, 0),
        };
        let most = |large| self.most_sweeps(if is_large { large } else { LEVEL_SWEEPS });
        let (most, polish, cycles) = (most(FIRST_SWEEPS), most(POLISH_SWEEPS), self.limits.cycles);
        loop {
            let cycle = self.history.sweeps.cycles;
            if cycle > 0 {
                self.expect(level)?;
            }
            let is_last = |moved: u64| cycle > 0 && moved <= few || cycle == cycles;
            let first_moved = self.sweeps(level, &mut state, progress, |done, moved| {
                if cycle == 0 {
                    done < most && moved > enough
                } else {
                    done < polish && moved > 0 && (is_last(moved) || !is_large)
                }
            })?;
            if is_last(first_moved) {
                return Ok(state);
            }
            self.history.sweeps.cycles += 1;
            let next = self.lift(level, state)?;
            state = match self.coarsen(level, next)? {
                Coarsened::Coarser(state) | Coarsened::Done(NextStep::Top(state)) => state,
                Coarsened::Done(NextStep::Up(first)) => self.ascend(level, *first)?,
            };
            progress = Progress::new(state.labels.len());
        }
    }

    /// Runs another search on the graph as if it were the first one, with files of its own and no checkpoints. What it
    /// does is work, but no sweep of the result.
    fn anew<T>(
        &mut self,
        level: &mut Level<'_, '_>,
        starts: Starts,
        solve: impl FnOnce(&mut Self, &mut Level<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let groups = self.job.scratch.join("anew-groups");
        let hierarchy = Hierarchy::new(self.hierarchy.files(), groups, Vec::new());
        let mut other = Self::new(self.job, self.rule, starts, hierarchy);
        other.place.prefix = "anew-".into();
        let found = solve(&mut other, level)?;
        other.forget_from(0);
        self.history.arcs += other.history.arcs;
        self.history.sweeps.scans += other.history.sweeps.scans;
        Ok(found)
    }

    /// Moves nodes until no move of a single node improves the objective, except in a large graph: neither to another
    /// community nor to one of its own.
    ///
    /// The sweeps before visit only neighbors of what moved. However, a move also changes the size or the strength of
    /// both communities, and so what their other members gain elsewhere.
    fn settled(
        &mut self,
        level: &mut Level<'_, '_>,
        labels: Vec<AtomicU32>,
    ) -> Result<Vec<AtomicU32>> {
        if self.job.size_class() == SizeClass::Large {
            return Ok(labels);
        }
        // A resumed job settles again from the last checkpoint before.
        let saves = self.saves.take();
        let (_, mut state) = self.measured(level, labels)?;
        let most = self.most_sweeps(LEVEL_SWEEPS);
        let goes_on = |done, moved| done < most && moved > 0;
        for _ in 0..most {
            let (progress, before) = (Progress::new(level.node_count()), self.history.clone());
            state.offer_unused();
            if self.sweeps(level, &mut state, progress, goes_on)? == 0 {
                // What only confirms that nothing moves is work, but no sweep of the result.
                let (arcs, scans) = (self.history.arcs, self.history.sweeps.scans);
                self.history = History { arcs, ..before };
                self.history.sweeps.scans = scans;
                break;
            }
        }
        self.saves = saves;
        Ok(state.labels)
    }

    /// Returns whether the number of input nodes in each node is needed.
    fn asks_for_counts(&self) -> bool {
        self.limits.size.is_some() || O::asks_for_counts(self.rule)
    }

    fn most_sweeps(&self, most: u32) -> u32 {
        self.job.options.max_sweeps.map_or(most, |given| given.min(most))
    }

    /// Sweeps as long as `proceeds` returns true for the number of sweeps and the number of nodes moved in the
    /// last one; returns the number of nodes moved in the first.
    fn sweeps(
        &mut self,
        level: &mut Level<'_, '_>,
        state: &mut LevelState<O>,
        progress: Progress,
        proceeds: impl Fn(u32, u64) -> bool,
    ) -> Result<u64> {
        let count_of = |node: usize| level.holdings.count(node);
        let admission = Admission::limited(self.limits.size, &state.labels, count_of);
        self.sweeps_admitting(level, state, admission, progress, &proceeds)
    }

    /// Like [`sweeps`](Self::sweeps), where nodes may take these labels.
    fn sweeps_admitting(
        &mut self,
        level: &mut Level<'_, '_>,
        state: &mut LevelState<O>,
        mut admission: Admission,
        mut progress: Progress,
        proceeds: &dyn Fn(u32, u64) -> bool,
    ) -> Result<u64> {
        let large_degree = self.job.limits.large_degree;
        let mut workshop = SweepBuffers::new::<O>(level.graph(), large_degree, level.max_labels);
        while progress.done == 0 || proceeds(progress.done, progress.moved) {
            self.sweep(level, state, &mut admission, &mut progress, &mut workshop)?;
            if !admission.is_within() {
                self.save_if_due(level, state, &progress)?;
            }
        }
        Ok(progress.first_moved)
    }

    /// Makes one sweep.
    fn sweep(
        &mut self,
        level: &mut Level<'_, '_>,
        state: &mut LevelState<O>,
        admission: &mut Admission,
        progress: &mut Progress,
        workshop: &mut SweepBuffers<O::Flow>,
    ) -> Result<()> {
        let refines = admission.is_within();
        let mut nodes = Nodes {
            labels: &state.labels[..],
            active: &progress.active,
            changes: Vec::new(),
            holdings: &level.holdings,
            seed: level.seed,
            objective: std::mem::replace(&mut state.sums, O::empty(self.rule, 0)),
            admission: std::mem::take(admission),
            shuffled: true,
            activates: !refines,
            rules: Rules::default(),
        };
        let (graph, number, before) =
            (level.graph(), self.history.sweeps.count + 1, self.history.arcs);
        let tick = |arcs| notify(self.job.observer, Event::Advance { done: before + arcs });
        let swept = sweep(graph, level.source, &mut nodes, workshop, number, tick)?;
        (state.sums, *admission) = (nodes.objective, nodes.admission);
        let node_count = graph.node_count();
        let of_level = Sweep { level: level.number, node_count, refines, ..Sweep::default() };
        self.history.count(&swept, of_level);
        progress.done += 1;
        progress.moved = swept.moved;
        if progress.done == 1 {
            progress.first_moved = swept.moved;
        }
        let moved = format_counted(swept.moved, "node", "nodes");
        self.detail(&format!("level {}, sweep {}: {moved} changed", level.number, progress.done))
    }

    /// Returns the initial communities of a level, and their number.
    fn first_groups(
        &mut self,
        level: &mut Level<'_, '_>,
        start: Seeding,
        seed: u64,
        classes: Option<&[AtomicU32]>,
    ) -> Result<(LevelState<O>, usize)> {
        let done = self.history.arcs;
        let tick = || notify(self.job.observer, Event::Advance { done });
        // Reserves the maximum; pages are touched only as they are used.
        let mut sums = O::empty(self.rule, level.node_count());
        let choice = FirstGroups { start, seed, classes, most: self.limits.size };
        let Level { source, holdings, .. } = level;
        let Groups { labels, count } = first_groups(source, holdings, choice, &mut sums, &tick)?;
        Ok((LevelState { labels, sums }, count))
    }

    /// Solves the levels above the base, and assigns to each node the community of its group there.
    fn ascend(&mut self, base: &Level<'_, '_>, first: Upper<O>) -> Result<LevelState<O>> {
        let memory = base.memory - base.source.kept_bytes();
        self.scans = base.source.scans();
        let mut upper = first;
        let (LevelState { labels, mut sums }, top) = loop {
            let number = upper.number;
            match self.solve(upper, memory)? {
                NextStep::Top(state) => break (state, number),
                NextStep::Up(next) => upper = *next,
            }
        };
        if base.is_on_disk {
            give_back_freed();
        }
        let mut labels: Vec<u32> = labels.into_iter().map(AtomicU32::into_inner).collect();
        for below in (base.number..top).rev() {
            labels = self.hierarchy.project(below, &labels)?;
        }
        sums.free_below(base.node_count());
        Ok(LevelState { labels: labels.into_iter().map(AtomicU32::new).collect(), sums })
    }

    /// Sweeps over a level and, if it can be contracted further, creates the next level.
    fn solve(&mut self, upper: Upper<O>, memory: u64) -> Result<NextStep<O>> {
        let Upper { graph, is_on_disk, holdings, number, mut state, class_count, mut progress } =
            upper;
        self.history.levels = self.history.levels.max(number);
        let (method, threads) = (Some(self.job.options.method), rayon::current_num_threads());
        let sizes = self.job.beside_bytes() * graph.node_count();
        let (rest, shape) = (memory.saturating_sub(sizes), &Shape::of(&graph));
        let (Fit { max_labels, ahead }, needed) =
            Fit::within(rest, |fit| ClusterMemory::new(shape, method, threads, fit).total_bytes());
        let needed = needed + sizes;
        if memory < needed {
            return Err(self.job.too_little_memory(self.job.memory + needed - memory));
        }
        let mut level = Level {
            source: &mut BlockSource::new(&graph, (memory - needed) / 2)
                .roomy(roomy(memory - needed))
                .reading_ahead(ahead)
                .paced(self.job.observer),
            holdings,
            number,
            seed: mix(self.job.options.seed ^ LEVEL ^ number),
            memory,
            needed,
            max_labels: max_labels.min(self.job.limits.max_labels),
            is_on_disk,
            class_count,
        };
        self.expect(&level)?;
        if let Some(starts) = self.starts_on(&level) {
            state = self.best_start(&mut level, state, progress, &starts)?;
            progress = Progress::new(level.node_count());
        }
        let most = self.job.options.max_sweeps.unwrap_or(LEVEL_SWEEPS);
        let few = if level.is_large(self.job) { SETTLED * level.node_count() as f64 } else { 0.0 };
        let goes_on = |done, moved| done < most && moved > 0;
        let next = loop {
            let first_moved = self.sweeps(&mut level, &mut state, progress, goes_on)?;
            let is_settled = first_moved as f64 <= few && 2 * class_count >= level.node_count();
            let next =
                if is_settled { NextStep::Top(state) } else { self.lift(&mut level, state)? };
            match self.coarsen(&mut level, next)? {
                Coarsened::Coarser(coarser) => state = coarser,
                Coarsened::Done(next) => break next,
            }
            progress = Progress::new(level.node_count());
        };
        drop(level);
        let directory = graph.directory().to_path_buf();
        drop(graph);
        if is_on_disk {
            self.job.graph.files().discard(&directory);
        }
        Ok(next)
    }
}
