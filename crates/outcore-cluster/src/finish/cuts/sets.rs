//! Disjoint sets of numbers, for one thread.

/// Disjoint sets; each is identified by one of its numbers.
pub(super) struct Sets(Vec<u32>);

impl Sets {
    /// Creates a set for each of the numbers `0..count`.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    /// Returns the number that identifies the set of `at`.
    #[inline]
    pub(super) fn find(&mut self, mut at: u32) -> u32 {
        loop {
            let parent = self.0[at as usize];
            if parent == at {
                return at;
            }
            let above = self.0[parent as usize];
            self.0[at as usize] = above;
            at = above;
        }
    }

    /// Joins two sets; returns whether they were different.
    #[inline]
    pub(super) fn join(&mut self, a: u32, b: u32) -> bool {
        // Most pairs that are joined already have the same parent.
        if self.0[a as usize] == self.0[b as usize] {
            return false;
        }
        let (a, b) = (self.find(a), self.find(b));
        let (low, high) = (a.min(b), a.max(b));
        self.0[high as usize] = low;
        low != high
    }
}
