//! Invalid options, special files, lists of nodes, damaged graphs.

use super::{Case, Expected, FOUND, PLAIN, bad, finds};
use crate::common::outcore;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

fn usage(message: &'static str) -> Expected {
    Expected::Refuses(2, message)
}

fn failed(message: &'static str) -> Expected {
    Expected::Refuses(1, message)
}

fn values() -> Vec<Case> {
    let refused: [(&[&str], &str); 39] = [
        (&["--memory", "0"], "is given more than once"),
        (&["--columns", "1"], "an edge has 2 or 3"),
        (&["--columns", "1,2,3,4"], "an edge has 2 or 3"),
        (&["--columns", "1,1"], "the same column for source and target"),
        (&["--columns", "1,2,1"], "the same column for a name and the weight"),
        (&["--columns", "0,1"], "there is no column 0"),
        (&["--columns", "-1,2"], "`-1` is not an option of `outcore cluster`"),
        (&["--columns", ","], "the same column"),
        (&["--columns", "a,b", "--header", "no"], "use numbers"),
        (&["--delimiter", ""], "expected one character"),
        (&["--delimiter", "ab"], "expected one character"),
        (&["--delimiter", "€"], "expected one character"),
        (&["--delimiter", "\n"], "expected one character"),
        (&["--delimiter", "\""], "expected one character"),
        (&["--header", "maybe"], "the values are auto, yes, no"),
        (&["--format", "csv"], "the values are auto, lines, metis, mcl,"),
        (&["--format", "Parquet"], "`--format Parquet` is unknown"),
        (&["--seed", "-1"], "`-1` is not an option of `outcore cluster`"),
        (&["--seed", "99999999999999999999"], "number too large"),
        (&["--seed", "x"], "`--seed x`: not a whole number"),
        (&["--resolution", "2"], "has no effect with `--method components`"),
        (&["--levels", "tree"], "has no effect with `--method components`"),
        (&["--initial", "edges.tsv"], "`--initial` has no effect with `--method components`"),
        (&["--stability"], "`--stability` has no effect with `--method components`"),
        (&["--min-weight", "nan"], "is not a weight"),
        (&["--min-weight", "-1"], "is not a weight"),
        (&["--min-weight", "5", "--max-weight", "1"], "swap the two"),
        (&["--weight-transform", "log", "--ignore-weights"], "leave one of them out"),
        (&["--weight-transform", "sqrt"], "`--weight-transform sqrt` is unknown"),
        (&["--on-bad-line", "ignore"], "the values are stop, skip"),
        (&["--rejects", "rejects.tsv"], "is for skipped lines"),
        (&["--on-bad-line", "skip", "--rejects", "edges.tsv"], "is both an input and"),
        (&["--report", "out.tsv"], "is both `--output` and `--report`"),
        (&["--report", "edges.tsv"], "is both an input and"),
        (&["--nodes", "-", "--on-bad-line"], "`--on-bad-line` needs a value"),
        (&["--engine", "hadoop"], "the values are local, spark"),
        (&["--color", "sometimes"], "`--color sometimes` is unknown"),
        (&["--nope"], "`--nope` is not an option of `outcore cluster`"),
        (&["--output", "other.tsv"], "is given more than once"),
    ];
    let name = |args: &[&str]| format!("`{}`", args.join(" ").escape_default());
    refused.map(|(args, message)| Case::with(name(args), args, usage(message))).into()
}

/// Returns cases of limits and threads, which all other cases set.
fn limits() -> Vec<Case> {
    let with = |args: &[&str], expected| {
        let all = ["cluster", "edges.tsv", "-o", "out.tsv", "--method", "components"];
        let name = format!("`{}`", args.join(" "));
        Case::of(name, "edges.tsv", PLAIN, expected).alone(&[&all[..], args].concat())
    };
    let little = || Expected::Refuses(4, "use `--memory ");
    vec![
        with(&["-m", "1MiB", "-t", "2"], little()),
        with(&["-m", "64", "-t", "2"], usage("the unit is missing")),
        with(&["-m", "0", "-t", "2"], usage("a limit must be above 0")),
        with(&["-m", "-1", "-t", "2"], usage("`-1` is not an option of `outcore cluster`")),
        with(&["-m", "x", "-t", "2"], usage("is not a size")),
        with(&["-m", "64QiB", "-t", "2"], usage("is not a size")),
        with(&["-m", "1e99GiB", "-t", "2"], usage("is not a size")),
        with(&["-m", "nan", "-t", "2"], usage("is not a size")),
        with(&["-m", "４GiB", "-t", "2"], usage("is not a size")),
        with(&["-m", "99999999TiB", "-t", "2"], usage("is not a size")),
        with(&["-m", "64MiB", "-t", "0"], usage("0 is not in 1..=65535")),
        with(&["-m", "64MiB", "-t", "-1"], usage("`-1` is not an option of `outcore cluster`")),
        with(&["-m", "64MiB", "-t", "70000"], usage("70000 is not in 1..=65535")),
        with(&["-m", "64MiB", "-t", "1.5"], usage("`--threads 1.5`: not a whole number")),
        with(&["-m", "64MiB", "-t", "٣"], usage("`--threads ٣`: not a whole number")),
        with(&["-m", "64MiB", "-t", "500"], little()),
    ]
}

/// Returns cases of valid options that match the file, or do not.
fn meanings() -> Vec<Case> {
    let escapes = "\x1b[31m,b\n";
    vec![
        Case::with("columns the other way", &["--columns", "2,1"], finds(FOUND)),
        Case::with("column beyond the line", &["--columns", "1,9"], bad("expected 9 columns")),
        Case::with(
            "number too large for a column",
            &["--columns", "99999999999,1"],
            bad("has no column named"),
        ),
        Case::with("missing delimiter", &["--delimiter", ","], bad("as given by `--delimiter`")),
        Case::with("delimiter that is a name", &["--delimiter", "a"], bad("source has no name")),
        Case::with("edges as METIS", &["--format", "metis"], bad("is not its header")),
        Case::with("edges as mcl", &["--format", "mcl"], bad("file has no matrix")),
        Case::with(
            "threshold above all weights",
            &["--min-weight", "99"],
            bad("no edges are left"),
        ),
        Case::with("comment that begins edges", &["--comment", "a"], finds("b c|d e")),
        Case::with("header that is an edge", &["--header", "yes"], finds("b c|d e")),
        Case::with("no edges but comments", &["--comment", ""], finds(FOUND)),
        Case::of("distances of 0", "edges.tsv", "a\tb\t0\nb\tc\t1\n", bad("distance is zero"))
            .and(&["--weight-transform", "reciprocal"]),
        Case::of("no weights to transform", "edges.tsv", "a\tb\nb\tc\n", bad("has no weights"))
            .and(&["--weight-transform", "log"]),
        Case::of("escapes in a message", "edges.csv", escapes, bad(r"\x1b[31m"))
            .and(&["--columns", "x,y"]),
        Case::with("file twice", &["edges.tsv"], finds(FOUND)),
        Case::of(
            "bad line, written to rejects",
            "edges.tsv",
            "a\tb\t1\nb\tc\tx\nd\te\t1\n",
            finds("a b|d e"),
        )
        .and(&["--on-bad-line", "skip", "--rejects", "rejects.tsv"])
        .leaves(&["rejects.tsv"]),
        Case::of("nothing but bad lines", "edges.tsv", "a\tb\tnan\nb\tc\tinf\n", bad("no edges"))
            .and(&["--on-bad-line", "skip", "--rejects", "rejects.tsv"])
            .leaves(&["rejects.tsv"]),
    ]
}

/// Returns cases of wrong arguments.
fn commands() -> Vec<Case> {
    let with = |name: &str, args: &[&str], expected| {
        Case::of(format!("arguments: {name}"), "edges.tsv", PLAIN, expected).alone(args)
    };
    vec![
        with("none", &[], usage("Usage: outcore")),
        with("no such command", &["clutser"], usage("did you mean `outcore cluster`?")),
        with("no input", &["cluster", "-o", "out.tsv"], usage("<EDGES|GRAPH>...")),
        with("no output", &["cluster", "edges.tsv"], usage("--output <FILE>")),
        with(
            "empty input",
            &["cluster", "", "-o", "out.tsv"],
            usage("`<EDGES|GRAPH>...` is empty"),
        ),
        with(
            "empty output",
            &["cluster", "edges.tsv", "-o", ""],
            usage("`--output` needs a value"),
        ),
        with(
            "standard input twice",
            &["cluster", "-", "-", "-o", "out.tsv"],
            usage("can be read only once"),
        ),
        with("score of edges", &["score", "edges.tsv", "edges.tsv"], usage("is not a graph")),
        with(
            "inspect edges",
            &["inspect", "edges.tsv", "--verify"],
            usage("`--verify` is for graphs"),
        ),
        with(
            "edges added to edges",
            &["build", "edges.tsv", "--append", "edges.tsv", "-o", "out.graph"],
            usage("is not a graph"),
        ),
        with(
            "edges added to nothing",
            &["build", "edges.tsv", "--append", "missing.graph", "-o", "out.graph"],
            failed("no such file"),
        ),
        with("plan of nothing", &["plan", "missing.tsv"], failed("no such file")),
        with(
            "graph in place of the edges",
            &["build", "edges.tsv", "-o", "edges.tsv"],
            usage("is both an input and"),
        ),
    ]
}

pub(super) fn options() -> Vec<Case> {
    values().into_iter().chain(limits()).chain(meanings()).chain(commands()).collect()
}

/// Returns cases for names of inputs and outputs.
fn names() -> Vec<Case> {
    let long = "x".repeat(300);
    let from = |name: &str, input: &str, expected| {
        Case::made(format!("input: {name}"), input, plain, expected)
    };
    let to = |name: &str, output: &str, expected| {
        let args = ["cluster", "edges.tsv", "-o", output, "-m", "64MiB", "-t", "2"];
        Case::made(format!("output: {name}"), "", plain, expected).alone(&args)
    };
    vec![
        from("missing", "missing.tsv", failed("no such file or directory")),
        from("directory", ".", failed("is a directory")),
        from("no match", "*.csv", failed("no file matches")),
        from("broken pattern", "[.tsv", usage("is not a pattern")),
        from("escapes in its name", "\x1b]0;owned\x07", failed(r"\x1b]0;owned\x07")),
        from("name of 300 letters", &long, failed("cannot open")),
        from("name of a protocol", "ftp://host/edges.tsv", failed("no such file")),
        from("nothing", "/dev/null", bad("the input holds no edges")),
        from("standard input that is empty", "-", bad("the input holds no edges")),
        from("zeros without end", "/dev/zero", bad("is binary data")),
        from("memory of a process", "/proc/self/mem", failed("cannot read")),
        from("link", "link.tsv", finds(FOUND)),
        from("link to itself", "loop.tsv", failed("loop.tsv")),
        from("link to nothing", "broken.tsv", failed("no such file")),
        from("pipe", "pipe", finds(FOUND)),
        from("name with spaces and quotes", "it's \"edges\" .tsv", finds(FOUND)),
        to("the input", "edges.tsv", usage("is both an input and `--output`")),
        to("the input by a link", "link.tsv", usage("is both an input and `--output`")),
        to("directory", ".", failed("is a directory")),
        to("name of a directory", "out/", failed("is a directory")),
        to("missing directory", "no/out.tsv", failed("use `mkdir -p no` first")),
        to("file as a directory", "edges.tsv/out.tsv", usage("is both an input")),
        to("name of 300 letters", &long, failed("cannot create")),
        to("full disk", "/dev/full", Expected::Refuses(4, "no space left on device")),
        to("server", "s3://bucket/out.tsv", usage("but must be a local path")),
        to("report in no directory", "out.tsv", failed("there is no directory `no`"))
            .and(&["--report", "no/report.json"]),
    ]
}

/// Creates edges under several names.
fn plain(directory: &Path) {
    let at = |name: &str| directory.join(name);
    std::fs::write(at("edges.tsv"), PLAIN).unwrap();
    std::fs::write(at("it's \"edges\" .tsv"), PLAIN).unwrap();
    symlink("edges.tsv", at("link.tsv")).unwrap();
    symlink("loop.tsv", at("loop.tsv")).unwrap();
    symlink("nowhere.tsv", at("broken.tsv")).unwrap();
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    // The thread ends with the test if nothing reads from the pipe.
    let pipe = at("pipe");
    std::thread::spawn(move || std::fs::write(pipe, PLAIN));
}

fn lists_of_nodes() -> Vec<Case> {
    let with = |name: &str, nodes: &'static [u8], expected: Expected| {
        let make = move |directory: &Path| {
            std::fs::write(directory.join("edges.tsv"), PLAIN).unwrap();
            std::fs::write(directory.join("nodes"), nodes).unwrap();
        };
        Case::made(format!("nodes: {name}"), "edges.tsv", make, expected).and(&["--nodes", "nodes"])
    };
    let more = "a b c|d e|z";
    vec![
        with("one more", b"z\na\n", finds(more)),
        with("twice the same", b"z\nz\na\na\n", finds(more)),
        with("FASTA", b">z protein\nMKV\n>a\nMK\n", finds(more)),
        with("none", b"", finds(FOUND)),
        with("blank lines", b"\n\nz\n\n", finds(more)),
        with("more columns", b"z\tx\ty\na\tx\ty\n", usage("has 3 columns, and no header")),
        with("more columns below a header", b"id\tx\nz\tx\na\ty\n", finds(more)),
        with("columns of their own", b"label;Id\nx y;z\n;a\n", finds(more)),
        with("line ends of Windows", b"z\r\na\r\n", finds(more)),
        with("byte order mark", b"\xef\xbb\xbfz\n", finds(more)),
        with("header", b"name\nz\n", finds(more)),
        with("carriage returns", b"z\ry\r", bad("carriage returns")),
        with("UTF-16", b"\xff\xfez\0\n\0", bad("is UTF-16 text")),
        with("no name", b"id\tx\n\tz\n", bad("node has no name")),
        with("JSON", b"[\"z\"]\n", bad("is JSON")),
        with("HTML", b"<html>\n<p>\n", bad("is an HTML page")),
        with("damaged Parquet", b"PAR1xxxxPAR1", bad("cannot be read as a table")),
        with("damaged Arrow", b"ARROW1\0\0xxxxxx", bad("cannot be read as a table")),
        with("gzip that is cut", b"\x1f\x8b", bad("is damaged")),
        with("zeros", &[0; 1000], bad("is binary data")),
        Case::with("nodes: missing", &["--nodes", "nodes"], failed("no such file")),
        Case::with("nodes: directory", &["--nodes", "."], failed("is a directory")),
        Case::with(
            "nodes: the edges themselves",
            &["--nodes", "edges.tsv"],
            usage("and no header"),
        ),
    ]
}

/// Creates a case of a graph that was built and then modified by `change`.
fn graph(name: &str, change: impl Fn(&Path) + 'static, expected: Expected) -> Case {
    let make = move |directory: &Path| {
        std::fs::write(directory.join("edges.tsv"), PLAIN).unwrap();
        let built = outcore(directory, &["build", "edges.tsv", "-o", "x.graph", "-q"]).status();
        assert!(built.unwrap().success());
        change(&directory.join("x.graph"));
    };
    Case::made(format!("graph: {name}"), "x.graph", make, expected)
}

fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(path, bytes).unwrap();
}

fn cut(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

fn graphs() -> Vec<Case> {
    const MANIFEST: &str = "graph.json";
    let mut cases = vec![
        graph("whole", |_| {}, finds(FOUND)),
        graph(
            "arcs missing",
            |graph| std::fs::remove_file(graph.join("arcs")).unwrap(),
            failed("arcs"),
        ),
        graph(
            "names missing",
            |graph| std::fs::remove_file(graph.join("names")).unwrap(),
            failed("names"),
        ),
        graph(
            "description missing",
            |graph| std::fs::remove_file(graph.join(MANIFEST)).unwrap(),
            failed("a graph directory, with a `graph.json`"),
        ),
        graph("flipped arcs", |graph| flip(&graph.join("arcs")), bad("is damaged")),
        graph("flipped names", |graph| flip(&graph.join("names")), bad("is damaged")),
        graph("flipped description", |graph| flip(&graph.join(MANIFEST)), bad("is damaged")),
        graph("cut arcs", |graph| cut(&graph.join("arcs")), bad("is damaged")),
        graph("cut names", |graph| cut(&graph.join("names")), bad("is damaged")),
        graph("cut description", |graph| cut(&graph.join(MANIFEST)), bad("is damaged")),
        graph(
            "empty arcs",
            |graph| std::fs::write(graph.join("arcs"), "").unwrap(),
            bad("is damaged"),
        ),
        graph(
            "empty description",
            |graph| std::fs::write(graph.join(MANIFEST), "").unwrap(),
            bad("is damaged"),
        ),
        graph(
            "JSON of another program",
            |graph| std::fs::write(graph.join(MANIFEST), "{}").unwrap(),
            bad("graph.json"),
        ),
        graph(
            "of a newer version",
            |graph| {
                let path = graph.join("graph.json");
                let text = std::fs::read_to_string(&path).unwrap();
                std::fs::write(&path, text.replace("\"version\": 2,", "\"version\": 99,")).unwrap();
            },
            bad("has version 99 of the format"),
        ),
        Case::made(
            "graph: empty directory",
            "x.graph",
            |directory| {
                std::fs::create_dir(directory.join("x.graph")).unwrap();
            },
            failed("a graph directory, with a `graph.json`"),
        ),
        Case::of(
            "graph: file of edges by its name",
            "x.graph",
            "a\tb\n",
            bad("is read as a METIS graph"),
        ),
        graph("together with edges", |_| {}, failed("must be the only input")).and(&["edges.tsv"]),
        graph("twice", |_| {}, failed("must be the only input")).and(&["x.graph"]),
        graph("columns of a graph", |_| {}, usage("--columns")).and(&["--columns", "1,2"]),
    ];
    cases.push(graph("in place of itself", |_| {}, usage("is both an input and")).alone(&[
        "cluster",
        "x.graph",
        "-o",
        "x.graph/arcs",
        "-m",
        "64MiB",
        "-t",
        "2",
    ]));
    cases
}

pub(super) fn files() -> Vec<Case> {
    names().into_iter().chain(lists_of_nodes()).chain(graphs()).collect()
}
