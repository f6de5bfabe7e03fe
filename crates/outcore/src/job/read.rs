//! The stages from text to graph: parse, number, sort, merge.
//!
//! Index and sort share the memory of the read stage: the sort takes what the index leaves, and
//! writes a run early when the index needs more.

use super::{InputReport, Job, JobOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArcRecord, GraphOptions, GraphSummary, GraphWriter, NamesWriter};
use crate::ids::NodeIndex;
use crate::input::{Batch, BatchMemory, EdgeReader, ParsedChunk};
use crate::io::Scratch;
use crate::plan::CHUNK_BYTES;
use crate::progress::{Event, Stage, tell};
use crate::sort::{Record, Sorted, Sorter};
use crate::units::{format_bytes, format_counted, size_to_type};
use crate::weight::Weight;
use rayon::prelude::*;
use std::path::Path;

/// What the read stage leaves.
struct Numbered<R: Record> {
    sorter: Sorter<R>,
    node_count: u64,
}

/// Text to the graph in `directory`.
pub(super) fn read_and_merge<R>(
    job: &mut Job<'_>,
    options: &JobOptions,
    scratch: &Scratch,
    directory: &Path,
) -> Result<GraphSummary>
where
    R: Record + From<ArcRecord> + Into<ArcRecord>,
{
    let mut numbered = job.stage(Stage::Read, |job| {
        let numbered = read::<R>(job, options, scratch, directory)?;
        let input = job.report.input.clone().unwrap_or_default();
        let summary = format!(
            "{}, {}",
            format_counted(input.edge_count, "edge", "edges"),
            format_counted(numbered.node_count, "node", "nodes")
        );
        Ok((numbered, summary))
    })?;
    numbered.sorter.set_budget(job.limits.merge_bytes(&job.files.tuning()))?;
    job.stage(Stage::Merge, |job| {
        let node_count = numbered.node_count;
        let sorted = numbered.sorter.finish()?;
        let sort = sorted.summary();
        job.report.sort = Some(sort);
        let graph = merge(job, options, sorted, node_count, directory)?;
        let summary = match (sort.run_count, sort.pass_count) {
            (0, _) => "sorted in memory".into(),
            (runs, passes) => format!(
                "{}, {}",
                format_counted(runs, "run", "runs"),
                format_counted(passes, "merge pass", "merge passes")
            ),
        };
        Ok((graph, summary))
    })
}

/// Parses, numbers and sorts the input into runs; names go to the graph's directory.
fn read<R>(
    job: &mut Job<'_>,
    options: &JobOptions,
    scratch: &Scratch,
    directory: &Path,
) -> Result<Numbered<R>>
where
    R: Record + From<ArcRecord>,
{
    let limits = job.limits;
    let memory = BatchMemory { chunk_bytes: CHUNK_BYTES as usize, chunks: limits.batch_chunks() };
    let mut reader = EdgeReader::open(job.files, &options.input, memory)?;
    let begin = Event::Begin { stage: Stage::Read, total: reader.total_bytes(), unit: "bytes" };
    tell(job.observer, begin)?;
    let mut names = NamesWriter::create(job.files, directory)?;
    let mut index = NodeIndex::new(limits.threads, limits.read_bytes());
    // What decompression keeps is the input's choice, so it is known only now.
    let window_bytes = reader.window_bytes();
    let mut sort_bytes = limits
        .sort_bytes(window_bytes)
        .ok_or_else(|| window_too_large(limits.memory_bytes, window_bytes))?;
    let mut sorter = Sorter::<R>::new(job.files, scratch.path(), sort_bytes, limits.threads)?;
    let (mut batch, mut indexes) = (Batch::default(), Vec::new());
    while reader.next_batch(&mut batch)? {
        index.resolve(&batch.chunks, &mut indexes, |name| names.push(name))?;
        let index_bytes = index.memory_bytes() + window_bytes;
        if index_bytes + sort_bytes > limits.read_bytes() {
            // Room for the next step of the index as well, so that this happens rarely.
            let room = limits.sort_bytes(index_bytes + index_bytes / 8);
            sort_bytes = room.ok_or_else(|| outgrown(job, &reader, index.node_count()))?;
            sorter.set_budget(sort_bytes)?;
        }
        emit(&batch.chunks, &indexes, options.directed, &mut sorter)?;
        tell(job.observer, Event::Advance { done: reader.done_bytes() })?;
    }
    let format = reader.describe();
    let summary = reader.finish()?;
    names.finish()?;
    if let Some(text) = summary.warning() {
        tell(job.observer, Event::Warning { text: &text })?;
    }
    if summary.edges == 0 {
        return Err(no_edges());
    }
    job.report.input = Some(InputReport {
        line_count: summary.lines,
        edge_count: summary.edges,
        zero_weight_count: summary.zero_weight_edges,
        skipped_count: summary.skipped_lines,
        formats: format,
    });
    Ok(Numbered { sorter, node_count: index.node_count() })
}

pub(super) fn no_edges() -> Error {
    Error::new(ErrorKind::BadInput, "the input holds no edges")
        .hint("an edge is a line with two names, and a weight if there is one")
}

fn window_too_large(memory_bytes: u64, window_bytes: u64) -> Error {
    let message = format!("{} is too little memory for this input", format_bytes(memory_bytes));
    Error::new(ErrorKind::MemoryTooSmall, message)
        .note(format!("to decompress it takes {}", format_bytes(window_bytes)))
        .hint(format!("use `--memory {}` or more", size_to_type(memory_bytes + window_bytes)))
}

/// The index has outgrown the limit: the limit to type comes from the share of the input read.
fn outgrown(job: &Job<'_>, reader: &EdgeReader, node_count: u64) -> Error {
    let done = reader.done_bytes().max(1) as f64;
    let share = reader.total_bytes().map_or(0.5, |total| (done / total.max(1) as f64).min(1.0));
    let expected = (node_count as f64 / share.max(0.01)) as u64;
    job.limits.too_small(expected, "the input seems to have")
}

/// Hands the arcs of all chunks to the sorter, in the order of the input.
fn emit<R>(
    chunks: &[ParsedChunk],
    indexes: &[Vec<u32>],
    directed: bool,
    sorter: &mut Sorter<R>,
) -> Result<()>
where
    R: Record + From<ArcRecord>,
{
    let arcs_an_edge = if directed { 1 } else { 2 };
    let lens: Vec<usize> =
        chunks.iter().map(|chunk| chunk.names.len() / 2 * arcs_an_edge).collect();
    let space = sorter.space(lens.iter().sum())?;
    let mut parts = Vec::with_capacity(chunks.len());
    let mut rest = space;
    for &len in &lens {
        let (part, tail) = rest.split_at_mut(len);
        parts.push(part);
        rest = tail;
    }
    let counts: Vec<usize> = (chunks, indexes, parts)
        .into_par_iter()
        .map(|(chunk, indexes, out)| put_arcs(&chunk.weights, indexes, directed, out))
        .collect();
    let filled = close_gaps(sorter.space(lens.iter().sum())?, &lens, &counts);
    sorter.commit(filled);
    Ok(())
}

/// Writes the arcs of one chunk to `out`; gives their number. A directed edge becomes an arc at the
/// node that it points to, since labels flow along edges.
fn put_arcs<R: From<ArcRecord>>(
    weights: &[u32],
    indexes: &[u32],
    directed: bool,
    out: &mut [R],
) -> usize {
    let mut filled = 0;
    let (edges, _) = indexes.as_chunks::<2>();
    for (edge, &[source, target]) in edges.iter().enumerate() {
        let weight = weights.get(edge).copied().unwrap_or(Weight::ONE.code());
        if weight == 0 {
            continue;
        }
        out[filled] = ArcRecord { source: target, target: source, weight }.into();
        filled += 1;
        if !directed && source != target {
            out[filled] = ArcRecord { source, target, weight }.into();
            filled += 1;
        }
    }
    filled
}

/// Moves the filled front of every part up to the one before; gives the number of all.
fn close_gaps<R: Copy>(records: &mut [R], lens: &[usize], counts: &[usize]) -> usize {
    let (mut filled, mut begin) = (0, 0);
    for (&len, &count) in lens.iter().zip(counts) {
        if filled != begin {
            records.copy_within(begin..begin + count, filled);
        }
        filled += count;
        begin += len;
    }
    filled
}

/// Merges the runs into the graph.
fn merge<R: Record + Into<ArcRecord>>(
    job: &Job<'_>,
    options: &JobOptions,
    mut sorted: Sorted<R>,
    node_count: u64,
    directory: &Path,
) -> Result<GraphSummary> {
    let total = sorted.summary().record_count;
    tell(job.observer, Event::Begin { stage: Stage::Merge, total: Some(total), unit: "arcs" })?;
    let graph_options = GraphOptions {
        node_count,
        directed: options.directed,
        duplicates: options.duplicates,
        keep_loops: options.keep_loops,
    };
    let mut writer = GraphWriter::create(job.files, directory, &graph_options)?;
    let mut arcs: Vec<ArcRecord> = Vec::new();
    let mut done = 0;
    while let Some(block) = sorted.next_block()? {
        arcs.clear();
        arcs.extend(block.iter().map(|&record| -> ArcRecord { record.into() }));
        writer.push(&arcs)?;
        done += arcs.len() as u64;
        tell(job.observer, Event::Advance { done })?;
    }
    writer.finish()
}
