//! Table of communities: size, representative, weights inside and to the outside, and the largest neighbor of each.
//!
//! ```text
//!  scan --sums by community-----------------------------.
//!       `--arcs between communities--sort--> by pair ----> rows, largest community first
//!  names of representatives ------------sort------------'
//! ```
//!
//! The scan is the one that finds representatives. Cost: 12 bytes per arc between communities through the sort (about 6
//! on disk). Memory in addition to that of representatives: 8 bytes per community, 8 per community of more than one node,
//! 8 per community for the stability, and the budgets of two sorts. Sums are made in node order, and are the same for every
//! limit and number of threads.

use super::Presented;
use super::matching::Workbench;
use super::representatives::{BySize, Inside, for_each_name, sort_names};
use crate::cluster::StabilityScan;
use crate::cluster::base::parallel::PerThread;
use crate::cluster::finish::portions::push_arcs;
use crate::error::Result;
use crate::graph::{ArcRecord, ArcScratch, Block, Graph};
use crate::output::{SummaryRow, SummaryWriter};
use crate::sort::{Sorted, Sorter};
use crate::weight::Weight;
use std::iter::repeat;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Sums of communities, and arcs between them.
pub(crate) struct Sums<'a> {
    labels: &'a [u32],
    is_directed: bool,
    /// Weight inside each community: of both ends of an edge if the graph is undirected.
    inside: Vec<f64>,
    /// Arcs inside each community of more than one node, without loops.
    arcs: Vec<AtomicU64>,
    /// Strength of all nodes.
    total: f64,
    sorter: Sorter<ArcRecord>,
    scratch: PerThread<ArcScratch>,
}

impl<'a> Sums<'a> {
    pub(crate) fn new(
        bench: &Workbench<'_>,
        graph: &Graph,
        presented: &'a Presented,
    ) -> Result<Self> {
        let count = presented.shared_count();
        Ok(Self {
            labels: presented.labels(),
            is_directed: graph.is_directed(),
            inside: vec![0.0; presented.community_count() as usize],
            arcs: (0..count).map(|_| AtomicU64::new(0)).collect(),
            total: 0.0,
            sorter: bench.sorter(2)?,
            scratch: PerThread::new(ArcScratch::default),
        })
    }

    /// Returns the memory in addition to that of representatives, the labels and the budget.
    pub(crate) fn bytes(presented: &Presented, has_stability: bool) -> u64 {
        let reals = if has_stability { 2 } else { 1 };
        8 * (reals * presented.community_count() + presented.shared_count() as u64)
    }

    /// Adds the arcs of a block.
    pub(super) fn add_arcs(&mut self, block: &Block) -> Result<()> {
        let Self { labels, is_directed, arcs, sorter, scratch, .. } = self;
        // Directions do not count: each arc of a directed graph is at both of its ends.
        let ends = if *is_directed { 2 } else { 1 };
        push_arcs(block, ends, sorter, scratch, |node, targets, codes, out| {
            let source = labels[node as usize];
            let (mut filled, mut inside) = (0, 0);
            let codes = codes.iter().copied().chain(repeat(Weight::ONE.code()));
            for (&there, weight) in targets.iter().zip(codes) {
                let target = labels[there as usize];
                if target == source {
                    inside += u64::from(there != node);
                    continue;
                }
                let both = [(source, target), (target, source)];
                for (source, target) in both.into_iter().take(ends) {
                    out[filled] = ArcRecord { source, target, weight };
                    filled += usize::from(source != Presented::NONE);
                }
            }
            if let Some(arcs) = arcs.get(source as usize) {
                arcs.fetch_add(inside, Relaxed);
            }
            filled
        })
    }

    /// Adds the weight of a node's arcs, all of them and those inside its community.
    pub(super) fn add_node(&mut self, node: u32, strength: f64, inside: f64) {
        self.total += strength;
        if let Some(sum) = self.inside.get_mut(self.labels[node as usize] as usize) {
            *sum += inside;
        }
    }

    /// Writes a row for each community to `output`, and returns the length of the file in bytes.
    ///
    /// # Errors
    /// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`.
    pub(crate) fn write(
        self,
        bench: &Workbench<'_>,
        graph: &Graph,
        (presented, inside): (&Presented, &Inside),
        stability: Option<StabilityScan<'_>>,
        output: &Path,
    ) -> Result<u64> {
        let sizes = BySize::new(presented);
        let stability = stability.map(|scan| mean_stability(scan, presented)).transpose()?;
        let mut writer = SummaryWriter::create(bench.files, output, stability.is_some())?;
        let numbers = presented.labels().iter().zip(0..).map(|(&label, node)| {
            let stands = label != Presented::NONE && inside.stands(node, label);
            Ok(stands.then_some((u64::from(label), 0, 0)))
        });
        let done = graph.arc_count();
        let names = sort_names(bench, graph, numbers, (done, 2))?;
        let ends = if self.is_directed { 1.0 } else { 2.0 };
        let total = self.total * if self.is_directed { 2.0 } else { 1.0 };
        let mut between = Between::new(self.sorter.finish()?);
        for_each_name(bench, names, done, |piece, name| {
            let label = piece.number as u32;
            let size = u64::from(sizes.of(label));
            let inner_edges = match self.arcs.get(label as usize) {
                Some(arcs) => arcs.load(Relaxed) / ends as u64,
                None => 0,
            };
            let inner_weight = self.inside.get(label as usize).copied().unwrap_or(0.0) / ends;
            let (outer_weight, neighbor) = between.next_of(label)?;
            let pairs = size as f64 * (size - 1) as f64 / ends;
            let volume = 2.0 * inner_weight + outer_weight;
            let smaller = volume.min(total - volume);
            writer.push(&SummaryRow {
                community: presented.number_of(label),
                size,
                representative: name,
                inner_edges,
                inner_weight,
                outer_weight,
                density: (size > 1).then(|| inner_edges as f64 / pairs),
                conductance: (smaller > 0.0).then(|| outer_weight / smaller),
                stability: stability.as_ref().map(|means| means[label as usize] / size as f64),
                neighbor: neighbor.map(|(label, weight)| (presented.number_of(label), weight)),
            })
        })?;
        writer.finish()
    }
}

/// Returns the sum of the stability of the nodes of each community.
fn mean_stability(mut scan: StabilityScan<'_>, presented: &Presented) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; presented.community_count() as usize];
    for &label in presented.labels() {
        let stability = scan.next()?.unwrap_or(0.0);
        if let Some(sum) = sums.get_mut(label as usize) {
            *sum += stability;
        }
    }
    Ok(sums)
}

/// Arcs between communities, sorted by pair.
struct Between {
    sorted: Sorted<ArcRecord>,
    /// Records not yet passed on, from `at` on.
    records: Vec<ArcRecord>,
    at: usize,
}

impl Between {
    fn new(sorted: Sorted<ArcRecord>) -> Self {
        Self { sorted, records: Vec::new(), at: 0 }
    }

    fn peek(&mut self) -> Result<Option<ArcRecord>> {
        if self.at == self.records.len() {
            let Some(block) = self.sorted.next_block()? else { return Ok(None) };
            self.records.clear();
            self.records.extend_from_slice(block);
            self.at = 0;
        }
        Ok(self.records.get(self.at).copied())
    }

    /// Returns the weight from a community to others, and the one to which most of it leads: the first of them if several
    /// do. Communities are asked for in order of their labels.
    fn next_of(&mut self, label: u32) -> Result<(f64, Option<(u32, f64)>)> {
        let (mut outer, mut largest) = (0.0, None);
        let mut current: Option<(u32, f64)> = None;
        let mut close = |pair: Option<(u32, f64)>| {
            let Some((target, weight)) = pair else { return };
            outer += weight;
            let is_larger = largest.is_none_or(|(_, most)| weight > most);
            if target != Presented::NONE && is_larger {
                largest = Some((target, weight));
            }
        };
        while let Some(record) = self.peek()?.filter(|record| record.source <= label) {
            self.at += 1;
            let weight = Weight::from_code(record.weight).value();
            match &mut current {
                Some((target, sum)) if *target == record.target => *sum += weight,
                _ => close(current.replace((record.target, weight))),
            }
        }
        close(current);
        Ok((outer, largest))
    }
}
