//! Labels that a node may take, whatever the objective says of them.
//!
//! While the size of communities is limited, a community admits a node as long as it has room. Moves are admitted again
//! when they are committed, one after the other, so no community ever exceeds the limit. While communities are refined, a
//! node may join only groups inside its own community; a limit cannot be exceeded there, so a sweep needs one of the two
//! at most. Both only rule out moves, so the sweeps still end.
//!
//! Which of them holds is decided once for all labels around a node. Stars are cut in node order, leaders first. Memory:
//! 4 bytes per community for sizes, while nodes move.

use crate::kernel::objective::Visit;
use outcore_io::{prefetch, reserve_large_pages};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Labels that nodes may take.
#[derive(Default)]
pub enum Admission {
    /// All labels.
    #[default]
    Any,
    /// Labels of communities with room for the node.
    Fitting(CommunitySizes),
    /// Labels of the same class as the node's present label; holds the class of each label.
    Within(Vec<u32>),
}

impl Admission {
    /// Returns the admission to communities of at most `most` input nodes, if that is limited. Their present sizes
    /// follow from these labels and numbers of input nodes.
    pub fn limited(
        most: Option<u32>,
        labels: &[AtomicU32],
        count_of: impl Fn(usize) -> u32,
    ) -> Self {
        let each = labels.iter().enumerate();
        Self::of_sizes(most, labels.len(), each.map(|(node, l)| (l.load(Relaxed), count_of(node))))
    }

    /// Like [`limited`](Self::limited), for communities of one node each, with these numbers of input nodes.
    pub(crate) fn apart(most: Option<u32>, counts: impl ExactSizeIterator<Item = u32>) -> Self {
        Self::of_sizes(most, counts.len(), (0..).zip(counts))
    }

    fn of_sizes(
        most: Option<u32>,
        capacity: usize,
        nodes: impl Iterator<Item = (u32, u32)>,
    ) -> Self {
        let Some(most) = most else { return Self::Any };
        // Sizes are accessed at random, like labels.
        let mut sizes = CommunitySizes { most, sizes: reserve_large_pages(capacity) };
        nodes.for_each(|(label, count)| sizes.add(label, count));
        Self::Fitting(sizes)
    }

    /// Returns whether nodes move inside their class.
    pub fn is_within(&self) -> bool {
        matches!(self, Self::Within(_))
    }

    /// Returns whether a node may take `label`.
    #[inline]
    pub fn admits<F>(&self, visit: &Visit<F>, label: u32) -> bool {
        match self {
            Self::Any => true,
            Self::Fitting(sizes) => sizes.fits(label, visit.count),
            // A label that no node has yet is of no class.
            Self::Within(classes) => {
                classes.get(label as usize) == Some(&classes[visit.present as usize])
            }
        }
    }

    /// Returns the table, by label, that admission looks up for every label around a node. `weighs_nodes` means that
    /// only the labels of a shortlist are rated.
    #[inline]
    pub(super) fn looked_up(&self, weighs_nodes: bool) -> Option<&[u32]> {
        match self {
            Self::Within(classes) => Some(classes),
            Self::Fitting(sizes) if !weighs_nodes => Some(&sizes.sizes),
            Self::Any | Self::Fitting(_) => None,
        }
    }

    /// Prefetches the sizes of communities with these labels, if they are limited.
    #[inline]
    pub(super) fn prefetch_sizes(&self, labels: &[u32]) {
        if let Self::Fitting(CommunitySizes { sizes, .. }) = self {
            labels.iter().for_each(|&label| prefetch(sizes, label as usize));
        }
    }

    /// Records that a node has moved to `label`.
    #[inline]
    pub fn moved<F>(&mut self, visit: &Visit<F>, label: u32) {
        if let Self::Fitting(sizes) = self {
            sizes.moved(visit.present, label, visit.count);
        }
    }
}

/// Sizes of communities, and their limit. Without a limit nothing is counted.
pub struct CommunitySizes {
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
