//! Weights of edges in the graph: thresholds on the weights of the input, and normalization by self scores of nodes.
//!
//! Thresholds compare codes of weights: numbers that agree in six digits are equal, here as in the graph. Self scores
//! are collected while edges are numbered, and arcs are divided by them between the sort and the graph, so there is no
//! extra pass. The cost is 4 bytes and one bit of memory per node, and two random accesses per edge and per arc.
//! Division keeps the order of repeated arcs, so it may precede combining them. Both ends of an edge have the same
//! divisor, so arcs stay symmetric.

use crate::checkpoint::{Checkpoint, StateReader, StateWriter};
use crate::error::opt::{DUPLICATES, MAX_WEIGHT, MIN_WEIGHT, NORMALIZE, SELF_LOOPS};
use crate::error::{Error, Opt, Result};
use crate::graph::{ArcRecord, Duplicates};
use crate::input::{self, EdgeChunk};
use crate::io::reserve_large_pages;
use crate::job::JobOptions;
use crate::weight::Weight;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Normalization of the weights of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Normalize {
    /// No normalization.
    #[default]
    None,
    /// Division by the smaller self score of the two nodes, so that weights are at most about 1. The self score of a
    /// node is the largest weight of its self hits (edges from the node to itself), which then do not count as edges.
    /// For a node without self hits, it is the largest weight of its other edges.
    SelfScore,
}

/// Arcs that a thread processes at a time.
const PART_ARCS: usize = 4096;

impl JobOptions {
    /// Refuses invalid options before any work.
    pub(crate) fn check_weights(&self) -> Result<()> {
        let thresholds = [(MIN_WEIGHT, self.min_weight), (MAX_WEIGHT, self.max_weight)];
        for (option, value) in thresholds {
            if let Some(value) = value.filter(|value| !(value.is_finite() && *value >= 0.0)) {
                let message = format_args!("{} is not a weight", option.of(value));
                return Err(Error::usage(message).hint("weights are finite and at least 0"));
            }
        }
        if self.max_weight == Some(0.0) {
            return Err(Error::usage(format_args!("{} keeps no edge", MAX_WEIGHT.of(0)))
                .hint("use a number above 0: edges of weight 0 are dropped"));
        }
        if let (Some(min), Some(max)) = (self.min_weight, self.max_weight)
            && min > max
        {
            let message = format_args!("{} is above {}", MIN_WEIGHT.of(min), MAX_WEIGHT.of(max));
            return Err(Error::usage(message).hint("no edge is between them: swap the two"));
        }
        if self.normalize == Normalize::SelfScore && self.keep_loops {
            return Err(Error::usage(format_args!(
                "{} takes edges from a node to itself as its score",
                NORMALIZE.of("self-score")
            ))
            .hint(format_args!(
                "leave out {}: they cannot be edges as well",
                SELF_LOOPS.of("keep")
            )));
        }
        match self.weight_option().filter(|_| self.input.ignore_weights) {
            Some(option) => Err(input::contradicts_ignore_weights(&option)),
            None => Ok(()),
        }
    }

    /// Refuses options about merging edges when none are merged, because components are found without a graph.
    pub(crate) fn check_ladder(&self, has_ladder: bool) -> Result<()> {
        let given = [
            (self.normalize != Normalize::None, NORMALIZE),
            (self.duplicates != Duplicates::Sum, DUPLICATES),
        ];
        match given.into_iter().find(|(is_given, _)| *is_given && has_ladder) {
            None => Ok(()),
            Some((_, option)) => Err(Error::usage(format_args!(
                "{option} has no effect on components, which join the nodes of every line"
            ))
            .note(format_args!("{MIN_WEIGHT} and {MAX_WEIGHT} are of the weights of single lines"))
            .hint("leave it out; for thresholds of merged edges, use `outcore build` first")),
        }
    }

    /// Returns the first option given that needs weights, apart from those of the input.
    pub(crate) fn weight_option(&self) -> Option<Opt> {
        let given = [
            (self.min_weight.is_some(), MIN_WEIGHT),
            (self.max_weight.is_some(), MAX_WEIGHT),
            (self.normalize == Normalize::SelfScore, NORMALIZE),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }
}

/// Position of a weight relative to the thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Zero,
    Below,
    Inside,
    Above,
}

/// Thresholds as codes of weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thresholds {
    least: u32,
    most: u32,
}

impl Thresholds {
    pub(crate) fn new(options: &JobOptions) -> Self {
        let code = |value: Option<f64>| {
            value.filter(|&value| value > 0.0).map(|value| Weight::new(value).code())
        };
        Self {
            least: code(options.min_weight).unwrap_or(0),
            most: code(options.max_weight).unwrap_or(u32::MAX),
        }
    }

    #[inline]
    pub(crate) fn side(self, code: u32) -> Side {
        if code == 0 {
            Side::Zero
        } else if code < self.least {
            Side::Below
        } else if code > self.most {
            Side::Above
        } else {
            Side::Inside
        }
    }
}

/// Self scores of all nodes.
pub(crate) struct SelfScores {
    /// Code of the heaviest self hit of each node, or of its heaviest edge if it has no self hit; 0 without either.
    codes: Vec<AtomicU32>,
    /// Bit for each node: whether it has a self hit.
    have_self_hit: Vec<AtomicU32>,
}

/// The place is the maximum memory in bytes, as in [`SelfScores::new`].
impl Checkpoint for SelfScores {
    /// Number of nodes.
    type State = u64;
    type Place<'a> = u64;

    fn save(&mut self, to: &mut StateWriter) -> Result<u64> {
        to.labels(&self.codes)?;
        to.labels(&self.have_self_hit)?;
        Ok(self.codes.len() as u64)
    }

    fn resume(node_count: &u64, from: &mut StateReader, max_bytes: u64) -> Result<Self> {
        let mut scores = Self::new(max_bytes);
        scores.grow(*node_count);
        from.labels(&mut scores.codes)?;
        from.labels(&mut scores.have_self_hit)?;
        Ok(scores)
    }
}

impl SelfScores {
    /// Creates an empty table, with address space for the scores that fit in `max_bytes` together with the names of
    /// their nodes.
    pub(crate) fn new(max_bytes: u64) -> Self {
        // A name takes at least as much memory as a score.
        let max_nodes = (max_bytes / 8) as usize;
        Self {
            codes: reserve_large_pages(max_nodes),
            have_self_hit: reserve_large_pages(max_nodes / 32),
        }
    }

    /// Returns the memory in use.
    pub(crate) fn memory_bytes(&self) -> u64 {
        Self::bytes_of(self.codes.len() as u64)
    }

    /// Returns the memory of the scores of `node_count` nodes.
    pub(crate) fn bytes_of(node_count: u64) -> u64 {
        (node_count + node_count.div_ceil(32)) * size_of::<AtomicU32>() as u64
    }

    pub(crate) fn grow(&mut self, node_count: u64) {
        let node_count = node_count as usize;
        self.codes.resize_with(node_count, AtomicU32::default);
        self.have_self_hit.resize_with(node_count.div_ceil(32), AtomicU32::default);
    }

    /// Updates the scores with the weights of numbered edges.
    ///
    /// Self hits are marked before any weight counts, so that the result is independent of edge order: the weights of a
    /// marked node's other edges are ignored, and discarded when it is marked.
    pub(crate) fn gather(
        &self,
        chunks: &[EdgeChunk],
        indexes: &[Vec<u32>],
        thresholds: Thresholds,
    ) {
        (chunks, indexes).into_par_iter().for_each(|(chunk, indexes)| self.mark(chunk, indexes));
        (chunks, indexes).into_par_iter().for_each(|(chunk, indexes)| {
            for (&[source, target], &code) in edges(chunk, indexes) {
                if source == target {
                    self.codes[source as usize].fetch_max(code, Relaxed);
                } else if thresholds.side(code) == Side::Inside {
                    self.raise(source, code);
                    self.raise(target, code);
                }
            }
        });
    }

    /// Marks the nodes that have a self hit.
    fn mark(&self, chunk: &EdgeChunk, indexes: &[u32]) {
        for (&[source, target], &code) in edges(chunk, indexes) {
            if source != target || code == 0 {
                continue;
            }
            let bit = 1 << (source % 32);
            let before = self.have_self_hit[source as usize / 32].fetch_or(bit, Relaxed);
            if before & bit == 0 {
                self.codes[source as usize].store(0, Relaxed);
            }
        }
    }

    /// Raises the score of a node without a self hit to the weight of an edge.
    #[inline]
    fn raise(&self, node: u32, code: u32) {
        if !self.has_self_hit(node as usize) {
            let score = &self.codes[node as usize];
            // Most edges are not the heaviest, and a read is cheaper than a write.
            if score.load(Relaxed) < code {
                score.fetch_max(code, Relaxed);
            }
        }
    }

    fn has_self_hit(&self, node: usize) -> bool {
        self.have_self_hit[node / 32].load(Relaxed) >> (node % 32) & 1 != 0
    }

    /// Returns the number of nodes that have edges but no self hit.
    pub(crate) fn without_self_hit(&self) -> u64 {
        let nodes = self.codes.par_iter().enumerate();
        nodes.filter(|(node, code)| code.load(Relaxed) != 0 && !self.has_self_hit(*node)).count()
            as u64
    }

    /// Divides the weights of arcs. Their order stays the same, and repeated arcs have the same divisor, so the
    /// heaviest, lightest and first of them stay the same.
    pub(crate) fn divide(&self, arcs: &mut [ArcRecord]) {
        arcs.par_chunks_mut(PART_ARCS).flatten_iter().for_each(|arc| {
            let source = self.codes[arc.source as usize].load(Relaxed);
            let target = self.codes[arc.target as usize].load(Relaxed);
            arc.weight = quotient(arc.weight, source.min(target));
        });
    }
}

/// Returns the edges of a chunk with their codes.
fn edges<'a>(
    chunk: &'a EdgeChunk,
    indexes: &'a [u32],
) -> impl Iterator<Item = (&'a [u32; 2], &'a u32)> {
    indexes.as_chunks::<2>().0.iter().zip(&chunk.weights)
}

/// Returns the code of the quotient of two weights.
fn quotient(code: u32, divisor: u32) -> u32 {
    let ratio = Weight::from_code(code).value() / Weight::from_code(divisor).value();
    // For weights of very different magnitude it may overflow or underflow.
    Weight::new(ratio.clamp(f64::from_bits(1), f64::MAX)).code()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(value: f64) -> u32 {
        Weight::new(value).code()
    }

    /// Returns the scores of three nodes after `edges` in chunks of `size`.
    fn scores(edges: &[(u32, u32, f64)], size: usize) -> (Vec<f64>, u64) {
        let mut scores = SelfScores::new(1 << 20);
        let whole = Thresholds { least: 0, most: u32::MAX };
        for batch in edges.chunks(2 * size) {
            let (chunks, indexes): (Vec<_>, Vec<_>) = batch
                .chunks(size)
                .map(|edges| {
                    let mut chunk = EdgeChunk::default();
                    chunk.weights.extend(edges.iter().map(|edge| code(edge.2)));
                    (chunk, edges.iter().flat_map(|edge| [edge.0, edge.1]).collect())
                })
                .unzip();
            scores.grow(3);
            scores.gather(&chunks, &indexes, whole);
        }
        let values = scores.codes.iter().map(|code| match code.load(Relaxed) {
            0 => 0.0,
            code => Weight::from_code(code).value(),
        });
        (values.collect(), scores.without_self_hit())
    }

    #[test]
    fn the_score_is_the_heaviest_self_hit_or_edge_in_any_order() {
        let mut edges = vec![(0, 1, 9.0), (0, 0, 4.0), (1, 0, 7.0), (0, 0, 5.0), (1, 0, 2.0)];
        for turn in 0..edges.len() {
            edges.rotate_left(1);
            for size in 1..4 {
                assert_eq!(scores(&edges, size), (vec![5.0, 9.0, 0.0], 1), "{turn} {size}");
            }
        }
    }

    #[test]
    fn quotients_of_any_weights_are_weights() {
        assert_eq!(quotient(code(308.0), code(616.0)), code(0.5));
        assert_eq!(quotient(code(0.3), code(0.3)), Weight::ONE.code());
        for (dividend, divisor) in [(1e-300, 1e300), (1e300, 1e-300), (f64::MAX, 1e-9)] {
            let value = Weight::from_code(quotient(code(dividend), code(divisor))).value();
            assert!(value > 0.0 && value.is_finite());
        }
    }
}
