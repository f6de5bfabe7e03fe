//! Default output about the input: the detected format of each file, and counts of repeated edges and loops.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::tables::{self, Names};
use crate::common::{MIB, files_of, options};
use flate2::Compression;
use flate2::write::GzEncoder;
use outcore::graph::Duplicates;
use outcore::input::{Column, Header, InputOptions, WeightTransform};
use outcore::job::{self, JobOptions, Report};
use outcore::progress::{Event, Observer, Stage};
use outcore_testkit::sim::Sim;
use std::collections::BTreeSet;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

/// Observer that collects notices and summaries of stages.
#[derive(Default)]
struct Notices(Mutex<Vec<String>>);

impl Observer for Notices {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Notice { text } | Event::End { summary: text } => {
                self.0.lock().unwrap().push(text.into());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Builds a graph from `files`. Returns notices and summaries, and the report.
fn built(files: &[(&str, &[u8])], change: impl FnOnce(&mut JobOptions)) -> (Vec<String>, Report) {
    let sim = Sim::new();
    files.iter().for_each(|(path, bytes)| sim.put(path, bytes));
    let mut options = options(2, 128 * MIB);
    options.input.paths = files.iter().map(|(path, _)| path.into()).collect();
    change(&mut options);
    let notices = Notices::default();
    let graph = Path::new("/out/graph");
    let report = job::build(&files_of(&sim), &options, graph, &notices).unwrap();
    (notices.0.into_inner().unwrap(), report)
}

/// Returns the description of one file, without its path.
fn described(path: &str, bytes: &[u8], change: impl FnOnce(&mut InputOptions)) -> String {
    let (notices, report) = built(&[(path, bytes)], |options| change(&mut options.input));
    assert_eq!(report.input.unwrap().formats, notices[..1]);
    notices[0].strip_prefix(&format!("{path}: ")).unwrap().to_owned()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn formats_of_lines_are_detected_and_described() {
    let blast = "q\ts\t98.5\t100\t1\t0\t1\t100\t1\t100\t1e-50\t210\n";
    for (text, expected) in [
        ("a\tb\n", "tab, no header, column 1 -> column 2, no weights"),
        ("a b 1\nb c 2\n", "spaces, no header, column 1 -> column 2, weight = column 3"),
        ("a;b\nc;d\n", "semicolon, no header, column 1 -> column 2, no weights"),
        ("a|b|1\nc|d|2\n", "`|`, no header, column 1 -> column 2, weight = column 3"),
        (
            "# from to weight x y z\na b 1 x y z\nb c 2 x y z\n",
            "spaces, header, from -> to, weight = weight; x, y, z unused",
        ),
        (
            "source,target,strength,Label\na,b,1,x\n",
            "comma, header, source -> target, weight = strength; Label unused",
        ),
        (
            "Label,to,from,kind,year,weight,x,y\nx,a,b,k,1,2,3,4\n",
            "comma, header, from -> to, weight = weight; Label, kind, year and 2 more unused",
        ),
        // The indexes of R and of pandas.
        (
            "from\tto\tw\n1\ta\tb\t2\n2\tb\tc\t3\n",
            "tab, header, from -> to, weight = w; column 1 unused",
        ),
        (
            ",source,target\n0,a,b\n1,b,c\n",
            "comma, header, source -> target, no weights; column 1 unused",
        ),
        (
            blast,
            "BLAST table, tab, no header, column 1 -> column 2, weight = column 12; columns 3-11 unused",
        ),
        (
            "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 0.5\n",
            "Matrix Market, row -> column, weight = value",
        ),
        (
            "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n",
            "Matrix Market, row -> column, no weights",
        ),
        (
            "(mclheader\nmcltype matrix\ndimensions 2x2\n)\n(mclmatrix\nbegin\n0 1 $\n1 0 $\n)\n",
            "mcl matrix, nodes by number, each edge in both its lists, weights",
        ),
    ] {
        assert_eq!(described("/in/edges", text.as_bytes(), |_| ()), expected, "{text}");
    }
}

#[test]
fn names_of_columns_cannot_be_mistaken_for_other_words() {
    for (header, expected) in [
        ("source,target,weight,a b", "source -> target, weight = weight; `a b` unused"),
        ("source,target,weight,a->b", "source -> target, weight = weight; `a->b` unused"),
        ("source,target,weight,\"c,d\"", "source -> target, weight = weight; `c,d` unused"),
        ("source,target,weight, ", "source -> target, weight = weight; column 4 unused"),
        (
            "source,target,weight,\u{1b}[2J\u{7}",
            r"source -> target, weight = weight; \x1b[2J\x07 unused",
        ),
        ("source,target,weight,größe", "source -> target, weight = weight; größe unused"),
    ] {
        let text = format!("{header}\na,b,1,x\n");
        let expected = format!("comma, header, {expected}");
        assert_eq!(described("/in/edges", text.as_bytes(), |_| ()), expected, "{header}");
    }
    let is_said = |bytes: &[u8], end: &str| {
        let described = described("/in/edges", bytes, |_| ());
        assert!(described.ends_with(end), "{described}");
    };
    // Words above numbers name columns, unless one of them recurs as a name.
    is_said(b"x\ty\n1\t2\n3\t4\n", "tab, header, x -> y, no weights");
    is_said(b"x\ty\n1\t2\ny\t4\n", "tab, no header, column 1 -> column 2, no weights");
    is_said(b"source,target,x\xff\na,b,c\n", r"no weights; x\xff unused");
    let long = format!("source,target,{}\na,b,c\n", "é".repeat(500));
    is_said(long.as_bytes(), &format!("no weights; {}... unused", "é".repeat(40)));
}

#[test]
fn descriptions_include_options() {
    type Change = fn(&mut InputOptions);
    let text = "source,target,strength,Label\na,b,1,x\n";
    let cases: [(&str, Change, &str); 6] = [
        (
            text,
            |input| input.ignore_weights = true,
            "comma, header, source -> target, no weights; strength, Label unused",
        ),
        (
            text,
            |input| input.weight_transform = WeightTransform::Log,
            "comma, header, source -> target, weight = log(strength); Label unused",
        ),
        (
            text,
            |input| input.columns = Some(vec![Column::Name("Label".into()), Column::Number(1)]),
            "comma, header, Label -> source, no weights; target, strength unused",
        ),
        (
            "a,b,1\nc,d,2\n",
            |input| input.columns = Some(vec![Column::Number(2), Column::Number(1)]),
            "comma, no header, column 2 -> column 1, no weights; column 3 unused",
        ),
        ("a,b,1\nc,d,2\n", |input| input.header = Header::Yes, "comma, header, a -> b, weight = 1"),
        (
            text,
            |input| {
                input.header = Header::No;
                input.columns = Some(vec![Column::Number(1), Column::Number(2)]);
            },
            "comma, no header, column 1 -> column 2, no weights; columns 3-4 unused",
        ),
    ];
    for (text, change, expected) in cases {
        assert_eq!(described("/in/edges", text.as_bytes(), change), expected, "{text}");
    }
}

#[test]
fn compression_tables_and_adjacency_lists_are_named() {
    let rows = [(Some("a".to_owned()), Some("b".to_owned()), Some(1.0))];
    let table = tables::table(&rows, Names::Text, true);
    let (parquet, arrow) = (tables::parquet(&table, 10), tables::arrow(&table, 10, false, false));
    let packed = gzip("a\tb\t1\n");
    let cases: [(&str, &[u8], &str); 5] = [
        ("/in/e.gz", &packed, "gzip, tab, no header, column 1 -> column 2, weight = column 3"),
        ("/in/e.parquet", &parquet, "Parquet, source -> target, weight = weight"),
        ("/in/e.arrow", &arrow, "Arrow IPC, source -> target, weight = weight"),
        (
            "/in/g.metis",
            b"3 1\n2\n1\n\n",
            "METIS, nodes by number, each edge in both its lists, no weights",
        ),
        (
            "/in/w.metis",
            b"2 1 011\n7 2 5\n7 1 5\n",
            "METIS, nodes by number, each edge in both its lists, weights; node weights unused",
        ),
    ];
    for (path, bytes, expected) in cases {
        assert_eq!(described(path, bytes, |_| ()), expected, "{path}");
    }
    let unused = described("/in/e.parquet", &parquet, |input| input.ignore_weights = true);
    assert_eq!(unused, "Parquet, source -> target, no weights; weight unused");
    let (notices, _) = built(&[("/in/g.metis", b"3 1\n2\n1\n\n")], |_| ());
    assert!(!notices[1].contains("weight 0"), "the third node has no edge to drop: {notices:?}");
}

#[test]
fn files_of_one_format_share_a_line_and_long_lists_of_formats_are_shortened() {
    let csv = b"source,target,weight\na,b,1\n".as_slice();
    let nodes = ("/in/nodes", b"a\nz\n".as_slice());
    let files = [("/in/1", csv), ("/in/2", b"x y 1\n"), ("/in/3", csv), ("/in/4", csv), nodes];
    let (notices, report) = built(&files, |options| {
        options.input.nodes = options.input.paths.pop();
    });
    let expected = [
        "/in/1 and 2 more files: comma, header, source -> target, weight = weight",
        "/in/2: spaces, no header, column 1 -> column 2, weight = column 3",
        "/in/nodes: list of nodes, a name per line, no header",
    ];
    assert_eq!(notices[..3], expected);
    assert_eq!(report.input.unwrap().formats, expected);
    let texts: Vec<String> =
        (1..=9).map(|count| format!("source target score{count}\na b 1\n")).collect();
    let paths: Vec<String> = (1..=9).map(|count| format!("/in/{count}")).collect();
    let files: Vec<(&str, &[u8])> =
        paths.iter().zip(&texts).map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let (notices, report) = built(&files, |_| ());
    assert_eq!(notices[3], "and files of 6 more formats: `--report` lists them all");
    assert!(notices[2].starts_with("/in/3: ") && notices[4].starts_with("9 edges"), "{notices:?}");
    assert_eq!(report.input.unwrap().formats.len(), 9);
}

/// Returns edges among few nodes, so that many are repeated, in both directions, and some are loops.
fn edges() -> Vec<(u32, u32, u32)> {
    let mut state = 7u64;
    let mut next = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % most) as u32
    };
    (0..400).map(|_| (next(12), next(12), next(4))).collect()
}

#[test]
fn repeated_edges_and_loops_are_counted_as_edges_of_the_input() {
    let edges = edges();
    let text: String = edges.iter().map(|(a, b, weight)| format!("{a}\t{b}\t{weight}\n")).collect();
    let heavy = |&&(_, _, weight): &&(u32, u32, u32)| weight > 0;
    let zero = edges.iter().filter(|(a, b, weight)| *weight == 0 && a != b).count();
    let loops = edges.iter().filter(heavy).filter(|(a, b, _)| a == b).count();
    for (directed, keep_loops, duplicates, how) in [
        (false, false, Duplicates::Sum, "summed"),
        (true, false, Duplicates::Max, "(largest weight)"),
        (false, true, Duplicates::Min, "(smallest weight)"),
        (true, true, Duplicates::First, "(first weight)"),
    ] {
        let (notices, report) = built(&[("/in/edges", text.as_bytes())], |options| {
            options.input.directed = directed;
            (options.keep_loops, options.duplicates) = (keep_loops, duplicates);
        });
        let counted = edges.iter().filter(heavy).filter(|(a, b, _)| keep_loops || a != b);
        let ends = counted.map(|&(a, b, _)| if directed { (a, b) } else { (a.min(b), a.max(b)) });
        let ends: Vec<(u32, u32)> = ends.collect();
        let distinct: BTreeSet<(u32, u32)> = ends.iter().copied().collect();
        let repeated = ends.len() - distinct.len();
        let of_loops = match keep_loops {
            true => format!("{} loops retained", distinct.iter().filter(|(a, b)| a == b).count()),
            false => format!("{loops} loops dropped"),
        };
        assert_eq!(notices[1], format!("400 edges, 12 nodes, {zero} edges of weight 0 dropped"));
        let expected = format!("sorted in memory, {repeated} repeated edges {how}, {of_loops}");
        assert_eq!(notices[2], expected);
        let stage = report.stages.iter().find(|row| row.stage == Stage::Merge).unwrap();
        assert_eq!(stage.summary, expected);
        assert_eq!(report.input.unwrap().loop_count, loops as u64);
    }
}

#[test]
fn counts_of_zero_are_not_mentioned() {
    let (notices, _) = built(&[("/in/edges", b"a\tb\nb\tc\n")], |_| ());
    assert_eq!(notices[1..], ["2 edges, 3 nodes", "sorted in memory"]);
}
