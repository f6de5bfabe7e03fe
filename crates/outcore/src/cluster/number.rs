//! Final numbers: the largest community is 0; among equals the one with the smallest node is first.
//!
//! Different sizes are few (their sum is at most the number of nodes, so there are fewer than
//! sqrt(2n)), so communities are counted by size and numbered in one pass, without sorting them.
//! Memory: 8 bytes a node, the result among them.

use rayon::prelude::*;
use std::collections::BTreeMap;

/// How many communities have a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct SizeCount {
    /// Nodes in a community.
    pub size: u32,
    /// Communities of that size.
    pub count: u64,
}

/// Sizes below this have a slot of their own.
const SMALL: usize = 1024;

/// A number for each size that occurs.
struct BySize {
    small: Vec<u64>,
    large: BTreeMap<u32, u64>,
}

impl BySize {
    fn at(&mut self, size: u32) -> &mut u64 {
        match self.small.get_mut(size as usize) {
            Some(number) => number,
            None => self.large.entry(size).or_default(),
        }
    }
}

/// Turns each node's community, known by its smallest node, into the community's final number.
/// `spare` is overwritten. Returns how many communities there are of each size, largest first.
pub(super) fn number(roots: &mut [u32], spare: &mut [u32]) -> Vec<SizeCount> {
    assert_eq!(roots.len(), spare.len(), "one spare word for each node");
    spare.fill(0);
    for &root in roots.iter() {
        spare[root as usize] += 1;
    }
    let mut by_size = BySize { small: vec![0; SMALL], large: BTreeMap::new() };
    for &size in spare.iter().filter(|&&size| size > 0) {
        *by_size.at(size) += 1;
    }
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
    for size in spare.iter_mut().filter(|size| **size > 0) {
        let next = by_size.at(*size);
        *size = *next as u32;
        *next += 1;
    }
    let numbers = &*spare;
    roots.par_iter_mut().with_min_len(1 << 14).for_each(|root| *root = numbers[*root as usize]);
    sizes
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
    fn large_sizes_are_told_apart() {
        let mut roots: Vec<u32> = [vec![0; 5000], vec![5000; 6000], vec![11_000; 5000]].concat();
        let mut spare = roots.clone();
        let sizes = number(&mut roots, &mut spare);
        assert_eq!((roots[0], roots[5000], roots[11_000]), (1, 0, 2));
        assert_eq!(sizes[1], SizeCount { size: 5000, count: 2 });
    }
}
