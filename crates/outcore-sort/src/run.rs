//! A run on disk: blocks of encoded records in a few segment files. The blocks are in order, the records in them not
//! necessarily. All keys of a block are less than the first key of the next one, unless that is the same: then the block
//! holds only records with this key.
//!
//! ```text
//!  segment file:  [block][block] ...      block:  checksum u64 | record count u32 | byte count u32 | bytes
//! ```
//! A segment is deleted as soon as it is merged, so runs and the merge's output share their disk space, unless a
//! checkpoint needs the run (`resume`). Memory: place, size and first key of every block. In a job, only the version
//! that wrote a run reads it again, so this layout may change.

use super::directory::RunDirectory;
use super::record::Record;
use outcore_io::error::{Error, Result};
use outcore_io::{ALIGNMENT, Mode, Writer};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use xxhash_rust::xxh3::xxh3_64;

const BLOCK_HEADER_BYTES: usize = 16;

/// Finished run. Its segments are deleted when it is dropped, unless a checkpoint needs them.
pub(crate) struct Run<R: Record> {
    directory: Arc<RunDirectory>,
    pub(crate) number: u64,
    segments: Vec<RunSegment>,
    blocks: Vec<RunBlock<R>>,
    deleted: AtomicUsize,
}

struct RunSegment {
    path: PathBuf,
    /// Index after the last block.
    end: usize,
}

/// Block of a run: its position in a segment, the number of its records, and a lower bound of their keys.
pub(crate) struct RunBlock<R: Record> {
    begin: u64,
    pub(crate) bytes: u32,
    pub(crate) count: u32,
    pub(crate) first: R::Key,
}

impl<R: Record> Run<R> {
    /// Returns the blocks that may hold keys from `from` on and below `below`.
    pub(crate) fn blocks_between(&self, from: R::Key, below: Option<R::Key>) -> Range<usize> {
        let before = |key: R::Key| self.blocks.partition_point(|block| block.first < key);
        let at = before(from);
        let starts_there = self.blocks.get(at).is_some_and(|block| block.first == from);
        let begin = if starts_there { at } else { at.saturating_sub(1) };
        begin..below.map_or(self.blocks.len(), before)
    }

    /// Returns whether all keys of a block are in the range from `from` to below `below`.
    fn is_within(&self, block: usize, from: R::Key, below: Option<R::Key>) -> bool {
        let next = self.blocks.get(block + 1);
        let ends_before = |below| next.is_some_and(|next| next.first <= below);
        self.blocks[block].first >= from && below.is_none_or(ends_before)
    }

    /// Deletes the segments that hold no keys from `from` on.
    pub(crate) fn delete_before(&self, from: R::Key) {
        let needed = self.blocks_between(from, None).start;
        self.delete(self.segments.partition_point(|segment| segment.end <= needed));
    }

    /// Creates a run without blocks.
    pub(crate) fn new(directory: Arc<RunDirectory>, number: u64) -> Self {
        let deleted = AtomicUsize::new(0);
        Self { directory, number, segments: Vec::new(), blocks: Vec::new(), deleted }
    }

    /// Appends a block to the last segment that has not ended.
    pub(crate) fn add_block(&mut self, bytes: u32, count: u32, first: R::Key) {
        let is_first = self.segments.last().map_or(0, |segment| segment.end) == self.blocks.len();
        let last = self.blocks.last().filter(|_| !is_first);
        let begin = last.map_or(0, |last| last.begin + u64::from(last.bytes));
        self.blocks.push(RunBlock { begin, bytes, count, first });
    }

    /// Ends the segment after the last block.
    pub(crate) fn end_segment(&mut self) {
        let path = self.path_of(self.segments.len());
        self.segments.push(RunSegment { path, end: self.blocks.len() });
    }

    fn path_of(&self, segment: usize) -> PathBuf {
        self.directory.segment(self.number, segment)
    }

    /// Returns, for each segment, its file, the index after its last block, and its length.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (&Path, usize, u64)> {
        let mut begin = 0;
        self.segments.iter().map(move |RunSegment { path, end }| {
            let blocks = &self.blocks[std::mem::replace(&mut begin, *end)..*end];
            let bytes = blocks.iter().map(|block| u64::from(block.bytes)).sum();
            (path.as_path(), *end, bytes)
        })
    }

    /// Returns all blocks.
    pub(crate) fn blocks(&self) -> &[RunBlock<R>] {
        &self.blocks
    }

    /// Returns the total length of all blocks.
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.bytes)).sum()
    }

    fn delete(&self, count: usize) {
        let begin = self.deleted.fetch_max(count, Ordering::Relaxed).min(count);
        for segment in &self.segments[begin..count] {
            self.directory.files().discard(&segment.path);
        }
    }
}

impl<R: Record> Drop for Run<R> {
    fn drop(&mut self) {
        self.delete(self.segments.len());
    }
}

/// Writer of one run.
pub(crate) struct RunWriter<R: Record> {
    segment_bytes: u64,
    /// Writer of the current segment.
    open: Option<Writer>,
    done: Run<R>,
}

impl<R: Record> RunWriter<R> {
    /// Starts the run of this number in `directory`.
    pub(crate) fn new(directory: Arc<RunDirectory>, number: u64, segment_bytes: u64) -> Self {
        Self { segment_bytes, open: None, done: Run::new(directory, number) }
    }

    /// Appends one encoded block of `count` records, whose first key is `first`.
    pub(crate) fn push(&mut self, block: &[u8], first: R::Key, count: usize) -> Result<()> {
        self.writer()?.write(block)?;
        self.done.add_block(block.len() as u32, count as u32, first);
        Ok(())
    }

    /// Returns the writer; starts a new segment if the current one is long enough.
    fn writer(&mut self) -> Result<&mut Writer> {
        match &mut self.open {
            Some(writer) if writer.position() >= self.segment_bytes => {
                writer.next_scratch(&self.done.path_of(self.done.segments.len() + 1))?;
                self.done.end_segment();
            }
            Some(_) => {}
            none => {
                let (files, path) = (self.done.directory.files(), self.done.path_of(0));
                let write = files.tuning().write;
                let (block_bytes, buffers) = (write.block_bytes, write.buffers());
                *none = Some(Writer::create_scratch(files, &path, block_bytes, buffers)?);
            }
        }
        Ok(self.open.as_mut().expect("opened above"))
    }

    pub(crate) fn finish(mut self) -> Result<Run<R>> {
        if let Some(writer) = self.open.take() {
            writer.finish()?;
            self.done.end_segment();
        }
        Ok(self.done)
    }
}

/// Cuts sorted records into blocks of at most `most`, if possible between different keys.
pub(crate) fn cut<R: Record>(mut rest: &[R], most: usize) -> impl Iterator<Item = &[R]> {
    std::iter::from_fn(move || {
        let mut count = rest.len().min(most);
        if count < rest.len() {
            let key = rest[count].key();
            let before = rest[..count].partition_point(|record| record.key() < key);
            count = if before > 0 { before } else { count };
        }
        let block;
        (block, rest) = rest.split_at(count);
        (count > 0).then_some(block)
    })
}

/// Appends records to `out` as a block.
pub(crate) fn encode_block<R: Record>(records: &[R], out: &mut Vec<u8>) {
    let begin = out.len();
    out.resize(begin + BLOCK_HEADER_BYTES, 0);
    R::encode(records, out);
    let out = &mut out[begin..];
    let bytes = (out.len() - BLOCK_HEADER_BYTES) as u32;
    out[8..12].copy_from_slice(&(records.len() as u32).to_le_bytes());
    out[12..16].copy_from_slice(&bytes.to_le_bytes());
    let checksum = xxh3_64(&out[8..]);
    out[..8].copy_from_slice(&checksum.to_le_bytes());
}

/// Appends the records of a block to `into`.
fn decode_block<R: Record>(block: &[u8], into: &mut Vec<R>) -> Option<()> {
    let begin = into.len();
    let header = block.get(..BLOCK_HEADER_BYTES)?;
    let stored = u64::from_le_bytes(header[..8].try_into().ok()?);
    if stored != xxh3_64(&block[8..]) {
        return None;
    }
    let count = u32::from_le_bytes(header[8..12].try_into().ok()?) as usize;
    R::decode(&block[BLOCK_HEADER_BYTES..], count, into)?;
    (into.len() - begin == count).then_some(())
}

/// Keys of a window, or some of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys<K> {
    pub(crate) from: K,
    pub(crate) below: Option<K>,
    pub(crate) part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    All,
    /// Only the key `from`.
    First,
    /// All but the key `from`.
    Others,
}

impl<K: Ord + Copy> Keys<K> {
    fn contain(&self, key: K) -> bool {
        match self.part {
            Part::All => key >= self.from && self.below.is_none_or(|below| key < below),
            Part::First => key == self.from,
            Part::Others => key > self.from && self.below.is_none_or(|below| key < below),
        }
    }
}

/// Consecutive blocks of a run, in a buffer.
pub(crate) struct Loaded {
    pub(crate) blocks: Range<usize>,
    /// For each segment, the first of its blocks, and where in the buffer it begins.
    pieces: Vec<(usize, usize)>,
}

/// Returns the length of a buffer for `len` bytes of a file, which may begin at an unaligned offset.
fn room(len: u64) -> usize {
    (len as usize).next_multiple_of(ALIGNMENT) + 2 * ALIGNMENT
}

impl<R: Record> Run<R> {
    fn segment_of(&self, block: usize) -> usize {
        self.segments.partition_point(|segment| segment.end <= block)
    }

    /// Divides blocks by segment; returns each segment, its blocks, and their bytes.
    fn pieces(&self, blocks: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>, u64)> {
        let (mut begin, mut segment) = (blocks.start, self.segment_of(blocks.start));
        std::iter::from_fn(move || {
            let piece = begin..self.segments.get(segment)?.end.min(blocks.end);
            let last = self.blocks[piece.clone()].last()?;
            let bytes = last.begin + u64::from(last.bytes) - self.blocks[begin].begin;
            (begin, segment) = (piece.end, segment + 1);
            Some((segment - 1, piece, bytes))
        })
    }

    /// Returns the length of a buffer for these blocks.
    pub(crate) fn room_for(&self, blocks: Range<usize>) -> usize {
        self.pieces(blocks).map(|(.., bytes)| room(bytes)).sum()
    }

    /// Reads blocks into a buffer with room for them, which begins at a multiple of [`ALIGNMENT`].
    pub(crate) fn load(&self, blocks: Range<usize>, buffer: &mut [u8]) -> Result<Loaded> {
        let files = self.directory.files();
        let mode = if files.tuning().read.direct { Mode::ReadDirect } else { Mode::Read };
        let (mut pieces, mut at) = (Vec::new(), 0);
        for (segment, piece, bytes) in self.pieces(blocks.clone()) {
            let file = files.open(&self.segments[segment].path, mode)?;
            let begin = self.blocks[piece.start].begin;
            let start = file.load_into(begin, bytes as usize, &mut buffer[at..])?;
            pieces.push((piece.start, at + start));
            at += room(bytes);
        }
        Ok(Loaded { blocks, pieces })
    }

    /// Appends the records of a block with wanted keys to `out`.
    pub(crate) fn read(
        &self,
        number: usize,
        loaded: &Loaded,
        buffer: &[u8],
        keys: &Keys<R::Key>,
        out: &mut Vec<R>,
    ) -> Result<()> {
        let piece = loaded.pieces.partition_point(|(first, _)| *first <= number) - 1;
        let (first, at) = loaded.pieces[piece];
        let block = &self.blocks[number];
        let begin = at + (block.begin - self.blocks[first].begin) as usize;
        let before = out.len();
        decode_block(&buffer[begin..begin + block.bytes as usize], out).ok_or_else(|| {
            let end = block.begin + u64::from(block.bytes);
            let path = &self.segments[self.segment_of(number)].path;
            let message = format!("the checksum of bytes {} to {end} is wrong", block.begin);
            Error::corrupt(path, message)
        })?;
        if keys.part != Part::All || !self.is_within(number, keys.from, keys.below) {
            keep_from(out, before, |key| keys.contain(key));
        }
        Ok(())
    }
}

/// Removes the records from index `first` on whose keys `keep` rejects.
fn keep_from<R: Record>(records: &mut Vec<R>, first: usize, keep: impl Fn(R::Key) -> bool) {
    let mut kept = first;
    for at in first..records.len() {
        records[kept] = records[at];
        kept += usize::from(keep(records[kept].key()));
    }
    records.truncate(kept);
}
