//! What clustering needs of the memory.

use super::cache::READ_AHEAD;
use super::connect::{Closing, NodeSums};
use super::sweep::Workshop;
use crate::graph::{Graph, SEGMENT_ARCS};

/// Most arcs of a block that is not a hub's.
const BLOCK_ARCS: u64 = 1 << 20;
/// Most nodes of a block.
const BLOCK_NODES: u64 = 1 << 16;

/// The memory that a clustering needs; what is given beyond that keeps blocks of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterMemory {
    /// What grows with the number of nodes: 4.125 bytes a node while labels move, 8.25 (directed:
    /// 20.25) at the end.
    pub node_bytes: u64,
    /// Tables and decoded arcs, mostly for each thread.
    pub scratch_bytes: u64,
    /// Blocks that are worked on or read ahead.
    pub block_bytes: u64,
}

impl ClusterMemory {
    /// For a graph of which only the size is known. `max_degree` may be a bound.
    pub fn bound(
        node_count: u64,
        max_degree: u64,
        weighted: bool,
        directed: bool,
        threads: usize,
    ) -> Self {
        // Encoded, a gap takes at most 5 bytes, a weight 4, and a node some of the index.
        let block = BLOCK_ARCS * if weighted { 9 } else { 5 } + 16 * BLOCK_NODES;
        Self::new(node_count, max_degree, weighted, directed, threads, block)
    }

    /// For a graph and a number of threads.
    pub fn of(graph: &Graph, threads: usize) -> Self {
        let block = graph.blocks().iter().map(|entry| entry.bytes.min(BLOCK_ARCS * 16)).max();
        Self::new(
            graph.node_count(),
            graph.max_degree(),
            graph.is_weighted(),
            graph.is_directed(),
            threads,
            block.unwrap_or(0) + 8 * BLOCK_NODES.min(graph.node_count()),
        )
    }

    fn new(
        node_count: u64,
        max_degree: u64,
        weighted: bool,
        directed: bool,
        threads: usize,
        block: u64,
    ) -> Self {
        let threads = threads as u64;
        let max_degree = max_degree.min(node_count);
        let most_nodes = BLOCK_NODES.min(node_count);
        let workshop = if weighted {
            Workshop::<f64>::bytes(max_degree, most_nodes, threads)
        } else {
            Workshop::<u32>::bytes(max_degree, most_nodes, threads)
        };
        let segment = max_degree.min(SEGMENT_ARCS as u64).max(1024);
        // Arcs are decoded into buffers of a power of two.
        let decoded = threads * (2 * 8 * 2 * segment + Closing::bytes(segment));
        let sums = most_nodes * size_of::<NodeSums>() as u64;
        Self {
            node_bytes: (node_count * if directed { 162 } else { 66 }).div_ceil(8),
            scratch_bytes: workshop + decoded + sums,
            block_bytes: block * (READ_AHEAD as u64 + 2),
        }
    }

    /// All of it.
    pub fn total_bytes(&self) -> u64 {
        self.node_bytes + self.scratch_bytes + self.block_bytes
    }
}
