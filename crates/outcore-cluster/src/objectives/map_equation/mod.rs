//! Map equation: the number of bits that describe one step of a random walk with a two-level code of communities and
//! nodes (Rosvall and Bergstrom, "Maps of random walks on complex networks reveal community structure", 2008).
//!
//! Let p be the share of the total strength in a community, q the share that leaves it, and Q the sum of
//! all q. The code length is plogp(Q) - 2 sum plogp(q) + sum plogp(q + p) - sum over nodes plogp(p). The
//! rate of a label is the amount by which it shortens the code. Memory: 24 bytes per community.
//!
//! Of these, 8 bytes store the community's term of the code length: this saves three of five logarithms per label, a
//! third of the time of a sweep.

pub mod directed;

use crate::base::logarithm::{LOG2_E, log2, plogp};
use crate::base::parallel::for_chunks;
use crate::kernel::holdings::{Holding, NoFlow};
use crate::kernel::objective::{Objective, Revert, Sums, Visit};
use outcore_graph::weight::RELATIVE_TOLERANCE;
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::{prefetch, reserve_large_pages};
use std::cmp::max;

/// Relative change of the code by the rounding of a weight: each of about six terms changes in proportion to
/// its logarithm, which is at most some tens of bits.
const TOLERANCE: f64 = 64.0 * RELATIVE_TOLERANCE;

/// Communities whose lengths one thread computes at a time.
const CHUNK_MODULES: usize = 1 << 14;

/// Parameters of the map equation: none.
#[derive(Clone, Copy)]
pub struct NoRule;

/// Contribution of a community to the code length.
#[derive(Debug, Clone, Copy, Default)]
struct Module {
    /// Strength of its nodes.
    mass: f64,
    /// Weight of the arcs that leave it.
    cut: f64,
    /// Code length that follows from both; stored because logarithms take most of the time.
    length: f64,
}

/// Strengths and cuts of all communities.
pub struct CodeLength {
    modules: Vec<Module>,
    /// Sum of all cuts.
    cut: f64,
    total_strength: f64,
    /// 1 / total strength.
    unit: f64,
    /// Logarithm of Q, which every rate needs.
    log_exits: f64,
    /// Labels for nodes that will be alone, if that is an option.
    free: Option<Vec<u32>>,
}

/// Quantities that are the same for all labels that a node could take.
#[derive(Debug, Clone, Copy)]
pub struct Leaving {
    /// Reduction of the code length without the node, apart from the change of Q.
    gain: f64,
    /// Current Q, its logarithm, and plogp(Q).
    exits: f64,
    log_exits: f64,
    index: f64,
}

impl Leaving {
    /// Returns the growth of the code for community names when Q grows by `step`: plogp(Q + step) - plogp(Q).
    /// A single node changes Q so little that the first terms of the series are exact.
    #[inline]
    fn index_growth(&self, step: f64) -> f64 {
        let x = step / self.exits;
        if x.abs() < 1e-4 {
            step * (self.log_exits + LOG2_E * (1.0 + x * (1.0 / 2.0 - x * (1.0 / 6.0 - x / 12.0))))
        } else {
            plogp(self.exits + step) - self.index
        }
    }
}

impl CodeLength {
    #[inline]
    fn length(&self, mass: f64, cut: f64) -> f64 {
        length(self.unit, mass, cut)
    }

    /// Computes the lengths of all communities, and the logarithm of Q.
    fn update_lengths(&mut self) {
        let unit = self.unit;
        let update = |_: usize, modules: &mut [Module]| {
            let each = modules.iter_mut();
            each.for_each(|module| module.length = length(unit, module.mass, module.cut));
            Ok(())
        };
        for_chunks(&mut self.modules, CHUNK_MODULES, update).expect("computing does not fail");
        self.update_exits();
    }

    fn update_exits(&mut self) {
        let exits = self.cut * self.unit;
        self.log_exits = if exits >= f64::MIN_POSITIVE { log2(exits) } else { 0.0 };
    }

    /// Rates a community, to which arcs of total weight `weight` lead.
    #[inline]
    fn rate_of(&self, visit: &Visit, leaving: &Leaving, module: Module, weight: f64) -> f64 {
        let Module { mass, cut, length } = module;
        let after = self.length(mass + visit.mass, cut + visit.arcs - 2.0 * weight);
        let growth = leaving.index_growth(2.0 * (visit.own - weight) * self.unit);
        leaving.gain + (length - after) - growth
    }

    fn change(&mut self, label: u32, mass: f64, cut: f64) {
        let module = self.modules[label as usize];
        let (mass, cut) = (module.mass + mass, module.cut + cut);
        self.modules[label as usize] = Module { mass, cut, length: self.length(mass, cut) };
    }
}

/// Returns the part of the code length due to a community: plogp(q + p) - 2 plogp(q).
#[inline]
fn length(unit: f64, mass: f64, cut: f64) -> f64 {
    let (p, q) = (mass * unit, cut * unit);
    plogp(q + p) - 2.0 * plogp(q)
}

/// Empties the modules of labels without nodes, where rounding may have left something.
fn vacate<M: Clone + Default>(modules: &mut Vec<M>, unused: &[u32]) {
    let bound = unused.iter().map(|&label| label as usize + 1).fold(modules.len(), max);
    modules.resize(bound, M::default());
    unused.iter().for_each(|&label| modules[label as usize] = M::default());
}

impl Objective for CodeLength {
    const WEIGHS_NODES: bool = true;
    type Leaving = Leaving;
    type Flow = NoFlow;

    #[inline]
    fn mass(&self, _held: Holding, strength: f64) -> f64 {
        strength
    }

    #[inline]
    fn leaving(&self, visit: &Visit) -> Leaving {
        let Module { mass, cut, length } = self.modules[visit.present as usize];
        let after = self.length(mass - visit.mass, cut - visit.arcs + 2.0 * visit.own);
        let (exits, log_exits) = (self.cut * self.unit, self.log_exits);
        Leaving { gain: length - after, exits, log_exits, index: exits * log_exits }
    }

    #[inline]
    fn prefetch(&self, label: u32) {
        prefetch(&self.modules, label as usize);
    }

    #[inline]
    fn rate(&self, visit: &Visit, leaving: &Leaving, label: u32, weight: f64) -> f64 {
        let module = self.modules.get(label as usize).copied().unwrap_or_default();
        self.rate_of(visit, leaving, module, weight)
    }

    /// An option at the end, as few nodes are better off alone.
    #[inline]
    fn alone(&self, visit: &Visit, leaving: &Leaving) -> f64 {
        match self.free {
            Some(_) => self.rate_of(visit, leaving, Module::default(), 0.0),
            None => f64::NEG_INFINITY,
        }
    }

    fn free_label(&mut self) -> Option<u32> {
        self.free.as_mut()?.pop()
    }

    #[inline]
    fn ceiling(&self, visit: &Visit, leaving: &Leaving) -> f64 {
        leaving.gain - plogp((visit.mass + visit.arcs) * self.unit)
    }

    /// Rates a community that has nothing but the arcs of this weight. A node of strength s with arcs of weight a, w of
    /// them to a community with p and q, lengthens the part of the code due to it by
    /// plogp(q + p + s + a - 2w) - plogp(q + p) - 2 plogp(q + a - 2w) + 2 plogp(q). That grows with p, which is at least
    /// q, and then with q, which is at least w: at p = q = w it is plogp(s + a) - 2 plogp(a - w) - 2w. As plogp is convex,
    /// the code for community names grows at least in proportion to the change of Q.
    #[inline]
    fn best_rate(&self, visit: &Visit, leaving: &Leaving, ceiling: f64, weight: f64) -> f64 {
        let [a, w] = [visit.arcs, weight].map(|weight| weight * self.unit);
        let growth = 2.0 * (visit.own - weight) * self.unit * (leaving.log_exits + LOG2_E);
        ceiling + 2.0 * (plogp(a - w) + w) - growth
    }

    #[inline]
    fn least_equal(&self, visit: &Visit, rate: f64) -> f64 {
        rate - visit.mass * self.unit * TOLERANCE
    }

    #[inline]
    fn improves(&self, visit: &Visit, rate: f64) -> bool {
        rate > visit.mass * self.unit * TOLERANCE
    }

    #[inline]
    fn moved(&mut self, visit: &Visit, label: u32, weight: f64) {
        self.change(visit.present, -visit.mass, 2.0 * visit.own - visit.arcs);
        self.change(label, visit.mass, visit.arcs - 2.0 * weight);
        self.cut += 2.0 * (visit.own - weight);
        self.update_exits();
    }
}

impl Sums for CodeLength {
    type Rule = NoRule;
    const COMMUNITY_BYTES: u64 = 24;
    const COUNTS_CUTS: bool = true;

    fn empty(_: NoRule, capacity: usize) -> Self {
        let modules = reserve_large_pages(capacity);
        Self { modules, cut: 0.0, total_strength: 0.0, unit: 0.0, log_exits: 0.0, free: None }
    }

    fn add(&mut self, label: u32, _held: Holding, strength: f64, cut: f64) {
        let label = label as usize;
        if label >= self.modules.len() {
            self.modules.resize(label + 1, Module::default());
        }
        self.modules[label].mass += strength;
        self.modules[label].cut += cut;
        self.total_strength += strength;
        self.cut += cut;
    }

    fn complete(&mut self) {
        self.modules.shrink_to_fit();
        self.unit = if self.total_strength > 0.0 { 1.0 / self.total_strength } else { 0.0 };
        self.update_lengths();
    }

    fn offer(&mut self, unused: Vec<u32>) {
        vacate(&mut self.modules, &unused);
        self.free = Some(unused);
    }

    fn strength(&self) -> f64 {
        self.total_strength
    }

    fn label_bound(&self) -> usize {
        self.modules.len()
    }

    fn mass_of(&self, label: u32) -> f64 {
        self.modules[label as usize].mass
    }

    fn exits(&self) -> f64 {
        self.cut * self.unit
    }

    fn quality(&self, _inside: f64) -> f64 {
        let lengths: f64 = self.modules.iter().map(|module| module.length).sum();
        -(plogp(self.cut * self.unit) + lengths)
    }

    /// About the code length: without communities, it is nearly the logarithm of the number of nodes.
    fn scale(quality: f64, nodes: u64) -> f64 {
        (log2(nodes.max(2) as f64) - quality).max(0.0)
    }

    fn save(&self, to: &mut StateWriter) -> Result<()> {
        to.array([self.cut, self.total_strength, self.unit].into_iter())?;
        to.array(self.modules.iter().map(|module| module.mass))?;
        to.array(self.modules.iter().map(|module| module.cut))
    }

    fn load(_: NoRule, from: &mut StateReader) -> Result<Self> {
        let [cut, total_strength, unit] = from.few::<f64, 3>()?;
        let masses = from.numbers::<f64>()?;
        let modules = masses.iter().map(|&mass| Module { mass, ..Module::default() }).collect();
        drop(masses);
        let mut loaded = Self { modules, cut, total_strength, unit, log_exits: 0.0, free: None };
        from.fill(&mut loaded.modules, |module, cut: f64| module.cut = cut)?;
        loaded.update_lengths();
        Ok(loaded)
    }
}

impl Revert for CodeLength {
    fn revert(&mut self, before: &Self, label: u32) {
        self.modules[label as usize] = before.modules[label as usize];
        self.cut = before.cut;
        self.log_exits = before.log_exits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::holdings::NO_HOLDINGS;
    use proptest::prelude::*;

    proptest! {
        /// No community is better than the bound of its weight, and of any larger one.
        #[test]
        fn rates_are_bounded(
            (p, q, w, rest, own, loops) in (0.0..100f64, 0.0..100f64, 0.01..50f64, 0.0..50f64, 0.0..1f64, 0.0..20f64),
            (home, home_cut, elsewhere) in (0.0..200f64, 0.0..200f64, 0.0..10_000f64),
        ) {
            let arcs = w + rest;
            let own = own * rest;
            let mass = arcs + 2.0 * loops;
            let one = NO_HOLDINGS.of::<NoFlow>(0);
            let mut sums = CodeLength::empty(NoRule, 3);
            // The node's own community holds it, and has its arcs to others in its cut.
            sums.add(0, one, mass + own + home + home_cut, arcs - own + home_cut);
            sums.add(1, one, w + q + p, w + q);
            sums.add(2, one, elsewhere + rest - own, elsewhere + rest - own);
            sums.complete();
            let visit = Visit { present: 0, count: 1, own, arcs, mass, flow: NoFlow };
            let leaving = sums.leaving(&visit);
            let rate = sums.rate(&visit, &leaving, 1, w);
            let ceiling = sums.ceiling(&visit, &leaving);
            for more in [0.0, 0.5, 1.0] {
                let most = sums.best_rate(&visit, &leaving, ceiling, w + more * (rest - own));
                prop_assert!(rate <= most + 1e-12, "{rate} above {most}");
            }
        }
    }
}
