//! Measures a disk through the engine's own `io`, and the engine itself, and derives a disk profile.
//!
//! ```text
//!  measure:   rounds of runs, block by depth, in random order --> samples
//!  choose:    the smallest block and depth as good as the best, if the halves of the rounds agree
//!  derive:    the reads of a merge                            --> profile, table
//!  slowness: time of a small job, relative to the usual one
//! ```
//! A setting changes only where that gains significantly more than 5 %, so that two measurements agree or report that
//! the machine was too noisy. All access goes through `io`, so tuning also runs on a simulated disk.

mod choose;
mod clock;
mod derive;
mod measure;
mod slowness;

use crate::random::Random;
use crate::workplace::Effort;
use choose::{Choice, Options, Setting};
pub use clock::{Clock, WallClock};
pub use derive::rows;
use measure::{Amount, Bench, MeasureKind};
use outcore::error::opt::{DIR, QUICK};
use outcore::io::{
    Confidence, DiskProfile, Figure, Files, RandomReadProfile, Transfer, TransferProfile, Tuning,
    ValidIf,
};
use outcore::progress::{Event, Observer, Stage, notify};
use outcore::{Error, ErrorKind, Result, units::format_bytes};
pub use slowness::slowness;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Result of tuning.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// Profile, to be stored with [`DiskProfile::store`].
    pub profile: DiskProfile,
    /// Notes for the reader, such as that the machine was too noisy.
    pub notes: Vec<String>,
}

/// Sizes of requests.
const BLOCKS: [usize; 8] =
    [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20];
/// Numbers of concurrent requests.
const DEPTHS: [usize; 4] = [1, 2, 4, 8];
/// Maximum number of bytes in flight: more do not fit into the caches of processors.
const IN_FLIGHT_BYTES: usize = 16 << 20;

/// Measures the disk of `directory`.
///
/// # Errors
/// `DiskTooSmall`, `DiskFull`, `Io`; `Interrupted`. No file is left behind.
pub fn tune(
    files: &Files,
    directory: &Path,
    effort: Effort,
    clock: &dyn Clock,
    observer: &dyn Observer,
) -> Result<Tuned> {
    let amount = Amount::of(effort);
    require(files, directory, amount.read_bytes + amount.write_bytes)?;
    let begin = Event::Begin { stage: Stage::Measure, total: None, unit: "runs" };
    notify(observer, begin)?;
    let bench = Bench::new(files, directory, amount, clock, observer)?;
    let mut random = Random(1);
    let mut notes = Vec::new();
    let mut profile = DiskProfile::default();
    profile.date = date();
    profile.valid_if = ValidIf::now(files, directory);
    if !bench.is_direct() {
        notes.push(
            "the file system has no direct I/O: memory would be measured instead of the disk; the defaults stay"
                .into(),
        );
        return Ok(Tuned { profile, notes });
    }
    let default = Tuning::default();
    profile.read = transfer(&bench, MeasureKind::Read, default.read, &mut random)?;
    profile.write = transfer(&bench, MeasureKind::Write, default.write, &mut random)?;
    profile.random_read = Some(random_read(&bench, &mut random)?);
    profile.derived = derive::settings(&profile);
    for (found, name) in [(&profile.read, "reads"), (&profile.write, "writes")] {
        if found.confidence == Confidence::Low {
            notes.push(format!(
                "the machine was too noisy to choose a setting for {name}: the default stays"
            ));
        }
    }
    let summary = format!("{} runs", bench.runs());
    notify(observer, Event::End { summary: &summary })?;
    Ok(Tuned { profile, notes })
}

fn require(files: &Files, directory: &Path, bytes: u64) -> Result<()> {
    match files.free_bytes(directory) {
        Some(free) if free < bytes + bytes / 8 => {
            let (bytes, free) = (format_bytes(bytes), format_bytes(free));
            Err(Error::new(ErrorKind::DiskTooSmall, format!("{bytes} are needed, {free} are free"))
                .hint(format_args!("use {DIR} on a larger disk, or {QUICK}")))
        }
        _ => Ok(()),
    }
}

/// Measures large transfers in one direction.
fn transfer(
    bench: &Bench<'_>,
    kind: MeasureKind,
    default: Transfer,
    random: &mut Random,
) -> Result<TransferProfile> {
    let default = Setting { block: default.block_bytes, depth: default.depth, direct: true };
    let mut settings = vec![default];
    for block in BLOCKS {
        for depth in DEPTHS {
            let setting = Setting { block, depth, direct: true };
            if block * depth <= IN_FLIGHT_BYTES && setting != default {
                settings.push(setting);
            }
        }
    }
    let mut options = Options { settings, samples: Vec::new(), again: Vec::new(), gain: 1.05 };
    bench.rounds(kind, &mut options, random)?;
    let mut choice = options.choose();
    if choice.confidence == Confidence::Low {
        // The same number of rounds again, before reporting too much noise.
        bench.rounds(kind, &mut options, random)?;
        choice = options.choose();
    }
    let Choice { at, confidence } = choice;
    let (latency, stream) = choose::fit(&options);
    let setting = options.settings[at];
    let buffered = Setting { direct: false, ..default };
    let direct = !bench.is_clearly_better(kind, buffered, default)?;
    Ok(TransferProfile {
        block_bytes: setting.block,
        depth: setting.depth,
        direct,
        confidence,
        bytes_per_second: Some(figure(&options.samples[at], confidence)),
        latency_seconds: latency,
        stream_bytes_per_second: stream,
    })
}

/// Measures small reads at random places, one at a time: the seeks of a merge.
fn random_read(bench: &Bench<'_>, random: &mut Random) -> Result<RandomReadProfile> {
    let settings = vec![Setting { block: 4096, depth: 1, direct: true }];
    let mut options = Options { settings, samples: Vec::new(), again: Vec::new(), gain: 1.1 };
    bench.rounds(MeasureKind::Random, &mut options, random)?;
    let confidence = options.choose().confidence;
    let seconds: Vec<f64> = options.samples[0].iter().map(|rate| 4096.0 / rate).collect();
    Ok(RandomReadProfile { seconds_at_depth_1: figure(&seconds, confidence) })
}

fn figure(values: &[f64], confidence: Confidence) -> Figure {
    let crate::statistics::Interval { middle, low, high } = crate::statistics::interval(values);
    Figure { value: middle, low, high, confidence }
}

/// Returns today's date in UTC (from days to date as H. Hinnant, "chrono-compatible low-level date algorithms",
/// 2013).
fn date() -> Option<String> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    Some(format!("{year:04}-{month:02}-{day:02}"))
}
