//! Specification of label propagation, written for readability: one thread, maps, no blocks of arcs, no pieces of work.

use crate::base::hash::{Hash, LEAD, SUB, TIE};
use crate::drive::propagate::SWEEPS;
use crate::methods::options::{AttenuationRule, ClusterOptions, Seeding};
use crate::objectives::label_propagation::DRAWN_SWEEPS;
use crate::store::given::GivenLabels;
use outcore_graph::weight::{RELATIVE_TOLERANCE, Weight};
use std::collections::BTreeMap;

/// Graph in memory: for each node, its neighbors with weights, in ascending order.
#[derive(Clone)]
pub(crate) struct Oracle {
    pub(crate) arcs: Vec<Vec<(u32, f64)>>,
    pub(crate) blocks: Vec<std::ops::Range<usize>>,
    pub(crate) directed: bool,
    pub(crate) options: ClusterOptions,
    pub(crate) given: GivenLabels,
    /// Initial labels to use unchanged; empty if there are none.
    pub(crate) start: Vec<u32>,
}

const NEARLY: f64 = 1.0 - RELATIVE_TOLERANCE;

/// State of the nodes during the sweeps.
struct OracleState {
    labels: Vec<u32>,
    hops: Vec<u8>,
    /// Share of the nodes that changed in the previous sweep.
    changing: f64,
}

/// Labels before splitting and numbering, number of sweeps, and number of arcs visited.
pub(crate) struct OracleRun {
    pub(crate) labels: Vec<u32>,
    pub(crate) sweeps: u32,
    pub(crate) visited: u64,
}

impl Oracle {
    /// Returns the final labels, the number of sweeps, and the number of arcs visited.
    pub(crate) fn cluster(&self) -> (Vec<u32>, u32, u64) {
        let run = self.run();
        (self.finish(&run.labels), run.sweeps, run.visited)
    }

    pub(crate) fn run(&self) -> OracleRun {
        let n = self.arcs.len();
        let mut state = self.first_state();
        let mut active = vec![true; n];
        let (mut changes, mut visits) = (vec![0u32; n], vec![0u32; n]);
        let (mut sweeps, mut visited) = (0, 0);
        let attenuates = self.options.propagation.attenuates();
        while sweeps < self.options.max_sweeps.unwrap_or(SWEEPS) {
            sweeps += 1;
            let mut moved = 0;
            for block in &self.blocks {
                let ends_late = self.directed || attenuates;
                let frozen = |v: usize| ends_late && sweeps >= 20 && changes[v] >= 8;
                let wanted = |v: usize| self.directed || active[v];
                let may =
                    |v: usize| !frozen(v) && visits[v] < self.most_visits() && !self.is_fixed(v);
                let snapshot: Vec<usize> = block.clone().filter(|&v| wanted(v) && may(v)).collect();
                block.clone().for_each(|v| active[v] = false);
                for group in 0..4 {
                    let sub = |v: usize| {
                        Hash::new(self.options.seed ^ SUB).of(v as u64, u64::from(sweeps)) % 4
                    };
                    let mut proposals = Vec::new();
                    for &v in snapshot.iter().filter(|&&v| sub(v) == group) {
                        active[v] = false;
                        visits[v] += 1;
                        visited += self.arcs[v].len() as u64;
                        let (label, draws) = self.best_label(v, &state, sweeps);
                        active[v] = draws;
                        proposals.extend(label.map(|label| (v, label)));
                    }
                    let mut movers = Vec::new();
                    for (v, label) in proposals {
                        let sums = self.sums(v, &state);
                        let own = sums.get(&state.labels[v]).copied().unwrap_or(0.0);
                        let other = sums.get(&label).copied().unwrap_or(0.0);
                        let has_room = self.has_room(&state.labels, label);
                        let improves = match self.draws(sweeps) {
                            true => other > 0.0 && own * NEARLY * NEARLY <= other,
                            false => own < other * NEARLY,
                        };
                        if improves && self.is_enough(other) && has_room {
                            state.hops[v] = self.nearest(v, label, &state).saturating_add(1);
                            state.labels[v] = label;
                            changes[v] += 1;
                            movers.push(v);
                        } else {
                            active[v] = true;
                        }
                    }
                    moved += movers.len();
                    for v in movers {
                        for &(u, _) in &self.arcs[v] {
                            active[u as usize] |= state.labels[u as usize] != state.labels[v];
                        }
                    }
                }
            }
            state.changing = moved as f64 / n as f64;
            if moved as f64 <= self.options.tolerance * n as f64 {
                break;
            }
        }
        OracleRun { labels: state.labels, sweeps, visited }
    }

    fn most_visits(&self) -> u32 {
        let most = self.arcs.iter().map(Vec::len).max().unwrap_or(0);
        self.options.propagation.max_visits.most(most as u64).unwrap_or(u32::MAX)
    }

    fn is_fixed(&self, v: usize) -> bool {
        self.given.fixed.get(v).is_some_and(|&label| label != u32::MAX)
    }

    /// Returns the given label of a node: the first node of its community.
    fn given(&self, v: usize) -> Option<u32> {
        let at = |labels: &[u32], v: usize| labels.get(v).copied().filter(|&l| l != u32::MAX);
        let first = |labels: &[u32], label: u32| {
            labels.iter().position(|&other| other == label).map(|node| node as u32)
        };
        let GivenLabels { initial, fixed } = &self.given;
        if let Some(label) = at(fixed, v) {
            return first(fixed, label);
        }
        let label = at(initial, v)?;
        let members = (0..initial.len()).filter(|&u| initial[u] == label);
        let held = members.into_iter().find_map(|u| at(fixed, u));
        held.map_or_else(|| first(initial, label), |label| first(fixed, label))
    }

    fn first_state(&self) -> OracleState {
        let n = self.arcs.len();
        if !self.start.is_empty() {
            return OracleState { labels: self.start.clone(), hops: vec![0; n], changing: 0.0 };
        }
        let given = self.all_given();
        let leaders: Vec<u32> = (0..n as u32).map(|v| self.leader(v, &given)).collect();
        let label_of = |u: u32| given[u as usize].unwrap_or(u);
        // A leader has a place; a follower gets one as long as there is room.
        let leads = |v: usize| leaders[v] as usize == v;
        let mut labels: Vec<u32> =
            (0..n).map(|v| if leads(v) { label_of(v as u32) } else { u32::MAX }).collect();
        let mut hops = vec![0; n];
        for v in (0..n).filter(|&v| !leads(v)) {
            let label = label_of(leaders[v]);
            let follows = self.has_room(&labels, label);
            labels[v] = if follows { label } else { v as u32 };
            hops[v] = u8::from(follows);
        }
        OracleState { labels, hops, changing: 0.0 }
    }

    /// Returns the given labels of nodes within the size limit; fixed nodes come first.
    fn all_given(&self) -> Vec<Option<u32>> {
        let n = self.arcs.len();
        let mut labels = vec![u32::MAX; n];
        for v in (0..n).filter(|&v| self.is_fixed(v)) {
            labels[v] = self.given(v).unwrap();
        }
        for v in (0..n).filter(|&v| !self.is_fixed(v)) {
            if let Some(label) = self.given(v) {
                labels[v] = if self.has_room(&labels, label) { label } else { v as u32 };
            }
        }
        labels.into_iter().map(|label| Some(label).filter(|&label| label != u32::MAX)).collect()
    }

    /// Returns whether one more node may have a label.
    fn has_room(&self, labels: &[u32], label: u32) -> bool {
        let size = || labels.iter().filter(|&&other| other == label).count();
        self.options.max_size.is_none_or(|most| size() < most as usize)
    }

    fn leader(&self, v: u32, given: &[Option<u32>]) -> u32 {
        let seed = self.options.seed;
        let leads = |u: u32| {
            let by_hash = Hash::new(seed ^ LEAD).of(u64::from(u), 0).is_multiple_of(4);
            by_hash || given[u as usize].is_some()
        };
        let near: Vec<(u32, f64)> =
            self.arcs[v as usize].iter().copied().filter(|&(u, _)| leads(u)).collect();
        let most = near.iter().map(|&(_, w)| w).fold(0.0, f64::max);
        let key = |u: u32| (Hash::new(seed ^ LEAD ^ u64::from(v)).of(u64::from(u), 1), !u);
        let ties = near.iter().filter(|&&(_, w)| w >= most * NEARLY).map(|&(u, _)| u);
        let stays = leads(v) || !self.is_enough(most) || self.options.seeding == Seeding::Own;
        if stays { v } else { ties.max_by_key(|&u| key(u)).unwrap_or(v) }
    }

    fn is_enough(&self, sum: f64) -> bool {
        sum >= self.options.propagation.label_cutoff * NEARLY
    }

    /// Returns the vote of a neighbor, rounded as weights are.
    fn vote(&self, u: u32, weight: f64, state: &OracleState) -> f64 {
        let options = &self.options.propagation;
        let (value, hops) = (options.attenuation[0], f64::from(state.hops[u as usize]));
        let lost = match options.attenuation_rule {
            _ if value == 0.0 => 0.0,
            AttenuationRule::Hops => value * hops,
            AttenuationRule::Change => libm::pow(state.changing * hops, value),
        };
        if lost < 1.0 { Weight::new(weight * (1.0 - lost)).value() } else { 0.0 }
    }

    fn sums(&self, v: usize, state: &OracleState) -> BTreeMap<u32, f64> {
        let mut sums = BTreeMap::new();
        for &(u, w) in &self.arcs[v] {
            *sums.entry(state.labels[u as usize]).or_insert(0.0) += self.vote(u, w, state);
        }
        sums
    }

    /// Returns the hops between the origin of a label and the nearest neighbor that has it.
    fn nearest(&self, v: usize, label: u32, state: &OracleState) -> u8 {
        let with_label = self.arcs[v]
            .iter()
            .filter(|&&(u, w)| state.labels[u as usize] == label && self.vote(u, w, state) > 0.0);
        with_label.map(|&(u, _)| state.hops[u as usize]).min().unwrap_or(u8::MAX)
    }

    /// Returns the label that a node moves to, and whether it draws among equal ones.
    fn best_label(&self, v: usize, state: &OracleState, sweep: u32) -> (Option<u32>, bool) {
        let mut sums = self.sums(v, state);
        let own = sums.get(&state.labels[v]).copied().unwrap_or(0.0);
        sums.retain(|&label, sum| self.is_enough(*sum) && self.has_room(&state.labels, label));
        let present = state.labels[v];
        let others = sums.iter().filter(|&(&label, _)| label != present);
        let most = others.clone().map(|(_, &sum)| sum).fold(0.0, f64::max);
        let stays = match self.draws(sweep) {
            true => own * NEARLY * NEARLY > most * NEARLY,
            false => own >= most * NEARLY * NEARLY,
        };
        if most == 0.0 || stays {
            return (None, false);
        }
        let hash = Hash::new(self.options.seed ^ TIE ^ v as u64);
        let mut ties: Vec<u32> =
            others.filter(|&(_, &w)| w >= most * NEARLY).map(|(&label, _)| label).collect();
        if self.draws(sweep) && own >= most * NEARLY {
            ties.push(present);
        }
        let key = |label: u32| (hash.of(u64::from(label), u64::from(sweep)), !label);
        let drawn = ties.iter().copied().max_by_key(|&label| key(label));
        (drawn.filter(|&label| label != present), self.draws(sweep) && ties.len() > 1)
    }

    /// Returns whether nodes draw among equal labels.
    fn draws(&self, sweep: u32) -> bool {
        let is_plain = !self.directed && !self.options.propagation.attenuates();
        is_plain && self.given.initial.is_empty() && sweep <= DRAWN_SWEEPS
    }

    /// Numbers connected pieces, largest first, then by smallest node; fixed nodes with the same label are connected.
    pub(crate) fn finish(&self, labels: &[u32]) -> Vec<u32> {
        let n = labels.len();
        let mut near = vec![Vec::new(); n];
        for (v, arcs) in self.arcs.iter().enumerate() {
            for &(u, _) in arcs.iter().filter(|&&(u, _)| labels[u as usize] == labels[v]) {
                near[v].push(u as usize);
                near[u as usize].push(v);
            }
            if self.is_fixed(v) {
                let same = |u: &usize| self.is_fixed(*u) && labels[*u] == labels[v];
                near[v].extend((0..n).filter(same));
            }
        }
        let mut piece = vec![usize::MAX; n];
        let mut pieces: Vec<Vec<usize>> = Vec::new();
        for v in 0..n {
            let mut open = if piece[v] == usize::MAX { vec![v] } else { continue };
            pieces.push(Vec::new());
            while let Some(u) = open.pop() {
                if piece[u] == usize::MAX {
                    piece[u] = pieces.len() - 1;
                    pieces[piece[u]].push(u);
                    open.extend(&near[u]);
                }
            }
        }
        pieces.sort_by_key(|nodes| (usize::MAX - nodes.len(), nodes.iter().min().copied()));
        let mut numbers = vec![0; n];
        for (number, nodes) in pieces.iter().enumerate() {
            nodes.iter().for_each(|&v| numbers[v] = number as u32);
        }
        numbers
    }
}
