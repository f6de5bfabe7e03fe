//! Records that are sorted to compare two results: rows by name, rows by community, nodes by pair of communities, pairs of
//! communities by either side.

use super::NONE;
use crate::input::Fingerprint;
use crate::membership::{get_fingerprint, put_fingerprint, whole};
use crate::pack::{get_varint, put_varint};
use crate::sort::Record;

/// Node of one file, sorted by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: Fingerprint,
    /// Label of the community; see [`side`](super::side).
    pub(super) label: u64,
    /// Index of the row in its file.
    pub(super) row: u64,
}

impl Record for Row {
    type Key = u128;

    fn key(&self) -> u128 {
        whole(self.name)
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        for record in records {
            put_fingerprint(record.name, out);
            put_varint(record.label, out);
            put_varint(record.row, out);
        }
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let mut at = 0;
        for _ in 0..count {
            let name = get_fingerprint(bytes, &mut at)?;
            let label = get_varint(bytes, &mut at)?;
            out.push(Self { name, label, row: get_varint(bytes, &mut at)? });
        }
        (at == bytes.len()).then_some(())
    }
}

/// Node of one file whose communities are text, sorted by community.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) community: Fingerprint,
    pub(super) name: Fingerprint,
    pub(super) row: u64,
}

impl Record for Line {
    type Key = u128;

    fn key(&self) -> u128 {
        whole(self.community)
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        for record in records {
            put_fingerprint(record.community, out);
            put_fingerprint(record.name, out);
            put_varint(record.row, out);
        }
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let mut at = 0;
        for _ in 0..count {
            let community = get_fingerprint(bytes, &mut at)?;
            let name = get_fingerprint(bytes, &mut at)?;
            out.push(Self { community, name, row: get_varint(bytes, &mut at)? });
        }
        (at == bytes.len()).then_some(())
    }
}

/// Node with its communities in both files, of which one may be [`NONE`]. Also a moved node; see [`Moved`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shared {
    pub(super) a: u64,
    pub(super) b: u64,
    /// Row of the node in the file that moved nodes are named by.
    pub(super) row: u64,
}

impl Shared {
    fn put(&self, out: &mut Vec<u8>) {
        // No label becomes 0, which is short.
        put_varint(self.a.wrapping_add(1), out);
        put_varint(self.b.wrapping_add(1), out);
        put_varint(self.row, out);
    }

    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        let a = get_varint(bytes, at)?.wrapping_sub(1);
        let b = get_varint(bytes, at)?.wrapping_sub(1);
        Some(Self { a, b, row: get_varint(bytes, at)? })
    }
}

impl Record for Shared {
    type Key = u128;

    fn key(&self) -> u128 {
        u128::from(self.a) << 64 | u128::from(self.b)
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        records.iter().for_each(|record| record.put(out));
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let mut at = 0;
        for _ in 0..count {
            out.push(Self::get(bytes, &mut at)?);
        }
        (at == bytes.len()).then_some(())
    }
}

/// Node that moved, sorted by its row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moved(pub(super) Shared);

impl Record for Moved {
    type Key = u64;

    fn key(&self) -> u64 {
        self.0.row
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        records.iter().for_each(|record| record.0.put(out));
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let mut at = 0;
        for _ in 0..count {
            out.push(Self(Shared::get(bytes, &mut at)?));
        }
        (at == bytes.len()).then_some(())
    }
}

/// Pair of communities that share nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Overlap {
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) shared: u64,
    pub(super) size_a: u64,
    pub(super) size_b: u64,
    /// Whether no other community of A shares more nodes with `b`, nor as many and comes earlier.
    pub(super) is_best_of_b: bool,
}

impl Overlap {
    pub(super) fn jaccard(&self) -> f64 {
        self.shared as f64 / (self.size_a + self.size_b - self.shared) as f64
    }

    fn put(&self, out: &mut Vec<u8>) {
        put_varint(self.a.wrapping_add(1), out);
        put_varint(self.b.wrapping_add(1), out);
        put_varint(self.shared << 1 | u64::from(self.is_best_of_b), out);
        put_varint(self.size_a, out);
        put_varint(self.size_b, out);
    }

    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        let a = get_varint(bytes, at)?.wrapping_sub(1);
        let b = get_varint(bytes, at)?.wrapping_sub(1);
        let shared = get_varint(bytes, at)?;
        let size_a = get_varint(bytes, at)?;
        let size_b = get_varint(bytes, at)?;
        Some(Self { a, b, shared: shared >> 1, size_a, size_b, is_best_of_b: shared & 1 == 1 })
    }
}

/// Overlap sorted by the community of B, then that of A.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ByB(pub(super) Overlap);

/// Overlap sorted by the community of A, then by the number of shared nodes, most first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ByA(pub(super) Overlap);

macro_rules! overlaps {
    ($($record:ident: $key:expr,)*) => {$(
        impl Record for $record {
            type Key = u128;

            fn key(&self) -> u128 {
                let (high, low): (u64, u64) = $key(&self.0);
                u128::from(high) << 64 | u128::from(low)
            }

            fn encode(records: &[Self], out: &mut Vec<u8>) {
                records.iter().for_each(|record| record.0.put(out));
            }

            fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
                let mut at = 0;
                for _ in 0..count {
                    out.push(Self(Overlap::get(bytes, &mut at)?));
                }
                (at == bytes.len()).then_some(())
            }
        }
    )*};
}
overlaps! {
    ByB: |of: &Overlap| (of.b, of.a),
    ByA: |of: &Overlap| (of.a, NONE - of.shared),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn survives<R: Record + PartialEq + std::fmt::Debug>(records: &[R], cut: usize) {
        let (mut bytes, mut back) = (Vec::new(), Vec::new());
        R::encode(records, &mut bytes);
        assert_eq!(R::decode(&bytes, records.len(), &mut back), Some(()));
        assert_eq!(back, records);
        let cut = cut % (bytes.len() + 1);
        assert!(cut == bytes.len() || R::decode(&bytes[..cut], records.len(), &mut back).is_none());
    }

    proptest! {
        #[test]
        fn records_survive_a_round_trip(
            parts in prop::collection::vec(
                (prop::collection::vec(any::<u8>(), 0..20), any::<[u64; 3]>(), any::<bool>()),
                0..40,
            ),
            cut: usize,
        ) {
            let name = |name: &[u8]| Fingerprint::of(name);
            let shared = |[a, b, row]: [u64; 3]| Shared { a, b, row };
            let overlap = |[a, b, shared]: [u64; 3], is_best_of_b| Overlap {
                a, b, shared: shared >> 1, size_a: b, size_b: a, is_best_of_b,
            };
            let rows = parts.iter().map(|(text, [label, row, _], _)| {
                Row { name: name(text), label: *label, row: *row }
            });
            survives(&rows.collect::<Vec<_>>(), cut);
            let lines = parts.iter().map(|(text, [row, ..], _)| {
                Line { community: name(text), name: name(b"n"), row: *row }
            });
            survives(&lines.collect::<Vec<_>>(), cut);
            survives(&parts.iter().map(|part| shared(part.1)).collect::<Vec<_>>(), cut);
            survives(&parts.iter().map(|part| Moved(shared(part.1))).collect::<Vec<_>>(), cut);
            survives(&parts.iter().map(|part| ByA(overlap(part.1, part.2))).collect::<Vec<_>>(), cut);
            survives(&parts.iter().map(|part| ByB(overlap(part.1, part.2))).collect::<Vec<_>>(), cut);
        }
    }
}
