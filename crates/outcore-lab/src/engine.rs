//! The engine's own file access, instrumented for the laboratory: the time of syncs is measured separately, and
//! files are opened through the page cache where a row asks for it.

use outcore::io::{Disk, Entry, File, Files, Mode, Storage};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Way in which the engine's files are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// In the mode that the engine requests.
    Own,
    /// Through the page cache, never direct.
    PageCache,
}

/// Disk with a clock that runs while files and directories are synced.
#[derive(Clone)]
pub(crate) struct Watched {
    way: Way,
    disk: Disk,
    nanoseconds: Arc<AtomicU64>,
}

impl Watched {
    /// Creates a watched disk and the file access through it.
    pub(crate) fn files(way: Way) -> (Self, Files) {
        let watched = Self { way, disk: Disk::default(), nanoseconds: Arc::default() };
        let files = Files::new(Arc::new(watched.clone()));
        (watched, files)
    }

    /// Returns the seconds spent on syncs so far.
    pub(crate) fn sync_seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9
    }
}

fn timed<T>(nanoseconds: &AtomicU64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    result
}

struct WatchedFile {
    file: Box<dyn File>,
    nanoseconds: Arc<AtomicU64>,
}

impl File for WatchedFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, into)
    }
    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<usize> {
        self.file.write_at(offset, from)
    }
    fn bytes(&self) -> io::Result<u64> {
        self.file.bytes()
    }
    fn set_bytes(&self, bytes: u64) -> io::Result<()> {
        self.file.set_bytes(bytes)
    }
    fn sync(&self) -> io::Result<()> {
        timed(&self.nanoseconds, || self.file.sync())
    }
    fn is_direct(&self) -> bool {
        self.file.is_direct()
    }
}

impl Storage for Watched {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Box<dyn File>> {
        let mode = match (self.way, mode) {
            (Way::PageCache, Mode::ReadDirect) => Mode::Read,
            (Way::PageCache, Mode::CreateDirect) => Mode::Create,
            _ => mode,
        };
        let file = self.disk.open(path, mode)?;
        Ok(Box::new(WatchedFile { file, nanoseconds: self.nanoseconds.clone() }))
    }
    fn open_stream(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        self.disk.open_stream(path)
    }
    fn create_stream(&self, path: &Path) -> io::Result<Box<dyn io::Write + Send>> {
        self.disk.create_stream(path)
    }
    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        timed(&self.nanoseconds, || self.disk.publish(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.disk.create_directory(path)
    }
    fn create_private_directory(&self, path: &Path) -> io::Result<()> {
        self.disk.create_private_directory(path)
    }
    fn create_new_directory(&self, path: &Path) -> io::Result<()> {
        self.disk.create_new_directory(path)
    }
    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_directory(path)
    }
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        self.disk.list(directory)
    }
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        self.disk.entry(path)
    }
    fn is_regular(&self, path: &Path) -> bool {
        self.disk.is_regular(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.disk.free_bytes(path)
    }
}
