//! Rows: records that are declared by their fields, and sorted as words.
//!
//! A sort is compiled anew for each type of record, so there are few: [`records!`](crate::records) converts a declared row to
//! [`Words`] and back, and all rows with the same number of words share one sort. The first two words are the sort key. In a run, a
//! word is its difference from that of the row before, in as few bytes as that needs, after half a byte for their
//! number: nothing else for a word that stays the same. Encoding and decoding cost a few nanoseconds per word.

use super::{Record, SortSummary, Sorted, Sorter};
use outcore_io::Files;
use outcore_io::error::Result;
use std::cmp::Reverse;
use std::marker::PhantomData;
use std::path::Path;

/// Field of a row, as words. If it can be part of the key, the words have the order of the field.
pub trait Field: Copy {
    /// Number of words.
    const WORDS: usize;
    /// Returns word `index`, the most significant first.
    fn word(self, index: usize) -> u64;
    /// Returns the field that has these words.
    fn of_words(words: &[u64]) -> Self;
}

/// Row of a table to be sorted; [`records!`](crate::records) implements it.
pub trait Row: Copy {
    /// Words of the row.
    type Words: Record;
    /// Returns the words of the row.
    fn words(self) -> Self::Words;
    /// Returns the row that has these words.
    fn of_words(words: &Self::Words) -> Self;
}

/// Record of `N` words, sorted by the first two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words<const N: usize>(pub [u64; N]);

impl<const N: usize> Default for Words<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Record for Words<N> {
    type Key = u128;

    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.0[0]) << 64 | u128::from(self.0.get(1).copied().unwrap_or(0))
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        let mut last = [0; N];
        records.iter().for_each(|record| encode_words(&record.0, &mut last, out));
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let (mut at, mut last) = (0, [0; N]);
        for _ in 0..count {
            decode_words(bytes, &mut at, &mut last)?;
            out.push(Self(last));
        }
        (at == bytes.len()).then_some(())
    }
}

/// Appends words to `out` as differences from `last`, which holds the words of the previous record; then stores them
/// there.
fn encode_words(words: &[u64], last: &mut [u64], out: &mut Vec<u8>) {
    for (words, last) in words.chunks(2).zip(last.chunks_mut(2)) {
        let mark = out.len();
        out.push(0);
        for (at, (&word, last)) in words.iter().zip(last).enumerate() {
            let step = word.wrapping_sub(std::mem::replace(last, word)) as i64;
            // Small steps in both directions are small numbers.
            let step = (step << 1 ^ step >> 63) as u64;
            let len = 8 - step.leading_zeros() as usize / 8;
            out.extend_from_slice(&step.to_le_bytes()[..len]);
            out[mark] |= (len as u8) << (4 * at);
        }
    }
}

/// Reads words at `*at` and advances. `last` holds the words of the previous record, and afterwards these. Returns
/// `None` if the bytes end too early.
fn decode_words(bytes: &[u8], at: &mut usize, last: &mut [u64]) -> Option<()> {
    for last in last.chunks_mut(2) {
        let mut mark = *bytes.get(*at)?;
        *at += 1;
        for last in last {
            let len = usize::from(mark & 15);
            mark >>= 4;
            let rest = bytes.get(*at..)?;
            let step = match rest.first_chunk() {
                // Loading eight bytes and masking is faster than copying a variable number of bytes.
                Some(chunk) if len < 8 => u64::from_le_bytes(*chunk) & ((1 << (8 * len)) - 1),
                _ => {
                    let mut all = [0; 8];
                    all.get_mut(..len)?.copy_from_slice(rest.get(..len)?);
                    u64::from_le_bytes(all)
                }
            };
            *at += len;
            *last = last.wrapping_add(step >> 1 ^ (step & 1).wrapping_neg());
        }
        if mark != 0 {
            return None;
        }
    }
    Some(())
}

/// Declares rows: structs with named fields, sorted by the first two words of the fields.
///
/// ```
/// outcore_sort::records! {
///     /// Visit of a page, sorted by time and page.
///     struct Visit {
///         time: u64,
///         page: u32,
///     }
/// }
/// ```
#[macro_export]
macro_rules! records {
    ($(
        $(#[$of_record:meta])*
        $public:vis struct $record:ident {
            $($(#[$of_field:meta])* $of:vis $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[$of_record])*
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        $public struct $record {
            $($(#[$of_field])* $of $field: $type,)*
        }

        impl $crate::Row for $record {
            type Words = $crate::Words<{ 0 $(+ <$type as $crate::Field>::WORDS)* }>;

            #[inline]
            fn words(self) -> Self::Words {
                let mut words = Self::Words::default();
                let mut all = words.0.iter_mut();
                $(for index in 0..<$type as $crate::Field>::WORDS {
                    if let Some(word) = all.next() {
                        *word = $crate::Field::word(self.$field, index);
                    }
                })*
                words
            }

            #[inline]
            fn of_words($crate::Words(words): &Self::Words) -> Self {
                let rest = &words[..];
                $(let ($field, rest) = rest.split_at(<$type as $crate::Field>::WORDS);)*
                debug_assert!(rest.is_empty());
                Self { $($field: $crate::Field::of_words($field),)* }
            }
        }
    )*};
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Field for $number {
            const WORDS: usize = 1;

            #[inline]
            fn word(self, _: usize) -> u64 {
                self.into()
            }

            #[inline]
            fn of_words(words: &[u64]) -> Self {
                words[0] as Self
            }
        }
    )*};
}
numbers!(u32 u64);

impl Field for bool {
    const WORDS: usize = 1;

    #[inline]
    fn word(self, _: usize) -> u64 {
        self.into()
    }

    #[inline]
    fn of_words(words: &[u64]) -> Self {
        words[0] != 0
    }
}

/// Stores the bits in reverse order, since most numbers end in zero bits. So it cannot be a key.
impl Field for f64 {
    const WORDS: usize = 1;

    #[inline]
    fn word(self, _: usize) -> u64 {
        self.to_bits().swap_bytes()
    }

    #[inline]
    fn of_words(words: &[u64]) -> Self {
        Self::from_bits(words[0].swap_bytes())
    }
}

/// Two numbers in one word.
impl Field for [u32; 2] {
    const WORDS: usize = 1;

    #[inline]
    fn word(self, _: usize) -> u64 {
        u64::from(self[0]) << 32 | u64::from(self[1])
    }

    #[inline]
    fn of_words(words: &[u64]) -> Self {
        [(words[0] >> 32) as u32, words[0] as u32]
    }
}

/// Largest first.
impl Field for Reverse<u64> {
    const WORDS: usize = 1;

    #[inline]
    fn word(self, _: usize) -> u64 {
        !self.0
    }

    #[inline]
    fn of_words(words: &[u64]) -> Self {
        Self(!words[0])
    }
}

/// Sorter of rows.
pub struct RowSorter<T: Row> {
    sorter: Sorter<T::Words>,
    row: PhantomData<fn(T)>,
}

impl<T: Row> RowSorter<T> {
    /// Creates a sort like [`Sorter::new`].
    ///
    /// # Errors
    /// Those of [`Sorter::new`].
    pub fn new(files: &Files, parent: &Path, budget_bytes: u64, threads: usize) -> Result<Self> {
        let sorter = Sorter::new(files, parent, budget_bytes, threads)?;
        Ok(Self { sorter, row: PhantomData })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Errors of writing a run.
    #[inline]
    pub fn add(&mut self, row: T) -> Result<()> {
        self.sorter.add(row.words())
    }

    /// Returns the sorter of rows as words, to add them from several threads.
    pub fn as_words(&mut self) -> &mut Sorter<T::Words> {
        &mut self.sorter
    }

    /// Ends run formation and starts the last merge.
    ///
    /// # Errors
    /// Errors of reading and writing runs.
    pub fn finish(self) -> Result<SortedRows<T>> {
        Ok(SortedRows { sorted: self.sorter.finish()?, row: PhantomData })
    }
}

/// Reader of sorted rows.
pub struct SortedRows<T: Row> {
    sorted: Sorted<T::Words>,
    row: PhantomData<fn() -> T>,
}

impl<T: Row> SortedRows<T> {
    /// Returns the summary so far.
    pub fn summary(&self) -> SortSummary {
        self.sorted.summary()
    }

    /// Returns the next row; `None` after the last.
    ///
    /// # Errors
    /// Those of [`Sorted::next_block`].
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<T>> {
        self.next_if(|_| true)
    }

    /// Returns the next row if `wanted` accepts it, for example as one of the same group.
    ///
    /// # Errors
    /// Those of [`Sorted::next_block`].
    #[inline]
    pub fn next_if(&mut self, wanted: impl FnOnce(&T) -> bool) -> Result<Option<T>> {
        let row = self.sorted.peek()?.map(|words| T::of_words(&words)).filter(wanted);
        if row.is_some() {
            self.sorted.skip();
        }
        Ok(row)
    }

    /// Passes all rows to `each`, and calls `tick` from time to time.
    ///
    /// # Errors
    /// Those of [`Sorted::next_block`], of `tick` and of `each`.
    pub fn for_each(
        self,
        tick: impl FnMut() -> Result<()>,
        mut each: impl FnMut(&T) -> Result<()>,
    ) -> Result<()> {
        self.sorted.for_each(tick, |words| each(&T::of_words(words)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    records! {
        /// A field of each type.
        struct All {
            large: u64,
            fewer: Reverse<u64>,
            numbers: [u32; 2],
            small: u32,
            real: f64,
            mark: bool,
        }
    }

    proptest! {
        #[test]
        fn rows_survive_a_round_trip_in_their_order_and_are_never_read_from_parts(
            fields in prop::collection::vec(
                (any::<u64>(), any::<u64>(), any::<[u32; 2]>(), any::<u32>(), -1e300..1e300, any::<bool>()),
                0..40,
            ),
            cut in any::<prop::sample::Index>(),
            other: u8,
        ) {
            let all = fields.into_iter().map(|(large, fewer, numbers, small, real, mark)| {
                All { large, fewer: Reverse(fewer), numbers, small, real, mark }
            });
            let rows: Vec<All> = all.collect();
            let records: Vec<_> = rows.iter().map(|row| row.words()).collect();
            let (mut bytes, mut back) = (Vec::new(), Vec::new());
            Record::encode(&records, &mut bytes);
            prop_assert_eq!(Words::decode(&bytes, records.len(), &mut back), Some(()));
            prop_assert_eq!(back.iter().map(All::of_words).collect::<Vec<_>>(), rows.clone());
            for (row, next) in rows.iter().zip(rows.iter().skip(1)) {
                let order = (row.large, row.fewer).cmp(&(next.large, next.fewer));
                prop_assert_eq!(row.words().key().cmp(&next.words().key()), order);
            }
            let cut = cut.index(bytes.len() + 1);
            prop_assert!(cut == bytes.len() || Words::<6>::decode(&bytes[..cut], records.len(), &mut Vec::new()).is_none());
            if let Some(byte) = bytes.get_mut(cut) {
                *byte = other;
                let _ = Words::<6>::decode(&bytes, records.len(), &mut back);
            }
        }

        #[test]
        fn sorted_numbers_take_a_byte_and_what_stays_the_same_half_of_one(
            mut large in prop::collection::vec(0..3000u64, 1000),
        ) {
            large.sort_unstable();
            large.dedup();
            let row = |large| All { large, ..All::default() };
            let records: Vec<_> = large.iter().map(|&large| row(large).words()).collect();
            let mut bytes = Vec::new();
            Record::encode(&records, &mut bytes);
            // At first the reversed number differs from that of no row.
            prop_assert!(bytes.len() <= 4 * records.len() + 10, "{}", bytes.len());
        }
    }
}
