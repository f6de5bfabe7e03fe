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
    let stars = Stars::choose(leads, labels.len(), seed ^ LEAD);
    source.for_all(|block| {
        tick(block)?;
        let nodes = block.node_count();
        for_ranges(nodes, piece_nodes(nodes, block.arc_count()), |locals| {
            scratch.with(|scratch| {
                for local in locals {
                    let node = block.first_node() + local as u32;
                    let (leader, _) = stars.leader::<S>(block, local, scratch, |_| true)?;
                    let label = leader.unwrap_or(node);
                    labels[node as usize].store(label, Relaxed);
                }
                Ok(())
            })
        })
    })
}

/// Who leads, and which leader a node prefers.
#[derive(Clone, Copy)]
pub(super) struct Stars<'a> {
    pub(super) leads: &'a Bits,
    pub(super) seed: u64,
}

impl<'a> Stars<'a> {
    /// Marks a quarter of the nodes as leaders.
    pub(super) fn choose(leads: &'a Bits, count: usize, seed: u64) -> Self {
        let lead = Hash::new(seed);
        leads.fill(false);
        let mark = |nodes: std::ops::Range<usize>| {
            nodes.filter(|&node| lead.of(node as u64, 0).is_multiple_of(4)).for_each(|node| {
                leads.set(node);
            });
            Ok(())
        };
        for_ranges(count, 1 << 16, mark).expect("marking does not fail");
        Self { leads, seed }
    }

    /// The leader to which a node is tied most, of those that it `may` follow; between equals, the
    /// one with the largest hash. Also the weight of the node's arcs.
    pub(super) fn leader<S: Sum>(
        self,
        block: &Block,
        local: usize,
        scratch: &mut ArcScratch,
        may: impl Fn(u32) -> bool,
    ) -> Result<(Option<u32>, S)> {
        let node = block.first_node() + local as u32;
        let leads = |target: u32| self.leads.get(target as usize) && may(target);
        let is_led = !self.leads.get(node as usize);
        let (mut largest, mut arcs) = (0.0f64, S::default());
        block.for_each_segment(local, scratch, |targets, codes| {
            S::for_each(targets, codes, |target, weight| {
                arcs += weight;
                if is_led && weight.value() > largest && leads(target) {
                    largest = weight.value();
                }
            });
        })?;
        if largest == 0.0 {
            return Ok((None, arcs));
        }
        let least = largest * (1.0 - RELATIVE_TOLERANCE);
        let hash = Hash::new(self.seed ^ u64::from(node));
        let mut best = None;
        block.for_each_segment(local, scratch, |targets, codes| {
            S::for_each(targets, codes, |target, weight| {
                if weight.value() >= least && leads(target) {
                    best = best.max(Some((hash.of(u64::from(target), 1), !target)));
                }
            });
        })?;
        Ok((best.map(|(_, target)| !target), arcs))
    }
}
