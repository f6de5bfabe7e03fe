//! Sort keys: numbers of up to 128 bits, which the radix sort splits into words.
//!
//! What the radix sort and the merge need of a key (its words, and one number of key and run) belongs to the three
//! key types, so inner loops are compiled for each record, and a record only defines its key and its encoding.

/// Key of a [`Record`](super::Record): a number whose order is the order of the records.
///
/// `u64`, [`U96`] and `u128` are keys. A pair of numbers can be packed into one key, with the more
/// significant one in the high bits.
pub trait RadixKey: Ord + Copy + Send + Sync + Into<u128> + TryFrom<u128> + 'static {
    /// Number of 64-bit words in the key.
    const WORDS: usize;

    /// Returns word `index` of the key, the most significant first; words compare like keys.
    fn word(self, index: usize) -> u64;

    /// Returns the least key with this first word.
    fn least(first: u64) -> Self;
}

impl RadixKey for u64 {
    const WORDS: usize = 1;

    #[inline]
    fn word(self, _index: usize) -> u64 {
        self
    }

    #[inline]
    fn least(first: u64) -> Self {
        first
    }
}

/// Number of 96 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct U96(u128);

impl U96 {
    /// Returns the number `high * 2^32 + low`.
    #[inline]
    pub fn new(high: u64, low: u32) -> Self {
        Self(u128::from(high) << 32 | u128::from(low))
    }
}

impl From<U96> for u128 {
    fn from(number: U96) -> Self {
        number.0
    }
}

impl TryFrom<u128> for U96 {
    type Error = std::num::TryFromIntError;

    fn try_from(number: u128) -> Result<Self, Self::Error> {
        Ok(Self::new(u64::try_from(number >> 32)?, number as u32))
    }
}

impl RadixKey for U96 {
    const WORDS: usize = 2;

    #[inline]
    fn word(self, index: usize) -> u64 {
        if index == 0 { (self.0 >> 32) as u64 } else { u64::from(self.0 as u32) }
    }

    #[inline]
    fn least(first: u64) -> Self {
        Self::new(first, 0)
    }
}

impl RadixKey for u128 {
    const WORDS: usize = 2;

    #[inline]
    fn word(self, index: usize) -> u64 {
        if index == 0 { (self >> 64) as u64 } else { self as u64 }
    }

    #[inline]
    fn least(first: u64) -> Self {
        Self::from(first) << 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<K: RadixKey + std::fmt::Debug>(a: u128, b: u128) {
        let key = |number| K::try_from(number).ok();
        let (Some(a), Some(b)) = (key(a), key(b)) else { return };
        assert_eq!(key(a.into()), Some(a));
        let words = |key: K| (0..K::WORDS).map(|index| key.word(index)).collect::<Vec<_>>();
        assert_eq!(words(a).cmp(&words(b)), a.cmp(&b));
        let mut least = vec![0; K::WORDS];
        least[0] = a.word(0);
        assert_eq!(words(K::least(a.word(0))), least);
    }

    proptest! {
        #[test]
        fn words_have_the_order_of_keys(
            a in any::<u128>(), b in any::<u128>(), cut in 0u32..128,
        ) {
            // Keys of every length, and keys with equal beginnings.
            for (a, b) in [(a >> cut, b >> cut), (a, a ^ (b >> cut)), (a >> cut, (a ^ 1) >> cut)] {
                check::<u64>(a, b);
                check::<U96>(a, b);
                check::<u128>(a, b);
                check::<U96>(a >> 32, b >> 32);
                check::<u64>(a >> 64, b >> 64);
            }
        }
    }
}
