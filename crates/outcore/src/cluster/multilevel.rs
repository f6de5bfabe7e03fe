//! Local moving on several levels: modularity, the constant Potts model, the map equation.
//!
//! ```text
//!  first groups -> sweeps --refine--> groups inside communities --contract--> next level: the same, and so on
//!                    ^                          |                                  |
//!                    `---- polish <---- every node takes the community of its group, from the last level up
//! ```
//!
//! The scheme is that of Traag, Waltman and van Eck, "From Louvain to Leiden: guaranteeing well-connected
//! communities" (2019), with star seeding instead of single nodes, so that a level is a fraction of
//! the one below after few scans. A cycle leads from the input to the last level and back; another
//! follows if the first sweep after it still changes many labels.
//!
//! Several rules: the first is solved as if alone; the others on its level 1, without another scan of the
//! edges. It should be the one with the smallest communities.
//!
//! Memory: a label and a group for each node, a class for each group, and the objective's sums for
//! each group or community: 36 bytes a node at most for the map equation (modularity and the constant
//! Potts model: 20), if no two nodes are together; 15 to 20 as a rule (11 to 14). If sizes are limited, 8
//! more: the size of each group, and how many nodes it stands for.

use super::bits::Bits;
use super::cache::BlockSource;
use super::closing::Outcome;
use super::contract::{Contracted, Division, Place, contract};
use super::groups::{Groups, Start, first_groups};
use super::hash::{LEAD, LEVEL, REFINE, mix};
use super::hierarchy::Hierarchy;
use super::memory::Fit;
use super::objective::{Objective, Sums, Within};
use super::sweep::{Nodes, Workshop, sweep};
use super::votes::Rules;
use super::{ClusterMemory, History, Job};
use crate::error::Result;
use crate::graph::Graph;
use crate::io::give_back_freed;
use crate::progress::{Event, tell};
use crate::units::format_counted;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Sweeps over the input before the first contraction end when this share of the nodes moves, or after so many.
const FIRST_TOLERANCE: f64 = 0.01;
const FIRST_SWEEPS: u32 = 5;
/// Most sweeps of a stage on higher levels, which usually end because no node moves.
const LEVEL_SWEEPS: u32 = 50;
/// A level is the last one if at most this share of its nodes moves in its first sweep, and most of its
/// communities are single nodes: these have just been free to come together.
const SETTLED: f64 = 0.005;
/// A level has at most this share of the nodes of the one below; more would be the same again.
const LEVEL_SHRINKS: f64 = 0.99;
/// Another cycle follows if more than this share of the nodes moves when the result is polished.
const CYCLE_TOLERANCE: f64 = 0.02;

const LABEL_BYTES: u64 = size_of::<u32>() as u64;

/// A graph with what is known of its nodes.
struct Level<'s, 'g> {
    source: &'s mut BlockSource<'g>,
    counts: Vec<u32>,
    number: u64,
    seed: u64,
    /// For this level and those above.
    memory: u64,
    /// What this level needs of it, to work by itself.
    needed: u64,
    /// Most labels of a table for large degrees.
    most_labels: u64,
}

impl<'g> Level<'_, 'g> {
    fn graph(&self) -> &'g Graph {
        self.source.graph()
    }

    fn node_count(&self) -> usize {
        self.graph().node_count() as usize
    }
}

/// Communities of a level with their sums.
struct State<O> {
    labels: Vec<AtomicU32>,
    sums: O,
}

/// The groups that a level is contracted into.
struct Groupings {
    groups: Vec<u32>,
    classes: Vec<u32>,
    class_count: usize,
}

struct Multilevel<'a, 'j, O: Sums> {
    job: &'a Job<'j>,
    rule: O::Rule,
    start: Start,
    history: History,
    hierarchy: Hierarchy,
    /// The level whose communities are wanted: sweeps go on there after those above are solved.
    base: u64,
    /// Rules that wait for level 1, and what has been found by them.
    waiting: Vec<O::Rule>,
    found: Vec<Outcome>,
}

/// Bytes a node that other rules take: a label, sums and a count that the first holds at most while they
/// are solved, and for each of them a label and, at the closing, a piece.
pub(super) const fn held_bytes<O: Sums>(others: u64) -> u64 {
    if others == 0 { 0 } else { O::COMMUNITY_BYTES + 2 * LABEL_BYTES * (1 + others) }
}

/// Finds the communities of the job's graph by the objective that each rule makes; gives with them the
/// groupings of the last cycle, if they are wanted.
pub(super) fn find<O: Sums>(
    job: &Job<'_>,
    rules: &[O::Rule],
    start: Start,
    source: &mut BlockSource<'_>,
) -> Result<Vec<Outcome>> {
    let (&rule, others) = rules.split_first().expect("at least one rule");
    let held = job.graph.node_count() * held_bytes::<O>(others.len() as u64);
    let mut level = Level {
        source,
        counts: Vec::new(),
        number: 0,
        seed: job.options.seed,
        memory: job.memory - held,
        needed: job.needed - held,
        most_labels: job.limits.most_labels,
    };
    let hierarchy = Hierarchy::new(job.graph.files(), job.scratch.join("groups-0"), Vec::new())?;
    let mut first = Multilevel::<O>::new(job, rule, start, hierarchy);
    first.waiting = others.to_vec();
    let labels = first.cycles(&mut level)?;
    // There may be no level 1.
    first.find_waiting(&mut level)?;
    let mut found = std::mem::take(&mut first.found);
    found.insert(0, first.outcome(labels)?);
    Ok(found)
}

impl<'a, 'j, O: Sums> Multilevel<'a, 'j, O> {
    fn new(job: &'a Job<'j>, rule: O::Rule, start: Start, hierarchy: Hierarchy) -> Self {
        let (history, waiting, found) = (History::default(), Vec::new(), Vec::new());
        Self { job, rule, start, history, hierarchy, base: 0, waiting, found }
    }

    /// Solves the rules that wait, on this level.
    fn find_waiting(&mut self, level: &mut Level<'_, '_>) -> Result<()> {
        for rule in std::mem::take(&mut self.waiting) {
            let directory = self.job.scratch.join(format!("groups-{}", self.found.len() + 1));
            let hierarchy = self.hierarchy.shared(directory)?;
            let mut other = Self::new(self.job, rule, self.start, hierarchy);
            other.base = level.number;
            let mut labels = other.cycles(level)?;
            for below in (0..level.number).rev() {
                labels = self.hierarchy.project(below, &labels)?;
            }
            self.found.push(other.outcome(labels)?);
        }
        Ok(())
    }

    fn outcome(self, labels: Vec<u32>) -> Result<Outcome> {
        let groupings = match self.job.options.levels {
            true => self.hierarchy.into_groupings(),
            false => self.hierarchy.remove().map(|()| Vec::new())?,
        };
        Ok(Outcome { labels, history: self.history, groupings })
    }

    fn detail(&self, text: &str) -> Result<()> {
        tell(self.job.observer, Event::Detail { text })
    }

    fn cycles(&mut self, level: &mut Level<'_, '_>) -> Result<Vec<u32>> {
        self.detail("choosing first communities")?;
        let seed = level.seed ^ LEAD;
        let Groups { labels, sums, .. } = self.first_groups(level, self.start, seed, None)?;
        let mut state = State { labels, sums };
        let share = |share: f64, level: &Level<'_, '_>| (share * level.node_count() as f64) as u64;
        let (most, enough) = (self.most_sweeps(FIRST_SWEEPS), share(FIRST_TOLERANCE, level));
        self.sweeps(level, &mut state, |done, moved| done < most && moved > enough)?;
        for cycle in 1..=self.job.options.cycles {
            self.history.cycles = cycle;
            state = self.descend(level, state)?;
            let few = share(CYCLE_TOLERANCE, level);
            let is_last = |moved: u64| moved <= few || cycle == self.job.options.cycles;
            let polish = |done: u32, moved: u64| done < 2 && moved > 0 && is_last(moved);
            if is_last(self.sweeps(level, &mut state, polish)?) {
                break;
            }
        }
        Ok(state.labels.into_iter().map(AtomicU32::into_inner).collect())
    }

    fn most_sweeps(&self, most: u32) -> u32 {
        self.job.options.max_sweeps.map_or(most, |given| given.min(most))
    }

    /// Moves nodes as long as it is to `go_on` after so many sweeps, with so many nodes moved in the
    /// last; gives how many moved in the first.
    fn sweeps(
        &mut self,
        level: &mut Level<'_, '_>,
        state: &mut State<O>,
        go_on: impl Fn(u32, u64) -> bool,
    ) -> Result<u64> {
        let State { labels, sums } = state;
        let sums = std::mem::replace(sums, O::empty(self.rule, 0));
        let (first_moved, sums) = self.sweeps_by(level, labels, sums, go_on)?;
        state.sums = sums;
        Ok(first_moved)
    }

    fn sweeps_by<T: Objective>(
        &mut self,
        level: &mut Level<'_, '_>,
        labels: &[AtomicU32],
        objective: T,
        go_on: impl Fn(u32, u64) -> bool,
    ) -> Result<(u64, T)> {
        if level.graph().is_weighted() {
            self.sweeps_of::<f64, T>(level, labels, objective, go_on)
        } else {
            self.sweeps_of::<u32, T>(level, labels, objective, go_on)
        }
    }

    fn sweeps_of<S: super::table::Sum, T: Objective>(
        &mut self,
        level: &mut Level<'_, '_>,
        labels: &[AtomicU32],
        objective: T,
        go_on: impl Fn(u32, u64) -> bool,
    ) -> Result<(u64, T)> {
        let graph = level.graph();
        let large_degree = self.job.limits.large_degree;
        let mut workshop = Workshop::<S>::new(graph.max_degree(), large_degree, level.most_labels);
        let active = Bits::new(labels.len(), true);
        let mut nodes = Nodes {
            labels,
            active: &active,
            changes: Vec::new(),
            counts: &level.counts,
            seed: level.seed,
            objective,
            shuffled: true,
            rules: Rules::default(),
        };
        let (mut done, mut moved, mut first_moved) = (0, 0, 0);
        while done == 0 || go_on(done, moved) {
            done += 1;
            self.history.sweeps += 1;
            let before = self.history.arcs;
            let swept = sweep(
                graph,
                level.source,
                &mut nodes,
                &mut workshop,
                self.history.sweeps,
                |arcs| tell(self.job.observer, Event::Advance { done: before + arcs }),
            )?;
            self.history.arcs += swept.arcs;
            moved = swept.moved;
            if done == 1 {
                first_moved = moved;
            }
            self.history.last_moved = moved;
            let nodes = format_counted(moved, "node", "nodes");
            let text = format!("level {}, sweep {done}: {nodes} changed", level.number);
            self.detail(&text)?;
        }
        Ok((first_moved, nodes.objective))
    }

    fn first_groups(
        &mut self,
        level: &mut Level<'_, '_>,
        start: Start,
        seed: u64,
        classes: Option<&[AtomicU32]>,
    ) -> Result<Groups<O>> {
        let done = self.history.arcs;
        let tick = |_: &_| tell(self.job.observer, Event::Advance { done });
        let Level { source, counts, .. } = level;
        if source.graph().is_weighted() {
            first_groups::<f64, O>(source, counts, start, seed, classes, self.rule, tick)
        } else {
            first_groups::<u32, O>(source, counts, start, seed, classes, self.rule, tick)
        }
    }

    /// Solves the levels above, and gives every node the community that its group has there.
    fn descend(&mut self, level: &mut Level<'_, '_>, state: State<O>) -> Result<State<O>> {
        self.detail(&format!("level {}: refining communities", level.number))?;
        self.hierarchy.forget_from(level.number)?;
        let Some(Groupings { groups, classes, class_count }) = self.refine(level, &state.labels)?
        else {
            return Ok(state);
        };
        drop(state);
        self.detail(&format!("level {}: contracting to {} groups", level.number, classes.len()))?;
        let Contracted { graph, counts, sums } = {
            let counts = std::mem::take(&mut level.counts);
            let division =
                Division { groups: &groups, classes: &classes, class_count, counts: &counts };
            let contracted = self.contract(level, &division)?;
            if level.number == self.base {
                level.counts = counts;
            }
            contracted
        };
        self.hierarchy.keep(&groups, classes.len())?;
        drop(groups);
        give_back_freed();
        let number = level.number + 1;
        self.history.levels = self.history.levels.max(number);
        let memory = level.memory - level.source.kept_bytes();
        let (method, threads) = (self.job.options.method, rayon::current_num_threads());
        let sizes = self.job.options.size_bytes() * graph.node_count();
        let rest = memory.saturating_sub(sizes);
        let Fit { most_labels, ahead, needed } =
            ClusterMemory::within(rest, &graph, method, threads);
        let needed = needed + sizes;
        if memory < needed {
            return Err(self.job.too_little_memory(self.job.memory + needed - memory));
        }
        let mut next = Level {
            source: &mut BlockSource::new(&graph, (memory - needed) / 2).reading_ahead(ahead),
            counts,
            number,
            seed: mix(self.job.options.seed ^ LEVEL ^ number),
            memory,
            needed,
            most_labels: most_labels.min(self.job.limits.most_labels),
        };
        self.find_waiting(&mut next)?;
        let labels = classes.into_iter().map(AtomicU32::new).collect();
        let mut state = State { labels, sums };
        let most = self.job.options.max_sweeps.unwrap_or(LEVEL_SWEEPS);
        let first_moved =
            self.sweeps(&mut next, &mut state, |done, moved| done < most && moved > 0)?;
        let few = SETTLED * next.node_count() as f64;
        let is_settled = first_moved as f64 <= few && 2 * class_count >= next.node_count();
        if !is_settled {
            state = self.descend(&mut next, state)?;
        }
        let State { labels, sums } = state;
        drop(next);
        graph.files().remove_all(graph.directory());
        drop(graph);
        give_back_freed();
        let labels: Vec<u32> = labels.into_iter().map(AtomicU32::into_inner).collect();
        let labels = self.hierarchy.project(level.number, &labels)?;
        Ok(State { labels: labels.into_iter().map(AtomicU32::new).collect(), sums })
    }

    fn contract(
        &mut self,
        level: &mut Level<'_, '_>,
        division: &Division<'_>,
    ) -> Result<Contracted<O>> {
        let directory = self.job.scratch.join(format!("level-{}", level.number + 1));
        let spare = level.memory - level.needed - level.source.kept_bytes();
        // Some is left for what the allocator keeps of the levels below.
        let sort_bytes = ClusterMemory::SORT_BYTES + spare / 2;
        let files = self.job.graph.files();
        let place = Place { files, directory: &directory, sort_bytes };
        let done = self.history.arcs;
        let tick = |_: &_| tell(self.job.observer, Event::Advance { done });
        if level.graph().is_weighted() {
            contract::<f64, O>(level.source, division, self.rule, &place, tick)
        } else {
            contract::<u32, O>(level.source, division, self.rule, &place, tick)
        }
    }

    /// Divides every community into groups that hang together; `None` if that are hardly fewer than nodes.
    fn refine(
        &mut self,
        level: &mut Level<'_, '_>,
        labels: &[AtomicU32],
    ) -> Result<Option<Groupings>> {
        let seed = level.seed ^ REFINE ^ mix(u64::from(self.history.sweeps));
        let Groups { labels: groups, sums, count } =
            self.first_groups(level, self.start, seed, Some(labels))?;
        let classes: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
        for (group, label) in groups.iter().zip(labels) {
            classes[group.load(Relaxed) as usize].store(label.load(Relaxed), Relaxed);
        }
        let classes: Vec<u32> = classes.into_iter().map(AtomicU32::into_inner).collect();
        let within = Within { objective: sums, classes: &classes };
        let _ = self.sweeps_by(level, &groups, within, |_, _| false)?;
        let mut groups: Vec<u32> = groups.into_iter().map(AtomicU32::into_inner).collect();
        let numbers = renumber(&mut groups, count);
        if numbers as f64 >= LEVEL_SHRINKS * level.node_count() as f64 {
            return Ok(None);
        }
        // The class of a group is that of any of its nodes.
        let mut of_group = vec![0; numbers];
        for (&group, label) in groups.iter().zip(labels) {
            of_group[group as usize] = label.load(Relaxed);
        }
        let class_count = renumber(&mut of_group, level.node_count());
        Ok(Some(Groupings { groups, classes: of_group, class_count }))
    }
}

/// Makes labels below `bound` dense, in their order; gives their number.
fn renumber(labels: &mut [u32], bound: usize) -> usize {
    let used = Bits::new(bound, false);
    for &label in labels.iter() {
        used.set(label as usize);
    }
    let mut numbers = vec![0; bound];
    let mut count = 0;
    used.for_each(0..bound, |label| {
        numbers[label] = count;
        count += 1;
    });
    for label in labels {
        *label = numbers[*label as usize];
    }
    count as usize
}
