//! Large sequential transfers in the background: [`Writer`] writes behind, [`ReadAhead`] reads ahead.
//!
//! Memory: each holds `depth + 1` buffers, recycled. As many threads move them as [`Tuning`] says,
//! so that a disk that likes it has several requests at a time. Direct files get buffers that start
//! at a multiple of [`ALIGNMENT`]; the tail of a direct file is padded and then cut off.
//!
//! [`Tuning`]: super::Tuning

use super::files::part_path;
use super::memory::{LARGE_PAGE, LargePages};
use super::scratch::{Owner, SCRATCH_HINT, Scratch};
use super::{ALIGNMENT, Files, Mode, SMALL_BUFFER_BYTES, Sealed, StoredFile};
use crate::error::{Error, Result};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use xxhash_rust::xxh3::Xxh3;

/// The name of a file in its directory beside the name that it will get.
const PART: &str = "part";
/// Bytes of a file that are read at once to be checked.
const CHECKED_BYTES: usize = 256 << 10;

/// Where a file grows until it is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Grows {
    /// In a directory of ours beside its name, which may be anybody's: [`Writer::create`].
    Beside,
    /// In a directory of ours, under a temporary name: [`Writer::create_own`].
    Apart,
    /// Under its own name: [`Writer::create_scratch`].
    InPlace,
}

impl Grows {
    /// The name of `path` until it is finished.
    pub(crate) fn path(self, path: &Path) -> PathBuf {
        match self {
            Self::Beside => Scratch::path_beside(path).join(PART),
            Self::Apart => part_path(path),
            Self::InPlace => path.to_path_buf(),
        }
    }

    /// Where the file is now.
    pub(crate) fn path_now(self, files: &Files, path: &Path) -> PathBuf {
        let part = self.path(path);
        if files.entry(&part).is_ok() { part } else { path.to_path_buf() }
    }
}

/// Bytes that start at a multiple of [`ALIGNMENT`], those of a large page or more in large pages.
pub struct AlignedBuffer {
    memory: Memory,
    start: usize,
    len: usize,
}

/// What a buffer lies in.
enum Memory {
    Allocated(Vec<u8>),
    Large(LargePages),
}

impl AlignedBuffer {
    /// A buffer of `bytes`, rounded up to the alignment.
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
    /// Its length.
    pub fn capacity(&self) -> usize {
        self.len
    }
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        let memory = match &self.memory {
            Memory::Allocated(memory) => memory,
            Memory::Large(memory) => memory.bytes(),
        };
        &memory[self.start..self.start + self.len]
    }
    /// The bytes, to fill.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let memory = match &mut self.memory {
            Memory::Allocated(memory) => memory,
            Memory::Large(memory) => memory.bytes_mut(),
        };
        &mut memory[self.start..self.start + self.len]
    }
}

/// What a writer's threads are told: to write so many bytes of the buffer at the offset.
struct WriteOrder {
    file: Arc<StoredFile>,
    buffer: AlignedBuffer,
    used: usize,
    offset: u64,
}

/// A thread of a writer: ends with the orders, or with the first error of any of the threads.
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
        // The writer may be gone already; then nobody needs the buffer.
        let _ = give_back.send(buffer);
    }
    Ok(())
}

/// Writes a file sequentially through threads of its own; the file appears under its name only when
/// it is complete ([`Writer::finish`]), and is removed if the writer is dropped before, unless a checkpoint
/// needs it ([`Writer::checkpoint`]). Until then it grows in a directory of ours beside its name:
/// no name that could be somebody else's is ever written to.
pub struct Writer {
    files: Files,
    path: PathBuf,
    /// The directory that the file grows in, if it is this writer's own.
    place: Option<Scratch>,
    /// Its name until it is finished; empty then.
    written_as: PathBuf,
    /// Of what was handed over, if that is to be known.
    hash: Option<Box<Xxh3>>,
    /// Closed before it gets its name or is removed: not all systems allow either while it is open.
    file: Option<Arc<StoredFile>>,
    buffer: AlignedBuffer,
    filled: usize,
    written: u64,
    orders: Option<Sender<WriteOrder>>,
    empty: Receiver<AlignedBuffer>,
    threads: Vec<JoinHandle<Result<()>>>,
}

impl Writer {
    /// Starts `path` with `depth` buffers of `buffer_bytes` in flight beside the one being filled.
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

    /// As [`Writer::create`], in a directory of ours.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn create_own(
        files: &Files,
        path: &Path,
        buffer_bytes: usize,
        depth: usize,
    ) -> Result<Self> {
        Self::start(files, path, &part_path(path), Self::mode(files), buffer_bytes, depth)
    }

    /// Resumes a file behind its first `bytes`, which another writer has made durable, finished since or not.
    ///
    /// # Errors
    /// As [`Writer::create`]; `CorruptFile` if there are not so many bytes.
    pub(crate) fn resume(
        files: &Files,
        path: &Path,
        grows: Grows,
        bytes: u64,
        (buffer_bytes, depth): (usize, usize),
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

    /// Lets [`Writer::checkpoint`] tell the checksum of all bytes; before the first of them.
    pub(crate) fn hashed(mut self) -> Self {
        self.hash = Some(Box::default());
        self
    }

    /// As [`Writer::hashed`], for a writer that was resumed: the bytes that are there must be those that were
    /// saved.
    ///
    /// # Errors
    /// `CorruptFile` if they are not; `Io`.
    pub(crate) fn checked(mut self, saved: Sealed) -> Result<Self> {
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

    /// What the bytes so far are known by.
    fn sealed(&self) -> Sealed {
        let checksum = self.hash.as_ref().map_or(0, |hash| {
            let mut hash = hash.clone();
            hash.update(&self.buffer.bytes()[..self.filled]);
            hash.digest()
        });
        Sealed { bytes: self.position(), checksum }
    }

    /// Removes what another writer has left of `path` that was to be resumed, if there is anything: it is of no
    /// use any more, or a power loss has brought it back.
    pub(crate) fn discard(files: &Files, path: &Path) {
        if files.entry(&Scratch::path_beside(path)).is_err() {
            return;
        }
        // What cannot be removed is the next one's to remove.
        if let Ok(mut place) = Scratch::beside(files, path) {
            let _ = place.begin(&Owner::current().to_bytes(), &[]);
        }
    }

    /// As [`Writer::create`], for a file that is of no use to another process: it has its name from
    /// the start, is not synced, and may be longer than what was written.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn create_scratch(
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
        let mut writer = Self {
            files: files.clone(),
            path: path.to_path_buf(),
            place: None,
            written_as: written_as.to_path_buf(),
            hash: None,
            file: Some(file),
            buffer: AlignedBuffer::new(buffer_bytes),
            filled: 0,
            written: 0,
            orders: None,
            empty: bounded(0).1,
            threads: Vec::new(),
        };
        writer.begin((0..depth.max(1)).map(|_| AlignedBuffer::new(buffer_bytes)).collect());
        Ok(writer)
    }

    /// Starts the threads, with these buffers.
    fn begin(&mut self, buffers: Vec<AlignedBuffer>) {
        let depth = buffers.len();
        let (orders, taken) = bounded(depth + 1);
        let (give_back, empty) = bounded(depth + 1);
        for buffer in buffers {
            give_back.send(buffer).expect("the channel has room");
        }
        let failed = Arc::new(AtomicBool::new(false));
        self.threads = (0..self.files.tuning().write.depth.min(depth))
            .map(|_| {
                let (taken, give_back) = (taken.clone(), give_back.clone());
                let failed = failed.clone();
                std::thread::spawn(move || write_orders(&taken, &give_back, &failed))
            })
            .collect();
        (self.orders, self.empty) = (Some(orders), empty);
    }

    /// Makes what was written so far durable, under its temporary name; there it stays when the writer is dropped,
    /// if a checkpoint needs it. Gives its length, for [`Writer::resume`], and its checksum if that is known;
    /// the file may be longer.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub(crate) fn checkpoint(&mut self) -> Result<Sealed> {
        let (saved, hash) = (self.sealed(), self.hash.clone());
        let rest = self.buffer.bytes()[..self.filled].to_vec();
        self.hand_over_rest()?;
        self.join()?;
        self.file.as_ref().expect("open until the writer is finished").sync()?;
        // To the name that it has: so the directory is synced.
        self.files.publish(&self.written_as, &self.written_as)?;
        let buffers = self.empty.try_iter().collect();
        self.begin(buffers);
        // Written once more with what comes behind it, so that buffers begin at the alignment.
        self.buffer.bytes_mut()[..rest.len()].copy_from_slice(&rest);
        self.filled = rest.len();
        self.written = saved.bytes - rest.len() as u64;
        self.hash = hash;
        Ok(saved)
    }

    fn mode(files: &Files) -> Mode {
        if files.tuning().write.direct { Mode::CreateDirect } else { Mode::Create }
    }

    /// Bytes written so far: the offset of the next byte.
    pub fn position(&self) -> u64 {
        self.written + self.filled as u64
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// Whatever the background write met: `Io`, `DiskFull`.
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
        let Ok(next) = self.empty.recv() else { return Err(self.failure()) };
        let buffer = std::mem::replace(&mut self.buffer, next);
        if let Some(hash) = &mut self.hash {
            hash.update(&buffer.bytes()[..self.filled]);
        }
        let file = self.file.clone().expect("open until the writer is finished");
        let offset = self.written;
        self.order(WriteOrder { file, buffer, used, offset })?;
        self.written += self.filled as u64;
        self.filled = 0;
        Ok(())
    }

    fn order(&mut self, order: WriteOrder) -> Result<()> {
        let orders = self.orders.as_ref().expect("finish consumes the writer");
        if orders.send(order).is_err() {
            return Err(self.failure());
        }
        Ok(())
    }

    /// Hands over what is left of the file, padded; gives the file's length.
    fn hand_over_rest(&mut self) -> Result<u64> {
        let total = self.position();
        if self.filled > 0 {
            let used = self.filled.next_multiple_of(ALIGNMENT);
            let filled = self.filled;
            self.buffer.bytes_mut()[filled..used].fill(0);
            self.hand_over(used)?;
        }
        Ok(total)
    }

    /// For a writer made by [`Writer::create_scratch`]: ends the file and goes on with the new file
    /// `path`, with the same threads and buffers. Gives the length of the ended one, which is now the
    /// caller's to remove.
    ///
    /// # Errors
    /// `Io`, `DiskFull`; later writes tell what the threads meet.
    pub(crate) fn next_scratch(&mut self, path: &Path) -> Result<u64> {
        let total = self.hand_over_rest()?;
        self.file = Some(Arc::new(self.files.open(path, Self::mode(&self.files))?));
        self.path = path.to_path_buf();
        self.written_as = path.to_path_buf();
        self.written = 0;
        Ok(total)
    }

    /// Waits for the threads; the first error is theirs.
    fn join(&mut self) -> Result<()> {
        self.orders = None;
        let mut result = Ok(());
        for thread in self.threads.drain(..) {
            let broken = || Error::io("write", &self.path, std::io::ErrorKind::BrokenPipe.into());
            result = result.and(thread.join().unwrap_or_else(|_| Err(broken())));
        }
        result
    }

    /// The error that ended the threads.
    fn failure(&mut self) -> Error {
        match self.join() {
            Err(error) => error,
            Ok(()) => Error::io("write", &self.path, std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Writes the rest, syncs, and gives the file its name. Gives its length.
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
        // Not finished: an error or a stop is already on its way to the caller.
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
    /// Writes a whole small file so that it is absent or complete; a pipe or a device as it is.
    ///
    /// # Errors
    /// As [`Writer::create`]; `DiskFull`.
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

/// Leaves a file in its directory beside its name, for a writer that resumes it.
fn leave_part(place: Scratch) {
    place.leave(&Owner::nobody().to_bytes(), &[PART]);
}

/// A range of a file as read: the buffer, and where in it the wanted bytes lie.
struct Loaded {
    buffer: AlignedBuffer,
    start: usize,
    len: usize,
}

/// Reads a sequence of ranges of one file, in order, ahead of the caller.
pub struct ReadAhead {
    /// One receiver a range, in their order.
    ordered: Option<Receiver<Receiver<Result<Loaded>>>>,
    give_back: Sender<AlignedBuffer>,
    current: Option<Loaded>,
    threads: Vec<JoinHandle<()>>,
}

/// A range to read, and where its bytes go.
type Wanted = ((u64, usize), Sender<Result<Loaded>>);

/// The ranges still to be read, and where the next one's bytes will be looked for.
struct Ranges<I> {
    ranges: std::iter::Fuse<I>,
    order: Sender<Receiver<Result<Loaded>>>,
}

impl<I: Iterator<Item = (u64, usize)>> Ranges<I> {
    /// The next range; `None` if there is none or nobody listens any more.
    fn next(&mut self) -> Option<Wanted> {
        let range = self.ranges.next()?;
        let (answer, loaded) = bounded(1);
        self.order.send(loaded).is_ok().then_some((range, answer))
    }
}

impl ReadAhead {
    /// Starts reading `ranges` (offset and length) with at most `depth` of them read or waiting
    /// beside the caller's, by as many threads as the file's [`Tuning`](super::Tuning) says.
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
                        // What nobody waits for any more is dropped.
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

    /// The next range's bytes, or `None` after the last.
    ///
    /// # Errors
    /// `CorruptFile` if the file ends inside the range; `Io`.
    pub fn next_range(&mut self) -> Result<Option<&[u8]>> {
        if let Some(done) = self.current.take() {
            // Full means enough buffers are on their way back already.
            let _ = self.give_back.try_send(done.buffer);
        }
        let Some(ordered) = &self.ordered else { return Ok(None) };
        let Ok(loaded) = ordered.recv() else { return Ok(None) };
        // A thread that died without an answer has panicked: that is no end of the file.
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
    /// Reads one range into memory of its own, whatever the alignment rules of the file.
    ///
    /// # Errors
    /// `CorruptFile` if the file ends inside the range; `Io`.
    pub(crate) fn read_range(&self, offset: u64, len: usize) -> Result<Vec<u8>> {
        let mut buffer = AlignedBuffer::new(0);
        let start = self.load_range(offset, len, &mut buffer)?;
        Ok(buffer.bytes()[start..start + len].to_vec())
    }

    /// Reads a range into `buffer`, which grows if it must, whatever the alignment rules of the file;
    /// gives where in it the range begins.
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

    /// As [`StoredFile::load_range`], into a part of a buffer that begins at a multiple of
    /// [`ALIGNMENT`] and has room for the range and two of these.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn load_into(&self, offset: u64, len: usize, buffer: &mut [u8]) -> Result<usize> {
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

#[cfg(test)]
mod tests;
