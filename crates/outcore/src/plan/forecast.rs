//! Forecast of the stages of a job: one table of times, and the bytes and the memory that the rooms state for a size.
//!
//! Bytes on disk and memory follow from the formats of runs, names and graph, and from what the sort and the clustering
//! reserve. Times are those of the machine that the table was measured on (two cores of a server), multiplied by the
//! speed of this one if `outcore lab tune` has measured it, or those of the disk if it is slower. They are meant to be
//! right within a factor of two on graphs with communities; `evals/plan` compares them with measurements.

use super::joined::ForestSize;
use super::limits::{score_bytes, score_bytes_a_node};
use super::{InputSize, StagePlan};
use crate::budget::Limits;
use crate::cluster::{ClusterMemory, ClusterOptions, Ladder, METHODS, Method, NodeMemory};
use crate::graph::{self, ARC_BYTES, BLOCK_ARCS, BLOCK_NODES, Block, GraphSize};
use crate::ids::NamesSize;
use crate::input::{self, CHUNK_BYTES};
use crate::io::{Tuning, WRITER_BYTES};
use crate::progress::Stage;
use crate::sort::{Records, SORT_BYTES_MIN, Sorting, merge_disk_bytes};
use crate::units::{KIB, MIB};

/// Nanoseconds of one core to parse an edge and form its arcs into runs.
const READ_EDGE: f64 = 145.0;
/// Nanoseconds of one core to parse an edge and join its ends, if no graph is built.
const JOIN_EDGE: f64 = 230.0;
/// Bytes of a node in a graph without arcs.
const BARE_NODE_BYTES: f64 = 0.2;
/// Nanoseconds to sample a byte of text, always on one core.
const SAMPLE_BYTE: f64 = 12.0;
/// Nanoseconds to decompress a byte of text, always on one core.
const DECOMPRESS_BYTE: f64 = 3.5;
/// Nanoseconds of one core to insert a new name.
const NEW_NAME: f64 = 380.0;
/// Nanoseconds of one core to insert a name of the graph that edges are added to.
const OLD_NAME: f64 = 150.0;
/// Nanoseconds of one core for each byte that spilled names write.
const SPILLED_BYTE: f64 = 8.0;
/// Nanoseconds of one core to merge the arcs of an edge into the graph.
const MERGE_EDGE: f64 = 95.0;
/// Nanoseconds of one core to merge a node.
const MERGE_NODE: f64 = 70.0;
/// Nanoseconds of one core to merge an arc of the graph that edges are added to.
const MERGE_OLD_ARC: f64 = 11.0;
/// Nanoseconds of one core to write the line of a node.
const WRITE_NODE: f64 = 130.0;
/// Nanoseconds to start a stage, and to sync its files when it ends.
const STAGE: f64 = 3e6;

/// Cost of a method on graphs with communities.
struct MethodCost {
    /// Nanoseconds of one core per arc of the graph, for the whole clustering: first if decoded blocks stay in memory,
    /// then if they are decoded in every scan.
    arc: [f64; 2],
    /// Bytes of the levels above the graph in one cycle, relative to the graph.
    levels: f64,
    /// Arcs from one group to another, relative to those of the graph.
    between: f64,
    /// Number of cycles up the levels and back.
    cycles: f64,
    /// Bytes per node in a checkpoint.
    saved: f64,
}

const fn row(arc: [f64; 2], [levels, between, cycles]: [f64; 3], saved: f64) -> MethodCost {
    MethodCost { arc, levels, between, cycles, saved }
}

/// Costs of the methods, in their order in [`METHODS`].
const COSTS: [MethodCost; 5] = [
    // The map equation, modularity, and the constant Potts model.
    row([400.0, 550.0], [0.76, 0.8, 1.0], 8.1),
    row([365.0, 510.0], [0.78, 0.8, 1.0], 6.1),
    row([720.0, 1050.0], [1.2, 0.9, 2.0], 6.1),
    // Label propagation, and components.
    row([155.0, 185.0], [0.0, 0.0, 0.0], 4.1),
    row([10.0, 16.0], [0.0, 0.0, 0.0], 0.0),
];
const _: () = assert!(COSTS.len() == METHODS.len(), "every method has a row");

fn cost(method: Method) -> &'static MethodCost {
    &COSTS[method as usize]
}

/// Graphs with at most this number of arcs have no level on disk.
const SMALL_ARCS: f64 = 262_144.0;
/// Share of the first level in all levels.
const FIRST_LEVEL: f64 = 0.72;
/// Runs of all levels, relative to those of the first.
const FURTHER_RUNS: f64 = 1.3;
/// Scans of a level that does not stay in memory.
const LEVEL_SCANS: f64 = 4.0;
/// Share of all levels that are on disk at a time: a level is removed once the next one is complete.
const LEVELS_DISK: f64 = 0.9;
/// Number of levels in a result that names them.
const LEVELS_WRITTEN: u64 = 3;
/// Mean degree of the graphs of the table.
const USUAL_DEGREE: f64 = 17.7;
/// Excess over [`USUAL_DEGREE`] at which levels are half as large: dense groups have several arcs to each other group.
const DENSE_DEGREE: f64 = 88.0;

/// Time of a start on a level of a medium graph, relative to a clustering.
const MEDIUM_LEVEL_START: f64 = 0.15;
/// The same on a level of a large graph.
const LARGE_LEVEL_START: f64 = 0.006;
/// Time of perturbing the best start, relative to a clustering.
const PERTURBATION: f64 = 1.5;
/// Time of a start whose sweeps end only when no node moves, relative to a start on a large graph.
const CONVERGED: f64 = 1.5;
/// Nanoseconds of a start on a graph without arcs.
const START: f64 = 1e7;

/// Nanoseconds of one core to scan an arc.
const SCAN_ARC: f64 = 8.0;
/// Nanoseconds of one core to sort and examine an edge inside a community.
const SEPARATE_EDGE: f64 = 400.0;
/// Share of the edges that are inside communities.
const INSIDE_SHARE: f64 = 0.8;
/// Seconds between two checkpoints.
const SAVE_SECONDS: f64 = 60.0;

/// Bytes other than labels that a clustering with labels on disk takes from half of its limit.
const FIXED_BYTES: u64 = 15 * MIB;
/// Resident memory of the program when the clustering begins.
const HELD_BYTES: u64 = 8 * MIB;
/// Share of the merge's memory that the allocator still holds when the clustering begins.
const HELD_SHARE: f64 = 0.02;
/// Bytes of a parsed line besides its text: two references to names, their indexes, a weight.
const LINE_BYTES: f64 = 60.0;
/// Bytes of manifests, headers, block indexes, and rounding by file systems.
const SMALL_FILES_BYTES: u64 = 64 * KIB;

/// Forecast of reading and merging an input, on which those of the other stages depend.
#[derive(Clone, Copy)]
pub(super) struct Forecast<'a> {
    pub(super) input: &'a InputSize,
    pub(super) limits: &'a Limits,
    tuning: &'a Tuning,
    pub(super) graph: GraphSize,
    names_bytes: u64,
    names: NamesSize,
    pub(super) sorting: Sorting,
    /// Bytes of all runs; 0 if there are none.
    pub(super) run_bytes: u64,
    /// Opposites of edges that wait for their rows during the merge.
    waiting: Waiting,
    /// Memory of self scores, and of the blocks of a graph that edges are added to.
    score_bytes: u64,
    old_block_bytes: u64,
    /// Forest of all edges, if no graph is built.
    pub(super) forest: Option<ForestSize>,
}

/// Number of lists of arcs that wait, and bytes of a part of one.
const LISTS: u64 = 768;
const LIST_BYTES: u64 = 1536;

/// Arcs of an undirected graph that wait for the row of their source.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    memory_bytes: u64,
    /// Peak disk space, and bytes written, of those that have no room in memory.
    disk_bytes: u64,
    written_bytes: u64,
}

impl Waiting {
    /// Predicts the queue with `queue_bytes` of memory; an edge takes `edge_bytes` in a run.
    fn of(input: &InputSize, edge_bytes: u64, queue_bytes: u64) -> Self {
        let count = input.distinct_edge_count.min(input.edge_count) as f64;
        let count = (count * (1.0 - input.order.near_share)) as u64;
        // Half of the far edges lead past the middle node.
        let waiting = count / 2 * ARC_BYTES;
        let spilled = if waiting > queue_bytes / 5 * 4 { count * (edge_bytes + 1) } else { 0 };
        Self {
            // The last part of each list may be nearly empty.
            memory_bytes: (waiting + count.min(LISTS) * LIST_BYTES).min(queue_bytes),
            disk_bytes: spilled / 2,
            written_bytes: spilled,
        }
    }
}

/// Forecast of a clustering.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClusterForecast {
    pub(super) row: StagePlan,
    pub(super) nodes: NodeMemory,
    /// Number of starts.
    pub(super) trial_count: u64,
}

/// Cost of a part of a clustering.
#[derive(Clone, Copy, Default)]
pub(super) struct Part {
    pub(super) read_bytes: f64,
    pub(super) write_bytes: f64,
    pub(super) disk_bytes: f64,
    pub(super) memory_bytes: u64,
    pub(super) nanoseconds: f64,
}

impl<'a> Forecast<'a> {
    /// Creates the forecast of a job that builds a graph or, with a `ladder`, finds only components.
    pub(super) fn new(
        input: &'a InputSize,
        limits: &'a Limits,
        tuning: &'a Tuning,
        ladder: Option<&Ladder>,
    ) -> Self {
        let scores = input.has_self_scores && ladder.is_none();
        let read_bytes = input::read_bytes(limits);
        let forest = ladder.map(|ladder| ForestSize::of(input, ladder, read_bytes));
        let score_bytes = score_bytes(input.node_count, scores);
        let old_nodes = input.old_nodes();
        // Old names come first, each like an end of an edge.
        let (nodes, ends) = (input.node_count + old_nodes, 2 * input.edge_count + old_nodes);
        let of_node =
            score_bytes_a_node(scores) + forest.map_or(0.0, |forest| forest.bytes_a_node());
        let sparse_bytes = input::sparse_bytes(limits, ladder.is_none());
        let full_bytes = forest.map_or(0, |forest| forest.full_bytes());
        let memory = read_bytes - full_bytes;
        let names = NamesSize::of(nodes, ends, input.name_bytes, memory, sparse_bytes, of_node);
        let old_block_bytes = input.append.map_or(0, |old| old.block_bytes);
        let beside = |held_bytes: u64| {
            input::sort_bytes(limits, held_bytes + score_bytes).unwrap_or(SORT_BYTES_MIN) as f64
        };
        // Runs are smaller while the index grows, the last eighth of them smallest, and large once names spill.
        let growing = 0.875 / beside(names.index_bytes / 2) + 0.125 / beside(names.index_bytes);
        let share = names.indexed_share;
        let forming = 1.0 / (share * growing + (1.0 - share) / beside(names.spilled_bytes));
        let forming = forming as u64;
        let merging = graph::merge_bytes_beside(limits, score_bytes + old_block_bytes, tuning)
            .unwrap_or(SORT_BYTES_MIN);
        let (count, batch) = match forest {
            Some(forest) => (forest.sorted_count, 0),
            None => (input.record_count(), batch_records(input, limits)),
        };
        let forming = if forest.is_some() { SORT_BYTES_MIN } else { forming };
        let is_mirrored = forest.is_none() && !input.is_directed;
        let (queue_bytes, sort_bytes) = graph::queue_and_sort_bytes(merging);
        let merging = if is_mirrored { sort_bytes } else { merging };
        let records = Records { count, bytes: ARC_BYTES, at_once: batch, kept: batch };
        let sorting = Sorting::of(records, [forming, merging], limits.threads, tuning);
        let share = count as f64 / input.record_count().max(1) as f64;
        let run_bytes = match sorting.run_count {
            0 => 0,
            runs => (input.run_bytes(runs) as f64 * share) as u64,
        };
        let waiting = match is_mirrored {
            true => Waiting::of(input, run_bytes / count.max(1), queue_bytes),
            false => Waiting::default(),
        };
        let (graph, names_bytes) = (input.graph(), input.names_bytes());
        let bare_bytes = (input.node_count as f64 * BARE_NODE_BYTES) as u64;
        let graph = match forest {
            Some(_) => GraphSize { arc_count: 0, bytes: bare_bytes, hub_arcs: 0, ..graph },
            None => graph,
        };
        Self {
            input,
            limits,
            tuning,
            graph,
            names_bytes,
            names,
            sorting,
            run_bytes,
            waiting,
            score_bytes,
            old_block_bytes,
            forest,
        }
    }

    pub(super) fn builds_graph(&self) -> bool {
        self.forest.is_none()
    }

    pub(super) fn graph_bytes(&self) -> u64 {
        self.graph.bytes + self.names_bytes
    }

    /// Returns the disk space of the graph, all runs, the runs written by merge passes, and the arcs that wait.
    pub(super) fn kept_bytes(&self) -> u64 {
        let passes = if self.sorting.pass_count > 1 { 2 } else { 1 };
        let runs = passes * self.run_bytes + self.waiting.disk_bytes;
        self.graph_bytes() + runs + SMALL_FILES_BYTES
    }

    /// Returns the time of the sample.
    pub(super) fn sample_seconds(&self) -> f64 {
        let text_share = self.input.text_bytes as f64 / self.input.file_bytes.max(1) as f64;
        self.input.sample_bytes as f64 * text_share.max(1.0) * SAMPLE_BYTE * 1e-9
    }

    /// Returns the time of `nanoseconds` of one core on all threads of this machine.
    fn seconds(&self, nanoseconds: f64) -> f64 {
        self.tuning.slowness * nanoseconds * 1e-9 / self.limits.threads.max(1) as f64
    }

    /// Returns `row` with its time, which is at least the time it has already, its memory capped at the limit, and its
    /// small files added.
    pub(super) fn row(&self, row: StagePlan, nanoseconds: f64) -> StagePlan {
        // Stages compute while they read and write, so the slower of the two decides.
        let disk_seconds = self.tuning.seconds(row.read_bytes, row.write_bytes).unwrap_or(0.0);
        StagePlan {
            memory_bytes: row.memory_bytes.min(self.limits.memory_bytes),
            disk_bytes: row.disk_bytes + SMALL_FILES_BYTES,
            seconds: self.seconds(nanoseconds).max(disk_seconds).max(row.seconds) + STAGE * 1e-9,
            ..row
        }
    }

    pub(super) fn read(&self) -> StagePlan {
        let (input, names) = (self.input, &self.names);
        let old = input.append.unwrap_or_default();
        let writer = WRITER_BYTES.min(self.names_bytes + 2 * self.run_bytes);
        let of_nodes = self.score_bytes + self.forest.map_or(0, |forest| forest.held_bytes);
        let index = names.index_bytes + of_nodes;
        let forming = self.sorting.forming_bytes;
        let memory = match names.spilled_bytes {
            0 => index + forming + writer,
            _ => self.limits.memory_bytes,
        };
        let is_packed = input.file_bytes < input.text_bytes / 10 * 9;
        let decompressed = if is_packed { input.text_bytes as f64 } else { 0.0 };
        // The graph of names, and the forest that is saved with it.
        let bare = self.forest.map_or(0, |forest| forest.held_bytes + self.graph.bytes);
        let row = StagePlan {
            stage: Stage::Read,
            pass_count: 1,
            read_bytes: input.file_bytes + names.read_bytes + old.names_bytes,
            write_bytes: self.run_bytes + self.names_bytes + names.write_bytes + bare,
            memory_bytes: memory.saturating_add(batch_bytes(input, self.limits)),
            disk_bytes: self.names_bytes + self.run_bytes + names.disk_bytes + bare,
            seconds: decompressed * DECOMPRESS_BYTE * 1e-9,
        };
        let of_edge = if self.forest.is_some() { JOIN_EDGE } else { READ_EDGE };
        let nanoseconds = input.edge_count as f64 * of_edge
            + names.indexed_count.saturating_sub(input.old_nodes()) as f64 * NEW_NAME
            + input.old_nodes() as f64 * OLD_NAME
            + names.write_bytes as f64 * SPILLED_BYTE;
        self.row(row, nanoseconds)
    }

    pub(super) fn merge(&self) -> StagePlan {
        let (input, sorting, runs) = (self.input, &self.sorting, self.run_bytes as f64);
        let old = input.append.unwrap_or_default();
        // Passes before the last write their output while their input still exists.
        let again = (runs * (sorting.written - 1.0).max(0.0)) as u64;
        let row = StagePlan {
            stage: Stage::Merge,
            pass_count: sorting.pass_count.max(1),
            read_bytes: (runs * sorting.read) as u64 + self.waiting.written_bytes + old.arc_bytes,
            write_bytes: self.graph.bytes + self.waiting.written_bytes + again,
            memory_bytes: sorting.merging_bytes
                + self.waiting.memory_bytes
                + self.graph.writer_bytes()
                + self.score_bytes
                + self.old_block_bytes,
            disk_bytes: self.names_bytes
                + merge_disk_bytes(self.run_bytes, sorting.run_count, self.graph.bytes),
            seconds: 0.0,
        };
        let nanoseconds = input.edge_count as f64 * MERGE_EDGE * sorting.written.max(1.0)
            + input.node_count as f64 * MERGE_NODE
            + old.arc_count as f64 * MERGE_OLD_ARC;
        self.row(row, nanoseconds)
    }

    /// Returns the forecast of writing the results, one after the other. Files of levels exist until then.
    pub(super) fn write(&self, options: &ClusterOptions) -> StagePlan {
        let (nodes, results) = (self.input.node_count, options.result_count());
        let number_bytes = (nodes.max(10) as f64).log10() - 0.3;
        let are_several = results > 1;
        let has_groups = options.levels && options.forest_ladder().is_none();
        let of_result = 4 * nodes * if has_groups { 1 + LEVELS_WRITTEN } else { 1 };
        // Several results wait on disk, and are written on all threads.
        let on_disk = if are_several { of_result * results } else { 0 };
        let held = if are_several { 0 } else { 4 * nodes };
        // Components at several thresholds go to one file each, or to columns of one file.
        let (results, levels) = match (options.levels, has_groups) {
            (true, true) => (results, LEVELS_WRITTEN),
            (true, false) => (1, results.saturating_sub(1)),
            (false, _) => (results, 0),
        };
        let at_once = if are_several { results.min(self.limits.threads as u64) } else { 1 };
        let line =
            self.input.name_bytes + 2.0 + number_bytes + levels as f64 * (1.0 + number_bytes);
        let groups = 4 * levels * nodes;
        let output = (nodes as f64 * line) as u64 * results;
        let row = StagePlan {
            stage: Stage::Write,
            pass_count: results,
            read_bytes: (self.names_bytes + groups) * results,
            write_bytes: output + groups * results,
            memory_bytes: held + at_once * (MIB + (8 * MIB).min(2 * self.names_bytes)),
            disk_bytes: self.graph_bytes() + groups.max(on_disk) + output,
            seconds: 0.0,
        };
        self.row(row, nodes as f64 * results as f64 * WRITE_NODE)
    }

    /// Returns the forecast of a clustering.
    pub(super) fn cluster(&self, options: &ClusterOptions) -> ClusterForecast {
        let (graph, threads) = (&self.graph, self.limits.threads);
        let (smallest, largest) = (self.input.smallest_graph(), self.input.largest_graph());
        let nodes = options.node_memory([graph, &smallest, &largest], threads);
        if let Some(forest) = self.forest {
            return self.joined(options, nodes, forest);
        }
        let mut needed = ClusterMemory::expected(graph, Some(options.method), threads);
        needed.node_bytes = nodes.bytes_in_memory;
        needed.scratch_bytes += options.cut_bytes(graph.arc_count);
        let held = HELD_BYTES + (HELD_SHARE * self.merge().memory_bytes as f64) as u64;
        let left = self.limits.memory_left(held);
        let is_on_disk = left < needed.total_bytes() && nodes.bytes < nodes.bytes_in_memory;
        let (part, trial_count) = match is_on_disk {
            true => (self.labels_on_disk(options), 1),
            false => {
                let memory = left.max(needed.total_bytes().min(self.limits.memory_bytes));
                let spare = memory.saturating_sub(needed.total_bytes());
                let swept = Self { graph: self.swept_graph(options), ..*self };
                let (swept, trial_count) = swept.labels_in_memory(options, &needed, memory);
                let flow = self.flow(options, spare);
                let part = Part {
                    read_bytes: swept.read_bytes + flow.read_bytes,
                    write_bytes: swept.write_bytes + flow.write_bytes,
                    disk_bytes: swept.disk_bytes + flow.disk_bytes,
                    nanoseconds: swept.nanoseconds + flow.nanoseconds,
                    ..swept
                };
                (part, trial_count)
            }
        };
        let saved = self.saved(options, part.nanoseconds);
        let passes = options.scans()
            + options.flow_scans(graph.is_directed)
            + u64::from(options.well_connected.is_some());
        // Each of several results takes a clustering, and the labels of those before it are on disk; but components at
        // several thresholds come from one scan.
        let results = options.result_count();
        let clusterings = if options.forest_ladder().is_some() { 1 } else { results };
        let kept = if results > 1 { 4 * graph.node_count * results } else { 0 };
        let row = StagePlan {
            stage: Stage::Cluster,
            pass_count: passes * clusterings,
            read_bytes: part.read_bytes as u64 * clusterings,
            write_bytes: (part.write_bytes + saved.write_bytes) as u64 * clusterings + kept,
            memory_bytes: part.memory_bytes,
            disk_bytes: self.graph_bytes() + (part.disk_bytes + saved.disk_bytes) as u64 + kept,
            seconds: 0.0,
        };
        let row = self.row(row, part.nanoseconds * results as f64);
        ClusterForecast { row, nodes, trial_count }
    }

    /// Returns the cost with labels in `memory`, of which `needed` is required, and the number of starts. The rest keeps
    /// blocks of the graph; levels go through the disk.
    fn labels_in_memory(
        &self,
        options: &ClusterOptions,
        needed: &ClusterMemory,
        memory: u64,
    ) -> (Part, u64) {
        let (graph, cost, threads) =
            (&self.graph, cost(options.method), self.limits.threads as u64);
        let is_multilevel = options.method.is_multilevel();
        let rest = memory.saturating_sub(needed.total_bytes());
        let cache = match is_multilevel {
            // All blocks may stay decoded until the first level is complete.
            true => Cache::of(graph, rest / 2, rest / 8 * 7),
            false => Cache::of(graph, rest, rest),
        };
        let Starts { count: trial_count, work, are_on_graph } = Starts::of(options, graph);
        let levels = if is_multilevel {
            self.levels(cost, needed.node_bytes, &cache, rest - cache.bytes)
        } else {
            Part::default()
        };
        let cuts = match options.well_connected {
            Some(_) => self.separated(rest - cache.bytes),
            None => Part::default(),
        };
        let cut_scans = f64::from(u8::from(options.well_connected.is_some()));
        let again = match cache.is_released {
            // The last sweep and the closing follow.
            true => work + (work * 2.0 * cost.cycles - 1.0) * (1.0 - cache.share),
            false => (options.scans() as f64 * work + cut_scans - 1.0) * (1.0 - cache.share),
        };
        let mut part = Part {
            read_bytes: graph.bytes as f64 * (1.0 + again),
            nanoseconds: graph.arc_count as f64 * cost.arc[usize::from(!cache.is_decoded)],
            ..Part::default()
        };
        let scratch = needed.scratch_bytes.min(threads * MIB).min(32 * graph.arc_count);
        part.memory_bytes = needed.node_bytes + needed.block_bytes + scratch;
        if are_on_graph {
            part.nanoseconds = part.nanoseconds * CONVERGED + START;
            part.memory_bytes *= threads.min(trial_count);
        }
        part.read_bytes += levels.read_bytes * work + cuts.read_bytes;
        part.write_bytes += levels.write_bytes * work + cuts.write_bytes;
        part.disk_bytes = levels.disk_bytes.max(cuts.disk_bytes);
        part.nanoseconds = part.nanoseconds * work + cuts.nanoseconds;
        part.memory_bytes += levels.memory_bytes.max(cuts.memory_bytes) + cache.bytes;
        if cache.share < 1.0 && !is_multilevel {
            // The remaining memory keeps blocks, up to the last one that fits.
            part.memory_bytes = self.limits.memory_bytes;
        }
        if options.stability {
            // Labels of all starts, then the stability of each node.
            let divisions = 4.0 * (trial_count + 1) as f64 * graph.node_count as f64;
            part.write_bytes += divisions;
            part.disk_bytes += divisions;
        }
        (part, trial_count)
    }

    /// Returns the cost of the levels above the graph, with `spare` bytes for their sorts and blocks: each is sorted,
    /// written and scanned, while the groups of the level below wait on disk. A level has a fifth of the nodes of the one
    /// below, so its blocks take the memory of the others.
    fn levels(&self, cost: &MethodCost, node_bytes: u64, cache: &Cache, spare: u64) -> Part {
        let graph = &self.graph;
        let (nodes, arcs) = (graph.node_count.max(1) as f64, graph.arc_count as f64);
        let between = (arcs * cost.between) as u64;
        let mut sorted = self.sorted(between, spare / 2);
        let groups = 5.0 * nodes;
        let dense = (1.0 + USUAL_DEGREE / DENSE_DEGREE) / (1.0 + arcs / nodes / DENSE_DEGREE);
        let shrunk = cost.levels * dense.min(1.0);
        let levels = match graph.arc_count as f64 {
            arcs if arcs <= SMALL_ARCS => 0.0,
            // Only the first of several levels is on disk.
            arcs if arcs * shrunk <= SMALL_ARCS => graph.bytes as f64 * shrunk * FIRST_LEVEL,
            _ => graph.bytes as f64 * shrunk,
        };
        let scans = if 3.0 * levels < spare as f64 { 1.0 } else { LEVEL_SCANS };
        // Decoded blocks are gathered by groups; the disk still has room for a group that is too large for that.
        let is_gathered = cache.is_decoded || cache.is_released;
        let runs = if is_gathered { 0.0 } else { cost.cycles * FURTHER_RUNS };
        sorted.read_bytes = runs * sorted.read_bytes + cost.cycles * (groups + levels * scans);
        sorted.write_bytes = runs * sorted.write_bytes + cost.cycles * (groups + levels);
        sorted.disk_bytes = sorted.disk_bytes + groups + LEVELS_DISK * levels;
        let blocks = (8.0 * arcs * cost.levels).min(spare as f64 + 0.4 * node_bytes as f64);
        let others = node_bytes / 5 * 4;
        sorted.memory_bytes = sorted.memory_bytes.max((blocks as u64).saturating_sub(others));
        sorted
    }

    /// Returns the cost of separating communities that are not well-connected, with `spare` bytes beyond the minimum: a
    /// scan, a sort of the edges inside communities, and their examination.
    fn separated(&self, spare: u64) -> Part {
        let arcs = self.graph.arc_count as f64;
        let inside = arcs / 2.0 * INSIDE_SHARE;
        let nanoseconds = inside * SEPARATE_EDGE + arcs * SCAN_ARC;
        Part { nanoseconds, ..self.sorted(inside as u64, spare / 3) }
    }

    /// Returns the cost of sorting arcs of the graph in the minimum memory and `spare` bytes.
    pub(super) fn sorted(&self, count: u64, spare: u64) -> Part {
        let records = Records { count, bytes: ARC_BYTES, at_once: 1, kept: 1 };
        let budgets = [SORT_BYTES_MIN + spare; 2];
        let sorting = Sorting::of(records, budgets, self.limits.threads, self.tuning);
        let target_bits = (self.graph.node_count.max(2) as f64).log2() - 1.0;
        let weight_bits = if self.graph.is_weighted { 10.5 } else { 1.0 };
        let record_bytes = (target_bits + weight_bits + 3.0) / 8.0 + 0.07;
        let runs = if sorting.run_count > 0 { count as f64 * record_bytes } else { 0.0 };
        Part {
            read_bytes: runs * sorting.read,
            write_bytes: runs * sorting.written,
            // A pass writes longer runs while those that it reads still exist.
            disk_bytes: runs * if sorting.pass_count > 1 { 1.5 } else { 1.0 },
            memory_bytes: sorting.forming_bytes.max(sorting.merging_bytes),
            nanoseconds: 0.0,
        }
    }

    /// Returns the cost of checkpoints: one per minute, of which the last two may exist at the same time.
    fn saved(&self, options: &ClusterOptions, nanoseconds: f64) -> Part {
        // Some scans are not sweeps: five with several levels, otherwise two.
        let others = if options.method.is_multilevel() { 5 } else { 2 };
        let sweeps = options.scans().saturating_sub(others) as f64;
        let times = (self.seconds(nanoseconds) / SAVE_SECONDS).floor().min(sweeps);
        let saved = cost(options.method).saved * self.graph.node_count as f64;
        Part { write_bytes: times * saved, disk_bytes: times.min(2.0) * saved, ..Part::default() }
    }

    /// Returns the cost with labels on disk (`cluster::drive::intervals`): a sweep reads the labels once for each
    /// interval, which has as many nodes as memory has places for them and their neighbors.
    fn labels_on_disk(&self, options: &ClusterOptions) -> Part {
        let graph = &self.graph;
        let nodes = graph.node_count.max(1) as f64;
        // There is always room for the neighbors of a block.
        let room = (self.limits.memory_bytes / 2).saturating_sub(FIXED_BYTES);
        let room = room.max(12 * (BLOCK_NODES + BLOCK_ARCS)) as f64;
        let degree = graph.arc_count as f64 / nodes;
        let intervals = |place_bytes: f64| 1.0 / interval_share(room / place_bytes / nodes, degree);
        // On average, half of the neighbors matter in the closing: those before an interval.
        let (sweeping, closing) = (intervals(4.0).ceil(), intervals(12.0) / 2.0 + 0.5);
        let (scans, labels) = (options.scans() as f64, 4.0 * nodes);
        let sweeps = scans - 2.0;
        let sets = nodes / 8.0 * (sweeping + closing);
        let read = sweeps * (labels + nodes / 8.0) * sweeping + 1.5 * labels * closing;
        // A fifth of the pieces are rewritten after an interval of the closing.
        let written = (sweeps + 4.0 + 0.2 * closing) * labels + sets;
        Part {
            read_bytes: graph.bytes as f64 * scans + read,
            write_bytes: written,
            disk_bytes: 3.0 * labels + sets,
            memory_bytes: self.limits.memory_bytes,
            nanoseconds: graph.arc_count as f64 * cost(options.method).arc[1] + read + written,
        }
    }
}

/// Blocks of a graph that stay in memory.
struct Cache {
    /// Share of all blocks.
    share: f64,
    bytes: u64,
    is_decoded: bool,
    /// Whether all blocks are kept, decoded, until the first level is complete.
    is_released: bool,
}

impl Cache {
    /// Returns the blocks that fit in `room`: decoded, if all fit, or else as they are. Until they are released, decoded
    /// blocks may take `most`.
    fn of(graph: &GraphSize, room: u64, most: u64) -> Self {
        let GraphSize { node_count, arc_count, is_weighted, .. } = *graph;
        let decoded = Block::decoded_arc_bytes(node_count, arc_count, is_weighted);
        if decoded <= room {
            return Self { share: 1.0, bytes: decoded, is_decoded: true, is_released: false };
        }
        let encoded = (graph.bytes + 8 * node_count).max(1);
        let share = (room as f64 / encoded as f64).min(1.0);
        let is_released = decoded <= most;
        let bytes = if is_released { decoded } else { encoded.min(room) };
        Self { share, bytes, is_decoded: false, is_released }
    }
}

struct Starts {
    count: u64,
    /// Time of all starts, relative to a clustering with one start.
    work: f64,
    /// Whether several are on the graph: in parallel, until no node moves.
    are_on_graph: bool,
}

impl Starts {
    fn of(options: &ClusterOptions, graph: &GraphSize) -> Self {
        let starts = options.starts(graph);
        let (on_level, perturbed) = match starts.on_graph {
            0 => (LARGE_LEVEL_START, 0.0),
            _ => (MEDIUM_LEVEL_START, PERTURBATION),
        };
        let [on_graph, others] = [starts.on_graph, starts.on_level].map(f64::from);
        Self {
            count: u64::from(1 + starts.on_graph + starts.on_level),
            work: 1.0 + on_graph + on_level * others + perturbed,
            are_on_graph: starts.on_graph > 0,
        }
    }
}

/// Returns the share of all nodes in an interval. `places` is the share of the nodes for which there are places; arcs lead
/// to random nodes.
fn interval_share(places: f64, degree: f64) -> f64 {
    let of_few = -(1.0 - places.min(0.99)).ln() / (degree + 1.0);
    of_few.max(places - 1.0).clamp(1e-9, 1.0)
}

/// Returns the number of records that a batch of text passes to the sort at a time.
fn batch_records(input: &InputSize, limits: &Limits) -> u64 {
    let line = (input.text_bytes / input.edge_count.max(1)).max(4);
    input::batch_chunks(limits) as u64 * CHUNK_BYTES / line
}

/// Returns the memory of a batch of text while its names are numbered.
fn batch_bytes(input: &InputSize, limits: &Limits) -> u64 {
    let chunks = (input::batch_chunks(limits) as u64 * CHUNK_BYTES).min(input.text_bytes) as f64;
    let line = input.text_bytes as f64 / input.edge_count.max(1) as f64;
    ((chunks * (2.0 + LINE_BYTES / line.max(4.0))) as u64).min(input::batch_memory_bytes(limits))
}
