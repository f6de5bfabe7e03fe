//! Guarantees about presenting and scoring results, on the simulated storage.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::stop::StopAt;
use crate::common::warnings::Warnings;
use crate::common::{MIB, files_of, options, storage_of};
use outcore::budget::Limits;
use outcore::cluster::{ClusterOptions, METHODS, Method, PropagationOptions, WellConnected};
use outcore::input::CommunityInput;
use outcore::job::{self, JobOptions, ScoreOptions, ScoreReport, Source, Unnamed};
use outcore::present::{LevelForm, PresentOptions, RowForm, SideFiles, Small};
use outcore::progress::{Observer, Silent};
use outcore::{ErrorKind, Result};
use outcore_testkit::sim::{Fault, Sim};
use std::collections::BTreeMap;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

const OUTPUT: &str = "/out/communities.tsv";
const EARLIER: &str = "/in/earlier.tsv";
const REPRESENTATIVES: &str = "/out/representatives.tsv";
const GRAPH: &str = "/out/graph";

/// Creates groups of 3 to 14 nodes with short and long names, and an earlier result that names most of them.
fn storage() -> Sim {
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let name = |group: u64, node: u64| match node % 2 {
        0 => format!("{group}/{node}"),
        _ => format!("a long name of node {node} in group {group}"),
    };
    let (mut edges, mut earlier) = (String::new(), String::from("# an earlier result\n"));
    for group in 0..60 {
        let size = 3 + group % 12;
        for node in 0..size {
            let weight = 1 + next(9);
            edges +=
                &format!("{}\t{}\t{weight}\n", name(group, node), name(group, (node + 1) % size));
            edges += &format!("{}\t{}\t{weight}\n", name(group, node), name(group, next(size)));
            if next(10) > 0 {
                let number = 1000 - group - next(2) * next(2);
                earlier += &format!("{}\t{number}\n", name(group, node));
            }
        }
        edges += &format!("{}\t{}\t0.1\n", name(group, 0), name(next(60), 0));
    }
    earlier += "unknown\t5000\n";
    let sim = storage_of(&edges);
    sim.put(EARLIER, earlier.as_bytes());
    sim
}

fn present(min_size: u32, small: Small) -> PresentOptions {
    PresentOptions {
        min_size,
        small,
        earlier: Some(EARLIER.into()),
        sides: SideFiles { representatives: Some(REPRESENTATIVES.into()), ..Default::default() },
        ..PresentOptions::default()
    }
}

fn cluster(
    sim: &Sim,
    options: JobOptions,
    present: &PresentOptions,
    observer: &dyn Observer,
) -> Result<job::Report> {
    let files = files_of(sim);
    let source = Source::Edges(Box::new(options));
    let clustering = ClusterOptions { trials: Some(1), ..ClusterOptions::default() };
    let output = Path::new(OUTPUT);
    job::cluster_and_present(&files, &source, &clustering, present, output, observer)
}

#[test]
fn threads_and_memory_and_short_transfers_change_no_byte_of_presented_results() {
    for (min_size, small) in [(1, Small::Drop), (8, Small::Drop), (8, Small::Singletons)] {
        let mut results = Vec::new();
        for (threads, memory, short) in [(1, 96, false), (2, 300, false), (5, 1024, true)] {
            let sim = storage();
            sim.set_short_transfers(short);
            let present = present(min_size, small);
            let report = cluster(&sim, options(threads, memory * MIB), &present, &Silent).unwrap();
            let presented = report.communities.unwrap().presented.unwrap();
            assert!(presented.kept_number_count > Some(10));
            assert_eq!(presented.small_node_count > 0, min_size > 1);
            results.push((sim.get(OUTPUT).unwrap(), sim.get(REPRESENTATIVES).unwrap()));
            assert_eq!(sim.paths().len(), 4, "nothing else is left: {:?}", sim.paths());
            let lines = results[0].1.iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(lines as u64, presented.written_community_count);
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn a_result_matched_with_itself_is_the_same() {
    let sim = storage();
    let plain = PresentOptions::default();
    cluster(&sim, options(2, 128 * MIB), &plain, &Silent).unwrap();
    let expected = sim.get(OUTPUT).unwrap();
    let again = PresentOptions { earlier: Some(OUTPUT.into()), ..plain };
    cluster(&sim, options(2, 128 * MIB), &again, &Silent).unwrap();
    assert_eq!(sim.get(OUTPUT).unwrap(), expected);
}

/// Returns the fields of each row.
fn rows(sim: &Sim, path: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(sim.get(path).unwrap()).unwrap();
    let is_head =
        |line: &str| ["node\t", "representative\t", "# "].iter().any(|head| line.starts_with(head));
    let lines = text.lines().filter(|line| !is_head(line));
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// Returns weights inside communities by definition: those of edges with both ends in the community.
fn inside(sim: &Sim, communities: &BTreeMap<String, String>) -> BTreeMap<String, f64> {
    let mut weights: BTreeMap<String, f64> = communities.keys().map(|k| (k.clone(), 0.0)).collect();
    for edge in rows(sim, "/in/edges.tsv") {
        let (source, target) = (&edge[0], &edge[1]);
        let is_inside = communities.contains_key(source)
            && communities.get(source) == communities.get(target)
            && source != target;
        for end in [source, target].into_iter().filter(|_| is_inside) {
            *weights.get_mut(end).unwrap() += edge[2].parse::<f64>().unwrap();
        }
    }
    weights
}

#[test]
fn rows_of_any_form_give_the_same_result() {
    for small in [Small::Drop, Small::Singletons] {
        let reported = |rows, member_weights, memory| {
            let sim = storage();
            let present = PresentOptions { rows, member_weights, ..present(6, small) };
            let options = JobOptions { keep_loops: false, ..options(2, memory * MIB) };
            cluster(&sim, options, &present, &Silent).unwrap();
            let written = sim.get(OUTPUT).unwrap();
            (sim, written)
        };
        let (sim, plain) = reported(RowForm::Nodes, false, 256);
        let nodes = rows(&sim, OUTPUT);
        let of_node: BTreeMap<String, String> =
            nodes.iter().map(|row| (row[0].clone(), row[1].clone())).collect();
        let inside = inside(&sim, &of_node);
        let is_inside =
            |name: &str, weight: &str| (weight.parse::<f64>().unwrap() - inside[name]).abs() < 1e-3;

        let (weighed, _) = reported(RowForm::Nodes, true, 256);
        let weighed = rows(&weighed, OUTPUT);
        let without: String =
            weighed.iter().map(|row| format!("{}\t{}\n", row[0], row[1])).collect();
        assert_eq!(without.as_bytes(), plain);
        for row in &weighed {
            assert!(is_inside(&row[0], &row[2]), "{row:?}: {}", inside[&row[0]]);
        }

        let mut members: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for row in &nodes {
            members.entry(row[1].parse().unwrap()).or_default().push(row[0].clone());
        }
        let (lines, _) = reported(RowForm::Communities, false, 96);
        assert_eq!(rows(&lines, OUTPUT), members.values().cloned().collect::<Vec<_>>());

        let (pairs, _) = reported(RowForm::Pairs, true, 96);
        let leaders: BTreeMap<u64, String> = rows(&pairs, REPRESENTATIVES)
            .into_iter()
            .map(|row| (row[0].parse().unwrap(), row[1].clone()))
            .collect();
        let expected: Vec<[String; 2]> = members
            .iter()
            .flat_map(|(number, names)| {
                let leader = &leaders[number];
                let others = names.iter().filter(move |name| *name != leader);
                std::iter::once(leader).chain(others).map(|name| [leader.clone(), name.clone()])
            })
            .collect();
        let found = rows(&pairs, OUTPUT);
        assert!(found.iter().all(|row| is_inside(&row[1], &row[2])));
        assert_eq!(
            found.iter().map(|row| [&row[0], &row[1]]).collect::<Vec<_>>(),
            expected.iter().map(|pair| [&pair[0], &pair[1]]).collect::<Vec<_>>()
        );
    }
}

#[test]
fn rows_that_contradict_other_options_are_refused_before_any_work() {
    let plain = PresentOptions::default();
    let cases = [
        (RowForm::Communities, true, false, OUTPUT, "no place for `--member-weights`"),
        (RowForm::Pairs, false, true, OUTPUT, "`--levels` and `--rows` cannot be written"),
        (RowForm::Nodes, true, true, OUTPUT, "`--levels` and `--member-weights` cannot be"),
        (
            RowForm::Pairs,
            false,
            false,
            "/out/c.parquet",
            "is a table, which has a row for each node",
        ),
    ];
    for (rows, member_weights, levels, output, message) in cases {
        let sim = storage();
        let present =
            PresentOptions { rows, member_weights, levels: LevelForm::Columns, ..plain.clone() };
        let source = Source::Edges(Box::new(options(2, 128 * MIB)));
        let clustering = ClusterOptions { levels, ..ClusterOptions::default() };
        let (files, output) = (files_of(&sim), Path::new(output));
        let done =
            job::cluster_and_present(&files, &source, &clustering, &present, output, &Silent);
        let error = done.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.message().contains(message), "{error}");
        assert!(error.hint_text().is_some());
    }
}

#[test]
fn each_of_several_results_has_its_representatives() {
    let sim = storage();
    let files = files_of(&sim);
    let source = Source::Edges(Box::new(options(2, 128 * MIB)));
    let propagation = PropagationOptions { attenuation: vec![0.0, 0.5], ..Default::default() };
    let method = Method::LabelPropagation;
    let clustering = ClusterOptions { method, propagation, ..ClusterOptions::default() };
    let present = present(8, Small::Drop);
    let output = Path::new(OUTPUT);
    let report =
        job::cluster_and_present(&files, &source, &clustering, &present, output, &Silent).unwrap();
    assert_eq!(report.results.len(), 2);
    for (result, value) in report.results.iter().zip(["0", "0.5"]) {
        let presented = result.communities.presented.as_ref().unwrap();
        let text = sim.get(format!("/out/representatives.{value}.tsv")).unwrap();
        let lines = text.iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(lines as u64, presented.written_community_count);
        assert!(sim.get(format!("/out/communities.{value}.tsv")).is_some());
    }
}

#[test]
fn a_fault_at_any_time_leaves_only_what_the_error_reports() {
    // The job makes 201 to 210 operations.
    for at in 0..=210 {
        let sim = storage();
        sim.set_fault(Some(Fault { at, forever: true, kind: IoErrorKind::StorageFull }));
        match cluster(&sim, options(2, 128 * MIB), &present(8, Small::Drop), &Silent) {
            Ok(_) => return assert!(at > 20),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::DiskFull, "fault {at}");
                let left = sim.paths().into_iter().filter(|path| path.starts_with("/disk"));
                let is_kept = error.kept_text().is_some();
                assert_eq!(left.count() > 0, is_kept, "fault {at}: {:?}", sim.paths());
                assert!(sim.get(OUTPUT).is_none(), "fault {at}");
            }
        }
    }
    panic!("the job never ends");
}

fn build(sim: &Sim) {
    let files = files_of(sim);
    job::build(&files, &options(2, 128 * MIB), Path::new(GRAPH), &Silent).unwrap();
}

fn score_options(threads: usize, memory_bytes: u64) -> ScoreOptions {
    ScoreOptions {
        graph: GRAPH.into(),
        communities: OUTPUT.into(),
        against: Some(EARLIER.into()),
        resolution: 1.0,
        recorded_teleportation: false,
        well_connected: Some(WellConnected::default()),
        unnamed: Unnamed::Stop,
        input: CommunityInput::default(),
        limits: Limits { memory_bytes, threads },
        work_dir: PathBuf::from("/disk"),
    }
}

fn score(sim: &Sim, options: &ScoreOptions, observer: &dyn Observer) -> Result<ScoreReport> {
    job::score(&files_of(sim), options, observer)
}

#[test]
fn scores_are_independent_of_memory_and_threads() {
    let sim = storage();
    build(&sim);
    let report = cluster(&sim, options(2, 128 * MIB), &PresentOptions::default(), &Silent).unwrap();
    let files = sim.paths();
    let mut scores = Vec::new();
    for (threads, memory, short) in [(1, 96, false), (3, 300, true), (2, 1024, false)] {
        sim.set_short_transfers(short);
        let found = score(&sim, &score_options(threads, memory * MIB), &Silent).unwrap();
        assert_eq!(sim.paths(), files, "nothing is left");
        let against = found.against.unwrap();
        assert_eq!(
            (found.unmatched.unnamed_count, found.unmatched.unknown_count, against.unknown_count),
            (0, 0, 1)
        );
        assert!(against.agreement.nmi > 0.8 && against.agreement.nmi < 1.0);
        scores.push((found.quality, against.agreement, found.well_connected.unwrap()));
    }
    assert!(scores.windows(2).all(|pair| pair[0] == pair[1]));
    let communities = report.communities.unwrap();
    let (quality, _, connected) = scores[0];
    assert!(connected.well_connected_count <= connected.community_count);
    assert!(
        connected.community_count <= quality.sizes.community_count - quality.sizes.singleton_count
    );
    assert!((quality.modularity - communities.measures.modularity).abs() < 1e-12);
    assert_eq!(quality.sizes.community_count, communities.sizes.community_count);
}

#[test]
fn unnamed_nodes_are_an_error_or_singletons() {
    let sim = storage();
    build(&sim);
    let report = cluster(&sim, options(2, 128 * MIB), &present(8, Small::Drop), &Silent).unwrap();
    let left_out = report.communities.unwrap().presented.unwrap();
    let mut options = score_options(2, 128 * MIB);
    let error = score(&sim, &options, &Silent).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadInput);
    assert!(error.hint_text().unwrap().contains("--unnamed singletons"));
    options.unnamed = Unnamed::Singletons;
    let found = score(&sim, &options, &Silent).unwrap();
    assert_eq!(found.unmatched.unnamed_count, left_out.small_node_count);
    assert_eq!(found.quality.sizes.singleton_count, left_out.small_node_count);
    let communities = left_out.small_node_count + left_out.written_community_count;
    assert_eq!(found.quality.sizes.community_count, communities);
}

#[test]
fn a_stop_at_any_event_is_obeyed() {
    let sim = storage();
    build(&sim);
    cluster(&sim, options(2, 128 * MIB), &PresentOptions::default(), &Silent).unwrap();
    let files = sim.paths();
    let mut stopped = 0;
    while let Err(error) = score(&sim, &score_options(2, 128 * MIB), &StopAt(stopped.into())) {
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        assert_eq!(sim.paths(), files, "event {stopped}");
        stopped += 1;
    }
    assert!(stopped > 8);
    for event in 0.. {
        let sim = storage();
        let observer = StopAt(event.into());
        match cluster(&sim, options(2, 128 * MIB), &present(8, Small::Drop), &observer) {
            Ok(_) => return assert!(event > 15),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Interrupted);
                let left = sim.paths().into_iter().filter(|path| path.starts_with("/disk"));
                assert_eq!(left.count() > 0, error.kept_text().is_some(), "event {event}");
            }
        }
    }
}

/// Creates two complete graphs of these sizes, with no edges between them.
fn cliques(sizes: [u32; 2]) -> Sim {
    let pairs = |size| (0..size).flat_map(|a| (0..a).map(move |b| (a, b)));
    let of = |(clique, size)| pairs(size).map(move |(a, b)| format!("{clique}n{a} {clique}n{b}\n"));
    storage_of(&(0..).zip(sizes).flat_map(of).collect::<String>())
}

#[test]
fn a_community_of_more_than_half_of_the_nodes_causes_a_warning() {
    for method in METHODS.iter().map(|spec| spec.method) {
        for (sizes, is_giant) in [([12, 12], false), ([14, 12], true), ([12, 14], true)] {
            let (sim, warnings) = (cliques(sizes), Warnings::default());
            let resolution = vec![method.default_resolution().unwrap_or(0.5)];
            let clustering = ClusterOptions { method, resolution, ..ClusterOptions::default() };
            let source = Source::Edges(Box::new(options(2, 128 * MIB)));
            let output = Path::new(OUTPUT);
            let report =
                job::cluster(&files_of(&sim), &source, &clustering, output, &warnings).unwrap();
            assert_eq!(
                report.communities.unwrap().sizes.community_count,
                2,
                "{method:?} {sizes:?}"
            );
            let texts = warnings.into_texts();
            let giants = texts.iter().filter(|text| text.starts_with("one community holds 53.8 %"));
            let expected = usize::from(is_giant);
            assert_eq!(giants.count(), expected, "{method:?} {sizes:?}");
            assert_eq!(texts.len(), expected, "{texts:?}");
        }
    }
}

#[test]
fn a_bad_file_of_communities_fails_before_any_work() {
    let earlier = |path: &Path| {
        let present = PresentOptions { earlier: Some(path.into()), ..PresentOptions::default() };
        (ClusterOptions::default(), present)
    };
    let initial = |path: &Path| {
        let (method, initial) = (Method::LabelPropagation, Some(path.into()));
        let options = ClusterOptions { method, initial, ..ClusterOptions::default() };
        (options, PresentOptions::default())
    };
    let path = Path::new("/in/bad.tsv");
    for (text, (clustering, present), message) in [
        ("a\t1\nb\tx\n", earlier(path), "community is not a number"),
        ("", earlier(path), "names no nodes"),
        ("", initial(path), "names no nodes"),
        ("a\t1\nb\n", initial(path), "the community is column 2"),
    ] {
        let sim = storage();
        sim.put("/in/bad.tsv", text.as_bytes());
        let paths = sim.paths();
        let source = Source::Edges(Box::new(options(2, 128 * MIB)));
        // Stops at the first event.
        let (output, observer) = (Path::new(OUTPUT), StopAt(0.into()));
        let files = files_of(&sim);
        let done =
            job::cluster_and_present(&files, &source, &clustering, &present, output, &observer);
        let error = done.unwrap_err();
        assert_ne!(error.kind(), ErrorKind::Interrupted);
        assert!(error.message().contains(message), "{error}");
        assert_eq!(sim.paths(), paths);
    }
}
