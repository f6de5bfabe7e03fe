//! Reading of a file once, front to back, through one buffer.
//!
//! Memory: the buffer, of one block, or of as many bytes as are asked for together. Cost: each block is read once;
//! bytes that are not taken yet are moved to the front of the buffer before the next.

use super::StoredFile;
use crate::error::Result;
use std::path::Path;

/// Reader of the first bytes of a file.
pub struct BufferedReader {
    pub(crate) file: StoredFile,
    /// Range of the file that is still to be read.
    next: u64,
    end: u64,
    block_bytes: usize,
    buffer: Vec<u8>,
    /// Number of bytes in the buffer that have been taken.
    at: usize,
}

impl BufferedReader {
    /// Returns a reader of the first `bytes`, in blocks of `block_bytes`.
    pub fn new(file: StoredFile, bytes: u64, block_bytes: usize) -> Self {
        Self { file, next: 0, end: bytes, block_bytes, buffer: Vec::new(), at: 0 }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns how many bytes have not been taken.
    pub fn left(&self) -> u64 {
        self.end - self.next + self.buffered().len() as u64
    }

    /// Returns the bytes in memory that have not been taken.
    pub fn buffered(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// Ensures that the next `count` bytes are in memory; returns whether there are so many.
    ///
    /// # Errors
    /// `CorruptFile` if the file is shorter than it should be; `Io`.
    pub fn fill(&mut self, count: usize) -> Result<bool> {
        if self.buffered().len() >= count {
            return Ok(true);
        }
        if self.left() < count as u64 {
            return Ok(false);
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let kept = self.buffer.len();
        let bytes = (self.end - self.next).min((count.max(self.block_bytes) - kept) as u64);
        self.buffer.resize(kept + bytes as usize, 0);
        self.file.read_exact_at(self.next, &mut self.buffer[kept..])?;
        self.next += bytes;
        Ok(true)
    }

    /// Takes the next `count` bytes, which [`fill`](Self::fill) has found.
    pub fn take(&mut self, count: usize) -> &[u8] {
        self.at += count;
        &self.buffer[self.at - count..self.at]
    }
}
