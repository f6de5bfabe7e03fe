//! Writing a graph.
use crate::error::Result;
use crate::io::Files;
use std::path::Path;

/// One arc on its way into the graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ArcRecord {
    /// Index of the node it leaves.
    pub source: u32,
    /// Index of the node it reaches.
    pub target: u32,
    /// Its weight's [code](crate::weight::Weight::code).
    pub weight: u32,
}

/// What becomes of arcs with the same source and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// One arc with the sum of their weights.
    Sum,
    /// The heaviest.
    Max,
    /// The lightest.
    Min,
    /// The one that came first.
    First,
}

/// What kind of graph to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphOptions {
    /// Nodes, at most 2^32; indexes are below this.
    pub node_count: u64,
    /// Whether arcs are written for one direction only.
    pub directed: bool,
    /// What becomes of arcs with the same source and target.
    pub duplicates: Duplicates,
    /// Whether arcs from a node to itself are kept, apart from the others, or dropped.
    pub keep_loops: bool,
}

/// What [`GraphWriter::finish`] wrote.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GraphSummary {
    /// Nodes.
    pub node_count: u64,
    /// Arcs, loops not counted.
    pub arc_count: u64,
    /// Edges between different nodes: half of the arcs if undirected.
    pub edge_count: u64,
    /// Nodes with a loop.
    pub loop_count: u64,
    /// Records of loops that were dropped.
    pub dropped_loop_count: u64,
    /// Records that went into an earlier one with the same source and target.
    pub combined_count: u64,
    /// Sum of the arcs' weights in their order, loops not counted.
    pub weight_total: f64,
    /// The most arcs of a node, loops not counted.
    pub max_degree: u64,
    /// Bytes of `arcs` and `graph.json`.
    pub bytes: u64,
}

/// Writes the arcs of a graph.
pub struct GraphWriter(());

impl GraphWriter {
    /// Starts a graph in `directory`, which is made if it is not there.
    ///
    /// # Errors
    /// `TooManyNodes`, `Io`, `DiskFull`.
    pub fn create(files: &Files, directory: &Path, options: &GraphOptions) -> Result<Self> {
        let _ = (files, directory, options);
        todo!()
    }
    /// Appends arcs in ascending order of (source, target), equal pairs adjacent: ascending by
    /// weight for [`Duplicates::Sum`], in order of appearance for [`Duplicates::First`]. Of an
    /// undirected edge both arcs come; of a loop one.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    ///
    /// # Panics
    /// If arcs are out of order or an index is not below the node count.
    pub fn push(&mut self, arcs: &[ArcRecord]) -> Result<()> {
        let _ = arcs;
        todo!()
    }
    /// Completes `arcs`, then writes `graph.json`.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn finish(self) -> Result<GraphSummary> {
        todo!()
    }
}
