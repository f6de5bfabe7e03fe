//! Ways to transfer: each opens the file, makes its transfers one after the other, and closes it.

use crate::api::aio::Asynchronous;
use crate::api::map::{Map, Sharing};
use crate::api::stdio::{Buffering, Stream};
#[cfg(target_os = "linux")]
use crate::api::unlocked::Unlocked;
use crate::api::uring::{Ring, RingOptions};
use crate::foreign::run_program;
use crate::meter::Outcome;
use outcore::io::AlignedBuffer;
use outcore::{Error, ErrorKind, Result};
use std::ffi::OsStr;
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Buffer size of a stream with its own buffer.
const BUFFER_BYTES: usize = 64 << 10;
/// Number of concurrent reads of the ring.
const BATCH: u32 = 8;
/// Number of concurrent reads of POSIX asynchronous I/O.
const FLIGHTS: usize = 2;

/// Way to transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferWay {
    Read,
    Pread,
    Fread,
    FreadBuffer,
    FreadUnlocked,
    FortranSequential,
    FortranStream,
    FortranDirect,
    Asynchronous,
    Ring,
    Map,
}

pub(super) const WAYS: [TransferWay; 11] = [
    TransferWay::Read,
    TransferWay::Pread,
    TransferWay::Fread,
    TransferWay::FreadBuffer,
    TransferWay::FreadUnlocked,
    TransferWay::FortranSequential,
    TransferWay::FortranStream,
    TransferWay::FortranDirect,
    TransferWay::Asynchronous,
    TransferWay::Ring,
    TransferWay::Map,
];

/// Memory that transfers use, allocated once: a program uses its buffers for more than one file, so allocation is not part
/// of a run.
pub(super) struct Buffers {
    /// Destination of a single transfer.
    single: Vec<u8>,
    /// Destinations of concurrent transfers, each as large as `single`.
    concurrent: Vec<AlignedBuffer>,
}

impl Buffers {
    /// Allocates memory for transfers of at most `bytes`.
    pub(super) fn new(bytes: usize) -> Self {
        let concurrent = (0..BATCH).map(|_| {
            let mut buffer = AlignedBuffer::new(bytes);
            buffer.bytes_mut().fill(1);
            buffer
        });
        Self { single: vec![1; bytes], concurrent: concurrent.collect() }
    }
}

/// Number of transfers of a size, and their file.
#[derive(Debug, Clone)]
pub(super) struct TransferInput {
    /// File of enough bytes; for [`TransferWay::FortranSequential`] a file of records.
    pub(super) path: PathBuf,
    pub(super) size: usize,
    pub(super) count: u64,
}

impl TransferWay {
    /// Returns the name of its series.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Pread => "pread",
            Self::Fread => "fread",
            Self::FreadBuffer => "fread with 64 KiB",
            Self::FreadUnlocked => "fread_unlocked with 64 KiB",
            Self::FortranSequential => "Fortran sequential",
            Self::FortranStream => "Fortran stream",
            Self::FortranDirect => "Fortran direct",
            Self::Asynchronous => "aio_read",
            Self::Ring => "io_uring",
            Self::Map => "mmap and copy",
        }
    }

    /// Returns the method of the Fortran program; `None` for other ways.
    pub(super) fn fortran(self) -> Option<&'static str> {
        match self {
            Self::FortranSequential => Some("sequential"),
            Self::FortranStream => Some("stream"),
            Self::FortranDirect => Some("direct"),
            _ => None,
        }
    }

    /// Returns the reason why this system does not support the way; `None` if it does.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn obstacle(
        self,
        path: &Path,
        program: &std::result::Result<PathBuf, String>,
    ) -> Result<Option<String>> {
        Ok(match self {
            _ if self.fortran().is_some() => program.as_ref().err().cloned(),
            Self::FreadUnlocked if !cfg!(target_os = "linux") => {
                Some("this C library has no fread_unlocked".into())
            }
            Self::Ring => Ring::new(path, options(4096))?.err(),
            _ => None,
        })
    }

    /// Makes the transfers.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn run(
        self,
        input: &TransferInput,
        buffers: &mut Buffers,
        program: Option<&Path>,
    ) -> Result<Outcome> {
        let buffer = &mut buffers.single[..input.size];
        match self {
            Self::Read => read(input, buffer),
            Self::Pread => pread(input, buffer),
            Self::Fread => stream(input, buffer, Buffering::Default),
            Self::FreadBuffer => stream(input, buffer, Buffering::Of(BUFFER_BYTES)),
            Self::FreadUnlocked => unlocked(input, buffer),
            Self::Asynchronous => asynchronous(input, &mut buffers.concurrent),
            Self::Ring => ring(input, &mut buffers.concurrent),
            Self::Map => map(input, buffer),
            Self::FortranSequential | Self::FortranStream | Self::FortranDirect => {
                fortran(input, self.fortran().unwrap_or_default(), program)
            }
        }
    }
}

/// Sum over the first and last eight bytes of all transfers: it takes almost no time and prevents the compiler from
/// omitting work.
#[derive(Debug, Default)]
struct TransferSum(u64);

impl TransferSum {
    #[inline]
    fn add(&mut self, transfer: &[u8]) {
        let transfer = black_box(transfer);
        let (Some(first), Some(last)) = (transfer.first_chunk(), transfer.last_chunk()) else {
            return;
        };
        let pair = u64::from_le_bytes(*first).wrapping_add(u64::from_le_bytes(*last));
        self.0 = self.0.wrapping_add(pair);
    }
}

impl TransferInput {
    fn open(&self) -> Result<File> {
        File::open(&self.path).map_err(|e| Error::io("open", &self.path, e))
    }

    fn fail(&self, error: std::io::Error) -> Error {
        Error::io("read", &self.path, error)
    }

    fn offsets(&self) -> impl Iterator<Item = u64> + use<> {
        let size = self.size as u64;
        (0..self.count).map(move |number| number * size)
    }

    fn outcome(&self, sum: &TransferSum, system_calls: Option<u64>) -> Outcome {
        Outcome {
            checksum: sum.0,
            operations: self.count,
            bytes: self.count * self.size as u64,
            system_calls,
            ..Outcome::default()
        }
    }
}

fn read(input: &TransferInput, buffer: &mut [u8]) -> Result<Outcome> {
    let mut file = input.open()?;
    let mut sum = TransferSum::default();
    for _ in 0..input.count {
        file.read_exact(buffer).map_err(|e| input.fail(e))?;
        sum.add(buffer);
    }
    Ok(input.outcome(&sum, Some(input.count + 2)))
}

fn pread(input: &TransferInput, buffer: &mut [u8]) -> Result<Outcome> {
    let file = input.open()?;
    let mut sum = TransferSum::default();
    for offset in input.offsets() {
        file.read_exact_at(buffer, offset).map_err(|e| input.fail(e))?;
        sum.add(buffer);
    }
    Ok(input.outcome(&sum, Some(input.count + 2)))
}

fn stream(input: &TransferInput, buffer: &mut [u8], buffering: Buffering) -> Result<Outcome> {
    let mut stream = Stream::open(&input.path, "rb", buffering)?;
    let mut sum = TransferSum::default();
    for _ in 0..input.count {
        stream.read_exact(buffer)?;
        sum.add(buffer);
    }
    stream.close()?;
    Ok(input.outcome(&sum, None))
}

#[cfg(target_os = "linux")]
fn unlocked(input: &TransferInput, buffer: &mut [u8]) -> Result<Outcome> {
    let mut stream = Unlocked::open(&input.path, BUFFER_BYTES)?;
    let mut sum = TransferSum::default();
    for _ in 0..input.count {
        stream.read_exact(buffer)?;
        sum.add(buffer);
    }
    Ok(input.outcome(&sum, None))
}

#[cfg(not(target_os = "linux"))]
fn unlocked(input: &TransferInput, _buffer: &mut [u8]) -> Result<Outcome> {
    Err(input.fail(std::io::ErrorKind::Unsupported.into()))
}

/// Reads asynchronously: waits for one read while the next one is in flight.
fn asynchronous(input: &TransferInput, buffers: &mut Vec<AlignedBuffer>) -> Result<Outcome> {
    let rest = buffers.split_off(FLIGHTS.min(buffers.len()));
    let own = std::mem::replace(buffers, rest);
    let mut reads = Asynchronous::open_with(&input.path, own, input.size, false)?;
    let mut sum = TransferSum::default();
    let mut offsets = input.offsets().enumerate();
    for (number, offset) in offsets.by_ref().take(FLIGHTS) {
        reads.start(number, offset)?;
    }
    for number in 0..input.count as usize {
        sum.add(reads.wait(number % FLIGHTS)?);
        if let Some((number, offset)) = offsets.next() {
            reads.start(number % FLIGHTS, offset)?;
        }
    }
    buffers.append(&mut reads.into_buffers());
    Ok(input.outcome(&sum, None))
}

fn options(size: usize) -> RingOptions {
    RingOptions { depth: BATCH, buffer_bytes: size, direct: false, registered: false }
}

fn ring(input: &TransferInput, buffers: &mut Vec<AlignedBuffer>) -> Result<Outcome> {
    let made = Ring::with_buffers(&input.path, options(input.size), std::mem::take(buffers))?;
    let mut ring = made.map_err(|reason| Error::new(ErrorKind::Io, reason))?;
    let mut sum = TransferSum::default();
    let size = input.size as u32;
    let ranges = input.offsets().map(|offset| (offset, size));
    ring.read_ranges(ranges, |_, transfer| sum.add(transfer))?;
    *buffers = ring.into_buffers();
    Ok(input.outcome(&sum, None))
}

fn map(input: &TransferInput, buffer: &mut [u8]) -> Result<Outcome> {
    let map = Map::open(&input.path, Sharing::Private, false, &[])?;
    let mut sum = TransferSum::default();
    for transfer in map.bytes().chunks_exact(input.size).take(input.count as usize) {
        buffer.copy_from_slice(transfer);
        sum.add(buffer);
    }
    Ok(input.outcome(&sum, Some(4)))
}

fn fortran(input: &TransferInput, method: &str, program: Option<&Path>) -> Result<Outcome> {
    let program =
        program.ok_or_else(|| Error::new(ErrorKind::Io, "the program was not compiled"))?;
    let (size, count) = (input.size.to_string(), input.count.to_string());
    let arguments = [OsStr::new(method), input.path.as_os_str(), size.as_ref(), count.as_ref()];
    run_program(program, &arguments)
}
