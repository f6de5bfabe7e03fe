//! Simulated storage in memory, for tests. Deterministic: the n-th operation is the same in every run.
//!
//! It can fail any chosen operation, once or permanently ([`Sim::set_fault`]), cut every transfer short,
//! interrupt transfers, and become full. It can lose power after any operation ([`Sim::set_power_loss`]), and
//! then shows a state that could remain, with a part of the data that was not synced ([`Sim::crash`]). And it
//! can be given a [`Speed`]: then each transfer takes virtual time, reported by [`Sim::seconds`], and direct
//! files are direct.

mod crash;
mod faults;
mod speed;
#[cfg(test)]
mod tests;
mod tree;

pub use faults::{Fault, Step, Verb};
pub use speed::{Curve, Speed};

use crash::{Content, Random};
use faults::Faults;
use outcore_io::{Entry, File, Lock, Mode, Storage};
use speed::Clock;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tree::{SharedFile, Tree};

#[derive(Default)]
struct SimState {
    /// Locked before the content of any file.
    tree: Mutex<Tree>,
    faults: Faults,
    clock: Clock,
    /// Maximum total size of all files.
    max_bytes: Mutex<Option<u64>>,
    /// Number of files put in place so far, which serves as the modification time of the next one.
    put: AtomicU64,
    /// Locked files; they need not exist.
    locks: Mutex<BTreeSet<PathBuf>>,
    /// Result of [`Storage::free_bytes`].
    reported_room: Mutex<Option<u64>>,
}

/// Held lock.
struct SimLock(Sim, PathBuf);

impl Drop for SimLock {
    fn drop(&mut self) {
        locked(&self.0.0.locks).remove(&self.1);
    }
}

/// Simulated storage; clones share their files.
#[derive(Clone, Default)]
pub struct Sim(Arc<SimState>);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sim {
    /// Creates an empty storage without faults.
    pub fn new() -> Self {
        Self::default()
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        locked(&self.0.tree)
    }

    /// Plans a fault and resets the operation count. A failed sync loses some of the data that was to be
    /// synced, as on a real disk, if [`Sim::track`] was called before. Removals never fail: a fault in
    /// cleaning up would be indistinguishable from the first one.
    pub fn set_fault(&self, fault: Option<Fault>) {
        self.0.faults.set_fault(fault);
    }

    /// Limits every transfer to a few bytes.
    pub fn set_short_transfers(&self, short: bool) {
        self.0.faults.set_short_transfers(short);
    }

    /// Interrupts every third transfer before it begins, chosen by this seed.
    pub fn set_interrupts(&self, seed: Option<u64>) {
        self.0.faults.set_interrupts(seed);
    }

    /// Leaves room for this number of bytes; removals make room again. [`Storage::free_bytes`] does not reflect
    /// the limit, as if another program had filled the disk.
    pub fn set_full_after(&self, bytes: Option<u64>) {
        let most = bytes.map(|bytes| bytes + self.used_bytes(None));
        *locked(&self.0.max_bytes) = most;
    }

    /// Makes [`Storage::free_bytes`] report this number of bytes, regardless of the actual room.
    pub fn set_room(&self, bytes: Option<u64>) {
        *locked(&self.0.reported_room) = bytes;
    }

    /// Returns the number of operations since the fault was set.
    pub fn operation_count(&self) -> u64 {
        self.0.faults.operation_count()
    }

    /// Whether the planned fault has happened.
    pub fn has_failed(&self) -> bool {
        self.0.faults.has_failed()
    }

    /// Starts tracking power losses. The current content counts as durable.
    pub fn track(&self) {
        self.tree().track();
    }

    /// Resets the step count (operations and removals); after this number of steps every operation fails, until
    /// [`Sim::crash`].
    pub fn set_power_loss(&self, after: Option<u64>) {
        self.0.faults.set_power_loss(after);
    }

    /// Returns the number of operations and removals since the power loss was planned.
    pub fn step_count(&self) -> u64 {
        self.0.faults.step_count()
    }

    /// Whether the power is off.
    pub fn is_off(&self) -> bool {
        self.0.faults.is_off()
    }

    /// Simulates a power loss now, leaving a possible state chosen by the seed, and restores power. Needs
    /// [`Sim::track`] before.
    pub fn crash(&self, seed: u64) {
        let mut tree = self.tree();
        assert!(tree.is_tracked(), "call `track` before a crash");
        tree.crash(&mut Random::new(seed));
        self.0.faults.set_power_loss(None);
    }

    /// Flips the bits of `mask` in one byte of a file, without counting an operation.
    pub fn damage(&self, path: impl AsRef<Path>, at: usize, mask: u8) {
        let file = self.tree().file(path.as_ref()).expect("a test damages existing files");
        locked(&file).bytes_mut()[at] ^= mask;
    }

    /// Puts a file in place, without counting an operation.
    pub fn put(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        let modified = self.0.put.fetch_add(1, Ordering::SeqCst);
        let mut tree = self.tree();
        let content = Content::of(bytes, modified, tree.is_tracked());
        tree.put(path.as_ref(), content);
    }

    /// Returns a file's bytes, without counting an operation.
    pub fn get(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        self.tree().file(path.as_ref()).map(|file| locked(&file).bytes().to_vec())
    }

    /// Returns the paths of all files, without counting an operation.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.tree().files().into_iter().map(|(path, _)| path).collect()
    }

    /// Gives transfers a duration in virtual time.
    pub fn set_speed(&self, speed: Speed) {
        self.0.clock.set_speed(speed);
    }

    /// Returns the virtual time that has passed.
    pub fn seconds(&self) -> f64 {
        self.0.clock.seconds()
    }

    /// Starts to record steps: see [`Sim::steps`].
    pub fn record(&self) {
        self.0.faults.record();
    }

    /// Names what the job does from now on, for [`Sim::steps`].
    pub fn begin_stage(&self, name: &str) {
        self.0.faults.begin_stage(name);
    }

    /// Returns the steps (operations and removals) since [`Sim::record`], in order.
    pub fn steps(&self) -> Vec<Step> {
        self.0.faults.steps()
    }

    fn operation(&self, verb: Verb, path: &Path) -> io::Result<()> {
        self.0.faults.operation(verb, path)
    }

    /// Returns the bytes of all files, except for one if given.
    fn used_bytes(&self, except: Option<&SharedFile>) -> u64 {
        let files = self.tree().files();
        let counted =
            files.iter().filter(|(_, file)| !except.is_some_and(|e| Arc::ptr_eq(e, file)));
        counted.map(|(_, file)| locked(file).bytes().len() as u64).sum()
    }

    /// Runs `change` on a file that may grow from its length to `end`, or as far as there is room.
    fn grow<T>(
        &self,
        file: &SharedFile,
        end: u64,
        change: impl FnOnce(&mut Content, u64) -> io::Result<T>,
    ) -> io::Result<T> {
        // Growth is decided for one file after the other.
        let limit = locked(&self.0.max_bytes);
        let Some(most) = *limit else {
            drop(limit);
            return change(&mut locked(file), end);
        };
        let used = self.used_bytes(Some(file));
        change(&mut locked(file), end.min(most.saturating_sub(used)))
    }

    /// Fails if there is no room left.
    fn has_room(&self) -> io::Result<()> {
        let Some(most) = *locked(&self.0.max_bytes) else { return Ok(()) };
        if self.used_bytes(None) < most { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn create(&self, path: &Path) -> io::Result<SharedFile> {
        self.has_room()?;
        self.tree().create(path)
    }
}

impl Storage for Sim {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Box<dyn File>> {
        self.operation(Verb::Open, path)?;
        let content = match mode {
            Mode::Read | Mode::ReadDirect | Mode::Extend | Mode::ExtendDirect => {
                self.tree().file(path).ok_or(io::ErrorKind::NotFound)?
            }
            Mode::Create | Mode::CreateDirect => self.create(path)?,
        };
        let is_direct = matches!(mode, Mode::ReadDirect | Mode::CreateDirect | Mode::ExtendDirect);
        let direct = is_direct && self.0.clock.has_speed();
        self.0.clock.opened(path);
        Ok(Box::new(SimFile { sim: self.clone(), path: path.to_path_buf(), content, direct }))
    }

    fn open_stream(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        let _ = self.open(path, Mode::Read)?;
        let bytes = self.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(SimStream {
            sim: self.clone(),
            path: path.into(),
            bytes: io::Cursor::new(bytes),
        }))
    }

    fn create_stream(&self, path: &Path) -> io::Result<Box<dyn io::Write + Send>> {
        self.operation(Verb::Open, path)?;
        let content = self.create(path)?;
        Ok(Box::new(SimSink { sim: self.clone(), path: path.into(), content }))
    }

    /// If [`Sim::track`] was called, this is two operations: when the second fails, the file already has its
    /// new name.
    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operation(Verb::Rename, to)?;
        self.tree().rename(from, to)?;
        if self.tree().is_tracked() {
            self.operation(Verb::SyncDirectory, to)?;
        }
        self.tree().sync_parent(to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.faults.step(Verb::Remove, path)?;
        self.tree().remove(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.operation(Verb::CreateDirectory, path)?;
        self.has_room()?;
        let made = self.tree().create_directory(path)?;
        if !made.is_empty() && self.tree().is_tracked() {
            self.operation(Verb::SyncDirectory, path)?;
        }
        made.iter().try_for_each(|made| self.tree().sync_parent(made))
    }

    fn create_new_directory(&self, path: &Path) -> io::Result<()> {
        self.operation(Verb::CreateDirectory, path)?;
        self.has_room()?;
        let mut tree = self.tree();
        if tree.find(path).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        tree.create_directory(path).map(drop)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.0.faults.step(Verb::Remove, path)?;
        self.tree().remove_directory(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        self.0.faults.powered()?;
        self.tree().list(directory)
    }

    fn entry(&self, path: &Path) -> io::Result<Entry> {
        self.0.faults.powered()?;
        self.tree().entry(path)
    }

    fn is_regular(&self, path: &Path) -> bool {
        self.tree().file(path).is_some()
    }

    fn free_bytes(&self, _path: &Path) -> io::Result<u64> {
        Ok(locked(&self.0.reported_room).unwrap_or(1 << 40))
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        self.operation(Verb::Lock, path)?;
        let is_free = locked(&self.0.locks).insert(path.to_path_buf());
        let held = || Lock::Held(Box::new(SimLock(self.clone(), path.to_path_buf())));
        Ok(if is_free { held() } else { Lock::Taken })
    }
}

struct SimFile {
    sim: Sim,
    path: PathBuf,
    content: SharedFile,
    direct: bool,
}

impl Drop for SimFile {
    fn drop(&mut self) {
        self.sim.0.clock.closed(&self.path);
    }
}

impl File for SimFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let most = self.sim.0.faults.transfer(Verb::Read, &self.path, into.len(), self.direct)?;
        let content = locked(&self.content);
        let rest = content.bytes().get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(most);
        into[..count].copy_from_slice(&rest[..count]);
        self.sim.0.clock.pass(&self.path, |speed| speed.read, count);
        Ok(count)
    }

    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<usize> {
        let most = self.sim.0.faults.transfer(Verb::Write, &self.path, from.len(), self.direct)?;
        let now = self.sim.step_count();
        let count = self.sim.grow(&self.content, offset + most as u64, |content, end| {
            let end = end.max(content.bytes().len() as u64);
            let count = most.min(end.saturating_sub(offset) as usize);
            if count == 0 && most > 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            content.write(offset, &from[..count], now);
            Ok(count)
        })?;
        self.sim.0.clock.pass(&self.path, |speed| speed.write, count);
        Ok(count)
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(locked(&self.content).bytes().len() as u64)
    }

    fn set_bytes(&self, bytes: u64) -> io::Result<()> {
        self.sim.operation(Verb::Resize, &self.path)?;
        let now = self.sim.step_count();
        self.sim.grow(&self.content, bytes, |content, end| {
            if bytes > end.max(content.bytes().len() as u64) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            content.resize(bytes, now);
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        let done = self.sim.operation(Verb::Sync, &self.path);
        let mut content = locked(&self.content);
        match &done {
            Ok(()) => content.sync(),
            Err(_) if self.sim.is_off() => {}
            Err(_) => content.lose(&mut Random::new(self.sim.step_count())),
        }
        done
    }

    fn is_direct(&self) -> bool {
        self.direct
    }
}

struct SimStream {
    sim: Sim,
    path: PathBuf,
    bytes: io::Cursor<Vec<u8>>,
}

impl io::Read for SimStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.sim.0.faults.transfer(Verb::Read, &self.path, into.len(), false)?;
        self.bytes.read(&mut into[..count])
    }
}

struct SimSink {
    sim: Sim,
    path: PathBuf,
    content: SharedFile,
}

impl io::Write for SimSink {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let most = self.sim.0.faults.transfer(Verb::Write, &self.path, from.len(), false)?;
        let offset = locked(&self.content).bytes().len() as u64;
        let now = self.sim.step_count();
        self.sim.grow(&self.content, offset + most as u64, |content, end| {
            let count = most.min(end.saturating_sub(offset) as usize);
            if count == 0 && most > 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            content.write(offset, &from[..count], now);
            Ok(count)
        })
    }
    fn flush(&mut self) -> io::Result<()> {
        self.sim.operation(Verb::Sync, &self.path)
    }
}
