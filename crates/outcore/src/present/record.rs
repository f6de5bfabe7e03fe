//! Records that are sorted to present communities: nodes by pair of communities, pairs by number of shared nodes, names
//! by community number, links by the children of modules.

use super::tree::falling;
use crate::pack::{get_varint, put_varint};
use crate::sort::Record;

/// Maximum bytes of a name in one record.
pub(super) const NAME_PIECE_BYTES: usize = 16;

/// Node with its new and its earlier community.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SharedNode {
    pub(super) new: u32,
    pub(super) old: u32,
}

impl SharedNode {
    fn pair(&self) -> u64 {
        u64::from(self.new) << 32 | u64::from(self.old)
    }
}

impl Record for SharedNode {
    type Key = u64;

    fn key(&self) -> u64 {
        self.pair()
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        let mut last = 0;
        for record in records {
            put_varint(record.pair() - last, out);
            last = record.pair();
        }
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let (mut at, mut last) = (0, 0u64);
        for _ in 0..count {
            last = last.checked_add(get_varint(bytes, &mut at)?)?;
            out.push(Self { new: (last >> 32) as u32, old: last as u32 });
        }
        (at == bytes.len()).then_some(())
    }
}

/// New and earlier community with the number of nodes they share. Order: most shared nodes first, then smaller earlier
/// number, then smaller new label.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Overlap {
    pub(super) shared: u32,
    /// Number of the earlier community `old`.
    pub(super) number: u64,
    pub(super) new: u32,
    pub(super) old: u32,
}

impl Record for Overlap {
    type Key = u128;

    fn key(&self) -> u128 {
        let fewer = u128::from(u32::MAX - self.shared);
        fewer << 96 | u128::from(self.number) << 32 | u128::from(self.new)
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        for record in records {
            put_varint(u64::from(record.shared), out);
            put_varint(record.number, out);
            put_varint(u64::from(record.new), out);
            put_varint(u64::from(record.old), out);
        }
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let mut at = 0;
        for _ in 0..count {
            let shared = get_varint(bytes, &mut at)?.try_into().ok()?;
            let number = get_varint(bytes, &mut at)?;
            let new = get_varint(bytes, &mut at)?.try_into().ok()?;
            let old = get_varint(bytes, &mut at)?.try_into().ok()?;
            out.push(Self { shared, number, new, old });
        }
        (at == bytes.len()).then_some(())
    }
}

/// Piece of a node's name, with its community.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NamePiece {
    /// Number of the community.
    pub(crate) number: u64,
    /// Position of the node in its community.
    pub(crate) order: u32,
    /// Value to write for the node: a size, or the bits of a weight.
    pub(crate) value: u64,
    /// Index of the piece, from 0.
    pub(crate) part: u16,
    /// Number of bytes used.
    pub(crate) len: u8,
    pub(crate) is_last: bool,
    pub(crate) bytes: [u8; NAME_PIECE_BYTES],
}

impl NamePiece {
    fn put(&self, out: &mut Vec<u8>) {
        put_varint(self.number, out);
        put_varint(u64::from(self.order), out);
        // The bits of most weights end in zeros.
        put_varint(self.value.swap_bytes(), out);
        put_varint(u64::from(self.part), out);
        out.push(self.len << 1 | u8::from(self.is_last));
        out.extend_from_slice(&self.bytes[..usize::from(self.len)]);
    }

    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        let number = get_varint(bytes, at)?;
        let order = get_varint(bytes, at)?.try_into().ok()?;
        let value = get_varint(bytes, at)?.swap_bytes();
        let part = get_varint(bytes, at)?.try_into().ok()?;
        let mark = *bytes.get(*at)?;
        let (len, is_last) = (mark >> 1, mark & 1 == 1);
        let mut piece = [0; NAME_PIECE_BYTES];
        let found = bytes.get(*at + 1..*at + 1 + usize::from(len))?;
        piece.get_mut(..found.len())?.copy_from_slice(found);
        *at += 1 + usize::from(len);
        Some(Self { number, order, value, part, len, is_last, bytes: piece })
    }
}

impl Record for NamePiece {
    type Key = u128;

    fn key(&self) -> u128 {
        let place = u64::from(self.order) << 16 | u64::from(self.part);
        u128::from(self.number) << 64 | u128::from(place)
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

/// Piece of the name of a node in the module `number`, whose node `order` has a flow with the bits `value`. The node with
/// the most flow comes first. Sorting is stable, so the pieces of a name stay in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FlowPiece(pub(super) NamePiece);

impl Record for FlowPiece {
    type Key = u128;

    fn key(&self) -> u128 {
        let Self(NamePiece { number, order, value, .. }) = self;
        let (module, flow) = (u128::from(*number) << 96, u128::from(falling(*value)) << 32);
        module | flow | u128::from(*order)
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        records.iter().for_each(|Self(piece)| piece.put(out));
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let mut at = 0;
        for _ in 0..count {
            out.push(Self(NamePiece::get(bytes, &mut at)?));
        }
        (at == bytes.len()).then_some(())
    }
}

/// Link between two children of the module of a section.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Link {
    pub(super) section: u64,
    /// Numbers of the children.
    pub(super) ends: [u32; 2],
    /// Visits that follow it.
    pub(super) visits: f64,
}

impl Record for Link {
    type Key = u128;

    fn key(&self) -> u128 {
        let [from, to] = self.ends.map(u128::from);
        u128::from(self.section) << 64 | from << 32 | to
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        let mut last = 0;
        for &Self { section, ends, visits } in records {
            put_varint(section - last, out);
            last = section;
            ends.iter().for_each(|&end| put_varint(end.into(), out));
            // The bits of most weights end in zeros.
            put_varint(visits.to_bits().swap_bytes(), out);
        }
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let (mut at, mut section) = (0, 0u64);
        for _ in 0..count {
            section = section.checked_add(get_varint(bytes, &mut at)?)?;
            let from = get_varint(bytes, &mut at)?.try_into().ok()?;
            let to = get_varint(bytes, &mut at)?.try_into().ok()?;
            let visits = f64::from_bits(get_varint(bytes, &mut at)?.swap_bytes());
            out.push(Self { section, ends: [from, to], visits });
        }
        (at == bytes.len()).then_some(())
    }
}
