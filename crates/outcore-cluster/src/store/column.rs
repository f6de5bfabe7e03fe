//! One number per node on disk, in node order, read and replaced in large pieces.

use crate::base::parallel::{PerThread, for_ranges};
use outcore_io::error::Result;
use outcore_io::{Files, Mode, StoredFile};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Nodes that are read, written or searched at a time.
pub(crate) const CHUNK_NODES: u64 = 1 << 15;

/// File of 32-bit words.
pub(crate) struct WordColumn {
    path: PathBuf,
    reader: StoredFile,
    writer: StoredFile,
}

/// Reusable buffer for words.
#[derive(Default)]
pub(crate) struct WordBuffer {
    bytes: Vec<u8>,
}

impl WordColumn {
    /// Creates an empty column.
    pub(crate) fn create(files: &Files, path: PathBuf) -> Result<Self> {
        let writer = files.open(&path, Mode::Create)?;
        let reader = files.open(&path, Mode::Read)?;
        Ok(Self { path, reader, writer })
    }

    /// Removes the file.
    pub(crate) fn remove(self, files: &Files) -> Result<()> {
        let Self { path, reader, writer } = self;
        drop((reader, writer));
        files.remove(&path)
    }

    /// Reads the words of a range.
    pub(crate) fn read<'w>(
        &self,
        range: Range<u64>,
        words: &'w mut WordBuffer,
    ) -> Result<impl Iterator<Item = u32> + use<'w>> {
        let bytes = &mut words.bytes;
        bytes.resize((range.end - range.start) as usize * size_of::<u32>(), 0);
        self.reader.read_exact_at(range.start * size_of::<u32>() as u64, bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)))
    }

    /// Writes words, starting at position `first`.
    pub(crate) fn write(
        &self,
        first: u64,
        values: impl Iterator<Item = u32>,
        words: &mut WordBuffer,
    ) -> Result<()> {
        words.bytes.clear();
        values.for_each(|value| words.bytes.extend_from_slice(&value.to_le_bytes()));
        self.writer.write_all_at(first * size_of::<u32>() as u64, &words.bytes)
    }

    /// Writes many words, starting at position `first`, chunk by chunk.
    pub(crate) fn write_all(
        &self,
        first: u64,
        values: &[AtomicU32],
        words: &mut WordBuffer,
    ) -> Result<()> {
        let firsts = (first..).step_by(CHUNK_NODES as usize);
        firsts.zip(values.chunks(CHUNK_NODES as usize)).try_for_each(|(first, chunk)| {
            self.write(first, chunk.iter().map(|value| value.load(Relaxed)), words)
        })
    }

    /// Changes the words of a range, chunk by chunk, on all threads.
    pub(crate) fn update(
        &self,
        range: Range<u64>,
        change: impl Fn(u32) -> u32 + Sync,
    ) -> Result<()> {
        let chunks: Vec<Range<u64>> = chunks(range).collect();
        let buffers = PerThread::new(<(WordBuffer, Vec<u32>)>::default);
        let update = |chunk: &Range<u64>, words: &mut WordBuffer, changed: &mut Vec<u32>| {
            let mut differs = false;
            changed.clear();
            changed.extend(self.read(chunk.clone(), words)?.map(|old| {
                let new = change(old);
                differs |= new != old;
                new
            }));
            if differs {
                self.write(chunk.start, changed.iter().copied(), words)?;
            }
            Ok(())
        };
        for_ranges(chunks.len(), 1, |part| {
            buffers.with(|(words, changed)| {
                chunks[part].iter().try_for_each(|chunk| update(chunk, words, changed))
            })
        })
    }
}

/// Divides a range into pieces that are read at a time.
pub(crate) fn chunks(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let Range { start, end } = range;
    (start..end)
        .step_by(CHUNK_NODES as usize)
        .map(move |first| first..(first + CHUNK_NODES).min(end))
}
