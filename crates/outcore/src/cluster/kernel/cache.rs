//! Blocks in order, from memory as far as the budget goes and from the file after that.
//!
//! A clustering scans the graph several times. The first blocks to come stay in memory, encoded; the
//! rest is read again by every scan, ahead of its use. What is kept never changes a result.

use crate::cluster::base::pace::ClusterProgress;
use crate::error::Result;
use crate::graph::{Block, BlockEntry, Graph};
use std::sync::Arc;

/// Blocks read ahead while one is worked on.
pub const READ_AHEAD: usize = 2;

/// The blocks of a graph, some of them kept in memory.
pub struct BlockSource<'g> {
    graph: &'g Graph,
    kept: Vec<Option<Arc<Block>>>,
    kept_bytes: u64,
    budget: u64,
    ahead: usize,
    scans: u64,
    /// Hears of the arcs that are gone through.
    pace: Option<&'g ClusterProgress<'g>>,
}

impl<'g> BlockSource<'g> {
    /// Keeps the blocks that come first, as many as fit into `budget` bytes.
    pub fn new(graph: &'g Graph, budget: u64) -> Self {
        let budget = budget.min(graph.files().cramped().kept_bytes);
        let kept = vec![None; if budget > 0 { graph.blocks().len() } else { 0 }];
        Self { graph, kept, kept_bytes: 0, budget, ahead: READ_AHEAD, scans: 0, pace: None }
    }

    /// Reads so many blocks ahead.
    pub fn reading_ahead(self, ahead: usize) -> Self {
        Self { ahead, ..self }
    }

    /// Tells `pace` of the arcs that are gone through, those of blocks that nobody wants too.
    pub fn paced(self, pace: &'g ClusterProgress<'g>) -> Self {
        Self { pace: Some(pace), ..self }
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// Memory of the blocks that are kept.
    pub fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }

    /// How often the blocks have been gone through.
    pub fn scans(&self) -> u64 {
        self.scans
    }

    /// Counts from here on, as an earlier process has gone through them as often.
    pub fn count_from(&mut self, scans: u64) {
        self.scans = scans;
    }

    /// Visits all blocks in the order of their nodes.
    ///
    /// # Errors
    /// Those of reading and of `visit`.
    pub fn for_all(&mut self, visit: impl FnMut(&Block) -> Result<()>) -> Result<()> {
        self.for_each(0..self.graph.blocks().len(), |_| true, visit)
    }

    /// Visits the blocks of `order` that are `wanted` when their turn comes.
    ///
    /// # Errors
    /// Those of reading and of `visit`.
    pub fn for_each(
        &mut self,
        order: impl Iterator<Item = usize> + Clone,
        wanted: impl Fn(&BlockEntry) -> bool,
        mut visit: impl FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        // What is wanted now is read ahead; what comes to be wanted only later is read in its turn.
        let entries = self.graph.blocks();
        let planned =
            order.clone().filter(|&index| !self.is_kept(index) && wanted(&entries[index]));
        self.scan(planned.collect(), &mut { order }, &wanted, &mut visit)
    }

    fn is_kept(&self, index: usize) -> bool {
        matches!(self.kept.get(index), Some(Some(_)))
    }

    /// Visits the blocks of `order`, of which those of `planned` are read ahead. Not generic: it is called a
    /// few times for each block.
    fn scan(
        &mut self,
        planned: Vec<usize>,
        order: &mut dyn Iterator<Item = usize>,
        wanted: &dyn Fn(&BlockEntry) -> bool,
        visit: &mut dyn FnMut(&Block) -> Result<()>,
    ) -> Result<()> {
        self.scans += 1;
        let entries = self.graph.blocks();
        let mut ahead = planned.iter().copied().peekable();
        let mut scan = (!planned.is_empty()).then(|| self.graph.scan(planned.clone(), self.ahead));
        for index in order {
            let entry = &entries[index];
            let was_planned = ahead.next_if_eq(&index).is_some();
            let block = if was_planned {
                let next = scan.as_mut().map_or(Ok(None), |scan| scan.next())?;
                next.expect("the scan returns every block that was planned")
            } else if !wanted(entry) {
                self.go(entry);
                continue;
            } else if let Some(Some(block)) = self.kept.get(index) {
                block.clone()
            } else {
                Arc::new(self.graph.read_block(index)?)
            };
            self.keep(&block);
            if !was_planned || wanted(entry) {
                visit(&block)?;
            }
            self.go(entry);
        }
        Ok(())
    }

    fn go(&self, entry: &BlockEntry) {
        if let Some(pace) = self.pace {
            pace.go(entry.arc_count);
        }
    }

    fn keep(&mut self, block: &Arc<Block>) {
        let bytes = block.memory_bytes() as u64;
        if let Some(slot @ None) = self.kept.get_mut(block.index())
            && self.kept_bytes + bytes <= self.budget
        {
            *slot = Some(block.clone());
            self.kept_bytes += bytes;
        }
    }
}
