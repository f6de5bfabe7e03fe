//! Map equation of directed networks, swept as undirected graphs of flow (`flow`).
//!
//! The flow that enters a community and the flow that leaves it differ by its drift D: with C the weight of its edges to
//! others, they are (C - D) / 2 and (C + D) / 2, and the visits of its nodes are (S - D) / 2, the flow of all arcs that end
//! in them. If teleportation is recorded, with T the flow that teleports from a community, D + T lands in it, since as
//! much flow leaves a node as arrives; its visits are (S + D) / 2 + T, and what teleports within it neither enters nor
//! leaves. Memory: 32 bytes per community, 40 with recorded teleportation.
//!
//! Sums are kept in the unit of the graph, doubled, so that communities without drift have those of the undirected
//! objective. Rates are not bounded, because how a node's arcs to a community divide into directions is unknown.

use super::{CHUNK_MODULES, Leaving, NoRule, TOLERANCE, vacate};
use crate::base::logarithm::{log2, plogp};
use crate::base::parallel::for_chunks;
use crate::kernel::holdings::{Carries, Holding, NodeFlow};
use crate::kernel::objective::{Objective, Sums, Visit};
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::{prefetch, reserve_large_pages};

/// Contribution of a community to the code length.
#[derive(Debug, Clone, Copy, Default)]
struct Module<F> {
    /// Visits of its nodes.
    mass: f64,
    /// Weight of the edges that leave it.
    cut: f64,
    flow: F,
    /// Code length that follows from these.
    length: f64,
}

/// Visits, cuts and drifts of all communities.
pub struct DirectedCodeLength<F> {
    modules: Vec<Module<F>>,
    /// Flow that enters communities.
    entering: f64,
    /// Flow that teleports.
    teleported: f64,
    total_strength: f64,
    /// 1 / visits of all nodes.
    unit: f64,
    log_entering: f64,
    /// Labels for nodes that will be alone, if that is an option.
    free: Option<Vec<u32>>,
}

/// Quantities that are the same for all labels that a node could take.
#[derive(Debug, Clone, Copy)]
pub struct Departure {
    leaving: Leaving,
    /// Change of the flow that enters the present community.
    step: f64,
}

/// Constants that the length of a community depends on.
#[derive(Clone, Copy)]
struct Scale {
    unit: f64,
    teleported: f64,
}

impl Scale {
    /// Returns the flow that enters a community, and the flow that leaves it.
    #[inline]
    fn crossing<F: Carries>(self, cut: f64, flow: F) -> [f64; 2] {
        let NodeFlow { drift, teleport } = flow.flow();
        let (mut enter, mut exit) = (cut - drift, cut + drift);
        if F::HAS_TELEPORT && self.teleported > 0.0 {
            let share = (drift + teleport) / self.teleported;
            enter += 2.0 * (self.teleported - teleport) * share;
            exit += 2.0 * teleport * (1.0 - share);
        }
        // Rounding may leave less than nothing.
        [enter.max(0.0), exit.max(0.0)]
    }

    /// Returns the part of the code length due to a community, and the flow that enters it.
    #[inline]
    fn length<F: Carries>(self, mass: f64, cut: f64, flow: F) -> (f64, f64) {
        let [enter, exit] = self.crossing(cut, flow);
        let [p, enters, exits] = [mass, enter, exit].map(|flow| flow * self.unit);
        (plogp(exits + p) - plogp(enters) - plogp(exits), enter)
    }
}

impl<F: Carries> DirectedCodeLength<F> {
    fn scale(&self) -> Scale {
        Scale { unit: self.unit, teleported: self.teleported }
    }

    /// Computes the lengths of all communities, and the flow that enters them.
    fn update_lengths(&mut self) {
        let scale = self.scale();
        let update = |_: usize, modules: &mut [Module<F>]| {
            for Module { mass, cut, flow, length } in modules {
                *length = scale.length(*mass, *cut, *flow).0;
            }
            Ok(())
        };
        for_chunks(&mut self.modules, CHUNK_MODULES, update).expect("computing does not fail");
        let entering = self.modules.iter().map(|module| scale.crossing(module.cut, module.flow)[0]);
        self.entering = entering.sum();
        self.update_entering();
    }

    fn update_entering(&mut self) {
        let entering = self.entering * self.unit;
        self.log_entering = if entering >= f64::MIN_POSITIVE { log2(entering) } else { 0.0 };
    }

    /// Rates a community, to which arcs of total weight `weight` lead.
    #[inline]
    fn rate_of(
        &self,
        visit: &Visit<F>,
        departure: &Departure,
        module: Module<F>,
        weight: f64,
    ) -> f64 {
        let Module { mass, cut, flow, length } = module;
        let [before, _] = self.scale().crossing(cut, flow);
        let cut_after = cut + visit.arcs - 2.0 * weight;
        let joined = Self::with(flow, visit.flow);
        let (after, enter) = self.scale().length(mass + visit.mass, cut_after, joined);
        let growth = departure.leaving.index_growth((departure.step + enter - before) * self.unit);
        departure.leaving.gain + (length - after) - growth
    }

    /// Adds to a community, and returns the change of the flow that enters it.
    fn change(&mut self, label: u32, mass: f64, cut: f64, flow: F) -> f64 {
        let scale = self.scale();
        let module = &mut self.modules[label as usize];
        let [before, _] = scale.crossing(module.cut, module.flow);
        module.mass += mass;
        module.cut += cut;
        module.flow = flow;
        let (length, enter) = scale.length(module.mass, module.cut, module.flow);
        module.length = length;
        enter - before
    }

    /// Returns the difference of two sums.
    #[inline]
    fn without(mut flow: F, of: F) -> F {
        flow -= of;
        flow
    }

    /// Returns the sum of both.
    #[inline]
    fn with(mut flow: F, of: F) -> F {
        flow += of;
        flow
    }

    /// Returns the scale by which rates of a node are compared.
    #[inline]
    fn size(&self, visit: &Visit<F>) -> f64 {
        visit.mass.max(visit.arcs) * self.unit * TOLERANCE
    }
}

impl<F: Carries> Objective for DirectedCodeLength<F> {
    const WEIGHS_NODES: bool = true;
    const COUNTS_ARCS: bool = false;
    type Leaving = Departure;
    type Flow = F;

    #[inline]
    fn mass(&self, held: Holding, strength: f64) -> f64 {
        let NodeFlow { drift, teleport } = F::of(held.flow).flow();
        let visits = match F::HAS_TELEPORT {
            true => strength + drift + 2.0 * teleport,
            false => strength - drift,
        };
        visits.max(0.0)
    }

    #[inline]
    fn leaving(&self, visit: &Visit<F>) -> Departure {
        let Module { mass, cut, flow, length } = self.modules[visit.present as usize];
        let rest = Self::without(flow, visit.flow);
        let cut_after = cut - visit.arcs + 2.0 * visit.own;
        let (after, enter) = self.scale().length(mass - visit.mass, cut_after, rest);
        let (exits, log_exits) = (self.entering * self.unit, self.log_entering);
        let index = exits * log_exits;
        let leaving = Leaving { gain: length - after, exits, log_exits, index };
        Departure { leaving, step: enter - self.scale().crossing(cut, flow)[0] }
    }

    #[inline]
    fn prefetch(&self, label: u32) {
        prefetch(&self.modules, label as usize);
    }

    #[inline]
    fn rate(&self, visit: &Visit<F>, departure: &Departure, label: u32, weight: f64) -> f64 {
        let module = self.modules.get(label as usize).copied().unwrap_or_default();
        self.rate_of(visit, departure, module, weight)
    }

    /// An option at the end, as few nodes are better off alone.
    #[inline]
    fn alone(&self, visit: &Visit<F>, departure: &Departure) -> f64 {
        match self.free {
            Some(_) => self.rate_of(visit, departure, Module::default(), 0.0),
            None => f64::NEG_INFINITY,
        }
    }

    fn free_label(&mut self) -> Option<u32> {
        self.free.as_mut()?.pop()
    }

    /// Without arcs, there is no label to take.
    #[inline]
    fn best_rate(&self, _visit: &Visit<F>, _at: &Departure, _ceiling: f64, weight: f64) -> f64 {
        if weight > 0.0 { f64::INFINITY } else { 0.0 }
    }

    #[inline]
    fn least_equal(&self, visit: &Visit<F>, rate: f64) -> f64 {
        rate - self.size(visit)
    }

    #[inline]
    fn improves(&self, visit: &Visit<F>, rate: f64) -> bool {
        rate > self.size(visit)
    }

    #[inline]
    fn moved(&mut self, visit: &Visit<F>, label: u32, weight: f64) {
        let left = Self::without(self.modules[visit.present as usize].flow, visit.flow);
        let cut = 2.0 * visit.own - visit.arcs;
        let mut step = self.change(visit.present, -visit.mass, cut, left);
        let joined = Self::with(self.modules[label as usize].flow, visit.flow);
        step += self.change(label, visit.mass, visit.arcs - 2.0 * weight, joined);
        self.entering += step;
        self.update_entering();
    }
}

impl<F: Carries> Sums for DirectedCodeLength<F> {
    type Rule = NoRule;
    const COMMUNITY_BYTES: u64 = 24 + size_of::<F>() as u64;
    const COUNTS_CUTS: bool = true;

    fn empty(_: NoRule, capacity: usize) -> Self {
        let modules = reserve_large_pages(capacity);
        let (entering, teleported, log_entering) = (0.0, 0.0, 0.0);
        let (total_strength, unit, free) = (0.0, 0.0, None);
        Self { modules, entering, teleported, total_strength, unit, log_entering, free }
    }

    fn add(&mut self, label: u32, held: Holding, strength: f64, cut: f64) {
        let mass = self.mass(held, strength);
        let label = label as usize;
        if label >= self.modules.len() {
            self.modules.resize(label + 1, Module::default());
        }
        let module = &mut self.modules[label];
        module.mass += mass;
        module.cut += cut;
        module.flow += F::of(held.flow);
        self.total_strength += strength;
        // The inverse of the unit, until all nodes are added.
        self.unit += mass;
        self.teleported += F::of(held.flow).flow().teleport;
    }

    fn complete(&mut self) {
        self.modules.shrink_to_fit();
        self.unit = if self.unit > 0.0 { 1.0 / self.unit } else { 0.0 };
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
        self.entering * self.unit
    }

    fn quality(&self, _inside: f64) -> f64 {
        let lengths: f64 = self.modules.iter().map(|module| module.length).sum();
        -(plogp(self.entering * self.unit) + lengths)
    }

    /// About the code length, as for undirected graphs.
    fn scale(quality: f64, nodes: u64) -> f64 {
        super::CodeLength::scale(quality, nodes)
    }

    fn save(&self, to: &mut StateWriter) -> Result<()> {
        to.array([self.entering, self.teleported, self.total_strength, self.unit].into_iter())?;
        let modules = || self.modules.iter();
        to.array(modules().map(|module| module.mass))?;
        to.array(modules().map(|module| module.cut))?;
        to.array(modules().map(|module| module.flow.flow().drift))?;
        if F::HAS_TELEPORT {
            to.array(modules().map(|module| module.flow.flow().teleport))?;
        }
        Ok(())
    }

    fn load(_: NoRule, from: &mut StateReader) -> Result<Self> {
        let [entering, teleported, total_strength, unit] = from.few::<f64, 4>()?;
        let masses = from.numbers::<f64>()?;
        let modules = masses.iter().map(|&mass| Module { mass, ..Module::default() }).collect();
        drop(masses);
        let (log_entering, free) = (0.0, None);
        let mut loaded =
            Self { modules, entering, teleported, total_strength, unit, log_entering, free };
        from.fill(&mut loaded.modules, |module, cut: f64| module.cut = cut)?;
        from.fill(&mut loaded.modules, |module, drift: f64| {
            module.flow = F::of(NodeFlow { drift, teleport: 0.0 });
        })?;
        if F::HAS_TELEPORT {
            from.fill(&mut loaded.modules, |module, teleport: f64| {
                module.flow += F::of(NodeFlow { drift: 0.0, teleport });
            })?;
        }
        // The saved value, which a sum over all modules would round differently.
        loaded.update_lengths();
        loaded.entering = entering;
        loaded.update_entering();
        Ok(loaded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::holdings::Drift;
    use proptest::prelude::*;

    type Checked = std::result::Result<(), TestCaseError>;

    /// Flow of the arcs of three nodes of a directed graph and of one that stands for all others.
    type Arcs = [[f64; 4]; 4];

    fn flow(arcs: &Arcs, teleports: &[f64; 4], node: usize) -> NodeFlow {
        let leaves: f64 = arcs[node].iter().sum();
        let enters: f64 = arcs.iter().map(|row| row[node]).sum();
        NodeFlow { drift: leaves - enters, teleport: teleports[node] }
    }

    /// Returns the sums of these communities, each node by itself.
    fn sums<F: Carries>(
        arcs: &Arcs,
        teleports: &[f64; 4],
        labels: &[u32; 4],
    ) -> DirectedCodeLength<F> {
        let mut sums = DirectedCodeLength::<F>::empty(NoRule, 4);
        for node in 0..4 {
            let (mut strength, mut cut) = (0.0, 0.0);
            for other in 0..4 {
                strength += arcs[node][other] + arcs[other][node];
                if labels[other] != labels[node] {
                    cut += arcs[node][other] + arcs[other][node];
                }
            }
            let held = Holding { count: 1, flow: flow(arcs, teleports, node) };
            sums.add(labels[node], held, strength, cut);
        }
        sums.complete();
        sums
    }

    fn rates_are_differences<F: Carries>(arcs: &Arcs, teleports: &[f64; 4]) -> Checked {
        let before = [0, 0, 1, 2];
        let mut state = sums::<F>(arcs, teleports, &before);
        let both = |a: usize, b: usize| arcs[a][b] + arcs[b][a];
        let of_node = flow(arcs, teleports, 1);
        let others: f64 = [0, 2, 3].iter().map(|&other| both(1, other)).sum();
        let held = Holding { count: 1, flow: of_node };
        let mass = state.mass(held, others + 2.0 * arcs[1][1]);
        let flow = F::of(of_node);
        let visit = Visit { present: 0, count: 1, own: both(1, 0), arcs: others, mass, flow };
        let rate = state.rate(&visit, &state.leaving(&visit), 1, both(1, 2));
        let after = sums::<F>(arcs, teleports, &[0, 1, 1, 2]);
        let gain = after.quality(0.0) - state.quality(0.0);
        prop_assert!((rate - gain).abs() < 1e-9, "{rate} for {gain}");
        state.moved(&visit, 1, both(1, 2));
        prop_assert!((state.quality(0.0) - after.quality(0.0)).abs() < 1e-9);
        Ok(())
    }

    proptest! {
        /// The rate of a label is the change of the quality, and a move leaves the sums of the new communities.
        #[test]
        fn rates_are_differences_of_quality(
            mut arcs in prop::array::uniform4(prop::array::uniform4(0.0..10f64)),
            teleports in prop::array::uniform4(0.1..1f64),
            empty in prop::collection::vec((0..4usize, 0..4usize), 0..9),
        ) {
            empty.into_iter().for_each(|(a, b)| arcs[a][b] = 0.0);
            arcs[0][1] = 1.0;
            rates_are_differences::<Drift>(&arcs, &teleports)?;
            // Flow lands wherever more of it leaves than enters.
            let least = (0..4).map(|node| flow(&arcs, &teleports, node).drift).fold(0.0, f64::min);
            let teleports = teleports.map(|teleport| teleport - least);
            rates_are_differences::<NodeFlow>(&arcs, &teleports)?;
        }
    }
}
