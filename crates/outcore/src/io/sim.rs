//! A simulated storage in memory, for tests: it can fail any chosen operation, once or for ever, and
//! cut every transfer short. Deterministic: the n-th operation is the n-th operation.

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

#[derive(Default)]
struct State {
    files: Mutex<BTreeMap<PathBuf, Arc<Mutex<Vec<u8>>>>>,
    directories: Mutex<BTreeSet<PathBuf>>,
    operations: AtomicU64,
    failed: AtomicBool,
    fault: Mutex<Option<Fault>>,
    short: AtomicBool,
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
    bytes: Arc<Mutex<Vec<u8>>>,
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
                let bytes = Arc::new(Mutex::new(Vec::new()));
                files.insert(path.to_path_buf(), bytes.clone());
                bytes
            }
        };
        Ok(Box::new(SimFile { sim: self.clone(), bytes }))
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
        false
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
