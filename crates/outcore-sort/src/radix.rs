//! Sorting in memory: a stable radix sort from the most significant bits down, out of place.
//!
//! Each level distributes the records over up to 2,048 buckets of the actual key range, so dense keys (node
//! indexes) need two levels and a short insertion sort. All cores share the first level, then take buckets.
//! Memory: a second buffer of the same size. Cost: about three passes over the records. Source: McIlroy,
//! Bostic, McIlroy, "Engineering Radix Sort" (1993).

use super::RadixKey;
use super::record::Record;
use rayon::prelude::*;
use std::ops::Range;

/// Fewer records than this are sorted by insertion.
const SMALL: usize = 24;
const BUCKET_BITS_MAX: u32 = 11;
/// Least mean number of records in a bucket; with more, sorting buckets by insertion takes longer than counting.
const RECORDS_A_BUCKET: usize = 2;
/// Fewer records than this are sorted by one thread.
const PARALLEL: usize = 1 << 15;

/// Sorts `records` by key, stably; `scratch` has the same length and is overwritten.
pub(crate) fn sort<R: Record>(records: &mut [R], scratch: &mut [R]) {
    let threads = rayon::current_num_threads();
    if threads == 1 || records.len() < PARALLEL {
        return sort_few(records, scratch);
    }
    let Some(split) = Split::new(records, 0) else {
        return sort_few(records, scratch);
    };
    let piece = records.len().div_ceil(threads * 2);
    let histograms: Vec<Vec<usize>> =
        records.par_chunks(piece).map(|part| split.histogram(part)).collect();
    let bounds = scatter(records, scratch, piece, &split, &histograms);
    let mut work = Vec::with_capacity(bounds.len());
    let (mut from, mut to) = (scratch, records);
    for len in bounds {
        let (bucket, rest) = from.split_at_mut(len);
        let (target, rest_target) = to.split_at_mut(len);
        (from, to) = (rest, rest_target);
        work.push((bucket, target));
    }
    work.into_par_iter().for_each(|(bucket, target)| sort_bucket(bucket, target, false, 0));
}

/// Sorts records that fit the cache by key, stably; `scratch` has the same length and is overwritten.
pub(crate) fn sort_few<R: Record>(records: &mut [R], scratch: &mut [R]) {
    sort_bucket(records, scratch, true, 0);
}

/// Moves every piece's records to its own part of each bucket, in parallel; returns the bucket lengths.
fn scatter<R: Record>(
    records: &[R],
    scratch: &mut [R],
    piece: usize,
    split: &Split,
    histograms: &[Vec<usize>],
) -> Vec<usize> {
    let bucket_count = split.bucket_count();
    let mut targets: Vec<Vec<&mut [R]>> =
        histograms.iter().map(|_| Vec::with_capacity(bucket_count)).collect();
    let mut bounds = Vec::with_capacity(bucket_count);
    let mut rest = scratch;
    for bucket in 0..bucket_count {
        let mut len = 0;
        for (histogram, slices) in histograms.iter().zip(&mut targets) {
            let (slice, tail) = rest.split_at_mut(histogram[bucket]);
            rest = tail;
            len += slice.len();
            slices.push(slice);
        }
        bounds.push(len);
    }
    records.par_chunks(piece).zip(targets).for_each(|(part, mut slices)| {
        let mut filled = vec![0u32; slices.len()];
        for record in part {
            let bucket = split.bucket(record);
            let at = &mut filled[bucket];
            slices[bucket][*at as usize] = *record;
            *at += 1;
        }
    });
    bounds
}

/// Bucket function of one level: the bits of one word of the key, relative to its minimum.
struct Split {
    word: usize,
    min: u64,
    shift: u32,
    bits: u32,
}

impl Split {
    /// Returns `None` if all records agree in `word`.
    fn new<R: Record>(records: &[R], word: usize) -> Option<Self> {
        let (mut min, mut max) = (u64::MAX, 0);
        for record in records {
            let value = record.key().word(word);
            min = min.min(value);
            max = max.max(value);
        }
        if min >= max {
            return None;
        }
        let range_bits = 64 - (max - min).leading_zeros();
        let wanted = (records.len() / RECORDS_A_BUCKET).max(2).ilog2() + 1;
        let bits = wanted.min(BUCKET_BITS_MAX).min(range_bits);
        Some(Self { word, min, shift: range_bits - bits, bits })
    }

    fn bucket_count(&self) -> usize {
        1 << self.bits
    }

    #[inline]
    fn bucket<R: Record>(&self, record: &R) -> usize {
        ((record.key().word(self.word) - self.min) >> self.shift) as usize
    }

    fn histogram<R: Record>(&self, records: &[R]) -> Vec<usize> {
        let mut counts = vec![0; self.bucket_count()];
        for record in records {
            counts[self.bucket(record)] += 1;
        }
        counts
    }
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
    let Some(split) = Split::new(source, word) else {
        if word + 1 < R::Key::WORDS {
            return sort_bucket(source, other, stay, word + 1);
        }
        if !stay {
            other.copy_from_slice(source);
        }
        return;
    };
    let mut ends = split.histogram(source);
    let mut sum = 0;
    for end in &mut ends {
        let count = *end;
        *end = sum;
        sum += count;
    }
    for record in source.iter() {
        let at = &mut ends[split.bucket(record)];
        other[*at] = *record;
        *at += 1;
    }
    // Small buckets are sorted together with their neighbors: records never cross a bucket's bounds.
    let (mut begin, mut end_of_sorted) = (0, 0);
    for end in ends {
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
