//! Formatted output by the C library: `fopen`, `fprintf`, `fclose`.
#![expect(unsafe_code, reason = "the C library's streams have no safe interface")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::path::Path;

/// Stream for formatted output.
pub(crate) struct Printer {
    /// Open stream that only this value knows; closed by `close` or `drop`.
    stream: *mut libc::FILE,
}

impl Printer {
    /// Creates the file, or truncates it if it exists.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let path = CString::new(path.as_os_str().as_encoded_bytes())?;
        // SAFETY: both strings end in a zero byte and outlive the call, which keeps no address.
        let stream = unsafe { libc::fopen(path.as_ptr(), c"wb".as_ptr()) };
        if stream.is_null() { Err(io::Error::last_os_error()) } else { Ok(Self { stream }) }
    }

    /// Calls `fprintf(stream, "%s\n", text)`.
    pub(crate) fn text(&mut self, text: &CStr) -> io::Result<()> {
        let text: *const c_char = text.as_ptr();
        // SAFETY: the stream is open; the format requires one string, which ends in a zero byte.
        reported(unsafe { libc::fprintf(self.stream, c"%s\n".as_ptr(), text) })
    }

    /// Calls `fprintf(stream, "%u\t%u\t%.3f\n", source, target, weight)`.
    pub(crate) fn edge(&mut self, source: u32, target: u32, weight: f64) -> io::Result<()> {
        let format = c"%u\t%u\t%.3f\n".as_ptr();
        // SAFETY: the stream is open; the format requires two `unsigned` and a `double`, as passed.
        reported(unsafe { libc::fprintf(self.stream, format, source, target, weight) })
    }

    /// Writes the rest of the buffer and closes the stream.
    pub(crate) fn close(self) -> io::Result<()> {
        let stream = self.stream;
        std::mem::forget(self);
        // SAFETY: the stream is open, and the value that owned it was forgotten.
        reported(unsafe { libc::fclose(stream) })
    }
}

impl Drop for Printer {
    fn drop(&mut self) {
        // SAFETY: the stream is open: `close` forgets the value. An earlier error is already being returned.
        unsafe { libc::fclose(self.stream) };
    }
}

fn reported(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
