//! Ways to read: each opens the file, sums all of it, and closes it.

use super::blocks::{BLOCK_BYTES, NUMBERS, Summer, WORD, file_bytes};
use crate::api::map::{Advice, Map, Sharing};
use crate::api::stdio::{Buffering, Stream};
use crate::api::uring::{Ring, RingOptions};
use crate::experiments::MIB;
use crate::foreign::run_program;
use crate::meter::Outcome;
use crate::state::State;
use outcore::io::{ALIGNMENT, AlignedBuffer, Files, Mode, ReadAhead};
use outcore::{Error, ErrorKind, Result};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Read;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Approximate size of the engine's blocks.
const ENGINE_BYTES: usize = 4 * MIB;
/// Number of blocks that the engine reads ahead.
const ENGINE_DEPTH: usize = 4;

/// Input of all ways.
#[derive(Clone)]
pub(super) struct ReadInput {
    pub(super) path: PathBuf,
    pub(super) blocks: u32,
    pub(super) files: Files,
    /// Program of [`ReadKind::Program`].
    pub(super) program: std::result::Result<PathBuf, String>,
    /// Whether the file can be read past the page cache; the error is the reason why not.
    pub(super) direct: std::result::Result<(), String>,
    /// Whether `io_uring` is available; the error is the reason why not.
    pub(super) ring: std::result::Result<(), String>,
}

/// Requirement of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadKind {
    Plain,
    Program,
    Direct,
    Ring,
}

/// Way to read.
pub(super) struct ReadWay {
    pub(super) name: &'static str,
    pub(super) kind: ReadKind,
    pub(super) run: fn(&ReadInput) -> Result<Outcome>,
}

/// Name of the engine's reader through the page cache.
pub(super) const ENGINE: &str = "the engine's reader";
/// Name of the engine's reader past the page cache.
pub(super) const ENGINE_DIRECT: &str = "the engine's reader, direct";

/// All ways, those of the source first.
pub(super) const WAYS: &[ReadWay] = &[
    plain("read, two calls per block", two_calls),
    plain("fread", |input| stream(input, Buffering::Default, 4096)),
    plain("fread, 4 KiB buffer", |input| stream(input, Buffering::Of(4096), 4096)),
    plain("fread, 32 MiB buffer", |input| stream(input, Buffering::Of(32 * MIB), 32 * MIB)),
    ReadWay { name: "ifstream (C++)", kind: ReadKind::Program, run: program },
    plain("mmap", |input| map(input, Sharing::Private, false, &[])),
    plain("mmap, populated", |input| map(input, Sharing::Private, true, &[])),
    plain("mmap, advised", |input| {
        map(input, Sharing::Private, false, &[Advice::Sequential, Advice::WillNeed])
    }),
    plain("mmap, shared", |input| map(input, Sharing::Shared, false, &[])),
    plain("read 64 KiB", |input| read(input, 64 << 10)),
    plain("read 1 MiB", |input| read(input, MIB)),
    plain("pread 1 MiB", |input| pread(input, &mut small(MIB), 0)),
    plain("pread 1 MiB, 2 threads", |input| threads(input, 2)),
    plain("pread 1 MiB, 4 threads", |input| threads(input, 4)),
    plain(ENGINE, |input| engine(input, Mode::Read)),
    direct("pread 1 MiB, direct", |input| pread(input, &mut small(MIB), libc::O_DIRECT)),
    direct("pread 4 MiB, direct", |input| pread(input, &mut small(4 * MIB), libc::O_DIRECT)),
    direct("pread 4 MiB, direct, large pages", |input| {
        pread(input, AlignedBuffer::new(4 * MIB).bytes_mut(), libc::O_DIRECT)
    }),
    ring("io_uring 1 MiB x 4, direct", |input| rings(input, MIB)),
    ring("io_uring 2 MiB x 4, direct, large pages", |input| rings(input, 2 * MIB)),
    direct(ENGINE_DIRECT, |input| engine(input, Mode::ReadDirect)),
];

const fn plain(name: &'static str, run: fn(&ReadInput) -> Result<Outcome>) -> ReadWay {
    ReadWay { name, kind: ReadKind::Plain, run }
}

const fn direct(name: &'static str, run: fn(&ReadInput) -> Result<Outcome>) -> ReadWay {
    ReadWay { name, kind: ReadKind::Direct, run }
}

const fn ring(name: &'static str, run: fn(&ReadInput) -> Result<Outcome>) -> ReadWay {
    ReadWay { name, kind: ReadKind::Ring, run }
}

impl ReadWay {
    /// Returns the states in which the way is measured.
    pub(super) fn states(&self) -> &'static [State] {
        match self.kind {
            ReadKind::Plain | ReadKind::Program => &[State::Warm, State::Cold],
            ReadKind::Direct | ReadKind::Ring => &[State::Direct],
        }
    }

    /// Returns the reason why the way cannot be measured here; `None` if it can.
    pub(super) fn obstacle<'a>(&self, input: &'a ReadInput) -> Option<&'a str> {
        match self.kind {
            ReadKind::Plain => None,
            ReadKind::Program => input.program.as_ref().err().map(String::as_str),
            ReadKind::Direct => input.direct.as_ref().err().map(String::as_str),
            ReadKind::Ring => {
                input.direct.as_ref().err().or(input.ring.as_ref().err()).map(String::as_str)
            }
        }
    }
}

impl ReadInput {
    /// Checks what this system supports.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn new(
        path: PathBuf,
        blocks: u32,
        files: &Files,
        program: std::result::Result<PathBuf, String>,
    ) -> Result<Self> {
        let direct = crate::state::direct_obstacle(&path)?.map_or(Ok(()), Err);
        let ring = match &direct {
            Ok(()) => Ring::new(&path, options(MIB))?.map(|_| ()),
            Err(reason) => Err(reason.clone()),
        };
        Ok(Self { path, blocks, files: files.clone(), program, direct, ring })
    }

    fn fail(&self, error: std::io::Error) -> Error {
        Error::io("read", &self.path, error)
    }

    fn open(&self) -> Result<File> {
        File::open(&self.path).map_err(|e| Error::io("open", &self.path, e))
    }

    fn bytes(&self) -> u64 {
        file_bytes(self.blocks)
    }

    fn outcome(&self, summer: &Summer, system_calls: u64) -> Result<Outcome> {
        Ok(Outcome {
            checksum: summer.finish(&self.path, self.blocks)?,
            operations: u64::from(self.blocks),
            bytes: self.bytes(),
            system_calls: Some(system_calls),
            ..Outcome::default()
        })
    }
}

fn two_calls(input: &ReadInput) -> Result<Outcome> {
    let mut file = input.open()?;
    let mut summer = Summer::default();
    let mut block = [0u8; BLOCK_BYTES - WORD];
    file.read_exact(&mut block[..WORD]).map_err(|e| input.fail(e))?;
    summer.feed(&block[..WORD]);
    for _ in 0..input.blocks {
        file.read_exact(&mut block[..WORD]).map_err(|e| input.fail(e))?;
        summer.feed(&block[..WORD]);
        file.read_exact(&mut block).map_err(|e| input.fail(e))?;
        summer.feed(&block);
    }
    input.outcome(&summer, 3 + 2 * u64::from(input.blocks))
}

/// Like [`two_calls`], with streams of the C library; `buffer` is the number of bytes that it reads per system call.
fn stream(input: &ReadInput, buffering: Buffering, buffer: usize) -> Result<Outcome> {
    let mut stream = Stream::open(&input.path, "rb", buffering)?;
    let mut summer = Summer::default();
    let mut block = [0u8; WORD * NUMBERS];
    stream.read_exact(&mut block[..WORD])?;
    summer.feed(&block[..WORD]);
    for _ in 0..input.blocks {
        stream.read_exact(&mut block[..WORD])?;
        summer.feed(&block[..WORD]);
        stream.read_exact(&mut block)?;
        summer.feed(&block);
    }
    stream.close()?;
    let mut outcome = input.outcome(&summer, 3 + input.bytes().div_ceil(buffer as u64))?;
    if !cfg!(target_env = "gnu") {
        outcome.system_calls = None;
    }
    Ok(outcome)
}

fn program(input: &ReadInput) -> Result<Outcome> {
    let program = input.program.as_ref().map_err(|reason| Error::new(ErrorKind::Io, reason))?;
    run_program(program, &[OsStr::new("ifstream"), input.path.as_os_str()])
        .map(|outcome| Outcome { operations: u64::from(input.blocks), ..outcome })
}

fn map(input: &ReadInput, sharing: Sharing, populate: bool, advice: &[Advice]) -> Result<Outcome> {
    let map = Map::open(&input.path, sharing, populate, advice)?;
    let mut summer = Summer::default();
    summer.feed(map.bytes());
    drop(map);
    input.outcome(&summer, 5 + advice.len() as u64)
}

/// Maps the file and sums it once, so that all its pages are mapped.
pub(super) fn first_pass(input: &ReadInput) -> Result<Map> {
    let map = Map::open(&input.path, Sharing::Private, false, &[])?;
    Summer::default().feed(black_box(map.bytes()));
    Ok(map)
}

/// Sums a file that is mapped already; its time ends before the file is unmapped.
pub(super) fn second_pass(input: &ReadInput, map: Map) -> Result<Outcome> {
    let start = Instant::now();
    let mut summer = Summer::default();
    summer.feed(map.bytes());
    let seconds = start.elapsed().as_secs_f64();
    drop(map);
    let outcome = input.outcome(&summer, 0)?;
    Ok(Outcome { child_wall_seconds: Some(seconds), ..outcome })
}

/// Reads in a loop that accepts any number of bytes per call.
fn read(input: &ReadInput, bytes: usize) -> Result<Outcome> {
    let mut file = input.open()?;
    let mut summer = Summer::default();
    let mut buffer = vec![0; bytes];
    let mut calls = 2;
    loop {
        calls += 1;
        match file.read(&mut buffer) {
            Ok(0) => return input.outcome(&summer, calls),
            Ok(count) => summer.feed(&buffer[..count]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(input.fail(e)),
        }
    }
}

/// Allocates memory for direct reads in pages of the system's choice.
fn small(bytes: usize) -> Small {
    let memory = vec![0; bytes + ALIGNMENT];
    let start = memory.as_ptr().align_offset(ALIGNMENT);
    Small { memory, range: start..start + bytes }
}

/// Memory allocated by [`small`].
struct Small {
    memory: Vec<u8>,
    range: std::ops::Range<usize>,
}

impl Deref for Small {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory[self.range.clone()]
    }
}

impl DerefMut for Small {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.range.clone()]
    }
}

fn pread(input: &ReadInput, buffer: &mut [u8], flags: i32) -> Result<Outcome> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(&input.path)
        .map_err(|e| Error::io("open", &input.path, e))?;
    let mut summer = Summer::default();
    let calls = part(input, &file, 0..input.bytes(), buffer, &mut summer)?;
    input.outcome(&summer, calls + 2)
}

/// Sums a part of the file; returns the number of calls.
fn part(
    input: &ReadInput,
    file: &File,
    range: std::ops::Range<u64>,
    buffer: &mut [u8],
    summer: &mut Summer,
) -> Result<u64> {
    let (mut offset, mut calls) = (range.start, 0);
    while offset < range.end {
        calls += 1;
        let found = match file.read_at(buffer, offset) {
            Ok(0) => break,
            Ok(count) => count.min((range.end - offset) as usize),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => 0,
            Err(e) => return Err(input.fail(e)),
        };
        summer.feed(&buffer[..found]);
        offset += found as u64;
    }
    Ok(calls)
}

/// Reads on several threads: each reads a part that begins at a multiple of 1 MiB.
fn threads(input: &ReadInput, count: u64) -> Result<Outcome> {
    let file = input.open()?;
    let step = input.bytes().div_ceil(count).next_multiple_of(MIB as u64);
    let one = |number: u64| -> Result<(Summer, u64)> {
        let begin = (number * step).min(input.bytes());
        let mut summer = Summer::at(begin);
        let range = begin..(begin + step).min(input.bytes());
        let calls = part(input, &file, range, &mut vec![0; MIB], &mut summer)?;
        Ok((summer, calls))
    };
    let one = &one;
    let parts: Vec<Result<(Summer, u64)>> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..count).map(|number| scope.spawn(move || one(number))).collect();
        started.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    let mut whole = Summer::default();
    let mut calls = 2;
    for part in parts {
        let (summer, made) = part?;
        whole.merge(&summer);
        calls += made;
    }
    input.outcome(&whole, calls)
}

fn options(buffer_bytes: usize) -> RingOptions {
    RingOptions { depth: 4, buffer_bytes, direct: true, registered: true }
}

/// Reads with four concurrent reads. The buffers of the ring are those of the engine: in large pages from 2 MiB on.
fn rings(input: &ReadInput, bytes: usize) -> Result<Outcome> {
    let made = Ring::new(&input.path, options(bytes))?;
    let mut ring = made.map_err(|reason| Error::new(ErrorKind::Io, reason))?;
    let mut whole = Summer::default();
    let ranges = (0..input.bytes()).step_by(bytes).map(|offset| (offset, bytes as u32));
    let calls = 3 + input.bytes().div_ceil(bytes as u64);
    ring.read_ranges(ranges, |index, read| {
        let mut summer = Summer::at((index * bytes) as u64);
        summer.feed(read);
        whole.merge(&summer);
    })?;
    input.outcome(&whole, calls)
}

fn engine(input: &ReadInput, mode: Mode) -> Result<Outcome> {
    let file = Arc::new(input.files.open(&input.path, mode)?);
    let end = input.bytes();
    let ranges = (0..end).step_by(ENGINE_BYTES);
    let count = ranges.clone().count() as u64;
    let ranges = ranges.map(move |offset| (offset, ENGINE_BYTES.min((end - offset) as usize)));
    let mut ahead = ReadAhead::new(file, ranges, ENGINE_DEPTH);
    let mut summer = Summer::default();
    while let Some(bytes) = ahead.next_range()? {
        summer.feed(bytes);
    }
    input.outcome(&summer, 2 + count)
}
