//! Large community: all of its edges if they fit in memory, otherwise a subset that preserves every small cut.
//!
//! A subset is built from forests: each edge goes to the first of `known` forests in which it closes no cycle, or is
//! left out. A cut of fewer than `known` edges keeps all of them: a forest that lacks one of its edges has another
//! (Nagamochi and Ibaraki, "A linear-time algorithm for finding a sparse k-connected spanning subgraph of a k-connected
//! graph", 1992). Two nodes that a forest connects are also connected in those before it, so the forest of an edge is
//! found by bisection.
//!
//! Memory, including the search for cuts: 112 bytes per node, and 68 per edge or, with forests, per node and forest.

use super::edges::{InsideEdge, ends};
use super::sets::Sets;
use super::split::CommunityPiece;
use crate::methods::connected::WellConnected;
use crate::store::ranked::Ranked;
use outcore_io::error::Result;

const NODE_BYTES: u64 = 112;
const FOREST_BYTES: u64 = 68;
/// Maximum number of forests relative to the necessary one: more forests let one examination find more parts.
const AMPLE: u64 = 4;

/// Large community, edge by edge.
pub(super) struct Large {
    piece: CommunityPiece,
    /// Number of edges that fit in memory.
    max_edges: usize,
    /// Number of forests if there are more edges.
    fitting: u64,
    forests: Vec<Sets>,
}

impl Large {
    /// Begins a community within `room` bytes; forests replace more than a maximum number of edges. Refills `members`
    /// with its nodes. If not even one forest fits in memory, no edge is kept.
    ///
    /// # Errors
    /// Those of `members`.
    pub(super) fn begin(
        community: u32,
        labels: &[u32],
        members: &mut Ranked,
        rule: WellConnected,
        floor: u64,
        room: u64,
        max_edges: usize,
    ) -> Result<Self> {
        members.refill(|members| {
            let own = (0..).zip(labels).filter(|(_, label)| **label == community);
            own.for_each(|(node, _)| members.insert(node));
            Ok(())
        })?;
        let mut nodes = Vec::with_capacity(members.count());
        members.for_each(0..labels.len() as u64, |node| nodes.push(node as u32));
        let count = nodes.len() as u64;
        let enough = floor.max(rule.bound(count).saturating_add(1));
        let of_edges = room.saturating_sub(NODE_BYTES * count);
        let fitting = of_edges / (FOREST_BYTES * count.max(1));
        let piece = CommunityPiece { nodes, edges: Vec::new(), floor, known: u64::MAX };
        Ok(Self {
            piece,
            max_edges: max_edges.min((of_edges / FOREST_BYTES) as usize),
            fitting: fitting.min(enough.saturating_mul(AMPLE)).min(count),
            forests: Vec::new(),
        })
    }

    /// Adds edges of the community.
    pub(super) fn add(&mut self, edges: &[InsideEdge], members: &Ranked) {
        for edge in edges {
            let ends = ends(edge).map(|node| members.rank(node) as u32);
            if self.piece.known < u64::MAX {
                self.add_to_forests(ends);
                continue;
            }
            self.piece.edges.push(ends);
            if self.piece.edges.len() > self.max_edges {
                self.piece.known = self.fitting;
                let count = self.piece.nodes.len();
                self.forests = (0..self.fitting).map(|_| Sets::new(count)).collect();
                let edges = std::mem::take(&mut self.piece.edges);
                edges.into_iter().for_each(|ends| self.add_to_forests(ends));
            }
        }
    }

    fn add_to_forests(&mut self, ends: [u32; 2]) {
        let is_joined = |forest: &mut Sets| forest.find(ends[0]) == forest.find(ends[1]);
        if self.forests.last_mut().is_none_or(is_joined) {
            return;
        }
        let (mut from, mut to) = (0, self.forests.len() - 1);
        while from < to {
            let middle = usize::midpoint(from, to);
            if is_joined(&mut self.forests[middle]) { from = middle + 1 } else { to = middle }
        }
        self.forests[from].join(ends[0], ends[1]);
        self.piece.edges.push(ends);
    }

    /// Returns the community with the edges kept.
    pub(super) fn into_piece(self) -> CommunityPiece {
        self.piece
    }

    /// Returns the memory to keep a number of edges for each of `nodes` nodes.
    pub(super) fn bytes(nodes: u64, known: u64) -> u64 {
        nodes * (NODE_BYTES + FOREST_BYTES * known.min(nodes))
    }
}
