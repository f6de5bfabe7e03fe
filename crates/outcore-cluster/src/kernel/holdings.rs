//! What the nodes of a level hold beside their arcs: input nodes, and the direction of their flow.
//!
//! A directed network is swept as an undirected graph of flow (`flow`). What that graph no longer tells is one number a
//! node: its drift, the flow that leaves it minus the flow that enters it. Inside a community the flow of arcs cancels,
//! so drifts are summed like input nodes, on every level. If teleportation is part of the walk, the flow that teleports
//! from a node is a second number. Modularity with a null model of two strengths a node, such as that of directed
//! networks or of networks of two modes, needs drifts too.
//!
//! Memory: 4 bytes a node for counts, 8 for drifts and 8 for teleported flow, and none for what the nodes do not hold. An
//! objective names what it [`Carries`]; one that carries nothing pays nothing.

use std::fmt::Debug;
use std::ops::{AddAssign, SubAssign};

/// Flow of a node that does not follow from its arcs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NodeFlow {
    /// Flow of the arcs that leave it minus that of the arcs that enter it.
    pub drift: f64,
    /// Flow that teleports from it, if teleportation is recorded.
    pub teleport: f64,
}

/// What a node holds beside its arcs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Holding {
    /// Number of input nodes.
    pub count: u32,
    /// Direction of its flow.
    pub flow: NodeFlow,
}

impl Holding {
    /// Returns what a node holds that consists of `count` input nodes, without flow.
    pub fn of_count(count: u32) -> Self {
        Self { count, flow: NodeFlow::default() }
    }
}

impl AddAssign for Holding {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.flow += other.flow;
    }
}

/// What the nodes of a level hold beside their arcs; a list is empty if all its values are the usual ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Holdings {
    /// Number of input nodes in each node: usually 1.
    pub counts: Vec<u32>,
    /// Drift of each node: usually 0.
    pub drifts: Vec<f64>,
    /// Flow that teleports from each node: usually 0.
    pub teleports: Vec<f64>,
}

/// Holdings of nodes that hold nothing but themselves.
pub static NO_HOLDINGS: Holdings =
    Holdings { counts: Vec::new(), drifts: Vec::new(), teleports: Vec::new() };

impl Holdings {
    /// Returns the number of input nodes in `node`.
    #[inline]
    pub fn count(&self, node: usize) -> u32 {
        self.counts.get(node).copied().unwrap_or(1)
    }

    /// Returns the flow of `node`.
    #[inline]
    pub fn flow(&self, node: usize) -> NodeFlow {
        let of = |list: &[f64]| list.get(node).copied().unwrap_or(0.0);
        NodeFlow { drift: of(&self.drifts), teleport: of(&self.teleports) }
    }

    /// Returns what `node` holds, as far as an objective carries it.
    #[inline]
    pub fn of<F: Carries>(&self, node: usize) -> Holding {
        let flow = if F::HAS_DRIFT { self.flow(node) } else { NodeFlow::default() };
        Holding { count: self.count(node), flow }
    }

    /// Returns the flow that the nodes of each of `count` groups hold together, as far as an objective carries it, with
    /// empty counts.
    pub fn grouped<F: Carries>(&self, groups: &[u32], count: usize) -> Self {
        let sums = |list: &[f64]| {
            let mut sums = vec![0.0; if list.is_empty() { 0 } else { count }];
            let nodes = groups.iter().zip(list);
            nodes.for_each(|(&group, value)| sums[group as usize] += value);
            sums
        };
        let carried = |carries: bool, list| if carries { sums(list) } else { Vec::new() };
        Self {
            counts: Vec::new(),
            drifts: carried(F::HAS_DRIFT, &self.drifts),
            teleports: carried(F::HAS_TELEPORT, &self.teleports),
        }
    }

    /// Returns whether the lists fit a level of `nodes` nodes.
    pub fn fit(&self, nodes: usize) -> bool {
        let fits = |len: usize| len == 0 || len == nodes;
        fits(self.counts.len()) && fits(self.drifts.len()) && fits(self.teleports.len())
    }
}

/// Part of a node's flow that an objective carries along.
pub trait Carries:
    Copy + Default + PartialEq + Debug + Send + Sync + AddAssign + SubAssign + 'static
{
    /// Whether it has a drift.
    const HAS_DRIFT: bool;
    /// Whether it has teleported flow.
    const HAS_TELEPORT: bool;

    /// Returns the part of a node's flow.
    fn of(flow: NodeFlow) -> Self;
    /// Returns the whole flow, zero where it is not carried.
    fn flow(self) -> NodeFlow;
}

/// Nothing: the graph is undirected.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NoFlow;

impl AddAssign for NoFlow {
    #[inline]
    fn add_assign(&mut self, _other: Self) {}
}

impl SubAssign for NoFlow {
    #[inline]
    fn sub_assign(&mut self, _other: Self) {}
}

impl Carries for NoFlow {
    const HAS_DRIFT: bool = false;
    const HAS_TELEPORT: bool = false;

    #[inline]
    fn of(_flow: NodeFlow) -> Self {
        Self
    }
    #[inline]
    fn flow(self) -> NodeFlow {
        NodeFlow::default()
    }
}

/// Drift alone.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Drift(pub f64);

impl AddAssign for Drift {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Drift {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Carries for Drift {
    const HAS_DRIFT: bool = true;
    const HAS_TELEPORT: bool = false;

    #[inline]
    fn of(flow: NodeFlow) -> Self {
        Self(flow.drift)
    }
    #[inline]
    fn flow(self) -> NodeFlow {
        NodeFlow { drift: self.0, teleport: 0.0 }
    }
}

impl AddAssign for NodeFlow {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.drift += other.drift;
        self.teleport += other.teleport;
    }
}

impl SubAssign for NodeFlow {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.drift -= other.drift;
        self.teleport -= other.teleport;
    }
}

impl Carries for NodeFlow {
    const HAS_DRIFT: bool = true;
    const HAS_TELEPORT: bool = true;

    #[inline]
    fn of(flow: NodeFlow) -> Self {
        flow
    }
    #[inline]
    fn flow(self) -> NodeFlow {
        self
    }
}
