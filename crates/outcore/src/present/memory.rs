//! Memory of presentation, for a graph or for one that does not exist yet.
//!
//! All bounds include the labels of a result; those of several wait on disk.

use super::matching::{self, Workbench};
use super::{Inside, Look, PresentOptions, Priorities};
use crate::cluster::{ClusterMemory, ClusterOptions, Grouping};
use crate::membership;
use crate::sort::SORT_BYTES_MIN;

/// Bytes of memory per community of more than one node while representatives are found.
pub(super) const LABEL_BYTES: u64 = 12;

/// What the memory of presentation depends on.
pub(crate) struct PresentMemory<'a> {
    pub(crate) options: &'a PresentOptions,
    /// Whether levels are written.
    pub(crate) levels: bool,
    pub(crate) nodes: u64,
    pub(crate) is_directed: bool,
    /// Memory of a scan of the graph.
    pub(crate) scan: ClusterMemory,
}

impl PresentMemory<'_> {
    /// Returns an upper bound on the memory for what the outputs need, if `earlier` communities of an earlier result have
    /// a node in the graph; 0 if nothing is looked up.
    pub(crate) fn least_bytes(&self, earlier: u64) -> u64 {
        match self.options.look() {
            Look::None if self.options.earlier.is_none() => 0,
            look => self.bytes(look, earlier),
        }
    }

    /// Like [`least_bytes`](Self::least_bytes), for what a scan of the graph finds.
    pub(crate) fn bytes(&self, look: Look, earlier: u64) -> u64 {
        let Self { options, nodes, .. } = *self;
        let matched = u64::from(options.earlier.is_some());
        let sorts = match look {
            // The report compares the results, which is optional, like all that it says of communities.
            Look::Communities => Workbench::SORTS,
            _ => 2,
        } * Workbench::BUDGET_MIN;
        let matching = matched * (matching::earlier_bytes(earlier) + sorts);
        let (scan, sort) = (self.scan_bytes(), SORT_BYTES_MIN);
        // At most half of the nodes represent others.
        let weights = Inside::weight_bytes(nodes, self.is_directed, options.member_weights);
        let strongest = LABEL_BYTES * nodes / 2 + weights;
        let preferred = if options.prefer.is_some() { Priorities::bytes(nodes) } else { 0 };
        let inside = preferred
            + match look {
                Look::None => 0,
                Look::Preferred => sort,
                Look::Weights => scan.max(sort) + strongest,
                // Arcs are sorted during the scan. Weight and stability of each community, and arcs of half of them.
                Look::Communities => scan + 2 * sort + strongest + (8 + 8 + 4) * nodes,
            };
        let levels = u64::from(self.levels) * (Grouping::BYTES_A_NODE - 4) * nodes;
        self.label_bytes() + matched * 8 * nodes + matching.max(inside).max(levels)
    }

    /// Returns the memory to find the flow of nodes, with `rates` bytes beside a scan, and to write it, with `modules` bytes
    /// for files of Infomap.
    pub(crate) fn flow_bytes(&self, rates: u64, modules: u64) -> u64 {
        self.label_bytes() + modules.max(rates + self.scan_bytes())
    }

    fn label_bytes(&self) -> u64 {
        4 * self.nodes
    }

    fn scan_bytes(&self) -> u64 {
        self.scan.scratch_bytes + self.scan.block_bytes
    }
}

/// Returns the minimum memory limit for reading an earlier result and given labels; 0 without either.
pub(crate) fn reading_bytes(
    nodes: u64,
    options: &ClusterOptions,
    present: &PresentOptions,
    threads: usize,
) -> u64 {
    let given = options.files().count() as u64;
    if given == 0 && present.earlier.is_none() {
        return 0;
    }
    membership::memory_bytes_for(nodes, given.saturating_sub(1) * 4 * nodes, threads)
}
