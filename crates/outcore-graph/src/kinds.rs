//! Kinds of a graph's nodes, where there are two: a bit per node, in index order.
//!
//! ```text
//!  block (2^18 nodes; `index` describes the file around it):
//!    +-------------------+
//!    | a bit per node,   |      0: the first kind, that of sources; 1: the second; the last byte is padded with 0
//!    | lowest bits first |
//!    +-------------------+
//! ```
//!
//! The names of nodes of two kinds begin with their kind, so the bits follow from the names, and are written as these
//! are numbered. The arc count in the entry of a block is its number of nodes of the second kind. Memory: two blocks of
//! 32 KiB and 40 bytes per block; reading and writing cost about 2 ns per node.

#[cfg(test)]
mod tests;

use super::index::{BlockEntry, IndexedWriter, read_index};
use super::{KINDS_MAGIC, kinds_path};
use outcore_io::error::opt::{COLUMNS, NODES, TWO_MODE};
use outcore_io::error::{Error, ErrorKind, Result};
use outcore_io::units::KIB;
use outcore_io::{Files, Mode, ReadAhead, Sealed, StoredFile};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Nodes of a block.
const BLOCK_NODES: u32 = 1 << 18;
/// Number of blocks read ahead.
const DEPTH: usize = 4;
/// Bytes of each write.
const WRITE_BYTES: usize = 64 << 10;
/// Memory of a [`KindsWriter`]: a block, and writes in flight.
pub const KINDS_WRITER_BYTES: u64 = 256 * KIB;

/// Two kinds of nodes, by name: that of the sources of edges, and that of their targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindNames(pub [String; 2]);

impl KindNames {
    /// Returns what the name of a node begins with, for each kind.
    pub fn prefixes(&self) -> [String; 2] {
        self.0.each_ref().map(|name| format!("{name}:"))
    }
}

/// Two kinds of nodes, and how many there are of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeKinds {
    /// Names of the kinds: that of the sources of edges first.
    pub names: [String; 2],
    /// Number of nodes of each kind.
    pub counts: [u64; 2],
}

/// Summary of a written file of kinds, recorded in `graph.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindsSummary {
    names: [String; 2],
    counts: [u64; 2],
    bytes: u64,
    checksum: String,
}

impl KindsSummary {
    /// Returns the kinds without the file.
    pub fn kinds(&self) -> NodeKinds {
        NodeKinds { names: self.names.clone(), counts: self.counts }
    }

    /// Returns the length of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Opens the file of kinds in `directory`, and checks that it is the one that this summarizes.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub(super) fn open(&self, files: &Files, directory: &Path) -> Result<Kinds> {
        let found = Kinds::open(files, directory, &self.names)?;
        let [first, second] = self.counts;
        let is_same = self.bytes == found.sealed.bytes
            && self.checksum == hex(found.sealed.checksum)
            && first.checked_add(second) == Some(found.count)
            && found.second_count() == second;
        if !is_same {
            let message = "it belongs to another `graph.json`";
            return Err(Error::corrupt(&kinds_path(directory), message));
        }
        Ok(found)
    }

    /// Reads the file of kinds in `directory`, and checks that it is undamaged.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn check(&self, files: &Files, directory: &Path) -> Result<()> {
        self.open(files, directory)?.read_each(|| Ok(()))
    }
}

fn hex(checksum: u64) -> String {
    format!("{checksum:016x}")
}

/// Writer of the kinds of a graph's nodes; if dropped before [`KindsWriter::finish`], nothing remains.
pub struct KindsWriter {
    file: IndexedWriter,
    names: [String; 2],
    prefixes: [String; 2],
    block: Vec<u8>,
    /// Nodes of the block, and those of the second kind.
    nodes: u32,
    second: u64,
    counts: [u64; 2],
}

impl KindsWriter {
    /// Starts the kinds of the graph in `directory`, which exists.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn create(files: &Files, directory: &Path, kinds: &KindNames) -> Result<Self> {
        let mut tuning = files.tuning();
        tuning.write.block_bytes = tuning.write.block_bytes.min(WRITE_BYTES);
        tuning.write.depth = 1;
        let files = files.with_tuning(tuning);
        let file = IndexedWriter::create(&files, &kinds_path(directory), KINDS_MAGIC)?;
        let (names, prefixes) = (kinds.0.clone(), kinds.prefixes());
        Ok(Self { file, names, prefixes, block: Vec::new(), nodes: 0, second: 0, counts: [0; 2] })
    }

    /// Appends the kind of the next node, which is the prefix of its name.
    ///
    /// # Errors
    /// `BadInput` for a name that begins with neither kind; `Io`, `DiskFull`.
    pub fn push_name(&mut self, name: &[u8]) -> Result<()> {
        match self.prefixes.iter().position(|prefix| name.starts_with(prefix.as_bytes())) {
            Some(kind) => self.push(kind == 1),
            None => Err(self.neither(name)),
        }
    }

    /// Appends the kind of the next node.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn push(&mut self, is_second: bool) -> Result<()> {
        if self.nodes.is_multiple_of(8) {
            self.block.push(0);
        }
        if let Some(last) = self.block.last_mut() {
            *last |= u8::from(is_second) << (self.nodes % 8);
        }
        self.nodes += 1;
        self.second += u64::from(is_second);
        if self.nodes == BLOCK_NODES { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        self.file.write(&self.block)?;
        self.file.end_block(self.nodes, self.second, xxh3_64(&self.block))?;
        self.counts[0] += u64::from(self.nodes) - self.second;
        self.counts[1] += self.second;
        self.block.clear();
        (self.nodes, self.second) = (0, 0);
        Ok(())
    }

    /// Finishes the file.
    ///
    /// # Errors
    /// `Io`, `DiskFull`.
    pub fn finish(mut self) -> Result<KindsSummary> {
        if self.nodes > 0 {
            self.end_block()?;
        }
        let Self { file, names, counts, .. } = self;
        let Sealed { bytes, checksum } = file.finish()?;
        Ok(KindsSummary { names, counts, bytes, checksum: hex(checksum) })
    }

    fn neither(&self, name: &[u8]) -> Error {
        let name = String::from_utf8_lossy(name);
        let [first, second] = &self.names;
        let message = format!("node `{name}` is neither of the kind `{first}` nor `{second}`");
        Error::new(ErrorKind::BadInput, message)
            .note(format!("names of nodes begin with their kind, such as `{first}:{name}`"))
            .hint(format_args!(
                "write the names in {NODES} so, or use {} without {TWO_MODE} if nodes are of one kind",
                COLUMNS.of("1,2")
            ))
    }
}

/// Reader of the kinds of a graph's nodes.
pub struct Kinds {
    file: Arc<StoredFile>,
    entries: Arc<Vec<BlockEntry>>,
    count: u64,
    sealed: Sealed,
    names: [String; 2],
}

impl Kinds {
    /// Opens the kinds in `directory`: reads their index.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    fn open(files: &Files, directory: &Path, names: &[String; 2]) -> Result<Self> {
        let file = files.open(&kinds_path(directory), Mode::Read)?;
        let (entries, sealed) = read_index(&file, KINDS_MAGIC)?;
        let is_whole = |entry: &BlockEntry| {
            entry.node_count <= BLOCK_NODES
                && entry.bytes == u64::from(entry.node_count.div_ceil(8))
                && entry.arc_count <= u64::from(entry.node_count)
        };
        if entries.first().is_some_and(|entry| entry.first_node != 0)
            || !entries.iter().all(is_whole)
        {
            return Err(Error::corrupt(file.path(), "its index is inconsistent"));
        }
        let count = entries.iter().map(|entry| u64::from(entry.node_count)).sum();
        let (file, entries) = (Arc::new(file), Arc::new(entries));
        Ok(Self { file, entries, count, sealed, names: names.clone() })
    }

    /// Returns the names of both kinds.
    pub fn names(&self) -> &[String; 2] {
        &self.names
    }

    /// Returns the number of nodes.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of nodes of the second kind.
    fn second_count(&self) -> u64 {
        self.entries.iter().map(|entry| entry.arc_count).sum()
    }

    /// Reads the kinds of all nodes in index order.
    pub fn scan(&self) -> KindScan {
        let of_ranges = self.entries.clone();
        let ranges = (0..of_ranges.len())
            .map(move |block| (of_ranges[block].offset, of_ranges[block].bytes as usize));
        KindScan {
            ahead: ReadAhead::new(self.file.clone(), ranges, DEPTH),
            file: self.file.clone(),
            entries: self.entries.clone(),
            next_block: 0,
            bits: Vec::new(),
            at: 0,
            nodes: 0,
        }
    }

    /// Reads and checks all blocks, with a call for each.
    pub(super) fn read_each(&self, mut tick: impl FnMut() -> Result<()>) -> Result<()> {
        let mut scan = self.scan();
        while scan.next_block()? {
            tick()?;
        }
        Ok(())
    }

    /// Reads the kinds of all nodes into memory.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn read(&self) -> Result<KindBits> {
        let mut bits = Vec::with_capacity(KindBits::bytes_of(self.count) as usize);
        let mut scan = self.scan();
        // Every block but the last is of whole bytes.
        while scan.next_block()? {
            bits.extend_from_slice(&scan.bits);
        }
        Ok(KindBits(bits))
    }
}

/// Kinds of all nodes in memory.
#[derive(Debug, Clone)]
pub struct KindBits(Vec<u8>);

impl KindBits {
    /// Returns the memory for a number of nodes.
    pub fn bytes_of(node_count: u64) -> u64 {
        node_count.div_ceil(8)
    }

    /// Returns whether a node is of the second kind.
    ///
    /// # Panics
    /// Panics if there is no such node.
    #[inline]
    pub fn is_second(&self, node: u32) -> bool {
        self.0[node as usize / 8] >> (node % 8) & 1 == 1
    }
}

/// Scan of kinds in index order, read ahead.
pub struct KindScan {
    ahead: ReadAhead,
    file: Arc<StoredFile>,
    entries: Arc<Vec<BlockEntry>>,
    next_block: usize,
    /// The block being read, its next node, and the number of its nodes.
    bits: Vec<u8>,
    at: u32,
    nodes: u32,
}

impl KindScan {
    /// Returns whether the next node is of the second kind; `None` after the last.
    ///
    /// # Errors
    /// `CorruptFile`, `Io`.
    pub fn next_kind(&mut self) -> Result<Option<bool>> {
        if self.at == self.nodes && !self.next_block()? {
            return Ok(None);
        }
        let at = self.at as usize;
        self.at += 1;
        Ok(Some(self.bits[at / 8] >> (at % 8) & 1 == 1))
    }

    /// Reads the next block; returns `false` after the last.
    fn next_block(&mut self) -> Result<bool> {
        let block = self.next_block;
        let Some(entry) = self.entries.get(block) else { return Ok(false) };
        let corrupt =
            |what: &str| Error::corrupt(self.file.path(), format!("block {block}: {what}"));
        let Some(bytes) = self.ahead.next_range()? else {
            return Err(corrupt("its contents are inconsistent"));
        };
        if xxh3_64(bytes) != entry.checksum {
            return Err(corrupt("its checksum is wrong"));
        }
        let second: u64 = bytes.iter().map(|byte| u64::from(byte.count_ones())).sum();
        let padding = match (bytes.last(), entry.node_count % 8) {
            (Some(last), used @ 1..) => last >> used,
            _ => 0,
        };
        if second != entry.arc_count || padding != 0 {
            return Err(corrupt("its contents are inconsistent"));
        }
        self.bits.clear();
        self.bits.extend_from_slice(bytes);
        (self.at, self.nodes) = (0, entry.node_count);
        self.next_block += 1;
        Ok(true)
    }
}
