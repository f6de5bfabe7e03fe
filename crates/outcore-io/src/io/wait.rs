//! [`Waited`]: pipes and devices, polled at short intervals, so that a stopped job does not wait for a writer
//! that never writes or a reader that never reads.
#![expect(clippy::disallowed_types, reason = "pipes and devices are opened here")]

use crate::error::Error;
use std::fs::File;
use std::io;
use std::sync::Arc;
#[cfg(unix)]
use std::time::Duration;

/// Returns whether the job is to stop.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// Maximum delay until a stop is noticed.
#[cfg(unix)]
const PIECE: Duration = Duration::from_millis(50);

/// Open pipe or device.
pub(super) struct Waited {
    file: File,
    stop: Option<Stop>,
}

/// Fails if the job is to stop.
fn check(stop: Option<&Stop>) -> io::Result<()> {
    if stop.is_some_and(|stop| stop()) {
        Err(io::Error::other(Error::interrupted()))
    } else {
        Ok(())
    }
}

/// Returns whether standard output was closed when the process began (`>&-`). Rust opens the null device in its place
/// before `main`, so that whatever is written would vanish.
pub fn is_stdout_closed() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    return at_begin::IS_CLOSED.load(std::sync::atomic::Ordering::Relaxed);
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "only the loader runs code before that of Rust")]
mod at_begin {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    pub(super) static IS_CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        // SAFETY: it asks for the flags of a descriptor, which may be closed.
        IS_CLOSED.store(unsafe { libc::fcntl(1, libc::F_GETFD) } < 0, Relaxed);
    }

    // SAFETY: the loader calls the functions in this section once, and this one needs nothing of Rust's runtime.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}

#[cfg(unix)]
mod unix {
    use super::{PIECE, Stop, Waited, check};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    use rustix::io::Errno;
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    use std::path::Path;

    /// Bytes that a ready pipe accepts without blocking (POSIX: `PIPE_BUF` is at least 512).
    const READY_BYTES: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

    impl Waited {
        pub(crate) fn stdin(stop: Option<Stop>) -> io::Result<Self> {
            Ok(Self { file: io::stdin().as_fd().try_clone_to_owned()?.into(), stop })
        }

        pub(crate) fn stdout(stop: Option<Stop>) -> io::Result<Self> {
            Ok(Self { file: io::stdout().as_fd().try_clone_to_owned()?.into(), stop })
        }

        /// Opens for reading. A named pipe opens immediately; its first read waits.
        pub(crate) fn open(path: &Path, stop: Option<Stop>) -> io::Result<Self> {
            Ok(Self { file: open_nonblocking(OpenOptions::new().read(true), path)?, stop })
        }

        /// Opens for writing. A named pipe waits for a reader.
        pub(crate) fn create(path: &Path, stop: Option<Stop>) -> io::Result<Self> {
            loop {
                match open_nonblocking(OpenOptions::new().write(true), path) {
                    Err(error) if is_nxio(&error) && is_pipe(path) => {
                        check(stop.as_ref())?;
                        std::thread::sleep(PIECE);
                    }
                    opened => return Ok(Self { file: opened?, stop }),
                }
            }
        }

        fn wait(&self, what: PollFlags) -> io::Result<()> {
            let piece = Timespec::try_from(PIECE).expect("it is short");
            loop {
                check(self.stop.as_ref())?;
                match poll(&mut [PollFd::new(&self.file, what)], Some(&piece)) {
                    Ok(0) | Err(Errno::INTR) => {}
                    Ok(_) => return Ok(()),
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }

    /// Whether the pipe has no reader; sockets return this error, too.
    fn is_nxio(error: &io::Error) -> bool {
        error.raw_os_error() == Some(Errno::NXIO.raw_os_error())
    }

    #[expect(clippy::disallowed_methods, reason = "pipes are opened here")]
    fn is_pipe(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
    }

    /// Opens without waiting for the other end; reads and writes then block as usual.
    fn open_nonblocking(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
        let file = options.custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
        Ok(file)
    }

    impl io::Read for Waited {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.wait(PollFlags::IN)?;
            self.file.read(into)
        }
    }

    impl io::Write for Waited {
        fn write(&mut self, from: &[u8]) -> io::Result<usize> {
            self.wait(PollFlags::OUT)?;
            self.file.write(&from[..from.len().min(READY_BYTES)])
        }

        fn flush(&mut self) -> io::Result<()> {
            self.file.flush()
        }
    }
}

#[cfg(not(unix))]
mod other {
    use super::{File, Stop, Waited, check, io};
    use std::fs::OpenOptions;
    use std::path::Path;

    /// Fallback for systems where pipes cannot be polled: reads block, and a stop is noticed between two
    /// transfers.
    impl Waited {
        pub(crate) fn open(path: &Path, stop: Option<Stop>) -> io::Result<Self> {
            Ok(Self { file: File::open(path)?, stop })
        }

        pub(crate) fn create(path: &Path, stop: Option<Stop>) -> io::Result<Self> {
            Ok(Self { file: OpenOptions::new().write(true).open(path)?, stop })
        }

        pub(crate) fn stdin(stop: Option<Stop>) -> io::Result<Self> {
            use std::os::windows::io::AsHandle;
            Ok(Self { file: io::stdin().as_handle().try_clone_to_owned()?.into(), stop })
        }

        pub(crate) fn stdout(stop: Option<Stop>) -> io::Result<Self> {
            use std::os::windows::io::AsHandle;
            Ok(Self { file: io::stdout().as_handle().try_clone_to_owned()?.into(), stop })
        }
    }

    impl io::Read for Waited {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            check(self.stop.as_ref())?;
            self.file.read(into)
        }
    }

    impl io::Write for Waited {
        fn write(&mut self, from: &[u8]) -> io::Result<usize> {
            check(self.stop.as_ref())?;
            self.file.write(from)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.file.flush()
        }
    }
}
