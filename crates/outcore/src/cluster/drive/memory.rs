//! What clustering needs of the memory.

use super::contract::SMALL_LEVEL_BYTES;
use crate::cluster::finish::connect::{Closing, NodeSums};
use crate::cluster::kernel::cache::READ_AHEAD;
use crate::cluster::kernel::sweep::{LARGE_DEGREE, MOST_LABELS, Workshop};
use crate::cluster::methods::table::Method;
pub(crate) use crate::graph::{BLOCK_ARCS, BLOCK_NODES};
use crate::graph::{GRAPH_WRITER_BYTES, Graph, GraphSize, SEGMENT_ARCS, block_nodes};
use crate::sort::SORT_BYTES_MIN;
use crate::units::MIB;

/// Bytes of a node in a block, beside its arcs, at most.
const NODE_BYTES: u64 = 24;

/// The largest degree that is expected, in mean ones.
const EXPECTED_HUB: u64 = 64;

/// What a contraction takes for an arc, if it never touches the disk.
const CONTRACTED_ARC_BYTES: u64 = 64;

/// The memory that a clustering needs; what is given beyond that keeps blocks of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterMemory {
    /// What grows with the number of nodes. Label propagation: 4.125 bytes a node while labels move, 8.25
    /// (directed: 20.25) at the end. On several levels: a label, a group, a class and the sums of a group
    /// for each node, if none of them are together.
    pub node_bytes: u64,
    /// Tables and decoded arcs, mostly for each thread; or, if that is more, sorter and writer of a
    /// contraction.
    pub scratch_bytes: u64,
    /// Blocks that are worked on or read ahead.
    pub block_bytes: u64,
}

/// How a graph is worked on in the memory that there is; it changes speed, never a result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    /// Most labels of a table for large degrees.
    pub(crate) most_labels: u64,
    /// Blocks read ahead.
    pub(crate) ahead: usize,
}

impl Fit {
    /// Where there is memory enough.
    pub(crate) const ROOMY: Self = Self { most_labels: MOST_LABELS, ahead: READ_AHEAD };
    /// The least memory.
    pub(crate) const LEAST: Self = Self { most_labels: LARGE_DEGREE, ahead: 1 };

    /// Returns the roomiest way that needs at most `memory`, or else the least one, and what it needs.
    pub(crate) fn within(memory: u64, needed: impl Fn(Self) -> u64) -> (Self, u64) {
        let mut fit = Self::ROOMY;
        loop {
            let bytes = needed(fit);
            let is_least = fit.ahead == 1 && fit.most_labels <= LARGE_DEGREE;
            if bytes <= memory || is_least {
                return (fit, bytes);
            }
            fit = match fit.ahead {
                1 => Self { most_labels: fit.most_labels / 2, ..fit },
                _ => Self { ahead: 1, ..fit },
            };
        }
    }
}

/// A graph's size, as far as memory depends on it.
#[derive(Debug, Clone, Copy)]
struct SizeForMemory {
    nodes: u64,
    arcs: u64,
    max_degree: u64,
    /// Of the largest block, in memory.
    block_bytes: u64,
    weighted: bool,
    directed: bool,
    /// Most labels of a table for large degrees.
    most_labels: u64,
}

impl ClusterMemory {
    /// For a graph and a number of threads; with several levels, also for any level above it.
    pub fn of(graph: &Graph, method: Method, threads: usize) -> Self {
        Self::fitted(graph, Some(method), threads, Fit::ROOMY)
    }

    /// Of what scans of a graph work in.
    pub(crate) fn of_scans(graph: &Graph, threads: usize) -> Self {
        Self::fitted(graph, None, threads, Fit::ROOMY)
    }

    /// The same for a graph that is worked on in this way; without a method, of what scans work in.
    pub(crate) fn fitted(graph: &Graph, method: Option<Method>, threads: usize, fit: Fit) -> Self {
        let nodes = graph.node_count();
        let block = graph.blocks().iter().map(|entry| entry.bytes.min(BLOCK_ARCS * 16)).max();
        let size = SizeForMemory {
            nodes,
            arcs: graph.arc_count(),
            max_degree: graph.max_degree().min(nodes),
            block_bytes: block.unwrap_or(0) + 8 * BLOCK_NODES.min(nodes),
            weighted: graph.is_weighted(),
            directed: graph.is_directed(),
            most_labels: fit.most_labels,
        };
        Self::of_size(size, method, threads, fit.ahead)
    }

    /// The same for a graph that is not there yet.
    pub(crate) fn expected_in(
        graph: &GraphSize,
        method: Option<Method>,
        threads: usize,
        fit: Fit,
    ) -> Self {
        let (nodes, arcs) = (graph.node_count.max(1), graph.arc_count);
        // Most graphs have nodes of many times the mean degree.
        let of_block = block_nodes(nodes).min(nodes);
        let share = of_block as f64 / nodes as f64;
        let block = (graph.bytes as f64 * share) as u64;
        let degree = (arcs / nodes).saturating_mul(EXPECTED_HUB);
        let hub_bytes = (graph.hub_arcs * 5).min(graph.bytes).min(BLOCK_ARCS * 16);
        let size = SizeForMemory {
            nodes,
            arcs,
            max_degree: degree.max(graph.hub_arcs).clamp(1, nodes),
            block_bytes: block.min(BLOCK_ARCS * 5).max(hub_bytes) + 8 * of_block,
            weighted: graph.is_weighted,
            directed: graph.is_directed,
            most_labels: fit.most_labels,
        };
        Self::of_size(size, method, threads, fit.ahead)
    }

    /// The same where there is memory enough.
    pub(crate) fn expected(graph: &GraphSize, method: Option<Method>, threads: usize) -> Self {
        Self::expected_in(graph, method, threads, Fit::ROOMY)
    }

    /// What a method takes of a graph of at least this size, whatever else is in it.
    pub(crate) fn at_least(graph: &GraphSize, method: Option<Method>, threads: usize) -> Self {
        let size = SizeForMemory {
            nodes: graph.node_count.max(1),
            arcs: graph.arc_count,
            max_degree: graph.hub_arcs.clamp(1, graph.node_count.max(1)),
            block_bytes: 0,
            weighted: false,
            directed: graph.is_directed,
            most_labels: LARGE_DEGREE,
        };
        Self::of_size(size, method, threads, 1)
    }

    fn of_size(size: SizeForMemory, method: Option<Method>, threads: usize, ahead: usize) -> Self {
        let nodes = size.nodes;
        let threads = threads as u64;
        let has_levels = method.is_some_and(Method::is_multilevel);
        let above = if has_levels { size.above() } else { size };
        let scratch_bytes = match has_levels {
            true => size.contraction_bytes().max(above.sweep_bytes(threads)),
            false => 0,
        };
        Self {
            node_bytes: method.map_or(0, |method| {
                nodes * Self::bytes_a_node(method, size.directed) + nodes.div_ceil(4)
            }),
            scratch_bytes: scratch_bytes.max(size.sweep_bytes(threads)),
            block_bytes: (size.block_bytes * (ahead as u64 + 2)).max(3 * above.block_bytes),
        }
    }

    /// Whole bytes that a node takes at most.
    pub(crate) fn bytes_a_node(method: Method, directed: bool) -> u64 {
        let spec = method.spec();
        spec.node_bytes + if directed { spec.directed_bytes } else { 0 }
    }

    /// What the sorter of a contraction gets, at least.
    pub(crate) const SORT_BYTES: u64 = SORT_BYTES_MIN;

    /// All of it.
    pub fn total_bytes(&self) -> u64 {
        self.node_bytes + self.fixed_bytes()
    }

    /// What does not grow with the nodes.
    pub(crate) fn fixed_bytes(&self) -> u64 {
        self.scratch_bytes + self.block_bytes
    }
}

impl SizeForMemory {
    /// What any level above has at most: fewer nodes and arcs, but weights, and larger degrees.
    fn above(self) -> Self {
        let nodes = BLOCK_NODES.min(self.nodes);
        // A gap, a weight, and a share of what each group of arcs has before them.
        let arc_bits = u64::from(64 - self.nodes.leading_zeros()) + 32 + 1;
        Self {
            max_degree: self.nodes.min(self.arcs),
            most_labels: LARGE_DEGREE,
            weighted: true,
            block_bytes: self.arcs.min(BLOCK_ARCS) * arc_bits / 8 + nodes * NODE_BYTES,
            ..self
        }
    }

    /// Tables, decoded arcs and plans of the sweeps and of the closing scan.
    fn sweep_bytes(&self, threads: u64) -> u64 {
        let most_nodes = BLOCK_NODES.min(self.nodes);
        let workshop = if self.weighted {
            Workshop::<f64>::bytes(self.max_degree, self.most_labels, most_nodes, threads)
        } else {
            Workshop::<u32>::bytes(self.max_degree, self.most_labels, most_nodes, threads)
        };
        let segment = self.max_degree.min(SEGMENT_ARCS as u64).max(1024);
        // Arcs are decoded into buffers of a power of two.
        let decoded = threads * (2 * 8 * 2 * segment + Closing::bytes(segment));
        workshop + decoded + most_nodes * size_of::<NodeSums>() as u64
    }

    /// Sorter, writer, and a level in memory.
    fn contraction_bytes(&self) -> u64 {
        let most = ClusterMemory::SORT_BYTES + GRAPH_WRITER_BYTES + SMALL_LEVEL_BYTES;
        most.min(MIB + self.arcs * CONTRACTED_ARC_BYTES)
    }
}
