//! [`Files`]: a storage with counters and errors that name the path.

use super::cramped::Cramped;
use super::held::Held;
use super::tuning::Tuning;
use super::{Device, Disk, Entry, File, Mode, Storage};
use crate::budget::Limits;
use crate::error::{Error, Result};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of a manifest in a directory of ours.
pub(super) const MANIFEST: &str = "manifest.json";

/// Bytes moved through a [`Files`] since it was made.
#[derive(Debug, Default)]
pub struct Counters {
    read: AtomicU64,
    written: AtomicU64,
}

impl Counters {
    /// Bytes read.
    pub fn read_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
    /// Bytes written.
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

/// A storage with byte counters and the settings of transfers; cheap to clone.
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
    /// Files of `storage`.
    pub fn new(storage: Arc<dyn Storage>) -> Self {
        let (counters, tuning, held) = (Arc::default(), Arc::default(), Arc::default());
        Self { storage, counters, tuning, cramped: Arc::new(Cramped::NOT), held }
    }

    /// The same files and counters, with other settings of transfers.
    #[must_use]
    pub fn with_tuning(&self, tuning: Tuning) -> Self {
        Self { tuning: Arc::new(tuning.sane()), ..self.clone() }
    }

    /// How large transfers are made.
    pub fn tuning(&self) -> Tuning {
        *self.tuning
    }

    /// The same files and counters, for jobs with less room than their limits give.
    #[cfg(feature = "sim")]
    #[must_use]
    pub fn with_cramped(&self, cramped: Cramped) -> Self {
        Self { cramped: Arc::new(cramped), ..self.clone() }
    }

    /// What jobs keep below, whatever their limits are.
    pub(crate) fn cramped(&self) -> Cramped {
        *self.cramped
    }

    /// The counters.
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

    /// Opens a file, pipe or standard input (`-`) for one reading; bytes are counted.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn open_stream(&self, path: &Path) -> Result<Box<dyn io::Read + Send>> {
        let inner = self.storage.open_stream(path).map_err(|e| Error::io("open", path, e))?;
        Ok(Box::new(CountedRead { inner, counters: self.counters.clone() }))
    }

    /// As [`Files::open_stream`], of a regular file, from the byte `at` on.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn open_stream_at(&self, path: &Path, at: u64) -> Result<Box<dyn io::Read + Send>> {
        let file = self.storage.open(path, Mode::Read).map_err(|e| Error::io("open", path, e))?;
        let inner = Box::new(ReadFrom { file, at });
        Ok(Box::new(CountedRead { inner, counters: self.counters.clone() }))
    }

    /// Opens a pipe, device or standard output (`-`) for one writing; bytes are counted.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create_stream(&self, path: &Path) -> Result<Box<dyn io::Write + Send>> {
        let inner = self.storage.create_stream(path).map_err(|e| Error::io("create", path, e))?;
        Ok(Box::new(CountedWrite { inner, counters: self.counters.clone() }))
    }

    /// Reads a whole small file.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let file = self.open(path, Mode::Read)?;
        let mut bytes = vec![0; file.bytes()? as usize];
        file.read_exact_at(0, &mut bytes)?;
        Ok(bytes)
    }

    /// As [`Files::write`], in a directory of ours.
    ///
    /// # Errors
    /// `Io` or `DiskFull` with the path.
    #[doc(hidden)]
    pub fn write_own(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let part = part_path(path);
        let result = (|| {
            let file = self.open(&part, Mode::Create)?;
            file.write_all_at(0, bytes)?;
            file.sync()?;
            self.publish(&part, path)
        })();
        if result.is_err() {
            // The first error is the one to report; the part file may not even exist.
            let _ = self.storage.remove(&part);
        }
        result
    }

    /// Makes data and length of a file durable that is written no more.
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

    /// As [`Files::publish`], for a name that is free, and is free again after an error.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn publish_new(&self, from: &Path, to: &Path) -> Result<()> {
        self.publish(from, to).inspect_err(|_| {
            // Renamed, but perhaps not for good. If the way back fails too, what is there is whole.
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

    /// Makes a directory in `parent` that nobody else has, and gives its path: `NAME-0`, or the next number
    /// that is free. The parent is made if it is not there.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn create_numbered_directory(&self, parent: &Path, name: &str) -> Result<PathBuf> {
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

    /// Removes a directory of ours with all it holds, as far as that is possible.
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

    /// What a path is.
    ///
    /// # Errors
    /// `Io` with the path if there is nothing.
    pub fn entry(&self, path: &Path) -> Result<Entry> {
        self.storage.entry(path).map_err(|e| Error::io("open", path, e))
    }

    /// Whether there is a regular file at `path`.
    pub fn is_regular(&self, path: &Path) -> bool {
        self.storage.is_regular(path)
    }

    /// Whether both are the same file, by whatever links and names.
    pub fn is_same(&self, one: &Path, other: &Path) -> bool {
        one == other || self.storage.is_same(one, other)
    }

    /// Whether what is at `path` can only be read.
    pub fn is_read_only(&self, path: &Path) -> bool {
        self.storage.is_read_only(path)
    }

    /// Removes a file or a directory of ours that is used up, as soon as no checkpoint needs it. One that cannot
    /// be removed is in nobody's way: it goes with the job's directory.
    pub(crate) fn discard(&self, path: &Path) {
        if self.held.discard(path) {
            return;
        }
        match self.entry(path) {
            Ok(entry) if entry.is_directory => self.remove_all(path),
            _ => _ = self.remove(path),
        }
    }

    /// Whether a checkpoint needs the file.
    pub(crate) fn is_held(&self, path: &Path) -> bool {
        self.held.contains(path)
    }

    /// Holds the files of a checkpoint in place of those of the one `before`, of which what was discarded goes.
    pub(crate) fn hold(&self, before: &[PathBuf], now: &[PathBuf]) {
        self.held.replace(before, now).into_iter().for_each(|path| self.discard(path));
    }

    /// Forgets the files of a checkpoint, which stay for another process.
    pub(crate) fn leave(&self, held: &[PathBuf]) {
        self.held.leave(held);
    }

    /// Memory that reading it takes beside the reader's buffers.
    pub(crate) fn held_bytes(&self, path: &Path) -> u64 {
        self.storage.held_bytes(path)
    }

    /// Bytes free for new files at an existing path, if the system tells.
    pub fn free_bytes(&self, path: &Path) -> Option<u64> {
        self.storage.free_bytes(path).ok()
    }

    /// What an existing path lies on, if that can be told.
    pub fn device(&self, path: &Path) -> Option<Device> {
        self.storage.device(path)
    }
}

impl Limits {
    /// `files` with the settings of transfers that these limits allow.
    pub fn tuned(&self, files: &Files) -> Files {
        files.with_tuning(self.allowed(files.tuning()))
    }
}

/// The name under which a file in a directory of ours is written before it is complete.
pub(super) fn part_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// An open file that knows its path and counts its bytes.
pub struct StoredFile {
    file: Box<dyn File>,
    path: PathBuf,
    counters: Arc<Counters>,
    read_depth: usize,
}

impl StoredFile {
    /// Reads that are on their way at the same time when it is read ahead.
    pub(super) fn read_depth(&self) -> usize {
        self.read_depth
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether transfers must keep to [`ALIGNMENT`](super::ALIGNMENT).
    pub fn is_direct(&self) -> bool {
        self.file.is_direct()
    }

    /// Reads at `offset` until `into` is full or the file ends; gives the bytes read.
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
            // A direct file that ends between two alignments gives its tail once, then an error.
            if self.file.is_direct() && !done.is_multiple_of(super::ALIGNMENT) {
                break;
            }
        }
        self.counters.add_read(done);
        Ok(done)
    }

    /// Says that this range will be read front to back.
    pub(crate) fn will_read(&self, range: Range<u64>) {
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

    /// Length in bytes.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn bytes(&self) -> Result<u64> {
        self.file.bytes().map_err(|e| Error::io("measure", &self.path, e))
    }

    /// Cuts or extends the file.
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

/// Reads a file from a byte on.
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

/// Removes a directory of ours but for `kept`, a manifest last: until then it is known whose it is. Nothing
/// here can be reported; what stays behind is named by the next job's message.
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
