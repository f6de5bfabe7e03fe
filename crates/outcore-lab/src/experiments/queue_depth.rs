//! Queue depth: how many concurrent reads can the disk serve, and at what latency?
//!
//! Direct reads of pages at random positions: by a ring with a given number of reads in flight, by this number of
//! threads with one read each, and by two threads with a ring each. More concurrent reads raise the rate until the disk
//! is saturated; beyond that only the latency grows (Little, "A proof for the queuing formula L = λW", 1961).

use super::compare::{cost, rows};
use super::positions::{OperationClock, PAGE, value};
use crate::api::direct::open_to_read;
use crate::api::uring::{Ring, RingOptions};
use crate::meter::Outcome;
use crate::random::Random;
use crate::report::{Chart, Column, Experiment, Limit, three};
use crate::rounds::{self, Method};
use crate::row::{Missing, Row};
use crate::state::{State, direct_obstacle};
use crate::workplace::{Effort, Workplace};
use outcore::io::AlignedBuffer;
use outcore::units::{format_bytes, format_count};
use outcore::{Error, ErrorKind, Result};
use std::cell::Cell;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

/// Maximum number of threads.
const THREADS_MAX: u32 = 32;
/// Share of the best rate above which more reads in flight only wait longer.
const ENOUGH: f64 = 0.9;

/// Amount of measurement.
#[derive(Debug, Clone)]
pub struct QueueDepthParameters {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Number of reads in a run.
    pub reads: usize,
    /// Numbers of reads in flight, ascending.
    pub depths: Vec<u32>,
    /// Number of runs of each way.
    pub rounds: u32,
}

impl QueueDepthParameters {
    /// Returns the parameters of an effort.
    pub fn of(effort: Effort) -> Self {
        let (bytes, reads, depths) = match effort {
            Effort::Quick => (32 << 20, 256, vec![1, 4, 16, 64]),
            Effort::Default => (256 << 20, 2_000, vec![1, 2, 4, 8, 16, 32, 64, 128]),
            Effort::Full => (2 << 30, 10_000, vec![1, 2, 4, 8, 16, 32, 64, 128, 256]),
        };
        Self { bytes, reads, depths, rounds: effort.rounds() }
    }
}

/// Way to have several reads in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DepthWay {
    Ring,
    Threads,
    TwoRings,
}

impl DepthWay {
    const ALL: [Self; 3] = [Self::Ring, Self::Threads, Self::TwoRings];

    fn name(self) -> &'static str {
        match self {
            Self::Ring => "io_uring",
            Self::Threads => "threads with pread",
            Self::TwoRings => "two threads with io_uring",
        }
    }

    fn can(self, depth: u32) -> bool {
        match self {
            Self::Ring => true,
            Self::Threads => depth <= THREADS_MAX,
            Self::TwoRings => depth > 1,
        }
    }

    fn run(self, path: &Path, positions: &[u64], depth: u32) -> Result<Outcome> {
        match self {
            Self::Ring => {
                let mut clock = OperationClock::start(positions.len());
                let sum = by_ring(path, positions, depth, &mut clock)?;
                Ok(outcome(clock, sum, positions.len()))
            }
            Self::Threads => {
                on_threads(positions, depth, |part, clock| by_pread(path, part, clock))
            }
            Self::TwoRings => {
                on_threads(positions, 2, |part, clock| by_ring(path, part, depth / 2, clock))
            }
        }
    }
}

fn outcome(clock: OperationClock, sum: u64, reads: usize) -> Outcome {
    Outcome { bytes: reads as u64 * PAGE, ..clock.outcome(sum, reads) }
}

fn fail(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |e| Error::io("read", path, e)
}

fn by_ring(path: &Path, positions: &[u64], depth: u32, clock: &mut OperationClock) -> Result<u64> {
    let made = Ring::new(path, options(depth))?;
    let mut ring = made.map_err(|reason| Error::new(ErrorKind::Io, reason))?;
    let begun: Vec<Cell<Instant>> = vec![Cell::new(Instant::now()); positions.len()];
    let ranges = positions.iter().zip(&begun).map(|(&position, begun)| {
        begun.set(Instant::now());
        (position, PAGE as u32)
    });
    let mut sum = 0;
    ring.read_ranges(ranges, |index, page| {
        sum += u64::from(value(page));
        clock.push(begun[index].get(), Instant::now());
    })?;
    Ok(sum)
}

fn options(depth: u32) -> RingOptions {
    RingOptions { depth, buffer_bytes: PAGE as usize, direct: true, registered: false }
}

fn by_pread(path: &Path, positions: &[u64], clock: &mut OperationClock) -> Result<u64> {
    let file = open_to_read(path, true).map_err(|e| Error::io("open", path, e))?;
    let mut page = AlignedBuffer::new(PAGE as usize);
    let mut sum = 0;
    clock.begin();
    for &position in positions {
        file.read_exact_at(page.bytes_mut(), position).map_err(fail(path))?;
        sum += u64::from(value(page.bytes()));
        clock.lap();
    }
    Ok(sum)
}

/// Divides the positions among threads.
fn on_threads(
    positions: &[u64],
    threads: u32,
    one: impl Fn(&[u64], &mut OperationClock) -> Result<u64> + Sync,
) -> Result<Outcome> {
    let mut clock = OperationClock::start(positions.len());
    let one = &one;
    let parts = positions.chunks(positions.len().div_ceil(threads as usize).max(1));
    let parts: Vec<Result<(u64, Vec<u32>)>> = std::thread::scope(|scope| {
        let started: Vec<_> = parts
            .map(|part| {
                scope.spawn(move || {
                    let mut clock = OperationClock::start(part.len());
                    let sum = one(part, &mut clock)?;
                    Ok((sum, clock.into_nanoseconds()))
                })
            })
            .collect();
        started.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    let mut sum = 0;
    for part in parts {
        let (some, nanoseconds) = part?;
        sum += some;
        clock.extend(nanoseconds);
    }
    Ok(outcome(clock, sum, positions.len()))
}

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>, parameters: &QueueDepthParameters) -> Result<Experiment> {
    let path = workplace.make_file("queue-depth", parameters.bytes)?;
    let mut random = Random(workplace.seed ^ 3);
    let pages = parameters.bytes / PAGE;
    let positions: Vec<u64> = (0..parameters.reads).map(|_| random.below(pages) * PAGE).collect();
    let (mut methods, mut missing, mut points) = (Vec::new(), Vec::new(), Vec::new());
    let direct = direct_obstacle(&path)?;
    let most = parameters.depths.last().copied().unwrap_or(1);
    for way in DepthWay::ALL {
        let obstacle = match (&direct, way) {
            (Some(reason), _) => Some(reason.clone()),
            (None, DepthWay::Threads) => None,
            (None, _) => Ring::new(&path, options(most))?.err(),
        };
        if let Some(reason) = obstacle {
            missing.push(Missing { name: way.name().into(), reason });
            continue;
        }
        for &depth in parameters.depths.iter().filter(|&&depth| way.can(depth)) {
            let name = format!("{}, {depth} at a time", way.name());
            points.push((name.clone(), (way.name().to_owned(), f64::from(depth))));
            let (positions, file) = (&positions, &path);
            let run = move || way.run(file, positions, depth);
            methods.push(Method::new(name, State::Direct, Some(path.clone()), run));
        }
    }
    let disk = Limit::disk(&path)?;
    let mut measured = rounds::run(workplace, methods, parameters.rounds)?;
    measured.missing.append(&mut missing);
    workplace.files().remove(&path)?;
    let question = "How many concurrent reads can the disk serve, and at what latency?";
    let mut experiment = Experiment::new("queue-depth", question, columns(), measured)
        .parameter("file", format_bytes(parameters.bytes))
        .parameter("reads", format_count(parameters.reads as u64))
        .parameter("rounds", parameters.rounds)
        .limit(disk);
    for row in &mut experiment.rows {
        row.point = points.iter().find(|(name, _)| *name == row.name).map(|(_, at)| at.clone());
    }
    let lines = |column| Chart::Lines { x: "reads at a time".into(), column };
    experiment.charts = vec![lines(Column::PerOperation), lines(Column::OperationMedian)];
    experiment.finding = finding(&experiment);
    Ok(experiment)
}

fn columns() -> Vec<Column> {
    vec![
        Column::PerOperation,
        Column::OperationMedian,
        Column::OperationP99,
        Column::OperationP999,
        Column::OperationP9999,
        Column::OperationMax,
        Column::User,
        Column::System,
        Column::Switches,
        Column::Ratio,
    ]
}

/// Describes the fewest concurrent reads that come close to the best rate, and their latency.
fn finding(experiment: &Experiment) -> String {
    let rate = |row: &Row| 1.0 / cost(experiment, row);
    let most = rows(experiment, "").map(rate).fold(0.0, f64::max);
    let depth = |row: &&Row| row.point.as_ref().map_or(f64::INFINITY, |(_, depth)| *depth);
    let enough = rows(experiment, "")
        .filter(|row| rate(row) >= ENOUGH * most)
        .min_by(|a, b| depth(a).total_cmp(&depth(b)));
    let (Some(enough), Some(first)) = (enough, experiment.rows.first()) else {
        return String::new();
    };
    let times = |row| Column::OperationMedian.value(row).unwrap_or(f64::NAN);
    format!(
        "`{}` comes within {:.0} % of the highest rate: {} reads per second, {}x as many as `{}`; each read then takes {} \
         instead of {} µs.",
        enough.name,
        (1.0 - ENOUGH) * 100.0,
        three(rate(enough)),
        three(rate(enough) / rate(first)),
        first.name,
        three(times(enough)),
        three(times(first))
    )
}
