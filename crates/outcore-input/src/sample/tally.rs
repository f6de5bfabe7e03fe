//! Counts of the names, pairs and weights of a sample, and what follows from them for the whole input.

use super::{InputSample, WEIGHT_GROUP, hub_share};
use crate::Fingerprint;
use crate::chunk::ParsedChunk;
use outcore_graph::pack::{WeightScheme, bits_for};
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

/// Returns a hash of a name. The exclusive or of two such hashes identifies the pair.
pub(super) fn hash(name: Fingerprint) -> u64 {
    let bytes = [name.low.to_le_bytes(), name.high.to_le_bytes()];
    xxh3_64(bytes.as_flattened())
}

/// Occurrences of a name.
#[derive(Default)]
pub(super) struct Seen {
    count: u32,
    pieces: u32,
    /// Number of the last piece with the name, from 1.
    last_piece: u64,
    /// Length of the name.
    bytes: u32,
}

/// Counts over all pieces.
#[derive(Default)]
pub(super) struct SampleTally {
    /// Pieces so far, including the current one.
    pub(super) pieces: u64,
    bytes: u64,
    edges: u64,
    bad_lines: u64,
    names: HashMap<Fingerprint, Seen>,
    loops: u64,
    /// For each edge, a hash of its two names that is independent of their order, and one that depends on it.
    pairs: Vec<(u64, u64)>,
    /// Total bits of weights over all groups, and number of groups.
    weight_bits: (u64, u64),
    has_fractions: bool,
    /// Rows, and columns of rectangular, matrices.
    pub(super) matrix_nodes: u64,
    /// Bytes of text of the node list, and the names in it.
    listed_bytes: u64,
    listed: HashSet<Fingerprint>,
    /// Nodes of files that declare more than a sample takes.
    pub(super) declared_nodes: u64,
}

impl SampleTally {
    /// Adds a chunk; returns how long its rows would be as text. The number is that of its bytes, if it is text.
    pub(super) fn add(&mut self, chunk: &ParsedChunk, text: Option<usize>) -> u64 {
        let is_node_list = chunk.edges.is_node_list;
        let names = || chunk.edges.names.iter().map(|name| u64::from(name.bytes) + 1);
        // Six bytes for a typical weight, such as `0.123`.
        let as_text = || names().sum::<u64>() + 6 * chunk.edges.weights.len() as u64;
        let bytes = text.map_or_else(as_text, |bytes| bytes as u64);
        self.pieces += u64::from(text.is_some() || !is_node_list);
        if is_node_list {
            self.listed_bytes += bytes;
            self.listed.extend(chunk.edges.names.iter().map(|name| name.fingerprint));
            self.bad_lines += chunk.faults.len() as u64;
            return bytes;
        }
        self.bytes += bytes;
        self.count(chunk);
        bytes
    }

    fn count(&mut self, chunk: &ParsedChunk) {
        self.edges += chunk.edges.edge_count() as u64;
        self.bad_lines += chunk.faults.len() as u64;
        self.weigh(&chunk.edges.weights);
        for edge in chunk.edges.names.chunks_exact(2) {
            for name in edge {
                let seen = self.names.entry(name.fingerprint).or_default();
                seen.bytes = name.bytes;
                seen.count += 1;
                seen.pieces += u32::from(seen.last_piece != self.pieces);
                seen.last_piece = self.pieces;
            }
            let (source, target) = (edge[0].fingerprint, edge[1].fingerprint);
            self.loops += u64::from(source == target);
            if source != target {
                let (from, to) = (hash(source), hash(target));
                self.pairs.push((from ^ to, from));
            }
        }
    }

    /// Counts the bits of weights in groups, as the graph will store them.
    fn weigh(&mut self, weights: &[u32]) {
        let scheme = WeightScheme::choose(weights.iter().copied().filter(|&weight| weight > 0));
        self.has_fractions |= !matches!(scheme, WeightScheme::One | WeightScheme::Decimal(0));
        if scheme == WeightScheme::One {
            return;
        }
        for group in weights.chunks(WEIGHT_GROUP) {
            let integers = group.iter().filter(|&&weight| weight > 0).map(|&w| scheme.integer(w));
            let (least, most) =
                integers.fold((u32::MAX, 0), |(least, most), w| (least.min(w), most.max(w)));
            self.weight_bits.0 += u64::from(bits_for(most.saturating_sub(least)));
            self.weight_bits.1 += 1;
        }
    }

    /// Returns the number of pairs of edges with the same names, and of those that also have the same order.
    fn repeated_pairs(&mut self) -> (u64, u64) {
        self.pairs.sort_unstable();
        let groups = self.pairs.chunk_by(|a, b| a.0 == b.0);
        let pairs = |count: usize| (count as u64) * (count as u64 - 1) / 2;
        groups.fold((0, 0), |(either, same), group| {
            let of_order = group.chunk_by(|a, b| a.1 == b.1).map(|group| pairs(group.len()));
            (either + pairs(group.len()), same + of_order.sum::<u64>())
        })
    }

    /// Returns the sample; `text_bytes` are those of all edges, and of the complete node list.
    pub(super) fn finish(
        mut self,
        text_bytes: [f64; 2],
        complete: impl FnOnce(&mut InputSample),
    ) -> InputSample {
        let distinct = self.names.len() as u64;
        let repeated_pairs = self.repeated_pairs();
        let (bits, groups) = self.weight_bits;
        let names = || self.names.values();
        let most_seen = names().map(|seen| seen.count).max().unwrap_or(0);
        let seen = |times| names().filter(|seen| seen.count == times).count() as u64;
        let in_pieces = |count| names().filter(|seen| seen.pieces == count).count() as u64;
        let name_bytes: u64 = names().map(|seen| u64::from(seen.bytes)).sum();
        let bytes_per_edge = self.bytes as f64 / self.edges.max(1) as f64;
        let new = self.listed.iter().filter(|name| !self.names.contains_key(name)).count();
        let scale = (text_bytes[1] / self.listed_bytes.max(1) as f64).max(1.0);
        let mut sample = InputSample {
            total_bytes: 0,
            text_bytes: text_bytes.iter().sum::<f64>() as u64,
            is_compressed: false,
            is_weighted: false,
            has_kinds: false,
            unweighted: None,
            sampled_bytes: self.bytes,
            sampled_edges: self.edges,
            sampled_bad_lines: self.bad_lines,
            edges: self.edges,
            bytes_per_edge,
            name_bytes: name_bytes as f64 / distinct.max(1) as f64,
            distinct_names: distinct,
            seen_once: seen(1),
            seen_twice: seen(2),
            pieces: self.pieces,
            in_one_piece: in_pieces(1),
            in_two_pieces: in_pieces(2),
            loops: self.loops,
            repeated_pairs,
            weight_bits: bits as f64 / groups.max(1) as f64,
            has_fractions: self.has_fractions,
            listed_nodes: ((new as f64 * scale).round() as u64).max(self.declared_nodes),
            is_whole: false,
            is_spread: false,
            hub_share: hub_share(most_seen, self.edges),
            window_bytes: 0,
            formats: Vec::new(),
        };
        complete(&mut sample);
        sample.listed_nodes += if sample.is_whole {
            self.matrix_nodes.saturating_sub(distinct)
        } else {
            self.matrix_nodes
        };
        if !sample.is_whole && self.edges > 0 {
            sample.edges = (text_bytes[0] / bytes_per_edge).round() as u64;
        }
        sample
    }
}
