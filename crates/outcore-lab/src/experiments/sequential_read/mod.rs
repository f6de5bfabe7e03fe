//! Sequential reading: system calls, streams, mapped files, threads or the engine's reader?
//!
//! Source: D. Lemire, "Which is fastest: read, fread, ifstream or mmap?" (2012), with blocks of 512 numbers, each
//! preceded by its length. Here the numbers are random, their sum is used, buffers have their stated size, advice is
//! given in separate calls, and for every row it is known where the bytes came from.

mod blocks;
mod ways;

use super::compare::{fastest, relation, row, times};
use crate::api::map::Map;
use crate::api::memory::{Touched, recycle};
use crate::meter::{Cost, Outcome};
use crate::report::{Chart, Column, Experiment, Limit, three};
use crate::rounds::{self, Measured, Method};
use crate::row::Missing;
use crate::state::State;
use crate::workplace::{Effort, Workplace};
use outcore::Result;
use outcore::units::format_bytes;
use std::cell::RefCell;
use ways::{ENGINE, ENGINE_DIRECT, ReadInput, ReadWay, WAYS};

/// Microseconds of the first touch of a page above which the host of a virtual machine must have reclaimed the memory.
const RECLAIMED_MICROSECONDS: f64 = 3.0;

/// Group of the rows in memory that a host had reclaimed.
const RECLAIMED: &str = "reclaimed";

/// Amount of measurement.
#[derive(Debug, Clone, Copy)]
pub struct SequentialReadParameters {
    /// Number of blocks of 512 numbers in the file.
    pub blocks: u32,
    /// Number of runs of each way.
    pub rounds: u32,
    /// Bytes of memory that are touched to detect whether a host has reclaimed it.
    pub probe_bytes: usize,
}

impl SequentialReadParameters {
    /// Returns the parameters of an effort.
    pub fn of(effort: Effort) -> Self {
        let bytes = match effort {
            Effort::Quick => 32u32 << 20,
            Effort::Default => 256 << 20,
            Effort::Full => 512 << 20,
        };
        let (blocks, rounds) = (bytes / blocks::BLOCK_BYTES as u32, effort.rounds());
        Self { blocks, rounds, probe_bytes: 256 << 20 }
    }
}

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>, parameters: SequentialReadParameters) -> Result<Experiment> {
    let path = blocks::make(workplace, "sequential-read", parameters.blocks)?;
    let program = workplace.foreign().program("sequential.cpp")?;
    let input = ReadInput::new(path, parameters.blocks, workplace.files(), program)?;
    // Must run first: every run uses memory, and used memory is no longer reclaimed.
    let mut reclaimed = reclaimed(workplace, &input, parameters)?;
    let mut measured = main(workplace, &input, parameters)?;
    measured.rows.append(&mut reclaimed.rows);
    measured.missing.append(&mut reclaimed.missing);
    let copy = Limit::copy_of_file(blocks::file_bytes(parameters.blocks)).of(&["warm"]);
    let disk = Limit::disk(&input.path)?.of(&["cold", RECLAIMED]);
    let question = "Sequential reading: system calls, streams, mapped files or threads?";
    let mut experiment = Experiment::new("sequential-read", question, columns(), measured)
        .compared_by(Cost::Byte)
        .parameter("file", format_bytes(blocks::file_bytes(parameters.blocks)))
        .parameter("rounds", parameters.rounds)
        .limit(copy)
        .limit(disk);
    experiment.charts = vec![Chart::Bars { column: Column::Rate, logarithmic: false }];
    experiment.finding = finding(&experiment);
    experiment.notes.extend(workplace.foreign().notes());
    Ok(experiment)
}

fn columns() -> Vec<Column> {
    vec![
        Column::ProcessorRate,
        Column::Rate,
        Column::User,
        Column::System,
        Column::Faults,
        Column::SystemCalls,
        Column::Cycles,
        Column::Instructions,
        Column::ReadBytes,
        Column::Ratio,
    ]
}

/// Measures the states warm, cold and direct.
fn main(
    workplace: &Workplace<'_>,
    input: &ReadInput,
    parameters: SequentialReadParameters,
) -> Result<Measured> {
    let pool = blocks::file_bytes(parameters.blocks) as usize;
    let mapped = RefCell::new(None);
    let mut methods = Vec::new();
    let mut missing = Vec::new();
    for (group, states) in [("warm", &[State::Warm][..]), ("cold", &[State::Cold, State::Direct])] {
        for way in WAYS {
            let Some(&state) = way.states().iter().find(|state| states.contains(state)) else {
                continue;
            };
            match way.obstacle(input) {
                None => methods.push(method(input, way, state).group(group).prepare(move || {
                    if state == State::Cold {
                        recycle(pool);
                    }
                    Ok(())
                })),
                Some(reason) => {
                    let name = format!("{} ({group})", way.name);
                    missing.push(Missing { name, reason: reason.to_owned() });
                }
            }
        }
    }
    methods.push(second_pass(input, &mapped));
    let mut measured = rounds::run(workplace, methods, parameters.rounds)?;
    measured.missing.append(&mut missing);
    Ok(measured)
}

fn method<'a>(input: &'a ReadInput, way: &'static ReadWay, state: State) -> Method<'a> {
    Method::new(way.name, state, Some(input.path.clone()), move || (way.run)(input))
}

/// Returns the method that sums a file which a first pass has mapped.
fn second_pass<'a>(input: &'a ReadInput, mapped: &'a RefCell<Option<Map>>) -> Method<'a> {
    let run = || match mapped.take() {
        Some(map) => ways::second_pass(input, map),
        None => Ok(Outcome::default()),
    };
    let method = Method::new("mmap, second pass", State::Warm, Some(input.path.clone()), run);
    method.group("warm").prepare(|| {
        mapped.replace(Some(ways::first_pass(input)?));
        Ok(())
    })
}

/// Measures two ways in memory that the host of a virtual machine has reclaimed, if there is such memory.
fn reclaimed(
    workplace: &Workplace<'_>,
    input: &ReadInput,
    parameters: SequentialReadParameters,
) -> Result<Measured> {
    // Held during the run, so that the run does not get these pages.
    let held: RefCell<Option<Touched>> = RefCell::new(None);
    let prove = || {
        let touched = match enough(parameters.probe_bytes) {
            true => Touched::new(parameters.probe_bytes),
            false => None,
        };
        let Some(touched) = touched else { return Ok(Err("too little memory is free".into())) };
        let cost = touched.microseconds_per_page();
        held.replace(Some(touched));
        let is_slow = cost > RECLAIMED_MICROSECONDS;
        Ok(if is_slow { Ok(()) } else { Err(not_reclaimed(cost)) })
    };
    let mut methods = Vec::new();
    for (name, state) in [("read 1 MiB", State::Reclaimed), ("pread 1 MiB, direct", State::Direct)]
    {
        let way = WAYS.iter().find(|way| way.name == name).expect("one of the ways");
        if way.obstacle(input).is_none() {
            let method = method(input, way, state).group(RECLAIMED).prove(prove).prepare(|| {
                held.replace(None);
                Ok(())
            });
            methods.push(method);
        }
    }
    rounds::run(workplace, methods, parameters.rounds)
}

/// Returns whether `bytes` of memory can be held without evicting what others need.
fn enough(bytes: usize) -> bool {
    outcore::io::available_memory_bytes().is_none_or(|free| free > 4 * bytes as u64)
}

fn not_reclaimed(cost: f64) -> String {
    format!("no memory was reclaimed by a host: the first touch of a page took {} µs", three(cost))
}

/// Summarizes the rows.
fn finding(experiment: &Experiment) -> String {
    let mut sentences = Vec::new();
    for (group, title) in [("warm", "In memory: "), ("cold", "From the disk: ")] {
        let found = [maps_against_reads, threads_against_one, engine_against];
        let found = found.into_iter().filter_map(|compare| compare(experiment, group));
        let found: Vec<String> = found.collect();
        if !found.is_empty() {
            sentences.push(title.to_owned() + &found.join(" "));
        }
    }
    sentences.extend(large_pages(experiment));
    sentences.extend(reclaimed_memory(experiment));
    sentences.join(" ")
}

fn maps_against_reads(experiment: &Experiment, group: &str) -> Option<String> {
    let map = fastest(experiment, group, |row| row.name.starts_with("mmap"))?;
    let read = fastest(experiment, group, |row| {
        row.state != State::Direct
            && ["read 64", "read 1", "pread 1 MiB"]
                .iter()
                .any(|name| row.name.starts_with(name) && !row.name.contains("threads"))
    })?;
    Some(format!(
        "the fastest mapping (`{}`) {} `{}`.",
        map.name,
        relation(experiment, map, read),
        read.name
    ))
}

fn threads_against_one(experiment: &Experiment, group: &str) -> Option<String> {
    let many = fastest(experiment, group, |row| row.name.contains("threads"))?;
    let one = row(experiment, group, "pread 1 MiB")?;
    Some(format!("`{}` {} one thread.", many.name, relation(experiment, many, one)))
}

fn engine_against(experiment: &Experiment, group: &str) -> Option<String> {
    let is_engine = |name: &str| name == ENGINE || name == ENGINE_DIRECT;
    let engine = fastest(experiment, group, |row| is_engine(&row.name))?;
    let best = fastest(experiment, group, |row| !is_engine(&row.name))?;
    let share = 100.0 / times(experiment, engine, best);
    let name = capital(engine.name.as_str());
    Some(format!("{name} reaches {share:.0} % of the rate of `{}`.", best.name))
}

/// Describes the effect of large pages on direct reads.
fn large_pages(experiment: &Experiment) -> Option<String> {
    let large = row(experiment, "cold", "pread 4 MiB, direct, large pages")?;
    let small = row(experiment, "cold", "pread 4 MiB, direct")?;
    let relation = relation(experiment, large, small);
    Some(format!("Direct reading of 4 MiB into large pages {relation} reading into small ones."))
}

fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}

fn reclaimed_memory(experiment: &Experiment) -> Option<String> {
    let read = row(experiment, RECLAIMED, "read 1 MiB")?;
    let direct = row(experiment, RECLAIMED, "pread 1 MiB, direct")?;
    let relation = relation(experiment, direct, read);
    Some(format!("In memory that the host had reclaimed, direct reading {relation} `read`."))
}
