//! What can be sorted.

/// A record that can be sorted: a few bytes with an order.
pub trait Record: Copy + Default + Send + Sync + 'static {
    /// The key in one piece, for comparisons.
    type Key: Ord + Copy + Send + Sync;
    /// A key and the number of a run behind it, in one piece: `(Key, u32)`, or a number if both fit.
    type Rank: Ord + Copy + Send;
    /// The last key there can be with the run `u32::MAX`.
    const LAST_RANK: Self::Rank;
    /// Number of 64-bit words in the key.
    const WORDS: usize;

    /// The key.
    fn key(&self) -> Self::Key;
    /// The key with a run's number; ordered by key, then run.
    fn rank(&self, run: u32) -> Self::Rank;
    /// The run's number in a rank.
    fn run_of(rank: Self::Rank) -> u32;
    /// Word `word` of the key, the most significant first; their order is the order of keys.
    fn radix(&self, word: usize) -> u64;
    /// Appends sorted records to `out` in a form that takes little room.
    fn encode(records: &[Self], out: &mut Vec<u8>);
    /// Appends `count` records of [`Record::encode`] to `out`; `None` if `bytes` are not such.
    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()>;
}

/// The simplest record: a key and a value, stored as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pair {
    /// What is sorted by.
    pub key: u64,
    /// What goes with it.
    pub value: u64,
}

impl Record for Pair {
    type Key = u64;
    type Rank = u128;
    const LAST_RANK: u128 = u128::MAX;
    const WORDS: usize = 1;

    #[inline]
    fn key(&self) -> u64 {
        self.key
    }

    #[inline]
    fn rank(&self, run: u32) -> u128 {
        u128::from(self.key) << 64 | u128::from(run)
    }

    #[inline]
    fn run_of(rank: u128) -> u32 {
        rank as u32
    }

    #[inline]
    fn radix(&self, _word: usize) -> u64 {
        self.key
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        for record in records {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&record.key.to_le_bytes());
            bytes[8..].copy_from_slice(&record.value.to_le_bytes());
            out.extend_from_slice(&bytes);
        }
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let (records, rest) = bytes.as_chunks::<16>();
        if records.len() != count || !rest.is_empty() {
            return None;
        }
        out.extend(records.iter().map(|record| {
            let (key, value) = record.split_at(8);
            let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            Self { key: word(key), value: word(value) }
        }));
        Some(())
    }
}
