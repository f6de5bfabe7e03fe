//! How label propagation begins: with the labels that nodes are given, and with stars around the rest.
//!
//! A label is a node: a community that is given is known by its first member. A node that is given a
//! label leads, and lends it to others as leaders do; so nodes that are new since an earlier result join
//! its communities at once. Memory: 4 bytes a node for what is given, until the sweeps begin.

use super::bits::Bits;
use super::cache::BlockSource;
use super::hash::LEAD;
use super::parallel::{PerThread, for_ranges};
use super::seeding::{Stars, seed_block};
use super::table::Sum;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArcScratch, Block};
use crate::weight::RELATIVE_TOLERANCE;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

/// A node that is given no label.
const NONE: u32 = u32::MAX;

/// Labels that nodes have from the start: for each node a number below the number of nodes, or
/// `u32::MAX` for none. Empty if there are none at all.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// First labels, such as an earlier result.
    pub initial: Vec<u32>,
    /// Labels that never change. A community of `initial` with such nodes goes by the label of the
    /// first of them.
    pub fixed: Vec<u32>,
}

impl Given {
    /// How many of the two there are.
    pub fn count(&self) -> u64 {
        u64::from(!self.initial.is_empty()) + u64::from(!self.fixed.is_empty())
    }

    /// The first label of each node, as a node or none, and the nodes that keep theirs.
    pub(super) fn into_labels(self, node_count: usize) -> Result<Start> {
        let Self { mut initial, mut fixed } = self;
        for labels in [&initial, &fixed] {
            let fits = labels.iter().all(|&label| label == NONE || (label as usize) < node_count);
            if !labels.is_empty() && (labels.len() != node_count || !fits) {
                let message = format!("the labels given are not of a graph of {node_count} nodes");
                return Err(Error::new(ErrorKind::Usage, message));
            }
        }
        let held = (!fixed.is_empty()).then(|| {
            let held = Bits::new(node_count, false);
            let nodes = fixed.iter().enumerate().filter(|&(_, &label)| label != NONE);
            nodes.for_each(|(node, _)| _ = held.set(node));
            held
        });
        name_by_first(&mut fixed, None);
        name_by_first(&mut initial, held.as_ref().map(|held| (held, &fixed[..])));
        if initial.is_empty() {
            initial = fixed;
        } else {
            let fixed = fixed.iter().enumerate().filter(|&(_, &label)| label != NONE);
            fixed.for_each(|(node, &label)| initial[node] = label);
        }
        Ok(Start { given: initial, held })
    }
}

/// Turns numbers of communities into their first members, or into the label of the first of their
/// members that are held, if any are.
fn name_by_first(labels: &mut [u32], held: Option<(&Bits, &[u32])>) {
    let count = labels.iter().filter(|&&l| l != NONE).max().map_or(0, |&label| label as usize + 1);
    let mut names = vec![NONE; count];
    if let Some((held, fixed)) = held {
        held.for_each(0..labels.len(), |node| {
            if let Some(name) = names.get_mut(labels[node] as usize).filter(|n| **n == NONE) {
                *name = fixed[node];
            }
        });
    }
    for (node, label) in labels.iter_mut().enumerate().filter(|(_, label)| **label != NONE) {
        let name = &mut names[*label as usize];
        if *name == NONE {
            *name = node as u32;
        }
        *label = *name;
    }
}

/// First labels, as far as they are given.
pub(super) struct Start {
    /// By node; empty if none is given.
    given: Vec<u32>,
    /// Nodes that keep their label.
    pub(super) held: Option<Bits>,
}

/// What one run begins with.
pub(super) struct FirstLabels<'a> {
    pub(super) seed: u64,
    /// Overwritten.
    pub(super) labels: &'a [AtomicU32],
    /// Who leads; overwritten.
    pub(super) leads: &'a Bits,
    /// How far nodes are from where their labels began; empty if that does not matter.
    pub(super) hops: &'a [AtomicU8],
}

impl Start {
    /// From the labels of a run: every node is given one.
    pub(super) fn again(given: Vec<u32>, held: Option<Bits>) -> Self {
        Self { given, held }
    }

    /// Every node with its own label or that which it is given: no scan.
    pub(super) fn own(&self, first: &FirstLabels<'_>) -> Result<()> {
        for_ranges(first.labels.len(), 1 << 16, |nodes| {
            nodes.into_iter().for_each(|node| first.labels[node].store(node as u32, Relaxed));
            Ok(())
        })?;
        self.rename(first)
    }

    /// Stars, for all runs in one scan of the blocks that have nodes without a label.
    pub(super) fn stars<S: Sum>(
        &self,
        source: &mut BlockSource<'_>,
        least: f64,
        runs: &[FirstLabels<'_>],
        mut tick: impl FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        let mut stars = Vec::with_capacity(runs.len());
        for first in runs {
            let count = first.labels.len();
            let chosen = Stars::choose(first.leads, count, first.seed ^ LEAD);
            stars.push(Stars { least: least * (1.0 - RELATIVE_TOLERANCE), ..chosen });
            for (node, _) in self.given.iter().enumerate().filter(|(_, label)| **label != NONE) {
                first.leads.set(node);
            }
            for_ranges(count, 1 << 16, |nodes| {
                nodes.into_iter().for_each(|node| first.labels[node].store(node as u32, Relaxed));
                Ok(())
            })?;
        }
        let scratch = PerThread::new(ArcScratch::default);
        let follows = |stars: &Stars<'_>, node: usize| !stars.leads.get(node);
        source.for_each(
            0..source.graph().blocks().len(),
            |entry| {
                let nodes =
                    entry.first_node as usize..(entry.first_node + entry.node_count) as usize;
                stars.iter().any(|stars| nodes.clone().any(|node| follows(stars, node)))
            },
            |block| {
                tick(block)?;
                let mut each = runs.iter().zip(&stars);
                each.try_for_each(|(first, stars)| {
                    seed_block::<S>(block, *stars, first.labels, &scratch)
                })
            },
        )?;
        runs.iter().try_for_each(|first| self.rename(first))
    }

    /// From the leaders that nodes have found to the labels of these.
    fn rename(&self, first: &FirstLabels<'_>) -> Result<()> {
        if self.given.is_empty() && first.hops.is_empty() {
            return Ok(());
        }
        for_ranges(first.labels.len(), 1 << 16, |nodes| {
            for node in nodes {
                let leader = first.labels[node].load(Relaxed);
                if let Some(hops) = first.hops.get(node) {
                    hops.store(u8::from(leader as usize != node), Relaxed);
                }
                if let Some(&label) = self.given.get(leader as usize).filter(|l| **l != NONE) {
                    first.labels[node].store(label, Relaxed);
                }
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn communities_are_known_by_their_first_member() {
        let initial = vec![2, NONE, 0, 2, 0, NONE];
        let given = Given { initial, fixed: Vec::new() };
        let start = given.into_labels(6).unwrap();
        assert_eq!(start.given, [0, NONE, 2, 0, 2, NONE]);
        assert!(start.held.is_none());
    }

    /// Community 0 of the first labels has a node that is fixed in community 5 with node 1.
    #[test]
    fn what_is_fixed_names_the_communities_it_is_in() {
        let initial = vec![0, NONE, 0, 1, 1, 0];
        let fixed = vec![NONE, 5, 5, NONE, NONE, 0];
        let start = Given { initial, fixed }.into_labels(6).unwrap();
        assert_eq!(start.given, [1, 1, 1, 3, 3, 5]);
        let held = start.held.unwrap();
        assert_eq!((0..6).filter(|&node| held.get(node)).collect::<Vec<_>>(), [1, 2, 5]);
    }

    #[test]
    fn labels_of_another_graph_are_refused() {
        for labels in [vec![0; 5], vec![0, 1, 2, 6, 3, 3]] {
            let given = Given { initial: labels, fixed: Vec::new() };
            assert!(given.into_labels(6).is_err());
        }
    }
}
