//! Checkpoints: saving the work of a stage so that another process can resume it.
//!
//! ```text
//!  save      every part: files made durable, arrays, state --> DIRECTORY/checkpoint, renamed into place
//!                                                               `--> files that only the last one needed are removed
//!  resume    DIRECTORY/checkpoint: complete? same input and options? its files exist? --> every part is restored
//!                                    `--no--> the reason is reported, and the job starts from scratch
//!
//!  checkpoint:  magic | arrays (`arrays`) | head, JSON | its length u64 | checksum u64
//! ```
//! - **A checkpoint is one file, absent or complete**; the next one replaces it. Its head identifies the run
//!   that it belongs to ([`Identity`]), and holds the state of every part; long lists of numbers are arrays.
//! - **Parts** ([`Checkpoint`]) are components that hold memory or files: the index of names, the sort, self
//!   scores. Large files are not copied. They only grow after the bytes that a checkpoint needs, or are
//!   written once; each part registers its own.
//! - **A checkpoint refers only to durable data.** Writers sync growing files; [`Journal::save`] syncs other
//!   new files, and their directories.
//! - **Files that a checkpoint needs are not removed.** A stage that no longer needs a file
//!   [discards](Files::discard) it, and the journal removes it when the next checkpoint has replaced the one
//!   that needs it, or when that was [withdrawn](Journal::withdraw): the replacement or withdrawal is made
//!   durable before a file is removed.
//! - **A checkpoint that is damaged, belongs to another run, or lacks files is not used.**
//!
//! A job on edges has a journal in its work directory (`job::resume`: a position in the input, runs, or the
//! graph), and its clustering has one in `sweeps` below that (`cluster::store::saves`: labels after a sweep).

mod arrays;
mod pace;

pub use arrays::{StateReader, StateWriter};

use crate::error::{Error, ErrorKind, Result};
use crate::io::{Files, Grows};
use crate::progress::{Event, Observer, notify};
use pace::Pace;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Name of the file in the journal's directory.
pub const CHECKPOINT: &str = "checkpoint";
const MAGIC: [u8; 8] = *b"OUTCHECK";

/// Part of a stage that is saved in a checkpoint.
pub trait Checkpoint: Sized {
    /// State of the part: counts, and the lengths and checksums of files.
    type State: Serialize + DeserializeOwned;
    /// Context that the part is restored in, such as its files and directory.
    type Place<'a>;

    /// Makes growing files durable, registers the files and writes the arrays of the part; returns the rest
    /// of its state.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    fn save(&mut self, to: &mut StateWriter) -> Result<Self::State>;

    /// Restores the part from its state, arrays and files.
    ///
    /// # Errors
    /// `CorruptFile` if they differ from those saved; `Io`.
    fn resume(state: &Self::State, from: &mut StateReader, place: Self::Place<'_>) -> Result<Self>;
}

/// Part that a job may lack.
impl<C: Checkpoint> Checkpoint for Option<C> {
    type State = Option<C::State>;
    type Place<'a> = C::Place<'a>;

    fn save(&mut self, to: &mut StateWriter) -> Result<Self::State> {
        self.as_mut().map(|part| part.save(to)).transpose()
    }

    fn resume(state: &Self::State, from: &mut StateReader, place: C::Place<'_>) -> Result<Self> {
        state.as_ref().map(|state| C::resume(state, from, place)).transpose()
    }
}

/// Identity of the run that a checkpoint belongs to: a run with the same identity can resume from it.
pub trait Identity: Serialize + DeserializeOwned {
    /// Returns the reason why `now` cannot resume from a checkpoint of this run, if it cannot.
    fn difference(&self, now: &Self) -> Option<String>;
}

#[cfg(any(test, feature = "sim"))]
impl Identity for () {
    fn difference(&self, _now: &Self) -> Option<String> {
        None
    }
}

/// File or directory that a checkpoint needs, below one of the journal's directories.
#[derive(Debug, Serialize, Deserialize)]
struct Need {
    below: usize,
    name: String,
    /// Location of a file that grows after its first `bytes`; it may have been finished since.
    grows: Option<Grows>,
    bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct CheckpointHead<I, S> {
    of: I,
    needs: Vec<Need>,
    state: S,
}

/// Journal that saves checkpoints in a work directory, and opens the last one of an earlier process.
pub struct Journal<I> {
    files: Files,
    path: PathBuf,
    /// Directories of all needed files: the journal's own first.
    directories: Vec<PathBuf>,
    /// Identity of the run; `None` if it cannot be recognized later, as with a pipe: then nothing is saved.
    of: Option<I>,
    pace: Pace,
    /// Files that the checkpoint needs.
    held: Vec<PathBuf>,
}

impl<I: Identity> Journal<I> {
    /// Creates a journal in the first of these directories. The files that it saves are in one of the directories, or
    /// are one of them. `pause` is the minimum time between checkpoints.
    pub fn new(files: &Files, directories: Vec<PathBuf>, of: Option<I>, pause: Duration) -> Self {
        let (path, pace) = (directories[0].join(CHECKPOINT), Pace::new(pause));
        Self { files: files.clone(), path, directories, of, pace, held: Vec::new() }
    }

    /// Whether a checkpoint exists, of any run.
    pub fn is_there(&self) -> bool {
        self.files.is_regular(&self.path)
    }

    /// Opens the checkpoint of an earlier process, if there is a usable one: its state, and the arrays.
    /// Otherwise reports the reason, preceded by `notice`.
    ///
    /// # Errors
    /// `Io`; errors of the observer.
    pub fn open<S: DeserializeOwned>(
        &mut self,
        observer: &dyn Observer,
        notice: &str,
    ) -> Result<Option<(S, StateReader)>> {
        if !self.is_there() {
            return Ok(None);
        }
        match self.read() {
            Ok((state, arrays, needs)) => {
                self.hold(&needs);
                Ok(Some((state, arrays)))
            }
            Err(error) if error.kind() == ErrorKind::CorruptFile => {
                report_from_scratch(observer, notice, error.texts().message)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn read<S: DeserializeOwned>(&self) -> Result<(S, StateReader, Vec<Need>)> {
        #[derive(Deserialize)]
        struct Always<I> {
            of: I,
        }
        let not_of = |reason: &str| Error::new(ErrorKind::CorruptFile, reason);
        let (head, arrays) = StateReader::open_whole(&self.files, &self.path, MAGIC)?;
        let unknown = |_| arrays.error("its head was written by another version");
        let Always { of } = serde_json::from_slice::<Always<I>>(&head).map_err(unknown)?;
        match &self.of {
            None => return Err(not_of("the input cannot be read again to compare it")),
            Some(now) => of.difference(now).map_or(Ok(()), |reason| Err(not_of(&reason)))?,
        }
        let CheckpointHead { state, needs, .. } =
            serde_json::from_slice::<CheckpointHead<I, S>>(&head).map_err(unknown)?;
        needs.iter().try_for_each(|need| self.check(need))?;
        Ok((state, arrays, needs))
    }

    /// Fails if a file does not exist or is too short.
    fn check(&self, need: &Need) -> Result<()> {
        let names = self.names(need);
        match names.iter().find_map(|path| self.files.entry(path).ok()) {
            None => Err(Error::corrupt(&names[0], "it no longer exists")),
            Some(entry) if entry.bytes < need.bytes => {
                Err(Error::corrupt(&entry.path, "it is truncated"))
            }
            Some(_) => Ok(()),
        }
    }

    /// Returns the paths that a file may have.
    fn names(&self, need: &Need) -> Vec<PathBuf> {
        let below = self.directories.get(need.below).unwrap_or(&self.directories[0]);
        let path = if need.name.is_empty() { below.clone() } else { below.join(&need.name) };
        need.grows.map(|grows| grows.path(&path)).into_iter().chain([path]).collect()
    }

    /// Whether a checkpoint is due.
    pub fn is_due(&self) -> bool {
        self.of.is_some() && self.pace.is_due()
    }

    /// Saves a checkpoint: the state that `parts` returns, and the arrays and files that it adds. Returns the
    /// state; `None` if no process could resume from it.
    ///
    /// # Errors
    /// `Io`, `DiskFull`: the previous checkpoint is still in place.
    pub fn save<S: Serialize>(
        &mut self,
        parts: impl FnOnce(&mut StateWriter) -> Result<S>,
    ) -> Result<Option<S>> {
        let Some(of) = &self.of else { return Ok(None) };
        let begin = Instant::now();
        let saved = self.write(of, parts);
        self.pace.saved(begin);
        let CheckpointHead { state, needs, .. } = saved?;
        self.hold(&needs);
        Ok(Some(state))
    }

    fn write<'a, S: Serialize>(
        &self,
        of: &'a I,
        parts: impl FnOnce(&mut StateWriter) -> Result<S>,
    ) -> Result<CheckpointHead<&'a I, S>> {
        let mut to = StateWriter::create(&self.files, &self.path)?;
        to.put(&MAGIC)?;
        let state = parts(&mut to)?;
        let needs = std::mem::take(&mut to.needs);
        let needs = needs.into_iter();
        let needs = needs.map(|(path, grows, bytes)| self.located(&path, grows, bytes)).collect();
        let head = CheckpointHead { of, needs, state };
        self.sync(&head.needs)?;
        let text = serde_json::to_vec(&head).expect("numbers and text are JSON");
        to.put(&text)?;
        to.put(&(text.len() as u64).to_le_bytes())?;
        // Makes the names of all files in this directory durable, not only that of the checkpoint.
        to.finish()?;
        Ok(head)
    }

    /// Returns the location of a file relative to one of the journal's directories, which may lie elsewhere for another
    /// process.
    fn located(&self, path: &Path, grows: Option<Grows>, bytes: u64) -> Need {
        let mut names = self.directories.iter().enumerate().filter_map(|(below, directory)| {
            Some((below, path.strip_prefix(directory).ok()?.to_str()?.to_owned()))
        });
        let (below, name) = names.next().expect("it is in a directory of the journal's");
        Need { below, name, grows, bytes }
    }

    /// Makes new files and their names durable. Directories are durable since their creation, and writers
    /// sync growing files.
    fn sync(&self, needs: &[Need]) -> Result<()> {
        let files = &self.files;
        let written = needs.iter().filter(|need| need.grows.is_none());
        let mut new: Vec<PathBuf> = written.flat_map(|need| self.names(need)).collect();
        new.retain(|path| !files.is_held(path) && files.is_regular(path));
        // The disk handles many requests concurrently.
        new.par_iter().try_for_each(|path| files.sync(path))?;
        let mut directories: BTreeMap<_, _> =
            new.iter().map(|path| (path.parent(), path)).collect();
        directories.remove(&self.path.parent());
        // Renaming a file to its own name syncs its directory.
        directories.values().try_for_each(|path| files.publish(path, path))
    }

    /// Withdraws the checkpoint, so that no process resumes from it; then removes the files that were discarded.
    ///
    /// # Errors
    /// `Io`.
    pub fn withdraw(&mut self) -> Result<()> {
        if self.files.entry(&self.path).is_ok() {
            // Removed by renaming, which is durable, and possible on a full disk.
            let withdrawn = Grows::Apart.path(&self.path);
            self.files.publish(&self.path, &withdrawn)?;
            self.files.discard(&withdrawn);
        }
        self.hold(&[]);
        Ok(())
    }

    /// Whether `path` is the checkpoint or a file that it needs.
    pub fn needs(&self, path: &Path) -> bool {
        path == self.path || self.held.iter().any(|held| held == path)
    }

    fn hold(&mut self, needs: &[Need]) {
        let now: Vec<PathBuf> = needs.iter().flat_map(|need| self.names(need)).collect();
        self.files.hold(&self.held, &now);
        self.held = now;
    }
}

impl<I> Drop for Journal<I> {
    fn drop(&mut self) {
        self.files.leave(&self.held);
    }
}

/// Reports that the work of an earlier process is not used, and why.
///
/// # Errors
/// Errors of the observer.
pub fn report_from_scratch(
    observer: &dyn Observer,
    notice: &str,
    reason: impl fmt::Display,
) -> Result<()> {
    notify(observer, Event::Warning { text: &format_args!("{notice}: {reason}").into() })
}
