//! Well-connected communities, compared with the definition: smallest cuts by Stoer and Wagner, "A simple min-cut
//! algorithm", 1997, one cut at a time.

use super::prelude::*;
use crate::finish::cuts::separate::Separated;
use crate::score::{ScoreRoom, connectedness, quality};
use crate::tests::{Edges, PLENTY, POOLS, plain, scratch, some_edges};
use outcore_io::Cramped;
use outcore_io::progress::Silent;
use outcore_io::units::parse_bytes;
use outcore_testkit::cases;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the smallest cut, and the nodes on one side of it.
fn smallest_cut(nodes: &[u32], pairs: &BTreeSet<(u32, u32)>) -> (u64, BTreeSet<u32>) {
    let count = nodes.len();
    let joined = |a: u32, b: u32| pairs.contains(&(a.min(b), a.max(b)));
    let row = |a: &u32| nodes.iter().map(|b| u64::from(joined(*a, *b))).collect::<Vec<_>>();
    let mut weights: Vec<Vec<u64>> = nodes.iter().map(row).collect();
    let mut members: Vec<BTreeSet<u32>> = nodes.iter().map(|&node| [node].into()).collect();
    let mut left: Vec<usize> = (0..count).collect();
    let mut best = (u64::MAX, BTreeSet::new());
    while left.len() > 1 {
        let (mut order, mut rest) = (Vec::new(), left.clone());
        let mut reach = vec![0; count];
        while !rest.is_empty() {
            let at = (0..rest.len()).max_by_key(|&at| reach[rest[at]]).unwrap();
            let next = rest.swap_remove(at);
            order.push(next);
            rest.iter().for_each(|&node| reach[node] += weights[next][node]);
        }
        let (last, before) = (order[order.len() - 1], order[order.len() - 2]);
        let cut: u64 = left.iter().filter(|&&node| node != last).map(|&at| weights[last][at]).sum();
        if cut < best.0 {
            best = (cut, members[last].clone());
        }
        let moved = members[last].clone();
        members[before].extend(moved);
        let more = weights[last].clone();
        for (node, more) in more.into_iter().enumerate() {
            weights[before][node] += more;
            weights[node][before] += more;
        }
        left.retain(|&node| node != last);
    }
    best
}

/// Returns the parts of a community by the definition.
fn parts(nodes: Vec<u32>, pairs: &BTreeSet<(u32, u32)>, rule: WellConnected) -> Vec<Vec<u32>> {
    if nodes.len() == 1 {
        return vec![nodes];
    }
    let (least, _) = smallest_cut(&nodes, pairs);
    if least > rule.bound(nodes.len() as u64) {
        return vec![nodes];
    }
    let mut all = Vec::new();
    let mut waiting = vec![nodes];
    while let Some(nodes) = waiting.pop() {
        let (cut, side) = match nodes.len() {
            1 => (u64::MAX, BTreeSet::new()),
            _ => smallest_cut(&nodes, pairs),
        };
        if cut > least {
            all.extend(parts(nodes, pairs, rule));
        } else {
            let (here, there) = nodes.into_iter().partition(|node| side.contains(node));
            waiting.extend([here, there]);
        }
    }
    all
}

/// Returns the nodes of each community, and the pairs of nodes with an edge.
fn members(labels: &[u32], edges: &Edges) -> (Vec<Vec<u32>>, BTreeSet<(u32, u32)>) {
    let pairs = edges.arcs().into_keys().filter(|(a, b)| a != b);
    let pairs = pairs.map(|(a, b)| (a.min(b), a.max(b))).collect();
    let mut communities: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    (0..).zip(labels).for_each(|(node, label)| communities.entry(*label).or_default().push(node));
    (communities.into_values().collect(), pairs)
}

/// Returns the number of well-connected communities of more than one node.
fn well_connected(labels: &[u32], edges: &Edges, rule: WellConnected) -> u64 {
    let (communities, pairs) = members(labels, edges);
    let several = communities.iter().filter(|nodes| nodes.len() > 1);
    let is_well =
        |nodes: &&Vec<u32>| smallest_cut(nodes, &pairs).0 > rule.bound(nodes.len() as u64);
    several.filter(is_well).count() as u64
}

/// Returns the well-connected parts of communities, with their final numbers, and how many were split into how many.
fn separated(labels: &[u32], edges: &Edges, rule: WellConnected) -> (Vec<u32>, Separated) {
    let (communities, pairs) = members(labels, edges);
    let mut all = Vec::new();
    let mut counts = Separated::default();
    for nodes in communities {
        let parts = parts(nodes, &pairs, rule);
        if parts.len() > 1 {
            counts.split_count += 1;
            counts.part_count += parts.len() as u64;
        }
        all.extend(parts);
    }
    all.sort_by_key(|nodes| (usize::MAX - nodes.len(), nodes.iter().min().copied()));
    let mut numbers = vec![0; labels.len()];
    for (number, nodes) in (0..).zip(all) {
        nodes.into_iter().for_each(|node| numbers[node as usize] = number);
    }
    (numbers, counts)
}

fn of(method: Method, text: &str) -> ClusterOptions {
    let well_connected = Some(text.parse().unwrap());
    let resolution = vec![if method == Method::Cpm { 0.2 } else { 1.0 }];
    ClusterOptions { method, resolution, well_connected, trials: None, ..plain() }
}

/// Returns the graph with a limit on the edges of a community in memory.
fn cramped(graph: &Graph, community_edges: usize) -> Graph {
    let cramped = Cramped { community_edges, kept_bytes: 0, ..graph.files().cramped() };
    Graph::open(&graph.files().with_cramped(cramped), graph.directory()).unwrap()
}

proptest! {
    #![proptest_config(cases(150))]

    /// Holds for any memory and threads, with communities in memory or larger than it, and for the measures.
    #[test]
    fn communities_are_the_parts_of_the_definition(
        edges in some_edges(),
        most in 2..40u32,
        form in 0..5usize,
        text in prop::sample::select(vec!["log10", "2log10", "log2", "sqrt", "0.2n", "0", "1", "3"]),
        min_weight in prop_oneof![2 => Just(0.0), 1 => Just(1.0)],
        community_edges in prop_oneof![Just(0usize), 1..60usize],
    ) {
        let method = METHODS[form].method;
        let count = edges.node_count.min(most);
        let few = edges.edges.iter().take(12 * count as usize);
        let edges = Edges {
            node_count: count,
            directed: edges.directed && !method.is_multilevel(),
            edges: few.map(|&(a, b, weight)| (a % count, b % count, weight)).collect(),
        };
        let options = ClusterOptions { min_weight, ..of(method, text) };
        let graph = edges.graph();
        let find = |options: &ClusterOptions, graph: &Graph, pool: usize, is_tight: bool| {
            POOLS[pool].install(|| {
                let least = options.memory(graph, 0, rayon::current_num_threads()).total_bytes();
                let memory = if is_tight { least } else { PLENTY };
                cluster(graph, options, memory, scratch(), &Silent).unwrap()
            })
        };
        let before = find(&ClusterOptions { well_connected: None, ..options.clone() }, &graph, 0, false);
        let heavy = edges.heavier_than(min_weight);
        let rule = options.well_connected.unwrap();
        let (expected, counts) = separated(before.labels(), &heavy, rule);
        let found = find(&options, &graph, 1, false);
        prop_assert_eq!(found.labels(), &expected);
        // Those that were not connected count, too.
        let split = found.separated.unwrap().split_count;
        let all = counts.split_count..=counts.split_count + before.split_count;
        prop_assert!(all.contains(&split) && found.split_count == 0, "{split} of {all:?}");
        if min_weight == 0.0 {
            let tight = cramped(&graph, community_edges);
            let room = ScoreRoom { memory_bytes: PLENTY, scratch: scratch() };
            let rated = connectedness(&tight, before.labels(), rule, room, &Silent).unwrap();
            prop_assert_eq!(rated.well_connected_count, well_connected(before.labels(), &heavy, rule));
        }
        let rated = quality(&heavy.graph(), found.labels(), &Silent).unwrap();
        prop_assert!((rated.modularity - found.measures.modularity).abs() < 1e-9);
        prop_assert!((rated.coverage - found.measures.coverage).abs() < 1e-9);
        if let Some(length) = found.measures.code_length {
            prop_assert!((rated.code_length.unwrap() - length).abs() < 1e-9);
        }
        let tight = cramped(&graph, community_edges);
        for (graph, pool, is_tight) in [(&graph, 0, true), (&tight, 2, true), (&tight, 0, false)] {
            let again = find(&options, graph, pool, is_tight);
            prop_assert_eq!(&again.with_scans(found.history.sweeps.scans), &found);
        }
    }
}

/// The community, a ring of close neighbors around a hub, has too many nodes for the least memory. The sweeps are not
/// repeated.
#[test]
fn a_community_that_is_too_large_is_refused_with_the_memory_that_suffices() {
    let count = 60_000;
    let ring = |node: u32| (1..9).map(move |step| (node, (node + step) % count, 1.0));
    let spokes = (0..count).map(|node| (node, count, 100.0));
    let edges = (0..count).flat_map(ring).chain(spokes).collect();
    let graph = Edges { node_count: count + 1, directed: false, edges }.graph();
    for method in [Method::Components, Method::LabelPropagation, Method::MapEquation] {
        let options = of(method, "log10");
        let find = |memory: u64| {
            let given = GivenLabels::default();
            POOLS[1].install(|| cluster_from(&graph, &options, given, memory, scratch(), &Silent))
        };
        let needed = || options.min_memory(&graph, 0, rayon::current_num_threads());
        let least = POOLS[1].install(|| needed().total_bytes());
        let expected = find(PLENTY).unwrap();
        assert_eq!(expected.largest(), u64::from(count) + 1, "{method:?}");
        let error = find(least).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
        let hint = error.hint_text().unwrap();
        let words = hint.split(|c: char| !c.is_ascii_alphanumeric());
        let typed = words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let typed = typed.filter_map(|word| parse_bytes(word).ok()).max().unwrap();
        assert!(typed > least && typed < PLENTY / 4, "{hint}");
        let found = find(typed).unwrap();
        assert_eq!(found.history.resumed_sweeps, expected.history.sweeps.count);
        let history = History { resumed_sweeps: 0, ..found.history.clone() };
        let found = Communities { history, ..found };
        assert_eq!(found.with_scans(expected.history.sweeps.scans), expected);
    }
}
