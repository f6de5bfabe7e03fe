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
//! **Pairs.** A heap holds the gain of each pair. A gain in it may be too large, since all of them fall as the weight
//! between communities does; the pair at the top is rated again and returned if it fell. When a community has grown,
//! those of its pairs that another one shares are rated again: all of them if they are few or it has grown by an
//! eighth, so that a hub does not pay for each of its leaves.
//!
//! **Cut.** Modularity and the constant Potts model are sums over communities, so one pass from the leaves up decides
//! for each node of the tree whether it is better whole or cut. In the map equation, the names of communities cost
//! plogp(Q), with Q the total of all exits. A pass takes a price for Q; bisection finds the price that is the slope of
//! plogp at the Q of its own cut. Communities are then split, or joined with their siblings, one at a time as long as
//! that helps. The result is never worse than any prefix of the merges.
//!
//! Cost: two scans of the level; the pairs times a logarithm. Memory: [`ARC_BYTES`] for each arc, up to [`MOST_ARCS`]
//! and a share of the nodes of the base; the memory of a contraction and of the base, which is free then. On a level
//! with more arcs, each community keeps those that are strongest relative to the strengths of both ends.

use super::lift::renumber;
use super::starts::MARGIN;
use super::{
    LABEL_BYTES, LEVEL_SHRINKS, Level, LevelState, Multilevel, NextStep, Progress, Starts,
};
use crate::base::bits::Bits;
use crate::base::logarithm::{LOG2_E, log2, plogp};
use crate::base::table::Sum;
use crate::kernel::cache::BlockSource;
use crate::kernel::history::History;
use crate::kernel::holdings::{Carries, Holding, Holdings};
use crate::kernel::objective::{Sums, Visit};
use crate::methods::options::Seeding;
use crate::objectives::modularity::{Density, Null};
use outcore_graph::ArcScratch;
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Maximum number of arcs of a network of communities, and the bytes of each, its share of the communities included:
/// together not more than a contraction needs.
pub(crate) const MOST_ARCS: u64 = 3 << 18;
pub(crate) const ARC_BYTES: u64 = 64;
/// Minimum number of arcs that each community can keep: with fewer, the tree would be one of chance.
const LEAST_ARCS: u64 = 8;
/// A level with more arcs is surveyed first: one of this number of its blocks. If nodes with less than this share of the
/// strength could gain by merges with others like them, nothing is merged.
const SURVEYED_ARCS: u64 = 1 << 20;
const SAMPLED: usize = 8;
const PROMISING: f64 = 1.0 / 64.0;
/// Maximum number of pairs of a community that are all rated again when it grows.
const FEW_PAIRS: usize = 64;
/// With more, they are when its strength or the weight of its arcs has changed by this share.
const GROWN: f64 = 1.0 / 8.0;
/// Number of bisections of the price of exits.
const BISECTIONS: u32 = 48;
/// Maximum number of passes in which single communities of a cut are split or joined.
const PASSES: u32 = 16;

/// Community in a network of communities.
#[derive(Debug, Clone, Copy)]
struct Part {
    strength: f64,
    /// Weight of its arcs to others.
    cut: f64,
    held: Holding,
    /// Smallest number among those merged into it, which breaks ties.
    first: u32,
    /// Node of the tree.
    node: u32,
    /// Number of merges into it, and that number when all its pairs were rated last.
    version: u32,
    rated: u32,
    /// Strength and cut at that time.
    strength_then: f64,
    cut_then: f64,
    is_alive: bool,
}

/// Pair of communities in the heap.
#[derive(Debug, Clone, Copy)]
struct Pair {
    gain: f64,
    /// Numbers that break ties: the smaller one first.
    firsts: (u32, u32),
    ends: (u32, u32),
    versions: (u32, u32),
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Pair {}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then_with(|| other.firsts.cmp(&self.firsts))
    }
}

/// Merge of two nodes of the tree: leaves are the communities, and each merge makes the next node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Merge {
    pub(crate) left: u32,
    pub(crate) right: u32,
    /// Reduction of the total of all exits, as a share of the strength; 0 if the objective does not price it.
    pub(crate) exits: f64,
    /// Gain apart from the names of communities.
    pub(crate) gain: f64,
}

/// Network of communities.
pub(crate) struct Network<O> {
    sums: O,
    parts: Vec<Part>,
    /// For each community its neighbors, and the weight of the arcs to them.
    arcs: Vec<BTreeMap<u32, f64>>,
    heap: BinaryHeap<Pair>,
    merges: Vec<Merge>,
}

impl<O: Sums> Network<O> {
    /// Creates a network of communities: each has what it holds, its strength, the weight of its arcs to others, and
    /// those arcs that count in merges.
    pub(crate) fn new(
        rule: O::Rule,
        nodes: &[(Holding, f64, f64)],
        arcs: Vec<BTreeMap<u32, f64>>,
    ) -> Self {
        let mut sums = O::empty(rule, nodes.len());
        let mut parts = Vec::with_capacity(nodes.len());
        for (at, &(held, strength, cut)) in (0..).zip(nodes) {
            sums.add(at, held, strength, cut);
            let (version, rated, is_alive) = (0, 0, true);
            let (strength_then, cut_then) = (strength, cut);
            let (first, node) = (at, at);
            parts.push(Part {
                strength,
                cut,
                held,
                first,
                node,
                version,
                rated,
                strength_then,
                cut_then,
                is_alive,
            });
        }
        sums.complete();
        Self { sums, parts, arcs, heap: BinaryHeap::new(), merges: Vec::new() }
    }

    /// Returns the total of all exits as a share of the strength; 0 if the objective does not price it.
    pub(crate) fn exits(&self) -> f64 {
        self.sums.exits()
    }

    /// Merges the best pair again and again until no two communities have arcs between them; returns the tree.
    pub(crate) fn merged(mut self) -> Vec<Merge> {
        self.rate_all();
        let mut bound = self.heap.len() / 2 * 3 + self.parts.len();
        while let Some((a, b, gain)) = self.next() {
            self.merge(a, b, gain);
            if self.heap.len() > bound {
                // Outdated pairs make up most of the heap.
                self.rate_all();
                bound = self.heap.len() / 2 * 3 + self.parts.len();
            }
        }
        self.merges
    }

    fn rate_all(&mut self) {
        let mut pairs = Vec::new();
        for (a, arcs) in (0..).zip(&self.arcs) {
            for (&b, &weight) in arcs.range(a + 1..) {
                pairs.extend(self.pair(a, b, weight));
            }
        }
        self.heap = BinaryHeap::from(pairs);
        self.parts.iter_mut().for_each(Part::mark_rated);
    }

    /// Returns the best pair, and the gain of merging it.
    fn next(&mut self) -> Option<(u32, u32, f64)> {
        while let Some(pair) = self.heap.pop() {
            let (a, b) = pair.ends;
            let [of_a, of_b] = [a, b].map(|part| &self.parts[part as usize]);
            let is_replaced = pair.versions.0 < of_a.rated || pair.versions.1 < of_b.rated;
            if is_replaced || !of_a.is_alive || !of_b.is_alive {
                continue;
            }
            let weight = self.arcs[a as usize].get(&b).copied();
            let Some(now) = weight.and_then(|weight| self.pair(a, b, weight)) else { continue };
            if now.gain < pair.gain {
                self.heap.push(now);
            } else {
                return Some((a, b, now.gain));
            }
        }
        None
    }

    fn visit(&self, part: u32) -> Visit<O::Flow> {
        let Part { strength, cut, held, .. } = self.parts[part as usize];
        let (mass, flow) = (self.sums.mass(held, strength), O::Flow::of(held.flow));
        Visit { present: part, count: held.count, own: 0.0, arcs: cut, mass, flow }
    }

    /// Rates a pair; `None` if the objective does not admit their merge.
    fn pair(&self, a: u32, b: u32, weight: f64) -> Option<Pair> {
        let [of_a, of_b] = [a, b].map(|part| &self.parts[part as usize]);
        // The same direction for each pair, so that its gain is rounded in one way.
        let (to, from) = if of_a.first < of_b.first { (a, b) } else { (b, a) };
        let visit = self.visit(from);
        let gain = self.sums.rate(&visit, &self.sums.leaving(&visit), to, weight);
        let firsts = (of_a.first.min(of_b.first), of_a.first.max(of_b.first));
        let versions = (of_a.version, of_b.version);
        gain.is_finite().then_some(Pair { gain, firsts, ends: (a, b), versions })
    }

    /// Merges two communities: the one with fewer arcs into the other.
    fn merge(&mut self, a: u32, b: u32, gain: f64) {
        let rank = |part: u32| (self.arcs[part as usize].len(), !self.parts[part as usize].first);
        let (into, from) = if rank(a) >= rank(b) { (a, b) } else { (b, a) };
        let moved = std::mem::take(&mut self.arcs[from as usize]);
        let weight = moved.get(&into).copied().unwrap_or(0.0);
        let (visit, before) = (self.visit(from), self.sums.exits());
        self.sums.moved(&visit, into, weight);
        let after = self.sums.exits();
        let node = (self.parts.len() + self.merges.len()) as u32;
        let Part { strength, cut, held, first, node: right, .. } = self.parts[from as usize];
        self.parts[from as usize].is_alive = false;
        let part = &mut self.parts[into as usize];
        let left = std::mem::replace(&mut part.node, node);
        let gain = gain - (plogp(before) - plogp(after));
        self.merges.push(Merge { left, right, exits: before - after, gain });
        part.strength += strength;
        part.cut += cut - 2.0 * weight;
        part.held += held;
        part.first = part.first.min(first);
        part.version += 1;
        for (&other, &weight) in moved.iter().filter(|&(&other, _)| other != into) {
            let arcs = &mut self.arcs[other as usize];
            arcs.remove(&from);
            *arcs.entry(into).or_default() += weight;
            *self.arcs[into as usize].entry(other).or_default() += weight;
        }
        self.arcs[into as usize].remove(&from);
        self.rate_again(into, &moved);
    }

    /// Rates pairs of a community that has grown by another one with these arcs.
    fn rate_again(&mut self, part: u32, moved: &BTreeMap<u32, f64>) {
        let arcs = &self.arcs[part as usize];
        let rates_all = arcs.len() <= FEW_PAIRS || self.parts[part as usize].has_grown();
        if rates_all {
            self.parts[part as usize].mark_rated();
        }
        let is_due = |other: &u32| rates_all || moved.contains_key(other);
        let due = arcs.iter().filter(|(other, _)| is_due(other));
        let pairs = due.filter_map(|(&other, &weight)| self.pair(part, other, weight));
        let pairs: Vec<Pair> = pairs.collect();
        self.heap.extend(pairs);
    }
}

impl Part {
    fn mark_rated(&mut self) {
        (self.rated, self.strength_then, self.cut_then) = (self.version, self.strength, self.cut);
    }

    fn has_grown(&self) -> bool {
        let differs = |now: f64, then: f64| (now - then).abs() > GROWN * then;
        differs(self.strength, self.strength_then) || differs(self.cut, self.cut_then)
    }
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
        let prices_exits = self.merges.iter().any(|merge| merge.exits != 0.0);
        if !prices_exits {
            consider(self.at_price(0.0).0);
            return best;
        }
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
        self.improved(best)
    }

    fn exits_after_all(&self) -> f64 {
        self.exits - self.merges.iter().map(|merge| merge.exits).sum::<f64>()
    }

    /// Returns the gain of merges with these sums: of their gains, and of the reduction of exits.
    fn gain(&self, gains: f64, exits: f64) -> f64 {
        gains + plogp(self.exits) - plogp(self.exits - exits)
    }

    fn best_prefix(&self) -> Cut {
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
    fn merge_of(&self, node: u32) -> Option<usize> {
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

/// Returns the coarser communities of single nodes that are the best cut of their tree, if that is better.
pub(crate) fn coarser<O: Sums>(
    rule: O::Rule,
    nodes: &[(Holding, f64, f64)],
    arcs: Vec<BTreeMap<u32, f64>>,
) -> Option<Vec<u32>> {
    let network = Network::<O>::new(rule, nodes, arcs);
    let exits = network.exits();
    let merges = network.merged();
    let tree = Tree { leaves: nodes.len(), exits, merges: &merges };
    let cut = tree.best_cut();
    (cut.gain > 0.0 && cut.is_merged.contains(&true)).then(|| tree.labels(&cut))
}

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
    /// Continues where a level cannot be contracted to groups inside its communities: it is contracted to whole
    /// communities, so that these can merge; if each of its nodes is one, they are merged here.
    pub(super) fn coarsen(
        &mut self,
        level: &mut Level<'_, '_>,
        next: NextStep<O>,
    ) -> Result<Coarsened<O>> {
        let state = match next {
            // Given communities stay as they are as far as possible.
            NextStep::Top(state) if self.step.is_none() => state,
            next => return Ok(Coarsened::Done(next)),
        };
        if let Some(starts) = self.starts_on_last(level) {
            let progress = Progress::new(level.node_count());
            return self.best_start(level, state, progress, &starts).map(Coarsened::Coarser);
        }
        if level.graph().arc_count() > SURVEYED_ARCS && !self.may_merge(level, &state.sums)? {
            return Ok(Coarsened::Done(NextStep::Top(state)));
        }
        let bound = state.sums.label_bound();
        let used = Bits::new(bound, false);
        state.labels.iter().for_each(|label| _ = used.set(label.load(Relaxed) as usize));
        if used.count(0..bound) == level.graph().node_count() {
            return self.coarsened(level, state);
        }
        drop(used);
        let most = if level.is_large(self.job) { LEVEL_SHRINKS } else { 1.0 };
        self.lift_whole(level, state, most).map(Coarsened::Done)
    }

    /// Returns whether merges of several nodes may be better on a large level, from a sample of its nodes. Where flow has
    /// a direction, nodes alike say nothing, since their drifts add up.
    fn may_merge(&self, level: &mut Level<'_, '_>, sums: &O) -> Result<bool> {
        if O::Flow::HAS_DRIFT {
            return Ok(true);
        }
        match level.graph().is_weighted() {
            true => self.surveyed::<f64>(level, sums),
            false => self.surveyed::<u32>(level, sums),
        }
    }

    fn surveyed<S: Sum>(&self, level: &mut Level<'_, '_>, sums: &O) -> Result<bool> {
        let Level { source, holdings, .. } = level;
        let done = self.history.arcs;
        let (mut scratch, mut weights) = (ArcScratch::default(), Vec::new());
        let (mut sampled, mut promising) = (0.0, 0.0);
        let sample = (0..source.graph().blocks().len()).step_by(SAMPLED);
        source.for_each(
            sample,
            |_| true,
            |block| {
                notify(self.job.observer, Event::Advance { done })?;
                for local in 0..block.node_count() {
                    weights.clear();
                    block.for_each_segment(local, &mut scratch, |targets, codes| {
                        S::for_each(targets, codes, |_, weight| weights.push(weight.value()));
                    })?;
                    weights.sort_unstable_by(|a, b| f64::total_cmp(b, a));
                    let node = block.first_node() as usize + local;
                    let count = holdings.count(node);
                    let strength = weights.iter().sum::<f64>() + 2.0 * block.self_loop(local);
                    sampled += strength;
                    if gains_with_alike::<O>(self.rule, sums, (count, strength), &weights) {
                        promising += strength;
                    }
                }
                Ok(())
            },
        )?;
        Ok(promising > PROMISING * sampled)
    }

    /// If the map equation keeps all nodes together, notes what maximizes modularity instead. The labels are those given.
    pub(super) fn divided_otherwise(
        &mut self,
        level: &mut Level<'_, '_>,
        labels: Vec<u32>,
    ) -> Result<Vec<u32>> {
        let (first, nodes) = (labels.first().copied().unwrap_or(0), labels.len());
        if !O::COUNTS_CUTS || nodes < 2 || labels.iter().any(|&label| label != first) {
            return Ok(labels);
        }
        // The other labels take the place of these.
        drop(labels);
        let before = self.history.clone();
        let (null, starts) = (Null::Strength(1.0), Starts::one(Seeding::Star));
        let text = "all nodes are together: comparing with modularity";
        self.detail(text)?;
        let found = self.solve_apart(
            level,
            null,
            starts,
            |other: &mut Multilevel<'_, '_, Density>, level: &mut Level<'_, '_>| {
                let labels = other.begin(level)?.labels;
                let (modularity, state) = other.measured(level, labels)?;
                let mut labels = state.into_labels();
                let count = renumber(&mut labels, nodes);
                Ok((modularity, count as u64))
            },
        )?;
        let (arcs, scans) = (self.history.arcs, self.history.scans);
        self.history = History { arcs, scans, divided: Some(found), ..before };
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
        let found = match level.graph().is_weighted() {
            true => self.coarser_of::<f64>(level, kept)?,
            false => self.coarser_of::<u32>(level, kept)?,
        };
        let Some(labels) = found else { return Ok(Coarsened::Done(NextStep::Top(state))) };
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

    /// Returns the maximum number of arcs of a network: a constant, whose memory a contraction needs as well, and more
    /// if the base of this search has many nodes, whose memory is free meanwhile. It depends on the graph alone.
    fn most_arcs(&self, level: &Level<'_, '_>) -> u64 {
        let below = self.hierarchy.groupings().get(self.base as usize);
        let below =
            below.filter(|_| level.number > self.base).map_or(0, |below| below.groups.count);
        let bytes = O::COMMUNITY_BYTES + 3 * LABEL_BYTES;
        MOST_ARCS + below.saturating_sub(level.graph().node_count()) * bytes / ARC_BYTES
    }

    fn coarser_of<S: Sum>(&self, level: &mut Level<'_, '_>, kept: u64) -> Result<Option<Vec<u32>>> {
        let done = self.history.arcs;
        let tick = || notify(self.job.observer, Event::Advance { done });
        let nodes = nodes_of::<S, O>(level.source, &level.holdings, tick)?;
        let arcs = arcs_of::<S>(level.source, &nodes, kept, tick)?;
        Ok(coarser::<O>(self.rule, &nodes, arcs))
    }
}

/// Outcome of merging communities.
pub(super) enum Coarsened<O> {
    /// Better communities of the same level, in which nodes may move again.
    Coarser(LevelState<O>),
    /// The next step.
    Done(NextStep<O>),
}

/// Returns whether a node with arcs of these weights, the largest first, would join a group of nodes like itself, to
/// which its strongest arcs lead: of one, three, seven and so on. Only then can a merge of several such nodes pay.
fn gains_with_alike<O: Sums>(
    rule: O::Rule,
    sums: &O,
    (count, strength): (u32, f64),
    weights: &[f64],
) -> bool {
    let cut: f64 = weights.iter().sum();
    let all = (sums.strength(), sums.exits() * sums.strength());
    let (mut size, mut inside, mut taken) = (1, 0.0, 0);
    while size <= weights.len() {
        inside += weights[taken..size].iter().sum::<f64>();
        taken = size;
        // Each of them has arcs to all others.
        let among = inside - weights[size - 1];
        let of_group = (size as f64 * strength, size as f64 * (cut - among).max(0.0));
        let mut alike = O::empty(rule, 3);
        let held = Holding::of_count;
        alike.add(0, held(count.saturating_mul(size as u32)), of_group.0, of_group.1);
        alike.add(1, held(count), strength, cut);
        alike.add(2, held(1), all.0 - of_group.0 - strength, (all.1 - of_group.1 - cut).max(0.0));
        alike.complete();
        let (mass, flow) = (alike.mass(held(count), strength), O::Flow::default());
        let visit = Visit { present: 1, count, own: 0.0, arcs: cut, mass, flow };
        if alike.rate(&visit, &alike.leaving(&visit), 0, inside) > 0.0 {
            return true;
        }
        size = 2 * size + 1;
    }
    false
}

/// Returns for each node of a level what it holds, its strength and the weight of its arcs.
fn nodes_of<S: Sum, O: Sums>(
    source: &mut BlockSource<'_>,
    holdings: &Holdings,
    tick: impl Fn() -> Result<()>,
) -> Result<Vec<(Holding, f64, f64)>> {
    let mut nodes = Vec::with_capacity(source.graph().node_count() as usize);
    let mut scratch = ArcScratch::default();
    source.for_all(|block| {
        tick()?;
        for local in 0..block.node_count() {
            let mut sum = S::default();
            block.for_each_segment(local, &mut scratch, |targets, codes| {
                S::for_each(targets, codes, |_, weight| sum += weight);
            })?;
            let held = holdings.of::<O::Flow>(nodes.len());
            let arcs = sum.value();
            nodes.push((held, arcs + 2.0 * block.self_loop(local), arcs));
        }
        Ok(())
    })?;
    Ok(nodes)
}

/// Returns the arcs of each node of a level; of those of a node with more than `kept` arcs, only the strongest ones
/// relative to the strengths of their ends, and those that the other end keeps.
fn arcs_of<S: Sum>(
    source: &mut BlockSource<'_>,
    nodes: &[(Holding, f64, f64)],
    kept: u64,
    tick: impl Fn() -> Result<()>,
) -> Result<Vec<BTreeMap<u32, f64>>> {
    let mut arcs: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); nodes.len()];
    let (mut scratch, mut of_node) = (ArcScratch::default(), Vec::new());
    let kept = usize::try_from(kept).unwrap_or(usize::MAX);
    source.for_all(|block| {
        tick()?;
        for local in 0..block.node_count() {
            let node = block.first_node() + local as u32;
            of_node.clear();
            block.for_each_segment(local, &mut scratch, |targets, codes| {
                S::for_each(targets, codes, |target, weight| {
                    of_node.push((target, weight.value()))
                });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objectives::cap::Capped;
    use crate::objectives::map_equation::CodeLength;
    use proptest::prelude::*;

    /// Network as edges between nodes with loops.
    #[derive(Debug, Clone)]
    struct Net {
        nodes: Vec<(Holding, f64, f64)>,
        arcs: Vec<BTreeMap<u32, f64>>,
    }

    impl Net {
        fn new(loops: &[u32], edges: &[(usize, usize, u32)]) -> Self {
            let mut arcs = vec![BTreeMap::new(); loops.len()];
            for &(a, b, weight) in edges {
                let (a, b) = (a % loops.len(), b % loops.len());
                if a != b {
                    *arcs[a].entry(b as u32).or_insert(0.0) += f64::from(weight);
                    *arcs[b].entry(a as u32).or_insert(0.0) += f64::from(weight);
                }
            }
            let node = |(at, &inside): (usize, &u32)| {
                let cut: f64 = arcs[at].values().sum();
                (Holding::of_count(1 + at as u32 % 3), cut + 2.0 * f64::from(inside), cut)
            };
            let nodes = loops.iter().enumerate().map(node).collect();
            Self { nodes, arcs }
        }

        fn cuts(&self, labels: &[u32]) -> BTreeMap<u32, f64> {
            let mut cuts = BTreeMap::new();
            for (at, arcs) in self.arcs.iter().enumerate() {
                let outside = arcs.iter().filter(|(to, _)| labels[**to as usize] != labels[at]);
                *cuts.entry(labels[at]).or_insert(0.0) += outside.map(|(_, w)| w).sum::<f64>();
            }
            cuts
        }
    }

    /// Objective by its definition, in the unit of the rates.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Objective {
        CodeLength,
        Density(Null),
    }

    impl Objective {
        fn of(self, net: &Net, labels: &[u32]) -> f64 {
            let total: f64 = net.nodes.iter().map(|node| node.1).sum();
            let mut masses: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
            for (node, &label) in net.nodes.iter().zip(labels) {
                let mass = masses.entry(label).or_insert((0.0, 0.0));
                *mass = (mass.0 + node.1, mass.1 + f64::from(node.0.count));
            }
            let cuts = net.cuts(labels);
            let all: f64 = cuts.values().sum();
            match self {
                Self::CodeLength => {
                    let part = |(label, mass): (&u32, &(f64, f64))| {
                        let (p, q) = (mass.0 / total, cuts[label] / total);
                        2.0 * plogp(q) - plogp(p + q)
                    };
                    masses.iter().map(part).sum::<f64>() - plogp(all / total)
                }
                Self::Density(Null::Strength(resolution)) => {
                    let squares: f64 = masses.values().map(|mass| mass.0 * mass.0).sum();
                    0.5 * (total - all - resolution / total * squares)
                }
                Self::Density(Null::Count(factor)) => {
                    let squares: f64 = masses.values().map(|mass| mass.1 * mass.1).sum();
                    0.5 * (total - all - factor * squares)
                }
            }
        }

        fn tree(self, net: &Net, most: Option<u32>) -> (f64, Vec<Merge>) {
            fn grown<O: Sums>(rule: O::Rule, net: &Net) -> (f64, Vec<Merge>) {
                let network = Network::<O>::new(rule, &net.nodes, net.arcs.clone());
                (network.exits(), network.merged())
            }
            match self {
                Self::CodeLength => grown::<Capped<CodeLength>>(((), most), net),
                Self::Density(null) => grown::<Capped<Density>>((null, most), net),
            }
        }
    }

    /// Merges the pair with the best objective, computed from scratch; returns the objective after each merge, and
    /// the smallest difference between the best pair and the next one.
    fn naive(of: Objective, net: &Net, most: Option<u32>) -> (Vec<f64>, f64) {
        let mut labels: Vec<u32> = (0..net.nodes.len() as u32).collect();
        let (mut heights, mut closest) = (Vec::new(), f64::INFINITY);
        loop {
            let size = |labels: &[u32], label: u32| -> u32 {
                let members = net.nodes.iter().zip(labels).filter(|(_, of)| **of == label);
                members.map(|(node, _)| node.0.count).sum()
            };
            let mut found: Vec<(f64, u32, u32)> = Vec::new();
            for (at, arcs) in net.arcs.iter().enumerate() {
                for &to in arcs.keys() {
                    let (a, b) = (labels[at], labels[to as usize]);
                    let fits = most.is_none_or(|most| size(&labels, a) + size(&labels, b) <= most);
                    if a < b && fits && !found.iter().any(|pair| (pair.1, pair.2) == (a, b)) {
                        let merged: Vec<u32> =
                            labels.iter().map(|&l| if l == b { a } else { l }).collect();
                        found.push((of.of(net, &merged), a, b));
                    }
                }
            }
            found.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
            let Some(&(height, a, b)) = found.first() else { return (heights, closest) };
            if let Some(next) = found.get(1) {
                closest = closest.min(height - next.0);
            }
            heights.push(height);
            labels.iter_mut().filter(|label| **label == b).for_each(|label| *label = a);
        }
    }

    fn nets() -> impl Strategy<Value = Net> {
        let edge = (0..9usize, 0..9usize, 1..40u32);
        (prop::collection::vec(0..60u32, 2..9), prop::collection::vec(edge, 1..24))
            .prop_map(|(loops, edges)| Net::new(&loops, &edges))
    }

    fn objectives() -> impl Strategy<Value = Objective> {
        prop_oneof![
            Just(Objective::CodeLength),
            Just(Objective::Density(Null::Strength(1.0))),
            Just(Objective::Density(Null::Strength(3.0))),
            Just(Objective::Density(Null::Count(2.0))),
        ]
    }

    /// Returns the labels of every cut of the tree.
    fn all_cuts(tree: &Tree<'_>) -> Vec<Vec<bool>> {
        let mut cuts = vec![vec![false; tree.merges.len()]];
        for at in 0..tree.merges.len() {
            let Merge { left, right, .. } = tree.merges[at];
            let mut more = Vec::new();
            for cut in &cuts {
                let is_whole = |node: u32| tree.merge_of(node).is_none_or(|below| cut[below]);
                if is_whole(left) && is_whole(right) {
                    let mut merged = cut.clone();
                    merged[at] = true;
                    more.push(merged);
                }
            }
            cuts.extend(more);
        }
        cuts
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// The best pair is merged each time, at the objective of its definition.
        #[test]
        fn merges_are_those_of_a_search_of_all_pairs(
            net in nets(),
            of in objectives(),
            most in prop_oneof![Just(None), Just(Some(5))],
        ) {
            let (heights, closest) = naive(of, &net, most);
            let (exits, merges) = of.tree(&net, most);
            let tree = Tree { leaves: net.nodes.len(), exits, merges: &merges };
            // The tie between two pairs may be broken by rounding.
            if closest > 1e-9 {
                prop_assert_eq!(merges.len(), heights.len());
                let alone: Vec<u32> = (0..net.nodes.len() as u32).collect();
                let (mut gains, mut fewer) = (0.0, 0.0);
                for (merge, height) in merges.iter().zip(heights) {
                    gains += merge.gain;
                    fewer += merge.exits;
                    let found = of.of(&net, &alone) + tree.gain(gains, fewer);
                    prop_assert!((found - height).abs() < 1e-9, "{found} {height}");
                }
            }
        }

        /// No cut of the tree is better, and none of its prefixes; the gain is that of the definition.
        #[test]
        fn the_cut_is_the_best_of_all(net in nets(), of in objectives()) {
            let (exits, merges) = of.tree(&net, None);
            let tree = Tree { leaves: net.nodes.len(), exits, merges: &merges };
            let cut = tree.best_cut();
            let alone: Vec<u32> = (0..net.nodes.len() as u32).collect();
            let labels = tree.labels(&cut);
            let gain = of.of(&net, &labels) - of.of(&net, &alone);
            prop_assert!((gain - cut.gain).abs() < 1e-9, "{gain} {}", cut.gain);
            for is_merged in all_cuts(&tree) {
                let labels = tree.labels(&Cut { gain: 0.0, is_merged });
                let other = of.of(&net, &labels) - of.of(&net, &alone);
                prop_assert!(other <= cut.gain + 1e-9, "{other} {}", cut.gain);
            }
            prop_assert!(cut.gain >= tree.best_prefix().gain);
        }

        /// A node joins others like it if these have groups that are better together.
        #[test]
        fn alike_nodes_in_cliques_may_merge(inside in 1..30u32) {
            // Cliques of eight communities, which are tied to each other by little.
            let (weight, outside) = (f64::from(inside), 0.1);
            let mut sums = Capped::<CodeLength>::empty(((), None), 64);
            let cut = 7.0 * weight + 56.0 * outside;
            let strength = cut + 2.0;
            (0..64).for_each(|at| sums.add(at, Holding::of_count(1), strength, cut));
            sums.complete();
            let mut weights = vec![weight; 7];
            weights.extend(vec![outside; 56]);
            let gains = |weights: &[f64]| {
                gains_with_alike::<Capped<CodeLength>>(((), None), &sums, (1, strength), weights)
            };
            prop_assert!(gains(&weights));
        }
    }

    #[test]
    fn alike_nodes_with_equal_arcs_do_not_merge() {
        let mut sums = Capped::<CodeLength>::empty(((), None), 64);
        (0..64).for_each(|at| sums.add(at, Holding::of_count(1), 100.0, 6.3));
        sums.complete();
        let rule = ((), None);
        assert!(!gains_with_alike::<Capped<CodeLength>>(rule, &sums, (1, 100.0), &[0.1; 63]));
    }

    /// A hub whose pairs are not all rated each time still gathers its leaves, in little time.
    #[test]
    fn a_hub_gathers_its_leaves() {
        let leaves = 20_000;
        let mut arcs = vec![BTreeMap::from([(leaves, 1.0)]); leaves as usize];
        arcs.push((0..leaves).map(|leaf| (leaf, 1.0)).collect());
        let one = Holding::of_count(1);
        let mut nodes = vec![(one, 1.0, 1.0); leaves as usize];
        nodes.push((one, f64::from(leaves), f64::from(leaves)));
        let labels = coarser::<Capped<CodeLength>>(((), None), &nodes, arcs).unwrap();
        assert!(labels.iter().all(|&label| label == 0));
    }
}
