//! Records of the arcs of a block, passed to a sort in portions that all threads fill.

use crate::base::parallel::{PerThread, piece_nodes};
use outcore_graph::{ArcScratch, Block};
use outcore_io::error::Result;
use outcore_sort::{Record, Sorter};
use std::ops::Range;

/// Bytes of the records passed to the sorter at a time: as many fit into one with the minimum budget.
const PORTION_BYTES: u64 = 3 << 19;

/// Returns the number of records passed to the sorter at a time.
pub(crate) const fn portion_records<R: Record>() -> u64 {
    PORTION_BYTES / size_of::<R>() as u64
}

/// Passes records of the arcs of a block to the sorter: `fill` writes at most `most` records for each of the targets of a
/// node, and returns their number. Arguments of `fill` are the node, targets, weight codes (none if all are 1), and
/// room for the records. It may be called several times for one node.
///
/// # Errors
/// Those of reading the block and of the sorter.
pub fn push_arcs<R: Record>(
    block: &Block,
    most: usize,
    sorter: &mut Sorter<R>,
    scratch: &PerThread<ArcScratch>,
    fill: impl Fn(u32, &[u32], &[u32], &mut [R]) -> usize + Sync,
) -> Result<()> {
    let arcs = portion_records::<R>() / most as u64;
    let mut begin = 0;
    while begin < block.node_count() {
        let end = portion_end(block, begin, arcs);
        match block.degree(begin) > arcs {
            true => scratch.with(|scratch| push_large(block, begin, most, sorter, scratch, &fill)),
            false => push_portion(block, begin..end, most, sorter, scratch, &fill),
        }?;
        begin = end;
    }
    Ok(())
}

/// Returns the end of the nodes that have at most `most` arcs in sum, at least one.
pub(crate) fn portion_end(block: &Block, begin: usize, most: u64) -> usize {
    let (mut end, mut arcs) = (begin + 1, block.degree(begin));
    while end < block.node_count() && arcs + block.degree(end) <= most {
        arcs += block.degree(end);
        end += 1;
    }
    end
}

/// Pushes the records of nodes that fit into a portion.
fn push_portion<R: Record>(
    block: &Block,
    locals: Range<usize>,
    most: usize,
    sorter: &mut Sorter<R>,
    scratch: &PerThread<ArcScratch>,
    fill: &(impl Fn(u32, &[u32], &[u32], &mut [R]) -> usize + Sync),
) -> Result<()> {
    let arcs: u64 = locals.clone().map(|local| block.degree(local)).sum();
    let piece = piece_nodes(locals.len(), arcs);
    let part =
        |at: usize| locals.start + at * piece..(locals.start + (at + 1) * piece).min(locals.end);
    let lens: Vec<usize> = (0..locals.len().div_ceil(piece))
        .map(|at| part(at).map(|local| most * block.degree(local) as usize).sum())
        .collect();
    sorter.push_parts(&lens, |at, out| {
        let mut filled = 0;
        scratch.with(|scratch| {
            part(at).try_for_each(|local| {
                let node = block.first_node() + local as u32;
                block.for_each_segment(local, scratch, |targets, codes| {
                    filled += fill(node, targets, codes, &mut out[filled..]);
                })
            })
        })?;
        Ok((filled, ()))
    })?;
    Ok(())
}

/// Pushes the records of a node with more arcs than a portion.
fn push_large<R: Record>(
    block: &Block,
    local: usize,
    most: usize,
    sorter: &mut Sorter<R>,
    scratch: &mut ArcScratch,
    fill: &impl Fn(u32, &[u32], &[u32], &mut [R]) -> usize,
) -> Result<()> {
    let (node, mut out, mut result) = (block.first_node() + local as u32, Vec::new(), Ok(()));
    block.for_each_segment(local, scratch, |targets, codes| {
        out.resize(most * targets.len(), R::default());
        let filled = fill(node, targets, codes, &mut out);
        if result.is_ok() {
            result = sorter.push(&out[..filled]);
        }
    })?;
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::cache::BlockSource;
    use outcore_graph::ArcRecord;
    use outcore_testkit::Edges;
    use std::path::Path;

    /// Several records of an arc fit into the smallest sort, too, also those of a node with many arcs.
    #[test]
    fn portions_fit_into_the_smallest_sort() {
        let count = 1 << 18;
        let path = Edges::new(count, (1..count).map(|node| (node - 1, node)));
        let star = Edges::new(count, (1..count).map(|node| (0, node)));
        let scratch = PerThread::new(ArcScratch::default);
        for (most, graph) in
            [1, 2, 3].into_iter().flat_map(|most| [(most, path.graph()), (most, star.graph())])
        {
            let budget = Sorter::<ArcRecord>::BUDGET_MIN;
            let mut sorter =
                Sorter::<ArcRecord>::new(graph.files(), Path::new("scratch"), budget, 1).unwrap();
            let push = |block: &Block| {
                push_arcs(block, most, &mut sorter, &scratch, |source, targets, _, out| {
                    for (out, &target) in out.chunks_mut(most).zip(targets) {
                        out.fill(ArcRecord { source, target, weight: 1 });
                    }
                    most * targets.len()
                })
            };
            BlockSource::new(&graph, 0).for_all(push).unwrap();
            let (mut sorted, mut records) = (sorter.finish().unwrap(), 0);
            while let Some(block) = sorted.next_block().unwrap() {
                records += block.len();
            }
            assert_eq!(records as u64, most as u64 * graph.arc_count());
        }
    }
}
