//! The label of each node, wherever labels are: all in memory, those of a window of a file, or those that a part was told.

use crate::io::prefetch;
use std::sync::atomic::AtomicU32;

/// Where the labels of nodes are while they are moved.
pub trait NodeLabels: Sync {
    /// A node's label.
    fn at(&self, node: u32) -> &AtomicU32;
    /// Asks the memory for it.
    #[inline]
    fn prefetch(&self, _node: u32) {}
    /// What a label is called where equally good ones are put in order.
    #[inline]
    fn name(&self, label: u32) -> u32 {
        label
    }
}

/// All of them.
impl NodeLabels for [AtomicU32] {
    #[inline]
    fn at(&self, node: u32) -> &AtomicU32 {
        &self[node as usize]
    }
    #[inline]
    fn prefetch(&self, node: u32) {
        prefetch(self, node as usize);
    }
}

/// Where the closing scan looks up the labels of nodes.
pub trait KnownLabels: Sync {
    /// Whether those of neighbors after a node are known; otherwise `inside` is not. Those before it are.
    const AFTER: bool;
    /// A node's label.
    fn label(&self, node: u32) -> u32;
    /// Asks for the labels of nodes that are looked up soon; each may be far from the others.
    fn prefetch(&self, _nodes: &[u32]) {}
}

impl KnownLabels for [u32] {
    const AFTER: bool = true;
    #[inline]
    fn label(&self, node: u32) -> u32 {
        self[node as usize]
    }
    #[inline]
    fn prefetch(&self, nodes: &[u32]) {
        nodes.iter().for_each(|&node| prefetch(self, node as usize));
    }
}
