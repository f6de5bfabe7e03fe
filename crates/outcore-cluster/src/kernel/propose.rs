//! Best label of each node, given the current labels.
//!
//! Reading a label is a random access, and branches on it are hard to predict. Therefore the labels of a few thousand
//! arcs are prefetched while the arcs are decoded, then loaded, and finally summed by label from the caches. An arc
//! costs one decoding, one label and one sum: about 10 ns. No label changes while proposals are made, so their order
//! does not matter.
//!
//! An objective that weighs nodes first draws up a [shortlist](Round::shortlist): members that may leave their label,
//! with the arcs to labels that they could take. The data of these labels alone is fetched, and only they are summed.
//!
//! Arcs to a member's own label and, in refining, to other communities are left out of the shortlist. Refining is a
//! single sweep, so it activates no nodes. With the arcs of later nodes fetched ahead, 20 million edges take 4.7 to 9
//! % less processor time in four pairs.

use super::admission::Admission;
use super::holdings::{Carries, NoFlow};
use super::nodes::Nodes;
use super::objective::{Choice, Election, Objective, TieOrder, Visit};
use super::votes::{BATCH_ARCS, Ballot};
use crate::base::hash::mix;
use crate::base::table::{LabelTable, Sum};
use crate::store::by_node::NodeLabels;
use outcore_graph::{ArcScratch, Block};
use outcore_io::error::Result;
use outcore_io::prefetch;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Maximum number of members whose labels are fetched together.
const BATCH_MEMBERS: usize = 512;
/// Prefetch distances, in members: for the arcs of a member, and for the places of its arcs.
const ARCS_AHEAD: usize = 6;
const PLACES_AHEAD: usize = 12;
/// Upper bound of the bytes of a candidate, whose type depends on the objective.
const CANDIDATE_BYTES: u64 = 160;

/// Sums by label, and the rates of the labels in the same order.
pub(crate) struct Tables<S> {
    sums: LabelTable<S>,
    rates: Vec<f64>,
}

impl<S: Sum> Tables<S> {
    /// Creates tables for nodes with at most `max_labels` labels around them.
    pub(crate) fn new(max_labels: usize) -> Self {
        Self { sums: LabelTable::new(max_labels), rates: Vec::with_capacity(max_labels) }
    }

    /// Returns the bytes of the tables.
    pub(crate) const fn bytes(max_labels: u64) -> u64 {
        LabelTable::<S>::bytes(max_labels) + 8 * max_labels
    }
}

/// Working memory of one thread.
pub(crate) struct ProposeWorker<S> {
    pub(crate) arcs: ArcScratch,
    pub(crate) ballot: Ballot,
    tables: Tables<S>,
    /// Labels and weight codes (none if all are 1) of the neighbors of consecutive members, and for each
    /// member the end of its range.
    labels: Vec<u32>,
    codes: Vec<u32>,
    ends: Vec<usize>,
    /// Hops of the neighbors; empty without attenuation.
    hops: Vec<u8>,
}

impl<S: Sum> ProposeWorker<S> {
    /// Creates the working memory for nodes with at most `degree` arcs.
    pub(crate) fn new(degree: usize) -> Self {
        Self {
            arcs: ArcScratch::default(),
            ballot: Ballot::default(),
            tables: Tables::new(degree),
            labels: Vec::with_capacity(BATCH_ARCS + degree),
            codes: Vec::with_capacity(BATCH_ARCS + degree),
            ends: Vec::with_capacity(BATCH_MEMBERS),
            hops: Vec::new(),
        }
    }

    /// Returns the bytes of one worker, without the decoded arcs.
    pub(crate) const fn bytes(degree: u64) -> u64 {
        Tables::<S>::bytes(degree)
            + 8 * (degree + BATCH_ARCS as u64)
            + (8 + CANDIDATE_BYTES) * BATCH_MEMBERS as u64
    }
}

/// Proposed move of a node of the current group.
#[derive(Clone, Copy, Default)]
pub(crate) struct Proposal<F = NoFlow> {
    pub(crate) choice: Option<Choice<F>>,
    /// Whether a neighbor may move or, once confirmed, does move.
    pub(crate) contested: bool,
}

/// Member of a batch that may leave its label.
struct Candidate<'a, O: Objective> {
    /// Position in the batch.
    at: usize,
    /// Arcs to labels that it could take.
    arcs: Range<usize>,
    election: Election<'a, O>,
}

/// Shared state of the threads while they propose moves.
pub(crate) struct Round<'a, 'b, S, O, L: ?Sized> {
    pub(crate) block: &'a Block,
    /// Group of each node of the block.
    pub(crate) roles: &'a [u8],
    pub(crate) group: u8,
    /// Number of the sweep.
    pub(crate) number: u32,
    pub(crate) nodes: &'a Nodes<'b, O, L>,
    /// Tables for nodes with more than `large_degree` arcs.
    pub(crate) large: &'a Mutex<Tables<S>>,
    pub(crate) large_degree: u64,
}

impl<S: Sum, O: Objective, L: NodeLabels + ?Sized> Round<'_, '_, S, O, L> {
    /// Plans the moves of `members` and returns the number of arcs visited.
    pub(crate) fn propose(
        &self,
        members: &[u32],
        plans: &mut [Proposal<O::Flow>],
        worker: &mut ProposeWorker<S>,
    ) -> Result<u64> {
        let (mut arcs, mut done, mut candidates) = (0, 0, Vec::new());
        while done < members.len() {
            let (batch, plans) = (&members[done..], &mut plans[done..]);
            arcs += self.fetch(batch, plans, worker)?;
            if O::WEIGHS_NODES {
                self.shortlist(batch, plans, worker, &mut candidates);
                self.elect(batch, plans, worker, &mut candidates);
            } else {
                self.count_votes(batch, plans, worker);
            }
            done += worker.ends.len();
        }
        Ok(arcs)
    }

    /// Lets each member of the batch choose by the sums of its labels alone.
    fn count_votes(
        &self,
        batch: &[u32],
        plans: &mut [Proposal<O::Flow>],
        worker: &mut ProposeWorker<S>,
    ) {
        let ProposeWorker { tables, labels, codes, ends, hops, .. } = worker;
        let mut start = 0;
        for ((&local, plan), &end) in batch.iter().zip(plans).zip(&*ends) {
            if end > start {
                let labels = &labels[start..end];
                let Tables { sums, rates } = &mut *tables;
                sum_up(sums, labels, part(codes, start..end));
                let own = sums.get(self.present(local)).value();
                let visit = self.visit(local, own, S::default());
                let Nodes { objective, admission, .. } = self.nodes;
                let mut election = Election::new(objective, admission, visit);
                plan.choice = self.choose(local, &mut election, sums, rates);
                if O::ATTENUATES
                    && let Some(choice) = &mut plan.choice
                {
                    choice.hops = hops_to(choice.label, labels, &hops[start..end]);
                }
            }
            start = end;
        }
    }

    /// Finds the members of the batch that may leave their label, moves their arcs to labels that they could take to
    /// the front of their range, and prefetches the data of these labels.
    fn shortlist<'s>(
        &'s self,
        batch: &[u32],
        plans: &mut [Proposal<O::Flow>],
        worker: &mut ProposeWorker<S>,
        candidates: &mut Vec<Candidate<'s, O>>,
    ) {
        const { assert!(size_of::<Candidate<'_, O>>() as u64 <= CANDIDATE_BYTES) };
        let ProposeWorker { labels, codes, ends, .. } = worker;
        let Nodes { objective, admission, .. } = self.nodes;
        let classes = match admission {
            Admission::Within(classes) => Some(&classes[..]),
            Admission::Any | Admission::Fitting(_) => None,
        };
        candidates.clear();
        let mut start = 0;
        for (at, (&local, &end)) in batch.iter().zip(&*ends).enumerate() {
            let arcs = start..end;
            start = end;
            if self.block.degree(local as usize) > self.large_degree {
                continue;
            }
            let present = self.present(local);
            let is_class =
                |classes: &[u32], label: u32| classes[label as usize] == classes[present as usize];
            let (mut own, mut all, mut open) = (S::default(), S::default(), S::default());
            let (of_arcs, of_codes) = (&labels[arcs.clone()], part(codes, arcs.clone()));
            let mut add = |label, weight: S| {
                own += weight.only_if(label == present);
                all += weight;
            };
            if let Some(classes) = classes {
                S::for_each(of_arcs, of_codes, |label, weight| {
                    add(label, weight);
                    open += weight.only_if(is_class(classes, label));
                });
            } else {
                S::for_each(of_arcs, of_codes, add);
                open = all;
            }
            let visit = self.visit(local, own.value(), all);
            let election = Election::new(objective, admission, visit);
            if !election.may_win(open.value() - own.value()) {
                // It would stay even if all its other arcs led to the same label.
                plans[at].choice = election.choice();
                continue;
            }
            let end = match classes {
                None => keep(labels, codes, arcs.clone(), |label| label != present),
                Some(classes) => keep(labels, codes, arcs.clone(), |label| {
                    label != present && is_class(classes, label)
                }),
            };
            let arcs = arcs.start..end;
            labels[arcs.clone()].iter().for_each(|&label| objective.prefetch(label));
            admission.prefetch_sizes(&labels[arcs.clone()]);
            candidates.push(Candidate { at, arcs, election });
        }
    }

    /// Lets the candidates choose among the labels of their arcs.
    fn elect(
        &self,
        batch: &[u32],
        plans: &mut [Proposal<O::Flow>],
        worker: &mut ProposeWorker<S>,
        candidates: &mut [Candidate<'_, O>],
    ) {
        let ProposeWorker { tables: Tables { sums, rates }, labels, codes, .. } = worker;
        for Candidate { at, arcs, election } in candidates {
            sum_up(sums, &labels[arcs.clone()], part(codes, arcs.clone()));
            plans[*at].choice = self.choose(batch[*at], election, sums, rates);
        }
    }

    /// Fetches the labels around the first members, and plans the moves of hubs among them.
    fn fetch(
        &self,
        members: &[u32],
        plans: &mut [Proposal<O::Flow>],
        worker: &mut ProposeWorker<S>,
    ) -> Result<u64> {
        worker.labels.clear();
        worker.codes.clear();
        worker.ends.clear();
        worker.hops.clear();
        let mut arcs = 0;
        for (at, (&local, plan)) in members.iter().zip(plans).enumerate() {
            if let Some(&later) = members.get(at + PLACES_AHEAD) {
                self.block.prefetch_place(later as usize);
                self.block.prefetch_arcs(members[at + ARCS_AHEAD] as usize);
            }
            let degree = self.block.degree(local as usize);
            arcs += degree;
            *plan = Proposal::default();
            if self.nodes.changes.is_empty() {
                self.nodes.active.clear((self.block.first_node() + local) as usize);
            }
            if degree > self.large_degree {
                let mut tables = self.large.lock().unwrap_or_else(PoisonError::into_inner);
                let ProposeWorker { arcs, ballot, .. } = worker;
                *plan = self.plan_hub(local, degree, &mut tables, arcs, ballot)?;
            } else {
                self.block.for_each_segment_inline(
                    local as usize,
                    &mut worker.arcs,
                    |targets, codes| {
                        plan.contested |= targets.iter().any(|&target| self.is_rival(target));
                        let (targets, codes) = self.nodes.votes(targets, codes, &mut worker.ballot);
                        targets.iter().for_each(|&target| self.nodes.labels.prefetch(target));
                        worker.labels.extend_from_slice(targets);
                        worker.codes.extend_from_slice(codes);
                        if O::ATTENUATES {
                            worker.hops.extend(targets.iter().map(|&t| self.nodes.hops(t)));
                        }
                    },
                )?;
            }
            worker.ends.push(worker.labels.len());
            if worker.labels.len() >= BATCH_ARCS || worker.ends.len() >= BATCH_MEMBERS {
                break;
            }
        }
        // Replaces each neighbor by its label.
        for label in &mut worker.labels {
            *label = self.nodes.labels.at(*label).load(Relaxed);
        }
        if let Some(looked_up) = self.nodes.admission.looked_up(O::WEIGHS_NODES) {
            worker.labels.iter().for_each(|&label| prefetch(looked_up, label as usize));
        }
        if O::WEIGHS_NODES {
            let visited = &members[..worker.ends.len()];
            visited.iter().for_each(|&local| self.nodes.objective.prefetch(self.present(local)));
        }
        Ok(arcs)
    }

    #[inline]
    fn choose(
        &self,
        local: u32,
        election: &mut Election<'_, O>,
        sums: &LabelTable<S>,
        rates: &mut Vec<f64>,
    ) -> Option<Choice<O::Flow>> {
        election.survey(&self.nodes.admission, sums, rates);
        if election.leaves() {
            let equal = election.pick(sums, rates, self.order(local));
            self.draw(local, election, equal);
        }
        election.choice()
    }

    /// Lets a member keep its label if that is the one drawn among equally good ones; it draws again in the next sweep.
    #[inline]
    fn draw(&self, local: u32, election: &mut Election<'_, O>, equal: u32) {
        if self.nodes.objective.draws() && election.draw(equal, self.order(local)) {
            self.nodes.active.set((self.block.first_node() + local) as usize);
        }
    }

    #[inline]
    fn visit(&self, local: u32, own: f64, arcs: S) -> Visit<O::Flow> {
        let present = self.present(local);
        if !O::WEIGHS_NODES {
            return Visit { present, own, count: 1, ..Visit::default() };
        }
        let arcs = arcs.value();
        let strength = arcs + 2.0 * self.block.self_loop(local as usize);
        let held = self.nodes.holdings.of::<O::Flow>((self.block.first_node() + local) as usize);
        let mass = self.nodes.objective.mass(held, strength);
        Visit { present, count: held.count, own, arcs, mass, flow: O::Flow::of(held.flow) }
    }

    fn present(&self, local: u32) -> u32 {
        self.nodes.labels.at(self.block.first_node() + local).load(Relaxed)
    }

    fn order(&self, local: u32) -> impl Fn(u32) -> (u64, u32) {
        let order = TieOrder::new(self.nodes.seed, self.block.first_node() + local, self.number);
        move |label| order.key(self.nodes.labels.name(label))
    }

    /// Returns whether a neighbor is in the same group, so that both may move at the same time.
    #[inline]
    fn is_rival(&self, target: u32) -> bool {
        let local = target.wrapping_sub(self.block.first_node()) as usize;
        self.roles.get(local) == Some(&self.group)
    }

    /// Like [`choose`](Self::choose), for more labels than a table holds: the labels are divided into shares
    /// by hash, with one pass over the arcs per share; the number of shares doubles until none overflows.
    fn plan_hub(
        &self,
        local: u32,
        degree: u64,
        tables: &mut Tables<S>,
        scratch: &mut ArcScratch,
        ballot: &mut Ballot,
    ) -> Result<Proposal<O::Flow>> {
        let Tables { sums, rates } = tables;
        let room = (degree as usize).min(sums.max_labels());
        let present = self.present(local);
        let (mut contested, mut own, mut arcs) = (false, S::default(), S::default());
        let mut fill = |sums: &mut LabelTable<S>, share: u64, shares: u64| {
            let mut fits = true;
            sums.reset(room);
            (own, arcs) = (S::default(), S::default());
            self.block.for_each_segment_inline(local as usize, scratch, |targets, codes| {
                contested |= targets.iter().any(|&target| self.is_rival(target));
                let (targets, codes) = self.nodes.votes(targets, codes, ballot);
                S::for_each(targets, codes, |target, weight| {
                    let label = self.nodes.labels.at(target).load(Relaxed);
                    arcs += weight;
                    own += weight.only_if(label == present);
                    if mix(u64::from(label)) % shares == share {
                        fits = fits && sums.add_if_room(label, weight);
                    }
                });
            })?;
            Result::Ok((fits, own.value(), arcs))
        };
        let mut shares = 1;
        let mut election = loop {
            let (mut fits, own, arcs) = fill(sums, 0, shares)?;
            let visit = self.visit(local, own, arcs);
            let Nodes { objective, admission, .. } = self.nodes;
            let mut election = Election::new(objective, admission, visit);
            election.survey(&self.nodes.admission, sums, rates);
            for share in 1..shares {
                fits = fits && fill(sums, share, shares)?.0;
                election.survey(&self.nodes.admission, sums, rates);
            }
            if fits {
                break election;
            }
            shares *= 2;
        };
        if election.leaves() {
            let mut equal = 0;
            for share in 0..shares {
                if shares > 1 {
                    fill(sums, share, shares)?;
                    election.survey(&self.nodes.admission, sums, rates);
                }
                equal += election.pick(sums, rates, self.order(local));
            }
            self.draw(local, &mut election, equal);
        }
        let mut choice = election.choice();
        if O::ATTENUATES
            && let Some(choice) = &mut choice
        {
            choice.hops = self.hub_hops(local, choice.label, scratch, ballot)?;
        }
        Ok(Proposal { choice, contested })
    }

    /// Like [`hops_to`], from the arcs of a hub.
    fn hub_hops(
        &self,
        local: u32,
        label: u32,
        scratch: &mut ArcScratch,
        ballot: &mut Ballot,
    ) -> Result<u8> {
        let mut nearest = u8::MAX;
        self.block.for_each_segment_inline(local as usize, scratch, |targets, codes| {
            let (targets, _) = self.nodes.votes(targets, codes, ballot);
            let with_label = targets
                .iter()
                .filter(|&&target| self.nodes.labels.at(target).load(Relaxed) == label);
            with_label.for_each(|&target| nearest = nearest.min(self.nodes.hops(target)));
        })?;
        Ok(nearest.saturating_add(1))
    }
}

/// Sums the weights of arcs by label.
#[inline]
fn sum_up<S: Sum>(sums: &mut LabelTable<S>, labels: &[u32], codes: &[u32]) {
    sums.reset(labels.len());
    S::for_each(labels, codes, |label, weight| sums.add(label, weight));
}

/// Returns the weight codes of these arcs; none in a graph without codes.
#[inline]
fn part(codes: &[u32], arcs: Range<usize>) -> &[u32] {
    if codes.is_empty() { &[] } else { &codes[arcs] }
}

/// Moves those of the arcs that lead to labels which `is_kept` to the front; returns their end. Branchless: which labels
/// these are is hard to predict.
#[inline]
fn keep(
    labels: &mut [u32],
    codes: &mut [u32],
    arcs: Range<usize>,
    is_kept: impl Fn(u32) -> bool,
) -> usize {
    let mut kept = arcs.start;
    for arc in arcs {
        let label = labels[arc];
        labels[kept] = label;
        if !codes.is_empty() {
            codes[kept] = codes[arc];
        }
        kept += usize::from(is_kept(label));
    }
    kept
}

/// Returns the hops between a node and the origin of a label that it takes from the nearest neighbor that has it.
fn hops_to(label: u32, labels: &[u32], hops: &[u8]) -> u8 {
    let nearest =
        labels.iter().zip(hops).filter(|(other, _)| **other == label).map(|(_, &h)| h).min();
    nearest.unwrap_or(u8::MAX).saturating_add(1)
}
