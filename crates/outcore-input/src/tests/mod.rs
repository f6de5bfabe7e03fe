//! Tests of the input, on simulated files.

mod doubts;
mod meaning;
mod nodes;

use super::decompress::samples::{bgzf, bzip2, gzip, xz, zstd};
use super::*;
use outcore_graph::weight::Weight;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::{Files, budget::Limits};
use outcore_testkit::sim::{Fault as Failure, Sim};
use proptest::prelude::*;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

type NamedEdge = (Vec<u8>, Vec<u8>, u32);
type ParseOutcome = std::result::Result<(Vec<NamedEdge>, InputSummary), Error>;

const TINY: BatchMemory = BatchMemory { chunk_bytes: 16, chunks: 3 };
const LARGE: BatchMemory = BatchMemory { chunk_bytes: 1 << 16, chunks: 4 };

fn sim(contents: &[&[u8]]) -> (Sim, InputOptions) {
    let sim = Sim::new();
    let mut options = InputOptions::default();
    for (index, bytes) in contents.iter().enumerate() {
        let path = PathBuf::from(format!("file{index}"));
        sim.put(&path, bytes);
        options.paths.push(path);
    }
    (sim, options)
}

fn read_sim(sim: &Sim, options: &InputOptions, memory: BatchMemory) -> ParseOutcome {
    let files = Files::new(Arc::new(sim.clone()));
    let mut reader = EdgeReader::open(&files, options, memory)?;
    let mut batch = Batch::default();
    let mut edges = Vec::new();
    while reader.next_batch(&mut batch)? {
        for chunk in batch.chunks.iter().filter(|chunk| !chunk.is_node_list) {
            assert_eq!(
                chunk.weights.len(),
                if reader.is_weighted() { chunk.edge_count() } else { 0 }
            );
            for (index, pair) in chunk.names.chunks_exact(2).enumerate() {
                for name in pair {
                    assert_eq!(name.fingerprint, Fingerprint::of(chunk.name(name)));
                }
                let one = Weight::ONE.code();
                let weight = if reader.is_weighted() { chunk.weights[index] } else { one };
                edges.push((chunk.name(&pair[0]).to_vec(), chunk.name(&pair[1]).to_vec(), weight));
            }
        }
    }
    if let Some(total) = reader.total_bytes() {
        assert_eq!(reader.done_bytes(), total);
    }
    Ok((edges, reader.finish()?))
}

fn read(
    contents: &[&[u8]],
    change: impl Fn(&mut InputOptions),
    memory: BatchMemory,
) -> ParseOutcome {
    let (sim, mut options) = sim(contents);
    change(&mut options);
    read_sim(&sim, &options, memory)
}

/// Reads with small and with large chunks, whose results must not differ.
fn edges(text: &[u8], change: impl Fn(&mut InputOptions)) -> Vec<NamedEdge> {
    let (large, summary) = read(&[text], &change, LARGE).unwrap();
    let (tiny, tiny_summary) = read(&[text], &change, TINY).unwrap();
    assert_eq!((&large, &summary), (&tiny, &tiny_summary));
    large
}

fn edge(source: &str, target: &str, weight: f64) -> NamedEdge {
    let code = if weight == 0.0 { 0 } else { Weight::new(weight).code() };
    (source.into(), target.into(), code)
}

fn plain(_: &mut InputOptions) {}

#[test]
fn plain_lines_are_read() {
    let expected =
        [edge("a", "b", 0.5), edge("P00417376", "Q001083875", 0.541), edge("c", "a", 0.0)];
    for text in [
        "a\tb\t0.5\nP00417376\tQ001083875\t0.541\nc\ta\t0\n",
        "a\tb\t0.5\r\nP00417376\tQ001083875\t0.541\r\nc\ta\t0\r\n",
        "\u{feff}a\tb\t0.5\n\n  \n# x\nP00417376\tQ001083875\t0.541\t\n\r\nc\ta\t0",
        "a,b,0.5\n\"P00417376\",Q001083875,\"0.541\"\nc,a,0",
        "a  b 0.5\n\t P00417376\tQ001083875  0.541 \nc a 0.0\r\n",
        "source;target;w\na;b;.5\nP00417376;Q001083875;0.5410\nc;a;-0",
    ] {
        assert_eq!(edges(text.as_bytes(), plain), expected, "{text}");
    }
}

#[test]
fn any_bytes_are_names() {
    let long = "x".repeat(NAME_LIMIT);
    let text = [b"\0\ta\0\n\xff\xfe\t\xc3\n '\"\tb c\n", long.as_bytes(), b"\t0123456789abcdef\n"]
        .concat();
    let found = read(&[&text], plain, LARGE).unwrap().0;
    assert_eq!(found, read(&[&text], plain, TINY).unwrap().0);
    let names: Vec<&[u8]> = found.iter().flat_map(|edge| [&edge.0[..], &edge.1[..]]).collect();
    let expected: [&[u8]; 8] =
        [b"\0", b"a\0", b"\xff\xfe", b"\xc3", b"'\"", b"b c", long.as_bytes(), b"0123456789abcdef"];
    assert_eq!(names, expected);
}

#[test]
fn quoted_fields_hold_delimiters_and_quotes() {
    let text = b"\"a,b\",\"say \"\"hi\"\"\",2\nx\"y,\"\"\"\",1\n";
    assert_eq!(edges(text, plain), [edge("a,b", "say \"hi\"", 2.0), edge("x\"y", "\"", 1.0)]);
    let error = read(&[b"a,b,1\n\"a\nb\",c,1\n"], plain, TINY).unwrap_err();
    assert_eq!(error.to_string(), "file0:2:1: quote is not closed on its line");
    let error = read(&[b"a,b,1\na,\"b\"c,1\n"], plain, LARGE).unwrap_err();
    assert_eq!(error.to_string(), "file0:2:6: text follows the closing quote");
}

#[test]
fn columns_are_chosen() {
    let blast = b"q1\ts1\t98.5\t100\t1\t0\t1\t100\t1\t100\t1e-50\t210.5\nq2\ts2\t8\t1\t1\t0\t1\t1\t1\t1\t0.0\t21\r\n";
    assert_eq!(edges(blast, plain), [edge("q1", "s1", 210.5), edge("q2", "s2", 21.0)]);
    let first = |options: &mut InputOptions| {
        options.columns = Some(vec![Column::Number(2), Column::Number(1), Column::Number(3)]);
    };
    assert_eq!(edges(blast, first), [edge("s1", "q1", 98.5), edge("s2", "q2", 8.0)]);
    let two = |options: &mut InputOptions| options.ignore_weights = true;
    assert_eq!(edges(blast, two), [edge("q1", "s1", 1.0), edge("q2", "s2", 1.0)]);
    let named = |options: &mut InputOptions| {
        options.columns = Some(["b", "a", "w"].map(|name| Column::Name(name.into())).to_vec());
    };
    assert_eq!(edges(b"w,a,b\n3,x,y\n", named), [edge("y", "x", 3.0)]);
    let matrix = b"%%MatrixMarket matrix coordinate real general\n% c\n3 3 2\n1 2 0.5\n2 3 1\n";
    assert_eq!(edges(matrix, plain), [edge("1", "2", 0.5), edge("2", "3", 1.0)]);
}

#[test]
fn weights_are_transformed_as_they_are_read() {
    // Short, long, quoted and spaced numbers take different paths through the parser.
    let e_values = b"a\tb\t0.0\nb\tc\t1.0000000000000e-50\nc\td\t1e-5\nd\te\t1.0\ne\tf\t12.5\n";
    let neg_log10 = |options: &mut InputOptions| {
        options.weight_transform = WeightTransform::NegLog10;
    };
    let expected =
        [("a", "b", 200.0), ("b", "c", 50.0), ("c", "d", 5.0), ("d", "e", 0.0), ("e", "f", 0.0)]
            .map(|(source, target, weight)| edge(source, target, weight));
    assert_eq!(edges(e_values, neg_log10), expected);
    assert_eq!(read(&[e_values], neg_log10, TINY).unwrap().1.zero_weight_edges, 2);
    let reciprocal = |options: &mut InputOptions| {
        options.weight_transform = WeightTransform::Reciprocal;
    };
    let text = b"\"a\",b, 4\nb,c,0.5\n";
    assert_eq!(edges(text, reciprocal), [edge("a", "b", 0.25), edge("b", "c", 2.0)]);
    for bad in ["0", "0.000000000", "-0"] {
        let text = format!("a\tb\t1\nb\tc\t{bad}\n");
        for memory in [TINY, LARGE] {
            let error = read(&[text.as_bytes()], reciprocal, memory).unwrap_err();
            let message = "file0:2:5: distance is zero, which has no reciprocal";
            assert_eq!((error.to_string().as_str(), error.kind()), (message, ErrorKind::BadWeight));
        }
    }
    for change in [neg_log10 as fn(&mut InputOptions), reciprocal] {
        let error = read(&[b"", b"a\tb\n"], change, TINY).unwrap_err();
        let message = "`file1` has no weights, but `--weight-transform` needs them";
        assert_eq!((error.message(), error.kind()), (message, ErrorKind::BadInput));
        assert!(read(&[b"# no edge\n"], change, TINY).unwrap().0.is_empty());
        let error = read(&[b"a\tb\t-1\n"], change, TINY).unwrap_err();
        assert_eq!(error.message(), "weight is negative");
    }
}

/// Returns the names of a node list that follows `edges`, and the summary.
fn listed(
    edges: &[u8],
    nodes: &[u8],
    change: impl Fn(&mut InputOptions),
    memory: BatchMemory,
) -> Result<(Vec<Vec<u8>>, InputSummary)> {
    let (sim, mut options) = sim(&[edges, nodes]);
    options.nodes = options.paths.pop();
    change(&mut options);
    let mut reader = EdgeReader::open(&Files::new(Arc::new(sim)), &options, memory)?;
    let (mut batch, mut names) = (Batch::default(), Vec::new());
    while reader.next_batch(&mut batch)? {
        for chunk in batch.edges_and_nodes().1 {
            assert_eq!((chunk.edge_count(), chunk.weights.len()), (0, 0));
            names.extend(chunk.names.iter().map(|name| chunk.name(name).to_vec()));
        }
    }
    Ok((names, reader.finish()?))
}

#[test]
fn a_node_list_has_its_own_columns() {
    let names = |edges: &[u8], nodes: &[u8]| {
        let of = |memory| listed(edges, nodes, plain, memory).map(|(names, _)| names);
        let (tiny, large) = (of(TINY).unwrap(), of(LARGE).unwrap());
        assert_eq!(tiny, large);
        let names: Vec<_> = tiny.iter().map(|name| String::from_utf8_lossy(name)).collect();
        names.join("|")
    };
    for (edges, nodes, expected) in [
        // A name per line, with its spaces and commas.
        ("a\tb\t1\n", "# hi\nz\nzone\n\n#\nz\r\nx y, k \n", "z|zone|z|x y, k"),
        ("a b 1\n", " c\n\td\n", "c|d"),
        ("from,to\na,b\n", "z\n\"a,b\"\nc\n", "z|a,b|c"),
        ("a\tb\n", "\"x y\"\n\"z\"\n", "x y|z"),
        ("a,b\n", "", ""),
        ("a,b\n", "# nobody\n", ""),
        // The column that a header names, whatever separates those of the edges.
        ("a,b\n", "id\tlabel\na\tx\nd\ty\n", "a|d"),
        ("a\tb\n", "Label;Id\nx y;7\nz;\"8\"\n", "7|8"),
        ("a\tb\n", "name\na\nb c\n", "a|b c"),
        ("a b\n", "degree node\n3 a\n4 b\n", "a|b"),
        ("a,b\n", "personId:ID,name,:LABEL\np1,Ann,P\np2,\"Bo, jr\",P\n", "p1|p2"),
        ("a,b\n", ":ID(Person),x\n1,2\n", "1"),
        ("a,b\n", ",name,age\n0,ann,3\n1, bo ,4\n", "ann|bo"),
        // Names that only look like columns or a header.
        ("a,b\n", "node of a\nhouse\n", "node of a|house"),
        ("a,b\n", "x y\nz w\n", "x y|z w"),
        ("a,b\n", "id\n", "id"),
    ] {
        assert_eq!(names(edges.as_bytes(), nodes.as_bytes()), expected, "{nodes}");
    }
    let text = b"id,x\na,1\nb,2\n";
    for packed in [gzip(&[text]), zstd(&[text])] {
        assert_eq!(names(b"a\tb\t1\n", &packed), "a|b");
    }
    let no = |options: &mut InputOptions| options.header = Header::No;
    assert_eq!(listed(b"a\tb\n", b"id\nx\n", no, TINY).unwrap().0, [b"id".to_vec(), b"x".to_vec()]);
    // The header that an export writes is one also where text of edges has none.
    assert_eq!(listed(b"a\tb\n", b"node\nx\n", no, TINY).unwrap().0, [b"x".to_vec()]);
}

#[test]
fn columns_of_nodes_without_a_header_are_asked() {
    for (edges, nodes) in [
        ("a\tb\n", "z\t1\ny\t2\n"),
        ("a\tb\n", "z\ny\t2\n"),
        ("a b\n", "z\ny 2\n"),
        ("a b\n", "z,1\ny,2\n"),
        ("a,b\n", "a\tb\tc\n"),
    ] {
        let error = listed(edges.as_bytes(), nodes.as_bytes(), plain, LARGE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{nodes}");
        assert!(error.hint_text().unwrap().contains("--nodes file1:COLUMN"), "{error:?}");
    }
}

#[test]
fn bad_lines_of_a_node_list_are_named() {
    let message = "file1:3:1: node has no name";
    let skip = |options: &mut InputOptions| options.on_bad_line = OnBadLine::Skip;
    let nodes = b"id\tx\na\t1\n\tb\n";
    for memory in [TINY, LARGE] {
        let error = listed(b"a\tb\t1\n", nodes, plain, memory).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.kind()), (message, ErrorKind::EmptyName));
        let (names, summary) = listed(b"a\tb\t1\n", nodes, skip, memory).unwrap();
        assert_eq!((names.len(), summary.skipped_lines), (1, 1));
        let error = listed(b"a\tb\n", b"x,id\n1,a\n2\n3,b\n", plain, memory).unwrap_err();
        assert_eq!(error.message(), "line has 1 column, but the node is column 2");
        let long = "x".repeat(NAME_LIMIT + 1);
        let error = listed(b"a\tb\t1\n", long.as_bytes(), plain, memory).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NameTooLong);
        let error = listed(b"a,b,1\n", b"\"c\n", plain, memory).unwrap_err();
        assert_eq!(error.to_string(), "file1:1:1: quote is not closed on its line");
        let error = listed(b"a\tb\t-1\n", b"x\n", plain, memory).unwrap_err();
        assert_eq!(error.to_string(), "file0:1:5: weight is negative");
    }
    assert!(listed(b"a\tb\n", b"\xff\xfeb\0", plain, TINY).is_err());
    let stdin = |options: &mut InputOptions| {
        options.paths = vec!["-".into()];
        options.nodes = Some("-".into());
    };
    assert_eq!(listed(b"a b", b"c", stdin, TINY).unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn files_follow_one_another() {
    let (found, summary) = read(&[b"a\tb", b"", b"c,d\r\n", b"# no\n"], plain, TINY).unwrap();
    assert_eq!(found, [edge("a", "b", 1.0), edge("c", "d", 1.0)]);
    assert_eq!((summary.lines, summary.edges), (3, 2));
    let error = read(&[b"a\tb\n", b"a\tb\t1\n"], plain, TINY).unwrap_err();
    assert_eq!(error.message(), "`file1` has weights, but `file0` has none");
    assert!(read(&[b"", b"#\n"], plain, TINY).unwrap().0.is_empty());
}

#[test]
fn every_fault_is_named() {
    for (line, kind, column, reason) in [
        ("a", "missing-column", 1, "line has 1 column, but the target is column 2"),
        ("a\tb", "missing-column", 1, "line has 2 columns, but the weight is column 3"),
        ("\tb\t1", "empty-name", 1, "source has no name"),
        ("é\t\t1", "empty-name", 3, "target has no name"),
        ("é\tb\t-1", "bad-weight", 5, "weight is negative"),
        ("a\tb\tinf", "bad-weight", 5, "weight is infinite"),
        ("a\tb\t1e999", "bad-weight", 5, "weight is infinite"),
        ("a\tb\tNaN", "bad-weight", 5, "weight is NaN"),
        ("a\tb\tx", "bad-weight", 5, "weight is not a number"),
        ("a\tb\t\t", "bad-weight", 5, "weight is empty"),
    ] {
        let text = format!("# c\na\tb\t1\n{line}\nc\td\t1\n");
        for memory in [TINY, LARGE] {
            let error = read(&[text.as_bytes()], plain, memory).unwrap_err();
            let place = error.place().unwrap();
            assert_eq!((error.kind().name(), error.message()), (kind, reason), "{line}");
            assert_eq!((place.line, place.column), (3, column), "{line}");
            assert!(error.hint_text().is_some() && !place.expected.is_empty());
        }
    }
    let long = format!("a\tb\n{}\tb\n", "x".repeat(NAME_LIMIT + 1));
    let error = read(&[long.as_bytes()], plain, TINY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NameTooLong);
    let error = read(&[b"a\tb\t1\nc,d,2\n"], plain, LARGE).unwrap_err();
    assert_eq!(error.notes()[0], "byte 6 of the file");
    assert_eq!(error.notes()[1], "columns are separated by a tab, detected from line 1");
    assert!(error.hint_text().unwrap().starts_with("use `--on-bad-line skip`"));
}

#[test]
fn lines_have_a_limit() {
    let tail = "\tx".repeat(300_000);
    let good = format!("a\tb{tail}\nc\td\n");
    let two = |options: &mut InputOptions| {
        options.columns = Some(vec![Column::Number(1), Column::Number(2)]);
    };
    assert_eq!(edges(good.as_bytes(), two), [edge("a", "b", 1.0), edge("c", "d", 1.0)]);
    let bad = format!("a\tb\nc\td{tail}{tail}\ne\tf");
    let skip = |options: &mut InputOptions| options.on_bad_line = OnBadLine::Skip;
    for memory in [TINY, LARGE, BatchMemory { chunk_bytes: 4 << 20, chunks: 1 }] {
        let error = read(&[bad.as_bytes()], plain, memory).unwrap_err();
        assert_eq!(error.to_string(), "file0:2:1: line is longer than 1 MiB");
        let (found, summary) = read(&[bad.as_bytes()], skip, memory).unwrap();
        assert_eq!(found, [edge("a", "b", 1.0), edge("e", "f", 1.0)]);
        assert_eq!((summary.skipped_lines, summary.lines), (1, 3));
    }
}

#[test]
fn the_earliest_bad_line_wins_for_any_chunks_and_threads() {
    let mut text = String::from("a\tb\t1\n");
    for line in 0..500 {
        let weight = if line % 97 == 80 { "-1" } else { "2.5" };
        text += &format!("node{line}\tb\t{weight}\n");
    }
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for chunk_bytes in [16, 50, 333, 1 << 16] {
            let memory = BatchMemory { chunk_bytes, chunks: threads + 2 };
            let error = pool.install(|| read(&[text.as_bytes()], plain, memory)).unwrap_err();
            let place = error.place().unwrap();
            assert_eq!((place.line, place.byte, place.column), (82, 1045, 10));
        }
    }
}

#[test]
fn skipped_lines_are_counted_and_written_to_the_rejects() {
    let text = b"a\tb\t1\nbad\\\x01\xff\n\nc\td\tx\ne\tf\t2\n";
    for memory in [TINY, LARGE] {
        let (sim, mut options) = sim(&[text, b"g\t\t1\nh\ti\t3"]);
        options.on_bad_line = OnBadLine::Skip;
        options.rejects = Some("rejects.tsv".into());
        let (found, summary) = read_sim(&sim, &options, memory).unwrap();
        assert_eq!(found, [edge("a", "b", 1.0), edge("e", "f", 2.0), edge("h", "i", 3.0)]);
        assert_eq!((summary.lines, summary.skipped_lines), (7, 3));
        assert_eq!(
            summary.warning().unwrap(),
            "skipped 3 of 7 lines; first: file0:2:1: line has 1 column, but the target is column 2"
        );
        let rejects = String::from_utf8(sim.get("rejects.tsv").unwrap()).unwrap();
        assert_eq!(
            rejects,
            "path\tline\tcolumn\tbyte\tkind\treason\ttext\n\
             file0\t2\t1\t6\tmissing-column\tline has 1 column, but the target is column 2\tbad\\\\\\x01\\xff\n\
             file0\t4\t5\t18\tbad-weight\tweight is not a number\tc\\td\\tx\n\
             file1\t1\t3\t2\tempty-name\ttarget has no name\tg\\t\\t1\n"
        );
    }
}

#[test]
fn options_that_cannot_be_used_are_refused() {
    let columns = |numbers: &[u32]| Some(numbers.iter().map(|&n| Column::Number(n)).collect());
    let refuse = |change: &dyn Fn(&mut InputOptions)| {
        let error = read(&[b"a\tb\n"], change, TINY).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    };
    refuse(&|options| options.paths.clear());
    refuse(&|options| options.paths = vec!["-".into(), "-".into()]);
    refuse(&|options| options.columns = columns(&[1]));
    refuse(&|options| options.columns = columns(&[0, 1]));
    refuse(&|options| options.columns = columns(&[2, 2]));
    refuse(&|options| options.delimiter = Some(Delimiter::Byte(b'\n')));
    refuse(&|options| {
        options.ignore_weights = true;
        options.weight_transform = WeightTransform::Log;
    });
    let error = read(&[b"PK\x03\x04...."], plain, TINY).unwrap_err();
    assert_eq!(error.message(), "`file0` is a zip archive, not text");
    assert!(read(&[b"\xff\xfea\0\t\0"], plain, TINY).is_err());
}

fn many_lines(count: usize) -> String {
    (0..count).map(|line| format!("node{}\tnode{}\t0.{line}\n", line % 71, line % 37)).collect()
}

#[test]
fn compressed_files_give_the_same_edges() {
    let text = many_lines(20_000);
    let expected = read(&[text.as_bytes()], plain, LARGE).unwrap();
    let (a, b) = text.as_bytes().split_at(100_001);
    let mut padded = gzip(&[a, b]);
    padded.extend([0; 1000]);
    let mixed = [bgzf(a, 1000), gzip(&[b])].concat();
    for packed in [
        gzip(&[a, b]),
        gzip(&[a, b"", b]),
        padded,
        zstd(&[a, b]),
        bzip2(&[a, b]),
        xz(&[a, b]),
        bgzf(text.as_bytes(), 60_000),
        bgzf(text.as_bytes(), 777),
        [bgzf(a, 5000), bgzf(b, 5000)].concat(),
        mixed,
    ] {
        for memory in [LARGE, BatchMemory { chunk_bytes: 777, chunks: 5 }] {
            assert_eq!(read(&[&packed], plain, memory).unwrap(), expected);
        }
    }
}

#[test]
fn compressed_files_cut_anywhere_or_damaged_are_errors() {
    let text = many_lines(60);
    for (name, magic, packed) in [
        ("gzip", 4, gzip(&[text.as_bytes()])),
        ("zstd", 4, zstd(&[text.as_bytes()])),
        ("bzip2", 10, bzip2(&[text.as_bytes()])),
        ("xz", 6, xz(&[text.as_bytes()])),
        ("bgzf", 4, bgzf(text.as_bytes(), 500)),
    ] {
        // A file shorter than its magic number is text.
        for len in magic..packed.len() {
            let error = read(&[&packed[..len]], plain, LARGE).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BadCompression, "{name} cut at {len}: {error}");
            assert!(error.message().contains("file0") && error.notes()[0].contains("byte"));
        }
        for byte in 18..packed.len() {
            let mut damaged = packed.clone();
            damaged[byte] ^= 0x10;
            if let Ok((edges, _)) = read(&[&damaged], plain, LARGE) {
                assert_eq!(edges.len(), 60, "{name} damaged at {byte}");
            }
        }
        let trailing = [&packed[..], b"junk"].concat();
        assert!(read(&[&trailing], plain, LARGE).is_err(), "{name}");
    }
}

/// A pipe cannot be opened twice: the bytes examined first must be parsed too.
#[cfg(target_os = "linux")]
#[test]
fn pipes_are_read_once() {
    use std::os::fd::AsRawFd;
    let text = many_lines(50_000);
    for packed in [text.clone().into_bytes(), gzip(&[text.as_bytes()]), bgzf(text.as_bytes(), 9000)]
    {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        let options = InputOptions { paths: vec![path], ..InputOptions::default() };
        let thread = std::thread::spawn(move || writer.write_all(&packed).unwrap());
        let files = Files::default();
        assert!(sample(&files, &options, &Limits { memory_bytes: 64 << 20, threads: 1 }).is_err());
        let mut edges = EdgeReader::open(&files, &options, LARGE).unwrap();
        assert_eq!(edges.total_bytes(), None);
        let mut batch = Batch::default();
        while edges.next_batch(&mut batch).unwrap() {}
        assert_eq!(edges.finish().unwrap().edges, 50_000);
        thread.join().unwrap();
    }
}

#[test]
fn bad_lines_before_damage_come_first() {
    let text = [many_lines(3000).as_bytes(), b"bad\n", many_lines(3000).as_bytes()].concat();
    let mut packed = bgzf(&text, 3000);
    let len = packed.len();
    packed.truncate(len - 40);
    let error = read(&[&packed], plain, BatchMemory { chunk_bytes: 1000, chunks: 2 }).unwrap_err();
    assert_eq!(error.place().unwrap().line, 3001);
}

#[test]
fn short_transfers_change_nothing_and_every_fault_is_an_error() {
    let text = many_lines(300);
    let bad = format!("{text}bad\n{text}");
    let packed = gzip(&[text.as_bytes()]);
    let (sim, mut options) = sim(&[text.as_bytes(), bad.as_bytes(), &packed]);
    options.on_bad_line = OnBadLine::Skip;
    options.rejects = Some("rejects".into());
    let memory = BatchMemory { chunk_bytes: 2000, chunks: 2 };
    let expected = read_sim(&sim, &options, memory).unwrap();
    let rejects = sim.get("rejects").unwrap();
    sim.set_short_transfers(true);
    sim.set_fault(None);
    assert_eq!(read_sim(&sim, &options, memory).unwrap(), expected);
    let operations = sim.operation_count();
    for at in 0..operations {
        sim.set_fault(Some(Failure { at, forever: true, kind: std::io::ErrorKind::Other }));
        let outcome = read_sim(&sim, &options, memory);
        // The number of operations depends a little on the threads, so the last fault may not occur.
        if !sim.has_failed() {
            assert_eq!(outcome.unwrap(), expected, "{at}");
            continue;
        }
        let error = outcome.expect_err("a fault is an error");
        assert_eq!(error.kind(), ErrorKind::Io, "{at}: {error}");
        let message = error.message();
        assert!(message.contains("file") || message.contains("rejects"), "{at}: {message}");
        sim.set_fault(Some(Failure { at, forever: false, kind: std::io::ErrorKind::Interrupted }));
        if let Ok(found) = read_sim(&sim, &options, memory) {
            assert_eq!(found, expected, "{at}");
        }
    }
    sim.set_fault(None);
    assert_eq!(sim.get("rejects").unwrap(), rejects);
}

/// Simplest possible parser: the columns are 1, 2 and perhaps one more.
fn naive(text: &[u8], delimiter: Delimiter, weight: Option<usize>) -> (Vec<NamedEdge>, Vec<u64>) {
    let (mut edges, mut bad) = (Vec::new(), Vec::new());
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    for (index, line) in lines.into_iter().enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let blank =
            |&byte: &u8| (byte == b' ' || byte == b'\t') && Delimiter::Byte(byte) != delimiter;
        if line.iter().all(blank) || line.starts_with(b"#") {
            continue;
        }
        let trimmed = |field: &'_ [u8]| -> Vec<u8> {
            let from = field.iter().take_while(|byte| blank(byte)).count();
            let to = field.iter().rev().take_while(|byte| blank(byte)).count();
            field[from..field.len().saturating_sub(to).max(from)].to_vec()
        };
        let fields: Vec<&[u8]> = match delimiter {
            Delimiter::Byte(delimiter) => line.split(|&byte| byte == delimiter).collect(),
            Delimiter::Spaces => {
                let words = line.split(|&byte| byte == b' ' || byte == b'\t');
                words.filter(|word| !word.is_empty()).collect()
            }
        };
        let code = match weight.map(|column| fields.get(column)) {
            None => Some(Weight::ONE.code()),
            Some(None) => None,
            Some(Some(field)) => std::str::from_utf8(field.trim_ascii())
                .ok()
                .and_then(|text| text.parse::<f64>().ok())
                .filter(|value| *value >= 0.0 && value.is_finite())
                .map(|value| if value == 0.0 { 0 } else { Weight::new(value).code() }),
        };
        let names = [0, 1].map(|at| fields.get(at).map(|field| trimmed(field)));
        match (names, code) {
            ([Some(source), Some(target)], Some(code))
                if !source.is_empty() && !target.is_empty() =>
            {
                edges.push((source, target, code));
            }
            _ => bad.push(index as u64 + 1),
        }
    }
    (edges, bad)
}

/// Parses one text with the tight loop or the general one, skipping bad lines.
fn parse_with(
    text: &[u8],
    delimiter: Delimiter,
    weight: Option<usize>,
    tight: bool,
) -> (Vec<NamedEdge>, Vec<u64>) {
    let mut chunk = chunk::ParsedChunk::default();
    chunk.edges.text = text.to_vec();
    if !text.ends_with(b"\n") {
        chunk.edges.text.push(b'\n');
    }
    chunk.used = chunk.edges.text.len();
    // The padding may hold anything.
    chunk.edges.text.extend(b"\t\n1.".repeat(chunk::PADDING / 4));
    let comment = b"#".to_vec();
    let layout = layout::Layout { weight, comment, ..layout::Layout::of(delimiter) };
    text::parse_by(&mut chunk, &layout, tight);
    let line = |fault: &chunk::LineFault| {
        memchr::memchr_iter(b'\n', &chunk.edges.text[..fault.line_start as usize]).count() as u64
            + 1
    };
    let bad = chunk.faults.iter().map(line).collect();
    let weights = chunk.edges.weights.iter().copied().chain(std::iter::repeat(Weight::ONE.code()));
    let edges = chunk.edges.names.chunks_exact(2).zip(weights).map(|(pair, weight)| {
        (chunk.edges.name(&pair[0]).to_vec(), chunk.edges.name(&pair[1]).to_vec(), weight)
    });
    (edges.collect(), bad)
}

fn field() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[A-Z0-9]{1,12}".prop_map(String::into_bytes),
        2 => "[a-z]{14,18}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>().prop_filter("quotes are tested apart", |byte| *byte != b'"'), 0..20),
        1 => "[ \t,#\r]{0,3}".prop_map(String::into_bytes),
    ]
}

fn number() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[0-9]{1,3}[.][0-9]{0,4}".prop_map(String::into_bytes),
        2 => "[0-9]{1,20}".prop_map(String::into_bytes),
        2 => "[0-9]{0,3}[.]?[0-9]{0,18}(e[+-]?[0-9]{1,2})?".prop_map(String::into_bytes),
        1 => "[-+ ]{0,2}[0-9a-z.]{0,4}[ ]?".prop_map(String::into_bytes),
        1 => field(),
    ]
}

fn line(delimiter: u8) -> impl Strategy<Value = Vec<u8>> {
    let end = prop_oneof![6 => Just(&b"\n"[..]), 1 => Just(&b"\r\n"[..]), 1 => Just(&b"\n\n"[..])];
    let rest = proptest::collection::vec(number(), 0..5);
    (field(), field(), rest, end).prop_map(move |(source, target, rest, end)| {
        let mut line = [&source[..], &target[..]].join(&delimiter);
        for field in rest {
            line.push(delimiter);
            line.extend(field);
        }
        line.extend(end);
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn the_tight_loop_the_general_loop_and_the_naive_parser_agree(
        (byte, lines) in prop_oneof![Just(b'\t'), Just(b','), Just(b' ')].prop_flat_map(|byte| {
            (Just(byte), proptest::collection::vec(line(byte), 0..30))
        }),
        spaces: bool,
        weight in prop_oneof![Just(None), (2..5usize).prop_map(Some)],
    ) {
        let text = lines.concat();
        let delimiter = if spaces { Delimiter::Spaces } else { Delimiter::Byte(byte) };
        let expected = naive(&text, delimiter, weight);
        prop_assert_eq!(&parse_with(&text, delimiter, weight, true), &expected);
        prop_assert_eq!(&parse_with(&text, delimiter, weight, false), &expected);
    }

    #[test]
    fn chunks_of_any_size_and_compression_agree(
        lines in proptest::collection::vec(line(b'\t'), 0..60),
        chunk_bytes in 16..400usize,
        kind in 0..6,
    ) {
        // Matrix Market comments have a meaning only to the reader, not to the naive parser; and so have the first bytes
        // of a file, such as byte-order marks: an edge comes first.
        prop_assume!(!lines.iter().any(|line| line.starts_with(b"%")));
        let text = [b"a\tb\n".as_slice(), &lines.concat()].concat();
        let packed = match kind {
            0 => text.clone(),
            1 => gzip(&[&text[..text.len() / 2], &text[text.len() / 2..]]),
            2 => zstd(&[&text]),
            3 => bzip2(&[&text[..text.len() / 2], &text[text.len() / 2..]]),
            4 => xz(&[&text[..text.len() / 2], &text[text.len() / 2..]]),
            _ => bgzf(&text, 100),
        };
        let change = |options: &mut InputOptions| {
            options.on_bad_line = OnBadLine::Skip;
            options.delimiter = Some(Delimiter::Byte(b'\t'));
            options.columns = Some(vec![Column::Number(1), Column::Number(2), Column::Number(3)]);
            options.header = Header::No;
            options.comment = Some(b"#".to_vec());
            // Carriage returns and zeros are parts of names.
            options.format = EdgeFormat::Lines;
        };
        let (found, summary) = read(&[&packed], change, BatchMemory { chunk_bytes, chunks: 2 }).unwrap();
        let (expected, bad) = naive(&text, Delimiter::Byte(b'\t'), Some(2));
        prop_assert_eq!(found, expected);
        prop_assert_eq!(summary.skipped_lines, bad.len() as u64);
        prop_assert_eq!(summary.lines, memchr::memchr_iter(b'\n', &text).count() as u64);
    }
}
