//! Nodes of two kinds, from every input that has them to every output that names them.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::stop::StopAt;
use crate::common::warnings::Warnings;
use crate::common::{MIB, files_of, options, tables};
use arrow_array::RecordBatch;
use outcore::budget::Limits;
use outcore::cluster::{ClusterOptions, Method};
use outcore::graph::{Graph, NodeKinds};
use outcore::input::CommunityInput;
use outcore::io::{Cramped, Files};
use outcore::job::{self, ExportOptions, JobOptions, Report, Source};
use outcore::present::PresentOptions;
use outcore::progress::{Observer, Silent};
use outcore::{ErrorKind, Result};
use outcore_testkit::sim::Sim;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

const GRAPH: &str = "/out/graph";
const LIMITS: Limits = Limits { memory_bytes: 96 * MIB, threads: 2 };

fn of(inputs: &[&str]) -> JobOptions {
    let mut options = options(2, 96 * MIB);
    options.input.paths = inputs.iter().map(PathBuf::from).collect();
    options
}

fn build(files: &Files, options: &JobOptions, observer: &dyn Observer) -> Result<Report> {
    job::build(files, options, Path::new(GRAPH), observer)
}

/// Returns files for which names and runs of a small job are on disk.
fn cramped(files: &Files) -> Files {
    let bounds = Cramped { chunk_bytes: 500, run_records: 60, fan_in: 2, names: 7, ..Cramped::NOT };
    files.with_cramped(bounds)
}

/// Returns the name of the kind of each node, by its own name.
fn kinds_of(files: &Files, graph: &str) -> BTreeMap<String, String> {
    let graph = Graph::open(files, Path::new(graph)).unwrap();
    graph.verify(&Silent).unwrap();
    let kinds = graph.open_kinds().unwrap().unwrap();
    let (mut names, mut scan) = (graph.names().unwrap(), kinds.scan());
    let mut found = BTreeMap::new();
    while let Some(name) = names.next_name().unwrap() {
        let kind = &kinds.names()[usize::from(scan.next_kind().unwrap().unwrap())];
        found.insert(String::from_utf8(name.to_vec()).unwrap(), kind.clone());
    }
    assert_eq!(scan.next_kind().unwrap(), None);
    let NodeKinds { names, counts } = graph.kinds().unwrap();
    for (name, count) in names.iter().zip(counts) {
        assert_eq!(found.values().filter(|kind| *kind == name).count() as u64, count);
    }
    found
}

/// Edges from `u0` to `u39` and to `i0` to `i24`, by number.
fn edges() -> impl Iterator<Item = (u32, u32)> {
    (0..120u32).map(|at| (at * 7 % 40, at * at % 25))
}

fn text(header: &str, separator: &str) -> String {
    let lines = edges().map(|(user, item)| format!("u{user}{separator}i{item}\n"));
    header.to_owned() + &lines.collect::<String>()
}

fn numbers() -> String {
    edges().map(|(user, item)| format!("{} {}\n", user + 1, item + 1)).collect()
}

#[test]
fn every_reader_that_knows_kinds_yields_them() {
    let rows: Vec<tables::Row> = edges()
        .map(|(user, item)| (Some(format!("u{user}")), Some(format!("i{item}")), None))
        .collect();
    let parquet = tables::parquet(&tables::table(&rows, tables::Names::Text, false), 50);
    let matrix =
        format!("%%MatrixMarket matrix coordinate pattern general\n41 26 120\n{}", numbers());
    let konect = format!("% bip unweighted\n{}", numbers());
    let cases: [(&str, Vec<u8>, bool, [&str; 2]); 7] = [
        ("/in/a.csv", text("user_id,item_id\n", ",").into(), false, ["user_id", "item_id"]),
        ("/in/b.tsv", text("", "\t").into(), true, ["source", "target"]),
        ("/in/c.tsv", text("user\tuser\n", "\t").into(), true, ["source", "target"]),
        ("/in/d.csv", text("author,paper\n", ",").into(), true, ["author", "paper"]),
        ("/in/out.konect", konect.into(), false, ["source", "target"]),
        ("/in/e.mtx", matrix.into(), false, ["row", "column"]),
        ("/in/f.parquet", parquet, true, ["source", "target"]),
    ];
    for (path, bytes, two_mode, names) in cases {
        let sim = Sim::new();
        sim.put(path, &bytes);
        let mut options = of(&[path]);
        options.input.two_mode = two_mode;
        if path == "/in/c.tsv" {
            options.input.header = outcore::input::Header::Yes;
        }
        let mut all = Vec::new();
        for files in [files_of(&sim), cramped(&files_of(&sim))] {
            let report = build(&files, &options, &Silent).unwrap_or_else(|e| panic!("{path}: {e}"));
            assert_eq!(report.graph.unwrap().kinds.unwrap().names, names, "{path}");
            assert!(report.warnings.is_empty());
            let found = kinds_of(&files, GRAPH);
            for (name, kind) in &found {
                assert_eq!(name.split(':').next(), Some(kind.as_str()), "{path}");
            }
            // Users and items with an edge; a matrix also has a row and a column without one.
            let more = usize::from(path == "/in/e.mtx");
            let count = |kind: &str| found.values().filter(|found| *found == kind).count();
            let users = edges().map(|edge| edge.0).collect::<std::collections::BTreeSet<_>>().len();
            let items = edges().map(|edge| edge.1).collect::<std::collections::BTreeSet<_>>().len();
            let least = if more == 1 { [41, 26] } else { [users, items] };
            assert_eq!([count(names[0]), count(names[1])], least, "{path}");
            let of = |name: &str| sim.get(Path::new(GRAPH).join(name)).unwrap();
            all.push(["arcs", "names", "kinds", "graph.json"].map(of));
            files.remove_all(Path::new(GRAPH));
        }
        assert!(all[0] == all[1], "{path}: names on disk change nothing");
    }
}

#[test]
fn a_graph_of_one_kind_has_no_file_of_kinds() {
    let sim = Sim::new();
    sim.put("/in/a.tsv", text("", "\t").as_bytes());
    let report = build(&files_of(&sim), &of(&["/in/a.tsv"]), &Silent).unwrap();
    assert_eq!(report.graph.unwrap().kinds, None);
    assert!(sim.get(Path::new(GRAPH).join("kinds")).is_none());
    let manifest =
        String::from_utf8(sim.get(Path::new(GRAPH).join("graph.json")).unwrap()).unwrap();
    assert!(!manifest.contains("kinds"));
}

#[test]
fn files_of_other_kinds_make_a_graph_without_kinds_and_a_warning() {
    let sim = Sim::new();
    sim.put("/in/a.csv", text("user_id,item_id\n", ",").as_bytes());
    sim.put("/in/b.csv", text("user_id,movie_id\n", ",").as_bytes());
    sim.put("/in/c.csv", text("", ",").as_bytes());
    for other in ["/in/b.csv", "/in/c.csv"] {
        let (files, warnings) = (files_of(&sim), Warnings::default());
        let report = build(&files, &of(&["/in/a.csv", other]), &warnings).unwrap();
        assert_eq!(report.graph.unwrap().kinds, None);
        let expected =
            "nodes are not of two kinds in all files, so the graph does not record kinds";
        assert_eq!(warnings.into_texts(), [expected]);
        files.remove_all(Path::new(GRAPH));
    }
}

#[test]
fn listed_nodes_are_of_one_of_the_kinds() {
    let sim = Sim::new();
    sim.put("/in/a.csv", text("user_id,item_id\n", ",").as_bytes());
    sim.put("/in/nodes.txt", b"user_id:u1\nitem_id:new\n");
    let names = tables::column(&[Some("user_id:u1"), Some("item_id:new")], tables::Names::Text);
    let table = RecordBatch::try_from_iter([("node", names)]).unwrap();
    sim.put("/in/nodes.parquet", &tables::parquet(&table, 1));
    sim.put("/in/nodes.arrow", &tables::arrow(&table, 1, false, false));
    sim.put("/in/others.txt", b"item_id:new\nu1\n");
    let (files, mut options) = (files_of(&sim), of(&["/in/a.csv"]));
    for files in [files.clone(), cramped(&files)] {
        for (nodes, two_mode) in ["/in/nodes.txt", "/in/nodes.parquet", "/in/nodes.arrow"]
            .into_iter()
            .flat_map(|path| [(path, false), (path, true)])
        {
            options.input.nodes = Some(nodes.into());
            options.input.two_mode = two_mode;
            build(&files, &options, &Silent).unwrap();
            assert_eq!(kinds_of(&files, GRAPH)["item_id:new"], "item_id");
            files.remove_all(Path::new(GRAPH));
        }
        options.input.nodes = Some("/in/others.txt".into());
        let error = build(&files, &options, &Silent).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadInput);
        assert_eq!(error.message(), "node `u1` is neither of the kind `user_id` nor `item_id`");
    }
}

#[test]
fn added_edges_are_between_nodes_of_the_same_kinds() {
    let sim = Sim::new();
    let all = text("", ",");
    let (old, new) = all.split_at(all.match_indices('\n').nth(60).unwrap().0 + 1);
    let header = "user_id,item_id\n";
    sim.put("/in/old.csv", format!("{header}{old}").as_bytes());
    sim.put("/in/new.csv", format!("{header}{new}").as_bytes());
    sim.put("/in/other.csv", format!("user_id,movie_id\n{new}").as_bytes());
    sim.put("/in/none.csv", new.as_bytes());
    let files = files_of(&sim);
    let to = |options: &JobOptions, files: &Files, graph: &str| {
        job::build(files, options, Path::new(graph), &Silent)
    };
    to(&of(&["/in/old.csv", "/in/new.csv"]), &files, "/out/all").unwrap();
    to(&of(&["/in/old.csv"]), &files, "/out/old").unwrap();
    to(&of(&["/in/none.csv"]), &files, "/out/none").unwrap();
    let added =
        |graph: &str, input: &str| JobOptions { append: Some(graph.into()), ..of(&[input]) };
    for (files, graph) in [(files.clone(), "/out/one"), (cramped(&files), "/out/two")] {
        to(&added("/out/old", "/in/new.csv"), &files, graph).unwrap();
        for name in ["arcs", "names", "kinds", "graph.json"] {
            let of = |graph: &str| sim.get(Path::new(graph).join(name)).unwrap();
            assert!(of("/out/all") == of(graph), "{name}");
        }
    }
    let refused =
        [("/out/old", "/in/other.csv"), ("/out/old", "/in/none.csv"), ("/out/none", "/in/new.csv")];
    for (graph, input) in refused {
        let error = to(&added(graph, input), &files, "/out/x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.message().starts_with(&format!("`{graph}` has nodes ")), "{error}");
    }
}

#[test]
fn a_job_stopped_at_any_event_resumes_with_the_same_kinds() {
    let lines: String =
        (0..3000u64).map(|at| format!("{},{}\n", at * at % 997, at * 31 % 211)).collect();
    let text = format!("user_id,item_id\n{lines}");
    let cramped = Cramped {
        chunk_bytes: 2000,
        run_records: 400,
        names: 500,
        read_save: Duration::ZERO,
        ..Cramped::NOT
    };
    let storage = || {
        let sim = Sim::new();
        sim.put("/in/a.csv", text.as_bytes());
        sim
    };
    let results = |sim: &Sim| {
        ["arcs", "names", "kinds", "graph.json"]
            .map(|name| sim.get(Path::new(GRAPH).join(name)).unwrap())
    };
    let sim = storage();
    build(&files_of(&sim).with_cramped(cramped), &of(&["/in/a.csv"]), &Silent).unwrap();
    let expected = results(&sim);
    let mut stopped = 0;
    for at in 1.. {
        let sim = storage();
        let files = files_of(&sim).with_cramped(cramped);
        match build(&files, &of(&["/in/a.csv"]), &StopAt(AtomicU32::new(at))) {
            Ok(_) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted),
        }
        stopped += 1;
        build(&files, &of(&["/in/a.csv"]), &Silent).unwrap();
        assert!(results(&sim) == expected, "stopped at event {at}");
    }
    assert!(stopped > 10, "{stopped}");
}

/// A graph of two kinds, in `/out/graph`.
fn clustered(output: &str, has_header: bool, thresholds: &[f64]) -> (Sim, String) {
    let sim = Sim::new();
    sim.put("/in/a.csv", b"user_id,item_id\n1,1\n1,2\n2,2\n3,3\n");
    let files = files_of(&sim);
    build(&files, &of(&["/in/a.csv"]), &Silent).unwrap();
    let source = Source::Graph {
        path: GRAPH.into(),
        limits: LIMITS,
        work_dir: "/disk".into(),
        restart: false,
    };
    let (thresholds, levels) = (thresholds.to_vec(), !thresholds.is_empty());
    let defaults = ClusterOptions::default();
    let method = ClusterOptions { method: Method::Components, thresholds, levels, ..defaults };
    let presented = PresentOptions { output_header: has_header, ..PresentOptions::default() };
    let output = Path::new(output);
    job::cluster_and_present(&files, &source, &method, &presented, output, &Silent).unwrap();
    let text = String::from_utf8(sim.get(output).unwrap()).unwrap();
    (sim, text)
}

#[test]
fn results_with_names_of_columns_have_a_column_of_kinds() {
    let text = clustered("/out/c.tsv", false, &[]).1;
    assert_eq!(text.lines().next(), Some("user_id:1\t0"));
    let text = clustered("/out/c.tsv", true, &[]).1;
    let lines: Vec<&str> = text.lines().take(3).collect();
    assert_eq!(lines, ["node\tcommunity\tkind", "user_id:1\t0\tuser_id", "item_id:1\t0\titem_id"]);
    let text = clustered("/out/c.csv", false, &[]).1;
    assert_eq!(text.lines().nth(1), Some("user_id:1,0,user_id"));
    let text = clustered("/out/c.jsonl", false, &[]).1;
    let line = r#"{"node":"user_id:1","community":0,"kind":"user_id"}"#;
    assert_eq!(text.lines().next(), Some(line));
    let text = clustered("/out/c.jsonl", false, &[0.5, 2.0]).1;
    let line = r#"{"node":"user_id:1","community_0.5":0,"kind":"user_id","community_2":0}"#;
    assert_eq!(text.lines().next(), Some(line));
    let text = clustered("/out/c", false, &[0.5, 2.0]).1;
    let lines: Vec<&str> = text.lines().take(2).collect();
    assert_eq!(lines, ["node\tcommunity_0.5\tcommunity_2\tkind", "user_id:1\t0\t0\tuser_id"]);
}

#[test]
fn exports_give_nodes_their_kind() {
    let (sim, _) = clustered("/out/c.tsv", false, &[]);
    let files = files_of(&sim);
    let export = |output: &str, members: Vec<u64>| {
        let options = ExportOptions {
            graph: GRAPH.into(),
            output: output.into(),
            format: None,
            nodes: Some("/out/nodes.csv".into()),
            communities: (!members.is_empty()).then(|| "/out/c.tsv".into()),
            members: members.iter().map(u64::to_string).collect(),
            quotient: false,
            input: CommunityInput::default(),
            limits: LIMITS,
            work_dir: "/disk".into(),
        };
        job::export(&files, &options, &Silent).unwrap();
        let text = |path: &str| String::from_utf8(sim.get(path).unwrap()).unwrap();
        (text(output), text("/out/nodes.csv"))
    };
    let (graphml, nodes) = export("/out/e.graphml", vec![]);
    assert!(graphml.contains(r#"attr.name="kind" attr.type="string""#), "{graphml}");
    assert!(
        graphml.contains(r#"<node id="item_id:2"><data key="kind">item_id</data></node>"#),
        "{graphml}"
    );
    assert_eq!(nodes.lines().take(2).collect::<Vec<_>>(), ["node,kind", "user_id:1,user_id"]);
    let (gexf, _) = export("/out/e.gexf", vec![]);
    assert!(gexf.contains(r#"<attribute id="kind" title="kind" type="string"/>"#), "{gexf}");
    assert!(gexf.contains(r#"<attvalue for="kind" value="item_id"/>"#), "{gexf}");
    // A part of the graph.
    let (graphml, nodes) = export("/out/p.graphml", vec![1]);
    assert!(graphml.contains(r#"<data key="kind">item_id</data>"#), "{graphml}");
    assert_eq!(nodes.lines().count(), 3, "{nodes}");
    assert!(nodes.contains("item_id:3,") && nodes.contains(",item_id"), "{nodes}");
}
