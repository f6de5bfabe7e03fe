//! Arrays of numbers in a file with a checksum at its end: the data of a checkpoint other than its state.
//!
//! ```text
//!  file:  (count u64 | numbers, little-endian)... | checksum u64 (xxh3-64) of all before
//! ```
//! Memory: one buffer, and in a [`StateWriter`] a second one being written. Writing fails with `Io` and
//! `DiskFull`, reading with `Io` and `CorruptFile`.

use crate::error::{Error, Result};
use crate::io::{
    BufferedReader, Files, Grows, Mode, Number, SMALL_BUFFER_BYTES, Writer, numbers_in,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use xxhash_rust::xxh3::Xxh3;

/// Bytes converted to numbers at a time.
const CHUNK_BYTES: usize = 64 << 10;
const CHECKSUM_BYTES: u64 = 8;

/// Writer of arrays to a file in a work directory, which is absent or complete.
pub struct StateWriter {
    writer: Writer,
    /// Files that a checkpoint needs in addition to the arrays.
    pub(super) needs: Vec<(PathBuf, Option<Grows>, u64)>,
}

impl StateWriter {
    /// Creates a file.
    pub fn create(files: &Files, path: &Path) -> Result<Self> {
        let writer = Writer::create_own(files, path, SMALL_BUFFER_BYTES, 1)?.hashed();
        Ok(Self { writer, needs: Vec::new() })
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
        self.writer.extend(numbers)
    }

    /// Appends labels, or other numbers that threads share.
    pub fn labels(&mut self, labels: &[AtomicU32]) -> Result<()> {
        self.array(labels.iter().map(|label| label.load(Relaxed)))
    }

    /// Finishes the file.
    pub fn finish(mut self) -> Result<()> {
        let checksum = self.writer.sealed().checksum;
        self.put(&checksum.to_le_bytes())?;
        self.writer.finish().map(drop)
    }
}

/// Reader of arrays in the order in which they were written; their checksum is verified only at the end.
pub struct StateReader {
    bytes: BufferedReader,
    /// Length of the data after the arrays.
    tail: u64,
    hash: Xxh3,
}

impl StateReader {
    /// Opens a file.
    pub fn open(files: &Files, path: &Path) -> Result<Self> {
        let file = files.open(path, Mode::Read)?;
        let length = file.bytes()?;
        let bytes = BufferedReader::new(file, length, SMALL_BUFFER_BYTES);
        Ok(Self { bytes, tail: CHECKSUM_BYTES, hash: Xxh3::new() })
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
        let (file, bytes) = (&reader.bytes.file, reader.bytes.left());
        let other = || reader.error("it is another kind of file");
        let mut tail = CHECKSUM_BYTES + size_of::<u64>() as u64;
        let most = bytes.checked_sub(tail + size_of_val(&magic) as u64).ok_or_else(other)?;
        let mut length = [0; 8];
        file.read_exact_at(bytes - tail, &mut length)?;
        let length = Some(u64::from_le_bytes(length)).filter(|length| *length <= most);
        let mut text = vec![0; length.ok_or_else(other)? as usize];
        tail += text.len() as u64;
        file.read_exact_at(bytes - tail, &mut text)?;
        if reader.take(magic.len())? != magic {
            return Err(reader.error("it is another kind of file"));
        }
        reader.tail = tail;
        Ok((text, reader))
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
        let count = self.word()?;
        let fits = count.saturating_mul(size_of::<T>() as u64) <= self.left();
        if fits { Ok(count) } else { Err(self.damaged()) }
    }

    fn go_through<T: Number>(
        &mut self,
        count: u64,
        mut each: impl FnMut(u64, &[T]) -> Result<()>,
    ) -> Result<()> {
        let (mut at, mut numbers) = (0, Vec::new());
        while at < count {
            let part = (count - at).min((CHUNK_BYTES / size_of::<T>()) as u64);
            numbers.clear();
            numbers.extend(numbers_in::<T>(self.take(part as usize * size_of::<T>())?));
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
        Error::corrupt(self.bytes.path(), message)
    }

    /// Finishes reading, and verifies the checksum.
    pub fn finish(self) -> Result<()> {
        if self.left() == 0 { self.read_rest() } else { Err(self.damaged()) }
    }

    fn read_rest(mut self) -> Result<()> {
        self.tail = CHECKSUM_BYTES;
        while self.left() > 0 {
            self.take(self.left().min(CHUNK_BYTES as u64) as usize)?;
        }
        let checksum = self.hash.digest();
        if self.word()? == checksum { Ok(()) } else { Err(self.error("its checksum is wrong")) }
    }

    /// Returns the bytes of arrays that have not been read yet.
    fn left(&self) -> u64 {
        self.bytes.left().saturating_sub(self.tail)
    }

    fn word(&mut self) -> Result<u64> {
        self.take(size_of::<u64>()).map(u64::from_bytes)
    }

    /// Takes the next bytes, which are part of the checksum.
    fn take(&mut self, count: usize) -> Result<&[u8]> {
        if !self.bytes.fill(count)? {
            return Err(self.error("it ends early"));
        }
        let bytes = self.bytes.take(count);
        self.hash.update(bytes);
        Ok(bytes)
    }
}
