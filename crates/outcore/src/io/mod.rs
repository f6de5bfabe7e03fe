//! The one door to files. Nothing else in the engine touches the file system.
//!
//! [`Storage`] is the seam: positioned, unbuffered reads and writes, renames, listings. The real one
//! is [`Disk`]; the simulated one (`sim`, for tests) injects faults. [`Files`] is what the engine
//! holds: it loops over short transfers, counts bytes, and turns failures into errors with a path.
//! [`Writer`] and [`ReadAhead`] move large blocks in the background. [`Tuning`] says how large, from
//! a [`DiskProfile`] if there is one.
//!
//! ```
//! use outcore::io::{Files, Mode, Writer};
//! # let temporary = tempfile::tempdir().expect("a directory");
//! # let directory = temporary.path();
//!
//! let files = Files::default();
//! let path = directory.join("numbers");
//! // Two buffers of 64 KiB are written behind the caller's back. The file gets its name once it is whole.
//! let mut writer = Writer::create(&files, &path, 64 << 10, 2)?;
//! for number in 0..100_000u32 {
//!     writer.write(&number.to_le_bytes())?;
//! }
//! writer.finish()?;
//!
//! let file = files.open(&path, Mode::Read)?;
//! let mut number = [0; 4];
//! file.read_exact_at(4 * 4321, &mut number)?;
//! assert_eq!(u32::from_le_bytes(number), 4321);
//! assert!(files.counters().write_bytes() >= 400_000);
//! # Ok::<(), outcore::Error>(())
//! ```

mod cramped;
mod disk;
mod files;
mod held;
mod memory;
mod meter;
mod profile;
mod ram;
mod scratch;
#[cfg(feature = "sim")]
#[doc(hidden)]
pub mod sim;
mod stream;
mod tuning;
mod wait;
mod words;

pub use cramped::Cramped;
pub use disk::Disk;
pub(crate) use disk::{address_limit, peak_memory_bytes, resident_memory_bytes};
#[doc(hidden)]
pub use disk::{available_memory_bytes, is_ignored};
pub use files::{Counters, Files, StoredFile};
#[doc(hidden)]
pub use memory::share_freed_memory;
pub(crate) use memory::{give_back_freed, prefetch, reserve_large_pages};
pub use meter::{Meter, own_process};
pub(crate) use meter::{Watch, begin_stage, check as check_memory, stage_peak_bytes};
pub use profile::{
    Confidence, DerivedSettings, DiskProfile, Figure, RandomReadProfile, TransferProfile, ValidIf,
};
#[doc(hidden)]
pub use ram::Ram;
#[doc(hidden)]
pub use scratch::Owner;
pub use scratch::Scratch;
pub(crate) use scratch::{SCRATCH_HINT, damaged as damaged_manifest, manifest_path};
pub(crate) use stream::Grows;
pub use stream::{AlignedBuffer, ReadAhead, Writer};
pub(crate) use tuning::WRITER_BYTES;
pub use tuning::{Transfer, Tuning};
#[doc(hidden)]
pub use wait::Stop;
pub(crate) use words::{BLOCK_WORDS, BUFFERS, WordReader, WordWriter};

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Buffer of a file or stream that is read or written in small pieces.
pub(crate) const SMALL_BUFFER_BYTES: usize = 256 << 10;

/// Positions, lengths and addresses of direct I/O are multiples of this.
pub const ALIGNMENT: usize = 4096;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Existing, for reading, through the page cache.
    Read,
    /// Existing, for reading, past the page cache where the file system can.
    ReadDirect,
    /// New, for writing, through the page cache. A file that has the name loses it, and keeps what it
    /// holds under its others; a link is an error.
    Create,
    /// New, for writing, past the page cache where the file system can.
    CreateDirect,
    /// Existing, for writing, with what it holds, through the page cache. A link is an error.
    Extend,
    /// Existing, for writing, with what it holds, past the page cache where the file system can.
    ExtendDirect,
}

/// What a finished file is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sealed {
    /// Its length.
    pub bytes: u64,
    /// Of what it holds, by which it is told from others of this length.
    pub checksum: u64,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The full path.
    pub path: PathBuf,
    /// Length in bytes; 0 for directories.
    pub bytes: u64,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// When it was last written, in milliseconds since 1970, if the system tells.
    pub modified_ms: Option<u64>,
    /// What tells its content from every other it has had, if there is such a thing: its number and the time
    /// of its last change of any kind, or the tag of an object on a server.
    pub tag: Option<String>,
}

/// What files lie on, as far as the system tells.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Device {
    /// Its number.
    pub number: u64,
    /// What is mounted, such as `/dev/sda1`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    /// The file system's own identity.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uuid: Option<String>,
}

impl Device {
    /// A short name for it that can be a file's.
    pub fn id(&self) -> String {
        match &self.uuid {
            Some(uuid) => uuid.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect(),
            None => format!("device-{:x}", self.number),
        }
    }

    /// Whether both are the same: numbers may change at each start, a file system's identity does not.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.uuid, &other.uuid) {
            (Some(one), Some(two)) => one == two,
            _ => self.number == other.number,
        }
    }
}

/// What became of a lock.
pub enum Lock {
    /// It is the caller's until this is dropped, or the process ends.
    Held(Box<dyn std::any::Any + Send + Sync>),
    /// Another has it.
    Taken,
    /// There are no locks here.
    Unsupported,
}

/// Where files live. Short reads and writes are allowed and expected.
pub trait Storage: Send + Sync {
    /// Opens a file.
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Box<dyn File>>;
    /// Opens a file that may be a pipe, to be read once from its beginning; `-` is standard input.
    fn open_stream(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>>;
    /// Opens a file that may be a pipe or a device, to be written once; `-` is standard output.
    fn create_stream(&self, path: &Path) -> io::Result<Box<dyn io::Write + Send>>;
    /// Renames a finished file into place and makes the rename durable.
    fn publish(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Creates a directory and its parents, and makes the names of new ones durable.
    fn create_directory(&self, path: &Path) -> io::Result<()>;
    /// Creates a directory for the user of this process alone, in one that is there; it may be there.
    fn create_private_directory(&self, path: &Path) -> io::Result<()> {
        self.create_directory(path)
    }
    /// Creates a directory for the user of this process alone, in one that is there; fails with
    /// `AlreadyExists` if anything has the name. Of several that try at once, one succeeds.
    fn create_new_directory(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;
    /// Makes data and length of a file durable that is written no more.
    fn sync(&self, path: &Path) -> io::Result<()> {
        self.open(path, Mode::Read)?.sync()
    }
    /// Lists a directory, sorted by path; links are not followed.
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>>;
    /// What a path is, or `NotFound`.
    fn entry(&self, path: &Path) -> io::Result<Entry>;
    /// Whether a path can be read at any position (a regular file).
    fn is_regular(&self, path: &Path) -> bool;
    /// Whether both are the same file, by whatever links and names.
    fn is_same(&self, one: &Path, other: &Path) -> bool {
        one == other
    }
    /// Whether a path is no link, and belongs to the user of this process; yes where the system has
    /// neither.
    fn is_own(&self, _path: &Path) -> bool {
        true
    }
    /// Whether it can only be read; yes for what lies on a server.
    fn is_read_only(&self, _path: &Path) -> bool {
        false
    }
    /// Memory that reading it takes beside the reader's buffers: what is on its way from a server.
    fn held_bytes(&self, _path: &Path) -> u64 {
        0
    }
    /// Bytes free for new files at an existing path.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
    /// Locks a file, which is made if it is not there, against every other lock of it.
    fn lock(&self, _path: &Path) -> io::Result<Lock> {
        Ok(Lock::Unsupported)
    }
    /// What an existing path lies on, if that can be told.
    fn device(&self, _path: &Path) -> Option<Device> {
        None
    }
}

/// An open file.
pub trait File: Send + Sync {
    /// Reads at `offset`; 0 at the end of the file.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;
    /// Says that this range will be read front to back, for it to be fetched ahead.
    fn will_read(&self, _range: Range<u64>) {}
    /// Writes at `offset`, extending the file as needed.
    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<usize>;
    /// Length in bytes.
    fn bytes(&self) -> io::Result<u64>;
    /// Cuts or extends the file.
    fn set_bytes(&self, bytes: u64) -> io::Result<()>;
    /// Makes data and length durable.
    fn sync(&self) -> io::Result<()>;
    /// Whether transfers must keep to [`ALIGNMENT`].
    fn is_direct(&self) -> bool;
}
