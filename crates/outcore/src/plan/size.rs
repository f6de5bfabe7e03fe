//! The size of an input, and what follows from it for the files that it becomes.

use super::{CHUNK_BYTES, GraphSize, InputSize, Limits, SEGMENT_BYTES, SEGMENTS};

/// Bytes of a parsed line beside its text: two references to names, their indexes, a weight.
const LINE_BYTES: f64 = 60.0;
/// Arcs that are packed with a common width.
const GROUP_ARCS: f64 = 128.0;

impl InputSize {
    /// Records of arcs that go into the sort.
    pub fn record_count(&self) -> u64 {
        if self.is_directed { self.edge_count } else { self.edge_count.saturating_mul(2) }
    }

    /// Arcs of the graph.
    pub fn arc_count(&self) -> u64 {
        self.arcs_of(self.distinct_edge_count.min(self.edge_count))
    }

    fn arcs_of(&self, edges: u64) -> u64 {
        if self.is_directed { edges } else { edges.saturating_mul(2) }
    }

    /// The graph that will be built.
    pub fn graph(&self) -> GraphSize {
        let (nodes, arcs) = (self.node_count.max(1) as f64, self.arc_count() as f64);
        let degree = (arcs / nodes).max(1.0);
        // Of the gaps of a group the largest decides about all: of exponential ones, by their mean.
        let largest = degree.min(GROUP_ARCS).ln() + 0.58;
        let gap_bits = (nodes / (degree + 1.0)).max(1.0).log2() + largest.log2() + 2.1;
        let others = 1.0 - 1.0 / degree;
        let groups = (degree / GROUP_ARCS).max(1.0);
        // Nodes that are met together have indexes side by side.
        let first = 1.0 + (nodes.log2() + 1.0) / 7.0 * (1.0 - 0.5 / degree);
        let lists = 0.1 * ((degree + 1.0).log2() + (3.0 * degree).log2()) + 0.75;
        let mut arc_bytes = others * gap_bits.max(1.5) / 8.0;
        let mut node_bytes = first + groups * others + lists;
        if self.is_weighted {
            arc_bytes += others * (self.weight_bits + self.sum_bits(degree)) / 8.0;
            node_bytes += groups * 2.8;
        }
        let with_arcs = nodes.min(arcs);
        GraphSize {
            node_count: self.node_count,
            arc_count: self.arc_count(),
            bytes: (arcs * arc_bytes + with_arcs * node_bytes) as u64 + self.node_count / 2,
            // A node has every other one beside it at most once.
            hub_arcs: self.hub_edge_count.min(self.node_count),
            is_weighted: self.is_weighted,
            is_directed: self.is_directed,
        }
    }

    /// Returns the smallest graph that the sample leaves open.
    pub(crate) fn graph_at_least(&self) -> GraphSize {
        let (graph, nodes) = (self.graph(), self.node_count_at_least);
        let hub_arcs = (graph.hub_arcs / 5 * 4).min(nodes);
        // The number of lines is an estimate, too.
        let edges = self.distinct_edge_count_at_least / 10 * 9;
        let arc_count = self.arcs_of(edges).min(graph.arc_count);
        GraphSize { node_count: nodes, arc_count, hub_arcs, ..graph }
    }

    /// Returns the graph with a fifth more nodes than expected and no edge repeated, unless the numbers are
    /// certain.
    pub(crate) fn graph_at_most(&self) -> GraphSize {
        let likely = self.node_count;
        let more = if self.node_count_at_least < likely { likely / 5 } else { 0 };
        let is_certain = self.distinct_edge_count_at_least >= self.distinct_edge_count;
        let edges = if is_certain { self.distinct_edge_count } else { self.edge_count };
        Self { distinct_edge_count: edges, node_count: likely + more, ..*self }.graph()
    }

    /// Bits by which sums of repeated edges make the weights of a node longer: a sum of fractions may
    /// not be what is written in so few digits, and then all weights of its group are stored in full.
    fn sum_bits(&self, degree: f64) -> f64 {
        let edges = self.edge_count.max(1) as f64;
        let repeated = 1.0 - self.distinct_edge_count.min(self.edge_count) as f64 / edges;
        let sums = repeated * degree;
        let in_full = if self.sums_fractions { 1.0 - 0.82_f64.powf(sums) } else { 0.0 };
        sums.min(1.0) + 11.0 * in_full
    }

    /// Bytes of so many runs: steps of sources, targets in full, weights, in groups.
    pub(super) fn run_bytes(&self, run_count: u64) -> u64 {
        let (nodes, records) = (self.node_count.max(2), self.record_count() as f64);
        let of_run = (records / run_count.max(1) as f64).max(1.0);
        let source_bits = (2.0 + 5.0 * nodes as f64 / of_run).log2();
        let target_bits = f64::from(64 - (nodes - 1).leading_zeros());
        let weight_bits = if self.is_weighted { self.weight_bits + 0.2 } else { 0.0 };
        (records * ((source_bits + target_bits + weight_bits) / 8.0 + 0.07)) as u64
    }

    /// Bytes of the file of names.
    pub(super) fn names_bytes(&self) -> u64 {
        (self.node_count as f64 * (self.name_bytes + 1.1)) as u64
    }

    /// Bytes of a batch of text while its names are numbered.
    pub(super) fn batch_bytes(&self, limits: &Limits) -> u64 {
        let chunks = (limits.batch_chunks() as u64 * CHUNK_BYTES).min(self.text_bytes) as f64;
        let line = self.text_bytes as f64 / self.edge_count.max(1) as f64;
        ((chunks * (2.0 + LINE_BYTES / line.max(4.0))) as u64).min(limits.batch_memory_bytes())
    }
}

/// Most room that runs and graph take while one is merged into the other: a segment of a run is
/// deleted only when all of it has been merged.
pub(super) fn merge_disk_bytes(run_bytes: u64, run_count: u64, arcs_bytes: u64) -> u64 {
    let behind = (run_count * SEGMENT_BYTES).max(run_bytes / SEGMENTS).min(run_bytes);
    let share = behind as f64 / run_bytes.max(1) as f64;
    (run_bytes + (share * arcs_bytes as f64) as u64).max(arcs_bytes + behind)
}
