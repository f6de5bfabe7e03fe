//! Nodes by community: the representative, a line of all nodes, or pairs of the two.
//!
//! The representative of a community is the node with the largest weight to other nodes of the community; ties go to
//! the node that comes first. Directions do not count: an arc of a directed graph counts at both of its ends. Loops lead
//! to no other node; in the weights that are written, they count once. Representatives take one scan of the graph and one
//! of the names. Names are sorted by community number in pieces of fixed size, so that long names do not take memory.
//! Memory in addition to the labels: 12 bytes per community of more than one node, 8 per node whose weight is written, in
//! directed graphs 8 per node and 8 more if weights are written, and the budget of the sort.

use super::matching::Workbench;
use super::presentation_rows::{NamePiece, SortedNames, for_each_name, sort_names};
use super::summary::Sums;
use super::{Presented, RowForm};
use crate::cluster::base::table::Sum;
use crate::cluster::{BlockSource, Dendrogram, Tally};
use crate::error::Result;
use crate::graph::{ArcScratch, Block, Graph, NameType};
use crate::input::CLUSTERS_MARK;
use crate::output::{MemberLines, OutputColumn, RowFile, RowWriter, Value, ValueKind};
use crate::progress::{Event, REPORT_NODES, notify};
use crate::weight::Weight;
use std::cell::RefCell;

/// Representatives and weights inside communities.
#[derive(Default)]
pub(crate) struct Inside {
    /// Node with the largest weight or the preferred one, for each community of more than one node.
    pub(crate) strongest: Vec<u32>,
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
    file: RowFile<'_>,
) -> Result<u64> {
    let sizes = BySize::new(presented);
    let columns = [
        OutputColumn::new("community", ValueKind::Number),
        OutputColumn::of_nodes("node", graph.name_type(), ValueKind::Text),
        OutputColumn::new("size", ValueKind::Number),
    ];
    let mut writer = RowWriter::create(bench.files, file, &columns)?;
    let places = presented.labels().iter().zip(0..).map(|(&label, node)| {
        let stands = label != Presented::NONE && inside.stands(node, label);
        let number = || presented.number_of(label);
        Ok(stands.then(|| NamePiece::at(number(), 0, sizes.of(label).into())))
    });
    let done = graph.arc_count();
    let sorted = sort_names(bench, graph, places, done, 1)?;
    for_each_name(bench, sorted, done, |piece, name| {
        let size = Value::Number(piece.value as u64);
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
    file: RowFile<'_>,
) -> Result<u64> {
    let columns = [OutputColumn::of_nodes("node", graph.name_type(), ValueKind::Name)];
    let mut writer = RowWriter::create(bench.files, file, &columns)?;
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
    file: RowFile<'_>,
) -> Result<u64> {
    let columns = [
        OutputColumn::of_nodes("node", graph.name_type(), ValueKind::Text),
        OutputColumn::new("weight", ValueKind::Real),
    ];
    let mut writer = RowWriter::create(bench.files, file, &columns)?;
    let nodes = dendrogram.positions.iter().zip(&dendrogram.codes);
    let places = nodes.map(|(&at, &code)| {
        let weight = if code == 0 { 0.0 } else { Weight::from_code(code).value() };
        Ok(Some(NamePiece::at(at.into(), 0, weight)))
    });
    let done = graph.node_count();
    let sorted = sort_names(bench, graph, places, done, 1)?;
    for_each_name(bench, sorted, done, |piece, name| {
        writer.push([Value::Name(name), Value::Weight(piece.value)])
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
    file: RowFile<'_>,
) -> Result<u64> {
    let mut scan = presented.scan(bench.files)?;
    let places = (0..graph.node_count() as u32).map(|node| {
        let Some(number) = scan.next_number()? else { return Ok(None) };
        let is_first =
            rows == RowForm::Pairs && inside.stands(node, presented.labels()[node as usize]);
        let weight = inside.weights.get(node as usize).copied().unwrap_or(0.0);
        let order = if is_first { 0 } else { u64::from(node) + 1 };
        Ok(Some(NamePiece::at(number, order, weight)))
    });
    let done = graph.node_count();
    let sorted = sort_names(bench, graph, places, done, 1)?;
    match rows {
        RowForm::Pairs => {
            let has_weights = !inside.weights.is_empty();
            put_pairs(bench, sorted, graph.name_type(), has_weights, file, done)
        }
        RowForm::Nodes | RowForm::Communities => {
            let title = if presented.are_lines_doubtful() { CLUSTERS_MARK } else { "" };
            let mut lines = MemberLines::create(bench.files, file.path, title)?;
            for_each_name(bench, sorted, done, |piece, name| lines.push(piece.number, name))?;
            lines.finish()
        }
    }
}

/// Writes a row for each node of a community: the first node, and the node.
fn put_pairs(
    bench: &Workbench<'_>,
    sorted: SortedNames,
    name_type: NameType,
    has_weights: bool,
    file: RowFile<'_>,
    done: u64,
) -> Result<u64> {
    let mut columns = vec![
        OutputColumn::of_nodes("representative", name_type, ValueKind::Text),
        OutputColumn::of_nodes("member", name_type, ValueKind::Name),
    ];
    columns.extend(has_weights.then(|| OutputColumn::new("weight", ValueKind::Real)));
    let has_header = file.has_header || has_weights;
    let mut rows = RowWriter::create(bench.files, RowFile { has_header, ..file }, &columns)?;
    let (mut community, mut first) = (None, Vec::new());
    for_each_name(bench, sorted, done, |piece, name| {
        if community.replace(piece.number) != Some(piece.number) {
            first.clear();
            first.extend_from_slice(name);
        }
        let weight = has_weights.then_some(Value::Weight(piece.value));
        rows.push([Value::Name(&first), Value::Name(name)].into_iter().chain(weight))
    })?;
    rows.finish()
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
