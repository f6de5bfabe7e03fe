//! A sorted run on disk: blocks of encoded records in a few segment files.
//!
//! ```text
//!  segment file:  [block][block] ...      block:  checksum u64 | record count u32 | byte count u32 | bytes
//! ```
//! A segment is deleted as soon as the merge has used it up, so runs and the merge's output share
//! their room on disk. Memory: eight bytes a block.

use super::Record;
use crate::error::{Error, Result};
use crate::io::{AlignedBuffer, Files, Mode, StoredFile, Writer};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Records a block holds.
pub(super) const BLOCK_RECORDS: usize = 32 << 10;
const HEADER_BYTES: usize = 16;
const WRITE_BUFFER_BYTES: usize = 1 << 20;
const WRITE_BUFFERS: usize = 4;

/// A finished run. Its segments are deleted when it is dropped.
pub(super) struct Run {
    files: Files,
    segments: Vec<Segment>,
}

struct Segment {
    path: PathBuf,
    /// Where blocks begin, and the end of the last one.
    bounds: Vec<u64>,
}

impl Drop for Run {
    fn drop(&mut self) {
        for segment in &self.segments {
            // The directory that holds the segments is removed with all its files as well.
            let _ = self.files.remove(&segment.path);
        }
    }
}

/// Writes one run.
pub(super) struct RunWriter {
    files: Files,
    base: PathBuf,
    segment_bytes: u64,
    open: Option<(Writer, Segment)>,
    done: Run,
}

impl RunWriter {
    /// Starts the run `base`.0, `base`.1, ...
    pub(super) fn new(files: &Files, base: &Path, segment_bytes: u64) -> Self {
        let done = Run { files: files.clone(), segments: Vec::new() };
        let base = base.to_path_buf();
        Self { files: files.clone(), base, segment_bytes, open: None, done }
    }

    /// Appends one encoded block.
    pub(super) fn push(&mut self, block: &[u8]) -> Result<()> {
        if self.open.is_none() {
            let path = self.base.with_extension(self.done.segments.len().to_string());
            let writer =
                Writer::create_scratch(&self.files, &path, WRITE_BUFFER_BYTES, WRITE_BUFFERS)?;
            self.open = Some((writer, Segment { path, bounds: vec![0] }));
        }
        let (writer, segment) = self.open.as_mut().expect("opened above");
        writer.write(block)?;
        segment.bounds.push(writer.position());
        if writer.position() >= self.segment_bytes {
            self.close_segment()?;
        }
        Ok(())
    }

    fn close_segment(&mut self) -> Result<()> {
        if let Some((writer, segment)) = self.open.take() {
            writer.finish()?;
            self.done.segments.push(segment);
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Run> {
        self.close_segment()?;
        Ok(self.done)
    }
}

/// Encodes at most [`BLOCK_RECORDS`] sorted records as a block.
pub(super) fn encode_block<R: Record>(records: &[R], out: &mut Vec<u8>) {
    out.clear();
    out.resize(HEADER_BYTES, 0);
    R::encode(records, out);
    let bytes = (out.len() - HEADER_BYTES) as u32;
    out[8..12].copy_from_slice(&(records.len() as u32).to_le_bytes());
    out[12..16].copy_from_slice(&bytes.to_le_bytes());
    let checksum = xxh3_64(&out[8..]);
    out[..8].copy_from_slice(&checksum.to_le_bytes());
}

fn decode_block<R: Record>(block: &[u8], into: &mut Vec<R>) -> Option<()> {
    let header = block.get(..HEADER_BYTES)?;
    let stored = u64::from_le_bytes(header[..8].try_into().ok()?);
    if stored != xxh3_64(&block[8..]) {
        return None;
    }
    let count = u32::from_le_bytes(header[8..12].try_into().ok()?) as usize;
    into.clear();
    R::decode(&block[HEADER_BYTES..], count, into)?;
    (into.len() == count).then_some(())
}

/// Reads a run's blocks one after the other.
pub(super) struct RunReader {
    run: Run,
    segment: usize,
    block: usize,
    file: Option<StoredFile>,
}

impl RunReader {
    pub(super) fn new(run: Run) -> Self {
        Self { run, segment: 0, block: 0, file: None }
    }

    /// Decodes the next block; `false` after the last. Finished segments are deleted.
    pub(super) fn next_block<R: Record>(
        &mut self,
        buffer: &mut AlignedBuffer,
        into: &mut Vec<R>,
    ) -> Result<bool> {
        loop {
            let Some(segment) = self.run.segments.get(self.segment) else { return Ok(false) };
            if self.block + 1 < segment.bounds.len() {
                break;
            }
            self.file = None;
            self.run.files.remove(&segment.path)?;
            (self.segment, self.block) = (self.segment + 1, 0);
        }
        let segment = &self.run.segments[self.segment];
        if self.file.is_none() {
            self.file = Some(self.run.files.open(&segment.path, Mode::ReadDirect)?);
        }
        let file = self.file.as_ref().expect("opened above");
        let (begin, end) = (segment.bounds[self.block], segment.bounds[self.block + 1]);
        let block = file.read_range_into(begin, (end - begin) as usize, buffer)?;
        decode_block(block, into).ok_or_else(|| {
            Error::corrupt(
                &segment.path,
                format!("the checksum of bytes {begin} to {end} is wrong"),
            )
        })?;
        self.block += 1;
        Ok(true)
    }
}
