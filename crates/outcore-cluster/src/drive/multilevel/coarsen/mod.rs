//! Merges of whole communities on the last level, and the best cut of the tree that they form.
//!
//! ```text
//!  communities --merge the best pair, also if it gets worse--> binary tree --best cut--> coarser communities
//! ```
//!
//! Where groups lie inside groups, no single move leads from the inner groups to the outer ones: the first merges make
//! the objective worse, and only the last ones of a group more than make up for it. So communities are merged greedily
//! down to one, and then the best cut of the tree is taken. Greedy merging by the objective is that of Clauset, Newman
//! and Moore, "Finding community structure in very large networks" (2004); cutting afterwards follows Kernighan's
//! search of variable depth.
//!
//! Only the map equation needs it: modularity and the constant Potts model are sums over pairs of nodes, so where no two
//! communities gain by a merge, no merge of several gains either.
//!
//! Cost: two scans of the level; the pairs times a logarithm. Memory: [`ARC_BYTES`] for each arc, up to [`MOST_ARCS`]
//! and a share of the nodes of the base; the memory of a contraction and of the base, which is free then. On a level
//! with more arcs, each community keeps those that are strongest relative to the strengths of both ends.

mod agglomeration;
mod cut;
mod survey;
#[cfg(test)]
mod tests;

pub(crate) use agglomeration::{Arcs, coarser};
#[cfg(test)]
pub(crate) use survey::{gains_with_alike, is_surveyed};

use super::lift::renumber;
use super::starts::MARGIN;
use super::{
    LABEL_BYTES, LEVEL_SHRINKS, Level, LevelState, Multilevel, NextStep, Progress, Starts,
};
use crate::base::bits::Bits;
use crate::base::table::Sum;
use crate::kernel::cache::BlockSource;
use crate::kernel::history::History;
use crate::kernel::holdings::{Holding, Holdings};
use crate::kernel::objective::Sums;
use crate::methods::options::Seeding;
use crate::objectives::modularity::{Density, Null};
use outcore_graph::ArcScratch;
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Maximum number of arcs of a network of communities. They take no more memory than a contraction.
pub(crate) const MOST_ARCS: u64 = 3 << 18;
/// Memory per arc of a network of communities, with its share of the communities.
pub(crate) const ARC_BYTES: u64 = 64;
/// Minimum number of arcs that each community can keep; with fewer, the tree would depend on chance.
const LEAST_ARCS: u64 = 8;

/// Returns the number of arcs that each node of a level keeps if all together may keep `most`, or `None` if these are
/// too few to say anything.
pub(crate) fn kept_arcs(nodes: u64, arcs: u64, most: u64) -> Option<u64> {
    // Either end may keep an arc.
    let kept = most / (2 * nodes.max(1));
    match kept {
        0..LEAST_ARCS => None,
        _ if arcs <= most => Some(u64::MAX),
        _ => Some(kept),
    }
}

impl<O: Sums> Multilevel<'_, '_, O> {
    /// Continues if a level cannot be contracted to groups inside its communities. It is then contracted to whole
    /// communities, so that these can merge. If each of its nodes is a community, they are merged here.
    pub(super) fn coarsen(
        &mut self,
        level: &mut Level<'_, '_>,
        next: NextStep<O>,
    ) -> Result<Coarsened<O>> {
        let state = match next {
            // Given communities stay as they are as far as possible.
            NextStep::Top(state) if self.warm.step.is_none() => state,
            next => return Ok(Coarsened::Done(next)),
        };
        if let Some(starts) = self.starts_on_last(level) {
            let progress = Progress::new(level.node_count());
            return self.best_start(level, state, progress, &starts).map(Coarsened::Coarser);
        }
        if !self.may_merge(level, &state)? {
            return Ok(Coarsened::Done(NextStep::Top(state)));
        }
        let bound = state.sums.label_bound();
        let used = Bits::new(bound, false);
        state.labels.iter().for_each(|label| _ = used.set(label.load(Relaxed) as usize));
        let (count, arcs) = (used.count(0..bound), level.graph().arc_count());
        if count == level.graph().node_count() {
            return match O::COUNTS_CUTS {
                true => self.coarsened(level, state),
                false => Ok(Coarsened::Done(NextStep::Top(state))),
            };
        }
        drop(used);
        // A contraction that leaves almost as many nodes pays only where these are then merged.
        let is_merged = O::COUNTS_CUTS && kept_arcs(count, arcs, self.most_arcs(level)).is_some();
        let most = if level.is_large(self.job) && !is_merged { LEVEL_SHRINKS } else { 1.0 };
        self.lift_whole(level, state, most).map(Coarsened::Done)
    }

    /// If the map equation keeps all nodes together, records the communities that maximize modularity instead. Returns
    /// the same labels.
    pub(super) fn divided_otherwise(
        &mut self,
        level: &mut Level<'_, '_>,
        labels: Vec<AtomicU32>,
    ) -> Result<Vec<u32>> {
        let labels: Vec<u32> = labels.into_iter().map(AtomicU32::into_inner).collect();
        let (first, nodes) = (labels.first().copied().unwrap_or(0), labels.len());
        if !O::COUNTS_CUTS || nodes < 2 || labels.iter().any(|&label| label != first) {
            return Ok(labels);
        }
        // The search needs the memory of these labels.
        drop(labels);
        let before = self.history.clone();
        let (rule, starts) = (Null::Strength(1.0), Starts::one(Seeding::Star));
        let text = "all nodes are together: comparing with modularity";
        self.detail(text)?;
        let found = self.solve_apart(
            level,
            rule,
            starts,
            |other: &mut Multilevel<'_, '_, Density>, level: &mut Level<'_, '_>| {
                let labels = other.begin(level)?.labels;
                let (modularity, state) = other.measured(level, labels)?;
                let mut labels = state.into_labels();
                let count = renumber(&mut labels, nodes);
                Ok((modularity, count as u64))
            },
        )?;
        let (arcs, scans) = (self.history.arcs, self.history.sweeps.scans);
        self.history = History { arcs, ..before };
        self.history.sweeps.scans = scans;
        self.history.starts.divided = Some(found);
        Ok(vec![first; nodes])
    }

    /// Returns coarser communities than the nodes of this level, each of which is a community, if they are better.
    fn coarsened(
        &mut self,
        level: &mut Level<'_, '_>,
        state: LevelState<O>,
    ) -> Result<Coarsened<O>> {
        let (nodes, arcs) = (level.graph().node_count(), level.graph().arc_count());
        let most = self.most_arcs(level);
        let Some(kept) = kept_arcs(nodes, arcs, most).filter(|_| arcs > 0) else {
            return Ok(Coarsened::Done(NextStep::Top(state)));
        };
        self.detail(&format!("level {}: merging communities", level.number))?;
        let spare = level.memory - level.needed;
        if level.source.max_kept_bytes() + ARC_BYTES * most.min(arcs) > spare {
            level.source.forget();
        }
        let Some(labels) = self.coarser_of(level, kept)? else {
            return Ok(Coarsened::Done(NextStep::Top(state)));
        };
        let LevelState { labels: before, sums } = state;
        drop(sums);
        let (quality, state) = self.measured(level, before)?;
        let labels = labels.into_iter().map(AtomicU32::new).collect();
        let (coarser, found) = self.measured(level, labels)?;
        Ok(if coarser > quality + MARGIN {
            Coarsened::Coarser(found)
        } else {
            Coarsened::Done(NextStep::Top(state))
        })
    }

    /// Returns the maximum number of arcs of a network. It is a constant, whose memory a contraction needs as well. If
    /// the base of this search has many nodes, it is more, since their memory is free meanwhile. It depends on the
    /// graph alone.
    fn most_arcs(&self, level: &Level<'_, '_>) -> u64 {
        let below = self.hierarchy.groupings().get(self.place.base as usize);
        let below =
            below.filter(|_| level.number > self.place.base).map_or(0, |below| below.groups.count);
        let bytes = O::COMMUNITY_BYTES + 3 * LABEL_BYTES;
        MOST_ARCS + below.saturating_sub(level.graph().node_count()) * bytes / ARC_BYTES
    }

    fn coarser_of(&mut self, level: &mut Level<'_, '_>, kept: u64) -> Result<Option<Vec<u32>>> {
        let done = self.history.arcs;
        let tick = || notify(self.job.observer, Event::Advance { done });
        let nodes = nodes_of::<O>(level.source, &level.holdings, tick)?;
        let arcs = arcs_of(level.source, &nodes, kept, tick)?;
        let (found, looked) = coarser::<O>(self.rule, self.limits.size, &nodes, arcs);
        self.history.arcs += looked;
        Ok(found)
    }
}

/// Outcome of merging communities.
pub(super) enum Coarsened<O> {
    /// Better communities of the same level, in which nodes may move again.
    Coarser(LevelState<O>),
    /// The next step.
    Done(NextStep<O>),
}

/// Returns for each node of a level what it holds, its strength and the weight of its arcs.
fn nodes_of<O: Sums>(
    source: &mut BlockSource<'_>,
    holdings: &Holdings,
    tick: impl Fn() -> Result<()>,
) -> Result<Vec<(Holding, f64, f64)>> {
    let mut nodes = Vec::with_capacity(source.graph().node_count() as usize);
    let mut scratch = ArcScratch::default();
    source.for_all(|block| {
        tick()?;
        for local in 0..block.node_count() {
            let mut sum = 0.0;
            block.for_each_segment(local, &mut scratch, |targets, codes| {
                f64::for_each(targets, codes, |_, weight| sum += weight);
            })?;
            let held = holdings.of::<O::Flow>(nodes.len());
            nodes.push((held, sum + 2.0 * block.self_loop(local), sum));
        }
        Ok(())
    })?;
    Ok(nodes)
}

/// Returns the arcs of each node of a level. A node with more than `kept` arcs keeps only those whose weights are the
/// largest shares of the strengths of their targets; an arc that either end keeps is kept in both.
fn arcs_of(
    source: &mut BlockSource<'_>,
    nodes: &[(Holding, f64, f64)],
    kept: u64,
    tick: impl Fn() -> Result<()>,
) -> Result<Vec<Arcs>> {
    let mut arcs: Vec<Arcs> = vec![Arcs::default(); nodes.len()];
    let (mut scratch, mut of_node) = (ArcScratch::default(), Vec::new());
    let kept = usize::try_from(kept).unwrap_or(usize::MAX);
    source.for_all(|block| {
        tick()?;
        for local in 0..block.node_count() {
            let node = block.first_node() + local as u32;
            of_node.clear();
            block.for_each_segment(local, &mut scratch, |targets, codes| {
                f64::for_each(targets, codes, |target, weight| of_node.push((target, weight)));
            })?;
            if kept == usize::MAX {
                arcs[node as usize] = of_node.iter().copied().collect();
                continue;
            }
            if of_node.len() > kept {
                let ratio = |&(target, weight): &(u32, f64)| weight / nodes[target as usize].1;
                let order = |a: &(u32, f64), b: &(u32, f64)| {
                    ratio(b).total_cmp(&ratio(a)).then(a.0.cmp(&b.0))
                };
                of_node.select_nth_unstable_by(kept - 1, order);
                of_node.truncate(kept);
            }
            for &(target, weight) in &of_node {
                arcs[node as usize].insert(target, weight);
                arcs[target as usize].insert(node, weight);
            }
        }
        Ok(())
    })?;
    Ok(arcs)
}
