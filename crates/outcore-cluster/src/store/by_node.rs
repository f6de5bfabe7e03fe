//! Access to the label of each node, wherever labels are stored: all in memory, or a window of a file.

use outcore_io::prefetch;
use std::sync::atomic::AtomicU32;

/// Labels of nodes while they move.
pub trait NodeLabels: Sync {
    /// Returns a node's label.
    fn at(&self, node: u32) -> &AtomicU32;
    /// Prefetches a node's label.
    #[inline]
    fn prefetch(&self, _node: u32) {}
    /// Returns the name of a label, by which ties are broken.
    #[inline]
    fn name(&self, label: u32) -> u32 {
        label
    }
}

/// All labels in memory.
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

/// Labels that the closing scan looks up.
pub trait KnownLabels: Sync {
    /// Whether the labels of neighbors after a node are known, without which `NodeSums::inside` is incomplete. Those
    /// of neighbors before it are always known.
    const AFTER: bool;
    /// Returns a node's label.
    fn label(&self, node: u32) -> u32;
    /// Prefetches the label of a node that is looked up soon.
    #[inline]
    fn prefetch(&self, _node: u32) {}
}

impl KnownLabels for [u32] {
    const AFTER: bool = true;
    #[inline]
    fn label(&self, node: u32) -> u32 {
        self[node as usize]
    }
    #[inline]
    fn prefetch(&self, node: u32) {
        prefetch(self, node as usize);
    }
}
