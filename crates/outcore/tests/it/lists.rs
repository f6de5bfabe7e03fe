//! Adjacency lists give the same graph as the same edges in lines; inconsistent lists are errors.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{MIB, files_of, options, storage_of};
use outcore::input::{Column, Delimiter, EdgeFormat, Header, InputOptions, WeightTransform};
use outcore::job;
use outcore::progress::Silent;
use outcore::{Error, ErrorKind, Result};
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const GRAPH: &str = "/out/graph";

/// Adjacency lists: for each node, its neighbors, numbered from 1, and their weights.
type Lists = Vec<BTreeMap<usize, u32>>;

fn lists(node_count: usize, edges: &[(usize, usize, u32)]) -> Lists {
    let mut lists = vec![BTreeMap::new(); node_count];
    for &(a, b, weight) in edges {
        let (a, b) = (a % node_count, b % node_count);
        lists[a].insert(b + 1, weight);
        lists[b].insert(a + 1, weight);
    }
    lists
}

/// Returns the lists as lines: each edge at its first node, and a loop of weight 0 for a node without edges.
fn lines(lists: &Lists, from: usize, directed: bool, weighted: bool) -> String {
    let mut text = String::new();
    for (at, neighbors) in lists.iter().enumerate() {
        let node = at + 1;
        if neighbors.is_empty() {
            writeln!(text, "{0}\t{0}\t0", at + from).unwrap();
        }
        for (&other, &weight) in neighbors.iter().filter(|(other, _)| directed || **other >= node) {
            let weight = if weighted { weight } else { 1 };
            writeln!(text, "{}\t{}\t{weight}", at + from, other - 1 + from).unwrap();
        }
    }
    text
}

fn metis(lists: &Lists, weighted: bool, weights_of_nodes: usize) -> String {
    let loops = lists.iter().enumerate().filter(|(at, list)| list.contains_key(&(at + 1))).count();
    let entries: usize = lists.iter().map(BTreeMap::len).sum();
    let edges = (entries - loops) / 2 + loops;
    let mut text = format!("% made for a test\n{} {edges}", lists.len());
    if weighted || weights_of_nodes > 0 {
        write!(text, " 0{}{}", u8::from(weights_of_nodes > 0), u8::from(weighted)).unwrap();
    }
    if weights_of_nodes > 0 {
        write!(text, " {weights_of_nodes}").unwrap();
    }
    text.push('\n');
    for (at, neighbors) in lists.iter().enumerate() {
        if at % 7 == 3 {
            text.push_str("% a comment\n");
        }
        let mut words = vec!["5".to_string(); weights_of_nodes];
        for (other, weight) in neighbors {
            words.push(other.to_string());
            if weighted {
                words.push(weight.to_string());
            }
        }
        text.push_str(&words.join(" "));
        text.push_str(if at % 5 == 0 { " \r\n" } else { "\n" });
    }
    text
}

fn mcl(lists: &Lists, has_domain: bool) -> String {
    let count = lists.len();
    let mut text =
        format!("# made for a test\n(mclheader\nmcltype matrix\ndimensions {count}x{count}\n)\n");
    if has_domain {
        let nodes: Vec<String> = (0..count).map(|node| node.to_string()).collect();
        write!(text, "(mcldoms\n{} $\n)\n", nodes.join(" ")).unwrap();
    }
    text.push_str("(mclmatrix\nbegin\n\n");
    for (at, neighbors) in lists.iter().enumerate() {
        write!(text, "{at}   ").unwrap();
        for (column, (other, weight)) in neighbors.iter().enumerate() {
            if *weight == 1 {
                write!(text, " {}", other - 1).unwrap();
            } else {
                write!(text, " {}:{weight}", other - 1).unwrap();
            }
            text.push_str(if column % 8 == 7 { "\n       " } else { "" });
        }
        text.push_str(" $\n");
    }
    text + ")\n"
}

/// Returns the files of the graph, without the manifest, which contains times.
fn built(
    path: &str,
    text: &[u8],
    change: impl Fn(&mut InputOptions),
) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let sim = Sim::new();
    sim.put(path, text);
    built_in(&sim, path, 2, 256 * MIB, change)
}

fn built_in(
    sim: &Sim,
    path: &str,
    threads: usize,
    memory: u64,
    change: impl Fn(&mut InputOptions),
) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut options = options(threads, memory);
    options.input.paths = vec![path.into()];
    change(&mut options.input);
    let files = files_of(sim);
    job::build(&files, &options, Path::new(GRAPH), &Silent)?;
    let entries = files.list(Path::new(GRAPH))?;
    Ok(entries
        .into_iter()
        .filter(|entry| !entry.path.ends_with("manifest.json"))
        .map(|entry| (entry.path.clone(), files.read(&entry.path).unwrap()))
        .collect())
}

fn error_of(path: &str, text: &str) -> Error {
    built(path, text.as_bytes(), |_| {}).expect_err(text)
}

fn some_lists() -> impl Strategy<Value = Lists> {
    (2..60usize).prop_flat_map(|node_count| {
        let edge = (0..node_count, 0..node_count, 1..9u32);
        prop::collection::vec(edge, 1..200).prop_map(move |edges| lists(node_count, &edges))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn lists_give_the_same_graph_as_lines(
        lists in some_lists(), weighted: bool, directed: bool, of_nodes in 0..3usize, has_domain: bool,
    ) {
        // In a directed graph, each entry of a list is an arc, and the lists have every edge in both directions.
        let lines = |from, weighted| {
            let text = lines(&lists, from, directed, weighted);
            // Without columns, first nodes that happen to be 1, 2, 3 and so on may be row numbers: a question.
            built("/in/edges.tsv", text.as_bytes(), |input| {
                input.directed = directed;
                input.columns = Some([1, 2, 3].map(Column::Number).to_vec());
            })
            .unwrap()
        };
        let text = metis(&lists, weighted, of_nodes);
        let found = built("/in/edges.metis", text.as_bytes(), |input| input.directed = directed);
        prop_assert_eq!(found.unwrap(), lines(1, weighted), "{}", text);
        let text = mcl(&lists, has_domain);
        let found = built("/in/edges", text.as_bytes(), |input| input.directed = directed);
        prop_assert_eq!(found.unwrap(), lines(0, true), "{}", text);
    }

    #[test]
    fn truncated_or_changed_lists_give_an_error_or_another_graph(
        lists in some_lists(), at in 0..2000usize, byte: u8, is_mcl: bool, cut: bool,
    ) {
        let text = if is_mcl { mcl(&lists, true) } else { metis(&lists, true, 0) };
        let (path, mut bytes) = (if is_mcl { "/in/m.mci" } else { "/in/g.metis" }, text.into_bytes());
        let at = at % bytes.len();
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        if let Err(error) = built(path, &bytes, |_| {}) {
            prop_assert!(error.hint_text().is_some(), "{error}");
            let kinds = [ErrorKind::BadInput, ErrorKind::BadWeight];
            let is_about_lines = is_mcl && at < 30;
            prop_assert!(kinds.contains(&error.kind()) || is_about_lines, "{error}");
        }
    }
}

#[test]
fn the_graph_is_independent_of_threads_memory_and_compression() {
    let edges: Vec<_> =
        (0..120_000).map(|k| (k * 7919 % 20_000, k * k % 20_011, k as u32 % 5 + 1)).collect();
    // A hub whose line is longer than 1 MiB.
    let hub = (1..200_000).map(|k| (0, k, 1));
    let lists = lists(200_000, &edges.into_iter().chain(hub).collect::<Vec<_>>());
    let text = metis(&lists, true, 0);
    let sim = storage_of(&lines(&lists, 1, false, true));
    let expected = built_in(&sim, "/in/edges.tsv", 2, 256 * MIB, |_| {}).unwrap();
    let packed = zstd_of(text.as_bytes());
    for (path, bytes, threads, memory) in [
        ("/in/a.graph", text.as_bytes(), 1, 256 * MIB),
        ("/in/a.metis", text.as_bytes(), 3, 64 * MIB),
        ("/in/a.metis.zst", &packed, 2, 128 * MIB),
    ] {
        let sim = Sim::new();
        sim.put(path, bytes);
        assert!(built_in(&sim, path, threads, memory, |_| {}).unwrap() == expected, "{path}");
    }
}

/// Returns one frame of raw blocks (RFC 8878), as the tests have no encoder.
fn zstd_of(text: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 0x58];
    let blocks = text.chunks(1 << 17);
    let last = blocks.len() - 1;
    for (at, block) in blocks.enumerate() {
        let head = (block.len() as u32) << 3 | u32::from(at == last);
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.extend_from_slice(block);
    }
    frame
}

#[test]
fn errors_report_the_place_of_a_bad_word() {
    for (path, text, line, column, message) in [
        ("g.metis", "3 2\n2\n1 x\n2\n", 3, 3, "neighbor is not the number of a node"),
        ("g.metis", "3 2\n2\n1 4\n2\n", 3, 3, "neighbor is not the number of a node"),
        ("g.metis", "% c\n3 2\n2\n0 3\n2\n", 4, 1, "neighbor is not the number of a node"),
        ("g.metis", "3 2 1\n2 1.5\n1 1.5 3 -2\n2 2\n", 3, 9, "weight is negative"),
        ("g.metis", "3 2 1\n2 1.5\n1 1.5 3\n2 2\n", 3, 8, "weight is missing"),
        ("g.metis", "3 2 10\n5 2\n\n5 2\n", 3, 1, "node has no weight"),
        ("g.metis", "3 2\n2\n1 3\n", 4, 1, "file ends after 2 of 3 nodes"),
        ("g.metis", "3 2\n2\n1 3\n2\n\n1\n", 6, 1, "line follows the last of 3 nodes"),
        (
            "m",
            "(mclmatrix\nbegin\n0 1:2 x $\n1 0:2 $\n)\n",
            3,
            7,
            "entry of the matrix cannot be read",
        ),
        ("m", "(mclmatrix\nbegin\n0 1:nan $\n1 0:2 $\n)\n", 3, 5, "weight is NaN"),
        ("m", "(mclmatrix\nbegin\n0 1:2 $\n1 0:2 $\n", 5, 1, "file ends too early"),
        (
            "m",
            "(mclheader\nmcltype matrix\ndimensions 3x2\n)\n",
            3,
            12,
            "matrix is rectangular: a clustering, or edges between two kinds of nodes",
        ),
        (
            "m",
            "(mclheader\ndimensions 2x2\n)\n(mclmatrix\nbegin\n2 1 $\n)",
            6,
            1,
            "node does not exist",
        ),
        ("m", "(mclheader\nmcltype clustering\n)", 2, 9, "file is not the matrix of a graph"),
    ] {
        let error = error_of(&format!("/in/{path}"), text);
        let place = error.place().unwrap_or_else(|| panic!("{error}: {text}"));
        assert_eq!((place.line, place.column, error.message()), (line, column, message), "{text}");
    }
}

#[test]
fn inconsistent_lists_are_refused() {
    for (path, text, message) in [
        ("g.metis", "3 2\n2\n1 3\n\n", "some edges differ between the lists of their two nodes"),
        (
            "g.metis",
            "3 2 1\n2 1\n1 2 3 1\n2 1\n",
            "some edges differ between the lists of their two nodes",
        ),
        ("g.metis", "3 5\n2\n1 3\n2\n", "its header declares 5 edges, but its lists have 2"),
        (
            "m",
            "(mclmatrix\nbegin\n0 1:2 $\n1 0:3 $\n)\n",
            "some edges differ between the lists of their two nodes",
        ),
    ] {
        let error = error_of(&format!("/in/{path}"), text);
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::BadInput, &*format!("`/in/{path}`: {message}")),
            "{text}"
        );
    }
    for header in ["3", "3 2 7", "3 2 0 4", "3 2 1001", "a b", "1 2 3 4 5", "3 -2"] {
        let error = error_of("/in/g.graph", &format!("{header}\n2\n1 3\n2\n"));
        let message =
            format!("`/in/g.graph` is read as a METIS graph, but `{header}` is not its header");
        assert_eq!(error.message(), message);
        assert_eq!(error.hint_text(), Some("use `--format lines` if every line is an edge"));
    }
    let none = error_of("/in/g.graph", "% nothing\n\n");
    assert_eq!(none.message(), "`/in/g.graph` is read as a METIS graph, but has no line");
}

#[test]
fn the_format_can_be_given() {
    let lists = "3 2\n2\n1 3\n2\n";
    let read =
        |path, text: &str, format| built(path, text.as_bytes(), |input| input.format = format);
    let of_name = read("/in/g.metis", lists, EdgeFormat::Auto).unwrap();
    assert_eq!(read("/in/g.txt", lists, EdgeFormat::Metis).unwrap(), of_name);
    let lines = read("/in/a.txt", "1 2\n2 3\n", EdgeFormat::Auto).unwrap();
    assert_eq!(read("/in/a.graph", "1 2\n2 3\n", EdgeFormat::Lines).unwrap(), lines);
    let matrix = "(mclmatrix\nbegin\n0 1 $\n1 0 2 $\n2 1 $\n)";
    assert_eq!(
        read("/in/m", matrix, EdgeFormat::Mcl).unwrap(),
        read("/in/m", matrix, EdgeFormat::Auto).unwrap()
    );
    let error = read("/in/m", "1 2\n", EdgeFormat::Mcl).unwrap_err();
    assert_eq!(error.message(), "file has no matrix");
}

#[test]
fn options_of_lines_are_refused_for_lists() {
    let lists = b"3 2\n2\n1 3\n2\n";
    type Change = fn(&mut InputOptions);
    let cases: [(&str, Change); 3] = [
        ("--delimiter", |input| input.delimiter = Some(Delimiter::Spaces)),
        ("--header", |input| input.header = Header::No),
        ("--columns", |input| input.columns = Some(vec![Column::Number(1), Column::Number(2)])),
    ];
    for (option, change) in cases {
        let error = built("/in/g.metis", lists, change).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.message().starts_with(&format!("`{option}` has no effect on")), "{error}");
    }
}

#[test]
fn weights_are_transformed_and_ignored_as_in_lines() {
    let lists = lists(
        30,
        &(0..90).map(|k| (k * 7 % 30, k * 11 % 29, k as u32 % 6 + 1)).collect::<Vec<_>>(),
    );
    let (text, lines) = (metis(&lists, true, 0), lines(&lists, 1, false, true));
    for change in [
        (|input: &mut InputOptions| input.weight_transform = WeightTransform::Log)
            as fn(&mut InputOptions),
        |input| input.ignore_weights = true,
    ] {
        let expected = built("/in/edges.tsv", lines.as_bytes(), change).unwrap();
        assert_eq!(built("/in/edges.metis", text.as_bytes(), change).unwrap(), expected);
    }
}

#[test]
fn a_plan_samples_lists() {
    let lists = lists(
        20_000,
        &(0..150_000).map(|k| (k * 31 % 20_000, k * 17 % 19_997, 2)).collect::<Vec<_>>(),
    );
    let edges = lists.iter().enumerate().flat_map(|(at, list)| list.range(at + 1..)).count() as f64;
    for (path, text) in [("/in/g.metis", metis(&lists, true, 0)), ("/in/m", mcl(&lists, false))] {
        let sim = Sim::new();
        sim.put(path, text.as_bytes());
        let input = InputOptions { paths: vec![path.into()], ..Default::default() };
        let sample =
            outcore::input::sample(&files_of(&sim), &input, &options(1, 96 * MIB).limits).unwrap();
        let ratio = sample.edges as f64 / edges;
        assert!((0.8..1.25).contains(&ratio), "{path}: {ratio}");
        assert!(!sample.is_whole);
    }
}

#[test]
fn matrix_market_files_must_match_their_headers() {
    const BANNER: &str = "%%MatrixMarket matrix coordinate real general\n% c\n";
    let read = |text: &str| built("/in/a.mtx", text.as_bytes(), |_| {}).map(drop);
    read(&format!("{BANNER}3 3 2\n1 2 .5\n2 3 1\n")).unwrap();
    for (text, message) in [
        (format!("{BANNER}3 3 3\n1 2 .5\n2 3 1\n"), "declares 3 entries, but has 2"),
        (format!("{BANNER}3 3 1\n1 2 .5\n2 3 1\n"), "declares 1 entries, but has 2"),
        (format!("{BANNER}3 3\n1 2 .5\n"), "has no valid size line: `3 3`"),
        (
            BANNER.replace("coordinate", "array") + "2 2\n1\n2\n",
            "holds `matrix array real`, which is not a list of edges",
        ),
        (
            BANNER.replace("real", "complex") + "2 2 1\n1 2 1 0\n",
            "holds `matrix coordinate complex`, which is not a list of edges",
        ),
        (
            "%%MatrixMarket matrix\n2 2 1\n1 2 1\n".into(),
            "begins with an incomplete Matrix Market banner",
        ),
    ] {
        let error = read(&text).unwrap_err();
        assert_eq!(error.message(), format!("`/in/a.mtx` {message}"));
        assert!(error.hint_text().is_some());
    }
    let symmetric = BANNER.replace("general", "symmetric") + "3 3 2\n2 1 .5\n3 2 1\n";
    read(&symmetric).unwrap();
    let directed = built("/in/a.mtx", symmetric.as_bytes(), |input| input.directed = true);
    assert_eq!(directed.unwrap_err().kind(), ErrorKind::Usage);
    let wide = format!("{BANNER}3 4 2\n1 2 .5\n2 3 1\n");
    let as_lines = |input: &mut InputOptions| {
        (input.format, input.header) = (EdgeFormat::Lines, Header::Yes);
    };
    let expected = built("/in/edges.tsv", b"1\t2\t.5\n2\t3\t1\n", |_| {}).unwrap();
    assert_eq!(built("/in/a.mtx", wide.as_bytes(), as_lines).unwrap(), expected);
}

#[test]
fn entries_are_counted_for_each_of_several_matrices() {
    let matrix = |entries: u64| {
        format!("%%MatrixMarket matrix coordinate pattern general\n3 3 {entries}\n1 2\n2 3\n")
    };
    for (first, second, is_right) in [(2, 2, true), (3, 2, false), (2, 3, false)] {
        let sim = Sim::new();
        sim.put("/in/a.mtx", matrix(first).as_bytes());
        sim.put("/in/b.mtx", matrix(second).as_bytes());
        sim.put("/in/c.tsv", b"1\t2\n");
        sim.put("/in/d.metis", b"3 2\n2\n1 3\n2\n");
        let done = built_in(&sim, "/in/a.mtx", 2, 96 * MIB, |input| {
            // Lists do not count towards a preceding matrix.
            input.paths =
                ["a.mtx", "d.metis", "b.mtx", "c.tsv"].map(|n| format!("/in/{n}").into()).to_vec();
            input.ignore_weights = true;
        });
        assert_eq!(done.is_ok(), is_right, "{first} {second}");
    }
}
