//! Tests of memory limits: a suggested limit works, half of it is refused before any work, and a job that exceeds its
//! limit ends with an error. On a real disk, as the contents of a simulated one would count as memory.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::MIB;
use outcore::budget::{Limits, SLACK_BYTES};
use outcore::cluster::{ClusterOptions, METHODS, Method, PropagationOptions};
use outcore::input::InputOptions;
use outcore::io::{Files, Meter, own_process};
use outcore::job::{self, JobOptions, Source};
use outcore::plan::Clustering;
use outcore::present::{Preference, PresentOptions, RowForm, SideFiles};
use outcore::progress::{Event, Observer, Silent, Stage};
use outcore::{Error, ErrorKind, Result};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

fn options(directory: &Path, mib: u64) -> JobOptions {
    let input = InputOptions { paths: vec![directory.join("edges")], ..Default::default() };
    let limits = Limits { memory_bytes: mib * MIB, threads: 2 };
    let plain = JobOptions::new(input, limits, directory.to_path_buf());
    JobOptions { keep_loops: true, ..plain }
}

/// Creates a directory with one file of edges.
fn directory_of(lines: impl Iterator<Item = String>) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let mut text = String::new();
    lines.for_each(|line| writeln!(text, "{line}").unwrap());
    Files::default().write(&root.path().join("edges"), text.as_bytes()).unwrap();
    root
}

/// Returns the limit that an error suggests, in MiB.
fn suggested_mib(error: &Error) -> u64 {
    assert_eq!(error.kind(), ErrorKind::MemoryTooSmall, "{error:?}");
    let hint = error.hint_text().unwrap();
    let (_, number) = hint.split_once("--memory ").unwrap();
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    let unit = if number[digits.len()..].starts_with("GiB") { 1024 } else { 1 };
    digits.parse::<u64>().unwrap() * unit
}

/// Runs a job, and checks that it takes no more than its limit and the slack for the program itself.
fn cluster(directory: &Path, mib: u64, wanted: Clustering<'_>) -> Result<()> {
    let source = Source::Edges(Box::new(options(directory, mib)));
    let before = Meter::held_bytes();
    Meter::reset_peak();
    let output = directory.join("out.tsv");
    let Clustering { options, present } = wanted;
    let done =
        job::cluster_and_present(&Files::default(), &source, options, present, &output, &Silent);
    let most = Meter::peak_bytes() - before;
    assert!(most <= mib * MIB + SLACK_BYTES, "{most} bytes at {mib} MiB");
    done.map(drop)
}

/// Returns the clustering and presentation options that need memory of their own.
fn wanted(directory: &Path, method: Method) -> Vec<(&'static str, ClusterOptions, PresentOptions)> {
    let resolution = vec![method.default_resolution().unwrap_or(0.001)];
    let plain = ClusterOptions { method, resolution, ..Default::default() };
    let present = PresentOptions::default();
    let labels = Some(directory.join("labels"));
    let mut all = vec![
        ("plain", plain.clone(), present.clone()),
        ("match", plain.clone(), PresentOptions { earlier: labels.clone(), ..present.clone() }),
        ("pairs", plain.clone(), PresentOptions { rows: RowForm::Pairs, ..present.clone() }),
        ("weights", plain.clone(), PresentOptions { member_weights: true, ..present.clone() }),
        (
            "representatives",
            plain.clone(),
            PresentOptions {
                sides: SideFiles {
                    representatives: Some(directory.join("r.tsv")),
                    ..Default::default()
                },
                ..present.clone()
            },
        ),
    ];
    if matches!(method, Method::MapEquation | Method::Modularity) {
        all.push(("levels", ClusterOptions { levels: true, ..plain.clone() }, present.clone()));
    }
    if method == Method::LabelPropagation {
        let propagation = PropagationOptions { fixed: labels.clone(), ..Default::default() };
        let both = ClusterOptions { initial: labels.clone(), propagation, ..plain.clone() };
        all.push(("initial and fixed", both, present.clone()));
    }
    if method != Method::Components {
        all.push(("initial", ClusterOptions { initial: labels, ..plain }, present));
    }
    all
}

/// Creates a star of 2,000,000 leaves, whose hub has more neighbors than fit in 64 MiB.
fn star() -> tempfile::TempDir {
    directory_of((1..=2_000_000u32).map(|leaf| format!("0\t{leaf}")))
}

/// Creates nodes with two random edges each.
fn random(nodes: u64) -> tempfile::TempDir {
    let mut state = 7u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % nodes
    };
    directory_of((0..2 * nodes).map(move |edge| format!("{}\t{}", edge % nodes, next())))
}

/// Checks that whatever is refused at 64 MiB is refused with a suggested limit, that plan and job work with it, and
/// that half of it is refused. Of other methods than `tried` ones, only plain jobs are planned.
fn suggested_limits_work(shape: &str, root: &tempfile::TempDir, tried: &[Method]) {
    let directory = root.path();
    let files = Files::default();
    files.write(&directory.join("labels"), b"1\t0\n2\t1\n").unwrap();
    let mut refused = 0;
    for method in METHODS.iter().map(|spec| spec.method) {
        for (what, found, present) in wanted(directory, method) {
            if !tried.contains(&method) && what != "plain" {
                continue;
            }
            let text = format!("{shape}, {method:?}, {what}");
            let wanted = Clustering { options: &found, present: &present };
            let plan = |mib| {
                job::plan(&Files::default(), &options(directory, mib), Some(wanted)).map(drop)
            };
            let Err(error) = plan(64) else { continue };
            refused += 1;
            let mib = suggested_mib(&error);
            plan(mib).unwrap_or_else(|error| panic!("{text} at {mib} MiB: {error:?}"));
            for less in [64, mib / 2] {
                let error = cluster(directory, less, wanted).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::MemoryTooSmall, "{text}: {error:?}");
                let left = files.list(directory).unwrap().len();
                assert_eq!(left, 2, "{text} at {less} MiB: refused before work");
            }
            let is_tried = method == Method::MapEquation && what == "initial";
            let is_plain = what == "plain" && tried.contains(&method);
            if is_tried || is_plain || what == "initial and fixed" {
                cluster(directory, mib, wanted).unwrap_or_else(|error| panic!("{text}: {error:?}"));
                files.remove(&directory.join("out.tsv")).unwrap();
            }
        }
    }
    assert!(refused >= 2 * tried.len(), "{refused} are refused at 64 MiB");
}

#[test]
fn suggested_limits_work_for_a_star() {
    suggested_limits_work("star", &star(), &[Method::MapEquation]);
}

#[test]
fn suggested_limits_work_for_many_nodes() {
    suggested_limits_work("random", &random(1_200_000), &[Method::LabelPropagation]);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn suggested_limits_work_with_every_method() {
    let all: Vec<Method> = METHODS.iter().map(|spec| spec.method).collect();
    suggested_limits_work("star", &star(), &all);
    suggested_limits_work("random", &random(1_200_000), &all);
}

/// Names of a million records do not fit in 64 MiB. Of the forms, one of `by` is tried.
fn check_forms_of_components(by: usize) {
    let name = |record: u64| format!("a.record.with.a.long.name.{record}");
    let pair = |at: u64| {
        let (source, target) = (at % 1_000_000, at * 7919 % 1_000_003);
        format!("{}\t{}\t0.{}", name(source), name(target), 1 + at % 9)
    };
    let root = directory_of((0..1_500_000).map(pair));
    let directory = root.path();
    let files = Files::default();
    let priorities: String =
        (0..1_000_000).map(|at| format!("{}\t{}\n", name(at), at % 17)).collect();
    files.write(&directory.join("priorities"), priorities.as_bytes()).unwrap();
    let plain = ClusterOptions { method: Method::Components, ..ClusterOptions::default() };
    let thresholds = || (1..=9).map(|tenths| f64::from(tenths) / 10.0).collect();
    let several = ClusterOptions { thresholds: thresholds(), ..plain.clone() };
    let present = PresentOptions::default();
    let chosen = PresentOptions {
        prefer: Some(Preference::File(directory.join("priorities"))),
        sides: SideFiles {
            representatives: Some(directory.join("r.tsv")),
            keep: Some(directory.join("keep")),
            drop: Some(directory.join("drop")),
            ..Default::default()
        },
        ..present.clone()
    };
    let heights = PresentOptions {
        sides: SideFiles { heights: Some(directory.join("heights")), ..Default::default() },
        ..present.clone()
    };
    let columns = ClusterOptions { levels: true, ..several.clone() };
    let other = ClusterOptions { method: Method::LabelPropagation, ..several.clone() };
    let all = [
        ("one threshold", plain.clone(), present.clone()),
        ("files", several.clone(), present.clone()),
        ("columns", columns, present.clone()),
        ("heights", ClusterOptions { heights: true, ..several.clone() }, heights),
        ("chosen", plain, chosen.clone()),
        ("chosen at each threshold", several, chosen),
        ("another method", other, present),
    ];
    for (what, found, present) in all.into_iter().step_by(by) {
        let wanted = Clustering { options: &found, present: &present };
        let planned = job::plan(&files, &options(directory, 64), Some(wanted));
        let mib = planned.map_or_else(|error| suggested_mib(&error), |_| 64);
        cluster(directory, mib, wanted).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    }
}

#[test]
fn components_in_some_forms_stay_within_the_limit() {
    check_forms_of_components(3);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn components_in_every_form_stay_within_the_limit() {
    check_forms_of_components(1);
}

/// Links of at most five million nodes fit in 64 MiB, with several thresholds.
#[test]
fn components_of_nodes_beyond_memory_stay_within_the_limit() {
    let pair = |at: u64| format!("{at}\t{}\t0.{}", at * 7919 % 6_000_011, 1 + at % 9);
    let root = directory_of((0..6_000_000).map(pair));
    let found = ClusterOptions {
        method: Method::Components,
        thresholds: vec![0.7, 0.5],
        ..ClusterOptions::default()
    };
    let present = PresentOptions::default();
    cluster(root.path(), 64, Clustering { options: &found, present: &present }).unwrap();
}

/// A tree has as many modules as nodes where nearly every node is a community.
#[test]
fn a_tree_of_many_modules_stays_within_the_suggested_limit() {
    // A third of the nodes in pairs, each with a loop, and single nodes with nothing else.
    let pairs = (0..250_000u32).map(|pair| format!("{}\t{}", 2 * pair, 2 * pair + 1));
    let loops = (0..1_500_000u32).map(|node| format!("{node}\t{node}"));
    let root = directory_of(pairs.chain(loops));
    let found =
        ClusterOptions { method: Method::MapEquation, levels: true, ..ClusterOptions::default() };
    let present = PresentOptions::default();
    let wanted = Clustering { options: &found, present: &present };
    let mib = suggested_mib(&cluster(root.path(), 64, wanted).unwrap_err());
    cluster(root.path(), mib, wanted).unwrap();
}

/// Integers have a compact index until the first other name, from which on the index takes several times the memory.
#[test]
fn names_after_many_integers_stay_within_the_limit() {
    let numbers = (0..4_000_000u32).map(|at| format!("{}\t{at}", at / 2));
    let names = (0..50_000u32).map(|at| format!("name {at}\t{at}"));
    let root = directory_of(numbers.chain(names));
    let options = options(root.path(), 64);
    let before = Meter::held_bytes();
    Meter::reset_peak();
    let graph = root.path().join("graph");
    let report = job::build(&Files::default(), &options, &graph, &Silent).unwrap();
    assert_eq!(report.graph.unwrap().node_count, 4_050_000);
    assert!(Meter::peak_bytes() - before <= 64 * MIB + SLACK_BYTES, "{}", Meter::peak_bytes());
}

/// Observer that takes more memory than the limit when the merge begins, as a decoder might.
struct Greedy {
    taken: Mutex<Vec<u8>>,
    bytes: u64,
}

impl Observer for Greedy {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        if matches!(event, Event::Begin { stage: Stage::Merge, .. }) {
            // Touched, and still held when the next sample is taken.
            *self.taken.lock().unwrap() = vec![1; usize::try_from(self.bytes).unwrap()];
            std::thread::sleep(Duration::from_millis(200));
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_job_that_exceeds_its_limit_ends_with_an_error_and_can_be_resumed() {
    let root = random(800_000);
    let (options, graph) = (options(root.path(), 64), root.path().join("graph"));
    let greedy = Greedy { taken: Mutex::default(), bytes: 64 * MIB + SLACK_BYTES };
    let error = job::build(&Files::default(), &options, &graph, &greedy).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
    assert!(error.to_string().contains("beyond its limit of 64.0 MiB"), "{error}");
    assert!(error.kept_text().unwrap().contains("resumes from there"), "{error:?}");
    drop(greedy);
    let report = job::build(&Files::default(), &options, &graph, &Silent).unwrap();
    assert!(report.resumed);
}

/// Child process of the test that follows.
#[test]
#[ignore = "runs in a process that the next test starts"]
#[expect(clippy::exit, reason = "as the command does")]
fn a_job_in_a_process_of_its_own() {
    own_process(|error| {
        eprintln!("ended: {error}; kept: {}", error.kept_text().unwrap());
        std::process::exit(4);
    });
    let directory = std::env::var_os("OUTCORE_TEST_DIRECTORY").unwrap();
    let directory = Path::new(&directory);
    let greedy = Greedy { taken: Mutex::default(), bytes: 2 * (64 * MIB + SLACK_BYTES) };
    let graph = directory.join("graph");
    let _ = job::build(&Files::default(), &options(directory, 64), &graph, &greedy);
}

#[test]
fn a_process_that_far_exceeds_its_limit_ends_immediately_and_can_be_resumed() {
    let root = random(800_000);
    let this = std::env::current_exe().unwrap();
    let child = Command::new(this)
        .args(["--exact", "memory::a_job_in_a_process_of_its_own", "--ignored", "--nocapture"])
        .env("OUTCORE_TEST_DIRECTORY", root.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stderr);
    assert_eq!(child.status.code(), Some(4), "{output}");
    assert!(output.contains("beyond its limit of 64.0 MiB; kept: what is finished"), "{output}");
    let (options, graph) = (options(root.path(), 64), root.path().join("graph"));
    let report = job::build(&Files::default(), &options, &graph, &Silent).unwrap();
    assert!(report.resumed);
}

/// Names of the graph and of the new edges do not fit in the limit.
#[test]
fn adding_edges_stays_within_the_limit() {
    let name = |node: u64| format!("a.protein.with.a.long.name.{node}");
    let edge = |at: u64| format!("{} {}", name(at), name(at * 7919 % 2_500_000));
    let root = directory_of((0..1_500_000).map(edge));
    let (files, path) = (Files::default(), root.path());
    let new: String = (0..200_000).map(|at| edge(at * 13) + "\n").collect();
    files.write(&path.join("new"), new.as_bytes()).unwrap();
    let build = |inputs: &[&str], append: Option<&str>, graph: &str, mib: u64| {
        let mut options = options(path, mib);
        options.input.paths = inputs.iter().map(|input| path.join(input)).collect();
        options.append = append.map(|graph| path.join(graph));
        let before = Meter::held_bytes();
        Meter::reset_peak();
        let report = job::build(&files, &options, &path.join(graph), &Silent).unwrap();
        let most = Meter::peak_bytes() - before;
        assert!(most <= mib * MIB + SLACK_BYTES, "{most} bytes at {mib} MiB");
        report
    };
    build(&["edges"], None, "old", 512);
    build(&["edges", "new"], None, "all", 512);
    let report = build(&["new"], Some("old"), "graph", 64);
    assert!(report.input.unwrap().names_on_disk_count > 0);
    for name in ["arcs", "names", "graph.json"] {
        let bytes = |graph: &str| files.read(&path.join(graph).join(name)).unwrap();
        assert!(bytes("graph") == bytes("all"), "{name}");
    }
}
