//! Resuming: how a stage saves what it has done, so that another process can resume it.
//!
//! ```text
//!  save      every part: files made durable, arrays, state --> DIRECTORY/checkpoint, renamed into place when it is durable
//!                                                               `--> files that only the one before has needed are removed
//!  resume    DIRECTORY/checkpoint: whole? of the same input and options? are its files there? --> every part is made again
//!                                    `--no--> the reason is told, and the job starts from scratch
//!
//!  checkpoint:  magic | arrays (`arrays`) | head, JSON | its length u64 | checksum u64
//! ```
//! - **A checkpoint is one file, absent or complete**; the next one takes its place. Its head says what it is of
//!   ([`Identity`]), and holds the state of every part; long lists of numbers are arrays.
//! - **Parts** ([`Checkpoint`]) are what has memory or files: the index of names, the sort, self scores. Large files are not
//!   copied. They only grow behind what a checkpoint needs of them, or are written once; each part names its own.
//! - **Nothing stands in a checkpoint before it is durable.** Writers sync what grows; [`Journal::save`] syncs the
//!   other files that are new, and the directories that they are in.
//! - **Nothing that a checkpoint needs is removed.** Who has used a file up [discards](Files::discard) it, and the journal
//!   removes it when the next checkpoint has taken the place of the one that needs it, or was
//!   [withdrawn](Journal::withdraw): that is made durable before a file goes.
//! - **A checkpoint that is damaged, of something else, or without its files is not used.**
//!
//! A job on edges has a journal in its work directory (`job::resume`: a place in the input, runs, or the graph), and
//! so has its clustering in `sweeps` below that (`cluster::saves`: labels after a sweep).

mod arrays;
mod pace;
#[cfg(test)]
mod tests;

pub(crate) use arrays::{StateReader, StateWriter};

use crate::error::{Error, ErrorKind, Result};
use crate::io::{Files, Grows};
use crate::progress::{Event, Observer, notify};
use pace::Pace;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the file in the journal's directory.
pub(crate) const CHECKPOINT: &str = "checkpoint";
const MAGIC: [u8; 8] = *b"OUTCHECK";

/// A part of a stage that is saved in a checkpoint.
pub(crate) trait Checkpoint: Sized {
    /// Counts, and the lengths and checksums of files.
    type State: Serialize + DeserializeOwned;
    /// What it works with, and where.
    type Place<'a>;

    /// Makes durable what grows, names its files and writes its arrays; returns the rest.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    fn save(&mut self, to: &mut StateWriter) -> Result<Self::State>;

    /// Makes it again from its state, arrays and files.
    ///
    /// # Errors
    /// `CorruptFile` if they are not what was saved; `Io`.
    fn resume(state: &Self::State, from: &mut StateReader, place: Self::Place<'_>) -> Result<Self>;
}

/// A part that a job may be without.
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

/// What a checkpoint is of: who is of the same can resume from it.
pub(crate) trait Identity: Serialize + DeserializeOwned {
    /// Why `now` cannot resume from a checkpoint of this, if it cannot.
    fn difference(&self, now: &Self) -> Option<String>;
}

#[cfg(test)]
impl Identity for () {
    fn difference(&self, (): &Self) -> Option<String> {
        None
    }
}

/// A file or directory that a checkpoint needs, below one of the journal's directories.
#[derive(Debug, Serialize, Deserialize)]
struct Need {
    below: usize,
    name: String,
    /// How it grows behind its first `bytes`, if it does; it may be finished since.
    grows: Option<Grows>,
    bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct CheckpointHead<I, S> {
    of: I,
    needs: Vec<Need>,
    state: S,
}

/// Saves checkpoints in a directory of the job's own, and opens the last one of an earlier process.
pub(crate) struct Journal<I> {
    files: Files,
    path: PathBuf,
    /// Where all that it needs is: its own directory first.
    directories: Vec<PathBuf>,
    /// Nothing if nobody could know again what it is of, such as a pipe: then nothing is saved.
    of: Option<I>,
    pace: Pace,
    /// What the checkpoint needs.
    held: Vec<PathBuf>,
}

impl<I: Identity> Journal<I> {
    /// A journal in the first of these directories, for files in any of them, or that are one of them; with at
    /// least so much time between one checkpoint and the next that is due.
    pub(crate) fn new(
        files: &Files,
        directories: Vec<PathBuf>,
        of: Option<I>,
        pause: Duration,
    ) -> Self {
        let (path, pace) = (directories[0].join(CHECKPOINT), Pace::new(pause));
        Self { files: files.clone(), path, directories, of, pace, held: Vec::new() }
    }

    /// Whether there is a checkpoint, of whatever it may be.
    pub(crate) fn is_there(&self) -> bool {
        self.files.is_regular(&self.path)
    }

    /// Opens the checkpoint of an earlier process, if there is one that can be used: its state, and the arrays.
    /// Why it cannot be used is told, behind `notice`.
    ///
    /// # Errors
    /// `Io`; that of the observer.
    pub(crate) fn open<S: DeserializeOwned>(
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
                report_from_scratch(observer, notice, error.message())?;
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
        let unknown = |_| arrays.error("its head is of another version");
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

    /// The error if a file is not there.
    fn check(&self, need: &Need) -> Result<()> {
        let names = self.names(need);
        match names.iter().find_map(|path| self.files.entry(path).ok()) {
            None => Err(Error::corrupt(&names[0], "it is not there any more")),
            Some(entry) if entry.bytes < need.bytes => {
                Err(Error::corrupt(&entry.path, "it is cut short"))
            }
            Some(_) => Ok(()),
        }
    }

    /// The names that a file may have.
    fn names(&self, need: &Need) -> Vec<PathBuf> {
        let below = self.directories.get(need.below).unwrap_or(&self.directories[0]);
        let path = if need.name.is_empty() { below.clone() } else { below.join(&need.name) };
        need.grows.map(|grows| grows.path(&path)).into_iter().chain([path]).collect()
    }

    /// Whether it is time to save.
    pub(crate) fn is_due(&self) -> bool {
        self.of.is_some() && self.pace.is_due()
    }

    /// Saves a checkpoint: the state that `parts` gives, and what they write and need. Gives the state; nothing if
    /// nobody could resume from it.
    ///
    /// # Errors
    /// `Io`, `DiskFull`: the checkpoint before is still there.
    pub(crate) fn save<S: Serialize>(
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
        let needs = needs.into_iter().map(|need| self.located(need)).collect();
        let head = CheckpointHead { of, needs, state };
        self.sync(&head.needs)?;
        let text = serde_json::to_vec(&head).expect("numbers and text are JSON");
        to.put(&text)?;
        to.put(&(text.len() as u64).to_le_bytes())?;
        // The names of files beside it become durable with its own.
        to.finish()?;
        Ok(head)
    }

    /// Where a file is, for whoever may have the same directories elsewhere.
    fn located(&self, (path, grows, bytes): (PathBuf, Option<Grows>, u64)) -> Need {
        let mut names = self.directories.iter().enumerate().filter_map(|(below, directory)| {
            Some((below, path.strip_prefix(directory).ok()?.to_str()?.to_owned()))
        });
        let (below, name) = names.next().expect("it is in a directory of the journal's");
        Need { below, name, grows, bytes }
    }

    /// Makes new files durable, and their names. Directories are so since they were made, and writers see to what
    /// grows.
    fn sync(&self, needs: &[Need]) -> Result<()> {
        let files = &self.files;
        let written = needs.iter().filter(|need| need.grows.is_none());
        let mut new: Vec<PathBuf> = written.flat_map(|need| self.names(need)).collect();
        new.retain(|path| !files.is_held(path) && files.is_regular(path));
        // The disk takes many at a time.
        new.par_iter().try_for_each(|path| files.sync(path))?;
        let mut directories: BTreeMap<_, _> =
            new.iter().map(|path| (path.parent(), path)).collect();
        directories.remove(&self.path.parent());
        // To the name that it has: so the directory is synced.
        directories.values().try_for_each(|path| files.publish(path, path))
    }

    /// Lets nobody resume from here any more; then what was discarded is removed.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn withdraw(&mut self) -> Result<()> {
        if self.files.entry(&self.path).is_ok() {
            // Renamed, for that is durable, and has room on a full disk.
            let gone = Grows::Apart.path(&self.path);
            self.files.publish(&self.path, &gone)?;
            self.files.discard(&gone);
        }
        self.hold(&[]);
        Ok(())
    }

    /// Whether it is the checkpoint, or a file that this needs.
    pub(crate) fn needs(&self, path: &Path) -> bool {
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

/// Tells that what an earlier process has done is not used, and why.
///
/// # Errors
/// That of the observer.
pub(crate) fn report_from_scratch(
    observer: &dyn Observer,
    notice: &str,
    reason: &str,
) -> Result<()> {
    notify(observer, Event::Warning { text: &format!("{notice}: {reason}") })
}
