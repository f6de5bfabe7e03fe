//! [`Scratch`]: a directory of temporary files that is removed with all it holds, and that is known
//! for what it is if its process dies first.
//!
//! ```text
//!  WORK-DIR/.NAME.outcore/
//!    lock            locked as long as a job has the directory
//!    manifest.json   whose it is ([`Owner`]), and what its job adds; written first, removed last
//!    ...
//! ```
//! A process that was killed leaves its directory behind, and so does a job that keeps what the next one can
//! go on from; the next job of that name takes it over. It is one job's at a time: the system gives the
//! lock to one, and takes it back when the process ends, however it ends. Where there are no locks, the
//! number of the process in the manifest tells. No
//! other directory is ever touched: neither one whose process runs, nor one with files but without a
//! manifest, nor one whose manifest cannot be read. An empty one, or one with half a manifest, is
//! what is left if the process is killed as it makes or removes the directory, and can be used. A link,
//! or a directory of another user, is never used, nor is a file opened for writing by way of a link.

use super::files::{part_path, remove_all};
use super::{Files, Lock, disk};
use crate::error::{Error, ErrorKind, Result};
use std::io;
use std::path::{Path, PathBuf};

/// The name of the manifest.
pub(super) const MANIFEST: &str = "manifest.json";
/// The name of the file that is locked.
pub(super) const LOCK: &str = "lock";
/// Times that a directory may be removed by its job just as it is to be taken.
const TRIES: usize = 100;
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

    /// No process: that of a job that has ended.
    pub(crate) fn nobody() -> Self {
        Self { process: 0, process_start: None, ..Self::current() }
    }

    /// As the manifest of a directory that holds nothing else to tell of.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
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

/// A directory of temporary files; it is removed with its files when dropped, unless they are kept.
pub struct Scratch {
    files: Files,
    path: PathBuf,
    created_parent: Option<PathBuf>,
    /// Gone once it is dropped.
    lock: Option<Lock>,
    /// Whether what is in it is this job's, to be removed with it.
    is_ours: bool,
}

impl Scratch {
    /// Creates `name` in `parent`, the user's work directory, which is made if it is not there. What
    /// a process that no longer runs has left under that name is removed first.
    ///
    /// # Errors
    /// `Usage` if a running process has it, or if something else has this name; `CorruptFile` if its
    /// manifest cannot be read; `Io`.
    pub fn create(files: &Files, parent: &Path, name: &str) -> Result<Self> {
        let mut scratch = Self::take(files, parent, name)?;
        scratch.begin(&Owner::current().to_bytes(), &[])?;
        Ok(scratch)
    }

    /// Takes `name` in `parent` as it is, with what an earlier job has left in it; made if it is not there.
    /// Nothing in it is changed before [`Scratch::begin`].
    ///
    /// # Errors
    /// As [`Scratch::create`].
    pub(crate) fn take(files: &Files, parent: &Path, name: &str) -> Result<Self> {
        let path = parent.join(name);
        let has_parent = parent.as_os_str().is_empty() || files.entry(parent).is_ok();
        let created_parent = (!has_parent).then(|| parent.to_path_buf());
        let lock = lock(files, &path)?;
        // Only now does it stay as it is.
        check(files, &path, matches!(lock, Lock::Unsupported))?;
        let is_ours = files.entry(&manifest_path(&path)).is_err();
        let scratch =
            Self { files: files.clone(), path, created_parent, lock: Some(lock), is_ours };
        Ok(scratch)
    }

    /// Begins a job in it: `manifest`, JSON with the fields of [`Owner::current`], says from now on whose it
    /// is, and all is removed that is not in `kept`.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn begin(&mut self, manifest: &[u8], kept: &[&str]) -> Result<()> {
        // First: what is removed is not promised any more.
        self.files.write(&manifest_path(&self.path), manifest)?;
        self.is_ours = true;
        self.remove_but(kept);
        Ok(())
    }

    /// Ends the job, and leaves `kept` for the next one; `manifest` is [`Owner::nobody`]'s.
    pub(crate) fn keep(mut self, manifest: &[u8], kept: &[&str]) {
        self.remove_but(kept);
        // If the disk is full even for this, the manifest is that of a process that ends soon.
        let _ = self.files.write(&manifest_path(&self.path), manifest);
        self.is_ours = false;
    }

    fn remove_but(&self, kept: &[&str]) {
        let stays = |path: &Path| {
            let names = kept.iter().chain(&[LOCK, MANIFEST]);
            names.into_iter().any(|name| path.file_name() == Some(name.as_ref()))
        };
        for entry in self.files.list(&self.path).unwrap_or_default() {
            if stays(&entry.path) {
                continue;
            }
            // What cannot be removed is in nobody's way.
            if entry.is_directory {
                self.files.remove_all(&entry.path);
            } else {
                let _ = self.files.remove(&entry.path);
            }
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.is_ours {
            discard(&self.files, &self.path);
        }
        // Under the lock: nobody else's is removed. Some systems remove it only when it is closed.
        let lock = self.path.join(LOCK);
        let _ = self.files.storage.remove(&lock);
        self.lock = None;
        // Neither is possible as long as something is in there.
        let _ = self.files.storage.remove_directory(&self.path);
        if let Some(parent) = &self.created_parent {
            let _ = self.files.storage.remove_directory(parent);
        }
    }
}

/// Removes all that a directory holds but the lock. Directories lose their names first: half of what a
/// manifest tells of must not look like the whole, if this process is killed meanwhile.
fn discard(files: &Files, path: &Path) {
    let entries = files.list(path).unwrap_or_default();
    for (number, entry) in entries.iter().filter(|entry| entry.is_directory).enumerate() {
        let _ = files.storage.publish(&entry.path, &path.join(format!("discarded-{number}")));
    }
    remove_all(&*files.storage, path, &[LOCK]);
}

/// Makes the directory if it is not there, and locks it.
fn lock(files: &Files, path: &Path) -> Result<Lock> {
    let lock = path.join(LOCK);
    for _ in 0..TRIES {
        check_own(files, path)?;
        // Nothing is made in a directory that is none of these. One with a lock is told when it is held:
        // until then a job may be at work in it, from its first file to its last.
        let is_locked = || files.entry(&lock).is_ok();
        if !is_locked()
            && let Err(error) = check(files, path, false)
            && !is_locked()
        {
            return Err(error);
        }
        files.create_directory(path)?;
        match files.storage.lock(&lock) {
            Ok(Lock::Taken) => break,
            Ok(lock) => return Ok(lock),
            // Its job has just removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("lock", &lock, error)),
        }
    }
    // Between lock and manifest it is not yet known whose it is.
    let owner = Owner::read(files, path).ok().flatten();
    Err(in_use(path, owner.map(|owner| owner.process)))
}

fn in_use(path: &Path, process: Option<u32>) -> Error {
    let by = process.map_or("another process".into(), |number| format!("process {number}"));
    Error::new(ErrorKind::Usage, format!("`{}` is in use by {by}", path.display()))
        .hint("wait for that job, or use another `--work-dir`")
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

/// Refuses a directory that is not one of these, or, if its process decides, one that a process works in;
/// there may be none.
fn check(files: &Files, path: &Path, process_decides: bool) -> Result<()> {
    let Ok(entry) = files.entry(path) else { return Ok(()) };
    let in_the_way = || {
        let message =
            format!("`{}` is in the way: it is not a work directory of outcore", path.display());
        Err(Error::new(ErrorKind::Usage, message).hint("remove it, or use another `--work-dir`"))
    };
    if !entry.is_directory {
        return in_the_way();
    }
    check_own(files, path)?;
    match Owner::read(files, path)? {
        Some(owner) if process_decides && owner.is_running() => {
            Err(in_use(path, Some(owner.process)))
        }
        Some(_) => Ok(()),
        None => {
            let own = [path.join(LOCK), part_path(&manifest_path(path))];
            let entries = files.list(path)?;
            if entries.iter().all(|entry| own.contains(&entry.path)) {
                Ok(())
            } else {
                in_the_way()
            }
        }
    }
}
