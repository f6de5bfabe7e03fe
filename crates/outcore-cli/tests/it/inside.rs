//! Weights inside communities against a naive program, on generated graphs with and without directions and loops.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::common::{run, stderr};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Edges between small numbers, with whole weights, so that sums are exact.
fn edges(seed: u64) -> Vec<(u64, u64, u64)> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |bound: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let (nodes, count) = (4 + below(12), 6 + below(30));
    let mut any = || (below(nodes), below(nodes), 1 + below(6));
    let mut all: Vec<_> = (0..count).map(|_| any()).collect();
    // Loops, the heaviest of all.
    all.extend((0..nodes / 3).map(|node| (node, node, 20 + node)));
    all
}

/// What a naive program finds.
struct Naive {
    order: Vec<u64>,
    community: BTreeMap<u64, u64>,
    /// Weight of each edge, from its smaller end to its larger one without directions.
    merged: BTreeMap<(u64, u64), u64>,
}

impl Naive {
    fn new(edges: &[(u64, u64, u64)], directed: bool, keep: bool, written: &str) -> Self {
        let (mut order, mut seen, mut merged) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
        for &(a, b, weight) in edges {
            order.extend([a, b].into_iter().filter(|node| seen.insert(*node)));
            let ends = if directed { (a, b) } else { (a.min(b), a.max(b)) };
            if a != b || keep {
                *merged.entry(ends).or_default() += weight;
            }
        }
        let fields = written.lines().map(|line| line.split('\t').map(|one| one.parse().unwrap()));
        let community = fields.map(|mut row| (row.next().unwrap(), row.next().unwrap())).collect();
        Self { order, community, merged }
    }

    fn inside(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let all = self.merged.iter().map(|(&(a, b), &weight)| (a, b, weight));
        all.filter(|(a, b, _)| self.community[a] == self.community[b])
    }

    /// Weight of the edges at a node inside its community, each once.
    fn weight(&self, node: u64, with_loop: bool) -> u64 {
        let at =
            self.inside().filter(|&(a, b, _)| (a == node || b == node) && (with_loop || a != b));
        at.map(|(_, _, weight)| weight).sum()
    }

    fn members(&self, community: u64) -> impl Iterator<Item = u64> {
        self.order.iter().copied().filter(move |node| self.community[node] == community)
    }

    /// The node with the most weight to others: the first of equal ones.
    fn representative(&self, community: u64) -> u64 {
        let best = |best: u64, node: u64| {
            if self.weight(node, false) > self.weight(best, false) { node } else { best }
        };
        self.members(community).reduce(best).unwrap()
    }

    /// Columns of the table of communities: size, representative, edges and weight inside, weight to the outside.
    fn row(&self, community: u64) -> String {
        let own: Vec<_> =
            self.inside().filter(|(a, _, _)| self.community[a] == community).collect();
        let edges = own.iter().filter(|(a, b, _)| a != b).count();
        let weight: u64 = own.iter().map(|(_, _, weight)| weight).sum();
        let is_own = |node: &u64| self.community[node] == community;
        let leaves = self.merged.iter().filter(|((a, b), _)| is_own(a) != is_own(b));
        let outer: u64 = leaves.map(|(_, weight)| weight).sum();
        let (size, head) = (self.members(community).count(), self.representative(community));
        format!("{community}\t{size}\t{head}\t{edges}\t{weight}\t{outer}")
    }
}

fn check(base: &Path, edges: &[(u64, u64, u64)], directed: bool, keep: bool, method: &str) {
    let mut text = String::new();
    edges.iter().for_each(|(a, b, weight)| writeln!(text, "{a}\t{b}\t{weight}").unwrap());
    fs::write(base.join("e.tsv"), &text).unwrap();
    let mut args = vec!["cluster", "e.tsv", "-o", "c.tsv", "-q", "-t", "1", "-m", "128MiB"];
    args.extend(["--member-weights", "--representatives", "r.tsv", "--keep", "k.txt"]);
    args.extend(["--output-header", "--summary", "s.tsv", "--method", method]);
    args.extend(directed.then_some("--directed"));
    args.extend(keep.then_some(["--self-loops", "keep"]).into_iter().flatten());
    let done = run(base, &args);
    assert!(done.status.success(), "{text}{}", stderr(&done));
    let read = |name: &str| fs::read_to_string(base.join(name)).unwrap();
    let without_header = |name: &str| read(name).split_once('\n').unwrap().1.to_owned();
    let written = without_header("c.tsv");
    let naive = Naive::new(edges, directed, keep, &written);
    let what = format!("directed {directed}, loops {keep}, {method}\n{text}");
    for line in written.lines() {
        let row: Vec<u64> = line.split('\t').map(|field| field.parse().unwrap()).collect();
        assert_eq!(row[2], naive.weight(row[0], true), "weight of {}, {what}", row[0]);
    }
    let all: BTreeSet<u64> = naive.community.values().copied().collect();
    let of_each =
        |row: &dyn Fn(u64) -> String| -> Vec<String> { all.iter().map(|&c| row(c)).collect() };
    let found: Vec<String> = without_header("r.tsv").lines().map(str::to_owned).collect();
    let size = |community| naive.members(community).count();
    let heads = of_each(&|c| format!("{c}\t{}\t{}", naive.representative(c), size(c)));
    assert_eq!(found, heads, "representatives, {what}");
    let kept: BTreeSet<u64> =
        without_header("k.txt").lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(kept, all.iter().map(|&c| naive.representative(c)).collect(), "keep, {what}");
    let rows = without_header("s.tsv");
    let rows: Vec<String> =
        rows.lines().map(|line| line.split('\t').take(6).collect::<Vec<_>>().join("\t")).collect();
    assert_eq!(rows, of_each(&|c| naive.row(c)), "summary, {what}");
}

fn compare_with_naive_program(seeds: std::ops::Range<u64>) {
    let directory = tempfile::tempdir().unwrap();
    for seed in seeds {
        let edges = edges(seed);
        let method = ["components", "modularity", "label-propagation"][seed as usize % 3];
        for directed in [false, true] {
            for keep in [false, true] {
                check(directory.path(), &edges, directed, keep, method);
            }
        }
    }
}

#[test]
fn weights_inside_communities_are_those_of_a_naive_program() {
    compare_with_naive_program(0..12);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn weights_inside_communities_of_many_graphs_are_those_of_a_naive_program() {
    compare_with_naive_program(12..100);
}
