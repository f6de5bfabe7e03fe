//! Every sample of `tests/formats` gives the edges beside it, in any compression, direction and size of chunks; a sample
//! that is cut off or changed gives edges or an error, and never a panic.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{MIB, files_of, options};
use outcore::input::lines::LineFormat;
use outcore::input::{
    Batch, BatchMemory, EdgeFormat, EdgeReader, Fingerprint, InputOptions, NodeNaming, Rows,
    WeightTransform,
};
use outcore::io::{Entry, Files};
use outcore::{Error, Result};
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

/// Maximum number of edges that are read of changed samples, which may declare many nodes.
const MOST_EDGES: usize = 1 << 17;

/// Formats of which there is a sample.
const FORMATS: [EdgeFormat; 15] = [
    EdgeFormat::Metis,
    EdgeFormat::Mcl,
    EdgeFormat::Pajek,
    EdgeFormat::Gml,
    EdgeFormat::Graphml,
    EdgeFormat::Gexf,
    EdgeFormat::Dimacs,
    EdgeFormat::Lgl,
    EdgeFormat::Tgf,
    EdgeFormat::Sif,
    EdgeFormat::Smat,
    EdgeFormat::Adjlist,
    EdgeFormat::MultilineAdjlist,
    EdgeFormat::Networkx,
    EdgeFormat::Uc,
];

/// Names, bytes and expected edges of all samples.
fn samples() -> Vec<(String, Vec<u8>, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats");
    let mut samples = Vec::new();
    let files = Files::default();
    for Entry { path, .. } in files.list(&folder).unwrap() {
        let expected = format!("{}.edges", path.display());
        if let Ok(expected) = files.read(Path::new(&expected)) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let expected = String::from_utf8(expected).unwrap();
            samples.push((name, files.read(&path).unwrap(), expected));
        }
    }
    samples.sort();
    samples
}

type Edge = (String, String, f64);

/// Reads the edges of a file, in order; a node alone is an edge of weight 0 to itself.
fn read(name: &str, bytes: &[u8], chunk_bytes: usize, input: InputOptions) -> Result<Vec<Edge>> {
    let sim = Sim::new();
    let path = format!("/in/{name}");
    sim.put(&path, bytes);
    let input = InputOptions { paths: vec![path.into()], ..input };
    let memory = BatchMemory { chunk_bytes, chunks: 2 };
    let mut reader = EdgeReader::open(&files_of(&sim), &input, memory)?;
    let (mut batch, mut edges, mut alone) = (Batch::default(), Vec::new(), 0);
    while edges.len() < MOST_EDGES && reader.next_batch(&mut batch)? {
        for chunk in &batch.chunks {
            for (row, ends) in chunk.names.chunks(2).enumerate() {
                let [source, target] = [ends[0], ends[1]].map(|name| {
                    assert_eq!(name.fingerprint, Fingerprint::of(chunk.name(&name)));
                    String::from_utf8_lossy(chunk.name(&name)).into_owned()
                });
                let weight = chunk.weights.get(row).map_or(1.0, |&code| match code {
                    0 => 0.0,
                    code => outcore::graph::Weight::from_code(code).value(),
                });
                alone += u64::from(weight == 0.0 && source == target);
                edges.push((source, target, weight));
            }
        }
    }
    if edges.len() < MOST_EDGES {
        let summary = reader.finish()?;
        let zeros = edges.iter().filter(|edge| edge.2 == 0.0).count() as u64;
        assert!(summary.zero_weight_edges <= zeros);
        assert!(summary.edges + alone >= edges.len() as u64);
    }
    edges.truncate(MOST_EDGES);
    Ok(edges)
}

/// Returns the edges as lines, as beside the samples.
fn lines(edges: &[Edge]) -> String {
    let named: BTreeSet<&String> =
        edges.iter().filter(|edge| edge.2 > 0.0).flat_map(|edge| [&edge.0, &edge.1]).collect();
    let mut lines: Vec<String> = edges
        .iter()
        .filter(|edge| edge.2 > 0.0)
        .map(|(source, target, weight)| format!("{source}\t{target}\t{weight}\n"))
        .collect();
    let alone: BTreeSet<&String> = edges
        .iter()
        .filter(|edge| edge.2 == 0.0 && !named.contains(&edge.0))
        .map(|edge| &edge.0)
        .collect();
    lines.extend(alone.into_iter().map(|node| format!("{node}\n")));
    lines.sort();
    lines.concat()
}

#[test]
fn samples_give_the_edges_beside_them() {
    let samples = samples();
    for (name, bytes, expected) in &samples {
        for chunk_bytes in [200, 1 << 20] {
            let edges = read(name, bytes, chunk_bytes, InputOptions::default());
            let edges = edges.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!(&lines(&edges), expected, "{name}");
        }
        let with_mark = [b"\xef\xbb\xbf", &bytes[..]].concat();
        let edges = read(name, &with_mark, 1 << 20, InputOptions::default()).unwrap();
        assert_eq!(&lines(&edges), expected, "{name} with a byte-order mark");
        let ends = String::from_utf8_lossy(bytes).replace('\n', "\r\n");
        let edges = read(name, ends.as_bytes(), 1 << 20, InputOptions::default()).unwrap();
        assert_eq!(&lines(&edges), expected, "{name} with the line ends of Windows");
    }
    // Each value of the option has a sample, which reads the same with and without it.
    for format in FORMATS {
        let has_sample = samples.iter().any(|(name, bytes, expected)| {
            let options = InputOptions { format, ..InputOptions::default() };
            let given = read(name, bytes, 1 << 20, options);
            given.is_ok_and(|edges| &lines(&edges) == expected)
        });
        assert!(has_sample, "no sample of {format:?}");
    }
    let names = |(name, bytes, _): &(String, Vec<u8>, _)| refused(name, bytes).message().to_owned();
    let formats: BTreeSet<String> =
        samples.iter().map(|sample| names(sample).replace(&sample.0, "")).collect();
    assert_eq!(formats.len(), FORMATS.len());
}

fn refused(name: &str, bytes: &[u8]) -> Error {
    let options = InputOptions { paths: vec![name.into()], ..Default::default() };
    LineFormat::find(Path::new(name), bytes, true, &options).unwrap_err()
}

#[test]
fn samples_are_not_lines_for_spark_nor_nodes_nor_communities() {
    for (name, bytes, _) in samples() {
        let error = refused(&name, &bytes);
        assert!(error.message().contains("not lines of edges"), "{name}: {error}");
    }
    let (name, bytes, _) = samples().into_iter().find(|sample| sample.0 == "pajek.net").unwrap();
    let options = InputOptions { rows: Rows::Memberships, ..Default::default() };
    let error = read(&name, &bytes, 1 << 20, options).unwrap_err();
    assert_eq!(error.message(), "`/in/pajek.net` is a graph in the format Pajek");
}

#[test]
fn edges_without_direction_are_arcs_both_ways() {
    for (name, undirected) in [
        ("igraph.gml", true),
        ("igraph.lgl", true),
        ("coloring.col", true),
        ("roads.gr", false),
        ("cytoscape.sif", false),
        ("gleich.smat", false),
        ("prefixed.graphml", false),
    ] {
        let (_, bytes, expected) = samples().into_iter().find(|sample| sample.0 == name).unwrap();
        let options = || InputOptions { directed: true, ..Default::default() };
        let mut edges = read(name, &bytes, 1 << 20, options()).unwrap();
        edges.retain(|edge| edge.2 > 0.0);
        let count = expected.lines().filter(|line| line.contains('\t')).count();
        assert_eq!(edges.len(), if undirected { 2 * count } else { count }, "{name}");
        let tiny = read(name, &bytes, 1, options()).unwrap();
        assert_eq!(lines(&tiny), lines(&edges_with_nodes(name, &bytes)), "{name}");
    }
    let read = |name: &str, text: &str| {
        let options = InputOptions { directed: true, ..Default::default() };
        lines(&read(name, text.as_bytes(), 1 << 20, options).unwrap())
    };
    let gexf = "<gexf><graph defaultedgetype='directed'><edges><edge source='a' target='b'/>\
                <edge source='b' target='c' type='mutual'/></edges></graph></gexf>";
    assert_eq!(read("g", gexf), "a\tb\t1\nb\tc\t1\nc\tb\t1\n");
    let gml = "graph [ directed 1 edge [ source 1 target 2 ] edge [ source 3 target 3 ] ]";
    assert_eq!(read("g", gml), "1\t2\t1\n3\t3\t1\n");
    let pajek = "*Vertices 3\n*Arcs\n1 2\n*Edges\n2 3\n3 3\n";
    assert_eq!(read("g", pajek), "1\t2\t1\n2\t3\t1\n3\t2\t1\n3\t3\t1\n");
}

fn edges_with_nodes(name: &str, bytes: &[u8]) -> Vec<Edge> {
    let options = InputOptions { directed: true, ..Default::default() };
    read(name, bytes, 1 << 20, options).unwrap()
}

#[test]
fn edge_lists_are_not_taken_for_other_formats() {
    for (name, text) in [
        ("p.col", "p\tq\nr\ts\n"),
        ("c.gr", "c a\nc b\n"),
        ("e.lgl", "a b\nb c\n"),
        ("e.smat", "a b\nb c\n"),
        ("e.edgelist", "1 2\n2 3\n"),
        ("e.net", "1 2\n2 3\n"),
        ("e.gml", "graph theory\nversion release\n"),
        ("e.txt", "graph a\nnode b\n"),
        ("e.txt", "# a\nb c\nd e\n"),
        ("e.txt", "0 2\n1 3\n"),
        ("e.txt", "S\t0\nH\t1\n"),
        ("e.txt", "<a> <b>\n<b> <c>\n"),
        ("e.txt", "*a *b\n*vertices *c\n"),
        ("e.txt", "sp|P1|A sp|P2|B\nsp|P2|B sp|P3|C\n"),
        ("e.csv", "sp|P1|A,sp|P2|B,2\nsp|P2|B,sp|P3|C,1\n"),
        ("e.txt", "a;size=2 b;size=3\nb;size=3 c;size=1\n"),
    ] {
        let edges = read(name, text.as_bytes(), 1 << 20, InputOptions::default());
        let edges = edges.unwrap_or_else(|error| panic!("{name}: {text}: {error}"));
        let least = text.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(edges.len(), least, "{name}: {text}");
    }
}

#[test]
fn errors_report_the_place() {
    for (name, text, line, column, message) in [
        ("g", "*Vertices 3\n*Edges\n1 4\n", 3, 3, "node does not exist"),
        ("g", "*Vertices 3\n*Arcs\n1 2 -1\n", 3, 5, "weight is negative"),
        ("g", "*Vertices 3\n*Matrix\n0 1 0\n", 2, 1, "section `*Matrix` cannot be read"),
        ("g", "*Vertices 3\n1 \"a\"\n", 3, 1, "network has no edges"),
        ("g", "*Vertices 3\n*Edge\n1 2\n", 2, 1, "section `*Edge` cannot be read"),
        ("g", "*Multilayer\n1 1 1 2 1\n", 1, 1, "section `*Multilayer` cannot be read"),
        ("g", "*Layers 3\n1 2\n", 1, 1, "section `*Layers` cannot be read"),
        ("g", "*Network a\n*Vertices 1\n*Arcs\n*Network b\n", 4, 1, "file has several networks"),
        ("g", "*Vertices 99999999999\n*Arcs\n", 1, 11, "file has too many nodes"),
        ("g", "graph [ edge [ source 1 target 2 weight x ] ]", 1, 41, "weight is not a number"),
        ("g", "graph [\n edge [ source 1 ]\n]", 2, 18, "`target` is missing"),
        ("g", "graph [ node [ id 1 graph [ ] ] ]", 1, 27, "graphs are nested"),
        ("g", "graph [ edge [ source 1 target 2 ]", 1, 35, "file ends too early"),
        ("g", "graph [ ] graph [ ]", 1, 11, "file has several graphs"),
        ("g", "graph [ node [ id \"a ] ]\n", 1, 20, "quote is not closed"),
        ("g", "<graphml><graph>\n<node id='a'><graph/></node>", 2, 14, "graphs are nested"),
        ("g", "<graphml><graph><hyperedge/>", 1, 17, "`hyperedge` cannot be read"),
        ("g", "<graphml><graph><node/>", 1, 17, "`node` has no attribute `id`"),
        ("g", "<graphml><graph>\n", 2, 1, "file ends too early"),
        (
            "g",
            "<gexf><graph><edge source='a' target='b' weight='x'/>",
            1,
            14,
            "weight is not a number",
        ),
        ("g", "<gexf><graph><node id=''/>", 1, 14, "source has no name"),
        ("g", "<gexf><graph><node id='a'><nodes><node id='b'/>", 1, 34, "nodes are nested"),
        ("g", "p edge 3 1\ne 1 4\n", 2, 5, "node does not exist"),
        ("g", "p sp 3 1\na 1 2\n", 2, 6, "weight is missing"),
        ("g", "p cnf 3 1\n1 2 0\n", 1, 3, "file is a formula, not a graph"),
        ("g.lgl", "# a\nb 1\nc\n", 3, 2, "weight is missing"),
        ("g.lgl", "# a\nb\nc 1\n", 3, 3, "edge has a weight"),
        ("g.tgf", "1 a\n2 b\n", 3, 1, "file has no edges"),
        ("g.tgf", "1\n2\n#\n1 2 3\n2 1 x\n", 5, 5, "weight is missing"),
        ("g.sif", "a pp b\nc pp\n", 2, 5, "relation has no target"),
        ("g.smat", "2 2 1\n0 2 1\n", 2, 3, "node does not exist"),
        ("g.multiline_adjlist", "a 2\nb {}\n", 3, 1, "file ends after 1 of 2 neighbors"),
        ("g", "a b {}\nb c {'weight': 'x'}\n", 2, 16, "weight is not a number"),
        ("g", "a b {}\nb c d\n", 2, 5, "data of the edge cannot be read"),
        ("g.uc", "S\t0\t1\n", 1, 6, "record is cut off"),
    ] {
        let error = read(name, text.as_bytes(), 1 << 20, InputOptions::default());
        let error = error.expect_err(text);
        let place = error.place().unwrap_or_else(|| panic!("{text}: {error}"));
        assert_eq!((place.line, place.column, error.message()), (line, column, message), "{text}");
        assert!(error.hint_text().is_some() && !place.expected.is_empty(), "{text}");
    }
}

#[test]
fn files_that_contradict_themselves_are_refused() {
    for (name, text, message) in [
        ("g.col", "p edge 4 3\ne 1 2\n", "declares 3 edges, but has 1"),
        ("g.gr", "p sp 4 2\na 1 2 1\n", "declares 2 edges, but has 1"),
        ("g.smat", "4 4 2\n0 1 1\n", "declares 2 edges, but has 1"),
    ] {
        let error = read(name, text.as_bytes(), 1 << 20, InputOptions::default()).unwrap_err();
        assert_eq!(error.message(), format!("`/in/{name}` {message}"));
    }
    for text in ["p col 3 4\ne 1 2\ne 2 3\n", "p col 3 1\ne 1 2\ne 2 1\n"] {
        read("g.col", text.as_bytes(), 1 << 20, InputOptions::default()).unwrap();
    }
    let options =
        InputOptions { weight_transform: WeightTransform::Log, ..InputOptions::default() };
    let error = read("g.adjlist", b"a b\n", 1 << 20, options).unwrap_err();
    assert!(error.message().contains("has no weights, but `--weight-transform`"), "{error}");
    let long = [b"a ", &[b'x'; 70_000][..], b"\n"].concat();
    let error = read("g.adjlist", &long, 1 << 20, InputOptions::default()).unwrap_err();
    assert_eq!(error.message(), "word is longer than 64 KiB");
    let options = InputOptions { ignore_weights: true, ..InputOptions::default() };
    let edges = read("g", b"*Vertices 2\n*Arcs\n1 2 -3\n", 1 << 20, options).unwrap();
    assert_eq!(edges.last().unwrap(), &("1".into(), "2".into(), 1.0));
}

#[test]
fn names_and_lines_may_be_long() {
    let name = "n".repeat(65_536);
    let read =
        |name: &str, text: &str| read(name, text.as_bytes(), 1 << 16, InputOptions::default());
    let edges = read("g.adjlist", &format!("{name} b {name}\n")).unwrap();
    assert!(edges[0].0 == name && edges[1].1 == name);
    let neighbors: String = (0..100_000).map(|node| format!(" {node}")).collect();
    let edges = read("g.adjlist", &format!("a{neighbors}\n")).unwrap();
    assert_eq!((edges.len(), edges[99_999].1.as_str()), (100_000, "99999"));
    let edges = read("g", &format!("<gexf><graph><node id='{name}'/></graph></gexf>")).unwrap();
    assert!(edges[0].0 == name);
    let error = read("g", &format!("<gexf><!--{}-->", "x".repeat(2 << 20))).unwrap_err();
    assert_eq!(error.message(), "element or text is longer than 1 MiB");
}

#[test]
fn a_plan_samples_files_whose_nodes_come_first() {
    let (nodes, edges) = (200_000u64, 400_000u64);
    let pairs = || (0..edges).map(|edge| (edge * 7919 % nodes, edge * 104_729 % nodes));
    let pajek: String = pairs().map(|(a, b)| format!("{} {} 2\n", a + 1, b + 1)).collect();
    let of_nodes: String =
        (0..nodes).map(|node| format!("node [ id {node} label \"v\" ]\n")).collect();
    let gml: String =
        pairs().map(|(a, b)| format!("edge [ source {a} target {b} weight 2 ]\n")).collect();
    for (name, text) in [
        ("/in/g.net", format!("*Vertices {nodes}\n*Edges\n{pajek}")),
        ("/in/g.gml", format!("graph [\n{of_nodes}{gml}]\n")),
    ] {
        let sim = Sim::new();
        sim.put(name, text.as_bytes());
        let input = InputOptions { paths: vec![name.into()], ..Default::default() };
        let limits = &options(1, 96 * MIB).limits;
        let sample = outcore::input::sample(&files_of(&sim), &input, limits).unwrap();
        let ratio = sample.edges as f64 / edges as f64;
        assert!((0.8..1.6).contains(&ratio), "{name}: {ratio}");
        let ratio = sample.nodes() as f64 / nodes as f64;
        assert!((0.8..1.25).contains(&ratio) && !sample.is_whole, "{name}: {ratio}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn samples_that_are_cut_off_or_changed_give_edges_or_an_error(
        sample: prop::sample::Index, at: prop::sample::Index, byte: u8, way in 0..4, directed: bool,
    ) {
        let samples = samples();
        let (name, mut bytes, _) = samples[sample.index(samples.len())].clone();
        let at = at.index(bytes.len());
        match way {
            0 => bytes.truncate(at),
            1 => bytes[at] = byte,
            2 => bytes.insert(at, byte),
            _ => drop(bytes.remove(at)),
        }
        let options = || InputOptions { directed, format: EdgeFormat::Auto, ..Default::default() };
        let (large, tiny) = (read(&name, &bytes, 1 << 20, options()), read(&name, &bytes, 200, options()));
        match (large, tiny) {
            (Ok(large), Ok(tiny)) => prop_assert_eq!(large, tiny),
            (Err(large), Err(tiny)) => {
                prop_assert!(large.hint_text().is_some(), "{large}");
                prop_assert_eq!(large.message(), tiny.message());
            }
            (Ok(_), Err(error)) | (Err(error), Ok(_)) => prop_assert!(false, "only once: {error}"),
        }
    }
}

/// A path of three nodes in the formats whose nodes have labels; the ids are 1, 2 and 3.
fn labelled(labels: [Option<&str>; 3]) -> [(&'static str, String); 6] {
    let each = |node: &dyn Fn(usize, Option<&str>) -> String| -> String {
        labels.iter().enumerate().map(|(at, label)| node(at + 1, *label)).collect()
    };
    let word = |before: &str, label: Option<&str>| {
        label.map(|label| format!(" {before}\"{label}\"")).unwrap_or_default()
    };
    let pajek = each(&|id, label| match label {
        Some(label) => format!("{id} \"{label}\" 0.1 0.2\n"),
        None => String::new(),
    });
    let gml = |key: &str| each(&|id, label| format!("node [ id {id}{} ]\n", word(key, label)));
    let gexf = each(&|id, label| format!("<node id='{id}'{}/>\n", word("label=", label)));
    let graphml = |key: &str| {
        each(&|id, label| match label {
            Some(label) => format!("<node id='{id}'><data key='{key}'>{label}</data></node>"),
            None => format!("<node id='{id}'/>"),
        })
    };
    let keys =
        "<key id='a' for='node' attr.name='label'/><key id='b' for='node' attr.name='name'/>";
    let xml = "<edge source='1' target='2'/><edge source='2' target='3'/></graph></graphml>";
    let lists = "edge [ source 1 target 2 ] edge [ source 2 target 3 ] ]";
    [
        ("g.net", format!("*Vertices 3\n{pajek}*Edges\n1 2\n2 3\n")),
        ("g.gml", format!("graph [\n{}{lists}", gml("label "))),
        ("g.gml", format!("graph [\n{}{lists}", gml("name "))),
        ("g.gexf", format!("<gexf><graph>{gexf}{}", xml.replace("graphml", "gexf"))),
        ("g.graphml", format!("<graphml>{keys}<graph>{}{xml}", graphml("a"))),
        ("g.graphml", format!("<graphml>{keys}<graph>{}{xml}", graphml("b"))),
    ]
}

fn hint(error: &Error) -> &str {
    error.hint_text().unwrap_or_default()
}

#[test]
fn nodes_are_named_by_labels_of_their_own() {
    let path = |names: [&str; 3]| {
        let [a, b, c] = names;
        format!("{a}\t{b}\t1\n{b}\t{c}\t1\n")
    };
    let ids = path(["1", "2", "3"]);
    let own = ["Darwin 1859", "Mendel 1866", "a label of more than fifteen bytes"];
    for (labels, expected) in [
        (own.map(Some), path(own)),
        ([None; 3], ids.clone()),
        ([Some("a"), None, Some("c")], ids.clone()),
        ([Some("a"), Some(""), Some("c")], ids.clone()),
        ([Some("a"), Some("b"), Some("a")], ids.clone()),
    ] {
        for (name, text) in labelled(labels) {
            let read = |names| {
                let input = InputOptions { names, ..InputOptions::default() };
                read(name, text.as_bytes(), 1 << 20, input)
            };
            assert_eq!(lines(&read(None).unwrap()), expected, "{text}");
            assert_eq!(lines(&read(Some(NodeNaming::Numbers)).unwrap()), ids, "{text}");
            match read(Some(NodeNaming::Labels)) {
                Ok(edges) => assert_eq!(lines(&edges), path(own), "{text}"),
                Err(error) => {
                    assert!(expected == ids && hint(&error).contains("--names numbers"), "{error}")
                }
            }
        }
    }
}

#[test]
fn a_line_says_how_nodes_are_named() {
    for (labels, names, expected) in [
        ([Some("a"), Some("b"), Some("c")], None, "nodes by label"),
        ([Some("a"), Some("b"), Some("c")], Some(NodeNaming::Numbers), ", labels unused"),
        ([None; 3], None, ", weight"),
        ([Some("a"), None, Some("c")], None, ": `2` has no label that can be its name"),
        ([Some("a"), Some("b"), Some("a")], None, ": `a` is the label of several"),
    ] {
        for (name, text) in labelled(labels) {
            let sim = Sim::new();
            sim.put(format!("/in/{name}"), text.as_bytes());
            let paths = vec![format!("/in/{name}").into()];
            let input = InputOptions { paths, names, ..InputOptions::default() };
            let memory = BatchMemory { chunk_bytes: 1 << 20, chunks: 2 };
            let said = EdgeReader::open(&files_of(&sim), &input, memory).unwrap().describe();
            assert!(said[0].contains(expected), "{said:?}");
        }
    }
}

#[test]
fn labels_of_two_kinds_keep_their_kind() {
    let text = "*Vertices 3 1\n1 \"x\"\n2 \"x\"\n3 \"y\"\n*Edges\n1 2\n1 3\n";
    let edges = read("g.net", text.as_bytes(), 1 << 20, InputOptions::default()).unwrap();
    assert_eq!(lines(&edges), "row:x\tcolumn:x\t1\nrow:x\tcolumn:y\t1\n");
}

#[test]
fn an_end_without_a_label_and_names_of_two_sorts_are_refused() {
    let late =
        "graph [ node [ id 1 label \"a\" ] edge [ source 1 target 2 ] node [ id 2 label \"b\" ] ]";
    let error = read("g.gml", late.as_bytes(), 1 << 20, InputOptions::default()).unwrap_err();
    assert!(error.message().contains("`2` is no node that is declared before"), "{error}");
    let sim = Sim::new();
    let labels = [[Some("a"), Some("b"), Some("c")], [None, None, None]];
    let paths = labels.iter().enumerate().map(|(at, labels)| {
        let path = format!("/in/{at}.net");
        sim.put(&path, labelled(*labels)[0].1.as_bytes());
        path.into()
    });
    let input = InputOptions { paths: paths.collect(), ..InputOptions::default() };
    let memory = BatchMemory { chunk_bytes: 1 << 20, chunks: 2 };
    let error = EdgeReader::open(&files_of(&sim), &input, memory).err().unwrap();
    assert!(hint(&error).contains("--names numbers"), "{error}");
}
