//! What the specification of the levels takes from the engine, with oracles of its own there: merges of communities, and
//! small communities that are dissolved.

use crate::Method;
use crate::drive::multilevel::coarsen::{coarser, gains_with_alike, is_surveyed};
use crate::drive::multilevel::dissolve::{Member, dissolve, small_communities};
use crate::kernel::admission::Admission;
use crate::kernel::holdings::Holding;
use crate::kernel::objective::Sums;
use crate::objectives::map_equation::{CodeLength, NoRule};
use crate::objectives::modularity::{Density, Null};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;

/// Objective: a method, its resolution and the maximum size of a community.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Objective {
    pub(crate) method: Method,
    pub(crate) resolution: f64,
    pub(crate) most: Option<u32>,
}

/// Node of a level: its number of input nodes, its strength and its arcs.
pub(crate) type Node = (u32, f64, Vec<(u32, f64)>);

fn degree(arcs: &[(u32, f64)]) -> f64 {
    arcs.iter().map(|&(_, weight)| weight).sum()
}

/// Returns the best cut by the map equation of the tree of merges of all nodes, if it is better than the nodes.
pub(crate) fn merged(nodes: &[Node]) -> Option<Vec<u32>> {
    let parts: Vec<_> = nodes
        .iter()
        .map(|(count, strength, arcs)| (Holding::of_count(*count), *strength, degree(arcs)))
        .collect();
    let arcs = nodes.iter().map(|(.., arcs)| arcs.iter().copied().collect()).collect();
    coarser::<CodeLength>(NoRule, None, &parts, arcs).0
}

/// Returns whether communities of a level may merge, by a survey of all nodes; `None` where rounding decides. `mean` is the
/// mean weight of the arcs of the graph.
pub(crate) fn may_merge(of: Objective, nodes: &[Node], labels: &[u32], mean: f64) -> Option<bool> {
    let Objective { method, resolution, .. } = of;
    let (by_strength, by_count) = (Null::Strength(resolution), Null::Count(resolution));
    let with = |rounding: f64| match method {
        Method::MapEquation => surveyed::<CodeLength>(NoRule, nodes, labels, mean * rounding),
        Method::Cpm => surveyed::<Density>(by_count, nodes, labels, mean * rounding),
        _ => surveyed::<Density>(by_strength, nodes, labels, mean * rounding),
    };
    let found = with(1.0);
    [1.0 - ROUNDING, 1.0 + ROUNDING].iter().all(|&other| with(other) == found).then_some(found)
}

/// Relative change of thresholds that changes no survey, unless rounding decides it.
const ROUNDING: f64 = 1e-6;

fn surveyed<O: Sums>(rule: O::Rule, nodes: &[Node], labels: &[u32], mean: f64) -> bool {
    let arcs = nodes.iter().map(|node| node.2.len()).sum::<usize>() as u64;
    let most = nodes.iter().map(|node| node.2.len()).max().unwrap_or(0) as u64;
    if !is_surveyed(nodes.len() as u64, arcs, most) {
        return true;
    }
    let sums = summed::<O>(rule, nodes, labels);
    let (mut all, mut promising) = (0.0, 0.0);
    for (v, (count, strength, arcs)) in nodes.iter().enumerate() {
        // Arcs that stand for several of the graph, and are not there by chance.
        let is_strong = |&&(u, weight): &&(u32, f64)| {
            let masses = sums.mass_of(labels[v]) * sums.mass_of(labels[u as usize]);
            weight >= 2.5 * mean && weight >= 4.0 * masses / sums.strength()
        };
        let mut weights: Vec<f64> = arcs.iter().filter(is_strong).map(|arc| arc.1).collect();
        weights.sort_unstable_by(|a, b| b.total_cmp(a));
        all += strength;
        if gains_with_alike(rule, None, &sums, *count, *strength, degree(arcs), &weights) {
            promising += strength;
        }
    }
    promising > all / 64.0
}

/// Dissolves small communities beside large ones; returns whether there were any.
pub(crate) fn dissolved(of: Objective, nodes: &[Node], labels: &mut [u32]) -> bool {
    let arcs = nodes.iter().map(|(.., arcs)| arcs.len()).sum::<usize>() as u64;
    let degree = |v: usize| nodes[v].2.len() as u64;
    let Some(is_small) = small_communities(labels, degree, arcs) else { return false };
    let mut communities: BTreeMap<u32, Vec<Member>> = BTreeMap::new();
    for (v, (count, strength, arcs)) in nodes.iter().enumerate() {
        if is_small[labels[v] as usize] {
            communities.entry(labels[v]).or_default().push(Member {
                node: v as u32,
                held: Holding::of_count(*count),
                strength: *strength,
                arcs: arcs.clone(),
            });
        }
    }
    let Objective { method, resolution, most } = of;
    let own: Vec<AtomicU32> = labels.iter().map(|&label| AtomicU32::new(label)).collect();
    let mut admission = Admission::limited(most, &own, |v| nodes[v].0);
    let null = match method {
        Method::MapEquation => {
            let mut sums = summed::<CodeLength>(NoRule, nodes, labels);
            return dissolve(&mut sums, &mut admission, labels, &communities) > 0;
        }
        Method::Cpm => Null::Count(resolution),
        _ => Null::Strength(resolution),
    };
    let mut sums = summed::<Density>(null, nodes, labels);
    dissolve(&mut sums, &mut admission, labels, &communities) > 0
}

/// Returns the sums of communities.
fn summed<O: Sums>(rule: O::Rule, nodes: &[Node], labels: &[u32]) -> O {
    let mut sums = O::empty(rule, labels.len());
    for (v, (&label, (count, strength, arcs))) in labels.iter().zip(nodes).enumerate() {
        let earlier =
            arcs.iter().filter(|&&(u, _)| (u as usize) < v && labels[u as usize] == label);
        let earlier: f64 = earlier.map(|&(_, w)| w).sum();
        sums.add(label, Holding::of_count(*count), *strength, degree(arcs) - 2.0 * earlier);
    }
    sums.complete();
    sums
}
