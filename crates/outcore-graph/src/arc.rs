//! Arcs as sortable records, and their encoding in runs: 1 to 4 bytes per arc, without weights.
//!
//! Sources are dense numbers, so a block is sorted by counting them and then sorting each row. The merge does the same with
//! rows from many runs, each a few ascending parts.
//!
//! ```text
//!  block:  weight scheme | group ...                                  one group: 64 arcs
//!  group:  first source (varint, from the last one) | source steps    (steps, targets, weights: `codec` values)
//!          whether targets below their sources may begin rows | targets
//!          smallest weight (varint) | weights above it                unless all weights of the block are 1
//! ```
//! A target is stored as the gap to the one before it in its row, the first of a row or group as the difference to its
//! source. In a list whose order has any locality most gaps are small, and the few large ones are patches.

use crate::codec::{Cursor, GROUP, put_values};
use crate::pack::{PADDING, WeightScheme, bits_for, pack, put_varint};
use outcore_sort::{Placed, Record, U96, move_sorted};

/// Sources are counted if the range of their numbers is at most this many times the number of arcs.
const NUMBERS_AN_ARC: usize = 8;

/// Arc to be sorted into the graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ArcRecord {
    /// Index of the source node.
    pub source: u32,
    /// Index of the target node.
    pub target: u32,
    /// [Code](crate::weight::Weight::code) of the weight.
    pub weight: u32,
}

impl ArcRecord {
    #[inline]
    pub(super) fn pair(&self) -> u64 {
        u64::from(self.source) << 32 | u64::from(self.target)
    }
}

/// Ordered by source, target and weight. Repeated arcs are then adjacent and in the order of their weights, so their
/// sum does not depend on where runs end.
impl Record for ArcRecord {
    type Key = U96;
    const UNORDERED_BITS: u32 = u32::BITS;

    #[inline]
    fn key(&self) -> U96 {
        U96::new(self.pair(), self.weight)
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        encode(records, out);
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        decode(bytes, count, |arc| out.push(arc))
    }

    fn arrange(from: &mut [Self], to: &mut [Self]) {
        sort_rows(from, to, |row| row.sort_unstable());
    }

    fn sort(from: &mut [Self], to: &mut [Self]) {
        // Finds the ascending parts of a row, which come from different runs.
        sort_rows(from, to, |row| row.sort());
    }
}

/// Arc ordered by source and target alone: repeated arcs stay in the order of the input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct InputOrder(pub ArcRecord);

impl Record for InputOrder {
    type Key = u64;
    const UNORDERED_BITS: u32 = u32::BITS;

    #[inline]
    fn key(&self) -> u64 {
        self.0.pair()
    }

    fn encode(records: &[Self], out: &mut Vec<u8>) {
        let arcs: Vec<ArcRecord> = records.iter().map(|record| record.0).collect();
        encode(&arcs, out);
    }

    fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
        decode(bytes, count, |arc| out.push(Self(arc)))
    }

    fn arrange(from: &mut [Self], to: &mut [Self]) {
        Self::sort(from, to);
    }

    fn sort(from: &mut [Self], to: &mut [Self]) {
        sort_rows(from, to, |row| row.sort_by_key(|arc| arc >> 32));
    }
}

impl Placed for ArcRecord {
    #[inline]
    fn place(&self) -> u32 {
        self.source
    }

    fn first_key(place: u32) -> U96 {
        U96::new(u64::from(place) << 32, 0)
    }
}

impl Placed for InputOrder {
    #[inline]
    fn place(&self) -> u32 {
        self.0.source
    }

    fn first_key(place: u32) -> u64 {
        u64::from(place) << 32
    }
}

impl From<ArcRecord> for InputOrder {
    fn from(arc: ArcRecord) -> Self {
        Self(arc)
    }
}

impl From<InputOrder> for ArcRecord {
    fn from(record: InputOrder) -> Self {
        record.0
    }
}

/// For each source, where its arcs begin in the order of sources.
struct BySource {
    least: u32,
    begins: Vec<u32>,
}

impl BySource {
    /// Returns `None` if sources are too far apart to be counted.
    fn count<R: Copy + Into<ArcRecord>>(arcs: &[R]) -> Option<Self> {
        let source = |record: &R| -> u32 { (*record).into().source };
        let (least, largest) = arcs
            .iter()
            .map(source)
            .fold((u32::MAX, 0), |all, source| (all.0.min(source), all.1.max(source)));
        let numbers = largest.checked_sub(least)? as usize + 1;
        if numbers > NUMBERS_AN_ARC * arcs.len() || arcs.len() > u32::MAX as usize {
            return None;
        }
        let mut begins = vec![0u32; numbers];
        arcs.iter().for_each(|record| begins[(source(record) - least) as usize] += 1);
        let mut sum = 0;
        for begin in &mut begins {
            sum += std::mem::replace(begin, sum);
        }
        Some(Self { least, begins })
    }

    /// Returns the next place of an arc of this source.
    #[inline]
    fn place(&mut self, source: u32) -> usize {
        let begin = &mut self.begins[(source - self.least) as usize];
        *begin += 1;
        *begin as usize - 1
    }
}

/// Moves arcs from `from` to `to`, stably ordered by source. `sort` sorts the arcs of one source, each packed into a
/// number with the target before the weight.
fn sort_rows<R>(from: &mut [R], to: &mut [R], sort: impl Fn(&mut [u64]))
where
    R: Record + Into<ArcRecord> + From<ArcRecord>,
{
    let Some(mut places) = BySource::count(from) else { return move_sorted(from, to) };
    let mut rows = vec![0; from.len()];
    for record in from {
        let arc: ArcRecord = (*record).into();
        rows[places.place(arc.source)] = u64::from(arc.target) << 32 | u64::from(arc.weight);
    }
    let mut begin = 0;
    // Each place has advanced to where the next source begins.
    for (number, end) in places.begins.into_iter().enumerate() {
        let (source, row) = (places.least + number as u32, begin..end as usize);
        begin = row.end;
        sort(&mut rows[row.clone()]);
        for (record, arc) in to[row.clone()].iter_mut().zip(&rows[row]) {
            *record = ArcRecord { source, target: (arc >> 32) as u32, weight: *arc as u32 }.into();
        }
    }
}

fn encode(arcs: &[ArcRecord], out: &mut Vec<u8>) {
    let scheme = WeightScheme::choose(arcs.iter().map(|arc| arc.weight));
    out.push(scheme.to_byte());
    let mut last = 0;
    let mut column = [0u32; GROUP];
    for group in arcs.chunks(GROUP) {
        put_varint(u64::from(group[0].source - last), out);
        last = group[0].source;
        let column = &mut column[..group.len()];
        for (value, arc) in column.iter_mut().zip(group) {
            *value = arc.source - last;
            last = arc.source;
        }
        put_plain(column, out);
        let begins_below = group.iter().any(|arc| arc.target < arc.source);
        out.push(begins_below.into());
        let mut before = ArcRecord { source: u32::MAX, target: 0, weight: 0 };
        for (at, arc) in group.iter().enumerate() {
            column[at] = match arc.source == before.source && at > 0 {
                true => arc.target.wrapping_sub(before.target),
                false => {
                    let difference = arc.target.wrapping_sub(arc.source);
                    if begins_below { zigzag(difference) } else { difference }
                }
            };
            before = *arc;
        }
        put_values(column, out);
        if scheme != WeightScheme::One {
            for (value, arc) in column.iter_mut().zip(group) {
                *value = scheme.integer(arc.weight);
            }
            let least = column.iter().copied().min().unwrap_or(0);
            column.iter_mut().for_each(|value| *value -= least);
            put_varint(u64::from(least), out);
            put_plain(column, out);
        }
    }
    out.extend([0; PADDING]);
}

/// Appends values of a common width: patches would seldom save anything, and take time to choose.
fn put_plain(values: &[u32], out: &mut Vec<u8>) {
    let width = bits_for(values.iter().fold(0, |all, value| all | value));
    out.push(width);
    pack(values, width, out);
}

/// Returns a number that is small for differences of either sign.
fn zigzag(difference: u32) -> u32 {
    difference << 1 ^ (difference as i32 >> 31) as u32
}

fn unzigzag(number: u32) -> u32 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

fn decode(bytes: &[u8], count: usize, mut each: impl FnMut(ArcRecord)) -> Option<()> {
    let mut from = Cursor::new(bytes, 0, bytes.len().checked_sub(PADDING)?)?;
    let scheme = WeightScheme::from_byte(from.byte()?)?;
    let mut source = 0u32;
    let (mut steps, mut targets, mut weights) = ([0u32; GROUP], [0u32; GROUP], [0u32; GROUP]);
    let mut left = count;
    while left > 0 {
        let len = left.min(GROUP);
        left -= len;
        source = source.checked_add(from.varint()?.try_into().ok()?)?;
        from.list(&mut steps[..len])?;
        let begins_below = from.byte()? == 1;
        from.list(&mut targets[..len])?;
        let mut least_weight = 0;
        if scheme != WeightScheme::One {
            least_weight = from.varint()? as u32;
            from.list(&mut weights[..len])?;
        }
        let (mut target, mut is_first) = (0u32, true);
        for ((&step, &value), &weight) in steps.iter().zip(&targets).zip(&weights).take(len) {
            source = source.wrapping_add(step);
            target = match step == 0 && !is_first {
                true => target.wrapping_add(value),
                false => source.wrapping_add(if begins_below { unzigzag(value) } else { value }),
            };
            is_first = false;
            let weight = scheme.code(weight.wrapping_add(least_weight));
            each(ArcRecord { source, target, weight });
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::Weight;
    use proptest::prelude::*;

    fn arcs() -> impl Strategy<Value = Vec<ArcRecord>> {
        let index = prop_oneof![0u32..50, any::<u32>()];
        let weight = prop_oneof![
            Just(1.0),
            (1u32..999).prop_map(|n| f64::from(n) / 1000.0),
            (1e-300..1e300f64)
        ];
        prop::collection::vec((index.clone(), index, weight), 0..600).prop_map(|arcs| {
            let arc = |(source, target, weight)| ArcRecord {
                source,
                target,
                weight: Weight::new(weight).code(),
            };
            let mut arcs: Vec<_> = arcs.into_iter().map(arc).collect();
            arcs.sort_by_key(Record::key);
            arcs
        })
    }

    proptest! {
        #[test]
        fn blocks_of_arcs_round_trip(arcs in arcs()) {
            let mut bytes = Vec::new();
            <ArcRecord as Record>::encode(&arcs, &mut bytes);
            let mut back = Vec::new();
            <ArcRecord as Record>::decode(&bytes, arcs.len(), &mut back).unwrap();
            prop_assert_eq!(back, arcs);
        }

        #[test]
        fn damaged_blocks_do_not_panic(arcs in arcs(), cut in any::<prop::sample::Index>(), flip in any::<u8>()) {
            let mut bytes = Vec::new();
            <ArcRecord as Record>::encode(&arcs, &mut bytes);
            let at = cut.index(bytes.len());
            bytes[at] ^= flip;
            let mut out = Vec::new();
            let _ = <ArcRecord as Record>::decode(&bytes, arcs.len(), &mut out);
            let _ = <ArcRecord as Record>::decode(&bytes[..at], arcs.len(), &mut out);
        }
    }
}
