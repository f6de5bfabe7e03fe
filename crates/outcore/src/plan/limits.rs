//! Checks that a job fits in its limits; errors suggest a limit that is enough.

use super::{Clustered, InputSize};
use crate::budget::{Limits, MEMORY_MIN};
use crate::cluster::{self, Method};
use crate::error::opt::METHOD;
use crate::error::{Error, Result};
use crate::graph::GRAPH_WRITER_BYTES;
use crate::input;
use crate::sort::SORT_BYTES_MIN;
use crate::units::{format_bytes, format_count};

/// Bytes per node for self scores: a weight and one bit.
const SELF_SCORE_BYTES_A_NODE: f64 = 4.125;

/// Checks the limits on their own.
///
/// # Errors
/// `MemoryTooSmall` below [`MEMORY_MIN`] or the minimum for the number of threads.
pub fn check_limits(limits: &Limits) -> Result<()> {
    let least = at_least(limits).memory_bytes;
    if limits.memory_bytes < least {
        return Err(Error::too_little_memory(limits.memory_bytes, "", least)
            .note(format!("{} threads share buffers and a block of arcs", limits.threads)));
    }
    Ok(())
}

/// Returns the limits, raised to the minimum memory of any job if they are below it.
pub fn at_least(limits: &Limits) -> Limits {
    let read = input::batch_memory_bytes(limits) + SORT_BYTES_MIN;
    let merge = GRAPH_WRITER_BYTES + SORT_BYTES_MIN;
    let stages = read.max(merge).max(cluster::clustering_bytes(limits.threads));
    Limits { memory_bytes: limits.memory_bytes.max(MEMORY_MIN).max(stages), ..*limits }
}

/// Returns the minimum limit for a graph of `node_count` nodes, with or without self scores, at this number of
/// threads. Names that do not fit in memory are spilled to disk.
pub(super) fn memory_bytes_for(limits: &Limits, node_count: u64, has_self_scores: bool) -> u64 {
    let scores = score_bytes(node_count, has_self_scores);
    let read = input::with_batch(limits, scores + SORT_BYTES_MIN);
    read.max(MEMORY_MIN).max(GRAPH_WRITER_BYTES + SORT_BYTES_MIN + scores)
}

/// Refuses a clustering that certainly does not fit; the suggested limit is for the expected size.
fn check_clustering(limits: &Limits, clustered: &Clustered) -> Result<()> {
    if clustered.certain_bytes() <= limits.memory_bytes {
        return Ok(());
    }
    let labels = clustered.found.nodes.bytes.max(clustered.presenting_bytes);
    let (given, least) = (limits.memory_bytes, clustered.min_limit());
    Err(Error::too_little_memory(given, " for this clustering", least)
        .note(format!("labels and related data take {}", format_bytes(labels))))
}

/// Refuses a job of this size, with or without a clustering, that certainly does not fit.
pub(super) fn check_size(
    limits: &Limits,
    input: &InputSize,
    clustered: Option<&Clustered>,
) -> Result<()> {
    let read = memory_bytes_for(limits, input.node_count_at_least, input.has_self_scores);
    match clustered {
        // The larger of the two is checked; its suggested limit is enough for the other as well.
        Some(clustered) if clustered.certain_bytes() > read => check_clustering(limits, clustered),
        _ if read > limits.memory_bytes => {
            Err(too_small(limits, input.node_count, "the input has about"))
        }
        _ => Ok(()),
    }
}

/// Returns the error for a job whose self scores do not fit, with a limit that is enough.
pub fn too_small(limits: &Limits, node_count: u64, about: &str) -> Error {
    let needed = memory_bytes_for(limits, node_count, true);
    Error::too_little_memory(limits.memory_bytes, " for this graph", needed).note(format!(
        "{about} {} nodes, and the self scores take {SELF_SCORE_BYTES_A_NODE} bytes a node",
        format_count(node_count)
    ))
}

/// Returns the error for heights of components whose nodes do not fit, at a number of bytes for each.
pub(crate) fn too_small_for_nodes(limits: &Limits, node_count: u64, bytes_a_node: u64) -> Error {
    let needed = input::with_batch(limits, bytes_a_node * node_count + SORT_BYTES_MIN);
    Error::too_little_memory(limits.memory_bytes, " for these nodes", needed).note(format!(
        "the input seems to have {} nodes, which take {bytes_a_node} bytes each",
        format_count(node_count)
    ))
}

/// Adds a note to the error that a clustering needs `own` bytes: another method needs `other`, if that is less.
pub(crate) fn note_less_memory(error: Error, own: u64, method: Method, other: u64) -> Error {
    if other >= own {
        return error;
    }
    let method = METHOD.of(method.name());
    error.note(format!("{method} needs {}", format_bytes(other)))
}

/// Returns the bytes per node for self scores; 0 without them.
pub(super) fn score_bytes_a_node(has_self_scores: bool) -> f64 {
    if has_self_scores { SELF_SCORE_BYTES_A_NODE } else { 0.0 }
}

/// Returns the memory of self scores.
pub(super) fn score_bytes(node_count: u64, has_self_scores: bool) -> u64 {
    (node_count as f64 * score_bytes_a_node(has_self_scores)) as u64
}
