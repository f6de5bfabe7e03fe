//! What a user allows a job: the limits, the least of them, and how far a job may pass them.
//!
//! How a stage divides its share of a limit is the stage's own: methods of [`Limits`] stand beside the costs of
//! the modules that use them (`io::tuning`, `input::cost`, `graph::cost`, `cluster::cost`). `plan` adds up.

use crate::units::MIB;

/// The least limit there is.
pub const MEMORY_MIN: u64 = 64 * MIB;
/// How far a job may pass its limit: the program itself, stacks, and what allocators hold back.
pub const SLACK_BYTES: u64 = 32 * MIB;
/// What freed memory may still be resident at the end of a stage, beyond what it began with.
const ALLOCATOR_BYTES: u64 = 16 * MIB;

/// What the user allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Limits {
    /// Most memory.
    pub memory_bytes: u64,
    /// Most threads.
    pub threads: usize,
}

impl Limits {
    /// What may still be taken when `held_bytes` are resident.
    pub fn memory_left(&self, held_bytes: u64) -> u64 {
        self.memory_bytes.saturating_sub(held_bytes + ALLOCATOR_BYTES)
    }
}
