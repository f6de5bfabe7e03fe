//! Counts in reports match naive counts, for any memory limit and number of threads.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::warnings::Warnings;
use crate::common::{MIB, files_of, options, storage_of};
use outcore::budget::Limits;
use outcore::cluster::{ClusterOptions, Method, PropagationOptions};
use outcore::graph::Weight;
use outcore::graph::{Bin, GraphSummary};
use outcore::job::{self, CommunitiesReport, JobKind, JobOptions, Report, Source};
use outcore::progress::{Observer, Silent};
use outcore_testkit::cases;
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const GRAPH: &str = "/out/graph";
const OUTPUT: &str = "/out/communities.tsv";

type Edge = (u32, u32, f64);

fn text(edges: &[Edge]) -> String {
    edges.iter().map(|(a, b, weight)| format!("n{a}\tn{b}\t{weight:e}\n")).collect()
}

fn cluster(
    sim: &Sim,
    options: JobOptions,
    clustering: &ClusterOptions,
    observer: &dyn Observer,
) -> Report {
    let source = Source::Edges(Box::new(options));
    job::cluster(&files_of(sim), &source, clustering, Path::new(OUTPUT), observer).unwrap()
}

fn cluster_graph(sim: &Sim, clustering: &ClusterOptions, threads: usize) -> Report {
    let limits = Limits { memory_bytes: 128 * MIB, threads };
    let (path, work_dir) = (GRAPH.into(), "/disk".into());
    let source = Source::Graph { path, limits, work_dir, restart: false };
    job::cluster(&files_of(sim), &source, clustering, Path::new(OUTPUT), &Silent).unwrap()
}

/// Returns whether the bins match the values, counted one by one.
fn counted<T: PartialOrd + Copy>(
    bins: &[Bin<T>],
    values: &[T],
    holds: impl Fn(T, T) -> bool,
) -> bool {
    let inside = |bin: &Bin<T>| values.iter().filter(|&&value| holds(bin.at_least, value)).count();
    bins.iter().all(|bin| bin.count > 0 && bin.count == inside(bin) as u64)
        && bins.iter().map(|bin| bin.count).sum::<u64>() == values.len() as u64
        && bins.windows(2).all(|pair| pair[0].at_least < pair[1].at_least)
}

fn is_between(least: u64, value: u64) -> bool {
    value == least || least > 0 && (least..2 * least).contains(&value)
}

/// Returns whether degrees and weights match the edges, with repeated edges summed.
fn is_graph_of(summary: &GraphSummary, edges: &[Edge], is_directed: bool) -> bool {
    let nodes: BTreeSet<u32> = edges.iter().flat_map(|&(a, b, _)| [a, b]).collect();
    let mut arcs: BTreeMap<(u32, u32), Vec<Weight>> = BTreeMap::new();
    for &(a, b, weight) in edges.iter().filter(|(a, b, _)| a != b) {
        let mut add = |ends| arcs.entry(ends).or_default().push(Weight::new(weight));
        // A directed edge is an arc of the node that it points to.
        add((b, a));
        if !is_directed {
            add((a, b));
        }
    }
    let degree = |node: &u32| arcs.keys().filter(|(source, _)| source == node).count() as u64;
    let degrees: Vec<u64> = nodes.iter().map(degree).collect();
    let weights: Vec<f64> = arcs
        .into_values()
        .map(|mut all| {
            // In the order of their weights.
            all.sort();
            let sum = all.iter().map(|weight| weight.value()).reduce(|sum, weight| sum + weight);
            Weight::new(sum.unwrap().min(f64::MAX)).value()
        })
        .collect();
    counted(&summary.degrees, &degrees, is_between)
        && counted(&summary.weights, &weights, |least, weight| {
            least <= weight && weight / 2.0 < least
        })
}

/// Returns the sizes of the communities in an output, largest first.
fn sizes(sim: &Sim, output: &str) -> Vec<u64> {
    let text = String::from_utf8(sim.get(output).unwrap()).unwrap();
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    for line in text.lines() {
        *sizes.entry(line.split_once('\t').unwrap().1).or_default() += 1;
    }
    let mut sizes: Vec<u64> = sizes.into_values().collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

fn is_report_of(found: &CommunitiesReport, sim: &Sim, output: &str) -> bool {
    let sizes = sizes(sim, output);
    let sweeps = &found.sweeps;
    found.sizes.largest_sizes == sizes[..sizes.len().min(10)]
        && counted(&found.sizes.bins, &sizes, is_between)
        && sweeps.first.len() == sweeps.count as usize
        && sweeps.first.iter().all(|sweep| sweep.moved_count <= sweep.node_count)
}

fn some_edges() -> impl Strategy<Value = Vec<Edge>> {
    let weight = prop_oneof![
        3 => Just(1.0),
        3 => 0.01..100.0f64,
        1 => (-300..300i32).prop_map(|power| 10f64.powi(power)),
    ];
    prop::collection::vec((0..60u32, 0..60u32, weight), 1..300)
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn counts_in_reports_match_naive_counts(
        edges in some_edges(),
        directed in any::<bool>(),
        method in prop_oneof![
            Just(Method::MapEquation), Just(Method::Modularity), Just(Method::LabelPropagation),
            Just(Method::Components),
        ],
    ) {
        let directed = directed && !method.is_multilevel();
        let clustering = ClusterOptions { method, ..ClusterOptions::default() };
        let mut first: Option<CommunitiesReport> = None;
        for (threads, memory) in [(1, 96), (2, 160), (5, 512)] {
            let sim = storage_of(&text(&edges));
            let mut plain = options(threads, memory * MIB);
            plain.input.directed = directed;
            let built = job::build(&files_of(&sim), &plain, Path::new(GRAPH), &Silent).unwrap();
            prop_assert!(built.job == JobKind::Build && built.output == GRAPH);
            let graph = built.graph.unwrap();
            prop_assert!(is_graph_of(&graph, &edges, directed), "{graph:?}");
            for (of_edges, report) in [
                (true, cluster(&sim, plain, &clustering, &Silent)),
                (false, cluster_graph(&sim, &clustering, threads)),
            ] {
                prop_assert!(report.job == JobKind::Cluster && report.output == OUTPUT);
                if of_edges && method == Method::Components {
                    // No graph is built, so repeated edges are not merged.
                    let found = report.graph.as_ref().unwrap();
                    let different = edges.iter().filter(|edge| edge.0 != edge.1).count() as u64;
                    prop_assert_eq!((found.node_count, found.edge_count), (graph.node_count, different));
                } else {
                    prop_assert_eq!(report.graph.as_ref(), Some(&graph));
                }
                let found = report.communities.unwrap();
                prop_assert!(is_report_of(&found, &sim, OUTPUT), "{found:?}");
                if let Some(first) = &first {
                    prop_assert_eq!(&found.sweeps.first, &first.sweeps.first);
                    prop_assert_eq!(&found.sizes.bins, &first.sizes.bins);
                }
                first = Some(found);
            }
        }
    }
}

/// Creates groups of 12 nodes that are connected in a ring.
fn groups(count: u32) -> Vec<Edge> {
    let inside = (0..count).flat_map(|group| {
        let pairs = (0..12).flat_map(|a| (a + 1..12).map(move |b| (a, b)));
        pairs.map(move |(a, b)| (12 * group + a, 12 * group + b, 1.0))
    });
    let between = (0..count).map(|group| (12 * group, 12 * ((group + 1) % count) + 5, 0.5));
    inside.chain(between).collect()
}

#[test]
fn each_of_several_results_is_reported() {
    let sim = storage_of(&text(&groups(30)));
    let resolution = vec![0.2, 1.0, 8.0];
    let several = ClusterOptions { method: Method::Modularity, resolution, ..Default::default() };
    let attenuation = vec![0.0, 0.4];
    let propagation = PropagationOptions { attenuation, ..Default::default() };
    let method = Method::LabelPropagation;
    let attenuated = ClusterOptions { method, propagation, ..Default::default() };
    for clustering in [several, attenuated] {
        let report = cluster(&sim, options(2, 128 * MIB), &clustering, &Silent);
        assert!(report.results.len() > 1);
        for result in &report.results {
            let attenuation =
                result.communities.options.propagation.as_ref().map(|p| &p.attenuation);
            assert!(attenuation.is_none_or(|values| values.len() == 1), "{attenuation:?}");
            assert_eq!(attenuation.is_some(), result.output.contains("0.4"));
            assert!(is_report_of(&result.communities, &sim, &result.output), "{result:?}");
        }
    }
}

/// The fields that a report embeds stand in it in the order of the documentation.
#[test]
fn fields_of_a_result_keep_their_order() {
    const FIELDS: &str = "method seed resolution min_weight max_size well_connected initial \
        propagation community_count singleton_count largest_size largest_share largest_sizes sizes \
        summary largest compared split_count modularity two_mode_modularity coverage code_length \
        sweep_count sweeps scan_count cycle_count trial_count trial_losses trial_community_counts \
        equal_community_counts divided trial_agreement chance_modularity undivided_length \
        level_count tree group_counts converged visited_arc_count presented";
    let sim = storage_of(&text(&groups(30)));
    let well_connected = Some("log10".parse().unwrap());
    let (max_size, trials, levels) = (Some(20), Some(3), true);
    for (method, most) in [(Method::MapEquation, 30), (Method::Components, 20)] {
        let plain = ClusterOptions { method, ..ClusterOptions::default() };
        let all = ClusterOptions { well_connected, max_size, trials, ..plain.clone() };
        let clustering = if method.is_multilevel() { all } else { plain };
        let clustering = ClusterOptions { levels: levels && method.is_multilevel(), ..clustering };
        let report = cluster(&sim, options(2, 128 * MIB), &clustering, &Silent);
        let json = serde_json::to_string_pretty(&report.communities.unwrap()).unwrap();
        let keys = json.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next());
        let keys: Vec<&str> = keys.collect();
        let mut fields = FIELDS.split_whitespace();
        assert!(keys.iter().all(|key| fields.any(|field| field == *key)), "{keys:?}");
        assert!(keys.len() >= most, "{}: {keys:?}", keys.len());
    }
}

#[test]
fn sweeps_report_their_level_and_cycle() {
    let sim = storage_of(&text(&groups(300)));
    let report = cluster(&sim, options(2, 128 * MIB), &ClusterOptions::default(), &Silent);
    let found = report.communities.unwrap();
    let (sweeps, cycle_count) = (&found.sweeps.first, found.sweeps.cycles);
    assert_eq!(sweeps.iter().map(|sweep| sweep.level).max(), Some(found.levels.level_count));
    assert_eq!(sweeps.iter().map(|sweep| sweep.cycle).max(), Some(cycle_count));
    assert!(sweeps[0].level == 0 && !sweeps[0].refines && sweeps.iter().any(|s| s.refines));
    let of_graph = |sweep: &&outcore::cluster::Sweep| sweep.level == 0;
    assert!(sweeps.iter().filter(of_graph).all(|sweep| sweep.node_count == 3600));
    assert!(sweeps.iter().filter(|s| s.level == 1).all(|sweep| sweep.node_count < 3600));
}

#[test]
fn warnings_and_predictions_are_reported() {
    // More than half of the nodes are in one component.
    let edges: Vec<Edge> = (1..200).map(|node| (0, node, 1.0)).chain([(500, 501, 1.0)]).collect();
    let sim = storage_of(&text(&edges));
    let clustering = ClusterOptions { method: Method::LabelPropagation, ..Default::default() };
    let warnings = Warnings::default();
    let report = cluster(&sim, options(1, 96 * MIB), &clustering, &warnings);
    assert_eq!(report.warnings, warnings.into_texts());
    assert!(report.warnings[0].contains("more than half"), "{:?}", report.warnings);
    assert_eq!(report.inputs, ["/in/edges.tsv"]);
    assert!(report.stages.iter().all(|stage| stage.predicted_memory_bytes > Some(MIB)));
}
