//! Size of an input and of the graph of its edges, as estimated from a sample.

/// Size of an input, as estimated from a sample.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct InputSize {
    /// Bytes of text, decompressed.
    pub text_bytes: u64,
    /// Bytes of the files.
    pub file_bytes: u64,
    /// Bytes of the files that were read for this estimate.
    pub sample_bytes: u64,
    /// Lines with an edge.
    pub edge_count: u64,
    /// Edges of the graph: repeated edges count once, loops do not count.
    pub distinct_edge_count: u64,
    /// Reliable lower bound on `distinct_edge_count`.
    pub distinct_edge_count_at_least: u64,
    /// Likely number of nodes.
    pub node_count: u64,
    /// Reliable lower bound on the number of nodes.
    pub node_count_at_least: u64,
    /// Mean length of a name.
    pub name_bytes: f64,
    /// Edges that a single node is known to have, if one has many.
    pub hub_edge_count: u64,
    /// Whether edges keep their direction.
    pub is_directed: bool,
    /// Whether lines carry weights.
    pub is_weighted: bool,
    /// Bits per weight beyond those in common with its neighbors.
    pub weight_bits: f64,
    /// Whether fractional weights of repeated edges are summed.
    pub sums_fractions: bool,
    /// Whether the self scores of nodes are kept until the graph is written.
    pub has_self_scores: bool,
    /// Graph that the edges are added to, if any. All other sizes are those of the new edges alone, and none of their
    /// nodes is assumed to be in the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<AppendSize>,
}

/// Size of a graph that edges are added to.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct AppendSize {
    /// Number of nodes.
    pub node_count: u64,
    /// Number of edges between different nodes.
    pub edge_count: u64,
    /// Number of arcs.
    pub arc_count: u64,
    /// Bytes of its arcs.
    pub arc_bytes: u64,
    /// Bytes of its names.
    pub names_bytes: u64,
    /// Whether its arcs have weights.
    pub is_weighted: bool,
    /// Memory for its blocks while it is read.
    pub block_bytes: u64,
    /// Smallest limit for which there is memory to read it.
    pub memory_bytes_min: u64,
}

impl InputSize {
    /// Returns the number of nodes of the graph that edges are added to; 0 if there is none.
    pub fn old_nodes(&self) -> u64 {
        self.append.map_or(0, |old| old.node_count)
    }
}
