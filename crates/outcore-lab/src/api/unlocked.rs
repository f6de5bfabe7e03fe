//! Streams of the C library, read without locking (`fread_unlocked`, available in glibc and musl).
#![cfg(target_os = "linux")]
#![expect(unsafe_code, reason = "the C library's functions take raw pointers")]

use outcore::{Error, Result};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

unsafe extern "C" {
    fn fread_unlocked(
        into: *mut libc::c_void,
        size: libc::size_t,
        count: libc::size_t,
        file: *mut libc::FILE,
    ) -> libc::size_t;
}

/// Stream for reading that no other thread uses.
pub struct Unlocked {
    file: NonNull<libc::FILE>,
    path: PathBuf,
    /// Lent to the C library until the stream is closed.
    _buffer: Vec<u8>,
}

impl Unlocked {
    /// Opens `path` with a buffer of `buffer_bytes` bytes.
    ///
    /// # Errors
    /// `Io`.
    pub fn open(path: &Path, buffer_bytes: usize) -> Result<Self> {
        let fail = |e| Error::io("open", path, e);
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| fail(std::io::ErrorKind::InvalidInput.into()))?;
        // SAFETY: both strings end with a zero byte and outlive the call, which keeps neither.
        let file = unsafe { libc::fopen(name.as_ptr(), c"rb".as_ptr()) };
        let file = NonNull::new(file).ok_or_else(|| fail(std::io::Error::last_os_error()))?;
        let mut buffer = vec![0u8; buffer_bytes.max(1)];
        let (address, len) = (buffer.as_mut_ptr().cast(), buffer.len());
        let stream = Self { file, path: path.to_owned(), _buffer: buffer };
        // SAFETY: the stream is open and unused; the buffer is touched only by the C library and outlives the stream,
        // which `drop` closes first.
        let failed = unsafe { libc::setvbuf(file.as_ptr(), address, libc::_IOFBF, len) } != 0;
        if failed { Err(fail(std::io::Error::last_os_error())) } else { Ok(stream) }
    }

    /// Fills `into`.
    ///
    /// # Errors
    /// `Io`, also if the file ends early.
    #[inline]
    pub fn read_exact(&mut self, into: &mut [u8]) -> Result<()> {
        // SAFETY: the stream is open and used only by this thread (`&mut`), and `into` has room for the requested
        // bytes.
        let count =
            unsafe { fread_unlocked(into.as_mut_ptr().cast(), 1, into.len(), self.file.as_ptr()) };
        if count == into.len() {
            return Ok(());
        }
        Err(Error::io("read", &self.path, std::io::ErrorKind::UnexpectedEof.into()))
    }
}

impl Drop for Unlocked {
    fn drop(&mut self) {
        // SAFETY: the stream is open, and nothing uses it after this.
        unsafe { libc::fclose(self.file.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_past_the_end_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        assert!(Unlocked::open(&path, 8).is_err());
        std::fs::write(&path, b"0123456789").unwrap();
        let mut stream = Unlocked::open(&path, 4).unwrap();
        let mut five = [0; 5];
        stream.read_exact(&mut five).unwrap();
        stream.read_exact(&mut five).unwrap();
        assert_eq!(&five, b"56789");
        assert!(stream.read_exact(&mut five).is_err());
    }
}
