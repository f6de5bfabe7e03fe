//! Table from fingerprints to indexes, and the place of a name in it.
//!
//! Open addressing with linear probing. Three slots of 20 bytes share a cache line, where probing for their names begins, so
//! most lookups touch one line. Slots are in the order of their places, so the table grows in place in one pass from end to
//! end. It grows by an eighth at 87 % load: 24.5 to 27.5 bytes per name. While it is small in comparison with the memory it
//! grows by a quarter at 55 % load, 39 to 48.5 bytes per name: more lookups touch one line, and a name is moved half as
//! often.

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

#[inline(always)]
fn holds(slot: &Slot, wanted: &Slot) -> bool {
    let half = |slot: &Slot, at: usize| u64::from(slot[at]) | u64::from(slot[at + 1]) << 32;
    (half(slot, 0) ^ half(wanted, 0)) | (half(slot, 2) ^ half(wanted, 2)) == 0
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

/// Slots in one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Line([Slot; LINE_SLOTS]);

const LINE_SLOTS: usize = 3;

/// Open-addressing table with linear probing. Its slots are in the order of their places, so it can grow in place in
/// one pass from end to end: memory never holds two tables.
#[derive(Default)]
pub(super) struct Table {
    /// The homes, then [`OVERFLOW`] more for the last run of used slots, as probing does not wrap around.
    pub(super) lines: Vec<Line>,
    pub(super) homes: usize,
    pub(super) used: usize,
    /// Number of homes below which the table stays sparse, for speed.
    pub(super) sparse_homes: usize,
}

/// Number of lines after the last home.
pub(super) const OVERFLOW: usize = 48;
/// Maximum share of the slots of a sparse table that are used, as numerator and denominator. Beyond it the table grows.
pub(super) const SPARSE_LOAD_MAX: (usize, usize) = (11, 20);
pub(super) const LOAD_MAX: (usize, usize) = (7, 8);
/// Number of homes of the smallest table.
pub(super) const HOMES_MIN: usize = 352;

impl Table {
    /// Creates a table without names, with room for `names` names.
    pub(super) fn with_room(names: usize) -> Self {
        let homes = (names + 1) * LOAD_MAX.1 / LOAD_MAX.0 / LINE_SLOTS + 1;
        let mut lines = reserve_large_pages(homes + OVERFLOW);
        lines.resize(homes + OVERFLOW, Line::default());
        Self { lines, homes, used: 0, sparse_homes: 0 }
    }

    /// Returns the number of names that a table of this many bytes has room for.
    pub(super) fn names_in(bytes: usize) -> usize {
        let homes = (bytes / size_of::<Line>()).saturating_sub(OVERFLOW + 1);
        homes * LINE_SLOTS * LOAD_MAX.0 / LOAD_MAX.1
    }

    /// Removes all names.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Slot> + use<> {
        let empty = reserve_large_pages(self.lines.capacity());
        (self.homes, self.used) = (0, 0);
        let lines = std::mem::replace(&mut self.lines, empty);
        lines.into_iter().flat_map(|Line(slots)| slots).filter(|slot| !is_empty(slot))
    }

    #[inline]
    fn slot(&self, at: usize) -> &Slot {
        &self.lines[at / LINE_SLOTS].0[at % LINE_SLOTS]
    }

    #[inline]
    pub(super) fn slot_mut(&mut self, at: usize) -> &mut Slot {
        &mut self.lines[at / LINE_SLOTS].0[at % LINE_SLOTS]
    }

    fn slot_count(&self) -> usize {
        self.lines.len() * LINE_SLOTS
    }

    /// Returns whether `homes` homes are too few for `names` names.
    #[inline]
    pub(super) fn is_full(&self, homes: usize, names: usize) -> bool {
        let (used, of) = if homes < self.sparse_homes { SPARSE_LOAD_MAX } else { LOAD_MAX };
        names * of > homes * LINE_SLOTS * used
    }

    fn next_homes(&self, homes: usize) -> usize {
        if homes < self.sparse_homes {
            (homes + homes / 4).max(HOMES_MIN).min(self.sparse_homes)
        } else {
            (homes + homes / 8).max(HOMES_MIN)
        }
    }

    /// Returns the number of lines with `more` names.
    pub(super) fn lines_with(&self, more: usize) -> usize {
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
        prefetch(&self.lines, home);
        // In a dense table, many names are in the line after their home. Prefetching that line, too, reduces the time
        // of a lookup to 0.7 of it.
        if self.homes >= self.sparse_homes {
            prefetch(&self.lines, home + 1);
        }
    }

    /// Returns the index of `wanted`, which belongs at `place`, from its home on.
    #[inline(always)]
    pub(super) fn find(
        &self,
        wanted: &Slot,
        home: usize,
        place: u64,
        hasher: &Hasher,
    ) -> Option<u32> {
        let lines = self.lines.get(home..).unwrap_or_default();
        for (distance, Line(slots)) in lines.iter().enumerate() {
            // No branch for each slot, since which one holds a name cannot be predicted.
            let (second, third) = (holds(&slots[1], wanted), holds(&slots[2], wanted));
            if holds(&slots[0], wanted) | second | third {
                return Some(slots[usize::from(second) + 2 * usize::from(third)][4]);
            }
            // The used slots of a line are its first ones.
            let last = &slots[LINE_SLOTS - 1];
            // In a dense table, runs of used slots are long, so the place of the last name in a line tells whether to
            // stop. For the first line, computing it takes longer than it saves.
            if is_empty(last) || distance > 0 && hasher.place(last) > place {
                break;
            }
        }
        None
    }

    /// Returns the index of `wanted`, after inserting it with its own index if it does not exist.
    pub(super) fn find_or_insert(&mut self, wanted: Slot, place: u64, hasher: &Hasher) -> u32 {
        if self.is_full(self.homes, self.used + 1) {
            self.grow(hasher);
        }
        loop {
            let mut at = LINE_SLOTS * self.home(place);
            while self.is_used(at) && hasher.place(self.slot(at)) <= place {
                if holds(self.slot(at), &wanted) {
                    return self.slot(at)[4];
                }
                at += 1;
            }
            if self.insert(wanted, at) {
                return wanted[4];
            }
            self.grow(hasher);
        }
    }

    #[inline]
    fn is_used(&self, at: usize) -> bool {
        at < self.slot_count() && !is_empty(self.slot(at))
    }

    /// Inserts `wanted` before the slot `at`: that one and those after it move towards the next empty one. Returns
    /// whether there is one.
    fn insert(&mut self, wanted: Slot, at: usize) -> bool {
        let mut empty = at;
        while self.is_used(empty) {
            empty += 1;
        }
        if empty == self.slot_count() {
            return false;
        }
        for to in (at + 1..=empty).rev() {
            *self.slot_mut(to) = *self.slot(to - 1);
        }
        *self.slot_mut(at) = wanted;
        self.used += 1;
        true
    }

    /// Returns the position of an existing slot.
    pub(super) fn position(&self, wanted: &Slot, place: u64) -> usize {
        let mut at = LINE_SLOTS * self.home(place);
        while !holds(self.slot(at), wanted) {
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
            let old_count = self.slot_count();
            let lines = self.homes + OVERFLOW;
            self.lines.reserve_exact(lines - self.lines.len());
            self.lines.resize(lines, Line::default());
            let count = self.slot_count();
            let mut end = count;
            for at in (0..old_count).rev() {
                let slot = *self.slot(at);
                if !is_empty(&slot) {
                    end -= 1;
                    *self.slot_mut(at) = EMPTY;
                    *self.slot_mut(end) = slot;
                }
            }
            let mut free = 0;
            for at in end..count {
                let slot = std::mem::replace(self.slot_mut(at), EMPTY);
                // The slots not yet moved are after `at`, so the new position is never after it.
                free = (LINE_SLOTS * self.home(hasher.place(&slot))).max(free).min(at);
                *self.slot_mut(free) = slot;
                free += 1;
            }
            if is_empty(self.slot(count - 1)) {
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
