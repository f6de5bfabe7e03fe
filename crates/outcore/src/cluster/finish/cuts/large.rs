//! Community whose edges do not all fit in memory: as many of them as show every small cut.
//!
//! Each edge goes to the first of `known` forests in which it closes no cycle, or is left out. A cut of fewer than `known`
//! edges keeps all of them: a forest that lacks one of its edges has another (Nagamochi and Ibaraki, "A linear-time
//! algorithm for finding a sparse k-connected spanning subgraph of a k-connected graph", 1992). What two nodes connects
//! in a forest connects them in those before it, so the forest of an edge is found by bisection.
//!
//! Memory: 112 bytes per node, and 68 for each forest, with that of the search for cuts.

use super::edges::InsideEdge;
use super::sets::Sets;
use super::split::CommunityPiece;
use crate::cluster::methods::connected::WellConnected;
use crate::cluster::store::ranked::Ranked;
use crate::error::Result;

const NODE_BYTES: u64 = 112;
const FOREST_BYTES: u64 = 68;
/// More forests than necessary, in units of those that are, let one examination find more parts.
const AMPLE: u64 = 4;

/// Large community, edge by edge.
pub(super) struct Large {
    forests: Vec<Sets>,
    piece: CommunityPiece,
}

impl Large {
    /// Begins a community within `room` bytes; refills `members` with its nodes. Nodes of a community from whose edges
    /// too few fit in memory give no forest.
    ///
    /// # Errors
    /// Those of `members`.
    pub(super) fn begin(
        community: u32,
        (labels, members): (&[u32], &mut Ranked),
        (rule, floor): (WellConnected, u64),
        room: u64,
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
        let fitting = (room / count.max(1)).saturating_sub(NODE_BYTES) / FOREST_BYTES;
        let known = fitting.min(enough.saturating_mul(AMPLE)).min(count);
        let forests = (0..known).map(|_| Sets::new(nodes.len())).collect();
        let piece = CommunityPiece { nodes, edges: Vec::new(), floor, known };
        Ok(Self { forests, piece })
    }

    /// Adds edges of the community.
    pub(super) fn add(&mut self, edges: &[InsideEdge], members: &Ranked) {
        for edge in edges {
            let ends = [edge.low, edge.high].map(|node| members.rank(node) as u32);
            let is_joined = |forest: &mut Sets| forest.find(ends[0]) == forest.find(ends[1]);
            if self.forests.last_mut().is_none_or(is_joined) {
                continue;
            }
            let (mut from, mut to) = (0, self.forests.len() - 1);
            while from < to {
                let middle = usize::midpoint(from, to);
                if is_joined(&mut self.forests[middle]) { from = middle + 1 } else { to = middle }
            }
            self.forests[from].join(ends[0], ends[1]);
            self.piece.edges.push(ends);
        }
    }

    /// Returns the community with the edges kept.
    pub(super) fn into_piece(self) -> CommunityPiece {
        self.piece
    }

    /// Returns the memory to keep so many edges of each of `nodes` nodes.
    pub(super) fn bytes(nodes: u64, known: u64) -> u64 {
        nodes * (NODE_BYTES + FOREST_BYTES * known.min(nodes))
    }
}
