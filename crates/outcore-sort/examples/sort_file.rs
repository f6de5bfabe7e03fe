//! Sorts a file of records that is larger than the memory limit: a log of visits, by user and time.
//!
//! ```text
//! cargo run --release --example sort_file
//! ```
//! Any record of a few numbers can be sorted like this: [`records!`] declares its fields, of which the first two are the
//! sort key. In temporary files, numbers are differences: adjacent records are similar once sorted, so these take little
//! space. A type can also define its own key and encoding, as an `outcore_sort::Record`.

use outcore_io::Result;
use outcore_io::units::{format_bytes, format_counted};
use outcore_io::{Files, Mode, Scratch, Writer};
use outcore_sort::{RowSorter, SORT_BYTES_MIN, SortSummary, records};
use std::path::Path;

records! {
    /// Entry of the log, 16 bytes in the file: ordered by user and time.
    struct Visit {
        user: u64,
        second: u32,
        page: u32,
    }
}

const VISIT_BYTES: usize = 16;

impl Visit {
    fn to_bytes(self) -> [u8; VISIT_BYTES] {
        let mut bytes = [0; VISIT_BYTES];
        bytes[..8].copy_from_slice(&self.user.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.second.to_le_bytes());
        bytes[12..].copy_from_slice(&self.page.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; VISIT_BYTES]) -> Self {
        let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
        let user = u64::from(number(4)) << 32 | u64::from(number(0));
        Self { user, second: number(8), page: number(12) }
    }
}

/// Sorts the visits in `input` into `output`, with at most `memory` bytes for the sort. Temporary files are next to the
/// output.
fn sort(files: &Files, input: &Path, output: &Path, memory: u64) -> Result<SortSummary> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // If this process is killed, the next one finds the directory by name and removes it.
    let parent = output.parent().unwrap_or(Path::new("."));
    let scratch = Scratch::create(files, parent, ".sort_file")?;
    let mut sorter = RowSorter::new(files, scratch.path(), memory, threads)?;
    let log = files.open(input, Mode::Read)?;
    let mut bytes = vec![0; 1 << 20];
    for begin in (0..log.bytes()?).step_by(bytes.len()) {
        let len = log.read_at(begin, &mut bytes)?;
        let (visits, _) = bytes[..len].as_chunks();
        visits.iter().try_for_each(|visit| sorter.add(Visit::from_bytes(visit)))?;
    }
    let mut sorted = sorter.finish()?;
    let mut writer = Writer::create(files, output, 1 << 20, 2)?;
    while let Some(visit) = sorted.next_row()? {
        writer.write(&visit.to_bytes())?;
    }
    writer.finish()?;
    Ok(sorted.summary())
}

/// Returns a checksum that is independent of order, to check that no visit is lost.
fn checksum(visits: &[[u8; VISIT_BYTES]]) -> u64 {
    let visits = visits.iter().map(Visit::from_bytes);
    visits.fold(0, |sum, visit| {
        sum.wrapping_add(visit.user ^ u64::from(visit.second) << 32 ^ u64::from(visit.page))
    })
}

/// Writes `count` visits in random order. Returns their checksum.
fn make(files: &Files, path: &Path, count: u64) -> Result<u64> {
    let mut writer = Writer::create(files, path, 1 << 20, 2)?;
    let (mut state, mut sum) = (1u64, 0u64);
    for _ in 0..count {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let visit = Visit { user: state >> 44, second: (state >> 12) as u32, page: state as u32 };
        let bytes = visit.to_bytes();
        sum = sum.wrapping_add(checksum(&[bytes]));
        writer.write(&bytes)?;
    }
    writer.finish()?;
    Ok(sum)
}

/// Returns whether the visits in a file are in order, and their checksum.
fn check(files: &Files, path: &Path) -> Result<(bool, u64)> {
    let file = files.open(path, Mode::Read)?;
    let (mut bytes, mut last) = (vec![0; 1 << 20], (0, 0));
    let (mut is_sorted, mut sum) = (true, 0u64);
    for begin in (0..file.bytes()?).step_by(bytes.len()) {
        let len = file.read_at(begin, &mut bytes)?;
        let (visits, _) = bytes[..len].as_chunks();
        for visit in visits {
            let visit = Visit::from_bytes(visit);
            let key = (visit.user, visit.second);
            is_sorted &= last <= key;
            last = key;
        }
        sum = sum.wrapping_add(checksum(visits));
    }
    Ok((is_sorted, sum))
}

#[expect(clippy::print_stdout, reason = "a program")]
pub(crate) fn main() -> Result<()> {
    let files = Files::default();
    let directory = tempfile::tempdir().expect("a directory for temporary files");
    let [input, output] = ["log", "sorted"].map(|name| directory.path().join(name));
    let (count, memory) = (3_000_000, SORT_BYTES_MIN);
    let sum = make(&files, &input, count)?;
    let bytes = files.entry(&input)?.bytes;
    assert!(bytes > 2 * memory, "the file is larger than the memory");
    let summary = sort(&files, &input, &output, memory)?;
    assert!(summary.record_count == count && summary.run_count > 1);
    assert_eq!(check(&files, &output)?, (true, sum));
    println!(
        "sorted {} ({}) in {} of memory: {} merged at once",
        format_counted(count, "visit", "visits"),
        format_bytes(bytes),
        format_bytes(memory),
        format_counted(summary.run_count, "run", "runs"),
    );
    Ok(())
}
