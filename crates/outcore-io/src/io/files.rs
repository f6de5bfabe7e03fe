//! [`Files`]: a storage with byte counters and errors that name the path.

use super::cramped::Cramped;
use super::held::Held;
use super::ram::Ram;
use super::tuning::Tuning;
use super::{Device, Disk, Entry, File, Mode, Storage};
use crate::budget::Limits;
use crate::error::{Error, Result};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Name of the manifest in a work directory.
pub(super) const MANIFEST: &str = "manifest.json";

/// Bytes moved through a [`Files`] since it was created.
#[derive(Debug, Default)]
pub struct Counters {
    read: AtomicU64,
    written: AtomicU64,
}

impl Counters {
    /// Returns the bytes read.
    pub fn read_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
    /// Returns the bytes written.
    pub fn write_bytes(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
    pub(super) fn add_read(&self, bytes: usize) {
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }
    pub(super) fn add_written(&self, bytes: usize) {
        self.written.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Storage with byte counters and transfer settings; cheap to clone.
#[derive(Clone)]
pub struct Files {
    pub(super) storage: Arc<dyn Storage>,
    counters: Arc<Counters>,
    tuning: Arc<Tuning>,
    cramped: Arc<Cramped>,
    held: Arc<Held>,
}

impl Default for Files {
    fn default() -> Self {
        Self::new(Arc::new(Disk::default()))
    }
}

impl Files {
    /// Creates files of `storage`.
    pub fn new(storage: Arc<dyn Storage>) -> Self {
        let (counters, tuning, held) = (Arc::default(), Arc::default(), Arc::default());
        Self { storage, counters, tuning, cramped: Arc::new(Cramped::NOT), held }
    }

    /// Creates files in memory, for temporary ones too small to be worth a disk.
    pub fn in_memory() -> Self {
        Self::new(Arc::new(Ram::default())).with_tuning(Tuning::MEMORY)
    }

    /// Returns the same files and counters with other transfer settings.
    #[must_use]
    pub fn with_tuning(&self, tuning: Tuning) -> Self {
        Self { tuning: Arc::new(tuning.sane()), ..self.clone() }
    }

    /// Returns the transfer settings.
    pub fn tuning(&self) -> Tuning {
        *self.tuning
    }

    /// Returns the same files and counters, for jobs with tighter bounds than their limits give.
    #[cfg(feature = "sim")]
    #[must_use]
    pub fn with_cramped(&self, cramped: Cramped) -> Self {
        Self { cramped: Arc::new(cramped), ..self.clone() }
    }

    /// Returns the caps that tests set.
    pub fn cramped(&self) -> Cramped {
        *self.cramped
    }

    /// Returns the counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Opens a file.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn open(&self, path: &Path, mode: Mode) -> Result<StoredFile> {
        let is_new = matches!(mode, Mode::Create | Mode::CreateDirect);
        let verb = if is_new { "create" } else { "open" };
        let file = self.storage.open(path, mode).map_err(|e| Error::io(verb, path, e))?;
        let (path, counters) = (path.to_path_buf(), self.counters.clone());
        Ok(StoredFile { file, path, counters, read_depth: self.tuning.read.depth })
    }

    /// Opens a file, pipe or standard input (`-`) to be read once; bytes are counted.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn open_stream(&self, path: &Path) -> Result<Box<dyn io::Read + Send>> {
        let inner = self.storage.open_stream(path).map_err(|e| Error::io("open", path, e))?;
        Ok(Box::new(CountedRead { inner, counters: self.counters.clone() }))
    }

    /// Like [`Files::open_stream`], for a regular file, from byte `at` on.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn open_stream_at(&self, path: &Path, at: u64) -> Result<Box<dyn io::Read + Send>> {
        let file = self.storage.open(path, Mode::Read).map_err(|e| Error::io("open", path, e))?;
        let inner = Box::new(ReadFrom { file, at });
        Ok(Box::new(CountedRead { inner, counters: self.counters.clone() }))
    }

    /// Opens a pipe, device or standard output (`-`) to be written once; bytes are counted.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create_stream(&self, path: &Path) -> Result<Box<dyn io::Write + Send>> {
        let inner = self.storage.create_stream(path).map_err(|e| Error::io("create", path, e))?;
        Ok(Box::new(CountedWrite { inner, counters: self.counters.clone() }))
    }

    /// Reads a small file completely.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let file = self.open(path, Mode::Read)?;
        let mut bytes = vec![0; file.bytes()? as usize];
        file.read_exact_at(0, &mut bytes)?;
        Ok(bytes)
    }

    /// Like [`Files::write`], in a work directory.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub fn write_own(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let part = part_path(path);
        let result = (|| {
            let file = self.open(&part, Mode::Create)?;
            file.write_all_at(0, bytes)?;
            file.sync()?;
            self.publish(&part, path)
        })();
        if result.is_err() {
            // Report the first error; the part file may not even exist.
            let _ = self.storage.remove(&part);
        }
        result
    }

    /// Makes data and length of a file durable after its last write.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn sync(&self, path: &Path) -> Result<()> {
        self.storage.sync(path).map_err(|e| Error::io("sync", path, e))
    }

    /// Renames a finished file into place, durably.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn publish(&self, from: &Path, to: &Path) -> Result<()> {
        self.storage.publish(from, to).map_err(|e| Error::io("rename to", to, e))
    }

    /// Like [`Files::publish`], for a name that is free; it is free again after an error.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn publish_new(&self, from: &Path, to: &Path) -> Result<()> {
        self.publish(from, to).inspect_err(|_| {
            // The file is renamed, but perhaps not durably. If renaming it back fails too, a complete file remains.
            if self.storage.entry(from).is_err() {
                let _ = self.storage.publish(to, from);
            }
        })
    }

    /// Removes a file.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn remove(&self, path: &Path) -> Result<()> {
        self.storage.remove(path).map_err(|e| Error::io("remove", path, e))
    }

    /// Creates a directory and its parents.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create_directory(&self, path: &Path) -> Result<()> {
        self.storage.create_directory(path).map_err(|e| Error::io("create directory", path, e))
    }

    /// Creates a directory of its own in `parent` and returns its path: `NAME-0`, or the next free number.
    /// Creates the parent if it does not exist.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create_numbered_directory(&self, parent: &Path, name: &str) -> Result<PathBuf> {
        self.create_directory(parent)?;
        let mut number = 0u64;
        loop {
            let path = parent.join(format!("{name}-{number}"));
            match self.storage.create_new_directory(&path) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(Error::io("create directory", &path, error)),
            }
        }
    }

    /// Removes a work directory with its content, as far as possible.
    pub fn remove_all(&self, directory: &Path) {
        remove_all(&*self.storage, directory, &[]);
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn remove_directory(&self, path: &Path) -> Result<()> {
        self.storage.remove_directory(path).map_err(|e| Error::io("remove directory", path, e))
    }

    /// Lists a directory, sorted by path.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn list(&self, directory: &Path) -> Result<Vec<Entry>> {
        self.storage.list(directory).map_err(|e| Error::io("list", directory, e))
    }

    /// Describes a path.
    ///
    /// # Errors
    /// `Io` with the path if it does not exist.
    pub fn entry(&self, path: &Path) -> Result<Entry> {
        self.storage.entry(path).map_err(|e| Error::io("open", path, e))
    }

    /// Whether anything has this name, even a link that leads nowhere.
    pub fn is_taken(&self, path: &Path) -> bool {
        self.storage.entry(path).is_ok() || self.storage.link(path).is_some()
    }

    /// Whether `path` is a regular file.
    pub fn is_regular(&self, path: &Path) -> bool {
        self.storage.is_regular(path)
    }

    /// Whether both paths lead to the same file, through any links and names.
    pub fn is_same(&self, one: &Path, other: &Path) -> bool {
        let identity = |path| self.storage.identity(path);
        one == other || identity(one).is_some_and(|found| Some(found) == identity(other))
    }

    /// Whether `path` can only be read.
    pub fn is_read_only(&self, path: &Path) -> bool {
        self.storage.is_read_only(path)
    }

    /// Removes a file or directory of a job that is no longer needed, as soon as no checkpoint needs it. A
    /// file that cannot be removed is harmless: it is removed with the work directory.
    pub fn discard(&self, path: &Path) {
        if self.held.discard(path) {
            return;
        }
        match self.entry(path) {
            Ok(entry) if entry.is_directory => self.remove_all(path),
            _ => _ = self.remove(path),
        }
    }

    /// Whether a checkpoint needs the file.
    pub fn is_held(&self, path: &Path) -> bool {
        self.held.contains(path)
    }

    /// Holds the files `now` instead of the files `before`, those of the previous checkpoint. Removes the files
    /// released by this that were discarded.
    pub fn hold(&self, before: &[PathBuf], now: &[PathBuf]) {
        self.held.replace(before, now).into_iter().for_each(|path| self.discard(path));
    }

    /// Stops tracking the files of a checkpoint, which remain for another process.
    pub(crate) fn leave(&self, held: &[PathBuf]) {
        self.held.leave(held);
    }

    /// Returns the memory that reading a file takes in addition to the reader's buffers.
    pub fn held_bytes(&self, path: &Path) -> u64 {
        self.storage.held_bytes(path)
    }

    /// Returns the bytes free for new files at an existing path, if the system reports it.
    pub fn free_bytes(&self, path: &Path) -> Option<u64> {
        self.storage.free_bytes(path).ok()
    }

    /// Returns the device that an existing path is stored on, if it is known.
    pub fn device(&self, path: &Path) -> Option<Device> {
        self.storage.device(path)
    }
}

impl Limits {
    /// Returns `files` with the transfer settings that these limits allow.
    pub fn tuned(&self, files: &Files) -> Files {
        files.with_tuning(self.allowed(files.tuning()))
    }
}

/// Returns the name under which a file in a work directory is written until it is complete.
pub(super) fn part_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// Open file that knows its path and counts its bytes.
pub struct StoredFile {
    file: Box<dyn File>,
    path: PathBuf,
    counters: Arc<Counters>,
    read_depth: usize,
}

impl StoredFile {
    /// Returns the number of concurrent reads when the file is read ahead.
    pub(super) fn read_depth(&self) -> usize {
        self.read_depth
    }

    /// Returns the path that the file was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether transfers must be multiples of [`ALIGNMENT`](super::ALIGNMENT).
    pub fn is_direct(&self) -> bool {
        self.file.is_direct()
    }

    /// Reads at `offset` until `into` is full or the file ends; returns the bytes read.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match self.file.read_at(offset + done as u64, &mut into[done..]) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Error::io("read", &self.path, e)),
            }
            // A direct file of unaligned length returns its tail once, then an error.
            if self.file.is_direct() && !done.is_multiple_of(super::ALIGNMENT) {
                break;
            }
        }
        self.counters.add_read(done);
        Ok(done)
    }

    /// Announces that this range will be read front to back.
    pub fn will_read(&self, range: Range<u64>) {
        self.file.will_read(range);
    }

    /// Fills `into` from `offset`.
    ///
    /// # Errors
    /// `CorruptFile` if the file ends first; `Io` with the path.
    pub fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        let found = self.read_at(offset, into)?;
        if found < into.len() {
            return Err(self.too_short(offset + into.len() as u64));
        }
        Ok(())
    }

    pub(super) fn too_short(&self, expected: u64) -> Error {
        let found = self.file.bytes().unwrap_or(0);
        Error::corrupt(
            &self.path,
            format!("it ends at byte {found}, but byte {expected} was expected"),
        )
    }

    /// Writes all of `from` at `offset`.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    pub fn write_all_at(&self, offset: u64, from: &[u8]) -> Result<()> {
        let mut done = 0;
        while done < from.len() {
            match self.file.write_at(offset + done as u64, &from[done..]) {
                Ok(0) => {
                    return Err(Error::io("write", &self.path, io::ErrorKind::WriteZero.into()));
                }
                Ok(count) => done += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Error::io("write", &self.path, e)),
            }
        }
        self.counters.add_written(done);
        Ok(())
    }

    /// Returns the length in bytes.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn bytes(&self) -> Result<u64> {
        self.file.bytes().map_err(|e| Error::io("measure", &self.path, e))
    }

    /// Truncates or extends the file.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn set_bytes(&self, bytes: u64) -> Result<()> {
        self.file.set_bytes(bytes).map_err(|e| Error::io("resize", &self.path, e))
    }

    /// Makes data and length durable.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn sync(&self) -> Result<()> {
        self.file.sync().map_err(|e| Error::io("sync", &self.path, e))
    }
}

/// Reader of a file from a given byte on.
struct ReadFrom {
    file: Box<dyn File>,
    at: u64,
}

impl io::Read for ReadFrom {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(self.at, into)?;
        self.at += count as u64;
        Ok(count)
    }
}

struct CountedRead {
    inner: Box<dyn io::Read + Send>,
    counters: Arc<Counters>,
}

impl io::Read for CountedRead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.counters.add_read(count);
        Ok(count)
    }
}

struct CountedWrite {
    inner: Box<dyn io::Write + Send>,
    counters: Arc<Counters>,
}

impl io::Write for CountedWrite {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(from)?;
        self.counters.add_written(count);
        Ok(count)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Removes a work directory except for `kept`, the manifest last: until then its owner is known. Errors are
/// ignored; the next job reports any files that remain.
pub(super) fn remove_all(storage: &dyn Storage, directory: &Path, kept: &[&str]) {
    let mut entries = storage.list(directory).unwrap_or_default();
    entries.sort_by_key(|entry| entry.path.file_name() == Some(MANIFEST.as_ref()));
    for entry in entries {
        if kept.iter().any(|name| entry.path.file_name() == Some(name.as_ref())) {
            continue;
        }
        if entry.is_directory {
            remove_all(storage, &entry.path, &[]);
        } else {
            let _ = storage.remove(&entry.path);
        }
    }
    let _ = storage.remove_directory(directory);
}
