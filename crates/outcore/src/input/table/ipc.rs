//! Arrow IPC, message by message, from files and streams alike: a file is a stream behind a few bytes.
//!
//! Lengths are checked before anything is allocated for them; what they are of, the library decodes
//! (`arrow-ipc`). Format: <https://arrow.apache.org/docs/format/Columnar.html>.

use super::super::decompress::Input;
use super::super::taker::{ARROW_CONTINUATION as CONTINUATION, ARROW_MAGIC as MAGIC};
use super::{Batches, caught, damaged};
use crate::error::{Error, ErrorKind, Result};
use crate::io::{Files, Mode, StoredFile};
use crate::units::{format_bytes, size_to_type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Message, MessageHeader, root_as_message};
use arrow_schema::{Schema, SchemaRef};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Bytes within which the first message begins: writers align it to 8 or 64.
const HEAD_BYTES: usize = 64 + 8;
/// Most bytes of the description of a message.
const DESCRIPTION_LIMIT: usize = 64 << 20;
/// Most bytes of a message of a stream, for nobody can look at its messages beforehand.
pub(super) const MESSAGE_LIMIT: u64 = 64 << 20;
/// More than any memory, for lengths that are lies.
const NOBODY_HAS: u64 = 1 << 50;
/// Messages of a stream in a file that are looked at beforehand.
const LOOKED_AT: usize = 64;

/// Where the first message is, for the first [`HEAD_BYTES`]: a file's comes after zeros.
fn start(head: &[u8]) -> usize {
    if !head.starts_with(MAGIC) {
        return 0;
    }
    let mut places = (MAGIC.len()..head.len()).step_by(8);
    places.find(|&at| head[at..].starts_with(&CONTINUATION)).unwrap_or(MAGIC.len())
}

/// The schema, without reading anything.
pub(super) fn peek_schema(input: &mut Input, path: &Path) -> Result<Schema> {
    let (head, _) = input.peek(HEAD_BYTES)?;
    let at = start(head);
    let prefix = head.get(at..at + 8).ok_or_else(|| damaged(path, "it ends too early"))?;
    let bytes = description_bytes(prefix).ok_or_else(|| damaged(path, "it has no schema"))?;
    let (head, _) = input.peek(at + 8 + bytes)?;
    let description =
        head.get(at + 8..at + 8 + bytes).ok_or_else(|| damaged(path, "it ends too early"))?;
    schema_of(description, path)
}

fn schema_of(description: &[u8], path: &Path) -> Result<Schema> {
    caught(path, || {
        let message = root_as_message(description).map_err(|error| damaged(path, error))?;
        let schema = message.header_as_schema().ok_or_else(|| damaged(path, "it has no schema"))?;
        arrow_ipc::convert::try_fb_to_schema(schema).map_err(|error| damaged(path, error))
    })
}

/// Length of a message's description, if `prefix` is how one begins. 0 at the end of all.
fn description_bytes(prefix: &[u8]) -> Option<usize> {
    let bytes = prefix.strip_prefix(&CONTINUATION)?;
    let bytes = i32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    usize::try_from(bytes).ok().filter(|&bytes| bytes <= DESCRIPTION_LIMIT)
}

/// The most memory that decoding a file needs: dictionaries stay, a message is held as it is stored and as
/// it is unpacked. As the end of the file says, or else the first messages.
pub(super) fn largest_message(files: &Files, path: &Path) -> Result<u64> {
    let mut scan = Scan::open(files, path)?;
    let (dictionaries, largest) = scan.first_messages()?;
    let (of_all_dictionaries, of_all) = scan.footer()?.unwrap_or((0, 0));
    let largest = largest.max(of_all).saturating_mul(2);
    Ok(dictionaries.max(of_all_dictionaries).saturating_add(largest).min(NOBODY_HAS))
}

/// A look at the messages of a file.
struct Scan {
    file: StoredFile,
    bytes: u64,
    /// Unpacked bytes for each that is stored, at most.
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

    /// Bytes of dictionaries, and of the largest batch, among the first messages.
    fn first_messages(&mut self) -> Result<(u64, u64)> {
        let mut at = start(&self.read(0, HEAD_BYTES)?) as u64;
        let (mut dictionaries, mut largest) = (0, 0);
        for _ in 0..LOOKED_AT {
            let prefix = self.read(at, 8)?;
            let Some(bytes) = description_bytes(&prefix).filter(|&bytes| bytes > 0) else { break };
            let description = self.read(at + 8, bytes)?;
            // What is wrong with it is told where it is read.
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

    /// Bytes of a message when it is unpacked.
    fn unpacked(&self, message: &Message<'_>, body_at: u64) -> Result<u64> {
        let mut sum = 0u64;
        for (offset, length) in packed_buffers(message) {
            if offset > self.bytes {
                // It is refused where it is read.
                continue;
            }
            if let Some(prefix) = self.read(body_at + offset, length.min(8) as usize)?.first_chunk()
            {
                sum = sum.saturating_add(unpacked_bytes(*prefix, length));
            }
        }
        Ok(sum)
    }

    /// The same of all messages, as the end of a file tells; unpacked as the first ones were.
    fn footer(&self) -> Result<Option<(u64, u64)>> {
        let end = self.read(self.bytes.saturating_sub(10), 10)?;
        if end.len() < 10 || end[4..] != MAGIC[..6] {
            return Ok(None);
        }
        let bytes = u32::from_le_bytes([end[0], end[1], end[2], end[3]]) as usize;
        if bytes > DESCRIPTION_LIMIT || bytes as u64 + 10 > self.bytes {
            return Ok(None);
        }
        let footer = self.read(self.bytes - 10 - bytes as u64, bytes)?;
        let Ok(footer) = arrow_ipc::root_as_footer(&footer) else { return Ok(None) };
        let body = |block: &arrow_ipc::Block| {
            (block.bodyLength().max(0) as u64).min(self.bytes) as f64 * self.ratio
        };
        let dictionaries = footer.dictionaries().map_or(0.0, |all| all.iter().map(body).sum());
        let largest =
            footer.recordBatches().map_or(0.0, |all| all.iter().map(body).fold(0.0, f64::max));
        Ok(Some((dictionaries as u64, largest as u64)))
    }
}

/// Where the buffers of a message are, if they are compressed; as it says.
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

/// What a buffer says of its unpacked length; -1 means that it is not packed.
fn unpacked_bytes(prefix: [u8; 8], length: u64) -> u64 {
    u64::try_from(i64::from_le_bytes(prefix)).unwrap_or(length)
}

/// Reads batches.
pub(super) struct IpcReader {
    input: Input,
    path: PathBuf,
    schema: SchemaRef,
    projection: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    description: Vec<u8>,
    limit: u64,
    /// Whether it is a file, whose last message is followed by a mark; streams may just end.
    is_file: bool,
}

impl IpcReader {
    /// Reads the beginning; messages may take `limit` bytes of memory.
    pub(super) fn new(
        mut input: Input,
        path: &Path,
        projection: Vec<usize>,
        limit: u64,
    ) -> Result<Self> {
        let start = start(input.peek(HEAD_BYTES)?.0);
        let mut reader = Self {
            input,
            path: path.to_path_buf(),
            schema: SchemaRef::new(Schema::empty()),
            projection,
            dictionaries: HashMap::new(),
            description: Vec::new(),
            limit,
            is_file: start > 0,
        };
        reader.read(start)?;
        if !reader.read_description()? {
            return Err(damaged(path, "it has no schema"));
        }
        reader.schema = SchemaRef::new(schema_of(&reader.description, path)?);
        Ok(reader)
    }

    /// Reads exactly so many bytes, of which there may be fewer: that many were planned for.
    fn read(&mut self, bytes: usize) -> Result<Vec<u8>> {
        let (mut into, mut at) = (vec![0; bytes], 0);
        while at < bytes {
            match self.input.read(&mut into[at..])? {
                0 => return Err(damaged(&self.path, "it ends too early")),
                count => at += count,
            }
        }
        Ok(into)
    }

    /// Reads the description of the next message; `false` if there is none.
    fn read_description(&mut self) -> Result<bool> {
        let mut prefix = [0; 8];
        let mut filled = 0;
        while filled < prefix.len() {
            match self.input.read(&mut prefix[filled..])? {
                0 if filled == 0 && !self.is_file => return Ok(false),
                0 => return Err(damaged(&self.path, "it ends too early")),
                count => filled += count,
            }
        }
        let Some(bytes) = description_bytes(&prefix) else {
            return Err(damaged(&self.path, "no message begins where one should"));
        };
        self.description = self.read(bytes)?;
        Ok(bytes > 0)
    }

    /// Refuses a message that would take more memory than is there for it.
    fn check_bytes(&self, bytes: u64) -> Result<()> {
        if bytes <= self.limit {
            return Ok(());
        }
        let path = self.path.display();
        let (bytes, limit) = (format_bytes(bytes), size_to_type(self.limit));
        let message = format!("`{path}` has a batch of {bytes}, more than {limit} as is expected");
        Err(Error::new(ErrorKind::BadInput, message)
            .hint("write it with smaller batches, as a file rather than a stream, or as Parquet"))
    }
}

impl Batches for IpcReader {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        while self.read_description()? {
            let description = std::mem::take(&mut self.description);
            let path = self.path.clone();
            let message = root_as_message(&description).map_err(|error| damaged(&path, error))?;
            let body = u64::try_from(message.bodyLength());
            let body = body.map_err(|_| damaged(&path, "a message has a negative length"))?;
            self.check_bytes(body)?;
            let body = self.read(body as usize)?;
            let mut unpacked = 0u64;
            for (offset, length) in packed_buffers(&message) {
                let prefix = body.get(offset as usize..).and_then(|bytes| bytes.first_chunk());
                unpacked =
                    unpacked.saturating_add(prefix.map_or(0, |&p| unpacked_bytes(p, length)));
            }
            self.check_bytes(unpacked)?;
            let body = body.into();
            let version = message.version();
            let (schema, dictionaries) = (&self.schema, &mut self.dictionaries);
            let batch = caught(&path, || {
                if let Some(batch) = message.header_as_dictionary_batch() {
                    read_dictionary(&body, batch, schema, dictionaries, &version)
                        .map_err(|error| damaged(&path, error))?;
                    return Ok(None);
                }
                let batch = message
                    .header_as_record_batch()
                    .ok_or_else(|| damaged(&path, "a message is no batch"))?;
                let projection = Some(self.projection.as_slice());
                read_record_batch(&body, batch, schema.clone(), dictionaries, projection, &version)
                    .map(Some)
                    .map_err(|error| damaged(&path, error))
            })?;
            if batch.is_some() {
                return Ok(batch);
            }
        }
        Ok(None)
    }

    fn consumed(&self) -> u64 {
        self.input.consumed()
    }
}
