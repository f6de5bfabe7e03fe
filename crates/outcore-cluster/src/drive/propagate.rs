//! Label propagation with labels in memory.
//!
//! ```text
//!  given labels, stars --> labels --sweep, sweep, ...--> labels --closing--> communities
//! ```
//!
//! Memory: 4.125 bytes per node; 2 more if votes are attenuated, 2 if visits are limited, 4 if sizes are limited, 1 in
//! directed graphs.

use super::initial_labels::{FirstLabels, Start};
use super::job::{ClusterJob, ScratchLimits};
use super::memory::Shape;
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
use crate::objectives::label_propagation::{DRAWN_SWEEPS, Votes};
use crate::store::given::GivenLabels;
use crate::store::saves::Saves;
use outcore_graph::{Block, SEGMENT_ARCS};
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};
use outcore_io::reserve_large_pages;
use outcore_io::units::format_counted;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

/// Default maximum number of sweeps.
pub(crate) const SWEEPS: u32 = 30;

/// Returns the memory of a run, beside that of its nodes, for attenuated votes.
pub(crate) fn ballot_bytes(options: &ClusterOptions, shape: &Shape, threads: usize) -> u64 {
    let segment = shape.max_degree.min(SEGMENT_ARCS as u64);
    let attenuates = options.propagation.attenuates();
    if attenuates { (threads as u64 + 1) * Ballot::bytes(segment) } else { 0 }
}

/// Returns the memory of the nodes of a run that starts with `given_count` arrays of labels: the maximum over all phases.
pub(crate) fn node_bytes(options: &ClusterOptions, shape: &Shape, given_count: u64) -> u64 {
    let propagation = &options.propagation;
    let (attenuates, directed) = (propagation.attenuates(), shape.is_directed);
    let limits_visits = shape.is_known && options.most_visits(shape.max_degree).is_some();
    let (directed_byte, has_given) = (u64::from(directed), u64::from(given_count > 0));
    // Sizes by label.
    let sizes = if options.max_size.is_some() { 4 } else { 0 };
    // Label, moves, visits, hops, and a bit for active nodes.
    let moves = directed_byte.max(u64::from(attenuates));
    let sweeping =
        8 * (4 + sizes + moves + 2 * u64::from(limits_visits) + u64::from(attenuates)) + 1;
    // Given labels and their new names are in memory together, before the labels are allocated.
    let starting = 32 * (2 * given_count).max(has_given + 1) + 9 + 8 * sizes;
    let closing = if directed { 20 } else { 8 };
    let node_bits = sweeping.max(starting).max(8 * closing + 2) + has_given;
    (node_bits * shape.nodes).div_ceil(8)
}

impl ClusterOptions {
    /// Returns the maximum number of sweeps.
    pub fn most_sweeps(&self) -> u32 {
        self.max_sweeps.unwrap_or(SWEEPS)
    }

    /// Returns the maximum number of visits of a node, if the limit has an effect.
    fn most_visits(&self, max_degree: u64) -> Option<u16> {
        let most = self.propagation.max_visits.most(max_degree)?;
        // A node is visited once per sweep, so a limit of at least the number of sweeps has no effect.
        (most < self.most_sweeps()).then(|| most.min(u16::MAX.into()) as u16)
    }
}

/// State of the nodes during the sweeps.
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

/// Progress of the sweeps in a checkpoint, next to the arrays that [`SweepState`] and [`SweepRun`] save.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Sweeping {
    pub(crate) history: History,
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
    /// Also tells whether nodes draw among equal labels in the first sweeps.
    Plain(Nodes<'a, Votes<false>>, bool),
    Attenuated(Nodes<'a, Votes<true>>, f64),
}

impl<'a> SweepRun<'a> {
    fn new(
        job: &ClusterJob<'_>,
        state: &'a SweepState,
        held: Option<&'a Bits>,
        has_initial: bool,
    ) -> Self {
        let options = &job.options.propagation;
        let nodes = state.labels.len();
        let directed = job.graph.is_directed();
        let (attenuation, attenuates) = (options.attenuation(), options.attenuates());
        let most_visits = job.options.most_visits(job.graph.max_degree());
        let rules = Rules {
            held,
            visits: vec![0; if most_visits.is_some() { nodes } else { 0 }],
            most_visits: most_visits.unwrap_or(0),
            moves: vec![0; if attenuates && !directed { nodes } else { 0 }],
            hops: &state.hops,
        };
        let changes = vec![0; if directed { nodes } else { 0 }];
        let (cutoff, seed) = (options.label_cutoff, job.options.seed);
        let admission = Admission::limited(job.most(), &state.labels, |_| 1);
        let voters = Voters { state, seed, changes, admission, rules };
        if attenuates {
            Self::Attenuated(voters.rated_by(Votes::new(cutoff)), attenuation)
        } else {
            Self::Plain(voters.rated_by(Votes::new(cutoff)), !directed && !has_initial)
        }
    }

    /// Returns the counters of each node: changes, visits and moves.
    fn counted(&mut self) -> (&mut [u8], &mut [u16], &mut [u8]) {
        let (Self::Plain(Nodes { changes, rules, .. }, _)
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
            Self::Plain(nodes, draws) => {
                nodes.freeze(number);
                nodes.objective.set_draws(*draws && number <= DRAWN_SWEEPS);
            }
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
            Self::Plain(nodes, _) => sweep_block(block, directed, nodes, workshop, number),
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
    /// Propagates labels.
    pub(crate) fn propagate(&self, given: GivenLabels, saves: &mut Saves) -> Result<Communities> {
        let start = given.into_labels(self.graph.node_count() as usize, self.most())?;
        let mut source = self.blocks(self.cache_bytes());
        let (outcome, held) = self.advance(&mut source, start, saves)?;
        self.finish(&mut source, outcome, held.as_ref(), saves)
    }

    /// Runs the sweeps to the end; also returns the nodes that never change their label.
    fn advance(
        &self,
        source: &mut BlockSource<'_>,
        start: Start,
        saves: &mut Saves,
    ) -> Result<(SweptLabels, Option<Bits>)> {
        let count = self.graph.node_count() as usize;
        let mut state = SweepState::new(count, self.options.propagation.attenuates());
        let mut saved: Option<(Sweeping, StateReader)> = saves.open(self.observer)?;
        if let Some((sweeping, from)) = &mut saved {
            self.report_resumed(sweeping.history.sweeps.count)?;
            sweeping.history.resume();
            source.count_from(sweeping.scans);
            state.load(from)?;
        } else {
            self.first_labels(source, &state, &start)?;
            state.active.fill(true);
        }
        let (has_initial, held) = (start.has_initial, start.into_held());
        let history = {
            let mut run = SweepRun::new(self, &state, held.as_ref(), has_initial);
            let sweeping = match saved {
                Some((sweeping, mut from)) => {
                    run.load(&mut from)?;
                    from.finish()?;
                    sweeping
                }
                None => Sweeping::default(),
            };
            self.sweeps(source, &state, &mut run, sweeping, saves)?
        };
        Ok((SweptLabels::new(state.into_labels(), history), held))
    }

    fn first_labels(
        &self,
        source: &mut BlockSource<'_>,
        state: &SweepState,
        start: &Start,
    ) -> Result<()> {
        notify(self.observer, Event::Detail { text: "choosing initial labels" })?;
        let SweepState { labels, active: leads, hops } = state;
        let first = &FirstLabels { seed: self.options.seed, labels, leads, hops };
        let tick = |_: &_| notify(self.observer, Event::Advance { done: 0 });
        match self.options.seeding {
            Seeding::Star => {
                start.stars(source, self.options.propagation.label_cutoff, first, tick)
            }
            Seeding::Own => start.own(first),
        }
    }

    /// Sweeps once.
    fn sweep(
        &self,
        source: &mut BlockSource<'_>,
        state: &SweepState,
        run: &mut SweepRun<'_>,
        workshop: &mut SweepBuffers,
        number: u32,
    ) -> Result<Swept> {
        let directed = self.graph.is_directed();
        let mut swept = Swept::default();
        source.for_each(
            0..self.graph.blocks().len(),
            |entry| {
                let first = entry.first_node as usize;
                state.active.any(first..first + entry.node_count as usize)
            },
            |block| {
                notify(self.observer, Event::Advance { done: 0 })?;
                let first = block.first_node() as usize;
                if state.active.any(first..first + block.node_count()) {
                    let more = run.sweep_block(block, directed, workshop, number)?;
                    swept.moved += more.moved;
                    swept.arcs += more.arcs;
                }
                Ok(())
            },
        )?;
        Ok(swept)
    }

    fn sweeps(
        &self,
        source: &mut BlockSource<'_>,
        state: &SweepState,
        run: &mut SweepRun<'_>,
        mut sweeping: Sweeping,
        saves: &mut Saves,
    ) -> Result<History> {
        let count = self.graph.node_count();
        let nodes = count as f64;
        let enough = self.options.tolerance * nodes;
        let ScratchLimits { large_degree, max_labels, .. } = self.limits;
        let mut workshop = match self.options.propagation.attenuates() {
            true => SweepBuffers::new::<Votes<true>>(self.graph, large_degree, max_labels),
            false => SweepBuffers::new::<Votes<false>>(self.graph, large_degree, max_labels),
        };
        for number in sweeping.history.sweeps.count + 1..=self.options.most_sweeps() {
            let history = &mut sweeping.history;
            if history.converged {
                break;
            }
            let before = history.last_moved;
            let moved = if number > 1 { before as f64 / nodes } else { 0.0 };
            run.begin(self.options.propagation.attenuation_rule, number, moved);
            let swept = self.sweep(source, state, run, &mut workshop, number)?;
            history.learn(&swept, count, enough);
            self.expect_sweeps(number, before, swept.moved, enough)?;
            let moved = format_counted(swept.moved, "node", "nodes");
            let text = format!("sweep {number}: {moved} changed");
            notify(self.observer, Event::Detail { text: &text })?;
            sweeping.scans = source.scans();
            if saves.is_due() {
                saves.save(&sweeping, self.observer, |to| {
                    state.save(to)?;
                    run.save(to)
                })?;
            }
        }
        Ok(sweeping.history)
    }
}
