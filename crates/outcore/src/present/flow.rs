//! Flow of the nodes, the share of the steps of a random walk that end at each, kept in files of a job: 8 bytes per node,
//! written and read once, front to back. For the flow of links, up to 24 bytes more: what follows an arc of the node, and
//! what teleports.

use super::matching::Workbench;
use crate::cluster::score::{self, Visited};
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
    /// Visits that follow each unit of weight of the arcs that leave a node, for links; if absent, 1 for each node.
    per_weight: Option<Array<f64>>,
    /// Visits that teleport from each node, and to it, for links, if teleportation counts as flow.
    teleports: Option<[Array<f64>; 2]>,
}

/// What the flow is found for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlowPurpose {
    /// Whether teleportation counts as flow, in a directed graph.
    pub(crate) recorded_teleportation: bool,
    /// Whether the flow of links is written, too.
    pub(crate) has_links: bool,
}

impl Flow {
    /// Computes the flow of a graph.
    ///
    /// # Errors
    /// Those of reading; `Io`, `DiskFull`, `Interrupted`.
    pub(crate) fn of(bench: &Workbench<'_>, graph: &Graph, purpose: FlowPurpose) -> Result<Self> {
        let FlowPurpose { recorded_teleportation: is_recorded, has_links } = purpose;
        let has_rates = has_links && graph.is_directed();
        let create = |name: &str| {
            ArrayWriter::create(bench.files, &bench.scratch.join(name), graph.node_count())
        };
        let create_if = |is_wanted: bool, name| is_wanted.then(|| create(name)).transpose();
        let mut visits = create("flow")?;
        let mut per_weight = create_if(has_rates, "flow-per-weight")?;
        let mut teleports = create_if(has_rates && is_recorded, "flow-from")?;
        let mut lands = create_if(has_rates && is_recorded, "flow-to")?;
        let put = |writer: &mut Option<ArrayWriter<f64>>, number| match writer {
            Some(writer) => writer.push(number),
            None => Ok(()),
        };
        let total = score::visits(graph, is_recorded, bench.observer, |of_nodes: &[Visited]| {
            of_nodes.iter().try_for_each(|node| {
                visits.push(node.visits)?;
                put(&mut per_weight, node.per_weight)?;
                put(&mut teleports, node.teleports)?;
                put(&mut lands, node.lands)
            })
        })?;
        let finish = |writer: Option<ArrayWriter<f64>>| writer.map(ArrayWriter::finish).transpose();
        Ok(Self {
            visits: visits.finish()?,
            total,
            per_weight: finish(per_weight)?,
            teleports: finish(teleports)?.zip(finish(lands)?).map(<[_; 2]>::from),
        })
    }

    /// Opens the flow, to be read node by node.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn scan(&self, files: &Files) -> Result<FlowScan> {
        Ok(FlowScan { visits: self.visits.read(files, BLOCK_NUMBERS)?, total: self.total })
    }

    /// Returns the flow of each visit; 0 if nothing flows at all.
    pub(super) fn per_visit(&self) -> f64 {
        if self.total > 0.0 { 1.0 / self.total } else { 0.0 }
    }

    /// Returns the visits that follow each unit of weight, for each node, in memory; empty if it is 1 for all.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    pub(super) fn per_weight(&self, files: &Files) -> Result<Vec<f64>> {
        self.per_weight.as_ref().map_or_else(|| Ok(Vec::new()), |array| array.read_all(files))
    }

    /// Opens the visits that teleport from each node, and to it, if they count.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(super) fn teleports(&self, files: &Files) -> Result<Option<[ArrayReader<f64>; 2]>> {
        let Some([from, to]) = &self.teleports else { return Ok(None) };
        Ok(Some([from.read(files, BLOCK_NUMBERS)?, to.read(files, BLOCK_NUMBERS)?]))
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
