//! Options from the whole range of their types, on small graphs: options that `check` accepts give communities or a
//! proper error, options that it refuses are refused everywhere, and nothing panics.

use super::common::MIB;
use outcore::budget::Limits;
use outcore::cluster::{
    AttenuationRule, ClusterOptions, Communities, GivenLabels, Method, PropagationOptions, Seeding,
    Visits, cluster, cluster_from,
};
use outcore::graph::Weight;
use outcore::graph::{ArcRecord, Duplicates, Graph, GraphOptions, GraphWriter};
use outcore::io::Files;
use outcore::plan::{Clustering, GivenSize, Plan};
use outcore::present::PresentOptions;
use outcore::progress::Silent;
use outcore::{ErrorKind, Result};
use outcore_testkit::cases;
use outcore_testkit::sim::Sim;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Generates mostly a fraction of one or a little more, sometimes any number.
fn any_number() -> impl Strategy<Value = f64> {
    let extreme =
        prop_oneof![Just(0.0), Just(f64::MIN_POSITIVE), Just(1e-300), Just(1e300), Just(f64::MAX)];
    prop_oneof![4 => 0.0..2.0, 2 => Just(1.0), 1 => extreme, 1 => any::<f64>()]
}

fn any_count() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 1..6u32, 1 => Just(0), 1 => any::<u32>()]
}

fn any_visits() -> impl Strategy<Value = Visits> {
    prop_oneof![Just(Visits::Any), any_count().prop_map(Visits::Most), Just(Visits::RootOfDegree)]
}

fn any_propagation() -> impl Strategy<Value = PropagationOptions> {
    let rule = prop_oneof![Just(AttenuationRule::Hops), Just(AttenuationRule::Change)];
    let attenuation = vec(prop_oneof![3 => 0.0..=1.0, 1 => any_number()], 0..4);
    let fixed = weighted(0.1, Just("f".into()));
    (attenuation, rule, any_number(), any_visits(), fixed).prop_map(
        |(attenuation, attenuation_rule, label_cutoff, max_visits, fixed)| PropagationOptions {
            attenuation,
            attenuation_rule,
            label_cutoff,
            max_visits,
            fixed,
        },
    )
}

fn any_options() -> impl Strategy<Value = ClusterOptions> {
    let method = prop_oneof![
        1 => Just(Method::MapEquation),
        1 => Just(Method::Modularity),
        1 => Just(Method::Cpm),
        3 => Just(Method::LabelPropagation),
        1 => Just(Method::Components),
    ];
    let one = vec(any_number(), 1..2);
    let resolution = prop_oneof![one, vec(any_number(), 0..4)];
    let seed = prop_oneof![any::<u64>(), Just(u64::MAX)];
    let seeding = prop_oneof![Just(Seeding::Star), Just(Seeding::Own)];
    let trials = weighted(0.4, prop_oneof![8 => 1..4u32, 1 => Just(0)]);
    let limits = (any_count(), weighted(0.3, any_count()), weighted(0.3, any_count()), trials);
    let numbers = (any_number(), prop_oneof![2 => Just(0.0), 1 => any_number()]);
    let propagation = weighted(0.7, any_propagation());
    let bounds = prop::sample::select(vec!["log10", "3log2", "0.4n", "0", "2"]);
    let bound = weighted(0.3, bounds.prop_map(|text| text.parse().expect("a bound")));
    let initial = weighted(0.1, Just("f".into()));
    let thresholds = weighted(0.3, (vec(any_number(), 0..4), any::<bool>()));
    let rest = (any::<bool>(), seeding, propagation, bound, initial, thresholds);
    (method, resolution, seed, limits, numbers, rest).prop_map(
        |(
            method,
            resolution,
            seed,
            limits,
            numbers,
            (levels, seeding, propagation, well_connected, initial, thresholds),
        )| {
            let (cycles, max_sweeps, max_size, trials) = limits;
            let (tolerance, min_weight) = numbers;
            let propagates = method == Method::LabelPropagation;
            let propagation = propagation.filter(|_| propagates).unwrap_or_default();
            let (thresholds, heights) = thresholds.unwrap_or_default();
            let levels = levels && (method.is_multilevel() || thresholds.len() > 1);
            let initial = initial.filter(|_| method != Method::Components && !levels);
            let max_size = max_size.filter(|_| method != Method::Components);
            ClusterOptions {
                method,
                resolution,
                cycles,
                trials: trials.filter(|_| method.is_multilevel()),
                stability: false,
                seed,
                max_sweeps,
                tolerance,
                min_weight,
                thresholds,
                heights,
                levels,
                max_size,
                well_connected,
                seeding,
                recorded_teleportation: false,
                initial,
                propagation,
            }
        },
    )
}

/// Number of nodes, whether the graph is directed, and edges.
type Shape = (u32, bool, Vec<(u32, u32, f64)>);

/// Generates small graphs, some with loops or nodes without edges, and weights of any unit.
fn any_graph() -> impl Strategy<Value = Shape> {
    let unit = prop_oneof![3 => Just(1.0), 1 => Just(1e-300), 1 => Just(1e300)];
    let weight = prop_oneof![Just(1.0), 0.001..1000.0];
    (0..12u32, any::<bool>(), unit).prop_flat_map(move |(nodes, directed, unit)| {
        let most = if nodes == 0 { 1 } else { 40 };
        let weight = weight.clone().prop_map(move |weight| weight * unit);
        (Just(nodes), Just(directed), vec((0..nodes.max(1), 0..nodes.max(1), weight), 0..most))
    })
}

fn graph_of(files: &Files, (node_count, directed, edges): &Shape) -> Result<Graph> {
    let mut arcs = BTreeMap::new();
    for &(source, target, weight) in edges {
        let weight = Weight::new(weight).code();
        arcs.insert((source, target), weight);
        if !directed {
            arcs.insert((target, source), weight);
        }
    }
    let arc = |((source, target), weight)| ArcRecord { source, target, weight };
    let arcs: Vec<ArcRecord> = arcs.into_iter().map(arc).collect();
    let options = GraphOptions {
        node_count: u64::from(*node_count),
        directed: *directed,
        duplicates: Duplicates::Max,
        keep_loops: true,
    };
    let mut writer = GraphWriter::create(files, Path::new("graph"), &options)?;
    writer.push(&arcs)?;
    writer.finish()?;
    Graph::open(files, Path::new("graph"))
}

fn check(found: Communities, options: &ClusterOptions, graph: &Graph, files: &Files) -> Result<()> {
    let nodes = graph.node_count();
    let in_sizes: u64 = found.sizes.iter().map(|row| u64::from(row.size) * row.count).sum();
    assert_eq!(in_sizes, nodes);
    assert!(options.max_size.is_none_or(|most| found.largest() <= most.into()));
    // Powers of weights near the limits of floating point overflow or underflow.
    let is_usual = (1e-6..1e6).contains(&graph.weight_total());
    let is_finite = found.measures.modularity.is_finite() && found.measures.coverage.is_finite();
    assert!(!is_usual || is_finite);
    let community_count = found.community_count();
    let labels = found.labels.into_memory(files)?;
    let distinct: BTreeSet<_> = labels.iter().collect();
    assert_eq!((labels.len() as u64, distinct.len() as u64), (nodes, community_count));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..cases(600) })]

    #[test]
    fn accepted_options_give_communities_and_others_are_refused(
        options in any_options(),
        graph in any_graph(),
        memory in prop_oneof![3 => Just(64 * MIB), 1 => Just(0), 1 => 0..20 * MIB, 1 => Just(u64::MAX)],
        threads in 1..3usize,
        given in prop_oneof![3 => Just(None), 1 => (0..14u32).prop_map(Some)],
    ) {
        let files = Files::new(Arc::new(Sim::new()));
        let graph = graph_of(&files, &graph).expect("it is in memory");
        let is_accepted = options.check().is_ok();
        let scratch = Path::new("scratch");
        let given = given.map_or_else(GivenLabels::default, |count| GivenLabels {
            initial: (0..count).map(|node| node / 2).collect(),
            fixed: (0..count).map(|node| if node % 3 == 0 { node } else { u32::MAX }).collect(),
        });
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.expect("the system has threads");
        let of_each = if is_accepted { options.of_each_result() } else { vec![options.clone()] };
        for own in of_each {
            let given = given.clone();
            match pool.install(|| cluster_from(&graph, &own, given, memory, scratch, &Silent)) {
                Ok(found) => {
                    prop_assert!(is_accepted);
                    check(found, &own, &graph, &files).expect("it is in memory");
                }
                Err(error) if !is_accepted => {
                    prop_assert_eq!(error.kind(), ErrorKind::Usage, "{}", error);
                }
                Err(error) => {
                    let kinds = [ErrorKind::Usage, ErrorKind::MemoryTooSmall];
                    prop_assert!(kinds.contains(&error.kind()), "{}", error);
                }
            }
        }
        let one = pool.install(|| cluster(&graph, &options, memory, scratch, &Silent));
        if let Err(error) = one {
            let kinds = [ErrorKind::Usage, ErrorKind::MemoryTooSmall];
            prop_assert!(kinds.contains(&error.kind()), "{}", error);
        }
        let present = PresentOptions::default();
        let clustering = Some(Clustering { options: &options, present: &present });
        let size = GivenSize {
            node_count: 1000,
            edge_count: 5000,
            name_bytes: None,
            is_weighted: true,
            is_directed: graph.is_directed(),
            has_self_scores: false,
        };
        let limits = Limits { memory_bytes: memory.clamp(64 * MIB, 1 << 40), threads };
        let plan = size.input().and_then(|input| Plan::new(input, limits, &files.tuning(), clustering));
        prop_assert!(is_accepted || plan.is_err());
    }
}

/// For functions that return one result.
#[test]
fn several_values_are_refused_where_one_result_is_returned() {
    let files = Files::new(Arc::new(Sim::new()));
    let graph = graph_of(&files, &(3, false, vec![(0, 1, 1.0), (1, 2, 1.0)])).unwrap();
    let several = ClusterOptions {
        method: Method::Modularity,
        resolution: vec![0.5, 1.0],
        ..ClusterOptions::default()
    };
    several.check().unwrap();
    let find = |options| cluster(&graph, options, 64 * MIB, Path::new("scratch"), &Silent);
    assert_eq!(find(&several).unwrap_err().kind(), ErrorKind::Usage);
    let one = ClusterOptions { resolution: vec![0.5], ..several.clone() };
    assert_eq!(find(&one).unwrap().labels.count(), 3);
}
