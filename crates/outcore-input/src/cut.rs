//! Text of a file, cut at line ends, ahead of the parsers.
//!
//! A chunk has at most `chunk_bytes` of text, or one longer line, and at most one line per 16 bytes of `chunk_bytes`,
//! which bounds the size of its parsed form. Buffers are recycled.

use crate::chunk::{Origin, PADDING, ParsedChunk};
use crate::decompress::Input;
use crate::options::{BYTES_PER_LINE, LINE_LIMIT};
use crate::sink::{Progress, Sink};
use crate::source::ReadTask;

/// Reader of the lines of a file.
pub(crate) struct LineCutter<'a> {
    pub(crate) task: &'a ReadTask<'a>,
    pub(crate) input: Input,
    pub(crate) sink: Sink<'a>,
}

impl LineCutter<'_> {
    /// Reads the file to its end; returns its bytes, as stored.
    pub(crate) fn read(mut self) -> Progress<u64> {
        self.go_to(self.task.begin)?;
        let chunk_bytes = self.task.chunk_bytes;
        let mut origin = self.task.begin;
        let mut buffer = self.buffer(0);
        let mut used = 0;
        let mut limit = chunk_bytes;
        let mut outcome = None;
        loop {
            grow(&mut buffer, limit);
            while used < limit && outcome.is_none() {
                match self.input.read(&mut buffer[used..limit]) {
                    Ok(0) => outcome = Some(Ok(())),
                    Ok(count) => used += count,
                    Err(error) => outcome = Some(Err(error)),
                }
            }
            if matches!(outcome, Some(Ok(()))) && used > 0 && buffer[used - 1] != b'\n' {
                buffer[used] = b'\n';
                used += 1;
            }
            let Some(end) = memchr::memrchr(b'\n', &buffer[..used]).map(|at| at + 1) else {
                if let Some(outcome) = outcome {
                    outcome?;
                    return Ok(self.input.consumed());
                }
                if used < LINE_LIMIT {
                    limit = (limit * 2).min(chunk_bytes.max(LINE_LIMIT));
                    continue;
                }
                self.skip_line(&mut origin, &mut buffer, &mut used)?;
                limit = chunk_bytes.max(used);
                continue;
            };
            let (end, lines) = self.cut(&buffer[..end]);
            let mut next = self.buffer(used - end);
            next[..used - end].copy_from_slice(&buffer[end..used]);
            let text = std::mem::replace(&mut buffer, next);
            let next =
                Origin { byte: origin.byte + end as u64, line: origin.line + lines, ..origin };
            let chunk =
                ParsedChunk { used: end, origin, next: Some(next), lines, ..Default::default() };
            self.send(text, chunk)?;
            origin = next;
            used -= end;
            limit = chunk_bytes.max(used);
        }
    }

    /// Moves to `place`, the start of the next text to read. Sends empty chunks on the way, to report progress to the
    /// caller.
    fn go_to(&mut self, place: Origin) -> Progress {
        let mut left = self.input.go_to(self.task.files, place.byte)?;
        while left > 0 {
            let mut text = self.buffer(0);
            let mut room = self.task.chunk_bytes;
            while left > 0 && room > 0 {
                let most = (room as u64).min(left) as usize;
                match self.input.read(&mut text[..most])? {
                    // The line end of the last line may have been missing.
                    0 => left = 0,
                    count => (left, room) = (left - count as u64, room - count),
                }
            }
            self.send(text, ParsedChunk { origin: place, ..Default::default() })?;
        }
        Ok(())
    }

    fn send(&mut self, text: Vec<u8>, mut chunk: ParsedChunk) -> Progress {
        (chunk.edges.text, chunk.edges.has_lines) = (text, true);
        chunk.done_bytes = self.task.done_bytes + self.input.consumed();
        self.sink.take(chunk)
    }

    /// Returns where to cut the complete lines, so that a chunk has few enough of them: the end, and the number of
    /// lines.
    fn cut(&self, text: &[u8]) -> (usize, u64) {
        let most = self.task.chunk_bytes.div_ceil(BYTES_PER_LINE);
        let lines = memchr::memchr_iter(b'\n', text).count();
        if lines <= most {
            return (text.len(), lines as u64);
        }
        let last = memchr::memchr_iter(b'\n', text).nth(most - 1);
        (last.map_or(text.len(), |at| at + 1), most as u64)
    }

    /// Sends the beginning of a line that is too long, for the parser to refuse, and drops the rest.
    fn skip_line(&mut self, origin: &mut Origin, buffer: &mut [u8], used: &mut usize) -> Progress {
        let mut text = self.buffer(*used);
        text[..*used].copy_from_slice(&buffer[..*used]);
        text[*used] = b'\n';
        let chunk =
            ParsedChunk { used: *used + 1, origin: *origin, lines: 1, ..Default::default() };
        self.send(text, chunk)?;
        origin.byte += *used as u64;
        origin.line += 1;
        loop {
            let count = self.input.read(&mut buffer[..self.task.chunk_bytes])?;
            if count == 0 {
                *used = 0;
                return Ok(());
            }
            if let Some(at) = memchr::memchr(b'\n', &buffer[..count]) {
                buffer.copy_within(at + 1..count, 0);
                *used = count - at - 1;
                origin.byte += at as u64 + 1;
                return Ok(());
            }
            origin.byte += count as u64;
        }
    }

    /// Returns a buffer for a chunk that begins with `carried` bytes.
    fn buffer(&mut self, carried: usize) -> Vec<u8> {
        let wanted = self.task.chunk_bytes.max(carried);
        let mut buffer = self.sink.spare().edges.text;
        if buffer.len() > 2 * (wanted + PADDING) {
            buffer = Vec::new();
        }
        grow(&mut buffer, wanted);
        buffer
    }
}

/// Makes room for `bytes`, a line end and the padding.
fn grow(buffer: &mut Vec<u8>, bytes: usize) {
    let wanted = bytes + 1 + PADDING;
    if buffer.len() < wanted {
        buffer.reserve_exact(wanted - buffer.len());
        buffer.resize(wanted, 0);
    }
}
