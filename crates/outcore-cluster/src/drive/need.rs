//! Memory that a clustering needs, by the procedure of its method: of a graph, or of one that does not exist yet.
//!
//! ```text
//!  graph ----------> Shape --need--> least memory, refusals, rest for blocks
//!  sample of input --> 3 Shapes --node_memory--> what the plan states, and refuses
//! ```

use super::directed::flow_bytes;
use super::job::ScratchLimits;
use super::memory::{ClusterMemory, Fit, Shape};
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

/// Memory of a thread for tables and encoded blocks of a clustering.
const THREAD_BYTES: u64 = 2 * MIB;
/// Memory of all threads together for tables and encoded blocks of a clustering.
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

impl ClusterOptions {
    /// Returns the memory of a clustering that starts with `given_count` arrays of labels.
    pub fn memory(&self, graph: &Graph, given_count: u64, threads: usize) -> ClusterMemory {
        self.need(&Shape::of(graph), given_count, threads, Fit::ROOMY)
    }

    /// Like [`memory`](Self::memory), with given settings.
    pub(super) fn need(
        &self,
        shape: &Shape,
        given_count: u64,
        threads: usize,
        fit: Fit,
    ) -> ClusterMemory {
        let mut memory = self.swept_need(shape, given_count, threads, fit);
        memory.node_bytes = memory.node_bytes.max(self.separated_bytes(shape));
        memory.scratch_bytes += self.cut_bytes(shape.arcs);
        let scans = ClusterMemory::new(shape, None, threads, fit);
        let free = memory.scratch_bytes.saturating_sub(scans.scratch_bytes);
        memory.node_bytes = memory.node_bytes.max(self.tree_bytes(shape, free));
        memory
    }

    /// Returns the memory until the sweeps end, apart from that for separating communities or finding a tree of
    /// modules.
    pub(super) fn swept_need(
        &self,
        shape: &Shape,
        given_count: u64,
        threads: usize,
        fit: Fit,
    ) -> ClusterMemory {
        let ballots = match self.method.spec().run {
            Procedure::Propagation => propagate::ballot_bytes(self, shape, threads),
            Procedure::Components | Procedure::Levels(_) => 0,
        };
        let bare = ClusterMemory::new(shape, Some(self.method), threads, fit);
        ClusterMemory {
            node_bytes: self.swept_node_bytes(shape, given_count),
            scratch_bytes: bare.scratch_bytes + ballots,
            ..bare
        }
    }

    /// Returns the memory that grows with the number of nodes, until the sweeps end.
    fn swept_node_bytes(&self, shape: &Shape, given_count: u64) -> u64 {
        let nodes = shape.nodes;
        match self.method.spec().run {
            Procedure::Propagation => propagate::node_bytes(self, shape, given_count),
            Procedure::Components => components::node_bytes(self, shape),
            Procedure::Levels(_) => {
                let of_method = ClusterMemory::node_bytes_of(shape, self.method);
                let groups = if self.levels { Grouping::BYTES_A_NODE } else { 0 };
                let flow = self.flow_bytes(shape.is_directed, shape.has_kinds);
                of_method.max(groups * nodes) + (self.size_bytes() + flow) * nodes
            }
        }
    }

    /// Returns the memory for separating communities and for the closing of components, which follows; 0 without
    /// separation.
    fn separated_bytes(&self, shape: &Shape) -> u64 {
        if self.well_connected.is_none() {
            return 0;
        }
        let nodes = shape.nodes;
        let closing = if shape.is_directed { 20 } else { 8 };
        let separating = 4 * nodes + Separation::bytes(nodes);
        separating.max(closing * nodes + nodes.div_ceil(4))
    }

    /// Returns the minimum memory: labels go to disk if possible.
    pub fn min_memory(&self, graph: &Graph, given_count: u64, threads: usize) -> ClusterMemory {
        let shape = &Shape::of(graph);
        let memory = self.need(shape, given_count, threads, Fit::LEAST);
        if !intervals::serves(self, shape, given_count) {
            return memory;
        }
        let on_disk = intervals::memory(shape, threads, Fit::LEAST);
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
        let given_count = self.files().count() as u64;
        let (cut, largest_cut) =
            (self.cut_bytes(smallest.arc_count), self.cut_bytes(largest.arc_count));
        let [likely, largest] = [likely, largest].map(Shape::expected);
        let smallest = &Shape::smallest(smallest);
        let fixed = |shape, method, fit| ClusterMemory::new(shape, method, threads, fit);
        let tree = |shape, fit, tables: u64| {
            let [sweeps, scans] = [Some(self.method), None].map(|of| fixed(shape, of, fit));
            let free = sweeps.scratch_bytes.saturating_sub(scans.scratch_bytes + tables);
            self.tree_bytes(shape, free)
        };
        let of_nodes = |shape: &Shape| {
            self.swept_node_bytes(shape, given_count).max(self.separated_bytes(shape))
        };
        let least = |shape: &Shape| match intervals::serves(self, shape, given_count) {
            true => of_nodes(shape).min(intervals::node_bytes(shape)),
            false => of_nodes(shape),
        };
        let tight = match self.method.is_multilevel() {
            true => fixed(&largest, Some(self.method), Fit::LEAST).fixed_bytes(),
            false => 0,
        };
        // Tables of scans depend on degrees, which are not known.
        let tables = THREAD_BYTES * threads as u64;
        let certain = fixed(smallest, Some(self.method), Fit::LEAST).fixed_bytes();
        NodeMemory {
            bytes: least(&largest).max(tree(&largest, Fit::LEAST, tables)),
            bytes_at_least: least(smallest).max(tree(smallest, Fit::LEAST, 0)),
            bytes_in_memory: of_nodes(&likely).max(tree(&likely, Fit::ROOMY, tables)),
            fixed_bytes: tight.max(clustering_bytes(threads)) + largest_cut,
            fixed_bytes_at_least: certain + cut,
        }
    }

    /// Returns the minimum memory for edges inside communities if these are separated, by the number of arcs.
    pub fn cut_bytes(&self, arcs: u64) -> u64 {
        if self.well_connected.is_some() { CutMemory::min_bytes(arcs) } else { 0 }
    }

    /// Returns the memory for a search of the tree of modules, if it is sought. The search can use the `free` bytes
    /// that the sweeps need beyond the scans.
    fn tree_bytes(&self, shape: &Shape, free: u64) -> u64 {
        if !self.finds_tree() {
            return 0;
        }
        let Shape { nodes, arcs, is_directed, .. } = *shape;
        let held_bytes = match (is_directed, self.recorded_teleportation) {
            (false, _) => 0,
            (true, false) => size_of::<Drift>(),
            (true, true) => size_of::<NodeFlow>(),
        };
        let found = nested::tree_bytes(nodes, arcs, held_bytes as u64);
        let measured = match is_directed || self.well_connected.is_some() {
            true => nested::final_bytes(nodes, is_directed),
            false => 0,
        };
        found.max(measured).saturating_sub(free)
    }

    /// Returns the numbers of starts besides the usual one.
    pub fn starts(&self, graph: &GraphSize) -> StartCounts {
        if !self.method.takes(MethodOption::Trials) {
            return StartCounts::default();
        }
        StartCounts::of(self, &ScratchLimits::default(), graph.node_count, graph.arc_count)
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
