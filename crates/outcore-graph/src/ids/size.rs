//! Memory and disk that the names of an input take, before it is read.

use super::name::SHORT_NAME_BYTES;
use super::spill::BUFFER_BYTES;
use outcore_sort::SORT_BYTES_MIN;

/// Bytes per name in the index: 64 per three slots at 78 to 87 % load...
const INDEX_BYTES_A_NODE: f64 = 27.5;
/// ...and at 44 to 55 % load, while there is memory for it.
const SPARSE_BYTES_A_NODE: f64 = 48.5;

/// Memory and disk of the names of an input; those that do not fit in memory spill to disk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NamesSize {
    /// Number of names in the index.
    pub indexed_count: u64,
    /// Memory of the index.
    pub index_bytes: u64,
    /// Share of the ends of edges that are read before the index is full; 1 if all names fit.
    pub indexed_share: f64,
    /// Memory for names once the index is full; 0 if all names fit.
    pub spilled_bytes: u64,
    /// Bytes of spilled names and edges read from disk.
    pub read_bytes: u64,
    /// Bytes of spilled names and edges written to disk.
    pub write_bytes: u64,
    /// Disk space of them.
    pub disk_bytes: u64,
}

impl NamesSize {
    /// Returns the size for `nodes` names of `name_bytes` bytes at the `ends` ends of edges. Index and sort share
    /// `memory_bytes`, and the index is sparse up to `sparse_bytes`. A name in the index comes with `bytes_beside`
    /// bytes for its node. Nodes are expected to occur as if edges were drawn at random.
    pub fn of(
        nodes: u64,
        ends: u64,
        name_bytes: f64,
        memory_bytes: u64,
        sparse_bytes: u64,
        bytes_beside: f64,
    ) -> Self {
        let (nodes, ends) = (nodes as f64, ends as f64);
        let room = memory_bytes.saturating_sub(SORT_BYTES_MIN) as f64;
        let known = room / (INDEX_BYTES_A_NODE + bytes_beside);
        let names = nodes.min(known);
        let sparse =
            (names * SPARSE_BYTES_A_NODE).min(sparse_bytes as f64).min(room - names * bytes_beside);
        let index_bytes = (names * INDEX_BYTES_A_NODE).max(sparse) as u64;
        let indexed_count = names as u64;
        if nodes <= known {
            return Self {
                indexed_count,
                index_bytes,
                indexed_share: 1.0,
                spilled_bytes: 0,
                read_bytes: 0,
                write_bytes: 0,
                disk_bytes: 0,
            };
        }
        let before = (-(1.0 - known / nodes).ln() * nodes).min(ends);
        let (after, new) = (ends - before, nodes - known);
        let unknown = after * new / nodes;
        // Longer names include their text.
        let is_long = name_bytes > SHORT_NAME_BYTES as f64;
        let name = 16.0 + if is_long { 4.0 + name_bytes } else { 0.0 };
        let (refs, weights) = (4.0 * after, 2.0 * after);
        let written = refs + weights + unknown * (name + 8.0) + new * (name + 4.0);
        Self {
            indexed_count,
            index_bytes,
            indexed_share: before / ends.max(1.0),
            spilled_bytes: BUFFER_BYTES,
            read_bytes: (written + refs + unknown * 4.0) as u64,
            write_bytes: written as u64,
            disk_bytes: (refs + weights + unknown * (name + 4.0)) as u64,
        }
    }
}
