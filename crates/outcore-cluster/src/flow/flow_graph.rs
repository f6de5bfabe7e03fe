//! The undirected graph of flow of a directed graph, as a file like that of the input.
//!
//! ```text
//!  directed graph --scan--> (source, target, flow) --sorter--.
//!        `----------scan--> (target, source, flow) -----------+--merge--> graph of flow
//! ```
//!
//! Rows of the directed graph hold the arcs that enter a node in the order of their sources, so only the other
//! direction is sorted; the graph writer adds the two directions of an edge. Flow is multiplied by a power of two, so
//! that 32-bit weights of the smallest flow are as precise as others. Memory: the budgets of sorter and writer, and 8
//! bytes a node for drifts (16 if teleportation is recorded). Disk: 4 to 9 bytes per arc for runs, and the graph, which
//! has up to two arcs for each one of the input. Time: two scans, and about 60 ns per arc and core. A job that resumes
//! writes this graph again, so its bytes must follow from the directed graph and its rates alone.

use super::rates::{FlowAt, VisitRates};
use crate::base::parallel::PerThread;
use crate::base::rows::RowsAhead;
use crate::finish::portions::push_arcs;
use crate::kernel::cache::BlockSource;
use crate::kernel::holdings::Holdings;
use outcore_graph::weight::Weight;
use outcore_graph::{ArcRecord, Block, Duplicates, Graph, GraphOptions, GraphWriter};
use outcore_io::Files;
use outcore_io::error::Result;
use outcore_sort::{Sorted, Sorter};
use std::iter::repeat;
use std::path::Path;

/// Exponent of the power of two that flow is multiplied by.
const SCALE_EXPONENT: i32 = 280;
const ONE: u32 = Weight::ONE.code();
/// Records passed to the writer at a time.
const OUT_RECORDS: usize = 4096;

/// What a network is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The map equation: flow, and what nodes hold of it.
    Flow,
    /// Weights, and the drift of nodes.
    Drifts,
    /// Weights alone.
    Weights,
}

/// Location of a network, and memory for sorting it.
pub(crate) struct NetworkPlace<'a> {
    pub(crate) files: &'a Files,
    /// Directory of the network.
    pub(crate) directory: &'a Path,
    /// Directory of runs.
    pub(crate) scratch: &'a Path,
    pub(crate) sort_bytes: u64,
}

/// Flow of arcs, as weights.
struct ArcFlow<'r> {
    rates: &'r VisitRates,
    factor: f64,
}

impl ArcFlow<'_> {
    /// Returns the code of the flow of an arc. An arc without flow gets the least weight, as it joins its nodes all the
    /// same: the pieces of a community are those of the directed graph.
    #[inline]
    fn code(&self, source: u32, weight: f64) -> u32 {
        let flow = weight * self.rates.per_weight(source) * self.factor;
        Weight::new(flow.clamp(f64::MIN_POSITIVE, f64::MAX)).code()
    }
}

/// Writes the undirected graph of a directed graph with these rates; returns it, and what its nodes hold.
///
/// # Errors
/// Those of reading and writing, and of `tick`, which is called for each block.
pub(crate) fn write(
    source: &mut BlockSource<'_>,
    rates: &VisitRates,
    purpose: Purpose,
    place: &NetworkPlace<'_>,
    mut tick: impl FnMut() -> Result<()>,
) -> Result<(Graph, Holdings)> {
    let factor = match purpose {
        Purpose::Flow => libm::scalbn(1.0, SCALE_EXPONENT),
        Purpose::Drifts | Purpose::Weights => 1.0,
    };
    let flow = ArcFlow { rates, factor };
    let threads = rayon::current_num_threads();
    let mut sorter = Sorter::new(place.files, place.scratch, place.sort_bytes, threads)?;
    let mut holdings = Holdings::default();
    let rows = PerThread::new(RowsAhead::default);
    let mut found: Vec<FlowAt> = Vec::new();
    source.for_all(|block| {
        tick()?;
        push_arcs(
            block,
            1,
            &mut sorter,
            &rows,
            |_, sources: &[u32]| rates.fetch(sources),
            |target, sources, codes, out| {
                let arcs = sources.iter().zip(codes.iter().copied().chain(repeat(ONE)));
                for (out, (&source, code)) in out.iter_mut().zip(arcs) {
                    let weight = flow.code(source, Weight::from_code(code).value());
                    *out = ArcRecord { source, target, weight };
                }
                sources.len()
            },
        )?;
        if purpose != Purpose::Weights {
            rates.at_nodes(block, &rows, &mut found, |_, at| at)?;
            let scaled = |flow: f64| flow * factor;
            holdings.drifts.extend(found.iter().map(|at| scaled(at.leaves - at.enters)));
            if rates.teleportation().is_recorded() {
                holdings.teleports.extend(found.iter().map(|at| scaled(at.teleports)));
            }
        }
        Ok(())
    })?;
    let mut others = sorter.finish()?;
    let options = GraphOptions {
        node_count: source.graph().node_count(),
        directed: false,
        duplicates: Duplicates::Sum,
        keep_loops: true,
    };
    let mut writer = GraphWriter::create(place.files, place.directory, &options)?;
    let mut rows = RowsAhead::default();
    source.for_all(|block| {
        tick()?;
        merge_rows(&flow, block, &mut others, &mut rows, &mut writer)
    })?;
    writer.finish()?;
    Ok((Graph::open(place.files, place.directory)?, holdings))
}

/// Rows of the network, on their way to the writer.
struct NetworkRows<'a> {
    node: u32,
    /// Code of the node's loop, until it is written.
    own: Option<u32>,
    /// Arcs in the order of the nodes that they leave.
    others: &'a mut Sorted<ArcRecord>,
    writer: &'a mut GraphWriter,
    out: Vec<ArcRecord>,
}

impl NetworkRows<'_> {
    /// Adds the arcs that leave the node for nodes below `bound`, and its loop in its place.
    fn add_below(&mut self, bound: u64) -> Result<()> {
        if u64::from(self.node) < bound
            && let Some(weight) = self.own.take()
        {
            self.add_below(u64::from(self.node))?;
            self.add(self.node, weight)?;
        }
        let node = self.node;
        let is_below =
            |record: &ArcRecord| record.source == node && u64::from(record.target) < bound;
        while let Some(record) = self.others.next_if(is_below)? {
            self.add(record.target, record.weight)?;
        }
        Ok(())
    }

    fn add(&mut self, target: u32, weight: u32) -> Result<()> {
        self.out.push(ArcRecord { source: self.node, target, weight });
        if self.out.len() == OUT_RECORDS { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        self.writer.push(&self.out)?;
        self.out.clear();
        Ok(())
    }
}

/// Writes the rows of a block: the arcs that enter a node, with those that leave it.
fn merge_rows(
    flow: &ArcFlow<'_>,
    block: &Block,
    others: &mut Sorted<ArcRecord>,
    rows: &mut RowsAhead,
    writer: &mut GraphWriter,
) -> Result<()> {
    let loop_of = |node: u32, local: usize| {
        let weight = Some(block.self_loop(local)).filter(|&weight| weight > 0.0);
        weight.map(|weight| flow.code(node, weight))
    };
    let out = Vec::with_capacity(OUT_RECORDS);
    let mut to = NetworkRows { node: u32::MAX, own: None, others, writer, out };
    rows.for_each(
        block,
        0..block.node_count(),
        |_, sources: &[u32]| flow.rates.fetch(sources),
        |row| {
            let node = block.first_node() + row.local as u32;
            if node != to.node {
                (to.node, to.own) = (node, loop_of(node, row.local));
            }
            for (&source, code) in
                row.targets.iter().zip(row.codes.iter().copied().chain(repeat(ONE)))
            {
                let weight = flow.code(source, Weight::from_code(code).value());
                to.add_below(u64::from(source))?;
                to.add(source, weight)?;
            }
            if row.ends { to.add_below(u64::MAX) } else { Ok(()) }
        },
    )?;
    to.write()
}
