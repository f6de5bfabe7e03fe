//! Limits of the machine, measured in the same run as the rows, that charts show as lines: no way can copy faster than memory
//! does, none that makes a system call can be faster than an empty one, and none that reads from the disk can be faster than
//! the disk.
//!
//! Cost: some milliseconds each; those of the disk, less than a second where it is not slow.

use super::column::Column;
use crate::api::direct::open_to_read;
use crate::api::memory::PAGE;
use crate::api::uring::{Ring, RingOptions};
use crate::meter::Sample;
use crate::number::three;
use crate::random::Random;
use crate::row::Row;
use crate::state::drop_cached;
use crate::statistics::median;
use outcore::io::AlignedBuffer;
use outcore::units::format_bytes;
use outcore::{Error, Result};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

/// Number of measurements; their median counts.
const TIMES: usize = 15;
/// Number of measurements of the disk.
const DISK_TIMES: usize = 3;
/// Bytes of a file that are copied or read in a measurement, at most.
const FILE_BYTES: u64 = 64 << 20;
/// Number of pages that are read in a measurement of the disk.
const DISK_PAGES: u64 = 512;
/// Bytes of a large read.
const LARGE: usize = 1 << 20;

/// Limit of the machine, to compare rows with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// What was measured.
    pub name: String,
    /// Unit of the value: [`Column::Rate`] or [`Column::PerOperation`]; charts of other figures convert it.
    pub column: Column,
    /// Its value, in this unit.
    pub value: f64,
    /// Groups of rows that it limits; all groups if empty.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub groups: Vec<String>,
}

impl Limit {
    /// Measures the rate of copying `bytes` of memory to other memory, both in the caches if they fit.
    pub(crate) fn copy(bytes: usize) -> Self {
        let from = black_box(vec![1u8; bytes]);
        let mut to = vec![0u8; bytes];
        let seconds = timed((1 << 24) / bytes.clamp(1 << 18, 1 << 24) as u32, || {
            to.copy_from_slice(black_box(&from));
            black_box(&to);
        });
        let name = match bytes >> 20 {
            0 => format!("memcpy of {} KiB", bytes >> 10),
            mib => format!("memcpy of {mib} MiB"),
        };
        Self::rate(name, bytes as f64 / seconds)
    }

    /// Measures the rate of copying a file of `bytes` bytes in memory, or a part of it that exceeds the caches.
    pub(crate) fn copy_of_file(bytes: u64) -> Self {
        Self::copy(bytes.min(FILE_BYTES) as usize)
    }

    /// Measures a system call that does almost nothing.
    pub(crate) fn system_call() -> Self {
        let seconds = timed(1_000, || {
            black_box(rustix::process::getppid());
        });
        Self::per_operation("an empty system call".into(), seconds)
    }

    /// Measures how fast the disk returns large parts of a file, one after the other.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn disk(path: &Path) -> Result<Self> {
        let bytes = std::fs::metadata(path).map_err(|e| Error::io("measure", path, e))?.len();
        let large = LARGE.min(bytes as usize / PAGE * PAGE).max(PAGE) as u64;
        let ranges: Vec<(u64, u32)> = (0..bytes.min(FILE_BYTES) / large)
            .map(|number| (number * large, large as u32))
            .collect();
        let (name, seconds) = read(path, &ranges, 8)?;
        Ok(Self::rate(name, ranges.len() as f64 * large as f64 / seconds))
    }

    /// Measures how fast the disk returns pages at random positions of a file.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn disk_pages(path: &Path) -> Result<Self> {
        let bytes = std::fs::metadata(path).map_err(|e| Error::io("measure", path, e))?.len();
        let mut random = Random(DISK_PAGES);
        let pages = (bytes / PAGE as u64).max(1);
        let ranges: Vec<(u64, u32)> = (0..DISK_PAGES.min(pages))
            .map(|_| (random.below(pages) * PAGE as u64, PAGE as u32))
            .collect();
        let (name, seconds) = read(path, &ranges, 32)?;
        Ok(Self::per_operation(name, seconds / ranges.len() as f64))
    }

    fn rate(name: String, bytes_per_second: f64) -> Self {
        let value = bytes_per_second / 1e6;
        Self { name, column: Column::Rate, value, groups: Vec::new() }
    }

    fn per_operation(name: String, seconds: f64) -> Self {
        Self { name, column: Column::PerOperation, value: seconds * 1e9, groups: Vec::new() }
    }

    /// Makes it a limit of these groups of rows alone.
    #[must_use]
    pub(crate) fn of(mut self, groups: &[&str]) -> Self {
        self.groups = groups.iter().map(|&group| group.into()).collect();
        self
    }

    /// Returns the limit in the unit of another figure of these rows; `None` if it limits other rows, or if they do not do
    /// the same amount of work and the figure depends on it.
    pub(super) fn value_in(&self, column: Column, rows: &[&Row]) -> Option<f64> {
        let applies = |row: &&Row| self.groups.is_empty() || self.groups.contains(&row.group);
        if !rows.iter().all(applies) {
            return None;
        }
        let operations = common(rows, |sample| sample.operations as f64);
        let bytes = common(rows, |sample| sample.bytes as f64);
        let size = common(rows, |sample| sample.bytes as f64 / sample.operations as f64);
        let per_operation = match self.column {
            Column::Rate => size.map(|size| size / self.value * 1e3),
            _ => Some(self.value),
        };
        let rate = match self.column {
            Column::Rate => Some(self.value),
            _ => size.map(|size| size / self.value * 1e3),
        };
        match column {
            Column::Rate | Column::DurableRate => rate,
            Column::PerOperation => per_operation,
            Column::OperationMedian => Some(per_operation? / 1e3),
            Column::Wall | Column::Total if self.column == Column::Rate => {
                Some(bytes? / self.value / 1e3)
            }
            Column::Wall | Column::Total => Some(operations? * self.value / 1e6),
            _ => None,
        }
    }

    /// Returns the limit in a sentence.
    pub(crate) fn note(&self) -> String {
        format!("Limit: {}, {} {}.", self.name, three(self.value), self.column.heading())
    }
}

/// Returns the figure of the first run of all rows if it is the same, and above 0.
fn common(rows: &[&Row], figure: impl Fn(&Sample) -> f64) -> Option<f64> {
    let mut figures = rows.iter().filter_map(|row| row.samples.first()).map(figure);
    let first = figures.next()?;
    (first > 0.0 && figures.all(|other| other == first)).then_some(first)
}

/// Reads the ranges past the page cache, `depth` at a time, or one after the other if that is impossible; returns the
/// name of the way used, and the seconds.
fn read(path: &Path, ranges: &[(u64, u32)], depth: u32) -> Result<(String, f64)> {
    let largest = ranges.iter().map(|&(_, bytes)| bytes).max().unwrap_or(0) as usize;
    let options = RingOptions { depth, buffer_bytes: largest, direct: true, registered: false };
    let (mut seconds, mut name) = (Vec::new(), String::new());
    let size = format_bytes(largest as u64);
    for _ in 0..=DISK_TIMES {
        let start;
        match Ring::new(path, options)? {
            Ok(mut ring) => {
                name = format!("direct reads of {size}, {depth} at a time");
                start = Instant::now();
                ring.read_ranges(ranges.iter().copied(), |_, bytes| {
                    black_box(bytes);
                })?;
            }
            Err(_) => {
                name = format!("single reads of {size}");
                drop_cached(path)?;
                start = Instant::now();
                read_singly(path, ranges, largest)?;
            }
        }
        seconds.push(start.elapsed().as_secs_f64());
    }
    // The first one also touches the memory.
    Ok((name, median(&seconds[1..])))
}

fn read_singly(path: &Path, ranges: &[(u64, u32)], largest: usize) -> Result<()> {
    let file = open_to_read(path, false).map_err(|e| Error::io("open", path, e))?;
    let mut buffer = AlignedBuffer::new(largest);
    for &(offset, bytes) in ranges {
        let into = &mut buffer.bytes_mut()[..bytes as usize];
        file.read_exact_at(into, offset).map_err(|e| Error::io("read", path, e))?;
        black_box(into);
    }
    Ok(())
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
    use crate::state::State;

    #[test]
    fn limits_are_plausible() {
        let copy = Limit::copy(1 << 20);
        assert!((10.0..1e7).contains(&copy.value), "{copy:?}");
        let call = Limit::system_call();
        assert!((1.0..1e6).contains(&call.value), "{call:?}");
        assert!(copy.note().starts_with("Limit: memcpy of 1 MiB, "), "{}", copy.note());
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, vec![1; 3 << 20]).unwrap();
        let disk = Limit::disk(&path).unwrap();
        assert!((0.1..1e7).contains(&disk.value), "{disk:?}");
        let pages = Limit::disk_pages(&path).unwrap();
        assert!((1.0..1e9).contains(&pages.value), "{pages:?}");
        read_singly(&path, &[(0, 4096), (3 << 20, 0)], 4096).unwrap();
        assert!(read_singly(&path, &[(3 << 20, 1)], 4096).is_err(), "past the end");
    }

    /// A thousand operations of four bytes, by hand.
    #[test]
    fn limits_are_converted_to_the_unit_of_a_chart() {
        let row = |operations: u64, group: &str| {
            let (bytes, wall_seconds) = (4 * operations, 1.0);
            let sample = Sample { operations, bytes, wall_seconds, ..Sample::default() };
            Row::new(String::new(), group.into(), State::Warm, vec![sample])
        };
        let (one, many, cold) = (row(1_000, "warm"), row(5_000, "warm"), row(1_000, "cold"));
        let call = Limit::per_operation("call".into(), 200e-9);
        let copy = Limit::rate("copy".into(), 1e6).of(&["warm"]);
        for (column, of_call, of_copy) in [
            (Column::PerOperation, 200.0, 4_000.0),
            (Column::OperationMedian, 0.2, 4.0),
            (Column::Wall, 0.2, 4.0),
            (Column::Rate, 20.0, 1.0),
        ] {
            let values = [&call, &copy].map(|limit| limit.value_in(column, &[&one, &one]));
            let near =
                |value: Option<f64>, wanted: f64| (value.unwrap() / wanted - 1.0).abs() < 1e-9;
            assert!(near(values[0], of_call) && near(values[1], of_copy), "{column:?} {values:?}");
        }
        assert_eq!(call.value_in(Column::Wall, &[&one, &many]), None, "unequal work");
        assert!(call.value_in(Column::Rate, &[&one, &many]).is_some());
        assert_eq!(copy.value_in(Column::Rate, &[&one, &cold]), None, "another group");
        assert_eq!(call.value_in(Column::Faults, &[&one]), None);
    }
}
