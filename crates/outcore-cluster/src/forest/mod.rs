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
//! Components depend only on the set of edges, not on their order, on memory or on threads. Memory: 4 bytes per node, and
//! 1 or 4 more for the rank; edges of nodes beyond memory are sorted on disk, and joined at the end (`ranges`). Time: about
//! 25 ns of one core for an edge, as most wait for one or two accesses to memory.

mod dendrogram;
mod found;
mod links;
mod ranges;
mod scan;
#[cfg(test)]
mod tests;

pub use dendrogram::Dendrogram;
pub use found::ForestPlace;

use crate::finish::number::{SizeCount, number_in_place};
use crate::methods::thresholds::Ladder;
use links::{Links, PART_NODES};
use outcore_graph::ArcRecord;
use outcore_io::Files;
use outcore_io::checkpoint::{Checkpoint, StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_sort::{SortState, Sorter};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Spanning forest of all edges so far.
pub struct Forest {
    ladder: Ladder,
    /// Links of the first nodes.
    links: AnyLinks,
    node_count: u64,
    /// Maximum number of nodes with links.
    most: u64,
    /// Edges of the other nodes, by the higher of their ends. Its number is inverted, so that the highest come first.
    beyond: Option<Box<Sorter<ArcRecord>>>,
}

/// Saved state of a forest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForestState {
    ladder: Ladder,
    node_count: u64,
    linked_count: u64,
    beyond: Option<SortState>,
}

impl ForestState {
    /// Returns the thresholds.
    pub fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// Returns the memory of the links.
    pub fn memory_bytes(&self) -> u64 {
        self.linked_count * self.ladder.bytes_a_node()
    }
}

/// Memory of a forest while edges are joined, and where those go that have no room in it.
#[derive(Clone, Copy)]
pub struct JoinPlace<'a> {
    /// Storage.
    pub files: &'a Files,
    /// Directory for runs, which belongs to the forest alone.
    pub runs: &'a Path,
    /// Memory for the links of nodes.
    pub node_bytes: u64,
    /// Memory for the sort of edges without room.
    pub sort_bytes: u64,
    /// Threads that sort, in addition to those of the pool.
    pub threads: usize,
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
use for_links;

impl Forest {
    /// Creates a forest without nodes, with address space for those that fit in `max_bytes`: no more may be added.
    pub fn new(ladder: Ladder, max_bytes: u64) -> Self {
        let most = max_bytes / ladder.bytes_a_node();
        let links = match ladder {
            Ladder::One => AnyLinks::One(Links::new(0, most as usize)),
            Ladder::Steps(_) => AnyLinks::Steps(Links::new(0, most as usize)),
            Ladder::Heights => AnyLinks::Heights(Links::new(0, most as usize)),
        };
        Self { ladder, links, node_count: 0, most, beyond: None }
    }

    /// Creates a forest without nodes, for any number of them, unless heights are wanted.
    ///
    /// # Errors
    /// `MemoryTooSmall` of the sort.
    pub fn create(ladder: Ladder, place: JoinPlace<'_>) -> Result<Self> {
        let JoinPlace { files, runs, node_bytes, sort_bytes, threads } = place;
        let forest = Self::new(ladder, node_bytes);
        if forest.ladder == Ladder::Heights {
            return Ok(forest);
        }
        let sorter = Sorter::with_directory(files, runs, sort_bytes, threads)?;
        let most = forest.most.min(files.cramped().forest_nodes);
        Ok(Self { most, beyond: Some(Box::new(sorter)), ..forest })
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> u64 {
        self.node_count
    }

    fn linked_count(&self) -> u64 {
        for_links!(&self.links, links => links.end())
    }

    /// Returns the memory of the links.
    pub fn memory_bytes(&self) -> u64 {
        self.linked_count() * self.ladder.bytes_a_node()
    }

    /// Returns whether some nodes have no room in memory.
    pub fn is_divided(&self) -> bool {
        self.node_count > self.linked_count()
    }

    /// Returns the sort of the edges of nodes beyond memory.
    pub fn beyond(&mut self) -> Option<&mut Sorter<ArcRecord>> {
        self.beyond.as_deref_mut()
    }

    /// Adds nodes, each a component of its own, up to a number of `node_count`.
    pub fn grow(&mut self, node_count: u64) {
        self.node_count = node_count.max(self.node_count);
        let linked = if self.beyond.is_some() { self.most } else { u64::MAX }.min(node_count);
        for_links!(&mut self.links, links => links.grow(linked.max(links.end())));
    }

    /// Drops the edges whose ends are already joined by edges at least as heavy. May be called in parallel.
    pub fn drop_joined(&self, edges: &mut Vec<ArcRecord>) {
        for_links!(&self.links, links => links.drop_joined(edges, &self.ladder));
    }

    /// Joins the ends of edges.
    ///
    /// # Errors
    /// Those of sorting edges of nodes beyond memory.
    pub fn join(&mut self, edges: &[ArcRecord]) -> Result<()> {
        if self.is_divided() {
            let end = self.linked_count();
            let mut linked = Vec::new();
            for &edge in edges {
                let (lower, higher) = (edge.source.min(edge.target), edge.source.max(edge.target));
                match &mut self.beyond {
                    Some(sorter) if u64::from(higher) >= end => {
                        sorter.add(ArcRecord { source: !higher, target: lower, ..edge })?;
                    }
                    _ => linked.push(edge),
                }
            }
            return self.join_linked(&linked);
        }
        self.join_linked(edges)
    }

    fn join_linked(&mut self, edges: &[ArcRecord]) -> Result<()> {
        // No node is before the first.
        for_links!(&mut self.links, links => links.join_all(edges, &self.ladder, |_| Ok(())))
    }

    /// Appends, for each of `nodes`, a node that stands for its component by edges of at least the weight `code`. It is
    /// the same for all nodes of a component. If there are steps, the code is one of them.
    pub(crate) fn put_roots(&self, code: u32, nodes: Range<usize>, roots: &mut Vec<u32>) {
        for_links!(&self.links, links => links.put_roots(code, &self.ladder, nodes, roots));
    }

    /// Returns the nodes that stand for components by all edges, in the memory of the forest.
    pub(crate) fn into_roots(self) -> Vec<AtomicU32> {
        for_links!(self.links, links => links.into_roots(0, &self.ladder))
    }
}

/// Numbers components, each given by any of its nodes: returns the label of each node, and the number of components of
/// each size. As always, the largest component is 0, and among equals the one with the smallest node is first. Works in
/// place on all threads, with 1/8 byte per node in addition.
pub(crate) fn number_components(roots: Vec<AtomicU32>) -> (Vec<u32>, Vec<SizeCount>) {
    to_smallest(0, &roots);
    number_in_place(roots.into_iter().map(AtomicU32::into_inner).collect())
}

/// Replaces the root of each component by its smallest node, for nodes from `first`. Roots before that stay.
fn to_smallest(first: u32, roots: &[AtomicU32]) {
    let word = |node: u32| &roots[(node - first) as usize];
    let root = |node: u32| word(node).load(Relaxed);
    let all = || (first..first + roots.len() as u32).into_par_iter().with_min_len(PART_NODES);
    let own = || all().filter(|&node| root(node) >= first);
    // The word of a root becomes the smallest node; that of the smallest node is still the root.
    own().for_each(|node| {
        word(root(node)).fetch_min(node, Relaxed);
    });
    // A node's word may be read before or after another thread replaces it: both give the smallest node.
    own().for_each(|node| word(node).store(root(node).min(root(root(node))), Relaxed));
}

/// Before it is saved, collected edges of nodes beyond memory are written as a run.
impl Checkpoint for Forest {
    type State = ForestState;
    type Place<'a> = JoinPlace<'a>;

    fn save(&mut self, to: &mut StateWriter) -> Result<ForestState> {
        for_links!(&self.links, links => links.save(to))?;
        let beyond = self.beyond.as_deref_mut().filter(|_| self.node_count > self.most);
        let save = |sorter: &mut Sorter<ArcRecord>| {
            sorter.write_collected()?;
            sorter.save(to)
        };
        let beyond = beyond.map(save).transpose()?;
        let (ladder, linked_count) = (self.ladder.clone(), self.linked_count());
        Ok(ForestState { ladder, node_count: self.node_count, linked_count, beyond })
    }

    fn resume(state: &ForestState, from: &mut StateReader, place: JoinPlace<'_>) -> Result<Self> {
        let ForestState { ladder, node_count, linked_count, beyond } = state;
        let node_bytes = place.node_bytes.max(state.memory_bytes());
        let mut forest = Self::create(ladder.clone(), JoinPlace { node_bytes, ..place })?;
        forest.most = if beyond.is_some() { *linked_count } else { forest.most.max(*linked_count) };
        forest.grow(*node_count);
        for_links!(&mut forest.links, links => links.load(from))?;
        if let Some(state) = beyond {
            let resume = |empty: Box<_>| Sorter::resume(state, from, *empty).map(Box::new);
            forest.beyond = forest.beyond.take().map(resume).transpose()?;
        }
        Ok(forest)
    }
}
