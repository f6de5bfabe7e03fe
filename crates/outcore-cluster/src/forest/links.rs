//! Links of a spanning forest, generic in the rank, for all nodes or those of a range.

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
    /// Returns the rank of an edge whose weight has this code.
    fn of(code: u32, ladder: &Ladder) -> Self;

    /// Returns the code of a weight that has this rank.
    fn code(self, ladder: &Ladder) -> u32;

    fn save(ranks: &[Self], to: &mut StateWriter) -> Result<()>;

    fn load(ranks: &mut [Self], from: &mut StateReader) -> Result<()>;
}

impl Rank for () {
    #[inline]
    fn of(_: u32, _: &Ladder) {}

    fn code(self, _: &Ladder) -> u32 {
        u32::MAX
    }

    fn save(_: &[Self], _: &mut StateWriter) -> Result<()> {
        Ok(())
    }

    fn load(_: &mut [Self], _: &mut StateReader) -> Result<()> {
        Ok(())
    }
}

impl Rank for u8 {
    #[inline]
    fn of(code: u32, ladder: &Ladder) -> u8 {
        match ladder {
            Ladder::Steps(steps) => steps.partition_point(|&step| step > code) as u8,
            Ladder::One | Ladder::Heights => 0,
        }
    }

    fn code(self, ladder: &Ladder) -> u32 {
        match ladder {
            // Edges below the last step have a rank of their own.
            Ladder::Steps(steps) => steps.get(usize::from(self)).copied().unwrap_or(0),
            Ladder::One | Ladder::Heights => u32::MAX,
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
    #[inline]
    fn of(code: u32, _: &Ladder) -> u32 {
        !code
    }

    fn code(self, _: &Ladder) -> u32 {
        !self
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
    /// First node with a link. Nodes before it are above all others.
    first: u32,
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
    /// Creates links of the nodes from `first`, with address space for `most` of them.
    pub(super) fn new(first: u32, most: usize) -> Self {
        Self { first, parents: reserve_large_pages(most), ranks: reserve_large_pages(most) }
    }

    /// Returns the node after the last one with a link.
    pub(super) fn end(&self) -> u64 {
        u64::from(self.first) + self.parents.len() as u64
    }

    /// Adds nodes up to the number `end`, without links.
    pub(super) fn grow(&mut self, end: u64) {
        let nodes = self.end() as u32..end as u32;
        self.parents.extend(nodes.map(AtomicU32::new));
        self.ranks.resize(self.parents.len(), R::default());
    }

    #[inline]
    fn at(&self, node: u32) -> usize {
        (node - self.first) as usize
    }

    #[inline]
    fn parent(&self, node: u32) -> u32 {
        self.parents[self.at(node)].load(Relaxed)
    }

    /// Returns whether `a` is above `b`.
    #[inline]
    fn is_above(&self, a: u32, b: u32) -> bool {
        a < self.first || (b >= self.first && priority(a) > priority(b))
    }

    /// Returns the highest node that links up to `rank` lead to.
    #[inline]
    fn top(&self, mut node: u32, rank: R) -> u32 {
        while node >= self.first {
            let (parent, own) = (self.parent(node), self.ranks[self.at(node)]);
            if parent == node || own > rank {
                break;
            }
            if parent < self.first {
                return parent;
            }
            let above = self.parent(parent);
            let is_lossless = self.ranks[self.at(parent)] <= own;
            if above != parent && is_lossless {
                self.parents[self.at(node)].store(above, Relaxed);
                node = above;
            } else {
                node = parent;
            }
        }
        node
    }

    /// Drops edges whose ends are joined already; those with an end after the last node stay.
    pub(super) fn drop_joined(&self, edges: &mut Vec<ArcRecord>, ladder: &Ladder) {
        let (mut kept, end) = (0, self.end());
        for at in 0..edges.len() {
            self.prefetch(edges, at + AHEAD);
            let edge = edges[at];
            let rank = R::of(edge.weight, ladder);
            let is_beyond = u64::from(edge.source.max(edge.target)) >= end;
            if is_beyond || self.top(edge.source, rank) != self.top(edge.target, rank) {
                edges[kept] = edge;
                kept += 1;
            }
        }
        edges.truncate(kept);
    }

    /// Joins the ends of edges; passes each edge between nodes before the first to `pass_on`.
    ///
    /// # Errors
    /// Those of `pass_on`.
    pub(super) fn join_all(
        &mut self,
        edges: &[ArcRecord],
        ladder: &Ladder,
        mut pass_on: impl FnMut(ArcRecord) -> Result<()>,
    ) -> Result<()> {
        for (at, edge) in edges.iter().enumerate() {
            self.prefetch(edges, at + AHEAD);
            let rank = R::of(edge.weight, ladder);
            if let Some((source, target, rank)) = self.join(edge.source, edge.target, rank) {
                pass_on(ArcRecord { source, target, weight: rank.code(ladder) })?;
            }
        }
        Ok(())
    }

    #[inline]
    fn prefetch(&self, edges: &[ArcRecord], at: usize) {
        if let Some(ahead) = edges.get(at) {
            for node in [ahead.source, ahead.target] {
                let at = node.wrapping_sub(self.first) as usize;
                prefetch(&self.parents, at);
                if size_of::<R>() > 0 {
                    prefetch(&self.ranks, at);
                }
            }
        }
    }

    /// Joins two nodes at a rank. If this leads to a node before `first`, returns the join that is left to do there.
    fn join(&mut self, a: u32, b: u32, rank: R) -> Option<(u32, u32, R)> {
        let (mut a, mut b, mut rank) = (a, b, rank);
        loop {
            (a, b) = (self.top(a, rank), self.top(b, rank));
            if a == b {
                return None;
            }
            let (low, high) = if self.is_above(b, a) { (a, b) } else { (b, a) };
            if low < self.first {
                return Some((a, b, rank));
            }
            let (above, at) = (self.parent(low), self.at(low));
            self.parents[at].store(high, Relaxed);
            let former = std::mem::replace(&mut self.ranks[at], rank);
            if above == low {
                return None;
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

    /// Returns the roots of all nodes by edges of at least the weight `code`, in the memory of the links. Some may be
    /// nodes before the first.
    pub(super) fn into_roots(self, code: u32, ladder: &Ladder) -> Vec<AtomicU32> {
        let rank = R::of(code, ladder);
        self.parents.par_iter().enumerate().with_min_len(PART_NODES).for_each(|(at, parent)| {
            parent.store(self.top(self.first + at as u32, rank), Relaxed);
        });
        self.parents
    }

    /// Iterates over the links: a node, the node it leads to, and the rank.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, R)> {
        let all = (self.first..).zip(&self.parents).zip(&self.ranks);
        let all = all.map(|((node, parent), &rank)| (node, parent.load(Relaxed), rank));
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
