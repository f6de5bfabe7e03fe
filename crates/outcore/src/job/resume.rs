//! What a job on edges leaves when it ends early, and what the next one resumes from.
//!
//! ```text
//!  WORK-DIR/.RESULT.outcore/
//!    manifest.json   whose it is, the job, and the stages that are finished (`manifest`)
//!    checkpoint      one of these ([`Saved`]), which `crate::checkpoint` describes:
//!                      reading  a place in the input, with what was read so far (`halfway`)
//!                      runs     all input is read (`runs`)
//!                      graph    the graph is whole
//!    runs/           runs of the sort
//!    names/          names that have no room in memory, while the input is read
//!    graph/          names, then the graph; of a job that builds a graph somewhere else, in a
//!                    directory like this one beside its name, from where it can be renamed
//!    sweeps/         a journal of the clustering (`cluster::saves`)
//! ```
//! The next job resumes if inputs (path, length, time of the last change; on disk also the file's number and device, and
//! the change to its description; on servers their tags), options of reading and version are the same; else it starts
//! from scratch, and says why.

use super::read::{ReadState, RunsState};
use super::{InputFile, InputReport, Job, JobKind, JobManifest, JobOptions, scratch_name};
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

/// The directory of a graph that is to be clustered.
pub(crate) const GRAPH: &str = "graph";
/// The directory of runs.
pub(crate) const RUNS: &str = "runs";
/// The directory of names that have no room in memory.
pub(crate) const SPILLED: &str = "names";
/// How it is told that a job starts from scratch.
pub(crate) const NOTICE: &str = "begins anew";

/// What a graph is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MadeOf {
    job: JobKind,
    /// Version of the engine.
    version: String,
    /// Its edges, and the list of nodes last.
    inputs: Vec<InputFile>,
    /// Options of reading, in the engine's own words.
    options: String,
}

impl MadeOf {
    fn new(files: &Files, job: JobKind, options: &JobOptions) -> Self {
        let JobOptions { input, duplicates, keep_loops, min_weight, max_weight, normalize, .. } =
            options;
        let rules = (duplicates, keep_loops, min_weight, max_weight, normalize);
        Self {
            job,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            options: format!("{input:?}, {rules:?}"),
            inputs: input.all_paths().map(|path| InputFile::new(files, path)).collect(),
        }
    }

    /// Whether all inputs can be read again, and a change to them would be seen.
    fn is_known(&self) -> bool {
        self.inputs.iter().all(InputFile::is_known)
    }
}

impl Identity for MadeOf {
    fn difference(&self, now: &Self) -> Option<String> {
        let paths = |made: &Self| made.inputs.iter().map(|input| input.path.clone()).collect();
        let (before, after): (Vec<String>, Vec<String>) = (paths(self), paths(now));
        if self.job != now.job {
            return Some("what is there is of another job".into());
        }
        if self.version != now.version {
            return Some(format!("what is there was made by version {}", self.version));
        }
        if before != after {
            return Some("what is there is of other input files".into());
        }
        if self.options != now.options {
            return Some("what is there was read with other options".into());
        }
        let mut inputs = self.inputs.iter().zip(&now.inputs);
        let changed = inputs.find(|(before, now)| before != now)?.0;
        Some(format!("`{}` has changed since", changed.path))
    }
}

/// What a job on edges has saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Saved {
    /// A part of the input is read.
    Reading(Box<ReadState>),
    /// The input is read, and all runs are made.
    Runs(Box<RunsState>),
    /// The graph is whole.
    Graph(Box<GraphState>),
}

/// The graph, and what of its making is reported.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct GraphState {
    /// What tells it from others: another job may have put one in its place.
    pub(crate) checksum: String,
    pub(crate) input: InputReport,
    /// What was warned of.
    pub(crate) warnings: Vec<String>,
}

impl Saved {
    /// The names in the work directory that are used again.
    fn names(&self) -> &'static [&'static str] {
        match self {
            Self::Reading(state) if state.spill.is_some() => &[CHECKPOINT, RUNS, GRAPH, SPILLED],
            Self::Reading(_) | Self::Runs(_) => &[CHECKPOINT, RUNS, GRAPH],
            Self::Graph(_) => &[CHECKPOINT, GRAPH, SAVED],
        }
    }

    /// The stages that are finished.
    fn stages_done(&self) -> Vec<Stage> {
        match self {
            Self::Reading(_) => Vec::new(),
            Self::Runs(_) => vec![Stage::Read],
            Self::Graph(_) => vec![Stage::Read, Stage::Merge],
        }
    }

    /// What that is for people.
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

    /// Whether the next job could come further with it than one that met `error`.
    fn is_of_use(&self, error: &Error) -> bool {
        match error.kind() {
            // What is damaged would be so again.
            ErrorKind::CorruptFile => false,
            ErrorKind::Interrupted
            | ErrorKind::Io
            | ErrorKind::DiskFull
            | ErrorKind::DiskTooSmall
            | ErrorKind::MemoryTooSmall => true,
            // What is wrong with the input, too.
            _ => !matches!(self, Self::Reading(_)),
        }
    }
}

/// The journal of a job on edges, and what was saved last.
pub(crate) struct JobJournal {
    journal: Journal<MadeOf>,
    /// Where the graph and the rejects are, beside the journal's directory.
    graph: PathBuf,
    rejects: Option<PathBuf>,
    saved: Option<Saved>,
}

/// What an earlier job has saved, with its arrays, if this one resumes from it.
pub(crate) type SavedStage = Option<(Saved, StateReader)>;

impl JobJournal {
    /// Whether it is time to save.
    pub(crate) fn is_due(&self) -> bool {
        self.journal.is_due()
    }

    /// Saves what `parts` gives, in place of what was saved before.
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
            // They were written while the input was read.
            let rejects = self.rejects.iter();
            rejects.for_each(|path| to.need_growing(path, Grows::InPlace, 0));
            Ok(saved)
        })?;
        Ok(())
    }

    /// Whether something has been saved.
    pub(crate) fn has_saved(&self) -> bool {
        self.saved.is_some()
    }

    /// As [`Journal::withdraw`].
    pub(crate) fn withdraw(&mut self) -> Result<()> {
        self.journal.withdraw()?;
        self.saved = None;
        Ok(())
    }

    /// Opens what an earlier job has saved, if this one can resume from it; else the reason is told.
    fn open(&mut self, job: &Job<'_>, scratch: &Scratch) -> Result<SavedStage> {
        let (files, observer) = (job.files, job.observer);
        let reason = match JobManifest::read(files, scratch.path()) {
            Ok(Some(manifest)) if manifest.is_whole() => None,
            Ok(Some(_)) if self.journal.is_there() => {
                Some("the manifest of what is there is damaged".into())
            }
            // As earlier versions have left it.
            Ok(Some(_)) if files.entry(&scratch.path().join(RUNS)).is_ok() => {
                Some("what is there was made by another version".into())
            }
            Ok(Some(_)) => return Ok(None),
            Ok(None) if scratch.is_empty() => return Ok(None),
            Ok(None) => Some("the manifest of what is there is gone".into()),
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

/// Tells if names or graph are others than those that were saved.
fn replaced(files: &Files, graph: &Path, saved: &Saved) -> Option<String> {
    match saved {
        Saved::Reading(_) => None,
        Saved::Runs(state) => {
            let names = Names::open(files, graph).map(|names| names.sealed());
            let is_same = names.is_ok_and(|names| names == state.names);
            (!is_same).then(|| "the names that were there are gone".into())
        }
        Saved::Graph(state) => match Graph::open(files, graph) {
            Err(error) => Some(error.message().to_owned()),
            Ok(found) => (found.checksum() != state.checksum)
                .then(|| format!("`{}` is another graph now", graph.display())),
        },
    }
}

impl Job<'_> {
    /// Lets nobody resume from what was saved: it is about to be used up.
    pub(crate) fn withdraw(&mut self) -> Result<()> {
        self.records.as_mut().map_or(Ok(()), JobJournal::withdraw)
    }

    /// Makes the directory for temporary files of a job on edges, whose graph will be in `graph`; or takes it
    /// over, with what an earlier job of the kind has saved of the same edges.
    pub(crate) fn scratch_of_edges<'p>(
        &mut self,
        kind: JobKind,
        inputs: impl Iterator<Item = &'p PathBuf>,
        edges: &JobOptions,
        result: &Path,
        graph: &Path,
    ) -> Result<(Scratch, SavedStage)> {
        let mut manifest = JobManifest::new(self.files, kind, inputs, result);
        let made_of = MadeOf::new(self.files, kind, edges);
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
            // Before anything else: nobody can resume from what is removed.
            records.withdraw()?;
        }
        scratch.begin(&manifest.to_bytes(), names)?;
        self.manifest = Some((manifest, scratch.path().to_path_buf()));
        self.records = Some(records);
        Ok((scratch, found))
    }

    /// The error if a file among the edges is not what it was when the job began.
    pub(crate) fn check_inputs(&self, edges: &JobOptions) -> Result<()> {
        for (before, path) in self.inputs.iter().zip(edges.input.all_paths()) {
            let now = InputFile::new(self.files, path);
            if *before != now {
                return Err(changed(before, &now));
            }
        }
        Ok(())
    }

    /// Ends a job on edges. After an error, what the next one can resume from stays, and the error tells of
    /// it; all else goes.
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
        let (mut manifest, _) = self.manifest.take().expect("made with the directory");
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

    /// Marks an error that may be of what was taken over.
    fn of_earlier_run(&self, error: Error) -> Error {
        let is_of_earlier_run = self.continues && error.kind() == ErrorKind::CorruptFile;
        if is_of_earlier_run { error.of_earlier_run() } else { error }
    }

    /// Ends a clustering of a graph that was there. After an error, sweeps that were saved stay.
    pub(crate) fn end_sweeps(
        &mut self,
        scratch: Scratch,
        result: &Path,
        done: Result<()>,
    ) -> Result<()> {
        let Err(error) = done else { return Ok(()) };
        let error = self.of_earlier_run(error);
        let (mut manifest, _) = self.manifest.take().expect("made with the directory");
        let directory = scratch.path().to_path_buf();
        let is_sound = error.kind() != ErrorKind::CorruptFile;
        if !is_sound || !has_sweeps(self.files, &directory) || !is_named(self.files, result) {
            return Err(error);
        }
        manifest.owner = Owner::nobody();
        scratch.leave(&manifest.to_bytes(), &[SAVED]);
        Err(error.kept(self.reported("the sweeps so far", &[directory])))
    }

    /// What was kept, and what to do about it.
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
            "{what} in {place} ({}); the same command goes on from there, {RESTART} begins anew",
            format_bytes(bytes)
        )
        .into()
    }
}

/// Whether the next job for this result would be known as such: what goes to a stream or a device is of no
/// file.
fn is_named(files: &Files, result: &Path) -> bool {
    let is_there = result == Path::new("-") || files.entry(result).is_ok();
    !is_there || files.is_regular(result)
}

/// Whether a clustering has saved sweeps.
pub(crate) fn has_sweeps(files: &Files, directory: &Path) -> bool {
    files.is_regular(&directory.join(SAVED).join(CHECKPOINT))
}

/// The error for an input that is another one now.
fn changed(before: &InputFile, now: &InputFile) -> Error {
    let message = format!("`{}` has changed while it was read", before.path);
    let error = Error::new(ErrorKind::InputChanged, message)
        .hint("run the command again when nothing writes to it");
    let bytes =
        |input: &InputFile| input.bytes.map(|bytes| format!("{} bytes", format_count(bytes)));
    match (bytes(before), bytes(now)) {
        (Some(_), None) => error.note("it is not there any more"),
        (Some(old), Some(new)) if old != new => {
            error.note(format!("it had {old}, and has {new} now"))
        }
        (Some(old), _) if before.modified_ms == now.modified_ms => error
            .note(format!("it has {old} as before, but is another file now, or has been written")),
        (Some(old), _) => {
            let times = before.modified_ms.zip(now.modified_ms);
            let later = times.map_or(0, |(before, now)| now.saturating_sub(before)) as f64 / 1000.0;
            error.note(format!("it has {old} as before, but was last written {later:.3} s later"))
        }
        (None, _) => error,
    }
}

/// Length of a file, or of all files in a directory.
pub(crate) fn bytes_in(files: &Files, path: &Path) -> u64 {
    match files.entry(path) {
        Ok(Entry { is_directory: true, .. }) => {
            let entries = files.list(path).unwrap_or_default();
            entries.iter().map(|entry| bytes_in(files, &entry.path)).sum()
        }
        found => found.map_or(0, |entry| entry.bytes),
    }
}
