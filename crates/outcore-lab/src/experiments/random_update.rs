//! Random updates of four bytes (read, add one, write): do sorted positions, buffers, the kind of seek or batches
//! pay off?
//!
//! Source: A. Lakshman, "fseek" (2024), timed by `clock()` and without making the updates durable; here every row ends
//! with a sync, reported in its own column.
//!
//! Direct rows read and write the page of each update: the cost of an update in a file far larger than memory, none of
//! whose pages stays there.
//!
//! All runs update one file; warm and cold runs use separate positions. The checksum of a run is the sum of the values
//! read minus the increments of earlier runs, so it is the same for all runs as long as no update is lost. The values
//! written by each run are also read back and compared before the next run.

use super::positions::{OperationClock, PAGE, PositionParameters, Positions, VALUE, value};
use crate::api::direct::open_to_update;
use crate::api::map::{Map, Sharing};
use crate::api::stdio::{Buffering, Stream, Whence};
use crate::report::{Chart, Column, Experiment, Limit};
use crate::rounds::{self, Method};
use crate::row::Missing;
use crate::state::{State, direct_obstacle};
use crate::workplace::Workplace;
use outcore::io::AlignedBuffer;
use outcore::units::{format_bytes, format_count};
use outcore::{Error, Result};
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Number of rows in states cold and direct, for the probe; an update takes about two reads.
const COLD_ROWS: usize = 42;

/// Name of the method that only reads.
const READS: &str = "fread alone, unsorted, buffered, SEEK_SET";

/// Seeks of a stream to the place of the read, and back to it for the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seeks {
    /// `SEEK_SET`, `SEEK_SET`.
    Set,
    /// `SEEK_SET`, then back by `SEEK_CUR`.
    Both,
    /// `SEEK_CUR`, `SEEK_CUR`.
    Cur,
}

/// File with the values expected at the positions of one state.
struct Target {
    path: PathBuf,
    bytes: u64,
    positions: Positions,
    /// Values at the sorted positions before the first run.
    originals: Vec<u32>,
    /// Number of runs so far: each adds one to each value.
    runs: Cell<u32>,
}

/// Runs the experiment with the parameters of the workplace's effort.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `CorruptFile` if an update was lost; `Interrupted`.
pub fn run(workplace: &Workplace<'_>) -> Result<Experiment> {
    run_with(workplace, &PositionParameters::of(workplace.effort))
}

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `CorruptFile` if an update was lost; `Interrupted`.
pub fn run_with(workplace: &Workplace<'_>, parameters: &PositionParameters) -> Result<Experiment> {
    let path = workplace.make_file("random-update", parameters.bytes)?;
    let (warm, cold) = Positions::choose(workplace, &path, parameters, COLD_ROWS)?;
    let warm = Target::new(path.clone(), parameters.bytes, warm)?;
    let cold = Target::new(path.clone(), parameters.bytes, cold)?;
    let mut methods = Vec::new();
    for (state, target) in [(State::Warm, &warm), (State::Cold, &cold)] {
        methods.extend(stream_methods(target, state));
        methods.extend(other_methods(target, state));
    }
    let direct = direct_methods(&cold);
    let missing = direct_obstacle(&path)?.map(|reason| {
        let missing =
            |method: &Method| Missing { name: method.full_name(), reason: reason.clone() };
        direct.iter().map(missing).collect::<Vec<_>>()
    });
    if missing.is_none() {
        methods.extend(direct);
    }
    let disk = Limit::disk_pages(&path)?.of(&[State::Cold, State::Direct].map(State::name));
    let mut measured = rounds::run(workplace, methods, parameters.rounds)?;
    measured.missing.extend(missing.into_iter().flatten());
    warm.verify()?;
    cold.verify()?;
    workplace.files().remove(&path)?;
    let columns = vec![
        Column::OperationMin,
        Column::OperationTrimmedMean,
        Column::OperationMedian,
        Column::OperationP99,
        Column::OperationMax,
        Column::Wall,
        Column::Sync,
        Column::Total,
        Column::ReadBytes,
        Column::WriteBytes,
        Column::Ratio,
    ];
    let question = "Random updates of four bytes: do sorting, buffering, seeks or batches matter?";
    let mut experiment = Experiment::new("random-update", question, columns, measured)
        .parameter("file", format_bytes(parameters.bytes))
        .parameter("updates, cold", format_count(cold.positions.sorted.len() as u64))
        .parameter("updates, warm", format_count(warm.positions.sorted.len() as u64))
        .parameter("rounds", parameters.rounds)
        .limit(Limit::system_call().of(&[State::Warm.name()]))
        .limit(disk);
    experiment.charts = vec![Chart::Bars { column: Column::Total, logarithmic: true }];
    experiment.notes.extend(cold.positions.notes());
    experiment.notes.push("Ratios leave out the final sync, as the source does.".into());
    Ok(experiment)
}

impl Target {
    fn new(path: PathBuf, bytes: u64, positions: Positions) -> Result<Self> {
        let mut target = Self { path, bytes, positions, originals: Vec::new(), runs: Cell::new(0) };
        target.originals = target.values()?;
        Ok(target)
    }

    /// Reads the current values at the sorted positions.
    fn values(&self) -> Result<Vec<u32>> {
        let file = File::open(&self.path).map_err(|e| Error::io("open", &self.path, e))?;
        let read = |&position: &u64| {
            let mut bytes = [0; VALUE];
            file.read_exact_at(&mut bytes, position).map(|()| value(&bytes))
        };
        let values: std::io::Result<Vec<u32>> = self.positions.sorted.iter().map(read).collect();
        values.map_err(|e| Error::io("read", &self.path, e))
    }

    /// Checks that every run so far has added one to each value exactly once.
    fn verify(&self) -> Result<()> {
        let runs = self.runs.get();
        let holds = |(now, original): (u32, &u32)| now == original.wrapping_add(runs);
        if self.values()?.into_iter().zip(&self.originals).all(holds) {
            return Ok(());
        }
        Err(Error::corrupt(&self.path, "an update did not reach the file"))
    }

    /// Creates a method that updates the file with `run`, which returns the sum over [`Target::update`].
    fn method<'a>(
        &'a self,
        name: String,
        state: State,
        run: impl Fn(&mut OperationClock) -> Result<u64> + 'a,
    ) -> Method<'a> {
        let counted = move |clock: &mut OperationClock| {
            let checksum = run(clock)?;
            self.runs.set(self.runs.get().wrapping_add(1));
            Ok(checksum)
        };
        self.timed(name, state, counted)
    }

    /// Creates a method that may leave the file as it is.
    fn timed<'a>(
        &'a self,
        name: String,
        state: State,
        run: impl Fn(&mut OperationClock) -> Result<u64> + 'a,
    ) -> Method<'a> {
        let count = self.positions.sorted.len();
        let timed = move || {
            let mut clock = OperationClock::start(count);
            let checksum = run(&mut clock)?;
            Ok(clock.outcome(checksum, count))
        };
        Method::new(name, state, Some(self.path.clone()), timed)
            .group(state.name())
            .prepare(|| self.verify())
    }

    /// Adds one to the value at the start of `bytes`; returns its value before the first run.
    #[inline]
    fn update(&self, bytes: &mut [u8]) -> u64 {
        let before = value(bytes);
        bytes[..VALUE].copy_from_slice(&before.wrapping_add(1).to_le_bytes());
        u64::from(before.wrapping_sub(self.runs.get()))
    }

    fn open(&self) -> Result<File> {
        let opened = OpenOptions::new().read(true).write(true).open(&self.path);
        opened.map_err(|e| Error::io("open", &self.path, e))
    }

    fn read_error(&self) -> impl Fn(std::io::Error) -> Error {
        |e| Error::io("read", &self.path, e)
    }

    fn write_error(&self) -> impl Fn(std::io::Error) -> Error {
        |e| Error::io("write", &self.path, e)
    }

    fn sync(&self, file: &File, clock: &mut OperationClock) -> Result<()> {
        clock.sync(|| file.sync_all().map_err(|e| Error::io("sync", &self.path, e)))
    }
}

/// Returns the twelve methods of the source, which use the C library.
fn stream_methods(target: &Target, state: State) -> Vec<Method<'_>> {
    let mut methods = Vec::new();
    for (order, positions) in target.positions.orders() {
        for (buffer, buffering) in
            [("buffered", Buffering::Default), ("unbuffered", Buffering::None)]
        {
            for (name, seeks) in
                [("SEEK_SET", Seeks::Set), ("SEEK_BOTH", Seeks::Both), ("SEEK_CUR", Seeks::Cur)]
            {
                let name = format!("fread+fwrite, {order}, {buffer}, {name}");
                let run = move |clock: &mut OperationClock| {
                    by_stream(target, positions, buffering, seeks, clock)
                };
                methods.push(target.method(name, state, run));
            }
        }
    }
    methods
}

/// Returns the methods with positioned reads and writes, a mapped file, and blocks; and one that only reads, to show
/// what the update adds.
fn other_methods(target: &Target, state: State) -> Vec<Method<'_>> {
    let reads = move |clock: &mut OperationClock| read_alone(target, clock);
    let mut methods = vec![target.timed(READS.into(), state, reads)];
    for (order, positions) in target.positions.orders() {
        let run = move |clock: &mut OperationClock| by_pwrite(target, positions, clock);
        methods.push(target.method(format!("pread+pwrite, {order}"), state, run));
    }
    for (order, positions) in target.positions.orders() {
        let run = move |clock: &mut OperationClock| by_map(target, positions, clock);
        methods.push(target.method(format!("mmap, {order}"), state, run));
    }
    for (name, block) in [("blocks of 4 KiB", PAGE), ("blocks of 1 MiB", 1 << 20)] {
        let run = move |clock: &mut OperationClock| by_blocks(target, block, clock);
        methods.push(target.method(name.into(), state, run));
    }
    methods
}

/// Returns the methods past the page cache.
fn direct_methods(target: &Target) -> Vec<Method<'_>> {
    let mut methods = Vec::new();
    for (order, positions) in target.positions.orders() {
        let run = move |clock: &mut OperationClock| by_direct(target, positions, clock);
        let name = format!("pread+pwrite of the page, {order}");
        methods.push(target.method(name, State::Direct, run));
    }
    methods
}

fn by_stream(
    target: &Target,
    positions: &[u64],
    buffering: Buffering,
    seeks: Seeks,
    clock: &mut OperationClock,
) -> Result<u64> {
    const BACK: i64 = -(VALUE as i64);
    let mut stream = Stream::open(&target.path, "rb+", buffering)?;
    let (mut at, mut checksum) = (0, 0);
    clock.begin();
    for &position in positions {
        let position = position as i64;
        match seeks {
            Seeks::Set | Seeks::Both => stream.seek(Whence::Start, position)?,
            Seeks::Cur => stream.seek(Whence::Current, position - at)?,
        }
        let mut bytes = [0; VALUE];
        stream.read_exact(&mut bytes)?;
        checksum += target.update(&mut bytes);
        match seeks {
            Seeks::Set => stream.seek(Whence::Start, position)?,
            Seeks::Both | Seeks::Cur => stream.seek(Whence::Current, BACK)?,
        }
        stream.write(&bytes)?;
        at = position + VALUE as i64;
        clock.lap();
    }
    stream.flush()?;
    clock.sync(|| stream.sync())?;
    stream.close()?;
    Ok(checksum)
}

/// Reads like the first method, and writes nothing; there is nothing to sync either.
fn read_alone(target: &Target, clock: &mut OperationClock) -> Result<u64> {
    let mut stream = Stream::open(&target.path, "rb+", Buffering::Default)?;
    let mut checksum = 0;
    clock.begin();
    for &position in &target.positions.unsorted {
        stream.seek(Whence::Start, position as i64)?;
        let mut bytes = [0; VALUE];
        stream.read_exact(&mut bytes)?;
        checksum += target.update(&mut bytes);
        clock.lap();
    }
    stream.close()?;
    Ok(checksum)
}

fn by_pwrite(target: &Target, positions: &[u64], clock: &mut OperationClock) -> Result<u64> {
    let file = target.open()?;
    let mut checksum = 0;
    clock.begin();
    for &position in positions {
        let mut bytes = [0; VALUE];
        file.read_exact_at(&mut bytes, position).map_err(target.read_error())?;
        checksum += target.update(&mut bytes);
        file.write_all_at(&bytes, position).map_err(target.write_error())?;
        clock.lap();
    }
    target.sync(&file, clock)?;
    Ok(checksum)
}

/// Reads and writes whole pages, past the page cache.
fn by_direct(target: &Target, positions: &[u64], clock: &mut OperationClock) -> Result<u64> {
    let file = open_to_update(&target.path).map_err(|e| Error::io("open", &target.path, e))?;
    let mut page = AlignedBuffer::new(PAGE as usize);
    let mut checksum = 0;
    clock.begin();
    for &position in positions {
        let (begin, at) = (position / PAGE * PAGE, (position % PAGE) as usize);
        file.read_exact_at(page.bytes_mut(), begin).map_err(target.read_error())?;
        checksum += target.update(&mut page.bytes_mut()[at..]);
        file.write_all_at(page.bytes(), begin).map_err(target.write_error())?;
        clock.lap();
    }
    target.sync(&file, clock)?;
    Ok(checksum)
}

fn by_map(target: &Target, positions: &[u64], clock: &mut OperationClock) -> Result<u64> {
    let mut map = Map::open(&target.path, Sharing::SharedWrite, false, &[])?;
    let bytes = map.bytes_mut().expect("mapped to be written");
    let mut checksum = 0;
    clock.begin();
    for &position in positions {
        checksum += target.update(&mut bytes[position as usize..]);
        clock.lap();
    }
    clock.sync(|| map.sync())?;
    Ok(checksum)
}

/// Reads each block that contains positions, updates all of them, and writes it back. Sorting the positions is part of
/// the measured work.
fn by_blocks(target: &Target, block_bytes: u64, clock: &mut OperationClock) -> Result<u64> {
    let mut positions = target.positions.unsorted.clone();
    positions.sort_unstable();
    let file = target.open()?;
    let mut block = vec![0; block_bytes as usize];
    let mut checksum = 0;
    for inside in positions.chunk_by(|a, b| a / block_bytes == b / block_bytes) {
        let begin = inside[0] / block_bytes * block_bytes;
        let len = block_bytes.min(target.bytes - begin) as usize;
        file.read_exact_at(&mut block[..len], begin).map_err(target.read_error())?;
        for &position in inside {
            checksum += target.update(&mut block[(position - begin) as usize..]);
        }
        file.write_all_at(&block[..len], begin).map_err(target.write_error())?;
    }
    target.sync(&file, clock)?;
    Ok(checksum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_methods_return_one_sum_and_a_lost_update_is_detected() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let bytes: Vec<u8> = (0..20_480u32).map(|number| (number * 31 % 255) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let positions = Positions::of(vec![20_476, 0, 8_192, 4, 12_000], 5);
        let target = Target::new(path.clone(), 20_480, positions).unwrap();
        let mut methods = stream_methods(&target, State::Warm);
        methods.extend(other_methods(&target, State::Warm));
        if direct_obstacle(&path).unwrap().is_none() {
            methods.extend(direct_methods(&target));
        }
        let count = methods.len();
        let mut sums = Vec::new();
        for method in &mut methods {
            (method.prepare)().unwrap();
            sums.push((method.run)().unwrap().checksum);
        }
        target.verify().unwrap();
        let expected: u64 =
            [0, 4, 8_192, 12_000, 20_476].map(|at| u64::from(value(&bytes[at..]))).iter().sum();
        assert_eq!(sums, vec![expected; count]);
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(target.verify().unwrap_err().kind(), outcore::ErrorKind::CorruptFile);
    }
}
