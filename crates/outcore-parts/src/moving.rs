//! Local moving over parts, for modularity and the map equation.
//!
//! The sums of a community are distributed over parts, so a sweep takes three rounds:
//!
//! ```text
//!  tally  every part sends the contributions of its nodes to the sums of the communities that it sees; those of a
//!         community go to its owner, the part that has the node of the same number
//!  share  every owner sends the sums of a community to the parts that see it
//!  shift  every part moves its nodes and sends the new labels to the parts of their neighbors
//! ```
//!
//! The engine processes blocks one after the other, and every move takes effect immediately. Here all blocks start from
//! the labels and sums before the sweep, whichever part they are in: the result depends on the graph and not on its
//! parts, and no part waits for another; but nodes of different blocks may move on outdated sums, and the objective may
//! get worse. Within a block, moves take effect immediately. Half of the nodes, chosen by chance, may move in a sweep, and
//! the others in the next one: otherwise two neighbors may take each other's label forever, and sweeps do not converge. (Blocks
//! in parallel from the previous sums: Lu, Halappanavar and Kalyanaraman, "Parallel heuristics for scalable community
//! detection", 2015.)
//!
//! Memory of a part in addition to its arcs and labels: per community that it sees, 4 bytes and twice its sums (16 for
//! modularity, 48 for the map equation); 16 bytes per node of the part while it holds sums as an owner. Cost: two scans
//! of the arcs.

use super::propagate::Seen;
use super::words::{Words, pairs_of_f64, put, put_bytes};
use super::{Labeled, Message, Part, damaged};
use outcore_cluster::base::bits::Bits;
use outcore_cluster::base::hash::{Hash, TURN};
use outcore_cluster::base::logarithm::plogp;
use outcore_cluster::base::parallel::PerThread;
use outcore_cluster::finish::connect::{Closing, NodeSums, Pieces, block_sums};
use outcore_cluster::kernel::admission::Admission;
use outcore_cluster::kernel::holdings::{Holding, NO_HOLDINGS, NoFlow, NodeFlow};
use outcore_cluster::kernel::nodes::{Nodes, Rules};
use outcore_cluster::kernel::objective::Revert;
use outcore_cluster::kernel::sweep::{LARGE_DEGREE, MOST_LABELS, SweepBuffers, sweep_block};
use outcore_cluster::objectives::map_equation::{CodeLength, NoRule};
use outcore_cluster::objectives::modularity::{Density, Null};
use outcore_cluster::store::by_node::NodeLabels;
use outcore_io::Result;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Strength of a community and weight of the arcs that leave it.
type Sums = [f64; 2];

/// Objective of the moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// Code length of the map equation.
    MapEquation,
    /// Modularity with this resolution.
    Modularity(f64),
}

/// Totals over the nodes of a part, or of all parts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// Strength of the nodes.
    pub strength: f64,
    /// Weight of the arcs that leave their communities.
    pub cut: f64,
    /// Sum of strength x log2(strength) over nodes, which the code length needs.
    pub logs: f64,
}

/// Parameters of a sweep of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Objective of the sweep.
    pub aim: Aim,
    /// Seed of random choices.
    pub seed: u64,
    /// Number of the sweep.
    pub number: u32,
    /// Total strength and total cut of all communities, summed over the [`Totals`] of all parts.
    pub totals: [f64; 2],
}

impl Shift {
    /// Returns whether a node may move in this sweep: every node may in one of two sweeps, by chance.
    fn is_turn_of(&self, node: u32) -> bool {
        let coin = Hash::new(self.seed ^ TURN).of(node.into(), (self.number / 2).into());
        (coin as u32 ^ self.number) & 1 == 0
    }
}

/// Counters of a sweep of a part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shifted {
    /// Number of nodes that have moved.
    pub moved: u64,
    /// Number of arcs visited.
    pub arcs: u64,
}

/// Labels that a block sees, as places in `seen`: current labels of its own nodes, previous labels of others.
struct Moving<'a> {
    first: u32,
    moving: &'a [AtomicU32],
    before: Seen<'a>,
    seen: &'a [u32],
}

impl NodeLabels for Moving<'_> {
    #[inline]
    fn at(&self, node: u32) -> &AtomicU32 {
        match self.moving.get(node.wrapping_sub(self.first) as usize) {
            Some(label) => label,
            None => self.before.at(node),
        }
    }
    #[inline]
    fn name(&self, label: u32) -> u32 {
        self.seen[label as usize]
    }
}

impl Part {
    /// Returns the messages to the owners of communities, with the contributions of this part's nodes and the
    /// communities that it sees, and the totals over its nodes.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn tally(&self, labels: &Labeled) -> Result<(Vec<Message>, Totals)> {
        let seen = labels.seen();
        let mut sums = vec![Sums::default(); seen.len()];
        let mut all = Totals::default();
        let mut add = |node: u32, [strength, cut]: Sums| {
            if let Ok(at) = seen.binary_search(&labels.own_label(node)) {
                sums[at] = [sums[at][0] + strength, sums[at][1] + cut];
                all.strength += strength;
                all.cut += cut;
                all.logs += plogp(strength);
            }
        };
        self.node_sums(labels, &mut add)?;
        if seen.last().is_some_and(|&label| label >= self.node_count()) {
            return Err(damaged("a label is not a node"));
        }
        let (mut messages, mut begin) = (Vec::new(), 0);
        while let Some(&label) = seen.get(begin) {
            let part = self.owner(label);
            let end = seen.partition_point(|&label| label < self.bounds[part + 1]);
            let mut bytes = Vec::new();
            put(&seen[begin..end], &mut bytes);
            let added = sums[begin..end].as_flattened().iter();
            put_bytes(&added.flat_map(|sum| sum.to_le_bytes()).collect::<Vec<_>>(), &mut bytes);
            messages.push(Message { part: part as u32, bytes });
            begin = end;
        }
        Ok((messages, all))
    }

    /// Calls `add` with the strength of each node, loops counted as set, and the weight of its arcs that leave its community.
    fn node_sums(&self, labels: &Labeled, mut add: impl FnMut(u32, Sums)) -> Result<()> {
        let scratch = PerThread::new(Closing::default);
        let mut found: Vec<NodeSums> = Vec::new();
        self.for_blocks(
            |_| true,
            |block| {
                let pieces = None::<&Pieces>;
                block_sums(block, false, labels, pieces, &scratch, &mut found)?;
                for (node, sums) in (block.first_node()..).zip(&found) {
                    add(node, [sums.visits, sums.cut]);
                }
                Ok(())
            },
        )
    }

    /// Sums the contributions to the communities that it owns; returns the replies to the parts that see them.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn share(&self, messages: Vec<Message>) -> Result<Vec<Message>> {
        let nodes = self.nodes();
        let mut sums = vec![Sums::default(); nodes.len()];
        let mut asked = Vec::new();
        for Message { part, bytes } in messages {
            let mut from = Words(&bytes);
            let labels = from.next()?;
            let added = pairs_of_f64(from.bytes()?)?;
            if added.len() != labels.len() || !labels.iter().all(|label| nodes.contains(label)) {
                return Err(damaged("sums are of other communities"));
            }
            for (label, [strength, cut]) in labels.iter().zip(added) {
                let sums = &mut sums[(label - nodes.start) as usize];
                *sums = [sums[0] + strength, sums[1] + cut];
            }
            asked.push((part, labels));
        }
        let reply = |(part, labels): (u32, Vec<u32>)| {
            let sums = labels.iter().flat_map(|label| sums[(label - nodes.start) as usize]);
            Message { part, bytes: sums.flat_map(f64::to_le_bytes).collect() }
        };
        Ok(asked.into_iter().map(reply).collect())
    }

    /// Moves each of its nodes to the best community among those of its neighbors; returns the new labels, the messages
    /// to the parts of neighbors, and counters.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn shift(
        &self,
        shift: &Shift,
        labels: Labeled,
        messages: Vec<Message>,
    ) -> Result<(Labeled, Vec<Message>, Shifted)> {
        let seen = labels.seen();
        let mut sums = Vec::with_capacity(seen.len());
        for message in messages {
            sums.extend(pairs_of_f64(&message.bytes)?);
        }
        if sums.len() != seen.len() {
            return Err(damaged("sums of communities are missing"));
        }
        let (own, did) = match shift.aim {
            Aim::MapEquation => self.moved::<CodeLength>(shift, &labels, &seen, &sums, NoRule),
            Aim::Modularity(resolution) => {
                let null = Null::Strength(resolution);
                self.moved::<Density>(shift, &labels, &seen, &sums, null)
            }
        }?;
        let first = self.nodes().start;
        let has_moved = |node: u32| own[(node - first) as usize] != labels.own_label(node);
        let messages = self.announce(&own, has_moved)?;
        Ok((labels.with_own(own), messages, did))
    }

    /// Returns the labels of its nodes after a sweep. During the sweep, communities are identified by their places in
    /// `seen`.
    fn moved<O: Revert<Flow = NoFlow>>(
        &self,
        shift: &Shift,
        labels: &Labeled,
        seen: &[u32],
        sums: &[Sums],
        rule: O::Rule,
    ) -> Result<(Vec<u32>, Shifted)> {
        let own_nodes = self.nodes();
        let place = |label: &u32| seen.binary_search(label).expect("all labels are seen") as u32;
        let placed = |labels: &[u32]| -> Vec<AtomicU32> {
            labels.iter().map(|label| AtomicU32::new(place(label))).collect()
        };
        let (own, around) = (placed(labels.own()), placed(labels.around()));
        let before = objective::<O>(rule, sums, shift.totals);
        let mut now = Some(objective::<O>(rule, sums, shift.totals));
        let active = Bits::new(self.node_count() as usize, false);
        let mut workshop = SweepBuffers::new::<O>(&self.graph, LARGE_DEGREE, MOST_LABELS);
        let (mut new, mut did) = (Vec::with_capacity(own.len()), Shifted::default());
        self.for_blocks(
            |_| true,
            |block| {
                let first = block.first_node();
                let at = (first - own_nodes.start) as usize;
                let old = &own[at..at + block.node_count()];
                let moving: Vec<AtomicU32> =
                    old.iter().map(|label| AtomicU32::new(label.load(Relaxed))).collect();
                (first..)
                    .zip(old)
                    .filter(|&(node, _)| shift.is_turn_of(node))
                    .for_each(|(node, _)| _ = active.set(node as usize));
                let before_it = Seen {
                    first: own_nodes.start,
                    own: &own,
                    places: labels.places(),
                    around: &around,
                };
                let mut nodes = Nodes {
                    labels: &Moving { first, moving: &moving, before: before_it, seen },
                    active: &active,
                    changes: Vec::new(),
                    holdings: &NO_HOLDINGS,
                    seed: shift.seed,
                    objective: now.take().expect("it is given back"),
                    admission: Admission::Any,
                    shuffled: false,
                    activates: false,
                    rules: Rules::default(),
                };
                let swept = sweep_block(block, false, &mut nodes, &mut workshop, shift.number)?;
                let mut objective = nodes.objective;
                did.arcs += swept.arcs;
                for (old, new_label) in old.iter().zip(&moving) {
                    let (old, label) = (old.load(Relaxed), new_label.load(Relaxed));
                    if old != label {
                        did.moved += 1;
                        objective.revert(&before, old);
                        objective.revert(&before, label);
                    }
                    new.push(seen[label as usize]);
                }
                now = Some(objective);
                Ok(())
            },
        )?;
        Ok((new, did))
    }
}

/// Returns an objective that has the sums of some communities and of all together.
fn objective<O: Revert>(rule: O::Rule, sums: &[Sums], totals: Sums) -> O {
    let mut objective = O::empty(rule, sums.len() + 1);
    let (mut rest, none) = (totals, Holding { count: 0, flow: NodeFlow::default() });
    for (label, &[strength, cut]) in (0..).zip(sums) {
        objective.add(label, none, strength, cut);
        rest = [rest[0] - strength, rest[1] - cut];
    }
    // All other communities are treated as one that no node sees.
    objective.add(sums.len() as u32, none, rest[0].max(0.0), rest[1].max(0.0));
    objective.complete();
    objective
}
