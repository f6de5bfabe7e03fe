//! Conversion of edges in input order to rows ordered by source: seeking against sorting.
//!
//! Source: A. Lakshman, posts on out-of-memory sorting (2024): 74 million lines, seeking to the place of each edge
//! 640 s, merging two runs at a time 189 s, eight with a loser tree 42 s, copying the bytes 25 s.

mod edges;
mod external;
mod in_place;
mod seek;

use super::written::{failed, remove, sync};
use crate::meter::Outcome;
use crate::report::{Chart, Column, Experiment, Limit};
use crate::rounds::{self, Method};
use crate::state::State;
use crate::workplace::{Effort, Workplace};
use edges::{EDGE_BYTES, SortInput, outcome};
use outcore::Result;
use outcore::units::{MIB, format_bytes, format_count};
use std::fs::File;
use std::io::{Read, Write};

/// Number of edges in a run, as in the source.
const RUN_EDGES: usize = 40_000;
/// Numbers of runs merged at a time.
const FAN_INS: [usize; 3] = [2, 8, 64];

/// Amount of measurement.
#[derive(Debug, Clone, Copy)]
pub struct SortParameters {
    /// Number of edges.
    pub edges: usize,
    /// Number of edges of the methods that seek, with the same number of edges per node.
    pub seek_edges: usize,
    /// Memory budget of the engine's sort.
    pub budget_bytes: u64,
    /// Number of runs of each method.
    pub rounds: u32,
}

/// Number of edges per node.
const DENSITY: usize = 20;

impl SortParameters {
    /// Returns the parameters of an effort.
    pub fn of(effort: Effort) -> Self {
        let (edges, seek_edges) = match effort {
            Effort::Quick => (1_200_000, 30_000),
            Effort::Default => (4_000_000, 200_000),
            Effort::Full => (12_000_000, 600_000),
        };
        let rounds = effort.rounds();
        Self { edges, seek_edges, budget_bytes: 64 * MIB, rounds }
    }
}

/// Run of a method.
type SortRun<'a> = Box<dyn FnMut() -> Result<Outcome> + 'a>;

const SEEK: &str = "seek and write, in the order of the input";
const STREAMS: &str = "fseek and fwrite, in the order of the input";
const SEEK_SORTED: &str = "seek and write, 40,000 presorted at a time";
const COPY: &str = "copy of the list, nothing sorted";
const MAPPED: &str = "scattered into a mapping";

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>, parameters: SortParameters) -> Result<Experiment> {
    let SortParameters { edges, seek_edges, budget_bytes, rounds } = parameters;
    workplace.require((4 * edges * EDGE_BYTES) as u64)?;
    let make = |edges: usize| {
        workplace.detail("writing the edges")?;
        let size = ((edges / DENSITY).max(1), edges);
        SortInput::make(workplace.files(), |name| workplace.path(name), size, workplace.seed)
    };
    let (few, all) = (make(seek_edges)?, make(edges)?);
    let sorts = sorts(workplace, &all, budget_bytes);
    let mut methods = Vec::new();
    for (name, sorted) in [(SEEK, false), (SEEK_SORTED, true)] {
        let input = &few;
        methods.push(method(input, name, Box::new(move || seek::seek_and_write(input, sorted))));
    }
    let streams = || seek::streams(&few);
    methods.push(method(&few, STREAMS, Box::new(streams)));
    methods.push(copy_method(&all));
    methods.extend(sorts.into_iter().map(|(name, run)| method(&all, &name, run)));
    let measured = rounds::run(workplace, methods, rounds)?;
    for path in [&few, &all].into_iter().flat_map(SortInput::paths) {
        remove(path)?;
    }
    let columns = vec![
        Column::PerOperation,
        Column::Wall,
        Column::Sync,
        Column::User,
        Column::System,
        Column::Bytes,
        Column::ReadBytes,
        Column::WriteBytes,
        Column::SystemCalls,
        Column::Cycles,
        Column::Instructions,
        Column::Ratio,
    ];
    let question = "What does it cost to sort edges by source?";
    let mut experiment = Experiment::new("sort", question, columns, measured)
        .parameter("edges", format_count(edges as u64))
        .parameter("edges of seek and write", format_count(seek_edges as u64))
        .parameter("edges per node", DENSITY)
        .parameter("memory of the engine's sort", format_bytes(budget_bytes))
        .parameter("rounds", rounds)
        .limit(Limit::system_call());
    experiment.charts = vec![Chart::Bars { column: Column::PerOperation, logarithmic: true }];
    experiment.notes.extend(notes());
    Ok(experiment)
}

fn method<'a>(input: &'a SortInput, name: &str, run: SortRun<'a>) -> Method<'a> {
    Method::new(name, State::Warm, Some(input.list.clone()), run)
        .prepare(|| remove(&input.rows))
        .check(|| input.difference())
}

/// Returns the methods that process all edges; the engine's is the last.
fn sorts<'a>(
    workplace: &Workplace<'_>,
    all: &'a SortInput,
    budget: u64,
) -> Vec<(String, SortRun<'a>)> {
    let mut runs: Vec<(String, SortRun<'a>)> = Vec::new();
    let batch = 1_000_000;
    let name =
        format!("{} presorted at a time, neighbors in one write", format_count(batch as u64));
    runs.push((name, Box::new(move || seek::batched(all, batch))));
    runs.push((MAPPED.into(), Box::new(move || seek::mapped(all))));
    for fan_in in FAN_INS {
        let passes = external::passes(all.edges, RUN_EDGES, fan_in);
        let name = format!("{fan_in}-way merge of 40,000-edge runs, {passes} passes");
        runs.push((name, Box::new(move || external::merge_sort(all, RUN_EDGES, fan_in))));
    }
    let [.., fan_in] = FAN_INS;
    let passes = external::passes(all.edges, RUN_EDGES, fan_in);
    let name = format!("{fan_in}-way merge in place of 40,000-edge runs, {passes} passes");
    runs.push((name, Box::new(move || in_place::merge_sort(all, RUN_EDGES, fan_in))));
    let directory = workplace.path("");
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let name = format!("outcore's sort in {}", format_bytes(budget));
    let run = move || external::engine_sort(all, &directory, budget, threads);
    runs.push((name, Box::new(run)));
    runs
}

/// Returns the method that copies the list: a lower bound on the time that the disk and the page cache take.
fn copy_method(input: &SortInput) -> Method<'_> {
    let run = move || {
        let path = &input.rows;
        let mut from = File::open(&input.list).map_err(failed("open", &input.list))?;
        let mut to = File::create(path).map_err(failed("create", path))?;
        let mut block = vec![0; 1 << 20];
        loop {
            let count = from.read(&mut block).map_err(failed("read", &input.list))?;
            if count == 0 {
                break;
            }
            to.write_all(&block[..count]).map_err(failed("write", path))?;
        }
        drop(to);
        Ok(outcome(input, (2 * input.edges * EDGE_BYTES) as u64, Some(sync(path)?)))
    };
    // The difference of the sums of list and copy is zero if they are equal.
    let check = move || {
        let (list, copy) = (&input.list, &input.rows);
        Ok(super::written::sum_of(list)?.wrapping_sub(super::written::sum_of(copy)?))
    };
    Method::new(COPY, State::Warm, Some(input.list.clone()), run)
        .prepare(|| remove(&input.rows))
        .check(check)
}

fn notes() -> Vec<String> {
    [
        "an edge takes 12 bytes in the list and 8 in its row; the list is in the page cache when a run begins",
        "the rows that seek use fewer edges, with the same number per node, so that they finish in reasonable time; times and ratios are per edge",
        "`seek and write` and `fseek and fwrite` read the offset of the source's row from a file; how full each row is they keep in memory",
        "batches and the mapping keep all offsets in memory, eight bytes per node",
        "merges read each run in pieces of 64 KiB, write in pieces of 1 MiB, and choose the next edge with a binary heap; the first pass forms the runs",
        "the merge in place writes each merged block over one that has been read, then moves all blocks into order",
        "all methods except outcore's sort write to the page cache, so the time of the disk is in the sync column; outcore's sort writes its result past the page cache, so its elapsed time includes the disk",
        "each result is checked against the sums of the edges, node by node, in any order within a row",
    ]
    .map(String::from)
    .to_vec()
}
