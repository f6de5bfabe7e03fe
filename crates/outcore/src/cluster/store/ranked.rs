//! A set of nodes that knows the rank of each.

use crate::error::Result;
use std::ops::Range;

pub(crate) const WORD_BITS: usize = u64::BITS as usize;

/// A set of nodes that knows how many of them come before a node.
pub struct Ranked {
    cells: Vec<RankedCell>,
    count: usize,
}

/// 64 nodes; one place in memory, since nodes are looked up at random.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct RankedCell {
    /// Members among them; two halves, as the whole has no need to be aligned to 8 bytes.
    bits: [u32; 2],
    /// Members before them.
    rank: u32,
}

impl RankedCell {
    #[inline]
    fn word(self) -> u64 {
        u64::from(self.bits[0]) | u64::from(self.bits[1]) << 32
    }
}

impl Ranked {
    /// The memory of a set among so many nodes.
    pub(crate) fn bytes(node_count: u64) -> u64 {
        node_count.div_ceil(WORD_BITS as u64) * size_of::<RankedCell>() as u64
    }

    /// The empty set.
    pub fn new(node_count: usize) -> Self {
        Self { cells: vec![RankedCell::default(); node_count.div_ceil(WORD_BITS)], count: 0 }
    }

    /// Learns the members anew.
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

    /// How many members there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub fn contains(&self, node: u32) -> bool {
        self.cells[node as usize / WORD_BITS].word() >> (node as usize % WORD_BITS) & 1 == 1
    }

    /// How many members come before a node.
    #[inline]
    pub fn rank(&self, node: u32) -> usize {
        let cell = self.cells[node as usize / WORD_BITS];
        let before = cell.word() & !(u64::MAX << (node as usize % WORD_BITS));
        cell.rank as usize + before.count_ones() as usize
    }

    /// Calls `visit` with every member of these nodes, ascending, of which the first is at a word's begin.
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

    /// Whether any of these nodes is a member; as in [`for_each`](Self::for_each).
    pub(crate) fn any(&self, nodes: Range<u64>) -> bool {
        self.cells[words_of(nodes)].iter().any(|cell| cell.word() != 0)
    }
}

/// The words that hold nodes, of which the first begins one and the last ends one or the set.
fn words_of(nodes: Range<u64>) -> Range<usize> {
    let word = WORD_BITS as u64;
    (nodes.start / word) as usize..nodes.end.div_ceil(word) as usize
}

/// A set that is being filled.
pub struct Members<'a>(&'a mut [RankedCell]);

impl Members<'_> {
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
