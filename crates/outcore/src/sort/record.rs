//! What can be sorted.

use super::key::RadixKey;

/// A record that can be sorted: a few bytes with an order.
pub trait Record: Copy + Default + Send + Sync + 'static {
    /// What records are sorted by.
    type Key: RadixKey;

    /// The key.
    fn key(&self) -> Self::Key;
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
