//! Counts well-connected communities, and those that one edge holds together.

use super::bridges::is_bridged;
use super::edges::{Examined, InsideEdge, examine_inside};
use super::large::Large;
use super::multigraph::Multigraph;
use super::separate::CutRound;
use super::split::{CommunityPiece, min_cut};
use crate::methods::connected::WellConnected;
use outcore_io::error::Result;
use rayon::prelude::*;

/// Counts of examined communities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ConnectedCount {
    /// Number of well-connected communities of more than one node; `nodes` is the number of their nodes.
    pub(crate) communities: u64,
    pub(crate) nodes: u64,
    /// Communities of two parts of at least two nodes each, with one edge between them.
    pub(crate) bridged: u64,
}

impl ConnectedCount {
    /// Counts a community whose edges are all known, or at least those of a small cut. Returns `None` if too few are
    /// known.
    fn of(piece: &CommunityPiece, rule: WellConnected) -> Option<Self> {
        let (nodes, enough) = (piece.nodes.len() as u64, enough(piece, rule));
        let network = || Multigraph::new(piece.nodes.len(), &piece.edges);
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

/// Returns the size up to which the smallest cut of a community matters: one edge more than its bound, and at least
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
    let (rule, too_little) = (round.rule, round.too_little);
    let mut found = ConnectedCount::default();
    examine_inside(
        round,
        labels,
        |_| true,
        |_| 0,
        |communities| {
            let counted = match communities {
                Examined::Together(edges) => count_all(edges, sizes, rule),
                Examined::Alone(piece) => {
                    let needed = || Large::bytes(piece.nodes.len() as u64, enough(&piece, rule));
                    ConnectedCount::of(&piece, rule).ok_or_else(|| too_little(needed()))?
                }
            };
            found = found.plus(counted);
            Ok(())
        },
    )?;
    Ok(found)
}

/// Counts communities with all of their edges.
fn count_all(edges: &[InsideEdge], sizes: &[u32], rule: WellConnected) -> ConnectedCount {
    let communities: Vec<_> = edges.chunk_by(|a, b| a.source == b.source).collect();
    let each = communities.into_par_iter().filter_map(|edges| {
        let piece = CommunityPiece::new(edges, 0);
        // A node that is missing has no edge inside the community.
        let is_whole = piece.nodes.len() as u32 == sizes[edges[0].source as usize];
        is_whole.then(|| ConnectedCount::of(&piece, rule)).flatten()
    });
    each.reduce(ConnectedCount::default, ConnectedCount::plus)
}
