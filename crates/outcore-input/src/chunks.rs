//! Reading thread: reads the files in order, ahead of the parsers, and parses their chunks in parallel.

use crate::EdgeChunk;
use crate::chunk::{Origin, ParsedChunk};
use crate::decompress::Input;
use crate::sink::{ChunkSink, Halt, Progress};
use crate::source::{EdgeSource, OpenFile, ReadTask};
use crossbeam_channel::{Receiver, Sender};
use outcore_io::Files;
use outcore_io::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

/// Parses chunks in parallel.
pub(super) fn parse_all(
    chunks: &mut [ParsedChunk],
    files: &[OpenFile],
    weighted: bool,
    stop: bool,
) {
    use rayon::prelude::*;
    let source = |chunk: &ParsedChunk| &files[chunk.origin.file].source;
    let is_open = |chunk: &ParsedChunk| !chunk.is_parsed || source(chunk).kinds().is_some();
    // What is read line by line is complete, and can be read in a forked process, which has no threads of the pool.
    if !chunks.iter().any(is_open) {
        return;
    }
    chunks.par_iter_mut().for_each(|chunk| source(chunk).parse(chunk, weighted, stop));
}

/// Message from the reading thread.
#[expect(clippy::large_enum_variant, reason = "nearly all messages are chunks")]
pub(super) enum Message {
    /// Chunk with its text and its place only.
    Chunk(ParsedChunk),
    Failed(Error),
    /// Everything has been read: number of bytes of the files.
    End(u64),
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
pub(super) struct Reader {
    pub(super) files: Files,
    pub(super) chunk_bytes: usize,
    pub(super) workers: usize,
    /// Bytes of the files that were read to their end.
    pub(super) done_bytes: u64,
    /// Whether reading ends at the first bad row of a table.
    pub(super) stop: bool,
    pub(super) channels: Channels,
}

/// Channels of the reading thread.
pub(super) struct Channels {
    pub(super) to_parsers: Sender<Message>,
    pub(super) recycled: Receiver<EdgeChunk>,
}

impl Reader {
    /// Reads all files; the channel closes after [`Message::End`] or [`Message::Failed`].
    pub(super) fn run(mut self, tasks: Vec<Task>) {
        let last = match tasks.into_iter().try_for_each(|task| self.read(task)) {
            Ok(()) => Message::End(self.done_bytes),
            Err(Halt::Failed(error)) => Message::Failed(error),
            Err(Halt::Unwanted) => return,
        };
        // If this fails, nobody is receiving.
        let _ = self.channels.to_parsers.send(last);
    }

    fn read(&mut self, task: Task) -> Progress {
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
        self.done_bytes += source.read(&task, input, &mut self.channels)?;
        Ok(())
    }
}

impl ChunkSink for Channels {
    fn take(&mut self, chunk: ParsedChunk) -> Progress {
        self.to_parsers.send(Message::Chunk(chunk)).map_err(|_| Halt::Unwanted)
    }

    fn spare(&mut self) -> ParsedChunk {
        ParsedChunk { edges: self.recycled.try_recv().unwrap_or_default(), ..Default::default() }
    }
}
