//! Numbers node names: name to index, index by order of first appearance.
//!
//! In memory a name is its 128-bit fingerprint and its index: 20 bytes a slot, whatever the length
//! of the name; the names themselves go to disk in index order. Names of at most 15 bytes are their
//! own fingerprint, so they cannot collide. Longer ones are told apart by 120 bits of XXH3-128: for
//! two billion such names the chance of any collision is below 10^-17, far below that of the memory
//! or the disk returning a wrong bit unnoticed.
//!
//! A batch of parsed text is resolved in four steps, so that the order of first appearance does not
//! depend on threads and no lock is needed:
//!
//! ```text
//!   1  look up      every chunk in parallel, table read only      -> indexes, misses
//!   2  insert       every shard of the table in parallel          -> new names, found in order
//!   3  number       the new names of all shards by place of first appearance
//!   4  fill in      every chunk's misses, every shard's slots, in parallel
//! ```
//! Look-ups go in groups whose first memory accesses do not wait for each other: about 15 ns a name
//! in a table much larger than the cache. Linear probing with tables that grow by a quarter at 85 %
//! load: 24 to 29 bytes a name.

use crate::error::{Error, ErrorKind, Result};
use crate::input::{Fingerprint, NameRef, ParsedChunk};
use rayon::prelude::*;
use std::hash::BuildHasher;

/// The table is split by hash, so that it grows in small steps and shards share nothing.
const TABLES: usize = 1024;
/// Look-ups in flight at once.
const GROUP: usize = 32;
/// Marks a name that step 1 did not find.
const MISS: u32 = u32::MAX;
/// A job with more nodes is refused; the indexes above it are for the names of one batch.
const NODES_MAX: u64 = 4_290_000_000;

/// Fingerprint (two words each half) and index. A fingerprint is never all zero.
type Slot = [u32; 5];
const EMPTY: Slot = [0; 5];

#[inline]
fn slot(fingerprint: Fingerprint, index: u32) -> Slot {
    let Fingerprint { low, high } = fingerprint;
    [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32, index]
}

#[inline]
fn holds(slot: &Slot, wanted: &Slot) -> bool {
    (slot[0] ^ wanted[0]) | (slot[1] ^ wanted[1]) | (slot[2] ^ wanted[2]) | (slot[3] ^ wanted[3]) == 0
}

#[inline]
fn is_empty(slot: &Slot) -> bool {
    slot[3] | slot[2] == 0
}

/// Where a name's hash sends it.
#[derive(Clone, Copy, Default)]
struct Spot {
    table: usize,
    hash: u64,
}

/// Secret multipliers, so that no input can be made to fall into one place.
struct Hasher(u64, u64);

impl Hasher {
    fn new() -> Self {
        let random = std::hash::RandomState::new();
        Self(random.hash_one(1u8), random.hash_one(2u8))
    }

    #[inline]
    fn spot(&self, fingerprint: Fingerprint) -> Spot {
        let product =
            u128::from(fingerprint.low ^ self.0) * u128::from(fingerprint.high ^ self.1 | 1);
        let hash = ((product as u64) ^ (product >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Spot { table: (hash >> 54) as usize, hash: hash << 10 }
    }
}

/// An open-addressing table with linear probing.
#[derive(Default)]
struct Table {
    slots: Vec<Slot>,
    used: usize,
}

impl Table {
    #[inline]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    /// The position of `wanted`, or of the empty slot where it belongs.
    #[inline]
    fn probe(&self, mut at: usize, wanted: &Slot) -> usize {
        loop {
            let slot = &self.slots[at];
            if holds(slot, wanted) || is_empty(slot) {
                return at;
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
    }

    /// The index of `wanted`, which becomes `index` if it is not there yet.
    fn find_or_insert(&mut self, wanted: Slot, hash: u64, rehash: impl Fn(&Slot) -> u64) -> u32 {
        if (self.used + 1) * 20 > self.slots.len() * 17 {
            self.grow(rehash);
        }
        let at = self.probe(self.home(hash), &wanted);
        if is_empty(&self.slots[at]) {
            self.slots[at] = wanted;
            self.used += 1;
        }
        self.slots[at][4]
    }

    fn grow(&mut self, rehash: impl Fn(&Slot) -> u64) {
        let len = (self.slots.len() + self.slots.len() / 4).max(8);
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; len]);
        for slot in old.iter().filter(|slot| !is_empty(slot)) {
            let at = self.probe(self.home(rehash(slot)), slot);
            self.slots[at] = *slot;
        }
    }
}

fn fingerprint_of(slot: &Slot) -> Fingerprint {
    let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    Fingerprint { low: word(slot[0], slot[1]), high: word(slot[2], slot[3]) }
}

/// A name that was not found in step 1.
struct Miss {
    fingerprint: Fingerprint,
    position: u32,
}

/// A name seen for the first time: where, and what it is numbered at last.
struct Newcomer {
    fingerprint: Fingerprint,
    chunk: u32,
    position: u32,
}

/// A share of the tables: those whose number is `shard` modulo the number of shards.
struct Shard {
    number: usize,
    tables: Vec<Table>,
    newcomers: Vec<Newcomer>,
    /// Per chunk, what this shard's misses were found to be: an index, or `first + newcomer`.
    found: Vec<Vec<u32>>,
    /// Index of each newcomer.
    numbered: Vec<u32>,
}

/// Node names with their indexes.
pub struct NodeIndex {
    hasher: Hasher,
    shards: Vec<Shard>,
    node_count: u64,
}

impl NodeIndex {
    /// An empty index for `threads` threads.
    pub fn new(threads: usize) -> Self {
        let count = threads.clamp(1, 64);
        let shards = (0..count)
            .map(|number| Shard {
                number,
                tables: (0..TABLES.div_ceil(count)).map(|_| Table::default()).collect(),
                newcomers: Vec::new(),
                found: Vec::new(),
                numbered: Vec::new(),
            })
            .collect();
        Self { hasher: Hasher::new(), shards, node_count: 0 }
    }

    /// Names so far.
    pub fn node_count(&self) -> u64 {
        self.node_count
    }

    /// Memory of the tables.
    pub fn memory_bytes(&self) -> u64 {
        let tables = self.shards.iter().flat_map(|shard| &shard.tables);
        tables.map(|table| (table.slots.capacity() * size_of::<Slot>()) as u64).sum()
    }

    /// Numbers the names of `chunks`, which follow each other in the input. Afterwards
    /// `indexes[chunk][i]` is the index of `chunks[chunk].names[i]`. New names are handed to
    /// `each_new` in index order.
    ///
    /// # Errors
    /// `TooManyNodes`, and whatever `each_new` gives.
    pub fn resolve(
        &mut self,
        chunks: &[ParsedChunk],
        indexes: &mut Vec<Vec<u32>>,
        each_new: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        indexes.resize_with(chunks.len().max(indexes.len()), Vec::new);
        let misses: Vec<Vec<Miss>> = chunks
            .par_iter()
            .zip(indexes.par_iter_mut())
            .map(|(chunk, out)| self.look_up(&chunk.names, out))
            .collect();
        if misses.iter().all(Vec::is_empty) {
            return Ok(());
        }
        self.insert(&misses)?;
        self.number(chunks, each_new)?;
        self.fill_in(&misses, indexes);
        Ok(())
    }

    fn table(&self, spot: Spot) -> &Table {
        let count = self.shards.len();
        &self.shards[spot.table % count].tables[spot.table / count]
    }

    /// Step 1: what is known already.
    fn look_up(&self, names: &[NameRef], out: &mut Vec<u32>) -> Vec<Miss> {
        let mut misses = Vec::new();
        out.clear();
        out.reserve(names.len());
        let mut group: [(&[Slot], usize); GROUP] = [(&[], 0); GROUP];
        for (number, part) in names.chunks(GROUP).enumerate() {
            let mut firsts = [EMPTY; GROUP];
            for ((name, place), first) in part.iter().zip(&mut group).zip(&mut firsts) {
                let spot = self.hasher.spot(name.fingerprint);
                let table = self.table(spot);
                let at = table.home(spot.hash);
                // These loads do not depend on each other: the processor overlaps their misses.
                *first = table.slots.get(at).copied().unwrap_or(EMPTY);
                *place = (&table.slots, at);
            }
            for (i, (name, (slots, home))) in part.iter().zip(&group).enumerate() {
                let wanted = slot(name.fingerprint, MISS);
                let index = find(slots, *home, &firsts[i], &wanted);
                if index == MISS {
                    let position = (number * GROUP + i) as u32;
                    misses.push(Miss { fingerprint: name.fingerprint, position });
                }
                out.push(index);
            }
        }
        misses
    }

    /// Step 2: each shard takes its misses in order of appearance.
    fn insert(&mut self, misses: &[Vec<Miss>]) -> Result<()> {
        let first = self.node_count;
        let count = self.shards.len();
        let most: u64 = misses.iter().map(|misses| misses.len() as u64).sum();
        if first > NODES_MAX || first + most >= u64::from(MISS) {
            return Err(too_many_nodes());
        }
        let hasher = &self.hasher;
        self.shards.par_iter_mut().for_each(|shard| {
            shard.newcomers.clear();
            shard.found.resize_with(misses.len().max(shard.found.len()), Vec::new);
            for (chunk, (misses, found)) in misses.iter().zip(&mut shard.found).enumerate() {
                found.clear();
                for miss in misses {
                    let spot = hasher.spot(miss.fingerprint);
                    if spot.table % count != shard.number {
                        continue;
                    }
                    let table = &mut shard.tables[spot.table / count];
                    let next = (first + shard.newcomers.len() as u64) as u32;
                    let wanted = slot(miss.fingerprint, next);
                    let rehash = |slot: &Slot| hasher.spot(fingerprint_of(slot)).hash;
                    let index = table.find_or_insert(wanted, spot.hash, rehash);
                    if index == next {
                        let (fingerprint, position) = (miss.fingerprint, miss.position);
                        let chunk = chunk as u32;
                        shard.newcomers.push(Newcomer { fingerprint, chunk, position });
                    }
                    found.push(index);
                }
            }
        });
        Ok(())
    }

    /// Step 3: newcomers of all shards in the order in which they appear.
    fn number(
        &mut self,
        chunks: &[ParsedChunk],
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

    /// Step 4: misses get their indexes, and the newcomers' slots too.
    fn fill_in(&mut self, misses: &[Vec<Miss>], indexes: &mut [Vec<u32>]) {
        let count = self.shards.len();
        let first = self.node_count - self.shards.iter().map(|s| s.newcomers.len() as u64).sum::<u64>();
        let (hasher, shards) = (&self.hasher, &self.shards);
        misses.par_iter().zip(indexes.par_iter_mut()).enumerate().for_each(
            |(chunk, (misses, indexes))| {
                let mut next = vec![0; count];
                for miss in misses {
                    let shard = hasher.spot(miss.fingerprint).table % count;
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
            for (newcomer, &index) in shard.newcomers.iter().zip(&shard.numbered) {
                let spot = hasher.spot(newcomer.fingerprint);
                let table = &mut shard.tables[spot.table / count];
                let wanted = slot(newcomer.fingerprint, 0);
                let at = table.probe(table.home(spot.hash), &wanted);
                table.slots[at][4] = index;
            }
        });
    }
}

/// The index of `wanted`, or [`MISS`].
#[inline]
fn find(slots: &[Slot], home: usize, first: &Slot, wanted: &Slot) -> u32 {
    if holds(first, wanted) {
        return first[4];
    }
    if is_empty(first) {
        return MISS;
    }
    let mut at = home + 1;
    loop {
        if at == slots.len() {
            at = 0;
        }
        let slot = &slots[at];
        if holds(slot, wanted) {
            return slot[4];
        }
        if is_empty(slot) {
            return MISS;
        }
        at += 1;
    }
}

fn too_many_nodes() -> Error {
    Error::new(ErrorKind::TooManyNodes, "the input has more than 4,290,000,000 nodes")
        .hint("node indexes are 32-bit numbers: cluster a part of the graph")
}
