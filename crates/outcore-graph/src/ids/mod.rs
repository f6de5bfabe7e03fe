//! Numbers node names: maps names to indexes, in order of first appearance.
//!
//! In memory, a name is its 128-bit fingerprint and its index: 20 bytes per slot, regardless of the length of the name.
//! The names themselves go to disk in index order. Names of at most 15 bytes are their own fingerprint, so they cannot
//! collide. Longer ones are distinguished by 120 bits of XXH3-128: for two billion such names, the probability of any
//! collision is below 10^-17, far below that of an undetected bit error in memory or on disk.
//!
//! A batch of parsed text is resolved in four steps, so that the order of first appearance is independent of threads
//! and no lock is needed:
//!
//! ```text
//!   1  look up      every chunk in parallel, table read only      -> indexes, misses
//!   2  insert       every shard of the table in parallel          -> new names, found in order
//!   3  number       the new names of all shards by place of first appearance
//!   4  fill in      every chunk's misses, every shard's slots, in parallel
//! ```
//! The slots of lookups are prefetched (`table`).
//!
//! While all names are decimal numbers that fill their range (at most `SPARSE` times as many numbers as names, or
//! `SCATTERED` if there is memory for them), the number itself is the place: 4 bytes per number, one access. The first
//! name that does not fit moves everything to fingerprints, once; indexes do not change. Indexes never depend on the
//! kind of table, on memory or on threads: graphs and checkpoints store them.

mod add;
mod name;
mod queue;
mod size;
mod spill;
#[cfg(test)]
mod spill_tests;
mod table;
#[cfg(test)]
mod tests;

pub use add::Added;
pub use name::{EdgeChunk, Fingerprint, NAME_LIMIT, NameRef, SHORT_NAME_BYTES};
pub use size::NamesSize;
pub use spill::{KnownEdges, NameRoom, Spill, SpillState, SpilledEdges};

use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::{prefetch, reserve_large_pages};
use rayon::prelude::*;
pub use table::number;
use table::{Hasher, Line, Spot, Table, fingerprint_of, fingerprint_of_number, slot};

/// Number of lookups in flight.
const AHEAD: usize = 32;
/// Prefetch distance of insertions, in names.
const INSERTS_AHEAD: usize = 16;
/// Number of names whose slots are prefetched together, when they are added in bulk or are numbers.
const GROUP: usize = 32;
/// Mark of a name that step 1 did not find.
const MISS: u32 = u32::MAX;
/// Numbers are their own places while the largest is below this multiple of the number of names.
const SPARSE: u64 = 6;
/// Numbers below this are their own places, however few names there are.
const NUMBERS_MIN: u64 = 1 << 20;
/// Numbers below this multiple of the number of names are their own places, too, while these take at most half of the
/// memory allowed for sparse tables. A large input whose numbers are in random order begins with numbers that are
/// further apart; these are hashed at first.
const SCATTERED: u64 = 16;
/// Maximum number of nodes of a job. The indexes above it number the new names of one batch.
pub const NODES_MAX: u64 = 4_290_000_000;

/// Name that was not found in step 1.
struct Miss {
    fingerprint: Fingerprint,
    position: u32,
}

/// Name seen for the first time, and its place.
struct Newcomer {
    fingerprint: Fingerprint,
    chunk: u32,
    position: u32,
}

/// Share of the names: those assigned to this shard.
#[derive(Default)]
struct Shard {
    number: usize,
    /// Index by fingerprint.
    table: Table,
    /// Index by place, [`MISS`] if there is no such name; empty once names are hashed.
    numbers: Vec<u32>,
    newcomers: Vec<Newcomer>,
    /// For each chunk, the results for this shard's misses: an index, or `first + newcomer`.
    found: Vec<Vec<u32>>,
    /// Index of each newcomer.
    numbered: Vec<u32>,
}

impl Shard {
    /// Prefetches the slots of a name in this shard.
    #[inline]
    fn prefetch(&self, spot: Spot, hasher: &Hasher) {
        if spot.shard == self.number && !hasher.numbers {
            self.table.prefetch(self.table.home(spot.place));
        }
    }

    /// Returns the index of a name, after inserting it with index `next` if it does not exist.
    fn find_or_insert(&mut self, name: Fingerprint, place: u64, next: u32, hasher: &Hasher) -> u32 {
        if !hasher.numbers {
            return self.table.find_or_insert(slot(name, next), place, hasher);
        }
        let place = place as usize;
        if place >= self.numbers.len() {
            let len = (place + 1).max(self.numbers.len() + self.numbers.len() / 8);
            self.numbers.reserve_exact(len - self.numbers.len());
            self.numbers.resize(len, MISS);
        }
        if self.numbers[place] == MISS {
            self.numbers[place] = next;
        }
        self.numbers[place]
    }

    /// Sets the index of an existing name.
    fn set(&mut self, name: Fingerprint, place: u64, index: u32, hasher: &Hasher) {
        if hasher.numbers {
            self.numbers[place as usize] = index;
        } else {
            let at = self.table.position(&slot(name, 0), place);
            self.table.slot_mut(at)[4] = index;
        }
    }
}

/// Node names with their indexes.
pub struct NodeIndex {
    hasher: Hasher,
    shards: Vec<Shard>,
    node_count: u64,
    sparse_bytes: u64,
    hashed: Hashed,
}

/// Numbers that are hashed, as they are too far apart.
#[derive(Default)]
struct Hashed {
    /// Largest number, while all names are numbers.
    largest: Option<u64>,
    /// Number of names when they were hashed.
    since: u64,
}

impl NodeIndex {
    /// Creates an empty index for `threads` threads, with addresses reserved for `max_bytes` of memory. For speed,
    /// tables stay sparse while they take less than `sparse_bytes`.
    pub fn new(threads: usize, max_bytes: u64, sparse_bytes: u64) -> Self {
        let count = threads.clamp(1, 64);
        // A table may grow one step ahead of the others. If it outgrew its reservation, it would be moved, and take the
        // memory of both places.
        let shard_bytes = (max_bytes / count as u64 / 8 * 9) as usize;
        let shard = |number| Shard {
            number,
            table: Table {
                lines: reserve_large_pages(shard_bytes / size_of::<Line>()),
                sparse_homes: sparse_bytes as usize / count / size_of::<Line>(),
                ..Table::default()
            },
            numbers: reserve_large_pages(shard_bytes / size_of::<u32>()),
            ..Shard::default()
        };
        let shards = (0..count).map(shard).collect();
        Self {
            hasher: Hasher::new(count),
            shards,
            node_count: 0,
            sparse_bytes,
            hashed: Hashed::default(),
        }
    }

    /// Returns the number of names so far.
    pub fn node_count(&self) -> u64 {
        self.node_count
    }

    /// Returns the memory used by the tables.
    pub fn memory_bytes(&self) -> u64 {
        let bytes = self.shards.iter().map(|shard| {
            shard.table.lines.len() * size_of::<Line>() + shard.numbers.len() * size_of::<u32>()
        });
        bytes.map(|bytes| bytes as u64).sum()
    }

    /// Returns the memory that tables with these names need at least, or slightly more.
    pub fn needed_bytes(&self) -> u64 {
        let bytes = self.shards.iter().map(|shard| {
            let dense = Table { used: shard.table.used, ..Table::default() }.lines_with(0);
            let lines = dense.min(shard.table.lines.len());
            lines * size_of::<Line>() + shard.numbers.len() * size_of::<u32>()
        });
        bytes.map(|bytes| bytes as u64).sum()
    }

    /// Lets tables become dense before they grow; returns `false` if they already could.
    pub fn make_dense(&mut self) -> bool {
        let homes =
            self.shards.iter_mut().map(|shard| std::mem::take(&mut shard.table.sparse_homes));
        homes.sum::<usize>() > 0
    }

    /// Like [`resolve_within`](Self::resolve_within), with unlimited room.
    #[cfg(test)]
    fn resolve(
        &mut self,
        chunks: &[EdgeChunk],
        indexes: &mut Vec<Vec<u32>>,
        each_new: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.resolve_within(chunks, indexes, u64::MAX, each_new).map(drop)
    }

    /// Numbers the names of `chunks`, which are consecutive in the input. Afterwards `indexes[chunk][i]` is the index
    /// of `chunks[chunk].names[i]`. New names are passed to `each_new` in index order. If the tables could exceed
    /// `room_bytes`, numbers no name and returns the memory that they may need.
    ///
    /// # Errors
    /// `TooManyNodes`, and the errors of `each_new`.
    pub fn resolve_within(
        &mut self,
        chunks: &[EdgeChunk],
        indexes: &mut Vec<Vec<u32>>,
        room_bytes: u64,
        each_new: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<Option<u64>> {
        indexes.resize_with(chunks.len().max(indexes.len()), Vec::new);
        let misses = match self.look_up_all(chunks, indexes, room_bytes) {
            Ok(misses) => misses,
            Err(bytes) => return Ok(Some(bytes)),
        };
        if misses.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        self.insert(&misses)?;
        self.number(chunks, each_new)?;
        self.fill_in(&misses, indexes);
        Ok(None)
    }

    /// Step 1: looks up known names. If adding the others could make the tables exceed `room_bytes`, returns the bytes
    /// that they may need. Changes the kind of table if a name is not a number that fits, or if hashed numbers have
    /// become dense.
    fn look_up_all(
        &mut self,
        chunks: &[EdgeChunk],
        out: &mut [Vec<u32>],
        room_bytes: u64,
    ) -> std::result::Result<Vec<Vec<Miss>>, u64> {
        let within = |bytes: u64| if bytes > room_bytes { Err(bytes) } else { Ok(()) };
        if self.hasher.numbers {
            let found = self.look_up_all_numbers(chunks, out);
            if let Some((misses, largest)) = &found
                && self.are_places(*largest, count(misses))
            {
                within(self.bytes_up_to(*largest))?;
                return Ok(found.expect("it was there").0);
            }
            // Both tables exist at the same time.
            within(self.memory_bytes() + self.bytes_with(self.node_count as usize))?;
            self.hash_numbers(found.map(|(_, largest)| largest));
        }
        let all = chunks.par_iter().zip(out.par_iter_mut());
        let misses: Vec<_> = all.map(|(chunk, out)| self.look_up(&chunk.names, out)).collect();
        match self.largest_of_dense(&misses) {
            Some(largest) if self.memory_bytes() + self.bytes_up_to(largest) <= room_bytes => {
                self.place_numbers(largest);
            }
            _ => within(self.bytes_with(count(&misses) as usize))?,
        }
        Ok(misses)
    }

    /// Step 1 for numbers: returns misses and the largest number, or `None` if a name is not a number.
    fn look_up_all_numbers(
        &self,
        chunks: &[EdgeChunk],
        out: &mut [Vec<u32>],
    ) -> Option<(Vec<Vec<Miss>>, u64)> {
        let all = chunks.par_iter().zip(out.par_iter_mut());
        let looked_up: Option<Vec<_>> =
            all.map(|(chunk, out)| self.look_up_numbers(&chunk.names, out)).collect();
        let (misses, largest): (_, Vec<u64>) = looked_up?.into_iter().unzip();
        Some((misses, largest.into_iter().max().unwrap_or(0)))
    }

    /// Returns the largest of the hashed numbers if they are dense enough to become their own places. Their number must
    /// have doubled since they were hashed, so that tables rarely change their kind.
    fn largest_of_dense(&mut self, misses: &[Vec<Miss>]) -> Option<u64> {
        let mut names = misses.iter().flatten().map(|miss| number(miss.fingerprint));
        let largest = names.try_fold(self.hashed.largest?, |most, number| Some(most.max(number?)));
        self.hashed.largest = largest;
        let new = count(misses);
        let has_doubled = self.node_count + new >= 2 * self.hashed.since;
        largest.filter(|&largest| has_doubled && self.are_places(largest, new))
    }

    /// Returns whether numbers can remain their own places with `new` more names.
    fn are_places(&self, largest: u64, new: u64) -> bool {
        let names = self.node_count + new;
        let is_scattered = largest < names.saturating_mul(SCATTERED);
        largest < names.saturating_mul(SPARSE).max(NUMBERS_MIN)
            || (is_scattered && self.bytes_up_to(largest) <= self.sparse_bytes / 2)
    }

    /// Returns the memory for the places of numbers up to `largest`.
    fn bytes_up_to(&self, largest: u64) -> u64 {
        let shards = self.shards.len() as u64;
        let bytes = self.shards.iter().map(|shard| {
            let (len, wanted) = (shard.numbers.len() as u64, largest / shards + 1);
            let grown = if wanted > len { wanted.max(len + len / 8) } else { len };
            grown * size_of::<u32>() as u64
        });
        bytes.sum()
    }

    /// Returns the maximum memory of the hashed tables with `new` more names. They are distributed randomly, which is
    /// covered by six standard deviations.
    fn bytes_with(&self, new: usize) -> u64 {
        let mean = new as f64 / self.shards.len() as f64;
        let new = (mean + 6.0 * mean.sqrt()).ceil() as usize;
        let lines = self.shards.iter().map(|shard| shard.table.lines_with(new));
        lines.map(|lines| (lines * size_of::<Line>()) as u64).sum()
    }

    /// Moves hashed numbers to their places.
    fn place_numbers(&mut self, largest: u64) {
        self.hasher.numbers = true;
        let len = (largest / self.shards.len() as u64 + 1) as usize;
        for shard in &mut self.shards {
            let reserved = shard.table.lines.capacity() * size_of::<Line>();
            shard.numbers = reserve_large_pages(reserved / size_of::<u32>());
            shard.numbers.resize(len, MISS);
        }
        for shard in 0..self.shards.len() {
            for slot in self.shards[shard].table.take() {
                let number = number(fingerprint_of(&slot)).expect("all names so far are numbers");
                let Spot { shard, place } = self.hasher.number_spot(number);
                self.shards[shard].numbers[place as usize] = slot[4];
            }
        }
    }

    /// Moves all numbers to the tables of fingerprints. `largest` is the largest number with those to come, if all are
    /// numbers.
    fn hash_numbers(&mut self, largest: Option<u64>) {
        self.hasher.numbers = false;
        let before = self.shards.iter().map(|shard| shard.numbers.len() as u64).sum();
        let largest = largest.map(|largest| largest.max(before));
        self.hashed = Hashed { largest, since: self.node_count };
        let count = self.shards.len() as u64;
        let mut old: Vec<Vec<u32>> =
            self.shards.iter_mut().map(|shard| std::mem::take(&mut shard.numbers)).collect();
        for (remainder, numbers) in old.iter_mut().enumerate() {
            for (place, &index) in numbers.iter().enumerate() {
                if index == MISS {
                    continue;
                }
                let name = fingerprint_of_number(place as u64 * count + remainder as u64);
                let spot = self.hasher.hashed_spot(name);
                let shard = &mut self.shards[spot.shard];
                shard.find_or_insert(name, spot.place, index, &self.hasher);
            }
            *numbers = Vec::new();
        }
    }

    /// Step 1 for numbers: returns misses and the largest number, or `None` if a name is not a number.
    fn look_up_numbers(&self, names: &[NameRef], out: &mut Vec<u32>) -> Option<(Vec<Miss>, u64)> {
        let (mut misses, mut largest) = (Vec::new(), 0);
        out.clear();
        out.reserve(names.len());
        for names in names.chunks(GROUP) {
            let mut places = [(&[][..], 0); GROUP];
            for (name, place) in names.iter().zip(&mut places) {
                let number = number(name.fingerprint)?;
                largest = largest.max(number);
                let spot = self.hasher.number_spot(number);
                *place = (&self.shards[spot.shard].numbers, spot.place as usize);
                prefetch(place.0, place.1);
            }
            for (name, (numbers, place)) in names.iter().zip(places) {
                let index = numbers.get(place).copied().unwrap_or(MISS);
                if index == MISS {
                    let position = out.len() as u32;
                    misses.push(Miss { fingerprint: name.fingerprint, position });
                }
                out.push(index);
            }
        }
        Some((misses, largest))
    }

    /// Step 1 for fingerprints: returns the misses.
    fn look_up(&self, names: &[NameRef], out: &mut Vec<u32>) -> Vec<Miss> {
        let mut misses = Vec::new();
        out.clear();
        out.reserve(names.len());
        // Ring of the names whose slots are on the way to the cache.
        let mut ring = [(&self.shards[0].table, 0, 0); AHEAD];
        for at in 0..names.len() + AHEAD {
            let next = &mut ring[at % AHEAD];
            if let Some(name) = at.checked_sub(AHEAD).map(|before| &names[before]) {
                let &mut (table, home, place) = next;
                let found = table.find(&slot(name.fingerprint, MISS), home, place, &self.hasher);
                if found.is_none() {
                    let position = (at - AHEAD) as u32;
                    misses.push(Miss { fingerprint: name.fingerprint, position });
                }
                out.push(found.unwrap_or(MISS));
            }
            if let Some(name) = names.get(at) {
                let Spot { shard, place } = self.hasher.hashed_spot(name.fingerprint);
                let table = &self.shards[shard].table;
                let home = table.home(place);
                table.prefetch(home);
                *next = (table, home, place);
            }
        }
        misses
    }

    /// Looks up the indexes of names, [`MISS`] for unknown ones.
    fn look_up_known(&self, names: &[NameRef], out: &mut Vec<u32>) {
        if !self.hasher.numbers {
            self.look_up(names, out);
            return;
        }
        out.clear();
        out.extend(names.iter().map(|name| {
            let Some(number) = number(name.fingerprint) else { return MISS };
            let Spot { shard, place } = self.hasher.number_spot(number);
            self.shards[shard].numbers.get(place as usize).copied().unwrap_or(MISS)
        }));
    }

    /// Step 2: each shard inserts its misses in order of appearance.
    fn insert(&mut self, misses: &[Vec<Miss>]) -> Result<()> {
        let first = self.node_count;
        if first > NODES_MAX || first + count(misses) >= u64::from(MISS) {
            return Err(too_many_nodes());
        }
        let hasher = &self.hasher;
        self.shards.par_iter_mut().for_each(|shard| {
            shard.newcomers.clear();
            shard.found.resize_with(misses.len().max(shard.found.len()), Vec::new);
            for (chunk, misses) in misses.iter().enumerate() {
                let mut found = std::mem::take(&mut shard.found[chunk]);
                found.clear();
                for (at, miss) in misses.iter().enumerate() {
                    if let Some(ahead) = misses.get(at + INSERTS_AHEAD) {
                        shard.prefetch(hasher.spot(ahead.fingerprint), hasher);
                    }
                    let spot = hasher.spot(miss.fingerprint);
                    if spot.shard != shard.number {
                        continue;
                    }
                    let next = (first + shard.newcomers.len() as u64) as u32;
                    let name = miss.fingerprint;
                    let index = shard.find_or_insert(name, spot.place, next, hasher);
                    if index == next {
                        let (fingerprint, position) = (miss.fingerprint, miss.position);
                        let chunk = chunk as u32;
                        shard.newcomers.push(Newcomer { fingerprint, chunk, position });
                    }
                    found.push(index);
                }
                shard.found[chunk] = found;
            }
        });
        Ok(())
    }

    /// Step 3: numbers the newcomers of all shards in the order in which they appear.
    fn number(
        &mut self,
        chunks: &[EdgeChunk],
        mut each_new: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut heads = vec![0; self.shards.len()];
        for shard in &mut self.shards {
            shard.numbered.clear();
        }
        loop {
            let earliest = self.shards.iter().zip(&heads).filter_map(|(shard, &head)| {
                let newcomer = shard.newcomers.get(head)?;
                Some((newcomer.chunk, newcomer.position, shard.number))
            });
            let Some((chunk, position, shard)) = earliest.min() else { return Ok(()) };
            heads[shard] += 1;
            self.shards[shard].numbered.push(self.node_count as u32);
            self.node_count += 1;
            let chunk = &chunks[chunk as usize];
            each_new(chunk.name(&chunk.names[position as usize]))?;
        }
    }

    /// Step 4: sets the indexes of the misses, and of the newcomers' slots.
    fn fill_in(&mut self, misses: &[Vec<Miss>], indexes: &mut [Vec<u32>]) {
        let count = self.shards.len();
        let first =
            self.node_count - self.shards.iter().map(|s| s.newcomers.len() as u64).sum::<u64>();
        let (hasher, shards) = (&self.hasher, &self.shards);
        misses.par_iter().zip(indexes.par_iter_mut()).enumerate().for_each(
            |(chunk, (misses, indexes))| {
                let mut next = vec![0; count];
                for miss in misses {
                    let shard = hasher.spot(miss.fingerprint).shard;
                    let found = shards[shard].found[chunk][next[shard]];
                    next[shard] += 1;
                    indexes[miss.position as usize] = if u64::from(found) < first {
                        found
                    } else {
                        shards[shard].numbered[(u64::from(found) - first) as usize]
                    };
                }
            },
        );
        self.shards.par_iter_mut().for_each(|shard| {
            let newcomers = std::mem::take(&mut shard.newcomers);
            let numbered = std::mem::take(&mut shard.numbered);
            for (newcomer, &index) in newcomers.iter().zip(&numbered) {
                let place = hasher.spot(newcomer.fingerprint).place;
                shard.set(newcomer.fingerprint, place, index, hasher);
            }
        });
    }
}

/// Returns the number of misses of all chunks.
fn count(misses: &[Vec<Miss>]) -> u64 {
    misses.iter().map(|misses| misses.len() as u64).sum()
}

/// Mixes the bits of a hash (SplitMix64).
#[inline]
fn mix(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ hash >> 31
}

fn too_many_nodes() -> Error {
    Error::new(ErrorKind::TooManyNodes, "the input has more than 4,290,000,000 nodes")
        .hint("node indexes are 32-bit numbers: cluster a part of the graph")
}
