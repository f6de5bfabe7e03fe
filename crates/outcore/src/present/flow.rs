//! Flow of the nodes, the share of the steps of a random walk that end at each, kept in a file of a job: 8 bytes per node,
//! written and read once, front to back.

use super::matching::Workbench;
use crate::cluster::score;
use crate::error::Result;
use crate::graph::Graph;
use crate::io::{Array, ArrayReader, ArrayWriter, Files};

/// Numbers held in memory while the flow is read.
const BLOCK_NUMBERS: u64 = 1 << 14;

/// Flow of all nodes.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    /// Visits of each node, in an arbitrary unit.
    visits: Array<f64>,
    total: f64,
}

impl Flow {
    /// Computes the flow of a graph; in a directed one, teleportation may count as flow.
    ///
    /// # Errors
    /// Those of reading; `Io`, `DiskFull`, `Interrupted`.
    pub(crate) fn of(
        bench: &Workbench<'_>,
        graph: &Graph,
        recorded_teleportation: bool,
    ) -> Result<Self> {
        let path = bench.scratch.join("flow");
        let mut writer = ArrayWriter::create(bench.files, &path, graph.node_count())?;
        let each = |visits: &[f64]| visits.iter().try_for_each(|&visits| writer.push(visits));
        let total = score::visits(graph, recorded_teleportation, bench.observer, each)?;
        Ok(Self { visits: writer.finish()?, total })
    }

    /// Opens the flow, to be read node by node.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn scan(&self, files: &Files) -> Result<FlowScan> {
        Ok(FlowScan { visits: self.visits.read(files, BLOCK_NUMBERS)?, total: self.total })
    }
}

/// Scan of the flow, in node order.
pub(crate) struct FlowScan {
    visits: ArrayReader<f64>,
    total: f64,
}

impl FlowScan {
    /// Returns the flow of the next node; 0 if nothing flows at all.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<f64> {
        let visits = self.visits.number()?;
        Ok(if self.total > 0.0 { visits / self.total } else { 0.0 })
    }
}
