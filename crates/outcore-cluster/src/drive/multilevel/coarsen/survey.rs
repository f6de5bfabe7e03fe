//! Survey of a level: whether merges of several of its nodes can pay.
//!
//! A group of groups shows in the arcs of each of its members: some of them are much heavier than those to all others,
//! so a node would join a group of nodes like itself, to which its heaviest arcs lead. In a graph of communities on one
//! scale, arcs between them are there by chance, and merging them costs time for nothing: 21,623 communities of a
//! planted graph of 10 million edges took as long as the rest of the clustering.
//!
//! Cost: a scan of the level; of a large one, of one block in [`SAMPLED`].

use crate::base::table::Sum;
use crate::drive::multilevel::{Level, LevelState, Multilevel};
use crate::kernel::holdings::Holding;
use crate::kernel::objective::{Sums, Visit};
use outcore_graph::{ArcScratch, Block};
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};
use std::sync::atomic::Ordering::Relaxed;

/// A level is surveyed if it has more arcs than one of these numbers. The first applies if the mean degree is at least
/// one in `TIED_TO` of the nodes, or a hub has one in `ARCS_OF_HUB` of all arcs: there merges are slow and mostly in
/// vain. The second applies if only the largest degree is that large, the third to all other levels.
const FEWEST_ARCS: u64 = 1 << 13;
const FEW_ARCS: u64 = 1 << 14;
const MANY_ARCS: u64 = 1 << 20;
const TIED_TO: u64 = 8;
const ARCS_OF_HUB: u64 = 4;
/// One block in this number is surveyed, on a level with many arcs.
const SAMPLED: usize = 8;
/// Nothing is merged if the nodes that could gain by merging with others like them have less than this share of the
/// strength.
const PROMISING: f64 = 1.0 / 64.0;
/// An arc counts in a survey if it stands for at least this number of arcs of the graph.
const BEYOND_ONE: f64 = 2.5;
/// An arc also counts only if it has this multiple of the weight that the masses of its ends predict: lighter arcs may
/// be there by chance.
const BEYOND_CHANCE: f64 = 4.0;

impl<O: Sums> Multilevel<'_, '_, O> {
    /// Returns whether merges of several nodes may be better, from a sample of the nodes of the level. Directions of flow
    /// are left aside: in a group of groups they cancel. Where sizes are limited, nothing is merged: that took 1.17 x
    /// the time, and the result was worse as often as better.
    pub(super) fn may_merge(
        &self,
        level: &mut Level<'_, '_>,
        state: &LevelState<O>,
    ) -> Result<bool> {
        if self.job.most().is_some() {
            return Ok(false);
        }
        let graph = level.graph();
        if !is_surveyed(graph.node_count(), graph.arc_count(), graph.max_degree()) {
            return Ok(true);
        }
        self.surveyed(level, state)
    }

    fn surveyed(&self, level: &mut Level<'_, '_>, state: &LevelState<O>) -> Result<bool> {
        let (done, graph) = (self.history.arcs, self.job.graph);
        let few = BEYOND_ONE * graph.weight_total() / graph.arc_count().max(1) as f64;
        let (mut scratch, mut weights) = (ArcScratch::default(), Vec::new());
        let (mut sampled, mut promising) = (0.0, 0.0);
        let step = if level.graph().arc_count() > MANY_ARCS { SAMPLED } else { 1 };
        let sample = (0..level.graph().blocks().len()).step_by(step);
        let (rule, most) = (self.rule, self.limits.size);
        let survey = |block: &Block| {
            notify(self.job.observer, Event::Advance { done })?;
            for local in 0..block.node_count() {
                weights.clear();
                let cut = strong_arcs::<O>(block, local, state, few, &mut weights, &mut scratch)?;
                let node = block.first_node() as usize + local;
                let count = level.holdings.count(node);
                let strength = cut + 2.0 * block.self_loop(local);
                sampled += strength;
                if gains_with_alike(rule, most, &state.sums, count, strength, cut, &weights) {
                    promising += strength;
                }
            }
            Ok(())
        };
        level.source.for_each(sample, |_| true, survey)?;
        Ok(promising > PROMISING * sampled)
    }
}

/// Returns whether a level is surveyed before its communities merge.
pub(crate) fn is_surveyed(nodes: u64, arcs: u64, max_degree: u64) -> bool {
    let is_dense = TIED_TO * (arcs / nodes.max(1)) >= nodes;
    let few = match () {
        () if is_dense || ARCS_OF_HUB * max_degree >= arcs => FEWEST_ARCS,
        () if TIED_TO * max_degree >= nodes => FEW_ARCS,
        () => MANY_ARCS,
    };
    arcs > few
}

/// Adds to `weights` those of a node's arcs that are not there by chance, the largest first; returns the weight of all
/// arcs.
fn strong_arcs<O: Sums>(
    block: &Block,
    local: usize,
    state: &LevelState<O>,
    few: f64,
    weights: &mut Vec<f64>,
    scratch: &mut ArcScratch,
) -> Result<f64> {
    let LevelState { labels, sums } = state;
    let mass = |node: usize| sums.mass_of(labels[node].load(Relaxed));
    let own = mass(block.first_node() as usize + local);
    let mut cut = 0.0;
    block.for_each_segment(local, scratch, |targets, codes| {
        f64::for_each(targets, codes, |target, weight| {
            cut += weight;
            let by_chance = own * mass(target as usize) / sums.strength();
            if weight >= few && weight >= BEYOND_CHANCE * by_chance {
                weights.push(weight);
            }
        });
    })?;
    weights.sort_unstable_by(|a, b| f64::total_cmp(b, a));
    Ok(cut)
}

/// Returns whether a node would join a group of nodes like itself, to which its strongest arcs lead. `weights` are
/// those of its strong arcs, the strongest first. Groups of one, three, seven and so on are tried, as far as a
/// community of at most `most` input nodes admits them. Only if a node would join can a merge of several such nodes
/// pay.
pub(crate) fn gains_with_alike<O: Sums>(
    rule: O::Rule,
    most: Option<u32>,
    sums: &O,
    count: u32,
    strength: f64,
    cut: f64,
    weights: &[f64],
) -> bool {
    let all = (sums.strength(), sums.exits() * sums.strength());
    let (mut size, mut inside, mut taken) = (1, 0.0, 0);
    while size <= weights.len() {
        inside += weights[taken..size].iter().sum::<f64>();
        taken = size;
        // Each of them has arcs to all others.
        let among = inside - weights[size - 1];
        let of_group = (size as f64 * strength, size as f64 * (cut - among).max(0.0));
        let mut alike = O::empty(rule, 3);
        let count_of_group = count.saturating_mul(size as u32).min(u32::MAX / 2);
        let held = Holding::of_count;
        alike.add(0, held(count_of_group), of_group.0, of_group.1);
        alike.add(1, held(count), strength, cut);
        alike.add(2, held(1), all.0 - of_group.0 - strength, (all.1 - of_group.1 - cut).max(0.0));
        alike.complete();
        let (mass, flow) = (alike.mass(held(count), strength), O::Flow::default());
        let visit = Visit { present: 1, count, own: 0.0, arcs: cut, mass, flow };
        let fits = most.is_none_or(|most| count_of_group + count <= most);
        if fits && alike.rate(&visit, &alike.leaving(&visit), 0, inside) > 0.0 {
            return true;
        }
        size = 2 * size + 1;
    }
    false
}
