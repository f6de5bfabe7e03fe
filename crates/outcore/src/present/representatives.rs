//! One node for each community: the one with the most weight to others of its community.
//!
//! Among equals it is the earlier node. In directed graphs the weight of arcs that point to the node
//! counts. One scan of the graph and one of the names; the names found are sorted by the community's
//! number in pieces of fixed size, so that long names do not take memory. Memory beside the labels: 12
//! bytes for each community of more than one node, and the sort's budget.

use super::Presented;
use super::matching::Workbench;
use super::record::{NAME_PIECE_BYTES, NamePiece};
use crate::cluster::{BlockSource, Tally};
use crate::error::Result;
use crate::graph::{Block, Graph};
use crate::output::RepresentativeWriter;
use crate::progress::{Event, tell};
use crate::sort::Sorted;
use std::path::Path;

/// Memory for each community of more than one node.
pub(super) const LABEL_BYTES: u64 = 12;
/// Names between two reports of progress.
const REPORT_NODES: u64 = 1 << 18;

/// Writes `community<TAB>node<TAB>size` for each community, by their numbers. Gives the length of the
/// file in bytes.
///
/// # Errors
/// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn write_representatives(
    bench: &Workbench<'_>,
    graph: &Graph,
    presented: &Presented,
    output: &Path,
) -> Result<u64> {
    let nodes = strongest(bench, graph, presented)?;
    let mut sorted = sort_names(bench, graph, presented, &nodes)?;
    drop(nodes);
    let mut writer = RepresentativeWriter::create(bench.files, output)?;
    let mut name = Vec::new();
    while let Some(block) = sorted.next_block()? {
        for piece in block {
            name.extend_from_slice(&piece.bytes[..usize::from(piece.len)]);
            if piece.is_last {
                writer.push(piece.number, &name, u64::from(piece.size))?;
                name.clear();
            }
        }
        tell(bench.observer, Event::Advance { done: graph.arc_count() })?;
    }
    writer.finish()
}

/// The node with the most weight inside, for each community of more than one node.
fn strongest(bench: &Workbench<'_>, graph: &Graph, presented: &Presented) -> Result<Vec<u32>> {
    let count = presented.shared_count();
    let (mut weights, mut nodes) = (vec![-1.0; count], vec![0; count]);
    let mut arcs = 0;
    let tick = |block: &Block| {
        arcs += block.arc_count();
        tell(bench.observer, Event::Advance { done: arcs })
    };
    let labels = presented.labels();
    let mut source = BlockSource::new(graph, 0);
    Tally::for_each_node(&mut source, labels, None, &mut [], tick, |node, sums| {
        let label = labels[node as usize] as usize;
        if let Some(most) = weights.get_mut(label).filter(|most| **most < sums.inside) {
            *most = sums.inside;
            nodes[label] = node;
        }
    })?;
    Ok(nodes)
}

/// The names of the representatives in pieces, by the community's number.
fn sort_names(
    bench: &Workbench<'_>,
    graph: &Graph,
    presented: &Presented,
    nodes: &[u32],
) -> Result<Sorted<NamePiece>> {
    let mut sorter = bench.sorter::<NamePiece>("representatives", 1)?;
    let sizes = BySize::new(presented);
    let mut names = graph.names()?;
    let mut pieces = Vec::new();
    for node in 0..graph.node_count() as u32 {
        let Some(name) = names.next_name()? else { break };
        let label = presented.labels()[node as usize];
        let stands = nodes.get(label as usize).is_none_or(|&strongest| strongest == node);
        if label != Presented::NONE && stands {
            put_name(presented.number_of(label), sizes.of(label), name, &mut pieces);
            sorter.push(&pieces)?;
            pieces.clear();
        }
        if u64::from(node).is_multiple_of(REPORT_NODES) {
            tell(bench.observer, Event::Advance { done: graph.arc_count() })?;
        }
    }
    sorter.finish()
}

fn put_name(number: u64, size: u32, name: &[u8], pieces: &mut Vec<NamePiece>) {
    let count = name.len().div_ceil(NAME_PIECE_BYTES);
    pieces.extend(name.chunks(NAME_PIECE_BYTES).enumerate().map(|(part, chunk)| {
        let mut bytes = [0; NAME_PIECE_BYTES];
        bytes[..chunk.len()].copy_from_slice(chunk);
        let (part, len, is_last) = (part as u16, chunk.len() as u8, part + 1 == count);
        NamePiece { number, size, part, len, is_last, bytes }
    }));
}

/// Sizes by label: the largest community has the first.
struct BySize(Vec<(u64, u32)>);

impl BySize {
    fn new(presented: &Presented) -> Self {
        let mut end = 0;
        let ends = presented.sizes.iter().map(|size| {
            end += size.count;
            (end, size.size)
        });
        Self(ends.collect())
    }

    fn of(&self, label: u32) -> u32 {
        let at = self.0.partition_point(|&(end, _)| end <= u64::from(label));
        self.0.get(at).map_or(0, |&(_, size)| size)
    }
}
