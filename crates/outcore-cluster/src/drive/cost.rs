//! Predicted cost of a clustering, before its graph exists: bytes read and written, memory, disk and time.
//!
//! The number of scans was measured on graphs with communities (`evals/plan`, `evals/quality`): 7 to 13 sweeps of label
//! propagation, and for multilevel methods the scans of one cycle, or two for the constant Potts model. Some graphs
//! take more cycles, each of which costs a third more. How much a level shrinks is a property of the graph that no
//! sample reveals: the shares are those of planted communities with a fifth of the edges between them.

use super::job::ScratchLimits;
use super::memory::{BLOCK_ARCS, BLOCK_NODES, ClusterMemory, Fit, roomy};
use super::multilevel::{MOST_SEARCHES, StartCounts};
use crate::base::pace::sweeps_left;
use crate::finish::cuts::CutMemory;
use crate::methods::options::ClusterOptions;
use crate::methods::table::{MethodOption, Procedure, Shrinks};
use outcore_graph::InputSize;
use outcore_graph::{ARC_BYTES, Block, GraphSize};
use outcore_io::Tuning;
use outcore_io::budget::Limits;
use outcore_io::units::MIB;
use outcore_sort::{Records, Sorting};

/// Bytes of encoded blocks and tables, per thread and for all threads together.
const THREAD_BYTES: u64 = 2 * MIB;
const ALL_THREADS_BYTES: u64 = 48 * MIB;
/// Like [`ALL_THREADS_BYTES`], for a graph with small blocks and degrees.
const LEAST_BYTES: u64 = 4 * MIB;
/// Resident memory when the clustering begins: the program, and a share of the merge's memory that the allocator
/// cannot return.
const HELD_BYTES: u64 = 8 * MIB;
const HELD_SHARE: f64 = 0.02;
/// Disk space reserved for levels, relative to their expected size: a margin for levels that shrink less.
const LEVELS_DISK: f64 = 1.1;
/// Maximum number of arcs of a level in memory, which costs no bytes on disk.
const SMALL_ARCS: u64 = crate::drive::contract::SMALL_ARCS;
/// Arcs passed to the sorter at a time.
const PORTION_ARCS: u64 = crate::finish::cuts::edges::PORTION_ARCS;

/// Bytes other than labels of a clustering with labels on disk; subtracted from half of its limit.
const FIXED_BYTES: u64 = 15 * MIB;

/// Mean share of the pieces rewritten after an interval of the closing.
const CHANGED_SHARE: f64 = 0.2;

/// Sweeps of label propagation, from stars or from given labels.
const SWEEPS: u64 = 8;
/// Scans of the graph in each cycle except the first.
const CYCLE_SCANS: u64 = 4;
/// Mean share of the arcs visited in a sweep.
const SWEPT_SHARE: f64 = 0.35;

/// Nanoseconds of one core per arc.
const PROPAGATE_ARC: f64 = 30.0;
const SCAN_ARC: f64 = 8.0;
const SCAN_DECODED_ARC: f64 = 5.0;
const CONTRACT_ARC: f64 = 100.0;
/// Like [`CONTRACT_ARC`], if all blocks are in memory.
const GATHER_ARC: f64 = 45.0;

/// Nanoseconds of one core per edge inside communities, to sort and examine it; share of the edges that are inside.
const SEPARATE_EDGE: f64 = 400.0;
const INSIDE_SHARE: f64 = 0.8;

/// Number of neighboring groups at which a group saturates: further arcs lead to groups already reached.
const GROUPS_MET: f64 = 177.0;
/// Mean degree of the graphs on which the shares of arcs were measured.
const USUAL_DEGREE: f64 = 17.7;

/// Time of a start on a level, relative to a clustering: for a graph of medium size, and for a large one.
const MEDIUM_LEVEL_START: f64 = 0.15;
const LARGE_LEVEL_START: f64 = 0.006;
/// Time of perturbing the best start on a graph, relative to a clustering.
const PERTURBATION: f64 = 2.0;
/// Time per arc of a start on a graph that is not large, where sweeps run until no node moves, relative to a large one;
/// and fixed time of a start, in nanoseconds.
const CONVERGED: f64 = 1.5;
const START: f64 = 1e7;

/// Seconds between two checkpoints of the sweeps, and communities per node at a checkpoint.
const SAVE_SECONDS: f64 = 60.0;
const COMMUNITIES_A_NODE: f64 = 0.25;

/// Memory of a clustering that grows with the number of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeMemory {
    /// Minimum for the likely number of nodes, with labels on disk where possible.
    pub bytes: u64,
    /// Minimum for the number of nodes that the sample guarantees.
    pub bytes_at_least: u64,
    /// Memory for the likely number of nodes, if everything is in memory.
    pub bytes_in_memory: u64,
    /// Minimum memory independent of the number of nodes: tables, blocks, the contraction of a level.
    pub fixed_bytes: u64,
    /// Part of `fixed_bytes` that the sample guarantees.
    pub fixed_bytes_at_least: u64,
}

impl NodeMemory {
    /// Returns the minimum limit for the likely number of nodes.
    pub fn min_limit(&self) -> u64 {
        self.bytes.max(self.bytes_at_least) + self.fixed_bytes
    }

    /// Returns the minimum limit that every graph compatible with the sample needs.
    pub fn certain_bytes(&self) -> u64 {
        self.bytes_at_least + self.fixed_bytes_at_least.max(LEAST_BYTES)
    }
}

/// Predicted cost of a clustering.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterCost {
    /// Memory that grows with the number of nodes.
    pub nodes: NodeMemory,
    /// Likely peak memory.
    pub memory_bytes: u64,
    /// Number of scans over all edges, without those of additional starts.
    pub scan_count: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Disk space in addition to the graph.
    pub disk_bytes: u64,
    /// Time of one core.
    pub nanoseconds: f64,
    /// Number of starts.
    pub trial_count: u64,
    /// Number of results.
    pub result_count: u64,
    /// Whether the groups of levels are returned.
    pub has_levels: bool,
}

/// Returns the memory of a clustering apart from its nodes, for an unknown graph.
pub fn clustering_bytes(threads: usize) -> u64 {
    ALL_THREADS_BYTES + THREAD_BYTES * threads as u64
}

/// Additional cost of the levels above the graph.
#[derive(Default)]
struct Above {
    read_bytes: f64,
    write_bytes: f64,
    disk_bytes: f64,
    memory_bytes: u64,
    nanoseconds: f64,
}

impl ClusterOptions {
    /// Predicts the cost of clustering an input's graph within `limits`, after a merge that took `merged_bytes` of
    /// memory.
    pub fn cost(
        &self,
        input: &InputSize,
        merged_bytes: u64,
        limits: &Limits,
        tuning: &Tuning,
    ) -> ClusterCost {
        let graph = GraphSize::of(input);
        let least = |nodes, hub| self.min_node_bytes(nodes, hub, graph.is_directed);
        let (smallest, largest) = (GraphSize::at_least(input), GraphSize::at_most(input));
        let mut expected = ClusterMemory::expected(&graph, Some(self.method), limits.threads);
        expected.scratch_bytes += self.room_bytes(graph.arc_count);
        let tight =
            ClusterMemory::expected_in(&largest, Some(self.method), limits.threads, Fit::LEAST);
        let fixed = if self.method.is_multilevel() { tight.fixed_bytes() } else { 0 };
        let nodes = NodeMemory {
            bytes: least(largest.node_count, graph.hub_arcs),
            bytes_at_least: least(smallest.node_count, smallest.hub_arcs),
            bytes_in_memory: self.node_bytes(graph.node_count, graph.is_directed),
            fixed_bytes: fixed.max(clustering_bytes(limits.threads))
                + self.room_bytes(largest.arc_count),
            fixed_bytes_at_least: ClusterMemory::at_least(
                &smallest,
                Some(self.method),
                limits.threads,
            )
            .fixed_bytes()
                + self.room_bytes(smallest.arc_count),
        };
        let needed = ClusterMemory { node_bytes: nodes.bytes_in_memory, ..expected }.total_bytes();
        let held = HELD_BYTES + (HELD_SHARE * merged_bytes as f64) as u64;
        let left = limits.memory_left(held);
        if left < needed && nodes.bytes < nodes.bytes_in_memory {
            return self.cost_on_disk(&graph, nodes, limits.memory_bytes);
        }
        let memory = left.max(needed.min(limits.memory_bytes));
        let rest = memory.saturating_sub(needed);
        let cache = if self.method.is_multilevel() {
            rest / 2
        } else {
            // The strengths of nodes are stored if they fit.
            let strengths = 8 * graph.node_count;
            if graph.is_directed || rest < strengths { rest } else { rest - strengths }
        };
        let lasting = kept(&graph, cache, self.view().is_plain());
        let mut cached = lasting;
        let scans = self.scans();
        let scans = scans + u64::from(self.well_connected.is_some());
        let starts = self.starts(&graph);
        let trials = 1 + starts.on_graph + starts.on_level;
        let on_level = if starts.on_graph > 0 { MEDIUM_LEVEL_START } else { LARGE_LEVEL_START };
        let are_perturbed =
            starts.on_graph > 0 && StartCounts::are_perturbed(graph.node_count, graph.arc_count);
        let perturbation = if are_perturbed { PERTURBATION } else { 0.0 };
        let on_level = on_level * f64::from(starts.on_level);
        let work = 1.0 + f64::from(starts.on_graph) + on_level + perturbation;
        let mut read_scans = 1.0 + (scans as f64 * work - 1.0) * (1.0 - lasting.share);
        if self.method.is_multilevel()
            && self.view().is_plain()
            && let Some(for_now) = decoded_for_now(&graph, rest)
        {
            // The blocks are read again after the first level is contracted.
            let scans_after = (2 + CYCLE_SCANS * (self.likely_cycles() - 1)) as f64;
            read_scans = 1.0 + (1.0 + (scans_after - 1.0) * (1.0 - lasting.share)) * work;
            cached = for_now;
        }
        let read = graph.bytes as f64 * read_scans;
        let arcs = graph.arc_count as f64;
        let scratch =
            expected.scratch_bytes.min(limits.threads as u64 * MIB).min(32 * graph.arc_count);
        let (mut state, mut above) = (nodes.bytes_in_memory, Above::default());
        if self.method.is_multilevel() {
            above = self.above(&graph, (memory, needed), (cached, lasting), limits, tuning);
            let cycles = self.likely_cycles() as f64;
            above.read_bytes *= cycles * work;
            above.write_bytes *= cycles * work;
            above.nanoseconds *= cycles;
            state = state.max(above.memory_bytes);
        }
        let separated =
            self.separated(&graph, memory.saturating_sub(needed + lasting.bytes), limits, tuning);
        state = state.max(separated.memory_bytes);
        let mut memory_bytes = state + expected.block_bytes + scratch + cached.bytes;
        if starts.on_graph > 0 {
            memory_bytes += self.parallel_bytes(&graph, memory - cached.bytes, starts, limits);
        }
        if cached.bytes > lasting.bytes {
            // The levels above are created after these blocks are released.
            memory_bytes = memory_bytes.min(limits.memory_bytes);
        }
        if lasting.share < 1.0 && !self.method.is_multilevel() {
            // The remaining memory caches blocks, up to the last one that fits.
            memory_bytes = limits.memory_bytes;
        }
        let (converged, start) = if starts.on_graph > 0 { (CONVERGED, START) } else { (1.0, 0.0) };
        let of_start =
            (arcs * self.arc_nanoseconds(cached) + above.nanoseconds) * converged + start;
        let nanoseconds = of_start * work;
        let nanoseconds = nanoseconds + separated.nanoseconds;
        let mut saved = self.saved(&graph, nanoseconds / limits.threads.max(1) as f64);
        if self.stability {
            // Labels of all starts, then the stability of each node.
            let divisions = 4.0 * f64::from(trials + 1) * graph.node_count as f64;
            saved.write_bytes += divisions;
            saved.disk_bytes += divisions;
        }
        ClusterCost {
            nodes,
            memory_bytes,
            scan_count: scans,
            read_bytes: (read + above.read_bytes + separated.read_bytes) as u64,
            write_bytes: (above.write_bytes + saved.write_bytes + separated.write_bytes) as u64,
            disk_bytes: ((LEVELS_DISK * above.disk_bytes).max(separated.disk_bytes)
                + saved.disk_bytes) as u64,
            nanoseconds,
            trial_count: trials.into(),
            result_count: self.result_count(),
            has_levels: self.levels,
        }
    }

    /// Returns the numbers of additional starts.
    pub fn starts(&self, graph: &GraphSize) -> StartCounts {
        if !self.method.takes(MethodOption::Trials) {
            return StartCounts::default();
        }
        StartCounts::of(self, &ScratchLimits::default(), graph.node_count, graph.arc_count)
    }

    /// Returns the memory of the starts or perturbations that run on the graph in parallel to the first.
    fn parallel_bytes(
        &self,
        graph: &GraphSize,
        memory: u64,
        starts: StartCounts,
        limits: &Limits,
    ) -> u64 {
        let node_bytes = self.node_bytes(graph.node_count, graph.is_directed);
        let alone = ClusterMemory::expected(graph, Some(self.method), 1);
        let needed = ClusterMemory { node_bytes, ..alone }.total_bytes();
        let count = MOST_SEARCHES.max(starts.on_graph as usize + 1);
        let scratch_limits = ScratchLimits::default();
        let most = memory / needed;
        let width = scratch_limits.width(count, limits.threads, graph.arc_count, most) as u64;
        let scratch = alone.scratch_bytes.min(MIB).min(32 * graph.arc_count);
        (width - 1) * (node_bytes + scratch + alone.block_bytes)
    }

    /// Returns the minimum memory for separating communities, by the number of arcs; 0 if they are not separated.
    fn room_bytes(&self, arcs: u64) -> u64 {
        if self.well_connected.is_some() { CutMemory::min_bytes(arcs) } else { 0 }
    }

    /// Predicts the cost of separating communities that are not well-connected, with `spare` memory beyond the minimum:
    /// a scan, a sort of the edges inside communities, and their examination.
    fn separated(&self, graph: &GraphSize, spare: u64, limits: &Limits, tuning: &Tuning) -> Above {
        if self.well_connected.is_none() {
            return Above::default();
        }
        let edges = (graph.arc_count as f64 / 2.0 * INSIDE_SHARE) as u64;
        let room = CutMemory::within(CutMemory::min_bytes(u64::MAX) + spare);
        let records = Records {
            count: edges,
            bytes: CutMemory::EDGE_BYTES,
            at_once: PORTION_ARCS,
            kept: PORTION_ARCS / 2,
        };
        let sorting = Sorting::of(records, [room.sort_bytes(); 2], limits.threads, tuning);
        let runs = if sorting.run_count == 0 { 0.0 } else { edges as f64 * record_bytes(graph) };
        Above {
            read_bytes: runs * sorting.read,
            write_bytes: runs * sorting.written,
            disk_bytes: runs,
            memory_bytes: self.node_bytes(graph.node_count, graph.is_directed)
                + sorting.forming_bytes.max(sorting.merging_bytes),
            nanoseconds: graph.arc_count as f64 * SCAN_ARC + edges as f64 * SEPARATE_EDGE,
        }
    }

    /// Predicts the cost of checkpoints (`saves`) of a clustering with this duration: one per minute; the last two may
    /// coexist.
    fn saved(&self, graph: &GraphSize, nanoseconds: f64) -> Above {
        // Some scans are not sweeps: five with several levels, otherwise two.
        let others = if self.method.is_multilevel() { 5 } else { 2 };
        let sweeps = self.scans().saturating_sub(others) as f64;
        let times = (nanoseconds * 1e-9 / SAVE_SECONDS).floor().min(sweeps);
        let nodes = graph.node_count as f64;
        let bytes = match &self.method.spec().run {
            Procedure::Components => 0.0,
            Procedure::Propagation => 4.125 * self.result_count() as f64 * nodes,
            Procedure::Levels(levels) => (4.125 + COMMUNITIES_A_NODE * levels.saved_bytes) * nodes,
        };
        let at_once = times.min(2.0);
        Above { write_bytes: times * bytes, disk_bytes: at_once * bytes, ..Above::default() }
    }

    /// Predicts the cost with labels on disk (`intervals`): a sweep reads the labels once per interval. Memory holds
    /// one place for each node of an interval and each of its neighbors.
    fn cost_on_disk(&self, graph: &GraphSize, nodes: NodeMemory, memory: u64) -> ClusterCost {
        let count = graph.node_count.max(1) as f64;
        let degree = graph.arc_count as f64 / count;
        // There is always room for the neighbors of a block.
        let room = (memory / 2).saturating_sub(FIXED_BYTES).max(12 * (BLOCK_NODES + BLOCK_ARCS));
        let intervals = |place_bytes: f64, neighbors: f64| {
            let places = room as f64 / place_bytes / count;
            1.0 / interval_share(places, degree, neighbors)
        };
        let sweeping = intervals(4.0, 1.0).ceil();
        // Only neighbors before an interval matter: none for the first one, all for the last one.
        const STEPS: u32 = 16;
        let steps = (0..STEPS).map(|step| (f64::from(step) + 0.5) / f64::from(STEPS));
        let closing = steps.map(|before| intervals(12.0, before)).sum::<f64>() / f64::from(STEPS);
        let (scans, labels) = (self.scans(), 4.0 * count);
        let sweeps = (scans - 2) as f64;
        let sets = count / 8.0 * (sweeping + closing);
        let read = sweeps * (labels * sweeping + count / 8.0 * sweeping) + 1.5 * labels * closing;
        let written = (sweeps + 4.0 + CHANGED_SHARE * closing) * labels + sets;
        let nanoseconds =
            graph.arc_count as f64 * self.arc_nanoseconds(Cached::NONE) + read + written;
        let times = (nanoseconds * 1e-9 / SAVE_SECONDS).floor().min(sweeps);
        let saved = 4.125 * count;
        ClusterCost {
            nodes,
            memory_bytes: u64::MAX,
            scan_count: scans,
            read_bytes: (graph.bytes as f64 * scans as f64 + read) as u64,
            write_bytes: (written + times * saved) as u64,
            disk_bytes: (3.0 * labels + sets + times.min(2.0) * saved) as u64,
            nanoseconds,
            trial_count: 1,
            result_count: 1,
            has_levels: false,
        }
    }

    /// Returns the number of scans over the edges.
    fn scans(&self) -> u64 {
        let swept = |usual: u64| self.max_sweeps.map_or(usual, |most| usual.min(most.into()));
        match &self.method.spec().run {
            Procedure::Components => 2,
            Procedure::Propagation => swept(SWEEPS) + 2,
            // Initial groups, sweeps, refined groups, their sweep, contraction, polish, closing.
            Procedure::Levels(levels) => {
                let weighed = u64::from(levels.by_mean_weight() && self.min_weight > 0.0);
                swept(5) + 6 + CYCLE_SCANS * (self.likely_cycles() - 1) + weighed
            }
        }
    }

    /// Predicts the total number of arcs scanned, on a graph with `arcs` arcs; `None` if unknown.
    pub(crate) fn expected_arcs(&self, arcs: u64) -> Option<u64> {
        if !self.method.is_multilevel() {
            return Some(self.scans() * arcs);
        }
        let base = arcs as f64;
        self.expected_on_level(0, base, base, 0).map(|(part, after)| (part + after) as u64)
    }

    /// Predicts the number of arcs scanned on a level with `arcs` arcs until the next level is complete, and from then
    /// until the end, for a graph with `base` arcs after `cycles` cycles; `None` if unknown.
    pub(crate) fn expected_on_level(
        &self,
        level: u64,
        arcs: f64,
        base: f64,
        cycles: u32,
    ) -> Option<(f64, f64)> {
        if self.result_count() > 1 {
            return None;
        }
        let cycles_left = self.likely_cycles().checked_sub(cycles.into())? as f64;
        // The last cycle ends with a sweep over the graph, followed by the closing.
        let cycle = CYCLE_SCANS as f64 * base + self.arcs_above(0, base);
        let rest = |cycles_left: f64| cycles_left * cycle + 2.0 * base;
        let scans = match level.checked_sub(1) {
            None if cycles_left == 0.0 => return Some((base, base)),
            None if cycles > 0 => CYCLE_SCANS,
            None => self.scans() - 2 - CYCLE_SCANS * (self.likely_cycles() - 1),
            Some(above) => self.levels_above().get(above as usize).map_or(2, |level| level.scans),
        };
        let cycles_left = if level == 0 { cycles_left - 1.0 } else { cycles_left };
        Some((scans as f64 * arcs, self.arcs_above(level, arcs) + rest(cycles_left)))
    }

    /// Predicts the number of arcs scanned on the levels above this one, which has `arcs` arcs.
    fn arcs_above(&self, level: u64, arcs: f64) -> f64 {
        let above = self.levels_above().iter().skip(level as usize);
        let scanned = above.scan(arcs, |arcs, shrinks| {
            *arcs *= shrinks.arcs;
            Some(*arcs * shrinks.scans as f64)
        });
        scanned.sum()
    }

    /// Predicts the remaining scans of label propagation after its first scan and `sweeps` sweeps, the last two of
    /// which moved `before` and `moved` nodes (`None` if unknown), and the scans after the sweeps.
    pub(crate) fn expected_sweeps(
        &self,
        sweeps: u32,
        (before, moved): (u64, u64),
        enough: f64,
    ) -> (Option<f64>, f64) {
        let planned = SWEEPS.checked_sub(sweeps.into()).filter(|&left| left > 0);
        let left = sweeps_left(before, moved, enough);
        // The first sweeps predict little about later ones.
        let left = planned.map_or(left, |planned| {
            let planned = planned as f64;
            Some(left.map_or(planned, |left| left.min(planned)))
        });
        let most = f64::from(self.most_sweeps().saturating_sub(sweeps));
        (left.map(|left| left.min(most)), 1.0)
    }

    /// Returns the time per arc of the graph over all scans.
    fn arc_nanoseconds(&self, cached: Cached) -> f64 {
        let (sweeps, scan_arc) = (self.scans() as f64, cached.scan_nanoseconds());
        match &self.method.spec().run {
            Procedure::Components => 2.0 * scan_arc,
            Procedure::Propagation => {
                self.result_count() as f64 * sweeps * (scan_arc + SWEPT_SHARE * PROPAGATE_ARC)
            }
            Procedure::Levels(levels) => sweeps * (scan_arc + SWEPT_SHARE * levels.rate_arc),
        }
    }

    /// Returns the likely number of cycles up the levels and back.
    fn likely_cycles(&self) -> u64 {
        let usual = self.method.levels().map_or(1, |levels| levels.likely_cycles);
        usual.min(self.cycles.into())
    }

    /// Returns the number of results: one for each value of an option that takes several.
    pub fn result_count(&self) -> u64 {
        let method = self.method;
        if method.takes(MethodOption::Propagation) {
            self.propagation.attenuation.len() as u64
        } else if method.takes(MethodOption::Resolution) {
            self.resolution.len() as u64
        } else {
            1
        }
    }

    fn levels_above(&self) -> &'static [Shrinks] {
        self.method.levels().map_or(&[], |levels| levels.shrinks)
    }

    /// Predicts the cost of the levels above the graph: sorting, writing and scanning each, and keeping the groups on
    /// disk meanwhile. The tuples hold the graph's memory and the part of it that is needed, and the graph's cached
    /// blocks before and after it is contracted.
    fn above(
        &self,
        graph: &GraphSize,
        (mut memory, mut needed): (u64, u64),
        (mut cached, lasting): (Cached, Cached),
        limits: &Limits,
        tuning: &Tuning,
    ) -> Above {
        let mut above = Above::default();
        let (mut below, mut groups_on_disk, mut level_on_disk) = (*graph, 0.0, 0.0);
        // A level is removed once the next one is complete, but the graph keeps its cached blocks.
        let is_released = cached.bytes > lasting.bytes;
        let beside_graph = memory.saturating_sub(if is_released { 0 } else { cached.bytes });
        let rate_arc = self.method.levels().map_or(0.0, |levels| levels.rate_arc);
        for shrinks in self.levels_above() {
            let groups = 4.0 * below.node_count as f64;
            above.read_bytes += groups;
            above.write_bytes += groups;
            groups_on_disk += groups;
            let on_disk = groups_on_disk + level_on_disk;
            above.disk_bytes = above.disk_bytes.max(on_disk);
            let of_arc = if cached.share < 1.0 { CONTRACT_ARC } else { GATHER_ARC };
            above.nanoseconds += below.arc_count as f64 * of_arc;
            let kept_above = if below == *graph { 0 } else { cached.bytes };
            let state = self.node_bytes(below.node_count, false) + kept_above;
            if below.arc_count <= SMALL_ARCS {
                let sorted = 2 * ARC_BYTES * below.arc_count;
                above.memory_bytes = above.memory_bytes.max(state + sorted);
                break;
            }
            let spare = memory.saturating_sub(needed + cached.bytes);
            let records = Records {
                count: (below.arc_count as f64 * shrinks.between) as u64,
                bytes: ARC_BYTES,
                at_once: PORTION_ARCS,
                kept: (PORTION_ARCS as f64 * shrinks.between) as u64,
            };
            let budget = ClusterMemory::SORT_BYTES + spare / 2;
            let sorting = Sorting::of(records, [budget; 2], limits.threads, tuning);
            let of_graph = if below == *graph { shrinks.by_degree(graph) } else { 1.0 };
            let next = shrunk(&below, shrinks, shrinks.arcs * of_graph);
            let is_in_memory = sorting.run_count == 0;
            let of_record = if is_in_memory { 0.0 } else { record_bytes(&below) };
            let runs = records.count as f64 * of_record;
            above.write_bytes += runs * sorting.written + next.bytes as f64;
            above.read_bytes += runs * sorting.read;
            // A pass writes longer runs while those that it reads still exist.
            let again = if sorting.pass_count > 1 { 1.5 } else { 1.0 };
            above.disk_bytes = above.disk_bytes.max(on_disk + runs * again + next.bytes as f64);
            level_on_disk = next.bytes as f64;
            let sorted =
                sorting.forming_bytes.max(sorting.merging_bytes + next.bytes.min(16 * MIB));
            above.memory_bytes = above.memory_bytes.max(state + sorted);
            memory = beside_graph;
            needed =
                ClusterMemory::expected(&next, Some(self.method), limits.threads).total_bytes();
            let rest = memory.saturating_sub(needed);
            cached = decoded_for_now(&next, rest).unwrap_or_else(|| kept(&next, rest / 2, true));
            let scans = 1.0 + (shrinks.scans - 1) as f64 * (1.0 - cached.share);
            above.read_bytes += next.bytes as f64 * scans;
            let of_arc = cached.scan_nanoseconds() + SWEPT_SHARE * rate_arc;
            above.nanoseconds += next.arc_count as f64 * shrinks.scans as f64 * of_arc;
            below = next;
        }
        above
    }
}

impl Shrinks {
    /// Returns the correction for dense graphs, which shrink more: their groups have more arcs to each neighboring
    /// group.
    fn by_degree(&self, graph: &GraphSize) -> f64 {
        let met = |degree: f64| {
            let share = degree.max(0.1) * self.between / self.nodes / GROUPS_MET;
            (1.0 - (-share).exp()) / share
        };
        met(graph.arc_count as f64 / graph.node_count.max(1) as f64) / met(USUAL_DEGREE)
    }
}

/// Predicts the size of the level above `graph`, where `arcs` is its share of the arcs.
fn shrunk(graph: &GraphSize, shrinks: &Shrinks, arcs: f64) -> GraphSize {
    let arc_count = (graph.arc_count as f64 * arcs) as u64;
    // Fewer nodes have shorter gaps, sums have longer weights.
    let bytes = (graph.bytes as f64 * arcs * 0.85) as u64;
    let node_count = (graph.node_count as f64 * shrinks.nodes).ceil() as u64;
    // Sums of weights have many distinct values.
    let (is_weighted, lists_weights) = (true, false);
    GraphSize { node_count, arc_count, bytes, is_weighted, lists_weights, hub_arcs: 0, ..*graph }
}

/// Returns the bytes per arc in a run of a contraction.
fn record_bytes(graph: &GraphSize) -> f64 {
    let target_bits = (graph.node_count.max(2) as f64).log2() - 1.0;
    let weight_bits = if graph.is_weighted { 10.5 } else { 1.0 };
    (target_bits + weight_bits + 3.0) / 8.0 + 0.07
}

/// Blocks of a graph in memory.
#[derive(Clone, Copy)]
struct Cached {
    /// Share of all blocks.
    share: f64,
    bytes: u64,
    is_decoded: bool,
}

impl Cached {
    const NONE: Self = Self { share: 0.0, bytes: 0, is_decoded: false };

    /// Returns the time of one core to scan an arc.
    fn scan_nanoseconds(self) -> f64 {
        if self.is_decoded { SCAN_DECODED_ARC } else { SCAN_ARC }
    }
}

/// Returns the blocks of a graph that stay in memory. Those of a plain graph are decoded if all fit.
fn kept(graph: &GraphSize, cache: u64, is_plain: bool) -> Cached {
    if is_plain && let Some(decoded) = decoded(graph, cache) {
        return decoded;
    }
    let is_decoded = false;
    let bytes = graph.bytes + 8 * graph.node_count;
    if bytes <= cache {
        return Cached { share: 1.0, bytes, is_decoded };
    }
    Cached { share: cache as f64 / bytes.max(1) as f64, bytes: cache, is_decoded }
}

/// Returns all blocks decoded, if they fit.
fn decoded(graph: &GraphSize, cache: u64) -> Option<Cached> {
    let GraphSize { node_count, arc_count, .. } = *graph;
    let codes = Block::decoded_arc_bytes(node_count, arc_count, graph.is_weighted);
    let listed = Block::listed_arc_bytes(node_count, arc_count);
    let can_list = graph.is_weighted && graph.lists_weights;
    let mut forms = [Some(codes), can_list.then_some(listed)].into_iter().flatten();
    let bytes = forms.find(|&bytes| bytes <= cache)?;
    Some(Cached { share: 1.0, bytes, is_decoded: true })
}

/// Returns the blocks of a level that may stay decoded until it is contracted, although they exceed the cache's half of
/// the free memory.
fn decoded_for_now(graph: &GraphSize, rest: u64) -> Option<Cached> {
    if decoded(graph, rest / 2).is_some() { None } else { decoded(graph, roomy(rest)) }
}

/// Returns the share of all nodes in an interval. `places` is the number of places per node of the graph; arcs lead to
/// random nodes, of which the share `neighbors` takes places.
fn interval_share(places: f64, degree: f64, neighbors: f64) -> f64 {
    let taken = |inside: f64| inside + neighbors * (1.0 - (-degree * inside).exp());
    let (mut low, mut high) = (1e-9, 1.0);
    if taken(high) <= places {
        return high;
    }
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        *(if taken(middle) <= places { &mut low } else { &mut high }) = middle;
    }
    low
}
