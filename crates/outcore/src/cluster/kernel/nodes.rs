//! The nodes as a sweep sees them: labels, who is active, and who may move.
//!
//! Votes of some hops make no potential that rises with every move, so nothing but a limit ends the
//! sweeps: from a late one on, a node that has moved often enough stays. [`Rules`] holds these limits.

use super::objective::Choice;
use crate::cluster::base::bits::Bits;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

/// In directed graphs nothing makes the sweeps end, so late movers are stopped.
pub const FREEZE_SWEEP: u32 = 20;
pub const FREEZE_CHANGES: u8 = 8;

/// The nodes' state while they are moved.
pub struct Nodes<'a, O, L: ?Sized = [AtomicU32]> {
    pub labels: &'a L,
    /// Whose neighborhood has changed since it was looked at; in directed graphs, who may move.
    pub active: &'a Bits,
    /// How often a node has moved; empty in undirected graphs.
    pub changes: Vec<u8>,
    /// How many nodes each stands for; empty if one.
    pub counts: &'a [u32],
    pub seed: u64,
    pub objective: O,
    /// Whether each sweep takes the blocks in another order, by hash.
    pub shuffled: bool,
    /// Who may move, and how far labels have come.
    pub rules: Rules<'a>,
}

impl<O, L: ?Sized> Nodes<'_, O, L> {
    /// Stops late movers in directed graphs.
    pub fn freeze(&self, number: u32) {
        if number == FREEZE_SWEEP {
            let movers = self.changes.iter().enumerate().filter(|(_, c)| **c >= FREEZE_CHANGES);
            movers.for_each(|(node, _)| self.active.clear(node));
        }
    }

    /// How far a node is from where its label began.
    #[inline]
    pub fn hops(&self, node: u32) -> u8 {
        self.rules.hops[node as usize].load(Relaxed)
    }

    /// How many nodes `node` stands for.
    #[inline]
    pub fn count(&self, node: u32) -> u32 {
        self.counts.get(node as usize).copied().unwrap_or(1)
    }
}

/// Who may move, and how far labels have come.
#[derive(Default)]
pub struct Rules<'a> {
    /// Nodes that never move.
    pub held: Option<&'a Bits>,
    /// How often each node has been looked at; empty if that does not matter.
    pub visits: Vec<u16>,
    pub most_visits: u16,
    /// How often each node has moved, in undirected graphs; empty if that does not matter.
    pub moves: Vec<u8>,
    /// How far each node is from where its label began; empty if that does not matter.
    pub hops: &'a [AtomicU8],
}

impl Rules<'_> {
    /// Whether every active node may move.
    pub fn is_free(&self) -> bool {
        self.held.is_none() && self.visits.is_empty() && self.moves.is_empty()
    }

    /// Whether an active node may be looked at in this sweep, which counts as a visit.
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

    /// Learns that a node has moved.
    pub fn moved(&mut self, node: usize, choice: &Choice) {
        if let Some(moves) = self.moves.get_mut(node) {
            *moves = moves.saturating_add(1);
        }
        if let Some(hops) = self.hops.get(node) {
            hops.store(choice.hops, Relaxed);
        }
    }
}
