//! Limits of the machine, measured in the same run as the rows, that charts show as horizontal lines: no way can copy faster
//! than memory does, and none that makes a system call can be faster than an empty one.
//!
//! Cost: some milliseconds each.

use super::column::Column;
use crate::number::three;
use crate::statistics::median;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::time::Instant;

/// Number of measurements, of which the median counts.
const TIMES: usize = 15;

/// Value that rows are seen against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// What was measured.
    pub name: String,
    /// Figure of rows that it is a limit of.
    pub column: Column,
    /// Its value, in the unit of the figure.
    pub value: f64,
}

impl Limit {
    /// Measures the rate of copying `bytes` of memory to other memory, both in the caches if they fit.
    pub(crate) fn copy(bytes: usize) -> Self {
        let from = black_box(vec![1u8; bytes]);
        let mut to = vec![0u8; bytes];
        let seconds = timed(64, || {
            to.copy_from_slice(black_box(&from));
            black_box(&to);
        });
        let name = format!("memcpy of {} KiB", bytes >> 10);
        Self { name, column: Column::Rate, value: bytes as f64 / seconds / 1e6 }
    }

    /// Measures a system call that does almost nothing.
    pub(crate) fn system_call() -> Self {
        let seconds = timed(1_000, || {
            black_box(rustix::process::getppid());
        });
        let name = "an empty system call".into();
        Self { name, column: Column::PerOperation, value: seconds * 1e9 }
    }

    /// Returns the limit in a sentence.
    pub(crate) fn note(&self) -> String {
        format!("Limit: {}, {} {}.", self.name, three(self.value), self.column.heading())
    }
}

/// Returns the seconds of `work`, which is repeated in each measurement.
fn timed(repetitions: u32, mut work: impl FnMut()) -> f64 {
    let mut once = || {
        let start = Instant::now();
        (0..repetitions).for_each(|_| work());
        start.elapsed().as_secs_f64() / f64::from(repetitions)
    };
    once();
    median(&(0..TIMES).map(|_| once()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_plausible() {
        let copy = Limit::copy(1 << 20);
        assert!((10.0..1e7).contains(&copy.value), "{copy:?}");
        let call = Limit::system_call();
        assert!((1.0..1e6).contains(&call.value), "{call:?}");
        assert!(copy.note().starts_with("Limit: memcpy of 1024 KiB, "), "{}", copy.note());
    }
}
