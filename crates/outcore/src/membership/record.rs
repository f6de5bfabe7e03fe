//! Records that are sorted to read communities back: names with their places, communities with their nodes.
//!
//! On disk, a fingerprint takes the length of its name plus one byte, or 16 bytes for a long name.

use crate::ids::{Fingerprint, SHORT_NAME_BYTES};
use crate::pack::{get_varint, put_varint};
use crate::sort::Record;

/// Node of the graph, or line of the file. Both are sorted by name only. Nodes are pushed first, so each precedes the
/// lines that name it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) name: Fingerprint,
    /// Fingerprint of the community, or that of the empty name if this is a node.
    pub(super) community: Fingerprint,
    /// Index of the node, or line number.
    pub(super) place: u64,
}

impl Named {
    pub(super) fn node(name: Fingerprint, index: u64) -> Self {
        Self { name, community: Fingerprint::default(), place: index }
    }

    pub(super) fn is_node(&self) -> bool {
        self.community == Fingerprint::default()
    }
}

/// Node of a community.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) community: Fingerprint,
    pub(super) node: u32,
}

impl Member {
    pub(super) fn new(community: Fingerprint, node: u32) -> Self {
        Self { community, node }
    }
}

/// Returns the fingerprint as one number, a key for sorting.
pub(crate) fn whole(name: Fingerprint) -> u128 {
    u128::from(name.high) << 64 | u128::from(name.low)
}

/// Appends a fingerprint.
pub(crate) fn put_fingerprint(name: Fingerprint, out: &mut Vec<u8>) {
    let bytes = whole(name).to_le_bytes();
    out.push(bytes[15]);
    out.extend_from_slice(&bytes[..name.short_len().unwrap_or(15)]);
}

/// Reads a fingerprint written by [`put_fingerprint`].
pub(crate) fn get_fingerprint(bytes: &[u8], at: &mut usize) -> Option<Fingerprint> {
    let mark = *bytes.get(*at)?;
    let len = match mark {
        u8::MAX => 15,
        len if usize::from(len) <= SHORT_NAME_BYTES => usize::from(len),
        _ => return None,
    };
    let mut all = [0; 16];
    all[..len].copy_from_slice(bytes.get(*at + 1..*at + 1 + len)?);
    all[15] = mark;
    *at += 1 + len;
    let whole = u128::from_le_bytes(all);
    Some(Fingerprint { low: whole as u64, high: (whole >> 64) as u64 })
}

impl Record for Named {
    type Key = u128;

    fn key(&self) -> u128 {
        whole(self.name)
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        for record in records {
            put_fingerprint(record.name, out);
            put_fingerprint(record.community, out);
            put_varint(record.place, out);
        }
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let mut at = 0;
        for _ in 0..count {
            let name = get_fingerprint(bytes, &mut at)?;
            let community = get_fingerprint(bytes, &mut at)?;
            out.push(Self { name, community, place: get_varint(bytes, &mut at)? });
        }
        (at == bytes.len()).then_some(())
    }
}

impl Record for Member {
    type Key = u128;

    fn key(&self) -> u128 {
        whole(self.community)
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        for record in records {
            put_fingerprint(record.community, out);
            put_varint(u64::from(record.node), out);
        }
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let mut at = 0;
        for _ in 0..count {
            let community = get_fingerprint(bytes, &mut at)?;
            let node = u32::try_from(get_varint(bytes, &mut at)?).ok()?;
            out.push(Self { community, node });
        }
        (at == bytes.len()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name() -> impl Strategy<Value = Fingerprint> {
        prop::collection::vec(any::<u8>(), 0..20).prop_map(|name| Fingerprint::of(&name))
    }

    proptest! {
        #[test]
        fn records_survive_a_round_trip(parts in prop::collection::vec((name(), name(), any::<u64>()), 0..50), cut in any::<prop::sample::Index>()) {
            let named: Vec<Named> = parts
                .iter()
                .map(|&(name, community, place)| Named { name, community, place })
                .collect();
            let members: Vec<Member> =
                parts.iter().map(|&(name, _, place)| Member::new(name, place as u32)).collect();
            let (mut bytes, mut back) = (Vec::new(), Vec::new());
            Record::encode(&named, &mut bytes);
            prop_assert_eq!(Named::decode(&bytes, named.len(), &mut back), Some(()));
            prop_assert_eq!(&back, &named);
            let cut = cut.index(bytes.len() + 1);
            prop_assert!(cut == bytes.len() || Named::decode(&bytes[..cut], named.len(), &mut back).is_none());
            let (mut bytes, mut back) = (Vec::new(), Vec::new());
            Record::encode(&members, &mut bytes);
            prop_assert_eq!(Member::decode(&bytes, members.len(), &mut back), Some(()));
            prop_assert_eq!(back, members);
        }
    }
}
