//! Files of `u32`s internal to a job: little-endian, written and read once, front to back.
//!
//! Memory: at most [`BLOCK_WORDS`], three times in a [`WordWriter`] and twice in a [`WordReader`].

use super::scratch::SCRATCH_HINT;
use super::{Files, Grows, Mode, Sealed, StoredFile, Writer};
use crate::error::{Error, Result};
use std::path::Path;

/// Maximum words per transfer.
pub const BLOCK_WORDS: u64 = 1 << 15;
const WORD_BYTES: usize = size_of::<u32>();
/// Buffers being written while another is filled.
pub const BUFFERS: usize = 2;

/// Writer of a word file.
pub struct WordWriter(Writer);

impl WordWriter {
    /// Creates `path`, for about `count` words.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create(files: &Files, path: &Path, count: u64) -> Result<Self> {
        let bytes = count.clamp(1, BLOCK_WORDS) as usize * WORD_BYTES;
        Ok(Self(Writer::create_scratch(files, path, bytes, BUFFERS)?))
    }

    /// Creates `path`, for any number of words that another writer may [resume](Self::resume).
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn create_hashed(files: &Files, path: &Path) -> Result<Self> {
        Self::create(files, path, u64::MAX).map(|writer| Self(writer.0.hashed()))
    }

    /// Like [`Writer::checkpoint`].
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn checkpoint(&mut self) -> Result<Sealed> {
        self.0.checkpoint()
    }

    /// Like [`Writer::resume`].
    ///
    /// # Errors
    /// `CorruptFile` if the words differ from those saved; `Io`.
    pub fn resume(files: &Files, path: &Path, saved: Sealed) -> Result<Self> {
        let buffers = (BLOCK_WORDS as usize * WORD_BYTES, BUFFERS);
        let writer = Writer::resume(files, path, Grows::InPlace, saved.bytes, buffers)?;
        writer.checked(saved).map(Self)
    }

    /// Appends a word.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    #[inline]
    pub fn push(&mut self, word: u32) -> Result<()> {
        self.0.write(&word.to_le_bytes())
    }

    /// Finishes the file, which may be longer than its words.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn finish(self) -> Result<()> {
        self.0.finish().map(drop)
    }
}

/// Reader of a word file.
pub struct WordReader {
    file: StoredFile,
    /// Offsets of the next block and of the end.
    at: u64,
    end: u64,
    bytes: Vec<u8>,
    words: Vec<u32>,
    /// Number of words in memory that [`word`](Self::word) has returned.
    given: usize,
}

impl WordReader {
    /// Opens `path`, which has `count` words, for blocks of at most `block_words`.
    ///
    /// # Errors
    /// `Io` with the path.
    pub fn open(files: &Files, path: &Path, count: u64, block_words: u64) -> Result<Self> {
        let (block, word_bytes) = (block_words.clamp(1, BLOCK_WORDS), WORD_BYTES as u64);
        let bytes = vec![0; block.min(count) as usize * WORD_BYTES];
        let file = files.open(path, Mode::Read)?;
        Ok(Self { file, at: 0, end: count * word_bytes, bytes, words: Vec::new(), given: 0 })
    }

    /// Returns the next block; empty at the end.
    ///
    /// # Errors
    /// `Io`, `CorruptFile`.
    pub fn next_block(&mut self) -> Result<&[u32]> {
        let bytes = (self.end - self.at).min(self.bytes.len() as u64) as usize;
        let bytes = &mut self.bytes[..bytes];
        self.file.read_exact_at(self.at, bytes)?;
        self.at += bytes.len() as u64;
        self.given = 0;
        self.words.clear();
        self.words.extend(bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)));
        Ok(&self.words)
    }

    /// Returns the next word.
    ///
    /// # Errors
    /// `Io`; `CorruptFile`, also after the last word.
    #[inline]
    pub fn word(&mut self) -> Result<u32> {
        if self.given == self.words.len() && self.next_block()?.is_empty() {
            return Err(Error::corrupt_of(self.file.path(), "it ends early", SCRATCH_HINT));
        }
        self.given += 1;
        Ok(self.words[self.given - 1])
    }

    /// Whether all words have been read.
    pub fn is_done(&self) -> bool {
        self.at == self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::sim::Sim;
    use std::sync::Arc;

    #[test]
    fn words_round_trip_in_blocks_of_any_size() {
        let files = Files::new(Arc::new(Sim::new()));
        let path = Path::new("words");
        for count in [0, 1, 1000, BLOCK_WORDS + 1, 5 * BLOCK_WORDS / 2] {
            let words: Vec<u32> = (0..count as u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
            let mut writer = WordWriter::create(&files, path, count).unwrap();
            words.iter().try_for_each(|&word| writer.push(word)).unwrap();
            writer.finish().unwrap();
            for block in [1000, u64::MAX] {
                let mut reader = WordReader::open(&files, path, count, block).unwrap();
                let mut found = Vec::new();
                while !reader.is_done() {
                    found.extend_from_slice(reader.next_block().unwrap());
                }
                assert!(reader.next_block().unwrap().is_empty());
                assert_eq!(found, words);
            }
        }
    }
}
