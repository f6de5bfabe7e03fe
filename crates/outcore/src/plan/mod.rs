//! What a job will need, before any work: a pure function of the input's size and the limits.
//!
//! Every number that decides about memory stands here. The limit covers what grows with the job;
//! [`BASE_BYTES`] for the program itself, its stacks and its allocator come on top.

mod cost;
mod size;
mod sorting;
mod spark;

use crate::error::opt::MEMORY;
use crate::error::{Error, ErrorKind, Result};
use crate::io::{Files, Transfer, Tuning};
use crate::units::{KIB, MIB, format_bytes, format_count, size_to_type};

pub use cost::{ClusterPlan, Plan, StagePlan};
pub use sorting::{
    Records, SORT_BLOCK_RECORDS, SORT_FIXED_BYTES, SORT_RANGE_READS, SORT_READ_BYTES,
    SORT_READ_BYTES_MIN, Sorting,
};
pub use spark::{Cluster, Here, SparkPlan};

/// What the program takes beside the limit, at most.
pub const BASE_BYTES: u64 = 32 * MIB;
/// What freed memory may still be resident at the end of a stage, beyond what it began with.
const ALLOCATOR_BYTES: u64 = 16 * MIB;
/// The least limit there is.
pub const MEMORY_MIN: u64 = 64 * MIB;
/// Bytes of text parsed as one piece.
pub const CHUNK_BYTES: u64 = 256 * KIB;
/// Memory of the graph writer: one block of arcs being filled, two on their way to the disk.
pub const GRAPH_WRITER_BYTES: u64 = 40 * MIB;
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
pub const ARC_BYTES: u64 = 12;
/// The least the sort gets beside the index.
pub const SORT_BYTES_MIN: u64 = 20 * MIB;
/// Buffers of the writer of runs, where the disk takes one request at a time.
pub const WRITE_BUFFERS: usize = 4;
/// Memory of a writer's buffers that the numbers here count in; larger ones come out of the sort's.
pub const WRITER_BYTES: u64 = 6 * MIB;
/// A writer's buffers take this share of the memory at most, if that is more.
const WRITER_SHARE: u64 = 64;
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
    /// Bytes of the files that were read to tell all this.
    pub sample_bytes: u64,
    /// Lines with an edge.
    pub edge_count: u64,
    /// Edges of the graph: repeated ones are one, and loops are none.
    pub distinct_edge_count: u64,
    /// A number of them that the sample leaves no doubt about.
    pub distinct_edge_count_at_least: u64,
    /// The likely number of nodes.
    pub node_count: u64,
    /// A number of nodes that the sample leaves no doubt about.
    pub node_count_at_least: u64,
    /// Mean length of a name.
    pub name_bytes: f64,
    /// Edges that one node is known to have, if it has many.
    pub hub_edge_count: u64,
    /// Whether edges keep their direction.
    pub is_directed: bool,
    /// Whether lines carry weights.
    pub is_weighted: bool,
    /// Bits of a weight, less what it has in common with its neighbors.
    pub weight_bits: f64,
    /// Whether weights of repeated edges are added up that are no whole numbers.
    pub sums_fractions: bool,
    /// Whether the self scores of nodes are kept until the graph is written.
    pub has_self_scores: bool,
}

/// How large a graph is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphSize {
    /// Nodes.
    pub node_count: u64,
    /// Arcs.
    pub arc_count: u64,
    /// Bytes of its blocks.
    pub bytes: u64,
    /// Arcs of a node that is known to have many; 0 if none is.
    pub hub_arcs: u64,
    /// Whether arcs have weights.
    pub is_weighted: bool,
    /// Whether an arc may lack its opposite.
    pub is_directed: bool,
}

/// What a clustering keeps of each node, for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeMemory {
    /// The least for the likely number of nodes: on disk is what can be.
    pub bytes: u64,
    /// The same for the number that the sample leaves no doubt about.
    pub bytes_at_least: u64,
    /// For the likely number of nodes, if all is in memory.
    pub bytes_in_memory: u64,
    /// What goes with it whatever the number, at least: tables, blocks, the contraction of a level.
    pub fixed_bytes: u64,
    /// The part of it that the sample leaves no doubt about.
    pub fixed_bytes_at_least: u64,
    /// What the stages after the clustering take at most for the likely size, labels included.
    pub presenting_bytes: u64,
    /// What they take at least.
    pub presenting_bytes_at_least: u64,
}

impl NodeMemory {
    /// The least limit for the likely number of nodes.
    fn least_limit(&self) -> u64 {
        let clustering = self.bytes.max(self.bytes_at_least) + self.fixed_bytes;
        clustering.max(self.presenting_bytes).max(self.presenting_bytes_at_least)
    }

    /// The least limit that any graph which the sample leaves open takes.
    fn certain_bytes(&self) -> u64 {
        let clustering =
            self.bytes_at_least + self.fixed_bytes_at_least.max(CLUSTER_FIXED_BYTES_MIN);
        clustering.max(self.presenting_bytes_at_least)
    }
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
            .hint(format_args!("use {} or more", MEMORY.of(size_to_type(least)))));
        }
        Ok(())
    }

    /// Returns the limits with as much memory as any job needs, if they have less.
    pub(crate) fn at_least(&self) -> Self {
        let memory_bytes = self.memory_bytes.max(MEMORY_MIN).max(self.fixed_bytes());
        Self { memory_bytes, ..*self }
    }

    fn fixed_bytes(&self) -> u64 {
        let read = self.batch_memory_bytes() + SORT_BYTES_MIN;
        read.max(GRAPH_WRITER_BYTES + SORT_BYTES_MIN).max(self.clustering_bytes())
    }

    /// What a clustering takes beside its nodes, where nothing is known of the graph.
    pub(crate) fn clustering_bytes(&self) -> u64 {
        CLUSTER_FIXED_BYTES + CLUSTER_THREAD_BYTES * self.threads as u64
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

    /// What the sort may take beside what decompression holds, which is the input's choice.
    ///
    /// # Errors
    /// `MemoryTooSmall` if that is too little.
    pub fn sort_bytes_beside_window(&self, window_bytes: u64) -> Result<u64> {
        self.sort_bytes(window_bytes).ok_or_else(|| {
            let given = format_bytes(self.memory_bytes);
            let least = self.with_batch(window_bytes + SORT_BYTES_MIN).max(MEMORY_MIN);
            Error::new(
                ErrorKind::MemoryTooSmall,
                format!("{given} is too little memory for this input"),
            )
            .note(format!("to fetch and decompress it takes {}", format_bytes(window_bytes)))
            .hint(format_args!("use {} or more", MEMORY.of(size_to_type(least))))
        })
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
        if nodes.certain_bytes() <= self.memory_bytes {
            return Ok(());
        }
        let given = format_bytes(self.memory_bytes);
        let message = format!("{given} is too little memory for this clustering");
        let least = nodes.least_limit();
        let labels = nodes.bytes.max(nodes.presenting_bytes);
        Err(Error::new(ErrorKind::MemoryTooSmall, message)
            .note(format!("labels and what goes with them take {}", format_bytes(labels)))
            .hint(format_args!("use {} or more", MEMORY.of(size_to_type(least)))))
    }

    /// Refuses a job of this size, perhaps with a clustering, that cannot fit beyond doubt.
    fn check_size(&self, input: &InputSize, clustering: Option<NodeMemory>) -> Result<()> {
        let read = self.memory_bytes_for(input.node_count_at_least, input.has_self_scores);
        match clustering {
            // The larger of both is checked: its number does for the other as well.
            Some(nodes) if nodes.certain_bytes() > read => self.check_clustering(nodes),
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
        .hint(format_args!("use {} or more", MEMORY.of(size_to_type(needed))))
    }
}

/// What self scores take.
fn score_bytes(node_count: u64, has_self_scores: bool) -> u64 {
    if has_self_scores { (node_count as f64 * SELF_SCORE_BYTES_A_NODE) as u64 } else { 0 }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    pub(super) fn input(node_count: u64, edge_count: u64) -> InputSize {
        InputSize {
            text_bytes: 36 * edge_count,
            file_bytes: 36 * edge_count,
            sample_bytes: 4 * MIB,
            edge_count,
            distinct_edge_count: edge_count,
            distinct_edge_count_at_least: edge_count,
            node_count,
            node_count_at_least: node_count,
            name_bytes: 13.0,
            hub_edge_count: 0,
            is_directed: false,
            is_weighted: true,
            weight_bits: 10.0,
            sums_fractions: false,
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
