//! Matching with an earlier result: a new community takes the number of the earlier one with which it shares most
//! nodes.
//!
//! All pairs of a new and an earlier community are visited by the number of nodes they share, largest first; ties go to
//! the smaller earlier number, then to the larger new community. A pair whose two sides are both free becomes a match.
//! This is greedy, like the event detection of Greene, Doyle and Cunningham ("Tracking the evolution of communities in
//! dynamic social networks", 2010). An optimal assignment would cost the cube of the number of communities and keep
//! hardly more numbers.
//!
//! Two external sorts: nodes by pair, and pairs by overlap. Memory: 8 bytes per new community, 9 per earlier one, and
//! the budgets of the sorts. I/O: 8 bytes per node and 24 per pair, written and read once if they do not fit in memory.

use super::presentation_rows::{Overlap, SharedNode};
use super::{Earlier, Presented};
use crate::error::Result;
use crate::io::Files;
use crate::progress::{Event, Observer, REPORT_NODES, notify};
use crate::sort::{Record, Row, RowSorter, SORT_BYTES_MIN, SortedRows, Sorter};
use std::cmp::Reverse;
use std::path::Path;

/// No number assigned; valid numbers have at most 15 digits.
const FREE: u64 = u64::MAX;
/// Number of records between two reports of progress.
const REPORTED: u64 = 1 << 14;

/// Returns the memory that grows with the number of earlier communities.
pub(super) fn earlier_bytes(count: u64) -> u64 {
    9 * count
}

/// Environment of the sorts: storage, memory, threads and observer.
pub(crate) struct Workbench<'a> {
    pub(crate) files: &'a Files,
    /// Existing directory for temporary files.
    pub(crate) scratch: &'a Path,
    /// Memory of all sorts that run at the same time.
    pub(crate) budget: u64,
    pub(crate) threads: usize,
    pub(crate) observer: &'a dyn Observer,
}

/// Assigns a number to each community. Returns how many keep a number of the earlier result.
///
/// # Errors
/// `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn match_numbers(
    bench: &Workbench<'_>,
    presented: &mut Presented,
    earlier: &Earlier,
) -> Result<u64> {
    let numbers = earlier.numbers()?;
    let overlaps = sort_overlaps(bench, sort_nodes(bench, presented, earlier)?, &numbers)?;
    drop(numbers);
    let mut found = vec![FREE; presented.community_count() as usize];
    let kept = give(bench, overlaps, earlier.community_count(), &mut found)?;
    let first = earlier.largest_number().map_or(0, |largest| largest + 1);
    let free = found.iter_mut().filter(|number| **number == FREE);
    free.zip(first..).for_each(|(number, next)| *number = next);
    presented.numbers = found;
    Ok(kept)
}

/// Sorts the nodes that have a community in both results by pair of communities.
fn sort_nodes(
    bench: &Workbench<'_>,
    presented: &Presented,
    earlier: &Earlier,
) -> Result<SortedRows<SharedNode>> {
    let mut sorter = bench.rows(2)?;
    let mut labels = presented.labels().iter();
    let mut done = 0u64;
    earlier.for_each_label(|old| {
        let new = labels.next().copied().unwrap_or(Presented::NONE);
        if new != Presented::NONE && old != Presented::NONE {
            sorter.add(SharedNode { pair: u64::from(new) << 32 | u64::from(old) })?;
        }
        if done.is_multiple_of(REPORT_NODES) {
            notify(bench.observer, Event::Advance { done })?;
        }
        done += 1;
        Ok(())
    })?;
    sorter.finish()
}

/// Sorts pairs of communities by the number of nodes they share.
fn sort_overlaps(
    bench: &Workbench<'_>,
    nodes: SortedRows<SharedNode>,
    numbers: &[u64],
) -> Result<SortedRows<Overlap>> {
    let mut sorter = bench.rows(2)?;
    let mut nodes = bench.read(nodes);
    while let Some(SharedNode { pair }) = nodes.next()? {
        let (mut shared, new, old) = (1, (pair >> 32) as u32, pair as u32);
        while nodes.next_if(|node| node.pair == pair)?.is_some() {
            shared += 1;
        }
        // The sort is stable, so among pairs of equal overlap and number, the smaller new label comes first.
        let number = numbers[old as usize];
        sorter.add(Overlap { shared: Reverse(shared), number, labels: [new, old] })?;
    }
    sorter.finish()
}

/// Assigns numbers pair by pair. Returns the number of matches.
fn give(
    bench: &Workbench<'_>,
    overlaps: SortedRows<Overlap>,
    earlier_count: u64,
    found: &mut [u64],
) -> Result<u64> {
    let mut is_taken = vec![false; earlier_count as usize];
    let mut kept = 0;
    bench.for_each(overlaps, |overlap| {
        let [new, old] = overlap.labels.map(|label| label as usize);
        let (number, is_taken) = (&mut found[new], &mut is_taken[old]);
        if *number == FREE && !*is_taken {
            *number = overlap.number;
            *is_taken = true;
            kept += 1;
        }
        Ok(())
    })?;
    Ok(kept)
}

impl Workbench<'_> {
    /// Number of sorts that exist at the same time, at most, while results are compared.
    pub(crate) const SORTS: u64 = 3;
    /// Minimum budget of one sort.
    pub(crate) const BUDGET_MIN: u64 = SORT_BYTES_MIN;

    /// Returns the memory of [`match_numbers`] in addition to the budget and the labels.
    pub(crate) fn matching_bytes(presented: &Presented, earlier: &Earlier) -> u64 {
        8 * presented.community_count() + earlier_bytes(earlier.community_count())
    }

    /// Returns the memory of [`write_representatives`](super::write_representatives) in addition to the budget, the
    /// labels and the scan.
    pub(crate) fn representatives_bytes(presented: &Presented) -> u64 {
        super::memory::LABEL_BYTES * presented.shared_count() as u64
    }

    /// Creates a sorter with an equal share of the budget, for `sorts` concurrent sorters.
    pub(crate) fn sorter<R: Record>(&self, sorts: u64) -> Result<Sorter<R>> {
        Sorter::new(self.files, self.scratch, self.budget / sorts, self.threads)
    }

    /// Creates a sorter of rows, like [`sorter`](Self::sorter).
    pub(crate) fn rows<T: Row>(&self, sorts: u64) -> Result<RowSorter<T>> {
        RowSorter::new(self.files, self.scratch, self.budget / sorts, self.threads)
    }

    /// Reports progress where there is no measure of the work.
    pub(crate) fn tick(&self) -> Result<()> {
        notify(self.observer, Event::Advance { done: u64::from(u32::MAX) })
    }

    /// Counts a record, and reports progress from time to time.
    #[inline]
    pub(crate) fn count(&self, read: &mut u64) -> Result<()> {
        if read.is_multiple_of(REPORTED) {
            self.tick()?;
        }
        *read += 1;
        Ok(())
    }

    /// Passes sorted rows to `each`, and reports progress from time to time.
    pub(crate) fn for_each<T: Row>(
        &self,
        sorted: SortedRows<T>,
        each: impl FnMut(&T) -> Result<()>,
    ) -> Result<()> {
        sorted.for_each(|| self.tick(), each)
    }

    /// Reads sorted rows one by one, and reports progress from time to time.
    pub(crate) fn read<T: Row>(&self, sorted: SortedRows<T>) -> Rows<'_, T> {
        Rows { sorted, bench: self, read: 0 }
    }
}

/// Reader of sorted rows.
pub(crate) struct Rows<'a, T: Row> {
    sorted: SortedRows<T>,
    bench: &'a Workbench<'a>,
    read: u64,
}

impl<T: Row> Rows<'_, T> {
    /// Returns the next row; `None` after the last.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<T>> {
        self.next_if(|_| true)
    }

    /// Returns the next row if it is as wanted, such as one of the same group.
    #[inline]
    pub(crate) fn next_if(&mut self, wanted: impl FnOnce(&T) -> bool) -> Result<Option<T>> {
        self.bench.count(&mut self.read)?;
        self.sorted.next_if(wanted)
    }
}
