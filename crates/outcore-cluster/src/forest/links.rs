//! Links of a spanning forest, generic in the rank.

use crate::methods::thresholds::Ladder;
use outcore_graph::ArcRecord;
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::{prefetch, reserve_large_pages};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Number of edges between prefetching the links of its ends and following them.
const AHEAD: usize = 16;
/// Number of nodes whose roots a thread finds or numbers at a time.
pub(super) const PART_NODES: usize = 1 << 14;

/// Rank of a link or an edge: lower for heavier ones.
pub(super) trait Rank: Copy + Ord + Default + Send + Sync {
    /// Highest rank.
    const LAST: Self;

    /// Returns the rank of an edge whose weight has this code.
    fn of(code: u32, ladder: &Ladder) -> Self;

    fn save(ranks: &[Self], to: &mut StateWriter) -> Result<()>;

    fn load(ranks: &mut [Self], from: &mut StateReader) -> Result<()>;
}

impl Rank for () {
    const LAST: Self = ();

    #[inline]
    fn of(_: u32, _: &Ladder) {}

    fn save(_: &[Self], _: &mut StateWriter) -> Result<()> {
        Ok(())
    }

    fn load(_: &mut [Self], _: &mut StateReader) -> Result<()> {
        Ok(())
    }
}

impl Rank for u8 {
    const LAST: Self = u8::MAX;

    #[inline]
    fn of(code: u32, ladder: &Ladder) -> u8 {
        match ladder {
            Ladder::Steps(steps) => steps.partition_point(|&step| step > code) as u8,
            Ladder::One | Ladder::Heights => 0,
        }
    }

    fn save(ranks: &[u8], to: &mut StateWriter) -> Result<()> {
        to.array(ranks.iter().copied())
    }

    fn load(ranks: &mut [u8], from: &mut StateReader) -> Result<()> {
        from.fill(ranks, |rank, saved| *rank = saved)
    }
}

impl Rank for u32 {
    const LAST: Self = u32::MAX;

    #[inline]
    fn of(code: u32, _: &Ladder) -> u32 {
        !code
    }

    fn save(ranks: &[u32], to: &mut StateWriter) -> Result<()> {
        to.array(ranks.iter().copied())
    }

    fn load(ranks: &mut [u32], from: &mut StateReader) -> Result<()> {
        from.fill(ranks, |rank, saved| *rank = saved)
    }
}

/// Link of each node and its rank.
pub(super) struct Links<R> {
    /// Node of higher priority, or the node itself. Paths are halved while they are followed, by any thread: all values
    /// that a word may have meanwhile are equally good.
    parents: Vec<AtomicU32>,
    ranks: Vec<R>,
}

/// Returns the priority of a node: a permutation of all numbers (the finalizer of MurmurHash3).
#[inline]
fn priority(node: u32) -> u32 {
    let hash = (node ^ node >> 16).wrapping_mul(0x85EB_CA6B);
    let hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

impl<R: Rank> Links<R> {
    /// Creates links with address space for `most` nodes.
    pub(super) fn new(most: usize) -> Self {
        Self { parents: reserve_large_pages(most), ranks: reserve_large_pages(most) }
    }

    pub(super) fn node_count(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn grow(&mut self, node_count: usize) {
        let first = self.parents.len();
        self.parents.extend((first..node_count).map(|node| AtomicU32::new(node as u32)));
        self.ranks.resize(node_count, R::default());
    }

    #[inline]
    fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize].load(Relaxed)
    }

    /// Returns the highest node that links up to `rank` lead to.
    #[inline]
    fn top(&self, mut node: u32, rank: R) -> u32 {
        loop {
            let parent = self.parent(node);
            if parent == node || self.ranks[node as usize] > rank {
                return node;
            }
            let above = self.parent(parent);
            let is_lossless = self.ranks[parent as usize] <= self.ranks[node as usize];
            if above != parent && is_lossless {
                self.parents[node as usize].store(above, Relaxed);
                node = above;
            } else {
                node = parent;
            }
        }
    }

    pub(super) fn drop_joined(&self, edges: &mut Vec<ArcRecord>, ladder: &Ladder) {
        let mut kept = 0;
        for at in 0..edges.len() {
            self.prefetch(edges, at + AHEAD);
            let edge = edges[at];
            let rank = R::of(edge.weight, ladder);
            if self.top(edge.source, rank) != self.top(edge.target, rank) {
                edges[kept] = edge;
                kept += 1;
            }
        }
        edges.truncate(kept);
    }

    pub(super) fn join_all(&mut self, edges: &[ArcRecord], ladder: &Ladder) {
        for (at, edge) in edges.iter().enumerate() {
            self.prefetch(edges, at + AHEAD);
            self.join(edge.source, edge.target, R::of(edge.weight, ladder));
        }
    }

    #[inline]
    fn prefetch(&self, edges: &[ArcRecord], at: usize) {
        if let Some(ahead) = edges.get(at) {
            for node in [ahead.source, ahead.target] {
                prefetch(&self.parents, node as usize);
                if size_of::<R>() > 0 {
                    prefetch(&self.ranks, node as usize);
                }
            }
        }
    }

    /// Joins two nodes at a rank.
    fn join(&mut self, a: u32, b: u32, rank: R) {
        let (mut a, mut b, mut rank) = (a, b, rank);
        loop {
            (a, b) = (self.top(a, rank), self.top(b, rank));
            if a == b {
                return;
            }
            let (low, high) = if priority(a) < priority(b) { (a, b) } else { (b, a) };
            let above = self.parent(low);
            self.parents[low as usize].store(high, Relaxed);
            let former = std::mem::replace(&mut self.ranks[low as usize], rank);
            if above == low {
                return;
            }
            (a, b, rank) = (high, above, former);
        }
    }

    /// Appends the roots of `nodes` by edges of at least the weight `code`.
    pub(super) fn put_roots(
        &self,
        code: u32,
        ladder: &Ladder,
        nodes: Range<usize>,
        roots: &mut Vec<u32>,
    ) {
        let rank = R::of(code, ladder);
        let all = nodes.into_par_iter().with_min_len(PART_NODES);
        roots.par_extend(all.map(|node| self.top(node as u32, rank)));
    }

    /// Returns the roots of all nodes by all edges, in the memory of the links.
    pub(super) fn into_roots(self) -> Vec<u32> {
        (0..self.parents.len()).into_par_iter().with_min_len(PART_NODES).for_each(|node| {
            let root = self.top(node as u32, R::LAST);
            self.parents[node].store(root, Relaxed);
        });
        self.parents.into_iter().map(AtomicU32::into_inner).collect()
    }

    /// Iterates over the links: a node, the node it leads to, and the rank.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, R)> {
        let all = self.parents.iter().zip(&self.ranks).enumerate();
        let all = all.map(|(node, (parent, &rank))| (node as u32, parent.load(Relaxed), rank));
        all.filter(|(node, parent, _)| node != parent)
    }

    pub(super) fn save(&self, to: &mut StateWriter) -> Result<()> {
        to.labels(&self.parents)?;
        R::save(&self.ranks, to)
    }

    pub(super) fn load(&mut self, from: &mut StateReader) -> Result<()> {
        from.labels(&mut self.parents)?;
        R::load(&mut self.ranks, from)
    }
}
