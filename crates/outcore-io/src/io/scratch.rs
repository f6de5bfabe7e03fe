//! [`Scratch`]: a directory of temporary files that is removed with its content, and that is recognizable if
//! its process dies first.
//!
//! ```text
//!  WORK-DIR/.NAME.outcore/
//!    lock            locked as long as a job has the directory
//!    CACHEDIR.TAG    marks the directory as ours (and tells backup programs to skip it)
//!    manifest.json   its owner ([`Owner`]), and fields that its job adds
//!    ...
//!  .NAME.outcore-part/   the same, next to a file that is being written ([`Scratch::beside`])
//! ```
//! A killed process leaves its directory behind, and so does a job that retains saved state for the next one;
//! the next job of that name takes the directory over. One job at a time has it: the system grants the lock
//! to one process, and releases it when that process ends for any reason. Where there are no locks, the
//! process number in the manifest decides.
//!
//! No other directory is ever touched: neither one whose process is running, nor one with files in it that
//! neither its tag nor its manifest marks as ours. The tag is never rewritten, so that a damaged or missing
//! manifest only makes the job start from scratch. An empty directory, or one with an incomplete tag or
//! manifest, remains if the process is killed while it creates or removes the directory, and can be used. A
//! symbolic link or a directory of another user is never used, nor is a file opened for writing through a
//! link. If something cannot be removed, the tag stays, and the next job can take the directory over.

use super::files::{MANIFEST, part_path, remove_all};
use super::{Entry, Files, Lock, disk};
use crate::error::opt::WORK_DIR;
use crate::error::{Error, Result, Text};
use std::io;
use std::path::{Path, PathBuf};

/// Name of the lock file.
pub(super) const LOCK: &str = "lock";
/// Name of the file that marks the directory as a cache (<https://bford.info/cachedir/>).
pub(super) const TAG: &str = "CACHEDIR.TAG";
const TAG_TEXT: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55
# Temporary files of outcore, which removes them when the job of this name ends.
";
/// Hint for a file of the job that differs from what was written.
pub const SCRATCH_HINT: &str =
    "run the command again; if this repeats, the disk or the memory may be failing";
/// Number of attempts to take a directory that its job removes at that moment.
const TRIES: usize = 100;
const FORMAT: &str = "outcore work directory";
const VERSION: u32 = 1;

/// Owner of a scratch directory: the manifest fields that every version has.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Owner {
    format: String,
    version: u32,
    process: u32,
    /// Distinguishes the process from a later one with the same number, which is common in containers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process_start: Option<u64>,
}

impl Owner {
    /// Returns this process as the owner.
    pub fn current() -> Self {
        let process = std::process::id();
        let process_start = disk::process_start(process);
        Self { format: FORMAT.to_owned(), version: VERSION, process, process_start }
    }

    /// Returns an owner without a process, for a job that has ended.
    pub fn nobody() -> Self {
        Self { process: 0, process_start: None, ..Self::current() }
    }

    /// Returns the manifest of a directory whose job adds no fields.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers and text are JSON")
    }

    /// Returns the process number.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Whether the process is running; true where the system cannot tell.
    pub fn is_running(&self) -> bool {
        let starts = self.process_start.zip(disk::process_start(self.process));
        disk::process_lives(self.process) && starts.is_none_or(|(then, now)| then == now)
    }

    /// Whether the other fields of the manifest are those that this version writes.
    pub fn is_of_this_version(&self) -> bool {
        self.version == VERSION
    }

    /// Reads the owner from the manifest of `directory`, if there is one.
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

/// Returns the path of the manifest of `directory`.
pub fn manifest_path(directory: &Path) -> PathBuf {
    directory.join(MANIFEST)
}

/// Returns the error for a manifest that cannot be read.
pub fn damaged(directory: &Path, message: &str) -> Error {
    let hint = format!("remove `{}` if no job uses it", directory.display());
    Error::corrupt(&manifest_path(directory), message).hint(hint)
}

/// Directory of temporary files; it is removed with its files when dropped, unless they are retained.
pub struct Scratch {
    files: Files,
    path: PathBuf,
    created_parent: Option<PathBuf>,
    /// `None` once it has been released.
    lock: Option<Lock>,
    /// Whether the content is this job's, to be removed with the directory.
    is_ours: bool,
}

impl Scratch {
    /// Creates `name` in `parent`, the user's work directory, which is created if it does not exist. Files
    /// that a dead process has left under that name are removed first.
    ///
    /// # Errors
    /// `Usage` if a running process has it, or if the name is otherwise taken; `Io`.
    pub fn create(files: &Files, parent: &Path, name: &str) -> Result<Self> {
        let mut scratch = Self::take(files, parent, name)?;
        scratch.begin(&Owner::current().to_bytes(), &[])?;
        Ok(scratch)
    }

    /// Takes `name` in `parent` with the files that an earlier job has left in it; creates it if it does not
    /// exist. Nothing in it is changed before [`Scratch::begin`].
    ///
    /// # Errors
    /// As [`Scratch::create`].
    pub fn take(files: &Files, parent: &Path, name: &str) -> Result<Self> {
        let has_parent = parent.as_os_str().is_empty() || files.entry(parent).is_ok();
        let created_parent = (!has_parent).then_some(parent);
        let way_out = format_args!("use another {}", WORK_DIR.of("DIR")).into();
        let place = ScratchPlace { files, path: &parent.join(name), way_out };
        place.take(created_parent)
    }

    /// Takes the directory in which the file `path` grows until it gets its name. It lies next to the file,
    /// in a directory that must exist.
    ///
    /// # Errors
    /// As [`Scratch::create`].
    pub(super) fn beside(files: &Files, path: &Path) -> Result<Self> {
        let own = &Self::path_beside(path);
        ScratchPlace { files, path: own, way_out: "write to another file".into() }.take(None)
    }

    /// Returns the path of the directory of [`Scratch::beside`].
    pub fn path_beside(path: &Path) -> PathBuf {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".outcore-part");
        path.with_file_name(name)
    }

    /// Starts a job in the directory: writes `manifest`, JSON with the fields of [`Owner::current`], and
    /// removes everything that is not in `kept`.
    ///
    /// # Errors
    /// `Io`.
    pub fn begin(&mut self, manifest: &[u8], kept: &[&str]) -> Result<()> {
        if !is_tagged(&self.files, &self.path) {
            self.files.write_own(&self.path.join(TAG), TAG_TEXT)?;
        }
        // Record the owner before anything else.
        self.files.write_own(&manifest_path(&self.path), manifest)?;
        self.is_ours = true;
        self.remove_but(kept);
        Ok(())
    }

    /// Ends the job, and retains `kept` for the next one; `manifest` is [`Owner::nobody`]'s.
    pub fn leave(mut self, manifest: &[u8], kept: &[&str]) {
        self.remove_but(kept);
        // If the disk is too full even for this, the old manifest names a process that is about to end.
        let _ = self.files.write_own(&manifest_path(&self.path), manifest);
        self.is_ours = false;
    }

    fn remove_but(&self, kept: &[&str]) {
        let stays = |path: &Path| {
            let names = kept.iter().chain(&[LOCK, TAG, MANIFEST]);
            names.into_iter().any(|name| path.file_name() == Some(name.as_ref()))
        };
        for entry in self.files.list(&self.path).unwrap_or_default() {
            if stays(&entry.path) {
                continue;
            }
            // A file that cannot be removed is harmless.
            if entry.is_directory {
                self.files.remove_all(&entry.path);
            } else {
                let _ = self.files.remove(&entry.path);
            }
        }
    }

    /// Whether the directory holds nothing of an earlier job.
    pub fn is_empty(&self) -> bool {
        let entries = self.files.list(&self.path).unwrap_or_default();
        entries.iter().all(|entry| [LOCK, TAG].iter().any(|name| entry.path.ends_with(name)))
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.is_ours {
            discard(&self.files, &self.path);
        }
        // While the lock is held, so that no other job's files are removed. Some systems remove it only on close.
        let lock = self.path.join(LOCK);
        let _ = self.files.storage.remove(&lock);
        self.lock = None;
        // Neither succeeds as long as the directory is not empty.
        let _ = self.files.storage.remove_directory(&self.path);
        if let Some(parent) = &self.created_parent {
            let _ = self.files.storage.remove_directory(parent);
        }
    }
}

/// Removes the content of a directory except for the lock. Subdirectories are renamed before they are removed: if
/// this process is killed meanwhile, an incomplete one must not look complete.
fn discard(files: &Files, path: &Path) {
    let entries = files.list(path).unwrap_or_default();
    for (number, entry) in entries.iter().filter(|entry| entry.is_directory).enumerate() {
        let _ = files.storage.publish(&entry.path, &path.join(format!("discarded-{number}")));
    }
    remove_all(&*files.storage, path, &[LOCK, TAG]);
    // The tag goes last, and only if nothing else remains: otherwise the directory stays marked as ours.
    let is_known = |entry: &Entry| [LOCK, TAG].iter().any(|name| entry.path.ends_with(name));
    if files.list(path).is_ok_and(|left| left.iter().all(is_known)) {
        let _ = files.storage.remove(&path.join(TAG));
    }
}

/// Whether the tag of a directory marks it as ours.
fn is_tagged(files: &Files, path: &Path) -> bool {
    let tag = path.join(TAG);
    let is_of_its_length =
        files.entry(&tag).is_ok_and(|entry| entry.bytes == TAG_TEXT.len() as u64);
    is_of_its_length && files.read(&tag).is_ok_and(|text| text == TAG_TEXT)
}

/// Directory to be taken.
struct ScratchPlace<'a> {
    files: &'a Files,
    path: &'a Path,
    /// Alternative for the user if that fails.
    way_out: Text,
}

impl ScratchPlace<'_> {
    /// Takes the directory. If `created_parent` is given, creates that parent now, and removes it later.
    fn take(&self, created_parent: Option<&Path>) -> Result<Scratch> {
        let is_new = self.files.entry(self.path).is_err();
        let lock = self.lock(created_parent)?;
        // From here on nobody else changes it.
        if let Err(error) = self.check(matches!(lock, Lock::Unsupported)) {
            if is_new {
                let _ = self.files.storage.remove(&self.path.join(LOCK));
                let _ = self.files.storage.remove_directory(self.path);
            }
            return Err(error);
        }
        let is_ours = self.files.entry(&manifest_path(self.path)).is_err();
        Ok(Scratch {
            files: self.files.clone(),
            path: self.path.to_path_buf(),
            created_parent: created_parent.map(Path::to_path_buf),
            lock: Some(lock),
            is_ours,
        })
    }

    /// Creates the directory if it does not exist, and locks it.
    fn lock(&self, created_parent: Option<&Path>) -> Result<Lock> {
        let lock = self.path.join(LOCK);
        for _ in 0..TRIES {
            self.check_own()?;
            // Creates nothing in a foreign directory. A directory with a lock file is checked only once the lock is
            // held, because until then a job may create and remove any files in it.
            let is_locked = || self.files.entry(&lock).is_ok();
            // A directory that its job removes during the check is not foreign.
            if !is_locked()
                && let Err(error) = self.check(false)
                && !is_locked()
                && self.files.entry(self.path).is_ok()
            {
                return Err(error);
            }
            if let Some(parent) = created_parent {
                let made = self.files.create_directory(parent);
                made.map_err(|error| error.hint(self.way_out.clone()))?;
            }
            self.files.storage.create_private_directory(self.path).map_err(|error| {
                let error = Error::io("create directory", self.path, error);
                let is_explained = error.hint_text().is_some();
                if is_explained { error } else { error.hint(self.way_out.clone()) }
            })?;
            match self.files.storage.lock(&lock) {
                Ok(Lock::Taken) => break,
                Ok(lock) => return Ok(lock),
                // The job of this directory has just removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    // Unless another job is at work there, it is empty.
                    let _ = self.files.storage.remove_directory(self.path);
                    return Err(Error::io("lock", &lock, error));
                }
            }
        }
        // Between the lock and the manifest, the owner is not known yet.
        let owner = Owner::read(self.files, self.path).ok().flatten();
        Err(self.in_use(owner.map(|owner| owner.process)))
    }

    fn in_use(&self, process: Option<u32>) -> Error {
        let by = process.map_or("another process".into(), |number| format!("process {number}"));
        self.refused(&format!("is in use by {by}"), "wait for that job")
    }

    fn refused(&self, why: &str, hint: &str) -> Error {
        let message = format!("`{}` {why}", self.path.display());
        Error::usage(message).hint(format_args!("{hint}, or {}", self.way_out))
    }

    /// Refuses a link or a directory of another user: anybody who may write in the parent could have prepared
    /// it so that files elsewhere are overwritten or removed.
    fn check_own(&self) -> Result<()> {
        let is_there = self.files.entry(self.path).is_ok_and(|entry| entry.is_directory);
        if !is_there || self.files.storage.is_own(self.path) {
            return Ok(());
        }
        let hint = "if you know why it is there, remove it";
        Err(self.refused("is a link or belongs to another user", hint))
    }

    /// Refuses a directory that is not a work directory, or, if its process decides, one with a running
    /// process; accepts a missing one.
    fn check(&self, process_decides: bool) -> Result<()> {
        let Self { files, path, .. } = self;
        let Ok(entry) = files.entry(path) else { return Ok(()) };
        let in_the_way = || {
            Err(self.refused("is in the way: it is not a work directory of outcore", "remove it"))
        };
        if !entry.is_directory {
            return in_the_way();
        }
        self.check_own()?;
        match Owner::read(files, path) {
            Ok(Some(owner)) if process_decides && owner.is_running() => {
                Err(self.in_use(Some(owner.process)))
            }
            Ok(Some(_)) => Ok(()),
            _ if is_tagged(files, path) => Ok(()),
            Err(error) => Err(error),
            Ok(None) => {
                let (tag, manifest) = (path.join(TAG), manifest_path(path));
                let own = [path.join(LOCK), part_path(&tag), part_path(&manifest)];
                match files.list(path)?.iter().all(|entry| own.contains(&entry.path)) {
                    true => Ok(()),
                    false => in_the_way(),
                }
            }
        }
    }
}
