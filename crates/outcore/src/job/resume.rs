//! Journal of a job: state that its stages save, and from which the next job resumes.
//!
//! ```text
//!  WORK-DIR/.RESULT.outcore/
//!    manifest.json   the owner, the job, and the finished stages (`place`)
//!    checkpoint      the state that a stage saved last (`read::saved`), in the format of `crate::checkpoint`
//!    runs/           runs of the sort
//!    names/          names that do not fit in memory, while the input is read
//!    graph/          names, then the graph; if the job builds a graph in another directory, it is in
//!                    a directory like this one next to the result, from where it can be renamed
//!    sweeps/         a journal of the clustering (`cluster::store::saves`)
//! ```
//! The next job resumes if the inputs (path, length, modification time; on disk also the inode, the device and the
//! inode's change time; on servers the tag), the options of reading and the version are unchanged. Otherwise it starts
//! from scratch and reports the reason. The journal stores states without knowing what they are ([`SavedState`]).

use super::JobOptions;
use super::place::{InputFile, JobKind, JobManifest, RUNS, scratch_name};
use super::read::Edges;
use crate::checkpoint::{
    CHECKPOINT, Identity, Journal, StateReader, StateWriter, report_from_scratch,
};
use crate::cluster::SAVED;
use crate::error::opt::RESTART;
use crate::error::{Error, ErrorKind, Result, Text};
use crate::io::{Entry, Files, Grows, Owner, Scratch, Writer};
use crate::progress::{Event, Observer, Stage, notify};
use crate::units::format_bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Beginning of the warning that a job starts from scratch.
pub(crate) const NOTICE: &str = "starts from scratch";

/// Identity of a graph: its inputs, options and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MadeOf {
    job: JobKind,
    /// Version of the engine.
    version: String,
    /// Files of edges, followed by the list of nodes.
    inputs: Vec<InputFile>,
    /// Hash of the options of reading.
    options: u64,
    /// Graph that edges are added to.
    old: Option<GraphFiles>,
}

impl MadeOf {
    fn new(files: &Files, job: JobKind, edges: Edges<'_>) -> Self {
        let JobOptions { input, duplicates, keep_loops, min_weight, max_weight, normalize, .. } =
            edges.options;
        let rules = (duplicates, keep_loops, min_weight, max_weight, normalize);
        let rejects = input.rejects.as_ref().map(|path| path.as_os_str().as_encoded_bytes());
        let options = serde_json::to_vec(&(input, rejects, rules, edges.ladder));
        Self {
            job,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            options: xxh3_64(&options.expect("numbers, words and text are JSON")),
            inputs: input.all_paths().map(|path| InputFile::new(files, path)).collect(),
            old: edges.old.map(|old| old.files.clone()),
        }
    }

    /// Returns whether all inputs can be read again, and changes to them can be detected.
    fn is_known(&self) -> bool {
        let old = self.old.iter().flat_map(|old| &old.files);
        self.inputs.iter().chain(old).all(InputFile::is_known)
    }
}

impl Identity for MadeOf {
    fn difference(&self, now: &Self) -> Option<String> {
        let paths = |made: &Self| made.inputs.iter().map(|input| input.path.clone()).collect();
        let (before, after): (Vec<String>, Vec<String>) = (paths(self), paths(now));
        if self.job != now.job {
            return Some("the saved state belongs to another job".into());
        }
        if self.version != now.version {
            return Some(format!("the saved state was written by version {}", self.version));
        }
        if before != after {
            return Some("the saved state belongs to other input files".into());
        }
        let path = |made: &Self| made.old.as_ref().map(|old| old.path.clone());
        if path(self) != path(now) {
            return Some("the saved state belongs to another graph to add to".into());
        }
        if self.options != now.options {
            return Some("the saved state belongs to other options".into());
        }
        let mut inputs = self.inputs.iter().zip(&now.inputs);
        let changed = inputs.find(|(before, now)| before != now).map(|(before, _)| &before.path);
        let old = self.old.as_ref().filter(|_| self.old != now.old).map(|old| &old.path);
        changed.or(old).map(|path| format!("`{path}` has changed since"))
    }
}

/// Identity of a graph that is an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GraphFiles {
    pub(crate) path: String,
    /// Checksum of its `graph.json`.
    checksum: String,
    files: Vec<InputFile>,
}

impl GraphFiles {
    pub(crate) fn new(files: &Files, directory: &Path, checksum: &str) -> Self {
        let paths = ["graph.json", "arcs", "names"].map(|name| directory.join(name));
        Self {
            path: directory.display().to_string(),
            checksum: checksum.to_owned(),
            files: paths.iter().map(|path| InputFile::new(files, path)).collect(),
        }
    }

    /// Returns an error if the graph has changed since the job began.
    pub(crate) fn check_unchanged(&self, files: &Files) -> Result<()> {
        self.files.iter().try_for_each(|file| file.check_unchanged(files, Path::new(&file.path)))
    }
}

/// State that a stage saves.
pub(crate) trait SavedState: Serialize + DeserializeOwned {
    /// Returns what the journal needs to know of it; `inputs` are the files of edges and of nodes.
    fn kept(&self, inputs: &[InputFile]) -> Kept;

    /// Returns a reason if files of the graph in `directory` are not those that were saved.
    fn replaced(&self, files: &Files, directory: &Path) -> Option<String>;
}

/// What the journal knows of a saved state.
pub(crate) struct Kept {
    /// Finished stages, in order; none if the input has been read only in part.
    pub(crate) stages_done: &'static [Stage],
    /// Names in the work directory that are reused.
    pub(crate) names: &'static [&'static str],
    /// Description for the user.
    pub(crate) what: String,
}

impl Kept {
    fn has_read_all(&self) -> bool {
        !self.stages_done.is_empty()
    }

    /// Returns whether a job that resumes from the state could get past `error`.
    fn is_of_use(&self, error: &Error) -> bool {
        match error.kind() {
            // Damaged data would still be damaged.
            ErrorKind::CorruptFile => false,
            ErrorKind::Interrupted
            | ErrorKind::Io
            | ErrorKind::DiskFull
            | ErrorKind::DiskTooSmall
            | ErrorKind::MemoryTooSmall => true,
            // A fault in the input would occur again.
            _ => self.has_read_all(),
        }
    }
}

/// Directory for temporary files of a job, named after its result.
pub(crate) struct WorkDirectory {
    scratch: Scratch,
    manifest: JobManifest,
    /// Whether the job reuses saved state of an earlier one.
    continues: bool,
}

impl WorkDirectory {
    /// Creates the directory. Of the files of an earlier job, only those named in `kept` remain.
    pub(crate) fn take(
        files: &Files,
        manifest: JobManifest,
        parent: &Path,
        result: &Path,
        kept: &[&str],
    ) -> Result<Self> {
        let mut scratch = Scratch::take(files, parent, &scratch_name(result))?;
        scratch.begin(&manifest.to_bytes(), kept)?;
        let continues = has_sweeps(files, scratch.path());
        Ok(Self { scratch, manifest, continues })
    }

    pub(crate) fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// Records that a stage is finished, except the last one (write): the result is then in place, and the directory
    /// with its manifest is about to be removed.
    pub(crate) fn record(&mut self, files: &Files, stage: Stage) -> Result<()> {
        if stage == Stage::Write {
            return Ok(());
        }
        if !self.manifest.stages_done.contains(&stage) {
            self.manifest.stages_done.push(stage);
        }
        self.manifest.write(files, self.scratch.path())
    }

    /// Removes the directory; returns its manifest.
    pub(crate) fn remove(self) -> JobManifest {
        self.manifest
    }

    /// Ends the clustering of an existing graph after an error. Saved sweeps are kept.
    pub(crate) fn end(self, files: &Files, result: &Path, error: Error) -> Error {
        let error = self.of_earlier_run(error);
        let directory = self.path().to_path_buf();
        let is_sound = error.kind() != ErrorKind::CorruptFile;
        if !is_sound || !has_sweeps(files, &directory) || !is_named(files, result) {
            return error;
        }
        self.leave(&[SAVED]);
        error.kept(reported(files, "the sweeps so far", &[directory]))
    }

    /// Marks an error that may be caused by saved state of an earlier job.
    fn of_earlier_run(&self, error: Error) -> Error {
        let is_of_earlier_run = self.continues && error.kind() == ErrorKind::CorruptFile;
        if is_of_earlier_run { error.of_earlier_run() } else { error }
    }

    /// Leaves the files named in `kept` for the next job.
    fn leave(mut self, kept: &[&str]) {
        self.manifest.owner = Owner::nobody();
        self.scratch.leave(&self.manifest.to_bytes(), kept);
    }
}

/// Journal of a job on edges.
pub(crate) struct JobJournal {
    journal: Journal<MadeOf>,
    /// Files of edges, followed by the list of nodes, as they were when the job began.
    inputs: Vec<InputFile>,
    old: Option<GraphFiles>,
    /// Paths of the graph and of the rejects, outside the journal's directory.
    graph: PathBuf,
    rejects: Option<PathBuf>,
    /// State saved last.
    kept: Option<Kept>,
}

/// Saved state of an earlier job, with its arrays, if this job resumes from it.
pub(crate) type SavedStage<S> = Option<(S, StateReader)>;

impl JobJournal {
    /// Creates the directory for temporary files and its journal, or reuses those of an earlier job of the same kind,
    /// with the state it saved for the same edges.
    pub(crate) fn open<S: SavedState>(
        files: &Files,
        observer: &dyn Observer,
        mut manifest: JobManifest,
        edges: Edges<'_>,
        result: &Path,
    ) -> Result<(WorkDirectory, Self, SavedStage<S>)> {
        let Edges { options, directory: graph, .. } = edges;
        let made_of = MadeOf::new(files, manifest.job, edges);
        let (inputs, old) = (made_of.inputs.clone(), made_of.old.clone());
        let of = Some(made_of).filter(|made| is_named(files, result) && made.is_known());
        let mut scratch = Scratch::take(files, &options.work_dir, &scratch_name(result))?;
        let (graph, rejects) = (graph.to_path_buf(), options.input.rejects.clone());
        let directories = [scratch.path().to_path_buf(), graph.clone()];
        let directories = directories.into_iter().chain(rejects.clone()).collect();
        let journal = Journal::new(files, directories, of, files.cramped().read_save);
        let mut journal = Self { journal, inputs, old, graph, rejects, kept: None };
        let found = match options.restart {
            true => None,
            false => journal.find::<S>(files, observer, &scratch)?,
        };
        let mut names: &[&str] = &[];
        if let Some(kept) = &journal.kept {
            (manifest.stages_done, names) = (kept.stages_done.to_vec(), kept.names);
            if kept.has_read_all() {
                journal.rejects.iter().for_each(|path| Writer::discard(files, path));
            }
        } else {
            // Must come first: no job may resume from files that are about to be removed.
            journal.withdraw()?;
        }
        scratch.begin(&manifest.to_bytes(), names)?;
        let work = WorkDirectory { scratch, manifest, continues: found.is_some() };
        Ok((work, journal, found))
    }

    /// Finds the saved state of an earlier job if this one can resume from it; otherwise reports the reason.
    fn find<S: SavedState>(
        &mut self,
        files: &Files,
        observer: &dyn Observer,
        scratch: &Scratch,
    ) -> Result<SavedStage<S>> {
        let reason = match JobManifest::read(files, scratch.path()) {
            Ok(Some(manifest)) if manifest.is_whole() => None,
            Ok(Some(_)) if self.journal.is_there() => {
                Some("the manifest of the saved state is damaged".into())
            }
            // Left by an earlier version.
            Ok(Some(_)) if files.entry(&scratch.path().join(RUNS)).is_ok() => {
                Some("the saved state was written by another version".into())
            }
            Ok(Some(_)) => return Ok(None),
            Ok(None) if scratch.is_empty() => return Ok(None),
            Ok(None) => Some("the manifest of the saved state is missing".into()),
            Err(error) => Some(error.message().to_owned()),
        };
        if let Some(reason) = reason {
            report_from_scratch(observer, NOTICE, reason)?;
            return Ok(None);
        }
        if !self.journal.is_there() {
            let text =
                "starts from scratch: an earlier job was stopped, and left nothing to resume from";
            notify(observer, Event::Notice { text })?;
            return Ok(None);
        }
        let found = self.journal.open::<S>(observer, NOTICE)?;
        if let Some((saved, _)) = &found {
            if let Some(reason) = saved.replaced(files, &self.graph) {
                report_from_scratch(observer, NOTICE, reason)?;
                return Ok(None);
            }
            self.kept = Some(saved.kept(&self.inputs));
        }
        Ok(found)
    }

    /// Returns whether it is time to save.
    pub(crate) fn is_due(&self) -> bool {
        self.journal.is_due()
    }

    /// Saves the state that `parts` returns, replacing the state saved before.
    pub(crate) fn save<S: SavedState>(
        &mut self,
        parts: impl FnOnce(&mut StateWriter) -> Result<S>,
    ) -> Result<()> {
        let (inputs, rejects) = (&self.inputs, &self.rejects);
        let saved = self.journal.save(|to| {
            let saved = parts(to)?;
            // Rejects are written while the input is read, and saved with it.
            if saved.kept(inputs).has_read_all() {
                rejects.iter().for_each(|path| to.need_growing(path, Grows::InPlace, 0));
            }
            Ok(saved)
        })?;
        self.kept = saved.map(|saved| saved.kept(&self.inputs));
        Ok(())
    }

    /// Returns whether any state has been saved.
    pub(crate) fn has_saved(&self) -> bool {
        self.kept.is_some()
    }

    /// Withdraws the saved state, which is about to be consumed, so that no job resumes from it.
    pub(crate) fn withdraw(&mut self) -> Result<()> {
        self.journal.withdraw()?;
        self.kept = None;
        Ok(())
    }

    /// Returns an error if an input file, or the graph to add to, has changed since the job began.
    pub(crate) fn check_inputs(&self, files: &Files, edges: &JobOptions) -> Result<()> {
        self.old.iter().try_for_each(|old| old.check_unchanged(files))?;
        let mut inputs = self.inputs.iter().zip(edges.input.all_paths());
        inputs.try_for_each(|(before, path)| before.check_unchanged(files, path))
    }

    /// Ends the job after an error. State that the next job can resume from is kept and described in the error;
    /// everything else is removed.
    pub(crate) fn end(self, files: &Files, work: WorkDirectory, error: Error) -> Error {
        let error = work.of_earlier_run(error);
        let Some(mut kept) = self.kept.filter(|kept| kept.is_of_use(&error)) else {
            work.remove();
            self.rejects.iter().for_each(|path| Writer::discard(files, path));
            return error;
        };
        let directory = work.path().to_path_buf();
        work.leave(kept.names);
        if has_sweeps(files, &directory) {
            kept.what += " and the sweeps so far";
        }
        let is_elsewhere = !self.graph.starts_with(&directory);
        let rejects = self.rejects.iter().filter(|_| !kept.has_read_all());
        let mut places = vec![directory];
        places.extend(is_elsewhere.then(|| self.graph.clone()));
        places.extend(rejects.map(|path| Grows::Beside.path_now(files, path)));
        error.kept(reported(files, &kept.what, &places))
    }
}

/// Describes what is kept, where it is, and how to resume or restart.
fn reported(files: &Files, what: &str, places: &[PathBuf]) -> Text {
    let bytes: u64 = places.iter().map(|path| bytes_in(files, path)).sum();
    let places: Vec<String> = places.iter().map(|path| format!("`{}`", path.display())).collect();
    let (last, first) = places.split_last().expect("the directory is one of them");
    let place =
        if first.is_empty() { last.clone() } else { format!("{} and {last}", first.join(", ")) };
    format_args!(
        "{what} in {place} ({}); the same command resumes from there, {RESTART} starts from scratch",
        format_bytes(bytes)
    )
    .into()
}

/// Returns whether the next job can recognize the result as its own: it must be a file, since a stream or a device has
/// no name to recognize.
fn is_named(files: &Files, result: &Path) -> bool {
    let is_there = result == Path::new("-") || files.entry(result).is_ok();
    !is_there || files.is_regular(result)
}

/// Returns whether a clustering has saved sweeps, or one of several values a result.
pub(crate) fn has_sweeps(files: &Files, directory: &Path) -> bool {
    has_checkpoint(files, &directory.join(SAVED))
}

fn has_checkpoint(files: &Files, directory: &Path) -> bool {
    let entries = files.list(directory).unwrap_or_default();
    entries.iter().any(|entry| match entry.is_directory {
        true => has_checkpoint(files, &entry.path),
        false => entry.path.ends_with(CHECKPOINT),
    })
}

/// Returns the length of a file, or of all files in a directory.
pub(crate) fn bytes_in(files: &Files, path: &Path) -> u64 {
    match files.entry(path) {
        Ok(Entry { is_directory: true, .. }) => {
            let entries = files.list(path).unwrap_or_default();
            entries.iter().map(|entry| bytes_in(files, &entry.path)).sum()
        }
        found => found.map_or(0, |entry| entry.bytes),
    }
}
