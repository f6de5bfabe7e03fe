//! A graph as a network in memory.

use crate::base::table::Sum;
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::Holdings;
use crate::tree::{LOOP_ENDS, Network, Walk};
use outcore_graph::ArcScratch;
use outcore_io::error::Result;

/// Reads a small graph with what its nodes hold; its flows are shares of a step.
///
/// # Errors
/// Those of reading and of `tick`.
pub(super) fn read_network(
    source: &mut BlockSource<'_>,
    holdings: &Holdings,
    tick: impl FnMut() -> Result<()>,
) -> Result<(Network, Walk)> {
    let mut net = read_links(source, holdings, tick)?;
    let total = net.rate();
    let scale = if total > 0.0 { 1.0 / total } else { 0.0 };
    net.scale(scale);
    Ok((net, Walk::of(holdings).scaled(scale)))
}

/// Reads a small graph, in units of weight.
///
/// # Errors
/// Those of reading and of `tick`.
pub(super) fn read_links(
    source: &mut BlockSource<'_>,
    holdings: &Holdings,
    mut tick: impl FnMut() -> Result<()>,
) -> Result<Network> {
    let (nodes, arcs) = (source.graph().node_count() as usize, source.graph().arc_count() as usize);
    let mut net = Network {
        starts: Vec::with_capacity(nodes + 1),
        targets: Vec::with_capacity(arcs),
        weights: Vec::with_capacity(arcs),
        flows: Vec::with_capacity(nodes),
    };
    net.starts.push(0);
    let walk = Walk::of(holdings);
    let mut scratch = ArcScratch::default();
    source.for_all(|block| {
        tick()?;
        for local in 0..block.node_count() {
            let mut cut = 0.0;
            block.for_each_segment(local, &mut scratch, |targets, codes| {
                f64::for_each(targets, codes, |target, weight| {
                    cut += weight;
                    net.targets.push(target);
                    net.weights.push(weight);
                });
            })?;
            let loops = LOOP_ENDS * block.self_loop(local);
            net.flows.push(walk.flow_of(cut, loops, holdings.flow(net.flows.len())));
            net.starts.push(net.targets.len() as u32);
        }
        Ok(())
    })?;
    Ok(net)
}
