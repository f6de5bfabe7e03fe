//! What the specification of the levels takes from the engine, with oracles of its own there: merges of communities, and
//! small communities that are dissolved.

use crate::Method;
use crate::drive::multilevel::coarsen::coarser;
use crate::drive::multilevel::dissolve::{Member, dissolve, small_communities};
use crate::kernel::holdings::Holding;
use crate::kernel::objective::Sums;
use crate::objectives::cap::Capped;
use crate::objectives::map_equation::CodeLength;
use crate::objectives::modularity::{Density, Null};
use std::collections::BTreeMap;

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

/// Returns the best cut of the tree of merges of all nodes, if it is better than the nodes.
pub(crate) fn merged(of: Objective, nodes: &[Node]) -> Option<Vec<u32>> {
    let parts: Vec<_> = nodes
        .iter()
        .map(|(count, strength, arcs)| (Holding::of_count(*count), *strength, degree(arcs)))
        .collect();
    let arcs = nodes.iter().map(|(.., arcs)| arcs.iter().copied().collect()).collect();
    let Objective { method, resolution, most } = of;
    let (found, _) = match method {
        Method::MapEquation => coarser::<Capped<CodeLength>>(((), most), &parts, arcs),
        Method::Cpm => coarser::<Capped<Density>>((Null::Count(resolution), most), &parts, arcs),
        _ => coarser::<Capped<Density>>((Null::Strength(resolution), most), &parts, arcs),
    };
    found
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
    let dissolved = match method {
        Method::MapEquation => dissolve(
            &mut summed::<Capped<CodeLength>>(((), most), nodes, labels),
            labels,
            &communities,
        ),
        Method::Cpm => {
            let rule = (Null::Count(resolution), most);
            dissolve(&mut summed::<Capped<Density>>(rule, nodes, labels), labels, &communities)
        }
        _ => {
            let rule = (Null::Strength(resolution), most);
            dissolve(&mut summed::<Capped<Density>>(rule, nodes, labels), labels, &communities)
        }
    };
    dissolved > 0
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
