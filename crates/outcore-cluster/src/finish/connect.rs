//! Closing scan: splits communities that are connected only through other communities, and computes the
//! sums for the modularity.
//!
//! Moving nodes one by one can remove the node that connected a community. Every connected piece of a community becomes
//! a community of its own, identified by its smallest node. The pieces are found by union-find whose links go from
//! larger to smaller indexes by compare-and-swap (Anderson and Woll, "Wait-free parallel algorithms for the union-find
//! problem", 1991), so threads need no locks and the result does not depend on their order. Memory: 4 bytes per node in
//! addition to the labels; 8 more if the strengths of nodes are stored.

use crate::base::arcs::add_weights_where;
use crate::base::bits::Bits;
use crate::base::parallel::{PerThread, for_chunks, piece_nodes};
use crate::base::rows::{RowPart, RowsAhead};
use crate::kernel::cache::BlockSource;
use crate::store::by_node::KnownLabels;
use outcore_graph::Block;
use outcore_io::error::Result;
use outcore_io::{prefetch, reserve_large_pages};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Connected pieces of nodes.
pub struct Pieces {
    parents: Vec<AtomicU32>,
    /// Whether an arc may lack its opposite; otherwise one of the two is enough.
    directed: bool,
}

impl Pieces {
    /// Creates one piece per node.
    pub fn new(node_count: usize, directed: bool) -> Self {
        let mut parents = reserve_large_pages(node_count);
        parents.extend((0..node_count).map(|node| AtomicU32::new(node as u32)));
        Self { parents, directed }
    }

    /// Returns the smallest node known to be connected to `node`.
    fn find(&self, mut node: u32) -> u32 {
        loop {
            let parent = self.parents[node as usize].load(Relaxed);
            if parent == node {
                return node;
            }
            let above = self.parents[parent as usize].load(Relaxed);
            if above != parent {
                // Halves the path; if another thread was faster, its link is just as good.
                let _ =
                    self.parents[node as usize].compare_exchange(parent, above, Relaxed, Relaxed);
            }
            node = above;
        }
    }

    /// Joins the pieces of two nodes.
    pub fn connect(&self, a: u32, b: u32) {
        let (mut a, mut b) = (a, b);
        loop {
            (a, b) = (self.find(a), self.find(b));
            if a == b {
                return;
            }
            let (low, high) = (a.min(b), a.max(b));
            if self.parents[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
                return;
            }
        }
    }

    /// Returns for each node the smallest node of its piece.
    pub fn into_roots(self) -> Vec<u32> {
        (0..self.parents.len()).into_par_iter().with_min_len(1 << 14).for_each(|node| {
            let root = self.find(node as u32);
            self.parents[node].store(root, Relaxed);
        });
        self.parents.into_iter().map(AtomicU32::into_inner).collect()
    }
}

/// Items that the closing scan connects.
pub trait Joining: Sync {
    /// Returns the pieces.
    fn pieces(&self) -> &Pieces;
    /// Returns the item that represents a node.
    fn member(&self, node: u32) -> u32;
}

/// Connects the nodes themselves.
impl Joining for Pieces {
    #[inline]
    fn pieces(&self) -> &Pieces {
        self
    }
    #[inline]
    fn member(&self, node: u32) -> u32 {
        node
    }
}

/// Counts the labels with more than one piece.
pub fn split_count(labels: &[u32], roots: &[u32], label_count: usize) -> u64 {
    let (seen, split) = (Bits::new(label_count, false), Bits::new(label_count, false));
    let mut count = 0;
    for (node, (&label, &root)) in labels.iter().zip(roots).enumerate() {
        if root as usize == node && seen.set(label as usize) && !split.set(label as usize) {
            count += 1;
        }
    }
    count
}

/// Contribution of a node to its community.
#[derive(Clone, Copy, Default)]
pub struct NodeSums {
    /// Weight of its arcs; in undirected graphs its loop counts twice.
    pub strength: f64,
    /// Part of the strength inside the community.
    pub inside: f64,
    /// Part of `inside` without the loop.
    pub others: f64,
    /// Weight of the loop, once.
    pub own_loop: f64,
    /// Like `inside`, but in undirected graphs both ends of an edge count at its later node.
    pub inside_at_later: f64,
    /// Strength in which loops count as in the view of the graph: once for a random walk.
    pub visits: f64,
    /// Weight of its arcs to other communities.
    pub cut: f64,
}

/// Working memory of one thread for the closing scan.
#[derive(Default)]
pub struct Closing {
    /// Decoder of rows.
    pub rows: RowsAhead,
    /// Neighbors with the same label, to be connected.
    links: Vec<(u32, u32)>,
    waiting: usize,
}

/// Number of links processed together.
const BATCH_LINKS: usize = 2048;

impl Closing {
    /// Returns the bytes of one thread's memory, without the decoded arcs.
    pub const fn bytes(segment_arcs: u64) -> u64 {
        8 * 2 * (segment_arcs + BATCH_LINKS as u64) + RowsAhead::BYTES
    }

    /// Collects the links of a node to its neighbors, and connects them once a batch is full.
    pub fn link(&mut self, block: &Block, local: usize, pieces: &Pieces) -> Result<()> {
        let node = block.first_node() + local as u32;
        let Self { rows, links, waiting } = self;
        block.for_each_segment(local, &mut rows.arcs, |targets, _| {
            if links.len() < *waiting + targets.len() {
                links.resize(BATCH_LINKS + targets.len().next_power_of_two(), (0, 0));
            }
            let before = targets.partition_point(|&target| target < node);
            let count = if pieces.directed { targets.len() } else { before };
            let slots = &mut links[*waiting..*waiting + count];
            slots.iter_mut().zip(targets).for_each(|(slot, &target)| *slot = (node, target));
            *waiting += count;
            if *waiting >= BATCH_LINKS {
                Self::connect(links, waiting, pieces);
            }
        })
    }

    /// Connects all waiting links.
    pub fn connect_waiting(&mut self, pieces: &Pieces) {
        Self::connect(&self.links, &mut self.waiting, pieces);
    }

    /// Connects the first `waiting` links.
    fn connect(links: &[(u32, u32)], waiting: &mut usize, pieces: &Pieces) {
        let parent = |node: u32| pieces.parents[node as usize].load(Relaxed);
        let links = &links[..std::mem::take(waiting)];
        links.iter().for_each(|&(_, neighbor)| prefetch(&pieces.parents, neighbor as usize));
        for &(a, b) in links {
            if parent(a) != parent(b) {
                pieces.connect(a, b);
            }
        }
    }
}

/// Visits every arc once: connects neighbors with the same label in `pieces`, and passes the sums of the
/// nodes to `visit` in node order.
///
/// # Errors
/// Those of reading and of `tick`, which is called for each block.
pub fn scan_communities(
    source: &mut BlockSource<'_>,
    labels: &[u32],
    pieces: Option<&Pieces>,
    scratch: &PerThread<Closing>,
    mut tick: impl FnMut(&Block) -> Result<()>,
    mut visit: impl FnMut(u32, NodeSums),
) -> Result<()> {
    let directed = source.graph().is_directed();
    let mut sums = Vec::new();
    source.for_all(|block| {
        tick(block)?;
        block_sums(block, directed, labels, pieces, scratch, &mut sums)?;
        for (node, &sums) in (block.first_node()..).zip(&sums) {
            visit(node, sums);
        }
        Ok(())
    })
}

/// Like [`scan_communities`], for one block: fills `sums` with those of its nodes.
///
/// # Errors
/// Those of reading.
pub fn block_sums(
    block: &Block,
    directed: bool,
    labels: &(impl KnownLabels + ?Sized),
    pieces: Option<&impl Joining>,
    scratch: &PerThread<Closing>,
    sums: &mut Vec<NodeSums>,
) -> Result<()> {
    let loop_ends = if directed { 1.0 } else { 2.0 };
    let count = block.node_count();
    sums.clear();
    sums.resize(count, NodeSums::default());
    let fetch = |_, targets: &[u32]| targets.iter().for_each(|&target| labels.prefetch(target));
    for_chunks(sums, piece_nodes(count, block.arc_count()), |first, sums| {
        scratch.with(|Closing { rows, links, waiting }| {
            let mut running = RunningSums::default();
            rows.for_each(block, first..first + sums.len(), fetch, |row| {
                match pieces {
                    Some(pieces) => running.add_linked(block, &row, labels, pieces, links, waiting),
                    None => running.add(block, &row, directed, labels),
                }
                if row.ends {
                    let found = std::mem::take(&mut running).value();
                    sums[row.local - first] = found.with_loop(block, row.local, loop_ends);
                }
                Ok(())
            })?;
            if let Some(pieces) = pieces {
                Closing::connect(links, waiting, pieces.pieces());
            }
            Ok(())
        })
    })
}

impl NodeSums {
    /// Adds the loop of the node.
    fn with_loop(mut self, block: &Block, local: usize, loop_ends: f64) -> Self {
        self.cut = self.strength - self.inside;
        self.visits = self.strength + loop_ends * block.self_loop(local);
        (self.others, self.own_loop) = (self.inside, block.loop_weight(local));
        let at_loop = loop_ends * self.own_loop;
        self.strength += at_loop;
        self.inside += at_loop;
        self.inside_at_later = loop_ends * self.inside_at_later + at_loop;
        self
    }
}

/// Arcs: targets and weight codes.
type Arcs<'a> = (&'a [u32], &'a [u32]);

/// Divides arcs into those to nodes before `node` and those to nodes after it; in directed graphs, all belong to the
/// first part.
fn parts<'a>(
    node: u32,
    directed: bool,
    targets: &'a [u32],
    codes: &'a [u32],
) -> (Arcs<'a>, Arcs<'a>) {
    let end = match directed {
        true => targets.len(),
        false => targets.partition_point(|&target| target < node),
    };
    let (targets, codes) = (targets.split_at(end), codes.split_at(end.min(codes.len())));
    ((targets.0, codes.0), (targets.1, codes.1))
}

/// Sums over the arcs of a node so far.
#[derive(Default)]
struct RunningSums {
    /// Weight of all arcs, and of those inside its community.
    all_and_inside: [f64; 2],
    inside_before: f64,
}

impl RunningSums {
    /// Adds a part of the row of a node.
    fn add(
        &mut self,
        block: &Block,
        row: &RowPart<'_>,
        directed: bool,
        labels: &(impl KnownLabels + ?Sized),
    ) {
        let node = block.first_node() + row.local as u32;
        let label = labels.label(node);
        let (before, after) = parts(node, directed, row.targets, row.codes);
        self.add_before(before, |target| labels.label(target) == label);
        self.add_after(label, labels, after);
    }

    /// Like [`Self::add`], but also collects the links inside the community. Avoids branches on labels, which arrive late
    /// and are hard to predict.
    fn add_linked(
        &mut self,
        block: &Block,
        row: &RowPart<'_>,
        labels: &(impl KnownLabels + ?Sized),
        joining: &impl Joining,
        links: &mut Vec<(u32, u32)>,
        waiting: &mut usize,
    ) {
        let node = block.first_node() + row.local as u32;
        let (pieces, label, member) = (joining.pieces(), labels.label(node), joining.member(node));
        let (before, after) = parts(node, pieces.directed, row.targets, row.codes);
        if links.len() < *waiting + before.0.len() {
            links.resize(BATCH_LINKS + before.0.len().next_power_of_two(), (0, 0));
        }
        let slots = &mut links[*waiting..*waiting + before.0.len()];
        let mut count = 0;
        self.add_before(before, |target| {
            let is_inside = labels.label(target) == label;
            slots[count] = (member, joining.member(target));
            count += usize::from(is_inside);
            is_inside
        });
        *waiting += count;
        if *waiting >= BATCH_LINKS {
            Closing::connect(links, waiting, pieces);
        }
        self.add_after(label, labels, after);
    }

    /// Adds the arcs to nodes before this one.
    #[inline]
    fn add_before(&mut self, before: Arcs<'_>, mut is_inside: impl FnMut(u32) -> bool) {
        let counts = |target| [true, is_inside(target)];
        add_weights_where(&mut self.all_and_inside, before.0, before.1, counts);
        if !before.0.is_empty() {
            self.inside_before = self.all_and_inside[1];
        }
    }

    /// Adds the arcs to nodes after this one; must follow all arcs to nodes before it.
    #[inline]
    fn add_after<L: KnownLabels + ?Sized>(&mut self, label: u32, labels: &L, after: Arcs<'_>) {
        let counts = |target| [true, L::AFTER && labels.label(target) == label];
        add_weights_where(&mut self.all_and_inside, after.0, after.1, counts);
    }

    fn value(self) -> NodeSums {
        let [strength, inside] = self.all_and_inside;
        NodeSums { strength, inside, inside_at_later: self.inside_before, ..NodeSums::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_smallest_node_for_any_order_of_links() {
        let pieces = Pieces::new(1000, false);
        (0..1000u32).into_par_iter().for_each(|i| {
            let node = i * 7919 % 1000;
            if node + 10 < 1000 {
                pieces.connect(node + 10, node);
            }
        });
        let roots = pieces.into_roots();
        assert!(roots.iter().enumerate().all(|(node, &root)| root as usize == node % 10));
    }

    #[test]
    fn a_label_counts_as_split_once_for_any_number_of_pieces() {
        let labels = [0, 0, 0, 1, 1, 2];
        assert_eq!(split_count(&labels, &[0, 1, 2, 3, 3, 5], 3), 1);
        assert_eq!(split_count(&labels, &[0, 0, 0, 3, 3, 5], 3), 0);
        assert_eq!(split_count(&labels, &[0, 0, 2, 3, 4, 5], 3), 2);
    }
}
