//! Specification of multilevel methods, written for readability: one thread, maps, plain logarithms, sums by
//! definition. See `oracle` for label propagation and the closing.

use crate::base::hash::{Hash, LEAD, LEVEL, ORDER, REFINE, SUB, TIE, mix};
use crate::kernel::objective::ALONE;
use crate::{Method, Seeding};
use outcore_graph::weight::{RELATIVE_TOLERANCE, Weight};
use outcore_testkit::Edges;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

mod coarsen;
mod starts;

use starts::Start;

/// Graph in memory.
pub(crate) struct OracleLevel {
    /// For each node, its neighbors with weights, in ascending order.
    pub(crate) arcs: Vec<Vec<(u32, f64)>>,
    pub(crate) loops: Vec<f64>,
    /// Number of input nodes in each node.
    pub(crate) counts: Vec<u32>,
}

/// Converts edges to a level. A random walk counts loops of the input once, so half of their weight takes part: the
/// weight of a loop counts twice.
pub(crate) fn level(edges: &Edges, method: Method) -> OracleLevel {
    let share = if method == Method::MapEquation { 0.5 } else { 1.0 };
    let count = edges.node_count as usize;
    let (mut arcs, mut loops) = (vec![Vec::new(); count], vec![0.0; count]);
    for ((a, b), weight) in edges.arcs() {
        let weight = Weight::from_code(weight).value();
        if a == b { loops[a as usize] = share * weight } else { arcs[a as usize].push((b, weight)) }
    }
    OracleLevel { arcs, loops, counts: vec![1; count] }
}

/// Class of the size of a graph, which divides the starts among the graph and a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OracleSize {
    Small,
    Medium,
    Large,
}

pub(crate) struct OracleLevels {
    pub(crate) method: Method,
    pub(crate) resolution: f64,
    pub(crate) seeding: Seeding,
    pub(crate) cycles: u32,
    /// Number of starts, the usual one included, and the class of the size that divides them.
    pub(crate) trials: u32,
    pub(crate) size: OracleSize,
    /// Other starts on the graph and on a level.
    starts: [Vec<Start>; 2],
    /// Maximum number of arcs and nodes of the level with several starts, and the number of nodes of the graph.
    small_level: (usize, usize),
    node_count: usize,
    /// Mean weight of the arcs of the graph.
    mean: f64,
    pub(crate) seed: u64,
    pub(crate) sweeps: u32,
    /// Number of searches that have begun in parallel.
    searches: u64,
    /// Maximum number of input nodes in a community.
    pub(crate) max_size: Option<u32>,
    /// Labels that have lost their last node, for nodes better off alone.
    pub(crate) free: Vec<u32>,
    /// Whether nodes may be alone by all methods; by the constant Potts model, they always may.
    settles: bool,
    /// Group of each node of each level, from the graph up, in the last cycle.
    pub(crate) groupings: Vec<Vec<u32>>,
    /// Smallest margin of any decision, relative to the scale of the compared values.
    pub(crate) closest: Cell<f64>,
    /// Whether merges that other weights within rounding would make count as a margin of zero.
    pub(crate) perturbs: bool,
}

/// Masses and cuts of communities.
struct OracleSums {
    mass: BTreeMap<u32, f64>,
    cut: BTreeMap<u32, f64>,
    total: f64,
}

fn plogp(x: f64) -> f64 {
    if x > 0.0 { x * x.log2() } else { 0.0 }
}

impl OracleLevel {
    fn strength(&self, v: usize) -> f64 {
        self.degree(v) + 2.0 * self.loops[v]
    }

    fn degree(&self, v: usize) -> f64 {
        self.arcs[v].iter().map(|&(_, w)| w).sum()
    }

    fn blocks(&self) -> Vec<Range<usize>> {
        let size = self.arcs.len().div_ceil(64).clamp(256, 65_536);
        let n = self.arcs.len();
        (0..n).step_by(size).map(|first| first..(first + size).min(n)).collect()
    }

    fn weights(&self, v: usize, labels: &[u32]) -> BTreeMap<u32, f64> {
        let mut weights = BTreeMap::new();
        for &(u, w) in &self.arcs[v] {
            *weights.entry(labels[u as usize]).or_insert(0.0) += w;
        }
        weights
    }
}

impl OracleLevels {
    pub(crate) fn new((method, resolution): (Method, f64), cycles: u32, seed: u64) -> Self {
        let (free, groupings) = (Vec::new(), Vec::new());
        let (sweeps, searches, max_size, closest) = (0, 0, None, Cell::new(f64::INFINITY));
        Self {
            method,
            resolution,
            seeding: Seeding::Star,
            cycles,
            trials: 1,
            size: OracleSize::Small,
            starts: [Vec::new(), Vec::new()],
            small_level: (0, 0),
            node_count: 0,
            mean: 0.0,
            seed,
            sweeps,
            searches,
            max_size,
            free,
            settles: false,
            groupings,
            closest,
            perturbs: false,
        }
    }

    /// Returns the label of each node before the closing.
    pub(crate) fn cluster(&mut self, level: &OracleLevel) -> Vec<u32> {
        self.scale_to(level);
        self.share_starts(level);
        let mut labels = self.begin(level, 0, self.seed);
        self.dissolve(level, &mut labels);
        self.settle(level, &mut labels);
        labels
    }

    /// Takes resolutions of the constant Potts model in units of the mean weight of a graph.
    pub(crate) fn scale_to(&mut self, level: &OracleLevel) {
        let arcs: Vec<f64> = level.arcs.iter().flatten().map(|&(_, w)| w).collect();
        self.mean = arcs.iter().sum::<f64>() / arcs.len().max(1) as f64;
        if self.method == Method::Cpm {
            self.resolution *= self.mean;
        }
    }

    /// Returns the largest improvement of the objective if one node moves to the community of a neighbor or is alone.
    pub(crate) fn best_single_move(&self, level: &OracleLevel, labels: &[u32]) -> f64 {
        let before = self.quality(level, labels);
        let mut moved = labels.to_vec();
        let mut most = f64::NEG_INFINITY;
        for v in 0..labels.len() {
            for to in level.weights(v, labels).into_keys().chain([u32::MAX]) {
                moved[v] = to;
                most = most.max(self.quality(level, &moved) - before);
            }
            moved[v] = labels[v];
        }
        most
    }

    /// Lets all nodes of a graph that is not large move until none does.
    fn settle(&mut self, level: &OracleLevel, labels: &mut [u32]) {
        let mut moves = self.size != OracleSize::Large;
        self.settles = true;
        while moves {
            self.fill_free(labels);
            let (mut active, before) = (vec![true; labels.len()], self.sweeps);
            moves = self.sweep(level, self.seed, labels, None, &mut active) > 0;
            if !moves {
                self.sweeps = before;
            }
            let mut goes_on = moves;
            while goes_on {
                goes_on = self.sweep(level, self.seed, labels, None, &mut active) > 0;
            }
        }
    }

    /// Returns the number of communities that maximize modularity, and the number of sweeps to find them.
    ///
    /// The search has all `cycles` that were asked for, also where several starts have used up those of this one.
    pub(crate) fn compared(&self, level: &OracleLevel, cycles: u32) -> (u64, u32) {
        let cycles = if self.size == OracleSize::Small { cycles } else { 1 };
        let mut other = Self::new((Method::Modularity, 1.0), cycles, self.seed);
        (other.max_size, other.size, other.sweeps) = (self.max_size, self.size, self.sweeps);
        (other.node_count, other.mean) = (self.node_count, self.mean);
        let labels: BTreeSet<u32> = other.begin(level, 0, self.seed).into_iter().collect();
        (labels.len() as u64, other.sweeps - self.sweeps)
    }

    /// Solves a level from its first communities, or from the best of several starts; returns the labels.
    fn begin(&mut self, level: &OracleLevel, number: u64, seed: u64) -> Vec<u32> {
        let mut labels = self.first_groups(level, seed ^ LEAD, None);
        if !self.starts[0].is_empty() {
            labels = self.best_start(level, number, seed, labels, 0);
            let is_small = self.size == OracleSize::Small;
            self.cycles = if is_small { 1 } else { (self.cycles - 1).max(1) };
        }
        self.cycles(level, number, seed, labels)
    }

    /// Returns the objective, up to a constant: bits per step, or a share of the strength.
    fn quality(&self, level: &OracleLevel, labels: &[u32]) -> f64 {
        let sums = self.sums(level, labels);
        if sums.total == 0.0 {
            return 0.0;
        }
        if self.method == Method::MapEquation {
            let share = |x: f64| x / sums.total;
            let cuts: f64 = sums.cut.values().sum();
            let lengths = sums.mass.iter().map(|(label, &mass)| {
                let cut = sums.cut[label];
                plogp(share(mass + cut)) - 2.0 * plogp(share(cut))
            });
            return -(plogp(share(cuts)) + lengths.sum::<f64>());
        }
        let inside: f64 = (0..labels.len())
            .map(|v| {
                let own = level.weights(v, labels).get(&labels[v]).copied().unwrap_or(0.0);
                own + 2.0 * level.loops[v]
            })
            .sum();
        let factor = if self.method == Method::Cpm { 1.0 } else { 1.0 / sums.total };
        let squares: f64 = sums.mass.values().map(|mass| mass * mass).sum();
        (inside - self.resolution * factor * squares) / sums.total
    }

    fn cycles(
        &mut self,
        level: &OracleLevel,
        number: u64,
        seed: u64,
        labels: Vec<u32>,
    ) -> Vec<u32> {
        let active = vec![true; labels.len()];
        self.cycles_of(level, number, seed, labels, active)
    }

    /// Runs the cycles; the first one begins with the active nodes.
    fn cycles_of(
        &mut self,
        level: &OracleLevel,
        number: u64,
        seed: u64,
        mut labels: Vec<u32>,
        mut active: Vec<bool>,
    ) -> Vec<u32> {
        let n = level.arcs.len() as f64;
        let is_large = number == 0 && self.size == OracleSize::Large;
        let (enough, few) = if is_large { (0.01, 0.02) } else { (0.0, 0.0) };
        self.fill_free(&labels);
        for _ in 0..if is_large { 5 } else { 50 } {
            let moved = self.sweep(level, seed, &mut labels, None, &mut active);
            if moved <= (enough * n) as u64 {
                break;
            }
        }
        for cycle in 1..=self.cycles {
            if !self.descend(level, number, seed, &mut labels) {
                let _ = self.coarsen(level, number, seed, &mut labels);
            }
            let mut active = vec![true; labels.len()];
            let mut moved = self.sweep(level, seed, &mut labels, None, &mut active);
            let is_last = moved <= (few * n) as u64 || cycle == self.cycles;
            for _ in 1..if is_large { 2 } else { 50 } {
                if moved > 0 && (is_last || !is_large) {
                    moved = self.sweep(level, seed, &mut labels, None, &mut active);
                }
            }
            if is_last {
                break;
            }
        }
        labels
    }

    /// Returns whether `v` may join the nodes with a label, all of which count.
    fn has_room(&self, level: &OracleLevel, labels: &[u32], v: usize, label: u32) -> bool {
        let members = labels.iter().zip(&level.counts).filter(|&(other, _)| *other == label);
        let size: u32 = members.map(|(_, &count)| count).sum();
        self.max_size.is_none_or(|most| size + level.counts[v] <= most)
    }

    /// Returns leaders with their followers, or single nodes; labels are dense, leaders first.
    fn first_groups(&self, level: &OracleLevel, seed: u64, classes: Option<&[u32]>) -> Vec<u32> {
        let n = level.arcs.len() as u32;
        let stars = self.method != Method::Cpm && self.seeding == Seeding::Star;
        let leads = |v: u32| stars && Hash::new(seed).of(u64::from(v), 0).is_multiple_of(4);
        let leaders: Vec<u32> = (0..n).filter(|&v| leads(v)).collect();
        let mut next = leaders.len() as u32;
        let may = |v: u32, u: u32| classes.is_none_or(|c| c[u as usize] == c[v as usize]);
        let label_of = |u: u32| leaders.binary_search(&u).map_or(u32::MAX, |label| label as u32);
        let mut labels: Vec<u32> = (0..n).map(label_of).collect();
        for v in 0..n {
            let near = level.arcs[v as usize].iter().filter(|&&(u, _)| leads(u) && may(v, u));
            let most = near.clone().map(|&(_, w)| w).fold(0.0, f64::max);
            let key = |u: u32| (Hash::new(seed ^ u64::from(v)).of(u64::from(u), 1), !u);
            let least = most * (1.0 - RELATIVE_TOLERANCE);
            let best = near.filter(|&&(_, w)| w >= least).map(|&(u, _)| u).max_by_key(|&u| key(u));
            if leads(v) {
                continue;
            }
            let label = best.map_or(next, label_of);
            if self.has_room(level, &labels, v as usize, label) {
                labels[v as usize] = label;
            } else {
                labels[v as usize] = next;
            }
            next += u32::from(labels[v as usize] == next);
        }
        labels
    }

    fn mass(&self, level: &OracleLevel, v: usize) -> f64 {
        match self.method {
            Method::Cpm => f64::from(level.counts[v]),
            _ => level.strength(v),
        }
    }

    fn sums(&self, level: &OracleLevel, labels: &[u32]) -> OracleSums {
        let mut sums = OracleSums { mass: BTreeMap::new(), cut: BTreeMap::new(), total: 0.0 };
        for (v, &label) in labels.iter().enumerate() {
            *sums.mass.entry(label).or_insert(0.0) += self.mass(level, v);
            let outside = level.arcs[v].iter().filter(|&&(u, _)| labels[u as usize] != label);
            *sums.cut.entry(label).or_insert(0.0) += outside.map(|&(_, w)| w).sum::<f64>();
            sums.total += level.strength(v);
        }
        sums
    }

    /// Returns the gain of the objective if `v` takes a label, and the scale of its rounding.
    fn gain(
        &self,
        level: &OracleLevel,
        labels: &[u32],
        sums: &OracleSums,
        v: usize,
        to: u32,
    ) -> (f64, f64) {
        let from = labels[v];
        let weights = level.weights(v, labels);
        let weight = |label: u32| weights.get(&label).copied().unwrap_or(0.0);
        let (degree, mass) = (level.degree(v), self.mass(level, v));
        let factor = match self.method {
            Method::Cpm => self.resolution,
            _ if sums.total > 0.0 => self.resolution / sums.total,
            _ => 0.0,
        };
        if self.method != Method::MapEquation {
            let stay = weight(from) - factor * mass * (sums.mass[&from] - mass);
            let there = sums.mass.get(&to).copied().unwrap_or(0.0);
            return (weight(to) - factor * mass * there - stay, degree);
        }
        let all: f64 = sums.cut.values().sum();
        let of = |sums: &BTreeMap<u32, f64>, label| sums.get(&label).copied().unwrap_or(0.0);
        let length = |changed: &[(u32, f64, f64)], all: f64| {
            let parts = changed.iter().map(|&(label, mass, cut)| {
                let (p, q) = (of(&sums.mass, label) + mass, of(&sums.cut, label) + cut);
                plogp((p + q) / sums.total) - 2.0 * plogp(q / sums.total)
            });
            plogp(all / sums.total) + parts.sum::<f64>()
        };
        let out = (from, -mass, 2.0 * weight(from) - degree);
        let into = (to, mass, degree - 2.0 * weight(to));
        let before = length(&[(from, 0.0, 0.0), (to, 0.0, 0.0)], all);
        (before - length(&[out, into], all + out.2 + into.2), 64.0 * mass / sums.total)
    }

    fn best(
        &self,
        level: &OracleLevel,
        (labels, classes): (&[u32], Option<&[u32]>),
        sums: &OracleSums,
        v: usize,
        seed: u64,
    ) -> Option<u32> {
        let allowed = |label: u32| {
            let class = |label: u32| classes.map(|classes| classes[label as usize]);
            label != labels[v] && class(label) == class(labels[v])
        };
        let gains: Vec<(u32, f64, f64)> = level
            .weights(v, labels)
            .keys()
            .filter(|&&label| allowed(label) && self.has_room(level, labels, v, label))
            .map(|&label| {
                let (gain, scale) = self.gain(level, labels, sums, v, label);
                (label, gain, scale * RELATIVE_TOLERANCE)
            })
            .collect();
        let can_leave = (self.method == Method::Cpm || self.settles) && classes.is_none();
        let (alone, scale) = match can_leave {
            true => self.gain(level, labels, sums, v, ALONE),
            false => (f64::NEG_INFINITY, 0.0),
        };
        let most = gains.iter().map(|&(_, gain, _)| gain).fold(alone, f64::max);
        let leaves = alone - scale * RELATIVE_TOLERANCE > scale * RELATIVE_TOLERANCE;
        for &(_, gain, rounding) in &gains {
            self.compare(most, 2.0 * rounding, rounding);
            self.compare(gain, most - rounding, rounding);
        }
        let hash = Hash::new(seed ^ TIE ^ v as u64);
        gains
            .iter()
            .filter(|&&(_, gain, rounding)| most - rounding > rounding && gain >= most - rounding)
            .map(|&(label, ..)| label)
            .max_by_key(|&label| (hash.of(u64::from(label), u64::from(self.sweeps)), !label))
            .or((most == alone && leaves).then_some(ALONE))
    }

    /// Records the distance of two numbers in a decision; `rounding` is the maximum difference of equal numbers.
    fn compare(&self, a: f64, b: f64, rounding: f64) {
        let distance = (a - b).abs() / (rounding / RELATIVE_TOLERANCE);
        self.closest.set(self.closest.get().min(distance));
    }

    pub(crate) fn sweep(
        &mut self,
        level: &OracleLevel,
        seed: u64,
        labels: &mut [u32],
        classes: Option<&[u32]>,
        active: &mut [bool],
    ) -> u64 {
        self.sweeps += 1;
        let number = u64::from(self.sweeps);
        let mut blocks = level.blocks();
        blocks.sort_by_key(|b| (Hash::new(seed ^ ORDER).of(b.start as u64, number), b.start));
        let mut moved = 0;
        for block in blocks {
            let snapshot: Vec<usize> = block.filter(|&v| active[v]).collect();
            for group in 0..4 {
                let sums = self.sums(level, labels);
                let mut proposals = Vec::new();
                for &v in &snapshot {
                    if Hash::new(seed ^ SUB).of(v as u64, number) % 4 != group {
                        continue;
                    }
                    active[v] = false;
                    let best = self.best(level, (labels, classes), &sums, v, seed);
                    proposals.extend(best.map(|label| (v, label)));
                }
                let mut movers = Vec::new();
                for (v, label) in proposals {
                    let sums = self.sums_with(level, labels, label);
                    let (gain, scale) = self.gain(level, labels, &sums, v, label);
                    let has_room = self.has_room(level, labels, v, label);
                    self.compare(gain, scale * RELATIVE_TOLERANCE, scale * RELATIVE_TOLERANCE);
                    if gain > scale * RELATIVE_TOLERANCE && has_room {
                        let Some(label) = self.target(labels, label) else { continue };
                        let left = std::mem::replace(&mut labels[v], label);
                        let is_exact = self.method == Method::Cpm;
                        if is_exact && classes.is_none() && !labels.contains(&left) {
                            self.free.push(left);
                        }
                        movers.push(v);
                    } else {
                        active[v] = true;
                    }
                }
                moved += movers.len() as u64;
                for v in movers {
                    for &(u, _) in &level.arcs[v] {
                        active[u as usize] |= labels[u as usize] != labels[v];
                    }
                }
            }
        }
        moved
    }

    /// Returns the label that a move leads to: an unused one for a node that will be alone.
    fn target(&mut self, labels: &[u32], label: u32) -> Option<u32> {
        if label != ALONE {
            return Some(label);
        }
        while let Some(free) = self.free.pop() {
            if !labels.contains(&free) {
                return Some(free);
            }
        }
        None
    }

    /// Frees all labels that no node has.
    fn fill_free(&mut self, labels: &[u32]) {
        let all = (0..labels.len() as u32).rev();
        self.free = all.filter(|label| !labels.contains(label)).collect();
    }

    /// Returns the sums, with an entry for a label that may have lost its last node.
    fn sums_with(&self, level: &OracleLevel, labels: &[u32], label: u32) -> OracleSums {
        let mut sums = self.sums(level, labels);
        sums.mass.entry(label).or_insert(0.0);
        sums.cut.entry(label).or_insert(0.0);
        sums
    }

    /// Solves the levels above this one; returns false if there are nearly as many groups as nodes.
    fn descend(&mut self, level: &OracleLevel, number: u64, seed: u64, labels: &mut [u32]) -> bool {
        let n = labels.len();
        self.groupings.truncate(number as usize);
        let leaders = seed ^ REFINE ^ mix(u64::from(self.sweeps));
        let mut groups = self.first_groups(level, leaders, Some(labels));
        let mut classes = vec![0; n];
        (0..n).for_each(|v| classes[groups[v] as usize] = labels[v]);
        self.sweep(level, seed, &mut groups, Some(&classes), &mut vec![true; n]);
        let count = renumber(&mut groups);
        let most = if self.size == OracleSize::Large { 0.99 } else { 1.0 };
        if count as f64 >= most * n as f64 {
            return false;
        }
        let mut above = vec![0; count];
        (0..n).for_each(|v| above[groups[v] as usize] = labels[v]);
        self.climb(level, number, labels, (groups, above));
        true
    }

    /// Solves the level of these groups, whose first labels are `above`, and those above it.
    fn climb(
        &mut self,
        level: &OracleLevel,
        number: u64,
        labels: &mut [u32],
        (groups, mut above): (Vec<u32>, Vec<u32>),
    ) {
        let (n, count) = (labels.len(), above.len());
        self.groupings.truncate(number as usize);
        self.groupings.push(groups.clone());
        let class_count = renumber(&mut above);
        let next = contract(level, &groups, count);
        let seed = mix(self.seed ^ LEVEL ^ (number + 1));
        self.fill_free(&above);
        let arcs = next.arcs.iter().map(Vec::len).sum::<usize>();
        let is_small = arcs <= self.small_level.0 && count <= self.small_level.1;
        if is_small && !self.starts[1].is_empty() {
            above = self.best_start(&next, number + 1, seed, above, 1);
        }
        self.rise(&next, number + 1, seed, &mut above, class_count);
        (0..n).for_each(|v| labels[v] = above[groups[v] as usize]);
        self.fill_free(labels);
    }

    /// Solves a level and those above it; `labels` is the number of its first labels.
    fn rise(
        &mut self,
        level: &OracleLevel,
        number: u64,
        seed: u64,
        labels: &mut [u32],
        class_count: usize,
    ) {
        let count = labels.len();
        loop {
            let mut active = vec![true; count];
            let first = self.sweep(level, seed, labels, None, &mut active);
            let mut moved = first;
            for _ in 1..50 {
                if moved == 0 {
                    break;
                }
                moved = self.sweep(level, seed, labels, None, &mut active);
            }
            let few = if self.size == OracleSize::Large { 0.005 } else { 0.0 };
            let is_settled = first as f64 <= few * count as f64 && 2 * class_count >= count;
            let is_done = !is_settled && self.descend(level, number, seed, labels);
            if is_done || !self.coarsen(level, number, seed, labels) {
                break;
            }
        }
    }
}

/// Makes labels dense, preserving their order.
fn renumber(labels: &mut [u32]) -> usize {
    let mut used: Vec<u32> = labels.to_vec();
    used.sort_unstable();
    used.dedup();
    labels.iter_mut().for_each(|label| *label = used.binary_search(label).unwrap() as u32);
    used.len()
}

fn contract(level: &OracleLevel, groups: &[u32], count: usize) -> OracleLevel {
    let rounded = |weight: f64| Weight::from_code(Weight::new(weight).code()).value();
    let mut pairs: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    let (mut loops, mut counts) = (vec![0.0; count], vec![0; count]);
    for (v, arcs) in level.arcs.iter().enumerate() {
        let group = groups[v];
        counts[group as usize] += level.counts[v];
        loops[group as usize] += level.loops[v];
        for &(u, weight) in arcs {
            if groups[u as usize] != group {
                pairs.entry((group, groups[u as usize])).or_default().push(weight);
            } else if (u as usize) < v {
                loops[group as usize] += weight;
            }
        }
    }
    let mut arcs = vec![Vec::new(); count];
    for ((a, b), mut weights) in pairs {
        weights.sort_by(f64::total_cmp);
        arcs[a as usize].push((b, rounded(weights.iter().sum())));
    }
    let loops = loops.into_iter().map(|w| if w > 0.0 { rounded(w) } else { 0.0 }).collect();
    OracleLevel { arcs, loops, counts }
}
