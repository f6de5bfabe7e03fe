//! Blocks in order, from memory as far as the budget goes and from the file after that.
//!
//! A clustering scans the graph several times. The first blocks stay in memory, encoded; the rest is
//! read again by every scan, ahead of its use. What is kept never changes a result.

use crate::error::Result;
use crate::graph::{Block, BlockEntry, Graph};
use std::sync::Arc;

/// Blocks read ahead while one is worked on.
pub(crate) const READ_AHEAD: usize = 2;

/// The blocks of a graph, the first of them kept in memory.
pub(crate) struct BlockSource<'g> {
    graph: &'g Graph,
    kept: Vec<Arc<Block>>,
    kept_bytes: u64,
    budget: u64,
}

impl<'g> BlockSource<'g> {
    /// Keeps as many of the first blocks as fit into `budget` bytes.
    pub(crate) fn new(graph: &'g Graph, budget: u64) -> Self {
        Self { graph, kept: Vec::new(), kept_bytes: 0, budget }
    }

    /// The graph.
    pub(crate) fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// Visits in order every block that is `wanted` when its turn comes.
    ///
    /// # Errors
    /// Those of reading and of `visit`.
    pub(crate) fn for_each(
        &mut self,
        wanted: impl Fn(&BlockEntry) -> bool,
        mut visit: impl FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        let entries = self.graph.blocks();
        // What is wanted now is read ahead; what comes to be wanted only later is read in its turn.
        let planned: Vec<usize> =
            (self.kept.len()..entries.len()).filter(|&i| wanted(&entries[i])).collect();
        let mut ahead = planned.iter().copied().peekable();
        let mut scan = (!planned.is_empty()).then(|| self.graph.scan(planned.clone(), READ_AHEAD));
        for (index, entry) in entries.iter().enumerate() {
            let was_planned = ahead.next_if_eq(&index).is_some();
            let block = if was_planned {
                let next = scan.as_mut().map_or(Ok(None), |scan| scan.next())?;
                next.expect("the scan returns every block that was planned")
            } else if !wanted(entry) {
                continue;
            } else if let Some(block) = self.kept.get(index) {
                block.clone()
            } else {
                Arc::new(self.graph.read_block(index)?)
            };
            self.keep(&block);
            if !was_planned || wanted(entry) {
                visit(&block)?;
            }
        }
        Ok(())
    }

    fn keep(&mut self, block: &Arc<Block>) {
        let bytes = block.memory_bytes() as u64;
        if block.index() == self.kept.len() && self.kept_bytes + bytes <= self.budget {
            self.kept.push(block.clone());
            self.kept_bytes += bytes;
        }
    }
}
