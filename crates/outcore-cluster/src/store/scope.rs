//! Nodes that matter while an interval is processed: its own nodes, and their neighbors outside it.
//!
//! A scan ([`Survey`]) finds them and writes them to disk as a set of bits, without its empty parts.
//! Memory: 3/16 byte per node of the graph for the set of one interval with its ranks.

use super::by_node::{KnownLabels, NodeLabels};
use super::pages::{CHUNK_NODES, Pages, chunks};
use super::ranked::{Ranked, WORD_BITS};
use crate::base::bits::Bits;
use crate::base::parallel::{PerThread, for_ranges, piece_nodes};
use outcore_graph::{ArcScratch, Block};
use outcore_io::error::Result;
use outcore_io::{Files, Mode, numbers_in};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Words per chunk of a set; chunks without members are omitted.
const CHUNK_WORDS: usize = CHUNK_NODES as usize / WORD_BITS;

/// Consecutive blocks, and the nodes outside them that matter to them.
pub(crate) struct Interval {
    pub(crate) blocks: Range<usize>,
    pub(crate) nodes: Range<u32>,
    /// Chunks of the set that are in the file.
    chunks: Vec<u32>,
    path: PathBuf,
}

/// Nodes of an interval and the relevant nodes outside it, each with a place, in node order.
pub(crate) struct Scope {
    own: Range<u32>,
    members: Ranked,
    node_count: u64,
}

impl Scope {
    /// Creates a scope without an interval.
    pub(crate) fn new(node_count: u64) -> Self {
        Self { own: 0..0, members: Ranked::new(node_count as usize), node_count }
    }

    /// Loads the nodes of an interval.
    pub(crate) fn enter(&mut self, files: &Files, interval: &Interval) -> Result<()> {
        self.own = interval.nodes.clone();
        let file = files.open(&interval.path, Mode::Read)?;
        let mut bytes = vec![0; CHUNK_WORDS * 8];
        let most = self.node_count.div_ceil(WORD_BITS as u64) as usize;
        self.members.refill(|members| {
            for (at, &chunk) in interval.chunks.iter().enumerate() {
                file.read_exact_at((at * bytes.len()) as u64, &mut bytes)?;
                let read = numbers_in::<u64>(&bytes);
                let words = (chunk as usize * CHUNK_WORDS..most).zip(read);
                words.for_each(|(at, word)| members.insert_word(at, word));
            }
            members.insert_range(interval.nodes.clone());
            Ok(())
        })
    }

    /// Returns the number of places.
    pub(crate) fn places(&self) -> usize {
        self.members.count()
    }

    /// Returns the place of a node, which must have one.
    #[inline]
    pub(crate) fn place(&self, node: u32) -> usize {
        self.members.rank(node)
    }

    /// Reads the values of the nodes from pages, by place.
    pub(crate) fn gather(&self, pages: &Pages<u32>, values: &mut Vec<AtomicU32>) -> Result<()> {
        values.resize_with(self.places(), AtomicU32::default);
        let values = &values[..];
        let wanted: Vec<Range<u64>> =
            chunks(0..self.node_count).filter(|chunk| self.members.any(chunk.clone())).collect();
        let buffers = PerThread::new(<(Vec<u8>, Vec<u32>)>::default);
        for_ranges(wanted.len(), 1, |part| {
            buffers.with(|(bytes, read)| {
                wanted[part].iter().try_for_each(|chunk| {
                    read.clear();
                    read.extend(pages.read(chunk.clone(), bytes)?);
                    let mut places = values[self.place(chunk.start as u32)..].iter();
                    self.members.for_each(chunk.clone(), |node| {
                        let place = places.next().expect("every member has a place");
                        place.store(read[node - chunk.start as usize], Relaxed);
                    });
                    Ok(())
                })
            })
        })
    }

    /// Returns the values of the interval's own nodes.
    pub(crate) fn own<'v>(&self, values: &'v [AtomicU32]) -> &'v [AtomicU32] {
        &values[self.place(self.own.start)..][..self.own.len()]
    }
}

/// Labels by the places of a scope.
pub(crate) struct ScopedLabels<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) labels: &'a [AtomicU32],
}

impl NodeLabels for ScopedLabels<'_> {
    #[inline]
    fn at(&self, node: u32) -> &AtomicU32 {
        &self.labels[self.scope.place(node)]
    }
}

impl KnownLabels for ScopedLabels<'_> {
    const AFTER: bool = false;
    #[inline]
    fn label(&self, node: u32) -> u32 {
        self.at(node).load(Relaxed)
    }
}

/// Builder that divides a graph into intervals, block by block.
pub(crate) struct Survey<'a> {
    files: &'a Files,
    directory: PathBuf,
    /// Neighbors outside an interval that matter to it.
    neighbors: Neighbors,
    /// Maximum number of nodes inside and outside an interval.
    places: u64,
    outside: Bits,
    outside_count: u64,
    /// Blocks and nodes of the current interval.
    blocks: Range<usize>,
    nodes: Range<u32>,
    threads: PerThread<Marking>,
    intervals: Vec<Interval>,
}

/// Neighbors outside an interval.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Neighbors {
    All,
    /// Neighbors before the interval.
    Before,
}

/// Working memory of one thread.
#[derive(Default)]
struct Marking {
    arcs: ArcScratch,
    /// Newly marked nodes outside the interval.
    new: Vec<u32>,
}

impl<'a> Survey<'a> {
    /// Creates a survey that writes the sets of intervals to `directory`. An interval has at most `places` places,
    /// unless a single block has more. Memory: a bit per node, and at most 4 bytes per place.
    pub(crate) fn new(
        files: &'a Files,
        directory: PathBuf,
        node_count: u64,
        neighbors: Neighbors,
        places: u64,
    ) -> Result<Self> {
        files.create_directory(&directory)?;
        Ok(Self {
            files,
            directory,
            neighbors,
            places,
            outside: Bits::new(node_count as usize, false),
            outside_count: 0,
            blocks: 0..0,
            nodes: 0..0,
            threads: PerThread::new(Marking::default),
            intervals: Vec::new(),
        })
    }

    /// Adds the next block.
    pub(crate) fn add(&mut self, block: &Block) -> Result<()> {
        let range = block.first_node()..block.first_node() + block.node_count() as u32;
        let own = u64::from(range.end - self.nodes.start);
        let is_first = self.nodes.is_empty();
        let fits = own + self.outside_count + block.arc_count() <= self.places;
        // If the block turns out not to fit, its marks are cleared again.
        let mut new = self.mark(block, !fits && !is_first)?;
        let inside = range.start as usize..range.end as usize;
        let mut taken_in = self.outside.count(inside.clone());
        if !is_first && own + self.outside_count + new - taken_in > self.places {
            self.threads.for_each(|marking| {
                marking.new.iter().for_each(|&node| self.outside.clear(node as usize));
            });
            self.close()?;
            (self.blocks.start, self.nodes.start) = (block.index(), range.start);
            (new, taken_in) = (self.mark(block, false)?, 0);
        }
        self.outside.clear_range(inside);
        self.outside_count = self.outside_count + new - taken_in;
        (self.blocks.end, self.nodes.end) = (block.index() + 1, range.end);
        Ok(())
    }

    /// Marks the neighbors of a block's nodes outside the interval; returns the number of new ones.
    fn mark(&self, block: &Block, remember: bool) -> Result<u64> {
        self.threads.for_each(|marking| marking.new.clear());
        let (first, end) = (self.nodes.start, block.first_node() + block.node_count() as u32);
        let has_after = self.neighbors == Neighbors::All;
        let is_outside = |node: u32| node < first || has_after && node >= end;
        let total = AtomicU64::new(0);
        let piece = piece_nodes(block.node_count(), block.arc_count());
        for_ranges(block.node_count(), piece, |locals| {
            self.threads.with(|Marking { arcs, new }| {
                let mut count = 0;
                for local in locals {
                    block.for_each_segment(local, arcs, |targets, _| {
                        for &target in targets.iter().filter(|&&target| is_outside(target)) {
                            let node = target as usize;
                            if !self.outside.get(node) && !self.outside.set(node) {
                                count += 1;
                                if remember {
                                    new.push(target);
                                }
                            }
                        }
                    })?;
                }
                total.fetch_add(count, Relaxed);
                Ok(())
            })
        })?;
        Ok(total.into_inner())
    }

    /// Ends the current interval, writes its set and clears the marks.
    fn close(&mut self) -> Result<()> {
        let path = self.directory.join(self.intervals.len().to_string());
        let file = self.files.open(&path, Mode::Create)?;
        let (mut stored, mut bytes) = (Vec::new(), Vec::with_capacity(CHUNK_WORDS * 8));
        for (chunk, words) in (0..).zip(self.outside.words().chunks(CHUNK_WORDS)) {
            if words.iter().all(|word| word.load(Relaxed) == 0) {
                continue;
            }
            bytes.clear();
            for word in words {
                bytes.extend_from_slice(&word.swap(0, Relaxed).to_le_bytes());
            }
            bytes.resize(CHUNK_WORDS * 8, 0);
            file.write_all_at((stored.len() * bytes.len()) as u64, &bytes)?;
            stored.push(chunk);
        }
        self.outside_count = 0;
        let (blocks, nodes) = (self.blocks.clone(), self.nodes.clone());
        self.intervals.push(Interval { blocks, nodes, chunks: stored, path });
        Ok(())
    }

    /// Returns the intervals: at least one if the graph has nodes.
    pub(crate) fn finish(mut self) -> Result<Vec<Interval>> {
        if !self.nodes.is_empty() {
            self.close()?;
        }
        Ok(self.intervals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranks_match_a_sorted_list(
            nodes in proptest::collection::btree_set(0..500u32, 0..60),
            (start, len) in (0..400u32, 0..100u32),
        ) {
            let mut ranked = Ranked::new(500);
            // Earlier members are discarded.
            ranked.refill(|members| { members.insert(7); Ok(()) }).unwrap();
            ranked.refill(|members| {
                nodes.iter().for_each(|&node| members.insert(node));
                members.insert_range(start..start + len);
                Ok(())
            }).unwrap();
            let expected: BTreeSet<u32> = nodes.into_iter().chain(start..start + len).collect();
            prop_assert_eq!(ranked.count(), expected.len());
            let mut found = Vec::new();
            ranked.for_each(0..500, |node| found.push(node as u32));
            prop_assert!(found.iter().eq(&expected));
            for node in 0..500 {
                prop_assert_eq!(ranked.contains(node), expected.contains(&node));
                prop_assert_eq!(ranked.rank(node), expected.range(..node).count());
            }
            prop_assert_eq!(ranked.any(64..192), expected.range(64..192).next().is_some());
        }
    }
}
