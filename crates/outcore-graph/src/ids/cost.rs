//! Cost of numbering the names of an input: memory while they fit, disk beyond that.

use super::name::SHORT_NAME_BYTES;
use super::spill::BUFFER_BYTES;
use super::table::SPARSE_PART;
use crate::InputSize;
use outcore_sort::SORT_BYTES_MIN;

/// Bytes per name in the index: 20 per slot at 75 to 85 % load...
const INDEX_BYTES_A_NODE: f64 = 26.5;
/// ...and at 49 to 55 % load, while that is a small part of the memory.
const SPARSE_BYTES_A_NODE: f64 = 41.0;

/// Number of phases in which the index grows; another one follows if names spill.
const PHASES: usize = 8;

/// Nanoseconds of one core to insert a new name.
const NEW_NAME: f64 = 380.0;
/// Nanoseconds of one core to read and insert a name of the graph that edges are added to.
const OLD_NAME: f64 = 150.0;
/// Nanoseconds for names that go to disk: for every end of an edge, for an unknown one, for a new one.
const SPILLED_END: f64 = 30.0;
const SPILLED_UNKNOWN: f64 = 250.0;
const SPILLED_NEW: f64 = 130.0;

/// Cost of the names of an input, including those that do not fit in memory; see `spill`.
#[derive(Debug, Clone, Copy, Default)]
pub struct NamesCost {
    /// Memory of the index.
    pub index_bytes: u64,
    /// Phases of reading: the share of the edges in each, and the memory of names then.
    pub phases: [(f64, u64); PHASES + 1],
    /// Memory of edges when they are read back from disk; 0 if all names fit.
    pub spilled_bytes: u64,
    /// Bytes read from disk.
    pub read_bytes: f64,
    /// Bytes written to disk.
    pub write_bytes: f64,
    /// Disk space.
    pub disk_bytes: f64,
    /// Time of one core.
    pub nanoseconds: f64,
}

impl NamesCost {
    /// Estimates the cost. Nodes are expected to occur as if edges were drawn at random. Each name in the index comes
    /// with `bytes_beside` bytes for its node.
    pub fn of(input: &InputSize, read_bytes: u64, bytes_beside: f64) -> Self {
        let old = input.old_nodes() as f64;
        // Old names come first, each like an end of an edge.
        let (nodes, ends) = (input.node_count as f64 + old, 2.0 * input.edge_count as f64 + old);
        let room = read_bytes.saturating_sub(SORT_BYTES_MIN) as f64;
        let known = room / (INDEX_BYTES_A_NODE + bytes_beside);
        let index_bytes_of = |names: f64| {
            let sparse = (read_bytes / SPARSE_PART as u64) as f64;
            let sparse = sparse.min(names * SPARSE_BYTES_A_NODE);
            (names * INDEX_BYTES_A_NODE).max(sparse) as u64
        };
        let index_bytes = index_bytes_of(nodes.min(known));
        let spills = nodes > known;
        let before = if spills { (-(1.0 - known / nodes).ln() * nodes).min(ends) } else { ends };
        let share = before / ends.max(1.0);
        let mut phases = [(share / PHASES as f64, 0); PHASES + 1];
        for (number, (_, held_bytes)) in (1..).zip(&mut phases[..PHASES]) {
            let read = before * f64::from(number) / PHASES as f64;
            *held_bytes = index_bytes_of((nodes * -(-read / nodes.max(1.0)).exp_m1()).min(known));
        }
        phases[PHASES] = (1.0 - share, BUFFER_BYTES);
        if !spills {
            let nanoseconds = (nodes - old) * NEW_NAME + old * OLD_NAME;
            return Self { index_bytes, phases, nanoseconds, ..Self::default() };
        }
        let after = ends - before;
        let unknown = after * (1.0 - known / nodes);
        let new = nodes - known;
        // Longer names include their text.
        let is_long = input.name_bytes > SHORT_NAME_BYTES as f64;
        let name = 16.0 + if is_long { 4.0 + input.name_bytes } else { 0.0 };
        let (refs, weights) = (4.0 * after, 2.0 * after);
        let written_once = refs + weights + unknown * (name + 4.0 + 4.0) + new * (name + 4.0);
        let spilled = after * SPILLED_END + unknown * SPILLED_UNKNOWN + new * SPILLED_NEW;
        Self {
            index_bytes,
            phases,
            spilled_bytes: BUFFER_BYTES,
            read_bytes: written_once + refs + unknown * 4.0,
            write_bytes: written_once,
            disk_bytes: refs + weights + unknown * (name + 4.0),
            nanoseconds: (nodes - new) * NEW_NAME + spilled,
        }
    }
}
