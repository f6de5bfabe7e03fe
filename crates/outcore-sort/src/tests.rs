//! Guarantees of the sort, with budgets of a few records.

use super::*;
use outcore_io::checkpoint::{CHECKPOINT, Checkpoint, Journal};
use outcore_io::progress::Silent;
use outcore_io::units::MIB;
use outcore_io::{Transfer, Tuning};
use outcore_testkit::sim::{Fault, Sim};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Key of two words, so that ties in the first are resolved by the second; `value` distinguishes copies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Wide {
    key: (u64, u64),
    value: u64,
}

impl Record for Wide {
    type Key = u128;

    fn key(&self) -> u128 {
        u128::from(self.key.0) << 64 | u128::from(self.key.1)
    }
    fn encode(records: &[Self], out: &mut Vec<u8>) {
        for record in records {
            for word in [record.key.0, record.key.1, record.value] {
                out.extend(word.to_le_bytes());
            }
        }
    }
    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        for at in (0..count).map(|i| i * 24) {
            out.push(Self { key: (word(at)?, word(at + 8)?), value: word(at + 16)? });
        }
        Some(())
    }
}

fn sorter<R: Record>(sim: &Sim, capacity: usize, fan_in: usize, block_records: usize) -> Sorter<R> {
    let transfer = Transfer {
        block_bytes: 4096 * (1 + capacity % 7),
        depth: 1 + capacity % 4,
        direct: capacity.is_multiple_of(2),
        bytes_per_second: None,
    };
    let tuning =
        Tuning { read: transfer, write: transfer, merge_read_bytes: 4096, ..Tuning::default() };
    let files = Files::new(Arc::new(sim.clone())).with_tuning(tuning);
    let mut sorter = Sorter::new(&files, Path::new("/sort"), 64 * MIB, 2).unwrap();
    let first_run = capacity.div_ceil(8);
    let window_records = 1 + capacity % 97;
    let (segment_bytes, load_bytes) = (2000, 1 << (9 + capacity % 11));
    sorter.shape = Shape {
        capacity,
        first_run,
        block_records,
        window_records,
        fan_in,
        widest_fan_in: fan_in,
        segment_bytes,
        load_bytes,
        merge_read_bytes: 4096,
        has_room_for_two: true,
    };
    sorter
}

/// Reads records one by one, then in blocks.
fn drain<R: Record>(mut sorted: Sorted<R>) -> Result<Vec<R>> {
    let mut out = Vec::new();
    for _ in 0..sorted.summary().record_count / 2 {
        let next = sorted.peek()?.map(|record| record.key());
        assert!(sorted.next_if(|_| false)?.is_none());
        out.extend(sorted.next_record()?);
        assert!(out.last().map(Record::key) == next);
    }
    while let Some(block) = sorted.next_block()? {
        out.extend_from_slice(block);
    }
    Ok(out)
}

fn sort_all<R: Record>(sim: &Sim, records: &[R], shape: (usize, usize, usize)) -> Result<Vec<R>> {
    let mut sorter = sorter(sim, shape.0, shape.1, shape.2);
    // Some one by one, and the rest together.
    let (first, rest) = records.split_at(records.len() / 3);
    first.iter().try_for_each(|record| sorter.add(*record))?;
    sorter.push(rest)?;
    drain(sorter.finish()?)
}

/// Keys of every kind of skew: all different, few, one, around a power of two, and the largest.
fn wide_records() -> impl Strategy<Value = Vec<Wide>> {
    let around = (1u64 << 32) - 2..(1 << 32) + 2;
    let word = prop_oneof![any::<u64>(), 0u64..4, Just(7u64), around, u64::MAX - 2..=u64::MAX];
    prop::collection::vec((word.clone(), word), 0..3000).prop_map(|keys| {
        let number = |(value, key)| Wide { key, value: value as u64 };
        keys.into_iter().enumerate().map(number).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_budget_gives_the_stable_order(
        records in wide_records(),
        capacity in 1usize..400,
        fan_in in 2usize..9,
        block_records in 1usize..50,
    ) {
        let mut expected = records.clone();
        expected.sort_by_key(|record| record.key);
        let sim = Sim::new();
        let found = sort_all(&sim, &records, (capacity, fan_in, block_records)).unwrap();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(sim.paths(), Vec::<PathBuf>::new(), "runs are deleted");
        let found = sort_all(&sim, &records, (usize::MAX / 100, fan_in, block_records)).unwrap();
        prop_assert_eq!(&found, &expected);
    }
}

#[test]
fn large_sorts_on_many_threads_are_stable_too() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let mut state = 1u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let records: Vec<Wide> =
        (0..200_000).map(|value| Wide { key: (next(900), next(3)), value }).collect();
    let mut expected = records.clone();
    expected.sort_by_key(|record| record.key);
    let found = pool.install(|| sort_all(&Sim::new(), &records, (90_000, 8, 4096))).unwrap();
    assert!(found == expected);
}

/// Nearly all keys of a run in one bucket, too many for the cache; and the largest keys, in a bucket each.
#[test]
fn buckets_of_any_size_are_sorted() {
    let far = |at: u64| if at == 5 { u64::MAX } else { at * 7919 % 900 };
    let last = |at: u64| u64::MAX - at % 3;
    for word in [far as fn(u64) -> u64, last] {
        let record = |value| Wide { key: (word(value), value % 5), value };
        let records: Vec<Wide> = (0..250_000).map(record).collect();
        let mut expected = records.clone();
        expected.sort_by_key(|record| record.key);
        assert!(sort_all(&Sim::new(), &records, (800_000, 8, 4096)).unwrap() == expected);
    }
}

/// Predictions match the actual sort.
#[test]
fn runs_and_passes_are_predicted() {
    let sim = Sim::new();
    let files = Files::new(Arc::new(sim));
    let directory = Path::new("d");
    files.create_directory(directory).unwrap();
    for (count, budget, threads) in [
        (50_000, 20 * MIB, 1),
        (131_073, 20 * MIB, 1),
        (1_500_000, 20 * MIB, 1),
        (1_500_000, 24 * MIB, 2),
        (2_100_000, 200 * MIB, 2),
        (4_500_000, 200 * MIB, 1),
    ] {
        let mut sorter = Sorter::<Pair>::new(&files, directory, budget, threads).unwrap();
        let mut state = 1u64;
        let mut pairs = Vec::new();
        for at in 0..count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            pairs.push(Pair { key: state, value: 0 });
            if pairs.len() == 10_000 || at + 1 == count {
                sorter.push(&pairs).unwrap();
                pairs.clear();
            }
        }
        let mut sorted = sorter.finish().unwrap();
        while sorted.next_block().unwrap().is_some() {}
        let done = sorted.summary();
        let records = Records { count, bytes: 16, at_once: 10_000, kept: 10_000 };
        let predicted = Sorting::of(records, [budget; 2], threads, &files.tuning());
        assert_eq!(predicted.run_count, done.run_count, "{count} in {budget}");
        assert_eq!(predicted.pass_count, done.pass_count, "{count} in {budget}");
    }
}

/// Returns the output of two sorts that receive records in turns.
fn sorted_in_turns(files: &Files, parent: &Path) -> [Vec<Pair>; 2] {
    let mut sorters = [1, 2].map(|_| {
        let mut sorter = Sorter::new(files, parent, 64 * MIB, 1).unwrap();
        sorter.shape.first_run = 100;
        sorter
    });
    for begin in (0..1000).step_by(50) {
        for (value, sorter) in (1..).zip(&mut sorters) {
            let pairs = (begin..begin + 50).rev().map(|key| Pair { key: value * key, value });
            sorter.push(&pairs.collect::<Vec<_>>()).unwrap();
        }
    }
    // Both stay open until both are drained.
    let mut sorted = sorters.map(|sorter| sorter.finish().unwrap());
    assert!(sorted.iter().all(|sorted| sorted.summary().run_count > 5));
    let mut next =
        || sorted.each_mut().map(|sorted| sorted.next_block().unwrap().map(<[_]>::to_vec));
    let mut found = [Vec::new(), Vec::new()];
    loop {
        let blocks = next();
        if blocks.iter().all(Option::is_none) {
            return found;
        }
        found.iter_mut().zip(blocks).for_each(|(all, block)| all.extend(block.unwrap_or_default()));
    }
}

/// Names of runs begin at 0 in every sort.
#[test]
fn sorts_in_one_directory_do_not_interfere() {
    let (sim, disk) = (Sim::new(), tempfile::tempdir().unwrap());
    let ram = Files::new(Arc::new(outcore_io::Ram::default()));
    // Files that another process has left, or has just created.
    let taken = disk.path().join("sort-0");
    Files::default().write(&disk.path().join("sort-1"), b"a file").unwrap();
    Files::default().create_directory(&taken).unwrap();
    for (files, parent) in [
        (Files::new(Arc::new(sim.clone())), Path::new("/sort")),
        (ram, Path::new("sort")),
        (Files::default(), disk.path()),
    ] {
        let found = sorted_in_turns(&files, parent);
        for (value, found) in (1..).zip(found) {
            let expected = (0..1000).map(|key| Pair { key: value * key, value });
            assert!(found.into_iter().eq(expected), "records of {value}");
        }
    }
    assert_eq!(sim.paths(), Vec::<PathBuf>::new(), "runs are deleted");
    let left = Files::default().list(disk.path()).unwrap();
    assert_eq!(left.len(), 2, "directories are deleted, and nothing else: {left:?}");
}

/// Fails every `by`th operation.
fn fail_operations(by: usize) {
    let records: Vec<Pair> = (0..900u64).map(|i| Pair { key: i * 7919 % 1000, value: i }).collect();
    let mut expected = records.clone();
    expected.sort_by_key(|record| record.key);
    let sim = Sim::new();
    for (first, forever) in [false, true].into_iter().enumerate() {
        for at in (first as u64..).step_by(by) {
            sim.set_fault(Some(Fault { at, forever, kind: std::io::ErrorKind::Other }));
            match sort_all(&sim, &records, (100, 3, 16)) {
                Ok(found) => {
                    assert!(!sim.has_failed(), "fault {at} was swallowed");
                    assert_eq!(found, expected);
                    break;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Io, "{error}"),
            }
            assert!(at < 10_000);
        }
    }
}

#[test]
fn a_fault_in_an_operation_is_an_error_and_never_a_wrong_order() {
    fail_operations(7);
}

#[test]
#[ignore = "takes minutes: `make test-long`"]
fn a_fault_in_any_operation_is_an_error_and_never_a_wrong_order() {
    fail_operations(1);
}

#[test]
fn short_transfers_change_nothing() {
    let records: Vec<Pair> = (0..9000u64).rev().map(|i| Pair { key: i, value: i }).collect();
    let sim = Sim::new();
    sim.set_short_transfers(true);
    let found = sort_all(&sim, &records, (2000, 4, 1000)).unwrap();
    assert!(found.iter().map(|pair| pair.key).eq(0..9000));
}

#[test]
fn lowering_the_budget_writes_records_that_no_longer_fit() {
    let sim = Sim::new();
    let mut sorter: Sorter<Pair> =
        Sorter::new(&Files::new(Arc::new(sim.clone())), Path::new("/sort"), 64 * MIB, 1).unwrap();
    let records: Vec<Pair> = (0..800_000u64).rev().map(|key| Pair { key, value: 0 }).collect();
    sorter.push(&records).unwrap();
    assert!(sorter.memory_bytes() < 64 * MIB);
    sorter.set_budget(Sorter::<Pair>::BUDGET_MIN).unwrap();
    assert!(sorter.memory_bytes() <= Sorter::<Pair>::BUDGET_MIN);
    sorter.push(&records[..10]).unwrap();
    let sorted = sorter.finish().unwrap();
    assert_eq!(sorted.summary().run_count, 2);
    assert_eq!(drain(sorted).unwrap().len(), 800_010);
    assert!(sorter_refuses_too_little());
}

fn sorter_refuses_too_little() -> bool {
    let error = Sorter::<Pair>::new(&Files::default(), Path::new("."), 1 << 20, 1).err();
    error.is_some_and(|error| error.kind() == ErrorKind::MemoryTooSmall)
}

/// Pair that cannot be decoded if its value is [`Brittle::BROKEN`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Brittle(Pair);

impl Brittle {
    const BROKEN: u64 = u64::MAX;
}

impl Record for Brittle {
    type Key = u64;

    fn key(&self) -> u64 {
        self.0.key
    }
    fn encode(records: &[Self], out: &mut Vec<u8>) {
        records.iter().for_each(|record| Pair::encode(&[record.0], out));
    }
    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let mut pairs = Vec::new();
        Pair::decode(bytes, count, &mut pairs)?;
        assert!(pairs.iter().all(|pair| pair.value != Self::BROKEN), "the broken record");
        out.extend(pairs.into_iter().map(Self));
        Some(())
    }
}

/// In the first, a middle and the last of many ranges; in one range, before and after its first chunk.
#[test]
fn a_panic_in_a_merge_is_resumed_in_the_caller() {
    for broken in [0, 41_100, 79_999] {
        for (load_bytes, block_records) in [(1, 100), (1 << 24, 1000)] {
            let sim = Sim::new();
            let mut sorter = sorter::<Brittle>(&sim, 10_000, 100, block_records);
            sorter.shape.load_bytes = load_bytes;
            let value = |key| if key == broken { Brittle::BROKEN } else { key };
            let pairs = (0..80_000).rev().map(|key| Brittle(Pair { key, value: value(key) }));
            sorter.push(&pairs.collect::<Vec<_>>()).unwrap();
            let mut sorted = sorter.finish().unwrap();
            let mut next = 0;
            let drained = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                while let Some(block) = sorted.next_block().unwrap() {
                    let end = next + block.len() as u64;
                    assert!(block.iter().map(|record| record.0.key).eq(next..end));
                    next = end;
                }
            }));
            let panic = drained.unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"the broken record"));
            assert!(next <= broken && (next > 0) == (broken > 0), "{next} of {broken}");
            drop(sorted);
            assert_eq!(sim.paths(), Vec::<PathBuf>::new(), "runs are deleted");
        }
    }
}

const RUNS: &str = "/sort";

fn journal(files: &Files) -> Journal<()> {
    Journal::new(files, vec![RUNS.into()], Some(()), Duration::ZERO)
}

/// Opens the saved state as a new process would.
fn resume(sim: &Sim) -> Result<(Sorter<Pair>, Journal<()>)> {
    let files = Files::new(Arc::new(sim.clone()));
    let mut journal = journal(&files);
    let (state, mut from) = journal.open(&Silent, "from scratch")?.unwrap();
    let empty = Sorter::with_directory(&files, Path::new(RUNS), 64 * MIB, 1)?;
    let sorter = Sorter::resume(&state, &mut from, empty)?;
    from.finish()?;
    Ok((sorter, journal))
}

/// Saved runs can be merged any number of times, in any number of passes, until their checkpoint is
/// withdrawn.
#[test]
fn saved_runs_remain_available() {
    let records: Vec<Pair> =
        (0..5000u64).map(|i| Pair { key: i * 7919 % 1013, value: i }).collect();
    let mut expected = records.clone();
    expected.sort_by_key(|pair| pair.key);
    let sim = Sim::new();
    let mut sorter = sorter::<Pair>(&sim, 300, 4, 10);
    let directory = RunDirectory::given(&sorter.files, Path::new(RUNS));
    sorter.directory = Some(Arc::new(directory));
    assert!(!sorter.has_runs(), "there is no run to save");
    sorter.push(&records).unwrap();
    let mut journal = journal(&sorter.files);
    journal.save(|to| sorter.save(to)).unwrap();
    let saved = sim.paths();
    assert!(sorter.run_bytes() > 0 && saved.len() > 16);
    assert_eq!(drain(sorter.finish().unwrap()).unwrap(), expected);
    assert_eq!(sim.paths(), saved, "the merge has removed what was saved");
    drop(journal);
    for fan_in in [2, 100] {
        let (mut again, _journal) = resume(&sim).unwrap();
        (again.shape.fan_in, again.shape.widest_fan_in) = (fan_in, fan_in);
        assert_eq!(again.pass_bytes() > 0, fan_in == 2);
        let sorted = again.finish().unwrap();
        assert_eq!(sorted.summary().record_count, 5000);
        assert_eq!(drain(sorted).unwrap(), expected);
        assert_eq!(sim.paths(), saved);
    }
    // Blocks with that many records do not fit in a small budget.
    let (mut large, mut journal) = resume(&sim).unwrap();
    large.saved_block_records = 10 << 20;
    journal.save(|to| large.save(to)).unwrap();
    let error = resume(&sim).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::MemoryTooSmall);
    let sorted = large.finish().unwrap();
    journal.withdraw().unwrap();
    assert_eq!(drain(sorted).unwrap(), expected);
    assert_eq!(sim.paths(), Vec::<PathBuf>::new());
}

/// A sort saved in the middle is resumed, here and elsewhere, without the records added after the save.
#[test]
fn a_saved_sort_is_resumed() {
    let records: Vec<Pair> =
        (0..5000u64).map(|i| Pair { key: i * 7919 % 1013, value: i }).collect();
    let mut expected = records.clone();
    expected.sort_by_key(|pair| pair.key);
    let sim = Sim::new();
    let mut sorter = sorter::<Pair>(&sim, 300, 4, 10);
    let directory = RunDirectory::given(&sorter.files, Path::new(RUNS));
    sorter.directory = Some(Arc::new(directory));
    let mut journal = journal(&sorter.files);
    let path = Path::new(RUNS).join(CHECKPOINT);
    let mut save_all = |records: &[Pair]| {
        sorter.push(records).unwrap();
        journal.save(|to| sorter.save(to)).unwrap();
        sim.get(&path).unwrap()
    };
    let (first, second) = (save_all(&records[..1000]), save_all(&records[1000..2500]));
    sorter.push(&records[2500..4000]).unwrap();
    // Runs that no checkpoint needs are removed with the sorter.
    let count = sim.paths().len();
    drop(sorter);
    assert!(sim.paths().len() < count);
    for (checkpoint, done) in [(second, 2500), (first, 1000)] {
        sim.put(&path, &checkpoint);
        let (mut again, _journal) = resume(&sim).unwrap();
        again.push(&records[done..]).unwrap();
        assert_eq!(drain(again.finish().unwrap()).unwrap(), expected);
        resume(&sim).unwrap();
    }
}

/// Uses no more passes than with the smallest reads, and no smaller reads than these passes require.
#[test]
fn smaller_reads_save_passes_when_memory_is_small() {
    let shape = Shape::new::<Pair>(24 * MIB, 2, &Files::default(), 0);
    assert!(shape.fan_in < shape.widest_fan_in);
    let passes = |fan_in: usize, runs: usize| {
        (1..).find(|&passes| fan_in.saturating_pow(passes) >= runs).unwrap()
    };
    for runs in 2..3000 {
        let fan_in = shape.fan_in(runs);
        let least = passes(shape.widest_fan_in, runs);
        assert_eq!(passes(fan_in, runs), least, "{runs} runs");
        assert!(fan_in == shape.fan_in || passes(fan_in - 1, runs) > least, "{runs} runs");
    }
}
