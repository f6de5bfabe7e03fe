//! Blocks.
use crate::error::Result;

/// Most arcs that one segment hands over.
pub const SEGMENT_ARCS: usize = 65_536;

/// Where a block lies and what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEntry {
    /// The first node.
    pub first_node: u32,
    /// How many consecutive nodes.
    pub node_count: u32,
    /// Arcs of these nodes, loops not counted.
    pub arc_count: u64,
    /// Where the block begins in the file.
    pub offset: u64,
    /// Its length in the file.
    pub bytes: u64,
    /// xxh3-64 of its bytes; of a hub block, of its directory.
    pub checksum: u64,
}

/// Memory to decode arcs into; one for each thread, used again and again.
#[derive(Debug, Default)]
pub struct ArcScratch {
    targets: Vec<u32>,
    weights: Vec<u32>,
}

/// Consecutive nodes with their arcs, encoded.
pub struct Block {
    index: usize,
}

impl Block {
    /// Its number.
    pub fn index(&self) -> usize {
        self.index
    }
    /// Its first node.
    pub fn first_node(&self) -> u32 {
        todo!()
    }
    /// How many nodes it has.
    pub fn node_count(&self) -> usize {
        todo!()
    }
    /// How many arcs it has, loops not counted.
    pub fn arc_count(&self) -> u64 {
        todo!()
    }
    /// Memory it takes.
    pub fn memory_bytes(&self) -> usize {
        todo!()
    }
    /// Neighbors of the node `first_node() + local`, itself not counted.
    pub fn degree(&self, local: usize) -> u64 {
        let _ = local;
        todo!()
    }
    /// Weight of the node's loop; 0 if it has none.
    pub fn self_loop(&self, local: usize) -> f64 {
        let _ = local;
        todo!()
    }
    /// Hands the node's arcs to `f` in ascending target order, in segments of at most
    /// [`SEGMENT_ARCS`]: targets, and weight codes ([`Weight::code`](crate::weight::Weight::code)).
    /// There are no weight codes if all of the block's weights are 1. A node without arcs gives no
    /// segment; all segments but the last are full.
    ///
    /// # Errors
    /// `CorruptFile`; `Io` in a hub block, which is read from the file each time.
    pub fn for_each_segment(
        &self,
        local: usize,
        scratch: &mut ArcScratch,
        f: impl FnMut(&[u32], &[u32]),
    ) -> Result<()> {
        let _ = (local, &scratch.targets, &scratch.weights, f);
        todo!()
    }
}
