//! Opening files for access through the page cache or past it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file for reading; with `direct`, on Linux, past the page cache.
pub(crate) fn open_to_read(path: &Path, direct: bool) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    if direct {
        bypass(&mut options);
    }
    options.open(path)
}

/// Opens a file for reading and writing, on Linux past the page cache.
pub(crate) fn open_to_update(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true);
    bypass(&mut options);
    options.open(path)
}

#[cfg(target_os = "linux")]
fn bypass(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_DIRECT);
}

#[cfg(not(target_os = "linux"))]
fn bypass(_options: &mut OpenOptions) {}
