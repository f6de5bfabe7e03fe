//! Combination of starts: where two of them differ, one is often better here and the other there.
//!
//! ```text
//!  best start  --.                                     .-- from the best start's communities --.
//!                 >-- nodes together in both: groups --|                                        >-- the better, moved
//!  another one --'          contracted to a level      '-- from single groups -----------------'    on the nodes again
//! ```
//!
//! Groups common to two good starts are seldom divided in a better one, so local moving of whole groups crosses the
//! barrier between the two. Starts meet in pairs, ordered by their quality, and the better one of each pair, or a
//! combination that is better than both, continues in the next round. The last one meets each start once more, or is
//! perturbed (`perturb`). Sources: Ovelgönne and Geyer-Schulz, "An ensemble learning strategy for graph clustering"
//! (2012); Biedermann and others, "Memetic graph clustering" (2018).
//!
//! Cost: a contraction, sweeps of a level of few groups, and about two sweeps, for each pair.
//! Memory: 16 bytes per node before the contraction; labels wait on disk meanwhile.

use super::searches::{SearchTask, Solved};
use super::{MARGIN, Starts};
use crate::drive::multilevel::{Groupings, LEVEL_SWEEPS, Level, Multilevel, NextStep, Progress};
use crate::kernel::objective::Sums;
use crate::store::hierarchy::Hierarchy;
use outcore_io::error::Result;
use std::path::PathBuf;

/// Two starts are not combined if they have more common groups than this share of the nodes, and more than
/// [`MOST_PARTS`] per community: they differ only by noise, and a level of so many groups would take long.
const MOST_GROUPS: f64 = 0.25;
/// Number of common groups per community up to which two starts are combined.
const MOST_PARTS: usize = 2;

/// Labels on disk, and their quality.
#[derive(Debug, Clone, Copy)]
pub(in crate::drive::multilevel) struct Scored {
    pub place: usize,
    pub quality: f64,
}

/// Sorts candidates by quality, the best first. Those that differ only by rounding keep their order.
pub(super) fn ordered(mut candidates: Vec<Scored>) -> Vec<Scored> {
    let mut all = Vec::with_capacity(candidates.len());
    while !candidates.is_empty() {
        all.push(candidates.remove(best_of(&candidates)));
    }
    all
}

/// Returns the place of the best candidate, the first one if others are better only by rounding.
pub(super) fn best_of(candidates: &[Scored]) -> usize {
    let quality = |place: usize| candidates[place].quality;
    let better = |best, place| if quality(place) > quality(best) + MARGIN { place } else { best };
    (0..candidates.len()).fold(0, better)
}

/// Keeps labels on disk.
pub(in crate::drive::multilevel) fn keep(kept: &mut Hierarchy, labels: &[u32]) -> Result<()> {
    kept.keep(labels, labels.iter().max().map_or(0, |&most| most as usize + 1))
}

impl<O: Sums> Multilevel<'_, '_, O> {
    /// Combines kept starts in pairs; also keeps the labels of better combinations, and returns the best result.
    pub(super) fn combined(
        &mut self,
        level: &mut Level<'_, '_>,
        starts: &[Scored],
        kept: &mut Hierarchy,
    ) -> Result<Scored> {
        let mut round = ordered(starts.to_vec());
        while round.len() > 1 {
            round = ordered(self.met(level, round.chunks(2), kept)?);
        }
        Ok(round[0])
    }

    /// Combines the best start with each other start once more; returns the best result.
    pub(super) fn met_by_all(
        &mut self,
        level: &mut Level<'_, '_>,
        best: Scored,
        starts: &[Scored],
        kept: &mut Hierarchy,
    ) -> Result<Scored> {
        // Two starts have already been combined with each other.
        if starts.len() <= 2 {
            return Ok(best);
        }
        let pairs: Vec<_> =
            ordered(starts.to_vec()).into_iter().map(|start| [best, start]).collect();
        Ok(ordered(self.met(level, pairs.iter().map(|pair| &pair[..]), kept)?)[0])
    }

    /// Returns for each pair its first candidate, or their combination if that is better.
    fn met<'c>(
        &mut self,
        level: &mut Level<'_, '_>,
        pairs: impl Iterator<Item = &'c [Scored]>,
        kept: &mut Hierarchy,
    ) -> Result<Vec<Scored>> {
        let read = &kept.lent(PathBuf::new());
        let (mut winners, mut places) = (Vec::new(), Vec::new());
        let mut tasks: Vec<SearchTask<'_, Self>> = Vec::new();
        for pair in pairs {
            if let &[better, other] = pair {
                tasks.push(Box::new(move |this, level| {
                    this.combination(level, better, read, other)
                }));
                places.push(winners.len());
            }
            winners.push(pair[0]);
        }
        self.search_each(level, tasks, &mut |at, Solved { quality, labels }| {
            keep(kept, &labels)?;
            winners[places[at]] = Scored { place: kept.groupings().len() - 1, quality };
            Ok(())
        })?;
        Ok(winners)
    }

    /// Returns the combination of two candidates, if it is better than the first.
    fn combination(
        &mut self,
        level: &mut Level<'_, '_>,
        better: Scored,
        kept: &Hierarchy,
        other: Scored,
    ) -> Result<Option<Solved>> {
        let [labels, others] = [better, other].map(|candidate| kept.read(candidate.place));
        let Some(common) = common_groups(&labels?, others?) else { return Ok(None) };
        let (count, groups) = (common.class_count, common.classes.len());
        let number = level.number;
        self.detail(&format!("level {number}: dividing {count} communities into {groups} groups"))?;
        self.forget_from(number);
        self.starts = Starts::of_groups(self.starts.usual);
        let mut state = match self.lift_groups(level, common)? {
            NextStep::Top(state) => state,
            NextStep::Up(first) => self.ascend(level, *first)?,
        };
        let (progress, most) = (Progress::new(state.labels.len()), self.most_sweeps(LEVEL_SWEEPS));
        self.sweeps(level, &mut state, progress, |done, moved| done < most && moved > 0)?;
        let found = self.solved(level, state)?;
        Ok(Some(found).filter(|found| found.quality > better.quality + MARGIN))
    }
}

/// Groups nodes that have the same label in both; the classes are the `best` labels. `None` if every group is a whole
/// community, so there is nothing to choose, or if the groups are so many that the two have little in common.
fn common_groups(best: &[u32], mut other: Vec<u32>) -> Option<Groupings> {
    let pair = |(&best, &other): (&u32, &u32)| u64::from(best) << 32 | u64::from(other);
    let mut pairs: Vec<u64> = best.iter().zip(&other).map(pair).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut classes: Vec<u32> = pairs.iter().map(|pair| (pair >> 32) as u32).collect();
    let mut class_count = 0;
    let mut before = None;
    for class in &mut classes {
        let is_next = before.replace(*class) != Some(*class);
        class_count += usize::from(is_next);
        *class = class_count as u32 - 1;
    }
    let most = (MOST_GROUPS * best.len() as f64).max((MOST_PARTS * class_count) as f64);
    if classes.len() == class_count || classes.len() as f64 > most {
        return None;
    }
    for (best, other) in best.iter().zip(&mut other) {
        let place = pairs.binary_search(&pair((best, other)));
        *other = place.unwrap_or_else(|place| place) as u32;
    }
    Some(Groupings { groups: other, classes, class_count })
}
