//! A graph with edges added is the graph of all edges, byte for byte.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::stop::StopAt;
use crate::common::warnings::Warnings;
use crate::common::{MIB, files_of, options};
use outcore::graph::{Duplicates, Graph, GraphOptions, GraphWriter};
use outcore::input::{Column, Header};
use outcore::io::{Cramped, Files, Transfer, Tuning};
use outcore::job::{self, JobOptions, Normalize, Report, Source};
use outcore::progress::{Observer, Silent};
use outcore::weight::Weight;
use outcore::{ErrorKind, Result};
use outcore_testkit::cases;
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

const OLD: &str = "/in/old.graph";
const FILES: [&str; 3] = ["arcs", "names", "graph.json"];

fn build(
    files: &Files,
    options: &JobOptions,
    inputs: &[&str],
    graph: &str,
    observer: &dyn Observer,
) -> Result<Report> {
    let mut options = options.clone();
    options.input.paths = inputs.iter().map(PathBuf::from).collect();
    options.append = None;
    job::build(files, &options, Path::new(graph), observer)
}

/// Adds the edges of `input` to the graph `old`.
fn append(
    files: &Files,
    options: &JobOptions,
    (old, input): (&str, &str),
    graph: &str,
    observer: &dyn Observer,
) -> Result<Report> {
    let mut options = options.clone();
    options.input.paths = vec![input.into()];
    options.append = Some(old.into());
    job::build(files, &options, Path::new(graph), observer)
}

fn contents(sim: &Sim, graph: &str) -> BTreeMap<&'static str, Vec<u8>> {
    FILES.map(|name| (name, sim.get(Path::new(graph).join(name)).unwrap())).into()
}

fn counts(sim: &Sim, graph: &str) -> serde_json::Value {
    serde_json::from_slice(&contents(sim, graph)["graph.json"]).unwrap()
}

/// Names of the nodes.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Short,
    /// Longer than a fingerprint, with a common beginning.
    Long,
    Numbers,
    /// Numbers that are not dense, and then names that are no numbers.
    Mixed,
}

impl Kind {
    fn name(self, node: u32) -> String {
        match self {
            Self::Short => format!("n{node}"),
            Self::Long => format!("a.protein.with.a.long.name.{:09}", node * node),
            Self::Numbers => node.to_string(),
            Self::Mixed if node.is_multiple_of(3) => format!("x{node}"),
            Self::Mixed => (u64::from(node) * 123_456_789).to_string(),
        }
    }
}

type Edges = Vec<(u32, u32, u32)>;

fn text(edges: &Edges, kind: Kind, weights: Option<f64>) -> String {
    let line = |&(source, target, weight): &(u32, u32, u32)| {
        let (source, target) = (kind.name(source), kind.name(target));
        match weights {
            None => format!("{source}\t{target}\n"),
            Some(unit) => format!("{source}\t{target}\t{}\n", f64::from(weight) * unit),
        }
    };
    edges.iter().map(line).collect()
}

fn plain(weighted: bool, threads: usize) -> JobOptions {
    let mut options = options(threads, 96 * MIB);
    let columns = if weighted { 1..=3 } else { 1..=2 };
    options.input.columns = Some(columns.map(Column::Number).collect());
    options.input.header = Header::No;
    options
}

/// Returns files for which names, runs and merge passes of a small job are on disk.
fn cramped(files: &Files) -> Files {
    let small =
        |depth| Transfer { block_bytes: 4096, depth, direct: false, bytes_per_second: None };
    let tuning =
        Tuning { read: small(1), write: small(2), merge_read_bytes: 4096, ..Tuning::default() };
    let bounds = Cramped { chunk_bytes: 500, run_records: 60, fan_in: 2, names: 7, ..Cramped::NOT };
    files.with_tuning(tuning).with_cramped(bounds)
}

fn edges(most: usize) -> impl Strategy<Value = Edges> {
    // A part of the names is only in the second half; some edges of weight 0 add only nodes.
    let node = prop_oneof![0u32..20, 0u32..60];
    prop::collection::vec((node.clone(), node, 0u32..9), 0..most)
}

fn has_loops(edges: &Edges, weighted: bool) -> bool {
    edges.iter().any(|edge| edge.0 == edge.1 && (edge.2 > 0 || !weighted))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..cases(150) })]

    #[test]
    fn adding_edges_is_building_from_all(
        (mut old, new) in (edges(200), edges(80)),
        kind in prop::sample::select(vec![Kind::Short, Kind::Long, Kind::Numbers, Kind::Mixed]),
        rule in prop::sample::select(vec![
            Duplicates::Sum, Duplicates::Max, Duplicates::Min, Duplicates::First,
        ]),
        (weighted, directed, keep_loops, listed) in any::<(bool, bool, bool, bool)>(),
        (is_cramped, old_cramped, four, shared) in any::<(bool, bool, bool, bool)>(),
    ) {
        if old.is_empty() {
            // A node without an edge, or with a loop: the graph has no arcs.
            old.push((3, 3, 0));
        }
        let sim = Sim::new();
        let files = files_of(&sim);
        let new: Edges = match shared {
            true => new,
            // Only new nodes.
            false => new.iter().map(|edge| (edge.0 + 100, edge.1 + 100, edge.2)).collect(),
        };
        let unit = weighted.then_some(1.0);
        sim.put("/in/old.tsv", text(&old, kind, unit).as_bytes());
        sim.put("/in/new.tsv", text(&new, kind, unit).as_bytes());
        sim.put("/in/nodes.txt", format!("{}\nalone\n{}\n", kind.name(5), kind.name(200)).as_bytes());
        let mut options = plain(weighted, if four { 4 } else { 1 });
        options.input.directed = directed;
        options.duplicates = rule;
        options.keep_loops = keep_loops;
        let given = |is_cramped| if is_cramped { cramped(&files) } else { files.clone() };
        build(&given(old_cramped), &options, &["/in/old.tsv"], OLD, &Silent).unwrap();
        let before = contents(&sim, OLD);
        options.input.nodes = listed.then(|| "/in/nodes.txt".into());
        build(&files, &options, &["/in/old.tsv", "/in/new.tsv"], "/out/all", &Silent).unwrap();
        let given = given(is_cramped);
        let report = append(&given, &options, (OLD, "/in/new.tsv"), "/out/graph", &Silent).unwrap();
        Graph::open(&files, Path::new("/out/graph")).unwrap().verify(&Silent).unwrap();

        let (all, mut found) = (contents(&sim, "/out/all"), contents(&sim, "/out/graph"));
        let dropped_twice = !keep_loops && has_loops(&old, weighted) && has_loops(&new, weighted);
        if dropped_twice && all["graph.json"] != found["graph.json"] {
            // A node whose loop was dropped twice counts twice, and its loop not as repeated.
            let (one, other) = (counts(&sim, "/out/all"), counts(&sim, "/out/graph"));
            let sum = |counts: &serde_json::Value| {
                counts["dropped_loop_count"].as_u64().unwrap() + counts["combined_count"].as_u64().unwrap()
            };
            prop_assert_eq!(sum(&one), sum(&other));
            found.insert("graph.json", all["graph.json"].clone());
        }
        prop_assert!(found == all);
        prop_assert!(contents(&sim, OLD) == before, "the old graph is unchanged");
        let (old, graph) = (report.append.unwrap(), report.graph.unwrap());
        prop_assert_eq!(old.node_count + old.new_node_count, graph.node_count);
        prop_assert_eq!(old.edge_count + old.new_edge_count, graph.edge_count);
    }

    #[test]
    fn sums_that_were_rounded_differ_by_at_most_their_last_digit(
        (old, new) in (edges(200), edges(80)),
    ) {
        let sim = Sim::new();
        let files = files_of(&sim);
        let old: Edges = old.iter().map(|edge| (edge.0 % 9, edge.1 % 9, edge.2 + 1)).collect();
        prop_assume!(!old.is_empty());
        sim.put("/in/old.tsv", text(&old, Kind::Short, Some(0.1003)).as_bytes());
        sim.put("/in/new.tsv", text(&new, Kind::Short, Some(0.1003)).as_bytes());
        let options = plain(true, 2);
        build(&files, &options, &["/in/old.tsv"], OLD, &Silent).unwrap();
        build(&files, &options, &["/in/old.tsv", "/in/new.tsv"], "/out/all", &Silent).unwrap();
        append(&files, &options, (OLD, "/in/new.tsv"), "/out/graph", &Silent).unwrap();
        let (all, found) = (rows(&files, "/out/all"), rows(&files, "/out/graph"));
        prop_assert_eq!(all.len(), found.len());
        for ((arc, weight), (same_arc, found)) in all.iter().zip(&found) {
            prop_assert_eq!(arc, same_arc);
            prop_assert!(weight.abs_diff(*found) <= 1, "{:?}: {} {}", arc, weight, found);
        }
        prop_assert!(contents(&sim, "/out/all")["names"] == contents(&sim, "/out/graph")["names"]);
    }
}

/// Returns the arcs of a graph with the codes of their weights.
fn rows(files: &Files, graph: &str) -> Vec<((u32, u32), u32)> {
    let graph = Graph::open(files, Path::new(graph)).unwrap();
    let (mut found, mut scratch) = (Vec::new(), outcore::graph::ArcScratch::default());
    for block in (0..graph.blocks().len()).map(|block| graph.read_block(block).unwrap()) {
        for local in 0..block.node_count() {
            let node = block.first_node() + local as u32;
            let each = |targets: &[u32], codes: &[u32]| {
                let code = |at| codes.get(at).copied().unwrap_or(Weight::ONE.code());
                let arcs = targets.iter().enumerate();
                found.extend(arcs.map(|(at, &target)| ((node, target), code(at))));
            };
            block.for_each_segment(local, &mut scratch, each).unwrap();
        }
    }
    found
}

/// Returns edges of groups of nodes, the next ones of a sequence that `state` is a place in.
fn random(count: u32, state: &mut u64) -> String {
    let mut next = |below: u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (*state >> 33) % below
    };
    let mut text = String::new();
    for _ in 0..count {
        let group = 40 * next(100);
        text += &format!("n{}\tn{}\t{}\n", group + next(40), group + next(40), 1 + next(20));
    }
    text
}

/// A storage with an old graph of `/in/old.tsv`, and new edges in `/in/new.tsv`.
fn storage(options: &JobOptions) -> Sim {
    let (sim, mut state) = (Sim::new(), 7);
    sim.put("/in/old.tsv", random(4000, &mut state).as_bytes());
    sim.put("/in/new.tsv", random(600, &mut state).as_bytes());
    sim.put("/in/more.tsv", random(600, &mut state).as_bytes());
    build(&files_of(&sim), options, &["/in/old.tsv"], OLD, &Silent).unwrap();
    sim
}

#[test]
fn edges_are_added_again_and_again() {
    let options = plain(true, 2);
    let sim = storage(&options);
    let files = files_of(&sim);
    let all = ["/in/old.tsv", "/in/new.tsv", "/in/more.tsv"];
    build(&files, &options, &all, "/out/all", &Silent).unwrap();
    append(&files, &options, (OLD, "/in/new.tsv"), "/out/one", &Silent).unwrap();
    append(&cramped(&files), &options, ("/out/one", "/in/more.tsv"), "/out/two", &Silent).unwrap();
    assert!(contents(&sim, "/out/two") == contents(&sim, "/out/all"));
    // All edges of the graph once more, and no edge at all.
    append(&files, &options, ("/out/two", "/in/more.tsv"), "/out/three", &Silent).unwrap();
    assert!(contents(&sim, "/out/three")["names"] == contents(&sim, "/out/all")["names"]);
    sim.put("/in/none.tsv", b"# no edge\n");
    append(&files, &options, ("/out/two", "/in/none.tsv"), "/out/same", &Silent).unwrap();
    assert!(contents(&sim, "/out/same") == contents(&sim, "/out/all"));
}

#[test]
fn options_that_are_not_given_are_those_of_the_graph() {
    let mut options = plain(true, 1);
    options.input.directed = true;
    options.duplicates = Duplicates::Max;
    options.input.weight_transform = outcore::input::WeightTransform::Log;
    options.min_weight = Some(1.5);
    let sim = storage(&options);
    let files = files_of(&sim);
    build(&files, &options, &["/in/old.tsv", "/in/new.tsv"], "/out/all", &Silent).unwrap();
    let mut taken = JobOptions { append: Some(OLD.into()), ..plain(true, 1) };
    taken.adopt(&files, &[]).unwrap();
    append(&files, &taken, (OLD, "/in/new.tsv"), "/out/graph", &Silent).unwrap();
    assert!(contents(&sim, "/out/graph") == contents(&sim, "/out/all"));
    let mut given = JobOptions { append: Some(OLD.into()), ..plain(true, 1) };
    given.adopt(&files, &[outcore::error::opt::DUPLICATES]).unwrap();
    let error = append(&files, &given, (OLD, "/in/new.tsv"), "/out/x", &Silent).unwrap_err();
    let message = "`/in/old.graph` was built with `--duplicates max`, but edges are to be added \
                   with `--duplicates sum`";
    assert_eq!((error.kind(), error.message()), (ErrorKind::Usage, message));
}

#[test]
fn other_options_than_those_of_the_graph_are_refused() {
    let plain = plain(true, 1);
    let sim = storage(&plain);
    let files = files_of(&sim);
    let before = sim.paths();
    let mut others: Vec<(&str, JobOptions)> = vec![
        ("--directed", plain.clone()),
        ("--ignore-weights", plain.clone()),
        ("--weight-transform log", plain.clone()),
        ("--self-loops drop", JobOptions { keep_loops: false, ..plain.clone() }),
        ("--duplicates first", JobOptions { duplicates: Duplicates::First, ..plain.clone() }),
        ("--min-weight 2", JobOptions { min_weight: Some(2.0), ..plain.clone() }),
        ("--max-weight 9", JobOptions { max_weight: Some(9.0), ..plain.clone() }),
    ];
    others[0].1.input.directed = true;
    others[1].1.input.ignore_weights = true;
    others[2].1.input.weight_transform = outcore::input::WeightTransform::Log;
    for (option, options) in others {
        let done = append(&files, &options, (OLD, "/in/new.tsv"), "/out/graph", &Silent);
        let error = done.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{option}");
        let end = format!("but edges are to be added with `{option}`");
        assert!(error.message().ends_with(&end), "{error}");
        assert!(error.hint_text().is_some(), "{option}");
    }
    assert_eq!(sim.paths(), before, "nothing is written");
}

#[test]
fn graphs_that_cannot_be_added_to_are_refused() {
    let options = plain(true, 1);
    let sim = storage(&options);
    let files = files_of(&sim);
    let scored =
        JobOptions { keep_loops: false, normalize: Normalize::SelfScore, ..options.clone() };
    build(&files, &scored, &["/in/old.tsv"], "/in/scored.graph", &Silent).unwrap();
    let bare = GraphOptions {
        node_count: 2,
        directed: false,
        duplicates: Duplicates::Sum,
        keep_loops: true,
    };
    let bare = GraphWriter::create(&files, Path::new("/in/bare.graph"), &bare).unwrap();
    bare.finish().unwrap();
    let before = sim.paths();
    let refused = |old: &str, options: &JobOptions, graph: &str| {
        let error = append(&files, options, (old, "/in/new.tsv"), graph, &Silent).unwrap_err();
        assert!(error.hint_text().is_some(), "{error}");
        assert_eq!(sim.paths(), before, "nothing is written");
        (error.kind(), error.message().to_owned())
    };
    let usage = |old: &str, options: &JobOptions, graph: &str| {
        let (kind, message) = refused(old, options, graph);
        assert_eq!(kind, ErrorKind::Usage, "{message}");
        message
    };
    let to = "/out/graph";
    assert!(usage("/in/scored.graph", &scored, to).contains("`--normalize self-score`"));
    assert!(usage("/in/bare.graph", &options, to).contains("has no names"));
    assert!(usage("/in/old.tsv", &options, to).contains("is not a graph"));
    let same = usage(OLD, &options, OLD);
    assert_eq!(same, "`/in/old.graph` is both the graph to add to and `--output`");
    assert!(usage(OLD, &options, "/in/old.graph/new").contains("is inside `/in/old.graph`"));
    let within = JobOptions { work_dir: OLD.into(), ..options.clone() };
    assert!(usage(OLD, &within, to).contains("`--work-dir` is inside"));
    let source = Source::Edges(Box::new(JobOptions { append: Some(OLD.into()), ..options }));
    let method = outcore::cluster::ClusterOptions::default();
    let found = job::cluster(&files, &source, &method, Path::new("/out/x"), &Silent);
    assert!(found.unwrap_err().message().contains("is for `outcore build`"));
}

#[test]
fn a_damaged_graph_is_refused_wherever_the_damage_is() {
    let options = plain(true, 2);
    let whole = storage(&options);
    append(&files_of(&whole), &options, (OLD, "/in/new.tsv"), "/out/graph", &Silent).unwrap();
    let expected = contents(&whole, "/out/graph");
    let (mut errors, mut same) = (0, 0);
    for name in FILES {
        let path = Path::new(OLD).join(name);
        for at in (0..whole.get(&path).unwrap().len()).step_by(151) {
            let sim = storage(&options);
            sim.damage(&path, at, 1 << (at % 8));
            let done =
                append(&files_of(&sim), &options, (OLD, "/in/new.tsv"), "/out/graph", &Silent);
            match done {
                Ok(_) => {
                    same += 1;
                    assert!(contents(&sim, "/out/graph") == expected, "{name} {at}");
                }
                Err(error) => {
                    errors += 1;
                    assert_eq!(error.kind(), ErrorKind::CorruptFile, "{name} {at}: {error}");
                    assert!(error.message().contains(OLD), "{name} {at}: {error}");
                    let left = sim.paths().into_iter().find(|path| !path.starts_with("/in"));
                    assert_eq!(left, None, "{name} {at}");
                }
            }
        }
    }
    assert!(errors > 20 && errors > 9 * same, "{errors} errors, {same} the same");
}

/// Names of another graph are no names of this one if there are as many; but they must be distinct.
#[test]
fn a_name_that_occurs_twice_is_found_in_memory_and_on_disk() {
    let options = plain(true, 2);
    for is_cramped in [false, true] {
        let sim = storage(&options);
        let files = files_of(&sim);
        let count = Graph::open(&files, Path::new(OLD)).unwrap().node_count();
        let mut names = outcore::graph::NamesWriter::create(&files, Path::new("/x")).unwrap();
        for node in 0..count {
            names.push(format!("m{}", node.min(count - 2)).as_bytes()).unwrap();
        }
        names.finish().unwrap();
        sim.put(Path::new(OLD).join("names"), &sim.get("/x/names").unwrap());
        let given = if is_cramped { cramped(&files) } else { files };
        let done = append(&given, &options, (OLD, "/in/new.tsv"), "/out/graph", &Silent);
        let error = done.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CorruptFile);
        assert!(error.message().ends_with("a name occurs twice"), "{error}");
    }
}

#[test]
fn a_stopped_job_resumes_unless_the_graph_has_changed() {
    let options = plain(true, 2);
    let cramped = |sim: &Sim| {
        let bounds = Cramped { read_save: Duration::ZERO, ..*CRAMPED };
        files_of(sim).with_cramped(bounds)
    };
    let whole = storage(&options);
    append(&cramped(&whole), &options, (OLD, "/in/new.tsv"), "/out/graph", &Silent).unwrap();
    let expected = contents(&whole, "/out/graph");
    let (mut resumed, mut restarted) = (0, 0);
    for stop in (1..).step_by(5) {
        let mut state = storage(&options);
        for changes in [false, true] {
            let sim = state;
            let files = cramped(&sim);
            let stopped = StopAt(AtomicU32::new(stop));
            if append(&files, &options, (OLD, "/in/new.tsv"), "/out/graph", &stopped).is_ok() {
                assert!(resumed > 3 && restarted > 3, "{resumed} {restarted}");
                return;
            }
            if changes {
                let build_other = |path| build(&files, &options, &["/in/more.tsv"], path, &Silent);
                build_other("/other/old").unwrap();
                for name in FILES {
                    let bytes = sim.get(Path::new("/other/old").join(name)).unwrap();
                    sim.put(Path::new(OLD).join(name), &bytes);
                }
                build(&files, &options, &["/in/more.tsv", "/in/new.tsv"], "/other/all", &Silent)
                    .unwrap();
            }
            let warnings = Warnings::default();
            let done = append(&files, &options, (OLD, "/in/new.tsv"), "/out/graph", &warnings);
            let (report, texts) = (done.unwrap(), warnings.into_texts());
            let found = contents(&sim, "/out/graph");
            if changes {
                assert!(found == contents(&sim, "/other/all"), "stopped at {stop}");
                let reason = format!("starts from scratch: `{OLD}` has changed since");
                restarted += usize::from(texts.contains(&reason));
                assert!(!report.resumed, "stopped at {stop}: {texts:?}");
            } else {
                assert!(found == expected, "stopped at {stop}");
                resumed += usize::from(report.resumed);
                assert_eq!(texts, [""; 0], "stopped at {stop}");
            }
            state = storage(&options);
        }
    }
}

const CRAMPED: &Cramped =
    &Cramped { chunk_bytes: 1000, run_records: 200, fan_in: 2, names: 3000, ..Cramped::NOT };
