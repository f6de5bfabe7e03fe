//! Guarantees of whole jobs with further options of label propagation, and with components.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{MIB, files_of, storage_of};
use outcore::budget::Limits;
use outcore::cluster::{ClusterOptions, METHODS, Method, MethodOption, PropagationOptions, Visits};
use outcore::job::{self, Report, Source};
use outcore::progress::Silent;
use outcore::{ErrorKind, Result};
use outcore_testkit::sim::{Fault, Sim};
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

/// Returns edges of 30 groups of 8 nodes in a ring.
fn edges() -> String {
    let mut text = String::new();
    for group in 0..30 {
        for a in 0..8 {
            for b in 0..a {
                text += &format!("n{}\tn{}\t{}\n", group * 8 + a, group * 8 + b, 1 + (a + b) % 3);
            }
        }
        text += &format!("n{}\tn{}\t0.5\n", group * 8, (group + 1) % 30 * 8 + 1);
    }
    text
}

fn storage() -> Sim {
    storage_of(&edges())
}

fn cluster_edges(sim: &Sim, options: &ClusterOptions, output: &str) -> Result<Report> {
    let source = Source::Edges(Box::new(crate::common::options(2, 128 * MIB)));
    job::cluster(&files_of(sim), &source, options, Path::new(output), &Silent)
}

fn cluster_graph(
    sim: &Sim,
    options: &ClusterOptions,
    output: &str,
    threads: usize,
) -> Result<Report> {
    let files = files_of(sim);
    let graph = Path::new("/out/graph");
    if files.entry(graph).is_err() {
        job::build(&files, &crate::common::options(2, 128 * MIB), graph, &Silent)?;
    }
    let limits = Limits { memory_bytes: 64 * MIB, threads };
    let (path, work_dir) = (graph.to_path_buf(), PathBuf::from("/disk"));
    let source = Source::Graph { path, limits, work_dir, restart: false };
    job::cluster(&files, &source, options, Path::new(output), &Silent)
}

fn with(propagation: PropagationOptions) -> ClusterOptions {
    ClusterOptions { propagation, ..plain() }
}

fn attenuated(attenuation: &[f64]) -> ClusterOptions {
    let attenuation = attenuation.to_vec();
    with(PropagationOptions { attenuation, ..PropagationOptions::default() })
}

/// Returns the community of each node of an output.
fn communities(sim: &Sim, path: &str) -> Vec<(String, u32)> {
    let text = String::from_utf8(sim.get(path).unwrap()).unwrap();
    let line = |line: &str| {
        let (name, community) = line.split_once('\t').unwrap();
        (name.to_owned(), community.parse().unwrap())
    };
    text.lines().map(line).collect()
}

#[test]
fn each_of_several_values_has_a_file_with_the_result_of_that_value_alone() {
    let sim = storage();
    let report = cluster_edges(&sim, &attenuated(&[0.0, 0.25, 1.0]), "/out/all.tsv").unwrap();
    let outputs: Vec<_> = report.results.iter().map(|result| result.output.as_str()).collect();
    assert_eq!(outputs, ["/out/all.0.tsv", "/out/all.0.25.tsv", "/out/all.1.tsv"]);
    assert!(sim.get("/out/all.tsv").is_none());
    for value in [0.0, 0.25, 1.0] {
        for threads in [1, 3] {
            cluster_graph(&sim, &attenuated(&[value]), "/out/one.tsv", threads).unwrap();
            assert_eq!(sim.get(format!("/out/all.{value}.tsv")), sim.get("/out/one.tsv"));
        }
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["results"][1]["propagation"]["attenuation"][0], 0.25);
    assert!(json["results"][0].get("propagation").is_none(), "0 is the plain form");
    assert!(json["communities"]["community_count"].as_u64() > Some(1));
}

#[test]
fn earlier_results_and_fixed_labels_are_read_from_files() {
    let sim = storage();
    cluster_edges(&sim, &plain(), "/out/before.tsv").unwrap();
    let mut again = plain();
    again.initial = Some(PathBuf::from("/out/before.tsv"));
    let report = cluster_edges(&sim, &again, "/out/after.tsv").unwrap();
    assert_eq!(sim.get("/out/after.tsv"), sim.get("/out/before.tsv"));
    assert_eq!(report.communities.unwrap().sweeps.count, 1);
    cluster_graph(&sim, &again, "/out/of-graph.tsv", 1).unwrap();
    assert_eq!(sim.get("/out/of-graph.tsv"), sim.get("/out/before.tsv"));

    // Separates two nodes of one group, and joins two of distant groups.
    sim.put("/in/fixed.tsv", b"n0\tred\nn1\tblue\nn160\tblue\nstranger\tred\n");
    let mut fixed = plain();
    fixed.propagation.fixed = Some(PathBuf::from("/in/fixed.tsv"));
    cluster_edges(&sim, &fixed, "/out/fixed.tsv").unwrap();
    let found = communities(&sim, "/out/fixed.tsv");
    let of = |name: &str| found.iter().find(|(other, _)| other == name).unwrap().1;
    assert_ne!(of("n0"), of("n1"));
    assert_eq!(of("n1"), of("n160"));
    let left: Vec<_> = sim.paths().into_iter().filter(|path| path.starts_with("/disk")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!sim.paths().iter().any(|path| path.to_string_lossy().contains(".outcore")));
}

#[test]
fn a_fault_while_labels_are_read_leaves_nothing() {
    let sim = storage();
    cluster_graph(&sim, &plain(), "/out/before.tsv", 1).unwrap();
    let mut options = plain();
    options.initial = Some(PathBuf::from("/out/before.tsv"));
    options.propagation.fixed = Some(PathBuf::from("/out/before.tsv"));
    let before = sim.paths();
    let operations = {
        sim.set_fault(None);
        cluster_graph(&sim, &options, "/out/after.tsv", 1).unwrap();
        files_of(&sim).remove(Path::new("/out/after.tsv")).unwrap();
        200
    };
    for at in (0..operations).step_by(3) {
        sim.set_fault(Some(Fault { at, forever: false, kind: IoErrorKind::Other }));
        match cluster_graph(&sim, &options, "/out/after.tsv", 1) {
            Ok(_) => {
                assert_eq!(sim.get("/out/after.tsv"), sim.get("/out/before.tsv"));
                files_of(&sim).remove(Path::new("/out/after.tsv")).unwrap();
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Io, "{error}"),
        }
        sim.set_fault(None);
        assert_eq!(sim.paths(), before, "fault {at}");
    }
}

#[test]
fn a_file_that_does_not_fit_the_graph_is_refused() {
    let sim = storage();
    sim.put("/in/other.tsv", b"x\t0\ny\t1\n");
    let mut options = plain();
    options.initial = Some(PathBuf::from("/in/other.tsv"));
    let error = cluster_edges(&sim, &options, "/out/x.tsv").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadInput);
    assert!(error.message().contains("names no node of the graph"), "{error}");
}

#[test]
fn options_that_need_too_much_memory_are_refused_before_any_work() {
    let sim = Sim::new();
    let count = 1_500_000u32;
    let mut text = String::new();
    (1..count).for_each(|i| text += &format!("{} {i}\n", i - 1));
    sim.put("/in/edges.tsv", text.as_bytes());
    // Labels of several levels are in memory, unlike those of label propagation.
    let options = ClusterOptions { max_size: Some(10), ..ClusterOptions::default() };
    let error = cluster_graph(&sim, &options, "/out/x.tsv", 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
    assert!(error.message().contains("for this clustering"), "{error}");
    assert!(error.hint_text().unwrap().contains("--memory "), "{:?}", error.hint_text());
    let outside = |path: &&PathBuf| !path.starts_with("/in") && !path.starts_with("/out/graph");
    assert_eq!(sim.paths().iter().find(outside), None);
}

#[test]
fn many_values_take_the_memory_of_one() {
    let sim = storage();
    let attenuation: Vec<f64> = (0..100).map(|value| f64::from(value) / 1000.0).collect();
    let one = cluster_edges(&sim, &attenuated(&attenuation[99..]), "/out/one.tsv");
    let all = cluster_edges(&sim, &attenuated(&attenuation), "/out/all.tsv");
    assert!(one.is_ok() && all.is_ok());
    assert_eq!(sim.get("/out/one.tsv"), sim.get("/out/all.0.099.tsv"));
}

#[test]
fn components_of_heavy_edges_are_the_same_from_edges_and_graph() {
    let sim = storage();
    let components =
        |min_weight| ClusterOptions { method: Method::Components, min_weight, ..plain() };
    for (min_weight, count) in [(0.0, 1), (0.75, 30), (9.0, 240)] {
        let report = cluster_graph(&sim, &components(min_weight), "/out/graph.tsv", 3).unwrap();
        let found = report.communities.unwrap();
        assert_eq!((found.sizes.community_count, found.sweeps.count), (count, 0));
        cluster_edges(&sim, &components(min_weight), "/out/edges.tsv").unwrap();
        assert_eq!(sim.get("/out/edges.tsv"), sim.get("/out/graph.tsv"));
    }
}

#[test]
fn every_option_gives_the_same_bytes_with_any_number_of_threads() {
    let default = PropagationOptions::default;
    for (at, propagation) in [
        PropagationOptions { label_cutoff: 2.0, ..default() },
        PropagationOptions { max_visits: Visits::Most(2), attenuation: vec![0.1], ..default() },
    ]
    .into_iter()
    .enumerate()
    {
        let sim = storage();
        let options = with(propagation);
        cluster_edges(&sim, &options, "/out/edges.tsv").unwrap();
        for threads in [1, 7] {
            let report = cluster_graph(&sim, &options, "/out/graph.tsv", threads).unwrap();
            assert_eq!(sim.get("/out/edges.tsv"), sim.get("/out/graph.tsv"), "options {at}");
            assert!(report.communities.unwrap().options.propagation.is_some());
        }
    }
}

#[test]
fn maximum_sizes_hold_for_jobs_with_any_method() {
    let all = METHODS.iter().map(|spec| spec.method);
    for method in all.filter(|method| method.takes(MethodOption::MaxSize)) {
        let sim = storage();
        let resolution = vec![method.default_resolution().unwrap_or(0.01)];
        let max_size = Some(5);
        let options = ClusterOptions { method, resolution, max_size, ..ClusterOptions::default() };
        cluster_edges(&sim, &options, "/out/edges.tsv").unwrap();
        for threads in [1, 2, 7] {
            let report = cluster_graph(&sim, &options, "/out/graph.tsv", threads).unwrap();
            assert_eq!(sim.get("/out/edges.tsv"), sim.get("/out/graph.tsv"), "{method:?}");
            let found = report.communities.unwrap();
            assert_eq!(
                (found.sizes.largest_size, found.options.max_size),
                (5, max_size),
                "{method:?}"
            );
        }
    }
}

/// Returns label propagation with default options.
fn plain() -> ClusterOptions {
    ClusterOptions { method: Method::LabelPropagation, seed: 1, ..ClusterOptions::default() }
}
