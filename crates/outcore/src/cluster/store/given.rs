//! Labels that nodes are given before the first sweep.

/// A node that is given no label.
pub(crate) const NONE: u32 = u32::MAX;

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
}
