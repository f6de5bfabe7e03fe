//! Arrow IPC, message by message, from files and streams alike: a file is a stream after a few bytes.
//!
//! Lengths are checked before memory is allocated for them; the library `arrow-ipc` decodes the contents. Format:
//! <https://arrow.apache.org/docs/format/Columnar.html>.

use super::{TableReader, TableRows, caught, damaged};
use crate::decompress::Input;
use crate::fault::bad_input;
use crate::sink::{ARROW_CONTINUATION as CONTINUATION, ARROW_MAGIC as MAGIC, Progress, Sink};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Message, MessageHeader, root_as_message};
use arrow_schema::{DataType, Schema, SchemaRef};
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::units::{format_bytes, size_to_type};
use outcore_io::{Files, Mode, StoredFile};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes within which the first message begins: writers align it to 8 or 64.
const HEAD_BYTES: usize = 64 + 8;
/// Bytes first searched for the end of a schema without a length.
const SCHEMA_BYTES: usize = 64 << 10;
/// Maximum size of the metadata of a message.
const DESCRIPTION_LIMIT: usize = 64 << 20;
/// Maximum size of a message of a stream, whose messages cannot be examined beforehand.
const MESSAGE_LIMIT: u64 = 64 << 20;
/// Maximum number of unpacked bytes per byte of zstd: a block of 128 KiB of one byte takes four bytes.
const PACKED_MOST: u64 = 64 << 10;
/// Stands for a false length: more than any machine has.
const NOBODY_HAS: u64 = 1 << 50;
/// Number of messages of a stream in a file that are examined beforehand.
const LOOKED_AT: usize = 64;

/// Beginning of a file or a stream.
pub(super) struct Beginning {
    /// Position of the metadata of the schema.
    schema: Range<usize>,
    /// Start of the next message.
    next: usize,
    /// Whether it is a file, which has a mark after its last message; streams may just end.
    is_file: bool,
}

impl Beginning {
    /// Finds the schema, without consuming anything.
    pub(super) fn peek(input: &mut Input, path: &Path) -> Result<Self> {
        let head = input.peek(HEAD_BYTES)?.0;
        // More bytes may have been buffered before.
        let head = &head[..head.len().min(HEAD_BYTES)];
        let is_file = head.starts_with(MAGIC);
        // In a file, the first message comes after zeros.
        let places = if is_file { MAGIC.len()..head.len() } else { 0..1 };
        let at = places.step_by(8).find(|&at| head[at..].starts_with(&CONTINUATION));
        let Some(at) = at else { return Self::without_prefix(input, path) };
        let prefix = head.get(at..at + 8).ok_or_else(|| damaged(path, "it ends too early"))?;
        let bytes = description_bytes(prefix).ok_or_else(|| damaged(path, "it has no schema"))?;
        let next = at + 8 + bytes;
        if input.peek(next)?.0.len() < next {
            return Err(damaged(path, "it ends too early"));
        }
        Ok(Self { schema: at + 8..next, next, is_file })
    }

    /// Handles files written by polars: the schema has no length before it, so it ends where the next message begins.
    fn without_prefix(input: &mut Input, path: &Path) -> Result<Self> {
        let mut wanted = SCHEMA_BYTES;
        loop {
            let (head, is_whole) = input.peek(wanted)?;
            let mut places = (MAGIC.len() + 8..head.len()).step_by(8);
            if let Some(next) = places.find(|&at| begins_batch(&head[at..])) {
                return Ok(Self { schema: MAGIC.len()..next, next, is_file: true });
            }
            if is_whole || wanted >= DESCRIPTION_LIMIT {
                return Err(damaged(path, "it has no schema"));
            }
            wanted *= 4;
        }
    }

    /// Returns the schema of an input of which nothing has been read.
    pub(super) fn schema(&self, input: &mut Input, path: &Path) -> Result<Schema> {
        let (head, _) = input.peek(self.next)?;
        schema_of(&head[self.schema.clone()], path)
    }
}

/// Returns whether these bytes begin with a message other than a schema, or with the end mark.
fn begins_batch(bytes: &[u8]) -> bool {
    let Some(length) = description_bytes(bytes) else { return false };
    let message = bytes.get(8..8 + length).filter(|bytes| !bytes.is_empty());
    let message = message.and_then(|bytes| root_as_message(bytes).ok());
    let is_batch =
        |kind| matches!(kind, MessageHeader::RecordBatch | MessageHeader::DictionaryBatch);
    length == 0 || message.is_some_and(|message| is_batch(message.header_type()))
}

fn schema_of(description: &[u8], path: &Path) -> Result<Schema> {
    caught(path, || {
        let message = root_as_message(description).map_err(|error| damaged(path, error))?;
        let schema = message.header_as_schema().ok_or_else(|| damaged(path, "it has no schema"))?;
        arrow_ipc::convert::try_fb_to_schema(schema).map_err(|error| damaged(path, error))
    })
}

/// Returns the length of a message's metadata, if `prefix` begins a message; 0 for the end mark.
fn description_bytes(prefix: &[u8]) -> Option<usize> {
    let bytes = prefix.strip_prefix(&CONTINUATION)?;
    let bytes = i32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    usize::try_from(bytes).ok().filter(|&bytes| bytes <= DESCRIPTION_LIMIT)
}

/// Rows of a file or a stream.
pub(super) struct IpcTable {
    /// Memory that its messages may take.
    held_bytes: u64,
}

impl IpcTable {
    pub(super) fn of(
        files: &Files,
        path: &Path,
        input: &Input,
        beginning: &Beginning,
    ) -> Result<Self> {
        let is_examined = files.is_regular(path) && !input.is_compressed();
        let held_bytes = match is_examined {
            true => largest_message(files, path, beginning)?.max(1 << 20),
            false => MESSAGE_LIMIT,
        };
        Ok(Self { held_bytes })
    }
}

impl TableRows for IpcTable {
    fn name(&self) -> &'static str {
        "Arrow IPC"
    }

    fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    fn schema(&self, _: &Files, path: &Path, input: &mut Input) -> Result<Option<SchemaRef>> {
        Ok(Some(Beginning::peek(input, path)?.schema(input, path)?.into()))
    }

    fn read(&self, reader: &TableReader<'_>, input: Option<Input>, sink: Sink<'_>) -> Progress {
        let mut batches = IpcReader::new(reader, input, self.held_bytes)?;
        reader.read_batches(|| batches.next(), sink)
    }
}

/// Returns the maximum memory to decode a file: dictionaries are kept, and a message is held both as stored and
/// unpacked. Uses the footer of the file and the first messages.
fn largest_message(files: &Files, path: &Path, beginning: &Beginning) -> Result<u64> {
    let mut scan = Scan::open(files, path)?;
    let (dictionaries, largest) = scan.first_messages(beginning.next as u64)?;
    let (of_all_dictionaries, of_all) = scan.all_messages()?.unwrap_or((0, 0));
    let largest = largest.max(of_all).saturating_mul(2);
    Ok(dictionaries.max(of_all_dictionaries).saturating_add(largest).min(NOBODY_HAS))
}

/// Examination of the messages of a file.
struct Scan {
    file: StoredFile,
    bytes: u64,
    /// Maximum ratio of unpacked to stored bytes.
    ratio: f64,
}

impl Scan {
    fn open(files: &Files, path: &Path) -> Result<Self> {
        let file = files.open(path, Mode::Read)?;
        let bytes = file.bytes()?;
        Ok(Self { file, bytes, ratio: 1.0 })
    }

    fn read(&self, at: u64, bytes: usize) -> Result<Vec<u8>> {
        let mut into = vec![0; bytes];
        let found = self.file.read_at(at, &mut into)?;
        into.truncate(found);
        Ok(into)
    }

    /// Returns the bytes of dictionaries, and of the largest batch, among the first messages from `at` on.
    fn first_messages(&mut self, mut at: u64) -> Result<(u64, u64)> {
        let (mut dictionaries, mut largest) = (0, 0);
        for _ in 0..LOOKED_AT {
            let prefix = self.read(at, 8)?;
            let Some(bytes) = description_bytes(&prefix).filter(|&bytes| bytes > 0) else { break };
            let description = self.read(at + 8, bytes)?;
            // Errors in it are reported when it is read.
            let Ok(message) = root_as_message(&description) else { break };
            let (body_at, body) = (at + 8 + bytes as u64, message.bodyLength().max(0) as u64);
            if body_at.saturating_add(body) > self.bytes {
                break;
            }
            let unpacked = self.unpacked(&message, body_at)?;
            if body > 0 {
                self.ratio = self.ratio.max(unpacked as f64 / body as f64);
            }
            match message.header_type() {
                MessageHeader::DictionaryBatch => {
                    dictionaries = unpacked.saturating_add(body).saturating_add(dictionaries);
                }
                _ => largest = largest.max(unpacked.max(body)),
            }
            at = body_at + body;
        }
        Ok((dictionaries, largest))
    }

    /// Returns the unpacked size of a message in bytes.
    fn unpacked(&self, message: &Message<'_>, body_at: u64) -> Result<u64> {
        let mut sum = 0u64;
        for (offset, length) in packed_buffers(message) {
            if offset > self.bytes {
                // The message is refused when it is read.
                continue;
            }
            if let Some(prefix) = self.read(body_at + offset, length.min(8) as usize)?.first_chunk()
            {
                // A length beyond any compression is wrong, and refused when the message is read.
                let most = length.saturating_mul(PACKED_MOST).saturating_add(PACKED_MOST);
                sum = sum.saturating_add(unpacked_bytes(*prefix, length).min(most));
            }
        }
        Ok(sum)
    }

    /// Returns the footer of a file, which lists all messages; `None` if there is none.
    fn footer(&self) -> Result<Option<Vec<u8>>> {
        let end = self.read(self.bytes.saturating_sub(10), 10)?;
        if end.len() < 10 || end[4..] != MAGIC[..6] {
            return Ok(None);
        }
        let bytes = u32::from_le_bytes([end[0], end[1], end[2], end[3]]) as usize;
        if bytes > DESCRIPTION_LIMIT || bytes as u64 + 10 > self.bytes {
            return Ok(None);
        }
        self.read(self.bytes - 10 - bytes as u64, bytes).map(Some)
    }

    /// Like [`Scan::first_messages`], for all messages in the footer, assuming the packing ratio of the first ones.
    fn all_messages(&self) -> Result<Option<(u64, u64)>> {
        let Some(footer) = self.footer()? else { return Ok(None) };
        let Ok(footer) = arrow_ipc::root_as_footer(&footer) else { return Ok(None) };
        let body = |block: &arrow_ipc::Block| {
            (block.bodyLength().max(0) as u64).min(self.bytes) as f64 * self.ratio
        };
        let dictionaries = footer.dictionaries().map_or(0.0, |all| all.iter().map(body).sum());
        let largest =
            footer.recordBatches().map_or(0.0, |all| all.iter().map(body).fold(0.0, f64::max));
        Ok(Some((dictionaries as u64, largest as u64)))
    }

    /// Returns the starts of the dictionaries of a file, if some come after rows, as in files written by polars.
    fn late_dictionaries(&self) -> Result<Vec<u64>> {
        let Some(footer) = self.footer()? else { return Ok(Vec::new()) };
        let Ok(footer) = arrow_ipc::root_as_footer(&footer) else { return Ok(Vec::new()) };
        let place = |block: &arrow_ipc::Block| block.offset().max(0) as u64;
        let dictionaries: Vec<u64> =
            footer.dictionaries().into_iter().flatten().map(place).collect();
        let rows = footer.recordBatches().into_iter().flatten().map(place).min();
        let is_late = rows.is_some_and(|rows| dictionaries.iter().any(|&at| at > rows));
        Ok(if is_late { dictionaries } else { Vec::new() })
    }
}

/// Returns the offsets and lengths of a message's buffers, as it declares them, if they are compressed.
fn packed_buffers(message: &Message<'_>) -> Vec<(u64, u64)> {
    let batch = message
        .header_as_record_batch()
        .or_else(|| message.header_as_dictionary_batch().and_then(|batch| batch.data()));
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else {
        return Vec::new();
    };
    let buffers = batch.buffers().into_iter().flatten();
    buffers.map(|buffer| (buffer.offset().max(0) as u64, buffer.length().max(0) as u64)).collect()
}

/// Returns the unpacked length that a buffer declares; -1 means that it is not packed.
fn unpacked_bytes(prefix: [u8; 8], length: u64) -> u64 {
    u64::try_from(i64::from_le_bytes(prefix)).unwrap_or(length)
}

struct IpcReader {
    input: Input,
    path: PathBuf,
    schema: SchemaRef,
    projection: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    limit: u64,
    /// Whether it is a file, which has a mark after its last message; streams may just end.
    is_file: bool,
    /// Whether the dictionaries were read before everything else.
    has_dictionaries: bool,
}

impl IpcReader {
    /// Reads the beginning; messages may take `limit` bytes of memory.
    fn new(table: &TableReader<'_>, input: Option<Input>, limit: u64) -> Result<Self> {
        let (files, path) = (table.task.files, table.task.path);
        let mut input = table.task.opened(input)?;
        let beginning = Beginning::peek(&mut input, path)?;
        let schema = SchemaRef::new(beginning.schema(&mut input, path)?);
        let mut reader = Self {
            input,
            path: path.to_path_buf(),
            schema,
            projection: table.projection.clone(),
            dictionaries: HashMap::new(),
            limit,
            is_file: beginning.is_file,
            has_dictionaries: false,
        };
        reader.read(beginning.next)?;
        if reader.is_file && files.is_regular(path) && !reader.input.is_compressed() {
            reader.read_late_dictionaries(files)?;
        }
        Ok(reader)
    }

    /// Reads the dictionaries, if rows come before them.
    fn read_late_dictionaries(&mut self, files: &Files) -> Result<()> {
        let scan = Scan::open(files, &self.path)?;
        for at in scan.late_dictionaries()? {
            let early = || damaged(&self.path, "it ends too early");
            let bytes = description_bytes(&scan.read(at, 8)?).ok_or_else(early)?;
            let description = scan.read(at + 8, bytes)?;
            let path = self.path.clone();
            let message = root_as_message(&description).map_err(|error| damaged(&path, error))?;
            let length = self.body_bytes(&message)?;
            let body = scan.read(at + 8 + bytes as u64, length)?;
            if body.len() < length {
                return Err(early());
            }
            self.decode(&message, body)?;
            self.has_dictionaries = true;
        }
        Ok(())
    }

    /// Returns the length of a message's body, if it is within the memory limit.
    fn body_bytes(&self, message: &Message<'_>) -> Result<usize> {
        let body = u64::try_from(message.bodyLength());
        let body = body.map_err(|_| damaged(&self.path, "a message has a negative length"))?;
        self.check_bytes(body)?;
        Ok(body as usize)
    }

    /// Decodes a message: rows, or a dictionary, which is stored.
    fn decode(&mut self, message: &Message<'_>, body: Vec<u8>) -> Result<Option<RecordBatch>> {
        let mut unpacked = 0u64;
        for (offset, length) in packed_buffers(message) {
            let prefix = body.get(offset as usize..).and_then(|bytes| bytes.first_chunk());
            unpacked = unpacked.saturating_add(prefix.map_or(0, |&p| unpacked_bytes(p, length)));
        }
        self.check_bytes(unpacked)?;
        let body = body.into();
        let version = message.version();
        let (schema, dictionaries) = (&self.schema, &mut self.dictionaries);
        let (path, projection) = (&self.path, Some(self.projection.as_slice()));
        caught(path, || {
            if let Some(batch) = message.header_as_dictionary_batch() {
                read_dictionary(&body, batch, schema, dictionaries, &version)
                    .map_err(|error| damaged(path, error))?;
                return Ok(None);
            }
            let batch = message
                .header_as_record_batch()
                .ok_or_else(|| damaged(path, "a message is not a batch"))?;
            read_record_batch(&body, batch, schema.clone(), dictionaries, projection, &version)
                .map(Some)
                .map_err(|error| damaged(path, error))
        })
    }

    /// Returns whether rows need a dictionary that was not read.
    fn lacks_dictionaries(&self) -> bool {
        let is_dictionary =
            |&at: &usize| matches!(self.schema.field(at).data_type(), DataType::Dictionary(..));
        self.dictionaries.is_empty() && self.projection.iter().any(is_dictionary)
    }

    /// Reads exactly `bytes` bytes, which were planned for; it is an error if there are fewer.
    fn read(&mut self, bytes: usize) -> Result<Vec<u8>> {
        let mut into = vec![0; bytes];
        match self.input.fill(&mut into)? == bytes {
            true => Ok(into),
            false => Err(damaged(&self.path, "it ends too early")),
        }
    }

    /// Reads the metadata of the next message, if there is one.
    fn read_description(&mut self) -> Result<Option<Vec<u8>>> {
        let mut prefix = [0; 8];
        match self.input.fill(&mut prefix)? {
            8 => {}
            0 if !self.is_file => return Ok(None),
            _ => return Err(damaged(&self.path, "it ends too early")),
        }
        let Some(bytes) = description_bytes(&prefix) else {
            return Err(damaged(&self.path, "no message begins where one is expected"));
        };
        let description = self.read(bytes)?;
        Ok((bytes > 0).then_some(description))
    }

    /// Refuses a message that would exceed the memory limit.
    fn check_bytes(&self, bytes: u64) -> Result<()> {
        if bytes <= self.limit {
            return Ok(());
        }
        let path = self.path.display();
        let (bytes, limit) = (format_bytes(bytes), size_to_type(self.limit));
        let message = format!("`{path}` has a batch of {bytes}, more than the expected {limit}");
        Err(Error::new(ErrorKind::BadInput, message)
            .hint("write it with smaller batches, as a file rather than a stream, or as Parquet"))
    }

    /// Returns the next rows, and the bytes of the file that were used.
    fn next(&mut self) -> Result<Option<(RecordBatch, u64)>> {
        while let Some(description) = self.read_description()? {
            let path = self.path.clone();
            let message = root_as_message(&description).map_err(|error| damaged(&path, error))?;
            let is_dictionary = message.header_type() == MessageHeader::DictionaryBatch;
            if self.is_file && !is_dictionary && self.lacks_dictionaries() {
                let message = "has dictionaries after its rows, so it cannot be read in one pass";
                return Err(
                    bad_input(&path, message).hint("write it to a file, or unpack it, first")
                );
            }
            let length = self.body_bytes(&message)?;
            let body = self.read(length)?;
            let is_known = self.has_dictionaries && is_dictionary;
            let batch = if is_known { None } else { self.decode(&message, body)? };
            if let Some(batch) = batch {
                return Ok(Some((batch, self.input.consumed())));
            }
        }
        Ok(None)
    }
}
