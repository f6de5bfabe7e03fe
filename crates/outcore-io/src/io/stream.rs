//! Large sequential transfers in the background: [`Writer`] writes behind, [`ReadAhead`] reads ahead.
//!
//! Memory: each holds `depth + 1` buffers, recycled; a file that fits in one buffer is written without others, and
//! without threads. [`Tuning`] sets the number of threads that move them, so that a disk that benefits from it has
//! several requests in flight. Buffers of direct files start at a multiple of [`ALIGNMENT`]; the tail of a direct file
//! is padded and then truncated. A file gets its name only when it is complete and durable; only scratch files
//! ([`Writer::create_scratch`]) have it earlier.
//!
//! [`Tuning`]: super::Tuning

use super::files::part_path;
use super::memory::{LARGE_PAGE, LargePages};
use super::scratch::{Owner, SCRATCH_HINT, Scratch};
use super::{ALIGNMENT, Files, Mode, SMALL_BUFFER_BYTES, Sealed, StoredFile};
use crate::error::{Error, ErrorKind, Result};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use xxhash_rust::xxh3::Xxh3;

/// Temporary name of a file in the directory next to its final name.
const PART: &str = "part";
/// Bytes read at a time when a file is checked.
const CHECKED_BYTES: usize = 256 << 10;

/// Where a file grows until it is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Grows {
    /// In a directory of its own next to its final name, in a location that others may use: [`Writer::create`].
    Beside,
    /// In a work directory, under a temporary name: [`Writer::create_own`].
    Apart,
    /// Under its final name: [`Writer::create_scratch`].
    InPlace,
}

impl Grows {
    /// Returns the path of the file `path` until it is finished.
    pub fn path(self, path: &Path) -> PathBuf {
        match self {
            Self::Beside => Scratch::path_beside(path).join(PART),
            Self::Apart => part_path(path),
            Self::InPlace => path.to_path_buf(),
        }
    }

    /// Returns the current path of the file.
    pub fn path_now(self, files: &Files, path: &Path) -> PathBuf {
        let part = self.path(path);
        if files.entry(&part).is_ok() { part } else { path.to_path_buf() }
    }
}

/// Buffer that starts at a multiple of [`ALIGNMENT`]; sizes of a large page or more use large pages.
pub struct AlignedBuffer {
    memory: Memory,
    start: usize,
    len: usize,
}

/// Memory behind a buffer.
enum Memory {
    Allocated(Vec<u8>),
    Large(LargePages),
}

impl AlignedBuffer {
    /// Allocates a buffer of `bytes`, rounded up to the alignment.
    pub fn new(bytes: usize) -> Self {
        let len = bytes.next_multiple_of(ALIGNMENT);
        let large = if len < LARGE_PAGE { None } else { LargePages::new(len) };
        if let Some(memory) = large {
            return Self { memory: Memory::Large(memory), start: 0, len };
        }
        let memory = vec![0u8; len + ALIGNMENT];
        let start = memory.as_ptr().addr().wrapping_neg() % ALIGNMENT;
        Self { memory: Memory::Allocated(memory), start, len }
    }
    /// Returns its length.
    pub fn capacity(&self) -> usize {
        self.len
    }
    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        let memory = match &self.memory {
            Memory::Allocated(memory) => memory,
            Memory::Large(memory) => memory.bytes(),
        };
        &memory[self.start..self.start + self.len]
    }
    /// Returns the bytes for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let memory = match &mut self.memory {
            Memory::Allocated(memory) => memory,
            Memory::Large(memory) => memory.bytes_mut(),
        };
        &mut memory[self.start..self.start + self.len]
    }
}

/// Order to a writer thread: write the first bytes of the buffer at the offset.
struct WriteOrder {
    file: Arc<StoredFile>,
    buffer: AlignedBuffer,
    used: usize,
    offset: u64,
}

/// Runs a writer thread: ends when the orders end, or with the first error of any thread.
fn write_orders(
    orders: &Receiver<WriteOrder>,
    give_back: &Sender<AlignedBuffer>,
    failed: &AtomicBool,
) -> Result<()> {
    for WriteOrder { file, buffer, used, offset } in orders {
        if failed.load(Ordering::Relaxed) {
            return Ok(());
        }
        file.write_all_at(offset, &buffer.bytes()[..used])
            .inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        // The writer may have been dropped already; then the buffer is not needed.
        let _ = give_back.send(buffer);
    }
    Ok(())
}

/// Sequential writer with threads of its own. The file appears under its name only when it is complete
/// ([`Writer::finish`]), and is removed if the writer is dropped before, unless a checkpoint needs it
/// ([`Writer::checkpoint`]). Until then it grows in a directory of its own next to its final name: no file of
/// another program is ever overwritten.
pub struct Writer {
    files: Files,
    path: PathBuf,
    /// Directory that the file grows in, if it belongs to this writer alone.
    place: Option<Scratch>,
    /// Temporary name; empty once finished.
    written_as: PathBuf,
    /// Hash of the bytes handed over, if a checksum is wanted.
    hash: Option<Box<Xxh3>>,
    /// Closed before the file is renamed or removed, which not all systems allow while it is open.
    file: Option<Arc<StoredFile>>,
    buffer: AlignedBuffer,
    filled: usize,
    written: u64,
    /// Number of buffers in flight.
    depth: usize,
    /// Set once there is more than one buffer to write.
    threads: Option<WriteThreads>,
}

/// Threads that write, and the buffers that they give back.
struct WriteThreads {
    orders: Sender<WriteOrder>,
    empty: Receiver<AlignedBuffer>,
    handles: Vec<JoinHandle<Result<()>>>,
}

impl Writer {
    /// Creates `path` with `depth` buffers of `buffer_bytes` in flight in addition to the one being filled.
    ///
    /// # Errors
    /// `Io` with the path; `Usage` if another process writes it.
    pub fn create(files: &Files, path: &Path, buffer_bytes: usize, depth: usize) -> Result<Self> {
        let mut place = Scratch::beside(files, path)?;
        place.begin(&Owner::current().to_bytes(), &[])?;
        let part = place.path().join(PART);
        let mut writer = Self::start(files, path, &part, Self::mode(files), buffer_bytes, depth)?;
        writer.place = Some(place);
        Ok(writer)
    }

    /// Like [`Writer::create`], in a work directory.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create_own(
        files: &Files,
        path: &Path,
        buffer_bytes: usize,
        depth: usize,
    ) -> Result<Self> {
        Self::start(files, path, &part_path(path), Self::mode(files), buffer_bytes, depth)
    }

    /// Resumes a file after its first `bytes`, which another writer has made durable, whether or not it has
    /// been finished since.
    ///
    /// # Errors
    /// Like [`Writer::create`]; `CorruptFile` if the file is shorter.
    pub fn resume(
        files: &Files,
        path: &Path,
        grows: Grows,
        bytes: u64,
        buffer_bytes: usize,
        depth: usize,
    ) -> Result<Self> {
        let mut place = None;
        if grows == Grows::Beside {
            let place = place.insert(Scratch::beside(files, path)?);
            place.begin(&Owner::current().to_bytes(), &[PART])?;
        }
        let part = grows.path(path);
        let resumed = (|| {
            if part != path && files.entry(&part).is_err() {
                files.publish(path, &part)?;
            }
            let direct = files.tuning().write.direct;
            let mode = if direct { Mode::ExtendDirect } else { Mode::Extend };
            let mut writer = Self::start(files, path, &part, mode, buffer_bytes, depth)?;
            let tail = (bytes % ALIGNMENT as u64) as usize;
            writer.filled = tail;
            writer.written = bytes - tail as u64;
            let into = &mut writer.buffer.bytes_mut()[..tail];
            files.open(&part, Mode::Read)?.read_exact_at(writer.written, into)?;
            Ok(writer)
        })();
        match (resumed, place) {
            (Ok(mut writer), place) => {
                writer.place = place;
                Ok(writer)
            }
            (Err(error), place) => {
                place.into_iter().for_each(leave_part);
                Err(error)
            }
        }
    }

    /// Makes [`Writer::checkpoint`] return the checksum of all bytes; to be called before the first write.
    pub fn hashed(mut self) -> Self {
        self.hash = Some(Box::default());
        self
    }

    /// Like [`Writer::hashed`], for a resumed writer: checks that the existing bytes are those that were saved.
    ///
    /// # Errors
    /// `CorruptFile` if they differ; `Io`.
    pub fn checked(mut self, saved: Sealed) -> Result<Self> {
        let file = self.files.open(&self.written_as, Mode::Read)?;
        let (mut at, mut hash, mut bytes) = (0, Box::<Xxh3>::default(), vec![0; CHECKED_BYTES]);
        while at < self.written {
            let bytes = &mut bytes[..(self.written - at).min(CHECKED_BYTES as u64) as usize];
            file.read_exact_at(at, bytes)?;
            hash.update(bytes);
            at += bytes.len() as u64;
        }
        self.hash = Some(hash);
        if self.sealed() == saved {
            return Ok(self);
        }
        Err(Error::corrupt_of(file.path(), "its checksum is wrong", SCRATCH_HINT))
    }

    /// Returns length and checksum of the bytes so far.
    pub(crate) fn sealed(&self) -> Sealed {
        let checksum = self.hash.as_ref().map_or(0, |hash| {
            let mut hash = hash.clone();
            hash.update(&self.buffer.bytes()[..self.filled]);
            hash.digest()
        });
        Sealed { bytes: self.position(), checksum }
    }

    /// Removes what another writer has left of `path` to resume from, if anything. It is no longer needed, or a power
    /// loss has restored it.
    pub fn discard(files: &Files, path: &Path) {
        if files.entry(&Scratch::path_beside(path)).is_err() {
            return;
        }
        // If it cannot be removed, the next writer of this file tries again.
        if let Ok(mut place) = Scratch::beside(files, path) {
            let _ = place.begin(&Owner::current().to_bytes(), &[]);
        }
    }

    /// Like [`Writer::create`], for a file that no other process needs: it has its name from the start, is
    /// not synced, and may be longer than what was written.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create_scratch(
        files: &Files,
        path: &Path,
        buffer_bytes: usize,
        depth: usize,
    ) -> Result<Self> {
        Self::start(files, path, path, Self::mode(files), buffer_bytes, depth)
    }

    fn start(
        files: &Files,
        path: &Path,
        written_as: &Path,
        mode: Mode,
        buffer_bytes: usize,
        depth: usize,
    ) -> Result<Self> {
        let file = Arc::new(files.open(written_as, mode)?);
        Ok(Self {
            files: files.clone(),
            path: path.to_path_buf(),
            place: None,
            written_as: written_as.to_path_buf(),
            hash: None,
            file: Some(file),
            buffer: AlignedBuffer::new(buffer_bytes),
            filled: 0,
            written: 0,
            depth: depth.max(1),
            threads: None,
        })
    }

    /// Starts the threads.
    fn begin(&self) -> Result<WriteThreads> {
        let depth = self.depth;
        let (orders, taken) = bounded(depth + 1);
        let (give_back, empty) = bounded(depth + 1);
        for _ in 0..depth {
            let buffer = AlignedBuffer::new(self.buffer.capacity());
            give_back.send(buffer).expect("the channel has room");
        }
        let failed = Arc::new(AtomicBool::new(false));
        let start = |_| {
            let (taken, give_back) = (taken.clone(), give_back.clone());
            let failed = failed.clone();
            std::thread::Builder::new().spawn(move || write_orders(&taken, &give_back, &failed))
        };
        let count = self.files.tuning().write.depth.min(depth);
        let handles: std::io::Result<_> = (0..count).map(start).collect();
        let handles = handles.map_err(|error| {
            let message = format!("cannot start threads that write: {error}");
            Error::new(ErrorKind::Io, message)
                .hint("raise the system limits: `ulimit -u`, `ulimit -v`, or that of the container")
        })?;
        Ok(WriteThreads { orders, empty, handles })
    }

    /// Makes everything written so far durable, under its temporary name; the file remains when the writer is
    /// dropped, if a checkpoint needs it. Returns the length, for [`Writer::resume`], and the checksum if it
    /// is computed; the file may be longer.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn checkpoint(&mut self) -> Result<Sealed> {
        let (saved, hash) = (self.sealed(), self.hash.clone());
        let rest = self.buffer.bytes()[..self.filled].to_vec();
        self.hand_over_rest()?;
        self.join()?;
        self.file.as_ref().expect("open until the writer is finished").sync()?;
        // Renamed to its own name, which syncs the directory.
        self.files.publish(&self.written_as, &self.written_as)?;
        // These bytes are written again together with later ones, so that buffers begin at an aligned offset.
        self.buffer.bytes_mut()[..rest.len()].copy_from_slice(&rest);
        self.filled = rest.len();
        self.written = saved.bytes - rest.len() as u64;
        self.hash = hash;
        Ok(saved)
    }

    fn mode(files: &Files) -> Mode {
        if files.tuning().write.direct { Mode::CreateDirect } else { Mode::Create }
    }

    /// Returns the path of the file once it is finished.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the bytes written so far, which is the offset of the next byte.
    pub fn position(&self) -> u64 {
        self.written + self.filled as u64
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// Errors of background writes: `Io`, `DiskFull`.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let room = &mut self.buffer.bytes_mut()[self.filled..];
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            self.filled += count;
            bytes = &bytes[count..];
            if self.filled == self.buffer.capacity() {
                self.hand_over(self.filled)?;
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, used: usize) -> Result<()> {
        if self.threads.is_none() {
            self.threads = Some(self.begin()?);
        }
        let threads = self.threads.as_ref().expect("begun above");
        let Ok(next) = threads.empty.recv() else { return Err(self.failure()) };
        let buffer = std::mem::replace(&mut self.buffer, next);
        if let Some(hash) = &mut self.hash {
            hash.update(&buffer.bytes()[..self.filled]);
        }
        let file = self.file.clone().expect("open until the writer is finished");
        let offset = self.written;
        if threads.orders.send(WriteOrder { file, buffer, used, offset }).is_err() {
            return Err(self.failure());
        }
        self.written += self.filled as u64;
        self.filled = 0;
        Ok(())
    }

    /// Hands over the rest of the file, padded; returns the file's length.
    fn hand_over_rest(&mut self) -> Result<u64> {
        let total = self.position();
        if self.filled > 0 {
            let used = self.filled.next_multiple_of(ALIGNMENT);
            let filled = self.filled;
            self.buffer.bytes_mut()[filled..used].fill(0);
            match self.threads {
                Some(_) => self.hand_over(used),
                None => self.write_rest(used),
            }?;
        }
        Ok(total)
    }

    /// Writes the rest of the file without threads.
    fn write_rest(&mut self, used: usize) -> Result<()> {
        if let Some(hash) = &mut self.hash {
            hash.update(&self.buffer.bytes()[..self.filled]);
        }
        let file = self.file.as_ref().expect("open until the writer is finished");
        file.write_all_at(self.written, &self.buffer.bytes()[..used])?;
        self.written += self.filled as u64;
        self.filled = 0;
        Ok(())
    }

    /// Ends the file of a writer made by [`Writer::create_scratch`] and continues with the new file `path`, with the
    /// same threads and buffers. Returns the length of the finished file, which the caller now has to remove.
    ///
    /// # Errors
    /// `Io`, `DiskFull`; errors of the threads may appear in later writes.
    pub fn next_scratch(&mut self, path: &Path) -> Result<u64> {
        let total = self.hand_over_rest()?;
        self.file = Some(Arc::new(self.files.open(path, Self::mode(&self.files))?));
        self.path = path.to_path_buf();
        self.written_as = path.to_path_buf();
        self.written = 0;
        Ok(total)
    }

    /// Waits for the threads; returns the first error.
    fn join(&mut self) -> Result<()> {
        let Some(WriteThreads { orders, handles, .. }) = self.threads.take() else {
            return Ok(());
        };
        drop(orders);
        let mut result = Ok(());
        for thread in handles {
            let broken = || Error::io("write", &self.path, std::io::ErrorKind::BrokenPipe.into());
            result = result.and(thread.join().unwrap_or_else(|_| Err(broken())));
        }
        result
    }

    /// Returns the error that ended the threads.
    fn failure(&mut self) -> Error {
        match self.join() {
            Err(error) => error,
            Ok(()) => Error::io("write", &self.path, std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Writes the rest, syncs, and gives the file its name. Returns its length.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn finish(mut self) -> Result<u64> {
        let total = self.hand_over_rest()?;
        self.join()?;
        let file = self.file.take().filter(|_| self.written_as != self.path);
        if let Some(file) = file {
            file.set_bytes(total)?;
            file.sync()?;
            drop(file);
            self.files.publish(&self.written_as, &self.path)?;
        }
        self.written_as = PathBuf::new();
        Ok(total)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Dropped before the end: the caller already has an error, or was stopped.
        let _ = self.join();
        self.file = None;
        if self.written_as.as_os_str().is_empty() {
            return;
        }
        if !self.files.is_held(&self.written_as) {
            let _ = self.files.remove(&self.written_as);
        } else if let Some(place) = self.place.take() {
            leave_part(place);
        }
    }
}

impl Files {
    /// Writes a complete small file atomically; writes directly to a pipe or a device.
    ///
    /// # Errors
    /// Like [`Writer::create`]; `DiskFull`.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        if self.entry(path).is_ok_and(|entry| !entry.is_directory) && !self.is_regular(path) {
            let mut stream = self.create_stream(path)?;
            return stream.write_all(bytes).map_err(|error| Error::io("write", path, error));
        }
        let mut writer = Writer::create(self, path, bytes.len().min(SMALL_BUFFER_BYTES), 1)?;
        writer.write(bytes)?;
        writer.finish().map(drop)
    }
}

/// Leaves an unfinished file in the directory next to its final name, for a writer that resumes it.
fn leave_part(place: Scratch) {
    place.leave(&Owner::nobody().to_bytes(), &[PART]);
}

/// Loaded range of a file: the buffer, and the position of the wanted bytes in it.
struct Loaded {
    buffer: AlignedBuffer,
    start: usize,
    len: usize,
}

/// Reader of a sequence of ranges of one file, in order, ahead of the caller.
pub struct ReadAhead {
    /// One receiver per range, in their order.
    ordered: Option<Receiver<Receiver<Result<Loaded>>>>,
    give_back: Sender<AlignedBuffer>,
    current: Option<Loaded>,
    threads: Vec<JoinHandle<()>>,
}

/// Range to read, and the channel for its bytes.
type Wanted = ((u64, usize), Sender<Result<Loaded>>);

/// Ranges still to be read, and the channel on which the reader expects the next one.
struct Ranges<I> {
    ranges: std::iter::Fuse<I>,
    order: Sender<Receiver<Result<Loaded>>>,
}

impl<I: Iterator<Item = (u64, usize)>> Ranges<I> {
    /// Returns the next range; `None` at the end, or if the reader was dropped.
    fn next(&mut self) -> Option<Wanted> {
        let range = self.ranges.next()?;
        let (answer, loaded) = bounded(1);
        self.order.send(loaded).is_ok().then_some((range, answer))
    }
}

impl ReadAhead {
    /// Starts reading `ranges` (offset and length) with at most `depth` of them being read or waiting in
    /// addition to the caller's, on as many threads as the file's [`Tuning`](super::Tuning) specifies.
    pub fn new(
        file: Arc<StoredFile>,
        ranges: impl Iterator<Item = (u64, usize)> + Send + 'static,
        depth: usize,
    ) -> Self {
        let depth = depth.max(1);
        let (order, ordered) = bounded(depth);
        let (give_back, recycled) = bounded::<AlignedBuffer>(depth + 2);
        let count = file.read_depth().min(depth);
        let ranges = Arc::new(Mutex::new(Ranges { ranges: ranges.fuse(), order }));
        let threads = (0..count)
            .map(|_| {
                let (file, ranges, recycled) = (file.clone(), ranges.clone(), recycled.clone());
                std::thread::spawn(move || {
                    loop {
                        let next = ranges.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some(((offset, len), answer)) = next else { return };
                        let result = load(&file, offset, len, recycled.try_recv().ok());
                        // Results that nobody waits for any more are dropped.
                        let failed = result.is_err();
                        if answer.send(result).is_err() || failed {
                            return;
                        }
                    }
                })
            })
            .collect();
        Self { ordered: Some(ordered), give_back, current: None, threads }
    }

    /// Returns the next range's bytes, or `None` after the last.
    ///
    /// # Errors
    /// `CorruptFile` if the file ends inside the range; `Io`.
    pub fn next_range(&mut self) -> Result<Option<&[u8]>> {
        if let Some(done) = self.current.take() {
            // A full channel means that enough buffers are being returned already.
            let _ = self.give_back.try_send(done.buffer);
        }
        let Some(ordered) = &self.ordered else { return Ok(None) };
        let Ok(loaded) = ordered.recv() else { return Ok(None) };
        // A thread that ended without an answer has panicked: this is not the end of the file.
        match loaded.recv().expect("a reading thread answers for every range") {
            Err(error) => {
                // Nothing follows an error.
                self.ordered = None;
                Err(error)
            }
            Ok(loaded) => {
                let loaded = self.current.insert(loaded);
                Ok(Some(&loaded.buffer.bytes()[loaded.start..loaded.start + loaded.len]))
            }
        }
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.ordered = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn load(
    file: &StoredFile,
    offset: u64,
    len: usize,
    buffer: Option<AlignedBuffer>,
) -> Result<Loaded> {
    let mut buffer = buffer.filter(|buffer| buffer.capacity() <= 4 * (len + 2 * ALIGNMENT));
    let buffer = buffer.get_or_insert_with(|| AlignedBuffer::new(0));
    let start = file.load_range(offset, len, buffer)?;
    Ok(Loaded { buffer: std::mem::replace(buffer, AlignedBuffer::new(0)), start, len })
}

impl StoredFile {
    /// Reads one range into newly allocated memory, whatever the alignment rules of the file.
    ///
    /// # Errors
    /// `CorruptFile` if the file ends inside the range; `Io`.
    pub fn read_range(&self, offset: u64, len: usize) -> Result<Vec<u8>> {
        let mut buffer = AlignedBuffer::new(0);
        let start = self.load_range(offset, len, &mut buffer)?;
        Ok(buffer.bytes()[start..start + len].to_vec())
    }

    /// Reads a range into `buffer`, which grows if necessary, whatever the alignment rules of the file;
    /// returns the position in it where the range begins.
    ///
    /// # Errors
    /// `CorruptFile` if the file ends inside the range; `Io`.
    pub(crate) fn load_range(
        &self,
        offset: u64,
        len: usize,
        buffer: &mut AlignedBuffer,
    ) -> Result<usize> {
        let start = (offset % ALIGNMENT as u64) as usize;
        let wanted = (start + len).next_multiple_of(ALIGNMENT);
        if buffer.capacity() < wanted {
            *buffer = AlignedBuffer::new(wanted);
        }
        self.load_into(offset, len, buffer.bytes_mut())
    }

    /// Like [`StoredFile::load_range`], into a part of a buffer that begins at a multiple of [`ALIGNMENT`]
    /// and has room for the range plus twice that alignment.
    ///
    /// # Errors
    /// Like [`StoredFile::load_range`].
    pub fn load_into(&self, offset: u64, len: usize, buffer: &mut [u8]) -> Result<usize> {
        let start = if self.is_direct() { (offset % ALIGNMENT as u64) as usize } else { 0 };
        let end = start + len;
        let into = if self.is_direct() { end.next_multiple_of(ALIGNMENT) } else { end };
        let found = self.read_at(offset - start as u64, &mut buffer[..into])?;
        if found < start + len {
            return Err(self.too_short(offset + len as u64));
        }
        Ok(start)
    }
}
