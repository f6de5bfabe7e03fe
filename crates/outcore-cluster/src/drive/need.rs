//! Memory that a clustering needs, by the procedure of its method.

use super::directed::flow_bytes;
use super::job::ScratchLimits;
use super::memory::{ClusterMemory, Fit};
use super::multilevel::StartCounts;
use super::{components, intervals, nested, propagate};
use crate::finish::cuts::CutMemory;
use crate::finish::cuts::separate::Separation;
use crate::kernel::holdings::{Drift, NodeFlow};
use crate::methods::options::ClusterOptions;
use crate::methods::table::{LevelObjective, LevelSpec, METHODS, MethodOption, Procedure};
use crate::objectives::map_equation::CodeLength;
use crate::objectives::map_equation::directed::DirectedCodeLength;
use crate::objectives::modularity::{Density, DriftDensity};
use crate::store::hierarchy::Grouping;
use outcore_graph::{Graph, GraphSize};
use outcore_io::units::MIB;

/// Memory for tables and encoded blocks of a clustering, per thread and for all threads together.
const THREAD_BYTES: u64 = 2 * MIB;
const ALL_THREADS_BYTES: u64 = 48 * MIB;
/// Like [`ALL_THREADS_BYTES`], for a graph with small blocks and degrees.
const LEAST_BYTES: u64 = 4 * MIB;

/// Memory of a clustering that grows with the number of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeMemory {
    /// Minimum for the likely number of nodes, with as much as possible on disk.
    pub bytes: u64,
    /// Minimum for the number of nodes that the sample guarantees.
    pub bytes_at_least: u64,
    /// Memory for the likely number of nodes, if everything is in memory.
    pub bytes_in_memory: u64,
    /// Minimum memory independent of the number of nodes: tables, blocks, the contraction of a level.
    pub fixed_bytes: u64,
    /// Part of `fixed_bytes` that the sample guarantees.
    pub fixed_bytes_at_least: u64,
}

impl NodeMemory {
    /// Returns the minimum limit for the likely number of nodes.
    pub fn min_limit(&self) -> u64 {
        self.bytes.max(self.bytes_at_least) + self.fixed_bytes
    }

    /// Returns the minimum limit that every graph compatible with the sample needs.
    pub fn certain_bytes(&self) -> u64 {
        self.bytes_at_least + self.fixed_bytes_at_least.max(LEAST_BYTES)
    }
}

/// Returns the memory of a clustering apart from its nodes, for an unknown graph.
pub fn clustering_bytes(threads: usize) -> u64 {
    ALL_THREADS_BYTES + THREAD_BYTES * threads as u64
}

/// Returns the memory while communities are separated, and for the closing of components.
fn separated_bytes(node_count: u64, directed: bool) -> u64 {
    let closing = if directed { 20 } else { 8 };
    let separating = 4 * node_count + Separation::bytes(node_count);
    separating.max(closing * node_count + node_count.div_ceil(4))
}

impl ClusterOptions {
    /// Returns the memory of a clustering that starts with `given_count` arrays of labels.
    pub fn memory(&self, graph: &Graph, given_count: u64, threads: usize) -> ClusterMemory {
        self.memory_in(graph, given_count, threads, Fit::ROOMY)
    }

    /// Like [`memory`](Self::memory), with given settings.
    pub(super) fn memory_in(
        &self,
        graph: &Graph,
        given_count: u64,
        threads: usize,
        fit: Fit,
    ) -> ClusterMemory {
        let mut memory = self.swept_memory(graph, given_count, threads, fit);
        if self.well_connected.is_some() {
            let separated = separated_bytes(graph.node_count(), graph.is_directed());
            memory.node_bytes = memory.node_bytes.max(separated);
            memory.scratch_bytes += self.cut_bytes(graph.arc_count());
        }
        let (nodes, arcs, directed) = (graph.node_count(), graph.arc_count(), graph.is_directed());
        let scans = ClusterMemory::fitted(graph, None, threads, fit);
        let of_tree = self.tree_bytes(nodes, arcs, directed, &memory, &scans);
        memory.node_bytes = memory.node_bytes.max(of_tree);
        memory
    }

    /// Returns the memory without that for separating communities, and for a tree of modules.
    pub(super) fn swept_memory(
        &self,
        graph: &Graph,
        given_count: u64,
        threads: usize,
        fit: Fit,
    ) -> ClusterMemory {
        match self.method.spec().run {
            Procedure::Propagation => propagate::memory(self, graph, given_count, threads, fit),
            Procedure::Components => components::memory(self, graph, threads, fit),
            Procedure::Levels(_) => {
                let mut memory = ClusterMemory::fitted(graph, Some(self.method), threads, fit);
                if self.levels {
                    let least = Grouping::BYTES_A_NODE * graph.node_count();
                    memory.node_bytes = memory.node_bytes.max(least);
                }
                let beside =
                    self.size_bytes() + self.flow_bytes(graph.is_directed(), graph.has_kinds());
                memory.node_bytes += beside * graph.node_count();
                memory
            }
        }
    }

    /// Returns the minimum memory: labels go to disk if possible.
    pub fn min_memory(&self, graph: &Graph, given_count: u64, threads: usize) -> ClusterMemory {
        let memory = self.memory_in(graph, given_count, threads, Fit::LEAST);
        if !intervals::serves(self, graph, given_count) {
            return memory;
        }
        let on_disk = intervals::memory(graph, threads, Fit::LEAST);
        let most = on_disk.total_bytes().min(graph.files().cramped().label_bytes);
        if most < memory.total_bytes() { on_disk } else { memory }
    }

    /// Returns the options of the method that needs the least memory, if this one keeps its labels in memory.
    pub fn with_less_memory(&self) -> Option<Self> {
        let Procedure::Levels(_) = self.method.spec().run else { return None };
        let other = METHODS.iter().find(|spec| matches!(spec.run, Procedure::Propagation))?;
        Some(Self { method: other.method, ..Self::default() })
    }

    /// Returns the memory for a graph that does not exist yet: its likely size, and the smallest and the largest one that
    /// are consistent with what is known.
    pub fn node_memory(
        &self,
        [likely, smallest, largest]: [&GraphSize; 3],
        threads: usize,
    ) -> NodeMemory {
        let (directed, has_kinds) = (likely.is_directed, likely.has_kinds);
        let method = Some(self.method);
        let tight = ClusterMemory::expected_in(largest, method, threads, Fit::LEAST);
        let fixed = if self.method.is_multilevel() { tight.fixed_bytes() } else { 0 };
        let certain = ClusterMemory::at_least(smallest, method, threads);
        let tree = |size: &GraphSize, sweeps: ClusterMemory, scans: ClusterMemory| {
            self.tree_bytes(size.node_count, size.arc_count, directed, &sweeps, &scans)
        };
        // Tables of scans depend on degrees, which are not known.
        let tables = THREAD_BYTES * threads as u64;
        let scans_of = |size, fit| {
            let scans = ClusterMemory::expected_in(size, None, threads, fit);
            ClusterMemory { scratch_bytes: scans.scratch_bytes + tables, ..scans }
        };
        let least =
            |size: &GraphSize, hub| self.min_node_bytes(size.node_count, hub, directed, has_kinds);
        let in_memory = self.node_bytes(likely.node_count, directed, has_kinds);
        let of_largest = tree(largest, tight, scans_of(largest, Fit::LEAST));
        let of_smallest = tree(smallest, certain, ClusterMemory::at_least(smallest, None, threads));
        let sweeps = ClusterMemory::expected(likely, method, threads);
        let of_likely = tree(likely, sweeps, scans_of(likely, Fit::ROOMY));
        NodeMemory {
            bytes: least(largest, likely.hub_arcs).max(of_largest),
            bytes_at_least: least(smallest, smallest.hub_arcs).max(of_smallest),
            bytes_in_memory: in_memory.max(of_likely),
            fixed_bytes: fixed.max(clustering_bytes(threads)) + self.cut_bytes(largest.arc_count),
            fixed_bytes_at_least: certain.fixed_bytes() + self.cut_bytes(smallest.arc_count),
        }
    }

    /// Returns the minimum memory for edges inside communities if these are separated, by the number of arcs.
    pub fn cut_bytes(&self, arcs: u64) -> u64 {
        if self.well_connected.is_some() { CutMemory::min_bytes(arcs) } else { 0 }
    }

    /// Returns the memory for a search of the tree of modules, if it is sought, by the number of nodes and arcs, and whether
    /// arcs have directions. It takes the place of what the sweeps need beyond the scans.
    fn tree_bytes(
        &self,
        nodes: u64,
        arcs: u64,
        directed: bool,
        sweeps: &ClusterMemory,
        scans: &ClusterMemory,
    ) -> u64 {
        if !self.finds_tree() {
            return 0;
        }
        let held_bytes = match (directed, self.recorded_teleportation) {
            (false, _) => 0,
            (true, false) => size_of::<Drift>(),
            (true, true) => size_of::<NodeFlow>(),
        };
        let found = nested::tree_bytes(nodes, arcs, held_bytes as u64);
        let measured = match directed || self.well_connected.is_some() {
            true => nested::final_bytes(nodes, directed),
            false => 0,
        };
        let free = sweeps.scratch_bytes.saturating_sub(scans.scratch_bytes);
        found.max(measured).saturating_sub(free)
    }

    /// Returns the numbers of starts besides the usual one.
    pub fn starts(&self, graph: &GraphSize) -> StartCounts {
        if !self.method.takes(MethodOption::Trials) {
            return StartCounts::default();
        }
        StartCounts::of(self, &ScratchLimits::default(), graph.node_count, graph.arc_count)
    }

    /// Returns the memory that grows with the number of nodes, for a graph that does not exist yet.
    fn node_bytes(&self, node_count: u64, directed: bool, has_kinds: bool) -> u64 {
        let given_count = self.files().count() as u64;
        let bytes = match self.method.spec().run {
            Procedure::Propagation => {
                let bits = propagate::node_bits(self, directed, false, given_count);
                (bits * node_count).div_ceil(8)
            }
            Procedure::Components => components::node_bytes(self, node_count),
            Procedure::Levels(_) => {
                let least = if self.levels { Grouping::BYTES_A_NODE } else { 0 };
                let bytes = ClusterMemory::bytes_a_node(self.method, directed).max(least);
                let beside = self.size_bytes() + self.flow_bytes(directed, has_kinds);
                (bytes + beside) * node_count
            }
        };
        match self.well_connected {
            Some(_) => bytes.max(separated_bytes(node_count, directed)),
            None => bytes,
        }
    }

    /// Like [`node_bytes`](Self::node_bytes), with labels on disk where possible, if no node has more arcs than a block
    /// or `hub_arcs`.
    fn min_node_bytes(
        &self,
        node_count: u64,
        hub_arcs: u64,
        directed: bool,
        has_kinds: bool,
    ) -> u64 {
        let in_memory = self.node_bytes(node_count, directed, has_kinds);
        let given_count = self.files().count() as u64;
        match !directed && intervals::serves_undirected(self, given_count) {
            true => in_memory.min(intervals::node_bytes(node_count, hub_arcs)),
            false => in_memory,
        }
    }

    /// Returns the bytes per node for the flow of directed edges in multilevel methods, and for the kinds of nodes in
    /// modularity.
    pub(super) fn flow_bytes(&self, directed: bool, has_kinds: bool) -> u64 {
        let levels = self.method.levels();
        let carries = directed || has_kinds && levels.is_some_and(LevelSpec::is_modularity);
        match levels.filter(|_| carries).map(|levels| levels.objective) {
            Some(LevelObjective::CodeLength) if self.recorded_teleportation => {
                flow_bytes::<DirectedCodeLength<NodeFlow>, CodeLength>()
            }
            Some(LevelObjective::CodeLength) => {
                flow_bytes::<DirectedCodeLength<Drift>, CodeLength>()
            }
            Some(LevelObjective::Density { by_mean_weight: false, .. }) => {
                flow_bytes::<DriftDensity, Density>()
            }
            Some(LevelObjective::Density { by_mean_weight: true, .. }) | None => 0,
        }
    }

    /// Returns the maximum number of bytes per node for size limits of multilevel methods: the size of its group, and
    /// the number of input nodes in that group on the next level.
    pub(super) fn size_bytes(&self) -> u64 {
        if self.max_size.is_some() { 2 * size_of::<u32>() as u64 } else { 0 }
    }
}
