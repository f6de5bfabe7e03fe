//! [`Scratch`]: a directory of temporary files that is removed with all it holds, and that is known
//! for what it is if its process dies first.
//!
//! ```text
//!  WORK-DIR/.NAME.outcore/
//!    manifest.json   whose it is ([`Owner`]), and what its job adds; written first, removed last
//!    ...
//! ```
//! A process that was killed leaves its directory behind; the next job of that name removes it, or takes
//! it over with what it can use. No
//! other directory is ever removed: neither one whose process runs, nor one with files but without a
//! manifest, nor one whose manifest cannot be read. An empty one, or one with half a manifest, is
//! what is left if the process is killed as it makes or removes the directory, and can be used. A link,
//! or a directory of another user, is never used, nor is a file opened for writing by way of a link.

use super::files::{part_path, remove_all};
use super::{Files, disk};
use crate::error::{Error, ErrorKind, Result};
use std::io;
use std::path::{Path, PathBuf};

/// The name of the manifest.
pub(super) const MANIFEST: &str = "manifest.json";
/// The directory in it that a later process may go on from.
pub(crate) const KEPT: &str = "graph";
const FORMAT: &str = "outcore work directory";
const VERSION: u32 = 1;

/// Whose a scratch directory is: the fields that a manifest has in every version.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Owner {
    format: String,
    version: u32,
    process: u32,
    /// Tells the process from a later one with the same number, which is the rule in containers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process_start: Option<u64>,
}

impl Owner {
    /// This process.
    pub fn current() -> Self {
        let process = std::process::id();
        let process_start = disk::process_start(process);
        Self { format: FORMAT.to_owned(), version: VERSION, process, process_start }
    }

    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers and text are JSON")
    }

    /// The number of the process.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Whether the process runs; yes where the system cannot tell.
    pub fn is_running(&self) -> bool {
        let starts = self.process_start.zip(disk::process_start(self.process));
        disk::process_lives(self.process) && starts.is_none_or(|(then, now)| then == now)
    }

    /// Whether the rest of the manifest is of the form that this version writes.
    pub fn is_of_this_version(&self) -> bool {
        self.version == VERSION
    }

    /// Reads it from the manifest of `directory`, if there is one.
    ///
    /// # Errors
    /// `CorruptFile` if it is not such a manifest; `Io`.
    pub fn read(files: &Files, directory: &Path) -> Result<Option<Self>> {
        let path = manifest_path(directory);
        if files.entry(&path).is_err() {
            return Ok(None);
        }
        let owner: Option<Self> = serde_json::from_slice(&files.read(&path)?).ok();
        match owner.filter(|owner| owner.format == FORMAT) {
            Some(owner) => Ok(Some(owner)),
            None => Err(damaged(directory, "it does not say whose directory this is")),
        }
    }
}

/// Where the manifest of `directory` is.
pub(crate) fn manifest_path(directory: &Path) -> PathBuf {
    directory.join(MANIFEST)
}

/// A manifest that cannot be read.
pub(crate) fn damaged(directory: &Path, message: &str) -> Error {
    let hint = format!("if no job uses `{}` any more, remove it", directory.display());
    Error::corrupt(&manifest_path(directory), message).hint(hint)
}

/// A directory of temporary files; it is removed with its files when dropped, whatever happened.
pub struct Scratch {
    files: Files,
    path: PathBuf,
    created_parent: Option<PathBuf>,
}

impl Scratch {
    /// Creates `name` in `parent`, the user's work directory, which is made if it is not there. What
    /// a process that no longer runs has left under that name is removed first.
    ///
    /// # Errors
    /// `Usage` if a running process owns it, or if something else has this name; `CorruptFile` if its
    /// manifest cannot be read; `Io`.
    pub fn create(files: &Files, parent: &Path, name: &str) -> Result<Self> {
        Self::create_with(files, parent, name, &Owner::current().to_bytes())
    }

    /// As [`Scratch::create`], with a manifest that says more: JSON with the fields of
    /// [`Owner::current`] in it.
    pub(crate) fn create_with(
        files: &Files,
        parent: &Path,
        name: &str,
        manifest: &[u8],
    ) -> Result<Self> {
        let path = parent.join(name);
        let has_parent = parent.as_os_str().is_empty() || files.entry(parent).is_ok();
        check_own(files, &path)?;
        if files.entry(&path).is_ok() {
            remove_dead(files, &path)?;
        }
        // What is there now was made by somebody else in the meantime.
        let made = files.storage.create_new_directory(&path);
        made.map_err(|error| Error::io("create directory", &path, error))?;
        let created_parent = (!has_parent).then(|| parent.to_path_buf());
        let scratch = Self { files: files.clone(), path, created_parent };
        files.write(&manifest_path(&scratch.path), manifest)?;
        Ok(scratch)
    }

    /// Takes over `name` in `parent`, which a process that no longer runs has left: [`KEPT`] stays, all else
    /// is removed.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn take_over(
        files: &Files,
        parent: &Path,
        name: &str,
        manifest: &[u8],
    ) -> Result<Self> {
        let path = parent.join(name);
        check_own(files, &path)?;
        // Whose it is now comes first: another process that looks finds it in use.
        files.write(&manifest_path(&path), manifest)?;
        let scratch = Self { files: files.clone(), path, created_parent: None };
        for entry in files.list(&scratch.path)? {
            let is_kept =
                [KEPT, MANIFEST].map(|name| scratch.path.join(name)).contains(&entry.path);
            if !is_kept && entry.is_directory {
                files.remove_all(&entry.path);
            } else if !is_kept {
                files.remove(&entry.path)?;
            }
        }
        Ok(scratch)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        discard(&self.files, &self.path);
        if let Some(parent) = &self.created_parent {
            let _ = self.files.storage.remove_directory(parent);
        }
    }
}

/// Removes a directory with all it holds. What a later process might go on from loses its name first: half
/// of it must not look like the whole, if this process is killed meanwhile.
fn discard(files: &Files, path: &Path) {
    let kept = path.join(KEPT);
    if files.entry(&kept).is_ok() {
        let _ = files.storage.publish(&kept, &path.join("discarded"));
    }
    remove_all(&*files.storage, path);
}

/// Refuses a link, and what belongs to another user: who may write in the work directory could have
/// prepared it so that files elsewhere are overwritten or removed.
fn check_own(files: &Files, path: &Path) -> Result<()> {
    let is_there = files.entry(path).is_ok_and(|entry| entry.is_directory);
    if !is_there || files.storage.is_own(path) {
        return Ok(());
    }
    let message = format!("`{}` is a link, or of another user", path.display());
    let hint = "if you know why it is there, remove it; or use another `--work-dir`";
    Err(Error::new(ErrorKind::Usage, message).hint(hint))
}

/// Removes what a process that no longer runs has left, or nothing.
fn remove_dead(files: &Files, path: &Path) -> Result<()> {
    let refuse = |message: String, hint: &str| {
        Err(Error::new(ErrorKind::Usage, format!("`{}` {message}", path.display())).hint(hint))
    };
    match Owner::read(files, path)? {
        Some(owner) if owner.is_running() => refuse(
            format!("is in use by process {}", owner.process),
            "wait for that job, or use another `--work-dir`",
        ),
        Some(_) => {
            discard(files, path);
            Ok(())
        }
        None => {
            // There may be none.
            let _ = files.storage.remove(&part_path(&manifest_path(path)));
            match files.storage.remove_directory(path) {
                Err(error) if is_in_the_way(&error) => refuse(
                    "is in the way: it is not a work directory of outcore".into(),
                    "remove it, or use another `--work-dir`",
                ),
                other => other.map_err(|error| Error::io("remove directory", path, error)),
            }
        }
    }
}

/// Whether a directory could not be removed because it holds something, or is none.
fn is_in_the_way(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory)
}
