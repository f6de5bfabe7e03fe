//! Forecast of components without a graph: the forest of all edges, and what waits on disk if its nodes have no room in
//! memory (`cluster::forest`).

use super::InputSize;
use super::StagePlan;
use super::forecast::{ClusterForecast, Forecast};
use crate::cluster::{ClusterOptions, Forest, Ladder, NodeMemory};
use crate::graph::ARC_BYTES;
use crate::progress::Stage;
use crate::sort::SORT_BYTES_MIN;
use crate::units::MIB;

/// Nanoseconds of one core to find the component of a node at a threshold.
const JOINED_NODE: f64 = 60.0;
/// Nanoseconds of one core to join an edge of nodes beyond memory.
const DIVIDED_EDGE: f64 = 150.0;
/// Share of the memory left by the first nodes that the links of a range take.
const RANGE_SHARE: f64 = 0.6;

/// Size of the forest of an input.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForestSize {
    /// Bytes of the links of all nodes, and of those in memory while edges are read.
    bytes: u64,
    pub(super) held_bytes: u64,
    of_node: u64,
    /// Least memory to find the components, if links may wait on disk.
    least_bytes: Option<u64>,
    /// Edges that are sorted, as one of their nodes is not in memory.
    pub(super) sorted_count: u64,
}

impl ForestSize {
    pub(super) fn of(input: &InputSize, ladder: &Ladder, read_bytes: u64) -> Self {
        let of_node = ladder.bytes_a_node();
        let bytes = of_node * input.node_count;
        // Heights need all links in memory.
        let is_whole = *ladder == Ladder::Heights;
        let most = if is_whole { bytes } else { Forest::link_bytes(read_bytes, ladder) };
        let held_bytes = bytes.min(most);
        let share = held_bytes as f64 / bytes.max(1) as f64;
        let sorted_count = (input.edge_count as f64 * (1.0 - share * share)) as u64;
        let least_bytes = (!is_whole).then(|| Forest::least_bytes(input.node_count, ladder));
        Self { bytes, held_bytes, of_node, least_bytes, sorted_count }
    }

    fn is_divided(&self) -> bool {
        self.held_bytes < self.bytes
    }

    /// Returns the memory of nodes whose links may wait on disk, given that of nodes in memory.
    fn on_disk(&self, nodes: NodeMemory) -> NodeMemory {
        let Some(least) = self.least_bytes else { return nodes };
        // Even the smallest sort is a part of the least memory.
        let most = least - SORT_BYTES_MIN;
        NodeMemory {
            bytes: nodes.bytes.min(most),
            bytes_at_least: nodes.bytes_at_least.min(most),
            fixed_bytes: SORT_BYTES_MIN,
            fixed_bytes_at_least: SORT_BYTES_MIN,
            ..nodes
        }
    }

    /// Returns the memory that grows with the nodes, for each of them.
    pub(super) fn bytes_a_node(&self) -> f64 {
        if self.is_divided() { 0.0 } else { self.of_node as f64 }
    }

    /// Returns the memory of the links once they take all that they may.
    pub(super) fn full_bytes(&self) -> u64 {
        if self.is_divided() { self.held_bytes } else { 0 }
    }
}

impl Forecast<'_> {
    /// Returns the forecast of finding components at each threshold in the forest.
    pub(super) fn joined(
        &self,
        options: &ClusterOptions,
        nodes: NodeMemory,
        forest: ForestSize,
    ) -> ClusterForecast {
        let nodes = forest.on_disk(nodes);
        if forest.is_divided() {
            return self.divided(options, nodes, forest);
        }
        let (count, results) = (self.input.node_count, options.result_count());
        let is_one = results == 1 && !options.heights;
        // Several results go to disk: first a root for each node, then its label. Each thread numbers one result.
        let moved = if is_one { 0 } else { 8 * count * results };
        let at_once = results.min(self.limits.threads as u64);
        let numbered = if is_one { 0 } else { Forest::NUMBERED_BYTES * count * at_once };
        let row = StagePlan {
            stage: Stage::Cluster,
            pass_count: results,
            read_bytes: moved / 2,
            write_bytes: moved,
            memory_bytes: forest.bytes.max(nodes.bytes_in_memory).max(numbered) + MIB,
            disk_bytes: self.graph_bytes() + forest.bytes + moved,
            seconds: 0.0,
        };
        let nanoseconds = count as f64 * results as f64 * JOINED_NODE;
        ClusterForecast { row: self.row(row, nanoseconds), nodes, trial_count: 1 }
    }

    /// Returns the forecast if links are joined range by range (`cluster::forest::ranges`).
    fn divided(
        &self,
        options: &ClusterOptions,
        nodes: NodeMemory,
        forest: ForestSize,
    ) -> ClusterForecast {
        let (count, results) = (self.input.node_count as f64, options.result_count() as f64);
        let others = (forest.bytes - forest.held_bytes) as f64;
        let left = self.limits.memory_bytes.saturating_sub(forest.held_bytes) as f64;
        let ranges = (others / (RANGE_SHARE * left).max(1.0)).ceil().max(1.0);
        // An edge between lower nodes waits for one of the ranges below, which may pass it on.
        let waits = ranges.ln();
        let waiting = ARC_BYTES as f64 * forest.sorted_count as f64;
        // Roots, sizes and numbers of the nodes at a threshold.
        let labels = 4.0 * count;
        let windows = (labels / (self.limits.memory_bytes / 2) as f64).ceil();
        let links = forest.bytes as f64;
        let scanned = labels * ((ranges + 1.0) / 2.0 + 3.0 * windows);
        let waiting_bytes = if ranges > 1.0 { waiting } else { 0.0 };
        let found = labels * (results + 2.0);
        let row = StagePlan {
            stage: Stage::Cluster,
            pass_count: options.result_count(),
            read_bytes: self.run_bytes + (waits * waiting + results * (links + scanned)) as u64,
            write_bytes: (links + waits * waiting + results * (2.0 + windows) * labels) as u64,
            memory_bytes: self.limits.memory_bytes,
            disk_bytes: self.graph_bytes()
                + self.run_bytes
                + (links + f64::max(waiting_bytes, found)) as u64,
            seconds: 0.0,
        };
        let nanoseconds = count * results * (1.0 + windows) * JOINED_NODE
            + forest.sorted_count as f64 * (1.0 + waits) * DIVIDED_EDGE;
        ClusterForecast { row: self.row(row, nanoseconds), nodes, trial_count: 1 }
    }
}
