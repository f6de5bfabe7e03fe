//! Results in the files of Infomap, and the flow of nodes: what is written is read back as the same communities.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{MIB, files_of, options, storage_of};
use outcore::budget::Limits;
use outcore::cluster::ClusterOptions;
use outcore::graph::Graph;
use outcore::input::{CommunityFormat, CommunityInput};
use outcore::job::{self, JobOptions, ScoreOptions, Source, Unnamed};
use outcore::membership::{MembershipOptions, WrittenFile, read_levels};
use outcore::present::PresentOptions;
use outcore::progress::Silent;
use outcore::{ErrorKind, Result};
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Edges by name, each pair once, in a graph of groups.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) edges: BTreeMap<(String, String), u32>,
}

impl Network {
    fn text(&self) -> String {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let line =
            |((a, b), w): (&(String, String), &u32)| format!("{}\t{}\t{w}\n", quoted(a), quoted(b));
        self.edges.iter().map(line).collect()
    }

    /// Returns the flow of each node by definition: its share of all ends of edges, of which a loop is one.
    fn flow(&self) -> BTreeMap<String, f64> {
        let mut visits = BTreeMap::new();
        for ((a, b), &weight) in &self.edges {
            *visits.entry(a.clone()).or_insert(0.0) += f64::from(weight);
            if a != b {
                *visits.entry(b.clone()).or_insert(0.0) += f64::from(weight);
            }
        }
        let total: f64 = visits.values().sum();
        visits.values_mut().for_each(|visits| *visits /= total);
        visits
    }
}

pub(crate) fn networks(name: &'static str) -> impl Strategy<Value = Network> {
    let names = prop::collection::btree_set(name, 6..40);
    names.prop_flat_map(|names| {
        let names: Vec<String> = names.into_iter().collect();
        let count = names.len();
        prop::collection::vec((0..count, 0..count, 1u32..9), 8..120).prop_map(move |pairs| {
            let mut edges = BTreeMap::new();
            for (a, b, weight) in pairs {
                // Most edges are inside groups of six.
                let b = if weight < 8 { (a / 6 * 6 + b % 6).min(count - 1) } else { b };
                let (a, b) = (a.min(b), a.max(b));
                edges.entry((names[a].clone(), names[b].clone())).or_insert(weight);
            }
            Network { edges }
        })
    })
}

pub(crate) fn job_options(threads: usize) -> JobOptions {
    let mut options = options(threads, 128 * MIB);
    options.input.columns = Some((1..=3).map(outcore::input::Column::Number).collect());
    options.input.header = outcore::input::Header::No;
    options
}

fn cluster(
    sim: &Sim,
    levels: bool,
    present: &PresentOptions,
    output: &str,
    threads: usize,
) -> Result<job::Report> {
    let clustering = ClusterOptions { levels, trials: Some(1), ..ClusterOptions::default() };
    let source = Source::Edges(Box::new(job_options(threads)));
    let (files, output) = (files_of(sim), Path::new(output));
    job::cluster_and_present(&files, &source, &clustering, present, output, &Silent)
}

/// Line of a tree: path, flow, name and number of a node.
struct Leaf {
    path: Vec<u64>,
    flow: f64,
    name: String,
    id: String,
}

/// Reads a tree as Infomap does.
fn leaves(sim: &Sim, path: &str) -> Vec<Leaf> {
    let text = String::from_utf8(sim.get(path).unwrap()).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let leaf = |line: &str| {
        let (path, rest) = line.split_once(' ').unwrap();
        let (flow, rest) = rest.split_once(' ').unwrap();
        let (name, id) = rest.strip_prefix('"').unwrap().rsplit_once("\" ").unwrap();
        let path = path.split(':').map(|number| number.parse().unwrap()).collect();
        Leaf { path, flow: flow.parse().unwrap(), name: name.into(), id: id.into() }
    };
    lines.map(leaf).collect()
}

/// Returns the rows of text as lists of fields, by name.
fn rows(sim: &Sim, path: &str) -> BTreeMap<String, Vec<String>> {
    let text = String::from_utf8(sim.get(path).unwrap()).unwrap();
    let objects = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let fields = |row: serde_json::Value| {
        let name = row["node"].as_str().unwrap().to_owned();
        let mut values = vec![row["community"].to_string()];
        values.extend((1..).map_while(|at| row.get(format!("group{at}")).map(ToString::to_string)));
        values.extend(row.get("flow").map(ToString::to_string));
        (name, values)
    };
    objects.map(fields).collect()
}

/// Returns the sets of names that have the same key.
fn partition<K: Ord>(of: impl Iterator<Item = (String, K)>) -> BTreeSet<BTreeSet<String>> {
    let mut groups: BTreeMap<K, BTreeSet<String>> = BTreeMap::new();
    of.for_each(|(name, key)| _ = groups.entry(key).or_default().insert(name));
    groups.into_values().collect()
}

pub(crate) const NAMES: &str = "[a-z0-9\" \té#:*]{1,24}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_tree_has_the_communities_groups_and_flow_of_the_result(network in networks(NAMES), levels in any::<bool>()) {
        let sim = storage_of(&network.text());
        let plain = PresentOptions::default();
        cluster(&sim, levels, &PresentOptions { flow: true, ..plain.clone() }, "/out/c.jsonl", 1).unwrap();
        cluster(&sim, levels, &plain, "/out/c.tree", 2).unwrap();
        let (rows, leaves, flow) = (rows(&sim, "/out/c.jsonl"), leaves(&sim, "/out/c.tree"), network.flow());
        prop_assert_eq!(rows.len(), leaves.len());
        let known = |leaf: &Leaf| rows[&leaf.name][0].clone();
        let of_top = leaves.iter().map(|leaf| (leaf.name.clone(), leaf.path[0]));
        prop_assert_eq!(partition(of_top), partition(leaves.iter().map(|leaf| (leaf.name.clone(), known(leaf)))));
        let finest = |name: &str| rows[name][..rows[name].len() - 1].to_vec();
        let of_leaf = leaves.iter().map(|leaf| (leaf.name.clone(), leaf.path[..leaf.path.len() - 1].to_vec()));
        let of_rows = rows.keys().map(|name| (name.clone(), finest(name)));
        prop_assert_eq!(partition(of_leaf), partition(of_rows));
        for leaf in &leaves {
            prop_assert!((leaf.flow / flow[&leaf.name] - 1.0).abs() < 1e-5);
            let column: f64 = rows[&leaf.name].last().unwrap().parse().unwrap();
            prop_assert!((column / flow[&leaf.name] - 1.0).abs() < 1e-12);
        }
        // Numbers are consecutive, and those with more flow come first.
        let mut sums: BTreeMap<&[u64], f64> = BTreeMap::new();
        for leaf in &leaves {
            for end in 1..=leaf.path.len() {
                *sums.entry(&leaf.path[..end]).or_default() += flow[&leaf.name];
            }
        }
        for (path, sum) in &sums {
            let (last, parent) = path.split_last().unwrap();
            let before = [parent, &[last - 1]].concat();
            let is_ordered = *last == 1 || sums[before.as_slice()] >= sum - 1e-12;
            prop_assert!(is_ordered, "{:?} {}", path, sum);
        }
        let in_order: Vec<_> = leaves.iter().map(|leaf| &leaf.path).collect();
        prop_assert!(in_order.is_sorted());
    }

    #[test]
    fn a_tree_is_read_back(network in networks(NAMES)) {
        let sim = storage_of(&network.text());
        let files = files_of(&sim);
        cluster(&sim, false, &PresentOptions::default(), "/out/c.jsonl", 1).unwrap();
        cluster(&sim, false, &PresentOptions::default(), "/out/c.tree", 1).unwrap();
        let expected = partition(rows(&sim, "/out/c.jsonl").into_iter().map(|(name, row)| (name, row[0].clone())));
        let mut written = WrittenFile::open(&files, Path::new("/out/c.tree"), CommunityFormat::Auto).unwrap();
        let mut found = Vec::new();
        while written.next_batch().unwrap() {
            found.extend(written.rows().map(|(name, at)| (String::from_utf8(name.to_vec()).unwrap(), at)));
        }
        prop_assert!(found.iter().any(|(_, at)| *at == 0));
        prop_assert_eq!(partition(found.into_iter()), expected);
        job::build(&files, &job_options(1), Path::new("/out/graph"), &Silent).unwrap();
        let quality = |communities: &str| job::score(&files, &score_options(communities), &Silent).unwrap().quality;
        prop_assert_eq!(quality("/out/c.tree"), quality("/out/c.jsonl"));
    }

    #[test]
    fn modules_of_numbered_nodes_are_read_back(network in networks("[1-9][0-9]{0,2}")) {
        let sim = storage_of(&network.text());
        let files = files_of(&sim);
        cluster(&sim, false, &PresentOptions::default(), "/out/c.clu", 1).unwrap();
        cluster(&sim, false, &PresentOptions::default(), "/out/c.tree", 3).unwrap();
        let leaves = leaves(&sim, "/out/c.tree");
        prop_assert!(leaves.iter().all(|leaf| leaf.name == leaf.id));
        let text = String::from_utf8(sim.get("/out/c.clu").unwrap()).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
        let expected: Vec<_> = leaves.iter().map(|leaf| format!("{} {} {}", leaf.id, leaf.path[0], leaf.flow)).collect();
        prop_assert_eq!(lines.len(), expected.len());
        for (line, expected) in lines.iter().zip(&expected) {
            prop_assert!(line.split(' ').take(2).eq(expected.split(' ').take(2)), "{} {}", line, expected);
        }
        job::build(&files, &job_options(1), Path::new("/out/graph"), &Silent).unwrap();
        let quality = |communities: &str| job::score(&files, &score_options(communities), &Silent).unwrap().quality;
        prop_assert_eq!(quality("/out/c.clu"), quality("/out/c.tree"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The score of a file is that of the tree as it was found, and nodes have all of the flow.
    #[test]
    fn a_tree_scores_as_it_was_found(network in networks(NAMES), is_directed in any::<bool>(), is_recorded in any::<bool>()) {
        let sim = storage_of(&network.text());
        let files = files_of(&sim);
        let mut edges = job_options(2);
        edges.input.directed = is_directed;
        job::build(&files, &edges, Path::new("/out/graph"), &Silent).unwrap();
        let recorded_teleportation = is_directed && is_recorded;
        let clustering = ClusterOptions { levels: true, recorded_teleportation, trials: Some(1), ..ClusterOptions::default() };
        let (source, present) = (Source::Edges(Box::new(edges)), PresentOptions::default());
        let report = job::cluster_and_present(&files, &source, &clustering, &present, Path::new("/out/c.tree"), &Silent).unwrap();
        let found = report.communities.unwrap().levels.tree.unwrap();
        let options = ScoreOptions { recorded_teleportation, ..score_options("/out/c.tree") };
        let score = job::score(&files, &options, &Silent).unwrap();
        match score.tree {
            Some(tree) => {
                prop_assert!((tree.code_length - found.code_length).abs() < 1e-10);
                prop_assert_eq!(tree.levels.len(), found.levels.len());
                for (level, of_found) in tree.levels.iter().zip(&found.levels) {
                    prop_assert_eq!(level.module_count, of_found.module_count);
                    prop_assert!((level.code_length - of_found.code_length).abs() < 1e-10);
                }
            }
            None => prop_assert!((score.quality.code_length.unwrap() - found.code_length).abs() < 1e-10),
        }
        let text = String::from_utf8(sim.get("/out/c.tree").unwrap()).unwrap();
        let length = text.lines().find_map(|line| line.strip_prefix("# codelength ")?.strip_suffix(" bits"));
        prop_assert_eq!(length.unwrap().parse::<f64>().unwrap(), found.code_length);
        let flow: f64 = leaves(&sim, "/out/c.tree").iter().map(|leaf| leaf.flow).sum();
        prop_assert!((flow - 1.0).abs() < 1e-4);
    }
}

#[test]
fn all_levels_of_a_tree_are_read() {
    let sim = storage_of(TRIANGLES);
    let files = files_of(&sim);
    job::build(&files, &job_options(1), Path::new("/out/graph"), &Silent).unwrap();
    let graph = Graph::open(&files, Path::new("/out/graph")).unwrap();
    files.create_directory(Path::new("/disk")).unwrap();
    let levels = |tree: &str| {
        sim.put("/in/t.tree", tree.as_bytes());
        let options = MembershipOptions {
            input: CommunityInput::default(),
            numbered: false,
            is_described: true,
            limits: Limits { memory_bytes: 128 * MIB, threads: 2 },
            held_bytes: 0,
            scratch: "/disk".into(),
        };
        let read = read_levels(&files, Path::new("/in/t.tree"), &graph, &options, &Silent).unwrap();
        read.into_iter().map(|level| level.labels).collect::<Vec<_>>()
    };
    let deep = "1:1:1:1 0.1 \"a\" 1\n1:1:2:1 0.1 \"b\" 2\n1:1:1:2 0.1 \"c\" 3\n2:1 0.1 \"d\" 4\n2:2 0 \"e\" 5\n2:3 0 \"f\" 6\n*Links\n";
    assert_eq!(levels(deep), [[0, 0, 0, 1, 1, 1], [0, 1, 0, 2, 2, 2]]);
    assert_eq!(levels("a\t0\nb\t0\nc\t1\nd\t1\ne\t0\nf\t2\n"), [[0, 0, 1, 1, 0, 2]]);
}

pub(crate) fn score_options(communities: &str) -> ScoreOptions {
    ScoreOptions {
        graph: "/out/graph".into(),
        communities: communities.into(),
        against: None,
        resolution: 1.0,
        recorded_teleportation: false,
        well_connected: None,
        unnamed: Unnamed::Stop,
        input: CommunityInput::default(),
        limits: Limits { memory_bytes: 128 * MIB, threads: 2 },
        work_dir: "/disk".into(),
    }
}

/// Two triangles and an edge between them, one with a loop.
pub(crate) const TRIANGLES: &str =
    "a\tb\t1\nb\tc\t1\nc\ta\t1\nc\td\t1\nd\te\t1\ne\tf\t1\nf\td\t1\na\ta\t2\n";

#[test]
fn the_first_lines_say_what_infomap_says() {
    let sim = storage_of(TRIANGLES);
    cluster(&sim, false, &PresentOptions::default(), "/out/c.tree", 1).unwrap();
    let text = String::from_utf8(sim.get("/out/c.tree").unwrap()).unwrap();
    let (version, rest) = text.split_once('\n').unwrap();
    assert!(version.starts_with("# outcore "), "{version}");
    let (levels, rest) = rest.split_once('\n').unwrap();
    assert_eq!(levels, "# partitioned into 2 levels with 2 top modules");
    let (length, rest) = rest.split_once('\n').unwrap();
    let length = length.strip_prefix("# codelength ").and_then(|text| text.strip_suffix(" bits"));
    assert!((length.unwrap().parse::<f64>().unwrap() - 2.320_7).abs() < 0.5);
    assert_eq!(
        rest,
        "# path flow name node_id\n1:1 0.25 \"a\" 1\n1:2 0.1875 \"c\" 3\n1:3 0.125 \"b\" 2\n\
         2:1 0.1875 \"d\" 4\n2:2 0.125 \"e\" 5\n2:3 0.125 \"f\" 6\n"
    );
}

#[test]
fn what_a_file_of_infomap_cannot_hold_is_refused() {
    let refused =
        |edges: &str, present: PresentOptions, output: &str, kind: ErrorKind, words: &str| {
            let sim = storage_of(edges);
            let error = cluster(&sim, false, &present, output, 1).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.message().contains(words) && error.hint_text().is_some(), "{error}");
            assert!(sim.get(output).is_none());
        };
    let plain = PresentOptions::default();
    refused(TRIANGLES, plain.clone(), "/out/c.clu", ErrorKind::BadInput, "`a` is not one");
    refused(TRIANGLES, plain.clone(), "/out/c.map", ErrorKind::Usage, "a map of Infomap");
    let weights = PresentOptions { member_weights: true, ..plain.clone() };
    refused(TRIANGLES, weights, "/out/c.tree", ErrorKind::Usage, "--member-weights");
    let flow = PresentOptions { flow: true, ..plain };
    refused(TRIANGLES, flow.clone(), "/out/c.tree", ErrorKind::Usage, "--flow");
    refused(TRIANGLES, flow, "/out/c.ftree", ErrorKind::Usage, "--flow");
}

/// No reader takes a line feed in a name, but GraphML may have a carriage return, which ends lines for other programs.
#[test]
fn a_name_with_a_carriage_return_is_refused_in_a_tree() {
    let sim = storage_of("");
    let text = r#"<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="a&#13;b"/><node id="c"/><edge source="a&#13;b" target="c"/></graph></graphml>"#;
    sim.put("/in/g.graphml", text.as_bytes());
    let mut edges = options(1, 128 * MIB);
    edges.input.paths = vec!["/in/g.graphml".into()];
    let (source, plain) = (Source::Edges(Box::new(edges)), PresentOptions::default());
    let (files, output) = (files_of(&sim), Path::new("/out/c.tree"));
    let clustering = ClusterOptions::default();
    let found = job::cluster_and_present(&files, &source, &clustering, &plain, output, &Silent);
    let error = found.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadInput, "{error}");
    assert!(error.message().contains("a\\rb") && sim.get("/out/c.tree").is_none(), "{error}");
}

#[test]
fn nodes_that_are_left_out_are_in_no_line_and_isolated_ones_have_no_flow() {
    let sim = storage_of(TRIANGLES);
    sim.put("/in/nodes.txt", b"a\nz\n");
    let mut edges = job_options(1);
    edges.input.nodes = Some("/in/nodes.txt".into());
    let source = Source::Edges(Box::new(edges));
    let files = files_of(&sim);
    let clustering = ClusterOptions { trials: Some(1), ..ClusterOptions::default() };
    let names = |min_size| {
        let present = PresentOptions { min_size, ..PresentOptions::default() };
        let output = Path::new("/out/c.tree");
        job::cluster_and_present(&files, &source, &clustering, &present, output, &Silent).unwrap();
        leaves(&sim, "/out/c.tree")
    };
    let all = names(1);
    let last = all.last().unwrap();
    assert_eq!((all.len(), last.name.as_str(), last.flow), (7, "z", 0.0));
    assert_eq!(last.path, [3, 1]);
    let large = names(2);
    assert!(large.len() == 6 && large.iter().all(|leaf| leaf.name != "z"));
}
