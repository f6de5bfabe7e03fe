//! Network of communities, whose best pair is merged again and again.
//!
//! A heap holds the gain of each pair. A gain in it may be too large, since all of them fall as the weight
//! between communities does; the pair at the top is rated again and returned if it fell. When a community has grown,
//! those of its pairs that another one shares are rated again: all of them if they are few or it has grown by an
//! eighth, so that a hub does not pay for each of its leaves.
//!
//! Where all pairs are alike, each merge lowers the gains of all others, and the top of the heap would be rated again and
//! again. So once [`PATIENCE`] arcs have been looked at for each arc of the network, the pair at the top is taken even if
//! its gain has fallen; trees of groups inside groups need about a dozen.
//!
//! Cost: each arc moves into another community a logarithmic number of times, and a rating takes about 50 ns.

use super::cut::{Merge, Tree};
use crate::base::logarithm::plogp;
use crate::kernel::admission::Admission;
use crate::kernel::holdings::{Carries, Holding};
use crate::kernel::objective::{Sums, Visit};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Maximum number of pairs of a community that are all rated again when it grows.
const FEW_PAIRS: usize = 64;
/// Share by which the strength of a community, or the weight of its arcs, must change before more pairs are rated
/// again.
const GROWN: f64 = 1.0 / 8.0;

/// Number of arcs looked at, per arc and community of the network, after which pairs merge without being rated again.
const PATIENCE: u64 = 16;

/// Neighbors of a community, and the weight of the arcs to each. Nothing depends on their order.
pub(crate) type Arcs = HashMap<u32, f64, BuildHasherDefault<Scattered>>;

/// Hash of the number of a community: its bits scattered by a multiplication.
#[derive(Default)]
pub(crate) struct Scattered(u64);

impl Hasher for Scattered {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }
    fn write_u32(&mut self, number: u32) {
        let mixed = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 32;
    }
}

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
    /// Number of merges into it.
    version: u32,
    /// `version` when all its pairs were last rated.
    rated: u32,
    /// Strength and cut when all its pairs were last rated.
    then: (f64, f64),
    /// Whether it has become part of another one.
    is_gone: bool,
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

/// Network of communities.
pub(crate) struct Network<O> {
    sums: O,
    admission: Admission,
    parts: Vec<Part>,
    /// For each community its neighbors, and the weight of the arcs to them.
    arcs: Vec<Arcs>,
    heap: BinaryHeap<Pair>,
    merges: Vec<Merge>,
    /// Number of arcs looked at so far, and the number from which pairs merge without being rated again.
    looked: u64,
    patience: u64,
}

impl<O: Sums> Network<O> {
    /// Creates a network of communities, each with what it holds, its strength, the weight of its arcs to others, and
    /// those arcs that count in merges. Merged communities have at most `most` input nodes, if that is limited.
    pub(crate) fn new(
        rule: O::Rule,
        most: Option<u32>,
        nodes: &[(Holding, f64, f64)],
        arcs: Vec<Arcs>,
    ) -> Self {
        let mut sums = O::empty(rule, nodes.len());
        let mut parts = Vec::with_capacity(nodes.len());
        for (at, &(held, strength, cut)) in (0..).zip(nodes) {
            sums.add(at, held, strength, cut);
            let (first, node, version, rated) = (at, at, 0, 0);
            let (then, is_gone) = ((strength, cut), false);
            parts.push(Part { strength, cut, held, first, node, version, rated, then, is_gone });
        }
        sums.complete();
        let admission = Admission::apart(most, nodes.iter().map(|(held, ..)| held.count));
        let (heap, merges) = (BinaryHeap::new(), Vec::new());
        Self { sums, admission, parts, arcs, heap, merges, looked: 0, patience: 0 }
    }

    /// Returns the total of all exits as a share of the strength; 0 if the objective does not price it.
    pub(crate) fn exits(&self) -> f64 {
        self.sums.exits()
    }

    /// Merges the best pair again and again until no two communities have arcs between them; returns the tree, and the
    /// number of arcs looked at.
    pub(crate) fn merged(mut self) -> (Vec<Merge>, u64) {
        self.rate_all();
        self.patience = PATIENCE * (self.looked + self.parts.len() as u64);
        let mut bound = self.heap.len() / 2 * 3 + self.parts.len();
        while let Some((a, b, gain)) = self.next() {
            self.merge(a, b, gain);
            if self.heap.len() > bound {
                // Outdated pairs make up most of the heap.
                self.rate_all();
                bound = self.heap.len() / 2 * 3 + self.parts.len();
            }
        }
        (self.merges, self.looked)
    }

    fn rate_all(&mut self) {
        let mut pairs = Vec::new();
        self.looked += self.arcs.iter().map(|arcs| arcs.len() as u64).sum::<u64>();
        for (a, arcs) in (0..).zip(&self.arcs) {
            for (&b, &weight) in arcs.iter().filter(|(b, _)| **b > a) {
                pairs.extend(self.pair(a, b, weight));
            }
        }
        self.heap = BinaryHeap::from(pairs);
        self.parts.iter_mut().for_each(Part::mark_rated);
    }

    /// Returns the best pair, and the gain of merging it.
    fn next(&mut self) -> Option<(u32, u32, f64)> {
        while let Some(pair) = self.heap.pop() {
            self.looked += 1;
            let (a, b) = pair.ends;
            let [of_a, of_b] = [a, b].map(|part| &self.parts[part as usize]);
            let is_replaced = pair.versions.0 < of_a.rated || pair.versions.1 < of_b.rated;
            if is_replaced || of_a.is_gone || of_b.is_gone {
                continue;
            }
            let weight = self.arcs[a as usize].get(&b).copied();
            let Some(now) = weight.and_then(|weight| self.pair(a, b, weight)) else { continue };
            if now.gain < pair.gain && self.looked <= self.patience {
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

    /// Rates a pair; `None` if their merge is not admitted.
    fn pair(&self, a: u32, b: u32, weight: f64) -> Option<Pair> {
        let [of_a, of_b] = [a, b].map(|part| &self.parts[part as usize]);
        // Each pair is always rated in the same direction, so that its gain is always rounded in the same way.
        let (to, from) = if of_a.first < of_b.first { (a, b) } else { (b, a) };
        let visit = self.visit(from);
        if !self.admission.admits(&visit, to) {
            return None;
        }
        let gain = self.sums.rate(&visit, &self.sums.leaving(&visit), to, weight);
        let firsts = (of_a.first.min(of_b.first), of_a.first.max(of_b.first));
        let versions = (of_a.version, of_b.version);
        Some(Pair { gain, firsts, ends: (a, b), versions })
    }

    /// Merges two communities: the one with fewer arcs into the other.
    fn merge(&mut self, a: u32, b: u32, gain: f64) {
        let rank = |part: u32| (self.arcs[part as usize].len(), !self.parts[part as usize].first);
        let (into, from) = if rank(a) >= rank(b) { (a, b) } else { (b, a) };
        let moved = std::mem::take(&mut self.arcs[from as usize]);
        let weight = moved.get(&into).copied().unwrap_or(0.0);
        let (visit, before) = (self.visit(from), self.sums.exits());
        self.sums.moved(&visit, into, weight);
        self.admission.moved(&visit, into);
        let after = self.sums.exits();
        let node = (self.parts.len() + self.merges.len()) as u32;
        let Part { strength, cut, held, first, node: right, .. } = self.parts[from as usize];
        self.parts[from as usize].is_gone = true;
        let part = &mut self.parts[into as usize];
        let left = std::mem::replace(&mut part.node, node);
        let gain = gain - (plogp(before) - plogp(after));
        self.merges.push(Merge { left, right, exits: before - after, gain });
        part.strength += strength;
        part.cut += cut - 2.0 * weight;
        part.held += held;
        part.first = part.first.min(first);
        part.version += 1;
        self.looked += moved.len() as u64;
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
    fn rate_again(&mut self, part: u32, moved: &Arcs) {
        let arcs = &self.arcs[part as usize];
        let rates_all = arcs.len() <= FEW_PAIRS || self.parts[part as usize].has_grown();
        let due: Vec<u32> = match rates_all {
            true => arcs.keys().copied().collect(),
            false => moved.keys().copied().filter(|&other| other != part).collect(),
        };
        if rates_all {
            self.parts[part as usize].mark_rated();
        }
        self.looked += due.len() as u64;
        let arcs = &self.arcs[part as usize];
        let pairs: Vec<_> =
            due.into_iter().filter_map(|other| self.pair(part, other, arcs[&other])).collect();
        self.heap.extend(pairs);
    }
}

impl Part {
    fn mark_rated(&mut self) {
        (self.rated, self.then) = (self.version, (self.strength, self.cut));
    }

    fn has_grown(&self) -> bool {
        let differs = |now: f64, then: f64| (now - then).abs() > GROWN * then;
        differs(self.strength, self.then.0) || differs(self.cut, self.then.1)
    }
}

/// Merges single nodes, and returns the best cut of the tree of merges, if it is better than single nodes. Also returns
/// the number of arcs looked at.
pub(crate) fn coarser<O: Sums>(
    rule: O::Rule,
    most: Option<u32>,
    nodes: &[(Holding, f64, f64)],
    arcs: Vec<Arcs>,
) -> (Option<Vec<u32>>, u64) {
    let network = Network::<O>::new(rule, most, nodes, arcs);
    let exits = network.exits();
    let (merges, looked) = network.merged();
    let tree = Tree { leaves: nodes.len(), exits, merges: &merges };
    let cut = tree.best_cut();
    let is_coarser = cut.gain > 0.0 && cut.is_merged.contains(&true);
    (is_coarser.then(|| tree.labels(&cut)), looked)
}
