//! The nodes that matter while an interval is worked on: its own, and those outside it to which it
//! has arcs.
//!
//! Which these are is found by a scan ([`Survey`]) and kept on disk as a set of bits, of which empty
//! parts are left out. Memory: 3/16 byte for every node of the graph for the set of one interval with its
//! ranks.

use super::by_node::{KnownLabels, NodeLabels};
use super::column::{CHUNK_NODES, WordBuffer, WordColumn, chunks};
use super::ranked::{Ranked, WORD_BITS};
use crate::cluster::base::bits::Bits;
use crate::cluster::base::parallel::{PerThread, for_ranges, piece_nodes};
use crate::error::Result;
use crate::graph::{ArcScratch, Block};
use crate::io::{Files, Mode};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Words of a set that are left out if all are empty.
const CHUNK_WORDS: usize = CHUNK_NODES as usize / WORD_BITS;

/// Consecutive blocks, and the nodes outside them that matter to them.
pub(crate) struct Interval {
    pub(crate) blocks: Range<usize>,
    pub(crate) nodes: Range<u32>,
    /// The parts of the set that are in the file.
    chunks: Vec<u32>,
    path: PathBuf,
}

/// The nodes of an interval and those outside that matter: each has a place, in the order of nodes.
pub(crate) struct Scope {
    own: Range<u32>,
    members: Ranked,
    node_count: u64,
}

impl Scope {
    /// Of no interval yet.
    pub(crate) fn new(node_count: u64) -> Self {
        Self { own: 0..0, members: Ranked::new(node_count as usize), node_count }
    }

    /// Turns to an interval.
    pub(crate) fn enter(&mut self, files: &Files, interval: &Interval) -> Result<()> {
        self.own = interval.nodes.clone();
        let file = files.open(&interval.path, Mode::Read)?;
        let mut bytes = vec![0; CHUNK_WORDS * 8];
        let most = self.node_count.div_ceil(WORD_BITS as u64) as usize;
        self.members.refill(|members| {
            for (at, &chunk) in interval.chunks.iter().enumerate() {
                file.read_exact_at((at * bytes.len()) as u64, &mut bytes)?;
                let read = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
                let words = (chunk as usize * CHUNK_WORDS..most).zip(read);
                words.for_each(|(at, word)| members.insert_word(at, word));
            }
            members.insert_range(interval.nodes.clone());
            Ok(())
        })
    }

    /// How many places there are.
    pub(crate) fn places(&self) -> usize {
        self.members.count()
    }

    /// The place of a node that has one.
    #[inline]
    pub(crate) fn place(&self, node: u32) -> usize {
        self.members.rank(node)
    }

    /// Fetches what a column says of the nodes, by their places.
    pub(crate) fn gather(&self, column: &WordColumn, values: &mut Vec<AtomicU32>) -> Result<()> {
        values.resize_with(self.places(), AtomicU32::default);
        let values = &values[..];
        let wanted: Vec<Range<u64>> =
            chunks(0..self.node_count).filter(|chunk| self.members.any(chunk.clone())).collect();
        let buffers = PerThread::new(<(WordBuffer, Vec<u32>)>::default);
        for_ranges(wanted.len(), 1, |part| {
            buffers.with(|(words, read)| {
                wanted[part].iter().try_for_each(|chunk| {
                    read.clear();
                    read.extend(column.read(chunk.clone(), words)?);
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

    /// The values of the interval's own nodes.
    pub(crate) fn own<'v>(&self, values: &'v [AtomicU32]) -> &'v [AtomicU32] {
        &values[self.place(self.own.start)..][..self.own.len()]
    }
}

/// Labels by the places of a scope.
pub(crate) struct Placed<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) labels: &'a [AtomicU32],
}

impl NodeLabels for Placed<'_> {
    #[inline]
    fn at(&self, node: u32) -> &AtomicU32 {
        &self.labels[self.scope.place(node)]
    }
}

impl KnownLabels for Placed<'_> {
    const AFTER: bool = false;
    #[inline]
    fn label(&self, node: u32) -> u32 {
        self.at(node).load(Relaxed)
    }
}

/// Divides a graph into intervals, block by block.
pub(crate) struct Survey<'a> {
    files: &'a Files,
    directory: PathBuf,
    /// Which nodes outside an interval matter to it.
    neighbors: Neighbors,
    /// Most nodes inside and outside an interval.
    places: u64,
    outside: Bits,
    outside_count: u64,
    /// The interval that is being made.
    blocks: Range<usize>,
    nodes: Range<u32>,
    threads: PerThread<Marking>,
    intervals: Vec<Interval>,
}

/// Neighbors outside an interval.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Neighbors {
    All,
    /// Those that come before it.
    Before,
}

/// Memory of one thread.
#[derive(Default)]
struct Marking {
    arcs: ArcScratch,
    /// Nodes that are new outside.
    new: Vec<u32>,
}

impl<'a> Survey<'a> {
    /// For intervals whose sets go to `directory`, with so many `places` at most if a block alone does not
    /// have more. Memory: a bit for every node, and 4 bytes a place at most.
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
        // What is marked for a block that turns out to be too much is taken back.
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

    /// Adds the neighbors outside of a block's nodes; gives how many are new.
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

    /// Ends an interval and forgets what is outside it.
    fn close(&mut self) -> Result<()> {
        let path = self.directory.join(self.intervals.len().to_string());
        let file = self.files.open(&path, Mode::Create)?;
        let (mut kept, mut bytes) = (Vec::new(), Vec::with_capacity(CHUNK_WORDS * 8));
        for (chunk, words) in (0..).zip(self.outside.words().chunks(CHUNK_WORDS)) {
            if words.iter().all(|word| word.load(Relaxed) == 0) {
                continue;
            }
            bytes.clear();
            for word in words {
                bytes.extend_from_slice(&word.swap(0, Relaxed).to_le_bytes());
            }
            bytes.resize(CHUNK_WORDS * 8, 0);
            file.write_all_at((kept.len() * bytes.len()) as u64, &bytes)?;
            kept.push(chunk);
        }
        self.outside_count = 0;
        let (blocks, nodes) = (self.blocks.clone(), self.nodes.clone());
        self.intervals.push(Interval { blocks, nodes, chunks: kept, path });
        Ok(())
    }

    /// The intervals, of which there is one at least if there is a node.
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
        fn ranks_are_those_of_a_sorted_list(
            nodes in proptest::collection::btree_set(0..500u32, 0..60),
            (start, len) in (0..400u32, 0..100u32),
        ) {
            let mut ranked = Ranked::new(500);
            // What was there before is forgotten.
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
