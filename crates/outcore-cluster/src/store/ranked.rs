//! Set of nodes with constant-time ranks.

use outcore_io::error::Result;
use std::ops::Range;

pub(crate) const WORD_BITS: usize = u64::BITS as usize;

/// Set of nodes that counts its members before any node in constant time.
pub struct Ranked {
    cells: Vec<RankedCell>,
    count: usize,
}

/// Bits and rank of 64 nodes, stored together, since nodes are looked up at random.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct RankedCell {
    /// Membership bits, as two halves so that the cell need not be aligned to 8 bytes.
    bits: [u32; 2],
    /// Number of members before these nodes.
    rank: u32,
}

impl RankedCell {
    #[inline]
    fn word(self) -> u64 {
        u64::from(self.bits[0]) | u64::from(self.bits[1]) << 32
    }
}

impl Ranked {
    /// Returns the bytes of a set over `node_count` nodes.
    pub(crate) fn bytes(node_count: u64) -> u64 {
        node_count.div_ceil(WORD_BITS as u64) * size_of::<RankedCell>() as u64
    }

    /// Creates an empty set.
    pub fn new(node_count: usize) -> Self {
        Self { cells: vec![RankedCell::default(); node_count.div_ceil(WORD_BITS)], count: 0 }
    }

    /// Replaces the members by those that `fill` inserts.
    pub fn refill(&mut self, fill: impl FnOnce(&mut Members<'_>) -> Result<()>) -> Result<()> {
        self.cells.fill(RankedCell::default());
        fill(&mut Members(&mut self.cells))?;
        self.count = 0;
        for cell in &mut self.cells {
            cell.rank = self.count as u32;
            self.count += cell.word().count_ones() as usize;
        }
        Ok(())
    }

    /// Returns the number of members.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns whether the set has a node.
    pub fn contains(&self, node: u32) -> bool {
        self.cells[node as usize / WORD_BITS].word() >> (node as usize % WORD_BITS) & 1 == 1
    }

    /// Returns the number of members before a node.
    #[inline]
    pub fn rank(&self, node: u32) -> usize {
        let cell = self.cells[node as usize / WORD_BITS];
        let before = cell.word() & !(u64::MAX << (node as usize % WORD_BITS));
        cell.rank as usize + before.count_ones() as usize
    }

    /// Calls `visit` with each member among `nodes`, in ascending order. The range must start at a word boundary.
    pub(crate) fn for_each(&self, nodes: Range<u64>, mut visit: impl FnMut(usize)) {
        let first = nodes.start as usize / WORD_BITS;
        for (at, cell) in (first..).zip(&self.cells[words_of(nodes)]) {
            let mut word = cell.word();
            while word != 0 {
                visit(at * WORD_BITS + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }

    /// Returns whether any of `nodes` is a member. The range is as in [`for_each`](Self::for_each).
    pub(crate) fn any(&self, nodes: Range<u64>) -> bool {
        self.cells[words_of(nodes)].iter().any(|cell| cell.word() != 0)
    }
}

/// Returns the words that hold `nodes`; the range must start at a word boundary, and end at one or at the end of the
/// set.
fn words_of(nodes: Range<u64>) -> Range<usize> {
    let word = WORD_BITS as u64;
    (nodes.start / word) as usize..nodes.end.div_ceil(word) as usize
}

/// Set that is being filled.
pub struct Members<'a>(&'a mut [RankedCell]);

impl Members<'_> {
    /// Adds a node.
    pub fn insert(&mut self, node: u32) {
        let bit = node as usize % WORD_BITS;
        self.0[node as usize / WORD_BITS].bits[bit / 32] |= 1 << (bit % 32);
    }

    pub(crate) fn insert_word(&mut self, at: usize, word: u64) {
        let bits = &mut self.0[at].bits;
        bits[0] |= word as u32;
        bits[1] |= (word >> 32) as u32;
    }

    pub(crate) fn insert_range(&mut self, nodes: Range<u32>) {
        let (start, end) = (nodes.start as usize, nodes.end as usize);
        for at in start / WORD_BITS..end.div_ceil(WORD_BITS) {
            let (from, to) = (at * WORD_BITS, (at + 1) * WORD_BITS);
            let not_before = u64::MAX << start.saturating_sub(from);
            let not_behind = u64::MAX >> to.saturating_sub(end);
            self.insert_word(at, not_before & not_behind);
        }
    }
}
