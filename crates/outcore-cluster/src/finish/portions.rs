//! Records of the arcs of a block, passed to a sort in portions that all threads fill.

use crate::base::parallel::{PerThread, piece_nodes};
use crate::base::rows::RowsAhead;
use outcore_graph::Block;
use outcore_io::error::Result;
use outcore_sort::{Record, Sorter};
use std::ops::Range;

/// Bytes of the records passed to the sorter at a time. A sorter with the minimum budget has room for them.
const PORTION_BYTES: u64 = 3 << 19;

/// Returns the number of records passed to the sorter at a time.
pub(crate) const fn portion_records<R: Record>() -> u64 {
    PORTION_BYTES / size_of::<R>() as u64
}

/// Passes records of the arcs of a block to the sorter: `fill` writes at most `most` records for each of the targets of a
/// node, and returns their number. Arguments of `fill` are the node, targets, weight codes (none if all are 1), and
/// room for the records. It may be called several times for one node. The node and its targets are passed to `fetch` before.
///
/// # Errors
/// Those of reading the block and of the sorter.
pub fn push_arcs<R: Record>(
    block: &Block,
    most: usize,
    sorter: &mut Sorter<R>,
    rows: &PerThread<RowsAhead>,
    fetch: impl Fn(u32, &[u32]) + Sync,
    fill: impl Fn(u32, &[u32], &[u32], &mut [R]) -> usize + Sync,
) -> Result<()> {
    let fetch = |local: usize, targets: &[u32]| fetch(block.first_node() + local as u32, targets);
    let arcs = portion_records::<R>() / most as u64;
    let mut begin = 0;
    while begin < block.node_count() {
        let end = portion_end(block, begin, arcs);
        let (locals, scan) = (begin..end, Scan { block, rows, fetch: &fetch });
        match block.degree(begin) > arcs {
            true => push_large(&scan, begin, most, sorter, &fill),
            false => push_portion(&scan, locals, most, sorter, &fill),
        }?;
        begin = end;
    }
    Ok(())
}

/// Block whose rows are read.
struct Scan<'a, F> {
    block: &'a Block,
    rows: &'a PerThread<RowsAhead>,
    fetch: &'a F,
}

/// Returns the end of the nodes from `begin` on that have at most `most` arcs together, but at least one node.
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
    scan: &Scan<'_, impl Fn(usize, &[u32]) + Sync>,
    locals: Range<usize>,
    most: usize,
    sorter: &mut Sorter<R>,
    fill: &(impl Fn(u32, &[u32], &[u32], &mut [R]) -> usize + Sync),
) -> Result<()> {
    let &Scan { block, rows, fetch } = scan;
    let arcs: u64 = locals.clone().map(|local| block.degree(local)).sum();
    let piece = piece_nodes(locals.len(), arcs);
    let part =
        |at: usize| locals.start + at * piece..(locals.start + (at + 1) * piece).min(locals.end);
    let lens: Vec<usize> = (0..locals.len().div_ceil(piece))
        .map(|at| part(at).map(|local| most * block.degree(local) as usize).sum())
        .collect();
    sorter.push_parts(&lens, |at, out| {
        let mut filled = 0;
        rows.with(|rows| {
            rows.for_each(block, part(at), fetch, |row| {
                let node = block.first_node() + row.local as u32;
                filled += fill(node, row.targets, row.codes, &mut out[filled..]);
                Ok(())
            })
        })?;
        Ok((filled, ()))
    })?;
    Ok(())
}

/// Pushes the records of a node with more arcs than a portion.
fn push_large<R: Record>(
    scan: &Scan<'_, impl Fn(usize, &[u32]) + Sync>,
    local: usize,
    most: usize,
    sorter: &mut Sorter<R>,
    fill: &impl Fn(u32, &[u32], &[u32], &mut [R]) -> usize,
) -> Result<()> {
    let (node, mut out) = (scan.block.first_node() + local as u32, Vec::new());
    scan.rows.with(|rows| {
        rows.for_each(scan.block, [local], scan.fetch, |row| {
            out.resize(most * row.targets.len(), R::default());
            let filled = fill(node, row.targets, row.codes, &mut out);
            sorter.push(&out[..filled])
        })
    })
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
        let rows = PerThread::new(RowsAhead::default);
        for (most, graph) in
            [1, 2, 3].into_iter().flat_map(|most| [(most, path.graph()), (most, star.graph())])
        {
            let budget = Sorter::<ArcRecord>::BUDGET_MIN;
            let mut sorter =
                Sorter::<ArcRecord>::new(graph.files(), Path::new("scratch"), budget, 1).unwrap();
            let push = |block: &Block| {
                push_arcs(
                    block,
                    most,
                    &mut sorter,
                    &rows,
                    |_, _| (),
                    |source, targets, _, out| {
                        for (out, &target) in out.chunks_mut(most).zip(targets) {
                            out.fill(ArcRecord { source, target, weight: 1 });
                        }
                        most * targets.len()
                    },
                )
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
