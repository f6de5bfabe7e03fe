//! Trees of Infomap with links: every section is what its definition says, and the nodes are those of a tree.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{MIB, files_of, storage_of};
use crate::infomap::{NAMES, Network, TRIANGLES, job_options, networks, score_options};
use outcore::cluster::ClusterOptions;
use outcore::input::CommunityFormat;
use outcore::io::{Cramped, Files};
use outcore::job::{self, Source};
use outcore::membership::WrittenFile;
use outcore::present::PresentOptions;
use outcore::progress::Silent;
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// How a network is understood and clustered.
#[derive(Debug, Clone, Copy)]
struct Walk {
    is_directed: bool,
    is_recorded: bool,
    levels: bool,
    min_size: u32,
}

fn walks() -> impl Strategy<Value = Walk> {
    let min_size = prop_oneof![3 => Just(1), 1 => Just(3)];
    (any::<bool>(), any::<bool>(), any::<bool>(), min_size).prop_map(
        |(is_directed, is_recorded, levels, min_size)| {
            let is_recorded = is_directed && is_recorded;
            Walk { is_directed, is_recorded, levels, min_size }
        },
    )
}

/// Arcs of a network: from, to and weight. In a directed one, some edges lead back, and some both ways.
fn arcs(network: &Network, is_directed: bool) -> Vec<(String, String, f64)> {
    let mut arcs = Vec::new();
    for ((a, b), &weight) in &network.edges {
        let arc = |from: &String, to: &String| (from.clone(), to.clone(), f64::from(weight));
        if !is_directed || a == b || weight % 3 > 0 {
            arcs.push(arc(a, b));
        }
        if is_directed && a != b && weight % 3 < 2 {
            arcs.push(arc(b, a));
        }
    }
    arcs
}

fn text_of(arcs: &[(String, String, f64)]) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    arcs.iter().map(|(a, b, w)| format!("{}\t{}\t{w}\n", quoted(a), quoted(b))).collect()
}

fn cluster(files: &Files, walk: Walk, output: &str, threads: usize, memory_bytes: u64) {
    let mut edges = job_options(threads);
    edges.input.directed = walk.is_directed;
    edges.limits.memory_bytes = memory_bytes;
    let clustering = ClusterOptions {
        levels: walk.levels,
        recorded_teleportation: walk.is_recorded,
        trials: Some(1),
        ..ClusterOptions::default()
    };
    let present = PresentOptions { min_size: walk.min_size, ..PresentOptions::default() };
    let (source, output) = (Source::Edges(Box::new(edges)), Path::new(output));
    job::cluster_and_present(files, &source, &clustering, &present, output, &Silent).unwrap();
}

/// Path of a node or a module; that of the root is empty.
type TreePath = Vec<u64>;

/// Section of links.
#[derive(Debug, Default)]
struct Section {
    enter: f64,
    exit: f64,
    children: BTreeSet<u64>,
    rows: BTreeMap<(u64, u64), f64>,
}

/// Flow of each arc of a walk, and of teleportations, by definition.
struct Flow {
    arcs: Vec<f64>,
    teleports: BTreeMap<String, f64>,
    lands: BTreeMap<String, f64>,
}

impl Flow {
    fn undirected(arcs: &[(String, String, f64)]) -> Self {
        let ends = |(from, to, weight): &(String, String, f64)| {
            weight * if from == to { 1.0 } else { 2.0 }
        };
        let total: f64 = arcs.iter().map(ends).sum();
        let flow = arcs.iter().map(|arc| ends(arc) / total).collect();
        Self { arcs: flow, teleports: BTreeMap::new(), lands: BTreeMap::new() }
    }

    /// Follows the walk for many steps.
    fn directed(arcs: &[(String, String, f64)], is_recorded: bool) -> Self {
        let sums = |key: fn(&(String, String, f64)) -> &String| {
            let mut sums: BTreeMap<String, f64> = BTreeMap::new();
            arcs.iter().for_each(|arc| *sums.entry(key(arc).clone()).or_default() += arc.2);
            sums
        };
        let (leaving, entering) = (sums(|arc| &arc.0), sums(|arc| &arc.1));
        let total: f64 = leaving.values().sum();
        let names: BTreeSet<&String> = leaving.keys().chain(entering.keys()).collect();
        let share = |sums: &BTreeMap<String, f64>, name: &String| {
            sums.get(name).copied().unwrap_or(0.0) / total
        };
        let landing: BTreeMap<String, f64> = names
            .iter()
            .map(|&name| {
                (name.clone(), share(if is_recorded { &entering } else { &leaving }, name))
            })
            .collect();
        let mut visits = landing.clone();
        let follow = |visits: &BTreeMap<String, f64>, share: f64| -> Vec<f64> {
            arcs.iter().map(|(from, _, w)| share * visits[from] * w / leaving[from]).collect()
        };
        let dead = |visits: &BTreeMap<String, f64>| -> f64 {
            visits.iter().filter(|(name, _)| !leaving.contains_key(*name)).map(|(_, v)| v).sum()
        };
        for _ in 0..400 {
            let teleported = 0.15 + 0.85 * dead(&visits);
            let mut next: BTreeMap<String, f64> =
                landing.iter().map(|(name, share)| (name.clone(), share * teleported)).collect();
            for ((_, to, _), flow) in arcs.iter().zip(follow(&visits, 0.85)) {
                *next.get_mut(to).unwrap() += flow;
            }
            visits = next;
        }
        if !is_recorded {
            let flow = follow(&visits, 1.0 / (1.0 - dead(&visits)));
            return Self { arcs: flow, teleports: BTreeMap::new(), lands: BTreeMap::new() };
        }
        let teleports: BTreeMap<String, f64> = visits
            .iter()
            .map(|(name, v)| {
                (name.clone(), v * if leaving.contains_key(name) { 0.15 } else { 1.0 })
            })
            .collect();
        let teleported: f64 = teleports.values().sum();
        let lands = landing.into_iter().map(|(name, share)| (name, share * teleported)).collect();
        Self { arcs: follow(&visits, 0.85), teleports, lands }
    }
}

/// Returns the sections of a tree by definition, where nodes that are left out have no path.
fn sections(
    arcs: &[(String, String, f64)],
    flow: &Flow,
    paths: &BTreeMap<String, TreePath>,
    is_directed: bool,
) -> BTreeMap<TreePath, Section> {
    let mut sections: BTreeMap<TreePath, Section> =
        BTreeMap::from([(Vec::new(), Section::default())]);
    for path in paths.values() {
        for len in 0..path.len() {
            let section = sections.entry(path[..len].to_vec()).or_default();
            section.children.insert(path[len]);
        }
    }
    let total: f64 = flow.lands.values().sum();
    for (path, section) in &mut sections {
        let within = |name: &String| paths.get(name).filter(|found| found.starts_with(path));
        for ((from, to, _), &flow) in arcs.iter().zip(&flow.arcs) {
            let half = flow / 2.0;
            match (
                within(from).map(|found| found[path.len()]),
                within(to).map(|found| found[path.len()]),
            ) {
                (Some(a), Some(b)) if a != b && is_directed => {
                    *section.rows.entry((a, b)).or_default() += flow
                }
                (Some(a), Some(b)) if a != b => {
                    *section.rows.entry((a.min(b), a.max(b))).or_default() += flow
                }
                (Some(_), None) if is_directed => section.exit += flow,
                (None, Some(_)) if is_directed => section.enter += flow,
                (Some(_), None) | (None, Some(_)) => {
                    section.enter += half;
                    section.exit += half;
                }
                _ => {}
            }
        }
        for (from, teleported) in &flow.teleports {
            for (to, landed) in &flow.lands {
                let flow = teleported * landed / total;
                match (within(from).is_some(), within(to).is_some()) {
                    (true, false) => section.exit += flow,
                    (false, true) => section.enter += flow,
                    _ => {}
                }
            }
        }
    }
    sections
}

/// Divides the text of a tree into the paths of nodes, and the lines after them.
fn nodes_and_links(text: &str) -> (BTreeMap<String, TreePath>, Vec<&str>) {
    let at = text.find("*Links ").unwrap();
    let path = |text: &str| text.split(':').map(|number| number.parse().unwrap()).collect();
    let nodes = text[..at].lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (found, rest) = line.split_once(' ').unwrap();
        let (_, rest) = rest.split_once(' ').unwrap();
        let (name, _) = rest.strip_prefix('"').unwrap().rsplit_once("\" ").unwrap();
        (name.to_owned(), path(found))
    });
    (nodes.collect(), text[at..].lines().collect())
}

/// Checks that a number is written with six digits.
fn near(found: &str, expected: f64) -> bool {
    assert!(!found.starts_with('-'), "{found}");
    let found: f64 = found.parse().unwrap();
    (found - expected).abs() <= 6e-6 * expected + 1e-10
}

/// Checks the lines of links against their definition.
fn check_links(lines: &[&str], expected: &BTreeMap<TreePath, Section>, is_directed: bool) {
    let title =
        ["*Links undirected", "# link flow is both directions combined, one row per module pair"];
    let title = if is_directed { &["*Links directed"][..] } else { &title };
    assert_eq!(&lines[..title.len()], title);
    assert_eq!(lines[title.len()], "#*Links path enterFlow exitFlow numEdges numChildren");
    let mut lines = lines[title.len() + 1..].iter();
    for (path, section) in expected {
        let numbers: Vec<String> = path.iter().map(u64::to_string).collect();
        let path = if path.is_empty() { "root".to_owned() } else { numbers.join(":") };
        let head: Vec<&str> = lines.next().unwrap().split(' ').collect();
        let (edges, children) =
            (section.rows.len().to_string(), section.children.len().to_string());
        assert_eq!([head[0], head[1], head[4], head[5]], ["*Links", &path, &edges, &children]);
        assert!(
            near(head[2], section.enter) && near(head[3], section.exit),
            "{head:?} {section:?}"
        );
        for (&(a, b), &flow) in &section.rows {
            let row: Vec<&str> = lines.next().unwrap().split(' ').collect();
            assert_eq!(row[..2], [a.to_string(), b.to_string()]);
            assert!(near(row[2], flow), "{row:?} {flow}");
        }
    }
    assert!(lines.next().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sections_are_those_of_the_definition(network in networks(NAMES), walk in walks()) {
        let arcs = arcs(&network, walk.is_directed);
        let sim = storage_of(&text_of(&arcs));
        cluster(&files_of(&sim), walk, "/out/c.ftree", 2, 128 * MIB);
        let text = String::from_utf8(sim.get("/out/c.ftree").unwrap()).unwrap();
        let (paths, lines) = nodes_and_links(&text);
        let flow = match walk.is_directed {
            true => Flow::directed(&arcs, walk.is_recorded),
            false => Flow::undirected(&arcs),
        };
        check_links(&lines, &sections(&arcs, &flow, &paths, walk.is_directed), walk.is_directed);
    }

    #[test]
    fn the_lines_before_links_are_those_of_a_tree(network in networks(NAMES), walk in walks()) {
        let sim = storage_of(&text_of(&arcs(&network, walk.is_directed)));
        cluster(&files_of(&sim), walk, "/out/c.ftree", 2, 128 * MIB);
        cluster(&files_of(&sim), walk, "/out/c.tree", 1, 128 * MIB);
        let [with_links, tree] = ["ftree", "tree"].map(|ending| sim.get(format!("/out/c.{ending}")).unwrap());
        prop_assert!(with_links[tree.len()..].starts_with(b"*Links "));
        prop_assert_eq!(&with_links[..tree.len()], tree);
    }

    /// Links are no nodes: scores, earlier communities and results are those of the tree.
    #[test]
    fn a_tree_with_links_is_read_like_one_without(network in networks(NAMES), walk in walks()) {
        let walk = Walk { min_size: 1, ..walk };
        let sim = storage_of(&text_of(&arcs(&network, walk.is_directed)));
        let files = files_of(&sim);
        let mut edges = job_options(1);
        edges.input.directed = walk.is_directed;
        job::build(&files, &edges, Path::new("/out/graph"), &Silent).unwrap();
        let both = ["/out/c.ftree", "/out/c.tree"];
        both.iter().for_each(|output| cluster(&files, walk, output, 1, 128 * MIB));
        let scores = both.map(|path| job::score(&files, &score_options(path), &Silent).unwrap());
        prop_assert_eq!(&scores[0].quality, &scores[1].quality);
        prop_assert_eq!(scores[0].tree.is_some(), scores[1].tree.is_some());
        let rows = both.map(|path| {
            let mut written = WrittenFile::open(&files, Path::new(path), CommunityFormat::Auto).unwrap();
            let mut found = Vec::new();
            while written.next_batch().unwrap() {
                found.extend(written.rows().map(|(name, at)| (name.to_vec(), at)));
            }
            found
        });
        prop_assert_eq!(&rows[0], &rows[1]);
        let again = both.map(|path| {
            let source = Source::Edges(Box::new(edges.clone()));
            let options = ClusterOptions { initial: Some(path.into()), trials: Some(1), ..ClusterOptions::default() };
            let (present, output) = (PresentOptions::default(), Path::new("/out/again.tsv"));
            job::cluster_and_present(&files, &source, &options, &present, output, &Silent).unwrap();
            let found = sim.get("/out/again.tsv").unwrap();
            files.remove(output).unwrap();
            found
        });
        prop_assert_eq!(&again[0], &again[1]);
    }
}

#[test]
fn links_of_two_triangles() {
    let sim = storage_of(TRIANGLES);
    let walk = Walk { is_directed: false, is_recorded: false, levels: false, min_size: 1 };
    cluster(&files_of(&sim), walk, "/out/c.ftree", 1, 128 * MIB);
    let text = String::from_utf8(sim.get("/out/c.ftree").unwrap()).unwrap();
    assert_eq!(
        text[text.find("*Links ").unwrap()..],
        *"*Links undirected\n\
          # link flow is both directions combined, one row per module pair\n\
          #*Links path enterFlow exitFlow numEdges numChildren\n\
          *Links root 0 0 1 2\n1 2 0.125\n\
          *Links 1 0.0625 0.0625 3 3\n1 2 0.125\n1 3 0.125\n2 3 0.125\n\
          *Links 2 0.0625 0.0625 3 3\n1 2 0.125\n1 3 0.125\n2 3 0.125\n"
    );
}

/// Edges in groups of groups.
fn nested(nodes: u32) -> String {
    let mut text = String::new();
    for edge in 0..12 * nodes {
        let mix = edge.wrapping_mul(0x9E37_79B1) >> 7;
        let from = edge % nodes;
        let to = match mix % 16 {
            0 => mix / 16 % nodes,
            1..4 => from / 200 * 200 + mix / 16 % 200,
            _ => from / 20 * 20 + mix / 16 % 20,
        };
        writeln!(text, "{from}\t{}\t{}", to % nodes, 1 + mix % 7).unwrap();
    }
    text
}

#[test]
fn links_do_not_depend_on_threads_or_memory() {
    let text = nested(4000);
    for (is_directed, is_recorded) in [(false, false), (true, false), (true, true)] {
        let walk = Walk { is_directed, is_recorded, levels: true, min_size: 1 };
        let written = |threads, memory_bytes, cramped| {
            let sim: Sim = storage_of(&text);
            let files = files_of(&sim).with_cramped(cramped);
            cluster(&files, walk, "/out/c.ftree", threads, memory_bytes);
            sim.get("/out/c.ftree").unwrap()
        };
        let expected = written(1, 512 * MIB, Cramped::NOT);
        let count = expected
            .split(|&byte| byte == b'\n')
            .filter(|line| line.starts_with(b"*Links 1:"))
            .count();
        assert!(count > 1, "{count} modules in the first one");
        assert!(written(4, 512 * MIB, Cramped::NOT) == expected);
        let runs = Cramped { run_records: 9000, fan_in: 2, kept_bytes: 0, ..Cramped::NOT };
        assert!(written(4, 96 * MIB, runs) == expected);
        assert!(written(1, 96 * MIB, runs) == expected);
    }
}
