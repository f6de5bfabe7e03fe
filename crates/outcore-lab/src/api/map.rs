//! Files as memory (`mmap`).
//!
//! Hazard: if the file is truncated while it is mapped, or the disk fails, the next touch of a page ends the process
//! (SIGBUS); if the file is written, memory changes under a shared reference. Map only files that this process created
//! and nobody else touches, such as those of the laboratory.
#![expect(unsafe_code, reason = "mmap has no safe interface")]

use outcore::{Error, Result};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// Visibility of stores to the mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Read only, `MAP_PRIVATE`.
    Private,
    /// Read only, `MAP_SHARED`.
    Shared,
    /// Readable and writable, `MAP_SHARED`: stores reach the file.
    SharedWrite,
}

/// Advice to the kernel about future accesses (`madvise`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Random accesses: no read-ahead.
    Random,
    /// Accesses from front to back.
    Sequential,
    /// Accesses soon: begin to read.
    WillNeed,
    /// Read all of it now, before the call returns (`MADV_POPULATE_READ`, Linux 5.14).
    #[cfg(target_os = "linux")]
    PopulateRead,
}

/// Memory mapping of a file.
pub struct Map {
    address: NonNull<u8>,
    len: usize,
    writable: bool,
    path: PathBuf,
}

impl Map {
    /// Maps all of `path`; with `populate` the kernel reads it and fills the page table immediately (`MAP_POPULATE`,
    /// on Linux). See the hazard above.
    ///
    /// # Errors
    /// `Io`.
    pub fn open(path: &Path, sharing: Sharing, populate: bool, advice: &[Advice]) -> Result<Self> {
        let fail = |e| Error::io("map", path, e);
        let writable = sharing == Sharing::SharedWrite;
        let file: File = OpenOptions::new()
            .read(true)
            .write(writable)
            .open(path)
            .map_err(|e| Error::io("open", path, e))?;
        let len = file.metadata().map_err(fail)?.len() as usize;
        let path = path.to_owned();
        if len == 0 {
            return Ok(Self { address: NonNull::dangling(), len, writable, path });
        }
        let protection =
            if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        let visible =
            if sharing == Sharing::Private { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
        #[cfg(target_os = "linux")]
        let populated = if populate { libc::MAP_POPULATE } else { 0 };
        #[cfg(not(target_os = "linux"))]
        let (populated, _) = (0, populate);
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing; it does not
        // need the descriptor once it is made.
        let address = unsafe {
            let none = std::ptr::null_mut();
            libc::mmap(none, len, protection, visible | populated, file.as_raw_fd(), 0)
        };
        if address == libc::MAP_FAILED {
            return Err(Error::io("map", &path, std::io::Error::last_os_error()));
        }
        let address = NonNull::new(address.cast()).expect("the kernel maps nothing at zero");
        let map = Self { address, len, writable, path };
        advice.iter().try_for_each(|&advice| map.advise(advice))?;
        Ok(map)
    }

    /// Gives the kernel advice about the whole mapping.
    ///
    /// # Errors
    /// `Io`, such as `EINVAL` where the kernel does not know the advice.
    pub fn advise(&self, advice: Advice) -> Result<()> {
        let number = match advice {
            Advice::Random => libc::MADV_RANDOM,
            Advice::Sequential => libc::MADV_SEQUENTIAL,
            Advice::WillNeed => libc::MADV_WILLNEED,
            #[cfg(target_os = "linux")]
            Advice::PopulateRead => libc::MADV_POPULATE_READ,
        };
        // SAFETY: the range is the mapping's own, and none of these kinds of advice changes memory.
        let failed = self.len > 0
            && unsafe { libc::madvise(self.address.as_ptr().cast(), self.len, number) } != 0;
        if failed { Err(self.error("advise on")) } else { Ok(()) }
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is `len` readable bytes and lives as long as `self`; the module requires that nobody
        // writes or truncates the file meanwhile.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.len) }
    }

    /// Returns the bytes for writing; `None` unless mapped as [`Sharing::SharedWrite`].
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        // SAFETY: as above, and the mapping is writable and not borrowed elsewhere.
        self.writable
            .then(|| unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.len) })
    }

    /// Makes all stores durable (`msync`).
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn sync(&mut self) -> Result<()> {
        // SAFETY: the range is the mapping's own.
        let failed = self.len > 0
            && unsafe { libc::msync(self.address.as_ptr().cast(), self.len, libc::MS_SYNC) } != 0;
        if failed { Err(self.error("sync")) } else { Ok(()) }
    }

    fn error(&self, action: &str) -> Error {
        Error::io(action, &self.path, std::io::Error::last_os_error())
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: the mapping was made here, and no borrow of it outlives `self`.
            unsafe { libc::munmap(self.address.as_ptr().cast(), self.len) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_reads_the_file_and_stores_to_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, b"0123456789").unwrap();
        for (sharing, populate) in [(Sharing::Private, true), (Sharing::Shared, false)] {
            let advice = [Advice::Sequential, Advice::WillNeed, Advice::Random];
            let mut map = Map::open(&path, sharing, populate, &advice).unwrap();
            assert_eq!(map.bytes(), b"0123456789");
            assert!(map.bytes_mut().is_none());
        }
        let mut map = Map::open(&path, Sharing::SharedWrite, false, &[]).unwrap();
        map.bytes_mut().unwrap()[3] = b'x';
        map.sync().unwrap();
        drop(map);
        assert_eq!(std::fs::read(&path).unwrap(), b"012x456789");
    }

    #[test]
    fn empty_files_are_mapped_and_missing_ones_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        assert!(Map::open(&path, Sharing::Private, false, &[]).is_err());
        std::fs::write(&path, b"").unwrap();
        let mut map = Map::open(&path, Sharing::SharedWrite, true, &[Advice::Random]).unwrap();
        assert!(map.bytes().is_empty() && map.bytes_mut().unwrap().is_empty());
        map.sync().unwrap();
    }
}
