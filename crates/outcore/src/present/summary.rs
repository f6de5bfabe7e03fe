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
use super::presentation_rows::{NamePiece, for_each_name, sort_names};
use super::representatives::{BySize, Inside};
use super::{CommunityReport, LargestReport, Outline};
use crate::cluster::base::parallel::PerThread;
use crate::cluster::base::rows::RowsAhead;
use crate::cluster::conductance;
use crate::cluster::finish::portions::push_arcs;
use crate::error::Result;
use crate::graph::{ArcRecord, Block, Graph, NameType};
use crate::io::{SharesScan, prefetch};
use crate::output::{OutputColumn, Value, ValueKind};
use crate::sort::{Sorted, Sorter};
use crate::weight::Weight;
use std::iter::repeat;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

impl CommunityReport {
    pub(crate) fn columns(has_stability: bool, names: NameType) -> Vec<OutputColumn> {
        use ValueKind::{Number, Real, Text};
        let mut columns = vec![
            OutputColumn::new("community", Number),
            OutputColumn::new("size", Number),
            OutputColumn::of_nodes("representative", names, Text),
            OutputColumn::new("inner_edges", Number),
            OutputColumn::new("inner_weight", Real),
            OutputColumn::new("outer_weight", Real),
            OutputColumn::new("density", Real).optional(),
            OutputColumn::new("conductance", Real).optional(),
        ];
        columns.extend(has_stability.then(|| OutputColumn::new("stability", Real)));
        columns.push(OutputColumn::new("neighbor", Number).optional());
        columns.push(OutputColumn::new("neighbor_weight", Real).optional());
        columns
    }

    /// Returns the values in them of a community with this representative.
    pub(crate) fn values<'a>(&self, representative: &'a [u8]) -> impl Iterator<Item = Value<'a>> {
        let weight = |value: Option<f64>| value.map_or(Value::None, Value::Weight);
        let first = [
            Value::Number(self.community),
            Value::Number(self.size),
            Value::Name(representative),
            Value::Number(self.inner_edges),
            Value::Weight(self.inner_weight),
            Value::Weight(self.outer_weight),
            weight(self.density),
            weight(self.conductance),
        ];
        let neighbor = self.neighbor.map_or(Value::None, Value::Number);
        let last = [neighbor, weight(self.neighbor_weight)];
        first.into_iter().chain(self.stability.map(Value::Share)).chain(last)
    }
}

/// Sums of communities, and arcs between them.
pub(crate) struct Sums<'a> {
    labels: &'a [u32],
    is_directed: bool,
    /// Number of communities with a row: the first by label.
    listed: u32,
    outline: Option<Outline>,
    /// Weight inside each of them: of both ends of an edge if the graph is undirected.
    inside: Vec<f64>,
    /// Arcs inside each of them with more than one node, without loops.
    arcs: Vec<AtomicU64>,
    /// Strength of all nodes.
    total: f64,
    sorter: Sorter<ArcRecord>,
    rows: PerThread<RowsAhead>,
}

impl<'a> Sums<'a> {
    /// Prepares rows of the first communities by label, and an outline of some of these.
    pub(crate) fn new(
        bench: &Workbench<'_>,
        graph: &Graph,
        presented: &'a Presented,
        listed: u32,
        outlined: Option<u32>,
    ) -> Result<Self> {
        let shared = presented.shared_count().min(listed as usize);
        Ok(Self {
            listed,
            outline: outlined.map(Outline::new),
            labels: presented.labels(),
            is_directed: graph.is_directed(),
            inside: vec![0.0; listed as usize],
            arcs: (0..shared).map(|_| AtomicU64::new(0)).collect(),
            total: 0.0,
            sorter: bench.sorter(2)?,
            rows: PerThread::new(RowsAhead::default),
        })
    }

    /// Returns the memory in addition to that of representatives, the labels and the budget.
    pub(crate) fn bytes(presented: &Presented, has_stability: bool) -> u64 {
        let reals = if has_stability { 2 } else { 1 };
        8 * (reals * presented.community_count() + presented.shared_count() as u64)
    }

    /// Adds the arcs of a block.
    pub(super) fn add_arcs(&mut self, block: &Block) -> Result<()> {
        let Self { labels, is_directed, listed, arcs, sorter, rows, .. } = self;
        // Directions do not count, so an arc of a directed graph counts at both of its ends.
        let ends = if *is_directed { 2 } else { 1 };
        let fetch = |_, targets: &[u32]| {
            targets.iter().for_each(|&target| prefetch(labels, target as usize));
        };
        push_arcs(block, ends, sorter, rows, fetch, |node, targets, codes, out| {
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
                    filled += usize::from(source < *listed);
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
        let label = self.labels[node as usize];
        self.total += strength;
        if let Some(sum) = self.inside.get_mut(label as usize) {
            *sum += inside;
        }
    }

    /// Adds the weight from a node to others in its community. Nodes come in order.
    pub(super) fn add_member(&mut self, node: u32, others: f64) {
        if let Some(outline) = &mut self.outline {
            outline.add_node(node, self.labels[node as usize], others);
        }
    }

    /// Passes each community, without names, and its representative to `take`; returns the outline.
    ///
    /// # Errors
    /// `CorruptFile`, `MemoryTooSmall`, `Io`, `DiskFull`, `Interrupted`; those of `take`.
    pub(crate) fn for_each_row(
        mut self,
        bench: &Workbench<'_>,
        graph: &Graph,
        presented: &Presented,
        inside: &Inside,
        stability: Option<SharesScan<'_, u32>>,
        mut take: impl FnMut(&CommunityReport, &[u8]) -> Result<()>,
    ) -> Result<Option<LargestReport>> {
        let sizes = BySize::new(presented);
        let stability = stability.map(|scan| self.stability(scan)).transpose()?;
        let places = self.labels.iter().zip(0..).map(|(&label, node)| {
            let stands = label < self.listed && inside.stands(node, label);
            Ok(stands.then(|| NamePiece::at(label.into(), 0, 0.0)))
        });
        let done = graph.arc_count();
        let names = sort_names(bench, graph, places, done, 2)?;
        let ends = if self.is_directed { 1.0 } else { 2.0 };
        let total = self.total * if self.is_directed { 2.0 } else { 1.0 };
        let mut outline = self.outline.take();
        let linked = outline.as_ref().map_or(0, Outline::count);
        let mut between = Between::new(self.sorter.finish()?, linked);
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
            let row = CommunityReport {
                community: presented.number_of(label),
                size,
                representative: String::new(),
                members: Vec::new(),
                inner_edges,
                inner_weight,
                outer_weight,
                density: (size > 1).then(|| inner_edges as f64 / pairs),
                conductance: conductance(outer_weight, volume, total),
                stability: stability.as_ref().map(|sums| sums[label as usize] / size as f64),
                neighbor: neighbor.map(|(label, _)| presented.number_of(label)),
                neighbor_weight: neighbor.map(|(_, weight)| weight),
            };
            if let Some(outline) = &mut outline {
                outline.push(&row, name, label, &between.links);
            }
            take(&row, name)
        })?;
        outline.map(|outline| outline.finish(graph, presented)).transpose()
    }

    /// Returns the sum of the stability of the nodes of each community.
    fn stability(&self, mut scan: SharesScan<'_, u32>) -> Result<Vec<f64>> {
        let mut sums = vec![0.0; self.listed as usize];
        for &label in self.labels {
            let stability = scan.next()?.unwrap_or(0.0);
            if let Some(sum) = sums.get_mut(label as usize) {
                *sum += stability;
            }
        }
        Ok(sums)
    }
}

/// Arcs between communities, sorted by pair.
struct Between {
    sorted: Sorted<ArcRecord>,
    /// Weights from the last community to those with labels below `linked`.
    links: Vec<(u32, f64)>,
    linked: u32,
}

impl Between {
    fn new(sorted: Sorted<ArcRecord>, linked: u32) -> Self {
        Self { sorted, links: Vec::new(), linked }
    }

    /// Returns the weight from a community to others, and the one to which most of it leads: the first of them if
    /// several do. Must be called in the order of labels.
    fn next_of(&mut self, label: u32) -> Result<(f64, Option<(u32, f64)>)> {
        let (mut outer, mut largest) = (0.0, None::<(u32, f64)>);
        let value = |arc: ArcRecord| Weight::from_code(arc.weight).value();
        self.links.clear();
        while let Some(first) = self.sorted.next_if(|arc| arc.source <= label)? {
            let (target, mut weight) = (first.target, value(first));
            let is_same = |arc: &ArcRecord| arc.source <= label && arc.target == target;
            while let Some(arc) = self.sorted.next_if(is_same)? {
                weight += value(arc);
            }
            outer += weight;
            if target < self.linked {
                self.links.push((target, weight));
            }
            let is_larger = largest.is_none_or(|(_, most)| weight > most);
            if target != Presented::NONE && is_larger {
                largest = Some((target, weight));
            }
        }
        Ok((outer, largest))
    }
}
