//! Records declared by their fields, and how fields are encoded in runs.
//!
//! A number is stored as its difference from that of the record before, in as few bytes as that needs: one for what
//! is sorted, or changes little from record to record. Encoding and decoding cost a few nanoseconds per field.

/// Field of a record that [`records!`](crate::records) declares.
pub trait Field: Copy {
    /// Appends the field to `out`; `last` is that of the record before, the default at first.
    fn put(self, last: Self, out: &mut Vec<u8>);
    /// Reads what [`Field::put`] has written at `*at`, and advances; `None` if it has not.
    fn get(last: Self, bytes: &[u8], at: &mut usize) -> Option<Self>;
}

/// Declares records: structs with a sort key, whose fields are encoded one after the other.
///
/// ```
/// outcore_sort::records! {
///     /// Visit of a page, sorted by time.
///     struct Visit {
///         time: u64,
///         page: u8,
///     } by u64 = |visit| visit.time;
/// }
/// ```
#[macro_export]
macro_rules! records {
    ($(
        $(#[$of_record:meta])*
        $public:vis struct $record:ident {
            $($(#[$of_field:meta])* $of:vis $field:ident: $type:ty,)*
        } by $key:ty = |$one:ident| $value:expr;
    )*) => {$(
        $(#[$of_record])*
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        $public struct $record {
            $($(#[$of_field])* $of $field: $type,)*
        }

        impl $crate::Record for $record {
            type Key = $key;

            #[inline]
            fn key(&self) -> $key {
                let $one = self;
                $value
            }

            fn encode(records: &[Self], out: &mut Vec<u8>) {
                let mut last = Self::default();
                for record in records {
                    $($crate::Field::put(record.$field, last.$field, out);)*
                    last = *record;
                }
            }

            fn decode(bytes: &[u8], count: usize, out: &mut Vec<Self>) -> Option<()> {
                let (mut at, mut last) = (0, Self::default());
                for _ in 0..count {
                    last = Self { $($field: $crate::Field::get(last.$field, bytes, &mut at)?,)* };
                    out.push(last);
                }
                (at == bytes.len()).then_some(())
            }
        }
    )*};
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Field for $number {
            #[inline]
            fn put(self, last: Self, out: &mut Vec<u8>) {
                let step = u64::from(self).wrapping_sub(last.into()) as i64;
                // Small steps in both directions are small numbers.
                put_varint((step << 1 ^ step >> 63) as u64, out);
            }

            #[inline]
            fn get(last: Self, bytes: &[u8], at: &mut usize) -> Option<Self> {
                let step = get_varint(bytes, at)?;
                let step = step >> 1 ^ (step & 1).wrapping_neg();
                u64::from(last).wrapping_add(step).try_into().ok()
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64);

impl Field for bool {
    #[inline]
    fn put(self, _: Self, out: &mut Vec<u8>) {
        out.push(self.into());
    }

    #[inline]
    fn get(_: Self, bytes: &[u8], at: &mut usize) -> Option<Self> {
        u8::try_from(get_varint(bytes, at)?).ok().filter(|&bit| bit < 2).map(|bit| bit == 1)
    }
}

/// The bits of most numbers end in zeros, so they are stored from the other end.
impl Field for f64 {
    #[inline]
    fn put(self, _: Self, out: &mut Vec<u8>) {
        put_varint(self.to_bits().swap_bytes(), out);
    }

    #[inline]
    fn get(_: Self, bytes: &[u8], at: &mut usize) -> Option<Self> {
        Some(Self::from_bits(get_varint(bytes, at)?.swap_bytes()))
    }
}

impl<T: Field, const N: usize> Field for [T; N] {
    #[inline]
    fn put(self, last: Self, out: &mut Vec<u8>) {
        self.into_iter().zip(last).for_each(|(one, last)| one.put(last, out));
    }

    #[inline]
    fn get(mut last: Self, bytes: &[u8], at: &mut usize) -> Option<Self> {
        for one in &mut last {
            *one = T::get(*one, bytes, at)?;
        }
        Some(last)
    }
}

/// Appends `value` with seven bits per byte (LEB128).
#[inline]
pub fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a value written by [`put_varint`] at `*at` and advances; `None` if it does not end.
#[inline]
pub fn get_varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::Record;
    use proptest::prelude::*;

    records! {
        /// A field of each type.
        struct All {
            large: u64,
            numbers: [u32; 2],
            small: u8,
            short: u16,
            real: f64,
            mark: bool,
        } by u64 = |all| all.large;
    }

    proptest! {
        #[test]
        fn declared_records_survive_a_round_trip_and_are_never_read_from_parts(
            fields in prop::collection::vec(
                (any::<u64>(), any::<[u32; 2]>(), any::<u8>(), any::<u16>(), -1e300..1e300, any::<bool>()),
                0..40,
            ),
            cut in any::<prop::sample::Index>(),
            other: u8,
        ) {
            let all = fields.into_iter().map(|(large, numbers, small, short, real, mark)| {
                All { large, numbers, small, short, real, mark }
            });
            let records: Vec<All> = all.collect();
            let (mut bytes, mut back) = (Vec::new(), Vec::new());
            All::encode(&records, &mut bytes);
            prop_assert_eq!(All::decode(&bytes, records.len(), &mut back), Some(()));
            prop_assert_eq!(&back, &records);
            let cut = cut.index(bytes.len() + 1);
            prop_assert!(cut == bytes.len() || All::decode(&bytes[..cut], records.len(), &mut back).is_none());
            if let Some(byte) = bytes.get_mut(cut) {
                *byte = other;
                let _ = All::decode(&bytes, records.len(), &mut back);
            }
        }

        #[test]
        fn sorted_numbers_take_a_byte(mut large in prop::collection::vec(0..3000u64, 1000)) {
            large.sort_unstable();
            let records: Vec<All> = large.into_iter().map(|large| All { large, ..All::default() }).collect();
            let mut bytes = Vec::new();
            All::encode(&records, &mut bytes);
            prop_assert_eq!(bytes.len(), 7 * records.len());
        }
    }
}
