//! [`Cramped`]: artificially tight bounds, so that a small job exercises every path of a large one: several
//! runs and merge passes, names and levels on disk, blocks reread by every scan. For tests; nothing here
//! but `tree_size` changes a result.

use std::time::Duration;

/// Upper bounds on data that a job holds in memory, whatever its limits allow.
#[derive(Debug, Clone, Copy)]
pub struct Cramped {
    /// Bytes of text parsed as one piece.
    pub chunk_bytes: usize,
    /// Records in each of the initial runs.
    pub run_records: usize,
    /// Records that fit in the sort's memory at a time.
    pub sort_records: usize,
    /// Runs merged at a time.
    pub fan_in: usize,
    /// Records that wait in memory for the row that they belong to.
    pub waiting_records: usize,
    /// Names numbered in memory; further ones go to disk.
    pub names: u64,
    /// Nodes of a forest, or of a range of one, that are linked in memory.
    pub forest_nodes: u64,
    /// Bytes of graph blocks that stay in memory from scan to scan.
    pub kept_bytes: u64,
    /// Memory of a clustering above which its labels move to disk.
    pub label_bytes: u64,
    /// Arcs of a level of a clustering that is held in memory.
    pub level_arcs: u64,
    /// Nodes and arcs of a graph that is searched for a tree of modules as a whole.
    pub tree_size: u64,
    /// Bytes of community sums that stay in memory while the groups inside the communities are determined.
    pub sums_bytes: u64,
    /// Edges inside communities that are examined together.
    pub community_edges: usize,
    /// Time between two saves of the sweep state.
    pub sweep_save: Duration,
    /// Time between two checkpoints while reading input.
    pub read_save: Duration,
}

impl Cramped {
    /// No artificial bounds.
    pub const NOT: Self = Self {
        chunk_bytes: usize::MAX,
        run_records: usize::MAX,
        sort_records: usize::MAX,
        fan_in: usize::MAX,
        waiting_records: usize::MAX,
        names: u64::MAX,
        forest_nodes: u64::MAX,
        kept_bytes: u64::MAX,
        label_bytes: u64::MAX,
        level_arcs: u64::MAX,
        tree_size: u64::MAX,
        sums_bytes: u64::MAX,
        community_edges: usize::MAX,
        sweep_save: Duration::from_secs(60),
        read_save: Duration::from_secs(60),
    };
}
