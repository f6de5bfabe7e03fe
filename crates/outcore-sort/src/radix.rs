//! Sorting in memory: a stable radix sort from the most significant bits down, out of place.
//!
//! Each level distributes the records over buckets of the actual key range, so dense keys (node indexes) need one or two
//! levels and a short insertion sort. All cores share the first level, then take buckets. The bounds of buckets are
//! multiples of a power of two, so those of different runs coincide, and a block of a run lies in one window of a merge.
//! Memory: a second buffer of the same size. Cost: about three passes over the records. Source: McIlroy, Bostic, McIlroy,
//! "Engineering Radix Sort" (1993).

use super::RadixKey;
use super::record::Record;
use outcore_io::parallel;
use std::ops::Range;

/// Fewer records than this are sorted by insertion.
const SMALL: usize = 24;
const BUCKET_BITS_MAX: u32 = 12;
/// Maximum for the cells of a run.
const CELL_BITS_MAX: u32 = 20;
/// Bytes of records that are arranged at a time: they, their copy and counters stay in the cache of a core.
const ARRANGED_BYTES: usize = 384 << 10;
/// Maximum bytes of a bucket; a larger one is divided again.
pub(crate) const LARGE_BYTES: usize = 4 * ARRANGED_BYTES;
/// Number of buckets of a piece: few enough to write to all of them alternately at full speed.
const PIECE_BUCKETS: usize = 64;
/// Mean number of records in a bucket. With more, the insertion sort of a bucket takes longer than counting.
const RECORDS_A_BUCKET: usize = 4;
/// Fewer records than this are sorted by one thread.
const PARALLEL: usize = 1 << 15;

/// Sorts `records` by key, stably, on all cores; `scratch` has the same length and is overwritten.
pub(crate) fn sort<R: Record>(records: &mut [R], scratch: &mut [R]) {
    distribute(records, scratch, 1, move_sorted);
}

/// Outline of records that are ordered by the leading bits of their keys.
pub(crate) struct Piece {
    bounds: (u64, u64),
    split: Split,
    /// Number of records up to the end of each bucket.
    ends: Vec<u32>,
}

impl Piece {
    /// Moves records that fit the cache from `from` to `to`, which is as long, stably ordered by leading bits of their keys.
    /// Returns `None` without records.
    pub(crate) fn order<R: Record>(from: &[R], to: &mut [R]) -> Option<Self> {
        if from.is_empty() {
            return None;
        }
        let bounds = bounds(from, 0);
        let split = Split::new(bounds.0, bounds.1, 0, PIECE_BUCKETS, BUCKET_BITS_MAX, 0);
        let ends = split.spread(from, to);
        Some(Self { bounds, split, ends })
    }

    /// Returns the number of records.
    pub(crate) fn count(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    /// Returns the number of records whose first word is below a bucket of `split`. The buckets of `split` must not be
    /// smaller than those of this piece.
    fn count_below(&self, split: &Split, bucket: usize) -> usize {
        // The bound after the last key may not fit in one word.
        let first = (u128::from(split.first) + bucket as u128) << (split.shift - self.split.shift);
        let buckets = first.saturating_sub(self.split.first.into()).min(self.ends.len() as u128);
        buckets.checked_sub(1).map_or(0, |last| self.ends[last as usize] as usize)
    }
}

/// Division of a run into buckets, which are arranged one by one, and of buckets into cells, which become blocks.
pub(crate) struct Division {
    buckets: Split,
    cells: Split,
    /// Maximum number of records in a block.
    most: usize,
}

/// Neighboring records of a run, in any order among themselves; all other records of the run come before or after them.
pub(crate) struct Cell<'a, R: Record> {
    /// Lower bound of the keys in this cell; the keys of earlier cells are less.
    pub(crate) least: R::Key,
    pub(crate) records: &'a [R],
}

impl Division {
    /// Divides a run of ordered pieces so that most cells have about a third of `most` records.
    pub(crate) fn new<R: Record>(pieces: &[Piece], most: usize) -> Self {
        let bounds = pieces.iter().map(|piece| piece.bounds);
        let bounds = bounds.fold((u64::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        let count = pieces.iter().map(Piece::count).sum::<usize>();
        let wanted = count.div_ceil(most.div_ceil(3));
        let cells = Split::new(bounds.0, bounds.1, 0, wanted, CELL_BITS_MAX, R::UNORDERED_BITS);
        let wanted = (count * size_of::<R>()).div_ceil(ARRANGED_BYTES);
        let coarsest = pieces.iter().map(|piece| piece.split.shift).fold(cells.shift, u32::max);
        let buckets = Split::new(bounds.0, bounds.1, 0, wanted, BUCKET_BITS_MAX, coarsest);
        Self { buckets, cells, most }
    }

    pub(crate) fn bucket_count(&self) -> usize {
        self.buckets.bucket_count
    }

    /// Returns the maximum number of records in a block.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Copies the records of a bucket from those of all pieces to `out`.
    pub(crate) fn gather<R: Record>(
        &self,
        bucket: usize,
        records: &[R],
        pieces: &[Piece],
        out: &mut Vec<R>,
    ) {
        out.clear();
        let mut rest = records;
        for piece in pieces {
            let (records, others) = rest.split_at(piece.count());
            rest = others;
            let below = |bucket| piece.count_below(&self.buckets, bucket);
            out.extend_from_slice(&records[below(bucket)..below(bucket + 1)]);
        }
    }

    /// Orders the records of a bucket by cells; `scratch` is overwritten. A cell with too many records for a block is
    /// sorted, and each other one in the order of [`Record::arrange`].
    pub(crate) fn arrange<'a, R: Record>(
        &self,
        records: &'a mut Vec<R>,
        scratch: &mut Vec<R>,
    ) -> Vec<Cell<'a, R>> {
        scratch.resize(records.len(), R::default());
        if records.len() * size_of::<R>() <= LARGE_BYTES {
            R::arrange(records, scratch);
            std::mem::swap(records, scratch);
        } else {
            distribute(records, scratch, ARRANGED_BYTES / size_of::<R>(), R::arrange);
        }
        let mut cells = Vec::new();
        let (mut rest, mut rest_scratch) = (&mut records[..], &mut scratch[..]);
        while let Some(first) = rest.first() {
            let number = self.cells.bucket(first);
            let count = rest.partition_point(|record| self.cells.bucket(record) == number);
            let (records, others) = std::mem::take(&mut rest).split_at_mut(count);
            let (scratch, other_scratch) = rest_scratch.split_at_mut(count);
            (rest, rest_scratch) = (others, other_scratch);
            if count > self.most {
                sort_few(records, scratch);
            }
            cells.push(Cell { least: R::Key::least(self.cells.least(number)), records });
        }
        cells
    }
}

/// Distributes `records` over buckets in `scratch`, each of about `wanted` records; `put_back` moves a bucket back to
/// its place in `records`.
fn distribute<R: Record>(
    records: &mut [R],
    scratch: &mut [R],
    wanted: usize,
    put_back: fn(&mut [R], &mut [R]),
) {
    if records.is_empty() {
        return;
    }
    let threads = if records.len() < PARALLEL { 1 } else { rayon::current_num_threads() };
    let piece = records.len().div_ceil(if threads > 1 { 2 * threads } else { 1 });
    let pieces = || records.chunks(piece).collect();
    let bounds = parallel::map(None, pieces(), |part| bounds(part, 0)).into_iter();
    let bounds = bounds.fold((u64::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    let split =
        Split::new(bounds.0, bounds.1, 0, records.len().div_ceil(wanted), BUCKET_BITS_MAX, 0);
    let histograms = parallel::map(None, pieces(), |part| split.histogram(part));
    let lens = scatter(records, scratch, piece, &histograms, &split);
    let mut buckets = Vec::with_capacity(lens.len());
    let (mut from, mut to) = (scratch, records);
    for len in lens {
        let (bucket, rest) = from.split_at_mut(len);
        let (target, rest_target) = to.split_at_mut(len);
        (from, to) = (rest, rest_target);
        buckets.push((bucket, target));
    }
    parallel::for_each(None, buckets, |(bucket, target)| put_back(bucket, target));
}

/// Moves every piece's records to its own part of each bucket, in parallel; returns the bucket lengths.
fn scatter<R: Record>(
    records: &[R],
    scratch: &mut [R],
    piece: usize,
    histograms: &[Vec<u32>],
    split: &Split,
) -> Vec<usize> {
    let mut targets: Vec<Vec<std::slice::IterMut<'_, R>>> =
        histograms.iter().map(|counts| Vec::with_capacity(counts.len())).collect();
    let mut lens = Vec::with_capacity(split.bucket_count);
    let mut rest = scratch;
    for bucket in 0..split.bucket_count {
        let mut len = 0;
        for (histogram, slots) in histograms.iter().zip(&mut targets) {
            let (slice, tail) = rest.split_at_mut(histogram[bucket] as usize);
            rest = tail;
            len += slice.len();
            slots.push(slice.iter_mut());
        }
        lens.push(len);
    }
    let pieces = records.chunks(piece).zip(targets).collect();
    parallel::for_each(None, pieces, |(part, mut slots): (&[R], Vec<_>)| {
        for record in part {
            *slots[split.bucket(record)].next().expect("it has been counted") = *record;
        }
    });
    lens
}

/// Returns the least and the largest word of the keys.
fn bounds<R: Record>(records: &[R], word: usize) -> (u64, u64) {
    records.iter().fold((u64::MAX, 0), |(min, max), record| {
        let value = record.key().word(word);
        (min.min(value), max.max(value))
    })
}

/// Bucket function of one level: the leading bits of one word of the key.
struct Split {
    word: usize,
    shift: u32,
    first: u64,
    bucket_count: usize,
}

impl Split {
    /// Divides the keys between two bounds into about `wanted` buckets, at most 2 to the power of `most`. The last
    /// `ignored` bits of the word make no difference.
    fn new(min: u64, max: u64, word: usize, wanted: usize, most: u32, ignored: u32) -> Self {
        let range_bits = 64 - (max - min).leading_zeros();
        let bits = (wanted.max(1).ilog2() + 1).min(most).min(range_bits);
        let shift = (range_bits - bits).max(ignored).min(63);
        let first = min >> shift;
        Self { word, shift, first, bucket_count: ((max >> shift) - first) as usize + 1 }
    }

    /// Returns the least word of a bucket.
    fn least(&self, bucket: usize) -> u64 {
        (self.first + bucket as u64) << self.shift
    }

    #[inline]
    fn bucket<R: Record>(&self, record: &R) -> usize {
        ((record.key().word(self.word) >> self.shift) - self.first) as usize
    }

    fn histogram<R: Record>(&self, records: &[R]) -> Vec<u32> {
        let mut counts = vec![0; self.bucket_count];
        for record in records {
            counts[self.bucket(record)] += 1;
        }
        counts
    }

    /// Copies records from `from` to `to`, bucket after bucket; returns the end of each.
    fn spread<R: Record>(&self, from: &[R], to: &mut [R]) -> Vec<u32> {
        let (mut ends, mut sum) = (self.histogram(from), 0);
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        for record in from {
            let at = &mut ends[self.bucket(record)];
            to[*at as usize] = *record;
            *at += 1;
        }
        ends
    }
}

/// Sorts records that fit the cache by key, stably; `scratch` has the same length and is overwritten.
fn sort_few<R: Record>(records: &mut [R], scratch: &mut [R]) {
    sort_bucket(records, scratch, true, 0);
}

/// Moves records that fit the cache from `from` to `to`, which is as long, stably sorted by key. `from` is overwritten.
pub fn move_sorted<R: Record>(from: &mut [R], to: &mut [R]) {
    sort_bucket(from, to, false, 0);
}

/// Sorts `source`; the result is in `source` if `stay`, otherwise in `other`.
fn sort_bucket<R: Record>(source: &mut [R], other: &mut [R], stay: bool, word: usize) {
    if source.len() <= SMALL {
        insertion_sort(source);
        if !stay {
            other.copy_from_slice(source);
        }
        return;
    }
    let (min, max) = bounds(source, word);
    if min == max {
        if word + 1 < R::Key::WORDS {
            return sort_bucket(source, other, stay, word + 1);
        }
        if !stay {
            other.copy_from_slice(source);
        }
        return;
    }
    let wanted = source.len() / RECORDS_A_BUCKET;
    let split = Split::new(min, max, word, wanted, BUCKET_BITS_MAX, 0);
    let ends = split.spread(source, other);
    // Small buckets are sorted together with their neighbors: records never cross a bucket's bounds.
    let (mut begin, mut end_of_sorted) = (0, 0);
    for end in ends {
        let end = end as usize;
        if end - begin > SMALL {
            sort_small(source, other, stay, end_of_sorted..begin);
            sort_bucket(&mut other[begin..end], &mut source[begin..end], !stay, word);
            end_of_sorted = end;
        }
        begin = end;
    }
    sort_small(source, other, stay, end_of_sorted..begin);
}

/// Sorts records of `other` that are almost sorted; the result is in `source` if `stay`.
fn sort_small<R: Record>(source: &mut [R], other: &mut [R], stay: bool, range: Range<usize>) {
    insertion_sort(&mut other[range.clone()]);
    if stay {
        source[range.clone()].copy_from_slice(&other[range]);
    }
}

/// Sorts a handful of records stably.
fn insertion_sort<R: Record>(records: &mut [R]) {
    for i in 1..records.len() {
        let record = records[i];
        let key = record.key();
        let mut at = i;
        while at > 0 && records[at - 1].key() > key {
            records[at] = records[at - 1];
            at -= 1;
        }
        records[at] = record;
    }
}
