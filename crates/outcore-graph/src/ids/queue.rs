//! Names queued on disk, in order.
//!
//! ```text
//!  record:  fingerprint, 16 bytes | length, 4 bytes | name      (the last two if the fingerprint is not the name)
//! ```
//! Little-endian, temporary, written and read once, front to back. Memory: a few buffers each.

use super::name::{Fingerprint, SHORT_NAME_BYTES};
use outcore_io::checkpoint::StateWriter;
use outcore_io::error::{Error, Result};
use outcore_io::{Array, ArrayWriter, BufferedReader, Files, Mode, SCRATCH_HINT, Sealed};
use std::path::Path;

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
    records: Array<u8>,
    pub(super) count: u64,
}

impl Queue {
    /// Returns a reader of the names, with blocks of `block_bytes`.
    pub(super) fn read(&self, files: &Files, block_bytes: usize) -> Result<QueueReader> {
        let file = files.open(&self.records.path, Mode::Read)?;
        Ok(QueueReader(BufferedReader::new(file, self.records.count, block_bytes)))
    }

    /// Discards the file.
    pub(crate) fn discard(self, files: &Files) {
        files.discard(&self.records.path);
    }
}

/// Writer of names to a file.
pub(super) struct QueueWriter {
    records: ArrayWriter<u8>,
    count: u64,
}

impl QueueWriter {
    pub(super) fn create(files: &Files, path: &Path, block_bytes: usize) -> Result<Self> {
        let records = ArrayWriter::create_growing(files, path, block_bytes)?;
        Ok(Self { records, count: 0 })
    }

    /// Like [`ArrayWriter::save`]; also returns the number of names.
    pub(crate) fn save(&mut self, to: &mut StateWriter) -> Result<(Sealed, u64)> {
        Ok((self.records.save(to)?, self.count))
    }

    /// Like [`ArrayWriter::resume`].
    pub(crate) fn resume(
        files: &Files,
        path: &Path,
        block_bytes: usize,
        saved: Sealed,
        count: u64,
    ) -> Result<Self> {
        let records = ArrayWriter::resume(files, path, block_bytes, saved)?;
        Ok(Self { records, count })
    }

    /// Appends `count` records made by [`put_name`].
    pub(super) fn push(&mut self, records: &[u8], count: u64) -> Result<()> {
        self.count += count;
        self.records.write(records)
    }

    pub(super) fn finish(self) -> Result<Queue> {
        Ok(Queue { records: self.records.finish()?, count: self.count })
    }
}

/// Reader of names from a file.
pub(super) struct QueueReader(BufferedReader);

impl QueueReader {
    /// Returns the next name; `None` at the end.
    ///
    /// # Errors
    /// `Io`; `CorruptFile` for an invalid record.
    pub(super) fn next(&mut self) -> Result<Option<(Fingerprint, &[u8])>> {
        if self.0.left() == 0 {
            return Ok(None);
        }
        self.fill(FINGERPRINT_BYTES)?;
        let fingerprint = self.guess(0).expect("it has been filled");
        if let Some(len) = fingerprint.short_len() {
            if len > SHORT_NAME_BYTES {
                return Err(corrupt(self.0.path()));
            }
            return Ok(Some((fingerprint, &self.0.take(FINGERPRINT_BYTES)[..len])));
        }
        self.fill(HEAD_BYTES)?;
        let len = self.0.buffered()[FINGERPRINT_BYTES..].first_chunk().expect("it has been filled");
        let bytes = HEAD_BYTES + u32::from_le_bytes(*len) as usize;
        self.fill(bytes)?;
        Ok(Some((fingerprint, &self.0.take(bytes)[HEAD_BYTES..])))
    }

    /// Returns the fingerprint of the name `count` names ahead, assuming that all names up to there are short.
    #[inline]
    pub(super) fn guess(&self, count: usize) -> Option<Fingerprint> {
        let bytes = self.0.buffered().get(count * FINGERPRINT_BYTES..)?;
        Some(fingerprint(bytes.first_chunk()?))
    }

    /// Ensures that the next `count` bytes are in the buffer.
    fn fill(&mut self, count: usize) -> Result<()> {
        if self.0.fill(count)? { Ok(()) } else { Err(corrupt(self.0.path())) }
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
