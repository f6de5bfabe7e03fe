//! Asynchronous reads of POSIX (`aio_read`).
#![expect(unsafe_code, reason = "the C library is given addresses to write to")]

use super::direct::open_to_read;
use outcore::io::AlignedBuffer;
use outcore::{Error, Result};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// Asynchronous reads of one file, one in each slot.
pub struct Asynchronous {
    file: File,
    path: PathBuf,
    slots: Vec<Slot>,
}

/// Memory of one read. While `waiting`, it belongs to the C library.
struct Slot {
    /// Allocated by [`Box`]; a raw pointer, because the C library writes through its own copy.
    control: NonNull<libc::aiocb>,
    buffer: AlignedBuffer,
    len: usize,
    waiting: bool,
}

impl Asynchronous {
    /// Opens `path` for reads of at most `bytes` in each of `slots` slots. With `direct`, on Linux, reads bypass the
    /// page cache; offsets and `bytes` are then multiples of 4,096.
    ///
    /// # Errors
    /// `Io`.
    pub fn open(path: &Path, slots: usize, bytes: usize, direct: bool) -> Result<Self> {
        let buffers = (0..slots).map(|_| AlignedBuffer::new(bytes)).collect();
        Self::open_with(path, buffers, bytes, direct)
    }

    /// Like [`open`](Self::open), with a slot for each of `buffers`, which have room for `bytes`.
    ///
    /// # Errors
    /// `Io`.
    pub fn open_with(
        path: &Path,
        buffers: Vec<AlignedBuffer>,
        bytes: usize,
        direct: bool,
    ) -> Result<Self> {
        let file = open_to_read(path, direct).map_err(|e| Error::io("open", path, e))?;
        let slots = buffers.into_iter().map(|buffer| Slot::new(buffer, bytes)).collect();
        Ok(Self { file, path: path.to_owned(), slots })
    }

    /// Waits for pending reads, closes the file, and returns the buffers of the slots.
    pub fn into_buffers(mut self) -> Vec<AlignedBuffer> {
        let slots = std::mem::take(&mut self.slots);
        slots.into_iter().map(Slot::into_buffer).collect()
    }

    /// Starts a read into a slot from `offset` on.
    ///
    /// # Errors
    /// `Io`, such as `EAGAIN` if too many reads are pending.
    ///
    /// # Panics
    /// If a read into the slot is pending already.
    pub fn start(&mut self, slot: usize, offset: u64) -> Result<()> {
        let slot = &mut self.slots[slot];
        assert!(!slot.waiting, "one read in a slot");
        // SAFETY: no read into the slot is pending, so its memory is ours. The file stays open, the buffer has `len`
        // bytes, and neither it nor the control block is touched or freed before the read has ended: `waiting` is
        // set until then, and `drop` waits.
        let failed = unsafe {
            let control = slot.control.as_mut();
            control.aio_fildes = self.file.as_raw_fd();
            control.aio_buf = slot.buffer.bytes_mut().as_mut_ptr().cast();
            control.aio_nbytes = slot.len;
            control.aio_offset = offset as libc::off_t;
            libc::aio_read(control) != 0
        };
        if failed {
            return Err(Error::io("read", &self.path, std::io::Error::last_os_error()));
        }
        slot.waiting = true;
        Ok(())
    }

    /// Waits for the read into a slot; returns its bytes, fewer than requested only at the end of the file.
    ///
    /// # Errors
    /// `Io`.
    ///
    /// # Panics
    /// If no read into the slot was started.
    pub fn wait(&mut self, slot: usize) -> Result<&[u8]> {
        let slot = &mut self.slots[slot];
        assert!(slot.waiting, "a read must have been started");
        let count = slot.wait().map_err(|e| Error::io("read", &self.path, e))?;
        Ok(&slot.buffer.bytes()[..count.min(slot.len)])
    }
}

impl Slot {
    fn new(buffer: AlignedBuffer, len: usize) -> Self {
        assert!(len <= buffer.capacity(), "reads fit into the buffer");
        // SAFETY: all-zero is a valid control block: numbers, and pointers that may be null.
        let control: libc::aiocb = unsafe { std::mem::zeroed() };
        Self { control: NonNull::from(Box::leak(Box::new(control))), buffer, len, waiting: false }
    }

    /// Waits for a pending read, and returns the buffer.
    fn into_buffer(mut self) -> AlignedBuffer {
        if self.waiting {
            let _ = self.wait();
        }
        std::mem::replace(&mut self.buffer, AlignedBuffer::new(0))
    }

    /// Waits until the read has ended; returns the number of bytes read.
    fn wait(&mut self) -> std::io::Result<usize> {
        let control = self.control.as_ptr().cast_const();
        let list = [control];
        // SAFETY: the control block belongs to a read that was started and whose result has not been taken yet.
        let state = loop {
            match unsafe { libc::aio_error(control) } {
                // SAFETY: the list has one control block, and there is no time limit. If the call is interrupted, it
                // is repeated.
                libc::EINPROGRESS => unsafe {
                    libc::aio_suspend(list.as_ptr(), 1, std::ptr::null());
                },
                state => break state,
            }
        };
        self.waiting = false;
        // SAFETY: as above; the read has ended, and its result is taken once.
        let count = unsafe { libc::aio_return(self.control.as_ptr()) };
        if state == 0 { Ok(count as usize) } else { Err(std::io::Error::from_raw_os_error(state)) }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.waiting {
            let _ = self.wait();
        }
        // SAFETY: it was a box, and no read uses it any more.
        drop(unsafe { Box::from_raw(self.control.as_ptr()) });
    }
}

impl Drop for Asynchronous {
    fn drop(&mut self) {
        // The reads end before the file is closed.
        self.slots.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_return_the_bytes_of_the_file_and_may_be_dropped_while_pending() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        assert!(Asynchronous::open(&path, 1, 8, false).is_err());
        std::fs::write(&path, b"0123456789").unwrap();
        let mut reads = Asynchronous::open(&path, 2, 4, false).unwrap();
        reads.start(0, 0).unwrap();
        reads.start(1, 8).unwrap();
        assert_eq!(reads.wait(1).unwrap(), b"89");
        assert_eq!(reads.wait(0).unwrap(), b"0123");
        reads.start(1, 3).unwrap();
        assert_eq!(reads.wait(1).unwrap(), b"3456");
        reads.start(0, 0).unwrap();
        let buffers = reads.into_buffers();
        let mut reads = Asynchronous::open_with(&path, buffers, 3, false).unwrap();
        reads.start(1, 7).unwrap();
        assert_eq!(reads.wait(1).unwrap(), b"789");
        reads.start(0, 0).unwrap();
    }
}
