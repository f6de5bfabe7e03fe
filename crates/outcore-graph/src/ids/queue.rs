//! Names queued on disk, in order.
//!
//! ```text
//!  record:  fingerprint, 16 bytes | length, 4 bytes | name      (the last two if the fingerprint is not the name)
//! ```
//! Little-endian, temporary, written and read once, front to back. Memory: a few buffers each.

use super::name::{Fingerprint, SHORT_NAME_BYTES};
use outcore_io::checkpoint::StateWriter;
use outcore_io::error::{Error, Result};
use outcore_io::{BUFFERS, Files, Grows, Mode, SCRATCH_HINT, Sealed, StoredFile, Writer};
use std::path::{Path, PathBuf};

const FINGERPRINT_BYTES: usize = 16;
const HEAD_BYTES: usize = FINGERPRINT_BYTES + 4;

/// Appends a record.
pub(super) fn put_name(fingerprint: Fingerprint, name: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&fingerprint.low.to_le_bytes());
    out.extend_from_slice(&fingerprint.high.to_le_bytes());
    if !fingerprint.is_exact() {
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(name);
    }
}

/// Names in a file.
pub(super) struct Queue {
    path: PathBuf,
    bytes: u64,
    pub(super) count: u64,
}

impl Queue {
    /// Returns a reader of the names, with blocks of `block_bytes`.
    pub(super) fn read(&self, files: &Files, block_bytes: usize) -> Result<QueueReader> {
        let file = files.open(&self.path, Mode::Read)?;
        Ok(QueueReader {
            file,
            next: 0,
            end: self.bytes,
            block_bytes,
            buffer: Vec::new(),
            at: 0,
            name: [0; SHORT_NAME_BYTES],
        })
    }

    /// Discards the file.
    pub(crate) fn discard(self, files: &Files) {
        files.discard(&self.path);
    }
}

/// Writer of names to a file.
pub(super) struct QueueWriter {
    writer: Writer,
    path: PathBuf,
    count: u64,
}

impl QueueWriter {
    pub(super) fn create(files: &Files, path: &Path, block_bytes: usize) -> Result<Self> {
        let writer = Writer::create_scratch(files, path, block_bytes, BUFFERS)?.hashed();
        Ok(Self { writer, path: path.to_path_buf(), count: 0 })
    }

    /// Like [`Writer::checkpoint`]; also returns the number of names.
    pub(crate) fn save(&mut self, to: &mut StateWriter) -> Result<(Sealed, u64)> {
        let saved = self.writer.checkpoint()?;
        to.need_growing(&self.path, Grows::InPlace, saved.bytes);
        Ok((saved, self.count))
    }

    /// Like [`Writer::resume`].
    pub(crate) fn resume(
        files: &Files,
        path: &Path,
        block_bytes: usize,
        (saved, count): (Sealed, u64),
    ) -> Result<Self> {
        let buffers = (block_bytes, BUFFERS);
        let writer = Writer::resume(files, path, Grows::InPlace, saved.bytes, buffers)?;
        Ok(Self { writer: writer.checked(saved)?, path: path.to_path_buf(), count })
    }

    /// Appends `count` records made by [`put_name`].
    pub(super) fn push(&mut self, records: &[u8], count: u64) -> Result<()> {
        self.count += count;
        self.writer.write(records)
    }

    pub(super) fn finish(self) -> Result<Queue> {
        let Self { writer, path, count } = self;
        Ok(Queue { path, bytes: writer.finish()?, count })
    }
}

/// Reader of names from a file.
pub(super) struct QueueReader {
    file: StoredFile,
    /// Range of the file that is still to be read.
    next: u64,
    end: u64,
    block_bytes: usize,
    buffer: Vec<u8>,
    at: usize,
    /// Last name that is its own fingerprint.
    name: [u8; SHORT_NAME_BYTES],
}

impl QueueReader {
    /// Returns the next name; `None` at the end.
    ///
    /// # Errors
    /// `Io`; `CorruptFile` for an invalid record.
    pub(super) fn next(&mut self) -> Result<Option<(Fingerprint, &[u8])>> {
        if self.at == self.buffer.len() && self.next == self.end {
            return Ok(None);
        }
        self.fill(FINGERPRINT_BYTES)?;
        let bytes = self.buffer[self.at..].first_chunk().expect("it has been filled");
        let fingerprint = fingerprint(bytes);
        if let Some(len) = fingerprint.short_len() {
            self.name.copy_from_slice(&bytes[..SHORT_NAME_BYTES]);
            self.at += FINGERPRINT_BYTES;
            let name = self.name.get(..len).ok_or_else(|| corrupt(self.file.path()))?;
            return Ok(Some((fingerprint, name)));
        }
        self.fill(HEAD_BYTES)?;
        let head = &self.buffer[self.at + FINGERPRINT_BYTES..self.at + HEAD_BYTES];
        let len = u32::from_le_bytes(head.try_into().expect("four bytes")) as usize;
        self.fill(HEAD_BYTES + len)?;
        let name = self.at + HEAD_BYTES..self.at + HEAD_BYTES + len;
        self.at = name.end;
        Ok(Some((fingerprint, &self.buffer[name])))
    }

    /// Returns the fingerprint of the name that is `count` names after the next one, if all names up to there are
    /// short.
    #[inline]
    pub(super) fn guess(&self, count: usize) -> Option<Fingerprint> {
        let bytes = self.buffer.get(self.at + count * FINGERPRINT_BYTES..)?;
        Some(fingerprint(bytes.first_chunk()?))
    }

    /// Ensures that the next `count` bytes are in the buffer.
    fn fill(&mut self, count: usize) -> Result<()> {
        if self.buffer.len() - self.at >= count {
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let missing = count - self.buffer.len();
        let bytes = (missing.max(self.block_bytes) as u64).min(self.end - self.next) as usize;
        if bytes < missing {
            return Err(corrupt(self.file.path()));
        }
        let kept = self.buffer.len();
        self.buffer.resize(kept + bytes, 0);
        self.file.read_exact_at(self.next, &mut self.buffer[kept..])?;
        self.next += bytes as u64;
        Ok(())
    }
}

fn fingerprint(bytes: &[u8; FINGERPRINT_BYTES]) -> Fingerprint {
    let (low, high) = bytes.split_at(8);
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    Fingerprint { low: word(low), high: word(high) }
}

pub(super) fn corrupt(path: &Path) -> Error {
    Error::corrupt_of(path, "it does not hold the names written", SCRATCH_HINT)
}
