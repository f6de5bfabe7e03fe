//! Contraction: builds the graph of groups, one level up.
//!
//! ```text
//!  level --scan--> (group of u, group of v, weight) --sorter--> merged --writer--> next level
//!                                                                  `--> sums of the classes
//! ```
//!
//! Every arc between two groups becomes a record. The external sorter brings equal pairs together, in the
//! order of their weights, so that sums depend neither on memory nor on the direction; the graph writer adds
//! them. Weight inside a group becomes its loop. The next level is a graph file like that of the input: the
//! same code scans it, caches it and divides it into blocks, so its location cannot change a result. Small
//! levels stay in memory. If the blocks of the level are in memory, the records of each group are gathered from there
//! instead (see `gather`), in the same order.
//!
//! Memory: the budgets of sorter and writer, and 8 bytes per group. Disk: 4 to 5 bytes per record, and the
//! next level. Time: about 40 ns per arc and core; 15 if gathered.

use crate::base::arcs::add_weights_where;
use crate::base::hash::mix;
use crate::base::parallel::{PerThread, piece_nodes};
use crate::base::rows::{RowPart, RowsAhead};
use crate::drive::gather::{Gathering, GroupSpan};
use crate::drive::groups::CommunitySums;
use crate::finish::portions::{portion_end, portion_records};
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::Holdings;
use outcore_graph::weight::Weight;
use outcore_graph::{ArcRecord, Block, BlockEntry, Duplicates, Graph, GraphOptions, GraphWriter};
use outcore_io::Files;
use outcore_io::error::Result;
use outcore_io::prefetch;
use outcore_sort::Sorter;
use std::collections::HashSet;
use std::iter::repeat;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Maximum number of arcs of a level in memory.
pub(crate) const SMALL_ARCS: u64 = 1 << 18;
/// Memory of the small levels of a hierarchy, each of which is smaller than the one below.
pub(crate) const SMALL_LEVEL_BYTES: u64 = 8 << 20;
const ONE: u32 = Weight::ONE.code();

/// Division of a level into groups.
pub(crate) struct Division<'a> {
    /// Group of each node.
    pub(crate) groups: &'a [u32],
    /// Class of each group.
    pub(crate) classes: &'a [u32],
    pub(crate) class_count: usize,
    /// What the nodes hold beside their arcs.
    pub(crate) holdings: &'a Holdings,
    /// Counts only arcs inside these communities, if set.
    pub(crate) within: Option<OnlyInside<'a>>,
    /// Whether the number of input nodes in each group is needed.
    pub(crate) counts: bool,
}

impl Division<'_> {
    /// Returns the sink group for excluded nodes, if any.
    fn rest(&self) -> Option<u32> {
        self.within.as_ref().map(|_| self.classes.len() as u32 - 1)
    }
}

/// Communities inside which arcs count. The last group is a sink for excluded nodes, none of whose arcs count; its
/// class holds no other group.
pub(crate) struct OnlyInside<'a> {
    /// Community of each node.
    pub(crate) labels: &'a [AtomicU32],
    /// Total strength of all nodes.
    pub(crate) strength: f64,
}

/// Next level.
pub(crate) struct Contracted {
    pub(crate) graph: Graph,
    /// Whether it is on disk rather than in memory.
    pub(crate) is_on_disk: bool,
    /// What its nodes hold beside their arcs, as far as the objective needs it.
    pub(crate) holdings: Holdings,
}

/// Location of the next level, and memory for sorting it.
pub(crate) struct LevelPlace<'a> {
    pub(crate) files: &'a Files,
    /// Directory of the runs and the level.
    pub(crate) directory: &'a Path,
    pub(crate) sort_bytes: u64,
    /// Maximum number of its arcs.
    pub(crate) most_arcs: u64,
}

/// Contracts the groups of a level, and adds them to empty sums of the classes; returns `None` as soon as there are too
/// many arcs between them. If only arcs inside communities count, groups still have the strength of all their arcs: the
/// other arcs lead to the sink group if the objective counts cuts, and are loops otherwise.
///
/// # Errors
/// Those of reading and writing, and of `tick`, which is called for each block or batch.
pub(crate) fn contract(
    source: &mut BlockSource<'_>,
    division: &Division<'_>,
    sums: &mut dyn CommunitySums,
    place: &LevelPlace<'_>,
    tick: &dyn Fn() -> Result<()>,
) -> Result<Option<Contracted>> {
    let small_arcs = place.files.cramped().level_arcs.min(SMALL_ARCS);
    let is_small = source.graph().arc_count() <= small_arcs;
    let ram = Files::in_memory();
    let files = if is_small { &ram } else { place.files };
    files.create_directory(place.directory)?;
    let carried = sums.carried(division.holdings, division.groups, division.classes.len());
    let counts = match (&division.within, division.counts) {
        (Some(_), _) if sums.needs_cuts() => unit_counts(division.classes.len()),
        (_, true) => group_counts(division),
        _ => Vec::new(),
    };
    let holdings = Holdings { counts, ..carried };
    let gathering = match division.within {
        None => Gathering::within(place.sort_bytes, source, division, sums.needs_cuts()),
        Some(_) => None,
    };
    let is_complete = if let Some(gathering) = gathering {
        source.count_scan();
        let mut merge = LevelMerge::new(division, &holdings, sums, files, place)?;
        gathering.for_each(tick, &mut |span| merge.take_span(span))?;
        merge.finish()?
    } else {
        match emit(source, division, sums.needs_cuts(), files, place, tick)? {
            None => false,
            Some(sorter) => {
                let mut sorted = sorter.finish()?;
                let mut merge = LevelMerge::new(division, &holdings, sums, files, place)?;
                while let Some(records) = sorted.next_block()? {
                    if merge.take(records)?.is_break() {
                        break;
                    }
                }
                merge.finish()?
            }
        }
    };
    if !is_complete {
        if !is_small {
            files.discard(place.directory);
        }
        return Ok(None);
    }
    let graph = Graph::open(files, place.directory)?;
    Ok(Some(Contracted { graph, is_on_disk: !is_small, holdings }))
}

fn group_counts(division: &Division<'_>) -> Vec<u32> {
    let mut counts = vec![0; division.classes.len()];
    for (node, &group) in division.groups.iter().enumerate() {
        counts[group as usize] += division.holdings.count(node);
    }
    counts
}

/// Returns counts of 1, except for the last group, the sink. Its count is the number of groups; if that is also the
/// limit of sizes, the sink fills a community alone.
fn unit_counts(groups: usize) -> Vec<u32> {
    let mut counts = vec![1; groups];
    if let Some(last) = counts.last_mut() {
        *last = groups as u32;
    }
    counts
}

/// Weight of arcs of a node.
#[derive(Clone, Copy, Default)]
struct Ends {
    /// Inside its group, counted at the later end.
    inside: f64,
    /// To other communities, and in total; used only if arcs are restricted to communities.
    outside: f64,
    arcs: f64,
}

/// Passes the arcs between groups, and the loops of groups, to a sorter; returns `None` as soon as there are too many.
fn emit(
    source: &mut BlockSource<'_>,
    division: &Division<'_>,
    counts_cuts: bool,
    files: &Files,
    place: &LevelPlace<'_>,
    tick: &dyn Fn() -> Result<()>,
) -> Result<Option<Sorter<ArcRecord>>> {
    let threads = rayon::current_num_threads();
    let mut sorter = Sorter::new(files, place.directory, place.sort_bytes, threads)?;
    let sample =
        (place.most_arcs < source.graph().arc_count()).then(|| Sample::new(place.most_arcs));
    let rest = division.rest();
    let mut loops = vec![0.0; division.classes.len()];
    let mut outside = vec![0.0; if rest.is_some() && counts_cuts { loops.len() } else { 0 }];
    let mut strength = 0.0;
    let (rows, mut ends) = (PerThread::new(RowsAhead::default), Vec::new());
    let counts = |node: usize| Some(division.groups[node]) != rest;
    let has_arcs = |entry: &BlockEntry| {
        let first = entry.first_node as usize;
        rest.is_none() || (first..first + entry.node_count as usize).any(counts)
    };
    let too_many = || sample.as_ref().is_some_and(Sample::has_too_many);
    let blocks = (0..source.graph().blocks().len()).take_while(|_| !too_many());
    source.for_each(blocks, has_arcs, |block| {
        tick()?;
        ends.clear();
        ends.resize(block.node_count(), Ends::default());
        let scan = LevelScan { block, division, rows: &rows, sample: sample.as_ref() };
        let mut begin = 0;
        while begin < block.node_count() {
            let most = portion_records::<ArcRecord>();
            let end = portion_end(block, begin, most);
            let ends = &mut ends[begin..end];
            if block.degree(begin) > most {
                ends[0] = scan.emit_large(begin, &mut sorter)?;
            } else {
                scan.emit_portion(begin, ends, &mut sorter)?;
            }
            begin = end;
        }
        for (local, ends) in ends.iter().enumerate() {
            let group = division.groups[block.first_node() as usize + local];
            if Some(group) == rest {
                continue;
            }
            loops[group as usize] += ends.inside + block.self_loop(local);
            strength += ends.arcs + 2.0 * block.self_loop(local);
            match outside.get_mut(group as usize) {
                Some(outside) => *outside += ends.outside,
                None => loops[group as usize] += ends.outside / 2.0,
            }
        }
        Ok(())
    })?;
    if too_many() {
        return Ok(None);
    }
    if let (Some(rest), Some(within)) = (rest, &division.within) {
        let others = within.strength - strength - outside.iter().sum::<f64>();
        loops[rest as usize] = (others / 2.0).max(0.0);
        push_outside(&outside, rest, &mut sorter)?;
    }
    push_loops(&loops, &mut sorter)?;
    Ok(Some(sorter))
}

/// Sample of the pairs of groups that arcs join, to see early that there are too many of them.
///
/// A pair is in the sample by its hash, so what is found depends neither on the order of arcs nor on threads. A sample
/// that does not hold all pairs shows too many only from a fifth above the maximum, more than 20 standard deviations.
/// The merge counts pairs exactly.
struct Sample {
    seen: Mutex<HashSet<u64>>,
    most: usize,
    /// Pairs are in the sample if these bits of their hashes are 0.
    mask: u64,
}

impl Sample {
    /// Approximate number of pairs in the sample if there are as many pairs as allowed.
    const MOST: u64 = 1 << 14;

    fn new(most_arcs: u64) -> Self {
        let share = (most_arcs / Self::MOST).max(1).next_power_of_two();
        let most = most_arcs / share;
        let most = if share == 1 { most } else { most + most / 5 };
        Self { seen: Mutex::default(), most: most as usize, mask: share - 1 }
    }

    fn add(&self, records: &[ArcRecord]) {
        let pairs = records.iter().map(|arc| u64::from(arc.source) << 32 | u64::from(arc.target));
        let chosen = pairs.filter(|&pair| mix(pair) & self.mask == 0);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // Further pairs would only take memory.
        for pair in chosen {
            if seen.len() > self.most {
                break;
            }
            seen.insert(pair);
        }
    }

    fn has_too_many(&self) -> bool {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).len() > self.most
    }
}

/// Block of a level whose arcs between groups are emitted.
struct LevelScan<'a> {
    block: &'a Block,
    division: &'a Division<'a>,
    rows: &'a PerThread<RowsAhead>,
    sample: Option<&'a Sample>,
}

impl LevelScan<'_> {
    /// Emits the arcs of the nodes from `begin` on, and fills `ends` with the weights of the arcs of each.
    fn emit_portion(
        &self,
        begin: usize,
        ends: &mut [Ends],
        sorter: &mut Sorter<ArcRecord>,
    ) -> Result<()> {
        let block = self.block;
        let arcs: u64 = (begin..begin + ends.len()).map(|local| block.degree(local)).sum();
        let piece = piece_nodes(ends.len(), arcs);
        let lens: Vec<usize> = (begin..begin + ends.len())
            .step_by(piece)
            .map(|from| {
                let to = (from + piece).min(begin + ends.len());
                (from..to).map(|local| block.degree(local) as usize).sum()
            })
            .collect();
        let pieces: Vec<Mutex<&mut [Ends]>> = ends.chunks_mut(piece).map(Mutex::new).collect();
        sorter.push_parts(&lens, |part, out| {
            let mut ends = pieces[part].lock().unwrap_or_else(PoisonError::into_inner);
            let first = begin + part * piece;
            let mut filled = 0;
            self.for_rows(first..first + ends.len(), |row, sums| {
                filled += self.records(&row, &mut out[filled..], sums);
                if row.ends {
                    ends[row.local - first] = *sums;
                }
                Ok(())
            })?;
            if let Some(sample) = self.sample {
                sample.add(&out[..filled]);
            }
            Ok((filled, ()))
        })?;
        Ok(())
    }

    /// Emits the arcs of a node with more arcs than a portion.
    fn emit_large(&self, local: usize, sorter: &mut Sorter<ArcRecord>) -> Result<Ends> {
        let (mut ends, mut out) = (Ends::default(), Vec::new());
        self.for_rows(local..local + 1, |row, sums| {
            out.resize(row.targets.len(), ArcRecord::default());
            let filled = self.records(&row, &mut out, sums);
            ends = *sums;
            if let Some(sample) = self.sample {
                sample.add(&out[..filled]);
            }
            sorter.push(&out[..filled])
        })?;
        Ok(ends)
    }

    /// Passes the rows of nodes that are not excluded to `visit`, with sums that begin at 0 for each node.
    fn for_rows(
        &self,
        locals: Range<usize>,
        mut visit: impl FnMut(RowPart<'_>, &mut Ends) -> Result<()>,
    ) -> Result<()> {
        let groups = self.division.groups;
        let first = self.block.first_node() as usize;
        let locals = locals.filter(|local| Some(groups[first + local]) != self.division.rest());
        let fetch = |_, targets: &[u32]| {
            targets.iter().for_each(|&target| prefetch(groups, target as usize));
        };
        let mut sums = Ends::default();
        self.rows.with(|rows| {
            rows.for_each(self.block, locals, fetch, |row| {
                let ends = row.ends;
                visit(row, &mut sums)?;
                if ends {
                    sums = Ends::default();
                }
                Ok(())
            })
        })
    }

    /// Writes the arcs of a row between groups to `out`, and adds the weight inside the group, counted at the later
    /// end of an arc, to `sums`. Returns the number of records.
    #[inline]
    fn records(
        &self,
        &RowPart { local, targets, codes, .. }: &RowPart<'_>,
        out: &mut [ArcRecord],
        sums: &mut Ends,
    ) -> usize {
        let division = self.division;
        let node = self.block.first_node() + local as u32;
        let source = division.groups[node as usize];
        let mut filled = 0;
        if let Some(OnlyInside { labels, .. }) = division.within {
            return records_within(node, division, labels, targets, codes, out, sums);
        }
        for (&node_there, weight) in targets.iter().zip(codes.iter().copied().chain(repeat(ONE))) {
            let target = division.groups[node_there as usize];
            out[filled] = ArcRecord { source, target, weight };
            filled += usize::from(target != source);
        }
        if filled < targets.len() {
            let inside = std::array::from_mut(&mut sums.inside);
            add_weights_where(inside, targets, codes, |target| {
                [target < node && division.groups[target as usize] == source]
            });
        }
        filled
    }
}

/// Like [`LevelScan::records`], but only for arcs inside the community; also sums the weight of the other arcs.
fn records_within(
    node: u32,
    division: &Division<'_>,
    labels: &[AtomicU32],
    targets: &[u32],
    codes: &[u32],
    out: &mut [ArcRecord],
    sums: &mut Ends,
) -> usize {
    let label = |node: u32| labels[node as usize].load(Relaxed);
    let (own, source) = (label(node), division.groups[node as usize]);
    let mut filled = 0;
    for (&there, weight) in targets.iter().zip(codes.iter().copied().chain(repeat(ONE))) {
        let target = division.groups[there as usize];
        if target != source && label(there) == own {
            out[filled] = ArcRecord { source, target, weight };
            filled += 1;
        }
    }
    let mut all = [sums.inside, sums.outside, sums.arcs];
    add_weights_where(&mut all, targets, codes, |there| {
        let is_inside = there < node && division.groups[there as usize] == source;
        [is_inside, label(there) != own, true]
    });
    [sums.inside, sums.outside, sums.arcs] = all;
    filled
}

/// Passes arcs between each group and the sink group, in both directions, to the sorter.
fn push_outside(outside: &[f64], rest: u32, sorter: &mut Sorter<ArcRecord>) -> Result<()> {
    for (group, &weight) in (0..).zip(outside).filter(|&(_, &weight)| weight > 0.0) {
        let weight = Weight::new(weight.min(f64::MAX)).code();
        sorter.add(ArcRecord { source: group, target: rest, weight })?;
        sorter.add(ArcRecord { source: rest, target: group, weight })?;
    }
    Ok(())
}

fn push_loops(loops: &[f64], sorter: &mut Sorter<ArcRecord>) -> Result<()> {
    for (source, &weight) in (0..).zip(loops).filter(|&(_, &weight)| weight > 0.0) {
        let weight = Weight::new(weight.min(f64::MAX)).code();
        sorter.add(ArcRecord { source, target: source, weight })?;
    }
    Ok(())
}

/// Weights of the arcs of a group.
#[derive(Clone, Copy, Default)]
pub(crate) struct GroupArcs {
    /// To other groups.
    arcs: f64,
    /// Inside the group.
    loops: f64,
    /// To groups of other classes, if these are needed.
    cut: f64,
}

impl GroupArcs {
    #[inline]
    pub(crate) fn add(&mut self, record: ArcRecord, classes: Option<&[u32]>) {
        let ArcRecord { source, target, weight } = record;
        let weight = Weight::from_code(weight).value();
        if target == source {
            self.loops += weight;
            return;
        }
        self.arcs += weight;
        if classes.is_some_and(|of| of[target as usize] != of[source as usize]) {
            self.cut += weight;
        }
    }
}

/// Merge of sorted records into the next level, and into the sums of its classes.
struct LevelMerge<'a> {
    division: &'a Division<'a>,
    holdings: &'a Holdings,
    writer: GraphWriter,
    sums: &'a mut dyn CommunitySums,
    /// Class of each group, if cuts are needed.
    classes: Option<&'a [u32]>,
    /// Last pair of groups, and the number of pairs that may follow; `None` if there were more.
    last: (u32, u32),
    left: Option<u64>,
    /// Current group, and the sums of its records.
    group: u32,
    of_group: GroupArcs,
}

impl<'a> LevelMerge<'a> {
    fn new(
        division: &'a Division<'a>,
        holdings: &'a Holdings,
        sums: &'a mut dyn CommunitySums,
        files: &Files,
        place: &LevelPlace<'_>,
    ) -> Result<Self> {
        let options = GraphOptions {
            node_count: division.classes.len() as u64,
            directed: false,
            duplicates: Duplicates::Sum,
            keep_loops: true,
        };
        let writer = GraphWriter::create(files, place.directory, &options)?;
        let classes = sums.needs_cuts().then_some(division.classes);
        let (last, left, group) = ((0, 0), Some(place.most_arcs), 0);
        let of_group = GroupArcs::default();
        Ok(Self { division, holdings, writer, sums, classes, last, left, group, of_group })
    }

    /// Takes the next records; breaks if there are too many arcs.
    fn take(&mut self, records: &[ArcRecord]) -> Result<ControlFlow<()>> {
        self.writer.push(records)?;
        let mut pairs = 0;
        for &record in records {
            while self.group < record.source {
                self.end_group();
            }
            self.of_group.add(record, self.classes);
            let pair = (record.source, record.target);
            pairs += u64::from(record.source != record.target && pair != self.last);
            self.last = pair;
        }
        Ok(self.leave_room(pairs))
    }

    /// Takes the next groups; breaks if there are too many arcs.
    fn take_span(&mut self, span: &GroupSpan) -> Result<ControlFlow<()>> {
        self.writer.push(&span.records)?;
        self.writer.count_combined(span.combined);
        for &sums in &span.sums {
            self.of_group = sums;
            self.end_group();
        }
        let pairs = span.records.iter().filter(|record| record.source != record.target);
        Ok(self.leave_room(pairs.count() as u64))
    }

    fn leave_room(&mut self, pairs: u64) -> ControlFlow<()> {
        self.left = self.left.and_then(|left| left.checked_sub(pairs));
        self.left.map_or(ControlFlow::Break(()), |_| ControlFlow::Continue(()))
    }

    /// Finishes the level and the sums of its classes; returns false if it has too many arcs.
    fn finish(mut self) -> Result<bool> {
        if self.left.is_none() {
            return Ok(false);
        }
        while (self.group as usize) < self.division.classes.len() {
            self.end_group();
        }
        self.writer.finish()?;
        self.sums.finish();
        Ok(true)
    }

    fn end_group(&mut self) {
        let class = self.division.classes[self.group as usize];
        let GroupArcs { arcs, loops, cut } = std::mem::take(&mut self.of_group);
        let (group, strength) = (self.group as usize, arcs + 2.0 * loops);
        self.sums.add_node(class, self.holdings, group, strength, cut);
        self.group += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_shows_too_many_pairs_and_never_as_many_as_may_be() {
        for (most, few, many) in [(100, 100, 101), (1 << 20, 1 << 20, 3 << 19)] {
            for (count, is_too_many) in [(few, false), (many, true)] {
                let sample = Sample::new(most);
                let arcs =
                    (0..count).map(|at| ArcRecord { source: at % 1000, target: at, weight: ONE });
                let arcs: Vec<ArcRecord> = arcs.collect();
                // Repeated pairs count once.
                arcs.chunks(5000).chain(arcs.chunks(7000)).for_each(|arcs| sample.add(arcs));
                assert_eq!(sample.has_too_many(), is_too_many, "{count} pairs");
            }
        }
    }
}
