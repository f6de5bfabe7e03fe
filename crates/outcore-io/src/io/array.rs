//! Arrays of numbers in files of a job: little-endian, without a header.
//!
//! ```text
//!  ArrayWriter --finish--> Array --read--> ArrayReader                  each once, front to back
//!      |  ^
//!    save  resume      length and xxh3-64 checksum of the bytes, in a checkpoint
//! ```
//! How many numbers there are is not in the file, which may be longer. Other files use [`Number`] alone. A [`Column`] is an
//! array, or numbers in memory. Memory: at most [`ARRAY_BLOCK_BYTES`], three times in a writer and twice in a reader.

use super::buffered::BufferedReader;
use super::scratch::SCRATCH_HINT;
use super::{Files, Grows, Mode, Sealed, Writer};
use crate::checkpoint::StateWriter;
use crate::error::{Error, Result};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// Maximum bytes per transfer.
pub const ARRAY_BLOCK_BYTES: usize = 128 << 10;
/// Buffers being written while another is filled.
const BUFFERS: usize = 2;
/// Bytes of numbers converted at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// Number with a fixed length in files.
pub trait Number: Copy {
    /// Its bytes, little-endian.
    type Bytes: AsRef<[u8]>;
    /// Returns its bytes.
    fn to_bytes(self) -> Self::Bytes;
    /// Returns the number with these bytes, whose count must be that of the type.
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Number for $number {
            type Bytes = [u8; size_of::<$number>()];
            #[inline]
            fn to_bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }
            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as it has"))
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64 u128 f64);

/// Returns the numbers in `bytes`.
#[inline]
pub fn numbers_in<T: Number>(bytes: &[u8]) -> impl ExactSizeIterator<Item = T> {
    bytes.chunks_exact(size_of::<T>()).map(T::from_bytes)
}

impl Writer {
    /// Appends numbers.
    pub(crate) fn extend<T: Number>(&mut self, numbers: impl Iterator<Item = T>) -> Result<()> {
        let mut chunk = Vec::new();
        for number in numbers {
            chunk.extend_from_slice(number.to_bytes().as_ref());
            if chunk.len() >= CHUNK_BYTES {
                self.write(&chunk)?;
                chunk.clear();
            }
        }
        self.write(&chunk)
    }
}

/// Array in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array<T> {
    /// Path of the file.
    pub path: PathBuf,
    /// How many numbers it holds.
    pub count: u64,
    numbers: PhantomData<T>,
}

impl<T: Number> Array<T> {
    /// Returns the array of the first `count` numbers in `path`.
    pub fn new(path: PathBuf, count: u64) -> Self {
        Self { path, count, numbers: PhantomData }
    }

    /// Writes an array.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn write(
        files: &Files,
        path: &Path,
        all: impl ExactSizeIterator<Item = T>,
    ) -> Result<Self> {
        let mut writer = ArrayWriter::create(files, path, all.len() as u64)?;
        writer.0.extend(all)?;
        writer.finish()
    }

    /// Copies the numbers to the file `path`.
    ///
    /// # Errors
    /// `Io`, `DiskFull`, `CorruptFile`.
    pub fn copy_to(&self, files: &Files, path: &Path) -> Result<Self> {
        let mut writer = ArrayWriter::create(files, path, self.count)?;
        self.for_each_block(files, |block| {
            block.iter().try_for_each(|&number| writer.push(number))
        })?;
        writer.finish()
    }

    /// Returns the length of the numbers in the file.
    pub fn bytes(&self) -> u64 {
        self.count * size_of::<T>() as u64
    }

    /// Opens the file to read it in blocks of at most `block` numbers.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn read(&self, files: &Files, block: u64) -> Result<ArrayReader<T>> {
        let file = files.open(&self.path, Mode::Read)?;
        let bytes = BufferedReader::new(file, self.bytes(), block_bytes::<T>(block));
        Ok(ArrayReader { bytes, numbers: Vec::new(), given: 0 })
    }

    /// Calls `visit` with the numbers, block by block.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`; those of `visit`.
    pub fn for_each_block(
        &self,
        files: &Files,
        mut visit: impl FnMut(&[T]) -> Result<()>,
    ) -> Result<()> {
        let mut reader = self.read(files, u64::MAX)?;
        loop {
            match reader.next_block()? {
                [] => return Ok(()),
                block => visit(block)?,
            }
        }
    }

    /// Reads the numbers into memory.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    pub fn read_all(&self, files: &Files) -> Result<Vec<T>> {
        let mut all = Vec::with_capacity(self.count as usize);
        self.for_each_block(files, |block| {
            all.extend_from_slice(block);
            Ok(())
        })?;
        Ok(all)
    }
}

fn block_bytes<T>(count: u64) -> usize {
    let most = ARRAY_BLOCK_BYTES / size_of::<T>();
    count.clamp(1, most as u64) as usize * size_of::<T>()
}

/// Writer of an array.
pub struct ArrayWriter<T>(Writer, PhantomData<T>);

impl<T: Number> ArrayWriter<T> {
    /// Creates `path`, for about `count` numbers.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create(files: &Files, path: &Path, count: u64) -> Result<Self> {
        let writer = Writer::create_scratch(files, path, block_bytes::<T>(count), BUFFERS)?;
        Ok(Self(writer, PhantomData))
    }

    /// Creates `path`, for an array that another writer may [resume](Self::resume).
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create_growing(files: &Files, path: &Path, buffer_bytes: usize) -> Result<Self> {
        let writer = Writer::create_scratch(files, path, buffer_bytes, BUFFERS)?;
        Ok(Self(writer.hashed(), PhantomData))
    }

    /// Continues an array that another writer has [saved](Self::save).
    ///
    /// # Errors
    /// `CorruptFile` if the numbers differ from those saved; `Io`.
    pub fn resume(files: &Files, path: &Path, buffer_bytes: usize, saved: Sealed) -> Result<Self> {
        let (bytes, grows) = (saved.bytes, Grows::InPlace);
        let writer = Writer::resume(files, path, grows, bytes, buffer_bytes, BUFFERS)?;
        Ok(Self(writer.checked(saved)?, PhantomData))
    }

    /// Makes the numbers so far durable, and adds them to the needs of a checkpoint.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn save(&mut self, to: &mut StateWriter) -> Result<Sealed> {
        let saved = self.0.checkpoint()?;
        to.need_growing(self.0.path(), Grows::InPlace, saved.bytes);
        Ok(saved)
    }

    /// Returns the array so far, which is not in the file before it is finished.
    pub fn array(&self) -> Array<T> {
        Array::new(self.0.path().to_path_buf(), self.0.position() / size_of::<T>() as u64)
    }

    /// Appends a number.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    #[inline]
    pub fn push(&mut self, number: T) -> Result<()> {
        self.0.write(number.to_bytes().as_ref())
    }

    /// Appends the numbers of a row.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    #[inline]
    pub fn push_row<const N: usize>(&mut self, row: [T; N]) -> Result<()> {
        row.into_iter().try_for_each(|number| self.push(number))
    }

    /// Appends numbers, given as bytes.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.write(bytes)
    }

    /// Finishes the file, which may be longer than its numbers.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn finish(self) -> Result<Array<T>> {
        let array = self.array();
        self.0.finish()?;
        Ok(array)
    }
}

/// Reader of an array.
pub struct ArrayReader<T> {
    bytes: BufferedReader,
    numbers: Vec<T>,
    /// How many of the numbers in memory [`next_number`](Self::next_number) has returned.
    given: usize,
}

impl<T: Number> ArrayReader<T> {
    /// Returns the next block; empty at the end.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    pub fn next_block(&mut self) -> Result<&[T]> {
        self.bytes.fill(1)?;
        let bytes = self.bytes.take(self.bytes.buffered().len());
        self.numbers.clear();
        self.numbers.extend(numbers_in::<T>(bytes));
        self.given = 0;
        Ok(&self.numbers)
    }

    /// Returns the next number, or `None` at the end.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    #[inline]
    pub fn next_number(&mut self) -> Result<Option<T>> {
        if self.given == self.numbers.len() && self.next_block()?.is_empty() {
            return Ok(None);
        }
        self.given += 1;
        Ok(Some(self.numbers[self.given - 1]))
    }

    /// Returns the next number.
    ///
    /// # Errors
    /// `Io`; `CorruptFile`, also after the last number.
    #[inline]
    pub fn number(&mut self) -> Result<T> {
        let number = self.next_number()?;
        number.ok_or_else(|| Error::corrupt_of(self.bytes.path(), "it ends early", SCRATCH_HINT))
    }

    /// Returns the next row of numbers, or `None` at the end.
    ///
    /// # Errors
    /// `Io`; `CorruptFile`, also within a row.
    #[inline]
    pub fn next_row<const N: usize>(&mut self) -> Result<Option<[T; N]>> {
        let Some(first) = self.next_number()? else { return Ok(None) };
        let mut row = [first; N];
        row.iter_mut().skip(1).try_for_each(|number| self.number().map(|next| *number = next))?;
        Ok(Some(row))
    }

    /// Discards the file.
    pub fn discard(self, files: &Files) {
        let path = self.bytes.path().to_path_buf();
        // Not all systems remove an open file.
        drop(self);
        files.discard(&path);
    }
}

/// One number per node, in node order: in memory or, if memory is too small, in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column<T> {
    /// All numbers.
    Memory(Vec<T>),
    /// Numbers in the directory for temporary files.
    Disk(Array<T>),
}

impl<T: Number> Column<T> {
    /// Returns how many numbers there are.
    pub fn count(&self) -> u64 {
        match self {
            Self::Memory(numbers) => numbers.len() as u64,
            Self::Disk(array) => array.count,
        }
    }

    /// Returns all numbers if they are in memory.
    pub fn in_memory(&self) -> Option<&[T]> {
        match self {
            Self::Memory(numbers) => Some(numbers),
            Self::Disk(_) => None,
        }
    }

    /// Scans the numbers.
    ///
    /// # Errors
    /// `Io` with the path of the file.
    pub fn scan(&self, files: &Files) -> Result<ColumnScan<'_, T>> {
        Ok(ColumnScan(match self {
            Self::Memory(numbers) => ColumnSource::Memory(numbers.iter()),
            Self::Disk(array) => ColumnSource::Disk(array.read(files, u64::MAX)?),
        }))
    }

    /// Moves the numbers to the file `path`.
    ///
    /// # Errors
    /// `Io`, `DiskFull`, `CorruptFile` with the path of the file.
    pub fn into_array(self, files: &Files, path: &Path) -> Result<Array<T>> {
        match self {
            Self::Memory(numbers) => Array::write(files, path, numbers.into_iter()),
            Self::Disk(array) => {
                let moved = array.copy_to(files, path)?;
                files.discard(&array.path);
                Ok(moved)
            }
        }
    }

    /// Reads all numbers into memory.
    ///
    /// # Errors
    /// `Io`, `CorruptFile` with the path of the file.
    pub fn into_memory(self, files: &Files) -> Result<Vec<T>> {
        match self {
            Self::Memory(numbers) => Ok(numbers),
            Self::Disk(array) => array.read_all(files),
        }
    }
}

/// Scan of a column.
pub struct ColumnScan<'a, T>(ColumnSource<'a, T>);

enum ColumnSource<'a, T> {
    Memory(std::slice::Iter<'a, T>),
    Disk(ArrayReader<T>),
}

impl<T: Number> ColumnScan<'_, T> {
    /// Returns the next number, or `None` at the end.
    ///
    /// # Errors
    /// `Io`, `CorruptFile` with the path of the file.
    #[expect(clippy::should_implement_trait, reason = "it may fail")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<T>> {
        match &mut self.0 {
            ColumnSource::Memory(numbers) => Ok(numbers.next().copied()),
            ColumnSource::Disk(numbers) => numbers.next_number(),
        }
    }
}

/// Share of a whole for each node.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares<T> {
    /// Part of each node.
    pub parts: Column<T>,
    /// The whole, in the unit of the parts.
    pub whole: f64,
}

impl<T: Number + Into<f64>> Shares<T> {
    /// Scans the shares.
    ///
    /// # Errors
    /// `Io` with the path of the file.
    pub fn scan(&self, files: &Files) -> Result<SharesScan<'_, T>> {
        Ok(SharesScan { parts: self.parts.scan(files)?, whole: self.whole })
    }
}

/// Scan of shares.
pub struct SharesScan<'a, T> {
    parts: ColumnScan<'a, T>,
    whole: f64,
}

impl<T: Number + Into<f64>> SharesScan<'_, T> {
    /// Returns the share of the next node, 0 of nothing, or `None` at the end.
    ///
    /// # Errors
    /// `Io`, `CorruptFile` with the path of the file.
    #[expect(clippy::should_implement_trait, reason = "it may fail")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<f64>> {
        let share = |part: T| if self.whole > 0.0 { part.into() / self.whole } else { 0.0 };
        Ok(self.parts.next()?.map(share))
    }
}
