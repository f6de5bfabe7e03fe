//! What a job on edges leaves when it ends early, and what the next one goes on from.
//!
//! ```text
//!  WORK-DIR/.RESULT.outcore/
//!    manifest.json   what the files here are made of, and the stages that are finished
//!    runs/           runs, their index, self scores: when the stage `read` is finished, until `merge` is;
//!                    before that those of the last point that was kept (`halfway`)
//!    graph/names     the same
//!    graph/          whole when the stage `merge` is; of a job that builds a graph somewhere else, in a
//!                    directory like this one beside its name, from where it can be renamed
//!    sweeps/         what the clustering has come to (`cluster::saves`); it says itself of what it is
//! ```
//! Nothing is promised by a manifest before it has reached the disk, and nothing is removed that one still
//! promises. The next job goes on if inputs (path, length, time of the last change; on disk also the file's number and device, and the
//! change to its description; on servers their tags), options of reading and version are the same; else it begins anew, and says why.

use super::{InputFile, InputReport, Job, JobKind, JobOptions, Manifest, ReadSoFar, scratch_name};
use crate::cluster::{SAVED, STATE};
use crate::error::opt::RESTART;
use crate::error::{Error, ErrorKind, Result, Text};
use crate::graph::{Graph, Names};
use crate::io::{Entry, Files, Owner, Scratch, Sealed, Writer};
use crate::progress::{Event, Stage, tell};
use crate::sort::check_kept;
use crate::units::{format_bytes, format_count, format_counted};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// The directory of a graph that is to be clustered.
pub(super) const GRAPH: &str = "graph";
/// The directory of runs, and in it the index of these, and the file of self scores.
pub(super) const RUNS: &str = "runs";
pub(super) const INDEX: &str = "runs";
pub(super) const SCORES: &str = "scores";
/// The directory of names that have no room in memory.
pub(super) const SPILLED: &str = "names";

/// What a graph is made of: a job with the same may go on from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeOf {
    /// Version of the engine.
    pub version: String,
    /// Its edges, and the list of nodes last.
    pub inputs: Vec<InputFile>,
    /// Options of reading, in the engine's own words.
    pub options: String,
}

impl MadeOf {
    pub(super) fn new(files: &Files, options: &JobOptions) -> Self {
        let JobOptions { input, duplicates, keep_loops, min_weight, max_weight, normalize, .. } =
            options;
        let rules = (duplicates, keep_loops, min_weight, max_weight, normalize);
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            options: format!("{input:?}, {rules:?}"),
            inputs: input.all_paths().map(|path| InputFile::new(files, path)).collect(),
        }
    }

    /// Whether all inputs can be read again, and a change to them would be seen.
    fn is_known(&self) -> bool {
        self.inputs.iter().all(InputFile::is_known)
    }

    /// Why a job on `now` cannot go on from this, if it cannot.
    fn difference(&self, now: &Self) -> Option<String> {
        let paths = |made: &Self| made.inputs.iter().map(|input| input.path.clone()).collect();
        let (before, after): (Vec<String>, Vec<String>) = (paths(self), paths(now));
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

/// What reading has left for the merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadDone {
    /// Nodes.
    pub node_count: u64,
    /// Their names, in the directory of the graph.
    pub names: Sealed,
    /// The index of the runs, as long as these are whole; there are none if the sort stayed in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Sealed>,
    /// Self scores, if weights are divided by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Sealed>,
    /// The memory limit with which it was read.
    pub memory_bytes: u64,
    /// What the input held.
    pub input: InputReport,
    /// What was warned of.
    pub warnings: Vec<String>,
    /// Of all these, in compact JSON with 0 in this place.
    pub checksum: u64,
}

impl ReadDone {
    /// With its checksum.
    pub(super) fn sealed(mut self) -> Self {
        self.checksum = self.own_checksum();
        self
    }

    /// The same when its runs are used up.
    pub(super) fn without_runs(self) -> Self {
        Self { runs: None, scores: None, ..self }.sealed()
    }

    fn own_checksum(&self) -> u64 {
        checksum_of(&Self { checksum: 0, ..self.clone() })
    }

    /// Why the merge cannot go on from it, if it cannot; for all but what is inside of files.
    fn fault(&self, files: &Files, directory: &Path, graph: &Path) -> Option<String> {
        if self.checksum != self.own_checksum() {
            return Some("the manifest of what is there is damaged".into());
        }
        let names = Names::open(files, graph);
        let is_named =
            |names: &Names| names.sealed() == self.names && names.count() == self.node_count;
        let scores = directory.join(RUNS).join(SCORES);
        let bytes = || files.entry(&scores).map_or(0, |entry| entry.bytes);
        if !names.is_ok_and(|names| is_named(&names)) {
            return Some("the names that were there are gone".into());
        }
        if self.scores.is_some_and(|scores| bytes() != scores.bytes) {
            return Some("the self scores that were there are gone".into());
        }
        let runs = check_kept(files, &directory.join(RUNS), (INDEX, self.runs?));
        runs.err().map(|error| error.message().to_owned())
    }
}

/// Of a part of a manifest, whose own checksum is 0.
pub(super) fn checksum_of(blank: &impl Serialize) -> u64 {
    xxh3_64(&serde_json::to_vec(blank).expect("numbers and text are JSON"))
}

/// What an earlier job has left.
#[derive(Debug)]
pub(super) enum Left {
    Nothing,
    /// A part of the input is read.
    SoFar(Box<ReadSoFar>),
    /// The input is read, and all runs are made.
    Runs(Box<ReadDone>),
    /// The graph is whole.
    Graph,
}

impl Left {
    /// What of the work directory is used again.
    fn names(&self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &[],
            Self::SoFar(so_far) if so_far.spill.is_some() => &[RUNS, GRAPH, SPILLED],
            Self::SoFar(_) | Self::Runs(_) => &[RUNS, GRAPH],
            Self::Graph => &[GRAPH, SAVED],
        }
    }

    /// What that is for people.
    fn what(&self, inputs: &[InputFile]) -> String {
        let files = format_counted(inputs.len() as u64, "file", "files");
        match self {
            Self::Nothing => "nothing".into(),
            Self::SoFar(so_far) => {
                let all = inputs.iter().filter_map(|input| input.bytes).sum();
                let (done, all) = (format_bytes(so_far.input.done_bytes), format_bytes(all));
                format!("the input read so far ({done} of {all} in {files})")
            }
            Self::Runs(_) => format!("the runs of {files}"),
            Self::Graph => format!("the graph of {files}"),
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
            _ => !matches!(self, Self::SoFar(_)),
        }
    }
}

impl Manifest {
    /// What its job has left, if there is nothing wrong with it.
    fn left(&self) -> Left {
        if self.made_of.is_some() && self.stages_done.contains(&Stage::Merge) {
            return Left::Graph;
        }
        match &self.read {
            Some(read) if self.made_of.is_some() && read.runs.is_some() => {
                Left::Runs(Box::new(read.clone()))
            }
            _ => match &self.so_far {
                Some(so_far) if self.made_of.is_some() && !so_far.is_used_up => {
                    Left::SoFar(so_far.clone())
                }
                _ => Left::Nothing,
            },
        }
    }
}

impl Job<'_> {
    /// Makes the directory for temporary files of a job on edges, whose graph will be in `graph`; or takes it
    /// over, with what an earlier job of the kind has left of the same edges.
    pub(super) fn scratch_of_edges<'p>(
        &mut self,
        kind: JobKind,
        inputs: impl Iterator<Item = &'p PathBuf>,
        edges: &JobOptions,
        result: &Path,
        graph: &Path,
    ) -> Result<(Scratch, Left)> {
        let mut manifest = Manifest::new(self.files, kind, inputs, result);
        let is_named = is_named(self.files, result);
        let made_of = MadeOf::new(self.files, edges);
        self.inputs.clone_from(&made_of.inputs);
        manifest.made_of = Some(made_of).filter(|made| is_named && made.is_known());
        let mut scratch = Scratch::take(self.files, &edges.work_dir, &scratch_name(result))?;
        let left = match Manifest::read(self.files, scratch.path()) {
            _ if edges.restart => Left::Nothing,
            Ok(Some(earlier)) => {
                self.take_over(&mut manifest, &earlier, edges, scratch.path(), graph)?
            }
            Ok(None) if scratch.is_empty() => Left::Nothing,
            // One that cannot be read promises nothing.
            Ok(None) => self.begin_anew("the manifest of what is there is gone")?,
            Err(error) => self.begin_anew(error.message())?,
        };
        scratch.begin(&manifest.to_bytes(), left.names())?;
        if let (Left::Runs(_) | Left::Graph, Some(path)) = (&left, &edges.input.rejects) {
            Writer::discard(self.files, path);
        }
        self.manifest = Some((manifest, scratch.path().to_path_buf()));
        self.report.resumed = !matches!(left, Left::Nothing);
        self.goes_on = self.report.resumed;
        Ok((scratch, left))
    }

    fn begin_anew(&self, reason: &str) -> Result<Left> {
        tell(self.observer, Event::Warning { text: &format!("begins anew: {reason}") })?;
        Ok(Left::Nothing)
    }

    /// What of `earlier` can be gone on from; `manifest` then says so as well.
    fn take_over(
        &mut self,
        manifest: &mut Manifest,
        earlier: &Manifest,
        edges: &JobOptions,
        directory: &Path,
        graph: &Path,
    ) -> Result<Left> {
        let left = earlier.left();
        let Some(before) = earlier.made_of.as_ref().filter(|_| !matches!(left, Left::Nothing))
        else {
            return Ok(Left::Nothing);
        };
        let fault = || match &left {
            Left::Nothing => None,
            Left::SoFar(so_far) => so_far.fault(self.files, edges, directory, graph),
            Left::Runs(read) => read.fault(self.files, directory, graph),
            Left::Graph => match Graph::open(self.files, graph) {
                Err(error) => Some(error.message().to_owned()),
                Ok(graph) if earlier.graph.as_deref() != Some(graph.checksum()) => {
                    Some(format!("`{}` is another graph now", graph.directory().display()))
                }
                Ok(_) => None,
            },
        };
        // They were written while the input was read.
        let rejects = || {
            let finished = edges.input.rejects.as_ref().filter(|_| !matches!(left, Left::SoFar(_)));
            let path = finished.filter(|path| !self.files.is_regular(path))?;
            Some(format!("`{}` is not there any more", path.display()))
        };
        let reason = match &manifest.made_of {
            _ if earlier.job != manifest.job => Some("what is there is of another job".into()),
            None => Some("the input cannot be read again to compare it".into()),
            Some(now) => before.difference(now).or_else(rejects).or_else(fault),
        };
        if let Some(reason) = reason {
            return self.begin_anew(&reason);
        }
        manifest.stages_done.clone_from(&earlier.stages_done);
        manifest.stages_done.retain(|stage| matches!(stage, Stage::Read | Stage::Merge));
        manifest.read.clone_from(&earlier.read);
        manifest.graph.clone_from(&earlier.graph);
        manifest.so_far.clone_from(&earlier.so_far);
        Ok(left)
    }

    /// The error if a file among the edges is not what it was when the job began.
    pub(super) fn check_inputs(&self, edges: &JobOptions) -> Result<()> {
        for (before, path) in self.inputs.iter().zip(edges.input.all_paths()) {
            let now = InputFile::new(self.files, path);
            if *before != now {
                return Err(changed(before, &now));
            }
        }
        Ok(())
    }

    /// Ends a job on edges. After an error, what the next one can go on from stays, and the error tells of
    /// it; all else goes.
    pub(super) fn end<T>(
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
        let left = Some(manifest.left()).filter(|left| left.is_of_use(&error));
        let left = left.unwrap_or(Left::Nothing);
        if matches!(left, Left::Nothing) {
            drop(scratch);
            if let (Some(path), Some(_)) = (&edges.input.rejects, &manifest.so_far) {
                Writer::discard(self.files, path);
            }
            return Err(error);
        }
        let directory = scratch.path().to_path_buf();
        manifest.owner = Owner::nobody();
        scratch.keep(&manifest.to_bytes(), left.names());
        let mut what = left.what(manifest.made_of.as_ref().map_or(&[][..], |made| &made.inputs));
        if has_sweeps(self.files, &directory) {
            what += " and the sweeps so far";
        }
        let mut places = vec![directory.clone()];
        if !graph.starts_with(&directory) {
            places.push(graph.to_path_buf());
        }
        if let (Left::SoFar(_), Some(path)) = (&left, &edges.input.rejects) {
            places.push(Writer::kept_path(self.files, path));
        }
        Err(error.kept(self.told(&what, &places)))
    }

    /// Marks an error that may be of what was taken over.
    fn of_earlier_run(&self, error: Error) -> Error {
        let is_of_earlier_run = self.goes_on && error.kind() == ErrorKind::CorruptFile;
        if is_of_earlier_run { error.of_earlier_run() } else { error }
    }

    /// Ends a clustering of a graph that was there. After an error, sweeps that were saved stay.
    pub(super) fn end_sweeps(
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
        scratch.keep(&manifest.to_bytes(), &[SAVED]);
        Err(error.kept(self.told("the sweeps so far", &[directory])))
    }

    /// What was kept, and what to do about it.
    fn told(&self, what: &str, places: &[PathBuf]) -> Text {
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
pub(super) fn has_sweeps(files: &Files, directory: &Path) -> bool {
    files.is_regular(&directory.join(SAVED).join(STATE))
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
pub(super) fn bytes_in(files: &Files, path: &Path) -> u64 {
    match files.entry(path) {
        Ok(Entry { is_directory: true, .. }) => {
            let entries = files.list(path).unwrap_or_default();
            entries.iter().map(|entry| bytes_in(files, &entry.path)).sum()
        }
        found => found.map_or(0, |entry| entry.bytes),
    }
}
