//! Limit on the size of communities.
//!
//! [`CommunitySizes`] counts the nodes of the input in each community. [`Capped`] wraps an objective so
//! that a label can be taken only while its community has room. Moves are rated again when they are
//! committed, one after the other, so no community ever exceeds the limit. A limit only rules out moves,
//! so the sweeps still end. Memory: 4 bytes per community.
//!
//! Stars are cut in node order, leaders first. The limit cannot be exceeded inside communities, where groups are
//! refined. Without a limit no sizes are counted, and each rating costs one comparison.

use crate::kernel::holdings::Holding;
use crate::kernel::objective::{Objective, Sums, Visit};
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use outcore_io::{prefetch, reserve_large_pages};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Sizes of communities, and their limit. Without a limit nothing is counted.
pub(crate) struct CommunitySizes {
    /// Maximum size; `u32::MAX` means no limit, since no graph has more nodes.
    most: u32,
    sizes: Vec<u32>,
}

impl CommunitySizes {
    /// Creates sizes without communities, with room for `capacity` of them.
    pub(crate) fn new(most: Option<u32>, capacity: usize) -> Self {
        let most = most.unwrap_or(u32::MAX);
        let capacity = if most < u32::MAX { capacity } else { 0 };
        Self { most, sizes: Vec::with_capacity(capacity) }
    }

    /// Returns whether `count` more nodes fit into a community.
    #[inline]
    pub(crate) fn fits(&self, label: u32, count: u32) -> bool {
        // Communities that never had a node are not listed.
        self.sizes.get(label as usize).is_none_or(|&size| size + count <= self.most)
    }

    /// Adds nodes to a community.
    #[inline]
    pub(crate) fn add(&mut self, label: u32, count: u32) {
        if self.most == u32::MAX {
            return;
        }
        let label = label as usize;
        if label >= self.sizes.len() {
            self.sizes.resize(label + 1, 0);
        }
        self.sizes[label] += count;
    }

    /// Adds nodes to a community if they fit, and returns whether they do.
    pub(crate) fn take(&mut self, label: u32, count: u32) -> bool {
        let fits = self.fits(label, count);
        if fits {
            self.add(label, count);
        }
        fits
    }

    /// Returns the size of the largest community.
    pub(crate) fn largest(&self) -> u32 {
        self.sizes.iter().copied().max().unwrap_or(0)
    }

    #[inline]
    fn moved(&mut self, from: u32, to: u32, count: u32) {
        if let Some(size) = self.sizes.get_mut(from as usize) {
            *size -= count;
            self.add(to, count);
        }
    }
}

/// Objective with a size limit: a node can take a label only if it fits into the community.
pub(crate) struct Capped<O> {
    pub(crate) objective: O,
    sizes: CommunitySizes,
}

impl<O> Capped<O> {
    /// Creates the objective for nodes with these labels.
    pub(crate) fn over(objective: O, most: Option<u32>, labels: &[AtomicU32]) -> Self {
        let mut sizes = CommunitySizes::new(most, 0);
        if most.is_some() {
            // Sizes are accessed at random, like labels.
            sizes.sizes = reserve_large_pages(labels.len());
            labels.iter().for_each(|label| sizes.add(label.load(Relaxed), 1));
        }
        Self { objective, sizes }
    }
}

impl<O: Objective> Objective for Capped<O> {
    const WEIGHS_NODES: bool = O::WEIGHS_NODES;
    const ATTENUATES: bool = O::ATTENUATES;
    const LOOKS_UP_LABELS: bool = true;
    const RESTRICTS: bool = O::RESTRICTS;
    type Leaving = O::Leaving;
    type Flow = O::Flow;

    #[inline]
    fn mass(&self, held: Holding, strength: f64) -> f64 {
        self.objective.mass(held, strength)
    }
    #[inline]
    fn leaving(&self, visit: &Visit<O::Flow>) -> Self::Leaving {
        self.objective.leaving(visit)
    }
    #[inline]
    fn prefetch(&self, label: u32) {
        prefetch(&self.sizes.sizes, label as usize);
        self.objective.prefetch(label);
    }
    #[inline]
    fn rate(
        &self,
        visit: &Visit<O::Flow>,
        leaving: &Self::Leaving,
        label: u32,
        weight: f64,
    ) -> f64 {
        if self.sizes.fits(label, visit.count) {
            self.objective.rate(visit, leaving, label, weight)
        } else {
            f64::NEG_INFINITY
        }
    }
    #[inline]
    fn ceiling(&self, visit: &Visit<O::Flow>, leaving: &Self::Leaving) -> f64 {
        self.objective.ceiling(visit, leaving)
    }
    #[inline]
    fn best_rate(
        &self,
        visit: &Visit<O::Flow>,
        at: &Self::Leaving,
        ceiling: f64,
        weight: f64,
    ) -> f64 {
        self.objective.best_rate(visit, at, ceiling, weight)
    }
    #[inline]
    fn admits(&self, present: u32, label: u32) -> bool {
        self.objective.admits(present, label)
    }
    #[inline]
    fn prefetch_admission(&self, label: u32) {
        self.objective.prefetch_admission(label);
    }
    #[inline]
    fn alone(&self, visit: &Visit<O::Flow>, leaving: &Self::Leaving) -> f64 {
        self.objective.alone(visit, leaving)
    }
    fn free_label(&mut self) -> Option<u32> {
        self.objective.free_label()
    }
    #[inline]
    fn least_equal(&self, visit: &Visit<O::Flow>, rate: f64) -> f64 {
        self.objective.least_equal(visit, rate)
    }
    #[inline]
    fn improves(&self, visit: &Visit<O::Flow>, rate: f64) -> bool {
        self.objective.improves(visit, rate)
    }
    #[inline]
    fn moved(&mut self, visit: &Visit<O::Flow>, label: u32, weight: f64) {
        self.sizes.moved(visit.present, label, visit.count);
        self.objective.moved(visit, label, weight);
    }
    #[inline]
    fn factor(&self, hops: u8) -> f64 {
        self.objective.factor(hops)
    }
}

impl<O: Sums> Sums for Capped<O> {
    type Rule = (O::Rule, Option<u32>);
    const COMMUNITY_BYTES: u64 = O::COMMUNITY_BYTES;
    const COUNTS_CUTS: bool = O::COUNTS_CUTS;
    const COUNTS_ARCS: bool = O::COUNTS_ARCS;

    fn asks_for_counts((rule, most): Self::Rule) -> bool {
        most.is_some() || O::asks_for_counts(rule)
    }
    fn most((_, most): Self::Rule) -> Option<u32> {
        most
    }
    fn limited((rule, _): Self::Rule, most: Option<u32>) -> Self::Rule {
        (rule, most)
    }
    fn empty((rule, most): Self::Rule, capacity: usize) -> Self {
        Self { objective: O::empty(rule, capacity), sizes: CommunitySizes::new(most, capacity) }
    }
    fn add(&mut self, label: u32, held: Holding, strength: f64, cut: f64) {
        self.sizes.add(label, held.count);
        self.objective.add(label, held, strength, cut);
    }
    fn complete(&mut self) {
        self.sizes.sizes.shrink_to_fit();
        self.objective.complete();
    }

    fn free_below(&mut self, count: usize) {
        self.objective.free_below(count);
    }
    fn strength(&self) -> f64 {
        self.objective.strength()
    }
    fn label_bound(&self) -> usize {
        self.objective.label_bound()
    }
    fn mass_of(&self, label: u32) -> f64 {
        self.objective.mass_of(label)
    }
    fn exits(&self) -> f64 {
        self.objective.exits()
    }
    fn quality(&self, inside: f64) -> f64 {
        self.objective.quality(inside)
    }
    fn scale(quality: f64, nodes: u64) -> f64 {
        O::scale(quality, nodes)
    }

    fn save(&self, to: &mut StateWriter) -> Result<()> {
        to.array(self.sizes.sizes.iter().copied())?;
        self.objective.save(to)
    }

    fn load((rule, most): Self::Rule, from: &mut StateReader) -> Result<Self> {
        let sizes = CommunitySizes { sizes: from.numbers()?, ..CommunitySizes::new(most, 0) };
        Ok(Self { sizes, objective: O::load(rule, from)? })
    }
}

#[cfg(test)]
mod tests {
    use crate::drive::run::cluster_from;
    use crate::finish::communities::Communities;
    use crate::methods::options::ClusterOptions;
    use crate::methods::table::{METHODS, Method, MethodOption};
    use crate::store::given::GivenLabels;
    use crate::tests::{Edges, PLENTY, POOLS, cliques, find, ring_of_cliques, scratch, some_edges};
    use outcore_io::error::ErrorKind;
    use outcore_io::progress::Silent;
    use outcore_testkit::cases;
    use proptest::prelude::*;

    const NONE: u32 = u32::MAX;

    fn capped(method: Method, most: u32) -> ClusterOptions {
        let resolution = vec![method.default_resolution().unwrap_or(0.01)];
        ClusterOptions { method, resolution, max_size: Some(most), ..ClusterOptions::default() }
    }

    fn methods() -> impl Iterator<Item = Method> {
        let all = METHODS.iter().map(|spec| spec.method);
        all.filter(|method| method.takes(MethodOption::MaxSize))
    }

    proptest! {
        #![proptest_config(cases(30))]

        /// A limit that no community can exceed changes nothing.
        #[test]
        fn a_limit_of_all_nodes_changes_nothing(edges in some_edges(), seed in 0..1000u64) {
            for method in methods() {
                let edges = Edges { directed: false, ..edges.clone() };
                let limited = ClusterOptions { seed, ..capped(method, edges.node_count) };
                let free = ClusterOptions { max_size: None, ..limited.clone() };
                prop_assert_eq!(find(&edges, &limited), find(&edges, &free));
            }
        }
    }

    #[test]
    fn the_limit_holds_around_hubs_and_inside_cliques() {
        let star = Edges::new(5001, (0..5000).map(|leaf| (leaf, 5000)));
        let clique = cliques(1, 300);
        for method in methods() {
            for (edges, most) in [(&star, 100), (&clique, 40)] {
                let found = find(edges, &capped(method, most));
                assert!(found.largest() <= u64::from(most), "{method:?}: {:?}", found.sizes);
                assert!(found.largest() > u64::from(most) / 2, "{method:?}: {:?}", found.sizes);
                assert_eq!(
                    find(edges, &capped(method, 1)).singleton_count(),
                    found.labels().len() as u64
                );
            }
            // Communities below the limit are found as without one.
            let ring = find(&ring_of_cliques(60, 8), &capped(method, 8));
            assert!(
                ring.largest() <= 8 && ring.community_count() < 70,
                "{method:?}: {:?}",
                ring.sizes
            );
        }
    }

    fn resume(edges: &Edges, options: &ClusterOptions, given: &GivenLabels) -> Communities {
        let mut found = [0, 1, 2].into_iter().map(|pool| {
            let given = given.clone();
            let graph = edges.graph();
            POOLS[pool].install(|| {
                cluster_from(&graph, options, given, PLENTY, scratch(), &Silent).unwrap()
            })
        });
        let first = found.next().unwrap();
        assert!(found.all(|other| other == first));
        first
    }

    /// Initial labels may exceed the limit; several runs respect it just like one.
    #[test]
    fn given_communities_are_cut_to_the_limit() {
        let edges = ring_of_cliques(30, 8);
        let mut options = capped(Method::LabelPropagation, 8);
        let pairs: Vec<u32> = (0..240).map(|node| node / 16).collect();
        let mut given = GivenLabels { initial: pairs, fixed: Vec::new() };
        let found = resume(&edges, &options, &given);
        assert!(found.largest() <= 8);
        let same = found.labels().chunks(16).all(|pair| pair[..8].iter().all(|l| *l == pair[0]));
        assert!(same, "the first nodes of a community keep its label");
        given.fixed = (0..240).map(|node| if node % 16 < 5 { node / 16 } else { NONE }).collect();
        assert!(resume(&edges, &options, &given).largest() <= 8);
        options.max_size = Some(4);
        let error = POOLS[1]
            .install(|| cluster_from(&edges.graph(), &options, given, PLENTY, scratch(), &Silent))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("5 nodes"), "{error}");
    }

    #[test]
    fn meaningless_limits_are_refused() {
        assert!(capped(Method::MapEquation, 0).check().is_err());
        assert!(capped(Method::Components, 10).check().is_err());
        assert!(capped(Method::Components, 0).check().is_err());
    }
}
