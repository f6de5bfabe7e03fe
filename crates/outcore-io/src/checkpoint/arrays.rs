//! Arrays of numbers in a file with a checksum at its end: the data of a checkpoint other than its state.
//!
//! ```text
//!  file:  (count u64 | numbers, little-endian)... | checksum u64 (xxh3-64) of all before
//! ```
//! Memory: one buffer, and in a [`StateWriter`] a second one being written. Writing fails with `Io` and
//! `DiskFull`, reading with `Io` and `CorruptFile`.

use crate::error::{Error, Result};
use crate::io::{Files, Grows, Mode, SMALL_BUFFER_BYTES, StoredFile, Writer};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use xxhash_rust::xxh3::Xxh3;

/// Bytes converted to numbers at a time.
const CHUNK_BYTES: usize = 64 << 10;
const CHECKSUM_BYTES: u64 = 8;

/// Number that arrays can hold.
pub trait Number: Copy {
    const BYTES: usize;
    fn put(self, into: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Number for $number {
            const BYTES: usize = size_of::<$number>();
            #[inline]
            fn put(self, into: &mut Vec<u8>) {
                into.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn get(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as it has"))
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64 u128 f64);

/// Writer of arrays to a file in a work directory, which is absent or complete.
pub struct StateWriter {
    writer: Writer,
    hash: Xxh3,
    chunk: Vec<u8>,
    /// Files that a checkpoint needs in addition to the arrays.
    pub(super) needs: Vec<(PathBuf, Option<Grows>, u64)>,
}

impl StateWriter {
    /// Creates a file.
    pub fn create(files: &Files, path: &Path) -> Result<Self> {
        let writer = Writer::create_own(files, path, SMALL_BUFFER_BYTES, 1)?;
        Ok(Self { writer, hash: Xxh3::new(), chunk: Vec::new(), needs: Vec::new() })
    }

    /// Adds a directory, or a file of at least this number of bytes that is no longer written, to the needs of the
    /// checkpoint.
    pub fn need(&mut self, path: &Path, bytes: u64) {
        self.needs.push((path.to_path_buf(), None, bytes));
    }

    /// Adds a file that grows after its first `bytes`, which its writer has made durable, to the needs of the
    /// checkpoint.
    pub fn need_growing(&mut self, path: &Path, grows: Grows, bytes: u64) {
        self.needs.push((path.to_path_buf(), Some(grows), bytes));
    }

    /// Appends bytes that are not an array.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.writer.write(bytes)
    }

    /// Appends an array.
    pub fn array<T: Number>(&mut self, numbers: impl ExactSizeIterator<Item = T>) -> Result<()> {
        self.begin_array(numbers.len() as u64)?;
        self.add(numbers)
    }

    /// Begins an array of `count` numbers, which are [added](Self::add) in parts.
    pub fn begin_array(&mut self, count: u64) -> Result<()> {
        self.put(&count.to_le_bytes())
    }

    /// Continues an array.
    pub fn add<T: Number>(&mut self, numbers: impl Iterator<Item = T>) -> Result<()> {
        let mut chunk = std::mem::take(&mut self.chunk);
        chunk.clear();
        for number in numbers {
            number.put(&mut chunk);
            if chunk.len() >= CHUNK_BYTES {
                self.put(&chunk)?;
                chunk.clear();
            }
        }
        self.put(&chunk)?;
        self.chunk = chunk;
        Ok(())
    }

    /// Appends labels, or other numbers that threads share.
    pub fn labels(&mut self, labels: &[AtomicU32]) -> Result<()> {
        self.array(labels.iter().map(|label| label.load(Relaxed)))
    }

    /// Finishes the file.
    pub fn finish(mut self) -> Result<()> {
        self.writer.write(&self.hash.digest().to_le_bytes())?;
        self.writer.finish().map(drop)
    }
}

/// Reader of arrays in the order in which they were written; their checksum is verified only at the end.
pub struct StateReader {
    file: StoredFile,
    buffer: Vec<u8>,
    /// Position of the next bytes in the buffer, and of the buffer's end in the file.
    at: usize,
    end: u64,
    /// Length of the file, and of the data after the arrays.
    bytes: u64,
    tail: u64,
    hash: Xxh3,
}

impl StateReader {
    /// Opens a file.
    pub fn open(files: &Files, path: &Path) -> Result<Self> {
        let file = files.open(path, Mode::Read)?;
        let (bytes, hash) = (file.bytes()?, Xxh3::new());
        Ok(Self { file, buffer: Vec::new(), at: 0, end: 0, bytes, tail: CHECKSUM_BYTES, hash })
    }

    /// Opens a file after verifying its checksum; it begins with `magic` and ends with a text and the length
    /// of that text. Returns the text, too.
    pub(super) fn open_whole(
        files: &Files,
        path: &Path,
        magic: [u8; 8],
    ) -> Result<(Vec<u8>, Self)> {
        Self::open(files, path)?.read_rest()?;
        let mut reader = Self::open(files, path)?;
        reader.tail += size_of::<u64>() as u64;
        let most = reader.bytes.checked_sub(reader.tail + size_of_val(&magic) as u64);
        let other = || reader.error("it is another kind of file");
        let most = most.ok_or_else(other)?;
        let mut length = [0; 8];
        reader.file.read_exact_at(reader.bytes - reader.tail, &mut length)?;
        let length = Some(u64::from_le_bytes(length)).filter(|length| *length <= most);
        let mut text = vec![0; length.ok_or_else(other)? as usize];
        reader.tail += text.len() as u64;
        reader.file.read_exact_at(reader.bytes - reader.tail, &mut text)?;
        let mut found = [0; 8];
        reader.take(&mut found)?;
        if found == magic {
            Ok((text, reader))
        } else {
            Err(reader.error("it is another kind of file"))
        }
    }

    /// Passes the numbers of the next array to the function in parts, each with the position of its first
    /// number; returns their count.
    pub fn parts<T: Number>(&mut self, each: impl FnMut(u64, &[T]) -> Result<()>) -> Result<u64> {
        let count = self.count::<T>()?;
        self.go_through(count, each)?;
        Ok(count)
    }

    /// Reads the count of the next array.
    fn count<T: Number>(&mut self) -> Result<u64> {
        let mut count = [0; 8];
        self.take(&mut count)?;
        let count = u64::from_le_bytes(count);
        let fits = count.saturating_mul(T::BYTES as u64) <= self.left();
        if fits { Ok(count) } else { Err(self.damaged()) }
    }

    fn go_through<T: Number>(
        &mut self,
        count: u64,
        mut each: impl FnMut(u64, &[T]) -> Result<()>,
    ) -> Result<()> {
        let (mut bytes, mut numbers) = (vec![0; CHUNK_BYTES], Vec::new());
        let mut at = 0;
        while at < count {
            let part = (count - at).min((CHUNK_BYTES / T::BYTES) as u64);
            let bytes = &mut bytes[..part as usize * T::BYTES];
            self.take(bytes)?;
            numbers.clear();
            numbers.extend(bytes.chunks_exact(T::BYTES).map(T::get));
            each(at, &numbers)?;
            at += part;
        }
        Ok(())
    }

    /// Fills a list from the next array, setting each element with `set`.
    pub fn fill<T: Number, U>(&mut self, list: &mut [U], set: impl Fn(&mut U, T)) -> Result<()> {
        let mut places = list.iter_mut();
        let count = self.parts(|_, numbers| {
            numbers.iter().zip(&mut places).for_each(|(&number, place)| set(place, number));
            Ok(())
        })?;
        if count == list.len() as u64 { Ok(()) } else { Err(self.damaged()) }
    }

    /// Reads the next array.
    pub fn numbers<T: Number>(&mut self) -> Result<Vec<T>> {
        let count = self.count::<T>()?;
        let mut all = Vec::with_capacity(count as usize);
        self.go_through(count, |_, numbers| {
            all.extend_from_slice(numbers);
            Ok(())
        })?;
        Ok(all)
    }

    /// Reads an array of exactly `N` numbers.
    pub fn few<T: Number + Default, const N: usize>(&mut self) -> Result<[T; N]> {
        let mut few = [T::default(); N];
        self.fill(&mut few, |place, number| *place = number)?;
        Ok(few)
    }

    /// Reads labels.
    pub fn labels(&mut self, labels: &mut [AtomicU32]) -> Result<()> {
        self.fill(labels, |place, label| *place.get_mut() = label)
    }

    /// Returns the error for inconsistent arrays.
    pub fn damaged(&self) -> Error {
        self.error("its numbers are inconsistent")
    }

    pub(super) fn error(&self, message: &str) -> Error {
        Error::corrupt(self.file.path(), message)
    }

    /// Finishes reading, and verifies the checksum.
    pub fn finish(self) -> Result<()> {
        if self.left() == 0 { self.read_rest() } else { Err(self.damaged()) }
    }

    fn read_rest(mut self) -> Result<()> {
        self.tail = CHECKSUM_BYTES;
        let mut bytes = vec![0; SMALL_BUFFER_BYTES];
        while self.left() > 0 {
            let count = self.left().min(bytes.len() as u64) as usize;
            self.take(&mut bytes[..count])?;
        }
        let (checksum, mut stored) = (self.hash.digest(), [0; CHECKSUM_BYTES as usize]);
        self.take(&mut stored)?;
        let is_right = u64::from_le_bytes(stored) == checksum;
        if is_right { Ok(()) } else { Err(self.error("its checksum is wrong")) }
    }

    /// Returns the bytes of arrays that have not been read yet.
    fn left(&self) -> u64 {
        let unread = (self.buffer.len() - self.at) as u64 + (self.bytes - self.end);
        unread.saturating_sub(self.tail)
    }

    /// Fills `into` with the next bytes.
    fn take(&mut self, into: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < into.len() {
            if self.at == self.buffer.len() {
                self.read_block()?;
            }
            let count = (into.len() - done).min(self.buffer.len() - self.at);
            into[done..done + count].copy_from_slice(&self.buffer[self.at..self.at + count]);
            self.at += count;
            done += count;
        }
        self.hash.update(into);
        Ok(())
    }

    fn read_block(&mut self) -> Result<()> {
        let count = (self.bytes - self.end).min(SMALL_BUFFER_BYTES as u64) as usize;
        if count == 0 {
            return Err(self.error("it ends early"));
        }
        self.buffer.resize(count, 0);
        self.file.read_exact_at(self.end, &mut self.buffer)?;
        self.end += count as u64;
        self.at = 0;
        Ok(())
    }
}
