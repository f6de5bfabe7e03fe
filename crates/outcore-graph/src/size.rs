//! Size of a graph that does not exist yet, and the memory that is needed to write it.

use super::{ArcRecord, BLOCK_ARCS, block_nodes};
use outcore_io::budget::Limits;
use outcore_io::units::MIB;
use outcore_io::{Tuning, WRITER_BYTES};
use outcore_sort::SORT_BYTES_MIN;

/// Memory of an arc in the sort.
pub const ARC_BYTES: u64 = size_of::<ArcRecord>() as u64;
/// Memory of the graph writer: one block of arcs being filled, two in flight to the disk.
pub const GRAPH_WRITER_BYTES: u64 = 40 * MIB;

/// Size of a graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphSize {
    /// Number of nodes.
    pub node_count: u64,
    /// Number of arcs.
    pub arc_count: u64,
    /// Bytes of its blocks.
    pub bytes: u64,
    /// Number of arcs of a node that is known to have many; 0 if there is none.
    pub hub_arcs: u64,
    /// Whether arcs have weights.
    pub is_weighted: bool,
    /// Whether an arc may lack its opposite.
    pub is_directed: bool,
    /// Whether nodes are of two kinds, which are recorded.
    pub has_kinds: bool,
}

impl GraphSize {
    /// Returns the memory of the writer: blocks being filled and encoded, and its file.
    pub fn writer_bytes(&self) -> u64 {
        let Self { node_count, arc_count, bytes, .. } = *self;
        let nodes = block_nodes(node_count).min(node_count.max(1));
        let arcs = u128::from(arc_count) * u128::from(nodes) / u128::from(node_count.max(1));
        let arcs = arcs.min(BLOCK_ARCS.into()) as u64;
        (24 * arcs + bytes.min(WRITER_BYTES)).min(GRAPH_WRITER_BYTES)
    }
}

/// Returns the memory of the sort while runs are merged into the graph, which is written with `tuning`.
pub fn merge_bytes(limits: &Limits, tuning: &Tuning) -> u64 {
    limits.memory_bytes - GRAPH_WRITER_BYTES - tuning.write.excess_bytes()
}

/// Memory of the queue of opposite arcs beyond its share: what the merge leaves of the buffers in which runs were formed.
const QUEUE_BYTES_MIN: u64 = 4 * MIB;
/// Share of the queue in the memory of the sort beyond its minimum.
const QUEUE_SHARE: u64 = 3;

/// Divides the memory of a merge among the queue of opposite arcs of an undirected graph and the sort; returns both.
pub fn queue_and_sort_bytes(merge_bytes: u64) -> (u64, u64) {
    let share = merge_bytes.saturating_sub(SORT_BYTES_MIN) / QUEUE_SHARE;
    (QUEUE_BYTES_MIN + share, merge_bytes - share)
}

/// Like [`merge_bytes`], with `held_bytes` still held by the read stage; `None` if too little remains.
pub fn merge_bytes_beside(limits: &Limits, held_bytes: u64, tuning: &Tuning) -> Option<u64> {
    merge_bytes(limits, tuning).checked_sub(held_bytes).filter(|&rest| rest >= SORT_BYTES_MIN)
}
