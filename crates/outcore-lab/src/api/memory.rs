//! Cost of the first touch of memory.
#![expect(unsafe_code, reason = "memory that was never used has no safe interface")]

use outcore::io::AlignedBuffer;
use std::hint::black_box;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// Bytes of a page of memory and of direct I/O.
pub(crate) const PAGE: usize = 4096;

/// Memory in small pages, all of which have been touched.
pub struct Touched {
    address: NonNull<u8>,
    len: usize,
    took: Duration,
}

impl Touched {
    /// Allocates `bytes` of memory from the system and touches each page; `None` if there is not enough memory.
    pub fn new(bytes: usize) -> Option<Self> {
        let len = bytes.next_multiple_of(PAGE).max(PAGE);
        // SAFETY: a new mapping at an address of the system's choice overlaps nothing.
        let address = unsafe {
            let none = std::ptr::null_mut();
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(none, len, protection, libc::MAP_PRIVATE | libc::MAP_ANON, -1, 0)
        };
        if address == libc::MAP_FAILED {
            return None;
        }
        let address: NonNull<u8> = NonNull::new(address.cast())?;
        // Large pages would cost less, but the page cache consists of small ones.
        #[cfg(target_os = "linux")]
        // SAFETY: the range is the mapping's own, and the advice does not change what it holds.
        unsafe {
            libc::madvise(address.as_ptr().cast(), len, libc::MADV_NOHUGEPAGE)
        };
        let start = Instant::now();
        for page in (0..len).step_by(PAGE) {
            // SAFETY: `page` is below `len`, and nobody else knows the mapping.
            unsafe { address.add(page).write_volatile(1) };
        }
        Some(Self { address, len, took: start.elapsed() })
    }

    /// Returns the mean microseconds of the first touch of a page.
    pub fn microseconds_per_page(&self) -> f64 {
        self.took.as_secs_f64() * 1e6 / (self.len / PAGE) as f64
    }
}

impl Drop for Touched {
    fn drop(&mut self) {
        // SAFETY: the mapping was made here, and its address was never handed out.
        unsafe { libc::munmap(self.address.as_ptr().cast(), self.len) };
    }
}

/// Touches `bytes` of memory and frees it. The system hands out these pages next, so the following work does not depend
/// on whether the host of a virtual machine had reclaimed them. Large pages make this fast. At most a quarter of the
/// free memory is touched.
pub(crate) fn recycle(bytes: usize) {
    let free = outcore::io::available_memory_bytes().unwrap_or(u64::MAX);
    let mut memory = AlignedBuffer::new(bytes.min((free / 4) as usize));
    memory.bytes_mut().chunks_mut(PAGE).for_each(|page| page[0] = 1);
    black_box(memory.bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_takes_time_and_too_much_memory_is_refused() {
        assert!(Touched::new(1 << 20).unwrap().microseconds_per_page() > 0.0);
        assert!(Touched::new(1 << 60).is_none());
    }
}
