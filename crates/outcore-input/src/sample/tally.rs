//! Counts of the names, pairs and weights of a sample, and what follows from them for the whole input.

use super::order::SampledOrder;
use super::{Repeats, SampledEdges, SampledNames};
use crate::Fingerprint;
use crate::chunk::ParsedChunk;
use crate::source::FileSample;
use outcore_graph::pack::{WeightScheme, bits_for};
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

/// Minimum number of times that a name is seen before its share of the edges is reported.
const HUB_SEEN: u32 = 100;
/// Approximate number of weights that a graph stores with a common width.
const WEIGHT_GROUP: usize = 32;

/// Returns a hash of a name. The exclusive or of two such hashes identifies the pair.
fn hash(name: Fingerprint) -> u64 {
    let bytes = [name.low.to_le_bytes(), name.high.to_le_bytes()];
    xxh3_64(bytes.as_flattened())
}

/// Names of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    /// Hash of both names that is independent of their order.
    names: u64,
    /// Hash of the source.
    source: u64,
    /// Number of the piece.
    piece: u32,
}

#[derive(Default)]
struct Seen {
    count: u32,
    pieces: u32,
    /// Number of the last piece with the name, from 1.
    last_piece: u64,
    /// Length of the name.
    bytes: u32,
    /// Number of the name in the sample, if it has one.
    number: Option<u32>,
}

/// Counts over all pieces.
#[derive(Default)]
pub(super) struct SampleTally {
    /// Pieces so far, including the current one.
    pub(super) pieces: u64,
    bytes: u64,
    edges: u64,
    names: HashMap<Fingerprint, Seen>,
    order: SampledOrder,
    loops: u64,
    pairs: Vec<Pair>,
    /// Total bits of weights over all groups, and number of groups.
    weight_bits: (u64, u64),
    has_fractions: bool,
    /// Bytes of text of the node list, and the names in it.
    listed_bytes: u64,
    listed: HashSet<Fingerprint>,
}

impl SampleTally {
    /// Adds a chunk, which has `text` bytes if it is text; returns how long its rows would be as text.
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
            return bytes;
        }
        self.bytes += bytes;
        self.count(chunk);
        bytes
    }

    fn count(&mut self, chunk: &ParsedChunk) {
        self.edges += chunk.edges.edge_count() as u64;
        self.weigh(&chunk.edges.weights);
        for edge in chunk.edges.names.chunks_exact(2) {
            let ends = [0, 1].map(|end| {
                let seen = self.names.entry(edge[end].fingerprint).or_default();
                seen.bytes = edge[end].bytes;
                seen.count += 1;
                seen.pieces += u32::from(seen.last_piece != self.pieces);
                seen.last_piece = self.pieces;
                self.order.number(&mut seen.number)
            });
            self.order.add(self.pieces, ends);
            let (source, target) = (edge[0].fingerprint, edge[1].fingerprint);
            self.loops += u64::from(source == target);
            if source != target {
                let (from, to) = (hash(source), hash(target));
                let piece = self.pieces as u32;
                self.pairs.push(Pair { names: from ^ to, source: from, piece });
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

    /// Returns the number of edges in all files, the text of which has `text_bytes`.
    pub(super) fn all_edges(&self, text_bytes: f64, is_whole: bool) -> u64 {
        if is_whole || self.edges == 0 {
            return self.edges;
        }
        let bytes_per_edge = self.bytes as f64 / self.edges as f64;
        (text_bytes / bytes_per_edge).round() as u64
    }

    /// Returns what was counted of edges.
    pub(super) fn edges(&mut self) -> SampledEdges {
        let (bits, groups) = self.weight_bits;
        SampledEdges {
            count: self.edges,
            loops: self.loops,
            repeats: self.repeats(),
            hub_share: self.hub_share(),
            weight_bits: bits as f64 / groups.max(1) as f64,
            has_fractions: self.has_fractions,
        }
    }

    /// Returns the edges in their order.
    pub(super) fn order(&mut self) -> SampledOrder {
        std::mem::take(&mut self.order)
    }

    /// Returns what was counted of names. `listed_bytes` are those of the text of the complete node list, and `all` says
    /// how many nodes the files declare.
    pub(super) fn names(&self, listed_bytes: f64, all: &FileSample) -> SampledNames {
        let distinct = self.names.len() as u64;
        let names = || self.names.values();
        let seen = |times| names().filter(|seen| seen.count == times).count() as u64;
        let in_pieces = |count| names().filter(|seen| seen.pieces == count).count() as u64;
        let bytes: u64 = names().map(|seen| u64::from(seen.bytes)).sum();
        let new = self.listed.iter().filter(|name| !self.names.contains_key(name)).count();
        let scale = (listed_bytes / self.listed_bytes.max(1) as f64).max(1.0);
        let listed = ((new as f64 * scale).round() as u64).max(all.declared_nodes);
        let known = if all.is_whole { distinct } else { 0 };
        SampledNames {
            distinct,
            mean_bytes: bytes as f64 / distinct.max(1) as f64,
            seen_once: seen(1),
            seen_twice: seen(2),
            pieces: self.pieces,
            in_one_piece: in_pieces(1),
            in_two_pieces: in_pieces(2),
            listed_nodes: listed + all.matrix_nodes.saturating_sub(known),
        }
    }

    /// Returns the share of the edges of the name seen most often, less three standard deviations of its count.
    fn hub_share(&self) -> f64 {
        let most = self.names.values().map(|seen| seen.count).max().unwrap_or(0);
        let seen = f64::from(most);
        if most < HUB_SEEN { 0.0 } else { (seen - 3.0 * seen.sqrt()) / self.edges.max(1) as f64 }
    }

    /// Returns the repeats of edges between the same names in either order, and in the same one.
    fn repeats(&mut self) -> [Repeats; 2] {
        self.pairs.sort_unstable();
        let of = |is_same: fn(&Pair, &Pair) -> bool| {
            let mut all = Repeats::default();
            let mut pieces = Vec::new();
            for group in self.pairs.chunk_by(is_same).filter(|group| group.len() > 1) {
                pieces.clear();
                pieces.extend(group.iter().map(|pair| pair.piece));
                pieces.sort_unstable();
                pieces.dedup();
                all.add(group.len() as u64, pieces.len() as u64);
            }
            all
        };
        let in_order = |a: &Pair, b: &Pair| (a.names, a.source) == (b.names, b.source);
        [of(|a, b| a.names == b.names), of(in_order)]
    }
}
