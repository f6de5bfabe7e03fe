//! Counts well-connected communities.

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

/// Well-connected communities of more than one node, and their nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WellCount {
    pub(crate) communities: u64,
    pub(crate) nodes: u64,
}

impl WellCount {
    fn plus(self, other: Self) -> Self {
        let communities = self.communities + other.communities;
        Self { communities, nodes: self.nodes + other.nodes }
    }
}

/// Counts the well-connected communities of more than one node; `sizes` has the number of nodes of each label.
///
/// # Errors
/// `MemoryTooSmall` for a large community; those of reading and writing.
pub(crate) fn rate(labels: &[u32], sizes: &[u32], round: CutRound<'_, '_>) -> Result<WellCount> {
    let CutRound { source, directory, rule, room, tick, too_little } = round;
    let (files, threads) = (source.graph().files().clone(), rayon::current_num_threads());
    let mut sorter = Sorter::new(&files, directory, room.sort_bytes(), threads)?;
    push_inside(source, labels, |_| true, &mut sorter, tick)?;
    let mut found = WellCount::default();
    let (mut members, mut large) = (Ranked::new(labels.len()), None);
    for_batches(sorter.finish()?, room.edges_at_once(&files), |batch| {
        tick()?;
        match batch {
            EdgeBatch::Whole(edges) => found = found.plus(well_connected(edges, sizes, rule)),
            EdgeBatch::Begin(community) => {
                let nodes = (labels, &mut members);
                let room = (room.examined_bytes, files.cramped().community_edges);
                let begun = Large::begin(community, nodes, (rule, 0), room)?;
                large = Some(begun);
            }
            EdgeBatch::More(edges) => large.iter_mut().for_each(|large| large.add(edges, &members)),
            EdgeBatch::End => {
                let Some(piece) = large.take().map(Large::into_piece) else { return Ok(()) };
                let (nodes, least) = (piece.nodes.len() as u64, cut_of(&piece, rule));
                if least > rule.bound(nodes) {
                    found = found.plus(WellCount { communities: 1, nodes });
                } else if least >= piece.known {
                    let needed = Large::bytes(nodes, rule.bound(nodes).saturating_add(1));
                    return Err(too_little(needed));
                }
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// Returns the smallest cut of a community, up to one more than its bound.
fn cut_of(piece: &CommunityPiece, rule: WellConnected) -> u64 {
    let enough = rule.bound(piece.nodes.len() as u64).saturating_add(1);
    min_cut(Network::new(piece.nodes.len(), &piece.edges), enough.min(piece.known))
}

fn well_connected(edges: &[InsideEdge], sizes: &[u32], rule: WellConnected) -> WellCount {
    let communities: Vec<_> = edges.chunk_by(|a, b| a.community == b.community).collect();
    let each = communities.into_par_iter().map(|edges| {
        let piece = CommunityPiece::new(edges, 0);
        let nodes = piece.nodes.len() as u64;
        // Missing nodes have no edge inside the community.
        let is_whole = nodes == u64::from(sizes[edges[0].community as usize]);
        match is_whole && cut_of(&piece, rule) > rule.bound(nodes) {
            true => WellCount { communities: 1, nodes },
            false => WellCount::default(),
        }
    });
    each.reduce(WellCount::default, WellCount::plus)
}
