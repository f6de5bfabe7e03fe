//! Tests of clusterings that start from given communities: changes are found, and the rest stays.

use super::prelude::*;
use crate::base::hash::mix;
use crate::drive::job::SizeClass;
use crate::score::quality;
use crate::tests::{
    Edges, PLENTY, POOLS, as_size, ring_of_cliques, scratch, size_classes, some_edges,
};
use outcore_io::progress::Silent;
use outcore_testkit::cases;
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const NONE: u32 = u32::MAX;
const METHODS: [Method; 3] = [Method::MapEquation, Method::Modularity, Method::Cpm];

pub(crate) fn of(method: Method) -> ClusterOptions {
    let resolution = vec![method.default_resolution().unwrap_or(0.2)];
    ClusterOptions { method, resolution, ..ClusterOptions::default() }
}

fn given(labels: &[u32]) -> GivenLabels {
    GivenLabels { initial: labels.to_vec(), fixed: Vec::new() }
}

fn find(edges: &Edges, options: &ClusterOptions, labels: &[u32]) -> Communities {
    find_in(edges, options, labels, ScratchLimits::default())
}

/// Observer that counts warnings.
#[derive(Default)]
struct Warnings(AtomicU32);

impl Observer for Warnings {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        if matches!(event, Event::Warning { .. }) {
            self.0.fetch_add(1, Relaxed);
        }
        ControlFlow::Continue(())
    }
}

/// A clustering that starts over from scratch emits a warning.
#[test]
fn only_labels_far_from_any_solution_are_warned_of() {
    let edges = planted(3, 6);
    for (labels, warned) in
        [(0..1200).collect::<Vec<u32>>(), (0..1200).map(|v| v / 20).collect()].iter().zip([1, 0])
    {
        let (graph, options, warnings) =
            (edges.graph(), ClusterOptions::default(), Warnings::default());
        let found = cluster_from(&graph, &options, given(labels), PLENTY, scratch(), &warnings);
        assert_eq!(warnings.0.into_inner(), warned);
        assert_eq!(found.unwrap().labels.count(), 1200);
    }
}

fn find_in(
    edges: &Edges,
    options: &ClusterOptions,
    labels: &[u32],
    limits: ScratchLimits,
) -> Communities {
    let (graph, given) = (edges.graph(), given(labels));
    let find = || cluster_within(&graph, options, given, PLENTY, scratch(), limits, &Silent);
    POOLS[1].install(find).unwrap()
}

/// Returns limits that make a graph count as large, so that only some communities are examined.
fn large() -> ScratchLimits {
    as_size(SizeClass::Large)
}

/// Returns the objective of labels; larger is better.
fn objective(edges: &Edges, method: Method, labels: &[u32]) -> f64 {
    let rated = quality(&edges.graph(), labels, &Silent).unwrap();
    match method {
        Method::MapEquation => -rated.code_length.unwrap(),
        Method::Modularity => rated.modularity,
        _ => panic!("its objective is not rated"),
    }
}

/// Returns the share of communities that are also communities of `after`, among those that `counts`.
fn kept(before: &[u32], after: &[u32], counts: impl Fn(u32) -> bool) -> f64 {
    let members = |labels: &[u32]| {
        let mut members = vec![Vec::new(); labels.iter().max().map_or(0, |&l| l as usize + 1)];
        (0u32..).zip(labels).for_each(|(node, &label)| members[label as usize].push(node));
        members
    };
    let after: std::collections::HashSet<_> = members(after).into_iter().collect();
    let before = (0..).zip(members(before)).filter(|(label, _)| counts(*label));
    let kept: Vec<bool> = before.map(|(_, members)| after.contains(&members)).collect();
    kept.iter().filter(|kept| **kept).count() as f64 / kept.len() as f64
}

/// Random edges in groups of twenty, eight per node, and more to any node.
fn planted(outside: u32, seed: u64) -> Edges {
    let (groups, size) = (60, 20);
    let (mut at, nodes) = (seed << 32, groups * size);
    let mut below = |bound: u32| {
        at += 1;
        (mix(at) % u64::from(bound)) as u32
    };
    let edges = (0..nodes * (8 + outside)).map(|edge| {
        let node = edge % nodes;
        let is_inside = edge / nodes < 8;
        (node, if is_inside { node / size * size + below(size) } else { below(nodes) })
    });
    Edges::new(nodes, edges.collect::<Vec<_>>())
}

/// Returns the communities of another seed, with some nodes moved to another community and some without one.
pub(crate) fn disturbed(edges: &Edges, options: &ClusterOptions) -> GivenLabels {
    let options = ClusterOptions { seed: options.seed + 1, trials: Some(1), ..options.clone() };
    let found = super::find(edges, &options);
    let mut labels = found.labels().to_vec();
    for node in 0..labels.len() {
        match node % 37 {
            3 => labels[node] = NONE,
            5 => labels[node] = labels[0],
            _ => {}
        }
    }
    given(&labels)
}

proptest! {
    #![proptest_config(cases(200))]

    /// Neither threads nor memory nor the size of tables change the result; it is connected and within the limit.
    #[test]
    fn the_result_depends_on_the_graph_and_the_labels_alone(
        edges in some_edges(),
        method in prop::sample::select(&METHODS[..]),
        seed in 0..1000u64,
        kind in 0..4u64,
        max_size in prop_oneof![3 => Just(None), 1 => (1..30u32).prop_map(Some)],
        size in size_classes(),
        trials in prop_oneof![1 => Just(None), 5 => Just(Some(2))],
    ) {
        let edges = Edges { directed: false, ..edges };
        let options = ClusterOptions { seed, max_size, trials, ..of(method) };
        let nodes = u64::from(edges.node_count);
        let labels: Vec<u32> = match kind {
            0 => disturbed(&edges, &options).initial,
            1 => (0..nodes).map(|node| (mix(seed ^ node) % nodes) as u32).collect(),
            2 => vec![0; nodes as usize],
            _ => (0..nodes).map(|node| if node % 3 == 0 { NONE } else { (node / 7) as u32 }).collect(),
        };
        let graph = edges.graph();
        let normal = as_size(size);
        let tiny = ScratchLimits { large_degree: 3, max_labels: 2, ..normal };
        let mut first: Option<Communities> = None;
        for (pool, spare, limits) in [(0, 0, normal), (1, PLENTY, normal), (2, 3000, normal), (2, 0, tiny)] {
            let found = POOLS[pool].install(|| {
                let memory = options.memory(&graph, 1, rayon::current_num_threads()).total_bytes();
                let (given, memory) = (given(&labels), memory + spare);
                cluster_within(&graph, &options, given, memory, scratch(), limits, &Silent).unwrap()
            });
            let found = found.with_scans(0);
            if let Some(first) = &first {
                prop_assert_eq!(first, &found);
            }
            first = Some(found);
        }
        let found = first.unwrap();
        prop_assert!(max_size.is_none_or(|most| found.largest() <= u64::from(most)));
        let rated = quality(&graph, found.labels(), &Silent).unwrap();
        prop_assert_eq!(rated.disconnected_count, 0);
        prop_assert!((rated.modularity - found.measures.modularity).abs() < 1e-12);
    }

    /// The result is at least as good as the given labels, split into connected pieces.
    #[test]
    fn the_objective_does_not_get_worse(
        edges in some_edges(),
        method in prop::sample::select(&METHODS[..2]),
        seed in 0..1000u64,
        all in any::<bool>(),
    ) {
        let edges = Edges { directed: false, ..edges };
        let options = ClusterOptions { seed, ..of(method) };
        let before = super::find(&edges, &ClusterOptions { seed: seed + 1, ..options.clone() });
        let limits = if all { ScratchLimits::default() } else { large() };
        let found = find_in(&edges, &options, before.labels(), limits);
        let [was, is] = [before.labels(), found.labels()].map(|l| objective(&edges, method, l));
        prop_assert!(is >= was - 1e-6 * was.abs(), "{is} after {was}");
    }

    /// A clustering that starts with its own result returns it, if the graph is not large.
    #[test]
    fn a_second_start_changes_nothing(
        edges in some_edges(),
        method in prop::sample::select(&METHODS[..]),
        seed in 0..1000u64,
        communities in 1..40u64,
        size in prop_oneof![Just(SizeClass::Small), Just(SizeClass::Medium)],
    ) {
        let edges = Edges { directed: false, ..edges };
        let options = ClusterOptions { seed, trials: Some(2), ..of(method) };
        let nodes = u64::from(edges.node_count);
        let labels: Vec<u32> = (0..nodes).map(|node| (mix(seed ^ node) % communities.min(nodes)) as u32).collect();
        let first = find_in(&edges, &options, &labels, as_size(size));
        let second = find_in(&edges, &options, first.labels(), as_size(size));
        prop_assert_eq!(first.labels(), second.labels());
    }
}

/// A ring of cliques whose weights differ by orders of magnitude: single moves cannot lead from the planted communities
/// to better ones.
#[test]
fn communities_worse_than_those_of_a_fresh_run_are_warned_of() {
    let mut edges = ring_of_cliques(20, 25);
    let weight = |edge: usize| (1.0 - (mix(edge as u64) % 1000) as f64 / 1000.0).powf(-1.2);
    (0..).zip(&mut edges.edges).for_each(|(edge, (_, _, of_edge))| *of_edge = weight(edge));
    let planted: Vec<u32> = (0..500).map(|node| node / 25).collect();
    let (graph, options) = (edges.graph(), ClusterOptions::default());
    for (labels, warned) in [(planted, 1), (super::find(&edges, &options).labels().to_vec(), 0)] {
        let (observer, limits) = (Warnings::default(), ScratchLimits::default());
        let given = given(&labels);
        cluster_within(&graph, &options, given, PLENTY, scratch(), limits, &observer).unwrap();
        assert_eq!(observer.0.into_inner(), warned);
    }
}

#[test]
fn a_good_result_stays_as_it_is() {
    let edges = planted(3, 1);
    for method in METHODS {
        let fresh = super::find(&edges, &of(method));
        for limits in [ScratchLimits::default(), large()] {
            let found = find_in(&edges, &of(method), fresh.labels(), limits);
            assert!(kept(fresh.labels(), found.labels(), |_| true) >= 0.99, "{method:?}");
            assert!(
                found.history.sweeps.count < fresh.history.sweeps.count,
                "{method:?}: {} sweeps",
                found.history.sweeps.count
            );
        }
    }
}

#[test]
fn other_communities_stay_when_one_is_divided() {
    let truth: Vec<u32> = (0..1200).map(|node| node / 20).collect();
    // Groups 0 and 1 were together, and 20 and 21.
    let merge = |group: u32| if [1, 21].contains(&group) { group - 1 } else { group };
    let before: Vec<u32> = truth.iter().map(|&group| merge(group)).collect();
    for method in [Method::MapEquation, Method::Cpm] {
        // In a large graph, communities are examined that have lost much of their weight.
        for (outside, limits) in [(3, ScratchLimits::default()), (8, large())] {
            let edges = planted(outside, 2);
            let found = find_in(&edges, &of(method), &before, limits);
            let divided = kept(&truth, found.labels(), |group| [0, 1, 20, 21].contains(&group));
            assert_eq!(divided, 1.0, "{method:?}, {outside} edges outside");
            assert!(kept(&truth, found.labels(), |_| true) >= 0.95, "{method:?}");
        }
    }
    // Modularity divides a community that is tied by one edge.
    let edges = ring_of_cliques(12, 12);
    let before: Vec<u32> = (0..144).map(|node| node / 24).collect();
    let truth: Vec<u32> = (0..144).map(|node| node / 12).collect();
    let found = find(&edges, &of(Method::Modularity), &before);
    assert_eq!(kept(&truth, found.labels(), |_| true), 1.0, "{:?}", found.sizes);
}

#[test]
fn communities_merge_when_many_edges_join_them() {
    let mut edges = planted(3, 3);
    let before: Vec<u32> = (0..1200).map(|node| node / 20).collect();
    // As many edges between the groups 10 and 11 as inside each.
    let joins = (0..160).map(|edge: u64| {
        (200 + (mix(edge) % 20) as u32, 220 + (mix(edge ^ 1 << 40) % 20) as u32, 1.0)
    });
    edges.edges.extend(joins);
    for method in [Method::MapEquation, Method::Cpm] {
        let found = find(&edges, &of(method), &before);
        let labels = found.labels();
        assert!(labels[200..240].iter().all(|&label| label == labels[200]), "{method:?}");
        let others = kept(&before, labels, |group| ![10, 11].contains(&group));
        assert!(others >= 0.95, "{method:?}: {others}");
    }
}

#[test]
fn new_nodes_join_the_communities_around_them() {
    let edges = planted(3, 4);
    let truth: Vec<u32> = (0..1200).map(|node| node / 20).collect();
    let before: Vec<u32> =
        (0..1200).map(|node: u32| if node % 10 == 7 { NONE } else { node / 20 }).collect();
    for method in METHODS {
        let fresh = super::find(&edges, &of(method));
        let found = find(&edges, &of(method), &before);
        if method == Method::Modularity {
            assert!(found.measures.modularity >= 0.998 * fresh.measures.modularity);
        } else {
            assert!(kept(&truth, found.labels(), |_| true) >= 0.95, "{method:?}");
        }
    }
}

/// Labels without a meaning cost time, not quality.
#[test]
fn labels_far_from_any_solution_do_no_harm() {
    let edges = planted(3, 5);
    let alone: Vec<u32> = (0..1200).collect();
    let random: Vec<u32> = (0..1200).map(|node| (mix(node) % 60) as u32).collect();
    for method in METHODS {
        let fresh = super::find(&edges, &of(method));
        let rate = |found: &Communities| {
            found.measures.code_length.map_or(found.measures.modularity, |bits| -bits)
        };
        for labels in [&vec![0; 1200], &random, &alone] {
            for limits in [ScratchLimits::default(), large()] {
                let found = find_in(&edges, &of(method), labels, limits);
                let (is, was) = (rate(&found), rate(&fresh));
                assert!(is >= was - 0.02 * was.abs(), "{method:?}: {is}, but {was} afresh");
            }
        }
    }
}

#[test]
fn combinations_without_a_meaning_are_refused() {
    let initial = || Some("before.tsv".into());
    let of = |method| ClusterOptions { initial: initial(), ..of(method) };
    assert!(of(Method::MapEquation).check().is_ok());
    assert!(of(Method::LabelPropagation).check().is_ok());
    for (options, what) in [
        (of(Method::Components), "--initial"),
        (ClusterOptions { levels: true, ..of(Method::Modularity) }, "--levels"),
        (ClusterOptions { resolution: vec![1.0, 2.0], ..of(Method::Modularity) }, "--resolution"),
    ] {
        let error = options.check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains(what), "{error}");
    }
    let edges = ring_of_cliques(4, 4);
    let fixed = GivenLabels { initial: Vec::new(), fixed: vec![0; 16] };
    let options = ClusterOptions::default();
    let found = cluster_from(&edges.graph(), &options, fixed, PLENTY, scratch(), &Silent);
    assert!(found.unwrap_err().to_string().contains("--fixed"));
    let short = cluster_from(&edges.graph(), &options, given(&[0; 5]), PLENTY, scratch(), &Silent);
    assert_eq!(short.unwrap_err().kind(), ErrorKind::Usage);
}
