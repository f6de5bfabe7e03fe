//! Initial communities of a level, with their sums, from one scan.
//!
//! They come from star seeding (see `seeding`), or are single nodes. Labels are dense: the leaders in node
//! order, then the nodes without a leader. When communities are refined, a node follows only a leader of its
//! own community. If the size of communities is limited, followers join in node order as long as the leader's
//! community has room, and the others stay alone; inside a class there is always room.
//!
//! The same scan computes the weight inside each community: both ends of an arc are known once the later of
//! the two nodes has its label. Memory: 4 bytes per node, and the sums.

use crate::base::arcs::add_weights_where;
use crate::base::bits::Bits;
use crate::base::parallel::{PerThread, for_chunks, piece_nodes};
use crate::base::rows::RowsAhead;
use crate::kernel::admission::CommunitySizes;
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::Holdings;
use crate::kernel::objective::Sums;
use crate::kernel::seeding::Stars;
use crate::methods::options::Seeding;
use outcore_graph::{ArcScratch, Block};
use outcore_io::error::Result;
use outcore_io::{prefetch, reserve_large_pages};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Prefetch distance for the labels around a node, in nodes.
const NODES_AHEAD: usize = 3;
/// Prefetch distance for sums, in nodes.
const SUMS_AHEAD: usize = 16;
/// Marker of a node without a leader.
const ALONE: u32 = u32::MAX;

/// Communities, whose number is `count`.
pub(crate) struct Groups {
    pub(crate) labels: Vec<AtomicU32>,
    pub(crate) count: usize,
}

/// Contribution of a node.
#[derive(Clone, Copy, Default)]
pub(crate) struct Contribution {
    label: u32,
    arcs: f64,
    /// Weight of its arcs to earlier nodes of the same community.
    earlier: f64,
}

/// Sums of communities as scans of a level see them, so that scans are compiled once for all objectives.
pub(crate) trait CommunitySums: Send {
    /// Returns whether they need cuts.
    fn needs_cuts(&self) -> bool;
    /// Returns the flow of each of `count` groups, summed over its nodes, as far as the objective uses flow.
    fn carried(&self, holdings: &Holdings, groups: &[u32], count: usize) -> Holdings;
    /// Adds a node to a community; `cut` is the change in the weight of the arcs that leave communities.
    fn add_node(&mut self, label: u32, holdings: &Holdings, node: usize, strength: f64, cut: f64);
    /// Adds all nodes of a block.
    fn add_block(&mut self, block: &Block, holdings: &Holdings, found: &[Contribution]);
    /// Finishes the sums after the last node was added.
    fn finish(&mut self);
}

impl<O: Sums> CommunitySums for O {
    fn needs_cuts(&self) -> bool {
        O::COUNTS_CUTS
    }
    fn carried(&self, holdings: &Holdings, groups: &[u32], count: usize) -> Holdings {
        holdings.grouped::<O::Flow>(groups, count)
    }
    fn add_node(&mut self, label: u32, holdings: &Holdings, node: usize, strength: f64, cut: f64) {
        self.add(label, holdings.of::<O::Flow>(node), strength, cut);
    }

    fn add_block(&mut self, block: &Block, holdings: &Holdings, found: &[Contribution]) {
        let first = block.first_node() as usize;
        for (local, node) in found.iter().enumerate() {
            // Access is random, and one thread adds all nodes, so sums are prefetched.
            if let Some(later) = found.get(local + SUMS_AHEAD) {
                self.prefetch(later.label);
            }
            let strength = node.arcs + 2.0 * block.self_loop(local);
            let held = holdings.of::<O::Flow>(first + local);
            self.add(node.label, held, strength, node.arcs - 2.0 * node.earlier);
        }
    }

    fn finish(&mut self) {
        self.complete();
    }
}

/// Choice of the initial communities.
pub(crate) struct FirstGroups<'a> {
    pub(crate) start: Seeding,
    pub(crate) seed: u64,
    /// Class of each node, if only nodes of the same class can be together.
    pub(crate) classes: Option<&'a [AtomicU32]>,
    /// Maximum number of input nodes in a community, if limited.
    pub(crate) most: Option<u32>,
}

/// Creates the initial communities, and adds their nodes to empty sums.
///
/// # Errors
/// Those of reading, and of `tick`, which is called for each block.
pub(crate) fn first_groups(
    source: &mut BlockSource<'_>,
    holdings: &Holdings,
    choice: FirstGroups<'_>,
    sums: &mut dyn CommunitySums,
    tick: &dyn Fn() -> Result<()>,
) -> Result<Groups> {
    let FirstGroups { start, seed, classes, most } = choice;
    let node_count = source.graph().node_count() as usize;
    let leads = Bits::new(node_count, false);
    let stars = match start {
        Seeding::Star => Stars::choose(&leads, node_count, seed),
        Seeding::Own => Stars { leads: &leads, seed, least: 0.0 },
    };
    let (labels, mut next) = leader_labels(&leads, node_count);
    let count_of = |node: usize| holdings.count(node);
    let most = most.filter(|_| classes.is_none());
    let mut sizes = leader_sizes(&leads, &labels, most, count_of);
    let scratch = PerThread::new(RowsAhead::default);
    let mut found = Vec::new();
    source.for_all(|block| {
        tick()?;
        let (first, count) = (block.first_node() as usize, block.node_count());
        let piece = piece_nodes(count, block.arc_count());
        found.clear();
        found.resize(count, Contribution::default());
        for_chunks(&mut found, piece, |begin, found| {
            scratch.with(|rows| {
                for (local, found) in (begin..).zip(found) {
                    *found = follow(block, local, stars, &labels, classes, &mut rows.arcs)?;
                }
                Ok(())
            })
        })?;
        for (node, found) in (first..).zip(&mut found) {
            let is_led = found.label != ALONE && !leads.get(node);
            if found.label == ALONE || is_led && !sizes.take(found.label, count_of(node)) {
                found.label = next;
                next += 1;
            }
            labels[node].store(found.label, Relaxed);
        }
        if sums.needs_cuts() {
            for_chunks(&mut found, piece, |begin, found| {
                scratch.with(|rows| earlier(block, begin, &labels, found, rows))
            })?;
        }
        sums.add_block(block, holdings, &found);
        Ok(())
    })?;
    sums.finish();
    Ok(Groups { labels, count: next as usize })
}

/// Divides the communities with `examined` labels into stars: leaders, and the nodes that follow them inside their
/// community. Returns the group of each node, and the number of the last group, which holds all nodes of other
/// communities.
///
/// # Errors
/// Those of reading, and of `tick`, which is called for each block.
pub(crate) fn stars_inside(
    source: &mut BlockSource<'_>,
    labels: &[AtomicU32],
    examined: &Bits,
    seed: u64,
    tick: &dyn Fn() -> Result<()>,
) -> Result<(Vec<u32>, u32)> {
    let leads = Bits::new(labels.len(), false);
    let stars = Stars::choose(&leads, labels.len(), seed);
    let label = |node: usize| labels[node].load(Relaxed);
    let is_examined = |node: usize| examined.get(label(node) as usize);
    let (mut groups, mut next) = (vec![ALONE; labels.len()], 0);
    leads.for_each(0..labels.len(), |node| {
        if is_examined(node) {
            groups[node] = next;
            next += 1;
        }
    });
    let scratch = PerThread::new(ArcScratch::default);
    let mut leaders = Vec::new();
    source.for_each(
        0..source.graph().blocks().len(),
        |entry| {
            let first = entry.first_node as usize;
            (first..first + entry.node_count as usize).any(is_examined)
        },
        |block| {
            tick()?;
            let first = block.first_node() as usize;
            let piece = piece_nodes(block.node_count(), block.arc_count());
            leaders.clear();
            leaders.resize(block.node_count(), None);
            for_chunks(&mut leaders, piece, |begin, leaders| {
                scratch.with(|scratch| {
                    for (local, leader) in (begin..).zip(leaders) {
                        let node = first + local;
                        if is_examined(node) && !stars.leads.get(node) {
                            let own = label(node);
                            let may = |target: u32| label(target as usize) == own;
                            *leader = stars.leader(block, local, scratch, may)?.0;
                        }
                    }
                    Ok(())
                })
            })?;
            for (node, leader) in (first..).zip(&leaders) {
                if let Some(leader) = leader {
                    groups[node] = groups[*leader as usize];
                } else if is_examined(node) && !leads.get(node) {
                    groups[node] = next;
                    next += 1;
                }
            }
            Ok(())
        },
    )?;
    groups.iter_mut().filter(|group| **group == ALONE).for_each(|group| *group = next);
    Ok((groups, next))
}

/// Adds the nodes of a level, divided into communities by `labels`, to empty sums; returns the weight of the arcs inside
/// communities, with loops counted twice. Marks the nodes with more weight to other communities than to their own, if
/// `doubted` is given. Takes one scan.
///
/// # Errors
/// Those of reading, and of `tick`, which is called for each block.
pub(crate) fn add_all(
    source: &mut BlockSource<'_>,
    holdings: &Holdings,
    labels: &[AtomicU32],
    doubted: Option<&Bits>,
    sums: &mut dyn CommunitySums,
    tick: &dyn Fn() -> Result<()>,
) -> Result<f64> {
    let mut inside = 0.0;
    let rows = PerThread::new(RowsAhead::default);
    let mut found = Vec::new();
    source.for_all(|block| {
        tick()?;
        let count = block.node_count();
        let piece = piece_nodes(count, block.arc_count());
        found.clear();
        found.resize(count, Contribution::default());
        for_chunks(&mut found, piece, |begin, found| {
            rows.with(|rows| contributions(block, begin, labels, doubted, found, rows))
        })?;
        sums.add_block(block, holdings, &found);
        let nodes = found.iter().enumerate();
        nodes.for_each(|(local, node)| inside += 2.0 * (node.earlier + block.self_loop(local)));
        Ok(())
    })?;
    sums.finish();
    Ok(inside)
}

/// Computes the contributions of consecutive nodes with labels. Marks those with more weight to other communities than to
/// their own, if `doubted` is given.
fn contributions(
    block: &Block,
    begin: usize,
    labels: &[AtomicU32],
    doubted: Option<&Bits>,
    found: &mut [Contribution],
    rows: &mut RowsAhead,
) -> Result<()> {
    let fetch = |_, targets: &[u32]| {
        targets.iter().for_each(|&target| prefetch(labels, target as usize));
    };
    let mut sums = [0.0; 3];
    rows.for_each(block, begin..begin + found.len(), fetch, |part| {
        let node = block.first_node() + part.local as u32;
        let label = labels[node as usize].load(Relaxed);
        add_weights_where(&mut sums, part.targets, part.codes, |target| {
            let is_own = labels[target as usize].load(Relaxed) == label;
            [true, is_own, is_own && target < node]
        });
        if part.ends {
            let [arcs, own, earlier] = std::mem::take(&mut sums);
            found[part.local - begin] = Contribution { label, arcs, earlier };
            if let Some(doubted) = doubted.filter(|_| 2.0 * own < arcs) {
                doubted.set(node as usize);
            }
        }
        Ok(())
    })
}

/// Numbers the leaders; the other nodes remain unlabeled.
fn leader_labels(leads: &Bits, node_count: usize) -> (Vec<AtomicU32>, u32) {
    let mut labels: Vec<AtomicU32> = reserve_large_pages(node_count);
    labels.resize_with(node_count, || AtomicU32::new(ALONE));
    let mut next = 0;
    leads.for_each(0..node_count, |node| {
        labels[node].store(next, Relaxed);
        next += 1;
    });
    (labels, next)
}

/// Returns the sizes of the communities, each with only its leader, if sizes are limited.
fn leader_sizes(
    leads: &Bits,
    labels: &[AtomicU32],
    most: Option<u32>,
    count_of: impl Fn(usize) -> u32,
) -> CommunitySizes {
    let mut sizes = CommunitySizes::new(most, 0);
    if most.is_some() {
        leads.for_each(0..labels.len(), |node| {
            sizes.add(labels[node].load(Relaxed), count_of(node));
        });
    }
    sizes
}

fn follow(
    block: &Block,
    local: usize,
    stars: Stars<'_>,
    labels: &[AtomicU32],
    classes: Option<&[AtomicU32]>,
    scratch: &mut ArcScratch,
) -> Result<Contribution> {
    let node = block.first_node() as usize + local;
    let (leader, arcs) = match classes {
        None => stars.leader(block, local, scratch, |_| true),
        Some(classes) => {
            let later = block.targets_ahead(local + NODES_AHEAD);
            later.iter().for_each(|&target| prefetch(classes, target as usize));
            let class = |node: usize| classes[node].load(Relaxed);
            let own = class(node);
            stars.leader(block, local, scratch, |target| class(target as usize) == own)
        }
    }?;
    // A leader already has its label.
    let label = labels[leader.map_or(node, |leader| leader as usize)].load(Relaxed);
    Ok(Contribution { label, arcs, earlier: 0.0 })
}

/// Computes the weight of the arcs of consecutive nodes to earlier nodes of the same community.
fn earlier(
    block: &Block,
    begin: usize,
    labels: &[AtomicU32],
    found: &mut [Contribution],
    rows: &mut RowsAhead,
) -> Result<()> {
    let first = block.first_node();
    let fetch = |local, targets: &[u32]| {
        let node = first + local as u32;
        let known = targets.iter().take_while(|&&target| target < node);
        known.for_each(|&target| prefetch(labels, target as usize));
    };
    let mut earlier = [0.0];
    rows.for_each(block, begin..begin + found.len(), fetch, |part| {
        let node = first + part.local as u32;
        let label = labels[node as usize].load(Relaxed);
        add_weights_where(&mut earlier, part.targets, part.codes, |target| {
            [target < node && labels[target as usize].load(Relaxed) == label]
        });
        if part.ends {
            [found[part.local - begin].earlier] = std::mem::take(&mut earlier);
        }
        Ok(())
    })
}
