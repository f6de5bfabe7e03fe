//! Cost of writing communities.

use crate::graph::InputSize;
use crate::units::MIB;

/// Assumed number of levels, if levels are written.
const LEVELS: u64 = 3;
/// Nanoseconds of one core to write the line of a node.
const WRITE_NODE: f64 = 130.0;

/// Cost of writing the results of a clustering.
pub(crate) struct OutputCost {
    /// Bytes read.
    pub(crate) read_bytes: u64,
    /// Bytes written.
    pub(crate) write_bytes: u64,
    /// Memory in bytes.
    pub(crate) memory_bytes: u64,
    /// Disk space in addition to the graph.
    pub(crate) disk_bytes: u64,
    /// Time of one core in nanoseconds.
    pub(crate) nanoseconds: f64,
}

impl OutputCost {
    /// Returns the cost of results that are written one after the other, with names from a file of `names_bytes` bytes.
    /// Files of levels exist until then.
    pub(crate) fn of(input: &InputSize, names_bytes: u64, results: u64, has_levels: bool) -> Self {
        let nodes = input.node_count;
        let number_bytes = (nodes.max(10) as f64).log10() - 0.3;
        let levels = if has_levels { LEVELS } else { 0 };
        let line = input.name_bytes + 2.0 + number_bytes + levels as f64 * (1.0 + number_bytes);
        let groups = 4 * levels * nodes;
        let output = (nodes as f64 * line) as u64 * results;
        Self {
            read_bytes: (names_bytes + groups) * results,
            write_bytes: output + groups * results,
            memory_bytes: 4 * nodes * results + MIB + (8 * MIB).min(2 * names_bytes),
            disk_bytes: groups + output,
            nanoseconds: nodes as f64 * results as f64 * WRITE_NODE,
        }
    }
}
