//! Random reads of four bytes: do sorted positions, buffers or the kind of seek pay off?
//!
//! Source: A. Lakshman, "fseek" (2024), 100,000 positions in 4.29 GB, timed by `clock()`, which counts microseconds
//! of processor time; here every row has a verified state and elapsed times.

use super::compare::{fastest, rows, seconds};
use super::positions::{OperationClock, PAGE, PositionParameters, Positions, VALUE, value};
use crate::api::direct::open_to_read;
use crate::api::map::{Advice, Map, Sharing};
use crate::api::stdio::{Buffering, Stream, Whence};
use crate::api::uring::{Ring, RingOptions};
use crate::meter::Outcome;
use crate::report::{Chart, Column, Experiment, Limit, three};
use crate::rounds::{self, Method};
use crate::row::Missing;
use crate::state::{State, direct_obstacle};
use crate::workplace::Workplace;
use outcore::io::AlignedBuffer;
use outcore::units::{format_bytes, format_count};
use outcore::{Error, Result};
use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

const SCAN_BLOCK: usize = 1 << 20;
const DEPTHS: [u32; 3] = [1, 16, 64];
/// Number of rows in state cold or direct, for the probe.
const COLD_ROWS: usize = 30;

/// Runs the experiment with the parameters of the workplace's effort.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>) -> Result<Experiment> {
    run_with(workplace, &PositionParameters::of(workplace.effort))
}

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run_with(workplace: &Workplace<'_>, parameters: &PositionParameters) -> Result<Experiment> {
    let path = workplace.make_file("random-read", parameters.bytes)?;
    let (warm, cold) = Positions::choose(workplace, &path, parameters, COLD_ROWS)?;
    let mut methods = Vec::new();
    for (state, positions) in [(State::Warm, &warm), (State::Cold, &cold)] {
        methods.extend(stream_methods(&path, positions, state));
        methods.extend(other_methods(&path, positions, state));
    }
    let mut missing = Vec::new();
    add_direct_methods(&path, &cold, &mut methods, &mut missing)?;
    let disk = Limit::disk_pages(&path)?.of(&[State::Cold.name()]);
    let mut measured = rounds::run(workplace, methods, parameters.rounds)?;
    measured.missing.extend(missing);
    workplace.files().remove(&path)?;
    let columns = vec![
        Column::OperationMin,
        Column::OperationTrimmedMean,
        Column::OperationMedian,
        Column::OperationP99,
        Column::OperationMax,
        Column::Wall,
        Column::ReadBytes,
        Column::Cycles,
        Column::Instructions,
        Column::Ratio,
    ];
    let question = "Random reads of four bytes: do sorting, buffering or the kind of seek matter?";
    let mut experiment = Experiment::new("random-read", question, columns, measured)
        .parameter("file", format_bytes(parameters.bytes))
        .parameter("reads, cold", format_count(cold.sorted.len() as u64))
        .parameter("reads, warm", format_count(warm.sorted.len() as u64))
        .parameter("rounds", parameters.rounds)
        .limit(Limit::system_call().of(&[State::Warm.name()]))
        .limit(disk);
    experiment.charts = vec![Chart::Bars { column: Column::PerOperation, logarithmic: true }];
    experiment.notes.extend(cold.notes());
    experiment.notes.push("Times of single io_uring reads run from submission to arrival.".into());
    experiment.finding = scan_or_seek(&experiment, parameters.bytes, cold.sorted.len());
    Ok(experiment)
}

/// Returns the sixteen methods of the source, which use the C library.
fn stream_methods<'a>(path: &'a Path, positions: &'a Positions, state: State) -> Vec<Method<'a>> {
    let mut methods = Vec::new();
    for (order, positions) in positions.orders() {
        for (buffer, buffering) in
            [("buffered", Buffering::Default), ("unbuffered", Buffering::None)]
        {
            for (seek, whence) in [("SEEK_SET", Whence::Start), ("SEEK_CUR", Whence::Current)] {
                for mode in ["rb", "rb+"] {
                    let name = format!("fread, {order}, {buffer}, {seek}, {mode}");
                    let run = move || by_stream(path, positions, buffering, whence, mode);
                    let method = Method::new(name, state, Some(path.to_owned()), run);
                    methods.push(method.group(state.name()));
                }
            }
        }
    }
    methods
}

/// Returns the methods with positioned reads, mapped files and scans of the whole file.
fn other_methods<'a>(path: &'a Path, positions: &'a Positions, state: State) -> Vec<Method<'a>> {
    let file = || Some(path.to_owned());
    let mut methods = Vec::new();
    for (order, positions) in positions.orders() {
        let run = move || by_pread(path, positions);
        methods.push(Method::new(format!("pread, {order}"), state, file(), run));
    }
    for (name, advice) in [("mmap", &[][..]), ("mmap MADV_RANDOM", &[Advice::Random])] {
        for (order, positions) in positions.orders() {
            let run = move || by_map(path, positions, advice);
            methods.push(Method::new(format!("{name}, {order}"), state, file(), run));
        }
    }
    let run = move || by_scan(path, &positions.sorted);
    methods.push(Method::new("scan, whole file", state, file(), run));
    methods.into_iter().map(|method| method.group(state.name())).collect()
}

/// Adds direct reads to the cold rows if this system and file system support them.
fn add_direct_methods<'a>(
    path: &'a Path,
    positions: &'a Positions,
    methods: &mut Vec<Method<'a>>,
    missing: &mut Vec<Missing>,
) -> Result<()> {
    let file = || Some(path.to_owned());
    let mut direct: Vec<Method<'a>> = Vec::new();
    for (order, positions) in positions.orders() {
        let run = move || by_direct_pread(path, positions);
        direct.push(Method::new(format!("pread direct, {order}"), State::Direct, file(), run));
    }
    let mut rings: Vec<Method<'a>> = Vec::new();
    for depth in DEPTHS {
        for (order, positions) in positions.orders() {
            let run = move || by_ring(path, positions, depth);
            let name = format!("io_uring direct, {order}, depth {depth}");
            rings.push(Method::new(name, State::Direct, file(), run));
        }
    }
    let run = move || by_ring_scan(path, &positions.sorted);
    rings.push(Method::new("scan, whole file, io_uring direct", State::Direct, file(), run));
    let without_direct = direct_obstacle(path)?;
    let without_ring = match &without_direct {
        None => Ring::new(path, ring_options(DEPTHS[2], PAGE as usize))?.err(),
        reason => reason.clone(),
    };
    add(direct, without_direct, methods, missing);
    add(rings, without_ring, methods, missing);
    Ok(())
}

/// Adds methods to the cold ones, or lists each as missing with the reason.
fn add<'a>(
    added: Vec<Method<'a>>,
    reason: Option<String>,
    methods: &mut Vec<Method<'a>>,
    missing: &mut Vec<Missing>,
) {
    let added = added.into_iter().map(|method| method.group(State::Cold.name()));
    match reason {
        None => methods.extend(added),
        Some(reason) => missing.extend(
            added.map(|method| Missing { name: method.full_name(), reason: reason.clone() }),
        ),
    }
}

fn ring_options(depth: u32, buffer_bytes: usize) -> RingOptions {
    RingOptions { depth, buffer_bytes, direct: true, registered: false }
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| Error::io("open", path, e))
}

fn read_error(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |e| Error::io("read", path, e)
}

fn by_stream(
    path: &Path,
    positions: &[u64],
    buffering: Buffering,
    whence: Whence,
    mode: &str,
) -> Result<Outcome> {
    let mut clock = OperationClock::start(positions.len());
    let mut stream = Stream::open(path, mode, buffering)?;
    let (mut at, mut checksum) = (0, 0u64);
    clock.begin();
    for &position in positions {
        let position = position as i64;
        let offset = if whence == Whence::Current { position - at } else { position };
        stream.seek(whence, offset)?;
        let mut bytes = [0; VALUE];
        stream.read_exact(&mut bytes)?;
        at = position + VALUE as i64;
        checksum += u64::from(value(&bytes));
        clock.lap();
    }
    stream.close()?;
    Ok(clock.outcome(checksum, positions.len()))
}

fn by_pread(path: &Path, positions: &[u64]) -> Result<Outcome> {
    let mut clock = OperationClock::start(positions.len());
    let file = open(path)?;
    let mut checksum = 0;
    clock.begin();
    for &position in positions {
        let mut bytes = [0; VALUE];
        file.read_exact_at(&mut bytes, position).map_err(read_error(path))?;
        checksum += u64::from(value(&bytes));
        clock.lap();
    }
    drop(file);
    Ok(clock.outcome(checksum, positions.len()))
}

fn by_map(path: &Path, positions: &[u64], advice: &[Advice]) -> Result<Outcome> {
    let mut clock = OperationClock::start(positions.len());
    let map = Map::open(path, Sharing::Shared, false, advice)?;
    let mut checksum = 0;
    clock.begin();
    for &position in positions {
        checksum += u64::from(value(&map.bytes()[position as usize..]));
        clock.lap();
    }
    drop(map);
    Ok(clock.outcome(checksum, positions.len()))
}

/// Reads the whole file and picks the requested values.
fn by_scan(path: &Path, sorted: &[u64]) -> Result<Outcome> {
    let clock = OperationClock::start(0);
    let mut file = open(path)?;
    let mut block = vec![0; SCAN_BLOCK];
    let (mut begin, mut next, mut checksum) = (0u64, 0, 0);
    loop {
        let mut filled = 0;
        while filled < block.len() {
            match file.read(&mut block[filled..]).map_err(read_error(path))? {
                0 => break,
                count => filled += count,
            }
        }
        while let Some(&position) = sorted.get(next).filter(|&&at| at < begin + filled as u64) {
            checksum += u64::from(value(&block[(position - begin) as usize..]));
            next += 1;
        }
        begin += filled as u64;
        if filled < block.len() {
            break;
        }
    }
    Ok(clock.outcome(checksum, next))
}

fn by_direct_pread(path: &Path, positions: &[u64]) -> Result<Outcome> {
    let mut clock = OperationClock::start(positions.len());
    let file = open_to_read(path, true).map_err(|e| Error::io("open", path, e))?;
    let mut page = AlignedBuffer::new(PAGE as usize);
    let mut checksum = 0;
    clock.begin();
    for &position in positions {
        let begin = position / PAGE * PAGE;
        let count = file.read_at(page.bytes_mut(), begin).map_err(read_error(path))?;
        checksum += u64::from(value(&page.bytes()[..count][(position - begin) as usize..]));
        clock.lap();
    }
    drop(file);
    Ok(clock.outcome(checksum, positions.len()))
}

fn ring(path: &Path, options: RingOptions) -> Result<Ring> {
    Ring::new(path, options)?.map_err(|reason| read_error(path)(std::io::Error::other(reason)))
}

fn by_ring(path: &Path, positions: &[u64], depth: u32) -> Result<Outcome> {
    let mut clock = OperationClock::start(positions.len());
    let mut ring = ring(path, ring_options(depth, PAGE as usize))?;
    let begun: Vec<Cell<Instant>> = vec![Cell::new(Instant::now()); positions.len()];
    let mut checksum = 0;
    let ranges = positions.iter().zip(&begun).map(|(position, begun)| {
        begun.set(Instant::now());
        (position / PAGE * PAGE, PAGE as u32)
    });
    ring.read_ranges(ranges, |index, page| {
        checksum += u64::from(value(&page[(positions[index] % PAGE) as usize..]));
        clock.push(begun[index].get(), Instant::now());
    })?;
    drop(ring);
    Ok(clock.outcome(checksum, positions.len()))
}

fn by_ring_scan(path: &Path, sorted: &[u64]) -> Result<Outcome> {
    let clock = OperationClock::start(0);
    let bytes = open(path)?.metadata().map_err(read_error(path))?.len();
    let mut ring = ring(path, ring_options(4, SCAN_BLOCK))?;
    let (mut checksum, mut found) = (0, 0);
    let ranges = (0..bytes).step_by(SCAN_BLOCK).map(|offset| (offset, SCAN_BLOCK as u32));
    ring.read_ranges(ranges, |index, block| {
        let begin = (index * SCAN_BLOCK) as u64;
        let first = sorted.partition_point(|&position| position < begin);
        for position in sorted[first..].iter().take_while(|&at| at - begin < block.len() as u64) {
            checksum += u64::from(value(&block[(position - begin) as usize..]));
            found += 1;
        }
    })?;
    drop(ring);
    Ok(clock.outcome(checksum, found))
}

/// Describes the share of pages beyond which a scan of the file is faster, if the time of reads grows linearly with
/// their number.
fn scan_or_seek(experiment: &Experiment, bytes: u64, count: usize) -> String {
    let begins =
        |begin: &'static str| fastest(experiment, "cold", move |row| row.name.starts_with(begin));
    let Some(scan) = begins("scan").map(seconds) else { return String::new() };
    let pages = bytes.div_ceil(PAGE) as f64;
    let share = |begin| {
        let row = begins(begin)?;
        let share = scan / (seconds(row) / count as f64) / pages * 100.0;
        Some(match share {
            share if share >= 100.0 => format!("never faster than `{}`", row.name),
            share => format!("faster than `{}` beyond {} % of the pages", row.name, three(share)),
        })
    };
    let shares: Vec<String> =
        ["fread", "pread,", "io_uring"].into_iter().filter_map(share).collect();
    let first = rows(experiment, "cold").next().map_or(f64::NAN, seconds) / count as f64;
    format!(
        "Reading the whole file takes as long as {} reads of the first row; it is {}.",
        three(scan / first),
        shares.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unavailable_methods_are_listed_as_missing() {
        let method = || vec![Method::new("ring", State::Direct, None, || Ok(Outcome::default()))];
        let (mut methods, mut missing) = (Vec::new(), Vec::new());
        add(method(), Some("not here".into()), &mut methods, &mut missing);
        assert!(methods.is_empty());
        let expected = Missing { name: "ring (cold)".into(), reason: "not here".into() };
        assert_eq!(missing, [expected]);
        add(method(), None, &mut methods, &mut missing);
        assert_eq!((methods.len(), missing.len()), (1, 1));
    }
}
