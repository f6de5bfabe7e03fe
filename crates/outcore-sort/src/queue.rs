//! Monotone priority queue larger than memory: what is added comes after all that has been taken.
//!
//! ```text
//!  level 0   [    |    |    |    ]      all places, in lists of a few hundred ranges
//!  level 1   [ | | | ]                  the range of one list of level 0, once it is the next
//!  level 2   [|||]                      a list for every place in one of its ranges: the first of these is taken next
//! ```
//! A record is appended to the list of its range, and moved once a level: no comparison, and lists stay in the order in
//! which records were added, which is the order of those with one place. Lists that exceed the budget are spilled as a run,
//! whose blocks of a range are read when the range is divided. What is taken soon never touches the disk.
//!
//! Memory: the budget. I/O: a record that is spilled is written and read once, or once a level if the range of a list has
//! more records than the budget. Source: Denardo and Fox, "Shortest-Route Methods" (1979), multi-level buckets.

use super::directory::RunDirectory;
use super::record::Record;
use super::run::{Keys, Loaded, Part, Run, RunWriter, cut, encode_block};
use super::shape::{SEGMENT_BYTES, SEGMENTS};
use outcore_io::error::Result;
use outcore_io::{AlignedBuffer, Files};
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Record that belongs to a place: a dense number, by which keys are ordered first.
pub trait Placed: Record {
    /// Returns the place.
    fn place(&self) -> u32;
    /// Returns the least key of a place.
    fn first_key(place: u32) -> Self::Key;
}

/// Maximum number of bits of a place that a level divides by.
const LEVEL_BITS: u32 = 8;
/// Number of records that are taken at a time.
const TAKEN_RECORDS: usize = 16 << 10;
/// Records of a list for which there is room at first, and of a list that keeps its room.
const LIST_RECORDS: RangeInclusive<usize> = 16..=1 << 10;
/// Maximum number of records in a block of a run, and the number from which on no other list is added to a block.
const BLOCK_RECORDS: usize = 16 << 10;
const BLOCK_RECORDS_MIN: usize = 2 << 10;
/// Bytes of blocks that are read at a time, if they are not one larger block.
const LOAD_BYTES: usize = 512 << 10;

/// Lists of consecutive ranges of places.
struct Level<R> {
    /// First place of the first range, and the one after the last.
    begin: u64,
    end: u64,
    /// Binary logarithm of the number of places in a range.
    shift: u32,
    lists: Vec<Vec<R>>,
}

impl<R> Level<R> {
    #[inline]
    fn list(&mut self, place: u64) -> &mut Vec<R> {
        &mut self.lists[((place - self.begin) >> self.shift) as usize]
    }
}

/// Run of spilled lists, and the first place that has not been read from it.
struct Spilled<R: Record> {
    run: Run<R>,
    read: u64,
}

/// Monotone priority queue of records by their place.
pub struct MonotoneQueue<R: Placed> {
    files: Files,
    /// Parent of the directory of the runs.
    parent: PathBuf,
    /// Made when the first run is written.
    directory: Option<Arc<RunDirectory>>,
    place_count: u64,
    /// Maximum number of records for which lists have room, and the current number.
    budget: usize,
    room: usize,
    /// From coarse to fine; the lists of the last level are places.
    levels: Vec<Level<R>>,
    /// First place from which not all records have been taken, and the number of records taken from its list.
    next: u64,
    taken: usize,
    /// Whether lists of the last level have been spilled, and the run and block of the place `next` that are read next.
    is_place_spilled: bool,
    at: (usize, usize),
    /// From old to new.
    runs: Vec<Spilled<R>>,
    run_count: u64,
    /// Buffer for blocks, reused because new pages of memory are expensive.
    buffer: AlignedBuffer,
}

impl<R: Placed> MonotoneQueue<R> {
    /// Creates a queue of records with places below `place_count`, which holds up to `budget_bytes` in memory. Its runs go
    /// to a directory that it creates in `parent` when it writes the first one, and removes. Records of one place are added in
    /// the order of their keys.
    pub fn new(files: &Files, parent: &Path, place_count: u64, budget_bytes: u64) -> Self {
        let bits = u64::BITS - place_count.saturating_sub(1).leading_zeros();
        let count = bits.div_ceil(LEVEL_BITS).max(1);
        let level = |number: u32| Level {
            begin: 0,
            end: 0,
            shift: bits * (count - 1 - number) / count,
            lists: Vec::new(),
        };
        let mut queue = Self {
            files: files.clone(),
            parent: parent.to_path_buf(),
            directory: None,
            place_count,
            // The list that is divided may take as much again, and parts that are encoded a quarter.
            budget: (budget_bytes as usize / 9 * 4 / size_of::<R>()).max(1),
            room: 0,
            levels: (0..count).map(level).collect(),
            next: 0,
            taken: 0,
            is_place_spilled: false,
            at: (0, 0),
            runs: Vec::new(),
            run_count: 0,
            buffer: AlignedBuffer::new(0),
        };
        queue.reopen(0, 0..place_count);
        queue
    }

    /// Returns the first place from which not all records have been taken.
    #[inline]
    pub fn next_place(&self) -> u64 {
        self.next
    }

    /// Returns the number of runs that were written.
    pub fn run_count(&self) -> u64 {
        self.run_count
    }

    /// Adds a record.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    ///
    /// # Panics
    /// Panics if all records of its place have been taken, or if it is not below the number of places.
    #[inline]
    pub fn push(&mut self, record: R) -> Result<()> {
        let place = u64::from(record.place());
        assert!(place >= self.next && place < self.place_count, "place {place} lies ahead");
        let mut number = self.levels.len() - 1;
        while place >= self.levels[number].end {
            number -= 1;
        }
        let list = self.levels[number].list(place);
        if list.len() == list.capacity() {
            return self.push_to_full(number, record);
        }
        list.push(record);
        Ok(())
    }

    /// Makes room for a record in its list of a level, and adds it.
    #[cold]
    fn push_to_full(&mut self, number: usize, record: R) -> Result<()> {
        let list = self.levels[number].list(record.place().into());
        let more = list.capacity().max(*LIST_RECORDS.start());
        if self.room + more > self.budget {
            self.spill()?;
        }
        let list = self.levels[number].list(record.place().into());
        let before = list.capacity();
        if list.len() == before {
            list.reserve_exact(before.max(*LIST_RECORDS.start()));
        }
        let added = list.capacity() - before;
        list.push(record);
        self.room += added;
        Ok(())
    }

    /// Appends up to a few thousand records with the next places below `end` to `out`, in order. Returns `false` if there
    /// are none left.
    ///
    /// # Errors
    /// `CorruptFile` if a run was damaged, `Io`, `DiskFull`.
    pub fn take_below(&mut self, end: u64, out: &mut Vec<R>) -> Result<bool> {
        let begin = out.len();
        while self.next < end.min(self.place_count) && out.len() - begin < TAKEN_RECORDS {
            if self.next == self.levels[self.levels.len() - 1].end {
                self.divide()?;
            }
            if self.is_place_spilled && self.take_spilled(out)? {
                continue;
            }
            self.take_list(TAKEN_RECORDS - (out.len() - begin), out);
        }
        Ok(out.len() > begin)
    }

    /// Appends up to `most` records of the next place to `out`; advances to the one after it if none are left.
    #[inline]
    fn take_list(&mut self, most: usize, out: &mut Vec<R>) {
        let last = self.levels.len() - 1;
        let list = self.levels[last].list(self.next);
        let end = list.len().min(self.taken + most);
        out.extend_from_slice(&list[self.taken..end]);
        self.taken = end;
        if end == list.len() {
            list.clear();
            if list.capacity() > *LIST_RECORDS.end() {
                self.room -= list.capacity();
                *list = Vec::new();
            }
            self.next += 1;
            (self.taken, self.at) = (0, (0, 0));
        }
    }

    /// Lets the ranges of a level begin again at `places`, without records.
    fn reopen(&mut self, number: usize, places: Range<u64>) {
        let level = &mut self.levels[number];
        (level.begin, level.end) = (places.start, places.end);
        let count = (places.end - places.start).div_ceil(1 << level.shift);
        level.lists.resize_with(level.lists.len().max(count as usize), Vec::new);
    }

    /// Divides the list of the range that begins at the next place into those of the next level, and so on to the last one.
    fn divide(&mut self) -> Result<()> {
        let (from, last) = (self.next, self.levels.len() - 1);
        let mut number = last;
        while number > 1 && self.levels[number - 1].end == from {
            number -= 1;
        }
        self.is_place_spilled = false;
        for number in number..=last {
            let parent = &mut self.levels[number - 1];
            let end = (from + (1 << parent.shift)).min(parent.end);
            let list = std::mem::take(parent.list(from));
            self.room -= list.capacity();
            self.reopen(number, from..end);
            self.read_spilled(from..end)?;
            list.iter().try_for_each(|&record| self.push(record))?;
        }
        Ok(())
    }

    /// Writes all lists as runs, and frees them; those of the last level only if they take most of the budget.
    fn spill(&mut self) -> Result<()> {
        let last = self.levels.len() - 1;
        let mut of_places = 0;
        for list in &mut self.levels[last].lists {
            if list.is_empty() {
                self.room -= list.capacity();
                *list = Vec::new();
            }
            of_places += list.capacity();
        }
        let are_places_spilled = of_places > self.budget / 2;
        self.is_place_spilled |= are_places_spilled;
        let mut lists = Vec::new();
        let spilled = &mut self.levels[..last + usize::from(are_places_spilled)];
        for (number, level) in spilled.iter_mut().enumerate().rev() {
            let places = (level.begin..).step_by(1 << level.shift);
            for (place, list) in places.zip(&mut level.lists).filter(|(_, list)| !list.is_empty()) {
                // Some of the next place may be taken already.
                if number < last || place != self.next {
                    lists.push((place, std::mem::take(list), number == last));
                }
            }
        }
        let most = (self.budget / 8).max(BLOCK_RECORDS);
        let mut begin = 0;
        while lists.iter().any(|(_, list, _)| list.len() > begin) {
            let parts = lists.iter().map(|(place, list, is_alone)| {
                (*place, &list[begin.min(list.len())..list.len().min(begin + most)], *is_alone)
            });
            let run = self.write_run(parts.filter(|(_, part, _)| !part.is_empty()))?;
            self.runs.push(Spilled { run, read: self.next });
            begin += most;
        }
        self.room -= lists.iter().map(|(_, list, _)| list.capacity()).sum::<usize>();
        Ok(())
    }

    /// Writes a run of lists, each with its first place and whether its blocks hold nothing else.
    fn write_run<'a>(
        &mut self,
        lists: impl Iterator<Item = (u64, &'a [R], bool)>,
    ) -> Result<Run<R>> {
        let directory = match &self.directory {
            Some(directory) => directory.clone(),
            None => Arc::new(RunDirectory::create(&self.files, &self.parent)?),
        };
        self.directory = Some(directory.clone());
        let segment_bytes = SEGMENT_BYTES.max((self.budget * size_of::<R>()) as u64 / SEGMENTS);
        let mut writer = RunWriter::new(directory, self.run_count, segment_bytes);
        self.run_count += 1;
        let mut collected: Vec<R> = Vec::new();
        let mut first = 0;
        for (place, list, is_alone) in lists {
            if is_alone || collected.len() >= BLOCK_RECORDS_MIN {
                write_blocks(&mut collected, first, &mut writer)?;
            }
            if collected.is_empty() {
                first = place;
            }
            collected.extend_from_slice(list);
        }
        write_blocks(&mut collected, first, &mut writer)?;
        writer.finish()
    }

    /// Adds the records of a range of places that were spilled before.
    fn read_spilled(&mut self, places: Range<u64>) -> Result<()> {
        // Those that are spilled meanwhile are read when the range is divided further.
        let mut runs = std::mem::take(&mut self.runs);
        let mut buffer = std::mem::replace(&mut self.buffer, AlignedBuffer::new(0));
        let mut found = Vec::new();
        for Spilled { run, read } in &mut runs {
            let keys = keys::<R>((*read).max(places.start)..places.end, self.place_count);
            if *read >= places.end {
                continue;
            }
            let mut blocks = run.blocks_between(keys.from, keys.below);
            while !blocks.is_empty() {
                let mut end = blocks.start + 1;
                while end < blocks.end && run.room_for(blocks.start..end + 1) <= LOAD_BYTES {
                    end += 1;
                }
                let loaded = load(run, blocks.start..end, &mut buffer)?;
                for block in blocks.start..end {
                    found.clear();
                    run.read(block, &loaded, buffer.bytes(), &keys, &mut found)?;
                    found.iter().try_for_each(|&record| self.push(record))?;
                }
                blocks.start = end;
            }
            *read = places.end;
            keys.below.inspect(|&below| run.delete_before(below));
        }
        runs.retain(|Spilled { run, read }| {
            *read < self.place_count
                && !run.blocks_between(R::first_key(*read as u32), None).is_empty()
        });
        runs.append(&mut self.runs);
        (self.runs, self.buffer) = (runs, buffer);
        Ok(())
    }
}

impl<R: Placed> MonotoneQueue<R> {
    /// Appends a block of spilled records of the next place to `out`; returns `false` if none are left.
    fn take_spilled(&mut self, out: &mut Vec<R>) -> Result<bool> {
        let keys = keys::<R>(self.next..self.next + 1, self.place_count);
        while let Some(Spilled { run, read }) = self.runs.get(self.at.0) {
            let blocks = run.blocks_between(keys.from, keys.below);
            let block = blocks.start + self.at.1;
            if *read <= self.next && block < blocks.end {
                let loaded = load(run, block..block + 1, &mut self.buffer)?;
                run.read(block, &loaded, self.buffer.bytes(), &keys, out)?;
                self.at.1 += 1;
                return Ok(true);
            }
            self.at = (self.at.0 + 1, 0);
        }
        Ok(false)
    }
}

/// Returns the keys of a range of places.
fn keys<R: Placed>(places: Range<u64>, place_count: u64) -> Keys<R::Key> {
    let first = |place: u64| R::first_key(place as u32);
    let below = (places.end < place_count).then(|| first(places.end));
    Keys { from: first(places.start), below, part: Part::All }
}

/// Reads blocks into a buffer, which grows if they have no room in it.
fn load<R: Record>(
    run: &Run<R>,
    blocks: Range<usize>,
    buffer: &mut AlignedBuffer,
) -> Result<Loaded> {
    let needed = run.room_for(blocks.clone());
    if buffer.capacity() < needed {
        *buffer = AlignedBuffer::new(needed);
    }
    run.load(blocks, &mut buffer.bytes_mut()[..needed])
}

/// Writes records as blocks, none of which is before `place` or after any of those written later.
fn write_blocks<R: Placed>(records: &mut Vec<R>, place: u64, to: &mut RunWriter<R>) -> Result<()> {
    let mut arranged = records.clone();
    R::arrange(records, &mut arranged);
    let mut bytes = Vec::new();
    for (number, block) in cut(&arranged, BLOCK_RECORDS).enumerate() {
        let first = if number == 0 { R::first_key(place as u32) } else { block[0].key() };
        bytes.clear();
        encode_block(block, &mut bytes);
        to.push(&bytes, first, block.len())?;
    }
    records.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_io::error::ErrorKind;
    use outcore_testkit::sim::{Fault, Sim};
    use proptest::prelude::*;

    /// Record with a place, and a number that grows with each record.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    struct Numbered {
        place: u32,
        number: u32,
    }

    impl Record for Numbered {
        type Key = u64;

        fn key(&self) -> u64 {
            u64::from(self.place) << 32 | u64::from(self.number)
        }
        fn encode(records: &[Self], out: &mut Vec<u8>) {
            records.iter().for_each(|record| out.extend(record.key().to_le_bytes()));
        }
        fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
            let (keys, rest) = bytes.as_chunks::<8>();
            out.extend(
                keys.iter()
                    .map(|&key| u64::from_le_bytes(key))
                    .map(|key| Self { place: (key >> 32) as u32, number: key as u32 }),
            );
            (keys.len() == count && rest.is_empty()).then_some(())
        }
    }

    impl Placed for Numbered {
        fn place(&self) -> u32 {
            self.place
        }
        fn first_key(place: u32) -> u64 {
            u64::from(place) << 32
        }
    }

    /// Step of a test: records are added this far ahead, or places are taken.
    #[derive(Debug, Clone)]
    enum Step {
        Add { ahead: u64, count: u32 },
        Take(u64),
    }

    fn steps() -> impl Strategy<Value = (u64, Vec<Step>)> {
        let places =
            prop_oneof![1u64..9, 1u64..5000, Just(1 << 11), Just((1 << 22) + 7), Just(1 << 32)];
        places.prop_flat_map(|places| {
            let ahead = prop_oneof![0..places.min(4), 0..places.min(3000), 0..places];
            let add = (ahead, prop_oneof![1u32..4, 1u32..600]);
            let step = prop_oneof![
                3 => add.prop_map(|(ahead, count)| Step::Add { ahead, count }),
                1 => (0..places.min(5000)).prop_map(Step::Take),
            ];
            (Just(places), prop::collection::vec(step, 0..60))
        })
    }

    /// Runs the steps, and then takes all that is left below a place not far ahead; returns what was added and taken.
    fn run(
        sim: &Sim,
        places: u64,
        steps: &[Step],
        budget: u64,
    ) -> Result<(Vec<Numbered>, Vec<Numbered>, u64)> {
        let files = Files::new(Arc::new(sim.clone()));
        let mut queue = MonotoneQueue::new(&files, Path::new("/queue"), places, budget);
        let (mut added, mut taken, mut number) = (Vec::new(), Vec::new(), 0);
        for step in steps {
            match *step {
                Step::Add { ahead, count } => {
                    for _ in 0..count {
                        let place = queue.next_place() + ahead;
                        if place < places {
                            let record = Numbered { place: place as u32, number };
                            queue.push(record)?;
                            added.push(record);
                        }
                        number += 1;
                    }
                }
                Step::Take(count) => {
                    let end = queue.next_place() + count;
                    while queue.take_below(end, &mut taken)? {}
                }
            }
        }
        // Far places are reached in steps that skip nothing.
        let last = added.iter().map(|record| u64::from(record.place) + 1).max().unwrap_or(0);
        if last < queue.next_place() + 300_000 {
            while queue.take_below(last, &mut taken)? {}
        }
        let end = queue.next_place();
        added.retain(|record| u64::from(record.place) < end);
        Ok((added, taken, queue.run_count()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn records_leave_by_place_in_the_order_of_their_arrival(
            (places, steps) in steps(),
            budget in prop_oneof![200u64..4000, 0u64..100_000],
        ) {
            let sim = Sim::new();
            let (mut added, taken, _) = run(&sim, places, &steps, budget).unwrap();
            added.sort_by_key(|record| record.place);
            prop_assert_eq!(taken, added);
            prop_assert_eq!(sim.paths(), Vec::<PathBuf>::new(), "runs are deleted");
        }
    }

    #[test]
    fn a_fault_in_any_operation_is_an_error_and_leaves_no_wrong_order() {
        let step =
            |at: u64| [Step::Add { ahead: 1 + at * 370 % 9000, count: 20 }, Step::Take(at % 30)];
        let steps: Vec<Step> = (0..25).flat_map(step).collect();
        let (expected, taken, run_count) = run(&Sim::new(), 100_000, &steps, 1500).unwrap();
        assert!(run_count > 3 && taken.len() == expected.len());
        for at in 0.. {
            let sim = Sim::new();
            sim.set_fault(Some(Fault { at, forever: false, kind: std::io::ErrorKind::Other }));
            match run(&sim, 100_000, &steps, 1500) {
                Ok((_, found, _)) => {
                    assert!(!sim.has_failed(), "fault {at} was swallowed");
                    assert_eq!(found, taken);
                    break;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Io, "{error}"),
            }
        }
    }
}
