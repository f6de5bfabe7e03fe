//! Opening files for reads through the page cache or past it.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file for reading; with `direct`, on Linux, past the page cache.
pub(crate) fn open_to_read(path: &Path, direct: bool) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(target_os = "linux")]
    if direct {
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_DIRECT);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = direct;
    options.open(path)
}
