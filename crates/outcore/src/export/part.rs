//! The graph of some nodes: those of chosen communities, and the edges between them.
//!
//! Nodes keep their order, so the rows of the part are in order too and are written as they are read. Memory: 8 bytes
//! per node of the graph, of which the caller held 4, and the writer.

use crate::error::Result;
use crate::graph::{
    ArcRecord, ArcScratch, Block, Duplicates, Graph, GraphOptions, GraphWriter, KindNames, Kinds,
    KindsSummary, KindsWriter, NamesWriter,
};
use crate::io::Files;
use crate::membership::Membership;
use crate::present::for_each_node;
use crate::progress::{Event, Observer, notify};
use crate::weight::Weight;
use std::path::Path;

const READ_AHEAD: usize = 2;

/// Graph of some nodes of another.
pub(crate) struct Part {
    pub(crate) graph: Graph,
    /// Label of each of its nodes.
    pub(crate) labels: Vec<u32>,
}

/// Writes the graph of the nodes with a label to `directory`.
///
/// # Errors
/// `CorruptFile`, `Io`, `DiskFull`, `Interrupted`.
pub(crate) fn write_part(
    files: &Files,
    directory: &Path,
    graph: &Graph,
    mut labels: Vec<u32>,
    observer: &dyn Observer,
) -> Result<Part> {
    let mut kept = Vec::new();
    for label in labels.iter_mut().filter(|label| **label != Membership::NONE) {
        let index = kept.len() as u32;
        kept.push(std::mem::replace(label, index));
    }
    let indexes = labels;
    let kinds = write_names(files, directory, graph, &indexes)?;
    let options = GraphOptions {
        node_count: kept.len() as u64,
        directed: graph.is_directed(),
        duplicates: Duplicates::Sum,
        keep_loops: true,
    };
    let mut writer = GraphWriter::create(files, directory, &options)?.of_kinds(kinds);
    let (mut scratch, mut records, mut done) = (ArcScratch::default(), Vec::new(), 0);
    let mut scan = graph.scan(0..graph.blocks().len(), READ_AHEAD);
    while let Some(block) = scan.next()? {
        for local in 0..block.node_count() {
            write_row(&block, local, &indexes, &mut scratch, &mut records, &mut writer)?;
        }
        done += block.arc_count();
        notify(observer, Event::Advance { done })?;
    }
    writer.finish()?;
    Ok(Part { graph: Graph::open(files, directory)?, labels: kept })
}

/// Writes the names of the nodes that have an index in the part, or their numbers if nodes have no names; and their
/// kinds.
fn write_names(
    files: &Files,
    directory: &Path,
    graph: &Graph,
    indexes: &[u32],
) -> Result<Option<KindsSummary>> {
    let mut writer = NamesWriter::create(files, directory)?;
    let kinds = graph.open_kinds()?;
    let create = |kinds: &Kinds| {
        let names = KindNames(kinds.names().clone());
        Ok((kinds.scan(), KindsWriter::create(files, directory, &names)?))
    };
    let mut kinds = kinds.as_ref().map(create).transpose()?;
    let names = graph.has_names().then(|| graph.names()).transpose()?;
    let mut indexes = indexes.iter();
    for_each_node(graph, names, &|_| Ok(()), |name| {
        let is_kept = indexes.next().is_some_and(|&index| index != Membership::NONE);
        if is_kept {
            writer.push(name)?;
        }
        if let Some((scan, writer)) = &mut kinds
            && let Some(is_second) = scan.next_kind()?
            && is_kept
        {
            writer.push(is_second)?;
        }
        Ok(())
    })?;
    writer.finish()?;
    kinds.map(|(_, writer)| writer.finish()).transpose()
}

fn write_row(
    block: &Block,
    local: usize,
    indexes: &[u32],
    scratch: &mut ArcScratch,
    records: &mut Vec<ArcRecord>,
    writer: &mut GraphWriter,
) -> Result<()> {
    let node = block.first_node() + local as u32;
    let source = indexes[node as usize];
    if source == Membership::NONE {
        return Ok(());
    }
    let weight = block.self_loop(local);
    let mut own = (weight > 0.0).then(|| Weight::new(weight).code());
    let mut put_own = |records: &mut Vec<ArcRecord>| {
        let own = own.take();
        records.extend(own.map(|weight| ArcRecord { source, target: source, weight }));
    };
    let mut result = Ok(());
    block.for_each_segment(local, scratch, |targets, codes| {
        records.clear();
        for (at, &other) in targets.iter().enumerate() {
            let target = indexes[other as usize];
            if other > node {
                put_own(records);
            }
            if target != Membership::NONE {
                let weight = codes.get(at).copied().unwrap_or(Weight::ONE.code());
                records.push(ArcRecord { source, target, weight });
            }
        }
        if result.is_ok() {
            result = writer.push(records);
        }
    })?;
    result?;
    records.clear();
    put_own(records);
    writer.push(records)
}
