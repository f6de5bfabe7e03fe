//! Common parts of the readers of all formats: the receiver of their chunks, why reading ends, the first bytes of tables.
//!
//! Tables are recognized by their first bytes even if the engine was built without decoders for them.

use super::chunk::ParsedChunk;
use crossbeam_channel::{Receiver, Sender};
use outcore_io::error::{Error, Result};

/// First and last bytes of a Parquet file.
pub(super) const PARQUET_MAGIC: &[u8] = b"PAR1";
/// First bytes of an Arrow IPC file, including two padding zeros.
pub(super) const ARROW_MAGIC: &[u8] = b"ARROW1\0\0";
/// First bytes of an Arrow IPC message, and so of a stream.
pub(super) const ARROW_CONTINUATION: [u8; 4] = [0xFF; 4];

/// Returns whether these are the first bytes of an Arrow IPC file or stream.
pub(super) fn is_arrow(head: &[u8]) -> bool {
    head.starts_with(ARROW_MAGIC) || head.starts_with(&ARROW_CONTINUATION)
}

/// Name of the caller's stream in messages.
pub(super) const STREAM_NAME: &str = "the table";

/// Resources for decoding.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecodeRoom {
    /// Maximum number of threads.
    pub(super) workers: usize,
    /// Memory that may be used for more than one thread.
    pub(super) bytes: u64,
}

/// Why reading ends early.
pub(super) enum Halt {
    Unwanted,
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Result of reading on.
pub(super) type Progress<T = ()> = std::result::Result<T, Halt>;

/// Returns whether a file was read to its end.
pub(super) fn is_whole(progress: Progress) -> Result<bool> {
    match progress {
        Ok(()) => Ok(true),
        Err(Halt::Unwanted) => Ok(false),
        Err(Halt::Failed(error)) => Err(error),
    }
}

/// Receiver of chunks.
pub(super) trait ChunkSink: Send {
    fn take(&mut self, chunk: ParsedChunk) -> Progress;
    /// Returns a chunk to fill.
    fn spare(&mut self) -> ParsedChunk;
}

/// Receiver of chunks, of any type.
pub(super) type Sink<'a> = &'a mut dyn ChunkSink;

/// Message from a thread that reads.
#[expect(clippy::large_enum_variant, reason = "nearly all messages are chunks")]
pub(super) enum Message {
    Chunk(ParsedChunk),
    /// The end: the number of bytes read if all were read, or the error that ended reading.
    End(Result<u64>),
}

/// A reading thread's end of the channels. Its chunks come back to be filled again.
pub(super) struct ChunkSender {
    pub(super) to: Sender<Message>,
    pub(super) recycled: Receiver<ParsedChunk>,
}

impl ChunkSender {
    /// Sends what follows the chunks, if more are wanted; returns whether they are.
    pub(super) fn end(&self, last: Progress<u64>) -> bool {
        let last = match last {
            Ok(bytes) => Ok(bytes),
            Err(Halt::Failed(error)) => Err(error),
            Err(Halt::Unwanted) => return false,
        };
        self.to.send(Message::End(last)).is_ok()
    }
}

impl ChunkSink for ChunkSender {
    fn take(&mut self, chunk: ParsedChunk) -> Progress {
        self.to.send(Message::Chunk(chunk)).map_err(|_| Halt::Unwanted)
    }

    fn spare(&mut self) -> ParsedChunk {
        self.recycled.try_recv().unwrap_or_default()
    }
}

/// Divisor that turns the size of a text chunk into the maximum number of rows of a table chunk. The parsed form of
/// that many rows is as large as that of a text chunk of four times the size.
pub(super) const ROW_BYTES: usize = 80;

/// Function that counts a chunk, which has this number of bytes if it is text; returns how long its rows would be as
/// text.
pub(super) type Count<'a> = &'a mut (dyn FnMut(&ParsedChunk, Option<usize>) -> u64 + Send);

/// Counts chunks of rows and drops them, until a piece of the sample has enough rows or as much text as it may have.
pub(super) struct SampleSink<'a> {
    count: Count<'a>,
    rows_left: u64,
    bytes_left: u64,
    spare: ParsedChunk,
    /// Rows, and how long they would be as text.
    pub(super) rows: u64,
    pub(super) text_bytes: u64,
    /// Bytes of the file after the last chunk.
    pub(super) consumed: u64,
}

impl<'a> SampleSink<'a> {
    pub(super) fn new(count: Count<'a>) -> Self {
        let (rows_left, bytes_left, spare) = (0, 0, ParsedChunk::default());
        Self { count, rows_left, bytes_left, spare, rows: 0, text_bytes: 0, consumed: 0 }
    }

    /// Begins a piece of about `rows` rows, with at most about `bytes` bytes of text.
    pub(super) fn begin(&mut self, rows: u64, bytes: u64) -> Sink<'_> {
        (self.rows_left, self.bytes_left) = (rows, bytes);
        self
    }
}

impl ChunkSink for SampleSink<'_> {
    fn take(&mut self, chunk: ParsedChunk) -> Progress {
        self.text_bytes += (self.count)(&chunk, None);
        self.rows += chunk.lines;
        self.consumed = chunk.done_bytes;
        self.rows_left = self.rows_left.saturating_sub(chunk.lines);
        self.bytes_left = self.bytes_left.saturating_sub(chunk.edges.text.len() as u64);
        self.spare = chunk;
        if self.rows_left > 0 && self.bytes_left > 0 { Ok(()) } else { Err(Halt::Unwanted) }
    }

    fn spare(&mut self) -> ParsedChunk {
        std::mem::take(&mut self.spare)
    }
}
