//! Two-level search: local moving, refinement and contraction, repeated until the code gets no shorter (Traag, Waltman and
//! van Eck, "From Louvain to Leiden", 2019, with the map equation as the objective).

use super::flow::{Flow, Walk};
use super::network::Network;
use crate::base::hash::{Hash, mix};
use crate::base::logarithm::{LOG2_E, log2, plogp};
use std::collections::VecDeque;

/// Least improvement by a move, relative to the rate of the node, and absolute: rounding is below that.
const LEAST_GAIN: f64 = 1e-9;
const LEAST_BITS: f64 = 1e-15;
/// Maximum number of rounds from the nodes up, and of visits per node in a round.
const ROUNDS: u32 = 20;
const VISITS: usize = 64;
/// A quick search ends if its first division is longer than none by more than this share of the rate.
const HOPELESS: f64 = 0.002;
/// Maximum number of modules that a quick search rates for a node.
const QUICK_MODULES: usize = 4;
/// About the number of visits of a node in a quick search, which refines nothing.
const QUICK_VISITS: usize = 3;
const NONE: u32 = u32::MAX;

/// Modules of the nodes of a network, numbered densely.
#[derive(Debug, Clone, Default)]
pub(super) struct Partition {
    pub(super) of: Vec<u32>,
    pub(super) count: usize,
    /// Code length inside the scope: plogp(outer + entries) + sum of the modules, without the terms of the nodes.
    pub(super) length: f64,
}

/// Scope of a search: the walk, and the rate of leaving the module that is divided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) walk: &'a Walk,
    pub(super) outer: f64,
}

impl Scope<'_> {
    /// Returns the code length of a network that is not divided, comparable to that of a partition.
    pub(super) fn undivided(&self, net: &Network) -> f64 {
        plogp(self.outer + net.rate())
    }
}

/// Sums of a module, with what follows from them; logarithms take most of the time.
#[derive(Debug, Clone, Copy, Default)]
struct Module {
    flow: Flow,
    enter: f64,
    /// plogp(exit + rate) - plogp(exit) - plogp(enter).
    length: f64,
}

impl Module {
    #[inline]
    fn new(walk: &Walk, flow: Flow) -> Self {
        let (enter, exit) = walk.boundary(&flow);
        let of_exit = plogp(exit);
        let of_enter = if enter == exit { of_exit } else { plogp(enter) };
        Self { flow, enter, length: plogp(exit + flow.rate) - of_exit - of_enter }
    }

    /// Returns the module with a node more, to which links of this weight lead.
    #[inline]
    fn with(&self, walk: &Walk, node: &Flow, links: f64) -> Self {
        let mut flow = self.flow;
        flow += *node;
        flow.cut -= 2.0 * links;
        Self::new(walk, flow)
    }

    /// Returns the module with a node less, to which links of this weight lead.
    #[inline]
    fn without(&self, walk: &Walk, node: &Flow, links: f64) -> Self {
        let mut flow = self.flow;
        flow -= *node;
        flow.cut += 2.0 * links;
        Self::new(walk, flow)
    }
}

/// Modules of one network during a search.
struct Moving<'a> {
    net: &'a Network,
    scope: Scope<'a>,
    of: Vec<u32>,
    sizes: Vec<u32>,
    modules: Vec<Module>,
    /// Numbers of modules without nodes.
    free: Vec<u32>,
    /// Sum of the entries of all modules.
    entries: f64,
    /// Weight of the links from the current node to each module, and the modules met.
    sums: Vec<f64>,
    met: Vec<u32>,
    /// Whether a node rates only the modules that it has the heaviest links to: logarithms take most of the time.
    is_quick: bool,
}

impl<'a> Moving<'a> {
    fn new(net: &'a Network, scope: Scope<'a>, of: Vec<u32>, count: usize) -> Self {
        let room = net.count();
        let mut flows = vec![Flow::default(); count];
        let mut sizes = vec![0; room];
        for (node, &module) in (0..).zip(&of) {
            let flow = &mut flows[module as usize];
            *flow += net.flows[node as usize];
            sizes[module as usize] += 1;
            if count < room {
                let is_inside = |&(target, _): &(u32, f64)| of[target as usize] == module;
                flow.cut -=
                    net.links(node).filter(is_inside).map(|(_, weight)| weight).sum::<f64>();
            }
        }
        let mut modules: Vec<Module> =
            flows.into_iter().map(|flow| Module::new(scope.walk, flow)).collect();
        modules.resize(room, Module::default());
        let entries = modules.iter().map(|module| module.enter).sum();
        let free = (count as u32..room as u32).rev().collect();
        let (sums, met) = (vec![0.0; room], Vec::new());
        Self { net, scope, of, sizes, modules, free, entries, sums, met, is_quick: false }
    }

    /// Returns the growth of the index codebook if the entries grow by `step`; `log` is the logarithm of its present sum.
    #[inline]
    fn index_growth(&self, log: f64, step: f64) -> f64 {
        let total = self.scope.outer + self.entries;
        let x = step / total;
        if x.abs() < 1e-4 {
            step * (log + LOG2_E * (1.0 + x * (0.5 - x * (1.0 / 6.0 - x / 12.0))))
        } else {
            plogp(total + step) - total * log
        }
    }

    fn index_log(&self) -> f64 {
        let total = self.scope.outer + self.entries;
        if total >= f64::MIN_POSITIVE { log2(total) } else { 0.0 }
    }

    /// Sums the links of a node by module.
    #[inline]
    fn gather(&mut self, node: u32) {
        // Whether a module is met for the first time is hard to predict, so there is no branch on it.
        self.met.resize(self.net.neighbors(node).len(), 0);
        let mut count = 0;
        for (target, weight) in self.net.links(node) {
            let module = self.of[target as usize];
            let sum = &mut self.sums[module as usize];
            self.met[count] = module;
            count += usize::from(*sum == 0.0);
            *sum += weight;
        }
        self.met.truncate(count);
    }

    /// Keeps only some of the modules with the heaviest links, if the search is quick.
    fn select(&mut self, present: u32) {
        if !self.is_quick || self.met.len() <= QUICK_MODULES {
            return;
        }
        let weight =
            |module: &u32| if *module == present { 0.0 } else { self.sums[*module as usize] };
        let most = self.met.iter().map(weight).fold(0.0, f64::max);
        let mut kept = 0;
        for at in 0..self.met.len() {
            let module = self.met[at];
            let is_kept =
                module != present && self.sums[module as usize] >= most && kept < QUICK_MODULES;
            if is_kept {
                self.met[kept] = module;
                kept += 1;
            } else {
                self.sums[module as usize] = 0.0;
            }
        }
        self.met.truncate(kept);
    }

    fn forget(&mut self) {
        for module in self.met.drain(..) {
            self.sums[module as usize] = 0.0;
        }
    }

    /// Moves nodes until none finds a better module, beginning in a pseudorandom order.
    fn move_all(&mut self, seed: u64) {
        let count = self.net.count();
        let mut waiting: VecDeque<u32> = shuffled(count, seed).into();
        let mut is_waiting = vec![true; count];
        let mut left = count * if self.is_quick { QUICK_VISITS } else { VISITS };
        while let Some(node) = waiting.pop_front() {
            is_waiting[node as usize] = false;
            left -= 1;
            if left == 0 {
                break;
            }
            let Some(module) = self.best_move(node) else { continue };
            for &target in self.net.neighbors(node) {
                if self.of[target as usize] != module && !is_waiting[target as usize] {
                    is_waiting[target as usize] = true;
                    waiting.push_back(target);
                }
            }
        }
    }

    /// Moves a node to the module that shortens the code most, if there is one, and returns that.
    fn best_move(&mut self, node: u32) -> Option<u32> {
        let flow = self.net.flows[node as usize];
        let present = self.of[node as usize];
        self.gather(node);
        let walk = self.scope.walk;
        let home = self.modules[present as usize];
        let is_alone = self.sizes[present as usize] == 1;
        let left = match is_alone {
            true => Module::default(),
            false => home.without(walk, &flow, self.sums[present as usize]),
        };
        self.select(present);
        let log = self.index_log();
        let leaving = left.length - home.length;
        let step = left.enter - home.enter;
        let mut best: Option<(f64, u32, Module)> = None;
        let mut least = -(LEAST_GAIN * flow.rate + LEAST_BITS);
        let mut rate = |this: &Self, module: u32, now: Module| {
            let before = this.modules[module as usize];
            let change = leaving + now.length - before.length
                + this.index_growth(log, step + now.enter - before.enter);
            if change < least {
                least = change;
                best = Some((change, module, now));
            }
        };
        if !is_alone && let Some(&empty) = self.free.last() {
            rate(self, empty, Module::new(walk, flow));
        }
        for &module in self.met.iter().filter(|module| **module != present) {
            let now = self.modules[module as usize].with(walk, &flow, self.sums[module as usize]);
            rate(self, module, now);
        }
        self.forget();
        let (_, module, now) = best?;
        self.take(node, present, left, module, now);
        Some(module)
    }

    fn take(&mut self, node: u32, present: u32, left: Module, module: u32, now: Module) {
        self.entries += left.enter - self.modules[present as usize].enter;
        self.entries += now.enter - self.modules[module as usize].enter;
        self.modules[present as usize] = left;
        self.modules[module as usize] = now;
        if self.sizes[module as usize] == 0 {
            self.free.pop();
        }
        self.sizes[module as usize] += 1;
        self.sizes[present as usize] -= 1;
        if self.sizes[present as usize] == 0 {
            self.free.push(present);
        }
        self.of[node as usize] = module;
    }

    /// Divides each module afresh: single nodes join groups of nodes of their module.
    fn refined(&self, seed: u64) -> Self {
        let count = self.net.count();
        let mut fine = Self::new(self.net, self.scope, (0..count as u32).collect(), count);
        for node in shuffled(count, seed) {
            let own = fine.of[node as usize];
            if fine.sizes[own as usize] > 1 {
                continue;
            }
            let module = self.of[node as usize];
            for (target, weight) in self.net.links(node) {
                if self.of[target as usize] == module {
                    let group = fine.of[target as usize];
                    let sum = &mut fine.sums[group as usize];
                    if *sum == 0.0 {
                        fine.met.push(group);
                    }
                    *sum += weight;
                }
            }
            fine.join_best(node, own);
        }
        fine
    }

    /// Moves a node that is alone to the best of the groups met.
    fn join_best(&mut self, node: u32, own: u32) {
        let (walk, flow) = (self.scope.walk, self.net.flows[node as usize]);
        let home = self.modules[own as usize];
        let log = self.index_log();
        let mut least = -(LEAST_GAIN * flow.rate + LEAST_BITS);
        let mut best = None;
        for &group in &self.met {
            let before = self.modules[group as usize];
            let now = before.with(walk, &flow, self.sums[group as usize]);
            let change = now.length - before.length - home.length
                + self.index_growth(log, now.enter - before.enter - home.enter);
            if change < least {
                least = change;
                best = Some((group, now));
            }
        }
        self.forget();
        if let Some((group, now)) = best {
            self.take(node, own, Module::default(), group, now);
        }
    }

    /// Numbers the modules densely, by their first nodes.
    fn dense(&mut self) -> usize {
        dense(&mut self.of)
    }

    /// Returns the code length, with sums that are computed afresh.
    fn length(&self) -> f64 {
        let modules = self.modules.iter().zip(&self.sizes).filter(|(_, size)| **size > 0);
        let (mut entries, mut length) = (0.0, 0.0);
        for (module, _) in modules {
            entries += module.enter;
            length += module.length;
        }
        plogp(self.scope.outer + entries) + length
    }
}

/// Numbers groups densely, by their first members; returns their number.
pub(super) fn dense(of: &mut [u32]) -> usize {
    let bound = of.iter().max().map_or(0, |&most| most as usize + 1);
    let (mut numbers, mut count) = (vec![NONE; bound], 0);
    for group in of {
        let number = &mut numbers[*group as usize];
        if *number == NONE {
            *number = count;
            count += 1;
        }
        *group = *number;
    }
    count as usize
}

/// Returns the numbers below `count` in a pseudorandom order.
fn shuffled(count: usize, seed: u64) -> Vec<u32> {
    let hash = Hash::new(seed);
    let mut order: Vec<u32> = (0..count as u32).collect();
    for at in (1..count).rev() {
        let other = (u128::from(hash.of(at as u64, 0)) * (at as u128 + 1)) >> 64;
        order.swap(at, other as usize);
    }
    order
}

/// Finds modules of a network, from given ones or from single nodes. A quick search gives up early if there seem to be
/// none that shorten the code.
pub(super) fn optimize(
    net: &Network,
    scope: Scope<'_>,
    start: Option<&[u32]>,
    seed: u64,
    is_quick: bool,
) -> Partition {
    let mut best = match start {
        Some(of) => {
            let mut of = of.to_vec();
            let count = dense(&mut of);
            let length = Moving::new(net, scope, of.clone(), count).length();
            Partition { of, count, length }
        }
        None => Partition { length: f64::INFINITY, ..Partition::default() },
    };
    for round in 0..ROUNDS {
        let is_first = is_quick && round == 0 && start.is_none();
        let next = climb(net, scope, &best, mix(seed ^ u64::from(round)), is_first);
        let hopeless = scope.undivided(net) + HOPELESS * net.rate();
        if is_first && (next.count <= 1 || next.length > hopeless) {
            return next;
        }
        let is_shorter = next.length < best.length - LEAST_GAIN * net.rate();
        if next.length < best.length {
            best = next;
        }
        if !is_shorter || best.count <= 1 {
            break;
        }
    }
    best
}

/// Makes one round: moves nodes, contracts groups inside the modules, and so on up.
fn climb(
    net: &Network,
    scope: Scope<'_>,
    start: &Partition,
    seed: u64,
    is_quick: bool,
) -> Partition {
    let (mut of, mut count) = match start.of.is_empty() {
        true => ((0..net.count() as u32).collect(), net.count()),
        false => (start.of.clone(), start.count),
    };
    let mut steps: Vec<Vec<u32>> = Vec::new();
    let mut above: Option<Network> = None;
    let length = loop {
        let level = above.as_ref().unwrap_or(net);
        let seed = mix(seed ^ (steps.len() as u64 + 1) << 32);
        let mut moving = Moving::new(level, scope, of, count);
        moving.is_quick = is_quick;
        moving.move_all(seed);
        let length = moving.length();
        count = moving.dense();
        if count == level.count() || count == 1 {
            of = moving.of;
            break length;
        }
        // The modules are numbered, but the refinement needs only whether they are equal.
        let fine = (!is_quick).then(|| moving.refined(mix(seed)));
        let fine = fine.map(|mut fine| (fine.dense(), fine.of));
        let (groups, step, of_group) = match fine.filter(|&(groups, _)| groups < level.count()) {
            Some((groups, of)) => {
                let mut of_group = vec![0; groups];
                for (&group, &module) in of.iter().zip(&moving.of) {
                    of_group[group as usize] = module;
                }
                (groups, of, of_group)
            }
            None => (count, moving.of, (0..count as u32).collect()),
        };
        let next = level.contracted(&step, groups);
        steps.push(step);
        above = Some(next);
        of = of_group;
    };
    for step in steps.iter().rev() {
        of = step.iter().map(|&group| of[group as usize]).collect();
    }
    let count = dense(&mut of);
    Partition { of, count, length }
}
