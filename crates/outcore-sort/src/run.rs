//! A sorted run on disk: blocks of encoded records in a few segment files.
//!
//! ```text
//!  segment file:  [block][block] ...      block:  checksum u64 | record count u32 | byte count u32 | bytes
//! ```
//! A segment is deleted as soon as it is merged, so runs and the merge's output share their disk space,
//! unless a checkpoint needs the run (`resume`). Memory: the offset and the first key of every block.

use super::directory::RunDirectory;
use super::record::Record;
use outcore_io::error::{Error, Result};
use outcore_io::{ALIGNMENT, Mode, StoredFile, Writer};
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

/// Position of a block in its segment, and its first key.
struct RunBlock<R: Record> {
    begin: u64,
    bytes: u32,
    first: R::Key,
}

impl<R: Record> Run<R> {
    /// Returns the first key of every block.
    pub(crate) fn first_keys(&self) -> impl Iterator<Item = R::Key> {
        self.blocks.iter().map(|block| block.first)
    }

    /// Returns the blocks that may hold keys from `from` on and below `below`.
    pub(crate) fn blocks_between(
        &self,
        from: Option<R::Key>,
        below: Option<R::Key>,
    ) -> Range<usize> {
        let before = |key: R::Key| self.blocks.partition_point(|block| block.first < key);
        let begin = from.map_or(0, |from| before(from).saturating_sub(1));
        begin..below.map_or(self.blocks.len(), before)
    }

    /// Deletes the segments that hold no keys from `from` on.
    pub(crate) fn delete_before(&self, from: Option<R::Key>) {
        let needed = self.blocks_between(from, None).start;
        self.delete(self.segments.partition_point(|segment| segment.end <= needed));
    }

    /// Creates a run without blocks.
    pub(crate) fn new(directory: Arc<RunDirectory>, number: u64) -> Self {
        let deleted = AtomicUsize::new(0);
        Self { directory, number, segments: Vec::new(), blocks: Vec::new(), deleted }
    }

    /// Appends a block to the last segment that has not ended.
    pub(crate) fn add_block(&mut self, bytes: u32, first: R::Key) {
        let is_first = self.segments.last().map_or(0, |segment| segment.end) == self.blocks.len();
        let last = self.blocks.last().filter(|_| !is_first);
        let begin = last.map_or(0, |last| last.begin + u64::from(last.bytes));
        self.blocks.push(RunBlock { begin, bytes, first });
    }

    /// Ends the segment after the last block.
    pub(crate) fn end_segment(&mut self) {
        let path = self.directory.segment(self.number, self.segments.len());
        self.segments.push(RunSegment { path, end: self.blocks.len() });
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

    /// Returns the length and the first key of every block.
    pub(crate) fn lengths_and_keys(&self) -> impl ExactSizeIterator<Item = (u32, R::Key)> {
        self.blocks.iter().map(|block| (block.bytes, block.first))
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
    /// Writer and path of the current segment.
    open: Option<(Writer, PathBuf)>,
    done: Run<R>,
}

impl<R: Record> RunWriter<R> {
    /// Starts the run of this number in `directory`.
    pub(crate) fn new(directory: Arc<RunDirectory>, number: u64, segment_bytes: u64) -> Self {
        Self { segment_bytes, open: None, done: Run::new(directory, number) }
    }

    /// Appends one encoded block, whose first key is `first`.
    pub(crate) fn push(&mut self, block: &[u8], first: R::Key) -> Result<()> {
        let writer = self.writer()?;
        let begin = writer.position();
        writer.write(block)?;
        self.done.blocks.push(RunBlock { begin, bytes: block.len() as u32, first });
        Ok(())
    }

    /// Returns the writer; starts a new segment if the current one is long enough.
    fn writer(&mut self) -> Result<&mut Writer> {
        let path_of = |segment| self.done.directory.segment(self.done.number, segment);
        let next = path_of(self.done.segments.len() + 1);
        match &mut self.open {
            Some((writer, path)) if writer.position() >= self.segment_bytes => {
                writer.next_scratch(&next)?;
                let path = std::mem::replace(path, next);
                self.done.segments.push(RunSegment { path, end: self.done.blocks.len() });
            }
            Some(_) => {}
            none => {
                let (files, path) = (self.done.directory.files(), path_of(0));
                let write = files.tuning().write;
                let (block_bytes, buffers) = (write.block_bytes, write.buffers());
                let writer = Writer::create_scratch(files, &path, block_bytes, buffers)?;
                *none = Some((writer, path));
            }
        }
        Ok(&mut self.open.as_mut().expect("opened above").0)
    }

    pub(crate) fn finish(mut self) -> Result<Run<R>> {
        if let Some((writer, path)) = self.open.take() {
            writer.finish()?;
            self.done.segments.push(RunSegment { path, end: self.done.blocks.len() });
        }
        Ok(self.done)
    }
}

/// Encodes sorted records as a block.
pub(crate) fn encode_block<R: Record>(records: &[R], out: &mut Vec<u8>) {
    out.clear();
    out.resize(BLOCK_HEADER_BYTES, 0);
    R::encode(records, out);
    let bytes = (out.len() - BLOCK_HEADER_BYTES) as u32;
    out[8..12].copy_from_slice(&(records.len() as u32).to_le_bytes());
    out[12..16].copy_from_slice(&bytes.to_le_bytes());
    let checksum = xxh3_64(&out[8..]);
    out[..8].copy_from_slice(&checksum.to_le_bytes());
}

fn decode_block<R: Record>(block: &[u8], into: &mut Vec<R>) -> Option<()> {
    let header = block.get(..BLOCK_HEADER_BYTES)?;
    let stored = u64::from_le_bytes(header[..8].try_into().ok()?);
    if stored != xxh3_64(&block[8..]) {
        return None;
    }
    let count = u32::from_le_bytes(header[8..12].try_into().ok()?) as usize;
    R::decode(&block[BLOCK_HEADER_BYTES..], count, into)?;
    (into.len() == count).then_some(())
}

/// Reader of consecutive blocks of a run.
pub(crate) struct RunReader<R: Record> {
    run: Arc<Run<R>>,
    blocks: Range<usize>,
    /// The open segment, and its blocks that are in memory.
    file: Option<(usize, StoredFile)>,
    loaded: Range<usize>,
    start: usize,
    /// Maximum bytes per read request, unless a single block has more.
    read_bytes: u64,
}

impl<R: Record> RunReader<R> {
    pub(crate) fn new(run: Arc<Run<R>>, read_bytes: u64) -> Self {
        Self { run, blocks: 0..0, file: None, loaded: 0..0, start: 0, read_bytes }
    }

    /// Returns the buffer size that each call of [`RunReader::next_block`] needs.
    pub(crate) fn buffer_bytes(&self) -> usize {
        let largest = self.run.blocks.iter().map(|block| u64::from(block.bytes)).max();
        let wanted = self.read_bytes.max(largest.unwrap_or(0)) as usize;
        wanted.next_multiple_of(ALIGNMENT) + 2 * ALIGNMENT
    }

    /// Moves to the blocks that may hold keys from `from` on and below `below`.
    pub(crate) fn go_to(&mut self, from: Option<R::Key>, below: Option<R::Key>) {
        self.blocks = self.run.blocks_between(from, below);
        self.loaded = 0..0;
    }

    /// Returns whether there are no further blocks.
    pub(crate) fn is_at_end(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns the first key of the next block.
    #[inline]
    pub(crate) fn next_first_key(&self) -> Option<R::Key> {
        let next = self.run.blocks.get(self.blocks.start)?;
        (!self.is_at_end()).then_some(next.first)
    }

    /// Decodes the next block; `false` after the last. `buffer` must hold the data that the last call left in
    /// it, unless [`RunReader::go_to`] was called in between.
    pub(crate) fn next_block(&mut self, buffer: &mut [u8], into: &mut Vec<R>) -> Result<bool> {
        into.clear();
        let Some(number) = self.blocks.next() else {
            // A deleted segment takes disk space as long as it is open.
            self.file = None;
            return Ok(false);
        };
        if !self.loaded.contains(&number) {
            self.load(number, buffer)?;
        }
        let run = &*self.run;
        let block = &run.blocks[number];
        let begin = self.start + (block.begin - run.blocks[self.loaded.start].begin) as usize;
        let bytes = &buffer[begin..begin + block.bytes as usize];
        decode_block(bytes, into).ok_or_else(|| {
            let end = block.begin + u64::from(block.bytes);
            let path = &run.segments[run.segment_of(number)].path;
            let message = format!("the checksum of bytes {} to {end} is wrong", block.begin);
            Error::corrupt(path, message)
        })?;
        Ok(true)
    }

    /// Reads block `number` and the following ones that will be needed soon.
    fn load(&mut self, number: usize, buffer: &mut [u8]) -> Result<()> {
        let run = &*self.run;
        let segment = run.segment_of(number);
        if self.file.as_ref().is_none_or(|(open, _)| *open != segment) {
            let path = &run.segments[segment].path;
            let files = run.directory.files();
            let direct = files.tuning().read.direct;
            let mode = if direct { Mode::ReadDirect } else { Mode::Read };
            self.file = Some((segment, files.open(path, mode)?));
        }
        let begin = run.blocks[number].begin;
        let last = self.blocks.end.min(run.segments[segment].end);
        let mut end = number + 1;
        let stop = |block: &RunBlock<R>| block.begin + u64::from(block.bytes);
        while end < last && stop(&run.blocks[end]) - begin <= self.read_bytes {
            end += 1;
        }
        let len = (stop(&run.blocks[end - 1]) - begin) as usize;
        let (_, file) = self.file.as_ref().expect("opened above");
        self.start = file.load_into(begin, len, buffer)?;
        self.loaded = number..end;
        Ok(())
    }
}

impl<R: Record> Run<R> {
    fn segment_of(&self, block: usize) -> usize {
        self.segments.partition_point(|segment| segment.end <= block)
    }
}
