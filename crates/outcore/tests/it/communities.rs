//! Files of communities and lists of nodes in every form: each is read as what wrote it means it, or refused.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::tables::{self, Names, arrow, parquet};
use crate::common::{MIB, files_of, options, storage_of};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray,
};
use arrow_schema::Schema;
use outcore::ErrorKind;
use outcore::budget::Limits;
use outcore::cluster::{ClusterOptions, Method, PropagationOptions};
use outcore::input::{Column, CommunityInput};
use outcore::job::{self, ScoreOptions, ScoreReport, Source, Unnamed};
use outcore::present::{LevelForm, PresentOptions, RowForm};
use outcore::progress::Silent;
use outcore_testkit::sim::Sim;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const GRAPH: &str = "/out/graph";

/// Creates rings of 4 to 12 nodes, each joined to the next ring by one edge; some names need quotes.
fn storage() -> Sim {
    let name = |ring: u32, node: u32| match node % 3 {
        0 => format!("\"ring {ring}, {node}\""),
        1 => format!("\"{ring}\t{node}\""),
        _ => format!("\"{ring}_{node}\""),
    };
    let mut edges = String::new();
    for ring in 0..30 {
        let size = 4 + ring % 9;
        for node in 0..size {
            edges += &format!("{}\t{}\n", name(ring, node), name(ring, (node + 1) % size));
            edges += &format!("{}\t{}\n", name(ring, node), name(ring, (node + 2) % size));
        }
        edges += &format!("{}\t{}\n", name(ring, 0), name((ring + 1) % 30, 1));
    }
    let sim = storage_of(&edges);
    job::build(&files_of(&sim), &options(2, 128 * MIB), Path::new(GRAPH), &Silent).unwrap();
    sim
}

fn score(sim: &Sim, path: &str, input: CommunityInput) -> outcore::Result<ScoreReport> {
    let options = ScoreOptions {
        graph: GRAPH.into(),
        communities: path.into(),
        against: None,
        resolution: 1.0,
        recorded_teleportation: false,
        well_connected: None,
        unnamed: Unnamed::Stop,
        input,
        limits: Limits { memory_bytes: 128 * MIB, threads: 2 },
        work_dir: PathBuf::from("/disk"),
    };
    job::score(&files_of(sim), &options, &Silent)
}

fn cluster(sim: &Sim, output: &str, clustering: &ClusterOptions, present: &PresentOptions) {
    let source = Source::Graph {
        path: GRAPH.into(),
        limits: Limits { memory_bytes: 128 * MIB, threads: 2 },
        work_dir: "/disk".into(),
        restart: false,
    };
    let output = Path::new(output);
    job::cluster_and_present(&files_of(sim), &source, clustering, present, output, &Silent)
        .unwrap();
}

#[test]
fn every_form_of_a_result_is_read_back() {
    let sim = storage();
    let plain = ClusterOptions { method: Method::Modularity, ..ClusterOptions::default() };
    let present = PresentOptions::default();
    cluster(&sim, "/out/plain.tsv", &plain, &present);
    let expected = score(&sim, "/out/plain.tsv", CommunityInput::default()).unwrap().quality;
    assert!(expected.sizes.community_count > 5 && expected.modularity > 0.5);
    let rows = |rows| PresentOptions { rows, ..PresentOptions::default() };
    let levels = |levels| PresentOptions { levels, ..PresentOptions::default() };
    let weights = || PresentOptions { member_weights: true, ..PresentOptions::default() };
    let stable = ClusterOptions { stability: true, ..plain.clone() };
    let deep = ClusterOptions { levels: true, ..plain.clone() };
    let columns = || CommunityInput {
        columns: Some(vec![Column::Number(1), Column::Number(2)]),
        ..CommunityInput::default()
    };
    for (path, clustering, present, is_asked) in [
        ("/out/c.parquet", &plain, present.clone(), false),
        ("/out/c.arrow", &plain, present.clone(), false),
        ("/out/c.jsonl", &plain, present.clone(), false),
        ("/out/clusters.txt", &plain, rows(RowForm::Communities), false),
        ("/out/pairs.tsv", &plain, rows(RowForm::Pairs), false),
        ("/out/tree.tsv", &deep, levels(LevelForm::Tree), false),
        ("/out/tree.jsonl", &deep, levels(LevelForm::Tree), false),
        ("/out/levels.parquet", &deep, levels(LevelForm::Columns), false),
        ("/out/levels.jsonl", &deep, levels(LevelForm::Columns), false),
        ("/out/levels.tsv", &deep, levels(LevelForm::Columns), true),
        ("/out/weights.jsonl", &plain, weights(), false),
        ("/out/weights.tsv", &plain, weights(), true),
        ("/out/stable.parquet", &stable, present.clone(), false),
        ("/out/stable.tsv", &stable, present.clone(), true),
    ] {
        cluster(&sim, path, clustering, &present);
        let input = if is_asked { columns() } else { CommunityInput::default() };
        assert_eq!(score(&sim, path, input).unwrap().quality, expected, "{path}");
    }
}

fn table(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter(columns.iter().map(|(name, array)| (*name, array.clone()))).unwrap()
}

fn text(values: &[&str]) -> ArrayRef {
    Arc::new(values.iter().copied().map(Some).collect::<StringArray>())
}

fn numbers(values: &[i64]) -> ArrayRef {
    Arc::new(values.iter().copied().map(Some).collect::<Int64Array>())
}

const TRIANGLES: &str = "a\tb\nb\tc\nc\ta\nc\td\nd\te\ne\tf\nf\td\n";
const MODULARITY: f64 = 5.0 / 14.0;

fn triangles() -> Sim {
    let sim = storage_of(TRIANGLES);
    job::build(&files_of(&sim), &options(2, 128 * MIB), Path::new(GRAPH), &Silent).unwrap();
    sim
}

#[test]
fn columns_of_tables_and_text_are_those_that_are_named() {
    let sim = triangles();
    let nodes = ["a", "b", "c", "d", "e", "f"];
    let named = table(&[
        ("degree", numbers(&[2, 2, 3, 3, 2, 2])),
        ("cluster", text(&["x", "x", "x", "y", "y", "y"])),
        ("name", text(&nodes)),
    ]);
    sim.put("/in/c.parquet", &parquet(&named, 4));
    sim.put("/in/c.arrow", &arrow(&named, 4, false, false));
    sim.put("/in/c.csv", b"name,degree,cluster\na,2,x\nb,2,x\nc,3,x\nd,3,y\ne,2,y\nf,2,y\n");
    sim.put("/in/c.tree", b"1:1 0.1 \"a\" 1\n1:2 0.1 \"b\" 2\n1:3 0.1 \"c\" 3\n2:1 0.1 \"d\" 4\n2:2 0 \"e\" 5\n2:3 0 \"f\" 6\n");
    for path in ["/in/c.parquet", "/in/c.arrow", "/in/c.csv", "/in/c.tree"] {
        let found = score(&sim, path, CommunityInput::default()).unwrap().quality;
        assert!((found.modularity - MODULARITY).abs() < 1e-12, "{path}: {}", found.modularity);
    }
    let columns = Some(vec![Column::Name("name".into()), Column::Name("degree".into())]);
    let input = CommunityInput { columns, ..CommunityInput::default() };
    for path in ["/in/c.parquet", "/in/c.csv"] {
        assert_eq!(score(&sim, path, input.clone()).unwrap().quality.sizes.community_count, 2);
        let found = score(&sim, path, input.clone()).unwrap().quality;
        assert!(found.modularity < 0.0, "{path}: {}", found.modularity);
    }
    let fixed = PropagationOptions { fixed: Some("/in/c.csv".into()), ..Default::default() };
    let method = Method::LabelPropagation;
    let options = ClusterOptions { method, propagation: fixed, ..ClusterOptions::default() };
    cluster(&sim, "/out/fixed.tsv", &options, &PresentOptions::default());
    assert_eq!(sim.get("/out/fixed.tsv").unwrap(), b"a\t0\nb\t0\nc\t0\nd\t1\ne\t1\nf\t1\n");
}

#[test]
fn what_is_not_communities_is_refused_by_name() {
    let sim = triangles();
    sim.put("/in/e.csv", b"source,target\na,b\nb,c\n");
    let edges = table(&[("from", text(&["a"])), ("to", text(&["b"]))]);
    sim.put("/in/e.parquet", &parquet(&edges, 4));
    for (path, message) in [
        (GRAPH, "is a graph, not a file of communities"),
        ("/in/e.csv", "is a table of edges according to its columns, not of communities"),
        ("/in/e.parquet", "is a table of edges according to its columns, not of communities"),
    ] {
        let error = score(&sim, path, CommunityInput::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadInput);
        assert!(error.message().ends_with(message), "{error}");
    }
    // Edges without a header contradict themselves.
    let error = score(&sim, "/in/edges.tsv", CommunityInput::default()).unwrap_err();
    assert!(error.message().contains("gives node `c` two communities"), "{error}");
    for columns in [vec![Column::Number(1)], vec![Column::Number(0), Column::Number(1)]] {
        let input = CommunityInput { columns: Some(columns), ..CommunityInput::default() };
        assert_eq!(score(&sim, "/in/edges.tsv", input).unwrap_err().kind(), ErrorKind::Usage);
    }
}

/// Builds a graph of text and of a list of nodes; returns its files, in order.
fn with_nodes(nodes: &[u8]) -> outcore::Result<Vec<(PathBuf, Vec<u8>)>> {
    let sim = storage_of("7\t12\n12\t-3\n0\t7\n");
    sim.put("/in/nodes", nodes);
    let mut options = options(2, 128 * MIB);
    options.input.nodes = Some("/in/nodes".into());
    crate::tables::built(&sim, &options)
}

/// Returns the table in every kind of file.
fn in_files(table: &RecordBatch) -> [(&'static str, Vec<u8>); 3] {
    [
        ("Parquet", parquet(table, 2)),
        ("Arrow", arrow(table, 2, false, false)),
        ("stream", arrow(table, 2, true, true)),
    ]
}

/// Text, Parquet and Arrow give the same nodes; whole numbers are those of the same digits in text.
#[test]
fn lists_of_nodes_may_be_tables() {
    let names = ["99", "7", "-3", "99", "1000000000000", "5"];
    let expected = with_nodes(names.join("\n").as_bytes()).unwrap();
    assert!(with_nodes(b"").unwrap() != expected);
    let lines = names.map(|name| format!("x,{name}\n")).concat();
    assert!(with_nodes(format!("label,Id\n{lines}").as_bytes()).unwrap() == expected);
    for kind in tables::KINDS {
        let names = tables::column(&names.map(Some), kind);
        let other = text(&["x"; 6]);
        for columns in [
            vec![("label", other.clone()), ("Id", names.clone())],
            vec![("node", names.clone()), ("id", other.clone()), ("name", other)],
            // The only column needs no name.
            vec![("x", names.clone())],
            vec![("", names.clone())],
            vec![("__index_level_0__", names)],
        ] {
            for (file, bytes) in in_files(&table(&columns)) {
                let found = with_nodes(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
                assert!(found == expected, "{file} of {kind:?}, column {}", columns[0].0);
            }
        }
    }
    let nothing = table(&[("node", text(&[]))]);
    for (file, bytes) in in_files(&nothing) {
        assert!(with_nodes(&bytes).unwrap() == with_nodes(b"").unwrap(), "{file}");
    }
}

#[test]
fn bad_tables_of_nodes_are_refused_with_their_place() {
    let text_or_null = tables::column(&[Some("7"), None, Some("a")], Names::Text);
    let words = tables::column(&[Some("7"), None, Some("7")], Names::Dictionary);
    let whole_or_null = tables::column(&[Some("7"), None], Names::Numbers);
    for (names, message) in [
        (text_or_null, "node has no name"),
        (words, "node has no name"),
        (whole_or_null, "node has no name"),
        (text(&["a", ""]), "node has no name"),
        (text(&["a", "b\nc"]), "name contains a line end"),
    ] {
        let batch = table(&[("x", names.clone()), ("node", names)]);
        for (file, bytes) in in_files(&batch) {
            let error = with_nodes(&bytes).unwrap_err();
            assert_eq!(error.to_string(), format!("/in/nodes:2:2: {message}"), "{file}");
            assert_eq!(error.notes(), ["row 2 of the table, column `node`"], "{file}");
        }
    }
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let fields = StructArray::from(table(&[("a", text(&["b"]))]));
    let of_types: [(ArrayRef, &str); 4] = [
        (Arc::new(Float64Array::from(vec![1.5])), "Float64"),
        (Arc::new(BooleanArray::from(vec![true])), "Boolean"),
        (Arc::new(lists), "List("),
        (Arc::new(fields), "Struct("),
    ];
    for (names, kind) in of_types {
        for columns in [vec![("node", names.clone())], vec![("x", text(&["a"])), ("id", names)]] {
            let name = columns[columns.len() - 1].0;
            for (file, bytes) in in_files(&table(&columns)) {
                let error = with_nodes(&bytes).unwrap_err();
                let begin = format!("`/in/nodes`: column `{name}` is {kind}");
                assert!(error.message().starts_with(&begin), "{file}: {error}");
                // `--columns` is about the edges.
                assert!(!error.hint_text().unwrap().contains("--columns"), "{file}: {error:?}");
            }
        }
    }
}

#[test]
fn tables_without_one_column_of_nodes_are_asked() {
    let a = || text(&["a"]);
    let none = "has no column that is named as that of the nodes";
    let several = "has 2 columns that may be that of the nodes";
    for (columns, message, found) in [
        (vec![("x", a()), ("y", a())], none, "its columns are `x`, `y`"),
        (vec![("source", a()), ("target", a())], none, "its columns are `source`, `target`"),
        // The index of a data frame may be the names, too.
        (
            vec![("__index_level_0__", a()), ("x", a())],
            none,
            "its columns are `__index_level_0__`, `x`",
        ),
        (vec![("id", a()), ("x", a()), ("ID", a())], several, "they are named `id`, `ID`"),
        (vec![("node", a()), ("node", a())], several, "they are named `node`, `node`"),
    ] {
        for (file, bytes) in in_files(&table(&columns)) {
            let error = with_nodes(&bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{file}");
            assert_eq!(error.message(), format!("`/in/nodes` {message}"), "{file}");
            assert_eq!(error.notes(), [found], "{file}");
            assert!(error.hint_text().is_some(), "{file}");
        }
    }
    let nothing = RecordBatch::new_empty(Arc::new(Schema::empty()));
    for (file, bytes) in in_files(&nothing) {
        assert_eq!(with_nodes(&bytes).unwrap_err().notes(), ["it has no columns"], "{file}");
    }
}

/// A list that ends at any byte is refused, unless only the index at the end of an Arrow file is missing, or it is a
/// stream that ends after whole batches.
#[test]
fn tables_of_nodes_that_are_cut_are_refused() {
    let batch = table(&[("node", text(&["a", "b", "c"]))]);
    for (file, bytes) in in_files(&batch) {
        let mut read = 0;
        for end in 8..bytes.len() {
            match with_nodes(&bytes[..end]) {
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::BadInput, "{file}, {end}: {error}");
                    assert!(error.to_string().contains("/in/nodes"), "{file}, {end}: {error}");
                }
                Ok(_) => read += 1,
            }
        }
        assert!(read == 0 || file != "Parquet", "{file}: {read} read");
        assert!(read < bytes.len() / 2, "{file}: {read} of {} read", bytes.len());
    }
}
