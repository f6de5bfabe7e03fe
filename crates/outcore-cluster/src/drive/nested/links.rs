//! Links inside communities, with their weights, sorted by community.

use outcore_graph::ArcRecord;
use outcore_graph::weight::Weight;
use outcore_sort::{Record, U96};

const ONE: u32 = Weight::ONE.code();

/// Link between two nodes of a community, given by their places in it, once per pair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct InsideLink {
    pub(super) community: u32,
    pub(super) low: u32,
    pub(super) high: u32,
    pub(super) weight: u32,
}

/// Ordered by community and nodes; encoded like arcs, followed by the weights unless all are 1.
impl Record for InsideLink {
    type Key = U96;

    #[inline]
    fn key(&self) -> U96 {
        U96::new(u64::from(self.community) << 32 | u64::from(self.low), self.high)
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        let is_weighted = records.iter().any(|link| link.weight != ONE);
        out.push(u8::from(is_weighted));
        if is_weighted {
            records.iter().for_each(|link| out.extend(link.weight.to_le_bytes()));
        }
        let arc =
            |link: &Self| ArcRecord { source: link.community, target: link.low, weight: link.high };
        ArcRecord::encode(&records.iter().map(arc).collect::<Vec<_>>(), out);
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        let (&is_weighted, bytes) = bytes.split_first()?;
        let (weights, bytes) =
            bytes.split_at_checked(if is_weighted == 1 { 4 * count } else { 0 })?;
        let mut arcs = Vec::with_capacity(count);
        ArcRecord::decode(bytes, count, &mut arcs)?;
        let mut weights = weights.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        out.extend(arcs.into_iter().map(|arc| {
            let weight = weights.next().unwrap_or(ONE);
            Self { community: arc.source, low: arc.target, high: arc.weight, weight }
        }));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn links_are_decoded_as_they_were(
            mut links in prop::collection::vec((0..5u32, 0..50u32, 0..50u32, prop_oneof![Just(ONE), any::<u32>()]), 0..200)
        ) {
            links.sort_unstable();
            let link = |&(community, low, high, weight): &(u32, u32, u32, u32)| InsideLink { community, low, high, weight };
            let links: Vec<InsideLink> = links.iter().map(link).collect();
            let (mut bytes, mut decoded) = (Vec::new(), Vec::new());
            InsideLink::encode(&links, &mut bytes);
            prop_assert!(InsideLink::decode(&bytes, links.len(), &mut decoded).is_some());
            prop_assert_eq!(decoded, links);
        }
    }
}
