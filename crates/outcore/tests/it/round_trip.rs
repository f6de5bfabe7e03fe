//! Every own result is read back without an option, in every form, whatever the names of its nodes are.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{MIB, files_of};
use outcore::budget::Limits;
use outcore::cluster::{ClusterOptions, Method};
use outcore::compare::CompareOptions;
use outcore::graph::Graph;
use outcore::input::{Column, CommunityFormat, CommunityInput, InputOptions};
use outcore::io::Files;
use outcore::job::{self, JobOptions, Source};
use outcore::membership::{self, MembershipOptions, WrittenFile};
use outcore::present::{LevelForm, PresentOptions, RowForm};
use outcore::progress::Silent;
use outcore_testkit::one_of;
use outcore_testkit::sim::Sim;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Number of graphs in `make test-long`; a third of them elsewhere.
const GRAPHS: u64 = 220;
const GRAPH: &str = "/out/graph";
const TRUTH: &str = "/out/truth.jsonl";
const LIMITS: Limits = Limits { memory_bytes: 96 * MIB, threads: 1 };

/// Names that mean something elsewhere.
#[rustfmt::skip]
const ODD: [&str; 72] = [
    " a", "a ", "  both  ", "a b", "a\tb", "\ttab", "x,y", "a, b", "x;y", "p|q", "\"q\"", "q\"r", "\"", "\"\"", "it's", "#", "#a",
    "# a", "##", "%", "%a", "% b", "//", "// c", "--", "-- d", "-", "- e", "node", "community", "id", "name", "cluster", "label",
    "path", "group1", "group_2", "circle0", "OG0000001", "family", "member", "representative", "weight", "leiden_0.5", "a:", "b:",
    "group_1:", "1:2", "0:0", "1:2:3", "0", "00", "1", "2", "17", "1e5", "1.0", "nan", "NA", "null", "true", "*Vertices 3", ">seq",
    ">Cluster 0", "{\"a\":1}", "[1,2]", "<html>", "(mclmatrix", "sep=;", "é\u{202e}", "S", "graph {",
];

struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }
}

/// Returns the names of a graph: odd ones, numbers, or labels; and the sizes of its components.
fn shape(random: &mut Random) -> (Vec<String>, Vec<usize>) {
    let count = [1, 2, 3, 4, 6, 9, 20][random.below(7) as usize];
    let kind = random.below(5);
    let mut names = BTreeSet::new();
    while names.len() < count {
        let number = random.below(60);
        names.insert(match kind {
            0 | 1 => ODD[random.below(ODD.len() as u64) as usize].to_owned(),
            2 => number.to_string(),
            3 => format!("group{number}"),
            _ => format!("{}{number}:", ODD[random.below(ODD.len() as u64) as usize]),
        });
    }
    let mut names: Vec<String> = names.into_iter().collect();
    for at in (1..names.len()).rev() {
        names.swap(at, random.below(at as u64 + 1) as usize);
    }
    let equal = 1 + random.below(4) as usize;
    let (mut sizes, mut left, are_equal) = (Vec::new(), names.len(), random.below(2) == 0);
    while left > 0 {
        let size = if are_equal { equal } else { 1 + random.below(left as u64) as usize };
        sizes.push(size.min(left));
        left -= size.min(left);
    }
    (names, sizes)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Writes the graph, as CSV with a loop at each node and a path through each component.
fn build(files: &Files, sim: &Sim, (names, sizes): &(Vec<String>, Vec<usize>)) {
    let mut text = String::from("source,target,weight\n");
    let mut at = 0;
    for size in sizes {
        for node in at..at + size {
            text += &format!("{0},{0},1\n", quoted(&names[node]));
            if node > at {
                text += &format!("{},{},2\n", quoted(&names[node - 1]), quoted(&names[node]));
            }
        }
        at += size;
    }
    sim.put("/in/e.csv", text.as_bytes());
    // Columns that are given may hold any names, such as `NA`.
    let columns = Some((1..=3).map(Column::Number).collect());
    let paths = vec!["/in/e.csv".into()];
    let input =
        InputOptions { paths, columns, comment: Some(Vec::new()), ..InputOptions::default() };
    let options = JobOptions { keep_loops: true, ..JobOptions::new(input, LIMITS, "/disk".into()) };
    job::build(files, &options, Path::new(GRAPH), &Silent).unwrap();
}

fn cluster(
    files: &Files,
    (method, levels): (Method, bool),
    presented: &PresentOptions,
    output: &str,
) -> outcore::Result<()> {
    let source = Source::Graph {
        path: GRAPH.into(),
        limits: LIMITS,
        work_dir: "/disk".into(),
        restart: false,
    };
    let trials = (method != Method::Components).then_some(if levels { 2 } else { 1 });
    let is_tree = output.ends_with("tree");
    let stability = levels && presented.levels == LevelForm::Columns && !is_tree;
    let clustering =
        ClusterOptions { method, trials, levels, stability, ..ClusterOptions::default() };
    job::cluster_and_present(files, &source, &clustering, presented, Path::new(output), &Silent)
        .map(drop)
}

type Communities = BTreeSet<BTreeSet<String>>;

fn grouped(rows: impl Iterator<Item = (String, String)>) -> Communities {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, community) in rows {
        assert!(all.entry(community).or_default().insert(name));
    }
    all.into_values().collect()
}

/// Reads JSON lines, which have no two meanings.
fn truth(sim: &Sim, path: &str) -> Communities {
    let text = String::from_utf8(sim.get(path).unwrap()).unwrap();
    let row = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        (value["node"].as_str().unwrap().to_owned(), value["community"].to_string())
    };
    grouped(text.lines().map(row))
}

/// Reads a file as Python and R do.
fn written(files: &Files, path: &str) -> outcore::Result<Communities> {
    let mut file = WrittenFile::open(files, Path::new(path), CommunityFormat::Auto)?;
    let mut rows = Vec::new();
    while file.next_batch()? {
        rows.extend(file.rows().map(|(name, community)| {
            (String::from_utf8(name.to_vec()).unwrap(), community.to_string())
        }));
    }
    Ok(grouped(rows.into_iter()))
}

/// Reads a file for the graph, as `score`, `--initial`, `--fixed` and `--match` do.
fn labeled(files: &Files, path: &str, numbered: bool) -> outcore::Result<Communities> {
    let graph = Graph::open(files, Path::new(GRAPH))?;
    let options = MembershipOptions {
        input: CommunityInput::default(),
        numbered,
        is_described: true,
        limits: LIMITS,
        held_bytes: 0,
        scratch: "/disk".into(),
    };
    let found = membership::read(files, Path::new(path), &graph, &options, &Silent)?;
    assert_eq!((found.unnamed(), found.unknown), (0, 0));
    let (mut names, mut rows) = (graph.names()?, Vec::new());
    for label in found.labels {
        let name = String::from_utf8(names.next_name()?.unwrap().to_vec()).unwrap();
        rows.push((name, label.to_string()));
    }
    Ok(grouped(rows.into_iter()))
}

fn compared(files: &Files, a: &str, b: &str) -> outcore::Result<(u64, u64)> {
    let options = CompareOptions {
        a: a.into(),
        b: b.into(),
        input: CommunityInput::default(),
        output: None,
        moved: None,
        output_header: false,
        limits: LIMITS,
        work_dir: "/disk".into(),
    };
    let report = job::compare(files, &options, &Silent)?;
    Ok((report.node_count, report.moved_count))
}

/// Forms of a result: its name, its options, and whether communities are numbers.
fn forms() -> Vec<(&'static str, PresentOptions, bool)> {
    let plain = PresentOptions::default;
    let header = |options: PresentOptions| PresentOptions { output_header: true, ..options };
    let (members, pairs) = (
        PresentOptions { rows: RowForm::Communities, ..plain() },
        PresentOptions { rows: RowForm::Pairs, ..plain() },
    );
    let weights = PresentOptions { member_weights: true, ..plain() };
    let flow = PresentOptions { flow: true, ..plain() };
    let columns = plain();
    let tree = PresentOptions { levels: LevelForm::Tree, ..plain() };
    vec![
        ("/out/r.tsv", plain(), true),
        ("/out/r.txt", plain(), true),
        ("/out/r.csv", plain(), true),
        ("/out/r.jsonl", plain(), true),
        ("/out/r.parquet", plain(), true),
        ("/out/r.arrow", plain(), true),
        ("/out/header.tsv", header(plain()), true),
        ("/out/members.tsv", members, true),
        ("/out/pairs.tsv", pairs.clone(), false),
        ("/out/pairs-header.tsv", header(pairs.clone()), false),
        ("/out/pairs-weights.tsv", PresentOptions { member_weights: true, ..pairs }, false),
        ("/out/weights.tsv", weights.clone(), true),
        ("/out/weights.csv", weights, true),
        ("/out/flow.tsv", flow, true),
        ("/out/levels-columns.tsv", columns, true),
        ("/out/levels-tree.tsv", tree.clone(), true),
        ("/out/levels-tree.csv", tree.clone(), true),
        ("/out/levels-tree-header.tsv", header(tree), true),
        ("/out/r.tree", plain(), true),
        ("/out/r.ftree", plain(), true),
    ]
}

#[test]
fn every_result_is_read_back_by_everything_whatever_its_names_are() {
    let forms = forms();
    let mut faults = Vec::new();
    for seed in 0..GRAPHS / one_of::<u64>(3) {
        let mut random = Random(seed);
        let made = shape(&mut random);
        let sim = Sim::new();
        let files = files_of(&sim);
        build(&files, &sim, &made);
        let method = if seed % 3 == 0 { Method::Modularity } else { Method::Components };
        cluster(&files, (method, false), &PresentOptions::default(), TRUTH).unwrap();
        let count = made.0.len() as u64;
        let deep = "/out/deep.jsonl";
        if method == Method::Modularity {
            cluster(&files, (method, true), &PresentOptions::default(), deep).unwrap();
        }
        for (at, (path, presented, are_numbers)) in forms.iter().enumerate() {
            let is_level = path.contains("levels") || path.ends_with("tree");
            if is_level && method == Method::Components || (at as u64 + seed) % 4 > 1 {
                continue;
            }
            let known = if is_level { deep } else { TRUTH };
            let expected = truth(&sim, known);
            if let Err(error) = cluster(&files, (method, is_level), presented, path) {
                faults.push(format!("{seed} {path}: cannot be written: {error:?}"));
                continue;
            }
            let mut check = |reader: &str, found: outcore::Result<bool>| {
                if !matches!(found, Ok(true)) {
                    let text =
                        String::from_utf8_lossy(&sim.get(path).unwrap()).escape_debug().to_string();
                    faults.push(format!("{seed} {path} by {reader}: {found:?}\n{text}"));
                }
            };
            check("compare", compared(&files, known, path).map(|found| found == (count, 0)));
            check("score", labeled(&files, path, false).map(|found| found == expected));
            check("Python", written(&files, path).map(|found| found == expected));
            if *are_numbers {
                check("--match", labeled(&files, path, true).map(|found| found == expected));
            }
        }
    }
    let count = faults.len();
    // One of each form and reader.
    let mut known = BTreeSet::new();
    faults.retain(|fault| known.insert(fault.split(' ').skip(1).take(3).collect::<String>()));
    assert!(faults.is_empty(), "{count} faults, such as\n{}", faults.join("\n\n"));
}
