//! The best cut of a tree of merges.
//!
//! In the map equation, the names of communities cost plogp(Q), with Q the total of all exits; the rest is a sum over
//! communities. With a price for Q, one pass from the leaves up decides for each node of the tree whether it is better
//! whole or cut. Bisection finds the price that is the slope of plogp at the Q of its own cut. Communities are then
//! split, or joined with their siblings, one at a time as long as that helps. The result is never worse than any prefix
//! of the merges. A price finds the best cut only where the gains of cuts are concave in their exits, so all cuts of a
//! small tree are compared.
//!
//! Cost: some fifty passes over the merges. Memory: 40 bytes per merge, and up to 200 KB for a small tree.

use crate::base::logarithm::{LOG2_E, log2, plogp};
use crate::drive::multilevel::starts::MARGIN;

/// Number of bisections of the price of exits.
const BISECTIONS: u32 = 48;
/// Maximum number of passes in which single communities of a cut are split or joined.
const PASSES: u32 = 16;
/// Maximum numbers of merges and of cuts of a small tree.
const FEW_MERGES: usize = u64::BITS as usize;
const FEW_CUTS: usize = 1 << 12;

/// Merge of two nodes of the tree: leaves are the communities, and each merge makes the next node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Merge {
    pub(crate) left: u32,
    pub(crate) right: u32,
    /// Reduction of the total of all exits, as a share of the strength.
    pub(crate) exits: f64,
    /// Gain apart from the names of communities.
    pub(crate) gain: f64,
}

/// Cut of a tree of merges.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cut {
    /// Amount by which it is better than the leaves.
    pub(crate) gain: f64,
    /// Whether both sides of each merge are together.
    pub(crate) is_merged: Vec<bool>,
}

/// Tree of merges of `leaves` communities, whose exits make up this share of the strength.
pub(crate) struct Tree<'a> {
    pub(crate) leaves: usize,
    pub(crate) exits: f64,
    pub(crate) merges: &'a [Merge],
}

impl Tree<'_> {
    /// Returns the best cut: never worse than any prefix of the merges, nor than the leaves.
    pub(crate) fn best_cut(&self) -> Cut {
        let mut best = self.best_prefix();
        let mut consider = |cut: Cut| {
            if cut.gain > best.gain {
                best = cut;
            }
        };
        let (mut low, mut high) = (slope(self.exits_after_all()), slope(self.exits));
        for price in [low, high] {
            consider(self.at_price(price).0);
        }
        for _ in 0..BISECTIONS {
            let price = 0.5 * (low + high);
            let (cut, exits) = self.at_price(price);
            consider(cut);
            if slope(exits) > price { low = price } else { high = price }
        }
        let best = self.improved(best);
        match self.best_of_all() {
            Some(cut) if cut.gain > best.gain + MARGIN => cut,
            _ => best,
        }
    }

    /// Returns the best of all cuts, if they are few.
    fn best_of_all(&self) -> Option<Cut> {
        if self.merges.len() > FEW_MERGES {
            return None;
        }
        // Each cut, a bit per merge, with the sums of its gains and exits.
        let mut cuts = vec![(0u64, 0.0, 0.0)];
        for (at, merge) in self.merges.iter().enumerate() {
            for cut in 0..cuts.len() {
                let (merged, gains, exits) = cuts[cut];
                let is_whole =
                    |node| self.merge_of(node).is_none_or(|below| merged >> below & 1 == 1);
                if is_whole(merge.left) && is_whole(merge.right) {
                    cuts.push((merged | 1 << at, gains + merge.gain, exits + merge.exits));
                }
            }
            if cuts.len() > FEW_CUTS {
                return None;
            }
        }
        let gain = |&(_, gains, exits): &(u64, f64, f64)| self.gain(gains, exits);
        let best = cuts
            .into_iter()
            .reduce(|best, cut| if gain(&cut) > gain(&best) { cut } else { best })?;
        let is_merged = (0..self.merges.len()).map(|at| best.0 >> at & 1 == 1).collect();
        Some(Cut { gain: gain(&best), is_merged })
    }

    fn exits_after_all(&self) -> f64 {
        self.exits - self.merges.iter().map(|merge| merge.exits).sum::<f64>()
    }

    /// Returns the gain of merges with these sums: of their gains, and of the reduction of exits.
    pub(crate) fn gain(&self, gains: f64, exits: f64) -> f64 {
        gains + plogp(self.exits) - plogp(self.exits - exits)
    }

    pub(crate) fn best_prefix(&self) -> Cut {
        let (mut gains, mut exits, mut best) = (0.0, 0.0, (0.0, 0));
        for (at, merge) in self.merges.iter().enumerate() {
            gains += merge.gain;
            exits += merge.exits;
            let gain = self.gain(gains, exits);
            if gain > best.0 {
                best = (gain, at + 1);
            }
        }
        let is_merged = (0..self.merges.len()).map(|at| at < best.1).collect();
        Cut { gain: best.0, is_merged }
    }

    /// Returns the best cut if exits have this price, and the total of its exits.
    fn at_price(&self, price: f64) -> (Cut, f64) {
        let nodes = self.leaves + self.merges.len();
        // Gain of each node as a whole, and as the best cut of its tree.
        let (mut whole, mut best) = (vec![0.0; nodes], vec![0.0; nodes]);
        let mut is_merged = Vec::with_capacity(self.merges.len());
        for (node, merge) in (self.leaves..).zip(self.merges) {
            let of = |values: &[f64]| values[merge.left as usize] + values[merge.right as usize];
            let (apart, together) = (of(&best), of(&whole) + merge.gain + price * merge.exits);
            is_merged.push(together > apart);
            (whole[node], best[node]) = (together, apart.max(together));
        }
        self.spread(&mut is_merged);
        let (mut gains, mut exits) = (0.0, 0.0);
        for (merge, _) in self.merges.iter().zip(&is_merged).filter(|(_, is_merged)| **is_merged) {
            gains += merge.gain;
            exits += merge.exits;
        }
        (Cut { gain: self.gain(gains, exits), is_merged }, self.exits - exits)
    }

    /// Merges whatever lies below a merge that counts.
    fn spread(&self, is_merged: &mut [bool]) {
        for at in (0..self.merges.len()).rev().filter(|&at| is_merged[at]).collect::<Vec<_>>() {
            let mut stack = vec![at];
            while let Some(at) = stack.pop() {
                is_merged[at] = true;
                let Merge { left, right, .. } = self.merges[at];
                let below = [left, right].into_iter().filter_map(|node| self.merge_of(node));
                stack.extend(below.filter(|&below| !is_merged[below]));
            }
        }
    }

    /// Returns the merge that made a node, if it is not a leaf.
    pub(crate) fn merge_of(&self, node: u32) -> Option<usize> {
        (node as usize).checked_sub(self.leaves)
    }

    /// Splits communities of a cut, or joins siblings, one at a time as long as that is better.
    fn improved(&self, mut cut: Cut) -> Cut {
        let parents = self.parents();
        let chosen = || self.merges.iter().zip(&cut.is_merged).filter(|(_, merged)| **merged);
        let mut gains: f64 = chosen().map(|(merge, _)| merge.gain).sum();
        let mut exits: f64 = chosen().map(|(merge, _)| merge.exits).sum();
        for _ in 0..PASSES {
            let mut is_better = false;
            for (at, merge) in self.merges.iter().enumerate() {
                let merged = |node: Option<usize>| node.is_none_or(|at| cut.is_merged[at]);
                let is_top = parents[self.leaves + at].is_none_or(|above| !cut.is_merged[above]);
                let may_join =
                    merged(self.merge_of(merge.left)) && merged(self.merge_of(merge.right));
                let sign = match cut.is_merged[at] {
                    true if is_top => -1.0,
                    false if may_join => 1.0,
                    _ => continue,
                };
                let after = (gains + sign * merge.gain, exits + sign * merge.exits);
                let gain = self.gain(after.0, after.1);
                if gain > cut.gain + MARGIN {
                    (gains, exits) = after;
                    cut.gain = gain;
                    cut.is_merged[at] = !cut.is_merged[at];
                    is_better = true;
                }
            }
            if !is_better {
                break;
            }
        }
        cut
    }

    /// Returns the merge above each node, if any.
    fn parents(&self) -> Vec<Option<usize>> {
        let mut parents = vec![None; self.leaves + self.merges.len()];
        for (at, merge) in self.merges.iter().enumerate() {
            parents[merge.left as usize] = Some(at);
            parents[merge.right as usize] = Some(at);
        }
        parents
    }

    /// Returns the community of each leaf: the smallest leaf in it.
    pub(crate) fn labels(&self, cut: &Cut) -> Vec<u32> {
        let mut least: Vec<u32> = (0..self.leaves as u32).collect();
        for merge in self.merges {
            least.push(least[merge.left as usize].min(least[merge.right as usize]));
        }
        for at in (0..self.merges.len()).rev().filter(|&at| cut.is_merged[at]) {
            let Merge { left, right, .. } = self.merges[at];
            let label = least[self.leaves + at];
            (least[left as usize], least[right as usize]) = (label, label);
        }
        least.truncate(self.leaves);
        least
    }
}

/// Returns the slope of plogp: the price of exits.
fn slope(exits: f64) -> f64 {
    log2(exits.max(f64::MIN_POSITIVE)) + LOG2_E
}
