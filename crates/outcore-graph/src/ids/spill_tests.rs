//! Tests of numbering in shares on disk, on simulated storage.

use super::spill::{NameRoom, Spill};
use super::tests::{chunk, name};
use super::*;
use outcore_io::Files;
use outcore_testkit::sim::{Fault, Sim};
use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// Result of numbering: the index of each name of an edge, all names in index order, and how many of them are only in
/// the list.
type NumberingOutcome = (Vec<u32>, Vec<Vec<u8>>, usize);

/// Numbers the names of edges and of a node list; the index is full after `known` names.
fn number_all(
    sim: &Sim,
    edges: &[Vec<u8>],
    listed: &[Vec<u8>],
    known: usize,
    (bytes, threads): (u64, usize),
) -> Result<NumberingOutcome> {
    let files = Files::new(Arc::new(sim.clone()));
    let (mut indexes, mut names, mut listed_only) = (Vec::new(), Vec::new(), 0);
    let mut index = NodeIndex::new(threads, 1 << 20, 1 << 18);
    let (first, rest) = edges.split_at(known);
    let mut found = Vec::new();
    index.resolve(&[chunk(first)], &mut indexes, |name| {
        names.push(name.to_vec());
        Ok(())
    })?;
    found.extend_from_slice(&indexes[0]);
    let (room, expected) = (NameRoom::new(bytes, threads), Some(edges.len() as u64));
    let mut spill = Spill::new(index, &files, Path::new("names"), room, expected)?;
    let chunks: Vec<EdgeChunk> = rest.chunks(14).map(chunk).collect();
    chunks.chunks(3).try_for_each(|chunks| spill.take_edges(chunks))?;
    listed.chunks(10).try_for_each(|names| spill.take_names(&[chunk(names)]))?;
    let mut edges = spill.finish(room, &|| Ok(()), |of_edge, name| {
        listed_only += usize::from(!of_edge);
        names.push(name.to_vec());
        Ok(())
    })?;
    assert_eq!(edges.node_count(), names.len() as u64);
    let (mut batch, mut weights) = (Vec::new(), Vec::new());
    loop {
        edges.next(5, &mut batch, &mut weights)?;
        if batch.is_empty() {
            break;
        }
        assert_eq!(batch.len(), 2 * weights.len());
        found.extend_from_slice(&batch);
    }
    edges.discard();
    Ok((found, names, listed_only))
}

fn by_map(edges: &[Vec<u8>], listed: &[Vec<u8>]) -> NumberingOutcome {
    let mut known: HashMap<&[u8], u32> = HashMap::new();
    let (mut found, mut names) = (Vec::new(), Vec::new());
    for (at, name) in edges.iter().chain(listed).enumerate() {
        let next = known.len() as u32;
        let index = *known.entry(name).or_insert(next);
        if index == next {
            names.push(name.clone());
        }
        if at < edges.len() {
            found.push(index);
        }
    }
    let of_edges = found.iter().max().map_or(0, |most| *most as usize + 1);
    let listed_only = names.len() - of_edges;
    (found, names, listed_only)
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    static POOLS: LazyLock<[ThreadPool; 3]> = LazyLock::new(|| {
        [1, 2, 3].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
    });
    POOLS[threads - 1].install(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Memory fits all names, or only sixteen, so that shares are divided repeatedly.
    #[test]
    fn indexes_are_those_of_a_map(
        edges in prop::collection::vec((name(), name()), 0..700),
        listed in prop::collection::vec(name(), 0..60),
        known in 0.0..1.0f64,
        bytes in prop_oneof![Just(0u64), Just(20_000), Just(1 << 22)],
        threads in 1usize..4,
    ) {
        let edges: Vec<Vec<u8>> = edges.into_iter().flat_map(|(a, b)| [a, b]).collect();
        let known = (known * edges.len() as f64) as usize / 2 * 2;
        let sim = Sim::new();
        let found = in_pool(threads, || number_all(&sim, &edges, &listed, known, (bytes, threads)));
        prop_assert_eq!(found.unwrap(), by_map(&edges, &listed));
        prop_assert_eq!(sim.paths(), Vec::<std::path::PathBuf>::new());
    }
}

/// Fails every `by`-th operation.
fn fail_operations(by: usize) {
    let edges: Vec<Vec<u8>> = (0..400u32)
        .map(|i| format!("a name of some length {}", i * 7 % 151).into_bytes())
        .collect();
    let expected = by_map(&edges, &[]);
    for (first, forever) in [false, true].into_iter().enumerate() {
        for at in (first as u64..).step_by(by) {
            let sim = Sim::new();
            sim.set_fault(Some(Fault { at, forever, kind: std::io::ErrorKind::Other }));
            match in_pool(1, || number_all(&sim, &edges, &[], 20, (0, 1))) {
                Ok(found) => {
                    assert!(!sim.has_failed(), "fault {at} was swallowed");
                    assert_eq!(found, expected);
                    assert!(at > 100, "{at} operations");
                    break;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Io, "{error}"),
            }
        }
    }
}

#[test]
fn a_fault_is_an_error_and_never_a_wrong_index() {
    fail_operations(7);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn every_fault_is_an_error_and_never_a_wrong_index() {
    fail_operations(1);
}
