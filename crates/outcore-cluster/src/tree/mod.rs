//! Hierarchical map equation of a network in memory: modules of modules that describe a random walk in the fewest bits
//! (Rosvall and Bergstrom, "Multilevel compression of random walks on networks reveals hierarchical organization in
//! large integrated systems", 2011).
//!
//! ```text
//!  network --moving--> two levels --up--> modules of modules, while that shortens the code
//!                          |                      `--down--> each of them divided afresh, by itself
//!                          `-------------down--> each module divided by itself
//! ```
//!
//! Every module has a codebook: a leaf for its exit and its nodes, another module for its exit and the entries of its
//! children, and the root for the entries of the modules at the top. A codebook whose words have the rates r takes
//! plogp(sum r) - sum plogp(r) bits per step. Whatever lies inside a module does not depend on what lies outside, given
//! the flows at its boundary, so a module is divided as a network of its own: the cut of each of its nodes includes the
//! links that leave it.
//!
//! Searches depend on the network and the seed alone. Time: about 100 ns per arc for a network without modules, and
//! that much again for every level of its hierarchy. Memory: 12 bytes per arc and about 100 per node, twice at the peak.

mod flow;
mod length;
mod moving;
mod network;
mod search;
#[cfg(test)]
mod tests;

pub(crate) use flow::{Flow, LOOP_ENDS, Walk};
pub(crate) use length::{Codebooks, CutLength, DeepCuts, FlatSums, SUM_BYTES, TreeSums};
pub(crate) use network::{Members, Network};
pub(crate) use search::{Search, find};

use std::collections::HashMap;

/// Marker of an absent module.
pub(crate) const NONE: u32 = u32::MAX;

/// Modules of nodes, modules of these modules, and so on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ModuleTree {
    /// Parent of each module, [`NONE`] at the top; parents come before their children.
    pub(crate) parents: Vec<u32>,
    /// Leaf module of each node.
    pub(crate) leaves: Vec<u32>,
}

impl ModuleTree {
    /// Creates a tree of one level.
    pub(crate) fn flat(leaves: Vec<u32>, count: usize) -> Self {
        Self { parents: vec![NONE; count], leaves }
    }

    /// Creates the tree of layers from the finest up: the first has the module of each node, each other one the module of
    /// each module of the layer before it.
    pub(crate) fn of_layers(layers: &[Vec<u32>]) -> Self {
        let count =
            layers.last().and_then(|top| top.iter().max()).map_or(0, |&most| most as usize + 1);
        let (mut parents, mut first) = (vec![NONE; count], 0);
        for layer in layers.iter().skip(1).rev() {
            let next = parents.len() as u32;
            parents.extend(layer.iter().map(|&above| first + above));
            first = next;
        }
        let leaves = layers
            .first()
            .map_or_else(Vec::new, |of| of.iter().map(|&leaf| first + leaf).collect());
        Self { parents, leaves }.collapsed()
    }

    /// Creates the tree of labels on each level, coarsest first. Nodes of a group that are in several modules of the level
    /// above are in several modules here.
    pub(crate) fn of_levels<'l>(levels: impl IntoIterator<Item = &'l Vec<u32>>) -> Self {
        let mut levels = levels.into_iter();
        let top = levels.next().cloned().unwrap_or_default();
        let count = top.iter().max().map_or(0, |&most| most as usize + 1);
        let mut tree = Self::flat(top, count);
        levels.for_each(|labels| tree.divide(|node| labels[node]));
        tree.collapsed()
    }

    /// Divides each leaf by the groups of its nodes.
    pub(crate) fn divide(&mut self, group: impl Fn(usize) -> u32) {
        let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
        for (node, leaf) in self.leaves.iter_mut().enumerate() {
            let next = self.parents.len() as u32;
            let number = *numbers.entry((*leaf, group(node))).or_insert(next);
            if number == next {
                self.parents.push(*leaf);
            }
            *leaf = number;
        }
    }

    /// Merges every module that is an only child with its parent.
    pub(crate) fn collapsed(self) -> Self {
        let mut children = vec![0u32; self.parents.len()];
        let inner = self.parents.iter().filter(|parent| **parent != NONE);
        inner.for_each(|&parent| children[parent as usize] += 1);
        let (mut numbers, mut parents) = (Vec::with_capacity(self.parents.len()), Vec::new());
        for &parent in &self.parents {
            if parent == NONE {
                numbers.push(parents.len() as u32);
                parents.push(NONE);
            } else if children[parent as usize] == 1 {
                numbers.push(numbers[parent as usize]);
            } else {
                numbers.push(parents.len() as u32);
                parents.push(numbers[parent as usize]);
            }
        }
        let leaves = self.leaves.into_iter().map(|leaf| numbers[leaf as usize]).collect();
        Self { parents, leaves }
    }

    /// Returns the module at the top above each module.
    fn tops(&self) -> Vec<u32> {
        let mut tops: Vec<u32> = (0..self.parents.len() as u32).collect();
        for (module, &parent) in self.parents.iter().enumerate() {
            if parent != NONE {
                tops[module] = tops[parent as usize];
            }
        }
        tops
    }

    /// Replaces the modules at the top by others, given for each node, and keeps the deeper modules below them.
    fn with_tops(&self, tops: Vec<u32>, count: usize) -> Self {
        let depths = self.depths();
        let mut tree = Self::flat(tops, count);
        for depth in 2..=depths.iter().copied().max().unwrap_or(0) {
            // Parents come first, so that of a module has already been replaced by a module of at most this depth.
            let mut at: Vec<u32> = (0..depths.len() as u32).collect();
            for module in 0..at.len() {
                if depths[module] > depth {
                    at[module] = at[self.parents[module] as usize];
                }
            }
            tree.divide(|node| at[self.leaves[node] as usize]);
        }
        tree.collapsed()
    }

    /// Returns the depth of each module, 1 at the top.
    pub(crate) fn depths(&self) -> Vec<u32> {
        depths(&self.parents)
    }

    /// Hangs another tree, of a part of the nodes, below a module; returns the number that its first module gets.
    pub(crate) fn hang(&mut self, below: u32, parents: &[u32]) -> u32 {
        let first = self.parents.len() as u32;
        let parent = |&parent: &u32| if parent == NONE { below } else { first + parent };
        self.parents.extend(parents.iter().map(parent));
        first
    }
}

/// Returns the depth of each module, 1 at the top; parents come before their children.
fn depths(parents: &[u32]) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(parents.len());
    for &parent in parents {
        let above = if parent == NONE { 0 } else { depths[parent as usize] };
        depths.push(above + 1);
    }
    depths
}
