//! Large sequential transfers in the background: [`Writer`] writes behind, [`ReadAhead`] reads ahead.
//!
//! Memory: each holds `depth + 1` buffers, recycled. Direct files get buffers that start at a
//! multiple of [`ALIGNMENT`]; the tail of a direct file is padded and then cut off.

use super::files::part_path;
use super::memory::{LARGE_PAGE, LargePages};
use super::{ALIGNMENT, Files, Mode, StoredFile};
use crate::error::{Error, Result};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

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

/// What a writer's thread is told.
enum Order {
    /// Write so many bytes of the buffer at the offset.
    Write(AlignedBuffer, usize, u64),
    /// Go on with this file.
    Open(StoredFile),
}

/// Writes a file sequentially through a thread of its own; the file appears under its name only when
/// it is complete ([`Writer::finish`]), and is removed if the writer is dropped before.
pub struct Writer {
    files: Files,
    path: PathBuf,
    /// Its name until it is finished; empty then.
    written_as: PathBuf,
    buffer: AlignedBuffer,
    filled: usize,
    written: u64,
    orders: Option<Sender<Order>>,
    empty: Receiver<AlignedBuffer>,
    thread: Option<JoinHandle<Result<StoredFile>>>,
}

impl Writer {
    /// Starts `path` with `depth` buffers of `buffer_bytes` in flight beside the one being filled.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create(files: &Files, path: &Path, buffer_bytes: usize, depth: usize) -> Result<Self> {
        Self::start(files, path, &part_path(path), buffer_bytes, depth)
    }

    /// As [`Writer::create`], for a file that is of no use to another process: it has its name from
    /// the start, is not synced, and may be longer than what was written.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create_scratch(
        files: &Files,
        path: &Path,
        buffer_bytes: usize,
        depth: usize,
    ) -> Result<Self> {
        Self::start(files, path, path, buffer_bytes, depth)
    }

    fn start(
        files: &Files,
        path: &Path,
        written_as: &Path,
        buffer_bytes: usize,
        depth: usize,
    ) -> Result<Self> {
        let mut file = files.open(written_as, Mode::CreateDirect)?;
        let (orders, taken) = bounded(depth + 1);
        let (give_back, empty) = bounded(depth + 1);
        for _ in 0..depth {
            give_back.send(AlignedBuffer::new(buffer_bytes)).expect("the channel has room");
        }
        let thread = std::thread::spawn(move || {
            for order in taken {
                match order {
                    Order::Open(next) => file = next,
                    Order::Write(buffer, used, offset) => {
                        file.write_all_at(offset, &buffer.bytes()[..used])?;
                        // The writer may be gone already; then nobody needs the buffer.
                        let _ = give_back.send(buffer);
                    }
                }
            }
            Ok(file)
        });
        Ok(Self {
            files: files.clone(),
            path: path.to_path_buf(),
            written_as: written_as.to_path_buf(),
            buffer: AlignedBuffer::new(buffer_bytes),
            filled: 0,
            written: 0,
            orders: Some(orders),
            empty,
            thread: Some(thread),
        })
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
        self.order(Order::Write(buffer, used, self.written))?;
        self.written += self.filled as u64;
        self.filled = 0;
        Ok(())
    }

    fn order(&mut self, order: Order) -> Result<()> {
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
    /// `path`, with the same thread and buffers. Gives the length of the ended one, which is now the
    /// caller's to remove.
    ///
    /// # Errors
    /// `Io`, `DiskFull`; later writes tell what the thread meets.
    pub fn next_scratch(&mut self, path: &Path) -> Result<u64> {
        let total = self.hand_over_rest()?;
        let file = self.files.open(path, Mode::CreateDirect)?;
        self.order(Order::Open(file))?;
        self.path = path.to_path_buf();
        self.written_as = path.to_path_buf();
        self.written = 0;
        Ok(total)
    }

    /// The error that ended the thread.
    fn failure(&mut self) -> Error {
        self.orders = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => error,
            _ => Error::io("write", &self.path, std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Writes the rest, syncs, and gives the file its name. Gives its length.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn finish(mut self) -> Result<u64> {
        let total = self.hand_over_rest()?;
        self.orders = None;
        let file = match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result?,
            _ => return Err(self.failure()),
        };
        if self.written_as != self.path {
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
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if !self.written_as.as_os_str().is_empty() {
            // Not finished: an error or a stop is already on its way to the caller.
            let _ = self.files.remove(&self.written_as);
        }
    }
}

/// A range of a file as read: the buffer, and where in it the wanted bytes lie.
struct Loaded {
    buffer: AlignedBuffer,
    start: usize,
    len: usize,
}

/// Reads a sequence of ranges of one file, in order, ahead of the caller.
pub struct ReadAhead {
    loaded: Option<Receiver<Result<Loaded>>>,
    give_back: Sender<AlignedBuffer>,
    current: Option<Loaded>,
    thread: Option<JoinHandle<()>>,
}

impl ReadAhead {
    /// Starts reading `ranges` (offset and length) with at most `depth` of them waiting.
    pub fn new(
        file: Arc<StoredFile>,
        ranges: impl Iterator<Item = (u64, usize)> + Send + 'static,
        depth: usize,
    ) -> Self {
        let (to_caller, loaded) = bounded(depth.max(1));
        let (give_back, recycled) = bounded::<AlignedBuffer>(depth.max(1) + 2);
        let thread = std::thread::spawn(move || {
            for (offset, len) in ranges {
                let buffer = recycled.try_recv().ok();
                let result = load(&file, offset, len, buffer);
                let failed = result.is_err();
                if to_caller.send(result).is_err() || failed {
                    return;
                }
            }
        });
        Self { loaded: Some(loaded), give_back, current: None, thread: Some(thread) }
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
        let receiver = self.loaded.as_ref().expect("present until dropped");
        match receiver.recv() {
            Err(_) => Ok(None),
            Ok(Err(error)) => Err(error),
            Ok(Ok(loaded)) => {
                let loaded = self.current.insert(loaded);
                Ok(Some(&loaded.buffer.bytes()[loaded.start..loaded.start + loaded.len]))
            }
        }
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.loaded = None;
        if let Some(thread) = self.thread.take() {
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
    pub fn read_range(&self, offset: u64, len: usize) -> Result<Vec<u8>> {
        let mut buffer = AlignedBuffer::new(0);
        let start = self.load_range(offset, len, &mut buffer)?;
        Ok(buffer.bytes()[start..start + len].to_vec())
    }

    /// Reads a range into `buffer`, which grows if it must, whatever the alignment rules of the file;
    /// gives where in it the range begins.
    ///
    /// # Errors
    /// `CorruptFile` if the file ends inside the range; `Io`.
    pub fn load_range(&self, offset: u64, len: usize, buffer: &mut AlignedBuffer) -> Result<usize> {
        let start = if self.is_direct() { (offset % ALIGNMENT as u64) as usize } else { 0 };
        let wanted = (start + len).next_multiple_of(ALIGNMENT);
        if buffer.capacity() < wanted {
            *buffer = AlignedBuffer::new(wanted);
        }
        let into = if self.is_direct() { wanted } else { len };
        let found = self.read_at(offset - start as u64, &mut buffer.bytes_mut()[..into])?;
        if found < start + len {
            return Err(self.too_short(offset + len as u64));
        }
        Ok(start)
    }
}
