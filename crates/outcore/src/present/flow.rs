//! Flow of the nodes, the share of the steps of a random walk that end at each, kept in files of a job: 8 bytes per node,
//! written and read once, front to back. For the flow of links, up to 24 bytes more: what follows an arc of the node, and
//! what teleports.

use super::matching::Workbench;
use crate::cluster::score::{self, Visited};
use crate::error::Result;
use crate::graph::Graph;
use crate::io::{Array, ArrayReader, ArrayWriter, Column, Files, Shares, SharesScan};

/// Flow of all nodes.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    /// Visits of each node, in an arbitrary unit, and their sum.
    visits: Shares<f64>,
    /// For links: the visits that follow each unit of weight of the arcs that leave a node; if absent, 1 for each node.
    per_weight: Option<Array<f64>>,
    /// For links, if teleportation counts as flow: the visits that teleport from each node, and those to it.
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
        let count = match has_links && graph.is_directed() {
            false => 1,
            true if is_recorded => 4,
            true => 2,
        };
        let create = |name: &&str| {
            ArrayWriter::create(bench.files, &bench.scratch.join(name), graph.node_count())
        };
        let names = ["flow", "flow-per-weight", "flow-from", "flow-to"];
        let mut writers = names[..count].iter().map(create).collect::<Result<Vec<_>>>()?;
        let whole = score::visits(graph, is_recorded, bench.observer, |of_nodes: &[Visited]| {
            of_nodes.iter().try_for_each(|node| {
                let numbers = [node.visits, node.per_weight, node.teleports, node.lands];
                writers.iter_mut().zip(numbers).try_for_each(|(writer, number)| writer.push(number))
            })
        })?;
        let columns = writers.into_iter().map(ArrayWriter::finish).collect::<Result<Vec<_>>>()?;
        let mut columns = columns.into_iter();
        let visits = columns.next().expect("visits are always written");
        Ok(Self {
            visits: Shares { parts: Column::Disk(visits), whole },
            per_weight: columns.next(),
            teleports: columns.next().zip(columns.next()).map(<[_; 2]>::from),
        })
    }

    /// Opens the flow, to be read node by node.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn scan(&self, files: &Files) -> Result<SharesScan<'_, f64>> {
        self.visits.scan(files)
    }

    /// Returns the flow of each visit; 0 if nothing flows at all.
    pub(super) fn per_visit(&self) -> f64 {
        if self.visits.whole > 0.0 { 1.0 / self.visits.whole } else { 0.0 }
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
        Ok(Some([from.read(files, u64::MAX)?, to.read(files, u64::MAX)?]))
    }
}
