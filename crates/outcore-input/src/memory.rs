//! Memory that reading an input takes, and its share of the limit.

use outcore_io::budget::{Limits, MEMORY_MIN};
use outcore_io::error::{Error, Result};
use outcore_io::units::{KIB, format_bytes};
use outcore_sort::SORT_BYTES_MIN;

/// Bytes of text parsed as one piece.
pub const CHUNK_BYTES: u64 = 256 * KIB;
/// Memory per byte of text while it is parsed and numbered, for the shortest lines.
const BATCH_FACTOR: u64 = 16;
/// Returns the number of chunks of text that are parsed in parallel.
pub fn batch_chunks(limits: &Limits) -> usize {
    let most = limits.memory_bytes / 8 / (CHUNK_BYTES * BATCH_FACTOR);
    (2 * limits.threads as u64).min(most).max(2) as usize
}

/// Returns the memory of a batch in the worst case.
pub fn batch_memory_bytes(limits: &Limits) -> u64 {
    batch_chunks(limits) as u64 * CHUNK_BYTES * BATCH_FACTOR
}

/// Returns the smallest limit that fits `rest` bytes and a batch of text. The batch takes at most an eighth of the
/// limit, and at most two chunks per thread.
pub fn with_batch(limits: &Limits, rest: u64) -> u64 {
    let batch = (2 * limits.threads as u64 * CHUNK_BYTES * BATCH_FACTOR).min(rest.div_ceil(7));
    rest + batch.max(2 * CHUNK_BYTES * BATCH_FACTOR)
}

/// Returns the memory that the index and the sort share while the input is read.
pub fn read_bytes(limits: &Limits) -> u64 {
    limits.memory_bytes - batch_memory_bytes(limits)
}

/// Returns the memory up to which the index is sparse, for speed: all of it, or a part if a sort needs the rest.
pub fn sparse_bytes(limits: &Limits, has_sort: bool) -> u64 {
    read_bytes(limits) / if has_sort { 4 } else { 1 }
}

/// Returns the memory for the sort, next to an index of `index_bytes`; `None` if that is too little.
pub fn sort_bytes(limits: &Limits, index_bytes: u64) -> Option<u64> {
    read_bytes(limits).checked_sub(index_bytes).filter(|&rest| rest >= SORT_BYTES_MIN)
}

/// Returns the memory for the sort, next to the decompression window, whose size the input determines.
///
/// # Errors
/// `MemoryTooSmall` if that is too little.
pub fn sort_bytes_beside_window(limits: &Limits, window_bytes: u64) -> Result<u64> {
    sort_bytes(limits, window_bytes).ok_or_else(|| {
        let least = with_batch(limits, window_bytes + SORT_BYTES_MIN).max(MEMORY_MIN);
        Error::too_little_memory(limits.memory_bytes, " for this input", least)
            .note(format!("fetching and decompressing it takes {}", format_bytes(window_bytes)))
    })
}
