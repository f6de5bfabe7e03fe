//! Reading thread: reads the files in order, decompresses them and cuts them at line ends, ahead of the parsers.
//!
//! A chunk has at most `chunk_bytes` of text, or one longer line, and at most one line per 16 bytes of `chunk_bytes`,
//! which bounds the size of its parsed form. Buffers are recycled.

use super::chunk::{Origin, PADDING, ParsedChunk};
use super::decompress::Input;
use super::format::checks;
use super::lists::{ListFormat, ListPart, ListTask};
use super::open::{FileFormat, Form};
use super::options::{BYTES_PER_LINE, LINE_LIMIT};
use super::sink::{ChunkSink, Halt, Progress, ROW_BYTES};
use super::table::{TableFormat, TableStream, TableTask};
use super::text::set_kinds;
use super::{EdgeChunk, Fingerprint, NameRef, text};
use crossbeam_channel::{Receiver, Sender};
use outcore_io::Files;
use outcore_io::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Parses chunks in parallel.
pub(super) fn parse_all(
    chunks: &mut [ParsedChunk],
    formats: &[FileFormat],
    weighted: bool,
    stop: bool,
) {
    use rayon::prelude::*;
    chunks.par_iter_mut().for_each(|chunk| {
        let file = &formats[chunk.origin.file];
        let Form::Text(format) = &file.form else {
            return file.kinds().map_or((), |kinds| set_kinds(chunk, kinds));
        };
        let lines = chunk.lines as usize;
        let skipped = format.preamble_bytes.saturating_sub(chunk.origin.byte);
        let from = skipped.min(chunk.used as u64) as usize;
        chunk.edges.is_node_list = format.is_node_list;
        if format.is_node_list {
            chunk.edges.names.reserve_exact(lines);
            return text::parse_nodes(chunk, &format.layout, from, stop);
        }
        chunk.edges.names.reserve_exact(2 * lines);
        if weighted {
            chunk.edges.weights.reserve_exact(lines);
        }
        text::parse(chunk, &format.layout, from, stop);
        checks::check(chunk, format, stop);
        if let Some(kinds) = file.kinds() {
            set_kinds(chunk, kinds);
        }
    });
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
    pub(super) form: Form,
}

/// Nodes that a file numbers from 1, whether or not edges have them.
#[derive(Debug, Clone)]
pub(super) struct NumberedNodes {
    pub(super) count: u64,
    /// What their names begin with.
    pub(super) kind: String,
}

/// State of the reading thread.
pub(super) struct Reader {
    pub(super) files: Files,
    pub(super) chunk_bytes: usize,
    pub(super) workers: usize,
    pub(super) to_parsers: Sender<Message>,
    pub(super) recycled: Receiver<EdgeChunk>,
    /// Bytes of the files that were read to their end.
    pub(super) done_bytes: u64,
    /// Table that `-` stands for.
    pub(super) stream: Option<TableStream>,
    /// Whether reading ends at the first bad row of a table.
    pub(super) stop: bool,
}

impl Reader {
    /// Reads all files; the channel closes after [`Message::End`] or [`Message::Failed`].
    pub(super) fn run(mut self, tasks: Vec<Task>) {
        for task in tasks {
            match self.read(task) {
                Ok(()) => {}
                Err(Halt::Unwanted) => return,
                Err(Halt::Failed(error)) => {
                    // If this fails, nobody is receiving.
                    let _ = self.to_parsers.send(Message::Failed(error));
                    return;
                }
            }
        }
        let _ = self.to_parsers.send(Message::End(self.done_bytes));
    }

    fn read(&mut self, task: Task) -> Progress {
        let Task { begin, path, input, form } = task;
        match form {
            Form::Table(format) => self.read_table(format, begin, &path, input),
            Form::Lists(format) => self.read_lists(format, begin, &path, input),
            Form::Numbered(nodes) => self.number(&nodes, begin),
            Form::Text(_) | Form::Nothing => {
                let input = self.opened(&path, input)?;
                self.read_file(begin, input)
            }
        }
    }

    fn opened(&self, path: &Path, input: Option<Input>) -> Result<Input> {
        input.map_or_else(|| Input::open(&self.files, path, self.workers), Ok)
    }

    fn read_table(
        &mut self,
        format: TableFormat,
        begin: Origin,
        path: &Path,
        input: Option<Input>,
    ) -> Progress {
        let own = self.files.entry(path).map_or(0, |entry| entry.bytes);
        let table = TableTask {
            format,
            stop: self.stop,
            chunk_bytes: self.chunk_bytes,
            workers: self.workers,
            bytes: (self.done_bytes, own),
        };
        let (files, stream) = (self.files.clone(), self.stream.clone());
        let read = table.read(&files, path, input, begin, stream.as_ref(), self);
        self.done_bytes += own;
        read
    }

    fn read_lists(
        &mut self,
        format: ListFormat,
        begin: Origin,
        path: &Path,
        input: Option<Input>,
    ) -> Progress {
        let input = self.opened(path, input)?;
        let (chunk_bytes, done_bytes) = (self.chunk_bytes, self.done_bytes);
        let part = ListPart { file: begin.file, chunk_bytes, done_bytes, is_sample: false };
        let task = ListTask { format, part };
        let read = task.read(path, input, self)?;
        if !read.is_whole {
            return Err(Halt::Unwanted);
        }
        self.done_bytes += read.consumed;
        Ok(())
    }

    /// Sends the nodes of a matrix, as a list of nodes.
    fn number(&mut self, nodes: &NumberedNodes, begin: Origin) -> Progress {
        let most = (self.chunk_bytes / ROW_BYTES).max(1) as u64;
        let mut number = begin.byte;
        while number < nodes.count {
            let mut chunk = self.spare();
            chunk.edges.clear();
            let EdgeChunk { text, names, .. } = &mut chunk.edges;
            let end = (number + most).min(nodes.count);
            for node in number + 1..=end {
                let offset = text.len();
                text.extend_from_slice(nodes.kind.as_bytes());
                text.extend_from_slice(itoa::Buffer::new().format(node).as_bytes());
                let name = &text[offset..];
                let fingerprint = Fingerprint::of(name);
                names.push(NameRef {
                    fingerprint,
                    offset: offset as u32,
                    bytes: name.len() as u32,
                });
            }
            number = end;
            chunk.used = chunk.edges.text.len();
            (chunk.is_parsed, chunk.edges.is_node_list, chunk.lines) = (true, true, 0);
            (chunk.origin, chunk.done_bytes) = (begin, self.done_bytes);
            chunk.next = Some(Origin { byte: number, line: number + 1, ..begin });
            self.pass(chunk)?;
        }
        Ok(())
    }

    /// Moves to `place`, the start of the next text to read. Sends empty chunks on the way, to report progress to the
    /// caller.
    fn go_to(&self, place: Origin, input: &mut Input) -> Progress {
        let mut left = input.go_to(&self.files, place.byte)?;
        while left > 0 {
            let mut text = self.buffer(0);
            let mut room = self.chunk_bytes;
            while left > 0 && room > 0 {
                let most = (room as u64).min(left) as usize;
                match input.read(&mut text[..most])? {
                    // The line end of the last line may have been missing.
                    0 => left = 0,
                    count => (left, room) = (left - count as u64, room - count),
                }
            }
            let done_bytes = self.done_bytes + input.consumed();
            self.send(text, ParsedChunk { origin: place, done_bytes, ..Default::default() })?;
        }
        Ok(())
    }

    fn read_file(&mut self, begin: Origin, mut input: Input) -> Progress {
        self.go_to(begin, &mut input)?;
        let mut origin = begin;
        let mut buffer = self.buffer(0);
        let mut used = 0;
        let mut limit = self.chunk_bytes;
        let mut outcome = None;
        loop {
            grow(&mut buffer, limit);
            while used < limit && outcome.is_none() {
                match input.read(&mut buffer[used..limit]) {
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
                    self.done_bytes += input.consumed();
                    return outcome.map_err(Halt::Failed);
                }
                if used < LINE_LIMIT {
                    limit = (limit * 2).min(self.chunk_bytes.max(LINE_LIMIT));
                    continue;
                }
                self.skip_line(&mut origin, &mut buffer, &mut used, &mut input)?;
                limit = self.chunk_bytes.max(used);
                continue;
            };
            let (end, lines) = self.cut(&buffer[..end]);
            let mut next = self.buffer(used - end);
            next[..used - end].copy_from_slice(&buffer[end..used]);
            let text = std::mem::replace(&mut buffer, next);
            let done_bytes = self.done_bytes + input.consumed();
            let next =
                Origin { byte: origin.byte + end as u64, line: origin.line + lines, ..origin };
            let chunk = ParsedChunk {
                used: end,
                origin,
                next: Some(next),
                lines,
                done_bytes,
                ..Default::default()
            };
            self.send(text, chunk)?;
            origin = next;
            used -= end;
            limit = self.chunk_bytes.max(used);
        }
    }

    fn send(&self, text: Vec<u8>, mut chunk: ParsedChunk) -> Progress {
        chunk.edges.text = text;
        self.pass(chunk)
    }

    fn pass(&self, chunk: ParsedChunk) -> Progress {
        self.to_parsers.send(Message::Chunk(chunk)).map_err(|_| Halt::Unwanted)
    }

    /// Returns where to cut complete lines so that there are not too many: the end and the number of lines.
    fn cut(&self, text: &[u8]) -> (usize, u64) {
        let most = self.chunk_bytes.div_ceil(BYTES_PER_LINE);
        let lines = memchr::memchr_iter(b'\n', text).count();
        if lines <= most {
            return (text.len(), lines as u64);
        }
        let last = memchr::memchr_iter(b'\n', text).nth(most - 1);
        (last.map_or(text.len(), |at| at + 1), most as u64)
    }

    /// Sends the beginning of a line that is too long, for the parser to refuse, and drops the rest.
    fn skip_line(
        &self,
        origin: &mut Origin,
        buffer: &mut [u8],
        used: &mut usize,
        input: &mut Input,
    ) -> Progress {
        let mut text = self.buffer(*used);
        text[..*used].copy_from_slice(&buffer[..*used]);
        text[*used] = b'\n';
        let done_bytes = self.done_bytes + input.consumed();
        let mut chunk =
            ParsedChunk { used: *used + 1, origin: *origin, done_bytes, ..Default::default() };
        chunk.lines = 1;
        self.send(text, chunk)?;
        origin.byte += *used as u64;
        origin.line += 1;
        loop {
            let count = input.read(&mut buffer[..self.chunk_bytes])?;
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
    fn buffer(&self, carried: usize) -> Vec<u8> {
        let wanted = self.chunk_bytes.max(carried);
        let mut buffer = self.recycled.try_recv().map(|chunk| chunk.text).unwrap_or_default();
        if buffer.len() > 2 * (wanted + PADDING) {
            buffer = Vec::new();
        }
        grow(&mut buffer, wanted);
        buffer
    }
}

impl ChunkSink for Reader {
    fn take(&mut self, chunk: ParsedChunk) -> Progress {
        self.pass(chunk)
    }

    fn spare(&mut self) -> ParsedChunk {
        ParsedChunk { edges: self.recycled.try_recv().unwrap_or_default(), ..Default::default() }
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
