//! All pairs of communities that share nodes, with their sizes, in three passes: by the communities of A, of B, of A.
//!
//! ```text
//!  nodes by pair --1--> (a, b, shared)  + size of a --sort by b--2--> + size of b, best of b --sort by a--3--> fates
//! ```
//! The size of a community is known at its last pair: each pass writes the pairs to a temporary file, and reads
//! them twice, the second time one community behind the first. Memory: a few hundred communities for the report.

use super::comparison_rows::{ByB, Moved, Overlap, Shared};
use super::join::{Joined, NodeCounts};
use super::report::{Fate, FateCounts};
use super::{NONE, SORTS};
use crate::error::Result;
use crate::io::{Array, ArrayReader, ArrayWriter};
use crate::present::Workbench;
use crate::score::SizeCounts;
use crate::sort::SortedRows;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Largest communities of each side that are drawn.
pub(super) const DRAWN: usize = 40;
/// Changes that are reported.
pub(super) const CHANGES: usize = 50;
/// Parts of a change that are reported.
pub(super) const PARTS: usize = 5;

/// Community with the facts that follow from its pairs.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub(super) label: u64,
    /// Number of its nodes, and of those that are in the other file.
    pub(super) size: u64,
    pub(super) common: u64,
    /// Communities that share the most nodes with it, most first, each after the number of these nodes.
    pub(super) parts: Vec<(u64, GroupPart)>,
    pub(super) part_count: u64,
    /// Nodes shared with communities that have more than half of their nodes from this one.
    gathered: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct GroupPart {
    pub(super) label: u64,
    pub(super) shared: u64,
    size: u64,
}

impl GroupPart {
    /// Returns the part in a pair: a community, its part, the number of nodes and the size of the part.
    fn of([_, label, shared, size]: [u64; 4]) -> Self {
        Self { label, shared, size }
    }
}

impl Group {
    fn clear(&mut self, label: u64) {
        self.parts.clear();
        let parts = std::mem::take(&mut self.parts);
        *self = Self { label, parts, ..Self::default() };
    }

    /// Adds a pair; pairs with as many nodes come in the order of their communities.
    fn add(&mut self, part: GroupPart) {
        self.size += part.shared;
        if part.label == NONE {
            return;
        }
        self.common += part.shared;
        self.part_count += 1;
        if 2 * part.shared > part.size {
            self.gathered += part.shared;
        }
        keep_largest(&mut self.parts, PARTS, part.shared, || part);
    }

    /// Returns the nodes shared with the community that has most of its nodes.
    pub(super) fn most(&self) -> u64 {
        self.parts.first().map_or(0, |&(shared, _)| shared)
    }

    /// Returns what became of the community; see the rules in [`compare`](super).
    fn fate(&self) -> Fate {
        let Some(&(shared, GroupPart { size, .. })) = self.parts.first() else {
            return Fate::Alone;
        };
        match () {
            () if shared == self.size && shared == size => Fate::Unchanged,
            () if 3 * shared > self.size + size => Fate::Continued,
            () if 2 * shared > self.size => Fate::IntoOne,
            () if 2 * self.gathered > self.size => Fate::IntoSeveral,
            () => Fate::Mixed,
        }
    }
}

/// Adds an item to the `room` items with the largest values; of equal values, the first is kept.
fn keep_largest<T>(all: &mut Vec<(u64, T)>, room: usize, value: u64, of: impl FnOnce() -> T) {
    let at = all.partition_point(|(known, _)| *known >= value);
    if at < room {
        all.truncate(room - 1);
        all.insert(at, (value, of()));
    }
}

/// What is known of the communities of one file.
#[derive(Debug, Default)]
pub(super) struct SideFacts {
    pub(super) fates: FateCounts,
    /// Sizes, over the nodes in both files.
    pub(super) sizes: SizeCounts,
    /// Sizes and labels of the largest communities.
    pub(super) largest: Vec<(u64, u64)>,
    /// Communities that the most nodes left or joined, each after the number of these nodes.
    pub(super) changes: Vec<(u64, (Group, Fate))>,
}

impl SideFacts {
    fn measure(&mut self, group: &Group) {
        keep_largest(&mut self.largest, DRAWN, group.size, || group.label);
        if group.common > 0 {
            *self.sizes.entry(group.common).or_default() += 1;
        }
    }

    /// Counts the fate of a community that some nodes left or joined.
    fn settle(&mut self, group: &Group, moved: u64) {
        let fate = group.fate();
        self.fates.add(fate);
        if moved > 0 {
            keep_largest(&mut self.changes, CHANGES, moved, || (group.clone(), fate));
        }
    }

    /// Returns the places of the largest communities; other labels are at the end.
    fn places(&self) -> HashMap<u64, usize> {
        self.largest.iter().enumerate().map(|(at, &(_, label))| (label, at)).collect()
    }
}

/// All that the passes find out.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) counts: NodeCounts,
    pub(super) a: SideFacts,
    pub(super) b: SideFacts,
    pub(super) joint: SizeCounts,
    pub(super) overlap_count: u64,
    pub(super) stayed: u64,
    /// Nodes shared by the largest communities, by their places in `a` and `b`; all other communities share the place
    /// after these.
    pub(super) flows: HashMap<(usize, usize), u64>,
}

/// Temporary files, from which the nodes that moved are found.
pub(super) struct Kept {
    /// Pairs of communities, by those of A.
    pairs: Array<u64>,
    /// Rows of their nodes in the same order.
    rows: Array<u64>,
    /// Communities of A and the ones of B that they are matched with.
    matches: Array<u64>,
}

/// Compares the communities of two files that were joined. Calls `visit` with all overlaps, by community of A, then by
/// the number of shared nodes, most first. If `keeps_rows`, keeps the files for finding nodes that moved.
///
/// # Errors
/// Those of `visit`; `Io`, `DiskFull`, `CorruptFile`, `Interrupted`.
pub(super) fn compare(
    bench: &Workbench<'_>,
    joined: Joined,
    keeps_rows: bool,
    mut visit: impl FnMut(&Overlap) -> Result<()>,
) -> Result<(Compared, Option<Kept>)> {
    let mut found = Compared { counts: joined.counts, ..Compared::default() };
    let mut rows = if keeps_rows { Some(array(bench, "rows")?) } else { None };
    let (halves, pairs) = by_a(bench, joined.shared, rows.as_mut(), &mut found)?;
    let overlaps = by_b(bench, halves, &mut found)?;
    let matches = settle(bench, overlaps, &mut found, &mut visit)?;
    let Some(rows) = rows.map(ArrayWriter::finish).transpose()? else {
        [&pairs.path, &matches.path].into_iter().for_each(|path| bench.files.discard(path));
        return Ok((found, None));
    };
    Ok((found, Some(Kept { pairs, rows, matches })))
}

/// Creates a temporary file of numbers.
pub(super) fn array(bench: &Workbench<'_>, name: &str) -> Result<ArrayWriter<u64>> {
    ArrayWriter::create(bench.files, &bench.scratch.join(name), u64::MAX)
}

/// First pass: counts the nodes of each pair, and adds the sizes of the communities of A. Returns the pairs, sorted by
/// those of B, and in a file by those of A; appends the rows of their nodes to `rows`.
fn by_a(
    bench: &Workbench<'_>,
    nodes: SortedRows<Shared>,
    mut rows: Option<&mut ArrayWriter<u64>>,
    found: &mut Compared,
) -> Result<(SortedRows<ByB>, Array<u64>)> {
    let mut pairs = array(bench, "pairs-a")?;
    let mut sorter = bench.rows(SORTS)?;
    let mut nodes = bench.read(nodes);
    let mut next = nodes.next()?;
    while let Some(Shared { a, b, .. }) = next {
        let mut shared = 0;
        while let Some(node) = next.filter(|node| (node.a, node.b) == (a, b)) {
            shared += 1;
            if let Some(rows) = rows.as_mut().filter(|_| a != NONE && b != NONE) {
                rows.push(node.row)?;
            }
            next = nodes.next()?;
        }
        match a {
            // Nodes that only B has.
            NONE => sorter.add(ByB { b, a, shared, size_a: 0 })?,
            _ => pairs.push_row([a, b, shared, 0])?,
        }
    }
    let pairs = pairs.finish()?;
    let mut groups = Groups::open(bench, &pairs)?;
    while let Some(group) = groups.next()? {
        found.a.measure(group);
        if group.common == 0 {
            found.a.settle(group, 0);
        }
        let (a, size_a) = (group.label, group.size);
        while let Some(GroupPart { label: b, shared, .. }) = groups.next_part()? {
            *found.joint.entry(shared).or_default() += 1;
            sorter.add(ByB { b, a, shared, size_a })?;
        }
    }
    Ok((sorter.finish()?, pairs))
}

/// Second pass: adds the sizes of the communities of B, and finds the community of A that has most of each.
fn by_b(
    bench: &Workbench<'_>,
    sorted: SortedRows<ByB>,
    found: &mut Compared,
) -> Result<SortedRows<Overlap>> {
    let mut pairs = array(bench, "pairs-b")?;
    bench
        .for_each(sorted, |&ByB { b, a, shared, size_a }| pairs.push_row([b, a, shared, size_a]))?;
    let pairs = pairs.finish()?;
    let mut sorter = bench.rows(SORTS)?;
    let mut groups = Groups::open(bench, &pairs)?;
    while let Some(group) = groups.next()? {
        found.b.measure(group);
        found.b.settle(group, group.common - group.most());
        let (b, size_b) = (group.label, group.size);
        let best = group.parts.first().map(|(_, part)| part.label);
        while let Some(GroupPart { label: a, shared, size: size_a }) = groups.next_part()? {
            let (shared, is_best_of_b) = (Reverse(shared), best == Some(a));
            sorter.add(Overlap { a, shared, b, size_a, size_b, is_best_of_b })?;
        }
    }
    drop(groups);
    bench.files.discard(&pairs.path);
    sorter.finish()
}

/// Third pass: passes all overlaps on, and settles the communities of A; returns which ones are matched.
fn settle(
    bench: &Workbench<'_>,
    sorted: SortedRows<Overlap>,
    found: &mut Compared,
    visit: &mut impl FnMut(&Overlap) -> Result<()>,
) -> Result<Array<u64>> {
    let mut matches = array(bench, "matches")?;
    let (places_a, places_b) = (found.a.places(), found.b.places());
    let place =
        |places: &HashMap<u64, usize>, label| places.get(&label).copied().unwrap_or(places.len());
    let mut group = Group::default();
    let mut overlaps = bench.read(sorted);
    let mut next = overlaps.next()?;
    while let Some(first) = next {
        // The first pair of a community has the most nodes.
        let stayed = if first.is_best_of_b { first.shared.0 } else { 0 };
        if first.is_best_of_b {
            matches.push_row([first.a, first.b])?;
        }
        group.clear(first.a);
        while let Some(pair) = next.filter(|pair| pair.a == first.a) {
            group.add(GroupPart { label: pair.b, shared: pair.shared.0, size: pair.size_b });
            let flow = (place(&places_a, pair.a), place(&places_b, pair.b));
            *found.flows.entry(flow).or_default() += pair.shared.0;
            found.overlap_count += 1;
            visit(&pair)?;
            next = overlaps.next()?;
        }
        group.size = first.size_a;
        found.stayed += stayed;
        found.a.settle(&group, group.common - stayed);
    }
    matches.finish()
}

/// Pairs of communities in a file, by community: first a summary of all its pairs, then each pair.
struct Groups<'a> {
    bench: &'a Workbench<'a>,
    ahead: ArrayReader<u64>,
    behind: ArrayReader<u64>,
    group: Group,
    /// First pair after the group.
    next: Option<[u64; 4]>,
    /// Number of the group's pairs that `behind` has still to read.
    left: u64,
    read: u64,
}

impl<'a> Groups<'a> {
    fn open(bench: &'a Workbench<'a>, pairs: &Array<u64>) -> Result<Self> {
        let read = || pairs.read(bench.files, u64::MAX);
        let (mut ahead, behind, group) = (read()?, read()?, Group::default());
        Ok(Self { bench, next: ahead.next_row()?, ahead, behind, group, left: 0, read: 0 })
    }

    fn next(&mut self) -> Result<Option<&Group>> {
        let Some([label, ..]) = self.next else { return Ok(None) };
        self.group.clear(label);
        while let Some(pair) = self.next.filter(|pair| pair[0] == label) {
            self.group.add(GroupPart::of(pair));
            self.bench.count(&mut self.read)?;
            self.left += 1;
            self.next = self.ahead.next_row()?;
        }
        Ok(Some(&self.group))
    }

    /// Returns the next community that shares nodes with this one. Call it until `None` before `next`.
    fn next_part(&mut self) -> Result<Option<GroupPart>> {
        while self.left > 0 {
            self.left -= 1;
            let part = self.behind.next_row()?.map(GroupPart::of);
            if let Some(part) = part.filter(|part| part.label != NONE) {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }
}

impl Kept {
    /// Sorts the nodes that moved by their rows.
    pub(super) fn moved(&self, bench: &Workbench<'_>) -> Result<SortedRows<Moved>> {
        let mut sorter = bench.rows(SORTS)?;
        let open = |array: &Array<u64>| array.read(bench.files, u64::MAX);
        let (mut pairs, mut rows) = (open(&self.pairs)?, open(&self.rows)?);
        let mut matches = open(&self.matches)?;
        let (mut matched, mut read) = (matches.next_row()?, 0);
        while let Some([a, b, shared, _]) = pairs.next_row()? {
            if b == NONE {
                continue;
            }
            while matched.is_some_and(|[of, _]| of < a) {
                matched = matches.next_row()?;
            }
            let stays = matched == Some([a, b]);
            for _ in 0..shared {
                let row = rows.number()?;
                if !stays {
                    sorter.add(Moved { row, a, b })?;
                }
                bench.count(&mut read)?;
            }
        }
        sorter.finish()
    }
}
