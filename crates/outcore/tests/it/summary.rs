//! The table of communities equals one that is computed by definition from the edges and the communities.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{MIB, files_of, options, storage_of};
use outcore::cluster::{ClusterOptions, METHODS, Method};
use outcore::job::{self, JobOptions, Source};
use outcore::present::{PresentOptions, SideFiles, Small};
use outcore::progress::Silent;
use outcore_testkit::sim::Sim;
use std::collections::BTreeMap;
use std::path::Path;

const OUTPUT: &str = "/out/communities.tsv";
const SUMMARY: &str = "/out/summary.tsv";

/// Random numbers (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Returns distinct edges of a random graph of groups, with loops: weights are such that sums are exact.
fn edges(random: &mut Random, directed: bool) -> BTreeMap<(u64, u64), f64> {
    let nodes = 2 + random.below(60);
    let group = 1 + random.below(8);
    let mut edges = BTreeMap::new();
    for _ in 0..nodes * (1 + random.below(4)) {
        let one = random.below(nodes);
        let other = match random.below(4) {
            0 => random.below(nodes),
            _ => (one / group * group + random.below(group)).min(nodes - 1),
        };
        let pair = if directed { (one, other) } else { (one.min(other), one.max(other)) };
        edges.insert(pair, (1 + random.below(16)) as f64 / 4.0);
    }
    edges
}

struct Case {
    method: Method,
    directed: bool,
    keep_loops: bool,
    min_size: u32,
    small: Small,
    stability: bool,
}

fn run(case: &Case, text: &str, (threads, memory): (usize, u64)) -> Sim {
    let sim = storage_of(text);
    let files = files_of(&sim);
    let mut plain = JobOptions { keep_loops: case.keep_loops, ..options(threads, memory * MIB) };
    plain.input.directed = case.directed;
    let source = Source::Edges(Box::new(plain));
    let trials = case.stability.then_some(3);
    let clustering = ClusterOptions {
        method: case.method,
        stability: case.stability,
        trials,
        ..ClusterOptions::default()
    };
    let present = PresentOptions {
        min_size: case.min_size,
        small: case.small,
        sides: SideFiles { summary: Some(SUMMARY.into()), ..Default::default() },
        ..PresentOptions::default()
    };
    let output = Path::new(OUTPUT);
    job::cluster_and_present(&files, &source, &clustering, &present, output, &Silent).unwrap();
    sim
}

fn rows(sim: &Sim, path: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(sim.get(path).unwrap()).unwrap();
    text.lines()
        .filter(|line| !line.starts_with("node\t"))
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

/// Row by definition, in the order of the columns; numbers that may be missing are empty.
fn expected(
    case: &Case,
    edges: &BTreeMap<(u64, u64), f64>,
    nodes: &[(u64, Option<u64>, Option<f64>)],
) -> BTreeMap<u64, Vec<String>> {
    let number =
        |node: u64| nodes.iter().find(|(name, ..)| *name == node).and_then(|found| found.1);
    let mut all: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for &(node, number, _) in nodes {
        if let Some(number) = number {
            all.entry(number).or_default().push(node);
        }
    }
    let kept = |&(one, other): &(u64, u64)| case.keep_loops || one != other;
    let edges: Vec<((u64, u64), f64)> = edges
        .iter()
        .filter(|(pair, _)| kept(pair))
        .map(|(&pair, &weight)| (pair, weight))
        .collect();
    let total: f64 = edges.iter().map(|(_, weight)| 2.0 * weight).sum();
    let text = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.4}"));
    let row = |(&community, members): (&u64, &Vec<u64>)| {
        let is_inside = |node: &u64| members.contains(node);
        let (mut count, mut inner, mut outer) = (0u64, 0.0, 0.0);
        let (mut others, mut of_node) = (BTreeMap::new(), BTreeMap::new());
        for ((one, other), weight) in &edges {
            match (is_inside(one), is_inside(other)) {
                (true, true) => {
                    count += u64::from(one != other);
                    inner += weight;
                    *of_node.entry(*one).or_insert(0.0) += weight;
                    *of_node.entry(*other).or_insert(0.0) += weight;
                }
                (false, false) => {}
                (is_one, _) => {
                    outer += weight;
                    let beyond = if is_one { other } else { one };
                    if let Some(number) = number(*beyond) {
                        *others.entry(number).or_insert(0.0) += weight;
                    }
                }
            }
        }
        let size = members.len() as f64;
        let pairs = size * (size - 1.0) / if case.directed { 1.0 } else { 2.0 };
        let volume: f64 = 2.0 * inner + outer;
        let smaller = volume.min(total - volume);
        let most = others.values().copied().fold(0.0, f64::max);
        // Labels are the numbers: the first of several is the largest community.
        let neighbor = others.iter().find(|(_, weight)| **weight == most).filter(|_| most > 0.0);
        let mut row = vec![
            community.to_string(),
            members.len().to_string(),
            count.to_string(),
            text(Some(inner)),
            text(Some(outer)),
            text((size > 1.0).then(|| count as f64 / pairs)),
            text((smaller > 0.0).then(|| outer / smaller)),
        ];
        if case.stability {
            let sum: f64 = members
                .iter()
                .filter_map(|node| nodes.iter().find(|(name, ..)| name == node)?.2)
                .sum();
            row.push(format!("{:.3}", sum / size));
        }
        row.push(neighbor.map_or(String::new(), |(number, _)| number.to_string()));
        row.push(text(neighbor.map(|(_, weight)| *weight)));
        (community, row)
    };
    all.iter().map(row).collect()
}

/// Returns a row as text that can be compared, without the representative.
fn shown(case: &Case, row: &[String]) -> Vec<String> {
    let real = |text: &String| match text.parse::<f64>() {
        Ok(value) => format!("{value:.4}"),
        Err(_) => text.clone(),
    };
    let mut shown = vec![row[0].clone(), row[1].clone(), row[3].clone()];
    shown.extend(row[4..8].iter().map(real));
    let rest = if case.stability {
        shown.push(format!("{:.3}", row[8].parse::<f64>().unwrap()));
        &row[9..]
    } else {
        &row[8..]
    };
    shown.push(rest[0].clone());
    shown.push(real(&rest[1]));
    shown
}

#[test]
fn the_table_of_communities_equals_one_by_definition() {
    let mut random = Random(1);
    for at in 0..300 {
        let spec = &METHODS[at % METHODS.len()];
        let takes_directions = spec.method == Method::LabelPropagation;
        let case = Case {
            method: spec.method,
            directed: takes_directions && random.below(2) == 0,
            keep_loops: random.below(2) == 0,
            min_size: [1, 1, 3][random.below(3) as usize],
            small: [Small::Drop, Small::Singletons][random.below(2) as usize],
            stability: spec.method.is_multilevel() && random.below(3) == 0,
        };
        let edges = edges(&mut random, case.directed);
        let mut text = String::new();
        for ((one, other), weight) in &edges {
            text += &format!("{one}\t{other}\t{weight}\n");
        }
        let sim = run(&case, &text, (2, 256));
        let nodes: Vec<(u64, Option<u64>, Option<f64>)> = rows(&sim, OUTPUT)
            .iter()
            .map(|row| {
                // Thousandths of a share of three starts.
                let stability =
                    row.get(2).map(|text| (3.0 * text.parse::<f64>().unwrap()).round() / 3.0);
                (row[0].parse().unwrap(), Some(row[1].parse().unwrap()), stability)
            })
            .collect();
        let found = rows(&sim, SUMMARY);
        let expected = expected(&case, &edges, &nodes);
        assert_eq!(found[0][..3], ["community", "size", "representative"], "{at}");
        let found: BTreeMap<u64, Vec<String>> =
            found[1..].iter().map(|row| (row[0].parse().unwrap(), shown(&case, row))).collect();
        assert_eq!(found, expected, "case {at}, {}: {text}", spec.name);
        let again = run(&case, &text, (1, 128));
        assert_eq!(again.get(SUMMARY), sim.get(SUMMARY), "case {at}");
    }
}

#[test]
fn the_outline_equals_the_table() {
    let mut random = Random(2);
    for at in 0..60 {
        let spec = &METHODS[at % METHODS.len()];
        let edges = edges(&mut random, false);
        let text: String = edges
            .iter()
            .map(|((one, other), weight)| format!("{one}\t{other}\t{weight}\n"))
            .collect();
        let sim = storage_of(&text);
        let files = files_of(&sim);
        let source = Source::Edges(Box::new(options(2, 256 * MIB)));
        let clustering = ClusterOptions { method: spec.method, ..ClusterOptions::default() };
        let present = PresentOptions {
            outline: true,
            sides: SideFiles {
                summary: Some(Path::new(SUMMARY).to_path_buf()),
                ..Default::default()
            },
            ..PresentOptions::default()
        };
        let output = Path::new(OUTPUT);
        let job =
            || job::cluster_and_present(&files, &source, &clustering, &present, output, &Silent);
        let found = job().unwrap().communities.unwrap().described.largest.unwrap();
        let number: BTreeMap<String, u64> = rows(&sim, OUTPUT)
            .into_iter()
            .map(|row| (row[0].clone(), row[1].parse().unwrap()))
            .collect();
        let table = rows(&sim, SUMMARY);
        assert_eq!(found.communities.len(), table.len() - 1);
        for (community, row) in found.communities.iter().zip(&table[1..]) {
            let row: Vec<&str> = row.iter().map(String::as_str).collect();
            assert_eq!(row[0], community.community.to_string());
            assert_eq!(row[1], community.size.to_string());
            assert_eq!(row[2], community.representative);
            assert_eq!(community.members[0], community.representative);
            assert_eq!(community.members.len() as u64, community.size.min(12));
            let of = |name: &String| number[name] == community.community;
            assert!(community.members.iter().all(of));
            assert_eq!(row[5].parse::<f64>().unwrap(), community.outer_weight);
        }
        let mut links: BTreeMap<(u64, u64), f64> = BTreeMap::new();
        for ((one, other), weight) in &edges {
            let (one, other) = (number[&one.to_string()], number[&other.to_string()]);
            if one != other {
                *links.entry((one.min(other), one.max(other))).or_insert(0.0) += weight;
            }
        }
        let of = |link: &job::CommunityLink| ((link.source, link.target), link.weight);
        assert_eq!(found.links.iter().map(of).collect::<BTreeMap<_, _>>(), links, "case {at}");
    }
}
