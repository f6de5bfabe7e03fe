//! How large an input is, and what reading it takes of time, of memory, and of a limit.

use crate::budget::{Limits, MEMORY_MIN};
use crate::error::opt::MEMORY;
use crate::error::{Error, ErrorKind, Result};
use crate::sort::SORT_BYTES_MIN;
use crate::units::{KIB, format_bytes, size_to_type};

/// Bytes of text parsed as one piece.
pub const CHUNK_BYTES: u64 = 256 * KIB;
/// Memory a byte of text takes while it is parsed and numbered, for the shortest of lines.
const BATCH_FACTOR: u64 = 16;
/// Bytes of a parsed line beside its text: two references to names, their indexes, a weight.
const LINE_BYTES: f64 = 60.0;

/// Nanoseconds of one core to parse an edge and form its arcs into runs.
const READ_EDGE: f64 = 165.0;
/// To sample a byte of text, and to decompress one, on one core in any case.
const SAMPLE_BYTE: f64 = 12.0;
const DECOMPRESS_BYTE: f64 = 3.5;

/// How large the input is, as far as a sample tells.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct InputSize {
    /// Bytes of text, decompressed.
    pub text_bytes: u64,
    /// Bytes of the files.
    pub file_bytes: u64,
    /// Bytes of the files that were read to tell all this.
    pub sample_bytes: u64,
    /// Lines with an edge.
    pub edge_count: u64,
    /// Edges of the graph: repeated ones are one, and loops are none.
    pub distinct_edge_count: u64,
    /// A number of them that the sample leaves no doubt about.
    pub distinct_edge_count_at_least: u64,
    /// The likely number of nodes.
    pub node_count: u64,
    /// A number of nodes that the sample leaves no doubt about.
    pub node_count_at_least: u64,
    /// Mean length of a name.
    pub name_bytes: f64,
    /// Edges that one node is known to have, if it has many.
    pub hub_edge_count: u64,
    /// Whether edges keep their direction.
    pub is_directed: bool,
    /// Whether lines carry weights.
    pub is_weighted: bool,
    /// Bits of a weight, less what it has in common with its neighbors.
    pub weight_bits: f64,
    /// Whether weights of repeated edges are added up that are no whole numbers.
    pub sums_fractions: bool,
    /// Whether the self scores of nodes are kept until the graph is written.
    pub has_self_scores: bool,
}

impl InputSize {
    /// Records of arcs that a batch of text brings to the sort at once.
    pub(crate) fn batch_records(&self, limits: &Limits) -> u64 {
        let line = (self.text_bytes / self.edge_count.max(1)).max(4);
        2 * limits.batch_chunks() as u64 * CHUNK_BYTES / line
    }

    /// Memory of a batch of text while its names are numbered.
    pub(crate) fn batch_bytes(&self, limits: &Limits) -> u64 {
        let chunks = (limits.batch_chunks() as u64 * CHUNK_BYTES).min(self.text_bytes) as f64;
        let line = self.text_bytes as f64 / self.edge_count.max(1) as f64;
        ((chunks * (2.0 + LINE_BYTES / line.max(4.0))) as u64).min(limits.batch_memory_bytes())
    }

    /// Time of one core for the edges.
    pub(crate) fn read_nanoseconds(&self) -> f64 {
        self.edge_count as f64 * READ_EDGE
    }

    /// Time to decompress the files, however many cores there are.
    pub(crate) fn decompress_seconds(&self) -> f64 {
        let is_packed = self.file_bytes < self.text_bytes / 10 * 9;
        if is_packed { self.text_bytes as f64 * DECOMPRESS_BYTE * 1e-9 } else { 0.0 }
    }

    /// Time that the sample took.
    pub(crate) fn sample_seconds(&self) -> f64 {
        let text_share = self.text_bytes as f64 / self.file_bytes.max(1) as f64;
        let sampled = self.sample_bytes as f64 * text_share.max(1.0);
        sampled * SAMPLE_BYTE * 1e-9
    }
}

impl Limits {
    /// Chunks of text parsed side by side.
    pub fn batch_chunks(&self) -> usize {
        let most = self.memory_bytes / 8 / (CHUNK_BYTES * BATCH_FACTOR);
        (4 * self.threads as u64).min(most).max(2) as usize
    }

    /// Memory of a batch in the worst case.
    pub fn batch_memory_bytes(&self) -> u64 {
        self.batch_chunks() as u64 * CHUNK_BYTES * BATCH_FACTOR
    }

    /// The least limit for `rest` bytes beside a batch of text: that takes an eighth of the limit at
    /// most, and four chunks a thread.
    pub fn with_batch(&self, rest: u64) -> u64 {
        let batch = (4 * self.threads as u64 * CHUNK_BYTES * BATCH_FACTOR).min(rest.div_ceil(7));
        rest + batch.max(2 * CHUNK_BYTES * BATCH_FACTOR)
    }

    /// What index and sort share while the input is read.
    pub fn read_bytes(&self) -> u64 {
        self.memory_bytes - self.batch_memory_bytes()
    }

    /// What the sort may take beside an index of `index_bytes`; `None` if that is too little.
    pub fn sort_bytes(&self, index_bytes: u64) -> Option<u64> {
        self.read_bytes().checked_sub(index_bytes).filter(|&rest| rest >= SORT_BYTES_MIN)
    }

    /// What the sort may take beside what decompression holds, which is the input's choice.
    ///
    /// # Errors
    /// `MemoryTooSmall` if that is too little.
    pub fn sort_bytes_beside_window(&self, window_bytes: u64) -> Result<u64> {
        self.sort_bytes(window_bytes).ok_or_else(|| {
            let given = format_bytes(self.memory_bytes);
            let least = self.with_batch(window_bytes + SORT_BYTES_MIN).max(MEMORY_MIN);
            Error::new(
                ErrorKind::MemoryTooSmall,
                format!("{given} is too little memory for this input"),
            )
            .note(format!("to fetch and decompress it takes {}", format_bytes(window_bytes)))
            .hint(format_args!("use {} or more", MEMORY.of(size_to_type(least))))
        })
    }
}
