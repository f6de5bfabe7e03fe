//! Tests of indexes by first appearance, with any number of chunks, batches and threads.

use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

pub(in crate::ids) fn chunk(names: &[Vec<u8>]) -> EdgeChunk {
    let mut chunk = EdgeChunk::default();
    for name in names {
        let (offset, bytes) = (chunk.text.len() as u32, name.len() as u32);
        let fingerprint = Fingerprint::of(name);
        chunk.names.push(NameRef { fingerprint, offset, bytes });
        chunk.text.extend_from_slice(name);
    }
    chunk
}

/// Numbers `names` split into chunks and batches, and compares the result with a map and a counter.
fn check(names: &[Vec<u8>], chunk_len: usize, batch_len: usize, threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut index = NodeIndex::new(threads, 1 << 26, 1 << 24);
    let (mut found, mut listed) = (Vec::new(), Vec::new());
    let chunks: Vec<EdgeChunk> = names.chunks(chunk_len).map(chunk).collect();
    let mut indexes = Vec::new();
    for batch in chunks.chunks(batch_len) {
        let each = |name: &[u8]| {
            listed.push(name.to_vec());
            Ok(())
        };
        pool.install(|| index.resolve(batch, &mut indexes, each)).unwrap();
        found.extend(indexes[..batch.len()].iter().flatten().copied());
    }
    let mut known: HashMap<&[u8], u32> = HashMap::new();
    let mut expected = Vec::new();
    for name in names {
        let next = known.len() as u32;
        expected.push(*known.entry(name).or_insert(next));
    }
    assert_eq!(found, expected);
    assert_eq!(index.node_count(), known.len() as u64);
    assert!(listed.iter().enumerate().all(|(i, name)| known[name.as_slice()] == i as u32));
}

pub(in crate::ids) fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        (0u32..300).prop_map(|n| n.to_string().into_bytes()),
        (0u64..u64::MAX).prop_map(|n| n.to_string().into_bytes()),
        prop::collection::vec(any::<u8>(), 1..3),
        "[ab]{14,18}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #[test]
    fn names_are_numbered_by_first_appearance_with_any_number_of_threads(
        names in prop::collection::vec(name(), 0..600),
        chunk_len in 1usize..200,
        batch_len in 1usize..9,
        threads in 1usize..6,
    ) {
        check(&names, chunk_len, batch_len, threads);
    }

    #[test]
    fn tables_stay_within_their_room_or_report_the_memory_they_need(
        names in prop::collection::vec(name(), 1..600),
        batch_len in 1usize..100,
        rooms in prop::collection::vec(0u64..400_000, 1..20),
        threads in 1usize..4,
    ) {
        let mut index = NodeIndex::new(threads, 1 << 20, 1 << 18);
        let (mut indexes, mut rooms) = (Vec::new(), rooms.into_iter().cycle());
        for batch in names.chunks(batch_len) {
            let (chunk, count) = (chunk(batch), index.node_count());
            let room = rooms.next().unwrap().max(index.memory_bytes());
            let needed = index.resolve_within(&[chunk], &mut indexes, room, |_| Ok(()));
            match needed.unwrap() {
                None => prop_assert!(index.memory_bytes() <= room),
                Some(bytes) => {
                    prop_assert!(bytes > room && index.node_count() == count);
                    index.resolve(&[self::chunk(batch)], &mut indexes, |_| Ok(())).unwrap();
                }
            }
        }
    }

    #[test]
    fn whole_numbers_stay_numbers_until_another_name_appears(
        numbers in prop::collection::vec(0u64..5000, 1..2000),
        odd in prop::option::of(0usize..2000),
        threads in 1usize..4,
    ) {
        let mut names: Vec<_> = numbers.iter().map(|n| n.to_string().into_bytes()).collect();
        if let Some(at) = odd {
            names.insert(at.min(numbers.len()), b"007".to_vec());
        }
        check(&names, 100, 3, threads);
    }
}

/// Half a million of 7 million numbers, in random order. The first ones are too far apart.
#[test]
fn scattered_numbers_stay_numbers_while_there_is_memory() {
    let numbers = (0..500_000u64).map(|at| (at * 4_368_787 % 7_000_003).to_string().into_bytes());
    let names: Vec<Vec<u8>> = numbers.collect();
    for (sparse_bytes, takes) in [(80 << 20, 26 << 20..=31 << 20), (50 << 20, 10 << 20..=25 << 20)]
    {
        let mut index = NodeIndex::new(2, 1 << 30, sparse_bytes);
        let mut indexes = Vec::new();
        for (first, names) in (0..).step_by(50_000).zip(names.chunks(50_000)) {
            index.resolve(&[chunk(names)], &mut indexes, |_| Ok(())).unwrap();
            assert!(indexes[0].iter().copied().eq(first..first + 50_000));
        }
        assert!(takes.contains(&index.memory_bytes()), "{} bytes", index.memory_bytes());
        // Both hash all numbers again.
        for (at, other) in (500_000..).zip(["900000000", "007"]) {
            index.resolve(&[chunk(&[other.into()])], &mut indexes, |_| Ok(())).unwrap();
            assert_eq!(indexes[0], [at]);
            index.resolve(&[chunk(&names)], &mut indexes, |_| Ok(())).unwrap();
            assert!(indexes[0].iter().copied().eq(0..500_000));
        }
    }
}

#[test]
fn a_hundred_thousand_names_take_at_most_their_share_of_memory() {
    let names: Vec<Vec<u8>> = (0..100_000u32)
        .map(|i| format!("node {}", i.wrapping_mul(2_654_435_761)).into_bytes())
        .collect();
    for threads in [1, 3] {
        check(&names, 1000, 8, threads);
        for (sparse_bytes, expected) in [(2 << 20, 20.0..=27.5), (16 << 20, 38.0..=49.0)] {
            let mut index = NodeIndex::new(threads, 64 << 20, sparse_bytes);
            index.resolve(&[chunk(&names)], &mut Vec::new(), |_| Ok(())).unwrap();
            let bytes = |all: u64| all as f64 / names.len() as f64;
            let (taken, needed) = (bytes(index.memory_bytes()), bytes(index.needed_bytes()));
            assert!(expected.contains(&taken), "{taken} bytes a name");
            assert!((20.0..=27.5).contains(&needed), "{needed} bytes a name needed");
        }
    }
}

/// When a table outgrows its reserved addresses it is moved, and both places take memory.
#[test]
fn a_table_that_is_a_step_ahead_of_the_others_stays_in_its_addresses() {
    let most = 1 << 30;
    for threads in 1..=8 {
        let index = NodeIndex::new(threads, most, most);
        // One table is larger than the others by an eighth.
        let largest = most as f64 / (1.0 + (threads as f64 - 1.0) * 8.0 / 9.0);
        for shard in &index.shards {
            let reserved = (shard.table.lines.capacity() * size_of::<Line>()) as f64;
            assert!(reserved >= largest, "{threads} tables: {reserved} of {largest} bytes");
        }
    }
}
