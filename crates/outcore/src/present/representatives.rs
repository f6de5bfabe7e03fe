//! Nodes by community: the one that stands for it, a line of all, or pairs of both.
//!
//! The node with the most weight to others of its community stands for it; among equals it is the earlier
//! one. In directed graphs the weight of arcs that point to the node counts. One scan of the graph for
//! that, and one of the names; names are sorted by the community's number in pieces of fixed size, so that
//! long ones do not take memory. Memory beside the labels: 12 bytes for each community of more than
//! one node, 8 for each node whose weight is written, and the sort's budget.

use super::matching::Workbench;
use super::record::{NAME_PIECE_BYTES, NamePiece};
use super::{Presented, RowForm};
use crate::cluster::{BlockSource, Tally};
use crate::error::Result;
use crate::graph::{Block, Graph};
use crate::output::{MemberWriter, RepresentativeWriter};
use crate::progress::{Event, REPORT_NODES, notify};
use crate::sort::Sorted;
use std::path::Path;

/// Memory for each community of more than one node.
pub(super) const LABEL_BYTES: u64 = 12;

/// What weighs inside communities.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    /// The node with the most weight, for each community of more than one.
    strongest: Vec<u32>,
    /// The weight of each node's edges inside its community; empty if it is not written.
    pub(crate) weights: Vec<f64>,
}

impl Inside {
    /// Scans the graph.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`, `Interrupted`.
    pub(crate) fn of(
        bench: &Workbench<'_>,
        graph: &Graph,
        presented: &Presented,
        keeps_weights: bool,
    ) -> Result<Self> {
        let count = presented.shared_count();
        let (mut most, mut strongest) = (vec![-1.0; count], vec![0; count]);
        let labels = presented.labels();
        let mut weights = vec![0.0; if keeps_weights { labels.len() } else { 0 }];
        let mut arcs = 0;
        let tick = |block: &Block| {
            arcs += block.arc_count();
            notify(bench.observer, Event::Advance { done: arcs })
        };
        let mut source = BlockSource::new(graph, 0);
        Tally::for_each_node(&mut source, labels, None, &mut [], tick, |node, sums| {
            let label = labels[node as usize] as usize;
            if let Some(most) = most.get_mut(label).filter(|most| **most < sums.inside) {
                *most = sums.inside;
                strongest[label] = node;
            }
            if let Some(weight) = weights.get_mut(node as usize) {
                *weight = sums.inside;
            }
        })?;
        Ok(Self { strongest, weights })
    }

    /// Whether a node stands for its community.
    fn stands(&self, node: u32, label: u32) -> bool {
        self.strongest.get(label as usize).is_none_or(|&strongest| strongest == node)
    }
}

/// Writes `community<TAB>node<TAB>size` for each community, by their numbers. Gives the length of the
/// file in bytes.
///
/// # Errors
/// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn write_representatives(
    bench: &Workbench<'_>,
    graph: &Graph,
    presented: &Presented,
    inside: &Inside,
    output: &Path,
) -> Result<u64> {
    let sizes = BySize::new(presented);
    let mut writer = RepresentativeWriter::create(bench.files, output)?;
    let numbers = presented.labels().iter().zip(0..).map(|(&label, node)| {
        let stands = label != Presented::NONE && inside.stands(node, label);
        Ok(stands.then(|| (presented.number_of(label), 0, u64::from(sizes.of(label)))))
    });
    let done = graph.arc_count();
    let sorted = sort_names(bench, graph, numbers, done)?;
    for_each_name(bench, sorted, done, |piece, name| writer.push(piece.number, name, piece.value))?;
    writer.finish()
}

/// Writes all nodes by community, in the order of the graph; of pairs the one first that stands for it. Gives
/// the length of the file in bytes.
///
/// # Errors
/// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn write_members(
    bench: &Workbench<'_>,
    graph: &Graph,
    presented: &Presented,
    inside: &Inside,
    rows: RowForm,
    output: &Path,
) -> Result<u64> {
    let mut scan = presented.scan(bench.files)?;
    let numbers = (0..graph.node_count() as u32).map(|node| {
        let Some(number) = scan.next_number()? else { return Ok(None) };
        let is_first =
            rows == RowForm::Pairs && inside.stands(node, presented.labels()[node as usize]);
        let weight = inside.weights.get(node as usize).copied().unwrap_or(0.0);
        Ok(Some((number, if is_first { 0 } else { node + 1 }, weight.to_bits())))
    });
    let done = graph.node_count();
    let sorted = sort_names(bench, graph, numbers, done)?;
    let mut writer = MemberWriter::create(bench.files, output, rows == RowForm::Pairs)?;
    let has_weights = !inside.weights.is_empty();
    for_each_name(bench, sorted, done, |piece, name| {
        let weight = has_weights.then(|| f64::from_bits(piece.value));
        writer.push(piece.number, name, weight)
    })?;
    writer.finish()
}

/// The names of nodes in pieces, by what each has in `numbers`: its community's number, its order there, and
/// a value. Progress tells `done`: there is no measure of it.
fn sort_names(
    bench: &Workbench<'_>,
    graph: &Graph,
    numbers: impl Iterator<Item = Result<Option<(u64, u32, u64)>>>,
    done: u64,
) -> Result<Sorted<NamePiece>> {
    let mut sorter = bench.sorter::<NamePiece>(1)?;
    let mut names = graph.names()?;
    let mut pieces = Vec::new();
    for (node, found) in (0u64..).zip(numbers) {
        let found = found?;
        let Some(name) = names.next_name()? else { break };
        if let Some((number, order, value)) = found {
            put_name(NamePiece { number, order, value, ..NamePiece::default() }, name, &mut pieces);
            sorter.push(&pieces)?;
            pieces.clear();
        }
        if node.is_multiple_of(REPORT_NODES) {
            notify(bench.observer, Event::Advance { done })?;
        }
    }
    sorter.finish()
}

fn put_name(of: NamePiece, name: &[u8], pieces: &mut Vec<NamePiece>) {
    let count = name.len().div_ceil(NAME_PIECE_BYTES);
    pieces.extend(name.chunks(NAME_PIECE_BYTES).enumerate().map(|(part, chunk)| {
        let mut bytes = [0; NAME_PIECE_BYTES];
        bytes[..chunk.len()].copy_from_slice(chunk);
        let (part, len, is_last) = (part as u16, chunk.len() as u8, part + 1 == count);
        NamePiece { part, len, is_last, bytes, ..of }
    }));
}

/// Puts the names together again.
fn for_each_name(
    bench: &Workbench<'_>,
    mut sorted: Sorted<NamePiece>,
    done: u64,
    mut take: impl FnMut(&NamePiece, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut name = Vec::new();
    while let Some(block) = sorted.next_block()? {
        for piece in block {
            name.extend_from_slice(&piece.bytes[..usize::from(piece.len)]);
            if piece.is_last {
                take(piece, &name)?;
                name.clear();
            }
        }
        notify(bench.observer, Event::Advance { done })?;
    }
    Ok(())
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
