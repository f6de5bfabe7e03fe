//! Small communities beside large ones, dissolved where that is better.
//!
//! Two nodes with an edge between them may stay a community of their own inside a group of thousands: neither is better
//! off alone in a neighboring community, and the pair as a whole does not belong to one of them. So the nodes of each
//! small community move one after the other to the best community of each, and the moves are kept if they improve the
//! total. Many such pairs do shorten the code; the others are errors of the search, about a hundred-thousandth of it.
//!
//! Cost: two scans, if there are such communities, and sweeps around what moved. Memory: 16 bytes for each arc of their
//! nodes: at most one arc in [`SHARE`]. Large graphs are left as they are.

use super::{Level, LevelState, Multilevel, Progress};
use crate::base::table::Sum;
use crate::drive::job::SizeClass;
use crate::kernel::admission::Admission;
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::{Carries, Holding, Holdings};
use crate::kernel::objective::{Sums, Visit};
use outcore_graph::ArcScratch;
use outcore_io::error::Result;
use outcore_io::progress::{Event, notify};
use outcore_io::units::format_counted;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Maximum number of nodes of a small community.
pub(crate) const SMALL: u32 = 16;
/// Small communities are dissolved if they have at most one in this number of all nodes and of all arcs.
pub(crate) const SHARE: u64 = 16;

/// Node of a small community.
pub(crate) struct Member {
    pub(crate) node: u32,
    pub(crate) held: Holding,
    pub(crate) strength: f64,
    pub(crate) arcs: Vec<(u32, f64)>,
}

/// Moves the nodes of each of these communities to others, where that is better in total; returns the number of
/// communities dissolved.
pub(crate) fn dissolve<O: Sums>(
    sums: &mut O,
    admission: &mut Admission,
    labels: &mut [u32],
    communities: &BTreeMap<u32, Vec<Member>>,
) -> u64 {
    let mut dissolved = 0;
    for (&own, members) in communities {
        let (mut gain, mut moves) = (0.0, Vec::new());
        for member in members {
            let Some((visit, rate, label, weight)) =
                best_move(sums, admission, labels, own, member)
            else {
                break;
            };
            gain += rate;
            sums.moved(&visit, label, weight);
            admission.moved(&visit, label);
            labels[member.node as usize] = label;
            moves.push((member.node, visit, label, weight));
        }
        // Better by more than rounding.
        let is_better = moves.iter().all(|(_, visit, ..)| sums.improves(visit, gain));
        if moves.len() == members.len() && is_better {
            dissolved += 1;
            continue;
        }
        for (node, visit, label, weight) in moves.into_iter().rev() {
            let back = Visit { present: label, own: weight, ..visit };
            sums.moved(&back, own, visit.own);
            admission.moved(&back, own);
            labels[node as usize] = own;
        }
    }
    dissolved
}

/// Returns the best community of a node other than its own, its rate and the weight of the arcs to it.
fn best_move<O: Sums>(
    sums: &O,
    admission: &Admission,
    labels: &[u32],
    own: u32,
    member: &Member,
) -> Option<(Visit<O::Flow>, f64, u32, f64)> {
    let mut weights = BTreeMap::new();
    for &(target, weight) in &member.arcs {
        *weights.entry(labels[target as usize]).or_insert(0.0) += weight;
    }
    let arcs = member.arcs.iter().map(|&(_, weight)| weight).sum();
    let (mass, flow) = (sums.mass(member.held, member.strength), O::Flow::of(member.held.flow));
    let to_own = weights.remove(&own).unwrap_or(0.0);
    let visit = Visit { present: own, count: member.held.count, own: to_own, arcs, mass, flow };
    let leaving = sums.leaving(&visit);
    let rates: Vec<(f64, u32, f64)> = weights
        .into_iter()
        .filter(|&(label, _)| admission.admits(&visit, label))
        .map(|(label, weight)| (sums.rate(&visit, &leaving, label, weight), label, weight))
        .collect();
    let most = rates.iter().map(|&(rate, ..)| rate).reduce(f64::max)?;
    // Of the communities whose rates differ only by rounding, takes the one with the smallest label.
    let least = sums.least_equal(&visit, most);
    let best = rates.into_iter().find(|&(rate, ..)| rate >= least);
    best.map(|(rate, label, weight)| (visit, rate, label, weight))
}

/// Returns the small communities by their labels, if there are some beside larger ones.
pub(crate) fn small_communities(
    labels: &[u32],
    degree: impl Fn(usize) -> u64,
    arcs: u64,
) -> Option<Vec<bool>> {
    let mut sizes = vec![0u32; labels.len()];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    let is_small = |label: u32| sizes[label as usize] <= SMALL;
    let small = || labels.iter().enumerate().filter(|(_, label)| is_small(**label));
    let (nodes, of_small) =
        (small().count() as u64, small().map(|(node, _)| degree(node)).sum::<u64>());
    let is_beside = nodes > 0 && nodes <= labels.len() as u64 / SHARE && of_small <= arcs / SHARE;
    is_beside.then(|| {
        (0..labels.len()).map(|label| sizes[label] > 0 && is_small(label as u32)).collect()
    })
}

impl<O: Sums> Multilevel<'_, '_, O> {
    /// Dissolves small communities beside large ones where that is better, and lets nodes move from there.
    pub(super) fn without_fragments(
        &mut self,
        level: &mut Level<'_, '_>,
        state: LevelState<O>,
    ) -> Result<LevelState<O>> {
        if self.job.size_class() == SizeClass::Large {
            return Ok(state);
        }
        // Most results have no such communities, which their sizes tell without a scan.
        let mut labels: Vec<u32> = state.labels.iter().map(|label| label.load(Relaxed)).collect();
        if small_communities(&labels, |_| 0, u64::MAX).is_none() {
            return Ok(state);
        }
        drop(state);
        let communities = self.fragments(level, &labels)?;
        let again = |labels: Vec<u32>| labels.into_iter().map(AtomicU32::new).collect();
        let (_, LevelState { labels: before, mut sums }) = self.measured(level, again(labels))?;
        if communities.is_empty() {
            return Ok(LevelState { labels: before, sums });
        }
        let count_of = |node: usize| level.holdings.count(node);
        let mut admission = Admission::limited(self.limits.size, &before, count_of);
        labels = before.into_iter().map(AtomicU32::into_inner).collect();
        let dissolved = dissolve(&mut sums, &mut admission, &mut labels, &communities);
        let (_, mut state) = self.measured(level, again(labels))?;
        if dissolved > 0 {
            let dissolved = format_counted(dissolved, "small community", "small communities");
            self.detail(&format!("{dissolved} dissolved"))?;
            let (progress, most) =
                (Progress::new(level.node_count()), self.most_sweeps(super::LEVEL_SWEEPS));
            self.sweeps(level, &mut state, progress, |done, moved| done < most && moved > 0)?;
        }
        Ok(state)
    }

    /// Returns the small communities beside large ones, with the arcs of their nodes.
    fn fragments(
        &self,
        level: &mut Level<'_, '_>,
        labels: &[u32],
    ) -> Result<BTreeMap<u32, Vec<Member>>> {
        let done = self.history.arcs;
        let tick = || notify(self.job.observer, Event::Advance { done });
        let mut degrees = Vec::with_capacity(labels.len());
        level.source.for_all(|block| {
            degrees.extend((0..block.node_count()).map(|local| block.degree(local) as u32));
            tick()
        })?;
        let degree = |node: usize| u64::from(degrees[node]);
        let arcs = level.graph().arc_count();
        let Some(is_small) = small_communities(labels, degree, arcs) else {
            return Ok(BTreeMap::new());
        };
        members::<O>(level.source, &level.holdings, labels, &is_small, tick)
    }
}

fn members<O: Sums>(
    source: &mut BlockSource<'_>,
    holdings: &Holdings,
    labels: &[u32],
    is_small: &[bool],
    tick: impl Fn() -> Result<()>,
) -> Result<BTreeMap<u32, Vec<Member>>> {
    let mut scratch = ArcScratch::default();
    let mut communities: BTreeMap<u32, Vec<Member>> = BTreeMap::new();
    source.for_all(|block| {
        tick()?;
        for local in 0..block.node_count() {
            let node = block.first_node() + local as u32;
            let label = labels[node as usize];
            if !is_small[label as usize] {
                continue;
            }
            let mut arcs = Vec::new();
            block.for_each_segment(local, &mut scratch, |targets, codes| {
                f64::for_each(targets, codes, |target, weight| arcs.push((target, weight)));
            })?;
            let of_arcs = arcs.iter().map(|&(_, weight)| weight).sum::<f64>();
            let strength = of_arcs + 2.0 * block.self_loop(local);
            let held = holdings.of::<O::Flow>(node as usize);
            communities.entry(label).or_default().push(Member { node, held, strength, arcs });
        }
        Ok(())
    })?;
    Ok(communities)
}
