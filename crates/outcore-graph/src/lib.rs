//! The graph on disk: compressed sparse rows in blocks that can be read, checked and decoded alone.
//!
//! ```text
//!  GRAPH/
//!    graph.json   counts, options, checksums; written last                     (manifest)
//!    arcs         the blocks: each node's targets and weights; an index        (index, block, codec)
//!    names        the nodes' names in index order; an index                    (names)
//!    kinds        of nodes of two kinds, a bit per node; an index              (kinds)
//!
//!  ArcRecord --writer--> raw blocks --encoder--> arcs --reader--> Block --for_each_segment--> targets, weights
//! ```
//!
//! Blocks are determined by the graph alone, never by memory or threads, because the clustering's result
//! depends on them. They hold consecutive nodes; a block ends when it has `clamp(n / 64, 256, 65536)` nodes,
//! or before the node that would bring it above 2^20 arcs. A node with more arcs than that is alone in a hub
//! block, which is never in memory as a whole: its arcs are streamed in segments of [`SEGMENT_ARCS`]. Loops
//! are stored separately and count neither as arcs nor toward the limit.
//!
//! Memory: a writer takes [`GraphWriter::MEMORY_BYTES`], an open graph 40 bytes per block, a block about 4.5
//! bytes per arc and 8 per node. Disk: 4.1 bytes per arc for 20 random targets per node among 5 million nodes
//! with three-digit weights; less if neighbors have similar indexes.
//!
//! ```
//! use outcore_graph::{ArcRecord, ArcScratch, Duplicates, Graph, GraphOptions, GraphWriter, Weight};
//! use outcore_io::Files;
//! # let temporary = tempfile::tempdir().expect("a directory");
//! # let directory = temporary.path();
//!
//! let (files, path) = (Files::default(), directory.join("path.graph"));
//! // The path 0 - 1 - 2: both arcs of each edge, by source and target.
//! let weight = Weight::new(0.5).code();
//! let arcs = [(0, 1), (1, 0), (1, 2), (2, 1)];
//! let arcs = arcs.map(|(source, target)| ArcRecord { source, target, weight });
//! let options = GraphOptions {
//!     node_count: 3,
//!     directed: false,
//!     duplicates: Duplicates::Sum,
//!     keep_loops: false,
//! };
//! let mut writer = GraphWriter::create(&files, &path, &options)?;
//! writer.push(&arcs)?;
//! writer.finish()?;
//!
//! let graph = Graph::open(&files, &path)?;
//! let mut neighbors = vec![Vec::new(); 3];
//! let mut scratch = ArcScratch::default();
//! let mut scan = graph.scan(0..graph.blocks().len(), 2);
//! while let Some(block) = scan.next()? {
//!     for local in 0..block.node_count() {
//!         block.for_each_segment(local, &mut scratch, |targets, _weights| {
//!             neighbors[block.first_node() as usize + local].extend_from_slice(targets);
//!         })?;
//!     }
//! }
//! assert_eq!(neighbors, [vec![1], vec![0, 2], vec![1]]);
//! # Ok::<(), outcore_io::Error>(())
//! ```

mod arc;
mod block;
mod codec;
mod histogram;
pub mod ids;
mod index;
mod kinds;
mod manifest;
mod names;
pub mod pack;
mod reader;
mod rows;
mod size;
#[cfg(test)]
mod tests;
mod verify;
mod view;
pub mod weight;
mod writer;

pub use arc::{ArcRecord, InputOrder};
pub use block::SEGMENT_ARCS;
pub use block::{ArcScratch, Block};
pub use codec::GROUP;
pub use histogram::{Bin, bins};
pub use index::BlockEntry;
pub use kinds::{
    KINDS_WRITER_BYTES, KindBits, KindNames, KindScan, Kinds, KindsSummary, KindsWriter, NodeKinds,
};
pub use manifest::EdgeRules;
pub use manifest::{Duplicates, GraphOptions, GraphSummary, NameType, NodeNames};
pub use names::{NameScan, Names, NamesSummary, NamesWriter};
pub use outcore_io as io;
pub use reader::{BlockScan, Graph};
pub use rows::{Degrees, Row, Rows};
pub use size::{
    ARC_BYTES, GRAPH_WRITER_BYTES, GraphSize, merge_bytes, merge_bytes_beside, queue_and_sort_bytes,
};
pub use view::{LoopWeight, View};
pub use weight::Weight;
pub use writer::GraphWriter;
pub use writer::{Combiner, extend};

use std::path::{Path, PathBuf};

const ARCS_MAGIC: [u8; 8] = *b"OUTCarcs";
const NAMES_MAGIC: [u8; 8] = *b"OUTCname";
const KINDS_MAGIC: [u8; 8] = *b"OUTCkind";
/// Maximum number of nodes in a block.
pub const BLOCK_NODES: u64 = 1 << 16;
/// Maximum number of arcs in a block that is not a hub block.
pub const BLOCK_ARCS: u64 = 1 << 20;

/// Returns the maximum number of nodes in a block of a graph with `node_count` nodes.
pub fn block_nodes(node_count: u64) -> u64 {
    node_count.div_ceil(64).clamp(256, BLOCK_NODES)
}

fn manifest_path(directory: &Path) -> PathBuf {
    directory.join("graph.json")
}

fn arcs_path(directory: &Path) -> PathBuf {
    directory.join("arcs")
}

fn names_path(directory: &Path) -> PathBuf {
    directory.join("names")
}

fn kinds_path(directory: &Path) -> PathBuf {
    directory.join("kinds")
}

/// Limits that determine the blocks.
#[derive(Debug, Clone, Copy)]
pub struct BlockLimits {
    /// Maximum number of nodes of a block.
    pub block_nodes: usize,
    /// Maximum number of arcs of a block of several nodes; a multiple of `segment_arcs`.
    pub block_arcs: usize,
    segment_arcs: usize,
}

impl BlockLimits {
    /// Blocks of a few nodes and arcs, for tests.
    #[cfg(feature = "sim")]
    pub const TINY: Self = Self { block_nodes: 5, block_arcs: 8, segment_arcs: 4 };

    /// Returns the limits for a graph of `node_count` nodes.
    pub fn of(node_count: u64) -> Self {
        let block_nodes = block_nodes(node_count) as usize;
        Self { block_nodes, block_arcs: BLOCK_ARCS as usize, segment_arcs: SEGMENT_ARCS }
    }
}
