//! Concurrent reads of one file (`io_uring`).
#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "the kernel is given addresses to write to")
)]

use outcore::{Error, Result};
use std::path::Path;

/// Options of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingOptions {
    /// Number of concurrent reads, at least one.
    pub depth: u32,
    /// Maximum bytes of a read; a multiple of 4,096 if `direct`.
    pub buffer_bytes: usize,
    /// Whether reads bypass the page cache; all ranges then begin and end at multiples of 4,096.
    pub direct: bool,
    /// Whether the buffers are registered with the kernel beforehand.
    pub registered: bool,
}

#[cfg(target_os = "linux")]
pub use linux::Ring;

#[cfg(target_os = "linux")]
mod linux {
    use super::{Error, Path, Result, RingOptions};
    use io_uring::{IoUring, cqueue, opcode, squeue, types};
    use outcore::io::AlignedBuffer;
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::marker::PhantomData;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::PathBuf;

    /// Read in flight.
    #[derive(Debug, Clone, Copy, Default)]
    struct Flight {
        index: usize,
        offset: u64,
        len: u32,
    }

    /// Concurrent reads of one file, which complete in any order.
    pub struct Ring {
        // Dropped before the buffers that it refers to.
        ring: IoUring,
        file: File,
        path: PathBuf,
        file_bytes: u64,
        buffers: Vec<AlignedBuffer>,
        flights: Vec<Flight>,
        free: Vec<usize>,
        in_flight: usize,
        registered: bool,
        /// The kernel accepts submissions only from the thread that created the ring.
        thread: PhantomData<*mut ()>,
    }

    impl Ring {
        /// Creates a ring over `path`; the inner `Err` is the reason why there can be none here.
        ///
        /// # Errors
        /// `Io` if the file cannot be opened.
        pub fn new(path: &Path, options: RingOptions) -> Result<std::result::Result<Self, String>> {
            Self::with_buffers(path, options, Vec::new())
        }

        /// Like [`new`](Self::new), with buffers of an earlier ring, which have room for `options.buffer_bytes`; missing ones
        /// are allocated.
        ///
        /// # Errors
        /// Those of [`new`](Self::new).
        pub fn with_buffers(
            path: &Path,
            options: RingOptions,
            mut buffers: Vec<AlignedBuffer>,
        ) -> Result<std::result::Result<Self, String>> {
            let flags = if options.direct { libc::O_DIRECT } else { 0 };
            let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
            let file = match opened {
                Err(e) if options.direct && e.raw_os_error() == Some(libc::EINVAL) => {
                    return Ok(Err("the file system has no direct I/O".into()));
                }
                opened => opened.map_err(|e| Error::io("open", path, e))?,
            };
            let file_bytes = file.metadata().map_err(|e| Error::io("measure", path, e))?.len();
            let depth = options.depth.max(1);
            let ring = match build(depth) {
                Ok(ring) => ring,
                Err(e) => return Ok(Err(reason(&e))),
            };
            buffers.resize_with(depth as usize, || AlignedBuffer::new(options.buffer_bytes));
            let mut ring = Self {
                ring,
                file,
                path: path.to_owned(),
                file_bytes,
                buffers,
                flights: vec![Flight::default(); depth as usize],
                free: (0..depth as usize).collect(),
                in_flight: 0,
                registered: options.registered,
                thread: PhantomData,
            };
            match ring.register() {
                Ok(()) => Ok(Ok(ring)),
                Err(e) => Ok(Err(format!("the kernel does not accept the buffers: {e}"))),
            }
        }

        /// Closes the ring, and returns its buffers: none if reads into them may still be in flight.
        pub fn into_buffers(mut self) -> Vec<AlignedBuffer> {
            if self.is_idle() { std::mem::take(&mut self.buffers) } else { Vec::new() }
        }

        fn register(&mut self) -> io::Result<()> {
            if !self.registered {
                return Ok(());
            }
            let buffers = self.buffers.iter_mut().map(|buffer| libc::iovec {
                iov_base: buffer.bytes_mut().as_mut_ptr().cast(),
                iov_len: buffer.capacity(),
            });
            let buffers: Vec<libc::iovec> = buffers.collect();
            // SAFETY: the buffers have the given lengths, do not move, and are freed only after the ring, which is
            // dropped first.
            unsafe { self.ring.submitter().register_buffers(&buffers) }
        }

        /// Reads each range (offset, bytes), up to the depth of the ring concurrently, and passes to `each` the number
        /// of the range and its bytes as they arrive. A range is taken from `ranges` just before its read is
        /// submitted. Only a range that extends past the end of the file has fewer bytes.
        ///
        /// # Errors
        /// `Io`, also for a range larger than the buffers.
        pub fn read_ranges(
            &mut self,
            ranges: impl Iterator<Item = (u64, u32)>,
            mut each: impl FnMut(usize, &[u8]),
        ) -> Result<()> {
            let mut ranges = ranges.enumerate().fuse();
            loop {
                while let Some(&slot) = self.free.last() {
                    let Some((index, (offset, len))) = ranges.next() else { break };
                    self.push(slot, Flight { index, offset, len }).map_err(|e| self.error(e))?;
                }
                if self.in_flight == 0 {
                    return Ok(());
                }
                self.wait().map_err(|e| self.error(e))?;
                while let Some(done) = self.next_done() {
                    self.land(done, &mut each).map_err(|e| self.error(e))?;
                }
            }
        }

        fn error(&self, e: io::Error) -> Error {
            Error::io("read", &self.path, e)
        }

        /// Waits for all reads in flight; returns whether none is left.
        fn is_idle(&mut self) -> bool {
            while self.in_flight > 0 && self.wait().is_ok() {
                while self.next_done().is_some() {}
            }
            self.in_flight == 0
        }

        /// Queues a read into the buffer of `slot`, which is the last free one.
        fn push(&mut self, slot: usize, flight: Flight) -> io::Result<()> {
            let buffer = &mut self.buffers[slot];
            if flight.len as usize > buffer.capacity() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let fd = types::Fd(self.file.as_raw_fd());
            let address = buffer.bytes_mut().as_mut_ptr();
            let entry: squeue::Entry = if self.registered {
                opcode::ReadFixed::new(fd, address, flight.len, slot as u16)
                    .offset(flight.offset)
                    .build()
            } else {
                opcode::Read::new(fd, address, flight.len).offset(flight.offset).build()
            };
            // SAFETY: the file stays open, and the buffer has room for `len` bytes and is neither touched nor freed
            // until the read completes: it is not in `free`, and `drop` waits.
            let pushed = unsafe { self.ring.submission().push(&entry.user_data(slot as u64)) };
            pushed.map_err(|_| io::Error::from(io::ErrorKind::ResourceBusy))?;
            self.flights[slot] = flight;
            self.free.pop();
            self.in_flight += 1;
            Ok(())
        }

        /// Submits the queued reads and waits for one completion.
        fn wait(&mut self) -> io::Result<()> {
            loop {
                match self.ring.submit_and_wait(1) {
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    other => return other.map(|_| ()),
                }
            }
        }

        /// Returns the next completion: slot and result. Its buffer is free again.
        fn next_done(&mut self) -> Option<(usize, i32)> {
            let done: cqueue::Entry = self.ring.completion().next()?;
            self.in_flight -= 1;
            self.free.push(done.user_data() as usize);
            Some((done.user_data() as usize, done.result()))
        }

        fn land(
            &mut self,
            (slot, result): (usize, i32),
            each: &mut impl FnMut(usize, &[u8]),
        ) -> io::Result<()> {
            let flight = self.flights[slot];
            if [-libc::EINTR, -libc::EAGAIN].contains(&result) {
                // The slot was just freed, so it is the last one.
                return self.push(slot, flight);
            }
            let count =
                usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result))?;
            let end = (flight.offset + u64::from(flight.len)).min(self.file_bytes);
            if (flight.offset + count as u64) < end {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            each(flight.index, &self.buffers[slot].bytes()[..count]);
            Ok(())
        }
    }

    impl Drop for Ring {
        fn drop(&mut self) {
            if !self.is_idle() {
                // The kernel may still write to them.
                std::mem::forget(std::mem::take(&mut self.buffers));
            }
        }
    }

    /// Creates a ring that avoids interruptions where the kernel supports that (6.1), or a plain one.
    fn build(depth: u32) -> io::Result<IoUring> {
        let lean = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(depth);
        match lean {
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => IoUring::new(depth),
            other => other,
        }
    }

    fn reason(e: &io::Error) -> String {
        match e.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => "io_uring is not permitted here".into(),
            Some(libc::ENOSYS) => "the kernel has no io_uring".into(),
            _ => format!("io_uring cannot be used here: {e}"),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Reads the file with a ring; returns its bytes in order of the ranges, or `None` where there is no ring.
        fn read(options: RingOptions, bytes: &[u8]) -> Option<Vec<u8>> {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("file");
            std::fs::write(&path, bytes).unwrap();
            let mut ring = match Ring::new(&path, options).unwrap() {
                Ok(ring) => ring,
                Err(reason) => {
                    assert!(!reason.is_empty());
                    return None;
                }
            };
            let block = options.buffer_bytes as u32;
            let ranges = (0..bytes.len() as u64).step_by(options.buffer_bytes);
            let mut parts = vec![Vec::new(); ranges.clone().count()];
            let mut again = parts.clone();
            let ranges = ranges.map(|offset| (offset, block));
            ring.read_ranges(ranges.clone(), |index, part| parts[index] = part.to_vec()).unwrap();
            assert!(ring.read_ranges([(0, block + 1)].into_iter(), |_, _| {}).is_err());
            let buffers = ring.into_buffers();
            assert_eq!(buffers.len(), options.depth as usize);
            let mut ring = Ring::with_buffers(&path, options, buffers).unwrap().unwrap();
            ring.read_ranges(ranges, |index, part| again[index] = part.to_vec()).unwrap();
            assert!(parts == again);
            Some(parts.concat())
        }

        #[test]
        fn every_range_arrives_once_and_the_last_is_short() {
            let bytes: Vec<u8> = (0..100_000u32).map(|number| (number % 251) as u8).collect();
            for (depth, direct, registered) in
                [(1, false, false), (8, false, true), (64, true, false), (3, true, true)]
            {
                let options = RingOptions { depth, buffer_bytes: 4096, direct, registered };
                if let Some(found) = read(options, &bytes) {
                    assert!(found == bytes, "{options:?}");
                }
            }
        }

        #[test]
        fn a_missing_file_is_an_error() {
            let options =
                RingOptions { depth: 1, buffer_bytes: 4096, direct: false, registered: false };
            assert!(Ring::new(Path::new("/nonexistent/file"), options).is_err());
        }

        #[test]
        fn dropping_while_reads_are_in_flight_is_safe() {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("file");
            std::fs::write(&path, vec![1; 1 << 20]).unwrap();
            let options =
                RingOptions { depth: 16, buffer_bytes: 65536, direct: false, registered: false };
            let Ok(mut ring) = Ring::new(&path, options).unwrap() else { return };
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let ranges = (0..16).map(|number| (number * 65536, 65536));
                let _ = ring.read_ranges(ranges, |_, _| panic!("in the middle"));
            }));
            assert!(panicked.is_err() && ring.in_flight + ring.free.len() == 16);
            drop(ring);
        }
    }
}

/// Type without values: this system has no `io_uring`.
#[cfg(not(target_os = "linux"))]
pub enum Ring {}

#[cfg(not(target_os = "linux"))]
impl Ring {
    /// Returns the reason why there is no ring.
    ///
    /// # Errors
    /// None.
    pub fn new(_path: &Path, _options: RingOptions) -> Result<std::result::Result<Self, String>> {
        Ok(Err("io_uring is available on Linux only".into()))
    }

    /// Like [`new`](Self::new).
    ///
    /// # Errors
    /// None.
    pub fn with_buffers(
        path: &Path,
        options: RingOptions,
        _buffers: Vec<outcore::io::AlignedBuffer>,
    ) -> Result<std::result::Result<Self, String>> {
        Self::new(path, options)
    }

    /// Cannot be called.
    pub fn into_buffers(self) -> Vec<outcore::io::AlignedBuffer> {
        match self {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub fn read_ranges(
        &mut self,
        _ranges: impl Iterator<Item = (u64, u32)>,
        _each: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        match *self {}
    }
}
