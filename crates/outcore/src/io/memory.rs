//! How memory is backed and fetched: advice to the system and to the processor. It changes speed,
//! never a result. Beside this there is no `unsafe` code in the engine.

/// Memory for `capacity` values in large pages, where the system has them: a first touch then costs
/// a tenth, and random accesses miss the translation cache rarely. It is only an address range until
/// it is used, so the capacity may be generous; but memory that is moved to grow loses its large
/// pages, so it should not be too small. Where so much cannot be had, the vector starts empty.
pub(crate) fn reserve_large_pages<T>(capacity: usize) -> Vec<T> {
    let mut memory = Vec::new();
    if memory.try_reserve_exact(capacity).is_ok() {
        prefer_large_pages(&mut memory);
    }
    memory
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

/// Asks the processor to fetch the cache line of `memory[index]`, if there is such an element.
#[inline]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "prefetching has no safe interface")]
pub(crate) fn prefetch<T>(memory: &[T], index: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    if let Some(element) = memory.get(index) {
        // SAFETY: a prefetch reads nothing that the program sees, and the address is that of an
        // element; the instruction is part of every x86-64 processor.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
}

/// Does nothing where there is no such instruction for all processors.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn prefetch<T>(_memory: &[T], _index: usize) {}
