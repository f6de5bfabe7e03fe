//! How large a graph will be, and what it takes to sort its arcs and write it.

use super::codec::GROUP;
use super::{ArcRecord, BLOCK_ARCS, block_nodes};
use crate::budget::Limits;
use crate::input::InputSize;
use crate::io::{Tuning, WRITER_BYTES};
use crate::sort::SORT_BYTES_MIN;
use crate::units::MIB;

/// Memory of an arc on its way through the sort.
pub const ARC_BYTES: u64 = size_of::<ArcRecord>() as u64;
/// Memory of the graph writer: one block of arcs being filled, two on their way to the disk.
pub const GRAPH_WRITER_BYTES: u64 = 40 * MIB;

/// Nanoseconds of one core to merge the arcs of an edge into the graph, and what a node adds.
const MERGE_EDGE: f64 = 95.0;
const MERGE_NODE: f64 = 70.0;

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

impl GraphSize {
    /// The graph that an input will become.
    pub fn of(input: &InputSize) -> Self {
        let arc_count = arcs_of(input, input.distinct_edge_count.min(input.edge_count));
        let (nodes, arcs) = (input.node_count.max(1) as f64, arc_count as f64);
        let degree = (arcs / nodes).max(1.0);
        // Of the gaps of a group the largest decides about all: of exponential ones, by their mean.
        let largest = degree.min(GROUP as f64).ln() + 0.58;
        let gap_bits = (nodes / (degree + 1.0)).max(1.0).log2() + largest.log2() + 2.1;
        let others = 1.0 - 1.0 / degree;
        let groups = (degree / GROUP as f64).max(1.0);
        // Nodes that are met together have indexes side by side.
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
            // A node has every other one beside it at most once.
            hub_arcs: input.hub_edge_count.min(input.node_count),
            is_weighted: input.is_weighted,
            is_directed: input.is_directed,
        }
    }

    /// The smallest graph that the sample of an input leaves open.
    pub(crate) fn at_least(input: &InputSize) -> Self {
        let (graph, nodes) = (Self::of(input), input.node_count_at_least);
        let hub_arcs = (graph.hub_arcs / 5 * 4).min(nodes);
        // The number of lines is an estimate, too.
        let edges = input.distinct_edge_count_at_least / 10 * 9;
        let arc_count = arcs_of(input, edges).min(graph.arc_count);
        Self { node_count: nodes, arc_count, hub_arcs, ..graph }
    }

    /// The graph with a fifth more nodes than expected and no edge repeated, unless the numbers are certain.
    pub(crate) fn at_most(input: &InputSize) -> Self {
        let likely = input.node_count;
        let more = if input.node_count_at_least < likely { likely / 5 } else { 0 };
        let is_certain = input.distinct_edge_count_at_least >= input.distinct_edge_count;
        let edges = if is_certain { input.distinct_edge_count } else { input.edge_count };
        let node_count = likely + more;
        Self::of(&InputSize { distinct_edge_count: edges, node_count, ..*input })
    }

    /// Memory of the writer: blocks being filled and encoded, and its file.
    pub(crate) fn writer_bytes(&self) -> u64 {
        let Self { node_count, arc_count, bytes, .. } = *self;
        let nodes = block_nodes(node_count).min(node_count.max(1));
        let arcs = u128::from(arc_count) * u128::from(nodes) / u128::from(node_count.max(1));
        let arcs = arcs.min(BLOCK_ARCS.into()) as u64;
        (24 * arcs + bytes.min(WRITER_BYTES)).min(GRAPH_WRITER_BYTES)
    }
}

impl InputSize {
    /// Records of arcs that go into the sort.
    pub(crate) fn record_count(&self) -> u64 {
        arcs_of(self, self.edge_count)
    }

    /// Bytes of so many runs: steps of sources, targets in full, weights, in groups.
    pub(crate) fn run_bytes(&self, run_count: u64) -> u64 {
        let (nodes, records) = (self.node_count.max(2), self.record_count() as f64);
        let of_run = (records / run_count.max(1) as f64).max(1.0);
        let source_bits = (2.0 + 5.0 * nodes as f64 / of_run).log2();
        let target_bits = f64::from(64 - (nodes - 1).leading_zeros());
        let weight_bits = if self.is_weighted { self.weight_bits + 0.2 } else { 0.0 };
        (records * ((source_bits + target_bits + weight_bits) / 8.0 + 0.07)) as u64
    }

    /// Bytes of the file of names.
    pub(crate) fn names_bytes(&self) -> u64 {
        (self.node_count as f64 * (self.name_bytes + 1.1)) as u64
    }

    /// Time of one core to merge all arcs into the graph, each of which is written so many times on the way.
    pub(crate) fn merge_nanoseconds(&self, written: f64) -> f64 {
        let edges = self.edge_count as f64 * MERGE_EDGE;
        edges * written.max(1.0) + self.node_count as f64 * MERGE_NODE
    }
}

fn arcs_of(input: &InputSize, edges: u64) -> u64 {
    if input.is_directed { edges } else { edges.saturating_mul(2) }
}

/// Bits by which sums of repeated edges make the weights of a node longer: a sum of fractions may
/// not be what is written in so few digits, and then all weights of its group are stored in full.
fn sum_bits(input: &InputSize, degree: f64) -> f64 {
    let edges = input.edge_count.max(1) as f64;
    let repeated = 1.0 - input.distinct_edge_count.min(input.edge_count) as f64 / edges;
    let sums = repeated * degree;
    let in_full = if input.sums_fractions { 1.0 - 0.82_f64.powf(sums) } else { 0.0 };
    sums.min(1.0) + 11.0 * in_full
}

impl Limits {
    /// What the sort may take while runs are merged into the graph, which is written with `tuning`.
    pub fn merge_bytes(&self, tuning: &Tuning) -> u64 {
        self.memory_bytes - GRAPH_WRITER_BYTES - tuning.write.excess_bytes()
    }

    /// The same beside `held_bytes` of what the read stage leaves; `None` if that is too little.
    pub fn merge_bytes_beside(&self, held_bytes: u64, tuning: &Tuning) -> Option<u64> {
        self.merge_bytes(tuning).checked_sub(held_bytes).filter(|&rest| rest >= SORT_BYTES_MIN)
    }
}
