//! `graph.json`: counts and options of a graph, for people and programs, and the seal of its `arcs`. It is written
//! last, so a directory without it is no graph. Older graphs lack newer fields, which must be optional.

use super::BlockLimits;
use super::histogram::{Bin, Histograms, degree_bins, weight_bins};
use super::index::{Sealed, VERSION, other_version};
use super::kinds::{KindsSummary, NodeKinds};
use crate::weight::Weight;
use crate::weight::WeightTransform;
use outcore_io::Files;
use outcore_io::error::opt::{IGNORE_WEIGHTS, WEIGHT_TRANSFORM};
use outcore_io::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const FORMAT: &str = "outcore-graph";
/// Upper bound for the size of any manifest.
const BYTES_MAX: u64 = 256 << 10;
/// Largest exponent of the sum of all weights: one less than that of the largest `f64`, so that no sum of them overflows,
/// and no single weight is out of range.
pub(super) const SUM_EXPONENT_MAX: i32 = 1022;
/// Largest exponent of a sum of weights that is not recorded separately.
const SUM_EXPONENT_ORDINARY: i32 = 300;

/// Returns the exponent of a sum of weights; 0 if there are none.
fn exponent_of(sum: f64) -> i32 {
    if sum > 0.0 { libm::ilogb(sum.min(f64::MAX)) } else { 0 }
}

/// Returns the error of weights whose sum is too large.
pub(super) fn too_heavy() -> Error {
    let message = "the weights of all edges add up to more than 4e307, which is too much for a sum";
    Error::new(ErrorKind::BadInput, message).hint(format_args!(
        "divide all weights by one number, which changes no community, or use {} or {IGNORE_WEIGHTS}",
        WEIGHT_TRANSFORM.of(WeightTransform::Log.name())
    ))
}

/// How to merge duplicate arcs, which have the same source and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Duplicates {
    /// Keep one arc with the sum of their weights.
    Sum,
    /// Keep the heaviest.
    Max,
    /// Keep the lightest.
    Min,
    /// Keep the one that came first.
    First,
}

impl Duplicates {
    /// Returns the name, as the command takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Max => "max",
            Self::Min => "min",
            Self::First => "first",
        }
    }

    /// Returns the combined weight of the arcs so far, with the sum `sum`, and one more; weights are codes.
    pub fn combine(self, so_far: u32, sum: &mut f64, code: u32) -> u32 {
        match self {
            Self::Sum => {
                *sum += Weight::from_code(code).value();
                Weight::new(sum.min(f64::MAX)).code()
            }
            // The order of codes is the order of weights.
            Self::Max => so_far.max(code),
            Self::Min => so_far.min(code),
            Self::First => so_far,
        }
    }
}

/// Rules by which edges of the input became arcs, in addition to [`GraphOptions`]. A graph records them, so that more
/// edges can be added by the same rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EdgeRules {
    /// Whether weights of the input were ignored.
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_weights: bool,
    /// Transform applied to each weight as it was read.
    #[serde(skip_serializing_if = "is_default")]
    pub weight_transform: WeightTransform,
    /// Smaller weights were dropped.
    #[serde(skip_serializing_if = "is_default")]
    pub min_weight: Option<f64>,
    /// Larger weights were dropped.
    #[serde(skip_serializing_if = "is_default")]
    pub max_weight: Option<f64>,
    /// Whether weights were normalized by self scores (the scores are not stored).
    #[serde(skip_serializing_if = "is_default")]
    pub divided_by_self_scores: bool,
}

/// Meaning of the names of a graph made from an object in memory, whose nodes have an order of their own. The graph
/// orders its nodes by first appearance, so results need this to be put back into that order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeNames {
    /// Rows of a matrix, or nodes that have no other name: numbers from 0 up to this one, exclusive.
    Rows(u64),
    /// Any names, whose order is not recorded.
    Unordered,
}

impl NodeNames {
    /// Returns the meaning of the names of a graph after nodes of other names were added. `None` is that of files,
    /// which give nodes no order of their own.
    pub fn together(old: Option<Self>, new: Option<Self>) -> Option<Self> {
        match (old, new) {
            (None, None) => None,
            (Some(Self::Rows(old)), Some(Self::Rows(new))) => Some(Self::Rows(old.max(new))),
            _ => Some(Self::Unordered),
        }
    }
}

/// Type of the names of a graph, which tables of results give them again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NameType {
    /// Text.
    #[default]
    Text,
    /// Whole numbers from -2^63 to 2^63 - 1.
    Int64,
    /// Whole numbers from 0 to 2^64 - 1.
    UInt64,
}

impl NameType {
    /// Returns the type of names of two types: text, unless both are the same.
    #[must_use]
    pub fn together(self, other: Self) -> Self {
        if self == other { self } else { Self::Text }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Options of a graph to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphOptions {
    /// Number of nodes, at most 2^32; indexes are below this.
    pub node_count: u64,
    /// Whether arcs are written for one direction only.
    pub directed: bool,
    /// How to merge arcs with the same source and target.
    pub duplicates: Duplicates,
    /// Whether loops are stored, separately from the other arcs, or dropped.
    pub keep_loops: bool,
}

/// Summary of a written or opened graph, from [`GraphWriter::finish`](super::GraphWriter::finish) or
/// [`Graph::summary`](super::Graph::summary).
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GraphSummary {
    /// Number of nodes.
    pub node_count: u64,
    /// Number of arcs, loops not counted.
    pub arc_count: u64,
    /// Number of edges between different nodes: half of the arcs if undirected.
    pub edge_count: u64,
    /// Number of nodes with a loop.
    pub loop_count: u64,
    /// Number of nodes whose loop was dropped.
    pub dropped_loop_count: u64,
    /// Number of records merged into an earlier one with the same source and target.
    pub combined_count: u64,
    /// Sum of the arcs' weights in their order, loops not counted.
    pub weight_total: f64,
    /// Maximum number of arcs of a node, loops not counted.
    pub max_degree: u64,
    /// Whether an arc may lack its opposite.
    pub is_directed: bool,
    /// Whether any weight is not 1.
    pub is_weighted: bool,
    /// How arcs with the same source and target were merged.
    pub duplicates: Duplicates,
    /// Whether loops were stored.
    pub loops_kept: bool,
    /// Nodes by degree, the number of arcs stored at the node, loops not counted. Jobs store directed edges
    /// at the node that they point to. Empty for a graph written by a version that did not count this.
    pub degrees: Vec<Bin<u64>>,
    /// Arcs by weight, loops not counted. Empty in the same case as `degrees`.
    pub weights: Vec<Bin<f64>>,
    /// Meaning of the names, if the graph was made of an object in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<NodeNames>,
    /// Type of the names.
    #[serde(skip_serializing_if = "is_default")]
    pub name_type: NameType,
    /// Kinds of nodes, if there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<NodeKinds>,
    /// Bytes of `arcs` and `graph.json`.
    pub bytes: u64,
}

/// Sums over all blocks.
pub(super) struct BlockTotals {
    /// First node of the graph or of this part of it.
    pub(super) first_node: u64,
    pub(super) node_count: u64,
    pub(super) arc_count: u64,
    pub(super) loop_count: u64,
    pub(super) weight_total: f64,
    /// Sum of the weights of loops.
    pub(super) loop_total: f64,
    pub(super) max_degree: u64,
    pub(super) is_weighted: bool,
    pub(super) histograms: Histograms,
    pub(super) sealed: Sealed,
}

impl BlockTotals {
    pub(super) fn add_degree(&mut self, degree: u64) {
        self.max_degree = self.max_degree.max(degree);
        self.histograms.add_degree(degree);
    }

    /// Returns whether the sum of all weights is too large.
    pub(super) fn are_too_heavy(&self) -> bool {
        exponent_of(self.weight_total + 2.0 * self.loop_total) > SUM_EXPONENT_MAX
    }
}

/// Returns the exponent of the total strength, if it or that of the arcs' weights is not ordinary.
pub(super) fn recorded_exponent(weight_total: f64, loop_total: f64) -> Option<i32> {
    let exponents = [weight_total, weight_total + 2.0 * loop_total].map(exponent_of);
    let is_ordinary = |exponent: &i32| exponent.abs() <= SUM_EXPONENT_ORDINARY;
    (!exponents.iter().all(is_ordinary)).then_some(exponents[1])
}

/// Fields that every version has.
#[derive(Deserialize)]
struct ManifestHead {
    format: String,
    version: u32,
}

/// What is recorded of the edges that became arcs, and of the nodes.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) rules: Option<EdgeRules>,
    pub(super) names: Option<NodeNames>,
    pub(super) name_type: NameType,
    pub(super) kinds: Option<KindsSummary>,
    pub(super) dropped_loop_count: u64,
    pub(super) combined_count: u64,
}

/// Contents of `graph.json`; `checksum` is the xxh3-64 of the compact JSON with an empty `checksum`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphManifest {
    format: String,
    version: u32,
    pub(super) node_count: u64,
    pub(super) arc_count: u64,
    pub(super) edge_count: u64,
    pub(super) loop_count: u64,
    dropped_loop_count: u64,
    combined_count: u64,
    pub(super) max_degree: u64,
    pub(super) weight_total: f64,
    /// Exponent of the strength of all nodes, if [`recorded_exponent`] returns it; older graphs lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) strength_exponent: Option<i32>,
    pub(super) weighted: bool,
    pub(super) directed: bool,
    duplicates: Duplicates,
    loops_kept: bool,
    /// How edges became arcs, if a job wrote the graph and recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rules: Option<EdgeRules>,
    /// Meaning of the names. Absent in graphs of files, and in older ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    names: Option<NodeNames>,
    /// Type of the names. Absent if it is text, and in older graphs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) name_type: NameType,
    /// Kinds of nodes and the file that holds them, if there are two. Older graphs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kinds: Option<KindsSummary>,
    block_nodes: u64,
    pub(super) block_arcs: u64,
    pub(super) segment_arcs: u64,
    arcs_bytes: u64,
    arcs_checksum: String,
    /// For a part of a larger graph: its first node in that graph, and the node count of that graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) part_of: Option<(u64, u64)>,
    /// Nodes by the lower bound of their degree bin. Older graphs have none of these counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) degrees: BTreeMap<u64, u64>,
    /// Arcs by the largest power of two that is not above their weight.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) weight_powers: BTreeMap<i32, u64>,
    pub(super) checksum: String,
}

impl GraphManifest {
    pub(super) fn new(
        options: &GraphOptions,
        limits: &BlockLimits,
        totals: &BlockTotals,
        recorded: Recorded,
    ) -> Self {
        let arc_count = totals.arc_count;
        let mut manifest = Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            node_count: totals.node_count,
            arc_count,
            edge_count: if options.directed { arc_count } else { arc_count / 2 },
            loop_count: totals.loop_count,
            dropped_loop_count: recorded.dropped_loop_count,
            combined_count: recorded.combined_count,
            max_degree: totals.max_degree,
            // JSON has no infinity.
            weight_total: totals.weight_total.min(f64::MAX),
            strength_exponent: recorded_exponent(totals.weight_total, totals.loop_total),
            weighted: totals.is_weighted,
            directed: options.directed,
            duplicates: options.duplicates,
            loops_kept: options.keep_loops,
            rules: recorded.rules,
            names: recorded.names,
            name_type: recorded.name_type,
            kinds: recorded.kinds,
            block_nodes: limits.block_nodes as u64,
            block_arcs: limits.block_arcs as u64,
            segment_arcs: limits.segment_arcs as u64,
            arcs_bytes: totals.sealed.bytes,
            arcs_checksum: format!("{:016x}", totals.sealed.checksum),
            part_of: (totals.node_count < options.node_count)
                .then_some((totals.first_node, options.node_count)),
            degrees: totals.histograms.degrees(),
            weight_powers: totals.histograms.weights(),
            checksum: String::new(),
        };
        manifest.checksum = manifest.own_checksum();
        manifest
    }

    fn own_checksum(&self) -> String {
        let blank = Self { checksum: String::new(), ..self.clone() };
        let bytes = serde_json::to_vec(&blank).expect("numbers, words and text are JSON");
        format!("{:016x}", xxh3_64(&bytes))
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("numbers, words and text are JSON");
        bytes.push(b'\n');
        bytes
    }

    pub(super) fn summary(&self, bytes: u64) -> GraphSummary {
        GraphSummary {
            node_count: self.node_count,
            arc_count: self.arc_count,
            edge_count: self.edge_count,
            loop_count: self.loop_count,
            dropped_loop_count: self.dropped_loop_count,
            combined_count: self.combined_count,
            weight_total: self.weight_total,
            max_degree: self.max_degree,
            is_directed: self.directed,
            is_weighted: self.weighted,
            duplicates: self.duplicates,
            loops_kept: self.loops_kept,
            degrees: degree_bins(&self.degrees),
            weights: weight_bins(&self.weight_powers),
            names: self.names,
            name_type: self.name_type,
            kinds: self.kinds.as_ref().map(KindsSummary::kinds),
            bytes,
        }
    }

    /// Reads and verifies the manifest; returns its length, too.
    pub(super) fn read(files: &Files, path: &Path) -> Result<(Self, u64)> {
        let corrupt = |message: &str| Error::corrupt(path, message);
        if files.entry(path)?.bytes > BYTES_MAX {
            return Err(corrupt("it is another kind of file"));
        }
        let bytes = files.read(path)?;
        let head: ManifestHead = serde_json::from_slice(&bytes)
            .map_err(|_| corrupt("it is another kind of file, or truncated"))?;
        if head.format != FORMAT {
            return Err(corrupt("it is another kind of file"));
        }
        if head.version != VERSION {
            return Err(other_version(path, head.version));
        }
        let manifest: Self =
            serde_json::from_slice(&bytes).map_err(|_| corrupt("its fields are changed"))?;
        if manifest.checksum != manifest.own_checksum() {
            return Err(corrupt("its checksum is wrong"));
        }
        Ok((manifest, bytes.len() as u64))
    }

    /// Returns the exponent of the total strength, or of that without loops if both are ordinary.
    pub(super) fn strength_exponent(&self) -> i32 {
        self.strength_exponent.unwrap_or_else(|| exponent_of(self.weight_total))
    }

    /// Returns whether an `arcs` file is the one that the manifest was written with.
    pub(super) fn seals(&self, sealed: Sealed) -> bool {
        self.arcs_bytes == sealed.bytes && self.arcs_checksum == format!("{:016x}", sealed.checksum)
    }
}
