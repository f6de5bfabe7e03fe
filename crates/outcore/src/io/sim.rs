//! A simulated storage in memory, for tests: it can fail any chosen operation, once or for ever, and
//! cut every transfer short. Deterministic: the n-th operation is the n-th operation.
//!
//! It can also be given a [`Speed`]: then each transfer takes virtual time, told by [`Sim::seconds`],
//! and direct files are direct. Requests overlap as if each open handle of a file had one on its way
//! all the time; so the time does not depend on how threads are scheduled.

use super::{Entry, File, Mode, Storage};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// When operations fail.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// The first operation to fail, from 0.
    pub at: u64,
    /// Whether all later operations fail too.
    pub forever: bool,
    /// What the failure is.
    pub kind: io::ErrorKind,
}

/// How long transfers take one way: `latency_seconds + bytes / bytes_per_second(bytes)` each.
#[derive(Debug, Clone, Copy)]
pub struct Curve {
    /// Time before the first byte.
    pub latency_seconds: f64,
    /// The rate of a request of so many bytes.
    pub bytes_per_second: fn(usize) -> f64,
    /// Most requests that are served at the same time.
    pub depth: usize,
    /// Most that all of them get together.
    pub bytes_per_second_most: f64,
}

impl Curve {
    /// Time between two requests of `bytes` done, when `handles` have one on their way each.
    pub fn seconds(&self, bytes: usize, handles: usize) -> f64 {
        let alone = self.latency_seconds + bytes as f64 / (self.bytes_per_second)(bytes);
        let shared = alone / handles.clamp(1, self.depth.max(1)) as f64;
        shared.max(bytes as f64 / self.bytes_per_second_most)
    }
}

/// How fast the simulated storage is.
#[derive(Debug, Clone, Copy)]
pub struct Speed {
    /// Reads.
    pub read: Curve,
    /// Writes.
    pub write: Curve,
}

#[derive(Default)]
struct State {
    files: Mutex<BTreeMap<PathBuf, Arc<Mutex<Vec<u8>>>>>,
    directories: Mutex<BTreeSet<PathBuf>>,
    operations: AtomicU64,
    failed: AtomicBool,
    fault: Mutex<Option<Fault>>,
    short: AtomicBool,
    speed: Mutex<Option<Speed>>,
    seconds: Mutex<f64>,
    handles: Mutex<BTreeMap<PathBuf, usize>>,
}

/// The simulated storage; clones share their files.
#[derive(Clone, Default)]
pub struct Sim(Arc<State>);

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sim {
    /// An empty storage without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Plans a fault and starts counting operations anew.
    pub fn set_fault(&self, fault: Option<Fault>) {
        self.0.operations.store(0, Ordering::SeqCst);
        self.0.failed.store(false, Ordering::SeqCst);
        *locked(&self.0.fault) = fault;
    }

    /// Makes every transfer move at most a few bytes.
    pub fn set_short_transfers(&self, short: bool) {
        self.0.short.store(short, Ordering::SeqCst);
    }

    /// Operations since the fault was set.
    pub fn operation_count(&self) -> u64 {
        self.0.operations.load(Ordering::SeqCst)
    }

    /// Whether the planned fault has happened.
    pub fn has_failed(&self) -> bool {
        self.0.failed.load(Ordering::SeqCst)
    }

    /// Puts a file in place without an operation.
    pub fn put(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        let file = Arc::new(Mutex::new(bytes.to_vec()));
        locked(&self.0.files).insert(path.as_ref().to_path_buf(), file);
    }

    /// A file's bytes, without an operation.
    pub fn get(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        locked(&self.0.files).get(path.as_ref()).map(|file| locked(file).clone())
    }

    /// All files, without an operation.
    pub fn paths(&self) -> Vec<PathBuf> {
        locked(&self.0.files).keys().cloned().collect()
    }

    /// Gives transfers a duration in virtual time.
    pub fn set_speed(&self, speed: Speed) {
        *locked(&self.0.speed) = Some(speed);
    }

    /// Virtual time that has passed.
    pub fn seconds(&self) -> f64 {
        *locked(&self.0.seconds)
    }

    /// Lets the time pass that a transfer takes.
    fn pass(&self, path: &Path, curve: impl Fn(&Speed) -> Curve, bytes: usize) {
        if let Some(speed) = &*locked(&self.0.speed) {
            let handles = locked(&self.0.handles).get(path).copied().unwrap_or(1);
            *locked(&self.0.seconds) += curve(speed).seconds(bytes, handles);
        }
    }

    fn operation(&self) -> io::Result<()> {
        let number = self.0.operations.fetch_add(1, Ordering::SeqCst);
        if let Some(fault) = *locked(&self.0.fault)
            && (number == fault.at || fault.forever && number > fault.at)
        {
            self.0.failed.store(true, Ordering::SeqCst);
            return Err(fault.kind.into());
        }
        Ok(())
    }

    fn transfer(&self, bytes: usize) -> usize {
        if self.0.short.load(Ordering::SeqCst) { bytes.min(4096) } else { bytes }
    }
}

fn entry_of(path: &Path, bytes: u64, is_directory: bool) -> Entry {
    Entry { path: path.to_path_buf(), bytes, is_directory, modified_ms: None }
}

struct SimFile {
    sim: Sim,
    path: PathBuf,
    bytes: Arc<Mutex<Vec<u8>>>,
    direct: bool,
}

impl SimFile {
    fn new(sim: &Sim, path: &Path, bytes: Arc<Mutex<Vec<u8>>>, mode: Mode) -> Self {
        *locked(&sim.0.handles).entry(path.to_path_buf()).or_default() += 1;
        let direct = matches!(mode, Mode::ReadDirect | Mode::CreateDirect);
        let direct = direct && locked(&sim.0.speed).is_some();
        Self { sim: sim.clone(), path: path.to_path_buf(), bytes, direct }
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        let mut handles = locked(&self.sim.0.handles);
        if let Some(count) = handles.get_mut(&self.path) {
            *count -= 1;
            if *count == 0 {
                handles.remove(&self.path);
            }
        }
    }
}

impl Storage for Sim {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Box<dyn File>> {
        self.operation()?;
        let mut files = locked(&self.0.files);
        let bytes = match mode {
            Mode::Read | Mode::ReadDirect => {
                files.get(path).cloned().ok_or(io::ErrorKind::NotFound)?
            }
            Mode::Create | Mode::CreateDirect => {
                // As elsewhere, who has the file open sees it emptied.
                let bytes = files.entry(path.to_path_buf()).or_default().clone();
                locked(&bytes).clear();
                bytes
            }
        };
        drop(files);
        Ok(Box::new(SimFile::new(self, path, bytes, mode)))
    }

    fn open_stream(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        let _ = self.open(path, Mode::Read)?;
        let bytes = self.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(SimStream { sim: self.clone(), bytes: io::Cursor::new(bytes) }))
    }

    fn create_stream(&self, path: &Path) -> io::Result<Box<dyn io::Write + Send>> {
        self.operation()?;
        let bytes = Arc::new(Mutex::new(Vec::new()));
        locked(&self.0.files).insert(path.to_path_buf(), bytes.clone());
        Ok(Box::new(SimSink { sim: self.clone(), bytes }))
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operation()?;
        let mut files = locked(&self.0.files);
        if locked(&self.0.directories).remove(from) {
            let inside: Vec<_> =
                files.keys().filter(|path| path.starts_with(from)).cloned().collect();
            for path in inside {
                let file = files.remove(&path).expect("listed above");
                files.insert(to.join(path.strip_prefix(from).expect("inside")), file);
            }
            locked(&self.0.directories).insert(to.to_path_buf());
            return Ok(());
        }
        let file = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_path_buf(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        // Cleaning up always works: a fault in it could not be told apart from the first one.
        locked(&self.0.files).remove(path).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.operation()?;
        locked(&self.0.directories).insert(path.to_path_buf());
        Ok(())
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        if !self.list(path)?.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        if self.is_regular(path) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        locked(&self.0.directories).remove(path);
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        let files = locked(&self.0.files);
        let inside = |path: &&PathBuf| path.parent() == Some(directory);
        let directories = locked(&self.0.directories);
        let mut entries: Vec<Entry> =
            directories.iter().filter(inside).map(|path| entry_of(path, 0, true)).collect();
        let files = files.iter().filter(|(path, _)| inside(path));
        entries
            .extend(files.map(|(path, bytes)| entry_of(path, locked(bytes).len() as u64, false)));
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    fn entry(&self, path: &Path) -> io::Result<Entry> {
        if let Some(bytes) = self.get(path) {
            return Ok(entry_of(path, bytes.len() as u64, false));
        }
        if locked(&self.0.directories).contains(path) {
            return Ok(entry_of(path, 0, true));
        }
        Err(io::ErrorKind::NotFound.into())
    }

    fn is_regular(&self, path: &Path) -> bool {
        locked(&self.0.files).contains_key(path)
    }

    fn free_bytes(&self, _path: &Path) -> io::Result<u64> {
        Ok(1 << 40)
    }
}

impl File for SimFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.sim.operation()?;
        let bytes = locked(&self.bytes);
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let count = self.sim.transfer(rest.len().min(into.len()));
        into[..count].copy_from_slice(&rest[..count]);
        self.sim.pass(&self.path, |speed| speed.read, count);
        Ok(count)
    }

    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<usize> {
        self.sim.operation()?;
        let count = self.sim.transfer(from.len());
        let mut bytes = locked(&self.bytes);
        let end = offset as usize + count;
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[offset as usize..end].copy_from_slice(&from[..count]);
        self.sim.pass(&self.path, |speed| speed.write, count);
        Ok(count)
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(locked(&self.bytes).len() as u64)
    }

    fn set_bytes(&self, bytes: u64) -> io::Result<()> {
        self.sim.operation()?;
        locked(&self.bytes).resize(bytes as usize, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.sim.operation()
    }

    fn is_direct(&self) -> bool {
        self.direct
    }
}

struct SimStream {
    sim: Sim,
    bytes: io::Cursor<Vec<u8>>,
}

impl io::Read for SimStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.sim.operation()?;
        let count = self.sim.transfer(into.len());
        self.bytes.read(&mut into[..count])
    }
}

struct SimSink {
    sim: Sim,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl io::Write for SimSink {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.sim.operation()?;
        let count = self.sim.transfer(from.len());
        locked(&self.bytes).extend_from_slice(&from[..count]);
        Ok(count)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.sim.operation()
    }
}
