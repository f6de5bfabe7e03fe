//! Rows of a graph: a node, its neighbors, and the weights of the edges to them.
//!
//! For callers that want nodes rather than blocks. Each block that has a wanted node is read once and held, one at a
//! time; reading all of a large graph is faster by [`Graph::scan`], which reads ahead.
//!
//! ```
//! use outcore_graph::{ArcRecord, Duplicates, Graph, GraphOptions, GraphWriter, Weight, io::Files};
//! # let temporary = tempfile::tempdir().expect("a directory");
//! # let directory = temporary.path();
//!
//! // A path of three nodes: each edge is two arcs.
//! let (files, path) = (Files::default(), directory.join("path.graph"));
//! let arc = |(source, target, weight)| ArcRecord { source, target, weight: Weight::new(weight).code() };
//! let arcs = [(0, 1, 0.5), (1, 0, 0.5), (1, 2, 2.0), (2, 1, 2.0)].map(arc);
//! let (directed, duplicates, keep_loops) = (false, Duplicates::Sum, false);
//! let options = GraphOptions { node_count: 3, directed, duplicates, keep_loops };
//! let mut writer = GraphWriter::create(&files, &path, &options)?;
//! writer.push(&arcs)?;
//! writer.finish()?;
//!
//! let graph = Graph::open(&files, &path)?;
//! assert_eq!(graph.neighbors(1)?, [(0, 0.5), (2, 2.0)]);
//! assert_eq!(graph.degrees().collect::<Result<Vec<_>, _>>()?, [1, 2, 1]);
//! for row in graph.rows([0, 2]) {
//!     assert_eq!(row?.neighbors[0].0, 1);
//! }
//! # Ok::<(), outcore_graph::io::Error>(())
//! ```

use crate::weight::Weight;
use crate::{ArcScratch, Block, BlockScan, Graph};
use outcore_io::error::Result;
use std::sync::Arc;

/// Number of blocks that are read ahead of the current one.
const READ_AHEAD: usize = 2;

/// Node and its neighbors.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// Node.
    pub node: u32,
    /// Weight of the loop of the node; 0 if it has none.
    pub self_loop: f64,
    /// Neighbors in ascending order, with the weight of the edge. In a directed graph, those that have an edge to the
    /// node.
    pub neighbors: Vec<(u32, f64)>,
}

impl Graph {
    /// Returns the neighbors of a node in ascending order, with the weights of the edges; a loop is not among them. In
    /// a directed graph, they are those that have an edge to the node. Reads a block.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    ///
    /// # Panics
    /// Panics if there is no such node.
    pub fn neighbors(&self, node: u32) -> Result<Vec<(u32, f64)>> {
        let block = self.read_block(self.block_of(node))?;
        Ok(row_of(&block, node, &mut ArcScratch::default())?.neighbors)
    }

    /// Returns the rows of nodes, which must be in ascending order. Reads each block that has one of them once.
    ///
    /// # Panics
    /// The iterator panics at a node that does not exist.
    pub fn rows<I: IntoIterator<Item = u32>>(&self, nodes: I) -> Rows<'_, I::IntoIter> {
        Rows { graph: self, nodes: nodes.into_iter(), block: None, arcs: ArcScratch::default() }
    }

    /// Returns the degree of each node: the number of its neighbors.
    pub fn degrees(&self) -> Degrees {
        Degrees { scan: self.scan(0..self.blocks().len(), READ_AHEAD), block: None, next: 0 }
    }

    /// Returns the node with a name, if there is one. Reads the names up to it.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn node_named(&self, name: &[u8]) -> Result<Option<u32>> {
        let mut names = self.names()?;
        let mut node = 0;
        while let Some(found) = names.next_name()? {
            if found == name {
                return Ok(Some(node));
            }
            node += 1;
        }
        Ok(None)
    }

    /// Returns the block that contains a node.
    fn block_of(&self, node: u32) -> usize {
        let blocks = self.blocks();
        let after = blocks.partition_point(|block| block.first_node <= node);
        let block =
            after.checked_sub(1).filter(|&at| node - blocks[at].first_node < blocks[at].node_count);
        block.unwrap_or_else(|| panic!("the graph has no node {node}"))
    }
}

fn row_of(block: &Block, node: u32, arcs: &mut ArcScratch) -> Result<Row> {
    let local = (node - block.first_node()) as usize;
    let mut neighbors = Vec::with_capacity(block.degree(local) as usize);
    block.for_each_segment(local, arcs, |targets, codes| {
        let weight = |at: usize| codes.get(at).map_or(1.0, |&code| Weight::from_code(code).value());
        neighbors.extend(targets.iter().enumerate().map(|(at, &target)| (target, weight(at))));
    })?;
    Ok(Row { node, self_loop: block.self_loop(local), neighbors })
}

/// Rows of some nodes.
pub struct Rows<'a, I> {
    graph: &'a Graph,
    nodes: I,
    block: Option<Block>,
    arcs: ArcScratch,
}

impl<I: Iterator<Item = u32>> Iterator for Rows<'_, I> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        let node = self.nodes.next()?;
        let at = self.graph.block_of(node);
        let block = match self.block.take().filter(|block| block.index() == at) {
            Some(block) => block,
            None => match self.graph.read_block(at) {
                Ok(block) => block,
                Err(error) => return Some(Err(error)),
            },
        };
        let row = row_of(&block, node, &mut self.arcs);
        self.block = Some(block);
        Some(row)
    }
}

/// Degrees of all nodes.
pub struct Degrees {
    scan: BlockScan,
    block: Option<Arc<Block>>,
    /// Next node of the block.
    next: usize,
}

impl Iterator for Degrees {
    type Item = Result<u64>;

    fn next(&mut self) -> Option<Result<u64>> {
        while self.block.as_ref().is_none_or(|block| self.next == block.node_count()) {
            match self.scan.next() {
                Ok(block) => self.block = Some(block?),
                Err(error) => return Some(Err(error)),
            }
            self.next = 0;
        }
        let degree = self.block.as_ref()?.degree(self.next);
        self.next += 1;
        Some(Ok(degree))
    }
}
