//! What a job of a size reads, writes, keeps and takes: the model behind [`Plan`].
//!
//! Bytes follow from the formats of runs, graph and names (`size`). Times are those of the machine that the
//! constants were measured on (two cores of a server), or of the disk, where that is slower;
//! `evals/plan` compares.

use super::size::merge_disk_bytes;
use super::{
    ARC_BYTES, BASE_BYTES, CHUNK_BYTES, GRAPH_WRITER_BYTES, GraphSize, INDEX_BYTES_A_NODE,
    InputSize, Limits, NodeMemory, Records, SORT_BYTES_MIN, Sorting, WRITER_BYTES, score_bytes,
};
use crate::error::opt::WORK_DIR;
use crate::error::{Error, ErrorKind, Result};
use crate::io::Tuning;
use crate::progress::Stage;
use crate::units::{KIB, MIB, format_bytes};

/// Most nodes and arcs of a block of the graph.
const BLOCK_NODES: u64 = 1 << 16;
const BLOCK_ARCS: u64 = 1 << 20;
/// Manifests, headers, indexes of blocks, and what file systems round up to.
const SMALL_FILES_BYTES: u64 = 64 * KIB;
/// Memory of edges on their way back from disk, beside the sort.
const SPILLED_EDGES_BYTES: u64 = 20 * MIB;
/// What the program itself is likely to take, and more for so many bytes of its work.
const PROGRAM_BYTES: u64 = 18 * MIB;
const PROGRAM_SHARE: u64 = 8;
/// Levels whose groups are told, if they are.
const LEVELS: u64 = 3;

/// Nanoseconds of one core.
mod nanoseconds {
    /// To parse an edge and form its arcs into runs; to insert a new name.
    pub(super) const READ_EDGE: f64 = 165.0;
    pub(super) const READ_NODE: f64 = 380.0;
    /// To merge the arcs of an edge into the graph, and what a node adds.
    pub(super) const MERGE_EDGE: f64 = 95.0;
    pub(super) const MERGE_NODE: f64 = 70.0;
    /// To sample a byte of text, and to decompress one, on one core in any case.
    pub(super) const SAMPLE_BYTE: f64 = 12.0;
    pub(super) const DECOMPRESS_BYTE: f64 = 3.5;
    /// To begin a stage, and to have its files on the disk when it ends.
    pub(super) const STAGE: f64 = 3e6;
    /// To write the line of a node.
    pub(super) const WRITE_NODE: f64 = 130.0;
    /// For names that go to disk: of every end of an edge, of one that is not known, of a new one.
    pub(super) const SPILLED_END: f64 = 30.0;
    pub(super) const SPILLED_UNKNOWN: f64 = 250.0;
    pub(super) const SPILLED_NEW: f64 = 130.0;
}

/// One row of a plan.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct StagePlan {
    /// Which stage.
    pub stage: Stage,
    /// How often it goes through what it reads.
    pub pass_count: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Most memory that it is likely to take, the program itself ([`BASE_BYTES`]) not counted.
    pub memory_bytes: u64,
    /// Most room that the job's files take on the disk meanwhile.
    pub disk_bytes: u64,
    /// Time on a machine like the one that the constants were measured on, but not less than the
    /// disk takes for the bytes, where its rates are known.
    pub seconds: f64,
}

/// What a clustering will need. The module `cluster` tells, which knows its methods.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterPlan {
    /// What it keeps of each node.
    pub nodes: NodeMemory,
    /// Most memory that it is likely to take.
    pub memory_bytes: u64,
    /// Times that all edges are gone through.
    pub scan_count: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Room on the disk beside the graph.
    pub disk_bytes: u64,
    /// Time of one core.
    pub nanoseconds: f64,
    /// Results.
    pub result_count: u64,
    /// Whether the groups of levels are told.
    pub has_levels: bool,
}

/// What a job will need.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Plan {
    /// The input.
    pub input: InputSize,
    /// The limits.
    pub limits: Limits,
    /// The stages in order.
    pub stages: Vec<StagePlan>,
    /// Bytes that the job reads: those of all stages, and those of the sample.
    pub read_bytes: u64,
    /// Bytes that it writes.
    pub write_bytes: u64,
    /// The most memory that the process is likely to have, the program itself counted; never above the
    /// limit and [`BASE_BYTES`].
    pub peak_memory_bytes: u64,
    /// What of it is for the program itself: its stacks, and what the allocator keeps.
    pub program_bytes: u64,
    /// Most room taken on the disk: runs, then graph, what the clustering keeps there, and the results.
    pub disk_bytes: u64,
    /// Most room taken if the disk has as much: runs then stay until the graph is whole, so that a job that
    /// is stopped in between can go on from them.
    pub disk_bytes_most: u64,
    /// Room that stays taken when only the graph is kept.
    pub graph_bytes: u64,
    /// Runs written by the sort; 0 if it stays in memory.
    pub run_count: u64,
    /// Time of all stages, and of the sample.
    pub seconds: f64,
    /// The least limit that this job can be done in, by the likely size.
    pub memory_bytes_min: u64,
    /// What of it is for the clustering, if the job is one; the rest of the limit keeps its graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_memory_bytes_min: Option<u64>,
}

impl Plan {
    /// Plans a job whose files are moved with `tuning`, and which may cluster the graph.
    ///
    /// # Errors
    /// `MemoryTooSmall` if the limit is too small beyond doubt.
    pub fn new(
        input: InputSize,
        limits: Limits,
        tuning: &Tuning,
        clustering: Option<&ClusterPlan>,
    ) -> Result<Self> {
        limits.check()?;
        limits.check_size(&input, clustering.map(|clustering| clustering.nodes))?;
        let work = Work::of(&input, &limits, tuning);
        let least = clustering.map(|clustering| clustering.nodes.least_limit());
        let mut stages = vec![work.read(), work.merge()];
        if let Some(clustering) = clustering {
            stages.extend([work.cluster(clustering), work.write(clustering)]);
        }
        let text_share = input.text_bytes as f64 / input.file_bytes.max(1) as f64;
        let sampled = input.sample_bytes as f64 * text_share.max(1.0);
        let sampling = sampled * nanoseconds::SAMPLE_BYTE * 1e-9;
        let sum = |of: fn(&StagePlan) -> u64| stages.iter().map(of).fold(0, u64::saturating_add);
        let most = |of: fn(&StagePlan) -> u64| stages.iter().map(of).max().unwrap_or(0);
        let memory_bytes = most(|row| row.memory_bytes);
        let program_bytes = (PROGRAM_BYTES + memory_bytes / PROGRAM_SHARE).min(BASE_BYTES);
        Ok(Self {
            input,
            limits,
            read_bytes: sum(|row| row.read_bytes).saturating_add(input.sample_bytes),
            write_bytes: sum(|row| row.write_bytes),
            peak_memory_bytes: memory_bytes + program_bytes,
            program_bytes,
            disk_bytes: most(|row| row.disk_bytes),
            disk_bytes_most: most(|row| row.disk_bytes).max(work.kept_bytes()),
            graph_bytes: work.graph_bytes(),
            run_count: work.sorting.run_count,
            seconds: stages.iter().map(|row| row.seconds).sum::<f64>() + sampling,
            memory_bytes_min: limits
                .memory_bytes_for(input.node_count, input.has_self_scores)
                .max(least.unwrap_or(0)),
            cluster_memory_bytes_min: least,
            stages,
        })
    }

    /// Refuses a job whose files do not fit in `free_bytes`.
    ///
    /// # Errors
    /// `DiskTooSmall`.
    pub fn check_disk(&self, free_bytes: u64, directory: &std::path::Path) -> Result<()> {
        if self.disk_bytes <= free_bytes {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::DiskTooSmall,
            format!(
                "the job needs about {} in `{}`, but {} are free",
                format_bytes(self.disk_bytes),
                directory.display(),
                format_bytes(free_bytes)
            ),
        )
        .hint(format_args!("use {WORK_DIR} on a larger disk; `outcore plan` shows each stage")))
    }
}

impl InputSize {
    /// Memory that the merge into the graph is likely to take.
    pub fn merge_memory_bytes(&self, limits: &Limits, tuning: &Tuning) -> u64 {
        Work::of(self, limits, tuning).merge().memory_bytes
    }
}

/// What goes through the stages.
struct Work<'a> {
    input: &'a InputSize,
    limits: &'a Limits,
    tuning: &'a Tuning,
    graph: GraphSize,
    names_bytes: u64,
    spilled: SpilledNames,
    sorting: Sorting,
    /// Of all runs; 0 if there are none.
    run_bytes: u64,
    /// Index of names, and self scores.
    index_bytes: u64,
}

impl<'a> Work<'a> {
    fn of(input: &'a InputSize, limits: &'a Limits, tuning: &'a Tuning) -> Self {
        let scores = input.has_self_scores;
        let known = (input.node_count as f64).min(limits.names_in_memory(scores));
        let score_bytes = score_bytes(input.node_count, scores);
        let index_bytes = (known * INDEX_BYTES_A_NODE) as u64 + score_bytes;
        let spilled = SpilledNames::of(input, limits);
        let mut held_bytes = index_bytes;
        if spilled.new_names > 0.0 {
            // Most runs are formed when the index is gone.
            held_bytes = score_bytes + SPILLED_EDGES_BYTES;
        }
        let forming = limits.sort_bytes(held_bytes).unwrap_or(SORT_BYTES_MIN);
        let merging = limits.merge_bytes_beside(score_bytes, tuning).unwrap_or(SORT_BYTES_MIN);
        let line = (input.text_bytes / input.edge_count.max(1)).max(4);
        let batch = 2 * limits.batch_chunks() as u64 * CHUNK_BYTES / line;
        let count = input.record_count();
        let records = Records { count, bytes: ARC_BYTES, at_once: batch, kept: batch };
        let sorting = Sorting::of(records, [forming, merging], limits.threads, tuning);
        let run_bytes = if sorting.run_count > 0 { input.run_bytes(sorting.run_count) } else { 0 };
        let (graph, names_bytes) = (input.graph(), input.names_bytes());
        Self { input, limits, tuning, graph, names_bytes, spilled, sorting, run_bytes, index_bytes }
    }

    fn graph_bytes(&self) -> u64 {
        self.graph.bytes + self.names_bytes
    }

    /// Room for the graph beside all runs, and beside those that passes of the merge make of them.
    fn kept_bytes(&self) -> u64 {
        let passes = if self.sorting.pass_count > 1 { 2 } else { 1 };
        self.graph_bytes() + passes * self.run_bytes + SMALL_FILES_BYTES
    }

    /// The row with its time, which is not below what it has, its memory inside the limit, and small
    /// files.
    fn row(&self, row: StagePlan, nanoseconds: f64) -> StagePlan {
        // Stages compute while they read and write: the slower of both decides.
        let disk_seconds = self.tuning.seconds(row.read_bytes, row.write_bytes).unwrap_or(0.0);
        let seconds = nanoseconds * 1e-9 / self.limits.threads.max(1) as f64;
        StagePlan {
            memory_bytes: row.memory_bytes.min(self.limits.memory_bytes),
            disk_bytes: row.disk_bytes + SMALL_FILES_BYTES,
            seconds: seconds.max(disk_seconds).max(row.seconds) + nanoseconds::STAGE * 1e-9,
            ..row
        }
    }

    fn read(&self) -> StagePlan {
        let (input, spilled) = (self.input, &self.spilled);
        let writer = WRITER_BYTES.min(self.names_bytes + 2 * self.run_bytes);
        let mut memory = self.index_bytes + self.sorting.forming_bytes + writer;
        if spilled.new_names > 0.0 {
            memory = self.limits.memory_bytes;
        }
        let row = StagePlan {
            stage: Stage::Read,
            pass_count: 1,
            read_bytes: input.file_bytes + spilled.read_bytes as u64,
            write_bytes: self.run_bytes + self.names_bytes + spilled.write_bytes as u64,
            memory_bytes: memory.saturating_add(input.batch_bytes(self.limits)),
            disk_bytes: self.names_bytes + self.run_bytes + spilled.disk_bytes as u64,
            seconds: if input.file_bytes < input.text_bytes / 10 * 9 {
                input.text_bytes as f64 * nanoseconds::DECOMPRESS_BYTE * 1e-9
            } else {
                0.0
            },
        };
        let known = input.node_count as f64 - spilled.new_names;
        let names = known * nanoseconds::READ_NODE + spilled.nanoseconds;
        self.row(row, input.edge_count as f64 * nanoseconds::READ_EDGE + names)
    }

    fn merge(&self) -> StagePlan {
        let (input, sorting) = (self.input, &self.sorting);
        let runs = self.run_bytes as f64;
        // What passes before the last write lies beside what they read.
        let again = (runs * (sorting.written - 1.0).max(0.0)) as u64;
        let row = StagePlan {
            stage: Stage::Merge,
            pass_count: sorting.pass_count.max(1),
            read_bytes: (runs * sorting.read) as u64,
            write_bytes: self.graph.bytes + again,
            memory_bytes: sorting.merging_bytes
                + self.writer_bytes()
                + score_bytes(input.node_count, input.has_self_scores),
            disk_bytes: self.names_bytes
                + merge_disk_bytes(self.run_bytes, sorting.run_count, self.graph.bytes),
            seconds: 0.0,
        };
        let edges = input.edge_count as f64 * nanoseconds::MERGE_EDGE;
        let nodes = input.node_count as f64 * nanoseconds::MERGE_NODE;
        self.row(row, edges * sorting.written.max(1.0) + nodes)
    }

    /// Memory of the writer of the graph: blocks being filled and encoded, and its file.
    fn writer_bytes(&self) -> u64 {
        let GraphSize { node_count, arc_count, bytes, .. } = self.graph;
        let nodes = node_count.div_ceil(64).clamp(256, BLOCK_NODES).min(node_count.max(1));
        let arcs = u128::from(arc_count) * u128::from(nodes) / u128::from(node_count.max(1));
        let arcs = arcs.min(BLOCK_ARCS.into()) as u64;
        (24 * arcs + bytes.min(WRITER_BYTES)).min(GRAPH_WRITER_BYTES)
    }

    fn cluster(&self, clustering: &ClusterPlan) -> StagePlan {
        let row = StagePlan {
            stage: Stage::Cluster,
            pass_count: clustering.scan_count,
            read_bytes: clustering.read_bytes,
            write_bytes: clustering.write_bytes,
            memory_bytes: clustering.memory_bytes,
            disk_bytes: self.graph_bytes() + clustering.disk_bytes,
            seconds: 0.0,
        };
        self.row(row, clustering.nanoseconds)
    }

    /// Results are written one after the other; files of levels are there until then.
    fn write(&self, clustering: &ClusterPlan) -> StagePlan {
        let (nodes, results) = (self.input.node_count, clustering.result_count);
        let number_bytes = (nodes.max(10) as f64).log10() - 0.3;
        let levels = if clustering.has_levels { LEVELS } else { 0 };
        let line =
            self.input.name_bytes + 2.0 + number_bytes + levels as f64 * (1.0 + number_bytes);
        let groups = 4 * levels * nodes;
        let output = (nodes as f64 * line) as u64 * results;
        let row = StagePlan {
            stage: Stage::Write,
            pass_count: results,
            read_bytes: (self.names_bytes + groups) * results,
            write_bytes: output + groups * results,
            memory_bytes: 4 * nodes * results + MIB + (8 * MIB).min(2 * self.names_bytes),
            disk_bytes: self.graph_bytes() + groups + output,
            seconds: 0.0,
        };
        self.row(row, nodes as f64 * results as f64 * nanoseconds::WRITE_NODE)
    }
}

/// What names that have no room in memory cost on the disk; see `ids::spill`.
#[derive(Debug, Clone, Copy, Default)]
struct SpilledNames {
    read_bytes: f64,
    write_bytes: f64,
    disk_bytes: f64,
    nanoseconds: f64,
    /// Names that have no room.
    new_names: f64,
}

impl SpilledNames {
    /// Nodes are expected to be met as if edges were drawn at random.
    fn of(input: &InputSize, limits: &Limits) -> Self {
        let (nodes, ends) = (input.node_count as f64, 2.0 * input.edge_count as f64);
        let known = limits.names_in_memory(input.has_self_scores);
        if nodes <= known {
            return Self::default();
        }
        let before = (-(1.0 - known / nodes).ln() * nodes).min(ends);
        let after = ends - before;
        let unknown = after * (1.0 - known / nodes);
        let new = nodes - known;
        // Names of more than 15 bytes go with their text.
        let name = 16.0 + if input.name_bytes > 15.0 { 4.0 + input.name_bytes } else { 0.0 };
        let (refs, weights) = (4.0 * after, 2.0 * after);
        let written_once = refs + weights + unknown * (name + 4.0 + 4.0) + new * (name + 4.0);
        Self {
            read_bytes: written_once + refs + unknown * 4.0,
            write_bytes: written_once,
            disk_bytes: refs + weights + unknown * (name + 4.0),
            nanoseconds: after * nanoseconds::SPILLED_END
                + unknown * nanoseconds::SPILLED_UNKNOWN
                + new * nanoseconds::SPILLED_NEW,
            new_names: new,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MEMORY_MIN;
    use super::super::tests::input;
    use super::*;
    use crate::units::{GIB, size_to_type};
    use proptest::prelude::*;

    fn build(nodes: u64, edges: u64, memory_bytes: u64) -> Plan {
        let limits = Limits { memory_bytes, threads: 4 };
        Plan::new(input(nodes, edges), limits, &Tuning::default(), None).unwrap()
    }

    proptest! {
        /// Up to a trillion edges nothing overflows, and what is more costs more.
        #[test]
        fn larger_inputs_cost_more(
            edge_bits in 0.0..40.0,
            node_share in 0.0..1.0,
            memory_bits in 0.0..14.0,
        ) {
            let size = |share: f64| {
                let edges = f64::exp2(edge_bits * share);
                (f64::powf(2.0 * edges, node_share).min(4e9) as u64, edges as u64)
            };
            let memory = (MEMORY_MIN as f64 * f64::exp2(memory_bits)) as u64;
            let mut before: Option<Plan> = None;
            for share in [0.5, 0.8, 0.99, 1.0] {
                let (nodes, edges) = size(share);
                let plan = build(nodes, edges, memory);
                prop_assert!(plan.seconds.is_finite() && plan.read_bytes < 1 << 60);
                prop_assert!(plan.peak_memory_bytes <= memory + BASE_BYTES);
                if let Some(before) = before {
                    prop_assert!(plan.disk_bytes >= before.disk_bytes);
                    prop_assert!(plan.graph_bytes >= before.graph_bytes);
                    prop_assert!(plan.write_bytes >= before.write_bytes);
                    prop_assert!(plan.seconds >= before.seconds);
                    prop_assert!(plan.memory_bytes_min >= before.memory_bytes_min);
                }
                before = Some(plan);
            }
        }

        /// More nodes with the same edges make a larger graph, more names, and more to remember. Only where
        /// names go to disk instead of taking the sort's memory may the time of a pass be saved.
        #[test]
        fn more_nodes_cost_more(edges in 1_000_u64..1 << 36, more in 0.0..1.0) {
            let nodes = (edges / 100).clamp(1, 1 << 30);
            let few = build(nodes, edges, GIB);
            let many = build(nodes + (nodes as f64 * 3.0 * more) as u64, edges, GIB);
            prop_assert!(many.graph_bytes >= few.graph_bytes);
            prop_assert!(many.disk_bytes >= few.disk_bytes);
            let [of_few, of_many] = [&few, &many].map(|plan| plan.stages[1].pass_count);
            prop_assert!(many.seconds >= few.seconds || of_many < of_few);
        }

        /// More memory never writes more.
        #[test]
        fn memory_saves_writing(nodes in 1_u64..1 << 31, degree in 1_u64..100, bits in 0.0..8.0) {
            let edges = nodes * degree;
            let little = build(nodes, edges, MEMORY_MIN);
            let much = build(nodes, edges, (MEMORY_MIN as f64 * f64::exp2(bits)) as u64);
            prop_assert!(much.write_bytes as f64 <= little.write_bytes as f64 * 1.02);
            prop_assert!(much.disk_bytes as f64 <= little.disk_bytes as f64 * 1.02);
        }
    }

    #[test]
    fn repeated_edges_make_a_smaller_graph_of_the_same_runs() {
        let all = input(1_000_000, 100_000_000);
        let half = InputSize { distinct_edge_count: 50_000_000, ..all };
        let limits = Limits { memory_bytes: GIB, threads: 2 };
        let plan = |input| Plan::new(input, limits, &Tuning::default(), None).unwrap();
        let (all, half) = (plan(all), plan(half));
        assert!(half.graph_bytes < all.graph_bytes / 3 * 2);
        assert_eq!(half.stages[0], all.stages[0]);
        assert_eq!(half.run_count, all.run_count);
    }

    /// A graph of any size is built in any memory; the less there is, the more goes over the disk.
    #[test]
    fn names_without_room_cost_disk_instead() {
        let mut before = 0;
        for memory_bytes in [64 * GIB, 4 * GIB, 512 * MIB, MEMORY_MIN] {
            let limits = Limits { memory_bytes, threads: 2 };
            let plan =
                Plan::new(input(200_000_000, 1_000_000_000), limits, &Tuning::default(), None);
            let read = plan.unwrap().stages[0];
            assert!(read.write_bytes > before, "{memory_bytes}");
            before = read.write_bytes;
        }
    }

    #[test]
    fn a_clustering_is_planned_and_refused_with_a_number_that_does() {
        let input = InputSize { node_count_at_least: 9_000_000, ..input(10_000_000, 50_000_000) };
        let limits = |memory_bytes| Limits { memory_bytes, threads: 2 };
        for bytes_a_node in [36, 500] {
            let of = |nodes: u64| nodes * bytes_a_node;
            let (bytes, bytes_at_least) = (of(input.node_count), of(input.node_count_at_least));
            let clustering = ClusterPlan {
                nodes: NodeMemory {
                    bytes,
                    bytes_at_least,
                    bytes_in_memory: bytes,
                    fixed_bytes: 60 * MIB,
                    fixed_bytes_at_least: 0,
                    presenting_bytes: 0,
                    presenting_bytes_at_least: 0,
                },
                memory_bytes: bytes + MIB,
                scan_count: 10,
                read_bytes: 0,
                write_bytes: 0,
                disk_bytes: 0,
                nanoseconds: 0.0,
                result_count: 1,
                has_levels: false,
            };
            let plan =
                |memory| Plan::new(input, limits(memory), &Tuning::default(), Some(&clustering));
            let wide = plan(64 * GIB).unwrap();
            let least = wide.memory_bytes_min;
            assert!(least >= wide.cluster_memory_bytes_min.unwrap() && least > bytes);
            assert_eq!(Some(least), wide.cluster_memory_bytes_min);
            assert!(wide.stages[2].memory_bytes > bytes);
            let error = plan(MEMORY_MIN).unwrap_err();
            let typed = format!("use `--memory {}` or more", size_to_type(least));
            assert_eq!(error.hint_text(), Some(&typed[..]), "{bytes_a_node}");
            plan(least.next_multiple_of(MIB)).unwrap();
        }
    }

    #[test]
    fn the_largest_graphs_fit_in_what_the_plan_says() {
        let limits = Limits { memory_bytes: 64 * GIB, threads: 8 };
        let input = input(2_000_000_000, 20_000_000_000);
        let plan = Plan::new(input, limits, &Tuning::default(), None).unwrap();
        assert!(plan.disk_bytes < 16 * 20_000_000_000);
        assert!(plan.run_count < 1000);
    }

    #[test]
    fn a_slow_disk_decides_about_the_time() {
        let limits = Limits { memory_bytes: GIB, threads: 8 };
        let input = input(1_000_000, 100_000_000);
        let mut tuning = Tuning::default();
        tuning.read.bytes_per_second = Some(1e8);
        tuning.write.bytes_per_second = Some(5e7);
        let plan = Plan::new(input, limits, &tuning, None).unwrap();
        let read = plan.stages[0];
        let disk_seconds = read.read_bytes as f64 / 1e8 + read.write_bytes as f64 / 5e7;
        assert!((read.seconds - disk_seconds).abs() < 0.1);
        let unknown = Plan::new(input, limits, &Tuning::default(), None).unwrap();
        assert!(unknown.stages[0].seconds < read.seconds);
    }
}
