//! Code length of a tree of modules, from sums over its nodes and the links inside each module.
//!
//! A link is inside the lowest module that holds both of its ends, and inside every module above that one. Cost: a step
//! per link and level between its ends. Memory: [`SUM_BYTES`] per module, beside the tree.

use super::flow::{Flow, Walk};
use super::network::Network;
use super::{ModuleTree, NONE, depths};
use crate::base::logarithm::plogp;

/// Bytes of the sums of a module.
pub(crate) const SUM_BYTES: u64 = 45;

/// Sums of all modules of a tree.
pub(crate) struct TreeSums<'t> {
    parents: &'t [u32],
    depths: Vec<u32>,
    /// Sums over the nodes of each leaf, and then over the nodes of every module.
    flows: Vec<Flow>,
    /// Weight of the links whose lowest module this is, at both ends.
    inside: Vec<f64>,
    /// Sum of plogp of the rates of nodes.
    of_nodes: f64,
    rate: f64,
}

/// Code length of a tree that is cut at some depth: what lies below is joined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CutLength {
    /// Number of modules at this depth.
    pub(crate) count: u64,
    pub(crate) length: f64,
}

impl<'t> TreeSums<'t> {
    pub(crate) fn new(parents: &'t [u32]) -> Self {
        Self {
            parents,
            depths: depths(parents),
            flows: vec![Flow::default(); parents.len()],
            inside: vec![0.0; parents.len()],
            of_nodes: 0.0,
            rate: 0.0,
        }
    }

    /// Returns the sums of a tree on a network.
    pub(crate) fn of(net: &Network, tree: &'t ModuleTree) -> Self {
        let mut sums = Self::new(&tree.parents);
        if tree.parents.is_empty() {
            sums.rate = net.rate();
            return sums;
        }
        for (node, &leaf) in (0..).zip(&tree.leaves) {
            sums.add(leaf, net.flows[node as usize]);
            for (target, weight) in net.links(node) {
                let module = sums.lowest_common(leaf, tree.leaves[target as usize]);
                if module != NONE {
                    sums.add_inside(module, weight);
                }
            }
        }
        sums
    }

    /// Adds a node to its leaf; its cut includes all links but loops.
    #[inline]
    pub(crate) fn add(&mut self, leaf: u32, node: Flow) {
        self.flows[leaf as usize] += node;
        self.of_nodes += plogp(node.rate);
        self.rate += node.rate;
    }

    /// Adds links inside a module, at one of their ends.
    #[inline]
    pub(crate) fn add_inside(&mut self, module: u32, weight: f64) {
        self.inside[module as usize] += weight;
    }

    /// Returns the lowest module that holds two leaves, or none.
    #[inline]
    pub(crate) fn lowest_common(&self, a: u32, b: u32) -> u32 {
        lowest_common(self.parents, &self.depths, a, b)
    }

    /// Returns the depth of each module.
    pub(crate) fn depths(&self) -> &[u32] {
        &self.depths
    }

    /// Returns the sum of the rates of all nodes.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// Converts all sums from units of weight. `of_rates` returns the sum of plogp of the rates of nodes, given the sum
    /// of the rates.
    pub(crate) fn scaled(mut self, scale: f64, of_rates: impl Fn(f64) -> f64) -> Self {
        for Flow { rate, cut, drift, teleport } in &mut self.flows {
            [rate, cut, drift, teleport].into_iter().for_each(|sum| *sum *= scale);
        }
        self.inside.iter_mut().for_each(|weight| *weight *= scale);
        self.rate *= scale;
        self.of_nodes = of_rates(self.rate);
        self
    }

    /// Sums up the tree; returns the codebooks, for a tree inside a module with the rate `outer` of its exit.
    pub(crate) fn close(self, walk: &Walk, outer: f64) -> Codebooks {
        let Self { parents, depths, mut flows, inside, of_nodes, rate } = self;
        flows.iter_mut().zip(&inside).for_each(|(flow, inside)| flow.cut -= inside);
        // The sums of links are not needed any more, so their memory is reused.
        let mut entries = inside;
        entries.fill(0.0);
        let (mut has_children, mut top) = (vec![false; parents.len()], 0.0);
        for (module, &parent) in parents.iter().enumerate().rev() {
            let flow = flows[module];
            let (enter, _) = walk.boundary(&flow);
            if parent == NONE {
                top += enter;
            } else {
                let parent = parent as usize;
                has_children[parent] = true;
                entries[parent] += enter;
                // The cut of a parent lacks only what is inside it.
                flows[parent] += flow;
            }
        }
        Codebooks { walk: *walk, outer, depths, flows, entries, top, has_children, of_nodes, rate }
    }
}

fn lowest_common(parents: &[u32], depths: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        if a == NONE || b == NONE {
            return NONE;
        }
        let (of_a, of_b) = (depths[a as usize], depths[b as usize]);
        if of_a >= of_b {
            a = parents[a as usize];
        }
        if of_b >= of_a {
            b = parents[b as usize];
        }
    }
    a
}

/// Codebooks of all modules and of the scope that holds them.
pub(crate) struct Codebooks {
    walk: Walk,
    /// Exit of the scope.
    outer: f64,
    depths: Vec<u32>,
    flows: Vec<Flow>,
    /// Sum of the entries of the children of each module, and of the modules at the top.
    entries: Vec<f64>,
    top: f64,
    has_children: Vec<bool>,
    of_nodes: f64,
    rate: f64,
}

/// Returns the length of a codebook with words for an exit and for entries or visits, without the terms of the latter.
fn book(exit: f64, words: f64) -> f64 {
    plogp(exit + words) - plogp(exit)
}

impl Codebooks {
    pub(crate) fn depth(&self) -> u32 {
        self.depths.iter().copied().max().unwrap_or(0)
    }

    /// Returns the number of modules at a depth, and the code length of the tree cut there, without the terms of its nodes.
    fn cut_at(&self, depth: u32) -> CutLength {
        if self.flows.is_empty() {
            return CutLength { count: 0, length: book(self.outer, self.rate) };
        }
        let mut cut = CutLength { count: 0, length: book(self.outer, self.top) };
        for (module, flow) in self.flows.iter().enumerate() {
            let at = self.depths[module];
            if at > depth {
                continue;
            }
            let (enter, exit) = self.walk.boundary(flow);
            let is_inner = self.has_children[module] && at < depth;
            let words = if is_inner { self.entries[module] } else { flow.rate };
            cut.length += book(exit, words) - plogp(enter);
            cut.count += u64::from(at == depth);
        }
        cut
    }

    /// Returns the code length of the whole tree, without the terms of its nodes.
    pub(crate) fn bare_length(&self) -> f64 {
        self.cut_at(u32::MAX).length
    }

    /// Returns the number of modules and the code length at each depth.
    pub(crate) fn cuts(&self) -> Vec<CutLength> {
        let cut = |depth| {
            let cut = self.cut_at(depth);
            CutLength { length: cut.length - self.of_nodes, ..cut }
        };
        (1..=self.depth()).map(cut).collect()
    }

    /// Like [`cuts`](Self::cuts), with the lengths relative to that of the scope if it is not divided.
    pub(crate) fn changes(&self) -> Vec<CutLength> {
        let undivided = book(self.outer, self.rate);
        let change = |depth| {
            let cut = self.cut_at(depth);
            CutLength { length: cut.length - undivided, ..cut }
        };
        (1..=self.depth()).map(change).collect()
    }
}

/// Code lengths of modules on one level, from their flows one by one.
#[derive(Default)]
pub(crate) struct FlatSums {
    count: u64,
    entries: f64,
    length: f64,
}

impl FlatSums {
    pub(crate) fn add(&mut self, walk: &Walk, module: &Flow) {
        let (enter, exit) = walk.boundary(module);
        self.count += 1;
        self.entries += enter;
        self.length += book(exit, module.rate) - plogp(enter);
    }

    /// Returns the number of modules and the code length, without the terms of the nodes.
    pub(crate) fn cut(&self) -> CutLength {
        CutLength { count: self.count, length: plogp(self.entries) + self.length }
    }
}

/// Cuts of a tree below whose leaves others are hung.
pub(crate) struct DeepCuts {
    /// Cuts of the tree alone.
    upper: Vec<CutLength>,
    /// Number of modules that are hung at each depth, and what they change.
    hung: Vec<CutLength>,
}

impl DeepCuts {
    pub(crate) fn new(upper: Vec<CutLength>) -> Self {
        Self { upper, hung: Vec::new() }
    }

    /// Hangs a tree with these [`changes`](Codebooks::changes) below a leaf at some depth.
    pub(crate) fn hang(&mut self, depth: u32, changes: &[CutLength]) {
        let least = depth as usize + changes.len();
        if self.hung.len() < least {
            self.hung.resize(least, CutLength { count: 0, length: 0.0 });
        }
        let mut before = 0.0;
        for (hung, change) in self.hung[depth as usize..].iter_mut().zip(changes) {
            hung.count += change.count;
            hung.length += change.length - before;
            before = change.length;
        }
    }

    /// Returns the cuts of the tree, including the trees that were hung below its leaves.
    pub(crate) fn all(&self) -> Vec<CutLength> {
        let deepest = self.upper.last().map_or(0.0, |cut| cut.length);
        let mut change = 0.0;
        let mut cut = |at: usize| {
            let upper =
                self.upper.get(at).copied().unwrap_or(CutLength { count: 0, length: deepest });
            let hung = self.hung.get(at).copied().unwrap_or(CutLength { count: 0, length: 0.0 });
            change += hung.length;
            CutLength { count: upper.count + hung.count, length: upper.length + change }
        };
        (0..self.upper.len().max(self.hung.len())).map(&mut cut).collect()
    }
}

/// Returns the code length of a tree on a network, without the terms of its nodes, inside a module with the rate `outer`
/// of its exit.
pub(crate) fn bare_length(net: &Network, walk: &Walk, outer: f64, tree: &ModuleTree) -> f64 {
    TreeSums::of(net, tree).close(walk, outer).bare_length()
}
