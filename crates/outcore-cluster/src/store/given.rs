//! Labels given to nodes before the first sweep.

/// Marks a node without a given label.
pub(crate) const NONE: u32 = u32::MAX;

/// Labels that nodes have from the start: for each node, a number below the number of nodes, or
/// `u32::MAX` for none. An array is empty if no node has such a label.
#[derive(Debug, Clone, Default)]
pub struct GivenLabels {
    /// Initial labels, such as an earlier result.
    pub initial: Vec<u32>,
    /// Labels that never change. A community of `initial` that contains such nodes takes the label of
    /// the first of them.
    pub fixed: Vec<u32>,
}

impl GivenLabels {
    /// Returns how many of the two arrays are present.
    pub fn count(&self) -> u64 {
        u64::from(!self.initial.is_empty()) + u64::from(!self.fixed.is_empty())
    }
}
