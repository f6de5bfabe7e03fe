//! Edges inside communities: found in one scan of the graph, sorted by community, and passed on in batches.
//!
//! ```text
//!  graph --scan--> (community, node, node) --sorter--> communities, as many as fit in memory at a time
//!                                                  `--> parts of a larger one
//! ```
//!
//! Cost: a scan, and 12 bytes per edge through the external sort (about 5 on disk). Memory: the budgets.

use super::large::Large;
use super::separate::CutRound;
use super::split::CommunityPiece;
use crate::base::parallel::PerThread;
use crate::base::rows::RowsAhead;
use crate::finish::portions::push_arcs;
use crate::kernel::cache::BlockSource;
use crate::store::ranked::Ranked;
use outcore_graph::ArcRecord;
use outcore_io::error::Result;
use outcore_io::prefetch;
use outcore_sort::{Record, Sorted, Sorter};

/// Edge inside a community, once per pair of nodes: an arc from the community to the node with the lower number, whose
/// weight is the other node.
pub(super) type InsideEdge = ArcRecord;

/// Returns the nodes of an edge, the lower number first.
pub(super) fn ends(edge: &InsideEdge) -> [u32; 2] {
    [edge.target, edge.weight]
}

/// Communities with all of their edges, or one that is too large to come with others.
pub(super) enum Examined<'a> {
    Together(&'a [InsideEdge]),
    Alone(CommunityPiece),
}

/// Passes the edges inside the `wanted` communities to `visit`, sorted; directions do not count. `floor` is that of a
/// community.
///
/// # Errors
/// `MemoryTooSmall` for a large community; those of reading and writing, and of `visit`.
pub(super) fn examine_inside(
    round: CutRound<'_, '_>,
    labels: &[u32],
    wanted: impl Fn(u32) -> bool + Sync,
    floor: impl Fn(u32) -> u64,
    mut visit: impl FnMut(Examined<'_>) -> Result<()>,
) -> Result<()> {
    let CutRound { source, directory, rule, room, tick, .. } = round;
    let (files, threads) = (source.graph().files().clone(), rayon::current_num_threads());
    let mut sorter = Sorter::new(&files, directory, room.sort_bytes(), threads)?;
    push_inside(source, labels, wanted, &mut sorter, tick)?;
    let (at_once, max_edges) = (room.edges_at_once(&files), files.cramped().community_edges);
    let (mut members, mut large) = (Ranked::new(0), None);
    let community = |edge: &InsideEdge| edge.source;
    for_batches(sorter.finish()?, at_once, community, |batch| {
        tick()?;
        match batch {
            Batch::Whole(edges) => visit(Examined::Together(edges))?,
            Batch::Begin(community) => {
                if members.count() == 0 {
                    members = Ranked::new(labels.len());
                }
                let (floor, room) = (floor(community), room.examined_bytes);
                let members = &mut members;
                large =
                    Some(Large::begin(community, labels, members, rule, floor, room, max_edges)?);
            }
            Batch::More(edges) => large.iter_mut().for_each(|large| large.add(edges, &members)),
            Batch::End => {
                let piece = large.take().map(Large::into_piece);
                piece.map_or(Ok(()), |piece| visit(Examined::Alone(piece)))?;
            }
        }
        Ok(())
    })
}

/// Passes the edges inside the `wanted` labels to the sorter. Directions do not count.
fn push_inside(
    source: &mut BlockSource<'_>,
    labels: &[u32],
    wanted: impl Fn(u32) -> bool + Sync,
    sorter: &mut Sorter<InsideEdge>,
    mut tick: impl FnMut() -> Result<()>,
) -> Result<()> {
    let directed = source.graph().is_directed();
    let rows = PerThread::new(RowsAhead::default);
    let fetch = |_, targets: &[u32]| {
        targets.iter().for_each(|&target| prefetch(labels, target as usize));
    };
    let fill = |node: u32, targets: &[u32], out: &mut [InsideEdge]| {
        let community = labels[node as usize];
        let end = if directed { targets.len() } else { targets.partition_point(|&to| to < node) };
        let mut filled = 0;
        for &target in &targets[..end] {
            let (low, high) = (node.min(target), node.max(target));
            out[filled] = InsideEdge { source: community, target: low, weight: high };
            filled += usize::from(labels[target as usize] == community && target != node);
        }
        filled
    };
    source.for_all(|block| {
        tick()?;
        push_arcs(block, 1, sorter, &rows, fetch, |node, targets, _, out| {
            if wanted(labels[node as usize]) { fill(node, targets, out) } else { 0 }
        })
    })
}

/// Records in the order of their communities.
pub(crate) enum Batch<'a, R> {
    /// All records of some communities.
    Whole(&'a [R]),
    /// Beginning of a community that is too large for one batch; its records follow until its end.
    Begin(u32),
    More(&'a [R]),
    End,
}

/// Passes on sorted records, without repetitions, in batches of whole communities with at most `most` records. `of`
/// returns the community of a record.
///
/// # Errors
/// Those of reading and of `visit`.
pub(crate) fn for_batches<R: Record + PartialEq>(
    mut sorted: Sorted<R>,
    most: usize,
    of: impl Fn(&R) -> u32,
    mut visit: impl FnMut(Batch<'_, R>) -> Result<()>,
) -> Result<()> {
    let mut batch: Vec<R> = Vec::new();
    let mut last = None;
    let mut large = None;
    while let Some(block) = sorted.next_block()? {
        for records in block.chunk_by(|a, b| of(a) == of(b)) {
            let community = of(&records[0]);
            if large.is_some_and(|large| large != community) {
                visit(Batch::End)?;
                large = None;
            }
            if large.is_none() && batch.len() + records.len() > most {
                let start = batch.partition_point(|record| of(record) < community);
                if start > 0 {
                    visit(Batch::Whole(&batch[..start]))?;
                    batch.drain(..start);
                }
                if batch.len() + records.len() > most {
                    visit(Batch::Begin(community))?;
                    visit(Batch::More(&batch))?;
                    batch.clear();
                    large = Some(community);
                }
            }
            let start = batch.len();
            for &record in records.iter().filter(|record| last.replace(**record) != Some(**record))
            {
                batch.push(record);
            }
            if large.is_some() {
                visit(Batch::More(&batch[start..]))?;
                batch.clear();
            }
        }
    }
    if large.is_some() {
        return visit(Batch::End);
    }
    visit(Batch::Whole(&batch))
}
