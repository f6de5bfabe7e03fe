//! Random reads of four bytes: does sorting the positions pay, does a buffer, does the way to seek?
//!
//! The original: A. Lakshman, "fseek" (2024), 100,000 positions in 4.29 GB, times by `clock()`, which
//! counts microseconds of the processor; here every row has a proved state and elapsed times.

use crate::meter::{Latencies, Outcome};
use crate::report::Experiment;
use crate::rounds::{self, Method};
use crate::state::State;
use crate::table::Column;
use crate::{Effort, Random, Workplace};
use outcore::{Error, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>) -> Result<Experiment> {
    let (bytes, count, rounds) = match workplace.effort {
        Effort::Quick => (128u64 << 20, 2_000usize, 5),
        Effort::Default => (1 << 30, 10_000, 9),
        Effort::Full => (4 << 30, 100_000, 15),
    };
    let path = workplace.make_file("random-read", bytes)?;
    let mut random = Random(workplace.seed ^ 1);
    let unsorted: Vec<u64> = (0..count).map(|_| random.below(bytes / 4) * 4).collect();
    let mut sorted = unsorted.clone();
    sorted.sort_unstable();
    let mut methods = Vec::new();
    for state in [State::Warm, State::Cold] {
        for (order, positions) in [("unsorted", &unsorted), ("sorted", &sorted)] {
            let run = || pread(&path, positions);
            let name = format!("pread, {order}");
            methods.push(Method::new(name, state, Some(path.clone()), run).group(state.name()));
        }
    }
    let measured = rounds::run(workplace, methods, rounds)?;
    let columns = vec![
        Column::OperationMin,
        Column::OperationTrimmedMean,
        Column::OperationMedian,
        Column::OperationP99,
        Column::OperationMax,
        Column::Wall,
        Column::ReadBytes,
        Column::Ratio,
    ];
    let question = "Random reads of four bytes: what do sorting, buffers and the way to seek do?";
    Ok(Experiment::new("random-read", question, columns, measured)
        .parameter("file", outcore::units::format_bytes(bytes))
        .parameter("reads", count))
}

fn pread(path: &Path, positions: &[u64]) -> Result<Outcome> {
    let fail = |e| Error::io("read", path, e);
    let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
    let mut times = Vec::with_capacity(positions.len());
    let mut checksum = 0u64;
    let mut last = Instant::now();
    for &position in positions {
        let mut value = [0; 4];
        file.read_exact_at(&mut value, position).map_err(fail)?;
        checksum = checksum.wrapping_add(u64::from(u32::from_le_bytes(value)));
        let now = Instant::now();
        times.push((now - last).as_nanos().min(u128::from(u32::MAX)) as u32);
        last = now;
    }
    Ok(Outcome {
        checksum,
        operations: positions.len() as u64,
        bytes: 4 * positions.len() as u64,
        system_calls: Some(positions.len() as u64 + 2),
        latencies: Latencies::of(&mut times),
        ..Outcome::default()
    })
}
