//! One number per node on disk, in node order, read and replaced in large pieces while it changes.

use crate::base::parallel::{PerThread, for_ranges};
use outcore_io::error::Result;
use outcore_io::{Files, Mode, Number, StoredFile, numbers_in};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Nodes that are read, written or searched at a time.
pub(crate) const CHUNK_NODES: u64 = 1 << 15;

/// File with a number per node.
pub(crate) struct Pages<T> {
    path: PathBuf,
    reader: StoredFile,
    writer: StoredFile,
    numbers: PhantomData<T>,
}

impl<T: Number> Pages<T> {
    pub(crate) fn create(files: &Files, path: PathBuf) -> Result<Self> {
        let writer = files.open(&path, Mode::Create)?;
        let reader = files.open(&path, Mode::Read)?;
        Ok(Self { path, reader, writer, numbers: PhantomData })
    }

    pub(crate) fn remove(self, files: &Files) -> Result<()> {
        let Self { path, reader, writer, .. } = self;
        drop((reader, writer));
        files.remove(&path)
    }

    /// Reads the numbers of a range, through a buffer that can be reused.
    pub(crate) fn read<'b>(
        &self,
        range: Range<u64>,
        bytes: &'b mut Vec<u8>,
    ) -> Result<impl Iterator<Item = T> + use<'b, T>> {
        bytes.resize((range.end - range.start) as usize * size_of::<T>(), 0);
        self.reader.read_exact_at(range.start * size_of::<T>() as u64, bytes)?;
        Ok(numbers_in(bytes))
    }

    /// Writes numbers, starting with that of node `first`.
    pub(crate) fn write(
        &self,
        first: u64,
        numbers: impl Iterator<Item = T>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        bytes.clear();
        numbers.for_each(|number| bytes.extend_from_slice(number.to_bytes().as_ref()));
        self.writer.write_all_at(first * size_of::<T>() as u64, bytes)
    }
}

impl Pages<u32> {
    /// Writes many numbers, starting with that of node `first`, chunk by chunk.
    pub(crate) fn write_all(
        &self,
        first: u64,
        values: &[AtomicU32],
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let firsts = (first..).step_by(CHUNK_NODES as usize);
        firsts.zip(values.chunks(CHUNK_NODES as usize)).try_for_each(|(first, chunk)| {
            self.write(first, chunk.iter().map(|value| value.load(Relaxed)), bytes)
        })
    }

    /// Changes the numbers of a range, chunk by chunk, on all threads.
    pub(crate) fn update(
        &self,
        range: Range<u64>,
        change: impl Fn(u32) -> u32 + Sync,
    ) -> Result<()> {
        let chunks: Vec<Range<u64>> = chunks(range).collect();
        let buffers = PerThread::new(<(Vec<u8>, Vec<u32>)>::default);
        let update = |chunk: &Range<u64>, bytes: &mut Vec<u8>, changed: &mut Vec<u32>| {
            changed.clear();
            changed.extend(self.read(chunk.clone(), bytes)?.map(&change));
            if numbers_in::<u32>(bytes).eq(changed.iter().copied()) {
                return Ok(());
            }
            self.write(chunk.start, changed.iter().copied(), bytes)
        };
        for_ranges(chunks.len(), 1, |part| {
            buffers.with(|(bytes, changed)| {
                chunks[part].iter().try_for_each(|chunk| update(chunk, bytes, changed))
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
