//! Tests of connected components.

use super::prelude::*;
use crate::score::quality;
use crate::tests::{Edges, PLENTY, POOLS, find, scratch, some_edges};
use outcore_io::progress::Silent;
use proptest::prelude::*;

fn components(min_weight: f64) -> ClusterOptions {
    ClusterOptions { method: Method::Components, min_weight, ..ClusterOptions::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Holds for any memory and threads, with and without a minimum weight, which gives the same result as a graph
    /// built without lighter arcs.
    #[test]
    fn components_are_the_connected_pieces(
        edges in some_edges(),
        min_weight in prop_oneof![Just(0.0), Just(0.2), Just(1.0), Just(1.5), Just(3e5)],
    ) {
        let graph = edges.graph();
        let options = components(min_weight);
        let heavy = edges.heavier_than(min_weight);
        let heavy_graph = heavy.graph();
        let oracle = heavy.oracle(&heavy_graph, &options);
        let expected = oracle.finish(&vec![0; edges.node_count as usize]);
        for (pool, spare) in [(0, 0), (1, PLENTY), (2, 3000)] {
            let found = POOLS[pool].install(|| {
                let needed = options.memory(&graph, 0, rayon::current_num_threads()).total_bytes();
                cluster(&graph, &options, needed + spare, scratch(), &Silent).unwrap()
            });
            prop_assert_eq!(found.labels(), &expected);
            prop_assert_eq!((found.history.sweeps.count, found.measures.coverage), (0, 1.0));
            let rated = quality(&heavy_graph, found.labels(), &Silent).unwrap();
            prop_assert!((rated.modularity - found.measures.modularity).abs() < 1e-9);
            prop_assert_eq!(rated.sizes.community_count, found.community_count());
        }
    }
}

/// With more components than a window of strengths holds, several scans compute the strengths.
#[test]
fn many_components_are_rated_with_little_memory() {
    let pairs = 300_000u32;
    let edges = Edges::new(2 * pairs, (0..pairs).map(|i| (2 * i, 2 * i + 1)));
    let graph = edges.graph();
    let needed = components(0.0).memory(&graph, 0, rayon::current_num_threads()).total_bytes();
    let found = cluster(&graph, &components(0.0), needed, scratch(), &Silent).unwrap();
    assert_eq!(found.sizes, [SizeCount { size: 2, count: u64::from(pairs) }]);
    assert!((found.measures.modularity - (1.0 - 1.0 / f64::from(pairs))).abs() < 1e-12);
    assert_eq!(found.history.sweeps.scans, 4);
    let again = find(&edges, &components(0.0));
    assert_eq!(again.history.sweeps.scans, 2);
    assert_eq!(found, again.with_scans(4));
}

#[test]
fn components_need_less_memory_than_labels() {
    let graph = Edges::new(3_000_000, [(0, 2_999_999)]).graph();
    let labels = ClusterOptions::default().memory(&graph, 0, 2);
    assert!(components(0.0).memory(&graph, 0, 2).node_bytes < labels.node_bytes * 6 / 10);
}
