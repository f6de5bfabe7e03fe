//! Files with a checksum at their end, written and read front to back. Memory: a buffer, and in a
//! [`CheckedWriter`] another on its way to the disk.

use super::{Files, Mode, SMALL_BUFFER_BYTES, Sealed, StoredFile, Writer};
use crate::error::{Error, Result};
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// The checksum: xxh3-64 of all before it, little-endian.
const CHECKSUM_BYTES: u64 = 8;

/// Writes one in a directory of ours; it is absent or complete.
pub(crate) struct CheckedWriter {
    writer: Writer,
    hash: Xxh3,
}

impl CheckedWriter {
    /// Starts `path`.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn create(files: &Files, path: &Path) -> Result<Self> {
        Ok(Self {
            writer: Writer::create_own(files, path, SMALL_BUFFER_BYTES, 1)?,
            hash: Xxh3::new(),
        })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.writer.write(bytes)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub(crate) fn finish(mut self) -> Result<Sealed> {
        let checksum = self.hash.digest();
        self.writer.write(&checksum.to_le_bytes())?;
        Ok(Sealed { bytes: self.writer.finish()?, checksum })
    }
}

/// Reads one; nothing is known to be good before it has been read to its end.
pub(crate) struct CheckedReader {
    file: StoredFile,
    buffer: Vec<u8>,
    /// Where the next bytes are in the buffer, and where the buffer ends in the file.
    at: usize,
    end: u64,
    /// Length of the file.
    bytes: u64,
    hash: Xxh3,
}

impl CheckedReader {
    /// Opens `path`.
    ///
    /// # Errors
    /// `Io` with the path.
    pub(crate) fn open(files: &Files, path: &Path) -> Result<Self> {
        let file = files.open(path, Mode::Read)?;
        let bytes = file.bytes()?;
        Ok(Self { file, buffer: Vec::new(), at: 0, end: 0, bytes, hash: Xxh3::new() })
    }

    /// Length of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes before the checksum that are not read yet.
    pub(crate) fn left(&self) -> u64 {
        let unread = (self.buffer.len() - self.at) as u64 + (self.bytes - self.end);
        unread.saturating_sub(CHECKSUM_BYTES)
    }

    /// The error for one that is not what it should be.
    pub(crate) fn damaged(&self, message: &str) -> Error {
        Error::corrupt(self.file.path(), message)
    }

    /// Fills `into` with the next bytes.
    ///
    /// # Errors
    /// `CorruptFile` if there are no more; `Io`.
    pub(crate) fn take(&mut self, into: &mut [u8]) -> Result<()> {
        self.raw(into)?;
        self.hash.update(into);
        Ok(())
    }

    fn raw(&mut self, into: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < into.len() {
            if self.at == self.buffer.len() {
                self.fill()?;
            }
            let count = (into.len() - done).min(self.buffer.len() - self.at);
            into[done..done + count].copy_from_slice(&self.buffer[self.at..self.at + count]);
            self.at += count;
            done += count;
        }
        Ok(())
    }

    fn fill(&mut self) -> Result<()> {
        let count = (self.bytes - self.end).min(SMALL_BUFFER_BYTES as u64) as usize;
        if count == 0 {
            return Err(self.damaged("it ends early"));
        }
        self.buffer.resize(count, 0);
        self.file.read_exact_at(self.end, &mut self.buffer)?;
        self.end += count as u64;
        self.at = 0;
        Ok(())
    }

    /// The next few bytes.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.take(&mut bytes)?;
        Ok(bytes)
    }

    /// The next number, little-endian.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub(crate) fn number(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Ends reading, at the checksum.
    ///
    /// # Errors
    /// `CorruptFile` if that is wrong, or somewhere else.
    pub(crate) fn finish(mut self) -> Result<Sealed> {
        let checksum = self.hash.digest();
        let mut stored = [0; CHECKSUM_BYTES as usize];
        self.raw(&mut stored)?;
        let is_end = self.at == self.buffer.len() && self.end == self.bytes;
        if u64::from_le_bytes(stored) != checksum || !is_end {
            return Err(self.damaged("its checksum is wrong"));
        }
        Ok(Sealed { bytes: self.bytes, checksum })
    }

    /// Reads all that is left, and ends.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub(crate) fn skip_to_end(mut self) -> Result<Sealed> {
        let mut bytes = vec![0; SMALL_BUFFER_BYTES];
        while self.left() > 0 {
            let count = self.left().min(bytes.len() as u64) as usize;
            self.take(&mut bytes[..count])?;
        }
        self.finish()
    }
}
