//! Final numbers of communities: the largest is 0; among equal sizes, the one with the smallest node is first.
//!
//! There are few distinct sizes: fewer than sqrt(2n), as their sum is at most the number of nodes. Communities are
//! therefore counted by size and numbered in one pass, without sorting. Memory: 8 bytes per node, including the result.
//! Labels on disk are numbered in the same way (`windows`), so both must change together.

use crate::base::bits::Bits;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Number of communities of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SizeCount {
    /// Number of nodes in a community.
    pub size: u32,
    /// Number of communities of that size.
    pub count: u64,
}

/// Bound below which each size has a slot of its own.
const SMALL: usize = 1024;

/// Number for each size that occurs: a count, or the next free community number.
pub(crate) struct CountsBySize {
    small: Vec<u64>,
    large: BTreeMap<u32, u64>,
}

impl CountsBySize {
    fn at(&mut self, size: u32) -> &mut u64 {
        match self.small.get_mut(size as usize) {
            Some(number) => number,
            None => self.large.entry(size).or_default(),
        }
    }

    /// Returns the first number of each size, and the number of communities of each size, largest first. Sizes
    /// of 0 are not communities.
    fn first_numbers(communities: impl Iterator<Item = u32>) -> (Self, Vec<SizeCount>) {
        let mut by_size = Self::new();
        by_size.count(communities);
        by_size.numbered()
    }

    pub(crate) fn new() -> Self {
        Self { small: vec![0; SMALL], large: BTreeMap::new() }
    }

    /// Counts communities of these sizes; sizes of 0 are not communities.
    pub(crate) fn count(&mut self, communities: impl Iterator<Item = u32>) {
        communities.filter(|&size| size > 0).for_each(|size| *self.at(size) += 1);
    }

    /// Replaces the counts by the first number of each size, and returns them with the number of communities of
    /// each size, largest first.
    pub(crate) fn numbered(mut self) -> (Self, Vec<SizeCount>) {
        let by_size = &mut self;
        let small = by_size.small.iter().enumerate().map(|(size, &count)| (size as u32, count));
        let large = by_size.large.iter().map(|(&size, &count)| (size, count));
        let mut sizes: Vec<SizeCount> = small
            .chain(large)
            .filter(|&(_, count)| count > 0)
            .map(|(size, count)| SizeCount { size, count })
            .collect();
        sizes.reverse();
        let mut next = 0;
        for &SizeCount { size, count } in &sizes {
            *by_size.at(size) = next;
            next += count;
        }
        (self, sizes)
    }

    /// Replaces the sizes of communities, in the order of the communities, by their numbers; sizes of 0 are not
    /// communities.
    pub(crate) fn number(&mut self, sizes: &mut [u32]) {
        for size in sizes.iter_mut().filter(|size| **size > 0) {
            let next = self.at(*size);
            *size = *next as u32;
            *next += 1;
        }
    }
}

/// Replaces each node's community, identified by its smallest node, by the community's final number.
/// Overwrites `spare`. Returns the number of communities of each size, largest first.
pub(crate) fn number(roots: &mut [u32], spare: &mut [u32]) -> Vec<SizeCount> {
    assert_eq!(roots.len(), spare.len(), "one spare word per node");
    spare.fill(0);
    for &root in roots.iter() {
        spare[root as usize] += 1;
    }
    let (mut by_size, sizes) = CountsBySize::first_numbers(spare.iter().copied());
    by_size.number(spare);
    let numbers = &*spare;
    roots.par_iter_mut().with_min_len(1 << 14).for_each(|root| *root = numbers[*root as usize]);
    sizes
}

/// Like [`number`], without spare words: the word of a root first counts its nodes, then holds its number.
/// Memory: 1/8 byte per node in addition to the words.
pub(crate) fn number_in_place(roots: Vec<u32>) -> (Vec<u32>, Vec<SizeCount>) {
    // In place: the two types have the same layout.
    let words: Vec<AtomicU32> = roots.into_iter().map(AtomicU32::new).collect();
    let leads = Bits::new(words.len(), false);
    let all = || words.par_iter().enumerate().with_min_len(1 << 14);
    all().for_each(|(node, word)| {
        if word.load(Relaxed) as usize == node {
            leads.set(node);
            word.store(1, Relaxed);
        }
    });
    let root = |word: &AtomicU32| &words[word.load(Relaxed) as usize];
    all().filter(|(node, _)| !leads.get(*node)).for_each(|(_, word)| {
        root(word).fetch_add(1, Relaxed);
    });
    let sizes = words.iter().enumerate().filter(|&(node, _)| leads.get(node));
    let (mut by_size, sizes) =
        CountsBySize::first_numbers(sizes.map(|(_, word)| word.load(Relaxed)));
    leads.for_each(0..words.len(), |root| {
        let next = by_size.at(words[root].load(Relaxed));
        words[root].store(*next as u32, Relaxed);
        *next += 1;
    });
    all().filter(|(node, _)| !leads.get(*node)).for_each(|(_, word)| {
        word.store(root(word).load(Relaxed), Relaxed);
    });
    (words.into_iter().map(AtomicU32::into_inner).collect(), sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_communities_come_first_then_smaller_members() {
        let mut roots = vec![0, 1, 2, 1, 4, 2, 2, 7, 4];
        let sizes = number(&mut roots, &mut [9; 9]);
        assert_eq!(roots, [3, 1, 0, 1, 2, 0, 0, 4, 2]);
        let expected = [(3, 1), (2, 2), (1, 2)].map(|(size, count)| SizeCount { size, count });
        assert_eq!(sizes, expected);
    }

    #[test]
    fn numbers_are_the_same_without_spare_words() {
        for count in [0, 1, 7, 5000, 40_000u32] {
            let mut roots: Vec<u32> = (0..count)
                .map(|node| if node % 5 == 0 { node } else { node - node % 5 * (node % 2) })
                .collect();
            (0..count as usize).for_each(|node| roots[node] = roots[roots[node] as usize]);
            let (found, sizes) = number_in_place(roots.clone());
            let mut spare = roots.clone();
            assert_eq!(number(&mut roots, &mut spare), sizes);
            assert_eq!(roots, found);
        }
    }

    #[test]
    fn large_sizes_are_distinguished() {
        let mut roots: Vec<u32> = [vec![0; 5000], vec![5000; 6000], vec![11_000; 5000]].concat();
        let mut spare = roots.clone();
        let sizes = number(&mut roots, &mut spare);
        assert_eq!((roots[0], roots[5000], roots[11_000]), (1, 0, 2));
        assert_eq!(sizes[1], SizeCount { size: 5000, count: 2 });
    }
}
