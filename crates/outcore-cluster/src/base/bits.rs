//! One bit per node, set and cleared by many threads.
//!
//! Relaxed ordering is enough: the end of a parallel loop separates phases that write bits from phases
//! that read them, and setting a bit twice is harmless.

use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::Result;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Fixed-size bit set; n/8 bytes.
pub struct Bits {
    words: Vec<AtomicU64>,
}

impl Bits {
    /// Creates `count` bits, all set to `value`.
    pub fn new(count: usize, value: bool) -> Self {
        let bits = Self { words: (0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() };
        if value {
            bits.fill(true);
        }
        bits
    }

    /// Sets every bit to `value`.
    pub fn fill(&self, value: bool) {
        for word in &self.words {
            word.store(if value { u64::MAX } else { 0 }, Relaxed);
        }
    }

    /// Returns a bit.
    #[inline]
    pub fn get(&self, index: usize) -> bool {
        self.words[index / 64].load(Relaxed) >> (index % 64) & 1 == 1
    }

    /// Sets a bit and returns whether it was already set.
    #[inline]
    pub fn set(&self, index: usize) -> bool {
        let mask = 1 << (index % 64);
        self.words[index / 64].fetch_or(mask, Relaxed) & mask != 0
    }

    /// Sets a bit to 0.
    #[inline]
    pub fn clear(&self, index: usize) {
        self.words[index / 64].fetch_and(!(1 << (index % 64)), Relaxed);
    }

    /// Counts the set bits of `range`.
    pub fn count(&self, range: Range<usize>) -> u64 {
        self.words_of(range).map(|(_, word)| u64::from(word.count_ones())).sum()
    }

    /// Clears the bits of `range`.
    pub fn clear_range(&self, range: Range<usize>) {
        self.words_of(range).for_each(|(base, word)| {
            self.words[base / 64].fetch_and(!word, Relaxed);
        });
    }

    /// Returns the bits, 64 per word.
    pub fn words(&self) -> &[AtomicU64] {
        &self.words
    }

    pub(crate) fn save(&self, to: &mut StateWriter) -> Result<()> {
        to.array(self.words.iter().map(|word| word.load(Relaxed)))
    }

    pub(crate) fn load(&mut self, from: &mut StateReader) -> Result<()> {
        from.fill(&mut self.words, |place, word| *place.get_mut() = word)
    }

    /// Returns whether any bit of `range` is set.
    pub fn any(&self, range: Range<usize>) -> bool {
        self.words_of(range).any(|(_, word)| word != 0)
    }

    /// Calls `visit` with the index of each set bit of `range`, in ascending order.
    pub fn for_each(&self, range: Range<usize>, mut visit: impl FnMut(usize)) {
        for (base, mut word) in self.words_of(range) {
            while word != 0 {
                visit(base + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }

    /// Returns the words that hold `range`, with other bits masked off, each with the index of its first bit.
    fn words_of(&self, range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
        let last = range.end.div_ceil(64).max(range.start / 64);
        (range.start / 64..last).map(move |i| {
            let mut word = self.words[i].load(Relaxed);
            if i * 64 < range.start {
                word &= u64::MAX << (range.start % 64);
            }
            if range.end < i * 64 + 64 {
                word &= !(u64::MAX << (range.end % 64));
            }
            (i * 64, word)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_see_exactly_their_bits() {
        let bits = Bits::new(300, false);
        let set = [0, 1, 63, 64, 65, 127, 128, 200, 255, 256, 299];
        for i in set {
            assert!(!bits.set(i));
            assert!(bits.set(i));
        }
        for start in 0..300 {
            for end in start..=300 {
                let expected: Vec<usize> =
                    set.iter().copied().filter(|i| (start..end).contains(i)).collect();
                let mut found = Vec::new();
                bits.for_each(start..end, |i| found.push(i));
                assert_eq!(found, expected, "{start}..{end}");
                assert_eq!(bits.any(start..end), !expected.is_empty(), "{start}..{end}");
                assert_eq!(bits.count(start..end), expected.len() as u64, "{start}..{end}");
            }
        }
        bits.clear(64);
        assert!(!bits.get(64) && bits.get(63) && bits.get(65));
        bits.clear_range(65..255);
        let mut left = Vec::new();
        bits.for_each(0..300, |i| left.push(i));
        assert_eq!(left, [0, 1, 63, 255, 256, 299]);
    }
}
