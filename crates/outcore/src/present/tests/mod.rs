//! Compares presented communities with definitions in memory, on generated labels and graphs.

mod levels;

use super::presentation_rows::{NamePiece, Overlap, SortedNames};
use super::*;
use crate::graph::{ArcRecord, Duplicates, Graph, GraphOptions, GraphWriter, NamesWriter};
use crate::io::Files;
use crate::output::RowFile;
use crate::progress::Silent;
use crate::sort::{Record, Row};
use crate::units::MIB;
use crate::weight::Weight;
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

const NONE: u32 = Presented::NONE;

pub(super) fn files() -> Files {
    Files::new(Arc::new(Sim::new()))
}

pub(super) fn bench(files: &Files, budget: u64) -> Workbench<'_> {
    files.create_directory(Path::new("scratch")).unwrap();
    Workbench { files, scratch: Path::new("scratch"), budget, threads: 2, observer: &Silent }
}

fn sizes(of: &[(u32, u64)]) -> Vec<SizeCount> {
    of.iter().map(|&(size, count)| SizeCount { size, count }).collect()
}

/// Numbers labels as a clustering does: the largest community is 0; ties go to the one with the smallest node.
pub(super) fn numbered(labels: &[u32]) -> (Vec<u32>, Vec<SizeCount>) {
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    labels
        .iter()
        .enumerate()
        .for_each(|(node, &label)| members.entry(label).or_default().push(node));
    let mut members: Vec<_> = members.into_values().collect();
    members.sort_by_key(|nodes| (std::cmp::Reverse(nodes.len()), nodes[0]));
    let mut labels = vec![0; labels.len()];
    let mut counts: Vec<(u32, u64)> = Vec::new();
    for (label, nodes) in members.iter().enumerate() {
        nodes.iter().for_each(|&node| labels[node] = label as u32);
        match counts.last_mut().filter(|count| count.0 as usize == nodes.len()) {
            Some(count) => count.1 += 1,
            None => counts.push((nodes.len() as u32, 1)),
        }
    }
    (labels, sizes(&counts))
}

pub(super) fn presented(labels: &[u32], min_size: u32, small: Small) -> Presented {
    let (labels, sizes) = numbered(labels);
    Presented::new(Column::Memory(labels), sizes, min_size, small)
}

#[test]
fn small_communities_are_left_out_or_become_singletons() {
    let labels = [0, 2, 1, 0, 1, 0, 3, 2];
    let all = presented(&labels, 1, Small::Drop);
    assert_eq!((all.labels(), all.small_nodes), ([0, 1, 2, 0, 2, 0, 3, 1].as_slice(), 0));
    let dropped = presented(&labels, 3, Small::Drop);
    assert_eq!(dropped.labels(), [0, NONE, NONE, 0, NONE, 0, NONE, NONE]);
    assert_eq!((dropped.small_communities, dropped.small_nodes), (3, 5));
    assert_eq!((dropped.community_count(), dropped.number(1)), (1, None));
    let apart = presented(&labels, 3, Small::Singletons);
    assert_eq!(apart.labels(), [0, 1, 2, 0, 3, 0, 4, 5]);
    assert_eq!((apart.sizes, apart.small_nodes), (sizes(&[(3, 1), (1, 5)]), 5));
    let nothing = presented(&labels, 4, Small::Drop);
    assert_eq!((nothing.community_count(), nothing.small_nodes), (0, 8));
}

/// Returns an earlier result as it is read, with labels in order of their first node.
fn earlier(files: &Files, old: &[Option<u64>], unseen: Option<u64>) -> Earlier {
    let mut numbers: Vec<u64> = Vec::new();
    let label = |number: &Option<u64>| {
        let Some(number) = *number else { return NONE };
        let found = numbers.iter().position(|&known| known == number);
        found.unwrap_or_else(|| {
            numbers.push(number);
            numbers.len() - 1
        }) as u32
    };
    let labels: Vec<u32> = old.iter().map(label).collect();
    let membership = Membership {
        has_paths: false,
        community_count: numbers.len() as u64,
        named: old.iter().flatten().count() as u64,
        unknown: 0,
        largest_number: numbers.iter().copied().max().max(unseen),
        labels,
        numbers,
    };
    Earlier::set_aside(files, Path::new("earlier"), &membership).unwrap()
}

/// Returns the number of each node's community, and how many communities keep an earlier number.
fn matched(
    new: &[u32],
    old: &[Option<u64>],
    unseen: Option<u64>,
    budget: u64,
) -> (Vec<Option<u64>>, u64) {
    let files = files();
    let mut presented = presented(new, 1, Small::Drop);
    let earlier = earlier(&files, old, unseen);
    let kept = match_numbers(&bench(&files, budget), &mut presented, &earlier).unwrap();
    ((0..new.len()).map(|node| presented.number(node)).collect(), kept)
}

#[test]
fn communities_keep_the_number_of_most_of_their_nodes() {
    // The largest takes 7, with which it shares three nodes; the second takes the remaining 4; the third takes none.
    let new = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3];
    let old = [
        Some(7),
        Some(7),
        Some(7),
        Some(4),
        Some(4),
        Some(7),
        Some(7),
        Some(4),
        None,
        None,
        Some(7),
    ];
    let (numbers, kept) = matched(&new, &old, None, 40 * MIB);
    let expected = [7, 7, 7, 7, 7, 4, 4, 4, 8, 8, 9].map(Some);
    assert_eq!((numbers.as_slice(), kept), (expected.as_slice(), 2));
    // A number that no node of the graph has any more is not reused.
    let (numbers, _) = matched(&new, &old, Some(20), 40 * MIB);
    assert_eq!(numbers[8..], [21, 21, 22].map(Some));
}

#[test]
fn ties_go_to_the_smaller_number_then_to_the_larger_community() {
    let (numbers, _) = matched(&[0, 0], &[Some(9), Some(3)], None, 40 * MIB);
    assert_eq!(numbers, [Some(3), Some(3)]);
    let (numbers, _) = matched(&[1, 0, 0], &[Some(5), Some(5), None], None, 40 * MIB);
    assert_eq!(numbers, [6, 5, 5].map(Some));
}

/// Definition of the matching: takes the best free pair repeatedly.
fn greedy(new: &[u32], old: &[Option<u64>]) -> (Vec<Option<u64>>, u64) {
    let (labels, sizes) = numbered(new);
    let mut shared: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    for (&label, &number) in labels.iter().zip(old) {
        if let Some(number) = number {
            *shared.entry((label, number)).or_default() += 1;
        }
    }
    let mut numbers: BTreeMap<u32, u64> = BTreeMap::new();
    loop {
        let taken: BTreeSet<u64> = numbers.values().copied().collect();
        let free = shared
            .iter()
            .filter(|((label, number), _)| !numbers.contains_key(label) && !taken.contains(number));
        let best = free
            .min_by_key(|&(&(label, number), &count)| (std::cmp::Reverse(count), number, label));
        let Some((&(label, number), _)) = best else { break };
        numbers.insert(label, number);
    }
    let kept = numbers.len() as u64;
    let mut next = old.iter().flatten().max().map_or(0, |largest| largest + 1);
    for label in 0..sizes.iter().map(|size| size.count as u32).sum() {
        numbers.entry(label).or_insert_with(|| {
            next += 1;
            next - 1
        });
    }
    (labels.iter().map(|label| Some(numbers[label])).collect(), kept)
}

/// With more nodes than the smallest sorts hold, so that runs and memory are compared.
#[test]
fn numbers_are_independent_of_memory() {
    let nodes = 400_000u32;
    let random = |i: u32, salt: u32| {
        i.wrapping_mul(2_654_435_761).wrapping_add(salt).rotate_left(9) % 50_000
    };
    let new: Vec<u32> = (0..nodes).map(|i| random(i, 1)).collect();
    let old: Vec<Option<u64>> =
        (0..nodes).map(|i| (i % 7 > 0).then(|| u64::from(random(i, i % 3) + 5))).collect();
    let small = matched(&new, &old, None, 2 * Workbench::BUDGET_MIN);
    assert!(small.1 > 0);
    assert_eq!(small, matched(&new, &old, None, 1 << 30));
}

/// Creates a graph of these edges, with short and long names.
fn graph(files: &Files, nodes: u32, edges: &[(u32, u32, f64)], directed: bool) -> Graph {
    let directory = Path::new("graph");
    let mut arcs = BTreeMap::new();
    for &(a, b, weight) in edges {
        arcs.insert((b, a), weight);
        if !directed {
            arcs.insert((a, b), weight);
        }
    }
    let options = GraphOptions {
        node_count: u64::from(nodes),
        directed,
        duplicates: Duplicates::Sum,
        keep_loops: true,
    };
    let record = |((source, target), weight)| ArcRecord {
        source,
        target,
        weight: Weight::new(weight).code(),
    };
    let records: Vec<ArcRecord> = arcs.into_iter().map(record).collect();
    let mut names = NamesWriter::create(files, directory).unwrap();
    (0..nodes).for_each(|node| names.push(name(node).as_bytes()).unwrap());
    names.finish().unwrap();
    let mut writer = GraphWriter::create(files, directory, &options).unwrap();
    writer.push(&records).unwrap();
    writer.finish().unwrap();
    Graph::open(files, directory).unwrap()
}

fn name(node: u32) -> String {
    let length = [1, 16, 17, 40][node as usize % 4];
    format!("{node}{}", "x".repeat(length))
}

fn representatives(files: &Files, graph: &Graph, presented: &Presented) -> String {
    let bench = bench(files, Workbench::BUDGET_MIN);
    let path = Path::new("representatives");
    let inside = Inside::of(&bench, graph, presented, false, None).unwrap();
    let file = RowFile::new(path, false);
    let bytes = write_representatives(&bench, graph, presented, &inside, file).unwrap();
    let text = files.read(path).unwrap();
    assert_eq!(text.len() as u64, bytes);
    String::from_utf8(text).unwrap()
}

#[test]
fn the_node_with_most_weight_to_others_represents_its_community() {
    let edges = [(0, 1, 1.0), (1, 2, 2.0), (0, 2, 1.0), (3, 4, 1.0), (4, 4, 0.5), (2, 3, 9.0)];
    let files = files();
    let graph = graph(&files, 6, &edges, false);
    let mut presented = presented(&[0, 0, 0, 1, 1, 2], 1, Small::Drop);
    let expected = format!("0\t{}\t3\n1\t{}\t2\n2\t{}\t1\n", name(1), name(3), name(5));
    assert_eq!(representatives(&files, &graph, &presented), expected);
    presented.numbers = vec![12, 2, 7];
    let expected = format!("2\t{}\t2\n7\t{}\t1\n12\t{}\t3\n", name(3), name(5), name(1));
    assert_eq!(representatives(&files, &graph, &presented), expected);
}

proptest! {
    #[test]
    fn matching_is_greedy(
        nodes in prop::collection::vec((0u32..8, prop::option::of(0u64..8)), 1..60),
    ) {
        let (new, old): (Vec<u32>, Vec<Option<u64>>) = nodes.into_iter().unzip();
        prop_assert_eq!(matched(&new, &old, None, 2 * Workbench::BUDGET_MIN), greedy(&new, &old));
    }

    #[test]
    fn representatives_are_the_first_of_the_strongest_nodes(
        labels in prop::collection::vec(0u32..5, 2..20),
        ends in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1u32..4), 1..40),
        min_size in 1u32..4,
        apart: bool,
        directed: bool,
    ) {
        let count = labels.len();
        let mut edges = BTreeMap::new();
        for (a, b, weight) in ends {
            let (a, b) = (a.index(count) as u32, b.index(count) as u32);
            let pair = if directed { (a, b) } else { (a.min(b), a.max(b)) };
            edges.insert(pair, f64::from(weight));
        }
        let edges: Vec<_> = edges.into_iter().map(|((a, b), w)| (a, b, w)).collect();
        let files = files();
        let graph = graph(&files, count as u32, &edges, directed);
        let small = if apart { Small::Singletons } else { Small::Drop };
        let presented = presented(&labels, min_size, small);
        let inside = |node: u32| -> f64 {
            let same = |other: u32| presented.labels()[node as usize] == presented.labels()[other as usize];
            let at = |&(a, b, weight): &(u32, u32, f64)| {
                // A loop leads to no other node.
                let other = if a == node { b } else { a };
                let is_inside = a != b && (a == node || b == node) && same(other);
                if is_inside { weight } else { 0.0 }
            };
            edges.iter().map(at).sum()
        };
        let mut expected = String::new();
        for label in 0..presented.community_count() as u32 {
            let members: Vec<u32> =
                (0..count as u32).filter(|&node| presented.labels()[node as usize] == label).collect();
            let most = members.iter().map(|&node| inside(node)).fold(0.0, f64::max);
            let first = members.iter().find(|&&node| inside(node) == most).unwrap();
            expected += &format!("{label}\t{}\t{}\n", name(*first), members.len());
        }
        prop_assert_eq!(representatives(&files, &graph, &presented), expected);
    }

    #[test]
    fn names_of_any_length_are_put_in_the_order_of_their_places(
        names in prop::collection::vec((0u64..5, 0u64..3, -1e9..1e9, prop::collection::vec(any::<u8>(), 0..70)), 0..60),
    ) {
        let files = files();
        let bench = bench(&files, Workbench::BUDGET_MIN);
        let mut sorter = bench.rows::<NamePiece>(1).unwrap();
        for (number, order, value, name) in &names {
            NamePiece::at(*number, *order, *value).add(name, &mut sorter).unwrap();
        }
        // A run holds pieces as they are encoded.
        sorter.as_words().set_aside().unwrap();
        let mut sorted = SortedNames::new(sorter).unwrap();
        let mut expected = names;
        expected.sort_by_key(|&(number, order, ..)| (number, order));
        for (number, order, value, name) in expected {
            let (place, found) = sorted.next().unwrap().unwrap();
            prop_assert_eq!((place.number, place.order, place.value, found), (number, order, value, &name[..]));
        }
        prop_assert!(sorted.next().unwrap().is_none());
    }

    #[test]
    fn overlaps_are_in_the_order_of_matching(
        numbers in prop::collection::vec((any::<u32>(), 0u64..1_000_000_000_000_000, any::<u32>()), 0..60),
    ) {
        let overlap = |&(shared, number, new): &(u32, u64, u32)| {
            Overlap { shared: Reverse(shared.into()), number, labels: [new, 0] }
        };
        let overlaps: Vec<Overlap> = numbers.iter().map(overlap).collect();
        let order = |a: &Overlap, b: &Overlap| {
            (b.shared.0, a.number).cmp(&(a.shared.0, b.number))
        };
        for pair in overlaps.windows(2) {
            prop_assert_eq!(pair[0].words().key().cmp(&pair[1].words().key()), order(&pair[0], &pair[1]));
        }
    }
}
