//! Order of nodes in which the components of every threshold are contiguous: single linkage.
//!
//! ```text
//!  links --sort by rank--> groups of equal rank --join the lists of each--> one list per component
//! ```
//!
//! Each node is written with a weight: that at which it joins the nodes before it, together with the nodes after it
//! that it joins at larger weights. At a threshold, a new component begins wherever this weight is smaller, so a
//! cumulative sum gives the components. This is the order of leaves under the merges of single linkage (Gower and Ross,
//! "Minimum spanning trees and single linkage cluster analysis", 1969). Lists that are joined at the same weight are
//! put in the order of their first nodes, so the order depends only on the edges. Memory: 16 bytes per node, up to 8
//! more if many weights are equal, and the budget of the sort. Time: a sort, and a few accesses to memory for each
//! link.

use super::{AnyLinks, Forest};
use outcore_graph::ArcRecord;
use outcore_io::error::Result;
use outcore_io::progress::REPORT_NODES;
use outcore_sort::{Sorted, Sorter};

/// Mark of the end of a list.
const NONE: u32 = u32::MAX;

/// Nodes in an order in which all components are contiguous.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dendrogram {
    /// Position of each node.
    pub positions: Vec<u32>,
    /// For each node the code of the weight at which it joins the nodes before it, or 0 if it joins none.
    pub codes: Vec<u32>,
}

/// Lists of nodes that are joined so far.
struct Lists {
    /// Smallest node of each node's list, once paths are followed.
    parents: Vec<u32>,
    /// Last node of the list that begins with a node; the smallest node is the first.
    tails: Vec<u32>,
    nexts: Vec<u32>,
    codes: Vec<u32>,
}

impl Forest {
    /// Bytes per node to find a dendrogram, without the sort.
    pub const DENDROGRAM_BYTES: u64 = 24;

    /// Finds the dendrogram; `None` if the forest does not know heights. The sorter must be empty.
    ///
    /// # Errors
    /// `Io`, `DiskFull`, `MemoryTooSmall` of the sort; those of `tick`, which is called from time to time.
    pub fn into_dendrogram(
        self,
        mut sorter: Sorter<ArcRecord>,
        mut tick: impl FnMut() -> Result<()>,
    ) -> Result<Option<Dendrogram>> {
        let AnyLinks::Heights(links) = self.links else { return Ok(None) };
        let count = links.end() as usize;
        for (at, (node, parent, rank)) in (0u64..).zip(links.iter()) {
            sorter.add(ArcRecord { source: rank, target: node, weight: parent })?;
            if at.is_multiple_of(REPORT_NODES) {
                tick()?;
            }
        }
        drop(links);
        let mut lists = Lists::new(count);
        lists.join_all(sorter.finish()?, tick)?;
        Ok(Some(lists.into_dendrogram()))
    }
}

impl Lists {
    fn new(count: usize) -> Self {
        let each = || (0..count as u32).collect();
        Self { parents: each(), tails: each(), nexts: vec![NONE; count], codes: vec![0; count] }
    }

    fn join_all(
        &mut self,
        sorted: Sorted<ArcRecord>,
        tick: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        let (mut rank, mut joined) = (NONE, Vec::new());
        sorted.for_each(tick, |link| {
            if link.source != rank {
                self.append(&mut joined, rank);
                rank = link.source;
            }
            let (a, b) = (self.first(link.target), self.first(link.weight));
            self.parents[a.max(b) as usize] = a.min(b);
            joined.push(a.max(b));
            Ok(())
        })?;
        self.append(&mut joined, rank);
        Ok(())
    }

    /// Appends lists that are joined at the same rank to those of their components, in the order of their first nodes.
    fn append(&mut self, joined: &mut Vec<u32>, rank: u32) {
        joined.sort_unstable();
        for list in joined.drain(..) {
            let first = self.first(list);
            let tail = self.tails[first as usize];
            self.nexts[tail as usize] = list;
            self.codes[list as usize] = !rank;
            self.tails[first as usize] = self.tails[list as usize];
        }
    }

    /// Returns the first node of a node's list.
    fn first(&mut self, mut node: u32) -> u32 {
        loop {
            let parent = self.parents[node as usize];
            if parent == node {
                return node;
            }
            let above = self.parents[parent as usize];
            self.parents[node as usize] = above;
            node = above;
        }
    }

    fn into_dendrogram(self) -> Dendrogram {
        let Self { mut parents, nexts, codes, tails: _ } = self;
        let mut position = 0;
        // Only first nodes of whole lists join none before them.
        for (first, _) in (0..).zip(&codes).filter(|(_, code)| **code == 0) {
            let mut node = first;
            while node != NONE {
                parents[node as usize] = position;
                position += 1;
                node = nexts[node as usize];
            }
        }
        Dendrogram { positions: parents, codes }
    }
}
