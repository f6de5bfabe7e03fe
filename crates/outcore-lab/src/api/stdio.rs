//! Streams of the C library: its own `fopen`, `setvbuf`, `fseeko`, `fread`, `fwrite`.
#![expect(unsafe_code, reason = "the C library's functions take raw pointers")]

use outcore::{Error, Result};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// Buffer of a stream between the program and the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffering {
    /// Choice of the C library.
    Default,
    /// No buffer (`_IONBF`).
    None,
    /// Buffer of this many bytes (`_IOFBF`), at least one. It is allocated here: glibc ignores the size if it
    /// allocates the buffer itself.
    Of(usize),
}

/// Origin of an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whence {
    /// Start of the file (`SEEK_SET`).
    Start,
    /// Current position of the stream (`SEEK_CUR`).
    Current,
    /// End of the file (`SEEK_END`).
    End,
}

/// Stream (`FILE *`). Between a read and a write, in either order, the C library requires a [`Stream::seek`] or
/// [`Stream::flush`].
pub struct Stream {
    file: NonNull<libc::FILE>,
    path: PathBuf,
    /// Lent to the C library until the stream is closed; a vector, because moving it does not invalidate pointers to
    /// its elements.
    _buffer: Vec<u8>,
}

impl Stream {
    /// Opens `path` in a mode of `fopen`, such as `rb+`.
    ///
    /// # Errors
    /// `Io`.
    pub fn open(path: &Path, mode: &str, buffering: Buffering) -> Result<Self> {
        let fail = |e| Error::io("open", path, e);
        let nul = |_| fail(std::io::ErrorKind::InvalidInput.into());
        let name = CString::new(path.as_os_str().as_bytes()).map_err(nul)?;
        let mode = CString::new(mode).map_err(nul)?;
        // SAFETY: both strings end with a zero byte and outlive the call, which keeps neither.
        let file = unsafe { libc::fopen(name.as_ptr(), mode.as_ptr()) };
        let file = NonNull::new(file).ok_or_else(|| fail(std::io::Error::last_os_error()))?;
        let mut stream = Self { file, path: path.to_owned(), _buffer: Vec::new() };
        stream.set(buffering)?;
        Ok(stream)
    }

    /// Sets the buffer; to be called once, before the first operation.
    fn set(&mut self, buffering: Buffering) -> Result<()> {
        let (mode, bytes) = match buffering {
            Buffering::Default => return Ok(()),
            Buffering::None => (libc::_IONBF, 0),
            Buffering::Of(bytes) => (libc::_IOFBF, bytes.max(1)),
        };
        self._buffer = vec![0; bytes];
        let address = match buffering {
            Buffering::Of(_) => self._buffer.as_mut_ptr().cast(),
            _ => std::ptr::null_mut(),
        };
        // SAFETY: the stream is open and unused. The buffer has `bytes` bytes, is touched only by the C library, and
        // outlives the stream: `drop` closes the stream first.
        let failed = unsafe { libc::setvbuf(self.file.as_ptr(), address, mode, bytes) } != 0;
        if failed { Err(self.error("set the buffer of")) } else { Ok(()) }
    }

    fn error(&self, action: &str) -> Error {
        Error::io(action, &self.path, std::io::Error::last_os_error())
    }

    /// Moves to `offset` bytes from `whence`.
    ///
    /// # Errors
    /// `Io`.
    #[inline]
    pub fn seek(&mut self, whence: Whence, offset: i64) -> Result<()> {
        let from = match whence {
            Whence::Start => libc::SEEK_SET,
            Whence::Current => libc::SEEK_CUR,
            Whence::End => libc::SEEK_END,
        };
        // SAFETY: the stream is open.
        let failed = unsafe { libc::fseeko(self.file.as_ptr(), offset as libc::off_t, from) } != 0;
        if failed { Err(self.error("seek in")) } else { Ok(()) }
    }

    /// Reads into `into`; returns the number of bytes, fewer than requested only at the end of the file.
    ///
    /// # Errors
    /// `Io`.
    #[inline]
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        // SAFETY: the stream is open, and `into` has room for the requested bytes.
        let count =
            unsafe { libc::fread(into.as_mut_ptr().cast(), 1, into.len(), self.file.as_ptr()) };
        // SAFETY: the stream is open.
        if count < into.len() && unsafe { libc::ferror(self.file.as_ptr()) } != 0 {
            return Err(self.error("read"));
        }
        Ok(count)
    }

    /// Fills `into`.
    ///
    /// # Errors
    /// `Io`, also if the file ends early.
    #[inline]
    pub fn read_exact(&mut self, into: &mut [u8]) -> Result<()> {
        if self.read(into)? == into.len() {
            return Ok(());
        }
        Err(Error::io("read", &self.path, std::io::ErrorKind::UnexpectedEof.into()))
    }

    /// Writes all of `from`.
    ///
    /// # Errors
    /// `Io`, `DiskFull`; with a buffer possibly not before [`Stream::flush`] or [`Stream::close`].
    #[inline]
    pub fn write(&mut self, from: &[u8]) -> Result<()> {
        // SAFETY: the stream is open, and `from` has the given number of bytes.
        let count =
            unsafe { libc::fwrite(from.as_ptr().cast(), 1, from.len(), self.file.as_ptr()) };
        if count < from.len() { Err(self.error("write")) } else { Ok(()) }
    }

    /// Hands the buffered bytes to the kernel.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn flush(&mut self) -> Result<()> {
        // SAFETY: the stream is open.
        let failed = unsafe { libc::fflush(self.file.as_ptr()) } != 0;
        if failed { Err(self.error("write")) } else { Ok(()) }
    }

    /// Makes flushed data durable (`fsync`).
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn sync(&mut self) -> Result<()> {
        // SAFETY: the stream is open, and so is its descriptor.
        let failed = unsafe { libc::fsync(libc::fileno(self.file.as_ptr())) } != 0;
        if failed { Err(self.error("sync")) } else { Ok(()) }
    }

    /// Closes the stream; dropping it closes it too, but hides errors.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn close(self) -> Result<()> {
        let mut stream = std::mem::ManuallyDrop::new(self);
        // SAFETY: the stream is open; as `drop` does not run, it is closed once.
        let failed = unsafe { libc::fclose(stream.file.as_ptr()) } != 0;
        let result = if failed { Err(stream.error("close")) } else { Ok(()) };
        drop((std::mem::take(&mut stream._buffer), std::mem::take(&mut stream.path)));
        result
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is open, and nothing uses it after this.
        unsafe { libc::fclose(self.file.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_reads_writes_and_seeks_with_every_buffer() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        for buffering in [Buffering::Default, Buffering::None, Buffering::Of(1 << 16)] {
            let mut stream = Stream::open(&path, "wb+", buffering).unwrap();
            stream.write(b"0123456789").unwrap();
            stream.seek(Whence::Start, 2).unwrap();
            let mut two = [0; 2];
            stream.read_exact(&mut two).unwrap();
            assert_eq!(&two, b"23");
            stream.seek(Whence::Current, -2).unwrap();
            stream.write(b"ab").unwrap();
            stream.seek(Whence::End, -1).unwrap();
            assert_eq!(stream.read(&mut two).unwrap(), 1, "a short read at the end");
            assert!(stream.read_exact(&mut two).is_err());
            stream.flush().unwrap();
            stream.sync().unwrap();
            stream.close().unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"01ab456789");
        }
    }

    #[test]
    fn failures_are_reported() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("missing");
        assert!(Stream::open(&path, "rb", Buffering::Default).is_err());
        std::fs::write(&path, b"data").unwrap();
        let mut stream = Stream::open(&path, "rb", Buffering::None).unwrap();
        assert!(stream.write(b"x").is_err(), "opened for reading");
        assert!(stream.seek(Whence::Start, -1).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_detected() {
        let mut stream = Stream::open(Path::new("/dev/full"), "wb", Buffering::Of(4096)).unwrap();
        stream.write(b"x").unwrap();
        assert!(stream.flush().is_err());
        let mut stream = Stream::open(Path::new("/dev/full"), "wb", Buffering::Of(4096)).unwrap();
        stream.write(b"x").unwrap();
        assert!(stream.close().is_err());
    }
}
