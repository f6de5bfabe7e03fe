//! Decompressed bytes of a file: plain, gzip of any number of members, BGZF, zstd, bzip2, xz.
//!
//! A plain file is read directly into the caller's buffer. Others are read 256 KiB at a time and inflated on the
//! reading thread; BGZF (`bgzip`), whose blocks declare their lengths, on several threads. Data that is damaged or ends
//! too early is an error with the compressed byte.

mod bgzf;
#[cfg(test)]
pub(super) mod samples;

use bgzf::BgzfReader;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::{Files, SMALL_BUFFER_BYTES};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes of text from one call of a decompressor.
const STAGE_BYTES: usize = 64 << 10;
/// Number of bytes that identify the format of a file.
const MAGIC_BYTES: usize = 64;

/// Progress of reading one file.
#[derive(Debug, Default)]
pub(super) struct Position {
    /// Bytes of the file that were used.
    consumed: AtomicU64,
    /// Whether the storage failed, rather than the data.
    failed: AtomicBool,
}

impl Position {
    pub(super) fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }
}

/// A buffered file that knows its position and retries interrupted reads.
pub(super) struct ByteSource {
    inner: Box<dyn Read + Send>,
    path: PathBuf,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    position: Arc<Position>,
}

impl ByteSource {
    fn read_inner(&mut self, into: Option<&mut [u8]>) -> io::Result<usize> {
        let into = match into {
            Some(into) => into,
            None => &mut self.buffer[self.filled..],
        };
        loop {
            match self.inner.read(into) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.position.failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
                done => return done,
            }
        }
    }

    /// Buffers at least `bytes`, unless the file ends first; returns the buffered bytes.
    pub(super) fn peek(&mut self, bytes: usize) -> io::Result<&[u8]> {
        if self.filled - self.at < bytes {
            self.buffer.copy_within(self.at..self.filled, 0);
            self.filled -= self.at;
            self.at = 0;
            self.buffer.resize(SMALL_BUFFER_BYTES.max(bytes), 0);
            while self.filled < bytes {
                match self.read_inner(None)? {
                    0 => break,
                    count => self.filled += count,
                }
            }
        }
        Ok(&self.buffer[self.at..self.filled])
    }

    /// Returns the position of the next compressed byte.
    pub(super) fn consumed(&self) -> u64 {
        self.position.consumed()
    }

    /// Converts `error`, met at the current byte, into an error of the storage or of the data.
    pub(super) fn error(&self, error: io::Error) -> Error {
        failure(&self.path, &self.position, error)
    }

    pub(super) fn damaged(&self, byte: u64, message: &str) -> Error {
        damaged(&self.path, byte, message)
    }
}

impl Read for ByteSource {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = if self.at < self.filled {
            let count = into.len().min(self.filled - self.at);
            into[..count].copy_from_slice(&self.buffer[self.at..self.at + count]);
            self.at += count;
            count
        } else {
            self.read_inner(Some(into))?
        };
        self.position.consumed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl BufRead for ByteSource {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.peek(1)
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
        self.position.consumed.fetch_add(count as u64, Ordering::Relaxed);
    }
}

/// Returns the path in lower case, without the ending of compressed files.
pub(super) fn unpacked_name(path: &Path) -> String {
    let mut name = path.to_string_lossy().to_ascii_lowercase();
    let ending = [".gz", ".bgz", ".zst", ".bz2", ".xz"].into_iter().find(|end| name.ends_with(end));
    name.truncate(name.len() - ending.map_or(0, str::len));
    name
}

/// Adds a hint to the error for a directory.
fn with_hint(error: Error) -> Error {
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    match source.map(io::Error::kind) {
        Some(io::ErrorKind::IsADirectory) => error.hint(
            "use `DIRECTORY/*` for the files in it; a graph directory, with a `graph.json`, must be the only input",
        ),
        _ => error,
    }
}

fn failure(path: &Path, position: &Position, error: io::Error) -> Error {
    if position.failed.load(Ordering::Relaxed) {
        return Error::io("read", path, error);
    }
    if let Some(unpacker) = asks_for_memory(&error) {
        return window_grows(path, unpacker);
    }
    let message = if error.kind() == io::ErrorKind::UnexpectedEof {
        "it ends too early".to_string()
    } else {
        error.to_string()
    };
    damaged(path, position.consumed(), &message)
}

/// Returns the command that unpacks the file, if the error is that decompression exceeds its memory limit.
fn asks_for_memory(error: &io::Error) -> Option<&'static str> {
    let of_xz = error.get_ref().and_then(|error| error.downcast_ref::<liblzma::stream::Error>());
    match of_xz {
        Some(liblzma::stream::Error::MemLimit) => Some("xz -dc"),
        Some(_) => None,
        // The library reports this only as text.
        None => error.to_string().contains("too much memory").then_some("zstd -dc --long=31"),
    }
}

fn window_grows(path: &Path, unpacker: &str) -> Error {
    let message = format!(
        "a later part of `{}` needs a larger window than its first part declares",
        path.display()
    );
    Error::new(ErrorKind::MemoryTooSmall, message)
        .note("memory for decompression is planned from the first frame or block")
        .hint(format!("pipe it in: `{unpacker} FILE | outcore ... -`"))
}

fn damaged(path: &Path, byte: u64, message: &str) -> Error {
    Error::new(
        ErrorKind::BadCompression,
        format!("compressed data of `{}` is damaged: {message}", path.display()),
    )
    .note(format!("byte {byte} of the compressed file"))
    .hint("fetch or compress the file again; `gzip -t` or `zstd -t` checks it")
}

/// Decoder of one file.
pub(super) enum Decoder {
    Plain(ByteSource),
    Bgzf(Box<BgzfReader>),
    /// Any other, and the command that unpacks the file.
    Packed(&'static str, Box<dyn Read + Send>),
}

impl Decoder {
    /// Creates the decoder that the first bytes of `source` require; BGZF uses `workers` threads, or the current one if
    /// that is 0.
    fn new(mut source: ByteSource, workers: usize) -> Result<Self> {
        let path = source.path.clone();
        let position = source.position.clone();
        let wrong = |error| failure(&path, &position, error);
        let magic = source.peek(MAGIC_BYTES).map_err(wrong)?;
        if bgzf::block_bytes(magic).is_some() {
            return Ok(Self::Bgzf(Box::new(BgzfReader::new(source, workers))));
        }
        match magic {
            [0x1F, 0x8B, ..] => Ok(Self::Packed("gzip", Box::new(GzipReader::new(source)))),
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => {
                if zstd_window(after_skipped(magic)).is_some_and(|window| window > ZSTD_WINDOW) {
                    let message = "it asks for a window of more than 2 GiB, the maximum of zstd";
                    return Err(damaged(&path, 0, message));
                }
                let window = planned_window(magic).max(EVERY_WINDOW);
                let decoder = zstd::stream::read::Decoder::with_buffer(source).map_err(&wrong);
                let mut decoder = decoder?;
                decoder.window_log_max(window.ilog2()).map_err(wrong)?;
                Ok(Self::Packed("zstd", Box::new(decoder)))
            }
            // `BZh` may begin a name. A bzip2 file continues with the level and the digits of pi, or, if it is empty,
            // of its square root.
            [b'B', b'Z', b'h', _, b'1', b'A', b'Y', b'&', b'S', b'Y', ..]
            | [b'B', b'Z', b'h', _, 0x17, b'r', b'E', b'8', b'P', 0x90, ..] => {
                Ok(Self::Packed("bzip2", Box::new(bzip2::bufread::MultiBzDecoder::new(source))))
            }
            _ if magic.starts_with(XZ_MAGIC) => {
                // A later block that needs more memory than planned is an error.
                let limit = planned_window(magic).max(EVERY_WINDOW) + XZ_OTHER_BYTES;
                let stream = liblzma::stream::Stream::new_stream_decoder(
                    limit,
                    liblzma::stream::CONCATENATED,
                );
                let stream = stream.map_err(|error| wrong(error.into()))?;
                let decoder = liblzma::bufread::XzDecoder::new_stream(source, stream);
                Ok(Self::Packed("xz", Box::new(decoder)))
            }
            _ => Ok(Self::Plain(source)),
        }
    }

    /// Returns the command that unpacks the file, if it is compressed.
    fn unpacker(&self) -> Option<&'static str> {
        match self {
            Self::Plain(_) => None,
            Self::Bgzf(_) => Some("gzip"),
            Self::Packed(unpacker, _) => Some(unpacker),
        }
    }

    fn read(&mut self, into: &mut [u8], path: &Path, position: &Position) -> Result<usize> {
        match self {
            Self::Plain(source) => source.read(into),
            Self::Packed(_, decoder) => decoder.read(into),
            Self::Bgzf(reader) => match reader.read(into)? {
                bgzf::Step::Read(count) => Ok(count),
                bgzf::Step::Other(source) => {
                    let next = GzipReader { state: GzipState::Between(source) };
                    *self = Self::Packed("gzip", Box::new(next));
                    return self.read(into, path, position);
                }
            },
        }
        .map_err(|error| failure(path, position, error))
    }
}

const XZ_MAGIC: &[u8] = b"\xfd7zXZ\0";
/// Memory of an xz decoder in addition to its window.
const XZ_OTHER_BYTES: u64 = 1 << 20;
/// Window of the largest preset, assumed if the file does not reveal its own.
const XZ_WINDOW: u64 = 64 << 20;

/// Window that every part of a file may have, and that the memory planned for decompression always includes.
const EVERY_WINDOW: u64 = 8 << 20;
const ZSTD_WINDOW: u64 = 1 << 31;

/// Returns the planned memory for the window of a file with these first bytes.
fn planned_window(file: &[u8]) -> u64 {
    if file.starts_with(XZ_MAGIC) {
        return xz_window(file).unwrap_or(XZ_WINDOW);
    }
    match zstd_window(after_skipped(file)).unwrap_or(0) {
        small @ 0..=EVERY_WINDOW => small,
        // The library's limit is a power of two.
        large => large.min(ZSTD_WINDOW).next_power_of_two(),
    }
}

/// Skips the zstd frames that hold no text, such as the one that `pzstd` writes first.
fn after_skipped(mut file: &[u8]) -> &[u8] {
    while let [0x50..=0x5F, 0x2A, 0x4D, 0x18, a, b, c, d, rest @ ..] = file {
        let bytes = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        file = rest.get(bytes..).unwrap_or_default();
    }
    file
}

/// Returns the window of the first block of an xz file (The .xz File Format, 1.2.1, 3.1 and 5.3.1).
fn xz_window(file: &[u8]) -> Option<u64> {
    let block = file.strip_prefix(XZ_MAGIC)?.get(6..)?;
    if block.first() == Some(&0) {
        // An index instead of a block: there is no text.
        return Some(0);
    }
    let flags = *block.get(1)?;
    let mut at = 2;
    let mut number = || {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = *block.get(at)?;
            at += 1;
            value |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 || shift > 56 {
                return Some((value, at));
            }
        }
    };
    for _ in 0..(flags & 0xC0).count_ones() {
        number()?;
    }
    for _ in 0..=flags & 3 {
        let (filter, (bytes, properties)) = (number()?.0, number()?);
        if filter == 0x21 {
            let bits = u32::from(*block.get(properties)?).min(39);
            return Some(u64::from(2 | bits & 1) << (bits / 2 + 11));
        }
        for _ in 0..bytes {
            number()?;
        }
    }
    None
}

/// Returns the window of a zstd frame (RFC 8878, 3.1.1.1).
fn zstd_window(frame: &[u8]) -> Option<u64> {
    let [0x28, 0xB5, 0x2F, 0xFD, descriptor, rest @ ..] = frame else { return None };
    if descriptor & 0x20 == 0 {
        let window = *rest.first()?;
        let base = 1u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // A single segment, whose window is its complete text.
    let skipped = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let len = 1 << (descriptor >> 6);
    let mut bytes = [0; 8];
    bytes[..len].copy_from_slice(rest.get(skipped..skipped + len)?);
    Some(u64::from_le_bytes(bytes) + if len == 2 { 256 } else { 0 })
}

/// Reader of consecutive gzip members; zeros may follow the last one.
struct GzipReader {
    state: GzipState,
}

enum GzipState {
    Inside(Box<flate2::bufread::GzDecoder<ByteSource>>),
    Between(ByteSource),
    End,
}

impl GzipReader {
    fn new(source: ByteSource) -> Self {
        Self { state: GzipState::Inside(Box::new(flate2::bufread::GzDecoder::new(source))) }
    }
}

impl Read for GzipReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            self.state = match std::mem::replace(&mut self.state, GzipState::End) {
                GzipState::End => return Ok(0),
                GzipState::Inside(mut member) => {
                    let count = member.read(into)?;
                    if count > 0 || into.is_empty() {
                        self.state = GzipState::Inside(member);
                        return Ok(count);
                    }
                    GzipState::Between(member.into_inner())
                }
                GzipState::Between(mut source) => match source.peek(1)?.first() {
                    None => GzipState::End,
                    Some(0) => {
                        skip_zeros(&mut source)?;
                        GzipState::End
                    }
                    Some(0x1F) => Self::new(source).state,
                    Some(_) => return Err(not_gzip()),
                },
            }
        }
    }
}

fn not_gzip() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "what follows the compressed data is not gzip")
}

fn skip_zeros(source: &mut ByteSource) -> io::Result<()> {
    loop {
        let bytes = source.peek(1)?;
        if bytes.is_empty() {
            return Ok(());
        }
        if let Some(zeros) = bytes.iter().position(|&byte| byte != 0) {
            source.consume(zeros);
            return Err(not_gzip());
        }
        let zeros = bytes.len();
        source.consume(zeros);
    }
}

/// Open input, whose first bytes can be examined before they are read.
pub(super) struct Input {
    decoder: Decoder,
    path: PathBuf,
    position: Arc<Position>,
    head: Vec<u8>,
    head_at: usize,
    window_bytes: u64,
}

impl Input {
    /// Opens a file, a pipe, or `-`.
    pub(super) fn open(files: &Files, path: &Path, workers: usize) -> Result<Self> {
        let position = Arc::new(Position::default());
        let mut source = ByteSource {
            inner: files.open_stream(path).map_err(with_hint)?,
            path: path.to_path_buf(),
            buffer: Vec::new(),
            at: 0,
            filled: 0,
            position: position.clone(),
        };
        let magic = source.peek(MAGIC_BYTES).map_err(|error| failure(path, &position, error))?;
        let window_bytes = planned_window(magic);
        let decoder = Decoder::new(source, workers)?;
        let (path, head) = (path.to_path_buf(), Vec::new());
        Ok(Self { decoder, path, position, head, head_at: 0, window_bytes })
    }

    /// Returns an input of these bytes, which are not compressed.
    pub(super) fn of_bytes(bytes: Vec<u8>, path: &Path) -> Result<Self> {
        let position = Arc::new(Position::default());
        let source = ByteSource {
            inner: Box::new(io::Cursor::new(bytes)),
            path: path.to_path_buf(),
            buffer: Vec::new(),
            at: 0,
            filled: 0,
            position: position.clone(),
        };
        let (path, head) = (path.to_path_buf(), Vec::new());
        Ok(Self {
            decoder: Decoder::Plain(source),
            path,
            position,
            head,
            head_at: 0,
            window_bytes: 0,
        })
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.unpacker().is_some()
    }

    /// Returns the command that unpacks the file, if it is compressed.
    pub(super) fn unpacker(&self) -> Option<&'static str> {
        self.decoder.unpacker()
    }

    /// Returns the window size in bytes of the first zstd frame or xz block.
    pub(super) fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    /// Returns the bytes of the file that were used so far.
    pub(super) fn consumed(&self) -> u64 {
        self.position.consumed()
    }

    /// Moves to a byte of the text, before anything else is read. Returns how many bytes must still be read and
    /// dropped, because only plain files allow seeking.
    pub(super) fn go_to(&mut self, files: &Files, byte: u64) -> Result<u64> {
        let Decoder::Plain(source) = &mut self.decoder else { return Ok(byte) };
        if byte > 0 {
            source.inner = files.open_stream_at(&self.path, byte)?;
            (source.at, source.filled) = (0, 0);
            self.position.consumed.store(byte, Ordering::Relaxed);
        }
        Ok(0)
    }

    /// Returns the first `bytes` of the text, and whether that is the complete text. Must be called before the first
    /// read.
    pub(super) fn peek(&mut self, bytes: usize) -> Result<(&[u8], bool)> {
        let mut filled = self.head.len();
        self.head.resize(bytes.max(filled), 0);
        let mut ended = false;
        while filled < bytes && !ended {
            let room = &mut self.head[filled..];
            let count = self.decoder.read(room, &self.path, &self.position)?;
            filled += count;
            ended = count == 0;
        }
        self.head.truncate(filled);
        Ok((&self.head, ended))
    }

    /// Reads until `into` is full or the text ends; returns the number of bytes.
    pub(super) fn fill(&mut self, into: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            match self.read(&mut into[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        Ok(filled)
    }

    /// Reads some bytes of the text; returns 0 at its end.
    ///
    /// Decompressors that may lose output just before damaged data always get the same room, so that what is read
    /// before the error does not depend on the caller's buffers.
    pub(super) fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.head_at == self.head.len() {
            if matches!(self.decoder, Decoder::Plain(_) | Decoder::Bgzf(_)) {
                self.head = Vec::new();
                self.head_at = 0;
                return self.decoder.read(into, &self.path, &self.position);
            }
            self.head.resize(STAGE_BYTES, 0);
            self.head_at = STAGE_BYTES;
            let count = self.decoder.read(&mut self.head, &self.path, &self.position)?;
            self.head.truncate(count);
            self.head_at = 0;
        }
        let count = into.len().min(self.head.len() - self.head_at);
        into[..count].copy_from_slice(&self.head[self.head_at..self.head_at + count]);
        self.head_at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn windows_of_xz_files_are_read() {
        for (preset, window) in [(0, 256 << 10), (6, 8 << 20), (9, 64 << 20)] {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), preset);
            encoder.write_all(b"a\tb\n").unwrap();
            assert_eq!(xz_window(&encoder.finish().unwrap()), Some(window));
        }
        let empty = liblzma::write::XzEncoder::new(Vec::new(), 9).finish().unwrap();
        assert_eq!(xz_window(&empty), Some(0));
        assert_eq!(xz_window(b"a\tb"), None);
    }

    #[test]
    fn windows_of_zstd_frames_are_read() {
        let small = zstd::bulk::compress(&[7; 1000], 1).unwrap();
        assert_eq!(zstd_window(&small), Some(1000));
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(20).unwrap();
        encoder.write_all(&vec![1; 3 << 20]).unwrap();
        assert_eq!(zstd_window(&encoder.finish().unwrap()), Some(1 << 20));
        assert_eq!(zstd_window(b"a\tb"), None);
        let skipped = [&b"\x50\x2A\x4D\x18\x04\0\0\0abcd"[..], &small].concat();
        assert_eq!(planned_window(&skipped), 1000);
    }
}
