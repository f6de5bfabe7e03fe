//! Size of a graph as far as memory depends on it, and the memory of scans and of levels. What a clustering needs is put
//! together from it in `need`.

use super::contract::SMALL_LEVEL_BYTES;
use crate::finish::connect::{Closing, NodeSums};
use crate::kernel::cache::READ_AHEAD;
use crate::kernel::holdings::NoFlow;
use crate::kernel::sweep::{LARGE_DEGREE, MOST_LABELS, SweepBuffers};
use crate::methods::table::Method;
pub(crate) use outcore_graph::{BLOCK_ARCS, BLOCK_NODES};
use outcore_graph::{GRAPH_WRITER_BYTES, Graph, GraphSize, SEGMENT_ARCS, block_nodes};
use outcore_io::units::MIB;
use outcore_sort::SORT_BYTES_MIN;

/// Maximum number of bytes of a node in a block, without its arcs.
const NODE_BYTES: u64 = 24;

/// Largest expected degree, in units of the mean degree.
const EXPECTED_HUB: u64 = 64;

/// Bytes per arc of a contraction in memory.
const CONTRACTED_ARC_BYTES: u64 = 64;

/// Memory that a clustering needs; any memory beyond that caches blocks of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterMemory {
    /// Memory that grows with the number of nodes. Label propagation: 4.125 bytes per node while labels move, 8.25
    /// (directed: 20.25) at the end. Multilevel methods: a label, a group, a class and the sums of a group per
    /// node, in the worst case of single-node groups.
    pub node_bytes: u64,
    /// Tables and decoded arcs, mostly per thread; or, if larger, sorter and writer of a contraction.
    pub scratch_bytes: u64,
    /// Blocks that are processed or read ahead.
    pub block_bytes: u64,
}

/// Adaptation to the available memory; affects speed, never a result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    /// Maximum number of labels in a table for large degrees.
    pub(crate) max_labels: u64,
    /// Number of blocks read ahead.
    pub(crate) ahead: usize,
}

impl Fit {
    /// Settings for ample memory.
    pub(crate) const ROOMY: Self = Self { max_labels: MOST_LABELS, ahead: READ_AHEAD };
    /// Settings for minimum memory.
    pub(crate) const LEAST: Self = Self { max_labels: LARGE_DEGREE, ahead: 1 };

    /// Returns the roomiest settings that need at most `memory`, or otherwise the smallest ones, and their memory.
    pub(crate) fn within(memory: u64, needed: impl Fn(Self) -> u64) -> (Self, u64) {
        let mut fit = Self::ROOMY;
        loop {
            let bytes = needed(fit);
            let is_least = fit.ahead == 1 && fit.max_labels <= LARGE_DEGREE;
            if bytes <= memory || is_least {
                return (fit, bytes);
            }
            fit = match fit.ahead {
                1 => Self { max_labels: fit.max_labels / 2, ..fit },
                _ => Self { ahead: 1, ..fit },
            };
        }
    }
}

/// Returns the part of `rest`, the memory beyond a level's needs, for its decoded blocks until it is contracted: the
/// remainder serves to arrange its nodes by groups.
pub(crate) fn roomy(rest: u64) -> u64 {
    rest / 8 * 7
}

/// Size of a graph, as far as memory depends on it: exact, or estimated before the graph exists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) nodes: u64,
    pub(crate) arcs: u64,
    pub(crate) max_degree: u64,
    /// Bytes of the largest block in memory.
    pub(crate) block_bytes: u64,
    /// Maximum number of nodes of a block together with their neighbors.
    pub(crate) block_places: u64,
    pub(crate) is_weighted: bool,
    pub(crate) is_directed: bool,
    pub(crate) has_kinds: bool,
    /// Whether the graph exists. Until then its degrees are a guess, and what takes less than a byte per node counts as a
    /// part of the fixed memory.
    pub(crate) is_known: bool,
}

impl Shape {
    /// Returns the size of a graph.
    pub(crate) fn of(graph: &Graph) -> Self {
        let (nodes, blocks) = (graph.node_count(), graph.blocks());
        let block = blocks.iter().map(|entry| entry.bytes.min(BLOCK_ARCS * 16)).max();
        let places = blocks.iter().map(|block| {
            let own = u64::from(block.node_count);
            own + block.arc_count.min(nodes - own)
        });
        Self {
            nodes,
            arcs: graph.arc_count(),
            max_degree: graph.max_degree().min(nodes),
            block_bytes: block.unwrap_or(0) + 8 * BLOCK_NODES.min(nodes),
            block_places: places.max().unwrap_or(0),
            is_weighted: graph.is_weighted(),
            is_directed: graph.is_directed(),
            has_kinds: graph.has_kinds(),
            is_known: true,
        }
    }

    /// Returns the likely size of a graph that does not exist yet.
    pub(crate) fn expected(graph: &GraphSize) -> Self {
        let (nodes, arcs) = (graph.node_count.max(1), graph.arc_count);
        // Most graphs have nodes of many times the mean degree.
        let of_block = block_nodes(nodes).min(nodes);
        let share = of_block as f64 / nodes as f64;
        let block = (graph.bytes as f64 * share) as u64;
        let degree = (arcs / nodes).saturating_mul(EXPECTED_HUB);
        let hub_bytes = (graph.hub_arcs * 5).min(graph.bytes).min(BLOCK_ARCS * 16);
        Self {
            max_degree: degree.max(graph.hub_arcs).clamp(1, nodes),
            block_bytes: block.min(BLOCK_ARCS * 5).max(hub_bytes) + 8 * of_block,
            is_weighted: graph.is_weighted,
            ..Self::smallest(graph)
        }
    }

    /// Returns lower bounds for every graph of at least this size.
    pub(crate) fn smallest(graph: &GraphSize) -> Self {
        let nodes = graph.node_count.max(1);
        Self {
            nodes,
            arcs: graph.arc_count,
            max_degree: graph.hub_arcs.clamp(1, nodes),
            block_bytes: 0,
            // A node with more arcs than a block may have is a block of its own.
            block_places: nodes.min(BLOCK_NODES + BLOCK_ARCS.max(graph.hub_arcs)),
            is_weighted: false,
            is_directed: graph.is_directed,
            has_kinds: graph.has_kinds,
            is_known: false,
        }
    }

    /// Returns upper bounds for the undirected graph of flow of a directed graph: an edge for each arc.
    fn network(self) -> Self {
        Self { arcs: 2 * self.arcs, ..self }.above()
    }

    /// Returns upper bounds for any level above: it has fewer nodes and arcs, but weights and larger degrees.
    fn above(self) -> Self {
        let nodes = BLOCK_NODES.min(self.nodes);
        // A gap, a weight, and a share of the header of each group of arcs.
        let arc_bits = u64::from(64 - self.nodes.leading_zeros()) + 32 + 1;
        Self {
            max_degree: self.nodes.min(self.arcs),
            is_weighted: true,
            block_bytes: self.arcs.min(BLOCK_ARCS) * arc_bits / 8 + nodes * NODE_BYTES,
            ..self
        }
    }

    /// Returns the bytes of tables, decoded arcs and plans in sweeps and the closing scan, with at most `max_labels` in a
    /// table for large degrees.
    fn sweep_bytes(&self, threads: u64, max_labels: u64) -> u64 {
        let max_nodes = BLOCK_NODES.min(self.nodes);
        let (weighted, degree) = (self.is_weighted, self.max_degree);
        let workshop =
            SweepBuffers::<NoFlow>::bytes(weighted, degree, max_labels, max_nodes, threads);
        let segment = self.max_degree.min(SEGMENT_ARCS as u64).max(1024);
        // Arcs are decoded into buffers of a power of two.
        let decoded = threads * (2 * 8 * 2 * segment + Closing::bytes(segment));
        workshop + decoded + max_nodes * size_of::<NodeSums>() as u64
    }

    /// Returns the bytes of sorter, writer, and a level in memory; a network of communities, which is merged when no
    /// contraction runs, takes no more.
    fn contraction_bytes(&self) -> u64 {
        let most = ClusterMemory::SORT_BYTES + GRAPH_WRITER_BYTES + SMALL_LEVEL_BYTES;
        most.min(MIB + self.arcs * CONTRACTED_ARC_BYTES)
    }
}

impl ClusterMemory {
    /// Returns the working memory of scans of a graph.
    pub fn of_scans(graph: &Graph, threads: usize) -> Self {
        Self::new(&Shape::of(graph), None, threads, Fit::ROOMY)
    }

    /// Returns the memory that is likely for a graph that does not exist yet; without a method, that of scans.
    pub fn expected(graph: &GraphSize, method: Option<Method>, threads: usize) -> Self {
        Self::new(&Shape::expected(graph), method, threads, Fit::ROOMY)
    }

    /// Returns the minimum memory for any graph of at least this size; without a method, that of scans.
    pub fn at_least(graph: &GraphSize, method: Option<Method>, threads: usize) -> Self {
        Self::new(&Shape::smallest(graph), method, threads, Fit::LEAST)
    }

    /// Returns the memory for a graph and, if the method is one with levels, for any level above it; without a method,
    /// the working memory of scans.
    pub(crate) fn new(shape: &Shape, method: Option<Method>, threads: usize, fit: Fit) -> Self {
        let threads = threads as u64;
        let has_levels = method.is_some_and(Method::is_multilevel);
        let node_bytes = method.map_or(0, |method| Self::node_bytes_of(shape, method));
        let scratch_bytes = shape.sweep_bytes(threads, fit.max_labels);
        let ahead = fit.ahead as u64 + 2;
        if !has_levels {
            return Self { node_bytes, scratch_bytes, block_bytes: shape.block_bytes * ahead };
        }
        // A directed graph is swept as its graph of flow.
        let swept = if shape.is_directed { shape.network() } else { *shape };
        let above = swept.above();
        let of_above = above.sweep_bytes(threads, LARGE_DEGREE);
        let sweeps = of_above.max(swept.sweep_bytes(threads, fit.max_labels));
        Self {
            node_bytes,
            scratch_bytes: scratch_bytes.max(swept.contraction_bytes()).max(sweeps),
            block_bytes: (shape.block_bytes.max(swept.block_bytes) * ahead)
                .max(3 * above.block_bytes),
        }
    }

    /// Returns the maximum memory that grows with the number of nodes.
    pub(crate) fn node_bytes_of(shape: &Shape, method: Method) -> u64 {
        let (spec, nodes) = (method.spec(), shape.nodes);
        let of_node = spec.node_bytes + if shape.is_directed { spec.directed_bytes } else { 0 };
        let sets = if shape.is_known { nodes.div_ceil(4) } else { 0 };
        nodes * of_node + sets
    }

    /// Minimum memory of a contraction's sorter.
    pub(crate) const SORT_BYTES: u64 = SORT_BYTES_MIN;

    /// Returns all memory.
    pub fn total_bytes(&self) -> u64 {
        self.node_bytes + self.fixed_bytes()
    }

    /// Returns the memory that does not grow with the nodes.
    pub(crate) fn fixed_bytes(&self) -> u64 {
        self.scratch_bytes + self.block_bytes
    }
}
