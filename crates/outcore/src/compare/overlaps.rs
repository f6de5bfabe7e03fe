//! All pairs of communities that share nodes, with their sizes, in three passes: by the communities of A, of B, of A.
//!
//! ```text
//!  nodes by pair --1--> (a, b, shared)  + size of a --sort by b--2--> + size of b, best of b --sort by a--3--> fates
//! ```
//! The size of a community is known at its last pair: each pass writes the pairs to a temporary file, and reads
//! them twice, the second time one community behind the first. Memory: a few hundred communities for the report.

use super::join::{Joined, NodeCounts};
use super::record::{ByA, ByB, Moved, Overlap, Shared};
use super::report::{Fate, FateCounts};
use super::{NONE, SORTS};
use crate::error::Result;
use crate::io::{Array, ArrayReader, ArrayWriter, Files};
use crate::present::Workbench;
use crate::progress::{Event, notify};
use crate::score::SizeCounts;
use crate::sort::{PUSHED, Sorted, Sorter};
use std::collections::HashMap;

/// Largest communities of each side that are drawn.
pub(super) const DRAWN: usize = 40;
/// Changes that are reported.
pub(super) const CHANGES: usize = 50;
/// Parts of a change that are reported.
pub(super) const PARTS: usize = 5;
/// Numbers of a pair in a temporary file.
const WORDS: u64 = 4;

/// Community with the facts that follow from its pairs.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub(super) label: u64,
    /// Number of its nodes, and of those that are in the other file.
    pub(super) size: u64,
    pub(super) common: u64,
    /// Communities that share most nodes with it, most first, each with the number of nodes and its size.
    pub(super) parts: Vec<GroupPart>,
    pub(super) part_count: u64,
    /// Nodes shared with communities that have more than half of their nodes from this one.
    gathered: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupPart {
    pub(super) label: u64,
    pub(super) shared: u64,
    size: u64,
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
        let at = self.parts.partition_point(|known| known.shared >= part.shared);
        if at < PARTS {
            self.parts.truncate(PARTS - 1);
            self.parts.insert(at, part);
        }
    }

    /// Returns the nodes shared with the community that has most of its nodes.
    pub(super) fn most(&self) -> u64 {
        self.parts.first().map_or(0, |part| part.shared)
    }

    /// Returns what became of the community; see the rules in [`compare`](super).
    fn fate(&self) -> Fate {
        let Some(&GroupPart { shared, size, .. }) = self.parts.first() else { return Fate::Alone };
        match () {
            () if shared == self.size && shared == size => Fate::Unchanged,
            () if 3 * shared > self.size + size => Fate::Continued,
            () if 2 * shared > self.size => Fate::IntoOne,
            () if 2 * self.gathered > self.size => Fate::IntoSeveral,
            () => Fate::Mixed,
        }
    }
}

/// A few communities with the largest values; ties go to the one that comes first.
#[derive(Debug)]
pub(super) struct Top<T> {
    room: usize,
    pub(super) all: Vec<(u64, T)>,
}

impl<T> Top<T> {
    fn new(room: usize) -> Self {
        Self { room, all: Vec::new() }
    }

    fn add(&mut self, value: u64, of: impl FnOnce() -> T) {
        let at = self.all.partition_point(|(known, _)| *known >= value);
        if at < self.room {
            self.all.truncate(self.room - 1);
            self.all.insert(at, (value, of()));
        }
    }
}

/// What is known of the communities of one file.
#[derive(Debug)]
pub(super) struct SideFacts {
    pub(super) fates: FateCounts,
    /// Sizes, over the nodes in both files.
    pub(super) sizes: SizeCounts,
    /// The largest communities.
    pub(super) largest: Top<u64>,
    pub(super) changes: Top<(Group, Fate)>,
}

impl SideFacts {
    fn new() -> Self {
        Self {
            fates: FateCounts::default(),
            sizes: SizeCounts::new(),
            largest: Top::new(DRAWN),
            changes: Top::new(CHANGES),
        }
    }

    fn measure(&mut self, group: &Group) {
        self.largest.add(group.size, || group.label);
        if group.common > 0 {
            *self.sizes.entry(group.common).or_default() += 1;
        }
    }

    /// Counts the fate of a community that some nodes left or joined.
    fn settle(&mut self, group: &Group, moved: u64) {
        let fate = group.fate();
        self.fates.add(fate);
        if moved > 0 {
            self.changes.add(moved, || (group.clone(), fate));
        }
    }

    /// Returns the places of the largest communities; other labels are at the end.
    fn places(&self) -> HashMap<u64, usize> {
        self.largest.all.iter().enumerate().map(|(at, &(_, label))| (label, at)).collect()
    }
}

/// All that the passes find out.
pub(super) struct Compared {
    pub(super) counts: NodeCounts,
    pub(super) a: SideFacts,
    pub(super) b: SideFacts,
    pub(super) joint: SizeCounts,
    pub(super) overlap_count: u64,
    pub(super) stayed: u64,
    /// Nodes shared by the largest communities: places in `a` and `b`, after which all others come.
    pub(super) flows: HashMap<(usize, usize), u64>,
}

/// Temporary files from which moved nodes follow.
pub(super) struct Kept {
    /// Pairs of communities, by those of A.
    pairs: Array<u64>,
    /// Rows of their nodes in the same order.
    rows: Array<u64>,
    /// Communities of A and the ones of B that they are matched with.
    matches: Array<u64>,
}

/// Compares the communities of two files that were joined. Calls `visit` with all overlaps, by community of A, then by the
/// number of shared nodes, most first. Keeps what moved nodes follow from if `keeps_rows`.
///
/// # Errors
/// Those of `visit`; `Io`, `DiskFull`, `CorruptFile`, `Interrupted`.
pub(super) fn compare(
    bench: &Workbench<'_>,
    joined: Joined,
    keeps_rows: bool,
    mut visit: impl FnMut(&Overlap) -> Result<()>,
) -> Result<(Compared, Option<Kept>)> {
    let mut found = Compared {
        counts: joined.counts,
        a: SideFacts::new(),
        b: SideFacts::new(),
        joint: SizeCounts::new(),
        overlap_count: 0,
        stayed: 0,
        flows: HashMap::new(),
    };
    let passes = Passes { bench };
    let (by_b, (pairs, rows)) = passes.by_a(joined.shared, keeps_rows, &mut found)?;
    let by_a = passes.by_b(by_b, &mut found)?;
    let matches = passes.settle(by_a, &mut found, &mut visit)?;
    let Some(rows) = rows else {
        [&pairs.path, &matches.path].into_iter().for_each(|path| bench.files.discard(path));
        return Ok((found, None));
    };
    Ok((found, Some(Kept { pairs, rows, matches })))
}

/// Pairs of communities by those of A, and the rows of their nodes, if they are kept.
type NodePairs = (Array<u64>, Option<Array<u64>>);

struct Passes<'a> {
    bench: &'a Workbench<'a>,
}

impl Passes<'_> {
    fn array(&self, name: &str) -> Result<ArrayWriter<u64>> {
        ArrayWriter::create(self.bench.files, &self.bench.scratch.join(name), u64::MAX)
    }

    fn tick(&self) -> Result<()> {
        // There is no measure of the work.
        notify(self.bench.observer, Event::Advance { done: u64::from(u32::MAX) })
    }

    /// First pass: counts the nodes of each pair, and adds the sizes of the communities of A.
    fn by_a(
        &self,
        mut nodes: Sorted<Shared>,
        keeps_rows: bool,
        found: &mut Compared,
    ) -> Result<(Sorted<ByB>, NodePairs)> {
        let mut pairs = self.array("pairs-a")?;
        let mut rows = if keeps_rows { Some(self.array("rows")?) } else { None };
        let mut sorter = self.bench.sorter::<ByB>(SORTS)?;
        let mut current: Option<Overlap> = None;
        let mut end = |pair: Option<Overlap>, sorter: &mut Sorter<ByB>| match pair {
            // Nodes that only B has.
            Some(pair) if pair.a == NONE => sorter.push(&[ByB(pair)]),
            Some(pair) => {
                [pair.a, pair.b, pair.shared, 0].into_iter().try_for_each(|n| pairs.push(n))
            }
            None => Ok(()),
        };
        while let Some(block) = nodes.next_block()? {
            for &Shared { a, b, row } in block {
                match &mut current {
                    Some(pair) if (pair.a, pair.b) == (a, b) => pair.shared += 1,
                    _ => {
                        let next = Some(Overlap { a, b, shared: 1, ..Overlap::default() });
                        end(std::mem::replace(&mut current, next), &mut sorter)?;
                    }
                }
                if let Some(rows) = rows.as_mut().filter(|_| a != NONE && b != NONE) {
                    rows.push(row)?;
                }
            }
            self.tick()?;
        }
        end(current, &mut sorter)?;
        let pairs = pairs.finish()?;
        let mut out = Vec::with_capacity(PUSHED);
        Groups::open(self.bench.files, &pairs)?.for_each(|group, part| {
            let Some(part) = part else {
                found.a.measure(group);
                if group.common == 0 {
                    found.a.settle(group, 0);
                }
                return Ok(());
            };
            if part.label == NONE {
                return Ok(());
            }
            *found.joint.entry(part.shared).or_default() += 1;
            let (a, size_a) = (group.label, group.size);
            let of =
                Overlap { a, b: part.label, shared: part.shared, size_a, ..Overlap::default() };
            out.push(ByB(of));
            self.flush(&mut sorter, &mut out)
        })?;
        sorter.push(&out)?;
        let rows = rows.map(ArrayWriter::finish).transpose()?;
        Ok((sorter.finish()?, (pairs, rows)))
    }

    fn flush<R: crate::sort::Record>(
        &self,
        sorter: &mut Sorter<R>,
        out: &mut Vec<R>,
    ) -> Result<()> {
        if out.len() < PUSHED {
            return Ok(());
        }
        sorter.push(out)?;
        out.clear();
        self.tick()
    }

    /// Second pass: adds the sizes of the communities of B, and which community of A has most of each.
    fn by_b(&self, mut sorted: Sorted<ByB>, found: &mut Compared) -> Result<Sorted<ByA>> {
        let mut pairs = self.array("pairs-b")?;
        while let Some(block) = sorted.next_block()? {
            for ByB(pair) in block {
                for number in [pair.b, pair.a, pair.shared, pair.size_a] {
                    pairs.push(number)?;
                }
            }
            self.tick()?;
        }
        drop(sorted);
        let pairs = pairs.finish()?;
        let mut sorter = self.bench.sorter::<ByA>(SORTS)?;
        let mut out = Vec::with_capacity(PUSHED);
        Groups::open(self.bench.files, &pairs)?.for_each(|group, part| {
            let Some(part) = part else {
                found.b.measure(group);
                found.b.settle(group, group.common - group.most());
                return Ok(());
            };
            if part.label == NONE {
                return Ok(());
            }
            let is_best_of_b = group.parts.first().is_some_and(|best| best.label == part.label);
            out.push(ByA(Overlap {
                a: part.label,
                b: group.label,
                shared: part.shared,
                size_a: part.size,
                size_b: group.size,
                is_best_of_b,
            }));
            self.flush(&mut sorter, &mut out)
        })?;
        self.bench.files.discard(&pairs.path);
        sorter.push(&out)?;
        sorter.finish()
    }

    /// Third pass: passes all overlaps on, and settles the communities of A; returns which ones are matched.
    fn settle(
        &self,
        mut sorted: Sorted<ByA>,
        found: &mut Compared,
        visit: &mut impl FnMut(&Overlap) -> Result<()>,
    ) -> Result<Array<u64>> {
        let mut matches = self.array("matches")?;
        let (places_a, places_b) = (found.a.places(), found.b.places());
        let mut group: Option<(Group, u64)> = None;
        while let Some(block) = sorted.next_block()? {
            for ByA(pair) in block {
                let is_next = group.as_ref().is_none_or(|(group, _)| group.label != pair.a);
                if is_next {
                    if let Some((group, stayed)) = &group {
                        found.a.settle(group, group.common - stayed);
                    }
                    let (mut next, _) = group.take().unwrap_or_default();
                    next.clear(pair.a);
                    // The first pair of a community has the most nodes.
                    let stayed = if pair.is_best_of_b { pair.shared } else { 0 };
                    if pair.is_best_of_b {
                        matches.push(pair.a)?;
                        matches.push(pair.b)?;
                    }
                    found.stayed += stayed;
                    group = Some((next, stayed));
                }
                if let Some((group, _)) = &mut group {
                    group.add(GroupPart { label: pair.b, shared: pair.shared, size: pair.size_b });
                    group.size = pair.size_a;
                }
                let place = |places: &HashMap<u64, usize>, label| {
                    places.get(label).copied().unwrap_or(places.len())
                };
                let flow = (place(&places_a, &pair.a), place(&places_b, &pair.b));
                *found.flows.entry(flow).or_default() += pair.shared;
                found.overlap_count += 1;
                visit(pair)?;
            }
            self.tick()?;
        }
        if let Some((group, stayed)) = &group {
            found.a.settle(group, group.common - stayed);
        }
        matches.finish()
    }
}

/// Pairs of communities in a temporary file, community by community.
struct Groups {
    ahead: ArrayReader<u64>,
    behind: ArrayReader<u64>,
    count: u64,
}

impl Groups {
    fn open(files: &Files, pairs: &Array<u64>) -> Result<Self> {
        let read = || pairs.read(files, u64::MAX);
        Ok(Self { ahead: read()?, behind: read()?, count: pairs.count / WORDS })
    }

    /// Calls `visit` for each community with `None`, then with each of its pairs.
    fn for_each(
        mut self,
        mut visit: impl FnMut(&Group, Option<GroupPart>) -> Result<()>,
    ) -> Result<()> {
        let mut group = Group::default();
        let (mut held, mut held_count) = (None, 0u64);
        for at in 0..=self.count {
            let next = if at < self.count { Some(pair(&mut self.ahead)?) } else { None };
            if let Some((label, part)) = next.filter(|(label, _)| held == Some(*label)) {
                debug_assert_eq!(label, group.label);
                group.add(part);
                held_count += 1;
                continue;
            }
            if held.is_some() {
                visit(&group, None)?;
                for _ in 0..held_count {
                    visit(&group, Some(pair(&mut self.behind)?.1))?;
                }
            }
            if let Some((label, part)) = next {
                group.clear(label);
                group.add(part);
                (held, held_count) = (Some(label), 1);
            }
        }
        Ok(())
    }
}

/// Reads a pair: the community, and its part.
fn pair(reader: &mut ArrayReader<u64>) -> Result<(u64, GroupPart)> {
    let label = reader.number()?;
    let part =
        GroupPart { label: reader.number()?, shared: reader.number()?, size: reader.number()? };
    Ok((label, part))
}

impl Kept {
    /// Sorts the nodes that moved by their rows.
    pub(super) fn moved(&self, bench: &Workbench<'_>) -> Result<Sorted<Moved>> {
        let files = bench.files;
        let mut sorter = bench.sorter(SORTS)?;
        let mut pairs = self.pairs.read(files, u64::MAX)?;
        let mut rows = self.rows.read(files, u64::MAX)?;
        let mut matches = self.matches.read(files, u64::MAX)?;
        let mut matched = next_match(&mut matches)?;
        let mut out = Vec::with_capacity(PUSHED);
        for _ in 0..self.pairs.count / WORDS {
            let (a, part) = pair(&mut pairs)?;
            if part.label == NONE {
                continue;
            }
            while matched.is_some_and(|(of, _)| of < a) {
                matched = next_match(&mut matches)?;
            }
            let stays = matched == Some((a, part.label));
            for _ in 0..part.shared {
                let row = rows.number()?;
                if !stays {
                    out.push(Moved(Shared { a, b: part.label, row }));
                }
                if out.len() == PUSHED {
                    sorter.push(&out)?;
                    out.clear();
                    notify(bench.observer, Event::Advance { done: row })?;
                }
            }
        }
        sorter.push(&out)?;
        sorter.finish()
    }
}

fn next_match(matches: &mut ArrayReader<u64>) -> Result<Option<(u64, u64)>> {
    match matches.next_number()? {
        Some(a) => Ok(Some((a, matches.number()?))),
        None => Ok(None),
    }
}
