//! Reading a graph.
use super::{Block, BlockEntry, NameScan};
use crate::error::Result;
use crate::io::Files;
use crate::progress::Observer;
use std::path::Path;
use std::sync::Arc;

/// An open graph.
pub struct Graph(());

impl Graph {
    /// Opens the graph in `directory`: reads the counts and the index of blocks.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn open(files: &Files, directory: &Path) -> Result<Self> {
        let _ = (files, directory);
        todo!()
    }
    /// Nodes.
    pub fn node_count(&self) -> u64 {
        todo!()
    }
    /// Arcs, loops not counted: two for an edge if undirected.
    pub fn arc_count(&self) -> u64 {
        todo!()
    }
    /// Edges between different nodes.
    pub fn edge_count(&self) -> u64 {
        todo!()
    }
    /// Nodes with a loop.
    pub fn loop_count(&self) -> u64 {
        todo!()
    }
    /// Whether an arc may lack its opposite.
    pub fn is_directed(&self) -> bool {
        todo!()
    }
    /// Whether any weight, of arc or loop, is not 1.
    pub fn is_weighted(&self) -> bool {
        todo!()
    }
    /// Sum of the arcs' weights in their order, loops not counted.
    pub fn weight_total(&self) -> f64 {
        todo!()
    }
    /// The most arcs of a node, loops not counted.
    pub fn max_degree(&self) -> u64 {
        todo!()
    }
    /// Bytes of all files of the graph.
    pub fn bytes_on_disk(&self) -> u64 {
        todo!()
    }
    /// All blocks in node order.
    pub fn blocks(&self) -> &[BlockEntry] {
        todo!()
    }
    /// Reads one block.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn read_block(&self, block: usize) -> Result<Block> {
        let _ = block;
        todo!()
    }
    /// Reads the `wanted` blocks in their order, at most `depth` of them ahead.
    pub fn scan(
        &self,
        wanted: impl IntoIterator<Item = usize, IntoIter: Send + 'static>,
        depth: usize,
    ) -> BlockScan {
        let _ = (wanted.into_iter(), depth);
        todo!()
    }
    /// Reads all names in index order.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn names(&self) -> Result<NameScan> {
        todo!()
    }
    /// Reads everything and checks all checksums, orders and counts.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`, `Interrupted`.
    pub fn verify(&self, observer: &dyn Observer) -> Result<()> {
        let _ = observer;
        todo!()
    }
}

/// Blocks, read ahead on threads.
pub struct BlockScan(());

impl BlockScan {
    /// The next block, or `None` after the last.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    #[expect(clippy::should_implement_trait, reason = "an iterator would hide the errors")]
    pub fn next(&mut self) -> Result<Option<Arc<Block>>> {
        todo!()
    }
}
