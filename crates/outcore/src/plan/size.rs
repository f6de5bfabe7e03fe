//! Size of an input, as estimated from a sample, and of the runs, the names and the graph of its edges.

use crate::graph::{GROUP, GraphSize, KindBits};
use crate::input::EdgeOrder;

/// Size of an input, as estimated from a sample.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct InputSize {
    /// Bytes of text, decompressed.
    pub text_bytes: u64,
    /// Bytes of the files.
    pub file_bytes: u64,
    /// Bytes of the files that were read for this estimate.
    pub sample_bytes: u64,
    /// Lines with an edge.
    pub edge_count: u64,
    /// Edges of the graph: repeated edges count once, loops do not count.
    pub distinct_edge_count: u64,
    /// Reliable lower bound on `distinct_edge_count`.
    pub distinct_edge_count_at_least: u64,
    /// Likely number of nodes.
    pub node_count: u64,
    /// Reliable lower bound on the number of nodes.
    pub node_count_at_least: u64,
    /// Mean length of a name.
    pub name_bytes: f64,
    /// Lower bound of the edges at the node with the most, if one has many; otherwise 0.
    pub hub_edge_count: u64,
    /// Whether edges keep their direction.
    pub is_directed: bool,
    /// Whether nodes are of two kinds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_kinds: bool,
    /// Whether lines carry weights.
    pub is_weighted: bool,
    /// Mean bits per weight, as the graph stores weights in groups.
    pub weight_bits: f64,
    /// Whether fractional weights of repeated edges are summed.
    pub sums_fractions: bool,
    /// Whether the self scores of nodes are kept until the graph is written.
    pub has_self_scores: bool,
    /// Order of the lines, as far as it is known.
    #[serde(skip)]
    pub order: EdgeOrder,
    /// Order with which the job takes the least disk space.
    #[serde(skip)]
    pub best: BestOrder,
    /// Graph that the edges are added to, if any. All other sizes are those of the new edges alone, and none of their
    /// nodes is assumed to be in the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<AppendSize>,
}

/// Best order that agrees with what is known of the lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestOrder {
    /// The order.
    pub order: EdgeOrder,
    /// Number of distinct edges.
    pub distinct_edge_count: u64,
}

/// Size of a graph that edges are added to.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct AppendSize {
    /// Number of nodes.
    pub node_count: u64,
    /// Number of edges between different nodes.
    pub edge_count: u64,
    /// Number of arcs.
    pub arc_count: u64,
    /// Bytes of its arcs.
    pub arc_bytes: u64,
    /// Bytes of its names.
    pub names_bytes: u64,
    /// Whether its arcs have weights.
    pub is_weighted: bool,
    /// Memory for its blocks while it is read.
    pub block_bytes: u64,
    /// Smallest limit for which there is memory to read it.
    pub memory_bytes_min: u64,
}

impl InputSize {
    /// Returns the number of nodes of the graph that edges are added to; 0 if there is none.
    pub(crate) fn old_nodes(&self) -> u64 {
        self.append.map_or(0, |old| old.node_count)
    }

    /// Returns the input in its best order.
    pub(super) fn at_best(&self) -> Self {
        let BestOrder { order, distinct_edge_count } = self.best;
        Self { order, distinct_edge_count, ..*self }
    }

    /// Predicts the graph.
    pub(super) fn graph(&self) -> GraphSize {
        let Some(old) = self.append else { return self.new_graph() };
        let node_count = self.node_count + old.node_count;
        let new = Self { node_count, ..*self }.new_graph();
        GraphSize {
            arc_count: new.arc_count + old.arc_count,
            bytes: new.bytes + old.arc_bytes,
            is_weighted: new.is_weighted || old.is_weighted,
            ..new
        }
    }

    /// Returns the smallest graph that is consistent with the sample.
    pub(super) fn smallest_graph(&self) -> GraphSize {
        let (graph, nodes) = (self.graph(), self.node_count_at_least);
        let hub_arcs = (graph.hub_arcs / 5 * 4).min(nodes);
        // The number of lines is an estimate, too.
        let edges = self.distinct_edge_count_at_least / 10 * 9;
        let arc_count = self.arcs_of(edges).min(graph.arc_count);
        GraphSize { node_count: nodes, arc_count, hub_arcs, ..graph }
    }

    /// Returns the graph with a fifth more nodes than expected and no repeated edges, unless the numbers are certain.
    pub(super) fn largest_graph(&self) -> GraphSize {
        let likely = self.node_count;
        let more = if self.node_count_at_least < likely { likely / 5 } else { 0 };
        let is_certain = self.distinct_edge_count_at_least >= self.distinct_edge_count;
        let edges = if is_certain { self.distinct_edge_count } else { self.edge_count };
        Self { distinct_edge_count: edges, node_count: likely + more, ..*self }.graph()
    }

    /// Predicts the graph of the new edges alone.
    fn new_graph(&self) -> GraphSize {
        let arc_count = self.arcs_of(self.distinct_edge_count.min(self.edge_count));
        let (nodes, arcs) = (self.node_count.max(1) as f64, arc_count as f64);
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
        let random = others * gap_bits.max(1.5) / 8.0 + (first + groups * others) / degree;
        let near = self.order.arc_bits / 8.0;
        let mut arc_bytes = random.min(near + self.order.back_share * (random - near));
        let mut node_bytes = lists;
        if self.is_weighted {
            arc_bytes += others * (self.weight_bits + self.sum_bits(degree)) / 8.0;
            node_bytes += groups * 2.8;
        }
        let with_arcs = nodes.min(arcs);
        GraphSize {
            node_count: self.node_count,
            arc_count,
            bytes: (arcs * arc_bytes + with_arcs * node_bytes) as u64 + self.node_count / 2,
            // A node has every other one as a neighbor at most once.
            hub_arcs: self.hub_edge_count.min(self.node_count),
            is_weighted: self.is_weighted,
            is_directed: self.is_directed,
            has_kinds: self.has_kinds,
        }
    }

    /// Returns the number of records in the sort.
    pub(super) fn record_count(&self) -> u64 {
        self.edge_count
    }

    /// Returns the bytes of `run_count` runs: source steps, gaps between targets, and weights, in groups.
    pub(super) fn run_bytes(&self, run_count: u64) -> u64 {
        let order = &self.order;
        let (nodes, records) = (self.node_count.max(2), self.record_count() as f64);
        let of_run = (records / run_count.max(1) as f64 * (1.0 - order.near_share)).max(1.0);
        let source_bits = (2.0 + 5.0 * nodes as f64 / of_run).log2();
        // Of the nodes of a row in one run, only the first is stored in full.
        let in_row = (of_run / nodes as f64).max(order.far_row);
        let gap_bits = (1.0 - 1.0 / in_row) * in_row.log2();
        let target_bits = f64::from(64 - (nodes - 1).leading_zeros()) - gap_bits;
        let far_bits = source_bits + target_bits;
        let near_bits = order.near_bits.min(far_bits);
        let weight_bits = if self.is_weighted { self.weight_bits + 0.2 } else { 0.0 };
        let bits = far_bits + order.near_share * (near_bits - far_bits) + weight_bits;
        (records * (bits / 8.0 + 0.07)) as u64
    }

    /// Returns the bytes of the file of names, and of that of kinds.
    pub(super) fn names_bytes(&self) -> u64 {
        let new = (self.node_count as f64 * (self.name_bytes + 1.1)) as u64;
        let kinds = match self.has_kinds {
            true => KindBits::bytes_of(self.node_count + self.old_nodes()),
            false => 0,
        };
        new + kinds + self.append.map_or(0, |old| old.names_bytes)
    }

    fn arcs_of(&self, edges: u64) -> u64 {
        if self.is_directed { edges } else { edges.saturating_mul(2) }
    }

    /// Returns the bits by which sums of repeated edges lengthen the weights of a node: a sum of fractions may
    /// not be representable in so few digits, and then all weights of its group are stored in full.
    fn sum_bits(&self, degree: f64) -> f64 {
        let edges = self.edge_count.max(1) as f64;
        let repeated = 1.0 - self.distinct_edge_count.min(self.edge_count) as f64 / edges;
        let sums = repeated * degree;
        let in_full = if self.sums_fractions { 1.0 - 0.82_f64.powf(sums) } else { 0.0 };
        sums.min(1.0) + 11.0 * in_full
    }
}
