//! Sequential writing of a new file: through the page cache, past it, and with the engine's writer.
//!
//! All methods write the same pages; the measure is the time until they are durable.

use super::MIB;
use super::written::{failed, remove, sum_of_pages, sync};
use crate::api::memory::recycle;
use crate::engine::{Watched, Way};
use crate::meter::{Cost, Outcome};
use crate::random::Random;
use crate::report::{Chart, Column, Experiment, Limit, three};
use crate::rounds::{self, Method};
use crate::row::Missing;
use crate::state::State;
use crate::workplace::{Effort, Workplace};
use outcore::Result;
use outcore::io::{AlignedBuffer, Writer};
use outcore::units::format_bytes;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::Instant;

/// Bytes of the data that are written repeatedly: more than a transfer, less than a cache.
const PATTERN_BYTES: usize = 4 << 20;

/// Amount of measurement.
#[derive(Debug, Clone, Copy)]
pub struct SequentialWriteParameters {
    /// Size of the file in bytes, rounded up to a multiple of 4 MiB.
    pub bytes: u64,
    /// Number of runs of each method.
    pub rounds: u32,
}

impl SequentialWriteParameters {
    /// Returns the parameters of an effort.
    pub fn of(effort: Effort) -> Self {
        let bytes = match effort {
            Effort::Quick => 64 << 20,
            Effort::Default => 384 << 20,
            Effort::Full => 1 << 30,
        };
        Self { bytes, rounds: effort.rounds() }
    }
}

/// Way to write with system calls.
#[derive(Debug, Clone, Copy)]
struct Plain {
    direct: bool,
    /// Bytes of a transfer.
    transfer: usize,
    preallocate: bool,
    /// Whether pages leave the page cache as soon as they are written.
    uncached: bool,
}

impl Plain {
    const CACHED: Self = Self { direct: false, transfer: MIB, preallocate: false, uncached: false };
    const DIRECT: Self = Self { direct: true, ..Self::CACHED };

    fn methods() -> [(&'static str, Self); 7] {
        let (cached, direct) = (Self::CACHED, Self::DIRECT);
        let large = Self { transfer: 4 * MIB, ..direct };
        [
            ("write, 1 MiB", cached),
            ("write, 1 MiB, preallocated", Self { preallocate: true, ..cached }),
            ("write, 1 MiB, uncached (RWF_DONTCACHE)", Self { uncached: true, ..cached }),
            ("direct write, 1 MiB", direct),
            ("direct write, 1 MiB, preallocated", Self { preallocate: true, ..direct }),
            ("direct write, 4 MiB", large),
            ("direct write, 4 MiB, preallocated", Self { preallocate: true, ..large }),
        ]
    }

    fn open(self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(target_os = "linux")]
        if self.direct {
            use std::os::unix::fs::OpenOptionsExt;
            options.custom_flags(rustix::fs::OFlags::DIRECT.bits() as i32);
        }
        options.open(path)
    }

    /// Writes the pattern repeatedly until the file has `bytes` bytes.
    fn write(self, path: &Path, bytes: u64, pattern: &[u8]) -> io::Result<()> {
        let file = self.open(path)?;
        #[cfg(target_os = "linux")]
        if self.preallocate {
            rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes)?;
        }
        let mut written = 0u64;
        while written < bytes {
            let from = (written % pattern.len() as u64) as usize;
            let count = self.transfer.min(pattern.len() - from).min((bytes - written) as usize);
            written += self.transfer(&file, written, &pattern[from..from + count])? as u64;
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn transfer(self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        use rustix::io::ReadWriteFlags;
        /// Flag that the headers of older systems lack.
        const RWF_DONTCACHE: u32 = 0x80;
        let flags = if self.uncached { RWF_DONTCACHE } else { 0 };
        let flags = ReadWriteFlags::from_bits_retain(flags);
        Ok(rustix::io::pwritev2(file, &[io::IoSlice::new(bytes)], offset, flags)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn transfer(self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(file, bytes, offset)
    }

    /// Returns the reason why this cannot be done here; `None` if it can.
    fn reason(self, path: &Path, pattern: &[u8]) -> Option<String> {
        if cfg!(not(target_os = "linux")) && (self.direct || self.preallocate || self.uncached) {
            return Some("this system has no such call".into());
        }
        let result = self.write(path, pattern.len() as u64, pattern);
        result.err().map(|error| format!("the file system refuses it: {error}"))
    }
}

/// Writes with the engine's writer; `depth` is the number of buffers besides the one being filled.
fn engine(
    path: &Path,
    bytes: u64,
    pattern: &[u8],
    (buffer, depth): (usize, usize),
) -> Result<Outcome> {
    let (watched, files) = Watched::files(Way::Own);
    let mut writer = Writer::create(&files, path, buffer, depth)?;
    while writer.position() < bytes {
        let from = (writer.position() % pattern.len() as u64) as usize;
        let count = MIB.min((bytes - writer.position()) as usize);
        writer.write(&pattern[from..from + count])?;
    }
    writer.finish()?;
    let sync_seconds = Some(watched.sync_seconds());
    Ok(Outcome { operations: bytes / MIB as u64, bytes, sync_seconds, ..Outcome::default() })
}

fn plain(path: &Path, bytes: u64, pattern: &[u8], how: Plain) -> Result<Outcome> {
    how.write(path, bytes, pattern).map_err(failed("write", path))?;
    let start = Instant::now();
    sync(path)?;
    Ok(Outcome {
        operations: bytes / how.transfer as u64,
        bytes,
        sync_seconds: Some(start.elapsed().as_secs_f64()),
        system_calls: Some(bytes / how.transfer as u64 + 5 + u64::from(how.preallocate)),
        ..Outcome::default()
    })
}

/// Run of a method.
type WriteRun<'a> = Box<dyn FnMut() -> Result<Outcome> + 'a>;

/// Rows of the engine: the name, the bytes of a buffer, and the number of buffers besides the one being filled.
const ENGINE: [(&str, usize, usize); 4] = [
    ("outcore writer, 1 MiB x 2", MIB, 2),
    ("outcore writer, 1 MiB x 4", MIB, 4),
    ("outcore writer, 2 MiB x 2", 2 * MIB, 2),
    ("outcore writer, 4 MiB x 2", 4 * MIB, 2),
];

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>, parameters: SequentialWriteParameters) -> Result<Experiment> {
    let bytes = parameters.bytes.next_multiple_of(PATTERN_BYTES as u64);
    workplace.require(bytes)?;
    let path = workplace.path("sequential-write");
    let mut buffer = AlignedBuffer::new(PATTERN_BYTES);
    let mut random = Random(workplace.seed);
    for word in buffer.bytes_mut().chunks_exact_mut(8) {
        word.copy_from_slice(&random.word().to_le_bytes());
    }
    let pattern = buffer.bytes();
    let (mut runs, mut missing) = (Vec::<(&str, WriteRun<'_>)>::new(), Vec::new());
    let path = path.as_path();
    for (name, how) in Plain::methods() {
        match how.reason(path, pattern) {
            Some(reason) => missing.push(Missing { name: name.into(), reason }),
            None => runs.push((name, Box::new(move || plain(path, bytes, pattern, how)))),
        }
    }
    for (name, buffer, depth) in ENGINE {
        runs.push((name, Box::new(move || engine(path, bytes, pattern, (buffer, depth)))));
    }
    let method = |(name, run)| {
        let method = Method::new(name, State::New, None, run);
        let method = method.prepare(move || {
            remove(path)?;
            recycle(bytes as usize);
            Ok(())
        });
        method.check(|| sum_of_pages(path))
    };
    let methods = runs.into_iter().map(method).collect();
    let mut measured = rounds::run(workplace, methods, parameters.rounds)?;
    let disk = path.exists().then(|| Limit::disk(path)).transpose()?;
    remove(path)?;
    measured.missing.extend(missing);
    let columns = vec![
        Column::Wall,
        Column::Sync,
        Column::Total,
        Column::User,
        Column::System,
        Column::DurableRate,
        Column::Ratio,
    ];
    let question = "Which way of writing a large file makes it durable fastest?";
    let mut experiment = Experiment::new("sequential-write", question, columns, measured)
        .compared_by(Cost::DurableByte)
        .parameter("file", format_bytes(bytes))
        .parameter("rounds", parameters.rounds)
        .limit(Limit::copy_of_file(bytes));
    if let Some(disk) = disk {
        experiment = experiment.limit(disk);
    }
    experiment.charts = vec![Chart::Bars { column: Column::DurableRate, logarithmic: false }];
    experiment.finding = finding(&experiment);
    experiment.notes.push("ratios compare elapsed times that include the sync".into());
    experiment.notes.push(
        "the outcore writer allocates new buffers in each run: the cost of first touching their pages matters for a small file, not for a large one"
            .into(),
    );
    experiment.notes.push(
        "the outcore writer copies into its own buffers, writes them on its own thread, and finally renames the file and syncs the directory"
            .into(),
    );
    Ok(experiment)
}

fn finding(experiment: &Experiment) -> String {
    let rows = experiment.rows.iter().filter_map(|row| {
        let is_engine = ENGINE.iter().any(|(name, ..)| *name == row.name);
        Some((is_engine, row, Column::DurableRate.value(row)?))
    });
    let best_of = |wanted: bool| {
        let rows = rows.clone().filter(|(is_engine, ..)| *is_engine == wanted);
        rows.max_by(|a, b| a.2.total_cmp(&b.2))
    };
    let (Some((_, best, rate)), Some((_, _, own))) = (best_of(false), best_of(true)) else {
        return "too few rows to compare".into();
    };
    let against = match (experiment.rows.first(), best.differs()) {
        (Some(first), true) if first.name != best.name => {
            let times = best.ratio.map_or(1.0, |ratio| 1.0 / ratio.middle);
            format!("{} is fastest, {}x as fast as {}", best.name, three(times), first.name)
        }
        (Some(first), _) => format!("no way was shown to be faster than {}", first.name),
        (None, _) => String::new(),
    };
    format!(
        "{against} ({} MB/s durable); the outcore writer reaches {:.0} % of that rate.",
        three(rate),
        own / rate * 100.0
    )
}
