//! Sequential reading: calls of the system, streams, mapped files, threads, or the engine's reader?
//!
//! The original: D. Lemire, "Which is fastest: read, fread, ifstream or mmap?" (2012), of blocks of
//! 512 numbers with their length before them. Here the numbers are random, their sum is used, buffers
//! have the size that they are said to have, advice is given in calls of its own, and it is known for
//! every row where the bytes came from.

mod blocks;
mod ways;

use super::compare::{fastest, rate, row, stands, times};
use crate::api::memory::Touched;
use crate::report::{Column, Experiment, three};
use crate::rounds::{self, Measured, Method};
use crate::row::{AGAIN, Missing};
use crate::state::State;
use crate::workplace::{Effort, Workplace};
use outcore::Result;
use outcore::units::format_bytes;
use std::cell::RefCell;
use ways::{ENGINE, ENGINE_DIRECT, ReadInput, ReadWay, WAYS};

/// Microseconds for the first touch of a page above which its memory is not that of the machine, but
/// must first be got from a host.
const RECLAIMED_MICROSECONDS: f64 = 3.0;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct SequentialReadParameters {
    /// Blocks of 512 numbers in the file.
    pub blocks: u32,
    /// Runs of each way.
    pub rounds: u32,
    /// Memory touched to learn whether a host has taken it back.
    pub probe_bytes: usize,
}

impl SequentialReadParameters {
    /// Those of an effort.
    pub fn of(effort: Effort) -> Self {
        let (bytes, rounds) = match effort {
            Effort::Quick => (64u32 << 20, 4),
            Effort::Default => (256 << 20, 9),
            Effort::Full => (1 << 30, 15),
        };
        Self { blocks: bytes / blocks::BLOCK_BYTES as u32, rounds, probe_bytes: 256 << 20 }
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
    // First of all: whatever runs uses memory, and what was used is no longer with the host.
    let mut reclaimed = reclaimed(workplace, &input, parameters)?;
    let mut measured = main(workplace, &input, parameters)?;
    measured.rows.append(&mut reclaimed.rows);
    measured.missing.append(&mut reclaimed.missing);
    let question = "Sequential reading: calls of the system, streams, mapped files or threads?";
    let mut experiment = Experiment::new("sequential-read", question, columns(), measured)
        .parameter("file", format_bytes(blocks::file_bytes(parameters.blocks)))
        .parameter("rounds", parameters.rounds);
    experiment.finding = finding(&experiment);
    experiment.notes = workplace.foreign().notes();
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
        Column::ReadBytes,
        Column::Ratio,
    ]
}

/// Warm, cold and direct.
fn main(
    workplace: &Workplace<'_>,
    input: &ReadInput,
    parameters: SequentialReadParameters,
) -> Result<Measured> {
    let pool = blocks::file_bytes(parameters.blocks) as usize;
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
                        // Touched and given back, these pages are the next to be handed out.
                        drop(Touched::new(pool));
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
    let mut measured = rounds::run(workplace, methods, parameters.rounds)?;
    measured.missing.append(&mut missing);
    Ok(measured)
}

fn method<'a>(input: &'a ReadInput, way: &'static ReadWay, state: State) -> Method<'a> {
    Method::new(way.name, state, Some(input.path.clone()), move || (way.run)(input))
}

/// Two ways in memory that the host of a virtual machine has taken back, if there is such memory.
fn reclaimed(
    workplace: &Workplace<'_>,
    input: &ReadInput,
    parameters: SequentialReadParameters,
) -> Result<Measured> {
    const GROUP: &str = "reclaimed";
    // Kept during the run, so that the run does not get these pages.
    let held: RefCell<Option<Touched>> = RefCell::new(None);
    let prove = || {
        let touched = match enough(parameters.probe_bytes) {
            true => Touched::new(parameters.probe_bytes),
            false => None,
        };
        let Some(touched) = touched else { return Ok(Err("there is too little memory".into())) };
        let cost = touched.microseconds_a_page();
        held.replace(Some(touched));
        let is_slow = cost > RECLAIMED_MICROSECONDS;
        Ok(if is_slow { Ok(()) } else { Err(not_reclaimed(cost)) })
    };
    let mut methods = Vec::new();
    for (name, state) in [("read 1 MiB", State::Reclaimed), ("pread 1 MiB, direct", State::Direct)]
    {
        let way = WAYS.iter().find(|way| way.name == name).expect("one of the ways");
        if way.obstacle(input).is_none() {
            let method = method(input, way, state).group(GROUP).prove(prove).prepare(|| {
                held.replace(None);
                Ok(())
            });
            methods.push(method);
        }
    }
    let mut measured = rounds::run(workplace, methods, parameters.rounds.min(3))?;
    measured.rows.retain(|row| row.name != AGAIN);
    Ok(measured)
}

/// Whether so much memory can be held without driving out what others need.
fn enough(bytes: usize) -> bool {
    outcore::io::available_memory_bytes().is_none_or(|free| free > 4 * bytes as u64)
}

fn not_reclaimed(cost: f64) -> String {
    format!("no memory was with a host: the first touch of a page took {} µs", three(cost))
}

/// What the rows say.
fn finding(experiment: &Experiment) -> String {
    let mut said = Vec::new();
    for (group, title) in [("warm", "In memory"), ("cold", "From the disk")] {
        let Some(best) = fastest(experiment, group, |_| true) else { continue };
        said.push(format!("{title}, `{}` is fastest: {}.", best.name, rate(best)));
        said.extend(maps_against_reads(experiment, group));
        said.extend(threads_against_one(experiment, group));
        said.extend(engine_against(experiment, group));
    }
    said.extend(large_pages(experiment));
    said.extend(reclaimed_memory(experiment));
    said.join(" ")
}

fn maps_against_reads(experiment: &Experiment, group: &str) -> Option<String> {
    let map = fastest(experiment, group, |row| row.name.starts_with("mmap"))?;
    let read = fastest(experiment, group, |row| {
        row.state != State::Direct
            && ["read 64", "read 1", "pread 1 MiB"]
                .iter()
                .any(|name| row.name.starts_with(name) && !row.name.contains("threads"))
    })?;
    Some(format!("The best of mmap (`{}`) {} `{}`.", map.name, stands(map, read), read.name))
}

fn threads_against_one(experiment: &Experiment, group: &str) -> Option<String> {
    let many = fastest(experiment, group, |row| row.name.contains("threads"))?;
    let one = row(experiment, group, "pread 1 MiB")?;
    Some(format!("`{}` {} one thread.", many.name, stands(many, one)))
}

fn engine_against(experiment: &Experiment, group: &str) -> Option<String> {
    let is_engine = |name: &str| name == ENGINE || name == ENGINE_DIRECT;
    let engine = fastest(experiment, group, |row| is_engine(&row.name))?;
    let best = fastest(experiment, group, |row| !is_engine(&row.name))?;
    let share = 100.0 / times(engine, best)?.median;
    Some(format!("{} reaches {share:.0} % of `{}`.", capital(engine.name.as_str()), best.name))
}

/// What the pages behind a buffer do to direct reads.
fn large_pages(experiment: &Experiment) -> Option<String> {
    let large = row(experiment, "cold", "pread 4 MiB, direct, large pages")?;
    let small = row(experiment, "cold", "pread 4 MiB, direct")?;
    let stands = stands(large, small);
    Some(format!("Direct reading of 4 MiB into large pages {stands} that into small ones."))
}

fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}

fn reclaimed_memory(experiment: &Experiment) -> Option<String> {
    let read = row(experiment, "reclaimed", "read 1 MiB")?;
    let direct = row(experiment, "reclaimed", "pread 1 MiB, direct")?;
    let stands = stands(direct, read);
    Some(format!("In memory that the host had taken back, direct reading {stands} `read`."))
}
