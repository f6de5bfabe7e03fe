//! Star seeding: the initial labels.
//!
//! A quarter of the nodes, chosen by hash, are leaders and keep their own label. Each other node takes
//! the label of the neighboring leader with the heaviest arc, or its own if no neighbor is a leader. This
//! takes one scan and is independent of node order, so files with neighbors sorted by node do not flood
//! the graph with the labels of the first nodes, and fewer labels remain for the sweeps.

use crate::base::arcs::add_weights;
use crate::base::bits::Bits;
use crate::base::hash::Hash;
use crate::base::parallel::{PerThread, for_ranges, piece_nodes};
use crate::base::table::Sum;
use crate::store::by_node::NodeLabels;
use outcore_graph::weight::RELATIVE_TOLERANCE;
use outcore_graph::{ArcScratch, Block};
use outcore_io::error::Result;
use std::sync::atomic::Ordering::Relaxed;

/// Sets the initial labels of the nodes of a block.
///
/// # Errors
/// Those of reading.
pub fn seed_block(
    block: &Block,
    stars: Stars<'_>,
    labels: &(impl NodeLabels + ?Sized),
    scratch: &PerThread<ArcScratch>,
) -> Result<()> {
    let nodes = block.node_count();
    for_ranges(nodes, piece_nodes(nodes, block.arc_count()), |locals| {
        scratch.with(|scratch| {
            for local in locals {
                let node = block.first_node() + local as u32;
                let (leader, _) = stars.leader(block, local, scratch, |_| true)?;
                labels.at(node).store(leader.unwrap_or(node), Relaxed);
            }
            Ok(())
        })
    })
}

/// Choice of leaders, and of the leader that a node follows.
#[derive(Clone, Copy)]
pub struct Stars<'a> {
    /// Nodes that lead.
    pub leads: &'a Bits,
    /// Seed of ties.
    pub seed: u64,
    /// Minimum weight of an arc that makes a node follow.
    pub least: f64,
}

impl<'a> Stars<'a> {
    /// Marks a quarter of the nodes as leaders.
    pub fn choose(leads: &'a Bits, count: usize, seed: u64) -> Self {
        let lead = Hash::new(seed);
        leads.fill(false);
        let mark = |nodes: std::ops::Range<usize>| {
            nodes.filter(|&node| Self::is_leader(lead, node as u32)).for_each(|node| {
                leads.set(node);
            });
            Ok(())
        };
        for_ranges(count, 1 << 16, mark).expect("marking does not fail");
        Self { leads, seed, least: 0.0 }
    }

    /// Returns whether a node belongs to the quarter of leaders, by the hash of the seed.
    #[inline]
    pub fn is_leader(lead: Hash, node: u32) -> bool {
        lead.of(u64::from(node), 0).is_multiple_of(4)
    }

    /// Returns the leader with the heaviest arc from a node, among those that it `may` follow (ties go to the
    /// largest hash), and the total weight of the node's arcs.
    pub fn leader(
        self,
        block: &Block,
        local: usize,
        scratch: &mut ArcScratch,
        may: impl Fn(u32) -> bool,
    ) -> Result<(Option<u32>, f64)> {
        let node = block.first_node() + local as u32;
        let leads = |target: u32| self.leads.get(target as usize) && may(target);
        let is_led = !self.leads.get(node as usize);
        let hash = Hash::new(self.seed ^ u64::from(node));
        let (mut largest, mut arcs, mut best) = (0.0f64, 0.0, None);
        let mut pick = |largest: f64, targets: &[u32], codes: &[u32]| {
            let least = largest * (1.0 - RELATIVE_TOLERANCE);
            f64::for_each(targets, codes, |target, weight| {
                if weight >= least && leads(target) {
                    best = best.max(Some((hash.of(u64::from(target), 1), !target)));
                }
            });
        };
        // Arcs in a single segment are decoded only once.
        let degree = block.degree(local);
        let mut is_whole = false;
        block.for_each_segment(local, scratch, |targets, codes| {
            add_weights(&mut arcs, targets, codes);
            f64::for_each(targets, codes, |target, weight| {
                if is_led && weight > largest && leads(target) {
                    largest = weight;
                }
            });
            is_whole = targets.len() as u64 == degree;
            if is_whole && largest > 0.0 {
                pick(largest, targets, codes);
            }
        })?;
        if largest == 0.0 || largest < self.least {
            return Ok((None, arcs));
        }
        if !is_whole {
            block.for_each_segment(local, scratch, |targets, codes| {
                pick(largest, targets, codes);
            })?;
        }
        Ok((best.map(|(_, target)| !target), arcs))
    }
}
