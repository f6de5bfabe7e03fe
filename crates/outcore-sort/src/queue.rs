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

#[cfg(test)]
mod tests;

use super::directory::RunDirectory;
use super::record::Record;
use super::run::{Keys, Loaded, Part, Run, RunWriter, cut, encode_block};
use super::shape::{SEGMENT_BYTES, SEGMENTS};
use outcore_io::error::Result;
use outcore_io::{AlignedBuffer, Files, reserve_large_pages};
use std::ops::Range;
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
/// Number of records in a chunk of a list.
const CHUNK_RECORDS: usize = 128;
/// Maximum number of records in a block of a run, and the number from which on no other list is added to a block.
const BLOCK_RECORDS: usize = 16 << 10;
const BLOCK_RECORDS_MIN: usize = 2 << 10;
/// Bytes of blocks that are read at a time, if they are not one larger block.
const LOAD_BYTES: usize = 512 << 10;

/// List of records: a chain of chunks of the pool, all full but the last.
#[derive(Debug, Clone, Copy, Default)]
struct List {
    first: u32,
    last: u32,
    len: usize,
}

/// Chunks of lists. They are used again and again, because new pages of memory are expensive, and are not moved.
struct Pool<R> {
    records: Vec<R>,
    /// For each chunk, the next one of its list, or of those that are free.
    next: Vec<u32>,
    /// First of the free chunks, and their number.
    free: u32,
    free_count: usize,
    /// Maximum number of chunks.
    most: usize,
}

impl<R: Record> Pool<R> {
    fn new(most: usize) -> Self {
        let records = reserve_large_pages(most * CHUNK_RECORDS);
        Self { records, next: Vec::new(), free: 0, free_count: 0, most }
    }

    fn is_exhausted(&self) -> bool {
        self.free_count == 0 && self.next.len() >= self.most
    }

    /// Appends an empty chunk to a list.
    fn lengthen(&mut self, list: &mut List) {
        let chunk = if self.free_count > 0 {
            self.free_count -= 1;
            let chunk = self.free;
            self.free = self.next[chunk as usize];
            chunk
        } else {
            self.records.resize(self.records.len() + CHUNK_RECORDS, R::default());
            self.next.push(0);
            self.next.len() as u32 - 1
        };
        match list.len {
            0 => list.first = chunk,
            _ => self.next[list.last as usize] = chunk,
        }
        list.last = chunk;
    }

    /// Moves the first chunk of a list to `out`; returns `false` if there is none.
    fn take_chunk(&mut self, list: &mut List, out: &mut Vec<R>) -> bool {
        let count = list.len.min(CHUNK_RECORDS);
        if count > 0 {
            let begin = list.first as usize * CHUNK_RECORDS;
            out.extend_from_slice(&self.records[begin..begin + count]);
            list.len -= count;
            let chunk = list.first;
            list.first = self.next[chunk as usize];
            self.next[chunk as usize] = self.free;
            self.free = chunk;
            self.free_count += 1;
        }
        count > 0
    }
}

/// Lists of consecutive ranges of places.
struct Level {
    /// First place of the first range, and the one after the last.
    begin: u64,
    end: u64,
    /// Binary logarithm of the number of places in a range.
    shift: u32,
    lists: Vec<List>,
}

impl Level {
    #[inline]
    fn list(&mut self, place: u64) -> &mut List {
        &mut self.lists[((place - self.begin) >> self.shift) as usize]
    }
}

/// List that is being spilled, its first place, and whether its blocks hold nothing else.
struct SpilledList {
    place: u64,
    list: List,
    is_alone: bool,
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
    pool: Pool<R>,
    /// From coarse to fine; the lists of the last level are places.
    levels: Vec<Level>,
    /// First place from which not all records have been taken.
    next: u64,
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
    /// to a directory that it creates in `parent` when it writes the first one, and removes. At most `most` records are in it
    /// at a time. Records of one place are added in the order of their keys.
    pub fn new(
        files: &Files,
        parent: &Path,
        place_count: u64,
        most: u64,
        budget_bytes: u64,
    ) -> Self {
        let bits = u64::BITS - place_count.saturating_sub(1).leading_zeros();
        let count = bits.div_ceil(LEVEL_BITS).max(1);
        let level = |number: u32| Level {
            begin: 0,
            end: 0,
            shift: bits * (count - 1 - number) / count,
            lists: Vec::new(),
        };
        // A fifth is for parts of lists that are encoded, and their copies.
        let chunks = budget_bytes / 5 * 4 / (CHUNK_RECORDS * size_of::<R>()) as u64;
        // The last chunk of a list may be nearly empty.
        let lists = u64::from(count) << LEVEL_BITS;
        let chunks_needed = most.div_ceil(CHUNK_RECORDS as u64) + lists;
        let cramped = (files.cramped().waiting_records / CHUNK_RECORDS) as u64;
        let mut queue = Self {
            files: files.clone(),
            parent: parent.to_path_buf(),
            directory: None,
            place_count,
            pool: Pool::new(chunks.min(chunks_needed).min(cramped).max(2) as usize),
            levels: (0..count).map(level).collect(),
            next: 0,
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
        let filled = list.len % CHUNK_RECORDS;
        if filled == 0 {
            return self.push_to_chunk(number, record);
        }
        self.pool.records[list.last as usize * CHUNK_RECORDS + filled] = record;
        list.len += 1;
        Ok(())
    }

    /// Adds a record to another chunk of its list of a level.
    #[inline(never)]
    fn push_to_chunk(&mut self, number: usize, record: R) -> Result<()> {
        if self.pool.is_exhausted() {
            self.spill()?;
        }
        let list = self.levels[number].list(record.place().into());
        // It may have been spilled.
        self.pool.lengthen(list);
        self.pool.records[list.last as usize * CHUNK_RECORDS] = record;
        list.len += 1;
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
            let last = self.levels.len() - 1;
            let list = self.levels[last].list(self.next);
            while out.len() - begin < TAKEN_RECORDS && self.pool.take_chunk(list, out) {}
            if list.len == 0 {
                self.next += 1;
                self.at = (0, 0);
            }
        }
        Ok(out.len() > begin)
    }

    /// Lets the ranges of a level begin again at `places`, without records.
    fn reopen(&mut self, number: usize, places: Range<u64>) {
        let level = &mut self.levels[number];
        (level.begin, level.end) = (places.start, places.end);
        let count = (places.end - places.start).div_ceil(1 << level.shift);
        level.lists.resize(level.lists.len().max(count as usize), List::default());
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
            let mut list = std::mem::take(parent.list(from));
            self.reopen(number, from..end);
            self.read_spilled(from..end)?;
            let mut chunk = Vec::with_capacity(CHUNK_RECORDS);
            while self.pool.take_chunk(&mut list, &mut chunk) {
                chunk.drain(..).try_for_each(|record| self.push(record))?;
            }
        }
        Ok(())
    }

    /// Writes all lists as runs; those of the last level only if they take most of the budget.
    fn spill(&mut self) -> Result<()> {
        let last = self.levels.len() - 1;
        let chunks = |list: &List| list.len.div_ceil(CHUNK_RECORDS);
        let of_places: usize = self.levels[last].lists.iter().map(chunks).sum();
        let are_places_spilled = of_places > self.pool.most / 2;
        self.is_place_spilled |= are_places_spilled;
        let mut lists = Vec::new();
        let spilled = &mut self.levels[..last + usize::from(are_places_spilled)];
        for (number, level) in spilled.iter_mut().enumerate().rev() {
            let places = (level.begin..).step_by(1 << level.shift);
            for (place, list) in places.zip(&mut level.lists).filter(|(_, list)| list.len > 0) {
                let list = std::mem::take(list);
                lists.push(SpilledList { place, list, is_alone: number == last });
            }
        }
        // A run holds a part of a long list, so that it fits beside the others.
        while !lists.is_empty() {
            let run = self.write_run(&mut lists)?;
            self.runs.push(Spilled { run, read: self.next });
            lists.retain(|spilled| spilled.list.len > 0);
        }
        Ok(())
    }

    /// Writes a run of the beginnings of lists.
    fn write_run(&mut self, lists: &mut [SpilledList]) -> Result<Run<R>> {
        let directory = match &self.directory {
            Some(directory) => directory.clone(),
            None => Arc::new(RunDirectory::create(&self.files, &self.parent)?),
        };
        self.directory = Some(directory.clone());
        let most = self.pool.most * CHUNK_RECORDS;
        let segment_bytes = SEGMENT_BYTES.max((most * size_of::<R>()) as u64 / SEGMENTS);
        let mut writer = RunWriter::new(directory, self.run_count, segment_bytes);
        self.run_count += 1;
        let (mut collected, mut first) = (Vec::new(), 0);
        for SpilledList { place, list, is_alone } in lists {
            if *is_alone || collected.len() >= BLOCK_RECORDS_MIN {
                write_blocks(&mut collected, first, &mut writer)?;
            }
            if collected.is_empty() {
                first = *place;
            }
            while collected.len() < (most / 8).max(BLOCK_RECORDS)
                && self.pool.take_chunk(list, &mut collected)
            {}
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
