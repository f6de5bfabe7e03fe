//! Limits that a user sets for a job, their minimum, and the slack beyond them.
//!
//! Each stage divides its share of a limit itself: methods of [`Limits`] are next to the costs of the modules that use
//! them (`io::tuning`, `input::memory`, `graph::size`). `plan` adds up.

use crate::units::MIB;

/// Minimum memory limit.
pub const MEMORY_MIN: u64 = 64 * MIB;
/// Slack by which a job may exceed its limit: the program itself, stacks, and memory that allocators retain.
pub const SLACK_BYTES: u64 = 32 * MIB;
/// Freed memory that may still be resident at the end of a stage, beyond the amount at its beginning.
const ALLOCATOR_BYTES: u64 = 16 * MIB;

/// Limits set by the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Limits {
    /// Maximum memory.
    pub memory_bytes: u64,
    /// Maximum number of threads.
    pub threads: usize,
}

impl Limits {
    /// Returns the memory that may still be allocated when `held_bytes` are resident.
    pub fn memory_left(&self, held_bytes: u64) -> u64 {
        self.memory_bytes.saturating_sub(held_bytes + ALLOCATOR_BYTES)
    }
}
