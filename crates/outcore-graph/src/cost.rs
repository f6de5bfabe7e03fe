//! Predicted size of a graph, and the cost of sorting its arcs and writing it.

use super::codec::GROUP;
use super::size::InputSize;
use super::{ArcRecord, BLOCK_ARCS, block_nodes};
use outcore_io::budget::Limits;
use outcore_io::units::MIB;
use outcore_io::{Tuning, WRITER_BYTES};
use outcore_sort::SORT_BYTES_MIN;

/// Memory of an arc in the sort.
pub const ARC_BYTES: u64 = size_of::<ArcRecord>() as u64;
/// Memory of the graph writer: one block of arcs being filled, two in flight to the disk.
pub const GRAPH_WRITER_BYTES: u64 = 40 * MIB;

/// Nanoseconds of one core to merge the arcs of an edge into the graph, and the additional time per node.
const MERGE_EDGE: f64 = 95.0;
const MERGE_NODE: f64 = 70.0;
/// Nanoseconds of one core to write an arc of the graph that edges are added to.
const MERGE_OLD_ARC: f64 = 11.0;

/// Maximum bits of a weight with which a block has few enough different ones to list, sums of repeated edges included.
const LISTED_BITS: f64 = 11.0;

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
    /// Whether the weights of a block are likely few different values.
    pub lists_weights: bool,
    /// Whether an arc may lack its opposite.
    pub is_directed: bool,
}

impl GraphSize {
    /// Predicts the graph of an input.
    pub fn of(input: &InputSize) -> Self {
        let Some(old) = input.append else { return Self::of_edges(input) };
        let node_count = input.node_count + old.node_count;
        let new = Self::of_edges(&InputSize { node_count, ..*input });
        Self {
            arc_count: new.arc_count + old.arc_count,
            bytes: new.bytes + old.arc_bytes,
            is_weighted: new.is_weighted || old.is_weighted,
            lists_weights: new.lists_weights && new.is_weighted,
            ..new
        }
    }

    fn of_edges(input: &InputSize) -> Self {
        let arc_count = arcs_of(input, input.distinct_edge_count.min(input.edge_count));
        let (nodes, arcs) = (input.node_count.max(1) as f64, arc_count as f64);
        let degree = (arcs / nodes).max(1.0);
        // The largest gap determines the width of its group; here the expected maximum of exponential gaps,
        // relative to their mean.
        let largest = degree.min(GROUP as f64).ln() + 0.58;
        let gap_bits = (nodes / (degree + 1.0)).max(1.0).log2() + largest.log2() + 2.1;
        let others = 1.0 - 1.0 / degree;
        let groups = (degree / GROUP as f64).max(1.0);
        // Nodes that occur together have neighboring indexes.
        let first = 1.0 + (nodes.log2() + 1.0) / 7.0 * (1.0 - 0.5 / degree);
        let lists = 0.1 * ((degree + 1.0).log2() + (3.0 * degree).log2()) + 0.75;
        let mut arc_bytes = others * gap_bits.max(1.5) / 8.0;
        let mut node_bytes = first + groups * others + lists;
        if input.is_weighted {
            arc_bytes += others * (input.weight_bits + sum_bits(input, degree)) / 8.0;
            node_bytes += groups * 2.8;
        }
        let with_arcs = nodes.min(arcs);
        Self {
            node_count: input.node_count,
            arc_count,
            bytes: (arcs * arc_bytes + with_arcs * node_bytes) as u64 + input.node_count / 2,
            // A node has every other one as a neighbor at most once.
            hub_arcs: input.hub_edge_count.min(input.node_count),
            is_weighted: input.is_weighted,
            lists_weights: input.weight_bits <= LISTED_BITS,
            is_directed: input.is_directed,
        }
    }

    /// Returns the smallest graph that is consistent with the sample of an input.
    pub fn at_least(input: &InputSize) -> Self {
        let (graph, nodes) = (Self::of(input), input.node_count_at_least);
        let hub_arcs = (graph.hub_arcs / 5 * 4).min(nodes);
        // The number of lines is an estimate, too.
        let edges = input.distinct_edge_count_at_least / 10 * 9;
        let arc_count = arcs_of(input, edges).min(graph.arc_count);
        Self { node_count: nodes, arc_count, hub_arcs, ..graph }
    }

    /// Returns the graph with a fifth more nodes than expected and no repeated edges, unless the numbers are
    /// certain.
    pub fn at_most(input: &InputSize) -> Self {
        let likely = input.node_count;
        let more = if input.node_count_at_least < likely { likely / 5 } else { 0 };
        let is_certain = input.distinct_edge_count_at_least >= input.distinct_edge_count;
        let edges = if is_certain { input.distinct_edge_count } else { input.edge_count };
        let node_count = likely + more;
        Self::of(&InputSize { distinct_edge_count: edges, node_count, ..*input })
    }

    /// Returns the memory of the writer: blocks being filled and encoded, and its file.
    pub fn writer_bytes(&self) -> u64 {
        let Self { node_count, arc_count, bytes, .. } = *self;
        let nodes = block_nodes(node_count).min(node_count.max(1));
        let arcs = u128::from(arc_count) * u128::from(nodes) / u128::from(node_count.max(1));
        let arcs = arcs.min(BLOCK_ARCS.into()) as u64;
        (24 * arcs + bytes.min(WRITER_BYTES)).min(GRAPH_WRITER_BYTES)
    }
}

impl InputSize {
    /// Returns the number of arc records in the sort.
    pub fn record_count(&self) -> u64 {
        arcs_of(self, self.edge_count)
    }

    /// Returns the bytes of `run_count` runs: source steps, full targets, and weights, in groups.
    pub fn run_bytes(&self, run_count: u64) -> u64 {
        let (nodes, records) = (self.node_count.max(2), self.record_count() as f64);
        let of_run = (records / run_count.max(1) as f64).max(1.0);
        let source_bits = (2.0 + 5.0 * nodes as f64 / of_run).log2();
        let target_bits = f64::from(64 - (nodes - 1).leading_zeros());
        let weight_bits = if self.is_weighted { self.weight_bits + 0.2 } else { 0.0 };
        (records * ((source_bits + target_bits + weight_bits) / 8.0 + 0.07)) as u64
    }

    /// Returns the bytes of the file of names.
    pub fn names_bytes(&self) -> u64 {
        let new = (self.node_count as f64 * (self.name_bytes + 1.1)) as u64;
        new + self.append.map_or(0, |old| old.names_bytes)
    }

    /// Returns the time of one core to merge all arcs into the graph; each arc is written `written` times on
    /// the way.
    pub fn merge_nanoseconds(&self, written: f64) -> f64 {
        let edges = self.edge_count as f64 * MERGE_EDGE;
        let old = self.append.map_or(0.0, |old| old.arc_count as f64 * MERGE_OLD_ARC);
        edges * written.max(1.0) + self.node_count as f64 * MERGE_NODE + old
    }
}

fn arcs_of(input: &InputSize, edges: u64) -> u64 {
    if input.is_directed { edges } else { edges.saturating_mul(2) }
}

/// Returns the bits by which sums of repeated edges lengthen the weights of a node: a sum of fractions may
/// not be representable in so few digits, and then all weights of its group are stored in full.
fn sum_bits(input: &InputSize, degree: f64) -> f64 {
    let edges = input.edge_count.max(1) as f64;
    let repeated = 1.0 - input.distinct_edge_count.min(input.edge_count) as f64 / edges;
    let sums = repeated * degree;
    let in_full = if input.sums_fractions { 1.0 - 0.82_f64.powf(sums) } else { 0.0 };
    sums.min(1.0) + 11.0 * in_full
}

/// Returns the memory of the sort while runs are merged into the graph, which is written with `tuning`.
pub fn merge_bytes(limits: &Limits, tuning: &Tuning) -> u64 {
    limits.memory_bytes - GRAPH_WRITER_BYTES - tuning.write.excess_bytes()
}

/// Like [`merge_bytes`], with `held_bytes` still held by the read stage; `None` if too little
/// remains.
pub fn merge_bytes_beside(limits: &Limits, held_bytes: u64, tuning: &Tuning) -> Option<u64> {
    merge_bytes(limits, tuning).checked_sub(held_bytes).filter(|&rest| rest >= SORT_BYTES_MIN)
}
