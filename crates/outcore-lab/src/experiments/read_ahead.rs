//! Read-ahead: what does the system read before it is asked to, and does advice (`posix_fadvise`) help?
//!
//! Cold reads of 64 KiB in three patterns, each without advice and with each kind of it. The bytes that the disk
//! delivered, compared with those that were used, show how the system responded to the advice.

use super::compare::{rows, seconds};
use super::positions::value;
use crate::api::memory::recycle;
use crate::meter::{Cost, Outcome};
use crate::random::Random;
use crate::report::{Chart, Column, Experiment, Limit, three};
use crate::rounds::{self, Method};
use crate::state::State;
use crate::workplace::{Effort, Workplace};
use outcore::units::format_bytes;
use outcore::{Error, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of a read.
const READ: usize = 64 << 10;
/// Stride of the reads that skip, in reads; reads in random order also cover only one in this number.
const EVERY: usize = 4;
/// Number of reads announced in advance.
const ANNOUNCED: usize = 16;

/// Amount of measurement.
#[derive(Debug, Clone, Copy)]
pub struct ReadAheadParameters {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Number of runs of each way.
    pub rounds: u32,
}

impl ReadAheadParameters {
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

/// Advice that the program gives about its reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Nothing,
    Sequential,
    Random,
    /// The whole file will be needed.
    Whole,
    /// Each read, announced some reads ahead.
    Each,
}

const ADVICE: [(&str, Said); 5] = [
    ("no advice", Said::Nothing),
    ("sequential", Said::Sequential),
    ("random", Said::Random),
    ("the whole file will be needed", Said::Whole),
    ("each read announced", Said::Each),
];

/// Gives advice on `len` bytes; `None` means up to the end.
#[cfg(target_os = "linux")]
fn advise(file: &File, offset: u64, len: Option<u64>, said: Said) -> std::io::Result<()> {
    use rustix::fs::{Advice, fadvise};
    let advice = match said {
        Said::Nothing => return Ok(()),
        Said::Sequential => Advice::Sequential,
        Said::Random => Advice::Random,
        Said::Whole | Said::Each => Advice::WillNeed,
    };
    let len = len.and_then(std::num::NonZeroU64::new);
    Ok(fadvise(file, offset, len, advice)?)
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &File, _: u64, _: Option<u64>, said: Said) -> std::io::Result<()> {
    match said {
        Said::Nothing => Ok(()),
        _ => Err(std::io::ErrorKind::Unsupported.into()),
    }
}

/// Reads at `offsets`, in this order.
fn read(path: &Path, offsets: &[u64], said: Said) -> Result<Outcome> {
    let fail = |e| Error::io("read", path, e);
    let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
    let announce = |offset: &u64| advise(&file, *offset, Some(READ as u64), said);
    let mut calls = 2 + offsets.len() as u64;
    if said == Said::Each {
        calls += offsets.len() as u64;
        offsets.iter().take(ANNOUNCED).try_for_each(announce).map_err(fail)?;
    } else if said != Said::Nothing {
        calls += 1;
        advise(&file, 0, None, said).map_err(fail)?;
    }
    let mut block = vec![0; READ];
    let mut sum = 0;
    for (number, &offset) in offsets.iter().enumerate() {
        if let Some(later) = offsets.get(number + ANNOUNCED).filter(|_| said == Said::Each) {
            announce(later).map_err(fail)?;
        }
        file.read_exact_at(&mut block, offset).map_err(fail)?;
        sum += u64::from(value(&block)) + u64::from(value(&block[READ - 4..]));
    }
    Ok(Outcome {
        checksum: sum,
        operations: offsets.len() as u64,
        bytes: (offsets.len() * READ) as u64,
        system_calls: Some(calls),
        ..Outcome::default()
    })
}

/// Returns the patterns with their names: the offsets of the reads.
fn patterns(bytes: u64, seed: u64) -> [(&'static str, Vec<u64>); 3] {
    let all: Vec<u64> = (0..bytes / READ as u64).map(|number| number * READ as u64).collect();
    let some: Vec<u64> = all.iter().copied().step_by(EVERY).collect();
    let mut random = all.clone();
    Random(seed ^ 4).shuffle(&mut random);
    random.truncate(some.len());
    [("front to back", all), ("every fourth block", some), ("in random order", random)]
}

/// Runs the experiment.
///
/// # Errors
/// `Io`, `DiskTooSmall`, `DiskFull`; `Interrupted`.
pub fn run(workplace: &Workplace<'_>, parameters: ReadAheadParameters) -> Result<Experiment> {
    let bytes = parameters.bytes.next_multiple_of(READ as u64);
    let path = workplace.make_file("read-ahead", bytes)?;
    let patterns = patterns(bytes, workplace.seed);
    let mut methods = Vec::new();
    for (group, offsets) in &patterns {
        for (name, said) in ADVICE {
            if said != Said::Nothing && !cfg!(target_os = "linux") {
                continue;
            }
            let file = path.as_path();
            let run = move || read(file, offsets, said);
            let method = Method::new(name, State::Cold, Some(path.clone()), run).group(*group);
            methods.push(method.prepare(move || {
                recycle(bytes as usize);
                Ok(())
            }));
        }
    }
    let disk = Limit::disk(&path)?;
    let measured = rounds::run(workplace, methods, parameters.rounds)?;
    workplace.files().remove(&path)?;
    let columns = vec![
        Column::Wall,
        Column::Rate,
        Column::System,
        Column::SystemCalls,
        Column::Switches,
        Column::ReadBytes,
        Column::Amplification,
        Column::Ratio,
    ];
    let question = "What does the system read before it is asked to, and does advice help?";
    let mut experiment = Experiment::new("read-ahead", question, columns, measured)
        .compared_by(Cost::Byte)
        .parameter("file", format_bytes(bytes))
        .parameter("read", format_bytes(READ as u64))
        .parameter("announced before", format!("{ANNOUNCED} reads"))
        .parameter("rounds", parameters.rounds)
        .limit(disk);
    experiment.charts = vec![Chart::Bars { column: Column::Rate, logarithmic: false }];
    experiment.finding = finding(&experiment, patterns.iter().map(|(group, _)| *group));
    Ok(experiment)
}

/// Describes, for each pattern, what is read without advice, and which advice was shown to help.
fn finding<'a>(experiment: &Experiment, groups: impl Iterator<Item = &'a str>) -> String {
    let sentences = groups.filter_map(|group| {
        let plain = rows(experiment, group).next()?;
        let read = match Column::Amplification.value(plain) {
            Some(times) => format!(", and the disk delivers {}x what is used", three(times)),
            None => String::new(),
        };
        let said = rows(experiment, group).skip(1);
        let helps =
            said.filter(|row| row.ratio.is_some_and(|ratio| ratio.differs() && ratio.middle < 1.0));
        let advice = match helps.min_by(|a, b| seconds(a).total_cmp(&seconds(b))) {
            Some(best) => format!(
                "`{}` is {}x as fast",
                best.name,
                three(best.ratio.map_or(1.0, |ratio| 1.0 / ratio.middle))
            ),
            None => "no advice was shown to help".into(),
        };
        let rate = Column::Rate.value(plain)?;
        Some(format!("Read {group}, {} MB/s arrive without advice{read}; {advice}.", three(rate)))
    });
    sentences.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn patterns_have_distinct_reads_within_the_file() {
        for (name, offsets) in patterns(64 * READ as u64, 5) {
            let distinct: BTreeSet<u64> = offsets.iter().copied().collect();
            assert_eq!(distinct.len(), offsets.len(), "{name}");
            let expected = if name == "front to back" { 64 } else { 64 / EVERY };
            assert_eq!(offsets.len(), expected, "{name}");
            assert!(offsets.iter().all(|offset| offset + READ as u64 <= 64 * READ as u64));
        }
    }
}
