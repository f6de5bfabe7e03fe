//! State that a job on edges saves, and from which the next job resumes.
//!
//! ```text
//!  WORK-DIR/.RESULT.outcore/
//!    manifest.json   the owner, the job, and the finished stages (`place`)
//!    checkpoint      one of these states ([`Saved`]), in the format of `crate::checkpoint`:
//!                      reading  a position in the input, and the state of reading up to it (`halfway`)
//!                      runs     the whole input has been read (`runs`)
//!                      graph    the graph is complete
//!    runs/           runs of the sort
//!    names/          names that do not fit in memory, while the input is read
//!    graph/          names, then the graph; if the job builds a graph in another directory, it is in
//!                    a directory like this one next to the result, from where it can be renamed
//!    sweeps/         a journal of the clustering (`cluster::saves`)
//! ```
//! The next job resumes if the inputs (path, length, modification time; on disk also the inode, the device and the
//! inode's change time; on servers the tag), the options of reading and the version are unchanged. Otherwise it starts
//! from scratch and reports the reason.

use super::place::{GRAPH, InputFile, JobKind, JobManifest, scratch_name};
use super::read::{OldFiles, ReadState, RunsState};
use super::{InputReport, JobOptions, Stages};
use crate::checkpoint::{
    CHECKPOINT, Identity, Journal, StateReader, StateWriter, report_from_scratch,
};
use crate::cluster::SAVED;
use crate::error::opt::RESTART;
use crate::error::{Error, ErrorKind, Result, Text};
use crate::graph::{Graph, Names, NamesWriter};
use crate::io::{Entry, Files, Grows, Owner, Scratch, Writer};
use crate::progress::Stage;
use crate::units::{format_bytes, format_count, format_counted};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name of the directory of runs.
pub(crate) const RUNS: &str = "runs";
/// Name of the directory of names that do not fit in memory.
pub(crate) const SPILLED: &str = "names";
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
    /// Options of reading, in their debug format.
    options: String,
    /// Graph that edges are added to.
    old: Option<OldFiles>,
}

impl MadeOf {
    fn new(files: &Files, job: JobKind, options: &JobOptions, old: Option<OldFiles>) -> Self {
        let JobOptions { input, duplicates, keep_loops, min_weight, max_weight, normalize, .. } =
            options;
        let rules = (duplicates, keep_loops, min_weight, max_weight, normalize);
        Self {
            job,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            options: format!("{input:?}, {rules:?}"),
            inputs: input.all_paths().map(|path| InputFile::new(files, path)).collect(),
            old,
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

/// State saved by a job on edges.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Saved {
    /// A part of the input has been read.
    Reading(Box<ReadState>),
    /// The whole input has been read, and all runs are written.
    Runs(Box<RunsState>),
    /// The graph is complete.
    Graph(Box<GraphState>),
}

/// A complete graph, and the parts of the report about building it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct GraphState {
    /// Checksum of the graph, to detect that another job has replaced it.
    pub(crate) checksum: String,
    pub(crate) input: InputReport,
    /// Warnings so far.
    pub(crate) warnings: Vec<String>,
}

impl Saved {
    /// Returns the names in the work directory that are reused.
    fn names(&self) -> &'static [&'static str] {
        match self {
            Self::Reading(state) if state.spill.is_some() => &[CHECKPOINT, RUNS, GRAPH, SPILLED],
            Self::Reading(_) | Self::Runs(_) => &[CHECKPOINT, RUNS, GRAPH],
            Self::Graph(_) => &[CHECKPOINT, GRAPH, SAVED],
        }
    }

    /// Returns the finished stages.
    fn stages_done(&self) -> Vec<Stage> {
        match self {
            Self::Reading(_) => Vec::new(),
            Self::Runs(_) => vec![Stage::Read],
            Self::Graph(_) => vec![Stage::Read, Stage::Merge],
        }
    }

    /// Describes the saved state to the user.
    fn what(&self, inputs: &[InputFile]) -> String {
        let files = format_counted(inputs.len() as u64, "file", "files");
        match self {
            Self::Reading(state) => {
                let all = inputs.iter().filter_map(|input| input.bytes).sum();
                let (done, all) = (format_bytes(state.input.done_bytes), format_bytes(all));
                format!("the input read so far ({done} of {all} in {files})")
            }
            Self::Runs(_) => format!("the runs of {files}"),
            Self::Graph(_) => format!("the graph of {files}"),
        }
    }

    /// Returns whether a job that resumes from it could get past `error`.
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
            _ => !matches!(self, Self::Reading(_)),
        }
    }
}

/// Journal of a job on edges, and the state saved last.
pub(crate) struct JobJournal {
    journal: Journal<MadeOf>,
    /// Paths of the graph and of the rejects, outside the journal's directory.
    graph: PathBuf,
    rejects: Option<PathBuf>,
    saved: Option<Saved>,
}

/// Saved state of an earlier job, with its arrays, if this job resumes from it.
pub(crate) type SavedStage = Option<(Saved, StateReader)>;

impl JobJournal {
    /// Returns whether it is time to save.
    pub(crate) fn is_due(&self) -> bool {
        self.journal.is_due()
    }

    /// Saves the state that `parts` returns, replacing the state saved before.
    pub(crate) fn save(
        &mut self,
        parts: impl FnOnce(&mut StateWriter) -> Result<Saved>,
    ) -> Result<()> {
        self.saved = self.journal.save(|to| {
            let saved = parts(to)?;
            match &saved {
                Saved::Reading(_) => return Ok(saved),
                Saved::Runs(state) => NamesWriter::need(to, &self.graph, state.names),
                Saved::Graph(_) => to.need(&self.graph, 0),
            }
            // Rejects were written while the input was read.
            let rejects = self.rejects.iter();
            rejects.for_each(|path| to.need_growing(path, Grows::InPlace, 0));
            Ok(saved)
        })?;
        Ok(())
    }

    /// Returns whether any state has been saved.
    pub(crate) fn has_saved(&self) -> bool {
        self.saved.is_some()
    }

    /// Like [`Journal::withdraw`].
    pub(crate) fn withdraw(&mut self) -> Result<()> {
        self.journal.withdraw()?;
        self.saved = None;
        Ok(())
    }

    /// Opens the saved state of an earlier job if this one can resume from it; otherwise reports the reason.
    fn open(&mut self, job: &Stages<'_>, scratch: &Scratch) -> Result<SavedStage> {
        let (files, observer) = (job.files, job.observer);
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
            report_from_scratch(observer, NOTICE, &reason)?;
            return Ok(None);
        }
        let mut found = self.journal.open(observer, NOTICE)?;
        if let Some(reason) =
            found.as_ref().and_then(|(saved, _)| replaced(files, &self.graph, saved))
        {
            report_from_scratch(observer, NOTICE, &reason)?;
            found = None;
        }
        self.saved = found.as_ref().map(|(saved, _)| Saved::clone(saved));
        Ok(found)
    }
}

/// Returns a reason if the names or the graph are not those that were saved.
fn replaced(files: &Files, graph: &Path, saved: &Saved) -> Option<String> {
    match saved {
        Saved::Reading(_) => None,
        Saved::Runs(state) => {
            // Nothing else reads the names before the graph is complete, so damage would get into it.
            let read = || {
                let names = Names::open(files, graph)?;
                let mut scan = names.scan();
                while scan.next_name()?.is_some() {}
                Ok::<_, Error>(names.sealed())
            };
            match read() {
                Ok(names) if names == state.names => None,
                Err(error) if error.kind() == ErrorKind::CorruptFile => {
                    Some(error.message().to_owned())
                }
                _ => Some("the saved names are missing or were replaced".into()),
            }
        }
        Saved::Graph(state) => match Graph::open(files, graph) {
            Err(error) => Some(error.message().to_owned()),
            Ok(found) => (found.checksum() != state.checksum)
                .then(|| format!("`{}` is now a different graph", graph.display())),
        },
    }
}

impl Stages<'_> {
    /// Withdraws the saved state, which is about to be consumed, so that no job resumes from it.
    pub(crate) fn withdraw(&mut self) -> Result<()> {
        self.records.as_mut().map_or(Ok(()), JobJournal::withdraw)
    }

    /// Creates the directory for temporary files of a job on edges whose graph will be in `graph`, or reuses that of an
    /// earlier job of the same kind, with the state it saved for the same edges.
    pub(crate) fn scratch_of_edges<'p>(
        &mut self,
        kind: JobKind,
        inputs: impl Iterator<Item = &'p PathBuf>,
        edges: &JobOptions,
        result: &Path,
        graph: &Path,
    ) -> Result<(Scratch, SavedStage)> {
        let mut manifest = JobManifest::new(self.files, kind, inputs, result);
        let old = self.old.as_ref().map(|old| old.files.clone());
        let made_of = MadeOf::new(self.files, kind, edges, old);
        self.inputs.clone_from(&made_of.inputs);
        let of = Some(made_of).filter(|made| is_named(self.files, result) && made.is_known());
        let mut scratch = Scratch::take(self.files, &edges.work_dir, &scratch_name(result))?;
        let (graph, rejects) = (graph.to_path_buf(), edges.input.rejects.clone());
        let directories = [scratch.path().to_path_buf(), graph.clone()];
        let directories = directories.into_iter().chain(rejects.clone()).collect();
        let journal = Journal::new(self.files, directories, of, self.files.cramped().read_save);
        let mut records = JobJournal { journal, graph, rejects, saved: None };
        let found = if edges.restart { None } else { records.open(self, &scratch)? };
        let saved = records.saved.as_ref();
        manifest.stages_done = saved.map_or(Vec::new(), Saved::stages_done);
        let names = saved.map_or(&[][..], Saved::names);
        if let (Some(Saved::Runs(_) | Saved::Graph(_)), Some(path)) = (saved, &edges.input.rejects)
        {
            Writer::discard(self.files, path);
        }
        self.continues = saved.is_some();
        self.report.resumed = self.continues;
        if !self.continues {
            // Must come first: no job may resume from files that are about to be removed.
            records.withdraw()?;
        }
        scratch.begin(&manifest.to_bytes(), names)?;
        self.manifest = Some((manifest, scratch.path().to_path_buf()));
        self.records = Some(records);
        Ok((scratch, found))
    }

    /// Returns an error if an input file has changed since the job began.
    pub(crate) fn check_inputs(&self, edges: &JobOptions) -> Result<()> {
        self.check_old()?;
        for (before, path) in self.inputs.iter().zip(edges.input.all_paths()) {
            let now = InputFile::new(self.files, path);
            if *before != now {
                return Err(changed(before, &now));
            }
        }
        Ok(())
    }

    /// Returns an error if the graph that edges are added to has changed since the job began.
    pub(crate) fn check_old(&self) -> Result<()> {
        let files = self.old.iter().flat_map(|old| &old.files.files);
        files
            .map(|before| (before, InputFile::new(self.files, Path::new(&before.path))))
            .try_for_each(
                |(before, now)| if *before == now { Ok(()) } else { Err(changed(before, &now)) },
            )
    }

    /// Ends a job on edges. After an error, state that the next job can resume from is kept and described in the error;
    /// everything else is removed.
    pub(crate) fn end<T>(
        &mut self,
        scratch: Scratch,
        edges: &JobOptions,
        graph: &Path,
        result: Result<T>,
    ) -> Result<T> {
        let error = match result {
            Ok(done) => return Ok(done),
            Err(error) => self.of_earlier_run(error),
        };
        let (mut manifest, _) = self.manifest.take().expect("created with the directory");
        let saved = self.records.as_mut().and_then(|records| records.saved.take());
        let Some(saved) = saved.filter(|saved| saved.is_of_use(&error)) else {
            drop(scratch);
            if let Some(path) = &edges.input.rejects {
                Writer::discard(self.files, path);
            }
            return Err(error);
        };
        let directory = scratch.path().to_path_buf();
        manifest.owner = Owner::nobody();
        scratch.leave(&manifest.to_bytes(), saved.names());
        let mut what = saved.what(&self.inputs);
        if has_sweeps(self.files, &directory) {
            what += " and the sweeps so far";
        }
        let mut places = vec![directory.clone()];
        if !graph.starts_with(&directory) {
            places.push(graph.to_path_buf());
        }
        if let (Saved::Reading(_), Some(path)) = (&saved, &edges.input.rejects) {
            places.push(Grows::Beside.path_now(self.files, path));
        }
        Err(error.kept(self.reported(&what, &places)))
    }

    /// Marks an error that may be caused by saved state of an earlier job.
    fn of_earlier_run(&self, error: Error) -> Error {
        let is_of_earlier_run = self.continues && error.kind() == ErrorKind::CorruptFile;
        if is_of_earlier_run { error.of_earlier_run() } else { error }
    }

    /// Ends the clustering of an existing graph. After an error, saved sweeps are kept.
    pub(crate) fn end_sweeps(
        &mut self,
        scratch: Scratch,
        result: &Path,
        done: Result<()>,
    ) -> Result<()> {
        let Err(error) = done else { return Ok(()) };
        let error = self.of_earlier_run(error);
        let (mut manifest, _) = self.manifest.take().expect("created with the directory");
        let directory = scratch.path().to_path_buf();
        let is_sound = error.kind() != ErrorKind::CorruptFile;
        if !is_sound || !has_sweeps(self.files, &directory) || !is_named(self.files, result) {
            return Err(error);
        }
        manifest.owner = Owner::nobody();
        scratch.leave(&manifest.to_bytes(), &[SAVED]);
        Err(error.kept(self.reported("the sweeps so far", &[directory])))
    }

    /// Describes what is kept, where it is, and how to resume or restart.
    fn reported(&self, what: &str, places: &[PathBuf]) -> Text {
        let bytes: u64 = places.iter().map(|path| bytes_in(self.files, path)).sum();
        let places: Vec<String> =
            places.iter().map(|path| format!("`{}`", path.display())).collect();
        let (last, first) = places.split_last().expect("the directory is one of them");
        let place = if first.is_empty() {
            last.clone()
        } else {
            format!("{} and {last}", first.join(", "))
        };
        format_args!(
            "{what} in {place} ({}); the same command resumes from there, \
             {RESTART} starts from scratch",
            format_bytes(bytes)
        )
        .into()
    }
}

/// Returns whether the next job can recognize the result as its own: it must be a file, since a stream or a device has
/// no name to recognize.
fn is_named(files: &Files, result: &Path) -> bool {
    let is_there = result == Path::new("-") || files.entry(result).is_ok();
    !is_there || files.is_regular(result)
}

/// Returns whether a clustering has saved sweeps.
pub(crate) fn has_sweeps(files: &Files, directory: &Path) -> bool {
    files.is_regular(&directory.join(SAVED).join(CHECKPOINT))
}

/// Returns the error for an input that has changed.
fn changed(before: &InputFile, now: &InputFile) -> Error {
    let message = format!("`{}` has changed while it was read", before.path);
    let error = Error::new(ErrorKind::InputChanged, message)
        .hint("run the command again when nothing writes to it");
    let bytes =
        |input: &InputFile| input.bytes.map(|bytes| format!("{} bytes", format_count(bytes)));
    match (bytes(before), bytes(now)) {
        (Some(_), None) => error.note("it no longer exists"),
        (Some(old), Some(new)) if old != new => {
            error.note(format!("it had {old} and now has {new}"))
        }
        (Some(old), _) if before.modified_ms == now.modified_ms => {
            error.note(format!("it still has {old}, but has been replaced or written to"))
        }
        (Some(old), _) => {
            let times = before.modified_ms.zip(now.modified_ms);
            let later = times.map_or(0, |(before, now)| now.saturating_sub(before)) as f64 / 1000.0;
            error.note(format!("it still has {old}, but was last written {later:.3} s later"))
        }
        (None, _) => error,
    }
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
