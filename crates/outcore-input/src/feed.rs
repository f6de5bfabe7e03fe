//! Reading thread: reads the files in order, ahead of the parsers. Its chunks are received in batches, and their buffers
//! return to it.
//!
//! ```text
//!  Task --EdgeSource::read--> Channels --Message--> Feed::receive --> parse_all
//!                                ^                                        |
//!                                `------- EdgeChunk, Feed::recycle -------'
//! ```

use crate::chunk::{Origin, ParsedChunk};
use crate::decompress::Input;
use crate::sink::{ChunkSink, Halt, Progress};
use crate::source::{EdgeSource, OpenFile, ReadTask};
use crate::{Batch, BatchMemory, EdgeChunk};
use crossbeam_channel::{Receiver, Sender, bounded};
use outcore_io::Files;
use outcore_io::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of table chunks that count as one chunk of text.
const PARTS_OF_CHUNK: usize = 4;

/// Message from the reading thread.
#[expect(clippy::large_enum_variant, reason = "nearly all messages are chunks")]
enum Message {
    /// Chunk with its text and its place only if it has lines; otherwise it is complete.
    Chunk(ParsedChunk),
    /// Everything has been read, the number of bytes of the files; or nothing more can be.
    End(Result<u64>),
}

/// File to read, which may already be open.
pub(super) struct Task {
    /// Start of the wanted text in the file.
    pub(super) begin: Origin,
    pub(super) path: PathBuf,
    pub(super) input: Option<Input>,
    pub(super) source: Arc<dyn EdgeSource>,
}

/// State of the reading thread.
pub(super) struct FileReader {
    pub(super) files: Files,
    pub(super) chunk_bytes: usize,
    pub(super) workers: usize,
    /// Bytes of the files that were read to their end.
    pub(super) done_bytes: u64,
    /// Whether reading ends at the first bad row of a table.
    pub(super) stop: bool,
    pub(super) tasks: Vec<Task>,
}

impl FileReader {
    /// Reads all files; the channel closes after [`Message::End`].
    fn run(mut self, mut channels: Channels) {
        let tasks = std::mem::take(&mut self.tasks);
        let last = match tasks.into_iter().try_for_each(|task| self.read(task, &mut channels)) {
            Ok(()) => Ok(self.done_bytes),
            Err(Halt::Failed(error)) => Err(error),
            Err(Halt::Unwanted) => return,
        };
        // If this fails, nobody is receiving.
        let _ = channels.to_parsers.send(Message::End(last));
    }

    fn read(&mut self, task: Task, channels: &mut Channels) -> Progress {
        let Task { begin, path, input, source } = task;
        let task = ReadTask {
            files: &self.files,
            path: &path,
            begin,
            chunk_bytes: self.chunk_bytes,
            workers: self.workers,
            done_bytes: self.done_bytes,
            stop: self.stop,
            is_sample: false,
        };
        self.done_bytes += source.read(&task, input, channels)?;
        Ok(())
    }
}

/// Channels of the reading thread.
struct Channels {
    to_parsers: Sender<Message>,
    recycled: Receiver<EdgeChunk>,
}

impl ChunkSink for Channels {
    fn take(&mut self, chunk: ParsedChunk) -> Progress {
        self.to_parsers.send(Message::Chunk(chunk)).map_err(|_| Halt::Unwanted)
    }

    fn spare(&mut self) -> ParsedChunk {
        ParsedChunk { edges: self.recycled.try_recv().unwrap_or_default(), ..Default::default() }
    }
}

/// Chunks of all files, in order.
pub(super) struct Feed {
    /// The thread until the first batch is requested, so that the caller can check first what it needs.
    waiting: Option<(FileReader, Channels)>,
    chunks: Receiver<Message>,
    recycle: Sender<EdgeChunk>,
    chunks_per_batch: usize,
    ended: bool,
}

impl Feed {
    pub(super) fn of(reader: FileReader, memory: BatchMemory) -> Self {
        let (to_parsers, chunks) = bounded(memory.chunks);
        let (recycle, recycled) = bounded(PARTS_OF_CHUNK * (2 * memory.chunks + 2));
        let waiting = Some((reader, Channels { to_parsers, recycled }));
        Self { waiting, chunks, recycle, chunks_per_batch: memory.chunks, ended: false }
    }

    /// Returns the buffers of the last batch to the thread.
    pub(super) fn recycle(&self, batch: &mut Batch) {
        for mut chunk in batch.chunks.drain(..) {
            // If the channel is full, the thread has enough buffers.
            if !chunk.has_lines {
                let _ = self.recycle.try_send(chunk);
                continue;
            }
            let text = std::mem::take(&mut chunk.text);
            let _ = self.recycle.try_send(EdgeChunk { text, ..EdgeChunk::default() });
            batch.spare.push(chunk);
        }
    }

    /// Receives up to a batch of chunks. Returns what followed the last one of all: the bytes of the files, the first of
    /// which is named for a thread that stopped, or an error.
    pub(super) fn receive(&mut self, batch: &mut Batch, first: &Path) -> Option<Result<u64>> {
        if let Some((reader, channels)) = self.waiting.take() {
            // Never joined, as it may wait for a pipe that is never written. It ends when the channel closes.
            std::thread::spawn(move || reader.run(channels));
        }
        let mut room = PARTS_OF_CHUNK * self.chunks_per_batch;
        while room > 0 && !self.ended {
            let message = self.chunks.recv();
            match message.unwrap_or_else(|_| Message::End(Err(stopped(first)))) {
                Message::Chunk(mut chunk) => {
                    let has_lines = chunk.edges.has_lines;
                    room = room.saturating_sub(if has_lines { PARTS_OF_CHUNK } else { 1 });
                    if has_lines {
                        let mut edges = batch.spare.pop().unwrap_or_default();
                        edges.clear();
                        (edges.text, edges.has_lines) = (chunk.edges.text, true);
                        chunk.edges = edges;
                    }
                    batch.parsed.push(chunk);
                }
                Message::End(last) => {
                    self.ended = true;
                    return Some(last);
                }
            }
        }
        None
    }
}

/// Returns the error of a thread that stopped.
fn stopped(first: &Path) -> Error {
    Error::io("read", first, std::io::ErrorKind::BrokenPipe.into())
}

/// Parses chunks in parallel.
pub(super) fn parse_all(
    chunks: &mut [ParsedChunk],
    files: &[OpenFile],
    weighted: bool,
    stop: bool,
) {
    use rayon::prelude::*;
    let source = |chunk: &ParsedChunk| &files[chunk.origin.file].source;
    let is_open = |chunk: &ParsedChunk| chunk.edges.has_lines || source(chunk).kinds().is_some();
    // What is read line by line is complete, and can be read in a forked process, which has no threads of the pool.
    if !chunks.iter().any(is_open) {
        return;
    }
    chunks.par_iter_mut().for_each(|chunk| source(chunk).parse(chunk, weighted, stop));
}
