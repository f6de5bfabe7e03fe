//! Numbers that stay: a new community takes that of the earlier one with which it shares most nodes.
//!
//! All pairs of a new and an earlier community are gone through by the number of nodes they share,
//! largest first; among equals the smaller earlier number comes first, then the larger new community.
//! A pair whose two sides are both free becomes a match. Greedy, like the event detection of Greene,
//! Doyle and Cunningham ("Tracking the evolution of communities in dynamic social networks", 2010); an
//! optimal assignment would cost the cube of the communities and keep hardly more.
//!
//! Two external sorts: nodes by pair, pairs by overlap. Memory: 8 bytes a new community, 9 an
//! earlier one, and the sorts' budgets. I/O: 8 bytes for each node, and 24 for each pair, written and
//! read once if they do not fit.

use super::record::{Overlap, SharedNode};
use super::{Earlier, Presented};
use crate::error::Result;
use crate::io::Files;
use crate::progress::{Event, Observer, notify};
use crate::sort::{PUSHED, Sorted, Sorter};
use std::path::Path;

/// No number: numbers have at most 15 digits.
const FREE: u64 = u64::MAX;

/// Memory that grows with the number of earlier communities.
pub(super) fn earlier_bytes(count: u64) -> u64 {
    9 * count
}

/// Where and with what the sorts work.
pub(crate) struct Workbench<'a> {
    pub(crate) files: &'a Files,
    /// An existing directory for temporary files.
    pub(crate) scratch: &'a Path,
    /// Memory of all sorts that run at a time.
    pub(crate) budget: u64,
    pub(crate) threads: usize,
    pub(crate) observer: &'a dyn Observer,
}

/// Gives each community a number; gives how many of them had it before.
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

/// Nodes that have a community in both, by the pair of communities.
fn sort_nodes(
    bench: &Workbench<'_>,
    presented: &Presented,
    earlier: &Earlier,
) -> Result<Sorted<SharedNode>> {
    let mut sorter = bench.sorter::<SharedNode>(2)?;
    let mut nodes = Vec::with_capacity(PUSHED);
    let mut labels = presented.labels().iter();
    let mut done = 0;
    earlier.for_each_label(|old| {
        let new = labels.next().copied().unwrap_or(Presented::NONE);
        done += 1;
        if new != Presented::NONE && old != Presented::NONE {
            nodes.push(SharedNode { new, old });
        }
        if nodes.len() == PUSHED {
            sorter.push(&nodes)?;
            nodes.clear();
            notify(bench.observer, Event::Advance { done })?;
        }
        Ok(())
    })?;
    sorter.push(&nodes)?;
    sorter.finish()
}

/// Pairs of communities by how many nodes they share.
fn sort_overlaps(
    bench: &Workbench<'_>,
    mut nodes: Sorted<SharedNode>,
    numbers: &[u64],
) -> Result<Sorted<Overlap>> {
    let mut sorter = bench.sorter::<Overlap>(2)?;
    let mut overlaps: Vec<Overlap> = Vec::with_capacity(PUSHED);
    let mut current: Option<Overlap> = None;
    while let Some(block) = nodes.next_block()? {
        for &SharedNode { new, old } in block {
            match &mut current {
                Some(overlap) if (overlap.new, overlap.old) == (new, old) => overlap.shared += 1,
                _ => {
                    overlaps.extend(current);
                    current = Some(Overlap { shared: 1, number: numbers[old as usize], new, old });
                }
            }
        }
        sorter.push(&overlaps)?;
        overlaps.clear();
        notify(bench.observer, Event::Advance { done: u64::from(u32::MAX) })?;
    }
    sorter.push(current.as_slice())?;
    sorter.finish()
}

/// Goes through the pairs; gives how many matched.
fn give(
    bench: &Workbench<'_>,
    mut overlaps: Sorted<Overlap>,
    earlier_count: u64,
    found: &mut [u64],
) -> Result<u64> {
    let mut is_taken = vec![false; earlier_count as usize];
    let mut kept = 0;
    while let Some(block) = overlaps.next_block()? {
        for overlap in block {
            let (number, is_taken) =
                (&mut found[overlap.new as usize], &mut is_taken[overlap.old as usize]);
            if *number == FREE && !*is_taken {
                *number = overlap.number;
                *is_taken = true;
                kept += 1;
            }
        }
        notify(bench.observer, Event::Advance { done: u64::from(u32::MAX) })?;
    }
    Ok(kept)
}

impl Workbench<'_> {
    /// The least budget of one sort.
    pub(crate) const BUDGET_MIN: u64 = Sorter::<SharedNode>::BUDGET_MIN;

    /// What [`match_numbers`] takes beside the budget and the labels.
    pub(crate) fn matching_bytes(presented: &Presented, earlier: &Earlier) -> u64 {
        8 * presented.community_count() + earlier_bytes(earlier.community_count())
    }

    /// What [`write_representatives`](super::write_representatives) takes beside the budget, the
    /// labels and the scan.
    pub(crate) fn representatives_bytes(presented: &Presented) -> u64 {
        super::representatives::LABEL_BYTES * presented.shared_count() as u64
    }

    /// A sort that shares the memory with others, so that there are `sorts` of them.
    pub(super) fn sorter<R: crate::sort::Record>(&self, sorts: u64) -> Result<Sorter<R>> {
        Sorter::new(self.files, self.scratch, self.budget / sorts, self.threads)
    }
}
