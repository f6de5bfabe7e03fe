//! Components of edge lists without a graph: at several thresholds, with preferred nodes; compared with naive ones.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{self, MIB, files_of};
use outcore::budget::Limits;
use outcore::cluster::{ClusterOptions, Method};
use outcore::input::Column;
use outcore::io::Cramped;
use outcore::job::{self, JobOptions, Report, Source};
use outcore::present::{Preference, PresentOptions, SideFiles};
use outcore::progress::Silent;
use outcore_testkit::cases;
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const OUTPUT: &str = "/out/c.tsv";
const THRESHOLDS: [f64; 3] = [0.9, 0.5, 0.25];

/// Edges between few nodes, with repeats, loops and equal weights, and priorities of some nodes.
#[derive(Debug, Clone)]
struct Pairs {
    edges: Vec<(u8, u8, u8)>,
    priorities: Vec<(u8, i8)>,
}

/// Weights, of which some are equal in six digits.
const WEIGHTS: [&str; 7] = ["0", "0.2", "0.25", "0.5", "0.50000001", "0.9", "2"];

/// Names of which some are equal up to the last of many bytes, and one is the beginning of another.
fn name(node: u8) -> String {
    match node {
        0..=2 => format!("{}", 10 * u32::from(node)),
        3..=5 => format!("record with a long name, number {node}"),
        6 => "record".into(),
        node => format!("record{node:03}"),
    }
}

fn pairs() -> impl Strategy<Value = Pairs> {
    let edges = prop::collection::vec((0..30u8, 0..30u8, 0..WEIGHTS.len() as u8), 1..60);
    let priorities = prop::collection::btree_map(0..32u8, -2..3i8, 1..20);
    (edges, priorities).prop_map(|(mut edges, priorities)| {
        // An input of which no edge counts is refused.
        edges.push((edges[0].0, 29 - edges[0].0, 6));
        Pairs { priorities: priorities.into_iter().collect(), edges }
    })
}

impl Pairs {
    fn storage(&self) -> Sim {
        let sim = Sim::new();
        let line = |&(a, b, weight): &(u8, u8, u8)| {
            format!("{}\t{}\t{}\n", name(a), name(b), WEIGHTS[usize::from(weight)])
        };
        sim.put("/in/edges.tsv", self.edges.iter().map(line).collect::<String>().as_bytes());
        let line = |(node, number): &(u8, i8)| format!("{}\t{number}.5\n", name(*node));
        sim.put("/in/priorities", self.priorities.iter().map(line).collect::<String>().as_bytes());
        sim
    }

    /// Returns the nodes in the order of the input.
    fn nodes(&self) -> Vec<u8> {
        let mut nodes = Vec::new();
        for node in self.edges.iter().flat_map(|edge| [edge.0, edge.1]) {
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        nodes
    }

    /// Returns the nodes of each component at a threshold, the largest first.
    fn components(&self, threshold: f64) -> Vec<Vec<u8>> {
        let mut all: Vec<Vec<u8>> = self.nodes().into_iter().map(|node| vec![node]).collect();
        for &(a, b, weight) in &self.edges {
            let weight: f64 = WEIGHTS[usize::from(weight)].parse().unwrap();
            // Weights have six digits.
            if weight == 0.0 || (weight * 1e6).round() < (threshold * 1e6).round() {
                continue;
            }
            let of = |node| all.iter().position(|nodes| nodes.contains(&node)).unwrap();
            let (low, high) = (of(a).min(of(b)), of(a).max(of(b)));
            if low != high {
                let more = all.remove(high);
                all[low].extend(more);
            }
        }
        all.sort_by_key(|nodes| std::cmp::Reverse(nodes.len()));
        all
    }

    /// Returns the preferred node of a component.
    fn preferred(&self, nodes: &[u8]) -> u8 {
        let priority = |node: &u8| {
            let found = self.priorities.iter().find(|(of, _)| of == node);
            found.map(|(_, number)| *number)
        };
        let most = nodes.iter().map(priority).max().unwrap();
        let best = nodes.iter().filter(|node| priority(node) == most);
        *best.min_by_key(|node| name(**node)).unwrap()
    }
}

/// Returns the usual options. What the columns of a few generated lines mean may be in doubt, so it is given.
fn options(threads: usize, memory_bytes: u64) -> JobOptions {
    let mut options = common::options(threads, memory_bytes);
    options.input.columns = Some((1..=3).map(Column::Number).collect());
    options
}

/// Returns the lines of a file.
fn lines(sim: &Sim, path: &str) -> Vec<String> {
    let text = String::from_utf8(sim.get(path).unwrap()).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn run(
    sim: &Sim,
    limits: Limits,
    cramped: Cramped,
    found: &ClusterOptions,
    present: &PresentOptions,
) -> Report {
    let files = files_of(sim).with_cramped(Cramped { chunk_bytes: 64, ..cramped });
    let min_weight = found.thresholds.iter().copied().reduce(f64::min);
    let plain = options(limits.threads, limits.memory_bytes);
    let source = Source::Edges(Box::new(JobOptions { min_weight, ..plain }));
    job::cluster_and_present(&files, &source, found, present, Path::new(OUTPUT), &Silent).unwrap()
}

fn thresholds(levels: bool) -> ClusterOptions {
    let (method, thresholds) = (Method::Components, THRESHOLDS.to_vec());
    ClusterOptions { method, thresholds, levels, ..ClusterOptions::default() }
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn components_and_preferred_nodes_are_the_naive_ones(
        pairs in pairs(),
        threads in 1..4usize,
        names in prop_oneof![Just(u64::MAX), 1..20u64],
        forest_nodes in prop_oneof![Just(u64::MAX), 1..20u64],
    ) {
        let sim = pairs.storage();
        let cramped = Cramped { names, forest_nodes, ..Cramped::NOT };
        let limits = Limits { memory_bytes: 96 * MIB, threads };
        let present = PresentOptions {
            prefer: Some(Preference::File("/in/priorities".into())),
            sides: SideFiles { representatives: Some("/out/r.tsv".into()), keep: Some("/out/keep".into()), drop: Some("/out/drop".into()), ..Default::default() },
            ..PresentOptions::default()
        };
        // The file must name a node.
        let nodes = pairs.nodes();
        prop_assume!(pairs.priorities.iter().any(|(node, _)| nodes.contains(node)));
        let report = run(&sim, limits, cramped, &thresholds(false), &present);
        prop_assert_eq!(report.results.len(), THRESHOLDS.len());
        prop_assert!(report.sort.is_none() && report.communities.unwrap().measures.known_modularity().is_none());
        let mut columns = vec![String::new(); nodes.len()];
        for threshold in THRESHOLDS {
            let components = pairs.components(threshold);
            let of = |node| components.iter().position(|nodes| nodes.contains(node)).unwrap();
            let expected: Vec<_> =
                nodes.iter().map(|node| format!("{}\t{}", name(*node), of(node))).collect();
            prop_assert_eq!(&lines(&sim, &format!("/out/c.{threshold}.tsv")), &expected);
            let chosen: Vec<u8> = components.iter().map(|nodes| pairs.preferred(nodes)).collect();
            let expected: Vec<_> = components
                .iter()
                .zip(&chosen)
                .enumerate()
                .map(|(at, (nodes, chosen))| format!("{at}\t{}\t{}", name(*chosen), nodes.len()))
                .collect();
            prop_assert_eq!(&lines(&sim, &format!("/out/r.{threshold}.tsv")), &expected);
            let (keep, drop): (Vec<u8>, Vec<u8>) =
                nodes.iter().partition(|node| chosen.contains(node));
            let names = |nodes: Vec<u8>| nodes.into_iter().map(name).collect::<Vec<_>>();
            prop_assert_eq!(lines(&sim, &format!("/out/keep.{threshold}")), names(keep));
            prop_assert_eq!(lines(&sim, &format!("/out/drop.{threshold}")), names(drop));
            columns.iter_mut().zip(&nodes).for_each(|(row, node)| *row += &format!("\t{}", of(node)));
        }
        run(&sim, limits, cramped, &thresholds(true), &PresentOptions::default());
        let header = THRESHOLDS.iter().fold("node".to_owned(), |header, threshold| {
            header + &format!("\tcommunity_{threshold}")
        });
        let rows = nodes.iter().zip(columns).map(|(node, row)| name(*node) + &row);
        let expected: Vec<_> = std::iter::once(header).chain(rows).collect();
        prop_assert_eq!(lines(&sim, OUTPUT), expected);
    }

    /// Graphs merge repeated edges, so none are repeated.
    #[test]
    fn a_graph_has_the_components_and_heights_of_its_edges(pairs in pairs(), directed in any::<bool>()) {
        let distinct: BTreeMap<_, _> =
            pairs.edges.iter().map(|&(a, b, weight)| ((a.min(b), a.max(b)), weight)).collect();
        let edges = distinct.into_iter().map(|((a, b), weight)| (a, b, weight)).collect();
        let pairs = Pairs { edges, ..pairs };
        let sim = pairs.storage();
        let found = ClusterOptions { heights: true, min_weight: 0.25, ..thresholds(true) };
        let present = PresentOptions { sides: SideFiles { heights: Some("/out/h.tsv".into()), ..Default::default() }, ..PresentOptions::default() };
        run(&sim, Limits { memory_bytes: 96 * MIB, threads: 2 }, Cramped::NOT, &found, &present);
        let expected = [lines(&sim, OUTPUT), lines(&sim, "/out/h.tsv")];
        let files = files_of(&sim);
        let mut built = options(1, 96 * MIB);
        built.input.directed = directed;
        job::build(&files, &built, Path::new("/out/graph"), &Silent).unwrap();
        let source = Source::Graph {
            path: "/out/graph".into(),
            limits: built.limits,
            work_dir: PathBuf::from("/work"),
            restart: false,
        };
        let output = Path::new(OUTPUT);
        job::cluster_and_present(&files, &source, &found, &present, output, &Silent).unwrap();
        prop_assert_eq!([lines(&sim, OUTPUT), lines(&sim, "/out/h.tsv")], expected.clone());
        // A cut of the order by height gives the components at each threshold.
        for threshold in THRESHOLDS {
            let mut cut: BTreeSet<BTreeSet<String>> = BTreeSet::new();
            let mut current = BTreeSet::new();
            for line in &expected[1] {
                let (node, weight) = line.split_once('\t').unwrap();
                if weight.parse::<f64>().unwrap() < threshold && !current.is_empty() {
                    cut.insert(std::mem::take(&mut current));
                }
                current.insert(node.to_owned());
            }
            cut.insert(current);
            let naive = pairs.components(threshold).into_iter();
            let naive = naive.map(|nodes| nodes.into_iter().map(name).collect()).collect();
            prop_assert_eq!(cut, naive);
        }
    }
}

/// One graph serves all thresholds: with repeated edges, those above the lowest are compared with sums.
#[test]
fn other_methods_cluster_one_graph_at_each_threshold() {
    let pairs = |repeats: &[&str]| {
        let edges = (0..400u32).map(|at| {
            let (source, target) = (at % 60, at * at % 59 + 60 * (at % 7));
            format!("{source}\t{target}\t{}\n", [0.2, 0.5, 0.9, 2.0][at as usize % 4])
        });
        edges.chain(repeats.iter().map(|line| format!("{line}\n"))).collect::<String>()
    };
    for (repeats, is_warned) in [(&[][..], false), (&["0\t0\t1", "7\t3\t0.5", "7\t3\t0.5"], true)] {
        let sim = Sim::new();
        sim.put("/in/edges.tsv", pairs(repeats).as_bytes());
        for method in [Method::LabelPropagation, Method::Modularity, Method::MapEquation] {
            let limits = Limits { memory_bytes: 96 * MIB, threads: 2 };
            let found = ClusterOptions { method, ..thresholds(method.is_multilevel()) };
            let present = PresentOptions {
                sides: SideFiles { summary: Some("/out/s.tsv".into()), ..Default::default() },
                ..PresentOptions::default()
            };
            let report = run(&sim, limits, Cramped::NOT, &found, &present);
            assert_eq!(report.warnings.iter().any(|text| text.contains("are of sums")), is_warned);
            for (threshold, result) in THRESHOLDS.into_iter().zip(&report.results) {
                assert_eq!(result.communities.options.min_weight, threshold);
                let several = lines(&sim, &format!("/out/c.{threshold}.tsv"));
                let summary = lines(&sim, &format!("/out/s.{threshold}.tsv"));
                let alone = ClusterOptions {
                    min_weight: threshold,
                    thresholds: Vec::new(),
                    ..found.clone()
                };
                let options = JobOptions { min_weight: Some(0.25), ..options(2, 96 * MIB) };
                let source = Source::Edges(Box::new(options));
                let files = files_of(&sim);
                job::cluster_and_present(
                    &files,
                    &source,
                    &alone,
                    &present,
                    Path::new(OUTPUT),
                    &Silent,
                )
                .unwrap();
                assert_eq!(lines(&sim, OUTPUT), several, "{method:?} {threshold}");
                assert_eq!(lines(&sim, "/out/s.tsv"), summary, "{method:?} {threshold}");
            }
        }
    }
}

/// Nodes that no component of at least two has are kept.
#[test]
fn what_is_kept_and_dropped_is_every_node() {
    let sim = Sim::new();
    sim.put("/in/edges.tsv", b"b a 1\na c 1\nx y 0.1\n");
    let present = PresentOptions {
        prefer: Some(Preference::First),
        sides: SideFiles {
            keep: Some("/out/keep.csv".into()),
            drop: Some("/out/drop".into()),
            ..Default::default()
        },
        min_size: 2,
        ..PresentOptions::default()
    };
    let found = ClusterOptions { method: Method::Components, ..ClusterOptions::default() };
    let options = JobOptions { min_weight: Some(0.5), ..options(1, 96 * MIB) };
    let source = Source::Edges(Box::new(options));
    let files = files_of(&sim);
    job::cluster_and_present(&files, &source, &found, &present, Path::new(OUTPUT), &Silent)
        .unwrap();
    assert_eq!(lines(&sim, OUTPUT), ["b\t0", "a\t0", "c\t0"]);
    assert_eq!(lines(&sim, "/out/keep.csv"), ["node", "b", "x", "y"]);
    assert_eq!(lines(&sim, "/out/drop"), ["a", "c"]);
}
