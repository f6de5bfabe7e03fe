//! Tests of multilevel methods, on generated graphs in simulated storage.

use super::oracle_levels::level;
use super::oracle_levels::{OracleLevels, OracleSize};
use super::prelude::*;
use crate::score::quality;
use crate::tests::{
    Edges, PLENTY, POOLS, as_size, cliques, find, max_sizes, modularity_by_definition,
    ring_of_cliques, scratch, size_classes, some_edges,
};
use outcore_io::Files;
use outcore_io::progress::Silent;
use outcore_testkit::cases;
use proptest::prelude::*;

/// Bound of the error that rounding each weight to 24 bits adds to a comparison, after a level or two.
const ROUNDED: f64 = 4.0 / (1 << 24) as f64;

fn undirected() -> impl Strategy<Value = Edges> {
    some_edges().prop_map(|edges| Edges { directed: false, ..edges })
}

fn methods() -> impl Strategy<Value = (Method, f64)> {
    prop_oneof![
        Just((Method::MapEquation, 1.0)),
        Just((Method::Modularity, 1.0)),
        Just((Method::Modularity, 0.3)),
        Just((Method::Cpm, 0.1)),
        Just((Method::Cpm, 0.01)),
    ]
}

/// Reads the groups of each level.
fn groupings(files: &Files, found: &Communities) -> Vec<Vec<u32>> {
    let read = |grouping: &Grouping| {
        let groups = grouping.groups.read_all(files).unwrap();
        let most = groups.iter().max().map(|&most| u64::from(most) + 1);
        assert_eq!(most, Some(grouping.group_count));
        groups
    };
    found.groupings.iter().map(read).collect()
}

proptest! {
    #![proptest_config(cases(200))]

    /// The groups are those of the last cycle; keeping them changes nothing else.
    #[test]
    fn the_groups_of_each_level_match_the_oracle(
        edges in undirected(),
        (method, resolution) in methods().prop_filter("its levels are a tree", |(method, _)| *method != Method::MapEquation),
        seed in 0..1000u64,
        cycles in 1..=3u32,
        trials in 1..=2u32,
    ) {
        let graph = edges.graph();
        let mut oracle = OracleLevels::new((method, resolution), cycles, seed);
        oracle.trials = trials;
        oracle.cluster(&level(&edges, method));
        let resolution = vec![resolution];
        let options = ClusterOptions { method, resolution, seed, cycles, trials: Some(trials), ..ClusterOptions::default() };
        let plain = POOLS[1].install(|| {
            cluster_from(&graph, &options, GivenLabels::default(), PLENTY, scratch(), &Silent)
        }).unwrap();
        let options = ClusterOptions { levels: true, ..options };
        for (pool, spare) in [(0, 0), (1, PLENTY), (2, 3000)] {
            let found = POOLS[pool].install(|| {
                let memory = options.memory(&graph, 0, rayon::current_num_threads()).total_bytes();
                let (given, memory) = (GivenLabels::default(), memory + spare);
                cluster_from(&graph, &options, given, memory, scratch(), &Silent).unwrap()
            });
            prop_assert_eq!(&groupings(graph.files(), &found), &oracle.groupings);
            prop_assert_eq!(&plain, &Communities { groupings: Vec::new(), ..found });
        }
    }

    /// The oracle on one thread and the engine on many give the same labels and sweeps, for any cache and table
    /// size; the reported measures match their definitions.
    #[test]
    fn the_engine_matches_the_oracle(
        edges in undirected(),
        (method, resolution) in methods(),
        seed in 0..1000u64,
        cycles in 1..=3u32,
        max_size in max_sizes(),
        own in any::<bool>(),
        trials in prop_oneof![3 => Just(1u32), 1 => 2..=8u32],
        size in size_classes(),
    ) {
        let graph = edges.graph();
        let resolution = vec![resolution];
        let seeding = if own { Seeding::Own } else { Seeding::Star };
        let options = ClusterOptions { method, resolution: resolution.clone(), seed, cycles, max_size, seeding, trials: Some(trials), ..ClusterOptions::default() };
        let mut oracle = OracleLevels::new((method, resolution[0]), cycles, seed);
        oracle.trials = trials;
        oracle.size = match size {
            SizeClass::Small => OracleSize::Small,
            SizeClass::Medium => OracleSize::Medium,
            SizeClass::Large => OracleSize::Large,
        };
        oracle.max_size = max_size.filter(|&most| most < edges.node_count);
        oracle.seeding = seeding;
        let levels = level(&edges, method);
        let labels = oracle.cluster(&levels);
        let expected = edges.oracle(&graph, &options).finish(&labels);
        // Where the map equation keeps all nodes together, modularity is maximized for a comparison.
        let is_compared = method == Method::MapEquation && labels.len() > 1 && labels.iter().all(|&label| label == labels[0]);
        let compared = is_compared.then(|| oracle.compared(&levels, cycles));
        let limits = as_size(size);
        let tiny = ScratchLimits { large_degree: 3, max_labels: 2, ..limits };
        let mut first: Option<Communities> = None;
        for (pool, spare, limits) in [
            (0, 0, limits),
            (1, PLENTY, limits),
            (2, 3000, limits),
            (2, 0, tiny),
        ] {
            let found = POOLS[pool].install(|| {
                let threads = rayon::current_num_threads();
                let needed = options.memory(&graph, 0, threads).total_bytes();
                let (given, memory) = (GivenLabels::default(), needed + spare);
                cluster_within(&graph, &options, given, memory, scratch(), limits, &Silent).unwrap()
            });
            prop_assert_eq!(found.history.sweeps.count, oracle.sweeps);
            prop_assert_eq!(found.labels(), &expected);
            if let Some(first) = &first {
                prop_assert_eq!(first, &found);
            }
            first = Some(found);
        }
        let found = first.unwrap();
        prop_assert!(max_size.is_none_or(|most| found.largest() <= u64::from(most)));
        let swept = found.history.sweeps.first.iter().filter(|sweep| sweep.level == 0 && !sweep.refines);
        // Starts, their combinations, and at most three rounds of four perturbations.
        let searches = u64::from(2 * trials + 1) + if trials > 1 { 12 } else { 0 };
        let mut others = searches * (2 + 4 * u64::from(cycles));
        prop_assert_eq!(found.history.starts.divided.map(|(_, count)| count), compared.map(|(count, _)| count));
        if let Some((_, sweeps)) = compared {
            others += u64::from(sweeps) + 2 + 4 * u64::from(cycles);
        }
        prop_assert!(found.history.sweeps.scans <= swept.count() as u64 + others);
        let rated = quality(&graph, found.labels(), &Silent).unwrap();
        prop_assert_eq!(rated.disconnected_count, 0);
        prop_assert!((rated.modularity - found.measures.modularity).abs() < 1e-12);
        let by_definition = modularity_by_definition(&edges, found.labels());
        prop_assert!((found.measures.modularity - by_definition).abs() < 1e-9);
        if let Some(code_length) = found.measures.code_length {
            let by_definition = rated.code_length.unwrap();
            prop_assert!((code_length - by_definition).abs() < 1e-9, "{code_length} {by_definition}");
        }
        prop_assert_eq!(found.measures.code_length.is_some(), method == Method::MapEquation);
    }

    /// Whatever the method, no node of a graph that is not large gains by leaving its community.
    #[test]
    fn no_move_of_a_single_node_improves_a_result(
        edges in undirected(),
        (method, resolution) in prop_oneof![methods(), Just((Method::Modularity, 4.0)), Just((Method::Cpm, 0.5))],
        seed in 0..1000u64,
        trials in prop_oneof![Just(None), Just(Some(1))],
        size in prop_oneof![Just(SizeClass::Small), Just(SizeClass::Medium)],
    ) {
        let graph = edges.graph();
        let options = ClusterOptions { method, resolution: vec![resolution], seed, trials, ..ClusterOptions::default() };
        let (given, limits) = (GivenLabels::default(), as_size(size));
        let found = cluster_within(&graph, &options, given, PLENTY, scratch(), limits, &Silent).unwrap();
        let mut oracle = OracleLevels::new((method, resolution), options.cycles, seed);
        let level = level(&edges, method);
        oracle.scale_to(&level);
        let gain = oracle.best_single_move(&level, found.labels());
        prop_assert!(gain < 1e-9, "{gain}");
    }

    /// A minimum weight gives the same result as a graph built without lighter arcs.
    #[test]
    fn a_minimum_weight_equals_a_graph_without_lighter_arcs(
        edges in undirected(),
        (method, resolution) in methods(),
        min_weight in prop_oneof![Just(0.2), Just(1.0), Just(1.5), Just(3e5)],
        seed in 0..1000u64,
    ) {
        let resolution = vec![resolution];
        let options = ClusterOptions { method, resolution, seed, ..ClusterOptions::default() };
        let expected = find(&edges.heavier_than(min_weight), &options);
        let found = find(&edges, &ClusterOptions { min_weight, ..options });
        prop_assert_eq!(&found.labels, &expected.labels);
        prop_assert_eq!(found.history.sweeps.count, expected.history.sweeps.count);
        prop_assert!((found.measures.modularity - expected.measures.modularity).abs() < 1e-9);
        let bits = |found: &Communities| found.measures.code_length.unwrap_or(0.0);
        prop_assert!((bits(&found) - bits(&expected)).abs() < 1e-9);
    }

    /// Holds even if rounding breaks ties. A weight in another unit is rounded differently, so the result may
    /// differ if a decision of the oracle was closer than the rounding.
    #[test]
    fn any_unit_of_weight_gives_the_same_communities(
        edges in undirected(),
        (method, resolution) in methods(),
        seed in 0..1000u64,
    ) {
        let resolution = vec![resolution];
        let options = ClusterOptions { method, resolution, seed, trials: Some(1), ..ClusterOptions::default() };
        let expected = find(&edges, &options).labels;
        for factor in [1e-12, 0.3, 7.0, 1e12] {
            let found = find(&edges.scaled(factor), &options).labels;
            if found == expected {
                continue;
            }
            let mut oracle = OracleLevels::new((method, options.resolution[0]), options.cycles, seed);
            oracle.perturbs = true;
            oracle.cluster(&level(&edges, method));
            prop_assert!(oracle.closest.get() < ROUNDED, "{}", oracle.closest.get());
        }
    }
}

#[test]
fn known_answers_are_found() {
    for seed in 1..=3 {
        let of = |method| ClusterOptions { method, seed, ..ClusterOptions::default() };
        let map = of(Method::MapEquation);
        let star = Edges::new(5001, (0..5000).map(|leaf| (leaf, 5000)));
        let complete = cliques(1, 300);
        for (name, edges) in [("star", &star), ("complete", &complete)] {
            assert_eq!(find(edges, &map).community_count(), 1, "{name}");
        }
        let pairs = find(&Edges::new(10_000, (0..5000).map(|i| (2 * i, 2 * i + 1))), &map);
        assert_eq!(pairs.sizes, [SizeCount { size: 2, count: 5000 }]);
        for (count, size) in [(30, 5), (1000, 10)] {
            let ring = find(&ring_of_cliques(count, size), &map);
            assert_eq!(ring.sizes, [SizeCount { size, count: u64::from(count) }]);
        }
        let ring = find(&ring_of_cliques(30, 5), &of(Method::Modularity));
        // The optimum is 15 pairs of neighboring cliques; moving one community at a time leaves some unpaired.
        assert!((15..=18).contains(&ring.community_count()), "{:?}", ring.sizes);
        assert!(ring.measures.modularity > 0.995 * 0.887_878, "{}", ring.measures.modularity);
        for method in [Method::MapEquation, Method::Modularity, Method::Cpm] {
            let isolated = find(&Edges::new(300, []), &of(method));
            assert_eq!((isolated.singleton_count(), isolated.measures.modularity), (300, 0.0));
            let loops = find(&Edges::new(50, (0..50).map(|v| (v, v))), &of(method));
            assert_eq!(loops.singleton_count(), 50);
            assert_eq!(find(&Edges::new(0, []), &of(method)).community_count(), 0);
        }
    }
}

/// Returns a graph of groups of 10 in 100 in 1,000 nodes.
fn nested(nodes: u32, seed: u64) -> Edges {
    let mut state = seed;
    let mut below = |bound: u32| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(bound)) as u32
    };
    let mut ends: Vec<(u32, u32)> = (0..8 * nodes)
        .map(|_| {
            let size = match below(100) {
                0..60 => 10,
                60..85 => 100,
                85..95 => 1000,
                _ => nodes,
            };
            let node = below(nodes);
            let other = node / size * size + below(size);
            (node.min(other), node.max(other))
        })
        .filter(|(a, b)| a != b)
        .collect();
    ends.sort_unstable();
    ends.dedup();
    Edges::new(nodes, ends)
}

/// A large graph has one start by default, which must still find the scale at which nested groups are best: no cut of
/// the levels that led to the result is better, nor one of the planted groups.
#[test]
fn no_cut_of_its_own_hierarchy_is_better() {
    let nodes = 8000;
    for (seed, method) in
        (7..10).flat_map(|seed| [(seed, Method::MapEquation), (seed, Method::Modularity)])
    {
        let edges = nested(nodes, seed);
        let graph = edges.graph();
        let find = |levels| {
            let options = ClusterOptions { method, levels, ..ClusterOptions::default() };
            let (given, limits) = (GivenLabels::default(), as_size(SizeClass::Large));
            POOLS[1]
                .install(|| {
                    cluster_within(&graph, &options, given, PLENTY, scratch(), limits, &Silent)
                })
                .unwrap()
        };
        let objective = |labels: &[u32]| {
            let rated = quality(&graph, labels, &Silent).unwrap();
            match method {
                Method::MapEquation => -rated.code_length.unwrap(),
                _ => rated.modularity,
            }
        };
        let best = objective(find(false).labels());
        let found = find(true);
        assert!(objective(found.labels()) <= best + 1e-9, "{method:?}: the top");
        let mut groups: Vec<u32> = (0..nodes).collect();
        for grouping in groupings(graph.files(), &found) {
            groups.iter_mut().for_each(|group| *group = grouping[*group as usize]);
            assert!(objective(&groups) <= best + 1e-9, "{method:?}: {}", grouping.len());
        }
        for size in [10, 100, 1000, nodes] {
            let planted: Vec<u32> = (0..nodes).map(|node| node / size).collect();
            assert!(objective(&planted) <= best + 1e-9, "{seed} {method:?}: {size}");
        }
    }
}

/// A number of starts that is asked for is tried, however large the graph is.
#[test]
fn starts_that_are_asked_for_are_tried_on_large_graphs() {
    let edges = nested(2000, 7);
    let graph = edges.graph();
    for (trials, stability) in [(Some(4), false), (None, true), (Some(3), true)] {
        let options = ClusterOptions { trials, stability, ..ClusterOptions::default() };
        let (given, limits) = (GivenLabels::default(), as_size(SizeClass::Large));
        let found =
            cluster_within(&graph, &options, given, PLENTY, scratch(), limits, &Silent).unwrap();
        assert_eq!(found.history.starts.count, trials.unwrap_or(5));
        assert_eq!(found.stability.is_some(), stability);
        let (near, equal) =
            (&found.history.starts.community_counts, &found.history.starts.equal_counts);
        assert!(near.len() <= found.history.starts.count as usize);
        // The best start is equal to itself.
        assert!(!equal.is_empty() && equal.iter().all(|count| near.contains(count)));
    }
}

#[test]
fn every_method_takes_directed_edges() {
    let edges = Edges { directed: true, ..Edges::new(3, [(0, 1), (1, 2)]) };
    for method in METHODS.iter().map(|spec| spec.method) {
        let options = ClusterOptions { method, ..ClusterOptions::default() };
        cluster(&edges.graph(), &options, PLENTY, scratch(), &Silent).unwrap();
    }
}

#[test]
fn methods_without_levels_refuse_to_keep_groups() {
    for method in [Method::LabelPropagation, Method::Components] {
        let options = ClusterOptions { method, levels: true, ..ClusterOptions::default() };
        let error = options.check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.hint_text().unwrap().contains("map-equation"));
    }
}
