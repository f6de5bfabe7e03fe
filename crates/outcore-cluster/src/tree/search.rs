//! Search for the tree of modules that describes a network in the fewest bits.
//!
//! A network is divided into modules (`moving`), and these are joined to modules of modules while that shortens the code.
//! Then what is inside each module at the top is built afresh, as if the module were alone, and likewise what is inside
//! its modules: the best division of a large network into two levels is seldom a level of the best tree, as Infomap's
//! authors found. What was built on the way up is kept where that is shorter. The modules at the bottom, each found inside
//! its own parents, are then joined again, as long as that leads to a shorter tree: that is worth 0.1 to 0.3 % on networks
//! of 5,000 to 20,000 nodes, where further starts are worth nothing.

use super::flow::Walk;
use super::length::bare_length;
use super::moving::{Partition, Scope, dense, optimize};
use super::network::{Members, Network};
use super::{ModuleTree, NONE};
use crate::base::hash::mix;
use rayon::prelude::*;

/// Least improvement that is worth a module, relative to the rate of the network: rounding is below that.
const LEAST_GAIN: f64 = 1e-10;
/// Nodes and links that further starts of a small network may search, all together.
const START_SIZE: usize = 1 << 15;
/// Maximum number of starts of a small network.
const MOST_STARTS: usize = 4;
/// Likewise, for whole trees.
const TREE_SIZE: usize = 1 << 19;
const MOST_TREES: usize = 8;
/// Maximum number of times that the modules at the bottom of a tree are joined again.
const MOST_PASSES: u32 = 8;
/// Minimum size of a network whose parts are divided in parallel.
const PARALLEL_SIZE: usize = 1 << 12;
/// Maximum depth of a recursion.
const MOST_DEPTH: u32 = 64;

/// Network to divide.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) net: &'a Network,
    pub(crate) walk: &'a Walk,
    /// Rate of leaving the module that consists of the network; 0 for a whole graph.
    pub(crate) outer: f64,
    pub(crate) seed: u64,
    /// Whether to try several starts even if the first finds no division.
    pub(crate) is_thorough: bool,
}

/// Tree, and its code length without the terms of the nodes.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) tree: ModuleTree,
    pub(super) length: f64,
}

/// Finds the best tree of a network, also from a given division; `None` if no division shortens the code. The modules at
/// the top are connected. The result is never longer than a given division into connected modules.
pub(crate) fn find(search: &Search<'_>, start: Option<&[u32]>) -> Option<ModuleTree> {
    let trees = if search.is_thorough { TREE_SIZE / search.net.size().max(1) } else { 1 };
    let trees = trees.clamp(1, MOST_TREES);
    // One trial begins with all nodes in one module: the others, from single nodes, miss divisions that only take a few
    // nodes with heavy loops out of the rest.
    let together = vec![0; if trees > 1 { search.net.count() } else { 0 }];
    let from = |trial: usize| {
        let seed = mix(search.seed ^ (trial as u64) << 8);
        let start = match trial {
            0 => start,
            1 => Some(&together[..]),
            _ => None,
        };
        let search = Search { seed, ..*search };
        search.solve(start, 0).map(|found| search.connected(found))
    };
    let found: Vec<Option<Found>> = match trees {
        1 => vec![from(0)],
        _ => (0..trees).into_par_iter().map(from).collect(),
    };
    let mut best = found.into_iter().flatten().reduce(shorter)?;
    for _ in 0..if search.is_thorough { MOST_PASSES } else { 0 } {
        let next = search.connected(search.joined_again(&best.tree));
        if next.length >= best.length - search.worth() {
            break;
        }
        best = next;
    }
    Some(best.tree)
}

/// Returns the shorter of two trees; the first if they are equal.
fn shorter(a: Found, b: Found) -> Found {
    if b.length < a.length { b } else { a }
}

impl<'a> Search<'a> {
    fn scope(&self) -> Scope<'a> {
        Scope { walk: self.walk, outer: self.outer }
    }

    /// Returns the improvement that is worth a module.
    fn worth(&self) -> f64 {
        LEAST_GAIN * (self.outer + self.net.rate())
    }

    /// Finds a tree, or none if no division shortens the code.
    fn solve(&self, start: Option<&[u32]>, depth: u32) -> Option<Found> {
        if self.net.count() < 2 || depth == MOST_DEPTH {
            return None;
        }
        let division = self.divide(start)?;
        let layers = self.join(division);
        match &layers[..] {
            [layer] => Some(self.deepen(ModuleTree::of_layers(std::slice::from_ref(layer)), depth)),
            _ => Some(self.rebuild(&layers, depth)),
        }
    }

    /// Joins the modules at the bottom of a tree afresh.
    pub(super) fn joined_again(&self, tree: &ModuleTree) -> Found {
        let mut of = tree.leaves.clone();
        let count = dense(&mut of);
        let layers = self.join(Partition { of, count, length: 0.0 });
        self.rebuild(&layers, 0)
    }

    /// Divides the network into modules on one level, if that shortens the code.
    fn divide(&self, start: Option<&[u32]>) -> Option<Partition> {
        let (net, scope) = (self.net, self.scope());
        let most = scope.undivided(net) - self.worth();
        let mut best = optimize(net, scope, start, self.seed, !self.is_thorough);
        // Most networks are not divided by one start, and are left alone. The others are worth further starts.
        if best.count > 1 {
            for trial in 1..(START_SIZE / net.size()).clamp(1, MOST_STARTS) {
                let other = optimize(net, scope, None, mix(self.seed ^ trial as u64), false);
                if other.length < best.length {
                    best = other;
                }
            }
        }
        (best.count > 1 && best.length < most).then_some(best)
    }

    /// Joins modules to modules of modules while that shortens the code; returns the layers, finest first.
    fn join(&self, division: Partition) -> Vec<Vec<u32>> {
        let Partition { of, count, .. } = division;
        let mut index = self.net.contracted(&of, count);
        index.enter(self.walk);
        let mut layers = vec![of];
        while index.count() > 2 {
            let next = Search { net: &index, ..*self };
            let Some(Partition { of, count, .. }) = next.divide(None) else { break };
            let mut above = index.contracted(&of, count);
            above.enter(self.walk);
            layers.push(of);
            index = above;
        }
        layers
    }

    /// Divides the leaves of a tree by themselves.
    fn deepen(&self, mut tree: ModuleTree, depth: u32) -> Found {
        let count = tree.parents.len();
        let found = self.for_parts(&tree.leaves, count, |part, _| part.solve(None, depth + 1));
        let members = Members::new(&tree.leaves, count);
        for (leaf, found) in (0..).zip(found) {
            let Some(found) = found else { continue };
            let first = tree.hang(leaf, &found.tree.parents);
            for (&node, &below) in members.of(leaf).iter().zip(&found.tree.leaves) {
                tree.leaves[node as usize] = first + below;
            }
        }
        let length = bare_length(self.net, self.walk, self.outer, &tree);
        Found { tree, length }
    }

    /// Builds what is inside each module at the top afresh, and takes the shorter of the two trees.
    fn rebuild(&self, layers: &[Vec<u32>], depth: u32) -> Found {
        let whole = ModuleTree::of_layers(layers);
        let tops = whole.tops();
        let of: Vec<u32> = whole.leaves.iter().map(|&leaf| tops[leaf as usize]).collect();
        let count = whole.parents.iter().filter(|parent| **parent == NONE).count();
        let found = self.for_parts(&of, count, |part, nodes| {
            let fresh = part.solve(None, depth + 1);
            let built = whole.below(nodes);
            let length = bare_length(part.net, part.walk, part.outer, &built);
            match fresh {
                Some(fresh) if fresh.length < length => Some(fresh),
                _ if built.parents.is_empty() => None,
                _ => Some(part.deepen(built, depth + 1)),
            }
        });
        let members = Members::new(&of, count);
        let mut tree = ModuleTree::flat(of, count);
        for (top, found) in (0..).zip(found) {
            let Some(found) = found else { continue };
            let first = tree.hang(top, &found.tree.parents);
            for (&node, &below) in members.of(top).iter().zip(&found.tree.leaves) {
                tree.leaves[node as usize] = first + below;
            }
        }
        let length = bare_length(self.net, self.walk, self.outer, &tree);
        Found { tree, length }
    }

    /// Splits modules at the top into their connected pieces, as communities are split in the end. If teleportation is
    /// recorded, the code may be shorter without that.
    fn connected(&self, found: Found) -> Found {
        let tops = found.tree.tops();
        let mut of: Vec<u32> = found.tree.leaves.iter().map(|&leaf| tops[leaf as usize]).collect();
        let count = found.tree.parents.iter().filter(|parent| **parent == NONE).count();
        let pieces = self.net.connect(&mut of);
        if pieces == count {
            return found;
        }
        let tree = found.tree.with_tops(of, pieces);
        let length = bare_length(self.net, self.walk, self.outer, &tree);
        Found { tree, length }
    }

    /// Calls `visit` with each part of the network as a network of its own, and its nodes.
    fn for_parts<T: Send>(
        &self,
        of: &[u32],
        count: usize,
        visit: impl Fn(&Search<'_>, &[u32]) -> T + Sync,
    ) -> Vec<T> {
        let members = Members::new(of, count);
        let places = members.places();
        let each = |part: usize| {
            let nodes = members.of(part as u32);
            let net = self.net.part(nodes, of, &places);
            let (_, outer) = self.walk.boundary(&net.whole());
            let seed = mix(self.seed ^ (part as u64 + 1) << 20);
            visit(&Search { net: &net, outer, seed, ..*self }, nodes)
        };
        if self.net.size() < PARALLEL_SIZE {
            return (0..count).map(each).collect();
        }
        (0..count).into_par_iter().map(each).collect()
    }
}

impl ModuleTree {
    /// Returns the tree inside a module at the top, given by all of its nodes.
    fn below(&self, nodes: &[u32]) -> Self {
        let mut numbers = vec![NONE; self.parents.len()];
        let mut modules = Vec::new();
        for &node in nodes {
            let mut module = self.leaves[node as usize];
            while self.parents[module as usize] != NONE && numbers[module as usize] == NONE {
                numbers[module as usize] = 0;
                modules.push(module);
                module = self.parents[module as usize];
            }
        }
        // Parents have smaller numbers.
        modules.sort_unstable();
        (0..).zip(&modules).for_each(|(number, &module)| numbers[module as usize] = number);
        let number = |module: u32| if module == NONE { NONE } else { numbers[module as usize] };
        let parents = modules.iter().map(|&module| number(self.parents[module as usize])).collect();
        let leaves = nodes.iter().map(|&node| number(self.leaves[node as usize])).collect();
        Self { parents, leaves }
    }
}

/// Returns the code length of a network that is not divided, without the terms of the nodes.
#[cfg(test)]
pub(super) fn undivided(search: &Search<'_>) -> f64 {
    bare_length(search.net, search.walk, search.outer, &ModuleTree::default())
}
