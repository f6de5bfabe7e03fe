//! Formatted output by the C library: `fopen`, `setvbuf`, `fprintf`, `fclose`.
#![expect(unsafe_code, reason = "the C library's streams have no safe interface")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::path::Path;

/// Stream for formatted output.
pub(crate) struct Printer {
    /// Open stream that only this value knows; closed by `close` or `drop`.
    stream: *mut libc::FILE,
    /// Lent to the C library until the stream is closed.
    _buffer: Vec<u8>,
}

impl Printer {
    /// Creates the file, or truncates it if it exists; `buffer` is the size of a buffer for `setvbuf`.
    pub(crate) fn create(path: &Path, buffer: Option<usize>) -> io::Result<Self> {
        let path = CString::new(path.as_os_str().as_encoded_bytes())?;
        // SAFETY: both strings end in a zero byte and outlive the call, which keeps no address.
        let stream = unsafe { libc::fopen(path.as_ptr(), c"wb".as_ptr()) };
        if stream.is_null() {
            return Err(io::Error::last_os_error());
        }
        let mut printer = Self { stream, _buffer: vec![0; buffer.unwrap_or(0).max(1)] };
        if let Some(bytes) = buffer {
            let address = printer._buffer.as_mut_ptr().cast();
            // SAFETY: the stream is open and unused. The buffer has `bytes` bytes, or one if that is 0, is touched only by
            // the C library, and outlives the stream: `close` and `drop` close the stream first.
            let failed = unsafe { libc::setvbuf(stream, address, libc::_IOFBF, bytes.max(1)) } != 0;
            if failed {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(printer)
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
    pub(crate) fn close(mut self) -> io::Result<()> {
        let stream = std::mem::replace(&mut self.stream, std::ptr::null_mut());
        // SAFETY: the stream is open, and nobody else knows it: `drop` finds none. The buffer is freed afterwards.
        reported(unsafe { libc::fclose(stream) })
    }
}

impl Drop for Printer {
    fn drop(&mut self) {
        if !self.stream.is_null() {
            // SAFETY: the stream is open: `close` takes it away. An earlier error is already being returned.
            unsafe { libc::fclose(self.stream) };
        }
    }
}

fn reported(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
