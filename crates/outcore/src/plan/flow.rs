//! Forecast of the flow of directed edges: visit rates, and the graph that a method with several levels sweeps.
//!
//! That graph has both directions of each arc, unless an arc has its opposite, so the forecast is an upper bound of its
//! size. The flow of an arc takes all 32 bits of a weight; for modularity, weights stay those of the input.

use super::forecast::{Forecast, Part};
use crate::cluster::{ClusterOptions, MethodOption};
use crate::graph::GraphSize;

/// Mean bits of the weight of an arc of the graph of flow, as weights are stored in groups.
const FLOW_BITS: f64 = 26.0;
/// Nanoseconds of one core to scan an arc for visit rates.
const RATE_ARC: f64 = 5.0;
/// Nanoseconds of one core to write an arc into the graph of flow.
const NETWORK_ARC: f64 = 60.0;
/// Bytes a node of visit rates, which wait on disk.
const RATE_BYTES: f64 = 16.0;

impl Forecast<'_> {
    /// Returns whether the method sweeps another graph than that of the input.
    pub(super) fn sweeps_flow(&self, options: &ClusterOptions) -> bool {
        self.graph.is_directed && options.method.is_multilevel()
    }

    /// Returns the graph that the method sweeps.
    pub(super) fn swept_graph(&self, options: &ClusterOptions) -> GraphSize {
        if !self.sweeps_flow(options) {
            return self.graph;
        }
        let (nodes, arcs) = (self.graph.node_count.max(1), self.graph.arc_count.saturating_mul(2));
        let degree = arcs as f64 / nodes as f64;
        let gap_bits = (nodes as f64 / (degree + 1.0)).max(1.0).log2() + 3.0;
        let weight_bits = match options.method.takes(MethodOption::Teleportation) {
            true => FLOW_BITS,
            false => self.input.weight_bits + 2.0,
        };
        let bytes = arcs as f64 * (gap_bits + weight_bits) / 8.0 + 4.0 * nodes as f64;
        GraphSize {
            arc_count: arcs,
            bytes: bytes as u64,
            hub_arcs: self.graph.hub_arcs.saturating_mul(2).min(nodes),
            is_weighted: true,
            is_directed: false,
            ..self.graph
        }
    }

    /// Returns the cost of visit rates and of the graph of flow, with `spare` bytes beyond the minimum memory.
    pub(super) fn flow(&self, options: &ClusterOptions, spare: u64) -> Part {
        if !self.sweeps_flow(options) {
            return Part::default();
        }
        let (graph, swept) = (&self.graph, self.swept_graph(options));
        let (nodes, arcs) = (graph.node_count as f64, graph.arc_count as f64);
        let sorted = self.sorted(graph.arc_count, spare / 2);
        let scans = options.flow_scans(true) as f64;
        let cached = (spare as f64 / (graph.bytes + 8 * graph.node_count).max(1) as f64).min(1.0);
        let has_rates = options.method.takes(MethodOption::Teleportation);
        let rates = if has_rates { RATE_BYTES * nodes } else { 0.0 };
        let again = (scans - 1.0) * (1.0 - cached);
        Part {
            read_bytes: graph.bytes as f64 * (1.0 + again) + sorted.read_bytes + rates,
            write_bytes: sorted.write_bytes + rates + swept.bytes as f64,
            disk_bytes: sorted.disk_bytes + rates + swept.bytes as f64,
            memory_bytes: 0,
            nanoseconds: arcs * (scans * RATE_ARC + NETWORK_ARC),
        }
    }
}
