//! External merge sorts: small runs merged with a given fan-in in several passes, and the engine's sort.

use super::super::written::{failed, remove, sync};
use super::edges::{EDGE_BYTES, ENTRY_BYTES, Edge, EdgeReader, SortInput, outcome};
use crate::engine::{Watched, Way};
use crate::meter::Outcome;
use outcore::Result;
use outcore::graph::{ArcRecord, InputOrder};
use outcore::io::Writer;
use outcore::sort::Sorter;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes per read of each run of a merge.
const LANE_BYTES: usize = 64 << 10;
/// Bytes per read of the list and per write of runs.
const BLOCK_BYTES: usize = 1 << 20;

/// Number of edges handed to the engine's sort at a time.
const ENGINE_EDGES: usize = 16 << 10;

/// Reader of a part of a file, with its own position.
struct Part<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = into.len().min((self.end - self.at) as usize);
        let read = self.file.read_at(&mut into[..count], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Sorted runs, one after the other in a file, with the end of each in edges.
pub(super) struct Runs {
    path: PathBuf,
    pub(super) ends: Vec<u64>,
}

/// Returns the number of passes of a merge with this fan-in, run formation included.
pub(super) fn passes(edges: usize, run_edges: usize, fan_in: usize) -> u32 {
    let (mut runs, mut passes) = (edges.div_ceil(run_edges), 1);
    while runs > 1 {
        runs = runs.div_ceil(fan_in);
        passes += 1;
    }
    passes.max(2)
}

/// Sorts with runs of `run_edges` edges, merged `fan_in` at a time with a heap, through the page cache.
pub(super) fn merge_sort(input: &SortInput, run_edges: usize, fan_in: usize) -> Result<Outcome> {
    let temporary = |suffix: &str| input.rows.with_extension(suffix);
    let mut runs = form(input, run_edges, temporary("a"))?;
    let mut moved = 2 * EDGE_BYTES;
    let mut spare = temporary("b");
    while runs.ends.len() > fan_in {
        let merged = merge_pass(&runs, fan_in, spare).map_err(failed("merge", &runs.path))?;
        spare = std::mem::replace(&mut runs, merged).path;
        moved += 2 * EDGE_BYTES;
    }
    let last = write_rows(&runs, &input.rows).map_err(failed("merge", &runs.path));
    moved += EDGE_BYTES + ENTRY_BYTES;
    last?;
    remove(&runs.path)?;
    remove(&spare)?;
    Ok(outcome(input, (moved * input.edges) as u64, Some(sync(&input.rows)?)))
}

/// Reads the list and writes it as sorted runs of `run_edges` edges.
pub(super) fn form(input: &SortInput, run_edges: usize, path: PathBuf) -> Result<Runs> {
    let list = File::open(&input.list).map_err(failed("open", &input.list))?;
    let mut reader = EdgeReader::new(list, BLOCK_BYTES);
    let file = File::create(&path).map_err(failed("create", &path))?;
    let mut writer = BufWriter::with_capacity(BLOCK_BYTES, file);
    let (mut edges, mut ends, mut end) = (Vec::with_capacity(run_edges), Vec::new(), 0);
    loop {
        edges.clear();
        reader.take(run_edges, &mut edges).map_err(failed("read", &input.list))?;
        if edges.is_empty() {
            writer.flush().map_err(failed("write", &path))?;
            return Ok(Runs { path, ends });
        }
        edges.sort_by_key(|edge| edge.source);
        for edge in &edges {
            writer.write_all(&edge.to_bytes()).map_err(failed("write", &path))?;
        }
        end += edges.len() as u64;
        ends.push(end);
    }
}

/// Returns readers of the runs `from..to`.
fn lanes<'a>(runs: &Runs, file: &'a File, (from, to): (usize, usize)) -> Vec<EdgeReader<Part<'a>>> {
    let bytes = |edges: u64| edges * EDGE_BYTES as u64;
    let lane = |run: usize| {
        let begin = if run == 0 { 0 } else { runs.ends[run - 1] };
        let part = Part { file, at: bytes(begin), end: bytes(runs.ends[run]) };
        EdgeReader::new(part, LANE_BYTES)
    };
    (from..to).map(lane).collect()
}

/// Merges sorted edges and passes them to `each` in order.
pub(super) fn merge<R: Read>(
    mut lanes: Vec<EdgeReader<R>>,
    mut each: impl FnMut(Edge) -> io::Result<()>,
) -> io::Result<()> {
    let mut heap = BinaryHeap::new();
    for (number, lane) in lanes.iter_mut().enumerate() {
        if let Some(edge) = lane.next()? {
            heap.push(Reverse(Head { edge, lane: number }));
        }
    }
    while let Some(mut top) = heap.peek_mut() {
        let Head { edge, lane } = top.0;
        each(edge)?;
        match lanes[lane].next()? {
            Some(edge) => top.0.edge = edge,
            None => drop(PeekMut::pop(top)),
        }
    }
    Ok(())
}

/// Next edge of a run; edges of equal source are ordered by run.
#[derive(Clone, Copy)]
struct Head {
    edge: Edge,
    lane: usize,
}

impl Head {
    fn key(&self) -> u64 {
        u64::from(self.edge.source) << 32 | self.lane as u64
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Head {}
impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Head {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

fn merge_pass(runs: &Runs, fan_in: usize, path: PathBuf) -> io::Result<Runs> {
    let file = File::open(&runs.path)?;
    let mut writer = BufWriter::with_capacity(BLOCK_BYTES, File::create(&path)?);
    let mut ends = Vec::new();
    for from in (0..runs.ends.len()).step_by(fan_in) {
        let to = (from + fan_in).min(runs.ends.len());
        merge(lanes(runs, &file, (from, to)), |edge| writer.write_all(&edge.to_bytes()))?;
        ends.push(runs.ends[to - 1]);
    }
    writer.flush()?;
    Ok(Runs { path, ends })
}

fn write_rows(runs: &Runs, path: &Path) -> io::Result<()> {
    let file = File::open(&runs.path)?;
    let mut writer = BufWriter::with_capacity(BLOCK_BYTES, File::create(path)?);
    merge(lanes(runs, &file, (0, runs.ends.len())), |edge| writer.write_all(&edge.entry()))?;
    writer.flush()
}

/// Sorts with the engine's sort within a memory budget, and writes with the engine's writer.
pub(super) fn engine_sort(
    input: &SortInput,
    directory: &Path,
    budget_bytes: u64,
    threads: usize,
) -> Result<Outcome> {
    let (watched, files) = Watched::files(Way::Own);
    let mut list = File::open(&input.list).map_err(failed("open", &input.list))?;
    let mut sorter = Sorter::<InputOrder>::new(&files, directory, budget_bytes, threads)?;
    let mut block = vec![0; ENGINE_EDGES * EDGE_BYTES];
    let mut left = input.edges;
    while left > 0 {
        let count = left.min(ENGINE_EDGES);
        let bytes = &mut block[..count * EDGE_BYTES];
        list.read_exact(bytes).map_err(failed("read", &input.list))?;
        for (slot, bytes) in sorter.space(count)?.iter_mut().zip(bytes.as_chunks().0) {
            let Edge { source, target, weight } = Edge::of(bytes);
            *slot = InputOrder(ArcRecord { source, target, weight });
        }
        sorter.commit(count);
        left -= count;
    }
    let mut sorted = sorter.finish()?;
    let mut writer = Writer::create(&files, &input.rows, 1 << 20, 2)?;
    let mut bytes = Vec::new();
    while let Some(block) = sorted.next_block()? {
        bytes.clear();
        for InputOrder(ArcRecord { source, target, weight }) in block.iter().copied() {
            bytes.extend_from_slice(&Edge { source, target, weight }.entry());
        }
        writer.write(&bytes)?;
    }
    writer.finish()?;
    let counters = files.counters();
    let moved = counters.read_bytes() + counters.write_bytes() + (input.edges * EDGE_BYTES) as u64;
    Ok(outcome(input, moved, Some(watched.sync_seconds())))
}
