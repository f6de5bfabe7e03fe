//! Trees of modules of whole clusterings, in memory and streamed.

use super::prelude::*;
use crate::tests::{Edges, PLENTY, POOLS, cliques, one, scratch, some_edges};
use outcore_graph::weight::Weight;
use outcore_io::Files;
use outcore_io::progress::Silent;
use proptest::prelude::*;

/// Module of each node on every level, coarsest first.
fn levels(files: &Files, found: &Communities) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for grouping in &found.groupings {
        let above = grouping.groups.read_all(files).unwrap();
        groups.push(match groups.last() {
            Some(below) => below.iter().map(|&group| above[group as usize]).collect(),
            None => above,
        });
    }
    groups.push(found.labels().to_vec());
    groups.reverse();
    groups
}

/// Steps of a walk from node to node, with the share of each, and the number of nodes.
struct Walk {
    steps: Vec<(usize, usize, f64)>,
    node_count: usize,
}

impl Walk {
    /// Returns the walk over edges: each in both directions, and a loop once.
    fn of(edges: &Edges) -> Self {
        let weight = |code| Weight::from_code(code).value();
        let total: f64 = edges.arcs().into_values().map(weight).sum();
        let steps = edges
            .arcs()
            .into_iter()
            .map(|((a, b), code)| (a as usize, b as usize, weight(code) / total));
        Self { steps: steps.collect(), node_count: edges.node_count as usize }
    }

    /// Returns the code length of nested levels by its definition: entropies of codebooks, where an only child is no
    /// module.
    fn length(&self, levels: &[Vec<u32>]) -> f64 {
        if self.steps.is_empty() {
            return 0.0;
        }
        let all: Vec<usize> = (0..self.node_count).collect();
        self.codebook(&all, None, levels)
    }

    fn codebook(&self, nodes: &[usize], outer: Option<f64>, levels: &[Vec<u32>]) -> f64 {
        let mut rates: Vec<f64> = outer.into_iter().collect();
        let Some((level, below)) = levels.split_first() else {
            rates.extend(nodes.iter().map(|&node| self.share(|a, _| a == node)));
            return entropy(&rates);
        };
        let mut modules: Vec<u32> = nodes.iter().map(|&node| level[node]).collect();
        modules.sort_unstable();
        modules.dedup();
        if modules.len() == 1 && outer.is_some() {
            return self.codebook(nodes, outer, below);
        }
        let mut sum = 0.0;
        for module in modules {
            let own: Vec<usize> =
                nodes.iter().copied().filter(|&node| level[node] == module).collect();
            let leaves = self.share(|a, b| own.contains(&a) && !own.contains(&b));
            rates.push(leaves);
            sum += self.codebook(&own, Some(leaves), below);
        }
        sum + entropy(&rates)
    }

    /// Returns the share of the steps for which this holds.
    fn share(&self, is_one: impl Fn(usize, usize) -> bool) -> f64 {
        self.steps.iter().filter(|step| is_one(step.0, step.1)).map(|step| step.2).sum()
    }
}

fn entropy(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    rates.iter().filter(|rate| **rate > 0.0).map(|rate| -rate * (rate / sum).log2()).sum()
}

fn undirected() -> impl Strategy<Value = Edges> {
    some_edges().prop_map(|edges| Edges { directed: false, ..edges })
}

/// Cliques in groups of as many cliques: all pairs of cliques in a group are joined by light edges, all pairs of groups by
/// lighter ones.
fn nested_cliques(count: u32, size: u32) -> Edges {
    let mut edges = cliques(count * count, size);
    let node = |group: u32, clique: u32, at: u32| (group * count + clique) * size + at % size;
    for group in 0..count {
        for (a, b) in (0..count).flat_map(|b| (0..b).map(move |a| (a, b))) {
            edges.edges.push((node(group, a, b), node(group, b, a), 0.5));
            if group == 0 {
                edges.edges.push((node(a, b, a), node(b, a, b), 0.2));
            }
        }
    }
    edges
}

fn options(seed: u64) -> ClusterOptions {
    ClusterOptions { method: Method::MapEquation, seed, levels: true, ..ClusterOptions::default() }
}

/// Limits under which a graph is searched as a whole, or streamed with parts of this size.
fn limits(part_size: Option<u64>) -> ScratchLimits {
    match part_size {
        None => ScratchLimits::default(),
        Some(part_size) => ScratchLimits { tree_size: 0, part_size, ..ScratchLimits::default() },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// The tree is the same for any number of threads and memory, its length is that of its definition, and it is never
    /// longer than the communities on one level.
    #[test]
    fn a_tree_is_never_longer_than_its_communities(
        edges in undirected(),
        seed in 0..1000u64,
        part_size in prop_oneof![2 => Just(None), 2 => Just(Some(1 << 20)), 1 => Just(Some(30))],
        well_connected in prop_oneof![4 => Just(None), 1 => Just(Some("1"))],
    ) {
        let graph = edges.graph();
        let well_connected = well_connected.map(|bound| bound.parse().unwrap());
        let options = ClusterOptions { well_connected, ..options(seed) };
        let mut first: Option<(Communities, Vec<Vec<u32>>)> = None;
        for (pool, spare) in [(0, 0), (1, PLENTY), (2, 3000)] {
            let found = POOLS[pool].install(|| {
                let needed = options.memory(&graph, 0, rayon::current_num_threads()).total_bytes();
                let given = GivenLabels::default();
                one(cluster_within(&graph, &options, given, needed + spare, scratch(), limits(part_size), &Silent))
            });
            let levels = levels(graph.files(), &found);
            let found = Communities { scans: 0, ..found };
            if let Some((before, levels_before)) = &first {
                prop_assert_eq!(before, &found);
                prop_assert_eq!(levels_before, &levels);
            }
            first = Some((found, levels));
        }
        let (found, levels) = first.unwrap();
        let tree = found.tree.clone().unwrap();
        prop_assert!((tree.code_length - Walk::of(&edges).length(&levels)).abs() < 1e-9, "{tree:?} {}", Walk::of(&edges).length(&levels));
        prop_assert_eq!(tree.levels[0].module_count, found.community_count);
        if let Some(top) = found.code_length {
            prop_assert!((tree.levels[0].code_length - top).abs() < 1e-9);
        }
        if options.well_connected.is_none() {
            let plain = ClusterOptions { levels: false, ..options };
            let flat = POOLS[1].install(|| {
                one(cluster_from(&graph, &plain, GivenLabels::default(), PLENTY, scratch(), &Silent))
            });
            prop_assert!(tree.code_length <= flat.code_length.unwrap() + 1e-12);
            prop_assert_eq!(flat.tree, None);
        }
    }
}

/// Groups are found at every size that was planted.
#[test]
fn nested_groups_are_found_on_every_level() {
    let edges = nested_cliques(8, 6);
    let graph = edges.graph();
    for part_size in [None, Some(1 << 20)] {
        let found = POOLS[1].install(|| {
            let given = GivenLabels::default();
            one(cluster_within(
                &graph,
                &options(1),
                given,
                PLENTY,
                scratch(),
                limits(part_size),
                &Silent,
            ))
        });
        let tree = found.tree.clone().unwrap();
        let counts: Vec<u64> = tree.levels.iter().map(|level| level.module_count).collect();
        assert_eq!(counts, [8, 64]);
        let levels = levels(graph.files(), &found);
        let is_pure = |size: usize| {
            levels.iter().any(|level| {
                let all =
                    level.chunks(size).all(|group| group.iter().all(|module| *module == group[0]));
                let mut modules = level.clone();
                modules.sort_unstable();
                modules.dedup();
                all && modules.len() == level.len() / size
            })
        };
        assert!(is_pure(48) && is_pure(6), "{part_size:?}");
    }
}

/// What has no modules of modules gets none, and no levels.
#[test]
fn communities_without_structure_have_one_level() {
    for edges in [cliques(30, 8), cliques(1, 40), Edges::new(9, [])] {
        let graph = edges.graph();
        for part_size in [None, Some(1 << 20)] {
            let found = POOLS[1].install(|| {
                let given = GivenLabels::default();
                one(cluster_within(
                    &graph,
                    &options(1),
                    given,
                    PLENTY,
                    scratch(),
                    limits(part_size),
                    &Silent,
                ))
            });
            let tree = found.tree.unwrap();
            assert_eq!(
                (tree.depth, found.groupings.len()),
                (u32::from(found.community_count > 0), 0)
            );
            assert!((tree.code_length - found.code_length.unwrap()).abs() < 1e-12);
        }
    }
}
