//! An exported graph is read back as the same graph, from every format.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::warnings::Warnings;
use crate::common::{MIB, files_of};
use outcore::budget::Limits;
use outcore::export::ExportFormat;
use outcore::graph::{ArcRecord, Duplicates, Graph, GraphOptions, GraphWriter, NamesWriter};
use outcore::input::{Column, CommunityInput, Header, InputOptions, LAST_LEVEL};
use outcore::io::{Cramped, Files};
use outcore::job::{self, ExportOptions, ExportReport, JobOptions};
use outcore::progress::Silent;
use outcore::weight::Weight;
use outcore::{ErrorKind, Result};
use outcore_testkit::cases;
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const GRAPH: &str = "/in/graph";
const LIMITS: Limits = Limits { memory_bytes: 96 * MIB, threads: 3 };

/// Graph with named nodes, and a code of the weight of each edge; undirected edges have the smaller index first.
#[derive(Debug, Clone)]
struct Known {
    names: Vec<Vec<u8>>,
    edges: BTreeMap<(u32, u32), u32>,
    is_directed: bool,
}

/// Names and edges by name: what has to survive.
type Named = (BTreeSet<Vec<u8>>, BTreeMap<(Vec<u8>, Vec<u8>), u32>);

impl Known {
    fn write(&self, files: &Files, path: &str) {
        let mut names = NamesWriter::create(files, Path::new(path)).unwrap();
        self.names.iter().for_each(|name| names.push(name).unwrap());
        names.finish().unwrap();
        let mut arcs = Vec::new();
        for (&(source, target), &weight) in &self.edges {
            // Arcs of directed graphs are stored at the node that they point to.
            arcs.push(ArcRecord { source: target, target: source, weight });
            if !self.is_directed && source != target {
                arcs.push(ArcRecord { source, target, weight });
            }
        }
        arcs.sort_by_key(|arc| (arc.source, arc.target));
        let options = GraphOptions {
            node_count: self.names.len() as u64,
            directed: self.is_directed,
            duplicates: Duplicates::Sum,
            keep_loops: true,
        };
        let mut writer = GraphWriter::create_tiny(files, Path::new(path), &options).unwrap();
        writer.push(&arcs).unwrap();
        writer.finish().unwrap();
    }

    /// Returns the graph by the names of its nodes, or by their numbers from `first`.
    fn named(&self, first: Option<u32>) -> Named {
        let name = |node: u32| match first {
            None => self.names[node as usize].clone(),
            Some(first) => (node + first).to_string().into_bytes(),
        };
        let nodes = (0..self.names.len() as u32).map(name).collect();
        let edge = |(&(source, target), &code): (&(u32, u32), &u32)| {
            (ordered(name(source), name(target), self.is_directed), code)
        };
        (nodes, self.edges.iter().map(edge).collect())
    }
}

fn ordered(source: Vec<u8>, target: Vec<u8>, is_directed: bool) -> (Vec<u8>, Vec<u8>) {
    if is_directed || source <= target { (source, target) } else { (target, source) }
}

/// Reads a graph on disk as names and edges.
fn read(files: &Files, path: &str) -> Named {
    let graph = Graph::open(files, Path::new(path)).unwrap();
    let (mut names, mut scan) = (Vec::new(), graph.names().unwrap());
    while let Some(name) = scan.next_name().unwrap() {
        names.push(name.to_vec());
    }
    let mut edges = BTreeMap::new();
    for row in graph.rows(0..names.len() as u32) {
        let row = row.unwrap();
        let own = (row.self_loop > 0.0).then_some((row.node, row.self_loop));
        for (other, weight) in own.into_iter().chain(row.neighbors) {
            let (source, target) = (&names[other as usize], &names[row.node as usize]);
            let key = ordered(source.clone(), target.clone(), graph.is_directed());
            edges.insert(key, Weight::new(weight).code());
        }
    }
    (names.into_iter().collect(), edges)
}

fn options(output: &str) -> ExportOptions {
    ExportOptions {
        graph: GRAPH.into(),
        output: output.into(),
        format: None,
        nodes: None,
        communities: None,
        members: Vec::new(),
        quotient: false,
        input: CommunityInput::default(),
        limits: LIMITS,
        work_dir: "/disk".into(),
    }
}

/// Exports a graph, and builds a graph of what was written.
fn round_trip(files: &Files, known: &Known, output: &str) -> Result<(ExportReport, Named)> {
    let nodes = "/out/nodes.txt";
    let format = ExportFormat::of(Path::new(output)).unwrap();
    let has_list = !format.holds_lone_nodes();
    let options = ExportOptions { nodes: has_list.then(|| nodes.into()), ..options(output) };
    let report = job::export(files, &options, &Silent)?;
    let mut input = InputOptions { paths: vec![output.into()], ..InputOptions::default() };
    input.nodes = has_list.then(|| nodes.into());
    input.directed = known.is_directed;
    if format == ExportFormat::Text {
        // Names of any kind, without a header, may look like something else than edges.
        let is_weighted = known.edges.values().any(|&code| code != Weight::ONE.code());
        let columns = 1..=if is_weighted { 3 } else { 2 };
        input.columns = Some(columns.map(Column::Number).collect());
        input.header = Header::No;
    }
    let build = JobOptions { keep_loops: true, ..JobOptions::new(input, LIMITS, "/disk".into()) };
    let built = "/out/built";
    job::build(files, &build, Path::new(built), &Silent).unwrap();
    Ok((report, read(files, built)))
}

fn graphs() -> impl Strategy<Value = Known> {
    let name = prop_oneof!["[a-z]{1,3}", "[0-9]{1,3}", "[a-z<>&\"',;|#* ]{1,6}", "[\\PC\t ]{1,5}",];
    let name = name.prop_map(String::into_bytes);
    let weight = prop_oneof![
        Just(Weight::ONE.code()),
        (1u32..1000).prop_map(|n| Weight::new(f64::from(n) / 1000.0).code()),
        (1u32..0xF000_0000),
    ];
    let names = prop::collection::btree_set(name, 2..24);
    (names, any::<bool>(), any::<bool>()).prop_flat_map(move |(names, is_directed, is_weighted)| {
        let names: Vec<_> = names.into_iter().collect();
        let node = 0..names.len() as u32;
        let weight =
            if is_weighted { weight.clone().boxed() } else { Just(Weight::ONE.code()).boxed() };
        let edges = prop::collection::btree_map((node.clone(), node), weight, 1..60);
        (Just(names), edges, Just(is_directed)).prop_map(|(names, edges, is_directed)| {
            let order =
                |(a, b): (u32, u32)| if is_directed { (a, b) } else { (a.min(b), a.max(b)) };
            let edges = edges.into_iter().map(|(ends, weight)| (order(ends), weight)).collect();
            Known { names, edges, is_directed }
        })
    })
}

/// Names of files of all formats (JSON Lines are not read as edges), and the number of the first node where nodes are numbers.
const OUTPUTS: [(&str, Option<u32>); 11] = [
    ("/out/e.tsv", None),
    ("/out/e.csv", None),
    ("/out/e.jsonl", None),
    ("/out/e.parquet", None),
    ("/out/e.arrow", None),
    ("/out/e.mtx", Some(1)),
    ("/out/e.metis", Some(1)),
    ("/out/e.mci", Some(0)),
    ("/out/e.net", None),
    ("/out/e.graphml", None),
    ("/out/e.gexf", None),
];

proptest! {
    #![proptest_config(cases(40))]
    #[test]
    fn every_format_is_read_back_as_the_same_graph(known in graphs()) {
        for (output, first) in OUTPUTS.into_iter().filter(|(output, _)| !output.ends_with("jsonl")) {
            let sim = Sim::new();
            let files = files_of(&sim);
            known.write(&files, GRAPH);
            let read = match round_trip(&files, &known, output) {
                Ok((report, read)) => {
                    prop_assert_eq!(report.node_count, known.names.len() as u64);
                    read
                }
                Err(error) => {
                    let is_refused = matches!(error.kind(), ErrorKind::Usage | ErrorKind::BadInput);
                    prop_assert!(is_refused, "{}: {}", output, error);
                    prop_assert!(sim.get("/out/e").is_none() && !sim.paths().iter().any(|path| path.starts_with("/out")));
                    continue;
                }
            };
            prop_assert_eq!(read, known.named(first), "{}", output);
        }
    }

    #[test]
    fn bytes_do_not_depend_on_memory_and_threads(known in graphs(), names in 2u64..9) {
        for (output, _) in OUTPUTS {
            let bytes = |files: Files, sim: &Sim, threads| {
                known.write(&files, GRAPH);
                let limits = Limits { threads, ..LIMITS };
                let done = job::export(&files, &ExportOptions { limits, ..options(output) }, &Silent);
                done.map(|_| sim.get(output).unwrap()).map_err(|error| error.to_string())
            };
            let sim = Sim::new();
            let plain = bytes(files_of(&sim), &sim, 1);
            let sim = Sim::new();
            let cramped = Cramped { names, ..Cramped::NOT };
            prop_assert_eq!(&bytes(files_of(&sim).with_cramped(cramped), &sim, 4), &plain);
        }
    }

    #[test]
    fn parts_and_networks_are_those_of_naive_code(known in graphs(), labels in prop::collection::vec(0u64..5, 24), is_left_out in any::<bool>()) {
        let labels = &labels[..known.names.len()];
        let is_in = |node: u32| !is_left_out || labels[node as usize] > 0;
        let sim = Sim::new();
        let files = files_of(&sim);
        known.write(&files, GRAPH);
        let rows = known.names.iter().zip(labels).zip(0..).filter(|&(_, node)| is_in(node));
        let json: String = rows.map(|((name, label), _)| {
            let name = serde_json::to_string(std::str::from_utf8(name).unwrap()).unwrap();
            format!("{{\"node\":{name},\"community\":{}}}\n", 10 * label)
        }).collect();
        prop_assume!(!json.is_empty());
        sim.put("/in/c.jsonl", json.as_bytes());
        let given: BTreeSet<u64> = (0..known.names.len() as u32).filter(|&node| is_in(node)).map(|node| labels[node as usize]).collect();
        let chosen = *given.iter().next_back().unwrap();

        let with = ExportOptions { communities: Some("/in/c.jsonl".into()), nodes: Some("/out/nodes.csv".into()), ..options("/out/part.arrow") };
        job::export(&files, &ExportOptions { members: vec![(10 * chosen).to_string()], ..with.clone() }, &Silent).unwrap();
        let part = table(&sim, "/out/part.arrow");
        let label = |node: u32| labels[node as usize];
        let name = |node: u32| known.names[node as usize].clone();
        let inside = known.edges.iter().filter(|((a, b), _)| label(*a) == chosen && label(*b) == chosen && is_in(*a) && is_in(*b));
        let inside: BTreeMap<_, _> = inside.map(|(&(a, b), &code)| (ordered(name(a), name(b), known.is_directed), code)).collect();
        prop_assert_eq!(by_order(part, known.is_directed), inside);

        job::export(&files, &ExportOptions { quotient: true, output: "/out/q.arrow".into(), ..with }, &Silent).unwrap();
        let mut sums: BTreeMap<(Vec<u8>, Vec<u8>), f64> = BTreeMap::new();
        for (&(a, b), &code) in known.edges.iter().filter(|((a, b), _)| is_in(*a) && is_in(*b)) {
            let [a, b] = [a, b].map(|node| (10 * label(node)).to_string().into_bytes());
            *sums.entry(ordered(a, b, known.is_directed)).or_default() += Weight::from_code(code).value();
        }
        let found = by_order(table(&sim, "/out/q.arrow"), known.is_directed);
        prop_assert_eq!(found.keys().collect::<Vec<_>>(), sums.keys().collect::<Vec<_>>());
        for (pair, sum) in sums {
            let weight = Weight::from_code(found[&pair]).value();
            prop_assert!((weight / sum - 1.0).abs() < 1e-6, "{weight} {sum}");
        }
        let nodes = String::from_utf8(sim.get("/out/nodes.csv").unwrap()).unwrap();
        let sizes: String = given.iter().map(|label| {
            let size = (0..known.names.len() as u32).filter(|&node| is_in(node) && labels[node as usize] == *label).count();
            format!("{},{size}\n", 10 * label)
        }).collect();
        prop_assert_eq!(nodes, format!("node,size\n{sizes}"));
    }
}

type NamedEdges = Vec<((Vec<u8>, Vec<u8>), u32)>;

fn by_order(edges: NamedEdges, is_directed: bool) -> BTreeMap<(Vec<u8>, Vec<u8>), u32> {
    let count = edges.len();
    let edges: BTreeMap<_, _> = edges
        .into_iter()
        .map(|((source, target), code)| (ordered(source, target, is_directed), code))
        .collect();
    assert_eq!(edges.len(), count, "an edge is written once");
    edges
}

/// Reads a table of edges with a library.
fn table(sim: &Sim, path: &str) -> NamedEdges {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    let bytes = std::io::Cursor::new(sim.get(path).unwrap());
    let batches = arrow_ipc::reader::FileReader::try_new(bytes, None).unwrap();
    let mut edges = Vec::new();
    for batch in batches {
        let batch = batch.unwrap();
        let names = |at: usize| {
            batch.column(at).as_string::<i32>().iter().map(|name| name.unwrap().as_bytes().to_vec())
        };
        let weights = batch
            .columns()
            .get(2)
            .map(|column| column.as_primitive::<Float64Type>().values().to_vec());
        for (at, ends) in names(0).zip(names(1)).enumerate() {
            let weight = weights.as_ref().map_or(1.0, |weights| weights[at]);
            edges.push((ends, Weight::new(weight).code()));
        }
    }
    edges
}

fn two_nodes(names: [&[u8]; 3], weight: f64, is_directed: bool) -> Known {
    let code = Weight::new(weight).code();
    Known {
        names: names.map(<[u8]>::to_vec).into(),
        edges: BTreeMap::from([((0, 1), code)]),
        is_directed,
    }
}

#[test]
fn what_a_format_cannot_hold_is_refused_by_name() {
    let plain = [&b"a"[..], b"b", b"c"];
    for (known, output, words) in [
        (two_nodes([b"a\x01", b"b", b"c"], 1.0, false), "/out/e.graphml", "a\\x01"),
        (two_nodes([b"a", b"b", b"\xFF"], 1.0, false), "/out/e.gexf", "\\xff"),
        (two_nodes([b"a", b"b", b"\xFF"], 1.0, false), "/out/e.parquet", "\\xff"),
        (two_nodes([b"a", b"b", b"\xFF"], 1.0, false), "/out/e.jsonl", "\\xff"),
        (two_nodes([b"a\"b", b"b", b"c"], 1.0, false), "/out/e.net", "a\\\"b"),
        (two_nodes(plain, 0.5, false), "/out/e.metis", "nodes 1 and 2"),
        (two_nodes(plain, 1.0, true), "/out/e.metis", "directions"),
        (two_nodes(plain, 1.0, true), "/out/e.mci", "directions"),
    ] {
        let sim = Sim::new();
        let files = files_of(&sim);
        known.write(&files, GRAPH);
        let error = job::export(&files, &options(output), &Silent).unwrap_err();
        let message = error.message().to_string();
        assert!(message.contains(words) && error.hint_text().is_some(), "{message}");
        assert!(!sim.paths().iter().any(|path| path.starts_with("/out")), "{output}");
    }
}

#[test]
fn bytes_that_are_not_text_stay_as_they_are() {
    let known = two_nodes([b"\xFF\xFE", b"b\x01", b"\xC3"], 0.25, false);
    for output in ["/out/e.tsv", "/out/e.csv"] {
        let sim = Sim::new();
        let files = files_of(&sim);
        known.write(&files, GRAPH);
        assert_eq!(round_trip(&files, &known, output).unwrap().1, known.named(None));
    }
}

#[test]
fn nodes_that_are_not_in_the_file_are_reported() {
    let sim = Sim::new();
    let files = files_of(&sim);
    two_nodes([b"a", b"b", b"c"], 1.0, false).write(&files, GRAPH);
    for (output, count) in [("/out/e.tsv", 1), ("/out/e.parquet", 1), ("/out/e.graphml", 0)] {
        let warnings = Warnings::default();
        job::export(&files, &options(output), &warnings).unwrap();
        assert_eq!(warnings.into_texts().len(), count, "{output}");
    }
}

#[test]
fn a_graph_is_never_replaced() {
    let sim = Sim::new();
    let files = files_of(&sim);
    two_nodes([b"a", b"b", b"c"], 1.0, false).write(&files, GRAPH);
    for output in ["/in/graph/names", "/in/graph", "/in/graph/new.tsv"] {
        let options = ExportOptions { format: Some(ExportFormat::Text), ..options(output) };
        assert!(job::export(&files, &options, &Silent).is_err(), "{output}");
    }
    assert!(Graph::open(&files, Path::new(GRAPH)).is_ok());
}

/// Nodes in two top modules, the first of two modules.
const TREE: &str =
    "1:1:1 0.2 \"a\" 1\n1:1:2 0.1 \"b\" 2\n1:2:1 0.3 \"c\" 3\n2:1 0.25 \"x\" 4\n2:2 0.15 \"y\" 5\n";

/// Exports a path of five nodes with the communities of a tree, and returns the text of the nodes.
fn exported(change: impl FnOnce(&mut ExportOptions)) -> Result<String> {
    let sim = Sim::new();
    let files = files_of(&sim);
    let names = ["a", "b", "c", "x", "y"].map(|name| name.as_bytes().to_vec()).to_vec();
    let edges = (0..4).map(|node| ((node, node + 1), Weight::ONE.code())).collect();
    Known { names, edges, is_directed: false }.write(&files, GRAPH);
    sim.put("/in/t.tree", TREE.as_bytes());
    let mut options = options("/out/g.gexf");
    (options.communities, options.nodes) =
        (Some("/in/t.tree".into()), Some("/out/nodes.csv".into()));
    change(&mut options);
    job::export(&files, &options, &Silent)?;
    Ok(String::from_utf8(sim.get("/out/nodes.csv").unwrap()).unwrap())
}

#[test]
fn levels_of_a_tree_are_communities_and_attributes() {
    let at = |level| CommunityInput { level, ..CommunityInput::default() };
    let head = "node,community,path,level,flow\n";
    let rows = |of: [&str; 5]| {
        let rest = ["1:1,2,0.2", "1:1,2,0.1", "1:2,2,0.3", "2,1,0.25", "2,1,0.15"];
        let row = |((name, community), rest)| format!("{name},{community},{rest}\n");
        let names = ["a", "b", "c", "x", "y"];
        head.to_owned() + &names.into_iter().zip(of).zip(rest).map(row).collect::<String>()
    };
    let top = rows(["1", "1", "1", "2", "2"]);
    assert_eq!(exported(|_| {}).unwrap(), top);
    assert_eq!(exported(|options| options.input = at(Some(1))).unwrap(), top);
    let below = rows(["1:1", "1:1", "1:2", "2", "2"]);
    for level in [2, 9, LAST_LEVEL] {
        assert_eq!(exported(|options| options.input = at(Some(level))).unwrap(), below);
    }
    let part = exported(|options| {
        (options.input, options.members) = (at(Some(2)), vec!["1:2".into(), "2".into()]);
    });
    let expected: Vec<&str> = below.lines().filter(|line| !line.contains(",1:1,")).collect();
    assert_eq!(part.unwrap().lines().collect::<Vec<_>>(), expected);
    let network = |level, expected: &str| {
        let found = exported(|options| (options.input, options.quotient) = (at(level), true));
        assert_eq!(found.unwrap(), format!("node,size,level,flow\n{expected}"));
    };
    network(None, "1,3,1,0.6000000000000001\n2,2,1,0.4\n");
    network(Some(2), "1:1,2,2,0.30000000000000004\n1:2,1,2,0.3\n2,2,1,0.4\n");
}

#[test]
fn members_that_a_level_lacks_are_refused() {
    for (level, member) in [(None, "1:1"), (None, "7"), (Some(2), "1"), (Some(2), "1:9")] {
        let found = exported(|options| {
            options.input = CommunityInput { level, ..CommunityInput::default() };
            options.members = vec![member.into()];
        });
        assert!(found.unwrap_err().to_string().contains(&format!("`{member}`")));
    }
}

#[test]
fn gexf_and_graphml_have_the_types_of_attributes() {
    let sim = Sim::new();
    let files = files_of(&sim);
    let names = ["a", "b", "c", "x", "y"].map(|name| name.as_bytes().to_vec()).to_vec();
    let edges = (0..4).map(|node| ((node, node + 1), Weight::ONE.code())).collect();
    Known { names, edges, is_directed: false }.write(&files, GRAPH);
    sim.put("/in/t.tree", TREE.as_bytes());
    for (output, expected) in [
        (
            "/out/g.gexf",
            [
                "id=\"path\" title=\"path\" type=\"string\"",
                "id=\"flow\" title=\"flow\" type=\"double\"",
                "for=\"path\" value=\"1:1\"",
                "for=\"flow\" value=\"0.25\"",
            ],
        ),
        (
            "/out/g.graphml",
            [
                "attr.name=\"path\" attr.type=\"string\"",
                "attr.name=\"flow\" attr.type=\"double\"",
                "<data key=\"path\">1:1</data>",
                "<data key=\"flow\">0.25</data>",
            ],
        ),
    ] {
        let communities = Some("/in/t.tree".into());
        job::export(&files, &ExportOptions { communities, ..options(output) }, &Silent).unwrap();
        let text = String::from_utf8(sim.get(output).unwrap()).unwrap();
        for part in expected {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
