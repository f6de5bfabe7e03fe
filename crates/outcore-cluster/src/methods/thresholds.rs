//! Thresholds of components.

use serde::{Deserialize, Serialize};

/// Thresholds at which components are found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ladder {
    /// None: all edges count alike.
    One,
    /// Codes of weights, in descending order; lighter edges do not count.
    Steps(Vec<u32>),
    /// Every weight.
    Heights,
}

impl Ladder {
    /// Maximum number of steps.
    pub const STEPS_MAX: usize = 200;

    /// Returns the memory of a forest per node.
    pub fn bytes_a_node(&self) -> u64 {
        match self {
            Self::One => 4,
            Self::Steps(_) => 5,
            Self::Heights => 8,
        }
    }
}
