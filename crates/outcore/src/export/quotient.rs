//! The network of communities: each is a node, with the weight of the edges between two of them, and that inside as a
//! loop.
//!
//! ```text
//!  graph --scan--> (community, community, weight) --sorter--> merged --writer--> network
//! ```
//!
//! As in the contraction of a level, the sorter brings equal pairs together in the order of their weights, so that sums
//! depend on nothing else. Nodes are in the order of the numbers of their communities, which are their names. Memory:
//! 4 bytes per node for the labels, 28 per community, the sort and the writer. Disk: 4 to 5 bytes per arc between
//! communities.

use super::nodes::NetworkNodes;
use crate::error::Result;
use crate::graph::{
    ArcRecord, ArcScratch, Block, Duplicates, Graph, GraphOptions, GraphWriter, NamesWriter,
};
use crate::membership::Membership;
use crate::present::Workbench;
use crate::progress::{Event, notify};
use crate::sort::Sorter;
use crate::weight::Weight;

const READ_AHEAD: usize = 2;
/// Memory per community.
pub(crate) const COMMUNITY_BYTES: u64 = 28;
/// Further memory per community that is a module: its name while names are sorted, its level, its flow.
pub(crate) const MODULE_BYTES: u64 = 96;

/// Communities that become nodes.
pub(crate) struct NamedCommunities {
    /// Label of each node of the graph, or [`Membership::NONE`].
    pub(crate) labels: Vec<u32>,
    /// Numbers by label.
    pub(crate) numbers: Vec<u64>,
    /// Names by number, unless the numbers are the names.
    pub(crate) names: Option<Vec<Box<str>>>,
    /// Whether they are modules, which have levels.
    pub(crate) are_modules: bool,
    /// Flow by label, if it is known.
    pub(crate) flow: Option<Vec<f64>>,
}

/// Network of communities.
pub(crate) struct Quotient {
    pub(crate) graph: Graph,
    pub(crate) nodes: NetworkNodes,
}

/// Writes the network of communities to the scratch directory; nodes without a label, and labels without a node, are
/// left out.
///
/// # Errors
/// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn write_quotient(
    bench: &Workbench<'_>,
    graph: &Graph,
    communities: NamedCommunities,
) -> Result<Quotient> {
    let NamedCommunities { mut labels, numbers, names, are_modules, flow } = communities;
    let (order, sizes) = rank(&mut labels, &numbers);
    let name_of =
        |label: u32| names.as_ref().map(|names| &*names[numbers[label as usize] as usize]);
    let level = |&label: &u32| name_of(label).map_or(1, |name| name.split(':').count() as u64);
    let levels = are_modules.then(|| order.iter().map(level).collect());
    let flow = flow.map(|flow| order.iter().map(|&label| flow[label as usize]).collect());
    let (files, network) = (bench.files, bench.scratch.join("network"));
    let mut writer = NamesWriter::create(files, &network)?;
    let mut digits = itoa::Buffer::new();
    order.iter().try_for_each(|&label| {
        let digits = digits.format(numbers[label as usize]);
        writer.push(name_of(label).unwrap_or(digits).as_bytes())
    })?;
    writer.finish()?;
    let mut sorter = bench.sorter(1)?;
    emit(bench, graph, &labels, sizes.len(), &mut sorter)?;
    drop(labels);
    let options = GraphOptions {
        node_count: sizes.len() as u64,
        directed: graph.is_directed(),
        duplicates: Duplicates::Sum,
        keep_loops: true,
    };
    let mut writer = GraphWriter::create(files, &network, &options)?;
    let mut sorted = sorter.finish()?;
    while let Some(records) = sorted.next_block()? {
        writer.push(records)?;
        notify(bench.observer, Event::Advance { done: graph.arc_count() })?;
    }
    writer.finish()?;
    let nodes = NetworkNodes { sizes, levels, flow };
    Ok(Quotient { graph: Graph::open(files, &network)?, nodes })
}

/// Replaces labels by the ranks of their numbers, among those that a node has. Returns the old labels and sizes by rank.
fn rank(labels: &mut [u32], numbers: &[u64]) -> (Vec<u32>, Vec<u64>) {
    let mut counts = vec![0u64; numbers.len()];
    let is_given = |label: &&mut u32| **label != Membership::NONE;
    labels.iter_mut().filter(is_given).for_each(|label| counts[*label as usize] += 1);
    let mut order: Vec<u32> =
        (0..numbers.len() as u32).filter(|&label| counts[label as usize] > 0).collect();
    order.sort_unstable_by_key(|&label| numbers[label as usize]);
    let mut ranks = vec![0u32; numbers.len()];
    for (rank, &label) in (0..).zip(&order) {
        ranks[label as usize] = rank;
    }
    labels.iter_mut().filter(is_given).for_each(|label| *label = ranks[*label as usize]);
    let sizes = order.iter().map(|&label| counts[label as usize]).collect();
    (order, sizes)
}

/// Passes the arcs between communities, and the weight inside each, to the sorter.
fn emit(
    bench: &Workbench<'_>,
    graph: &Graph,
    ranks: &[u32],
    count: usize,
    sorter: &mut Sorter<ArcRecord>,
) -> Result<()> {
    let mut inside = vec![0.0; count];
    let (mut scratch, mut done) = (ArcScratch::default(), 0);
    let mut scan = graph.scan(0..graph.blocks().len(), READ_AHEAD);
    while let Some(block) = scan.next()? {
        for local in 0..block.node_count() {
            let is_directed = graph.is_directed();
            put_row(&block, local, is_directed, ranks, &mut scratch, &mut inside, sorter)?;
        }
        done += block.arc_count();
        notify(bench.observer, Event::Advance { done })?;
    }
    for (source, &weight) in (0..).zip(&inside).filter(|&(_, &weight)| weight > 0.0) {
        let weight = Weight::new(weight.min(f64::MAX)).code();
        sorter.add(ArcRecord { source, target: source, weight })?;
    }
    Ok(())
}

/// Passes the arcs of a row to other communities to the sorter, and adds the weight of those inside its own.
fn put_row(
    block: &Block,
    local: usize,
    is_directed: bool,
    ranks: &[u32],
    scratch: &mut ArcScratch,
    inside: &mut [f64],
    sorter: &mut Sorter<ArcRecord>,
) -> Result<()> {
    let node = block.first_node() + local as u32;
    let source = ranks[node as usize];
    if source == Membership::NONE {
        return Ok(());
    }
    let (mut own, mut result) = (block.self_loop(local), Ok(()));
    block.for_each_segment(local, scratch, |targets, codes| {
        for (at, &other) in targets.iter().enumerate() {
            let weight = codes.get(at).copied().unwrap_or(Weight::ONE.code());
            let target = ranks[other as usize];
            if target == source && (is_directed || other < node) {
                own += Weight::from_code(weight).value();
            } else if target != source && target != Membership::NONE && result.is_ok() {
                result = sorter.add(ArcRecord { source, target, weight });
            }
        }
    })?;
    inside[source as usize] += own;
    result
}
