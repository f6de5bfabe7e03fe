//! Names of nodes, and the edges between them before they are numbered.
//!
//! A name is identified by 16 bytes, which are the name itself if it is short: no two short names collide.

use outcore_sort::Field;
use std::hash::BuildHasher;
use std::sync::LazyLock;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Maximum length of a name that is its own fingerprint.
pub const SHORT_NAME_BYTES: usize = 15;
/// Maximum length of a name.
pub const NAME_LIMIT: usize = 64 << 10;

/// Seed of the hash of longer names. It is secret to the process, so that nobody can construct two names with one
/// fingerprint. No result depends on it, and it is never stored.
static LONG_NAME_SEED: LazyLock<u64> =
    LazyLock::new(|| std::hash::RandomState::new().hash_one(LONG_NAME_MARK));
const LONG_NAME_MARK: u64 = 0xFF << 56;

/// Sixteen bytes that identify a name.
///
/// A name of at most 15 bytes is stored as itself, so that equal fingerprints mean equal names: `low` holds the first
/// eight bytes, the first one lowest; `high` the next seven and, on top, the length. The fingerprint of a longer name
/// is 120 bits of XXH3, with 0xFF on top.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Fingerprint {
    /// First eight bytes of the name, or the low half of its hash.
    pub low: u64,
    /// Next seven bytes and the length, or the high half of the hash below the mark 0xFF.
    pub high: u64,
}

impl Fingerprint {
    /// Returns the fingerprint of `name`.
    #[inline]
    pub fn of(name: &[u8]) -> Self {
        if name.len() > SHORT_NAME_BYTES {
            return Self::of_long(name);
        }
        let bits = 8 * name.len() as u32;
        // Two loads, which overlap unless the length is a power of two.
        let (low, high) = match (name.first_chunk(), name.last_chunk()) {
            (Some(first), Some(last)) => {
                let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
                (first, if bits > 64 { last >> (128 - bits) } else { 0 })
            }
            _ => match (name.first_chunk(), name.last_chunk()) {
                (Some(first), Some(last)) => {
                    let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
                    (u64::from(first) | u64::from(last) << (bits - 32), 0)
                }
                _ => (name.iter().rev().fold(0, |low, &byte| low << 8 | u64::from(byte)), 0),
            },
        };
        Self { low, high: high | (name.len() as u64) << 56 }
    }

    /// Returns the fingerprint of a number's digits, the digits and how many there are; `None` for more than 15 digits.
    #[inline]
    pub fn of_number(number: u64) -> Option<(Self, [u8; 16], usize)> {
        const HALF: u64 = 100_000_000;
        if number >= 1_000_000_000_000_000 {
            return None;
        }
        let (whole, len) = match number < HALF {
            true => {
                let (digits, len) = without_zeros(digits(number));
                (u128::from(digits), len)
            }
            false => {
                let (first, len) = without_zeros(digits(number / HALF));
                let rest = digits(number % HALF) | ZEROS;
                (u128::from(first) | u128::from(rest) << (8 * len), len + 8)
            }
        };
        let high = (whole >> 64) as u64 | (len as u64) << 56;
        Some((Self { low: whole as u64, high }, whole.to_le_bytes(), len))
    }

    /// Returns the fingerprint of a name of more than 15 bytes.
    pub fn of_long(name: &[u8]) -> Self {
        let hash = xxh3_128_with_seed(name, *LONG_NAME_SEED);
        Self { low: hash as u64, high: (hash >> 64) as u64 | LONG_NAME_MARK }
    }

    /// Returns the fingerprint of the first `len` bytes of two words; `len` is 1 to 15.
    #[inline(always)]
    pub fn of_words(low: u64, high: u64, len: usize) -> Self {
        debug_assert!(len > 0 && len <= SHORT_NAME_BYTES);
        let in_low = len.min(8) as u32 * 8;
        let in_high = len.saturating_sub(8) as u32 * 8;
        Self {
            low: low & (u64::MAX >> (64 - in_low)),
            high: high & ((1 << in_high) - 1) | (len as u64) << 56,
        }
    }

    /// Returns whether equal fingerprints mean equal names.
    pub fn is_exact(self) -> bool {
        self.high < LONG_NAME_MARK
    }

    /// Returns the name, if the fingerprint is the name.
    pub fn short_bytes(self) -> Option<Vec<u8>> {
        self.short_len().map(|len| u128::from(self).to_le_bytes()[..len].to_vec())
    }

    /// Returns the length of the name, if the fingerprint is the name.
    pub fn short_len(self) -> Option<usize> {
        self.is_exact().then_some((self.high >> 56) as usize)
    }
}

/// Fingerprint as one number, a key for sorting.
impl From<Fingerprint> for u128 {
    #[inline]
    fn from(name: Fingerprint) -> Self {
        Self::from(name.high) << 64 | Self::from(name.low)
    }
}

/// In the order of the fingerprint as one number.
impl Field for Fingerprint {
    const WORDS: usize = 2;

    #[inline]
    fn word(self, index: usize) -> u64 {
        if index == 0 { self.high } else { self.low }
    }

    #[inline]
    fn of_words(words: &[u64]) -> Self {
        Self { high: words[0], low: words[1] }
    }
}

/// Eight digits 0.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Returns the eight digits of a number below 10^8, one per byte, the first one lowest. Computes halves, quarters and
/// eighths in parallel in one word.
#[inline(always)]
const fn digits(number: u64) -> u64 {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007F_0000_007F;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | ((twos - 10 * tens) << 8)
}

/// Converts digits to text without leading zeros; returns it and its length.
#[inline(always)]
const fn without_zeros(digits: u64) -> (u64, usize) {
    // The last digit stays, even if it is 0.
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    ((digits | ZEROS) >> (8 * zeros), 8 - zeros as usize)
}

/// Name of a node in an edge: its fingerprint, and the position of its bytes in the chunk's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NameRef {
    /// Fingerprint of the name.
    pub fingerprint: Fingerprint,
    /// Offset of the first byte.
    pub offset: u32,
    /// Length in bytes, 1 to [`NAME_LIMIT`].
    pub bytes: u32,
}

/// Edges as rows of names and weights, or the names of a node list.
#[derive(Debug, Default)]
pub struct EdgeChunk {
    /// Text that names refer to; bytes outside of names have no meaning.
    pub text: Vec<u8>,
    /// Names of the edges (source, target, source, target, ...), or one name per node of a node list.
    pub names: Vec<NameRef>,
    /// Weight codes, one per edge; 0 is an edge of weight 0, which adds its nodes but no edge. Empty if the input has
    /// no weights.
    pub weights: Vec<u32>,
    /// Whether the names are of a node list, which has no edges.
    pub is_node_list: bool,
    /// Line of the first edge in its file, from 1.
    pub first_line: u64,
    /// Line of each edge, where lines have several edges or none.
    pub row_lines: Vec<u64>,
    /// Whether the text is the lines of the file, from `first_line` on.
    pub has_lines: bool,
}

impl EdgeChunk {
    /// Returns the bytes of a name.
    #[inline]
    pub fn name(&self, name: &NameRef) -> &[u8] {
        &self.text[name.offset as usize..name.offset as usize + name.bytes as usize]
    }

    /// Returns the line of every edge in its file, from 1. In tables and lists it is exact unless a row was left out.
    pub fn edge_lines(&self) -> impl Iterator<Item = u64> {
        let (mut line, mut counted) = (self.first_line, 0);
        self.names.chunks_exact(2).enumerate().map(move |(row, names)| {
            if let Some(&line) = self.row_lines.get(row) {
                return line;
            }
            if !self.has_lines {
                return self.first_line + row as u64;
            }
            let at = names[0].offset.min(names[1].offset) as usize;
            line += memchr::memchr_iter(b'\n', &self.text[counted..at]).count() as u64;
            counted = at;
            line
        })
    }

    /// Removes all edges and names, and keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.names.clear();
        self.weights.clear();
        self.row_lines.clear();
        self.is_node_list = false;
    }

    /// Returns the number of edges, including those of weight 0.
    pub fn edge_count(&self) -> usize {
        if self.is_node_list { 0 } else { self.names.len() / 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore_sort::{Record, Row};
    use proptest::prelude::*;

    #[test]
    fn numbers_have_the_fingerprints_of_their_digits() {
        let mut numbers: Vec<u64> = (0..2000).chain(999_000..1_001_000).collect();
        for power in 0..16 {
            let power = 10u64.pow(power);
            numbers.extend([power - 1, power, power + 1, power * 7 / 3, power / 9 * 8]);
        }
        let mut state = 1u64;
        numbers.extend((0..100_000).map(|at| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> (at % 50 + 14)
        }));
        for number in numbers {
            let text = number.to_string();
            match Fingerprint::of_number(number) {
                None => assert!(text.len() > SHORT_NAME_BYTES, "{number}"),
                Some((fingerprint, digits, len)) => {
                    assert_eq!(&digits[..len], text.as_bytes());
                    assert_eq!(fingerprint, Fingerprint::of(text.as_bytes()), "{number}");
                }
            }
        }
    }

    #[test]
    fn short_names_are_their_own_fingerprints() {
        assert_ne!(Fingerprint::of(b"a"), Fingerprint::of(b"a\0"));
        assert_eq!(Fingerprint::of(b"abc"), Fingerprint { low: 0x63_6261, high: 3 << 56 });
        assert_eq!(Fingerprint::of(&[b'x'; 15]).short_len(), Some(15));
        assert!(!Fingerprint::of(&[b'x'; 16]).is_exact());
    }

    outcore_sort::records! {
        struct Named {
            name: Fingerprint,
            place: u64,
        }
    }

    proptest! {
        #[test]
        fn fingerprints_in_rows_survive_a_round_trip_and_keep_their_order(
            names in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..40),
        ) {
            let name = |(name, place): (&Vec<u8>, u64)| Named { name: Fingerprint::of(name), place };
            for row in names.iter().zip(0..).map(name) {
                prop_assert_eq!(Named::of_words(&row.words()), row);
                prop_assert_eq!(row.words().key(), u128::from(row.name));
            }
        }

        #[test]
        fn fingerprints_by_words_and_by_bytes_agree(name in proptest::collection::vec(any::<u8>(), 1..=15), junk: [u8; 16]) {
            let mut bytes = junk;
            bytes[..name.len()].copy_from_slice(&name);
            let whole = u128::from_le_bytes(bytes);
            let (low, high) = (whole as u64, (whole >> 64) as u64);
            prop_assert_eq!(Fingerprint::of_words(low, high, name.len()), Fingerprint::of(&name));
        }
    }
}
