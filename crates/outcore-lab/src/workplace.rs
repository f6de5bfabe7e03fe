//! Where the laboratory works: one directory below the one that the user names, removed at the end.

use crate::foreign::Foreign;
use crate::random::Random;
use outcore::error::opt::{DIR, QUICK};
use outcore::io::{Files, Scratch};
use outcore::progress::{Event, Observer, Stage, notify};
use outcore::units::format_bytes;
use outcore::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// All experiments in less than 90 seconds.
    Quick,
    /// Enough for intervals: some minutes.
    Default,
    /// Files larger than caches, many rounds: some tens of minutes.
    Full,
}

/// The directory, and who is told what happens.
pub struct Workplace<'a> {
    scratch: Scratch,
    files: Files,
    foreign: Foreign,
    /// How much is measured.
    pub effort: Effort,
    /// For orders and data.
    pub seed: u64,
    /// Told of progress; asked whether to go on.
    pub observer: &'a dyn Observer,
}

impl<'a> Workplace<'a> {
    /// Makes the directory.
    ///
    /// # Errors
    /// `Io`; `Usage` if another laboratory works in `directory`.
    pub fn create(
        directory: &Path,
        effort: Effort,
        seed: u64,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let files = Files::default();
        let scratch = Scratch::create(&files, directory, ".lab.outcore")?;
        let foreign = Foreign::new(&files, scratch.path(), false);
        Ok(Self { scratch, files, foreign, effort, seed, observer })
    }

    /// Whether methods in other languages are compiled and measured; they are not unless asked for.
    #[must_use]
    pub fn compile(mut self, compile: bool) -> Self {
        self.foreign = Foreign::new(&self.files, self.scratch.path(), compile);
        self
    }

    /// Programs in other languages.
    pub fn foreign(&self) -> &Foreign {
        &self.foreign
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// The engine's files.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Refuses to begin what would fill the disk.
    ///
    /// # Errors
    /// `DiskTooSmall`.
    pub fn require(&self, bytes: u64) -> Result<()> {
        match self.files.free_bytes(self.scratch.path()) {
            Some(free) if free < bytes + bytes / 8 => Err(Error::new(
                ErrorKind::DiskTooSmall,
                format!(
                    "the experiment needs {}, {} are free",
                    format_bytes(bytes),
                    format_bytes(free)
                ),
            )
            .hint(format_args!("use {DIR} on a larger disk, or {QUICK}"))),
            _ => Ok(()),
        }
    }

    /// Writes `bytes` of data that cannot be compressed to a new file, synced and out of memory.
    ///
    /// # Errors
    /// `DiskTooSmall`, `DiskFull`, `Io`; `Interrupted`.
    pub fn make_file(&self, name: &str, bytes: u64) -> Result<PathBuf> {
        self.require(bytes)?;
        let path = self.path(name);
        let mut writer = outcore::io::Writer::create(&self.files, &path, 1 << 20, 4)?;
        let mut random = Random(self.seed);
        let mut block = vec![0u8; 1 << 20];
        let mut left = bytes as usize;
        while left > 0 {
            self.detail("writing the file")?;
            let count = left.min(block.len());
            for word in block.chunks_exact_mut(8) {
                word.copy_from_slice(&random.word().to_le_bytes());
            }
            writer.write(&block[..count])?;
            left -= count;
        }
        writer.finish()?;
        Ok(path)
    }

    /// Begins an experiment of so many runs.
    ///
    /// # Errors
    /// `Interrupted`.
    pub fn begin(&self, runs: u64) -> Result<()> {
        notify(
            self.observer,
            Event::Begin { stage: Stage::Measure, total: Some(runs), unit: "runs" },
        )
    }

    /// Tells what is done now.
    ///
    /// # Errors
    /// `Interrupted`.
    pub fn detail(&self, text: &str) -> Result<()> {
        notify(self.observer, Event::Detail { text })
    }

    /// Tells how many runs are done.
    ///
    /// # Errors
    /// `Interrupted`.
    pub fn advance(&self, done: u64) -> Result<()> {
        notify(self.observer, Event::Advance { done })
    }
}
