//! Edges inside communities: found in one scan of the graph, sorted by community, and passed on in batches.
//!
//! ```text
//!  graph --scan--> (community, node, node) --sorter--> communities, as many as fit in memory at a time
//!                                                  `--> parts of a larger one
//! ```
//!
//! Cost: a scan, and 12 bytes per edge through the external sort (about 5 on disk). Memory: the budgets.

use crate::base::parallel::PerThread;
use crate::base::rows::RowsAhead;
use crate::finish::portions::push_arcs;
use crate::kernel::cache::BlockSource;
use outcore_graph::ArcRecord;
use outcore_io::error::Result;
use outcore_io::prefetch;
use outcore_sort::{Record, Sorted, Sorter, U96};

/// Edge inside a community, once per pair of nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct InsideEdge {
    pub(super) community: u32,
    pub(super) low: u32,
    pub(super) high: u32,
}

/// Ordered by community and nodes; encoded like arcs.
impl Record for InsideEdge {
    type Key = U96;

    #[inline]
    fn key(&self) -> U96 {
        U96::new(u64::from(self.community) << 32 | u64::from(self.low), self.high)
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        let arcs: Vec<ArcRecord> = records
            .iter()
            .map(|edge| ArcRecord { source: edge.community, target: edge.low, weight: edge.high })
            .collect();
        ArcRecord::encode(&arcs, out);
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let mut arcs = Vec::with_capacity(count);
        ArcRecord::decode(bytes, count, &mut arcs)?;
        let edge =
            |arc: ArcRecord| Self { community: arc.source, low: arc.target, high: arc.weight };
        out.extend(arcs.into_iter().map(edge));
        Some(())
    }
}

/// Passes the edges inside the `wanted` labels to the sorter. Directions do not count.
///
/// # Errors
/// Those of reading and writing, and of `tick`, which is called for each block.
pub(super) fn push_inside(
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
            out[filled] = InsideEdge { community, low, high };
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

/// Edges in the order of their communities.
pub(super) enum EdgeBatch<'a> {
    /// All edges of some communities.
    Whole(&'a [InsideEdge]),
    /// Edges of a community too large for one batch follow, until its end.
    Begin(u32),
    More(&'a [InsideEdge]),
    End,
}

/// Passes sorted edges on in batches of at most `most` edges, each once.
///
/// # Errors
/// Those of reading and of `visit`.
pub(super) fn for_batches(
    mut sorted: Sorted<InsideEdge>,
    most: usize,
    mut visit: impl FnMut(EdgeBatch<'_>) -> Result<()>,
) -> Result<()> {
    let mut batch: Vec<InsideEdge> = Vec::new();
    let mut last = None;
    let mut large = None;
    while let Some(block) = sorted.next_block()? {
        for edges in block.chunk_by(|a, b| a.community == b.community) {
            let community = edges[0].community;
            if large.is_some_and(|large| large != community) {
                visit(EdgeBatch::End)?;
                large = None;
            }
            if large.is_none() && batch.len() + edges.len() > most {
                let start = batch.partition_point(|edge| edge.community < community);
                if start > 0 {
                    visit(EdgeBatch::Whole(&batch[..start]))?;
                    batch.drain(..start);
                }
                if batch.len() + edges.len() > most {
                    visit(EdgeBatch::Begin(community))?;
                    visit(EdgeBatch::More(&batch))?;
                    batch.clear();
                    large = Some(community);
                }
            }
            let start = batch.len();
            for &edge in edges.iter().filter(|edge| last.replace(**edge) != Some(**edge)) {
                batch.push(edge);
            }
            if large.is_some() {
                visit(EdgeBatch::More(&batch[start..]))?;
                batch.clear();
            }
        }
    }
    if large.is_some() {
        return visit(EdgeBatch::End);
    }
    visit(EdgeBatch::Whole(&batch))
}
