//! Clustering that starts from given communities, such as those of the graph before it changed a little.
//!
//! ```text
//!  given labels --> sums --sweeps--> nodes moved --divide--> parts --sweeps--> contracted to communities
//!    1 scan           active nodes      few communities          only theirs         --> levels above, as usual
//! ```
//!
//! Nodes move from the given communities. In a large graph the first sweep leaves out nodes that have most of their
//! weight inside their community; later sweeps visit only the surroundings of what moved. Then communities that may
//! have come apart are divided where that is better (`divide`), and the graph is contracted to whole communities, so
//! that some of them can merge; this takes one contraction instead of several. At the end only nodes of merged
//! communities are visited again. Every step improves the objective, so the result is at least as good as the given
//! communities.
//!
//! If the first sweep moves a large share of the nodes, or most nodes are in communities that come apart, the
//! labels are far from any good solution: the graph is clustered from scratch, and the better of both remains.
//!
//! In a graph that is not large, all of this is repeated with what it has found, until nothing is gained: a clustering
//! that starts with a result returns this result. A fresh clustering then shows whether much better communities exist.
//!
//! A fresh clustering contracts single nodes and groups of them several times, which is where its time goes.

use super::starts::{MARGIN, Scored, keep};
use super::{
    Bits, FIRST_SWEEPS, FIRST_TOLERANCE, Groupings, LEVEL_SHRINKS, Level, LevelState, Multilevel,
    NextStep, Progress, Starts, Sums, renumber,
};
use crate::drive::job::SizeClass;
use crate::finish::connect::{Pieces, split_count};
use crate::store::given::{GivenLabels, NONE};
use crate::store::hierarchy::Hierarchy;
use outcore_graph::{ArcScratch, Block};
use outcore_io::error::Result;
use outcore_io::error::opt::INITIAL;
use outcore_io::progress::{Event, notify};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Given labels are far from a good solution if the first sweep moves more than this share of the nodes that have one.
const FAR_MOVED: f64 = 0.2;
/// Given labels are also far from it if more than this share of the nodes is in communities that come apart.
const FAR_DIVIDED: f64 = 0.5;
/// In a large graph, the first sweep visits all nodes of communities with more than this share of the nodes.
const VISITED_SHARE: f64 = 1.0 / 16.0;
/// In a large graph, communities with more than this share of the nodes are examined; in a small graph, all are.
const LARGE_SHARE: f64 = 0.25;
/// In a large graph, communities that one node in this number joined or left are examined, too.
const EXAMINED_CHANGES: u32 = 8;
/// In a large graph, communities where one node in this number has more weight to others are examined, too.
const EXAMINED_DOUBTED: u32 = 3;

/// Maximum number of times that a clustering starts again from what it has found.
const REPEATS: u32 = 20;
/// A fresh clustering is clearly better by more than this share of the objective.
const WORSE: f64 = 0.005;

/// Step of a clustering from given communities, as a checkpoint records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum WarmStep {
    /// Nodes move from the given communities.
    Moving,
    /// Nodes of divided communities move.
    Divided,
    /// Whole communities may merge; the remaining steps follow.
    Merging,
}

/// Given communities.
pub(super) struct Warm {
    /// Label of each node; nodes without a given one are alone.
    labels: Vec<u32>,
    /// Number of nodes without a given label.
    new_count: u64,
    /// Nodes with more weight to other communities than to their own.
    doubted: Bits,
}

impl Warm {
    /// Numbers the given communities, of at most `most` nodes each.
    ///
    /// # Errors
    /// `Usage` for labels of another graph.
    pub(super) fn new(given: GivenLabels, node_count: usize, most: Option<u32>) -> Result<Self> {
        let mut labels = given.into_labels(node_count, most)?.into_given();
        let mut new_count = 0;
        // Communities are named after a member, so no name is that of a new node.
        for (node, label) in labels.iter_mut().enumerate().filter(|(_, label)| **label == NONE) {
            *label = node as u32;
            new_count += 1;
        }
        renumber(&mut labels, node_count);
        let doubted = Bits::new(node_count, false);
        Ok(Self { labels, new_count, doubted })
    }
}

impl<O: Sums> Multilevel<'_, '_, O> {
    /// Runs all cycles on the base, from given communities.
    pub(super) fn begin_from(
        &mut self,
        level: &mut Level<'_, '_>,
        given: GivenLabels,
    ) -> Result<LevelState<O>> {
        self.detail("measuring the given communities")?;
        let warm = Warm::new(given, level.node_count(), self.limits.size)?;
        let state = self.measured_given(level, &warm)?;
        self.keep_given(&warm)?;
        self.warm.step = Some(WarmStep::Moving);
        let active = self.first_active(level, &warm);
        let progress = Progress { active, ..Progress::new(0) };
        self.continue_from(level, state, progress, Some(warm))
    }

    /// Returns the nodes that the first sweep visits: all nodes if the graph is small or a node can be better off
    /// alone. Otherwise, nodes with more weight to other communities, and all nodes of communities so large that even
    /// other members may be better off elsewhere.
    fn first_active(&self, level: &Level<'_, '_>, warm: &Warm) -> Bits {
        let nodes = level.node_count();
        if !self.is_large() || self.asks_for_counts() {
            return Bits::new(nodes, true);
        }
        let mut sizes = vec![0u32; nodes];
        warm.labels.iter().for_each(|&label| sizes[label as usize] += 1);
        let (active, most) = (Bits::new(nodes, false), (VISITED_SHARE * nodes as f64) as u32);
        for (node, &label) in warm.labels.iter().enumerate() {
            if warm.doubted.get(node) || sizes[label as usize] > most {
                active.set(node);
            }
        }
        active
    }

    fn is_large(&self) -> bool {
        self.job.size_class() == SizeClass::Large
    }

    /// Measures the given communities.
    pub(super) fn measured_given(
        &self,
        level: &mut Level<'_, '_>,
        warm: &Warm,
    ) -> Result<LevelState<O>> {
        let labels = warm.labels.iter().map(|&label| AtomicU32::new(label)).collect();
        let (_, mut state) = self.measured_with(level, labels, Some(&warm.doubted))?;
        state.sums.free_below(level.node_count());
        Ok(state)
    }

    /// Continues with the sweeps of the base; `warm` holds the given communities while nodes move from them.
    pub(super) fn continue_from(
        &mut self,
        level: &mut Level<'_, '_>,
        mut state: LevelState<O>,
        progress: Progress,
        warm: Option<Warm>,
    ) -> Result<LevelState<O>> {
        let nodes = level.node_count() as f64;
        let share = |share: f64| (share * nodes) as u64;
        let (enough, most) = (share(FIRST_TOLERANCE) / 10, self.most_sweeps(FIRST_SWEEPS));
        let goes_on = move |done: u32, moved: u64| done < most && moved > enough;
        match (self.warm.step, warm) {
            (Some(WarmStep::Moving), Some(warm)) => {
                let far = share(FAR_MOVED) + warm.new_count;
                let is_far = |done: u32, moved: u64| done == 1 && moved > far;
                let first_moved = self.sweeps(level, &mut state, progress, |done, moved| {
                    goes_on(done, moved) && !is_far(done, moved)
                })?;
                if is_far(1, first_moved) {
                    return self.begin_afresh(level);
                }
                let examined = examined(level, &state, &warm, !self.is_large());
                drop(warm);
                let divided = self.divide(level, state, &examined)?;
                if divided.node_count > share(FAR_DIVIDED) {
                    return self.begin_afresh(level);
                }
                self.warm.step = Some(WarmStep::Divided);
                state = divided.state;
                if divided.node_count > 0 {
                    let progress = Progress { active: divided.nodes, ..Progress::new(0) };
                    self.sweeps(level, &mut state, progress, goes_on)?;
                }
                self.merge(level, state)
            }
            (Some(WarmStep::Divided), _) => {
                self.sweeps(level, &mut state, progress, goes_on)?;
                self.merge(level, state)
            }
            _ => self.cycles(level, state, progress),
        }
    }

    /// Keeps the given communities until the end.
    pub(super) fn keep_given(&mut self, warm: &Warm) -> Result<()> {
        let prefix = self.scratch("given");
        let mut kept = Hierarchy::new(self.job.graph.files(), prefix, Vec::new());
        kept.keep(&warm.labels, warm.labels.len())?;
        self.warm.given = Some(kept);
        Ok(())
    }

    /// Returns these labels; or, if they were found from scratch and the given communities are better, those after some
    /// more sweeps.
    pub(super) fn at_least_given(
        &mut self,
        level: &mut Level<'_, '_>,
        labels: Vec<AtomicU32>,
    ) -> Result<Vec<AtomicU32>> {
        let Some(given) = &self.warm.given else { return Ok(labels) };
        let mut labels = labels;
        if self.warm.step.is_none() {
            let (quality, found) = self.measured(level, labels)?;
            labels = found.labels;
            drop(found.sums);
            let before = given.read(0)?.into_iter().map(AtomicU32::new).collect();
            let (given_quality, mut state) = self.measured(level, before)?;
            if given_quality > quality + MARGIN {
                drop(labels);
                state.sums.free_below(level.node_count());
                self.history.sweeps.cycles = self.limits.cycles;
                labels = self.cycles(level, state, Progress::new(level.node_count()))?.labels;
            }
        }
        Ok(labels)
    }

    /// Improves communities found from given ones until a clustering that starts with them would change nothing, and
    /// says how far they are from those of a fresh one, with these starts. Those of a large graph stay as they are.
    pub(super) fn ripened(
        &mut self,
        level: &mut Level<'_, '_>,
        labels: Vec<AtomicU32>,
        starts: &Starts,
    ) -> Result<Vec<AtomicU32>> {
        let Some(mut kept) = self.warm.given.take() else { return Ok(labels) };
        if self.is_large() {
            kept.discard();
            return Ok(labels);
        }
        // A resumed job repeats what follows.
        let saves = self.saves.take();
        let found = self.rated(level, labels, &mut kept)?;
        let given = kept.read(0)?.into_iter().map(AtomicU32::new).collect();
        let given = self.rated(level, given, &mut kept)?;
        let mut best = if found.quality > given.quality + MARGIN { found } else { given };
        for _ in 0..REPEATS {
            let labels = self.again(level, kept.read(best.place)?, starts)?;
            let next = self.rated(level, labels, &mut kept)?;
            if next.quality <= best.quality + MARGIN {
                break;
            }
            best = next;
        }
        if self.warm.step.is_some() {
            self.compare_with_fresh(level, best.quality, starts)?;
        }
        let labels = kept.read(best.place)?.into_iter().map(AtomicU32::new).collect();
        kept.discard();
        self.saves = saves;
        Ok(labels)
    }

    /// Settles communities, each of them connected as at the end of a clustering, and keeps them with their quality.
    fn rated(
        &mut self,
        level: &mut Level<'_, '_>,
        labels: Vec<AtomicU32>,
        kept: &mut Hierarchy,
    ) -> Result<Scored> {
        let (mut labels, mut is_split) = (labels, true);
        while is_split {
            labels = self.settled(level, labels)?;
            (labels, is_split) = pieces_of(level, labels)?;
        }
        let (quality, state) = self.measured(level, labels)?;
        keep(kept, &state.into_labels())?;
        Ok(Scored { place: kept.groupings().len() - 1, quality })
    }

    /// Runs a clustering that starts from these communities.
    fn again(
        &mut self,
        level: &mut Level<'_, '_>,
        labels: Vec<u32>,
        starts: &Starts,
    ) -> Result<Vec<AtomicU32>> {
        self.anew(level, starts.clone(), |other, level| {
            let given = GivenLabels { initial: labels, ..GivenLabels::default() };
            let state = other.begin_from(level, given)?;
            let labels = other.at_least_given(level, state.labels)?;
            other.warm.given.take().into_iter().for_each(Hierarchy::discard);
            Ok(labels)
        })
    }

    /// Warns if a fresh clustering finds communities that are clearly better than those of this quality. In a graph that
    /// is not small, it has one start.
    fn compare_with_fresh(
        &mut self,
        level: &mut Level<'_, '_>,
        quality: f64,
        starts: &Starts,
    ) -> Result<()> {
        let starts = match self.job.size_class() {
            SizeClass::Small => starts.clone(),
            _ => Starts::one(starts.usual),
        };
        let fresh = self.anew(level, starts, |other, level| {
            let state = other.begin(level)?;
            let state = other.without_fragments(level, state)?;
            let labels = other.settled(level, state.labels)?;
            Ok(other.measured(level, labels)?.0)
        })?;
        let gain = (fresh - quality) / O::scale(quality, level.graph().node_count());
        if gain > WORSE {
            let percent = 100.0 * gain;
            let text = format!(
                "a fresh clustering is better by {percent:.1} % of the objective: omit {INITIAL} to take it"
            );
            notify(self.job.observer, Event::Warning { text: &text.into() })?;
        }
        Ok(())
    }

    /// Clusters from scratch, with all starts.
    fn begin_afresh(&mut self, level: &mut Level<'_, '_>) -> Result<LevelState<O>> {
        let text = "the initial communities are far from good ones: clustering from scratch";
        notify(self.job.observer, Event::Warning { text: &text.into() })?;
        self.warm.step = None;
        self.begin(level)
    }

    /// Merges whole communities where that is better, and runs the remaining cycles.
    fn merge(&mut self, level: &mut Level<'_, '_>, state: LevelState<O>) -> Result<LevelState<O>> {
        self.warm.step = Some(WarmStep::Merging);
        self.history.sweeps.cycles += 1;
        let state = match self.lift_whole(level, state, LEVEL_SHRINKS)? {
            NextStep::Top(state) => state,
            NextStep::Up(first) => self.ascend(level, *first)?,
        };
        self.end_cycle(level, state)
    }

    /// Contracts a level to its communities, if these are fewer than this share of its nodes.
    pub(super) fn lift_whole(
        &mut self,
        level: &mut Level<'_, '_>,
        state: LevelState<O>,
        most: f64,
    ) -> Result<NextStep<O>> {
        self.forget_from(level.number);
        let LevelState { labels, sums } = state;
        let bound = sums.label_bound();
        let used = Bits::new(bound, false);
        labels.iter().for_each(|label| _ = used.set(label.load(Relaxed) as usize));
        if used.count(0..bound) as f64 >= most * level.node_count() as f64 {
            return Ok(NextStep::Top(LevelState { labels, sums }));
        }
        drop((used, sums));
        let mut groups: Vec<u32> = labels.into_iter().map(AtomicU32::into_inner).collect();
        let class_count = renumber(&mut groups, bound);
        let classes = (0..class_count as u32).collect();
        self.lift_groups(level, Groupings { groups, classes, class_count })
    }

    /// Ends a cycle on the base, after the levels above are solved, and runs those that remain. After communities
    /// were merged as a whole, only their nodes are visited.
    pub(super) fn end_cycle(
        &mut self,
        level: &mut Level<'_, '_>,
        state: LevelState<O>,
    ) -> Result<LevelState<O>> {
        let mut progress = Progress::new(state.labels.len());
        if self.warm.step == Some(WarmStep::Merging) && self.history.sweeps.cycles == 1 {
            progress.active = self.merged(level, &state)?;
        }
        self.cycles(level, state, progress)
    }

    /// Returns the nodes of communities that consist of several groups of the base.
    fn merged(&self, level: &Level<'_, '_>, state: &LevelState<O>) -> Result<Bits> {
        let nodes = Bits::new(state.labels.len(), false);
        if self.hierarchy.groupings().len() <= level.number as usize {
            return Ok(nodes);
        }
        let bound = state.sums.label_bound();
        let (mut first_groups, merged) = (vec![NONE; bound], Bits::new(bound, false));
        let mut labels = state.labels.iter().map(|label| label.load(Relaxed) as usize);
        self.hierarchy.for_each(level.number, |group| {
            let Some(label) = labels.next() else { return };
            match &mut first_groups[label] {
                first if *first == NONE => *first = group,
                first if *first != group => _ = merged.set(label),
                _ => {}
            }
        })?;
        for (node, label) in state.labels.iter().enumerate() {
            if merged.get(label.load(Relaxed) as usize) {
                nodes.set(node);
            }
        }
        Ok(nodes)
    }
}

/// Gives each connected piece of a community a label of its own; returns whether there was one of several pieces.
fn pieces_of(level: &mut Level<'_, '_>, labels: Vec<AtomicU32>) -> Result<(Vec<AtomicU32>, bool)> {
    let labels: Vec<u32> = labels.into_iter().map(AtomicU32::into_inner).collect();
    let (pieces, mut scratch) = (Pieces::new(labels.len(), false), ArcScratch::default());
    let blocks = 0..level.graph().blocks().len();
    let connect = |block: &Block| {
        for (local, node) in (block.first_node()..).take(block.node_count()).enumerate() {
            let is_near = |&&target: &&u32| labels[target as usize] == labels[node as usize];
            block.for_each_segment_inline(local, &mut scratch, |targets, _| {
                targets.iter().filter(is_near).for_each(|&target| pieces.connect(node, target));
            })?;
        }
        Ok(())
    };
    level.source.for_each(blocks, |_| true, connect)?;
    let (roots, bound) = (pieces.into_roots(), labels.len());
    let is_split = split_count(&labels, &roots, bound) > 0;
    Ok((roots.into_iter().map(AtomicU32::new).collect(), is_split))
}

/// Returns the labels of the communities that may have come apart.
fn examined<O: Sums>(level: &Level<'_, '_>, state: &LevelState<O>, warm: &Warm, all: bool) -> Bits {
    let bound = state.sums.label_bound();
    let examined = Bits::new(bound, all);
    let labels = || state.labels.iter().map(|label| label.load(Relaxed));
    let mut counts = vec![0u32; bound];
    labels().for_each(|label| counts[label as usize] += 1);
    let large = (LARGE_SHARE * level.node_count() as f64) as u32;
    let set = |(label, _): (usize, &u32)| _ = examined.set(label);
    counts.iter().enumerate().filter(|(_, count)| **count > large).for_each(set);
    counts.fill(0);
    for (label, &before) in labels().zip(&warm.labels).filter(|(label, before)| label != *before) {
        for label in [label, before] {
            let count = &mut counts[label as usize];
            *count = count.saturating_add(EXAMINED_CHANGES);
        }
    }
    for (_, label) in labels().enumerate().filter(|(node, _)| warm.doubted.get(*node)) {
        let count = &mut counts[label as usize];
        *count = count.saturating_add(EXAMINED_DOUBTED);
    }
    for label in labels() {
        let count = &mut counts[label as usize];
        *count = count.saturating_sub(1);
    }
    counts.iter().enumerate().filter(|(_, count)| **count > 0).for_each(set);
    examined
}
