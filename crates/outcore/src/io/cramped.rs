//! [`Cramped`]: less room than any limit gives, so that a small job goes all the ways of a large one:
//! several runs and merge passes, names and levels on disk, blocks read again by every scan. For tests;
//! nothing here changes a result.

use std::time::Duration;

/// The most of what a job holds in memory, whatever its limits allow.
#[derive(Debug, Clone, Copy)]
pub struct Cramped {
    /// Text that is parsed as one piece.
    pub chunk_bytes: usize,
    /// Records of each of the first runs.
    pub run_records: usize,
    /// Records that the sort has room for at once.
    pub sort_records: usize,
    /// Runs that are merged at once.
    pub fan_in: usize,
    /// Names that are numbered in memory, after which the others go to disk.
    pub names: u64,
    /// Blocks of a graph that stay in memory from scan to scan.
    pub kept_bytes: u64,
    /// Memory of a clustering whose labels may lie on disk instead.
    pub label_bytes: u64,
    /// Arcs of a level of a clustering that lies in memory.
    pub level_arcs: u64,
    /// Sums of communities that stay in memory while the groups inside them are found.
    pub sums_bytes: u64,
    /// Time that passes before the state of sweeps is saved again.
    pub sweep_save: Duration,
    /// Time from one point of reading that is kept to the next.
    pub read_save: Duration,
}

impl Cramped {
    /// Nothing is kept small.
    pub const NOT: Self = Self {
        chunk_bytes: usize::MAX,
        run_records: usize::MAX,
        sort_records: usize::MAX,
        fan_in: usize::MAX,
        names: u64::MAX,
        kept_bytes: u64::MAX,
        label_bytes: u64::MAX,
        level_arcs: u64::MAX,
        sums_bytes: u64::MAX,
        sweep_save: Duration::from_secs(60),
        read_save: Duration::from_secs(60),
    };
}
