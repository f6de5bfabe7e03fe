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
//! levels stay in memory.
//!
//! Memory: the budgets of sorter and writer, and 8 bytes per group. Disk: 4 to 5 bytes per record, and the
//! next level. Time: about 40 ns per arc and core.

use crate::cluster::base::parallel::{PerThread, piece_nodes};
use crate::cluster::base::table::Sum;
use crate::cluster::finish::cuts::edges::{PORTION_ARCS, portion_end};
use crate::cluster::kernel::cache::BlockSource;
use crate::cluster::kernel::objective::Sums;
use crate::error::Result;
use crate::graph::{ArcRecord, ArcScratch, Block, Duplicates, Graph, GraphOptions, GraphWriter};
use crate::io::{Files, Ram, Tuning};
use crate::sort::{Sorted, Sorter};
use crate::weight::Weight;
use std::iter::repeat;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Number of input nodes in each node; empty if one each.
    pub(crate) counts: &'a [u32],
}

/// Next level.
pub(crate) struct Contracted<O> {
    pub(crate) graph: Graph,
    /// Whether it is on disk rather than in memory.
    pub(crate) is_on_disk: bool,
    /// Number of input nodes in each node, if the objective needs it.
    pub(crate) counts: Vec<u32>,
    /// Sums of the classes.
    pub(crate) sums: O,
}

/// Location of the next level, and memory for sorting it.
pub(crate) struct LevelPlace<'a> {
    pub(crate) files: &'a Files,
    /// Directory of the runs and the level.
    pub(crate) directory: &'a Path,
    pub(crate) sort_bytes: u64,
}

/// Contracts the groups of a level.
///
/// # Errors
/// Those of reading and writing, and of `tick`, which is called for each block.
pub(crate) fn contract<S: Sum, O: Sums>(
    source: &mut BlockSource<'_>,
    division: &Division<'_>,
    rule: O::Rule,
    place: &LevelPlace<'_>,
    tick: impl FnMut(&Block) -> Result<()>,
) -> Result<Contracted<O>> {
    let small_arcs = place.files.cramped().level_arcs.min(SMALL_ARCS);
    let is_small = source.graph().arc_count() <= small_arcs;
    let ram = Files::new(Arc::new(Ram::default())).with_tuning(Tuning::MEMORY);
    let files = if is_small { &ram } else { place.files };
    files.create_directory(place.directory)?;
    let sorter = emit::<S>(source, division, files, place, tick)?;
    let counts = if O::asks_for_counts(rule) { group_counts(division) } else { Vec::new() };
    let mut merge = LevelMerge {
        division,
        counts: &counts,
        sums: O::empty(rule, division.class_count),
        group: 0,
        arcs: 0.0,
        loops: 0.0,
        cut: 0.0,
    };
    merge.run(sorter.finish()?, files, place.directory)?;
    merge.sums.complete();
    let sums = merge.sums;
    let graph = Graph::open(files, place.directory)?;
    Ok(Contracted { graph, is_on_disk: !is_small, counts, sums })
}

fn group_counts(division: &Division<'_>) -> Vec<u32> {
    let mut counts = vec![0; division.classes.len()];
    for (node, &group) in division.groups.iter().enumerate() {
        counts[group as usize] += division.counts.get(node).copied().unwrap_or(1);
    }
    counts
}

/// Passes the arcs between groups, and the loops of groups, to a sorter.
fn emit<S: Sum>(
    source: &mut BlockSource<'_>,
    division: &Division<'_>,
    files: &Files,
    place: &LevelPlace<'_>,
    mut tick: impl FnMut(&Block) -> Result<()>,
) -> Result<Sorter<ArcRecord>> {
    let threads = rayon::current_num_threads();
    let mut sorter = Sorter::new(files, place.directory, place.sort_bytes, threads)?;
    let mut loops = vec![0.0; division.classes.len()];
    let scratch = PerThread::new(ArcScratch::default);
    let mut inside = Vec::new();
    source.for_all(|block| {
        tick(block)?;
        inside.clear();
        inside.resize(block.node_count(), 0.0);
        let mut begin = 0;
        while begin < block.node_count() {
            let end = portion_end(block, begin);
            let inside = &mut inside[begin..end];
            if block.degree(begin) > PORTION_ARCS {
                scratch.with(|scratch| {
                    inside[0] = emit_large::<S>(block, begin, division, &mut sorter, scratch)?;
                    Ok(())
                })?;
            } else {
                emit_portion::<S>(block, begin, division, inside, &mut sorter, &scratch)?;
            }
            begin = end;
        }
        for (local, inside) in inside.iter().enumerate() {
            let group = division.groups[block.first_node() as usize + local];
            loops[group as usize] += inside + block.self_loop(local);
        }
        Ok(())
    })?;
    push_loops(&loops, &mut sorter)?;
    Ok(sorter)
}

/// Emits the arcs of the nodes from `begin` on, and fills `inside` with the weight of each inside its group.
fn emit_portion<S: Sum>(
    block: &Block,
    begin: usize,
    division: &Division<'_>,
    inside: &mut [f64],
    sorter: &mut Sorter<ArcRecord>,
    scratch: &PerThread<ArcScratch>,
) -> Result<()> {
    let arcs: u64 = (begin..begin + inside.len()).map(|local| block.degree(local)).sum();
    let piece = piece_nodes(inside.len(), arcs);
    let lens: Vec<usize> = (begin..begin + inside.len())
        .step_by(piece)
        .map(|from| {
            let to = (from + piece).min(begin + inside.len());
            (from..to).map(|local| block.degree(local) as usize).sum()
        })
        .collect();
    let pieces: Vec<Mutex<&mut [f64]>> = inside.chunks_mut(piece).map(Mutex::new).collect();
    sorter.push_parts(&lens, |part, out| {
        let mut inside = pieces[part].lock().unwrap_or_else(PoisonError::into_inner);
        let mut filled = 0;
        scratch.with(|scratch| {
            for (local, inside) in (begin + part * piece..).zip(inside.iter_mut()) {
                let mut sum = S::default();
                block.for_each_segment(local, scratch, |targets, codes| {
                    let out = &mut out[filled..];
                    filled += records::<S>(block, local, division, targets, codes, out, &mut sum);
                })?;
                *inside = sum.value();
            }
            Ok((filled, ()))
        })
    })?;
    Ok(())
}

/// Emits the arcs of a node with more arcs than a portion.
fn emit_large<S: Sum>(
    block: &Block,
    local: usize,
    division: &Division<'_>,
    sorter: &mut Sorter<ArcRecord>,
    scratch: &mut ArcScratch,
) -> Result<f64> {
    let (mut sum, mut out, mut result) = (S::default(), Vec::new(), Ok(()));
    block.for_each_segment(local, scratch, |targets, codes| {
        out.resize(targets.len(), ArcRecord::default());
        let filled = records::<S>(block, local, division, targets, codes, &mut out, &mut sum);
        if result.is_ok() {
            result = sorter.push(&out[..filled]);
        }
    })?;
    result.map(|()| sum.value())
}

/// Writes a segment's arcs between groups to `out`, and adds the weight inside the group, counted at the later
/// end of an arc, to `inside`. Returns the number of records.
#[inline]
fn records<S: Sum>(
    block: &Block,
    local: usize,
    division: &Division<'_>,
    targets: &[u32],
    codes: &[u32],
    out: &mut [ArcRecord],
    inside: &mut S,
) -> usize {
    let node = block.first_node() + local as u32;
    let source = division.groups[node as usize];
    let mut filled = 0;
    for (&node_there, weight) in targets.iter().zip(codes.iter().copied().chain(repeat(ONE))) {
        let target = division.groups[node_there as usize];
        out[filled] = ArcRecord { source, target, weight };
        filled += usize::from(target != source);
    }
    if filled < targets.len() {
        S::for_each(targets, codes, |target, weight| {
            let counts = target < node && division.groups[target as usize] == source;
            *inside += weight.only_if(counts);
        });
    }
    filled
}

fn push_loops(loops: &[f64], sorter: &mut Sorter<ArcRecord>) -> Result<()> {
    let mut records = Vec::with_capacity(4096);
    for (group, &weight) in loops.iter().enumerate().filter(|&(_, &weight)| weight > 0.0) {
        let (source, weight) = (group as u32, Weight::new(weight.min(f64::MAX)).code());
        records.push(ArcRecord { source, target: source, weight });
        if records.len() == records.capacity() {
            sorter.push(&records)?;
            records.clear();
        }
    }
    sorter.push(&records)
}

/// Merge of sorted records into the next level, and into the sums of its classes.
struct LevelMerge<'a, O> {
    division: &'a Division<'a>,
    counts: &'a [u32],
    sums: O,
    /// Current group, and the sums of its records.
    group: u32,
    arcs: f64,
    loops: f64,
    cut: f64,
}

impl<O: Sums> LevelMerge<'_, O> {
    fn run(&mut self, mut sorted: Sorted<ArcRecord>, files: &Files, to: &Path) -> Result<()> {
        let group_count = self.division.classes.len() as u32;
        let options = GraphOptions {
            node_count: u64::from(group_count),
            directed: false,
            duplicates: Duplicates::Sum,
            keep_loops: true,
        };
        let mut writer = GraphWriter::create(files, to, &options)?;
        while let Some(block) = sorted.next_block()? {
            writer.push(block)?;
            block.iter().for_each(|record| self.add(record));
        }
        while self.group < group_count {
            self.end_group();
        }
        writer.finish().map(drop)
    }

    #[inline]
    fn add(&mut self, record: &ArcRecord) {
        while self.group < record.source {
            self.end_group();
        }
        let weight = Weight::from_code(record.weight).value();
        if record.target == record.source {
            self.loops += weight;
            return;
        }
        self.arcs += weight;
        let classes = self.division.classes;
        if O::COUNTS_CUTS && classes[record.target as usize] != classes[record.source as usize] {
            self.cut += weight;
        }
    }

    fn end_group(&mut self) {
        let class = self.division.classes[self.group as usize];
        let count = self.counts.get(self.group as usize).copied().unwrap_or(1);
        self.sums.add(class, count, self.arcs + 2.0 * self.loops, self.cut);
        (self.arcs, self.loops, self.cut) = (0.0, 0.0, 0.0);
        self.group += 1;
    }
}
