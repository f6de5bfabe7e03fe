//! Checkpoints of sweep state, in a journal of its own in the directory `sweeps` (`outcore_io::checkpoint`).
//!
//! A checkpoint is independent of the number of threads and the memory limit, so both may differ when a job resumes.
//! Checkpoints are saved between sweeps and may refer to files of levels and groups. Memory: a buffer. Disk: twice the
//! sweep state in memory, while one checkpoint replaces another. Only the version that wrote a checkpoint reads it.

use super::given::GivenLabels;
use outcore_graph::Graph;
use outcore_io::Files;
use outcore_io::checkpoint::{Identity, Journal, StateReader, StateWriter};
use outcore_io::error::{ErrorKind, Result};
use outcore_io::progress::{Event, Observer, notify};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// Name of the directory, whose whole content belongs to the clustering.
pub const SAVED: &str = "sweeps";

/// Beginning of the warning that a clustering starts from scratch.
pub(crate) const NOTICE: &str = "sweeps start from scratch";

/// Identifies the clustering that a checkpoint belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Of {
    version: String,
    /// Checksum of the graph.
    graph: String,
    options: String,
    /// Checksum of the given labels.
    given: u64,
}

impl Of {
    /// Identifies the clustering of a graph that starts from `given`.
    pub(crate) fn new(graph: &Graph, options: &impl Serialize, given: &GivenLabels) -> Self {
        let mut hash = Xxh3::new();
        for labels in [&given.initial, &given.fixed] {
            hash.update(&(labels.len() as u64).to_le_bytes());
            labels.iter().for_each(|label| hash.update(&label.to_le_bytes()));
        }
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            graph: graph.checksum().to_owned(),
            options: serde_json::to_string(options).expect("numbers and text are JSON"),
            given: hash.digest(),
        }
    }
}

impl Identity for Of {
    fn difference(&self, now: &Self) -> Option<String> {
        let of = |what: &str| Some(format!("the saved sweeps belong to {what}"));
        match () {
            () if self.version != now.version => of(&format!("version {}", self.version)),
            () if self.graph != now.graph => of("another graph"),
            () if self.options != now.options => of("other options"),
            () if self.given != now.given => of("other initial labels"),
            () => None,
        }
    }
}

/// Journal of a clustering.
pub(crate) struct Saves {
    journal: Journal<Of>,
    files: Files,
    directory: PathBuf,
    is_warned: bool,
    is_open: bool,
    /// The checkpoint of an earlier process, until it is used.
    found: Option<(Value, StateReader)>,
}

impl Saves {
    /// Creates the journal of a clustering that starts from `given`, in the job's directory for temporary files.
    pub(crate) fn new(
        graph: &Graph,
        options: &impl Serialize,
        given: &GivenLabels,
        directory: &Path,
    ) -> Self {
        let files = graph.files().clone();
        let (of, pause) = (Some(Of::new(graph, options, given)), files.cramped().sweep_save);
        let journal = Journal::new(&files, vec![directory.to_path_buf()], of, pause);
        let directory = directory.to_path_buf();
        Self { journal, files, directory, is_warned: false, is_open: false, found: None }
    }

    /// Opens the journal like [`Journal::open`], and removes all other files of the directory.
    ///
    /// # Errors
    /// Those of [`Journal::open`].
    pub(crate) fn open<C: DeserializeOwned>(
        &mut self,
        observer: &dyn Observer,
    ) -> Result<Option<(C, StateReader)>> {
        self.find(observer)?;
        let Some((counters, from)) = self.found.take() else { return Ok(None) };
        match serde_json::from_value(counters) {
            Ok(counters) => Ok(Some((counters, from))),
            Err(_) => Err(from.damaged()),
        }
    }

    /// Like [`open`](Self::open) if the counters have a field of this name; otherwise leaves the checkpoint for `open`.
    ///
    /// # Errors
    /// Those of [`Journal::open`].
    pub(crate) fn open_with<C: DeserializeOwned>(
        &mut self,
        field: &str,
        observer: &dyn Observer,
    ) -> Result<Option<(C, StateReader)>> {
        self.find(observer)?;
        let has_field = |(counters, _): &(Value, StateReader)| counters.get(field).is_some();
        if self.found.as_ref().is_some_and(has_field) { self.open(observer) } else { Ok(None) }
    }

    /// Opens the journal, once, and removes all other files of the directory.
    ///
    /// # Errors
    /// Those of [`Journal::open`].
    pub(crate) fn find(&mut self, observer: &dyn Observer) -> Result<()> {
        if std::mem::replace(&mut self.is_open, true) {
            return Ok(());
        }
        self.found = self.journal.open(observer, NOTICE)?;
        if self.found.is_none() {
            self.journal.withdraw()?;
        }
        let entries = self.files.list(&self.directory).unwrap_or_default();
        let others = entries.iter().filter(|entry| !self.journal.needs(&entry.path));
        others.for_each(|entry| self.files.discard(&entry.path));
        Ok(())
    }

    /// Returns whether it is time to save, after a sweep.
    pub(crate) fn is_due(&self) -> bool {
        self.journal.is_due()
    }

    /// Saves counters and arrays. A full disk causes a warning, not an error.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn save<C: Serialize>(
        &mut self,
        counters: &C,
        observer: &dyn Observer,
        arrays: impl FnOnce(&mut StateWriter) -> Result<()>,
    ) -> Result<()> {
        match self.journal.save(|to| arrays(to).map(|()| counters)) {
            Err(error) if error.kind() == ErrorKind::DiskFull => {
                if !std::mem::replace(&mut self.is_warned, true) {
                    let text = "the disk has no room to save the sweeps: a job that is stopped \
                                starts them from scratch";
                    notify(observer, Event::Warning { text: &text.into() })?;
                }
                Ok(())
            }
            saved => saved.map(drop),
        }
    }
}
