//! Components when the links of all nodes do not fit in memory: ranges of nodes, one after the other.
//!
//! ```text
//!  edges, highest ends first --join--> links of the highest range, on disk
//!          edges between lower nodes --join--> links of the next range, on disk
//!                                        ... --join--> links of the first nodes
//!  links --range by range, from the first nodes up--> roots --by windows--> numbers
//! ```
//!
//! Nodes before a range are above those in it, so joining an edge ends with a link, or with an edge between two lower
//! nodes, which waits for the range of the higher one. Links up to any rank still connect what edges up to that rank
//! connect. A root lies in the range of its node, or is that of a node of a lower range, where it is known already.
//!
//! Memory: the links of the first nodes, and of one range. Disk: the runs of the edges, up to 12 bytes for each of them
//! while they wait, the links, 4 bytes per node and threshold, and 8 more while a threshold is solved. An edge waits at
//! most once for each range; the roots of each range take a scan of those before it.

use super::links::{Links, Rank};
use super::{AnyLinks, Forest, ForestPlace, for_links, to_smallest};
use crate::finish::communities::Communities;
use crate::finish::windows::Numbering;
use crate::methods::thresholds::Ladder;
use crate::store::pages::{Pages, chunks};
use outcore_graph::ArcRecord;
use outcore_io::checkpoint::{StateReader, StateWriter};
use outcore_io::error::opt::MEMORY;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::progress::{Event, notify};
use outcore_io::units::{MIB, format_counted, size_to_type};
use outcore_io::{Array, Column, Files};
use outcore_sort::{SORT_BYTES_MIN, Sorted, Sorter};
use rayon::prelude::*;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Maximum number of ranges: each may have a file of waiting edges.
const RANGES_MAX: u64 = 256;
/// Number of edges that are collected before they are written to the file of a range.
const WAITING_EDGES: usize = 1 << 10;
/// Memory of the collected edges of all ranges.
const WAITING_BYTES: u64 = RANGES_MAX * (WAITING_EDGES * size_of::<ArcRecord>()) as u64 + MIB;
/// Least memory beside links.
const REST_BYTES: u64 = SORT_BYTES_MIN + WAITING_BYTES;
/// Edges of which each thread drops those that are joined already.
const PIECE_EDGES: usize = 1 << 12;

/// Links of the first nodes, ranges of the others, and edges that wait for them.
struct Ranges<'a, R> {
    ladder: &'a Ladder,
    place: ForestPlace<'a>,
    node_count: u64,
    links: Links<R>,
    /// Ranges of the other nodes, of this size each apart from the last one.
    ranges: Vec<Range<u64>>,
    size: u64,
    /// Memory beside the links of the first nodes and of a range.
    rest_bytes: u64,
    /// Edges that wait for each range.
    waiting: Vec<Option<Waiting>>,
}

impl Forest {
    /// Returns the least memory for finding the components of this forest, if it is divided.
    pub fn divided_bytes(&self) -> u64 {
        let others = (self.node_count - self.linked_count()) * self.ladder.bytes_a_node();
        self.memory_bytes() + REST_BYTES + others.div_ceil(RANGES_MAX).max(MIB)
    }

    /// Returns the part of `bytes` for links while edges are read. Names and a sort take the rest, and later the nodes that
    /// do not fit. Heights need all links at once.
    pub fn link_bytes(bytes: u64, ladder: &Ladder) -> u64 {
        match ladder {
            Ladder::Heights => bytes,
            Ladder::One | Ladder::Steps(_) => bytes.saturating_sub(SORT_BYTES_MIN) / 3 * 2,
        }
    }

    /// Returns the least memory for finding the components of so many nodes, of which [`Forest::link_bytes`] have links.
    pub fn least_bytes(node_count: u64, ladder: &Ladder) -> u64 {
        let range = (ladder.bytes_a_node() * node_count).div_ceil(RANGES_MAX).max(MIB);
        // Those two thirds are of what the smallest sort leaves.
        3 * (REST_BYTES + range) - 2 * SORT_BYTES_MIN
    }

    /// Finds the components at each threshold; their labels are on disk.
    pub(super) fn find_divided(
        self,
        codes: &[u32],
        place: ForestPlace<'_>,
    ) -> Result<Vec<Communities>> {
        let held_bytes = self.memory_bytes();
        let Self { ladder, links, node_count, beyond, .. } = self;
        let beyond = beyond.expect("a forest without a sort has room for all nodes");
        for_links!(links, links => {
            Ranges::new(&ladder, held_bytes, links, node_count, place)?.find(*beyond, codes)
        })
    }
}

impl<'a, R: Rank> Ranges<'a, R> {
    fn new(
        ladder: &'a Ladder,
        held_bytes: u64,
        links: Links<R>,
        node_count: u64,
        place: ForestPlace<'a>,
    ) -> Result<Self> {
        let left = place.memory.saturating_sub(held_bytes);
        let rest_bytes = SORT_BYTES_MIN.max(left / 4);
        let range_bytes = left.saturating_sub(rest_bytes + WAITING_BYTES);
        let others = node_count - links.end();
        let size = (range_bytes / ladder.bytes_a_node()).min(place.files.cramped().forest_nodes);
        if size == 0 || others.div_ceil(size) > RANGES_MAX {
            let nodes = format_counted(node_count, "node", "nodes");
            let message = format!("too little memory for the components of {nodes}");
            let least = size_to_type(held_bytes.max(Forest::least_bytes(node_count, ladder)));
            return Err(Error::new(ErrorKind::MemoryTooSmall, message)
                .hint(format_args!("use {} or more", MEMORY.of(least))));
        }
        let firsts = (links.end()..node_count).step_by(size as usize);
        let ranges: Vec<_> = firsts.map(|first| first..node_count.min(first + size)).collect();
        let waiting = ranges.iter().map(|_| None).collect();
        Ok(Self { ladder, place, node_count, links, ranges, size, rest_bytes, waiting })
    }

    fn find(mut self, mut sorter: Sorter<ArcRecord>, codes: &[u32]) -> Result<Vec<Communities>> {
        let text = "joining nodes on disk: they do not fit in memory";
        notify(self.place.observer, Event::Detail { text })?;
        sorter.set_budget(self.rest_bytes)?;
        self.join_all(Edges::new(sorter.finish()?))?;
        let end = self.links.end();
        let first = std::mem::replace(&mut self.links, Links::new(0, 0));
        self.save(&(0..end), &first)?;
        drop(first);
        self.ranges.insert(0, 0..end);
        let found = (0..).zip(codes).map(|(at, &code)| self.components(at, code)).collect();
        self.ranges.iter().for_each(|range| self.place.files.discard(&self.path(range)));
        found
    }

    fn path(&self, range: &Range<u64>) -> PathBuf {
        self.place.scratch.join(format!("links-{}", range.start))
    }

    fn tick(&self) -> Result<()> {
        notify(self.place.observer, Event::Advance { done: 0 })
    }

    /// Joins all nodes, range by range, from the highest to the lowest.
    fn join_all(&mut self, mut edges: Edges) -> Result<()> {
        for at in (0..self.ranges.len()).rev() {
            let range = self.ranges[at].clone();
            let first = range.start as u32;
            let mut links = Links::new(first, (range.end - range.start) as usize);
            links.grow(range.end);
            while let Some(batch) = edges.next(first)? {
                self.join(&mut links, batch)?;
            }
            if let Some(waiting) = self.waiting[at].take() {
                waiting.drain(self.place.files, |batch| self.join(&mut links, batch))?;
            }
            self.save(&range, &links)?;
        }
        Ok(())
    }

    /// Joins edges of a range; those between lower nodes wait.
    fn join(&mut self, links: &mut Links<R>, edges: &[ArcRecord]) -> Result<()> {
        self.tick()?;
        let ladder = self.ladder;
        let unjoined = |edges: &[ArcRecord]| {
            let mut edges = edges.to_vec();
            links.drop_joined(&mut edges, ladder);
            edges
        };
        let all: Vec<_> = edges.par_chunks(PIECE_EDGES).map(unjoined).collect();
        all.iter().try_for_each(|edges| links.join_all(edges, ladder, |edge| self.pass_on(edge)))
    }

    fn pass_on(&mut self, edge: ArcRecord) -> Result<()> {
        let higher = u64::from(edge.source.max(edge.target));
        let Some(beyond) = higher.checked_sub(self.links.end()) else {
            return self.links.join_all(&[edge], self.ladder, |_| Ok(()));
        };
        let at = (beyond / self.size) as usize;
        if self.waiting[at].is_none() {
            let path = self.place.scratch.join(format!("waiting-{at}"));
            let numbers = Pages::create(self.place.files, path)?;
            self.waiting[at] = Some(Waiting { numbers, written: 0, collected: Vec::new() });
        }
        self.waiting[at].iter_mut().try_for_each(|waiting| waiting.push(edge))
    }

    fn save(&self, range: &Range<u64>, links: &Links<R>) -> Result<()> {
        let mut to = StateWriter::create(self.place.files, &self.path(range))?;
        links.save(&mut to)?;
        to.finish()
    }

    fn load(&self, range: &Range<u64>) -> Result<Links<R>> {
        let mut links = Links::new(range.start as u32, (range.end - range.start) as usize);
        links.grow(range.end);
        let mut from = StateReader::open(self.place.files, &self.path(range))?;
        links.load(&mut from)?;
        from.finish()?;
        Ok(links)
    }

    /// Finds the components at the threshold with this number and code.
    fn components(&self, at: usize, code: u32) -> Result<Communities> {
        let ForestPlace { files, scratch, memory, observer } = self.place;
        notify(observer, Event::Detail { text: "finding components on disk" })?;
        let roots = Pages::create(files, scratch.join("roots"))?;
        let mut bytes = Vec::new();
        for range in &self.ranges {
            let own = self.load(range)?.into_roots(code, self.ladder);
            to_smallest(range.start as u32, &own);
            self.follow(&roots, range.start, &own, &mut bytes)?;
            roots.write_all(range.start, &own, &mut bytes)?;
        }
        let sizes = Pages::create(files, scratch.join("sizes"))?;
        let mut numbering =
            Numbering { files, observer, node_count: self.node_count, room: memory / 2 };
        let path = scratch.join(format!("components-{at}"));
        let (_, sizes) = numbering.number(&roots, sizes, &path)?;
        roots.remove(files)?;
        let labels = Column::Disk(Array::new(path, self.node_count));
        Ok(Communities::of_components(labels, sizes))
    }

    /// Replaces each node before the range that begins with `first` by its root.
    fn follow(
        &self,
        roots: &Pages<u32>,
        first: u64,
        own: &[AtomicU32],
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let most = (self.rest_bytes / size_of::<u32>() as u64) as usize;
        let mut window: Vec<u32> = Vec::new();
        for begin in (0..first).step_by(most) {
            self.tick()?;
            window.clear();
            for chunk in chunks(begin..first.min(begin + most as u64)) {
                window.extend(roots.read(chunk, bytes)?);
            }
            // Roots are their own roots, and are in the same window or before it.
            own.par_iter().with_min_len(1 << 14).for_each(|node| {
                let at = u64::from(node.load(Relaxed)).wrapping_sub(begin);
                if let Some(&root) = window.get(at as usize) {
                    node.store(root, Relaxed);
                }
            });
        }
        Ok(())
    }
}

/// Sorted edges, each from its higher end, the highest first.
struct Edges {
    sorted: Sorted<ArcRecord>,
    block: Vec<ArcRecord>,
    done: usize,
}

impl Edges {
    fn new(sorted: Sorted<ArcRecord>) -> Self {
        Self { sorted, block: Vec::new(), done: 0 }
    }

    /// Returns the next edges whose higher end is at least `first`, or `None` if there are no more.
    fn next(&mut self, first: u32) -> Result<Option<&[ArcRecord]>> {
        if self.done == self.block.len() {
            let Some(block) = self.sorted.next_block()? else { return Ok(None) };
            let edges = block.iter().map(|edge| ArcRecord { source: !edge.source, ..*edge });
            self.block.clear();
            self.block.extend(edges);
            self.done = 0;
        }
        let rest = &self.block[self.done..];
        let count = rest.partition_point(|edge| edge.source >= first);
        self.done += count;
        Ok((count > 0).then_some(&rest[..count]))
    }
}

/// Edges that wait for a range: three numbers each in a file, and some in memory.
struct Waiting {
    numbers: Pages<u32>,
    written: u64,
    collected: Vec<ArcRecord>,
}

impl Waiting {
    fn push(&mut self, edge: ArcRecord) -> Result<()> {
        self.collected.push(edge);
        if self.collected.len() < WAITING_EDGES {
            return Ok(());
        }
        let numbers = self.collected.iter().flat_map(|e| [e.source, e.target, e.weight]);
        self.numbers.write(self.written, numbers, &mut Vec::new())?;
        self.written += 3 * self.collected.len() as u64;
        self.collected.clear();
        Ok(())
    }

    /// Passes all edges to `each`, and removes the file.
    fn drain(self, files: &Files, mut each: impl FnMut(&[ArcRecord]) -> Result<()>) -> Result<()> {
        let (mut bytes, mut batch) = (Vec::new(), Vec::new());
        let step = 3 * 4 * PIECE_EDGES;
        for first in (0..self.written).step_by(step) {
            let some = first..self.written.min(first + step as u64);
            let numbers: Vec<u32> = self.numbers.read(some, &mut bytes)?.collect();
            let (edges, _) = numbers.as_chunks::<3>();
            batch.clear();
            batch.extend(edges.iter().map(|&[source, target, weight]| ArcRecord {
                source,
                target,
                weight,
            }));
            each(&batch)?;
        }
        each(&self.collected)?;
        self.numbers.remove(files)
    }
}
