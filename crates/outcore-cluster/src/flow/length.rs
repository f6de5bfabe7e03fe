//! Code length of communities of a directed graph, exact: from visit rates in 64 bits instead of the graph of flow.
//!
//! What enters and leaves a community are the sums over its nodes minus the flow inside it. Recorded teleportations count
//! as well: those from a community land inside it in proportion to its share of all landings. Cost: one scan. Memory: 40
//! bytes a community, in addition to the rates.

use super::rates::{Arrivals, FlowAt, VisitRates};
use crate::base::logarithm::plogp;
use crate::base::parallel::{PerThread, for_chunks, piece_nodes};
use crate::base::rows::RowsAhead;
use crate::base::table::Sum;
use crate::finish::measures::{self, CommunityFlow};
use crate::kernel::cache::BlockSource;
use outcore_graph::Block;
use outcore_io::error::Result;
use outcore_io::prefetch;

/// Sums over the nodes of a community.
#[derive(Debug, Clone, Copy, Default)]
struct FlowSums {
    at: FlowAt,
    inside: f64,
}

/// Bytes of a community.
pub(crate) const COMMUNITY_BYTES: u64 = size_of::<FlowSums>() as u64;

/// Returns the code length of the two-level map equation with these communities, and with one community.
///
/// # Errors
/// Those of reading, and of `tick`, which is called for each block.
pub(crate) fn code_lengths(
    source: &mut BlockSource<'_>,
    labels: &[u32],
    rates: &VisitRates,
    mut tick: impl FnMut(&Block) -> Result<()>,
) -> Result<(f64, f64)> {
    let count = labels.iter().max().map_or(0, |&label| label as usize + 1);
    let mut communities = vec![FlowSums::default(); count];
    let (mut of_nodes, mut found) = (0.0, Vec::new());
    let rows = PerThread::new(RowsAhead::default);
    source.for_all(|block| {
        tick(block)?;
        sums_of_nodes(block, labels, rates, &rows, &mut found)?;
        for (node, FlowSums { at, inside }) in (block.first_node()..).zip(&found) {
            let sums = &mut communities[labels[node as usize] as usize];
            sums.at.enters += at.enters;
            sums.at.leaves += at.leaves;
            sums.at.teleports += at.teleports;
            sums.at.visits += at.visits;
            sums.inside += inside;
            of_nodes += plogp(at.visits);
        }
        Ok(())
    })?;
    let teleported: f64 = communities.iter().map(|sums| sums.at.teleports).sum();
    let flows = communities.iter().map(|sums| {
        let [enters, leaves] = sums.crossing(teleported);
        CommunityFlow { enters, leaves, visits: sums.at.visits }
    });
    Ok(measures::code_lengths(flows, of_nodes))
}

impl FlowSums {
    /// Returns the flow that enters a community and that leaves it, where `teleported` is the teleported flow of all.
    fn crossing(&self, teleported: f64) -> [f64; 2] {
        let FlowAt { enters, leaves, teleports, visits } = self.at;
        let (mut enter, mut exit) = (enters - self.inside, leaves - self.inside);
        if teleported > 0.0 {
            let landing = visits - enters;
            enter += (teleported - teleports) * landing / teleported;
            exit += teleports * (1.0 - landing / teleported);
        }
        [enter, exit].map(|flow| flow.max(0.0))
    }
}

/// Fills `found` with the sums of each node of a block: its flow, and that from its own community, loops included.
fn sums_of_nodes(
    block: &Block,
    labels: &[u32],
    rates: &VisitRates,
    rows: &PerThread<RowsAhead>,
    found: &mut Vec<FlowSums>,
) -> Result<()> {
    found.clear();
    found.resize(block.node_count(), FlowSums::default());
    let piece = piece_nodes(block.node_count(), block.arc_count());
    let fetch = |_, sources: &[u32]| {
        rates.fetch(sources);
        sources.iter().for_each(|&source| prefetch(labels, source as usize));
    };
    for_chunks(found, piece, |begin, found| {
        let (mut arrivals, mut inside) = (Arrivals::default(), 0.0);
        rows.with(|rows| {
            rows.for_each(block, begin..begin + found.len(), fetch, |row| {
                let node = block.first_node() + row.local as u32;
                let label = labels[node as usize];
                f64::for_each(row.targets, row.codes, |source, weight| {
                    arrivals.add_arc(weight, rates.relative(source));
                    let flow = weight * rates.per_weight(source);
                    inside += flow.only_if(labels[source as usize] == label);
                });
                if row.ends {
                    let at = rates.at(block, row.local, std::mem::take(&mut arrivals));
                    inside += block.self_loop(row.local) * rates.per_weight(node);
                    found[row.local - begin] = FlowSums { at, inside: std::mem::take(&mut inside) };
                }
                Ok(())
            })
        })
    })
}
