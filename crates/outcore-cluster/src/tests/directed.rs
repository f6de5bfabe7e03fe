//! Methods with several levels on directed graphs.

use super::prelude::*;
use super::{PLENTY, POOLS, find, scratch, size_classes};
use crate::score::{QualityRules, quality, quality_by};
use crate::tests::{Edges, as_size, ring_of_cliques, some_edges};
use outcore_io::progress::Silent;
use outcore_testkit::cases;
use proptest::prelude::*;

fn of(method: Method, is_recorded: bool) -> ClusterOptions {
    let resolution = vec![method.default_resolution().unwrap_or(0.1)];
    ClusterOptions {
        method,
        resolution,
        recorded_teleportation: is_recorded && method.takes(MethodOption::Teleportation),
        ..ClusterOptions::default()
    }
}

fn multilevel() -> impl Strategy<Value = Method> {
    prop_oneof![Just(Method::MapEquation), Just(Method::Modularity), Just(Method::Cpm)]
}

fn directed(edges: Edges) -> Edges {
    Edges { directed: true, ..edges }
}

fn rules(options: &ClusterOptions) -> QualityRules {
    let recorded_teleportation = options.recorded_teleportation;
    QualityRules { resolution: options.resolution[0], recorded_teleportation }
}

/// Returns the objective of a method, larger is better, for labels of a graph.
fn rate(graph: &Graph, options: &ClusterOptions, labels: &[u32]) -> f64 {
    let rated = quality_by(graph, labels, rules(options), &Silent).unwrap();
    match options.method {
        Method::MapEquation => -rated.code_length.unwrap(),
        Method::Modularity => rated.modularity,
        _ => rated.cpm,
    }
}

/// Calls `visit` with the labels of each division of `count` nodes.
fn for_each_division(count: usize, visit: &mut impl FnMut(&[u32])) {
    fn extend(labels: &mut Vec<u32>, count: usize, visit: &mut impl FnMut(&[u32])) {
        if labels.len() == count {
            return visit(labels);
        }
        let next = labels.iter().max().map_or(0, |most| most + 1);
        for label in 0..=next {
            labels.push(label);
            extend(labels, count, visit);
            labels.pop();
        }
    }
    extend(&mut Vec::new(), count, visit);
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn communities_do_not_depend_on_threads_or_memory(
        edges in some_edges(),
        method in multilevel(),
        is_recorded in any::<bool>(),
        size in size_classes(),
        seed in 0..1000u64,
        levels in any::<bool>(),
        most in prop_oneof![Just(None), (1..30u32).prop_map(Some)],
    ) {
        let graph = directed(edges).graph();
        let options = ClusterOptions { seed, max_size: most, levels, ..of(method, is_recorded) };
        let find = |pool: usize, is_tight: bool| {
            POOLS[pool].install(|| {
                let least = options.memory(&graph, 0, rayon::current_num_threads()).total_bytes();
                let memory = if is_tight { least } else { PLENTY };
                let given = GivenLabels::default();
                let all = cluster_within(&graph, &options, given, memory, scratch(), as_size(size), &Silent);
                all.unwrap().with_scans(0)
            })
        };
        let expected = find(1, false);
        prop_assert!(most.is_none_or(|most| expected.largest() <= u64::from(most)));
        for (pool, is_tight) in [(0, true), (2, false), (2, true)] {
            prop_assert_eq!(&find(pool, is_tight), &expected);
        }
        let rated = quality_by(&graph, expected.labels(), rules(&options), &Silent).unwrap();
        prop_assert_eq!(rated.code_length.filter(|_| method == Method::MapEquation), expected.measures.code_length);
        prop_assert!(rated.disconnected_count == 0);
        let modularity = quality(&graph, expected.labels(), &Silent).unwrap().modularity;
        prop_assert!((modularity - expected.measures.modularity).abs() < 1e-9);
    }

    /// Where every arc has its reverse, there is nothing to know of directions.
    #[test]
    fn arcs_in_both_directions_are_edges(edges in some_edges(), method in multilevel(), seed in 0..100u64) {
        let pairs = edges.edges.iter().copied().filter(|(a, b, _)| a != b);
        let both: Vec<_> = pairs.clone().flat_map(|(a, b, w)| [(a, b, w), (b, a, w)]).collect();
        let arcs = Edges { directed: true, edges: both, ..edges.clone() };
        let edges = Edges { directed: false, edges: pairs.collect(), ..edges };
        let options = ClusterOptions { seed, ..of(method, false) };
        let (of_edges, of_arcs) = (find(&edges, &options), find(&arcs, &options));
        let (edges, arcs) = (edges.graph(), arcs.graph());
        for labels in [of_edges.labels(), of_arcs.labels()] {
            let [of_edges, of_arcs] = [&edges, &arcs].map(|graph| rate(graph, &options, labels));
            let of_arcs = if method == Method::Cpm { of_arcs / 2.0 } else { of_arcs };
            prop_assert!((of_edges - of_arcs).abs() <= 1e-9 * of_edges.abs().max(1.0), "{of_edges} {of_arcs}");
        }
        let [of_edges, of_arcs] = [of_edges.labels(), of_arcs.labels()].map(|l| rate(&edges, &options, l));
        prop_assert!((of_edges - of_arcs).abs() <= 0.01 * of_edges.abs().max(0.1), "{of_edges} for {of_arcs}");
    }
}

/// Of all divisions of small graphs, the best one is found nearly always.
#[test]
fn the_best_division_of_a_small_graph_is_found() {
    let (mut found, mut next) = ([0u32; 4], 7u64);
    let cases = 60;
    for case in 0..cases {
        let mut below = |bound: u64| {
            next = next
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((next >> 33) % bound) as u32
        };
        let count = 4 + below(4);
        let arcs = count + below(u64::from(2 * count));
        let weighted = case % 2 == 0;
        let edges = (0..arcs)
            .map(|_| {
                let (a, b) = (below(count.into()), below(count.into()));
                (a, b, if weighted { f64::from(1 + below(9)) } else { 1.0 })
            })
            .collect();
        let edges = Edges { node_count: count, directed: true, edges };
        let graph = edges.graph();
        let kinds = [
            of(Method::MapEquation, false),
            of(Method::MapEquation, true),
            of(Method::Modularity, false),
            of(Method::Cpm, false),
        ];
        for (options, found) in kinds.iter().zip(&mut found) {
            let mut best = f64::NEG_INFINITY;
            for_each_division(count as usize, &mut |labels| {
                // Communities are connected.
                if quality(&graph, labels, &Silent).unwrap().disconnected_count == 0 {
                    best = best.max(rate(&graph, options, labels));
                }
            });
            let labels = find(&edges, options);
            let rated = rate(&graph, options, labels.labels());
            assert!(rated <= best + 1e-9);
            assert!(rated >= best - 0.1 * best.abs().max(0.5), "{options:?}: {rated} for {best}");
            *found += u32::from(rated >= best - 1e-9);
        }
    }
    println!("{found:?} of {cases}");
    assert!(found.iter().all(|&found| found >= cases * 9 / 10), "{found:?} of {cases}");
}

/// Rosvall and Bergstrom's example: two rings of four nodes around which the walk goes, joined by lighter arcs. The code
/// lengths are those of Infomap 2.16 for these communities.
#[test]
fn flow_around_rings_keeps_them_together() {
    let ring = |first: u32| (0..4).map(move |at| (first + (at + 1) % 4, first + at, 4.0));
    let between = [(4, 0, 1.0), (0, 5, 1.0), (1, 7, 1.0), (6, 2, 1.0)];
    let edges = ring(0).chain(ring(4)).chain(between).collect();
    let edges = Edges { node_count: 8, directed: true, edges };
    for (is_recorded, length) in [(false, 2.594_648_810_822_451), (true, 2.834_311_958_428_173)] {
        let found = find(&edges, &of(Method::MapEquation, is_recorded));
        assert_eq!(found.labels(), [0, 0, 0, 0, 1, 1, 1, 1], "recorded: {is_recorded}");
        let found = found.measures.code_length.unwrap();
        assert!((found - length).abs() < 1e-10, "{found} for {length}");
    }
}

#[test]
fn graphs_without_flow_between_nodes_are_clustered() {
    let loops = directed(Edges::new(5, [(0, 0), (2, 2)]));
    let none = directed(Edges::new(3, []));
    let sink = directed(Edges::new(4, [(3, 0), (3, 1), (3, 2)]));
    for edges in [loops, none, sink, directed(Edges::new(0, []))] {
        for method in [Method::MapEquation, Method::Modularity, Method::Cpm] {
            for is_recorded in [false, true] {
                let found = find(&edges, &of(method, is_recorded));
                assert_eq!(found.labels().len(), edges.node_count as usize);
                let length = found.measures.code_length;
                assert!(length.is_none_or(|length| (0.0..8.0).contains(&length)), "{length:?}");
            }
        }
    }
}

#[test]
fn an_initial_result_of_a_directed_graph_stays() {
    let edges = directed(ring_of_cliques(30, 6));
    let graph = edges.graph();
    for method in [Method::MapEquation, Method::Modularity] {
        let options = of(method, false);
        let first = find(&edges, &options);
        let given = GivenLabels { initial: first.labels().to_vec(), fixed: Vec::new() };
        let again = POOLS[1]
            .install(|| cluster_from(&graph, &options, given, PLENTY, scratch(), &Silent).unwrap());
        assert!(
            rate(&graph, &options, again.labels()) >= rate(&graph, &options, first.labels()) - 1e-9
        );
        assert_eq!(first.labels(), again.labels());
    }
}

#[test]
fn recorded_teleportation_needs_directions_and_a_walk() {
    let options = ClusterOptions { recorded_teleportation: true, ..of(Method::Modularity, false) };
    assert_eq!(options.check().unwrap_err().kind(), ErrorKind::Usage);
    let graph = ring_of_cliques(3, 4).graph();
    let options = of(Method::MapEquation, true);
    let error = cluster(&graph, &options, PLENTY, scratch(), &Silent).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("undirected"), "{error}");
}
