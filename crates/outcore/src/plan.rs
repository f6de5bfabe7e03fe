//! What a job will need, before any work: a pure function of the input's size and the limits.
//!
//! Every number that decides about memory stands here. The limit covers what grows with the job;
//! [`BASE_BYTES`] for the program itself, its stacks and its allocator come on top.

use crate::error::{Error, ErrorKind, Result};
use crate::io::{Files, Transfer, Tuning};
use crate::progress::Stage;
use crate::units::{KIB, MIB, format_bytes, format_count, size_to_type};

/// What the program takes beside the limit, at most.
pub const BASE_BYTES: u64 = 32 * MIB;
/// What freed memory may still be resident at the end of a stage, beyond what it began with.
const ALLOCATOR_BYTES: u64 = 16 * MIB;
/// The least limit there is.
pub const MEMORY_MIN: u64 = 96 * MIB;
/// Bytes of text parsed as one piece.
pub const CHUNK_BYTES: u64 = 256 * KIB;
/// Memory of the graph writer: one block of arcs being filled, two on their way to the disk.
pub const GRAPH_WRITER_BYTES: u64 = 56 * MIB;
/// Memory a byte of text takes while it is parsed and numbered, for the shortest of lines.
const BATCH_FACTOR: u64 = 16;
/// Bytes a name takes in the index: 20 a slot at 75 to 85 % load.
const INDEX_BYTES_A_NODE: f64 = 26.5;
/// Bytes of a node's self score: a weight, and a bit.
pub const SELF_SCORE_BYTES_A_NODE: f64 = 4.125;
/// Runs of a sort begin with records of this size in memory: larger ones make the merge a little
/// faster, but every new page of memory that they touch costs more than that.
pub const RUN_BYTES: u64 = 32 * MIB;
/// A run is cut into so many files, to be deleted one by one...
pub const SEGMENTS: u64 = 16;
/// ...of this size at least: file systems take long to create thousands of them.
pub const SEGMENT_BYTES: u64 = 4 * MIB;
/// Buffers of a run while runs are formed: to collect, to sort, its scratch, and to write.
pub const RUN_BUFFERS: u64 = 4;
/// After so many runs of a size, runs become twice as large, up to what the budget allows.
pub const RUNS_OF_A_SIZE: u64 = 64;
/// Memory of an arc on its way through the sort.
const ARC_BYTES: u64 = 12;
/// The least the sort gets beside the index.
pub const SORT_BYTES_MIN: u64 = 20 * MIB;
/// Buffers of the writer of runs, where the disk takes one request at a time.
pub const WRITE_BUFFERS: usize = 4;
/// Memory of a writer's buffers that the numbers here count in; larger ones come out of the sort's.
pub const WRITER_BYTES: u64 = 6 * MIB;
/// A writer's buffers take this share of the memory at most, if that is more.
const WRITER_SHARE: u64 = 64;
/// State of label propagation: label and activity; in the last pass two arrays of labels.
const CLUSTER_BYTES_A_NODE: u64 = 8;
/// Encoded blocks and tables of the clustering, for each thread and in all.
const CLUSTER_THREAD_BYTES: u64 = 2 * MIB;
const CLUSTER_FIXED_BYTES: u64 = 48 * MIB;
/// The same for a graph of small blocks and degrees.
const CLUSTER_FIXED_BYTES_MIN: u64 = 4 * MIB;

/// What the user allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Limits {
    /// Most memory.
    pub memory_bytes: u64,
    /// Most threads.
    pub threads: usize,
}

/// How large the input is, as far as a sample tells.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct InputSize {
    /// Bytes of text, decompressed.
    pub text_bytes: u64,
    /// Bytes of the files.
    pub file_bytes: u64,
    /// Lines with an edge.
    pub edge_count: u64,
    /// The likely number of nodes.
    pub node_count: u64,
    /// A number of nodes that the sample leaves no doubt about.
    pub node_count_at_least: u64,
    /// Mean length of a name.
    pub name_bytes: f64,
    /// Whether lines carry weights.
    pub is_weighted: bool,
    /// Whether the self scores of nodes are kept until the graph is written.
    pub has_self_scores: bool,
}

/// One row of a plan.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct StagePlan {
    /// Which stage.
    pub stage: Stage,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Most memory.
    pub memory_bytes: u64,
    /// Time on a machine like the one that the constants were measured on, but not less than the
    /// disk takes for the bytes, where its rates are known.
    pub seconds: f64,
}

/// What a clustering keeps of each node, for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeMemory {
    /// For the likely number of nodes.
    pub bytes: u64,
    /// For the number that the sample leaves no doubt about.
    pub bytes_at_least: u64,
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
    /// Most room taken on the disk: runs, then graph, and the names.
    pub disk_bytes: u64,
    /// Room that stays taken when only the graph is kept.
    pub graph_bytes: u64,
    /// Runs written by the sort; 0 if it stays in memory.
    pub run_count: u64,
    /// The least limit that this job can be done in, by the likely size.
    pub memory_bytes_min: u64,
    /// What of it is for the clustering, if the job is one; the rest of the limit keeps its graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_memory_bytes_min: Option<u64>,
}

impl Limits {
    /// Checks the limits themselves.
    ///
    /// # Errors
    /// `MemoryTooSmall` below [`MEMORY_MIN`] and what the threads need.
    pub fn check(&self) -> Result<()> {
        let least = MEMORY_MIN.max(self.fixed_bytes());
        if self.memory_bytes < least {
            return Err(Error::new(
                ErrorKind::MemoryTooSmall,
                format!("{} is too little memory", format_bytes(self.memory_bytes)),
            )
            .note(format!("{} threads share buffers and a block of arcs", self.threads))
            .hint(format!("use `--memory {}` or more", size_to_type(least))));
        }
        Ok(())
    }

    fn fixed_bytes(&self) -> u64 {
        let read = self.batch_memory_bytes() + SORT_BYTES_MIN;
        read.max(GRAPH_WRITER_BYTES + SORT_BYTES_MIN).max(self.clustering_bytes(0))
    }

    /// The least limit for a clustering that takes `node_bytes` for its nodes.
    fn clustering_bytes(&self, node_bytes: u64) -> u64 {
        node_bytes + CLUSTER_FIXED_BYTES + CLUSTER_THREAD_BYTES * self.threads as u64
    }

    /// Chunks of text parsed side by side.
    pub fn batch_chunks(&self) -> usize {
        let most = self.memory_bytes / 8 / (CHUNK_BYTES * BATCH_FACTOR);
        (4 * self.threads as u64).min(most).max(2) as usize
    }

    /// Memory of a batch in the worst case.
    pub fn batch_memory_bytes(&self) -> u64 {
        self.batch_chunks() as u64 * CHUNK_BYTES * BATCH_FACTOR
    }

    /// What may still be taken when `held_bytes` are resident.
    pub fn memory_left(&self, held_bytes: u64) -> u64 {
        self.memory_bytes.saturating_sub(held_bytes + ALLOCATOR_BYTES)
    }

    /// What index and sort share while the input is read.
    pub fn read_bytes(&self) -> u64 {
        self.memory_bytes - self.batch_memory_bytes()
    }

    /// What the sort may take while runs are merged into the graph, which is written with `tuning`.
    pub fn merge_bytes(&self, tuning: &Tuning) -> u64 {
        self.memory_bytes - GRAPH_WRITER_BYTES - writer_excess_bytes(&tuning.write)
    }

    /// The same beside `held_bytes` of what the read stage leaves; `None` if that is too little.
    pub fn merge_bytes_beside(&self, held_bytes: u64, tuning: &Tuning) -> Option<u64> {
        self.merge_bytes(tuning).checked_sub(held_bytes).filter(|&rest| rest >= SORT_BYTES_MIN)
    }

    /// The settings of transfers that these limits allow: buffers of a writer are cut to what is
    /// counted for them, or a small share of the memory, first in number, then in size.
    pub fn allowed(&self, tuning: Tuning) -> Tuning {
        let mut tuning = tuning.sane();
        let most = WRITER_BYTES.max(self.memory_bytes / WRITER_SHARE);
        let write = &mut tuning.write;
        while writer_bytes(write) > most && write.depth > 1 {
            write.depth -= 1;
        }
        while writer_bytes(write) > most {
            write.block_bytes /= 2;
        }
        // Reads ahead are of blocks of the graph, whose number does not depend on these.
        tuning.read.depth = tuning.read.depth.min(4 * self.threads.max(2));
        tuning.sane()
    }

    /// `files` with the settings of transfers that these limits allow.
    pub fn tuned(&self, files: &Files) -> Files {
        files.with_tuning(self.allowed(files.tuning()))
    }

    /// What the sort may take beside an index of `index_bytes`; `None` if that is too little.
    pub fn sort_bytes(&self, index_bytes: u64) -> Option<u64> {
        self.read_bytes().checked_sub(index_bytes).filter(|&rest| rest >= SORT_BYTES_MIN)
    }

    /// The least limit for a graph of `node_count` nodes, perhaps with self scores, with these threads.
    /// Names that have no room go to disk.
    pub fn memory_bytes_for(&self, node_count: u64, has_self_scores: bool) -> u64 {
        let scores = score_bytes(node_count, has_self_scores);
        let read = self.with_batch(scores + SORT_BYTES_MIN);
        read.max(MEMORY_MIN).max(GRAPH_WRITER_BYTES + SORT_BYTES_MIN + scores)
    }

    /// The most names that are numbered in memory.
    fn names_in_memory(&self, has_self_scores: bool) -> f64 {
        let room = self.read_bytes().saturating_sub(SORT_BYTES_MIN) as f64;
        room / (INDEX_BYTES_A_NODE + if has_self_scores { SELF_SCORE_BYTES_A_NODE } else { 0.0 })
    }

    /// The least limit for `rest` bytes beside a batch of text: that takes an eighth of the limit at
    /// most, and four chunks a thread.
    pub fn with_batch(&self, rest: u64) -> u64 {
        let batch = (4 * self.threads as u64 * CHUNK_BYTES * BATCH_FACTOR).min(rest.div_ceil(7));
        rest + batch.max(2 * CHUNK_BYTES * BATCH_FACTOR)
    }

    /// Refuses a clustering that cannot fit beyond doubt; the number to type is for the likely size.
    fn check_clustering(&self, nodes: NodeMemory) -> Result<()> {
        if nodes.bytes_at_least + CLUSTER_FIXED_BYTES_MIN <= self.memory_bytes {
            return Ok(());
        }
        let given = format_bytes(self.memory_bytes);
        let message = format!("{given} is too little memory for this clustering");
        let least = self.clustering_bytes(nodes.bytes.max(nodes.bytes_at_least));
        Err(Error::new(ErrorKind::MemoryTooSmall, message)
            .note(format!("labels and what goes with them take {}", format_bytes(nodes.bytes)))
            .hint(format!("use `--memory {}` or more", size_to_type(least))))
    }

    /// Refuses a job of this size, perhaps with a clustering, that cannot fit beyond doubt.
    fn check_size(&self, input: &InputSize, clustering: Option<NodeMemory>) -> Result<()> {
        let read = self.memory_bytes_for(input.node_count_at_least, input.has_self_scores);
        match clustering {
            // The larger of both is checked: its number does for the other as well.
            Some(nodes) if nodes.bytes_at_least + CLUSTER_FIXED_BYTES_MIN > read => {
                self.check_clustering(nodes)
            }
            _ if read > self.memory_bytes => {
                Err(self.too_small(input.node_count, "the input has about"))
            }
            _ => Ok(()),
        }
    }

    /// The error for a job whose self scores do not fit, with the limit to type.
    pub fn too_small(&self, node_count: u64, about: &str) -> Error {
        let needed = self.memory_bytes_for(node_count, true);
        Error::new(
            ErrorKind::MemoryTooSmall,
            format!("{} is too little memory for this graph", format_bytes(self.memory_bytes)),
        )
        .note(format!(
            "{about} {} nodes, and the self scores take {SELF_SCORE_BYTES_A_NODE} bytes a node",
            format_count(node_count)
        ))
        .hint(format!("use `--memory {}` or more", size_to_type(needed)))
    }
}

/// What self scores take.
fn score_bytes(node_count: u64, has_self_scores: bool) -> u64 {
    if has_self_scores { (node_count as f64 * SELF_SCORE_BYTES_A_NODE) as u64 } else { 0 }
}

/// What names that have no room in memory cost on the disk; see `ids::spill`.
#[derive(Debug, Clone, Copy, Default)]
struct SpilledNames {
    read_bytes: f64,
    write_bytes: f64,
    disk_bytes: f64,
    nanoseconds: f64,
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
            nanoseconds: after * 15.0 + unknown * 60.0 + new * 60.0,
        }
    }
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
        clustering: Option<NodeMemory>,
    ) -> Result<Self> {
        limits.check()?;
        limits.check_size(&input, clustering)?;
        let scores = input.has_self_scores;
        let threads = limits.threads as f64;
        let arcs = 2 * input.edge_count;
        let node_bits = f64::from(64 - input.node_count.leading_zeros());
        let weight_bytes = if input.is_weighted { 1.5 } else { 0.0 };
        // Source and weight in a few bits, the target in full; then gaps instead of targets.
        let run_bytes = (arcs as f64 * (0.5 + node_bits / 8.0 + weight_bytes)) as u64;
        let degree = arcs as f64 / input.node_count.max(1) as f64;
        let gap_bits = (node_bits - degree.max(1.0).log2() + 2.0).max(1.0);
        let arcs_bytes =
            (arcs as f64 * (0.2 + gap_bits / 8.0 + weight_bytes)) as u64 + 3 * input.node_count;
        let names_bytes = (input.node_count as f64 * (input.name_bytes + 1.1)) as u64;
        let spilled = SpilledNames::of(&input, &limits);
        let known = (input.node_count as f64).min(limits.names_in_memory(scores));
        let index = (known * INDEX_BYTES_A_NODE) as u64 + score_bytes(input.node_count, scores);
        let sort = limits.sort_bytes(index).unwrap_or(SORT_BYTES_MIN);
        let run_count = run_count(arcs * ARC_BYTES, sort.saturating_sub(12 * MIB) / RUN_BUFFERS);
        let spills = run_count > 0;
        let run_bytes = if spills { run_bytes } else { 0 };
        let sweeps = 5.0;
        let node_bytes =
            clustering.map_or(input.node_count * CLUSTER_BYTES_A_NODE, |nodes| nodes.bytes);
        let cluster_least = limits.clustering_bytes(node_bytes);
        let cluster_memory = limits.memory_bytes.min(cluster_least + arcs_bytes);
        let scans = if cluster_memory < limits.memory_bytes { 1.0 } else { sweeps + 2.0 };
        let stage = |stage, read_bytes, write_bytes, memory_bytes, nanoseconds: f64| {
            // Stages compute while they read and write: the slower of both decides.
            let disk_seconds = tuning.seconds(read_bytes, write_bytes);
            let seconds = (nanoseconds / threads * 1e-9).max(disk_seconds.unwrap_or(0.0));
            StagePlan { stage, read_bytes, write_bytes, memory_bytes, seconds }
        };
        let edges = input.edge_count as f64;
        let read_memory =
            (limits.batch_memory_bytes() + index + RUN_BUFFERS * (ARC_BYTES * arcs).min(RUN_BYTES))
                .min(limits.memory_bytes);
        let stages = vec![
            stage(
                Stage::Read,
                input.file_bytes + spilled.read_bytes as u64,
                run_bytes + names_bytes + spilled.write_bytes as u64,
                read_memory,
                edges * 110.0 + spilled.nanoseconds,
            ),
            stage(Stage::Merge, run_bytes, arcs_bytes, limits.memory_bytes, edges * 80.0),
            stage(
                Stage::Cluster,
                (arcs_bytes as f64 * scans) as u64,
                0,
                cluster_memory,
                edges * 2.0 * sweeps * 28.0,
            ),
            stage(
                Stage::Write,
                names_bytes,
                names_bytes + 7 * input.node_count,
                8 * MIB + 4 * input.node_count,
                input.node_count as f64 * 40.0,
            ),
        ];
        Ok(Self {
            input,
            limits,
            stages,
            disk_bytes: names_bytes
                + merge_disk_bytes(run_bytes, run_count, arcs_bytes)
                    .max(run_bytes + spilled.disk_bytes as u64),
            graph_bytes: arcs_bytes + names_bytes,
            run_count,
            memory_bytes_min: limits
                .memory_bytes_for(input.node_count, scores)
                .max(clustering.map_or(0, |_| cluster_least)),
            cluster_memory_bytes_min: clustering.map(|_| cluster_least),
        })
    }

    /// The time of all stages.
    pub fn seconds(&self) -> f64 {
        self.stages.iter().map(|stage| stage.seconds).sum()
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
        .hint("use `--work-dir` on a larger disk; `outcore plan` shows each stage"))
    }
}

/// Buffers of the writer of runs, beside the one that is filled.
pub fn write_buffers(write: &Transfer) -> usize {
    // Large blocks need fewer buffers to keep the disk busy.
    let few = (WRITER_BYTES as usize / write.block_bytes).saturating_sub(1);
    few.clamp(1, WRITE_BUFFERS).max(write.depth)
}

/// Memory of a writer's buffers.
pub fn writer_bytes(write: &Transfer) -> u64 {
    (write_buffers(write) as u64 + 1) * write.block_bytes as u64
}

/// What a writer's buffers take beyond what is counted for them.
pub fn writer_excess_bytes(write: &Transfer) -> u64 {
    writer_bytes(write).saturating_sub(WRITER_BYTES)
}

/// Most room that runs and graph take while one is merged into the other: a segment of a run is
/// deleted only when all of it has been merged.
fn merge_disk_bytes(run_bytes: u64, run_count: u64, arcs_bytes: u64) -> u64 {
    let behind = (run_count * SEGMENT_BYTES).max(run_bytes / SEGMENTS).min(run_bytes);
    let share = behind as f64 / run_bytes.max(1) as f64;
    (run_bytes + (share * arcs_bytes as f64) as u64).max(arcs_bytes + behind)
}

/// Runs of a sort of `bytes`, of which a run may take `most_bytes`; 0 if one run is all.
fn run_count(bytes: u64, most_bytes: u64) -> u64 {
    let most = most_bytes.max(MIB);
    let mut size = RUN_BYTES.min(most);
    if bytes <= size {
        return 0;
    }
    let (mut left, mut runs) = (bytes, 0);
    while size < most && left > RUNS_OF_A_SIZE * size {
        left -= RUNS_OF_A_SIZE * size;
        runs += RUNS_OF_A_SIZE;
        size = (2 * size).min(most);
    }
    runs + left.div_ceil(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    fn input(node_count: u64, edge_count: u64) -> InputSize {
        InputSize {
            text_bytes: 36 * edge_count,
            file_bytes: 36 * edge_count,
            edge_count,
            node_count,
            node_count_at_least: node_count,
            name_bytes: 13.0,
            is_weighted: true,
            has_self_scores: false,
        }
    }

    #[test]
    fn a_limit_that_is_too_small_is_refused_with_one_that_is_not() {
        for nodes in [50_000_000, 100_000_000, 2_000_000_000] {
            for threads in [1, 2, 7, 64] {
                let tight = Limits { memory_bytes: 128 * MIB, threads };
                let scored = InputSize { has_self_scores: true, ..input(nodes, 10 * nodes) };
                let error = Plan::new(scored, tight, &Tuning::default(), None).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
                let needed = tight.memory_bytes_for(nodes, true).next_multiple_of(MIB);
                let limits = Limits { memory_bytes: needed, threads };
                if limits.check().is_ok() {
                    Plan::new(scored, limits, &Tuning::default(), None).unwrap();
                }
            }
        }
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
            let nodes = Some(NodeMemory { bytes, bytes_at_least });
            let plan = |memory| Plan::new(input, limits(memory), &Tuning::default(), nodes);
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
    fn self_scores_are_counted_and_leave_room_to_merge() {
        for nodes in [1_000_000, 100_000_000, 2_000_000_000] {
            let limits = Limits { memory_bytes: MEMORY_MIN, threads: 4 };
            let needed = limits.memory_bytes_for(nodes, true);
            let scores = (nodes as f64 * SELF_SCORE_BYTES_A_NODE) as u64;
            assert!(needed >= limits.memory_bytes_for(nodes, false));
            assert!(
                nodes < 10_000_000 || needed > limits.memory_bytes_for(nodes, false) + scores / 2
            );
            let limits = Limits { memory_bytes: needed, ..limits };
            assert!(limits.merge_bytes_beside(scores, &Tuning::default()).is_some(), "{nodes}");
        }
        let limits = Limits { memory_bytes: MEMORY_MIN, threads: 4 };
        assert!(limits.merge_bytes_beside(30 * MIB, &Tuning::default()).is_none());
        let scored = InputSize { has_self_scores: true, ..input(100_000_000, 1_000_000_000) };
        let error = Plan::new(scored, limits, &Tuning::default(), None).unwrap_err();
        assert!(error.notes()[0].ends_with("self scores take 4.125 bytes a node"), "{error:?}");
    }

    #[test]
    fn runs_double_after_every_so_many() {
        assert_eq!(run_count(RUN_BYTES, GIB), 0);
        assert_eq!(run_count(10 * RUN_BYTES, GIB), 10);
        assert_eq!(run_count(80 * RUN_BYTES, GIB), 72);
        assert_eq!(run_count(100 * RUN_BYTES, RUN_BYTES / 2), 200);
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
        assert_eq!(read.seconds, read.read_bytes as f64 / 1e8 + read.write_bytes as f64 / 5e7);
        let unknown = Plan::new(input, limits, &Tuning::default(), None).unwrap();
        assert!(unknown.stages[0].seconds < read.seconds);
    }

    #[test]
    fn limits_hold_for_any_tuning() {
        for memory_bytes in [MEMORY_MIN, GIB, 64 * GIB] {
            let limits = Limits { memory_bytes, threads: 4 };
            for (block, depth) in [(4096, 64), (1 << 20, 1), (3 << 20, 7), (64 << 20, 64)] {
                let mut tuning = Tuning::default();
                tuning.write.block_bytes = block;
                tuning.write.depth = depth;
                let allowed = limits.allowed(tuning);
                let most = WRITER_BYTES.max(memory_bytes / WRITER_SHARE);
                assert!(writer_bytes(&allowed.write) <= most);
                assert!(limits.merge_bytes(&allowed) >= SORT_BYTES_MIN);
            }
            assert_eq!(limits.allowed(Tuning::default()), Tuning::default());
        }
    }
}
