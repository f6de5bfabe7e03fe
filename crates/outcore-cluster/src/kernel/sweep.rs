//! Schedule of a sweep: many threads move nodes, with the same result as one thread.
//!
//! ```text
//!  for each block of the graph, in order           (blocks depend only on the graph)
//!    divide the block's active nodes into 4 groups by hash
//!    for each group
//!      propose   all threads: best label of each node, given the current labels
//!      confirm   all threads: movers that have a moving neighbor
//!      commit    in order of the nodes: each move that still raises the objective
//!      activate  all threads: the neighbors of nodes that moved
//! ```
//!
//! Moving all nodes at the same time does not converge (on a path, labels chase each other forever), and moving them
//! one by one is serial. With four groups, few movers have moving neighbors; only these are rated again, so the serial
//! part is small. The sweeps end because every commit raises the objective, but for the first ones of label propagation,
//! where nodes draw among equal labels. A choice may depend on the graph, the
//! labels, the seed and the sweep, never on the number of threads, on memory or on timing.

use super::cache::BlockSource;
use super::holdings::{Carries, NoFlow};
use super::nodes::{FREEZE_CHANGES, FREEZE_SWEEP, Nodes, Rules};
use super::objective::{ALONE, Choice, Objective};
use super::propose::{Proposal, ProposeWorker, Round, Tables};
use crate::base::bits::Bits;
use crate::base::hash::{Hash, ORDER, SUB};
use crate::base::parallel::{PerThread, for_pieces, piece_nodes};
use crate::base::table::Sum;
use crate::store::by_node::NodeLabels;
use outcore_graph::{ArcScratch, Block, Graph};
use outcore_io::error::Result;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

/// Number of groups of a block's nodes that move one after the other.
const GROUPS: u8 = 4;
/// Role of a node that does not move now.
const RESTS: u8 = GROUPS;
/// Role of a node about to move in its group.
const MOVES: u8 = GROUPS + 1;
/// Prefetch distance of commits, in members: the data of labels was last used by another thread.
const COMMITS_AHEAD: usize = 16;
/// Degree above which nodes share one large table, so that each thread needs only a small one.
pub const LARGE_DEGREE: u64 = 1 << 16;
/// Maximum number of labels summed together; more are summed in shares.
pub const MOST_LABELS: u64 = 1 << 20;
/// Working memory of the sweeps, independent of the number of nodes.
pub struct SweepBuffers<F = NoFlow> {
    sums: SumBuffers,
    groups: GroupBuffers<F>,
}

/// Sums of the threads: numbers of arcs if all weights are 1, or weights.
enum SumBuffers {
    Counts(ThreadSums<u32>),
    Weights(ThreadSums<f64>),
}

struct ThreadSums<S> {
    workers: PerThread<ProposeWorker<S>>,
    large: Mutex<Tables<S>>,
}

/// Groups of the nodes of a block, and plans of those of one group.
#[derive(Default)]
struct GroupBuffers<F> {
    large_degree: u64,
    roles: Vec<u8>,
    order: Vec<u32>,
    plans: Vec<Proposal<F>>,
}

impl<S: Sum> ThreadSums<S> {
    fn new(max_degree: u64, large_degree: u64, max_labels: u64) -> Self {
        let small = max_degree.min(large_degree) as usize;
        let large = if max_degree > large_degree { max_degree.min(max_labels) } else { 0 };
        Self {
            workers: PerThread::new(|| ProposeWorker::new(small)),
            large: Mutex::new(Tables::new(large as usize)),
        }
    }

    fn bytes(max_degree: u64, max_labels: u64, threads: u64) -> u64 {
        let worker = ProposeWorker::<S>::bytes(max_degree.min(LARGE_DEGREE));
        let large = if max_degree > LARGE_DEGREE { max_degree.min(max_labels) } else { 0 };
        threads * worker + Tables::<S>::bytes(large)
    }
}

impl<F: Carries> SweepBuffers<F> {
    /// Creates the working memory for sweeps of a graph by an objective. Tests lower the limits.
    pub fn new<O: Objective<Flow = F>>(graph: &Graph, large_degree: u64, max_labels: u64) -> Self {
        let max_degree = graph.max_degree();
        let sums = match O::COUNTS_ARCS && !graph.is_weighted() {
            true => SumBuffers::Counts(ThreadSums::new(max_degree, large_degree, max_labels)),
            false => SumBuffers::Weights(ThreadSums::new(max_degree, large_degree, max_labels)),
        };
        Self { sums, groups: GroupBuffers { large_degree, ..GroupBuffers::default() } }
    }

    /// Returns the bytes of the working memory.
    pub fn bytes(
        weighted: bool,
        max_degree: u64,
        max_labels: u64,
        max_nodes: u64,
        threads: u64,
    ) -> u64 {
        let sums = match weighted {
            true => ThreadSums::<f64>::bytes(max_degree, max_labels, threads),
            false => ThreadSums::<u32>::bytes(max_degree, max_labels, threads),
        };
        // Groups are of similar size; for small groups, which vary more, a small part of a block is added.
        let group = max_nodes / u64::from(GROUPS) + max_nodes.min(1 << 12);
        sums + max_nodes * (1 + 4) + group * size_of::<Proposal<F>>() as u64
    }
}

/// Moved nodes and visited arcs of a sweep.
#[derive(Debug, Clone, Copy, Default)]
pub struct Swept {
    /// Number of nodes that moved.
    pub moved: u64,
    /// Number of arcs visited.
    pub arcs: u64,
}

/// Makes one sweep: visits every active node once.
///
/// # Errors
/// Those of reading, and those of `tick`, which is called for each block with the arcs visited so far.
pub fn sweep<O: Objective>(
    graph: &Graph,
    source: &mut BlockSource<'_>,
    nodes: &mut Nodes<'_, O>,
    buffers: &mut SweepBuffers<O::Flow>,
    number: u32,
    mut tick: impl FnMut(u64) -> Result<()>,
) -> Result<Swept> {
    let directed = graph.is_directed();
    nodes.freeze(number);
    let mut swept = Swept::default();
    let active = nodes.active;
    let order = block_order(graph, nodes.shuffled.then_some(nodes.seed), number);
    source.for_each(
        order.iter().map(|&block| block as usize),
        |entry| {
            let first = entry.first_node as usize;
            active.any(first..first + entry.node_count as usize)
        },
        |block| {
            tick(swept.arcs)?;
            let of_block = sweep_block(block, directed, nodes, buffers, number)?;
            swept.moved += of_block.moved;
            swept.arcs += of_block.arcs;
            Ok(())
        },
    )?;
    Ok(swept)
}

/// Returns the order of the blocks in a sweep: that of their hashes with a seed, if there is one.
fn block_order(graph: &Graph, seed: Option<u64>, number: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..graph.blocks().len() as u32).collect();
    if let Some(seed) = seed {
        let hash = Hash::new(seed ^ ORDER);
        let first = |block: u32| u64::from(graph.blocks()[block as usize].first_node);
        order.sort_by_cached_key(|&block| (hash.of(first(block), u64::from(number)), block));
    }
    order
}

/// Moves the active nodes of one block.
///
/// # Errors
/// Those of reading.
pub fn sweep_block<O: Objective, L: NodeLabels + ?Sized>(
    block: &Block,
    directed: bool,
    nodes: &mut Nodes<'_, O, L>,
    buffers: &mut SweepBuffers<O::Flow>,
    number: u32,
) -> Result<Swept> {
    let SweepBuffers { sums, groups } = buffers;
    match sums {
        SumBuffers::Weights(sums) => sweep_groups(block, directed, nodes, sums, groups, number),
        SumBuffers::Counts(sums) => {
            if O::COUNTS_ARCS {
                return sweep_groups(block, directed, nodes, sums, groups, number);
            }
            unreachable!("made for another objective")
        }
    }
}

fn sweep_groups<S: Sum, O: Objective, L: NodeLabels + ?Sized>(
    block: &Block,
    directed: bool,
    nodes: &mut Nodes<'_, O, L>,
    ThreadSums { workers, large }: &ThreadSums<S>,
    groups: &mut GroupBuffers<O::Flow>,
    number: u32,
) -> Result<Swept> {
    let GroupBuffers { large_degree, roles, order, plans } = groups;
    let (active, rules, seed) = (nodes.active, &mut nodes.rules, nodes.seed);
    let bounds = group_nodes(block, active, rules, seed, number, roles, order);
    let largest = bounds.windows(2).map(|bounds| bounds[1] - bounds[0]).max().unwrap_or(0);
    plans.resize(largest.max(plans.len()), Proposal::default());
    let piece = piece_nodes(block.node_count(), block.arc_count());
    let mut swept = Swept::default();
    for group in 0..GROUPS {
        let members = &order[bounds[group as usize]..bounds[group as usize + 1]];
        let plans = &mut plans[..members.len()];
        let round =
            Round { block, roles, group, number, nodes, large, large_degree: *large_degree };
        swept.arcs += for_pieces(members, plans, piece, |members, plans| {
            workers.with(|worker| round.propose(members, plans, worker))
        })?;
        let mut contested = 0;
        for (&local, plan) in members.iter().zip(plans.iter()) {
            if plan.choice.is_some() {
                roles[local as usize] = MOVES;
                contested += usize::from(plan.contested);
            }
        }
        if let Some(piece) = (piece * members.len()).checked_div(contested) {
            // Pieces are larger, since most of their nodes are not rated again.
            for_pieces(members, plans, piece, |members, plans| {
                workers.with(|worker| confirm(block, roles, members, plans, &mut worker.arcs))
            })?;
        }
        let moved = workers.with(|worker| {
            commit::<S, O, L>(block, directed, nodes, number, members, plans, worker)
        })?;
        for (&local, _) in members.iter().zip(plans.iter()) {
            roles[local as usize] = RESTS;
        }
        swept.moved += moved as u64;
        if moved > 0 && !directed && nodes.activates {
            let piece = piece * members.len() / moved;
            for_pieces(members, plans, piece, |members, plans| {
                workers.with(|worker| {
                    activate(block, nodes.labels, nodes.active, members, plans, &mut worker.arcs)
                })
            })?;
        }
    }
    Ok(swept)
}

/// Sorts the block's active nodes by group, in node order within each; returns the bounds of the groups.
fn group_nodes(
    block: &Block,
    active: &Bits,
    rules: &mut Rules<'_>,
    seed: u64,
    number: u32,
    roles: &mut Vec<u8>,
    order: &mut Vec<u32>,
) -> [usize; GROUPS as usize + 1] {
    let first = block.first_node() as usize;
    let hash = Hash::new(seed ^ SUB);
    roles.clear();
    roles.resize(block.node_count(), RESTS);
    let mut counts = [0; GROUPS as usize];
    let is_free = rules.is_free();
    active.for_each(first..first + block.node_count(), |node| {
        if !is_free && !rules.admits(node, number) {
            active.clear(node);
            return;
        }
        let group = (hash.of(node as u64, u64::from(number)) % u64::from(GROUPS)) as u8;
        roles[node - first] = group;
        counts[group as usize] += 1;
    });
    let mut bounds = [0; GROUPS as usize + 1];
    for group in 0..GROUPS as usize {
        bounds[group + 1] = bounds[group] + counts[group];
    }
    order.clear();
    order.resize(bounds[GROUPS as usize], 0);
    let mut next = bounds;
    for (local, &role) in roles.iter().enumerate() {
        if role < GROUPS {
            order[next[role as usize]] = local as u32;
            next[role as usize] += 1;
        }
    }
    bounds
}

/// Determines which contested movers have a moving neighbor.
fn confirm<F>(
    block: &Block,
    roles: &[u8],
    members: &[u32],
    plans: &mut [Proposal<F>],
    arcs: &mut ArcScratch,
) -> Result<u64> {
    for (&local, plan) in members.iter().zip(plans) {
        if plan.contested && plan.choice.is_some() {
            plan.contested = false;
            block.for_each_segment_inline(local as usize, arcs, |targets, _| {
                plan.contested |= targets.iter().any(|&target| {
                    let local = target.wrapping_sub(block.first_node()) as usize;
                    roles.get(local) == Some(&MOVES)
                });
            })?;
        }
    }
    Ok(0)
}

/// Commits the moves that still improve the objective, in node order, and discards the others.
fn commit<S: Sum, O: Objective, L: NodeLabels + ?Sized>(
    block: &Block,
    directed: bool,
    nodes: &mut Nodes<'_, O, L>,
    number: u32,
    members: &[u32],
    plans: &mut [Proposal<O::Flow>],
    worker: &mut ProposeWorker<S>,
) -> Result<usize> {
    let labels = nodes.labels;
    let mut moved = 0;
    for (at, &local) in members.iter().enumerate() {
        if let Some(Proposal { choice: Some(later), .. }) = plans.get(at + COMMITS_AHEAD) {
            let labels = [later.visit.present, later.label];
            labels.into_iter().for_each(|label| nodes.objective.prefetch(label));
            nodes.admission.prefetch_sizes(&labels);
        }
        let plan = &mut plans[at];
        let Some(choice) = &mut plan.choice else { continue };
        let node = block.first_node() + local;
        if plan.contested {
            weigh_again::<S, O, L>(block, local, nodes, choice, worker)?;
        }
        let is_admitted = nodes.admission.admits(&choice.visit, choice.label);
        let improves = is_admitted && choice.improves(&nodes.objective);
        if improves && choice.label == ALONE {
            let Some(label) = nodes.objective.free_label() else {
                plan.choice = None;
                continue;
            };
            choice.label = label;
        }
        if improves {
            nodes.objective.moved(&choice.visit, choice.label, choice.other);
            nodes.admission.moved(&choice.visit, choice.label);
            labels.at(node).store(choice.label, Relaxed);
            nodes.rules.moved(node as usize, choice);
            moved += 1;
            if directed {
                let changes = &mut nodes.changes[node as usize];
                *changes = changes.saturating_add(1);
                if number >= FREEZE_SWEEP && *changes >= FREEZE_CHANGES {
                    nodes.active.clear(node as usize);
                }
            }
        } else {
            // Another label may still be better, so the node is visited again in the next sweep.
            plan.choice = None;
            nodes.active.set(node as usize);
        }
    }
    Ok(moved)
}

/// Weighs the arcs of a contested mover to its present and its new label by the labels that its neighbors have by now.
fn weigh_again<S: Sum, O: Objective, L: NodeLabels + ?Sized>(
    block: &Block,
    local: u32,
    nodes: &Nodes<'_, O, L>,
    choice: &mut Choice<O::Flow>,
    ProposeWorker { arcs, ballot, .. }: &mut ProposeWorker<S>,
) -> Result<()> {
    let labels = nodes.labels;
    let present = labels.at(block.first_node() + local).load(Relaxed);
    let (mut own, mut other, mut nearest) = (S::default(), S::default(), u8::MAX);
    block.for_each_segment_inline(local as usize, arcs, |targets, codes| {
        let (targets, codes) = nodes.votes(targets, codes, ballot);
        S::for_each(targets, codes, |target, weight| {
            let label = labels.at(target).load(Relaxed);
            if label == present {
                own += weight;
            } else if label == choice.label {
                other += weight;
                if O::ATTENUATES {
                    nearest = nearest.min(nodes.hops(target));
                }
            }
        });
    })?;
    (choice.visit.own, choice.other) = (own.value(), other.value());
    choice.hops = nearest.saturating_add(1);
    Ok(())
}

/// Activates the neighbors of moved nodes, except those that already have the new label.
fn activate<F, L: NodeLabels + ?Sized>(
    block: &Block,
    labels: &L,
    active: &Bits,
    members: &[u32],
    plans: &[Proposal<F>],
    arcs: &mut ArcScratch,
) -> Result<u64> {
    for (&local, plan) in members.iter().zip(plans) {
        let Some(choice) = &plan.choice else { continue };
        block.for_each_segment_inline(local as usize, arcs, |targets, _| {
            targets.iter().for_each(|&target| labels.prefetch(target));
            for &target in targets {
                let (node, label) = (target as usize, labels.at(target));
                if !active.get(node) && label.load(Relaxed) != choice.label {
                    active.set(node);
                }
            }
        })?;
    }
    Ok(0)
}
