//! `manifest.json` of a work directory: whose it is, which job's, from which inputs, and how far the
//! job has come.
//!
//! It is written whole and under a temporary name each time a stage ends, so a reader finds the one
//! before or the one after. What the next job can resume from stands in a checkpoint (`resume`).

use crate::error::Result;
use crate::io::{Files, Owner, damaged_manifest, manifest_path};
use crate::progress::Stage;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// What a job makes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum JobKind {
    /// Communities from edge lists.
    Cluster,
    /// A graph from edge lists.
    Build,
    /// Measures of communities.
    Score,
    /// Something else: another part of the project has made the directory.
    #[default]
    #[serde(other)]
    Other,
}

impl JobKind {
    /// The name as shown and as stored in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Build => "build",
            Self::Score => "score",
            Self::Other => "other",
        }
    }
}

/// One file that a job reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// As the user named it; what is not Unicode is replaced.
    pub path: String,
    /// Length, if it is a file and not a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// When it was last written, in milliseconds since 1970, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_ms: Option<u64>,
    /// What the system tells its content by: that of the disk, or a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// What it lies on, if that is a disk that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

impl InputFile {
    /// Whether a change to it would be seen.
    pub(super) fn is_known(&self) -> bool {
        self.bytes.is_some() && (self.modified_ms.is_some() || self.tag.is_some())
    }

    pub(super) fn new(files: &Files, path: &Path) -> Self {
        let entry = files.is_regular(path).then(|| files.entry(path).ok()).flatten();
        Self {
            path: path.display().to_string(),
            bytes: entry.as_ref().map(|entry| entry.bytes),
            modified_ms: entry.as_ref().and_then(|entry| entry.modified_ms),
            device: entry.as_ref().and_then(|_| Some(files.device(path)?.id())),
            tag: entry.and_then(|entry| entry.tag),
        }
    }
}

/// What a work directory says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobManifest {
    /// The process that works in it.
    #[serde(flatten)]
    pub owner: Owner,
    /// What the job makes.
    #[serde(default)]
    pub job: JobKind,
    /// What the job reads, in order.
    #[serde(default)]
    pub inputs: Vec<InputFile>,
    /// Where the result goes; `-` is standard output, and nothing stands for no result.
    #[serde(default)]
    pub result: String,
    /// The stages that are finished, in order.
    #[serde(default)]
    pub stages_done: Vec<Stage>,
    /// Of all these but the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checksum: Option<u64>,
}

impl JobManifest {
    /// That of a job of this process that begins.
    pub(super) fn new<'a>(
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

    /// Reads that of `directory`, if it has one.
    ///
    /// # Errors
    /// `CorruptFile` if it is damaged, of another version, or another kind of file; `Io`.
    pub fn read(files: &Files, directory: &Path) -> Result<Option<Self>> {
        let Some(owner) = Owner::read(files, directory)? else { return Ok(None) };
        if !owner.is_of_this_version() {
            return Err(damaged_manifest(directory, "it is of another version"));
        }
        let bytes = files.read(&manifest_path(directory))?;
        let manifest = serde_json::from_slice(&bytes)
            .map_err(|_| damaged_manifest(directory, "its fields are changed"))?;
        Ok(Some(manifest))
    }

    /// Whether it is as it was written.
    pub(super) fn is_whole(&self) -> bool {
        self.checksum == Some(self.own_checksum())
    }

    fn own_checksum(&self) -> u64 {
        let all = (self.job, &self.inputs, &self.result, &self.stages_done);
        xxh3_64(&serde_json::to_vec(&all).expect("numbers, words and text are JSON"))
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let sealed = Self { checksum: Some(self.own_checksum()), ..self.clone() };
        let mut bytes =
            serde_json::to_vec_pretty(&sealed).expect("numbers, words and text are JSON");
        bytes.push(b'\n');
        bytes
    }

    /// Replaces that of `directory`.
    pub(super) fn write(&self, files: &Files, directory: &Path) -> Result<()> {
        files.write_own(&manifest_path(directory), &self.to_bytes())
    }
}
