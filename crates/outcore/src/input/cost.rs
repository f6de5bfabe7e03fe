//! Size of an input, and the time, memory and share of the limits that reading it takes.

use crate::budget::{Limits, MEMORY_MIN};
use crate::error::opt::MEMORY;
use crate::error::{Error, ErrorKind, Result};
use crate::sort::SORT_BYTES_MIN;
use crate::units::{KIB, format_bytes, size_to_type};

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

/// Size of an input, as estimated from a sample.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct InputSize {
    /// Bytes of text, decompressed.
    pub text_bytes: u64,
    /// Bytes of the files.
    pub file_bytes: u64,
    /// Bytes of the files that were read for this estimate.
    pub sample_bytes: u64,
    /// Lines with an edge.
    pub edge_count: u64,
    /// Edges of the graph: repeated edges count once, loops do not count.
    pub distinct_edge_count: u64,
    /// Reliable lower bound on `distinct_edge_count`.
    pub distinct_edge_count_at_least: u64,
    /// Likely number of nodes.
    pub node_count: u64,
    /// Reliable lower bound on the number of nodes.
    pub node_count_at_least: u64,
    /// Mean length of a name.
    pub name_bytes: f64,
    /// Edges that a single node is known to have, if one has many.
    pub hub_edge_count: u64,
    /// Whether edges keep their direction.
    pub is_directed: bool,
    /// Whether lines carry weights.
    pub is_weighted: bool,
    /// Bits per weight, less what it has in common with its neighbors.
    pub weight_bits: f64,
    /// Whether fractional weights of repeated edges are summed.
    pub sums_fractions: bool,
    /// Whether the self scores of nodes are kept until the graph is written.
    pub has_self_scores: bool,
    /// Graph that the edges are added to, if any. All other sizes are those of the new edges alone, and none of their
    /// nodes is assumed to be in the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<AppendSize>,
}

/// Size of a graph that edges are added to.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct AppendSize {
    /// Number of nodes.
    pub node_count: u64,
    /// Number of edges between different nodes.
    pub edge_count: u64,
    /// Number of arcs.
    pub arc_count: u64,
    /// Bytes of its arcs.
    pub arc_bytes: u64,
    /// Bytes of its names.
    pub names_bytes: u64,
    /// Whether its arcs have weights.
    pub is_weighted: bool,
    /// Memory for its blocks while it is read.
    pub block_bytes: u64,
    /// Smallest limit for which there is memory to read it.
    pub memory_bytes_min: u64,
}

impl InputSize {
    /// Returns the number of nodes of the graph that edges are added to; 0 if there is none.
    pub(crate) fn old_nodes(&self) -> u64 {
        self.append.map_or(0, |old| old.node_count)
    }

    /// Returns the number of arc records that a batch of text passes to the sort at a time.
    pub(crate) fn batch_records(&self, limits: &Limits) -> u64 {
        let line = (self.text_bytes / self.edge_count.max(1)).max(4);
        2 * limits.batch_chunks() as u64 * CHUNK_BYTES / line
    }

    /// Returns the memory of a batch of text while its names are numbered.
    pub(crate) fn batch_bytes(&self, limits: &Limits) -> u64 {
        let chunks = (limits.batch_chunks() as u64 * CHUNK_BYTES).min(self.text_bytes) as f64;
        let line = self.text_bytes as f64 / self.edge_count.max(1) as f64;
        ((chunks * (2.0 + LINE_BYTES / line.max(4.0))) as u64).min(limits.batch_memory_bytes())
    }

    /// Returns the time of one core to read the edges.
    pub(crate) fn read_nanoseconds(&self) -> f64 {
        self.edge_count as f64 * READ_EDGE
    }

    /// Returns the time to decompress the files, which is independent of the number of cores.
    pub(crate) fn decompress_seconds(&self) -> f64 {
        let is_packed = self.file_bytes < self.text_bytes / 10 * 9;
        if is_packed { self.text_bytes as f64 * DECOMPRESS_BYTE * 1e-9 } else { 0.0 }
    }

    /// Returns the time that the sample took.
    pub(crate) fn sample_seconds(&self) -> f64 {
        let text_share = self.text_bytes as f64 / self.file_bytes.max(1) as f64;
        let sampled = self.sample_bytes as f64 * text_share.max(1.0);
        sampled * SAMPLE_BYTE * 1e-9
    }
}

impl Limits {
    /// Returns the number of chunks of text that are parsed in parallel.
    pub fn batch_chunks(&self) -> usize {
        let most = self.memory_bytes / 8 / (CHUNK_BYTES * BATCH_FACTOR);
        (4 * self.threads as u64).min(most).max(2) as usize
    }

    /// Returns the memory of a batch in the worst case.
    pub fn batch_memory_bytes(&self) -> u64 {
        self.batch_chunks() as u64 * CHUNK_BYTES * BATCH_FACTOR
    }

    /// Returns the smallest limit that fits `rest` bytes and a batch of text. The batch takes at most an eighth of the
    /// limit, and at most four chunks per thread.
    pub fn with_batch(&self, rest: u64) -> u64 {
        let batch = (4 * self.threads as u64 * CHUNK_BYTES * BATCH_FACTOR).min(rest.div_ceil(7));
        rest + batch.max(2 * CHUNK_BYTES * BATCH_FACTOR)
    }

    /// Returns the memory that the index and the sort share while the input is read.
    pub fn read_bytes(&self) -> u64 {
        self.memory_bytes - self.batch_memory_bytes()
    }

    /// Returns the memory for the sort, next to an index of `index_bytes`; `None` if that is too little.
    pub fn sort_bytes(&self, index_bytes: u64) -> Option<u64> {
        self.read_bytes().checked_sub(index_bytes).filter(|&rest| rest >= SORT_BYTES_MIN)
    }

    /// Returns the memory for the sort, next to the decompression window, whose size the input determines.
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
            .note(format!("fetching and decompressing it takes {}", format_bytes(window_bytes)))
            .hint(format_args!("use {} or more", MEMORY.of(size_to_type(least))))
        })
    }
}
