//! Table from fingerprints to indexes, and the place of a name in it.
//!
//! Open addressing with linear probing, 20 bytes per slot. Slots are in the order of their places, so the table grows in
//! place in one pass from end to end. It grows by an eighth at 85 % load: 23.5 to 26.5 bytes per name. While it takes at
//! most a quarter of the memory it grows at 55 % load, 36 to 41 bytes per name: probing is half as long, and a lookup
//! takes 9 ns instead of 25 among five million names.

use super::name::Fingerprint;
use outcore_io::{prefetch, reserve_large_pages};
use std::hash::BuildHasher;

/// Fingerprint (two words per half) and index. A fingerprint is never all zeros.
pub(super) type Slot = [u32; 5];
const EMPTY: Slot = [0; 5];

#[inline]
pub(super) fn slot(fingerprint: Fingerprint, index: u32) -> Slot {
    let Fingerprint { low, high } = fingerprint;
    [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32, index]
}

#[inline]
fn holds(slot: &Slot, wanted: &Slot) -> bool {
    (slot[0] ^ wanted[0]) | (slot[1] ^ wanted[1]) | (slot[2] ^ wanted[2]) | (slot[3] ^ wanted[3])
        == 0
}

#[inline]
fn is_empty(slot: &Slot) -> bool {
    slot[3] | slot[2] == 0
}

/// Destination of a name's hash: a shard, and a place in it as a fraction of 2^64.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) shard: usize,
    pub(super) place: u64,
}

/// Assigns names to shards and places.
pub(super) struct Hasher {
    /// Secret multipliers, so that no input can be constructed whose names share one place.
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) shards: u64,
    /// Whether all names are numbers, which are then used as places.
    pub(super) numbers: bool,
}

impl Hasher {
    pub(super) fn new(shards: usize) -> Self {
        let random = std::hash::RandomState::new();
        let (low, high) = (random.hash_one(1u8), random.hash_one(2u8));
        Self { low, high, shards: shards as u64, numbers: true }
    }

    /// Returns the spot of a name that fits the current kind of table.
    pub(super) fn spot(&self, fingerprint: Fingerprint) -> Spot {
        if self.numbers {
            self.number_spot(number(fingerprint).expect("all names so far are numbers"))
        } else {
            self.hashed_spot(fingerprint)
        }
    }

    #[inline]
    pub(super) fn number_spot(&self, number: u64) -> Spot {
        Spot { shard: (number % self.shards) as usize, place: number / self.shards }
    }

    #[inline]
    pub(super) fn hash(&self, fingerprint: Fingerprint) -> u64 {
        let product =
            u128::from(fingerprint.low ^ self.low) * u128::from(fingerprint.high ^ self.high | 1);
        ((product as u64) ^ (product >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    #[inline]
    pub(super) fn hashed_spot(&self, fingerprint: Fingerprint) -> Spot {
        let scaled = u128::from(self.hash(fingerprint)) * u128::from(self.shards);
        Spot { shard: (scaled >> 64) as usize, place: scaled as u64 }
    }

    #[inline]
    fn place(&self, slot: &Slot) -> u64 {
        self.hashed_spot(fingerprint_of(slot)).place
    }
}

/// Returns the number that a name represents, written without leading zeros in at most 15 digits.
#[inline]
pub fn number(fingerprint: Fingerprint) -> Option<u64> {
    let len = (fingerprint.high >> 56) as usize;
    let mut digits = u128::from(fingerprint.low) | u128::from(fingerprint.high) << 64;
    if len > 15 || (len > 1 && digits as u8 == b'0') {
        return None;
    }
    let mut value = 0;
    for _ in 0..len {
        let digit = (digits as u8).wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
        digits >>= 8;
    }
    Some(value)
}

/// Returns the fingerprint of a number's digits.
pub(super) fn fingerprint_of_number(number: u64) -> Fingerprint {
    Fingerprint::of(number.to_string().as_bytes())
}

/// Returns the index of `wanted` among slots, from its home on.
#[inline]
pub(super) fn find(slots: &[Slot], home: usize, wanted: &Slot) -> Option<u32> {
    for slot in slots.get(home..).unwrap_or_default() {
        if holds(slot, wanted) {
            return Some(slot[4]);
        }
        if is_empty(slot) {
            break;
        }
    }
    None
}

/// Open-addressing table with linear probing. Its slots are in the order of their places, so it can grow in place in
/// one pass from end to end: memory never holds two tables.
#[derive(Default)]
pub(super) struct Table {
    /// The homes, then [`OVERFLOW`] more for the last run of used slots, as probing does not wrap around.
    pub(super) slots: Vec<Slot>,
    pub(super) homes: usize,
    pub(super) used: usize,
    /// Number of homes below which the table stays sparse, for speed.
    pub(super) sparse_homes: usize,
}

/// Tables are sparse while they take at most this part of the memory.
pub(super) const SPARSE_PART: usize = 4;
/// Number of slots after the last home.
pub(super) const OVERFLOW: usize = 128;
/// A table grows when more than this share of its homes is used, a small and a large one...
pub(super) const SPARSE_LOAD_MAX: (usize, usize) = (11, 20);
pub(super) const LOAD_MAX: (usize, usize) = (17, 20);
/// ...by an eighth, or initially to this.
pub(super) const HOMES_MIN: usize = 1 << 10;

impl Table {
    /// Creates a table without names, with room for `names` names.
    pub(super) fn with_room(names: usize) -> Self {
        let homes = (names + 1) * LOAD_MAX.1 / LOAD_MAX.0 + 1;
        let mut slots = reserve_large_pages(homes + OVERFLOW);
        slots.resize(homes + OVERFLOW, EMPTY);
        Self { slots, homes, used: 0, sparse_homes: 0 }
    }

    /// Returns whether `homes` homes are too few for `names` names.
    #[inline]
    pub(super) fn is_full(&self, homes: usize, names: usize) -> bool {
        let (used, of) = if homes < self.sparse_homes { SPARSE_LOAD_MAX } else { LOAD_MAX };
        names * of > homes * used
    }

    fn next_homes(&self, homes: usize) -> usize {
        if homes < self.sparse_homes {
            (homes + homes / 4).max(HOMES_MIN).min(self.sparse_homes)
        } else {
            (homes + homes / 8).max(HOMES_MIN)
        }
    }

    /// Returns the number of slots with `more` names.
    pub(super) fn slots_with(&self, more: usize) -> usize {
        let mut homes = self.homes;
        while self.is_full(homes, self.used + more) {
            homes = self.next_homes(homes);
        }
        homes + OVERFLOW
    }

    #[inline]
    pub(super) fn home(&self, place: u64) -> usize {
        ((u128::from(place) * self.homes as u128) >> 64) as usize
    }

    /// Prefetches the slots that a lookup will need.
    #[inline]
    pub(super) fn prefetch(&self, home: usize) {
        prefetch(&self.slots, home);
        // Half of the names are in the next cache line.
        prefetch(&self.slots, home + 3);
    }

    /// Returns the index of `wanted`, after inserting it with its own index if it does not exist.
    pub(super) fn find_or_insert(&mut self, wanted: Slot, place: u64, hasher: &Hasher) -> u32 {
        if self.is_full(self.homes, self.used + 1) {
            self.grow(hasher);
        }
        loop {
            let mut at = self.home(place);
            while at < self.slots.len() && !is_empty(&self.slots[at]) {
                if holds(&self.slots[at], &wanted) {
                    return self.slots[at][4];
                }
                at += 1;
            }
            if at < self.slots.len() {
                self.insert(wanted, place, at, hasher);
                return wanted[4];
            }
            self.grow(hasher);
        }
    }

    /// Inserts `wanted` before the first slot of a later place; the slots up to the `empty` one move.
    fn insert(&mut self, wanted: Slot, place: u64, empty: usize, hasher: &Hasher) {
        let mut at = empty;
        while at > 0 && !is_empty(&self.slots[at - 1]) && hasher.place(&self.slots[at - 1]) > place
        {
            self.slots[at] = self.slots[at - 1];
            at -= 1;
        }
        self.slots[at] = wanted;
        self.used += 1;
    }

    /// Returns the position of an existing slot.
    pub(super) fn position(&self, wanted: &Slot, place: u64) -> usize {
        let mut at = self.home(place);
        while !holds(&self.slots[at], wanted) {
            at += 1;
        }
        at
    }

    /// Grows by a step.
    fn grow(&mut self, hasher: &Hasher) {
        self.grow_to(self.next_homes(self.homes), hasher);
    }

    /// Grows in place: all slots move to the end, then each to its new home or after the previous one.
    pub(super) fn grow_to(&mut self, homes: usize, hasher: &Hasher) {
        self.homes = homes;
        loop {
            let old_len = self.slots.len();
            let len = self.homes + OVERFLOW;
            self.slots.reserve_exact(len - old_len);
            self.slots.resize(len, EMPTY);
            let mut end = len;
            for at in (0..old_len).rev() {
                if !is_empty(&self.slots[at]) {
                    end -= 1;
                    self.slots[end] = self.slots[at];
                }
            }
            self.slots[..end].fill(EMPTY);
            let mut free = 0;
            for at in end..len {
                let slot = std::mem::replace(&mut self.slots[at], EMPTY);
                // The slots not yet moved are after `at`, so the new position is never after it.
                free = self.home(hasher.place(&slot)).max(free).min(at);
                self.slots[free] = slot;
                free += 1;
            }
            if self.slots.last().is_some_and(is_empty) {
                return;
            }
            self.homes = self.next_homes(self.homes);
        }
    }
}

pub(super) fn fingerprint_of(slot: &Slot) -> Fingerprint {
    let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    Fingerprint { low: word(slot[0], slot[1]), high: word(slot[2], slot[3]) }
}
