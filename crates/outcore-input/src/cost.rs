//! Size of an input, and the time, memory and share of the limits that reading it takes.

use outcore_graph::InputSize;
use outcore_io::budget::{Limits, MEMORY_MIN};
use outcore_io::error::opt::MEMORY;
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::units::{KIB, format_bytes, size_to_type};
use outcore_sort::SORT_BYTES_MIN;

/// Bytes of text parsed as one piece.
pub const CHUNK_BYTES: u64 = 256 * KIB;
/// Memory per byte of text while it is parsed and numbered, for the shortest lines.
const BATCH_FACTOR: u64 = 16;
/// Bytes of a parsed line besides its text: two references to names, their indexes, a weight.
const LINE_BYTES: f64 = 60.0;

/// Nanoseconds of one core to parse an edge and form its arcs into runs.
const READ_EDGE: f64 = 165.0;
/// Nanoseconds to sample and to decompress a byte of text, always on one core.
const SAMPLE_BYTE: f64 = 12.0;
const DECOMPRESS_BYTE: f64 = 3.5;

/// Returns the number of arc records that a batch of text passes to the sort at a time.
pub fn batch_records(input: &InputSize, limits: &Limits) -> u64 {
    let line = (input.text_bytes / input.edge_count.max(1)).max(4);
    2 * batch_chunks(limits) as u64 * CHUNK_BYTES / line
}

/// Returns the memory of a batch of text while its names are numbered.
pub fn batch_bytes(input: &InputSize, limits: &Limits) -> u64 {
    let chunks = (batch_chunks(limits) as u64 * CHUNK_BYTES).min(input.text_bytes) as f64;
    let line = input.text_bytes as f64 / input.edge_count.max(1) as f64;
    ((chunks * (2.0 + LINE_BYTES / line.max(4.0))) as u64).min(batch_memory_bytes(limits))
}

/// Returns the time of one core to read the edges.
pub fn read_nanoseconds(input: &InputSize) -> f64 {
    input.edge_count as f64 * READ_EDGE
}

/// Returns the time to decompress the files, which is independent of the number of cores.
pub fn decompress_seconds(input: &InputSize) -> f64 {
    let is_packed = input.file_bytes < input.text_bytes / 10 * 9;
    if is_packed { input.text_bytes as f64 * DECOMPRESS_BYTE * 1e-9 } else { 0.0 }
}

/// Returns the time that the sample took.
pub fn sample_seconds(input: &InputSize) -> f64 {
    let text_share = input.text_bytes as f64 / input.file_bytes.max(1) as f64;
    let sampled = input.sample_bytes as f64 * text_share.max(1.0);
    sampled * SAMPLE_BYTE * 1e-9
}

/// Returns the number of chunks of text that are parsed in parallel.
pub fn batch_chunks(limits: &Limits) -> usize {
    let most = limits.memory_bytes / 8 / (CHUNK_BYTES * BATCH_FACTOR);
    (4 * limits.threads as u64).min(most).max(2) as usize
}

/// Returns the memory of a batch in the worst case.
pub fn batch_memory_bytes(limits: &Limits) -> u64 {
    batch_chunks(limits) as u64 * CHUNK_BYTES * BATCH_FACTOR
}

/// Returns the smallest limit that fits `rest` bytes and a batch of text. The batch takes at most an eighth of the
/// limit, and at most four chunks per thread.
pub fn with_batch(limits: &Limits, rest: u64) -> u64 {
    let batch = (4 * limits.threads as u64 * CHUNK_BYTES * BATCH_FACTOR).min(rest.div_ceil(7));
    rest + batch.max(2 * CHUNK_BYTES * BATCH_FACTOR)
}

/// Returns the memory that the index and the sort share while the input is read.
pub fn read_bytes(limits: &Limits) -> u64 {
    limits.memory_bytes - batch_memory_bytes(limits)
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
        let given = format_bytes(limits.memory_bytes);
        let least = with_batch(limits, window_bytes + SORT_BYTES_MIN).max(MEMORY_MIN);
        Error::new(
            ErrorKind::MemoryTooSmall,
            format!("{given} is too little memory for this input"),
        )
        .note(format!("fetching and decompressing it takes {}", format_bytes(window_bytes)))
        .hint(format_args!("use {} or more", MEMORY.of(size_to_type(least))))
    })
}
