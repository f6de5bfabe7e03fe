//! Reading thread: reads the files in order, ahead of the parsers. Its chunks are received in batches, and their buffers
//! return to it.
//!
//! ```text
//!  Task --EdgeSource::read--> ChunkSender --Message--> Feed::receive --> parse_all
//!                                  ^                                        |
//!                                  `------------- Feed::recycle ------------'
//! ```

use crate::chunk::{Origin, ParsedChunk};
use crate::decompress::Input;
use crate::sink::{ChunkSender, Message, Progress, Sink};
use crate::source::{EdgeSource, OpenFile, ReadTask};
use crate::{Batch, BatchMemory, EdgeChunk};
use crossbeam_channel::{Receiver, Sender, bounded};
use outcore_io::Files;
use outcore_io::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of table chunks that count as one chunk of text.
const PARTS_OF_CHUNK: usize = 4;

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
    fn run(mut self, mut sender: ChunkSender) {
        let mut tasks = std::mem::take(&mut self.tasks).into_iter();
        let read = tasks.try_for_each(|task| self.read(task, &mut sender));
        sender.end(read.map(|()| self.done_bytes));
    }

    fn read(&mut self, task: Task, sink: Sink<'_>) -> Progress {
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
        self.done_bytes += source.read(&task, input, sink)?;
        Ok(())
    }
}

/// Chunks of all files, in order.
pub(super) struct Feed {
    /// The reader, until its thread starts with the first batch. So the caller can first check what the reader needs.
    waiting: Option<(FileReader, ChunkSender)>,
    chunks: Receiver<Message>,
    recycle: Sender<ParsedChunk>,
    chunks_per_batch: usize,
    ended: bool,
}

impl Feed {
    pub(super) fn of(reader: FileReader, memory: BatchMemory) -> Self {
        let (to, chunks) = bounded(memory.chunks);
        let (recycle, recycled) = bounded(PARTS_OF_CHUNK * (2 * memory.chunks + 2));
        let waiting = Some((reader, ChunkSender { to, recycled }));
        Self { waiting, chunks, recycle, chunks_per_batch: memory.chunks, ended: false }
    }

    /// Returns the buffers of the last batch to the thread.
    pub(super) fn recycle(&self, batch: &mut Batch) {
        for mut chunk in batch.chunks.drain(..) {
            let mut edges = EdgeChunk::default();
            if chunk.has_lines {
                edges.text = std::mem::take(&mut chunk.text);
                batch.spare.push(chunk);
            } else {
                edges = chunk;
            }
            // If the channel is full, the thread has enough buffers.
            let _ = self.recycle.try_send(ParsedChunk { edges, ..ParsedChunk::default() });
        }
    }

    /// Receives up to a batch of chunks. At the end, returns what followed the last chunk: the bytes of the files, or
    /// an error. If the thread stopped, the error names the file `first`.
    pub(super) fn receive(&mut self, batch: &mut Batch, first: &Path) -> Option<Result<u64>> {
        if let Some((reader, sender)) = self.waiting.take() {
            // Never joined, as it may wait for a pipe that is never written. It ends when the channel closes.
            std::thread::spawn(move || reader.run(sender));
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
    // Chunks that arrive parsed need no pool, so a forked process can read them, although it lacks the threads of the
    // pool.
    if !chunks.iter().any(is_open) {
        return;
    }
    chunks.par_iter_mut().for_each(|chunk| source(chunk).parse(chunk, weighted, stop));
}
