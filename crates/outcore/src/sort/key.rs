//! Sort keys: numbers of up to 128 bits, which the radix sort splits into words, and which the merge compares
//! together with the number of their run in one step.

/// Key of a [`Record`](super::Record): a number whose order is the order of the records.
///
/// `u64`, [`U96`] and `u128` are keys. A pair of numbers can be packed into one key, with the more
/// significant one in the high bits.
pub trait RadixKey: Ord + Copy + Send + Sync + Into<u128> + TryFrom<u128> + 'static {
    /// Combination of a key and the number of its run: a single number if both fit.
    type Rank: Ord + Copy + Send;
    /// Rank of the largest possible key in run `u32::MAX`.
    const LAST_RANK: Self::Rank;
    /// Number of 64-bit words in the key.
    const WORDS: usize;

    /// Returns word `index` of the key, the most significant first; words compare like keys.
    fn word(self, index: usize) -> u64;
    /// Returns the rank of this key in a run; ordered by key, then run.
    fn rank(self, run: u32) -> Self::Rank;
    /// Returns the run number of a rank.
    fn run_of(rank: Self::Rank) -> u32;
}

impl RadixKey for u64 {
    type Rank = u128;
    const LAST_RANK: u128 = u128::MAX;
    const WORDS: usize = 1;

    #[inline]
    fn word(self, _index: usize) -> u64 {
        self
    }

    #[inline]
    fn rank(self, run: u32) -> u128 {
        u128::from(self) << 64 | u128::from(run)
    }

    #[inline]
    fn run_of(rank: u128) -> u32 {
        rank as u32
    }
}

/// Number of 96 bits: together with a run number it still fits in 128 bits.
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
    type Rank = u128;
    const LAST_RANK: u128 = u128::MAX;
    const WORDS: usize = 2;

    #[inline]
    fn word(self, index: usize) -> u64 {
        if index == 0 { (self.0 >> 32) as u64 } else { u64::from(self.0 as u32) }
    }

    #[inline]
    fn rank(self, run: u32) -> u128 {
        self.0 << 32 | u128::from(run)
    }

    #[inline]
    fn run_of(rank: u128) -> u32 {
        rank as u32
    }
}

impl RadixKey for u128 {
    type Rank = (u128, u32);
    const LAST_RANK: (u128, u32) = (u128::MAX, u32::MAX);
    const WORDS: usize = 2;

    #[inline]
    fn word(self, index: usize) -> u64 {
        if index == 0 { (self >> 64) as u64 } else { self as u64 }
    }

    #[inline]
    fn rank(self, run: u32) -> (u128, u32) {
        (self, run)
    }

    #[inline]
    fn run_of(rank: (u128, u32)) -> u32 {
        rank.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<K: RadixKey + std::fmt::Debug>(a: u128, b: u128, runs: (u32, u32)) {
        let key = |number| K::try_from(number).ok();
        let (Some(a), Some(b)) = (key(a), key(b)) else { return };
        assert_eq!(key(a.into()), Some(a));
        let words = |key: K| (0..K::WORDS).map(|index| key.word(index)).collect::<Vec<_>>();
        assert_eq!(words(a).cmp(&words(b)), a.cmp(&b));
        assert!(a.rank(runs.0).cmp(&b.rank(runs.1)) == (a, runs.0).cmp(&(b, runs.1)));
        assert!(K::run_of(a.rank(runs.0)) == runs.0 && a.rank(runs.0) <= K::LAST_RANK);
        assert_eq!(K::run_of(K::LAST_RANK), u32::MAX);
    }

    proptest! {
        #[test]
        fn words_and_ranks_have_the_order_of_keys(
            a in any::<u128>(), b in any::<u128>(), cut in 0u32..128, runs in any::<(u32, u32)>(),
        ) {
            // Keys of every length, and keys with equal beginnings.
            for (a, b) in [(a >> cut, b >> cut), (a, a ^ (b >> cut)), (a >> cut, (a ^ 1) >> cut)] {
                check::<u64>(a, b, runs);
                check::<U96>(a, b, runs);
                check::<u128>(a, b, runs);
                check::<U96>(a >> 32, b >> 32, runs);
                check::<u64>(a >> 64, b >> 64, runs);
            }
        }
    }
}
