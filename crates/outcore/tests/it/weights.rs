//! Weights of edges in the graph, and nodes without edges: whole jobs on the simulated storage.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::warnings::Warnings;
use crate::common::{MIB, files_of, storage_of};
use outcore::budget::Limits;
use outcore::cluster::{ClusterOptions, METHODS, Method};
use outcore::graph::Weight;
use outcore::graph::{Duplicates, Graph};
use outcore::input::{CommunityInput, WeightTransform};
use outcore::job::{self, JobOptions, Normalize, ScoreOptions, ScoreReport, Source, Unnamed};
use outcore::progress::Silent;
use outcore::score::Quality;
use outcore::{ErrorKind, Result};
use outcore_testkit::sim::Sim;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const GRAPH: &str = "/out/graph";
const OUTPUT: &str = "/out/communities.tsv";

fn options() -> JobOptions {
    JobOptions {
        duplicates: Duplicates::Max,
        keep_loops: false,
        ..crate::common::options(2, 64 * MIB)
    }
}

fn build(sim: &Sim, options: &JobOptions) -> Result<job::Report> {
    job::build(&files_of(sim), options, Path::new(GRAPH), &Silent)
}

/// Returns the sum of the weights of a graph's edges.
fn weight_total(sim: &Sim) -> f64 {
    let graph = Graph::open(&files_of(sim), Path::new(GRAPH)).unwrap();
    graph.weight_total() / 2.0
}

#[test]
fn thresholds_apply_to_transformed_weights_and_are_counted() {
    // Transformed weights: 2, 200, 1, none, 3.
    let text = "a\tb\t1e-2\nb\tc\t0\nc\td\t0.1\nd\te\t5\ne\tf\t1e-3\n";
    let transformed = |min_weight, max_weight| {
        let mut options = JobOptions { min_weight, max_weight, ..options() };
        options.input.weight_transform = WeightTransform::NegLog10;
        let sim = storage_of(text);
        let report = build(&sim, &options).unwrap();
        let input = report.input.unwrap();
        assert_eq!((input.edge_count, input.dropped.zero_weight_count), (5, 1));
        assert_eq!(report.graph.unwrap().node_count, 6, "the nodes of all edges stay");
        let summary = report.stages[0].summary.clone();
        (weight_total(&sim), input.dropped.below_min_count, input.dropped.above_max_count, summary)
    };
    let summary = |dropped: &str| format!("5 edges, 6 nodes, 1 edge of weight 0 dropped{dropped}");
    assert_eq!(transformed(None, None), (206.0, 0, 0, summary("")));
    assert_eq!(transformed(Some(2.0), None), (205.0, 1, 0, summary(", 1 edge dropped by weight")));
    assert_eq!(
        transformed(Some(1.5), Some(2.0)),
        (2.0, 1, 2, summary(", 3 edges dropped by weight"))
    );
    assert_eq!(transformed(Some(0.0), Some(200.0)), (206.0, 0, 0, summary("")));
    let report = build(&storage_of("a b 1\n"), &options()).unwrap();
    assert_eq!(report.stages[0].summary, "1 edge, 2 nodes");
}

#[test]
fn a_threshold_equal_to_a_weight_keeps_the_edge() {
    for weight in ["0.3", "0.1", "1e-180", "723.4", "3.1415926535"] {
        let value: f64 = weight.parse().unwrap();
        let limits = Some(value);
        let sim = storage_of(&format!("a b {weight}\n"));
        build(&sim, &JobOptions { min_weight: limits, max_weight: limits, ..options() }).unwrap();
        assert!(weight_total(&sim) > 0.0, "{weight}");
    }
}

#[test]
fn the_error_of_a_job_without_edges_names_the_option_that_dropped_them() {
    let text = "a\tb\t1\nb\tc\t2\nc\td\t5\nd\te\t0\n";
    for (min, max, transform, message, hint) in [
        (
            Some(9.0),
            None,
            WeightTransform::None,
            "no edges are left of 4 edges: 3 below `--min-weight 9`, 1 of weight 0",
            "smaller `--min-weight`",
        ),
        (
            None,
            Some(0.5),
            WeightTransform::None,
            "no edges are left of 4 edges: 3 above `--max-weight 0.5`, 1 of weight 0",
            "larger `--max-weight`",
        ),
        (
            Some(3.0),
            Some(4.0),
            WeightTransform::None,
            "no edges are left of 4 edges: 2 below `--min-weight 3`, 1 above `--max-weight 4`, 1 of weight 0",
            "smaller `--min-weight`",
        ),
        (
            None,
            Some(100.0),
            WeightTransform::NegLog10,
            "no edges are left of 4 edges: 1 above `--max-weight 100`, 3 of weight 0",
            "larger `--max-weight`",
        ),
    ] {
        let mut options = JobOptions { min_weight: min, max_weight: max, ..options() };
        options.input.weight_transform = transform;
        let sim = storage_of(text);
        let error = build(&sim, &options).unwrap_err();
        assert_eq!((error.message(), error.kind()), (message, ErrorKind::BadInput));
        assert!(error.hint_text().unwrap().contains(hint), "{:?}", error.hint_text());
        assert_eq!(sim.paths(), [PathBuf::from("/in/edges.tsv")]);
    }
    let mut scores = options();
    scores.input.weight_transform = WeightTransform::NegLog10;
    let error = build(&storage_of("a b 100\nb c 723\n"), &scores).unwrap_err();
    assert_eq!(error.message(), "no edges are left of 2 edges: 2 of weight 0");
    assert!(error.hint_text().unwrap().contains("is for E-values"));
    // Without options about weights, a graph may have no edges.
    build(&storage_of("a b 0\n"), &options()).unwrap();
}

#[test]
fn options_that_cannot_be_used_are_refused_before_any_work() {
    let refuse = |message: &str, change: &dyn Fn(&mut JobOptions)| {
        let mut options = options();
        change(&mut options);
        let sim = storage_of("a b 1\n");
        let files = files_of(&sim);
        let source = Source::Edges(Box::new(options.clone()));
        let clustering = ClusterOptions::default();
        for error in [
            build(&sim, &options).unwrap_err(),
            job::cluster(&files, &source, &clustering, Path::new(OUTPUT), &Silent).unwrap_err(),
            job::plan(&files, &options, None).unwrap_err(),
        ] {
            assert_eq!((error.message(), error.kind()), (message, ErrorKind::Usage));
            assert!(error.hint_text().is_some());
        }
        assert_eq!(sim.paths().len(), 1);
    };
    refuse("`--min-weight NaN` is not a weight", &|o| o.min_weight = Some(f64::NAN));
    refuse("`--min-weight -1` is not a weight", &|o| o.min_weight = Some(-1.0));
    refuse("`--max-weight inf` is not a weight", &|o| o.max_weight = Some(f64::INFINITY));
    refuse("`--max-weight 0` keeps no edge", &|o| o.max_weight = Some(0.0));
    refuse("`--min-weight 2` is above `--max-weight 1.5`", &|o| {
        (o.min_weight, o.max_weight) = (Some(2.0), Some(1.5));
    });
    refuse("`--normalize self-score` takes edges from a node to itself as its score", &|o| {
        (o.normalize, o.keep_loops) = (Normalize::SelfScore, true)
    });
    refuse("`--min-weight` needs weights, but `--ignore-weights` drops them", &|o| {
        (o.min_weight, o.input.ignore_weights) = (Some(1.0), true);
    });
    refuse("`--weight-transform` needs weights, but `--ignore-weights` drops them", &|o| {
        (o.input.weight_transform, o.input.ignore_weights) = (WeightTransform::Log, true);
    });
}

#[test]
fn edges_without_weights_are_refused_from_files_and_pipes() {
    for path in ["/in/edges.tsv", "-"] {
        let sim = Sim::new();
        sim.put(path, b"a b\nb c\n");
        let files = files_of(&sim);
        for option in ["--min-weight", "--max-weight", "--normalize", "--weight-transform"] {
            let mut options = options();
            options.input.paths = vec![PathBuf::from(path)];
            match option {
                "--min-weight" => options.min_weight = Some(0.5),
                "--max-weight" => options.max_weight = Some(0.5),
                "--normalize" => options.normalize = Normalize::SelfScore,
                _ => options.input.weight_transform = WeightTransform::Log,
            }
            let message = format!("`{path}` has no weights, but `{option}` needs them");
            let error = build(&sim, &options).unwrap_err();
            assert_eq!((error.message(), error.kind()), (message.as_str(), ErrorKind::BadInput));
            if path != "-" {
                assert_eq!(job::plan(&files, &options, None).unwrap_err().message(), message);
            }
            assert_eq!(sim.paths().len(), 1);
        }
    }
}

/// Returns search results of 60 sequences: hits in both directions, repeated, with and without self hits.
fn hits() -> Vec<(u64, u64, f64)> {
    let mut state = 11u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut hits = Vec::new();
    for _ in 0..2000 {
        let (a, b) = (next(60), next(60));
        // Every fifth sequence has no self hit, and some have several.
        if a != b || a % 5 != 0 {
            let score = if a == b { 1000 + next(900) } else { 20 + next(980) };
            hits.push((a, b, score as f64 / 3.0));
        }
    }
    hits
}

fn text(hits: &[(u64, u64, f64)]) -> String {
    let mut text = String::new();
    for (a, b, score) in hits {
        writeln!(text, "P{a}\tP{b}\t{score:e}").unwrap();
    }
    text
}

/// Returns hits with weights divided one by one, as numbers that are stored exactly.
fn divided_first(hits: &[(u64, u64, f64)]) -> (Vec<(u64, u64, f64)>, u64) {
    let value = |score: f64| Weight::new(score).value();
    let mut own = BTreeMap::<u64, f64>::new();
    for &(a, _, score) in hits.iter().filter(|hit| hit.0 == hit.1) {
        let best = own.entry(a).or_default();
        *best = best.max(value(score));
    }
    let mut others = BTreeMap::<u64, f64>::new();
    for &(a, b, score) in hits.iter().filter(|hit| hit.0 != hit.1) {
        for node in [a, b].into_iter().filter(|node| !own.contains_key(node)) {
            let best = others.entry(node).or_default();
            *best = best.max(value(score));
        }
    }
    let count = others.len() as u64;
    own.extend(others);
    let divide = |&(a, b, score): &(u64, u64, f64)| {
        (a, b, Weight::new(value(score) / own[&a].min(own[&b])).value())
    };
    (hits.iter().map(divide).collect(), count)
}

#[test]
fn a_search_table_says_what_families_need_unless_it_is_given() {
    let mut table = String::new();
    for (a, b, score) in hits() {
        writeln!(table, "P{a}\tP{b}\t90.0\t100\t10\t0\t1\t100\t1\t100\t1e-50\t{score}").unwrap();
    }
    let warned = |change: fn(&mut JobOptions)| {
        let mut options = JobOptions { duplicates: Duplicates::Sum, ..options() };
        change(&mut options);
        let report = build(&storage_of(&table), &options).unwrap();
        let says = |text: &String| text.contains("--duplicates max --normalize self-score");
        report.warnings.iter().filter(|text| says(text)).count()
    };
    assert_eq!(warned(|_| {}), 1);
    assert_eq!(warned(|options| options.duplicates = Duplicates::Max), 0);
    assert_eq!(warned(|options| options.input.directed = true), 0);
    assert_eq!(warned(|options| options.normalize = Normalize::SelfScore), 0);
}

#[test]
fn normalizing_gives_the_same_graph_as_dividing_the_input() {
    let hits = hits();
    let (divided, without_self_hit) = divided_first(&hits);
    for duplicates in [Duplicates::Max, Duplicates::Min, Duplicates::First, Duplicates::Sum] {
        for directed in [false, true] {
            let expected = storage_of(&text(&divided));
            let mut plain = JobOptions { duplicates, ..options() };
            plain.input.directed = directed;
            build(&expected, &plain).unwrap();
            let normalize = Normalize::SelfScore;
            for (threads, memory) in [(1, 96), (3, 700)] {
                let limits = Limits { memory_bytes: memory * MIB, threads };
                let sim = storage_of(&text(&hits));
                let options = JobOptions { normalize, limits, ..plain.clone() };
                let report = build(&sim, &options).unwrap();
                let arcs = Path::new(GRAPH).join("arcs");
                assert_eq!(sim.get(&arcs), expected.get(&arcs), "{duplicates:?} {directed}");
                let input = report.input.unwrap();
                let self_hits = hits.iter().filter(|hit| hit.0 == hit.1).count() as u64;
                assert_eq!(input.dropped.self_hit_count, self_hits);
                assert_eq!(input.no_self_hit_count, without_self_hit);
                assert_eq!(report.graph.unwrap().dropped_loop_count, 0);
            }
        }
    }
}

#[test]
fn thresholds_do_not_apply_to_self_hits() {
    let sim = storage_of("a\ta\t50\nb\tb\t800\na\tb\t40\nb\tc\t300\n");
    let (min_weight, max_weight, normalize) = (Some(40.0), Some(300.0), Normalize::SelfScore);
    let options = JobOptions { min_weight, max_weight, normalize, ..options() };
    let input = build(&sim, &options).unwrap().input.unwrap();
    assert_eq!(
        (
            input.dropped.below_min_count,
            input.dropped.above_max_count,
            input.dropped.self_hit_count
        ),
        (0, 0, 2)
    );
    assert_eq!(input.no_self_hit_count, 1);
    let expected = 40.0 / 50.0 + 300.0 / 300.0;
    assert!((weight_total(&sim) - expected).abs() < 1e-6, "{}", weight_total(&sim));
}

#[test]
fn nodes_without_self_hit_cause_one_warning() {
    for (text, expected) in [
        ("a\ta\t5\na\tb\t4\nb\tc\t2\n", Some("2 of 3 nodes have no self hit")),
        ("a\ta\t5\nb\tb\t4\nb\ta\t2\n", None),
    ] {
        let files = files_of(&storage_of(text));
        let (warnings, normalize) = (Warnings::default(), Normalize::SelfScore);
        let options = JobOptions { normalize, ..options() };
        job::build(&files, &options, Path::new(GRAPH), &warnings).unwrap();
        let warnings = warnings.into_texts();
        assert_eq!(warnings.len(), usize::from(expected.is_some()));
        assert!(warnings.iter().all(|text| text.starts_with(expected.unwrap())), "{warnings:?}");
    }
}

#[test]
fn listed_nodes_follow_those_of_edges_and_are_communities_of_their_own() {
    let sim = storage_of("b a 1\na c 1\nc b 1\n");
    sim.put("/in/nodes.txt", b"z\na\ny\nz\n");
    let mut options = options();
    options.input.nodes = Some(PathBuf::from("/in/nodes.txt"));
    let files = files_of(&sim);
    let plan = job::plan(&files, &options, None).unwrap();
    assert_eq!((plan.input.node_count, plan.input.edge_count), (5, 3));
    let source = Source::Edges(Box::new(options));
    let (clustering, output) = (ClusterOptions::default(), Path::new(OUTPUT));
    let report = job::cluster(&files, &source, &clustering, output, &Silent).unwrap();
    assert_eq!(sim.get(OUTPUT).unwrap(), b"b\t0\na\t0\nc\t0\nz\t1\ny\t2\n");
    let input = report.input.unwrap();
    assert_eq!((input.listed_count, input.listed_only_count), (4, 2));
    assert_eq!(report.communities.unwrap().sizes.singleton_count, 2);
    assert_eq!(report.stages[0].summary, "3 edges, 5 nodes");
}

#[test]
fn a_node_list_that_cannot_be_read_is_named_and_leaves_nothing() {
    let mut options = options();
    options.input.nodes = Some(PathBuf::from("/in/nodes.txt"));
    let sim = storage_of("a\tb\t1\n");
    let error = build(&sim, &options).unwrap_err();
    assert!(error.to_string().contains("/in/nodes.txt"), "{error}");
    sim.put("/in/nodes.txt", b"node\tkind\na\tx\n\tx\n");
    let error = build(&sim, &options).unwrap_err();
    assert_eq!(error.to_string(), "/in/nodes.txt:3:1: node has no name");
    assert_eq!(sim.paths().len(), 2);
    // Nodes alone are not a graph.
    let sim = storage_of("# nothing\n");
    sim.put("/in/nodes.txt", b"a\nb\n");
    let error = build(&sim, &options).unwrap_err();
    assert_eq!(error.message(), "the input holds no edges");
}

/// Returns edges inside and between groups of ten nodes, and loops, with weights from 1 to 9 times a power of two.
fn scaled(exponent: i32) -> String {
    let mut state = 5u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut text = String::new();
    for edge in 0..400 {
        let group = next(8);
        // The first group is a component of its own.
        let other = if edge % 5 == 0 && group > 0 { 1 + next(7) } else { group };
        let (a, b, weight) = (next(10), next(10), (10 + next(80)) as f64 / 10.0);
        let weight = 2f64.powi(exponent / 2) * weight * 2f64.powi(exponent - exponent / 2);
        writeln!(text, "{}\t{}\t{weight:e}", 10 * group + a, 10 * other + b).unwrap();
    }
    text
}

/// Options of every method, with those that compare weights or compute with them.
fn weighing() -> Vec<ClusterOptions> {
    let mut all: Vec<ClusterOptions> = METHODS
        .iter()
        .map(|spec| ClusterOptions {
            method: spec.method,
            resolution: vec![spec.method.default_resolution().unwrap_or(0.5)],
            ..ClusterOptions::default()
        })
        .collect();
    let mut attenuated = ClusterOptions { method: Method::LabelPropagation, ..Default::default() };
    attenuated.propagation.attenuation = vec![0.1];
    all.push(attenuated);
    all
}

fn score(sim: &Sim) -> ScoreReport {
    let options = ScoreOptions {
        graph: GRAPH.into(),
        communities: OUTPUT.into(),
        against: None,
        resolution: 1.0,
        recorded_teleportation: false,
        well_connected: None,
        unnamed: Unnamed::Stop,
        input: CommunityInput::default(),
        limits: Limits { memory_bytes: 128 * MIB, threads: 2 },
        work_dir: "/disk".into(),
    };
    job::score(&files_of(sim), &options, &Silent).unwrap()
}

/// Returns the communities and their scores, with the weights multiplied by 2^`exponent`.
fn found(exponent: i32, clustering: &ClusterOptions) -> (Vec<u8>, ScoreReport) {
    let sim = storage_of(&scaled(exponent));
    let limits = Limits { memory_bytes: 128 * MIB, threads: 2 };
    let options = JobOptions { keep_loops: true, duplicates: Duplicates::Sum, ..options() };
    build(&sim, &options).unwrap();
    let source =
        Source::Graph { path: GRAPH.into(), limits, work_dir: "/disk".into(), restart: false };
    job::cluster(&files_of(&sim), &source, clustering, Path::new(OUTPUT), &Silent).unwrap();
    (sim.get(OUTPUT).unwrap(), score(&sim))
}

/// Weights that are multiplied by a power of two give the same communities and the same scores, whether or not products
/// and sums of them are in the range of a double.
#[test]
fn weights_of_any_magnitude_give_the_same_communities_and_scores() {
    for clustering in weighing() {
        let (expected, plain) = found(0, &clustering);
        assert!(plain.quality.sizes.community_count > 1);
        for exponent in [-1000, -700, -540, -301, -80, 290, 310, 520, 900, 1009] {
            let what = format!("2^{exponent}, {:?}", clustering.method);
            let (communities, scores) = found(exponent, &clustering);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert_eq!(text(&communities), text(&expected), "{what}");
            let (found, plain) = (scores.quality, plain.quality);
            let unit = 2f64.powi(exponent / 2);
            let cpm = found.cpm / unit / 2f64.powi(exponent - exponent / 2);
            assert_eq!(cpm, plain.cpm, "{what}");
            assert_eq!(Quality { cpm: plain.cpm, ..found }, plain, "{what}");
        }
    }
}

#[test]
fn weights_whose_sum_is_too_large_are_refused() {
    for text in [
        "a b 1.7e308\nb c 1.7e308\n".to_owned(),
        "a b 1e308\nb a 1e308\nb c 1\n".to_owned(),
        "a a 1.7e308\na b 1\n".to_owned(),
        scaled(1016),
    ] {
        let sim = storage_of(&text);
        let error = build(&sim, &JobOptions { keep_loops: true, ..options() }).unwrap_err();
        assert!(error.message().contains("add up to more than"), "{error}");
        assert_eq!(error.kind(), ErrorKind::BadInput);
        assert!(error.hint_text().unwrap().contains("--weight-transform log"));
    }
}
