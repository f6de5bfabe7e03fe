//! Label propagation over parts; the crate documentation explains why its result is the engine's.
//!
//! A sweep of a part starts from the labels before the sweep and from the moves received from parts before it: the new
//! labels of neighbors, and the nodes of the part that these moves made active. Moves received from parts after it take
//! effect in the next sweep. A part that receives new moves from a part before it sweeps again; it therefore saves its
//! labels before the sweep, the messages received, and a checksum of each message sent.
//!
//! A sweep may also end after any round (`is_exact` is false). Moves received after its last round then take effect in
//! the next sweep. There, a node is active again if its label, or that of a neighbor in an earlier part, differs from
//! that of the round before, since other nodes have moved by the old label. The result depends on the bounds of the
//! parts; it is no longer the engine's.

use super::words::{Words, put, put_bytes};
use super::{Labeled, Message, Part, Places, damaged};
use outcore_cluster::base::bits::Bits;
use outcore_cluster::base::hash::{Hash, LEAD};
use outcore_cluster::base::parallel::PerThread;
use outcore_cluster::kernel::admission::Admission;
use outcore_cluster::kernel::holdings::NO_HOLDINGS;
use outcore_cluster::kernel::nodes::{Nodes, Rules};
use outcore_cluster::kernel::seeding::{Stars, seed_block};
use outcore_cluster::kernel::sweep::{LARGE_DEGREE, MOST_LABELS, SweepBuffers, sweep_block};
use outcore_cluster::objectives::label_propagation::{DRAWN_SWEEPS, Votes};
use outcore_cluster::store::by_node::NodeLabels;
use outcore_graph::ArcScratch;
use outcore_io::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use xxhash_rust::xxh3::xxh3_64;

/// Counters of a part in a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoundCounts {
    /// Number of nodes that have moved in the sweep.
    pub moved: u64,
    /// Number of arcs visited in this round.
    pub arcs: u64,
    /// Number of parts after it to which something new was sent: while there are any, another round follows.
    pub later: u64,
}

/// State of a part during label propagation, saved between rounds.
#[derive(Debug, Default)]
pub struct Rounds {
    /// Sweep that `moved` belongs to; 0 for the first labels.
    sweep: u32,
    /// Labels of the part's own nodes before the sweep.
    labels: Vec<u32>,
    /// One bit per own node: whether it is active before the sweep.
    active: Vec<u32>,
    /// Nodes outside the part to which it has arcs, ascending.
    outside: Vec<u32>,
    /// Labels of the nodes outside before the sweep.
    around: Vec<u32>,
    /// Nodes that the sweep has moved.
    moved: Vec<u32>,
    /// New labels of the moved nodes.
    moved_to: Vec<u32>,
    /// One bit per own node: whether it is active after the sweep.
    active_after: Vec<u32>,
    /// Own nodes, ascending, whose labels after the last round differ from those after the round before it, or before
    /// the sweep. Other parts have not seen these labels. Empty if sweeps are exact.
    revised: Vec<u32>,
    /// Checksums of the messages sent in this sweep, by recipient.
    sent: BTreeMap<u32, u64>,
    /// Messages received in this sweep, by sender.
    inbox: BTreeMap<u32, Vec<u8>>,
}

/// Content of a message: new labels of nodes, the recipient's nodes that become active, and those that become active only
/// after the last round of a sweep, since labels next to them differ from those of the round before.
#[derive(Default)]
struct Moves {
    nodes: Vec<u32>,
    labels: Vec<u32>,
    active: Vec<u32>,
    again: Vec<u32>,
}

impl Moves {
    /// Returns the message, and the checksum of what matters within a sweep.
    fn to_bytes(&self) -> (Vec<u8>, u64) {
        let mut out = Vec::new();
        [&self.nodes, &self.labels, &self.active].iter().for_each(|words| put(words, &mut out));
        let sum = xxh3_64(&out);
        put(&self.again, &mut out);
        (out, sum)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Words(bytes);
        let nodes = from.next()?;
        let labels = from.exactly(nodes.len())?;
        Ok(Self { nodes, labels, active: from.next()?, again: from.next()? })
    }
}

/// Labels that a part sees.
pub(super) struct Seen<'a> {
    pub(super) first: u32,
    pub(super) own: &'a [AtomicU32],
    pub(super) places: &'a Places,
    pub(super) around: &'a [AtomicU32],
}

impl NodeLabels for Seen<'_> {
    #[inline]
    fn at(&self, node: u32) -> &AtomicU32 {
        match self.own.get(node.wrapping_sub(self.first) as usize) {
            Some(label) => label,
            None => &self.around[self.places.of(node)],
        }
    }
}

fn atomic(words: &[u32]) -> Vec<AtomicU32> {
    words.iter().copied().map(AtomicU32::new).collect()
}

fn bit_words(count: usize, is_set: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut words = vec![0; count.div_ceil(32)];
    (0..count).filter(|&at| is_set(at)).for_each(|at| words[at / 32] |= 1 << (at % 32));
    words
}

fn is_set(words: &[u32], at: usize) -> bool {
    words[at / 32] >> (at % 32) & 1 == 1
}

impl Rounds {
    /// Returns the state to be saved until the next round.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&[self.sweep], &mut out);
        let arrays = [
            &self.labels,
            &self.active,
            &self.outside,
            &self.around,
            &self.moved,
            &self.moved_to,
            &self.active_after,
            &self.revised,
        ];
        arrays.iter().for_each(|words| put(words, &mut out));
        let sent =
            self.sent.iter().flat_map(|(&part, &sum)| [part, sum as u32, (sum >> 32) as u32]);
        put(&sent.collect::<Vec<_>>(), &mut out);
        for (&part, bytes) in &self.inbox {
            put(&[part], &mut out);
            put_bytes(bytes, &mut out);
        }
        out.extend(xxh3_64(&out).to_le_bytes());
        out
    }

    /// Reads the saved state of a part.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn from_bytes(bytes: &[u8], part: &Part) -> Result<Self> {
        let sealed = bytes.split_last_chunk::<8>();
        let sealed = sealed.filter(|(bytes, sum)| xxh3_64(bytes).to_le_bytes() == **sum);
        let (bytes, _) = sealed.ok_or_else(|| damaged("the checksum of labels is wrong"))?;
        let mut from = Words(bytes);
        let count = part.nodes().len();
        let sweep = from.exactly(1)?[0];
        let labels = from.exactly(count)?;
        let active = from.exactly(count.div_ceil(32))?;
        let outside = from.next()?;
        let around = from.exactly(outside.len())?;
        let moved = from.next()?;
        let moved_to = from.exactly(moved.len())?;
        let active_after = from.exactly(count.div_ceil(32))?;
        let revised = from.next()?;
        let sent = from.next()?;
        let sent = sent.as_chunks::<3>().0.iter();
        let sent = sent.map(|&[part, low, high]| (part, u64::from(low) | u64::from(high) << 32));
        let sent = sent.collect();
        let mut inbox = BTreeMap::new();
        while !from.is_empty() {
            inbox.insert(from.exactly(1)?[0], from.bytes()?.to_vec());
        }
        Ok(Self {
            sweep,
            labels,
            active,
            outside,
            around,
            moved,
            moved_to,
            active_after,
            revised,
            sent,
            inbox,
        })
    }

    /// Computes the first labels: stars around a quarter of the nodes. They count as the moves of a sweep 0. Returns
    /// the state and the messages to other parts.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn begin(part: &Part, seed: u64) -> Result<(Self, Vec<Message>)> {
        let nodes = part.nodes();
        let outside = part.outside()?;
        let labels: Vec<u32> = nodes.clone().collect();
        let active_after = bit_words(labels.len(), |_| true);
        let own = atomic(&labels);
        let first = first_labels(part, seed, &own, &outside)?;
        let (moved, moved_to) = first.into_iter().unzip();
        let active = vec![0; active_after.len()];
        let around = outside.clone();
        let mut rounds = Self {
            labels,
            active,
            outside,
            around,
            moved,
            moved_to,
            active_after,
            ..Self::default()
        };
        let (messages, _) = rounds.send(part, &[])?;
        Ok((rounds, messages))
    }

    /// Performs one round of a sweep, with the messages that other parts have sent since the last round. The first
    /// round of a sweep starts from the result of the sweep before; later rounds sweep again only if necessary. `is_exact`
    /// says that sweeps end only when no part sends anything to later ones.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn round(
        &mut self,
        part: &Part,
        seed: u64,
        (sweep, is_exact): (u32, bool),
        messages: Vec<Message>,
    ) -> Result<(Vec<Message>, RoundCounts)> {
        let received: BTreeSet<u32> = self.receive(messages).collect();
        let has_earlier = received.iter().any(|&from| (from as usize) < part.index);
        let is_first = sweep != self.sweep;
        if is_first {
            self.commit(part, if is_exact { None } else { Some(&received) })?;
            self.sweep = sweep;
        }
        let (mut messages, mut counts) = (Vec::new(), RoundCounts::default());
        // Other parts have seen the labels of the round before.
        self.revised.clear();
        if is_first || has_earlier {
            let (arcs, activated) = self.sweep(part, seed, is_exact)?;
            counts.arcs = arcs;
            (messages, counts.later) = self.send(part, &activated)?;
        }
        counts.moved = self.moved.len() as u64;
        Ok((messages, counts))
    }

    /// Returns the final labels.
    ///
    /// # Errors
    /// `CorruptFile`.
    pub fn finish(mut self, part: &Part, messages: Vec<Message>) -> Result<Labeled> {
        self.receive(messages).for_each(drop);
        self.commit(part, None)?;
        Labeled::new(part, self.labels, self.outside, self.around)
    }

    /// Stores messages in the inbox; returns their senders.
    fn receive(&mut self, messages: Vec<Message>) -> impl Iterator<Item = u32> {
        let mut from = Vec::with_capacity(messages.len());
        for Message { part, bytes } in messages {
            from.push(part);
            self.inbox.insert(part, bytes);
        }
        from.into_iter()
    }

    /// Applies the moves of the sweep to the labels before the next one. Nodes become active by the moves of later parts,
    /// and by those of the earlier parts in `late`, which were received after the last round of the sweep.
    fn commit(&mut self, part: &Part, late: Option<&BTreeSet<u32>>) -> Result<()> {
        let first = part.nodes().start;
        for (node, label) in self.moved.drain(..).zip(self.moved_to.drain(..)) {
            self.labels[(node - first) as usize] = label;
        }
        self.active = std::mem::take(&mut self.active_after);
        let mut activate = |node: u32| {
            let at = (node - first) as usize;
            self.active[at / 32] |= 1 << (at % 32);
        };
        if late.is_some() {
            self.revised.drain(..).for_each(&mut activate);
        }
        let mut around = atomic(&self.around);
        let places = Places::new(&self.outside, part.node_count())?;
        for (from, bytes) in std::mem::take(&mut self.inbox) {
            let moves = Moves::from_bytes(&bytes)?;
            apply(&moves, &places, &around, part)?;
            if from as usize > part.index {
                moves.active.iter().copied().for_each(&mut activate);
            } else if late.is_some_and(|late| late.contains(&from)) {
                moves.active.iter().chain(&moves.again).copied().for_each(&mut activate);
            }
        }
        self.around = around.iter_mut().map(|label| *label.get_mut()).collect();
        self.sent.clear();
        Ok(())
    }

    /// Sweeps the part from the labels before the sweep and the moves received from parts before it. Returns the
    /// number of arcs visited and the nodes outside that became active.
    fn sweep(&mut self, part: &Part, seed: u64, is_exact: bool) -> Result<(u64, Vec<u32>)> {
        let own_nodes = part.nodes();
        let first = own_nodes.start;
        let (own, around) = (atomic(&self.labels), atomic(&self.around));
        let places = Places::new(&self.outside, part.node_count())?;
        let active = Bits::new(part.node_count() as usize, false);
        let is_active = |node: &u32| is_set(&self.active, (node - first) as usize);
        own_nodes.clone().filter(is_active).for_each(|node| _ = active.set(node as usize));
        for bytes in self.inbox.range(..part.index as u32).map(|(_, bytes)| bytes) {
            let moves = Moves::from_bytes(bytes)?;
            apply(&moves, &places, &around, part)?;
            moves.active.iter().for_each(|&node| _ = active.set(node as usize));
        }
        let mut objective = Votes::<false>::new(0.0);
        objective.set_draws(self.sweep <= DRAWN_SWEEPS);
        let labels = Seen { first, own: &own, places: &places, around: &around };
        let mut nodes = Nodes {
            labels: &labels,
            active: &active,
            changes: Vec::new(),
            holdings: &NO_HOLDINGS,
            seed,
            objective,
            admission: Admission::Any,
            shuffled: false,
            activates: true,
            rules: Rules::default(),
        };
        let mut workshop =
            SweepBuffers::new::<Votes<false>>(&part.graph, LARGE_DEGREE, MOST_LABELS);
        let mut arcs = 0;
        part.for_blocks(
            |nodes| active.any(nodes),
            |block| {
                arcs += sweep_block(block, false, &mut nodes, &mut workshop, self.sweep)?.arcs;
                Ok(())
            },
        )?;
        let before =
            std::mem::take(&mut self.moved).into_iter().zip(std::mem::take(&mut self.moved_to));
        let before: BTreeMap<u32, u32> = before.collect();
        let new = own_nodes.zip(&own).zip(&self.labels);
        let new = new.map(|((node, label), &before)| (node, label.load(Relaxed), before));
        let is_revised =
            |&(node, label, start): &(u32, u32, u32)| label != *before.get(&node).unwrap_or(&start);
        if !is_exact {
            self.revised.extend(new.clone().filter(is_revised).map(|(node, ..)| node));
        }
        (self.moved, self.moved_to) = new
            .filter(|(_, label, before)| label != before)
            .map(|(n, label, _)| (n, label))
            .unzip();
        self.active_after = bit_words(own.len(), |at| active.get(first as usize + at));
        let outside = self.outside.iter().copied();
        Ok((arcs, outside.filter(|&node| active.get(node as usize)).collect()))
    }

    /// Returns the messages that differ from those already sent in this sweep, and how many of them go to later parts.
    fn send(&mut self, part: &Part, activated: &[u32]) -> Result<(Vec<Message>, u64)> {
        let first = part.nodes().start;
        let mut moves: BTreeMap<u32, Moves> = BTreeMap::new();
        let mut new = self.labels.clone();
        let mut moved = bit_words(new.len(), |_| false);
        for (&node, &label) in self.moved.iter().zip(&self.moved_to) {
            let at = (node - first) as usize;
            new[at] = label;
            moved[at / 32] |= 1 << (at % 32);
        }
        part.for_owners(
            |node| is_set(&moved, (node - first) as usize),
            |node, to, _| {
                if to != part.index {
                    let moves = moves.entry(to as u32).or_default();
                    // The arcs of a hub come in several segments.
                    if moves.nodes.last() != Some(&node) {
                        moves.nodes.push(node);
                        moves.labels.push(new[(node - first) as usize]);
                    }
                }
            },
        )?;
        for &node in activated {
            moves.entry(part.owner(node) as u32).or_default().active.push(node);
        }
        if !self.revised.is_empty() {
            part.for_owners(
                |node| self.revised.binary_search(&node).is_ok(),
                |_, to, targets| {
                    if to != part.index {
                        moves.entry(to as u32).or_default().again.extend(targets);
                    }
                },
            )?;
        }
        // A part that received moves which no longer hold gets an empty message.
        self.sent.keys().for_each(|&to| _ = moves.entry(to).or_default());
        let (mut messages, mut later) = (Vec::new(), 0);
        for (to, moves) in moves {
            let (bytes, sum) = moves.to_bytes();
            if self.sent.insert(to, sum) != Some(sum) {
                later += u64::from(to as usize > part.index);
                messages.push(Message { part: to, bytes });
            }
        }
        Ok((messages, later))
    }
}

/// Applies received labels to those of the nodes outside.
fn apply(moves: &Moves, places: &Places, around: &[AtomicU32], part: &Part) -> Result<()> {
    let own = part.nodes();
    let count = part.node_count();
    let fits = moves.nodes.iter().all(|&node| node < count && places.contains(node))
        && moves.labels.iter().all(|&label| label < count)
        && moves.active.iter().chain(&moves.again).all(|node| own.contains(node));
    if !fits {
        return Err(damaged("a message is about other nodes"));
    }
    for (&node, &label) in moves.nodes.iter().zip(&moves.labels) {
        around[places.of(node)].store(label, Relaxed);
    }
    Ok(())
}

/// Returns the nodes whose first label is another node (a leader), with these labels.
fn first_labels(
    part: &Part,
    seed: u64,
    own: &[AtomicU32],
    outside: &[u32],
) -> Result<Vec<(u32, u32)>> {
    let nodes = part.nodes();
    let leads = Bits::new(part.node_count() as usize, false);
    let seed = seed ^ LEAD;
    let lead = Hash::new(seed);
    let all = nodes.clone().chain(outside.iter().copied());
    all.filter(|&node| Stars::is_leader(lead, node)).for_each(|node| _ = leads.set(node as usize));
    let stars = Stars { leads: &leads, seed, least: 0.0 };
    let scratch = PerThread::new(ArcScratch::default);
    // First labels depend only on which nodes are leaders: no label outside is read.
    let places = Places::new(&[], part.node_count())?;
    let labels = Seen { first: nodes.start, own, places: &places, around: &[] };
    part.for_blocks(|_| true, |block| seed_block(block, stars, &labels, &scratch))?;
    let labeled = nodes.zip(own).map(|(node, label)| (node, label.load(Relaxed)));
    Ok(labeled.filter(|(node, label)| node != label).collect())
}
