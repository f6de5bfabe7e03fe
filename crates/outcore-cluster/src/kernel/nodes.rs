//! State of nodes during a sweep: labels, active nodes, and nodes that may move.
//!
//! Attenuated votes and directed graphs define no potential that rises with every move, so only a limit ends the
//! sweeps: from sweep 20 on, a node that has moved eight times stays where it is. [`Rules`] holds these limits.

use super::admission::Admission;
use super::holdings::{Carries, Holdings};
use super::objective::Choice;
use crate::base::bits::Bits;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

/// Sweep at which nodes that move often are frozen in directed graphs, where nothing else ends the sweeps.
pub const FREEZE_SWEEP: u32 = 20;
/// Number of moves from which a node is frozen.
pub const FREEZE_CHANGES: u8 = 8;

/// State of the nodes while they move.
pub struct Nodes<'a, O, L: ?Sized = [AtomicU32]> {
    /// Labels of all nodes.
    pub labels: &'a L,
    /// Nodes whose neighborhood has changed since they were last visited; in directed graphs, nodes that may move.
    pub active: &'a Bits,
    /// Number of moves of each node; empty in undirected graphs.
    pub changes: Vec<u8>,
    /// What the nodes hold beside their arcs.
    pub holdings: &'a Holdings,
    /// Seed of ties and orders.
    pub seed: u64,
    /// Objective that rates labels.
    pub objective: O,
    /// Labels that nodes may take.
    pub admission: Admission,
    /// Whether each sweep visits the blocks in a different order, by hash.
    pub shuffled: bool,
    /// Whether a further sweep may follow, for which the neighbors of moved nodes become active.
    pub activates: bool,
    /// Restrictions on moves, and the distances of labels from their origins.
    pub rules: Rules<'a>,
}

impl<O, L: ?Sized> Nodes<'_, O, L> {
    /// Freezes nodes that move often in directed graphs, when the sweep [`FREEZE_SWEEP`] begins.
    pub fn freeze(&self, number: u32) {
        if number == FREEZE_SWEEP {
            let movers = self.changes.iter().enumerate().filter(|(_, c)| **c >= FREEZE_CHANGES);
            movers.for_each(|(node, _)| self.active.clear(node));
        }
    }

    /// Returns the hops between a node and the origin of its label.
    #[inline]
    pub fn hops(&self, node: u32) -> u8 {
        self.rules.hops[node as usize].load(Relaxed)
    }
}

/// Restrictions on moves, and the distances of labels from their origins.
#[derive(Default)]
pub struct Rules<'a> {
    /// Nodes that never move.
    pub held: Option<&'a Bits>,
    /// Number of visits of each node; empty if unlimited.
    pub visits: Vec<u16>,
    /// Maximum number of visits of a node.
    pub most_visits: u16,
    /// Number of moves of each node in undirected graphs; empty if unlimited.
    pub moves: Vec<u8>,
    /// Hops between each node and the origin of its label; empty without attenuation.
    pub hops: &'a [AtomicU8],
}

impl Rules<'_> {
    /// Returns whether every active node may move.
    pub fn is_free(&self) -> bool {
        self.held.is_none() && self.visits.is_empty() && self.moves.is_empty()
    }

    /// Returns whether an active node may be visited in this sweep, and counts the visit.
    pub fn admits(&mut self, node: usize, sweep: u32) -> bool {
        if self.held.is_some_and(|held| held.get(node)) {
            return false;
        }
        if sweep >= FREEZE_SWEEP && self.moves.get(node).is_some_and(|&n| n >= FREEZE_CHANGES) {
            return false;
        }
        match self.visits.get_mut(node) {
            Some(visits) if *visits >= self.most_visits => false,
            Some(visits) => {
                *visits += 1;
                true
            }
            None => true,
        }
    }

    /// Records that a node has moved.
    pub fn moved<F: Carries>(&mut self, node: usize, choice: &Choice<F>) {
        if let Some(moves) = self.moves.get_mut(node) {
            *moves = moves.saturating_add(1);
        }
        if let Some(hops) = self.hops.get(node) {
            hops.store(choice.hops, Relaxed);
        }
    }
}
