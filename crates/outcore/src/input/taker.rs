//! What reading tables and lists has in common: who takes the chunks, and how a table begins.
//!
//! Tables are known by their first bytes also where the engine was built without decoders for them.

use super::decompress::Input;
use super::format::bad_input;
use super::text::chunk::ParsedChunk;
use crate::error::Result;
use crate::error::opt::NODES;
use std::path::Path;

/// How a Parquet file begins and ends.
pub(super) const PARQUET_MAGIC: &[u8] = b"PAR1";
/// How a file of Arrow IPC begins; two zeros follow.
pub(super) const ARROW_MAGIC: &[u8] = b"ARROW1\0\0";
/// How a message of Arrow IPC begins, and so a stream of them.
pub(super) const ARROW_CONTINUATION: [u8; 4] = [0xFF; 4];

/// Whether a file or a stream begins as Arrow IPC does.
pub(super) fn is_arrow(head: &[u8]) -> bool {
    head.starts_with(ARROW_MAGIC) || head.starts_with(&ARROW_CONTINUATION)
}

/// Refuses a table where a list of nodes is expected.
pub(super) fn refuse_as_nodes(path: &Path, input: &mut Input) -> Result<()> {
    let (head, _) = input.peek(ARROW_MAGIC.len())?;
    if !head.starts_with(PARQUET_MAGIC) && !is_arrow(head) {
        return Ok(());
    }
    Err(bad_input(path, "is a table, but a list of nodes is text")
        .hint(format_args!("write its column of nodes as lines, and give that to {NODES}")))
}

/// What a stream of the caller is called in messages.
pub(super) const STREAM_NAME: &str = "the table";

/// What there is for decoding.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecodeRoom {
    /// Most threads.
    pub(super) workers: usize,
    /// Memory for more than one of them.
    pub(super) bytes: u64,
}

/// What takes chunks; `false` if nobody wants more.
pub(super) trait Taker {
    /// Takes the next.
    fn take(&mut self, chunk: ParsedChunk) -> bool;
    /// A chunk to be filled.
    fn spare(&mut self) -> ParsedChunk;
}

/// Most rows of a chunk, by the size of one of text: what is made of them is as much as of a chunk of text that is four
/// times its size.
pub(super) const ROW_BYTES: usize = 80;
/// Chunks of a sample.
pub(super) const SAMPLED_CHUNK_BYTES: usize = 256 << 10;

/// Counts chunks and lets them go, until they have rows enough, or as much text as a sample may have.
pub(super) struct SampleTaker<'a> {
    count: &'a mut (dyn FnMut(&ParsedChunk) + Send),
    rows_left: u64,
    bytes_left: u64,
    spare: ParsedChunk,
}

impl<'a> SampleTaker<'a> {
    /// A sample of about `rows`, with at most about `bytes` of text.
    pub(super) fn new(
        rows: u64,
        bytes: u64,
        count: &'a mut (dyn FnMut(&ParsedChunk) + Send),
    ) -> Self {
        Self { count, rows_left: rows, bytes_left: bytes, spare: ParsedChunk::default() }
    }
}

impl Taker for SampleTaker<'_> {
    fn take(&mut self, chunk: ParsedChunk) -> bool {
        (self.count)(&chunk);
        self.rows_left = self.rows_left.saturating_sub(chunk.lines);
        self.bytes_left = self.bytes_left.saturating_sub(chunk.text.len() as u64);
        self.spare = chunk;
        self.rows_left > 0 && self.bytes_left > 0
    }

    fn spare(&mut self) -> ParsedChunk {
        std::mem::take(&mut self.spare)
    }
}
