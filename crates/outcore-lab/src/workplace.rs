//! Work directory of the laboratory, below the directory that the user names; removed at the end.

use crate::foreign::Foreign;
use crate::random::Random;
use outcore::error::opt::{DIR, QUICK};
use outcore::io::{Files, Scratch};
use outcore::progress::{Event, Observer, Stage, notify};
use outcore::units::format_bytes;
use outcore::{Error, ErrorKind, Result};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Amount of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// All experiments in less than two minutes.
    Quick,
    /// Enough rounds for intervals: a few minutes.
    Default,
    /// Files larger than the caches and many rounds: tens of minutes.
    Full,
}

impl Effort {
    /// Returns the number of runs of each method. Less effort means smaller files and fewer rows, never fewer rounds
    /// than a verdict needs.
    pub fn rounds(self) -> u32 {
        match self {
            Self::Quick => 12,
            Self::Default => 14,
            Self::Full => 16,
        }
    }
}

/// Work directory, with the observer that is notified of progress.
pub struct Workplace<'a> {
    scratch: Scratch,
    files: Files,
    foreign: Foreign,
    /// Amount of measurement.
    pub effort: Effort,
    /// Seed of the order of runs and of the data.
    pub seed: u64,
    /// Notified of progress; decides whether to continue.
    pub observer: &'a dyn Observer,
    /// Whether runs that the machine disturbed are repeated.
    pub(crate) repeats: bool,
    /// Error that ended an experiment early, until the measurements so far are reported.
    ended: RefCell<Option<Error>>,
}

impl<'a> Workplace<'a> {
    /// Creates the work directory.
    ///
    /// # Errors
    /// `Io`; `Usage` if another laboratory is running in `directory`.
    pub fn create(
        directory: &Path,
        effort: Effort,
        seed: u64,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let files = Files::default();
        let scratch = Scratch::create(&files, directory, ".lab.outcore")?;
        let foreign = Foreign::new(&files, scratch.path(), false);
        let ended = RefCell::new(None);
        Ok(Self { scratch, files, foreign, effort, seed, observer, repeats: true, ended })
    }

    /// Ends measuring with an error, which is returned after the measurements so far are reported.
    pub(crate) fn end(&self, error: Error) {
        self.ended.borrow_mut().get_or_insert(error);
    }

    /// Returns whether measuring has ended early.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Returns the error that has ended measuring, once.
    pub(crate) fn take_end(&self) -> Option<Error> {
        self.ended.take()
    }

    /// Sets whether runs that the machine disturbed are repeated; by default they are.
    #[must_use]
    pub fn repeat(mut self, repeat: bool) -> Self {
        self.repeats = repeat;
        self
    }

    /// Sets whether methods in other languages are compiled and measured; by default they are not.
    #[must_use]
    pub fn compile(mut self, compile: bool) -> Self {
        self.foreign = Foreign::new(&self.files, self.scratch.path(), compile);
        self
    }

    /// Returns the programs in other languages.
    pub fn foreign(&self) -> &Foreign {
        &self.foreign
    }

    /// Returns the path of a file in the work directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Returns the engine's file access.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Checks whether the disk has room for `bytes` and one eighth more.
    ///
    /// # Errors
    /// `DiskTooSmall` if it does not.
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

    /// Writes `bytes` of incompressible data to a new file, synced and not in the page cache.
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

    /// Reports the beginning of an experiment of `runs` runs.
    ///
    /// # Errors
    /// `Interrupted`.
    pub fn begin(&self, runs: u64) -> Result<()> {
        notify(
            self.observer,
            Event::Begin { stage: Stage::Measure, total: Some(runs), unit: "runs" },
        )
    }

    /// Reports the current activity.
    ///
    /// # Errors
    /// `Interrupted`.
    pub fn detail(&self, text: &str) -> Result<()> {
        notify(self.observer, Event::Detail { text })
    }

    /// Reports how many runs are done.
    ///
    /// # Errors
    /// `Interrupted`.
    pub fn advance(&self, done: u64) -> Result<()> {
        notify(self.observer, Event::Advance { done })
    }
}
