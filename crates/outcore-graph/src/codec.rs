//! Compact encoding of the arcs of one node, and of lists of small numbers.
//!
//! ```text
//!  arcs of a node, or a segment of them (at most SEGMENT_ARCS):
//!    +--------------+---------+---------+-----  -----+
//!    | first target | group 0 | group 1 |    ...     |       a group: at most 64 arcs
//!    +--------------+---------+---------+-----  -----+
//!     varint of the difference to the node, zigzag
//!
//!  group:
//!    +----------+--------------------+----------------+-------------+
//!    | gaps - 1 | weight base | kind | weights - base | corrections |
//!    +----------+--------------------+----------------+-------------+
//!     values     varint               values           values, zigzag
//!     if any     `- only in a weighted block; no weights - base if one arc
//!
//!  weights are integers of the block's scheme (kind 0), codes where the scheme does not fit a weight of the group (1), or
//!  integers to whose codes corrections are added (2): a sum of decimal weights may not be the code of the decimal sum
//!
//!  values:  | width | packed |     or, if a few are larger:     | 128 + width | width of the rest | which | low bits | rest |
//!            byte                                                byte          byte                bits    packed     packed
//!
//!  list: groups of at most 64 values
//! ```
//!
//! Cost: decoding about 2 ns per arc, encoding about 6. Gaps of 20 random targets among 5 million nodes take 20 bits
//! each, three-digit weights 10. If neighbors are mostly near, as in results of similarity searches, most gaps take the
//! few bits of the small ones: 3.3 bits for each arc of Orthobench. The gap encoding follows "The WebGraph Framework I"
//! (Boldi, Vigna 2004), the packing in groups of a common width and the patches "Decoding billions of integers per
//! second through vectorization" (Lemire, Boytsov 2015): no branch per value. Stored graphs have this encoding: a
//! change needs a new `VERSION` (`index`).
//!
//! Patches are used where they save a sixteenth of the bytes: one far neighbor does not widen all near ones. Bits per
//! edge, both directions, without weights: Orthobench 6.7, 14.6 without patches; protein links of yeast 15.3, 19.0
//! without; LFR in random order 32.0 either way, where the entropy of rows with random neighbors is 26.8. There only
//! another order of nodes would help, for which the communities would have to be known. Decoding takes as long as
//! without patches.

use crate::pack::{
    PADDING, WeightScheme, bits_for, get_varint, pack, packed_bytes, put_varint, unpack,
};
use crate::weight::Weight;

/// Number of values that share a width: a word has a bit for each.
pub const GROUP: usize = 64;
/// Mark of a width that some values exceed. The high bits of these are stored separately, as patches.
const PATCHED: u8 = 0x80;
/// Patches make decoding slower, so they must save at least one in this number of the bytes.
const PATCHES_SAVE: usize = 16;

/// Appends a list.
pub(super) fn put_list(values: &[u32], out: &mut Vec<u8>) {
    values.chunks(GROUP).for_each(|group| put_values(group, out));
}

/// Appends at most [`GROUP`] values.
pub(super) fn put_values(values: &[u32], out: &mut Vec<u8>) {
    let Widths { low, rest } = Widths::choose(values);
    if rest == 0 {
        out.push(low);
        pack(values, low, out);
        return;
    }
    let (mut lows, mut rests) = ([0; GROUP], [0; GROUP]);
    let (mut which, mut count) = (0u64, 0);
    for (at, &value) in values.iter().enumerate() {
        lows[at] = value & ((1 << low) - 1);
        if value >> low > 0 {
            which |= 1 << at;
            rests[count] = value >> low;
            count += 1;
        }
    }
    out.extend([low | PATCHED, rest]);
    out.extend_from_slice(&which.to_le_bytes()[..values.len().div_ceil(8)]);
    pack(&lows[..values.len()], low, out);
    pack(&rests[..count], rest, out);
}

/// Width of the low bits, which are stored for all values, and of the high bits of larger values; 0 if no value is
/// larger.
struct Widths {
    low: u8,
    rest: u8,
}

impl Widths {
    /// Returns the widths with which the values take the fewest bytes.
    fn choose(values: &[u32]) -> Self {
        let mut counts = [0u8; 33];
        values.iter().for_each(|&value| counts[usize::from(bits_for(value))] += 1);
        let widest = counts.iter().rposition(|&count| count > 0).unwrap_or(0) as u8;
        let plain = packed_bytes(values.len(), widest);
        let mut least = plain - plain / PATCHES_SAVE;
        let mut best = Self { low: widest, rest: 0 };
        let mut larger = 0;
        for low in (0..widest).rev() {
            larger += usize::from(counts[usize::from(low) + 1]);
            let rest = widest - low;
            let bytes = 1
                + values.len().div_ceil(8)
                + packed_bytes(values.len(), low)
                + packed_bytes(larger, rest);
            if bytes < least {
                (least, best) = (bytes, Self { low, rest });
            }
        }
        best
    }
}

/// Bytes to decode: they end at `end`, and [`PADDING`] bytes follow.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor over `at..end` of `bytes`; `None` if that range and the padding do not lie inside.
    #[inline]
    pub(super) fn new(bytes: &'a [u8], at: usize, end: usize) -> Option<Self> {
        (at <= end && end.checked_add(PADDING)? <= bytes.len()).then_some(Self { bytes, at, end })
    }

    /// Returns the current position.
    #[inline]
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns whether everything is decoded.
    #[inline]
    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.end
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Option<u64> {
        let value = get_varint(self.bytes, &mut self.at)?;
        (self.at <= self.end).then_some(value)
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        (self.at <= self.end).then_some(byte)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        let bytes = self.bytes[..self.end].get(self.at..self.at + 4)?;
        self.at += 4;
        Some(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
    }

    /// Reads at most [`GROUP`] values, each converted by `convert`, in their order.
    #[inline]
    fn values(&mut self, values: &mut [u32], mut convert: impl FnMut(u32) -> u32) -> Option<()> {
        let width = self.byte()?;
        if width & PATCHED == 0 {
            return self.packed(width, values, convert);
        }
        self.patched(width & !PATCHED, values)?;
        values.iter_mut().for_each(|value| *value = convert(*value));
        Some(())
    }

    /// Reads values of a width.
    #[inline]
    fn packed(
        &mut self,
        width: u8,
        values: &mut [u32],
        convert: impl FnMut(u32) -> u32,
    ) -> Option<()> {
        let bytes = packed_bytes(values.len(), width);
        if width > 32 || bytes > self.end - self.at {
            return None;
        }
        unpack_pairs(&self.bytes[self.at..self.at + bytes + PADDING], width, values, convert);
        self.at += bytes;
        Some(())
    }

    /// Reads values some of which exceed the width `low`.
    fn patched(&mut self, low: u8, values: &mut [u32]) -> Option<()> {
        let rest = self.byte()?;
        let mut which = [0; GROUP / 8];
        let len = values.len().div_ceil(8);
        which[..len].copy_from_slice(self.bytes[..self.end].get(self.at..self.at + len)?);
        self.at += len;
        let mut which = u64::from_le_bytes(which);
        let beyond = u64::MAX.checked_shl(values.len() as u32).unwrap_or(0);
        if low > 31 || rest == 0 || rest > 32 - low || which & beyond != 0 {
            return None;
        }
        self.packed(low, values, |value| value)?;
        let mut rests = [0; GROUP];
        let rests = &mut rests[..which.count_ones() as usize];
        self.packed(rest, rests, |value| value)?;
        for rest in rests {
            values[which.trailing_zeros() as usize] |= *rest << low;
            which &= which - 1;
        }
        Some(())
    }

    /// Fills `values` from a list.
    pub(super) fn list(&mut self, values: &mut [u32]) -> Option<()> {
        for group in values.chunks_mut(GROUP) {
            self.values(group, |value| value)?;
        }
        Some(())
    }

    /// Fills `targets` with the arcs of `node`, and `weights`, which has the same length or none, with their codes.
    #[inline]
    pub(super) fn arcs(
        &mut self,
        node: u32,
        node_count: u64,
        codes: &Codes,
        targets: &mut [u32],
        weights: &mut [u32],
    ) -> Option<()> {
        let zigzag = self.varint()?;
        let difference = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        let mut target = i64::from(node).checked_add(difference)? as u64;
        // Targets ascend, so all are valid nodes if the last one is. Adding at most 2^49 cannot wrap around.
        if target >= node_count {
            return None;
        }
        let mut weights = weights.chunks_mut(GROUP);
        for (number, group) in targets.chunks_mut(GROUP).enumerate() {
            let gaps = if number == 0 {
                group[0] = target as u32;
                &mut group[1..]
            } else {
                group
            };
            if !gaps.is_empty() {
                self.values(gaps, |gap| {
                    target += u64::from(gap) + 1;
                    target as u32
                })?;
            }
            if let Some(group) = weights.next() {
                self.weights(codes, group)?;
            }
        }
        (target < node_count).then_some(())
    }

    #[inline]
    fn weights(&mut self, codes: &Codes, group: &mut [u32]) -> Option<()> {
        let head = self.varint()?;
        let (kind, base) = (head & 3, u32::try_from(head >> 2).ok()?);
        match (kind, &codes.table) {
            (CODES, _) => return self.above(base, group, |code| code),
            (INTEGERS | CORRECTED, Some(table)) => {
                // The index is in bounds even for a damaged file.
                self.above(base, group, |integer| table[integer as usize % TABLE_LEN])?;
            }
            (INTEGERS | CORRECTED, None) => {
                self.above(base, group, |integer| codes.scheme.code(integer))?;
            }
            _ => return None,
        }
        if kind == CORRECTED { self.corrections(group) } else { Some(()) }
    }

    /// Adds corrections to codes.
    fn corrections(&mut self, codes: &mut [u32]) -> Option<()> {
        let mut errors = [0; GROUP];
        let errors = &mut errors[..codes.len()];
        self.values(errors, |error| error >> 1 ^ (error & 1).wrapping_neg())?;
        for (code, error) in codes.iter_mut().zip(errors) {
            *code = code.wrapping_add(*error);
        }
        Some(())
    }

    /// Reads values stored as differences from `base`; nothing is stored for a single value, which equals `base`.
    #[inline]
    fn above(&mut self, base: u32, group: &mut [u32], convert: impl Fn(u32) -> u32) -> Option<()> {
        if let [only] = group {
            *only = convert(base);
            return Some(());
        }
        self.values(group, |value| convert(value.wrapping_add(base)))
    }
}

/// Number of integers in the table: smaller ones are looked up, in blocks with more arcs than this.
pub(super) const TABLE_LEN: usize = 4096;

/// Fills `values` like [`unpack`] with converted values, but reads two per load if both fit in a word.
#[inline]
fn unpack_pairs(bytes: &[u8], width: u8, values: &mut [u32], mut convert: impl FnMut(u32) -> u32) {
    // A pair begins at one of the first 8 bits of the word loaded, so both must fit in the other 56.
    if width > 28 {
        unpack(bytes, width, values);
        values.iter_mut().for_each(|value| *value = convert(*value));
        return;
    }
    let mask = (1u32 << width) - 1;
    let mut bit = 0;
    let (pairs, last) = values.as_chunks_mut::<2>();
    let load = |bit: usize| {
        let word: [u8; 8] = bytes[bit >> 3..(bit >> 3) + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(word) >> (bit & 7)
    };
    for [first, second] in pairs {
        let word = load(bit);
        *first = convert(word as u32 & mask);
        *second = convert((word >> width) as u32 & mask);
        bit += 2 * usize::from(width);
    }
    if let [last] = last {
        *last = convert(load(bit) as u32 & mask);
    }
}

/// Conversion from integers to weight codes.
pub(super) struct Codes {
    scheme: WeightScheme,
    table: Option<Box<[u32; TABLE_LEN]>>,
}

impl Codes {
    /// Prepares the decoding of `uses` weights with integers up to `largest`.
    pub(super) fn new(scheme: WeightScheme, largest: u64, uses: u64) -> Self {
        let is_scaled = matches!(scheme, WeightScheme::Decimal(_));
        let pays = largest < TABLE_LEN as u64 && uses > TABLE_LEN as u64;
        let table = (is_scaled && pays).then(|| {
            let mut table = Box::new([0; TABLE_LEN]);
            for (slot, integer) in table.iter_mut().zip(0..=largest as u32) {
                *slot = scheme.code(integer);
            }
            table
        });
        Self { scheme, table }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.table.as_ref().map_or(0, |_| TABLE_LEN * 4)
    }
}

/// Conversion from weight codes to integers.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    scheme: WeightScheme,
    power: f64,
}

impl Scale {
    /// Chooses the scheme with which a sample of groups takes the fewest bits.
    pub(super) fn choose(codes: &[u32]) -> Self {
        const SAMPLE: usize = 16;
        if codes.iter().all(|&code| code == Weight::ONE.code()) {
            return Self { scheme: WeightScheme::One, power: 1.0 };
        }
        let group_count = codes.len().div_ceil(GROUP);
        let step = group_count.div_ceil(SAMPLE);
        let bits = |scale: &Self| -> usize {
            let groups = codes.chunks(GROUP).step_by(step);
            groups.map(|group| scale.width(group) * group.len()).sum()
        };
        let decimal =
            |e: u8| Self { scheme: WeightScheme::Decimal(e), power: 10f64.powi(i32::from(e)) };
        let code = Self { scheme: WeightScheme::Code, power: 1.0 };
        let all = (0..10).map(decimal).chain([code]);
        all.min_by_key(bits).unwrap_or(code)
    }

    /// Returns the width of the weights of a group.
    fn width(self, codes: &[u32]) -> usize {
        let width = |values: &mut dyn Iterator<Item = u32>| {
            let (mut least, mut largest) = (u32::MAX, 0);
            values.for_each(|value| (least, largest) = (least.min(value), largest.max(value)));
            usize::from(bits_for(largest.saturating_sub(least)))
        };
        let as_codes = width(&mut codes.iter().copied());
        let integer = |code: u32| self.integer(code);
        if self.scheme == WeightScheme::Code || !codes.iter().all(|&code| self.fits(code)) {
            return as_codes;
        }
        let errors = codes.iter().fold(0, |all, &code| all | self.error(code, integer(code)));
        width(&mut codes.iter().map(|&code| integer(code))) + usize::from(bits_for(errors))
    }

    pub(super) fn scheme(self) -> WeightScheme {
        self.scheme
    }

    #[inline]
    fn integer(self, code: u32) -> u32 {
        // Whether the result is exact is checked by converting back.
        (Weight::from_code(code).value() * self.power + 0.5) as u32
    }

    /// Returns the zigzag difference between the code and that of its integer.
    #[inline]
    fn error(self, code: u32, integer: u32) -> u32 {
        let error = code.wrapping_sub(self.scheme.code(integer)) as i32;
        (error << 1 ^ error >> 31) as u32
    }

    #[inline]
    fn fits(self, code: u32) -> bool {
        let integer = self.integer(code);
        integer.wrapping_sub(1) < INTEGER_LIMIT && self.error(code, integer) < ERROR_LIMIT
    }
}

/// Exclusive upper bound of integers; larger ones save nothing over codes.
const INTEGER_LIMIT: u32 = 1 << 30;
/// Exclusive upper bound of zigzag errors. Sums of repeated edges are off by a few units of the last digit.
const ERROR_LIMIT: u32 = 16;

/// Kinds of weights of a group: integers of the block's scheme, codes, or integers with corrections to their codes.
const INTEGERS: u64 = 0;
const CODES: u64 = 1;
const CORRECTED: u64 = 2;

/// Encoder of nodes' arcs; records the largest integer.
pub(super) struct ArcEncoder {
    scale: Scale,
    pub(super) largest: u32,
}

impl ArcEncoder {
    pub(super) fn new(scale: Scale) -> Self {
        Self { scale, largest: 0 }
    }

    /// Appends the arcs of `node`: ascending `targets`, not empty, and the codes of their weights.
    pub(super) fn put(&mut self, node: u32, targets: &[u32], codes: &[u32], out: &mut Vec<u8>) {
        let difference = i64::from(targets[0]) - i64::from(node);
        put_varint(((difference << 1) ^ (difference >> 63)) as u64, out);
        let mut values = [0u32; GROUP];
        let is_weighted = self.scale.scheme != WeightScheme::One;
        let mut previous = None;
        for (group, codes) in targets.chunks(GROUP).zip(codes.chunks(GROUP)) {
            let mut count = 0;
            let mut before = previous.unwrap_or(group[0]);
            for &target in &group[usize::from(previous.is_none())..] {
                debug_assert!(target > before);
                values[count] = target - before - 1;
                before = target;
                count += 1;
            }
            previous = Some(before);
            if count > 0 {
                put_values(&values[..count], out);
            }
            if is_weighted {
                self.put_weights(codes, &mut values, out);
            }
        }
    }

    fn put_weights(&mut self, codes: &[u32], values: &mut [u32; GROUP], out: &mut Vec<u8>) {
        let values = &mut values[..codes.len()];
        let mut is_scaled = self.scale.scheme != WeightScheme::Code;
        let (mut least, mut largest) = (u32::MAX, 0);
        let (mut errors, mut all_errors) = ([0; GROUP], 0);
        if is_scaled {
            for ((slot, error), &code) in values.iter_mut().zip(&mut errors).zip(codes) {
                let integer = self.scale.integer(code);
                *slot = integer;
                least = least.min(integer);
                largest = largest.max(integer);
                *error = self.scale.error(code, integer);
                all_errors |= *error;
            }
            is_scaled = all_errors < ERROR_LIMIT && least > 0 && largest < INTEGER_LIMIT;
        }
        if is_scaled {
            self.largest = self.largest.max(largest);
        } else {
            values.copy_from_slice(codes);
            least = codes.iter().fold(u32::MAX, |least, &code| least.min(code));
        }
        let kind = match (is_scaled, all_errors) {
            (false, _) => CODES,
            (true, 0) => INTEGERS,
            (true, _) => CORRECTED,
        };
        put_varint(u64::from(least) << 2 | kind, out);
        if codes.len() > 1 {
            values.iter_mut().for_each(|value| *value -= least);
            put_values(values, out);
        }
        if kind == CORRECTED {
            put_values(&errors[..codes.len()], out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers of 0 to 32 bits, most of which are small.
    fn number() -> impl Strategy<Value = u32> {
        let large = (0u32..33).prop_flat_map(|bits| {
            any::<u32>().prop_map(move |x| x.checked_shr(32 - bits).unwrap_or(0))
        });
        prop_oneof![5 => 0u32..8, 1 => large]
    }

    fn padded(mut bytes: Vec<u8>) -> (Vec<u8>, usize) {
        let len = bytes.len();
        bytes.resize(len + PADDING, 0xff);
        (bytes, len)
    }

    proptest! {
        #[test]
        fn lists_round_trip_in_at_most_the_bytes_of_one_width(
            values in prop::collection::vec(number(), 0..300),
        ) {
            let mut out = Vec::new();
            put_list(&values, &mut out);
            let plain: usize = values
                .chunks(GROUP)
                .map(|group| {
                    let width = group.iter().map(|&value| bits_for(value)).max().unwrap_or(0);
                    1 + packed_bytes(group.len(), width)
                })
                .sum();
            prop_assert!(out.len() <= plain, "{} and {plain} bytes", out.len());
            let (bytes, len) = padded(out);
            let mut found = vec![0; values.len()];
            let mut cursor = Cursor::new(&bytes, 0, len).unwrap();
            prop_assert_eq!(cursor.list(&mut found), Some(()));
            prop_assert!(cursor.is_at_end());
            prop_assert_eq!(found, values);
        }

        #[test]
        fn weights_round_trip(
            // Tenths, sums of two of them, and any other weights.
            tenths in prop::collection::vec((1u32..30_000, 0u32..30_000, 0u8..40), 1..200),
            decimals in 0u32..4,
        ) {
            let weight = |&(a, b, odd): &(u32, u32, u8)| {
                let scale = 10f64.powi(decimals as i32);
                let first = Weight::new(f64::from(a) / scale).value();
                let second = if b == 0 { 0.0 } else { Weight::new(f64::from(b) / scale).value() };
                let sum = if odd == 0 { first * 1e-7 } else { first + second };
                Weight::new(sum).code()
            };
            let codes: Vec<u32> = tenths.iter().map(weight).collect();
            let targets: Vec<u32> = (0..codes.len() as u32).map(|at| at * 3).collect();
            let scale = Scale::choose(&codes);
            let (mut encoder, mut out) = (ArcEncoder::new(scale), Vec::new());
            encoder.put(7, &targets, &codes, &mut out);
            let (bytes, len) = padded(out);
            for uses in [0, u64::MAX] {
                let decoder = Codes::new(scale.scheme(), encoder.largest.into(), uses);
                let mut found = (vec![0; codes.len()], vec![0; codes.len()]);
                let mut cursor = Cursor::new(&bytes, 0, len).unwrap();
                let weights = match scale.scheme() {
                    WeightScheme::One => &mut [][..],
                    _ => &mut found.1[..],
                };
                let read = cursor.arcs(7, 1000, &decoder, &mut found.0, weights);
                prop_assert_eq!(read, Some(()));
                prop_assert!(cursor.is_at_end());
                prop_assert_eq!(&found.0, &targets);
                if scale.scheme() != WeightScheme::One {
                    prop_assert_eq!(&found.1, &codes);
                }
            }
        }

        #[test]
        fn damaged_bytes_are_refused_or_read(
            bytes in prop::collection::vec(any::<u8>(), 1..200),
            count in 0usize..200,
        ) {
            let (bytes, len) = padded(bytes);
            let mut values = vec![0; count];
            // A fault of the decoder would panic.
            let _ = Cursor::new(&bytes, 0, len).unwrap().list(&mut values);
            let codes = Codes::new(WeightScheme::Decimal(1), 5000, 0);
            let mut weights = vec![0; count];
            if count > 0 {
                let mut cursor = Cursor::new(&bytes, 0, len).unwrap();
                let _ = cursor.arcs(3, 1 << 32, &codes, &mut values, &mut weights);
            }
        }
    }

    #[test]
    fn a_few_large_values_do_not_widen_the_others() {
        let values: Vec<u32> =
            (0..64).map(|at| if at % 16 == 0 { 1 << 20 } else { at % 4 }).collect();
        let mut out = Vec::new();
        put_list(&values, &mut out);
        // 2 bits each, a bit mask of the larger ones, and four times 19 bits.
        assert_eq!(out.len(), 2 + 8 + 16 + 10);
    }
}
