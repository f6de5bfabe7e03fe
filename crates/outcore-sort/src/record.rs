//! Records that can be sorted.

use super::key::RadixKey;
use super::radix::move_sorted;

/// Record that can be sorted: a few bytes with an order.
pub trait Record: Copy + Default + Send + Sync + 'static {
    /// Type of the sort key.
    type Key: RadixKey;
    /// Number of low bits in the first word of the key that [`Record::arrange`] ignores.
    const UNORDERED_BITS: u32 = 0;

    /// Returns the sort key.
    fn key(&self) -> Self::Key;
    /// Appends records, in the order of [`Record::arrange`] or sorted, to `out` in a compact encoding.
    fn encode(records: &[Self], out: &mut Vec<u8>);
    /// Appends `count` records encoded by [`Record::encode`] to `out`; `None` if `bytes` do not encode them.
    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()>;

    /// Moves records that fit in the cache from `from` to `to`, which is as long. The order must be cheap to encode,
    /// and equal keys must keep their order; by default the records are sorted. `from` is overwritten.
    fn arrange(from: &mut [Self], to: &mut [Self]) {
        move_sorted(from, to);
    }

    /// Moves records that fit the cache from `from` to `to`, which is as long, stably sorted by key. `from` is
    /// overwritten.
    fn sort(from: &mut [Self], to: &mut [Self]) {
        move_sorted(from, to);
    }
}

/// Simplest record: a key and a value, stored without compression.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pair {
    /// Sort key.
    pub key: u64,
    /// Value stored with the key.
    pub value: u64,
}

impl Record for Pair {
    type Key = u64;

    #[inline]
    fn key(&self) -> u64 {
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
