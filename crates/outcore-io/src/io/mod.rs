//! Storage and I/O. Every file that the engine uses is opened here.
//!
//! [`Storage`] is the interface: positioned, unbuffered reads and writes, renames, listings. [`Disk`] is the
//! real implementation; `outcore_testkit::sim` simulates one for tests, with faults. The engine works with
//! [`Files`], which repeats short transfers, counts bytes, and turns failures into errors that name the path.
//! [`Writer`] and [`ReadAhead`] move large blocks in the background; an [`Array`] holds numbers between two
//! steps of a job. [`Tuning`] sets block sizes and queue depths, from a [`DiskProfile`] if there is one.
//!
//! ```
//! use outcore_io::{Files, Mode, Writer};
//! # let temporary = tempfile::tempdir().expect("a directory");
//! # let directory = temporary.path();
//!
//! let files = Files::default();
//! let path = directory.join("numbers");
//! // Two buffers of 64 KiB are written in the background. The file gets its name once it is complete.
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
//! # Ok::<(), outcore_io::Error>(())
//! ```

mod array;
mod buffered;
mod cramped;
mod disk;
mod files;
mod held;
mod location;
mod memory;
mod meter;
mod profile;
mod ram;
mod scratch;
mod stream;
mod tuning;
mod wait;

pub use array::{ARRAY_BLOCK_BYTES, Array, ArrayReader, ArrayWriter, Number, numbers_in};
pub use array::{Column, ColumnScan, Shares, SharesScan};
pub use buffered::BufferedReader;
pub use cramped::Cramped;
pub use disk::Disk;
pub use disk::{address_limit, peak_memory_bytes, resident_memory_bytes};
pub use disk::{available_memory_bytes, is_ignored};
pub use files::{Counters, Files, StoredFile};
pub use location::{Location, Locator};
pub use memory::share_freed_memory;
pub use memory::{give_back_freed, prefetch, reserve_large_pages};
pub use meter::{Meter, own_process};
pub use meter::{Watch, begin_stage, check as check_memory, stage_peak_bytes};
pub use profile::{
    Confidence, DerivedSettings, DiskProfile, Figure, RandomReadProfile, TransferProfile, ValidIf,
};
pub use ram::Ram;
pub use scratch::Owner;
pub use scratch::Scratch;
pub use scratch::{SCRATCH_HINT, damaged as damaged_manifest, manifest_path};
pub use stream::Grows;
pub use stream::{AlignedBuffer, ReadAhead, Writer};
pub use tuning::WRITER_BYTES;
pub use tuning::{Transfer, Tuning};
pub use wait::{Stop, is_stdout_closed};

use std::io;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// Buffer size of a file or stream that is read or written in small pieces.
pub const SMALL_BUFFER_BYTES: usize = 256 << 10;

/// Alignment of positions, lengths and addresses in direct I/O.
pub const ALIGNMENT: usize = 4096;

/// Way of opening a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Existing file, for reading, through the page cache.
    Read,
    /// Existing file, for reading, bypassing the page cache where the file system supports it.
    ReadDirect,
    /// New file, for writing, through the page cache. An existing file of that name is unlinked, which leaves
    /// its content intact under its other names; a symbolic link is an error.
    Create,
    /// New file, for writing, bypassing the page cache where the file system supports it.
    CreateDirect,
    /// Existing file, for writing, keeping its content, through the page cache. A symbolic link is an error.
    Extend,
    /// Existing file, for writing, keeping its content, bypassing the page cache where the file system supports it.
    ExtendDirect,
}

/// Length and checksum that identify a finished file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sealed {
    /// Length in bytes.
    pub bytes: u64,
    /// Checksum of the content.
    pub checksum: u64,
}

/// What a path leads to, through any links and names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileIdentity {
    /// Numbers of a device and of a file on it.
    Number(u64, u64),
    /// Path, where the storage has one for each file.
    Path(PathBuf),
}

/// Entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Full path.
    pub path: PathBuf,
    /// Length in bytes; 0 for directories.
    pub bytes: u64,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Time of the last write, in milliseconds since 1970, if the system reports it.
    pub modified_ms: Option<u64>,
    /// Tag that changes whenever the content does, if there is one: inode number and time of the last change
    /// of any kind, or the tag of an object on a server.
    pub tag: Option<String>,
}

/// Device that files are stored on, as far as the system reports it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Device {
    /// Device number.
    pub number: u64,
    /// Mounted source, such as `/dev/sda1`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    /// UUID of the file system.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uuid: Option<String>,
}

impl Device {
    /// Returns a short identifier of the device that is usable as a file name.
    pub fn id(&self) -> String {
        match &self.uuid {
            Some(uuid) => uuid.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect(),
            None => format!("device-{:x}", self.number),
        }
    }

    /// Whether both are the same device: device numbers may change at each boot, file system UUIDs do not.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.uuid, &other.uuid) {
            (Some(one), Some(two)) => one == two,
            _ => self.number == other.number,
        }
    }
}

/// Result of an attempt to lock a file.
pub enum Lock {
    /// The caller holds the lock until this is dropped or the process ends.
    Held(Box<dyn std::any::Any + Send + Sync>),
    /// Another process or job holds the lock.
    Taken,
    /// The file system has no locks.
    Unsupported,
}

/// File system that files are stored on. Short reads and writes are allowed and expected.
pub trait Storage: Send + Sync {
    /// Opens a file.
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Box<dyn File>>;
    /// Opens a file that may be a pipe, to be read once from its beginning; `-` is standard input.
    fn open_stream(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>>;
    /// Opens a file that may be a pipe or a device, to be written once from its beginning; `-` is standard output.
    fn create_stream(&self, path: &Path) -> io::Result<Box<dyn io::Write + Send>>;
    /// Renames a finished file into place and makes the rename durable.
    fn publish(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Creates a directory and its parents, and makes the names of new ones durable.
    fn create_directory(&self, path: &Path) -> io::Result<()>;
    /// Creates a directory with access for the current user only, in an existing parent; it may exist already.
    fn create_private_directory(&self, path: &Path) -> io::Result<()> {
        self.create_directory(path)
    }
    /// Creates a directory with access for the current user only, in an existing parent; fails with
    /// `AlreadyExists` if the name is taken. If several callers try concurrently, one succeeds.
    fn create_new_directory(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;
    /// Makes data and length of a file durable after its last write.
    fn sync(&self, path: &Path) -> io::Result<()> {
        self.open(path, Mode::Read)?.sync()
    }
    /// Lists a directory, sorted by path; symbolic links are not followed.
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>>;
    /// Describes a path; `NotFound` if it does not exist.
    fn entry(&self, path: &Path) -> io::Result<Entry>;
    /// Returns where a symbolic link leads, whether or not anything is there; `None` if the path is no link.
    fn link(&self, _path: &Path) -> Option<PathBuf> {
        None
    }
    /// Whether a path can be read at any position (is a regular file).
    fn is_regular(&self, path: &Path) -> bool;
    /// Returns what identifies the file or directory that a path leads to, through any links and names; `None` if nothing
    /// is there.
    fn identity(&self, path: &Path) -> Option<FileIdentity> {
        self.canonical(path).ok().map(FileIdentity::Path)
    }
    /// Returns the path of an existing file or directory without links, `.` and `..`.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.entry(path).map(|_| plain(path))
    }
    /// Whether a path is no symbolic link and belongs to the user of this process. True if nothing is there, since it
    /// may just have been removed, and true where the system has neither links nor owners.
    fn is_own(&self, _path: &Path) -> bool {
        true
    }
    /// Whether a path can only be read; true for objects on a server.
    fn is_read_only(&self, _path: &Path) -> bool {
        false
    }
    /// Returns the memory that reading a file takes in addition to the reader's buffers: data in flight from a server.
    fn held_bytes(&self, _path: &Path) -> u64 {
        0
    }
    /// Returns the bytes free for new files at an existing path.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
    /// Locks a file against every other lock of it; creates the file if it does not exist.
    fn lock(&self, _path: &Path) -> io::Result<Lock> {
        Ok(Lock::Unsupported)
    }
    /// Returns the device that an existing path is stored on, if it is known.
    fn device(&self, _path: &Path) -> Option<Device> {
        None
    }
}

/// Open file.
pub trait File: Send + Sync {
    /// Reads at `offset`; returns 0 at the end of the file.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;
    /// Announces that this range will be read front to back, so that it can be prefetched.
    fn will_read(&self, _range: Range<u64>) {}
    /// Writes at `offset`, extending the file as needed.
    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<usize>;
    /// Returns the length in bytes.
    fn bytes(&self) -> io::Result<u64>;
    /// Truncates or extends the file.
    fn set_bytes(&self, bytes: u64) -> io::Result<()>;
    /// Makes data and length durable.
    fn sync(&self) -> io::Result<()>;
    /// Whether transfers must be multiples of [`ALIGNMENT`].
    fn is_direct(&self) -> bool;
}

/// Returns the path without `.`, and without `..` after a name.
fn plain(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => _ = parts.pop(),
            _ => parts.push(part),
        }
    }
    parts.iter().collect()
}
