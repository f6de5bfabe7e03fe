//! Nodes by community: the representative, a line of all nodes, or pairs of the two.
//!
//! The representative of a community is the node with the largest weight to other nodes of the community; ties go to
//! the node that comes first. Directions do not count: an arc of a directed graph counts at both of its ends. Loops lead
//! to no other node; in the weights that are written, they count once. Representatives take one scan of the graph and one
//! of the names. Names are sorted by community number in pieces of fixed size, so that long names do not take memory.
//! Memory in addition to the labels: 12 bytes per community of more than one node, 8 per node whose weight is written, in
//! directed graphs 8 per node and 8 more if weights are written, and the budget of the sort.

use super::matching::Workbench;
use super::record::{NAME_PIECE_BYTES, NamePiece};
use super::summary::Sums;
use super::{Presented, RowForm};
use crate::cluster::base::table::Sum;
use crate::cluster::{BlockSource, Dendrogram, Tally};
use crate::error::Result;
use crate::graph::{ArcScratch, Block, Graph};
use crate::input::CLUSTERS_MARK;
use crate::output::{MemberWriter, OutputColumn, PlainWriter, Value, ValueKind};
use crate::progress::{Event, REPORT_NODES, notify};
use crate::sort::Sorted;
use crate::weight::Weight;
use std::cell::RefCell;
use std::path::Path;

/// Representatives and weights inside communities.
#[derive(Default)]
pub(crate) struct Inside {
    /// Node with the largest weight or the preferred one, for each community of more than one node.
    strongest: Vec<u32>,
    /// Weight of each node's edges inside its community; empty if weights are not written.
    pub(crate) weights: Vec<f64>,
}

impl Inside {
    /// Computes them by a scan of the graph; `sums` takes the same scan.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`, `Interrupted`; those of a sort with `sums`.
    pub(crate) fn of(
        bench: &Workbench<'_>,
        graph: &Graph,
        presented: &Presented,
        keeps_weights: bool,
        sums: Option<&mut Sums<'_>>,
    ) -> Result<Self> {
        let count = presented.shared_count();
        let (mut most, mut strongest) = (vec![-1.0; count], vec![0; count]);
        let (labels, is_directed) = (presented.labels(), graph.is_directed());
        let mut weights = vec![0.0; if keeps_weights { labels.len() } else { 0 }];
        let mut both_ends = vec![0.0; if is_directed { labels.len() } else { 0 }];
        let (mut arcs, mut scratch) = (0, ArcScratch::default());
        let sums = sums.map(RefCell::new);
        let mut compare = |node: u32, others: f64| {
            let label = labels[node as usize] as usize;
            if let Some(most) = most.get_mut(label).filter(|most| **most < others) {
                *most = others;
                strongest[label] = node;
            }
            if let Some(sums) = &sums {
                sums.borrow_mut().add_member(node, others);
            }
        };
        let tick = |block: &Block| {
            if let Some(sums) = &sums {
                sums.borrow_mut().add_arcs(block)?;
            }
            if is_directed {
                add_both_ends(block, labels, &mut both_ends, &mut scratch)?;
            }
            arcs += block.arc_count();
            notify(bench.observer, Event::Advance { done: arcs })
        };
        let mut source = BlockSource::new(graph, 0);
        Tally::for_each_node(&mut source, labels, None, &mut [], tick, |node, of_node| {
            let others = if is_directed { 0.0 } else { of_node.others };
            if let Some(weight) = weights.get_mut(node as usize) {
                *weight = others + of_node.own_loop;
            }
            if let Some(sums) = &sums {
                sums.borrow_mut().add_node(node, of_node.strength, of_node.inside);
            }
            if !is_directed {
                compare(node, others);
            }
        })?;
        // Arcs that leave a node are in the rows of others, so its weight is known at the end.
        (0..).zip(&both_ends).for_each(|(node, &others)| compare(node, others));
        weights.iter_mut().zip(&both_ends).for_each(|(weight, others)| *weight += others);
        Ok(Self { strongest, weights })
    }

    /// Returns the memory of the weights of nodes.
    pub(crate) fn weight_bytes(nodes: u64, is_directed: bool, keeps_weights: bool) -> u64 {
        8 * nodes * (u64::from(is_directed) + u64::from(keeps_weights))
    }

    /// Returns nothing but preferred nodes, in the place of those with the largest weight.
    pub(crate) fn of_preferred(preferred: Vec<u32>) -> Self {
        Self { strongest: preferred, weights: Vec::new() }
    }

    /// Returns the same with preferred nodes in the place of those with the largest weight.
    pub(crate) fn preferring(self, preferred: Vec<u32>) -> Self {
        Self { strongest: preferred, ..self }
    }

    /// Returns whether a node is the representative of its community.
    pub(super) fn stands(&self, node: u32, label: u32) -> bool {
        self.strongest.get(label as usize).is_none_or(|&strongest| strongest == node)
    }
}

/// Adds the weight of each arc inside a community to both of its ends, in the order of the rows.
fn add_both_ends(
    block: &Block,
    labels: &[u32],
    weights: &mut [f64],
    scratch: &mut ArcScratch,
) -> Result<()> {
    for local in 0..block.node_count() {
        let node = block.first_node() as usize + local;
        block.for_each_segment(local, scratch, |targets, codes| {
            f64::for_each(targets, codes, |target, weight| {
                let target = target as usize;
                if labels[target] == labels[node] {
                    weights[node] += weight;
                    weights[target] += weight;
                }
            });
        })?;
    }
    Ok(())
}

/// Writes a row of community, node and size for each community, in order of their numbers. Returns the length of the
/// file in bytes.
///
/// # Errors
/// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn write_representatives(
    bench: &Workbench<'_>,
    graph: &Graph,
    presented: &Presented,
    inside: &Inside,
    (output, has_header): (&Path, bool),
) -> Result<u64> {
    let sizes = BySize::new(presented);
    let columns =
        [("community", ValueKind::Number), ("node", ValueKind::Text), ("size", ValueKind::Number)]
            .map(|(name, kind)| OutputColumn::new(name, kind));
    let mut writer = PlainWriter::create(bench.files, output, &columns, has_header)?;
    let numbers = presented.labels().iter().zip(0..).map(|(&label, node)| {
        let stands = label != Presented::NONE && inside.stands(node, label);
        Ok(stands.then(|| (presented.number_of(label), 0, u64::from(sizes.of(label)))))
    });
    let done = graph.arc_count();
    let sorted = sort_names(bench, graph, numbers, (done, 1))?;
    for_each_name(bench, sorted, done, |piece, name| {
        let size = Value::Number(piece.value);
        writer.push([Value::Number(piece.number), Value::Name(name), size])
    })?;
    writer.finish()
}

/// Writes the nodes that represent their communities or have none, or all others, in the order of the graph. Returns the
/// length of the file in bytes.
///
/// # Errors
/// `CorruptFile`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn write_chosen(
    bench: &Workbench<'_>,
    graph: &Graph,
    presented: &Presented,
    inside: &Inside,
    represent: bool,
    (output, has_header): (&Path, bool),
) -> Result<u64> {
    let columns = [OutputColumn::new("node", ValueKind::Name)];
    let mut writer = PlainWriter::create(bench.files, output, &columns, has_header)?;
    let mut names = graph.names()?;
    for (node, &label) in (0..).zip(presented.labels()) {
        let Some(name) = names.next_name()? else { break };
        if (label == Presented::NONE || inside.stands(node, label)) == represent {
            writer.push([Value::Name(name)])?;
        }
        if u64::from(node).is_multiple_of(REPORT_NODES) {
            notify(bench.observer, Event::Advance { done: graph.arc_count() })?;
        }
    }
    writer.finish()
}

/// Writes the nodes of a dendrogram in its order, each with the weight at which it joins those before it. Returns the
/// length of the file in bytes.
///
/// # Errors
/// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn write_heights(
    bench: &Workbench<'_>,
    graph: &Graph,
    dendrogram: &Dendrogram,
    (output, has_header): (&Path, bool),
) -> Result<u64> {
    let columns = [("node", ValueKind::Text), ("weight", ValueKind::Real)];
    let columns = columns.map(|(name, kind)| OutputColumn::new(name, kind));
    let mut writer = PlainWriter::create(bench.files, output, &columns, has_header)?;
    let nodes = dendrogram.positions.iter().zip(&dendrogram.codes);
    let numbers = nodes.map(|(&at, &code)| Ok(Some((u64::from(at), 0, u64::from(code)))));
    let done = graph.node_count();
    let sorted = sort_names(bench, graph, numbers, (done, 1))?;
    for_each_name(bench, sorted, done, |piece, name| {
        let weight = match piece.value as u32 {
            0 => 0.0,
            code => Weight::from_code(code).value(),
        };
        writer.push([Value::Name(name), Value::Weight(weight)])
    })?;
    writer.finish()
}

/// Writes all nodes by community, in the order of the graph; in pairs, the representative comes first. Returns the
/// length of the file in bytes.
///
/// # Errors
/// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn write_members(
    bench: &Workbench<'_>,
    graph: &Graph,
    presented: &Presented,
    inside: &Inside,
    rows: RowForm,
    (output, has_header): (&Path, bool),
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
    let sorted = sort_names(bench, graph, numbers, (done, 1))?;
    let has_weights = !inside.weights.is_empty();
    let is_pairs = rows == RowForm::Pairs;
    let header: &[&str] = match is_pairs {
        true if has_weights => &["representative", "member", "weight"],
        true if has_header => &["representative", "member"],
        false if presented.are_lines_doubtful() => &[CLUSTERS_MARK],
        _ => &[],
    };
    let mut writer = MemberWriter::create(bench.files, output, is_pairs, header)?;
    for_each_name(bench, sorted, done, |piece, name| {
        let weight = has_weights.then(|| f64::from_bits(piece.value));
        writer.push(piece.number, name, weight)
    })?;
    writer.finish()
}

/// Sorts the names of nodes in pieces by their entries in `numbers`: community number, position in the community, and a
/// value, in a share of the budget for one of `sorts` sorts. Progress is always reported as `done`, as there is no measure
/// of it.
pub(super) fn sort_names(
    bench: &Workbench<'_>,
    graph: &Graph,
    numbers: impl Iterator<Item = Result<Option<(u64, u32, u64)>>>,
    (done, sorts): (u64, u64),
) -> Result<Sorted<NamePiece>> {
    let mut sorter = bench.sorter::<NamePiece>(sorts)?;
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

/// Appends the pieces of a name, each a record like `of`.
pub(crate) fn put_name(of: NamePiece, name: &[u8], pieces: &mut Vec<NamePiece>) {
    let count = name.len().div_ceil(NAME_PIECE_BYTES);
    pieces.extend(name.chunks(NAME_PIECE_BYTES).enumerate().map(|(part, chunk)| {
        let mut bytes = [0; NAME_PIECE_BYTES];
        bytes[..chunk.len()].copy_from_slice(chunk);
        let (part, len, is_last) = (part as u16, chunk.len() as u8, part + 1 == count);
        NamePiece { part, len, is_last, bytes, ..of }
    }));
}

/// Reassembles the names and passes them to `take`.
pub(super) fn for_each_name(
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

/// Community sizes by label, largest first: the end of each range of labels and its size.
pub(super) struct BySize(Vec<(u64, u32)>);

impl BySize {
    pub(super) fn new(presented: &Presented) -> Self {
        let mut end = 0;
        let ends = presented.sizes.iter().map(|size| {
            end += size.count;
            (end, size.size)
        });
        Self(ends.collect())
    }

    pub(super) fn of(&self, label: u32) -> u32 {
        let at = self.0.partition_point(|&(end, _)| end <= u64::from(label));
        self.0.get(at).map_or(0, |&(_, size)| size)
    }
}
