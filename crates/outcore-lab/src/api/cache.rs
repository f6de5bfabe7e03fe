//! Residency of a file's pages in the page cache.
#![expect(unsafe_code, reason = "mincore needs a mapping, and has no safe interface")]

use std::fs::File;

/// Counts the cached pages and all pages of the first `bytes` of `file`; `None` where the system does not report them.
#[cfg(target_os = "linux")]
pub(crate) fn cached_pages(file: &File, bytes: u64) -> Option<(u64, u64)> {
    use super::memory::PAGE;
    use std::os::fd::AsRawFd;
    /// Bytes mapped at a time: 1 GiB takes 256 KiB of answers.
    const PART: u64 = 1 << 30;
    let (mut cached, mut pages) = (0, 0);
    let mut begin = 0;
    while begin < bytes {
        let len = (bytes - begin).min(PART) as usize;
        let mut answers = vec![0u8; len.div_ceil(PAGE)];
        // SAFETY: the mapping is made and removed here and never read; `mincore` writes one byte per page into
        // `answers`, which has one byte for each page.
        let reported = unsafe {
            let address = libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                begin as libc::off_t,
            );
            if address == libc::MAP_FAILED {
                return None;
            }
            let reported = libc::mincore(address, len, answers.as_mut_ptr());
            libc::munmap(address, len);
            reported == 0
        };
        if !reported {
            return None;
        }
        cached += answers.iter().filter(|&&answer| answer & 1 == 1).count() as u64;
        pages += answers.len() as u64;
        begin += len as u64;
    }
    Some((cached, pages))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cached_pages(_file: &File, _bytes: u64) -> Option<(u64, u64)> {
    None
}
