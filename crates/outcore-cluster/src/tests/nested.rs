//! Trees of modules of whole clusterings, in memory and streamed.

use super::prelude::*;
use crate::flow::rates::Teleportation;
use crate::flow::tests::{DenseFlow, directed_edges};
use crate::score::{QualityRules, quality_of_levels};
use crate::tests::walk::Walk;
use crate::tests::{Edges, PLENTY, POOLS, cliques, scratch, some_edges};
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
        edges in prop_oneof![2 => undirected(), 1 => directed_edges()],
        is_recorded in any::<bool>(),
        seed in 0..1000u64,
        part_size in prop_oneof![2 => Just(None), 2 => Just(Some(1 << 20)), 1 => Just(Some(30))],
        well_connected in prop_oneof![4 => Just(None), 1 => Just(Some("1"))],
    ) {
        let graph = edges.graph();
        let well_connected = well_connected.map(|bound| bound.parse().unwrap());
        let recorded_teleportation = edges.directed && is_recorded;
        let options = ClusterOptions { well_connected, recorded_teleportation, ..options(seed) };
        let mut first: Option<(Communities, Vec<Vec<u32>>)> = None;
        for (pool, spare) in [(0, 0), (1, PLENTY), (2, 3000)] {
            let found = POOLS[pool].install(|| {
                let needed = options.memory(&graph, 0, rayon::current_num_threads()).total_bytes();
                let given = GivenLabels::default();
                cluster_within(&graph, &options, given, needed + spare, scratch(), limits(part_size), &Silent).unwrap()
            });
            let levels = levels(graph.files(), &found);
            let found = found.with_scans(0);
            if let Some((before, levels_before)) = &first {
                prop_assert_eq!(before, &found);
                prop_assert_eq!(levels_before, &levels);
            }
            first = Some((found, levels));
        }
        let (found, levels) = first.unwrap();
        let tree = found.tree.clone().unwrap();
        let walk = match edges.directed {
            true => DenseFlow::new(&edges, Teleportation::of(is_recorded)).walk(),
            false => Walk::of(&edges),
        };
        let by_definition = walk.length(&levels);
        prop_assert!((tree.code_length - by_definition).abs() < 1e-9, "{tree:?} {by_definition}");
        let rules = QualityRules { resolution: 1.0, recorded_teleportation };
        let (_, scored) = quality_of_levels(&graph, &levels[0], &levels, rules, &Silent).unwrap();
        match scored {
            Some(scored) => {
                prop_assert!((scored.code_length - tree.code_length).abs() < 1e-9);
                prop_assert_eq!(scored.levels.len(), tree.levels.len());
                for (level, of_tree) in scored.levels.iter().zip(&tree.levels) {
                    prop_assert_eq!(level.module_count, of_tree.module_count);
                    prop_assert!((level.code_length - of_tree.code_length).abs() < 1e-9);
                }
            }
            None => prop_assert_eq!(levels.len(), 1),
        }
        prop_assert_eq!(tree.levels[0].module_count, found.community_count());
        if let Some(top) = found.measures.code_length {
            prop_assert!((tree.levels[0].code_length - top).abs() < 1e-9);
        }
        if options.well_connected.is_none() {
            let plain = ClusterOptions { levels: false, ..options };
            let flat = POOLS[1].install(|| {
                let given = GivenLabels::default();
                cluster_within(&graph, &plain, given, PLENTY, scratch(), limits(part_size), &Silent).unwrap()
            });
            // The search sees flows that are rounded to 24 bits.
            let rounding = if edges.directed { 1e-7 } else { 1e-12 };
            let of_communities = flat.measures.code_length.unwrap();
            prop_assert!(tree.code_length <= of_communities + rounding, "{tree:?} {of_communities}");
            prop_assert_eq!(flat.tree, None);
        }
    }
}

/// Finds the tree of a graph with this memory beyond what is needed.
fn found_within(graph: &Graph, limits: ScratchLimits, spare: u64) -> Communities {
    POOLS[1].install(|| {
        let options = options(1);
        let needed = options.memory(graph, 0, rayon::current_num_threads()).total_bytes();
        let given = GivenLabels::default();
        cluster_within(graph, &options, given, needed + spare, scratch(), limits, &Silent).unwrap()
    })
}

/// Communities with too many links between them are not joined, and those with too many inside are not divided, whether or
/// not memory allows more.
#[test]
fn what_is_too_large_stays_as_it_is() {
    let graph = nested_cliques(8, 6).graph();
    let whole = found_within(&graph, limits(Some(1 << 20)), PLENTY);
    let depth = |found: &Communities| found.tree.as_ref().map(|tree| tree.depth);
    assert_eq!(depth(&whole), Some(2));
    for (part_size, spare) in [(10, PLENTY), (28, 0), (28, PLENTY)] {
        let found = found_within(&graph, limits(Some(part_size)), spare);
        assert_eq!(depth(&found), Some(1), "{part_size} {spare}");
        let tree = found.tree.unwrap();
        assert!((tree.code_length - found.measures.code_length.unwrap()).abs() < 1e-12);
    }
}

/// Groups are found at every size that was planted.
#[test]
fn nested_groups_are_found_on_every_level() {
    let edges = nested_cliques(8, 6);
    let graph = edges.graph();
    for part_size in [None, Some(1 << 20)] {
        let found = found_within(&graph, limits(part_size), PLENTY);
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
            let found = found_within(&graph, limits(part_size), PLENTY);
            let tree = found.tree.as_ref().unwrap();
            assert_eq!(
                (tree.depth, found.groupings.len()),
                (u32::from(found.community_count() > 0), 0)
            );
            assert!((tree.code_length - found.measures.code_length.unwrap()).abs() < 1e-12);
        }
    }
}
