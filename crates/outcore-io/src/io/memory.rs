//! Backing and prefetching of memory: advice to the system and to the processor. It changes speed, never a
//! result. The engine has no other `unsafe` code, apart from the allocator in `meter`.
//!
//! Large pages and prefetching together took 100 million look-ups of names from 3.6 s to 2.4 s, and direct reads of 4
//! MiB from 1.2 to 3.1 GB/s. Buffers of up to half a large page are ordinary memory: clearing 2 MiB in large pages
//! costs 0.3 ms, and a level of a thousand nodes needs several buffers. With that, files in memory with buffers of 64
//! KiB, and single blocks read without threads, ten starts on 3,000 edges went from 142 to 80 ms.

use super::meter::{Meter, RESERVED_BYTES_MIN};

/// Reserves memory for `capacity` values in large pages, where the system has them: a first touch then costs
/// a tenth, and random accesses rarely miss the translation cache. The memory is only an address range until
/// it is used, so the capacity may be generous. It should not be too small, because memory that is moved to
/// grow loses its large pages, and it is never so small that the allocator would retain it after it is freed
/// (glibc: 32 MiB): short-lived buffers would pile up beyond the limit. Half a large page or less is ordinary
/// memory, because clearing a large page for it would take longer than its use. If the reservation fails, the
/// vector starts empty.
pub fn reserve_large_pages<T>(capacity: usize) -> Vec<T> {
    let mut memory = Vec::new();
    if capacity * size_of::<T>() <= LARGE_PAGE / 2 {
        memory.reserve_exact(capacity);
        return memory;
    }
    let capacity = capacity.max(RESERVED_BYTES_MIN.div_ceil(size_of::<T>()));
    if Meter::exempting(|| memory.try_reserve_exact(capacity)).is_ok() {
        prefer_large_pages(&mut memory);
    }
    memory
}

/// Size of a large page in bytes.
pub(crate) const LARGE_PAGE: usize = 2 << 20;

/// Zeroed memory that begins at a large-page boundary, in large pages where the system has them. A direct
/// transfer then goes to a few long pieces of memory instead of many pages: on a virtual machine, direct
/// reads of 4 MiB went from 1.2 to 3.1 GB/s. The memory comes from the system each time, because memory that
/// an allocator retains has already been touched in small pages.
#[cfg(target_os = "linux")]
pub(crate) struct LargePages {
    mapped: std::ptr::NonNull<u8>,
    /// Bytes from `mapped` to the first large page.
    skip: usize,
    len: usize,
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "memory straight from the system has no safe interface")]
mod large_pages {
    use super::{LARGE_PAGE, LargePages};
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    // SAFETY: it owns its memory, as a vector does.
    unsafe impl Send for LargePages {}
    // SAFETY: shared, it is only read.
    unsafe impl Sync for LargePages {}

    impl LargePages {
        /// Maps `len` bytes; `None` if they are not available.
        pub(crate) fn new(len: usize) -> Option<Self> {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            let range = len.checked_add(LARGE_PAGE)?;
            // SAFETY: a new mapping at an address of the system's choosing overlaps nothing.
            let mapped = unsafe {
                mmap_anonymous(std::ptr::null_mut(), range, protection, MapFlags::PRIVATE).ok()?
            };
            let mapped = std::ptr::NonNull::new(mapped.cast::<u8>())?;
            let skip = mapped.addr().get().wrapping_neg() % LARGE_PAGE;
            // Whole large pages only: the rest of the last one would exceed the request.
            let whole = len / LARGE_PAGE * LARGE_PAGE;
            // SAFETY: the range lies inside the mapping, as `skip` is less than a large page; this
            // advice changes how it is backed, not what it holds, and may fail.
            let _ =
                unsafe { madvise(mapped.add(skip).as_ptr().cast(), whole, Advice::LinuxHugepage) };
            Some(Self { mapped, skip, len })
        }

        pub(crate) fn bytes(&self) -> &[u8] {
            // SAFETY: `skip + len` bytes are mapped, zero or written, until `self` is dropped.
            unsafe { std::slice::from_raw_parts(self.mapped.add(self.skip).as_ptr(), self.len) }
        }

        pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
            // SAFETY: as above, and `self` is borrowed by nobody else.
            unsafe { std::slice::from_raw_parts_mut(self.mapped.add(self.skip).as_ptr(), self.len) }
        }
    }

    impl Drop for LargePages {
        fn drop(&mut self) {
            // SAFETY: the mapping was made in `new`, and no borrow of it outlives `self`.
            let _ = unsafe { munmap(self.mapped.as_ptr().cast(), self.len + LARGE_PAGE) };
        }
    }
}

/// Large pages are not available on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) enum LargePages {}

#[cfg(not(target_os = "linux"))]
impl LargePages {
    pub(crate) fn new(_len: usize) -> Option<Self> {
        None
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match *self {}
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match *self {}
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "advice about memory has no safe interface")]
fn prefer_large_pages<T>(memory: &mut Vec<T>) {
    const PAGE: usize = 4096;
    let begin = memory.as_mut_ptr().cast::<u8>();
    let bytes = memory.capacity() * size_of::<T>();
    let skip = begin.align_offset(PAGE);
    if bytes < skip + (4 << 20) {
        return;
    }
    let len = (bytes - skip) / PAGE * PAGE;
    // SAFETY: `begin + skip .. + len` lies inside the allocation that `memory` owns and borrows
    // mutably here; this advice changes how the range is backed, never what it holds. Without large
    // pages everything works, only slower: the outcome does not matter.
    let _ = unsafe {
        rustix::mm::madvise(begin.add(skip).cast(), len, rustix::mm::Advice::LinuxHugepage)
    };
}

#[cfg(not(target_os = "linux"))]
fn prefer_large_pages<T>(_memory: &mut Vec<T>) {}

/// Returns freed memory to the system, where the allocator would retain it: memory of one stage must not
/// count for the next one.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator has no safe interface")]
pub fn give_back_freed() {
    // SAFETY: it has no preconditions, and touches only memory that is not in use.
    unsafe { libc::malloc_trim(0) };
}

/// Does nothing with other allocators.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back_freed() {}

/// Makes all threads of the process share the memory that they free, where the allocator would retain it per
/// thread: with a limit of 64 MiB these arenas came to 20 MiB, at the same speed. A program calls it before
/// it starts its first thread.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator has no safe interface")]
pub fn share_freed_memory() {
    // SAFETY: it sets a parameter of the allocator, and may fail, which changes nothing.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

/// Does nothing with other allocators.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn share_freed_memory() {}

/// Asks the processor to fetch the cache line of `memory[index]`, if there is such an element.
#[inline]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "prefetching has no safe interface")]
pub fn prefetch<T>(memory: &[T], index: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    if let Some(element) = memory.get(index) {
        // SAFETY: a prefetch reads nothing that the program sees, and the address is that of an
        // element; the instruction is part of every x86-64 processor.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
}

/// Does nothing on other processors.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub fn prefetch<T>(_memory: &[T], _index: usize) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{LARGE_PAGE, LargePages};

    #[test]
    fn large_pages_are_zeroed_and_aligned_and_excessive_requests_fail() {
        for len in [LARGE_PAGE, LARGE_PAGE + 4096, 3 * LARGE_PAGE] {
            let mut memory = LargePages::new(len).unwrap();
            assert!(memory.bytes().iter().all(|&byte| byte == 0) && memory.bytes().len() == len);
            assert_eq!(memory.bytes().as_ptr().addr() % LARGE_PAGE, 0);
            memory.bytes_mut().fill(1);
            let moved = std::thread::spawn(move || memory.bytes().iter().all(|&byte| byte == 1));
            assert!(moved.join().unwrap());
        }
        assert!(LargePages::new(usize::MAX).is_none() && LargePages::new(1 << 60).is_none());
    }
}
