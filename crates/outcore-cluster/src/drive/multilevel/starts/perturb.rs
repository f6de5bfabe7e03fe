//! Perturbation of the best start: some of its communities are dissolved, and nodes move again.
//!
//! A start misses better communities mostly in few places. So nodes are taken out at random and move from there, which
//! preserves good communities elsewhere, and takes less time than another start. In each round, one search loosens a
//! quarter of the nodes, another dissolves an eighth of the communities; the better result is kept. Rounds end when
//! neither is better. This is an iterated local search: Lourenço, Martin and Stützle, "Iterated local search" (2003).
//!
//! Cost: half a start for each search; a round without success on a graph with clear communities.
//! Memory: that of the searches (`searches`); labels wait on disk.

use super::MARGIN;
use super::combine::{Scored, keep, ordered};
use super::searches::{SearchTask, Solved};
use crate::base::hash::{Hash, LOOSEN};
use crate::drive::job::SizeClass;
use crate::drive::multilevel::{Bits, Level, Multilevel, Progress, renumber};
use crate::kernel::objective::Sums;
use crate::store::hierarchy::Hierarchy;
use outcore_io::error::Result;
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;

/// Maximum number of rounds on a small graph.
const SMALL_ROUNDS: u32 = 3;
/// Maximum number of rounds on other graphs.
const ROUNDS: u32 = 2;
/// Searches of a round.
const LOOSENED: [Loosened; 2] = [Loosened::Nodes, Loosened::Communities];
/// One node in this number is loosened.
const NODE_SHARE: u64 = 4;
/// One community in this number is loosened.
const COMMUNITY_SHARE: u64 = 8;

/// Nodes that become single.
#[derive(Debug, Clone, Copy)]
enum Loosened {
    /// Nodes, wherever they are.
    Nodes,
    /// Whole communities.
    Communities,
}

impl Loosened {
    /// Returns the labels with a community of its own for each loosened node, and these nodes.
    fn of(self, mut labels: Vec<u32>, seed: u64) -> (Vec<AtomicU32>, Bits) {
        let hash = Hash::new(seed ^ LOOSEN);
        let loose = Bits::new(labels.len(), false);
        let node_count = labels.len();
        let mut next = renumber(&mut labels, node_count);
        for (node, label) in labels.iter_mut().enumerate() {
            let (drawn, share) = match self {
                Self::Nodes => (node as u64, NODE_SHARE),
                Self::Communities => (u64::from(*label), COMMUNITY_SHARE),
            };
            if hash.of(drawn, 0).is_multiple_of(share) {
                loose.set(node);
                *label = next as u32;
                next += 1;
            }
        }
        renumber(&mut labels, next);
        (labels.into_iter().map(AtomicU32::new).collect(), loose)
    }
}

impl<O: Sums> Multilevel<'_, '_, O> {
    /// Returns the best labels that perturbations of `best` lead to, and keeps them.
    pub(super) fn perturbed(
        &mut self,
        level: &mut Level<'_, '_>,
        mut best: Scored,
        kept: &mut Hierarchy,
    ) -> Result<Scored> {
        let (rounds, searches) = match self.job.size_class() {
            SizeClass::Small => (SMALL_ROUNDS, LOOSENED.repeat(2)),
            SizeClass::Medium | SizeClass::Large => (ROUNDS, LOOSENED.to_vec()),
        };
        for _ in 0..rounds {
            let (read, start) = (kept.lent(PathBuf::new()), best.place);
            let mut found = Vec::new();
            let task = |&loosened: &Loosened| -> SearchTask<'_, Self> {
                let read = &read;
                Box::new(move |this, level| {
                    let (labels, active) = loosened.of(read.read(start)?, level.seed);
                    let (_, state) = this.measured(level, labels)?;
                    let progress = Progress { active, ..Progress::new(0) };
                    let state = this.cycles(level, state, progress)?;
                    this.solved(level, state).map(Some)
                })
            };
            let tasks = searches.iter().map(task).collect();
            self.search_each(level, tasks, &mut |at, Solved { quality, labels }| {
                if quality > best.quality + MARGIN {
                    found.push((at, Scored { place: kept.groupings().len(), quality }));
                    keep(kept, &labels)?;
                }
                Ok(())
            })?;
            found.sort_unstable_by_key(|&(at, _)| at);
            let better = found.into_iter().map(|(_, better)| better);
            match ordered(better.collect()).first() {
                Some(&better) => best = better,
                None => break,
            }
        }
        Ok(best)
    }
}
