//! Label propagation, for one or several sets of options at a time.
//!
//! ```text
//!  given labels, stars --> labels of every run --sweep, sweep, ...--> labels --closing--> communities
//!                                                a block of the graph is
//!                                                read once for all runs
//! ```
//!
//! Several runs advance together: each block is swept for every run while it is in memory, so the file is
//! read once for all runs. Each run gives the same result as alone. Memory: 4.125 bytes per node and run; 2
//! more if votes are attenuated, 2 if visits are limited, 4 if sizes are limited, 1 in directed graphs.

use super::job::{ClusterJob, ScratchLimits};
use super::memory::{ClusterMemory, Fit};
use super::start::{FirstLabels, Start};
use crate::base::bits::Bits;
use crate::finish::closing::SweptLabels;
use crate::finish::communities::Communities;
use crate::kernel::admission::Admission;
use crate::kernel::cache::BlockSource;
use crate::kernel::history::History;
use crate::kernel::holdings::NO_HOLDINGS;
use crate::kernel::nodes::{Nodes, Rules};
use crate::kernel::sweep::{SweepBuffers, Swept, sweep_block};
use crate::kernel::votes::Ballot;
use crate::methods::options::{AttenuationRule, ClusterOptions, Seeding};
use crate::objectives::label_propagation::Votes;
use crate::store::given::GivenLabels;
use crate::store::saves::Saves;
use outcore_graph::{Block, Graph, SEGMENT_ARCS};
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};
use outcore_io::reserve_large_pages;
use outcore_io::units::format_counted;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

/// Default maximum number of sweeps.
pub(crate) const SWEEPS: u32 = 30;

/// Parameters that distinguish a run from the other runs.
#[derive(Debug, Clone, Copy)]
struct Set {
    seed: u64,
    attenuation: f64,
}

/// Returns the memory of the runs, which start with `given_count` arrays of labels.
pub(crate) fn memory(
    options: &ClusterOptions,
    graph: &Graph,
    given_count: u64,
    threads: usize,
    fit: Fit,
) -> ClusterMemory {
    let base = ClusterMemory::fitted(graph, None, threads, fit);
    let limits_visits = options.most_visits(graph).is_some();
    let node_bits = node_bits(options, graph.is_directed(), limits_visits, given_count);
    let segment = graph.max_degree().min(SEGMENT_ARCS as u64);
    let attenuates = options.propagation.attenuates();
    let ballots = if attenuates { (threads as u64 + 1) * Ballot::bytes(segment) } else { 0 };
    ClusterMemory {
        node_bytes: (node_bits * graph.node_count()).div_ceil(8),
        scratch_bytes: base.scratch_bytes + ballots,
        ..base
    }
}

/// Returns the number of bits per node: the maximum over all phases.
pub(crate) fn node_bits(
    options: &ClusterOptions,
    directed: bool,
    limits_visits: bool,
    given_count: u64,
) -> u64 {
    let propagation = &options.propagation;
    let (attenuates, runs) = (propagation.attenuates(), propagation.attenuation.len() as u64);
    let (directed_byte, has_given) = (u64::from(directed), u64::from(given_count > 0));
    // Sizes by label; during the start, of one run at a time.
    let sizes = if options.max_size.is_some() { 4 } else { 0 };
    // Label, moves, visits, hops, and a bit for active nodes.
    let moves = directed_byte.max(u64::from(attenuates));
    let run = 8 * (4 + sizes + moves + 2 * u64::from(limits_visits) + u64::from(attenuates)) + 1;
    let sweeping = runs * run;
    // Given labels and their new names are in memory together, before the labels of the runs are allocated.
    let starting = 32 * (2 * given_count).max(has_given + runs) + 9 * runs + 8 * sizes;
    let closing = if directed { (8 * runs).max(4 * runs + 16) } else { 8 * runs };
    sweeping.max(starting).max(8 * closing + 2) + has_given
}

impl ClusterOptions {
    /// Returns the maximum number of sweeps.
    pub fn most_sweeps(&self) -> u32 {
        self.max_sweeps.unwrap_or(SWEEPS)
    }

    /// Returns the maximum number of visits of a node, if the limit has an effect.
    fn most_visits(&self, graph: &Graph) -> Option<u16> {
        let most = self.propagation.max_visits.most(graph.max_degree())?;
        // A node is visited once per sweep, so a limit of at least the number of sweeps has no effect.
        (most < self.most_sweeps()).then(|| most.min(u16::MAX.into()) as u16)
    }
}

/// State of one run during its sweeps.
struct SweepState {
    labels: Vec<AtomicU32>,
    active: Bits,
    hops: Vec<AtomicU8>,
}

impl SweepState {
    fn new(node_count: usize, attenuates: bool) -> Self {
        // Labels are accessed at random.
        let mut labels = reserve_large_pages(node_count);
        labels.resize_with(node_count, AtomicU32::default);
        let mut hops = Vec::new();
        if attenuates {
            hops = reserve_large_pages(node_count);
            hops.resize_with(node_count, AtomicU8::default);
        }
        Self { labels, active: Bits::new(node_count, false), hops }
    }

    fn into_labels(self) -> Vec<u32> {
        // In place: the two types have the same layout.
        self.labels.into_iter().map(AtomicU32::into_inner).collect()
    }
}

/// Progress of the runs in a checkpoint, next to the arrays that [`SweepState`] and [`SweepRun`] save.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sweeping {
    /// Number of sweeps of the runs with the most sweeps.
    pub(crate) number: u32,
    pub(crate) histories: Vec<History>,
    pub(crate) scans: u64,
}

impl SweepState {
    fn save(&self, to: &mut StateWriter) -> Result<()> {
        to.labels(&self.labels)?;
        self.active.save(to)?;
        to.array(self.hops.iter().map(|hops| hops.load(Relaxed)))
    }

    fn load(&mut self, from: &mut StateReader) -> Result<()> {
        from.labels(&mut self.labels)?;
        let nodes = self.labels.len();
        if self.labels.iter_mut().any(|label| *label.get_mut() as usize >= nodes) {
            return Err(from.damaged());
        }
        self.active.load(from)?;
        from.fill(&mut self.hops, |place, hops| *place.get_mut() = hops)
    }
}

/// Run in progress, by the kind of its votes.
enum SweepRun<'a> {
    Plain(Nodes<'a, Votes<false>>),
    Attenuated(Nodes<'a, Votes<true>>, f64),
}

impl<'a> SweepRun<'a> {
    fn new(job: &ClusterJob<'_>, set: Set, state: &'a SweepState, held: Option<&'a Bits>) -> Self {
        let options = &job.options.propagation;
        let nodes = state.labels.len();
        let directed = job.graph.is_directed();
        let attenuates = set.attenuation > 0.0;
        let most_visits = job.options.most_visits(job.graph);
        let rules = Rules {
            held,
            visits: vec![0; if most_visits.is_some() { nodes } else { 0 }],
            most_visits: most_visits.unwrap_or(0),
            moves: vec![0; if attenuates && !directed { nodes } else { 0 }],
            hops: &state.hops,
        };
        let changes = vec![0; if directed { nodes } else { 0 }];
        let cutoff = options.label_cutoff;
        let admission = Admission::limited(job.most(), &state.labels, |_| 1);
        let voters = Voters { state, seed: set.seed, changes, admission, rules };
        if attenuates {
            Self::Attenuated(voters.rated_by(Votes::new(cutoff)), set.attenuation)
        } else {
            Self::Plain(voters.rated_by(Votes::new(cutoff)))
        }
    }

    /// Returns the counters of each node: changes, visits and moves.
    fn counted(&mut self) -> (&mut [u8], &mut [u16], &mut [u8]) {
        let (Self::Plain(Nodes { changes, rules, .. })
        | Self::Attenuated(Nodes { changes, rules, .. }, _)) = self;
        (changes, &mut rules.visits, &mut rules.moves)
    }

    fn save(&mut self, to: &mut StateWriter) -> Result<()> {
        let (changes, visits, moves) = self.counted();
        to.array(changes.iter().copied())?;
        to.array(visits.iter().copied())?;
        to.array(moves.iter().copied())
    }

    fn load(&mut self, from: &mut StateReader) -> Result<()> {
        let (changes, visits, moves) = self.counted();
        from.fill(changes, |place, number| *place = number)?;
        from.fill(visits, |place, number| *place = number)?;
        from.fill(moves, |place, number| *place = number)
    }

    /// Prepares a sweep, after one that moved this share of the nodes.
    fn begin(&mut self, rule: AttenuationRule, number: u32, moved: f64) {
        match self {
            Self::Plain(nodes) => nodes.freeze(number),
            Self::Attenuated(nodes, value) => {
                nodes.freeze(number);
                nodes.objective.set_factors(|hops| match rule {
                    AttenuationRule::Hops => 1.0 - *value * hops,
                    AttenuationRule::Change => 1.0 - libm::pow(moved * hops, *value),
                });
            }
        }
    }

    fn sweep_block(
        &mut self,
        block: &Block,
        directed: bool,
        workshop: &mut SweepBuffers,
        number: u32,
    ) -> Result<Swept> {
        match self {
            Self::Plain(nodes) => sweep_block(block, directed, nodes, workshop, number),
            Self::Attenuated(nodes, _) => sweep_block(block, directed, nodes, workshop, number),
        }
    }
}

/// Nodes of a run, without an objective.
struct Voters<'a> {
    state: &'a SweepState,
    seed: u64,
    changes: Vec<u8>,
    admission: Admission,
    rules: Rules<'a>,
}

impl<'a> Voters<'a> {
    fn rated_by<O>(self, objective: O) -> Nodes<'a, O> {
        let Self { state, seed, changes, admission, rules } = self;
        Nodes {
            labels: &state.labels[..],
            active: &state.active,
            changes,
            holdings: &NO_HOLDINGS,
            seed,
            objective,
            admission,
            shuffled: false,
            activates: true,
            rules,
        }
    }
}

impl ClusterJob<'_> {
    /// Propagates labels; returns a result for each value of a list among the options.
    pub(crate) fn propagate(
        &self,
        given: GivenLabels,
        saves: &mut Saves,
    ) -> Result<Vec<Communities>> {
        let start = given.into_labels(self.graph.node_count() as usize, self.most())?;
        let options = &self.options.propagation;
        let seed = self.options.seed;
        let sets: Vec<Set> =
            options.attenuation.iter().map(|&attenuation| Set { seed, attenuation }).collect();
        let mut source = self.blocks(self.cache_bytes());
        let (outcomes, held) = self.advance(&mut source, &sets, start, saves)?;
        self.finish_all(&mut source, outcomes, held.as_ref(), saves)
    }

    /// Advances the runs of all sets to their end; also returns the held nodes.
    fn advance(
        &self,
        source: &mut BlockSource<'_>,
        sets: &[Set],
        start: Start,
        saves: &mut Saves,
    ) -> Result<(Vec<SweptLabels>, Option<Bits>)> {
        let count = self.graph.node_count() as usize;
        let mut states: Vec<SweepState> =
            sets.iter().map(|set| SweepState::new(count, set.attenuation > 0.0)).collect();
        let mut saved: Option<(Sweeping, StateReader)> = saves.open(self.observer)?;
        if let Some((sweeping, from)) = &mut saved {
            self.report_resumed(sweeping.number)?;
            sweeping.histories.iter_mut().for_each(History::resume);
            source.count_from(sweeping.scans);
            states.iter_mut().try_for_each(|state| state.load(from))?;
        } else {
            self.first_labels(source, sets, &states, &start)?;
            states.iter().for_each(|state| state.active.fill(true));
        }
        let held = start.into_held();
        let histories = {
            let mut runs: Vec<SweepRun<'_>> = sets
                .iter()
                .zip(&states)
                .map(|(set, state)| SweepRun::new(self, *set, state, held.as_ref()))
                .collect();
            let fresh = || Sweeping {
                number: 0,
                histories: vec![History::default(); sets.len()],
                scans: 0,
            };
            let sweeping = match saved {
                Some((sweeping, mut from)) => {
                    runs.iter_mut().try_for_each(|run| run.load(&mut from))?;
                    if sweeping.histories.len() != runs.len() {
                        return Err(from.damaged());
                    }
                    from.finish()?;
                    sweeping
                }
                None => fresh(),
            };
            self.sweeps(source, &states, &mut runs, sweeping, saves)?
        };
        let outcomes = states
            .into_iter()
            .zip(histories)
            .map(|(state, history)| SweptLabels::new(state.into_labels(), history))
            .collect();
        Ok((outcomes, held))
    }

    fn first_labels(
        &self,
        source: &mut BlockSource<'_>,
        sets: &[Set],
        states: &[SweepState],
        start: &Start,
    ) -> Result<()> {
        notify(self.observer, Event::Detail { text: "choosing initial labels" })?;
        let first: Vec<FirstLabels<'_>> = sets
            .iter()
            .zip(states)
            .map(|(set, state)| FirstLabels {
                seed: set.seed,
                labels: &state.labels,
                leads: &state.active,
                hops: &state.hops,
            })
            .collect();
        let tick = |_: &_| notify(self.observer, Event::Advance { done: 0 });
        match self.options.seeding {
            Seeding::Star => {
                start.stars(source, self.options.propagation.label_cutoff, &first, tick)
            }
            Seeding::Own => first.iter().try_for_each(|first| start.own(first)),
        }
    }

    /// Sweeps once in the runs that are `going`; returns what each did.
    fn sweep(
        &self,
        source: &mut BlockSource<'_>,
        states: &[SweepState],
        runs: &mut [SweepRun<'_>],
        going: &[bool],
        workshop: &mut SweepBuffers,
        number: u32,
    ) -> Result<Vec<Swept>> {
        let directed = self.graph.is_directed();
        let mut swept = vec![Swept::default(); runs.len()];
        let wants =
            |run: usize, nodes: std::ops::Range<usize>| going[run] && states[run].active.any(nodes);
        source.for_each(
            0..self.graph.blocks().len(),
            |entry| {
                let first = entry.first_node as usize;
                let nodes = first..first + entry.node_count as usize;
                (0..going.len()).any(|run| wants(run, nodes.clone()))
            },
            |block| {
                notify(self.observer, Event::Advance { done: 0 })?;
                let first = block.first_node() as usize;
                let nodes = first..first + block.node_count();
                for (at, (run, swept)) in runs.iter_mut().zip(&mut swept).enumerate() {
                    if wants(at, nodes.clone()) {
                        let more = run.sweep_block(block, directed, workshop, number)?;
                        swept.moved += more.moved;
                        swept.arcs += more.arcs;
                    }
                }
                Ok(())
            },
        )?;
        Ok(swept)
    }

    fn sweeps(
        &self,
        source: &mut BlockSource<'_>,
        states: &[SweepState],
        runs: &mut [SweepRun<'_>],
        mut sweeping: Sweeping,
        saves: &mut Saves,
    ) -> Result<Vec<History>> {
        let count = self.graph.node_count();
        let nodes = count as f64;
        let enough = self.options.tolerance * nodes;
        let ScratchLimits { large_degree, max_labels, .. } = self.limits;
        let mut workshop = match self.options.propagation.attenuates() {
            true => SweepBuffers::new::<Votes<true>>(self.graph, large_degree, max_labels),
            false => SweepBuffers::new::<Votes<false>>(self.graph, large_degree, max_labels),
        };
        for number in sweeping.number + 1..=self.options.most_sweeps() {
            let histories = &mut sweeping.histories;
            let going: Vec<bool> = histories.iter().map(|history| !history.converged).collect();
            if !going.contains(&true) {
                break;
            }
            for (run, history) in runs.iter_mut().zip(&*histories) {
                let moved = if number > 1 { history.last_moved as f64 / nodes } else { 0.0 };
                run.begin(self.options.propagation.attenuation_rule, number, moved);
            }
            let moved_before = histories.iter().map(|history| history.last_moved).sum();
            let swept = self.sweep(source, states, runs, &going, &mut workshop, number)?;
            let moving = histories.iter_mut().zip(&swept).zip(&going).filter(|(_, going)| **going);
            moving.for_each(|((history, swept), _)| history.learn(swept, count, enough));
            let moved = swept.iter().map(|swept| swept.moved).sum();
            let enough = enough * runs.len() as f64;
            self.expect_sweeps(number, moved_before, moved, enough)?;
            let text =
                format!("sweep {number}: {} changed", format_counted(moved, "node", "nodes"));
            notify(self.observer, Event::Detail { text: &text })?;
            (sweeping.number, sweeping.scans) = (number, source.scans());
            if saves.is_due() {
                saves.save(&sweeping, self.observer, |to| {
                    states.iter().try_for_each(|state| state.save(to))?;
                    runs.iter_mut().try_for_each(|run| run.save(to))
                })?;
            }
        }
        Ok(sweeping.histories)
    }
}
