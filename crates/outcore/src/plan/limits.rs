//! Whether a job fits in its limits; if not, with the number to type.

use super::Clustered;
use crate::budget::{Limits, MEMORY_MIN};
use crate::error::opt::MEMORY;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::GRAPH_WRITER_BYTES;
use crate::input::InputSize;
use crate::sort::SORT_BYTES_MIN;
use crate::units::{format_bytes, format_count, size_to_type};

/// Bytes of a node's self score: a weight, and a bit.
const SELF_SCORE_BYTES_A_NODE: f64 = 4.125;

impl Limits {
    /// Checks the limits themselves.
    ///
    /// # Errors
    /// `MemoryTooSmall` below [`MEMORY_MIN`] and what the threads need.
    pub fn check(&self) -> Result<()> {
        let least = self.at_least().memory_bytes;
        if self.memory_bytes < least {
            return Err(Error::new(
                ErrorKind::MemoryTooSmall,
                format!("{} is too little memory", format_bytes(self.memory_bytes)),
            )
            .note(format!("{} threads share buffers and a block of arcs", self.threads))
            .hint(format_args!("use {} or more", MEMORY.of(size_to_type(least)))));
        }
        Ok(())
    }

    /// Returns the limits with as much memory as any job needs, if they have less.
    pub(crate) fn at_least(&self) -> Self {
        let read = self.batch_memory_bytes() + SORT_BYTES_MIN;
        let merge = GRAPH_WRITER_BYTES + SORT_BYTES_MIN;
        let stages = read.max(merge).max(self.clustering_bytes());
        Self { memory_bytes: self.memory_bytes.max(MEMORY_MIN).max(stages), ..*self }
    }

    /// The least limit for a graph of `node_count` nodes, perhaps with self scores, with these threads.
    /// Names that have no room go to disk.
    pub fn memory_bytes_for(&self, node_count: u64, has_self_scores: bool) -> u64 {
        let scores = score_bytes(node_count, has_self_scores);
        let read = self.with_batch(scores + SORT_BYTES_MIN);
        read.max(MEMORY_MIN).max(GRAPH_WRITER_BYTES + SORT_BYTES_MIN + scores)
    }

    /// Refuses a clustering that cannot fit beyond doubt; the number to type is for the likely size.
    fn check_clustering(&self, clustered: &Clustered) -> Result<()> {
        if clustered.certain_bytes() <= self.memory_bytes {
            return Ok(());
        }
        let given = format_bytes(self.memory_bytes);
        let message = format!("{given} is too little memory for this clustering");
        let least = clustered.least_limit();
        let labels = clustered.cost.nodes.bytes.max(clustered.presenting_bytes);
        Err(Error::new(ErrorKind::MemoryTooSmall, message)
            .note(format!("labels and what goes with them take {}", format_bytes(labels)))
            .hint(format_args!("use {} or more", MEMORY.of(size_to_type(least)))))
    }

    /// Refuses a job of this size, perhaps with a clustering, that cannot fit beyond doubt.
    pub(super) fn check_size(
        &self,
        input: &InputSize,
        clustered: Option<&Clustered>,
    ) -> Result<()> {
        let read = self.memory_bytes_for(input.node_count_at_least, input.has_self_scores);
        match clustered {
            // The larger of both is checked: its number does for the other as well.
            Some(clustered) if clustered.certain_bytes() > read => self.check_clustering(clustered),
            _ if read > self.memory_bytes => {
                Err(self.too_small(input.node_count, "the input has about"))
            }
            _ => Ok(()),
        }
    }

    /// The error for a job whose self scores do not fit, with the limit to type.
    pub fn too_small(&self, node_count: u64, about: &str) -> Error {
        let needed = self.memory_bytes_for(node_count, true);
        Error::new(
            ErrorKind::MemoryTooSmall,
            format!("{} is too little memory for this graph", format_bytes(self.memory_bytes)),
        )
        .note(format!(
            "{about} {} nodes, and the self scores take {SELF_SCORE_BYTES_A_NODE} bytes a node",
            format_count(node_count)
        ))
        .hint(format_args!("use {} or more", MEMORY.of(size_to_type(needed))))
    }
}

/// Bytes of self scores a node; 0 without any.
pub(super) fn score_bytes_a_node(has_self_scores: bool) -> f64 {
    if has_self_scores { SELF_SCORE_BYTES_A_NODE } else { 0.0 }
}

/// What self scores take.
pub(super) fn score_bytes(node_count: u64, has_self_scores: bool) -> u64 {
    (node_count as f64 * score_bytes_a_node(has_self_scores)) as u64
}
