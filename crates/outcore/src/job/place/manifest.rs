//! `manifest.json` of a work directory: its owner, its job, the job's inputs, and the finished stages.
//!
//! It is written completely under a temporary name and then renamed each time a stage ends, so a reader finds either
//! the old or the new version. Saved state to resume from is in a checkpoint (`resume`).

use crate::error::{Error, ErrorKind, Result};
use crate::io::{Files, Owner, damaged_manifest, manifest_path};
use crate::progress::Stage;
use crate::units::format_count;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Kind of job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum JobKind {
    /// Communities from edge lists.
    Cluster,
    /// A graph from edge lists.
    Build,
    /// Scores of communities.
    Score,
    /// A graph in another format.
    Export,
    /// Comparison of two results.
    Compare,
    /// Other: the directory was created by another part of the project.
    #[default]
    #[serde(other)]
    Other,
}

impl JobKind {
    /// Returns the name, as displayed and as stored in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Build => "build",
            Self::Score => "score",
            Self::Export => "export",
            Self::Compare => "compare",
            Self::Other => "other",
        }
    }
}

/// Input file of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Path as the user typed it; bytes that are not Unicode are replaced.
    pub path: String,
    /// Length in bytes, if it is a file and not a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Modification time in milliseconds since 1970, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_ms: Option<u64>,
    /// Tag by which the file system or server identifies the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Identifier of the device that holds it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

impl InputFile {
    /// Returns whether a change to the file can be detected.
    pub(in crate::job) fn is_known(&self) -> bool {
        self.bytes.is_some() && (self.modified_ms.is_some() || self.tag.is_some())
    }

    pub(in crate::job) fn new(files: &Files, path: &Path) -> Self {
        let entry = files.is_regular(path).then(|| files.entry(path).ok()).flatten();
        Self {
            path: path.display().to_string(),
            bytes: entry.as_ref().map(|entry| entry.bytes),
            modified_ms: entry.as_ref().and_then(|entry| entry.modified_ms),
            device: entry.as_ref().and_then(|_| Some(files.device(path)?.id())),
            tag: entry.and_then(|entry| entry.tag),
        }
    }

    /// Returns an error if the file, at `path`, has changed since.
    pub(in crate::job) fn check_unchanged(&self, files: &Files, path: &Path) -> Result<()> {
        let now = Self::new(files, path);
        if *self == now { Ok(()) } else { Err(self.changed(&now)) }
    }

    fn changed(&self, now: &Self) -> Error {
        let message = format!("`{}` has changed while it was read", self.path);
        let error = Error::new(ErrorKind::InputChanged, message)
            .hint("run the command again when nothing writes to it");
        let bytes =
            |input: &Self| input.bytes.map(|bytes| format!("{} bytes", format_count(bytes)));
        let Some(old) = bytes(self) else { return error };
        error.note(match bytes(now) {
            None => "it no longer exists".to_owned(),
            Some(new) if old != new => format!("it had {old} and now has {new}"),
            Some(_) if self.modified_ms == now.modified_ms => {
                format!("it still has {old}, but has been replaced or written to")
            }
            Some(_) => {
                let times = self.modified_ms.zip(now.modified_ms);
                let later = times.map_or(0, |(then, now)| now.saturating_sub(then)) as f64 / 1000.0;
                format!("it still has {old}, but was last written {later:.3} s later")
            }
        })
    }
}

/// Manifest of a work directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobManifest {
    /// Process that owns the directory.
    #[serde(flatten)]
    pub owner: Owner,
    /// Kind of job.
    #[serde(default)]
    pub job: JobKind,
    /// Inputs of the job, in order.
    #[serde(default)]
    pub inputs: Vec<InputFile>,
    /// Path of the result; `-` is standard output, and an empty string means no result.
    #[serde(default)]
    pub result: String,
    /// Finished stages, in order.
    #[serde(default)]
    pub stages_done: Vec<Stage>,
    /// Checksum of all fields except the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checksum: Option<u64>,
}

impl JobManifest {
    /// Creates the manifest of a new job of this process.
    pub(in crate::job) fn new<'a>(
        files: &Files,
        job: JobKind,
        inputs: impl Iterator<Item = &'a PathBuf>,
        result: &Path,
    ) -> Self {
        Self {
            owner: Owner::current(),
            job,
            inputs: inputs.map(|path| InputFile::new(files, path)).collect(),
            result: result.display().to_string(),
            stages_done: Vec::new(),
            checksum: None,
        }
    }

    /// Reads the manifest of `directory`, if it has one.
    ///
    /// # Errors
    /// `CorruptFile` if it is damaged, of another version, or another kind of file; `Io`.
    pub fn read(files: &Files, directory: &Path) -> Result<Option<Self>> {
        let Some(owner) = Owner::read(files, directory)? else { return Ok(None) };
        if !owner.is_of_this_version() {
            return Err(damaged_manifest(directory, "it was written by another version"));
        }
        let bytes = files.read(&manifest_path(directory))?;
        let manifest = serde_json::from_slice(&bytes)
            .map_err(|_| damaged_manifest(directory, "its fields are changed"))?;
        Ok(Some(manifest))
    }

    /// Returns whether the manifest is undamaged.
    pub(in crate::job) fn is_whole(&self) -> bool {
        self.checksum == Some(self.own_checksum())
    }

    fn own_checksum(&self) -> u64 {
        let all = (self.job, &self.inputs, &self.result, &self.stages_done);
        xxh3_64(&serde_json::to_vec(&all).expect("numbers, words and text are JSON"))
    }

    pub(in crate::job) fn to_bytes(&self) -> Vec<u8> {
        let sealed = Self { checksum: Some(self.own_checksum()), ..self.clone() };
        let mut bytes =
            serde_json::to_vec_pretty(&sealed).expect("numbers, words and text are JSON");
        bytes.push(b'\n');
        bytes
    }

    /// Replaces the manifest of `directory`.
    pub(in crate::job) fn write(&self, files: &Files, directory: &Path) -> Result<()> {
        files.write_own(&manifest_path(directory), &self.to_bytes())
    }
}
