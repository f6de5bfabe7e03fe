//! The real storage: files of the operating system. The only module that opens them.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "files are opened here")]

use super::wait::Waited;
use super::{Device, Entry, File, FileIdentity, Lock, Mode, Stop, Storage};
use crate::error::is_out_of_descriptors;
use std::fs::{self, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

/// Files of the operating system.
#[derive(Clone, Default)]
pub struct Disk {
    stop: Option<Stop>,
    spare: Arc<Spare>,
}

/// Spare descriptor. It is given up to list a directory if no other is free, so that a job that fails for want of
/// descriptors still removes its files.
#[derive(Default)]
struct Spare(Mutex<Option<fs::File>>);

impl Spare {
    /// Opens it, if the system has such a file.
    fn keep(&self) -> io::Result<()> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.is_none() {
            *spare = match fs::File::open("/dev/null") {
                Err(error) if is_out_of_descriptors(&error) => return Err(error),
                opened => opened.ok(),
            };
        }
        Ok(())
    }

    fn give_up(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Disk {
    /// Returns a storage that waits for pipes and devices until `stop` returns true.
    pub fn stopped_by(stop: Stop) -> Self {
        Self { stop: Some(stop), ..Self::default() }
    }
}

struct DiskFile {
    file: fs::File,
    direct: bool,
}

impl Storage for Disk {
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Box<dyn File>> {
        let mut options = OpenOptions::new();
        let direct = matches!(mode, Mode::ReadDirect | Mode::CreateDirect | Mode::ExtendDirect);
        match mode {
            Mode::Read | Mode::ReadDirect => options.read(true),
            Mode::Create | Mode::CreateDirect => options.write(true).create_new(true),
            Mode::Extend | Mode::ExtendDirect => options.write(true),
        };
        let flags = if matches!(mode, Mode::Read | Mode::ReadDirect) { 0 } else { NO_LINKS };
        let is_new = matches!(mode, Mode::Create | Mode::CreateDirect);
        let open = if is_new { open_new } else { open_existing };
        if direct && let Some(direct_flag) = DIRECT {
            with_flags(&mut options, flags | direct_flag);
            if let Ok(file) = open(&options, path) {
                return Ok(Box::new(DiskFile { file, direct: true }));
            }
        }
        // The file system has no direct I/O, or the path is wrong: an ordinary open tells which.
        with_flags(&mut options, flags);
        Ok(Box::new(DiskFile { file: open(&options, path)?, direct: false }))
    }

    fn open_stream(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        if path == Path::new("-") {
            return Ok(Box::new(Waited::stdin(self.stop.clone())?));
        }
        let kind = fs::metadata(path)?.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if kind.is_file() {
            return Ok(Box::new(fs::File::open(path)?));
        }
        Ok(Box::new(Waited::open(path, self.stop.clone())?))
    }

    fn create_stream(&self, path: &Path) -> io::Result<Box<dyn io::Write + Send>> {
        if path == Path::new("-") {
            return Ok(Box::new(Waited::stdout(self.stop.clone())?));
        }
        Ok(Box::new(Waited::create(path, self.stop.clone())?))
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        sync_directory(to.parent().unwrap_or(Path::new(".")))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
        fs::create_dir_all(path)?;
        missing.iter().filter_map(|made| made.parent()).try_for_each(sync_directory)
    }

    fn create_private_directory(&self, path: &Path) -> io::Result<()> {
        match private_directory(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            Err(error) => Err(error),
            Ok(()) => path.parent().map_or(Ok(()), sync_directory).inspect_err(|_| {
                let _ = fs::remove_dir(path);
            }),
        }
    }

    fn create_new_directory(&self, path: &Path) -> io::Result<()> {
        private_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        // Some systems sync a file only if it is open for writing.
        OpenOptions::new().write(true).open(path)?.sync_all()
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        let read = fs::read_dir(directory).or_else(|error| {
            if !is_out_of_descriptors(&error) {
                return Err(error);
            }
            self.spare.give_up();
            fs::read_dir(directory)
        });
        let mut entries = read?
            .map(|entry| entry.and_then(|entry| Ok(described(entry.path(), &entry.metadata()?))))
            .collect::<io::Result<Vec<_>>>()?;
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    fn entry(&self, path: &Path) -> io::Result<Entry> {
        Ok(described(path.to_path_buf(), &fs::metadata(path)?))
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        let target = fs::read_link(path).ok()?;
        Some(path.parent().unwrap_or(Path::new("")).join(target))
    }

    fn is_regular(&self, path: &Path) -> bool {
        path != Path::new("-") && fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
    }

    fn identity(&self, path: &Path) -> Option<FileIdentity> {
        identity(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn is_own(&self, path: &Path) -> bool {
        is_own(path)
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        free_bytes(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        self.spare.keep()?;
        loop {
            let mut options = OpenOptions::new();
            with_flags(&mut options, NO_LINKS);
            let file = options.read(true).write(true).create(true).truncate(false).open(path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, path) => return Ok(Lock::Held(Box::new(file))),
                // The previous holder has removed the file in the meantime.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Lock::Taken),
                // Some network file systems have no locks.
                Err(TryLockError::Error(_)) => return Ok(Lock::Unsupported),
            }
        }
    }

    fn device(&self, path: &Path) -> Option<Device> {
        device(path)
    }
}

/// Whether an open file still has this name.
#[cfg(unix)]
fn is_at(file: &fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let open = file.metadata().map(number);
    let named = fs::metadata(path).map(number);
    open.ok().zip(named.ok()).is_some_and(|(open, named)| open == named)
}

/// Whether an open file still has this name: open files cannot be removed on this system.
#[cfg(not(unix))]
fn is_at(_file: &fs::File, _path: &Path) -> bool {
    true
}

#[cfg(unix)]
fn device(path: &Path) -> Option<Device> {
    use std::os::unix::fs::MetadataExt;
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let number = fs::metadata(path).ok()?.dev();
    let source = mount_source(number);
    let uuid = source.as_deref().and_then(uuid_of);
    Some(Device { number, source, uuid })
}

#[cfg(not(unix))]
fn device(_path: &Path) -> Option<Device> {
    None
}

/// Returns the source mounted as the device, from the kernel's mount table: the third field is the device
/// number, and the second field after the lone `-` is the source.
#[cfg(unix)]
fn mount_source(number: u64) -> Option<String> {
    let table = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let wanted = format!("{major}:{minor}");
    let line = table.lines().find(|line| line.split(' ').nth(2) == Some(&wanted))?;
    line.split(" - ").nth(1)?.split(' ').nth(1).map(str::to_owned)
}

/// Returns the UUID of the file system on a block device, from the links that the system maintains.
#[cfg(unix)]
fn uuid_of(source: &str) -> Option<String> {
    let source = fs::canonicalize(source).ok()?;
    let links = fs::read_dir("/dev/disk/by-uuid").ok()?;
    links.flatten().find_map(|link| {
        let is_it = fs::canonicalize(link.path()).is_ok_and(|target| target == source);
        is_it.then(|| link.file_name().to_string_lossy().into_owned())
    })
}

/// Returns the kernel release, if the system reports it.
pub(super) fn kernel_release() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/osrelease").ok()?.trim().to_owned())
}

/// Returns the memory of the machine, if the system reports it.
pub(super) fn total_memory_bytes() -> Option<u64> {
    kib_line("/proc/meminfo", "MemTotal:")
}

fn described(path: PathBuf, metadata: &fs::Metadata) -> Entry {
    let is_directory = metadata.is_dir();
    let bytes = if is_directory { 0 } else { metadata.len() };
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified_ms = modified.map(|since| since.as_millis() as u64);
    Entry { path, bytes, is_directory, modified_ms, tag: tag(metadata) }
}

/// Returns the inode number and the time of the last change to the file or its metadata, which no program can set.
#[cfg(unix)]
fn tag(metadata: &fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let (number, seconds, rest) = (metadata.ino(), metadata.ctime(), metadata.ctime_nsec());
    Some(format!("{number}-{seconds}.{rest:09}"))
}

#[cfg(not(unix))]
fn tag(_metadata: &fs::Metadata) -> Option<String> {
    None
}

#[cfg(unix)]
fn private_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

#[cfg(unix)]
fn free_bytes(path: &Path) -> io::Result<u64> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_path: &Path) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the limit of this process's address space in bytes, if there is one (`ulimit -v`).
pub fn address_limit() -> Option<u64> {
    #[cfg(unix)]
    return rustix::process::getrlimit(rustix::process::Resource::As).current;
    #[cfg(not(unix))]
    None
}

/// Returns the peak resident memory of this process, if the system reports it.
pub fn peak_memory_bytes() -> Option<u64> {
    kib_line("/proc/self/status", "VmHWM:")
}

/// Returns the current resident memory of this process, if the system reports it.
pub fn resident_memory_bytes() -> Option<u64> {
    kib_line("/proc/self/status", "VmRSS:")
}

/// Reader of the kernel's memory counters of this process.
pub(super) struct MemoryPages(#[cfg(target_os = "linux")] fs::File);

impl MemoryPages {
    /// Opens the counters, if the system has them.
    #[cfg(target_os = "linux")]
    pub(super) fn open() -> Option<Self> {
        fs::File::open("/proc/self/statm").ok().map(Self)
    }

    /// Returns the resident bytes, and those among them that are not backed by a file.
    #[cfg(target_os = "linux")]
    pub(super) fn read(&self) -> Option<(u64, u64)> {
        let mut table = [0; 128];
        let read = std::os::unix::fs::FileExt::read_at(&self.0, &mut table, 0).ok()?;
        let mut counts = std::str::from_utf8(table.get(..read)?).ok()?.split(' ').skip(1);
        let mut next = || counts.next()?.parse::<u64>().ok();
        let (resident, of_files) = (next()?, next()?);
        let page = rustix::param::page_size() as u64;
        Some((resident * page, resident.saturating_sub(of_files) * page))
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn open() -> Option<Self> {
        None
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn read(&self) -> Option<(u64, u64)> {
        None
    }
}

/// Returns, in bytes, a number of KiB from a kernel table.
fn kib_line(path: &str, label: &str) -> Option<u64> {
    let table = fs::read_to_string(path).ok()?;
    let line = table.lines().find(|line| line.starts_with(label))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// Whether this process ignores a signal, as it does SIGHUP under `nohup`; false where the system does not report it.
pub fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Returns the memory that can still be used without swapping other programs out, if the system reports it.
pub fn available_memory_bytes() -> Option<u64> {
    kib_line("/proc/meminfo", "MemAvailable:")
}

/// Whether a process with this number is running; true where the system cannot tell.
#[cfg(unix)]
pub(super) fn process_lives(number: u32) -> bool {
    // Negative numbers denote process groups.
    let pid = i32::try_from(number).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
pub(super) fn process_lives(number: u32) -> bool {
    number != 0
}

/// Returns the start time of a process, in clock ticks since boot, if the system reports it.
pub(super) fn process_start(number: u32) -> Option<u64> {
    let line = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The second field is the program's name in parentheses, which may contain any characters.
    line.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Flag that refuses to follow a symbolic link.
#[cfg(unix)]
const NO_LINKS: u32 = rustix::fs::OFlags::NOFOLLOW.bits();
#[cfg(not(unix))]
const NO_LINKS: u32 = 0;

#[cfg(unix)]
fn with_flags(options: &mut OpenOptions, flags: u32) {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(flags as i32);
}

#[cfg(not(unix))]
fn with_flags(_options: &mut OpenOptions, _flags: u32) {}

/// Flag that makes transfers bypass the page cache.
#[cfg(target_os = "linux")]
const DIRECT: Option<u32> = Some(rustix::fs::OFlags::DIRECT.bits());
#[cfg(not(target_os = "linux"))]
const DIRECT: Option<u32> = None;

fn open_existing(options: &OpenOptions, path: &Path) -> io::Result<fs::File> {
    options.open(path)
}

/// Creates a file. An existing one is unlinked, not truncated: truncation would empty it under all its names.
fn open_new(options: &OpenOptions, path: &Path) -> io::Result<fs::File> {
    match options.open(path) {
        Err(error)
            if error.kind() == io::ErrorKind::AlreadyExists
                && fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) =>
        {
            fs::remove_file(path)?;
            options.open(path)
        }
        opened => opened,
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path).ok()?;
    Some(FileIdentity::Number(found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<FileIdentity> {
    fs::canonicalize(path).ok().map(FileIdentity::Path)
}

#[cfg(unix)]
fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    match fs::symlink_metadata(path) {
        Ok(found) => !found.is_symlink() && found.uid() == user,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(not(unix))]
fn is_own(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(found) => !found.is_symlink(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    fs::File::open(path)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

impl File for DiskFile {
    #[cfg(unix)]
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, into, offset)
    }

    #[cfg(unix)]
    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(&self.file, from, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, into, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(&self.file, from, offset)
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_bytes(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn is_direct(&self) -> bool {
        self.direct
    }
}
