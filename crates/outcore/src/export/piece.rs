//! Pieces of a graph: some consecutive rows of a block, and of the first and last one perhaps some arcs only.

use crate::error::Result;
use crate::graph::{ArcScratch, Block};
use crate::weight::Weight;
use std::ops::Range;
use std::sync::Arc;

/// Arcs of a piece of several nodes: enough to hide the cost of passing it on, few enough that threads share a block.
const PIECE_ARCS: u64 = 1 << 14;

/// Arcs of a row that make an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// All arcs.
    All,
    /// Arcs to nodes with a larger index: each undirected edge once.
    Above,
    /// Arcs to nodes with a smaller index.
    Below,
}

/// Position in a graph: a node, and how many of its arcs come before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) node: u64,
    pub(super) arc: u64,
}

impl Position {
    pub(super) const START: Self = Self { node: 0, arc: 0 };

    /// Returns the position after all arcs of a node.
    pub(super) fn after(node: u64) -> Self {
        Self { node: node + 1, arc: 0 }
    }
}

/// Consecutive rows.
pub(super) struct Piece {
    pub(super) number: u64,
    pub(super) block: Arc<Block>,
    /// Rows, counted in the block.
    pub(super) rows: Range<usize>,
    /// Positions between which arcs belong to the piece.
    pub(super) within: Range<Position>,
}

/// Some arcs of a row.
pub(super) struct Segment<'a> {
    /// Node of the row.
    pub(super) node: u32,
    /// Whether these are the first and the last arcs of the row.
    pub(super) is_first: bool,
    pub(super) is_last: bool,
    /// Number of the first of these arcs in the row.
    pub(super) first_arc: u64,
    /// Number of arcs of the whole row.
    degree: u64,
    /// Code of the weight of the node's loop, only with the first arcs of the row.
    pub(super) own: Option<u32>,
    pub(super) others: &'a [u32],
    /// Codes of their weights; empty if all are 1.
    pub(super) codes: &'a [u32],
}

impl Segment<'_> {
    /// Returns whether the node has no arc in its row, and no loop.
    pub(super) fn is_lone(&self) -> bool {
        self.degree == 0 && self.own.is_none()
    }
}

/// Cuts the rows of a block into pieces; `take` gets the rows of each.
pub(super) fn cut(block: &Block, mut take: impl FnMut(Range<usize>) -> Result<()>) -> Result<()> {
    let (mut begin, mut arcs) = (0, 0);
    for local in 0..block.node_count() {
        arcs += block.degree(local) + 1;
        if arcs >= PIECE_ARCS {
            take(begin..local + 1)?;
            (begin, arcs) = (local + 1, 0);
        }
    }
    if begin < block.node_count() { take(begin..block.node_count()) } else { Ok(()) }
}

/// Passes the arcs of some rows between two positions to `f`, in order. A row without such arcs is passed once.
pub(super) fn for_each_segment(
    block: &Block,
    rows: Range<usize>,
    within: &Range<Position>,
    side: Side,
    scratch: &mut ArcScratch,
    mut f: impl FnMut(&Segment<'_>),
) -> Result<()> {
    for local in rows {
        let node = block.first_node() + local as u32;
        let index = u64::from(node);
        let from = if index == within.start.node { within.start.arc } else { 0 };
        let to = if index == within.end.node { within.end.arc } else { u64::MAX };
        let is_before = index < within.start.node;
        if is_before || index > within.end.node || index == within.end.node && to == 0 {
            continue;
        }
        let weight = block.self_loop(local);
        let own = (weight > 0.0 && from == 0).then(|| Weight::new(weight).code());
        let degree = block.degree(local);
        if degree == 0 {
            let (others, codes) = (&[][..], &[][..]);
            f(&Segment {
                node,
                is_first: true,
                is_last: true,
                first_arc: 0,
                degree,
                own,
                others,
                codes,
            });
            continue;
        }
        let mut at = 0;
        block.for_each_segment(local, scratch, |targets, codes| {
            let (begin, end) = (at, at + targets.len() as u64);
            at = end;
            if end <= from || begin >= to {
                return;
            }
            let part = (from.max(begin) - begin) as usize..(to.min(end) - begin) as usize;
            let wanted = wanted(&targets[part.clone()], node, side);
            let wanted = part.start + wanted.start..part.start + wanted.end;
            let codes = if codes.is_empty() { codes } else { &codes[wanted.clone()] };
            let (is_first, is_last) = (begin == 0, end >= degree);
            let (own, first_arc) = (own.filter(|_| is_first), begin + wanted.start as u64);
            let others = &targets[wanted];
            f(&Segment { node, is_first, is_last, first_arc, degree, own, others, codes });
        })?;
    }
    Ok(())
}

/// Returns the number of nodes between two positions that have no arcs in their row, and no loop.
pub(super) fn lone_count(block: &Block, within: &Range<Position>) -> u64 {
    let is_lone = |&local: &usize| {
        let node = u64::from(block.first_node()) + local as u64;
        let is_within = (within.start.node..within.end.node).contains(&node);
        is_within && block.degree(local) == 0 && block.self_loop(local) == 0.0
    };
    (0..block.node_count()).filter(is_lone).count() as u64
}

/// Returns which of the ascending targets are on a side of the node.
fn wanted(targets: &[u32], node: u32, side: Side) -> Range<usize> {
    match side {
        Side::All => 0..targets.len(),
        Side::Above => targets.partition_point(|&target| target <= node)..targets.len(),
        Side::Below => 0..targets.partition_point(|&target| target < node),
    }
}
