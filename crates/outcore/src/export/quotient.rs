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

/// Network of communities.
pub(crate) struct Quotient {
    pub(crate) graph: Graph,
    /// Number of nodes in each community.
    pub(crate) sizes: Vec<u64>,
}

/// Writes the network of the communities of `labels` to the scratch directory; nodes without a label, and labels
/// without a node, are left out. `numbers` are those of the labels.
///
/// # Errors
/// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn write_quotient(
    bench: &Workbench<'_>,
    graph: &Graph,
    mut labels: Vec<u32>,
    numbers: &[u64],
) -> Result<Quotient> {
    let (numbers, sizes) = rank(&mut labels, numbers);
    let (files, network) = (bench.files, bench.scratch.join("network"));
    let mut names = NamesWriter::create(files, &network)?;
    let mut digits = itoa::Buffer::new();
    numbers.iter().try_for_each(|&number| names.push(digits.format(number).as_bytes()))?;
    names.finish()?;
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
    Ok(Quotient { graph: Graph::open(files, &network)?, sizes })
}

/// Replaces labels by the ranks of their numbers, among those that a node has. Returns the numbers and sizes by rank.
fn rank(labels: &mut [u32], numbers: &[u64]) -> (Vec<u64>, Vec<u64>) {
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
    let of = |values: &[u64]| order.iter().map(|&label| values[label as usize]).collect();
    (of(numbers), of(&counts))
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
