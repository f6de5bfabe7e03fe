//! Star seeding: the first labels.
//!
//! A quarter of the nodes, chosen by hash, lead and keep their own label; every other node takes the
//! label of the leader it is tied to most, or its own if no neighbor leads. One scan, no order among
//! nodes: so files whose neighbors are sorted by node do not flood the graph with the label of its
//! first nodes, and fewer labels are left for the sweeps.

use super::bits::Bits;
use super::cache::BlockSource;
use super::hash::{Hash, LEAD};
use super::parallel::{PerThread, for_ranges, piece_nodes};
use super::table::Sum;
use crate::error::Result;
use crate::graph::{ArcScratch, Block};
use crate::weight::RELATIVE_TOLERANCE;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Marks the nodes that lead.
pub(super) fn choose_leads(seed: u64, leads: &Bits, node_count: usize) -> Result<()> {
    let lead = Hash::new(seed ^ LEAD);
    leads.fill(false);
    for_ranges(node_count, 1 << 16, |nodes| {
        for node in nodes {
            if lead.of(node as u64, 0).is_multiple_of(4) {
                leads.set(node);
            }
        }
        Ok(())
    })
}

/// Gives every node its first label. `leads` is overwritten.
///
/// # Errors
/// Those of reading; `Interrupted` from `tick`, which is called for each block.
pub(super) fn seed_labels<S: Sum>(
    source: &mut BlockSource<'_>,
    seed: u64,
    labels: &[AtomicU32],
    leads: &Bits,
    scratch: &PerThread<ArcScratch>,
    mut tick: impl FnMut(&Block) -> Result<()>,
) -> Result<()> {
    choose_leads(seed, leads, labels.len())?;
    source.for_each(
        |_| true,
        |block| {
            tick(block)?;
            seed_block::<S>(block, seed, 0.0, labels, leads, scratch)
        },
    )
}

/// Gives the nodes of a block their first labels: of leaders to which they are tied by `least` or more.
///
/// # Errors
/// Those of reading.
pub(super) fn seed_block<S: Sum>(
    block: &Block,
    seed: u64,
    least: f64,
    labels: &[AtomicU32],
    leads: &Bits,
    scratch: &PerThread<ArcScratch>,
) -> Result<()> {
    let nodes = block.node_count();
    for_ranges(nodes, piece_nodes(nodes, block.arc_count()), |locals| {
        scratch.with(|scratch| {
            for local in locals {
                let node = block.first_node() + local as u32;
                let label = if leads.get(node as usize) {
                    node
                } else {
                    leader::<S>(block, local, seed, least, leads, scratch)?.unwrap_or(node)
                };
                labels[node as usize].store(label, Relaxed);
            }
            Ok(())
        })
    })
}

/// The leader to which a node is tied most; between equals, the one with the largest hash.
fn leader<S: Sum>(
    block: &Block,
    local: usize,
    seed: u64,
    cutoff: f64,
    leads: &Bits,
    scratch: &mut ArcScratch,
) -> Result<Option<u32>> {
    let node = block.first_node() + local as u32;
    let mut largest = 0.0f64;
    block.for_each_segment(local, scratch, |targets, codes| {
        S::for_each(targets, codes, |target, weight| {
            if weight.value() > largest && leads.get(target as usize) {
                largest = weight.value();
            }
        });
    })?;
    if largest == 0.0 || largest < cutoff * (1.0 - RELATIVE_TOLERANCE) {
        return Ok(None);
    }
    let least = largest * (1.0 - RELATIVE_TOLERANCE);
    let hash = Hash::new(seed ^ LEAD ^ u64::from(node));
    let mut best = None;
    block.for_each_segment(local, scratch, |targets, codes| {
        S::for_each(targets, codes, |target, weight| {
            if weight.value() >= least && leads.get(target as usize) {
                best = best.max(Some((hash.of(u64::from(target), 1), !target)));
            }
        });
    })?;
    Ok(best.map(|(_, target)| !target))
}
