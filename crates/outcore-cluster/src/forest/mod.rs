//! Components of a stream of edges at every threshold, without a graph: a spanning forest of the heaviest links.
//!
//! ```text
//!  edges --drop what is joined already, in parallel--> the others --join, in order--> links --> components
//!                                                                                        `----> dendrogram
//! ```
//!
//! A node has a link to a node of higher priority, with a rank: 0 for the heaviest edges. Links up to a rank connect
//! the same nodes as the edges up to that rank, so the forest replaces the edges at every threshold. An edge goes to the
//! highest nodes that its ends reach by links up to its rank. The lower of the two takes it as its link, and its former
//! link, whose rank is larger, is joined again in the same way. Priorities are hashes of nodes, so that paths are
//! logarithmic in the size of a component (Goel, Khanna, Larkin and Tarjan, "Disjoint set union with randomized
//! linking", 2014), and paths are halved wherever no rank is lost. With one rank, this is union-find.
//!
//! Components depend only on the set of edges, not on their order or on threads. Memory: 4 bytes per node, and 1 or 4
//! more for the rank. Time: about 25 ns of one core for an edge, as most wait for one or two accesses to memory.

mod dendrogram;
mod found;
mod links;
mod scan;
#[cfg(test)]
mod tests;

pub use dendrogram::Dendrogram;
pub use found::ForestPlace;

use crate::finish::number::{SizeCount, number_in_place};
use crate::methods::thresholds::Ladder;
use links::{Links, PART_NODES};
use outcore_graph::ArcRecord;
use outcore_io::checkpoint::{Checkpoint, StateReader, StateWriter};
use outcore_io::error::Result;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Spanning forest of all edges so far.
pub struct Forest {
    ladder: Ladder,
    links: AnyLinks,
}

/// Links with ranks of the type that the ladder needs.
enum AnyLinks {
    One(Links<()>),
    Steps(Links<u8>),
    Heights(Links<u32>),
}

/// Evaluates an expression for links of any type.
macro_rules! for_links {
    ($forest:expr, $links:ident => $value:expr) => {
        match $forest {
            AnyLinks::One($links) => $value,
            AnyLinks::Steps($links) => $value,
            AnyLinks::Heights($links) => $value,
        }
    };
}

impl Forest {
    /// Creates a forest without nodes, with address space for those that fit in `max_bytes`.
    pub fn new(ladder: Ladder, max_bytes: u64) -> Self {
        let most = (max_bytes / ladder.bytes_a_node()) as usize;
        let links = match ladder {
            Ladder::One => AnyLinks::One(Links::new(most)),
            Ladder::Steps(_) => AnyLinks::Steps(Links::new(most)),
            Ladder::Heights => AnyLinks::Heights(Links::new(most)),
        };
        Self { ladder, links }
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> u64 {
        for_links!(&self.links, links => links.node_count()) as u64
    }

    /// Returns the memory in use.
    pub fn memory_bytes(&self) -> u64 {
        self.node_count() * self.ladder.bytes_a_node()
    }

    /// Adds nodes, each a component of its own, up to a number of `node_count`.
    pub fn grow(&mut self, node_count: u64) {
        for_links!(&mut self.links, links => links.grow(node_count as usize));
    }

    /// Drops the edges whose ends are joined already, at most at their weight. May be called in parallel.
    pub fn drop_joined(&self, edges: &mut Vec<ArcRecord>) {
        for_links!(&self.links, links => links.drop_joined(edges, &self.ladder));
    }

    /// Joins the ends of edges.
    pub fn join(&mut self, edges: &[ArcRecord]) {
        for_links!(&mut self.links, links => links.join_all(edges, &self.ladder));
    }

    /// Appends for each of `nodes` a node that stands for its component by edges of at least the weight `code`, the same
    /// for all nodes of the component. With steps, the code is one of them.
    pub(crate) fn put_roots(&self, code: u32, nodes: Range<usize>, roots: &mut Vec<u32>) {
        for_links!(&self.links, links => links.put_roots(code, &self.ladder, nodes, roots));
    }

    /// Returns the nodes that stand for components by all edges, in the memory of the forest.
    pub(crate) fn into_roots(self) -> Vec<u32> {
        for_links!(self.links, links => links.into_roots())
    }
}

/// Numbers components, each given by any of its nodes: returns the label of each node, and the number of components of
/// each size. As always, the largest component is 0, and among equals the one with the smallest node is first. Works in
/// place on all threads, with 1/8 byte per node in addition.
pub(crate) fn number_components(roots: Vec<u32>) -> (Vec<u32>, Vec<SizeCount>) {
    // In place: the two types have the same layout.
    let words: Vec<AtomicU32> = roots.into_iter().map(AtomicU32::new).collect();
    to_smallest(&words);
    number_in_place(words.into_iter().map(AtomicU32::into_inner).collect())
}

/// Replaces each component's root by its smallest node.
fn to_smallest(roots: &[AtomicU32]) {
    let root = |node: u32| roots[node as usize].load(Relaxed);
    let all = || (0..roots.len() as u32).into_par_iter().with_min_len(PART_NODES);
    // The word of a root becomes the smallest node; that of the smallest node is still the root.
    all().for_each(|node| {
        roots[root(node) as usize].fetch_min(node, Relaxed);
    });
    // Each word is read as one of the two, whichever other threads have written.
    all().for_each(|node| roots[node as usize].store(root(node).min(root(root(node))), Relaxed));
}

/// The place is the maximum memory, as in [`Forest::new`].
impl Checkpoint for Forest {
    type State = (Ladder, u64);
    type Place<'a> = u64;

    fn save(&mut self, to: &mut StateWriter) -> Result<(Ladder, u64)> {
        for_links!(&self.links, links => links.save(to))?;
        Ok((self.ladder.clone(), self.node_count()))
    }

    fn resume(state: &(Ladder, u64), from: &mut StateReader, max_bytes: u64) -> Result<Self> {
        let (ladder, node_count) = state;
        let mut forest = Self::new(ladder.clone(), max_bytes);
        forest.grow(*node_count);
        for_links!(&mut forest.links, links => links.load(from))?;
        Ok(forest)
    }
}
