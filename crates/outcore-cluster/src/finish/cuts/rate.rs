//! Counts well-connected communities, and those that one edge holds together.

use super::bridges::is_bridged;
use super::edges::{EdgeBatch, InsideEdge, for_batches, push_inside};
use super::large::Large;
use super::network::Network;
use super::separate::CutRound;
use super::split::{CommunityPiece, min_cut};
use crate::methods::connected::WellConnected;
use crate::store::ranked::Ranked;
use outcore_io::error::Result;
use outcore_sort::Sorter;
use rayon::prelude::*;

/// Counts of examined communities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ConnectedCount {
    /// Well-connected communities of more than one node, and their nodes.
    pub(crate) communities: u64,
    pub(crate) nodes: u64,
    /// Communities of two parts of at least two nodes each, with one edge between them.
    pub(crate) bridged: u64,
}

impl ConnectedCount {
    /// Counts a community whose edges are all known, or that lacks none of a small cut. Returns none if too few are
    /// known.
    fn of(piece: &CommunityPiece, rule: WellConnected) -> Option<Self> {
        let (nodes, enough) = (piece.nodes.len() as u64, enough(piece, rule));
        let network = || Network::new(piece.nodes.len(), &piece.edges);
        let least = min_cut(network(), enough.min(piece.known));
        if least >= piece.known && least < enough {
            return None;
        }
        let (communities, nodes) = if least > rule.bound(nodes) { (1, nodes) } else { (0, 0) };
        // Only a cut of one edge can be a bridge.
        let bridged = u64::from(least == 1 && is_bridged(&network()));
        Some(Self { communities, nodes, bridged })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            communities: self.communities + other.communities,
            nodes: self.nodes + other.nodes,
            bridged: self.bridged + other.bridged,
        }
    }
}

/// Returns the number of edges up to which the smallest cut of a community counts: one more than its bound, and at least
/// two, to tell a bridge.
fn enough(piece: &CommunityPiece, rule: WellConnected) -> u64 {
    rule.bound(piece.nodes.len() as u64).saturating_add(1).max(2)
}

/// Counts communities of more than one node; `sizes` has the number of nodes of each label.
///
/// # Errors
/// `MemoryTooSmall` for a large community; those of reading and writing.
pub(crate) fn rate(
    labels: &[u32],
    sizes: &[u32],
    round: CutRound<'_, '_>,
) -> Result<ConnectedCount> {
    let CutRound { source, directory, rule, room, tick, too_little } = round;
    let (files, threads) = (source.graph().files().clone(), rayon::current_num_threads());
    let mut sorter = Sorter::new(&files, directory, room.sort_bytes(), threads)?;
    push_inside(source, labels, |_| true, &mut sorter, tick)?;
    let mut found = ConnectedCount::default();
    let (mut members, mut large) = (Ranked::new(labels.len()), None);
    for_batches(sorter.finish()?, room.edges_at_once(&files), |batch| {
        tick()?;
        match batch {
            EdgeBatch::Whole(edges) => found = found.plus(count_all(edges, sizes, rule)),
            EdgeBatch::Begin(community) => {
                let nodes = (labels, &mut members);
                let room = (room.examined_bytes, files.cramped().community_edges);
                let begun = Large::begin(community, nodes, (rule, 0), room)?;
                large = Some(begun);
            }
            EdgeBatch::More(edges) => large.iter_mut().for_each(|large| large.add(edges, &members)),
            EdgeBatch::End => {
                let Some(piece) = large.take().map(Large::into_piece) else { return Ok(()) };
                let needed = || Large::bytes(piece.nodes.len() as u64, enough(&piece, rule));
                let one = ConnectedCount::of(&piece, rule).ok_or_else(|| too_little(needed()))?;
                found = found.plus(one);
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// Counts communities with all of their edges.
fn count_all(edges: &[InsideEdge], sizes: &[u32], rule: WellConnected) -> ConnectedCount {
    let communities: Vec<_> = edges.chunk_by(|a, b| a.community == b.community).collect();
    let each = communities.into_par_iter().filter_map(|edges| {
        let piece = CommunityPiece::new(edges, 0);
        // Missing nodes have no edge inside the community.
        let is_whole = piece.nodes.len() as u32 == sizes[edges[0].community as usize];
        is_whole.then(|| ConnectedCount::of(&piece, rule)).flatten()
    });
    each.reduce(ConnectedCount::default, ConnectedCount::plus)
}
