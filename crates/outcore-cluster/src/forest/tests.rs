//! Components at every threshold, compared with a naive union-find.

use super::{Forest, ForestPlace, JoinPlace, number_components};
use crate::finish::number::SizeCount;
use crate::methods::options::ClusterOptions;
use crate::methods::table::Method;
use crate::methods::thresholds::Ladder;
use outcore_graph::ArcRecord;
use outcore_graph::weight::Weight;
use outcore_io::checkpoint::{Checkpoint, StateReader, StateWriter};
use outcore_io::progress::Silent;
use outcore_io::{Cramped, Files};
use outcore_sort::{SORT_BYTES_MIN, Sorter};
use outcore_testkit::sim::Sim;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Weights of which many are equal.
const WEIGHTS: [f64; 7] = [0.1, 0.25, 0.5, 0.5, 0.9, 1.0, 3.0];

/// Returns the smallest node of each node's component by edges of at least the weight `code`.
fn naive(count: u32, edges: &[ArcRecord], code: u32) -> Vec<u32> {
    let mut first: Vec<u32> = (0..count).collect();
    for edge in edges.iter().filter(|edge| edge.weight >= code) {
        let (a, b) = (first[edge.source as usize], first[edge.target as usize]);
        first.iter_mut().filter(|f| **f == a.max(b)).for_each(|f| *f = a.min(b));
    }
    first
}

/// Numbers components by size, then by their first nodes.
fn numbered(first: &[u32]) -> Vec<u32> {
    let size = |root: u32| first.iter().filter(|&&f| f == root).count();
    let mut roots: Vec<u32> = (0..).zip(first).filter(|(n, f)| n == *f).map(|(n, _)| n).collect();
    roots.sort_by_key(|&root| (std::cmp::Reverse(size(root)), root));
    first.iter().map(|f| roots.iter().position(|root| root == f).unwrap() as u32).collect()
}

/// Returns the forest of edges that are passed in batches of `size`, with nodes added as they appear.
fn forest(count: u32, edges: &[ArcRecord], ladder: Ladder, size: usize) -> Forest {
    let mut forest = Forest::new(ladder, 1 << 20);
    join_all(&mut forest, count, edges, size);
    forest
}

fn join_all(forest: &mut Forest, count: u32, edges: &[ArcRecord], size: usize) {
    for batch in edges.chunks(size) {
        let most = batch.iter().map(|edge| edge.source.max(edge.target)).max().unwrap_or(0);
        forest.grow(u64::from(most + 1));
        let mut batch = batch.to_vec();
        forest.drop_joined(&mut batch);
        forest.join(&batch).unwrap();
    }
    forest.grow(count.into());
}

/// Returns files in memory, where forests have room for so many nodes.
fn files(forest_nodes: u64) -> Files {
    Files::new(Arc::new(Sim::new())).with_cramped(Cramped { forest_nodes, ..Cramped::NOT })
}

/// Memory of forests.
fn place(files: &Files) -> JoinPlace<'_> {
    let runs = Path::new("runs");
    JoinPlace { files, runs, node_bytes: 1 << 20, sort_bytes: SORT_BYTES_MIN, threads: 1 }
}

/// Returns the components at a threshold, and their sizes.
fn components(forest: &Forest, code: u32) -> (Vec<u32>, Vec<SizeCount>) {
    let mut roots = Vec::new();
    for node in 0..forest.node_count() as usize {
        forest.put_roots(code, node..node + 1, &mut roots);
    }
    number_components(roots.into_iter().map(AtomicU32::new).collect())
}

fn edges() -> impl Strategy<Value = (u32, Vec<ArcRecord>)> {
    (1u32..60).prop_flat_map(|count| {
        let edge = (0..count, 0..count, prop::sample::select(&WEIGHTS[..]));
        let edge = edge.prop_map(|(source, target, weight)| ArcRecord {
            source,
            target,
            weight: Weight::new(weight).code(),
        });
        (Just(count), prop::collection::vec(edge, 0..150))
    })
}

/// Components at a threshold as the order of a dendrogram gives them: the smallest node of each node's.
fn cut(positions: &[u32], codes: &[u32], code: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    order.sort_by_key(|&node| positions[node as usize]);
    let mut first = vec![0; order.len()];
    let mut starts = Vec::new();
    for (at, &node) in order.iter().enumerate() {
        if at == 0 || codes[node as usize] < code {
            starts.push(at);
        }
    }
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(order.len());
        let smallest = *order[start..end].iter().min().unwrap();
        order[start..end].iter().for_each(|&node| first[node as usize] = smallest);
    }
    first
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn components_at_every_threshold_are_those_of_union_find((count, edges) in edges(), size in 1usize..40) {
        let steps: Vec<u32> = [3.0, 0.9, 0.5, 0.1].map(|step| Weight::new(step).code()).to_vec();
        let all = naive(count, &edges, 0);
        prop_assert_eq!(number_components(forest(count, &edges, Ladder::One, size).into_roots()).0, numbered(&all));
        let ladder = forest(count, &edges, Ladder::Steps(steps.clone()), size);
        let heights = forest(count, &edges, Ladder::Heights, size);
        for &step in &steps {
            let expected = numbered(&naive(count, &edges, step));
            prop_assert_eq!(components(&ladder, step).0, expected.clone());
            prop_assert_eq!(components(&heights, step).0, expected.clone());
        }
        let files = files(u64::MAX);
        let sorter = Sorter::new(&files, Path::new(""), SORT_BYTES_MIN, 1).unwrap();
        let found = heights.into_dendrogram(sorter, || Ok(())).unwrap().unwrap();
        for weight in WEIGHTS {
            let code = Weight::new(weight).code();
            let expected = naive(count, &edges, code);
            prop_assert_eq!(&cut(&found.positions, &found.codes, code), &expected);
        }
        prop_assert_eq!(cut(&found.positions, &found.codes, 1), all);
        // The order of the edges does not matter.
        let mut reversed = edges.clone();
        reversed.reverse();
        let again = forest(count, &reversed, Ladder::Heights, count as usize);
        let sorter = Sorter::new(&files, Path::new(""), SORT_BYTES_MIN, 1).unwrap();
        prop_assert_eq!(again.into_dendrogram(sorter, || Ok(())).unwrap().unwrap(), found);
    }

    #[test]
    fn a_saved_forest_is_the_same((count, edges) in edges(), cut in any::<prop::sample::Index>()) {
        let steps: Vec<u32> = [0.9, 0.5].map(|step| Weight::new(step).code()).to_vec();
        let (files, path) = (files(u64::MAX), Path::new("saved"));
        for ladder in [Ladder::One, Ladder::Steps(steps.clone()), Ladder::Heights] {
            let (before, after) = edges.split_at(cut.index(edges.len() + 1));
            let mut first = forest(count, before, ladder.clone(), 10);
            let mut to = StateWriter::create(&files, path).unwrap();
            let state = first.save(&mut to).unwrap();
            to.finish().unwrap();
            let mut from = StateReader::open(&files, path).unwrap();
            let mut second = Forest::resume(&state, &mut from, place(&files)).unwrap();
            from.finish().unwrap();
            second.join(after).unwrap();
            let whole = forest(count, &edges, ladder, 7);
            for &step in &steps {
                prop_assert_eq!(components(&second, step), components(&whole, step));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Nodes beyond memory change nothing, nor does saving the forest on the way.
    #[test]
    fn components_in_ranges_are_the_same(
        (count, edges) in edges(),
        room in 1u64..30,
        size in 1usize..40,
        cut in any::<prop::sample::Index>(),
    ) {
        let values = vec![0.5, 3.0, 0.9];
        let options = ClusterOptions {
            method: Method::Components,
            thresholds: values.clone(),
            ..ClusterOptions::default()
        };
        let one = ClusterOptions { thresholds: Vec::new(), ..options.clone() };
        for options in [options, one] {
            let ladder = options.forest_ladder().unwrap_or(Ladder::One);
            let (files, path) = (files(room), Path::new("saved"));
            let (before, after) = edges.split_at(cut.index(edges.len() + 1));
            let mut forest = Forest::create(ladder, place(&files)).unwrap();
            join_all(&mut forest, 1, before, size);
            let mut to = StateWriter::create(&files, path).unwrap();
            let state = forest.save(&mut to).unwrap();
            to.finish().unwrap();
            let mut from = StateReader::open(&files, path).unwrap();
            let mut forest = Forest::resume(&state, &mut from, place(&files)).unwrap();
            join_all(&mut forest, count, after, size);
            let scratch = Path::new("scratch");
            let place = ForestPlace { files: &files, scratch, memory: 64 << 20, observer: &Silent };
            let (found, _) = forest.find(&options, place).unwrap();
            for (found, &code) in found.iter().zip(&options.threshold_codes()) {
                let labels = found.labels.clone().into_memory(&files).unwrap();
                prop_assert_eq!(labels, numbered(&naive(count, &edges, code)));
            }
        }
    }
}

/// A path whose edges come from the lightest to the heaviest would be as deep as it is long without priorities.
#[test]
fn paths_stay_short_in_any_order() {
    let count = 200_000u32;
    let edge = |node: u32| ArcRecord { source: node, target: node + 1, weight: node + 1 };
    let mut forest = Forest::new(Ladder::Heights, 8 << 20);
    forest.grow(count.into());
    for first in (0..count - 1).step_by(1000) {
        let batch: Vec<_> = (first..(first + 1000).min(count - 1)).map(edge).collect();
        forest.join(&batch).unwrap();
    }
    let (labels, sizes) = components(&forest, count / 2);
    assert_eq!((sizes[0].size, sizes.len()), (count - count / 2 + 1, 2));
    assert_eq!(labels[count as usize - 1], 0);
}
