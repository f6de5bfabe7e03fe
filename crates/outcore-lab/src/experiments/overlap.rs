//! Overlap: how much of the reading time does computing hide if the next block is requested before it is needed?
//!
//! Source: the chapter for HP-UX that recommends POSIX asynchronous I/O for this. The work on each block is chosen so
//! that computing takes about as long as reading; overlap can then at most halve the time.
//!
//! ```text
//!  in turns   read 1 | compute 1 | read 2 | compute 2
//!  overlapped read 1 | read 2    | read 3 | ...
//!                    | compute 1 | compute 2
//! ```

use super::MIB;
use crate::api::aio::Asynchronous;
use crate::api::direct::open_to_read;
use crate::api::map::{Advice, Map, Sharing};
use crate::api::memory::recycle;
use crate::api::uring::{Ring, RingOptions};
use crate::meter::Outcome;
use crate::report::{Chart, Column, Experiment, Limit};
use crate::rounds::{self, Method};
use crate::row::Missing;
use crate::state::{self, State};
use crate::workplace::{Effort, Workplace};
use outcore::io::AlignedBuffer;
use outcore::units::format_bytes;
use outcore::{Error, ErrorKind, Result};
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::mpsc::{channel, sync_channel};
use std::time::Instant;

/// Bytes of a block.
const BLOCK: usize = MIB;
/// Number of blocks in flight.
const IN_FLIGHT: usize = 2;
/// Maximum number of passes of the work over a block, for slow disks.
const PASSES_MAX: u32 = 200;
/// Group of the rows that only read or only compute.
const ALONE: &str = "alone";

/// Amount of measurement.
#[derive(Debug, Clone, Copy)]
pub struct OverlapParameters {
    /// Size of the file: a multiple of 1 MiB.
    pub bytes: u64,
    /// Number of runs of each way.
    pub rounds: u32,
}

impl OverlapParameters {
    /// Returns the parameters of an effort.
    pub fn of(effort: Effort) -> Self {
        let bytes = match effort {
            Effort::Quick => 16 << 20,
            Effort::Default => 128 << 20,
            Effort::Full => 512 << 20,
        };
        Self { bytes, rounds: effort.rounds() }
    }
}

/// File, and the work on each of its blocks.
#[derive(Debug, Clone)]
struct OverlapInput {
    path: PathBuf,
    bytes: u64,
    passes: u32,
    direct: bool,
}

/// Way to have the next block while computing on this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OverlapWay {
    InTurns,
    Thread,
    Posix,
    Ring,
    Map(&'static [Advice]),
}

const WAYS: [(&str, OverlapWay); 6] = [
    ("read, then compute", OverlapWay::InTurns),
    ("a second thread reads", OverlapWay::Thread),
    ("aio_read", OverlapWay::Posix),
    ("io_uring", OverlapWay::Ring),
    ("mmap", OverlapWay::Map(&[])),
    ("mmap, advised", OverlapWay::Map(&[Advice::Sequential, Advice::WillNeed])),
];

/// Returns the result of the work on a block. Each word depends on the previous one, so its time is that of the
/// processor.
fn compute(block: &[u8], passes: u32) -> u64 {
    let (words, _) = black_box(block).as_chunks::<8>();
    (0..passes).fold(0, |state, _| {
        words.iter().fold(state, |state: u64, word| {
            (state ^ u64::from_le_bytes(*word)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
        })
    })
}

impl OverlapInput {
    fn open(&self) -> Result<File> {
        open_to_read(&self.path, self.direct).map_err(|e| Error::io("open", &self.path, e))
    }

    fn fail(&self, error: std::io::Error) -> Error {
        Error::io("read", &self.path, error)
    }

    fn offsets(&self) -> impl Iterator<Item = u64> + use<> {
        (0..self.bytes).step_by(BLOCK)
    }

    fn compute(&self, block: &[u8]) -> u64 {
        compute(block, self.passes)
    }

    /// Returns the outcome; blocks arrive in any order, so `sum` adds their results.
    fn outcome(&self, sum: u64) -> Outcome {
        let operations = self.bytes / BLOCK as u64;
        Outcome { checksum: sum, operations, bytes: self.bytes, ..Outcome::default() }
    }

    fn state(&self) -> State {
        if self.direct { State::Direct } else { State::Cold }
    }

    /// Reads the file with `each` for every block.
    fn read(&self, mut each: impl FnMut(&[u8])) -> Result<()> {
        let file = self.open()?;
        let mut buffer = AlignedBuffer::new(BLOCK);
        for offset in self.offsets() {
            file.read_exact_at(buffer.bytes_mut(), offset).map_err(|e| self.fail(e))?;
            each(buffer.bytes());
        }
        Ok(())
    }
}

impl OverlapWay {
    fn run(self, input: &OverlapInput) -> Result<Outcome> {
        let mut sum = 0u64;
        let mut add = |block: &[u8]| sum = sum.wrapping_add(input.compute(block));
        match self {
            Self::InTurns => input.read(add)?,
            Self::Thread => second_thread(input, add)?,
            Self::Posix => posix(input, add)?,
            Self::Ring => {
                let made = Ring::new(&input.path, ring_options(input.direct))?;
                let mut ring = made.map_err(|reason| Error::new(ErrorKind::Io, reason))?;
                let ranges = input.offsets().map(|offset| (offset, BLOCK as u32));
                ring.read_ranges(ranges, |_, block| add(block))?;
            }
            Self::Map(advice) => {
                let map = Map::open(&input.path, Sharing::Private, false, advice)?;
                map.bytes().chunks_exact(BLOCK).for_each(add);
            }
        }
        Ok(input.outcome(sum))
    }

    /// Returns the reason why the way cannot be measured here; `None` if it can.
    fn obstacle(self, input: &OverlapInput) -> Result<Option<String>> {
        Ok(match self {
            Self::Ring => Ring::new(&input.path, ring_options(input.direct))?.err(),
            _ => None,
        })
    }
}

fn ring_options(direct: bool) -> RingOptions {
    RingOptions { depth: IN_FLIGHT as u32, buffer_bytes: BLOCK, direct, registered: false }
}

/// Reads on a second thread, one block ahead.
fn second_thread(input: &OverlapInput, mut each: impl FnMut(&[u8])) -> Result<()> {
    let (give, taken) = sync_channel::<AlignedBuffer>(IN_FLIGHT);
    let (give_back, free) = channel::<AlignedBuffer>();
    for _ in 0..IN_FLIGHT {
        // Cannot fail: the receiver still exists.
        let _ = give_back.send(AlignedBuffer::new(BLOCK));
    }
    let reading = move || -> Result<()> {
        let file = input.open()?;
        for offset in input.offsets() {
            let Ok(mut buffer) = free.recv() else { break };
            file.read_exact_at(buffer.bytes_mut(), offset).map_err(|e| input.fail(e))?;
            if give.send(buffer).is_err() {
                break;
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let reader = scope.spawn(reading);
        for buffer in taken {
            each(buffer.bytes());
            // The reader may have ended.
            let _ = give_back.send(buffer);
        }
        reader.join().expect("it does not panic")
    })
}

/// Waits for one read while the next one is in flight.
fn posix(input: &OverlapInput, mut each: impl FnMut(&[u8])) -> Result<()> {
    let mut reads = Asynchronous::open(&input.path, IN_FLIGHT, BLOCK, input.direct)?;
    let mut offsets = input.offsets().enumerate();
    for (number, offset) in offsets.by_ref().take(IN_FLIGHT) {
        reads.start(number, offset)?;
    }
    for number in 0..(input.bytes / BLOCK as u64) as usize {
        each(reads.wait(number % IN_FLIGHT)?);
        if let Some((number, offset)) = offsets.next() {
            reads.start(number % IN_FLIGHT, offset)?;
        }
    }
    Ok(())
}

/// Returns the number of passes that take as long as reading the file, at least one.
fn passes(input: &OverlapInput) -> Result<u32> {
    let mut ratios = Vec::new();
    for _ in 0..3 {
        // Where the state cannot be reached, the rows will be missing, and this does no harm.
        let _ = state::bring(&input.path, input.state())?;
        let (start, mut computing) = (Instant::now(), 0.0);
        input.read(|block| {
            let start = Instant::now();
            black_box(compute(block, 1));
            computing += start.elapsed().as_secs_f64();
        })?;
        ratios.push((start.elapsed().as_secs_f64() - computing) / computing);
    }
    let ratio = crate::statistics::median(&ratios);
    Ok((ratio.round() as u32).clamp(1, PASSES_MAX))
}

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>, parameters: OverlapParameters) -> Result<Experiment> {
    let bytes = parameters.bytes.next_multiple_of(BLOCK as u64);
    let path = workplace.make_file("overlap", bytes)?;
    let mut cached = OverlapInput { path, bytes, passes: 1, direct: false };
    cached.passes = passes(&cached)?;
    let direct = OverlapInput { direct: true, ..cached.clone() };
    let without_direct = state::direct_obstacle(&cached.path)?;
    let (mut methods, mut missing) = (alone(&cached), Vec::new());
    for (input, group, ending) in [(&cached, "cold", ""), (&direct, "direct", ", direct")] {
        for (name, way) in WAYS {
            if input.direct && matches!(way, OverlapWay::Map(_)) {
                continue;
            }
            let name = format!("{name}{ending}");
            let obstacle = match &without_direct {
                Some(reason) if input.direct => Some(reason.clone()),
                _ => way.obstacle(input)?,
            };
            match obstacle {
                Some(reason) => missing.push(Missing { name, reason }),
                None => methods.push(method(input, name, group, move || way.run(input))),
            }
        }
    }
    if without_direct.is_none() {
        methods.push(reading(&direct, "reading, direct"));
    }
    let disk = Limit::disk(&cached.path)?;
    let mut measured = rounds::run(workplace, methods, parameters.rounds)?;
    measured.missing.append(&mut missing);
    workplace.files().remove(&cached.path)?;
    let columns = vec![
        Column::Wall,
        Column::User,
        Column::System,
        Column::Switches,
        Column::Rate,
        Column::Cycles,
        Column::Instructions,
        Column::Ratio,
    ];
    let question = "How much of the time of reading disappears behind computing?";
    let mut experiment = Experiment::new("overlap", question, columns, measured)
        .parameter("file", format_bytes(bytes))
        .parameter("block", format_bytes(BLOCK as u64))
        .parameter("passes of the work over a block", cached.passes)
        .parameter("rounds", parameters.rounds)
        .limit(disk);
    experiment.charts = vec![Chart::Bars { column: Column::Wall, logarithmic: false }];
    experiment.notes.push(
        "Through the page cache, the system itself reads ahead while the program computes, also in the first row.".into(),
    );
    Ok(experiment)
}

fn method<'a>(
    input: &'a OverlapInput,
    name: impl Into<String>,
    group: &str,
    run: impl FnMut() -> Result<Outcome> + 'a,
) -> Method<'a> {
    let method = Method::new(name, input.state(), Some(input.path.clone()), run).group(group);
    method.prepare(|| {
        recycle(input.bytes as usize);
        Ok(())
    })
}

/// Returns the rows that only read or only compute; their checksum is the number of bytes.
fn alone(input: &OverlapInput) -> Vec<Method<'_>> {
    let mut block = AlignedBuffer::new(BLOCK);
    block.bytes_mut().iter_mut().zip(1u8..=251).for_each(|(byte, value)| *byte = value);
    let computing = move || {
        for _ in input.offsets() {
            black_box(input.compute(block.bytes()));
        }
        Ok(input.outcome(input.bytes))
    };
    let computing = Method::new("computing", State::Warm, None, computing).group(ALONE);
    vec![computing, reading(input, "reading, cold")]
}

fn reading<'a>(input: &'a OverlapInput, name: &str) -> Method<'a> {
    method(input, name, ALONE, || {
        input.read(|block| {
            black_box(block);
        })?;
        Ok(input.outcome(input.bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_computes_the_same_from_every_block_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let bytes: Vec<u8> = (0..3 * BLOCK).map(|at| (at * 7 / 5) as u8).collect();
        #[expect(clippy::disallowed_methods, reason = "a test makes its file")]
        std::fs::write(&path, &bytes).unwrap();
        let input = OverlapInput { path, bytes: bytes.len() as u64, passes: 2, direct: false };
        let expected =
            bytes.chunks(BLOCK).fold(0u64, |sum, block| sum.wrapping_add(compute(block, 2)));
        for (name, way) in WAYS {
            if way.obstacle(&input).unwrap().is_none() {
                assert_eq!(way.run(&input).unwrap().checksum, expected, "{name}");
            }
        }
        let missing = OverlapInput { path: directory.path().join("none"), ..input };
        for (name, way) in WAYS.into_iter().filter(|(_, way)| *way != OverlapWay::Ring) {
            assert!(way.run(&missing).is_err(), "{name}");
        }
    }
}
