//! Tests of label propagation with options beyond its plain form.

use super::prelude::*;
use crate::methods::options::{AttenuationRule, Seeding, Visits};
use crate::score::quality;
use crate::tests::{Edges, PLENTY, POOLS, find, max_sizes, plain, scratch, some_edges};
use outcore_io::progress::Silent;
use outcore_testkit::cases;
use proptest::prelude::*;

/// Generates options of label propagation.
fn some_options() -> impl Strategy<Value = ClusterOptions> {
    let attenuation = prop_oneof![Just(0.0), Just(0.02), Just(0.3), Just(0.5), Just(1.0)];
    let cutoff = prop_oneof![3 => Just(0.0), 1 => Just(0.15), 1 => Just(1.0), 1 => Just(2.5)];
    let visits = prop_oneof![
        Just(Visits::Any),
        (1..4u32).prop_map(Visits::Most),
        Just(Visits::RootOfDegree)
    ];
    let sweeps = prop_oneof![Just((30, 0.001)), Just((4, 0.0)), Just((u32::MAX, 0.0))];
    let choices = (0..1000u64, 0..4u8, max_sizes());
    (attenuation, cutoff, visits, sweeps, choices).prop_map(
        |(attenuation, label_cutoff, max_visits, (max_sweeps, tolerance), choices)| {
            let (seed, kinds, max_size) = choices;
            let propagation = PropagationOptions {
                attenuation: vec![attenuation],
                attenuation_rule: [AttenuationRule::Hops, AttenuationRule::Change]
                    [kinds as usize % 2],
                label_cutoff,
                max_visits,
                ..PropagationOptions::default()
            };
            let max_sweeps = Some(max_sweeps);
            let seeding = [Seeding::Star, Seeding::Own][kinds as usize / 2];
            ClusterOptions {
                seed,
                max_sweeps,
                tolerance,
                max_size,
                seeding,
                propagation,
                ..plain()
            }
        },
    )
}

/// Generates labels for some nodes of a graph, or for none.
fn some_labels(node_count: u32) -> impl Strategy<Value = Vec<u32>> {
    let label = prop_oneof![2 => Just(u32::MAX), 1 => 0..5u32, 1 => any::<u32>()];
    let labels = proptest::collection::vec(label, node_count as usize);
    (0..3u8, labels).prop_map(move |(kind, labels)| {
        let fit = |label: u32| if label == u32::MAX { label } else { label % node_count };
        if kind == 0 { Vec::new() } else { labels.into_iter().map(fit).collect() }
    })
}

fn some_start() -> impl Strategy<Value = (Edges, GivenLabels)> {
    some_edges().prop_flat_map(|edges| {
        let labels = (some_labels(edges.node_count), some_labels(edges.node_count));
        (Just(edges), labels.prop_map(|(initial, fixed)| GivenLabels { initial, fixed }))
    })
}

/// Runs with various threads, memory limits and table sizes, and checks that the results are the same.
fn results(graph: &Graph, options: &ClusterOptions, given: &GivenLabels) -> Communities {
    let tiny = ScratchLimits { large_degree: 3, max_labels: 2, ..ScratchLimits::default() };
    let mut first: Option<Communities> = None;
    for (pool, spare, limits) in
        [(0, 0, ScratchLimits::default()), (1, PLENTY, ScratchLimits::default()), (2, 3000, tiny)]
    {
        let found = POOLS[pool].install(|| {
            let threads = rayon::current_num_threads();
            let memory = options.memory(graph, given.count(), threads).total_bytes() + spare;
            cluster_within(graph, options, given.clone(), memory, scratch(), limits, &Silent)
                .unwrap()
        });
        // Strengths that are stored save scans.
        let found = found.with_scans(0);
        if let Some(first) = &first {
            assert_eq!(first, &found);
        }
        first = Some(found);
    }
    first.unwrap()
}

/// Returns the options with a size limit that has room for the fixed nodes.
fn roomy(options: ClusterOptions, given: &GivenLabels) -> ClusterOptions {
    let count = |label: u32| given.fixed.iter().filter(|&&other| other == label).count() as u32;
    let labels = given.fixed.iter().filter(|&&label| label != u32::MAX);
    let least = labels.map(|&label| count(label)).max().unwrap_or(0);
    ClusterOptions { max_size: options.max_size.map(|most| most.max(least)), ..options }
}

fn with(propagation: PropagationOptions) -> ClusterOptions {
    ClusterOptions { propagation, ..plain() }
}

proptest! {
    #![proptest_config(cases(150))]

    /// Attenuation, cutoff, visits, initial and fixed labels, in any combination; the sweeps always end.
    #[test]
    fn propagation_matches_the_oracle((edges, given) in some_start(), options in some_options()) {
        let (graph, options) = (edges.graph(), roomy(options, &given));
        let oracle = edges.oracle_from(&graph, &options, given.clone());
        let expected = oracle.cluster();
        let found = results(&graph, &options, &given);
        prop_assert_eq!((found.history.sweeps.count, found.history.arcs), (expected.1, expected.2));
        prop_assert_eq!(found.labels(), &expected.0);
        prop_assert!(options.max_size.is_none_or(|most| found.largest() <= u64::from(most)));
        let rated = quality(&graph, found.labels(), &Silent).unwrap();
        if given.fixed.is_empty() {
            prop_assert_eq!(rated.disconnected_count, 0);
        }
        prop_assert!((rated.modularity - found.measures.modularity).abs() < 1e-12);
        for (v, &label) in given.fixed.iter().enumerate().filter(|(_, l)| **l != u32::MAX) {
            for (u, _) in given.fixed.iter().enumerate().filter(|(_, l)| **l != u32::MAX) {
                prop_assert_eq!(given.fixed[u] == label, found.labels()[u] == found.labels()[v]);
            }
        }
    }

    /// A minimum weight gives the same result as a graph without lighter edges.
    #[test]
    fn a_view_equals_a_graph_with_its_weights(
        edges in some_edges(),
        min_weight in prop_oneof![Just(0.0), Just(0.2), Just(1.0)],
        seed in 0..1000u64,
    ) {
        let options = ClusterOptions { seed, min_weight, ..plain() };
        let found = results(&edges.graph(), &options, &GivenLabels::default());
        let changed = edges.heavier_than(min_weight);
        let options = ClusterOptions { seed, ..plain() };
        let expected = find(&changed, &options);
        prop_assert_eq!(&found.labels, &expected.labels);
        prop_assert!((found.measures.modularity - expected.measures.modularity).abs() < 1e-9);
    }
}

#[test]
fn a_clustering_continues_from_an_earlier_result() {
    let mut edges = crate::tests::ring_of_cliques(60, 8);
    let options = plain();
    let before = find(&edges, &options);
    let given = |labels: &[u32]| GivenLabels { initial: labels.to_vec(), fixed: Vec::new() };
    let again = results(&edges.graph(), &options, &given(before.labels()));
    assert_eq!(
        (again.labels(), again.history.sweeps.count, again.history.last_moved),
        (before.labels(), 1, 0)
    );
    // A new clique next to the first.
    for a in 480..488 {
        edges.edges.extend((480..a).map(|b| (a, b, 1.0)));
    }
    edges.edges.push((480, 0, 1.0));
    edges.node_count = 488;
    let mut labels = before.labels().to_vec();
    labels.extend([u32::MAX; 8]);
    let found = results(&edges.graph(), &options, &given(&labels));
    assert_eq!(found.community_count(), before.community_count() + 1);
    assert!(found.labels()[480..].iter().all(|&label| label == found.labels()[480]));
}

/// Labels flow along edges: a node without incoming edges keeps its own.
#[test]
fn directed_labels_flow_along_edges() {
    // An arc is stored at the node that it points to.
    let chain = Edges { directed: true, ..Edges::new(20, (1..20).map(|v| (v, v - 1))) };
    let options = ClusterOptions { max_sweeps: Some(100), tolerance: 0.0, ..plain() };
    let found = find(&chain, &options);
    assert_eq!((found.community_count(), found.history.last_moved), (1, 0));
    let source = Edges { directed: true, ..Edges::new(9, (1..9).map(|v| (v, 0))) };
    assert_eq!(find(&source, &options).community_count(), 1);
    let sink = Edges { directed: true, ..Edges::new(9, (1..9).map(|v| (0, v))) };
    let found = find(&sink, &options);
    assert_eq!(found.largest(), 2, "the sink takes one of its sources' labels: {:?}", found.sizes);
}

#[test]
fn attenuation_keeps_labels_near() {
    let path = Edges::new(3000, (0..2999).map(|v| (v, v + 1)));
    let of = |attenuation: f64| {
        let propagation =
            PropagationOptions { attenuation: vec![attenuation], ..PropagationOptions::default() };
        find(&path, &ClusterOptions { tolerance: 0.0, ..with(propagation) })
    };
    assert!(of(1.0).largest() <= 3, "{}", of(1.0).largest());
    let grid = (0..2500u32).flat_map(|v| [(v, v + 1), (v, v + 50)]).filter(|&(_, u)| u < 2500);
    let grid = Edges::new(2500, grid);
    let counts = [0.0, 0.1, 0.5].map(|attenuation| {
        let propagation =
            PropagationOptions { attenuation: vec![attenuation], ..PropagationOptions::default() };
        find(&grid, &with(propagation)).community_count()
    });
    assert!(counts[0] < counts[2], "{counts:?}");
}

#[test]
fn meaningless_options_are_refused() {
    let graph = crate::tests::ring_of_cliques(3, 4).graph();
    let default = PropagationOptions::default;
    for (propagation, words) in [
        (PropagationOptions { attenuation: vec![], ..default() }, "--attenuation"),
        (PropagationOptions { attenuation: vec![1.5], ..default() }, "--attenuation"),
        (PropagationOptions { attenuation: vec![0.5, 0.5], ..default() }, "twice"),
        (PropagationOptions { label_cutoff: -1.0, ..default() }, "--label-cutoff"),
        (PropagationOptions { max_visits: Visits::Most(0), ..default() }, "--max-visits"),
    ] {
        let error = cluster(&graph, &with(propagation), PLENTY, scratch(), &Silent).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.message().contains(words), "{error}");
    }
    let propagation = PropagationOptions { label_cutoff: 1.0, ..default() };
    let options = ClusterOptions { method: Method::Components, ..with(propagation) };
    assert!(cluster(&graph, &options, PLENTY, scratch(), &Silent).is_err());
}
